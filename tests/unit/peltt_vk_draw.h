// SPDX-License-Identifier: MIT
// Draws an instance the way an engine would: its positions as vertex buffer, its mesh's index buffer, a plain pipeline;
// and the same triangles on the CPU.
#ifndef PELTT_VK_DRAW_H
#define PELTT_VK_DRAW_H

#include "peltt_vk.h"

enum {
    PELTT_VK_DRAW_SIZE = 128 // pixels of a side
};

typedef struct peltt_vk_draw {
    VkRenderPass pass;
    VkPipelineLayout layout;
    VkPipeline pipeline;
} peltt_vk_draw;

// A square image of 8 bits a pixel, 255 where a triangle is, and where it is copied to.
typedef struct peltt_vk_canvas {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
    VkFramebuffer framebuffer;
    peltt_vk_buffer pixels;
} peltt_vk_canvas;

typedef struct peltt_vk_camera {
    float centre[2];
    float scale;
} peltt_vk_camera;

void peltt_vk_draw_create(peltt_vk_draw *draw, peltt_vk *vk);
void peltt_vk_draw_destroy(peltt_vk_draw *draw, peltt_vk *vk);
void peltt_vk_canvas_create(peltt_vk_canvas *canvas, const peltt_vk_draw *draw, peltt_vk *vk);
void peltt_vk_canvas_destroy(peltt_vk_canvas *canvas, peltt_vk *vk);
// Draws in the next command, with barriers for the canvas alone.
void peltt_vk_draw_record(const peltt_vk_draw *draw, peltt_vk *vk, VkCommandBuffer cmd, const peltt_vk_canvas *canvas,
                          const pelt_vk_view *view, const peltt_vk_camera *camera);
// Fails the test unless the canvas shows these triangles: pixels near an edge are not judged, and many must be left
// both inside and outside.
void peltt_vk_canvas_compare(const peltt_vk_canvas *canvas, const peltt_vk_camera *camera, const float *positions,
                             const uint32_t *indices, uint32_t index_count);

#endif

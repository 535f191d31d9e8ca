// SPDX-License-Identifier: MIT
// A raster pipeline that draws points into a small target that none of them reaches, and the same pipeline made to put
// each vertex on a pixel of its own, so that what the vertex shader came to can be read. Inside bench/baselines only.
#ifndef PELT_BENCH_BASELINES_VK_RASTER_H
#define PELT_BENCH_BASELINES_VK_RASTER_H

#include "vk_common.h"

enum {
    BVK_ATTACHMENTS = 3 // position, normal, tangent: four floats each
};

typedef struct bvk_target {
    VkImage images[BVK_ATTACHMENTS];
    VkDeviceMemory memories[BVK_ATTACHMENTS];
    VkImageView views[BVK_ATTACHMENTS];
    VkFramebuffer framebuffer;
    uint32_t width;
    uint32_t height;
} bvk_target;

typedef struct bvk_raster_push {
    float clip_from_world[16]; // columns
    VkDeviceAddress palette;
    VkDeviceAddress first_matrices;
    uint32_t first_vertex;
    uint32_t width;
    uint32_t height;
} bvk_raster_push;

typedef struct bvk_raster {
    VkRenderPass pass;
    VkPipelineLayout layout;
    VkPipeline draw;
    VkPipeline check;
    bvk_target target; // of draw
} bvk_raster;

// The shader and its vertex streams: stream i is attribute and binding i, tight, in formats[i].
typedef struct bvk_raster_input {
    const uint32_t *words;
    size_t size;
    uint32_t stream_count;
    VkFormat formats[5];
    uint32_t strides[5];
} bvk_raster_input;

bool bvk_raster_create(const bvk *vk, const bvk_raster_input *input, bvk_raster *out);
void bvk_raster_destroy(const bvk *vk, bvk_raster *raster);
// A render pass into target, with pipeline bound and its viewport set; draws follow, then end.
void bvk_raster_begin(const bvk *vk, VkCommandBuffer commands, const bvk_raster *raster, VkPipeline pipeline,
                      const bvk_target *target);
// A camera that no position is in front of, as w is -1 for all: nothing reaches the target, and no compiler can know.
bvk_raster_push bvk_raster_away(void);
// Records a draw of vertex_count points through raster->check.
typedef void bvk_raster_draw(void *context, VkCommandBuffer commands, const bvk_raster_push *push);
// Draws vertex_count vertices, the first of which is first_vertex, and brings positions, normals and tangents back.
bool bvk_raster_read(const bvk *vk, const bvk_raster *raster, uint32_t first_vertex, uint32_t vertex_count,
                     bvk_raster_draw *draw, void *context, baseline_vk_output *out);

#endif

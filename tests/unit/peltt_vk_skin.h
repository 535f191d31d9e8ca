// SPDX-License-Identifier: MIT
// The skin pass alone: runs all of its pipelines over packed meshes and compares what they wrote with a reference.
#ifndef PELTT_VK_SKIN_H
#define PELTT_VK_SKIN_H

#include "peltt_vk_skinned.h"

enum {
    PELTT_VK_SKIN_MESHES = 256
};

// Create and destroy the passes.
int peltt_vk_skin_setup(void **state);
int peltt_vk_skin_teardown(void **state);

typedef struct peltt_vk_skin_boxes {
    pelt_box *partials;                    // by workgroup
    pelt_box *boxes;                       // by instance
    uint32_t groups[PELTT_VK_SKIN_MESHES]; // first workgroup of each instance
    uint32_t parts[PELTT_VK_SKIN_MESHES];  // workgroups that share each of its items
} peltt_vk_skin_boxes;

enum {
    PELTT_VK_SKIN_PIPELINES = 9
};

// Skins the first count meshes, as instances 0, 1, ...
peltt_vk_skin_boxes peltt_vk_skin_run(uint32_t count, uint32_t columns);
// The positions of this update.
const float *peltt_vk_skin_written(const peltt_vk_skinned *s);
// Exact boxes of the first count meshes.
void peltt_vk_skin_check_boxes(const peltt_vk_skin_boxes *b, uint32_t count);
// Directions whose ratio is below the limit are not judged: rounding the blended matrix turns them.
void peltt_vk_skin_check_direction(const double want[3], const float got[3], double ratio, double limit,
                                   double tolerance, const char *what, uint32_t vertex);
void peltt_vk_skin_check_vertex(const peltt_vk_skinned *s, uint32_t v);
// Checks boxes and every vertex of the first count meshes, and frees them.
void peltt_vk_skin_check_and_free(const peltt_vk_skin_boxes *b, uint32_t count);
// The largest workgroups last, and then those of one subgroup, in which no thread waits for another.
bool peltt_vk_skin_set_threads(int round);

extern peltt_vk_passes peltt_vk_skin_passes;
extern peltt_vk_skinned peltt_vk_skin_meshes[PELTT_VK_SKIN_MESHES];

// Degrees that a direction may be off.
extern const double peltt_vk_skin_normal_tolerance;
extern const double peltt_vk_skin_tangent_tolerance;

#endif

// SPDX-License-Identifier: MIT
// The designs that `pelt bench` compares the pass with: scenes for them, runs, and checks against sums in double
// precision.
#ifndef PELTT_VK_DESIGNS_H
#define PELTT_VK_DESIGNS_H

#include "peltt_random.h"
#include "peltt_vk.h"
#include "vulkan.h"

// What a scene's pointers lead to.
typedef struct peltt_vk_design_scene {
    baseline_vk_scene scene;
    baseline_vk_mesh *meshes;
    baseline_vk_instance *instances;
    uint32_t *first_matrices;
    pelt_mat34 *matrices;
} peltt_vk_design_scene;

// Zeroed; the test fails where there is none. Release with free.
void *peltt_vk_design_allocate(size_t count, size_t size);
// One to four weights that sum to one, in any slots; where there is no weight, a joint that no palette has.
void peltt_vk_design_influences(peltt_random *random, uint32_t joint_count, uint16_t *joints, float *weights);
// Every mesh has two instances beside each other and one elsewhere, each with another of the palettes.
void peltt_vk_design_make(uint64_t seed, const uint32_t *sizes, uint32_t size_count, uint32_t joint_count,
                          peltt_vk_design_scene *out);
// What make took.
void peltt_vk_design_free(peltt_vk_design_scene *made);
// The device as designs take it.
baseline_vk_device peltt_vk_design_device(const peltt_vk *vk);
// Whether the device can run it; says so where it cannot.
bool peltt_vk_design_can_run(const baseline_vk_contender *contender, const baseline_vk_device *device);
// Recorded twice into one command buffer: what the first leaves behind must not show.
void *peltt_vk_design_run(peltt_vk *vk, const baseline_vk_contender *contender, const baseline_vk_scene *scene,
                          bool bounds);
// Fails the test unless what was read of that instance is right.
void peltt_vk_design_check_instance(const baseline_vk_contender *contender, void *state,
                                    const peltt_vk_design_scene *made, uint32_t instance, bool bounds);
// Runs every design that can run.
void peltt_vk_design_check_all(const peltt_vk_design_scene *made, bool bounds);

#endif

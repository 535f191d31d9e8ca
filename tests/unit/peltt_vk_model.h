// SPDX-License-Identifier: MIT
// Cooked meshes for tests of the Vulkan scene: one primitive and one skin, with the same unpacked for the CPU path.
#ifndef PELTT_VK_MODEL_H
#define PELTT_VK_MODEL_H

#include "peltt_random.h"

#include <pelt/cook.h>

typedef struct peltt_vk_shape {
    uint32_t vertex_count;
    uint32_t influence_count; // most of one vertex; 0 = rigid
    uint32_t joint_count;     // of the skin; 0 = 1
    uint32_t target_count;    // in turns sparse, without normals, and with everything
    bool scattered;           // each vertex follows any joints, else those near its place in the order
    bool no_normals;
    bool no_tangents;
    bool indexed;       // each vertex is used
    bool moderate;      // no mirrored or uneven scales in inverse binds
    uint64_t bind_seed; // models with the same seed have the same inverse binds
    pelt_cook_options cook;
} peltt_vk_shape;

typedef struct peltt_vk_model {
    const pelt_cooked_data *data;    // one primitive
    const pelt_primitive *primitive; // unpacked, in the cooked order
    uint32_t target_count;
    uint32_t joint_count;
    pelt_mat34 *binds; // joint_count
    void *image;
    uint64_t image_size;
    pelt_cooked *cooked;
    pelt_asset *asset;
} peltt_vk_model;

// The same for the same seed. Fails the test where the library refuses.
peltt_vk_model *peltt_vk_model_make(const peltt_vk_shape *shape, uint64_t seed);
void peltt_vk_model_free(peltt_vk_model *model);

// Inverse binds of a seed, which are the first ones of a larger count too.
void peltt_vk_binds(uint64_t seed, bool moderate, uint32_t count, pelt_mat34 *binds);
// World transforms that put the model some 5 units off the origin on each axis, so that rounding is small beside the
// coordinates; a few are mirrored or uneven unless moderate.
void peltt_vk_worlds(peltt_random *random, bool moderate, uint32_t count, pelt_mat34 *worlds);

#endif

// SPDX-License-Identifier: MIT
// Random models with everything that a .pelt file holds: named nodes, skinned and rigid meshes with morph targets and
// attributes, several skins, clips that share keys.
#ifndef PELTT_MODEL_H
#define PELTT_MODEL_H

#include "peltt_random.h"

#include <pelt/asset.h>

typedef struct peltt_model_shape {
    uint32_t node_count;      // at least 4
    uint32_t mesh_count;      // every second one skinned, the others rigid
    uint32_t primitive_count; // of a mesh
    uint32_t vertex_count;    // of a primitive; one primitive in 7 is empty
    uint32_t joint_count;     // of a skin; there are two skins
    uint32_t set_count;       // JOINTS_n, of skinned meshes
    uint32_t target_count;    // of every third mesh
    uint32_t clip_count;
} peltt_model_shape;

// One thing that differs from the model without it; PELT_NONE / 0 = nothing.
typedef struct peltt_model_change {
    bool move_vertex;   // the last vertex of the first primitive goes a little towards the middle of its box
    bool change_colour; // of the last vertex of the first primitive
} peltt_model_change;

// The same for the same seed. Aborts where the builder refuses.
pelt_asset *peltt_model_make(const peltt_model_shape *shape, uint64_t seed, const peltt_model_change *change);

#endif

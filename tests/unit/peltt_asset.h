// SPDX-License-Identifier: MIT
// Assets for tests, made through the public builder: described by hand or at random.
#ifndef PELTT_ASSET_H
#define PELTT_ASSET_H

#include "peltt_random.h"

#include <pelt/asset.h>

typedef struct peltt_node {
    uint32_t parent; // index in the same array, in any order; PELT_NONE for a root
    bool has_matrix;
    bool has_morphs; // carries the scene's mesh, and so target_count weights
    pelt_trs rest;   // unless has_matrix
    pelt_mat34 matrix;
} peltt_node;

typedef struct peltt_skin {
    uint32_t joint_count;
    const uint32_t *joints;          // indices of nodes
    const pelt_mat34 *inverse_binds; // NULL = identity
} peltt_skin;

// One channel with its sampler. Tracks of a clip with the same times and values share one sampler.
typedef struct peltt_track {
    uint32_t node;
    pelt_path path;
    pelt_interpolation interpolation;
    uint32_t key_count;
    const float *times;
    const float *values;
} peltt_track;

typedef struct peltt_clip {
    uint32_t track_count;
    const peltt_track *tracks;
} peltt_clip;

typedef struct peltt_scene {
    uint32_t node_count;
    const peltt_node *nodes; // in file order
    uint32_t target_count;   // of the one mesh, a triangle; its weights are 0 at rest
    uint32_t skin_count;
    const peltt_skin *skins;
    uint32_t clip_count;
    const peltt_clip *clips;
} peltt_scene;

// A copy of everything described. Ends the process with a message where the builder refuses. Node indices of the asset
// are not those of the scene: see node_from_file.
pelt_asset *peltt_asset_make(const peltt_scene *scene);

// Node i hangs on i - 1, with identity transforms.
pelt_asset *peltt_asset_chain(uint32_t node_count);

typedef struct peltt_asset_shape {
    uint32_t node_count;
    uint32_t skin_count;
    uint32_t joint_count; // most of one skin
    uint32_t clip_count;
    uint32_t target_count;
    double root_share;   // of nodes without a parent
    double chain_share;  // of nodes that hang on the one before, others on any
    double matrix_share; // of nodes with a matrix
    double morph_share;  // of nodes with morph weights
} peltt_asset_shape;

// Random hierarchy in shuffled file order, random rest poses (mirrored, non-uniform and zero scales among them), skins
// whose joints are any nodes, some listed twice, clips of all interpolations.
pelt_asset *peltt_asset_random(const peltt_asset_shape *shape, peltt_random *random);

// Moderate values; rotation of unit length.
pelt_trs peltt_random_trs(peltt_random *random);
pelt_mat34 peltt_random_matrix(peltt_random *random);

#endif

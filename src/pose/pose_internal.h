// SPDX-License-Identifier: MIT
// The pose's memory. Arrays are by node unless said, all in one allocation with the object.
#ifndef PELTI_POSE_INTERNAL_H
#define PELTI_POSE_INTERNAL_H

#include "pose.h"

#include "kernel.h"

#include "base/base.h"

// Flag arrays are read in blocks of so many bytes; their tails are zero.
#define PELTI_FLAG_BLOCK 32

enum {
    // Nodes that an update takes at a time; 6 KB of matrices, which stay in the first cache.
    PELTI_NODE_BLOCK = 64
};

// Values of pelt_locals.uses_matrix. A matrix of the asset and one that was set are told apart so that
// pelt_locals_rest, which knows nothing of poses, can bring the first back.
enum {
    PELTI_LOCAL_TRS = 0,
    PELTI_LOCAL_ASSET_MATRIX = 1,
    PELTI_LOCAL_OWN_MATRIX = 2
};

// Nodes that hold the joints of one skin: [begin, end).
typedef struct pelti_skin_range {
    uint32_t begin;
    uint32_t end;
} pelti_skin_range;

struct pelt_pose {
    pelt_allocator allocator;
    size_t size; // bytes of the allocation
    const pelt_asset *asset;
    const pelt_asset_data *data;
    const pelti_pose_kernel *kernel;
    pelt_locals locals; // its flags are what is dirty now
    pelti_mat34d *worlds;
    pelt_mat34 *own_matrices; // set by pelt_pose_set_local_matrix
    uint32_t *parents;        // beside each other here, 150 bytes apart in the asset
    uint32_t *order; // the nodes of each block of PELTI_NODE_BLOCK, by depth inside of it: neighbours are independent
    pelti_skin_range *skin_ranges; // by skin

    // What the last update found.
    uint8_t *node_changed;
    uint8_t *weights_changed;
    uint8_t *skin_changed;  // by skin
    uint32_t changed_begin; // node_changed is set in [changed_begin, changed_end) only
    uint32_t changed_end;
    uint32_t changed_skin_count;
    uint32_t changed_weight_count;
};

#endif

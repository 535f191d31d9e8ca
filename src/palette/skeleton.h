// SPDX-License-Identifier: MIT
// Inside the palette module: the nodes that some palettes need, in the orders in which kernels visit them.
#ifndef PELTI_SKELETON_H
#define PELTI_SKELETON_H

#include "math/math.h"
#include "math/matrix_store.h"

#include <pelt/palette.h>

enum {
    PELTI_LANE_LIMIT = 16,
    // Worlds that are alive at a time. The child that is visited last takes its parent's slot. Nodes are visited in
    // memory order where that needs no more slots than these; else the child with the largest subtree comes last, so
    // that every slot that is held while another one is taken has at least twice the nodes below it: log2(2^32) + 1.
    PELTI_SLOT_LIMIT = 33,
    // Nodes up to which one instance is evaluated alone, with all worlds on the stack: 48 KB of doubles.
    PELTI_ALONE_LIMIT = 512
};

// A node in the order of side-by-side evaluation.
typedef struct pelti_step {
    uint32_t node;
    uint32_t parent_slot; // PELT_NONE for a root
    uint32_t slot;        // where its world is kept; PELT_NONE: no later step needs it
    uint32_t output_begin;
    uint32_t output_end; // in pelt_skeleton.outputs
    bool has_one_bind;   // it has a parent and gives one matrix of the palette, a joint's
} pelti_step;

struct pelt_skeleton {
    pelt_allocator allocator;
    size_t size; // bytes of the allocation
    const pelt_asset_data *data;
    uint32_t step_count;
    uint32_t matrix_count; // of one palette: bind_count joints, then worlds of nodes
    uint32_t bind_count;
    bool has_matrices;          // some node has a matrix at rest
    pelti_step *steps;          // step_count
    uint32_t *outputs;          // matrix_count, by step: index in the palette
    pelt_mat34 *binds;          // bind_count, by index in the palette
    pelti_mat34d *double_binds; // the same
    // For one instance alone: by depth, so that neighbours are independent.
    uint32_t *nodes;   // step_count
    uint32_t *parents; // step_count: index in nodes, or PELT_NONE
    uint32_t *sources; // matrix_count, by index in the palette: index in nodes
};

// Some instances; those past the last repeat it, so that kernels need not count.
typedef struct pelti_batch {
    const pelt_skeleton *skeleton;
    const pelt_trs *transforms[PELTI_LANE_LIMIT];
    const uint8_t *uses_matrix[PELTI_LANE_LIMIT]; // NULL: where the node has a matrix at rest
    float *palettes[PELTI_LANE_LIMIT];
    const struct pelti_batch *next; // the one that follows, as wide or wider; or this one
    uint32_t count;                 // instances
    bool is_plain;                  // no node of any instance uses a matrix
    bool is_large;                  // the job's arrays do not fit the near caches
    bool is_4x4;
    pelti_matrix_store store; // when side by side
} pelti_batch;

// Whether a node of an instance uses the asset's matrix instead of its transform.
static inline bool pelti_batch_uses_matrix(const pelti_batch *batch, uint32_t lane, uint32_t node)
{
    const uint8_t *flags = batch->uses_matrix[lane];
    return flags ? flags[node] != 0 : batch->skeleton->data->nodes[node].has_matrix;
}

#endif

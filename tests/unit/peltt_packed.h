// SPDX-License-Identifier: MIT
// A random skinned primitive taken through the packing steps of the cook module, with a plain order of its own in place
// of the module's: runs of 64 vertices.
#ifndef PELTT_PACKED_H
#define PELTT_PACKED_H

#include "peltt_alloc.h"
#include "peltt_random.h"

#include "cook/cook_internal.h"

typedef struct peltt_packed_shape {
    uint32_t vertex_count;
    uint32_t influence_count; // most of one vertex; 0 = rigid
    uint32_t joint_count;
    uint32_t target_count;
    float size;        // of positions; displacements are a tenth of it
    bool has_indices;  // each vertex is used by at least one, unless dropped
    bool drop;         // about a third of the vertices
    bool shuffle;      // vertices in random order, else as in the source
    bool sort_classes; // inside of each run
    bool list_joints;  // runs with joint lists where 32 joints are enough, else direct with 16 bits
} peltt_packed_shape;

typedef struct peltt_packed {
    peltt_packed_shape shape;
    pelt_cook_options options;
    pelt_primitive source; // may be edited before peltt_packed_cook
    pelt_morph_target *targets;
    cook_arena inputs;
    cook_arena arena; // of what is cooked
    cook_primitive p;
} peltt_packed;

// Fills source with random values: all kinds of weights, three attributes, targets of which some are sparse, some
// without normals, some zero.
void peltt_packed_init(peltt_packed *packed, const peltt_packed_shape *shape, peltt_random *random);
void peltt_packed_free(peltt_packed *packed);

// All steps but joint boxes, with packed->options, whose morph range is resolved here. May be called again. state (may
// be NULL) accounts for the memory of this cooking.
pelt_result peltt_packed_cook(peltt_packed *packed, peltt_alloc *state, uint64_t order_seed, pelt_error *error);

enum {
    PELTT_PACKED_SHAPES = 8
};

// All kinds of skinning, sizes and orders.
extern const peltt_packed_shape peltt_packed_shapes[PELTT_PACKED_SHAPES];
// Runs check over all shapes, encodings and target formats.
void peltt_packed_each(uint64_t seed, void (*check)(const peltt_packed *packed));

#endif

// SPDX-License-Identifier: MIT
// Inside the cook module. The way of one primitive: pack_vertices.c chooses and encodes each vertex's influences,
// order.c finds the vertex order and cuts runs, pack_streams.c emits all streams in that order, targets.c the morph
// targets, joint_boxes.c the boxes; cook.c drives and file_write.c lays the sections out; file_read.c checks them;
// import.c unpacks.
#ifndef PELTI_COOK_INTERNAL_H
#define PELTI_COOK_INTERNAL_H

#include "base/base.h"
#include "math/math.h"

#include <pelt/cook.h>

// Memory of one cooking: blocks that are released together. Also accounts for nothing else.
typedef struct cook_arena {
    pelt_allocator allocator;
    void *blocks; // newest first
    bool failed;  // an allocation failed; all later ones return NULL
} cook_arena;

// count x size bytes, zeroed, aligned to 16; NULL on failure (also noted in the arena). 0 bytes give a valid pointer.
void *pelti_cook_allocate(cook_arena *arena, uint64_t count, size_t size);
void pelti_cook_release_arena(cook_arena *arena);

// The influences of one source vertex after packing.
typedef struct cook_vertex {
    uint32_t code;      // packed weights of the first four
    uint16_t joints[4]; // the skin's, by slot. Slots of weight zero repeat the heaviest slot's joint, so that they add
                        // nothing to a run's list; a remainder of plain weights on a slot without an influence is
                        // joint 0's, as where that layout is published
    uint32_t first_extra; // in cook_primitive.source_extras
    uint16_t extra_count;
    uint8_t class_index; // 0 to 3: one to four influences of non-zero packed weight; 4: more
    uint8_t reserved;
} cook_vertex;

typedef struct cook_primitive {
    const pelt_asset_data *asset;
    const pelt_skin *skin; // one that the mesh is posed with, for the order of joints; NULL if none
    const pelt_primitive *source;
    const pelt_cook_options *options; // morph range resolved
    cook_arena *arena;
    cook_vertex *vertices; // by source vertex; NULL where rigid
    const pelt_extra_influence *source_extras;
    pelt_cooked_primitive out; // filled step by step; everything it points at is in the arena or the asset
    pelt_cook_report report;
} cook_primitive;

// Each step returns MEMORY or LIMIT through the error, in this order:
// 1. vertices and source_extras
pelt_result pelti_cook_pack_vertices(cook_primitive *p, pelt_error *error);
// 2. out.vertex_count, source_vertices, ordered, runs (but joints_offset and first_wide), run_joints, and the report
pelt_result pelti_cook_order(cook_primitive *p, pelt_error *error);
// 3. positions, normals, tangents, weights, joints (with the runs' joints_offset and first_wide), extras, indices,
// attributes,
//    joint_bound, boxes and counts
pelt_result pelti_cook_pack_streams(cook_primitive *p, pelt_error *error);
// 4. targets
pelt_result pelti_cook_targets(cook_primitive *p, pelt_error *error);
// 5. the boxes of one skin over the packed primitive; out_boxes: the skin's joint_count
pelt_result pelti_cook_joint_boxes(const cook_primitive *p, const pelt_skin *skin, pelt_box *out_boxes,
                                   pelt_error *error);

#endif

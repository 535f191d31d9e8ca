// SPDX-License-Identifier: MIT
// Skinning matrices: palette[j] = world_from_joint[j] * joint_from_bind[j], for one skin or thousands.
#ifndef PELT_PALETTE_H
#define PELT_PALETTE_H

#include <pelt/pose.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pelt_palette_format {
    PELT_PALETTE_3X4 = 0, // pelt_mat34, 48 bytes a joint
    PELT_PALETTE_4X4      // row-major 4x4 with fourth row 0 0 0 1, 64 bytes a joint
} pelt_palette_format;

// One palette to fill.
typedef struct pelt_palette_item {
    const pelt_pose *pose; // updated
    uint32_t skin;         // PELT_NONE: a rigid palette of one matrix, world_from_node of the node below
    uint32_t node;         // read only where skin is PELT_NONE
    void *palette;         // joint_count matrices, tight, aligned to 4; receives the result; no two items' may overlap
} pelt_palette_item;

typedef struct pelt_palette_job {
    uint32_t item_count;
    const pelt_palette_item *items; // item_count
    pelt_palette_format format;
    const pelt_parallel *parallel; // NULL = calling thread; the bytes are the same for any
} pelt_palette_job;

// Fills every item's palette. Products are evaluated in double and rounded once. Reads poses, so none of them may be
// edited meanwhile. Errors: ARGUMENT, with nothing written.
PELT_API pelt_result pelt_palette_evaluate(const pelt_palette_job *job);

// Bytes of one palette: joint_count (1 where skin is PELT_NONE) matrices of that format.
PELT_API size_t pelt_palette_size(const pelt_asset *asset, uint32_t skin, pelt_palette_format format);

#ifdef __cplusplus
}
#endif
#endif

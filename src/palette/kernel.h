// SPDX-License-Identifier: MIT
// What an instruction set does for palettes. All of them give the same bits.
#ifndef PELTI_PALETTE_KERNEL_H
#define PELTI_PALETTE_KERNEL_H

#include "skeleton.h"

// One precision of side-by-side evaluation.
typedef struct pelti_skeleton_kernel {
    uint32_t lane_count;
    void (*side_by_side)(const pelti_batch *batch); // lane_count instances
    void (*alone)(const pelti_batch *batch);        // the first instance, of at most PELTI_ALONE_LIMIT steps
} pelti_skeleton_kernel;

typedef struct pelti_palette_kernel {
    // out[i] = worlds[joints[i]] * binds[i], rounded to float, 12 or 16 floats each.
    void (*matrices)(const pelti_mat34d *worlds, const uint32_t *joints, const pelt_mat34 *binds, uint32_t count,
                     bool is_4x4, float *out);
    pelti_skeleton_kernel in_double;
    pelti_skeleton_kernel in_float;
} pelti_palette_kernel;

extern const pelti_palette_kernel pelti_palette_scalar;
extern const pelti_palette_kernel pelti_palette_sse2;
extern const pelti_palette_kernel pelti_palette_avx2;
extern const pelti_palette_kernel pelti_palette_avx512;
extern const pelti_palette_kernel pelti_palette_neon;

// Rounds one matrix to 12 floats, and the last row with it where is_4x4.
static inline void pelti_palette_store(const pelti_mat34d *m, bool is_4x4, float *out)
{
    for (int i = 0; i < 12; i++) {
        out[i] = (float)m->m[i];
    }
    if (is_4x4) {
        out[12] = 0.0F;
        out[13] = 0.0F;
        out[14] = 0.0F;
        out[15] = 1.0F;
    }
}

// The kernel of an instruction set that pelt_isa_choose chose.
const pelti_palette_kernel *pelti_palette_kernel_of(pelt_isa isa);

#endif

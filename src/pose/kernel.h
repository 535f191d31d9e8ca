// SPDX-License-Identifier: MIT
// What an instruction set does for a pose: local matrices, side by side, and world transforms, one after the other. All
// of them give the same bits.
#ifndef PELTI_POSE_KERNEL_H
#define PELTI_POSE_KERNEL_H

#include "math/math.h"

typedef struct pelti_pose_kernel {
    // out[i] = matrix of transforms[i].
    void (*locals)(const pelt_trs *transforms, uint32_t count, pelti_mat34d *out);
    // worlds[i] = worlds[parents[i]] * locals[i - begin], or the local itself where parents[i] is PELT_NONE, for i in
    // [begin, begin + count) in rising order. parents[i] < i.
    void (*worlds)(const uint32_t *parents, const uint32_t *order, const pelti_mat34d *locals, uint32_t begin,
                   uint32_t count, pelti_mat34d *worlds);
} pelti_pose_kernel;

extern const pelti_pose_kernel pelti_pose_scalar;
extern const pelti_pose_kernel pelti_pose_sse2;
extern const pelti_pose_kernel pelti_pose_avx2;
extern const pelti_pose_kernel pelti_pose_avx512;
extern const pelti_pose_kernel pelti_pose_neon;

// The kernel of an instruction set that pelt_isa_choose chose.
const pelti_pose_kernel *pelti_pose_kernel_of(pelt_isa isa);

#endif

// SPDX-License-Identifier: MIT
// Plain C: the bits that every other kernel gives, and the choice among them.
#include "pose/kernel.h"

#include "base/cpu.h"

static void locals(const pelt_trs *transforms, uint32_t count, pelti_mat34d *out)
{
    for (uint32_t i = 0; i < count; i++) {
        out[i] = pelti_mat34d_from_trs(&transforms[i]);
    }
}

static void worlds(const uint32_t *parents, const uint32_t *order, const pelti_mat34d *locals, uint32_t begin,
                   uint32_t count, pelti_mat34d *worlds)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = order ? order[i] : begin + i;
        uint32_t parent = parents[node];
        if (parent == PELT_NONE) {
            worlds[node] = locals[node - begin];
        } else {
            pelti_mat34d_multiply(&worlds[parent], &locals[node - begin], &worlds[node]);
        }
    }
}

const pelti_pose_kernel pelti_pose_scalar = {locals, worlds};

const pelti_pose_kernel *pelti_pose_kernel_of(pelt_isa isa)
{
    switch (isa) {
#if defined(PELTI_X86)
    case PELT_ISA_AVX512:
        return &pelti_pose_avx512;
    case PELT_ISA_AVX2:
        return &pelti_pose_avx2;
    case PELT_ISA_SSE2:
        return &pelti_pose_sse2;
#elif defined(PELTI_ARM64)
    case PELT_ISA_NEON:
        return &pelti_pose_neon;
#endif
    default:
        return &pelti_pose_scalar;
    }
}

// SPDX-License-Identifier: MIT
// Plain C: the bits that every other kernel gives, and the choice among them.
#include "palette/kernel.h"

#include "base/cpu.h"
#include "math/lanes_scalar.h"

#define L(name) f1_##name
#define BINDS(skeleton, index) (skeleton)->binds[index].m[0]

#include "palette/side_by_side.h"

#undef L
#undef BINDS
#define L(name) d1_##name
#define BINDS(skeleton, index) (skeleton)->double_binds[index].m

#include "palette/side_by_side.h"

static void matrices(const pelti_mat34d *worlds, const uint32_t *joints, const pelt_mat34 *binds, uint32_t count,
                     bool is_4x4, float *out)
{
    const size_t stride = is_4x4 ? 16 : 12;
    for (uint32_t i = 0; i < count; i++, out += stride) {
        pelti_mat34d bind = pelti_mat34d_from_mat34(&binds[i]);
        pelti_mat34d product;
        pelti_mat34d_multiply(&worlds[joints[i]], &bind, &product);
        pelti_palette_store(&product, is_4x4, out);
    }
}

const pelti_palette_kernel pelti_palette_scalar = {
    .matrices = matrices,
    .in_double = {d1_count, d1_side_by_side, d1_side_by_side},
    .in_float = {f1_count, f1_side_by_side, f1_side_by_side},
};

const pelti_palette_kernel *pelti_palette_kernel_of(pelt_isa isa)
{
    switch (isa) {
#if defined(PELTI_X86)
    case PELT_ISA_AVX512:
        return &pelti_palette_avx512;
    case PELT_ISA_AVX2:
        return &pelti_palette_avx2;
    case PELT_ISA_SSE2:
        return &pelti_palette_sse2;
#elif defined(PELTI_ARM64)
    case PELT_ISA_NEON:
        return &pelti_palette_neon;
#endif
    default:
        return &pelti_palette_scalar;
    }
}

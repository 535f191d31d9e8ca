// SPDX-License-Identifier: MIT
// Palettes with AVX2: 8 floats or 4 doubles at a time.
#include "base/cpu.h"

#if defined(PELTI_X86)

#include "math/lanes_avx2.h"
#include "math/rows_x86.h"
#include "palette/kernel.h"

#define L(name) f8_##name
#define R(name) q8_##name
#define BINDS(skeleton, index) (skeleton)->binds[index].m[0]

#include "palette/side_by_side.h"

#include "palette/alone.h"

#undef L
#undef R
#undef BINDS
#define L(name) d4_##name
#define R(name) r4_##name
#define BINDS(skeleton, index) (skeleton)->double_binds[index].m

#include "palette/side_by_side.h"

#include "palette/alone.h"
#include "palette/matrices.h"

const pelti_palette_kernel pelti_palette_avx2 = {
    .matrices = matrices,
    .in_double = {d4_count, d4_side_by_side, r4_alone},
    .in_float = {f8_count, f8_side_by_side, q8_alone},
};

#else

typedef int no_kernel_here; // an empty file is no C

#endif

// SPDX-License-Identifier: MIT
// Palettes with AVX-512: 16 floats or 8 doubles at a time.
#include "base/cpu.h"

#if defined(PELTI_X86)

#include "math/lanes_avx512.h"
#include "math/rows_x86.h"
#include "palette/kernel.h"

#define L(name) f16_##name
#define BINDS(skeleton, index) (skeleton)->binds[index].m[0]

#include "palette/side_by_side.h"

#undef L
#undef BINDS
#define L(name) d8_##name
#define R(name) r4_##name
#define BINDS(skeleton, index) (skeleton)->double_binds[index].m

#include "palette/side_by_side.h"

#include "palette/alone.h"
#include "palette/matrices.h"

#undef L
#undef R
#define L(name) f8_##name
#define R(name) q8_##name

#include "math/lanes.h"

#include "palette/alone.h"

const pelti_palette_kernel pelti_palette_avx512 = {
    .matrices = matrices,
    .in_double = {d8_count, d8_side_by_side, r4_alone},
    .in_float = {f16_count, f16_side_by_side, q8_alone},
};

#else

typedef int no_kernel_here; // an empty file is no C

#endif

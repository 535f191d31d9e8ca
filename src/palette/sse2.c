// SPDX-License-Identifier: MIT
// Palettes with SSE2: 4 floats or 2 doubles at a time.
#include "base/cpu.h"

#if defined(PELTI_X86)

#include "math/lanes_sse2.h"
#include "math/rows_x86.h"
#include "palette/kernel.h"

#define L(name) f4_##name
#define R(name) q4_##name
#define BINDS(skeleton, index) (skeleton)->binds[index].m[0]

#include "palette/side_by_side.h"

#include "palette/alone.h"

#undef L
#undef R
#undef BINDS
#define L(name) d2_##name
#define R(name) r2_##name
#define BINDS(skeleton, index) (skeleton)->double_binds[index].m

#include "palette/side_by_side.h"

#include "palette/alone.h"
#include "palette/matrices.h"

const pelti_palette_kernel pelti_palette_sse2 = {
    .matrices = matrices,
    .in_double = {d2_count, d2_side_by_side, r2_alone},
    .in_float = {f4_count, f4_side_by_side, q4_alone},
};

#else

typedef int no_kernel_here; // an empty file is no C

#endif

// SPDX-License-Identifier: MIT
// AVX2: four joints side by side from TRS to matrix, then world transforms by rows.
#include "base/cpu.h"

#if defined(PELTI_X86)

#include "math/lanes_avx2.h"
#include "math/rows_x86.h"

#define L(name) d4_##name
#define R(name) r4_##name

#include "pose/wide.h"

const pelti_pose_kernel pelti_pose_avx2 = {locals, worlds};

#else

typedef int no_kernel_here; // an empty file is no C

#endif

// SPDX-License-Identifier: MIT
// SSE2: two joints side by side from TRS to matrix, then world transforms by rows.
#include "base/cpu.h"

#if defined(PELTI_X86)

#include "math/lanes_sse2.h"
#include "math/rows_x86.h"

#define L(name) d2_##name
#define R(name) r2_##name

#include "pose/wide.h"

const pelti_pose_kernel pelti_pose_sse2 = {locals, worlds};

#else

typedef int no_kernel_here; // an empty file is no C

#endif

// SPDX-License-Identifier: MIT
// NEON: two joints side by side from TRS to matrix, then world transforms by rows.
#include "base/cpu.h"

#if defined(PELTI_ARM64)

#include "math/lanes_neon.h"
#include "math/rows_neon.h"

#define L(name) d2_##name
#define R(name) r2_##name

#include "pose/wide.h"

const pelti_pose_kernel pelti_pose_neon = {locals, worlds};

#else

typedef int no_kernel_here; // an empty file is no C

#endif

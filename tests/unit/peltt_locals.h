// SPDX-License-Identifier: MIT
// Locals for tests of clips, and the quaternion maths they are checked with, in double.
#ifndef PELTT_LOCALS_H
#define PELTT_LOCALS_H

#include "peltt_asset.h"

#include <pelt/anim.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PELTT_COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

typedef struct peltt_double4 {
    double v[4];
} peltt_double4;

// An asset and locals at rest, in heap memory of exactly the sizes that anim.h states. Owns the asset.
typedef struct peltt_locals {
    pelt_asset *asset;
    const pelt_asset_data *data;
    pelt_locals locals;
} peltt_locals;

peltt_locals peltt_locals_make(pelt_asset *asset);
void peltt_locals_free(peltt_locals *f);

peltt_double4 peltt_from_quat(pelt_quat q);
double peltt_length4(peltt_double4 q);
double peltt_dot4(peltt_double4 a, peltt_double4 b);
peltt_double4 peltt_normal4(peltt_double4 q);
// Hamilton product.
peltt_double4 peltt_product(peltt_double4 a, peltt_double4 b);
peltt_double4 peltt_axis_angle(const double axis[3], double angle);
// Shortest-path slerp as a * (a^-1 b)^share, the power by axis and angle.
peltt_double4 peltt_slerp(peltt_double4 a, peltt_double4 b, double share);
// Compares as rotations: q and -q are the same one.
void peltt_expect_rotation(pelt_quat got, peltt_double4 expected, double tolerance);

#endif

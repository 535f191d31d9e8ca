// SPDX-License-Identifier: MIT
// The vector types of lanes.h with one lane, in plain C: what every other one is compared with.
#ifndef PELTI_LANES_SCALAR_H
#define PELTI_LANES_SCALAR_H

#include "math/matrix_store.h"

#include <pelt/math.h>

#include <string.h>

typedef float f1_wide;
typedef double d1_wide;
typedef float f1_scalar;
typedef double d1_scalar;

enum {
    f1_count = 1,
    d1_count = 1,
    f1_streams = 0,
    d1_streams = 0
};

#define f1_set(a) ((float)(a))
#define f1_add(a, b) ((a) + (b))
#define f1_sub(a, b) ((a) - (b))
#define f1_mul(a, b) ((a) * (b))
#define d1_set(a) ((double)(a))
#define d1_add(a, b) ((a) + (b))
#define d1_sub(a, b) ((a) - (b))
#define d1_mul(a, b) ((a) * (b))

static inline void finish_streams(void)
{
}

static inline void prefetch_line(const void *line)
{
    (void)line;
}

static inline float f1_two_over(float square)
{
    return square > 0.0F ? 2.0F / square : 0.0F;
}

static inline double d1_two_over(double square)
{
    return square > 0.0 ? 2.0 / square : 0.0;
}

static inline void f1_load_head(const pelt_trs *const *transforms, size_t node, f1_wide out[8])
{
    const pelt_trs *t = &transforms[0][node];
    memcpy(out, &t->translation, sizeof t->translation);
    memcpy(out + 3, &t->rotation, sizeof t->rotation);
    out[7] = t->scale.x;
}

static inline void f1_load_tail(const pelt_trs *const *transforms, size_t node, f1_wide out[2])
{
    out[0] = transforms[0][node].scale.y;
    out[1] = transforms[0][node].scale.z;
}

static inline void d1_load_head(const pelt_trs *const *transforms, size_t node, d1_wide out[8])
{
    float values[8];
    f1_load_head(transforms, node, values);
    for (int i = 0; i < 8; i++) {
        out[i] = (double)values[i];
    }
}

static inline void d1_load_tail(const pelt_trs *const *transforms, size_t node, d1_wide out[2])
{
    out[0] = (double)transforms[0][node].scale.y;
    out[1] = (double)transforms[0][node].scale.z;
}

static inline void f1_store_matrices(const f1_wide m[12], float *const *out, size_t offset, pelti_matrix_store how)
{
    const float last[4] = {0.0F, 0.0F, 0.0F, 1.0F};
    memcpy(out[0] + offset, m, 12 * sizeof *m);
    if (how != PELTI_STORE_3X4) {
        memcpy(out[0] + offset + 12, last, sizeof last);
    }
}

static inline void d1_store_matrices(const d1_wide m[12], float *const *out, size_t offset, pelti_matrix_store how)
{
    float rounded[12];
    for (size_t i = 0; i < 12; i++) {
        rounded[i] = (float)m[i];
    }
    f1_store_matrices(rounded, out, offset, how);
}

#endif

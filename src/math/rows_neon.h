// SPDX-License-Identifier: MIT
// Products of single 3x4 matrices by rows on AArch64, in double (r2) and in float (q4). Each gives the bits of plain C:
// the products of a row are summed from left to right, the translation comes last, and nothing is fused.
//
// Elements of the left matrix are lanes of its rows, which a multiplication takes as they are. Only the last column has
// a translation, so the others get -0 added, which changes nothing, -0 included.
#ifndef PELTI_ROWS_NEON_H
#define PELTI_ROWS_NEON_H

#include "math/math.h"

#include <arm_neon.h>

// --- double: half rows

typedef double r2_scalar;

typedef struct r2_matrix {
    float64x2_t half[6];
} r2_matrix;

typedef r2_matrix r2_right;

enum {
    r2_stride = 12 // scalars from one matrix to the next
};

static inline r2_matrix r2_load(const double *m)
{
    r2_matrix out;
    for (int i = 0; i < 6; i++) {
        out.half[i] = vld1q_f64(m + 2 * i);
    }
    return out;
}

static inline void r2_store(r2_matrix a, double *out)
{
    for (int i = 0; i < 6; i++) {
        vst1q_f64(out + 2 * i, a.half[i]);
    }
}

static inline r2_right r2_load_right(const double *m)
{
    return r2_load(m);
}

static inline r2_right r2_load_bind(const pelt_mat34 *m)
{
    r2_matrix out;
    for (int i = 0; i < 3; i++) {
        float32x4_t row = vld1q_f32(m->m[i]);
        out.half[2 * i] = vcvt_f64_f32(vget_low_f32(row));
        out.half[2 * i + 1] = vcvt_high_f64_f32(row);
    }
    return out;
}

static inline r2_matrix r2_multiply(const double *a, r2_right b)
{
    r2_matrix out;
    for (int i = 0; i < 6; i += 2) {
        float64x2_t xy = vld1q_f64(a + 2 * i);
        float64x2_t zw = vld1q_f64(a + 2 * i + 2);
        for (int k = 0; k < 2; k++) {
            float64x2_t sum = vaddq_f64(vmulq_laneq_f64(b.half[k], xy, 0), vmulq_laneq_f64(b.half[2 + k], xy, 1));
            out.half[i + k] = vaddq_f64(sum, vmulq_laneq_f64(b.half[4 + k], zw, 0));
        }
        out.half[i + 1] = vaddq_f64(out.half[i + 1], vcopyq_laneq_f64(vdupq_n_f64(-0.0), 1, zw, 1));
    }
    return out;
}

static inline void r2_store_floats(r2_matrix a, bool is_4x4, float *out)
{
    for (int i = 0; i < 3; i++) {
        vst1q_f32(out + 4 * i, vcvt_high_f32_f64(vcvt_f32_f64(a.half[2 * i]), a.half[2 * i + 1]));
    }
    if (is_4x4) {
        vst1q_f32(out + 12, vsetq_lane_f32(1.0F, vdupq_n_f32(0.0F), 3));
    }
}

// --- float: rows

typedef float q4_scalar;

typedef struct q4_matrix {
    float32x4_t row[3];
} q4_matrix;

typedef q4_matrix q4_right;

enum {
    q4_stride = 16
};

static inline q4_matrix q4_load(const float *m)
{
    return (q4_matrix){{vld1q_f32(m), vld1q_f32(m + 4), vld1q_f32(m + 8)}};
}

static inline void q4_store(q4_matrix a, float *out)
{
    for (int i = 0; i < 3; i++) {
        vst1q_f32(out + 4 * i, a.row[i]);
    }
}

static inline q4_right q4_load_right(const float *m)
{
    return q4_load(m);
}

static inline q4_right q4_load_bind(const pelt_mat34 *m)
{
    return q4_load(m->m[0]);
}

static inline q4_matrix q4_multiply(const float *a, q4_right b)
{
    q4_matrix out;
    for (int i = 0; i < 3; i++) {
        float32x4_t row = vld1q_f32(a + 4 * i);
        float32x4_t sum = vaddq_f32(vmulq_laneq_f32(b.row[0], row, 0), vmulq_laneq_f32(b.row[1], row, 1));
        sum = vaddq_f32(sum, vmulq_laneq_f32(b.row[2], row, 2));
        out.row[i] = vaddq_f32(sum, vcopyq_laneq_f32(vdupq_n_f32(-0.0F), 3, row, 3));
    }
    return out;
}

static inline void q4_store_floats(q4_matrix a, bool is_4x4, float *out)
{
    q4_store(a, out);
    if (is_4x4) {
        vst1q_f32(out + 12, vsetq_lane_f32(1.0F, vdupq_n_f32(0.0F), 3));
    }
}

#endif

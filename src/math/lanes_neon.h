// SPDX-License-Identifier: MIT
// Side-by-side arithmetic on AArch64: vectors of 4 floats (f4) and of 2 doubles (d2). Transforms and matrices of that
// many instances are transposed on the way in and out. Nothing is fused here: a lane gives the bits that plain C gives.
#ifndef PELTI_LANES_NEON_H
#define PELTI_LANES_NEON_H

#include "math/matrix_store.h"

#include <pelt/math.h>

#include <arm_neon.h>
#include <string.h>

// There are no streams to finish: stores that pass the caches by cannot be asked for.
static inline void finish_streams(void)
{
}

static inline void prefetch_line(const void *line)
{
    __builtin_prefetch(line);
}

typedef float32x4_t f4_wide;
typedef float64x2_t d2_wide;
typedef float f4_scalar;
typedef double d2_scalar;

enum {
    f4_count = 4,
    d2_count = 2,
    f4_streams = 0,
    d2_streams = 0
};

#define f4_set vdupq_n_f32
#define f4_add vaddq_f32
#define f4_sub vsubq_f32
#define f4_mul vmulq_f32
#define d2_set vdupq_n_f64
#define d2_add vaddq_f64
#define d2_sub vsubq_f64
#define d2_mul vmulq_f64

static inline f4_wide f4_two_over(f4_wide square)
{
    uint32x4_t quotient = vreinterpretq_u32_f32(vdivq_f32(vdupq_n_f32(2.0F), square));
    return vreinterpretq_f32_u32(vandq_u32(quotient, vcgtzq_f32(square)));
}

static inline d2_wide d2_two_over(d2_wide square)
{
    uint64x2_t quotient = vreinterpretq_u64_f64(vdivq_f64(vdupq_n_f64(2.0), square));
    return vreinterpretq_f64_u64(vandq_u64(quotient, vcgtzq_f64(square)));
}

// The ten floats of a transform: translation, rotation, scale. load_head takes the first eight of one node from each
// instance, load_tail the last two.
static inline const float *trs_floats(const pelt_trs *transform)
{
    return &transform->translation.x;
}

static inline void f4_transpose(const f4_wide in[4], f4_wide out[4])
{
    f4_wide ac_low = vzip1q_f32(in[0], in[2]);
    f4_wide ac_high = vzip2q_f32(in[0], in[2]);
    f4_wide bd_low = vzip1q_f32(in[1], in[3]);
    f4_wide bd_high = vzip2q_f32(in[1], in[3]);
    out[0] = vzip1q_f32(ac_low, bd_low);
    out[1] = vzip2q_f32(ac_low, bd_low);
    out[2] = vzip1q_f32(ac_high, bd_high);
    out[3] = vzip2q_f32(ac_high, bd_high);
}

static inline void f4_load_head(const pelt_trs *const *transforms, size_t node, f4_wide out[8])
{
    for (int half = 0; half < 8; half += 4) {
        f4_wide quads[4];
        for (int i = 0; i < 4; i++) {
            quads[i] = vld1q_f32(trs_floats(&transforms[i][node]) + half);
        }
        f4_transpose(quads, out + half);
    }
}

static inline void f4_load_tail(const pelt_trs *const *transforms, size_t node, f4_wide out[2])
{
    float32x2_t pairs[4];
    for (int i = 0; i < 4; i++) {
        pairs[i] = vld1_f32(trs_floats(&transforms[i][node]) + 8);
    }
    f4_wide ab = vcombine_f32(pairs[0], pairs[1]);
    f4_wide cd = vcombine_f32(pairs[2], pairs[3]);
    out[0] = vuzp1q_f32(ab, cd);
    out[1] = vuzp2q_f32(ab, cd);
}

static inline void d2_load_head(const pelt_trs *const *transforms, size_t node, d2_wide out[8])
{
    for (int half = 0; half < 8; half += 4) {
        f4_wide a = vld1q_f32(trs_floats(&transforms[0][node]) + half);
        f4_wide b = vld1q_f32(trs_floats(&transforms[1][node]) + half);
        f4_wide low = vzip1q_f32(a, b);
        f4_wide high = vzip2q_f32(a, b);
        out[half] = vcvt_f64_f32(vget_low_f32(low));
        out[half + 1] = vcvt_high_f64_f32(low);
        out[half + 2] = vcvt_f64_f32(vget_low_f32(high));
        out[half + 3] = vcvt_high_f64_f32(high);
    }
}

static inline void d2_load_tail(const pelt_trs *const *transforms, size_t node, d2_wide out[2])
{
    float32x2_t a = vld1_f32(trs_floats(&transforms[0][node]) + 8);
    float32x2_t b = vld1_f32(trs_floats(&transforms[1][node]) + 8);
    out[0] = vcvt_f64_f32(vzip1_f32(a, b));
    out[1] = vcvt_f64_f32(vzip2_f32(a, b));
}

static inline f4_wide f4_last_row(void)
{
    return vsetq_lane_f32(1.0F, vdupq_n_f32(0.0F), 3);
}

static inline void f4_store_matrices(const f4_wide m[12], float *const *out, size_t offset, pelti_matrix_store how)
{
    for (size_t r = 0; r < 12; r += 4) {
        f4_wide rows[4];
        f4_transpose(m + r, rows);
        for (int i = 0; i < 4; i++) {
            vst1q_f32(out[i] + offset + r, rows[i]);
        }
    }
    for (int i = 0; how != PELTI_STORE_3X4 && i < 4; i++) {
        vst1q_f32(out[i] + offset + 12, f4_last_row());
    }
}

static inline void d2_store_matrices(const d2_wide m[12], float *const *out, size_t offset, pelti_matrix_store how)
{
    for (size_t r = 0; r < 12; r += 4) {
        f4_wide left = vcvt_high_f32_f64(vcvt_f32_f64(m[r]), m[r + 1]);
        f4_wide right = vcvt_high_f32_f64(vcvt_f32_f64(m[r + 2]), m[r + 3]);
        vst1q_f32(out[0] + offset + r, vuzp1q_f32(left, right));
        vst1q_f32(out[1] + offset + r, vuzp2q_f32(left, right));
    }
    for (int i = 0; how != PELTI_STORE_3X4 && i < 2; i++) {
        vst1q_f32(out[i] + offset + 12, f4_last_row());
    }
}

// Matrices one after the other, in the type itself: doubles 12 apart, floats 16 apart.
static inline void f4_store_rows(const f4_wide m[12], float *out)
{
    float *const lanes[4] = {out, out + 16, out + 32, out + 48};
    f4_store_matrices(m, lanes, 0, PELTI_STORE_3X4);
}

static inline void d2_store_rows(const d2_wide m[12], double *out)
{
    for (int i = 0; i < 12; i += 2) {
        vst1q_f64(out + i, vzip1q_f64(m[i], m[i + 1]));
        vst1q_f64(out + 12 + i, vzip2q_f64(m[i], m[i + 1]));
    }
}

#endif

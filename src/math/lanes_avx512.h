// SPDX-License-Identifier: MIT
// Side-by-side arithmetic with AVX-512, as in lanes_sse2.h: vectors of 16 floats (f16) and of 8 doubles (d8).
#ifndef PELTI_LANES_AVX512_H
#define PELTI_LANES_AVX512_H

#include "math/lanes_avx2.h"

typedef __m512 f16_wide;
typedef __m512d d8_wide;
typedef float f16_scalar;
typedef double d8_scalar;

enum {
    f16_count = 16,
    d8_count = 8,
    f16_streams = 1,
    d8_streams = 1
};

#define f16_set _mm512_set1_ps
#define f16_add _mm512_add_ps
#define f16_sub _mm512_sub_ps
#define f16_mul _mm512_mul_ps
#define d8_set _mm512_set1_pd
#define d8_add _mm512_add_pd
#define d8_sub _mm512_sub_pd
#define d8_mul _mm512_mul_pd

static inline f16_wide f16_two_over(f16_wide square)
{
    __mmask16 positive = _mm512_cmp_ps_mask(square, _mm512_setzero_ps(), _CMP_GT_OQ);
    return _mm512_maskz_div_ps(positive, _mm512_set1_ps(2.0F), square);
}

static inline d8_wide d8_two_over(d8_wide square)
{
    __mmask8 positive = _mm512_cmp_pd_mask(square, _mm512_setzero_pd(), _CMP_GT_OQ);
    return _mm512_maskz_div_pd(positive, _mm512_set1_pd(2.0), square);
}

// 4x4 transposes inside of 128-bit lanes.
static inline void f16_transpose(const __m512 in[4], __m512 out[4])
{
    __m512 ab_low = _mm512_unpacklo_ps(in[0], in[1]);
    __m512 ab_high = _mm512_unpackhi_ps(in[0], in[1]);
    __m512 cd_low = _mm512_unpacklo_ps(in[2], in[3]);
    __m512 cd_high = _mm512_unpackhi_ps(in[2], in[3]);
    out[0] = _mm512_shuffle_ps(ab_low, cd_low, 0x44);
    out[1] = _mm512_shuffle_ps(ab_low, cd_low, 0xEE);
    out[2] = _mm512_shuffle_ps(ab_high, cd_high, 0x44);
    out[3] = _mm512_shuffle_ps(ab_high, cd_high, 0xEE);
}

// Halves of registers leave fewer shuffles than quarters or whole transforms would.
static inline void f16_load_head(const pelt_trs *const *transforms, size_t node, f16_wide out[8])
{
    __m512 front[4];
    __m512 back[4];
    for (int i = 0; i < 4; i++) {
        const float *t0 = trs_floats(&transforms[i][node]);
        const float *t1 = trs_floats(&transforms[i + 4][node]);
        const float *t2 = trs_floats(&transforms[i + 8][node]);
        const float *t3 = trs_floats(&transforms[i + 12][node]);
        front[i] = _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(t0)), _mm256_loadu_ps(t1), 1);
        back[i] = _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(t2)), _mm256_loadu_ps(t3), 1);
    }
    f16_transpose(front, front);
    f16_transpose(back, back);
    for (int i = 0; i < 4; i++) {
        out[i] = _mm512_shuffle_f32x4(front[i], back[i], 0x88);
        out[4 + i] = _mm512_shuffle_f32x4(front[i], back[i], 0xDD);
    }
}

static inline void f16_load_tail(const pelt_trs *const *transforms, size_t node, f16_wide out[2])
{
    __m512 quads[4]; // the last four floats, of which the first two came with the head
    for (int i = 0; i < 4; i++) {
        const float *t1 = trs_floats(&transforms[i + 4][node]);
        const float *t2 = trs_floats(&transforms[i + 8][node]);
        const float *t3 = trs_floats(&transforms[i + 12][node]);
        quads[i] = _mm512_castps128_ps512(_mm_loadu_ps(trs_floats(&transforms[i][node]) + 6));
        quads[i] = _mm512_mask_broadcast_f32x4(quads[i], 0x00F0, _mm_loadu_ps(t1 + 6));
        quads[i] = _mm512_mask_broadcast_f32x4(quads[i], 0x0F00, _mm_loadu_ps(t2 + 6));
        quads[i] = _mm512_mask_broadcast_f32x4(quads[i], 0xF000, _mm_loadu_ps(t3 + 6));
    }
    __m512 low = _mm512_unpackhi_ps(quads[0], quads[1]);
    __m512 high = _mm512_unpackhi_ps(quads[2], quads[3]);
    out[0] = _mm512_shuffle_ps(low, high, 0x44);
    out[1] = _mm512_shuffle_ps(low, high, 0xEE);
}

static inline void d8_load_head(const pelt_trs *const *transforms, size_t node, d8_wide out[8])
{
    f8_wide floats[8];
    f8_load_head(transforms, node, floats);
    for (int i = 0; i < 8; i++) {
        out[i] = _mm512_cvtps_pd(floats[i]);
    }
}

static inline void d8_load_tail(const pelt_trs *const *transforms, size_t node, d8_wide out[2])
{
    f8_wide floats[2];
    f8_load_tail(transforms, node, floats);
    out[0] = _mm512_cvtps_pd(floats[0]);
    out[1] = _mm512_cvtps_pd(floats[1]);
}

// A matrix of 64 bytes is written by one store: two halves at different times cost twice the time of one line. The last
// row comes in by blends, which run in any pipe, while shuffles across quarters wait for two of the four.
static inline void f16_store_matrices(const f16_wide m[12], float *const *out, size_t offset, pelti_matrix_store how)
{
    const __m512 last = _mm512_broadcast_f32x4(_mm_setr_ps(0.0F, 0.0F, 0.0F, 1.0F));
    __m512 rows[3][4];
    for (int r = 0; r < 3; r++) {
        f16_transpose(m + 4 * (size_t)r, rows[r]);
    }
    for (int i = 0; i < 4; i++) {
        __m512 front = _mm512_shuffle_f32x4(rows[0][i], rows[1][i], 0x44);
        __m512 back = _mm512_shuffle_f32x4(rows[0][i], rows[1][i], 0xEE);
        __m512 front_end = _mm512_mask_blend_ps(0xFF00, rows[2][i], last);
        __m512 back_end = _mm512_mask_blend_ps(0x00FF, rows[2][i], last);
        const __m512 matrices[4] = {
            _mm512_shuffle_f32x4(front, front_end, 0x88), _mm512_shuffle_f32x4(front, front_end, 0xDD),
            _mm512_shuffle_f32x4(back, back_end, 0x28), _mm512_shuffle_f32x4(back, back_end, 0x7D)};
        for (int k = 0; k < 4; k++) {
            float *to = out[i + 4 * k] + offset;
            if (how == PELTI_STORE_3X4) {
                _mm256_storeu_ps(to, _mm512_castps512_ps256(matrices[k]));
                _mm_storeu_ps(to + 8, _mm512_extractf32x4_ps(matrices[k], 2));
            } else if (how == PELTI_STORE_4X4) {
                _mm512_storeu_ps(to, matrices[k]);
            } else {
                _mm512_stream_ps(to, matrices[k]);
            }
        }
    }
}

static inline void d8_round(const d8_wide *in, int count, f8_wide *out)
{
    for (int i = 0; i < count; i++) {
        out[i] = _mm512_cvtpd_ps(in[i]);
    }
}

static inline void d8_store_matrices(const d8_wide m[12], float *const *out, size_t offset, pelti_matrix_store how)
{
    f8_wide rounded[12];
    d8_round(m, 12, rounded);
    f8_store_matrices(rounded, out, offset, how);
}

static inline void f16_store_rows(const f16_wide m[12], float *out)
{
    float *lanes[16];
    for (int i = 0; i < 16; i++) {
        lanes[i] = out + 16 * i;
    }
    f16_store_matrices(m, lanes, 0, PELTI_STORE_3X4);
}

static inline void d8_store_rows(const d8_wide m[12], double *out)
{
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    for (int i = 0; i < 12; i += 4) {
        __m512d ab[2] = {_mm512_unpacklo_pd(m[i], m[i + 1]), _mm512_unpackhi_pd(m[i], m[i + 1])};
        __m512d cd[2] = {_mm512_unpacklo_pd(m[i + 2], m[i + 3]), _mm512_unpackhi_pd(m[i + 2], m[i + 3])};
        for (int k = 0; k < 2; k++) {
            double *o = out + 12 * k + i;
            __m512d first = _mm512_permutex2var_pd(ab[k], low, cd[k]);
            __m512d second = _mm512_permutex2var_pd(ab[k], high, cd[k]);
            _mm256_storeu_pd(o, _mm512_castpd512_pd256(first));
            _mm256_storeu_pd(o + 24, _mm512_extractf64x4_pd(first, 1));
            _mm256_storeu_pd(o + 48, _mm512_castpd512_pd256(second));
            _mm256_storeu_pd(o + 72, _mm512_extractf64x4_pd(second, 1));
        }
    }
}

#endif

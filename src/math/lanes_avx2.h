// SPDX-License-Identifier: MIT
// Side-by-side arithmetic with AVX2, as in lanes_sse2.h: vectors of 8 floats (f8) and of 4 doubles (d4).
#ifndef PELTI_LANES_AVX2_H
#define PELTI_LANES_AVX2_H

#include "math/lanes_sse2.h"

typedef __m256 f8_wide;
typedef __m256d d4_wide;
typedef float f8_scalar;
typedef double d4_scalar;

enum {
    f8_count = 8,
    d4_count = 4,
    f8_streams = 1,
    d4_streams = 1
};

#define f8_set _mm256_set1_ps
#define f8_add _mm256_add_ps
#define f8_sub _mm256_sub_ps
#define f8_mul _mm256_mul_ps
#define d4_set _mm256_set1_pd
#define d4_add _mm256_add_pd
#define d4_sub _mm256_sub_pd
#define d4_mul _mm256_mul_pd

static inline f8_wide f8_two_over(f8_wide square)
{
    __m256 positive = _mm256_cmp_ps(square, _mm256_setzero_ps(), _CMP_GT_OQ);
    return _mm256_and_ps(_mm256_div_ps(_mm256_set1_ps(2.0F), square), positive);
}

static inline d4_wide d4_two_over(d4_wide square)
{
    __m256d positive = _mm256_cmp_pd(square, _mm256_setzero_pd(), _CMP_GT_OQ);
    return _mm256_and_pd(_mm256_div_pd(_mm256_set1_pd(2.0), square), positive);
}

static inline __m256 f8_join(const float *low, const float *high)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}

// 4x4 transposes inside of 128-bit lanes.
static inline void f8_transpose(const __m256 in[4], __m256 out[4])
{
    __m256 ab_low = _mm256_unpacklo_ps(in[0], in[1]);
    __m256 ab_high = _mm256_unpackhi_ps(in[0], in[1]);
    __m256 cd_low = _mm256_unpacklo_ps(in[2], in[3]);
    __m256 cd_high = _mm256_unpackhi_ps(in[2], in[3]);
    out[0] = _mm256_shuffle_ps(ab_low, cd_low, 0x44);
    out[1] = _mm256_shuffle_ps(ab_low, cd_low, 0xEE);
    out[2] = _mm256_shuffle_ps(ab_high, cd_high, 0x44);
    out[3] = _mm256_shuffle_ps(ab_high, cd_high, 0xEE);
}

static inline void f8_load_head(const pelt_trs *const *transforms, size_t node, f8_wide out[8])
{
    for (int half = 0; half < 8; half += 4) {
        __m256 quads[4];
        for (int i = 0; i < 4; i++) {
            quads[i] = f8_join(trs_floats(&transforms[i][node]) + half, trs_floats(&transforms[i + 4][node]) + half);
        }
        f8_transpose(quads, out + half);
    }
}

static inline void f8_load_tail(const pelt_trs *const *transforms, size_t node, f8_wide out[2])
{
    __m256 quads[4]; // the last four floats, of which the first two came with the head
    for (int i = 0; i < 4; i++) {
        quads[i] = f8_join(trs_floats(&transforms[i][node]) + 6, trs_floats(&transforms[i + 4][node]) + 6);
    }
    __m256 low = _mm256_unpackhi_ps(quads[0], quads[1]);
    __m256 high = _mm256_unpackhi_ps(quads[2], quads[3]);
    out[0] = _mm256_shuffle_ps(low, high, 0x44);
    out[1] = _mm256_shuffle_ps(low, high, 0xEE);
}

static inline void d4_load_head(const pelt_trs *const *transforms, size_t node, d4_wide out[8])
{
    f4_wide floats[8];
    f4_load_head(transforms, node, floats);
    for (int i = 0; i < 8; i++) {
        out[i] = _mm256_cvtps_pd(floats[i]);
    }
}

static inline void d4_load_tail(const pelt_trs *const *transforms, size_t node, d4_wide out[2])
{
    f4_wide floats[2];
    f4_load_tail(transforms, node, floats);
    out[0] = _mm256_cvtps_pd(floats[0]);
    out[1] = _mm256_cvtps_pd(floats[1]);
}

// All of one instance's matrix, then the next one's: stores to one cache line that follow one another are merged.
static inline void f8_store_matrices(const f8_wide m[12], float *const *out, size_t offset, pelti_matrix_store how)
{
    __m256 rows[3][4];
    for (int r = 0; r < 3; r++) {
        f8_transpose(m + 4 * (size_t)r, rows[r]);
    }
    const __m256 last = _mm256_setr_ps(0.0F, 0.0F, 0.0F, 1.0F, 0.0F, 0.0F, 0.0F, 1.0F);
    for (int i = 0; i < 8; i++) {
        float *to = out[i] + offset;
        const __m256 front = i < 4 ? _mm256_permute2f128_ps(rows[0][i], rows[1][i], 0x20)
                                   : _mm256_permute2f128_ps(rows[0][i - 4], rows[1][i - 4], 0x31);
        const __m256 back =
            i < 4 ? _mm256_permute2f128_ps(rows[2][i], last, 0x20) : _mm256_permute2f128_ps(rows[2][i - 4], last, 0x31);
        if (how == PELTI_STORE_3X4) {
            _mm256_storeu_ps(to, front);
            _mm_storeu_ps(to + 8, _mm256_castps256_ps128(back));
        } else if (how == PELTI_STORE_4X4) {
            _mm256_storeu_ps(to, front);
            _mm256_storeu_ps(to + 8, back);
        } else {
            _mm256_stream_ps(to, front);
            _mm256_stream_ps(to + 8, back);
        }
    }
}

static inline void d4_round(const d4_wide *in, int count, f4_wide *out)
{
    for (int i = 0; i < count; i++) {
        out[i] = _mm256_cvtpd_ps(in[i]);
    }
}

static inline void d4_store_matrices(const d4_wide m[12], float *const *out, size_t offset, pelti_matrix_store how)
{
    f4_wide rounded[12];
    d4_round(m, 12, rounded);
    f4_store_matrices(rounded, out, offset, how);
}

static inline void f8_store_rows(const f8_wide m[12], float *out)
{
    float *const lanes[8] = {out, out + 16, out + 32, out + 48, out + 64, out + 80, out + 96, out + 112};
    f8_store_matrices(m, lanes, 0, PELTI_STORE_3X4);
}

static inline void d4_store_rows(const d4_wide m[12], double *out)
{
    for (int i = 0; i < 12; i += 4) {
        __m256d ab_low = _mm256_unpacklo_pd(m[i], m[i + 1]);
        __m256d ab_high = _mm256_unpackhi_pd(m[i], m[i + 1]);
        __m256d cd_low = _mm256_unpacklo_pd(m[i + 2], m[i + 3]);
        __m256d cd_high = _mm256_unpackhi_pd(m[i + 2], m[i + 3]);
        _mm256_storeu_pd(out + i, _mm256_permute2f128_pd(ab_low, cd_low, 0x20));
        _mm256_storeu_pd(out + 12 + i, _mm256_permute2f128_pd(ab_high, cd_high, 0x20));
        _mm256_storeu_pd(out + 24 + i, _mm256_permute2f128_pd(ab_low, cd_low, 0x31));
        _mm256_storeu_pd(out + 36 + i, _mm256_permute2f128_pd(ab_high, cd_high, 0x31));
    }
}

#endif

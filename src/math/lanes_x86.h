// SPDX-License-Identifier: MIT
// Side-by-side arithmetic on x86-64: vectors of 4, 8 and 16 floats (f4, f8, f16) and of 2, 4 and 8 doubles (d2, d4,
// d8), as far as the file that includes this is compiled for them. Transforms and matrices of that many instances are
// transposed on the way in and out. Nothing is fused here: a lane gives the bits that plain C gives.
#ifndef PELTI_LANES_X86_H
#define PELTI_LANES_X86_H

#include "math/matrix_store.h"

#include <pelt/math.h>

#include <immintrin.h>
#include <string.h>

// Before others may read what was written past the caches.
static inline void finish_streams(void)
{
    _mm_sfence();
}

static inline void prefetch_line(const void *line)
{
    _mm_prefetch((const char *)line, _MM_HINT_T0);
}

// load_head takes the first eight floats of the transform of one node from each instance (translation, rotation and the
// first of scale), load_tail the last two.

// --- four floats, two doubles: SSE2

typedef __m128 f4_wide;
typedef __m128d d2_wide;
typedef float f4_scalar;
typedef double d2_scalar;

enum {
    f4_count = 4,
    d2_count = 2
};

#define f4_set _mm_set1_ps
#define f4_add _mm_add_ps
#define f4_sub _mm_sub_ps
#define f4_mul _mm_mul_ps
#define d2_set _mm_set1_pd
#define d2_add _mm_add_pd
#define d2_sub _mm_sub_pd
#define d2_mul _mm_mul_pd

static inline f4_wide f4_two_over(f4_wide square)
{
    return _mm_and_ps(_mm_div_ps(_mm_set1_ps(2.0F), square), _mm_cmpgt_ps(square, _mm_setzero_ps()));
}

static inline d2_wide d2_two_over(d2_wide square)
{
    return _mm_and_pd(_mm_div_pd(_mm_set1_pd(2.0), square), _mm_cmpgt_pd(square, _mm_setzero_pd()));
}

// The ten floats of a transform: translation, rotation, scale.
static inline const float *trs_floats(const pelt_trs *transform)
{
    return &transform->translation.x;
}

static inline void f4_load_head(const pelt_trs *const *transforms, size_t node, f4_wide out[8])
{
    for (int half = 0; half < 8; half += 4) {
        __m128 a = _mm_loadu_ps(trs_floats(&transforms[0][node]) + half);
        __m128 b = _mm_loadu_ps(trs_floats(&transforms[1][node]) + half);
        __m128 c = _mm_loadu_ps(trs_floats(&transforms[2][node]) + half);
        __m128 d = _mm_loadu_ps(trs_floats(&transforms[3][node]) + half);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        out[half] = a;
        out[half + 1] = b;
        out[half + 2] = c;
        out[half + 3] = d;
    }
}

// Two floats in the lower half, zero in the upper one.
static inline __m128 load_pair(const float *pair)
{
    return _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)pair));
}

static inline void f4_load_tail(const pelt_trs *const *transforms, size_t node, f4_wide out[2])
{
    __m128 a = load_pair(trs_floats(&transforms[0][node]) + 8);
    __m128 b = load_pair(trs_floats(&transforms[1][node]) + 8);
    __m128 c = load_pair(trs_floats(&transforms[2][node]) + 8);
    __m128 d = load_pair(trs_floats(&transforms[3][node]) + 8);
    __m128 low = _mm_unpacklo_ps(a, b);
    __m128 high = _mm_unpacklo_ps(c, d);
    out[0] = _mm_movelh_ps(low, high);
    out[1] = _mm_movehl_ps(high, low);
}

static inline void d2_load_head(const pelt_trs *const *transforms, size_t node, d2_wide out[8])
{
    for (int half = 0; half < 8; half += 4) {
        __m128 a = _mm_loadu_ps(trs_floats(&transforms[0][node]) + half);
        __m128 b = _mm_loadu_ps(trs_floats(&transforms[1][node]) + half);
        __m128 low = _mm_unpacklo_ps(a, b);
        __m128 high = _mm_unpackhi_ps(a, b);
        out[half] = _mm_cvtps_pd(low);
        out[half + 1] = _mm_cvtps_pd(_mm_movehl_ps(low, low));
        out[half + 2] = _mm_cvtps_pd(high);
        out[half + 3] = _mm_cvtps_pd(_mm_movehl_ps(high, high));
    }
}

static inline void d2_load_tail(const pelt_trs *const *transforms, size_t node, d2_wide out[2])
{
    __m128 a = load_pair(trs_floats(&transforms[0][node]) + 8);
    __m128 b = load_pair(trs_floats(&transforms[1][node]) + 8);
    __m128 both = _mm_unpacklo_ps(a, b);
    out[0] = _mm_cvtps_pd(both);
    out[1] = _mm_cvtps_pd(_mm_movehl_ps(both, both));
}

static inline void f4_store_matrices(const f4_wide m[12], float *const *out, size_t offset, pelti_matrix_store how)
{
    for (size_t r = 0; r < 12; r += 4) {
        __m128 a = m[r];
        __m128 b = m[r + 1];
        __m128 c = m[r + 2];
        __m128 d = m[r + 3];
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps(out[0] + offset + r, a);
        _mm_storeu_ps(out[1] + offset + r, b);
        _mm_storeu_ps(out[2] + offset + r, c);
        _mm_storeu_ps(out[3] + offset + r, d);
    }
    for (int i = 0; how != PELTI_STORE_3X4 && i < 4; i++) {
        _mm_storeu_ps(out[i] + offset + 12, _mm_setr_ps(0.0F, 0.0F, 0.0F, 1.0F));
    }
}

static inline void d2_store_matrices(const d2_wide m[12], float *const *out, size_t offset, pelti_matrix_store how)
{
    for (size_t r = 0; r < 12; r += 4) {
        __m128 ab = _mm_unpacklo_ps(_mm_cvtpd_ps(m[r]), _mm_cvtpd_ps(m[r + 1]));
        __m128 cd = _mm_unpacklo_ps(_mm_cvtpd_ps(m[r + 2]), _mm_cvtpd_ps(m[r + 3]));
        _mm_storeu_ps(out[0] + offset + r, _mm_movelh_ps(ab, cd));
        _mm_storeu_ps(out[1] + offset + r, _mm_movehl_ps(cd, ab));
    }
    for (int i = 0; how != PELTI_STORE_3X4 && i < 2; i++) {
        _mm_storeu_ps(out[i] + offset + 12, _mm_setr_ps(0.0F, 0.0F, 0.0F, 1.0F));
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
        _mm_storeu_pd(out + i, _mm_unpacklo_pd(m[i], m[i + 1]));
        _mm_storeu_pd(out + 12 + i, _mm_unpackhi_pd(m[i], m[i + 1]));
    }
}

// --- eight floats, four doubles: AVX2

#if defined(__AVX2__)

typedef __m256 f8_wide;
typedef __m256d d4_wide;
typedef float f8_scalar;
typedef double d4_scalar;

enum {
    f8_count = 8,
    d4_count = 4
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

// --- sixteen floats, eight doubles: AVX-512

#if defined(__AVX512F__)

typedef __m512 f16_wide;
typedef __m512d d8_wide;
typedef float f16_scalar;
typedef double d8_scalar;

enum {
    f16_count = 16,
    d8_count = 8
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

#endif

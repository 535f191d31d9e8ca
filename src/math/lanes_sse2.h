// SPDX-License-Identifier: MIT
// Side-by-side arithmetic on x86-64 with SSE2: vectors of 4 floats (f4) and of 2 doubles (d2). Transforms and matrices
// of that many instances are transposed on the way in and out. Nothing is fused here: a lane gives the bits that plain
// C gives.
#ifndef PELTI_LANES_SSE2_H
#define PELTI_LANES_SSE2_H

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

typedef __m128 f4_wide;
typedef __m128d d2_wide;
typedef float f4_scalar;
typedef double d2_scalar;

enum {
    f4_count = 4,
    d2_count = 2,
    f4_streams = 1,
    d2_streams = 1
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

// The rows of one matrix, and the last one with them where they are of 4x4.
static inline void store_rows_x4(const __m128 rows[3], float *to, pelti_matrix_store how)
{
    const __m128 last = _mm_setr_ps(0.0F, 0.0F, 0.0F, 1.0F);
    if (how == PELTI_STORE_4X4_STREAMED) {
        for (int r = 0; r < 3; r++) {
            _mm_stream_ps(to + 4 * (size_t)r, rows[r]);
        }
        _mm_stream_ps(to + 12, last);
        return;
    }
    for (int r = 0; r < 3; r++) {
        _mm_storeu_ps(to + 4 * (size_t)r, rows[r]);
    }
    if (how == PELTI_STORE_4X4) {
        _mm_storeu_ps(to + 12, last);
    }
}

static inline void f4_store_matrices(const f4_wide m[12], float *const *out, size_t offset, pelti_matrix_store how)
{
    __m128 rows[4][3];
    for (size_t r = 0; r < 3; r++) {
        __m128 a = m[4 * r];
        __m128 b = m[4 * r + 1];
        __m128 c = m[4 * r + 2];
        __m128 d = m[4 * r + 3];
        _MM_TRANSPOSE4_PS(a, b, c, d);
        rows[0][r] = a;
        rows[1][r] = b;
        rows[2][r] = c;
        rows[3][r] = d;
    }
    for (int i = 0; i < 4; i++) {
        store_rows_x4(rows[i], out[i] + offset, how);
    }
}

static inline void d2_store_matrices(const d2_wide m[12], float *const *out, size_t offset, pelti_matrix_store how)
{
    __m128 rows[2][3];
    for (size_t r = 0; r < 3; r++) {
        __m128 ab = _mm_unpacklo_ps(_mm_cvtpd_ps(m[4 * r]), _mm_cvtpd_ps(m[4 * r + 1]));
        __m128 cd = _mm_unpacklo_ps(_mm_cvtpd_ps(m[4 * r + 2]), _mm_cvtpd_ps(m[4 * r + 3]));
        rows[0][r] = _mm_movelh_ps(ab, cd);
        rows[1][r] = _mm_movehl_ps(cd, ab);
    }
    store_rows_x4(rows[0], out[0] + offset, how);
    store_rows_x4(rows[1], out[1] + offset, how);
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

#endif

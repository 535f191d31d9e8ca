// SPDX-License-Identifier: MIT
// Products of single 3x4 matrices by rows on x86-64, in double (r2, r4) and in float (q4, q8), with SSE2 and AVX2
// as far as the file that includes this is compiled for it; AVX-512 would only make chains of products wait longer.
// Each gives the bits of plain C: the products of a row are summed from left to right, the translation comes last, and
// nothing is fused.
//
// The left matrix stays in memory: its elements are broadcast by loads, of which there are two a cycle beside the
// arithmetic, while shuffles would take the adders' place. Only the last column has a translation, so the others get -0
// added, which changes nothing, -0 included.
#ifndef PELTI_ROWS_X86_H
#define PELTI_ROWS_X86_H

#include "math/math.h"

#include <immintrin.h>

// --- SSE2, double: half rows

typedef double r2_scalar;

typedef struct r2_matrix {
    __m128d half[6];
} r2_matrix;

typedef r2_matrix r2_right;

enum {
    r2_stride = 12 // scalars from one matrix to the next
};

static inline r2_matrix r2_load(const double *m)
{
    r2_matrix out;
    for (int i = 0; i < 6; i++) {
        out.half[i] = _mm_loadu_pd(m + 2 * i);
    }
    return out;
}

static inline void r2_store(r2_matrix a, double *out)
{
    for (int i = 0; i < 6; i++) {
        _mm_storeu_pd(out + 2 * i, a.half[i]);
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
        __m128 row = _mm_loadu_ps(m->m[i]);
        out.half[2 * i] = _mm_cvtps_pd(row);
        out.half[2 * i + 1] = _mm_cvtps_pd(_mm_movehl_ps(row, row));
    }
    return out;
}

static inline r2_matrix r2_multiply(const double *a, r2_right b)
{
    r2_matrix out;
    for (int i = 0; i < 6; i += 2) {
        const double *row = a + 2 * i;
        __m128d x = _mm_load1_pd(row);
        __m128d y = _mm_load1_pd(row + 1);
        __m128d z = _mm_load1_pd(row + 2);
        for (int k = 0; k < 2; k++) {
            __m128d sum = _mm_add_pd(_mm_mul_pd(x, b.half[k]), _mm_mul_pd(y, b.half[2 + k]));
            out.half[i + k] = _mm_add_pd(sum, _mm_mul_pd(z, b.half[4 + k]));
        }
        out.half[i + 1] = _mm_add_pd(out.half[i + 1], _mm_loadh_pd(_mm_set1_pd(-0.0), row + 3));
    }
    return out;
}

static inline void r2_store_floats(r2_matrix a, bool is_4x4, float *out)
{
    for (int i = 0; i < 3; i++) {
        _mm_storeu_ps(out + 4 * i, _mm_movelh_ps(_mm_cvtpd_ps(a.half[2 * i]), _mm_cvtpd_ps(a.half[2 * i + 1])));
    }
    if (is_4x4) {
        _mm_storeu_ps(out + 12, _mm_setr_ps(0.0F, 0.0F, 0.0F, 1.0F));
    }
}

// --- SSE2, float: rows

typedef float q4_scalar;

typedef struct q4_matrix {
    __m128 row[3];
} q4_matrix;

typedef q4_matrix q4_right;

enum {
    q4_stride = 16
};

static inline q4_matrix q4_load(const float *m)
{
    return (q4_matrix){{_mm_loadu_ps(m), _mm_loadu_ps(m + 4), _mm_loadu_ps(m + 8)}};
}

static inline void q4_store(q4_matrix a, float *out)
{
    for (int i = 0; i < 3; i++) {
        _mm_storeu_ps(out + 4 * i, a.row[i]);
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
    const __m128 last = _mm_castsi128_ps(_mm_setr_epi32(0, 0, 0, -1));
    const __m128 nothing = _mm_setr_ps(-0.0F, -0.0F, -0.0F, 0.0F);
    q4_matrix out;
    for (int i = 0; i < 3; i++) {
        __m128 row = _mm_loadu_ps(a + 4 * i);
        __m128 x = _mm_shuffle_ps(row, row, 0x00);
        __m128 y = _mm_shuffle_ps(row, row, 0x55);
        __m128 z = _mm_shuffle_ps(row, row, 0xAA);
        __m128 sum = _mm_add_ps(_mm_mul_ps(x, b.row[0]), _mm_mul_ps(y, b.row[1]));
        sum = _mm_add_ps(sum, _mm_mul_ps(z, b.row[2]));
        out.row[i] = _mm_add_ps(sum, _mm_or_ps(_mm_and_ps(row, last), nothing));
    }
    return out;
}

static inline void q4_store_floats(q4_matrix a, bool is_4x4, float *out)
{
    q4_store(a, out);
    if (is_4x4) {
        _mm_storeu_ps(out + 12, _mm_setr_ps(0.0F, 0.0F, 0.0F, 1.0F));
    }
}

// --- AVX2, double: rows

#if defined(__AVX2__)

typedef double r4_scalar;

typedef struct r4_matrix {
    __m256d row[3];
} r4_matrix;

typedef r4_matrix r4_right;

enum {
    r4_stride = 12
};

static inline r4_matrix r4_load(const double *m)
{
    return (r4_matrix){{_mm256_loadu_pd(m), _mm256_loadu_pd(m + 4), _mm256_loadu_pd(m + 8)}};
}

static inline void r4_store(r4_matrix a, double *out)
{
    for (int i = 0; i < 3; i++) {
        _mm256_storeu_pd(out + 4 * i, a.row[i]);
    }
}

static inline r4_right r4_load_right(const double *m)
{
    return r4_load(m);
}

static inline r4_right r4_load_bind(const pelt_mat34 *m)
{
    r4_matrix out;
    for (int i = 0; i < 3; i++) {
        out.row[i] = _mm256_cvtps_pd(_mm_loadu_ps(m->m[i]));
    }
    return out;
}

static inline r4_matrix r4_multiply(const double *a, r4_right b)
{
    r4_matrix out;
    for (int i = 0; i < 3; i++) {
        const double *row = a + 4 * i;
        __m256d x = _mm256_mul_pd(_mm256_broadcast_sd(row), b.row[0]);
        __m256d y = _mm256_mul_pd(_mm256_broadcast_sd(row + 1), b.row[1]);
        __m256d z = _mm256_mul_pd(_mm256_broadcast_sd(row + 2), b.row[2]);
        __m256d translation = _mm256_blend_pd(_mm256_set1_pd(-0.0), _mm256_loadu_pd(row), 8);
        out.row[i] = _mm256_add_pd(_mm256_add_pd(_mm256_add_pd(x, y), z), translation);
    }
    return out;
}

static inline void r4_store_floats(r4_matrix a, bool is_4x4, float *out)
{
    for (int i = 0; i < 3; i++) {
        _mm_storeu_ps(out + 4 * i, _mm256_cvtpd_ps(a.row[i]));
    }
    if (is_4x4) {
        _mm_storeu_ps(out + 12, _mm_setr_ps(0.0F, 0.0F, 0.0F, 1.0F));
    }
}

// --- AVX2, float: two rows and one

typedef float q8_scalar;

typedef struct q8_matrix {
    __m256 rows01;
    __m128 row2;
} q8_matrix;

typedef struct q8_right {
    __m256 row[3]; // each twice
} q8_right;

enum {
    q8_stride = 16
};

static inline q8_matrix q8_load(const float *m)
{
    return (q8_matrix){_mm256_loadu_ps(m), _mm_loadu_ps(m + 8)};
}

static inline void q8_store(q8_matrix a, float *out)
{
    _mm256_storeu_ps(out, a.rows01);
    _mm_storeu_ps(out + 8, a.row2);
}

static inline q8_right q8_load_right(const float *m)
{
    q8_right out;
    for (int i = 0; i < 3; i++) {
        out.row[i] = _mm256_broadcast_ps((const __m128 *)(const void *)(m + 4 * i));
    }
    return out;
}

static inline q8_right q8_load_bind(const pelt_mat34 *m)
{
    return q8_load_right(m->m[0]);
}

// Elements are broadcast by shuffles inside of rows, which are cheap for floats.
static inline q8_matrix q8_multiply(const float *m, q8_right b)
{
    const q8_matrix a = q8_load(m);
    __m256 sum = _mm256_mul_ps(_mm256_permute_ps(a.rows01, 0x00), b.row[0]);
    sum = _mm256_add_ps(sum, _mm256_mul_ps(_mm256_permute_ps(a.rows01, 0x55), b.row[1]));
    sum = _mm256_add_ps(sum, _mm256_mul_ps(_mm256_permute_ps(a.rows01, 0xAA), b.row[2]));
    __m128 last = _mm_mul_ps(_mm_permute_ps(a.row2, 0x00), _mm256_castps256_ps128(b.row[0]));
    last = _mm_add_ps(last, _mm_mul_ps(_mm_permute_ps(a.row2, 0x55), _mm256_castps256_ps128(b.row[1])));
    last = _mm_add_ps(last, _mm_mul_ps(_mm_permute_ps(a.row2, 0xAA), _mm256_castps256_ps128(b.row[2])));
    sum = _mm256_add_ps(sum, _mm256_blend_ps(_mm256_set1_ps(-0.0F), a.rows01, 0x88));
    return (q8_matrix){sum, _mm_add_ps(last, _mm_blend_ps(_mm_set1_ps(-0.0F), a.row2, 0x8))};
}

static inline void q8_store_floats(q8_matrix a, bool is_4x4, float *out)
{
    q8_store(a, out);
    if (is_4x4) {
        _mm_storeu_ps(out + 12, _mm_setr_ps(0.0F, 0.0F, 0.0F, 1.0F));
    }
}

#endif

#endif

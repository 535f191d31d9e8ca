// SPDX-License-Identifier: MIT
// The AVX2 kernel with fused multiply-add: 8 vertices at a time, each blended a whole matrix per influence (two rows in
// one register, the third in half of another), then transposed. The matrices of a run are copied side by side first, so
// that its 8-bit indices reach them. Gathers would be several times slower.
#include "base/cpu.h"

#if defined(PELTI_X86)

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef __m256 wide;
typedef __m256i wide_int;
typedef __m256 wide_mask;

enum {
    WIDE = 8,
    LATE_POSITIONS = false
};

static const uint8_t lane_vertices[WIDE] = {0, 1, 2, 3, 4, 5, 6, 7};

#define wide_set _mm256_set1_ps
#define wide_add _mm256_add_ps
#define wide_sub _mm256_sub_ps
#define wide_mul _mm256_mul_ps
#define wide_div _mm256_div_ps
#define wide_sqrt _mm256_sqrt_ps
#define wide_min _mm256_min_ps
#define wide_max _mm256_max_ps
#define wide_fma _mm256_fmadd_ps
#define wide_fms _mm256_fmsub_ps
#define wide_and _mm256_and_ps
#define wide_or _mm256_or_ps
#define wide_xor _mm256_xor_ps
#define wide_abs(a) _mm256_andnot_ps(_mm256_set1_ps(-0.0F), a)
#define wide_load _mm256_loadu_ps
#define wide_store _mm256_storeu_ps
#define wide_less(a, b) _mm256_cmp_ps(a, b, _CMP_LT_OQ)
#define wide_mask_and _mm256_and_ps
#define wide_mask_bits(a) ((uint32_t)_mm256_movemask_ps(a))
#define wide_sign_bits(a) ((uint32_t)_mm256_movemask_ps(a))
#define wide_int_set _mm256_set1_epi32
#define wide_int_and _mm256_and_si256
#define wide_int_or _mm256_or_si256
#define wide_int_add _mm256_add_epi32
#define wide_from_int _mm256_cvtepi32_ps
#define wide_to_int _mm256_cvtps_epi32
#define wide_as_float _mm256_castsi256_ps
#define wide_shift_right(a, n) _mm256_srli_epi32(a, n)
#define wide_shift_left(a, n) _mm256_slli_epi32(a, n)
#define wide_shift_right_signed(a, n) _mm256_srai_epi32(a, n)
#define wide_negative(a) _mm256_castps_si256(_mm256_and_ps(wide_less(a, _mm256_setzero_ps()), _mm256_set1_ps(-0.0F)))

#define WIDE_INLINE PELTI_KERNEL_INLINE

// Two 4x4 transposes, one in each half; its own inverse.
WIDE_INLINE void transpose_lanes(wide v[4])
{
    wide a = _mm256_unpacklo_ps(v[0], v[1]);
    wide b = _mm256_unpacklo_ps(v[2], v[3]);
    wide c = _mm256_unpackhi_ps(v[0], v[1]);
    wide d = _mm256_unpackhi_ps(v[2], v[3]);
    v[0] = _mm256_shuffle_ps(a, b, 0x44);
    v[1] = _mm256_shuffle_ps(a, b, 0xEE);
    v[2] = _mm256_shuffle_ps(c, d, 0x44);
    v[3] = _mm256_shuffle_ps(c, d, 0xEE);
}

// Four floats each from two places.
WIDE_INLINE wide load_pair(const char *low, const char *high)
{
    wide v = _mm256_castps128_ps256(_mm_loadu_ps((const float *)(const void *)low));
    return _mm256_insertf128_ps(v, _mm_loadu_ps((const float *)(const void *)high), 1);
}

WIDE_INLINE void wide_load4(const char *data, size_t stride, wide out[4])
{
    for (size_t k = 0; k < 4; k++) {
        out[k] = load_pair(data + stride * k, data + stride * (k + 4));
    }
    transpose_lanes(out);
}

WIDE_INLINE void wide_load3(const char *data, size_t stride, wide out[3])
{
    if (stride == 3 * sizeof(float)) {
        // In each half x0 y0 z0 x1, y1 z1 x2 y2 and z2 x3 y3 z3.
        wide a = load_pair(data, data + 48);
        wide b = load_pair(data + 16, data + 64);
        wide c = load_pair(data + 32, data + 80);
        wide x2y2x3y3 = _mm256_shuffle_ps(b, c, 0x9E);
        wide y0z0y1z1 = _mm256_shuffle_ps(a, b, 0x49);
        out[0] = _mm256_shuffle_ps(a, x2y2x3y3, 0x8C);
        out[1] = _mm256_shuffle_ps(y0z0y1z1, x2y2x3y3, 0xD8);
        out[2] = _mm256_shuffle_ps(y0z0y1z1, c, 0xCD);
        return;
    }
    wide quads[4];
    wide_load4(data, stride, quads);
    for (int k = 0; k < 3; k++) {
        out[k] = quads[k];
    }
}

WIDE_INLINE void store_vector(char *data, wide v)
{
    _mm256_storeu_ps((float *)(void *)data, v);
}

// Stores that pass the caches by cost a tenth to a fifth here, however large the output.
WIDE_INLINE void wide_store4(char *data, size_t stride, const wide v[4], bool streamed)
{
    (void)streamed;
    wide quads[4] = {v[0], v[1], v[2], v[3]};
    transpose_lanes(quads);
    if (stride == 4 * sizeof(float)) {
        for (size_t k = 0; k < 2; k++) {
            store_vector(data + k * 32, _mm256_permute2f128_ps(quads[2 * k], quads[2 * k + 1], 0x20));
            store_vector(data + 64 + k * 32, _mm256_permute2f128_ps(quads[2 * k], quads[2 * k + 1], 0x31));
        }
        return;
    }
    for (size_t k = 0; k < 4; k++) {
        _mm_storeu_ps((float *)(void *)(data + stride * k), _mm256_castps256_ps128(quads[k]));
        _mm_storeu_ps((float *)(void *)(data + stride * (k + 4)), _mm256_extractf128_ps(quads[k], 1));
    }
}

WIDE_INLINE void store_three(char *data, __m128 v)
{
    _mm_storel_pi((__m64 *)(void *)data, v);
    _mm_store_ss((float *)(void *)(data + 8), _mm_movehl_ps(v, v));
}

WIDE_INLINE void wide_store3(char *data, size_t stride, const wide v[3], bool streamed)
{
    (void)streamed;
    if (stride == 3 * sizeof(float)) {
        wide x0x2y0y2 = _mm256_shuffle_ps(v[0], v[1], 0x88);
        wide y1y3z1z3 = _mm256_shuffle_ps(v[1], v[2], 0xDD);
        wide z0z2x1x3 = _mm256_shuffle_ps(v[2], v[0], 0xD8);
        wide a = _mm256_shuffle_ps(x0x2y0y2, z0z2x1x3, 0x88);
        wide b = _mm256_shuffle_ps(y1y3z1z3, x0x2y0y2, 0xD8);
        wide c = _mm256_shuffle_ps(z0z2x1x3, y1y3z1z3, 0xDD);
        store_vector(data, _mm256_permute2f128_ps(a, b, 0x20));
        store_vector(data + 32, _mm256_blend_ps(c, a, 0xF0));
        store_vector(data + 64, _mm256_permute2f128_ps(b, c, 0x31));
        return;
    }
    wide quads[4] = {v[0], v[1], v[2], v[2]};
    transpose_lanes(quads);
    for (size_t k = 0; k < 4; k++) {
        store_three(data + stride * k, _mm256_castps256_ps128(quads[k]));
        store_three(data + stride * (k + 4), _mm256_extractf128_ps(quads[k], 1));
    }
}

WIDE_INLINE wide_int wide_load_codes(const char *data, size_t stride)
{
    if (stride == sizeof(uint32_t)) {
        return _mm256_loadu_si256((const __m256i *)(const void *)data);
    }
    uint32_t codes[WIDE];
    for (size_t v = 0; v < WIDE; v++) {
        codes[v] = *(const uint32_t *)(const void *)(data + stride * v);
    }
    return _mm256_loadu_si256((const __m256i *)(const void *)codes);
}

WIDE_INLINE void wide_store_codes(char *data, size_t stride, wide_int v, bool streamed)
{
    (void)streamed;
    if (stride == sizeof(uint32_t)) {
        store_vector(data, _mm256_castsi256_ps(v));
        return;
    }
    uint32_t codes[WIDE];
    _mm256_storeu_si256((__m256i *)(void *)codes, v);
    for (size_t k = 0; k < WIDE; k++) {
        *(uint32_t *)(void *)(data + stride * k) = codes[k];
    }
}

// --- matrices

typedef struct four_weights {
    wide each[4];
} four_weights;

// One load and four shuffles: loads are scarcer.
WIDE_INLINE four_weights load_weights(const char *data)
{
    wide w = _mm256_broadcast_ps((const __m128 *)(const void *)data);
    four_weights out = {{
        _mm256_permute_ps(w, 0x00),
        _mm256_permute_ps(w, 0x55),
        _mm256_permute_ps(w, 0xAA),
        _mm256_permute_ps(w, 0xFF),
    }};
    return out;
}

typedef struct matrix_rows {
    wide first; // rows 0 and 1
    __m128 last;
} matrix_rows;

WIDE_INLINE matrix_rows zero_matrix(void)
{
    matrix_rows out = {_mm256_setzero_ps(), _mm_setzero_ps()};
    return out;
}

WIDE_INLINE matrix_rows scale_matrix(const char *matrix, const four_weights *w, uint32_t i)
{
    const float *m = (const float *)(const void *)matrix;
    wide weight = w->each[i];
    matrix_rows out = {_mm256_mul_ps(weight, _mm256_loadu_ps(m)),
                       _mm_mul_ps(_mm256_castps256_ps128(weight), _mm_loadu_ps(m + 8))};
    return out;
}

WIDE_INLINE void add_matrix(const char *matrix, const four_weights *w, uint32_t i, matrix_rows *rows)
{
    const float *m = (const float *)(const void *)matrix;
    wide weight = w->each[i];
    rows->first = _mm256_fmadd_ps(weight, _mm256_loadu_ps(m), rows->first);
    rows->last = _mm_fmadd_ps(_mm256_castps256_ps128(weight), _mm_loadu_ps(m + 8), rows->last);
}

WIDE_INLINE void raise_sizes(const char *matrix, matrix_rows *rows)
{
    const float *m = (const float *)(const void *)matrix;
    rows->first = _mm256_max_ps(wide_abs(_mm256_loadu_ps(m)), rows->first);
    rows->last = _mm_max_ps(_mm_andnot_ps(_mm_set1_ps(-0.0F), _mm_loadu_ps(m + 8)), rows->last);
}

WIDE_INLINE void store_matrix(const matrix_rows *rows, float out[12])
{
    _mm256_storeu_ps(out, rows->first);
    _mm_storeu_ps(out + 8, rows->last);
}

WIDE_INLINE void join_rows(const matrix_rows rows[2], uint32_t k, wide m[12])
{
    m[k] = _mm256_permute2f128_ps(rows[0].first, rows[1].first, 0x20);
    m[4 + k] = _mm256_permute2f128_ps(rows[0].first, rows[1].first, 0x31);
    m[8 + k] = _mm256_insertf128_ps(_mm256_castps128_ps256(rows[0].last), rows[1].last, 1);
}

WIDE_INLINE uint32_t count_slots(const char *weights)
{
    const float *w = (const float *)(const void *)weights;
    wide all = _mm256_or_ps(_mm256_or_ps(_mm256_loadu_ps(w), _mm256_loadu_ps(w + 8)),
                            _mm256_or_ps(_mm256_loadu_ps(w + 16), _mm256_loadu_ps(w + 24)));
    __m256i unused = _mm256_cmpeq_epi32(_mm256_castps_si256(all), _mm256_setzero_si256());
    uint32_t used = ~(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(unused));
    return used & 0x88 ? 4 : used & 0x44 ? 3 : used & 0x22 ? 2 : 1;
}

#include "skin/wide_kernel.h"

const pelti_skin_kernel pelti_skin_avx2 = {.skin = skin_wide, .measure = measure, .max_u16 = max_u16, .max_u8 = max_u8};

#endif

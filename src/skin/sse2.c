// SPDX-License-Identifier: MIT
// The SSE2 kernel, which every x86-64 processor runs: 4 vertices at a time, each blended a row per register and
// influence, then transposed. Nothing is fused, so positions are bit for bit those of the scalar kernel.
#include "base/cpu.h"

#if defined(PELTI_X86)

#include <emmintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef __m128 wide;
typedef __m128i wide_int;
typedef __m128 wide_mask;

enum {
    WIDE = 4,
    LATE_POSITIONS = false
};

static const uint8_t lane_vertices[WIDE] = {0, 1, 2, 3};

#define wide_set _mm_set1_ps
#define wide_add _mm_add_ps
#define wide_sub _mm_sub_ps
#define wide_mul _mm_mul_ps
#define wide_div _mm_div_ps
#define wide_sqrt _mm_sqrt_ps
#define wide_min _mm_min_ps
#define wide_max _mm_max_ps
#define wide_fma(a, b, c) _mm_add_ps(_mm_mul_ps(a, b), c)
#define wide_fms(a, b, c) _mm_sub_ps(_mm_mul_ps(a, b), c)
#define wide_and _mm_and_ps
#define wide_or _mm_or_ps
#define wide_xor _mm_xor_ps
#define wide_abs(a) _mm_andnot_ps(_mm_set1_ps(-0.0F), a)
#define wide_load _mm_loadu_ps
#define wide_store _mm_storeu_ps
#define wide_less _mm_cmplt_ps
#define wide_mask_and _mm_and_ps
#define wide_mask_bits(a) ((uint32_t)_mm_movemask_ps(a))
#define wide_sign_bits(a) ((uint32_t)_mm_movemask_ps(a))
#define wide_int_set _mm_set1_epi32
#define wide_int_and _mm_and_si128
#define wide_int_or _mm_or_si128
#define wide_int_add _mm_add_epi32
#define wide_from_int _mm_cvtepi32_ps
#define wide_to_int _mm_cvtps_epi32
#define wide_as_float _mm_castsi128_ps
#define wide_shift_right(a, n) _mm_srli_epi32(a, n)
#define wide_shift_left(a, n) _mm_slli_epi32(a, n)
#define wide_shift_right_signed(a, n) _mm_srai_epi32(a, n)
#define wide_negative(a) _mm_castps_si128(_mm_and_ps(_mm_cmplt_ps(a, _mm_setzero_ps()), _mm_set1_ps(-0.0F)))

#define WIDE_INLINE PELTI_KERNEL_INLINE

// A 4x4 transpose.
WIDE_INLINE void transpose_lanes(wide v[4])
{
    wide a = _mm_unpacklo_ps(v[0], v[1]);
    wide b = _mm_unpacklo_ps(v[2], v[3]);
    wide c = _mm_unpackhi_ps(v[0], v[1]);
    wide d = _mm_unpackhi_ps(v[2], v[3]);
    v[0] = _mm_movelh_ps(a, b);
    v[1] = _mm_movehl_ps(b, a);
    v[2] = _mm_movelh_ps(c, d);
    v[3] = _mm_movehl_ps(d, c);
}

WIDE_INLINE wide load_four(const char *data)
{
    return _mm_loadu_ps((const float *)(const void *)data);
}

WIDE_INLINE void wide_load4(const char *data, size_t stride, wide out[4])
{
    for (size_t k = 0; k < 4; k++) {
        out[k] = load_four(data + stride * k);
    }
    transpose_lanes(out);
}

WIDE_INLINE void wide_load3(const char *data, size_t stride, wide out[3])
{
    if (stride == 3 * sizeof(float)) {
        wide a = load_four(data);      // x0 y0 z0 x1
        wide b = load_four(data + 16); // y1 z1 x2 y2
        wide c = load_four(data + 32); // z2 x3 y3 z3
        wide x2y2x3y3 = _mm_shuffle_ps(b, c, 0x9E);
        wide y0z0y1z1 = _mm_shuffle_ps(a, b, 0x49);
        out[0] = _mm_shuffle_ps(a, x2y2x3y3, 0x8C);
        out[1] = _mm_shuffle_ps(y0z0y1z1, x2y2x3y3, 0xD8);
        out[2] = _mm_shuffle_ps(y0z0y1z1, c, 0xCD);
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
    _mm_storeu_ps((float *)(void *)data, v);
}

// Stores that pass the caches by cost a tenth here, however large the output.
WIDE_INLINE void wide_store4(char *data, size_t stride, const wide v[4], bool streamed)
{
    (void)streamed;
    wide quads[4] = {v[0], v[1], v[2], v[3]};
    transpose_lanes(quads);
    for (size_t k = 0; k < 4; k++) {
        store_vector(data + stride * k, quads[k]);
    }
}

WIDE_INLINE void store_three(char *data, wide v)
{
    _mm_storel_pi((__m64 *)(void *)data, v);
    _mm_store_ss((float *)(void *)(data + 8), _mm_movehl_ps(v, v));
}

WIDE_INLINE void wide_store3(char *data, size_t stride, const wide v[3], bool streamed)
{
    (void)streamed;
    if (stride == 3 * sizeof(float)) {
        wide x0x2y0y2 = _mm_shuffle_ps(v[0], v[1], 0x88);
        wide y1y3z1z3 = _mm_shuffle_ps(v[1], v[2], 0xDD);
        wide z0z2x1x3 = _mm_shuffle_ps(v[2], v[0], 0xD8);
        store_vector(data, _mm_shuffle_ps(x0x2y0y2, z0z2x1x3, 0x88));
        store_vector(data + 16, _mm_shuffle_ps(y1y3z1z3, x0x2y0y2, 0xD8));
        store_vector(data + 32, _mm_shuffle_ps(z0z2x1x3, y1y3z1z3, 0xDD));
        return;
    }
    wide quads[4] = {v[0], v[1], v[2], v[2]};
    transpose_lanes(quads);
    for (size_t k = 0; k < 4; k++) {
        store_three(data + stride * k, quads[k]);
    }
}

WIDE_INLINE wide_int wide_load_codes(const char *data, size_t stride)
{
    if (stride == sizeof(uint32_t)) {
        return _mm_loadu_si128((const __m128i *)(const void *)data);
    }
    uint32_t codes[WIDE];
    for (size_t v = 0; v < WIDE; v++) {
        codes[v] = *(const uint32_t *)(const void *)(data + stride * v);
    }
    return _mm_loadu_si128((const __m128i *)(const void *)codes);
}

WIDE_INLINE void wide_store_codes(char *data, size_t stride, wide_int v, bool streamed)
{
    (void)streamed;
    if (stride == sizeof(uint32_t)) {
        store_vector(data, _mm_castsi128_ps(v));
        return;
    }
    uint32_t codes[WIDE];
    _mm_storeu_si128((__m128i *)(void *)codes, v);
    for (size_t k = 0; k < WIDE; k++) {
        *(uint32_t *)(void *)(data + stride * k) = codes[k];
    }
}

// --- matrices

typedef struct four_weights {
    wide each[4];
} four_weights;

// Integer shuffles copy while they spread.
WIDE_INLINE four_weights load_weights(const char *data)
{
    __m128i w = _mm_castps_si128(load_four(data));
    four_weights out = {{
        _mm_castsi128_ps(_mm_shuffle_epi32(w, 0x00)),
        _mm_castsi128_ps(_mm_shuffle_epi32(w, 0x55)),
        _mm_castsi128_ps(_mm_shuffle_epi32(w, 0xAA)),
        _mm_castsi128_ps(_mm_shuffle_epi32(w, 0xFF)),
    }};
    return out;
}

typedef struct matrix_rows {
    wide rows[3];
} matrix_rows;

WIDE_INLINE matrix_rows zero_matrix(void)
{
    matrix_rows out = {{_mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps()}};
    return out;
}

WIDE_INLINE matrix_rows scale_matrix(const char *matrix, const four_weights *w, uint32_t i)
{
    matrix_rows out;
    for (size_t r = 0; r < 3; r++) {
        out.rows[r] = _mm_mul_ps(w->each[i], load_four(matrix + r * 16));
    }
    return out;
}

WIDE_INLINE void add_matrix(const char *matrix, const four_weights *w, uint32_t i, matrix_rows *rows)
{
    for (size_t r = 0; r < 3; r++) {
        rows->rows[r] = _mm_add_ps(rows->rows[r], _mm_mul_ps(w->each[i], load_four(matrix + r * 16)));
    }
}

WIDE_INLINE void raise_sizes(const char *matrix, matrix_rows *rows)
{
    for (size_t r = 0; r < 3; r++) {
        rows->rows[r] = wide_max(wide_abs(load_four(matrix + r * 16)), rows->rows[r]);
    }
}

WIDE_INLINE void store_matrix(const matrix_rows *rows, float out[12])
{
    for (size_t r = 0; r < 3; r++) {
        wide_store(out + r * 4, rows->rows[r]);
    }
}

WIDE_INLINE void join_rows(const matrix_rows *rows, uint32_t k, wide m[12])
{
    for (uint32_t r = 0; r < 3; r++) {
        m[r * 4 + k] = rows->rows[r];
    }
}

WIDE_INLINE uint32_t count_slots(const char *weights)
{
    wide all = _mm_or_ps(_mm_or_ps(load_four(weights), load_four(weights + 16)),
                         _mm_or_ps(load_four(weights + 32), load_four(weights + 48)));
    __m128i unused = _mm_cmpeq_epi32(_mm_castps_si128(all), _mm_setzero_si128());
    uint32_t used = ~(uint32_t)_mm_movemask_ps(_mm_castsi128_ps(unused));
    return used & 8 ? 4 : used & 4 ? 3 : used & 2 ? 2 : 1;
}

#include "skin/wide_kernel.h"

const pelti_skin_kernel pelti_skin_sse2 = {.skin = skin_wide, .measure = measure, .max_u16 = max_u16, .max_u8 = max_u8};

#endif

// SPDX-License-Identifier: MIT
// What wide.h asks for, with AVX-512: 16 floats or integers, and blocks of 16 vertices loaded and stored.
#ifndef PELTI_SKIN_AVX512_LANES_H
#define PELTI_SKIN_AVX512_LANES_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef __m512 wide;
typedef __m512i wide_int;
typedef __mmask16 wide_mask;

enum {
    WIDE = 16,
    LATE_POSITIONS = true
};

// A 4x4 transpose inside of 128-bit lanes turns four vectors of four vertices into this order.
static const uint8_t lane_vertices[WIDE] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};

#define wide_set _mm512_set1_ps
#define wide_add _mm512_add_ps
#define wide_sub _mm512_sub_ps
#define wide_mul _mm512_mul_ps
#define wide_div _mm512_div_ps
#define wide_sqrt _mm512_sqrt_ps
#define wide_min _mm512_min_ps
#define wide_max _mm512_max_ps
#define wide_fma _mm512_fmadd_ps
#define wide_fms _mm512_fmsub_ps
#define wide_and _mm512_and_ps
#define wide_or _mm512_or_ps
#define wide_xor _mm512_xor_ps
#define wide_abs _mm512_abs_ps
#define wide_load _mm512_loadu_ps
#define wide_store _mm512_storeu_ps
#define wide_less(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)
#define wide_mask_and(a, b) ((__mmask16)((a) & (b)))
#define wide_mask_bits(a) ((uint32_t)(a))
#define wide_sign_bits(a) ((uint32_t)_mm512_movepi32_mask(_mm512_castps_si512(a)))
#define wide_int_set _mm512_set1_epi32
#define wide_int_and _mm512_and_si512
#define wide_int_or _mm512_or_si512
#define wide_int_add _mm512_add_epi32
#define wide_from_int _mm512_cvtepi32_ps
#define wide_to_int _mm512_cvtps_epi32
#define wide_as_float _mm512_castsi512_ps
#define wide_shift_right(a, n) _mm512_srli_epi32(a, n)
#define wide_shift_left(a, n) _mm512_slli_epi32(a, n)
#define wide_shift_right_signed(a, n) _mm512_srai_epi32(a, n)
#define wide_negative(a) _mm512_maskz_set1_epi32(wide_less(a, _mm512_setzero_ps()), INT32_MIN)

enum {
    THIRDS1 = 0x2492, // lanes 1, 4, 7, 10, 13
    THIRDS2 = 0x4924  // lanes 2, 5, 8, 11, 14
};

static const int32_t thirds_indices[3][WIDE] = {{0, 12, 8, 4, 3, 15, 11, 7, 6, 2, 14, 10, 9, 5, 1, 13},
                                                {1, 13, 9, 5, 4, 0, 12, 8, 7, 3, 15, 11, 10, 6, 2, 14},
                                                {2, 14, 10, 6, 5, 1, 13, 9, 8, 4, 0, 12, 11, 7, 3, 15}};
static const int32_t back_indices[3][WIDE] = {{0, 14, 9, 4, 3, 13, 8, 7, 2, 12, 11, 6, 1, 15, 10, 5},
                                              {5, 0, 14, 9, 4, 3, 13, 8, 7, 2, 12, 11, 6, 1, 15, 10},
                                              {10, 5, 0, 14, 9, 4, 3, 13, 8, 7, 2, 12, 11, 6, 1, 15}};
static const int32_t lane_indices[WIDE] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};

#define WIDE_INLINE PELTI_KERNEL_INLINE

// Four 4x4 transposes, one in each 128-bit lane; its own inverse.
WIDE_INLINE void transpose_lanes(wide v[4])
{
    wide a = _mm512_unpacklo_ps(v[0], v[1]);
    wide b = _mm512_unpacklo_ps(v[2], v[3]);
    wide c = _mm512_unpackhi_ps(v[0], v[1]);
    wide d = _mm512_unpackhi_ps(v[2], v[3]);
    v[0] = _mm512_shuffle_ps(a, b, 0x44);
    v[1] = _mm512_shuffle_ps(a, b, 0xEE);
    v[2] = _mm512_shuffle_ps(c, d, 0x44);
    v[3] = _mm512_shuffle_ps(c, d, 0xEE);
}

// Four vertices of four floats, the first in the lowest lane.
WIDE_INLINE wide load_quad(const char *data, size_t stride)
{
    wide v = _mm512_broadcast_f32x4(_mm_loadu_ps((const float *)(const void *)data));
    v = _mm512_mask_broadcast_f32x4(v, 0x00F0, _mm_loadu_ps((const float *)(const void *)(data + stride)));
    v = _mm512_mask_broadcast_f32x4(v, 0x0F00, _mm_loadu_ps((const float *)(const void *)(data + stride * 2)));
    return _mm512_mask_broadcast_f32x4(v, 0xF000, _mm_loadu_ps((const float *)(const void *)(data + stride * 3)));
}

WIDE_INLINE void wide_load4(const char *data, size_t stride, wide out[4])
{
    for (int k = 0; k < 4; k++) {
        if (stride == 4 * sizeof(float)) {
            out[k] = _mm512_loadu_ps(data + (size_t)k * 64);
        } else {
            out[k] = load_quad(data, stride);
            data += stride * 4;
        }
    }
    transpose_lanes(out);
}

WIDE_INLINE void wide_load3(const char *data, size_t stride, wide out[3])
{
    if (stride == 3 * sizeof(float)) {
        wide a = _mm512_loadu_ps(data);
        wide b = _mm512_loadu_ps(data + 64);
        wide c = _mm512_loadu_ps(data + 128);
        wide x = _mm512_mask_mov_ps(_mm512_mask_mov_ps(a, THIRDS2, b), THIRDS1, c);
        wide y = _mm512_mask_mov_ps(_mm512_mask_mov_ps(b, THIRDS1, a), THIRDS2, c);
        wide z = _mm512_mask_mov_ps(_mm512_mask_mov_ps(c, THIRDS2, a), THIRDS1, b);
        out[0] = _mm512_permutexvar_ps(_mm512_loadu_si512(thirds_indices[0]), x);
        out[1] = _mm512_permutexvar_ps(_mm512_loadu_si512(thirds_indices[1]), y);
        out[2] = _mm512_permutexvar_ps(_mm512_loadu_si512(thirds_indices[2]), z);
        return;
    }
    wide quads[4];
    for (int k = 0; k < 4; k++) {
        quads[k] = load_quad(data, stride);
        data += stride * 4;
    }
    transpose_lanes(quads);
    for (int k = 0; k < 3; k++) {
        out[k] = quads[k];
    }
}

WIDE_INLINE void store_vector(char *data, wide v, bool streamed)
{
    if (streamed && (uintptr_t)data % 64 == 0) {
        _mm512_stream_ps((float *)(void *)data, v);
    } else {
        _mm512_storeu_ps(data, v);
    }
}

WIDE_INLINE void wide_store4(char *data, size_t stride, const wide v[4], bool streamed)
{
    wide quads[4] = {v[0], v[1], v[2], v[3]};
    transpose_lanes(quads);
    for (size_t k = 0; k < 4; k++) {
        if (stride == 4 * sizeof(float)) {
            store_vector(data + k * 64, quads[k], streamed);
            continue;
        }
        _mm_storeu_ps((float *)(void *)data, _mm512_castps512_ps128(quads[k]));
        _mm_storeu_ps((float *)(void *)(data + stride), _mm512_extractf32x4_ps(quads[k], 1));
        _mm_storeu_ps((float *)(void *)(data + stride * 2), _mm512_extractf32x4_ps(quads[k], 2));
        _mm_storeu_ps((float *)(void *)(data + stride * 3), _mm512_extractf32x4_ps(quads[k], 3));
        data += stride * 4;
    }
}

// Not a masked store: compilers may make one of it with the extraction, which can fault on the bytes left out.
WIDE_INLINE void store_three(char *data, __m128 v)
{
    _mm_storel_pi((__m64 *)(void *)data, v);
    _mm_store_ss((float *)(void *)(data + 8), _mm_movehl_ps(v, v));
}

WIDE_INLINE void wide_store3(char *data, size_t stride, const wide v[3], bool streamed)
{
    if (stride == 3 * sizeof(float)) {
        wide x = _mm512_permutexvar_ps(_mm512_loadu_si512(back_indices[0]), v[0]);
        wide y = _mm512_permutexvar_ps(_mm512_loadu_si512(back_indices[1]), v[1]);
        wide z = _mm512_permutexvar_ps(_mm512_loadu_si512(back_indices[2]), v[2]);
        wide a = _mm512_mask_mov_ps(_mm512_mask_mov_ps(x, THIRDS1, y), THIRDS2, z);
        wide b = _mm512_mask_mov_ps(_mm512_mask_mov_ps(y, THIRDS2, x), THIRDS1, z);
        wide c = _mm512_mask_mov_ps(_mm512_mask_mov_ps(z, THIRDS1, x), THIRDS2, y);
        store_vector(data, a, streamed);
        store_vector(data + 64, b, streamed);
        store_vector(data + 128, c, streamed);
        return;
    }
    wide quads[4] = {v[0], v[1], v[2], v[2]};
    transpose_lanes(quads);
    for (size_t k = 0; k < 4; k++) {
        store_three(data, _mm512_castps512_ps128(quads[k]));
        store_three(data + stride, _mm512_extractf32x4_ps(quads[k], 1));
        store_three(data + stride * 2, _mm512_extractf32x4_ps(quads[k], 2));
        store_three(data + stride * 3, _mm512_extractf32x4_ps(quads[k], 3));
        data += stride * 4;
    }
}

WIDE_INLINE wide_int wide_load_codes(const char *data, size_t stride)
{
    if (stride == sizeof(uint32_t)) {
        return _mm512_permutexvar_epi32(_mm512_loadu_si512(lane_indices), _mm512_loadu_si512(data));
    }
    uint32_t codes[WIDE];
    for (int lane = 0; lane < WIDE; lane++) {
        codes[lane] = *(const uint32_t *)(const void *)(data + stride * lane_vertices[lane]);
    }
    return _mm512_loadu_si512(codes);
}

// The order of lanes is its own inverse.
WIDE_INLINE void wide_store_codes(char *data, size_t stride, wide_int v, bool streamed)
{
    if (stride == sizeof(uint32_t)) {
        wide_int ordered = _mm512_permutexvar_epi32(_mm512_loadu_si512(lane_indices), v);
        store_vector(data, _mm512_castsi512_ps(ordered), streamed);
        return;
    }
    uint32_t codes[WIDE];
    _mm512_storeu_si512(codes, v);
    for (int lane = 0; lane < WIDE; lane++) {
        *(uint32_t *)(void *)(data + stride * lane_vertices[lane]) = codes[lane];
    }
}

#endif

// SPDX-License-Identifier: MIT
// The NEON kernel, which every AArch64 processor runs: 4 vertices at a time, each blended a row per register and
// influence with fused multiply-add by a lane, then transposed.
#include "base/cpu.h"

#if defined(PELTI_ARM64)

#include <arm_neon.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef float32x4_t wide;
typedef int32x4_t wide_int;
typedef uint32x4_t wide_mask;

enum {
    WIDE = 4,
    LATE_POSITIONS = true
};

static const uint8_t lane_vertices[WIDE] = {0, 1, 2, 3};

#define WIDE_INLINE PELTI_KERNEL_INLINE

#define wide_bits vreinterpretq_u32_f32
#define wide_of_bits vreinterpretq_f32_u32
#define wide_set vdupq_n_f32
#define wide_add vaddq_f32
#define wide_sub vsubq_f32
#define wide_mul vmulq_f32
#define wide_div vdivq_f32
#define wide_sqrt vsqrtq_f32
#define wide_abs vabsq_f32
#define wide_fma(a, b, c) vfmaq_f32(c, a, b)
#define wide_fms(a, b, c) vnegq_f32(vfmsq_f32(c, a, b))
#define wide_and(a, b) wide_of_bits(vandq_u32(wide_bits(a), wide_bits(b)))
#define wide_or(a, b) wide_of_bits(vorrq_u32(wide_bits(a), wide_bits(b)))
#define wide_xor(a, b) wide_of_bits(veorq_u32(wide_bits(a), wide_bits(b)))
#define wide_load vld1q_f32
#define wide_store vst1q_f32
#define wide_less vcltq_f32
#define wide_mask_and vandq_u32
#define wide_int_set vdupq_n_s32
#define wide_int_and vandq_s32
#define wide_int_or vorrq_s32
#define wide_int_add vaddq_s32
#define wide_from_int vcvtq_f32_s32
#define wide_to_int vcvtnq_s32_f32
#define wide_as_float vreinterpretq_f32_s32
#define wide_shift_right(a, n) vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_s32(a), n))
#define wide_shift_left(a, n) vshlq_n_s32(a, n)
#define wide_shift_right_signed(a, n) vshrq_n_s32(a, n)
#define wide_negative(a) vreinterpretq_s32_u32(vandq_u32(vcltzq_f32(a), vdupq_n_u32(0x80000000U)))

// The minimum that the processor has gives NaN where one is NaN.
WIDE_INLINE wide wide_min(wide a, wide b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}

WIDE_INLINE wide wide_max(wide a, wide b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

// A bit for each lane.
WIDE_INLINE uint32_t wide_mask_bits(wide_mask a)
{
    static const uint32_t bits[WIDE] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(a, vld1q_u32(bits)));
}

WIDE_INLINE uint32_t wide_sign_bits(wide a)
{
    return wide_mask_bits(vreinterpretq_u32_s32(vshrq_n_s32(vreinterpretq_s32_f32(a), 31)));
}

// A 4x4 transpose.
WIDE_INLINE void transpose_lanes(wide v[4])
{
    wide a = vzip1q_f32(v[0], v[2]);
    wide b = vzip1q_f32(v[1], v[3]);
    wide c = vzip2q_f32(v[0], v[2]);
    wide d = vzip2q_f32(v[1], v[3]);
    v[0] = vzip1q_f32(a, b);
    v[1] = vzip2q_f32(a, b);
    v[2] = vzip1q_f32(c, d);
    v[3] = vzip2q_f32(c, d);
}

WIDE_INLINE wide load_four(const char *data)
{
    return vld1q_f32((const float *)(const void *)data);
}

WIDE_INLINE void wide_load4(const char *data, size_t stride, wide out[4])
{
    if (stride == 4 * sizeof(float)) {
        float32x4x4_t v = vld4q_f32((const float *)(const void *)data);
        for (int k = 0; k < 4; k++) {
            out[k] = v.val[k];
        }
        return;
    }
    for (size_t k = 0; k < 4; k++) {
        out[k] = load_four(data + stride * k);
    }
    transpose_lanes(out);
}

WIDE_INLINE void wide_load3(const char *data, size_t stride, wide out[3])
{
    if (stride == 3 * sizeof(float)) {
        float32x4x3_t v = vld3q_f32((const float *)(const void *)data);
        for (int k = 0; k < 3; k++) {
            out[k] = v.val[k];
        }
        return;
    }
    wide quads[4];
    for (size_t k = 0; k < 4; k++) {
        quads[k] = load_four(data + stride * k);
    }
    transpose_lanes(quads);
    for (int k = 0; k < 3; k++) {
        out[k] = quads[k];
    }
}

// Stores that pass the caches by cannot be asked for.
WIDE_INLINE void wide_store4(char *data, size_t stride, const wide v[4], bool streamed)
{
    (void)streamed;
    if (stride == 4 * sizeof(float)) {
        float32x4x4_t quads = {{v[0], v[1], v[2], v[3]}};
        vst4q_f32((float *)(void *)data, quads);
        return;
    }
    wide quads[4] = {v[0], v[1], v[2], v[3]};
    transpose_lanes(quads);
    for (size_t k = 0; k < 4; k++) {
        vst1q_f32((float *)(void *)(data + stride * k), quads[k]);
    }
}

WIDE_INLINE void store_three(char *data, wide v)
{
    vst1_f32((float *)(void *)data, vget_low_f32(v));
    vst1q_lane_f32((float *)(void *)(data + 8), v, 2);
}

WIDE_INLINE void wide_store3(char *data, size_t stride, const wide v[3], bool streamed)
{
    (void)streamed;
    if (stride == 3 * sizeof(float)) {
        float32x4x3_t quads = {{v[0], v[1], v[2]}};
        vst3q_f32((float *)(void *)data, quads);
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
        return vld1q_s32((const int32_t *)(const void *)data);
    }
    int32_t codes[WIDE];
    for (size_t v = 0; v < WIDE; v++) {
        codes[v] = *(const int32_t *)(const void *)(data + stride * v);
    }
    return vld1q_s32(codes);
}

WIDE_INLINE void wide_store_codes(char *data, size_t stride, wide_int v, bool streamed)
{
    (void)streamed;
    if (stride == sizeof(uint32_t)) {
        vst1q_s32((int32_t *)(void *)data, v);
        return;
    }
    int32_t codes[WIDE];
    vst1q_s32(codes, v);
    for (size_t k = 0; k < WIDE; k++) {
        *(int32_t *)(void *)(data + stride * k) = codes[k];
    }
}

// --- matrices

typedef struct four_weights {
    float each[4]; // lanes of one register
} four_weights;

WIDE_INLINE four_weights load_weights(const char *data)
{
    wide w = load_four(data);
    four_weights out = {{vgetq_lane_f32(w, 0), vgetq_lane_f32(w, 1), vgetq_lane_f32(w, 2), vgetq_lane_f32(w, 3)}};
    return out;
}

typedef struct matrix_rows {
    wide rows[3];
} matrix_rows;

WIDE_INLINE matrix_rows zero_matrix(void)
{
    matrix_rows out = {{vdupq_n_f32(0.0F), vdupq_n_f32(0.0F), vdupq_n_f32(0.0F)}};
    return out;
}

WIDE_INLINE matrix_rows scale_matrix(const char *matrix, const four_weights *w, uint32_t i)
{
    matrix_rows out;
    for (size_t r = 0; r < 3; r++) {
        out.rows[r] = vmulq_n_f32(load_four(matrix + r * 16), w->each[i]);
    }
    return out;
}

WIDE_INLINE void add_matrix(const char *matrix, const four_weights *w, uint32_t i, matrix_rows *rows)
{
    for (size_t r = 0; r < 3; r++) {
        rows->rows[r] = vfmaq_n_f32(rows->rows[r], load_four(matrix + r * 16), w->each[i]);
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
    wide all = wide_or(wide_or(load_four(weights), load_four(weights + 16)),
                       wide_or(load_four(weights + 32), load_four(weights + 48)));
    uint32_t used = wide_mask_bits(vtstq_u32(wide_bits(all), wide_bits(all)));
    return used & 8 ? 4 : used & 4 ? 3 : used & 2 ? 2 : 1;
}

#include "skin/wide_kernel.h"

const pelti_skin_kernel pelti_skin_neon = {.skin = skin_wide, .measure = measure, .max_u16 = max_u16, .max_u8 = max_u8};

#endif

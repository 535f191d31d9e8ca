// SPDX-License-Identifier: MIT
// The AVX-512 kernel: 16 vertices at a time. Runs of up to 16 or 32 joints are blended by permutes: twelve registers
// (or twenty-four) hold one element of the matrices of all joints, and one permute fetches it for 16 vertices; no
// gathers, which are many times slower, and no transposes. Everything else is blended a whole matrix per vertex and
// influence, and then transposed.
#include "base/cpu.h"

#if defined(PELTI_X86)

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

// Element 3 * vertex + component of three vectors: first from the lower two, then from the third.
static const int32_t load3_indices[3][2][WIDE] = {
    {{0, 12, 24, 0, 3, 15, 27, 0, 6, 18, 30, 0, 9, 21, 0, 0}, {0, 1, 2, 20, 4, 5, 6, 23, 8, 9, 10, 26, 12, 13, 17, 29}},
    {{1, 13, 25, 0, 4, 16, 28, 0, 7, 19, 31, 0, 10, 22, 0, 0},
     {0, 1, 2, 21, 4, 5, 6, 24, 8, 9, 10, 27, 12, 13, 18, 30}},
    {{2, 14, 26, 0, 5, 17, 29, 0, 8, 20, 0, 0, 11, 23, 0, 0}, {0, 1, 2, 22, 4, 5, 6, 25, 8, 9, 16, 28, 12, 13, 19, 31}},
};
// The way back: first x and y, then z.
static const int32_t store3_indices[3][2][WIDE] = {
    {{0, 16, 0, 4, 20, 0, 8, 24, 0, 12, 28, 0, 1, 17, 0, 5}, {0, 1, 16, 3, 4, 20, 6, 7, 24, 9, 10, 28, 12, 13, 17, 15}},
    {{21, 0, 9, 25, 0, 13, 29, 0, 2, 18, 0, 6, 22, 0, 10, 26},
     {0, 21, 2, 3, 25, 5, 6, 29, 8, 9, 18, 11, 12, 22, 14, 15}},
    {{0, 14, 30, 0, 3, 19, 0, 7, 23, 0, 11, 27, 0, 15, 31, 0},
     {26, 1, 2, 30, 4, 5, 19, 7, 8, 23, 10, 11, 27, 13, 14, 31}},
};
static const int32_t lane_indices[WIDE] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};

#define WIDE_INLINE static inline __attribute__((always_inline))

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
    wide v = _mm512_castps128_ps512(_mm_loadu_ps((const float *)(const void *)data));
    v = _mm512_insertf32x4(v, _mm_loadu_ps((const float *)(const void *)(data + stride)), 1);
    v = _mm512_insertf32x4(v, _mm_loadu_ps((const float *)(const void *)(data + stride * 2)), 2);
    return _mm512_insertf32x4(v, _mm_loadu_ps((const float *)(const void *)(data + stride * 3)), 3);
}

WIDE_INLINE void wide_load4(const char *data, size_t stride, wide out[4])
{
    for (int k = 0; k < 4; k++) {
        if (stride == 4 * sizeof(float)) {
            out[k] = _mm512_loadu_ps(data + (size_t)k * 64);
        } else {
            out[k] = load_quad(data + stride * 4 * (size_t)k, stride);
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
        for (int k = 0; k < 3; k++) {
            wide lower = _mm512_permutex2var_ps(a, _mm512_loadu_si512(load3_indices[k][0]), b);
            out[k] = _mm512_permutex2var_ps(lower, _mm512_loadu_si512(load3_indices[k][1]), c);
        }
        return;
    }
    wide quads[4];
    for (size_t k = 0; k < 4; k++) {
        quads[k] = load_quad(data + stride * 4 * k, stride);
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
        char *at = data + stride * 4 * k;
        _mm_storeu_ps((float *)(void *)at, _mm512_castps512_ps128(quads[k]));
        _mm_storeu_ps((float *)(void *)(at + stride), _mm512_extractf32x4_ps(quads[k], 1));
        _mm_storeu_ps((float *)(void *)(at + stride * 2), _mm512_extractf32x4_ps(quads[k], 2));
        _mm_storeu_ps((float *)(void *)(at + stride * 3), _mm512_extractf32x4_ps(quads[k], 3));
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
        for (int k = 0; k < 3; k++) {
            wide xy = _mm512_permutex2var_ps(v[0], _mm512_loadu_si512(store3_indices[k][0]), v[1]);
            xy = _mm512_permutex2var_ps(xy, _mm512_loadu_si512(store3_indices[k][1]), v[2]);
            store_vector(data + (size_t)k * 64, xy, streamed);
        }
        return;
    }
    wide quads[4] = {v[0], v[1], v[2], v[2]};
    transpose_lanes(quads);
    for (size_t k = 0; k < 4; k++) {
        char *at = data + stride * 4 * k;
        store_three(at, _mm512_castps512_ps128(quads[k]));
        store_three(at + stride, _mm512_extractf32x4_ps(quads[k], 1));
        store_three(at + stride * 2, _mm512_extractf32x4_ps(quads[k], 2));
        store_three(at + stride * 3, _mm512_extractf32x4_ps(quads[k], 3));
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

#include "skin/measure.h"
#include "skin/wide.h"
#include "skin/wide_blocks.h"
#include "skin/wide_rows.h"

// --- matrices

enum {
    MATRIX_LANES = 0x0FFF // 48 of 64 bytes: what follows the last matrix may not be there
};

WIDE_INLINE wide load_matrix(const void *matrix)
{
    return _mm512_maskz_loadu_ps(MATRIX_LANES, matrix);
}

// Vertex k of group g, in lane 4 g + k of the results, comes as rows[4 g + k].
WIDE_INLINE void transpose_group(const wide rows[4], wide columns[4])
{
    for (int k = 0; k < 4; k++) {
        columns[k] = rows[k];
    }
    transpose_lanes(columns);
}

// groups[g][c] holds in 128-bit lane r element (r, c) of four vertices.
WIDE_INLINE void transpose_groups(wide groups[4][4], wide m[12])
{
    for (int c = 0; c < 4; c++) {
        wide a = _mm512_shuffle_f32x4(groups[0][c], groups[1][c], 0x44);
        wide b = _mm512_shuffle_f32x4(groups[2][c], groups[3][c], 0x44);
        wide d = _mm512_shuffle_f32x4(groups[0][c], groups[1][c], 0xEE);
        wide e = _mm512_shuffle_f32x4(groups[2][c], groups[3][c], 0xEE);
        m[c] = _mm512_shuffle_f32x4(a, b, 0x88);
        m[4 + c] = _mm512_shuffle_f32x4(a, b, 0xDD);
        m[8 + c] = _mm512_shuffle_f32x4(d, e, 0x88);
    }
}

// Element e of the matrices of up to 16 joints, one in each lane.
static void load_table(const pelt_skin_job *job, const uint16_t *joints, uint32_t count, wide table[12])
{
    wide groups[4][4];
    for (uint32_t g = 0; g < 4; g++) {
        wide rows[4];
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t j = g * 4 + k;
            rows[k] = j < count ? load_matrix(pelti_skin_matrix(job, joints[j])) : _mm512_setzero_ps();
        }
        transpose_group(rows, groups[g]);
    }
    transpose_groups(groups, table);
}

// --- weights

WIDE_INLINE bool any_weight(wide w)
{
    return _mm512_cmp_ps_mask(w, _mm512_setzero_ps(), _CMP_NEQ_UQ) != 0;
}

WIDE_INLINE int64_t load_64(const char *data)
{
    int64_t value = 0;
    memcpy(&value, data, sizeof value);
    return value;
}

WIDE_INLINE void load_unorm(const char *data, size_t stride, wide out[4])
{
    for (size_t k = 0; k < 4; k++) {
        const char *at = data + stride * 4 * k;
        __m256i codes =
            _mm256_set_epi64x(load_64(at + stride * 3), load_64(at + stride * 2), load_64(at + stride), load_64(at));
        wide values = _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(codes));
        out[k] = _mm512_mul_ps(values, _mm512_set1_ps(1.0F / 65535.0F));
    }
    transpose_lanes(out);
}

// Four weights of each vertex of a job with runs, from slot 4 * part on, in the order in which they are summed.
WIDE_INLINE void load_weights(const pelt_skin_job *job, const block *b, shape x, size_t part, wide out[4])
{
    if (x.tight && !x.packed) {
        wide_load4(b->weights, b->weights_stride, out);
        return;
    }
    switch (job->weight_format) {
    case PELT_WEIGHT_SORTED:
        wide_decode_weights(wide_load_codes(b->weights, b->weights_stride), true, out);
        break;
    case PELT_WEIGHT_PLAIN:
        wide_decode_weights(wide_load_codes(b->weights, b->weights_stride), false, out);
        break;
    case PELT_WEIGHT_UNORM16:
        load_unorm(b->weights + part * 4 * sizeof(uint16_t), b->weights_stride, out);
        break;
    default:
        wide_load4(b->weights + part * 4 * sizeof(float), b->weights_stride, out);
    }
}

WIDE_INLINE wide sum_sizes(const wide weights[4])
{
    return _mm512_add_ps(_mm512_add_ps(wide_abs(weights[0]), wide_abs(weights[1])),
                         _mm512_add_ps(wide_abs(weights[2]), wide_abs(weights[3])));
}

// What the square of a determinant must exceed: by the palette's largest matrix where the weights add up to one, else
// beyond all.
WIDE_INLINE wide determinant_bound(wide palette_bound, wide weight_sum)
{
    __mmask16 larger = _mm512_cmp_ps_mask(weight_sum, _mm512_set1_ps(1.0F + 0x1p-10F), _CMP_NLE_UQ);
    return _mm512_mask_mov_ps(palette_bound, larger, _mm512_set1_ps(HUGE_VALF));
}

// --- permutes

// The four 8-bit indices of each vertex, from slot 4 * part on.
WIDE_INLINE wide_int load_bytes(const block *b, uint32_t part)
{
    if (b->joints_stride == sizeof(uint32_t)) {
        return wide_load_codes(b->joints, sizeof(uint32_t));
    }
    wide_int low = _mm512_loadu_si512(b->joints);
    wide_int high = _mm512_loadu_si512(b->joints + 64);
    const wide_int order = _mm512_slli_epi32(_mm512_loadu_si512(lane_indices), 1);
    return _mm512_permutex2var_epi32(low, _mm512_add_epi32(order, _mm512_set1_epi32((int)part)), high);
}

// Bits over the fourth (with two tables the fifth) of an index are ignored.
WIDE_INLINE wide pick(const wide *table, bool two_tables, int e, wide_int index)
{
    if (two_tables) {
        return _mm512_permutex2var_ps(table[e], index, table[12 + e]);
    }
    return _mm512_permutexvar_ps(index, table[e]);
}

WIDE_INLINE void add_slot(const wide *table, bool two_tables, wide_int index, wide weight, wide m[12])
{
    for (int e = 0; e < 12; e++) {
        m[e] = _mm512_fmadd_ps(weight, pick(table, two_tables, e, index), m[e]);
    }
}

// Adds the extras of each vertex to blended matrices.
static __attribute__((noinline)) void add_extras(const pelt_skin_job *job, const lane_extras *extras, wide m[12])
{
    wide groups[4][4];
    wide sums[12];
    for (uint32_t g = 0; g < 4; g++) {
        wide rows[4];
        for (uint32_t k = 0; k < 4; k++) {
            const pelt_extra_influence *extra = extras->first[g * 4 + k];
            rows[k] = _mm512_setzero_ps();
            for (uint32_t i = 0; i < extras->count[g * 4 + k]; i++) {
                wide weight = _mm512_set1_ps(pelti_skin_unorm16(extra[i].weight));
                rows[k] = _mm512_fmadd_ps(weight, load_matrix(pelti_skin_matrix(job, extra[i].joint)), rows[k]);
            }
        }
        transpose_group(rows, groups[g]);
    }
    transpose_groups(groups, sums);
    for (int e = 0; e < 12; e++) {
        m[e] = _mm512_add_ps(m[e], sums[e]);
    }
}

// Slots that are zero in the whole block are left out: from the last on, or where there are eight, any. bound: what the
// square of the determinant must exceed.
WIDE_INLINE void blend_table(const span *s, const block *b, shape x, const wide *table, bool two_tables,
                             const lane_extras *extras, wide m[12], wide *bound)
{
    const pelt_skin_job *job = &s->plan->job;
    wide weights[4];
    load_weights(job, b, x, 0, weights);
    for (int i = 0; extras && i < 4; i++) {
        weights[i] = _mm512_mul_ps(weights[i], _mm512_loadu_ps(extras->shares));
    }
    wide_int indices = load_bytes(b, 0);
    if (job->weight_format == PELT_WEIGHT_SORTED) { // slot 3 goes first
        indices = _mm512_rol_epi32(indices, 8);
    }
    for (int e = 0; e < 12; e++) {
        m[e] = _mm512_mul_ps(weights[0], pick(table, two_tables, e, indices));
    }
    bool fourth = any_weight(weights[3]);
    bool third = fourth || any_weight(weights[2]);
    if (third || any_weight(weights[1])) {
        add_slot(table, two_tables, _mm512_srli_epi32(indices, 8), weights[1], m);
    }
    if (third) {
        add_slot(table, two_tables, _mm512_srli_epi32(indices, 16), weights[2], m);
    }
    if (fourth) {
        add_slot(table, two_tables, _mm512_srli_epi32(indices, 24), weights[3], m);
    }
    if (extras) {
        add_extras(job, extras, m);
    }
    if (x.packed || pelti_skin_weights_packed(job)) {
        return;
    }
    wide sum = sum_sizes(weights);
    if (!x.tight && job->influence_count == 8) {
        load_weights(job, b, x, 1, weights);
        indices = load_bytes(b, 1);
        sum = _mm512_add_ps(sum, sum_sizes(weights));
        for (int i = 0; i < 4; i++) {
            if (any_weight(weights[i])) {
                add_slot(table, two_tables, indices, weights[i], m);
            }
            indices = _mm512_srli_epi32(indices, 8);
        }
    }
    *bound = determinant_bound(*bound, sum);
}

// --- whole matrices

// The blended matrix of one vertex; count of its slots are used.
WIDE_INLINE wide blend_row(const row_group *g, const char *weights, const uint32_t *offsets, uint32_t count)
{
    wide four = _mm512_broadcast_f32x4(_mm_loadu_ps((const float *)(const void *)weights));
    wide row = _mm512_mul_ps(_mm512_shuffle_ps(four, four, 0x00), load_matrix(g->matrices + offsets[0]));
    if (count > 1) {
        row = _mm512_fmadd_ps(_mm512_shuffle_ps(four, four, 0x55), load_matrix(g->matrices + offsets[1]), row);
    }
    if (count > 2) {
        row = _mm512_fmadd_ps(_mm512_shuffle_ps(four, four, 0xAA), load_matrix(g->matrices + offsets[2]), row);
    }
    if (count > 3) {
        row = _mm512_fmadd_ps(_mm512_shuffle_ps(four, four, 0xFF), load_matrix(g->matrices + offsets[3]), row);
    }
    for (uint32_t i = 4; i < count; i++) {
        wide weight = _mm512_set1_ps(((const float *)(const void *)weights)[i]);
        row = _mm512_fmadd_ps(weight, load_matrix(g->matrices + offsets[i]), row);
    }
    return row;
}

// v: index in the group.
WIDE_INLINE void blend_rows_of(const row_group *g, uint32_t v, uint32_t slots, uint32_t count, size_t weights_stride,
                               wide m[12])
{
    wide groups[4][4];
    for (uint32_t i = 0; i < 4; i++) {
        wide rows[4];
        for (uint32_t k = 0; k < 4; k++) {
            size_t vertex = v + lane_vertices[i * 4 + k];
            rows[k] = blend_row(g, g->weights + weights_stride * vertex, g->offsets + slots * vertex, count);
        }
        transpose_group(rows, groups[i]);
    }
    transpose_groups(groups, m);
}

// How many slots it takes to have all weights that are not zero, of four floats in a row.
WIDE_INLINE uint32_t count_slots(const char *weights)
{
    wide all = _mm512_or_ps(_mm512_or_ps(_mm512_loadu_ps(weights), _mm512_loadu_ps(weights + 64)),
                            _mm512_or_ps(_mm512_loadu_ps(weights + 128), _mm512_loadu_ps(weights + 192)));
    uint32_t used = _mm512_test_epi32_mask(_mm512_castps_si512(all), _mm512_castps_si512(all));
    return used & 0x8888 ? 4 : used & 0x4444 ? 3 : used & 0x2222 ? 2 : 1;
}

WIDE_INLINE void blend_rows(const row_group *g, uint32_t v, wide m[12])
{
    if (g->slots == 8) {
        blend_rows_of(g, v, 8, 8, g->weights_stride, m);
        return;
    }
    if (g->weights_stride != 4 * sizeof(float)) {
        blend_rows_of(g, v, 4, 4, g->weights_stride, m);
        return;
    }
    switch (count_slots(g->weights + (size_t)v * 4 * sizeof(float))) {
    case 1:
        blend_rows_of(g, v, 4, 1, 4 * sizeof(float), m);
        break;
    case 2:
        blend_rows_of(g, v, 4, 2, 4 * sizeof(float), m);
        break;
    case 3:
        blend_rows_of(g, v, 4, 3, 4 * sizeof(float), m);
        break;
    default:
        blend_rows_of(g, v, 4, 4, 4 * sizeof(float), m);
    }
}

// One vertex at a time: for more than eight influences, and for palettes of over 2 GiB.
static __attribute__((noinline)) void blend_each(const span *s, uint32_t first, uint32_t count, wide m[12])
{
    const pelt_skin_job *job = &s->plan->job;
    wide groups[4][4];
    for (uint32_t g = 0; g < 4; g++) {
        wide rows[4];
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t v = lane_vertices[g * 4 + k];
            pelti_influences in;
            pelti_skin_influences(job, s->run, first + (v < count ? v : 0), &in);
            rows[k] = _mm512_setzero_ps();
            for (uint32_t i = 0; i < in.count + in.extra_count; i++) {
                uint32_t joint = 0;
                float weight = 0.0F;
                if (pelti_skin_influence(&in, i, &joint, &weight)) {
                    wide matrix = load_matrix(pelti_skin_matrix(job, joint));
                    rows[k] = _mm512_fmadd_ps(_mm512_set1_ps(weight), matrix, rows[k]);
                }
            }
        }
        transpose_group(rows, groups[g]);
    }
    transpose_groups(groups, m);
}

// --- loops

typedef enum blend_kind {
    BLEND_RIGID,
    BLEND_NARROW, // up to 16 joints
    BLEND_LISTED, // up to 32
    BLEND_ROWS,
    BLEND_EACH
} blend_kind;

// Over 1, for weights that add up to 1 + 2^-10 and for rounding.
static wide find_bound(const pelti_skin_plan *plan)
{
    float square = plan->square * (1.0F + 0x1p-8F);
    return _mm512_set1_ps(square * square * square * SURE_SHARE);
}

WIDE_INLINE void skin_tables(const span *s, shape x, const wide *table, bool two_tables, uint32_t first, uint32_t last,
                             wide_box *box)
{
    const wide palette_bound = find_bound(s->plan);
    wide_box local = *box; // in registers
    for (uint32_t v = first; v < last; v += WIDE) {
        block b;
        wide m[12];
        wide bound = palette_bound;
        make_block(s, x, v, last, &b);
        if (x.tight) {
            prefetch_tight(s, &b);
        } else {
            prefetch_ahead(s, v);
        }
        blend_table(s, &b, x, table, two_tables, NULL, m, &bound);
        finish_block(s, &b, x, skin_blended(s, &b, x, m, &bound, &local));
    }
    *box = local;
}

WIDE_INLINE void skin_rows(const span *s, shape x, row_group *g, uint32_t first, uint32_t last, wide_box *box)
{
    wide_box local = *box; // in registers
    for (uint32_t v = first; v < last; v += WIDE) {
        block b;
        wide m[12];
        if ((v - first) % GROUP_SIZE == 0) {
            load_group(s, false, v, last, g);
        }
        make_block(s, x, v, last, &b);
        if (x.tight) {
            prefetch_tight(s, &b);
        } else {
            prefetch_ahead(s, v);
        }
        blend_rows(g, v - g->first, m);
        finish_block(s, &b, x, skin_blended(s, &b, x, m, NULL, &local));
    }
    *box = local;
}

typedef void table_loop(const span *s, const wide *table, uint32_t first, uint32_t last, wide_box *box);

static __attribute__((noinline)) void narrow_floats(const span *s, const wide *table, uint32_t first, uint32_t last,
                                                    wide_box *box)
{
    skin_tables(s, TIGHT_FLOATS, table, false, first, last, box);
}

static __attribute__((noinline)) void narrow_packed(const span *s, const wide *table, uint32_t first, uint32_t last,
                                                    wide_box *box)
{
    skin_tables(s, TIGHT_PACKED, table, false, first, last, box);
}

static __attribute__((noinline)) void narrow_strided(const span *s, const wide *table, uint32_t first, uint32_t last,
                                                     wide_box *box)
{
    skin_tables(s, STRIDED, table, false, first, last, box);
}

static __attribute__((noinline)) void listed_floats(const span *s, const wide *table, uint32_t first, uint32_t last,
                                                    wide_box *box)
{
    skin_tables(s, TIGHT_FLOATS, table, true, first, last, box);
}

static __attribute__((noinline)) void listed_packed(const span *s, const wide *table, uint32_t first, uint32_t last,
                                                    wide_box *box)
{
    skin_tables(s, TIGHT_PACKED, table, true, first, last, box);
}

static __attribute__((noinline)) void listed_strided(const span *s, const wide *table, uint32_t first, uint32_t last,
                                                     wide_box *box)
{
    skin_tables(s, STRIDED, table, true, first, last, box);
}

static __attribute__((noinline)) void rows_strided(const span *s, row_group *g, uint32_t first, uint32_t last,
                                                   wide_box *box)
{
    skin_rows(s, STRIDED, g, first, last, box);
}

static __attribute__((noinline)) void rows_floats(const span *s, row_group *g, uint32_t first, uint32_t last,
                                                  wide_box *box)
{
    skin_rows(s, TIGHT_FLOATS, g, first, last, box);
}

static void blend_any(const span *s, const block *b, blend_kind kind, const wide *table, const lane_extras *extras,
                      row_group *g, wide m[12], wide *bound)
{
    const pelt_skin_job *job = &s->plan->job;
    switch (kind) {
    case BLEND_RIGID:
        for (int e = 0; e < 12; e++) {
            m[e] = _mm512_set1_ps(job->palette[0].m[e / 4][e % 4]);
        }
        return;
    case BLEND_NARROW:
        blend_table(s, b, GENERAL, table, false, extras, m, bound);
        return;
    case BLEND_LISTED:
        blend_table(s, b, GENERAL, table, true, extras, m, bound);
        return;
    case BLEND_ROWS:
        load_group(s, extras != NULL, b->first, b->first + b->count, g);
        blend_rows(g, 0, m);
        break;
    case BLEND_EACH:
        blend_each(s, b->first, b->count, m);
        break;
    }
    if (extras && kind == BLEND_ROWS) {
        add_extras(job, extras, m);
    }
    *bound = _mm512_set1_ps(HUGE_VALF); // only the matrix itself tells
}

// Any job, block by block.
static __attribute__((noinline)) void skin_general(const span *s, blend_kind kind, const wide *table, bool has_extras,
                                                   uint32_t first, uint32_t last, wide_box *box)
{
    const wide palette_bound = find_bound(s->plan);
    padding p;
    row_group g;
    lane_extras extras;
    init_group(&s->plan->job, NULL, &g);
    for (uint32_t v = first; v < last; v += WIDE) {
        block b;
        wide m[12];
        wide bound = palette_bound;
        make_block(s, GENERAL, v, last, &b);
        prefetch_ahead(s, v);
        if (needs_padding(s, &b)) {
            pad_block(s, &b, &p);
        }
        if (has_extras) {
            find_extras(s, &b, &extras);
        }
        blend_any(s, &b, kind, table, has_extras ? &extras : NULL, &g, m, &bound);
        finish_block(s, &b, GENERAL, skin_blended(s, &b, GENERAL, m, &bound, box));
    }
}

static void skin_listed_run(const span *s, bool has_extras, uint32_t first, uint32_t last, wide_box *box)
{
    static table_loop *const loops[2][3] = {{narrow_floats, narrow_packed, narrow_strided},
                                            {listed_floats, listed_packed, listed_strided}};
    const pelt_skin_job *job = &s->plan->job;
    const uint16_t *joints = job->runs->run_joints + s->run->first_joint;
    uint32_t count = s->run->joint_count;
    bool two_tables = count > 16;
    wide table[24];
    load_table(job, joints, count, table);
    if (two_tables) {
        load_table(job, joints + 16, count - 16, table + 12);
    }
    uint32_t middle = has_extras ? first : plain_end(s, first, last);
    if (first < middle) {
        int which = is_tight(job, false) ? 0 : is_tight(job, true) ? 1 : 2;
        loops[two_tables][which](s, table, first, middle, box);
    }
    if (middle < last) {
        skin_general(s, two_tables ? BLEND_LISTED : BLEND_NARROW, table, has_extras, middle, last, box);
    }
}

static void skin_unlisted(const span *s, bool has_extras, uint32_t first, uint32_t last, wide_box *box)
{
    const pelt_skin_job *job = &s->plan->job;
    uint32_t middle = has_extras ? first : plain_end(s, first, last);
    if (first < middle) {
        row_group g;
        init_group(job, NULL, &g);
        if (is_tight(job, false)) {
            rows_floats(s, &g, first, middle, box);
        } else {
            rows_strided(s, &g, first, middle, box);
        }
    }
    if (middle < last) {
        skin_general(s, BLEND_ROWS, NULL, has_extras, middle, last, box);
    }
}

static void skin_part(const span *s, bool has_extras, uint32_t first, uint32_t last, wide_box *box)
{
    if (s->plan->job.influence_count == 0) {
        skin_general(s, BLEND_RIGID, NULL, false, first, last, box);
    } else if (s->run && s->run->layout == PELT_JOINTS_RUN) {
        skin_listed_run(s, has_extras, first, last, box);
    } else if (rows_fit(&s->plan->job)) {
        skin_unlisted(s, has_extras, first, last, box);
    } else {
        skin_general(s, BLEND_EACH, NULL, false, first, last, box);
    }
}

static pelt_box skin_avx512(const pelti_skin_plan *plan, uint32_t first, uint32_t last)
{
    pelt_box box = skin_range(plan, first, last, skin_part);
    if (plan->streamed) {
        _mm_sfence();
    }
    return box;
}

static bool measure(const pelt_skin_job *job, float *square)
{
    wide highest = _mm512_setzero_ps();
    wide zeros = _mm512_setzero_ps();
    for (uint32_t j = 0; j < job->palette_count; j++) {
        wide matrix = load_matrix(pelti_skin_matrix(job, j));
        highest = _mm512_max_ps(wide_abs(matrix), highest);
        zeros = _mm512_fmadd_ps(matrix, _mm512_setzero_ps(), zeros);
    }
    float sizes[WIDE];
    float sums[WIDE];
    _mm512_storeu_ps(sizes, highest);
    _mm512_storeu_ps(sums, zeros);
    return finish_measure(sizes, sums, square);
}

const pelti_skin_kernel pelti_skin_avx512 = {
    .skin = skin_avx512, .measure = measure, .max_u16 = max_u16, .max_u8 = max_u8};

#endif

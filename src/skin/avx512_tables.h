// SPDX-License-Identifier: MIT
// Blending by permutes, for runs and whole palettes of up to 16 or 32 joints: twelve registers (or twenty-four) hold
// one element of the matrices of all joints, and one permute fetches it for 16 vertices.
#ifndef PELTI_SKIN_AVX512_TABLES_H
#define PELTI_SKIN_AVX512_TABLES_H

#include "skin/avx512_lanes.h"
#include "skin/wide_blocks.h"

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

// Joints 4 g to 4 g + 3 of a list; past the list its first, which nothing with a weight refers to.
WIDE_INLINE void load_table_quad(const pelt_skin_job *job, const uint16_t *joints, uint32_t count, uint32_t g,
                                 wide columns[4])
{
    wide rows[4];
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t j = g * 4 + k;
        rows[k] = load_matrix(pelti_skin_matrix(job, joints[j < count ? j : 0]));
    }
    transpose_group(rows, columns);
}

// Element e of the matrices of up to 16 joints, one in each lane.
static void load_table(const pelt_skin_job *job, const uint16_t *joints, uint32_t count, wide table[12])
{
    wide groups[4][4];
    load_table_quad(job, joints, count, 0, groups[0]);
    load_table_quad(job, joints, count, 1, groups[1]);
    load_table_quad(job, joints, count, 2, groups[2]);
    load_table_quad(job, joints, count, 3, groups[3]);
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
WIDE_INLINE void load_weights(const pelt_skin_job *job, const block *b, size_t part, wide out[4])
{
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
WIDE_INLINE void blend_table(const span *s, const block *b, const wide *table, bool two_tables,
                             const lane_extras *extras, wide m[12], wide *bound)
{
    const pelt_skin_job *job = &s->plan->job;
    wide weights[4];
    load_weights(job, b, 0, weights);
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
    if (pelti_skin_weights_packed(job)) {
        return;
    }
    wide sum = sum_sizes(weights);
    if (job->influence_count == 8) {
        load_weights(job, b, 1, weights);
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

#endif

// SPDX-License-Identifier: MIT
// Blending whole matrices, one per vertex and influence, and transposing the sums of 16 vertices.
#ifndef PELTI_SKIN_AVX512_ROWS_H
#define PELTI_SKIN_AVX512_ROWS_H

#include "skin/avx512_tables.h"
#include "skin/wide_rows.h"

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

// Vertices v, v + 4 and so on of the group.
WIDE_INLINE void blend_group(const row_group *g, uint32_t v, uint32_t slots, uint32_t count, size_t stride,
                             wide columns[4])
{
    wide rows[4];
    for (uint32_t k = 0; k < 4; k++) {
        size_t vertex = v + 4 * k;
        rows[k] = blend_row(g, g->weights + stride * vertex, g->offsets + slots * vertex, count);
    }
    transpose_group(rows, columns);
}

// v: index in the group.
WIDE_INLINE void blend_rows_of(const row_group *g, uint32_t v, uint32_t slots, uint32_t count, size_t weights_stride,
                               wide m[12])
{
    wide groups[4][4];
    blend_group(g, v, slots, count, weights_stride, groups[0]);
    blend_group(g, v + 1, slots, count, weights_stride, groups[1]);
    blend_group(g, v + 2, slots, count, weights_stride, groups[2]);
    blend_group(g, v + 3, slots, count, weights_stride, groups[3]);
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

// --- straight loops

enum {
    ROW_LIMIT = 256 // joints of a palette that is copied
};

// Matrices 64 bytes apart, with as many readable bytes: loads need no mask, which would cost a quarter of the time.
typedef struct row_source {
    wide matrices[ROW_LIMIT];
    wide_int highest; // index, in each 16 bits
    bool bytes;       // indices have 8 bits
} row_source;

static bool rows_pay(const pelt_skin_job *job, uint32_t vertex_count)
{
    return job->palette_count <= ROW_LIMIT && vertex_count >= job->palette_count;
}

static void load_rows(const span *s, row_source *out)
{
    const pelt_skin_job *job = &s->plan->job;
    const char *palette = (const char *)job->palette;
    for (uint32_t j = 0; j < job->palette_count; j++) {
        out->matrices[j] = load_matrix(palette + job->palette_stride * j);
    }
    out->highest = _mm512_set1_epi16((short)(job->palette_count - 1));
    out->bytes = s->run && s->run->layout != PELT_JOINTS_DIRECT16;
}

// Eight bytes of each of eight elements.
WIDE_INLINE wide_int load_eight(const char *data, size_t stride)
{
    wide_int v = _mm512_set1_epi64(load_64(data));
    for (unsigned k = 1; k < 8; k++) {
        v = _mm512_mask_set1_epi64(v, (__mmask8)(1U << k), load_64(data + stride * k));
    }
    return v;
}

// Byte offsets of four matrices of each vertex of a block.
WIDE_INLINE void load_row_offsets(const row_source *r, const char *joints, size_t stride, uint32_t offsets[WIDE * 4])
{
    wide_int words[2];
    if (r->bytes) {
        words[0] = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)joints));
        words[1] = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)(joints + 32)));
    } else if (stride == 4 * sizeof(uint16_t)) {
        words[0] = _mm512_loadu_si512(joints);
        words[1] = _mm512_loadu_si512(joints + 64);
    } else {
        words[0] = load_eight(joints, stride);
        words[1] = load_eight(joints + stride * 8, stride);
    }
    for (int k = 0; k < 2; k++) {
        words[k] = _mm512_min_epu16(words[k], r->highest);
        wide_int low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(words[k]));
        wide_int high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(words[k], 1));
        _mm512_store_si512(offsets + k * 32, _mm512_slli_epi32(low, 6));
        _mm512_store_si512(offsets + k * 32 + 16, _mm512_slli_epi32(high, 6));
    }
}

WIDE_INLINE wide blend_four(const char *matrices, const char *weights, const uint32_t *offsets)
{
    wide four = _mm512_broadcast_f32x4(_mm_loadu_ps((const float *)(const void *)weights));
    wide row = _mm512_mul_ps(_mm512_shuffle_ps(four, four, 0x00), _mm512_load_ps(matrices + offsets[0]));
    row = _mm512_fmadd_ps(_mm512_shuffle_ps(four, four, 0x55), _mm512_load_ps(matrices + offsets[1]), row);
    row = _mm512_fmadd_ps(_mm512_shuffle_ps(four, four, 0xAA), _mm512_load_ps(matrices + offsets[2]), row);
    return _mm512_fmadd_ps(_mm512_shuffle_ps(four, four, 0xFF), _mm512_load_ps(matrices + offsets[3]), row);
}

// Every fourth vertex from the one at which weights and offsets begin.
WIDE_INLINE void blend_quad(const row_source *r, const char *weights, size_t stride, const uint32_t *offsets,
                            wide columns[4])
{
    const char *matrices = (const char *)r->matrices;
    size_t step = stride * 4;
    const wide rows[4] = {blend_four(matrices, weights, offsets), blend_four(matrices, weights + step, offsets + 16),
                          blend_four(matrices, weights + step * 2, offsets + 32),
                          blend_four(matrices, weights + step * 3, offsets + 48)};
    transpose_group(rows, columns);
}

// Written out: as a loop it would keep matrices in memory and take twice the time.
WIDE_INLINE void blend_offsets(const row_source *r, const char *weights, size_t stride, const uint32_t *offsets,
                               wide m[12])
{
    wide groups[4][4];
    blend_quad(r, weights, stride, offsets, groups[0]);
    blend_quad(r, weights + stride, stride, offsets + 4, groups[1]);
    blend_quad(r, weights + stride * 2, stride, offsets + 8, groups[2]);
    blend_quad(r, weights + stride * 3, stride, offsets + 12, groups[3]);
    transpose_groups(groups, m);
}

#endif

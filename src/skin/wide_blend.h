// SPDX-License-Identifier: MIT
// Blended matrices of a block for wide_kernel.h, which says what of the instruction set is used: the matrices of each
// vertex are summed by rows, and the sums transposed.
#ifndef PELTI_SKIN_WIDE_BLEND_H
#define PELTI_SKIN_WIDE_BLEND_H

#include "skin/influences.h"
#include "skin/wide_rows.h"

static __attribute__((noinline)) matrix_rows add_extras(const pelt_skin_job *job, const lane_extras *extras, uint32_t v,
                                                        matrix_rows rows)
{
    for (uint32_t i = 0; i < extras->count[v]; i++) {
        const pelt_extra_influence *extra = &extras->first[v][i];
        const float weight[4] = {pelti_skin_unorm16(extra->weight)};
        four_weights w = load_weights((const char *)weight);
        add_matrix((const char *)pelti_skin_matrix(job, extra->joint), &w, 0, &rows);
    }
    return rows;
}

// Loops over whole blocks read 16-bit offsets where that is less work in all: on four lanes addresses cost more then.
enum {
    SHORT_STEPS = WIDE > 4
};

// What one block is blended from: offsets of matrices and weights of its first vertex.
typedef struct row_block {
    const char *matrices;
    const uint32_t *offsets;
    const uint16_t *steps; // or NULL, which compilers know
    const char *weights;
    size_t weights_stride;
} row_block;

ALWAYS_INLINE row_block row_block_at(const row_group *g, bool steps, size_t slots, size_t weights_stride, size_t v)
{
    row_block out = {.matrices = g->matrices,
                     .offsets = g->offsets + slots * v,
                     .steps = steps ? g->steps + slots * v : NULL,
                     .weights = g->weights + weights_stride * v,
                     .weights_stride = weights_stride};
    return out;
}

ALWAYS_INLINE const char *matrix_at(const row_block *b, size_t i)
{
    return b->matrices + (b->steps ? (size_t)b->steps[i] * STEP_SIZE : b->offsets[i]);
}

// Vertex v of the block. count of the slots are used.
ALWAYS_INLINE matrix_rows blend_row(const row_block *b, size_t slots, size_t count, size_t v)
{
    const char *data = b->weights + b->weights_stride * v;
    four_weights w = load_weights(data);
    matrix_rows rows = scale_matrix(matrix_at(b, slots * v), &w, 0);
    for (uint32_t i = 1; i < count; i++) {
        if (i == 4) {
            w = load_weights(data + 4 * sizeof(float));
        }
        add_matrix(matrix_at(b, slots * v + i), &w, i % 4, &rows);
    }
    return rows;
}

// Of all pairs joined makes vectors of one element each.
ALWAYS_INLINE void transpose_rows(wide m[12])
{
    transpose_lanes(m);
    transpose_lanes(m + 4);
    transpose_lanes(m + 8);
}

// Vertices k, k + 4 and so on.
ALWAYS_INLINE void blend_joined(const row_block *b, size_t slots, size_t count, uint32_t k, wide m[12])
{
    matrix_rows rows[WIDE / 4];
    for (size_t h = 0; h < WIDE / 4; h++) {
        rows[h] = blend_row(b, slots, count, k + h * 4);
    }
    join_rows(rows, k, m);
}

// Compilers make the best code of a loop where four vertices fill a block, and leave matrices in memory where there are
// more.
ALWAYS_INLINE void blend_rows_of(const row_block *b, size_t slots, size_t count, wide out[12])
{
    wide m[12];
    if (WIDE == 4) {
        for (uint32_t k = 0; k < 4; k++) {
            blend_joined(b, slots, count, k, m);
        }
    } else {
        blend_joined(b, slots, count, 0, m);
        blend_joined(b, slots, count, 1, m);
        blend_joined(b, slots, count, 2, m);
        blend_joined(b, slots, count, 3, m);
    }
    transpose_rows(m);
    for (int e = 0; e < 12; e++) {
        out[e] = m[e];
    }
}

// Four weights side by side, as most jobs have them.
ALWAYS_INLINE void blend_four(const row_group *g, bool steps, size_t v, wide m[12])
{
    row_block b = row_block_at(g, steps, 4, 4 * sizeof(float), v);
    switch (count_slots(b.weights)) {
    case 1:
        blend_rows_of(&b, 4, 1, m);
        break;
    case 2:
        blend_rows_of(&b, 4, 2, m);
        break;
    case 3:
        blend_rows_of(&b, 4, 3, m);
        break;
    default:
        blend_rows_of(&b, 4, 4, m);
    }
}

ALWAYS_INLINE void blend_rows(const row_group *g, bool steps, size_t v, wide m[12])
{
    if (g->slots == 8) {
        row_block b = row_block_at(g, steps, 8, g->weights_stride, v);
        blend_rows_of(&b, 8, 8, m);
    } else if (g->weights_stride != 4 * sizeof(float)) {
        row_block b = row_block_at(g, steps, 4, g->weights_stride, v);
        blend_rows_of(&b, 4, 4, m);
    } else {
        blend_four(g, steps, v, m);
    }
}

static void blend_with_extras(const pelt_skin_job *job, const row_group *g, const lane_extras *extras, wide m[12])
{
    row_block b = row_block_at(g, false, 4, g->weights_stride, 0);
    for (uint32_t k = 0; k < 4; k++) {
        matrix_rows rows[WIDE / 4];
        for (uint32_t h = 0; h < WIDE / 4; h++) {
            rows[h] = blend_row(&b, 4, 4, k + h * 4);
            rows[h] = add_extras(job, extras, k + h * 4, rows[h]);
        }
        join_rows(rows, k, m);
    }
    transpose_rows(m);
}

static matrix_rows blend_one(const span *s, uint32_t vertex)
{
    const pelt_skin_job *job = &s->plan->job;
    pelti_influences in;
    pelti_skin_influences(job, s->run, vertex, &in);
    matrix_rows rows = zero_matrix();
    for (uint32_t i = 0; i < in.count + in.extra_count; i++) {
        uint32_t joint = 0;
        float weight[4] = {0.0F};
        if (pelti_skin_influence(&in, i, &joint, weight)) {
            four_weights w = load_weights((const char *)weight);
            add_matrix((const char *)pelti_skin_matrix(job, joint), &w, 0, &rows);
        }
    }
    return rows;
}

// One vertex at a time: for more than eight influences, and for palettes of over 2 GiB.
static __attribute__((noinline)) void blend_each(const span *s, uint32_t first, uint32_t count, wide m[12])
{
    for (uint32_t k = 0; k < 4; k++) {
        matrix_rows rows[WIDE / 4];
        for (uint32_t h = 0; h < WIDE / 4; h++) {
            uint32_t v = k + h * 4;
            rows[h] = blend_one(s, first + (v < count ? v : 0));
        }
        join_rows(rows, k, m);
    }
    transpose_rows(m);
}

#endif

// SPDX-License-Identifier: MIT
// The kernel of instruction sets for which nothing beats blending a whole matrix per vertex and influence and then
// transposing: AVX2, SSE2 and NEON. Beside what wide.h asks for, the file of one instruction set defines
//
//   four_weights                 the weights of one vertex, four slots
//   load_weights(data)           of four floats
//   matrix_rows                  the twelve elements of one matrix
//   zero_matrix()
//   scale_matrix(matrix, w, i)   matrix times weight i
//   add_matrix(matrix, w, i, rows)   the same added, fused as in wide_fma
//   raise_sizes(matrix, rows)    the higher of |element| and what rows hold, which is never NaN
//   store_matrix(rows, out)      twelve floats
//   join_rows(rows, k, m)        rows[h] of vertex k + 4 h: row r goes to m[4 r + k], vertex after vertex
//   transpose_lanes(v)           4x4 transposes in each 128 bits
//   count_slots(data)            how many slots it takes to have all weights that are not zero, of WIDE x 4 floats
//   wide_fence()                 after stores past the caches
#ifndef PELTI_SKIN_WIDE_KERNEL_H
#define PELTI_SKIN_WIDE_KERNEL_H

#include "skin/measure.h"
#include "skin/wide_rows.h"

// --- blending

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

// v: index in the group. count of the slots are used.
ALWAYS_INLINE matrix_rows blend_row(const row_group *g, uint32_t slots, uint32_t count, size_t weights_stride,
                                    uint32_t v)
{
    const char *data = g->weights + weights_stride * v;
    const uint32_t *o = g->offsets + (size_t)slots * v;
    four_weights w = load_weights(data);
    matrix_rows rows = scale_matrix(g->matrices + o[0], &w, 0);
    for (uint32_t i = 1; i < count; i++) {
        if (i == 4) {
            w = load_weights(data + 4 * sizeof(float));
        }
        add_matrix(g->matrices + o[i], &w, i % 4, &rows);
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

// Vertices v + k, v + k + 4 and so on.
ALWAYS_INLINE void blend_joined(const row_group *g, uint32_t v, uint32_t slots, uint32_t count, size_t weights_stride,
                                uint32_t k, wide m[12])
{
    matrix_rows rows[WIDE / 4];
    for (uint32_t h = 0; h < WIDE / 4; h++) {
        rows[h] = blend_row(g, slots, count, weights_stride, v + k + h * 4);
    }
    join_rows(rows, k, m);
}

// Compilers make the best code of a loop where four vertices fill a block, and leave matrices in memory where there are
// more.
ALWAYS_INLINE void blend_rows_of(const row_group *g, uint32_t v, uint32_t slots, uint32_t count, size_t weights_stride,
                                 wide out[12])
{
    wide m[12];
    if (WIDE == 4) {
        for (uint32_t k = 0; k < 4; k++) {
            blend_joined(g, v, slots, count, weights_stride, k, m);
        }
    } else {
        blend_joined(g, v, slots, count, weights_stride, 0, m);
        blend_joined(g, v, slots, count, weights_stride, 1, m);
        blend_joined(g, v, slots, count, weights_stride, 2, m);
        blend_joined(g, v, slots, count, weights_stride, 3, m);
    }
    transpose_rows(m);
    for (int e = 0; e < 12; e++) {
        out[e] = m[e];
    }
}

ALWAYS_INLINE void blend_rows(const row_group *g, uint32_t v, wide m[12])
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

static void blend_with_extras(const pelt_skin_job *job, const row_group *g, const lane_extras *extras, wide m[12])
{
    for (uint32_t k = 0; k < 4; k++) {
        matrix_rows rows[WIDE / 4];
        for (uint32_t h = 0; h < WIDE / 4; h++) {
            rows[h] = blend_row(g, 4, 4, g->weights_stride, k + h * 4);
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

// --- loops

typedef enum blend_kind {
    BLEND_RIGID,
    BLEND_ROWS,
    BLEND_EACH
} blend_kind;

// The matrices of a group of vertices and the directions that they make. A group goes through its outputs one after the
// other: all matrices in registers are too many for most instruction sets, and while square roots and divisions of one
// block are under way, other blocks are worked at.
typedef struct group_matrices {
    wide m[GROUP_SIZE / WIDE][12];
    wide signs[GROUP_SIZE / WIDE];
    unsure_lanes unsure[GROUP_SIZE / WIDE];
    direction normals[GROUP_SIZE / WIDE];
    direction tangents[GROUP_SIZE / WIDE];
} group_matrices;

ALWAYS_INLINE void blend_group(const span *s, shape x, const row_group *g, uint32_t last, group_matrices *out)
{
    for (uint32_t v = g->first, i = 0; v < last; v += WIDE, i++) {
        if (x.tight) {
            block b;
            make_block(s, x, v, last, &b);
            prefetch_tight(s, &b);
        } else {
            prefetch_ahead(s, v);
        }
        blend_rows(g, v - g->first, out->m[i]);
        out->unsure[i] = (unsure_lanes){0, 0};
    }
}

// Signs and normals, these not yet of unit length.
ALWAYS_INLINE void begin_normals(const span *s, shape x, bool normals, uint32_t first, uint32_t last,
                                 group_matrices *in)
{
    for (uint32_t v = first, i = 0; v < last; v += WIDE, i++) {
        block b;
        direction *normal = &in->normals[i];
        wide_frame f = {.sign = wide_set(0.0F)};
        make_block(s, x, v, last, &b);
        make_cofactors(in->m[i], 0, 0, &f);
        find_unsure(in->m[i], NULL, &f);
        if (!x.tight) {
            skin_signs(s, &b, &f);
            in->signs[i] = f.sign;
        }
        if (normals) {
            make_cofactors(in->m[i], 1, 2, &f);
            make_normal(s, &b, x, &f, normal);
        }
        in->unsure[i] = (unsure_lanes){f.unsure | (normals ? normal->unsure : 0), f.unsure};
    }
}

// Of normals the end, of tangents the beginning.
ALWAYS_INLINE void begin_tangents(const span *s, shape x, bool normals, bool tangents, uint32_t first, uint32_t last,
                                  group_matrices *in)
{
    for (uint32_t v = first, i = 0; v < last; v += WIDE, i++) {
        block b;
        make_block(s, x, v, last, &b);
        if (normals) {
            find_scale(&s->plan->job, &in->normals[i]);
        }
        if (tangents) {
            wide_frame f = {.sign = x.tight ? wide_set(0.0F) : in->signs[i]};
            make_tangent(s, &b, x, in->m[i], &f, &in->tangents[i]);
            in->unsure[i].tangents |= in->tangents[i].unsure;
        }
        if (normals) {
            store_normal(s, &b, &in->normals[i]);
        }
    }
}

// Of tangents the end, and positions.
ALWAYS_INLINE void finish_group(const span *s, shape x, bool tangents, bool places, uint32_t first, uint32_t last,
                                group_matrices *in, wide_box *box)
{
    wide_box local = *box;
    for (uint32_t v = first, i = 0; v < last; v += WIDE, i++) {
        block b;
        make_block(s, x, v, last, &b);
        if (tangents) {
            find_scale(&s->plan->job, &in->tangents[i]);
        }
        if (places) {
            skin_positions(s, &b, x, in->m[i], &local);
        }
        if (tangents) {
            store_tangent(s, &b, &in->tangents[i]);
        }
    }
    *box = local;
}

static void mend_group(const span *s, uint32_t first, uint32_t last, const group_matrices *in)
{
    bool normals = s->plan->job.out_normals != NULL;
    bool tangents = s->plan->job.out_tangents != NULL;
    for (uint32_t v = first, i = 0; v < last; v += WIDE, i++) {
        unsure_lanes unsure = {normals ? in->unsure[i].normals : 0, tangents ? in->unsure[i].tangents : 0};
        if (unsure.normals | unsure.tangents) {
            mend_lanes(s, v, WIDE, unsure);
        }
    }
}

// s: a copy of the span and its plan, which stores to outputs cannot reach.
ALWAYS_INLINE void skin_group(const span *s, shape x, uint32_t first, uint32_t last, group_matrices *in, wide_box *box)
{
    const pelt_skin_job *job = &s->plan->job;
    bool signs = !x.tight && (job->out_mirrored || (job->flags & PELT_NORMAL_OUTWARD));
    bool places = job->out_positions || job->box;
    if (job->out_normals) {
        begin_normals(s, x, true, first, last, in);
    } else if (signs || job->out_tangents) {
        begin_normals(s, x, false, first, last, in);
    }
    if (job->out_normals && job->out_tangents) {
        begin_tangents(s, x, true, true, first, last, in);
    } else if (job->out_normals) {
        begin_tangents(s, x, true, false, first, last, in);
    } else if (job->out_tangents) {
        begin_tangents(s, x, false, true, first, last, in);
    }
    if (job->out_tangents && places) {
        finish_group(s, x, true, true, first, last, in, box);
    } else if (job->out_tangents) {
        finish_group(s, x, true, false, first, last, in, box);
    } else if (places) {
        finish_group(s, x, false, true, first, last, in, box);
    }
}

ALWAYS_INLINE void skin_rows(const span *s, shape x, row_group *g, uint32_t first, uint32_t last, wide_box *box)
{
    const pelti_skin_plan plan = *s->plan;
    span local = *s;
    local.plan = &plan;
    group_matrices matrices;
    uint32_t end = first;
    for (uint32_t v = first; v < last; v = end) {
        end = last - v < GROUP_SIZE ? last : v + GROUP_SIZE;
        load_group(s, false, v, end, g);
        blend_group(&local, x, g, end, &matrices);
        skin_group(&local, x, v, end, &matrices, box);
        mend_group(s, v, end, &matrices);
    }
}

static __attribute__((noinline)) void rows_floats(const span *s, row_group *g, uint32_t first, uint32_t last,
                                                  wide_box *box)
{
    skin_rows(s, TIGHT_FLOATS, g, first, last, box);
}

static __attribute__((noinline)) void rows_packed(const span *s, row_group *g, uint32_t first, uint32_t last,
                                                  wide_box *box)
{
    skin_rows(s, TIGHT_PACKED, g, first, last, box);
}

static __attribute__((noinline)) void rows_strided(const span *s, row_group *g, uint32_t first, uint32_t last,
                                                   wide_box *box)
{
    skin_rows(s, STRIDED, g, first, last, box);
}

// The blended matrices of one block; g and extras hold what they are made of.
static void blend_block(const span *s, const block *b, blend_kind kind, bool has_extras, row_group *g, wide m[12])
{
    const pelt_skin_job *job = &s->plan->job;
    if (kind == BLEND_RIGID) {
        for (int e = 0; e < 12; e++) {
            m[e] = wide_set(job->palette[0].m[e / 4][e % 4]);
        }
        return;
    }
    if (kind == BLEND_EACH) {
        blend_each(s, b->first, b->count, m);
        return;
    }
    load_group(s, has_extras, b->first, b->first + b->count, g);
    if (has_extras) {
        lane_extras extras;
        find_extras(s, b, &extras);
        blend_with_extras(job, g, &extras, m);
    } else {
        blend_rows(g, 0, m);
    }
}

// Any job, block by block.
static __attribute__((noinline)) void skin_general(const span *s, blend_kind kind, bool has_extras, row_group *g,
                                                   uint32_t first, uint32_t last, wide_box *box)
{
    padding p;
    for (uint32_t v = first; v < last; v += WIDE) {
        block b;
        wide m[12];
        make_block(s, GENERAL, v, last, &b);
        prefetch_ahead(s, v);
        if (needs_padding(s, &b)) {
            pad_block(s, &b, &p);
        }
        blend_block(s, &b, kind, has_extras, g, m);
        finish_block(s, &b, GENERAL, skin_blended(s, &b, GENERAL, m, NULL, box));
    }
}

static void skin_part(const span *s, bool has_extras, uint32_t first, uint32_t last, wide_box *box)
{
    const pelt_skin_job *job = &s->plan->job;
    bool listed = s->run && s->run->layout == PELT_JOINTS_RUN;
    if (job->influence_count == 0) {
        skin_general(s, BLEND_RIGID, false, NULL, first, last, box);
        return;
    }
    if (!listed && !rows_fit(job)) {
        skin_general(s, BLEND_EACH, false, NULL, first, last, box);
        return;
    }
    char list[PELT_RUN_JOINTS * LISTED_SIZE];
    row_group g;
    if (listed) {
        load_list(s, list);
    }
    init_group(job, listed ? list : NULL, &g);
    uint32_t middle = has_extras ? first : plain_end(s, first, last);
    if (first < middle) {
        if (is_tight(job, false)) {
            rows_floats(s, &g, first, middle, box);
        } else if (is_tight(job, true)) {
            rows_packed(s, &g, first, middle, box);
        } else {
            rows_strided(s, &g, first, middle, box);
        }
    }
    if (middle < last) {
        skin_general(s, BLEND_ROWS, has_extras, &g, middle, last, box);
    }
}

static pelt_box skin_wide(const pelti_skin_plan *plan, uint32_t first, uint32_t last)
{
    pelt_box box = skin_range(plan, first, last, skin_part);
    if (plan->streamed) {
        wide_fence();
    }
    return box;
}

static bool measure(const pelt_skin_job *job, float *square)
{
    const float none[4] = {0.0F};
    four_weights w = load_weights((const char *)none);
    matrix_rows highest = zero_matrix();
    matrix_rows zeros = zero_matrix();
    for (uint32_t j = 0; j < job->palette_count; j++) {
        const char *matrix = (const char *)pelti_skin_matrix(job, j);
        raise_sizes(matrix, &highest);
        add_matrix(matrix, &w, 0, &zeros);
    }
    float sizes[12];
    float sums[12];
    store_matrix(&highest, sizes);
    store_matrix(&zeros, sums);
    return finish_measure(sizes, sums, square);
}

#endif

// SPDX-License-Identifier: MIT
// The kernel of instruction sets for which nothing beats blending a whole matrix per vertex and influence and then
// transposing: AVX2, SSE2 and NEON. wide_blend.h blends; here are the loops over blocks. Beside what wide.h asks for,
// the file of one instruction set defines
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
#ifndef PELTI_SKIN_WIDE_KERNEL_H
#define PELTI_SKIN_WIDE_KERNEL_H

#include "skin/measure.h"
#include "skin/wide_blend.h"
#include "skin/wide_phases.h"

typedef enum blend_kind {
    BLEND_RIGID,
    BLEND_ROWS,
    BLEND_EACH
} blend_kind;

// What a loop writes, where that is known beforehand.
typedef struct outputs {
    bool known; // without it, whatever the job asks for
    bool normals;
    bool tangents;
} outputs;

// sure: where the determinant's sign is.
ALWAYS_INLINE void begin_frame(const wide m[12], wide_frame *f, wide_mask *sure)
{
    make_cofactors(m, 0, 0, f);
    f->determinant = wide_dot(m, f->cofactors);
    f->square = sum_squares(m);
    *sure = sure_by_squares(f->square, wide_mul(f->determinant, f->determinant));
}

// Positions first, then tangents, each stored before the next: what is left of the matrix goes with normals, so that
// registers suffice. One branch asks whether all lanes are sure of all directions; NaN is never.
ALWAYS_INLINE void skin_whole_block(const span *s, const span *whole, const block *b, shape x, outputs o,
                                    const wide m[12], wide_box *box)
{
    const pelt_skin_job *job = &s->plan->job;
    bool places = o.known || job->out_positions || job->box;
    bool normals = o.known ? o.normals : job->out_normals != NULL;
    bool tangents = o.known ? o.tangents : job->out_tangents != NULL;
    bool signs = !x.tight && (job->out_mirrored || (job->flags & PELT_NORMAL_OUTWARD));
    if (places) {
        skin_positions(s, b, x, m, box);
    }
    if (!signs && !normals && !tangents) {
        return;
    }
    wide_frame f = {.sign = wide_set(0.0F)};
    wide_mask sure;
    direction tangent = {.unsure = 0};
    direction normal = {.unsure = 0};
    wide lowest = wide_set(1.0F);
    wide highest = lowest;
    if (!x.tight) {
        begin_frame(m, &f, &sure);
        if (signs) {
            f.unsure = wide_mask_bits(sure) ^ ALL_LANES;
            skin_signs(s, b, &f);
            f.unsure = 0; // directions are judged at the end
        }
    }
    if (tangents) {
        make_tangent(s, b, x, m, &f, &tangent);
        lowest = tangent.length2;
        highest = lowest;
        find_scale(job, &tangent);
        store_tangent(s, b, &tangent);
    }
    if (x.tight) {
        begin_frame(m, &f, &sure);
    }
    if (normals) {
        make_cofactors(m, 1, 2, &f);
        make_normal(s, b, x, &f, &normal);
        lowest = tangents ? wide_min(lowest, normal.length2) : normal.length2;
        highest = tangents ? wide_add(highest, normal.length2) : normal.length2;
        find_scale(job, &normal);
        store_normal(s, b, &normal);
    }
    if (!normals && !tangents) {
        return;
    }
    wide_mask inside = wide_mask_and(wide_less(wide_set(0x1p-110F), lowest), wide_less(highest, wide_set(0x1p100F)));
    if (wide_mask_bits(wide_mask_and(sure, inside)) != ALL_LANES) {
        uint32_t frames = wide_mask_bits(sure) ^ ALL_LANES;
        unsure_lanes unsure = {0, 0};
        if (normals) {
            unsure.normals = normal.unsure | judge_normals(s, b, x, f.square, frames, normal.length2);
        }
        if (tangents) {
            unsure.tangents = tangent.unsure | judge_tangents(s, b, x, f.square, frames, tangent.length2);
        }
        if (unsure.normals | unsure.tangents) {
            mend_lanes(whole, b->first, WIDE, unsure);
        }
    }
}

ALWAYS_INLINE void blend_shape(const row_group *g, shape x, size_t v, wide m[12])
{
    if (x.tight) {
        blend_four(g, SHORT_STEPS, v, m);
    } else {
        blend_rows(g, SHORT_STEPS, v, m);
    }
}

// Elsewhere processors see the strides by themselves, and streams inside of one structure would be asked for many
// times.
ALWAYS_INLINE void prefetch_shape(const span *s, shape x, const block *b)
{
    if (x.tight) {
        prefetch_tight(s, b);
    }
}

// A group's vertices, whole blocks of them. s: a copy of the span and its plan, which stores to outputs cannot reach.
ALWAYS_INLINE void skin_group(const span *s, const span *whole, shape x, outputs o, const row_group *g, uint32_t end,
                              wide_box *box)
{
    bool in_phases = WIDE == 4 && !(o.known && !o.normals && !o.tangents);
    group_matrices matrices;
    for (uint32_t v = g->first, i = 0; v < end; v += WIDE, i++) {
        block b;
        wide m[12];
        make_block(s, x, v, end, &b);
        prefetch_shape(s, x, &b);
        blend_shape(g, x, v - g->first, in_phases ? matrices.m[i] : m);
        if (!in_phases) {
            skin_whole_block(s, whole, &b, x, o, m, box);
        }
    }
    if (in_phases) {
        skin_phases(s, x, g->first, end, &matrices, box);
        mend_group(whole, g->first, end, &matrices);
    }
}

ALWAYS_INLINE void skin_rows(const span *s, shape x, outputs o, row_group *g, uint32_t first, uint32_t last,
                             wide_box *box)
{
    pelti_skin_plan plan = *s->plan;
    if (o.known) {
        plan.job.out_direction_format = PELT_DIRECTION_FLOAT;
    }
    span local = *s;
    local.plan = &plan;
    wide_box inner = *box;
    uint32_t end = first;
    for (uint32_t v = first; v < last; v = end) {
        end = last - v < GROUP_SIZE ? last : v + GROUP_SIZE;
        load_group(s, false, v, end, g);
        skin_group(&local, s, x, o, g, end, &inner);
    }
    *box = inner;
}

static const outputs ANY_OUTPUTS = {false, false, false};
static const outputs ALL_OUTPUTS = {true, true, true};
static const outputs PLACES_ALONE = {true, false, false};

static __attribute__((noinline)) void rows_all(const span *s, row_group *g, uint32_t first, uint32_t last,
                                               wide_box *box)
{
    skin_rows(s, TIGHT_FLOATS, ALL_OUTPUTS, g, first, last, box);
}

static __attribute__((noinline)) void rows_places(const span *s, row_group *g, uint32_t first, uint32_t last,
                                                  wide_box *box)
{
    skin_rows(s, TIGHT_FLOATS, PLACES_ALONE, g, first, last, box);
}

static __attribute__((noinline)) void rows_floats(const span *s, row_group *g, uint32_t first, uint32_t last,
                                                  wide_box *box)
{
    skin_rows(s, TIGHT_FLOATS, ANY_OUTPUTS, g, first, last, box);
}

static __attribute__((noinline)) void rows_packed(const span *s, row_group *g, uint32_t first, uint32_t last,
                                                  wide_box *box)
{
    skin_rows(s, TIGHT_PACKED, ANY_OUTPUTS, g, first, last, box);
}

static __attribute__((noinline)) void rows_strided(const span *s, row_group *g, uint32_t first, uint32_t last,
                                                   wide_box *box)
{
    skin_rows(s, STRIDED, ANY_OUTPUTS, g, first, last, box);
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
        blend_rows(g, false, 0, m);
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

typedef void rows_function(const span *s, row_group *g, uint32_t first, uint32_t last, wide_box *box);

static rows_function *choose_rows(const pelt_skin_job *job)
{
    bool floats = is_tight(job, false);
    bool known = floats && job->out_direction_format == PELT_DIRECTION_FLOAT;
    if (known && job->out_positions && job->out_normals && job->out_tangents) {
        return rows_all;
    }
    bool places = job->out_positions || job->box;
    if (known && places && !job->out_normals && !job->out_tangents) {
        return rows_places;
    }
    return floats ? rows_floats : is_tight(job, true) ? rows_packed : rows_strided;
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
    _Alignas(64) char list[PELT_RUN_JOINTS * LISTED_SIZE];
    row_group g;
    if (listed) {
        load_list(s, list);
    }
    init_group(job, listed ? list : NULL, &g);
    bool plain = !has_extras && (!SHORT_STEPS || short_steps_fit(&g));
    uint32_t middle = plain ? plain_end(s, first, last) : first;
    if (first < middle) {
        g.short_steps = SHORT_STEPS;
        choose_rows(job)(s, &g, first, middle, box);
    }
    if (middle < last) {
        g.short_steps = false;
        skin_general(s, BLEND_ROWS, has_extras, &g, middle, last, box);
    }
}

static pelt_box skin_wide(const pelti_skin_plan *plan, uint32_t first, uint32_t last)
{
    return skin_range(plan, first, last, skin_part);
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

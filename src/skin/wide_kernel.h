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
#ifndef PELTI_SKIN_WIDE_KERNEL_H
#define PELTI_SKIN_WIDE_KERNEL_H

#include "skin/measure.h"
#include "skin/wide_phases.h"

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

// --- loops

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

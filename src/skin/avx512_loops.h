// SPDX-License-Identifier: MIT
// Loops over straight blocks, compiled for each kind of streams, and which of them fits a job.
#ifndef PELTI_SKIN_AVX512_LOOPS_H
#define PELTI_SKIN_AVX512_LOOPS_H

#include "skin/avx512_straight.h"

// Directions of a block are scaled and stored after the next block's matrices are blended: square roots and divisions
// take longer than all else and the processor does not look so far ahead by itself.
WIDE_INLINE void skin_straight(const straight_streams *streams, straight x, const wide *table, uint32_t count,
                               wide_box *box, unsure_blocks *unsure)
{
    const straight_streams copy = *streams; // which stores to outputs cannot reach
    // Multiples of strides are more than there are registers: they are made anew for each block.
    const straight_streams *s = x.strided ? streams : &copy;
    wide_box local = *box; // in registers
    directions d = {.normal = {.scale = wide_set(0.0F)}};
    _Alignas(64) uint32_t offsets[2][WIDE * 4]; // of this block and the next
    if (x.blend == STRAIGHT_ROWS) {
        load_row_offsets(s->rows, s->joints, s->joints_stride, offsets[0]);
    }
    for (size_t i = 0; i < count; i++) {
        wide m[12];
        __mmask16 sure = 0;
        if (x.blend == STRAIGHT_ROWS) {
            size_t stride = stride_of(x, s->weights_stride, 4 * sizeof(float));
            if (i + 1 < count) {
                load_row_offsets(s->rows, s->joints + (i + 1) * WIDE * s->joints_stride, s->joints_stride,
                                 offsets[(i + 1) & 1]);
            }
            blend_offsets(s->rows, s->weights + i * WIDE * stride, stride, offsets[i & 1], m);
        } else {
            if (s->ahead) {
                prefetch_inputs(s, x, i);
            }
            sure = blend_tables(s, x, table, i, m);
        }
        finish_positions(s, x, i, m, &local);
        if (i > 0) {
            finish_directions(s, x, i - 1, &d);
        }
        if (x.directions > 0) {
            begin_directions(s, x, i, m, sure, &d, unsure);
        }
    }
    finish_directions(s, x, count - 1, &d);
    *box = local;
}

// count: of blocks, at least one and at most STRAIGHT_BLOCKS.
typedef void straight_loop(const straight_streams *s, const wide *table, uint32_t count, wide_box *box,
                           unsure_blocks *unsure);

#define STRAIGHT_LOOP(name, ...)                                                                                       \
    static __attribute__((noinline)) void name(const straight_streams *s, const wide *table, uint32_t count,           \
                                               wide_box *box, unsure_blocks *unsure)                                   \
    {                                                                                                                  \
        skin_straight(s, (straight){__VA_ARGS__}, table, count, box, unsure);                                          \
    }
#define STRAIGHT_LOOPS(name, ...)                                                                                      \
    STRAIGHT_LOOP(name##_positions, __VA_ARGS__, .directions = 0)                                                      \
    STRAIGHT_LOOP(name##_normals, __VA_ARGS__, .directions = 1)                                                        \
    STRAIGHT_LOOP(name##_tangents, __VA_ARGS__, .directions = 2)                                                       \
    static straight_loop *const name[3] = {name##_positions, name##_normals, name##_tangents};
STRAIGHT_LOOPS(narrow_floats, .blend = STRAIGHT_NARROW, .slots = 4)
STRAIGHT_LOOPS(narrow_codes, .blend = STRAIGHT_NARROW, .slots = 4, .codes = true)
STRAIGHT_LOOPS(narrow_packed, .blend = STRAIGHT_NARROW, .slots = 4, .packed = true)
STRAIGHT_LOOPS(narrow_packed_codes, .blend = STRAIGHT_NARROW, .slots = 4, .packed = true, .codes = true)
STRAIGHT_LOOPS(narrow_eight, .blend = STRAIGHT_NARROW, .slots = 8)
STRAIGHT_LOOPS(narrow_words, .blend = STRAIGHT_NARROW, .slots = 4, .words = true)
STRAIGHT_LOOPS(listed_floats, .blend = STRAIGHT_LISTED, .slots = 4)
STRAIGHT_LOOPS(listed_codes, .blend = STRAIGHT_LISTED, .slots = 4, .codes = true)
STRAIGHT_LOOPS(listed_packed, .blend = STRAIGHT_LISTED, .slots = 4, .packed = true)
STRAIGHT_LOOPS(listed_packed_codes, .blend = STRAIGHT_LISTED, .slots = 4, .packed = true, .codes = true)
STRAIGHT_LOOPS(listed_eight, .blend = STRAIGHT_LISTED, .slots = 8)
STRAIGHT_LOOPS(listed_words, .blend = STRAIGHT_LISTED, .slots = 4, .words = true)
STRAIGHT_LOOPS(rows_tight, .blend = STRAIGHT_ROWS, .slots = 4)
STRAIGHT_LOOPS(rows_strided, .blend = STRAIGHT_ROWS, .slots = 4, .strided = true)
#undef STRAIGHT_LOOPS
#undef STRAIGHT_LOOP

static int count_directions(const pelt_skin_job *job)
{
    return job->out_tangents ? 2 : job->out_normals ? 1 : 0;
}

// Whether straight loops fit but for how streams lie.
static bool is_straight(const pelt_skin_job *job)
{
    bool signs = job->out_mirrored || (job->flags & PELT_NORMAL_OUTWARD);
    return !signs && (job->out_positions || job->box) && (job->out_normals || !job->out_tangents);
}

// Float streams with eight influences, all of them tight.
static bool is_tight_eight(const pelt_skin_job *job)
{
    pelt_skin_job four = *job;
    four.influence_count = 4;
    four.weights_stride = 4 * sizeof(float);
    return job->influence_count == 8 && job->weights_stride == 8 * sizeof(float) && is_tight(&four, false);
}

// The loop for a run of listed joints, or NULL.
static straight_loop *find_table_loop(const pelt_skin_job *job, bool two_tables)
{
    // by tables, kind and directions
    static straight_loop *const *const loops[2][5] = {
        {narrow_floats, narrow_codes, narrow_packed, narrow_packed_codes, narrow_eight},
        {listed_floats, listed_codes, listed_packed, listed_packed_codes, listed_eight}};
    bool codes = job->out_direction_format == PELT_DIRECTION_OCTAHEDRAL && job->out_normals;
    if (!is_straight(job)) {
        return NULL;
    }
    int kind = -1;
    if (is_tight(job, false)) {
        kind = codes ? 1 : 0;
    } else if (is_tight(job, true)) {
        kind = codes ? 3 : 2;
    } else if (is_tight_eight(job) && !codes) {
        kind = 4;
    }
    return kind < 0 ? NULL : loops[two_tables][kind][count_directions(job)];
}

// The loop for plain indices into a palette that fits tables, or NULL.
static straight_loop *find_word_loop(const span *s)
{
    const pelt_skin_job *job = &s->plan->job;
    bool codes = job->out_direction_format == PELT_DIRECTION_OCTAHEDRAL && job->out_normals;
    if (s->run || job->palette_count > PELT_RUN_JOINTS || s->joints_stride != 4 * sizeof(uint16_t) || codes ||
        !is_straight(job) || !is_tight(job, false)) {
        return NULL;
    }
    return job->palette_count > 16 ? listed_words[count_directions(job)] : narrow_words[count_directions(job)];
}

// The loop for whole matrices, or NULL.
static straight_loop *find_row_loop(const span *s)
{
    const pelt_skin_job *job = &s->plan->job;
    bool floats = job->weight_format == PELT_WEIGHT_FLOAT && job->influence_count == 4 &&
                  (!job->out_normals || (job->direction_format == PELT_DIRECTION_FLOAT &&
                                         job->out_direction_format == PELT_DIRECTION_FLOAT));
    if (!is_straight(job) || !floats) {
        return NULL;
    }
    return is_tight(job, false) ? rows_tight[count_directions(job)] : rows_strided[count_directions(job)];
}

static void mend_blocks(const span *s, uint32_t first, const unsure_blocks *unsure)
{
    for (uint32_t i = 0; i < unsure->count; i++) {
        const unsure_lanes lanes = {unsure->at[i].normals, unsure->at[i].tangents};
        mend_lanes(s, first + (uint32_t)unsure->at[i].block * WIDE, WIDE, lanes);
    }
}

static void find_streams(const span *s, uint32_t v, straight_streams *out)
{
    const pelt_skin_job *job = &s->plan->job;
    out->positions = element(job->positions, job->positions_stride, v);
    out->normals = element(job->normals, job->normals_stride, v);
    out->tangents = element(job->tangents, job->tangents_stride, v);
    out->weights = element(job->weights, job->weights_stride, v);
    out->joints = element(s->joints, s->joints_stride, v - s->first_vertex);
    out->out_positions = job->out_positions ? element(job->out_positions, job->out_positions_stride, v) : NULL;
    out->out_normals = element(job->out_normals, job->out_normals_stride, v);
    out->out_tangents = element(job->out_tangents, job->out_tangents_stride, v);
}

static straight_streams make_streams(const span *s, wide bound, const row_source *rows)
{
    const pelt_skin_job *job = &s->plan->job;
    return (straight_streams){.positions_stride = job->positions_stride,
                              .normals_stride = job->normals_stride,
                              .tangents_stride = job->tangents_stride,
                              .weights_stride = job->weights_stride,
                              .joints_stride = s->joints_stride,
                              .out_positions_stride = job->out_positions_stride,
                              .out_normals_stride = job->out_normals_stride,
                              .out_tangents_stride = job->out_tangents_stride,
                              .bound = bound,
                              .rows = rows,
                              .sorted = job->weight_format == PELT_WEIGHT_SORTED,
                              .streamed = s->plan->streamed,
                              .ahead = job->vertex_count >= AHEAD_VERTICES};
}

// Whole blocks [first, last).
static void skin_straight_span(const span *s, straight_loop *loop, const wide *table, const row_source *rows,
                               wide bound, uint32_t first, uint32_t last, wide_box *box)
{
    straight_streams streams = make_streams(s, bound, rows);
    for (uint32_t v = first; v < last; v += STRAIGHT_LIMIT) {
        uint32_t count = last - v < STRAIGHT_LIMIT ? last - v : STRAIGHT_LIMIT;
        unsure_blocks unsure;
        unsure.count = 0;
        find_streams(s, v, &streams);
        loop(&streams, table, count / WIDE, box, &unsure);
        mend_blocks(s, v, &unsure);
    }
}

#endif

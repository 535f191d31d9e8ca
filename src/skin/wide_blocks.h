// SPDX-License-Identifier: MIT
// Loops over blocks for all wide kernels: where a block's streams lie, padding for the last one, prefetching, and what
// the scalar kernel makes again.
#ifndef PELTI_SKIN_WIDE_BLOCKS_H
#define PELTI_SKIN_WIDE_BLOCKS_H

#include "skin/influences.h"
#include "skin/wide_directions.h"

#include <math.h>

enum {
    AHEAD_STEP = 16,  // vertices that are prefetched at once
    AHEAD_STEPS = 8,  // as many steps before they are needed
    PADDED_SIZE = 32, // bytes of the weights of one vertex that can be padded
    PADDED_JOINTS = 8 // and of its joints
};

// A block that does not fill WIDE lanes: the first vertex again in the others.
typedef struct padding {
    float positions[WIDE * 3];
    float normals[WIDE * 3];
    float tangents[WIDE * 4];
    float out_positions[WIDE * 3];
    float out_normals[WIDE * 3];
    float out_tangents[WIDE * 4];
    char weights[WIDE * PADDED_SIZE];
    char joints[WIDE * PADDED_JOINTS];
} padding;

// By way of integers: streams that are not there have no address to count from.
ALWAYS_INLINE char *element(const void *data, size_t stride, uint32_t index)
{
    return (char *)((uintptr_t)data + stride * (uintptr_t)index);
}

static size_t direction_size(pelt_direction_format format, size_t components)
{
    return format == PELT_DIRECTION_OCTAHEDRAL ? sizeof(uint32_t) : components * sizeof(float);
}

// --- padding

static void pad_stream(const char **data, size_t *stride, size_t size, uint32_t count, void *copy)
{
    char *to = (char *)copy;
    for (uint32_t i = 0; i < WIDE; i++) {
        memcpy(to + i * size, *data + *stride * (i < count ? i : 0), size);
    }
    *data = to;
    *stride = size;
}

static __attribute__((noinline)) void pad_block(const span *s, block *b, padding *p)
{
    const pelt_skin_job *job = &s->plan->job;
    pelt_direction_format format = job->direction_format;
    b->copied = true;
    if (job->out_positions || job->box) {
        pad_stream(&b->positions, &b->positions_stride, 3 * sizeof(float), b->count, p->positions);
    }
    if (job->out_normals) {
        pad_stream(&b->normals, &b->normals_stride, direction_size(format, 3), b->count, p->normals);
    }
    if (job->out_tangents) {
        pad_stream(&b->tangents, &b->tangents_stride, direction_size(format, 4), b->count, p->tangents);
    }
    if (s->run && s->run->layout == PELT_JOINTS_RUN) {
        pad_stream(&b->weights, &b->weights_stride, s->weights_size, b->count, p->weights);
        pad_stream(&b->joints, &b->joints_stride, s->joints_stride, b->count, p->joints);
    }
    b->out_positions = (char *)p->out_positions;
    b->out_normals = (char *)p->out_normals;
    b->out_tangents = (char *)p->out_tangents;
    b->out_positions_stride = 3 * sizeof(float);
    b->out_normals_stride = direction_size(job->out_direction_format, 3);
    b->out_tangents_stride = direction_size(job->out_direction_format, 4);
}

static void copy_out(const block *b, const char *from, size_t size, void *data, size_t stride)
{
    for (uint32_t i = 0; data && i < b->count; i++) {
        memcpy((char *)data + stride * (b->first + (size_t)i), from + size * i, size);
    }
}

// What the padded outputs hold of real vertices.
static __attribute__((noinline)) void unpad_block(const pelt_skin_job *job, const block *b)
{
    copy_out(b, b->out_positions, 3 * sizeof(float), job->out_positions, job->out_positions_stride);
    copy_out(b, b->out_normals, b->out_normals_stride, job->out_normals, job->out_normals_stride);
    copy_out(b, b->out_tangents, b->out_tangents_stride, job->out_tangents, job->out_tangents_stride);
}

// Values, so that a block need not lie in memory.
static __attribute__((noinline)) void mend_lanes(const span *s, uint32_t first, uint32_t count, unsure_lanes unsure)
{
    for (uint32_t lane = 0; lane < WIDE; lane++) {
        uint32_t vertex = lane_vertices[lane];
        if (vertex < count && unsure.normals >> lane & 1) {
            pelti_skin_scalar_normal(s->plan, s->run, first + vertex);
        }
        if (vertex < count && unsure.tangents >> lane & 1) {
            pelti_skin_scalar_tangent(s->plan, s->run, first + vertex);
        }
    }
}

ALWAYS_INLINE void finish_block(const span *s, const block *b, shape x, unsure_lanes unsure)
{
    if (!x.plain && b->copied) {
        unpad_block(&s->plan->job, b);
    }
    if (unsure.normals | unsure.tangents) {
        mend_lanes(s, b->first, b->count, unsure);
    }
}

// --- blocks

static bool loads_past_end(const pelt_skin_job *job)
{
    bool places = job->out_positions || job->box;
    bool floats = job->out_normals && job->direction_format == PELT_DIRECTION_FLOAT;
    return (places && job->positions_stride != 3 * sizeof(float)) ||
           (floats && job->normals_stride != 3 * sizeof(float));
}

// The streams of vertices [v, end), of which the block takes the first.
ALWAYS_INLINE void make_block(const span *s, shape x, uint32_t v, uint32_t end, block *b)
{
    const pelt_skin_job *job = &s->plan->job;
    size_t code = sizeof(uint32_t);
    b->first = v;
    b->count = x.plain || end - v >= WIDE ? WIDE : end - v;
    b->copied = false;
    b->positions_stride = x.tight ? 3 * sizeof(float) : job->positions_stride;
    b->normals_stride = x.packed ? code : x.tight ? 3 * sizeof(float) : job->normals_stride;
    b->tangents_stride = x.packed ? code : x.tight ? 4 * sizeof(float) : job->tangents_stride;
    b->weights_stride = x.packed ? code : x.tight ? 4 * sizeof(float) : job->weights_stride;
    b->joints_stride = s->joints_stride;
    b->positions = element(job->positions, b->positions_stride, v);
    b->normals = element(job->normals, b->normals_stride, v);
    b->tangents = element(job->tangents, b->tangents_stride, v);
    b->weights = element(job->weights, b->weights_stride, v);
    b->joints = element(s->joints, b->joints_stride, v - s->first_vertex);
    b->out_positions_stride = x.tight ? 3 * sizeof(float) : job->out_positions_stride;
    b->out_normals_stride = job->out_normals_stride;
    b->out_tangents_stride = job->out_tangents_stride;
    if (x.tight) {
        bool codes = job->out_direction_format == PELT_DIRECTION_OCTAHEDRAL;
        b->out_normals_stride = codes ? code : 3 * sizeof(float);
        b->out_tangents_stride = codes ? code : 4 * sizeof(float);
    }
    b->out_positions = element(job->out_positions, b->out_positions_stride, v);
    b->out_normals = element(job->out_normals, b->out_normals_stride, v);
    b->out_tangents = element(job->out_tangents, b->out_tangents_stride, v);
}

static bool needs_padding(const span *s, const block *b)
{
    return b->count < WIDE || (b->first + WIDE == s->plan->job.vertex_count && loads_past_end(&s->plan->job));
}

// Whether tight loops fit: the streams that are wanted are tight, and all packed or all floats; four influences; no
// signs.
static bool is_tight(const pelt_skin_job *job, bool packed)
{
    pelt_direction_format in = packed ? PELT_DIRECTION_OCTAHEDRAL : PELT_DIRECTION_FLOAT;
    pelt_direction_format out = job->out_direction_format;
    size_t weights = packed ? sizeof(uint32_t) : 4 * sizeof(float);
    bool directed = job->out_normals || job->out_tangents;
    bool formats = (!directed || job->direction_format == in) &&
                   (packed ? pelti_skin_weights_packed(job) : job->weight_format == PELT_WEIGHT_FLOAT);
    bool signs = job->out_mirrored || (job->flags & PELT_NORMAL_OUTWARD);
    return formats && !signs && job->influence_count == 4 && job->weights_stride == weights &&
           (!(job->out_positions || job->box) || job->positions_stride == 3 * sizeof(float)) &&
           (!job->out_positions || job->out_positions_stride == 3 * sizeof(float)) &&
           (!job->out_normals ||
            (job->normals_stride == direction_size(in, 3) && job->out_normals_stride == direction_size(out, 3))) &&
           (!job->out_tangents ||
            (job->tangents_stride == direction_size(in, 4) && job->out_tangents_stride == direction_size(out, 4)));
}

// Where a loop over whole blocks must end that knows neither morphs nor padding.
static uint32_t plain_end(const span *s, uint32_t first, uint32_t last)
{
    const pelt_skin_job *job = &s->plan->job;
    if (s->plan->morphed) {
        return first;
    }
    uint32_t end = first + (last - first) / WIDE * WIDE;
    return end > first && end == job->vertex_count && loads_past_end(job) ? end - WIDE : end;
}

// --- prefetching

static void add_stream(span *s, const void *data, size_t stride)
{
    stream_ahead *stream = &s->ahead[s->ahead_count++];
    stream->size = stride * AHEAD_STEP;
    stream->data = (uintptr_t)data + stream->size * AHEAD_STEPS;
    stream->stride = stride;
    stream->step = stride > 64 ? stride : 64;
}

// Streams inside of one vertex structure are prefetched more than once, which costs less than telling them apart.
static void add_streams(span *s)
{
    const pelt_skin_job *job = &s->plan->job;
    if (job->out_positions || job->box) {
        add_stream(s, job->positions, job->positions_stride);
    }
    if (job->out_normals) {
        add_stream(s, job->normals, job->normals_stride);
    }
    if (job->out_tangents) {
        add_stream(s, job->tangents, job->tangents_stride);
    }
    if (job->influence_count > 0) {
        add_stream(s, job->weights, job->weights_stride);
        add_stream(s, (const char *)((uintptr_t)s->joints - s->joints_stride * s->first_vertex), s->joints_stride);
    }
}

// What the loop comes to after some more blocks: without it, vectors of whole cache lines stall on each line beyond the
// inner caches.
ALWAYS_INLINE void prefetch_ahead(const span *s, uint32_t v)
{
    if (v % AHEAD_STEP != 0) {
        return;
    }
    for (uint32_t i = 0; i < s->ahead_count; i++) {
        const stream_ahead *stream = &s->ahead[i];
        uintptr_t at = stream->data + stream->stride * v;
        for (size_t offset = 0; offset < stream->size; offset += stream->step) {
            __builtin_prefetch((const void *)(at + offset));
        }
    }
}

ALWAYS_INLINE void prefetch_stream(const char *data, size_t stride)
{
    for (size_t offset = 0; offset < stride * AHEAD_STEP; offset += 64) {
        __builtin_prefetch((const void *)((uintptr_t)data + stride * AHEAD_STEP * AHEAD_STEPS + offset));
    }
}

// The same of tight streams, whose numbers of lines are known.
ALWAYS_INLINE void prefetch_tight(const span *s, const block *b)
{
    const pelt_skin_job *job = &s->plan->job;
    if (b->first % AHEAD_STEP != 0) {
        return;
    }
    prefetch_stream(b->positions, b->positions_stride);
    prefetch_stream(b->weights, b->weights_stride);
    prefetch_stream(b->joints, sizeof(uint32_t));
    if (job->out_normals) {
        prefetch_stream(b->normals, b->normals_stride);
    }
    if (job->out_tangents) {
        prefetch_stream(b->tangents, b->tangents_stride);
    }
}

// --- spans

static span make_span(const pelti_skin_plan *plan, const pelt_run *run)
{
    const pelt_skin_job *job = &plan->job;
    size_t count = job->influence_count;
    span s = {.plan = plan, .run = run, .joints = job->joints, .joints_stride = job->joints_stride};
    if (run) {
        s.first_vertex = run->first_vertex;
        s.joints += run->joints_offset;
        s.joints_stride = count * (run->layout == PELT_JOINTS_DIRECT16 ? sizeof(uint16_t) : 1);
    }
    bool words = job->weight_format == PELT_WEIGHT_UNORM16;
    s.weights_size =
        pelti_skin_weights_packed(job) ? sizeof(uint32_t) : count * (words ? sizeof(uint16_t) : sizeof(float));
    add_streams(&s);
    return s;
}

// Vertices of the run before this one have no extras.
static uint32_t extras_begin(const span *s)
{
    const pelt_run *run = s->run;
    uint32_t last_class = run->class_counts[4];
    if (last_class == 0 || !pelti_skin_weights_packed(&s->plan->job)) {
        return run->first_vertex + run->vertex_count;
    }
    uint32_t narrow = s->plan->job.runs->ordered ? run->vertex_count - last_class : 0;
    return run->first_vertex + narrow / WIDE * WIDE;
}

// The influences after the first four, by lane, and what is left to those.
typedef struct lane_extras {
    const pelt_extra_influence *first[WIDE];
    uint32_t count[WIDE];
    float shares[WIDE];
} lane_extras;

static void find_extras(const span *s, const block *b, lane_extras *out)
{
    for (uint32_t lane = 0; lane < WIDE; lane++) {
        uint32_t v = lane_vertices[lane];
        uint32_t vertex = b->first + (v < b->count ? v : 0);
        out->first[lane] = NULL;
        out->count[lane] = pelti_skin_extras(s->plan->job.runs, s->run, vertex, &out->first[lane]);
        out->shares[lane] = pelti_skin_share(out->first[lane], out->count[lane]);
    }
}

// Vertices [first, last) of the span, with or without extras.
typedef void span_function(const span *s, bool has_extras, uint32_t first, uint32_t last, wide_box *box);

static void skin_span(const span *s, uint32_t first, uint32_t last, wide_box *box, span_function *skin)
{
    uint32_t middle = last;
    if (s->run) { // vertices with extras stand last
        uint32_t begin = extras_begin(s);
        middle = begin < first ? first : begin < last ? begin : last;
    }
    if (first < middle) {
        skin(s, false, first, middle, box);
    }
    if (middle < last) {
        skin(s, true, middle, last, box);
    }
}

static wide_box empty_box(void)
{
    wide_box box;
    for (int k = 0; k < 3; k++) {
        box.low[k] = wide_set(HUGE_VALF);
        box.high[k] = wide_set(-HUGE_VALF);
    }
    return box;
}

// Strict comparisons of floats that are never -0 nor NaN: any order gives the same.
static pelt_box reduce_box(const wide_box *box)
{
    pelt_box out = pelt_box_empty();
    for (int k = 0; k < 3; k++) {
        float low[WIDE];
        float high[WIDE];
        wide_store(low, box->low[k]);
        wide_store(high, box->high[k]);
        for (int lane = 0; lane < WIDE; lane++) {
            out.min[k] = low[lane] < out.min[k] ? low[lane] : out.min[k];
            out.max[k] = high[lane] > out.max[k] ? high[lane] : out.max[k];
        }
    }
    return out;
}

// All runs of [first, last), or all of it at once.
static pelt_box skin_range(const pelti_skin_plan *plan, uint32_t first, uint32_t last, span_function *skin)
{
    const pelt_joint_runs *runs = plan->job.runs;
    wide_box box = empty_box();
    if (!runs) {
        span s = make_span(plan, NULL);
        skin_span(&s, first, last, &box, skin);
        return reduce_box(&box);
    }
    uint32_t end = 0;
    for (uint32_t r = pelti_skin_find_run(runs, first); first < last; r++, first = end) {
        const pelt_run *run = &runs->runs[r];
        uint32_t rest = last - run->first_vertex;
        end = run->first_vertex + (run->vertex_count < rest ? run->vertex_count : rest);
        span s = make_span(plan, run);
        skin_span(&s, first, end, &box, skin);
    }
    return reduce_box(&box);
}

#endif

// SPDX-License-Identifier: MIT
// The portable kernel: linear blend skinning in float, one vertex at a time. It is the twin that every other kernel is
// compared with, so it stays in float where float is enough and says where it is not.
#include "skin/scalar.h"

#include "skin/influences.h"
#include "skin/measure.h"
#include "skin/scalar_directions.h"
#include "skin/stage.h"

#include <math.h>

// A stream of floats to read, stride bytes apart.
typedef struct stream {
    const char *data;
    size_t stride;
} stream;

// The inputs of one block: the job's own streams, or staged copies.
typedef struct block {
    uint32_t first;
    uint32_t count;
    const pelt_run *run;
    stream positions;
    stream normals;
    stream tangents;
} block;

static const float *floats_at(stream s, uint32_t index)
{
    return (const float *)(const void *)(s.data + s.stride * index);
}

static void *out_element(void *data, size_t stride, uint32_t vertex)
{
    return (char *)data + stride * vertex;
}

// --- blending

// Sum of weight times matrix. A lone weight of one gives the matrix as it is, since 1 * x is x.
typedef struct sum {
    float m[12];
    bool begun;
} sum;

static inline void add(const pelt_skin_job *job, uint32_t joint, float weight, sum *out)
{
    const float *matrix = &pelti_skin_matrix(job, joint)->m[0][0];
    if (!out->begun) {
        for (int k = 0; k < 12; k++) {
            out->m[k] = weight * matrix[k];
        }
        out->begun = true;
        return;
    }
    for (int k = 0; k < 12; k++) {
        out->m[k] += weight * matrix[k];
    }
}

// The usual streams; the others take several times as long.
static void blend_floats(const pelt_skin_job *job, uint32_t vertex, sum *out)
{
    const uint16_t *joints = (const uint16_t *)(const void *)((const char *)job->joints + job->joints_stride * vertex);
    const float *weights = (const float *)(const void *)((const char *)job->weights + job->weights_stride * vertex);
    for (uint32_t i = 0; i < job->influence_count; i++) {
        if (weights[i] != 0.0F) { // else its joint may be out of range
            add(job, joints[i], weights[i], out);
        }
    }
}

static void blend(const pelt_skin_job *job, const pelt_run *run, uint32_t vertex, pelt_mat34 *out)
{
    if (job->influence_count == 0) {
        *out = job->palette[0];
        return;
    }
    sum total = {.begun = false};
    if (!run && job->weight_format == PELT_WEIGHT_FLOAT) {
        blend_floats(job, vertex, &total);
    } else {
        pelti_influences in;
        pelti_skin_influences(job, run, vertex, &in);
        for (uint32_t i = 0; i < in.count + in.extra_count; i++) {
            uint32_t joint = 0;
            float weight = 0.0F;
            if (pelti_skin_influence(&in, i, &joint, &weight)) {
                add(job, joint, weight, &total);
            }
        }
    }
    memcpy(out, total.m, sizeof *out);
}

// --- vertices

// The translation comes last: it is mostly the largest term, and what it swallows is then swallowed once.
// Adding +0 turns -0 into +0 and changes nothing else: of two zeros of different signs, min and max would keep the one
// they met first, and the box would depend on the order of vertices.
static void transform_point(const pelt_mat34 *m, const float p[3], float out[3])
{
    for (int i = 0; i < 3; i++) {
        const float *r = m->m[i];
        out[i] = (((r[0] * p[0] + r[1] * p[1]) + r[2] * p[2]) + r[3]) + 0.0F;
    }
}

static float sign_of(const pelt_skin_job *job, const frame *f)
{
    return f->mirrored && (job->flags & PELT_NORMAL_OUTWARD) ? -1.0F : 1.0F;
}

static void write_normal(const pelt_skin_job *job, uint32_t vertex, const pelt_mat34 *m, const frame *f, const float *n)
{
    void *out = out_element(job->out_normals, job->out_normals_stride, vertex);
    if (job->out_direction_format == PELT_DIRECTION_FLOAT) {
        skin_normal(m, f, n, sign_of(job, f), out);
        return;
    }
    float v[3];
    skin_normal(m, f, n, sign_of(job, f), v);
    *(uint32_t *)out = octahedral_code(v, 32767.0F, 0xFFFFU);
}

static void write_tangent(const pelt_skin_job *job, uint32_t vertex, const pelt_mat34 *m, const frame *f,
                          const float *t)
{
    void *out = out_element(job->out_tangents, job->out_tangents_stride, vertex);
    if (job->out_direction_format == PELT_DIRECTION_FLOAT) {
        skin_tangent(m, f, t, sign_of(job, f), out);
        return;
    }
    float v[4];
    skin_tangent(m, f, t, sign_of(job, f), v);
    *(uint32_t *)out = octahedral_code(v, 16383.0F, 0x7FFFU) | (v[3] < 0.0F ? 0x80000000U : 0U);
}

static void skin_directions(const pelt_skin_job *job, const block *b, uint32_t i, const pelt_mat34 *m, const frame *f)
{
    uint32_t vertex = b->first + i;
    if (job->out_normals) {
        write_normal(job, vertex, m, f, floats_at(b->normals, i));
    }
    if (job->out_tangents) {
        write_tangent(job, vertex, m, f, floats_at(b->tangents, i));
    }
    if (job->out_mirrored) {
        job->out_mirrored[job->out_mirrored_stride * vertex] = f->mirrored;
    }
}

static bool needs_signs(const pelt_skin_job *job)
{
    return job->out_mirrored || (job->flags & PELT_NORMAL_OUTWARD);
}

static void skin_block(const pelt_skin_job *job, const block *b, pelt_box *box)
{
    bool directions = job->out_normals || job->out_tangents || job->out_mirrored;
    bool places = job->out_positions || job->box;
    float low[3] = {box->min[0], box->min[1], box->min[2]};
    float high[3] = {box->max[0], box->max[1], box->max[2]};
    pelt_mat34 m = {{{0}}};
    frame f = {.mirrored = false};
    for (uint32_t i = 0; i < b->count; i++) {
        bool fresh = i == 0 || job->influence_count > 0;
        if (fresh) {
            blend(job, b->run, b->first + i, &m);
        }
        if (places) {
            float p[3];
            transform_point(&m, floats_at(b->positions, i), p);
            if (job->out_positions) {
                float *out = out_element(job->out_positions, job->out_positions_stride, b->first + i);
                out[0] = p[0];
                out[1] = p[1];
                out[2] = p[2];
            }
            for (int k = 0; k < 3; k++) {
                low[k] = p[k] < low[k] ? p[k] : low[k];
                high[k] = p[k] > high[k] ? p[k] : high[k];
            }
        }
        if (directions) {
            if (fresh) {
                make_frame(&m, &f);
                f.mirrored = needs_signs(job) && is_mirrored(&m, &f);
            }
            skin_directions(job, b, i, &m, &f);
        }
    }
    for (int k = 0; k < 3; k++) {
        box->min[k] = low[k];
        box->max[k] = high[k];
    }
}

static stream input_stream(const void *data, size_t stride, uint32_t first)
{
    stream s = {.data = data ? (const char *)data + stride * first : NULL, .stride = stride};
    return s;
}

// Vertices from v on that one block takes: of one run, and as many as can be staged.
static uint32_t block_size(const block *b, uint32_t v, uint32_t last)
{
    uint32_t end = b->run && last - b->run->first_vertex > b->run->vertex_count
                       ? b->run->first_vertex + b->run->vertex_count
                       : last;
    return end - v < STAGE_SIZE ? end - v : STAGE_SIZE;
}

static pelt_box skin_scalar(const pelti_skin_plan *plan, uint32_t first, uint32_t last)
{
    const pelt_skin_job *job = &plan->job;
    bool staged = plan->morphed || job->direction_format == PELT_DIRECTION_OCTAHEDRAL;
    uint32_t run = job->runs ? pelti_skin_find_run(job->runs, first) : 0;
    pelt_box box = pelt_box_empty();
    block b = {.count = 0};
    for (uint32_t v = first; v < last; v += b.count) {
        if (job->runs) {
            run += v - job->runs->runs[run].first_vertex >= job->runs->runs[run].vertex_count ? 1 : 0;
            b.run = &job->runs->runs[run];
        }
        b.first = v;
        b.count = block_size(&b, v, last);
        pelti_stage stage;
        if (staged) {
            pelti_skin_stage(plan, v, b.count, &stage);
            b.positions = input_stream(stage.positions, 3 * sizeof(float), 0);
            b.normals = input_stream(stage.normals, 3 * sizeof(float), 0);
            b.tangents = input_stream(stage.tangents, 4 * sizeof(float), 0);
        } else {
            b.positions = input_stream(job->positions, job->positions_stride, v);
            b.normals = input_stream(job->normals, job->normals_stride, v);
            b.tangents = input_stream(job->tangents, job->tangents_stride, v);
        }
        skin_block(job, &b, &box);
    }
    return box;
}

// --- one vertex

bool pelti_skin_scalar_mirrored(const pelti_skin_plan *plan, const pelt_run *run, uint32_t vertex)
{
    pelt_mat34 m;
    frame f;
    blend(&plan->job, run, vertex, &m);
    make_frame(&m, &f);
    return is_mirrored(&m, &f);
}

static void blend_frame(const pelti_skin_plan *plan, const pelt_run *run, uint32_t vertex, pelt_mat34 *m, frame *f)
{
    blend(&plan->job, run, vertex, m);
    make_frame(m, f);
    f->mirrored = needs_signs(&plan->job) && is_mirrored(m, f);
}

void pelti_skin_scalar_normal(const pelti_skin_plan *plan, const pelt_run *run, uint32_t vertex)
{
    pelt_mat34 m;
    frame f;
    pelti_stage stage;
    blend_frame(plan, run, vertex, &m, &f);
    pelti_skin_stage(plan, vertex, 1, &stage);
    write_normal(&plan->job, vertex, &m, &f, stage.normals);
}

void pelti_skin_scalar_tangent(const pelti_skin_plan *plan, const pelt_run *run, uint32_t vertex)
{
    pelt_mat34 m;
    frame f;
    pelti_stage stage;
    blend_frame(plan, run, vertex, &m, &f);
    pelti_skin_stage(plan, vertex, 1, &stage);
    write_tangent(&plan->job, vertex, &m, &f, stage.tangents);
}

static bool measure(const pelt_skin_job *job, float *square)
{
    float highest[12] = {0};
    float zeros[12] = {0};
    for (uint32_t j = 0; j < job->palette_count; j++) {
        const float *m = &pelti_skin_matrix(job, j)->m[0][0];
        for (int k = 0; k < 12; k++) {
            float size = fabsf(m[k]);
            zeros[k] += m[k] * 0.0F;
            highest[k] = size > highest[k] ? size : highest[k];
        }
    }
    return finish_measure(highest, zeros, square);
}

const pelti_skin_kernel pelti_skin_scalar = {
    .skin = skin_scalar, .measure = measure, .max_u16 = max_u16, .max_u8 = max_u8};

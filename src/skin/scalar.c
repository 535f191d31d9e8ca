// SPDX-License-Identifier: MIT
// The portable kernel: linear blend skinning in float, one vertex at a time. It is the twin that every other kernel is
// compared with, so it stays in float where float is enough and says where it is not.
#include "skin.h"

#include <math.h>

enum {
    BLOCK_SIZE = 64 // vertices morphed at once; staged streams take 2.5 KB of stack
};

// A stream of floats to read, stride bytes apart.
typedef struct stream {
    const char *data;
    size_t stride;
} stream;

// The inputs of one block: the job's own streams, or staged copies with the morphs added.
typedef struct block {
    uint32_t first;
    uint32_t count;
    stream positions;
    stream normals;
    stream tangents;
} block;

typedef struct staging {
    float positions[BLOCK_SIZE * 3];
    float normals[BLOCK_SIZE * 3];
    float tangents[BLOCK_SIZE * 4];
} staging;

// What directions need of a blended matrix, made once for all vertices of a rigid primitive.
typedef struct frame {
    float cofactor[3][3];
    float cofactor_bound; // sum of |row i|^2 |row j|^2: what the squared terms of the cofactor can come to
    float row_bound;      // sum of |row|^2
    bool mirrored;
} frame;

static const float *floats_at(stream s, uint32_t index)
{
    return (const float *)(const void *)(s.data + s.stride * index);
}

static float *out_floats(float *data, size_t stride, uint32_t vertex)
{
    return (float *)(void *)((char *)data + stride * vertex);
}

static float dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void cross_double(const float a[3], const float b[3], double out[3])
{
    out[0] = (double)a[1] * (double)b[2] - (double)a[2] * (double)b[1];
    out[1] = (double)a[2] * (double)b[0] - (double)a[0] * (double)b[2];
    out[2] = (double)a[0] * (double)b[1] - (double)a[1] * (double)b[0];
}

// --- morphs

static void stage_stream(stream *in, uint32_t count, uint32_t components, float *staged)
{
    for (uint32_t i = 0; i < count; i++) {
        const float *from = floats_at(*in, i);
        for (uint32_t c = 0; c < components; c++) {
            staged[i * components + c] = from[c];
        }
    }
    in->data = (const char *)staged;
    in->stride = components * sizeof(float);
}

static void add_deltas(float *staged, uint32_t components, const float *deltas, const block *b, float weight)
{
    if (!deltas) {
        return;
    }
    deltas += (size_t)b->first * 3;
    for (uint32_t i = 0; i < b->count; i++) {
        for (uint32_t c = 0; c < 3; c++) {
            staged[i * components + c] += weight * deltas[i * 3 + c];
        }
    }
}

// Points the block at staged copies with every morph of a non-zero weight added.
static void morph_block(const pelt_skin_job *job, block *b, staging *s)
{
    stage_stream(&b->positions, b->count, 3, s->positions);
    if (job->out_normals) {
        stage_stream(&b->normals, b->count, 3, s->normals);
    }
    if (job->out_tangents) {
        stage_stream(&b->tangents, b->count, 4, s->tangents);
    }
    for (uint32_t i = 0; i < job->morph_count; i++) {
        const pelt_skin_morph *morph = &job->morphs[i];
        if (morph->weight == 0.0F) {
            continue;
        }
        add_deltas(s->positions, 3, morph->positions, b, morph->weight);
        if (job->out_normals) {
            add_deltas(s->normals, 3, morph->normals, b, morph->weight);
        }
        if (job->out_tangents) {
            add_deltas(s->tangents, 4, morph->tangents, b, morph->weight);
        }
    }
}

static bool has_morphs(const pelt_skin_job *job)
{
    for (uint32_t i = 0; i < job->morph_count; i++) {
        if (job->morphs[i].weight != 0.0F) {
            return true;
        }
    }
    return false;
}

// --- blending

// Sum of weight times matrix. A lone weight of one gives the matrix as it is, since 1 * x is x.
static void blend(const pelt_skin_job *job, uint32_t vertex, pelt_mat34 *out)
{
    const uint16_t *joints = (const uint16_t *)(const void *)((const char *)job->joints + job->joints_stride * vertex);
    const float *weights = (const float *)(const void *)((const char *)job->weights + job->weights_stride * vertex);
    float m[12] = {0};
    uint32_t i = 0;
    while (i < job->influence_count && weights[i] == 0.0F) {
        i++;
    }
    if (i < job->influence_count) {
        const float *matrix = &job->palette[joints[i]].m[0][0];
        for (int k = 0; k < 12; k++) {
            m[k] = weights[i] * matrix[k];
        }
        i++;
    }
    for (; i < job->influence_count; i++) {
        if (weights[i] == 0.0F) { // its joint may be out of range
            continue;
        }
        const float *matrix = &job->palette[joints[i]].m[0][0];
        for (int k = 0; k < 12; k++) {
            m[k] += weights[i] * matrix[k];
        }
    }
    for (int k = 0; k < 12; k++) {
        out->m[k / 4][k % 4] = m[k];
    }
}

// The sign of the determinant, in double: products of two floats are exact there and nothing under- or overflows.
// A determinant that is zero but for the rounding of the matrix to float (flattening a rotated mesh gives such) counts
// as zero, else neighbouring vertices would take signs at random. One rounding of each element moves it by 2^-22 of its
// absolute terms, blending and cancellation by more: at 2^-18 some flat matrices still came out mirrored.
static bool is_mirrored_double(const pelt_mat34 *m)
{
    double determinant = 0.0;
    double bound = 0.0;
    for (int i = 0; i < 3; i++) {
        double a = (double)m->m[0][i];
        double plus = (double)m->m[1][(i + 1) % 3] * (double)m->m[2][(i + 2) % 3];
        double minus = (double)m->m[1][(i + 2) % 3] * (double)m->m[2][(i + 1) % 3];
        determinant += a * (plus - minus);
        bound += fabs(a) * (fabs(plus) + fabs(minus));
    }
    return determinant < -0x1p-17 * bound;
}

static void make_frame(const pelt_mat34 *m, frame *out)
{
    const float *r0 = m->m[0];
    const float *r1 = m->m[1];
    const float *r2 = m->m[2];
    cross(r1, r2, out->cofactor[0]);
    cross(r2, r0, out->cofactor[1]);
    cross(r0, r1, out->cofactor[2]);
    float a = dot(r0, r0);
    float b = dot(r1, r1);
    float c = dot(r2, r2);
    out->row_bound = a + b + c;
    out->cofactor_bound = b * c + c * a + a * b;
}

// The float determinant decides where it is large beside its terms, whose squares bound exceeds: at 2^-10 of them both
// its own error (under 8 * 2^-24 of the terms) and the 2^-17 that count as zero are far below. Where the square under-
// or overflows the comparison fails: the determinant's does so before the bound's.
static bool is_mirrored(const pelt_mat34 *m, const frame *f)
{
    float determinant = dot(m->m[0], f->cofactor[0]);
    float bound = f->row_bound * f->cofactor_bound;
    if (determinant * determinant > 0x1p-20F * bound) {
        return determinant < 0.0F;
    }
    return is_mirrored_double(m);
}

// --- directions

// A float direction is good where the squares of the terms that it was summed from, which bound exceeds, are far from
// both ends of float, and its own square is not much smaller: its error is under 8 * 2^-24 of those terms, so a length
// of 2^-5 of them keeps it within 0.001 degrees. NaN fails.
static bool is_sure(float length2, float bound)
{
    return bound > 0x1p-110F && bound < 0x1p110F && length2 > 0x1p-10F * bound;
}

static void write_direction(const float v[3], float length2, float out[3])
{
    float scale = 1.0F / sqrtf(length2);
    for (int i = 0; i < 3; i++) {
        out[i] = v[i] * scale + 0.0F;
    }
}

// The double path: any finite matrix and direction, and no loss by cancellation beyond that of the matrix itself. A
// direction that becomes zero (or not finite) takes the input direction, else the axis, so it is always of unit length.
static void write_direction_double(const double v[3], const float input[3], int axis, float out[3])
{
    double d[3] = {v[0], v[1], v[2]};
    double length2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if (!(length2 > 0.0 && length2 < HUGE_VAL)) {
        for (int i = 0; i < 3; i++) {
            d[i] = (double)input[i];
        }
        length2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    }
    if (!(length2 > 0.0 && length2 < HUGE_VAL)) {
        for (int i = 0; i < 3; i++) {
            d[i] = i == axis;
        }
        length2 = 1.0;
    }
    double length = sqrt(length2);
    for (int i = 0; i < 3; i++) {
        out[i] = (float)(d[i] / length) + 0.0F;
    }
}

static void skin_normal_double(const pelt_mat34 *m, const float n[3], double sign, float out[3])
{
    double v[3];
    for (int i = 0; i < 3; i++) {
        double c[3];
        cross_double(m->m[(i + 1) % 3], m->m[(i + 2) % 3], c);
        v[i] = (c[0] * (double)n[0] + c[1] * (double)n[1] + c[2] * (double)n[2]) * sign;
    }
    write_direction_double(v, n, 2, out);
}

static void skin_normal(const pelt_mat34 *m, const frame *f, const float n[3], float sign, float out[3])
{
    float v[3];
    for (int i = 0; i < 3; i++) {
        v[i] = dot(f->cofactor[i], n) * sign;
    }
    float length2 = dot(v, v);
    if (is_sure(length2, f->cofactor_bound * dot(n, n))) {
        write_direction(v, length2, out);
    } else {
        skin_normal_double(m, n, (double)sign, out);
    }
}

static void skin_tangent(const pelt_mat34 *m, const frame *f, const float t[4], float sign, float out[4])
{
    float v[3];
    for (int i = 0; i < 3; i++) {
        v[i] = dot(m->m[i], t);
    }
    float length2 = dot(v, v);
    if (is_sure(length2, f->row_bound * dot(t, t))) {
        write_direction(v, length2, out);
    } else {
        double d[3];
        for (int i = 0; i < 3; i++) {
            const float *r = m->m[i];
            d[i] = (double)r[0] * (double)t[0] + (double)r[1] * (double)t[1] + (double)r[2] * (double)t[2];
        }
        write_direction_double(d, t, 0, out);
    }
    out[3] = t[3] * sign + 0.0F;
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

static void skin_directions(const pelt_skin_job *job, const block *b, uint32_t i, const pelt_mat34 *m, const frame *f)
{
    uint32_t vertex = b->first + i;
    float sign = f->mirrored && (job->flags & PELT_NORMAL_OUTWARD) ? -1.0F : 1.0F;
    if (job->out_normals) {
        float *out = out_floats(job->out_normals, job->out_normals_stride, vertex);
        skin_normal(m, f, floats_at(b->normals, i), sign, out);
    }
    if (job->out_tangents) {
        float *out = out_floats(job->out_tangents, job->out_tangents_stride, vertex);
        skin_tangent(m, f, floats_at(b->tangents, i), sign, out);
    }
    if (job->out_mirrored) {
        job->out_mirrored[job->out_mirrored_stride * vertex] = f->mirrored;
    }
}

static void skin_block(const pelt_skin_job *job, const block *b, const pelt_mat34 *rigid, pelt_box *box)
{
    bool signs = job->out_mirrored || (job->flags & PELT_NORMAL_OUTWARD);
    bool directions = job->out_normals || job->out_tangents || job->out_mirrored;
    bool places = job->out_positions || job->box;
    float low[3] = {box->min[0], box->min[1], box->min[2]};
    float high[3] = {box->max[0], box->max[1], box->max[2]};
    pelt_mat34 m = *rigid;
    frame f = {.mirrored = false};
    for (uint32_t i = 0; i < b->count; i++) {
        bool fresh = i == 0 || job->influence_count > 0;
        if (job->influence_count > 0) {
            blend(job, b->first + i, &m);
        }
        if (places) {
            float p[3];
            transform_point(&m, floats_at(b->positions, i), p);
            if (job->out_positions) {
                float *out = out_floats(job->out_positions, job->out_positions_stride, b->first + i);
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
                f.mirrored = signs && is_mirrored(&m, &f);
            }
            skin_directions(job, b, i, &m, &f);
        }
    }
    for (int k = 0; k < 3; k++) {
        box->min[k] = low[k];
        box->max[k] = high[k];
    }
}

static stream block_stream(const float *data, size_t stride, uint32_t first)
{
    stream s = {.data = data ? (const char *)data + stride * first : NULL, .stride = stride};
    return s;
}

static pelt_box skin_scalar(const pelt_skin_job *job, uint32_t first, uint32_t last)
{
    pelt_box box = pelt_box_empty();
    bool morphed = has_morphs(job);
    uint32_t count = 0;
    for (uint32_t v = first; v < last; v += count) {
        count = last - v < BLOCK_SIZE ? last - v : BLOCK_SIZE;
        staging staged;
        block b = {.first = v,
                   .count = count,
                   .positions = block_stream(job->positions, job->positions_stride, v),
                   .normals = block_stream(job->normals, job->normals_stride, v),
                   .tangents = block_stream(job->tangents, job->tangents_stride, v)};
        if (morphed) {
            morph_block(job, &b, &staged);
        }
        skin_block(job, &b, &job->palette[0], &box);
    }
    return box;
}

const pelti_skin_kernel pelti_skin_scalar = {.name = "scalar", .skin = skin_scalar};

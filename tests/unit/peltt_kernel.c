// SPDX-License-Identifier: MIT
// Makes random skin jobs. See peltt_kernel.h; peltt_kernel_check.c compares.
#include "peltt_kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *need(void *memory)
{
    if (!memory) {
        fprintf(stderr, "peltt_kernel: out of memory\n");
        abort();
    }
    return memory;
}

static bool has_runs(const peltt_kernel_shape *shape)
{
    return shape->joints >= PELTT_NARROW;
}

static bool is_packed(const peltt_kernel_shape *shape)
{
    return shape->weights == PELT_WEIGHT_SORTED || shape->weights == PELT_WEIGHT_PLAIN;
}

// A stream of count elements; the gap after the last one is not part of it.
static void *add_stream(peltt_kernel *k, peltt_stream which, size_t count, size_t size, size_t stride)
{
    size_t total = count > 0 ? (count - 1) * stride + size : 0;
    k->streams[which] = peltt_guarded_make(total, k->shape.at_end);
    return k->streams[which].data;
}

// --- palette

static pelt_mat34 random_matrix(peltt_random *random, float damage)
{
    pelt_trs trs = pelt_trs_identity();
    trs.rotation.x = peltt_random_float(random, -1.0F, 1.0F);
    trs.rotation.y = peltt_random_float(random, -1.0F, 1.0F);
    trs.rotation.z = peltt_random_float(random, -1.0F, 1.0F);
    trs.rotation.w = peltt_random_float(random, 0.1F, 1.0F);
    trs.translation.x = peltt_random_float(random, -3.0F, 3.0F);
    trs.translation.y = peltt_random_float(random, -3.0F, 3.0F);
    trs.translation.z = peltt_random_float(random, -3.0F, 3.0F);
    if (peltt_random_chance(random, (double)damage)) {
        static const float scales[] = {0.0F, 1e-3F, 0.02F, -1.0F, 30.0F, 1e-12F, 1e9F};
        float all = peltt_random_chance(random, 0.3) ? scales[peltt_random_below(random, 7)] : 1.0F;
        trs.scale.x = peltt_random_chance(random, 0.5) ? scales[peltt_random_below(random, 5)] : all;
        trs.scale.y = peltt_random_chance(random, 0.2) ? scales[peltt_random_below(random, 5)] : all;
        trs.scale.z = all;
    }
    return pelt_mat34_from_trs(&trs);
}

static void make_palette(peltt_kernel *k, uint32_t joint_count, peltt_random *random)
{
    size_t stride = k->shape.palette_stride;
    char *palette = add_stream(k, PELTT_S_PALETTE, joint_count, sizeof(pelt_mat34), stride);
    for (uint32_t j = 0; j < joint_count; j++) {
        pelt_mat34 m = random_matrix(random, k->shape.damage);
        memcpy(palette + stride * j, &m, sizeof m);
    }
    k->job.palette = (const void *)palette;
    k->job.palette_stride = stride;
    k->job.palette_count = joint_count;
}

// --- influences

// Influences of all vertices as plain arrays: what runs are cut from.
typedef struct plain {
    uint16_t *joints;
    float *weights;
} plain;

// Joints that vertices follow.
typedef struct joint_range {
    uint32_t first;
    uint32_t count;
} joint_range;

static joint_range joint_range_of(const peltt_kernel_shape *shape)
{
    static const uint32_t counts[PELTT_JOINTS_COUNT] = {1, 40, 11, 27, 70, PELTT_KERNEL_JOINTS};
    uint32_t most = shape->joints == PELTT_DIRECT8 ? UINT8_MAX + 1 : UINT16_MAX + 1;
    uint32_t end = shape->joint_count > 0 ? shape->joint_count : counts[shape->joints];
    end = end < most ? end : most;
    uint32_t count = end < counts[shape->joints] ? end : counts[shape->joints];
    return (joint_range){end - count, count};
}

// Weights that add up to one; how many are not zero changes every 16 vertices or every vertex.
static void random_influences(const peltt_kernel_shape *shape, uint32_t vertex, peltt_random *random, uint16_t *joints,
                              float *weights)
{
    uint32_t n = shape->influence_count;
    const joint_range range = joint_range_of(shape);
    uint32_t used = 1 + (vertex / 16 % 2 ? vertex / 16 : peltt_random_below(random, n)) % n;
    double sum = 0.0;
    double values[64];
    for (uint32_t i = 0; i < n; i++) {
        joints[i] = (uint16_t)(range.first + peltt_random_below(random, range.count));
        values[i] = i < used ? 0.001 + peltt_random_unit(random) : 0.0;
        sum += values[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        weights[i] = (float)(values[i] / sum);
    }
}

static plain make_plain(const peltt_kernel_shape *shape, peltt_random *random)
{
    size_t n = (size_t)shape->vertex_count * shape->influence_count;
    plain p = {need(calloc(n + 1, sizeof *p.joints)), need(calloc(n + 1, sizeof *p.weights))};
    for (uint32_t v = 0; v < shape->vertex_count; v++) {
        size_t at = (size_t)v * shape->influence_count;
        random_influences(shape, v, random, p.joints + at, p.weights + at);
    }
    return p;
}

static void store_weights(peltt_kernel *k, plain *p)
{
    const peltt_kernel_shape *shape = &k->shape;
    uint32_t n = shape->influence_count;
    size_t component = shape->weights == PELT_WEIGHT_UNORM16 ? sizeof(uint16_t) : sizeof(float);
    size_t size = is_packed(shape) ? sizeof(uint32_t) : n * component;
    size_t stride = size + shape->gap;
    char *out = add_stream(k, PELTT_S_WEIGHTS, shape->vertex_count, size, stride);
    for (uint32_t v = 0; v < shape->vertex_count; v++) {
        float *weights = p->weights + (size_t)v * n;
        uint16_t *joints = p->joints + (size_t)v * n;
        peltt_kernel_vertex *vertex = &k->vertices[v];
        char *at = out + stride * v;
        if (is_packed(shape)) {
            bool sorted = shape->weights == PELT_WEIGHT_SORTED;
            pelt_weight_encoding encoding = sorted ? PELT_WEIGHTS_SORTED : PELT_WEIGHTS_PLAIN;
            uint8_t order[4];
            uint32_t code = pelt_weights_encode(encoding, weights, order);
            uint16_t ordered[4] = {joints[order[0]], joints[order[1]], joints[order[2]], joints[order[3]]};
            memcpy(joints, ordered, sizeof ordered);
            pelt_weights_decode(encoding, code, weights);
            memcpy(at, &code, sizeof code);
        }
        for (uint32_t i = 0; i < n && !is_packed(shape); i++) {
            uint16_t steps = (uint16_t)lround((double)weights[i] * 65535.0);
            if (shape->weights == PELT_WEIGHT_UNORM16) {
                weights[i] = (float)steps / 65535.0F;
                memcpy(at + i * sizeof steps, &steps, sizeof steps);
            } else {
                memcpy(at + i * sizeof(float), &weights[i], sizeof(float));
            }
        }
        vertex->count = n;
        for (uint32_t i = 0; i < n; i++) {
            vertex->joints[i] = joints[i];
            vertex->weights[i] = (double)weights[i];
        }
    }
    k->job.weights = out;
    k->job.weights_stride = shape->gap > 0 ? stride : 0;
    k->job.weight_format = shape->weights;
}

static void store_joint_stream(peltt_kernel *k, const plain *p)
{
    size_t size = k->shape.influence_count * sizeof(uint16_t);
    size_t stride = size + k->shape.gap;
    char *out = add_stream(k, PELTT_S_JOINTS, k->shape.vertex_count, size, stride);
    for (uint32_t v = 0; v < k->shape.vertex_count; v++) {
        memcpy(out + stride * v, p->joints + (size_t)v * k->shape.influence_count, size);
        for (uint32_t i = 0; i < k->shape.influence_count; i++) { // of no weight: anything
            if (p->weights[(size_t)v * k->shape.influence_count + i] == 0.0F && v % 3 == 0) {
                memset(out + stride * v + i * sizeof(uint16_t), 0xFF, sizeof(uint16_t));
            }
        }
    }
    k->job.joints = out;
    k->job.joints_stride = k->shape.gap > 0 ? stride : 0;
}

// --- runs

// Turns one run's joints into the direct layout.
static void make_direct(const peltt_kernel *k, const plain *p, pelt_run *run, uint8_t *out)
{
    bool bytes = k->shape.joints == PELTT_DIRECT8;
    size_t first = (size_t)run->first_vertex * k->shape.influence_count;
    size_t count = (size_t)run->vertex_count * k->shape.influence_count;
    run->layout = bytes ? PELT_JOINTS_DIRECT8 : PELT_JOINTS_DIRECT16;
    run->joint_count = 0;
    for (size_t i = 0; i < count; i++) {
        uint16_t joint = p->joints[first + i];
        if (bytes) {
            out[i] = (uint8_t)joint;
        } else {
            memcpy(out + i * sizeof joint, &joint, sizeof joint);
        }
    }
}

// Extra influences of the last vertices of each run, or of any where it is not ordered.
static void make_extras(peltt_kernel *k, pelt_run *runs, uint32_t run_count, peltt_random *random)
{
    uint32_t *offsets = need(calloc((size_t)k->shape.vertex_count + 1, sizeof *offsets));
    pelt_extra_influence *extras =
        need(calloc((size_t)k->shape.vertex_count * PELTT_KERNEL_EXTRAS + 1, sizeof *extras));
    uint32_t wide = 0;
    uint32_t used = 0;
    for (uint32_t r = 0; r < run_count; r++) {
        pelt_run *run = &runs[r];
        uint32_t last_class = 1 + peltt_random_below(random, run->vertex_count);
        uint32_t entries = k->shape.ordered ? last_class : run->vertex_count;
        run->class_counts[4] = (uint16_t)last_class;
        run->first_wide = wide;
        for (uint32_t v = run->first_vertex + run->vertex_count - entries; v < run->first_vertex + run->vertex_count;
             v++) {
            peltt_kernel_vertex *vertex = &k->vertices[v];
            uint32_t count = peltt_random_below(random, PELTT_KERNEL_EXTRAS + 1);
            uint32_t sum = 0;
            offsets[wide++] = used;
            for (uint32_t i = 0; i < count; i++) {
                uint16_t weight = (uint16_t)(1 + peltt_random_below(random, 12000));
                uint16_t joint = (uint16_t)peltt_random_below(random, k->job.palette_count);
                extras[used++] = (pelt_extra_influence){joint, weight};
                vertex->joints[vertex->count] = joint;
                vertex->weights[vertex->count++] = (double)weight / 65535.0;
                sum += weight;
            }
            for (uint32_t i = 0; i < 4; i++) {
                vertex->weights[i] *= (double)(65535 - sum) / 65535.0;
            }
        }
    }
    offsets[wide] = used;
    void *to = add_stream(k, PELTT_S_EXTRA_OFFSETS, (size_t)wide + 1, sizeof *offsets, sizeof *offsets);
    k->runs.extra_offsets = memcpy(to, offsets, ((size_t)wide + 1) * sizeof *offsets);
    to = add_stream(k, PELTT_S_EXTRAS, used, sizeof *extras, sizeof *extras);
    k->runs.extras = memcpy(to, extras, used * sizeof *extras);
    k->runs.wide_count = wide;
    k->runs.extra_count = used;
    k->runs.ordered = k->shape.ordered;
    free(offsets);
    free(extras);
}

static void make_runs(peltt_kernel *k, const plain *p, peltt_random *random)
{
    const peltt_kernel_shape *shape = &k->shape;
    size_t blocks = (size_t)shape->vertex_count / PELT_RUN_STEP + 1;
    pelt_run *runs = need(calloc(blocks, sizeof *runs));
    uint16_t *lists = need(calloc(blocks * PELT_RUN_JOINTS, sizeof *lists));
    uint8_t *local = need(calloc((size_t)shape->vertex_count * shape->influence_count + 1, sizeof(uint16_t)));
    const pelt_joint_runs_job job = {.vertex_count = shape->vertex_count,
                                     .influence_count = shape->influence_count,
                                     .joints = p->joints,
                                     .weights = p->weights,
                                     .runs = runs,
                                     .run_joints = lists,
                                     .local_joints = local};
    if (pelt_joint_runs_build(&job, &k->runs) != PELT_OK) {
        abort();
    }
    uint64_t size = k->runs.joints_size;
    if (shape->joints >= PELTT_DIRECT8) {
        uint32_t element = shape->joints == PELTT_DIRECT8 ? 1 : 2;
        for (uint32_t r = 0; r < k->runs.run_count; r++) {
            runs[r].joints_offset = runs[r].first_vertex * shape->influence_count * element;
            make_direct(k, p, &runs[r], local + runs[r].joints_offset);
        }
        size = (uint64_t)shape->vertex_count * shape->influence_count * element;
        k->runs.run_joint_count = 0;
    }
    if (shape->extras) {
        make_extras(k, runs, k->runs.run_count, random);
    }
    void *to = add_stream(k, PELTT_S_RUNS, k->runs.run_count, sizeof *runs, sizeof *runs);
    k->runs.runs = memcpy(to, runs, k->runs.run_count * sizeof *runs);
    to = add_stream(k, PELTT_S_RUN_JOINTS, k->runs.run_joint_count, sizeof *lists, sizeof *lists);
    k->runs.run_joints = memcpy(to, lists, k->runs.run_joint_count * sizeof *lists);
    to = add_stream(k, PELTT_S_JOINTS, (size_t)size, 1, 1);
    k->job.joints = memcpy(to, local, (size_t)size);
    k->runs.joints_size = size;
    k->job.runs = &k->runs;
    free(runs);
    free(lists);
    free(local);
}

static void make_influences(peltt_kernel *k, peltt_random *random)
{
    if (k->shape.joints == PELTT_RIGID) {
        for (uint32_t v = 0; v < k->shape.vertex_count; v++) {
            k->vertices[v].count = 1;
            k->vertices[v].weights[0] = 1.0;
        }
        return;
    }
    plain p = make_plain(&k->shape, random);
    k->job.influence_count = k->shape.influence_count;
    store_weights(k, &p);
    if (has_runs(&k->shape)) {
        make_runs(k, &p, random);
    } else {
        store_joint_stream(k, &p);
    }
    free(p.joints);
    free(p.weights);
}

// --- vertices

static void random_floats(peltt_random *random, uint32_t count, float *out)
{
    for (uint32_t i = 0; i < count; i++) {
        out[i] = peltt_random_float(random, -1.0F, 1.0F);
    }
}

static void make_positions(peltt_kernel *k, peltt_random *random)
{
    size_t stride = 3 * sizeof(float) + k->shape.gap;
    char *out = add_stream(k, PELTT_S_POSITIONS, k->shape.vertex_count, 3 * sizeof(float), stride);
    for (uint32_t v = 0; v < k->shape.vertex_count; v++) {
        float p[3];
        random_floats(random, 3, p);
        memcpy(out + stride * v, p, sizeof p);
        for (int c = 0; c < 3; c++) {
            k->vertices[v].position[c] = (double)p[c];
        }
    }
    k->job.positions = (const void *)out;
    k->job.positions_stride = k->shape.gap > 0 ? stride : 0;
}

static void make_directions(peltt_kernel *k, peltt_stream which, uint32_t components, peltt_random *random)
{
    bool packed = k->shape.octahedral_in;
    size_t size = packed ? sizeof(uint32_t) : components * sizeof(float);
    size_t stride = size + k->shape.gap;
    char *out = add_stream(k, which, k->shape.vertex_count, size, stride);
    for (uint32_t v = 0; v < k->shape.vertex_count; v++) {
        float d[4];
        random_floats(random, 3, d);
        d[0] = v % 17 == 5 ? 0.0F : d[0];
        d[1] = v % 17 == 5 ? -0.0F : d[1];
        d[3] = v % 2 ? 1.0F : -1.0F;
        if (packed) {
            uint32_t code = components == 3 ? pelt_normal_encode(d) : pelt_tangent_encode(d);
            if (components == 3) {
                pelt_normal_decode(code, d);
            } else {
                pelt_tangent_decode(code, d);
            }
            memcpy(out + stride * v, &code, sizeof code);
        } else {
            memcpy(out + stride * v, d, size);
        }
        double *to = components == 3 ? k->vertices[v].normal : k->vertices[v].tangent;
        for (uint32_t c = 0; c < components; c++) {
            to[c] = (double)d[c];
        }
    }
    k->job.direction_format = packed ? PELT_DIRECTION_OCTAHEDRAL : PELT_DIRECTION_FLOAT;
    if (components == 3) {
        k->job.normals = out;
        k->job.normals_stride = k->shape.gap > 0 ? stride : 0;
    } else {
        k->job.tangents = out;
        k->job.tangents_stride = k->shape.gap > 0 ? stride : 0;
    }
}

static void make_morph(peltt_kernel *k, peltt_random *random)
{
    if (!k->shape.morphed) {
        return;
    }
    float *deltas = add_stream(k, PELTT_S_DELTAS, k->shape.vertex_count, 3 * sizeof(float), 3 * sizeof(float));
    random_floats(random, k->shape.vertex_count * 3, deltas);
    k->morph = (pelt_skin_morph){-0.25F, deltas, deltas, deltas};
    k->job.morph_count = 1;
    k->job.morphs = &k->morph;
    for (uint32_t v = 0; v < k->shape.vertex_count; v++) {
        for (uint32_t c = 0; c < 3; c++) {
            double delta = -0.25 * (double)deltas[v * 3 + c];
            k->vertices[v].position[c] += delta;
            k->vertices[v].normal[c] += delta;
            k->vertices[v].tangent[c] += delta;
        }
    }
}

static void make_outputs(peltt_kernel *k)
{
    const peltt_kernel_shape *shape = &k->shape;
    bool packed = shape->octahedral_out;
    size_t gap = shape->gap;
    size_t normal = packed ? sizeof(uint32_t) : 3 * sizeof(float);
    size_t tangent = packed ? sizeof(uint32_t) : 4 * sizeof(float);
    pelt_skin_job *job = &k->job;
    job->out_direction_format = packed ? PELT_DIRECTION_OCTAHEDRAL : PELT_DIRECTION_FLOAT;
    if (shape->wanted & PELTT_POSITIONS) {
        job->out_positions = add_stream(k, PELTT_S_OUT_POSITIONS, shape->vertex_count, 12, 12 + gap);
        job->out_positions_stride = gap > 0 ? 12 + gap : 0;
    }
    if (shape->wanted & PELTT_NORMALS) {
        job->out_normals = add_stream(k, PELTT_S_OUT_NORMALS, shape->vertex_count, normal, normal + gap);
        job->out_normals_stride = gap > 0 ? normal + gap : 0;
    }
    if (shape->wanted & PELTT_TANGENTS) {
        job->out_tangents = add_stream(k, PELTT_S_OUT_TANGENTS, shape->vertex_count, tangent, tangent + gap);
        job->out_tangents_stride = gap > 0 ? tangent + gap : 0;
    }
    if (shape->wanted & PELTT_MIRRORED) {
        job->out_mirrored = add_stream(k, PELTT_S_OUT_MIRRORED, shape->vertex_count, 1, 1 + gap);
        job->out_mirrored_stride = gap > 0 ? 1 + gap : 0;
    }
    if (shape->wanted & PELTT_BOX) {
        job->box = add_stream(k, PELTT_S_BOX, 1, sizeof(pelt_box), sizeof(pelt_box));
    }
}

void peltt_kernel_init(peltt_kernel *kernel, const peltt_kernel_shape *shape, peltt_random *random)
{
    *kernel = (peltt_kernel){.shape = *shape};
    kernel->vertices = need(calloc((size_t)shape->vertex_count + 1, sizeof *kernel->vertices));
    kernel->job.vertex_count = shape->vertex_count;
    kernel->job.flags = shape->outward ? PELT_NORMAL_OUTWARD : 0;
    make_palette(kernel, shape->joint_count > 0 ? shape->joint_count : joint_range_of(shape).count, random);
    make_influences(kernel, random);
    make_positions(kernel, random);
    make_directions(kernel, PELTT_S_NORMALS, 3, random);
    make_directions(kernel, PELTT_S_TANGENTS, 4, random);
    make_morph(kernel, random);
    make_outputs(kernel);
}

void peltt_kernel_free(peltt_kernel *kernel)
{
    for (int s = 0; s < PELTT_S_COUNT; s++) {
        if (kernel->streams[s].mapping) {
            peltt_guarded_free(&kernel->streams[s]);
        }
    }
    free(kernel->vertices);
}

void peltt_kernel_clear(peltt_kernel *kernel)
{
    for (int s = PELTT_S_OUT_POSITIONS; s < PELTT_S_COUNT; s++) {
        if (kernel->streams[s].mapping) {
            memset(kernel->streams[s].data, 0xCC, kernel->streams[s].size);
        }
    }
}

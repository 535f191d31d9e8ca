// SPDX-License-Identifier: MIT
// Packs morph targets: dense or sparse, whichever is smaller, as floats or in 16 bits of each stream's largest
// displacement.
#include "cook/pack.h"
#include "cook/packed.h"
#include "math/round.h"

// One target at hand. A stream without a displacement that survives the packing is left out.
typedef struct target_job {
    const cook_primitive *p;
    const float *streams[3]; // of the source
    float scale[3];          // largest magnitude of each stream; 0 = left out
    bool narrow;             // 16 bits
    uint32_t changed_count;  // vertices with a displacement in any stream
    double worst_error2;     // of positions, squared
} target_job;

static const float *displacement(const target_job *job, uint32_t stream, uint32_t vertex)
{
    return job->streams[stream] + (uint64_t)job->p->out.source_vertices[vertex] * 3;
}

static void find_scales(target_job *job)
{
    for (uint32_t s = 0; s < 3; s++) {
        float scale = 0.0F;
        for (uint32_t v = 0; job->streams[s] && v < job->p->out.vertex_count; v++) {
            const float *d = displacement(job, s, v);
            for (int c = 0; c < 3; c++) {
                float size = d[c] < 0.0F ? -d[c] : d[c];
                scale = size > scale ? size : scale;
            }
        }
        job->scale[s] = scale;
    }
}

// Half steps go away from zero, so that mirrored shapes stay mirrored.
static int16_t narrow_code(float value, float scale)
{
    double steps = (double)value / (double)scale * (double)TARGET_STEPS;
    return (int16_t)(steps < 0.0 ? steps - 0.5 : steps + 0.5);
}

// Whether the packed vertex is displaced; a stream of scale 0 holds zeros.
static bool is_changed(const target_job *job, uint32_t vertex)
{
    for (uint32_t s = 0; s < 3; s++) {
        if (job->scale[s] == 0.0F) {
            continue;
        }
        const float *d = displacement(job, s, vertex);
        for (int c = 0; c < 3; c++) {
            if (job->narrow ? narrow_code(d[c], job->scale[s]) != 0 : d[c] != 0.0F) {
                return true;
            }
        }
    }
    return false;
}

static void measure(target_job *job)
{
    for (uint32_t v = 0; v < job->p->out.vertex_count; v++) {
        job->changed_count += is_changed(job, v) ? 1 : 0;
        if (!job->narrow || job->scale[0] == 0.0F) {
            continue;
        }
        const float *d = displacement(job, 0, v);
        double error2 = 0.0;
        for (int c = 0; c < 3; c++) {
            double error = (double)pelti_target_value(narrow_code(d[c], job->scale[0]), job->scale[0]) - (double)d[c];
            error2 += error * error;
        }
        job->worst_error2 = error2 > job->worst_error2 ? error2 : job->worst_error2;
    }
}

static uint64_t value_size(const target_job *job)
{
    return 3 * (job->narrow ? sizeof(int16_t) : sizeof(float));
}

static bool is_sparse_smaller(const target_job *job)
{
    uint64_t vertex_size = 0;
    for (int s = 0; s < 3; s++) {
        vertex_size += job->scale[s] > 0.0F ? value_size(job) : 0;
    }
    // At most 2^32 times 40.
    return job->changed_count * (vertex_size + sizeof(uint32_t)) < job->p->out.vertex_count * vertex_size ||
           job->changed_count == 0;
}

static void write_stream(const target_job *job, uint32_t stream, const pelt_cooked_target *target, void *out)
{
    int16_t *codes = out;
    float *values = out;
    for (uint32_t row = 0; row < target->vertex_count; row++) {
        const float *d = displacement(job, stream, target->vertices ? target->vertices[row] : row);
        for (uint64_t c = 0; c < 3; c++) {
            if (job->narrow) {
                codes[(uint64_t)row * 3 + c] = narrow_code(d[c], job->scale[stream]);
            } else {
                values[(uint64_t)row * 3 + c] = d[c];
            }
        }
    }
}

static pelt_result write_target(const target_job *job, pelt_cooked_target *out, pelt_error *error)
{
    cook_arena *arena = job->p->arena;
    bool sparse = is_sparse_smaller(job);
    out->format = (sparse ? PELT_TARGET_SPARSE : 0U) | (job->narrow ? PELT_TARGET_16BIT : 0U);
    out->vertex_count = sparse ? job->changed_count : job->p->out.vertex_count;
    if (sparse) {
        uint32_t *vertices = pelti_cook_allocate(arena, job->changed_count, sizeof *vertices);
        if (!vertices) {
            return pelti_cook_fail_memory(error);
        }
        uint32_t count = 0;
        for (uint32_t v = 0; count < job->changed_count; v++) {
            if (is_changed(job, v)) {
                vertices[count++] = v;
            }
        }
        out->vertices = vertices;
    }
    const void **streams[3] = {&out->positions, &out->normals, &out->tangents};
    for (uint32_t s = 0; s < 3; s++) {
        out->scale[s] = 1.0F;
        if (job->scale[s] == 0.0F || out->vertex_count == 0) {
            continue;
        }
        void *values = pelti_cook_allocate(arena, out->vertex_count, (size_t)value_size(job));
        if (!values) {
            return pelti_cook_fail_memory(error);
        }
        out->scale[s] = job->narrow ? job->scale[s] : 1.0F;
        write_stream(job, s, out, values);
        *streams[s] = values;
    }
    return PELT_OK;
}

pelt_result pelti_cook_targets(cook_primitive *p, pelt_error *error)
{
    pelt_cooked_target *targets = pelti_cook_allocate(p->arena, p->out.target_count, sizeof *targets);
    if (!targets) {
        return pelti_cook_fail_memory(error);
    }
    double worst_error2 = 0.0;
    for (uint32_t t = 0; t < p->out.target_count; t++) {
        const pelt_morph_target *source = &p->source->targets[t];
        target_job job = {.p = p,
                          .streams = {source->positions, source->normals, source->tangents},
                          .narrow = p->options->morph_16bit};
        find_scales(&job);
        measure(&job);
        pelt_result result = write_target(&job, &targets[t], error);
        if (result != PELT_OK) {
            return result;
        }
        worst_error2 = job.worst_error2 > worst_error2 ? job.worst_error2 : worst_error2;
    }
    p->out.targets = targets;
    p->report.worst_morph_error = pelti_round_up(sqrt(worst_error2));
    return PELT_OK;
}

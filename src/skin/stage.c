// SPDX-License-Identifier: MIT
// Copies, decodes and morphs the inputs of a block of vertices.
#include "skin/stage.h"

#include <string.h>

static void stage_floats(const void *data, size_t stride, uint32_t first, uint32_t count, uint32_t components,
                         float *staged)
{
    const char *from = (const char *)data + stride * first;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(staged + (size_t)i * components, from + stride * i, components * sizeof(float));
    }
}

static void stage_codes(const void *data, size_t stride, uint32_t first, uint32_t count, uint32_t components,
                        float *staged)
{
    const char *from = (const char *)data + stride * first;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t code = 0;
        memcpy(&code, from + stride * i, sizeof code);
        if (components == 3) {
            pelt_normal_decode(code, staged + (size_t)i * 3);
        } else {
            pelt_tangent_decode(code, staged + (size_t)i * 4);
        }
    }
}

static void add_deltas(float *staged, uint32_t components, const float *deltas, uint32_t first, uint32_t count,
                       float weight)
{
    if (!deltas) {
        return;
    }
    deltas += (size_t)first * 3;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t c = 0; c < 3; c++) {
            staged[i * components + c] += weight * deltas[i * 3 + c];
        }
    }
}

static void add_morphs(const pelt_skin_job *job, uint32_t first, uint32_t count, pelti_stage *stage)
{
    for (uint32_t i = 0; i < job->morph_count; i++) {
        const pelt_skin_morph *morph = &job->morphs[i];
        if (morph->weight == 0.0F) {
            continue;
        }
        if (job->out_positions || job->box) {
            add_deltas(stage->positions, 3, morph->positions, first, count, morph->weight);
        }
        if (job->out_normals) {
            add_deltas(stage->normals, 3, morph->normals, first, count, morph->weight);
        }
        if (job->out_tangents) {
            add_deltas(stage->tangents, 4, morph->tangents, first, count, morph->weight);
        }
    }
}

void pelti_skin_stage(const pelti_skin_plan *plan, uint32_t first, uint32_t count, pelti_stage *stage)
{
    const pelt_skin_job *job = &plan->job;
    bool packed = job->direction_format == PELT_DIRECTION_OCTAHEDRAL;
    void (*stage_directions)(const void *, size_t, uint32_t, uint32_t, uint32_t, float *) =
        packed ? stage_codes : stage_floats;
    if (job->out_positions || job->box) {
        stage_floats(job->positions, job->positions_stride, first, count, 3, stage->positions);
    }
    if (job->out_normals) {
        stage_directions(job->normals, job->normals_stride, first, count, 3, stage->normals);
    }
    if (job->out_tangents) {
        stage_directions(job->tangents, job->tangents_stride, first, count, 4, stage->tangents);
    }
    if (plan->morphed) {
        add_morphs(job, first, count, stage);
    }
}

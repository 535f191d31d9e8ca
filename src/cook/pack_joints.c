// SPDX-License-Identifier: MIT
// Emits what skinning reads of each vertex: packed weights, joints in the layout of the run, and extra influences.
#include "cook/pack.h"

typedef struct joint_job {
    const cook_vertex *vertices; // by source vertex
    const uint32_t *source_vertices;
    const pelt_run *runs;
    uint32_t run_count;
    const uint16_t *run_joints;
    uint32_t *weights;
    uint8_t *joints;
} joint_job;

enum {
    CHUNK_SIZE = 16 // runs of a task
};

// Vertices of a run that have an entry in extra_offsets: its last ones.
static uint32_t run_wide_count(const pelt_run *run, bool ordered)
{
    return run->class_counts[4] == 0 ? 0 : ordered ? run->class_counts[4] : run->vertex_count;
}

static uint32_t joint_size(const pelt_run *run)
{
    return run->layout == PELT_JOINTS_DIRECT16 ? 4 * sizeof(uint16_t) : 4;
}

// Fills in each run where its joints and wide vertices begin. Sizes are multiples of 4, so every run is aligned.
static pelt_result place_runs(cook_primitive *p, pelt_error *error)
{
    pelt_run *runs = (pelt_run *)p->out.runs; // made for this primitive, in its arena
    uint64_t joints_size = 0;
    uint32_t wide_count = 0;
    for (uint32_t r = 0; r < p->out.run_count; r++) {
        if (joints_size > UINT32_MAX) {
            return pelti_fail(error, PELT_ERROR_LIMIT, "", "mesh %u, primitive %u: joints take over 4 GiB", p->out.mesh,
                              p->out.primitive);
        }
        runs[r].joints_offset = (uint32_t)joints_size;
        runs[r].first_wide = wide_count;
        joints_size += (uint64_t)runs[r].vertex_count * joint_size(&runs[r]);
        wide_count += run_wide_count(&runs[r], p->out.ordered);
    }
    p->out.joints_size = joints_size;
    p->out.wide_count = wide_count;
    return PELT_OK;
}

// Place of the joint in a rising list that has it.
static uint8_t find_joint(const uint16_t *list, uint32_t count, uint16_t joint)
{
    uint32_t at = 0;
    for (uint32_t size = count; size > 1;) {
        uint32_t half = size / 2;
        at += list[at + half] <= joint ? half : 0;
        size -= half;
    }
    assert(count > 0 && list[at] == joint);
    return (uint8_t)at;
}

static void pack_run(const joint_job *job, const pelt_run *run)
{
    const uint16_t *list = job->run_joints + run->first_joint;
    uint8_t *out = job->joints + run->joints_offset;
    for (uint32_t v = run->first_vertex; v < run->first_vertex + run->vertex_count; v++) {
        const cook_vertex *vertex = &job->vertices[job->source_vertices[v]];
        job->weights[v] = vertex->code;
        if (run->layout == PELT_JOINTS_DIRECT16) {
            memcpy(out, vertex->joints, sizeof vertex->joints);
            out += sizeof vertex->joints;
            continue;
        }
        for (int slot = 0; slot < 4; slot++) {
            uint16_t joint = vertex->joints[slot];
            *out++ = run->layout == PELT_JOINTS_RUN ? find_joint(list, run->joint_count, joint) : (uint8_t)joint;
        }
    }
}

static void pack_task(void *context, uint32_t task_index)
{
    const joint_job *job = context;
    uint32_t first = task_index * CHUNK_SIZE;
    uint32_t count = job->run_count - first < CHUNK_SIZE ? job->run_count - first : CHUNK_SIZE;
    for (uint32_t r = first; r < first + count; r++) {
        pack_run(job, &job->runs[r]);
    }
}

static uint32_t find_joint_bound(const cook_primitive *p)
{
    uint32_t bound = 0;
    for (uint32_t v = 0; v < p->out.vertex_count; v++) {
        const cook_vertex *vertex = &p->vertices[p->out.source_vertices[v]];
        for (int slot = 0; slot < 4; slot++) {
            bound = vertex->joints[slot] >= bound ? vertex->joints[slot] + 1U : bound;
        }
    }
    for (uint32_t i = 0; i < p->out.extra_count; i++) {
        bound = p->out.extras[i].joint >= bound ? p->out.extras[i].joint + 1U : bound;
    }
    return bound;
}

static pelt_result pack_extras(cook_primitive *p, pelt_error *error)
{
    // Not more than source_extras, whose number fits.
    uint32_t total = 0;
    for (uint32_t v = 0; v < p->out.vertex_count; v++) {
        total += p->vertices[p->out.source_vertices[v]].extra_count;
    }
    uint32_t *offsets = pelti_cook_allocate(p->arena, (uint64_t)p->out.wide_count + 1, sizeof *offsets);
    pelt_extra_influence *extras = pelti_cook_allocate(p->arena, total, sizeof *extras);
    if (!offsets || !extras) {
        return pelti_cook_fail_memory(error);
    }
    uint32_t wide = 0;
    uint32_t used = 0;
    for (uint32_t r = 0; r < p->out.run_count; r++) {
        const pelt_run *run = &p->out.runs[r];
        uint32_t last = run->first_vertex + run->vertex_count;
        for (uint32_t v = last - run_wide_count(run, p->out.ordered); v < last; v++) {
            const cook_vertex *vertex = &p->vertices[p->out.source_vertices[v]];
            offsets[wide++] = used;
            if (vertex->extra_count > 0) {
                memcpy(extras + used, p->source_extras + vertex->first_extra, vertex->extra_count * sizeof *extras);
            }
            used += vertex->extra_count;
        }
    }
    offsets[wide] = used;
    assert(used == total);
    p->out.extra_offsets = offsets;
    p->out.extras = extras;
    p->out.extra_count = used;
    return PELT_OK;
}

pelt_result pelti_cook_pack_joints(cook_primitive *p, pelt_error *error)
{
    if (!p->vertices) {
        return PELT_OK;
    }
    pelt_result result = place_runs(p, error);
    if (result != PELT_OK) {
        return result;
    }
    joint_job job = {.vertices = p->vertices,
                     .source_vertices = p->out.source_vertices,
                     .runs = p->out.runs,
                     .run_count = p->out.run_count,
                     .run_joints = p->out.run_joints,
                     .weights = pelti_cook_allocate(p->arena, p->out.vertex_count, sizeof(uint32_t)),
                     .joints = pelti_cook_allocate(p->arena, p->out.joints_size, 1)};
    if (p->arena->failed) {
        return pelti_cook_fail_memory(error);
    }
    uint32_t task_count = (uint32_t)(((uint64_t)job.run_count + CHUNK_SIZE - 1) / CHUNK_SIZE);
    pelti_parallel_run(p->options->parallel, task_count, pack_task, &job);
    p->out.weights = job.weights;
    p->out.joints = job.joints;
    result = pack_extras(p, error);
    p->out.joint_bound = find_joint_bound(p);
    return result;
}

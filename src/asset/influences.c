// SPDX-License-Identifier: MIT
// Cleans JOINTS_n / WEIGHTS_n: memory and order of work. influences_block.c does most vertices of one set, at memory
// speed, influences_vertex.c all others; influences_report.c tells.
#include "asset/influences.h"

enum {
    JOINT_COUNT = 65536, // that 16 bits can name
    LINEAR_SLOTS = 16    // up to so many, a joint listed twice is found by comparing; above, by stamps
};

static pelt_result clean_all(influence_clean *clean)
{
    pelt_result result = PELT_OK;
    if (clean->job->set_count == 1) {
        result = pelti_influence_clean_blocks(clean);
    } else {
        for (uint32_t v = 0; v < clean->job->vertex_count && result == PELT_OK; v++) {
            result = pelti_influence_clean_vertex(clean, v);
        }
    }
    clean->report.worst_sum_error = (float)clean->worst_off;
    return result;
}

// The largest number of non-zero weights of a vertex, at least 1; stops once it is at the cap.
static uint32_t count_weights(const pelt_influence_job *job, uint32_t cap)
{
    uint32_t most = 1;
    for (uint32_t v = 0; v < job->vertex_count && most < cap; v++) {
        uint32_t count = 0;
        for (uint32_t set = 0; set < job->set_count; set++) {
            const float *w = job->sets[set].weights + (size_t)v * 4;
            count += (w[0] != 0.0f ? 1u : 0u) + (w[1] != 0.0f ? 1u : 0u) + (w[2] != 0.0f ? 1u : 0u) +
                     (w[3] != 0.0f ? 1u : 0u);
        }
        most = count > most ? count : most;
    }
    return most < cap ? most : cap;
}

// Merging may leave no vertex with as many influences as were counted: closes the gaps.
static void narrow(influence_clean *clean)
{
    uint32_t width = clean->width;
    uint32_t used = clean->used_width;
    if (used >= width) {
        return;
    }
    for (uint64_t v = 1; v < clean->job->vertex_count; v++) {
        for (uint32_t i = 0; i < used; i++) {
            clean->joints[v * used + i] = clean->joints[v * width + i];
            clean->weights[v * used + i] = clean->weights[v * width + i];
        }
    }
    clean->width = used;
}

static bool allocate_scratch(influence_clean *clean)
{
    uint64_t entries = (uint64_t)clean->job->set_count * 4;
    uint64_t stamps = entries > LINEAR_SLOTS ? JOINT_COUNT : 0;
    clean->scratch_size =
        entries * (sizeof(influence_slot) + sizeof(float) + sizeof(uint32_t)) + stamps * 2 * sizeof(uint32_t);
    unsigned char *memory = pelti_allocate(&clean->builder->allocator, 1, (size_t)clean->scratch_size);
    if (!memory) {
        return false;
    }
    memset(memory, 0, (size_t)clean->scratch_size);
    clean->slots = (void *)memory;
    memory += entries * sizeof(influence_slot);
    clean->rounded = (void *)memory;
    memory += entries * sizeof(float);
    clean->heap = (void *)memory;
    memory += entries * sizeof(uint32_t);
    if (stamps > 0) {
        clean->joint_stamps = (void *)memory;
        clean->joint_slots = (void *)(memory + stamps * sizeof(uint32_t));
    }
    return true;
}

static pelt_result allocate_output(influence_clean *clean)
{
    const pelt_influence_job *job = clean->job;
    uint32_t cap = 4 * job->set_count;
    if (job->influence_limit != 0 && job->influence_limit < cap) {
        cap = job->influence_limit;
    }
    clean->width = count_weights(job, cap);
    clean->joints = pelt_builder_allocate(clean->builder, (uint64_t)job->vertex_count * clean->width, sizeof(uint16_t));
    clean->weights = pelt_builder_allocate(clean->builder, (uint64_t)job->vertex_count * clean->width, sizeof(float));
    if (!clean->joints || !clean->weights) {
        return pelt_builder_status(clean->builder, clean->error);
    }
    return allocate_scratch(clean) ? PELT_OK : pelti_fail_memory(clean->error);
}

static pelt_result check_job(const pelt_influence_job *job, pelt_error *error)
{
    // set_count * 4 must stay a count of influences in 32 bits.
    if (job->set_count > UINT32_MAX / 4) {
        return pelti_fail(error, PELT_ERROR_LIMIT, "", "mesh %u, primitive %u: %u sets of joints and weights",
                          job->mesh, job->primitive, job->set_count);
    }
    bool complete = job->set_count == 0 || job->sets;
    for (uint32_t set = 0; complete && set < job->set_count && job->vertex_count > 0; set++) {
        complete = job->sets[set].joints && job->sets[set].weights;
    }
    return complete ? PELT_OK : pelti_fail(error, PELT_ERROR_ARGUMENT, "", "an influence set without its arrays");
}

pelt_result pelt_builder_clean_influences(pelt_builder *builder, const pelt_influence_job *job,
                                          pelt_primitive *primitive, pelt_error *error)
{
    pelti_error_clear(error);
    if (!builder || !job || !primitive) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "builder, job and primitive must not be NULL");
    }
    pelt_result result = check_job(job, error);
    if (result != PELT_OK) {
        return result;
    }
    influence_clean clean = {.builder = builder, .job = job, .error = error, .used_width = 1};
    clean.joint_limit = job->joint_limit != 0 && job->joint_limit < JOINT_COUNT ? job->joint_limit : JOINT_COUNT;
    clean.report.set_count = job->set_count;
    clean.report.worst_sum_vertex = PELT_NONE;
    if (job->set_count > 0) {
        result = allocate_output(&clean);
        if (result == PELT_OK) {
            result = clean_all(&clean);
        }
        pelti_release(&builder->allocator, clean.slots, 1, (size_t)clean.scratch_size);
        if (result != PELT_OK) {
            return result;
        }
        narrow(&clean);
        pelti_influence_warn(&clean);
    }
    primitive->influence_count = clean.width;
    primitive->joints = clean.joints;
    primitive->weights = clean.weights;
    primitive->joint_bound = clean.joint_bound;
    primitive->influences = clean.report;
    return PELT_OK;
}

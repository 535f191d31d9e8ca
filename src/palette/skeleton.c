// SPDX-License-Identifier: MIT
// Evaluation of many instances of one skeleton: checks, sharing out, and the choice of how many go side by side.
#include "skeleton.h"

#include "base/base.h"
#include "kernel.h"

enum {
    TASK_LIMIT = 256,
    TASK_MATRICES = 4096,   // at least so many to a task: some us of work
    NEAR_MATRICES = 1 << 14 // 1.5 MB of transforms and matrices
};

typedef struct work {
    const pelt_skeleton_job *job;
    const pelti_skeleton_kernel *kernels[4]; // the chosen one, then narrower ones
    uint32_t kernel_count;
    uint32_t task_instances; // of one task; a multiple of PELTI_LANE_LIMIT
} work;

size_t pelt_skeleton_palette_stride(const pelt_skeleton *skeleton, pelt_palette_format format)
{
    const size_t matrix_size = format == PELT_PALETTE_4X4 ? 16 * sizeof(float) : sizeof(pelt_mat34);
    size_t stride = (skeleton->matrix_count * matrix_size + 63) / 64 * 64;
    return stride > 0 && stride % 2048 == 0 ? stride + 64 : stride;
}

static bool has_flag(const uint8_t *flags, uint32_t count, uint8_t mask)
{
    uint8_t any = 0;
    for (uint32_t i = 0; i < count; i++) {
        any |= flags[i];
    }
    return (any & mask) != 0;
}

static bool is_valid_instance(const pelt_skeleton *skeleton, const pelt_skeleton_instance *instance)
{
    const pelt_locals *locals = instance->locals;
    if (!locals || (!locals->transforms && skeleton->step_count > 0) ||
        (!instance->palette && skeleton->matrix_count > 0) || (uintptr_t)instance->palette % sizeof(float) != 0) {
        return false;
    }
    const uint8_t own = 0xFE; // every value but 0 and 1
    if (locals->uses_matrix && has_flag(locals->uses_matrix, skeleton->data->node_count, own)) {
        for (uint32_t i = 0; i < skeleton->step_count; i++) {
            if (locals->uses_matrix[skeleton->steps[i].node] & own) {
                return false;
            }
        }
    }
    return true;
}

static void make_batch(const work *w, uint32_t first, uint32_t count, uint32_t lane_count, pelti_batch *batch)
{
    const pelt_skeleton *skeleton = w->job->skeleton;
    batch->skeleton = skeleton;
    batch->is_4x4 = w->job->format == PELT_PALETTE_4X4;
    batch->is_plain = true;
    batch->is_large = (uint64_t)w->job->instance_count * skeleton->step_count > NEAR_MATRICES;
    for (uint32_t i = 0; i < lane_count; i++) {
        const pelt_skeleton_instance *instance = &w->job->instances[first + (i < count ? i : count - 1)];
        const uint8_t *flags = instance->locals->uses_matrix;
        batch->transforms[i] = instance->locals->transforms;
        batch->uses_matrix[i] = flags;
        batch->palettes[i] = instance->palette;
        if (i < count) {
            bool uses = flags ? has_flag(flags, skeleton->data->node_count, 0xFF) : skeleton->has_matrices;
            batch->is_plain = batch->is_plain && !uses;
        }
    }
}

static void evaluate_task(void *context, uint32_t task_index)
{
    const work *w = context;
    const pelt_skeleton *skeleton = w->job->skeleton;
    uint32_t first = task_index * w->task_instances;
    uint32_t rest = w->job->instance_count - first;
    rest = rest < w->task_instances ? rest : w->task_instances;
    while (rest > 0) {
        // The narrowest kernel that holds all that is left, else the widest.
        const pelti_skeleton_kernel *kernel = w->kernels[0];
        for (uint32_t i = 1; i < w->kernel_count && w->kernels[i]->lane_count >= rest; i++) {
            kernel = w->kernels[i];
        }
        uint32_t count = rest < kernel->lane_count ? rest : kernel->lane_count;
        pelti_batch batch;
        if (rest == 1 && skeleton->step_count <= PELTI_ALONE_LIMIT) {
            make_batch(w, first, 1, 1, &batch);
            w->kernels[0]->alone(&batch);
        } else {
            make_batch(w, first, count, kernel->lane_count, &batch);
            kernel->side_by_side(&batch);
        }
        first += count;
        rest -= count;
    }
}

static void choose_kernels(work *w)
{
    const pelt_skeleton_job *job = w->job;
    pelt_isa isa = pelt_isa_choose(job->isa, job->disabled_isas);
    uint32_t disabled = job->disabled_isas;
    for (w->kernel_count = 0; w->kernel_count < 4; w->kernel_count++) {
        const pelti_palette_kernel *kernel = pelti_palette_kernel_of(isa);
        w->kernels[w->kernel_count] = job->precision == PELT_PRECISION_FLOAT ? &kernel->in_float : &kernel->in_double;
        if (isa == PELT_ISA_SCALAR) {
            w->kernel_count++;
            return;
        }
        disabled |= 1U << isa;
        isa = pelt_isa_choose(job->isa, disabled);
    }
}

pelt_result pelt_skeleton_evaluate(const pelt_skeleton_job *job)
{
    if (!job || !job->skeleton || (!job->instances && job->instance_count > 0) ||
        (job->format != PELT_PALETTE_3X4 && job->format != PELT_PALETTE_4X4) ||
        (job->precision != PELT_PRECISION_DOUBLE && job->precision != PELT_PRECISION_FLOAT)) {
        return PELT_ERROR_ARGUMENT;
    }
    for (uint32_t i = 0; i < job->instance_count; i++) {
        if (!is_valid_instance(job->skeleton, &job->instances[i])) {
            return PELT_ERROR_ARGUMENT;
        }
    }
    work w = {.job = job};
    choose_kernels(&w);
    uint64_t least = TASK_MATRICES / ((uint64_t)job->skeleton->matrix_count + 1) + 1;
    uint64_t share = (uint64_t)job->instance_count / TASK_LIMIT + 1;
    uint64_t instances = (least > share ? least : share) + PELTI_LANE_LIMIT - 1;
    w.task_instances = (uint32_t)(instances / PELTI_LANE_LIMIT * PELTI_LANE_LIMIT);
    uint64_t tasks = ((uint64_t)job->instance_count + w.task_instances - 1) / w.task_instances;
    pelti_parallel_run(job->parallel, (uint32_t)tasks, evaluate_task, &w);
    return PELT_OK;
}

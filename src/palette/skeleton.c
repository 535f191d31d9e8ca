// SPDX-License-Identifier: MIT
// Evaluation of many instances of one skeleton: checks, sharing out, and the choice of how many go side by side.
#include "skeleton.h"

#include "base/base.h"
#include "kernel.h"

enum {
    TASK_LIMIT = 256,
    TASK_MATRICES = 4096,    // at least so many to a task: some us of work
    NEAR_MATRICES = 1 << 14, // 1.5 MB of transforms and matrices
    STREAM_BYTES = 1 << 20   // of palettes: from here on they leave the second-level cache before anyone reads them
};

typedef struct work {
    const pelt_skeleton_job *job;
    const pelti_skeleton_kernel *kernels[4]; // the chosen one, then narrower ones
    uint32_t kernel_count;
    uint32_t task_instances; // of one task; a multiple of PELTI_LANE_LIMIT
    bool streams;            // 4x4 matrices pass the caches by
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

// Makes the batch that begins at an instance, of which `rest` are left, and returns the kernel for it: the narrowest
// that holds all of them, else the widest.
static const pelti_skeleton_kernel *make_batch(const work *w, uint32_t first, uint32_t rest, pelti_batch *batch)
{
    const pelti_skeleton_kernel *kernel = w->kernels[0];
    for (uint32_t i = 1; i < w->kernel_count && w->kernels[i]->lane_count >= rest; i++) {
        kernel = w->kernels[i];
    }
    const uint32_t count = rest < kernel->lane_count ? rest : kernel->lane_count;
    // The batch before reads it as well, and may be wider.
    const uint32_t lane_count = w->job->instance_count == 1 ? 1 : w->kernels[0]->lane_count;
    const pelt_skeleton *skeleton = w->job->skeleton;
    batch->skeleton = skeleton;
    batch->next = batch;
    batch->count = count;
    batch->is_4x4 = w->job->format == PELT_PALETTE_4X4;
    batch->is_plain = true;
    batch->is_large = (uint64_t)w->job->instance_count * skeleton->step_count > NEAR_MATRICES;
    uintptr_t addresses = 0;
    for (uint32_t i = 0; i < lane_count; i++) {
        const pelt_skeleton_instance *instance = &w->job->instances[first + (i < count ? i : count - 1)];
        const uint8_t *flags = instance->locals->uses_matrix;
        batch->transforms[i] = instance->locals->transforms;
        batch->uses_matrix[i] = flags;
        batch->palettes[i] = instance->palette;
        addresses |= (uintptr_t)instance->palette;
        if (i < count) {
            bool uses = flags ? has_flag(flags, skeleton->data->node_count, 0xFF) : skeleton->has_matrices;
            batch->is_plain = batch->is_plain && !uses;
        }
    }
    bool streams = w->streams && addresses % 64 == 0;
    batch->store = !batch->is_4x4 ? PELTI_STORE_3X4 : streams ? PELTI_STORE_4X4_STREAMED : PELTI_STORE_4X4;
    return kernel;
}

static void evaluate_task(void *context, uint32_t task_index)
{
    const work *w = context;
    uint32_t first = task_index * w->task_instances;
    uint32_t rest = w->job->instance_count - first;
    rest = rest < w->task_instances ? rest : w->task_instances;
    pelti_batch batches[2];
    const pelti_skeleton_kernel *next_kernel = make_batch(w, first, rest, &batches[0]);
    for (uint32_t i = 0; rest > 0; i = 1 - i) {
        pelti_batch *batch = &batches[i];
        const pelti_skeleton_kernel *kernel = next_kernel;
        const bool is_alone = rest == 1 && w->job->skeleton->step_count <= PELTI_ALONE_LIMIT;
        first += batch->count;
        rest -= batch->count;
        if (rest > 0) {
            batch->next = &batches[1 - i];
            next_kernel = make_batch(w, first, rest, &batches[1 - i]);
        }
        if (is_alone) {
            w->kernels[0]->alone(batch);
        } else {
            kernel->side_by_side(batch);
        }
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
    uint64_t threshold = job->stream_threshold ? job->stream_threshold : STREAM_BYTES;
    uint64_t size = (uint64_t)job->instance_count * job->skeleton->matrix_count * 16 * sizeof(float);
    work w = {.job = job, .streams = size >= threshold};
    choose_kernels(&w);
    uint64_t least = TASK_MATRICES / ((uint64_t)job->skeleton->matrix_count + 1) + 1;
    uint64_t share = (uint64_t)job->instance_count / TASK_LIMIT + 1;
    uint64_t instances = (least > share ? least : share) + PELTI_LANE_LIMIT - 1;
    w.task_instances = (uint32_t)(instances / PELTI_LANE_LIMIT * PELTI_LANE_LIMIT);
    uint64_t tasks = ((uint64_t)job->instance_count + w.task_instances - 1) / w.task_instances;
    pelti_parallel_run(job->parallel, (uint32_t)tasks, evaluate_task, &w);
    return PELT_OK;
}

// SPDX-License-Identifier: MIT
// Runs a skin job: checks it, splits it into tasks and merges their boxes.
#include "skin/skin.h"

#include "base/base.h"
#include "base/cpu.h"

enum {
    CHUNK_SIZE = 4096, // vertices of one task: about 0.2 ms of work, 100 times what a wake-up costs
    CHUNK_ALIGN = 64,  // so that a task's outputs start on a cache line where the buffers do
    TASK_LIMIT = 256   // results of tasks live on the stack: a job allocates nothing
};

// One evaluation, shared by its tasks. Each task writes its own slot only.
typedef struct work {
    pelti_skin_plan plan;
    const pelti_skin_kernel *kernel;
    uint32_t chunk_size;
    uint32_t task_count;
    bool valid[TASK_LIMIT];
    pelt_box boxes[TASK_LIMIT];
} work;

// Splits by the vertex count alone. Boxes would not differ under another split (no -0 is ever written, and min and max
// of other floats do not depend on order), but equal splits keep timings and traces comparable between machines.
static void split(work *w)
{
    uint32_t count = w->plan.job.vertex_count;
    uint32_t share = count / TASK_LIMIT + (count % TASK_LIMIT != 0);
    uint32_t aligned = (share + CHUNK_ALIGN - 1) / CHUNK_ALIGN * CHUNK_ALIGN;
    w->chunk_size = aligned > CHUNK_SIZE ? aligned : CHUNK_SIZE;
    w->task_count = count / w->chunk_size + (count % w->chunk_size != 0);
}

static uint32_t task_first(const work *w, uint32_t task)
{
    return task * w->chunk_size;
}

static uint32_t task_last(const work *w, uint32_t task)
{
    uint32_t first = task_first(w, task);
    uint32_t rest = w->plan.job.vertex_count - first;
    return first + (rest < w->chunk_size ? rest : w->chunk_size);
}

static void check_task(void *context, uint32_t task)
{
    work *w = context;
    w->valid[task] = pelti_skin_joints_valid(&w->plan.job, w->kernel, task_first(w, task), task_last(w, task));
}

static void skin_task(void *context, uint32_t task)
{
    work *w = context;
    w->boxes[task] = w->kernel->skin(&w->plan, task_first(w, task), task_last(w, task));
}

static pelt_box merge(const work *w)
{
    pelt_box box = pelt_box_empty();
    for (uint32_t t = 0; t < w->task_count; t++) {
        for (int axis = 0; axis < 3; axis++) {
            box.min[axis] = w->boxes[t].min[axis] < box.min[axis] ? w->boxes[t].min[axis] : box.min[axis];
            box.max[axis] = w->boxes[t].max[axis] > box.max[axis] ? w->boxes[t].max[axis] : box.max[axis];
        }
    }
    return box;
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

// Stores that pass the caches by pay only where what they write would not stay there until it is read.
static bool is_streamed(const pelt_skin_job *job)
{
    uint64_t threshold = job->stream_threshold ? job->stream_threshold : pelti_cpu_cache_size() / 2;
    bool packed = job->out_direction_format == PELT_DIRECTION_OCTAHEDRAL;
    uint64_t size = (job->out_positions ? 12U : 0U) + (job->out_normals ? packed ? 4U : 12U : 0U) +
                    (job->out_tangents ? packed ? 4U : 16U : 0U);
    return size * job->vertex_count >= threshold;
}

static void make_plan(work *w)
{
    const pelt_skin_job *job = &w->plan.job;
    w->plan.morphed = has_morphs(job);
    w->plan.streamed = is_streamed(job);
    w->kernel = pelti_skin_kernel_of(pelt_isa_choose(job->isa, job->disabled_isas));
    if (!w->kernel->measure(job, &w->plan.square)) {
        w->kernel = &pelti_skin_scalar;
    }
}

// All joints are checked before the first vertex is written: a pass of its own, of 1 or 2 bytes an influence.
static bool joints_are_valid(work *w)
{
    const pelt_skin_job *job = &w->plan.job;
    if (job->joint_bound > 0 && job->joint_bound <= job->palette_count) {
        return true;
    }
    pelti_parallel_run(job->parallel, w->task_count, check_task, w);
    for (uint32_t t = 0; t < w->task_count; t++) {
        if (!w->valid[t]) {
            return false;
        }
    }
    return true;
}

pelt_result pelt_skin_evaluate(const pelt_skin_job *job)
{
    work w;
    pelt_result result = pelti_skin_resolve(job, &w.plan.job);
    if (result != PELT_OK) {
        return result;
    }
    split(&w);
    if (w.task_count > 0) {
        make_plan(&w);
        if (!joints_are_valid(&w)) {
            return PELT_ERROR_ARGUMENT;
        }
        pelti_parallel_run(job->parallel, w.task_count, skin_task, &w);
    }
    if (job->box) {
        *job->box = merge(&w);
    }
    return PELT_OK;
}

void pelt_skin_job_set_packed(pelt_skin_job *job, const pelt_packed_streams *streams)
{
    bool rigid = !streams->weights;
    bool plain = streams->encoding == PELT_WEIGHTS_PLAIN;
    job->vertex_count = streams->vertex_count;
    job->influence_count = rigid ? 0 : 4;
    job->joints = streams->joints;
    job->weights = streams->weights;
    job->joints_stride = 0;
    job->weights_stride = 0;
    job->weight_format = plain ? PELT_WEIGHT_PLAIN : PELT_WEIGHT_SORTED;
    job->runs = rigid ? NULL : &streams->runs;
    job->joint_bound = streams->joint_bound;
    job->positions = streams->positions;
    job->normals = streams->normals;
    job->tangents = streams->tangents;
    job->positions_stride = 0;
    job->normals_stride = 0;
    job->tangents_stride = 0;
    job->direction_format = PELT_DIRECTION_OCTAHEDRAL;
}

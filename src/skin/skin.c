// SPDX-License-Identifier: MIT
// Runs a skin job: checks it, splits it into tasks and merges their boxes.
#include "skin.h"

#include "base/base.h"

enum {
    CHUNK_SIZE = 4096, // vertices of one task: about 0.2 ms of work, 100 times what a wake-up costs
    CHUNK_ALIGN = 64,  // so that a task's outputs start on a cache line where the buffers do
    TASK_LIMIT = 256   // results of tasks live on the stack: a job allocates nothing
};

// One evaluation, shared by its tasks. Each task writes its own slot only.
typedef struct work {
    pelt_skin_job job;
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
    uint32_t count = w->job.vertex_count;
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
    uint32_t rest = w->job.vertex_count - first;
    return first + (rest < w->chunk_size ? rest : w->chunk_size);
}

static void check_task(void *context, uint32_t task)
{
    work *w = context;
    w->valid[task] = pelti_skin_joints_valid(&w->job, task_first(w, task), task_last(w, task));
}

static void skin_task(void *context, uint32_t task)
{
    work *w = context;
    w->boxes[task] = w->kernel->skin(&w->job, task_first(w, task), task_last(w, task));
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

pelt_result pelt_skin_evaluate(const pelt_skin_job *job)
{
    work w;
    pelt_result result = pelti_skin_resolve(job, &w.job);
    if (result != PELT_OK) {
        return result;
    }
    w.kernel = &pelti_skin_scalar;
    split(&w);

    // All joints are checked before the first vertex is written: a pass of its own, of 2 bytes an influence.
    pelti_parallel_run(job->parallel, w.task_count, check_task, &w);
    for (uint32_t t = 0; t < w.task_count; t++) {
        if (!w.valid[t]) {
            return PELT_ERROR_ARGUMENT;
        }
    }
    pelti_parallel_run(job->parallel, w.task_count, skin_task, &w);
    if (job->box) {
        *job->box = merge(&w);
    }
    return PELT_OK;
}

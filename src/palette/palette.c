// SPDX-License-Identifier: MIT
// Palettes of any number of skins: world_from_joint (double) times joint_from_bind (float), rounded once. The work is
// cut by joints, not by items, so that one large skin and thousands of small ones both spread over all workers.
#include "pose/pose.h"

#include "base/base.h"
#include "kernel.h"

#include <pelt/palette.h>

enum {
    CUT_CAPACITY = 256,
    FIRST_CUT_DISTANCE = 1024 // matrices; some us of work
};

// Where a task begins: a joint of an item.
typedef struct cut {
    uint32_t item;
    uint32_t joint;
} cut;

// Task k does what lies between cuts[k] and cuts[k + 1]; the last one ends at the last item's end. The cuts are
// distance matrices apart.
typedef struct work {
    const pelt_palette_job *job;
    const pelti_palette_kernel *kernel;
    uint64_t matrix_count;
    uint64_t distance;
    uint32_t cut_count;
    cut cuts[CUT_CAPACITY];
} work;

static size_t matrix_size(pelt_palette_format format)
{
    return format == PELT_PALETTE_4X4 ? 16 * sizeof(float) : sizeof(pelt_mat34);
}

size_t pelt_palette_size(const pelt_asset *asset, uint32_t skin, pelt_palette_format format)
{
    if (!asset || (format != PELT_PALETTE_3X4 && format != PELT_PALETTE_4X4)) {
        return 0;
    }
    if (skin == PELT_NONE) {
        return matrix_size(format);
    }
    const pelt_asset_data *data = pelt_asset_get(asset);
    return skin < data->skin_count ? data->skins[skin].joint_count * matrix_size(format) : 0;
}

static bool is_valid_item(const pelt_palette_item *item)
{
    if (!item->pose || !item->palette || (uintptr_t)item->palette % sizeof(float) != 0) {
        return false;
    }
    const pelt_asset_data *data = pelti_pose_data(item->pose);
    return item->skin == PELT_NONE ? item->node < data->node_count : item->skin < data->skin_count;
}

static uint32_t item_matrix_count(const pelt_palette_item *item)
{
    return item->skin == PELT_NONE ? 1 : pelti_pose_data(item->pose)->skins[item->skin].joint_count;
}

// Adds an item's matrices to the work, with a cut at every multiple of distance. A full list keeps every second cut
// and doubles the distance: one pass over the items, whatever their number, and no memory.
static void add_item(work *w, uint32_t item, uint32_t matrix_count)
{
    uint64_t next = w->cut_count * w->distance;
    while (next < w->matrix_count + matrix_count) {
        if (w->cut_count == CUT_CAPACITY) {
            for (uint32_t i = 0; i < CUT_CAPACITY / 2; i++) {
                w->cuts[i] = w->cuts[2 * i];
            }
            w->cut_count = CUT_CAPACITY / 2;
            w->distance *= 2;
        } else {
            w->cuts[w->cut_count] = (cut){item, (uint32_t)(next - w->matrix_count)};
            w->cut_count++;
        }
        next = w->cut_count * w->distance;
    }
    w->matrix_count += matrix_count;
}

static void evaluate_joints(const work *w, const pelt_palette_item *item, uint32_t begin, uint32_t end)
{
    const pelti_mat34d *worlds = pelti_pose_worlds(item->pose);
    const bool is_4x4 = w->job->format == PELT_PALETTE_4X4;
    float *out = (float *)item->palette + matrix_size(w->job->format) / sizeof(float) * begin;
    if (item->skin == PELT_NONE) {
        pelti_palette_store(&worlds[item->node], is_4x4, out);
        return;
    }
    const pelt_skin *skin = &pelti_pose_data(item->pose)->skins[item->skin];
    w->kernel->matrices(worlds, skin->joints + begin, skin->inverse_binds + begin, end - begin, is_4x4, out);
}

static void evaluate_task(void *context, uint32_t task_index)
{
    const work *w = context;
    cut begin = w->cuts[task_index];
    cut end = {w->job->item_count, 0};
    if (task_index + 1 < w->cut_count) {
        end = w->cuts[task_index + 1];
    }
    uint32_t joint = begin.joint;
    for (uint32_t i = begin.item; i < end.item; i++) {
        const pelt_palette_item *item = &w->job->items[i];
        evaluate_joints(w, item, joint, item_matrix_count(item));
        joint = 0;
    }
    if (end.item < w->job->item_count && joint < end.joint) {
        evaluate_joints(w, &w->job->items[end.item], joint, end.joint);
    }
}

pelt_result pelt_palette_evaluate(const pelt_palette_job *job)
{
    if (!job || (!job->items && job->item_count > 0) ||
        (job->format != PELT_PALETTE_3X4 && job->format != PELT_PALETTE_4X4)) {
        return PELT_ERROR_ARGUMENT;
    }
    work w;
    w.job = job;
    w.kernel = pelti_palette_kernel_of(pelt_isa_choose(job->isa, job->disabled_isas));
    w.matrix_count = 0;
    w.distance = FIRST_CUT_DISTANCE;
    w.cut_count = 0;
    for (uint32_t i = 0; i < job->item_count; i++) {
        if (!is_valid_item(&job->items[i])) {
            return PELT_ERROR_ARGUMENT;
        }
        add_item(&w, i, item_matrix_count(&job->items[i]));
    }
    pelti_parallel_run(job->parallel, w.cut_count, evaluate_task, &w);
    return PELT_OK;
}

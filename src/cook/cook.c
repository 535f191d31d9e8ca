// SPDX-License-Identifier: MIT
// pelt_cook: takes every primitive through the steps of cook_internal.h and has the file written.
#include "cook/writer.h"

enum {
    // Primitives of so many vertices are cooked one at a time, each on all threads; smaller ones side by side, each on
    // one. The bytes do not depend on it.
    LARGE_VERTEX_COUNT = 32768
};

// A mesh and a skin that an instance brings together, sorted by mesh, then skin; each pair once.
typedef struct skin_use {
    uint32_t mesh;
    uint32_t skin;
} skin_use;

typedef struct primitive_job {
    cook_primitive primitive;
    cook_arena arena;
    uint32_t first_boxes; // in cook_job.joint_boxes
    uint32_t boxes_count;
    pelt_result result;
    pelt_error error;
} primitive_job;

typedef struct cook_job {
    const pelt_asset_data *asset;
    pelt_cook_options options; // morph range resolved
    pelt_cook_options step;    // the same, silent: what steps find is told here, in order
    pelt_cook_options single;  // step on the calling thread only
    cook_arena arena;
    uint32_t primitive_count;
    primitive_job *primitives;
    skin_use *uses;
    uint32_t use_count;
    pelt_joint_boxes *joint_boxes;
    uint32_t joint_boxes_count;
    uint32_t *small_ones; // indices of primitives to cook side by side
    uint32_t small_count;
} cook_job;

static pelt_result fail_memory(pelt_error *error)
{
    return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for cooking");
}

static pelt_result fill_boxes(cook_job *job, primitive_job *p, pelt_error *error)
{
    for (uint32_t i = 0; i < p->boxes_count; i++) {
        pelt_joint_boxes *boxes = &job->joint_boxes[p->first_boxes + i];
        const pelt_skin *skin = &job->asset->skins[boxes->skin];
        pelt_box *memory = pelti_cook_allocate(&p->arena, skin->joint_count, sizeof *memory);
        if (!memory) {
            return fail_memory(error);
        }
        for (uint32_t j = 0; j < skin->joint_count; j++) {
            memory[j] = pelt_box_empty();
        }
        // A primitive without vertices may have a skin and no influences.
        pelt_result result =
            p->primitive.out.weights ? pelti_cook_joint_boxes(&p->primitive, skin, memory, error) : PELT_OK;
        if (result != PELT_OK) {
            return result;
        }
        boxes->joint_count = skin->joint_count;
        boxes->boxes = memory;
    }
    return PELT_OK;
}

static void cook_one(cook_job *job, uint32_t index, const pelt_cook_options *options)
{
    pelt_result (*const steps[])(cook_primitive *, pelt_error *) = {
        pelti_cook_pack_vertices,
        pelti_cook_order,
        pelti_cook_pack_streams,
        pelti_cook_targets,
    };
    primitive_job *p = &job->primitives[index];
    p->primitive.options = options;
    p->result = PELT_OK;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && p->result == PELT_OK; i++) {
        p->result = steps[i](&p->primitive, &p->error);
    }
    if (p->result == PELT_OK) {
        p->result = fill_boxes(job, p, &p->error);
    }
    if (p->result != PELT_OK) {
        p->error.mesh = p->primitive.out.mesh;
        p->error.primitive = p->primitive.out.primitive;
    }
}

static void cook_small(void *context, uint32_t index)
{
    cook_job *job = context;
    cook_one(job, job->small_ones[index], &job->single);
}

static bool use_after(const skin_use *a, const skin_use *b)
{
    return a->mesh != b->mesh ? a->mesh > b->mesh : a->skin > b->skin;
}

static void sift_down(skin_use *uses, uint32_t count, uint32_t at)
{
    for (uint64_t child = 2 * (uint64_t)at + 1; child < count; child = 2 * (uint64_t)at + 1) {
        if (child + 1 < count && use_after(&uses[child + 1], &uses[child])) {
            child++;
        }
        if (!use_after(&uses[child], &uses[at])) {
            return;
        }
        skin_use moved = uses[at];
        uses[at] = uses[child];
        uses[child] = moved;
        at = (uint32_t)child;
    }
}

// Heap sort, then each pair once.
static void sort_uses(cook_job *job)
{
    skin_use *uses = job->uses;
    for (uint32_t i = job->use_count / 2; i-- > 0;) {
        sift_down(uses, job->use_count, i);
    }
    for (uint32_t end = job->use_count; end-- > 1;) {
        skin_use last = uses[end];
        uses[end] = uses[0];
        uses[0] = last;
        sift_down(uses, end, 0);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < job->use_count; i++) {
        if (kept == 0 || use_after(&uses[i], &uses[kept - 1])) {
            uses[kept++] = uses[i];
        }
    }
    job->use_count = kept;
}

static pelt_result list_uses(cook_job *job, pelt_error *error)
{
    const pelt_asset_data *asset = job->asset;
    job->uses = pelti_cook_allocate(&job->arena, asset->instance_count, sizeof *job->uses);
    if (!job->uses) {
        return fail_memory(error);
    }
    for (uint32_t i = 0; i < asset->instance_count; i++) {
        if (asset->instances[i].skin != PELT_NONE) {
            job->uses[job->use_count++] = (skin_use){asset->instances[i].mesh, asset->instances[i].skin};
        }
    }
    sort_uses(job);
    return PELT_OK;
}

// Joint boxes to come: by primitive, then skin.
static pelt_result list_boxes(cook_job *job, pelt_error *error)
{
    pelt_result result = list_uses(job, error);
    if (result != PELT_OK) {
        return result;
    }
    uint64_t total = 0;
    for (uint32_t i = 0; i < job->use_count && total <= UINT32_MAX; i++) {
        total += job->asset->meshes[job->uses[i].mesh].primitive_count;
    }
    if (total >= UINT32_MAX) {
        return pelti_fail(error, PELT_ERROR_LIMIT, "", "over 4 billion sets of joint boxes");
    }
    job->joint_boxes = pelti_cook_allocate(&job->arena, total, sizeof *job->joint_boxes);
    if (!job->joint_boxes) {
        return fail_memory(error);
    }
    uint32_t use = 0;
    for (uint32_t i = 0; i < job->primitive_count; i++) {
        primitive_job *p = &job->primitives[i];
        while (use < job->use_count && job->uses[use].mesh < p->primitive.out.mesh) {
            use++;
        }
        p->first_boxes = job->joint_boxes_count;
        if (use < job->use_count && job->uses[use].mesh == p->primitive.out.mesh) {
            p->primitive.skin = &job->asset->skins[job->uses[use].skin];
        }
        for (uint32_t u = use; u < job->use_count && job->uses[u].mesh == p->primitive.out.mesh; u++) {
            job->joint_boxes[job->joint_boxes_count++] = (pelt_joint_boxes){.primitive = i, .skin = job->uses[u].skin};
            p->boxes_count++;
        }
    }
    return PELT_OK;
}

static pelt_result list_primitives(cook_job *job, pelt_error *error)
{
    const pelt_asset_data *asset = job->asset;
    uint64_t total = 0;
    for (uint32_t m = 0; m < asset->mesh_count; m++) {
        total += asset->meshes[m].primitive_count;
    }
    if (total >= UINT32_MAX) {
        return pelti_fail(error, PELT_ERROR_LIMIT, "", "over 4 billion primitives");
    }
    job->primitives = pelti_cook_allocate(&job->arena, total, sizeof *job->primitives);
    job->small_ones = pelti_cook_allocate(&job->arena, total, sizeof *job->small_ones);
    if (!job->primitives || !job->small_ones) {
        return fail_memory(error);
    }
    for (uint32_t m = 0; m < asset->mesh_count; m++) {
        for (uint32_t k = 0; k < asset->meshes[m].primitive_count; k++) {
            const pelt_primitive *source = &asset->meshes[m].primitives[k];
            primitive_job *p = &job->primitives[job->primitive_count++];
            p->arena.allocator = job->options.allocator;
            p->primitive.asset = asset;
            p->primitive.source = source;
            p->primitive.arena = &p->arena;
            p->primitive.out.mesh = m;
            p->primitive.out.primitive = k;
            p->primitive.out.topology = source->topology;
            p->primitive.out.material = source->material;
            p->primitive.out.source_vertex_count = source->vertex_count;
            p->primitive.out.encoding = job->options.weights;
            p->primitive.out.target_count = asset->meshes[m].target_count;
            p->primitive.out.has_declared_box = source->has_declared_box;
            p->primitive.out.declared_box = source->declared_box;
        }
    }
    return PELT_OK;
}

// The caller's allocator is only called from the caller's thread: with one, primitives are cooked one after the other.
static pelt_result cook_primitives(cook_job *job, pelt_error *error)
{
    for (uint32_t i = 0; i < job->primitive_count; i++) {
        if (!job->options.allocator.resize && job->primitives[i].primitive.source->vertex_count < LARGE_VERTEX_COUNT) {
            job->small_ones[job->small_count++] = i;
            continue;
        }
        cook_one(job, i, &job->step);
        if (job->primitives[i].result != PELT_OK) {
            break;
        }
    }
    pelti_parallel_run(job->options.parallel, job->small_count, cook_small, job);
    for (uint32_t i = 0; i < job->primitive_count; i++) {
        const primitive_job *p = &job->primitives[i];
        if (p->result != PELT_OK) {
            if (error) {
                *error = p->error;
            }
            return p->result;
        }
    }
    return PELT_OK;
}

static void tell_dropped(const cook_job *job)
{
    for (uint32_t i = 0; i < job->primitive_count; i++) {
        const cook_primitive *p = &job->primitives[i].primitive;
        uint32_t count = p->report.dropped_vertex_count;
        if (count > 0) {
            char where[64];
            snprintf(where, sizeof where, "/meshes/%u/primitives/%u", p->out.mesh, p->out.primitive);
            pelti_warn(&job->options.log, where,
                       "mesh %u, primitive %u: %u of %u vertices %s dropped: no index uses %s", p->out.mesh,
                       p->out.primitive, count, p->out.source_vertex_count, count == 1 ? "is" : "are",
                       count == 1 ? "it" : "them");
        }
    }
}

static pelt_result write_file(cook_job *job, void **out_data, uint64_t *out_size, pelt_error *error)
{
    cook_primitive *primitives = pelti_cook_allocate(&job->arena, job->primitive_count, sizeof *primitives);
    if (!primitives) {
        return fail_memory(error);
    }
    for (uint32_t i = 0; i < job->primitive_count; i++) {
        primitives[i] = job->primitives[i].primitive;
    }
    cook_writer writer = {
        .arena = &job->arena,
        .asset = job->asset,
        .options = &job->options,
        .primitive_count = job->primitive_count,
        .primitives = primitives,
        .joint_boxes_count = job->joint_boxes_count,
        .joint_boxes = job->joint_boxes,
    };
    pelt_result result = pelti_cook_list_sections(&writer, error);
    return result == PELT_OK ? pelti_cook_lay_out(&writer, out_data, out_size, error) : result;
}

static pelt_result resolve_options(cook_job *job, const pelt_cook_options *options, pelt_error *error)
{
    if (options) {
        job->options = *options;
    }
    pelt_cook_options *used = &job->options;
    if (used->morph_weight_min == 0.0f && used->morph_weight_max == 0.0f) {
        used->morph_weight_max = 1.0f;
    }
    bool finite = isfinite(used->morph_weight_min) && isfinite(used->morph_weight_max);
    if (!finite || used->morph_weight_min > used->morph_weight_max) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "the range of morph weights is empty or not finite");
    }
    if (used->weights != PELT_WEIGHTS_SORTED && used->weights != PELT_WEIGHTS_PLAIN) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "weight encoding %d is unknown", (int)used->weights);
    }
    job->step = *used;
    job->step.log = (pelt_log){0};
    job->single = job->step;
    job->single.parallel = NULL;
    job->arena.allocator = used->allocator;
    return PELT_OK;
}

pelt_result pelt_cook(const pelt_asset *asset, const pelt_cook_options *options, void **out_data, uint64_t *out_size,
                      pelt_cook_report *reports, pelt_error *error)
{
    pelti_error_clear(error);
    if (out_data) {
        *out_data = NULL;
    }
    if (!asset || !out_data || !out_size) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "an argument is NULL");
    }
    *out_size = 0;
    cook_job job = {.asset = pelt_asset_get(asset)};
    pelt_result result = resolve_options(&job, options, error);
    result = result == PELT_OK ? list_primitives(&job, error) : result;
    result = result == PELT_OK ? list_boxes(&job, error) : result;
    result = result == PELT_OK ? cook_primitives(&job, error) : result;
    result = result == PELT_OK ? write_file(&job, out_data, out_size, error) : result;
    if (result == PELT_OK) {
        tell_dropped(&job);
        for (uint32_t i = 0; reports && i < job.primitive_count; i++) {
            reports[i] = job.primitives[i].primitive.report;
        }
    }
    for (uint32_t i = 0; i < job.primitive_count; i++) {
        pelti_cook_release_arena(&job.primitives[i].arena);
    }
    pelti_cook_release_arena(&job.arena);
    return result;
}

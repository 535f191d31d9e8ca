// SPDX-License-Identifier: MIT
// The CPU's ways of skinning as backends. The first is the scalar kernel, the reference of all others.
#include "verify.h"

#include <stdlib.h>
#include <string.h>

// A way to skin on the CPU. Further kernels are further entries.
typedef struct cpu_path {
    const char *name;
    pelt_result (*evaluate)(const pelt_skin_job *job);
} cpu_path;

static const cpu_path paths[] = {
    {"cpu-scalar", pelt_skin_evaluate},
};

typedef struct cpu_state {
    const cpu_path *path;
    float *positions; // two of each item's, for the histories
    float *normals;   // of the largest item
    float *tangents;
    pelt_position_history *histories; // of each item
} cpu_state;

uint32_t verify_cpu_count(void)
{
    return sizeof paths / sizeof *paths;
}

static const cpu_path *find_path(const char *name)
{
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (strcmp(paths[i].name, name) == 0) {
            return &paths[i];
        }
    }
    return &paths[0];
}

static void end(verify_backend *backend)
{
    cpu_state *s = backend->state;
    if (s) {
        free(s->positions);
        free(s->normals);
        free(s->tangents);
        free(s->histories);
        free(s);
    }
    backend->state = NULL;
    backend->model = NULL;
}

static int begin(verify_backend *backend, const verify_model *m)
{
    cpu_state *s = calloc(1, sizeof *s);
    backend->state = s;
    backend->model = m;
    if (!s) {
        return verify_out_of_memory(m);
    }
    s->path = find_path(backend->name);
    // Counts are below 2^32, so the products do not overflow.
    s->positions = calloc((size_t)m->vertex_count + 1, 6 * sizeof(float));
    s->normals = calloc((size_t)m->largest + 1, 3 * sizeof(float));
    s->tangents = calloc((size_t)m->largest + 1, 4 * sizeof(float));
    s->histories = calloc((size_t)m->item_count + 1, sizeof *s->histories);
    if (!s->positions || !s->normals || !s->tangents || !s->histories) {
        return verify_out_of_memory(m);
    }
    float *at = s->positions;
    for (uint32_t i = 0; i < m->item_count; i++) {
        size_t size = 3 * (size_t)m->items[i].source->vertex_count;
        s->histories[i] = pelt_position_history_init(at, at + size);
        at += 2 * size;
    }
    return CLI_DONE;
}

static int update(verify_backend *backend)
{
    cpu_state *s = backend->state;
    for (uint32_t i = 0; i < backend->model->item_count; i++) {
        pelt_position_history_advance(&s->histories[i], false);
    }
    return CLI_DONE;
}

static pelt_result joint_bounds(const verify_model *m, const verify_item *item, pelt_box *out)
{
    const pelt_instance *instance = &pelt_asset_get(m->asset)->instances[item->instance];
    pelt_joint_bounds_job job = {
        .pose = m->pose,
        .skin = instance->skin,
        .joint_count = item->joint_boxes->joint_count,
        .boxes = item->joint_boxes->boxes,
        .bind_box = item->bind_box,
        .influence_count = item->source->influence_count,
        .target_count = pelt_asset_get(m->asset)->meshes[instance->mesh].target_count,
    };
    return pelt_joint_bounds(&job, out);
}

static int read_item(verify_backend *backend, uint32_t index, verify_output *out)
{
    cpu_state *s = backend->state;
    const verify_model *m = backend->model;
    const verify_item *item = &m->items[index];
    const pelt_primitive *source = item->source;
    const pelt_position_history *history = &s->histories[index];
    *out = (verify_output){.positions = history->current,
                           .normals = source->normals ? s->normals : NULL,
                           .tangents = source->tangents ? s->tangents : NULL,
                           .previous = history->previous_valid ? history->previous : NULL,
                           .has_conservative = item->joint_boxes != NULL};
    pelt_skin_job job = {
        .vertex_count = source->vertex_count,
        .palette_count = item->palette_count,
        .palette = m->palettes[item->palette].palette,
        .influence_count = item->rigid ? 0 : source->influence_count,
        .joints = item->rigid ? NULL : source->joints,
        .weights = item->rigid ? NULL : source->weights,
        .positions = source->positions,
        .normals = source->normals,
        .tangents = source->tangents,
        .morph_count = verify_model_morphs(m, item),
        .morphs = m->morphs,
        .out_positions = history->current,
        .out_normals = source->normals ? s->normals : NULL,
        .out_tangents = source->tangents ? s->tangents : NULL,
        .box = &out->box,
        .parallel = &m->context->parallel,
    };
    pelt_result result = s->path->evaluate(&job);
    if (result == PELT_OK && item->joint_boxes) {
        result = joint_bounds(m, item, &out->conservative);
    }
    return result == PELT_OK ? CLI_DONE
                             : cli_fail(m->context, cli_exit_of(result), m->context->options.input, NULL, NULL,
                                        "skinning on %s failed: %s", backend->name, pelt_result_name(result));
}

static const verify_backend_type cpu_type = {.begin = begin, .update = update, .read = read_item, .end = end};

void verify_cpu_init(uint32_t index, verify_backend *out)
{
    *out = (verify_backend){.type = &cpu_type};
    snprintf(out->name, sizeof out->name, "%s", paths[index].name);
    snprintf(out->label, sizeof out->label, "%s", paths[index].name);
}

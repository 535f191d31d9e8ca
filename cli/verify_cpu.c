// SPDX-License-Identifier: MIT
// The CPU's kernels as backends. The first is the scalar one, the reference of all others, on the streams that the
// packed ones unpack to. The others take those for half of their work and the packed streams themselves for the rest.
#include "verify.h"

#include <stdlib.h>
#include <string.h>

typedef struct cpu_state {
    pelt_isa isa;
    uint32_t update_count;
    float *positions; // two of each item's, for the histories
    float *normals;   // of the largest item
    float *tangents;
    pelt_position_history *histories; // of each item
} cpu_state;

// The index-th of the instruction sets that may be used, the scalar one first; PELT_ISA_COUNT past the last.
static pelt_isa usable_isa(const cli_context *context, uint32_t index)
{
    for (int i = PELT_ISA_SCALAR; i < PELT_ISA_COUNT; i++) {
        pelt_isa isa = (pelt_isa)i;
        if (pelt_isa_choose(isa, context->disabled_isas) != isa ||
            (context->isa != PELT_ISA_BEST && isa > context->isa)) {
            continue;
        }
        if (index == 0) {
            return isa;
        }
        index--;
    }
    return PELT_ISA_COUNT;
}

uint32_t verify_cpu_count(const cli_context *context)
{
    uint32_t count = 0;
    while (usable_isa(context, count) != PELT_ISA_COUNT) {
        count++;
    }
    return count;
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
    s->isa = backend->isa;
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
    s->update_count++;
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

// The packed streams in place of those that they unpack to.
static void take_packed(const verify_model *m, const verify_item *item, pelt_packed_streams *packed, pelt_skin_job *job)
{
    *packed = pelt_cooked_streams(&m->streams->primitives[item->cooked]);
    if (item->rigid) {
        packed->weights = NULL;
    }
    pelt_skin_job_set_packed(job, packed);
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
    pelt_packed_streams packed;
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
        .isa = s->isa,
        .disabled_isas = m->context->disabled_isas,
        .parallel = &m->context->parallel,
    };
    if (s->isa != PELT_ISA_SCALAR && (index + s->update_count) % 2 == 0) {
        take_packed(m, item, &packed, &job);
    }
    pelt_result result = pelt_skin_evaluate(&job);
    if (result == PELT_OK && item->joint_boxes) {
        result = joint_bounds(m, item, &out->conservative);
    }
    return result == PELT_OK ? CLI_DONE
                             : cli_fail(m->context, cli_exit_of(result), m->context->options.input, NULL, NULL,
                                        "skinning on %s failed: %s", backend->name, pelt_result_name(result));
}

static const verify_backend_type cpu_type = {.begin = begin, .update = update, .read = read_item, .end = end};

void verify_cpu_init(const cli_context *context, uint32_t index, verify_backend *out)
{
    *out = (verify_backend){.type = &cpu_type, .isa = usable_isa(context, index)};
    snprintf(out->name, sizeof out->name, "cpu-%s", pelt_isa_name(out->isa));
    snprintf(out->label, sizeof out->label, "cpu-%s", pelt_isa_name(out->isa));
}

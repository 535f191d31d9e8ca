// SPDX-License-Identifier: MIT
// A Vulkan device as a backend: one scene for the whole file, updated at each moment and read back item by item.
#include "gpu_scene.h"
#include "verify.h"

#include <stdlib.h>

enum {
    BATCH_BYTES = 64 << 20, // read back at once, where one item is not more
    VERTEX_BYTES = 12 + 12 + 4 + 4
};

// An item's place in memory, and what the device said of it.
typedef struct gpu_item_state {
    size_t first_vertex; // in the memory of its batch
    uint32_t batch_end;  // the item after the last of its batch
    bool conservative;
    bool previous_valid;
    pelt_box boxes[2]; // exact, conservative
} gpu_item_state;

typedef struct gpu_state {
    gpu_scene scene; // its palettes and primitives are those of the model
    gpu_item_state *items;
    size_t batch_vertices; // that memory holds
    float *positions;
    float *previous;
    uint32_t *normals;
    uint32_t *tangents;
    uint32_t batch_first; // items that memory holds
    uint32_t batch_end;
} gpu_state;

// The scene's frames have all been waited for, since gpu_run waits.
static void end(verify_backend *backend)
{
    gpu_state *s = backend->state;
    if (s) {
        gpu_scene_destroy(&s->scene);
        free(s->items);
        free(s->positions);
        free(s->previous);
        free(s->normals);
        free(s->tangents);
        free(s);
    }
    backend->state = NULL;
    backend->model = NULL;
}

static bool allocate(gpu_state *s, const verify_model *m)
{
    s->items = calloc((size_t)m->item_count + 1, sizeof *s->items);
    if (!s->items) {
        return false;
    }
    uint32_t first = 0;
    size_t vertices = 0;
    for (uint32_t i = 0; i <= m->item_count; i++) {
        size_t count = i < m->item_count ? m->items[i].source->vertex_count : 0;
        if (i == m->item_count || (i > first && (vertices + count) * VERTEX_BYTES > BATCH_BYTES)) {
            for (; first < i; first++) {
                s->items[first].batch_end = i;
            }
            s->batch_vertices = vertices > s->batch_vertices ? vertices : s->batch_vertices;
            vertices = 0;
        }
        s->items[i].first_vertex = vertices;
        vertices += count;
    }
    s->positions = calloc(s->batch_vertices + 1, 3 * sizeof(float));
    s->previous = calloc(s->batch_vertices + 1, 3 * sizeof(float));
    s->normals = calloc(s->batch_vertices + 1, sizeof(uint32_t));
    s->tangents = calloc(s->batch_vertices + 1, sizeof(uint32_t));
    return s->positions && s->previous && s->normals && s->tangents;
}

// ---- the scene

static int add_item(gpu_state *s, const verify_model *m, uint32_t index)
{
    const verify_item *item = &m->items[index];
    gpu_item_state *out = &s->items[index];
    out->conservative = item->rigid || item->joint_boxes;
    pelt_vk_instance_options options = {
        .rigid = item->rigid,
        .bounds = out->conservative ? PELT_VK_BOUNDS_BOTH : PELT_VK_BOUNDS_EXACT,
    };
    return gpu_scene_add(&s->scene, m->streams, item->cooked, item->instance, item->palette, options);
}

static int begin(verify_backend *backend, const verify_model *m)
{
    gpu_state *s = calloc(1, sizeof *s);
    backend->state = s;
    backend->model = m;
    if (!s || !allocate(s, m)) {
        return verify_out_of_memory(m);
    }
    gpu_scene_source source = {.asset = m->asset,
                               .streams = m->streams,
                               .palette_count = m->palette_count,
                               .palettes = m->palettes,
                               .capacity = m->item_count,
                               .conservative = true};
    int code = gpu_scene_create(backend->gpu, &source, &s->scene);
    for (uint32_t i = 0; i < m->item_count && code == CLI_DONE; i++) {
        code = add_item(s, m, i);
    }
    return code;
}

// ---- a moment

static int update(verify_backend *backend)
{
    gpu_state *s = backend->state;
    const verify_model *m = backend->model;
    const pelt_asset_data *data = pelt_asset_get(m->asset);
    int code = CLI_DONE;
    s->batch_first = 0;
    s->batch_end = 0;
    for (uint32_t i = 0; i < m->palette_count && code == CLI_DONE; i++) {
        code = gpu_scene_set_palette(&s->scene, i, false, NULL);
    }
    for (uint32_t i = 0; i < m->item_count && code == CLI_DONE; i++) {
        const pelt_instance *instance = &data->instances[m->items[i].instance];
        code = gpu_scene_set_weights(&s->scene, i, pelt_pose_weights(m->pose, instance->node),
                                     data->meshes[instance->mesh].target_count);
    }
    code = code == CLI_DONE ? gpu_scene_record(&s->scene) : code;
    return code == CLI_DONE ? gpu_scene_run(&s->scene) : code;
}

static int ask_stream(const verify_backend *backend, const char *what, const pelt_vk_stream *stream, size_t wanted,
                      void *out)
{
    if (stream->size != wanted) {
        return cli_fail(backend->model->context, CLI_INVALID, backend->model->context->options.input, NULL, NULL,
                        "%s: %s take %llu bytes in place of %zu", backend->name, what, (unsigned long long)stream->size,
                        wanted);
    }
    return gpu_read(backend->gpu, stream, out);
}

static int ask_item(verify_backend *backend, uint32_t index)
{
    gpu_state *s = backend->state;
    gpu_item_state *item = &s->items[index];
    const pelt_primitive *source = backend->model->items[index].source;
    size_t count = source->vertex_count;
    pelt_vk_view view;
    int code = gpu_scene_view(&s->scene, index, &view);
    if (code != CLI_DONE) {
        return code;
    }
    item->previous_valid = view.previous_valid;
    code = ask_stream(backend, "positions", &view.positions, 12 * count, s->positions + 3 * item->first_vertex);
    if (code == CLI_DONE && view.previous_valid) {
        code = ask_stream(backend, "previous positions", &view.previous_positions, 12 * count,
                          s->previous + 3 * item->first_vertex);
    }
    if (code == CLI_DONE) {
        code = ask_stream(backend, "normals", &view.normals, source->normals ? 4 * count : 0,
                          s->normals + item->first_vertex);
    }
    if (code == CLI_DONE) {
        code = ask_stream(backend, "tangents", &view.tangents, source->tangents ? 4 * count : 0,
                          s->tangents + item->first_vertex);
    }
    if (code == CLI_DONE) {
        code = ask_stream(backend, "the box", &view.box, sizeof(pelt_box), &item->boxes[0]);
    }
    if (code == CLI_DONE) {
        code = ask_stream(backend, "the conservative box", &view.conservative_box,
                          item->conservative ? sizeof(pelt_box) : 0, &item->boxes[1]);
    }
    return code;
}

static int read_batch(verify_backend *backend, uint32_t first)
{
    gpu_state *s = backend->state;
    s->batch_end = s->batch_first;
    int code = gpu_begin(backend->gpu);
    for (uint32_t i = first; i < s->items[first].batch_end && code == CLI_DONE; i++) {
        code = ask_item(backend, i);
    }
    code = code == CLI_DONE ? gpu_run(backend->gpu) : code;
    if (code == CLI_DONE) {
        s->batch_first = first;
        s->batch_end = s->items[first].batch_end;
    }
    return code;
}

static int read_item(verify_backend *backend, uint32_t index, verify_output *out)
{
    gpu_state *s = backend->state;
    const gpu_item_state *item = &s->items[index];
    const pelt_primitive *source = backend->model->items[index].source;
    if (index < s->batch_first || index >= s->batch_end) {
        int code = read_batch(backend, index);
        if (code != CLI_DONE) {
            return code;
        }
    }
    *out = (verify_output){.positions = s->positions + 3 * item->first_vertex,
                           .previous = item->previous_valid ? s->previous + 3 * item->first_vertex : NULL,
                           .packed_normals = source->normals ? s->normals + item->first_vertex : NULL,
                           .packed_tangents = source->tangents ? s->tangents + item->first_vertex : NULL,
                           .box = item->boxes[0],
                           .own_palette = true,
                           .has_conservative = item->conservative,
                           .conservative = item->boxes[1]};
    return CLI_DONE;
}

const verify_backend_type verify_gpu_type = {.begin = begin, .update = update, .read = read_item, .end = end};

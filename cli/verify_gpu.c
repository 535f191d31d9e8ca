// SPDX-License-Identifier: MIT
// A Vulkan device as a backend: one scene for the whole file, updated at each moment and read back item by item.
#include "verify.h"

#include <stdlib.h>

enum {
    BATCH_BYTES = 64 << 20, // read back at once, where one item is not more
    VERTEX_BYTES = 12 + 12 + 4 + 4
};

// An item's place in memory, and what the device said of it.
typedef struct gpu_item_state {
    pelt_vk_instance instance;
    size_t first_vertex; // in the memory of its batch
    uint32_t batch_end;  // the item after the last of its batch
    bool conservative;
    bool previous_valid;
    pelt_box boxes[2]; // exact, conservative
} gpu_item_state;

typedef struct gpu_state {
    pelt_vk_scene *scene;
    pelt_vk_palette *palettes; // of each palette of the model
    pelt_vk_mesh *meshes;      // of each primitive of the cooked data; {0} where no item uses it
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
        pelt_vk_scene_destroy(s->scene);
        free(s->palettes);
        free(s->meshes);
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
    s->palettes = calloc((size_t)m->palette_count + 1, sizeof *s->palettes);
    s->meshes = calloc((size_t)m->streams->primitive_count + 1, sizeof *s->meshes);
    s->items = calloc((size_t)m->item_count + 1, sizeof *s->items);
    if (!s->palettes || !s->meshes || !s->items) {
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

static pelt_result add_palettes(gpu_state *s, const verify_model *m, pelt_error *error)
{
    const pelt_asset_data *data = pelt_asset_get(m->asset);
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; i < m->palette_count && result == PELT_OK; i++) {
        uint32_t index = m->palettes[i].skin;
        const pelt_skin *from = index == PELT_NONE ? NULL : &data->skins[index];
        pelt_vk_skin skin;
        result =
            pelt_vk_skin_add(s->scene, from ? from->inverse_binds : NULL, from ? from->joint_count : 1, &skin, error);
        if (result == PELT_OK) {
            result = pelt_vk_palette_add(s->scene, skin, &s->palettes[i], error);
        }
    }
    return result;
}

static pelt_result add_item(gpu_state *s, const verify_model *m, uint32_t index, pelt_error *error)
{
    const verify_item *item = &m->items[index];
    gpu_item_state *out = &s->items[index];
    pelt_vk_mesh *mesh = &s->meshes[item->cooked];
    if (mesh->generation == 0) {
        pelt_result result = pelt_vk_mesh_add(s->scene, m->streams, item->cooked, mesh, error);
        if (result != PELT_OK) {
            return result;
        }
    }
    out->conservative = item->rigid || item->joint_boxes;
    pelt_vk_instance_options options = {
        .mesh = *mesh,
        .palette = s->palettes[item->palette],
        .rigid = item->rigid,
        .bounds = out->conservative ? PELT_VK_BOUNDS_BOTH : PELT_VK_BOUNDS_EXACT,
        .skin = item->rigid ? 0 : pelt_asset_get(m->asset)->instances[item->instance].skin,
    };
    return pelt_vk_instance_add(s->scene, &options, &out->instance, error);
}

static int begin(verify_backend *backend, const verify_model *m)
{
    gpu_state *s = calloc(1, sizeof *s);
    pelt_error error = {0};
    backend->state = s;
    backend->model = m;
    if (!s || !allocate(s, m)) {
        return verify_out_of_memory(m);
    }
    pelt_vk_scene_options options = {.allow_conservative = true};
    pelt_result result = pelt_vk_scene_create(backend->gpu->pelt, &options, &s->scene, &error);
    result = result == PELT_OK ? add_palettes(s, m, &error) : result;
    for (uint32_t i = 0; i < m->item_count && result == PELT_OK; i++) {
        result = add_item(s, m, i, &error);
    }
    return result == PELT_OK ? CLI_DONE : gpu_fail(backend->gpu, "adding the meshes", result, &error);
}

// ---- a moment

static pelt_result write_pose(gpu_state *s, const verify_model *m, pelt_error *error)
{
    const pelt_asset_data *data = pelt_asset_get(m->asset);
    for (uint32_t i = 0; i < m->palette_count; i++) {
        const pelt_palette_item *palette = &m->palettes[i];
        pelt_mat34 *world = NULL;
        pelt_result result = pelt_vk_palette_write(s->scene, s->palettes[i], &world, error);
        if (result != PELT_OK) {
            return result;
        }
        if (palette->skin == PELT_NONE) {
            world[0] = pelt_pose_world(m->pose, palette->node);
            continue;
        }
        const pelt_skin *skin = &data->skins[palette->skin];
        for (uint32_t j = 0; j < skin->joint_count; j++) {
            world[j] = pelt_pose_world(m->pose, skin->joints[j]);
        }
    }
    for (uint32_t i = 0; i < m->item_count; i++) {
        const pelt_instance *instance = &data->instances[m->items[i].instance];
        uint32_t count = data->meshes[instance->mesh].target_count;
        pelt_result result = PELT_OK;
        if (count > 0) {
            const float *weights = pelt_pose_weights(m->pose, instance->node);
            result = pelt_vk_instance_set_weights(s->scene, s->items[i].instance, weights, count);
        }
        if (result != PELT_OK) {
            return result;
        }
    }
    return PELT_OK;
}

static int update(verify_backend *backend)
{
    gpu_state *s = backend->state;
    gpu *g = backend->gpu;
    pelt_error error = {0};
    s->batch_first = 0;
    s->batch_end = 0;
    pelt_result result = write_pose(s, backend->model, &error);
    if (result != PELT_OK) {
        return gpu_fail(g, "writing the pose", result, &error);
    }
    int code = gpu_begin(g);
    if (code != CLI_DONE) {
        return code;
    }
    result = pelt_vk_record(s->scene, g->cmd, g->frame, NULL, &error);
    if (result != PELT_OK) {
        return gpu_fail(g, "skinning", result, &error);
    }
    code = gpu_run(g);
    if (code == CLI_DONE) {
        pelt_vk_retire(s->scene, g->frame);
    }
    return code;
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
    pelt_result result = pelt_vk_instance_view(s->scene, item->instance, &view);
    if (result != PELT_OK) {
        pelt_error error = {.code = result};
        return gpu_fail(backend->gpu, "viewing an instance", result, &error);
    }
    item->previous_valid = view.previous_valid;
    int code = ask_stream(backend, "positions", &view.positions, 12 * count, s->positions + 3 * item->first_vertex);
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

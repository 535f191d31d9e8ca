// SPDX-License-Identifier: MIT
// The library as a contender: a scene of its own, every palette written anew for each update.
#include "bench_gpu.h"

#include <stdlib.h>
#include <string.h>

// Uploads wait in mapped memory for the next record; so much of it at once is enough.
static const uint64_t upload_size = UINT64_C(64) << 20;

typedef struct pelt_state {
    gpu *device;
    const bench_gpu_model *model;
    pelt_vk_bounds bounds;
    uint32_t item_vertices;
    bool new_list;
    bool turned;                // the last update was in the other order
    const pelt_mat34 *matrices; // what palettes are written with
    pelt_vk_scene *scene;
    pelt_vk_skin *skins;
    pelt_vk_palette *palettes;
    pelt_vk_mesh *meshes;
    pelt_vk_instance *instances;
    pelt_error error;
} pelt_state;

// ---- set-up

// Records and waits, so that what was uploaded leaves the mapped memory.
static pelt_result flush(pelt_state *s)
{
    if (gpu_begin(s->device) != CLI_DONE) {
        return PELT_ERROR_DEVICE;
    }
    uint64_t frame = s->device->frame;
    pelt_result result = pelt_vk_record(s->scene, s->device->cmd, frame, NULL, &s->error);
    if (result == PELT_OK && gpu_run(s->device) != CLI_DONE) {
        result = PELT_ERROR_DEVICE;
    }
    pelt_vk_retire(s->scene, frame);
    return result;
}

static pelt_result add_skins(pelt_state *s)
{
    const bench_gpu_model *m = s->model;
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < m->skin_count; i++) {
        // Exact boxes take the same matrices as the other contenders, so there is nothing left for the binds to do.
        bool own = s->bounds == PELT_VK_BOUNDS_CONSERVATIVE;
        result = pelt_vk_skin_add(s->scene, own ? m->skins[i].binds : NULL, m->skins[i].joint_count, &s->skins[i],
                                  &s->error);
    }
    for (uint32_t i = 0; result == PELT_OK && i < m->data.palette_count; i++) {
        result = pelt_vk_palette_add(s->scene, s->skins[m->palette_skins[i]], &s->palettes[i], &s->error);
    }
    return result;
}

static pelt_result add_meshes(pelt_state *s)
{
    const bench_gpu_model *m = s->model;
    pelt_result result = PELT_OK;
    uint64_t waiting = 0;
    for (uint32_t i = 0; result == PELT_OK && i < m->data.mesh_count; i++) {
        result = pelt_vk_mesh_add(s->scene, m->streams, m->meshes[i].primitive, &s->meshes[i], &s->error);
        waiting += UINT64_C(40) * m->data.meshes[i].vertex_count;
        if (result == PELT_OK && waiting > upload_size) {
            waiting = 0;
            result = flush(s);
        }
    }
    return result;
}

static pelt_result add_instances(pelt_state *s)
{
    const bench_gpu_model *m = s->model;
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < m->data.instance_count; i++) {
        const baseline_vk_instance *instance = &m->data.instances[i];
        uint32_t skin = m->skins[m->palette_skins[instance->palette]].asset_skin;
        pelt_vk_instance_options options = {
            .mesh = s->meshes[instance->mesh],
            .palette = s->palettes[instance->palette],
            .omit = m->scene->with_previous ? 0 : PELT_VK_OMIT_PREVIOUS,
            .rigid = m->rigid[i],
            .skin = m->rigid[i] ? 0 : skin,
        };
        result = pelt_vk_instance_add(s->scene, &options, &s->instances[i], &s->error);
    }
    return result;
}

static pelt_result fill(pelt_state *s)
{
    const bench_gpu_model *m = s->model;
    const pelt_vk_scene_options options = {.bounds = s->bounds, .item_vertices = s->item_vertices};
    s->skins = calloc((size_t)m->skin_count + 1, sizeof *s->skins);
    s->palettes = calloc((size_t)m->data.palette_count + 1, sizeof *s->palettes);
    s->meshes = calloc((size_t)m->data.mesh_count + 1, sizeof *s->meshes);
    s->instances = calloc((size_t)m->data.instance_count + 1, sizeof *s->instances);
    if (!s->skins || !s->palettes || !s->meshes || !s->instances) {
        return PELT_ERROR_MEMORY;
    }
    pelt_result result = pelt_vk_scene_create(s->device->pelt, &options, &s->scene, &s->error);
    result = result == PELT_OK ? add_skins(s) : result;
    result = result == PELT_OK ? add_meshes(s) : result;
    return result == PELT_OK ? add_instances(s) : result;
}

bool bench_gpu_pelt_create(gpu *device, const bench_gpu_model *model, const bench_gpu_entry *entry, void **state,
                           char message[BENCH_GPU_REASON])
{
    pelt_state *s = calloc(1, sizeof *s);
    pelt_result result = s ? PELT_OK : PELT_ERROR_MEMORY;
    if (s) {
        s->device = device;
        s->model = model;
        s->bounds = entry->bounds;
        s->item_vertices = entry->item_vertices;
        s->new_list = entry->new_list;
        s->matrices = s->bounds == PELT_VK_BOUNDS_CONSERVATIVE ? model->worlds : model->data.matrices;
        result = fill(s);
    }
    if (result != PELT_OK) {
        snprintf(message, BENCH_GPU_REASON, "%.*s", BENCH_GPU_REASON - 1,
                 s && s->error.message[0] ? s->error.message : pelt_result_name(result));
        bench_gpu_pelt_destroy(s);
        s = NULL;
    }
    *state = s;
    return s != NULL;
}

// Every submission has been waited for.
void bench_gpu_pelt_destroy(void *state)
{
    pelt_state *s = state;
    if (s) {
        pelt_vk_scene_destroy(s->scene);
        free(s->skins);
        free(s->palettes);
        free(s->meshes);
        free(s->instances);
        free(s);
    }
}

// ---- an update

static pelt_result write_palettes(pelt_state *s)
{
    const baseline_vk_scene *data = &s->model->data;
    pelt_result result = PELT_OK;
    s->turned = s->new_list && !s->turned;
    for (uint32_t k = 0; result == PELT_OK && k < data->palette_count; k++) {
        pelt_mat34 *out = NULL;
        uint32_t i = s->turned ? data->palette_count - 1 - k : k;
        uint32_t first = data->first_matrices[i];
        result = pelt_vk_palette_write(s->scene, s->palettes[i], &out, &s->error);
        if (result == PELT_OK) {
            memcpy(out, s->matrices + first, (data->first_matrices[i + 1] - first) * sizeof *out);
        }
    }
    return result;
}

int bench_gpu_pelt_record(void *state, bench_gpu_timer *timer, pelt_vk_statistics *statistics)
{
    pelt_state *s = state;
    pelt_result result = write_palettes(s);
    int code = result == PELT_OK ? gpu_begin(s->device) : gpu_fail(s->device, "writing palettes", result, &s->error);
    if (code != CLI_DONE) {
        return code;
    }
    const uint32_t ends = 1U << PELT_VK_TIMESTAMP_PALETTES | 1U << PELT_VK_TIMESTAMP_REDUCE;
    const pelt_vk_timestamps timestamps = {timer->pool, bench_gpu_timer_record_first(), ~ends};
    bench_gpu_timer_begin(timer);
    result = pelt_vk_record_timed(s->scene, s->device->cmd, s->device->frame, &timestamps, statistics, &s->error);
    bench_gpu_timer_end(timer);
    return result == PELT_OK ? CLI_DONE : gpu_fail(s->device, "skinning", result, &s->error);
}

int bench_gpu_pelt_run(void *state)
{
    pelt_state *s = state;
    uint64_t frame = s->device->frame;
    int code = gpu_run(s->device);
    pelt_vk_retire(s->scene, frame);
    return code;
}

int bench_gpu_pelt_read(void *state, uint32_t instance, bench_gpu_codes *out)
{
    pelt_state *s = state;
    pelt_vk_view view;
    pelt_result result = pelt_vk_instance_view(s->scene, s->instances[instance], &view);
    if (result != PELT_OK) {
        return gpu_fail(s->device, "reading", result, NULL);
    }
    const pelt_vk_stream *streams[5] = {&view.positions, &view.normals, &view.tangents, &view.box,
                                        &view.conservative_box};
    void *targets[5] = {out->positions, out->normals, out->tangents, &out->box, &out->conservative};
    int code = gpu_begin(s->device);
    for (int i = 0; i < 5 && code == CLI_DONE; i++) {
        code = gpu_read(s->device, streams[i], targets[i]);
    }
    return code == CLI_DONE ? gpu_run(s->device) : code;
}

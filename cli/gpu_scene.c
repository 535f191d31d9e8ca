// SPDX-License-Identifier: MIT
// Puts an asset's instances on a Vulkan scene and updates them, one batch at a time.
#include "gpu_scene.h"

#include <math.h>
#include <stdlib.h>

static int fail(const gpu_scene *s, const char *what, pelt_result result, const pelt_error *error)
{
    return result == PELT_OK ? CLI_DONE : gpu_fail(s->device, what, result, error);
}

double gpu_scene_largest(const pelt_mat34 *m)
{
    double largest = 0.0;
    for (int i = 0; i < 12; i++) {
        largest = fmax(largest, fabs((double)m->m[i / 4][i % 4]));
    }
    return largest;
}

// Rigid palettes share one skin of one joint, which is their node.
static int add_palettes(gpu_scene *s)
{
    pelt_vk_skin rigid = {0};
    pelt_error error = {0};
    pelt_result result = pelt_vk_skin_add(s->scene, NULL, 1, &rigid, &error);
    for (uint32_t i = 0; result == PELT_OK && i < s->palette_count; i++) {
        pelt_vk_skin skin = rigid;
        if (s->items[i].skin != PELT_NONE) {
            const pelt_skin *source = &s->data->skins[s->items[i].skin];
            result = pelt_vk_skin_add(s->scene, source->inverse_binds, source->joint_count, &skin, &error);
        }
        result = result == PELT_OK ? pelt_vk_palette_add(s->scene, skin, &s->palettes[i], &error) : result;
    }
    return fail(s, "adding a palette", result, &error);
}

int gpu_scene_create(gpu *device, const gpu_scene_source *source, gpu_scene *out)
{
    *out = (gpu_scene){.device = device,
                       .data = pelt_asset_get(source->asset),
                       .palette_count = source->palette_count,
                       .items = source->palettes};
    out->palettes = calloc((size_t)source->palette_count + 1, sizeof *out->palettes);
    out->meshes = calloc((size_t)source->streams->primitive_count + 1, sizeof *out->meshes);
    out->instances = calloc((size_t)source->capacity + 1, sizeof *out->instances);
    if (!out->palettes || !out->meshes || !out->instances) {
        return fail(out, "setting up", PELT_ERROR_MEMORY, NULL);
    }
    pelt_vk_scene_options options = {.allow_conservative = source->conservative};
    pelt_error error = {0};
    pelt_result result = pelt_vk_scene_create(device->pelt, &options, &out->scene, &error);
    return result == PELT_OK ? add_palettes(out) : fail(out, "setting up", result, &error);
}

void gpu_scene_destroy(gpu_scene *s)
{
    pelt_vk_scene_destroy(s->scene);
    free(s->palettes);
    free(s->meshes);
    free(s->instances);
    *s = (gpu_scene){0};
}

int gpu_scene_add(gpu_scene *s, const pelt_cooked_data *streams, uint32_t cooked, uint32_t instance, uint32_t palette,
                  pelt_vk_instance_options options)
{
    pelt_vk_mesh *mesh = &s->meshes[cooked];
    pelt_error error = {0};
    if (mesh->generation == 0) {
        pelt_result result = pelt_vk_mesh_add(s->scene, streams, cooked, mesh, &error);
        if (result != PELT_OK) {
            return fail(s, "adding a mesh", result, &error);
        }
    }
    uint32_t skin = s->data->instances[instance].skin;
    options.mesh = *mesh;
    options.palette = s->palettes[palette];
    options.rigid = options.rigid || skin == PELT_NONE;
    options.skin = options.rigid ? 0 : skin;
    pelt_result result = pelt_vk_instance_add(s->scene, &options, &s->instances[s->count], &error);
    s->count += result == PELT_OK;
    return fail(s, "adding an instance", result, &error);
}

int gpu_scene_set_palette(gpu_scene *s, uint32_t palette, bool at_rest, double *out_largest)
{
    const pelt_palette_item *item = &s->items[palette];
    const pelt_skin *skin = item->skin == PELT_NONE ? NULL : &s->data->skins[item->skin];
    uint32_t count = skin ? skin->joint_count : 1;
    pelt_mat34 *out = NULL;
    pelt_error error = {0};
    pelt_result result = pelt_vk_palette_write(s->scene, s->palettes[palette], &out, &error);
    double largest = 0.0;
    for (uint32_t j = 0; result == PELT_OK && j < count; j++) {
        pelt_mat34 world =
            !skin && at_rest ? pelt_mat34_identity() : pelt_pose_world(item->pose, skin ? skin->joints[j] : item->node);
        largest = fmax(largest, gpu_scene_largest(&world));
        out[j] = world;
    }
    if (out_largest) {
        *out_largest = largest;
    }
    return fail(s, "writing the pose", result, &error);
}

int gpu_scene_set_weights(gpu_scene *s, uint32_t primitive, const float *weights, uint32_t count)
{
    pelt_result result =
        count ? pelt_vk_instance_set_weights(s->scene, s->instances[primitive], weights, count) : PELT_OK;
    return fail(s, "writing morph weights", result, NULL);
}

int gpu_scene_record(gpu_scene *s)
{
    gpu *device = s->device;
    int code = gpu_begin(device);
    if (code != CLI_DONE) {
        return code;
    }
    pelt_error error = {0};
    pelt_result result = pelt_vk_record(s->scene, device->cmd, device->frame, NULL, &error);
    return fail(s, "skinning", result, &error);
}

int gpu_scene_view(const gpu_scene *s, uint32_t primitive, pelt_vk_view *out)
{
    return fail(s, "skinning", pelt_vk_instance_view(s->scene, s->instances[primitive], out), NULL);
}

int gpu_scene_run(gpu_scene *s)
{
    uint64_t frame = s->device->frame;
    int code = gpu_run(s->device);
    if (code == CLI_DONE) {
        pelt_vk_retire(s->scene, frame);
    }
    return code;
}

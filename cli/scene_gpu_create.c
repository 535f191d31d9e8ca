// SPDX-License-Identifier: MIT
// Brings a scene to a Vulkan device: meshes packed and uploaded once, a palette for each skin in use and each rigid
// instance, an instance for each primitive.
#include "scene_gpu.h"

#include <stdlib.h>

static void *allocate(uint64_t count, size_t size)
{
    if (count > SIZE_MAX) {
        return NULL;
    }
    return calloc(count ? (size_t)count : 1, size);
}

static double largest_value(const float *values, size_t count)
{
    double largest = 0.0;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs((double)values[i]));
    }
    return largest;
}

// Coordinates and displacements, so that a bound on posed positions is at hand for any weights.
static bool measure_mesh(scene_gpu_mesh *mesh, const pelt_primitive *source, uint32_t target_count)
{
    size_t value_count = 3 * (size_t)source->vertex_count;
    mesh->extents = allocate(target_count, sizeof *mesh->extents);
    if (!mesh->extents) {
        return false;
    }
    mesh->extent = largest_value(source->positions, value_count);
    for (uint32_t i = 0; i < target_count; i++) {
        const float *deltas = source->targets[i].positions;
        mesh->extents[i] = deltas ? largest_value(deltas, value_count) : 0.0;
    }
    return true;
}

// Whether what was packed is what the scene's buffers were made for.
static bool agrees(const pelt_cooked_primitive *cooked, const pelt_primitive *source)
{
    return cooked->vertex_count == source->vertex_count && (cooked->normals != NULL) == (source->normals != NULL) &&
           (cooked->tangents != NULL) == (source->tangents != NULL);
}

static int add_mesh(scene *s, const pelt_cooked_data *cooked, uint32_t index, const scene_primitive *p)
{
    scene_gpu *on = ((scene_work *)s->work)->gpu;
    scene_gpu_mesh *mesh = &on->meshes[index];
    if (mesh->added) {
        return CLI_DONE;
    }
    if (index >= cooked->primitive_count || !agrees(&cooked->primitives[index], p->source)) {
        return scene_library_failure(s, "packing", PELT_ERROR_INVALID);
    }
    if (!measure_mesh(mesh, p->source, scene_primitive_mesh(s, p)->target_count)) {
        return scene_out_of_memory(s);
    }
    pelt_error error = {0};
    pelt_result result = pelt_vk_mesh_add(on->scene, cooked, index, &mesh->mesh, &error);
    mesh->added = result == PELT_OK;
    return result == PELT_OK ? CLI_DONE : gpu_fail(on->device, "adding a mesh", result, &error);
}

static int add_instance(scene *s, const pelt_cooked_data *cooked, uint32_t k)
{
    const scene_work *work = s->work;
    const scene_primitive *p = &s->primitives[k];
    const pelt_instance *instance = &pelt_asset_get(s->asset)->instances[p->instance];
    uint32_t index = work->mask_starts[instance->mesh] + p->primitive;
    int code = add_mesh(s, cooked, index, p);
    if (code != CLI_DONE) {
        return code;
    }
    bool boxes = work->streams == SCENE_BOXES;
    pelt_vk_instance_options options = {
        .mesh = work->gpu->meshes[index].mesh,
        .palette = work->gpu->items[work->instance_items[p->instance]].palette,
        .omit = PELT_VK_OMIT_PREVIOUS | (boxes ? PELT_VK_OMIT_NORMALS | PELT_VK_OMIT_TANGENTS : 0),
        .rigid = instance->skin == PELT_NONE,
    };
    pelt_error error = {0};
    pelt_result result = pelt_vk_instance_add(work->gpu->scene, &options, &work->gpu->primitives[k].instance, &error);
    return result == PELT_OK ? CLI_DONE : gpu_fail(work->gpu->device, "adding an instance", result, &error);
}

// Palettes of rigid instances are of one joint, which is their node.
static int add_palettes(scene *s)
{
    const scene_work *work = s->work;
    scene_gpu *on = work->gpu;
    const pelt_asset_data *data = pelt_asset_get(s->asset);
    pelt_vk_skin rigid = {0};
    pelt_error error = {0};
    pelt_result result = pelt_vk_skin_add(on->scene, NULL, 1, &rigid, &error);
    for (uint32_t i = 0; result == PELT_OK && i < work->item_count; i++) {
        pelt_vk_skin skin = rigid;
        on->items[i].binds = 1.0;
        if (work->items[i].skin != PELT_NONE) {
            const pelt_skin *source = &data->skins[work->items[i].skin];
            for (uint32_t j = 0; j < source->joint_count; j++) {
                on->items[i].binds = fmax(on->items[i].binds, scene_gpu_largest(&source->inverse_binds[j]));
            }
            result = pelt_vk_skin_add(on->scene, source->inverse_binds, source->joint_count, &skin, &error);
        }
        result = result == PELT_OK ? pelt_vk_palette_add(on->scene, skin, &on->items[i].palette, &error) : result;
    }
    return result == PELT_OK ? CLI_DONE : gpu_fail(on->device, "adding a palette", result, &error);
}

static int fill_scene(scene *s, const pelt_cooked_data *cooked)
{
    scene_gpu *on = ((scene_work *)s->work)->gpu;
    pelt_error error = {0};
    pelt_result result = pelt_vk_scene_create(on->device->pelt, NULL, &on->scene, &error);
    if (result != PELT_OK) {
        return gpu_fail(on->device, "setting up", result, &error);
    }
    int code = add_palettes(s);
    for (uint32_t k = 0; code == CLI_DONE && k < s->primitive_count; k++) {
        code = add_instance(s, cooked, k);
    }
    return code;
}

// The input is packed here, its vertices in the file's order, unless it came packed. The device has its own copy then.
static int cook_and_fill(scene *s)
{
    if (s->context->cooked) {
        return fill_scene(s, pelt_cooked_get(s->context->cooked));
    }
    pelt_cook_options options = {.keep_order = true, .parallel = &s->context->parallel};
    pelt_cooked_options reading = {.skip_hashes = true, .memory_limit = s->context->options.limits.memory};
    pelt_error error = {0};
    pelt_cooked *cooked = NULL;
    void *image = NULL;
    uint64_t size = 0;
    pelt_result result = pelt_cook(s->asset, &options, &image, &size, NULL, &error);
    if (result == PELT_OK) {
        result = pelt_cooked_open_memory(image, size, &reading, &cooked, &error);
    }
    error.code = result;
    int code = result == PELT_OK ? fill_scene(s, pelt_cooked_get(cooked))
                                 : cli_fail_result(s->context, s->context->options.input, &error);
    pelt_cooked_close(cooked);
    pelt_cook_release(&options, image, size);
    return code;
}

int scene_gpu_create(scene *s)
{
    scene_work *work = s->work;
    const pelt_asset_data *data = pelt_asset_get(s->asset);
    uint32_t most = 0;
    for (uint32_t i = 0; i < data->mesh_count; i++) {
        most = data->meshes[i].target_count > most ? data->meshes[i].target_count : most;
    }
    scene_gpu *on = allocate(1, sizeof *on);
    if (!on) {
        return scene_out_of_memory(s);
    }
    work->gpu = on;
    on->device = s->context->gpu;
    on->meshes = allocate(work->mask_count, sizeof *on->meshes);
    on->items = allocate(work->item_count, sizeof *on->items);
    on->primitives = allocate(s->primitive_count, sizeof *on->primitives);
    on->weights = allocate(most, sizeof *on->weights);
    if (!on->meshes || !on->items || !on->primitives || !on->weights) {
        return scene_out_of_memory(s);
    }
    return cook_and_fill(s);
}

void scene_gpu_destroy(scene *s)
{
    scene_work *work = s->work;
    scene_gpu *on = work->gpu;
    if (!on) {
        return;
    }
    pelt_vk_scene_destroy(on->scene);
    for (size_t i = 0; on->meshes && i < work->mask_count; i++) {
        free(on->meshes[i].extents);
    }
    for (uint32_t k = 0; on->primitives && k < s->primitive_count; k++) {
        free(on->primitives[k].positions);
    }
    free(on->meshes);
    free(on->items);
    free(on->primitives);
    free(on->weights);
    free(on);
    work->gpu = NULL;
}

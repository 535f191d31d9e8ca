// SPDX-License-Identifier: MIT
// Brings a scene to a Vulkan device: packs its meshes, and measures how far they can reach.
#include "scene_gpu.h"

#include <math.h>
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

static int prepare_mesh(scene *s, const pelt_cooked_data *cooked, uint32_t index, const scene_primitive *p)
{
    scene_gpu_mesh *mesh = &((scene_work *)s->work)->gpu->meshes[index];
    if (mesh->measured) {
        return CLI_DONE;
    }
    if (index >= cooked->primitive_count || !agrees(&cooked->primitives[index], p->source)) {
        return scene_library_failure(s, "packing", PELT_ERROR_INVALID);
    }
    mesh->measured = measure_mesh(mesh, p->source, scene_primitive_mesh(s, p)->target_count);
    return mesh->measured ? CLI_DONE : scene_out_of_memory(s);
}

static int add_primitive(scene *s, const pelt_cooked_data *cooked, const scene_primitive *p)
{
    const scene_work *work = s->work;
    uint32_t mesh = pelt_asset_get(s->asset)->instances[p->instance].mesh;
    uint32_t index = work->mask_starts[mesh] + p->primitive;
    uint32_t unwanted = work->streams == SCENE_BOXES ? PELT_VK_OMIT_NORMALS | PELT_VK_OMIT_TANGENTS : 0;
    pelt_vk_instance_options options = {.omit = PELT_VK_OMIT_PREVIOUS | unwanted};
    int code = prepare_mesh(s, cooked, index, p);
    return code == CLI_DONE ? gpu_scene_add(&work->gpu->scene, cooked, index, p->instance,
                                            work->instance_items[p->instance], options)
                            : code;
}

static void measure_binds(const scene *s)
{
    const scene_work *work = s->work;
    const pelt_asset_data *data = pelt_asset_get(s->asset);
    for (uint32_t i = 0; i < work->item_count; i++) {
        const pelt_skin *skin = work->items[i].skin == PELT_NONE ? NULL : &data->skins[work->items[i].skin];
        double largest = 1.0;
        for (uint32_t j = 0; skin && j < skin->joint_count; j++) {
            largest = fmax(largest, gpu_scene_largest(&skin->inverse_binds[j]));
        }
        work->gpu->items[i].binds = largest;
    }
}

static int fill_scene(scene *s, const pelt_cooked_data *cooked)
{
    const scene_work *work = s->work;
    gpu_scene_source source = {.asset = s->asset,
                               .streams = cooked,
                               .palette_count = work->item_count,
                               .palettes = work->items,
                               .capacity = s->primitive_count};
    int code = gpu_scene_create(s->context->gpu, &source, &work->gpu->scene);
    for (uint32_t k = 0; code == CLI_DONE && k < s->primitive_count; k++) {
        code = add_primitive(s, cooked, &s->primitives[k]);
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
    on->meshes = allocate(work->mask_count, sizeof *on->meshes);
    on->items = allocate(work->item_count, sizeof *on->items);
    on->primitives = allocate(s->primitive_count, sizeof *on->primitives);
    on->weights = allocate(most, sizeof *on->weights);
    if (!on->meshes || !on->items || !on->primitives || !on->weights) {
        return scene_out_of_memory(s);
    }
    measure_binds(s);
    return cook_and_fill(s);
}

void scene_gpu_destroy(scene *s)
{
    scene_work *work = s->work;
    scene_gpu *on = work->gpu;
    if (!on) {
        return;
    }
    gpu_scene_destroy(&on->scene);
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

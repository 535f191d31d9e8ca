// SPDX-License-Identifier: MIT
// Evaluates a scene on a Vulkan device: matrices and morph weights go there, posed vertices or boxes come back, all of
// a moment in one submission.
#include "scene_gpu.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(pelt_box) == sizeof(VkAabbPositionsKHR), "boxes are read as they stand");

// A moment's request: where the rigid items stand in their own space, their matrix is the identity.
typedef struct moment {
    scene *scene;
    scene_gpu *gpu;
    bool rest;
} moment;

static int out_of_memory(const moment *m)
{
    return scene_out_of_memory(m->scene);
}

// ---- what goes to the device

// Each entry of a skinning matrix is a sum of at most four products.
static int write_palette(const moment *m, uint32_t index)
{
    scene_gpu_item *item = &m->gpu->items[index];
    double largest = 0.0;
    int code = gpu_scene_set_palette(&m->gpu->scene, index, m->rest, &largest);
    item->matrices = 4.0 * item->binds * largest;
    return code;
}

// Sets the weights; *out_extent becomes what no coordinate of a morphed vertex passes.
static int write_weights(const moment *m, uint32_t k, double *out_extent)
{
    const scene *s = m->scene;
    const scene_work *work = s->work;
    const scene_primitive *p = &s->primitives[k];
    uint32_t mesh = pelt_asset_get(s->asset)->instances[p->instance].mesh;
    const scene_gpu_mesh *measured = &m->gpu->meshes[work->mask_starts[mesh] + p->primitive];
    uint32_t count = scene_primitive_mesh(s, p)->target_count;
    double extent = measured->extent;
    for (uint32_t i = 0; i < count; i++) {
        m->gpu->weights[i] = scene_morph_weight(s, p, i);
        extent += fabs((double)m->gpu->weights[i]) * measured->extents[i];
    }
    *out_extent = extent;
    return gpu_scene_set_weights(&m->gpu->scene, k, m->gpu->weights, count);
}

// Whether no sum on the way to a position can overflow, whatever the order, with room for compensated products.
static bool stays_finite(double matrices, double extent)
{
    return 4.0 * matrices * fmax(extent, 1.0) < 1e32;
}

static int write_inputs(const moment *m)
{
    const scene *s = m->scene;
    const scene_work *work = s->work;
    int code = CLI_DONE;
    for (uint32_t i = 0; code == CLI_DONE && i < work->item_count; i++) {
        code = work->wanted[i] ? write_palette(m, i) : CLI_DONE;
    }
    for (uint32_t k = 0; code == CLI_DONE && k < s->primitive_count; k++) {
        const scene_primitive *p = &s->primitives[k];
        if (!p->current) {
            double extent = 0.0;
            code = write_weights(m, k, &extent);
            // Of boxes alone nobody could tell that one vertex is not a number.
            m->gpu->primitives[k].reads =
                work->streams == SCENE_ALL || scene_primitive_mask(s, p) != NULL ||
                !stays_finite(m->gpu->items[work->instance_items[p->instance]].matrices, extent);
        }
    }
    return code;
}

// ---- what comes back

// Codes are read into the end of the floats that they become: a code's floats end before the next code.
static uint32_t *codes_in(float *values, size_t count, size_t width)
{
    return (uint32_t *)(void *)values + (width - 1) * count;
}

static void decode_normals(float *normals, size_t count)
{
    const uint32_t *codes = codes_in(normals, count, 3);
    for (size_t i = 0; i < count; i++) {
        uint32_t code;
        memcpy(&code, &codes[i], sizeof code);
        pelt_normal_decode(code, &normals[3 * i]);
    }
}

static void decode_tangents(float *tangents, size_t count)
{
    const uint32_t *codes = codes_in(tangents, count, 4);
    for (size_t i = 0; i < count; i++) {
        uint32_t code;
        memcpy(&code, &codes[i], sizeof code);
        pelt_tangent_decode(code, &tangents[4 * i]);
    }
}

static float *positions_of(const moment *m, uint32_t k)
{
    scene_primitive *p = &m->scene->primitives[k];
    scene_gpu_primitive *on = &m->gpu->primitives[k];
    if (p->positions || !on->reads) {
        return p->positions;
    }
    if (!on->positions) {
        on->positions = malloc(3 * sizeof(float) * ((size_t)p->source->vertex_count + 1));
    }
    return on->positions;
}

static int request_primitive(const moment *m, uint32_t k)
{
    scene_primitive *p = &m->scene->primitives[k];
    gpu *device = m->gpu->scene.device;
    size_t count = p->source->vertex_count;
    pelt_vk_view view;
    int code = gpu_scene_view(&m->gpu->scene, k, &view);
    code = code == CLI_DONE ? gpu_read(device, &view.box, &p->box) : code;
    if (code == CLI_DONE && m->gpu->primitives[k].reads) {
        float *positions = positions_of(m, k);
        code = positions ? gpu_read(device, &view.positions, positions) : out_of_memory(m);
    }
    if (code == CLI_DONE && p->normals) {
        code = gpu_read(device, &view.normals, codes_in(p->normals, count, 3));
    }
    if (code == CLI_DONE && p->tangents) {
        code = gpu_read(device, &view.tangents, codes_in(p->tangents, count, 4));
    }
    return code;
}

// Where the blended determinant is negative: PELT_NORMAL_OUTWARD, which the device's normals are without.
static void turn_mirrored(scene_primitive *p)
{
    for (size_t i = 0; i < p->source->vertex_count; i++) {
        if (p->mirrored[i]) {
            for (size_t j = 0; p->normals && j < 3; j++) {
                p->normals[3 * i + j] = 0.0f - p->normals[3 * i + j];
            }
            if (p->tangents) {
                p->tangents[4 * i + 3] = -p->tangents[4 * i + 3];
            }
        }
    }
}

static pelt_result find_mirrored(const moment *m, scene_primitive *p)
{
    const scene *s = m->scene;
    const scene_work *work = s->work;
    const pelt_primitive *source = p->source;
    const pelt_palette_item *item = &work->items[work->instance_items[p->instance]];
    bool rigid = item->skin == PELT_NONE;
    if (rigid && m->rest) {
        memset(p->mirrored, 0, source->vertex_count);
        return PELT_OK;
    }
    pelt_skin_job job = {
        .vertex_count = source->vertex_count,
        .palette_count = rigid ? 1 : pelt_asset_get(s->asset)->skins[item->skin].joint_count,
        .palette = item->palette,
        .influence_count = rigid ? 0 : source->influence_count,
        .joints = rigid ? NULL : source->joints,
        .weights = rigid ? NULL : source->weights,
        .positions = source->positions,
        .out_mirrored = p->mirrored,
        .parallel = &s->context->parallel,
    };
    return pelt_skin_evaluate(&job);
}

static int finish_primitive(const moment *m, uint32_t k)
{
    scene *s = m->scene;
    scene_primitive *p = &s->primitives[k];
    size_t count = p->source->vertex_count;
    const float *positions = positions_of(m, k);
    if (p->normals) {
        decode_normals(p->normals, count);
    }
    if (p->tangents) {
        decode_tangents(p->tangents, count);
    }
    if (p->mirrored) {
        pelt_result result = find_mirrored(m, p);
        if (result != PELT_OK) {
            return scene_library_failure(s, "skinning", result);
        }
        turn_mirrored(p);
    }
    p->used_box = p->box;
    int code = CLI_DONE;
    if (positions && m->gpu->primitives[k].reads) {
        code = scene_check_finite(s, p, positions);
        scene_measure_used(s, p, positions);
    }
    p->current = code == CLI_DONE;
    return code;
}

// ---- one moment

static int run_moment(const moment *m)
{
    const scene *s = m->scene;
    uint32_t stale_count = 0;
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        stale_count += !s->primitives[k].current;
    }
    if (stale_count == 0) {
        return CLI_DONE;
    }
    int code = write_inputs(m);
    code = code == CLI_DONE ? gpu_scene_record(&m->gpu->scene) : code;
    for (uint32_t k = 0; code == CLI_DONE && k < s->primitive_count; k++) {
        code = s->primitives[k].current ? CLI_DONE : request_primitive(m, k);
    }
    code = code == CLI_DONE ? gpu_scene_run(&m->gpu->scene) : code;
    for (uint32_t k = 0; code == CLI_DONE && k < s->primitive_count; k++) {
        code = s->primitives[k].current ? CLI_DONE : finish_primitive(m, k);
    }
    return code;
}

int scene_gpu_evaluate(scene *s)
{
    moment m = {s, ((scene_work *)s->work)->gpu, false};
    return run_moment(&m);
}

int scene_gpu_rest_rigid(scene *s)
{
    scene_work *work = s->work;
    moment m = {s, work->gpu, true};
    for (uint32_t i = 0; i < work->item_count; i++) {
        work->wanted[i] = work->items[i].skin == PELT_NONE;
    }
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        scene_primitive *p = &s->primitives[k];
        p->current = p->current && work->items[work->instance_items[p->instance]].skin != PELT_NONE;
    }
    return run_moment(&m);
}

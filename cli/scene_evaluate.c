// SPDX-License-Identifier: MIT
// Evaluates a scene at a moment: pose, palettes, skinned vertices, boxes, and a check that all of it is finite.
#include "scene_internal.h"

#include <math.h>
#include <string.h>

// Index of the first float that is infinite or not a number; count if none. Blocks without a branch inside let the
// compiler use vectors: this reads everything that was written.
static size_t first_not_finite(const float *values, size_t count)
{
    const uint32_t exponent = 0x7F800000u;
    for (size_t block = 0; block < count; block += 1024) {
        size_t end = count - block < 1024 ? count : block + 1024;
        uint32_t bad = 0;
        for (size_t i = block; i < end; i++) {
            uint32_t bits;
            memcpy(&bits, &values[i], sizeof bits);
            bad |= (uint32_t)((bits & exponent) == exponent);
        }
        if (bad) {
            for (size_t i = block; i < end; i++) {
                if (!isfinite(values[i])) {
                    return i;
                }
            }
        }
    }
    return count;
}

static int check_stream(const scene *s, const scene_primitive *p, const char *what, const float *values, uint32_t width)
{
    size_t count = (size_t)p->source->vertex_count * width;
    size_t bad = values ? first_not_finite(values, count) : count;
    if (bad == count) {
        return CLI_DONE;
    }
    const scene_work *work = s->work;
    const pelt_instance *instance = &pelt_asset_get(s->asset)->instances[p->instance];
    char where[96];
    char moment[64] = "in the rest pose";
    snprintf(where, sizeof where, "/meshes/%u/primitives/%u", (unsigned)instance->mesh, (unsigned)p->primitive);
    if (work->clip != PELT_NONE) {
        snprintf(moment, sizeof moment, "in clip #%u at %.9g s", (unsigned)work->clip, work->time);
    }
    return cli_fail(s->context, CLI_INVALID, s->context->options.input, where,
                    "transforms, morph weights or vertices are too large for 32-bit floats",
                    "node %u, primitive %u, vertex %zu: the posed %s is not finite %s",
                    (unsigned)scene_primitive_node(s, p)->file_index, (unsigned)p->primitive, bad / width, what,
                    moment);
}

int scene_check_finite(const scene *s, const scene_primitive *p, const float *positions)
{
    int code = check_stream(s, p, "position", positions, 3);
    code = code == CLI_DONE ? check_stream(s, p, "normal", p->normals, 3) : code;
    return code == CLI_DONE ? check_stream(s, p, "tangent", p->tangents, 4) : code;
}

float scene_morph_weight(const scene *s, const scene_primitive *p, uint32_t target)
{
    const scene_work *work = s->work;
    const pelt_instance *instance = &pelt_asset_get(s->asset)->instances[p->instance];
    uint32_t at = work->target_starts[instance->mesh] + target;
    return work->forced[at] ? work->forced_weights[at] : pelt_pose_weights(s->pose, instance->node)[target];
}

static uint32_t gather_morphs(const scene *s, const scene_primitive *p)
{
    scene_work *work = s->work;
    const pelt_mesh *mesh = scene_primitive_mesh(s, p);
    uint32_t count = 0;
    for (uint32_t i = 0; i < mesh->target_count; i++) {
        float weight = scene_morph_weight(s, p, i);
        const pelt_morph_target *target = &p->source->targets[i];
        if (weight != 0.0f) {
            work->morphs[count++] = (pelt_skin_morph){weight, target->positions, target->normals, target->tangents};
        }
    }
    return count;
}

void scene_measure_used(const scene *s, scene_primitive *p, const float *positions)
{
    const uint8_t *mask = scene_primitive_mask(s, p);
    p->used_box = p->box;
    if (!mask) {
        return;
    }
    p->used_box = pelt_box_empty();
    for (uint32_t i = 0; i < p->source->vertex_count; i++) {
        for (uint32_t j = 0; mask[i] && j < 3; j++) {
            float x = positions[3 * (size_t)i + j];
            p->used_box.min[j] = x < p->used_box.min[j] ? x : p->used_box.min[j];
            p->used_box.max[j] = x > p->used_box.max[j] ? x : p->used_box.max[j];
        }
    }
}

int scene_skin_primitive(scene *s, scene_primitive *p, const pelt_mat34 *palette, uint32_t palette_count, bool rigid)
{
    scene_work *work = s->work;
    const pelt_primitive *source = p->source;
    bool streams = work->streams == SCENE_ALL;
    float *positions = streams ? p->positions : work->scratch;
    pelt_skin_job job = {
        .vertex_count = source->vertex_count,
        .flags = PELT_NORMAL_OUTWARD,
        .palette_count = palette_count,
        .palette = palette,
        .influence_count = rigid ? 0 : source->influence_count,
        .joints = rigid ? NULL : source->joints,
        .weights = rigid ? NULL : source->weights,
        .positions = source->positions,
        .normals = streams ? source->normals : NULL,
        .tangents = streams ? source->tangents : NULL,
        .morph_count = gather_morphs(s, p),
        .morphs = work->morphs,
        .out_positions = positions,
        .out_normals = p->normals,
        .out_tangents = p->tangents,
        .out_mirrored = p->mirrored,
        .box = &p->box,
        .isa = s->context->isa,
        .disabled_isas = s->context->disabled_isas,
        .parallel = &s->context->parallel,
    };
    pelt_result result = pelt_skin_evaluate(&job);
    if (result != PELT_OK) {
        return scene_library_failure(s, "skinning", result);
    }
    int code = scene_check_finite(s, p, positions);
    if (code == CLI_DONE) {
        scene_measure_used(s, p, positions);
    }
    return code;
}

static bool item_changed(const scene *s, const pelt_palette_item *item)
{
    return item->skin == PELT_NONE ? pelt_pose_node_changed(s->pose, item->node)
                                   : pelt_pose_skin_changed(s->pose, item->skin);
}

// Drops what the update changed, and marks the palettes that primitives without a current result need.
static void mark_changes(scene *s)
{
    scene_work *work = s->work;
    const pelt_asset_data *data = pelt_asset_get(s->asset);
    bool *wanted = work->wanted;
    memset(wanted, 0, work->item_count * sizeof *wanted);
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        scene_primitive *p = &s->primitives[k];
        uint32_t item = work->instance_items[p->instance];
        if (work->in_mesh_space || item_changed(s, &work->items[item]) ||
            pelt_pose_weights_changed(s->pose, data->instances[p->instance].node)) {
            p->current = false;
        }
        wanted[item] = wanted[item] || !p->current;
    }
    work->in_mesh_space = false;
}

static int fill_palettes(scene *s)
{
    scene_work *work = s->work;
    uint32_t count = 0;
    for (uint32_t i = 0; i < work->item_count; i++) {
        if (work->wanted[i]) {
            work->pending[count++] = work->items[i];
        }
    }
    pelt_palette_job job = {.item_count = count,
                            .items = work->pending,
                            .format = PELT_PALETTE_3X4,
                            .parallel = &s->context->parallel,
                            .isa = s->context->isa,
                            .disabled_isas = s->context->disabled_isas};
    pelt_result result = count ? pelt_palette_evaluate(&job) : PELT_OK;
    return result == PELT_OK ? CLI_DONE : scene_library_failure(s, "the palette", result);
}

static int skin_changes(scene *s)
{
    const scene_work *work = s->work;
    const pelt_asset_data *data = pelt_asset_get(s->asset);
    int code = CLI_DONE;
    for (uint32_t k = 0; code == CLI_DONE && k < s->primitive_count; k++) {
        scene_primitive *p = &s->primitives[k];
        if (!p->current) {
            const pelt_palette_item *item = &work->items[work->instance_items[p->instance]];
            bool rigid = item->skin == PELT_NONE;
            uint32_t count = rigid ? 1 : data->skins[item->skin].joint_count;
            code = scene_skin_primitive(s, p, item->palette, count, rigid);
            p->current = code == CLI_DONE;
        }
    }
    return code;
}

int scene_evaluate(scene *s, uint32_t clip, double time)
{
    scene_work *work = s->work;
    work->clip = clip;
    work->time = time;
    // Each moment starts from the nodes' own values: what a clip does not animate must not keep another clip's values.
    pelt_pose_reset(s->pose);
    pelt_result result = PELT_OK;
    if (clip != PELT_NONE) {
        result = pelt_clip_sample(s->asset, clip, time, pelt_pose_locals(s->pose));
    }
    result = result == PELT_OK ? pelt_pose_update(s->pose, NULL) : result;
    if (result != PELT_OK) {
        return scene_library_failure(s, "sampling the clip", result);
    }
    mark_changes(s);
    // Boxes that a device measures need no palette here.
    int code = work->gpu && work->streams == SCENE_BOXES ? CLI_DONE : fill_palettes(s);
    if (code != CLI_DONE) {
        return code;
    }
    return work->gpu ? scene_gpu_evaluate(s) : skin_changes(s);
}

// SPDX-License-Identifier: MIT
// The file that backends are compared on: packed once, unpacked for the CPU, and posed for all of them together.
#include "verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_VERTEX_LIMIT UINT64_C(100000000)

// Never NULL for want of elements, so that NULL always means out of memory.
static void *allocate(uint64_t count, size_t size)
{
    if (count > SIZE_MAX) {
        return NULL;
    }
    return calloc(count ? (size_t)count : 1, size);
}

int verify_out_of_memory(const verify_model *m)
{
    return cli_fail(m->context, CLI_LIMIT, m->context->options.input, NULL, NULL, "out of memory while verifying");
}

// ---- packing

static int fail(const verify_model *m, pelt_result result, pelt_error *error)
{
    error->code = result;
    return cli_fail_result(m->context, m->context->options.input, error);
}

static bool has_packing_options(const cli_options *o)
{
    return o->weights || o->keep_order || o->direct_joints || o->morph16;
}

static int pack(verify_model *m, const pelt_asset *source)
{
    const cli_options *o = &m->context->options;
    pelt_error error = {0};
    pelt_cook_options options = {
        .log = cli_log(m->context),
        .weights = o->weights && strcmp(o->weights, "plain") == 0 ? PELT_WEIGHTS_PLAIN : PELT_WEIGHTS_SORTED,
        .keep_order = o->keep_order,
        .direct_joints = o->direct_joints,
        .morph_16bit = o->morph16,
        .morph_weight_min = (float)o->morph_range[0],
        .morph_weight_max = (float)o->morph_range[1],
        .parallel = &m->context->parallel,
    };
    pelt_result result = pelt_cook(source, &options, &m->image, &m->image_size, NULL, &error);
    if (result == PELT_OK) {
        pelt_cooked_options reading = {.skip_hashes = true}; // they were made a moment ago
        result = pelt_cooked_open_memory(m->image, m->image_size, &reading, &m->cooked, &error);
    }
    if (result == PELT_OK) {
        result = pelt_cooked_import(m->cooked, &m->asset, &error);
    }
    if (result != PELT_OK) {
        return fail(m, result, &error);
    }
    m->streams = pelt_cooked_get(m->cooked);
    return CLI_DONE;
}

static int load(verify_model *m)
{
    const cli_options *o = &m->context->options;
    pelt_gltf *gltf = NULL;
    pelt_asset *asset = NULL;
    int code = cli_load(m->context, &gltf, &asset);
    pelt_gltf_close(gltf); // assets do not need it
    if (code != CLI_DONE) {
        return code;
    }
    if (m->context->cooked) {
        m->asset = asset;
        m->streams = pelt_cooked_get(m->context->cooked);
        if (has_packing_options(o)) {
            cli_warn(m->context, o->input, NULL, "options of packing have no effect on a file that is cooked already");
        }
        return CLI_DONE;
    }
    code = pack(m, asset);
    pelt_asset_destroy(asset);
    return code;
}

// ---- items

static int check_size(verify_model *m, const pelt_asset_data *data)
{
    const cli_options *o = &m->context->options;
    uint64_t limit = o->limits.vertices ? o->limits.vertices : DEFAULT_VERTEX_LIMIT;
    uint64_t items = 0;
    for (uint32_t i = 0; i < data->instance_count; i++) {
        const pelt_mesh *mesh = &data->meshes[data->instances[i].mesh];
        items += mesh->primitive_count;
        for (uint32_t j = 0; j < mesh->primitive_count; j++) {
            m->vertex_count += mesh->primitives[j].vertex_count;
            if (m->vertex_count > limit || items >= PELT_NONE) {
                return cli_fail(m->context, CLI_LIMIT, o->input, NULL, "raise --max-vertices",
                                "the scene poses more than %llu vertices", (unsigned long long)limit);
            }
        }
    }
    m->items = allocate(items, sizeof *m->items);
    return m->items ? CLI_DONE : verify_out_of_memory(m);
}

static const pelt_joint_boxes *find_joint_boxes(const pelt_cooked_data *streams, uint32_t primitive, uint32_t skin)
{
    for (uint32_t i = 0; i < streams->joint_boxes_count; i++) {
        if (streams->joint_boxes[i].primitive == primitive && streams->joint_boxes[i].skin == skin) {
            return &streams->joint_boxes[i];
        }
    }
    return NULL;
}

// What a target can add to one coordinate, from weight zero to the ends of the range.
static void widen(const verify_model *m, const pelt_morph_target *target, size_t at, double *least, double *most)
{
    double delta = target->positions ? (double)target->positions[at] : 0;
    double x = delta * m->morph_range[0];
    double y = delta * m->morph_range[1];
    *least += fmin(0, fmin(x, y));
    *most += fmax(0, fmax(x, y));
}

static pelt_box measure_bind_box(const verify_model *m, const pelt_primitive *source, uint32_t target_count)
{
    pelt_box box = pelt_box_empty();
    for (size_t i = 0; i < 3 * (size_t)source->vertex_count; i++) {
        double least = (double)source->positions[i];
        double most = least;
        for (uint32_t t = 0; t < target_count; t++) {
            widen(m, &source->targets[t], i, &least, &most);
        }
        float low = nextafterf((float)least, -INFINITY);
        float high = nextafterf((float)most, INFINITY);
        box.min[i % 3] = low < box.min[i % 3] ? low : box.min[i % 3];
        box.max[i % 3] = high > box.max[i % 3] ? high : box.max[i % 3];
    }
    return box;
}

// Palettes of the skins in use come first, so that many instances of one skin share one.
static bool add_palettes(verify_model *m, const pelt_asset_data *data, uint32_t *instance_palettes)
{
    uint32_t *skin_palettes = allocate(data->skin_count, sizeof *skin_palettes);
    size_t *offsets = allocate((uint64_t)data->skin_count + data->instance_count, sizeof *offsets);
    m->palettes = allocate((uint64_t)data->skin_count + data->instance_count, sizeof *m->palettes);
    uint64_t matrix_count = 0;
    bool ok = skin_palettes && offsets && m->palettes;
    if (ok) {
        memset(skin_palettes, 0xFF, data->skin_count * sizeof *skin_palettes);
    }
    for (uint32_t i = 0; ok && i < data->instance_count; i++) {
        const pelt_instance *instance = &data->instances[i];
        bool rigid = instance->skin == PELT_NONE;
        if (!rigid && skin_palettes[instance->skin] != PELT_NONE) {
            instance_palettes[i] = skin_palettes[instance->skin];
            continue;
        }
        if (!rigid) {
            skin_palettes[instance->skin] = m->palette_count;
        }
        instance_palettes[i] = m->palette_count;
        offsets[m->palette_count] = (size_t)matrix_count;
        matrix_count += rigid ? 1 : data->skins[instance->skin].joint_count;
        m->palettes[m->palette_count++] =
            (pelt_palette_item){.pose = m->pose, .skin = instance->skin, .node = instance->node};
    }
    m->matrices = ok ? allocate(matrix_count, sizeof *m->matrices) : NULL;
    for (uint32_t i = 0; m->matrices && i < m->palette_count; i++) {
        m->palettes[i].palette = m->matrices + offsets[i];
    }
    free(skin_palettes);
    free(offsets);
    return m->matrices != NULL;
}

static verify_item make_item(const verify_model *m, const pelt_asset_data *data, uint32_t instance, uint32_t primitive)
{
    const pelt_instance *from = &data->instances[instance];
    verify_item item = {.instance = instance,
                        .primitive = primitive,
                        .source = &data->meshes[from->mesh].primitives[primitive],
                        .palette_count = from->skin == PELT_NONE ? 1 : data->skins[from->skin].joint_count};
    item.rigid = from->skin == PELT_NONE || item.source->influence_count == 0;
    for (uint32_t i = 0; i < from->mesh; i++) {
        item.cooked += data->meshes[i].primitive_count;
    }
    item.cooked += primitive;
    item.joint_boxes = item.rigid ? NULL : find_joint_boxes(m->streams, item.cooked, from->skin);
    return item;
}

static bool add_items(verify_model *m, const pelt_asset_data *data)
{
    uint32_t *instance_palettes = allocate(data->instance_count, sizeof *instance_palettes);
    pelt_box *boxes = allocate(m->streams->primitive_count, sizeof *boxes);
    bool *measured = allocate(m->streams->primitive_count, sizeof *measured);
    uint32_t most_targets = 0;
    bool ok = instance_palettes && boxes && measured && add_palettes(m, data, instance_palettes);
    for (uint32_t i = 0; ok && i < data->instance_count; i++) {
        const pelt_mesh *mesh = &data->meshes[data->instances[i].mesh];
        most_targets = mesh->target_count > most_targets ? mesh->target_count : most_targets;
        for (uint32_t j = 0; j < mesh->primitive_count; j++) {
            verify_item *item = &m->items[m->item_count++];
            *item = make_item(m, data, i, j);
            item->palette = instance_palettes[i];
            m->largest = item->source->vertex_count > m->largest ? item->source->vertex_count : m->largest;
            if (item->joint_boxes && !measured[item->cooked]) {
                boxes[item->cooked] = measure_bind_box(m, item->source, mesh->target_count);
                measured[item->cooked] = true;
            }
            item->bind_box = boxes[item->cooked];
        }
    }
    m->morphs = allocate(most_targets, sizeof *m->morphs);
    free(instance_palettes);
    free(boxes);
    free(measured);
    return ok && m->morphs;
}

int verify_model_open(cli_context *context, verify_model *out)
{
    const cli_options *o = &context->options;
    *out = (verify_model){.context = context, .clip = PELT_NONE, .morph_range = {0, 1}};
    if (o->morph_range[0] < o->morph_range[1]) {
        memcpy(out->morph_range, o->morph_range, sizeof out->morph_range);
    }
    int code = load(out);
    if (code != CLI_DONE) {
        return code;
    }
    const pelt_asset_data *data = pelt_asset_get(out->asset);
    code = check_size(out, data);
    if (code == CLI_DONE && (pelt_pose_create(out->asset, NULL, &out->pose) != PELT_OK || !add_items(out, data))) {
        return verify_out_of_memory(out);
    }
    if (code == CLI_DONE) {
        pelt_pose_set_isa(out->pose, context->isa, context->disabled_isas);
    }
    return code;
}

void verify_model_close(verify_model *m)
{
    free(m->items);
    free(m->palettes);
    free(m->matrices);
    free(m->morphs);
    pelt_pose_destroy(m->pose);
    pelt_asset_destroy(m->asset);
    pelt_cooked_close(m->cooked);
    pelt_cook_release(NULL, m->image, m->image_size);
    *m = (verify_model){0};
}

// ---- posing

int verify_model_pose(verify_model *m, uint32_t clip, double time)
{
    m->clip = clip;
    m->time = time;
    // What a clip does not animate must not keep another clip's values.
    pelt_pose_reset(m->pose);
    pelt_result result = PELT_OK;
    if (clip != PELT_NONE) {
        result = pelt_clip_sample(m->asset, clip, time, pelt_pose_locals(m->pose));
    }
    result = result == PELT_OK ? pelt_pose_update(m->pose, NULL) : result;
    if (result == PELT_OK) {
        pelt_palette_job job = {.item_count = m->palette_count,
                                .items = m->palettes,
                                .format = PELT_PALETTE_3X4,
                                .parallel = &m->context->parallel,
                                .isa = m->context->isa,
                                .disabled_isas = m->context->disabled_isas};
        result = pelt_palette_evaluate(&job);
    }
    return result == PELT_OK ? CLI_DONE
                             : cli_fail(m->context, cli_exit_of(result), m->context->options.input, NULL, NULL,
                                        "sampling the clip failed: %s", pelt_result_name(result));
}

static const pelt_mesh *item_mesh(const verify_model *m, const verify_item *item)
{
    const pelt_asset_data *data = pelt_asset_get(m->asset);
    return &data->meshes[data->instances[item->instance].mesh];
}

static const float *item_weights(const verify_model *m, const verify_item *item)
{
    return pelt_pose_weights(m->pose, pelt_asset_get(m->asset)->instances[item->instance].node);
}

uint32_t verify_model_morphs(const verify_model *m, const verify_item *item)
{
    const float *weights = item_weights(m, item);
    uint32_t targets = item_mesh(m, item)->target_count;
    uint32_t count = 0;
    for (uint32_t i = 0; i < targets; i++) {
        const pelt_morph_target *target = &item->source->targets[i];
        if (weights[i] != 0.0F) {
            m->morphs[count++] = (pelt_skin_morph){weights[i], target->positions, target->normals, target->tangents};
        }
    }
    return count;
}

bool verify_model_in_range(const verify_model *m, const verify_item *item)
{
    const float *weights = item_weights(m, item);
    uint32_t targets = item_mesh(m, item)->target_count;
    double least = item->rigid ? 0 : m->morph_range[0];
    double most = item->rigid ? 1 : m->morph_range[1];
    for (uint32_t i = 0; i < targets; i++) {
        if ((double)weights[i] < least || (double)weights[i] > most) {
            return false;
        }
    }
    return true;
}

// SPDX-License-Identifier: MIT
// Poses a whole asset: one palette for each skin in use and each rigid instance, then every primitive of every
// instance. All buffers live as long as the scene, and what a new moment does not change is not computed again.
#include "scene_internal.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_MEMORY_LIMIT (UINT64_C(8) << 30)
#define DEFAULT_VERTEX_LIMIT UINT64_C(100000000)

// Never NULL for want of elements, so that NULL always means out of memory.
static void *allocate(uint64_t count, size_t size)
{
    if (count > SIZE_MAX) {
        return NULL;
    }
    return calloc(count ? (size_t)count : 1, size);
}

int scene_out_of_memory(const scene *s)
{
    return cli_fail(s->context, CLI_LIMIT, s->context->options.input, NULL, NULL,
                    "out of memory for the posed vertices");
}

int scene_library_failure(const scene *s, const char *what, pelt_result result)
{
    return cli_fail(s->context, cli_exit_of(result), s->context->options.input, NULL, NULL, "%s failed: %s", what,
                    pelt_result_name(result));
}

const pelt_mesh *scene_primitive_mesh(const scene *s, const scene_primitive *p)
{
    const pelt_asset_data *data = pelt_asset_get(s->asset);
    return &data->meshes[data->instances[p->instance].mesh];
}

const pelt_node *scene_primitive_node(const scene *s, const scene_primitive *p)
{
    const pelt_asset_data *data = pelt_asset_get(s->asset);
    return &data->nodes[data->instances[p->instance].node];
}

const char *scene_primitive_name(const scene *s, const scene_primitive *p)
{
    const char *name = scene_primitive_node(s, p)->name;
    return name[0] ? name : scene_primitive_mesh(s, p)->name;
}

json_t *scene_primitive_json(const scene *s, uint32_t k)
{
    const scene_primitive *p = &s->primitives[k];
    const pelt_instance *instance = &pelt_asset_get(s->asset)->instances[p->instance];
    return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:I}", "k", (json_int_t)k, "node",
                     (json_int_t)scene_primitive_node(s, p)->file_index, "mesh", (json_int_t)instance->mesh,
                     "primitive", (json_int_t)p->primitive, "skin", cli_json_index(instance->skin), "name",
                     cli_json_text(scene_primitive_name(s, p)), "vertices", (json_int_t)p->source->vertex_count);
}

// ---- creation

// Items of the skins in use come first, so that many instances of one skin share a palette.
static bool create_palettes(scene *s, const pelt_asset_data *data)
{
    scene_work *work = s->work;
    work->items = allocate((uint64_t)data->skin_count + data->instance_count, sizeof *work->items);
    work->pending = allocate((uint64_t)data->skin_count + data->instance_count, sizeof *work->pending);
    work->wanted = allocate((uint64_t)data->skin_count + data->instance_count, sizeof *work->wanted);
    work->instance_items = allocate(data->instance_count, sizeof *work->instance_items);
    uint32_t *skin_items = allocate(data->skin_count, sizeof *skin_items);
    size_t *offsets = allocate((uint64_t)data->skin_count + data->instance_count, sizeof *offsets);
    bool ok = work->items && work->pending && work->wanted && work->instance_items && skin_items && offsets;
    uint64_t matrix_count = 0;
    if (ok) {
        memset(skin_items, 0xFF, data->skin_count * sizeof *skin_items);
        for (uint32_t i = 0; i < data->instance_count; i++) {
            const pelt_instance *instance = &data->instances[i];
            bool rigid = instance->skin == PELT_NONE;
            if (!rigid && skin_items[instance->skin] != PELT_NONE) {
                work->instance_items[i] = skin_items[instance->skin];
                continue;
            }
            if (!rigid) {
                skin_items[instance->skin] = work->item_count;
            }
            work->instance_items[i] = work->item_count;
            offsets[work->item_count] = (size_t)matrix_count;
            matrix_count += rigid ? 1 : data->skins[instance->skin].joint_count;
            work->items[work->item_count++] =
                (pelt_palette_item){.pose = s->pose, .skin = instance->skin, .node = instance->node};
        }
        work->palettes = allocate(matrix_count, sizeof *work->palettes);
        ok = work->palettes != NULL;
        for (uint32_t i = 0; ok && i < work->item_count; i++) {
            work->items[i].palette = work->palettes + offsets[i];
        }
    }
    free(skin_items);
    free(offsets);
    return ok;
}

static bool create_targets(scene *s, const pelt_asset_data *data)
{
    scene_work *work = s->work;
    uint64_t target_total = 0;
    uint64_t mask_total = 0;
    uint32_t most = 0;
    work->target_starts = allocate(data->mesh_count, sizeof *work->target_starts);
    work->mask_starts = allocate(data->mesh_count, sizeof *work->mask_starts);
    if (!work->target_starts || !work->mask_starts) {
        return false;
    }
    for (uint32_t i = 0; i < data->mesh_count; i++) {
        work->target_starts[i] = (uint32_t)target_total;
        work->mask_starts[i] = (uint32_t)mask_total;
        target_total += data->meshes[i].target_count;
        mask_total += data->meshes[i].primitive_count;
        most = data->meshes[i].target_count > most ? data->meshes[i].target_count : most;
        if (target_total > UINT32_MAX || mask_total > UINT32_MAX) {
            return false;
        }
    }
    work->morphs = allocate(most, sizeof *work->morphs);
    work->forced = allocate(target_total, sizeof *work->forced);
    work->forced_weights = allocate(target_total, sizeof *work->forced_weights);
    work->masks = allocate(mask_total, sizeof *work->masks);
    work->mask_count = (size_t)mask_total;
    return work->morphs && work->forced && work->forced_weights && work->masks;
}

static bool force_weight(scene_work *work, uint32_t mesh, uint32_t target, float value)
{
    work->forced[work->target_starts[mesh] + target] = true;
    work->forced_weights[work->target_starts[mesh] + target] = value;
    return true;
}

// Applies one --morph to the meshes that have the target. As with clips, #N is a number wherever there is an N-th.
static bool force_target(scene_work *work, const pelt_asset_data *data, const cli_morph_setting *setting)
{
    bool found = false;
    uint64_t number = 0;
    bool is_number = cli_read_index(setting->name, &number);
    for (uint32_t i = 0; is_number && i < data->mesh_count; i++) {
        if (number < data->meshes[i].target_count) {
            found = force_weight(work, i, (uint32_t)number, setting->value);
        }
    }
    if (found || !setting->name[0]) {
        return found;
    }
    for (uint32_t i = 0; i < data->mesh_count; i++) {
        for (uint32_t j = 0; j < data->meshes[i].target_count; j++) {
            if (strcmp(data->meshes[i].target_names[j], setting->name) == 0) {
                found = force_weight(work, i, j, setting->value);
            }
        }
    }
    return found;
}

// The distinct target names of the file, in order, as many as fit.
static void list_targets(const pelt_asset_data *data, char *out, size_t capacity)
{
    const char *listed[48];
    size_t listed_count = 0;
    size_t used = 0;
    uint32_t most = 0;
    for (uint32_t i = 0; i < data->mesh_count; i++) {
        const pelt_mesh *mesh = &data->meshes[i];
        most = mesh->target_count > most ? mesh->target_count : most;
        for (uint32_t j = 0; j < mesh->target_count; j++) {
            const char *name = mesh->target_names[j];
            size_t known = 0;
            while (known < listed_count && strcmp(listed[known], name) != 0) {
                known++;
            }
            if (!name[0] || known < listed_count || listed_count == sizeof listed / sizeof listed[0] ||
                used + strlen(name) + 32 > capacity) {
                continue;
            }
            listed[listed_count++] = name;
            used += (size_t)snprintf(out + used, capacity - used, "%s%s", used ? ", " : "the targets are ", name);
        }
    }
    if (most == 0) {
        snprintf(out, capacity, "no mesh has morph targets");
    } else if (used == 0) {
        snprintf(out, capacity, "the targets have no names to list: use #0 to #%u", (unsigned)(most - 1));
    }
}

static int apply_morph_options(scene *s, const pelt_asset_data *data)
{
    const cli_options *options = &s->context->options;
    for (uint32_t i = 0; i < options->morph_count; i++) {
        if (!force_target(s->work, data, &options->morphs[i])) {
            char names[400];
            list_targets(data, names, sizeof names);
            return cli_fail(s->context, CLI_USAGE, options->input, NULL, names, "--morph: no mesh has a target \"%s\"",
                            options->morphs[i].name);
        }
    }
    return CLI_DONE;
}

static uint64_t vertex_bytes(const pelt_primitive *source)
{
    return 3 * sizeof(float) + (source->normals ? 3 * sizeof(float) : 0) + (source->tangents ? 4 * sizeof(float) : 0) +
           1;
}

// All posed vertices and what they take together, held against the same limits as the import: a mesh of a few MB placed
// by a million nodes is a small file, and so are fifty primitives that share one huge accessor.
static int check_size(scene *s, const pelt_asset_data *data, uint64_t *out_primitives)
{
    const pelt_gltf_limits *limits = &s->context->options.limits;
    uint64_t limit = limits->memory ? limits->memory : DEFAULT_MEMORY_LIMIT;
    uint64_t vertex_limit = limits->vertices ? limits->vertices : DEFAULT_VERTEX_LIMIT;
    uint64_t bytes = 0;
    uint64_t vertices = 0;
    for (uint32_t i = 0; i < data->instance_count; i++) {
        const pelt_mesh *mesh = &data->meshes[data->instances[i].mesh];
        *out_primitives += mesh->primitive_count;
        for (uint32_t j = 0; j < mesh->primitive_count; j++) {
            uint64_t size = ((const scene_work *)s->work)->streams == SCENE_ALL
                                ? mesh->primitives[j].vertex_count * vertex_bytes(&mesh->primitives[j])
                                : 0;
            bytes += sizeof(scene_primitive) + size;
            vertices += mesh->primitives[j].vertex_count;
            if (vertices > vertex_limit) {
                return cli_fail(s->context, CLI_LIMIT, s->context->options.input, NULL, "raise --max-vertices",
                                "the scene poses more than %llu vertices", (unsigned long long)vertex_limit);
            }
            if (bytes > limit) {
                return cli_fail(s->context, CLI_LIMIT, s->context->options.input, NULL, "raise --max-memory",
                                "the posed vertices take more than %llu bytes", (unsigned long long)limit);
            }
        }
    }
    return CLI_DONE;
}

static bool create_streams(scene_primitive *p)
{
    const pelt_primitive *source = p->source;
    p->positions = allocate(3 * (uint64_t)source->vertex_count, sizeof(float));
    p->mirrored = allocate(source->vertex_count, 1);
    if (!p->positions || !p->mirrored) {
        return false;
    }
    if (source->normals) {
        p->normals = allocate(3 * (uint64_t)source->vertex_count, sizeof(float));
    }
    if (source->tangents) {
        p->tangents = allocate(4 * (uint64_t)source->vertex_count, sizeof(float));
    }
    return (!source->normals || p->normals) && (!source->tangents || p->tangents);
}

// Marks the used vertices of one primitive; keeps the mask only where some are not used.
static bool create_mask(const pelt_primitive *source, uint8_t **out_mask)
{
    *out_mask = NULL;
    if (!source->indices) {
        return true;
    }
    uint8_t *mask = allocate(source->vertex_count, 1);
    if (!mask) {
        return false;
    }
    for (uint32_t i = 0; i < source->index_count; i++) {
        mask[source->indices[i]] = 1;
    }
    if (source->vertex_count && memchr(mask, 0, source->vertex_count)) {
        *out_mask = mask;
    } else {
        free(mask);
    }
    return true;
}

static bool create_primitives(scene *s, const pelt_asset_data *data, uint64_t primitive_count)
{
    scene_work *work = s->work;
    if (primitive_count >= PELT_NONE) {
        return false;
    }
    s->primitives = allocate(primitive_count, sizeof *s->primitives);
    if (!s->primitives) {
        return false;
    }
    uint32_t largest = 0;
    for (uint32_t i = 0; i < data->instance_count; i++) {
        const pelt_mesh *mesh = &data->meshes[data->instances[i].mesh];
        for (uint32_t j = 0; j < mesh->primitive_count; j++) {
            scene_primitive *p = &s->primitives[s->primitive_count++];
            p->instance = i;
            p->primitive = j;
            p->source = &mesh->primitives[j];
            p->box = pelt_box_empty();
            p->used_box = p->box;
            largest = p->source->vertex_count > largest ? p->source->vertex_count : largest;
            if (work->streams == SCENE_ALL && !create_streams(p)) {
                return false;
            }
        }
    }
    if (work->streams == SCENE_ALL) {
        return true;
    }
    work->scratch = allocate(3 * (uint64_t)largest, sizeof(float));
    bool ok = work->scratch != NULL;
    for (uint32_t i = 0; ok && i < data->mesh_count; i++) {
        for (uint32_t j = 0; ok && j < data->meshes[i].primitive_count; j++) {
            ok = create_mask(&data->meshes[i].primitives[j], &work->masks[work->mask_starts[i] + j]);
        }
    }
    return ok;
}

const uint8_t *scene_primitive_mask(const scene *s, const scene_primitive *p)
{
    const scene_work *work = s->work;
    uint32_t mesh = pelt_asset_get(s->asset)->instances[p->instance].mesh;
    return work->masks[work->mask_starts[mesh] + p->primitive];
}

static void count_unused(scene *s)
{
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        scene_primitive *p = &s->primitives[k];
        const uint8_t *mask = scene_primitive_mask(s, p);
        for (uint32_t i = 0; mask && i < p->source->vertex_count; i++) {
            p->unused_count += mask[i] == 0;
        }
    }
}

int scene_create(cli_context *context, const pelt_asset *asset, scene_streams streams, scene *out)
{
    const pelt_asset_data *data = pelt_asset_get(asset);
    *out = (scene){.context = context, .asset = asset};
    scene_work *work = allocate(1, sizeof *work);
    if (!work) {
        return scene_out_of_memory(out);
    }
    work->streams = streams;
    out->work = work;
    uint64_t primitive_count = 0;
    int code = check_size(out, data, &primitive_count);
    if (code == CLI_DONE && pelt_pose_create(asset, NULL, &out->pose) != PELT_OK) {
        code = scene_out_of_memory(out);
    }
    if (code == CLI_DONE) {
        pelt_pose_set_isa(out->pose, context->isa, context->disabled_isas);
    }
    if (code == CLI_DONE &&
        !(create_targets(out, data) && create_palettes(out, data) && create_primitives(out, data, primitive_count))) {
        code = scene_out_of_memory(out);
    }
    if (code == CLI_DONE) {
        count_unused(out);
        code = apply_morph_options(out, data);
    }
    if (code == CLI_DONE && context->gpu) {
        code = scene_gpu_create(out);
    }
    if (code != CLI_DONE) {
        scene_destroy(out);
    }
    return code;
}

void scene_destroy(scene *s)
{
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        free(s->primitives[k].positions);
        free(s->primitives[k].normals);
        free(s->primitives[k].tangents);
        free(s->primitives[k].mirrored);
    }
    free(s->primitives);
    scene_work *work = s->work;
    if (work) {
        scene_gpu_destroy(s);
        for (size_t i = 0; work->masks && i < work->mask_count; i++) {
            free(work->masks[i]);
        }
        free(work->masks);
        free(work->mask_starts);
        free(work->items);
        free(work->pending);
        free(work->wanted);
        free(work->palettes);
        free(work->instance_items);
        free(work->morphs);
        free(work->target_starts);
        free(work->forced);
        free(work->forced_weights);
        free(work->scratch);
        free(work);
    }
    pelt_pose_destroy(s->pose);
    *s = (scene){0};
}

pelt_box scene_box(const scene *s)
{
    pelt_box box = pelt_box_empty();
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        box = pelt_box_union(&box, &s->primitives[k].box);
    }
    return box;
}

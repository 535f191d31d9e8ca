// SPDX-License-Identifier: MIT
// Unpacks an opened .pelt file into an asset through the public builder, in the file indices of the source, so that
// nodes, skins and clips come out as they went in. Meshes: import_mesh.c.
#include "cook/import.h"

static pelt_builder_node *import_nodes(const cook_import *import, pelt_builder_scene *scene)
{
    const pelt_cooked *cooked = import->cooked;
    uint32_t count = cooked->node_count;
    pelt_builder_node *nodes = pelt_builder_allocate(import->builder, count, sizeof *nodes);
    uint32_t *children = pelt_builder_allocate(import->builder, count, sizeof *children);
    uint32_t *roots = pelt_builder_allocate(import->builder, count, sizeof *roots);
    float *weights = pelt_builder_allocate(import->builder, pelti_cooked_count(cooked, FILE_RSTW, 0), sizeof *weights);
    if (!nodes || !children || !roots || !weights) {
        return NULL;
    }
    const file_section *rest = pelti_cooked_section(cooked, FILE_RSTW, 0, 0);
    if (rest && rest->size > 0) {
        memcpy(weights, pelti_cooked_contents(cooked, rest), (size_t)rest->size);
    }
    for (uint32_t i = 0; i < count; i++) {
        const file_node *record = pelti_cooked_record(cooked, FILE_NODE, 0, i);
        pelt_builder_node *node = &nodes[record->file_index];
        const char *name = pelti_cooked_name(cooked, record->name);
        node->name = pelt_builder_string(import->builder, name, strlen(name));
        node->mesh = record->mesh;
        node->skin = record->skin;
        node->has_matrix = record->flags & FILE_NODE_HAS_MATRIX;
        memcpy(&node->rest.translation, record->translation, sizeof record->translation);
        memcpy(&node->rest.rotation, record->rotation, sizeof record->rotation);
        memcpy(&node->rest.scale, record->scale, sizeof record->scale);
        memcpy(&node->matrix, record->local_matrix, sizeof record->local_matrix);
        node->weight_count = record->weight_count;
        node->weights = weights + record->first_weight;
        if (!node->name) {
            return NULL;
        }
    }
    scene->node_count = count;
    scene->nodes = nodes;
    scene->roots = roots;
    import->places->children = children;
    import->places->roots = roots;
    return nodes;
}

static const file_node *node_record(const cook_import *import, uint32_t index)
{
    return pelti_cooked_record(import->cooked, FILE_NODE, 0, index);
}

// Children in preorder keep their order; a node's first child follows it, and each sibling follows a subtree.
static void link_nodes(const cook_import *import, pelt_builder_node *nodes, pelt_builder_scene *scene)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < scene->node_count; i++) {
        const file_node *record = node_record(import, i);
        pelt_builder_node *node = &nodes[record->file_index];
        uint32_t first = used;
        for (uint32_t child = i + 1; child < record->subtree_end; child = node_record(import, child)->subtree_end) {
            import->places->children[used++] = node_record(import, child)->file_index;
        }
        node->children = import->places->children + first;
        node->child_count = used - first;
    }
    for (uint32_t i = 0; i < scene->node_count; i++) {
        const file_node *record = node_record(import, import->cooked->node_from_file[i]);
        bool in_scene = record->flags & FILE_NODE_IN_SCENE;
        bool below = record->parent != PELT_NONE && node_record(import, record->parent)->flags & FILE_NODE_IN_SCENE;
        scene->has_scene = scene->has_scene || !in_scene;
        if (in_scene && !below) {
            import->places->roots[scene->root_count++] = i;
        }
    }
}

static bool import_skins(const cook_import *import, pelt_builder_scene *scene)
{
    const pelt_cooked *cooked = import->cooked;
    pelt_skin *skins = pelt_builder_allocate(import->builder, cooked->skin_count, sizeof *skins);
    for (uint32_t i = 0; skins && i < cooked->skin_count; i++) {
        const file_skin *record = pelti_cooked_record(cooked, FILE_SKIN, 0, i);
        const char *name = pelti_cooked_name(cooked, record->name);
        const uint32_t *from = pelti_cooked_contents(cooked, pelti_cooked_section(cooked, FILE_JNTS, i, 0));
        uint32_t *joints = pelt_builder_allocate(import->builder, record->joint_count, sizeof *joints);
        pelt_mat34 *binds = pelt_builder_allocate(import->builder, record->joint_count, sizeof *binds);
        skins[i] = (pelt_skin){
            .name = pelt_builder_string(import->builder, name, strlen(name)),
            .joint_count = record->joint_count,
            .joints = joints,
            .inverse_binds = binds,
            .has_inverse_binds = record->flags & FILE_SKIN_HAS_INVERSE_BINDS,
            .skeleton = record->skeleton == PELT_NONE ? PELT_NONE : node_record(import, record->skeleton)->file_index,
        };
        if (!joints || !binds || !skins[i].name) {
            return false;
        }
        for (uint32_t j = 0; j < record->joint_count; j++) {
            joints[j] = node_record(import, from[j])->file_index;
        }
        memcpy(binds, pelti_cooked_contents(cooked, pelti_cooked_section(cooked, FILE_IBND, i, 0)),
               record->joint_count * sizeof *binds);
    }
    scene->skin_count = cooked->skin_count;
    scene->skins = skins;
    return skins != NULL;
}

static bool import_clip(const cook_import *import, uint32_t index, const float *keys, pelt_clip *clip)
{
    const pelt_cooked *cooked = import->cooked;
    const file_clip *record = pelti_cooked_record(cooked, FILE_CLIP, 0, index);
    const char *name = pelti_cooked_name(cooked, record->name);
    pelt_sampler *samplers = pelt_builder_allocate(import->builder, record->sampler_count, sizeof *samplers);
    pelt_channel *channels = pelt_builder_allocate(import->builder, record->channel_count, sizeof *channels);
    clip->name = pelt_builder_string(import->builder, name, strlen(name));
    if (!samplers || !channels || !clip->name) {
        return false;
    }
    for (uint32_t i = 0; i < record->sampler_count; i++) {
        const file_sampler *from = pelti_cooked_record(cooked, FILE_SAMP, index, i);
        const file_key_array *times = pelti_cooked_record(cooked, FILE_KEYA, 0, from->times);
        const file_key_array *values = pelti_cooked_record(cooked, FILE_KEYA, 0, from->values);
        samplers[i] = (pelt_sampler){
            .interpolation = (pelt_interpolation)from->interpolation,
            .file_index = from->file_index,
            .key_count = from->key_count,
            .value_count = from->value_count,
            .times = keys + times->first,
            .values = keys + values->first,
        };
    }
    for (uint32_t i = 0; i < record->channel_count; i++) {
        const file_channel *from = pelti_cooked_record(cooked, FILE_CHAN, index, i);
        channels[i] = (pelt_channel){node_record(import, from->node)->file_index, (pelt_path)from->path, from->sampler,
                                     from->file_index};
    }
    clip->sampler_count = record->sampler_count;
    clip->samplers = samplers;
    clip->channel_count = record->channel_count;
    clip->channels = channels;
    return true;
}

static bool import_clips(const cook_import *import, pelt_builder_scene *scene)
{
    const pelt_cooked *cooked = import->cooked;
    const file_section *section = pelti_cooked_section(cooked, FILE_KEYS, 0, 0);
    float *keys = pelt_builder_allocate(import->builder, section ? section->count : 0, sizeof *keys);
    pelt_clip *clips = pelt_builder_allocate(import->builder, cooked->clip_count, sizeof *clips);
    if (!keys || !clips) {
        return false;
    }
    if (section && section->size > 0) {
        memcpy(keys, pelti_cooked_contents(cooked, section), (size_t)section->size);
    }
    for (uint32_t i = 0; i < cooked->clip_count; i++) {
        if (!import_clip(import, i, keys, &clips[i])) {
            return false;
        }
    }
    scene->clip_count = cooked->clip_count;
    scene->clips = clips;
    return true;
}

static pelt_result import_scene(const cook_import *import, pelt_asset **out_asset, pelt_error *error)
{
    pelt_builder_scene scene = {0};
    pelt_builder_node *nodes = import_nodes(import, &scene);
    if (!nodes || !import_skins(import, &scene) || !import_clips(import, &scene) ||
        !pelti_cooked_import_meshes(import, &scene)) {
        return pelt_builder_status(import->builder, error);
    }
    link_nodes(import, nodes, &scene);
    return pelt_builder_finish(import->builder, &scene, out_asset, error);
}

pelt_result pelt_cooked_import(const pelt_cooked *cooked, pelt_asset **out_asset, pelt_error *error)
{
    pelti_error_clear(error);
    if (out_asset) {
        *out_asset = NULL;
    }
    if (!cooked || !out_asset) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "an argument is NULL");
    }
    import_places places = {0};
    pelt_builder_options options = {cooked->allocator, cooked->log, cooked->memory_limit};
    cook_import import = {.cooked = cooked, .places = &places};
    pelt_result result = pelt_builder_create(&options, &import.builder);
    if (result != PELT_OK) {
        return pelti_fail(error, result, "", "out of memory");
    }
    result = import_scene(&import, out_asset, error);
    pelt_builder_destroy(import.builder);
    return result;
}

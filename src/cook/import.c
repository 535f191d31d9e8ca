// SPDX-License-Identifier: MIT
// Unpacks an opened .pelt file into an asset through the public builder, in the file indices of the source, so that
// nodes, skins and clips come out as they went in. Meshes: import_mesh.c.
#include "cook/import.h"

static const file_node *node_record(const cook_import *import, uint32_t index)
{
    return pelti_cooked_record(import->cooked, FILE_NODE, 0, index);
}

// A copy of a section of the file, NULL when the builder has no memory.
static void *copy_section(const cook_import *import, file_kind_index kind, uint32_t owner)
{
    const file_section *section = pelti_cooked_section(import->cooked, kind, owner, 0);
    uint64_t size = section ? section->size : 0;
    void *copy = pelt_builder_allocate(import->builder, size, 1);
    if (copy && size > 0) {
        memcpy(copy, pelti_cooked_contents(import->cooked, section), (size_t)size);
    }
    return copy;
}

// Children in preorder keep their order: a node's first child follows it, and each sibling follows a subtree.
static void link_children(const cook_import *import, pelt_builder_node *nodes, uint32_t *children)
{
    for (uint32_t i = 0; i < import->cooked->node_count; i++) {
        const file_node *record = node_record(import, i);
        pelt_builder_node *node = &nodes[record->file_index];
        node->children = children;
        for (uint32_t child = i + 1; child < record->subtree_end; child = node_record(import, child)->subtree_end) {
            children[node->child_count++] = node_record(import, child)->file_index;
        }
        children += node->child_count;
    }
}

// What is in the scene without its parent being there.
static void list_roots(const cook_import *import, uint32_t *roots, pelt_builder_scene *scene)
{
    for (uint32_t i = 0; i < scene->node_count; i++) {
        const file_node *record = node_record(import, import->cooked->node_from_file[i]);
        bool in_scene = record->flags & FILE_NODE_IN_SCENE;
        bool below = record->parent != PELT_NONE && node_record(import, record->parent)->flags & FILE_NODE_IN_SCENE;
        scene->has_scene = scene->has_scene || !in_scene;
        if (in_scene && !below) {
            roots[scene->root_count++] = i;
        }
    }
    scene->roots = roots;
}

static bool import_nodes(const cook_import *import, pelt_builder_scene *scene)
{
    uint32_t count = import->cooked->node_count;
    pelt_builder_node *nodes = pelt_builder_allocate(import->builder, count, sizeof *nodes);
    uint32_t *children = pelt_builder_allocate(import->builder, count, sizeof *children);
    uint32_t *roots = pelt_builder_allocate(import->builder, count, sizeof *roots);
    const float *weights = copy_section(import, FILE_RSTW, 0);
    if (!nodes || !children || !roots || !weights) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const file_node *record = node_record(import, i);
        pelt_builder_node *node = &nodes[record->file_index];
        node->name = import->strings + record->name;
        node->mesh = record->mesh;
        node->skin = record->skin;
        node->has_matrix = record->flags & FILE_NODE_HAS_MATRIX;
        memcpy(&node->rest.translation, record->translation, sizeof record->translation);
        memcpy(&node->rest.rotation, record->rotation, sizeof record->rotation);
        memcpy(&node->rest.scale, record->scale, sizeof record->scale);
        memcpy(&node->matrix, record->local_matrix, sizeof record->local_matrix);
        node->weight_count = record->weight_count;
        node->weights = weights + record->first_weight;
    }
    scene->node_count = count;
    scene->nodes = nodes;
    link_children(import, nodes, children);
    list_roots(import, roots, scene);
    return true;
}

static bool import_skins(const cook_import *import, pelt_builder_scene *scene)
{
    uint32_t count = import->cooked->skin_count;
    pelt_skin *skins = pelt_builder_allocate(import->builder, count, sizeof *skins);
    for (uint32_t i = 0; skins && i < count; i++) {
        const file_skin *record = pelti_cooked_record(import->cooked, FILE_SKIN, 0, i);
        uint32_t *joints = copy_section(import, FILE_JNTS, i);
        const pelt_mat34 *binds = copy_section(import, FILE_IBND, i);
        if (!joints || !binds) {
            return false;
        }
        for (uint32_t j = 0; j < record->joint_count; j++) {
            joints[j] = node_record(import, joints[j])->file_index;
        }
        skins[i] = (pelt_skin){
            .name = import->strings + record->name,
            .joint_count = record->joint_count,
            .joints = joints,
            .inverse_binds = binds,
            .has_inverse_binds = record->flags & FILE_SKIN_HAS_INVERSE_BINDS,
            .skeleton = record->skeleton == PELT_NONE ? PELT_NONE : node_record(import, record->skeleton)->file_index,
        };
    }
    scene->skin_count = count;
    scene->skins = skins;
    return skins != NULL;
}

static bool import_clip(const cook_import *import, uint32_t index, const float *keys, pelt_clip *clip)
{
    const pelt_cooked *cooked = import->cooked;
    const file_clip *record = pelti_cooked_record(cooked, FILE_CLIP, 0, index);
    pelt_sampler *samplers = pelt_builder_allocate(import->builder, record->sampler_count, sizeof *samplers);
    pelt_channel *channels = pelt_builder_allocate(import->builder, record->channel_count, sizeof *channels);
    if (!samplers || !channels) {
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
    clip->name = import->strings + record->name;
    clip->sampler_count = record->sampler_count;
    clip->samplers = samplers;
    clip->channel_count = record->channel_count;
    clip->channels = channels;
    return true;
}

static bool import_clips(const cook_import *import, pelt_builder_scene *scene)
{
    uint32_t count = import->cooked->clip_count;
    const float *keys = copy_section(import, FILE_KEYS, 0);
    pelt_clip *clips = pelt_builder_allocate(import->builder, count, sizeof *clips);
    if (!keys || !clips) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!import_clip(import, i, keys, &clips[i])) {
            return false;
        }
    }
    scene->clip_count = count;
    scene->clips = clips;
    return true;
}

static pelt_result import_scene(cook_import *import, pelt_asset **out_asset, pelt_error *error)
{
    pelt_builder_scene scene = {0};
    import->strings = copy_section(import, FILE_STRS, 0);
    if (!import->strings || !import_nodes(import, &scene) || !import_skins(import, &scene) ||
        !import_clips(import, &scene) || !pelti_cooked_import_meshes(import, &scene)) {
        return pelt_builder_status(import->builder, error);
    }
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
    pelt_builder_options options = {cooked->allocator, cooked->log, cooked->memory_limit};
    cook_import import = {.cooked = cooked};
    pelt_result result = pelt_builder_create(&options, &import.builder);
    if (result != PELT_OK) {
        return pelti_fail(error, result, "", "out of memory");
    }
    result = import_scene(&import, out_asset, error);
    pelt_builder_destroy(import.builder);
    return result;
}

// SPDX-License-Identifier: MIT
// Turns what a builder was given into an asset: runs the checks in order and hands the memory over.
#include "asset/asset_internal.h"

static pelt_result check_arrays(const pelt_builder_scene *scene, pelt_error *error)
{
    bool complete = (scene->node_count == 0 || scene->nodes) && (scene->root_count == 0 || scene->roots) &&
                    (scene->mesh_count == 0 || scene->meshes) && (scene->skin_count == 0 || scene->skins) &&
                    (scene->clip_count == 0 || scene->clips);
    for (uint32_t i = 0; complete && i < scene->node_count; i++) {
        const pelt_builder_node *node = &scene->nodes[i];
        complete = (node->child_count == 0 || node->children) && (node->weight_count == 0 || node->weights);
    }
    if (!complete) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "an array of the scene is missing");
    }
    // The last index is PELT_NONE.
    if (scene->node_count == PELT_NONE || scene->mesh_count == PELT_NONE || scene->skin_count == PELT_NONE) {
        return pelti_fail(error, PELT_ERROR_LIMIT, "", "too many nodes, meshes or skins");
    }
    return PELT_OK;
}

static pelt_result run_checks(asset_finish *finish, pelt_error *error)
{
    pelt_result (*const checks[])(asset_finish *, pelt_error *) = {
        pelti_finish_hierarchy, pelti_finish_scene,     pelti_finish_meshes,      pelti_finish_skins,
        pelti_finish_nodes,     pelti_finish_instances, pelti_finish_skin_scenes, pelti_finish_clips,
    };
    pelt_result result = PELT_OK;
    for (size_t i = 0; i < sizeof checks / sizeof checks[0] && result == PELT_OK; i++) {
        result = checks[i](finish, error);
    }
    return result;
}

static pelt_asset_data make_data(const asset_finish *finish)
{
    const pelt_builder_scene *scene = finish->scene;
    return (pelt_asset_data){
        .node_count = scene->node_count,
        .nodes = finish->nodes,
        .node_from_file = finish->node_from_file,
        .mesh_count = scene->mesh_count,
        .meshes = scene->meshes,
        .skin_count = scene->skin_count,
        .skins = scene->skins,
        .clip_count = scene->clip_count,
        .clips = scene->clips,
        .instance_count = finish->instance_count,
        .instances = finish->instances,
        .rest_weight_count = finish->rest_weight_count,
        .rest_weights = finish->rest_weights,
    };
}

static pelt_result build(asset_finish *finish, pelt_asset **out_asset, pelt_error *error)
{
    pelt_builder *builder = finish->builder;
    uint32_t node_count = finish->scene->node_count;
    pelt_asset *asset = pelt_builder_allocate(builder, 1, sizeof *asset);
    finish->nodes = pelt_builder_allocate(builder, node_count, sizeof *finish->nodes);
    finish->node_from_file = pelt_builder_allocate(builder, node_count, sizeof *finish->node_from_file);
    if (!asset || !finish->nodes || !finish->node_from_file) {
        return pelt_builder_status(builder, error);
    }
    pelt_result result = run_checks(finish, error);
    if (result != PELT_OK) {
        return result;
    }
    asset->allocator = builder->allocator;
    asset->blocks = builder->blocks;
    asset->data = make_data(finish);
    builder->blocks = NULL;
    *out_asset = asset;
    return PELT_OK;
}

pelt_result pelt_builder_finish(pelt_builder *builder, const pelt_builder_scene *scene, pelt_asset **out_asset,
                                pelt_error *error)
{
    pelti_error_clear(error);
    if (out_asset) {
        *out_asset = NULL;
    }
    if (!builder || !scene || !out_asset || builder->finished) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "%s",
                          builder && builder->finished ? "the builder was finished before" : "an argument is NULL");
    }
    // Arrays that could not be had are missing from the scene: say why, not that.
    if (builder->status != PELT_OK) {
        return pelt_builder_status(builder, error);
    }
    pelt_result result = check_arrays(scene, error);
    if (result != PELT_OK) {
        return result;
    }
    builder->finished = true;
    asset_finish finish = {.builder = builder, .scene = scene};
    uint64_t node_scratch = (uint64_t)scene->node_count * 3 + 1;
    uint64_t mesh_scratch = (uint64_t)scene->mesh_count + 1;
    uint32_t *links = pelti_allocate(&builder->allocator, node_scratch, sizeof *links);
    finish.mesh_uses = pelti_allocate(&builder->allocator, mesh_scratch, sizeof *finish.mesh_uses);
    if (links && finish.mesh_uses) {
        finish.parent = links;
        finish.first_child = links + scene->node_count;
        finish.next_sibling = links + (size_t)scene->node_count * 2;
        result = build(&finish, out_asset, error);
    } else {
        result = pelti_fail_memory(error);
    }
    pelti_asset_seen_release(&finish);
    pelti_release(&builder->allocator, links, node_scratch, sizeof *links);
    pelti_release(&builder->allocator, finish.mesh_uses, mesh_scratch, sizeof *finish.mesh_uses);
    return result;
}

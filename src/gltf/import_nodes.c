// SPDX-License-Identifier: MIT
// Nodes and the default scene of a document, as the file gives them: the builder sorts and checks the hierarchy.
#include "import_internal.h"

static pelt_result read_matrix(gltf_import *import, const json_t *object, uint32_t index, const char *where,
                               pelt_builder_node *node, pelt_error *error)
{
    const json_t *value = json_object_get(object, "matrix");
    static const char *const parts[] = {"translation", "rotation", "scale"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (json_object_get(object, parts[i])) {
            return pelti_fail(error, PELT_ERROR_INVALID, where, "has both a matrix and %s", parts[i]);
        }
    }
    if (!json_is_array(value) || json_array_size(value) != 16) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "matrix has %zu numbers, not 16", json_array_size(value));
    }
    float columns[16];
    bool found = false;
    GLTF_TRY(pelti_gltf_floats(object, "matrix", where, 16, columns, &found, error));
    float deviation = pelti_gltf_mat34(columns, &node->matrix);
    if (!(deviation <= GLTF_FOURTH_ROW_TOLERANCE)) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "matrix has a fourth row of %g %g %g %g, not 0 0 0 1",
                          (double)columns[3], (double)columns[7], (double)columns[11], (double)columns[15]);
    }
    if (deviation > 0) {
        pelti_warn(&import->gltf->options.log, where,
                   "node %u: matrix has a fourth row that is off from 0 0 0 1 by %g; it is taken as 0 0 0 1", index,
                   (double)deviation);
    }
    node->has_matrix = true;
    return PELT_OK;
}

static pelt_result read_transform(gltf_import *import, const json_t *object, uint32_t index, const char *where,
                                  pelt_builder_node *node, pelt_error *error)
{
    node->rest = pelt_trs_identity();
    node->matrix = pelt_mat34_identity();
    if (json_object_get(object, "matrix")) {
        return read_matrix(import, object, index, where, node, error);
    }
    bool found = false;
    float v[4];
    GLTF_TRY(pelti_gltf_floats(object, "translation", where, 3, v, &found, error));
    if (found) {
        node->rest.translation = (pelt_vec3){v[0], v[1], v[2]};
    }
    GLTF_TRY(pelti_gltf_floats(object, "rotation", where, 4, v, &found, error));
    if (found) {
        node->rest.rotation = (pelt_quat){v[0], v[1], v[2], v[3]};
    }
    GLTF_TRY(pelti_gltf_floats(object, "scale", where, 3, v, &found, error));
    if (found) {
        node->rest.scale = (pelt_vec3){v[0], v[1], v[2]};
    }
    return PELT_OK;
}

static pelt_result read_node(gltf_import *import, const json_t *object, uint32_t index, pelt_builder_node *node,
                             pelt_error *error)
{
    gltf_path path = pelti_gltf_path("/nodes/%u", index);
    GLTF_TRY(pelti_gltf_name(import, object, path.text, &node->name, error));
    uint32_t *children = NULL;
    GLTF_TRY(pelti_gltf_index_list(import, object, "children", path.text, &children, &node->child_count, error));
    node->children = children;
    GLTF_TRY(pelti_gltf_index(object, "mesh", path.text, false, import->scene.mesh_count, "mesh", &node->mesh, error));
    GLTF_TRY(pelti_gltf_index(object, "skin", path.text, false, import->scene.skin_count, "skin", &node->skin, error));
    if (node->skin != PELT_NONE && node->mesh == PELT_NONE) {
        pelti_warn(&import->gltf->options.log, path.text, "node %u: skin %u without a mesh; it is ignored", index,
                   node->skin);
        node->skin = PELT_NONE;
    }
    float *weights = NULL;
    GLTF_TRY(pelti_gltf_float_list(import, object, "weights", path.text, &weights, &node->weight_count, error));
    node->weights = weights;
    return read_transform(import, object, index, path.text, node, error);
}

static bool is_placed(const pelt_builder_node *node)
{
    const pelt_trs *t = &node->rest;
    if (node->has_matrix) {
        const pelt_mat34 identity = pelt_mat34_identity();
        for (int i = 0; i < 12; i++) {
            if (node->matrix.m[i / 4][i % 4] != identity.m[i / 4][i % 4]) {
                return true;
            }
        }
        return false;
    }
    return t->translation.x != 0 || t->translation.y != 0 || t->translation.z != 0 || t->rotation.x != 0 ||
           t->rotation.y != 0 || t->rotation.z != 0 || t->scale.x != 1 || t->scale.y != 1 || t->scale.z != 1;
}

// Authors who place a skinned mesh by its node see it elsewhere.
static void warn_of_placed_skins(const gltf_import *import, const pelt_builder_node *nodes, uint32_t count)
{
    uint32_t first = 0;
    uint32_t placed_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[i].skin != PELT_NONE && is_placed(&nodes[i])) {
            first = placed_count == 0 ? i : first;
            placed_count++;
        }
    }
    if (placed_count > 0) {
        pelti_warn(&import->gltf->options.log, pelti_gltf_path("/nodes/%u", first).text,
                   "node %u: the node transform of a skinned mesh is ignored, as its joints place it (%u such node%s)",
                   first, placed_count, placed_count == 1 ? "" : "s");
    }
}

static pelt_result read_scene(gltf_import *import, pelt_error *error)
{
    json_t *scenes = NULL;
    uint32_t scene_count = 0;
    GLTF_TRY(pelti_gltf_array(import->gltf, "scenes", &scenes, &scene_count, error));
    uint32_t index = PELT_NONE;
    GLTF_TRY(pelti_gltf_index(import->gltf->root, "scene", "", false, scene_count, "scene", &index, error));
    if (index == PELT_NONE) {
        return PELT_OK;
    }
    gltf_path path = pelti_gltf_path("/scenes/%u", index);
    uint32_t *roots = NULL;
    pelt_result result = pelti_gltf_index_list(import, json_array_get(scenes, index), "nodes", path.text, &roots,
                                               &import->scene.root_count, error);
    if (result != PELT_OK) {
        pelti_gltf_prefix(error, "scene %u", index);
        return result;
    }
    import->scene.roots = roots;
    import->scene.has_scene = true;
    return PELT_OK;
}

pelt_result pelti_gltf_import_nodes(gltf_import *import, pelt_error *error)
{
    json_t *array = NULL;
    uint32_t count = 0;
    GLTF_TRY(pelti_gltf_array(import->gltf, "nodes", &array, &count, error));
    pelt_builder_node *nodes = pelt_builder_allocate(import->builder, count, sizeof *nodes);
    if (!nodes) {
        return pelt_builder_status(import->builder, error);
    }
    for (uint32_t i = 0; i < count; i++) {
        pelt_result result = read_node(import, json_array_get(array, i), i, &nodes[i], error);
        if (result != PELT_OK) {
            pelti_gltf_prefix(error, "node %u", i);
            return result;
        }
    }
    warn_of_placed_skins(import, nodes, count);
    import->scene.nodes = nodes;
    import->scene.node_count = count;
    return read_scene(import, error);
}

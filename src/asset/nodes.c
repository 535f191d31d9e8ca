// SPDX-License-Identifier: MIT
// Checks the contents of nodes: references, rest transforms and morph weights; and lists the scene's instances.
#include "asset/asset_internal.h"

// What was changed or ignored, for one warning of each kind.
typedef struct node_report {
    uint32_t rotation_count; // rotations further than 1e-3 from unit length
    uint32_t worst_rotation;
    double worst_off;
    uint32_t lone_skin_count; // skins without a mesh
    uint32_t first_lone_skin;
    uint32_t lone_weights_count; // morph weights without a mesh
    uint32_t first_lone_weights;
} node_report;

static pelt_result check_finite(uint32_t node, const char *key, const float *values, uint32_t count, pelt_error *error)
{
    uint64_t at = pelti_first_not_finite(values, count);
    if (at < count) {
        return pelti_fail(error, PELT_ERROR_INVALID, pelti_asset_text("/nodes/%u/%s/%u", node, key, (uint32_t)at).text,
                          "node %u: %s holds %s", node, key, pelti_asset_number(values[at]).text);
    }
    return PELT_OK;
}

static pelt_result fill_matrix(uint32_t index, const pelt_builder_node *from, pelt_node *node, pelt_error *error)
{
    node->has_matrix = true;
    node->rest = pelt_trs_identity();
    node->local_matrix = from->matrix;
    return check_finite(index, "matrix", &from->matrix.m[0][0], 12, error);
}

static pelt_result fill_trs(uint32_t index, const pelt_builder_node *from, pelt_node *node, node_report *report,
                            pelt_error *error)
{
    node->rest = from->rest;
    pelt_result result = check_finite(index, "translation", &from->rest.translation.x, 3, error);
    result = result == PELT_OK ? check_finite(index, "rotation", &from->rest.rotation.x, 4, error) : result;
    result = result == PELT_OK ? check_finite(index, "scale", &from->rest.scale.x, 3, error) : result;
    if (result != PELT_OK) {
        return result;
    }
    pelti_quatd rotation = pelti_quatd_from_quat(from->rest.rotation);
    double off = fabs(sqrt(pelti_quatd_dot(rotation, rotation)) - 1.0);
    bool settled = pelti_quatd_is_rounded_unit(rotation);
    if (!pelti_quatd_normalize(&rotation)) {
        return pelti_fail(error, PELT_ERROR_INVALID, pelti_asset_text("/nodes/%u/rotation", index).text,
                          "node %u: rotation has length zero", index);
    }
    if (off > 1e-3) {
        report->rotation_count++;
        if (off > report->worst_off) {
            report->worst_off = off;
            report->worst_rotation = index;
        }
    }
    node->rest.rotation = settled ? from->rest.rotation : pelti_quat_from_quatd(rotation);
    node->local_matrix = pelt_mat34_from_trs(&node->rest);
    return PELT_OK;
}

static pelt_result fill_mesh(const pelt_builder_scene *scene, uint32_t index, const pelt_builder_node *from,
                             pelt_node *node, node_report *report, pelt_error *error)
{
    node->mesh = from->mesh;
    node->skin = from->skin;
    if (from->mesh != PELT_NONE && from->mesh >= scene->mesh_count) {
        return pelti_fail(error, PELT_ERROR_INVALID, pelti_asset_text("/nodes/%u/mesh", index).text,
                          "node %u: mesh %u does not exist, the file has %u meshes", index, from->mesh,
                          scene->mesh_count);
    }
    if (from->skin != PELT_NONE && from->skin >= scene->skin_count) {
        return pelti_fail(error, PELT_ERROR_INVALID, pelti_asset_text("/nodes/%u/skin", index).text,
                          "node %u: skin %u does not exist, the file has %u skins", index, from->skin,
                          scene->skin_count);
    }
    if (from->mesh == PELT_NONE && from->skin != PELT_NONE) {
        node->skin = PELT_NONE;
        report->first_lone_skin = report->lone_skin_count++ == 0 ? index : report->first_lone_skin;
    }
    if (from->mesh == PELT_NONE && from->weight_count > 0) {
        report->first_lone_weights = report->lone_weights_count++ == 0 ? index : report->first_lone_weights;
    }
    return PELT_OK;
}

// A skinned node's primitives all need joints, and none past the skin's. O(1) through mesh_uses.
static pelt_result check_skinned(const asset_finish *finish, uint32_t index, const pelt_node *node, pelt_error *error)
{
    const asset_mesh_use *use = &finish->mesh_uses[node->mesh];
    const pelt_skin *skin = &finish->scene->skins[node->skin];
    uint32_t primitive = PELT_NONE;
    if (use->unbound_primitive != PELT_NONE) {
        primitive = use->unbound_primitive;
        pelti_fail(error, PELT_ERROR_INVALID,
                   pelti_asset_text("/meshes/%u/primitives/%u/attributes", node->mesh, primitive).text,
                   "mesh %u, primitive %u: no JOINTS_0, but node %u uses the mesh with skin %u", node->mesh, primitive,
                   index, node->skin);
        pelti_hint(error, "export the mesh with its weights, or remove the skin from the node");
    } else if (use->joint_bound > skin->joint_count) {
        primitive = use->bound_primitive;
        pelti_fail(error, PELT_ERROR_INVALID,
                   pelti_asset_text("/meshes/%u/primitives/%u/attributes/JOINTS_0", node->mesh, primitive).text,
                   "mesh %u, primitive %u: JOINTS_0: joint %u is used, but skin %u of node %u has %u joints",
                   node->mesh, primitive, use->joint_bound - 1, node->skin, index, skin->joint_count);
        if (error) {
            error->joint = use->joint_bound - 1;
        }
    } else {
        return PELT_OK;
    }
    if (error) {
        error->mesh = node->mesh;
        error->primitive = primitive;
    }
    return PELT_ERROR_INVALID;
}

static pelt_result check_weights(const asset_finish *finish, uint32_t index, const pelt_builder_node *from,
                                 pelt_error *error)
{
    uint32_t target_count = finish->scene->meshes[from->mesh].target_count;
    if (from->weight_count == 0) {
        return PELT_OK;
    }
    if (from->weight_count != target_count) {
        pelti_fail(error, PELT_ERROR_INVALID, pelti_asset_text("/nodes/%u/weights", index).text,
                   "node %u: weights has %u numbers, but mesh %u has %u morph targets", index, from->weight_count,
                   from->mesh, target_count);
        if (error) {
            error->mesh = from->mesh;
        }
        return PELT_ERROR_INVALID;
    }
    return check_finite(index, "weights", from->weights, from->weight_count, error);
}

static pelt_result fill_node(asset_finish *finish, uint32_t index, pelt_node *node, node_report *report,
                             pelt_error *error)
{
    const pelt_builder_node *from = &finish->scene->nodes[index];
    node->name = from->name ? from->name : "";
    pelt_result result =
        from->has_matrix ? fill_matrix(index, from, node, error) : fill_trs(index, from, node, report, error);
    result = result == PELT_OK ? fill_mesh(finish->scene, index, from, node, report, error) : result;
    if (result == PELT_OK && node->mesh != PELT_NONE) {
        node->weight_count = finish->scene->meshes[node->mesh].target_count;
        result = check_weights(finish, index, from, error);
    }
    if (result == PELT_OK && node->skin != PELT_NONE) {
        result = check_skinned(finish, index, node, error);
    }
    return result;
}

// Gives each node its place among the rest weights: the node's own, else the mesh's.
static pelt_result place_weights(asset_finish *finish, pelt_error *error)
{
    const pelt_builder_scene *scene = finish->scene;
    uint64_t total = 0;
    for (uint32_t i = 0; i < scene->node_count; i++) {
        if (total > UINT32_MAX) {
            break;
        }
        finish->nodes[i].first_weight = (uint32_t)total;
        total += finish->nodes[i].weight_count;
    }
    if (total > UINT32_MAX) {
        return pelti_fail(error, PELT_ERROR_LIMIT, "/nodes", "the nodes have more than %u morph weights in all",
                          UINT32_MAX);
    }
    finish->rest_weight_count = (uint32_t)total;
    finish->rest_weights = pelt_builder_allocate(finish->builder, total, sizeof(float));
    if (!finish->rest_weights) {
        return pelt_builder_status(finish->builder, error);
    }
    for (uint32_t i = 0; i < scene->node_count; i++) {
        const pelt_node *node = &finish->nodes[i];
        if (node->weight_count > 0) {
            const pelt_builder_node *from = &scene->nodes[node->file_index];
            memcpy(finish->rest_weights + node->first_weight,
                   from->weight_count > 0 ? from->weights : scene->meshes[node->mesh].weights,
                   sizeof(float) * node->weight_count);
        }
    }
    return PELT_OK;
}

// "" for the first, ", and 3 other nodes" otherwise.
static asset_text others(uint32_t count)
{
    asset_text text = {""};
    if (count > 1) {
        text = pelti_asset_text(", and so %s %u other node%s", count == 2 ? "has" : "have", count - 1,
                                count == 2 ? "" : "s");
    }
    return text;
}

static void warn_nodes(const pelt_log *log, const node_report *report)
{
    if (report->rotation_count > 0) {
        asset_text less = {""};
        if (report->rotation_count > 1) {
            less = pelti_asset_text(" (and %u other%s by less)", report->rotation_count - 1,
                                    report->rotation_count == 2 ? "" : "s");
        }
        pelti_warn(log, pelti_asset_text("/nodes/%u/rotation", report->worst_rotation).text,
                   "node %u: rotation is off unit length by %.6g%s; normalised", report->worst_rotation,
                   report->worst_off, less.text);
    }
    if (report->lone_skin_count > 0) {
        pelti_warn(log, pelti_asset_text("/nodes/%u/skin", report->first_lone_skin).text,
                   "node %u has a skin but no mesh%s; the skin is ignored", report->first_lone_skin,
                   others(report->lone_skin_count).text);
    }
    if (report->lone_weights_count > 0) {
        pelti_warn(log, pelti_asset_text("/nodes/%u/weights", report->first_lone_weights).text,
                   "node %u has morph weights but no mesh%s; the weights are ignored", report->first_lone_weights,
                   others(report->lone_weights_count).text);
    }
}

pelt_result pelti_finish_nodes(asset_finish *finish, pelt_error *error)
{
    node_report report = {0};
    for (uint32_t i = 0; i < finish->scene->node_count; i++) {
        pelt_result result = fill_node(finish, i, &finish->nodes[finish->node_from_file[i]], &report, error);
        if (result != PELT_OK) {
            return result;
        }
    }
    warn_nodes(&finish->builder->log, &report);
    return place_weights(finish, error);
}

pelt_result pelti_finish_instances(asset_finish *finish, pelt_error *error)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < finish->scene->node_count; i++) {
        count += finish->nodes[i].in_scene && finish->nodes[i].mesh != PELT_NONE ? 1 : 0;
    }
    finish->instance_count = count;
    finish->instances = pelt_builder_allocate(finish->builder, count, sizeof(pelt_instance));
    if (!finish->instances) {
        return pelt_builder_status(finish->builder, error);
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < finish->scene->node_count; i++) {
        uint32_t index = finish->node_from_file[i];
        const pelt_node *node = &finish->nodes[index];
        if (node->in_scene && node->mesh != PELT_NONE) {
            finish->instances[next++] = (pelt_instance){index, node->mesh, node->skin};
        }
    }
    return PELT_OK;
}

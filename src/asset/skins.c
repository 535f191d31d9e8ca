// SPDX-License-Identifier: MIT
// Checks skins, turns their joints into node indices and gives every skin its inverse bind matrices.
#include "asset/asset_internal.h"

enum {
    JOINT_BOUND = 65536 // as many as 16-bit joint numbers can name
};

typedef struct skin_check {
    asset_finish *finish;
    uint32_t index;
    pelt_skin *skin;
    uint32_t *last_skin; // scratch, node_count: the last skin + 1 that listed the node
    uint32_t *root;      // scratch, node_count: the root of the node's tree
} skin_check;

static pelt_result map_joints(const skin_check *check, pelt_error *error)
{
    const asset_finish *finish = check->finish;
    pelt_skin *skin = check->skin;
    // A copy, not the caller's array: two skins may have been given the same one.
    uint32_t *joints = pelt_builder_allocate(finish->builder, skin->joint_count, sizeof *joints);
    if (!joints) {
        return pelt_builder_status(finish->builder, error);
    }
    uint32_t repeated_count = 0;
    uint32_t first_repeated = 0;
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        uint32_t file_node = skin->joints[j];
        if (file_node >= finish->scene->node_count) {
            pelti_fail(error, PELT_ERROR_INVALID, pelti_asset_text("/skins/%u/joints/%u", check->index, j).text,
                       "skin %u: joints: joint %u is node %u, which does not exist: the file has %u nodes",
                       check->index, j, file_node, finish->scene->node_count);
            if (error) {
                error->joint = j;
            }
            return PELT_ERROR_INVALID;
        }
        joints[j] = finish->node_from_file[file_node];
        if (check->last_skin[joints[j]] == check->index + 1) {
            first_repeated = repeated_count++ == 0 ? j : first_repeated;
        }
        check->last_skin[joints[j]] = check->index + 1;
    }
    if (repeated_count > 0) {
        pelti_warn(&finish->builder->log, pelti_asset_text("/skins/%u/joints/%u", check->index, first_repeated).text,
                   "skin %u: joints: %u node%s listed again, the first of them node %u as joint %u", check->index,
                   repeated_count, repeated_count == 1 ? " is" : "s are", skin->joints[first_repeated], first_repeated);
    }
    skin->joints = joints;
    return PELT_OK;
}

static pelt_result fill_binds(const skin_check *check, pelt_error *error)
{
    pelt_skin *skin = check->skin;
    if (!skin->has_inverse_binds) {
        pelt_mat34 *identities = pelt_builder_allocate(check->finish->builder, skin->joint_count, sizeof *identities);
        if (!identities) {
            return pelt_builder_status(check->finish->builder, error);
        }
        for (uint32_t j = 0; j < skin->joint_count; j++) {
            identities[j] = pelt_mat34_identity();
        }
        skin->inverse_binds = identities;
        return PELT_OK;
    }
    const float *values = &skin->inverse_binds[0].m[0][0];
    uint64_t at = pelti_first_not_finite(values, (uint64_t)skin->joint_count * 12);
    if (at < (uint64_t)skin->joint_count * 12) {
        uint32_t joint = (uint32_t)(at / 12);
        pelti_fail(error, PELT_ERROR_INVALID, pelti_asset_text("/skins/%u/inverseBindMatrices", check->index).text,
                   "skin %u: inverseBindMatrices: the matrix of joint %u holds %s", check->index, joint,
                   pelti_asset_number(values[at]).text);
        if (error) {
            error->joint = joint;
        }
        return PELT_ERROR_INVALID;
    }
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        for (uint32_t i = 0; i < 9; i++) {
            if (skin->inverse_binds[j].m[i / 3][i % 3] != 0.0f) {
                return PELT_OK;
            }
        }
    }
    return pelti_fail(error, PELT_ERROR_INVALID, pelti_asset_text("/skins/%u/inverseBindMatrices", check->index).text,
                      "skin %u: inverseBindMatrices: all matrices are zero, every mesh would shrink to points",
                      check->index);
}

static uint32_t outside_count(const pelt_skin *skin, uint32_t first, uint32_t end, uint32_t *out_joint)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        if (skin->joints[j] < first || skin->joints[j] >= end) {
            *out_joint = count++ == 0 ? j : *out_joint;
        }
    }
    return count;
}

static pelt_result map_skeleton(const skin_check *check, pelt_error *error)
{
    const asset_finish *finish = check->finish;
    pelt_skin *skin = check->skin;
    uint32_t joint = 0;
    asset_text where = pelti_asset_text("/skins/%u/skeleton", check->index);
    if (skin->skeleton == PELT_NONE) {
        uint32_t root = check->root[skin->joints[0]];
        if (outside_count(skin, root, finish->nodes[root].subtree_end, &joint) > 0) {
            pelti_warn(&finish->builder->log, pelti_asset_text("/skins/%u/joints/%u", check->index, joint).text,
                       "skin %u: joints: joint %u and joint 0 have no common root", check->index, joint);
        }
        return PELT_OK;
    }
    if (skin->skeleton >= finish->scene->node_count) {
        return pelti_fail(error, PELT_ERROR_INVALID, where.text,
                          "skin %u: skeleton: node %u does not exist, the file has %u nodes", check->index,
                          skin->skeleton, finish->scene->node_count);
    }
    uint32_t file_node = skin->skeleton;
    skin->skeleton = finish->node_from_file[file_node];
    uint32_t count = outside_count(skin, skin->skeleton, finish->nodes[skin->skeleton].subtree_end, &joint);
    if (count > 0) {
        pelti_warn(&finish->builder->log, where.text,
                   "skin %u: skeleton: node %u is not a common root, %u of %u joints are not below it, the first of "
                   "them joint %u; this changes nothing",
                   check->index, file_node, count, skin->joint_count, joint);
    }
    return PELT_OK;
}

static pelt_result check_skin(const skin_check *check, pelt_error *error)
{
    pelt_skin *skin = check->skin;
    skin->name = skin->name ? skin->name : "";
    asset_text where = pelti_asset_text("/skins/%u/joints", check->index);
    if (skin->joint_count == 0) {
        return pelti_fail(error, PELT_ERROR_INVALID, where.text, "skin %u: joints is empty", check->index);
    }
    if (skin->joint_count > JOINT_BOUND) {
        return pelti_fail(error, PELT_ERROR_LIMIT, where.text, "skin %u: %u joints, over the limit of %d", check->index,
                          skin->joint_count, (int)JOINT_BOUND);
    }
    if (!skin->joints || (skin->has_inverse_binds && !skin->inverse_binds)) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, where.text, "skin %u: an array is missing", check->index);
    }
    pelt_result result = map_joints(check, error);
    result = result == PELT_OK ? fill_binds(check, error) : result;
    return result == PELT_OK ? map_skeleton(check, error) : result;
}

pelt_result pelti_finish_skins(asset_finish *finish, pelt_error *error)
{
    const pelt_builder_scene *scene = finish->scene;
    const pelt_allocator *allocator = &finish->builder->allocator;
    if (scene->skin_count == 0) {
        return PELT_OK;
    }
    uint64_t scratch_count = (uint64_t)scene->node_count * 2 + 1;
    uint32_t *scratch = pelti_allocate(allocator, scratch_count, sizeof *scratch);
    if (!scratch) {
        return pelti_fail_memory(error);
    }
    skin_check check = {.finish = finish, .last_skin = scratch, .root = scratch + scene->node_count};
    for (uint32_t i = 0; i < scene->node_count; i++) {
        uint32_t parent = finish->nodes[i].parent;
        check.last_skin[i] = 0;
        check.root[i] = parent == PELT_NONE ? i : check.root[parent];
    }
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; i < scene->skin_count && result == PELT_OK; i++) {
        check.index = i;
        check.skin = &scene->skins[i];
        result = check_skin(&check, error);
    }
    pelti_release(allocator, scratch, scratch_count, sizeof *scratch);
    return result;
}

static void warn_outside_scene(const asset_finish *finish, uint32_t index)
{
    const pelt_skin *skin = &finish->scene->skins[index];
    uint32_t count = 0;
    uint32_t first = 0;
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        if (!finish->nodes[skin->joints[j]].in_scene) {
            first = count++ == 0 ? j : first;
        }
    }
    if (count > 0) {
        pelti_warn(&finish->builder->log, pelti_asset_text("/skins/%u/joints/%u", index, first).text,
                   "skin %u: %u of %u joints are not in the scene, the first of them joint %u (node %u); they are "
                   "posed all the same",
                   index, count, skin->joint_count, first, finish->nodes[skin->joints[first]].file_index);
    }
}

pelt_result pelti_finish_skin_scenes(asset_finish *finish, pelt_error *error)
{
    const pelt_allocator *allocator = &finish->builder->allocator;
    uint32_t skin_count = finish->scene->skin_count;
    if (skin_count == 0) {
        return PELT_OK;
    }
    bool *used = pelti_allocate(allocator, skin_count, sizeof *used);
    if (!used) {
        return pelti_fail_memory(error);
    }
    memset(used, 0, skin_count * sizeof *used);
    for (uint32_t i = 0; i < finish->instance_count; i++) {
        if (finish->instances[i].skin != PELT_NONE) {
            used[finish->instances[i].skin] = true;
        }
    }
    for (uint32_t i = 0; i < skin_count; i++) {
        if (used[i]) {
            warn_outside_scene(finish, i);
        }
    }
    pelti_release(allocator, used, skin_count, sizeof *used);
    return PELT_OK;
}

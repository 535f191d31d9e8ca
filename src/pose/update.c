// SPDX-License-Identifier: MIT
// World transforms of what is dirty. Nodes are in depth-first order, so a dirty node and its descendants are one range,
// and the dirty set is a list of disjoint ranges: each is computed in a straight pass, without a test per node.
#include "pose_internal.h"

static bool is_block_clear(const uint8_t *flags)
{
    uint64_t words[PELTI_FLAG_BLOCK / sizeof(uint64_t)];
    memcpy(words, flags, sizeof words);
    return (words[0] | words[1] | words[2] | words[3]) == 0;
}

// First set flag in [begin, end), or end. Flags are read up to the end of the block that holds the last one.
static uint32_t next_set(const uint8_t *flags, uint32_t begin, uint32_t end)
{
    uint32_t i = begin;
    while (i < end && i % PELTI_FLAG_BLOCK != 0) {
        if (flags[i]) {
            return i;
        }
        i++;
    }
    while (i < end && is_block_clear(flags + i)) {
        // Near 2^32 nodes the index would wrap.
        i = end - i > PELTI_FLAG_BLOCK ? i + PELTI_FLAG_BLOCK : end;
    }
    while (i < end && !flags[i]) {
        i++;
    }
    return i;
}

// Local matrices of [begin, begin + count). Runs of TRS nodes, mostly all of them, are left to the kernel.
static void local_matrices(const pelt_pose *pose, uint32_t begin, uint32_t count, pelti_mat34d *out)
{
    const uint8_t *kinds = pose->locals.uses_matrix;
    uint32_t i = begin;
    while (i < begin + count) {
        uint32_t end = next_set(kinds, i, begin + count);
        pose->kernel->locals(pose->locals.transforms + i, end - i, out + (i - begin));
        for (i = end; i < begin + count && kinds[i] != PELTI_LOCAL_TRS; i++) {
            bool own = kinds[i] == PELTI_LOCAL_OWN_MATRIX;
            out[i - begin] = pelti_mat34d_from_mat34(own ? &pose->own_matrices[i] : &pose->data->nodes[i].local_matrix);
        }
    }
}

// Local matrices come first, for some nodes at a time: they depend on nothing, while each product waits for the one of
// the parent. Nodes of a whole block are multiplied by depth, so that products of different branches overlap. Locals
// are not kept from update to update: to read one costs about as much as to make it.
static void compute_range(pelt_pose *pose, uint32_t begin, uint32_t end)
{
    pelti_mat34d locals[PELTI_NODE_BLOCK];
    while (begin < end) {
        uint32_t rest = PELTI_NODE_BLOCK - begin % PELTI_NODE_BLOCK;
        uint32_t count = end - begin < rest ? end - begin : rest;
        bool is_whole = count == PELTI_NODE_BLOCK || (rest == PELTI_NODE_BLOCK && end == pose->data->node_count);
        local_matrices(pose, begin, count, locals);
        pose->kernel->worlds(pose->parents, is_whole ? pose->order + begin : NULL, locals, begin, count, pose->worlds);
        begin += count;
    }
}

static void forget_last_update(pelt_pose *pose)
{
    memset(pose->node_changed + pose->changed_begin, 0, pose->changed_end - pose->changed_begin);
    pose->changed_begin = 0;
    pose->changed_end = 0;
    if (pose->changed_skin_count > 0) {
        memset(pose->skin_changed, 0, pose->data->skin_count);
        pose->changed_skin_count = 0;
    }
    if (pose->changed_weight_count > 0) {
        memset(pose->weights_changed, 0, pose->data->node_count);
        pose->changed_weight_count = 0;
    }
}

// Moves the dirty flags into node_changed, descendants included. Returns how many are set.
static uint32_t spread_dirty(pelt_pose *pose, uint32_t first)
{
    const uint32_t node_count = pose->data->node_count;
    uint8_t *dirty = pose->locals.transform_changed;
    uint32_t count = 0;
    pose->changed_begin = first;
    for (uint32_t i = first; i < node_count; i = next_set(dirty, pose->changed_end, node_count)) {
        uint32_t end = pose->data->nodes[i].subtree_end;
        memset(pose->node_changed + i, 1, end - i);
        memset(dirty + i, 0, end - i);
        count += end - i;
        pose->changed_end = end;
    }
    return count;
}

static void compute_changed(pelt_pose *pose)
{
    uint32_t i = pose->changed_begin;
    while (i < pose->changed_end) {
        uint32_t end = i + 1;
        while (end < pose->changed_end && pose->node_changed[end]) {
            end++;
        }
        compute_range(pose, i, end);
        i = next_set(pose->node_changed, end, pose->changed_end);
    }
}

static bool has_changed_joint(const pelt_pose *pose, uint32_t index)
{
    pelti_skin_range range = pose->skin_ranges[index];
    if (range.begin >= pose->changed_end || range.end <= pose->changed_begin) {
        return false;
    }
    // The joints of a skin mostly lie beside each other: looking for a change among all nodes there is cheaper than
    // asking joint by joint, unless the joints are few and far between.
    const pelt_skin *skin = &pose->data->skins[index];
    if ((range.end - range.begin) / PELTI_FLAG_BLOCK < skin->joint_count &&
        next_set(pose->node_changed, range.begin, range.end) == range.end) {
        return false;
    }
    for (uint32_t i = 0; i < skin->joint_count; i++) {
        if (pose->node_changed[skin->joints[i]]) {
            return true;
        }
    }
    return false;
}

static void find_changed_skins(pelt_pose *pose)
{
    for (uint32_t i = 0; i < pose->data->skin_count; i++) {
        if (has_changed_joint(pose, i)) {
            pose->skin_changed[i] = 1;
            pose->changed_skin_count++;
        }
    }
}

static void move_weight_flags(pelt_pose *pose)
{
    const uint32_t node_count = pose->data->node_count;
    uint8_t *dirty = pose->locals.weights_changed;
    for (uint32_t i = next_set(dirty, 0, node_count); i < node_count; i = next_set(dirty, i + 1, node_count)) {
        dirty[i] = 0;
        pose->weights_changed[i] = 1;
        pose->changed_weight_count++;
    }
}

pelt_result pelt_pose_update(pelt_pose *pose, pelt_pose_update_info *info)
{
    if (!pose) {
        return PELT_ERROR_ARGUMENT;
    }
    const uint32_t node_count = pose->data->node_count;
    uint32_t computed = 0;
    bool full_pass = false;
    forget_last_update(pose);
    uint32_t first = next_set(pose->locals.transform_changed, 0, node_count);
    if (first < node_count) {
        computed = spread_dirty(pose, first);
        full_pass = computed > node_count / 2;
        if (full_pass) {
            compute_range(pose, 0, node_count);
            computed = node_count;
        } else {
            compute_changed(pose);
        }
        find_changed_skins(pose);
    }
    move_weight_flags(pose);
    if (info) {
        *info = (pelt_pose_update_info){computed, pose->changed_skin_count, pose->changed_weight_count, full_pass};
    }
    return PELT_OK;
}

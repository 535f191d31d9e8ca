// SPDX-License-Identifier: MIT
// Creation of poses and everything that reads or sets them; update.c computes the world transforms.
#include "pose_internal.h"

// Places arrays one after the other in a block that is allocated later.
typedef struct layout {
    uint64_t size;
    bool overflow;
} layout;

static uint64_t place(layout *l, uint64_t count, size_t size)
{
    uint64_t offset = l->size;
    uint64_t bytes = 0;
    uint64_t end = 0;
    if (!pelti_mul(count, size, &bytes) || !pelti_add(bytes, PELTI_FLAG_BLOCK - 1, &bytes) ||
        !pelti_add(offset, bytes / PELTI_FLAG_BLOCK * PELTI_FLAG_BLOCK, &end)) {
        l->overflow = true;
        return 0;
    }
    l->size = end;
    return offset;
}

static void find_skin_ranges(pelt_pose *pose)
{
    for (uint32_t i = 0; i < pose->data->skin_count; i++) {
        const pelt_skin *skin = &pose->data->skins[i];
        pelti_skin_range range = {PELT_NONE, 0};
        for (uint32_t k = 0; k < skin->joint_count; k++) {
            uint32_t joint = skin->joints[k];
            range.begin = joint < range.begin ? joint : range.begin;
            range.end = joint >= range.end ? joint + 1 : range.end;
        }
        pose->skin_ranges[i] = range;
    }
}

// Sorts nodes [begin, begin + count) by depth, counted from the block's own beginning.
static void order_block(pelt_pose *pose, uint32_t begin, uint32_t count)
{
    uint8_t depths[PELTI_NODE_BLOCK];
    uint32_t starts[PELTI_NODE_BLOCK + 1] = {0};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = pose->parents[begin + i];
        bool is_inside = parent != PELT_NONE && parent >= begin;
        depths[i] = is_inside ? (uint8_t)(depths[parent - begin] + 1) : 0;
        starts[depths[i] + 1]++;
    }
    for (uint32_t i = 1; i < count; i++) {
        starts[i] += starts[i - 1];
    }
    for (uint32_t i = 0; i < count; i++) {
        pose->order[begin + starts[depths[i]]] = begin + i;
        starts[depths[i]]++;
    }
}

pelt_result pelt_pose_create(const pelt_asset *asset, const pelt_allocator *allocator, pelt_pose **out_pose)
{
    if (out_pose) {
        *out_pose = NULL;
    }
    if (!asset || !out_pose) {
        return PELT_ERROR_ARGUMENT;
    }
    const pelt_asset_data *data = pelt_asset_get(asset);
    const uint64_t nodes = data->node_count;
    layout l = {0};
    place(&l, 1, sizeof(pelt_pose));
    const uint64_t worlds = place(&l, nodes, sizeof(pelti_mat34d));
    const uint64_t transforms = place(&l, nodes, sizeof(pelt_trs));
    const uint64_t own_matrices = place(&l, nodes, sizeof(pelt_mat34));
    const uint64_t parents = place(&l, nodes, sizeof(uint32_t));
    const uint64_t order = place(&l, nodes, sizeof(uint32_t));
    const uint64_t skin_ranges = place(&l, data->skin_count, sizeof(pelti_skin_range));
    const uint64_t weights = place(&l, data->rest_weight_count, sizeof(float));
    const uint64_t transform_dirty = place(&l, nodes, 1);
    const uint64_t weights_dirty = place(&l, nodes, 1);
    const uint64_t uses_matrix = place(&l, nodes, 1);
    const uint64_t node_changed = place(&l, nodes, 1);
    const uint64_t weights_changed = place(&l, nodes, 1);
    const uint64_t skin_changed = place(&l, data->skin_count, 1);

    const pelt_allocator memory = allocator ? *allocator : (pelt_allocator){0};
    char *block = l.overflow ? NULL : pelti_allocate(&memory, l.size, 1);
    if (!block) {
        return PELT_ERROR_MEMORY;
    }
    memset(block, 0, (size_t)l.size);
    pelt_pose *pose = (void *)block;
    *pose = (pelt_pose){
        .allocator = memory,
        .size = (size_t)l.size,
        .asset = asset,
        .data = data,
        .kernel = pelti_pose_kernel_of(pelt_isa_choose(PELT_ISA_BEST, 0)),
        .locals = {.transforms = (void *)(block + transforms),
                   .transform_changed = (uint8_t *)block + transform_dirty,
                   .uses_matrix = (uint8_t *)block + uses_matrix,
                   .weights = (void *)(block + weights),
                   .weights_changed = (uint8_t *)block + weights_dirty},
        .worlds = (void *)(block + worlds),
        .own_matrices = (void *)(block + own_matrices),
        .parents = (void *)(block + parents),
        .order = (void *)(block + order),
        .skin_ranges = (void *)(block + skin_ranges),
        .node_changed = (uint8_t *)block + node_changed,
        .weights_changed = (uint8_t *)block + weights_changed,
        .skin_changed = (uint8_t *)block + skin_changed,
    };
    pelt_locals_rest(asset, &pose->locals);
    for (uint32_t i = 0; i < data->node_count; i++) {
        pose->parents[i] = data->nodes[i].parent;
        pose->locals.transform_changed[i] = 1;
        pose->locals.weights_changed[i] = data->nodes[i].weight_count > 0;
    }
    find_skin_ranges(pose);
    for (uint32_t i = 0; i < data->node_count; i += PELTI_NODE_BLOCK) {
        uint32_t count = data->node_count - i < PELTI_NODE_BLOCK ? data->node_count - i : PELTI_NODE_BLOCK;
        order_block(pose, i, count);
    }
    *out_pose = pose;
    return PELT_OK;
}

void pelt_pose_destroy(pelt_pose *pose)
{
    if (pose) {
        // The allocator lies in what it releases.
        const pelt_allocator memory = pose->allocator;
        pelti_release(&memory, pose, pose->size, 1);
    }
}

void pelt_pose_reset(pelt_pose *pose)
{
    if (pose) {
        pelt_locals_rest(pose->asset, &pose->locals);
    }
}

static bool are_finite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

static bool is_valid_trs(const pelt_trs *trs)
{
    const pelt_vec3 *t = &trs->translation;
    const pelt_quat *q = &trs->rotation;
    const pelt_vec3 *s = &trs->scale;
    float values[10] = {t->x, t->y, t->z, q->x, q->y, q->z, q->w, s->x, s->y, s->z};
    return are_finite(values, 10) && (q->x != 0.0F || q->y != 0.0F || q->z != 0.0F || q->w != 0.0F);
}

static void store_local(pelt_pose *pose, uint32_t node, const pelt_trs *local)
{
    const pelt_locals *locals = &pose->locals;
    if (locals->uses_matrix[node] == PELTI_LOCAL_TRS && memcmp(&locals->transforms[node], local, sizeof *local) == 0) {
        return;
    }
    locals->transforms[node] = *local;
    locals->uses_matrix[node] = PELTI_LOCAL_TRS;
    locals->transform_changed[node] = 1;
}

pelt_result pelt_pose_set_local(pelt_pose *pose, uint32_t node, const pelt_trs *local)
{
    if (!pose || !local || node >= pose->data->node_count || !is_valid_trs(local)) {
        return PELT_ERROR_ARGUMENT;
    }
    store_local(pose, node, local);
    return PELT_OK;
}

pelt_result pelt_pose_set_locals(pelt_pose *pose, const pelt_trs *locals)
{
    if (!pose || (!locals && pose->data->node_count > 0)) {
        return PELT_ERROR_ARGUMENT;
    }
    for (uint32_t i = 0; i < pose->data->node_count; i++) {
        if (!is_valid_trs(&locals[i])) {
            return PELT_ERROR_ARGUMENT;
        }
    }
    for (uint32_t i = 0; i < pose->data->node_count; i++) {
        store_local(pose, i, &locals[i]);
    }
    return PELT_OK;
}

pelt_result pelt_pose_set_local_matrix(pelt_pose *pose, uint32_t node, const pelt_mat34 *local)
{
    if (!pose || !local || node >= pose->data->node_count || !are_finite(local->m[0], 4) ||
        !are_finite(local->m[1], 4) || !are_finite(local->m[2], 4)) {
        return PELT_ERROR_ARGUMENT;
    }
    const pelt_mat34 *rest = &pose->data->nodes[node].local_matrix;
    uint8_t *kind = &pose->locals.uses_matrix[node];
    const pelt_mat34 *now = *kind == PELTI_LOCAL_OWN_MATRIX ? &pose->own_matrices[node] : rest;
    if (*kind != PELTI_LOCAL_TRS && memcmp(now, local, sizeof *local) == 0) {
        return PELT_OK;
    }
    // The asset's matrix is always referred to, never kept as an own one: a reset then sees that nothing differs.
    *kind = memcmp(rest, local, sizeof *local) == 0 ? PELTI_LOCAL_ASSET_MATRIX : PELTI_LOCAL_OWN_MATRIX;
    pose->own_matrices[node] = *local;
    pose->locals.transform_changed[node] = 1;
    return PELT_OK;
}

pelt_result pelt_pose_set_weights(pelt_pose *pose, uint32_t node, const float *weights, uint32_t weight_count)
{
    if (!pose || node >= pose->data->node_count || weight_count != pose->data->nodes[node].weight_count ||
        (!weights && weight_count > 0) || !are_finite(weights, weight_count)) {
        return PELT_ERROR_ARGUMENT;
    }
    float *now = pose->locals.weights + pose->data->nodes[node].first_weight;
    if (weight_count > 0 && memcmp(now, weights, weight_count * sizeof *weights) != 0) {
        memcpy(now, weights, weight_count * sizeof *weights);
        pose->locals.weights_changed[node] = 1;
    }
    return PELT_OK;
}

const pelt_locals *pelt_pose_locals(pelt_pose *pose)
{
    return &pose->locals;
}

pelt_mat34 pelt_pose_world(const pelt_pose *pose, uint32_t node)
{
    assert(node < pose->data->node_count);
    return pelti_mat34_from_mat34d(&pose->worlds[node]);
}

const double *pelt_pose_world_double(const pelt_pose *pose, uint32_t node)
{
    assert(node < pose->data->node_count);
    return pose->worlds[node].m;
}

pelt_mat34 pelt_pose_local(const pelt_pose *pose, uint32_t node)
{
    assert(node < pose->data->node_count);
    switch (pose->locals.uses_matrix[node]) {
    case PELTI_LOCAL_TRS:
        return pelt_mat34_from_trs(&pose->locals.transforms[node]);
    case PELTI_LOCAL_ASSET_MATRIX:
        return pose->data->nodes[node].local_matrix;
    default:
        return pose->own_matrices[node];
    }
}

const float *pelt_pose_weights(const pelt_pose *pose, uint32_t node)
{
    assert(node < pose->data->node_count);
    return pose->locals.weights + pose->data->nodes[node].first_weight;
}

bool pelt_pose_skin_changed(const pelt_pose *pose, uint32_t skin)
{
    assert(skin < pose->data->skin_count);
    return pose->skin_changed[skin] != 0;
}

bool pelt_pose_node_changed(const pelt_pose *pose, uint32_t node)
{
    assert(node < pose->data->node_count);
    return pose->node_changed[node] != 0;
}

bool pelt_pose_weights_changed(const pelt_pose *pose, uint32_t node)
{
    assert(node < pose->data->node_count);
    return pose->weights_changed[node] != 0;
}

const pelt_asset *pelt_pose_asset(const pelt_pose *pose)
{
    return pose->asset;
}

void pelt_pose_set_isa(pelt_pose *pose, pelt_isa cap, uint32_t disabled)
{
    pose->kernel = pelti_pose_kernel_of(pelt_isa_choose(cap, disabled));
}

const pelti_mat34d *pelti_pose_worlds(const pelt_pose *pose)
{
    return pose->worlds;
}

const pelt_asset_data *pelti_pose_data(const pelt_pose *pose)
{
    return pose->data;
}

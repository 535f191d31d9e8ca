// SPDX-License-Identifier: MIT
// Finds the nodes that a skeleton needs and brings them into the two orders of evaluation. Nothing recurses: nodes are
// parent first, so one pass from the back gives the sizes of subtrees, and one from the front hands out positions.
#include "base/base.h"
#include "skeleton.h"

// By node. size is 0 for nodes that are not needed.
typedef struct node_info {
    uint32_t size;   // needed nodes of the subtree, itself included
    uint32_t last;   // the child that is visited last
    uint32_t start;  // position in side-by-side order
    uint32_t cursor; // position of its next child that is not the last
    uint32_t slot;
    uint32_t depth;
    uint32_t index; // position by depth
} node_info;

typedef struct selection {
    const pelt_asset_data *data;
    pelt_skeleton_options options;
    uint32_t bind_count;
    uint32_t matrix_count;
    uint32_t step_count;
    node_info *nodes;
} selection;

// The node of a matrix of the palette, and through *bind its inverse bind matrix or NULL. Called for rising index, with
// *skin and *joint as it left them.
static uint32_t next_matrix(const selection *s, uint32_t index, uint32_t *skin, uint32_t *joint,
                            const pelt_mat34 **bind)
{
    *bind = NULL;
    if (index >= s->bind_count) {
        return s->options.nodes[index - s->bind_count];
    }
    const pelt_skin *now = &s->data->skins[s->options.skins ? s->options.skins[*skin] : *skin];
    while (*joint == now->joint_count) {
        ++*skin;
        *joint = 0;
        now = &s->data->skins[s->options.skins ? s->options.skins[*skin] : *skin];
    }
    *bind = &now->inverse_binds[*joint];
    return now->joints[(*joint)++];
}

// Fills in what is chosen; false where an index is out of range or matrices cannot be counted.
static bool choose(const pelt_asset *asset, const pelt_skeleton_options *options, selection *s, pelt_result *error)
{
    *s = (selection){.data = pelt_asset_get(asset)};
    s->options = options ? *options : (pelt_skeleton_options){0};
    *error = PELT_ERROR_ARGUMENT;
    if ((s->options.skin_count > 0 && !s->options.skins) || (s->options.node_count > 0 && !s->options.nodes)) {
        return false;
    }
    if (s->options.skin_count == 0 && s->options.node_count == 0) {
        s->options.skin_count = s->data->skin_count;
        s->options.skins = NULL;
    }
    uint64_t joints = 0;
    for (uint32_t i = 0; i < s->options.skin_count; i++) {
        uint32_t skin = s->options.skins ? s->options.skins[i] : i;
        if (skin >= s->data->skin_count) {
            return false;
        }
        joints += s->data->skins[skin].joint_count;
    }
    for (uint32_t i = 0; i < s->options.node_count; i++) {
        if (s->options.nodes[i] >= s->data->node_count) {
            return false;
        }
    }
    if (joints + s->options.node_count >= UINT32_MAX / 16) {
        *error = PELT_ERROR_MEMORY;
        return false;
    }
    s->bind_count = (uint32_t)joints;
    s->matrix_count = s->bind_count + s->options.node_count;
    return true;
}

static void find_needed(selection *s)
{
    uint32_t skin = 0;
    uint32_t joint = 0;
    for (uint32_t i = 0; i < s->matrix_count; i++) {
        const pelt_mat34 *bind = NULL;
        uint32_t node = next_matrix(s, i, &skin, &joint, &bind);
        // Ancestors of a node that was found before were found with it.
        while (node != PELT_NONE && s->nodes[node].size == 0) {
            s->nodes[node].size = 1;
            s->step_count++;
            node = s->data->nodes[node].parent;
        }
    }
    for (uint32_t i = s->data->node_count; i > 0; i--) {
        uint32_t parent = s->data->nodes[i - 1].parent;
        if (parent != PELT_NONE) {
            s->nodes[parent].size += s->nodes[i - 1].size;
        }
    }
}

// The last child in memory order, or the one with the most nodes below it.
static void choose_last_children(selection *s, bool by_size)
{
    for (uint32_t i = 0; i < s->data->node_count; i++) {
        s->nodes[i].last = PELT_NONE;
    }
    for (uint32_t i = s->data->node_count; i > 0; i--) {
        uint32_t parent = s->data->nodes[i - 1].parent;
        if (s->nodes[i - 1].size == 0 || parent == PELT_NONE) {
            continue;
        }
        uint32_t *last = &s->nodes[parent].last;
        if (*last == PELT_NONE || (by_size && s->nodes[i - 1].size > s->nodes[*last].size)) {
            *last = i - 1;
        }
    }
}

// Positions, slots and depths. The child that is visited last takes its parent's slot. Returns how many slots that
// needs.
static uint32_t place_nodes(selection *s)
{
    uint32_t next_root = 0;
    uint32_t slot_count = 0;
    for (uint32_t i = 0; i < s->data->node_count; i++) {
        node_info *n = &s->nodes[i];
        uint32_t parent = s->data->nodes[i].parent;
        if (n->size == 0) {
            continue;
        }
        if (parent == PELT_NONE) {
            n->start = next_root;
            next_root += n->size;
        } else {
            node_info *p = &s->nodes[parent];
            bool is_last = p->last == i;
            n->start = is_last ? p->start + p->size - n->size : p->cursor;
            p->cursor += is_last ? 0 : n->size;
            n->slot = is_last ? p->slot : p->slot + 1;
            n->depth = p->depth + 1;
        }
        n->cursor = n->start + 1;
        slot_count = n->slot >= slot_count ? n->slot + 1 : slot_count;
    }
    return slot_count;
}

// False where there is no memory.
static bool place_by_depth(const pelt_allocator *allocator, selection *s)
{
    uint32_t depth_count = 1;
    for (uint32_t i = 0; i < s->data->node_count; i++) {
        depth_count = s->nodes[i].depth >= depth_count ? s->nodes[i].depth + 1 : depth_count;
    }
    const uint64_t start_count = (uint64_t)depth_count + 1;
    uint32_t *starts = pelti_allocate(allocator, start_count, sizeof *starts);
    if (!starts) {
        return false;
    }
    memset(starts, 0, (size_t)start_count * sizeof *starts);
    for (uint32_t i = 0; i < s->data->node_count; i++) {
        starts[s->nodes[i].depth + 1] += s->nodes[i].size > 0 ? 1 : 0;
    }
    for (uint32_t i = 0; i < depth_count; i++) {
        starts[i + 1] += starts[i];
    }
    for (uint32_t i = 0; i < s->data->node_count; i++) {
        if (s->nodes[i].size > 0) {
            s->nodes[i].index = starts[s->nodes[i].depth]++;
        }
    }
    pelti_release(allocator, starts, start_count, sizeof *starts);
    return true;
}

static void fill_steps(const selection *s, pelt_skeleton *skeleton)
{
    for (uint32_t i = 0; i < s->data->node_count; i++) {
        const node_info *n = &s->nodes[i];
        if (n->size == 0) {
            continue;
        }
        uint32_t parent = s->data->nodes[i].parent;
        skeleton->has_matrices = skeleton->has_matrices || s->data->nodes[i].has_matrix;
        skeleton->steps[n->start] = (pelti_step){.node = i,
                                                 .parent_slot = parent == PELT_NONE ? PELT_NONE : s->nodes[parent].slot,
                                                 .slot = n->size > 1 ? n->slot : PELT_NONE};
        skeleton->nodes[n->index] = i;
        skeleton->parents[n->index] = parent == PELT_NONE ? PELT_NONE : s->nodes[parent].index;
    }
}

// Sorts the matrices by step and copies the binds.
static void fill_outputs(const selection *s, pelt_skeleton *skeleton)
{
    uint32_t skin = 0;
    uint32_t joint = 0;
    for (uint32_t i = 0; i < s->matrix_count; i++) {
        const pelt_mat34 *bind = NULL;
        const node_info *n = &s->nodes[next_matrix(s, i, &skin, &joint, &bind)];
        skeleton->sources[i] = n->index;
        skeleton->steps[n->start].output_end++;
        if (bind) {
            skeleton->binds[i] = *bind;
            skeleton->double_binds[i] = pelti_mat34d_from_mat34(bind);
        }
    }
    uint32_t begin = 0;
    for (uint32_t i = 0; i < s->step_count; i++) {
        pelti_step *step = &skeleton->steps[i];
        uint32_t count = step->output_end;
        step->output_begin = begin;
        step->output_end = begin;
        begin += count;
    }
    for (uint32_t i = 0; i < s->matrix_count; i++) {
        uint32_t node = skeleton->nodes[skeleton->sources[i]];
        skeleton->outputs[skeleton->steps[s->nodes[node].start].output_end++] = i;
    }
    for (uint32_t i = 0; i < s->step_count; i++) {
        pelti_step *step = &skeleton->steps[i];
        uint32_t first = step->output_end == step->output_begin + 1 ? skeleton->outputs[step->output_begin] : PELT_NONE;
        if (first < s->bind_count && step->parent_slot != PELT_NONE) {
            step->has_one_bind = true;
        }
    }
}

// Counts are below 2^32 and sizes small, so nothing overflows 64 bits.
static uint64_t place(uint64_t *size, uint64_t count, size_t element)
{
    uint64_t offset = *size;
    *size += (count * element + 15) / 16 * 16;
    return offset;
}

static pelt_skeleton *allocate_skeleton(const pelt_allocator *allocator, const selection *s)
{
    uint64_t size = 0;
    place(&size, 1, sizeof(pelt_skeleton));
    const uint64_t steps = place(&size, s->step_count, sizeof(pelti_step));
    const uint64_t outputs = place(&size, s->matrix_count, sizeof(uint32_t));
    const uint64_t binds = place(&size, s->bind_count, sizeof(pelt_mat34));
    const uint64_t double_binds = place(&size, s->bind_count, sizeof(pelti_mat34d));
    const uint64_t nodes = place(&size, s->step_count, sizeof(uint32_t));
    const uint64_t parents = place(&size, s->step_count, sizeof(uint32_t));
    const uint64_t sources = place(&size, s->matrix_count, sizeof(uint32_t));
    char *block = pelti_allocate(allocator, size, 1);
    if (!block) {
        return NULL;
    }
    memset(block, 0, (size_t)size);
    pelt_skeleton *skeleton = (void *)block;
    *skeleton = (pelt_skeleton){
        .allocator = *allocator,
        .size = (size_t)size,
        .data = s->data,
        .step_count = s->step_count,
        .matrix_count = s->matrix_count,
        .bind_count = s->bind_count,
        .steps = (void *)(block + steps),
        .outputs = (void *)(block + outputs),
        .binds = (void *)(block + binds),
        .double_binds = (void *)(block + double_binds),
        .nodes = (void *)(block + nodes),
        .parents = (void *)(block + parents),
        .sources = (void *)(block + sources),
    };
    return skeleton;
}

static pelt_skeleton *build(const pelt_allocator *allocator, selection *s)
{
    find_needed(s);
    choose_last_children(s, false);
    if (place_nodes(s) > PELTI_SLOT_LIMIT) {
        choose_last_children(s, true);
        place_nodes(s);
    }
    pelt_skeleton *skeleton = place_by_depth(allocator, s) ? allocate_skeleton(allocator, s) : NULL;
    if (skeleton) {
        fill_steps(s, skeleton);
        fill_outputs(s, skeleton);
    }
    return skeleton;
}

pelt_result pelt_skeleton_create(const pelt_asset *asset, const pelt_skeleton_options *options,
                                 const pelt_allocator *allocator, pelt_skeleton **out_skeleton)
{
    if (out_skeleton) {
        *out_skeleton = NULL;
    }
    if (!asset || !out_skeleton) {
        return PELT_ERROR_ARGUMENT;
    }
    selection s;
    pelt_result error = PELT_OK;
    if (!choose(asset, options, &s, &error)) {
        return error;
    }
    const pelt_allocator memory = allocator ? *allocator : (pelt_allocator){0};
    const uint64_t node_count = s.data->node_count > 0 ? s.data->node_count : 1;
    s.nodes = pelti_allocate(&memory, node_count, sizeof *s.nodes);
    if (!s.nodes) {
        return PELT_ERROR_MEMORY;
    }
    memset(s.nodes, 0, (size_t)node_count * sizeof *s.nodes);
    *out_skeleton = build(&memory, &s);
    pelti_release(&memory, s.nodes, node_count, sizeof *s.nodes);
    return *out_skeleton ? PELT_OK : PELT_ERROR_MEMORY;
}

void pelt_skeleton_destroy(pelt_skeleton *skeleton)
{
    if (skeleton) {
        // The allocator lies in what it releases.
        const pelt_allocator memory = skeleton->allocator;
        pelti_release(&memory, skeleton, skeleton->size, 1);
    }
}

uint32_t pelt_skeleton_matrix_count(const pelt_skeleton *skeleton)
{
    return skeleton->matrix_count;
}

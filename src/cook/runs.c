// SPDX-License-Identifier: MIT
// Cuts an order of vertices into joint runs, exactly: of all ways to cut between blocks of 64 vertices, the one of the
// least cost, by dynamic programming over at most 16 blocks a run. Cutting only where a list is full would be simpler,
// but leaves short runs behind long ones and puts blocks of few joints into runs of many.
#include "cook/order.h"

enum {
    RUN_BLOCKS = PELT_RUN_VERTICES / PELT_RUN_STEP,
    // Costs in the bytes of one joint's 3x4 matrix, 48, which a run loads once for each joint of its list.
    RUN_COST = 4,          // starting a run: its record, list, and a reduction of its box
    CLASS_BORDER_COST = 1, // runs of one class need no branch, but are not worth noticeably longer lists
    WIDE_BLOCK_COST = 64,  // blending from 32 joints takes twice as long as from 16
    DIRECT_BLOCK_COST = 128
};

typedef enum block_kind {
    BLOCK_NARROW = 0, // at most 16 joints
    BLOCK_WIDE,       // at most 32
    BLOCK_DIRECT8,
    BLOCK_DIRECT16
} block_kind;

// The joints of 64 vertices. A run holds blocks of one kind, so that one block of many joints does not slow its
// neighbours down. 68 bytes.
struct run_block {
    uint16_t joints[PELT_RUN_JOINTS]; // rising
    uint16_t joint_count;             // one more than fit: too many
    uint8_t kind;
    uint8_t classes; // bit set of influence classes
};

// The best way to cut all blocks before one.
struct run_cut {
    uint64_t cost;
    uint32_t first_block; // of the last run
    uint32_t joint_count; // of the last run's list; 0 if direct
};

bool pelti_run_cutter_init(run_cutter *cutter, cook_arena *arena, uint32_t vertex_count)
{
    uint64_t capacity = ((uint64_t)vertex_count + PELT_RUN_STEP - 1) / PELT_RUN_STEP;
    cutter->blocks = pelti_cook_allocate(arena, capacity, sizeof *cutter->blocks);
    cutter->cuts = pelti_cook_allocate(arena, capacity + 1, sizeof *cutter->cuts);
    return cutter->blocks && cutter->cuts;
}

static void add_joint(run_block *block, uint16_t joint)
{
    uint32_t low = 0;
    for (uint32_t high = block->joint_count; low < high;) {
        uint32_t middle = (low + high) / 2;
        if (block->joints[middle] < joint) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < block->joint_count && block->joints[low] == joint) {
        return;
    }
    if (block->joint_count < PELT_RUN_JOINTS) {
        memmove(block->joints + low + 1, block->joints + low, sizeof(uint16_t) * (block->joint_count - low));
        block->joints[low] = joint;
    }
    block->joint_count++;
}

static void fill_block(const run_cutter *cutter, const uint32_t *order, uint32_t count, run_block *block)
{
    const cook_vertex *last = NULL;
    uint16_t highest = 0;
    block->joint_count = 0;
    block->classes = 0;
    for (uint32_t i = 0; i < count; i++) {
        const cook_vertex *vertex = &cutter->vertices[order[i]];
        block->classes |= (uint8_t)(1u << vertex->class_index);
        if (last && memcmp(last->joints, vertex->joints, sizeof vertex->joints) == 0) {
            continue;
        }
        last = vertex;
        for (int slot = 0; slot < 4; slot++) {
            uint16_t joint = vertex->joints[slot];
            highest = joint > highest ? joint : highest;
            if (block->joint_count <= PELT_RUN_JOINTS) {
                add_joint(block, joint);
            }
        }
    }
    if (cutter->direct || block->joint_count > PELT_RUN_JOINTS) {
        bool bytes = cutter->direct ? cutter->direct8 : highest < 256;
        block->kind = bytes ? BLOCK_DIRECT8 : BLOCK_DIRECT16;
    } else {
        block->kind = block->joint_count <= COOK_NARROW_JOINTS ? BLOCK_NARROW : BLOCK_WIDE;
    }
}

// Merges the block's joints into a rising list of limit or fewer; false, and the list is spoilt, when it gets longer.
static bool merge_joints(uint16_t *list, uint32_t *list_count, const run_block *block, uint32_t limit)
{
    uint16_t merged[2 * PELT_RUN_JOINTS];
    uint32_t count = 0;
    uint32_t a = 0;
    uint32_t b = 0;
    while (a < *list_count || b < block->joint_count) {
        bool from_list = b == block->joint_count || (a < *list_count && list[a] <= block->joints[b]);
        uint16_t joint = from_list ? list[a] : block->joints[b];
        b += b < block->joint_count && block->joints[b] == joint;
        a += from_list;
        merged[count++] = joint;
    }
    if (count > limit) {
        return false;
    }
    memcpy(list, merged, sizeof *list * count);
    *list_count = count;
    return true;
}

static uint64_t run_cost(const run_cutter *cutter, block_kind kind, uint32_t block_count, uint32_t joint_count,
                         uint32_t classes)
{
    uint64_t cost = RUN_COST + joint_count;
    if (kind != BLOCK_NARROW) {
        cost += (uint64_t)block_count * (kind == BLOCK_WIDE ? WIDE_BLOCK_COST : DIRECT_BLOCK_COST);
    }
    // Each class but the first begins at a border: with the lowest bit taken away, count bits.
    for (uint32_t rest = cutter->by_class ? classes & (classes - 1) : 0; rest != 0; rest &= rest - 1) {
        cost += CLASS_BORDER_COST;
    }
    return cost;
}

// Tries every run that begins with this block.
static void extend_runs(run_cutter *cutter, uint32_t first)
{
    const run_block *start = &cutter->blocks[first];
    block_kind kind = (block_kind)start->kind;
    bool listed = kind == BLOCK_NARROW || kind == BLOCK_WIDE;
    uint32_t limit = kind == BLOCK_NARROW ? COOK_NARROW_JOINTS : PELT_RUN_JOINTS;
    uint16_t list[PELT_RUN_JOINTS];
    uint32_t list_count = 0;
    uint32_t classes = 0;
    uint32_t end = cutter->block_count - first > RUN_BLOCKS ? first + RUN_BLOCKS : cutter->block_count;
    for (uint32_t b = first; b < end; b++) {
        const run_block *block = &cutter->blocks[b];
        if (block->kind != start->kind || (listed && !merge_joints(list, &list_count, block, limit))) {
            return;
        }
        classes |= block->classes;
        uint64_t cost = cutter->cuts[first].cost + run_cost(cutter, kind, b + 1 - first, list_count, classes);
        run_cut *cut = &cutter->cuts[b + 1];
        if (cost < cut->cost) {
            *cut = (run_cut){cost, first, list_count};
        }
    }
}

uint64_t pelti_run_cut(run_cutter *cutter, const uint32_t *order, uint32_t count)
{
    cutter->block_count = count / PELT_RUN_STEP + (count % PELT_RUN_STEP != 0);
    for (uint32_t b = 0; b < cutter->block_count; b++) {
        uint32_t first = b * PELT_RUN_STEP;
        uint32_t size = count - first < PELT_RUN_STEP ? count - first : PELT_RUN_STEP;
        fill_block(cutter, order + first, size, &cutter->blocks[b]);
        cutter->cuts[b + 1].cost = UINT64_MAX;
    }
    cutter->cuts[0] = (run_cut){0};
    for (uint32_t b = 0; b < cutter->block_count; b++) {
        extend_runs(cutter, b);
    }
    return cutter->cuts[cutter->block_count].cost;
}

bool pelti_run_cut_is_single(const run_cutter *cutter)
{
    bool one_run = cutter->cuts[cutter->block_count].first_block == 0;
    return cutter->block_count <= 1 || (one_run && cutter->blocks[0].kind == BLOCK_NARROW);
}

static void emit_run(const run_cutter *cutter, const uint32_t *order, uint32_t first, uint32_t end, run_list *list,
                     pelt_run *run)
{
    const run_block *start = &cutter->blocks[first / PELT_RUN_STEP];
    static const uint8_t layouts[] = {PELT_JOINTS_RUN, PELT_JOINTS_RUN, PELT_JOINTS_DIRECT8, PELT_JOINTS_DIRECT16};
    *run = (pelt_run){
        .first_vertex = first,
        .vertex_count = end - first,
        .first_joint = list->run_joint_count,
        .layout = layouts[start->kind],
    };
    for (uint32_t i = first; i < end; i++) {
        uint8_t class_index = cutter->vertices[order[i]].class_index;
        run->class_counts[class_index]++;
        run->influence_count = class_index >= run->influence_count ? (uint8_t)(class_index + 1) : run->influence_count;
    }
    if (run->layout != PELT_JOINTS_RUN) {
        return;
    }
    uint16_t joints[PELT_RUN_JOINTS];
    uint32_t joint_count = 0;
    for (uint32_t b = first / PELT_RUN_STEP; b * PELT_RUN_STEP < end; b++) {
        merge_joints(joints, &joint_count, &cutter->blocks[b], PELT_RUN_JOINTS);
    }
    memcpy(list->run_joints + list->run_joint_count, joints, sizeof *joints * joint_count);
    run->joint_count = (uint16_t)joint_count;
    list->run_joint_count += joint_count;
}

bool pelti_run_emit(const run_cutter *cutter, const uint32_t *order, uint32_t count, cook_arena *arena,
                    run_list *out_list)
{
    uint32_t run_count = 0;
    uint64_t joint_count = 0;
    for (uint32_t end = cutter->block_count; end > 0; end = cutter->cuts[end].first_block) {
        run_count++;
        joint_count += cutter->cuts[end].joint_count;
    }
    *out_list = (run_list){
        .run_count = run_count,
        .runs = pelti_cook_allocate(arena, run_count, sizeof *out_list->runs),
        .run_joints = pelti_cook_allocate(arena, joint_count, sizeof *out_list->run_joints),
    };
    if (!out_list->runs || !out_list->run_joints) {
        return false;
    }
    uint32_t next = run_count;
    for (uint32_t end = cutter->block_count; end > 0; end = cutter->cuts[end].first_block) {
        out_list->runs[--next].first_vertex = cutter->cuts[end].first_block * PELT_RUN_STEP;
    }
    for (uint32_t r = 0; r < run_count; r++) {
        uint32_t end = r + 1 < run_count ? out_list->runs[r + 1].first_vertex : count;
        emit_run(cutter, order, out_list->runs[r].first_vertex, end, out_list, &out_list->runs[r]);
    }
    return true;
}

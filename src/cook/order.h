// SPDX-License-Identifier: MIT
// Inside order.c's step: cutting an order of vertices into runs (runs.c), statistics (run_statistics.c), and vertices
// grouped by the joints they use (order_groups.c), from which order_growth.c builds an order.
#ifndef PELTI_COOK_ORDER_H
#define PELTI_COOK_ORDER_H

#include "cook/cook_internal.h"

enum {
    COOK_CLASS_COUNT = 5,   // 1, 2, 3, 4 and more influences
    COOK_NARROW_JOINTS = 16 // most joints of a run that a kernel handles at full speed
};

// ---- runs.c

typedef struct run_list {
    uint32_t run_count;
    pelt_run *runs;
    uint32_t run_joint_count;
    uint16_t *run_joints;
} run_list;

typedef struct run_block run_block;
typedef struct run_cut run_cut;

// Finds the best cuts of an order. Its memory is reused from one order to the next.
typedef struct run_cutter {
    const cook_vertex *vertices; // by source vertex
    bool by_class;               // vertices of a run will stand by class
    bool direct;                 // no lists
    bool direct8;                // with direct: every joint is below 256
    run_block *blocks;
    run_cut *cuts; // one more than blocks
    uint32_t block_count;
} run_cutter;

// Memory for orders of up to vertex_count vertices; false when there is none.
bool pelti_run_cutter_init(run_cutter *cutter, cook_arena *arena, uint32_t vertex_count);
// Cuts count source vertices in this order so that the cost, which it returns, is the least.
uint64_t pelti_run_cut(run_cutter *cutter, const uint32_t *order, uint32_t count);
// The last cut is one run that no other order could improve on.
bool pelti_run_cut_is_single(const run_cutter *cutter);
// The runs of the last cut; order and count as then. False when there is no memory.
bool pelti_run_emit(const run_cutter *cutter, const uint32_t *order, uint32_t count, cook_arena *arena,
                    run_list *out_list);

// ---- run_statistics.c

// order: as cut into the runs of list.
void pelti_run_statistics_fill(const run_list *list, const cook_vertex *vertices, const uint32_t *order,
                               pelt_run_statistics *out);

// ---- order_groups.c

// Vertices of one class that use the same joints.
typedef struct joint_group {
    uint64_t key;         // the joints' ranks, rising, 16 bits each from the highest down; the last one repeats
    uint32_t first;       // in joint_groups.vertices
    uint32_t count;       // of vertices
    uint32_t joint_count; // 1 to 4
    uint32_t class_index;
} joint_group;

typedef struct joint_groups {
    uint32_t rank_count;      // joints in use, ranked depth first along the skeleton
    const uint32_t *vertices; // source vertices by group, each group's in source order
    uint32_t group_count;
    const joint_group *groups; // by key, then class
} joint_groups;

// Groups count source vertices (rising). False when there is no memory.
bool pelti_group_vertices(const cook_primitive *p, const uint32_t *kept, uint32_t count, cook_arena *arena,
                          joint_groups *out);

static inline uint32_t pelti_group_rank(const joint_group *group, uint32_t index)
{
    return (uint32_t)(group->key >> (48 - 16 * index)) & 0xFFFF;
}

// ---- order_growth.c

typedef struct cook_growth cook_growth;

// Memory for any number of calls; NULL when there is none.
cook_growth *pelti_growth_create(const joint_groups *groups, cook_arena *arena);
// Writes an order of the vertices of list_count groups to out and returns how many they are. The same list of groups
// gives the same order.
uint32_t pelti_growth_order(cook_growth *growth, const uint32_t *list, uint32_t list_count, uint32_t *out);

#endif

// SPDX-License-Identifier: MIT
// Vertices with joints and classes, without positions, ordered and cut into runs; and a checker that recomputes what
// must hold of the result.
#ifndef PELTT_RUNS_H
#define PELTT_RUNS_H

#include "cook/cook_internal.h"
#include "peltt_alloc.h"

typedef struct peltt_runs {
    uint32_t vertex_count;
    cook_vertex *vertices;
    uint32_t index_count;
    uint32_t *indices;     // NULL = without indices
    uint32_t *skin_joints; // 65,536 node indices, NULL = without a skin
    pelt_cook_options options;
    // The rest is made by peltt_runs_order.
    peltt_alloc memory;
    cook_arena arena;
    pelt_skin skin;
    pelt_instance instance;
    pelt_asset_data asset;
    pelt_primitive source;
    cook_primitive primitive;
} peltt_runs;

// vertex_count vertices of class 0 that follow joint 0.
void peltt_runs_init(peltt_runs *runs, uint32_t vertex_count);
void peltt_runs_set(peltt_runs *runs, uint32_t vertex, uint32_t class_index, uint16_t a, uint16_t b, uint16_t c,
                    uint16_t d);
// Runs the step again from the start. fail_at: the allocation that fails, 0 = none.
pelt_result peltt_runs_order(peltt_runs *runs, uint64_t fail_at);
// Asserts everything that holds for any input, statistics of the result included.
void peltt_runs_check(const peltt_runs *runs);
void peltt_runs_destroy(peltt_runs *runs);

// Recomputed from the runs and vertices alone.
pelt_run_statistics peltt_runs_statistics(const peltt_runs *runs);
// What the order is chosen by: list joints, 4 a run, 64 or 128 for each block of a run with over 16 joints or without
// a list, 1 for each class of a run but one.
uint64_t peltt_runs_cost(const peltt_runs *runs);

#endif

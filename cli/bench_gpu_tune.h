// SPDX-License-Identifier: MIT
// Inside bench_gpu_tune*.c: what `pelt bench --tune` measures, and the scene options that follow from it.
#ifndef PELT_CLI_BENCH_GPU_TUNE_H
#define PELT_CLI_BENCH_GPU_TUNE_H

#include "bench.h"

#include <pelt/vulkan.h>

enum {
    TUNE_SIZES = 16, // of meshes, at most
    TUNE_SCENES = 3,
    TUNE_ITEMS = 5 // sizes of work items
};

typedef enum tune_boxes {
    TUNE_NONE = 0,
    TUNE_EXACT,
    TUNE_JOINTS,
    TUNE_BOXES
} tune_boxes;

// The pass over meshes of one size.
typedef struct tune_size {
    uint32_t vertex_count; // of a mesh
    uint32_t instance_count;
    bench_statistics ms[TUNE_BOXES]; // median 0: not measured
    pelt_vk_bounds bounds;           // what automatic bounds shall be
} tune_size;

// The pass over one scene by the size of work items.
typedef struct tune_scene {
    const char *name;
    uint64_t vertex_count; // of all instances
    uint32_t instance_count;
    bench_statistics ms[TUNE_ITEMS]; // median 0: not measured
} tune_scene;

typedef struct tune_result {
    uint32_t size_count;
    tune_size sizes[TUNE_SIZES]; // by ascending vertex count
    uint32_t scene_count;
    tune_scene scenes[TUNE_SCENES];
    uint32_t rule_count;
    pelt_vk_bounds_rule rules[TUNE_SIZES];
    double means[TUNE_ITEMS]; // ms, geometric over the scenes that have all sizes; 0: there are none
    uint32_t best_item;       // TUNE_ITEMS: nothing was measured
} tune_result;

// Ascending; the largest is the most that scenes take.
extern const uint32_t tune_item_vertices[TUNE_ITEMS];

// ---- bench_gpu_rules.c: what follows from the times; nothing else is read

// Sets bounds of every size, then the rules.
void tune_choose_bounds(tune_result *t);
// Sets means and best_item.
void tune_choose_item(tune_result *t);

// ---- bench_gpu_tune_report.c

void tune_print(const tune_result *t);
int tune_print_json(cli_context *context, const tune_result *t);

#endif

// SPDX-License-Identifier: MIT
// Cuts a primitive's joint runs into the slices that one workgroup works through.
#include "scene.h"

// First vertex of a run, counted in the run, that has an entry in extra_offsets; the run's end where none has.
static uint32_t wide_start(const pelt_cooked_primitive *p, const pelt_run *run)
{
    if (run->class_counts[4] == 0) {
        return run->vertex_count;
    }
    return p->ordered ? run->vertex_count - run->class_counts[4] : 0;
}

// The most influences that a vertex of [first, last) of a run has: where vertices stand by class, that of the last one.
static uint32_t slice_influences(const pelt_cooked_primitive *p, const pelt_run *run, uint32_t last)
{
    uint32_t end = 0;
    for (uint32_t i = 0; p->ordered && i < 5; i++) {
        end += run->class_counts[i];
        if (last <= end) {
            return i + 1;
        }
    }
    return run->influence_count;
}

// The run's first joint where its list, which rises, has no gap: the list need not be read then.
static uint32_t joint_base(const pelt_cooked_primitive *p, const pelt_run *run)
{
    const uint16_t *list = p->run_joints + run->first_joint;
    bool is_list = run->layout == PELT_JOINTS_RUN && run->joint_count > 0;
    return is_list && list[run->joint_count - 1] - list[0] == run->joint_count - 1 ? list[0] : GPU_NO_BASE;
}

static gpu_item slice_of(const pelt_cooked_primitive *p, const pelt_run *run, uint32_t first, uint32_t count)
{
    uint32_t words = run->layout == PELT_JOINTS_DIRECT16 ? 2 : 1;
    uint32_t joint_count = run->layout == PELT_JOINTS_RUN ? run->joint_count : 0;
    uint32_t start = wide_start(p, run);
    return (gpu_item){
        .first_vertex = run->first_vertex + first,
        .vertex_count = count,
        .first_joint = run->first_joint,
        .joint_base = joint_base(p, run),
        .joints = GPU_ITEM_JOINTS(joint_count, (uint32_t)run->layout, slice_influences(p, run, first + count)),
        .first_joint_word = run->joints_offset / 4 + first * words,
        .wide_start = start > first ? start - first : 0,
        .first_wide = run->first_wide + (start > first ? 0 : first - start),
    };
}

static uint64_t rigid_items(const pelt_cooked_primitive *p, uint32_t item_vertices, gpu_item *items)
{
    uint64_t count = 0;
    for (uint64_t first = 0; first < p->vertex_count; first += item_vertices) {
        uint64_t left = p->vertex_count - first;
        if (items) {
            items[count] = (gpu_item){
                .first_vertex = (uint32_t)first,
                .vertex_count = left < item_vertices ? (uint32_t)left : item_vertices,
                .joints = GPU_ITEM_JOINTS(0U, GPU_JOINTS_NONE, 1U),
                .wide_start = UINT32_MAX,
            };
        }
        count++;
    }
    return count;
}

uint64_t pelti_vk_items_build(const pelt_cooked_primitive *p, uint32_t item_vertices, gpu_item *items)
{
    uint64_t count = 0;
    if (!p->weights) {
        count = rigid_items(p, item_vertices, items);
    } else {
        for (uint32_t r = 0; r < p->run_count; r++) {
            const pelt_run *run = &p->runs[r];
            for (uint32_t first = 0; first < run->vertex_count; first += item_vertices) {
                uint32_t left = run->vertex_count - first;
                if (items) {
                    items[count] = slice_of(p, run, first, left < item_vertices ? left : item_vertices);
                }
                count++;
            }
        }
    }
    if (count == 0) { // no vertices: one item that writes the empty box
        if (items) {
            items[0] = (gpu_item){.joints = GPU_ITEM_JOINTS(0U, GPU_JOINTS_NONE, 0U), .wide_start = UINT32_MAX};
        }
        return 1;
    }
    return count;
}

// SPDX-License-Identifier: MIT
// Medians and worst cases of runs. Values are small, so that medians come from histograms.
#include "cook/order.h"

enum {
    MOST_JOINTS = 4 * PELT_RUN_VERTICES, // that the vertices of one run can name
    JOINT_WORDS = 65536 / 64
};

typedef struct run_histograms {
    uint32_t vertices[PELT_RUN_VERTICES + 1]; // runs by vertex count
    uint32_t joints[MOST_JOINTS + 1];         // runs by joint count
    uint64_t seen[JOINT_WORDS];               // bit set of joints
} run_histograms;

static uint32_t count_joints(run_histograms *histograms, const pelt_run *run, const cook_vertex *vertices,
                             const uint32_t *order)
{
    if (run->layout == PELT_JOINTS_RUN) {
        return run->joint_count;
    }
    uint32_t count = 0;
    memset(histograms->seen, 0, sizeof histograms->seen);
    for (uint32_t i = 0; i < run->vertex_count; i++) {
        for (int slot = 0; slot < 4; slot++) {
            uint16_t joint = vertices[order[run->first_vertex + i]].joints[slot];
            uint64_t bit = (uint64_t)1 << (joint % 64);
            count += (histograms->seen[joint / 64] & bit) == 0;
            histograms->seen[joint / 64] |= bit;
        }
    }
    return count;
}

// The lower median: of an even number of runs, the smaller of the two in the middle.
static uint32_t median(const uint32_t *counts, uint32_t run_count)
{
    uint32_t value = 0;
    for (uint64_t below = counts[0]; below <= (run_count - 1) / 2; below += counts[value]) {
        value++;
    }
    return value;
}

void pelti_run_statistics_fill(const run_list *list, const cook_vertex *vertices, const uint32_t *order,
                               pelt_run_statistics *out)
{
    run_histograms histograms = {0};
    *out = (pelt_run_statistics){.run_count = list->run_count, .list_joint_count = list->run_joint_count};
    for (uint32_t r = 0; r < list->run_count; r++) {
        const pelt_run *run = &list->runs[r];
        uint32_t joint_count = count_joints(&histograms, run, vertices, order);
        histograms.vertices[run->vertex_count]++;
        histograms.joints[joint_count]++;
        out->direct_run_count += run->layout != PELT_JOINTS_RUN;
        out->worst_joints = joint_count > out->worst_joints ? joint_count : out->worst_joints;
        for (int c = 0; c < COOK_CLASS_COUNT; c++) {
            out->class_counts[c] += run->class_counts[c];
        }
    }
    if (list->run_count > 0) {
        out->median_vertices = median(histograms.vertices, list->run_count);
        out->median_joints = median(histograms.joints, list->run_count);
    }
}

// SPDX-License-Identifier: MIT
// Finds the influences of one vertex in plain streams and in runs.
#include "skin/influences.h"

uint32_t pelti_skin_find_run(const pelt_joint_runs *runs, uint32_t vertex)
{
    uint32_t low = 0;
    uint32_t high = runs->run_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (runs->runs[middle].first_vertex <= vertex) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// The first four weigh one minus the sum of the extras.
static void decode_four(const pelt_skin_job *job, const pelt_run *run, uint32_t vertex, pelti_influences *out)
{
    out->extra_count = pelti_skin_extras(job->runs, run, vertex, &out->extras);
    float share = pelti_skin_share(out->extras, out->extra_count);
    uint32_t code = 0;
    memcpy(&code, out->weights, sizeof code);
    bool sorted = job->weight_format == PELT_WEIGHT_SORTED;
    float four[4];
    pelt_weights_decode(sorted ? PELT_WEIGHTS_SORTED : PELT_WEIGHTS_PLAIN, code, four);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t slot = sorted ? (i + 3) % 4 : i; // the implied one is the largest
        out->slots[i] = (uint8_t)slot;
        out->four[i] = four[slot] * share;
    }
    out->weights = NULL;
}

void pelti_skin_influences(const pelt_skin_job *job, const pelt_run *run, uint32_t vertex, pelti_influences *out)
{
    *out = (pelti_influences){.weights = (const char *)job->weights + job->weights_stride * vertex,
                              .format = job->weight_format,
                              .layout = PELT_JOINTS_DIRECT16,
                              .count = job->influence_count};
    if (!run) {
        out->joints = (const char *)job->joints + job->joints_stride * vertex;
        return;
    }
    uint32_t local = vertex - run->first_vertex;
    size_t size = run->layout == PELT_JOINTS_DIRECT16 ? sizeof(uint16_t) : 1;
    out->layout = (pelt_joint_layout)run->layout;
    out->joints = (const char *)job->joints + run->joints_offset + (size_t)local * job->influence_count * size;
    out->list = job->runs->run_joints + run->first_joint;
    out->list_count = run->joint_count;
    if (pelti_skin_weights_packed(job)) {
        decode_four(job, run, vertex, out);
    }
}

// SPDX-License-Identifier: MIT
// Checks joint runs: that they cover the vertices in order, that what they point at lies inside the arrays, and that
// the joints of each vertex are in range.
#include "skin/influences.h"

#include "base/base.h"

static uint32_t run_wide_count(const pelt_joint_runs *runs, const pelt_run *run)
{
    return run->class_counts[4] == 0 ? 0 : runs->ordered ? run->class_counts[4] : run->vertex_count;
}

static uint64_t joint_size(const pelt_run *run)
{
    return run->layout == PELT_JOINTS_DIRECT16 ? sizeof(uint16_t) : 1;
}

// first: what must come next.
static bool run_is_valid(const pelt_skin_job *job, const pelt_run *run, uint32_t first)
{
    const pelt_joint_runs *runs = job->runs;
    if (run->first_vertex != first || first % PELT_RUN_STEP != 0 || run->vertex_count == 0 ||
        run->vertex_count > job->vertex_count - first) {
        return false;
    }
    uint64_t size = (uint64_t)run->vertex_count * job->influence_count * joint_size(run);
    if (run->layout > PELT_JOINTS_DIRECT16 || run->joints_offset % joint_size(run) != 0 ||
        run->joints_offset > runs->joints_size || size > runs->joints_size - run->joints_offset) {
        return false;
    }
    if (run->layout == PELT_JOINTS_RUN && (run->joint_count == 0 || run->joint_count > PELT_RUN_JOINTS ||
                                           (uint64_t)run->first_joint + run->joint_count > runs->run_joint_count)) {
        return false;
    }
    uint32_t wide = pelti_skin_weights_packed(job) ? run_wide_count(runs, run) : 0;
    return wide <= run->vertex_count && run->first_wide <= runs->wide_count &&
           wide <= runs->wide_count - run->first_wide;
}

static bool extras_are_valid(const pelt_joint_runs *runs)
{
    if (runs->wide_count == 0) {
        return true;
    }
    if (!runs->extra_offsets || (runs->extra_count > 0 && !runs->extras)) {
        return false;
    }
    for (uint32_t i = 0; i < runs->wide_count; i++) {
        if (runs->extra_offsets[i] > runs->extra_offsets[i + 1]) {
            return false;
        }
    }
    return runs->extra_offsets[runs->wide_count] <= runs->extra_count;
}

static bool pointers_are_aligned(const pelt_joint_runs *runs)
{
    return (uintptr_t)runs->runs % sizeof(uint32_t) == 0 && (uintptr_t)runs->run_joints % sizeof(uint16_t) == 0 &&
           (uintptr_t)runs->extra_offsets % sizeof(uint32_t) == 0 && (uintptr_t)runs->extras % sizeof(uint16_t) == 0;
}

// Lists are short, so they are checked as a whole here; joint_bound covers them too, but that must not be relied on
// for an index that is not clamped.
static bool lists_are_valid(const pelt_skin_job *job)
{
    const pelt_joint_runs *runs = job->runs;
    for (uint32_t i = 0; i < runs->run_joint_count; i++) {
        if (runs->run_joints[i] >= job->palette_count) {
            return false;
        }
    }
    return true;
}

bool pelti_skin_runs_valid(const pelt_skin_job *job)
{
    const pelt_joint_runs *runs = job->runs;
    if (!runs->runs || (runs->run_joint_count > 0 && !runs->run_joints) || !pointers_are_aligned(runs) ||
        !extras_are_valid(runs) || !lists_are_valid(job)) {
        return false;
    }
    uint32_t next = 0;
    for (uint32_t r = 0; r < runs->run_count; r++) {
        if (!run_is_valid(job, &runs->runs[r], next)) {
            return false;
        }
        next += runs->runs[r].vertex_count;
    }
    return next == job->vertex_count;
}

static bool vertex_is_valid(const pelt_skin_job *job, const pelt_run *run, uint32_t vertex)
{
    pelti_influences in;
    pelti_skin_influences(job, run, vertex, &in);
    for (uint32_t i = 0; i < in.count + in.extra_count; i++) {
        uint32_t joint = 0;
        float weight = 0.0F;
        if (!pelti_skin_influence(&in, i, &joint, &weight)) {
            continue;
        }
        uint32_t slot = in.weights || i >= in.count ? i : in.slots[i];
        bool listed = i < in.count && in.layout == PELT_JOINTS_RUN;
        if (joint >= job->palette_count || (listed && ((const uint8_t *)in.joints)[slot] >= in.list_count)) {
            return false;
        }
    }
    return true;
}

static bool part_is_valid(const pelt_skin_job *job, const pelti_skin_kernel *kernel, const pelt_run *run,
                          uint32_t first, uint32_t last)
{
    size_t count = (size_t)(last - first) * job->influence_count;
    const char *joints = (const char *)job->joints + run->joints_offset +
                         (size_t)(first - run->first_vertex) * job->influence_count * joint_size(run);
    uint32_t highest = run->layout == PELT_JOINTS_DIRECT16 ? kernel->max_u16((const void *)joints, count)
                                                           : kernel->max_u8((const void *)joints, count);
    bool extras = pelti_skin_weights_packed(job) && run->class_counts[4] > 0;
    if (!extras && highest < (run->layout == PELT_JOINTS_RUN ? run->joint_count : job->palette_count)) {
        return true;
    }
    for (uint32_t v = first; v < last; v++) {
        if (!vertex_is_valid(job, run, v)) {
            return false;
        }
    }
    return true;
}

bool pelti_skin_run_joints_valid(const pelt_skin_job *job, const pelti_skin_kernel *kernel, uint32_t first,
                                 uint32_t last)
{
    const pelt_joint_runs *runs = job->runs;
    for (uint32_t r = pelti_skin_find_run(runs, first); r < runs->run_count && runs->runs[r].first_vertex < last; r++) {
        const pelt_run *run = &runs->runs[r];
        uint32_t end = run->first_vertex + run->vertex_count;
        uint32_t from = run->first_vertex > first ? run->first_vertex : first;
        if (!part_is_valid(job, kernel, run, from, end < last ? end : last)) {
            return false;
        }
    }
    return true;
}

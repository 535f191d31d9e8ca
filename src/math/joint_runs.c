// SPDX-License-Identifier: MIT
// Cuts a mesh, in the order that it has, into runs of few joints: greedily, a run goes on while its joints fit in one
// table of 16. Blocks that alone have more begin runs of up to 32, and blocks of more than that have no list.
#include "base/base.h"

#include <pelt/packed.h>

enum {
    NARROW_JOINTS = 16
};

typedef struct joint_list {
    uint16_t joints[PELT_RUN_JOINTS]; // rising
    uint32_t count;                   // over PELT_RUN_JOINTS: too many
} joint_list;

static void add_joint(joint_list *list, uint16_t joint)
{
    uint32_t at = 0;
    uint32_t count = list->count < PELT_RUN_JOINTS ? list->count : PELT_RUN_JOINTS;
    while (at < count && list->joints[at] < joint) {
        at++;
    }
    if (list->count > PELT_RUN_JOINTS || (at < count && list->joints[at] == joint)) {
        return;
    }
    if (list->count < PELT_RUN_JOINTS) {
        memmove(list->joints + at + 1, list->joints + at, sizeof(uint16_t) * (count - at));
        list->joints[at] = joint;
    }
    list->count++;
}

static void add_block(const pelt_joint_runs_job *job, uint32_t first, uint32_t last, joint_list *list)
{
    size_t end = (size_t)last * job->influence_count;
    for (size_t i = (size_t)first * job->influence_count; i < end; i++) {
        if (job->weights[i] != 0.0F) {
            add_joint(list, job->joints[i]);
        }
    }
    if (list->count == 0) { // no weight at all: any joint will do
        add_joint(list, 0);
    }
}

// 0: up to 16 joints; 1: up to 32; 2: more.
static int list_kind(const joint_list *list)
{
    return list->count <= NARROW_JOINTS ? 0 : list->count <= PELT_RUN_JOINTS ? 1 : 2;
}

static uint32_t block_end(const pelt_joint_runs_job *job, uint32_t first)
{
    return job->vertex_count - first < PELT_RUN_STEP ? job->vertex_count : first + PELT_RUN_STEP;
}

// The end of the run that begins at first; *list becomes its joints.
static uint32_t extend_run(const pelt_joint_runs_job *job, uint32_t first, joint_list *list)
{
    *list = (joint_list){.count = 0};
    uint32_t end = block_end(job, first);
    add_block(job, first, end, list);
    int kind = list_kind(list);
    while (end < job->vertex_count && end - first < PELT_RUN_VERTICES) {
        joint_list alone = {.count = 0};
        joint_list both = *list;
        uint32_t next = block_end(job, end);
        add_block(job, end, next, &alone);
        for (uint32_t i = 0; kind < 2 && i < alone.count && i < PELT_RUN_JOINTS; i++) {
            add_joint(&both, alone.joints[i]);
        }
        if (list_kind(&alone) != kind || (kind < 2 && list_kind(&both) != kind)) {
            break;
        }
        *list = both;
        end = next;
    }
    return end;
}

// Joints of weight zero that the list has not become its first.
static uint8_t find_joint(const joint_list *list, uint16_t joint)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->joints[i] == joint) {
            return (uint8_t)i;
        }
    }
    return 0;
}

static void write_joints(const pelt_joint_runs_job *job, const pelt_run *run, const joint_list *list)
{
    size_t first = (size_t)run->first_vertex * job->influence_count;
    size_t count = (size_t)run->vertex_count * job->influence_count;
    uint8_t *out = job->local_joints + run->joints_offset;
    for (size_t i = 0; i < count; i++) {
        uint16_t joint = job->weights[first + i] != 0.0F ? job->joints[first + i] : list->joints[0];
        if (run->layout == PELT_JOINTS_RUN) {
            out[i] = find_joint(list, joint);
        } else {
            memcpy(out + i * sizeof joint, &joint, sizeof joint);
        }
    }
}

pelt_result pelt_joint_runs_build(const pelt_joint_runs_job *job, pelt_joint_runs *out_runs)
{
    if (!job || !out_runs || (job->influence_count != 4 && job->influence_count != 8)) {
        return PELT_ERROR_ARGUMENT;
    }
    bool complete = job->joints && job->weights && job->runs && job->run_joints && job->local_joints;
    uint64_t size = (uint64_t)job->vertex_count * job->influence_count * sizeof(uint16_t);
    if ((job->vertex_count > 0 && !complete) || (uintptr_t)job->local_joints % sizeof(uint16_t) != 0 ||
        size > UINT32_MAX) {
        return PELT_ERROR_ARGUMENT;
    }
    pelt_joint_runs out = {.runs = job->runs, .run_joints = job->run_joints};
    for (uint32_t first = 0; first < job->vertex_count;) {
        joint_list list;
        uint32_t end = extend_run(job, first, &list);
        bool listed = list_kind(&list) < 2;
        pelt_run *run = &job->runs[out.run_count++];
        *run = (pelt_run){.first_vertex = first,
                          .vertex_count = end - first,
                          .first_joint = out.run_joint_count,
                          .joint_count = (uint16_t)(listed ? list.count : 0),
                          .layout = listed ? PELT_JOINTS_RUN : PELT_JOINTS_DIRECT16,
                          .influence_count = (uint8_t)(job->influence_count > 4 ? 5 : 4),
                          .joints_offset = (uint32_t)out.joints_size};
        write_joints(job, run, &list);
        if (listed) {
            memcpy(job->run_joints + out.run_joint_count, list.joints, list.count * sizeof list.joints[0]);
            out.run_joint_count += list.count;
        }
        uint64_t element = listed ? 1 : sizeof(uint16_t);
        out.joints_size += (uint64_t)run->vertex_count * job->influence_count * element;
        first = end;
    }
    *out_runs = out;
    return PELT_OK;
}

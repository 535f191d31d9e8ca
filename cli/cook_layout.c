// SPDX-License-Identifier: MIT
// Bytes per vertex of the packed streams and of what a skinning pass requests with them, counted from the layout.
#include "cook.h"

#include <stdlib.h>

enum {
    POSITIONS,
    NORMALS,
    TANGENTS,
    WEIGHTS,
    JOINTS,
    EXTRAS,
    RUNS
};

static const double matrix_3x4 = 48;
static const double matrix_4x4_twice = 128; // the matrix and its inverse transpose

const char *cook_encoding_name(pelt_weight_encoding encoding)
{
    return encoding == PELT_WEIGHTS_PLAIN ? "plain" : "sorted";
}

const char *cook_joint_layout_name(const pelt_cooked_primitive *cooked)
{
    static const char *const names[] = {"run lists", "direct 8-bit", "direct 16-bit"};
    if (!cooked->weights || cooked->run_count == 0) {
        return "none";
    }
    for (uint32_t i = 1; i < cooked->run_count; i++) {
        if (cooked->runs[i].layout != cooked->runs[0].layout) {
            return "mixed";
        }
    }
    return cooked->runs[0].layout < 3 ? names[cooked->runs[0].layout] : "unknown";
}

// Entries of extra_offsets that a run has: the vertices of its last class, or all where it is not ordered.
static uint32_t wide_count(const pelt_cooked_primitive *cooked, const pelt_run *run)
{
    if (run->class_counts[4] == 0) {
        return 0;
    }
    return cooked->ordered ? run->class_counts[4] : run->vertex_count;
}

// Matrices that the vertices of a run load. Where they stand by class, each loads as many as its class has; where they
// do not, each loads as many as the widest of them.
static uint64_t count_loads(const pelt_cooked_primitive *cooked, const pelt_run *run)
{
    uint32_t wide = wide_count(cooked, run);
    uint64_t extras = wide ? cooked->extra_offsets[run->first_wide + wide] - cooked->extra_offsets[run->first_wide] : 0;
    if (!cooked->ordered) {
        uint32_t most = run->influence_count < 4 ? run->influence_count : 4;
        return (uint64_t)run->vertex_count * most + extras;
    }
    uint64_t loads = extras;
    for (uint32_t i = 0; i < 5; i++) {
        loads += (uint64_t)run->class_counts[i] * (i < 4 ? i + 1 : 4);
    }
    return loads;
}

static double per_vertex(const pelt_cooked_primitive *cooked, double bytes)
{
    return cooked->vertex_count ? bytes / (double)cooked->vertex_count : 0;
}

static void count_palette(const pelt_cooked_primitive *cooked, cook_layout *out)
{
    if (!cooked->weights) {
        // A rigid primitive follows one matrix.
        out->influences = 1;
        out->palette = matrix_3x4;
        out->list_palette = per_vertex(cooked, matrix_3x4);
        return;
    }
    uint64_t loads = 0;
    uint64_t list_loads = 0;
    for (uint32_t i = 0; i < cooked->run_count; i++) {
        const pelt_run *run = &cooked->runs[i];
        uint64_t own = count_loads(cooked, run);
        loads += own;
        // A direct run has no list; an influence after the first four names its joint directly.
        uint32_t wide = wide_count(cooked, run);
        uint64_t extras =
            wide ? cooked->extra_offsets[run->first_wide + wide] - cooked->extra_offsets[run->first_wide] : 0;
        list_loads += run->layout == PELT_JOINTS_RUN ? run->joint_count + extras : own;
    }
    out->influences = per_vertex(cooked, (double)loads);
    out->palette = matrix_3x4 * out->influences;
    out->list_palette = per_vertex(cooked, matrix_3x4 * (double)list_loads);
}

static uint64_t target_bytes(const pelt_cooked_target *target)
{
    uint32_t stream = (target->format & PELT_TARGET_16BIT) ? 6 : 12;
    uint32_t size = (target->format & PELT_TARGET_SPARSE) ? 4 : 0;
    size += (target->positions ? stream : 0) + (target->normals ? stream : 0) + (target->tangents ? stream : 0);
    return (uint64_t)target->vertex_count * size;
}

static void count_targets(const pelt_cooked_primitive *cooked, cook_layout *out)
{
    uint64_t after = 0;
    uint32_t before = 0;
    for (uint32_t i = 0; i < cooked->target_count; i++) {
        const pelt_cooked_target *target = &cooked->targets[i];
        after += target_bytes(target);
        before += (target->positions ? 12u : 0u) + (target->normals ? 12u : 0u) + (target->tangents ? 12u : 0u);
    }
    out->targets_before = before;
    out->targets_after = per_vertex(cooked, (double)after);
}

// Sets of four influences that the float layout has.
static uint32_t count_sets(const pelt_cooked_primitive *cooked, const pelt_primitive *source)
{
    uint32_t most = source ? source->influence_count : 0;
    if (!source && cooked->weights) {
        most = 4;
        for (uint32_t i = 0; i < cooked->wide_count; i++) {
            uint32_t count = 4 + cooked->extra_offsets[i + 1] - cooked->extra_offsets[i];
            most = count > most ? count : most;
        }
    }
    return (most + 3) / 4;
}

cook_layout cook_layout_of(const pelt_cooked_primitive *cooked, const pelt_primitive *source)
{
    bool normals = cooked->normals != NULL;
    bool tangents = cooked->tangents != NULL;
    bool skinned = cooked->weights != NULL;
    uint32_t sets = count_sets(cooked, source);
    uint64_t extras = cooked->wide_count ? 4 * ((uint64_t)cooked->wide_count + 1 + cooked->extra_count) : 0;
    uint64_t runs = cooked->run_count * (uint64_t)sizeof(pelt_run) + 2 * (uint64_t)cooked->run_joint_count;
    cook_layout out = {.written = 12 + 4 * normals + 4 * tangents};
    out.streams[POSITIONS] = (cook_stream){"positions", 12, 12};
    out.streams[NORMALS] = (cook_stream){"normals", normals ? 12 : 0, normals ? 4 : 0};
    out.streams[TANGENTS] = (cook_stream){"tangents", tangents ? 16 : 0, tangents ? 4 : 0};
    out.streams[WEIGHTS] = (cook_stream){"weights", 16.0 * sets, skinned ? 4 : 0};
    out.streams[JOINTS] = (cook_stream){"joints", 8.0 * sets, per_vertex(cooked, (double)cooked->joints_size)};
    out.streams[EXTRAS] = (cook_stream){"further influences", 0, per_vertex(cooked, (double)extras)};
    out.streams[RUNS] = (cook_stream){"runs", 0, per_vertex(cooked, (double)runs)};
    for (int i = 0; i < COOK_STREAMS; i++) {
        out.read_before += out.streams[i].before;
        out.read_after += out.streams[i].after;
    }
    out.replaced = out.read_before + matrix_4x4_twice * (sets ? 4.0 * sets : 1);
    count_palette(cooked, &out);
    count_targets(cooked, &out);
    return out;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

bool cook_run_statistics(const pelt_cooked_primitive *cooked, pelt_run_statistics *out)
{
    *out = (pelt_run_statistics){.run_count = cooked->run_count};
    if (cooked->run_count == 0) {
        return true;
    }
    uint32_t *vertices = calloc(cooked->run_count, sizeof *vertices);
    uint32_t *joints = calloc(cooked->run_count, sizeof *joints);
    uint32_t lists = 0;
    bool done = vertices && joints;
    for (uint32_t i = 0; done && i < cooked->run_count; i++) {
        const pelt_run *run = &cooked->runs[i];
        vertices[i] = run->vertex_count;
        for (int k = 0; k < 5; k++) {
            out->class_counts[k] += run->class_counts[k];
        }
        if (run->layout != PELT_JOINTS_RUN) {
            out->direct_run_count++;
            continue;
        }
        joints[lists++] = run->joint_count;
        out->list_joint_count += run->joint_count;
        out->worst_joints = run->joint_count > out->worst_joints ? run->joint_count : out->worst_joints;
    }
    if (done) {
        qsort(vertices, cooked->run_count, sizeof *vertices, compare);
        qsort(joints, lists, sizeof *joints, compare);
        out->median_vertices = vertices[cooked->run_count / 2];
        out->median_joints = lists ? joints[lists / 2] : 0;
    }
    free(vertices);
    free(joints);
    return done;
}

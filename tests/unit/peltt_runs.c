// SPDX-License-Identifier: MIT
// The checker trusts nothing but the vertices: sets are bit sets over all 65,536 joints, medians come from sorting.
#include "peltt_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    JOINT_COUNT = 65536,
    CLASS_COUNT = 5
};

void peltt_runs_init(peltt_runs *runs, uint32_t vertex_count)
{
    *runs = (peltt_runs){.vertex_count = vertex_count};
    runs->vertices = calloc((size_t)vertex_count + 1, sizeof *runs->vertices);
    assert_non_null(runs->vertices);
}

void peltt_runs_set(peltt_runs *runs, uint32_t vertex, uint32_t class_index, uint16_t a, uint16_t b, uint16_t c,
                    uint16_t d)
{
    runs->vertices[vertex] = (cook_vertex){.joints = {a, b, c, d}, .class_index = (uint8_t)class_index};
}

pelt_result peltt_runs_order(peltt_runs *runs, uint64_t fail_at)
{
    pelti_cook_release_arena(&runs->arena);
    assert_int_equal(runs->memory.live_blocks, 0);
    runs->memory = (peltt_alloc){.fail_at = fail_at};
    runs->arena = (cook_arena){.allocator = peltt_alloc_make(&runs->memory)};
    runs->skin = (pelt_skin){.joint_count = JOINT_COUNT, .joints = runs->skin_joints};
    runs->instance = (pelt_instance){.skin = runs->skin_joints ? 0 : PELT_NONE};
    runs->asset = (pelt_asset_data){
        .skin_count = 1,
        .skins = &runs->skin,
        .instance_count = 1,
        .instances = &runs->instance,
    };
    runs->source = (pelt_primitive){
        .vertex_count = runs->vertex_count,
        .influence_count = 4,
        .index_count = runs->indices ? runs->index_count : runs->vertex_count,
        .indices = runs->indices,
    };
    runs->primitive = (cook_primitive){
        .asset = &runs->asset,
        .source = &runs->source,
        .options = &runs->options,
        .arena = &runs->arena,
        .vertices = runs->vertices,
    };
    pelt_error error;
    pelt_result result = pelti_cook_order(&runs->primitive, &error);
    if (result != PELT_OK) {
        assert_int_equal(error.code, result);
        assert_true(error.message[0] != '\0');
    }
    return result;
}

void peltt_runs_destroy(peltt_runs *runs)
{
    pelti_cook_release_arena(&runs->arena);
    assert_int_equal(runs->memory.live_blocks, 0);
    assert_int_equal(runs->memory.live_bytes, 0);
    free(runs->vertices);
    free(runs->indices);
    free(runs->skin_joints);
}

static const cook_vertex *vertex_at(const peltt_runs *runs, uint32_t place)
{
    return &runs->vertices[runs->primitive.out.source_vertices[place]];
}

// used[j] of the joints of vertices [first, first + count) in the new order; returns how many.
static uint32_t joints_of(const peltt_runs *runs, uint32_t first, uint32_t count, bool *used)
{
    uint32_t distinct = 0;
    memset(used, 0, JOINT_COUNT * sizeof *used);
    for (uint32_t i = first; i < first + count; i++) {
        for (int slot = 0; slot < 4; slot++) {
            uint16_t joint = vertex_at(runs, i)->joints[slot];
            distinct += !used[joint];
            used[joint] = true;
        }
    }
    return distinct;
}

static bool any_from_256(const bool *used)
{
    for (uint32_t j = 256; j < JOINT_COUNT; j++) {
        if (used[j]) {
            return true;
        }
    }
    return false;
}

static void check_vertices(const peltt_runs *runs)
{
    const pelt_cooked_primitive *out = &runs->primitive.out;
    bool *wanted = calloc((size_t)runs->vertex_count + 1, sizeof *wanted);
    assert_non_null(wanted);
    bool all = runs->options.keep_order || !runs->indices;
    uint32_t wanted_count = 0;
    for (uint32_t i = 0; !all && i < runs->index_count; i++) {
        wanted[runs->indices[i]] = true;
    }
    for (uint32_t v = 0; v < runs->vertex_count; v++) {
        wanted[v] = all || wanted[v];
        wanted_count += wanted[v];
    }
    assert_int_equal(out->vertex_count, wanted_count);
    assert_int_equal(runs->primitive.report.dropped_vertex_count, runs->vertex_count - wanted_count);
    assert_int_equal(out->ordered, !runs->options.keep_order);
    for (uint32_t i = 0; i < out->vertex_count; i++) {
        uint32_t v = out->source_vertices[i];
        assert_true(v < runs->vertex_count);
        assert_true(wanted[v]);
        wanted[v] = false; // once only
        assert_true(!runs->options.keep_order || v == i);
    }
    free(wanted);
}

static void check_layout(const peltt_runs *runs, const pelt_run *run, const bool *used, uint32_t distinct,
                         bool all_bytes)
{
    const pelt_cooked_primitive *out = &runs->primitive.out;
    if (runs->options.direct_joints) {
        assert_int_equal(run->layout, all_bytes ? PELT_JOINTS_DIRECT8 : PELT_JOINTS_DIRECT16);
    } else if (run->layout != PELT_JOINTS_RUN) {
        assert_true(distinct > PELT_RUN_JOINTS);
        assert_int_equal(run->layout, any_from_256(used) ? PELT_JOINTS_DIRECT16 : PELT_JOINTS_DIRECT8);
    }
    if (run->layout != PELT_JOINTS_RUN) {
        assert_int_equal(run->joint_count, 0);
        return;
    }
    assert_true(run->joint_count >= 1 && run->joint_count <= PELT_RUN_JOINTS);
    assert_int_equal(run->joint_count, distinct);
    for (uint32_t k = 0; k < run->joint_count; k++) {
        uint16_t joint = out->run_joints[run->first_joint + k];
        assert_true(used[joint]);
        assert_true(k == 0 || joint > out->run_joints[run->first_joint + k - 1]);
    }
}

// In file order blocks are what was cut: each kind has its own runs.
static void check_blocks(const peltt_runs *runs, const pelt_run *run, bool *used)
{
    for (uint32_t i = 0; i < run->vertex_count; i += PELT_RUN_STEP) {
        uint32_t rest = run->vertex_count - i;
        uint32_t distinct = joints_of(runs, run->first_vertex + i, rest < PELT_RUN_STEP ? rest : PELT_RUN_STEP, used);
        if (run->layout != PELT_JOINTS_RUN) {
            assert_true(distinct > PELT_RUN_JOINTS);
            assert_int_equal(run->layout, any_from_256(used) ? PELT_JOINTS_DIRECT16 : PELT_JOINTS_DIRECT8);
        } else if (run->joint_count > 16) {
            assert_true(distinct > 16);
        }
    }
}

static void check_classes(const peltt_runs *runs, const pelt_run *run)
{
    uint32_t counts[CLASS_COUNT] = {0};
    uint32_t highest = 0;
    for (uint32_t i = run->first_vertex; i < run->first_vertex + run->vertex_count; i++) {
        uint32_t class_index = vertex_at(runs, i)->class_index;
        counts[class_index]++;
        highest = class_index > highest ? class_index : highest;
        if (i > run->first_vertex && !runs->options.keep_order) {
            uint32_t before = vertex_at(runs, i - 1)->class_index;
            const uint32_t *source = runs->primitive.out.source_vertices;
            assert_true(class_index > before || (class_index == before && source[i] > source[i - 1]));
        }
    }
    for (int c = 0; c < CLASS_COUNT; c++) {
        assert_int_equal(run->class_counts[c], counts[c]);
    }
    assert_int_equal(run->influence_count, highest + 1);
}

static bool primitive_fits_bytes(const peltt_runs *runs, bool *used)
{
    joints_of(runs, 0, runs->primitive.out.vertex_count, used);
    return !any_from_256(used);
}

void peltt_runs_check(const peltt_runs *runs)
{
    const pelt_cooked_primitive *out = &runs->primitive.out;
    check_vertices(runs);
    bool *used = calloc(JOINT_COUNT, sizeof *used);
    assert_non_null(used);
    bool all_bytes = primitive_fits_bytes(runs, used);
    uint32_t vertex = 0;
    uint32_t joint = 0;
    for (uint32_t r = 0; r < out->run_count; r++) {
        const pelt_run *run = &out->runs[r];
        assert_int_equal(run->first_vertex, vertex);
        assert_int_equal(run->first_joint, joint);
        assert_true(run->vertex_count > 0 && run->vertex_count <= PELT_RUN_VERTICES);
        assert_true(run->vertex_count % PELT_RUN_STEP == 0 || r + 1 == out->run_count);
        assert_int_equal(run->joints_offset, 0);
        assert_int_equal(run->first_wide, 0);
        uint32_t distinct = joints_of(runs, run->first_vertex, run->vertex_count, used);
        check_layout(runs, run, used, distinct, all_bytes);
        check_classes(runs, run);
        if (runs->options.keep_order && !runs->options.direct_joints) {
            check_blocks(runs, run, used);
        }
        vertex += run->vertex_count;
        joint += run->joint_count;
    }
    free(used);
    assert_int_equal(vertex, out->vertex_count);
    assert_int_equal(joint, out->run_joint_count);
    pelt_run_statistics expected = peltt_runs_statistics(runs);
    assert_memory_equal(&runs->primitive.report.after, &expected, sizeof expected);
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

pelt_run_statistics peltt_runs_statistics(const peltt_runs *runs)
{
    const pelt_cooked_primitive *out = &runs->primitive.out;
    pelt_run_statistics s;
    memset(&s, 0, sizeof s);
    uint32_t *sizes = calloc((size_t)out->run_count + 1, sizeof *sizes);
    uint32_t *joints = calloc((size_t)out->run_count + 1, sizeof *joints);
    bool *used = calloc(JOINT_COUNT, sizeof *used);
    assert_true(sizes && joints && used);
    s.run_count = out->run_count;
    for (uint32_t r = 0; r < out->run_count; r++) {
        sizes[r] = out->runs[r].vertex_count;
        joints[r] = joints_of(runs, out->runs[r].first_vertex, sizes[r], used);
        s.direct_run_count += out->runs[r].layout != PELT_JOINTS_RUN;
        s.list_joint_count += out->runs[r].layout == PELT_JOINTS_RUN ? joints[r] : 0;
    }
    for (uint32_t i = 0; i < out->vertex_count; i++) {
        s.class_counts[vertex_at(runs, i)->class_index]++;
    }
    if (out->run_count > 0) {
        qsort(sizes, out->run_count, sizeof *sizes, compare);
        qsort(joints, out->run_count, sizeof *joints, compare);
        s.median_vertices = sizes[(out->run_count - 1) / 2];
        s.median_joints = joints[(out->run_count - 1) / 2];
        s.worst_joints = joints[out->run_count - 1];
    }
    free(sizes);
    free(joints);
    free(used);
    return s;
}

uint64_t peltt_runs_cost(const peltt_runs *runs)
{
    const pelt_cooked_primitive *out = &runs->primitive.out;
    uint64_t cost = 0;
    for (uint32_t r = 0; r < out->run_count; r++) {
        const pelt_run *run = &out->runs[r];
        uint32_t blocks = (run->vertex_count + PELT_RUN_STEP - 1) / PELT_RUN_STEP;
        cost += 4 + (uint64_t)run->joint_count;
        cost += run->layout != PELT_JOINTS_RUN ? 128 * (uint64_t)blocks : run->joint_count > 16 ? 64 * blocks : 0;
        uint32_t classes = 0;
        for (int c = 0; c < CLASS_COUNT; c++) {
            classes += run->class_counts[c] > 0;
        }
        cost += classes - 1;
    }
    return cost;
}

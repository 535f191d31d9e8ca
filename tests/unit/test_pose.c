// SPDX-License-Identifier: MIT
// Poses: setters, world transforms in closed form, change tracking and its limits. test_pose_edits.c compares random
// edits with full recomputes.
#include "peltt_alloc.h"
#include "peltt_asset.h"

#include <pelt/pose.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static pelt_pose *make_pose(const pelt_asset *asset)
{
    pelt_pose *pose = NULL;
    assert_int_equal(pelt_pose_create(asset, NULL, &pose), PELT_OK);
    assert_non_null(pose);
    return pose;
}

static pelt_pose_update_info update(pelt_pose *pose)
{
    pelt_pose_update_info info = {99, 99, 99, true};
    assert_int_equal(pelt_pose_update(pose, &info), PELT_OK);
    return info;
}

static void expect_info(pelt_pose_update_info info, uint32_t nodes, uint32_t skins, uint32_t weights, bool full)
{
    assert_int_equal(info.updated_node_count, nodes);
    assert_int_equal(info.changed_skin_count, skins);
    assert_int_equal(info.changed_weight_count, weights);
    assert_int_equal(info.full_pass, full);
}

static pelt_trs moved(float x)
{
    pelt_trs trs = pelt_trs_identity();
    trs.translation.x = x;
    return trs;
}

// Root 0 with two branches, 0 - 1 - 2 and 0 - 3 - 4, and another root 5; skins over {1, 2}, {3}, {4, 2} and {5}.
static pelt_asset *branches(void)
{
    const uint32_t parents[6] = {PELT_NONE, 0, 1, 0, 3, PELT_NONE};
    static const uint32_t joints[4][2] = {{1, 2}, {3, 0}, {4, 2}, {5, 0}};
    peltt_node nodes[6] = {0};
    for (uint32_t i = 0; i < 6; i++) {
        nodes[i].parent = parents[i];
        nodes[i].rest = pelt_trs_identity();
        nodes[i].has_morphs = i == 4;
    }
    const peltt_skin skins[4] = {
        {2, joints[0], NULL}, {1, joints[1], NULL}, {2, joints[2], NULL}, {1, joints[3], NULL}};
    return peltt_asset_make(
        &(peltt_scene){.node_count = 6, .nodes = nodes, .target_count = 2, .skin_count = 4, .skins = skins});
}

static void wrong_arguments_change_nothing(void **state)
{
    (void)state;
    pelt_asset *asset = branches();
    pelt_pose *pose = make_pose(asset);
    update(pose);
    pelt_trs locals[6];
    for (uint32_t i = 0; i < 6; i++) {
        locals[i] = moved((float)i + 1.0F);
    }
    pelt_trs bad = moved(NAN);
    assert_int_equal(pelt_pose_set_local(pose, 1, &bad), PELT_ERROR_ARGUMENT);
    bad = moved(INFINITY);
    assert_int_equal(pelt_pose_set_local(pose, 1, &bad), PELT_ERROR_ARGUMENT);
    bad = moved(1.0F);
    bad.scale.z = -INFINITY;
    assert_int_equal(pelt_pose_set_local(pose, 1, &bad), PELT_ERROR_ARGUMENT);
    bad = moved(1.0F);
    bad.rotation = (pelt_quat){0.0F, -0.0F, 0.0F, 0.0F};
    assert_int_equal(pelt_pose_set_local(pose, 1, &bad), PELT_ERROR_ARGUMENT);
    locals[5] = bad;
    assert_int_equal(pelt_pose_set_locals(pose, locals), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_pose_set_locals(pose, NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_pose_set_locals(NULL, locals), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_pose_set_local(pose, 6, &locals[0]), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_pose_set_local(pose, 0, NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_pose_set_local(NULL, 0, &locals[0]), PELT_ERROR_ARGUMENT);
    pelt_mat34 matrix = pelt_mat34_identity();
    assert_int_equal(pelt_pose_set_local_matrix(pose, 6, &matrix), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_pose_set_local_matrix(pose, 0, NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_pose_set_local_matrix(NULL, 0, &matrix), PELT_ERROR_ARGUMENT);
    for (uint32_t i = 0; i < 12; i++) {
        matrix = pelt_mat34_identity();
        matrix.m[i / 4][i % 4] = NAN;
        assert_int_equal(pelt_pose_set_local_matrix(pose, 0, &matrix), PELT_ERROR_ARGUMENT);
    }
    uint32_t morphed = pelt_asset_get(asset)->node_from_file[4];
    const float weights[3] = {1.0F, NAN, 1.0F};
    assert_int_equal(pelt_pose_set_weights(pose, morphed, weights, 2), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_pose_set_weights(pose, morphed, weights, 1), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_pose_set_weights(pose, morphed, weights, 3), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_pose_set_weights(pose, morphed, NULL, 2), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_pose_set_weights(pose, 6, weights, 0), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_pose_set_weights(NULL, 0, weights, 0), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_pose_set_weights(pose, 0, NULL, 0), PELT_OK);
    expect_info(update(pose), 0, 0, 0, false);
    assert_int_equal(pelt_pose_update(NULL, NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_pose_update(pose, NULL), PELT_OK);
    pelt_pose *none = pose;
    assert_int_equal(pelt_pose_create(NULL, NULL, &none), PELT_ERROR_ARGUMENT);
    assert_null(none);
    assert_int_equal(pelt_pose_create(asset, NULL, NULL), PELT_ERROR_ARGUMENT);
    pelt_pose_destroy(NULL);
    pelt_pose_destroy(pose);
    pelt_asset_destroy(asset);
}

static void a_new_pose_is_dirty_and_at_rest(void **state)
{
    (void)state;
    pelt_asset *asset = branches();
    pelt_pose *pose = make_pose(asset);
    assert_ptr_equal(pelt_pose_asset(pose), asset);
    for (uint32_t i = 0; i < 6; i++) {
        assert_false(pelt_pose_node_changed(pose, i));
        assert_non_null(pelt_pose_weights(pose, i));
    }
    expect_info(update(pose), 6, 4, 1, true);
    pelt_mat34 identity = pelt_mat34_identity();
    for (uint32_t i = 0; i < 6; i++) {
        pelt_mat34 world = pelt_pose_world(pose, i);
        assert_memory_equal(&world, &identity, sizeof world);
        assert_true(pelt_pose_node_changed(pose, i));
    }
    expect_info(update(pose), 0, 0, 0, false);
    for (uint32_t i = 0; i < 6; i++) {
        assert_false(pelt_pose_node_changed(pose, i));
        assert_false(pelt_pose_weights_changed(pose, i));
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_false(pelt_pose_skin_changed(pose, i));
    }
    pelt_pose_destroy(pose);
    pelt_asset_destroy(asset);
}

static void a_change_reaches_descendants_and_their_skins_only(void **state)
{
    (void)state;
    pelt_asset *asset = branches();
    const uint32_t *index = pelt_asset_get(asset)->node_from_file;
    pelt_pose *pose = make_pose(asset);
    update(pose);
    pelt_trs local = moved(1.0F);
    assert_int_equal(pelt_pose_set_local(pose, index[3], &local), PELT_OK);
    expect_info(update(pose), 2, 2, 0, false);
    const bool nodes[6] = {false, false, false, true, true, false};
    const bool skins[4] = {false, true, true, false};
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(pelt_pose_node_changed(pose, index[i]), nodes[i]);
        assert_true(pelt_pose_world(pose, index[i]).m[0][3] == (nodes[i] ? 1.0F : 0.0F));
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(pelt_pose_skin_changed(pose, i), skins[i]);
    }
    // Node 0 takes four of the others along: most of the six, so all are computed, but node 5 has not changed.
    local = moved(2.0F);
    assert_int_equal(pelt_pose_set_local(pose, index[0], &local), PELT_OK);
    expect_info(update(pose), 6, 3, 0, true);
    assert_false(pelt_pose_node_changed(pose, index[5]));
    assert_false(pelt_pose_skin_changed(pose, 3));
    assert_true(pelt_pose_world(pose, index[4]).m[0][3] == 3.0F);
    pelt_pose_destroy(pose);
    pelt_asset_destroy(asset);
}

static void the_same_value_again_dirties_nothing(void **state)
{
    (void)state;
    pelt_asset *asset = branches();
    const uint32_t *index = pelt_asset_get(asset)->node_from_file;
    pelt_pose *pose = make_pose(asset);
    pelt_trs locals[6];
    for (uint32_t i = 0; i < 6; i++) {
        locals[i] = moved((float)i);
    }
    pelt_mat34 matrix = pelt_mat34_identity();
    matrix.m[1][1] = 3.0F;
    const float weights[2] = {-0.5F, 2.0F};
    for (uint32_t round = 0; round < 2; round++) {
        assert_int_equal(pelt_pose_set_locals(pose, locals), PELT_OK);
        assert_int_equal(pelt_pose_set_local(pose, 2, &locals[2]), PELT_OK);
        assert_int_equal(pelt_pose_set_weights(pose, index[4], weights, 2), PELT_OK);
        expect_info(update(pose), round == 0 ? 6 : 0, round == 0 ? 4 : 0, round == 0 ? 1 : 0, round == 0);
        assert_int_equal(pelt_pose_weights_changed(pose, index[4]), round == 0);
    }
    for (uint32_t round = 0; round < 2; round++) {
        assert_int_equal(pelt_pose_set_local_matrix(pose, index[5], &matrix), PELT_OK);
        expect_info(update(pose), round == 0 ? 1 : 0, round == 0 ? 1 : 0, 0, false);
    }
    assert_memory_equal(pelt_pose_weights(pose, index[4]), weights, sizeof weights);
    // The transform it had before the matrix is a change again.
    assert_int_equal(pelt_pose_set_local(pose, index[5], &locals[index[5]]), PELT_OK);
    expect_info(update(pose), 1, 1, 0, false);
    pelt_pose_destroy(pose);
    pelt_asset_destroy(asset);
}

static void worlds_are_products_of_all_ancestors(void **state)
{
    (void)state;
    const float half = 0.70710678118654752F;
    peltt_node nodes[3] = {{.parent = PELT_NONE}, {.parent = 0}, {.parent = 1}};
    // A quarter turn about z with a scale of (2, 3, 4), then a step along x, then a matrix that shears x by y.
    nodes[0].rest = (pelt_trs){{10, 20, 30}, {0, 0, half, half}, {2, 3, 4}};
    nodes[1].rest = moved(1.0F);
    nodes[2].has_matrix = true;
    nodes[2].matrix = (pelt_mat34){{{1, 0.5F, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    pelt_asset *asset = peltt_asset_make(&(peltt_scene){.node_count = 3, .nodes = nodes});
    pelt_pose *pose = make_pose(asset);
    update(pose);
    const uint32_t *index = pelt_asset_get(asset)->node_from_file;
    const double expected[12] = {0, -3, 0, 10, 2, 1, 0, 22, 0, 0, 4, 30};
    const double *world = pelt_pose_world_double(pose, index[2]);
    for (uint32_t i = 0; i < 12; i++) {
        assert_true(fabs(world[i] - expected[i]) < 1e-15 * 30);
        assert_true(pelt_pose_world(pose, index[2]).m[i / 4][i % 4] == (float)world[i]);
    }
    // Setting a transform turns the matrix node into a TRS node; reset brings the matrix back.
    pelt_trs local = pelt_trs_identity();
    assert_int_equal(pelt_pose_set_local(pose, index[2], &local), PELT_OK);
    expect_info(update(pose), 1, 0, 0, false);
    assert_memory_equal(pelt_pose_world_double(pose, index[2]), pelt_pose_world_double(pose, index[1]),
                        sizeof expected);
    pelt_pose_reset(pose);
    expect_info(update(pose), 1, 0, 0, false);
    pelt_mat34 back = pelt_pose_local(pose, index[2]);
    assert_memory_equal(&back, &nodes[2].matrix, sizeof back);
    pelt_pose_reset(pose);
    expect_info(update(pose), 0, 0, 0, false);
    pelt_pose_reset(NULL);
    pelt_pose_destroy(pose);
    pelt_asset_destroy(asset);
}

static void rotations_of_any_length_are_normalised(void **state)
{
    (void)state;
    pelt_asset *asset = peltt_asset_chain(2);
    pelt_pose *pose = make_pose(asset);
    const float lengths[] = {1e-40F, 1e-20F, 0.1F, 7.0F, 1e20F, 2e38F};
    for (uint32_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        pelt_trs local = pelt_trs_identity();
        local.rotation = (pelt_quat){lengths[i], 0.0F, 0.0F, lengths[i]};
        assert_int_equal(pelt_pose_set_local(pose, 1, &local), PELT_OK);
        update(pose);
        pelt_mat34 world = pelt_pose_world(pose, 1);
        const float quarter[12] = {1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0};
        for (uint32_t k = 0; k < 12; k++) {
            assert_true(fabsf(world.m[k / 4][k % 4] - quarter[k]) < 1e-7F);
        }
    }
    pelt_pose_destroy(pose);
    pelt_asset_destroy(asset);
}

static void a_deep_chain_needs_no_stack(void **state)
{
    (void)state;
    const uint32_t depth = 100000;
    pelt_asset *asset = peltt_asset_chain(depth);
    pelt_pose *pose = make_pose(asset);
    pelt_trs *locals = malloc(depth * sizeof *locals);
    for (uint32_t i = 0; i < depth; i++) {
        locals[i] = moved(1.0F);
    }
    assert_int_equal(pelt_pose_set_locals(pose, locals), PELT_OK);
    expect_info(update(pose), depth, 0, 0, true);
    for (uint32_t i = 0; i < depth; i++) {
        assert_true(pelt_pose_world_double(pose, i)[3] == i + 1.0);
    }
    locals[0] = moved(3.0F);
    assert_int_equal(pelt_pose_set_local(pose, depth - 10, &locals[0]), PELT_OK);
    expect_info(update(pose), 10, 0, 0, false);
    assert_true(pelt_pose_world_double(pose, depth - 11)[3] == depth - 10.0);
    assert_true(pelt_pose_world_double(pose, depth - 1)[3] == depth + 2.0);
    free(locals);
    pelt_pose_destroy(pose);
    pelt_asset_destroy(asset);
}

static void the_full_pass_starts_over_half(void **state)
{
    (void)state;
    enum {
        NODE_COUNT = 1001
    };
    peltt_node *nodes = calloc(NODE_COUNT, sizeof *nodes);
    for (uint32_t i = 0; i < NODE_COUNT; i++) {
        nodes[i] = (peltt_node){.parent = i == 0 ? PELT_NONE : 0, .rest = pelt_trs_identity()};
    }
    pelt_asset *asset = peltt_asset_make(&(peltt_scene){.node_count = NODE_COUNT, .nodes = nodes});
    pelt_pose *pose = make_pose(asset);
    update(pose);
    const uint32_t counts[] = {1, 2, 33, 499, 500, 501, 1000};
    for (uint32_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        // Spread over the leaves, the last one always among them.
        for (uint32_t k = 0; k < counts[i]; k++) {
            pelt_trs local = moved((float)(i + 1));
            uint32_t leaf = NODE_COUNT - 1 - (uint32_t)((uint64_t)k * 1000 / counts[i]);
            assert_int_equal(pelt_pose_set_local(pose, leaf, &local), PELT_OK);
        }
        bool full = counts[i] > 500;
        expect_info(update(pose), full ? NODE_COUNT : counts[i], 0, 0, full);
        uint32_t changed = 0;
        for (uint32_t k = 0; k < NODE_COUNT; k++) {
            changed += pelt_pose_node_changed(pose, k) ? 1 : 0;
            assert_true(!pelt_pose_node_changed(pose, k) || pelt_pose_world(pose, k).m[0][3] == (float)(i + 1));
        }
        assert_int_equal(changed, counts[i]);
    }
    free(nodes);
    pelt_pose_destroy(pose);
    pelt_asset_destroy(asset);
}

static void failing_allocations_leave_nothing(void **state)
{
    (void)state;
    pelt_asset *asset = branches();
    uint64_t tries = 0;
    for (uint64_t n = 1;; n++) {
        peltt_alloc counter = {.fail_at = n};
        pelt_allocator allocator = peltt_alloc_make(&counter);
        pelt_pose *pose = NULL;
        pelt_result result = pelt_pose_create(asset, &allocator, &pose);
        tries++;
        if (result == PELT_OK) {
            update(pose);
            pelt_pose_reset(pose);
            pelt_pose_destroy(pose);
            assert_int_equal(counter.live_blocks, 0);
            break;
        }
        assert_int_equal(result, PELT_ERROR_MEMORY);
        assert_null(pose);
        assert_int_equal(counter.live_blocks, 0);
    }
    assert_true(tries > 1);
    pelt_asset_destroy(asset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_change_nothing),
        cmocka_unit_test(a_new_pose_is_dirty_and_at_rest),
        cmocka_unit_test(a_change_reaches_descendants_and_their_skins_only),
        cmocka_unit_test(the_same_value_again_dirties_nothing),
        cmocka_unit_test(worlds_are_products_of_all_ancestors),
        cmocka_unit_test(rotations_of_any_length_are_normalised),
        cmocka_unit_test(a_deep_chain_needs_no_stack),
        cmocka_unit_test(the_full_pass_starts_over_half),
        cmocka_unit_test(failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

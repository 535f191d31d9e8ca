// SPDX-License-Identifier: MIT
// Every instruction set gives the same bits: skeletons in both precisions against plain C, and in double against poses,
// whose own kernels are compared likewise. Instance counts 1 to 33, guard pages around everything.
#include "peltt_crowd.h"
#include "peltt_isa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    SHAPE_COUNT = 5
};

// Chains, wide trees, several roots, matrices, nodes that are no joints.
static const peltt_asset_shape shapes[SHAPE_COUNT] = {
    {.node_count = 40, .skin_count = 2, .joint_count = 30, .root_share = 0.1, .chain_share = 0.5, .matrix_share = 0.2},
    {.node_count = 70, .skin_count = 1, .joint_count = 60, .root_share = 0.0, .chain_share = 1.0},
    {.node_count = 90, .skin_count = 1, .joint_count = 90, .root_share = 0.0, .chain_share = 0.0},
    {.node_count = 150, .skin_count = 1, .joint_count = 5, .root_share = 0.0, .chain_share = 0.8, .matrix_share = 0.05},
    {.node_count = 1, .skin_count = 1, .joint_count = 3, .root_share = 1.0},
};

// Every instruction set but one and plain C, so that the one pads what does not fill it.
static uint32_t others(pelt_isa isa)
{
    return ~(1U << isa | 1U << PELT_ISA_SCALAR);
}

static void copy_palettes(const peltt_crowd *crowd, char *copy)
{
    for (uint32_t i = 0; i < crowd->instance_count; i++) {
        memcpy(copy + i * peltt_crowd_palette_size(crowd), crowd->instances[i].palette,
               peltt_crowd_palette_size(crowd));
    }
}

static void expect_palettes(const peltt_crowd *crowd, const char *expected)
{
    for (uint32_t i = 0; i < crowd->instance_count; i++) {
        assert_memory_equal(expected + i * peltt_crowd_palette_size(crowd), crowd->instances[i].palette,
                            peltt_crowd_palette_size(crowd));
    }
}

// What poses make of the same locals.
static void expect_palettes_of_poses(const peltt_crowd *crowd)
{
    const pelt_asset_data *data = pelt_asset_get(crowd->asset);
    char *expected = malloc(peltt_crowd_palette_size(crowd) + 1);
    pelt_pose *pose = NULL;
    assert_int_equal(pelt_pose_create(crowd->asset, NULL, &pose), PELT_OK);
    pelt_pose_set_isa(pose, PELT_ISA_SCALAR, 0);
    for (uint32_t i = 0; i < crowd->instance_count; i++) {
        const pelt_locals *locals = crowd->instances[i].locals;
        for (uint32_t k = 0; k < data->node_count; k++) {
            bool is_matrix = locals->uses_matrix ? locals->uses_matrix[k] != 0 : data->nodes[k].has_matrix;
            pelt_result result = is_matrix ? pelt_pose_set_local_matrix(pose, k, &data->nodes[k].local_matrix)
                                           : pelt_pose_set_local(pose, k, &locals->transforms[k]);
            assert_int_equal(result, PELT_OK);
        }
        assert_int_equal(pelt_pose_update(pose, NULL), PELT_OK);
        char *end = expected;
        for (uint32_t k = 0; k < data->skin_count; k++) {
            const pelt_palette_item item = {.pose = pose, .skin = k, .palette = end};
            const pelt_palette_job job = {
                .item_count = 1, .items = &item, .format = crowd->format, .isa = PELT_ISA_SCALAR};
            assert_int_equal(pelt_palette_evaluate(&job), PELT_OK);
            end += pelt_palette_size(crowd->asset, k, crowd->format);
        }
        assert_int_equal((size_t)(end - expected), peltt_crowd_palette_size(crowd));
        assert_memory_equal(expected, crowd->instances[i].palette, peltt_crowd_palette_size(crowd));
    }
    pelt_pose_destroy(pose);
    free(expected);
}

static void check_crowd(const pelt_asset *asset, const peltt_crowd_shape *shape, peltt_random *random)
{
    peltt_crowd crowd;
    peltt_crowd_init(&crowd, asset, NULL, shape, random);
    char *expected = malloc((crowd.instance_count + 1) * (crowd.matrix_count * 64 + 1));
    for (uint32_t format = 0; format < 2; format++) {
        for (uint32_t precision = 0; precision < 2; precision++) {
            peltt_crowd_clear(&crowd, (pelt_palette_format)format);
            peltt_crowd_evaluate(&crowd, (pelt_precision)precision, PELT_ISA_SCALAR, 0);
            copy_palettes(&crowd, expected);
            if (precision == PELT_PRECISION_DOUBLE) {
                expect_palettes_of_poses(&crowd);
            }
            const uint32_t disabled[2] = {0, others(peltt_isa)};
            for (uint32_t i = 0; i < 2; i++) {
                peltt_crowd_clear(&crowd, (pelt_palette_format)format);
                peltt_crowd_evaluate(&crowd, (pelt_precision)precision, peltt_isa, disabled[i]);
                expect_palettes(&crowd, expected);
            }
        }
    }
    free(expected);
    peltt_crowd_destroy(&crowd);
}

static void palettes_are_those_of_plain_c_and_of_poses(void **state)
{
    (void)state;
    peltt_random random = {60};
    for (uint32_t i = 0; i < SHAPE_COUNT; i++) {
        pelt_asset *asset = peltt_asset_random(&shapes[i], &random);
        for (uint32_t count = 1; count <= 33; count++) {
            peltt_crowd_shape shape = {count, 0.0, 0.0, count % 2 == 0};
            shape.flag_share = count % 3 == 0 ? 0.5 : count % 3 == 1 ? 1.0 : 0.0;
            shape.matrix_share = count % 5 == 0 ? 1.0 : 0.1;
            check_crowd(asset, &shape, &random);
        }
        pelt_asset_destroy(asset);
    }
}

// Every node a joint, in reverse order.
static void check_tree(uint32_t node_count, const uint32_t *parents, const uint32_t *counts, uint32_t count_count,
                       peltt_random *random)
{
    peltt_node *nodes = calloc(node_count, sizeof *nodes);
    uint32_t *joints = malloc(node_count * sizeof *joints);
    pelt_mat34 *binds = malloc(node_count * sizeof *binds);
    for (uint32_t i = 0; i < node_count; i++) {
        nodes[i] = (peltt_node){.parent = parents[i], .rest = peltt_random_trs(random)};
        joints[i] = node_count - 1 - i;
        binds[i] = peltt_random_matrix(random);
    }
    const peltt_skin skin = {node_count, joints, binds};
    pelt_asset *asset =
        peltt_asset_make(&(peltt_scene){.node_count = node_count, .nodes = nodes, .skin_count = 1, .skins = &skin});
    for (uint32_t i = 0; i < count_count; i++) {
        check_crowd(asset, &(peltt_crowd_shape){.instance_count = counts[i]}, random);
    }
    pelt_asset_destroy(asset);
    free(nodes);
    free(joints);
    free(binds);
}

// Past the size up to which one instance is evaluated alone. The first tree is binary, the second a comb whose teeth
// come after the rest of the comb: in memory order every node of its spine would have to be kept until then.
static void large_skeletons_are_no_different(void **state)
{
    (void)state;
    peltt_random random = {61};
    enum {
        NODE_COUNT = 1023
    };
    const uint32_t counts[] = {1, 2, 7, 16};
    uint32_t parents[NODE_COUNT];
    for (uint32_t i = 0; i < NODE_COUNT; i++) {
        parents[i] = i == 0 ? PELT_NONE : (i - 1) / 2;
    }
    check_tree(NODE_COUNT, parents, counts, 4, &random);
    for (uint32_t i = 0; i < 120; i++) {
        parents[i] = i == 0 ? PELT_NONE : i < 60 ? i - 1 : 119 - i;
    }
    check_tree(120, parents, counts, 4, &random);
}

// So many that what comes next is fetched ahead, from batch to batch; the second skeleton is shorter than that
// distance.
static void large_crowds_are_no_different(void **state)
{
    (void)state;
    peltt_random random = {63};
    const uint32_t count = 150;
    const uint32_t short_count = 2100;
    uint32_t parents[120];
    for (uint32_t i = 0; i < 120; i++) {
        parents[i] = i == 0 ? PELT_NONE : i % 6 == 1 ? i / 6 : i - 1;
    }
    check_tree(120, parents, &count, 1, &random);
    check_tree(8, parents, &short_count, 1, &random);
}

static void expect_same_worlds(const pelt_pose *a, const pelt_pose *b)
{
    const pelt_asset_data *data = pelt_asset_get(pelt_pose_asset(a));
    for (uint32_t i = 0; i < data->node_count; i++) {
        assert_memory_equal(pelt_pose_world_double(a, i), pelt_pose_world_double(b, i), 12 * sizeof(double));
    }
    for (uint32_t i = 0; i < data->skin_count; i++) {
        for (uint32_t format = 0; format < 2; format++) {
            size_t size = pelt_palette_size(pelt_pose_asset(a), i, (pelt_palette_format)format);
            char *palettes = malloc(2 * size);
            const pelt_palette_item items[2] = {{.pose = a, .skin = i, .palette = palettes},
                                                {.pose = b, .skin = i, .palette = palettes + size}};
            const pelt_palette_job jobs[2] = {
                {.item_count = 1, .items = &items[0], .format = (pelt_palette_format)format, .isa = PELT_ISA_SCALAR},
                {.item_count = 1, .items = &items[1], .format = (pelt_palette_format)format, .isa = peltt_isa}};
            memset(palettes, 0xEE, 2 * size);
            assert_int_equal(pelt_palette_evaluate(&jobs[0]), PELT_OK);
            assert_int_equal(pelt_palette_evaluate(&jobs[1]), PELT_OK);
            assert_memory_equal(palettes, palettes + size, size);
            free(palettes);
        }
    }
}

static void poses_are_those_of_plain_c(void **state)
{
    (void)state;
    peltt_random random = {62};
    for (uint32_t round = 0; round < 60; round++) {
        peltt_asset_shape shape = shapes[round % SHAPE_COUNT];
        shape.node_count = 1 + peltt_random_below(&random, 300);
        pelt_asset *asset = peltt_asset_random(&shape, &random);
        pelt_pose *plain = NULL;
        pelt_pose *pose = NULL;
        assert_int_equal(pelt_pose_create(asset, NULL, &plain), PELT_OK);
        assert_int_equal(pelt_pose_create(asset, NULL, &pose), PELT_OK);
        pelt_pose_set_isa(plain, PELT_ISA_SCALAR, 0);
        pelt_pose_set_isa(pose, peltt_isa, 0);
        for (uint32_t edit = 0; edit < 12; edit++) {
            // Few or many: both the passes over what is dirty and the pass over all.
            uint32_t edit_count = edit % 2 == 0 ? 1 + peltt_random_below(&random, 3) : shape.node_count;
            for (uint32_t i = 0; i < edit_count; i++) {
                uint32_t node = peltt_random_below(&random, shape.node_count);
                pelt_trs trs = peltt_random_trs(&random);
                pelt_mat34 matrix = peltt_random_matrix(&random);
                bool is_matrix = peltt_random_chance(&random, 0.1);
                pelt_pose *both[2] = {plain, pose};
                for (uint32_t k = 0; k < 2; k++) {
                    assert_int_equal(is_matrix ? pelt_pose_set_local_matrix(both[k], node, &matrix)
                                               : pelt_pose_set_local(both[k], node, &trs),
                                     PELT_OK);
                }
            }
            pelt_pose_update_info infos[2];
            assert_int_equal(pelt_pose_update(plain, &infos[0]), PELT_OK);
            assert_int_equal(pelt_pose_update(pose, &infos[1]), PELT_OK);
            assert_int_equal(infos[0].updated_node_count, infos[1].updated_node_count);
            expect_same_worlds(plain, pose);
        }
        pelt_pose_destroy(plain);
        pelt_pose_destroy(pose);
        pelt_asset_destroy(asset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(palettes_are_those_of_plain_c_and_of_poses),
        cmocka_unit_test(large_skeletons_are_no_different),
        cmocka_unit_test(large_crowds_are_no_different),
        cmocka_unit_test(poses_are_those_of_plain_c),
    };
    return PELTT_RUN_ISAS(tests);
}

// SPDX-License-Identifier: MIT
// Palettes against products in double, in both formats, with and without threads.
#include "peltt_asset.h"

#include <pelt/palette.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const peltt_asset_shape many_skins = {
    .node_count = 40, .skin_count = 6, .joint_count = 50, .root_share = 0.1, .chain_share = 0.5, .matrix_share = 0.2};

static pelt_pose *updated_pose(const pelt_asset *asset)
{
    pelt_pose *pose = NULL;
    assert_int_equal(pelt_pose_create(asset, NULL, &pose), PELT_OK);
    assert_int_equal(pelt_pose_update(pose, NULL), PELT_OK);
    return pose;
}

static pelt_result evaluate(const pelt_palette_item *items, uint32_t item_count, pelt_palette_format format,
                            const pelt_parallel *parallel)
{
    pelt_palette_job job = {.item_count = item_count, .items = items, .format = format, .parallel = parallel};
    return pelt_palette_evaluate(&job);
}

// The bytes of one palette, with guards of one matrix on both sides.
static float *guarded(size_t size)
{
    unsigned char *memory = malloc(size + 128);
    memset(memory, 0xEE, size + 128);
    return (float *)(void *)(memory + 64);
}

static void free_guarded(float *palette, size_t size)
{
    unsigned char *memory = (unsigned char *)palette - 64;
    for (size_t i = 0; i < 64; i++) {
        assert_int_equal(memory[i], 0xEE);
        assert_int_equal(memory[64 + size + i], 0xEE);
    }
    free(memory);
}

// Entry of world * bind in extended precision.
static double reference(const double *world, const pelt_mat34 *bind, uint32_t row, uint32_t column)
{
    long double sum = column == 3 ? (long double)world[4 * row + 3] : 0.0L;
    for (uint32_t i = 0; i < 3; i++) {
        sum += (long double)world[4 * row + i] * (long double)bind->m[i][column];
    }
    return (double)sum;
}

// One rounding to float: half a unit in the last place, and a trace of the double products.
static void expect_rounded(float got, double expected)
{
    double error = fabs((double)got - expected);
    assert_true(error <= fabs(expected) * 0x1.0001p-24 + 1e-13);
}

static void palettes_are_world_times_inverse_bind(void **state)
{
    (void)state;
    peltt_random random = {30};
    for (uint32_t round = 0; round < 100; round++) {
        pelt_asset *asset = peltt_asset_random(&many_skins, &random);
        const pelt_asset_data *data = pelt_asset_get(asset);
        pelt_pose *pose = updated_pose(asset);
        for (uint32_t i = 0; i < data->skin_count; i++) {
            const pelt_skin *skin = &data->skins[i];
            size_t small_size = pelt_palette_size(asset, i, PELT_PALETTE_3X4);
            size_t large_size = pelt_palette_size(asset, i, PELT_PALETTE_4X4);
            assert_int_equal(small_size, skin->joint_count * 48);
            assert_int_equal(large_size, skin->joint_count * 64);
            float *small = guarded(small_size);
            float *large = guarded(large_size);
            pelt_palette_item item = {pose, i, 0, small};
            assert_int_equal(evaluate(&item, 1, PELT_PALETTE_3X4, NULL), PELT_OK);
            item.palette = large;
            assert_int_equal(evaluate(&item, 1, PELT_PALETTE_4X4, NULL), PELT_OK);
            for (size_t k = 0; k < skin->joint_count; k++) {
                const double *world = pelt_pose_world_double(pose, skin->joints[k]);
                const float last_row[4] = {0, 0, 0, 1};
                for (uint32_t e = 0; e < 12; e++) {
                    expect_rounded(small[12 * k + e], reference(world, &skin->inverse_binds[k], e / 4, e % 4));
                }
                assert_memory_equal(large + 16 * k, small + 12 * k, 48);
                assert_memory_equal(large + 16 * k + 12, last_row, 16);
            }
            free_guarded(small, small_size);
            free_guarded(large, large_size);
        }
        pelt_pose_destroy(pose);
        pelt_asset_destroy(asset);
    }
}

static void rigid_palettes_are_the_world_of_their_node(void **state)
{
    (void)state;
    peltt_random random = {31};
    pelt_asset *asset = peltt_asset_random(&many_skins, &random);
    pelt_pose *pose = updated_pose(asset);
    assert_int_equal(pelt_palette_size(asset, PELT_NONE, PELT_PALETTE_3X4), 48);
    assert_int_equal(pelt_palette_size(asset, PELT_NONE, PELT_PALETTE_4X4), 64);
    for (uint32_t i = 0; i < many_skins.node_count; i++) {
        float *small = guarded(48);
        float *large = guarded(64);
        pelt_palette_item item = {pose, PELT_NONE, i, small};
        assert_int_equal(evaluate(&item, 1, PELT_PALETTE_3X4, NULL), PELT_OK);
        item.palette = large;
        assert_int_equal(evaluate(&item, 1, PELT_PALETTE_4X4, NULL), PELT_OK);
        pelt_mat34 world = pelt_pose_world(pose, i);
        const float last_row[4] = {0, 0, 0, 1};
        assert_memory_equal(small, &world, 48);
        assert_memory_equal(large, &world, 48);
        assert_memory_equal(large + 12, last_row, 16);
        free_guarded(small, 48);
        free_guarded(large, 64);
    }
    pelt_pose_destroy(pose);
    pelt_asset_destroy(asset);
}

// Inverse binds that undo the rest pose, as exporters write them: what stands at rest is not moved.
static void the_rest_pose_moves_nothing(void **state)
{
    (void)state;
    enum {
        JOINT_COUNT = 30
    };
    peltt_random random = {32};
    peltt_node nodes[JOINT_COUNT];
    pelt_mat34 binds[JOINT_COUNT];
    uint32_t joints[JOINT_COUNT];
    pelt_mat34 world = pelt_mat34_identity();
    for (uint32_t i = 0; i < JOINT_COUNT; i++) {
        nodes[i] = (peltt_node){.parent = i == 0 ? PELT_NONE : i - 1, .rest = peltt_random_trs(&random)};
        nodes[i].rest.scale = (pelt_vec3){1, 1, 1};
        pelt_mat34 local = pelt_mat34_from_trs(&nodes[i].rest);
        world = pelt_mat34_multiply(&world, &local);
        assert_true(pelt_mat34_invert(&world, &binds[i]));
        joints[i] = i;
    }
    peltt_skin skin = {JOINT_COUNT, joints, binds};
    pelt_asset *asset =
        peltt_asset_make(&(peltt_scene){.node_count = JOINT_COUNT, .nodes = nodes, .skin_count = 1, .skins = &skin});
    pelt_pose *pose = updated_pose(asset);
    pelt_mat34 palette[JOINT_COUNT];
    const pelt_mat34 identity = pelt_mat34_identity();
    pelt_palette_item item = {pose, 0, 0, palette};
    assert_int_equal(evaluate(&item, 1, PELT_PALETTE_3X4, NULL), PELT_OK);
    for (uint32_t i = 0; i < JOINT_COUNT * 12; i++) {
        float got = palette[i / 12].m[i % 12 / 4][i % 4];
        assert_true(fabsf(got - identity.m[i % 12 / 4][i % 4]) < 2e-5F);
    }
    pelt_pose_destroy(pose);
    pelt_asset_destroy(asset);
}

// Runs tasks last to first on the calling thread.
static void run_backwards(void *user, uint32_t task_count, pelt_task task, void *context)
{
    uint32_t *largest = user;
    *largest = task_count > *largest ? task_count : *largest;
    for (uint32_t i = task_count; i > 0; i--) {
        task(context, i - 1);
    }
}

// Fills items with skins, rigid nodes among them, and gives the bytes of all palettes.
static size_t mixed_items(const pelt_asset *asset, const pelt_pose *pose, pelt_palette_format format, uint32_t count,
                          pelt_palette_item *items, peltt_random *random)
{
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t skin = peltt_random_below(random, pelt_asset_get(asset)->skin_count + 1);
        items[i] = (pelt_palette_item){.pose = pose, .skin = skin, .node = 0};
        if (skin == pelt_asset_get(asset)->skin_count) {
            items[i].skin = PELT_NONE;
            items[i].node = peltt_random_below(random, pelt_asset_get(asset)->node_count);
        }
        size += pelt_palette_size(asset, items[i].skin, format);
    }
    return size;
}

static void place_palettes(const pelt_asset *asset, pelt_palette_format format, uint32_t count,
                           pelt_palette_item *items, float *memory)
{
    for (uint32_t i = 0; i < count; i++) {
        items[i].palette = memory;
        memory += pelt_palette_size(asset, items[i].skin, format) / sizeof(float);
    }
}

static void expect_same_bytes(const pelt_asset *asset, pelt_palette_format format, uint32_t item_count,
                              peltt_random *random)
{
    pelt_pose *pose = updated_pose(asset);
    pelt_palette_item *items = malloc((item_count + 1) * sizeof *items);
    size_t size = mixed_items(asset, pose, format, item_count, items, random);
    float *alone = guarded(size);
    float *shared = guarded(size);
    place_palettes(asset, format, item_count, items, alone);
    assert_int_equal(evaluate(items, item_count, format, NULL), PELT_OK);

    uint32_t task_count = 0;
    pelt_pool *pool = NULL;
    assert_int_equal(pelt_pool_create(3, NULL, &pool), PELT_OK);
    const pelt_parallel ways[3] = {{0}, {run_backwards, &task_count, 4}, pelt_pool_parallel(pool)};
    place_palettes(asset, format, item_count, items, shared);
    for (uint32_t i = 0; i < 3; i++) {
        memset(shared, 0xDD, size);
        assert_int_equal(evaluate(items, item_count, format, &ways[i]), PELT_OK);
        assert_memory_equal(alone, shared, size);
    }
    // A large job is cut into some tasks for every worker, and never into more than one for each few matrices.
    assert_true(size < 8192 * sizeof(pelt_mat34) || task_count >= 4);
    assert_true(task_count <= 1 || task_count <= size / (512 * sizeof(pelt_mat34)));
    pelt_pool_destroy(pool);
    free_guarded(alone, size);
    free_guarded(shared, size);
    free(items);
    pelt_pose_destroy(pose);
}

static void bytes_do_not_depend_on_threads(void **state)
{
    (void)state;
    peltt_random random = {33};
    pelt_asset *asset = peltt_asset_random(&many_skins, &random);
    const uint32_t counts[] = {0, 1, 2, 17, 300, 5000, 20000};
    for (uint32_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        expect_same_bytes(asset, i % 2 == 0 ? PELT_PALETTE_3X4 : PELT_PALETTE_4X4, counts[i], &random);
    }
    pelt_asset_destroy(asset);
}

static void a_large_skin_is_shared_out(void **state)
{
    (void)state;
    enum {
        JOINT_COUNT = 65536
    };
    peltt_random random = {34};
    peltt_node nodes[50];
    uint32_t *joints = malloc(JOINT_COUNT * sizeof *joints);
    pelt_mat34 *binds = malloc(JOINT_COUNT * sizeof *binds);
    for (uint32_t i = 0; i < 50; i++) {
        nodes[i] = (peltt_node){.parent = i == 0 ? PELT_NONE : i / 2, .rest = peltt_random_trs(&random)};
    }
    for (uint32_t i = 0; i < JOINT_COUNT; i++) {
        joints[i] = peltt_random_below(&random, 50);
        binds[i] = peltt_random_matrix(&random);
    }
    peltt_skin skins[2] = {{JOINT_COUNT, joints, binds}, {3, joints, binds}};
    pelt_asset *asset =
        peltt_asset_make(&(peltt_scene){.node_count = 50, .nodes = nodes, .skin_count = 2, .skins = skins});
    const uint32_t counts[] = {1, 2, 3, 9};
    for (uint32_t i = 0; i < 4; i++) {
        expect_same_bytes(asset, PELT_PALETTE_3X4, counts[i], &random);
    }
    pelt_asset_destroy(asset);
    free(joints);
    free(binds);
}

static void wrong_arguments_write_nothing(void **state)
{
    (void)state;
    peltt_random random = {35};
    pelt_asset *asset = peltt_asset_random(&many_skins, &random);
    pelt_pose *pose = updated_pose(asset);
    float palette[2][16];
    memset(palette, 0xEE, sizeof palette);
    const pelt_palette_item good = {pose, PELT_NONE, 0, palette[0]};
    const pelt_palette_item bad[] = {
        {NULL, PELT_NONE, 0, palette[1]},
        {pose, PELT_NONE, 0, NULL},
        {pose, PELT_NONE, many_skins.node_count, palette[1]},
        {pose, PELT_NONE, PELT_NONE, palette[1]},
        {pose, many_skins.skin_count, 0, palette[1]},
        {pose, PELT_NONE, 0, (char *)palette[1] + 1},
        {pose, PELT_NONE, 0, (char *)palette[1] + 2},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const pelt_palette_item items[2] = {good, bad[i]};
        assert_int_equal(evaluate(items, 2, PELT_PALETTE_3X4, NULL), PELT_ERROR_ARGUMENT);
        assert_int_equal(evaluate(items, 2, PELT_PALETTE_4X4, NULL), PELT_ERROR_ARGUMENT);
    }
    assert_int_equal(evaluate(NULL, 1, PELT_PALETTE_3X4, NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(evaluate(&good, 1, (pelt_palette_format)2, NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_palette_evaluate(NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(evaluate(NULL, 0, PELT_PALETTE_3X4, NULL), PELT_OK);
    for (size_t i = 0; i < sizeof palette; i++) {
        assert_int_equal(((unsigned char *)palette)[i], 0xEE);
    }
    assert_int_equal(pelt_palette_size(NULL, 0, PELT_PALETTE_3X4), 0);
    assert_int_equal(pelt_palette_size(asset, many_skins.skin_count, PELT_PALETTE_3X4), 0);
    assert_int_equal(pelt_palette_size(asset, 0, (pelt_palette_format)7), 0);
    pelt_pose_destroy(pose);
    pelt_asset_destroy(asset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_write_nothing),
        cmocka_unit_test(palettes_are_world_times_inverse_bind),
        cmocka_unit_test(rigid_palettes_are_the_world_of_their_node),
        cmocka_unit_test(the_rest_pose_moves_nothing),
        cmocka_unit_test(bytes_do_not_depend_on_threads),
        cmocka_unit_test(a_large_skin_is_shared_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Skeletons: what their palettes hold, how far float lies from double, refusals, sharing out. test_skeleton_isa.c
// compares the kernels.
#include "peltt_alloc.h"
#include "peltt_crowd.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const peltt_asset_shape many_skins = {
    .node_count = 40, .skin_count = 6, .joint_count = 50, .root_share = 0.1, .chain_share = 0.5, .matrix_share = 0.2};

static pelt_result evaluate(const pelt_skeleton *skeleton, const pelt_skeleton_instance *instances, uint32_t count)
{
    const pelt_skeleton_job job = {.skeleton = skeleton, .instance_count = count, .instances = instances};
    return pelt_skeleton_evaluate(&job);
}

static void wrong_arguments_write_nothing(void **state)
{
    (void)state;
    peltt_random random = {50};
    pelt_asset *asset = peltt_asset_random(&many_skins, &random);
    const uint32_t skins[2] = {0, many_skins.skin_count};
    const uint32_t nodes[2] = {0, many_skins.node_count};
    const pelt_skeleton_options bad_options[] = {
        {.skin_count = 2, .skins = skins}, {.node_count = 2, .nodes = nodes}, {.skin_count = 1}, {.node_count = 1}};
    pelt_skeleton *skeleton = (void *)&random;
    for (uint32_t i = 0; i < sizeof bad_options / sizeof *bad_options; i++) {
        assert_int_equal(pelt_skeleton_create(asset, &bad_options[i], NULL, &skeleton), PELT_ERROR_ARGUMENT);
        assert_null(skeleton);
    }
    assert_int_equal(pelt_skeleton_create(NULL, NULL, NULL, &skeleton), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_skeleton_create(asset, NULL, NULL, NULL), PELT_ERROR_ARGUMENT);
    pelt_skeleton_destroy(NULL);

    peltt_crowd crowd;
    peltt_crowd_init(&crowd, asset, NULL, &(peltt_crowd_shape){2, 1.0, 0.0, false}, &random);
    const pelt_skeleton_instance good = crowd.instances[0];
    pelt_locals no_transforms = *good.locals;
    no_transforms.transforms = NULL;
    const pelt_skeleton_instance bad[] = {{NULL, good.palette},
                                          {good.locals, NULL},
                                          {good.locals, (char *)good.palette + 2},
                                          {&no_transforms, good.palette}};
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const pelt_skeleton_instance both[2] = {good, bad[i]};
        assert_int_equal(evaluate(crowd.skeleton, both, 2), PELT_ERROR_ARGUMENT);
    }
    assert_int_equal(evaluate(NULL, &good, 1), PELT_ERROR_ARGUMENT);
    assert_int_equal(evaluate(crowd.skeleton, NULL, 1), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_skeleton_evaluate(NULL), PELT_ERROR_ARGUMENT);
    pelt_skeleton_job job = {.skeleton = crowd.skeleton, .instance_count = 1, .instances = &good};
    job.format = (pelt_palette_format)2;
    assert_int_equal(pelt_skeleton_evaluate(&job), PELT_ERROR_ARGUMENT);
    job.format = PELT_PALETTE_3X4;
    job.precision = (pelt_precision)2;
    assert_int_equal(pelt_skeleton_evaluate(&job), PELT_ERROR_ARGUMENT);
    for (size_t i = 0; i < crowd.matrix_count * 64; i++) {
        assert_int_equal(((unsigned char *)crowd.palettes[0])[i], 0xEE);
    }
    assert_int_equal(evaluate(crowd.skeleton, NULL, 0), PELT_OK);
    peltt_crowd_destroy(&crowd);
    pelt_asset_destroy(asset);
}

// A matrix that a pose keeps is not in the locals, so it is refused where it would be needed, and only there.
static void matrices_of_poses_are_refused(void **state)
{
    (void)state;
    const uint32_t joint = 1;
    const peltt_node nodes[4] = {{.parent = PELT_NONE, .rest = pelt_trs_identity()},
                                 {.parent = 0, .rest = pelt_trs_identity()},
                                 {.parent = 1, .rest = pelt_trs_identity()},
                                 {.parent = PELT_NONE, .rest = pelt_trs_identity()}};
    const peltt_skin skin = {1, &joint, NULL};
    pelt_asset *asset =
        peltt_asset_make(&(peltt_scene){.node_count = 4, .nodes = nodes, .skin_count = 1, .skins = &skin});
    pelt_pose *pose = NULL;
    pelt_skeleton *skeleton = NULL;
    assert_int_equal(pelt_pose_create(asset, NULL, &pose), PELT_OK);
    assert_int_equal(pelt_skeleton_create(asset, NULL, NULL, &skeleton), PELT_OK);
    pelt_mat34 matrix = pelt_mat34_identity();
    matrix.m[0][3] = 5.0F;
    float palette[12];
    const pelt_skeleton_instance instance = {pelt_pose_locals(pose), palette};
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t node = pelt_asset_get(asset)->node_from_file[i];
        assert_int_equal(pelt_pose_set_local_matrix(pose, node, &matrix), PELT_OK);
        assert_int_equal(evaluate(skeleton, &instance, 1), i < 2 ? PELT_ERROR_ARGUMENT : PELT_OK);
        pelt_pose_reset(pose);
    }
    pelt_skeleton_destroy(skeleton);
    pelt_pose_destroy(pose);
    pelt_asset_destroy(asset);
}

// Skins in any order and repeated, then worlds of nodes: each as its pose gives it.
static void palettes_hold_what_was_asked_for(void **state)
{
    (void)state;
    peltt_random random = {51};
    for (uint32_t round = 0; round < 30; round++) {
        pelt_asset *asset = peltt_asset_random(&many_skins, &random);
        const uint32_t skins[4] = {5, 0, 5, 3};
        uint32_t nodes[7];
        for (uint32_t i = 0; i < 7; i++) {
            nodes[i] = peltt_random_below(&random, many_skins.node_count);
        }
        const pelt_skeleton_options options = {round % 3 == 0 ? 0 : 4, skins, round % 3 == 1 ? 0 : 7, nodes};
        peltt_crowd crowd;
        peltt_crowd_init(&crowd, asset, &options, &(peltt_crowd_shape){1 + round % 3 * 5, 0.0, 0.0, true}, &random);
        peltt_crowd_evaluate(&crowd, PELT_PRECISION_DOUBLE, PELT_ISA_BEST, 0);
        pelt_pose *pose = NULL;
        assert_int_equal(pelt_pose_create(asset, NULL, &pose), PELT_OK);
        for (uint32_t i = 0; i < crowd.instance_count; i++) {
            for (uint32_t k = 0; k < many_skins.node_count; k++) {
                if (!pelt_asset_get(asset)->nodes[k].has_matrix) {
                    assert_int_equal(pelt_pose_set_local(pose, k, &crowd.locals[i].transforms[k]), PELT_OK);
                }
            }
            pelt_pose_update(pose, NULL);
            const pelt_mat34 *got = crowd.instances[i].palette;
            const pelt_mat34 *end = got + crowd.matrix_count;
            for (uint32_t k = 0; k < options.skin_count; k++) {
                pelt_mat34 expected[64];
                const pelt_palette_item item = {.pose = pose, .skin = skins[k], .palette = expected};
                const pelt_palette_job job = {.item_count = 1, .items = &item};
                assert_int_equal(pelt_palette_evaluate(&job), PELT_OK);
                size_t size = pelt_palette_size(asset, skins[k], PELT_PALETTE_3X4);
                assert_memory_equal(got, expected, size);
                got += size / sizeof *got;
            }
            for (uint32_t k = 0; k < options.node_count; k++, got++) {
                pelt_mat34 expected = pelt_pose_world(pose, nodes[k]);
                assert_memory_equal(got, &expected, sizeof expected);
            }
            assert_ptr_equal(got, end);
        }
        pelt_pose_destroy(pose);
        peltt_crowd_destroy(&crowd);
        pelt_asset_destroy(asset);
    }
}

static void an_asset_without_skins_has_empty_palettes(void **state)
{
    (void)state;
    pelt_asset *asset = peltt_asset_chain(3);
    pelt_skeleton *skeleton = NULL;
    assert_int_equal(pelt_skeleton_create(asset, NULL, NULL, &skeleton), PELT_OK);
    assert_int_equal(pelt_skeleton_matrix_count(skeleton), 0);
    assert_int_equal(pelt_skeleton_palette_stride(skeleton, PELT_PALETTE_3X4), 0);
    const pelt_locals locals = {0};
    const pelt_skeleton_instance instances[20] = {{&locals, NULL}};
    assert_int_equal(evaluate(skeleton, instances, 1), PELT_OK);
    pelt_skeleton_destroy(skeleton);
    pelt_asset_destroy(asset);
}

static void strides_hold_palettes_and_keep_them_apart(void **state)
{
    (void)state;
    pelt_asset *asset = peltt_asset_chain(200);
    uint32_t nodes[200];
    for (uint32_t i = 0; i < 200; i++) {
        nodes[i] = i;
        pelt_skeleton *skeleton = NULL;
        const pelt_skeleton_options options = {.node_count = i + 1, .nodes = nodes};
        assert_int_equal(pelt_skeleton_create(asset, &options, NULL, &skeleton), PELT_OK);
        for (uint32_t format = 0; format < 2; format++) {
            size_t size = (i + 1) * (format == PELT_PALETTE_4X4 ? 64 : 48);
            size_t stride = pelt_skeleton_palette_stride(skeleton, (pelt_palette_format)format);
            assert_true(stride >= size && stride < size + 128);
            assert_true(stride % 64 == 0 && stride % 2048 != 0);
        }
        pelt_skeleton_destroy(skeleton);
    }
    pelt_asset_destroy(asset);
}

// Closed form: every node one further along x, any depth without a stack.
static void a_deep_chain_needs_no_stack(void **state)
{
    (void)state;
    const uint32_t depth = 100000;
    pelt_asset *asset = peltt_asset_chain(depth);
    const uint32_t nodes[3] = {depth - 1, 0, depth / 2};
    pelt_skeleton *skeleton = NULL;
    const pelt_skeleton_options options = {.node_count = 3, .nodes = nodes};
    assert_int_equal(pelt_skeleton_create(asset, &options, NULL, &skeleton), PELT_OK);
    pelt_trs *transforms = malloc(depth * sizeof *transforms);
    for (uint32_t i = 0; i < depth; i++) {
        transforms[i] = pelt_trs_identity();
        transforms[i].translation.x = 1.0F;
    }
    const pelt_locals locals = {.transforms = transforms};
    for (uint32_t precision = 0; precision < 2; precision++) {
        pelt_mat34 palettes[2][3];
        const pelt_skeleton_instance instances[2] = {{&locals, palettes[0]}, {&locals, palettes[1]}};
        for (uint32_t count = 1; count <= 2; count++) {
            memset(palettes, 0, sizeof palettes);
            const pelt_skeleton_job job = {.skeleton = skeleton,
                                           .instance_count = count,
                                           .instances = instances,
                                           .precision = (pelt_precision)precision};
            assert_int_equal(pelt_skeleton_evaluate(&job), PELT_OK);
            for (uint32_t i = 0; i < count; i++) {
                for (uint32_t k = 0; k < 3; k++) {
                    pelt_mat34 expected = pelt_mat34_identity();
                    expected.m[0][3] = (float)nodes[k] + 1.0F;
                    assert_memory_equal(&palettes[i][k], &expected, sizeof expected);
                }
            }
        }
    }
    free(transforms);
    pelt_skeleton_destroy(skeleton);
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

// Each instance has the bytes that it has alone: among any others, in any order, on any threads.
static void bytes_depend_on_the_instance_alone(void **state)
{
    (void)state;
    peltt_random random = {52};
    pelt_asset *asset = peltt_asset_random(&many_skins, &random);
    enum {
        INSTANCE_COUNT = 700
    };
    peltt_crowd crowd;
    peltt_crowd_init(&crowd, asset, NULL, &(peltt_crowd_shape){INSTANCE_COUNT, 0.3, 0.2, false}, &random);
    const size_t size = peltt_crowd_palette_size(&crowd);
    pelt_pool *pool = NULL;
    assert_int_equal(pelt_pool_create(3, NULL, &pool), PELT_OK);
    uint32_t task_count = 0;
    const pelt_parallel ways[3] = {{0}, {run_backwards, &task_count, 4}, pelt_pool_parallel(pool)};
    char *alone = malloc(INSTANCE_COUNT * size);
    for (uint32_t precision = 0; precision < 2; precision++) {
        for (uint32_t i = 0; i < INSTANCE_COUNT; i++) {
            const pelt_skeleton_instance one = {crowd.instances[i].locals, alone + i * size};
            const pelt_skeleton_job job = {.skeleton = crowd.skeleton,
                                           .instance_count = 1,
                                           .instances = &one,
                                           .precision = (pelt_precision)precision};
            assert_int_equal(pelt_skeleton_evaluate(&job), PELT_OK);
        }
        for (uint32_t way = 0; way < 3; way++) {
            pelt_skeleton_instance shuffled[INSTANCE_COUNT];
            for (uint32_t i = 0; i < INSTANCE_COUNT; i++) {
                uint32_t other = peltt_random_below(&random, i + 1);
                shuffled[i] = shuffled[other];
                shuffled[other] = crowd.instances[i];
            }
            peltt_crowd_clear(&crowd, PELT_PALETTE_3X4);
            const pelt_skeleton_job job = {.skeleton = crowd.skeleton,
                                           .instance_count = INSTANCE_COUNT - way,
                                           .instances = shuffled + way,
                                           .precision = (pelt_precision)precision,
                                           .parallel = &ways[way]};
            assert_int_equal(pelt_skeleton_evaluate(&job), PELT_OK);
            uint32_t seen = 0;
            for (uint32_t i = 0; i < INSTANCE_COUNT; i++) {
                seen += memcmp(crowd.instances[i].palette, alone + i * size, size) == 0 ? 1 : 0;
            }
            assert_int_equal(seen, INSTANCE_COUNT - way);
        }
    }
    assert_true(task_count > 3);
    free(alone);
    pelt_pool_destroy(pool);
    peltt_crowd_destroy(&crowd);
    pelt_asset_destroy(asset);
}

// A body of a few metres: bones that turn by any angle, binds that undo a rest pose.
static pelt_asset *make_body(uint32_t node_count, double chain_share, peltt_random *random)
{
    peltt_node *nodes = calloc(node_count, sizeof *nodes);
    pelt_mat34 *worlds = malloc(node_count * sizeof *worlds);
    pelt_mat34 *binds = malloc(node_count * sizeof *binds);
    uint32_t *joints = malloc(node_count * sizeof *joints);
    for (uint32_t i = 0; i < node_count; i++) {
        uint32_t parent = peltt_random_chance(random, chain_share) ? i - 1 : peltt_random_below(random, i + 1) / 2;
        nodes[i].parent = i == 0 ? PELT_NONE : parent;
        nodes[i].rest = peltt_random_trs(random);
        nodes[i].rest.scale = (pelt_vec3){1, 1, 1};
        nodes[i].rest.translation = (pelt_vec3){peltt_random_float(random, -0.1F, 0.1F), 0.2F, 0.0F};
        pelt_mat34 local = pelt_mat34_from_trs(&nodes[i].rest);
        worlds[i] = i == 0 ? local : pelt_mat34_multiply(&worlds[nodes[i].parent], &local);
        assert_true(pelt_mat34_invert(&worlds[i], &binds[i]));
        joints[i] = i;
    }
    const peltt_skin skin = {node_count, joints, binds};
    pelt_asset *asset =
        peltt_asset_make(&(peltt_scene){.node_count = node_count, .nodes = nodes, .skin_count = 1, .skins = &skin});
    free(nodes);
    free(worlds);
    free(binds);
    free(joints);
    return asset;
}

static uint32_t depth_of(const pelt_asset_data *data, uint32_t node)
{
    uint32_t depth = 1;
    while (data->nodes[node].parent != PELT_NONE) {
        node = data->nodes[node].parent;
        depth++;
    }
    return depth;
}

// Largest distance between a point near the joint's bind position moved by both matrices, over the range of
// coordinates: the point's and the terms that the result is summed from.
static double share_of_range(const pelt_mat34 *got, const pelt_mat34 *expected, const pelt_mat34 *bind,
                             peltt_random *random)
{
    pelt_mat34 bind_pose;
    assert_true(pelt_mat34_invert(bind, &bind_pose));
    double p[4] = {0.0, 0.0, 0.0, 1.0};
    double range = 0.0;
    for (uint32_t i = 0; i < 3; i++) {
        p[i] = (double)bind_pose.m[i][3] + (double)peltt_random_float(random, -0.2F, 0.2F);
        range = fmax(range, fabs(p[i]));
    }
    double off = 0.0;
    for (uint32_t r = 0; r < 3; r++) {
        double difference = 0.0;
        for (uint32_t c = 0; c < 4; c++) {
            difference += ((double)got->m[r][c] - (double)expected->m[r][c]) * p[c];
            range = fmax(range, fabs((double)expected->m[r][c] * p[c]));
        }
        off = fmax(off, fabs(difference));
    }
    return off / range;
}

typedef struct worst_shares {
    double share;     // of the range
    double per_level; // the same, for each product on the way from the root to the palette
} worst_shares;

static void pose_body(peltt_crowd *crowd, float root_distance, peltt_random *random)
{
    const pelt_asset_data *data = pelt_asset_get(crowd->asset);
    for (uint32_t i = 0; i < crowd->instance_count; i++) {
        for (uint32_t k = 0; k < data->node_count; k++) {
            pelt_trs *trs = &crowd->locals[i].transforms[k];
            trs->scale = (pelt_vec3){1, peltt_random_chance(random, 0.05) ? -1.0F : 1.0F, 1};
            trs->translation = data->nodes[k].rest.translation;
        }
        crowd->locals[i].transforms[0].translation.x = root_distance;
    }
}

static void compare_precisions(uint32_t node_count, double chain_share, float root_distance, peltt_random *random,
                               worst_shares *worst)
{
    pelt_asset *asset = make_body(node_count, chain_share, random);
    const pelt_skin *skin = &pelt_asset_get(asset)->skins[0];
    peltt_crowd crowd;
    peltt_crowd_init(&crowd, asset, NULL, &(peltt_crowd_shape){16, 0.0, 0.0, false}, random);
    pose_body(&crowd, root_distance, random);
    const size_t size = peltt_crowd_palette_size(&crowd);
    pelt_mat34 *doubles = malloc(16 * size);
    peltt_crowd_evaluate(&crowd, PELT_PRECISION_DOUBLE, PELT_ISA_BEST, 0);
    for (uint32_t i = 0; i < 16; i++) {
        memcpy(doubles + i * skin->joint_count, crowd.instances[i].palette, size);
    }
    peltt_crowd_evaluate(&crowd, PELT_PRECISION_FLOAT, PELT_ISA_BEST, 0);
    for (uint32_t i = 0; i < 16; i++) {
        const pelt_mat34 *floats = crowd.instances[i].palette;
        for (uint32_t k = 0; k < skin->joint_count; k++) {
            const pelt_mat34 *expected = doubles + i * skin->joint_count + k;
            double share = share_of_range(&floats[k], expected, &skin->inverse_binds[k], random);
            worst->share = fmax(worst->share, share);
            worst->per_level = fmax(worst->per_level, share / (depth_of(pelt_asset_get(asset), skin->joints[k]) + 1.0));
        }
    }
    free(doubles);
    peltt_crowd_destroy(&crowd);
    pelt_asset_destroy(asset);
}

// The promise of docs/accuracy.md.
static void float_is_off_by_little_for_each_level(void **state)
{
    (void)state;
    peltt_random random = {53};
    const struct {
        uint32_t node_count;
        double chain_share;
        float root_distance;
    } cases[] = {{60, 0.6, 1.0F}, {100, 0.8, 1.0F}, {60, 1.0, 1.0F}, {300, 1.0, 1.0F}, {60, 0.6, 1e4F}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        worst_shares worst = {0.0, 0.0};
        for (uint32_t round = 0; round < 20; round++) {
            compare_precisions(cases[i].node_count, cases[i].chain_share, cases[i].root_distance, &random, &worst);
        }
        assert_true(worst.share > 0.0 && worst.per_level < 4e-7);
    }
}

static void failing_allocations_leave_nothing(void **state)
{
    (void)state;
    peltt_random random = {54};
    pelt_asset *asset = peltt_asset_random(&many_skins, &random);
    uint64_t tries = 0;
    for (uint64_t n = 1;; n++) {
        peltt_alloc counter = {.fail_at = n};
        pelt_allocator allocator = peltt_alloc_make(&counter);
        pelt_skeleton *skeleton = NULL;
        pelt_result result = pelt_skeleton_create(asset, NULL, &allocator, &skeleton);
        tries++;
        if (result == PELT_OK) {
            assert_int_equal(counter.live_blocks, 1);
            pelt_skeleton_destroy(skeleton);
            assert_int_equal(counter.live_blocks, 0);
            break;
        }
        assert_int_equal(result, PELT_ERROR_MEMORY);
        assert_null(skeleton);
        assert_int_equal(counter.live_blocks, 0);
    }
    assert_true(tries == 4);
    pelt_asset_destroy(asset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_write_nothing),
        cmocka_unit_test(matrices_of_poses_are_refused),
        cmocka_unit_test(palettes_hold_what_was_asked_for),
        cmocka_unit_test(an_asset_without_skins_has_empty_palettes),
        cmocka_unit_test(strides_hold_palettes_and_keep_them_apart),
        cmocka_unit_test(a_deep_chain_needs_no_stack),
        cmocka_unit_test(bytes_depend_on_the_instance_alone),
        cmocka_unit_test(float_is_off_by_little_for_each_level),
        cmocka_unit_test(failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// The builder's memory: alignment, limits, failures, and that an asset owns and returns all of it.
#include "base/base.h"
#include "peltt_kit.h"

#include <setjmp.h>

#include <cmocka.h>

static void allocations_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 3, 16, 17, 100, 4096, 5000, 40000, 200000, 2000000, 0};
    peltt_kit kit;
    peltt_kit_init(&kit, 0);
    unsigned char *blocks[300];
    for (size_t i = 0; i < 300; i++) {
        uint64_t size = sizes[i * 7 % 11];
        blocks[i] = peltt_kit_allocate(&kit, size, 1);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        for (uint64_t k = 0; k < size; k++) {
            assert_int_equal(blocks[i][k], 0);
        }
        memset(blocks[i], (int)(i % 251 + 1), (size_t)size);
    }
    for (size_t i = 0; i < 300; i++) {
        for (uint64_t k = 0; k < sizes[i * 7 % 11]; k++) {
            assert_int_equal(blocks[i][k], i % 251 + 1);
        }
    }
    assert_true(kit.memory.live_blocks < 150); // small ones share blocks
    peltt_kit_destroy(&kit);
}

static void default_allocator_gives_zeroed_memory_too(void **state)
{
    (void)state;
    pelt_builder *builder = NULL;
    assert_int_equal(pelt_builder_create(NULL, &builder), PELT_OK);
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t *values = pelt_builder_allocate(builder, i * 50, sizeof *values);
        assert_non_null(values);
        for (uint32_t k = 0; k < i * 50; k++) {
            assert_int_equal(values[k], 0);
            values[k] = UINT32_MAX;
        }
    }
    assert_int_equal(pelt_builder_status(builder, NULL), PELT_OK);
    pelt_builder_destroy(builder);
    pelt_builder_destroy(NULL);
    pelt_asset_destroy(NULL);
    assert_int_equal(pelt_builder_create(NULL, NULL), PELT_ERROR_ARGUMENT);
}

static void strings_are_copied_and_ended(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 0);
    char text[] = "armature|x";
    const char *copy = pelt_builder_string(kit.builder, text, 8);
    text[0] = 'X';
    assert_string_equal(copy, "armature");
    assert_string_equal(pelt_builder_string(kit.builder, NULL, 0), "");
    peltt_kit_destroy(&kit);
}

static void overflowing_products_are_limit_errors(void **state)
{
    (void)state;
    static const struct {
        uint64_t count;
        size_t size;
    } cases[] = {{UINT64_MAX, 2}, {(UINT64_C(1) << 62), 4}, {UINT64_MAX, 1}, {UINT64_MAX - 15, 1}, {1, SIZE_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        peltt_kit kit;
        pelt_error error;
        peltt_kit_init(&kit, 0);
        assert_int_equal(pelt_builder_status(kit.builder, &error), PELT_OK);
        assert_null(pelt_builder_allocate(kit.builder, cases[i].count, cases[i].size));
        assert_int_equal(pelt_builder_status(kit.builder, &error), PELT_ERROR_LIMIT);
        assert_int_equal(error.code, PELT_ERROR_LIMIT);
        assert_true(error.message[0] != '\0');
        assert_null(pelt_builder_string(kit.builder, "", SIZE_MAX));
        peltt_kit_destroy(&kit);
    }
}

static void memory_limit_counts_everything_and_is_named(void **state)
{
    (void)state;
    peltt_alloc memory = {0};
    pelt_builder_options options = {.allocator = peltt_alloc_make(&memory), .memory_limit = 1000};
    pelt_builder *builder = NULL;
    pelt_error error;
    assert_int_equal(pelt_builder_create(&options, &builder), PELT_OK);
    assert_non_null(pelt_builder_allocate(builder, 100, 5)); // 512 with its rounding
    assert_non_null(pelt_builder_allocate(builder, 1, 480));
    assert_int_equal(pelt_builder_status(builder, &error), PELT_OK);
    assert_null(pelt_builder_allocate(builder, 1, 16));
    assert_int_equal(pelt_builder_status(builder, &error), PELT_ERROR_LIMIT);
    assert_non_null(strstr(error.message, "memory limit"));
    assert_non_null(strstr(error.message, "1000"));
    pelt_builder_destroy(builder);
    assert_int_equal(memory.live_bytes, 0);
}

static void huge_allocations_within_the_limit_do_not_reserve_first(void **state)
{
    (void)state;
    peltt_alloc memory = {0};
    pelt_builder_options options = {.allocator = peltt_alloc_make(&memory)};
    pelt_builder *builder = NULL;
    assert_int_equal(pelt_builder_create(&options, &builder), PELT_OK);
    assert_null(pelt_builder_allocate(builder, (UINT64_C(8) << 30) + 1, 1)); // the default limit is 8 GiB
    assert_int_equal(memory.call_count, 1);                                  // nothing was asked for
    assert_int_equal(pelt_builder_status(builder, NULL), PELT_ERROR_LIMIT);
    pelt_builder_destroy(builder);
}

static void first_failure_is_what_status_and_finish_tell(void **state)
{
    (void)state;
    peltt_kit kit;
    pelt_error error;
    peltt_kit_init(&kit, 1);
    kit.memory.fail_at = kit.memory.call_count + 1;
    assert_null(pelt_builder_allocate(kit.builder, 1, 1000000));
    assert_null(pelt_builder_allocate(kit.builder, UINT64_MAX, 4));
    assert_int_equal(pelt_builder_status(kit.builder, &error), PELT_ERROR_MEMORY);
    assert_int_equal(peltt_kit_finish(&kit), PELT_ERROR_MEMORY);
    assert_null(kit.asset);
    peltt_kit_destroy(&kit);
}

static void finish_refuses_missing_arguments_and_a_second_call(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 1);
    assert_int_equal(pelt_builder_finish(NULL, &kit.scene, &kit.asset, NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_builder_finish(kit.builder, NULL, &kit.asset, NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_builder_finish(kit.builder, &kit.scene, NULL, NULL), PELT_ERROR_ARGUMENT);
    kit.scene.root_count = 1; // without roots
    assert_int_equal(peltt_kit_finish(&kit), PELT_ERROR_ARGUMENT);
    kit.scene.root_count = 0;
    peltt_kit_asset(&kit);
    pelt_asset *second = (pelt_asset *)&kit;
    assert_int_equal(pelt_builder_finish(kit.builder, &kit.scene, &second, NULL), PELT_ERROR_ARGUMENT);
    assert_null(second);
    peltt_kit_destroy(&kit);
}

static void missing_arrays_are_argument_errors(void **state)
{
    (void)state;
    for (int i = 0; i < 7; i++) {
        peltt_kit kit;
        peltt_kit_init(&kit, 1);
        peltt_kit_mesh(&kit, 0, 0);
        peltt_kit_skin(&kit, 1, (const uint32_t[]){0});
        peltt_kit_clip(&kit);
        kit.nodes[0].child_count = i == 0 ? 1 : 0;
        kit.nodes[0].weight_count = i == 1 ? 1 : 0;
        kit.scene.nodes = i == 2 ? NULL : kit.nodes;
        kit.scene.meshes[0].primitives = i == 3 ? NULL : kit.scene.meshes[0].primitives;
        kit.scene.skins[0].joints = i == 4 ? NULL : kit.scene.skins[0].joints;
        kit.scene.skins[0].has_inverse_binds = i == 5;
        kit.scene.clips[0].channel_count = i == 6 ? 1 : 0;
        kit.scene.clips[0].channels = NULL;
        assert_int_equal(peltt_kit_finish(&kit), PELT_ERROR_ARGUMENT);
        assert_int_equal(kit.error.code, PELT_ERROR_ARGUMENT);
        peltt_kit_destroy(&kit);
    }
}

static void asset_outlives_its_builder(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 2);
    kit.nodes[1].name = pelt_builder_string(kit.builder, "tail", 4);
    peltt_kit_children(&kit, 1, 1, (const uint32_t[]){0});
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    pelt_builder_destroy(kit.builder);
    kit.builder = NULL;
    assert_string_equal(data->nodes[0].name, "tail");
    assert_int_equal(data->nodes[1].parent, 0);
    peltt_kit_destroy(&kit);
}

static void empty_model_is_an_asset(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 0);
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    assert_int_equal(data->node_count, 0);
    assert_int_equal(data->instance_count, 0);
    assert_int_equal(data->rest_weight_count, 0);
    assert_non_null(data->nodes);
    peltt_kit_destroy(&kit);
}

// A model that makes finish allocate everything it can: two nodes, a skinned mesh with targets, a clip. The lists that
// the kit would fail the test over are made by hand, since any of them may fail here.
static pelt_result build_whole(pelt_builder *builder, pelt_asset **out_asset)
{
    enum {
        VERTICES = 100,
        SETS = 6
    };
    pelt_builder_node *nodes = pelt_builder_allocate(builder, 2, sizeof *nodes);
    uint32_t *children = pelt_builder_allocate(builder, 1, sizeof *children);
    pelt_mesh *mesh = pelt_builder_allocate(builder, 1, sizeof *mesh);
    pelt_primitive *primitive = pelt_builder_allocate(builder, 1, sizeof *primitive);
    pelt_morph_target *target = pelt_builder_allocate(builder, 1, sizeof *target);
    float *positions = pelt_builder_allocate(builder, VERTICES * 3, sizeof *positions);
    pelt_skin *skin = pelt_builder_allocate(builder, 1, sizeof *skin);
    uint32_t *joints = pelt_builder_allocate(builder, 2, sizeof *joints);
    pelt_clip *clip = pelt_builder_allocate(builder, 1, sizeof *clip);
    pelt_sampler *sampler = pelt_builder_allocate(builder, 1, sizeof *sampler);
    pelt_channel *channel = pelt_builder_allocate(builder, 1, sizeof *channel);
    float *values = pelt_builder_allocate(builder, 8, sizeof *values);
    pelt_builder_scene scene = {.node_count = 2, .nodes = nodes, .mesh_count = 1, .meshes = mesh};
    if (pelt_builder_status(builder, NULL) != PELT_OK) {
        return pelt_builder_finish(builder, &scene, out_asset, NULL);
    }
    static uint16_t set_joints[VERTICES * 4];
    static float set_weights[VERTICES * 4];
    pelt_influence_set sets[SETS];
    for (int i = 0; i < VERTICES * 4; i++) {
        set_joints[i] = (uint16_t)(i % 2);
        set_weights[i] = 0.3f;
    }
    for (int i = 0; i < SETS; i++) {
        sets[i] = (pelt_influence_set){set_joints, set_weights};
    }
    pelt_influence_job job = {.vertex_count = VERTICES, .set_count = SETS, .sets = sets, .joint_limit = 2};
    pelt_result result = pelt_builder_clean_influences(builder, &job, primitive, NULL);
    if (result != PELT_OK) {
        return result;
    }
    primitive->vertex_count = VERTICES;
    primitive->positions = positions;
    primitive->targets = target;
    *mesh = (pelt_mesh){.primitive_count = 1, .primitives = primitive, .target_count = 1};
    joints[0] = 1;
    *skin = (pelt_skin){.joint_count = 2, .joints = joints, .skeleton = PELT_NONE};
    children[0] = 0;
    nodes[0] = (pelt_builder_node){.mesh = 0, .skin = 0, .rest = pelt_trs_identity()};
    nodes[1] = (pelt_builder_node){.child_count = 1, .children = children, .mesh = PELT_NONE, .skin = PELT_NONE};
    nodes[1].rest = pelt_trs_identity();
    values[0] = 1;
    *sampler = (pelt_sampler){.key_count = 1, .value_count = 1, .times = values + 4, .values = values};
    *channel = (pelt_channel){0, PELT_PATH_WEIGHTS, 0, 0};
    *clip = (pelt_clip){.sampler_count = 1, .samplers = sampler, .channel_count = 1, .channels = channel};
    scene.skin_count = 1;
    scene.skins = skin;
    scene.clip_count = 1;
    scene.clips = clip;
    return pelt_builder_finish(builder, &scene, out_asset, NULL);
}

static void every_failed_allocation_is_a_clean_memory_error(void **state)
{
    (void)state;
    for (uint64_t fail_at = 1;; fail_at++) {
        peltt_alloc memory = {.fail_at = fail_at};
        pelt_builder_options options = {.allocator = peltt_alloc_make(&memory)};
        pelt_builder *builder = NULL;
        pelt_asset *asset = NULL;
        pelt_result result = pelt_builder_create(&options, &builder);
        if (result == PELT_OK) {
            result = build_whole(builder, &asset);
        }
        pelt_builder_destroy(builder);
        bool all_worked = memory.call_count < fail_at;
        assert_int_equal(result, all_worked ? PELT_OK : PELT_ERROR_MEMORY);
        assert_true((asset != NULL) == all_worked);
        pelt_asset_destroy(asset);
        assert_int_equal(memory.live_bytes, 0);
        if (all_worked) {
            assert_true(fail_at > 8); // so many places were tried
            break;
        }
    }
}

static void every_memory_limit_is_a_clean_limit_error(void **state)
{
    (void)state;
    uint32_t refused = 0;
    for (uint64_t limit = 16;; limit += 16) {
        peltt_alloc memory = {0};
        pelt_builder_options options = {.allocator = peltt_alloc_make(&memory), .memory_limit = limit};
        pelt_builder *builder = NULL;
        pelt_asset *asset = NULL;
        assert_int_equal(pelt_builder_create(&options, &builder), PELT_OK);
        pelt_result result = build_whole(builder, &asset);
        pelt_builder_destroy(builder);
        assert_true(result == PELT_OK || result == PELT_ERROR_LIMIT);
        assert_true((asset != NULL) == (result == PELT_OK));
        pelt_asset_destroy(asset);
        assert_int_equal(memory.live_bytes, 0);
        if (result == PELT_OK) {
            break;
        }
        refused++;
    }
    assert_true(refused > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_zeroed_aligned_and_apart),
        cmocka_unit_test(default_allocator_gives_zeroed_memory_too),
        cmocka_unit_test(strings_are_copied_and_ended),
        cmocka_unit_test(overflowing_products_are_limit_errors),
        cmocka_unit_test(memory_limit_counts_everything_and_is_named),
        cmocka_unit_test(huge_allocations_within_the_limit_do_not_reserve_first),
        cmocka_unit_test(first_failure_is_what_status_and_finish_tell),
        cmocka_unit_test(finish_refuses_missing_arguments_and_a_second_call),
        cmocka_unit_test(missing_arrays_are_argument_errors),
        cmocka_unit_test(asset_outlives_its_builder),
        cmocka_unit_test(empty_model_is_an_asset),
        cmocka_unit_test(every_failed_allocation_is_a_clean_memory_error),
        cmocka_unit_test(every_memory_limit_is_a_clean_limit_error),
    };
    return cmocka_run_group_tests_name("builder", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// What a record costs, in counts: nothing where nothing moved, and as much as what moved in a scene of any size.
#include "peltt_vk_scene.h"
#include "peltt_vk_tap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    JOINT_COUNT = 8,
    VERTEX_COUNT = 65, // two items of 64
    MOST_INSTANCES = 10000,
    WARM_UP = 12 // frames, after which rings and lists have the size that they keep
};

// Many instances of one mesh, each with a palette of its own and one morph target.
typedef struct crowd {
    peltt_vk_stage stage;
    peltt_vk_model *model;
    uint32_t count;
    pelt_vk_palette palettes[MOST_INSTANCES];
    pelt_vk_instance instances[MOST_INSTANCES];
    peltt_random random;
} crowd;

static crowd *gather(uint32_t count)
{
    pelt_error error = {0};
    crowd *c = calloc(1, sizeof *c);
    assert_non_null(c);
    const pelt_vk_scene_options options = {.item_vertices = 64, .allow_conservative = true};
    peltt_vk_stage_open(&c->stage, NULL, &options, peltt_vk_tap_install);
    const peltt_vk_shape shape = {
        .vertex_count = VERTEX_COUNT, .influence_count = 4, .joint_count = JOINT_COUNT, .target_count = 1};
    c->model = peltt_vk_model_make(&shape, 61);
    c->count = count;
    c->random.state = 67;
    pelt_vk_instance_options instance = {.bounds = PELT_VK_BOUNDS_BOTH};
    pelt_vk_skin skin;
    peltt_vk_good(pelt_vk_mesh_add(c->stage.scene, c->model->data, 0, &instance.mesh, &error), &error);
    peltt_vk_good(pelt_vk_skin_add(c->stage.scene, c->model->binds, JOINT_COUNT, &skin, &error), &error);
    for (uint32_t i = 0; i < count; i++) {
        peltt_vk_good(pelt_vk_palette_add(c->stage.scene, skin, &c->palettes[i], &error), &error);
        instance.palette = c->palettes[i];
        peltt_vk_good(pelt_vk_instance_add(c->stage.scene, &instance, &c->instances[i], &error), &error);
    }
    return c;
}

static void leave(crowd *c)
{
    peltt_vk_stage_close(&c->stage);
    peltt_vk_model_free(c->model);
    free(c);
}

static void move(crowd *c, uint32_t first, uint32_t count)
{
    pelt_error error = {0};
    for (uint32_t i = first; i < first + count; i++) {
        pelt_mat34 *worlds = NULL;
        peltt_vk_good(pelt_vk_palette_write(c->stage.scene, c->palettes[i], &worlds, &error), &error);
        peltt_vk_worlds(&c->random, true, JOINT_COUNT, worlds);
    }
}

// One frame, run and retired; peltt_vk_tap_state has its commands.
static pelt_vk_statistics play(crowd *c)
{
    pelt_error error = {0};
    pelt_vk_statistics statistics = {0};
    VkCommandBuffer cmd = peltt_vk_begin(&c->stage.vk);
    peltt_vk_tap_state.command_count = 0;
    peltt_vk_tap_state.region_count = 0;
    peltt_vk_good(pelt_vk_record(c->stage.scene, cmd, ++c->stage.frame, &statistics, &error), &error);
    peltt_vk_run(&c->stage.vk, cmd);
    pelt_vk_retire(c->stage.scene, c->stage.frame);
    return statistics;
}

static uint32_t commands_of(peltt_vk_tap_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < peltt_vk_tap_state.command_count; i++) {
        count += peltt_vk_tap_state.commands[i].kind == kind;
    }
    return count;
}

static void what_did_not_move_costs_nothing(void **state)
{
    (void)state;
    crowd *c = gather(300);
    pelt_vk_statistics first = play(c);
    assert_int_equal(first.instance_count, 300);
    for (int i = 0; i < 3; i++) {
        const pelt_vk_statistics s = play(c);
        assert_true(peltt_vk_is_nothing(&s));
        assert_int_equal(peltt_vk_tap_state.command_count, 0);
    }
    // Neither do the weights, the palette and the pose of nothing that changed.
    const float zero = 0.0F;
    assert_int_equal(pelt_vk_instance_set_weights(c->stage.scene, c->instances[5], &zero, 1), PELT_OK);
    pelt_vk_statistics s = play(c);
    assert_true(peltt_vk_is_nothing(&s));
    leave(c);
}

static void statistics_tell_what_was_done(void **state)
{
    (void)state;
    crowd *c = gather(100);
    play(c);
    move(c, 10, 7);
    const pelt_vk_statistics s = play(c);
    assert_int_equal(s.palette_count, 7);
    assert_int_equal(s.joint_count, 7 * JOINT_COUNT);
    assert_int_equal(s.instance_count, 7);
    assert_int_equal(s.item_count, 14);
    assert_int_equal(s.vertex_count, 7 * VERTEX_COUNT);
    assert_int_equal(s.reduced_count, 7);
    assert_int_equal(s.conservative_count, 7);
    assert_int_equal(s.copied_bytes, 0);
    assert_true(s.written_bytes >= 7 * JOINT_COUNT * sizeof(pelt_mat34));
    assert_int_equal(s.dispatch_count, commands_of(PELTT_VK_TAP_DISPATCH));
    assert_int_equal(s.barrier_count, commands_of(PELTT_VK_TAP_BARRIER));
    // One instance more, by its weight alone: its palette stays.
    const float half = 0.5F;
    assert_int_equal(pelt_vk_instance_set_weights(c->stage.scene, c->instances[3], &half, 1), PELT_OK);
    const pelt_vk_statistics w = play(c);
    assert_int_equal(w.palette_count + w.joint_count, 0);
    assert_int_equal(w.instance_count, 1);
    assert_true(w.copied_bytes > 0 && w.copied_bytes < 1024);
    assert_true(w.written_bytes >= w.copied_bytes && w.written_bytes < 2048);
    leave(c);
}

static void assert_same(const pelt_vk_statistics *a, const pelt_vk_statistics *b)
{
    assert_int_equal(a->palette_count, b->palette_count);
    assert_int_equal(a->joint_count, b->joint_count);
    assert_int_equal(a->instance_count, b->instance_count);
    assert_int_equal(a->item_count, b->item_count);
    assert_int_equal(a->written_bytes, b->written_bytes);
    assert_int_equal(a->copied_bytes, b->copied_bytes);
    assert_int_equal(a->dispatch_count, b->dispatch_count);
    assert_int_equal(a->barrier_count, b->barrier_count);
}

static void the_cost_depends_on_what_moved_alone(void **state)
{
    (void)state;
    static const uint32_t moved[] = {1, 10, 100};
    crowd *c = NULL;
    pelt_vk_statistics small[3];
    uint32_t commands[3];
    for (int large = 0; large < 2; large++) {
        c = gather(large ? MOST_INSTANCES : 100);
        play(c);
        for (int k = 0; k < 3; k++) {
            move(c, large ? 7000 : 0, moved[k]);
            const pelt_vk_statistics s = play(c);
            assert_int_equal(s.joint_count, moved[k] * JOINT_COUNT);
            assert_int_equal(s.instance_count, moved[k]);
            if (large) {
                assert_same(&s, &small[k]);
                assert_int_equal(peltt_vk_tap_state.command_count, commands[k]);
            }
            small[k] = s;
            commands[k] = peltt_vk_tap_state.command_count;
        }
        leave(c);
    }
    assert_int_equal(commands[0], commands[2]);
    // Matrices; then 40 bytes a palette, 16 for each of two slices, 12 and 4 for the boxes.
    assert_true(small[2].written_bytes <= 100 * (JOINT_COUNT * sizeof(pelt_mat34) + 88));
}

static void commands_do_not_depend_on_the_number_of_instances(void **state)
{
    (void)state;
    uint32_t commands[2];
    for (int large = 0; large < 2; large++) {
        crowd *c = gather(large ? MOST_INSTANCES : 1);
        play(c);
        pelt_vk_statistics s = {0};
        for (int i = 0; i < 3; i++) { // until the list of work items is kept
            move(c, 0, c->count);
            s = play(c);
        }
        assert_int_equal(s.instance_count, c->count);
        commands[large] = peltt_vk_tap_state.command_count;
        assert_true(commands[large] > 0 && commands[large] <= PELTT_VK_TAP_CAPACITY);
        leave(c);
    }
    assert_int_equal(commands[0], commands[1]);
}

static void a_steady_scene_allocates_nothing(void **state)
{
    (void)state;
    crowd *c = gather(500);
    for (int i = 0; i < WARM_UP; i++) {
        move(c, 0, 500);
        play(c);
    }
    uint64_t host_calls = c->stage.memory.call_count;
    uint32_t device_calls = peltt_vk_tap_state.call_count;
    uint64_t bytes = c->stage.memory.live_bytes;
    for (int i = 0; i < WARM_UP; i++) {
        move(c, 0, i % 2 == 0 ? 500 : 20);
        play(c);
    }
    assert_int_equal(c->stage.memory.call_count, host_calls);
    assert_int_equal(c->stage.memory.live_bytes, bytes);
    assert_int_equal(peltt_vk_tap_state.call_count, device_calls);
    leave(c);
}

static void instances_of_one_palette_share_its_matrices(void **state)
{
    (void)state;
    crowd *c = gather(200);
    play(c);
    for (uint32_t i = 1; i < 200; i++) {
        assert_int_equal(pelt_vk_instance_set_palette(c->stage.scene, c->instances[i], c->palettes[0]), PELT_OK);
    }
    play(c);
    move(c, 0, 1);
    const pelt_vk_statistics s = play(c);
    assert_int_equal(s.palette_count, 1);
    assert_int_equal(s.joint_count, JOINT_COUNT);
    assert_int_equal(s.instance_count, 200);
    assert_true(s.written_bytes < 200 * 64 + JOINT_COUNT * sizeof(pelt_mat34));
    leave(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_did_not_move_costs_nothing),
        cmocka_unit_test(statistics_tell_what_was_done),
        cmocka_unit_test(the_cost_depends_on_what_moved_alone),
        cmocka_unit_test(commands_do_not_depend_on_the_number_of_instances),
        cmocka_unit_test(a_steady_scene_allocates_nothing),
        cmocka_unit_test(instances_of_one_palette_share_its_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Timestamps of a record: all of them in every record that succeeds, in order, and no query beside them.
#include "peltt_vk_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum {
    FIRST = 2, // query
    QUERY_COUNT = PELT_VK_TIMESTAMP_COUNT + 2 * FIRST
};

typedef struct timed {
    peltt_vk_stage stage;
    VkQueryPool pool;
    peltt_vk_model *model;
    peltt_vk_actor actor;
    peltt_random random;
} timed;

static uint32_t timestamp_bits(const peltt_vk *vk)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties get =
        (PFN_vkGetPhysicalDeviceQueueFamilyProperties)vk->physical.get_instance_proc_addr(
            vk->physical.instance, "vkGetPhysicalDeviceQueueFamilyProperties");
    get(vk->physical.device, &count, families);
    return families[vk->queue_family].timestampValidBits;
}

// One actor of two items, so that its exact box needs the second step.
static void open_timed(timed *t, uint32_t api_version)
{
    const pelt_vk_scene_options options = {.item_vertices = 64, .bounds = PELT_VK_BOUNDS_BOTH};
    const peltt_vk_shape shape = {.vertex_count = 65, .influence_count = 4, .joint_count = 8, .target_count = 1};
    *t = (timed){.random = {.state = 5}};
    peltt_vk_stage_open(&t->stage, &(peltt_vk_options){.api_version = api_version}, &options, NULL);
    if (timestamp_bits(&t->stage.vk) == 0) {
        peltt_vk_stage_close(&t->stage);
        print_message("the queue family has no timestamps\n");
        skip();
    }
    VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                  .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                  .queryCount = QUERY_COUNT};
    assert_int_equal(PELTT_VK(&t->stage.vk, vkCreateQueryPool)(t->stage.vk.device, &info, NULL, &t->pool), VK_SUCCESS);
    t->model = peltt_vk_model_make(&shape, 71);
    peltt_vk_actor_add(&t->stage, &t->actor, t->model, &(pelt_vk_instance_options){.bounds = PELT_VK_BOUNDS_BOTH});
}

static void close_timed(timed *t)
{
    PELTT_VK(&t->stage.vk, vkDestroyQueryPool)(t->stage.vk.device, t->pool, NULL);
    peltt_vk_actor_remove(&t->stage, &t->actor);
    peltt_vk_stage_close(&t->stage);
    peltt_vk_model_free(t->model);
}

// Runs a record and expects all timestamps of it, or none.
static pelt_vk_statistics play_without(timed *t, uint64_t frame, uint32_t left_out, pelt_result expected)
{
    peltt_vk *vk = &t->stage.vk;
    const pelt_vk_timestamps timestamps = {t->pool, FIRST, left_out};
    pelt_vk_statistics statistics;
    pelt_error error = {0};
    VkCommandBuffer cmd = peltt_vk_begin(vk);
    PELTT_VK(vk, vkCmdResetQueryPool)(cmd, t->pool, 0, QUERY_COUNT);
    pelt_result result = pelt_vk_record_timed(t->stage.scene, cmd, frame, &timestamps, &statistics, &error);
    assert_int_equal(result, expected);
    peltt_vk_run(vk, cmd);
    pelt_vk_retire(t->stage.scene, t->stage.frame);
    uint64_t results[QUERY_COUNT][2]; // value and whether it is there
    VkResult got = PELTT_VK(vk, vkGetQueryPoolResults)(vk->device, t->pool, 0, QUERY_COUNT, sizeof results, results, 16,
                                                       VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
    assert_true(got >= VK_SUCCESS);
    uint64_t last = 0;
    for (uint32_t i = 0; i < QUERY_COUNT; i++) {
        bool own = i >= FIRST && i < FIRST + PELT_VK_TIMESTAMP_COUNT && (left_out >> (i - FIRST) & 1U) == 0;
        assert_int_equal(results[i][1] != 0, own && expected == PELT_OK);
        if (own && expected == PELT_OK) {
            assert_true(results[i][0] >= last);
            last = results[i][0];
        }
    }
    peltt_vk_check(vk);
    return statistics;
}

static pelt_vk_statistics play(timed *t, uint64_t frame, pelt_result expected)
{
    return play_without(t, frame, 0, expected);
}

static void every_timestamp_is_written_in_order(void **state)
{
    (void)state;
    static const uint32_t versions[] = {VK_API_VERSION_1_2, VK_API_VERSION_1_3};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        timed t;
        open_timed(&t, versions[i]);
        peltt_vk_actor_move(&t.stage, &t.actor, true, &t.random);
        pelt_vk_statistics s = play(&t, ++t.stage.frame, PELT_OK);
        assert_int_equal(s.dispatch_count, 4); // the list is short, so the CPU writes it
        assert_true(s.copied_bytes > 0);
        assert_int_equal(pelt_vk_instance_teleport(t.stage.scene, t.actor.instance), PELT_OK);
        s = play(&t, ++t.stage.frame, PELT_OK); // no palettes and no copies
        assert_int_equal(s.palette_count + s.copied_bytes, 0);
        assert_int_equal(s.instance_count, 1);
        s = play(&t, ++t.stage.frame, PELT_OK); // nothing
        assert_true(peltt_vk_is_nothing(&s));
        close_timed(&t);
    }
}

static void timestamps_are_left_out(void **state)
{
    (void)state;
    timed t;
    open_timed(&t, 0);
    for (uint32_t i = 0; i < PELT_VK_TIMESTAMP_COUNT; i++) {
        peltt_vk_actor_move(&t.stage, &t.actor, true, &t.random);
        play_without(&t, ++t.stage.frame, 1U << i, PELT_OK);
    }
    play_without(&t, ++t.stage.frame, UINT32_MAX, PELT_OK); // nothing to do, and all left out
    close_timed(&t);
}

static void a_refused_record_writes_none(void **state)
{
    (void)state;
    timed t;
    open_timed(&t, 0);
    play(&t, ++t.stage.frame, PELT_OK);
    play(&t, t.stage.frame, PELT_ERROR_ARGUMENT);
    close_timed(&t);
}

static void a_null_pool_means_no_timestamps(void **state)
{
    (void)state;
    timed t;
    open_timed(&t, 0);
    VkCommandBuffer cmd = peltt_vk_begin(&t.stage.vk);
    const pelt_vk_timestamps none = {0};
    pelt_vk_statistics statistics;
    assert_int_equal(pelt_vk_record_timed(t.stage.scene, cmd, ++t.stage.frame, &none, &statistics, NULL), PELT_OK);
    assert_int_equal(statistics.instance_count, 1);
    peltt_vk_run(&t.stage.vk, cmd);
    pelt_vk_retire(t.stage.scene, t.stage.frame);
    close_timed(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_timestamp_is_written_in_order),
        cmocka_unit_test(timestamps_are_left_out),
        cmocka_unit_test(a_refused_record_writes_none),
        cmocka_unit_test(a_null_pool_means_no_timestamps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

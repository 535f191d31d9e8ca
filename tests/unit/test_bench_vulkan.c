// SPDX-License-Identifier: MIT
// The designs that `pelt bench` compares the pass with: each comes to the sums that double precision gives, on meshes
// around the size of a workgroup.
#include "peltt_vk_designs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// By their place in the list, which a test looks at.
enum {
    GROUPS = 3,
    VERTEX_SHADER = 4
};

static void the_list_is_complete(void **state)
{
    (void)state;
    static const char *const names[] = {"tutorial", "atomics", "wave_atomics", "groups", "vertex_shader"};
    assert_int_equal(baseline_vk_contender_count, sizeof names / sizeof *names);
    for (uint32_t i = 0; i < baseline_vk_contender_count; i++) {
        assert_string_equal(baseline_vk_contenders[i]->name, names[i]);
        assert_true(strlen(baseline_vk_contenders[i]->what) > 0);
    }
}

// The largest has more groups of 64 than a workgroup has threads.
static const uint32_t sizes[] = {1, 16, 63, 64, 65, 200, 1, 128, 16, 4200};

enum {
    SIZE_COUNT = sizeof sizes / sizeof *sizes
};

// The check of a design's sums takes its own word for the weights, so they are looked at here: near what was given, and
// of sum one.
static void packed_weights_stay_near_and_sum_to_one(void **state)
{
    (void)state;
    static const double most[] = {[GROUPS] = 1.0 / 1024.0, [VERTEX_SHADER] = 1.0 / 65535.0};
    peltt_random random = {11};
    for (uint32_t c = GROUPS; c <= VERTEX_SHADER; c++) {
        assert_non_null(baseline_vk_contenders[c]->weights);
        for (uint32_t i = 0; i < 2000; i++) {
            uint16_t joints[4];
            float given[4];
            float used[4];
            peltt_vk_design_influences(&random, 20, joints, given);
            baseline_vk_contenders[c]->weights(given, used);
            double sum = 0;
            for (uint32_t k = 0; k < 4; k++) {
                assert_true(used[k] >= 0.0F && fabs((double)used[k] - (double)given[k]) <= most[c] + 1e-7);
                sum += (double)used[k];
            }
            assert_true(fabs(sum - 1.0) <= 2e-7);
        }
    }
}

static void every_design_comes_to_the_sums_of_double_precision(void **state)
{
    (void)state;
    peltt_vk_design_scene made;
    peltt_vk_design_make(1, sizes, SIZE_COUNT, 20, &made);
    peltt_vk_design_check_all(&made, true);
    peltt_vk_design_free(&made);
}

static void without_bounds_the_rest_is_the_same(void **state)
{
    (void)state;
    peltt_vk_design_scene made;
    peltt_vk_design_make(2, sizes, SIZE_COUNT, 3, &made);
    peltt_vk_design_check_all(&made, false);
    peltt_vk_design_free(&made);
}

static void joints_need_more_than_8_bits(void **state)
{
    (void)state;
    peltt_vk_design_scene made;
    peltt_vk_design_make(3, sizes, SIZE_COUNT, 400, &made);
    peltt_vk_design_check_all(&made, true);
    peltt_vk_design_free(&made);
}

static void one_vertex_and_one_instance(void **state)
{
    (void)state;
    const uint32_t size = 1;
    peltt_vk_design_scene made;
    peltt_vk_design_make(4, &size, 1, 1, &made);
    made.scene.instance_count = 1;
    peltt_vk_design_check_all(&made, true);
    peltt_vk_design_free(&made);
}

// More workgroups than a row of the grid has on devices that allow no more than they must, 65,535.
static void many_instances_take_several_rows(void **state)
{
    (void)state;
    enum {
        COUNT = 66000
    };
    const uint32_t three[] = {1, 3, 2};
    peltt_vk_design_scene made;
    peltt_vk_design_make(5, three, 3, 4, &made);
    free(made.instances);
    made.instances = peltt_vk_design_allocate(COUNT, sizeof *made.instances);
    for (uint32_t i = 0; i < COUNT; i++) {
        made.instances[i] = (baseline_vk_instance){i % 3, i % 5};
    }
    made.scene.instances = made.instances;
    made.scene.instance_count = COUNT;
    peltt_vk vk;
    peltt_vk_create(&vk, NULL);
    void *groups = peltt_vk_design_run(&vk, baseline_vk_contenders[GROUPS], &made.scene, true);
    for (uint32_t i = 0; i < COUNT; i += i < 65400 || i > 65600 ? 997 : 31) {
        peltt_vk_design_check_instance(baseline_vk_contenders[GROUPS], groups, &made, i, true);
    }
    peltt_vk_design_check_instance(baseline_vk_contenders[GROUPS], groups, &made, COUNT - 1, true);
    baseline_vk_contenders[GROUPS]->destroy(groups);
    peltt_vk_destroy(&vk);
    peltt_vk_design_free(&made);
}

// What is published: 336 bytes read and 48 written, 564 read, 220 read. One instance needs no search but its record.
static void requested_bytes_are_those_published(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double bytes;
        double record; // most that finding out about the instance may cost
    } wanted[] = {
        {"tutorial", 336 + 48, 0}, {"atomics", 564 + 20, 16}, {"wave_atomics", 564 + 20, 16}, {"groups", 220 + 20, 24}};
    const uint32_t size = 256;
    peltt_vk_design_scene made;
    peltt_vk_design_make(6, &size, 1, 20, &made);
    made.scene.instance_count = 1;
    peltt_vk vk;
    peltt_vk_create(&vk, NULL);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const baseline_vk_contender *contender = baseline_vk_contenders[i];
        assert_string_equal(contender->name, wanted[i].name);
        void *made_state = peltt_vk_design_run(&vk, contender, &made.scene, false);
        double bytes = contender->requested_bytes(made_state);
        assert_true(bytes >= wanted[i].bytes && bytes <= wanted[i].bytes + wanted[i].record);
        contender->destroy(made_state);
    }
    peltt_vk_destroy(&vk);
    peltt_vk_design_free(&made);
}

static void require_graphics(peltt_vk *vk)
{
    if (!peltt_vk_design_device(vk).has_graphics) {
        peltt_vk_destroy(vk);
        skip();
    }
}

// Streams of draw_skinned hold each instance's mesh as it was given, in 20 bytes.
static void drawing_what_was_skinned_moves_nothing(void **state)
{
    (void)state;
    peltt_vk_design_scene made;
    peltt_vk vk;
    peltt_vk_create(&vk, NULL);
    require_graphics(&vk);
    peltt_vk_design_make(8, sizes, SIZE_COUNT, 1, &made);
    for (uint32_t i = 0; i < made.first_matrices[5]; i++) {
        made.matrices[i] = pelt_mat34_identity(); // what it must come to, for the check alone
    }
    void *drawn = peltt_vk_design_run(&vk, &baseline_vk_draw_skinned, &made.scene, false);
    for (uint32_t i = 0; i < made.scene.instance_count; i++) {
        peltt_vk_design_check_instance(&baseline_vk_draw_skinned, drawn, &made, i, false);
    }
    baseline_vk_draw_skinned.destroy(drawn);
    peltt_vk_destroy(&vk);
    peltt_vk_design_free(&made);
}

static void passes_are_asked_for_and_counted(void **state)
{
    (void)state;
    const baseline_vk_contender *both[] = {baseline_vk_contenders[VERTEX_SHADER], &baseline_vk_draw_skinned};
    static const double bytes[] = {36 + 4 + 192, 20};
    peltt_vk_design_scene made;
    peltt_vk vk;
    peltt_vk_create(&vk, NULL);
    require_graphics(&vk);
    peltt_vk_design_make(9, sizes, SIZE_COUNT, 4, &made);
    for (size_t i = 0; i < 2; i++) {
        void *made_state = peltt_vk_design_run(&vk, both[i], &made.scene, false);
        assert_true(both[i]->requested_bytes(made_state) == bytes[i]);
        baseline_vk_vertex_shader_passes(made_state, 3);
        assert_true(both[i]->requested_bytes(made_state) == 3 * bytes[i]);
        VkCommandBuffer commands = peltt_vk_begin(&vk);
        both[i]->record(made_state, commands);
        peltt_vk_run(&vk, commands);
        both[i]->destroy(made_state);
        peltt_vk_check(&vk);
    }
    peltt_vk_destroy(&vk);
    peltt_vk_design_free(&made);
}

static void a_queue_without_graphics_draws_nothing(void **state)
{
    (void)state;
    peltt_vk_design_scene made;
    peltt_vk vk;
    peltt_vk_create(&vk, NULL);
    peltt_vk_design_make(10, sizes, 1, 4, &made);
    baseline_vk_device device = peltt_vk_design_device(&vk);
    device.has_graphics = false;
    char message[BASELINE_VK_MESSAGE_SIZE] = "";
    void *made_state = &made;
    assert_false(baseline_vk_draw_skinned.create(&device, &made.scene, false, &made_state, message));
    assert_null(made_state);
    assert_non_null(strstr(message, "graphics"));
    peltt_vk_destroy(&vk);
    peltt_vk_design_free(&made);
}

// 2^31 vertices are refused before anything of them is read.
static void a_scene_over_a_limit_is_refused_with_a_reason(void **state)
{
    (void)state;
    const uint32_t size = 1;
    peltt_vk_design_scene made;
    peltt_vk_design_make(7, &size, 1, 1, &made);
    made.meshes[0].vertex_count = 0x80000000U;
    peltt_vk vk;
    peltt_vk_create(&vk, NULL);
    baseline_vk_device device = peltt_vk_design_device(&vk);
    for (uint32_t c = 0; c < baseline_vk_contender_count; c++) {
        if (!peltt_vk_design_can_run(baseline_vk_contenders[c], &device)) {
            continue;
        }
        char message[BASELINE_VK_MESSAGE_SIZE] = "";
        void *made_state = &made;
        assert_false(baseline_vk_contenders[c]->create(&device, &made.scene, true, &made_state, message));
        assert_null(made_state);
        assert_non_null(strstr(message, "vertices"));
    }
    peltt_vk_destroy(&vk);
    peltt_vk_design_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_is_complete),
        cmocka_unit_test(packed_weights_stay_near_and_sum_to_one),
        cmocka_unit_test(every_design_comes_to_the_sums_of_double_precision),
        cmocka_unit_test(without_bounds_the_rest_is_the_same),
        cmocka_unit_test(joints_need_more_than_8_bits),
        cmocka_unit_test(one_vertex_and_one_instance),
        cmocka_unit_test(many_instances_take_several_rows),
        cmocka_unit_test(requested_bytes_are_those_published),
        cmocka_unit_test(drawing_what_was_skinned_moves_nothing),
        cmocka_unit_test(passes_are_asked_for_and_counted),
        cmocka_unit_test(a_queue_without_graphics_draws_nothing),
        cmocka_unit_test(a_scene_over_a_limit_is_refused_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

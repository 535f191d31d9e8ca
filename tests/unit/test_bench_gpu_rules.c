// SPDX-License-Identifier: MIT
// The scene options that `pelt bench --tune` recommends, by times that are given here.
#include "bench_gpu_tune.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bench_statistics spread_evenly(double median, double between_quartiles)
{
    return (bench_statistics){.median = median,
                              .quartiles = {median - between_quartiles / 2, median + between_quartiles / 2},
                              .least = median - between_quartiles,
                              .most = median + between_quartiles};
}

// Meshes of 16, 32, 64, ... vertices. The pass takes 100 without boxes and 102 with boxes of joints; exact ones take
// more[i] than those. noise: between the quartiles of each.
static tune_result over_sizes(const double more[], const double noise[], uint32_t count)
{
    tune_result t = {.size_count = count};
    for (uint32_t i = 0; i < count; i++) {
        t.sizes[i].vertex_count = 16U << i;
        t.sizes[i].ms[TUNE_NONE] = spread_evenly(100, noise[i]);
        t.sizes[i].ms[TUNE_JOINTS] = spread_evenly(102, noise[i]);
        t.sizes[i].ms[TUNE_EXACT] = spread_evenly(102 + more[i], noise[i]);
    }
    tune_choose_bounds(&t);
    return t;
}

static void assert_rule(const tune_result *t, uint32_t index, uint32_t vertex_count, pelt_vk_bounds bounds)
{
    assert_true(index < t->rule_count);
    assert_int_equal(t->rules[index].vertex_count, vertex_count);
    assert_int_equal(t->rules[index].bounds, bounds);
}

static const double quiet[8] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};

static void sizes_that_all_cost_little_are_one_exact_rule(void **unused)
{
    (void)unused;
    const double more[4] = {-40, 0, 2.9, 3};
    const tune_result t = over_sizes(more, quiet, 4);
    assert_int_equal(t.rule_count, 1);
    assert_rule(&t, 0, UINT32_MAX, PELT_VK_BOUNDS_EXACT);
}

static void sizes_that_all_cost_much_are_one_conservative_rule(void **unused)
{
    (void)unused;
    const double more[4] = {3.1, 4, 50, 5};
    const tune_result t = over_sizes(more, quiet, 4);
    assert_int_equal(t.rule_count, 1);
    assert_rule(&t, 0, UINT32_MAX, PELT_VK_BOUNDS_CONSERVATIVE);
}

static void a_crossing_is_exact_up_to_the_first_size_that_was_dearer(void **unused)
{
    (void)unused;
    const double more[5] = {-20, -5, 1, 4, 8};
    const tune_result t = over_sizes(more, quiet, 5);
    assert_int_equal(t.rule_count, 2);
    assert_rule(&t, 0, 127, PELT_VK_BOUNDS_EXACT); // conservative at 128
    assert_rule(&t, 1, UINT32_MAX, PELT_VK_BOUNDS_CONSERVATIVE);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(t.sizes[i].bounds, i < 3 ? PELT_VK_BOUNDS_EXACT : PELT_VK_BOUNDS_CONSERVATIVE);
    }
}

static void a_crossing_downwards_is_conservative_up_to_the_last_size_that_was_dearer(void **unused)
{
    (void)unused;
    const double more[5] = {9, 8, 1, 1, 1};
    const tune_result t = over_sizes(more, quiet, 5);
    assert_int_equal(t.rule_count, 2);
    assert_rule(&t, 0, 32, PELT_VK_BOUNDS_CONSERVATIVE);
    assert_rule(&t, 1, UINT32_MAX, PELT_VK_BOUNDS_EXACT);
}

static void sizes_in_the_middle_make_three_rules(void **unused)
{
    (void)unused;
    const double more[6] = {1, 1, 9, 9, 1, 1};
    const tune_result t = over_sizes(more, quiet, 6);
    assert_int_equal(t.rule_count, 3);
    assert_rule(&t, 0, 63, PELT_VK_BOUNDS_EXACT);
    assert_rule(&t, 1, 128, PELT_VK_BOUNDS_CONSERVATIVE);
    assert_rule(&t, 2, UINT32_MAX, PELT_VK_BOUNDS_EXACT);
}

// 10 more, and quartiles that are 6 apart in each of the two: that may be chance.
static void noise_makes_no_rule(void **unused)
{
    (void)unused;
    const double more[6] = {1, 10, 1, 1, 10, 10};
    const double noise[6] = {0.1, 6, 0.1, 0.1, 6, 6};
    tune_result t = over_sizes(more, noise, 6);
    assert_int_equal(t.rule_count, 1);
    assert_rule(&t, 0, UINT32_MAX, PELT_VK_BOUNDS_EXACT);
    const double less_noise[6] = {0.1, 4.9, 0.1, 0.1, 4.9, 4.9};
    t = over_sizes(more, less_noise, 6);
    assert_int_equal(t.rule_count, 4);
}

// Whether the one in the middle seems dearer or not, its samples say nothing.
static void noise_does_not_interrupt_a_rule(void **unused)
{
    (void)unused;
    const double noise[6] = {0.1, 0.1, 8, 8, 0.1, 0.1};
    const double seems_dearer[6] = {9, 9, 9, 9, 9, 9};
    tune_result t = over_sizes(seems_dearer, noise, 6);
    assert_int_equal(t.rule_count, 1);
    assert_rule(&t, 0, UINT32_MAX, PELT_VK_BOUNDS_CONSERVATIVE);
    const double seems_cheaper[6] = {9, 9, -2, 1, 9, 9};
    t = over_sizes(seems_cheaper, noise, 6);
    assert_int_equal(t.rule_count, 1);
    const double at_the_ends[6] = {16, 0.1, 8, 0.1, 0.1, 16};
    t = over_sizes(seems_cheaper, at_the_ends, 6);
    assert_int_equal(t.rule_count, 3);
    assert_rule(&t, 0, 32, PELT_VK_BOUNDS_CONSERVATIVE);
    assert_rule(&t, 2, UINT32_MAX, PELT_VK_BOUNDS_CONSERVATIVE);
    const double really_cheaper[6] = {9, 9, -20, 1, 9, 9};
    t = over_sizes(really_cheaper, noise, 6);
    assert_int_equal(t.rule_count, 3);
    assert_rule(&t, 1, 255, PELT_VK_BOUNDS_EXACT); // the unsure one beside it is exact too
}

static void what_was_not_measured_is_exact(void **unused)
{
    (void)unused;
    const double more[3] = {9, 9, 9};
    tune_result t = over_sizes(more, quiet, 3);
    t.sizes[2].ms[TUNE_JOINTS] = (bench_statistics){0};
    tune_choose_bounds(&t);
    assert_int_equal(t.rule_count, 2);
    assert_rule(&t, 0, 32, PELT_VK_BOUNDS_CONSERVATIVE);
    assert_rule(&t, 1, UINT32_MAX, PELT_VK_BOUNDS_EXACT);
}

// ---- work items

static tune_result over_items(const double ms[][TUNE_ITEMS], uint32_t scene_count)
{
    tune_result t = {.scene_count = scene_count};
    for (uint32_t k = 0; k < scene_count; k++) {
        for (int i = 0; i < TUNE_ITEMS; i++) {
            t.scenes[k].ms[i] = spread_evenly(ms[k][i], 0);
        }
    }
    tune_choose_item(&t);
    return t;
}

// By the sum or the mean of times 64 would be best, for the slow scene alone.
static void items_go_by_the_geometric_mean(void **unused)
{
    (void)unused;
    const double ms[3][TUNE_ITEMS] = {{9, 10, 10, 10, 10}, {2, 2, 1, 2, 2}, {2, 2, 1, 2, 2}};
    const tune_result t = over_items(ms, 3);
    assert_int_equal(tune_item_vertices[t.best_item], 256);
    assert_float_equal(t.means[0], 3.3019272488946263, 1e-12); // the cube root of 36
    assert_float_equal(t.means[2], 2.1544346900318838, 1e-12); // and of 10
}

static void of_items_within_a_percent_the_largest_is_taken(void **unused)
{
    (void)unused;
    const double near_by[1][TUNE_ITEMS] = {{1.2, 1, 1.005, 1.0099, 1.0101}};
    assert_int_equal(tune_item_vertices[over_items(near_by, 1).best_item], 512);
    const double equal[1][TUNE_ITEMS] = {{1, 1, 1, 1, 1}};
    assert_int_equal(tune_item_vertices[over_items(equal, 1).best_item], 1024);
    const double rising[1][TUNE_ITEMS] = {{1, 1.02, 1.03, 1.04, 1.05}};
    assert_int_equal(tune_item_vertices[over_items(rising, 1).best_item], 64);
}

// The first scene says 64, and lacks a size.
static void scenes_that_lack_a_size_do_not_count(void **unused)
{
    (void)unused;
    const double ms[2][TUNE_ITEMS] = {{1, 9, 9, 9, 0}, {2, 2, 2, 2, 1}};
    const tune_result t = over_items(ms, 2);
    assert_int_equal(tune_item_vertices[t.best_item], 1024);
    assert_float_equal(t.means[0], 2, 1e-12);
    const tune_result none = over_items(ms, 1);
    assert_int_equal(none.best_item, TUNE_ITEMS);
    assert_true(none.means[0] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_all_cost_little_are_one_exact_rule),
        cmocka_unit_test(sizes_that_all_cost_much_are_one_conservative_rule),
        cmocka_unit_test(a_crossing_is_exact_up_to_the_first_size_that_was_dearer),
        cmocka_unit_test(a_crossing_downwards_is_conservative_up_to_the_last_size_that_was_dearer),
        cmocka_unit_test(sizes_in_the_middle_make_three_rules),
        cmocka_unit_test(noise_makes_no_rule),
        cmocka_unit_test(noise_does_not_interrupt_a_rule),
        cmocka_unit_test(what_was_not_measured_is_exact),
        cmocka_unit_test(items_go_by_the_geometric_mean),
        cmocka_unit_test(of_items_within_a_percent_the_largest_is_taken),
        cmocka_unit_test(scenes_that_lack_a_size_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

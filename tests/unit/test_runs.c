// SPDX-License-Identifier: MIT
// Vertex order and joint runs: what holds for any input, cases whose best runs are known, and hostile ones.
#include "peltt_random.h"
#include "peltt_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void order_and_check(peltt_runs *runs)
{
    assert_int_equal(peltt_runs_order(runs, 0), PELT_OK);
    peltt_runs_check(runs);
}

// The file's order, as 'before' reports it and as keep_order leaves it, for the same vertices; then the new order.
static void check_all_options(peltt_runs *runs)
{
    pelt_cook_options options = runs->options;
    for (int direct = 0; direct < 2; direct++) {
        runs->options.direct_joints = direct;
        runs->options.keep_order = true;
        order_and_check(runs);
        pelt_run_statistics before = peltt_runs_statistics(runs);
        uint64_t kept_cost = peltt_runs_cost(runs);
        assert_memory_equal(&runs->primitive.report.before, &before, sizeof before);
        runs->options.keep_order = false;
        order_and_check(runs);
        // In bytes, direct layouts depend on the vertices that stay.
        if (!direct || runs->primitive.report.dropped_vertex_count == 0) {
            assert_memory_equal(&runs->primitive.report.before, &before, sizeof before);
        }
        if (runs->primitive.report.dropped_vertex_count == 0) {
            assert_true(peltt_runs_cost(runs) <= kept_cost);
        }
    }
    runs->options = options;
}

// Vertices that take up to four of the joints [base, base + spread) that move with the vertex.
static void fill_random(peltt_runs *runs, peltt_random *random, uint32_t joint_count, uint32_t spread)
{
    for (uint32_t v = 0; v < runs->vertex_count; v++) {
        uint32_t bases = joint_count - spread + 1;
        uint32_t base = (uint32_t)((uint64_t)v * bases / (runs->vertex_count + 1));
        uint16_t joints[4];
        uint32_t class_index = peltt_random_below(random, 5);
        for (uint32_t slot = 0; slot < 4; slot++) {
            uint32_t joint = base + peltt_random_below(random, spread);
            joints[slot] = slot > 0 && slot > class_index ? joints[0] : (uint16_t)joint;
        }
        peltt_runs_set(runs, v, class_index, joints[0], joints[1], joints[2], joints[3]);
    }
}

static void shuffle(peltt_runs *runs, peltt_random *random)
{
    for (uint32_t v = runs->vertex_count; v > 1; v--) {
        uint32_t other = peltt_random_below(random, v);
        cook_vertex swapped = runs->vertices[v - 1];
        runs->vertices[v - 1] = runs->vertices[other];
        runs->vertices[other] = swapped;
    }
}

static void use_some(peltt_runs *runs, peltt_random *random, double share)
{
    runs->indices = calloc((size_t)runs->vertex_count * 2 + 1, sizeof *runs->indices);
    assert_non_null(runs->indices);
    for (uint32_t v = 0; v < runs->vertex_count; v++) {
        for (int i = 0; i < 2 && peltt_random_chance(random, share); i++) {
            runs->indices[runs->index_count++] = v;
        }
    }
}

static void runs_hold_for_random_meshes(void **state)
{
    (void)state;
    peltt_random random = {20261};
    for (int round = 0; round < 60; round++) {
        peltt_runs runs;
        peltt_runs_init(&runs, 1 + peltt_random_below(&random, 6000));
        uint32_t joint_count = 1 + peltt_random_below(&random, round % 3 == 0 ? 1000 : 60);
        uint32_t spread = 1 + peltt_random_below(&random, joint_count < 40 ? joint_count : 40);
        fill_random(&runs, &random, joint_count, spread);
        if (round % 2 == 0) {
            shuffle(&runs, &random);
        }
        if (round % 4 >= 2) {
            use_some(&runs, &random, peltt_random_unit(&random));
        }
        check_all_options(&runs);
        peltt_runs_destroy(&runs);
    }
}

static void runs_hold_at_every_size_near_a_border(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 1, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2047, 2048, 2049};
    static const uint32_t spreads[] = {1, 4, 16, 17, 32, 33, 300};
    peltt_random random = {7};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t k = 0; k < sizeof spreads / sizeof spreads[0]; k++) {
            peltt_runs runs;
            peltt_runs_init(&runs, sizes[i]);
            fill_random(&runs, &random, 300, spreads[k]);
            check_all_options(&runs);
            peltt_runs_destroy(&runs);
        }
    }
}

static void no_vertices_make_no_runs(void **state)
{
    (void)state;
    peltt_runs runs;
    peltt_runs_init(&runs, 5);
    runs.indices = calloc(1, sizeof *runs.indices); // there are indices, but none
    assert_non_null(runs.indices);
    order_and_check(&runs);
    assert_int_equal(runs.primitive.out.vertex_count, 0);
    assert_int_equal(runs.primitive.out.run_count, 0);
    assert_int_equal(runs.primitive.report.dropped_vertex_count, 5);
    assert_int_equal(runs.primitive.report.before.run_count, 1);
    assert_int_equal(runs.primitive.report.before.class_counts[0], 5);
    peltt_runs_destroy(&runs);
}

static void equal_vertices_make_full_runs_in_file_order(void **state)
{
    (void)state;
    peltt_runs runs;
    peltt_runs_init(&runs, 5000);
    for (uint32_t v = 0; v < 5000; v++) {
        peltt_runs_set(&runs, v, 0, 65535, 65535, 65535, 65535);
    }
    order_and_check(&runs);
    assert_int_equal(runs.primitive.out.run_count, 5);
    assert_int_equal(runs.primitive.out.run_joint_count, 5);
    for (uint32_t v = 0; v < 5000; v++) {
        assert_int_equal(runs.primitive.out.source_vertices[v], v);
    }
    peltt_runs_destroy(&runs);
}

// Two limbs of 16 joints whose vertices alternate: in file order every block needs all 32.
static void limbs_are_told_apart(void **state)
{
    (void)state;
    peltt_random random = {99};
    peltt_runs runs;
    peltt_runs_init(&runs, 2048);
    for (uint32_t v = 0; v < 2048; v++) {
        uint32_t k = v / 2;
        uint32_t limb = v % 2;
        peltt_runs_set(&runs, v, 3, (uint16_t)(k % 16 * 2 + limb),
                       (uint16_t)(peltt_random_below(&random, 16) * 2 + limb),
                       (uint16_t)(peltt_random_below(&random, 16) * 2 + limb),
                       (uint16_t)(peltt_random_below(&random, 16) * 2 + limb));
    }
    order_and_check(&runs);
    assert_int_equal(runs.primitive.report.before.run_count, 2);
    assert_int_equal(runs.primitive.report.before.worst_joints, 32);
    assert_int_equal(runs.primitive.out.run_count, 2);
    for (uint32_t r = 0; r < 2; r++) {
        assert_int_equal(runs.primitive.out.runs[r].vertex_count, 1024);
        assert_int_equal(runs.primitive.out.runs[r].joint_count, 16);
    }
    peltt_runs_destroy(&runs);
}

// 1,024 vertices on one joint among 1,024 on four, that one included: apart, runs have 1 + 4 joints and one class each.
static void classes_get_their_own_runs_where_that_is_free(void **state)
{
    (void)state;
    peltt_runs runs;
    peltt_runs_init(&runs, 2048);
    for (uint32_t v = 0; v < 2048; v++) {
        if (v % 2 == 0) {
            peltt_runs_set(&runs, v, 0, 3, 3, 3, 3);
        } else {
            peltt_runs_set(&runs, v, 3, 3, 4, 5, 6);
        }
    }
    order_and_check(&runs);
    assert_int_equal(runs.primitive.out.run_count, 2);
    assert_int_equal(runs.primitive.out.run_joint_count, 5);
    assert_int_equal(runs.primitive.out.runs[0].class_counts[0], 1024);
    assert_int_equal(runs.primitive.out.runs[1].class_counts[3], 1024);
    peltt_runs_destroy(&runs);
}

// Three sets over the same three joints, each with both classes: runs by set and runs by class have the same lists.
static void equal_lists_go_to_runs_of_one_class(void **state)
{
    (void)state;
    static const uint16_t sets[3][3] = {{0, 1, 1}, {0, 1, 2}, {0, 2, 2}};
    peltt_random random = {8};
    peltt_runs runs;
    peltt_runs_init(&runs, 2048);
    for (uint32_t v = 0; v < 2048; v++) {
        const uint16_t *set = sets[v / 2 % 3];
        peltt_runs_set(&runs, v, v % 2 == 0 ? 3 : 4, set[0], set[1], set[2], set[0]);
    }
    shuffle(&runs, &random);
    order_and_check(&runs);
    assert_int_equal(runs.primitive.out.run_count, 2);
    assert_int_equal(runs.primitive.out.run_joint_count, 6);
    assert_int_equal(runs.primitive.out.runs[0].class_counts[3], 1024);
    assert_int_equal(runs.primitive.out.runs[1].class_counts[4], 1024);
    peltt_runs_destroy(&runs);
}

// Rigid vertices of 64 joints, 64 each, that stand along the skeleton in another order than in the skin: runs of 16
// neighbours in the skeleton are as good as any, and each joint is loaded once.
static void each_joint_is_loaded_once_where_blocks_allow(void **state)
{
    (void)state;
    peltt_random random = {4};
    peltt_runs runs;
    peltt_runs_init(&runs, 64 * 64);
    runs.skin_joints = calloc(65536, sizeof *runs.skin_joints);
    assert_non_null(runs.skin_joints);
    for (uint32_t j = 0; j < 65536; j++) {
        runs.skin_joints[j] = j < 64 ? (j * 37 + 11) % 64 : j;
    }
    for (uint32_t v = 0; v < 64 * 64; v++) {
        uint16_t joint = (uint16_t)(v / 64);
        peltt_runs_set(&runs, v, 0, joint, joint, joint, joint);
    }
    shuffle(&runs, &random);
    order_and_check(&runs);
    assert_int_equal(runs.primitive.out.run_count, 4);
    assert_int_equal(runs.primitive.out.run_joint_count, 64);
    peltt_runs_destroy(&runs);
}

// A set of 100 joints in each block: no list holds it. In bytes where the block allows, in 16 bits else.
static void crowded_blocks_become_direct(void **state)
{
    (void)state;
    peltt_runs runs;
    peltt_runs_init(&runs, 320);
    for (uint32_t v = 0; v < 320; v++) {
        uint16_t first = (uint16_t)(v < 128 ? v % 64 * 2 : v < 192 ? 5 : 1000 + v % 64 * 2);
        uint16_t second = (uint16_t)(v < 128 || v >= 192 ? first + 1 : 5);
        peltt_runs_set(&runs, v, 1, second, first, first, first);
    }
    runs.options.keep_order = true;
    order_and_check(&runs);
    assert_int_equal(runs.primitive.out.run_count, 3);
    assert_int_equal(runs.primitive.out.runs[0].layout, PELT_JOINTS_DIRECT8);
    assert_int_equal(runs.primitive.out.runs[0].vertex_count, 128);
    assert_int_equal(runs.primitive.out.runs[1].layout, PELT_JOINTS_RUN);
    assert_int_equal(runs.primitive.out.runs[1].joint_count, 1);
    assert_int_equal(runs.primitive.out.runs[2].layout, PELT_JOINTS_DIRECT16);
    assert_int_equal(runs.primitive.report.after.direct_run_count, 2);
    assert_int_equal(runs.primitive.report.after.worst_joints, 128);
    peltt_runs_destroy(&runs);
}

// Joint 256 somewhere in the primitive: no run of it is in bytes.
static void direct_joints_are_bytes_only_where_all_fit(void **state)
{
    (void)state;
    for (uint32_t highest = 255; highest <= 256; highest++) {
        peltt_runs runs;
        peltt_runs_init(&runs, 3000);
        peltt_runs_set(&runs, 2999, 0, (uint16_t)highest, (uint16_t)highest, (uint16_t)highest, (uint16_t)highest);
        runs.options.direct_joints = true;
        for (int keep = 0; keep < 2; keep++) {
            runs.options.keep_order = keep;
            order_and_check(&runs);
            assert_int_equal(runs.primitive.out.runs[0].layout,
                             highest == 255 ? PELT_JOINTS_DIRECT8 : PELT_JOINTS_DIRECT16);
            assert_int_equal(runs.primitive.out.run_count, 3);
            assert_int_equal(runs.primitive.out.run_joint_count, 0);
        }
        peltt_runs_destroy(&runs);
    }
}

static uint32_t bit_count(uint64_t bits)
{
    uint32_t count = 0;
    for (; bits != 0; bits &= bits - 1) {
        count++;
    }
    return count;
}

// Cost of cutting after each block whose bit is set; UINT64_MAX where a run would break a rule.
static uint64_t cost_of_cuts(const uint64_t *block_joints, uint32_t block_count, uint32_t cuts)
{
    uint64_t cost = 0;
    uint64_t joints = 0;
    uint32_t narrow = 0;
    uint32_t size = 0;
    for (uint32_t b = 0; b < block_count; b++) {
        joints |= block_joints[b];
        narrow += bit_count(block_joints[b]) <= 16;
        size++;
        if (b + 1 < block_count && !(cuts >> b & 1)) {
            continue;
        }
        uint32_t joint_count = bit_count(joints);
        bool kinds_mixed = narrow != 0 && narrow != size;
        if (joint_count > (narrow ? 16 : 32) || kinds_mixed || size > 16) {
            return UINT64_MAX;
        }
        cost += 4 + joint_count + (narrow ? 0 : 64 * size);
        joints = 0;
        narrow = 0;
        size = 0;
    }
    return cost;
}

// All 2^17 ways to cut 18 blocks, over up to 40 joints.
static void cuts_are_the_best_of_all(void **state)
{
    (void)state;
    enum {
        BLOCKS = 18
    };
    peltt_random random = {31};
    for (int round = 0; round < 6; round++) {
        peltt_runs runs;
        peltt_runs_init(&runs, BLOCKS * 64);
        uint64_t block_joints[BLOCKS] = {0};
        for (uint32_t b = 0; b < BLOCKS; b++) {
            uint32_t base = peltt_random_below(&random, 20);
            uint32_t spread = 1 + peltt_random_below(&random, round < 3 ? 12 : 21);
            for (uint32_t i = 0; i < 64; i++) {
                uint32_t joint = base + i % spread;
                peltt_runs_set(&runs, b * 64 + i, 0, (uint16_t)joint, (uint16_t)joint, (uint16_t)joint,
                               (uint16_t)joint);
                block_joints[b] |= (uint64_t)1 << joint;
            }
        }
        runs.options.keep_order = true;
        order_and_check(&runs);
        uint64_t best = UINT64_MAX;
        for (uint32_t cuts = 0; cuts < 1u << (BLOCKS - 1); cuts++) {
            uint64_t cost = cost_of_cuts(block_joints, BLOCKS, cuts);
            best = cost < best ? cost : best;
        }
        assert_int_equal(peltt_runs_cost(&runs), best);
        peltt_runs_destroy(&runs);
    }
}

// Every vertex its own set of joints: more groups than a window of growth holds, and more steps than it may take.
static void scattered_joints_stay_right(void **state)
{
    (void)state;
    static const uint32_t joint_counts[] = {20, 40, 100, 1000, 65536};
    for (size_t i = 0; i < sizeof joint_counts / sizeof joint_counts[0]; i++) {
        peltt_random random = {joint_counts[i]};
        peltt_runs runs;
        peltt_runs_init(&runs, 40000);
        for (uint32_t v = 0; v < 40000; v++) {
            uint16_t joints[4];
            for (int slot = 0; slot < 4; slot++) {
                joints[slot] = (uint16_t)peltt_random_below(&random, joint_counts[i]);
            }
            peltt_runs_set(&runs, v, peltt_random_below(&random, 5), joints[0], joints[1], joints[2], joints[3]);
        }
        order_and_check(&runs);
        peltt_runs_destroy(&runs);
    }
}

// Noisy weights around 60 joints along a line, shuffled: far more runs of 16 joints than any file order has.
static void shuffled_bodies_come_back_together(void **state)
{
    (void)state;
    peltt_random random = {12};
    peltt_runs runs;
    peltt_runs_init(&runs, 20000);
    fill_random(&runs, &random, 60, 6);
    shuffle(&runs, &random);
    order_and_check(&runs);
    const pelt_run_statistics *after = &runs.primitive.report.after;
    assert_true(runs.primitive.report.before.direct_run_count > 0);
    assert_int_equal(after->direct_run_count, 0);
    // 20 runs of 1,024 vertices: each spans a twentieth of 55 windows of 6 joints, so 9 joints, and a few more.
    assert_true(after->run_count <= 40);
    assert_true(after->median_joints <= 16);
    assert_true(after->list_joint_count <= 20 * 9 * 2);
    peltt_runs_destroy(&runs);
}

static void the_same_input_gives_the_same_order(void **state)
{
    (void)state;
    peltt_random random = {55};
    peltt_runs runs;
    peltt_runs other;
    peltt_runs_init(&runs, 9000);
    fill_random(&runs, &random, 90, 12);
    shuffle(&runs, &random);
    peltt_runs_init(&other, 9000);
    memcpy(other.vertices, runs.vertices, sizeof *runs.vertices * 9000);
    order_and_check(&runs);
    order_and_check(&other);
    const pelt_cooked_primitive *a = &runs.primitive.out;
    const pelt_cooked_primitive *b = &other.primitive.out;
    assert_memory_equal(a->source_vertices, b->source_vertices, sizeof *a->source_vertices * 9000);
    assert_int_equal(a->run_count, b->run_count);
    assert_memory_equal(a->runs, b->runs, sizeof *a->runs * a->run_count);
    assert_int_equal(a->run_joint_count, b->run_joint_count);
    assert_memory_equal(a->run_joints, b->run_joints, sizeof *a->run_joints * a->run_joint_count);
    peltt_runs_destroy(&runs);
    peltt_runs_destroy(&other);
}

static void rigid_primitives_only_drop(void **state)
{
    (void)state;
    peltt_runs runs;
    peltt_runs_init(&runs, 4);
    cook_vertex *vertices = runs.vertices;
    runs.vertices = NULL;
    runs.indices = calloc(3, sizeof *runs.indices);
    assert_non_null(runs.indices);
    runs.index_count = 3;
    runs.indices[0] = 3;
    runs.indices[1] = 1;
    runs.indices[2] = 3;
    assert_int_equal(peltt_runs_order(&runs, 0), PELT_OK);
    const pelt_cooked_primitive *out = &runs.primitive.out;
    assert_int_equal(out->vertex_count, 2);
    assert_int_equal(out->source_vertices[0], 1);
    assert_int_equal(out->source_vertices[1], 3);
    assert_int_equal(out->run_count, 0);
    assert_int_equal(runs.primitive.report.dropped_vertex_count, 2);
    assert_int_equal(runs.primitive.report.after.run_count, 0);
    runs.options.keep_order = true;
    assert_int_equal(peltt_runs_order(&runs, 0), PELT_OK);
    assert_int_equal(runs.primitive.out.vertex_count, 4);
    runs.vertices = vertices;
    peltt_runs_destroy(&runs);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    peltt_random random = {3};
    peltt_runs runs;
    peltt_runs_init(&runs, 20000);
    fill_random(&runs, &random, 80, 20);
    use_some(&runs, &random, 0.9);
    uint64_t fail_at = 1;
    while (peltt_runs_order(&runs, fail_at) != PELT_OK) {
        fail_at++;
        assert_true(fail_at < 1000);
    }
    assert_true(fail_at > 10);
    peltt_runs_check(&runs);
    peltt_runs_destroy(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_hold_for_random_meshes),
        cmocka_unit_test(runs_hold_at_every_size_near_a_border),
        cmocka_unit_test(no_vertices_make_no_runs),
        cmocka_unit_test(equal_vertices_make_full_runs_in_file_order),
        cmocka_unit_test(limbs_are_told_apart),
        cmocka_unit_test(classes_get_their_own_runs_where_that_is_free),
        cmocka_unit_test(equal_lists_go_to_runs_of_one_class),
        cmocka_unit_test(each_joint_is_loaded_once_where_blocks_allow),
        cmocka_unit_test(crowded_blocks_become_direct),
        cmocka_unit_test(direct_joints_are_bytes_only_where_all_fit),
        cmocka_unit_test(cuts_are_the_best_of_all),
        cmocka_unit_test(scattered_joints_stay_right),
        cmocka_unit_test(shuffled_bodies_come_back_together),
        cmocka_unit_test(the_same_input_gives_the_same_order),
        cmocka_unit_test(rigid_primitives_only_drop),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

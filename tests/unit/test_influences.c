// SPDX-License-Identifier: MIT
// Influence clean-up, case by case: what each vertex keeps, and what errors and warnings say.
#include "peltt_influences.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define VERTEX(set, vertex, j0, j1, j2, j3, w0, w1, w2, w3)                                                            \
    peltt_fix_set(set, vertex, (const uint16_t[4]){j0, j1, j2, j3}, (const float[4]){w0, w1, w2, w3})

#define EXPECT(vertex, count, ...) peltt_fix_assert_vertex(vertex, count, __VA_ARGS__)
#define JOINTS(...) ((const uint16_t[]){__VA_ARGS__})
#define WEIGHTS(...) ((const double[]){__VA_ARGS__})

static void refuse(const char *text)
{
    assert_int_equal(peltt_fix_clean(), PELT_ERROR_INVALID);
    if (!strstr(peltt_fix.error.message, text)) {
        fail_msg("\"%s\" lacks \"%s\"", peltt_fix.error.message, text);
    }
    assert_null(peltt_fix.primitive.joints);
    assert_int_equal(peltt_fix.log.count, 0);
}

static void wrong_jobs_are_refused(void **state)
{
    (void)state;
    peltt_fix_init(3, 1);
    assert_int_equal(pelt_builder_clean_influences(NULL, &peltt_fix.job, &peltt_fix.primitive, NULL),
                     PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_builder_clean_influences(peltt_fix.builder, NULL, &peltt_fix.primitive, NULL),
                     PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_builder_clean_influences(peltt_fix.builder, &peltt_fix.job, NULL, NULL), PELT_ERROR_ARGUMENT);
    peltt_fix.sets[0].weights = NULL;
    assert_int_equal(peltt_fix_clean(), PELT_ERROR_ARGUMENT);
    peltt_fix.job.sets = NULL;
    assert_int_equal(peltt_fix_clean(), PELT_ERROR_ARGUMENT);
    peltt_fix.job.set_count = UINT32_MAX;
    assert_int_equal(peltt_fix_clean(), PELT_ERROR_LIMIT);
    peltt_fix_done();
}

static void without_sets_the_primitive_is_rigid(void **state)
{
    (void)state;
    peltt_fix_init(3, 0);
    assert_int_equal(peltt_fix_cleaned()->influence_count, 0);
    assert_int_equal(peltt_fix.primitive.joint_bound, 0);
    assert_int_equal(peltt_fix.primitive.influences.worst_sum_vertex, PELT_NONE);
    peltt_fix_done();
}

static void without_vertices_one_influence_remains(void **state)
{
    (void)state;
    peltt_fix_init(0, 1);
    assert_int_equal(peltt_fix_cleaned()->influence_count, 1);
    peltt_fix_done();
}

static void zero_weights_are_dropped_and_order_is_kept(void **state)
{
    (void)state;
    peltt_fix_init(3, 1);
    VERTEX(0, 0, 9, 3, 8, 5, 0, 0.25f, 0, 0.75f);
    VERTEX(0, 1, 7, 3, 8, 5, 0.125f, 0, 0.375f, 0.5f);
    VERTEX(0, 2, 2, 9, 9, 9, 1, 0, -0.0f, 0);
    assert_int_equal(peltt_fix_cleaned()->influence_count, 3);
    EXPECT(0, 2, JOINTS(3, 5), WEIGHTS(0.25, 0.75));
    EXPECT(1, 3, JOINTS(7, 8, 5), WEIGHTS(0.125, 0.375, 0.5));
    EXPECT(2, 1, JOINTS(2), WEIGHTS(1));
    assert_int_equal(peltt_fix.primitive.joint_bound, 9); // joint 9 has no weight
    assert_int_equal(peltt_fix.log.count, 0);
    peltt_fix_done();
}

static void influence_count_is_the_largest_of_any_vertex(void **state)
{
    (void)state;
    for (uint32_t most = 1; most <= 8; most++) {
        peltt_fix_init(20, 2);
        for (uint32_t v = 0; v < 20; v++) {
            uint32_t count = v == 13 ? most : 1;
            for (uint32_t i = 0; i < count; i++) {
                peltt_fix.joints[i / 4][v * 4 + i % 4] = (uint16_t)(i + 1);
                peltt_fix.weights[i / 4][v * 4 + i % 4] = 1.0f / (float)count;
            }
        }
        assert_int_equal(peltt_fix_cleaned()->influence_count, most);
        assert_int_equal(peltt_fix.primitive.joint_bound, most + 1);
        assert_int_equal(pelt_primitive_vertex_influences(&peltt_fix.primitive, 12), 1);
        assert_int_equal(pelt_primitive_vertex_influences(&peltt_fix.primitive, 13), most);
        peltt_fix_done();
    }
}

static void weights_of_exactly_one_are_not_touched(void **state)
{
    (void)state;
    peltt_fix_init(2, 1);
    // Both sum to one exactly, though not in steps of 2^-24.
    VERTEX(0, 0, 0, 1, 2, 3, 0.5f, 0.25f, 0.125f + 0x1p-26f, 0.125f - 0x1p-26f);
    VERTEX(0, 1, 0, 1, 2, 0, 1.0f - 0x1p-24f, 0x1p-25f, 0x1p-25f, 0);
    peltt_fix_cleaned();
    assert_memory_equal(peltt_fix.primitive.weights, peltt_fix.weights[0], 8 * sizeof(float));
    assert_int_equal(peltt_fix.primitive.influences.normalized_count, 0);
    peltt_fix_done();
}

static void sums_are_made_one_with_one_warning(void **state)
{
    (void)state;
    peltt_fix_init(7, 1);
    VERTEX(0, 0, 0, 1, 0, 0, 0.5f, 0.5f, 0, 0);
    VERTEX(0, 1, 0, 1, 0, 0, 0.5f, 0.48f, 0, 0);
    VERTEX(0, 2, 0, 1, 2, 0, 0.25f, 0.25f, 0.25f, 0);
    VERTEX(0, 3, 0, 0, 0, 0, 1, 0, 0, 0);
    VERTEX(0, 4, 1, 0, 0, 0, 0.5f, 0, 0, 0);
    VERTEX(0, 5, 1, 2, 0, 0, 1.5f, 0.5f, 0, 0);
    VERTEX(0, 6, 0, 1, 2, 3, 0.1f, 0.2f, 0.3f, 0.4f); // off by rounding only
    peltt_fix_cleaned();
    EXPECT(1, 2, JOINTS(0, 1), WEIGHTS(0.5 / 0.98, 0.48 / 0.98));
    EXPECT(2, 3, JOINTS(0, 1, 2), WEIGHTS(1.0 / 3, 1.0 / 3, 1.0 / 3));
    EXPECT(4, 1, JOINTS(1), WEIGHTS(1));
    EXPECT(5, 2, JOINTS(1, 2), WEIGHTS(0.75, 0.25));
    EXPECT(6, 4, JOINTS(0, 1, 2, 3), WEIGHTS(0.1, 0.2, 0.3, 0.4));
    const pelt_influence_report *report = &peltt_fix.primitive.influences;
    assert_int_equal(report->set_count, 1);
    assert_int_equal(report->normalized_count, 4);
    assert_int_equal(report->worst_sum_vertex, 5);
    assert_true(report->worst_sum_error == 1.0f);
    assert_int_equal(peltt_fix.log.count, 1);
    const pelt_error *warning = peltt_warnings_find(
        &peltt_fix.log,
        "mesh 0, primitive 0: WEIGHTS_0: 4 vertices' weights do not sum to one (vertex 5 is off most, by 1)");
    assert_string_equal(warning->where, "/meshes/0/primitives/0/attributes/WEIGHTS_0");
    assert_true(warning->mesh == 0 && warning->primitive == 0 && warning->vertex == 5);
    peltt_fix_done();
}

static void sums_within_2e7_per_weight_are_not_counted(void **state)
{
    (void)state;
    peltt_fix_init(4, 1);
    VERTEX(0, 0, 0, 1, 0, 0, 0.5f, 0.5f + 3.6e-7f, 0, 0);
    VERTEX(0, 1, 0, 1, 0, 0, 0.5f, 0.5f + 4.8e-7f, 0, 0);
    VERTEX(0, 2, 0, 1, 2, 3, 0.25f, 0.25f, 0.25f, 0.25f - 7e-7f);
    VERTEX(0, 3, 0, 0, 0, 0, 1.0f - 2.4e-7f, 0, 0, 0);
    peltt_fix_cleaned();
    assert_int_equal(peltt_fix.primitive.influences.normalized_count, 2);
    assert_int_equal(peltt_fix.primitive.influences.worst_sum_vertex, 2); // the largest, though of four weights
    const pelt_error *warning = peltt_warnings_find(&peltt_fix.log, "2 vertices' weights");
    assert_int_equal(warning->vertex, 1); // the largest of those that count
    peltt_fix_done();
}

static void a_sum_spans_all_sets(void **state)
{
    (void)state;
    peltt_fix_init(1, 2);
    VERTEX(0, 0, 0, 1, 2, 3, 0.25f, 0.25f, 0.125f, 0.125f);
    VERTEX(1, 0, 4, 5, 0, 0, 0.125f, 0.125f, 0, 0);
    peltt_fix_cleaned();
    EXPECT(0, 6, JOINTS(0, 1, 2, 3, 4, 5), WEIGHTS(0.25, 0.25, 0.125, 0.125, 0.125, 0.125));
    assert_int_equal(peltt_fix.primitive.influences.set_count, 2);
    assert_int_equal(peltt_fix.log.count, 0);
    peltt_fix_done();
}

static void vertices_without_weight_follow_their_first_joint(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 2; count++) {
        peltt_fix_init(4, 2);
        peltt_fix.job.joint_limit = 9;
        for (uint32_t v = 0; v < 4; v++) {
            VERTEX(0, v, 7, 8, 0, 0, 0.5f, 0.5f, 0, 0);
        }
        VERTEX(0, 2, 8, 3, 0, 0, 0, 0, 0, 0);
        if (count == 2) {
            VERTEX(0, 3, 5, 3, 0, 0, 0, 0, 0, 0);
        }
        peltt_fix_cleaned();
        EXPECT(1, 2, JOINTS(7, 8), WEIGHTS(0.5, 0.5));
        EXPECT(2, 1, JOINTS(8), WEIGHTS(1));
        assert_int_equal(peltt_fix.primitive.influences.unweighted_count, count);
        assert_int_equal(peltt_fix.primitive.influences.normalized_count, 0); // a kind of its own
        assert_int_equal(peltt_fix.log.count, 1);
        const pelt_error *warning = peltt_warnings_find(&peltt_fix.log, "mesh 0, primitive 0: WEIGHTS_0: ");
        assert_non_null(strstr(warning->message, "vertex 2"));
        assert_non_null(strstr(warning->message, "first listed joint"));
        assert_non_null(strstr(warning->message, count == 1 ? "no weight" : "2 vertices"));
        assert_int_equal(warning->vertex, 2);
        peltt_fix_done();
    }
}

static void unweighted_vertex_with_its_first_joint_out_of_range_is_refused(void **state)
{
    (void)state;
    peltt_fix_init(3, 1);
    peltt_fix.job.joint_limit = 2;
    VERTEX(0, 0, 0, 0, 0, 0, 1, 0, 0, 0);
    VERTEX(0, 1, 2, 0, 0, 0, 0, 0, 0, 0);
    refuse("mesh 0, primitive 0: JOINTS_0: vertex 1 ");
    assert_non_null(strstr(peltt_fix.error.message, "joint 2, but the skin has 2 joints"));
    assert_true(peltt_fix.error.vertex == 1 && peltt_fix.error.joint == 2);
    peltt_fix_done();
}

static void joints_listed_twice_are_merged_with_one_warning(void **state)
{
    (void)state;
    peltt_fix_init(4, 2);
    peltt_fix.job.mesh = 3;
    peltt_fix.job.primitive = 1;
    VERTEX(0, 0, 0, 1, 0, 0, 0.5f, 0.5f, 0, 0); // joint 0 again, but without weight
    VERTEX(0, 1, 2, 1, 2, 0, 0.25f, 0.5f, 0.25f, 0);
    VERTEX(0, 2, 1, 1, 1, 1, 0.25f, 0.25f, 0.25f, 0.25f);
    VERTEX(0, 3, 4, 5, 0, 0, 0.25f, 0.25f, 0, 0);
    VERTEX(1, 3, 6, 4, 0, 0, 0.25f, 0.25f, 0, 0); // across sets
    assert_int_equal(peltt_fix_cleaned()->influence_count, 3);
    EXPECT(0, 2, JOINTS(0, 1), WEIGHTS(0.5, 0.5));
    EXPECT(1, 2, JOINTS(2, 1), WEIGHTS(0.5, 0.5));
    EXPECT(2, 1, JOINTS(1), WEIGHTS(1));
    EXPECT(3, 3, JOINTS(4, 5, 6), WEIGHTS(0.5, 0.25, 0.25));
    assert_int_equal(peltt_fix.primitive.influences.merged_count, 3);
    assert_int_equal(peltt_fix.log.count, 1);
    const pelt_error *warning =
        peltt_warnings_find(&peltt_fix.log, "mesh 3, primitive 1: JOINTS_0: 3 vertices list a joint twice");
    assert_non_null(strstr(warning->message, "vertex 1"));
    assert_true(warning->mesh == 3 && warning->primitive == 1 && warning->vertex == 1 && warning->joint == 2);
    assert_string_equal(warning->where, "/meshes/3/primitives/1/attributes/JOINTS_0");
    peltt_fix_done();
}

static void merging_can_narrow_the_primitive(void **state)
{
    (void)state;
    peltt_fix_init(3, 1);
    VERTEX(0, 0, 1, 1, 2, 2, 0.25f, 0.25f, 0.25f, 0.25f);
    VERTEX(0, 1, 4, 0, 0, 0, 1, 0, 0, 0);
    VERTEX(0, 2, 3, 3, 3, 7, 0.25f, 0.25f, 0.25f, 0.25f);
    assert_int_equal(peltt_fix_cleaned()->influence_count, 2);
    EXPECT(0, 2, JOINTS(1, 2), WEIGHTS(0.5, 0.5));
    EXPECT(1, 1, JOINTS(4), WEIGHTS(1));
    EXPECT(2, 2, JOINTS(3, 7), WEIGHTS(0.75, 0.25));
    peltt_fix_done();
}

static void weighted_joint_out_of_range_is_refused(void **state)
{
    (void)state;
    for (uint32_t set = 0; set < 2; set++) {
        peltt_fix_init(6, 2);
        peltt_fix.job.joint_limit = 2;
        peltt_fix.job.mesh = 4;
        for (uint32_t v = 0; v < 6; v++) {
            VERTEX(0, v, 1, 0, 0, 0, 1, 0, 0, 0);
        }
        VERTEX(set, 3, 1, 2, 0, 0, 0.5f, 0.5f, 0, 0);
        refuse(set == 0 ? "mesh 4, primitive 0: JOINTS_0: vertex 3 uses joint 2, but the skin has 2 joints"
                        : "mesh 4, primitive 0: JOINTS_1: vertex 3 uses joint 2, but the skin has 2 joints");
        assert_string_equal(peltt_fix.error.where, set == 0 ? "/meshes/4/primitives/0/attributes/JOINTS_0"
                                                            : "/meshes/4/primitives/0/attributes/JOINTS_1");
        assert_true(peltt_fix.error.mesh == 4 && peltt_fix.error.primitive == 0);
        assert_true(peltt_fix.error.vertex == 3 && peltt_fix.error.joint == 2);
        peltt_fix_done();
    }
}

static void unweighted_joints_out_of_range_are_ignored_with_one_warning(void **state)
{
    (void)state;
    peltt_fix_init(6, 2);
    peltt_fix.job.joint_limit = 2;
    for (uint32_t v = 0; v < 6; v++) {
        VERTEX(0, v, 1, 0, 0, 0, 1, 0, 0, 0);
    }
    VERTEX(1, 4, 0, 200, 0, 201, 0, 0, 0, 0);
    VERTEX(0, 5, 1, 65535, 0, 0, 1, 0, 0, 0);
    peltt_fix_cleaned();
    EXPECT(4, 1, JOINTS(1), WEIGHTS(1));
    EXPECT(5, 1, JOINTS(1), WEIGHTS(1));
    assert_int_equal(peltt_fix.primitive.joint_bound, 2);
    assert_int_equal(peltt_fix.primitive.influences.ignored_joint_count, 3);
    assert_int_equal(peltt_fix.log.count, 1);
    const pelt_error *warning = peltt_warnings_find(&peltt_fix.log, "JOINTS_1: 3 listed joints");
    assert_non_null(strstr(warning->message, "vertex 4 is the first, with joint 200"));
    assert_true(warning->vertex == 4 && warning->joint == 200);
    peltt_fix_done();
}

static void without_a_limit_any_joint_is_accepted(void **state)
{
    (void)state;
    for (uint32_t limit = 0; limit <= 100000; limit += 100000) {
        peltt_fix_init(1, 1);
        peltt_fix.job.joint_limit = limit;
        VERTEX(0, 0, 65535, 65534, 0, 0, 0.5f, 0.5f, 0, 0);
        assert_int_equal(peltt_fix_cleaned()->joint_bound, 65536);
        EXPECT(0, 2, JOINTS(65535, 65534), WEIGHTS(0.5, 0.5));
        peltt_fix_done();
    }
}

static void wrong_weights_are_refused(void **state)
{
    (void)state;
    const float wrong[] = {-0.25f, NAN, INFINITY, -INFINITY, -1e-45f, -NAN};
    static const char *const texts[] = {"-0.25", "NaN", "infinity", "-infinity", "-1.4", "NaN"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        for (uint32_t set = 0; set < 3; set++) {
            peltt_fix_init(40, set == 2 ? 2 : 1); // in a full block, then alone, then in a second set
            peltt_fix.job.vertex_count = set == 1 ? 3 : 40;
            for (uint32_t v = 0; v < 40; v++) {
                VERTEX(0, v, 0, 1, 2, 3, 0.25f, 0.25f, 0.25f, 0.25f);
            }
            if (set == 1) {
                VERTEX(0, 2, 0, 1, 2, 3, 0, 0.5f, 0.5f, 0);
            }
            peltt_fix.weights[set == 2 ? 1 : 0][9] = wrong[i];
            refuse(set == 2 ? "WEIGHTS_1: vertex 2 has weight " : "WEIGHTS_0: vertex 2 has weight ");
            assert_non_null(strstr(peltt_fix.error.message, texts[i]));
            assert_int_equal(peltt_fix.error.vertex, 2);
            peltt_fix_done();
        }
    }
}

static void an_error_may_be_ignored_by_the_caller(void **state)
{
    (void)state;
    peltt_fix_init(1, 1);
    VERTEX(0, 0, 0, 0, 0, 0, NAN, 0, 0, 0);
    assert_int_equal(pelt_builder_clean_influences(peltt_fix.builder, &peltt_fix.job, &peltt_fix.primitive, NULL),
                     PELT_ERROR_INVALID);
    peltt_fix_done();
}

static void reduction_keeps_the_largest_in_order(void **state)
{
    (void)state;
    peltt_fix_init(4, 2);
    peltt_fix.job.influence_limit = 4;
    VERTEX(0, 0, 0, 1, 2, 3, 0.25f, 0.25f, 0.125f, 0.125f);
    VERTEX(1, 0, 4, 5, 0, 0, 0.125f, 0.125f, 0, 0); // of equals the first stay
    VERTEX(0, 1, 0, 1, 2, 3, 0.05f, 0.1f, 0.05f, 0.2f);
    VERTEX(1, 1, 4, 5, 6, 7, 0.3f, 0.1f, 0.15f, 0.05f);
    VERTEX(0, 2, 0, 1, 2, 3, 0.25f, 0.25f, 0.25f, 0.25f); // no more than the limit
    VERTEX(1, 3, 9, 8, 0, 0, 0.5f, 0.5f, 0, 0);
    assert_int_equal(peltt_fix_cleaned()->influence_count, 4);
    EXPECT(0, 4, JOINTS(0, 1, 2, 3), WEIGHTS(1.0 / 3, 1.0 / 3, 1.0 / 6, 1.0 / 6));
    EXPECT(1, 4, JOINTS(1, 3, 4, 6), WEIGHTS(0.1 / 0.75, 0.2 / 0.75, 0.3 / 0.75, 0.15 / 0.75));
    EXPECT(2, 4, JOINTS(0, 1, 2, 3), WEIGHTS(0.25, 0.25, 0.25, 0.25));
    EXPECT(3, 2, JOINTS(9, 8), WEIGHTS(0.5, 0.5));
    assert_int_equal(peltt_fix.primitive.joint_bound, 10);
    assert_int_equal(peltt_fix.primitive.influences.reduced_count, 2);
    assert_true(fabs((double)peltt_fix.primitive.influences.worst_reduced_weight - 0.25) < 1e-6);
    assert_int_equal(peltt_fix.log.count, 1);
    const pelt_error *warning = peltt_warnings_find(&peltt_fix.log, "2 vertices lost influences to the limit of 4");
    assert_non_null(strstr(warning->message, "0.25"));
    peltt_fix_done();
}

static void reduction_to_one_influence(void **state)
{
    (void)state;
    peltt_fix_init(2, 1);
    peltt_fix.job.influence_limit = 1;
    VERTEX(0, 0, 5, 6, 7, 0, 0.3f, 0.4f, 0.3f, 0);
    VERTEX(0, 1, 2, 0, 0, 0, 1, 0, 0, 0);
    assert_int_equal(peltt_fix_cleaned()->influence_count, 1);
    EXPECT(0, 1, JOINTS(6), WEIGHTS(1));
    EXPECT(1, 1, JOINTS(2), WEIGHTS(1));
    peltt_fix_done();
}

static void weights_of_extreme_size_are_normalised(void **state)
{
    (void)state;
    peltt_fix_init(4, 1);
    VERTEX(0, 0, 0, 1, 0, 0, 3e38f, 3e38f, 0, 0);
    VERTEX(0, 1, 0, 1, 0, 0, 1e-45f, 1e-45f, 0, 0);
    VERTEX(0, 2, 0, 1, 2, 0, 3e38f, 1e-45f, 3e38f, 0); // the small one is nothing beside the others
    VERTEX(0, 3, 0, 1, 0, 0, 1, 1e-9f, 0, 0);          // small, but something
    peltt_fix_cleaned();
    EXPECT(0, 2, JOINTS(0, 1), WEIGHTS(0.5, 0.5));
    EXPECT(1, 2, JOINTS(0, 1), WEIGHTS(0.5, 0.5));
    EXPECT(2, 2, JOINTS(0, 2), WEIGHTS(0.5, 0.5));
    assert_int_equal(pelt_primitive_vertex_influences(&peltt_fix.primitive, 3), 2);
    assert_true(fabsf(peltt_fix.primitive.weights[3 * peltt_fix.primitive.influence_count + 1] - 1e-9f) < 1e-15f);
    peltt_fix_done();
}

// A block of vertices is cleaned at once: the odd ones in it must not disturb the others, nor be noted with them.
static void odd_vertices_among_plain_ones(void **state)
{
    (void)state;
    peltt_fix_init(PELTT_FIX_VERTEX_CAPACITY, 1);
    peltt_fix.job.joint_limit = 6;
    for (uint32_t v = 0; v < PELTT_FIX_VERTEX_CAPACITY; v++) {
        VERTEX(0, v, 0, 1, 2, 0, 0.5f, 0.25f, 0.25f, 0);
    }
    VERTEX(0, 3, 5, 0, 0, 0, 0, 0, 0, 0);
    VERTEX(0, 7, 1, 1, 3, 0, 0.25f, 0.25f, 0.5f, 0);
    VERTEX(0, 31, 9, 4, 0, 0, 0, 1, 0, 0);
    VERTEX(0, 32, 1, 2, 3, 4, 1, 1e-9f, 0, 0.5f);
    VERTEX(0, 40, 4, 3, 0, 0, 3e38f, 1e-20f, 0, 0); // joint 3 vanishes
    assert_int_equal(peltt_fix_cleaned()->influence_count, 3);
    EXPECT(2, 3, JOINTS(0, 1, 2), WEIGHTS(0.5, 0.25, 0.25));
    EXPECT(3, 1, JOINTS(5), WEIGHTS(1));
    EXPECT(7, 2, JOINTS(1, 3), WEIGHTS(0.5, 0.5));
    EXPECT(31, 1, JOINTS(4), WEIGHTS(1));
    EXPECT(32, 3, JOINTS(1, 2, 4), WEIGHTS(2.0 / 3, 0, 1.0 / 3));
    EXPECT(40, 1, JOINTS(4), WEIGHTS(1));
    EXPECT(63, 3, JOINTS(0, 1, 2), WEIGHTS(0.5, 0.25, 0.25));
    const pelt_influence_report *report = &peltt_fix.primitive.influences;
    assert_int_equal(report->unweighted_count, 1);
    assert_int_equal(report->merged_count, 1);
    assert_int_equal(report->ignored_joint_count, 1);
    assert_int_equal(report->normalized_count, 2);
    assert_int_equal(peltt_fix.primitive.joint_bound, 6);
    assert_int_equal(peltt_fix.log.count, 4);
    peltt_fix_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_jobs_are_refused),
        cmocka_unit_test(without_sets_the_primitive_is_rigid),
        cmocka_unit_test(without_vertices_one_influence_remains),
        cmocka_unit_test(zero_weights_are_dropped_and_order_is_kept),
        cmocka_unit_test(influence_count_is_the_largest_of_any_vertex),
        cmocka_unit_test(weights_of_exactly_one_are_not_touched),
        cmocka_unit_test(sums_are_made_one_with_one_warning),
        cmocka_unit_test(sums_within_2e7_per_weight_are_not_counted),
        cmocka_unit_test(a_sum_spans_all_sets),
        cmocka_unit_test(vertices_without_weight_follow_their_first_joint),
        cmocka_unit_test(unweighted_vertex_with_its_first_joint_out_of_range_is_refused),
        cmocka_unit_test(joints_listed_twice_are_merged_with_one_warning),
        cmocka_unit_test(merging_can_narrow_the_primitive),
        cmocka_unit_test(weighted_joint_out_of_range_is_refused),
        cmocka_unit_test(unweighted_joints_out_of_range_are_ignored_with_one_warning),
        cmocka_unit_test(without_a_limit_any_joint_is_accepted),
        cmocka_unit_test(wrong_weights_are_refused),
        cmocka_unit_test(an_error_may_be_ignored_by_the_caller),
        cmocka_unit_test(reduction_keeps_the_largest_in_order),
        cmocka_unit_test(reduction_to_one_influence),
        cmocka_unit_test(weights_of_extreme_size_are_normalised),
        cmocka_unit_test(odd_vertices_among_plain_ones),
    };
    return cmocka_run_group_tests_name("influences", tests, NULL, NULL);
}

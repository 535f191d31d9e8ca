// SPDX-License-Identifier: MIT
// What `pelt verify` finds in positions and boxes, and how it counts: each of its checks with an output that is right,
// one that is just within and one that is just over. The model is posed and skinned by the library; faults are put into
// the output by hand.
#include "peltt_verify.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void equal_outputs_pass_and_are_counted(void **state)
{
    (void)state;
    peltt_verify *b = peltt_verify_make();
    peltt_verify_compare(b);
    peltt_verify_only(b, VERIFY_CHECKS, 0);
    assert_true(verify_within(&b->figures));
    assert_int_equal(b->figures.tallies[VERIFY_POSITION].compared, PELTT_VERIFY_VERTICES);
    assert_int_equal(b->figures.tallies[VERIFY_NORMAL].compared, PELTT_VERIFY_VERTICES);
    assert_int_equal(b->figures.tallies[VERIFY_HANDEDNESS].compared, PELTT_VERIFY_VERTICES);
    assert_int_equal(b->figures.tallies[VERIFY_BOX].compared, 1);
    assert_int_equal(b->figures.tallies[VERIFY_PREVIOUS].compared, 1);
    assert_true(b->figures.position == 0 && b->figures.normal_degrees < 1e-5 && verify_rms(&b->figures) == 0);
    peltt_verify_destroy(b);
}

// The least coordinate that cannot leave the box when it moves a little: one that is neither the least nor the largest.
static uint32_t inner_vertex(const peltt_verify *b)
{
    for (uint32_t i = 0; i < PELTT_VERIFY_VERTICES; i++) {
        float x = b->positions[0][3 * i];
        if (x > b->reference.box.min[0] + 1e-3F && x < b->reference.box.max[0] - 1e-3F) {
            return i;
        }
    }
    fail_msg("every vertex is at an end of the box");
    return 0;
}

static void moved_vertex_fails_over_the_tolerance_and_is_named(void **state)
{
    (void)state;
    peltt_verify *b = peltt_verify_make();
    uint32_t v = inner_vertex(b);
    float x = b->positions[0][3 * v];
    b->context.options.has_tolerance = true;
    b->context.options.tolerance = 1e-4; // so that the step is far over the spacing of floats
    b->positions[1][3 * v] = x + (float)(0.98e-4 * b->scale);
    peltt_verify_compare(b);
    peltt_verify_only(b, VERIFY_POSITION, 0);
    assert_true(fabs(b->figures.share - 0.98e-4) < 1e-6 && fabs(b->figures.position - 0.98e-4 * b->scale) < 1e-5);
    assert_true(fabs(verify_rms_share(&b->figures) - b->figures.share / sqrt(PELTT_VERIFY_VERTICES)) < 1e-9);
    b->positions[1][3 * v] = x - (float)(1.02e-4 * b->scale);
    peltt_verify_compare(b);
    peltt_verify_only(b, VERIFY_POSITION, 1);
    const verify_tally *tally = &b->figures.tallies[VERIFY_POSITION];
    assert_true(tally->has_place && tally->place.vertex == v && tally->place.clip == 3);
    assert_true(tally->place.time == 0.25 && tally->place.node == 0 && tally->place.mesh == 0);
    assert_true(fabs(tally->worst - 0.02e-4) < 5e-7); // how far it is over, of scale
    peltt_verify_destroy(b);
}

static void positions_that_are_not_finite_fail(void **state)
{
    (void)state;
    peltt_verify *b = peltt_verify_make();
    const float values[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        b->positions[1][4] = values[i];
        peltt_verify_compare(b);
        assert_int_equal(peltt_verify_failed(b, VERIFY_POSITION), 1);
        assert_true(b->figures.position == HUGE_VAL && b->figures.tallies[VERIFY_POSITION].place.vertex == 1);
    }
    peltt_verify_destroy(b);
}

// By a rotation that no float holds, so that rounding its matrix moves vertices.
static void turn_first_joint(peltt_verify *b, float amount)
{
    uint32_t node = pelt_asset_get(b->packed->asset)->skins[0].joints[0];
    pelt_trs turn = pelt_trs_identity();
    turn.rotation = (pelt_quat){0.3F, 0.1F * amount, -0.7F, 0.4F};
    turn.translation = (pelt_vec3){1.1F, -2.3F, 0.7F};
    assert_int_equal(pelt_pose_set_local(b->model.pose, node, &turn), PELT_OK);
    assert_int_equal(pelt_pose_update(b->model.pose, NULL), PELT_OK);
}

// Σ w (W (B p + b) + t) with W as given by the pose in double, or rounded to float; everything else in double.
static void exact_position(const peltt_verify *b, uint32_t vertex, bool rounded, double out[3])
{
    const pelt_primitive *source = b->packed->primitive;
    const pelt_skin *from = &pelt_asset_get(b->packed->asset)->skins[0];
    memset(out, 0, 3 * sizeof *out);
    for (uint32_t i = 0; i < source->influence_count; i++) {
        size_t at = (size_t)vertex * source->influence_count + i;
        uint32_t j = source->joints[at];
        const double *world = pelt_pose_world_double(b->model.pose, from->joints[j]);
        double inner[3];
        for (int k = 0; k < 3; k++) {
            const float *row = from->inverse_binds[j].m[k];
            const float *p = source->positions + 3 * (size_t)vertex;
            inner[k] = (double)row[0] * (double)p[0] + (double)row[1] * (double)p[1] + (double)row[2] * (double)p[2] +
                       (double)row[3];
        }
        for (int r = 0; r < 3; r++) {
            double sum = 0;
            for (int k = 0; k < 4; k++) {
                double x = world[4 * r + k];
                sum += (rounded ? (double)(float)x : x) * (k < 3 ? inner[k] : 1);
            }
            out[r] += (double)source->weights[at] * sum;
        }
    }
}

// Σ w (|M| |p| + |t|) of the palette, as a length.
static double length_of_terms(const peltt_verify *b, uint32_t vertex)
{
    const pelt_primitive *source = b->packed->primitive;
    double sum = 0;
    for (int r = 0; r < 3; r++) {
        double row = 0;
        for (uint32_t i = 0; i < source->influence_count; i++) {
            size_t at = (size_t)vertex * source->influence_count + i;
            const float *m = b->matrices[source->joints[at]].m[r];
            const float *p = source->positions + 3 * (size_t)vertex;
            row +=
                (double)source->weights[at] * (fabs((double)m[0] * (double)p[0]) + fabs((double)m[1] * (double)p[1]) +
                                               fabs((double)m[2] * (double)p[2]) + fabs((double)m[3]));
        }
        sum += row * row;
    }
    return sqrt(sum);
}

static void rounding_of_matrices_is_what_it_can_move(void **state)
{
    (void)state;
    double most = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        peltt_verify *b = peltt_verify_make_seeded(seed);
        turn_first_joint(b, (float)seed);
        for (uint32_t v = 0; v < PELTT_VERIFY_VERTICES; v++) {
            double p[3];
            double q[3];
            exact_position(b, v, false, p);
            exact_position(b, v, true, q);
            double moved =
                sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
            double rounded = (0x1p-24 + 0x1p-23) * length_of_terms(b, v);
            assert_true(fabs(moved + rounded - verify_matrix_rounding(&b->model, &b->item, v)) <= 1e-13);
            most = fmax(most, moved);
        }
        peltt_verify_destroy(b);
    }
    assert_true(most > 1e-8);
}

static void rounding_of_matrices_explains_no_more_than_it_moves(void **state)
{
    (void)state;
    peltt_verify *b = peltt_verify_make();
    turn_first_joint(b, 1);
    uint32_t v = inner_vertex(b);
    double moved = verify_matrix_rounding(&b->model, &b->item, v);
    b->context.options.has_tolerance = true;
    b->context.options.tolerance = 1e-30; // 0 would explain nothing
    float x = 0x1p-20F;                   // so that steps are fine beside the rounding
    b->positions[0][3 * v] = x;
    b->reference.box.min[0] = fminf(b->reference.box.min[0], x);
    const double factors[2] = {0.9, 1.1};
    for (int i = 0; i < 2; i++) {
        b->positions[1][3 * v] = x + (float)(factors[i] * moved);
        b->output.own_palette = true;
        peltt_verify_compare(b);
        assert_int_equal(peltt_verify_failed(b, VERIFY_POSITION), i);
        assert_int_equal(b->figures.explained, 1 - i);
        b->output.own_palette = false;
        peltt_verify_compare(b);
        assert_int_equal(peltt_verify_failed(b, VERIFY_POSITION), 1);
        assert_int_equal(b->figures.explained, 0);
    }
    b->positions[1][3 * v] = x + (float)(0.9 * moved);
    b->output.own_palette = true;
    b->context.options.tolerance = 0;
    peltt_verify_compare(b);
    assert_int_equal(peltt_verify_failed(b, VERIFY_POSITION), 1);
    assert_int_equal(b->figures.explained, 0);
    peltt_verify_destroy(b);
}

static void box_fails_at_one_bit(void **state)
{
    (void)state;
    peltt_verify *b = peltt_verify_make();
    for (int side = 0; side < 6; side++) {
        float *at = side < 3 ? &b->output.box.min[side] : &b->output.box.max[side - 3];
        float kept = *at;
        for (int way = 0; way < 2; way++) {
            *at = nextafterf(kept, way ? HUGE_VALF : -HUGE_VALF);
            peltt_verify_compare(b);
            peltt_verify_only(b, VERIFY_BOX, 1);
            assert_int_equal(b->figures.tallies[VERIFY_BOX].place.vertex, PELT_NONE);
        }
        *at = kept;
    }
    peltt_verify_destroy(b);
}

static void conservative_box_may_be_larger_only(void **state)
{
    (void)state;
    peltt_verify *b = peltt_verify_make();
    for (int side = 0; side < 6; side++) {
        float *at = side < 3 ? &b->output.conservative.min[side] : &b->output.conservative.max[side - 3];
        float kept = *at;
        float inward = side < 3 ? HUGE_VALF : -HUGE_VALF;
        *at = nextafterf(kept, -inward);
        peltt_verify_compare(b);
        peltt_verify_only(b, VERIFY_CONSERVATIVE, 0);
        *at = nextafterf(kept, inward);
        peltt_verify_compare(b);
        peltt_verify_only(b, VERIFY_CONSERVATIVE, 1);
        *at = NAN;
        peltt_verify_compare(b);
        peltt_verify_only(b, VERIFY_CONSERVATIVE, 1);
        peltt_verify_in_range = false;
        peltt_verify_compare(b);
        peltt_verify_only(b, VERIFY_CONSERVATIVE, 0);
        assert_int_equal(b->figures.tallies[VERIFY_CONSERVATIVE].unjudged, 1);
        peltt_verify_in_range = true;
        *at = kept;
    }
    peltt_verify_destroy(b);
}

static void previous_positions_are_those_of_the_last_update(void **state)
{
    (void)state;
    peltt_verify *b = peltt_verify_make();
    float *before = malloc(sizeof b->positions[1]);
    assert_non_null(before);
    b->output.previous = before;
    memcpy(before, b->positions[1], sizeof b->positions[1]);
    peltt_verify_compare(b);
    peltt_verify_only(b, VERIFY_PREVIOUS, 1); // there was no update before the first
    b->output.previous = NULL;
    peltt_verify_compare(b);
    peltt_verify_only(b, VERIFY_PREVIOUS, 0);
    b->track.update_count = 2;
    peltt_verify_compare(b);
    peltt_verify_only(b, VERIFY_PREVIOUS, 1); // the device says that there are none
    b->output.previous = before;
    peltt_verify_compare(b);
    peltt_verify_only(b, VERIFY_PREVIOUS, 0);
    before[3 * PELTT_VERIFY_VERTICES - 1] = nextafterf(before[3 * PELTT_VERIFY_VERTICES - 1], 0);
    peltt_verify_compare(b);
    peltt_verify_only(b, VERIFY_PREVIOUS, 1);
    free(before);
    peltt_verify_destroy(b);
}

static void figures_of_files_add_up(void **state)
{
    (void)state;
    peltt_verify *b = peltt_verify_make();
    verify_figures sum = {0};
    b->positions[1][0] += 1;
    peltt_verify_compare(b);
    verify_add_figures(&b->figures, &sum);
    verify_place worst = b->figures.tallies[VERIFY_POSITION].place;
    memcpy(b->positions[1], b->positions[0], sizeof b->positions[1]);
    b->context.options.input = "other.glb";
    peltt_verify_compare(b);
    verify_add_figures(&b->figures, &sum);
    assert_int_equal(sum.tallies[VERIFY_POSITION].compared, 2 * PELTT_VERIFY_VERTICES);
    assert_int_equal(sum.tallies[VERIFY_POSITION].failed, 1);
    assert_string_equal(sum.tallies[VERIFY_POSITION].place.file, "made.glb");
    assert_int_equal(sum.tallies[VERIFY_POSITION].place.vertex, worst.vertex);
    assert_true(sum.position > 0.99 && !verify_within(&sum));
    peltt_verify_destroy(b);
}

static void moments_hold_keys_ends_and_a_grid(void **state)
{
    (void)state;
    float times[100];
    for (int i = 0; i < 100; i++) {
        times[i] = 0.5F + (float)i / 64;
    }
    pelt_sampler sampler = {.key_count = 3, .times = times};
    pelt_clip clip = {.duration = times[2], .sampler_count = 1, .samplers = &sampler};
    uint32_t count = 0;
    double *chosen = verify_moments(&clip, 10, &count);
    assert_true(chosen && count == 10 - 1); // the last key is the grid's end as well
    for (int i = 0; i < 3; i++) {
        bool found = false;
        for (uint32_t k = 0; k < count; k++) {
            found = found || chosen[k] == (double)times[i];
        }
        assert_true(found);
    }
    assert_true(chosen[0] == 0 && chosen[count - 1] == (double)times[2]);
    free(chosen);
    sampler.key_count = 100;
    clip.duration = times[99];
    for (uint32_t limit = 2; limit < 300; limit += 7) {
        chosen = verify_moments(&clip, limit, &count);
        assert_true(chosen && count >= limit / 2 && count <= limit && chosen[count - 1] == (double)times[99]);
        for (uint32_t k = 1; k < count; k++) {
            assert_true(chosen[k] > chosen[k - 1]);
        }
        free(chosen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_outputs_pass_and_are_counted),
        cmocka_unit_test(moved_vertex_fails_over_the_tolerance_and_is_named),
        cmocka_unit_test(positions_that_are_not_finite_fail),
        cmocka_unit_test(rounding_of_matrices_is_what_it_can_move),
        cmocka_unit_test(rounding_of_matrices_explains_no_more_than_it_moves),
        cmocka_unit_test(box_fails_at_one_bit),
        cmocka_unit_test(conservative_box_may_be_larger_only),
        cmocka_unit_test(previous_positions_are_those_of_the_last_update),
        cmocka_unit_test(figures_of_files_add_up),
        cmocka_unit_test(moments_hold_keys_ends_and_a_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

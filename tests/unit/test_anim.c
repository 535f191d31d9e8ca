// SPDX-License-Identifier: MIT
// The interpolations of one sampler against closed forms.
#include "peltt_locals.h"

// One node without a parent, so that its index is 0, with the tracks as the only clip.
static peltt_locals one_node(const peltt_track *tracks, uint32_t track_count)
{
    peltt_node node = {.parent = PELT_NONE, .rest = pelt_trs_identity()};
    for (uint32_t i = 0; i < track_count; i++) {
        node.has_morphs = node.has_morphs || tracks[i].path == PELT_PATH_WEIGHTS;
    }
    peltt_clip clip = {track_count, tracks};
    return peltt_locals_make(peltt_asset_make(
        &(peltt_scene){.node_count = 1, .nodes = &node, .target_count = 2, .clip_count = 1, .clips = &clip}));
}

static peltt_locals one_track(pelt_path path, pelt_interpolation interpolation, uint32_t key_count, const float *times,
                              const float *values)
{
    peltt_track track = {0, path, interpolation, key_count, times, values};
    return one_node(&track, 1);
}

static const pelt_trs *sample(peltt_locals *f, double time)
{
    assert_int_equal(pelt_clip_sample(f->asset, 0, time, &f->locals), PELT_OK);
    return f->locals.transforms;
}

static void expect_vector(pelt_vec3 v, float x, float y, float z)
{
    float expected[3] = {x, y, z};
    float got[3] = {v.x, v.y, v.z};
    assert_memory_equal(got, expected, sizeof got);
}

static void step_holds_value_until_next_key(void **state)
{
    (void)state;
    const float times[] = {0.0F, 1.0F, 2.5F};
    const float values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    peltt_locals f = one_track(PELT_PATH_TRANSLATION, PELT_INTERPOLATION_STEP, 3, times, values);
    expect_vector(sample(&f, -1.0)->translation, 1, 2, 3);
    expect_vector(sample(&f, 0.0)->translation, 1, 2, 3);
    expect_vector(sample(&f, nextafter(1.0, 0.0))->translation, 1, 2, 3);
    expect_vector(sample(&f, 1.0)->translation, 4, 5, 6);
    expect_vector(sample(&f, nextafter(2.5, 0.0))->translation, 4, 5, 6);
    expect_vector(sample(&f, 2.5)->translation, 7, 8, 9);
    expect_vector(sample(&f, 1e300)->translation, 7, 8, 9);
    peltt_locals_free(&f);
}

static void linear_vector_is_a_straight_line(void **state)
{
    (void)state;
    const float times[] = {1.0F, 3.0F};
    const float values[] = {0, 10, -4, 8, 10, 4};
    peltt_locals f = one_track(PELT_PATH_SCALE, PELT_INTERPOLATION_LINEAR, 2, times, values);
    expect_vector(sample(&f, 1.5)->scale, 2, 10, -2);
    expect_vector(sample(&f, 2.0)->scale, 4, 10, 0);
    expect_vector(sample(&f, 2.75)->scale, 7, 10, 3);
    peltt_locals_free(&f);
}

static void sample_clamps_before_first_key_and_after_last_key(void **state)
{
    (void)state;
    const float times[] = {1.5F, 2.0F};
    const float lines[] = {1, 2, 3, 4, 5, 6};
    const float splines[] = {9, 9, 9, 1, 2, 3, 9, 9, 9, 9, 9, 9, 4, 5, 6, 9, 9, 9};
    const pelt_interpolation kinds[] = {PELT_INTERPOLATION_LINEAR, PELT_INTERPOLATION_STEP,
                                        PELT_INTERPOLATION_CUBICSPLINE};
    for (uint32_t i = 0; i < PELTT_COUNT(kinds); i++) {
        bool cubic = kinds[i] == PELT_INTERPOLATION_CUBICSPLINE;
        peltt_locals f = one_track(PELT_PATH_TRANSLATION, kinds[i], 2, times, cubic ? splines : lines);
        const double early[] = {-1e300, -1.0, 0.0, 1.0, nextafter(1.5, 0.0), 1.5};
        const double late[] = {2.0, nextafter(2.0, 3.0), 1000.0, 1e300};
        for (uint32_t k = 0; k < PELTT_COUNT(early); k++) {
            expect_vector(sample(&f, early[k])->translation, 1, 2, 3);
        }
        for (uint32_t k = 0; k < PELTT_COUNT(late); k++) {
            expect_vector(sample(&f, late[k])->translation, 4, 5, 6);
        }
        peltt_locals_free(&f);
    }
}

static void cubic_spline_takes_tangents_times_key_distance(void **state)
{
    (void)state;
    const float times[] = {0.0F, 2.0F};
    // In-tangent, value, out-tangent of both keys. Half way the Hermite weights are 1/2, 1/8, 1/2, -1/8, and the
    // tangents count twice: (0.25 + 2, -0.5, 0).
    const float values[] = {7, 7, 7, 0, 0, 0, 1, 0, 0, 0, 2, 0, 4, 0, 0, 7, 7, 7};
    peltt_locals f = one_track(PELT_PATH_TRANSLATION, PELT_INTERPOLATION_CUBICSPLINE, 2, times, values);
    expect_vector(sample(&f, 1.0)->translation, 2.25F, -0.5F, 0.0F);
    // At a quarter: 54/64, 9/64, 10/64, -3/64.
    expect_vector(sample(&f, 0.5)->translation, 2.0F * 9.0F / 64.0F + 4.0F * 10.0F / 64.0F, -2.0F * 2.0F * 3.0F / 64.0F,
                  0.0F);
    peltt_locals_free(&f);
}

static void one_key_is_constant(void **state)
{
    (void)state;
    const float times[] = {0.75F};
    const float line[] = {1, 2, 3};
    const float spline[] = {100, 100, 100, 1, 2, 3, 100, 100, 100};
    const pelt_interpolation kinds[] = {PELT_INTERPOLATION_LINEAR, PELT_INTERPOLATION_STEP,
                                        PELT_INTERPOLATION_CUBICSPLINE};
    for (uint32_t i = 0; i < PELTT_COUNT(kinds); i++) {
        bool cubic = kinds[i] == PELT_INTERPOLATION_CUBICSPLINE;
        peltt_locals f = one_track(PELT_PATH_SCALE, kinds[i], 1, times, cubic ? spline : line);
        const double moments[] = {0.0, 0.75, 0.8, 99.0};
        for (uint32_t k = 0; k < PELTT_COUNT(moments); k++) {
            expect_vector(sample(&f, moments[k])->scale, 1, 2, 3);
        }
        peltt_locals_free(&f);
    }
}

static void a_key_gives_exactly_the_stored_value(void **state)
{
    (void)state;
    peltt_random random = {1};
    for (uint32_t round = 0; round < 200; round++) {
        pelt_interpolation kind = (pelt_interpolation)(round % 3);
        uint32_t parts = kind == PELT_INTERPOLATION_CUBICSPLINE ? 3 : 1;
        float times[9];
        float places[9 * 3 * 3];
        float turns[9 * 3 * 4];
        float time = peltt_random_float(&random, 0, 2);
        for (uint32_t i = 0; i < 9; i++) {
            times[i] = time;
            time += peltt_random_float(&random, 0.001F, 1.0F);
        }
        for (uint32_t i = 0; i < 9 * parts; i++) {
            pelt_trs trs = peltt_random_trs(&random);
            memcpy(places + 3 * (size_t)i, &trs.translation, sizeof trs.translation);
            memcpy(turns + 4 * (size_t)i, &trs.rotation, sizeof trs.rotation);
        }
        peltt_track tracks[] = {{0, PELT_PATH_ROTATION, kind, 9, times, turns},
                                {0, PELT_PATH_TRANSLATION, kind, 9, times, places}};
        peltt_locals f = one_node(tracks, 2);
        // Channels are sorted: the translation comes first. Import has normalised the rotations of LINEAR and STEP.
        const pelt_clip *clip = &f.data->clips[0];
        const float *stored_turns = clip->samplers[clip->channels[1].sampler].values;
        for (uint32_t i = 0; i < 9; i++) {
            size_t at = parts == 3 ? 3 * (size_t)i + 1 : i;
            const pelt_trs *got = sample(&f, (double)times[i]);
            assert_memory_equal(&got->translation, places + 3 * at, sizeof got->translation);
            assert_memory_equal(&got->rotation, stored_turns + 4 * at, sizeof got->rotation);
        }
        peltt_locals_free(&f);
    }
}

static void linear_rotation_is_slerp_on_the_shorter_arc(void **state)
{
    (void)state;
    peltt_random random = {2};
    const double angles[] = {1e-7, 1e-5, 1e-3, 0.02, 0.5, 1.5, 3.0, 3.1415, 3.141592};
    const float times[] = {0.25F, 4.25F};
    for (uint32_t round = 0; round < 900; round++) {
        pelt_quat start = peltt_random_trs(&random).rotation;
        pelt_quat direction = peltt_random_trs(&random).rotation;
        peltt_double4 a = peltt_from_quat(start);
        double size = sqrt((double)direction.x * (double)direction.x + (double)direction.y * (double)direction.y +
                           (double)direction.z * (double)direction.z);
        double axis[3] = {(double)direction.x / size, (double)direction.y / size, (double)direction.z / size};
        peltt_double4 b = peltt_product(a, peltt_axis_angle(axis, angles[round % PELTT_COUNT(angles)]));
        // Every other time the same rotation from the other side of the sphere: nearly opposite where the angle is
        // small.
        double sign = round % 2 == 0 ? 1.0 : -1.0;
        float values[8] = {start.x, start.y, start.z, start.w};
        for (int i = 0; i < 4; i++) {
            values[4 + i] = (float)(sign * b.v[i]);
        }
        peltt_double4 end = peltt_from_quat((pelt_quat){values[4], values[5], values[6], values[7]});
        peltt_locals f = one_track(PELT_PATH_ROTATION, PELT_INTERPOLATION_LINEAR, 2, times, values);
        for (uint32_t i = 0; i <= 8; i++) {
            double share = i / 8.0;
            peltt_expect_rotation(sample(&f, 0.25 + 4.0 * share)->rotation, peltt_slerp(a, end, share), 1.3e-7);
        }
        peltt_locals_free(&f);
    }
}

// Rounding the unit quaternion to float alone gives 1.8e-8 and 4.6e-8: what the lengths near one leave to choose from
// must be used.
static void sampled_rotations_are_rounded_to_turn_as_asked(void **state)
{
    (void)state;
    peltt_random random = {.state = 11};
    const float times[] = {0, 1};
    const uint32_t count = 4000;
    double sum = 0.0;
    double worst = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        pelt_quat a = peltt_random_trs(&random).rotation;
        pelt_quat b = peltt_random_trs(&random).rotation;
        double share = 0.01 + 0.98 * peltt_random_unit(&random);
        const float values[] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
        peltt_locals f = one_track(PELT_PATH_ROTATION, PELT_INTERPOLATION_LINEAR, 2, times, values);
        // The keys as the asset holds them: bringing them to unit length has rounded some once more.
        const float *k = pelt_asset_get(f.asset)->clips[0].samplers[0].values;
        peltt_double4 from = peltt_from_quat((pelt_quat){k[0], k[1], k[2], k[3]});
        peltt_double4 to = peltt_from_quat((pelt_quat){k[4], k[5], k[6], k[7]});
        peltt_double4 got = peltt_normal4(peltt_from_quat(sample(&f, share)->rotation));
        peltt_double4 want = peltt_slerp(from, to, share);
        double sign = peltt_dot4(got, want) < 0.0 ? -1.0 : 1.0;
        peltt_double4 off;
        for (int c = 0; c < 4; c++) {
            off.v[c] = got.v[c] - sign * want.v[c];
        }
        sum += peltt_dot4(off, off);
        worst = fmax(worst, peltt_length4(off));
        peltt_locals_free(&f);
    }
    assert_true(sqrt(sum / count) < 1.3e-8);
    assert_true(worst < 3.3e-8);
}

static void opposite_quaternions_are_one_rotation(void **state)
{
    (void)state;
    const float times[] = {0, 1};
    const float values[] = {0.6F, 0, 0.8F, 0, -0.6F, 0, -0.8F, 0};
    peltt_locals f = one_track(PELT_PATH_ROTATION, PELT_INTERPOLATION_LINEAR, 2, times, values);
    peltt_expect_rotation(sample(&f, 0.3)->rotation, (peltt_double4){{0.6, 0, 0.8, 0}}, 1e-7);
    peltt_locals_free(&f);
}

static void half_turns_keep_unit_length(void **state)
{
    (void)state;
    const float times[] = {0, 1};
    const float values[] = {0, 0, 0, 1, 1, 0, 0, 0};
    peltt_locals f = one_track(PELT_PATH_ROTATION, PELT_INTERPOLATION_LINEAR, 2, times, values);
    for (uint32_t i = 1; i < 10; i++) {
        double angle = 3.14159265358979324 * i / 10.0;
        peltt_expect_rotation(sample(&f, i / 10.0)->rotation, (peltt_double4){{sin(angle / 2), 0, 0, cos(angle / 2)}},
                              1e-7);
    }
    peltt_locals_free(&f);
}

static void cubic_rotation_is_the_spline_normalised(void **state)
{
    (void)state;
    const float times[] = {0, 1};
    const float values[] = {0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 2, 0, 0, 3, 0, 0, 0.6F, 0, 0.8F, 0, 0, 0, 0, 0};
    peltt_locals f = one_track(PELT_PATH_ROTATION, PELT_INTERPOLATION_CUBICSPLINE, 2, times, values);
    peltt_double4 half = {{0.5 * (double)0.6F + 0.125, -0.375, 0.5 * (double)0.8F + 0.25, 0.5}};
    peltt_expect_rotation(sample(&f, 0.5)->rotation, peltt_normal4(half), 1e-7);
    peltt_locals_free(&f);
}

static void a_spline_through_zero_stays_a_rotation(void **state)
{
    (void)state;
    const float times[] = {0, 1};
    const float values[] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0};
    peltt_locals f = one_track(PELT_PATH_ROTATION, PELT_INTERPOLATION_CUBICSPLINE, 2, times, values);
    for (uint32_t i = 0; i <= 16; i++) {
        peltt_expect_rotation(sample(&f, i / 16.0)->rotation, (peltt_double4){{0, 0, 0, 1}}, 1e-7);
    }
    peltt_locals_free(&f);
}

static void huge_tangents_stay_finite(void **state)
{
    (void)state;
    const float times[] = {0, 1000};
    const float values[] = {0, 0, 0, 0, 0, 0, 3e38F, -3e38F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    peltt_locals f = one_track(PELT_PATH_TRANSLATION, PELT_INTERPOLATION_CUBICSPLINE, 2, times, values);
    pelt_vec3 v = sample(&f, 300.0)->translation;
    assert_true(isfinite(v.x) && isfinite(v.y) && v.x > 1e38F && v.y < -1e38F && v.z == 0.0F);
    peltt_locals_free(&f);
}

static void weights_are_sampled_per_target(void **state)
{
    (void)state;
    const float times[] = {0, 2};
    // Per key: in-tangents of both targets, values of both, out-tangents of both.
    const float values[] = {9, 9, 0, -1, 1, 0, 0, 2, 4, 3, 9, 9};
    peltt_locals f = one_track(PELT_PATH_WEIGHTS, PELT_INTERPOLATION_CUBICSPLINE, 2, times, values);
    sample(&f, 1.0);
    assert_true(f.locals.weights[0] == 2.25F);
    assert_true(f.locals.weights[1] == 0.5F); // (-1 + 3) / 2 + 2 * 0 / 8 - 2 * 2 / 8
    assert_int_equal(f.locals.weights_changed[0], 1);
    assert_int_equal(f.locals.transform_changed[0], 0);
    peltt_locals_free(&f);
}

static void channels_may_share_a_sampler(void **state)
{
    (void)state;
    const float times[] = {0, 1};
    const float values[] = {1, 2, 3, 3, 4, 5};
    peltt_track tracks[] = {{0, PELT_PATH_SCALE, PELT_INTERPOLATION_LINEAR, 2, times, values},
                            {0, PELT_PATH_TRANSLATION, PELT_INTERPOLATION_LINEAR, 2, times, values}};
    peltt_locals f = one_node(tracks, 2);
    assert_int_equal(f.data->clips[0].sampler_count, 1);
    expect_vector(sample(&f, 0.5)->translation, 2, 3, 4);
    expect_vector(f.locals.transforms->scale, 2, 3, 4);
    peltt_locals_free(&f);
}

static void a_million_keys_are_found(void **state)
{
    (void)state;
    const uint32_t count = 1000000;
    float *times = malloc(count * sizeof *times);
    float *values = malloc((size_t)3 * count * sizeof *values);
    for (uint32_t i = 0; i < count; i++) {
        times[i] = (float)i * 0.125F;
        values[3 * (size_t)i] = (float)i;
        values[3 * (size_t)i + 1] = 0;
        values[3 * (size_t)i + 2] = -(float)i;
    }
    peltt_locals f = one_track(PELT_PATH_TRANSLATION, PELT_INTERPOLATION_LINEAR, count, times, values);
    peltt_random random = {3};
    for (uint32_t i = 0; i < 10000; i++) {
        double time = peltt_random_unit(&random) * 125100.0 - 50.0;
        float expected = (float)fmin(fmax(time * 8.0, 0.0), count - 1.0);
        pelt_vec3 v = sample(&f, time)->translation;
        assert_true(fabsf(v.x - expected) <= 0.0625F && v.x == -v.z);
        assert_true(expected > 1e5F || fabsf(v.x - expected) <= 0.005F);
    }
    peltt_locals_free(&f);
    free(times);
    free(values);
}

static void sampled_nodes_leave_their_matrix(void **state)
{
    (void)state;
    const float times[] = {0};
    const float values[] = {0, 0, 0};
    peltt_locals f = one_track(PELT_PATH_TRANSLATION, PELT_INTERPOLATION_STEP, 1, times, values);
    f.locals.uses_matrix[0] = 2;
    sample(&f, 0.0); // the same translation as at rest, but no longer the matrix
    assert_int_equal(f.locals.uses_matrix[0], 0);
    assert_int_equal(f.locals.transform_changed[0], 1);
    peltt_locals_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_holds_value_until_next_key),
        cmocka_unit_test(linear_vector_is_a_straight_line),
        cmocka_unit_test(sample_clamps_before_first_key_and_after_last_key),
        cmocka_unit_test(cubic_spline_takes_tangents_times_key_distance),
        cmocka_unit_test(one_key_is_constant),
        cmocka_unit_test(a_key_gives_exactly_the_stored_value),
        cmocka_unit_test(linear_rotation_is_slerp_on_the_shorter_arc),
        cmocka_unit_test(sampled_rotations_are_rounded_to_turn_as_asked),
        cmocka_unit_test(opposite_quaternions_are_one_rotation),
        cmocka_unit_test(half_turns_keep_unit_length),
        cmocka_unit_test(cubic_rotation_is_the_spline_normalised),
        cmocka_unit_test(a_spline_through_zero_stays_a_rotation),
        cmocka_unit_test(huge_tangents_stay_finite),
        cmocka_unit_test(weights_are_sampled_per_target),
        cmocka_unit_test(channels_may_share_a_sampler),
        cmocka_unit_test(a_million_keys_are_found),
        cmocka_unit_test(sampled_nodes_leave_their_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

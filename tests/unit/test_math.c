// SPDX-License-Identifier: MIT
// Transforms, inverses and boxes against closed forms and against maths written here in other ways.
#include "math/math.h"
#include "peltt_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) {
        fail_msg("%.17g is not within %g of %.17g", a, tolerance, b);
    }
}

static pelt_mat34 random_matrix(peltt_random *random)
{
    pelt_mat34 m;
    for (int i = 0; i < 12; i++) {
        m.m[i / 4][i % 4] = peltt_random_float(random, -3, 3);
    }
    return m;
}

static pelt_vec3 random_point(peltt_random *random)
{
    pelt_vec3 p;
    p.x = peltt_random_float(random, -10, 10);
    p.y = peltt_random_float(random, -10, 10);
    p.z = peltt_random_float(random, -10, 10);
    return p;
}

static void identities_move_nothing(void **state)
{
    (void)state;
    pelt_trs trs = pelt_trs_identity();
    pelt_mat34 from_trs = pelt_mat34_from_trs(&trs);
    pelt_mat34 identity = pelt_mat34_identity();
    assert_memory_equal(&from_trs, &identity, sizeof identity);
    pelt_vec3 p = pelt_mat34_transform_point(&identity, (pelt_vec3){1.5f, -2, 3e7f});
    assert_true(p.x == 1.5f && p.y == -2.0f && p.z == 3e7f);
}

// v' = v + 2 w (u x v) + 2 u x (u x v) with q = (u, w): another form than the matrix.
static pelti_vec3d rotate(pelti_quatd q, pelti_vec3d v)
{
    pelti_vec3d u = {q.x, q.y, q.z};
    pelti_vec3d once = pelti_vec3d_cross(u, v);
    pelti_vec3d twice = pelti_vec3d_cross(u, once);
    return (pelti_vec3d){v.x + 2 * (q.w * once.x + twice.x), v.y + 2 * (q.w * once.y + twice.y),
                         v.z + 2 * (q.w * once.z + twice.z)};
}

static void trs_scales_then_rotates_then_translates(void **state)
{
    (void)state;
    peltt_random random = {11};
    for (int i = 0; i < 1000; i++) {
        pelt_trs trs;
        trs.translation = random_point(&random);
        trs.scale = random_point(&random); // mirrored ones among them
        trs.rotation = (pelt_quat){peltt_random_float(&random, -1, 1), peltt_random_float(&random, -1, 1),
                                   peltt_random_float(&random, -1, 1), peltt_random_float(&random, -1, 1)};
        pelti_quatd q = pelti_quatd_from_quat(trs.rotation);
        double length = sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
        q = (pelti_quatd){q.x / length, q.y / length, q.z / length, q.w / length};
        pelt_vec3 p = random_point(&random);
        pelti_vec3d expected =
            rotate(q, (pelti_vec3d){(double)p.x * (double)trs.scale.x, (double)p.y * (double)trs.scale.y,
                                    (double)p.z * (double)trs.scale.z});
        pelti_mat34d m = pelti_mat34d_from_trs(&trs);
        pelti_vec3d got = pelti_mat34d_transform_point(&m, pelti_vec3d_from_vec3(p));
        assert_near(got.x, expected.x + (double)trs.translation.x, 1e-12);
        assert_near(got.y, expected.y + (double)trs.translation.y, 1e-12);
        assert_near(got.z, expected.z + (double)trs.translation.z, 1e-12);
        // The public one is the same, rounded once.
        pelt_mat34 rounded = pelt_mat34_from_trs(&trs);
        for (int k = 0; k < 12; k++) {
            assert_true(rounded.m[k / 4][k % 4] == (float)m.m[k]);
        }
    }
}

static void rotation_by_quarter_turns(void **state)
{
    (void)state;
    // 90 degrees about x, y and z: y -> z, z -> x, x -> y.
    const float h = 0.70710678f;
    const pelt_quat turns[3] = {{h, 0, 0, h}, {0, h, 0, h}, {0, 0, h, h}};
    const pelt_vec3 from[3] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    const pelt_vec3 to[3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    for (int i = 0; i < 3; i++) {
        pelt_trs trs = pelt_trs_identity();
        trs.rotation = turns[i];
        pelt_mat34 m = pelt_mat34_from_trs(&trs);
        pelt_vec3 p = pelt_mat34_transform_point(&m, from[i]);
        assert_near((double)p.x, (double)to[i].x, 1e-7);
        assert_near((double)p.y, (double)to[i].y, 1e-7);
        assert_near((double)p.z, (double)to[i].z, 1e-7);
    }
}

static void rotation_of_any_length_is_normalised(void **state)
{
    (void)state;
    const float lengths[] = {1e-45f, 1e-38f, 1e-20f, 0.5f, 1, 3, 1e20f, 1.7e38f};
    pelt_trs trs = pelt_trs_identity();
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        // Four equal parts: 120 degrees about (1, 1, 1), which turns x into y, y into z and z into x.
        float part = lengths[i];
        trs.rotation = (pelt_quat){part, part, part, part};
        pelt_mat34 m = pelt_mat34_from_trs(&trs);
        pelt_vec3 p = pelt_mat34_transform_point(&m, (pelt_vec3){1, 2, 3});
        assert_near((double)p.x, 3, 1e-6);
        assert_near((double)p.y, 1, 1e-6);
        assert_near((double)p.z, 2, 1e-6);
    }
}

static void product_applies_the_right_factor_first(void **state)
{
    (void)state;
    peltt_random random = {5};
    for (int i = 0; i < 1000; i++) {
        pelt_mat34 a = random_matrix(&random);
        pelt_mat34 b = random_matrix(&random);
        pelt_vec3 p = random_point(&random);
        pelt_mat34 product = pelt_mat34_multiply(&a, &b);
        pelt_vec3 once = pelt_mat34_transform_point(&product, p);
        pelt_vec3 inner = pelt_mat34_transform_point(&b, p);
        pelt_vec3 twice = pelt_mat34_transform_point(&a, inner);
        assert_near((double)once.x, (double)twice.x, 1e-4);
        assert_near((double)once.y, (double)twice.y, 1e-4);
        assert_near((double)once.z, (double)twice.z, 1e-4);
    }
    // And exactly, with integers: every product of small ones is one.
    pelt_mat34 a = {{{1, 2, 3, 4}, {0, 1, 4, 5}, {5, 6, 0, 6}}};
    pelt_mat34 b = {{{7, 0, 2, 1}, {1, 3, 0, 2}, {0, 1, 1, 3}}};
    pelt_mat34 expected = {{{9, 9, 5, 18}, {1, 7, 4, 19}, {41, 18, 10, 23}}};
    pelt_mat34 product = pelt_mat34_multiply(&a, &b);
    assert_memory_equal(&product, &expected, sizeof expected);
}

static void inverse_undoes(void **state)
{
    (void)state;
    peltt_random random = {6};
    for (int i = 0; i < 1000; i++) {
        pelt_mat34 m = random_matrix(&random);
        double determinant = pelt_mat34_determinant(&m);
        pelt_mat34 inverse;
        assert_true(pelt_mat34_invert(&m, &inverse));
        pelt_mat34 product = pelt_mat34_multiply(&m, &inverse);
        pelt_mat34 identity = pelt_mat34_identity();
        for (int k = 0; k < 12; k++) {
            assert_near((double)product.m[k / 4][k % 4], (double)identity.m[k / 4][k % 4],
                        1e-5 + 1e-4 / fabs(determinant));
        }
    }
}

static void inverse_does_not_depend_on_scale(void **state)
{
    (void)state;
    const float scales[] = {1e-30f, 1e-10f, 1e10f, 1e30f};
    for (size_t i = 0; i < 4; i++) {
        float s = scales[i];
        pelt_mat34 m = {{{0, s, 0, s}, {0, 0, -s, 2 * s}, {s, 0, 0, 0}}};
        pelt_mat34 inverse;
        assert_true(pelt_mat34_invert(&m, &inverse));
        const double expected[12] = {0, 0, 1, 0, 1, 0, 0, -1, 0, -1, 0, 2};
        for (int k = 0; k < 12; k++) {
            double unit = k % 4 == 3 ? 1.0 : (double)s;
            assert_near((double)inverse.m[k / 4][k % 4] * unit, expected[k], 1e-6);
        }
    }
    // One axis much smaller than the others is not singular either.
    pelt_mat34 flat = {{{1, 0, 0, 0}, {0, 1e-30f, 0, 0}, {0, 0, 1, 0}}};
    pelt_mat34 inverse;
    assert_true(pelt_mat34_invert(&flat, &inverse));
    assert_near((double)inverse.m[1][1], 1e30, 1e24);
}

static void inverse_refuses_singular_and_infinite(void **state)
{
    (void)state;
    const pelt_mat34 refused[] = {
        {{{0, 0, 0, 1}, {0, 0, 0, 2}, {0, 0, 0, 3}}},
        {{{1, 2, 3, 0}, {2, 4, 6, 0}, {0, 0, 1, 0}}},
        {{{0.1f, 0.2f, 0.3f, 0}, {0.7f, 0.11f, 0.13f, 0}, {0.1f, 0.2f, 0.3f, 0}}}, // rounding alone may say otherwise
        {{{1e-40f, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}},                         // 1e40 is no float
        {{{NAN, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}},
        {{{1, 0, 0, INFINITY}, {0, 1, 0, 0}, {0, 0, 1, 0}}},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        pelt_mat34 out = pelt_mat34_identity();
        pelt_mat34 identity = out;
        assert_false(pelt_mat34_invert(&refused[i], &out));
        assert_memory_equal(&out, &identity, sizeof out);
    }
}

static void determinant_of_known_matrices(void **state)
{
    (void)state;
    pelt_mat34 mirror = {{{-1, 0, 0, 9}, {0, 2, 0, 9}, {0, 0, 3, 9}}};
    assert_near(pelt_mat34_determinant(&mirror), -6, 0);
    pelt_mat34 full = {{{2, -1, 3, 0}, {4, 5, -6, 0}, {-7, 8, 9, 0}}};
    assert_near(pelt_mat34_determinant(&full), 381, 0); // by hand: 2 * 93 + 1 * (36 - 42) + 3 * (32 + 35)
}

static void slerp_turns_evenly_along_the_shorter_arc(void **state)
{
    (void)state;
    peltt_random random = {21};
    for (int i = 0; i < 2000; i++) {
        double angle = peltt_random_unit(&random) * 3.1; // between the quaternions: at most half of it is turned
        double share = peltt_random_unit(&random);
        double size = 0.1 + 10 * peltt_random_unit(&random);
        double sign = i % 2 ? -1 : 1;
        pelti_quatd a = {0, 0, 0, size};
        pelti_quatd b = {0, sign * sin(angle / 2), 0, sign * cos(angle / 2)};
        pelti_quatd q = pelti_quatd_slerp(a, b, share);
        assert_near(q.y, sin(angle / 2 * share), 1e-14);
        assert_near(q.w, cos(angle / 2 * share), 1e-14);
        assert_near(q.x, 0, 0);
        assert_near(q.z, 0, 0);
    }
}

static void slerp_is_exact_at_its_ends_and_for_tiny_angles(void **state)
{
    (void)state;
    pelti_quatd a = {0.5, 0.5, 0.5, 0.5};
    for (double angle = 1e-18; angle < 1e-3; angle *= 7) {
        pelti_quatd b = {sin(angle), 0, 0, cos(angle)};
        pelti_quatd q = pelti_quatd_slerp((pelti_quatd){0, 0, 0, 1}, b, 0.25);
        assert_near(q.x, sin(angle * 0.25), 1e-16);
        assert_near(pelti_quatd_dot(q, q), 1, 1e-15);
    }
    pelti_quatd start = pelti_quatd_slerp(a, (pelti_quatd){1, 0, 0, 0}, 0);
    pelti_quatd end = pelti_quatd_slerp((pelti_quatd){1, 0, 0, 0}, a, 1);
    assert_near(start.w, 0.5, 1e-15);
    assert_near(end.w, 0.5, 1e-15);
    // Opposite quaternions are the same rotation.
    pelti_quatd same = pelti_quatd_slerp(a, (pelti_quatd){-0.5, -0.5, -0.5, -0.5}, 0.5);
    assert_near(fabs(pelti_quatd_dot(same, a)), 1, 1e-15);
}

static void normalising_zero_is_refused(void **state)
{
    (void)state;
    pelti_quatd q = {0, 0, 0, 0};
    pelti_vec3d v = {0, 0, 0};
    assert_false(pelti_quatd_normalize(&q));
    assert_false(pelti_vec3d_normalize(&v));
    v = (pelti_vec3d){0, (double)1e-45f, 0};
    assert_true(pelti_vec3d_normalize(&v));
    assert_near(v.y, 1, 0);
    v.x = (double)NAN;
    assert_false(pelti_vec3d_normalize(&v));
}

static void empty_boxes_join_and_stay_empty(void **state)
{
    (void)state;
    pelt_box empty = pelt_box_empty();
    pelt_box unit = {{0, 0, 0}, {1, 2, 3}};
    pelt_box point = {{1, 1, 1}, {1, 1, 1}};
    assert_true(pelt_box_is_empty(&empty));
    assert_false(pelt_box_is_empty(&point));
    assert_true(isinf(empty.min[0]) && empty.min[0] > 0 && isinf(empty.max[2]) && empty.max[2] < 0);
    pelt_box joined = pelt_box_union(&empty, &unit);
    assert_memory_equal(&joined, &unit, sizeof unit);
    joined = pelt_box_union(&unit, &empty);
    assert_memory_equal(&joined, &unit, sizeof unit);
    joined = pelt_box_union(&empty, &empty);
    assert_memory_equal(&joined, &empty, sizeof empty);
    pelt_mat34 m = {{{0, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    pelt_box moved = pelt_box_transform(&m, &empty);
    assert_memory_equal(&moved, &empty, sizeof empty);
    assert_near(pelt_box_volume(&empty), 0, 0);
    assert_near(pelt_box_volume(&point), 0, 0);
    assert_near(pelt_box_volume(&unit), 6, 0);
}

static void union_is_the_smallest_box_around_both(void **state)
{
    (void)state;
    pelt_box a = {{0, -1, 5}, {1, 1, 6}};
    pelt_box b = {{-3, 0, 5.5f}, {0.5f, 4, 5.6f}};
    pelt_box expected = {{-3, -1, 5}, {1, 4, 6}};
    pelt_box box = pelt_box_union(&a, &b);
    assert_memory_equal(&box, &expected, sizeof box);
}

// The smallest box around eight transformed corners, each of which the transformed box must hold to the last bit.
static void transformed_box_fits_its_corners(void **state)
{
    (void)state;
    peltt_random random = {77};
    for (int i = 0; i < 1000; i++) {
        pelt_mat34 m = random_matrix(&random);
        pelt_vec3 a = random_point(&random);
        pelt_vec3 b = random_point(&random);
        pelt_box box = {{fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z)},
                        {fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z)}};
        pelt_box expected = pelt_box_empty();
        for (int corner = 0; corner < 8; corner++) {
            pelt_vec3 p = {corner & 1 ? a.x : b.x, corner & 2 ? a.y : b.y, corner & 4 ? a.z : b.z};
            p = pelt_mat34_transform_point(&m, p);
            pelt_box single = {{p.x, p.y, p.z}, {p.x, p.y, p.z}};
            expected = pelt_box_union(&expected, &single);
        }
        pelt_box moved = pelt_box_transform(&m, &box);
        for (int k = 0; k < 3; k++) {
            assert_true(moved.min[k] == expected.min[k] && moved.max[k] == expected.max[k]);
        }
    }
}

static void transformed_unbounded_box_has_no_nan(void **state)
{
    (void)state;
    pelt_box half = {{-INFINITY, 0, 0}, {INFINITY, 1, 1}};
    pelt_mat34 m = {{{0, 2, 0, 1}, {0, 0, 1, 0}, {1, 0, 0, 0}}};
    pelt_box moved = pelt_box_transform(&m, &half);
    assert_true(moved.min[0] == 1.0f && moved.max[0] == 3.0f);
    assert_true(isinf(moved.min[2]) && isinf(moved.max[2]));
    pelt_box flat = {{-INFINITY, 0, 0}, {INFINITY, 0, 1}};
    assert_near(pelt_box_volume(&flat), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identities_move_nothing),
        cmocka_unit_test(trs_scales_then_rotates_then_translates),
        cmocka_unit_test(rotation_by_quarter_turns),
        cmocka_unit_test(rotation_of_any_length_is_normalised),
        cmocka_unit_test(product_applies_the_right_factor_first),
        cmocka_unit_test(inverse_undoes),
        cmocka_unit_test(inverse_does_not_depend_on_scale),
        cmocka_unit_test(inverse_refuses_singular_and_infinite),
        cmocka_unit_test(determinant_of_known_matrices),
        cmocka_unit_test(slerp_turns_evenly_along_the_shorter_arc),
        cmocka_unit_test(slerp_is_exact_at_its_ends_and_for_tiny_angles),
        cmocka_unit_test(normalising_zero_is_refused),
        cmocka_unit_test(empty_boxes_join_and_stay_empty),
        cmocka_unit_test(union_is_the_smallest_box_around_both),
        cmocka_unit_test(transformed_box_fits_its_corners),
        cmocka_unit_test(transformed_unbounded_box_has_no_nan),
    };
    return cmocka_run_group_tests_name("math", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Skinning against closed forms: directions, signs, morphs and history.
#include "peltt_isa.h"
#include "peltt_random.h"

#include <pelt/skin.h>

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// One vertex through one matrix, with everything asked for.
typedef struct single {
    pelt_mat34 m;
    float position[3];
    float normal[3];
    float tangent[4];
    float out_position[3];
    float out_normal[3];
    float out_tangent[4];
    uint8_t mirrored;
} single;

static single single_of(const float linear[3][3], const float normal[3], const float tangent[4])
{
    single s = {.position = {1.0F, 2.0F, 3.0F}};
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            s.m.m[r][c] = linear[r][c];
        }
    }
    memcpy(s.normal, normal, sizeof s.normal);
    memcpy(s.tangent, tangent, sizeof s.tangent);
    return s;
}

static void evaluate_single(single *s, uint32_t flags)
{
    pelt_skin_job job = {.isa = peltt_isa,
                         .vertex_count = 1,
                         .flags = flags,
                         .palette_count = 1,
                         .palette = &s->m,
                         .positions = s->position,
                         .normals = s->normal,
                         .tangents = s->tangent,
                         .out_positions = s->out_position,
                         .out_normals = s->out_normal,
                         .out_tangents = s->out_tangent,
                         .out_mirrored = &s->mirrored};
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
}

static void assert_vec3(const float *actual, double x, double y, double z, double tolerance)
{
    double distance = fmax(fmax(fabs((double)actual[0] - x), fabs((double)actual[1] - y)), fabs((double)actual[2] - z));
    if (!(distance <= tolerance)) {
        fail_msg("(%.9g %.9g %.9g) is not (%.9g %.9g %.9g)", (double)actual[0], (double)actual[1], (double)actual[2], x,
                 y, z);
    }
}

// Checks one case with and without PELT_NORMAL_OUTWARD: the flag turns the normal and w by the determinant's sign only.
static void check_single(const float linear[3][3], const float normal[3], const float tangent[4],
                         const double want_normal[3], const double want_tangent[3], bool mirrored)
{
    for (uint32_t flags = 0; flags <= PELT_NORMAL_OUTWARD; flags++) {
        single s = single_of(linear, normal, tangent);
        evaluate_single(&s, flags);
        double sign = flags && mirrored ? -1.0 : 1.0;
        assert_vec3(s.out_normal, want_normal[0] * sign, want_normal[1] * sign, want_normal[2] * sign, 1.5e-7);
        assert_vec3(s.out_tangent, want_tangent[0], want_tangent[1], want_tangent[2], 1.5e-7);
        assert_true((double)s.out_tangent[3] == (double)tangent[3] * sign);
        assert_int_equal(s.mirrored, mirrored);
    }
}

static void uneven_scale_bends_normals_by_the_inverse(void **state)
{
    (void)state;
    // Inverse transpose of diag(1, 4, 1) times (.6, .8, 0) is (.6, .2, 0); the tangent (-.8, .6, 0) becomes (-.8, 2.4,
    // 0).
    const float scale[3][3] = {{1, 0, 0}, {0, 4, 0}, {0, 0, 1}};
    check_single(scale, (float[]){0.6F, 0.8F, 0.0F}, (float[]){-0.8F, 0.6F, 0.0F, 1.0F},
                 (double[]){0.6 / sqrt(0.4), 0.2 / sqrt(0.4), 0.0}, (double[]){-0.8 / sqrt(6.4), 2.4 / sqrt(6.4), 0.0},
                 false);
    single s = single_of(scale, (float[]){0.6F, 0.8F, 0.0F}, (float[]){1, 0, 0, 1});
    evaluate_single(&s, 0);
    assert_vec3(s.out_normal, 0.948683, 0.316228, 0.0, 1e-6);
    assert_vec3(s.out_position, 1.0, 8.0, 3.0, 0.0);
}

static void shear_keeps_normals_perpendicular(void **state)
{
    (void)state;
    // x' = x + 3 y: the plane x = 0 becomes x - 3 y = 0, the direction y becomes (3, 1, 0).
    const float shear[3][3] = {{1, 3, 0}, {0, 1, 0}, {0, 0, 1}};
    check_single(shear, (float[]){1, 0, 0}, (float[]){0, 1, 0, -1.0F},
                 (double[]){1.0 / sqrt(10.0), -3.0 / sqrt(10.0), 0.0},
                 (double[]){3.0 / sqrt(10.0), 1.0 / sqrt(10.0), 0}, false);
}

static void mirrors_agree_with_winding_or_point_outward(void **state)
{
    (void)state;
    // Without the flag a normal goes with the winding: cross(M u, M v) for n = cross(u, v).
    const float x[3][3] = {{-1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    check_single(x, (float[]){1, 0, 0}, (float[]){0, 1, 0, 1}, (double[]){1, 0, 0}, (double[]){0, 1, 0}, true);
    check_single(x, (float[]){0, 0, 1}, (float[]){1, 0, 0, -1}, (double[]){0, 0, -1}, (double[]){-1, 0, 0}, true);
    const float point[3][3] = {{-2, 0, 0}, {0, -2, 0}, {0, 0, -2}};
    check_single(point, (float[]){0, 1, 0}, (float[]){0, 0, 1, 1}, (double[]){0, 1, 0}, (double[]){0, 0, -1}, true);
    const float turn[3][3] = {{-1, 0, 0}, {0, -1, 0}, {0, 0, 1}}; // two mirrors are a turn
    check_single(turn, (float[]){1, 0, 0}, (float[]){0, 1, 0, 1}, (double[]){-1, 0, 0}, (double[]){0, -1, 0}, false);
    const float swap[3][3] = {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}};
    check_single(swap, (float[]){0, 0, 1}, (float[]){1, 0, 0, 1}, (double[]){0, 0, -1}, (double[]){0, 1, 0}, true);
}

static void flat_matrices_keep_the_plane_normal(void **state)
{
    (void)state;
    // Flattened onto z = 0 every normal with a z becomes +-z; one without falls back to the input direction.
    const float flat[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 0}};
    check_single(flat, (float[]){0.6F, 0, 0.8F}, (float[]){0.6F, 0, 0.8F, 1}, (double[]){0, 0, 1}, (double[]){1, 0, 0},
                 false);
    check_single(flat, (float[]){0, 3, -0.5F}, (float[]){0, 0, 5, 1}, (double[]){0, 0, -1}, (double[]){0, 0, 1}, false);
    check_single(flat, (float[]){3, 4, 0}, (float[]){0, 0, 0, 1}, (double[]){0.6, 0.8, 0}, (double[]){1, 0, 0}, false);
    const float line[3][3] = {{1, 0, 0}, {0, 0, 0}, {0, 0, 0}}; // rank one: the cofactor is zero
    check_single(line, (float[]){0, 0, -2}, (float[]){0, 2, 0, 1}, (double[]){0, 0, -1}, (double[]){0, 1, 0}, false);
    const float zero[3][3] = {{0}};
    check_single(zero, (float[]){0, -7, 0}, (float[]){0, 0, 2, -1}, (double[]){0, -1, 0}, (double[]){0, 0, 1}, false);
    check_single(zero, (float[]){0, 0, 0}, (float[]){0, 0, 0, -1}, (double[]){0, 0, 1}, (double[]){1, 0, 0}, false);
}

static void directions_are_of_unit_length_whatever_comes(void **state)
{
    (void)state;
    const float hostile[] = {0.0F,    -0.0F, 1.0F,    -3.0F,    1e-45F,   1e-38F,
                             -1e-20F, 1e20F, FLT_MAX, -FLT_MAX, INFINITY, NAN};
    peltt_random random = {.state = 12345};
    for (int round = 0; round < 20000; round++) {
        float values[16];
        for (int i = 0; i < 16; i++) {
            values[i] = hostile[peltt_random_below(&random, sizeof hostile / sizeof hostile[0])];
        }
        const float linear[3][3] = {
            {values[0], values[1], values[2]}, {values[3], values[4], values[5]}, {values[6], values[7], values[8]}};
        single s = single_of(linear, &values[9], &values[12]);
        evaluate_single(&s, (uint32_t)round & PELT_NORMAL_OUTWARD);
        const float *outs[] = {s.out_normal, s.out_tangent};
        for (int i = 0; i < 2; i++) {
            double length = sqrt((double)outs[i][0] * (double)outs[i][0] + (double)outs[i][1] * (double)outs[i][1] +
                                 (double)outs[i][2] * (double)outs[i][2]);
            assert_true(fabs(length - 1.0) < 3e-7);
            for (int k = 0; k < 3; k++) {
                assert_false(outs[i][k] == 0.0F && signbit(outs[i][k]));
            }
        }
    }
}

static void directions_hold_at_any_scale(void **state)
{
    (void)state;
    // Rotation by 2 pi / 3 about (1, 1, 1) cycles the axes exactly.
    const float scales[] = {1e-38F, 1e-30F, 1e-20F, 1e-10F, 1e-6F, 1.0F, 1e6F, 1e15F, 1e19F, 1e30F, 1e38F};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        float k = scales[i];
        const float cycle[3][3] = {{0, 0, k}, {k, 0, 0}, {0, k, 0}};
        check_single(cycle, (float[]){0.6F, 0.8F, 0.0F}, (float[]){0.8F, -0.6F, 0.0F, 1}, (double[]){0, 0.6, 0.8},
                     (double[]){0, 0.8, -0.6}, false);
        const float mirror[3][3] = {{k, 0, 0}, {0, k, 0}, {0, 0, -k}};
        check_single(mirror, (float[]){0, 0.6F, 0.8F}, (float[]){0, 0.8F, -0.6F, 1}, (double[]){0, -0.6, 0.8},
                     (double[]){0, 0.8, 0.6}, true);
    }
}

// Row-major rotation of a random unit quaternion, in double.
static void random_rotation(peltt_random *random, double r[3][3])
{
    double q[4];
    double length2 = 0.0;
    for (int i = 0; i < 4; i++) {
        q[i] = 2.0 * peltt_random_unit(random) - 1.0;
        length2 += q[i] * q[i];
    }
    double s = 2.0 / length2;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        r[i][i] = 1.0 - s * (q[j] * q[j] + q[k] * q[k]);
        r[i][j] = s * (q[i] * q[j] - q[k] * q[3]);
        r[i][k] = s * (q[i] * q[k] + q[j] * q[3]);
    }
}

// Where the terms of a float cofactor cancel, the result must still be that of the float matrix, computed in double.
static void nearly_singular_matrices_lose_nothing_more(void **state)
{
    (void)state;
    peltt_random random = {.state = 77};
    for (int round = 0; round < 20000; round++) {
        double a[3][3];
        double b[3][3];
        random_rotation(&random, a);
        random_rotation(&random, b);
        double d[3] = {1.0, pow(10.0, -6.0 * peltt_random_unit(&random)), pow(10.0, -6.0 * peltt_random_unit(&random))};
        float linear[3][3];
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                linear[i][j] = (float)(a[i][0] * d[0] * b[0][j] + a[i][1] * d[1] * b[1][j] + a[i][2] * d[2] * b[2][j]);
            }
        }
        float n[3] = {(float)b[round % 3][0], (float)b[round % 3][1], (float)b[round % 3][2]};
        double want[3];
        double length2 = 0.0;
        for (int i = 0; i < 3; i++) {
            const float *r1 = linear[(i + 1) % 3];
            const float *r2 = linear[(i + 2) % 3];
            want[i] = 0.0;
            for (int j = 0; j < 3; j++) {
                int k = (j + 1) % 3;
                int l = (j + 2) % 3;
                want[i] += ((double)r1[k] * (double)r2[l] - (double)r1[l] * (double)r2[k]) * (double)n[j];
            }
            length2 += want[i] * want[i];
        }
        single s = single_of((const float(*)[3])linear, n, (float[]){1, 0, 0, 1});
        evaluate_single(&s, 0);
        double length = sqrt(length2);
        assert_vec3(s.out_normal, want[0] / length, want[1] / length, want[2] / length, 3e-5);
    }
}

static void twelve_influences_sum_exactly(void **state)
{
    (void)state;
    // Joint i at (2^i, i, 0); the weights are powers of two, so every sum is exact.
    pelt_mat34 palette[12];
    uint16_t joints[12];
    float weights[12];
    for (int i = 0; i < 12; i++) {
        palette[i] = pelt_mat34_identity();
        palette[i].m[0][3] = (float)(1 << i);
        palette[i].m[1][3] = (float)i;
        joints[i] = (uint16_t)(11 - i);
        weights[i] = i < 4 ? 0.125F : 0.0625F;
    }
    const float position[3] = {1, 2, 3};
    float out[3];
    pelt_skin_job job = {.isa = peltt_isa,
                         .vertex_count = 1,
                         .palette_count = 12,
                         .palette = palette,
                         .influence_count = 12,
                         .joints = joints,
                         .weights = weights,
                         .positions = position,
                         .out_positions = out};
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    // x: (2048 + 1024 + 512 + 256) / 8 + 255 / 16 + 1; y: (11 + 10 + 9 + 8) / 8 + 28 / 16 + 2.
    assert_vec3(out, 480.0 + 15.9375 + 1.0, 4.75 + 1.75 + 2.0, 3.0, 0.0);
}

static void morphs_are_added_before_the_skin(void **state)
{
    (void)state;
    // A quarter turn about z, then everything is exact: (x, y, z) -> (-y, x, z).
    const pelt_mat34 turn = {{{0, -1, 0, 10}, {1, 0, 0, 20}, {0, 0, 1, 30}}};
    const float position[3] = {1, 2, 3};
    const float normal[3] = {0, 0, 2};
    const float tangent[4] = {1, 0, 0, -1};
    const float a[3] = {4, 8, 16};
    const float b[3] = {0, 2, -4};
    const float c[3] = {0, 2, 0};
    const float nan[3] = {NAN, NAN, NAN};
    const pelt_skin_morph morphs[] = {{-0.5F, a, NULL, NULL},
                                      {0.0F, nan, nan, nan},
                                      {1.5F, NULL, b, NULL},
                                      {2.0F, b, NULL, c},
                                      {-0.0F, nan, nan, nan}};
    float p[3];
    float n[3];
    float t[4];
    pelt_box box;
    pelt_skin_job job = {.isa = peltt_isa,
                         .vertex_count = 1,
                         .palette_count = 1,
                         .palette = &turn,
                         .positions = position,
                         .normals = normal,
                         .tangents = tangent,
                         .morph_count = 5,
                         .morphs = morphs,
                         .out_positions = p,
                         .out_normals = n,
                         .out_tangents = t,
                         .box = &box};
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    assert_vec3(p, 10.0 - (2.0 - 4.0 + 4.0), 20.0 + (1.0 - 2.0), 30.0 + (3.0 - 8.0 - 8.0), 0.0);
    assert_vec3(n, -0.6, 0.0, -0.8, 1e-7); // (0, 3, 2 - 6) turned, normalised
    assert_vec3(t, -4.0 / sqrt(17.0), 1.0 / sqrt(17.0), 0.0, 1e-7);
    assert_true(t[3] == -1.0F);
    assert_memory_equal(box.min, p, sizeof p);
    assert_memory_equal(box.max, p, sizeof p);
    // A morphed direction that vanishes has no input direction either: the axis.
    const float minus[3] = {0, 0, -1};
    const pelt_skin_morph cancel = {2.0F, NULL, minus, NULL};
    job.morphs = &cancel;
    job.morph_count = 1;
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    assert_vec3(n, 0.0, 0.0, 1.0, 0.0);
}

static void a_written_zero_is_always_positive(void **state)
{
    (void)state;
    // Every product and the translation are -0 in x; in y the products are -0; z sums to zero from two sides.
    single s = {.m = {{{1, 0, 0, -0.0F}, {0, 0, 0, 0.0F}, {0, 1, -1, -0.0F}}},
                .position = {-0.0F, -1.0F, -1.0F},
                .normal = {-0.0F, -0.0F, 1.0F},
                .tangent = {1.0F, -0.0F, -0.0F, 1.0F}};
    evaluate_single(&s, PELT_NORMAL_OUTWARD);
    for (int i = 0; i < 3; i++) {
        assert_true(s.out_position[i] == 0.0F && !signbit(s.out_position[i]));
        assert_false(s.out_normal[i] == 0.0F && signbit(s.out_normal[i]));
        assert_false(s.out_tangent[i] == 0.0F && signbit(s.out_tangent[i]));
    }
}

static void history_swaps_per_update_and_forgets_at_teleports(void **state)
{
    (void)state;
    float a[3];
    float b[3];
    pelt_position_history h = pelt_position_history_init(a, b);
    assert_false(h.previous_valid);
    assert_int_equal(h.update_count, 0);
    pelt_position_history_advance(&h, false);
    assert_false(h.previous_valid); // nothing was written before the first update
    const float *first = h.current;
    assert_true((h.current == a && h.previous == b) || (h.current == b && h.previous == a));
    pelt_position_history_advance(&h, false);
    assert_true(h.previous_valid);
    assert_ptr_equal(h.previous, first);
    assert_ptr_not_equal(h.current, first);
    pelt_position_history_advance(&h, true);
    assert_false(h.previous_valid);
    assert_ptr_equal(h.current, first);
    pelt_position_history_advance(&h, false);
    assert_true(h.previous_valid);
    assert_ptr_equal(h.previous, first);
    assert_int_equal(h.update_count, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uneven_scale_bends_normals_by_the_inverse),
        cmocka_unit_test(shear_keeps_normals_perpendicular),
        cmocka_unit_test(mirrors_agree_with_winding_or_point_outward),
        cmocka_unit_test(flat_matrices_keep_the_plane_normal),
        cmocka_unit_test(directions_are_of_unit_length_whatever_comes),
        cmocka_unit_test(directions_hold_at_any_scale),
        cmocka_unit_test(nearly_singular_matrices_lose_nothing_more),
        cmocka_unit_test(twelve_influences_sum_exactly),
        cmocka_unit_test(morphs_are_added_before_the_skin),
        cmocka_unit_test(a_written_zero_is_always_positive),
        cmocka_unit_test(history_swaps_per_update_and_forgets_at_teleports),
    };
    return PELTT_RUN_ISAS(tests);
}

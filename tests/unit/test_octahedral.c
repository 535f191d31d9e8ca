// SPDX-License-Identifier: MIT
// Octahedral directions: exact axes, the worst angle, and every kind of code.
#include "peltt_random.h"

#include <pelt/cook.h>

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// Degrees. The distance between neighbours is largest at the middle of a face, where the octahedron is 1/sqrt(3) from
// the centre: a step of 1/32767 along an edge turns by sqrt(2) * sqrt(3) / 32767 there, and no direction is further
// from a code than the circumradius of an equilateral triangle of that side, side / sqrt(3) = sqrt(2) / 32767 radians,
// or 0.00247. With 15 bits in one component the triangle has sides s, s' = 2 s and the third sqrt(3) s at a right
// angle: half the longest side, sqrt(6) / 32767 radians, or 0.00428.
static const double normal_worst = 0.00248;
static const double tangent_worst = 0.00429;
static const double degree = 57.29577951308232;

static double angle(const float a[3], const float b[3])
{
    double cross[3];
    double dot = 0.0;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        cross[i] = (double)a[j] * (double)b[k] - (double)a[k] * (double)b[j];
        dot += (double)a[i] * (double)b[i];
    }
    return degree * atan2(sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]), dot);
}

// The definition in double, with no rounding to float: the square's corners fold over the diamond's edges.
static void decode_by_definition(double x, double y, double out[3])
{
    out[2] = 1.0 - fabs(x) - fabs(y);
    out[0] = out[2] >= 0.0 ? x : copysign(1.0 - fabs(y), x);
    out[1] = out[2] >= 0.0 ? y : copysign(1.0 - fabs(x), y);
    double length = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    for (int i = 0; i < 3; i++) {
        out[i] /= length;
    }
}

// Worst angles so far.
typedef struct worst {
    double normal;
    double tangent;
} worst;

static void check_direction(const float v[3], worst *seen)
{
    float n[3];
    float t[4];
    const float tangent[4] = {v[0], v[1], v[2], v[0] > v[1] ? 1.0F : -1.0F};
    pelt_normal_decode(pelt_normal_encode(v), n);
    pelt_tangent_decode(pelt_tangent_encode(tangent), t);
    double normal_angle = angle(v, n);
    double tangent_angle = angle(v, t);
    seen->normal = fmax(seen->normal, normal_angle);
    seen->tangent = fmax(seen->tangent, tangent_angle);
    if (!(normal_angle <= normal_worst) || !(tangent_angle <= tangent_worst) || t[3] != tangent[3]) {
        fail_msg("(%.9g %.9g %.9g): %.6g and %.6g degrees", (double)v[0], (double)v[1], (double)v[2], normal_angle,
                 tangent_angle);
    }
}

static void axes_come_back_exactly(void **state)
{
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int w = -1; w <= 1; w += 2) {
                float v[4] = {0, 0, 0, (float)w};
                float out[4];
                v[axis] = (float)sign * 3.0F; // any length
                pelt_normal_decode(pelt_normal_encode(v), out);
                for (int k = 0; k < 3; k++) {
                    assert_true(out[k] == (k == axis ? (float)sign : 0.0F));
                }
                pelt_tangent_decode(pelt_tangent_encode(v), out);
                for (int k = 0; k < 3; k++) {
                    assert_true(out[k] == (k == axis ? (float)sign : 0.0F));
                }
                assert_true(out[3] == (float)w);
            }
        }
    }
}

static void random_directions_stay_within_the_worst_angle(void **state)
{
    (void)state;
    peltt_random random = {30};
    worst seen = {0.0, 0.0};
    for (int i = 0; i < 1000000; i++) {
        double z = 2.0 * peltt_random_unit(&random) - 1.0;
        double turn = 6.283185307179586 * peltt_random_unit(&random);
        double r = sqrt(1.0 - z * z);
        check_direction((float[]){(float)(r * cos(turn)), (float)(r * sin(turn)), (float)z}, &seen);
    }
    print_message("# worst of random directions: normals %.5f, tangents %.5f degrees\n", seen.normal, seen.tangent);
    // The bounds are reached, so they say what the format is worth.
    assert_true(seen.normal > 0.95 * normal_worst && seen.tangent > 0.95 * tangent_worst);
}

static void special_directions_stay_within_the_worst_angle(void **state)
{
    (void)state;
    static const float values[] = {0.0F,  1.0F,   -1.0F, 0x1p-15F, -0x1p-15F, 1e-4F,           -1e-4F,
                                   1e-6F, -1e-6F, 0.5F,  -0.5F,    FLT_MIN,   1.0F - 0x1p-24F, -0.0F};
    const int count = sizeof values / sizeof values[0];
    worst seen = {0.0, 0.0};
    for (int x = 0; x < count; x++) {
        for (int y = 0; y < count; y++) {
            for (int z = 0; z < count; z++) {
                const float v[3] = {values[x], values[y], values[z]};
                if (v[0] != 0.0F || v[1] != 0.0F || v[2] != 0.0F) {
                    check_direction(v, &seen);
                }
            }
        }
    }
    // Along the fold z = 0 and around the poles, at all scales of distance and of length.
    peltt_random random = {31};
    for (int i = 0; i < 300000; i++) {
        double turn = 6.283185307179586 * peltt_random_unit(&random);
        double off = exp(-20.0 * peltt_random_unit(&random)) * (i % 2 == 0 ? 1.0 : -1.0);
        double scale = exp(80.0 * (peltt_random_unit(&random) - 0.5));
        float fold[3] = {(float)(cos(turn) * scale), (float)(sin(turn) * scale), (float)(off * scale)};
        float pole[3] = {(float)(cos(turn) * off * scale), (float)(sin(turn) * off * scale),
                         (float)(i % 4 < 2 ? scale : -scale)};
        check_direction(fold, &seen);
        check_direction(pole, &seen);
    }
}

// A code's own direction must come back to a code for that same direction (the border of the square names each twice).
static void check_code(uint32_t code)
{
    float n[3];
    float t[4];
    double want[3];
    pelt_normal_decode(code, n);
    pelt_tangent_decode(code, t);
    double x = fmax((int16_t)(code & 0xFFFF) / 32767.0, -1.0);
    decode_by_definition(x, fmax((int16_t)(code >> 16) / 32767.0, -1.0), want);
    int32_t y15 = (int32_t)(code >> 16 & 0x7FFF);
    y15 -= y15 >= 0x4000 ? 0x8000 : 0;
    double tangent_want[3];
    decode_by_definition(x, fmax(y15 / 16383.0, -1.0), tangent_want);
    bool good = t[3] == (code >> 31 ? -1.0F : 1.0F);
    for (int k = 0; k < 3; k++) {
        good = good && fabs((double)n[k] - want[k]) <= 0x1p-24 && fabs((double)t[k] - tangent_want[k]) <= 0x1p-24;
    }
    float again[3];
    float t_again[4];
    pelt_normal_decode(pelt_normal_encode(n), again);
    pelt_tangent_decode(pelt_tangent_encode(t), t_again);
    good = good && memcmp(again, n, sizeof n) == 0 && memcmp(t_again, t, sizeof t) == 0;
    if (!good) {
        fail_msg("code %08x: normal (%.9g %.9g %.9g), tangent (%.9g %.9g %.9g %g)", code, (double)n[0], (double)n[1],
                 (double)n[2], (double)t[0], (double)t[1], (double)t[2], (double)t[3]);
    }
}

static void every_code_is_a_unit_vector_that_survives_repacking(void **state)
{
    (void)state;
    // Rows and columns of the square's borders and axes in full.
    const uint32_t lines[] = {0x0000, 0x0001, 0xFFFF, 0x7FFF, 0x7FFE, 0x8000, 0x8001, 0x3FFF, 0x4000, 0xC000, 0x5555};
    for (uint32_t code = 0; code < 65536; code++) {
        for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
            check_code(code | lines[i] << 16);
            check_code(lines[i] | code << 16);
        }
        // The fold |x| + |y| = 1 and its neighbours.
        for (uint32_t off = 0; off < 3; off++) {
            uint32_t y = 32767U - (code & 0x7FFF) + off - 1;
            check_code((code & 0x7FFF) | (y & 0xFFFF) << 16);
        }
    }
    peltt_random random = {32};
    for (int i = 0; i < 1000000; i++) {
        check_code((uint32_t)peltt_random_next(&random));
    }
}

// No other code anywhere near is closer: the four around the point are enough.
static void no_code_in_the_neighbourhood_is_nearer(void **state)
{
    (void)state;
    peltt_random random = {33};
    for (int i = 0; i < 20000; i++) {
        double z = i % 2 == 0 ? 2.0 * peltt_random_unit(&random) - 1.0 : 0.01 * (peltt_random_unit(&random) - 0.5);
        double turn = 6.283185307179586 * peltt_random_unit(&random);
        double r = sqrt(1.0 - z * z);
        const float v[3] = {(float)(r * cos(turn)), (float)(r * sin(turn)), (float)z};
        double length = sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2]);
        uint32_t code = pelt_normal_encode(v);
        double best = HUGE_VAL;
        double own = HUGE_VAL;
        for (int dx = -3; dx <= 3; dx++) {
            for (int dy = -3; dy <= 3; dy++) {
                int x = (int16_t)(code & 0xFFFF) + dx;
                int y = (int16_t)(code >> 16) + dy;
                if (x < -32767 || x > 32767 || y < -32767 || y > 32767) {
                    continue;
                }
                double d[3];
                double chord2 = 0.0;
                decode_by_definition(x / 32767.0, y / 32767.0, d);
                for (int k = 0; k < 3; k++) {
                    chord2 += (d[k] - (double)v[k] / length) * (d[k] - (double)v[k] / length);
                }
                best = fmin(best, chord2);
                own = dx == 0 && dy == 0 ? chord2 : own;
            }
        }
        if (!(own <= best * (1.0 + 1e-6))) {
            fail_msg("(%.9g %.9g %.9g): %.9g, possible is %.9g", (double)v[0], (double)v[1], (double)v[2],
                     degree * sqrt(own), degree * sqrt(best));
        }
    }
}

static void what_has_no_direction_becomes_z(void **state)
{
    (void)state;
    const float cases[][4] = {{0, 0, 0, 1}, {NAN, 0, 0, 1}, {INFINITY, 1, 0, 1}, {0, -INFINITY, NAN, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(pelt_normal_encode(cases[i]), 0);
        assert_int_equal(pelt_tangent_encode(cases[i]), 0);
    }
    float out[3];
    pelt_normal_decode(0, out);
    assert_true(out[0] == 0.0F && out[1] == 0.0F && out[2] == 1.0F);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_come_back_exactly),
        cmocka_unit_test(random_directions_stay_within_the_worst_angle),
        cmocka_unit_test(special_directions_stay_within_the_worst_angle),
        cmocka_unit_test(every_code_is_a_unit_vector_that_survives_repacking),
        cmocka_unit_test(no_code_in_the_neighbourhood_is_nearer),
        cmocka_unit_test(what_has_no_direction_becomes_z),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

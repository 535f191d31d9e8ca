// SPDX-License-Identifier: MIT
// What `pelt verify` finds in normals and tangents: each check with directions that are right, that are just within and
// that are just over.
#include "peltt_verify.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// Rounds to the nearest code in the square, as a shader does: by the definition of the octahedral map.
static uint32_t nearest_code(const float v[3], double x_limit, double y_limit)
{
    double sum = fabs((double)v[0]) + fabs((double)v[1]) + fabs((double)v[2]);
    double x = (double)v[0] / sum;
    double y = (double)v[1] / sum;
    if (v[2] < 0.0F) {
        double folded = copysign(1 - fabs(y), x);
        y = copysign(1 - fabs(x), y);
        x = folded;
    }
    uint32_t low = (uint32_t)(int32_t)lround(x * x_limit) & 0xFFFFU;
    uint32_t mask = y_limit > 20000 ? 0xFFFFU : 0x7FFFU;
    return low | ((uint32_t)(int32_t)lround(y * y_limit) & mask) << 16;
}

static void random_directions(peltt_verify *b, peltt_random *random)
{
    for (uint32_t i = 0; i < PELTT_VERIFY_VERTICES; i++) {
        float v[3];
        float length = 0;
        do {
            for (int k = 0; k < 3; k++) {
                v[k] = peltt_random_float(random, -1, 1);
            }
            length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        } while (length < 0.1F || length > 1);
        for (int k = 0; k < 3; k++) {
            b->normals[0][3 * i + (uint32_t)k] = v[k] / length;
            b->tangents[0][4 * i + (uint32_t)k] = v[k] / length;
        }
        b->packed_normals[i] = nearest_code(&b->normals[0][3 * i], 32767, 32767);
        b->packed_tangents[i] =
            nearest_code(&b->tangents[0][4 * i], 32767, 16383) | (b->tangents[0][4 * i + 3] < 0.0F ? 0x80000000U : 0);
    }
}

static void nearest_codes_pass_and_use_what_is_allowed(void **state)
{
    (void)state;
    peltt_verify *b = peltt_verify_make();
    peltt_random random = {7};
    double normals = 0;
    double tangents = 0;
    b->context.options.has_tolerance = true;
    b->context.options.tolerance = 1e-8; // leaves the rounding to codes alone
    b->output.packed_normals = b->packed_normals;
    b->output.packed_tangents = b->packed_tangents;
    b->output.normals = NULL;
    b->output.tangents = NULL;
    for (int round = 0; round < 100; round++) {
        random_directions(b, &random);
        peltt_verify_compare(b);
        peltt_verify_only(b, VERIFY_CHECKS, 0);
        normals = fmax(normals, b->figures.tallies[VERIFY_NORMAL].worst);
        tangents = fmax(tangents, b->figures.tallies[VERIFY_TANGENT].worst);
    }
    assert_true(normals > 0.9 && tangents > 0.9);
    b->packed_normals[17] ^= 8; // eight steps away
    peltt_verify_compare(b);
    peltt_verify_only(b, VERIFY_NORMAL, 1);
    assert_int_equal(b->figures.tallies[VERIFY_NORMAL].place.vertex, 17);
    b->packed_normals[17] ^= 8;
    b->packed_tangents[5] ^= 8;
    peltt_verify_compare(b);
    peltt_verify_only(b, VERIFY_TANGENT, 1);
    peltt_verify_destroy(b);
}

// A float direction turned by an angle, or of another length.
static void turned_and_scaled_directions_fail(void **state)
{
    (void)state;
    peltt_verify *b = peltt_verify_make();
    double limit = 4e-6 * (double)b->reach.normals[9];
    const double angles[2] = {0.9 * limit, 1.2 * limit};
    for (int i = 0; i < 2; i++) {
        const float n[3] = {0, 0, 1};
        const float turned[3] = {(float)sin(angles[i]), 0, (float)cos(angles[i])};
        memcpy(&b->normals[0][27], n, sizeof n);
        memcpy(&b->normals[1][27], turned, sizeof turned);
        peltt_verify_compare(b);
        peltt_verify_only(b, VERIFY_NORMAL, (uint64_t)i);
    }
    memcpy(&b->normals[1][27], &b->normals[0][27], 3 * sizeof(float));
    b->normals[1][29] = 1.00001F;
    peltt_verify_compare(b);
    peltt_verify_only(b, VERIFY_NORMAL, 1);
    b->normals[1][29] = NAN;
    peltt_verify_compare(b);
    peltt_verify_only(b, VERIFY_NORMAL, 1);
    peltt_verify_destroy(b);
}

static void flipped_handedness_fails(void **state)
{
    (void)state;
    peltt_verify *b = peltt_verify_make();
    b->tangents[1][4 * 20 + 3] = -b->tangents[1][4 * 20 + 3];
    peltt_verify_compare(b);
    peltt_verify_only(b, VERIFY_HANDEDNESS, 1);
    assert_int_equal(b->figures.tallies[VERIFY_HANDEDNESS].place.vertex, 20);
    peltt_verify_destroy(b);
}

// Of a turned identity the terms are known: rows (c, -s, 0), (s, c, 0), (0, 0, 1) and a normal along x give the terms
// (c, s, 0) of length 1; along (1, 1, 0) each row's terms are c + s.
static void reach_is_that_of_the_terms(void **state)
{
    (void)state;
    peltt_verify *b = peltt_verify_make();
    const float angle = 0.5F;
    const float c = cosf(angle);
    const float s = sinf(angle);
    const pelt_mat34 turn = {{{c, -s, 0, 0}, {s, c, 0, 0}, {0, 0, 1, 0}}};
    const pelt_mat34 flat = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, 0}}};
    pelt_primitive source = *b->packed->primitive;
    const float normals[6] = {1, 0, 0, 0.70710678F, 0.70710678F, 0};
    const float tangents[8] = {0, 0, 1, 1, 1, 0, 0, -1};
    b->item.source = &source;
    b->item.rigid = true;
    source.vertex_count = 2;
    source.normals = normals;
    source.tangents = tangents;
    b->matrices[0] = turn;
    verify_directions(&b->model, &b->item, &b->reach);
    assert_true(fabsf(b->reach.normals[0] - 1) < 1e-6F);
    assert_true(fabsf(b->reach.normals[1] - (c + s)) < 1e-6F);
    assert_true(fabsf(b->reach.tangents[0] - 1) < 1e-6F);
    b->matrices[0] = flat;
    verify_directions(&b->model, &b->item, &b->reach);
    // The cofactor of a matrix flattened along z keeps only z, which neither normal has.
    assert_true(isinf(b->reach.normals[0]) && isinf(b->reach.normals[1]));
    assert_true(isinf(b->reach.tangents[0]) && fabsf(b->reach.tangents[1] - 1) < 1e-6F);
    peltt_verify_destroy(b);
}

static void directions_of_large_reach_are_not_judged(void **state)
{
    (void)state;
    peltt_verify *b = peltt_verify_make();
    for (int k = 0; k < 3; k++) {
        b->normals[1][3 * 8 + k] = -b->normals[1][3 * 8 + k];
    }
    b->reach.normals[8] = 257;
    peltt_verify_compare(b);
    peltt_verify_only(b, VERIFY_NORMAL, 0);
    assert_int_equal(b->figures.tallies[VERIFY_NORMAL].unjudged, 1);
    b->reach.normals[8] = 255;
    peltt_verify_compare(b);
    peltt_verify_only(b, VERIFY_NORMAL, 1);
    peltt_verify_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_codes_pass_and_use_what_is_allowed),
        cmocka_unit_test(turned_and_scaled_directions_fail),
        cmocka_unit_test(flipped_handedness_fails),
        cmocka_unit_test(reach_is_that_of_the_terms),
        cmocka_unit_test(directions_of_large_reach_are_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

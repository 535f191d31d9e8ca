// SPDX-License-Identifier: MIT
// Packed weights: every code, exact values, and the stated bounds over random sets.
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

static const pelt_weight_encoding encodings[2] = {PELT_WEIGHTS_SORTED, PELT_WEIGHTS_PLAIN};

// Adds in each of the 24 orders, and in pairs.
static bool sums_to_one(const float w[4])
{
    bool exact = true;
    for (int a = 0; a < 4; a++) {
        for (int b = 0; b < 4; b++) {
            for (int c = 0; c < 4; c++) {
                int d = 6 - a - b - c;
                if (a == b || a == c || b == c) {
                    continue;
                }
                exact = exact && ((w[a] + w[b]) + w[c]) + w[d] == 1.0F && (w[a] + w[b]) + (w[c] + w[d]) == 1.0F;
            }
        }
    }
    return exact;
}

// What the format says of one code, with a division.
static void decode_by_division(pelt_weight_encoding encoding, uint32_t code, double out[4])
{
    double a = code % 2048;
    double b = code / 2048 % 2048;
    double c = code / (2048 * 2048);
    if (encoding == PELT_WEIGHTS_SORTED) {
        out[0] = (a == 2047 ? 2048 : a) / 4096;
        out[1] = b / 4096;
        out[2] = (c == 1023 ? 1024 : c) / 4096;
    } else {
        out[0] = a / 2048;
        out[1] = b / 2048;
        out[2] = c / 1024;
    }
    out[3] = 1.0 - out[0] - out[1] - out[2];
}

static void check_code(pelt_weight_encoding encoding, uint32_t code)
{
    float w[4];
    double want[4];
    pelt_weights_decode(encoding, code, w);
    decode_by_division(encoding, code, want);
    for (int i = 0; i < 4; i++) {
        if ((double)w[i] != want[i]) {
            fail_msg("encoding %d, code %08x: weight %d is %.9g, not %.9g", (int)encoding, code, i, (double)w[i],
                     want[i]);
        }
    }
    if (!sums_to_one(w)) {
        fail_msg("encoding %d, code %08x: the sum is not one", (int)encoding, code);
    }
}

static void every_code_decodes_exactly_and_sums_to_one(void **state)
{
    (void)state;
    // Each field through all its codes, under all extremes and some middles of the others.
    const uint32_t wide[8] = {0, 1, 2, 1023, 1024, 1365, 2046, 2047};
    const uint32_t narrow[6] = {0, 1, 511, 512, 1022, 1023};
    for (int e = 0; e < 2; e++) {
        for (uint32_t code = 0; code < 2048; code++) {
            for (int i = 0; i < 8; i++) {
                for (int k = 0; k < 6; k++) {
                    check_code(encodings[e], code | wide[i] << 11 | narrow[k] << 22);
                    check_code(encodings[e], wide[i] | code << 11 | narrow[k] << 22);
                }
                for (int k = 0; k < 8 && code < 1024; k++) {
                    check_code(encodings[e], wide[i] | wide[k] << 11 | code << 22);
                }
            }
        }
    }
    peltt_random random = {20};
    for (int i = 0; i < 1000000; i++) {
        check_code(encodings[i % 2], (uint32_t)peltt_random_next(&random));
    }
}

// Codes that name four weights of a falling sequence come back to themselves: nothing is lost by repeated packing.
static void stored_values_survive_repacking(void **state)
{
    (void)state;
    peltt_random random = {21};
    uint32_t tried = 0;
    for (uint32_t i = 0; i < 4000000; i++) {
        pelt_weight_encoding encoding = encodings[i % 2];
        float w[4];
        float again[4];
        uint8_t order[4];
        uint32_t code = (uint32_t)peltt_random_next(&random);
        pelt_weights_decode(encoding, code, w);
        if (w[3] < 0.0F) {
            continue;
        }
        float input[4] = {w[3], w[0], w[1], w[2]};
        if (encoding == PELT_WEIGHTS_PLAIN) {
            memcpy(input, w, sizeof input);
        }
        uint32_t made = pelt_weights_encode(encoding, input, order);
        pelt_weights_decode(encoding, made, again);
        // Sorted ones that were not in falling order may not be representable in it.
        bool falling = w[3] >= w[0] && w[0] >= w[1] && w[1] >= w[2];
        if (encoding == PELT_WEIGHTS_SORTED && !falling) {
            continue;
        }
        tried++;
        if (made != code || memcmp(again, w, sizeof w) != 0) {
            fail_msg("encoding %d, code %08x became %08x", (int)encoding, code, made);
        }
    }
    assert_true(tried > 100000);
}

static void expect_exact(pelt_weight_encoding encoding, const float weights[4])
{
    uint8_t order[4];
    float out[4];
    pelt_weights_decode(encoding, pelt_weights_encode(encoding, weights, order), out);
    for (int slot = 0; slot < 4; slot++) {
        if (out[slot] != weights[order[slot]]) {
            fail_msg("(%g %g %g %g): slot %d is %.9g", (double)weights[0], (double)weights[1], (double)weights[2],
                     (double)weights[3], slot, (double)out[slot]);
        }
    }
}

static void sorted_keeps_common_fractions(void **state)
{
    (void)state;
    static const float cases[][4] = {
        {1, 0, 0, 0},
        {0.5F, 0.5F, 0, 0},
        {0.25F, 0.25F, 0.25F, 0.25F},
        {0.75F, 0.25F, 0, 0},
        {0.5F, 0.25F, 0.25F, 0},
        {0.5F, 0.25F, 0.125F, 0.125F},
        {0.875F, 0.125F, 0, 0},
        {0.625F, 0.375F, 0, 0},
        {0.375F, 0.375F, 0.25F, 0},
        {0.625F, 0.125F, 0.125F, 0.125F},
        {0x0.FFFp0F, 0x1p-12F, 0, 0},
        {0x0.802p0F, 0x0.7FEp0F, 0, 0}, // the highest code below the hole
    };
    static const uint8_t places[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 0, 3, 2}, {2, 3, 0, 1}, {1, 2, 3, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
            float weights[4];
            for (int n = 0; n < 4; n++) {
                weights[n] = cases[i][places[k][n]];
            }
            expect_exact(PELT_WEIGHTS_SORTED, weights);
        }
    }
}

static void plain_clamps_a_whole_weight(void **state)
{
    (void)state;
    uint8_t order[4];
    float w[4];
    for (uint32_t i = 0; i < 4; i++) {
        float input[4] = {0};
        input[i] = 1.0F;
        pelt_weights_decode(PELT_WEIGHTS_PLAIN, pelt_weights_encode(PELT_WEIGHTS_PLAIN, input, order), w);
        float step = i < 2 ? 0x1p-11F : i == 2 ? 0x1p-10F : 0.0F;
        for (uint32_t k = 0; k < 4; k++) {
            assert_int_equal(order[k], k);
            assert_true(w[k] == (k == i ? 1.0F - step : k == 3 ? step : 0.0F));
        }
    }
}

static void plain_moves_the_largest_where_the_rest_would_be_negative(void **state)
{
    (void)state;
    uint8_t order[4];
    float w[4];
    // 1229.5 and 818.5 of 2048 both round up: one step too many.
    const float tie[4] = {1229.5F / 2048, 818.5F / 2048, 0, 0};
    pelt_weights_decode(PELT_WEIGHTS_PLAIN, pelt_weights_encode(PELT_WEIGHTS_PLAIN, tie, order), w);
    assert_memory_equal(order, ((uint8_t[]){1, 2, 3, 0}), 4);
    assert_true(w[0] == 819.0F / 2048 && w[1] == 0.0F && w[2] == 0.0F && w[3] == 1229.0F / 2048);
    // 614.75 of 1024 rounds to 615, and 818.5 of 2048 up.
    const float third[4] = {818.5F / 2048, 0, 1229.5F / 2048, 0};
    pelt_weights_decode(PELT_WEIGHTS_PLAIN, pelt_weights_encode(PELT_WEIGHTS_PLAIN, third, order), w);
    assert_memory_equal(order, ((uint8_t[]){0, 1, 3, 2}), 4);
    assert_true(w[0] == 819.0F / 2048 && w[1] == 0.0F && w[2] == 0.0F && w[3] == 1229.0F / 2048);
}

static void equal_weights_keep_their_order(void **state)
{
    (void)state;
    uint8_t order[4];
    pelt_weights_encode(PELT_WEIGHTS_SORTED, (float[]){0.25F, 0.25F, 0.25F, 0.25F}, order);
    assert_memory_equal(order, ((uint8_t[]){1, 2, 3, 0}), 4);
    pelt_weights_encode(PELT_WEIGHTS_SORTED, (float[]){0.2F, 0.3F, 0.2F, 0.3F}, order);
    assert_memory_equal(order, ((uint8_t[]){3, 0, 2, 1}), 4);
    pelt_weights_encode(PELT_WEIGHTS_SORTED, (float[]){1, 0, 0, 0}, order);
    assert_memory_equal(order, ((uint8_t[]){1, 2, 3, 0}), 4);
}

static void no_weights_become_the_first_alone(void **state)
{
    (void)state;
    const float cases[][4] = {
        {0, 0, 0, 0}, {NAN, 0.5F, 0.5F, 0}, {INFINITY, 0, 0, 0}, {-1, 1, 0, 0}, {0.5F, 0.5F, 0, -INFINITY}};
    for (int e = 0; e < 2; e++) {
        uint8_t order[4];
        uint8_t want_order[4];
        uint32_t want = pelt_weights_encode(encodings[e], (float[]){1, 0, 0, 0}, want_order);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            assert_int_equal(pelt_weights_encode(encodings[e], cases[i], order), want);
            assert_memory_equal(order, want_order, 4);
        }
    }
}

static void sums_other_than_one_are_normalized(void **state)
{
    (void)state;
    const float scales[] = {2.0F, 0.5F, 255.0F, 1e-30F, 1e30F, 0x1p-126F, 0x1p126F};
    for (int e = 0; e < 2; e++) {
        for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
            const float input[4] = {0.5F * scales[i], 0.25F * scales[i], 0.125F * scales[i], 0.125F * scales[i]};
            uint8_t order[4];
            float w[4];
            pelt_weights_decode(encodings[e], pelt_weights_encode(encodings[e], input, order), w);
            for (int slot = 0; slot < 4; slot++) {
                assert_true((double)w[slot] == (double)input[order[slot]] / (double)scales[i]);
            }
        }
    }
}

// One of several shapes of weight sets.
static void random_weights(peltt_random *random, float w[4])
{
    uint32_t used = 1 + peltt_random_below(random, 4);
    uint32_t kind = peltt_random_below(random, 8);
    double x[4] = {0};
    double sum = 0.0;
    for (uint32_t i = 0; i < used; i++) {
        switch (kind) {
        case 0: // uniform on the simplex
        case 1:
            x[i] = -log(1.0 - peltt_random_unit(random));
            break;
        case 2: // tiny ones beside large ones
            x[i] = exp(-18.0 * peltt_random_unit(random));
            break;
        case 3: // near ties
            x[i] = 1.0 + (peltt_random_unit(random) - 0.5) * 0x1p-12;
            break;
        case 4: // unorm8
            x[i] = peltt_random_below(random, 256);
            break;
        case 5: // halves of steps
            x[i] = peltt_random_below(random, 8193);
            break;
        case 6: // near 1/2 and 1/4, where codes have holes
            x[i] = (i == 0 ? 2049.0 : i == 1 ? 2046.0 + 2.5 * peltt_random_unit(random) : 0.7 * i);
            break;
        default:
            x[i] = peltt_random_unit(random);
        }
        sum += x[i];
    }
    for (uint32_t i = 0; i < 4; i++) { // mostly normalised, in any order
        w[(i + kind) % 4] = (float)(sum > 0.0 && kind != 7 ? x[i] / sum : x[i]);
    }
    if (kind == 5) { // exact multiples of 2^-13, summing to one
        uint32_t left = 8192;
        for (uint32_t i = 0; i < 3; i++) {
            uint32_t part = peltt_random_below(random, left + 1);
            w[i] = (float)part / 8192.0F;
            left -= part;
        }
        w[3] = (float)left / 8192.0F;
    }
}

// Largest error of the slots for 10 million sets; each bound is met to within the rounding of the double quotients.
static void check_random_sets(pelt_weight_encoding encoding, uint32_t seed)
{
    const double slack = 1e-15;
    peltt_random random = {seed};
    for (uint32_t n = 0; n < 10000000; n++) {
        float w[4];
        float out[4];
        uint8_t order[4];
        random_weights(&random, w);
        double sum = (double)w[0] + (double)w[1] + (double)w[2] + (double)w[3];
        if (sum == 0.0) {
            continue;
        }
        pelt_weights_decode(encoding, pelt_weights_encode(encoding, w, order), out);
        bool good = out[3] >= 0.0F && ((out[0] + out[1]) + out[2]) + out[3] == 1.0F;
        uint32_t seen = 0;
        uint32_t used = 0;
        double error[4];
        for (int slot = 0; slot < 4; slot++) {
            seen |= 1U << order[slot];
            used += w[slot] > 0.0F ? 1 : 0;
            error[slot] = fabs((double)out[slot] - (double)w[order[slot]] / sum);
        }
        good = good && seen == 15;
        if (encoding == PELT_WEIGHTS_SORTED) {
            for (int slot = 0; slot < 3; slot++) {
                good = good && error[slot] <= 0x1p-12 + slack && w[order[3]] >= w[order[slot]];
                good = good && (slot == 0 || w[order[slot - 1]] >= w[order[slot]]);
                good = good && (w[order[slot]] > 0.0F || out[slot] == 0.0F);
                // Codes of zero come last, so that a kernel can stop at the class's number of slots.
                good = good && (slot == 0 || out[slot] == 0.0F || out[slot - 1] > 0.0F);
            }
            good = good && error[3] <= 0x1p-11 + slack;
            // Two influences: the nearest step, but beside 2047, which is no code.
            double share = (double)w[order[0]] / sum * 4096.0;
            good = good && (used != 2 || share > 2046.0 || error[0] <= 0x1p-13 + slack);
        } else {
            for (int slot = 0; slot < 3; slot++) {
                double step = slot < 2 ? 0x1p-11 : 0x1p-10;
                double share = (double)w[order[slot]] / sum;
                bool clamped = share > 1.0 - step / 2 - slack;
                good = good && error[slot] <= (clamped ? step : step / 2) + slack;
            }
            good = good && error[3] <= 0x1p-10 + slack;
        }
        if (!good) {
            fail_msg("(%.9g %.9g %.9g %.9g): (%.9g %.9g %.9g %.9g) in order %d %d %d %d", (double)w[0], (double)w[1],
                     (double)w[2], (double)w[3], (double)out[0], (double)out[1], (double)out[2], (double)out[3],
                     order[0], order[1], order[2], order[3]);
        }
    }
}

static void sorted_keeps_its_bounds_over_random_sets(void **state)
{
    (void)state;
    check_random_sets(PELT_WEIGHTS_SORTED, 22);
}

static void plain_keeps_its_bounds_over_random_sets(void **state)
{
    (void)state;
    check_random_sets(PELT_WEIGHTS_PLAIN, 23);
}

// The best of all codes near the exact weights, by trying them: sum of squares of the four errors.
static double best_square(const double exact[4])
{
    double best = HUGE_VAL;
    uint32_t base[3];
    for (int i = 0; i < 3; i++) {
        base[i] = exact[i] < 1.0 ? 0 : (uint32_t)exact[i] - 1;
    }
    for (uint32_t n = 0; n < 64; n++) {
        double rest = 4096.0;
        double square = 0.0;
        bool legal = true;
        for (int i = 0; i < 3; i++) {
            uint32_t steps = base[i] + (n >> (2 * i) & 3);
            double error = (double)steps - exact[i];
            legal = legal && !(i == 0 && steps == 2047) && !(i == 2 && steps == 1023) && fabs(error) <= 1.0;
            square += error * error;
            rest -= (double)steps;
        }
        square += (rest - exact[3]) * (rest - exact[3]);
        best = legal && square < best ? square : best;
    }
    return best;
}

static void sorted_has_the_smallest_errors_that_codes_allow(void **state)
{
    (void)state;
    peltt_random random = {24};
    for (uint32_t n = 0; n < 500000; n++) {
        float w[4];
        float out[4];
        uint8_t order[4];
        random_weights(&random, w);
        double sum = (double)w[0] + (double)w[1] + (double)w[2] + (double)w[3];
        if (sum == 0.0) {
            continue;
        }
        pelt_weights_decode(PELT_WEIGHTS_SORTED, pelt_weights_encode(PELT_WEIGHTS_SORTED, w, order), out);
        double exact[4];
        double square = 0.0;
        for (int slot = 0; slot < 4; slot++) {
            exact[slot] = (double)w[order[slot]] * 4096.0 / sum;
            double error = (double)out[slot] * 4096.0 - exact[slot];
            square += error * error;
        }
        double best = best_square(exact);
        if (square > best + 1e-9) {
            fail_msg("(%.9g %.9g %.9g %.9g): %.9g, possible is %.9g", (double)w[0], (double)w[1], (double)w[2],
                     (double)w[3], square, best);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_decodes_exactly_and_sums_to_one),
        cmocka_unit_test(stored_values_survive_repacking),
        cmocka_unit_test(sorted_keeps_common_fractions),
        cmocka_unit_test(plain_clamps_a_whole_weight),
        cmocka_unit_test(plain_moves_the_largest_where_the_rest_would_be_negative),
        cmocka_unit_test(equal_weights_keep_their_order),
        cmocka_unit_test(no_weights_become_the_first_alone),
        cmocka_unit_test(sums_other_than_one_are_normalized),
        cmocka_unit_test(sorted_keeps_its_bounds_over_random_sets),
        cmocka_unit_test(plain_keeps_its_bounds_over_random_sets),
        cmocka_unit_test(sorted_has_the_smallest_errors_that_codes_allow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

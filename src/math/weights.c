// SPDX-License-Identifier: MIT
// Four weights in 32 bits: 11 + 11 + 10 bits of three weights, the fourth implied. "sorted" implies the largest and
// shares out whole steps of 2^-12 by largest remainders, which for a fixed sum has the smallest errors in every norm
// (M. Balinski, H. Young, "Fair Representation", 1982, on Hamilton's method); "plain" rounds each weight by itself.
#include "base/base.h"

#include <pelt/packed.h>

#include <float.h>

enum {
    SORTED_STEPS = 4096,
    PLAIN_STEPS = 2048,
    HIGHEST_0 = 2047, // codes of the three fields
    HIGHEST_1 = 2047,
    HIGHEST_2 = 1023,
    SHIFT_1 = 11,
    SHIFT_2 = 22
};

static uint32_t join(const uint32_t codes[3])
{
    return codes[0] | codes[1] << SHIFT_1 | codes[2] << SHIFT_2;
}

// The fraction of a float in [1, 2), that is bits * 2^-23, without a conversion.
static float place(uint32_t bits)
{
    bits |= 0x3F800000U;
    float value = 0.0F;
    memcpy(&value, &bits, sizeof value);
    return value - 1.0F;
}

// Scales to the given sum, each quotient rounded once. What is not a set of weights becomes the first weight alone.
static void normalize(const float weights[4], double sum, double out[4])
{
    bool valid = true;
    double total = 0.0;
    for (int i = 0; i < 4; i++) {
        valid = valid && weights[i] >= 0.0F && weights[i] <= FLT_MAX;
        total += (double)weights[i];
    }
    valid = valid && total > 0.0;
    for (int i = 0; i < 4; i++) {
        out[i] = valid ? (double)weights[i] * sum / total : i == 0 ? sum : 0.0;
    }
}

// order becomes the indices by falling weight; equal weights keep their order.
static void sort_falling(const double weights[4], uint8_t order[4])
{
    for (uint8_t i = 0; i < 4; i++) {
        int at = i;
        while (at > 0 && weights[order[at - 1]] < weights[i]) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
}

// Rounds the slots but the fixed one, which has its steps already, to whole steps that fill up the sum: down, and then
// the largest remainders up. Of equal remainders the heaviest slot goes first, so steps never rise from one slot to the
// next, and codes of zero come last.
static void share_out(const double exact[4], int fixed, uint32_t steps[4])
{
    double rests[4];
    int32_t left = SORTED_STEPS;
    for (int i = 0; i < 4; i++) {
        if (i != fixed) {
            steps[i] = (uint32_t)exact[i];
        }
        rests[i] = i == fixed ? -1.0 : exact[i] - (double)steps[i];
        left -= (int32_t)steps[i];
    }
    for (; left > 0; left--) {
        int best = 3;
        for (int i = 0; i < 3; i++) {
            best = rests[i] > rests[best] ? i : best;
        }
        steps[best]++;
        rests[best] -= 1.0;
    }
    steps[3] -= (uint32_t)-left; // only where the fixed slot went up from a whole number of steps
}

// The highest code of fields 0 and 2 stands for one step more, so hole = 2047 (or 1023) steps cannot be stored: the
// nearer neighbour takes its place, within one step, and the others share out what that leaves. Both errors are one
// step where the weight is the hole exactly; then the neighbour that agrees with the others' remainders.
static void avoid_hole(const double exact[4], int slot, uint32_t hole, uint32_t steps[4])
{
    if (steps[slot] != hole) {
        return;
    }
    double above = exact[slot] - (double)hole;
    if (above == 0.0) {
        uint32_t floors = 0;
        for (int i = 0; i < 4; i++) {
            floors += (uint32_t)exact[i];
        }
        above = floors + 2 <= SORTED_STEPS ? -1.0 : 1.0;
    }
    steps[slot] = above < 0.0 ? hole - 1 : hole + 1;
    share_out(exact, slot, steps);
}

// Errors: Hamilton's method leaves each of four within 3/4 of a step. Beside a hole the stored one is off by at most
// one step, and the other three share that and their remainders f: the stored ones stay within one step, the implied
// one within two. Both holes cannot meet: 2046 steps twice leave 4 to the other two. Fields hold every result, as the
// second of falling weights is at most 1/2, the third 1/3 and the fourth 1/4, and none of these is rounded up.
static uint32_t encode_sorted(const float weights[4], uint8_t order[4])
{
    double input[4];
    normalize(weights, (double)SORTED_STEPS, input);
    uint8_t falling[4];
    sort_falling(input, falling);
    double exact[4];
    for (int slot = 0; slot < 4; slot++) {
        order[slot] = falling[(slot + 1) % 4];
        exact[slot] = input[order[slot]];
    }
    uint32_t steps[4] = {0};
    share_out(exact, -1, steps);
    avoid_hole(exact, 0, HIGHEST_0, steps);
    avoid_hole(exact, 2, HIGHEST_2, steps);
    const uint32_t codes[3] = {steps[0] - (steps[0] >> 11), steps[1], steps[2] - (steps[2] >> 10)};
    return join(codes);
}

static uint32_t nearest(double value, uint32_t highest)
{
    uint32_t whole = (uint32_t)value;
    whole += value - (double)whole >= 0.5 ? 1 : 0;
    return whole < highest ? whole : highest;
}

// The implied weight in steps of 1/2048.
static int32_t round_plain(const double exact[4], const uint8_t order[4], uint32_t codes[3])
{
    codes[0] = nearest(exact[order[0]], HIGHEST_0);
    codes[1] = nearest(exact[order[1]], HIGHEST_1);
    codes[2] = nearest(exact[order[2]] / 2.0, HIGHEST_2);
    return PLAIN_STEPS - (int32_t)(codes[0] + codes[1] + 2 * codes[2]);
}

// Errors: half a step each, 1/4096, 1/4096 and 1/2048, and their sum, 1/1024, for the implied one. A clamped weight is
// off by up to a whole step, which goes to the implied one: the other weights add up to less than the half step that
// led to the clamp, so it stays within 1/1024 too. Where the implied weight comes out negative, the largest, at least
// 1/4, takes its place: at least 1/4 - 1/1024 is left for it then, and the stored ones, at most 1/2, are not clamped.
static uint32_t encode_plain(const float weights[4], uint8_t order[4])
{
    double exact[4];
    normalize(weights, (double)PLAIN_STEPS, exact);
    for (uint8_t i = 0; i < 4; i++) {
        order[i] = i;
    }
    uint32_t codes[3];
    if (round_plain(exact, order, codes) < 0) {
        uint8_t falling[4];
        sort_falling(exact, falling);
        uint8_t slot = 0;
        for (uint8_t i = 0; i < 4; i++) {
            if (i != falling[0]) {
                order[slot++] = i;
            }
        }
        order[3] = falling[0];
        round_plain(exact, order, codes);
    }
    return join(codes);
}

uint32_t pelt_weights_encode(pelt_weight_encoding encoding, const float weights[4], uint8_t order[4])
{
    return encoding == PELT_WEIGHTS_PLAIN ? encode_plain(weights, order) : encode_sorted(weights, order);
}

void pelt_weights_decode(pelt_weight_encoding encoding, uint32_t code, float out[4])
{
    uint32_t a = code & HIGHEST_0;
    uint32_t b = code >> SHIFT_1 & HIGHEST_1;
    uint32_t c = code >> SHIFT_2;
    if (encoding == PELT_WEIGHTS_PLAIN) {
        out[0] = place(a << 12);
        out[1] = place(b << 12);
        out[2] = place(c << 13);
    } else {
        out[0] = place((a + ((a + 1) >> 11)) << 11);
        out[1] = place(b << 11);
        out[2] = place((c + ((c + 1) >> 10)) << 11);
    }
    // Multiples of 2^-12 below two: no rounding in any order.
    out[3] = 1.0F - ((out[0] + out[1]) + out[2]);
}

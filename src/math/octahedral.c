// SPDX-License-Identifier: MIT
// Unit vectors on the octahedron folded into a square. Source: Z. Cigolle et al., "A Survey of Efficient
// Representations for Independent Unit Vectors", JCGT 2014, with its "precise" rounding: the best of the four codes
// around a point, not the one that is nearest in the square.
#include "base/base.h"

#include <pelt/packed.h>

#include <math.h>

enum {
    LIMIT_16 = 32767, // highest code of a snorm of 16 bits
    LIMIT_15 = 16383,
    TANGENT_SHIFT = 16
};

static const uint32_t tangent_sign = 0x80000000U;

// The lower half of the octahedron lies folded outward around the diamond |x| + |y| <= 1. The fold is its own inverse.
// Selections instead of branches, which nothing could predict.
static void fold_lower(double p[2], double z)
{
    double x = copysign(1.0 - fabs(p[1]), p[0]);
    double y = copysign(1.0 - fabs(p[0]), p[1]);
    p[0] = z < 0.0 ? x : p[0];
    p[1] = z < 0.0 ? y : p[1];
}

// The lowest code of a signed format stands for -1 like its neighbour.
static double component(int32_t code, int32_t limit)
{
    return code < -limit ? -1.0 : (double)code / (double)limit;
}

// The point of the octahedron |x| + |y| + |z| = 1, which is never near the centre.
static void unfold(double x, double y, double out[3])
{
    out[0] = x;
    out[1] = y;
    out[2] = 1.0 - fabs(x) - fabs(y);
    fold_lower(out, out[2]);
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// |a x b|^2
static double cross2(const double a[3], const double b[3])
{
    double x = a[1] * b[2] - a[2] * b[1];
    double y = a[2] * b[0] - a[0] * b[2];
    double z = a[0] * b[1] - a[1] * b[0];
    return x * x + y * y + z * z;
}

static void decode(int32_t x, int32_t y, int32_t y_limit, double out[3])
{
    unfold(component(x, LIMIT_16), component(y, y_limit), out);
    double length = sqrt(dot(out, out));
    for (int k = 0; k < 3; k++) {
        out[k] /= length;
    }
}

static int32_t code_below(double value, int32_t limit)
{
    double steps = value * (double)limit;
    int32_t code = (int32_t)steps - (steps < 0.0 ? 1 : 0); // one too low for whole negative steps, which is as good
    return code < -limit ? -limit : code >= limit ? limit - 1 : code;
}

// What has no direction becomes +z.
static void encode(const float v[3], int32_t y_limit, int32_t out[2])
{
    double n[3] = {(double)v[0], (double)v[1], (double)v[2]};
    double sum = fabs(n[0]) + fabs(n[1]) + fabs(n[2]);
    out[0] = 0;
    out[1] = 0;
    if (!(sum > 0.0 && sum < HUGE_VAL)) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        n[k] = n[k] / sum + 0.0; // of two zeros one, so that both have the same code
    }
    double p[2] = {n[0], n[1]};
    fold_lower(p, n[2]);
    int32_t x = code_below(p[0], LIMIT_16);
    int32_t y = code_below(p[1], y_limit);
    // Squares of sines, as fractions that are compared without a division. Cosines would have no digits left.
    double sine2[4];
    double length2[4];
    for (int32_t i = 0; i < 4; i++) {
        double d[3];
        unfold((double)(x + (i & 1)) * (1.0 / LIMIT_16), (double)(y + (i >> 1)) * (1.0 / y_limit), d);
        sine2[i] = cross2(n, d);
        length2[i] = dot(d, d);
    }
    int32_t low = sine2[1] * length2[0] < sine2[0] * length2[1] ? 1 : 0;
    int32_t high = sine2[3] * length2[2] < sine2[2] * length2[3] ? 3 : 2;
    int32_t best = sine2[high] * length2[low] < sine2[low] * length2[high] ? high : low;
    out[0] = x + (best & 1);
    out[1] = y + (best >> 1);
}

// The low bits of a code as a signed number of that many bits.
static int32_t sign_extend(uint32_t code, uint32_t bits)
{
    uint32_t sign = 1U << (bits - 1);
    return (int32_t)((code & (2 * sign - 1)) ^ sign) - (int32_t)sign;
}

// A zero is always +0, as the skin writes it.
static void store(const double direction[3], float out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = (float)direction[k] + 0.0F;
    }
}

uint32_t pelt_normal_encode(const float normal[3])
{
    int32_t code[2];
    encode(normal, LIMIT_16, code);
    return ((uint32_t)code[0] & 0xFFFFU) | (uint32_t)code[1] << 16;
}

void pelt_normal_decode(uint32_t code, float out[3])
{
    double direction[3];
    decode(sign_extend(code, 16), sign_extend(code >> 16, 16), LIMIT_16, direction);
    store(direction, out);
}

uint32_t pelt_tangent_encode(const float tangent[4])
{
    int32_t code[2];
    encode(tangent, LIMIT_15, code);
    uint32_t y = ((uint32_t)code[1] & 0x7FFFU) << TANGENT_SHIFT;
    return ((uint32_t)code[0] & 0xFFFFU) | y | (tangent[3] < 0.0F ? tangent_sign : 0);
}

void pelt_tangent_decode(uint32_t code, float out[4])
{
    double direction[3];
    decode(sign_extend(code, 16), sign_extend(code >> TANGENT_SHIFT, 15), LIMIT_15, direction);
    store(direction, out);
    out[3] = code & tangent_sign ? -1.0F : 1.0F;
}

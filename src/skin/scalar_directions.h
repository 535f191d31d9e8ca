// SPDX-License-Identifier: MIT
// Directions and signs of the scalar kernel, of one blended matrix: in float where that is good enough, which is judged
// for each, else in double.
#ifndef PELTI_SKIN_SCALAR_DIRECTIONS_H
#define PELTI_SKIN_SCALAR_DIRECTIONS_H

#include <pelt/math.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

// What directions need of a blended matrix, made once for all vertices of a rigid primitive.
typedef struct frame {
    float cofactor[3][3];
    float cofactor_bound; // sum of |row i|^2 |row j|^2: what the squared terms of the cofactor can come to
    float row_bound;      // sum of |row|^2
    bool mirrored;
} frame;

static float dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void cross_double(const float a[3], const float b[3], double out[3])
{
    out[0] = (double)a[1] * (double)b[2] - (double)a[2] * (double)b[1];
    out[1] = (double)a[2] * (double)b[0] - (double)a[0] * (double)b[2];
    out[2] = (double)a[0] * (double)b[1] - (double)a[1] * (double)b[0];
}

// The sign of the determinant, in double: products of two floats are exact there and nothing under- or overflows.
// A determinant that is zero but for the rounding of the matrix to float (flattening a rotated mesh gives such) counts
// as zero, else neighbouring vertices would take signs at random. One rounding of each element moves it by 2^-22 of its
// absolute terms, blending and cancellation by more: at 2^-18 some flat matrices still came out mirrored.
static bool is_mirrored_double(const pelt_mat34 *m)
{
    double determinant = 0.0;
    double bound = 0.0;
    for (int i = 0; i < 3; i++) {
        double a = (double)m->m[0][i];
        double plus = (double)m->m[1][(i + 1) % 3] * (double)m->m[2][(i + 2) % 3];
        double minus = (double)m->m[1][(i + 2) % 3] * (double)m->m[2][(i + 1) % 3];
        determinant += a * (plus - minus);
        bound += fabs(a) * (fabs(plus) + fabs(minus));
    }
    return determinant < -0x1p-17 * bound;
}

static void make_frame(const pelt_mat34 *m, frame *out)
{
    const float *r0 = m->m[0];
    const float *r1 = m->m[1];
    const float *r2 = m->m[2];
    cross(r1, r2, out->cofactor[0]);
    cross(r2, r0, out->cofactor[1]);
    cross(r0, r1, out->cofactor[2]);
    float a = dot(r0, r0);
    float b = dot(r1, r1);
    float c = dot(r2, r2);
    out->row_bound = a + b + c;
    out->cofactor_bound = b * c + c * a + a * b;
}

// The float determinant decides where it is large beside its terms, whose squares bound exceeds: at 2^-10 of them both
// its own error (under 8 * 2^-24 of the terms) and the 2^-17 that count as zero are far below. Where the square under-
// or overflows the comparison fails: the determinant's does so before the bound's.
static bool is_mirrored(const pelt_mat34 *m, const frame *f)
{
    float determinant = dot(m->m[0], f->cofactor[0]);
    float bound = f->row_bound * f->cofactor_bound;
    if (determinant * determinant > 0x1p-20F * bound) {
        return determinant < 0.0F;
    }
    return is_mirrored_double(m);
}

// A float direction is good where the squares of the terms that it was summed from, which bound exceeds, are far from
// both ends of float, and its own square is not much smaller: its error is under 8 * 2^-24 of those terms, so a length
// of 2^-5 of them keeps it within 0.001 degrees. NaN fails.
static bool is_sure(float length2, float bound)
{
    return bound > 0x1p-110F && bound < 0x1p110F && length2 > 0x1p-10F * bound;
}

static void write_direction(const float v[3], float length2, float out[3])
{
    float scale = 1.0F / sqrtf(length2);
    for (int i = 0; i < 3; i++) {
        out[i] = v[i] * scale + 0.0F;
    }
}

// The double path: any finite matrix and direction, and no loss by cancellation beyond that of the matrix itself. A
// direction that becomes zero (or not finite) takes the input direction, else the axis, so it is always of unit length.
static void write_direction_double(const double v[3], const float input[3], int axis, float out[3])
{
    double d[3] = {v[0], v[1], v[2]};
    double length2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if (!(length2 > 0.0 && length2 < HUGE_VAL)) {
        for (int i = 0; i < 3; i++) {
            d[i] = (double)input[i];
        }
        length2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    }
    if (!(length2 > 0.0 && length2 < HUGE_VAL)) {
        for (int i = 0; i < 3; i++) {
            d[i] = i == axis;
        }
        length2 = 1.0;
    }
    double length = sqrt(length2);
    for (int i = 0; i < 3; i++) {
        out[i] = (float)(d[i] / length) + 0.0F;
    }
}

static void skin_normal_double(const pelt_mat34 *m, const float n[3], double sign, float out[3])
{
    double v[3];
    for (int i = 0; i < 3; i++) {
        double c[3];
        cross_double(m->m[(i + 1) % 3], m->m[(i + 2) % 3], c);
        v[i] = (c[0] * (double)n[0] + c[1] * (double)n[1] + c[2] * (double)n[2]) * sign;
    }
    write_direction_double(v, n, 2, out);
}

static void skin_normal(const pelt_mat34 *m, const frame *f, const float n[3], float sign, float out[3])
{
    float v[3];
    for (int i = 0; i < 3; i++) {
        v[i] = dot(f->cofactor[i], n) * sign;
    }
    float length2 = dot(v, v);
    if (is_sure(length2, f->cofactor_bound * dot(n, n))) {
        write_direction(v, length2, out);
    } else {
        skin_normal_double(m, n, (double)sign, out);
    }
}

static void skin_tangent(const pelt_mat34 *m, const frame *f, const float t[4], float sign, float out[4])
{
    float v[3];
    for (int i = 0; i < 3; i++) {
        v[i] = dot(m->m[i], t);
    }
    float length2 = dot(v, v);
    if (is_sure(length2, f->row_bound * dot(t, t))) {
        write_direction(v, length2, out);
    } else {
        double d[3];
        for (int i = 0; i < 3; i++) {
            const float *r = m->m[i];
            d[i] = (double)r[0] * (double)t[0] + (double)r[1] * (double)t[1] + (double)r[2] * (double)t[2];
        }
        write_direction_double(d, t, 0, out);
    }
    out[3] = t[3] * sign + 0.0F;
}

// The nearest code in the square. Adding +0 makes the two zeros fold alike.
static uint32_t octahedral_code(const float v[3], float y_limit, uint32_t y_mask)
{
    float scale = 1.0F / ((fabsf(v[0]) + fabsf(v[1])) + fabsf(v[2]));
    float x = v[0] * scale + 0.0F;
    float y = v[1] * scale + 0.0F;
    float fold = v[2] < 0.0F ? -v[2] * scale : 0.0F;
    uint32_t x_code = (uint32_t)(int32_t)lrintf((x + copysignf(fold, x)) * 32767.0F);
    uint32_t y_code = (uint32_t)(int32_t)lrintf((y + copysignf(fold, y)) * y_limit);
    return (x_code & 0xFFFFU) | (y_code & y_mask) << 16;
}

#endif

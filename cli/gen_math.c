// SPDX-License-Identifier: MIT
// Frames, quaternions and chain weights of generated characters.
#include "gen.h"

#include <math.h>

static double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

pelt_quat gen_quat_axis(double x, double y, double z, double angle)
{
    double s = sin(angle / 2);
    return (pelt_quat){(float)(x * s), (float)(y * s), (float)(z * s), (float)cos(angle / 2)};
}

pelt_quat gen_quat_multiply(pelt_quat a, pelt_quat b)
{
    return (pelt_quat){a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                       a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

// Quaternion of the rotation whose columns are given. Source: K. Shoemake, "Quaternions", 1985: the largest of the four
// components is taken from the diagonal so that nothing cancels.
static pelt_quat from_columns(double c[3][3])
{
    double trace = c[0][0] + c[1][1] + c[2][2];
    double q[4];
    if (trace > 0) {
        double s = 2 * sqrt(trace + 1);
        q[3] = s / 4;
        q[0] = (c[1][2] - c[2][1]) / s;
        q[1] = (c[2][0] - c[0][2]) / s;
        q[2] = (c[0][1] - c[1][0]) / s;
    } else {
        int i = c[1][1] > c[0][0] ? 1 : 0;
        i = c[2][2] > c[i][i] ? 2 : i;
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        double s = 2 * sqrt(1 + c[i][i] - c[j][j] - c[k][k]);
        q[i] = s / 4;
        q[3] = (c[j][k] - c[k][j]) / s;
        q[j] = (c[i][j] + c[j][i]) / s;
        q[k] = (c[i][k] + c[k][i]) / s;
    }
    return (pelt_quat){(float)q[0], (float)q[1], (float)q[2], (float)q[3]};
}

gen_frame gen_frame_at(double x, double y, double z)
{
    return (gen_frame){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {x, y, z}};
}

pelt_trs gen_relative(const gen_frame *parent, const gen_frame *child)
{
    const double *axes[3] = {child->x, child->y, child->z};
    double columns[3][3];
    for (int i = 0; i < 3; i++) {
        columns[i][0] = dot3(parent->x, axes[i]);
        columns[i][1] = dot3(parent->y, axes[i]);
        columns[i][2] = dot3(parent->z, axes[i]);
    }
    double d[3] = {child->origin[0] - parent->origin[0], child->origin[1] - parent->origin[1],
                   child->origin[2] - parent->origin[2]};
    pelt_trs trs = pelt_trs_identity();
    trs.rotation = from_columns(columns);
    trs.translation = (pelt_vec3){(float)dot3(parent->x, d), (float)dot3(parent->y, d), (float)dot3(parent->z, d)};
    return trs;
}

void gen_inverse_bind(const gen_frame *frame, float out[16])
{
    const double *axes[3] = {frame->x, frame->y, frame->z};
    for (int column = 0; column < 3; column++) {
        for (int row = 0; row < 3; row++) {
            out[4 * column + row] = (float)axes[row][column];
        }
        out[4 * column + 3] = 0.0f;
    }
    for (int row = 0; row < 3; row++) {
        out[12 + row] = (float)-dot3(axes[row], frame->origin);
    }
    out[15] = 1.0f;
}

double gen_smoothstep(double low, double high, double x)
{
    double t = (x - low) / (high - low);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * (3 - 2 * t);
}

// Source of the mixer: splitmix64 by S. Vigna (public domain), as a formula.
double gen_random(uint32_t seed, uint32_t index)
{
    uint64_t z = ((uint64_t)seed << 32 | index) + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) / 9007199254740992.0;
}

uint32_t gen_chain_weights(double x, uint32_t count, uint32_t elements[4], double weights[4])
{
    double last = count - 1.0;
    double clamped = x < 0 ? 0 : x > last ? last : x;
    double base = floor(clamped);
    double f = clamped - base;
    double basis[4] = {(1 - f) * (1 - f) * (1 - f) / 6, (3 * f * f * f - 6 * f * f + 4) / 6,
                       (-3 * f * f * f + 3 * f * f + 3 * f + 1) / 6, f * f * f / 6};
    uint32_t used = 0;
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double element = base + i - 1;
        uint32_t index = element < 0 ? 0 : element > last ? count - 1 : (uint32_t)element;
        if (basis[i] < 1e-4) {
            continue;
        }
        sum += basis[i];
        if (used > 0 && elements[used - 1] == index) {
            weights[used - 1] += basis[i];
        } else {
            elements[used] = index;
            weights[used++] = basis[i];
        }
    }
    for (uint32_t i = 0; i < used; i++) {
        weights[i] /= sum;
    }
    return used;
}

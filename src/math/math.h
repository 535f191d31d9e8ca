// SPDX-License-Identifier: MIT
// Inside the library: the double-precision maths that evaluation shares. Every value that crosses the API is float;
// chains of transforms are evaluated in double and rounded once, so that a deep hierarchy loses nothing on the way.
// Inputs come from floats, whose squares neither overflow nor vanish in double: no function here needs to rescale.
#ifndef PELTI_MATH_H
#define PELTI_MATH_H

#include <pelt/math.h>

#include <math.h>
#include <string.h>

// Index of the first value that is NaN or infinite, or count. Compared as integers in blocks, a loop that compilers
// turn into vector code, unlike isfinite with an early exit.
static inline uint64_t pelti_first_not_finite(const float *values, uint64_t count)
{
    const uint64_t block_size = 1024;
    for (uint64_t start = 0; start < count; start += block_size) {
        uint64_t end = count - start < block_size ? count : start + block_size;
        // Without its sign, a float that is not finite is the only kind that this addition carries into bit 31.
        uint32_t carried = 0;
        for (uint64_t i = start; i < end; i++) {
            uint32_t bits = 0;
            memcpy(&bits, &values[i], sizeof bits);
            carried |= (bits & 0x7FFFFFFFU) + 0x00800000U;
        }
        for (uint64_t i = start; carried >> 31 && i < end; i++) {
            if (!isfinite(values[i])) {
                return i;
            }
        }
    }
    return count;
}

typedef struct pelti_vec3d {
    double x, y, z;
} pelti_vec3d;

typedef struct pelti_quatd {
    double x, y, z, w;
} pelti_quatd;

// Row-major 3x4 like pelt_mat34: m[4 * row + column]. 96 bytes.
typedef struct pelti_mat34d {
    double m[12];
} pelti_mat34d;

static inline pelti_vec3d pelti_vec3d_from_vec3(pelt_vec3 v)
{
    return (pelti_vec3d){(double)v.x, (double)v.y, (double)v.z};
}

static inline pelt_vec3 pelti_vec3_from_vec3d(pelti_vec3d v)
{
    return (pelt_vec3){(float)v.x, (float)v.y, (float)v.z};
}

static inline double pelti_vec3d_dot(pelti_vec3d a, pelti_vec3d b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline pelti_vec3d pelti_vec3d_cross(pelti_vec3d a, pelti_vec3d b)
{
    return (pelti_vec3d){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double pelti_vec3d_length(pelti_vec3d v)
{
    return sqrt(pelti_vec3d_dot(v, v));
}

// False, with *v untouched, where the length is zero or not finite.
static inline bool pelti_vec3d_normalize(pelti_vec3d *v)
{
    double length = pelti_vec3d_length(*v);
    if (!(length > 0.0) || !isfinite(length)) {
        return false;
    }
    v->x /= length;
    v->y /= length;
    v->z /= length;
    return true;
}

// a at share 0, b at share 1, exactly at both ends.
static inline double pelti_lerp(double a, double b, double share)
{
    return a * (1.0 - share) + b * share;
}

static inline pelti_quatd pelti_quatd_from_quat(pelt_quat q)
{
    return (pelti_quatd){(double)q.x, (double)q.y, (double)q.z, (double)q.w};
}

static inline pelt_quat pelti_quat_from_quatd(pelti_quatd q)
{
    return (pelt_quat){(float)q.x, (float)q.y, (float)q.z, (float)q.w};
}

static inline double pelti_quatd_dot(pelti_quatd a, pelti_quatd b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// Whether q may be a quaternion of unit length rounded to floats, which is off by at most 2^-24. To normalise it again
// would gain nothing and could change its last bits: models must come through a file unchanged.
static inline bool pelti_quatd_is_rounded_unit(pelti_quatd q)
{
    return fabs(pelti_quatd_dot(q, q) - 1.0) <= 0x1.00001p-23;
}

// False, with *q untouched, where the length is zero or not finite.
static inline bool pelti_quatd_normalize(pelti_quatd *q)
{
    double length = sqrt(pelti_quatd_dot(*q, *q));
    if (!(length > 0.0) || !isfinite(length)) {
        return false;
    }
    q->x /= length;
    q->y /= length;
    q->z /= length;
    q->w /= length;
    return true;
}

// Spherical interpolation along the shorter arc; share is in [0, 1]. Neither end need be of unit length, none may be
// zero; the result is of unit length. Source: glTF 2.0 specification, appendix C.4; the angle comes from atan2 of the
// half chords instead of acos, which loses half the digits near 0 (W. Kahan, "How Futile are Mindless Assessments of
// Roundoff", section 12).
static inline pelti_quatd pelti_quatd_slerp(pelti_quatd a, pelti_quatd b, double share)
{
    pelti_quatd_normalize(&a);
    pelti_quatd_normalize(&b);
    if (pelti_quatd_dot(a, b) < 0.0) {
        b = (pelti_quatd){-b.x, -b.y, -b.z, -b.w};
    }
    pelti_quatd apart = {b.x - a.x, b.y - a.y, b.z - a.z, b.w - a.w};
    pelti_quatd along = {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
    double angle = 2.0 * atan2(sqrt(pelti_quatd_dot(apart, apart)), sqrt(pelti_quatd_dot(along, along)));
    double weight_a = 1.0 - share;
    double weight_b = share;
    // Below 1e-6 lerp and slerp differ by less than 1e-18, and sin(angle) would divide by next to nothing.
    if (angle > 1e-6) {
        double sine = sin(angle);
        weight_a = sin(angle * (1.0 - share)) / sine;
        weight_b = sin(angle * share) / sine;
    }
    pelti_quatd q = {a.x * weight_a + b.x * weight_b, a.y * weight_a + b.y * weight_b, a.z * weight_a + b.z * weight_b,
                     a.w * weight_a + b.w * weight_b};
    pelti_quatd_normalize(&q);
    return q;
}

static inline pelti_mat34d pelti_mat34d_identity(void)
{
    return (pelti_mat34d){{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
}

static inline pelti_mat34d pelti_mat34d_from_mat34(const pelt_mat34 *m)
{
    pelti_mat34d out;
    for (int i = 0; i < 12; i++) {
        out.m[i] = (double)m->m[i / 4][i % 4];
    }
    return out;
}

static inline pelt_mat34 pelti_mat34_from_mat34d(const pelti_mat34d *m)
{
    pelt_mat34 out;
    for (int i = 0; i < 12; i++) {
        out.m[i / 4][i % 4] = (float)m->m[i];
    }
    return out;
}

// Rotation matrix of q / |q| without a square root: the products are divided by |q|^2. A zero quaternion gives the
// identity rotation, though callers have refused it before.
static inline pelti_mat34d pelti_mat34d_from_trs(const pelt_trs *trs)
{
    pelti_quatd q = pelti_quatd_from_quat(trs->rotation);
    pelti_vec3d s = pelti_vec3d_from_vec3(trs->scale);
    double square = pelti_quatd_dot(q, q);
    double k = square > 0.0 ? 2.0 / square : 0.0;
    double xx = k * (q.x * q.x);
    double yy = k * (q.y * q.y);
    double zz = k * (q.z * q.z);
    double xy = k * (q.x * q.y);
    double xz = k * (q.x * q.z);
    double yz = k * (q.y * q.z);
    double wx = k * (q.w * q.x);
    double wy = k * (q.w * q.y);
    double wz = k * (q.w * q.z);
    return (pelti_mat34d){{
        (1.0 - (yy + zz)) * s.x, (xy - wz) * s.y, (xz + wy) * s.z, (double)trs->translation.x, //
        (xy + wz) * s.x, (1.0 - (xx + zz)) * s.y, (yz - wx) * s.z, (double)trs->translation.y, //
        (xz - wy) * s.x, (yz + wx) * s.y, (1.0 - (xx + yy)) * s.z, (double)trs->translation.z, //
    }};
}

// *out = *a * *b: first b, then a. out may be neither a nor b. Three rows at once, column by column, is the form that
// compilers turn into vectors of two or four columns; unrolled to twelve sums, gcc 12 shuffles single numbers instead
// and takes half as long again.
static inline void pelti_mat34d_multiply(const pelti_mat34d *a, const pelti_mat34d *b, pelti_mat34d *out)
{
    const double *restrict m = a->m;
    const double *restrict n = b->m;
    double *restrict o = out->m;
    const double m0 = m[0];
    const double m1 = m[1];
    const double m2 = m[2];
    const double m4 = m[4];
    const double m5 = m[5];
    const double m6 = m[6];
    const double m8 = m[8];
    const double m9 = m[9];
    const double m10 = m[10];
#if defined(__GNUC__)
#pragma GCC unroll 1
#endif
    for (int column = 0; column < 4; column++) {
        o[column] = m0 * n[column] + m1 * n[4 + column] + m2 * n[8 + column];
        o[4 + column] = m4 * n[column] + m5 * n[4 + column] + m6 * n[8 + column];
        o[8 + column] = m8 * n[column] + m9 * n[4 + column] + m10 * n[8 + column];
    }
    o[3] += m[3];
    o[7] += m[7];
    o[11] += m[11];
}

static inline pelti_vec3d pelti_mat34d_transform_point(const pelti_mat34d *a, pelti_vec3d v)
{
    const double *m = a->m;
    return (pelti_vec3d){m[0] * v.x + m[1] * v.y + m[2] * v.z + m[3], m[4] * v.x + m[5] * v.y + m[6] * v.z + m[7],
                         m[8] * v.x + m[9] * v.y + m[10] * v.z + m[11]};
}

// Determinant of the 3x3.
static inline double pelti_mat34d_determinant(const pelti_mat34d *a)
{
    const double *m = a->m;
    return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
           m[2] * (m[4] * m[9] - m[5] * m[8]);
}

#endif

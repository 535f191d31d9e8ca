// SPDX-License-Identifier: MIT
// The few plain types that cross the API: vectors, quaternions, TRS, 3x4 matrices and boxes.
// Matrices are row-major 3x4 for column vectors: v' = m * (x, y, z, 1); the fourth row is 0 0 0 1.
// Functions here are plain maths: any thread, no argument may be NULL, out may be an input.
#ifndef PELT_MATH_H
#define PELT_MATH_H

#include <pelt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pelt_vec3 {
    float x, y, z;
} pelt_vec3;

// Hamilton quaternion, glTF order (x, y, z, w); w is the real part.
typedef struct pelt_quat {
    float x, y, z, w;
} pelt_quat;

// Applied as T * R * S. 40 bytes, no padding.
typedef struct pelt_trs {
    pelt_vec3 translation;
    pelt_quat rotation;
    pelt_vec3 scale;
} pelt_trs;

// Row-major: m[row][column], column 3 is the translation. 48 bytes.
typedef struct pelt_mat34 {
    float m[3][4];
} pelt_mat34;

// The same laid out as VkAabbPositionsKHR: min xyz, then max xyz. Empty: min = +inf, max = -inf.
typedef struct pelt_box {
    float min[3];
    float max[3];
} pelt_box;

// No translation, no rotation, scale 1.
PELT_API pelt_trs pelt_trs_identity(void);
PELT_API pelt_mat34 pelt_mat34_identity(void);
// The rotation may have any finite length but zero: it is normalised. Evaluated in double, rounded once.
PELT_API pelt_mat34 pelt_mat34_from_trs(const pelt_trs *trs);
// a * b: first b, then a. Evaluated in double, rounded once.
PELT_API pelt_mat34 pelt_mat34_multiply(const pelt_mat34 *a, const pelt_mat34 *b);
// The inverse of an affine matrix. False, with *out untouched, where it is singular or not finite.
PELT_API bool pelt_mat34_invert(const pelt_mat34 *m, pelt_mat34 *out);
// Determinant of the 3x3, in double.
PELT_API double pelt_mat34_determinant(const pelt_mat34 *m);
// m * (point, 1).
PELT_API pelt_vec3 pelt_mat34_transform_point(const pelt_mat34 *m, pelt_vec3 point);

// The box of nothing: the start of a union.
PELT_API pelt_box pelt_box_empty(void);
// Whether min is over max on any axis, or not a number.
PELT_API bool pelt_box_is_empty(const pelt_box *box);
// Smallest box that holds both; either may be empty.
PELT_API pelt_box pelt_box_union(const pelt_box *a, const pelt_box *b);
// Smallest box around the transformed box. Source: J. Arvo, "Transforming Axis-Aligned Bounding Boxes",
// Graphics Gems, 1990. Empty stays empty.
PELT_API pelt_box pelt_box_transform(const pelt_mat34 *m, const pelt_box *box);
// Product of the three extents; 0 where the box is empty.
PELT_API double pelt_box_volume(const pelt_box *box);

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: MIT
// The public maths: everything is evaluated in double and rounded once.
#include "math/math.h"

pelt_trs pelt_trs_identity(void)
{
    return (pelt_trs){{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
}

pelt_mat34 pelt_mat34_identity(void)
{
    return (pelt_mat34){{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
}

pelt_mat34 pelt_mat34_from_trs(const pelt_trs *trs)
{
    pelti_mat34d m = pelti_mat34d_from_trs(trs);
    return pelti_mat34_from_mat34d(&m);
}

pelt_mat34 pelt_mat34_multiply(const pelt_mat34 *a, const pelt_mat34 *b)
{
    pelti_mat34d left = pelti_mat34d_from_mat34(a);
    pelti_mat34d right = pelti_mat34d_from_mat34(b);
    pelti_mat34d product;
    pelti_mat34d_multiply(&left, &right, &product);
    return pelti_mat34_from_mat34d(&product);
}

bool pelt_mat34_invert(const pelt_mat34 *m, pelt_mat34 *out)
{
    pelti_mat34d d = pelti_mat34d_from_mat34(m);
    const double *a = d.m;
    // Cofactors by row; the inverse is their transpose over the determinant.
    double c[9] = {
        a[5] * a[10] - a[6] * a[9], a[6] * a[8] - a[4] * a[10], a[4] * a[9] - a[5] * a[8], //
        a[2] * a[9] - a[1] * a[10], a[0] * a[10] - a[2] * a[8], a[1] * a[8] - a[0] * a[9], //
        a[1] * a[6] - a[2] * a[5],  a[2] * a[4] - a[0] * a[6],  a[0] * a[5] - a[1] * a[4],
    };
    double determinant = a[0] * c[0] + a[1] * c[1] + a[2] * c[2];
    // A determinant below its own rounding error cannot be told from zero. Each product of two floats is exact in
    // double, so four roundings at most stand between a term and the sum. Measured against the terms, not against a
    // fixed number, the test does not depend on scale.
    double terms = fabs(a[0]) * (fabs(a[5] * a[10]) + fabs(a[6] * a[9])) +
                   fabs(a[1]) * (fabs(a[6] * a[8]) + fabs(a[4] * a[10])) +
                   fabs(a[2]) * (fabs(a[4] * a[9]) + fabs(a[5] * a[8]));
    if (!(fabs(determinant) > 4.0 * 0x1p-53 * terms)) {
        return false;
    }
    pelti_mat34d inverse;
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++) {
            inverse.m[4 * row + column] = c[3 * column + row] / determinant;
        }
    }
    for (int row = 0; row < 3; row++) {
        const double *r = inverse.m + (size_t)4 * (size_t)row;
        inverse.m[4 * row + 3] = -(r[0] * a[3] + r[1] * a[7] + r[2] * a[11]);
    }
    pelt_mat34 rounded = pelti_mat34_from_mat34d(&inverse);
    for (int i = 0; i < 12; i++) {
        if (!isfinite(rounded.m[i / 4][i % 4])) {
            return false;
        }
    }
    *out = rounded;
    return true;
}

double pelt_mat34_determinant(const pelt_mat34 *m)
{
    pelti_mat34d d = pelti_mat34d_from_mat34(m);
    return pelti_mat34d_determinant(&d);
}

pelt_vec3 pelt_mat34_transform_point(const pelt_mat34 *m, pelt_vec3 point)
{
    pelti_mat34d d = pelti_mat34d_from_mat34(m);
    return pelti_vec3_from_vec3d(pelti_mat34d_transform_point(&d, pelti_vec3d_from_vec3(point)));
}

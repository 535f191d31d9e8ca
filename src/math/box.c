// SPDX-License-Identifier: MIT
// Boxes: union, volume and the transformed box.
#include "math/math.h"

pelt_box pelt_box_empty(void)
{
    return (pelt_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

bool pelt_box_is_empty(const pelt_box *box)
{
    for (int i = 0; i < 3; i++) {
        if (!(box->min[i] <= box->max[i])) {
            return true;
        }
    }
    return false;
}

pelt_box pelt_box_union(const pelt_box *a, const pelt_box *b)
{
    if (pelt_box_is_empty(a)) {
        return pelt_box_is_empty(b) ? pelt_box_empty() : *b;
    }
    if (pelt_box_is_empty(b)) {
        return *a;
    }
    pelt_box box;
    for (int i = 0; i < 3; i++) {
        box.min[i] = a->min[i] < b->min[i] ? a->min[i] : b->min[i];
        box.max[i] = a->max[i] > b->max[i] ? a->max[i] : b->max[i];
    }
    return box;
}

// The sums run in the order of pelti_mat34d_transform_point. Rounding never changes the order of two numbers, so the
// box holds what pelt_mat34_transform_point makes of any point in it, to the last bit.
pelt_box pelt_box_transform(const pelt_mat34 *m, const pelt_box *box)
{
    if (pelt_box_is_empty(box)) {
        return pelt_box_empty();
    }
    pelt_box out;
    for (int row = 0; row < 3; row++) {
        double low = 0.0;
        double high = 0.0;
        for (int column = 0; column < 3; column++) {
            double k = (double)m->m[row][column];
            // 0 times an unbounded side adds nothing.
            double a = k == 0.0 ? 0.0 : k * (double)box->min[column];
            double b = k == 0.0 ? 0.0 : k * (double)box->max[column];
            low += a < b ? a : b;
            high += a < b ? b : a;
        }
        out.min[row] = (float)(low + (double)m->m[row][3]);
        out.max[row] = (float)(high + (double)m->m[row][3]);
    }
    return out;
}

double pelt_box_volume(const pelt_box *box)
{
    if (pelt_box_is_empty(box)) {
        return 0.0;
    }
    double volume = 1.0;
    for (int i = 0; i < 3; i++) {
        double extent = (double)box->max[i] - (double)box->min[i];
        if (extent == 0.0) {
            return 0.0; // also where another side is unbounded
        }
        volume *= extent;
    }
    return volume;
}

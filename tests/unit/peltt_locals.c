// SPDX-License-Identifier: MIT
// Locals for tests of clips.
#include "peltt_locals.h"

peltt_locals peltt_locals_make(pelt_asset *asset)
{
    peltt_locals f = {asset, pelt_asset_get(asset), {0}};
    size_t nodes = f.data->node_count;
    f.locals.transforms = malloc(nodes * sizeof(pelt_trs));
    f.locals.transform_changed = calloc(nodes, 1);
    f.locals.uses_matrix = calloc(nodes, 1);
    f.locals.weights = malloc(f.data->rest_weight_count * sizeof(float) + 1);
    f.locals.weights_changed = calloc(nodes, 1);
    assert_int_equal(pelt_locals_rest(asset, &f.locals), PELT_OK);
    memset(f.locals.transform_changed, 0, nodes);
    memset(f.locals.weights_changed, 0, nodes);
    return f;
}

void peltt_locals_free(peltt_locals *f)
{
    free(f->locals.transforms);
    free(f->locals.transform_changed);
    free(f->locals.uses_matrix);
    free(f->locals.weights);
    free(f->locals.weights_changed);
    pelt_asset_destroy(f->asset);
}

peltt_double4 peltt_from_quat(pelt_quat q)
{
    return (peltt_double4){{(double)q.x, (double)q.y, (double)q.z, (double)q.w}};
}

double peltt_length4(peltt_double4 q)
{
    return sqrt(q.v[0] * q.v[0] + q.v[1] * q.v[1] + q.v[2] * q.v[2] + q.v[3] * q.v[3]);
}

double peltt_dot4(peltt_double4 a, peltt_double4 b)
{
    return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2] + a.v[3] * b.v[3];
}

peltt_double4 peltt_normal4(peltt_double4 q)
{
    double length = peltt_length4(q);
    for (int i = 0; i < 4; i++) {
        q.v[i] /= length;
    }
    return q;
}

// Hamilton peltt_product.
peltt_double4 peltt_product(peltt_double4 a, peltt_double4 b)
{
    const double *p = a.v;
    const double *q = b.v;
    return (peltt_double4){
        {p[3] * q[0] + p[0] * q[3] + p[1] * q[2] - p[2] * q[1], p[3] * q[1] - p[0] * q[2] + p[1] * q[3] + p[2] * q[0],
         p[3] * q[2] + p[0] * q[1] - p[1] * q[0] + p[2] * q[3], p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2]}};
}

peltt_double4 peltt_axis_angle(const double axis[3], double angle)
{
    double s = sin(angle / 2.0);
    return (peltt_double4){{axis[0] * s, axis[1] * s, axis[2] * s, cos(angle / 2.0)}};
}

peltt_double4 peltt_slerp(peltt_double4 a, peltt_double4 b, double share)
{
    a = peltt_normal4(a);
    b = peltt_normal4(b);
    peltt_double4 back = {{-a.v[0], -a.v[1], -a.v[2], a.v[3]}};
    peltt_double4 way = peltt_product(back, b);
    if (way.v[3] < 0.0) {
        for (int i = 0; i < 4; i++) {
            way.v[i] = -way.v[i];
        }
    }
    double sine = sqrt(way.v[0] * way.v[0] + way.v[1] * way.v[1] + way.v[2] * way.v[2]);
    if (sine == 0.0) {
        return a;
    }
    double axis[3] = {way.v[0] / sine, way.v[1] / sine, way.v[2] / sine};
    return peltt_product(a, peltt_axis_angle(axis, share * 2.0 * atan2(sine, way.v[3])));
}

void peltt_expect_rotation(pelt_quat got, peltt_double4 expected, double tolerance)
{
    peltt_double4 q = peltt_from_quat(got);
    double sign = peltt_dot4(q, expected) < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 4; i++) {
        assert_true(fabs(q.v[i] - sign * expected.v[i]) <= tolerance);
    }
    assert_true(fabs(peltt_length4(q) - 1.0) <= 2e-7);
}

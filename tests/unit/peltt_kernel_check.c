// SPDX-License-Identifier: MIT
// Compares what a kernel wrote with double precision. See peltt_kernel.h.
#include "peltt_kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const double position_limit = 4e-7;
static const double angle_limit = 0.01 / 57.29577951308232;
// What rounding to the nearest code in the square can add.
static const double normal_step = 0.004 / 57.29577951308232;
static const double tangent_step = 0.006 / 57.29577951308232;
// Directions that the matrix shrinks below this share of what it could give are not determined by floats.
static const double ratio_limit = 1e-3;

static size_t element_size(const peltt_kernel *k, peltt_stream stream)
{
    bool packed = k->shape.octahedral_out;
    switch (stream) {
    case PELTT_S_OUT_POSITIONS:
        return 12;
    case PELTT_S_OUT_NORMALS:
        return packed ? 4 : 12;
    case PELTT_S_OUT_TANGENTS:
        return packed ? 4 : 16;
    default:
        return 1;
    }
}

const void *peltt_kernel_output(const peltt_kernel *kernel, peltt_stream stream, uint32_t vertex)
{
    return kernel->streams[stream].data + (element_size(kernel, stream) + kernel->shape.gap) * vertex;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

// The blended matrix, and how large the terms are that its elements and the position are summed from.
typedef struct blended {
    double rows[3][3];
    double moves[3];
    double reach[3]; // of each coordinate
    double size;     // of the 3x3: sum of weight times Frobenius norm
} blended;

static blended blend(const peltt_kernel *k, const peltt_kernel_vertex *v)
{
    blended b = {.size = 0.0};
    for (uint32_t i = 0; i < v->count; i++) {
        const char *palette = (const char *)k->job.palette;
        pelt_mat34 m;
        double square = 0.0;
        if (v->weights[i] == 0.0) {
            continue;
        }
        memcpy(&m, palette + k->shape.palette_stride * v->joints[i], sizeof m);
        for (int r = 0; r < 3; r++) {
            b.moves[r] += v->weights[i] * (double)m.m[r][3];
            b.reach[r] += v->weights[i] * fabs((double)m.m[r][3]);
            for (int c = 0; c < 3; c++) {
                double e = (double)m.m[r][c];
                b.rows[r][c] += v->weights[i] * e;
                b.reach[r] += v->weights[i] * fabs(e * v->position[c]);
                square += e * e;
            }
        }
        b.size += v->weights[i] * sqrt(square);
    }
    return b;
}

static double angle(const float got[3], const double want[3])
{
    double g[3] = {(double)got[0], (double)got[1], (double)got[2]};
    double length = sqrt(dot(want, want));
    double across[3];
    cross(g, want, across);
    double a = atan2(sqrt(dot(across, across)), dot(g, want));
    assert_true(length > 0.0);
    return a;
}

static void check_length(const float v[3])
{
    double length2 = (double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2];
    assert_true(fabs(sqrt(length2) - 1.0) < 3e-7);
}

static void check_direction(const peltt_kernel *k, const float got[3], const double want[3], const double input[3],
                            double most, double step, double *worst, uint64_t *doubtful)
{
    double ratio = sqrt(dot(want, want)) / (most * sqrt(dot(input, input)));
    if (!(ratio > ratio_limit)) {
        *doubtful += 1;
        return;
    }
    double error = angle(got, want);
    *worst = fmax(*worst, error);
    if (error > angle_limit + (k->shape.octahedral_out ? step : 0.0)) {
        fail_msg("a direction is off by %.3g degrees", error * 57.29577951308232);
    }
}

static void check_position(const peltt_kernel *k, uint32_t v, const blended *b, peltt_kernel_errors *errors)
{
    float got[3];
    memcpy(got, peltt_kernel_output(k, PELTT_S_OUT_POSITIONS, v), sizeof got);
    for (int r = 0; r < 3; r++) {
        double want = dot(b->rows[r], k->vertices[v].position) + b->moves[r];
        double error = fabs((double)got[r] - want) / fmax(b->reach[r], 1e-30);
        errors->position = fmax(errors->position, error);
        if (!(error < position_limit) || (got[r] == 0.0F && signbit(got[r]))) {
            fail_msg("vertex %u of %u: %.9g is not %.9g", v, k->shape.vertex_count, (double)got[r], want);
        }
    }
}

static void check_directions(const peltt_kernel *k, uint32_t v, const blended *b, peltt_kernel_errors *errors)
{
    const peltt_kernel_vertex *vertex = &k->vertices[v];
    double cofactors[3][3];
    for (int r = 0; r < 3; r++) {
        cross(b->rows[(r + 1) % 3], b->rows[(r + 2) % 3], cofactors[r]);
    }
    double determinant = dot(b->rows[0], cofactors[0]);
    double cube = b->size * b->size * b->size;
    bool certain = fabs(determinant) > 1e-4 * cube;
    double sign = determinant < 0.0 && certain ? -1.0 : 1.0;
    if (k->shape.wanted & PELTT_MIRRORED) {
        uint8_t mirrored = *(const uint8_t *)peltt_kernel_output(k, PELTT_S_OUT_MIRRORED, v);
        assert_true(mirrored <= 1);
        assert_true(!certain || mirrored == (determinant < 0.0));
        sign = mirrored ? -1.0 : 1.0;
        certain = true;
    }
    sign = k->shape.outward ? sign : 1.0;
    certain = certain || !k->shape.outward;
    if (k->shape.wanted & PELTT_NORMALS) {
        const void *out = peltt_kernel_output(k, PELTT_S_OUT_NORMALS, v);
        float got[3];
        if (k->shape.octahedral_out) {
            uint32_t code = 0;
            memcpy(&code, out, sizeof code);
            pelt_normal_decode(code, got);
        } else {
            memcpy(got, out, sizeof got);
        }
        check_length(got);
        double want[3];
        for (int r = 0; r < 3; r++) {
            want[r] = dot(cofactors[r], vertex->normal) * sign;
        }
        if (certain) {
            check_direction(k, got, want, vertex->normal, b->size * b->size, normal_step, &errors->normal,
                            &errors->doubtful);
        }
    }
    if (k->shape.wanted & PELTT_TANGENTS) {
        const void *out = peltt_kernel_output(k, PELTT_S_OUT_TANGENTS, v);
        float got[4];
        if (k->shape.octahedral_out) {
            uint32_t code = 0;
            memcpy(&code, out, sizeof code);
            pelt_tangent_decode(code, got);
        } else {
            memcpy(got, out, sizeof got);
        }
        check_length(got);
        double want[3];
        for (int r = 0; r < 3; r++) {
            want[r] = dot(b->rows[r], vertex->tangent);
        }
        assert_true(!certain || (double)got[3] == vertex->tangent[3] * sign);
        check_direction(k, got, want, vertex->tangent, b->size, tangent_step, &errors->tangent, &errors->doubtful);
    }
}

static void check_box(const peltt_kernel *k)
{
    pelt_box want = pelt_box_empty();
    for (uint32_t v = 0; v < k->shape.vertex_count; v++) {
        float p[3];
        memcpy(p, peltt_kernel_output(k, PELTT_S_OUT_POSITIONS, v), sizeof p);
        for (int c = 0; c < 3; c++) {
            want.min[c] = p[c] < want.min[c] ? p[c] : want.min[c];
            want.max[c] = p[c] > want.max[c] ? p[c] : want.max[c];
        }
    }
    assert_memory_equal(k->streams[PELTT_S_BOX].data, &want, sizeof want);
}

static void check_gaps(const peltt_kernel *k, peltt_stream stream)
{
    size_t size = element_size(k, stream);
    size_t stride = size + k->shape.gap;
    for (size_t i = 0; i < k->streams[stream].size; i++) {
        if (i % stride >= size && k->streams[stream].data[i] != 0xCC) {
            fail_msg("byte %zu of vertex %zu was written", i % stride, i / stride);
        }
    }
}

void peltt_kernel_check(const peltt_kernel *kernel, peltt_kernel_errors *errors)
{
    for (int s = PELTT_S_OUT_POSITIONS; s < PELTT_S_BOX; s++) {
        if (kernel->streams[s].mapping) {
            check_gaps(kernel, (peltt_stream)s);
        }
    }
    for (uint32_t v = 0; v < kernel->shape.vertex_count; v++) {
        blended b = blend(kernel, &kernel->vertices[v]);
        if (kernel->shape.wanted & PELTT_POSITIONS) {
            check_position(kernel, v, &b, errors);
        }
        check_directions(kernel, v, &b, errors);
    }
    if ((kernel->shape.wanted & PELTT_BOX) && (kernel->shape.wanted & PELTT_POSITIONS)) {
        check_box(kernel);
    }
}

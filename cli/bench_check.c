// SPDX-License-Identifier: MIT
// Holds what contenders write against the same sums in double, from the same inputs.
#include "bench.h"

#include <math.h>
#include <string.h>

enum {
    MOST_CHECKED = 20000
};

// What an octahedral code may turn a direction by, in radians: 0.007 degrees.
static const double code_turn = 1.3e-4;
// Directions shorter than this share of their terms have no angle to compare.
static const double least_share = 1e-4;

// A vertex's blended matrix, and the same of absolute values: what rounding is measured by.
typedef struct blend {
    double m[3][4];
    double size[3][4];
} blend;

static blend blend_matrices(const bench_mesh *mesh, size_t vertex)
{
    blend b = {{{0}}, {{0}}};
    for (size_t i = 0; i < mesh->slot_count; i++) {
        double weight = (double)mesh->weights[mesh->slot_count * vertex + i];
        const float *rows = mesh->palette->rows + 16 * (size_t)mesh->joints[mesh->slot_count * vertex + i];
        for (size_t k = 0; weight != 0 && k < 12; k++) {
            b.m[k / 4][k % 4] += weight * (double)rows[k];
            b.size[k / 4][k % 4] += weight * fabs((double)rows[k]);
        }
    }
    return b;
}

// Transposed inverse of the 3x3; not a number where there is none.
static void inverse_transpose(const float *rows, double out[3][3])
{
    double determinant = 0;
    for (int r = 0; r < 3; r++) {
        const float *a = rows + 4 * ((r + 1) % 3);
        const float *b = rows + 4 * ((r + 2) % 3);
        for (int c = 0; c < 3; c++) {
            int i = (c + 1) % 3;
            int j = (c + 2) % 3;
            out[r][c] = (double)a[i] * (double)b[j] - (double)a[j] * (double)b[i];
        }
    }
    for (int c = 0; c < 3; c++) {
        determinant += (double)rows[c] * out[0][c];
    }
    for (int k = 0; k < 9; k++) {
        out[k / 3][k % 3] /= determinant;
    }
}

static blend blend_inverse_transposes(const bench_mesh *mesh, size_t vertex)
{
    blend b = {{{0}}, {{0}}};
    for (size_t i = 0; i < mesh->slot_count; i++) {
        double weight = (double)mesh->weights[mesh->slot_count * vertex + i];
        double m[3][3];
        inverse_transpose(mesh->palette->rows + 16 * (size_t)mesh->joints[mesh->slot_count * vertex + i], m);
        for (int k = 0; weight != 0 && k < 9; k++) {
            b.m[k / 3][k % 3] += weight * m[k / 3][k % 3];
            b.size[k / 3][k % 3] += weight * fabs(m[k / 3][k % 3]);
        }
    }
    return b;
}

static double rounding(const bench_mesh *mesh)
{
    return (mesh->slot_count + 8) * 0x1p-23;
}

// share: of the largest terms of any axis.
static bool position_fits(const bench_mesh *mesh, size_t vertex, const blend *b, double share, const float *got)
{
    const float *v = mesh->positions + 3 * vertex;
    double wanted[3];
    double size[3];
    double largest = 0;
    for (int r = 0; r < 3; r++) {
        wanted[r] = b->m[r][3];
        size[r] = b->size[r][3];
        for (int c = 0; c < 3; c++) {
            wanted[r] += b->m[r][c] * (double)v[c];
            size[r] += b->size[r][c] * fabs((double)v[c]);
        }
        largest = fmax(largest, size[r]);
    }
    for (int r = 0; r < 3; r++) {
        if (!(fabs((double)got[r] - wanted[r]) <= rounding(mesh) * size[r] + share * largest)) {
            return false;
        }
    }
    return true;
}

// The direction that d becomes, and how large the terms are that it is a sum of.
static void turn(const double m[3][4], const double size[3][4], bool by_cofactor, const float *d, double out[3],
                 double terms[3])
{
    for (int r = 0; r < 3; r++) {
        const double *a = m[(r + 1) % 3];
        const double *b = m[(r + 2) % 3];
        const double *x = size[(r + 1) % 3];
        const double *y = size[(r + 2) % 3];
        out[r] = 0;
        terms[r] = 0;
        for (int c = 0; c < 3; c++) {
            int i = (c + 1) % 3;
            int j = (c + 2) % 3;
            double factor = by_cofactor ? a[i] * b[j] - a[j] * b[i] : m[r][c];
            out[r] += factor * (double)d[c];
            terms[r] += (by_cofactor ? x[i] * y[j] + x[j] * y[i] : size[r][c]) * fabs((double)d[c]);
        }
    }
}

static double length3(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

typedef struct direction_case {
    bool by_cofactor;
    bool is_unit; // what was written must be
    bool packed;
    double turn; // allowed beside
} direction_case;

static bool direction_fits(const bench_mesh *mesh, const blend *b, direction_case is, const float *d, const float *got)
{
    double wanted[3];
    double terms[3];
    turn(b->m, b->size, is.by_cofactor, d, wanted, terms);
    double length = length3(wanted);
    if (!(length > least_share * length3(terms))) {
        return true;
    }
    const double g[3] = {(double)got[0], (double)got[1], (double)got[2]};
    const double cross[3] = {g[1] * wanted[2] - g[2] * wanted[1], g[2] * wanted[0] - g[0] * wanted[2],
                             g[0] * wanted[1] - g[1] * wanted[0]};
    double product = g[0] * wanted[0] + g[1] * wanted[1] + g[2] * wanted[2];
    double allowed = 4 * rounding(mesh) * length3(terms) / length + (is.packed ? code_turn : 0) + is.turn;
    bool is_long = !is.is_unit || fabs(length3(g) - 1) <= 1e-5;
    return is_long && product > 0 && length3(cross) <= allowed * product;
}

static const void *element(const void *stream, size_t stride, size_t index)
{
    return (const char *)stream + stride * index;
}

static bool vertex_fits(const bench_mesh *mesh, const bench_output *out, size_t v)
{
    const blend b = blend_matrices(mesh, v);
    float decoded[4];
    uint32_t code = 0;
    bool is_unit = !out->any_length;
    if (!position_fits(mesh, v, &b, out->position_share, element(out->positions, out->positions_stride, v))) {
        return false;
    }
    if (out->normals) {
        const void *normal = element(out->normals, out->normals_stride, v);
        if (out->packed) {
            memcpy(&code, normal, sizeof code);
            pelt_normal_decode(code, decoded);
            normal = decoded;
        }
        const direction_case is = {out->by == BENCH_NORMALS_COFACTOR, is_unit, out->packed, out->turn};
        const blend n = out->by == BENCH_NORMALS_INVERSE_TRANSPOSES ? blend_inverse_transposes(mesh, v) : b;
        if (!direction_fits(mesh, &n, is, mesh->normals + 3 * v, normal)) {
            return false;
        }
    }
    if (out->tangents) {
        const float *tangent = element(out->tangents, out->tangents_stride, v);
        if (out->packed) {
            memcpy(&code, tangent, sizeof code);
            pelt_tangent_decode(code, decoded);
            tangent = decoded;
        }
        const direction_case is = {false, is_unit, out->packed, out->turn};
        if (tangent[3] != mesh->tangents[4 * v + 3] || !direction_fits(mesh, &b, is, mesh->tangents + 4 * v, tangent)) {
            return false;
        }
    }
    return true;
}

static bool box_fits(const bench_mesh *mesh, const bench_output *out)
{
    pelt_box box = pelt_box_empty();
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        const float *p = element(out->positions, out->positions_stride, v);
        for (int i = 0; i < 3; i++) {
            box.min[i] = p[i] < box.min[i] ? p[i] : box.min[i];
            box.max[i] = p[i] > box.max[i] ? p[i] : box.max[i];
        }
    }
    return memcmp(&box, out->box, sizeof box) == 0;
}

bool bench_check_skin(const bench_mesh *mesh, const bench_output *output)
{
    // Steps that are odd, so that every place in a block of vertices comes up.
    size_t step = (mesh->vertex_count / MOST_CHECKED) | 1U;
    for (size_t v = 0; v < mesh->vertex_count; v += step) {
        if (!vertex_fits(mesh, output, v)) {
            return false;
        }
    }
    return !output->box || box_fits(mesh, output);
}

// ---- palettes

typedef struct affine {
    double m[3][4];
} affine;

static affine affine_from_trs(const pelt_trs *t)
{
    double x = (double)t->rotation.x;
    double y = (double)t->rotation.y;
    double z = (double)t->rotation.z;
    double w = (double)t->rotation.w;
    double n = x * x + y * y + z * z + w * w;
    double sx = 2 * (double)t->scale.x / n;
    double sy = 2 * (double)t->scale.y / n;
    double sz = 2 * (double)t->scale.z / n;
    return (affine){{
        {(n / 2 - y * y - z * z) * sx, (x * y - w * z) * sy, (x * z + w * y) * sz, (double)t->translation.x},
        {(x * y + w * z) * sx, (n / 2 - x * x - z * z) * sy, (y * z - w * x) * sz, (double)t->translation.y},
        {(x * z - w * y) * sx, (y * z + w * x) * sy, (n / 2 - x * x - y * y) * sz, (double)t->translation.z},
    }};
}

static affine affine_multiply(const affine *a, const affine *b)
{
    affine out;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 4; c++) {
            out.m[r][c] = c == 3 ? a->m[r][3] : 0;
            for (int k = 0; k < 3; k++) {
                out.m[r][c] += a->m[r][k] * b->m[k][c];
            }
        }
    }
    return out;
}

bool bench_check_palette(const bench_pose *pose, const float *matrices, bool in_columns)
{
    affine worlds[BENCH_SKELETON_JOINTS];
    for (uint32_t j = 0; j < pose->joint_count; j++) {
        uint32_t parent = bench_joint_parent(j);
        worlds[j] = affine_from_trs(&pose->locals[j]);
        if (parent != PELT_NONE) {
            worlds[j] = affine_multiply(&worlds[parent], &worlds[j]);
        }
        affine bind;
        for (int k = 0; k < 12; k++) {
            bind.m[k / 4][k % 4] = (double)pose->joint_from_bind[j].m[k / 4][k % 4];
        }
        const affine wanted = affine_multiply(&worlds[j], &bind);
        const float *got = matrices + 16 * (size_t)j;
        for (int k = 0; k < 16; k++) {
            int r = k / 4;
            int c = k % 4;
            double x = r < 3 ? wanted.m[r][c] : c == 3 ? 1 : 0;
            double size = 1 + fabs(worlds[j].m[0][3]) + fabs(x) + fabs(bind.m[0][3]);
            double y = (double)got[in_columns ? 4 * c + r : k];
            if (!(fabs(x - y) <= pose->joint_count * 0x1p-23 * size)) {
                return false;
            }
        }
    }
    return true;
}

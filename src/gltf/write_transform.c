// SPDX-License-Identifier: MIT
// Writes a node's posed local transform: translation, rotation and scale, or a matrix where the node has one.
#include "write_internal.h"

#include <math.h>

static bool all_finite(const float *values, int count)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

static void put_reals(gltf_writer *writer, json_t *object, const char *key, const float *values, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++) {
        pelti_write_append(writer, array, json_real((double)values[i]));
    }
    pelti_write_put(writer, object, key, array);
}

static void write_matrix(gltf_writer *writer, json_t *object, const pelt_mat34 *m)
{
    float columns[16];
    bool identity = true;
    for (int c = 0; c < 4; c++) {
        for (int r = 0; r < 4; r++) {
            float value = r < 3 ? m->m[r][c] : c == 3 ? 1.0F : 0.0F;
            identity = identity && value == (r == c ? 1.0F : 0.0F);
            columns[c * 4 + r] = value;
        }
    }
    if (!identity) {
        put_reals(writer, object, "matrix", columns, 16);
    }
}

static void write_rotation(gltf_writer *writer, json_t *object, pelt_quat q)
{
    double length = sqrt((double)q.x * (double)q.x + (double)q.y * (double)q.y + (double)q.z * (double)q.z +
                         (double)q.w * (double)q.w);
    if ((q.x == 0 && q.y == 0 && q.z == 0) || length == 0) {
        return; // the identity, whatever the sign and size of w
    }
    float values[4] = {(float)((double)q.x / length), (float)((double)q.y / length), (float)((double)q.z / length),
                       (float)((double)q.w / length)};
    put_reals(writer, object, "rotation", values, 4);
}

static void write_trs(gltf_writer *writer, json_t *object, const pelt_trs *trs)
{
    pelt_vec3 t = trs->translation;
    pelt_vec3 s = trs->scale;
    if (t.x != 0 || t.y != 0 || t.z != 0) {
        float values[3] = {t.x, t.y, t.z};
        put_reals(writer, object, "translation", values, 3);
    }
    write_rotation(writer, object, trs->rotation);
    if (s.x != 1 || s.y != 1 || s.z != 1) {
        float values[3] = {s.x, s.y, s.z};
        put_reals(writer, object, "scale", values, 3);
    }
}

// ---- matrices that readers refuse: glTF wants them to be a product of translation, rotation and scale.

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

static void scale_to(double v[3], double factor)
{
    for (int i = 0; i < 3; i++) {
        v[i] *= factor;
    }
}

// Any unit vector at a right angle to the unit vector v: across the axis that v leans on least.
static void perpendicular(const double v[3], double out[3])
{
    int least = fabs(v[0]) <= fabs(v[1]) && fabs(v[0]) <= fabs(v[2]) ? 0 : fabs(v[1]) <= fabs(v[2]) ? 1 : 2;
    double axis[3] = {0, 0, 0};
    axis[least] = 1;
    cross(v, axis, out);
    scale_to(out, 1 / sqrt(dot(out, out)));
}

// Makes a rotation of the axes that the matrix did not flatten; the sign of a flattened one is free, so there always is
// one. axes: columns of unit length or zero.
static void complete_axes(double axes[3][3], const double lengths[3])
{
    int known = lengths[0] > 0 ? 0 : lengths[1] > 0 ? 1 : lengths[2] > 0 ? 2 : -1;
    if (known < 0) {
        known = 0;
        axes[0][0] = 1;
    }
    int next = (known + 1) % 3;
    int last = (known + 2) % 3;
    if (lengths[next] > 0) {
        cross(axes[known], axes[next], axes[last]);
    } else if (lengths[last] > 0) {
        cross(axes[last], axes[known], axes[next]);
    } else {
        perpendicular(axes[known], axes[next]);
        cross(axes[known], axes[next], axes[last]);
    }
}

// Source: S. W. Shepperd, "Quaternion from rotation matrix", Journal of Guidance and Control 1 (3), 1978.
// r[column][row].
static pelt_quat quaternion_of(double r[3][3])
{
    double squares[4] = {1 + r[0][0] - r[1][1] - r[2][2], 1 - r[0][0] + r[1][1] - r[2][2],
                         1 - r[0][0] - r[1][1] + r[2][2], 1 + r[0][0] + r[1][1] + r[2][2]};
    int largest = 0;
    for (int i = 1; i < 4; i++) {
        largest = squares[i] > squares[largest] ? i : largest;
    }
    double xy = r[0][1] + r[1][0];
    double xz = r[0][2] + r[2][0];
    double yz = r[1][2] + r[2][1];
    double wx = r[1][2] - r[2][1];
    double wy = r[2][0] - r[0][2];
    double wz = r[0][1] - r[1][0];
    double s = squares[largest];
    double rows[4][4] = {{s, xy, xz, wx}, {xy, s, yz, wy}, {xz, yz, s, wz}, {wx, wy, wz, s}};
    double *q = rows[largest];
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    return (pelt_quat){(float)(q[0] / length), (float)(q[1] / length), (float)(q[2] / length), (float)(q[3] / length)};
}

static bool is_orthogonal(double columns[3][3], const double lengths[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        if (fabs(dot(columns[i], columns[j])) > 1e-5 * lengths[i] * lengths[j]) {
            return false;
        }
    }
    return true;
}

// A matrix that flattens an axis has no TRS that readers could find, but it has one. A sheared one has none.
static void write_affine(gltf_writer *writer, json_t *object, const pelt_mat34 *m, const char *where)
{
    double columns[3][3];
    double lengths[3];
    bool flat = false;
    for (int c = 0; c < 3; c++) {
        for (int r = 0; r < 3; r++) {
            columns[c][r] = (double)m->m[r][c];
        }
        lengths[c] = sqrt(dot(columns[c], columns[c]));
        flat = flat || lengths[c] == 0;
    }
    if (!is_orthogonal(columns, lengths)) {
        pelti_warn(writer->log, where,
                   "the node's matrix is not a translation, rotation and scale, as glTF demands; it "
                   "is written as it is");
    } else if (flat) {
        for (int c = 0; c < 3; c++) {
            scale_to(columns[c], lengths[c] > 0 ? 1 / lengths[c] : 0);
        }
        complete_axes(columns, lengths);
        pelt_trs trs = {.translation = {m->m[0][3], m->m[1][3], m->m[2][3]},
                        .rotation = quaternion_of(columns),
                        .scale = {(float)lengths[0], (float)lengths[1], (float)lengths[2]}};
        write_trs(writer, object, &trs);
        return;
    }
    write_matrix(writer, object, m);
}

pelt_result pelti_write_transform(gltf_writer *writer, const pelt_locals *locals, uint32_t node, json_t *object,
                                  pelt_error *error)
{
    gltf_path where = pelti_gltf_path("/nodes/%u", writer->asset->nodes[node].file_index);
    pelt_mat34 local = pelt_pose_local(writer->posed->pose, node);
    if (!all_finite(&local.m[0][0], 12)) {
        return pelti_fail(error, PELT_ERROR_INVALID, where.text, "the node's posed transform is not finite");
    }
    const uint8_t *uses_matrix = locals->uses_matrix;
    if (uses_matrix ? uses_matrix[node] != 0 : writer->asset->nodes[node].has_matrix) {
        write_affine(writer, object, &local, where.text);
    } else {
        write_trs(writer, object, &locals->transforms[node]);
    }
    return PELT_OK;
}

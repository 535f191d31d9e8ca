// SPDX-License-Identifier: MIT
// Evaluates glTF 2.0 in double: specification sections 3.7.2 (morph targets), 3.7.3 (skins) and 3.11 (animations),
// appendix C (interpolation).
#include "peltt_reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *make(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (!memory) {
        fputs("peltt_reference: out of memory\n", stderr);
        exit(99);
    }
    return memory;
}

// --- interpolation

static void normalise(double *v, uint32_t count)
{
    double length2 = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        length2 += v[i] * v[i];
    }
    double length = sqrt(length2);
    for (uint32_t i = 0; i < count && length > 0.0; i++) {
        v[i] /= length;
    }
}

static void slerp(const float *from, const float *to, double t, double *out)
{
    double a[4];
    double b[4];
    double d = 0.0;
    for (int i = 0; i < 4; i++) {
        a[i] = (double)from[i];
        b[i] = (double)to[i];
    }
    normalise(a, 4);
    normalise(b, 4);
    for (int i = 0; i < 4; i++) {
        d += a[i] * b[i];
    }
    double sign = d < 0.0 ? -1.0 : 1.0;
    double angle = acos(fmin(fabs(d), 1.0));
    double share_a = 1.0 - t;
    double share_b = t;
    if (sin(angle) > 1e-6) {
        share_a = sin(angle * (1.0 - t)) / sin(angle);
        share_b = sin(angle * t) / sin(angle);
    }
    for (int i = 0; i < 4; i++) {
        out[i] = share_a * a[i] + sign * share_b * b[i];
    }
}

static void cubic(const pelt_sampler *s, uint32_t k, double t, double *out)
{
    uint32_t n = s->value_count;
    double span = (double)s->times[k + 1] - (double)s->times[k];
    const float *here = s->values + (size_t)k * 3 * n;
    const float *next = here + (size_t)3 * n;
    double t2 = t * t;
    double t3 = t2 * t;
    for (uint32_t i = 0; i < n; i++) {
        double v0 = (double)here[n + i];
        double out_tangent = (double)here[2 * n + i];
        double in_tangent = (double)next[i];
        double v1 = (double)next[n + i];
        out[i] = (2.0 * t3 - 3.0 * t2 + 1.0) * v0 + span * (t3 - 2.0 * t2 + t) * out_tangent +
                 (3.0 * t2 - 2.0 * t3) * v1 + span * (t3 - t2) * in_tangent;
    }
}

void peltt_reference_interpolate(const pelt_sampler *s, bool is_rotation, double time, double *out)
{
    uint32_t n = s->value_count;
    bool is_cubic = s->interpolation == PELT_INTERPOLATION_CUBICSPLINE;
    uint32_t k = 0;
    while (k + 1 < s->key_count && (double)s->times[k + 1] <= time) {
        k++;
    }
    bool holds = k + 1 == s->key_count || time <= (double)s->times[k] || s->interpolation == PELT_INTERPOLATION_STEP;
    double t = holds ? 0.0 : (time - (double)s->times[k]) / ((double)s->times[k + 1] - (double)s->times[k]);
    const float *value = s->values + (size_t)k * n * (is_cubic ? 3 : 1) + (is_cubic ? n : 0);
    if (holds) {
        for (uint32_t i = 0; i < n; i++) {
            out[i] = (double)value[i];
        }
    } else if (is_cubic) {
        cubic(s, k, t, out);
    } else if (is_rotation) {
        slerp(value, value + n, t, out);
    } else {
        for (uint32_t i = 0; i < n; i++) {
            out[i] = (1.0 - t) * (double)value[i] + t * (double)value[n + i];
        }
    }
    if (is_rotation) {
        normalise(out, 4);
    }
}

// --- hierarchy

peltt_reference *peltt_reference_create(const pelt_asset_data *data)
{
    peltt_reference *r = make(1, sizeof *r);
    size_t n = data->node_count;
    r->data = data;
    r->translations = make(n * 3, sizeof(double));
    r->rotations = make(n * 4, sizeof(double));
    r->scales = make(n * 3, sizeof(double));
    r->uses_matrix = make(n, sizeof(bool));
    r->weights = make(data->rest_weight_count, sizeof(double));
    r->worlds = make(n * 16, sizeof(double));
    r->norms = make(n, sizeof(double));
    peltt_reference_rest(r);
    return r;
}

void peltt_reference_destroy(peltt_reference *r)
{
    if (r) {
        free(r->translations);
        free(r->rotations);
        free(r->scales);
        free(r->uses_matrix);
        free(r->weights);
        free(r->worlds);
        free(r->norms);
        free(r);
    }
}

void peltt_reference_rest(peltt_reference *r)
{
    for (uint32_t n = 0; n < r->data->node_count; n++) {
        const pelt_trs *rest = &r->data->nodes[n].rest;
        const float t[3] = {rest->translation.x, rest->translation.y, rest->translation.z};
        const float q[4] = {rest->rotation.x, rest->rotation.y, rest->rotation.z, rest->rotation.w};
        const float s[3] = {rest->scale.x, rest->scale.y, rest->scale.z};
        for (uint32_t i = 0; i < 4; i++) {
            r->rotations[n * 4 + i] = (double)q[i];
        }
        for (uint32_t i = 0; i < 3; i++) {
            r->translations[n * 3 + i] = (double)t[i];
            r->scales[n * 3 + i] = (double)s[i];
        }
        normalise(&r->rotations[n * 4], 4);
        r->uses_matrix[n] = r->data->nodes[n].has_matrix;
    }
    for (uint32_t i = 0; i < r->data->rest_weight_count; i++) {
        r->weights[i] = (double)r->data->rest_weights[i];
    }
}

void peltt_reference_sample(peltt_reference *r, uint32_t clip_index, double time)
{
    const pelt_clip *clip = &r->data->clips[clip_index];
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        const pelt_channel *channel = &clip->channels[c];
        const pelt_sampler *sampler = &clip->samplers[channel->sampler];
        uint32_t n = channel->node;
        switch (channel->path) {
        case PELT_PATH_TRANSLATION:
            peltt_reference_interpolate(sampler, false, time, &r->translations[n * 3]);
            break;
        case PELT_PATH_ROTATION:
            peltt_reference_interpolate(sampler, true, time, &r->rotations[n * 4]);
            break;
        case PELT_PATH_SCALE:
            peltt_reference_interpolate(sampler, false, time, &r->scales[n * 3]);
            break;
        case PELT_PATH_WEIGHTS:
            peltt_reference_interpolate(sampler, false, time, &r->weights[r->data->nodes[n].first_weight]);
            break;
        }
        if (channel->path != PELT_PATH_WEIGHTS) {
            r->uses_matrix[n] = false;
        }
    }
}

static void identity(double m[16])
{
    for (int i = 0; i < 16; i++) {
        m[i] = i % 5 == 0 ? 1.0 : 0.0;
    }
}

// m = a * m.
static void premultiply(const double a[16], double m[16])
{
    double product[16];
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            product[i * 4 + j] = 0.0;
            for (int k = 0; k < 4; k++) {
                product[i * 4 + j] += a[i * 4 + k] * m[k * 4 + j];
            }
        }
    }
    memcpy(m, product, sizeof product);
}

static void from_mat34(const pelt_mat34 *from, double m[16])
{
    identity(m);
    for (int i = 0; i < 12; i++) {
        m[i] = (double)from->m[i / 4][i % 4];
    }
}

static double frobenius(const double m[16])
{
    double sum = 0.0;
    for (int i = 0; i < 12; i++) {
        sum += i % 4 < 3 ? m[i] * m[i] : 0.0;
    }
    return sqrt(sum);
}

// q * v * conjugate(q) for a unit quaternion, through the two cross products of the vector form.
static void rotate(const double q[4], const double v[3], double out[3])
{
    double c[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        c[i] = 2.0 * (q[j] * v[k] - q[k] * v[j]);
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        out[i] = v[i] + q[3] * c[i] + (q[j] * c[k] - q[k] * c[j]);
    }
}

// T * R * S by columns: the images of the axes, then the translation. norm: an upper bound of its spectral norm.
static void local_matrix(const peltt_reference *r, uint32_t n, double m[16], double *norm)
{
    if (r->uses_matrix[n]) {
        from_mat34(&r->data->nodes[n].local_matrix, m);
        *norm = frobenius(m);
        return;
    }
    identity(m);
    *norm = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        double v[3] = {0.0, 0.0, 0.0};
        double image[3];
        v[axis] = r->scales[n * 3 + (uint32_t)axis];
        rotate(&r->rotations[n * 4], v, image);
        for (int i = 0; i < 3; i++) {
            m[i * 4 + axis] = image[i];
        }
        m[axis * 4 + 3] = r->translations[n * 3 + (uint32_t)axis];
        *norm = fmax(*norm, fabs(v[axis]));
    }
}

void peltt_reference_update(peltt_reference *r)
{
    for (uint32_t n = 0; n < r->data->node_count; n++) {
        double *world = &r->worlds[(size_t)n * 16];
        identity(world);
        r->norms[n] = 1.0;
        for (uint32_t at = n; at != PELT_NONE; at = r->data->nodes[at].parent) {
            double local[16];
            double norm = 0.0;
            local_matrix(r, at, local, &norm);
            premultiply(local, world);
            r->norms[n] *= norm;
        }
    }
}

const double *peltt_reference_world(const peltt_reference *r, uint32_t node)
{
    return &r->worlds[(size_t)node * 16];
}

const double *peltt_reference_weights(const peltt_reference *r, uint32_t node)
{
    return &r->weights[r->data->nodes[node].first_weight];
}

// --- vertices

// A vertex after morphing, with the sums of the magnitudes that went into it.
typedef struct morphed {
    double position[3];
    double normal[3];
    double tangent[3];
    double position_size[3];
    double normal_size;
    double tangent_size;
} morphed;

static double length3(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double add_delta(const float *deltas, uint32_t vertex, double weight, double *value)
{
    double delta[3] = {0.0, 0.0, 0.0};
    for (uint32_t i = 0; i < 3 && deltas; i++) {
        delta[i] = weight * (double)deltas[vertex * 3 + i];
        value[i] += delta[i];
    }
    return length3(delta);
}

static void morph(const peltt_reference_mesh *mesh, const double *weights, uint32_t vertex, morphed *out)
{
    for (uint32_t i = 0; i < 3; i++) {
        out->position[i] = (double)mesh->positions[vertex * 3 + i];
        out->normal[i] = (double)mesh->normals[vertex * 3 + i];
        out->tangent[i] = (double)mesh->tangents[vertex * 4 + i];
        out->position_size[i] = fabs(out->position[i]);
    }
    out->normal_size = length3(out->normal);
    out->tangent_size = length3(out->tangent);
    for (uint32_t k = 0; k < mesh->target_count; k++) {
        const pelt_morph_target *target = &mesh->targets[k];
        double size = add_delta(target->positions, vertex, weights[k], out->position);
        out->normal_size += add_delta(target->normals, vertex, weights[k], out->normal);
        out->tangent_size += add_delta(target->tangents, vertex, weights[k], out->tangent);
        for (int i = 0; i < 3; i++) {
            out->position_size[i] += size;
        }
    }
}

// A vertex's blended matrix, the sum of the absolute terms of its elements, and the sum of its norms.
typedef struct blended {
    double m[16];
    double size[16];
    double norm;
} blended;

static void add_matrix(blended *b, double weight, const double m[16], double norm)
{
    for (int i = 0; i < 12; i++) {
        b->m[i] += weight * m[i];
        b->size[i] += weight * fabs(m[i]);
    }
    b->norm += weight * norm;
}

static void joint_matrix(const peltt_reference *r, const pelt_skin *skin, uint32_t joint, double m[16], double *norm)
{
    from_mat34(&skin->inverse_binds[joint], m);
    *norm = frobenius(m) * r->norms[skin->joints[joint]];
    premultiply(peltt_reference_world(r, skin->joints[joint]), m);
}

static void blend(const peltt_reference *r, uint32_t skin_index, uint32_t node, const peltt_reference_mesh *mesh,
                  uint32_t vertex, blended *out)
{
    memset(out, 0, sizeof *out);
    if (skin_index == PELT_NONE) {
        add_matrix(out, 1.0, peltt_reference_world(r, node), r->norms[node]);
        return;
    }
    const pelt_skin *skin = &r->data->skins[skin_index];
    double m[16];
    double norm = 0.0;
    double sum = 0.0;
    for (uint32_t i = 0; i < mesh->set_count * 4; i++) {
        sum += (double)mesh->weights[i / 4][vertex * 4 + i % 4];
    }
    for (uint32_t i = 0; i < mesh->set_count * 4 && sum > 0.0; i++) {
        double weight = (double)mesh->weights[i / 4][vertex * 4 + i % 4];
        if (weight > 0.0) {
            joint_matrix(r, skin, mesh->joints[i / 4][vertex * 4 + i % 4], m, &norm);
            add_matrix(out, weight / sum, m, norm);
        }
    }
    if (sum <= 0.0) { // no weight at all: the first listed joint
        joint_matrix(r, skin, mesh->joints[0][vertex * 4], m, &norm);
        add_matrix(out, 1.0, m, norm);
    }
}

// Leibniz's formula.
static double determinant(const double m[16])
{
    return m[0] * m[5] * m[10] + m[1] * m[6] * m[8] + m[2] * m[4] * m[9] - m[2] * m[5] * m[8] - m[1] * m[4] * m[10] -
           m[0] * m[6] * m[9];
}

// Solves transpose(M) x = n by elimination with full pivoting: x is the inverse transpose times n. False where M is
// singular to double precision.
static bool solve_transpose(const double m[16], const double n[3], double x[3])
{
    double a[3][4];
    int column_of[3] = {0, 1, 2};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            a[i][j] = m[j * 4 + i];
        }
        a[i][3] = n[i];
    }
    double tiny = frobenius(m) * 1e-11;
    for (int step = 0; step < 3; step++) {
        int row = step;
        int column = step;
        for (int i = step; i < 3; i++) {
            for (int j = step; j < 3; j++) {
                if (fabs(a[i][j]) > fabs(a[row][column])) {
                    row = i;
                    column = j;
                }
            }
        }
        if (fabs(a[row][column]) <= tiny) {
            return false;
        }
        for (int j = 0; j < 4; j++) {
            double swap = a[step][j];
            a[step][j] = a[row][j];
            a[row][j] = swap;
        }
        for (int i = 0; i < 3; i++) {
            double swap = a[i][step];
            a[i][step] = a[i][column];
            a[i][column] = swap;
        }
        int swap = column_of[step];
        column_of[step] = column_of[column];
        column_of[column] = swap;
        for (int i = step + 1; i < 3; i++) {
            double factor = a[i][step] / a[step][step];
            for (int j = step; j < 4; j++) {
                a[i][j] -= factor * a[step][j];
            }
        }
    }
    for (int i = 2; i >= 0; i--) {
        double value = a[i][3];
        for (int j = i + 1; j < 3; j++) {
            value -= a[i][j] * x[column_of[j]];
        }
        x[column_of[i]] = value / a[i][i];
    }
    return true;
}

// Transpose of the adjugate, by its 2x2 minors.
static void adjugate_transpose(const double m[16], const double n[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = 0.0;
        for (int j = 0; j < 3; j++) {
            int r0 = i == 0 ? 1 : 0;
            int r1 = i == 2 ? 1 : 2;
            int c0 = j == 0 ? 1 : 0;
            int c1 = j == 2 ? 1 : 2;
            double minor = m[r0 * 4 + c0] * m[r1 * 4 + c1] - m[r0 * 4 + c1] * m[r1 * 4 + c0];
            out[i] += ((i + j) % 2 ? -minor : minor) * n[j];
        }
    }
}

static void skin_normal(const blended *b, const morphed *v, bool outward, peltt_reference_vertex *out)
{
    double scaled[3];
    adjugate_transpose(b->m, v->normal, scaled);
    out->normal_ratio = length3(scaled) / (b->norm * b->norm * v->normal_size);
    out->singular = !solve_transpose(b->m, v->normal, out->normal);
    out->mirrored = !out->singular && determinant(b->m) < 0.0;
    if (out->singular) {
        memcpy(out->normal, scaled, sizeof scaled);
    } else if (out->mirrored && !outward) {
        for (int i = 0; i < 3; i++) {
            out->normal[i] = -out->normal[i];
        }
    }
    normalise(out->normal, 3);
}

void peltt_reference_skin(const peltt_reference *r, uint32_t skin, uint32_t node, const peltt_reference_mesh *mesh,
                          uint32_t vertex, bool outward, peltt_reference_vertex *out)
{
    morphed v;
    blended b;
    morph(mesh, peltt_reference_weights(r, node), vertex, &v);
    blend(r, skin, node, mesh, vertex, &b);
    skin_normal(&b, &v, outward, out);
    out->determinant_ratio = fabs(determinant(b.m)) / (b.norm * b.norm * b.norm);
    out->range = 0.0;
    for (int i = 0; i < 3; i++) {
        out->position[i] = b.m[i * 4 + 3];
        out->tangent[i] = 0.0;
        out->range = fmax(out->range, b.size[i * 4 + 3]);
        for (int j = 0; j < 3; j++) {
            out->position[i] += b.m[i * 4 + j] * v.position[j];
            out->tangent[i] += b.m[i * 4 + j] * v.tangent[j];
            out->range = fmax(out->range, b.size[i * 4 + j] * v.position_size[j]);
        }
        out->range = fmax(out->range, fabs(out->position[i]));
    }
    out->tangent_ratio = length3(out->tangent) / (b.norm * v.tangent_size);
    normalise(out->tangent, 3);
    out->tangent[3] = (double)mesh->tangents[vertex * 4 + 3] * (outward && out->mirrored ? -1.0 : 1.0);
}

// SPDX-License-Identifier: MIT
// What skinning a packed mesh gives, in double precision, read from the packed streams as docs/format.md says.
#include "peltt_vk_skinned.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

void peltt_vk_skinned_weights(uint32_t encoding, uint32_t code, double w[4])
{
    double a = code % 2048;
    double b = code / 2048 % 2048;
    double c = code / (2048 * 2048);
    if (encoding == GPU_WEIGHTS_PLAIN) {
        w[0] = a / 2048;
        w[1] = b / 2048;
        w[2] = c / 1024;
    } else {
        w[0] = (a == 2047 ? 2048 : a) / 4096;
        w[1] = b / 4096;
        w[2] = (c == 1023 ? 1024 : c) / 4096;
    }
    w[3] = 1.0 - w[0] - w[1] - w[2];
}

static void add_matrix(const pelt_mat34 *from, double weight, double m[12], double size[12])
{
    for (int i = 0; i < 12; i++) {
        double x = weight * (double)from->m[i / 4][i % 4];
        m[i] += x;
        size[i] += fabs(x);
    }
}

uint32_t peltt_vk_skinned_influences(const peltt_vk_skinned *s, uint32_t v,
                                     uint16_t joints[PELTT_VK_SKINNED_INFLUENCES],
                                     double weights[PELTT_VK_SKINNED_INFLUENCES])
{
    if (s->shape.joint_layout == GPU_JOINTS_NONE || s->shape.flags & GPU_INSTANCE_RIGID) {
        joints[0] = 0;
        weights[0] = 1.0;
        return 1;
    }
    double w[4];
    peltt_vk_skinned_weights(s->shape.encoding, s->weights[v], w);
    uint32_t last = s->first_extras[v + 1];
    double share = 1.0;
    for (uint32_t i = s->first_extras[v]; i < last; i++) {
        share -= (s->extras[i] >> 16) / 65535.0;
    }
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < 4; slot++) {
        if (w[slot] != 0.0) {
            joints[count] = s->joints[v * 4 + slot];
            weights[count++] = w[slot] * share;
        }
    }
    for (uint32_t i = s->first_extras[v]; i < last; i++) {
        joints[count] = (uint16_t)(s->extras[i] & 0xFFFFU);
        weights[count++] = (s->extras[i] >> 16) / 65535.0;
    }
    return count;
}

static uint32_t blend(const peltt_vk_skinned *s, uint32_t v, double m[12], double size[12])
{
    uint16_t joints[PELTT_VK_SKINNED_INFLUENCES];
    double weights[PELTT_VK_SKINNED_INFLUENCES];
    uint32_t count = peltt_vk_skinned_influences(s, v, joints, weights);
    for (int i = 0; i < 12; i++) {
        m[i] = 0.0;
        size[i] = 0.0;
    }
    for (uint32_t i = 0; i < count; i++) {
        add_matrix(&s->palette[joints[i]], weights[i], m, size);
    }
    return count;
}

void peltt_vk_skinned_morph(const peltt_vk_skinned *s, uint32_t v, uint32_t stream, double value[3], double size[3])
{
    for (uint32_t t = 0; t < PELTT_VK_SKINNED_TARGETS; t++) {
        const peltt_vk_skinned_target *target = &s->targets[t];
        uint32_t entry = v;
        if (target->vertices) {
            for (entry = 0; entry < target->entry_count && target->vertices[entry] != v; entry++) {
            }
        }
        if (!(s->shape.target_mask >> t & 1U) || !target->streams[stream] || entry >= target->entry_count) {
            continue;
        }
        const float scales[3] = {target->record.position_scale, target->record.normal_scale,
                                 target->record.tangent_scale};
        for (uint32_t k = 0; k < 3; k++) {
            double d = target->record.format & GPU_TARGET_16BIT
                           ? ((const int16_t *)target->streams[stream])[entry * 3 + k] * (double)scales[stream] / 32767
                           : (double)((const float *)target->streams[stream])[entry * 3 + k];
            value[k] += (double)target->weight * d;
            size[k] += fabs((double)target->weight * d);
        }
    }
}

static void cofactor_row(const double m[12], int row, double out[3], double size[3])
{
    const double *a = m + 4 * ((row + 1) % 3);
    const double *b = m + 4 * ((row + 2) % 3);
    for (int i = 0; i < 3; i++) {
        double plus = a[(i + 1) % 3] * b[(i + 2) % 3];
        double minus = a[(i + 2) % 3] * b[(i + 1) % 3];
        out[i] = plus - minus;
        size[i] = fabs(plus) + fabs(minus);
    }
}

// Length of v beside the length of size.
static double ratio(const double v[3], const double size[3])
{
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    double most = sqrt(size[0] * size[0] + size[1] * size[1] + size[2] * size[2]);
    return most > 0.0 ? length / most : 0.0;
}

static int32_t signed_field(uint32_t code, uint32_t shift, uint32_t bits)
{
    int32_t value = (int32_t)(code >> shift & ((1U << bits) - 1));
    return value >> (bits - 1) ? value - (1 << bits) : value;
}

// The unit vector of an octahedral code, unfolded in whole numbers: a coordinate of 0 is no rounding error, which a
// flat matrix would make the only one left.
static void unit_vector(uint32_t code, uint32_t y_bits, double out[3])
{
    int64_t x_limit = 32767;
    int64_t y_limit = (1 << (y_bits - 1)) - 1;
    int64_t x = signed_field(code, 0, 16) * y_limit;
    int64_t y = signed_field(code, 16, y_bits) * x_limit;
    int64_t z = x_limit * y_limit - llabs(x) - llabs(y);
    if (z < 0) {
        int64_t folded = x_limit * y_limit - llabs(y);
        y = (x_limit * y_limit - llabs(x)) * (y < 0 ? -1 : 1);
        x = folded * (x < 0 ? -1 : 1);
    }
    double length = sqrt((double)x * (double)x + (double)y * (double)y + (double)z * (double)z);
    out[0] = (double)x / length;
    out[1] = (double)y / length;
    out[2] = (double)z / length;
}

static void reference_directions(const peltt_vk_skinned *s, uint32_t v, const double m[12],
                                 peltt_vk_skinned_vertex *out)
{
    double unused[3] = {0};
    unit_vector(s->normals[v], 16, out->input_normal);
    peltt_vk_skinned_morph(s, v, 1, out->input_normal, unused);
    unit_vector(s->tangents[v], 15, out->input_tangent);
    peltt_vk_skinned_morph(s, v, 2, out->input_tangent, unused);
    out->handedness = s->tangents[v] >> 31 ? -1.0 : 1.0;
    double normal_size[3] = {0};
    double tangent_size[3] = {0};
    for (int row = 0; row < 3; row++) {
        double c[3];
        double size[3];
        cofactor_row(m, row, c, size);
        out->normal[row] = 0.0;
        out->tangent[row] = 0.0;
        for (int k = 0; k < 3; k++) {
            out->normal[row] += c[k] * out->input_normal[k];
            normal_size[row] += size[k] * fabs(out->input_normal[k]);
            out->tangent[row] += m[row * 4 + k] * out->input_tangent[k];
            tangent_size[row] += fabs(m[row * 4 + k] * out->input_tangent[k]);
        }
    }
    out->normal_ratio = ratio(out->normal, normal_size);
    out->tangent_ratio = ratio(out->tangent, tangent_size);
}

void peltt_vk_skinned_reference(const peltt_vk_skinned *s, uint32_t v, peltt_vk_skinned_vertex *out)
{
    *out = (peltt_vk_skinned_vertex){0};
    double m[12];
    double size[12];
    out->influence_count = blend(s, v, m, size);
    double p[3];
    double p_size[3];
    for (int k = 0; k < 3; k++) {
        p[k] = (double)s->positions[v * 3 + (uint32_t)k];
        p_size[k] = fabs(p[k]);
    }
    peltt_vk_skinned_morph(s, v, 0, p, p_size);
    for (int row = 0; row < 3; row++) {
        out->position[row] = m[row * 4 + 3];
        out->terms[row] = size[row * 4 + 3];
        for (int k = 0; k < 3; k++) {
            out->position[row] += m[row * 4 + k] * p[k];
            out->terms[row] += size[row * 4 + k] * p_size[k];
        }
    }
    reference_directions(s, v, m, out);
}

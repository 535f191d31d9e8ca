// SPDX-License-Identifier: MIT
// Clips into locals: sampling, and blending as a merge walk over the channels of two clips, which are sorted alike.
#include "anim_internal.h"

#include "base/base.h"

typedef struct transform_field {
    size_t offset;
    size_t size;
} transform_field;

static transform_field field_of(pelt_path path)
{
    switch (path) {
    case PELT_PATH_TRANSLATION:
        return (transform_field){offsetof(pelt_trs, translation), sizeof(pelt_vec3)};
    case PELT_PATH_ROTATION:
        return (transform_field){offsetof(pelt_trs, rotation), sizeof(pelt_quat)};
    default:
        return (transform_field){offsetof(pelt_trs, scale), sizeof(pelt_vec3)};
    }
}

static bool is_usable(const pelt_asset *asset, const pelt_locals *locals)
{
    if (!asset || !locals) {
        return false;
    }
    const pelt_asset_data *data = pelt_asset_get(asset);
    return (locals->transforms || data->node_count == 0) && (locals->weights || data->rest_weight_count == 0);
}

// Values are compared as bits: what an update computes is then the same whether or not an equal value was written.
static void write_transform(const pelt_locals *locals, uint32_t node, pelt_path path, const float value[4])
{
    transform_field field = field_of(path);
    char *destination = (char *)&locals->transforms[node] + field.offset;
    bool leaves_matrix = locals->uses_matrix && locals->uses_matrix[node];
    if (!leaves_matrix && memcmp(destination, value, field.size) == 0) {
        return;
    }
    memcpy(destination, value, field.size);
    if (leaves_matrix) {
        locals->uses_matrix[node] = 0;
    }
    if (locals->transform_changed) {
        locals->transform_changed[node] = 1;
    }
}

static void write_weight(const pelt_locals *locals, uint32_t node, uint32_t index, float value)
{
    if (memcmp(&locals->weights[index], &value, sizeof value) == 0) {
        return;
    }
    locals->weights[index] = value;
    if (locals->weights_changed) {
        locals->weights_changed[node] = 1;
    }
}

pelt_result pelt_locals_rest(const pelt_asset *asset, const pelt_locals *locals)
{
    if (!is_usable(asset, locals)) {
        return PELT_ERROR_ARGUMENT;
    }
    const pelt_asset_data *data = pelt_asset_get(asset);
    for (uint32_t i = 0; i < data->node_count; i++) {
        const pelt_node *node = &data->nodes[i];
        bool same = memcmp(&locals->transforms[i], &node->rest, sizeof node->rest) == 0;
        if (locals->uses_matrix) {
            // The transform of a node that stands at its matrix is not in use: a change of it changes nothing.
            same = locals->uses_matrix[i] == (node->has_matrix ? 1 : 0) && (same || node->has_matrix);
            locals->uses_matrix[i] = node->has_matrix ? 1 : 0;
        }
        locals->transforms[i] = node->rest;
        if (!same && locals->transform_changed) {
            locals->transform_changed[i] = 1;
        }
        for (uint32_t k = 0; k < node->weight_count; k++) {
            write_weight(locals, i, node->first_weight + k, data->rest_weights[node->first_weight + k]);
        }
    }
    return PELT_OK;
}

// A clip at a time; span is the last search, valid for every sampler with the same keys.
typedef struct clip_side {
    const pelt_clip *clip;
    double time;
    pelti_key_span span;
} clip_side;

static const pelt_sampler *find_keys(clip_side *side, const pelt_channel *channel)
{
    const pelt_sampler *sampler = &side->clip->samplers[channel->sampler];
    pelti_sampler_find(sampler, side->time, &side->span);
    return sampler;
}

static pelti_quatd side_rotation(clip_side *side, const pelt_channel *channel, const pelt_node *node)
{
    if (!channel) {
        return pelti_quatd_from_quat(node->rest.rotation);
    }
    const pelt_sampler *sampler = find_keys(side, channel);
    return pelti_sampler_rotation(sampler, &side->span);
}

static void side_vector(clip_side *side, const pelt_channel *channel, const pelt_node *node, pelt_path path,
                        double out[3])
{
    if (!channel) {
        const pelt_vec3 *rest = path == PELT_PATH_TRANSLATION ? &node->rest.translation : &node->rest.scale;
        out[0] = (double)rest->x;
        out[1] = (double)rest->y;
        out[2] = (double)rest->z;
        return;
    }
    const pelt_sampler *sampler = find_keys(side, channel);
    for (uint32_t k = 0; k < 3; k++) {
        out[k] = pelti_sampler_component(sampler, &side->span, k);
    }
}

// How far the direction of a rounded quaternion lies from that of q: the square of the part at a right angle to q.
// scale is one over the square of q's length.
static double direction_error(pelti_quatd q, double scale, pelt_quat rounded)
{
    pelti_quatd r = pelti_quatd_from_quat(rounded);
    double along = pelti_quatd_dot(q, r) * scale;
    pelti_quatd off = {r.x - along * q.x, r.y - along * q.y, r.z - along * q.z, r.w - along * q.w};
    return pelti_quatd_dot(off, off);
}

// The float quaternion of nearly unit length that turns most like q. Only the direction of a rotation counts, and
// lengths within one rounding of each other give quaternions that were rounded differently. The best of five is off by
// 0.6 times the angle of the first, and what a chain of joints adds up from such angles is most of the error of a posed
// vertex. What is a float quaternion already comes back as it is: its error is that of double, which ends the search.
static pelt_quat round_rotation(pelti_quatd q)
{
    static const double lengths[] = {1.0 + 0x1p-25, 1.0 - 0x1p-25, 1.0 + 0x1p-24, 1.0 - 0x1p-24};
    const double scale = 1.0 / pelti_quatd_dot(q, q);
    pelt_quat best = pelti_quat_from_quatd(q);
    double least = direction_error(q, scale, best);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0] && least > 1e-24; i++) {
        double k = lengths[i];
        pelt_quat other = pelti_quat_from_quatd((pelti_quatd){q.x * k, q.y * k, q.z * k, q.w * k});
        double error = direction_error(q, scale, other);
        best = error < least ? other : best;
        least = error < least ? error : least;
    }
    return best;
}

static void write_rotation(const pelt_locals *locals, uint32_t node, pelti_quatd rotation)
{
    pelt_quat rounded = round_rotation(rotation);
    float value[4] = {rounded.x, rounded.y, rounded.z, rounded.w};
    write_transform(locals, node, PELT_PATH_ROTATION, value);
}

pelt_result pelt_clip_sample(const pelt_asset *asset, uint32_t clip, double time, const pelt_locals *locals)
{
    if (!is_usable(asset, locals) || !isfinite(time) || clip >= pelt_asset_get(asset)->clip_count) {
        return PELT_ERROR_ARGUMENT;
    }
    const pelt_asset_data *data = pelt_asset_get(asset);
    clip_side side = {.clip = &data->clips[clip], .time = time};
    for (uint32_t i = 0; i < side.clip->channel_count; i++) {
        const pelt_channel *channel = &side.clip->channels[i];
        const pelt_node *node = &data->nodes[channel->node];
        if (channel->path == PELT_PATH_ROTATION) {
            write_rotation(locals, channel->node, side_rotation(&side, channel, node));
        } else if (channel->path == PELT_PATH_WEIGHTS) {
            const pelt_sampler *sampler = find_keys(&side, channel);
            for (uint32_t k = 0; k < node->weight_count; k++) {
                double weight = pelti_sampler_component(sampler, &side.span, k);
                write_weight(locals, channel->node, node->first_weight + k, (float)weight);
            }
        } else {
            double v[3];
            side_vector(&side, channel, node, channel->path, v);
            float value[4] = {(float)v[0], (float)v[1], (float)v[2], 0.0F};
            write_transform(locals, channel->node, channel->path, value);
        }
    }
    return PELT_OK;
}

typedef struct blend {
    const pelt_asset_data *data;
    const pelt_locals *locals;
    clip_side a;
    clip_side b;
    double weight; // in [0, 1]
} blend;

// The ends are taken as they are: a * 1 + b * 0 would turn -0 into 0.
static float mix(const blend *walk, double a, double b)
{
    if (walk->weight == 0.0) {
        return (float)a;
    }
    return (float)(walk->weight == 1.0 ? b : pelti_lerp(a, b, walk->weight));
}

static pelti_quatd mix_rotations(const blend *walk, pelti_quatd a, pelti_quatd b)
{
    bool same = a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
    if (same || walk->weight == 0.0) {
        return a;
    }
    return walk->weight == 1.0 ? b : pelti_quatd_slerp(a, b, walk->weight);
}

static void mix_weights(blend *walk, uint32_t index, const pelt_channel *a, const pelt_channel *b)
{
    const pelt_node *node = &walk->data->nodes[index];
    const pelt_sampler *sampler_a = a ? find_keys(&walk->a, a) : NULL;
    const pelt_sampler *sampler_b = b ? find_keys(&walk->b, b) : NULL;
    for (uint32_t k = 0; k < node->weight_count; k++) {
        double rest = (double)walk->data->rest_weights[node->first_weight + k];
        double value_a = sampler_a ? pelti_sampler_component(sampler_a, &walk->a.span, k) : rest;
        double value_b = sampler_b ? pelti_sampler_component(sampler_b, &walk->b.span, k) : rest;
        write_weight(walk->locals, index, node->first_weight + k, mix(walk, value_a, value_b));
    }
}

// Blends what one or both of a and b animate; either may be NULL and stands for the rest pose then.
static void mix_channels(blend *walk, const pelt_channel *a, const pelt_channel *b)
{
    uint32_t index = a ? a->node : b->node;
    pelt_path path = a ? a->path : b->path;
    const pelt_node *node = &walk->data->nodes[index];
    if (path == PELT_PATH_WEIGHTS) {
        mix_weights(walk, index, a, b);
    } else if (path == PELT_PATH_ROTATION) {
        pelti_quatd from = side_rotation(&walk->a, a, node);
        pelti_quatd to = side_rotation(&walk->b, b, node);
        write_rotation(walk->locals, index, mix_rotations(walk, from, to));
    } else {
        double from[3];
        double to[3];
        side_vector(&walk->a, a, node, path, from);
        side_vector(&walk->b, b, node, path, to);
        float value[4] = {mix(walk, from[0], to[0]), mix(walk, from[1], to[1]), mix(walk, from[2], to[2]), 0.0F};
        write_transform(walk->locals, index, path, value);
    }
}

// Negative, zero or positive as a comes before, with or after b in the order of a clip's channels.
static int compare_targets(const pelt_channel *a, const pelt_channel *b)
{
    if (a->node != b->node) {
        return a->node < b->node ? -1 : 1;
    }
    return (int)a->path - (int)b->path;
}

pelt_result pelt_clip_blend(const pelt_asset *asset, pelt_clip_time a, pelt_clip_time b, double weight,
                            const pelt_locals *locals)
{
    if (!is_usable(asset, locals) || !isfinite(a.time) || !isfinite(b.time) || isnan(weight)) {
        return PELT_ERROR_ARGUMENT;
    }
    const pelt_asset_data *data = pelt_asset_get(asset);
    if (a.clip >= data->clip_count || b.clip >= data->clip_count) {
        return PELT_ERROR_ARGUMENT;
    }
    blend walk = {.data = data,
                  .locals = locals,
                  .a = {.clip = &data->clips[a.clip], .time = a.time},
                  .b = {.clip = &data->clips[b.clip], .time = b.time},
                  .weight = fmin(fmax(weight, 0.0), 1.0)};
    uint32_t i = 0;
    uint32_t k = 0;
    while (i < walk.a.clip->channel_count || k < walk.b.clip->channel_count) {
        const pelt_channel *from = i < walk.a.clip->channel_count ? &walk.a.clip->channels[i] : NULL;
        const pelt_channel *to = k < walk.b.clip->channel_count ? &walk.b.clip->channels[k] : NULL;
        int order = !from ? 1 : !to ? -1 : compare_targets(from, to);
        mix_channels(&walk, order <= 0 ? from : NULL, order >= 0 ? to : NULL);
        i += order <= 0 ? 1 : 0;
        k += order >= 0 ? 1 : 0;
    }
    return PELT_OK;
}

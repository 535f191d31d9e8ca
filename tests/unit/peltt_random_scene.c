// SPDX-License-Identifier: MIT
// Random scenes: rotations and offsets everywhere, and in some of them what is hard, by features.
#include "peltt_random_scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// What a case tries; each is on in about a third of the cases.
enum {
    UNEVEN = 1,    // non-uniform scales on up to three nodes
    MIRRORED = 2,  // negative scales
    FLATTENED = 4, // one zero scale
    FAR_AWAY = 8,  // the root is thousands of units off
    MATRICES = 16  // some nodes have a matrix
};

static void random_direction(float *out, peltt_random *random)
{
    double v[3];
    double length2 = 0.0;
    do {
        length2 = 0.0;
        for (int i = 0; i < 3; i++) {
            v[i] = 2.0 * peltt_random_unit(random) - 1.0;
            length2 += v[i] * v[i];
        }
    } while (length2 < 0.01 || length2 > 1.0);
    for (int i = 0; i < 3; i++) {
        out[i] = (float)(v[i] / sqrt(length2));
    }
}

static pelt_trs random_rigid(peltt_random *random)
{
    pelt_trs trs = peltt_random_trs(random);
    trs.scale = (pelt_vec3){1.0F, 1.0F, 1.0F};
    return trs;
}

static float random_sign(const peltt_random_scene *s, peltt_random *random)
{
    return (s->features & MIRRORED) && peltt_random_chance(random, 0.3) ? -1.0F : 1.0F;
}

static pelt_vec3 random_scale(const peltt_random_scene *s, peltt_random *random)
{
    float even = peltt_random_float(random, 0.7F, 1.4F);
    pelt_vec3 scale = {even, even, even};
    if (s->features & UNEVEN) {
        scale.y = peltt_random_float(random, 0.3F, 3.0F);
        scale.z = peltt_random_float(random, 0.3F, 3.0F);
    }
    scale.x *= random_sign(s, random);
    scale.y *= random_sign(s, random);
    scale.z *= random_sign(s, random);
    return scale;
}

void peltt_random_scene_nodes(peltt_random_scene *s, peltt_random *random)
{
    s->joint_count = 1 + peltt_random_below(random, PELTT_RANDOM_JOINT_LIMIT);
    s->node_count = s->joint_count + 3;
    s->mesh_node = s->joint_count + 2;
    double chain = peltt_random_chance(random, 0.2) ? 1.0 : peltt_random_unit(random);
    for (uint32_t n = 0; n < s->node_count; n++) {
        peltt_node *node = &s->nodes[n];
        node->rest = random_rigid(random);
        node->parent = n == 0                               ? s->joint_count
                       : peltt_random_chance(random, chain) ? n - 1
                                                            : peltt_random_below(random, n);
    }
    s->nodes[s->joint_count].parent = s->joint_count + 1; // two plain nodes above the skeleton
    s->nodes[s->joint_count + 1].parent = PELT_NONE;
    s->nodes[s->mesh_node].parent =
        peltt_random_chance(random, 0.5) ? PELT_NONE : peltt_random_below(random, s->joint_count);
    s->nodes[s->mesh_node].has_morphs = true;
    for (int i = 0; i < 3; i++) {
        s->nodes[peltt_random_below(random, s->node_count)].rest.scale = random_scale(s, random);
    }
    if (s->features & FLATTENED) {
        pelt_trs *rest = &s->nodes[peltt_random_below(random, s->node_count)].rest;
        float *axes[3] = {&rest->scale.x, &rest->scale.y, &rest->scale.z};
        *axes[peltt_random_below(random, 3)] = 0.0F;
    }
    if (s->features & MATRICES) {
        for (int i = 0; i < 2; i++) {
            peltt_node *node = &s->nodes[peltt_random_below(random, s->node_count)];
            node->matrix = pelt_mat34_from_trs(&node->rest);
            node->matrix.m[0][1] += peltt_random_float(random, -0.3F, 0.3F); // shear, which no TRS has
            node->has_matrix = true;
        }
    }
    if (s->features & FAR_AWAY) {
        peltt_node *root = &s->nodes[s->joint_count + 1];
        root->has_matrix = false;
        root->rest.translation.x = peltt_random_float(random, -9000.0F, 9000.0F);
        root->rest.translation.z = peltt_random_float(random, -9000.0F, 9000.0F);
    }
}

void peltt_random_scene_skins(peltt_random_scene *s, uint32_t skin_count, peltt_random *random)
{
    for (uint32_t k = 0; k < skin_count; k++) {
        peltt_skin *skin = &s->skins[k];
        skin->joint_count = 1 + peltt_random_below(random, s->joint_count);
        skin->joints = s->joints[k];
        skin->inverse_binds = peltt_random_chance(random, 0.2) ? NULL : s->inverse_binds[k];
        for (uint32_t j = 0; j < skin->joint_count; j++) {
            s->joints[k][j] = peltt_random_below(random, s->joint_count);
            pelt_trs bind = random_rigid(random);
            if (peltt_random_chance(random, 0.1)) {
                bind.scale = random_scale(s, random);
            }
            s->inverse_binds[k][j] = pelt_mat34_from_trs(&bind);
        }
    }
}

static void random_value(const peltt_random_scene *s, pelt_path path, float *out, peltt_random *random)
{
    pelt_trs trs = random_rigid(random);
    pelt_vec3 scale = random_scale(s, random);
    float weight = peltt_random_float(random, -0.5F, 1.5F);
    switch (path) {
    case PELT_PATH_TRANSLATION:
        memcpy(out, &trs.translation, sizeof trs.translation);
        break;
    case PELT_PATH_ROTATION:
        memcpy(out, &trs.rotation, sizeof trs.rotation);
        break;
    case PELT_PATH_SCALE:
        memcpy(out, &scale, sizeof scale);
        break;
    case PELT_PATH_WEIGHTS:
        for (uint32_t i = 0; i < s->target_count; i++) {
            out[i] = weight;
            weight = peltt_random_float(random, -0.5F, 1.5F);
        }
        break;
    }
}

static void make_track(peltt_random_scene *s, uint32_t clip, uint32_t t, uint32_t node, pelt_path path,
                       peltt_random *random)
{
    peltt_track *track = &s->tracks[clip][t];
    uint32_t width = path == PELT_PATH_ROTATION ? 4 : path == PELT_PATH_WEIGHTS ? s->target_count : 3;
    track->node = node;
    track->path = path;
    track->interpolation = (pelt_interpolation)peltt_random_below(random, 3);
    track->key_count = 1 + peltt_random_below(random, PELTT_RANDOM_KEY_LIMIT);
    track->times = s->times[clip][t];
    track->values = s->values[clip][t];
    float time = peltt_random_float(random, 0.0F, 0.5F);
    for (uint32_t k = 0; k < track->key_count; k++) {
        s->times[clip][t][k] = time;
        time += peltt_random_float(random, 0.01F, 1.0F);
    }
    bool is_cubic = track->interpolation == PELT_INTERPOLATION_CUBICSPLINE;
    uint32_t value_count = track->key_count * (is_cubic ? 3 : 1);
    for (uint32_t k = 0; k < value_count; k++) {
        float *value = &s->values[clip][t][k * width];
        random_value(s, path, value, random);
        for (uint32_t i = 0; i < width && is_cubic && k % 3 != 1; i++) {
            value[i] = peltt_random_float(random, -0.5F, 0.5F); // a tangent
        }
    }
}

void peltt_random_scene_clips(peltt_random_scene *s, uint32_t clip_count, peltt_random *random)
{
    for (uint32_t c = 0; c < clip_count; c++) {
        uint32_t count = 0;
        double share = peltt_random_unit(random) * 0.6;
        s->clips[c].tracks = s->tracks[c];
        for (uint32_t n = 0; n < s->node_count && count + 3 < PELTT_RANDOM_TRACK_LIMIT; n++) {
            bool is_far = (s->features & FAR_AWAY) && n == s->joint_count + 1;
            bool is_pinned = s->nodes[n].has_matrix || is_far;
            for (int path = PELT_PATH_TRANSLATION; path <= PELT_PATH_SCALE && !is_pinned; path++) {
                // Scales on few nodes: a long chain of them grows or shrinks without end.
                double wanted = path == PELT_PATH_SCALE ? 1.0 / s->node_count : share;
                if (peltt_random_chance(random, wanted)) {
                    make_track(s, c, count++, n, (pelt_path)path, random);
                }
            }
        }
        if (s->target_count > 0 && peltt_random_chance(random, 0.7)) {
            make_track(s, c, count++, s->mesh_node, PELT_PATH_WEIGHTS, random);
        }
        s->clips[c].track_count = count;
    }
}

void peltt_random_scene_mesh(peltt_random_scene *s, uint32_t joint_count, peltt_random *random)
{
    s->vertex_count = 1 + peltt_random_below(random, PELTT_RANDOM_VERTEX_LIMIT);
    s->set_count = 1 + peltt_random_below(random, PELTT_RANDOM_SET_LIMIT);
    for (uint32_t v = 0; v < s->vertex_count; v++) {
        uint32_t used = 1 + peltt_random_below(random, s->set_count * 4);
        for (uint32_t i = 0; i < s->set_count * 4; i++) {
            bool has_weight = i < used && !peltt_random_chance(random, 0.02);
            s->joints_set[i / 4][v * 4 + i % 4] = (uint16_t)peltt_random_below(random, joint_count);
            s->weights_set[i / 4][v * 4 + i % 4] = has_weight ? peltt_random_float(random, 0.001F, 1.0F) : 0.0F;
        }
        for (uint32_t i = 0; i < 3; i++) {
            s->positions[v * 3 + i] = peltt_random_float(random, -1.0F, 1.0F);
        }
        random_direction(&s->normals[v * 3], random);
        random_direction(&s->tangents[v * 4], random);
        s->tangents[v * 4 + 3] = peltt_random_chance(random, 0.5) ? 1.0F : -1.0F;
    }
    for (uint32_t t = 0; t < s->target_count; t++) {
        for (int a = 0; a < 3; a++) {
            for (uint32_t i = 0; i < s->vertex_count * 3; i++) {
                s->deltas[t][a][i] = peltt_random_float(random, -0.2F, 0.2F);
            }
        }
        s->targets[t].positions = peltt_random_chance(random, 0.8) ? s->deltas[t][0] : NULL;
        s->targets[t].normals = peltt_random_chance(random, 0.8) ? s->deltas[t][1] : NULL;
        s->targets[t].tangents = peltt_random_chance(random, 0.8) ? s->deltas[t][2] : NULL;
    }
}

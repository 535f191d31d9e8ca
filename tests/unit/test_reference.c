// SPDX-License-Identifier: MIT
// The whole evaluation (sampling, hierarchy, palettes, influence clean-up, morphs, skinning) against the
// double-precision reference on random skeletons, clips, meshes and times.
#include "peltt_asset.h"
#include "peltt_isa.h"
#include "peltt_reference.h"

#include <pelt/builder.h>
#include <pelt/palette.h>
#include <pelt/skin.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    CASE_COUNT = 4000,
    TIMES_PER_CASE = 3,
    JOINT_LIMIT = 60,
    NODE_LIMIT = JOINT_LIMIT + 3, // and plain nodes above, and the mesh node
    SKIN_LIMIT = 3,
    CLIP_LIMIT = 2,
    TRACK_LIMIT = 48,
    KEY_LIMIT = 5,
    TARGET_LIMIT = 3,
    VERTEX_LIMIT = 24,
    SET_LIMIT = 2
};

// What a case tries; each is on in about a third of the cases.
enum {
    UNEVEN = 1,    // non-uniform scales on up to three nodes
    MIRRORED = 2,  // negative scales
    FLATTENED = 4, // one zero scale
    FAR_AWAY = 8,  // the root is thousands of units off
    MATRICES = 16  // some nodes have a matrix
};

static const double POSITION_LIMIT = 4e-7;
static const double ANGLE_LIMIT = 0.01 * 3.14159265358979323846 / 180.0;
// Directions that the inputs determine to better than 1 part in 1,000 must hold ANGLE_LIMIT. Worse ones move by more
// under one rounding of the inputs, in proportion, and so does the limit.
static const double RATIO_LIMIT = 0.001;
// Below this a direction is noise: only unit length counts.
static const double RATIO_NOISE = 1e-6;
// Determinants over this share of the cube of the norms have a certain sign.
static const double DETERMINANT_LIMIT = 2e-5;

// Everything of one random scene, in one allocation.
typedef struct scene {
    uint32_t features;
    uint32_t node_count;
    uint32_t joint_count;
    uint32_t mesh_node;
    uint32_t target_count;
    peltt_node nodes[NODE_LIMIT];
    peltt_skin skins[SKIN_LIMIT];
    uint32_t joints[SKIN_LIMIT][JOINT_LIMIT];
    pelt_mat34 inverse_binds[SKIN_LIMIT][JOINT_LIMIT];
    peltt_clip clips[CLIP_LIMIT];
    peltt_track tracks[CLIP_LIMIT][TRACK_LIMIT];
    float times[CLIP_LIMIT][TRACK_LIMIT][KEY_LIMIT];
    float values[CLIP_LIMIT][TRACK_LIMIT][KEY_LIMIT * 3 * 4];
    uint32_t vertex_count;
    uint32_t set_count;
    uint16_t joints_set[SET_LIMIT][VERTEX_LIMIT * 4];
    float weights_set[SET_LIMIT][VERTEX_LIMIT * 4];
    float positions[VERTEX_LIMIT * 3];
    float normals[VERTEX_LIMIT * 3];
    float tangents[VERTEX_LIMIT * 4];
    float deltas[TARGET_LIMIT][3][VERTEX_LIMIT * 3];
    pelt_morph_target targets[TARGET_LIMIT];
} scene;

typedef struct outcome {
    uint64_t vertex_count;
    uint64_t normal_count;  // those that must hold ANGLE_LIMIT
    uint64_t tangent_count; // the same
    uint64_t signed_count;  // those whose determinant is zero or has a certain sign
    uint64_t singular_count;
    uint64_t wrong_sign_count;
    double position_error; // of the range
    double output_error;   // of the largest output coordinate alone
    double normal_angle;   // radians, where ANGLE_LIMIT holds
    double tangent_angle;
    double weak_angle; // over its own limit, where that is wider
} outcome;

// --- scenes

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

static float random_sign(const scene *s, peltt_random *random)
{
    return (s->features & MIRRORED) && peltt_random_chance(random, 0.3) ? -1.0F : 1.0F;
}

static pelt_vec3 random_scale(const scene *s, peltt_random *random)
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

static void make_nodes(scene *s, peltt_random *random)
{
    s->joint_count = 1 + peltt_random_below(random, JOINT_LIMIT);
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

static void make_skins(scene *s, uint32_t skin_count, peltt_random *random)
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

static void random_value(const scene *s, pelt_path path, float *out, peltt_random *random)
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

static void make_track(scene *s, uint32_t clip, uint32_t t, uint32_t node, pelt_path path, peltt_random *random)
{
    peltt_track *track = &s->tracks[clip][t];
    uint32_t width = path == PELT_PATH_ROTATION ? 4 : path == PELT_PATH_WEIGHTS ? s->target_count : 3;
    track->node = node;
    track->path = path;
    track->interpolation = (pelt_interpolation)peltt_random_below(random, 3);
    track->key_count = 1 + peltt_random_below(random, KEY_LIMIT);
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

static void make_clips(scene *s, uint32_t clip_count, peltt_random *random)
{
    for (uint32_t c = 0; c < clip_count; c++) {
        uint32_t count = 0;
        double share = peltt_random_unit(random) * 0.6;
        s->clips[c].tracks = s->tracks[c];
        for (uint32_t n = 0; n < s->node_count && count + 3 < TRACK_LIMIT; n++) {
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

static void make_mesh(scene *s, uint32_t joint_count, peltt_random *random)
{
    s->vertex_count = 1 + peltt_random_below(random, VERTEX_LIMIT);
    s->set_count = 1 + peltt_random_below(random, SET_LIMIT);
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

// --- one comparison

// Buffers of the library's side, cleaned influences among them.
typedef struct library_mesh {
    pelt_primitive primitive; // joints, weights and influence_count only
    pelt_mat34 palette[JOINT_LIMIT];
    float positions[VERTEX_LIMIT * 3];
    float normals[VERTEX_LIMIT * 3];
    float tangents[VERTEX_LIMIT * 4];
    uint8_t mirrored[VERTEX_LIMIT];
    pelt_box box;
} library_mesh;

static void skin_with_library(const scene *s, const pelt_pose *pose, uint32_t skin, uint32_t node, uint32_t flags,
                              library_mesh *out)
{
    const pelt_palette_item item = {.pose = pose, .skin = skin, .node = node, .palette = out->palette};
    const pelt_palette_job palette_job = {.item_count = 1, .items = &item};
    assert_int_equal(pelt_palette_evaluate(&palette_job), PELT_OK);
    const float *weights = pelt_pose_weights(pose, node);
    pelt_skin_morph morphs[TARGET_LIMIT];
    for (uint32_t t = 0; t < s->target_count; t++) {
        morphs[t] =
            (pelt_skin_morph){weights[t], s->targets[t].positions, s->targets[t].normals, s->targets[t].tangents};
    }
    const pelt_asset_data *data = pelt_asset_get(pelt_pose_asset(pose));
    pelt_skin_job job = {.isa = peltt_isa,
                         .vertex_count = s->vertex_count,
                         .flags = flags,
                         .palette_count = skin == PELT_NONE ? 1 : data->skins[skin].joint_count,
                         .palette = out->palette,
                         .influence_count = skin == PELT_NONE ? 0 : out->primitive.influence_count,
                         .joints = out->primitive.joints,
                         .weights = out->primitive.weights,
                         .positions = s->positions,
                         .normals = s->normals,
                         .tangents = s->tangents,
                         .morph_count = s->target_count,
                         .morphs = morphs,
                         .out_positions = out->positions,
                         .out_normals = out->normals,
                         .out_tangents = out->tangents,
                         .out_mirrored = out->mirrored,
                         .box = &out->box};
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
}

static double angle_between(const float *a, const double *b)
{
    double distance2 = 0.0;
    for (int i = 0; i < 3; i++) {
        distance2 += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    }
    return 2.0 * asin(fmin(sqrt(distance2) / 2.0, 1.0));
}

static void check_unit(const float *v)
{
    double length2 = (double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2];
    assert_true(fabs(sqrt(length2) - 1.0) < 3e-7);
}

static void check_direction(const float *got, const double *want, double ratio, uint64_t *count, double *worst,
                            double *weak)
{
    check_unit(got);
    if (!(ratio > RATIO_NOISE)) {
        return;
    }
    double angle = angle_between(got, want);
    if (ratio >= RATIO_LIMIT) {
        *count += 1;
        *worst = fmax(*worst, angle);
    } else {
        *weak = fmax(*weak, angle / (ANGLE_LIMIT * RATIO_LIMIT / ratio));
    }
}

static void compare_vertex(const peltt_reference_vertex *want, const library_mesh *got, uint32_t v, bool outward,
                           outcome *o)
{
    const float *tangent = &got->tangents[v * 4];
    bool is_certain = want->singular || want->determinant_ratio > DETERMINANT_LIMIT;
    o->vertex_count++;
    o->signed_count += is_certain;
    o->singular_count += want->singular;
    // A determinant that is all rounding may take either sign, and then the normal and w follow it.
    double sign = 1.0;
    if ((bool)got->mirrored[v] != want->mirrored) {
        o->wrong_sign_count += is_certain;
        sign = outward ? -1.0 : 1.0;
    }
    const double normal[3] = {want->normal[0] * sign, want->normal[1] * sign, want->normal[2] * sign};
    assert_true((double)tangent[3] == want->tangent[3] * sign);
    check_direction(&got->normals[v * 3], normal, want->normal_ratio, &o->normal_count, &o->normal_angle,
                    &o->weak_angle);
    check_direction(tangent, want->tangent, want->tangent_ratio, &o->tangent_count, &o->tangent_angle, &o->weak_angle);
}

static void compare(const scene *s, const pelt_pose *pose, const peltt_reference *reference, uint32_t skin,
                    uint32_t flags, library_mesh *got, outcome *o)
{
    const pelt_asset_data *data = pelt_asset_get(pelt_pose_asset(pose));
    uint32_t node = data->node_from_file[s->mesh_node];
    skin_with_library(s, pose, skin, node, flags, got);
    const uint16_t *joints[SET_LIMIT] = {s->joints_set[0], s->joints_set[1]};
    const float *weights[SET_LIMIT] = {s->weights_set[0], s->weights_set[1]};
    const peltt_reference_mesh mesh = {.set_count = s->set_count,
                                       .joints = joints,
                                       .weights = weights,
                                       .positions = s->positions,
                                       .normals = s->normals,
                                       .tangents = s->tangents,
                                       .target_count = s->target_count,
                                       .targets = s->targets};
    double range = 0.0; // of the mesh: outputs, terms of the sums, and where its joints are
    double output_range = 0.0;
    double error = 0.0;
    for (uint32_t v = 0; v < s->vertex_count; v++) {
        peltt_reference_vertex want;
        bool outward = flags & PELT_NORMAL_OUTWARD;
        peltt_reference_skin(reference, skin, node, &mesh, v, outward, &want);
        compare_vertex(&want, got, v, outward, o);
        for (uint32_t i = 0; i < 3; i++) {
            error = fmax(error, fabs((double)got->positions[v * 3 + i] - want.position[i]));
            output_range = fmax(output_range, fabs(want.position[i]));
        }
        range = fmax(range, want.range);
    }
    for (uint32_t j = 0; j < (skin == PELT_NONE ? 0 : data->skins[skin].joint_count); j++) {
        const double *world = peltt_reference_world(reference, data->skins[skin].joints[j]);
        range = fmax(range, fmax(fabs(world[3]), fmax(fabs(world[7]), fabs(world[11]))));
    }
    o->position_error = fmax(o->position_error, error / range);
    o->output_error = fmax(o->output_error, error / output_range);
}

static void clean_influences(const scene *s, pelt_builder *builder, uint32_t joint_count, library_mesh *out)
{
    pelt_influence_set sets[SET_LIMIT];
    for (uint32_t k = 0; k < s->set_count; k++) {
        sets[k] = (pelt_influence_set){s->joints_set[k], s->weights_set[k]};
    }
    const pelt_influence_job job = {
        .vertex_count = s->vertex_count, .set_count = s->set_count, .sets = sets, .joint_limit = joint_count};
    memset(&out->primitive, 0, sizeof out->primitive);
    out->primitive.vertex_count = s->vertex_count;
    assert_int_equal(pelt_builder_clean_influences(builder, &job, &out->primitive, NULL), PELT_OK);
}

static double random_time(const pelt_clip *clip, peltt_random *random)
{
    const pelt_sampler *sampler = clip->sampler_count > 0 ? &clip->samplers[0] : NULL;
    switch (peltt_random_below(random, 5)) {
    case 0: // exactly on a key
        return sampler ? (double)sampler->times[peltt_random_below(random, sampler->key_count)] : 0.0;
    case 1:
        return -1.0;
    default:
        return peltt_random_unit(random) * ((double)clip->duration + 0.2);
    }
}

static void run_case(uint32_t index, outcome *o)
{
    peltt_random random = {.state = 1000003U * (uint64_t)index + 17};
    scene *s = calloc(1, sizeof *s);
    library_mesh *got = calloc(1, sizeof *got);
    assert_true(s && got);
    s->features = peltt_random_below(&random, 32) & peltt_random_below(&random, 32);
    s->target_count = peltt_random_below(&random, TARGET_LIMIT + 1);
    uint32_t skin_count = 1 + peltt_random_below(&random, SKIN_LIMIT);
    uint32_t clip_count = 1 + peltt_random_below(&random, CLIP_LIMIT);
    make_nodes(s, &random);
    make_skins(s, skin_count, &random);
    make_clips(s, clip_count, &random);
    const peltt_scene description = {.node_count = s->node_count,
                                     .nodes = s->nodes,
                                     .target_count = s->target_count,
                                     .skin_count = skin_count,
                                     .skins = s->skins,
                                     .clip_count = clip_count,
                                     .clips = s->clips};
    pelt_asset *asset = peltt_asset_make(&description);
    const pelt_asset_data *data = pelt_asset_get(asset);
    peltt_reference *reference = peltt_reference_create(data);
    pelt_pose *pose = NULL;
    assert_int_equal(pelt_pose_create(asset, NULL, &pose), PELT_OK);
    for (uint32_t t = 0; t < TIMES_PER_CASE; t++) {
        // Skin 0 to skin_count - 1, then rigid; the pose keeps what the clips of earlier rounds set.
        uint32_t skin = peltt_random_below(&random, skin_count + 1);
        skin = skin == skin_count ? PELT_NONE : skin;
        uint32_t clip = peltt_random_below(&random, clip_count);
        double time = random_time(&data->clips[clip], &random);
        assert_int_equal(pelt_clip_sample(asset, clip, time, pelt_pose_locals(pose)), PELT_OK);
        assert_int_equal(pelt_pose_update(pose, NULL), PELT_OK);
        peltt_reference_sample(reference, clip, time);
        peltt_reference_update(reference);
        uint32_t joint_count = skin == PELT_NONE ? 1 : data->skins[skin].joint_count;
        make_mesh(s, joint_count, &random);
        pelt_builder *builder = NULL;
        assert_int_equal(pelt_builder_create(NULL, &builder), PELT_OK);
        clean_influences(s, builder, joint_count, got);
        compare(s, pose, reference, skin, t % 2 ? PELT_NORMAL_OUTWARD : 0, got, o);
        pelt_builder_destroy(builder);
    }
    pelt_pose_destroy(pose);
    peltt_reference_destroy(reference);
    pelt_asset_destroy(asset);
    free(got);
    free(s);
}

static void random_evaluations_agree_with_the_reference(void **state)
{
    (void)state;
    outcome o = {0};
    for (uint32_t i = 0; i < CASE_COUNT; i++) {
        outcome one = {0};
        run_case(i, &one);
        if (one.position_error > POSITION_LIMIT || one.normal_angle > ANGLE_LIMIT || one.tangent_angle > ANGLE_LIMIT ||
            one.weak_angle > 1.0 || one.wrong_sign_count > 0) {
            print_error(
                "case %u: position %.3g, normal %.3g, tangent %.3g, weak %.3g of their limits, %u wrong signs\n", i,
                one.position_error / POSITION_LIMIT, one.normal_angle / ANGLE_LIMIT, one.tangent_angle / ANGLE_LIMIT,
                one.weak_angle, (unsigned)one.wrong_sign_count);
        }
        o.vertex_count += one.vertex_count;
        o.normal_count += one.normal_count;
        o.tangent_count += one.tangent_count;
        o.signed_count += one.signed_count;
        o.singular_count += one.singular_count;
        o.wrong_sign_count += one.wrong_sign_count;
        o.position_error = fmax(o.position_error, one.position_error);
        o.output_error = fmax(o.output_error, one.output_error);
        o.normal_angle = fmax(o.normal_angle, one.normal_angle);
        o.tangent_angle = fmax(o.tangent_angle, one.tangent_angle);
        o.weak_angle = fmax(o.weak_angle, one.weak_angle);
    }
    double count = (double)o.vertex_count;
    print_message("# %.0f vertices; position error %.2e of the range, %.2e of the largest output\n", count,
                  o.position_error, o.output_error);
    print_message(
        "# normals %.2e degrees (%.1f %% well determined), tangents %.2e (%.1f %%), others %.2f of their limit\n",
        o.normal_angle / ANGLE_LIMIT * 0.01, 100.0 * (double)o.normal_count / count,
        o.tangent_angle / ANGLE_LIMIT * 0.01, 100.0 * (double)o.tangent_count / count, o.weak_angle);
    print_message("# determinants: sign certain in %.1f %%, of them %.0f zero, %.0f wrong\n",
                  100.0 * (double)o.signed_count / count, (double)o.singular_count, (double)o.wrong_sign_count);
    assert_int_equal(o.wrong_sign_count, 0);
    assert_true(o.position_error <= POSITION_LIMIT);
    assert_true(o.normal_angle <= ANGLE_LIMIT);
    assert_true(o.tangent_angle <= ANGLE_LIMIT);
    assert_true(o.weak_angle <= 1.0);
    // The exceptions must stay exceptions.
    assert_true((double)o.normal_count > 0.6 * count);
    assert_true((double)o.tangent_count > 0.8 * count);
    assert_true((double)o.signed_count > 0.6 * count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_evaluations_agree_with_the_reference),
    };
    return PELTT_RUN_ISAS(tests);
}

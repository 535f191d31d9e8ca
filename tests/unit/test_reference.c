// SPDX-License-Identifier: MIT
// The whole evaluation (sampling, hierarchy, palettes, influence clean-up, morphs, skinning) against the
// double-precision reference on random skeletons, clips, meshes and times.
#include "peltt_isa.h"
#include "peltt_random_scene.h"
#include "peltt_reference.h"

#include <pelt/builder.h>
#include <pelt/palette.h>
#include <pelt/skin.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    CASE_COUNT = 4000,
    TIMES_PER_CASE = 3
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

// Buffers of the library's side, cleaned influences among them.
typedef struct library_mesh {
    pelt_primitive primitive; // joints, weights and influence_count only
    pelt_mat34 palette[PELTT_RANDOM_JOINT_LIMIT];
    float positions[PELTT_RANDOM_VERTEX_LIMIT * 3];
    float normals[PELTT_RANDOM_VERTEX_LIMIT * 3];
    float tangents[PELTT_RANDOM_VERTEX_LIMIT * 4];
    uint8_t mirrored[PELTT_RANDOM_VERTEX_LIMIT];
    pelt_box box;
} library_mesh;

static void skin_with_library(const peltt_random_scene *s, const pelt_pose *pose, uint32_t skin, uint32_t node,
                              uint32_t flags, library_mesh *out)
{
    const pelt_palette_item item = {.pose = pose, .skin = skin, .node = node, .palette = out->palette};
    const pelt_palette_job palette_job = {.item_count = 1, .items = &item};
    assert_int_equal(pelt_palette_evaluate(&palette_job), PELT_OK);
    const float *weights = pelt_pose_weights(pose, node);
    pelt_skin_morph morphs[PELTT_RANDOM_TARGET_LIMIT];
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

static void compare(const peltt_random_scene *s, const pelt_pose *pose, const peltt_reference *reference, uint32_t skin,
                    uint32_t flags, library_mesh *got, outcome *o)
{
    const pelt_asset_data *data = pelt_asset_get(pelt_pose_asset(pose));
    uint32_t node = data->node_from_file[s->mesh_node];
    skin_with_library(s, pose, skin, node, flags, got);
    const uint16_t *joints[PELTT_RANDOM_SET_LIMIT] = {s->joints_set[0], s->joints_set[1]};
    const float *weights[PELTT_RANDOM_SET_LIMIT] = {s->weights_set[0], s->weights_set[1]};
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

static void clean_influences(const peltt_random_scene *s, pelt_builder *builder, uint32_t joint_count,
                             library_mesh *out)
{
    pelt_influence_set sets[PELTT_RANDOM_SET_LIMIT];
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
    peltt_random_scene *s = calloc(1, sizeof *s);
    library_mesh *got = calloc(1, sizeof *got);
    assert_true(s && got);
    s->features = peltt_random_below(&random, 32) & peltt_random_below(&random, 32);
    s->target_count = peltt_random_below(&random, PELTT_RANDOM_TARGET_LIMIT + 1);
    uint32_t skin_count = 1 + peltt_random_below(&random, PELTT_RANDOM_SKIN_LIMIT);
    uint32_t clip_count = 1 + peltt_random_below(&random, PELTT_RANDOM_CLIP_LIMIT);
    peltt_random_scene_nodes(s, &random);
    peltt_random_scene_skins(s, skin_count, &random);
    peltt_random_scene_clips(s, clip_count, &random);
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
        peltt_random_scene_mesh(s, joint_count, &random);
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

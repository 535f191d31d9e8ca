// SPDX-License-Identifier: MIT
// What `pelt verify` finds: each of its checks with an output that is right, one that is just within and one that is
// just over. The model is posed and skinned by the library; faults are put into the output by hand.
#include "peltt_random.h"
#include "peltt_vk_model.h"

#include "verify.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    VERTICES = 200,
    JOINTS = 6
};

// The command's own model is made from a file; here it is put together by hand, without morphs.
static bool in_range = true;

bool verify_model_in_range(const verify_model *m, const verify_item *item)
{
    (void)m;
    (void)item;
    return in_range;
}

uint32_t verify_model_morphs(const verify_model *m, const verify_item *item)
{
    (void)m;
    (void)item;
    return 0;
}

static void run_here(void *user, uint32_t task_count, pelt_task task, void *context)
{
    (void)user;
    for (uint32_t i = 0; i < task_count; i++) {
        task(context, i);
    }
}

typedef struct bench {
    peltt_vk_model *packed;
    cli_context context;
    verify_model model;
    verify_item item;
    pelt_palette_item palette;
    pelt_mat34 matrices[JOINTS];
    verify_reach reach;
    verify_output reference;
    verify_output output; // the reference's, until a test changes it
    float positions[2][VERTICES * 3];
    float normals[2][VERTICES * 3];
    float tangents[2][VERTICES * 4];
    uint32_t packed_normals[VERTICES];
    uint32_t packed_tangents[VERTICES];
    uint64_t hashes[1][2];
    verify_figures figures;
    verify_track track;
    double scale; // of the posed primitive, as docs/accuracy.md defines it
} bench;

static void pose(bench *b, peltt_random *random)
{
    pelt_mat34 worlds[JOINTS];
    const pelt_skin *skin = &pelt_asset_get(b->packed->asset)->skins[0];
    peltt_vk_worlds(random, true, JOINTS, worlds);
    for (uint32_t j = 0; j < JOINTS; j++) {
        assert_int_equal(pelt_pose_set_local_matrix(b->model.pose, skin->joints[j], &worlds[j]), PELT_OK);
    }
    assert_int_equal(pelt_pose_update(b->model.pose, NULL), PELT_OK);
    pelt_palette_job job = {.item_count = 1, .items = &b->palette};
    assert_int_equal(pelt_palette_evaluate(&job), PELT_OK);
}

static void skin(bench *b)
{
    const pelt_primitive *source = b->packed->primitive;
    pelt_skin_job job = {
        .vertex_count = VERTICES,
        .palette_count = JOINTS,
        .palette = b->matrices,
        .influence_count = source->influence_count,
        .joints = source->joints,
        .weights = source->weights,
        .positions = source->positions,
        .normals = source->normals,
        .tangents = source->tangents,
        .out_positions = b->positions[0],
        .out_normals = b->normals[0],
        .out_tangents = b->tangents[0],
        .box = &b->reference.box,
    };
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    memcpy(b->positions[1], b->positions[0], sizeof b->positions[0]);
    memcpy(b->normals[1], b->normals[0], sizeof b->normals[0]);
    memcpy(b->tangents[1], b->tangents[0], sizeof b->tangents[0]);
}

static double scale_of(const pelt_box *box)
{
    double diagonal = 0;
    double scale = 0;
    for (int i = 0; i < 3; i++) {
        diagonal = hypot(diagonal, (double)box->max[i] - (double)box->min[i]);
        scale = fmax(scale, fmax(fabs((double)box->min[i]), fabs((double)box->max[i])));
    }
    return fmax(diagonal, scale);
}

// As after the first update of a device.
static void set_output(bench *b)
{
    b->reference.positions = b->positions[0];
    b->reference.normals = b->normals[0];
    b->reference.tangents = b->tangents[0];
    b->output = b->reference;
    b->output.positions = b->positions[1];
    b->output.normals = b->normals[1];
    b->output.tangents = b->tangents[1];
    b->output.has_conservative = true;
    b->output.conservative = b->output.box;
    b->track = (verify_track){.hashes = b->hashes, .update_count = 1, .figures = &b->figures};
    b->scale = scale_of(&b->reference.box);
}

static bench *make_seeded(uint64_t seed)
{
    bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    peltt_random random = {seed};
    peltt_vk_shape shape = {.vertex_count = VERTICES, .influence_count = 4, .joint_count = JOINTS, .moderate = true};
    b->packed = peltt_vk_model_make(&shape, seed);
    b->context.parallel.run = run_here;
    b->context.options.input = "made.glb";
    b->item = (verify_item){.source = b->packed->primitive, .palette_count = JOINTS};
    b->model = (verify_model){.context = &b->context,
                              .streams = b->packed->data,
                              .asset = b->packed->asset,
                              .item_count = 1,
                              .items = &b->item,
                              .palette_count = 1,
                              .palettes = &b->palette,
                              .matrices = b->matrices,
                              .clip = 3,
                              .time = 0.25};
    assert_int_equal(pelt_pose_create(b->packed->asset, NULL, &b->model.pose), PELT_OK);
    b->palette = (pelt_palette_item){.pose = b->model.pose, .palette = b->matrices};
    b->reach.normals = calloc(VERTICES, sizeof(float));
    b->reach.tangents = calloc(VERTICES, sizeof(float));
    assert_true(b->reach.normals && b->reach.tangents);
    pose(b, &random);
    skin(b);
    set_output(b);
    verify_directions(&b->model, &b->item, &b->reach);
    in_range = true;
    return b;
}

static bench *make(void)
{
    return make_seeded(1);
}

static void destroy(bench *b)
{
    free(b->reach.normals);
    free(b->reach.tangents);
    pelt_pose_destroy(b->model.pose);
    peltt_vk_model_free(b->packed);
    free(b);
}

static void compare(bench *b)
{
    b->figures = (verify_figures){0};
    verify_compare(&b->model, 0, &b->reference, &b->reach, &b->output, &b->track);
}

static uint64_t failed(const bench *b, verify_check check)
{
    return b->figures.tallies[check].failed;
}

static void only(const bench *b, verify_check check, uint64_t count)
{
    for (int i = 0; i < VERIFY_CHECKS; i++) {
        assert_int_equal(b->figures.tallies[i].failed, i == (int)check ? count : 0);
    }
    assert_int_equal(verify_within(&b->figures), count == 0);
}

static void equal_outputs_pass_and_are_counted(void **state)
{
    (void)state;
    bench *b = make();
    compare(b);
    only(b, VERIFY_CHECKS, 0);
    assert_true(verify_within(&b->figures));
    assert_int_equal(b->figures.tallies[VERIFY_POSITION].compared, VERTICES);
    assert_int_equal(b->figures.tallies[VERIFY_NORMAL].compared, VERTICES);
    assert_int_equal(b->figures.tallies[VERIFY_HANDEDNESS].compared, VERTICES);
    assert_int_equal(b->figures.tallies[VERIFY_BOX].compared, 1);
    assert_int_equal(b->figures.tallies[VERIFY_PREVIOUS].compared, 1);
    assert_true(b->figures.position == 0 && b->figures.normal_degrees < 1e-5 && verify_rms(&b->figures) == 0);
    destroy(b);
}

// The least coordinate that cannot leave the box when it moves a little: one that is neither the least nor the largest.
static uint32_t inner_vertex(const bench *b)
{
    for (uint32_t i = 0; i < VERTICES; i++) {
        float x = b->positions[0][3 * i];
        if (x > b->reference.box.min[0] + 1e-3F && x < b->reference.box.max[0] - 1e-3F) {
            return i;
        }
    }
    fail_msg("every vertex is at an end of the box");
    return 0;
}

static void moved_vertex_fails_over_the_tolerance_and_is_named(void **state)
{
    (void)state;
    bench *b = make();
    uint32_t v = inner_vertex(b);
    float x = b->positions[0][3 * v];
    b->context.options.has_tolerance = true;
    b->context.options.tolerance = 1e-4; // so that the step is far over the spacing of floats
    b->positions[1][3 * v] = x + (float)(0.98e-4 * b->scale);
    compare(b);
    only(b, VERIFY_POSITION, 0);
    assert_true(fabs(b->figures.share - 0.98e-4) < 1e-6 && fabs(b->figures.position - 0.98e-4 * b->scale) < 1e-5);
    assert_true(fabs(verify_rms_share(&b->figures) - b->figures.share / sqrt(VERTICES)) < 1e-9);
    b->positions[1][3 * v] = x - (float)(1.02e-4 * b->scale);
    compare(b);
    only(b, VERIFY_POSITION, 1);
    const verify_tally *tally = &b->figures.tallies[VERIFY_POSITION];
    assert_true(tally->has_place && tally->place.vertex == v && tally->place.clip == 3);
    assert_true(tally->place.time == 0.25 && tally->place.node == 0 && tally->place.mesh == 0);
    assert_true(fabs(tally->worst - 0.02e-4) < 5e-7); // how far it is over, of scale
    destroy(b);
}

static void positions_that_are_not_finite_fail(void **state)
{
    (void)state;
    bench *b = make();
    const float values[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        b->positions[1][4] = values[i];
        compare(b);
        assert_int_equal(failed(b, VERIFY_POSITION), 1);
        assert_true(b->figures.position == HUGE_VAL && b->figures.tallies[VERIFY_POSITION].place.vertex == 1);
    }
    destroy(b);
}

// By a rotation that no float holds, so that rounding its matrix moves vertices.
static void turn_first_joint(bench *b, float amount)
{
    uint32_t node = pelt_asset_get(b->packed->asset)->skins[0].joints[0];
    pelt_trs turn = pelt_trs_identity();
    turn.rotation = (pelt_quat){0.3F, 0.1F * amount, -0.7F, 0.4F};
    turn.translation = (pelt_vec3){1.1F, -2.3F, 0.7F};
    assert_int_equal(pelt_pose_set_local(b->model.pose, node, &turn), PELT_OK);
    assert_int_equal(pelt_pose_update(b->model.pose, NULL), PELT_OK);
}

// Σ w (W (B p + b) + t) with W as given by the pose in double, or rounded to float; everything else in double.
static void exact_position(const bench *b, uint32_t vertex, bool rounded, double out[3])
{
    const pelt_primitive *source = b->packed->primitive;
    const pelt_skin *from = &pelt_asset_get(b->packed->asset)->skins[0];
    memset(out, 0, 3 * sizeof *out);
    for (uint32_t i = 0; i < source->influence_count; i++) {
        size_t at = (size_t)vertex * source->influence_count + i;
        uint32_t j = source->joints[at];
        const double *world = pelt_pose_world_double(b->model.pose, from->joints[j]);
        double inner[3];
        for (int k = 0; k < 3; k++) {
            const float *row = from->inverse_binds[j].m[k];
            const float *p = source->positions + 3 * (size_t)vertex;
            inner[k] = (double)row[0] * (double)p[0] + (double)row[1] * (double)p[1] + (double)row[2] * (double)p[2] +
                       (double)row[3];
        }
        for (int r = 0; r < 3; r++) {
            double sum = 0;
            for (int k = 0; k < 4; k++) {
                double x = world[4 * r + k];
                sum += (rounded ? (double)(float)x : x) * (k < 3 ? inner[k] : 1);
            }
            out[r] += (double)source->weights[at] * sum;
        }
    }
}

// Σ w (|M| |p| + |t|) of the palette, as a length.
static double length_of_terms(const bench *b, uint32_t vertex)
{
    const pelt_primitive *source = b->packed->primitive;
    double sum = 0;
    for (int r = 0; r < 3; r++) {
        double row = 0;
        for (uint32_t i = 0; i < source->influence_count; i++) {
            size_t at = (size_t)vertex * source->influence_count + i;
            const float *m = b->matrices[source->joints[at]].m[r];
            const float *p = source->positions + 3 * (size_t)vertex;
            row +=
                (double)source->weights[at] * (fabs((double)m[0] * (double)p[0]) + fabs((double)m[1] * (double)p[1]) +
                                               fabs((double)m[2] * (double)p[2]) + fabs((double)m[3]));
        }
        sum += row * row;
    }
    return sqrt(sum);
}

static void rounding_of_matrices_is_what_it_can_move(void **state)
{
    (void)state;
    double most = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        bench *b = make_seeded(seed);
        turn_first_joint(b, (float)seed);
        for (uint32_t v = 0; v < VERTICES; v++) {
            double p[3];
            double q[3];
            exact_position(b, v, false, p);
            exact_position(b, v, true, q);
            double moved =
                sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
            double rounded = (0x1p-24 + 0x1p-23) * length_of_terms(b, v);
            assert_true(fabs(moved + rounded - verify_matrix_rounding(&b->model, &b->item, v)) <= 1e-13);
            most = fmax(most, moved);
        }
        destroy(b);
    }
    assert_true(most > 1e-8);
}

static void rounding_of_matrices_explains_no_more_than_it_moves(void **state)
{
    (void)state;
    bench *b = make();
    turn_first_joint(b, 1);
    uint32_t v = inner_vertex(b);
    double moved = verify_matrix_rounding(&b->model, &b->item, v);
    b->context.options.has_tolerance = true;
    b->context.options.tolerance = 1e-30; // 0 would explain nothing
    float x = 0x1p-20F;                   // so that steps are fine beside the rounding
    b->positions[0][3 * v] = x;
    b->reference.box.min[0] = fminf(b->reference.box.min[0], x);
    const double factors[2] = {0.9, 1.1};
    for (int i = 0; i < 2; i++) {
        b->positions[1][3 * v] = x + (float)(factors[i] * moved);
        b->output.own_palette = true;
        compare(b);
        assert_int_equal(failed(b, VERIFY_POSITION), i);
        assert_int_equal(b->figures.explained, 1 - i);
        b->output.own_palette = false;
        compare(b);
        assert_int_equal(failed(b, VERIFY_POSITION), 1);
        assert_int_equal(b->figures.explained, 0);
    }
    b->positions[1][3 * v] = x + (float)(0.9 * moved);
    b->output.own_palette = true;
    b->context.options.tolerance = 0;
    compare(b);
    assert_int_equal(failed(b, VERIFY_POSITION), 1);
    assert_int_equal(b->figures.explained, 0);
    destroy(b);
}

// Rounds to the nearest code in the square, as a shader does: by the definition of the octahedral map.
static uint32_t nearest_code(const float v[3], double x_limit, double y_limit)
{
    double sum = fabs((double)v[0]) + fabs((double)v[1]) + fabs((double)v[2]);
    double x = (double)v[0] / sum;
    double y = (double)v[1] / sum;
    if (v[2] < 0.0F) {
        double folded = copysign(1 - fabs(y), x);
        y = copysign(1 - fabs(x), y);
        x = folded;
    }
    uint32_t low = (uint32_t)(int32_t)lround(x * x_limit) & 0xFFFFU;
    uint32_t mask = y_limit > 20000 ? 0xFFFFU : 0x7FFFU;
    return low | ((uint32_t)(int32_t)lround(y * y_limit) & mask) << 16;
}

static void random_directions(bench *b, peltt_random *random)
{
    for (uint32_t i = 0; i < VERTICES; i++) {
        float v[3];
        float length = 0;
        do {
            for (int k = 0; k < 3; k++) {
                v[k] = peltt_random_float(random, -1, 1);
            }
            length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        } while (length < 0.1F || length > 1);
        for (int k = 0; k < 3; k++) {
            b->normals[0][3 * i + (uint32_t)k] = v[k] / length;
            b->tangents[0][4 * i + (uint32_t)k] = v[k] / length;
        }
        b->packed_normals[i] = nearest_code(&b->normals[0][3 * i], 32767, 32767);
        b->packed_tangents[i] =
            nearest_code(&b->tangents[0][4 * i], 32767, 16383) | (b->tangents[0][4 * i + 3] < 0.0F ? 0x80000000U : 0);
    }
}

static void nearest_codes_pass_and_use_what_is_allowed(void **state)
{
    (void)state;
    bench *b = make();
    peltt_random random = {7};
    double normals = 0;
    double tangents = 0;
    b->context.options.has_tolerance = true;
    b->context.options.tolerance = 1e-8; // leaves the rounding to codes alone
    b->output.packed_normals = b->packed_normals;
    b->output.packed_tangents = b->packed_tangents;
    b->output.normals = NULL;
    b->output.tangents = NULL;
    for (int round = 0; round < 100; round++) {
        random_directions(b, &random);
        compare(b);
        only(b, VERIFY_CHECKS, 0);
        normals = fmax(normals, b->figures.tallies[VERIFY_NORMAL].worst);
        tangents = fmax(tangents, b->figures.tallies[VERIFY_TANGENT].worst);
    }
    assert_true(normals > 0.9 && tangents > 0.9);
    b->packed_normals[17] ^= 8; // eight steps away
    compare(b);
    only(b, VERIFY_NORMAL, 1);
    assert_int_equal(b->figures.tallies[VERIFY_NORMAL].place.vertex, 17);
    b->packed_normals[17] ^= 8;
    b->packed_tangents[5] ^= 8;
    compare(b);
    only(b, VERIFY_TANGENT, 1);
    destroy(b);
}

// A float direction turned by an angle, or of another length.
static void turned_and_scaled_directions_fail(void **state)
{
    (void)state;
    bench *b = make();
    double limit = 4e-6 * (double)b->reach.normals[9];
    const double angles[2] = {0.9 * limit, 1.2 * limit};
    for (int i = 0; i < 2; i++) {
        const float n[3] = {0, 0, 1};
        const float turned[3] = {(float)sin(angles[i]), 0, (float)cos(angles[i])};
        memcpy(&b->normals[0][27], n, sizeof n);
        memcpy(&b->normals[1][27], turned, sizeof turned);
        compare(b);
        only(b, VERIFY_NORMAL, (uint64_t)i);
    }
    memcpy(&b->normals[1][27], &b->normals[0][27], 3 * sizeof(float));
    b->normals[1][29] = 1.00001F;
    compare(b);
    only(b, VERIFY_NORMAL, 1);
    b->normals[1][29] = NAN;
    compare(b);
    only(b, VERIFY_NORMAL, 1);
    destroy(b);
}

static void flipped_handedness_fails(void **state)
{
    (void)state;
    bench *b = make();
    b->tangents[1][4 * 20 + 3] = -b->tangents[1][4 * 20 + 3];
    compare(b);
    only(b, VERIFY_HANDEDNESS, 1);
    assert_int_equal(b->figures.tallies[VERIFY_HANDEDNESS].place.vertex, 20);
    destroy(b);
}

// Of a turned identity the terms are known: rows (c, -s, 0), (s, c, 0), (0, 0, 1) and a normal along x give the terms
// (c, s, 0) of length 1; along (1, 1, 0) each row's terms are c + s.
static void reach_is_that_of_the_terms(void **state)
{
    (void)state;
    bench *b = make();
    const float angle = 0.5F;
    const float c = cosf(angle);
    const float s = sinf(angle);
    const pelt_mat34 turn = {{{c, -s, 0, 0}, {s, c, 0, 0}, {0, 0, 1, 0}}};
    const pelt_mat34 flat = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, 0}}};
    pelt_primitive source = *b->packed->primitive;
    const float normals[6] = {1, 0, 0, 0.70710678F, 0.70710678F, 0};
    const float tangents[8] = {0, 0, 1, 1, 1, 0, 0, -1};
    b->item.source = &source;
    b->item.rigid = true;
    source.vertex_count = 2;
    source.normals = normals;
    source.tangents = tangents;
    b->matrices[0] = turn;
    verify_directions(&b->model, &b->item, &b->reach);
    assert_true(fabsf(b->reach.normals[0] - 1) < 1e-6F);
    assert_true(fabsf(b->reach.normals[1] - (c + s)) < 1e-6F);
    assert_true(fabsf(b->reach.tangents[0] - 1) < 1e-6F);
    b->matrices[0] = flat;
    verify_directions(&b->model, &b->item, &b->reach);
    // The cofactor of a matrix flattened along z keeps only z, which neither normal has.
    assert_true(isinf(b->reach.normals[0]) && isinf(b->reach.normals[1]));
    assert_true(isinf(b->reach.tangents[0]) && fabsf(b->reach.tangents[1] - 1) < 1e-6F);
    destroy(b);
}

static void directions_of_large_reach_are_not_judged(void **state)
{
    (void)state;
    bench *b = make();
    for (int k = 0; k < 3; k++) {
        b->normals[1][3 * 8 + k] = -b->normals[1][3 * 8 + k];
    }
    b->reach.normals[8] = 257;
    compare(b);
    only(b, VERIFY_NORMAL, 0);
    assert_int_equal(b->figures.tallies[VERIFY_NORMAL].unjudged, 1);
    b->reach.normals[8] = 255;
    compare(b);
    only(b, VERIFY_NORMAL, 1);
    destroy(b);
}

static void box_fails_at_one_bit(void **state)
{
    (void)state;
    bench *b = make();
    for (int side = 0; side < 6; side++) {
        float *at = side < 3 ? &b->output.box.min[side] : &b->output.box.max[side - 3];
        float kept = *at;
        for (int way = 0; way < 2; way++) {
            *at = nextafterf(kept, way ? HUGE_VALF : -HUGE_VALF);
            compare(b);
            only(b, VERIFY_BOX, 1);
            assert_int_equal(b->figures.tallies[VERIFY_BOX].place.vertex, PELT_NONE);
        }
        *at = kept;
    }
    destroy(b);
}

static void conservative_box_may_be_larger_only(void **state)
{
    (void)state;
    bench *b = make();
    for (int side = 0; side < 6; side++) {
        float *at = side < 3 ? &b->output.conservative.min[side] : &b->output.conservative.max[side - 3];
        float kept = *at;
        float inward = side < 3 ? HUGE_VALF : -HUGE_VALF;
        *at = nextafterf(kept, -inward);
        compare(b);
        only(b, VERIFY_CONSERVATIVE, 0);
        *at = nextafterf(kept, inward);
        compare(b);
        only(b, VERIFY_CONSERVATIVE, 1);
        *at = NAN;
        compare(b);
        only(b, VERIFY_CONSERVATIVE, 1);
        in_range = false;
        compare(b);
        only(b, VERIFY_CONSERVATIVE, 0);
        assert_int_equal(b->figures.tallies[VERIFY_CONSERVATIVE].unjudged, 1);
        in_range = true;
        *at = kept;
    }
    destroy(b);
}

static void previous_positions_are_those_of_the_last_update(void **state)
{
    (void)state;
    bench *b = make();
    float *before = malloc(sizeof b->positions[1]);
    assert_non_null(before);
    b->output.previous = before;
    memcpy(before, b->positions[1], sizeof b->positions[1]);
    compare(b);
    only(b, VERIFY_PREVIOUS, 1); // there was no update before the first
    b->output.previous = NULL;
    compare(b);
    only(b, VERIFY_PREVIOUS, 0);
    b->track.update_count = 2;
    compare(b);
    only(b, VERIFY_PREVIOUS, 1); // the device says that there are none
    b->output.previous = before;
    compare(b);
    only(b, VERIFY_PREVIOUS, 0);
    before[3 * VERTICES - 1] = nextafterf(before[3 * VERTICES - 1], 0);
    compare(b);
    only(b, VERIFY_PREVIOUS, 1);
    free(before);
    destroy(b);
}

static void figures_of_files_add_up(void **state)
{
    (void)state;
    bench *b = make();
    verify_figures sum = {0};
    b->positions[1][0] += 1;
    compare(b);
    verify_add_figures(&b->figures, &sum);
    verify_place worst = b->figures.tallies[VERIFY_POSITION].place;
    memcpy(b->positions[1], b->positions[0], sizeof b->positions[1]);
    b->context.options.input = "other.glb";
    compare(b);
    verify_add_figures(&b->figures, &sum);
    assert_int_equal(sum.tallies[VERIFY_POSITION].compared, 2 * VERTICES);
    assert_int_equal(sum.tallies[VERIFY_POSITION].failed, 1);
    assert_string_equal(sum.tallies[VERIFY_POSITION].place.file, "made.glb");
    assert_int_equal(sum.tallies[VERIFY_POSITION].place.vertex, worst.vertex);
    assert_true(sum.position > 0.99 && !verify_within(&sum));
    destroy(b);
}

static void moments_hold_keys_ends_and_a_grid(void **state)
{
    (void)state;
    float times[100];
    for (int i = 0; i < 100; i++) {
        times[i] = 0.5F + (float)i / 64;
    }
    pelt_sampler sampler = {.key_count = 3, .times = times};
    pelt_clip clip = {.duration = times[2], .sampler_count = 1, .samplers = &sampler};
    uint32_t count = 0;
    double *chosen = verify_moments(&clip, 10, &count);
    assert_true(chosen && count == 10 - 1); // the last key is the grid's end as well
    for (int i = 0; i < 3; i++) {
        bool found = false;
        for (uint32_t k = 0; k < count; k++) {
            found = found || chosen[k] == (double)times[i];
        }
        assert_true(found);
    }
    assert_true(chosen[0] == 0 && chosen[count - 1] == (double)times[2]);
    free(chosen);
    sampler.key_count = 100;
    clip.duration = times[99];
    for (uint32_t limit = 2; limit < 300; limit += 7) {
        chosen = verify_moments(&clip, limit, &count);
        assert_true(chosen && count >= limit / 2 && count <= limit && chosen[count - 1] == (double)times[99]);
        for (uint32_t k = 1; k < count; k++) {
            assert_true(chosen[k] > chosen[k - 1]);
        }
        free(chosen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_outputs_pass_and_are_counted),
        cmocka_unit_test(moved_vertex_fails_over_the_tolerance_and_is_named),
        cmocka_unit_test(positions_that_are_not_finite_fail),
        cmocka_unit_test(rounding_of_matrices_is_what_it_can_move),
        cmocka_unit_test(rounding_of_matrices_explains_no_more_than_it_moves),
        cmocka_unit_test(nearest_codes_pass_and_use_what_is_allowed),
        cmocka_unit_test(turned_and_scaled_directions_fail),
        cmocka_unit_test(flipped_handedness_fails),
        cmocka_unit_test(reach_is_that_of_the_terms),
        cmocka_unit_test(directions_of_large_reach_are_not_judged),
        cmocka_unit_test(box_fails_at_one_bit),
        cmocka_unit_test(conservative_box_may_be_larger_only),
        cmocka_unit_test(previous_positions_are_those_of_the_last_update),
        cmocka_unit_test(figures_of_files_add_up),
        cmocka_unit_test(moments_hold_keys_ends_and_a_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

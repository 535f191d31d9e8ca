// SPDX-License-Identifier: MIT
// Joint boxes hold exactly what they should, and the boxes made of them in any pose hold every skinned vertex.
#include "peltt_asset.h"
#include "peltt_packed.h"

#include <pelt/bounds.h>
#include <pelt/skin.h>

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    INFLUENCES = 16 // room for unpacked influences of a vertex
};

static double between(peltt_random *random, double low, double high)
{
    return low + (high - low) * peltt_random_unit(random);
}

static pelt_mat34 random_bind(peltt_random *random, float size)
{
    pelt_mat34 m;
    for (int i = 0; i < 12; i++) {
        m.m[i / 4][i % 4] = peltt_random_float(random, -1.0F, 1.0F) * (i % 4 == 3 ? size : 1.0F);
    }
    return m;
}

// --- the boxes themselves

static void grow(double low[3], double high[3], int axis, double value)
{
    low[axis] = fmin(low[axis], value);
    high[axis] = fmax(high[axis], value);
}

// Every corner of every vertex's interval, moved: the smallest box, in double.
static void reference_box(const peltt_packed *packed, const pelt_skin *skin, uint32_t joint, double low[3],
                          double high[3])
{
    const pelt_cooked_primitive *out = &packed->p.out;
    for (int r = 0; r < 3; r++) {
        low[r] = HUGE_VAL;
        high[r] = -HUGE_VAL;
    }
    for (uint32_t v = 0; v < out->vertex_count; v++) {
        uint16_t joints[INFLUENCES];
        float weights[INFLUENCES];
        uint32_t count = pelt_cooked_influences(out, v, INFLUENCES, joints, weights);
        bool follows = false;
        for (uint32_t i = 0; i < count; i++) {
            follows = follows || joints[i] == joint;
        }
        if (!follows) {
            continue;
        }
        double ends[2][3];
        for (int c = 0; c < 3; c++) {
            ends[0][c] = ends[1][c] = (double)out->positions[(size_t)v * 3 + (size_t)c];
        }
        for (uint32_t t = 0; t < packed->shape.target_count; t++) {
            const float *positions = packed->targets[t].positions;
            for (size_t c = 0; positions && c < 3; c++) {
                double d = (double)positions[(size_t)out->source_vertices[v] * 3 + c];
                double a = d * (double)packed->options.morph_weight_min;
                double b = d * (double)packed->options.morph_weight_max;
                ends[0][c] += fmin(a, b);
                ends[1][c] += fmax(a, b);
            }
        }
        for (int corner = 0; corner < 8; corner++) {
            for (int r = 0; r < 3; r++) {
                const float *m = skin->inverse_binds[joint].m[r];
                grow(low, high, r,
                     (double)m[0] * ends[corner & 1][0] + (double)m[1] * ends[corner >> 1 & 1][1] +
                         (double)m[2] * ends[corner >> 2][2] + (double)m[3]);
            }
        }
    }
}

static void boxes_are_the_smallest_around_their_vertices(void **state)
{
    (void)state;
    peltt_random random = {50};
    for (int round = 0; round < 60; round++) {
        const peltt_packed_shape shape = {.vertex_count = 1 + peltt_random_below(&random, 700),
                                          .influence_count = 1 + peltt_random_below(&random, 7),
                                          .joint_count = 1 + peltt_random_below(&random, 12),
                                          .target_count = round % 3 == 0 ? 0 : peltt_random_below(&random, 9),
                                          .size = 10,
                                          .has_indices = true,
                                          .drop = round % 2 == 0,
                                          .shuffle = true,
                                          .list_joints = true};
        pelt_mat34 binds[13];
        for (int i = 0; i < 13; i++) {
            binds[i] = random_bind(&random, 10.0F);
        }
        // One joint more than the vertices know.
        const pelt_skin skin = {.joint_count = shape.joint_count + 1, .inverse_binds = binds};
        peltt_packed packed;
        peltt_packed_init(&packed, &shape, &random);
        packed.options.weights = round % 4 < 2 ? PELT_WEIGHTS_SORTED : PELT_WEIGHTS_PLAIN;
        if (round % 5 == 4) {
            packed.options.morph_weight_min = -1.5F;
            packed.options.morph_weight_max = 0.5F;
        }
        assert_int_equal(peltt_packed_cook(&packed, NULL, (uint64_t)round, NULL), PELT_OK);
        pelt_box boxes[13];
        assert_int_equal(pelti_cook_joint_boxes(&packed.p, &skin, boxes, NULL), PELT_OK);
        for (uint32_t j = 0; j < skin.joint_count; j++) {
            double low[3];
            double high[3];
            reference_box(&packed, &skin, j, low, high);
            for (int r = 0; r < 3; r++) {
                if (!(low[r] <= high[r])) {
                    assert_true(boxes[j].min[r] == INFINITY && boxes[j].max[r] == -INFINITY);
                    continue;
                }
                double slack = 1e-13 * (fabs(low[r]) + fabs(high[r]) + 100.0);
                assert_true((double)boxes[j].min[r] <= low[r] + slack && (double)boxes[j].max[r] >= high[r] - slack);
                assert_true((double)nextafterf(boxes[j].min[r], INFINITY) >= low[r] - slack);
                assert_true((double)nextafterf(boxes[j].max[r], -INFINITY) <= high[r] + slack);
            }
        }
        peltt_packed_free(&packed);
    }
}

static void a_remainder_of_plain_weights_counts(void **state)
{
    (void)state;
    const float position[3] = {1, 2, 3};
    const uint16_t joints[2] = {2, 0};
    const float weights[2] = {1, 0};
    const pelt_primitive source = {.vertex_count = 1,
                                   .positions = position,
                                   .influence_count = 2,
                                   .joints = joints,
                                   .weights = weights,
                                   .index_count = 1};
    const pelt_mat34 binds[3] = {pelt_mat34_identity(), pelt_mat34_identity(), pelt_mat34_identity()};
    const pelt_skin skin = {.joint_count = 3, .inverse_binds = binds};
    for (int plain = 0; plain < 2; plain++) {
        peltt_packed packed = {.shape = {.vertex_count = 1, .influence_count = 2, .joint_count = 3}, .source = source};
        packed.options.weights = plain ? PELT_WEIGHTS_PLAIN : PELT_WEIGHTS_SORTED;
        assert_int_equal(peltt_packed_cook(&packed, NULL, 1, NULL), PELT_OK);
        pelt_box boxes[3];
        assert_int_equal(pelti_cook_joint_boxes(&packed.p, &skin, boxes, NULL), PELT_OK);
        assert_int_equal(pelt_box_is_empty(&boxes[0]), !plain);
        assert_true(pelt_box_is_empty(&boxes[1]));
        assert_memory_equal(boxes[2].min, position, sizeof position);
        assert_memory_equal(boxes[2].max, position, sizeof position);
        peltt_packed_free(&packed);
    }
}

// --- any pose

// A packed primitive with everything that its evaluation takes.
typedef struct rig {
    peltt_packed packed;
    pelt_asset *asset;
    pelt_pose *pose;
    uint32_t influence_count;
    uint16_t *joints;
    float *weights;
    pelt_skin_morph *morphs;
    float *deltas;
    float *out;
    pelt_mat34 *palette;
    pelt_box *boxes;
    pelt_box bind_box;
} rig;

static void *zeroed(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

static void unpack_rig(rig *r)
{
    const pelt_cooked_primitive *out = &r->packed.p.out;
    r->influence_count = 1;
    for (uint32_t v = 0; v < out->vertex_count; v++) {
        uint32_t count = pelt_cooked_influences(out, v, 0, NULL, NULL);
        r->influence_count = count > r->influence_count ? count : r->influence_count;
    }
    size_t size = (size_t)out->vertex_count * r->influence_count;
    r->joints = zeroed(size, sizeof *r->joints);
    r->weights = zeroed(size, sizeof *r->weights);
    for (uint32_t v = 0; v < out->vertex_count; v++) {
        size_t at = (size_t)v * r->influence_count;
        pelt_cooked_influences(out, v, r->influence_count, r->joints + at, r->weights + at);
    }
    size = (size_t)out->vertex_count * 3;
    r->morphs = zeroed(out->target_count, sizeof *r->morphs);
    r->deltas = zeroed(size * out->target_count, sizeof *r->deltas);
    for (uint32_t t = 0; t < out->target_count; t++) {
        r->morphs[t].positions = r->deltas + size * t;
        pelt_cooked_target_add(&out->targets[t], 0, 1.0F, r->deltas + size * t);
    }
    r->out = zeroed(size, sizeof *r->out);
}

static void make_bind_box(rig *r)
{
    const pelt_cooked_primitive *out = &r->packed.p.out;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
    double high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < (size_t)out->vertex_count * 3; i++) {
        double least = (double)out->positions[i];
        double most = least;
        for (uint32_t t = 0; t < out->target_count; t++) {
            double a = (double)r->morphs[t].positions[i] * (double)r->packed.options.morph_weight_min;
            double b = (double)r->morphs[t].positions[i] * (double)r->packed.options.morph_weight_max;
            least += fmin(0.0, fmin(a, b));
            most += fmax(0.0, fmax(a, b));
        }
        low[i % 3] = fmin(low[i % 3], least);
        high[i % 3] = fmax(high[i % 3], most);
    }
    for (int c = 0; c < 3; c++) {
        r->bind_box.min[c] = nextafterf((float)low[c], -INFINITY);
        r->bind_box.max[c] = nextafterf((float)high[c], INFINITY);
    }
}

static void rig_create(rig *r, peltt_random *random)
{
    memset(r, 0, sizeof *r);
    const peltt_asset_shape tree = {.node_count = 3 + peltt_random_below(random, 12),
                                    .skin_count = 1,
                                    .joint_count = 10,
                                    .root_share = 0.1,
                                    .chain_share = 0.6,
                                    .matrix_share = 0.1};
    r->asset = peltt_asset_random(&tree, random);
    assert_int_equal(pelt_pose_create(r->asset, NULL, &r->pose), PELT_OK);
    const pelt_skin *skin = &pelt_asset_get(r->asset)->skins[0];
    const float sizes[] = {1.0F, 1.0F, 100.0F, 1e-3F, 1e6F};
    const peltt_packed_shape shape = {.vertex_count = 200 + peltt_random_below(random, 200),
                                      .influence_count = 1 + peltt_random_below(random, 9),
                                      .joint_count = skin->joint_count,
                                      .target_count =
                                          peltt_random_chance(random, 0.4) ? peltt_random_below(random, 6) : 0,
                                      .size = sizes[peltt_random_below(random, 5)],
                                      .has_indices = true,
                                      .drop = peltt_random_chance(random, 0.3),
                                      .shuffle = true,
                                      .sort_classes = peltt_random_chance(random, 0.5),
                                      .list_joints = true};
    peltt_packed_init(&r->packed, &shape, random);
    r->packed.options.weights = peltt_random_chance(random, 0.5) ? PELT_WEIGHTS_SORTED : PELT_WEIGHTS_PLAIN;
    r->packed.options.morph_16bit = peltt_random_chance(random, 0.5);
    if (peltt_random_chance(random, 0.3)) {
        r->packed.options.morph_weight_min = peltt_random_float(random, -2.0F, 0.0F);
        r->packed.options.morph_weight_max = peltt_random_float(random, 0.1F, 2.0F);
    }
    assert_int_equal(peltt_packed_cook(&r->packed, NULL, peltt_random_next(random), NULL), PELT_OK);
    r->boxes = zeroed(skin->joint_count, sizeof *r->boxes);
    assert_int_equal(pelti_cook_joint_boxes(&r->packed.p, skin, r->boxes, NULL), PELT_OK);
    r->palette = zeroed(skin->joint_count, sizeof *r->palette);
    unpack_rig(r);
    make_bind_box(r);
}

static void rig_destroy(rig *r)
{
    pelt_pose_destroy(r->pose);
    pelt_asset_destroy(r->asset);
    peltt_packed_free(&r->packed);
    free(r->joints);
    free(r->weights);
    free(r->morphs);
    free(r->deltas);
    free(r->out);
    free(r->palette);
    free(r->boxes);
}

// Scales of both signs, zero among them; roots up to 10^7 away.
static void random_pose(rig *r, peltt_random *random)
{
    const pelt_asset_data *data = pelt_asset_get(r->asset);
    double far = peltt_random_chance(random, 0.3) ? exp(16.0 * peltt_random_unit(random)) : 1.0;
    for (uint32_t n = 0; n < data->node_count; n++) {
        if (!peltt_random_chance(random, 0.7)) {
            continue;
        }
        pelt_trs trs = peltt_random_trs(random);
        float *scale = &trs.scale.x;
        for (int c = 0; c < 3; c++) {
            double kind = peltt_random_unit(random);
            scale[c] = kind < 0.03  ? 0.0F
                       : kind < 0.1 ? peltt_random_float(random, -2.0F, 0.0F)
                       : kind < 0.6 ? 1.0F
                                    : peltt_random_float(random, 0.2F, 2.0F);
        }
        if (data->nodes[n].parent == PELT_NONE) {
            trs.translation.x = (float)(far * between(random, -1.0, 1.0));
            trs.translation.y = (float)(far * between(random, -1.0, 1.0));
        }
        assert_int_equal(pelt_pose_set_local(r->pose, n, &trs), PELT_OK);
    }
    assert_int_equal(pelt_pose_update(r->pose, NULL), PELT_OK);
    for (uint32_t t = 0; t < r->packed.shape.target_count; t++) {
        float low = r->packed.options.morph_weight_min;
        float high = r->packed.options.morph_weight_max;
        double kind = peltt_random_unit(random);
        r->morphs[t].weight = kind < 0.2 ? low : kind < 0.5 ? high : peltt_random_float(random, low, high);
    }
}

static pelt_joint_bounds_job bounds_job(const rig *r)
{
    return (pelt_joint_bounds_job){.pose = r->pose,
                                   .skin = 0,
                                   .joint_count = pelt_asset_get(r->asset)->skins[0].joint_count,
                                   .boxes = r->boxes,
                                   .bind_box = r->bind_box,
                                   .influence_count = r->influence_count,
                                   .target_count = r->packed.shape.target_count};
}

// Evaluates the pose; out_positions are in r->out.
static pelt_box evaluate(rig *r)
{
    const pelt_palette_item item = {r->pose, 0, 0, r->palette};
    assert_int_equal(pelt_palette_evaluate(&(pelt_palette_job){.item_count = 1, .items = &item}), PELT_OK);
    pelt_box box;
    const pelt_skin_job job = {.vertex_count = r->packed.p.out.vertex_count,
                               .palette_count = pelt_asset_get(r->asset)->skins[0].joint_count,
                               .palette = r->palette,
                               .influence_count = r->influence_count,
                               .joints = r->joints,
                               .weights = r->weights,
                               .positions = r->packed.p.out.positions,
                               .morph_count = r->packed.shape.target_count,
                               .morphs = r->morphs,
                               .out_positions = r->out,
                               .box = &box};
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    return box;
}

// Ten million vertices in random poses of random rigs.
static void no_vertex_ever_leaves_the_bounds(void **state)
{
    (void)state;
    peltt_random random = {51};
    uint64_t checked = 0;
    while (checked < 10000000) {
        rig r;
        rig_create(&r, &random);
        for (int pose = 0; pose < 100; pose++) {
            random_pose(&r, &random);
            pelt_joint_bounds_job job = bounds_job(&r);
            pelt_box bounds;
            assert_int_equal(pelt_joint_bounds(&job, &bounds), PELT_OK);
            pelt_box box = evaluate(&r);
            for (int c = 0; c < 3; c++) {
                if (!(bounds.min[c] <= box.min[c] && bounds.max[c] >= box.max[c])) {
                    fail_msg("axis %d: [%.9g, %.9g] is not in [%.9g, %.9g]", c, (double)box.min[c], (double)box.max[c],
                             (double)bounds.min[c], (double)bounds.max[c]);
                }
            }
            checked += r.packed.p.out.vertex_count;
        }
        rig_destroy(&r);
    }
}

// Where every vertex follows one joint without morphs, the box is the joint's box turned, but for rounding: with an
// unturned joint it is the exact one.
static void bounds_are_tight_where_they_can_be(void **state)
{
    (void)state;
    const float positions[6] = {-1, 2, 3, 4, -5, 6};
    const uint16_t joints[2] = {1, 1};
    const float weights[2] = {1, 1};
    peltt_packed packed = {.shape = {.vertex_count = 2, .influence_count = 1, .joint_count = 2},
                           .source = {.vertex_count = 2,
                                      .positions = positions,
                                      .influence_count = 1,
                                      .joints = joints,
                                      .weights = weights,
                                      .index_count = 2}};
    assert_int_equal(peltt_packed_cook(&packed, NULL, 1, NULL), PELT_OK);
    peltt_node nodes[2] = {{.parent = PELT_NONE, .rest = pelt_trs_identity()},
                           {.parent = 0, .rest = pelt_trs_identity()}};
    nodes[0].rest.translation = (pelt_vec3){1e5F, 0, 0}; // far away, and without vertices: must not count
    nodes[1].rest.translation = (pelt_vec3){-1e5F, 1, 0};
    nodes[1].rest.scale = (pelt_vec3){2, -1, 0};
    const uint32_t skin_joints[2] = {0, 1};
    const peltt_skin skin = {.joint_count = 2, .joints = skin_joints};
    pelt_asset *asset =
        peltt_asset_make(&(peltt_scene){.node_count = 2, .nodes = nodes, .skin_count = 1, .skins = &skin});
    pelt_pose *pose = NULL;
    assert_int_equal(pelt_pose_create(asset, NULL, &pose), PELT_OK);
    assert_int_equal(pelt_pose_update(pose, NULL), PELT_OK);
    pelt_box boxes[2];
    assert_int_equal(pelti_cook_joint_boxes(&packed.p, &pelt_asset_get(asset)->skins[0], boxes, NULL), PELT_OK);
    pelt_joint_bounds_job job = {
        .pose = pose, .joint_count = 2, .boxes = boxes, .bind_box = packed.p.out.box, .influence_count = 1};
    pelt_box box;
    assert_int_equal(pelt_joint_bounds(&job, &box), PELT_OK);
    const float want[6] = {-2, -1, 0, 8, 6, 0};
    const float *got = box.min;
    for (int i = 0; i < 6; i++) {
        double off = (double)want[i] - (double)(i < 3 ? got[i] : box.max[i - 3]);
        assert_true(i < 3 ? off >= 0.0 : off <= 0.0);
        assert_true(fabs(off) < 1e-5);
    }
    // Without counts the asset's own are used: at least four influences.
    pelt_box wider;
    job.influence_count = 0;
    assert_int_equal(pelt_joint_bounds(&job, &wider), PELT_OK);
    pelt_box both = pelt_box_union(&box, &wider);
    assert_memory_equal(&both, &wider, sizeof both);
    pelt_pose_destroy(pose);
    pelt_asset_destroy(asset);
    peltt_packed_free(&packed);
}

static void bounds_refuse_what_does_not_fit(void **state)
{
    (void)state;
    peltt_random random = {52};
    rig r;
    rig_create(&r, &random);
    assert_int_equal(pelt_pose_update(r.pose, NULL), PELT_OK);
    const pelt_joint_bounds_job good = bounds_job(&r);
    pelt_box box;
    assert_int_equal(pelt_joint_bounds(&good, &box), PELT_OK);
    assert_int_equal(pelt_joint_bounds(NULL, &box), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_joint_bounds(&good, NULL), PELT_ERROR_ARGUMENT);
    pelt_joint_bounds_job job = good;
    job.pose = NULL;
    assert_int_equal(pelt_joint_bounds(&job, &box), PELT_ERROR_ARGUMENT);
    job = good;
    job.skin = 1;
    assert_int_equal(pelt_joint_bounds(&job, &box), PELT_ERROR_ARGUMENT);
    job = good;
    job.joint_count++;
    assert_int_equal(pelt_joint_bounds(&job, &box), PELT_ERROR_ARGUMENT);
    job = good;
    job.boxes = NULL;
    assert_int_equal(pelt_joint_bounds(&job, &box), PELT_ERROR_ARGUMENT);
    for (uint32_t j = 0; j < good.joint_count; j++) {
        r.boxes[j] = pelt_box_empty();
    }
    assert_int_equal(pelt_joint_bounds(&good, &box), PELT_OK);
    assert_true(box.min[0] == INFINITY && box.max[2] == -INFINITY);
    rig_destroy(&r);
}

// Beyond what floats hold, every position is possible, and the box says so.
static void bounds_open_up_where_floats_overflow(void **state)
{
    (void)state;
    peltt_random random = {53};
    for (int i = 0; i < 20; i++) {
        rig r;
        rig_create(&r, &random);
        for (uint32_t n = 0; n < pelt_asset_get(r.asset)->node_count; n++) {
            pelt_trs trs = peltt_random_trs(&random);
            trs.scale = (pelt_vec3){1e20F, 1e20F, 1e20F};
            trs.translation.x = 3e38F;
            assert_int_equal(pelt_pose_set_local(r.pose, n, &trs), PELT_OK);
        }
        assert_int_equal(pelt_pose_update(r.pose, NULL), PELT_OK);
        pelt_joint_bounds_job job = bounds_job(&r);
        pelt_box bounds;
        assert_int_equal(pelt_joint_bounds(&job, &bounds), PELT_OK);
        pelt_box box = evaluate(&r);
        for (int c = 0; c < 3; c++) {
            assert_true(bounds.min[c] <= box.min[c] && bounds.max[c] >= box.max[c]);
        }
        rig_destroy(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_are_the_smallest_around_their_vertices),
        cmocka_unit_test(a_remainder_of_plain_weights_counts),
        cmocka_unit_test(no_vertex_ever_leaves_the_bounds),
        cmocka_unit_test(bounds_are_tight_where_they_can_be),
        cmocka_unit_test(bounds_refuse_what_does_not_fit),
        cmocka_unit_test(bounds_open_up_where_floats_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

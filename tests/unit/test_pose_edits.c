// SPDX-License-Identifier: MIT
// 100,000 random edit sequences: a pose that is updated bit by bit against a fresh pose that computes everything, and
// its change flags against a model kept here.
#include "peltt_asset.h"

#include <pelt/pose.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    ASSET_COUNT = 200,
    SEQUENCE_COUNT = 500, // per asset
    NODE_LIMIT = 70,
    WEIGHT_LIMIT = 3 * NODE_LIMIT,
    CLIP_COUNT = 3
};

// What the pose under test should hold and report, by the words of pose.h.
typedef struct model {
    const pelt_asset *asset;
    const pelt_asset_data *data;
    peltt_random *random;
    pelt_trs transforms[NODE_LIMIT];
    uint8_t is_matrix[NODE_LIMIT];
    pelt_mat34 matrices[NODE_LIMIT];
    float weights[WEIGHT_LIMIT];
    uint8_t dirty[NODE_LIMIT];
    uint8_t weights_dirty[NODE_LIMIT];
} model;

static void model_start(model *m, const pelt_asset *asset, peltt_random *random)
{
    *m = (model){.asset = asset, .data = pelt_asset_get(asset), .random = random};
    for (uint32_t i = 0; i < m->data->node_count; i++) {
        m->transforms[i] = m->data->nodes[i].rest;
        m->is_matrix[i] = m->data->nodes[i].has_matrix;
        m->matrices[i] = m->data->nodes[i].local_matrix;
        m->dirty[i] = 1;
        m->weights_dirty[i] = m->data->nodes[i].weight_count > 0;
    }
    memcpy(m->weights, m->data->rest_weights, m->data->rest_weight_count * sizeof(float));
}

static pelt_locals model_locals(model *m)
{
    return (pelt_locals){m->transforms, m->dirty, m->is_matrix, m->weights, m->weights_dirty};
}

static void model_set_local(model *m, uint32_t node, const pelt_trs *local)
{
    if (m->is_matrix[node] || memcmp(&m->transforms[node], local, sizeof *local) != 0) {
        m->dirty[node] = 1;
    }
    m->is_matrix[node] = 0;
    m->transforms[node] = *local;
}

static void model_set_matrix(model *m, uint32_t node, const pelt_mat34 *local)
{
    if (!m->is_matrix[node] || memcmp(&m->matrices[node], local, sizeof *local) != 0) {
        m->dirty[node] = 1;
    }
    m->is_matrix[node] = 1;
    m->matrices[node] = *local;
}

static void model_set_weights(model *m, uint32_t node, const float *weights)
{
    float *now = m->weights + m->data->nodes[node].first_weight;
    size_t size = m->data->nodes[node].weight_count * sizeof(float);
    if (memcmp(now, weights, size) != 0) {
        m->weights_dirty[node] = 1;
    }
    memcpy(now, weights, size);
}

static void model_reset(model *m)
{
    for (uint32_t i = 0; i < m->data->node_count; i++) {
        const pelt_node *node = &m->data->nodes[i];
        if (node->has_matrix) {
            model_set_matrix(m, i, &node->local_matrix);
            m->transforms[i] = node->rest;
        } else {
            model_set_local(m, i, &node->rest);
        }
        model_set_weights(m, i, m->data->rest_weights + node->first_weight);
    }
}

// A value that a node may have already, so that repeated values come up often.
static pelt_trs some_transform(model *m, uint32_t node)
{
    switch (peltt_random_below(m->random, 4)) {
    case 0:
        return m->transforms[node];
    case 1:
        return m->data->nodes[node].rest;
    default: {
        pelt_trs trs = peltt_random_trs(m->random);
        float length = peltt_random_float(m->random, 0.1F, 3.0F);
        trs.rotation.x *= length;
        trs.rotation.y *= length;
        trs.rotation.z *= length;
        trs.rotation.w *= length;
        return trs;
    }
    }
}

static void edit_weights(model *m, pelt_pose *pose, uint32_t node)
{
    float weights[3];
    uint32_t count = m->data->nodes[node].weight_count;
    for (uint32_t i = 0; i < count; i++) {
        weights[i] = (float)peltt_random_below(m->random, 3) - 1.0F;
    }
    assert_int_equal(pelt_pose_set_weights(pose, node, weights, count), PELT_OK);
    model_set_weights(m, node, weights);
}

static void edit_all(model *m, pelt_pose *pose)
{
    pelt_trs locals[NODE_LIMIT];
    double share = peltt_random_unit(m->random);
    for (uint32_t i = 0; i < m->data->node_count; i++) {
        locals[i] = peltt_random_chance(m->random, share) ? some_transform(m, i) : m->transforms[i];
    }
    assert_int_equal(pelt_pose_set_locals(pose, locals), PELT_OK);
    for (uint32_t i = 0; i < m->data->node_count; i++) {
        model_set_local(m, i, &locals[i]);
    }
}

static void edit(model *m, pelt_pose *pose)
{
    uint32_t node = peltt_random_below(m->random, m->data->node_count);
    pelt_locals locals = model_locals(m);
    pelt_clip_time a = {peltt_random_below(m->random, CLIP_COUNT), peltt_random_below(m->random, 8) * 0.25};
    pelt_clip_time b = {peltt_random_below(m->random, CLIP_COUNT), peltt_random_unit(m->random) * 2.0};
    uint32_t choice = peltt_random_below(m->random, 40);
    if (choice < 18) {
        pelt_trs local = some_transform(m, node);
        assert_int_equal(pelt_pose_set_local(pose, node, &local), PELT_OK);
        model_set_local(m, node, &local);
    } else if (choice < 26) {
        pelt_mat34 local = peltt_random_chance(m->random, 0.5) ? peltt_random_matrix(m->random) : m->matrices[node];
        assert_int_equal(pelt_pose_set_local_matrix(pose, node, &local), PELT_OK);
        model_set_matrix(m, node, &local);
    } else if (choice < 32) {
        edit_weights(m, pose, node);
    } else if (choice < 35) {
        assert_int_equal(pelt_clip_sample(m->asset, a.clip, a.time, pelt_pose_locals(pose)), PELT_OK);
        assert_int_equal(pelt_clip_sample(m->asset, a.clip, a.time, &locals), PELT_OK);
    } else if (choice < 38) {
        double weight = peltt_random_unit(m->random);
        assert_int_equal(pelt_clip_blend(m->asset, a, b, weight, pelt_pose_locals(pose)), PELT_OK);
        assert_int_equal(pelt_clip_blend(m->asset, a, b, weight, &locals), PELT_OK);
    } else if (choice < 39) {
        edit_all(m, pose);
    } else {
        pelt_pose_reset(pose);
        model_reset(m);
    }
}

// World matrices of a pose that has never been updated before, bit for bit, and locals and weights as they were set.
static void expect_fresh_pose(model *m, const pelt_pose *pose)
{
    pelt_pose *fresh = NULL;
    pelt_pose_update_info info;
    assert_int_equal(pelt_pose_create(m->asset, NULL, &fresh), PELT_OK);
    for (uint32_t i = 0; i < m->data->node_count; i++) {
        const pelt_node *node = &m->data->nodes[i];
        if (m->is_matrix[i]) {
            assert_int_equal(pelt_pose_set_local_matrix(fresh, i, &m->matrices[i]), PELT_OK);
        } else {
            assert_int_equal(pelt_pose_set_local(fresh, i, &m->transforms[i]), PELT_OK);
        }
        assert_int_equal(pelt_pose_set_weights(fresh, i, m->weights + node->first_weight, node->weight_count), PELT_OK);
    }
    assert_int_equal(pelt_pose_update(fresh, &info), PELT_OK);
    assert_int_equal(info.updated_node_count, m->data->node_count);
    assert_true(info.full_pass);
    for (uint32_t i = 0; i < m->data->node_count; i++) {
        const pelt_node *node = &m->data->nodes[i];
        pelt_mat34 local = pelt_pose_local(pose, i);
        pelt_mat34 fresh_local = pelt_pose_local(fresh, i);
        assert_memory_equal(pelt_pose_world_double(pose, i), pelt_pose_world_double(fresh, i), 12 * sizeof(double));
        assert_memory_equal(&local, &fresh_local, sizeof local);
        assert_memory_equal(pelt_pose_weights(pose, i), m->weights + node->first_weight,
                            node->weight_count * sizeof(float));
    }
    pelt_pose_destroy(fresh);
}

// Exactly the nodes that were set, and their descendants; exactly the skins with such a joint.
static void expect_changes(model *m, const pelt_pose *pose, const pelt_pose_update_info *info)
{
    uint32_t changed_count = 0;
    uint32_t weights_count = 0;
    uint32_t skin_count = 0;
    for (uint32_t i = 0; i < m->data->node_count; i++) {
        bool changed = false;
        for (uint32_t k = i; k != PELT_NONE && !changed; k = m->data->nodes[k].parent) {
            changed = m->dirty[k] != 0;
        }
        assert_int_equal(pelt_pose_node_changed(pose, i), changed);
        assert_int_equal(pelt_pose_weights_changed(pose, i), m->weights_dirty[i]);
        changed_count += changed ? 1 : 0;
        weights_count += m->weights_dirty[i];
    }
    for (uint32_t i = 0; i < m->data->skin_count; i++) {
        bool changed = false;
        for (uint32_t k = 0; k < m->data->skins[i].joint_count; k++) {
            changed = changed || pelt_pose_node_changed(pose, m->data->skins[i].joints[k]);
        }
        assert_int_equal(pelt_pose_skin_changed(pose, i), changed);
        skin_count += changed ? 1 : 0;
    }
    bool most = 2 * changed_count > m->data->node_count;
    assert_int_equal(info->full_pass, most);
    assert_int_equal(info->updated_node_count, most ? m->data->node_count : changed_count);
    assert_int_equal(info->changed_skin_count, skin_count);
    assert_int_equal(info->changed_weight_count, weights_count);
    memset(m->dirty, 0, sizeof m->dirty);
    memset(m->weights_dirty, 0, sizeof m->weights_dirty);
}

static void random_edits_equal_a_full_recompute(void **state)
{
    (void)state;
    peltt_random random = {20};
    for (uint32_t round = 0; round < ASSET_COUNT; round++) {
        peltt_asset_shape shape = {.node_count = 1 + peltt_random_below(&random, round % 4 == 0 ? NODE_LIMIT : 20),
                                   .skin_count = peltt_random_below(&random, 5),
                                   .joint_count = 12,
                                   .clip_count = CLIP_COUNT,
                                   .target_count = round % 4,
                                   .root_share = 0.3 * peltt_random_unit(&random),
                                   .chain_share = peltt_random_unit(&random),
                                   .matrix_share = 0.4 * peltt_random_unit(&random),
                                   .morph_share = 0.5 * peltt_random_unit(&random)};
        pelt_asset *asset = peltt_asset_random(&shape, &random);
        pelt_pose *pose = NULL;
        assert_int_equal(pelt_pose_create(asset, NULL, &pose), PELT_OK);
        model m;
        model_start(&m, asset, &random);
        for (uint32_t i = 0; i < SEQUENCE_COUNT; i++) {
            pelt_pose_update_info info;
            uint32_t edit_count = peltt_random_below(&random, 5);
            for (uint32_t k = 0; k < edit_count; k++) {
                edit(&m, pose);
            }
            assert_int_equal(pelt_pose_update(pose, &info), PELT_OK);
            expect_fresh_pose(&m, pose);
            expect_changes(&m, pose, &info);
        }
        pelt_pose_destroy(pose);
        pelt_asset_destroy(asset);
    }
}

// parent_from_node of a TRS in double, by the textbook formula for a unit quaternion.
static void reference_local(const pelt_trs *trs, double out[12])
{
    double x = (double)trs->rotation.x;
    double y = (double)trs->rotation.y;
    double z = (double)trs->rotation.z;
    double w = (double)trs->rotation.w;
    double length = sqrt(x * x + y * y + z * z + w * w);
    x /= length;
    y /= length;
    z /= length;
    w /= length;
    const double rotation[9] = {
        w * w + x * x - y * y - z * z, 2 * x * y - 2 * w * z,         2 * x * z + 2 * w * y,
        2 * x * y + 2 * w * z,         w * w - x * x + y * y - z * z, 2 * y * z - 2 * w * x,
        2 * x * z - 2 * w * y,         2 * y * z + 2 * w * x,         w * w - x * x - y * y + z * z};
    const double scale[3] = {(double)trs->scale.x, (double)trs->scale.y, (double)trs->scale.z};
    const double translation[3] = {(double)trs->translation.x, (double)trs->translation.y, (double)trs->translation.z};
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            out[4 * i + k] = rotation[3 * i + k] * scale[k];
        }
        out[4 * i + 3] = translation[i];
    }
}

static void worlds_agree_with_a_reference_in_double(void **state)
{
    (void)state;
    const peltt_asset_shape shape = {
        .node_count = NODE_LIMIT, .root_share = 0.05, .chain_share = 0.5, .matrix_share = 0.2};
    peltt_random random = {21};
    for (uint32_t round = 0; round < 500; round++) {
        pelt_asset *asset = peltt_asset_random(&shape, &random);
        const pelt_asset_data *data = pelt_asset_get(asset);
        pelt_pose *pose = NULL;
        assert_int_equal(pelt_pose_create(asset, NULL, &pose), PELT_OK);
        assert_int_equal(pelt_pose_update(pose, NULL), PELT_OK);
        double worlds[NODE_LIMIT][12];
        for (uint32_t i = 0; i < data->node_count; i++) {
            double local[12];
            const pelt_node *node = &data->nodes[i];
            reference_local(&node->rest, local);
            for (uint32_t k = 0; k < 12 && node->has_matrix; k++) {
                local[k] = (double)node->local_matrix.m[k / 4][k % 4];
            }
            double largest = 1.0;
            for (uint32_t k = 0; k < 12; k++) {
                double sum = k % 4 == 3 && node->parent != PELT_NONE ? worlds[node->parent][k] : 0.0;
                for (uint32_t j = 0; j < 3 && node->parent != PELT_NONE; j++) {
                    sum += worlds[node->parent][k / 4 * 4 + j] * local[4 * j + k % 4];
                }
                worlds[i][k] = node->parent == PELT_NONE ? local[k] : sum;
                largest = fmax(largest, fabs(worlds[i][k]));
            }
            for (uint32_t k = 0; k < 12; k++) {
                assert_true(fabs(pelt_pose_world_double(pose, i)[k] - worlds[i][k]) <= 1e-12 * largest);
            }
        }
        pelt_pose_destroy(pose);
        pelt_asset_destroy(asset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worlds_agree_with_a_reference_in_double),
        cmocka_unit_test(random_edits_equal_a_full_recompute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

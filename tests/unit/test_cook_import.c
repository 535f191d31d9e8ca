// SPDX-License-Identifier: MIT
// pelt_cooked_import: nodes, skins and clips come back bit for bit, meshes in cooked order with what the packed values
// decode to, and the result poses to where the source does, within what packing the weights moved.
#include "peltt_alloc.h"
#include "peltt_model.h"
#include "peltt_pelt.h"
#include "peltt_warnings.h"

#include <pelt/palette.h>
#include <pelt/skin.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const peltt_model_shape shape = {40, 5, 2, 300, 60, 2, 5, 4};

// A model, what was cooked of it, and what came out of that.
typedef struct round_trip {
    pelt_asset *source;
    pelt_asset *imported;
    peltt_pelt file;
    pelt_cooked *cooked;
} round_trip;

static round_trip make_round_trip(const peltt_model_shape *of, uint64_t seed, const pelt_cook_options *options)
{
    round_trip r = {.source = peltt_model_make(of, seed, NULL)};
    pelt_error error;
    r.file = peltt_pelt_cook(r.source, options);
    assert_int_equal(pelt_cooked_open_memory(r.file.data, r.file.size, NULL, &r.cooked, &error), PELT_OK);
    if (pelt_cooked_import(r.cooked, &r.imported, &error) != PELT_OK) {
        fail_msg("%s: %s", error.where, error.message);
    }
    return r;
}

static void end_round_trip(round_trip *r)
{
    pelt_cooked_close(r->cooked);
    peltt_pelt_free(&r->file);
    pelt_asset_destroy(r->imported);
    pelt_asset_destroy(r->source);
}

static void nodes_come_back_bit_for_bit(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        round_trip r = make_round_trip(&shape, seed, NULL);
        const pelt_asset_data *a = pelt_asset_get(r.source);
        const pelt_asset_data *b = pelt_asset_get(r.imported);
        assert_int_equal(a->node_count, b->node_count);
        assert_memory_equal(a->node_from_file, b->node_from_file, a->node_count * sizeof(uint32_t));
        for (uint32_t i = 0; i < a->node_count; i++) {
            const pelt_node *x = &a->nodes[i];
            const pelt_node *y = &b->nodes[i];
            assert_string_equal(x->name, y->name);
            assert_int_equal(x->file_index, y->file_index);
            assert_int_equal(x->parent, y->parent);
            assert_int_equal(x->subtree_end, y->subtree_end);
            assert_int_equal(x->mesh, y->mesh);
            assert_int_equal(x->skin, y->skin);
            assert_int_equal(x->first_weight, y->first_weight);
            assert_int_equal(x->weight_count, y->weight_count);
            assert_int_equal(x->in_scene, y->in_scene);
            assert_int_equal(x->has_matrix, y->has_matrix);
            assert_memory_equal(&x->rest, &y->rest, sizeof x->rest);
            assert_memory_equal(&x->local_matrix, &y->local_matrix, sizeof x->local_matrix);
        }
        assert_int_equal(a->rest_weight_count, b->rest_weight_count);
        assert_memory_equal(a->rest_weights, b->rest_weights, a->rest_weight_count * sizeof(float));
        assert_int_equal(a->instance_count, b->instance_count);
        assert_memory_equal(a->instances, b->instances, a->instance_count * sizeof *a->instances);
        end_round_trip(&r);
    }
}

static void skins_and_meshes_come_back(void **state)
{
    (void)state;
    round_trip r = make_round_trip(&shape, 3, NULL);
    const pelt_asset_data *a = pelt_asset_get(r.source);
    const pelt_asset_data *b = pelt_asset_get(r.imported);
    assert_int_equal(a->skin_count, b->skin_count);
    for (uint32_t i = 0; i < a->skin_count; i++) {
        const pelt_skin *x = &a->skins[i];
        const pelt_skin *y = &b->skins[i];
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->joint_count, y->joint_count);
        assert_memory_equal(x->joints, y->joints, x->joint_count * sizeof(uint32_t));
        assert_memory_equal(x->inverse_binds, y->inverse_binds, x->joint_count * sizeof(pelt_mat34));
        assert_int_equal(x->has_inverse_binds, y->has_inverse_binds);
        assert_int_equal(x->skeleton, y->skeleton);
    }
    assert_int_equal(a->mesh_count, b->mesh_count);
    for (uint32_t i = 0; i < a->mesh_count; i++) {
        const pelt_mesh *x = &a->meshes[i];
        const pelt_mesh *y = &b->meshes[i];
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->primitive_count, y->primitive_count);
        assert_int_equal(x->target_count, y->target_count);
        assert_memory_equal(x->weights, y->weights, x->target_count * sizeof(float));
        for (uint32_t t = 0; t < x->target_count; t++) {
            assert_string_equal(x->target_names[t], y->target_names[t]);
        }
    }
    end_round_trip(&r);
}

static void clips_come_back_bit_for_bit(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        round_trip r = make_round_trip(&shape, seed, NULL);
        const pelt_asset_data *a = pelt_asset_get(r.source);
        const pelt_asset_data *b = pelt_asset_get(r.imported);
        assert_int_equal(a->clip_count, b->clip_count);
        for (uint32_t i = 0; i < a->clip_count; i++) {
            const pelt_clip *x = &a->clips[i];
            const pelt_clip *y = &b->clips[i];
            assert_string_equal(x->name, y->name);
            assert_true(x->duration == y->duration);
            assert_int_equal(x->sampler_count, y->sampler_count);
            assert_int_equal(x->channel_count, y->channel_count);
            assert_memory_equal(x->channels, y->channels, x->channel_count * sizeof *x->channels);
            for (uint32_t s = 0; s < x->sampler_count; s++) {
                const pelt_sampler *p = &x->samplers[s];
                const pelt_sampler *q = &y->samplers[s];
                size_t floats = (size_t)p->key_count * p->value_count *
                                (p->interpolation == PELT_INTERPOLATION_CUBICSPLINE ? 3 : 1);
                assert_int_equal(p->interpolation, q->interpolation);
                assert_int_equal(p->file_index, q->file_index);
                assert_int_equal(p->key_count, q->key_count);
                assert_int_equal(p->value_count, q->value_count);
                assert_memory_equal(p->times, q->times, p->key_count * sizeof(float));
                assert_memory_equal(p->values, q->values, floats * sizeof(float));
            }
        }
        end_round_trip(&r);
    }
}

// An array that samplers of the source share is in the file once, and once in the imported asset.
static void shared_keys_stay_shared(void **state)
{
    (void)state;
    round_trip r = make_round_trip(&shape, 2, NULL);
    const pelt_asset_data *a = pelt_asset_get(r.source);
    const pelt_asset_data *b = pelt_asset_get(r.imported);
    uint32_t shared = 0;
    uint64_t distinct = 0;
    for (uint32_t i = 0; i < a->clip_count; i++) {
        const pelt_sampler *x = a->clips[i].samplers;
        const pelt_sampler *y = b->clips[i].samplers;
        for (uint32_t s = 0; s < a->clips[i].sampler_count; s++) {
            bool seen = false;
            for (uint32_t k = 0; k < s; k++) {
                assert_int_equal(x[s].times == x[k].times, y[s].times == y[k].times);
                seen |= x[s].times == x[k].times;
            }
            shared += seen ? 1 : 0;
            distinct += seen ? 1 : 2; // its times, and its values, which the model never shares
        }
    }
    assert_true(shared > 10);
    assert_int_equal(peltt_pelt_get(&r.file, peltt_pelt_find(&r.file, "KEYA", 0, 0)).count, distinct);
    end_round_trip(&r);
}

static void check_mesh_data(const pelt_cooked_primitive *p, const pelt_primitive *got)
{
    assert_int_equal(got->vertex_count, p->vertex_count);
    assert_int_equal(got->topology, p->topology);
    assert_int_equal(got->material, p->material);
    assert_int_equal(got->index_count, p->index_count);
    assert_int_equal(got->has_declared_box, p->has_declared_box);
    assert_int_equal(got->attribute_count, p->attribute_count);
    assert_int_equal(got->indices != NULL, p->index_size > 0);
    assert_int_equal(got->normals != NULL, p->normals != NULL);
    assert_int_equal(got->tangents != NULL, p->tangents != NULL);
    assert_int_equal(got->influence_count > 0, p->weights != NULL);
    if (p->vertex_count > 0) {
        assert_memory_equal(got->positions, p->positions, p->vertex_count * 3 * sizeof(float));
    }
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        float expected[4];
        if (p->normals) {
            pelt_normal_decode(p->normals[v], expected);
            assert_memory_equal(got->normals + 3 * (size_t)v, expected, 3 * sizeof(float));
        }
        if (p->tangents) {
            pelt_tangent_decode(p->tangents[v], expected);
            assert_memory_equal(got->tangents + 4 * (size_t)v, expected, 4 * sizeof(float));
        }
    }
    for (uint32_t i = 0; i < p->attribute_count; i++) {
        assert_string_equal(got->attributes[i].name, p->attributes[i].name);
        assert_int_equal(got->attributes[i].stride, p->attributes[i].stride);
        assert_memory_equal(got->attributes[i].data, p->attributes[i].data,
                            (size_t)p->vertex_count * p->attributes[i].stride);
    }
}

// Falling weights that sum to one, used ones first, then joint 0 with weight 0; none is lost or listed twice.
static void check_influences(const pelt_cooked_primitive *p, const pelt_primitive *got)
{
    uint32_t width = got->influence_count;
    for (uint32_t v = 0; width > 0 && v < p->vertex_count; v++) {
        uint16_t joints[16];
        float weights[16];
        uint32_t count = pelt_cooked_influences(p, v, 16, joints, weights);
        const float *w = got->weights + (size_t)v * width;
        const uint16_t *j = got->joints + (size_t)v * width;
        double sum = 0.0;
        assert_in_range(count, 1, width);
        for (uint32_t i = 0; i < width; i++) {
            assert_true(i < count ? w[i] > 0.0F : w[i] == 0.0F && j[i] == 0);
            assert_true(i == 0 || w[i] <= w[i - 1]);
            assert_true(j[i] < got->joint_bound);
            sum += (double)w[i];
            bool found = i >= count;
            for (uint32_t k = 0; k < count; k++) {
                found |= joints[k] == j[i] && weights[k] == w[i];
            }
            assert_true(found);
        }
        assert_true(fabs(sum - 1.0) < 1e-6);
    }
    assert_int_equal(got->influences.worst_sum_vertex, PELT_NONE);
    assert_int_equal(got->influences.normalized_count, 0);
    assert_int_equal(got->influences.set_count, (width + 3) / 4);
}

static void meshes_hold_what_the_packed_values_decode_to(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        pelt_cook_options options = {.weights = (pelt_weight_encoding)(seed % 2), .keep_order = seed % 3 == 0};
        round_trip r = make_round_trip(&shape, seed, &options);
        const pelt_cooked_data *cooked = pelt_cooked_get(r.cooked);
        for (uint32_t i = 0; i < cooked->primitive_count; i++) {
            const pelt_cooked_primitive *p = &cooked->primitives[i];
            const pelt_primitive *got = &pelt_asset_get(r.imported)->meshes[p->mesh].primitives[p->primitive];
            check_mesh_data(p, got);
            check_influences(p, got);
        }
        end_round_trip(&r);
    }
}

static float *skin_at(const pelt_asset *asset, const pelt_instance *instance, uint32_t primitive, const pelt_pose *pose,
                      const pelt_mat34 *palette, uint32_t palette_count)
{
    const pelt_mesh *mesh = &pelt_asset_get(asset)->meshes[instance->mesh];
    const pelt_primitive *p = &mesh->primitives[primitive];
    pelt_skin_morph morphs[8];
    assert_true(mesh->target_count <= 8);
    for (uint32_t t = 0; t < mesh->target_count; t++) {
        morphs[t] = (pelt_skin_morph){pelt_pose_weights(pose, instance->node)[t], p->targets[t].positions, NULL, NULL};
    }
    float *out = malloc(((size_t)p->vertex_count * 3 + 1) * sizeof *out);
    assert_non_null(out);
    pelt_skin_job job = {.vertex_count = p->vertex_count,
                         .palette_count = palette_count,
                         .palette = palette,
                         .influence_count = instance->skin == PELT_NONE ? 0 : p->influence_count,
                         .joints = p->joints,
                         .weights = p->weights,
                         .positions = p->positions,
                         .morph_count = mesh->target_count,
                         .morphs = morphs,
                         .out_positions = out};
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    return out;
}

// Largest |M v| over the joints of a vertex: how far a weight that is off by one would throw it.
static double reach_of(const pelt_mat34 *palette, uint32_t count, const float *position)
{
    double most = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        double square = 0.0;
        for (int k = 0; k < 3; k++) {
            double bound = fabs((double)palette[i].m[k][3]);
            for (int c = 0; c < 3; c++) {
                bound += fabs((double)palette[i].m[k][c]) * (fabs((double)position[c]) + 2.0);
            }
            square += bound * bound;
        }
        most = square > most ? square : most;
    }
    return sqrt(most);
}

typedef struct posed_pair {
    pelt_pose *source;
    pelt_pose *imported;
    pelt_mat34 palette[64];
    pelt_mat34 imported_palette[64];
} posed_pair;

static void compare_instance(const round_trip *r, posed_pair *pair, uint32_t index)
{
    const pelt_asset_data *data = pelt_asset_get(r->source);
    const pelt_instance *instance = &data->instances[index];
    uint32_t count = instance->skin == PELT_NONE ? 1 : data->skins[instance->skin].joint_count;
    pelt_palette_item items[2] = {{pair->source, instance->skin, instance->node, pair->palette},
                                  {pair->imported, instance->skin, instance->node, pair->imported_palette}};
    assert_int_equal(pelt_palette_evaluate(&(pelt_palette_job){.item_count = 2, .items = items}), PELT_OK);
    assert_memory_equal(pair->palette, pair->imported_palette, count * sizeof(pelt_mat34));
    const pelt_cooked_data *cooked = pelt_cooked_get(r->cooked);
    for (uint32_t i = 0; i < cooked->primitive_count; i++) {
        const pelt_cooked_primitive *p = &cooked->primitives[i];
        if (p->mesh != instance->mesh) {
            continue;
        }
        float *a = skin_at(r->source, instance, p->primitive, pair->source, pair->palette, count);
        float *b = skin_at(r->imported, instance, p->primitive, pair->imported, pair->palette, count);
        // Stored weights are off by up to 2^-12 and the implied one by 2^-11, the extra ones by about 2^-16 each.
        double weight_error = instance->skin == PELT_NONE ? 0.0 : 3.0 / 4096.0 + 1.0 / 2048.0 + 8.0 / 65536.0;
        for (uint32_t v = 0; v < p->vertex_count; v++) {
            const float *from = a + (size_t)p->source_vertices[v] * 3;
            const float *to = b + (size_t)v * 3;
            double reach = reach_of(pair->palette, count, p->positions + (size_t)v * 3);
            for (int k = 0; k < 3; k++) {
                assert_true(fabs((double)from[k] - (double)to[k]) <= reach * (weight_error + 1e-6));
            }
        }
        free(a);
        free(b);
    }
}

static void imported_models_pose_where_the_source_does(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        round_trip r = make_round_trip(&shape, seed, NULL);
        const pelt_asset_data *data = pelt_asset_get(r.source);
        posed_pair pair = {0};
        assert_int_equal(pelt_pose_create(r.source, NULL, &pair.source), PELT_OK);
        assert_int_equal(pelt_pose_create(r.imported, NULL, &pair.imported), PELT_OK);
        for (uint32_t clip = 0; clip < data->clip_count; clip++) {
            double time = (double)data->clips[clip].duration * 0.4;
            assert_int_equal(pelt_clip_sample(r.source, clip, time, pelt_pose_locals(pair.source)), PELT_OK);
            assert_int_equal(pelt_clip_sample(r.imported, clip, time, pelt_pose_locals(pair.imported)), PELT_OK);
            assert_int_equal(pelt_pose_update(pair.source, NULL), PELT_OK);
            assert_int_equal(pelt_pose_update(pair.imported, NULL), PELT_OK);
            for (uint32_t i = 0; i < data->instance_count; i++) {
                compare_instance(&r, &pair, i);
            }
        }
        pelt_pose_destroy(pair.source);
        pelt_pose_destroy(pair.imported);
        end_round_trip(&r);
    }
}

static void assets_outlive_the_file(void **state)
{
    (void)state;
    peltt_alloc memory = {0};
    round_trip r = make_round_trip(&shape, 5, NULL);
    pelt_cooked_options options = {.allocator = peltt_alloc_make(&memory)};
    pelt_cooked *cooked = NULL;
    pelt_asset *asset = NULL;
    assert_int_equal(pelt_cooked_open_memory(r.file.data, r.file.size, &options, &cooked, NULL), PELT_OK);
    assert_int_equal(pelt_cooked_import(cooked, &asset, NULL), PELT_OK);
    pelt_cooked_close(cooked);
    memset(r.file.data, 0xCD, (size_t)r.file.size);
    // What was imported before from the same bytes is the same all through.
    const pelt_asset_data *a = pelt_asset_get(r.imported);
    const pelt_asset_data *b = pelt_asset_get(asset);
    assert_int_equal(a->mesh_count, b->mesh_count);
    for (uint32_t m = 0; m < a->mesh_count; m++) {
        assert_string_equal(a->meshes[m].name, b->meshes[m].name);
        for (uint32_t k = 0; k < a->meshes[m].primitive_count; k++) {
            const pelt_primitive *x = &a->meshes[m].primitives[k];
            const pelt_primitive *y = &b->meshes[m].primitives[k];
            assert_memory_equal(x->positions, y->positions, x->vertex_count * 3 * sizeof(float));
            for (uint32_t i = 0; i < x->attribute_count; i++) {
                assert_string_equal(x->attributes[i].name, y->attributes[i].name);
            }
        }
    }
    pelt_asset_destroy(asset);
    assert_int_equal(memory.live_blocks, 0);
    end_round_trip(&r);
}

// Weights that come out of a file are multiples of its steps, so a second cooking moves nothing any more.
static void a_second_cooking_moves_nothing(void **state)
{
    (void)state;
    const peltt_model_shape four = {40, 5, 2, 300, 60, 1, 5, 2};
    round_trip r = make_round_trip(&four, 6, NULL);
    pelt_cook_options options = {.keep_order = true};
    void *data = NULL;
    uint64_t size = 0;
    pelt_cooked *again = NULL;
    assert_int_equal(pelt_cook(r.imported, &options, &data, &size, NULL, NULL), PELT_OK);
    assert_int_equal(pelt_cooked_open_memory(data, size, NULL, &again, NULL), PELT_OK);
    const pelt_cooked_data *first = pelt_cooked_get(r.cooked);
    const pelt_cooked_data *second = pelt_cooked_get(again);
    assert_int_equal(first->primitive_count, second->primitive_count);
    for (uint32_t i = 0; i < first->primitive_count; i++) {
        const pelt_cooked_primitive *x = &first->primitives[i];
        const pelt_cooked_primitive *y = &second->primitives[i];
        assert_int_equal(x->vertex_count, y->vertex_count);
        for (uint32_t v = 0; v < x->vertex_count; v++) {
            assert_int_equal(y->source_vertices[v], v);
            if (x->normals) {
                float a[3];
                float b[3];
                pelt_normal_decode(x->normals[v], a);
                pelt_normal_decode(y->normals[v], b);
                assert_true(fabsf(a[0] - b[0]) + fabsf(a[1] - b[1]) + fabsf(a[2] - b[2]) < 1e-6F);
            }
            uint16_t joints[2][4];
            float weights[2][4];
            if (!x->weights) {
                continue;
            }
            uint32_t count = pelt_cooked_influences(x, v, 4, joints[0], weights[0]);
            assert_int_equal(pelt_cooked_influences(y, v, 4, joints[1], weights[1]), count);
            for (uint32_t k = 0; k < count; k++) {
                assert_true(weights[0][k] == weights[1][k]);
            }
        }
    }
    pelt_cooked_close(again);
    pelt_cook_release(&options, data, size);
    end_round_trip(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_come_back_bit_for_bit),
        cmocka_unit_test(skins_and_meshes_come_back),
        cmocka_unit_test(clips_come_back_bit_for_bit),
        cmocka_unit_test(shared_keys_stay_shared),
        cmocka_unit_test(meshes_hold_what_the_packed_values_decode_to),
        cmocka_unit_test(imported_models_pose_where_the_source_does),
        cmocka_unit_test(assets_outlive_the_file),
        cmocka_unit_test(a_second_cooking_moves_nothing),
    };
    return cmocka_run_group_tests_name("cook_import", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// The Vulkan pass gives the CPU path's answer for meshes of every size and layout, and for scenes past the limits that
// a careless pass would have: 65,535 workgroups, 128 MiB of one stream.
#include "peltt_vk_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    ACTOR_CAPACITY = 64,
    UPDATE_COUNT = 3
};

static const pelt_vk_instance_options both = {.bounds = PELT_VK_BOUNDS_BOTH};

// Models and their actors in one scene.
typedef struct cast {
    uint32_t count;
    peltt_vk_model *models[ACTOR_CAPACITY];
    peltt_vk_actor actors[ACTOR_CAPACITY];
} cast;

static peltt_vk_model *join(cast *c, peltt_vk_stage *stage, const peltt_vk_shape *shape,
                            const pelt_vk_instance_options *options)
{
    assert_true(c->count < ACTOR_CAPACITY);
    peltt_vk_model *model = peltt_vk_model_make(shape, 100 + c->count);
    c->models[c->count] = model;
    peltt_vk_actor_add(stage, &c->actors[c->count], model, options);
    c->count++;
    return model;
}

static void move_all(cast *c, peltt_vk_stage *stage, bool moderate, peltt_random *random)
{
    for (uint32_t i = 0; i < c->count; i++) {
        peltt_vk_actor_move(stage, &c->actors[i], moderate, random);
    }
}

// A few updates, compared; then all leave.
static void perform(cast *c, peltt_vk_stage *stage, uint64_t seed)
{
    peltt_random random = {seed};
    peltt_vk_worst worst = {0};
    for (int update = 0; update < UPDATE_COUNT; update++) {
        move_all(c, stage, update == 0, &random);
        const pelt_vk_statistics s = peltt_vk_play(stage, c->count, c->actors, &worst);
        assert_int_equal(s.instance_count, c->count);
        assert_int_equal(s.palette_count, c->count);
    }
    print_message("    %u instances: positions %.2g, normals %.2g and tangents %.2g degrees\n", c->count,
                  worst.position, worst.normal, worst.tangent);
    for (uint32_t i = 0; i < c->count; i++) {
        peltt_vk_actor_remove(stage, &c->actors[i]);
        peltt_vk_model_free(c->models[i]);
    }
    c->count = 0;
}

static pelt_vk_scene_options scene_of(uint32_t item_vertices)
{
    return (pelt_vk_scene_options){.allow_conservative = true, .item_vertices = item_vertices};
}

static void meshes_of_any_size_are_posed(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2500};
    static const uint32_t influences[] = {0, 1, 4, 9};
    static const uint32_t items[] = {0, 64, 100, 1024};
    peltt_vk_stage stage;
    pelt_vk_scene_options options = scene_of(0);
    peltt_vk_stage_open(&stage, NULL, &options, NULL);
    for (uint32_t k = 0; k < 4; k++) {
        options = scene_of(items[k]);
        peltt_vk_stage_scene(&stage, &options);
        cast c = {0};
        for (uint32_t i = 0; i < 13 * 4; i++) {
            const peltt_vk_shape shape = {.vertex_count = counts[i / 4],
                                          .influence_count = influences[i % 4],
                                          .joint_count = influences[i % 4] == 0 ? 1 : 20 + i,
                                          .indexed = i % 3 == 0,
                                          .target_count = i % 5 == 0 ? 3 : 0,
                                          .bind_seed = i};
            join(&c, &stage, &shape, &both);
        }
        perform(&c, &stage, 7 + k);
    }
    peltt_vk_stage_close(&stage);
}

static void every_number_of_influences_is_used(void **state)
{
    (void)state;
    peltt_vk_stage stage;
    pelt_vk_scene_options options = scene_of(0);
    peltt_vk_stage_open(&stage, NULL, &options, NULL);
    cast c = {0};
    for (uint32_t i = 0; i < 48; i++) {
        const peltt_vk_shape shape = {
            .vertex_count = 700 + i,
            .influence_count = 1 + i % 12,
            .joint_count = 64,
            .bind_seed = i,
            .cook = {.weights = i % 24 < 12 ? PELT_WEIGHTS_SORTED : PELT_WEIGHTS_PLAIN, .keep_order = i >= 24}};
        const peltt_vk_model *model = join(&c, &stage, &shape, &both);
        assert_int_equal(model->data->primitives[0].encoding, shape.cook.weights);
        assert_true((model->data->primitives[0].wide_count > 0) == (shape.influence_count > 4));
    }
    perform(&c, &stage, 11);
    peltt_vk_stage_close(&stage);
}

static uint32_t layouts_of(const peltt_vk_model *model)
{
    uint32_t layouts = 0;
    for (uint32_t i = 0; i < model->data->primitives[0].run_count; i++) {
        layouts |= 1U << model->data->primitives[0].runs[i].layout;
    }
    return layouts;
}

static void joints_of_any_layout_are_found(void **state)
{
    (void)state;
    static const struct {
        uint32_t joint_count;
        bool scattered;
        bool direct;
        uint32_t layouts;
    } cases[] = {{24, false, false, 1U << PELT_JOINTS_RUN},       {24, false, true, 1U << PELT_JOINTS_DIRECT8},
                 {256, true, true, 1U << PELT_JOINTS_DIRECT8},    {257, true, true, 1U << PELT_JOINTS_DIRECT16},
                 {1000, false, false, 1U << PELT_JOINTS_RUN},     {1000, true, false, 1U << PELT_JOINTS_DIRECT16},
                 {1000, false, true, 1U << PELT_JOINTS_DIRECT16}, {4000, true, true, 1U << PELT_JOINTS_DIRECT16}};
    static const uint32_t items[3] = {0, 64, 200};
    peltt_vk_stage stage;
    peltt_vk_stage_open(&stage, NULL, NULL, NULL);
    for (uint32_t k = 0; k < 3; k++) {
        const pelt_vk_scene_options options = scene_of(items[k]);
        peltt_vk_stage_scene(&stage, &options);
        cast c = {0};
        for (uint32_t i = 0; i < 24; i++) {
            const peltt_vk_shape shape = {.vertex_count = 3000 + 37 * i,
                                          .influence_count = i % 3 == 2 ? 7 : 4,
                                          .joint_count = cases[i % 8].joint_count,
                                          .scattered = cases[i % 8].scattered,
                                          .bind_seed = i,
                                          .cook = {.direct_joints = cases[i % 8].direct, .keep_order = i / 8 == 1}};
            const peltt_vk_model *model = join(&c, &stage, &shape, &both);
            assert_true((layouts_of(model) & cases[i % 8].layouts) != 0);
        }
        perform(&c, &stage, 13);
    }
    peltt_vk_stage_close(&stage);
}

static void morph_targets_of_any_kind_are_added(void **state)
{
    (void)state;
    peltt_vk_stage stage;
    pelt_vk_scene_options options = scene_of(256);
    peltt_vk_stage_open(&stage, NULL, &options, NULL);
    cast c = {0};
    bool sparse[2] = {false, false};
    bool dense[2] = {false, false};
    for (uint32_t i = 0; i < 40; i++) {
        const peltt_vk_shape shape = {.vertex_count = i % 10 == 9 ? 65 : 900 + 11 * i,
                                      .influence_count = i % 4 == 3 ? 0 : 1 + i % 6,
                                      .joint_count = i % 4 == 3 ? 1 : 30,
                                      .target_count = 1 + i % 8 * 5,
                                      .no_normals = i % 7 == 5,
                                      .no_tangents = i % 7 >= 5,
                                      .bind_seed = i,
                                      .cook = {.morph_16bit = i % 2 == 1}};
        const peltt_vk_model *model = join(&c, &stage, &shape, &both);
        for (uint32_t t = 0; t < model->data->primitives[0].target_count; t++) {
            uint32_t format = model->data->primitives[0].targets[t].format;
            bool small = (format & PELT_TARGET_16BIT) != 0;
            sparse[small] = sparse[small] || (format & PELT_TARGET_SPARSE) != 0;
            dense[small] = dense[small] || (format & PELT_TARGET_SPARSE) == 0;
        }
    }
    assert_true(sparse[0] && sparse[1] && dense[0] && dense[1]);
    perform(&c, &stage, 17);
    peltt_vk_stage_close(&stage);
}

// Joint boxes are cooked for weights from 0 to 1; conservative boxes hold the mesh at any.
static void boxes_hold_morph_weights_of_any_size(void **state)
{
    (void)state;
    peltt_vk_stage stage;
    pelt_vk_scene_options options = scene_of(256);
    peltt_vk_stage_open(&stage, NULL, &options, NULL);
    cast c = {0};
    for (uint32_t i = 0; i < 24; i++) {
        const peltt_vk_shape shape = {.vertex_count = 200 + 7 * i,
                                      .influence_count = i % 4,
                                      .joint_count = i % 4 == 0 ? 1 : 1 + i,
                                      .target_count = 1 + i % 5,
                                      .bind_seed = i,
                                      .cook = {.morph_16bit = i % 2 == 1}};
        join(&c, &stage, &shape, &(pelt_vk_instance_options){.rigid = i % 6 == 5, .bounds = PELT_VK_BOUNDS_BOTH});
    }
    peltt_random random = {31};
    peltt_vk_worst worst = {0};
    for (int update = 0; update < 4; update++) {
        move_all(&c, &stage, true, &random);
        for (uint32_t i = 0; i < c.count; i++) {
            peltt_vk_actor *a = &c.actors[i];
            for (uint32_t t = 0; t < a->model->target_count; t++) {
                a->weights[t] = peltt_random_float(&random, -4.0F, 5.0F);
            }
            assert_int_equal(pelt_vk_instance_set_weights(stage.scene, a->instance, a->weights, a->model->target_count),
                             PELT_OK);
        }
        peltt_vk_play(&stage, c.count, c.actors, &worst);
    }
    for (uint32_t i = 0; i < c.count; i++) {
        peltt_vk_actor_remove(&stage, &c.actors[i]);
        peltt_vk_model_free(c.models[i]);
    }
    peltt_vk_stage_close(&stage);
}

static void outputs_can_be_left_out(void **state)
{
    (void)state;
    peltt_vk_stage stage;
    pelt_vk_scene_options options = scene_of(0);
    peltt_vk_stage_open(&stage, NULL, &options, NULL);
    cast c = {0};
    for (uint32_t i = 0; i < 48; i++) {
        const peltt_vk_shape shape = {.vertex_count = 200 + i,
                                      .influence_count = i % 2 == 0 ? 4 : 0,
                                      .joint_count = i % 2 == 0 ? 9 : 1,
                                      .no_normals = i % 3 == 2,
                                      .no_tangents = i % 3 > 0,
                                      .bind_seed = i};
        static const pelt_vk_bounds bounds[5] = {PELT_VK_BOUNDS_DEFAULT, PELT_VK_BOUNDS_EXACT,
                                                 PELT_VK_BOUNDS_CONSERVATIVE, PELT_VK_BOUNDS_BOTH, PELT_VK_BOUNDS_NONE};
        join(&c, &stage, &shape, &(pelt_vk_instance_options){.omit = i % 8, .bounds = bounds[i % 5]});
    }
    perform(&c, &stage, 19);
    peltt_vk_stage_close(&stage);
}

static void rigid_instances_follow_the_first_matrix(void **state)
{
    (void)state;
    peltt_vk_stage stage;
    pelt_vk_scene_options options = scene_of(128);
    peltt_vk_stage_open(&stage, NULL, &options, NULL);
    cast c = {0};
    for (uint32_t i = 0; i < 24; i++) {
        const peltt_vk_shape shape = {.vertex_count = 50 + 40 * i,
                                      .influence_count = i % 8,
                                      .joint_count = i % 8 == 0 ? 1 : 40,
                                      .target_count = i % 3,
                                      .bind_seed = i};
        join(&c, &stage, &shape, &(pelt_vk_instance_options){.rigid = true, .bounds = PELT_VK_BOUNDS_BOTH});
    }
    perform(&c, &stage, 23);
    peltt_vk_stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meshes_of_any_size_are_posed),
        cmocka_unit_test(every_number_of_influences_is_used),
        cmocka_unit_test(joints_of_any_layout_are_found),
        cmocka_unit_test(morph_targets_of_any_kind_are_added),
        cmocka_unit_test(outputs_can_be_left_out),
        cmocka_unit_test(rigid_instances_follow_the_first_matrix),
        cmocka_unit_test(boxes_hold_morph_weights_of_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

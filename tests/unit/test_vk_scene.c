// SPDX-License-Identifier: MIT
// Scenes, meshes, skins, palettes and instances: what the header says of boxes, generations, frames and indices holds.
#include "peltt_vk_setting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void rigid_instances_take_a_palette_of_one_joint(void **state)
{
    (void)state;
    peltt_vk_setting *s = peltt_vk_setting_begin(NULL, &(pelt_vk_instance_options){0});
    pelt_error error = {0};
    pelt_vk_skin skin;
    pelt_vk_palette palette = peltt_vk_setting_palette(s, 1, &skin);
    const pelt_vk_instance_options options = {.mesh = s->actor.mesh, .palette = palette, .rigid = true};
    pelt_vk_instance instance;
    peltt_vk_good(pelt_vk_instance_add(s->stage.scene, &options, &instance, &error), &error);
    assert_int_equal(pelt_vk_instance_set_palette(s->stage.scene, s->actor.instance, palette), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_instance_set_palette(s->stage.scene, instance, s->actor.palette), PELT_OK);
    assert_int_equal(pelt_vk_instance_set_palette(s->stage.scene, instance, palette), PELT_OK);
    // Identity worlds and binds: the positions as they are.
    peltt_vk_actor one = s->actor;
    const pelt_mat34 identity = pelt_mat34_identity();
    one.instance = instance;
    one.want.worlds = &identity;
    one.want.binds = &identity;
    one.want.joint_count = 1;
    one.want.weights = NULL;
    one.want.rigid = true;
    peltt_vk_play(&s->stage, 1, &one, &s->worst);
    assert_int_equal(pelt_vk_instance_remove(s->stage.scene, instance), PELT_OK);
    assert_int_equal(pelt_vk_palette_remove(s->stage.scene, palette), PELT_OK);
    assert_int_equal(pelt_vk_skin_remove(s->stage.scene, skin), PELT_OK);
    peltt_vk_setting_end(s);
}

static void any_first_frame_will_do(void **state)
{
    (void)state;
    const uint64_t firsts[2] = {0, UINT64_MAX - 1};
    for (int i = 0; i < 2; i++) {
        peltt_vk_stage stage;
        pelt_error error = {0};
        peltt_vk_stage_open(&stage, NULL, NULL, NULL);
        VkCommandBuffer cmd = peltt_vk_begin(&stage.vk);
        peltt_vk_good(pelt_vk_record(stage.scene, cmd, firsts[i], NULL, &error), &error);
        peltt_vk_good(pelt_vk_record(stage.scene, cmd, firsts[i] + 1, NULL, &error), &error);
        peltt_vk_run(&stage.vk, cmd);
        pelt_vk_retire(stage.scene, firsts[i] + 1);
        peltt_vk_stage_close(&stage);
    }
}

static void a_scene_s_bounds_are_those_of_its_instances(void **state)
{
    (void)state;
    for (int kind = PELT_VK_BOUNDS_DEFAULT; kind <= PELT_VK_BOUNDS_NONE; kind++) {
        const pelt_vk_bounds bounds = (pelt_vk_bounds)kind;
        const pelt_vk_scene_options options = {.bounds = bounds};
        peltt_vk_stage stage;
        peltt_vk_stage_open(&stage, NULL, &options, NULL);
        const peltt_vk_shape shape = {.vertex_count = 100, .influence_count = 2, .joint_count = 4};
        peltt_vk_model *model = peltt_vk_model_make(&shape, 79);
        peltt_vk_actor actor;
        peltt_vk_worst worst = {0};
        peltt_vk_actor_add(&stage, &actor, model, &(pelt_vk_instance_options){0});
        actor.want.bounds = bounds == PELT_VK_BOUNDS_DEFAULT ? PELT_VK_BOUNDS_EXACT : bounds;
        const pelt_vk_statistics s = peltt_vk_play(&stage, 1, &actor, &worst); // checks the view and the boxes
        bool conservative = bounds == PELT_VK_BOUNDS_CONSERVATIVE || bounds == PELT_VK_BOUNDS_BOTH;
        assert_int_equal(s.conservative_count, conservative);
        pelt_vk_boxes boxes;
        assert_int_equal(pelt_vk_scene_boxes(stage.scene, &boxes), PELT_OK);
        assert_int_equal(boxes.conservative.size > 0, conservative);
        peltt_vk_actor_remove(&stage, &actor);
        peltt_vk_model_free(model);
        peltt_vk_stage_close(&stage);
    }
}

// Rules as a scene's options, and what a mesh of 100 vertices and four joints then gets.
typedef struct rule_case {
    pelt_vk_scene_options scene;
    bool own_joints; // the instance names the skin that the file has
    bool conservative;
} rule_case;

static void automatic_bounds_follow_the_rules(void **state)
{
    (void)state;
    static const pelt_vk_bounds_rule to_99[] = {{99, PELT_VK_BOUNDS_CONSERVATIVE}};
    static const pelt_vk_bounds_rule to_100[] = {{99, PELT_VK_BOUNDS_EXACT}, {100, PELT_VK_BOUNDS_CONSERVATIVE}};
    static const pelt_vk_bounds_rule from_100[] = {{99, PELT_VK_BOUNDS_EXACT},
                                                   {UINT32_MAX, PELT_VK_BOUNDS_CONSERVATIVE}};
    const rule_case cases[] = {
        {{.bounds = PELT_VK_BOUNDS_AUTO}, true, false},
        {{.bounds = PELT_VK_BOUNDS_AUTO, .bounds_rule_count = 1, .bounds_rules = to_99}, true, false},
        {{.bounds = PELT_VK_BOUNDS_AUTO, .bounds_rule_count = 2, .bounds_rules = to_100}, true, true},
        {{.bounds = PELT_VK_BOUNDS_AUTO, .bounds_rule_count = 2, .bounds_rules = from_100}, true, true},
        {{.bounds = PELT_VK_BOUNDS_AUTO, .bounds_rule_count = 2, .bounds_rules = from_100}, false, false},
        // Where the instance asks and the scene has not made room for it.
        {{.bounds = PELT_VK_BOUNDS_NONE, .bounds_rule_count = 2, .bounds_rules = from_100}, true, false},
        {{.allow_conservative = true, .bounds_rule_count = 2, .bounds_rules = from_100}, true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        peltt_vk_stage stage;
        peltt_vk_stage_open(&stage, NULL, &cases[i].scene, NULL);
        const peltt_vk_shape shape = {.vertex_count = 100, .influence_count = 2, .joint_count = 4};
        peltt_vk_model *model = peltt_vk_model_make(&shape, 83);
        peltt_vk_actor actor;
        peltt_vk_worst worst = {0};
        const pelt_vk_instance_options options = {.bounds = PELT_VK_BOUNDS_AUTO, .skin = cases[i].own_joints ? 0 : 1};
        peltt_vk_actor_add(&stage, &actor, model, &options);
        actor.want.bounds = cases[i].conservative ? PELT_VK_BOUNDS_CONSERVATIVE : PELT_VK_BOUNDS_EXACT;
        const pelt_vk_statistics s = peltt_vk_play(&stage, 1, &actor, &worst); // checks the view and the boxes
        assert_int_equal(s.conservative_count, cases[i].conservative);
        peltt_vk_actor_remove(&stage, &actor);
        peltt_vk_model_free(model);
        peltt_vk_stage_close(&stage);
    }
}

// Reads one box of the scene's array.
static pelt_box box_at(peltt_vk_setting *s, const pelt_vk_stream *boxes, uint32_t index)
{
    pelt_box box;
    peltt_vk_read(&s->stage.vk, boxes->buffer, boxes->offset + index * sizeof box, sizeof box, &box);
    return box;
}

static void boxes_stay_right_when_their_array_grows(void **state)
{
    (void)state;
    enum {
        MORE = 3000
    };
    peltt_vk_setting *s = peltt_vk_setting_begin(&peltt_vk_conservative_scene,
                                                 &(pelt_vk_instance_options){.bounds = PELT_VK_BOUNDS_BOTH});
    pelt_error error = {0};
    pelt_vk_boxes boxes;
    assert_int_equal(pelt_vk_scene_boxes(s->stage.scene, &boxes), PELT_OK);
    uint32_t index = s->actor.instance.index;
    const pelt_box exact = box_at(s, &boxes.exact, index);
    const pelt_box conservative = box_at(s, &boxes.conservative, index);
    pelt_vk_instance *more = calloc(MORE, sizeof *more);
    assert_non_null(more);
    for (uint32_t i = 0; i < MORE; i++) {
        const pelt_vk_instance_options options = {.mesh = s->actor.mesh, .palette = s->actor.palette};
        peltt_vk_good(pelt_vk_instance_add(s->stage.scene, &options, &more[i], &error), &error);
        if (i == MORE / 2) { // grown, not yet recorded: the old array is still the one to read
            assert_int_equal(pelt_vk_scene_boxes(s->stage.scene, &boxes), PELT_OK);
            const pelt_box old = box_at(s, &boxes.exact, index);
            assert_memory_equal(&old, &exact, sizeof old);
        }
    }
    const pelt_vk_statistics statistics = peltt_vk_play(&s->stage, 1, &s->actor, &s->worst);
    assert_int_equal(statistics.instance_count, MORE); // not the first one
    assert_int_equal(pelt_vk_scene_boxes(s->stage.scene, &boxes), PELT_OK);
    assert_true(boxes.count > MORE);
    assert_int_equal(boxes.exact.stride, sizeof(pelt_box));
    assert_int_equal(boxes.exact.size, boxes.count * sizeof(pelt_box));
    pelt_box now = box_at(s, &boxes.exact, index);
    assert_memory_equal(&now, &exact, sizeof now);
    now = box_at(s, &boxes.conservative, index);
    assert_memory_equal(&now, &conservative, sizeof now);
    pelt_vk_view view;
    assert_int_equal(pelt_vk_instance_view(s->stage.scene, s->actor.instance, &view), PELT_OK);
    assert_ptr_equal(view.box.buffer, boxes.exact.buffer);
    assert_int_equal(view.box.offset, boxes.exact.offset + index * sizeof(pelt_box));
    for (uint32_t i = 0; i < MORE; i++) {
        assert_int_equal(pelt_vk_instance_remove(s->stage.scene, more[i]), PELT_OK);
    }
    free(more);
    peltt_vk_setting_end(s);
}

// The uploaded indices are the cooked ones, 16 or 32 bits wide.
static void indices_come_with_the_mesh(void **state)
{
    (void)state;
    const uint32_t counts[2] = {500, 70000};
    for (int i = 0; i < 2; i++) {
        peltt_vk_stage stage;
        peltt_vk_stage_open(&stage, NULL, NULL, NULL);
        const peltt_vk_shape shape = {
            .vertex_count = counts[i], .influence_count = 1, .joint_count = 2, .indexed = true, .no_tangents = true};
        peltt_vk_model *model = peltt_vk_model_make(&shape, 83);
        const pelt_cooked_primitive *p = &model->data->primitives[0];
        assert_int_equal(p->index_size, i == 0 ? 2 : 4);
        peltt_vk_actor actor;
        peltt_vk_worst worst = {0};
        peltt_vk_actor_add(&stage, &actor, model, &(pelt_vk_instance_options){0});
        peltt_vk_play(&stage, 1, &actor, &worst);
        pelt_vk_view view;
        assert_int_equal(pelt_vk_instance_view(stage.scene, actor.instance, &view), PELT_OK);
        void *indices = malloc((size_t)view.indices.size);
        assert_non_null(indices);
        peltt_vk_read(&stage.vk, view.indices.buffer, view.indices.offset, view.indices.size, indices);
        assert_memory_equal(indices, p->indices, view.indices.size);
        free(indices);
        peltt_vk_actor_remove(&stage, &actor);
        peltt_vk_model_free(model);
        peltt_vk_stage_close(&stage);
    }
}

static void what_leaves_before_it_was_recorded_leaves_nothing(void **state)
{
    (void)state;
    peltt_vk_setting *s = peltt_vk_setting_begin(&peltt_vk_conservative_scene,
                                                 &(pelt_vk_instance_options){.bounds = PELT_VK_BOUNDS_BOTH});
    const peltt_vk_shape shape = {
        .vertex_count = 300, .influence_count = 3, .joint_count = PELTT_VK_SETTING_JOINTS, .target_count = 1};
    peltt_vk_model *model = peltt_vk_model_make(&shape, 89);
    for (int round = 0; round < 3; round++) {
        peltt_vk_actor actors[4];
        for (int i = 0; i < 4; i++) {
            peltt_vk_actor_add(&s->stage, &actors[i], model, &(pelt_vk_instance_options){0});
            peltt_vk_actor_move(&s->stage, &actors[i], true, &s->random);
        }
        for (int i = 0; i < 4; i++) {
            peltt_vk_actor_remove(&s->stage, &actors[(i + round) % 4]);
        }
        peltt_vk_actor_move(&s->stage, &s->actor, true, &s->random);
        const pelt_vk_statistics statistics = peltt_vk_play(&s->stage, 1, &s->actor, &s->worst);
        assert_int_equal(statistics.instance_count, 1);
        assert_int_equal(statistics.palette_count, 1);
        peltt_vk_setting_unchanged(s);
    }
    peltt_vk_model_free(model);
    peltt_vk_setting_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigid_instances_take_a_palette_of_one_joint),
        cmocka_unit_test(any_first_frame_will_do),
        cmocka_unit_test(a_scene_s_bounds_are_those_of_its_instances),
        cmocka_unit_test(automatic_bounds_follow_the_rules),
        cmocka_unit_test(boxes_stay_right_when_their_array_grows),
        cmocka_unit_test(indices_come_with_the_mesh),
        cmocka_unit_test(what_leaves_before_it_was_recorded_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

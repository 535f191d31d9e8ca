// SPDX-License-Identifier: MIT
// Scenes, meshes, skins, palettes and instances: wrong calls are refused and change nothing.
#include "peltt_vk_setting.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void scenes_refuse_wrong_options(void **state)
{
    (void)state;
    peltt_vk_setting *s = peltt_vk_setting_begin(NULL, &(pelt_vk_instance_options){0});
    pelt_error error = {0};
    pelt_vk_scene *scene = s->stage.scene;
    const pelt_vk_scene_options wrong[] = {{.bounds = (pelt_vk_bounds)(PELT_VK_BOUNDS_AUTO + 1)},
                                           {.consumer_access = VK_ACCESS_2_TRANSFER_READ_BIT},
                                           {.item_vertices = 63},
                                           {.item_vertices = 1},
                                           {.item_vertices = 1025},
                                           {.item_vertices = UINT32_MAX}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        scene = s->stage.scene;
        peltt_vk_refused(pelt_vk_scene_create(s->stage.context, &wrong[i], &scene, &error), &error);
        assert_null(scene);
    }
    peltt_vk_refused(pelt_vk_scene_create(NULL, NULL, &scene, &error), &error);
    peltt_vk_refused(pelt_vk_scene_create(s->stage.context, NULL, NULL, &error), &error);
    assert_int_equal(pelt_vk_scene_create(s->stage.context, NULL, NULL, NULL), PELT_ERROR_ARGUMENT);
    pelt_vk_scene_destroy(NULL);
    pelt_vk_retire(NULL, 1);
    peltt_vk_setting_end(s);
}

static void meshes_and_skins_refuse_wrong_calls(void **state)
{
    (void)state;
    peltt_vk_setting *s = peltt_vk_setting_begin(NULL, &(pelt_vk_instance_options){0});
    pelt_vk_scene *scene = s->stage.scene;
    pelt_error error = {0};
    pelt_vk_mesh mesh = {7, 7};
    peltt_vk_refused(pelt_vk_mesh_add(NULL, s->model->data, 0, &mesh, &error), &error);
    peltt_vk_refused(pelt_vk_mesh_add(scene, NULL, 0, &mesh, &error), &error);
    peltt_vk_refused(pelt_vk_mesh_add(scene, s->model->data, 1, &mesh, &error), &error);
    peltt_vk_refused(pelt_vk_mesh_add(scene, s->model->data, UINT32_MAX, &mesh, &error), &error);
    peltt_vk_refused(pelt_vk_mesh_add(scene, s->model->data, 0, NULL, &error), &error);
    assert_int_equal(pelt_vk_mesh_remove(NULL, s->actor.mesh), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_mesh_remove(scene, (pelt_vk_mesh){0}), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_mesh_remove(scene, (pelt_vk_mesh){1000, 1}), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_mesh_remove(scene, s->actor.mesh), PELT_ERROR_ARGUMENT); // in use
    pelt_vk_skin skin = {7, 7};
    peltt_vk_refused(pelt_vk_skin_add(NULL, s->model->binds, 1, &skin, &error), &error);
    peltt_vk_refused(pelt_vk_skin_add(scene, s->model->binds, 0, &skin, &error), &error);
    peltt_vk_refused(pelt_vk_skin_add(scene, NULL, 65537, &skin, &error), &error);
    peltt_vk_refused(pelt_vk_skin_add(scene, s->model->binds, 1, NULL, &error), &error);
    assert_int_equal(pelt_vk_skin_remove(NULL, s->actor.skin), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_skin_remove(scene, (pelt_vk_skin){0}), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_skin_remove(scene, s->actor.skin), PELT_ERROR_ARGUMENT); // in use
    peltt_vk_setting_unchanged(s);
    peltt_vk_setting_end(s);
}

static void palettes_refuse_wrong_calls(void **state)
{
    (void)state;
    peltt_vk_setting *s = peltt_vk_setting_begin(NULL, &(pelt_vk_instance_options){0});
    pelt_vk_scene *scene = s->stage.scene;
    pelt_error error = {0};
    pelt_vk_palette palette = {7, 7};
    pelt_mat34 *worlds = NULL;
    peltt_vk_refused(pelt_vk_palette_add(NULL, s->actor.skin, &palette, &error), &error);
    peltt_vk_refused(pelt_vk_palette_add(scene, (pelt_vk_skin){0}, &palette, &error), &error);
    peltt_vk_refused(
        pelt_vk_palette_add(scene, (pelt_vk_skin){s->actor.skin.index, s->actor.skin.generation + 2}, &palette, &error),
        &error);
    peltt_vk_refused(pelt_vk_palette_add(scene, s->actor.skin, NULL, &error), &error);
    peltt_vk_refused(pelt_vk_palette_write(NULL, s->actor.palette, &worlds, &error), &error);
    peltt_vk_refused(pelt_vk_palette_write(scene, (pelt_vk_palette){0}, &worlds, &error), &error);
    peltt_vk_refused(pelt_vk_palette_write(scene, s->actor.palette, NULL, &error), &error);
    assert_int_equal(pelt_vk_palette_remove(NULL, s->actor.palette), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_palette_remove(scene, (pelt_vk_palette){0}), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_palette_remove(scene, s->actor.palette), PELT_ERROR_ARGUMENT); // in use
    peltt_vk_setting_unchanged(s);
    peltt_vk_setting_end(s);
}

static void instances_refuse_wrong_options(void **state)
{
    (void)state;
    peltt_vk_setting *s = peltt_vk_setting_begin(NULL, &(pelt_vk_instance_options){0});
    pelt_vk_scene *scene = s->stage.scene;
    pelt_error error = {0};
    pelt_vk_instance instance = {7, 7};
    pelt_vk_skin small_skin;
    pelt_vk_palette small = peltt_vk_setting_palette(s, PELTT_VK_SETTING_JOINTS - 1, &small_skin);
    const pelt_vk_instance_options right = {.mesh = s->actor.mesh, .palette = s->actor.palette};
    pelt_vk_instance_options wrong[8] = {right, right, right, right, right, right, right, right};
    wrong[0].mesh = (pelt_vk_mesh){0};
    wrong[1].mesh.generation += 2;
    wrong[2].palette = (pelt_vk_palette){0};
    wrong[3].palette = small;
    wrong[4].omit = 8;
    wrong[5].bounds = (pelt_vk_bounds)(PELT_VK_BOUNDS_AUTO + 1);
    wrong[6].bounds = PELT_VK_BOUNDS_CONSERVATIVE; // not of this scene
    wrong[7].bounds = PELT_VK_BOUNDS_BOTH;
    for (int i = 0; i < 8; i++) {
        peltt_vk_refused(pelt_vk_instance_add(scene, &wrong[i], &instance, &error), &error);
    }
    peltt_vk_refused(pelt_vk_instance_add(NULL, &right, &instance, &error), &error);
    peltt_vk_refused(pelt_vk_instance_add(scene, NULL, &instance, &error), &error);
    peltt_vk_refused(pelt_vk_instance_add(scene, &right, NULL, &error), &error);
    assert_int_equal(pelt_vk_palette_remove(scene, small), PELT_OK);
    assert_int_equal(pelt_vk_skin_remove(scene, small_skin), PELT_OK);
    peltt_vk_play(&s->stage, 1, &s->actor, &s->worst);
    peltt_vk_setting_unchanged(s);
    peltt_vk_setting_end(s);
}

static void conservative_boxes_need_joint_boxes_and_their_joints(void **state)
{
    (void)state;
    peltt_vk_setting *s = peltt_vk_setting_begin(&peltt_vk_conservative_scene,
                                                 &(pelt_vk_instance_options){.bounds = PELT_VK_BOUNDS_BOTH});
    pelt_vk_scene *scene = s->stage.scene;
    pelt_error error = {0};
    pelt_vk_instance instance;
    pelt_vk_instance_options options = {
        .mesh = s->actor.mesh, .palette = s->actor.palette, .bounds = PELT_VK_BOUNDS_CONSERVATIVE, .skin = 1};
    peltt_vk_refused(pelt_vk_instance_add(scene, &options, &instance, &error), &error); // the file has skin 0
    options.rigid = true;                                                               // does not ask for the skin
    peltt_vk_good(pelt_vk_instance_add(scene, &options, &instance, &error), &error);
    assert_int_equal(pelt_vk_instance_remove(scene, instance), PELT_OK);
    // One vertex, which follows one of the first joints; the boxes are those of all.
    const peltt_vk_shape shape = {.vertex_count = 1, .influence_count = 1, .joint_count = PELTT_VK_SETTING_JOINTS};
    peltt_vk_model *model = peltt_vk_model_make(&shape, 75);
    pelt_vk_skin skin;
    options = (pelt_vk_instance_options){.palette = peltt_vk_setting_palette(s, PELTT_VK_SETTING_JOINTS - 1, &skin)};
    peltt_vk_good(pelt_vk_mesh_add(scene, model->data, 0, &options.mesh, &error), &error);
    peltt_vk_good(pelt_vk_instance_add(scene, &options, &instance, &error), &error);
    assert_int_equal(pelt_vk_instance_remove(scene, instance), PELT_OK);
    options.bounds = PELT_VK_BOUNDS_CONSERVATIVE;
    peltt_vk_refused(pelt_vk_instance_add(scene, &options, &instance, &error), &error);
    options.palette = s->actor.palette;
    peltt_vk_good(pelt_vk_instance_add(scene, &options, &instance, &error), &error);
    assert_int_equal(pelt_vk_instance_remove(scene, instance), PELT_OK);
    peltt_vk_model_free(model);
    peltt_vk_play(&s->stage, 1, &s->actor, &s->worst);
    peltt_vk_setting_unchanged(s);
    peltt_vk_setting_end(s);
}

static void changes_refuse_wrong_values(void **state)
{
    (void)state;
    peltt_vk_setting *s = peltt_vk_setting_begin(NULL, &(pelt_vk_instance_options){0});
    pelt_vk_scene *scene = s->stage.scene;
    pelt_vk_instance instance = s->actor.instance;
    float weights[PELTT_VK_SETTING_TARGETS + 1] = {0.25F, 0.75F, 0.5F};
    assert_int_equal(pelt_vk_instance_set_weights(NULL, instance, weights, PELTT_VK_SETTING_TARGETS),
                     PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_instance_set_weights(scene, instance, NULL, PELTT_VK_SETTING_TARGETS),
                     PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_instance_set_weights(scene, instance, weights, PELTT_VK_SETTING_TARGETS - 1),
                     PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_instance_set_weights(scene, instance, weights, PELTT_VK_SETTING_TARGETS + 1),
                     PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_instance_set_weights(scene, instance, weights, 0), PELT_ERROR_ARGUMENT);
    const float bad[3] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        weights[1] = bad[i]; // after a good one, which must not be taken either
        assert_int_equal(pelt_vk_instance_set_weights(scene, instance, weights, PELTT_VK_SETTING_TARGETS),
                         PELT_ERROR_ARGUMENT);
    }
    assert_int_equal(pelt_vk_instance_set_palette(scene, instance, (pelt_vk_palette){0}), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_instance_set_palette(scene, (pelt_vk_instance){0}, s->actor.palette), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_instance_set_palette(NULL, instance, s->actor.palette), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_instance_teleport(NULL, instance), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_instance_teleport(scene, (pelt_vk_instance){0}), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_instance_remove(NULL, instance), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_instance_remove(scene, (pelt_vk_instance){instance.index, instance.generation + 2}),
                     PELT_ERROR_ARGUMENT);
    pelt_vk_view view;
    pelt_vk_boxes boxes;
    assert_int_equal(pelt_vk_instance_view(NULL, instance, &view), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_instance_view(scene, instance, NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_scene_boxes(NULL, &boxes), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_scene_boxes(scene, NULL), PELT_ERROR_ARGUMENT);
    peltt_vk_setting_unchanged(s);
    // The same weights again mark nothing either.
    assert_int_equal(pelt_vk_instance_set_weights(scene, instance, s->actor.weights, PELTT_VK_SETTING_TARGETS),
                     PELT_OK);
    peltt_vk_setting_unchanged(s);
    peltt_vk_setting_end(s);
}

static void record_refuses_frames_out_of_order_and_keeps_marks(void **state)
{
    (void)state;
    peltt_vk_setting *s = peltt_vk_setting_begin(NULL, &(pelt_vk_instance_options){0});
    pelt_vk_scene *scene = s->stage.scene;
    pelt_error error = {0};
    pelt_vk_statistics statistics;
    peltt_vk_actor_move(&s->stage, &s->actor, true, &s->random);
    VkCommandBuffer cmd = peltt_vk_begin(&s->stage.vk);
    s->stage.frame = 100;
    peltt_vk_good(pelt_vk_record(scene, cmd, 100, &statistics, &error), &error);
    peltt_vk_run(&s->stage.vk, cmd);
    peltt_vk_actor_move(&s->stage, &s->actor, true, &s->random);
    cmd = peltt_vk_begin(&s->stage.vk);
    peltt_vk_refused(pelt_vk_record(scene, cmd, 100, &statistics, &error), &error);
    assert_true(peltt_vk_is_nothing(&statistics));
    peltt_vk_refused(pelt_vk_record(scene, cmd, 99, &statistics, &error), &error);
    peltt_vk_refused(pelt_vk_record(scene, cmd, 0, NULL, &error), &error);
    peltt_vk_refused(pelt_vk_record(NULL, cmd, 101, NULL, &error), &error);
    peltt_vk_refused(pelt_vk_record(scene, VK_NULL_HANDLE, 101, NULL, &error), &error);
    peltt_vk_run(&s->stage.vk, cmd);
    pelt_vk_retire(scene, 100);
    statistics = peltt_vk_play(&s->stage, 1, &s->actor, &s->worst); // compared: nothing was lost
    assert_int_equal(statistics.instance_count, 1);
    pelt_vk_retire(scene, 1000000); // a frame that never was
    peltt_vk_actor_move(&s->stage, &s->actor, true, &s->random);
    peltt_vk_play(&s->stage, 1, &s->actor, &s->worst);
    peltt_vk_setting_end(s);
}

static void wrong_rules_are_refused(void **state)
{
    (void)state;
    peltt_vk_stage stage;
    peltt_vk_stage_open(&stage, NULL, NULL, NULL);
    static const pelt_vk_bounds_rule unordered[] = {{100, PELT_VK_BOUNDS_EXACT}, {100, PELT_VK_BOUNDS_CONSERVATIVE}};
    static const pelt_vk_bounds_rule both[] = {{100, PELT_VK_BOUNDS_BOTH}};
    const pelt_vk_scene_options wrong[] = {
        {.bounds_rule_count = 2, .bounds_rules = unordered},
        {.bounds_rule_count = 1, .bounds_rules = both},
        {.bounds_rule_count = 1, .bounds_rules = NULL},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        pelt_error error = {0};
        pelt_vk_scene *scene = NULL;
        peltt_vk_refused(pelt_vk_scene_create(stage.context, &wrong[i], &scene, &error), &error);
        assert_null(scene);
    }
    peltt_vk_stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_refuse_wrong_options),
        cmocka_unit_test(meshes_and_skins_refuse_wrong_calls),
        cmocka_unit_test(palettes_refuse_wrong_calls),
        cmocka_unit_test(instances_refuse_wrong_options),
        cmocka_unit_test(conservative_boxes_need_joint_boxes_and_their_joints),
        cmocka_unit_test(changes_refuse_wrong_values),
        cmocka_unit_test(record_refuses_frames_out_of_order_and_keeps_marks),
        cmocka_unit_test(wrong_rules_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Scenes, meshes, skins, palettes and instances: wrong calls are refused and change nothing, and what the header says
// of boxes, generations and previous positions holds.
#include "peltt_vk_scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    JOINT_COUNT = 12,
    TARGET_COUNT = 2
};

// A scene with one actor that was updated once.
typedef struct setting {
    peltt_vk_stage stage;
    peltt_vk_model *model;
    peltt_vk_actor actor;
    peltt_random random;
    peltt_vk_worst worst;
} setting;

static const pelt_vk_scene_options conservative_scene = {.allow_conservative = true};

static setting *begin(const pelt_vk_scene_options *options, const pelt_vk_instance_options *instance)
{
    setting *s = calloc(1, sizeof *s);
    assert_non_null(s);
    const peltt_vk_shape shape = {
        .vertex_count = 400, .influence_count = 4, .joint_count = JOINT_COUNT, .target_count = TARGET_COUNT};
    peltt_vk_stage_open(&s->stage, NULL, options, NULL);
    s->model = peltt_vk_model_make(&shape, 71);
    s->random.state = 73;
    peltt_vk_actor_add(&s->stage, &s->actor, s->model, instance);
    peltt_vk_actor_move(&s->stage, &s->actor, true, &s->random);
    peltt_vk_play(&s->stage, 1, &s->actor, &s->worst);
    return s;
}

static void end(setting *s)
{
    peltt_vk_actor_remove(&s->stage, &s->actor);
    peltt_vk_stage_close(&s->stage);
    peltt_vk_model_free(s->model);
    free(s);
}

// Nothing is marked, and what was there still is.
static void assert_unchanged(setting *s)
{
    const pelt_vk_statistics statistics = peltt_vk_play(&s->stage, 1, &s->actor, &s->worst);
    assert_true(peltt_vk_is_nothing(&statistics));
}

static void refused(pelt_result result, const pelt_error *error)
{
    assert_int_equal(result, PELT_ERROR_ARGUMENT);
    assert_int_equal(error->code, PELT_ERROR_ARGUMENT);
    assert_true(error->message[0] != '\0');
}

static void scenes_refuse_wrong_options(void **state)
{
    (void)state;
    setting *s = begin(NULL, &(pelt_vk_instance_options){0});
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
        refused(pelt_vk_scene_create(s->stage.context, &wrong[i], &scene, &error), &error);
        assert_null(scene);
    }
    refused(pelt_vk_scene_create(NULL, NULL, &scene, &error), &error);
    refused(pelt_vk_scene_create(s->stage.context, NULL, NULL, &error), &error);
    assert_int_equal(pelt_vk_scene_create(s->stage.context, NULL, NULL, NULL), PELT_ERROR_ARGUMENT);
    pelt_vk_scene_destroy(NULL);
    pelt_vk_retire(NULL, 1);
    end(s);
}

static void meshes_and_skins_refuse_wrong_calls(void **state)
{
    (void)state;
    setting *s = begin(NULL, &(pelt_vk_instance_options){0});
    pelt_vk_scene *scene = s->stage.scene;
    pelt_error error = {0};
    pelt_vk_mesh mesh = {7, 7};
    refused(pelt_vk_mesh_add(NULL, s->model->data, 0, &mesh, &error), &error);
    refused(pelt_vk_mesh_add(scene, NULL, 0, &mesh, &error), &error);
    refused(pelt_vk_mesh_add(scene, s->model->data, 1, &mesh, &error), &error);
    refused(pelt_vk_mesh_add(scene, s->model->data, UINT32_MAX, &mesh, &error), &error);
    refused(pelt_vk_mesh_add(scene, s->model->data, 0, NULL, &error), &error);
    assert_int_equal(pelt_vk_mesh_remove(NULL, s->actor.mesh), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_mesh_remove(scene, (pelt_vk_mesh){0}), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_mesh_remove(scene, (pelt_vk_mesh){1000, 1}), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_mesh_remove(scene, s->actor.mesh), PELT_ERROR_ARGUMENT); // in use
    pelt_vk_skin skin = {7, 7};
    refused(pelt_vk_skin_add(NULL, s->model->binds, 1, &skin, &error), &error);
    refused(pelt_vk_skin_add(scene, s->model->binds, 0, &skin, &error), &error);
    refused(pelt_vk_skin_add(scene, NULL, 65537, &skin, &error), &error);
    refused(pelt_vk_skin_add(scene, s->model->binds, 1, NULL, &error), &error);
    assert_int_equal(pelt_vk_skin_remove(NULL, s->actor.skin), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_skin_remove(scene, (pelt_vk_skin){0}), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_skin_remove(scene, s->actor.skin), PELT_ERROR_ARGUMENT); // in use
    assert_unchanged(s);
    end(s);
}

static void palettes_refuse_wrong_calls(void **state)
{
    (void)state;
    setting *s = begin(NULL, &(pelt_vk_instance_options){0});
    pelt_vk_scene *scene = s->stage.scene;
    pelt_error error = {0};
    pelt_vk_palette palette = {7, 7};
    pelt_mat34 *worlds = NULL;
    refused(pelt_vk_palette_add(NULL, s->actor.skin, &palette, &error), &error);
    refused(pelt_vk_palette_add(scene, (pelt_vk_skin){0}, &palette, &error), &error);
    refused(
        pelt_vk_palette_add(scene, (pelt_vk_skin){s->actor.skin.index, s->actor.skin.generation + 2}, &palette, &error),
        &error);
    refused(pelt_vk_palette_add(scene, s->actor.skin, NULL, &error), &error);
    refused(pelt_vk_palette_write(NULL, s->actor.palette, &worlds, &error), &error);
    refused(pelt_vk_palette_write(scene, (pelt_vk_palette){0}, &worlds, &error), &error);
    refused(pelt_vk_palette_write(scene, s->actor.palette, NULL, &error), &error);
    assert_int_equal(pelt_vk_palette_remove(NULL, s->actor.palette), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_palette_remove(scene, (pelt_vk_palette){0}), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_palette_remove(scene, s->actor.palette), PELT_ERROR_ARGUMENT); // in use
    assert_unchanged(s);
    end(s);
}

// A palette of that many joints, with its skin.
static pelt_vk_palette palette_of(setting *s, uint32_t joint_count, pelt_vk_skin *skin)
{
    pelt_error error = {0};
    pelt_vk_palette palette;
    peltt_vk_good(pelt_vk_skin_add(s->stage.scene, NULL, joint_count, skin, &error), &error);
    peltt_vk_good(pelt_vk_palette_add(s->stage.scene, *skin, &palette, &error), &error);
    return palette;
}

static void instances_refuse_wrong_options(void **state)
{
    (void)state;
    setting *s = begin(NULL, &(pelt_vk_instance_options){0});
    pelt_vk_scene *scene = s->stage.scene;
    pelt_error error = {0};
    pelt_vk_instance instance = {7, 7};
    pelt_vk_skin small_skin;
    pelt_vk_palette small = palette_of(s, JOINT_COUNT - 1, &small_skin);
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
        refused(pelt_vk_instance_add(scene, &wrong[i], &instance, &error), &error);
    }
    refused(pelt_vk_instance_add(NULL, &right, &instance, &error), &error);
    refused(pelt_vk_instance_add(scene, NULL, &instance, &error), &error);
    refused(pelt_vk_instance_add(scene, &right, NULL, &error), &error);
    assert_int_equal(pelt_vk_palette_remove(scene, small), PELT_OK);
    assert_int_equal(pelt_vk_skin_remove(scene, small_skin), PELT_OK);
    peltt_vk_play(&s->stage, 1, &s->actor, &s->worst);
    assert_unchanged(s);
    end(s);
}

static void conservative_boxes_need_joint_boxes_and_their_joints(void **state)
{
    (void)state;
    setting *s = begin(&conservative_scene, &(pelt_vk_instance_options){.bounds = PELT_VK_BOUNDS_BOTH});
    pelt_vk_scene *scene = s->stage.scene;
    pelt_error error = {0};
    pelt_vk_instance instance;
    pelt_vk_instance_options options = {
        .mesh = s->actor.mesh, .palette = s->actor.palette, .bounds = PELT_VK_BOUNDS_CONSERVATIVE, .skin = 1};
    refused(pelt_vk_instance_add(scene, &options, &instance, &error), &error); // the file has skin 0
    options.rigid = true;                                                      // does not ask for the skin
    peltt_vk_good(pelt_vk_instance_add(scene, &options, &instance, &error), &error);
    assert_int_equal(pelt_vk_instance_remove(scene, instance), PELT_OK);
    // One vertex, which follows one of the first joints; the boxes are those of all.
    const peltt_vk_shape shape = {.vertex_count = 1, .influence_count = 1, .joint_count = JOINT_COUNT};
    peltt_vk_model *model = peltt_vk_model_make(&shape, 75);
    pelt_vk_skin skin;
    options = (pelt_vk_instance_options){.palette = palette_of(s, JOINT_COUNT - 1, &skin)};
    peltt_vk_good(pelt_vk_mesh_add(scene, model->data, 0, &options.mesh, &error), &error);
    peltt_vk_good(pelt_vk_instance_add(scene, &options, &instance, &error), &error);
    assert_int_equal(pelt_vk_instance_remove(scene, instance), PELT_OK);
    options.bounds = PELT_VK_BOUNDS_CONSERVATIVE;
    refused(pelt_vk_instance_add(scene, &options, &instance, &error), &error);
    options.palette = s->actor.palette;
    peltt_vk_good(pelt_vk_instance_add(scene, &options, &instance, &error), &error);
    assert_int_equal(pelt_vk_instance_remove(scene, instance), PELT_OK);
    peltt_vk_model_free(model);
    peltt_vk_play(&s->stage, 1, &s->actor, &s->worst);
    assert_unchanged(s);
    end(s);
}

static void rigid_instances_take_a_palette_of_one_joint(void **state)
{
    (void)state;
    setting *s = begin(NULL, &(pelt_vk_instance_options){0});
    pelt_error error = {0};
    pelt_vk_skin skin;
    pelt_vk_palette palette = palette_of(s, 1, &skin);
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
    end(s);
}

static void changes_refuse_wrong_values(void **state)
{
    (void)state;
    setting *s = begin(NULL, &(pelt_vk_instance_options){0});
    pelt_vk_scene *scene = s->stage.scene;
    pelt_vk_instance instance = s->actor.instance;
    float weights[TARGET_COUNT + 1] = {0.25F, 0.75F, 0.5F};
    assert_int_equal(pelt_vk_instance_set_weights(NULL, instance, weights, TARGET_COUNT), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_instance_set_weights(scene, instance, NULL, TARGET_COUNT), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_instance_set_weights(scene, instance, weights, TARGET_COUNT - 1), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_instance_set_weights(scene, instance, weights, TARGET_COUNT + 1), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_instance_set_weights(scene, instance, weights, 0), PELT_ERROR_ARGUMENT);
    const float bad[3] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        weights[1] = bad[i]; // after a good one, which must not be taken either
        assert_int_equal(pelt_vk_instance_set_weights(scene, instance, weights, TARGET_COUNT), PELT_ERROR_ARGUMENT);
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
    assert_unchanged(s);
    // The same weights again mark nothing either.
    assert_int_equal(pelt_vk_instance_set_weights(scene, instance, s->actor.weights, TARGET_COUNT), PELT_OK);
    assert_unchanged(s);
    end(s);
}

static void record_refuses_frames_out_of_order_and_keeps_marks(void **state)
{
    (void)state;
    setting *s = begin(NULL, &(pelt_vk_instance_options){0});
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
    refused(pelt_vk_record(scene, cmd, 100, &statistics, &error), &error);
    assert_true(peltt_vk_is_nothing(&statistics));
    refused(pelt_vk_record(scene, cmd, 99, &statistics, &error), &error);
    refused(pelt_vk_record(scene, cmd, 0, NULL, &error), &error);
    refused(pelt_vk_record(NULL, cmd, 101, NULL, &error), &error);
    refused(pelt_vk_record(scene, VK_NULL_HANDLE, 101, NULL, &error), &error);
    peltt_vk_run(&s->stage.vk, cmd);
    pelt_vk_retire(scene, 100);
    statistics = peltt_vk_play(&s->stage, 1, &s->actor, &s->worst); // compared: nothing was lost
    assert_int_equal(statistics.instance_count, 1);
    pelt_vk_retire(scene, 1000000); // a frame that never was
    peltt_vk_actor_move(&s->stage, &s->actor, true, &s->random);
    peltt_vk_play(&s->stage, 1, &s->actor, &s->worst);
    end(s);
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
        refused(pelt_vk_scene_create(stage.context, &wrong[i], &scene, &error), &error);
        assert_null(scene);
    }
    peltt_vk_stage_close(&stage);
}

// Reads one box of the scene's array.
static pelt_box box_at(setting *s, const pelt_vk_stream *boxes, uint32_t index)
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
    setting *s = begin(&conservative_scene, &(pelt_vk_instance_options){.bounds = PELT_VK_BOUNDS_BOTH});
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
    end(s);
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
    setting *s = begin(&conservative_scene, &(pelt_vk_instance_options){.bounds = PELT_VK_BOUNDS_BOTH});
    const peltt_vk_shape shape = {
        .vertex_count = 300, .influence_count = 3, .joint_count = JOINT_COUNT, .target_count = 1};
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
        assert_unchanged(s);
    }
    peltt_vk_model_free(model);
    end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_refuse_wrong_options),
        cmocka_unit_test(meshes_and_skins_refuse_wrong_calls),
        cmocka_unit_test(palettes_refuse_wrong_calls),
        cmocka_unit_test(instances_refuse_wrong_options),
        cmocka_unit_test(conservative_boxes_need_joint_boxes_and_their_joints),
        cmocka_unit_test(rigid_instances_take_a_palette_of_one_joint),
        cmocka_unit_test(changes_refuse_wrong_values),
        cmocka_unit_test(record_refuses_frames_out_of_order_and_keeps_marks),
        cmocka_unit_test(any_first_frame_will_do),
        cmocka_unit_test(a_scene_s_bounds_are_those_of_its_instances),
        cmocka_unit_test(automatic_bounds_follow_the_rules),
        cmocka_unit_test(wrong_rules_are_refused),
        cmocka_unit_test(boxes_stay_right_when_their_array_grows),
        cmocka_unit_test(indices_come_with_the_mesh),
        cmocka_unit_test(what_leaves_before_it_was_recorded_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Which pipeline an item goes to must not show: instances of every kind in one record, those that change their kind
// with their morph weights, and numbers of vertices and items on both sides of where the kind changes.
#include "peltt_vk_scene.h"
#include "vulkan/vulkan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    ACTORS = 16,
    FEW = 2048, // items of one record from which on they get fewer threads
    JOINTS = 12
};

static void compare_all(peltt_vk_stage *stage, uint32_t count, const peltt_vk_actor *actors)
{
    peltt_vk_worst worst = {0};
    const pelt_vk_statistics s = peltt_vk_play(stage, count, actors, &worst);
    assert_int_equal(s.instance_count, count);
}

static void set_weights(const peltt_vk_stage *stage, peltt_vk_actor *actor, float weight)
{
    for (uint32_t i = 0; i < actor->model->target_count; i++) {
        actor->weights[i] = weight;
    }
    assert_int_equal(
        pelt_vk_instance_set_weights(stage->scene, actor->instance, actor->weights, actor->model->target_count),
        PELT_OK);
}

typedef struct cast {
    peltt_vk_stage stage;
    peltt_vk_model *models[ACTORS];
    peltt_vk_actor actors[ACTORS];
    peltt_random random;
} cast;

// Sizes on both sides of 256 vertices an item, weights of both encodings, more than four influences, outputs left out.
static cast *assemble(void)
{
    static const uint32_t counts[] = {64, 255, 256, 257, 300, 511, 512, 514};
    static const uint32_t omits[] = {0, 0, PELT_VK_OMIT_NORMALS, PELT_VK_OMIT_TANGENTS};
    cast *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->random.state = 3;
    peltt_vk_stage_open(&c->stage, NULL, NULL, NULL);
    for (uint32_t i = 0; i < ACTORS; i++) {
        const peltt_vk_shape shape = {.vertex_count = counts[i % 8],
                                      .influence_count = i % 5 == 4 ? 6 : i % 5,
                                      .joint_count = i % 5 == 0 ? 1 : JOINTS,
                                      .target_count = 2,
                                      .cook = {.weights = i % 7 == 0 ? PELT_WEIGHTS_PLAIN : PELT_WEIGHTS_SORTED}};
        const pelt_vk_instance_options options = {.omit = omits[i % 4], .rigid = i % 6 == 5};
        c->models[i] = peltt_vk_model_make(&shape, 40 + i);
        peltt_vk_actor_add(&c->stage, &c->actors[i], c->models[i], &options);
    }
    return c;
}

static void disband(cast *c)
{
    for (uint32_t i = 0; i < ACTORS; i++) {
        peltt_vk_actor_remove(&c->stage, &c->actors[i]);
        peltt_vk_model_free(c->models[i]);
    }
    peltt_vk_stage_close(&c->stage);
    free(c);
}

static void kinds_change_from_frame_to_frame(void **state)
{
    (void)state;
    cast *c = assemble();
    for (uint32_t frame = 0; frame < 8; frame++) {
        for (uint32_t i = 0; i < ACTORS; i++) {
            // Weights before or after the palette's write marks the instance, and in some frames none of either.
            bool morphed = (frame + i) % 3 == 0;
            if (frame % 2 == 0) {
                set_weights(&c->stage, &c->actors[i], morphed ? 0.5F : 0.0F);
            }
            peltt_vk_actor_move(&c->stage, &c->actors[i], true, &c->random);
            set_weights(&c->stage, &c->actors[i], morphed ? 0.0F : 0.75F);
            if (frame % 4 == 3) {
                set_weights(&c->stage, &c->actors[i], morphed ? 0.25F : 0.0F);
            }
        }
        compare_all(&c->stage, ACTORS, c->actors);
    }
    disband(c);
}

// Lists of every kind that come again: of items in full, of others, and of both.
static void kinds_stay_from_frame_to_frame(void **state)
{
    (void)state;
    cast *c = assemble();
    for (uint32_t frame = 0; frame < 15; frame++) {
        uint32_t count = frame < 5 ? ACTORS : frame < 10 ? 3 : 5;
        for (uint32_t i = 0; i < count; i++) {
            peltt_vk_actor_move(&c->stage, &c->actors[i], true, &c->random);
            set_weights(&c->stage, &c->actors[i], frame < 5 && i % 3 == 2 ? 0.5F : 0.0F);
        }
        peltt_vk_worst worst = {0};
        const pelt_vk_statistics s = peltt_vk_play(&c->stage, ACTORS, c->actors, &worst);
        assert_int_equal(s.instance_count, count);
    }
    disband(c);
}

// Instances of one mesh and palette, of one item each; some of them are looked at.
static void few_and_many_items(void **state)
{
    (void)state;
    const peltt_vk_shape shape = {.vertex_count = 290, .influence_count = 4, .joint_count = JOINTS};
    peltt_vk_model *model = peltt_vk_model_make(&shape, 9);
    peltt_vk_stage stage;
    peltt_vk_stage_open(&stage, NULL, NULL, NULL);
    peltt_vk_actor actor;
    peltt_random random = {11};
    peltt_vk_actor_add(&stage, &actor, model, &(pelt_vk_instance_options){.omit = PELT_VK_OMIT_PREVIOUS});
    pelt_vk_instance_options options = {
        .mesh = actor.mesh, .palette = actor.palette, .omit = PELT_VK_OMIT_PREVIOUS, .bounds = PELT_VK_BOUNDS_EXACT};
    pelt_vk_instance *others = calloc(FEW, sizeof *others);
    assert_non_null(others);
    uint32_t count = 0;
    static const uint32_t totals[] = {1, FEW - 1, FEW, FEW + 1};
    for (uint32_t t = 0; t < 4; t++) {
        pelt_error error = {0};
        while (count + 1 < totals[t]) {
            peltt_vk_good(pelt_vk_instance_add(stage.scene, &options, &others[count++], &error), &error);
        }
        peltt_vk_actor_move(&stage, &actor, true, &random);
        peltt_vk_actor seen[3] = {actor, actor, actor};
        if (count > 1) {
            seen[1].instance = others[count / 2];
            seen[2].instance = others[count - 1];
        }
        peltt_vk_worst worst = {0};
        const pelt_vk_statistics s = peltt_vk_play(&stage, 3, seen, &worst);
        assert_int_equal(s.instance_count, totals[t]);
        assert_int_equal(s.item_count, totals[t]);
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(pelt_vk_instance_remove(stage.scene, others[i]), PELT_OK);
    }
    free(others);
    peltt_vk_actor_remove(&stage, &actor);
    peltt_vk_stage_close(&stage);
    peltt_vk_model_free(model);
}

// As many workgroups share each item as keep the device busy, while all items are of kinds that can be shared; alone
// in their mesh they never are. A device of every size, lists that are written, made and kept, and a mesh that cannot.
static void few_items_are_shared(void **state)
{
    (void)state;
    enum {
        SHARED = 6 // actors whose items can be
    };
    static const uint32_t counts[SHARED + 1] = {1023, 1025, 1056, 2500, 5000, 300, 1500};
    static const uint32_t omits[SHARED + 1] = {0, PELT_VK_OMIT_TANGENTS, 0, PELT_VK_OMIT_NORMALS, 0, 0, 0};
    static const uint32_t split_groups[] = {1024, 128, 64, 32, 31, 0};
    peltt_vk_stage stage;
    peltt_vk_stage_open(&stage, NULL, NULL, NULL);
    peltt_vk_model *models[SHARED + 1];
    peltt_vk_actor actors[SHARED + 1];
    peltt_random random = {5};
    for (uint32_t i = 0; i <= SHARED; i++) {
        const peltt_vk_shape shape = {
            .vertex_count = counts[i], .influence_count = i < SHARED ? 4 : 6, .joint_count = 2 * JOINTS};
        models[i] = peltt_vk_model_make(&shape, 60 + i);
        peltt_vk_actor_add(&stage, &actors[i], models[i], &(pelt_vk_instance_options){.omit = omits[i]});
    }
    for (size_t k = 0; k < sizeof split_groups / sizeof *split_groups; k++) {
        stage.context->split_groups = split_groups[k];
        for (uint32_t frame = 0; frame < 6; frame++) {
            uint32_t count = frame > 0 && frame < 5 ? SHARED : SHARED + 1;
            for (uint32_t i = 0; i < count; i++) {
                peltt_vk_actor_move(&stage, &actors[i], true, &random);
            }
            peltt_vk_worst worst = {0};
            assert_int_equal(peltt_vk_play(&stage, SHARED + 1, actors, &worst).instance_count, count);
        }
    }
    for (uint32_t i = 0; i <= SHARED; i++) {
        peltt_vk_actor_remove(&stage, &actors[i]);
        peltt_vk_model_free(models[i]);
    }
    peltt_vk_stage_close(&stage);
}

// More workgroups than the scratch memory of so few items would have partial boxes for; lists written, made and kept.
static void shared_items_have_room_for_their_boxes(void **state)
{
    (void)state;
    const peltt_vk_shape shape = {.vertex_count = 150000, .influence_count = 4, .joint_count = JOINTS};
    peltt_vk_model *model = peltt_vk_model_make(&shape, 70);
    peltt_vk_stage stage;
    peltt_vk_stage_open(&stage, NULL, NULL, NULL);
    stage.context->split_groups = 4096;
    peltt_vk_actor actor;
    peltt_random random = {17};
    peltt_vk_actor_add(&stage, &actor, model, &(pelt_vk_instance_options){0});
    for (uint32_t frame = 0; frame < 4; frame++) {
        peltt_vk_actor_move(&stage, &actor, true, &random);
        peltt_vk_worst worst = {0};
        const pelt_vk_statistics s = peltt_vk_play(&stage, 1, &actor, &worst);
        assert_in_range(s.item_count, 1024 / 8 + 1, 1024);
    }
    peltt_vk_actor_remove(&stage, &actor);
    peltt_vk_stage_close(&stage);
    peltt_vk_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_change_from_frame_to_frame),
        cmocka_unit_test(kinds_stay_from_frame_to_frame),
        cmocka_unit_test(few_and_many_items),
        cmocka_unit_test(few_items_are_shared),
        cmocka_unit_test(shared_items_have_room_for_their_boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

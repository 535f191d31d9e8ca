// SPDX-License-Identifier: MIT
// One mesh, one skin, one palette and one instance.
#include "peltt_vk_setting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

const pelt_vk_scene_options peltt_vk_conservative_scene = {.allow_conservative = true};

peltt_vk_setting *peltt_vk_setting_begin(const pelt_vk_scene_options *options, const pelt_vk_instance_options *instance)
{
    peltt_vk_setting *s = calloc(1, sizeof *s);
    assert_non_null(s);
    const peltt_vk_shape shape = {.vertex_count = 400,
                                  .influence_count = 4,
                                  .joint_count = PELTT_VK_SETTING_JOINTS,
                                  .target_count = PELTT_VK_SETTING_TARGETS};
    peltt_vk_stage_open(&s->stage, NULL, options, NULL);
    s->model = peltt_vk_model_make(&shape, 71);
    s->random.state = 73;
    peltt_vk_actor_add(&s->stage, &s->actor, s->model, instance);
    peltt_vk_actor_move(&s->stage, &s->actor, true, &s->random);
    peltt_vk_play(&s->stage, 1, &s->actor, &s->worst);
    return s;
}

void peltt_vk_setting_end(peltt_vk_setting *s)
{
    peltt_vk_actor_remove(&s->stage, &s->actor);
    peltt_vk_stage_close(&s->stage);
    peltt_vk_model_free(s->model);
    free(s);
}

void peltt_vk_setting_unchanged(peltt_vk_setting *s)
{
    const pelt_vk_statistics statistics = peltt_vk_play(&s->stage, 1, &s->actor, &s->worst);
    assert_true(peltt_vk_is_nothing(&statistics));
}

void peltt_vk_refused(pelt_result result, const pelt_error *error)
{
    assert_int_equal(result, PELT_ERROR_ARGUMENT);
    assert_int_equal(error->code, PELT_ERROR_ARGUMENT);
    assert_true(error->message[0] != '\0');
}

pelt_vk_palette peltt_vk_setting_palette(peltt_vk_setting *s, uint32_t joint_count, pelt_vk_skin *skin)
{
    pelt_error error = {0};
    pelt_vk_palette palette;
    peltt_vk_good(pelt_vk_skin_add(s->stage.scene, NULL, joint_count, skin, &error), &error);
    peltt_vk_good(pelt_vk_palette_add(s->stage.scene, *skin, &palette, &error), &error);
    return palette;
}

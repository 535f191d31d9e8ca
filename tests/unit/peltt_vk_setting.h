// SPDX-License-Identifier: MIT
// A small scene to call wrongly: one actor that was updated once.
#ifndef PELTT_VK_SETTING_H
#define PELTT_VK_SETTING_H

#include "peltt_vk_scene.h"

enum {
    PELTT_VK_SETTING_JOINTS = 12,
    PELTT_VK_SETTING_TARGETS = 2
};

// A scene with one actor that was updated once.
typedef struct peltt_vk_setting {
    peltt_vk_stage stage;
    peltt_vk_model *model;
    peltt_vk_actor actor;
    peltt_random random;
    peltt_vk_worst worst;
} peltt_vk_setting;

peltt_vk_setting *peltt_vk_setting_begin(const pelt_vk_scene_options *options,
                                         const pelt_vk_instance_options *instance);
void peltt_vk_setting_end(peltt_vk_setting *s);
// Nothing is marked, and what was there still is.
void peltt_vk_setting_unchanged(peltt_vk_setting *s);
// Fails the test unless both say ARGUMENT, with a message.
void peltt_vk_refused(pelt_result result, const pelt_error *error);
// A palette of that many joints, with its skin.
pelt_vk_palette peltt_vk_setting_palette(peltt_vk_setting *s, uint32_t joint_count, pelt_vk_skin *skin);

extern const pelt_vk_scene_options peltt_vk_conservative_scene;

#endif

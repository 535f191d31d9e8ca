// SPDX-License-Identifier: MIT
// A small mesh and a scene for it, for tests of who reads outputs and when.
#ifndef PELTT_VK_SMALL_H
#define PELTT_VK_SMALL_H

#include "peltt_vk_scene.h"

enum {
    PELTT_VK_SMALL_JOINTS = 6
};

static const peltt_vk_shape peltt_vk_small_shape = {.vertex_count = 40,
                                                    .influence_count = 3,
                                                    .joint_count = PELTT_VK_SMALL_JOINTS,
                                                    .target_count = 2,
                                                    .indexed = true,
                                                    .moderate = true};
static const pelt_vk_scene_options peltt_vk_small_scene = {.allow_conservative = true, .item_vertices = 64};

#endif

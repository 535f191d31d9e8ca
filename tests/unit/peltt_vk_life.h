// SPDX-License-Identifier: MIT
// A scene whose objects come and go at random, and what must be in it by the header's word.
#ifndef PELTT_VK_LIFE_H
#define PELTT_VK_LIFE_H

#include "peltt_vk_scene.h"

enum {
    PELTT_VK_LIFE_MODELS = 12,
    PELTT_VK_LIFE_FAMILIES = 2, // of inverse binds
    PELTT_VK_LIFE_JOINTS = 48,
    PELTT_VK_LIFE_TARGETS = 4,
    PELTT_VK_LIFE_MESHES = 8,
    PELTT_VK_LIFE_SKINS = 4,
    PELTT_VK_LIFE_PALETTES = 10,
    PELTT_VK_LIFE_ACTORS = 24,
    PELTT_VK_LIFE_LIMBO = 1024,
    PELTT_VK_LIFE_STALE = 64
};

extern const uint32_t peltt_vk_family_joints[PELTT_VK_LIFE_FAMILIES];

typedef struct peltt_vk_mesh_slot {
    bool live;
    uint32_t use_count;
    pelt_vk_mesh handle;
    uint32_t model;
} peltt_vk_mesh_slot;

typedef struct peltt_vk_skin_slot {
    bool live;
    uint32_t use_count;
    pelt_vk_skin handle;
    uint32_t family;
} peltt_vk_skin_slot;

typedef struct peltt_vk_palette_slot {
    bool live;
    uint32_t use_count;
    pelt_vk_palette handle;
    uint32_t skin;
    pelt_mat34 worlds[PELTT_VK_LIFE_JOINTS];
} peltt_vk_palette_slot;

typedef struct peltt_vk_life_actor {
    bool live;
    pelt_vk_instance handle;
    uint32_t mesh;
    uint32_t palette;
    pelt_vk_instance_options options;
    float weights[PELTT_VK_LIFE_TARGETS];
    bool marked;
    bool teleported;
    uint32_t update_count;
    uint32_t serial;   // a number of its own
    pelt_vk_view view; // as of the last frame
} peltt_vk_life_actor;

// Bytes of a buffer that are peltt_vk_taken; of removed instances until frame has retired.
typedef struct peltt_vk_taken {
    VkBuffer buffer;
    VkDeviceSize begin;
    VkDeviceSize end;
    uint64_t frame;
} peltt_vk_taken;

typedef struct peltt_vk_life {
    peltt_vk_stage stage; // opened by the caller
    peltt_random random;  // seeded by the caller
    peltt_vk_model *models[PELTT_VK_LIFE_MODELS];
    uint32_t families[PELTT_VK_LIFE_MODELS];
    pelt_mat34 binds[PELTT_VK_LIFE_FAMILIES][PELTT_VK_LIFE_JOINTS];
    peltt_vk_mesh_slot meshes[PELTT_VK_LIFE_MESHES];
    peltt_vk_skin_slot skins[PELTT_VK_LIFE_SKINS];
    peltt_vk_palette_slot palettes[PELTT_VK_LIFE_PALETTES];
    peltt_vk_life_actor actors[PELTT_VK_LIFE_ACTORS];
    uint32_t actor_count; // ever
    peltt_vk_taken limbo[PELTT_VK_LIFE_LIMBO];
    uint32_t limbo_count;
    pelt_vk_instance stale_instances[PELTT_VK_LIFE_STALE];
    pelt_vk_mesh stale_meshes[PELTT_VK_LIFE_STALE];
    pelt_vk_skin stale_skins[PELTT_VK_LIFE_STALE];
    pelt_vk_palette stale_palettes[PELTT_VK_LIFE_STALE];
    uint32_t stale_instance_count;
    uint32_t stale_mesh_count;
    uint32_t stale_skin_count;
    uint32_t stale_palette_count;
} peltt_vk_life;

// Makes models of many kinds and the first objects.
void peltt_vk_life_begin(peltt_vk_life *l);
// Frees the models; the stage stays the caller's.
void peltt_vk_life_end(peltt_vk_life *l);
// Some random changes, or none.
void peltt_vk_life_edit(peltt_vk_life *l);
// Handles of what is gone are refused.
void peltt_vk_life_refuse_stale(peltt_vk_life *l);
// No two instances share a byte, nor does one use what a frame that has not retired may still need of one that is gone.
void peltt_vk_life_check_ranges(peltt_vk_life *l, uint64_t retired);

#endif

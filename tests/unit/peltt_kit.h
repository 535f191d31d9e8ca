// SPDX-License-Identifier: MIT
// A small model under construction: a builder with a counting allocator and a log, and a scene to spoil. Everything is
// in file indices; a fresh kit's model is right.
#ifndef PELTT_KIT_H
#define PELTT_KIT_H

#include "peltt_alloc.h"
#include "peltt_warnings.h"

#include <pelt/builder.h>

enum {
    PELTT_KIT_CAPACITY = 8 // of meshes, skins, clips, and of channels and samplers of a clip
};

typedef struct peltt_kit {
    peltt_alloc memory;
    peltt_warnings log;
    pelt_builder *builder;
    pelt_builder_scene scene;
    pelt_builder_node *nodes; // scene.nodes, to be written
    pelt_asset *asset;        // after a successful finish
    pelt_error error;         // of finish
} peltt_kit;

// node_count roots with identity transforms, all in the scene.
void peltt_kit_init(peltt_kit *kit, uint32_t node_count);
// Asserts that every byte was given back.
void peltt_kit_destroy(peltt_kit *kit);
// Zeroed builder memory; the test fails where there is none.
void *peltt_kit_allocate(peltt_kit *kit, uint64_t count, size_t size);
void peltt_kit_children(peltt_kit *kit, uint32_t parent, uint32_t count, const uint32_t *children);
// The default scene lists these nodes.
void peltt_kit_roots(peltt_kit *kit, uint32_t count, const uint32_t *roots);

// A triangle in one primitive; influence_joints 0 = without JOINTS_0, else joints 0 to influence_joints - 1 are used.
uint32_t peltt_kit_mesh(peltt_kit *kit, uint32_t influence_joints, uint32_t target_count);
pelt_primitive *peltt_kit_primitive(peltt_kit *kit, uint32_t mesh);
uint32_t peltt_kit_skin(peltt_kit *kit, uint32_t joint_count, const uint32_t *joints);
// An animation without channels.
uint32_t peltt_kit_clip(peltt_kit *kit);
// Copies keys and values into a new sampler of the clip.
uint32_t peltt_kit_sampler(peltt_kit *kit, uint32_t clip, pelt_interpolation interpolation, uint32_t value_count,
                           uint32_t key_count, const float *times, const float *values);
uint32_t peltt_kit_channel(peltt_kit *kit, uint32_t clip, uint32_t sampler, uint32_t node, pelt_path path);

pelt_result peltt_kit_finish(peltt_kit *kit);
// Finishes; the test fails unless that works. The contents.
const pelt_asset_data *peltt_kit_asset(peltt_kit *kit);
// Finishes; the test fails unless that is INVALID with a message that holds the text.
const pelt_error *peltt_kit_refuse(peltt_kit *kit, const char *text);
// The node of a file index, after a finish.
const pelt_node *peltt_kit_node(const peltt_kit *kit, uint32_t file_index);

#endif

// SPDX-License-Identifier: MIT
// Random skeletons, clips and meshes for comparing the whole evaluation with a reference.
#ifndef PELTT_RANDOM_SCENE_H
#define PELTT_RANDOM_SCENE_H

#include "peltt_asset.h"
#include "peltt_random.h"

enum {
    PELTT_RANDOM_JOINT_LIMIT = 60,
    PELTT_RANDOM_NODE_LIMIT = PELTT_RANDOM_JOINT_LIMIT + 3, // and plain nodes above, and the mesh node
    PELTT_RANDOM_SKIN_LIMIT = 3,
    PELTT_RANDOM_CLIP_LIMIT = 2,
    PELTT_RANDOM_TRACK_LIMIT = 48,
    PELTT_RANDOM_KEY_LIMIT = 5,
    PELTT_RANDOM_TARGET_LIMIT = 3,
    PELTT_RANDOM_VERTEX_LIMIT = 24,
    PELTT_RANDOM_SET_LIMIT = 2
};

// Everything of one random scene, in one allocation.
typedef struct peltt_random_scene {
    uint32_t features;
    uint32_t node_count;
    uint32_t joint_count;
    uint32_t mesh_node;
    uint32_t target_count;
    peltt_node nodes[PELTT_RANDOM_NODE_LIMIT];
    peltt_skin skins[PELTT_RANDOM_SKIN_LIMIT];
    uint32_t joints[PELTT_RANDOM_SKIN_LIMIT][PELTT_RANDOM_JOINT_LIMIT];
    pelt_mat34 inverse_binds[PELTT_RANDOM_SKIN_LIMIT][PELTT_RANDOM_JOINT_LIMIT];
    peltt_clip clips[PELTT_RANDOM_CLIP_LIMIT];
    peltt_track tracks[PELTT_RANDOM_CLIP_LIMIT][PELTT_RANDOM_TRACK_LIMIT];
    float times[PELTT_RANDOM_CLIP_LIMIT][PELTT_RANDOM_TRACK_LIMIT][PELTT_RANDOM_KEY_LIMIT];
    float values[PELTT_RANDOM_CLIP_LIMIT][PELTT_RANDOM_TRACK_LIMIT][PELTT_RANDOM_KEY_LIMIT * 3 * 4];
    uint32_t vertex_count;
    uint32_t set_count;
    uint16_t joints_set[PELTT_RANDOM_SET_LIMIT][PELTT_RANDOM_VERTEX_LIMIT * 4];
    float weights_set[PELTT_RANDOM_SET_LIMIT][PELTT_RANDOM_VERTEX_LIMIT * 4];
    float positions[PELTT_RANDOM_VERTEX_LIMIT * 3];
    float normals[PELTT_RANDOM_VERTEX_LIMIT * 3];
    float tangents[PELTT_RANDOM_VERTEX_LIMIT * 4];
    float deltas[PELTT_RANDOM_TARGET_LIMIT][3][PELTT_RANDOM_VERTEX_LIMIT * 3];
    pelt_morph_target targets[PELTT_RANDOM_TARGET_LIMIT];
} peltt_random_scene;

// Each fills its part of the scene. features and target_count are set before; features is any mask of five bits.
void peltt_random_scene_nodes(peltt_random_scene *s, peltt_random *random);
void peltt_random_scene_skins(peltt_random_scene *s, uint32_t skin_count, peltt_random *random);
void peltt_random_scene_clips(peltt_random_scene *s, uint32_t clip_count, peltt_random *random);
void peltt_random_scene_mesh(peltt_random_scene *s, uint32_t joint_count, peltt_random *random);

#endif

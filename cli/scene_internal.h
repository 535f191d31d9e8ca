// SPDX-License-Identifier: MIT
// Inside scene*.c: the buffers that a scene keeps between evaluations.
#ifndef PELT_CLI_SCENE_INTERNAL_H
#define PELT_CLI_SCENE_INTERNAL_H

#include "scene.h"

typedef struct scene_work {
    scene_streams streams;
    uint32_t item_count;        // skins in use, then one for each rigid instance
    pelt_palette_item *items;   // where each palette lies
    pelt_palette_item *pending; // those to fill in this evaluation
    bool *wanted;               // item_count: whether primitives without a current result need it
    pelt_mat34 *palettes;
    uint32_t *instance_items; // instance_count: index into items
    pelt_skin_morph *morphs;  // as many as the mesh with the most targets has
    uint32_t *target_starts;  // mesh_count: offset of the mesh's targets in the next two
    bool *forced;             // set by --morph
    float *forced_weights;
    uint32_t *mask_starts; // mesh_count: offset of the mesh's primitives in masks
    uint8_t **masks;       // 1 for each vertex that an index uses; NULL where all are used
    size_t mask_count;
    float *scratch;        // positions of the largest primitive, for SCENE_BOXES
    struct scene_gpu *gpu; // where the command's device skins; NULL: the CPU does
    bool in_mesh_space;
    uint32_t clip; // of this evaluation, for messages
    double time;
} scene_work;

// Print and return an exit code.
int scene_out_of_memory(const scene *s);
int scene_library_failure(const scene *s, const char *what, pelt_result result);
// INVALID, naming node, primitive and vertex, where positions or the primitive's normals and tangents are not finite.
int scene_check_finite(const scene *s, const scene_primitive *p, const float *positions);
// Skins one primitive; with rigid set every vertex follows palette[0], whatever influences the file gives.
int scene_skin_primitive(scene *s, scene_primitive *p, const pelt_mat34 *palette, uint32_t palette_count, bool rigid);
// The weight that counts in this evaluation: that of --morph, else the pose's.
float scene_morph_weight(const scene *s, const scene_primitive *p, uint32_t target);
// Sets used_box from box and positions.
void scene_measure_used(const scene *s, scene_primitive *p, const float *positions);
// 1 for each vertex that an index uses; NULL where all are used, and for SCENE_ALL.
const uint8_t *scene_primitive_mask(const scene *s, const scene_primitive *p);

// ---- scene_gpu*.c: the same on context->gpu, from the packed streams. They print what fails and return an exit code.

int scene_gpu_create(scene *s);
void scene_gpu_destroy(scene *s); // harmless without
// Skins every primitive that is not current, with the palettes that are marked in wanted.
int scene_gpu_evaluate(scene *s);
// Skins the rigid primitives again as they stand in mesh space: morphs only.
int scene_gpu_rest_rigid(scene *s);

#endif

// SPDX-License-Identifier: MIT
// A Vulkan scene under test: device, context and scene in one, outputs copied back, and what they must be by the CPU
// path on the same packed streams.
#ifndef PELTT_VK_SCENE_H
#define PELTT_VK_SCENE_H

#include "peltt_alloc.h"
#include "peltt_vk.h"
#include "peltt_vk_model.h"

// ---- Stage

typedef struct peltt_vk_stage {
    peltt_vk vk;
    peltt_alloc memory; // the library's host memory
    pelt_vk_context *context;
    pelt_vk_scene *scene;
    uint64_t frame; // the last one recorded
} peltt_vk_stage;

// Device by peltt_vk_create, context with the counting allocator. edit (may be NULL) changes the context's options.
void peltt_vk_stage_open(peltt_vk_stage *stage, const peltt_vk_options *device, const pelt_vk_scene_options *scene,
                         void (*edit)(pelt_vk_context_options *options));
// Fails the test when memory was leaked or the validation layer said anything.
void peltt_vk_stage_close(peltt_vk_stage *stage);
// Destroys the scene and creates one.
void peltt_vk_stage_scene(peltt_vk_stage *stage, const pelt_vk_scene_options *options);
// Whether a record did nothing at all.
bool peltt_vk_is_nothing(const pelt_vk_statistics *statistics);
// Fails the test with the error's text unless result is PELT_OK.
void peltt_vk_good(pelt_result result, const pelt_error *error);

// ---- Outputs copied back

// Streams to copy in one command buffer, into one mapped buffer. {0} is empty.
typedef struct peltt_vk_fetch {
    pelt_vk_stream *streams;
    uint64_t *places; // in the buffer
    uint32_t count;
    uint32_t capacity;
    peltt_vk_buffer buffer;
} peltt_vk_fetch;

// Returns the stream's index.
uint32_t peltt_vk_fetch_add(peltt_vk_fetch *fetch, const pelt_vk_stream *stream);
// Copies with no barrier in front: what pelt_vk_record releases must do. Reads nothing but the streams and the padding
// between neighbours.
void peltt_vk_fetch_record(peltt_vk_fetch *fetch, peltt_vk *vk, VkCommandBuffer cmd);
// Its bytes once the command buffer has run; NULL where size is 0.
const void *peltt_vk_fetch_get(const peltt_vk_fetch *fetch, uint32_t index);
void peltt_vk_fetch_free(peltt_vk_fetch *fetch, peltt_vk *vk);

// A view whose outputs are being copied.
typedef struct peltt_vk_shot {
    pelt_vk_view view;
    uint32_t indices[7]; // of positions, previous positions, normals, tangents, boxes and mesh indices
} peltt_vk_shot;

peltt_vk_shot peltt_vk_shoot(peltt_vk_fetch *fetch, const pelt_vk_scene *scene, pelt_vk_instance instance);

// ---- What they must be

typedef struct peltt_vk_want {
    const peltt_vk_model *model;
    const pelt_mat34 *worlds;
    const pelt_mat34 *binds; // of the palette's skin
    uint32_t joint_count;
    const float *weights; // the model's target_count; NULL = zero
    bool rigid;
    uint32_t omit;
    pelt_vk_bounds bounds; // not DEFAULT
} peltt_vk_want;

// The worst of all that was compared.
typedef struct peltt_vk_worst {
    double position; // share of the larger of diagonal and largest coordinate
    double normal;   // degrees
    double tangent;
    uint64_t vertex_count;
} peltt_vk_worst;

// Fails the test unless the view has the right streams, formats and addresses.
void peltt_vk_check_view(const peltt_vk *vk, const pelt_vk_view *view, const peltt_vk_want *want);
// Fails the test unless positions are within 1e-6, normals and tangents within 0.01 degrees, the exact box is that of
// the positions bit for bit and the conservative one holds them, tightly by the joint boxes.
void peltt_vk_compare(const peltt_vk_fetch *fetch, const peltt_vk_shot *shot, const peltt_vk_want *want,
                      peltt_vk_worst *worst);

// ---- Actors: an instance with mesh, skin and palette of its own

typedef struct peltt_vk_actor {
    const peltt_vk_model *model;
    pelt_vk_mesh mesh;
    pelt_vk_skin skin;
    pelt_vk_palette palette;
    pelt_vk_instance instance;
    pelt_mat34 *worlds;
    float *weights;
    peltt_vk_want want; // points into the actor, which must stay where it is
} peltt_vk_actor;

// Adds all four; options' mesh and palette are set here, DEFAULT bounds are taken for EXACT. Worlds are the identity.
void peltt_vk_actor_add(peltt_vk_stage *stage, peltt_vk_actor *actor, const peltt_vk_model *model,
                        const pelt_vk_instance_options *options);
// Random worlds, and morph weights in [0, 1].
void peltt_vk_actor_move(peltt_vk_stage *stage, peltt_vk_actor *actor, bool moderate, peltt_random *random);
void peltt_vk_actor_remove(peltt_vk_stage *stage, peltt_vk_actor *actor);
// Records a frame, copies everything back in the next command, waits, retires, and compares all actors.
pelt_vk_statistics peltt_vk_play(peltt_vk_stage *stage, uint32_t actor_count, const peltt_vk_actor *actors,
                                 peltt_vk_worst *worst);

#endif

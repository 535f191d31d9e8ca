// SPDX-License-Identifier: MIT
// An asset's instances on a Vulkan scene, as pose, bounds and verify put them there: a palette for each skin in use and
// each rigid instance, packed meshes uploaded once, and an instance for each primitive.
#ifndef PELT_CLI_GPU_SCENE_H
#define PELT_CLI_GPU_SCENE_H

#include "gpu.h"

// What a scene is made of; all of it stays valid until the scene is destroyed.
typedef struct gpu_scene_source {
    const pelt_asset *asset;
    const pelt_cooked_data *streams; // packed from the asset; needed while primitives are added
    uint32_t palette_count;
    const pelt_palette_item *palettes; // skin PELT_NONE: one matrix, that of the node
    uint32_t capacity;                 // primitives that will be added, at most
    bool conservative;                 // they may ask for conservative boxes
} gpu_scene_source;

typedef struct gpu_scene {
    gpu *device;
    pelt_vk_scene *scene;
    const pelt_asset_data *data;
    uint32_t palette_count;
    const pelt_palette_item *items; // of the source
    pelt_vk_palette *palettes;      // palette_count
    pelt_vk_mesh *meshes;           // of each primitive of the cooked data; {0} where nothing uses it
    uint32_t count;                 // primitives that were added
    pelt_vk_instance *instances;    // of each of them, in that order
} gpu_scene;

// All of these but destroy print what fails and return an exit code.

// out can be destroyed in any case.
int gpu_scene_create(gpu *device, const gpu_scene_source *source, gpu_scene *out);
// Harmless on {0}. Every run must have returned.
void gpu_scene_destroy(gpu_scene *s);
// Adds the cooked primitive as the asset's instance places it. options: what is to be written, and rigid where the mesh
// has no influences; mesh, palette, skin and the rest of rigid are filled in here.
int gpu_scene_add(gpu_scene *s, const pelt_cooked_data *streams, uint32_t cooked, uint32_t instance, uint32_t palette,
                  pelt_vk_instance_options options);
// The world matrices of the palette's pose. at_rest: a rigid instance's is the identity instead. *out_largest, which
// may be NULL, becomes the largest absolute entry.
int gpu_scene_set_palette(gpu_scene *s, uint32_t palette, bool at_rest, double *out_largest);
// As many as the mesh has targets.
int gpu_scene_set_weights(gpu_scene *s, uint32_t primitive, const float *weights, uint32_t count);
// Begins a batch and records the update of all that was set; gpu_read may follow.
int gpu_scene_record(gpu_scene *s);
int gpu_scene_view(const gpu_scene *s, uint32_t primitive, pelt_vk_view *out);
// gpu_run of that batch.
int gpu_scene_run(gpu_scene *s);

// The largest absolute entry.
double gpu_scene_largest(const pelt_mat34 *m);

#endif

// SPDX-License-Identifier: MIT
// Published designs of compute skinning on a Vulkan device, and skinning in the vertex shader: what `pelt bench`
// measures the library's pass against. Each file vk_*.c says which design it re-implements. Compiled into the command.
#ifndef PELT_BENCH_BASELINES_VULKAN_H
#define PELT_BENCH_BASELINES_VULKAN_H

#include <pelt/math.h>
#include <vulkan/vulkan_core.h>

enum {
    BASELINE_VK_MESSAGE_SIZE = 200
};

typedef struct baseline_vk_device {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device; // with bufferDeviceAddress, scalarBlockLayout, and subgroup arithmetic in compute shaders
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    PFN_vkGetDeviceProcAddr get_device_proc_addr;
    VkQueue queue; // compute, and graphics where has_graphics
    uint32_t queue_family;
    bool has_graphics;
} baseline_vk_device;

// Plain host arrays, one entry a vertex, tight. Several meshes may share arrays (they are then still uploaded apart).
typedef struct baseline_vk_mesh {
    uint32_t vertex_count;
    uint32_t joint_count;   // of the palettes that its instances use
    const float *positions; // 3
    const float *normals;   // 3
    const float *tangents;  // 4
    const uint16_t *joints; // 4; unused ones have weight 0
    const float *weights;   // 4
} baseline_vk_mesh;

typedef struct baseline_vk_instance {
    uint32_t mesh;
    uint32_t palette;
} baseline_vk_instance;

// Read by create only.
typedef struct baseline_vk_scene {
    uint32_t mesh_count;
    const baseline_vk_mesh *meshes;
    uint32_t palette_count;
    const uint32_t *first_matrices; // palette_count + 1
    const pelt_mat34 *matrices;     // skinning matrices, already world times inverse bind: resident before the timing
    uint32_t instance_count;
    const baseline_vk_instance *instances;
} baseline_vk_scene;

// What one instance came to, for the check. Directions need not be of unit length.
typedef struct baseline_vk_output {
    float *positions; // 3 a vertex
    float *normals;   // 3
    float *tangents;  // 4
    pelt_box box;     // untouched by designs without one
} baseline_vk_output;

// What a design sends normals through. The three agree where every joint moves rigidly and alone.
typedef enum baseline_vk_normals {
    BASELINE_VK_NORMALS_MATRIX = 0,         // the 3x3 of the blended matrix
    BASELINE_VK_NORMALS_INVERSE_TRANSPOSES, // the blend of the joints' inverse transposes
    BASELINE_VK_NORMALS_COFACTOR            // the cofactor of the blended 3x3, as the library
} baseline_vk_normals;

typedef struct baseline_vk_contender {
    const char *name;
    const char *what; // one line for the docs and --list
    bool has_bounds;
    bool needs_graphics;
    baseline_vk_normals normals;
    // The weights that it skins with after packing, for the check; NULL: as given.
    void (*weights)(const float given[4], float used[4]);
    // Uploads everything and builds pipelines. bounds: false leaves boxes out where the design allows that. message:
    // why it failed (also: a limit of the device that the scene is over), BASELINE_VK_MESSAGE_SIZE bytes. false:
    // nothing is left behind.
    bool (*create)(const baseline_vk_device *device, const baseline_vk_scene *scene, bool bounds, void **state,
                   char *message);
    // One update of the whole scene with the barriers between its own passes and one that releases its outputs to
    // everything after. May be recorded many times.
    void (*record)(void *state, VkCommandBuffer commands);
    // Bytes that its shaders ask for in one record, loads, stores and atomics as their text has them, a vertex, in the
    // mean. A compiler may leave parts out.
    double (*requested_bytes)(const void *state);
    // After a record has finished: copies one instance's outputs back (submits by itself, and waits). false: message.
    bool (*read)(void *state, uint32_t instance, baseline_vk_output *out, char *message);
    void (*destroy)(void *state); // NULL is accepted; the device must be idle
} baseline_vk_contender;

// tutorial, atomics, wave_atomics, groups, vertex_shader
extern const baseline_vk_contender *const baseline_vk_contenders[];
extern const uint32_t baseline_vk_contender_count;

// Not a design of its own and not among them: draws what has been skinned already, from 20 bytes a vertex (positions,
// packed normals and tangents), through the same pipeline as vertex_shader without its skinning. Its streams hold the
// meshes as they were given. Skinning once plus k of these stands against vertex_shader with k passes.
extern const baseline_vk_contender baseline_vk_draw_skinned;

// How often one record of vertex_shader or of draw_skinned draws the scene; 1 after create.
void baseline_vk_vertex_shader_passes(void *state, uint32_t passes);

#endif

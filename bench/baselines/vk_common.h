// SPDX-License-Identifier: MIT
// What the designs share: functions of the device, buffers by address, uploads through a staging buffer, compute
// pipelines, and the tables that lay meshes and instances end to end. Inside bench/baselines only.
#ifndef PELT_BENCH_BASELINES_VK_COMMON_H
#define PELT_BENCH_BASELINES_VK_COMMON_H

#include "vulkan.h"

#define BVK_INSTANCE_FUNCTIONS(X)                                                                                      \
    X(vkGetPhysicalDeviceMemoryProperties)                                                                             \
    X(vkGetPhysicalDeviceProperties2)

#define BVK_DEVICE_FUNCTIONS(X)                                                                                        \
    X(vkAllocateCommandBuffers)                                                                                        \
    X(vkAllocateMemory)                                                                                                \
    X(vkBeginCommandBuffer)                                                                                            \
    X(vkBindBufferMemory)                                                                                              \
    X(vkBindImageMemory)                                                                                               \
    X(vkCmdBeginRenderPass)                                                                                            \
    X(vkCmdBindPipeline)                                                                                               \
    X(vkCmdBindVertexBuffers)                                                                                          \
    X(vkCmdCopyBuffer)                                                                                                 \
    X(vkCmdCopyImageToBuffer)                                                                                          \
    X(vkCmdDispatch)                                                                                                   \
    X(vkCmdDraw)                                                                                                       \
    X(vkCmdEndRenderPass)                                                                                              \
    X(vkCmdPipelineBarrier)                                                                                            \
    X(vkCmdPushConstants)                                                                                              \
    X(vkCmdSetScissor)                                                                                                 \
    X(vkCmdSetViewport)                                                                                                \
    X(vkCreateBuffer)                                                                                                  \
    X(vkCreateCommandPool)                                                                                             \
    X(vkCreateComputePipelines)                                                                                        \
    X(vkCreateFramebuffer)                                                                                             \
    X(vkCreateGraphicsPipelines)                                                                                       \
    X(vkCreateImage)                                                                                                   \
    X(vkCreateImageView)                                                                                               \
    X(vkCreatePipelineLayout)                                                                                          \
    X(vkCreateRenderPass)                                                                                              \
    X(vkCreateShaderModule)                                                                                            \
    X(vkDestroyBuffer)                                                                                                 \
    X(vkDestroyCommandPool)                                                                                            \
    X(vkDestroyFramebuffer)                                                                                            \
    X(vkDestroyImage)                                                                                                  \
    X(vkDestroyImageView)                                                                                              \
    X(vkDestroyPipeline)                                                                                               \
    X(vkDestroyPipelineLayout)                                                                                         \
    X(vkDestroyRenderPass)                                                                                             \
    X(vkDestroyShaderModule)                                                                                           \
    X(vkEndCommandBuffer)                                                                                              \
    X(vkFreeMemory)                                                                                                    \
    X(vkGetBufferDeviceAddress)                                                                                        \
    X(vkGetBufferMemoryRequirements)                                                                                   \
    X(vkGetImageMemoryRequirements)                                                                                    \
    X(vkMapMemory)                                                                                                     \
    X(vkQueueSubmit)                                                                                                   \
    X(vkQueueWaitIdle)                                                                                                 \
    X(vkResetCommandPool)

enum {
    BVK_PUSH_SIZE = 128,          // bytes of push constants that every device has
    BVK_GROUP = 64,               // threads of a workgroup, in all designs
    BVK_STAGING_SIZE = 16U << 20U // bytes
};

#define BVK_MEMBER(name) PFN_##name name;

// A design's hold on the device. Every function that returns bool writes why into message where it returns false.
typedef struct bvk {
    baseline_vk_device device;
    BVK_INSTANCE_FUNCTIONS(BVK_MEMBER)
    BVK_DEVICE_FUNCTIONS(BVK_MEMBER)
    VkPhysicalDeviceMemoryProperties memory;
    VkPhysicalDeviceLimits limits;
    VkDeviceSize allocation_limit;
    uint32_t subgroup_size; // the usual one
    VkCommandPool pool;
    VkCommandBuffer commands; // for work of its own, one batch at a time
    VkBuffer staging;
    VkDeviceMemory staging_memory;
    void *staging_data;
    VkPipelineLayout layout; // of compute pipelines: push constants alone
    char *message;           // the caller's, for as long as the call lasts
} bvk;

// A state of zeros; NULL and a message where there is no memory.
void *bvk_state(size_t size, char *message);
bool bvk_open(bvk *vk, const baseline_vk_device *device, char *message);
void bvk_close(bvk *vk);                               // harmless on what was opened in part
bool bvk_fail(const bvk *vk, const char *format, ...); // false
bool bvk_check(const bvk *vk, VkResult result, const char *what);
bool bvk_memory_type(const bvk *vk, uint32_t allowed, VkMemoryPropertyFlags wanted, uint32_t *out);

// ---- Buffers in device memory, with an address; all are zero or created

typedef struct bvk_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize size;
    VkDeviceAddress address;
} bvk_buffer;

bool bvk_buffer_create(const bvk *vk, VkDeviceSize size, bvk_buffer *out);
void bvk_buffer_destroy(const bvk *vk, bvk_buffer *buffer);

// Commands of our own: begin, record into vk->commands, run, which waits.
bool bvk_begin(const bvk *vk);
bool bvk_run(const bvk *vk);

// Writes a buffer from its start, piece after piece.
typedef struct bvk_writer {
    const bvk *vk;
    const bvk_buffer *to;
    VkDeviceSize written;
    VkDeviceSize staged; // after what is written
} bvk_writer;

bool bvk_write(bvk_writer *writer, const void *data, size_t size);
bool bvk_write_end(bvk_writer *writer);
// A buffer of its own for data.
bool bvk_upload(const bvk *vk, const void *data, size_t size, bvk_buffer *out);
bool bvk_download(const bvk *vk, const bvk_buffer *from, VkDeviceSize offset, void *out, size_t size);

// ---- Compute

// constants: specialisation constants 0 and on.
bool bvk_pipeline(const bvk *vk, const uint32_t *words, size_t size, const uint32_t *constants, uint32_t constant_count,
                  VkPipeline *out);
// Whether a dispatch of so many workgroups can be had, as rows where they are too many for one.
bool bvk_dispatch_fits(const bvk *vk, uint64_t group_count);
// Shaders find their workgroup's number with group_index().
void bvk_dispatch(const bvk *vk, VkCommandBuffer commands, VkPipeline pipeline, const void *push, uint32_t push_size,
                  uint32_t group_count);
// Between two compute passes.
void bvk_pass_barrier(const bvk *vk, VkCommandBuffer commands);
// After the last pass: what it wrote may be read, and written again, by everything after.
void bvk_release(const bvk *vk, VkCommandBuffer commands);

// ---- Meshes and instances end to end (vk_scene.c)

typedef struct bvk_table {
    uint32_t mesh_count;
    uint32_t instance_count;
    uint32_t joint_bound;    // most joints of a palette
    uint32_t *mesh_firsts;   // mesh_count + 1: first vertex of each mesh in the streams
    uint32_t *firsts;        // instance_count + 1: first vertex of each instance in the outputs
    uint32_t *meshes;        // of each instance
    uint32_t *matrix_firsts; // of each instance, in the palettes end to end
} bvk_table;

bool bvk_table_create(const bvk *vk, const baseline_vk_scene *scene, bvk_table *out);
void bvk_table_destroy(bvk_table *table);
uint32_t bvk_table_count(const bvk_table *table, uint32_t instance); // vertices

// Writes the vertices of one mesh in a design's format, stride bytes each.
typedef void bvk_encode(const baseline_vk_mesh *mesh, void *out);
// Creates a buffer of all meshes, one after the other.
bool bvk_upload_meshes(const bvk *vk, const baseline_vk_scene *scene, size_t stride, bvk_encode *encode,
                       bvk_buffer *out);
// All palettes end to end, size bytes a matrix.
typedef void bvk_encode_matrix(const pelt_mat34 *matrix, void *out);
bool bvk_upload_matrices(const bvk *vk, const baseline_vk_scene *scene, size_t size, bvk_encode_matrix *encode,
                         bvk_buffer *out);

void bvk_encode_positions(const baseline_vk_mesh *mesh, void *out); // 12
void bvk_encode_normals(const baseline_vk_mesh *mesh, void *out);   // 4, octahedral
void bvk_encode_tangents(const baseline_vk_mesh *mesh, void *out);  // 4, the same with the sign of w
// 8: 16 bits each. Of influences without weight, here and in every design, the first joint: what they name need not be
// there.
void bvk_encode_joints16(const baseline_vk_mesh *mesh, void *out);
void bvk_encode_mat34(const pelt_mat34 *matrix, void *out); // 48, rows
void bvk_encode_mat4(const pelt_mat34 *matrix, void *out);  // 64, columns

// Streams that most designs write, 20 bytes a vertex.
typedef struct bvk_outputs {
    bvk_buffer positions;
    bvk_buffer normals;
    bvk_buffer tangents;
    bvk_buffer boxes; // 24 an instance; none without bounds
} bvk_outputs;

bool bvk_outputs_create(const bvk *vk, const bvk_table *table, bool bounds, bvk_outputs *out);
void bvk_outputs_destroy(const bvk *vk, bvk_outputs *outputs);
bool bvk_outputs_read(const bvk *vk, const bvk_table *table, const bvk_outputs *outputs, uint32_t instance,
                      baseline_vk_output *out);

// Vertices of all instances.
double bvk_vertex_total(const bvk_table *table);
// Loads of a binary search among count.
double bvk_search_steps(uint32_t count);

extern const baseline_vk_contender bvk_tutorial;
extern const baseline_vk_contender bvk_atomics;
extern const baseline_vk_contender bvk_wave_atomics;
extern const baseline_vk_contender bvk_groups;
extern const baseline_vk_contender bvk_vertex_shader;

#endif

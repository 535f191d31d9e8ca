// SPDX-License-Identifier: MIT
// The compute skinning of the Khronos Vulkan tutorial: "Advanced glTF", chapter "Skeletal & Compute Skinning",
// https://docs.vulkan.org/tutorial/latest/Advanced_glTF/Skeletal_Compute_Skinning/03_compute_skinning.html, as it is
// described there. A mesh is one dispatch of 64 threads a workgroup, one thread a vertex; after all dispatches stands a
// barrier for each mesh's output range. Vertices are interleaved: 80 bytes in (position, normal, tangent, texture
// coordinates, 32-bit joints, float weights), the first 48 of them out. The blended 4x4 matrix moves positions, its 3x3
// normals and tangents, which are normalised. There is no box.
// Not as there: buffers are given by address and not by descriptor sets, all meshes share one buffer for each purpose,
// and texture coordinates are zero.
#include "vk_common.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t tutorial_words[] =
#include "baseline_tutorial.comp.inc"
    ;

typedef struct input_vertex {
    float position[3];
    float normal[3];
    float tangent[4];
    float texcoord[2];
    uint32_t joints[4];
    float weights[4];
} input_vertex;

typedef struct output_vertex {
    float position[3];
    float normal[3];
    float tangent[4];
    float texcoord[2];
} output_vertex;

typedef struct tutorial_push {
    VkDeviceAddress vertices;
    VkDeviceAddress palette;
    VkDeviceAddress outputs;
    uint32_t vertex_count;
} tutorial_push;

typedef struct tutorial {
    bvk vk;
    bvk_table table;
    bvk_buffer vertices;
    bvk_buffer matrices;
    bvk_buffer outputs;
    VkPipeline pipeline;
} tutorial;

static void encode_vertices(const baseline_vk_mesh *mesh, void *out)
{
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        input_vertex v = {0};
        memcpy(v.position, mesh->positions + i * 3, sizeof v.position);
        memcpy(v.normal, mesh->normals + i * 3, sizeof v.normal);
        memcpy(v.tangent, mesh->tangents + i * 4, sizeof v.tangent);
        memcpy(v.weights, mesh->weights + i * 4, sizeof v.weights);
        for (size_t k = 0; k < 4; k++) {
            v.joints[k] = v.weights[k] != 0.0F ? mesh->joints[i * 4 + k] : 0;
        }
        memcpy((input_vertex *)out + i, &v, sizeof v);
    }
}

static void destroy(void *state)
{
    tutorial *t = state;
    if (!t) {
        return;
    }
    bvk_buffer_destroy(&t->vk, &t->vertices);
    bvk_buffer_destroy(&t->vk, &t->matrices);
    bvk_buffer_destroy(&t->vk, &t->outputs);
    if (t->vk.device.device) {
        t->vk.vkDestroyPipeline(t->vk.device.device, t->pipeline, NULL);
    }
    bvk_close(&t->vk);
    bvk_table_destroy(&t->table);
    free(t);
}

static bool build(tutorial *t, const baseline_vk_device *device, const baseline_vk_scene *scene, char *message)
{
    if (!bvk_open(&t->vk, device, message) || !bvk_table_create(&t->vk, scene, &t->table)) {
        return false;
    }
    VkDeviceSize output_count = t->table.firsts[t->table.instance_count];
    return bvk_upload_meshes(&t->vk, scene, sizeof(input_vertex), encode_vertices, &t->vertices) &&
           bvk_upload_matrices(&t->vk, scene, 64, bvk_encode_mat4, &t->matrices) &&
           bvk_buffer_create(&t->vk, output_count * sizeof(output_vertex), &t->outputs) &&
           bvk_pipeline(&t->vk, tutorial_words, sizeof tutorial_words, NULL, 0, &t->pipeline);
}

static bool create(const baseline_vk_device *device, const baseline_vk_scene *scene, bool bounds, void **state,
                   char *message)
{
    (void)bounds;
    tutorial *t = bvk_state(sizeof *t, message);
    *state = t;
    if (t && build(t, device, scene, message)) {
        return true;
    }
    destroy(t);
    *state = NULL;
    return false;
}

static void record(void *state, VkCommandBuffer commands)
{
    tutorial *t = state;
    const bvk *vk = &t->vk;
    for (uint32_t i = 0; i < t->table.instance_count; i++) {
        VkDeviceSize first = t->table.mesh_firsts[t->table.meshes[i]];
        uint32_t count = bvk_table_count(&t->table, i);
        tutorial_push push = {
            t->vertices.address + first * sizeof(input_vertex),
            t->matrices.address + (VkDeviceSize)t->table.matrix_firsts[i] * 64,
            t->outputs.address + (VkDeviceSize)t->table.firsts[i] * sizeof(output_vertex),
            count,
        };
        bvk_dispatch(vk, commands, t->pipeline, &push, sizeof push, (count + BVK_GROUP - 1) / BVK_GROUP);
    }
    VkPipelineStageFlags readers = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT |
                                   (vk->device.has_graphics ? VK_PIPELINE_STAGE_VERTEX_INPUT_BIT : 0U);
    VkAccessFlags reads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
                          (vk->device.has_graphics ? VK_ACCESS_VERTEX_ATTRIBUTE_READ_BIT : 0U);
    for (uint32_t i = 0; i < t->table.instance_count; i++) {
        VkBufferMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
                                         .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                         .dstAccessMask = reads,
                                         .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                         .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                         .buffer = t->outputs.buffer,
                                         .offset = (VkDeviceSize)t->table.firsts[i] * sizeof(output_vertex),
                                         .size = (VkDeviceSize)bvk_table_count(&t->table, i) * sizeof(output_vertex)};
        if (barrier.size > 0) {
            vk->vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, readers, 0, 0, NULL, 1, &barrier,
                                     0, NULL);
        }
    }
}

// A vertex: 80 bytes in, four matrices of 64, 48 out. Nothing else: where things lie comes by push constants.
static double requested_bytes(const void *state)
{
    (void)state;
    return sizeof(input_vertex) + 4 * 64 + sizeof(output_vertex);
}

static bool read(void *state, uint32_t instance, baseline_vk_output *out, char *message)
{
    tutorial *t = state;
    t->vk.message = message;
    size_t count = bvk_table_count(&t->table, instance);
    output_vertex *vertices = malloc((count + 1) * sizeof *vertices);
    if (!vertices) {
        return bvk_fail(&t->vk, "out of memory");
    }
    bool copied = bvk_download(&t->vk, &t->outputs, t->table.firsts[instance] * sizeof *vertices, vertices,
                               count * sizeof *vertices);
    for (size_t i = 0; copied && i < count; i++) {
        memcpy(out->positions + i * 3, vertices[i].position, sizeof vertices->position);
        memcpy(out->normals + i * 3, vertices[i].normal, sizeof vertices->normal);
        memcpy(out->tangents + i * 4, vertices[i].tangent, sizeof vertices->tangent);
    }
    free(vertices);
    return copied;
}

const baseline_vk_contender bvk_tutorial = {
    .name = "tutorial",
    .what = "the Khronos tutorial: a dispatch and a barrier for each mesh, 48-byte vertices, 4x4 matrices, no box",
    .normals = BASELINE_VK_NORMALS_MATRIX,
    .create = create,
    .record = record,
    .requested_bytes = requested_bytes,
    .read = read,
    .destroy = destroy,
};

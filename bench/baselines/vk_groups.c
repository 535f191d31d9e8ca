// SPDX-License-Identifier: MIT
// The pass that the renderer Breda came to (Traverse Research; "Ray tracing animated crowds", 2026,
// https://www.evolvebenchmark.com/blog-posts/ray-tracing-animated-crowds): one dispatch for the scene, without atomics,
// 220 bytes read for a vertex. Each instance is cut into groups of 64 vertices, the last of them padded, so that a
// workgroup has one instance, which it finds by a binary search of a prefix sum of group counts. 3x4 matrices (192 for
// four influences), float positions (12), packed normals and tangents (8), weights of 11 + 11 + 10 bits with the fourth
// implied (4), four joints (4 where the palettes have up to 256 matrices, as the 220 bytes have it, else 16 bits each).
// Normals go through the cofactor of the blended matrix. A group's box is reduced in subgroups and shared memory and
// stored as a partial of its own; a second pass, one workgroup an instance, unites them. 20 bytes are written a vertex,
// as the library does.
#include "vk_common.h"

#include <pelt/packed.h>

#include <math.h>
#include <stdlib.h>

static const uint32_t skin_words[] =
#include "baseline_groups.comp.inc"
    ;
static const uint32_t reduce_words[] =
#include "baseline_groups_reduce.comp.inc"
    ;

enum {
    BOX_SIZE = 24,
    MATRIX_SIZE = 48,
    JOINTS_IN_8_BITS = 256
};

typedef struct instance_record {
    uint32_t first_vertex;
    uint32_t vertex_count;
    uint32_t first_output;
    uint32_t first_matrix;
} instance_record;

typedef struct skin_push {
    VkDeviceAddress positions;
    VkDeviceAddress normals;
    VkDeviceAddress tangents;
    VkDeviceAddress joints;
    VkDeviceAddress weights;
    VkDeviceAddress palette;
    VkDeviceAddress firsts;
    VkDeviceAddress instances;
    VkDeviceAddress out_positions;
    VkDeviceAddress out_normals;
    VkDeviceAddress out_tangents;
    VkDeviceAddress partials;
    uint32_t group_count;
    uint32_t instance_count;
} skin_push;

typedef struct reduce_push {
    VkDeviceAddress firsts;
    VkDeviceAddress partials;
    VkDeviceAddress boxes;
    uint32_t instance_count;
} reduce_push;

typedef struct groups {
    bvk vk;
    bvk_table table;
    bool bounds;
    bool joints_8; // in 8 bits
    uint32_t group_count;
    bvk_buffer positions;
    bvk_buffer normals;
    bvk_buffer tangents;
    bvk_buffer joints;
    bvk_buffer weights;
    bvk_buffer matrices;
    bvk_buffer firsts;
    bvk_buffer instances;
    bvk_buffer partials;
    bvk_outputs outputs;
    VkPipeline skin;
    VkPipeline reduce;
} groups;

// ---- formats

// Weights and joints are packed together: where rounding needs another weight to be the implied one, joints follow.
static uint32_t pack_weights(const float *weights, uint8_t order[4])
{
    return pelt_weights_encode(PELT_WEIGHTS_PLAIN, weights, order);
}

static void used_weights(const float given[4], float used[4])
{
    uint8_t order[4];
    float decoded[4];
    pelt_weights_decode(PELT_WEIGHTS_PLAIN, pack_weights(given, order), decoded);
    for (int slot = 0; slot < 4; slot++) {
        used[order[slot]] = decoded[slot];
    }
}

static void encode_weights(const baseline_vk_mesh *mesh, void *out)
{
    uint32_t *codes = out;
    uint8_t order[4];
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        codes[i] = pack_weights(mesh->weights + i * 4, order);
    }
}

static uint16_t joint_of_slot(const baseline_vk_mesh *mesh, size_t vertex, uint8_t slot_input)
{
    size_t at = vertex * 4 + slot_input;
    return mesh->weights[at] != 0.0F ? mesh->joints[at] : 0;
}

static void encode_joints16(const baseline_vk_mesh *mesh, void *out)
{
    uint16_t *joints = out;
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        uint8_t order[4];
        pack_weights(mesh->weights + i * 4, order);
        for (size_t slot = 0; slot < 4; slot++) {
            joints[i * 4 + slot] = joint_of_slot(mesh, i, order[slot]);
        }
    }
}

static void encode_joints8(const baseline_vk_mesh *mesh, void *out)
{
    uint8_t *joints = out;
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        uint8_t order[4];
        pack_weights(mesh->weights + i * 4, order);
        for (size_t slot = 0; slot < 4; slot++) {
            joints[i * 4 + slot] = (uint8_t)joint_of_slot(mesh, i, order[slot]);
        }
    }
}

// ---- creation

static void destroy(void *state)
{
    groups *g = state;
    if (!g) {
        return;
    }
    bvk_buffer *buffers[] = {&g->positions, &g->normals, &g->tangents,  &g->joints,  &g->weights,
                             &g->matrices,  &g->firsts,  &g->instances, &g->partials};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        bvk_buffer_destroy(&g->vk, buffers[i]);
    }
    bvk_outputs_destroy(&g->vk, &g->outputs);
    if (g->vk.device.device) {
        g->vk.vkDestroyPipeline(g->vk.device.device, g->skin, NULL);
        g->vk.vkDestroyPipeline(g->vk.device.device, g->reduce, NULL);
    }
    bvk_close(&g->vk);
    bvk_table_destroy(&g->table);
    free(g);
}

static bool upload_instances(groups *g)
{
    const bvk_table *table = &g->table;
    size_t count = table->instance_count;
    instance_record *records = calloc(count + 1, sizeof *records);
    uint32_t *firsts = calloc(count + 1, sizeof *firsts);
    bool uploaded = records && firsts ? true : bvk_fail(&g->vk, "out of memory");
    for (uint32_t i = 0; uploaded && i < count; i++) {
        uint32_t vertices = bvk_table_count(table, i);
        records[i] = (instance_record){table->mesh_firsts[table->meshes[i]], vertices, table->firsts[i],
                                       table->matrix_firsts[i]};
        firsts[i + 1] = firsts[i] + (vertices + BVK_GROUP - 1) / BVK_GROUP;
    }
    uploaded = uploaded && bvk_upload(&g->vk, records, count * sizeof *records, &g->instances) &&
               bvk_upload(&g->vk, firsts, (count + 1) * sizeof *firsts, &g->firsts);
    g->group_count = uploaded ? firsts[count] : 0;
    free(records);
    free(firsts);
    return uploaded;
}

static bool upload(groups *g, const baseline_vk_scene *scene)
{
    const bvk *vk = &g->vk;
    g->joints_8 = g->table.joint_bound <= JOINTS_IN_8_BITS;
    return bvk_upload_meshes(vk, scene, 12, bvk_encode_positions, &g->positions) &&
           bvk_upload_meshes(vk, scene, 4, bvk_encode_normals, &g->normals) &&
           bvk_upload_meshes(vk, scene, 4, bvk_encode_tangents, &g->tangents) &&
           bvk_upload_meshes(vk, scene, g->joints_8 ? 4 : 8, g->joints_8 ? encode_joints8 : encode_joints16,
                             &g->joints) &&
           bvk_upload_meshes(vk, scene, 4, encode_weights, &g->weights) &&
           bvk_upload_matrices(vk, scene, MATRIX_SIZE, bvk_encode_mat34, &g->matrices) && upload_instances(g) &&
           bvk_outputs_create(vk, &g->table, g->bounds, &g->outputs) &&
           (!g->bounds || bvk_buffer_create(vk, (VkDeviceSize)g->group_count * BOX_SIZE, &g->partials));
}

static bool build(groups *g, const baseline_vk_device *device, const baseline_vk_scene *scene, char *message)
{
    const bvk *vk = &g->vk;
    if (!bvk_open(&g->vk, device, message) || !bvk_table_create(vk, scene, &g->table) || !upload(g, scene)) {
        return false;
    }
    const uint32_t constants[] = {g->bounds, g->joints_8};
    return bvk_dispatch_fits(vk, g->group_count) && bvk_dispatch_fits(vk, scene->instance_count) &&
           bvk_pipeline(vk, skin_words, sizeof skin_words, constants, 2, &g->skin) &&
           bvk_pipeline(vk, reduce_words, sizeof reduce_words, NULL, 0, &g->reduce);
}

static bool create(const baseline_vk_device *device, const baseline_vk_scene *scene, bool bounds, void **state,
                   char *message)
{
    groups *g = bvk_state(sizeof *g, message);
    *state = g;
    if (g) {
        g->bounds = bounds;
        if (build(g, device, scene, message)) {
            return true;
        }
    }
    destroy(g);
    *state = NULL;
    return false;
}

// ---- the pass

static void record(void *state, VkCommandBuffer commands)
{
    groups *g = state;
    const bvk *vk = &g->vk;
    skin_push skin = {
        g->positions.address,
        g->normals.address,
        g->tangents.address,
        g->joints.address,
        g->weights.address,
        g->matrices.address,
        g->firsts.address,
        g->instances.address,
        g->outputs.positions.address,
        g->outputs.normals.address,
        g->outputs.tangents.address,
        g->partials.address,
        g->group_count,
        g->table.instance_count,
    };
    bvk_dispatch(vk, commands, g->skin, &skin, sizeof skin, g->group_count);
    if (g->bounds) {
        bvk_pass_barrier(vk, commands);
        reduce_push reduce = {g->firsts.address, g->partials.address, g->outputs.boxes.address,
                              g->table.instance_count};
        bvk_dispatch(vk, commands, g->reduce, &reduce, sizeof reduce, g->table.instance_count);
    }
    bvk_release(vk, commands);
}

// A vertex: streams 28 or 32 in and 20 out, four matrices. Every thread, also one that pads a group: a word for each
// step of the search, the instance's record and start. A group: a partial written and read. An instance: two starts for
// each of the 64 threads that unite its partials, and its box.
static double requested_bytes(const void *state)
{
    const groups *g = state;
    double vertices = fmax(bvk_vertex_total(&g->table), 1);
    double threads = (double)g->group_count * BVK_GROUP / vertices;
    double bytes = (g->joints_8 ? 28 : 32) + 4 * MATRIX_SIZE + 20 +
                   threads * (4 * bvk_search_steps(g->table.instance_count) + sizeof(instance_record) + 4);
    if (g->bounds) {
        bytes += (double)g->group_count / vertices * 2 * BOX_SIZE;
        bytes += (double)g->table.instance_count / vertices * (8 * BVK_GROUP + BOX_SIZE);
    }
    return bytes;
}

static bool read(void *state, uint32_t instance, baseline_vk_output *out, char *message)
{
    groups *g = state;
    g->vk.message = message;
    return bvk_outputs_read(&g->vk, &g->table, &g->outputs, instance, out);
}

const baseline_vk_contender bvk_groups = {
    .name = "groups",
    .what = "one dispatch of 64-vertex groups, packed streams, 3x4 matrices, 220 bytes read a vertex, partial boxes",
    .has_bounds = true,
    .normals = BASELINE_VK_NORMALS_COFACTOR,
    .weights = used_weights,
    .create = create,
    .record = record,
    .requested_bytes = requested_bytes,
    .read = read,
    .destroy = destroy,
};

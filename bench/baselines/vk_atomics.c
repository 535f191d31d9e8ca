// SPDX-License-Identifier: MIT
// Two designs that skin a whole scene in one dispatch and take boxes with atomics.
// atomics: the pass that the renderer Breda had at first (Traverse Research; "Ray tracing animated crowds", 2026,
// https://www.evolvebenchmark.com/blog-posts/ray-tracing-animated-crowds), of which 564 bytes are read for a vertex: a
// position (12), a packed normal and a packed tangent (8), four 32-bit joints (16), four float weights (16), and for
// each influence a 4x4 skinning matrix and its 4x4 inverse transpose (512). Instances lie end to end, one thread a
// vertex, 64 a workgroup, and a thread finds its instance by a binary search of where they start. A pass before empties
// the boxes, every vertex then does six integer atomics on its instance's, in an order of integers that is that of the
// floats, and a pass after turns them back into floats. wave_atomics: the same, but where all threads of a subgroup
// have one instance, the subgroup's minimum and maximum are taken first and one of them does the atomics. Both write 20
// bytes a vertex, as the library does.
#include "vk_common.h"

#include <math.h>
#include <stdlib.h>

static const uint32_t skin_words[] =
#include "baseline_atomics.comp.inc"
    ;
static const uint32_t reset_words[] =
#include "baseline_atomics_reset.comp.inc"
    ;
static const uint32_t resolve_words[] =
#include "baseline_atomics_resolve.comp.inc"
    ;

enum {
    BOX_SIZE = 24,
    MATRICES_SIZE = 128 // of a joint
};

typedef struct instance_record {
    uint32_t first_vertex;
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
    VkDeviceAddress boxes;
    uint32_t vertex_count;
    uint32_t instance_count;
} skin_push;

typedef struct reset_push {
    VkDeviceAddress boxes;
    uint32_t instance_count;
} reset_push;

typedef struct resolve_push {
    VkDeviceAddress boxes;
    VkDeviceAddress resolved;
    uint32_t instance_count;
} resolve_push;

typedef struct atomics {
    bvk vk;
    bvk_table table;
    bool bounds;
    bvk_buffer positions;
    bvk_buffer normals;
    bvk_buffer tangents;
    bvk_buffer joints;
    bvk_buffer weights;
    bvk_buffer matrices;
    bvk_buffer firsts;
    bvk_buffer instances;
    bvk_buffer ordered_boxes;
    bvk_outputs outputs;
    VkPipeline skin;
    VkPipeline reset;
    VkPipeline resolve;
} atomics;

// ---- formats

static void encode_joints(const baseline_vk_mesh *mesh, void *out)
{
    uint32_t *joints = out;
    for (size_t i = 0; i < (size_t)mesh->vertex_count * 4; i++) {
        joints[i] = mesh->weights[i] != 0.0F ? mesh->joints[i] : 0;
    }
}

static void encode_weights(const baseline_vk_mesh *mesh, void *out)
{
    float *weights = out;
    for (size_t i = 0; i < (size_t)mesh->vertex_count * 4; i++) {
        weights[i] = mesh->weights[i];
    }
}

// Row i of the inverse transpose is the cofactor's over the determinant; of a singular matrix, the cofactor's. Columns
// in memory; the translation moves no normal and is left out.
static void encode_matrices(const pelt_mat34 *matrix, void *out)
{
    float *m = out;
    bvk_encode_mat4(matrix, m);
    double r[3][3];
    double c[3][3];
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++) {
            r[row][column] = (double)matrix->m[row][column];
        }
    }
    for (int row = 0; row < 3; row++) {
        const double *a = r[(row + 1) % 3];
        const double *b = r[(row + 2) % 3];
        for (int column = 0; column < 3; column++) {
            int y = (column + 1) % 3;
            int z = (column + 2) % 3;
            c[row][column] = a[y] * b[z] - a[z] * b[y];
        }
    }
    double determinant = r[0][0] * c[0][0] + r[0][1] * c[0][1] + r[0][2] * c[0][2];
    double scale = determinant != 0.0 ? 1.0 / determinant : 1.0;
    for (int column = 0; column < 4; column++) {
        for (int row = 0; row < 4; row++) {
            bool inside = column < 3 && row < 3;
            double value = inside ? c[row][column] * scale : column == row;
            m[16 + column * 4 + row] = (float)value;
        }
    }
}

// ---- creation

static void destroy(void *state)
{
    atomics *a = state;
    if (!a) {
        return;
    }
    bvk_buffer *buffers[] = {&a->positions, &a->normals, &a->tangents,  &a->joints,       &a->weights,
                             &a->matrices,  &a->firsts,  &a->instances, &a->ordered_boxes};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        bvk_buffer_destroy(&a->vk, buffers[i]);
    }
    bvk_outputs_destroy(&a->vk, &a->outputs);
    if (a->vk.device.device) {
        a->vk.vkDestroyPipeline(a->vk.device.device, a->skin, NULL);
        a->vk.vkDestroyPipeline(a->vk.device.device, a->reset, NULL);
        a->vk.vkDestroyPipeline(a->vk.device.device, a->resolve, NULL);
    }
    bvk_close(&a->vk);
    bvk_table_destroy(&a->table);
    free(a);
}

static bool upload_instances(atomics *a)
{
    const bvk_table *table = &a->table;
    instance_record *records = calloc((size_t)table->instance_count + 1, sizeof *records);
    if (!records) {
        return bvk_fail(&a->vk, "out of memory");
    }
    for (uint32_t i = 0; i < table->instance_count; i++) {
        records[i] = (instance_record){table->mesh_firsts[table->meshes[i]], table->matrix_firsts[i]};
    }
    bool uploaded =
        bvk_upload(&a->vk, records, table->instance_count * sizeof *records, &a->instances) &&
        bvk_upload(&a->vk, table->firsts, ((size_t)table->instance_count + 1) * sizeof *table->firsts, &a->firsts);
    free(records);
    return uploaded;
}

static bool upload(atomics *a, const baseline_vk_scene *scene)
{
    const bvk *vk = &a->vk;
    return bvk_upload_meshes(vk, scene, 12, bvk_encode_positions, &a->positions) &&
           bvk_upload_meshes(vk, scene, 4, bvk_encode_normals, &a->normals) &&
           bvk_upload_meshes(vk, scene, 4, bvk_encode_tangents, &a->tangents) &&
           bvk_upload_meshes(vk, scene, 16, encode_joints, &a->joints) &&
           bvk_upload_meshes(vk, scene, 16, encode_weights, &a->weights) &&
           bvk_upload_matrices(vk, scene, MATRICES_SIZE, encode_matrices, &a->matrices) && upload_instances(a) &&
           bvk_outputs_create(vk, &a->table, a->bounds, &a->outputs) &&
           (!a->bounds || bvk_buffer_create(vk, (VkDeviceSize)scene->instance_count * BOX_SIZE, &a->ordered_boxes));
}

static bool build(atomics *a, const baseline_vk_device *device, const baseline_vk_scene *scene, bool per_subgroup,
                  char *message)
{
    const bvk *vk = &a->vk;
    if (!bvk_open(&a->vk, device, message) || !bvk_table_create(vk, scene, &a->table) ||
        !bvk_dispatch_fits(vk, ((uint64_t)a->table.firsts[scene->instance_count] + BVK_GROUP - 1) / BVK_GROUP)) {
        return false;
    }
    const uint32_t constants[] = {a->bounds, per_subgroup};
    return upload(a, scene) && bvk_pipeline(vk, skin_words, sizeof skin_words, constants, 2, &a->skin) &&
           bvk_pipeline(vk, reset_words, sizeof reset_words, NULL, 0, &a->reset) &&
           bvk_pipeline(vk, resolve_words, sizeof resolve_words, NULL, 0, &a->resolve);
}

static bool create(const baseline_vk_device *device, const baseline_vk_scene *scene, bool bounds, bool per_subgroup,
                   void **state, char *message)
{
    atomics *a = bvk_state(sizeof *a, message);
    *state = a;
    if (a) {
        a->bounds = bounds;
        if (build(a, device, scene, per_subgroup, message)) {
            return true;
        }
    }
    destroy(a);
    *state = NULL;
    return false;
}

static bool create_plain(const baseline_vk_device *device, const baseline_vk_scene *scene, bool bounds, void **state,
                         char *message)
{
    return create(device, scene, bounds, false, state, message);
}

static bool create_wave(const baseline_vk_device *device, const baseline_vk_scene *scene, bool bounds, void **state,
                        char *message)
{
    return create(device, scene, bounds, true, state, message);
}

// ---- the pass

static void record(void *state, VkCommandBuffer commands)
{
    atomics *a = state;
    const bvk *vk = &a->vk;
    uint32_t vertex_count = a->table.firsts[a->table.instance_count];
    uint32_t instance_count = a->table.instance_count;
    uint32_t instance_groups = (instance_count + BVK_GROUP - 1) / BVK_GROUP;
    skin_push skin = {
        a->positions.address,
        a->normals.address,
        a->tangents.address,
        a->joints.address,
        a->weights.address,
        a->matrices.address,
        a->firsts.address,
        a->instances.address,
        a->outputs.positions.address,
        a->outputs.normals.address,
        a->outputs.tangents.address,
        a->ordered_boxes.address,
        vertex_count,
        instance_count,
    };
    if (a->bounds) {
        reset_push reset = {a->ordered_boxes.address, instance_count};
        bvk_dispatch(vk, commands, a->reset, &reset, sizeof reset, instance_groups);
        bvk_pass_barrier(vk, commands);
    }
    bvk_dispatch(vk, commands, a->skin, &skin, sizeof skin, (vertex_count + BVK_GROUP - 1) / BVK_GROUP);
    if (a->bounds) {
        bvk_pass_barrier(vk, commands);
        resolve_push resolve = {a->ordered_boxes.address, a->outputs.boxes.address, instance_count};
        bvk_dispatch(vk, commands, a->resolve, &resolve, sizeof resolve, instance_groups);
    }
    bvk_release(vk, commands);
}

// A vertex: streams 52 in and 20 out, four times 128 of matrices, a word for each step of the search, the instance's
// record and start, and six atomics of a word. An instance: a box written by reset, read and written by resolve.
static double requested_plain(const void *state)
{
    const atomics *a = state;
    double skin =
        52 + 4 * MATRICES_SIZE + 20 + 4 * bvk_search_steps(a->table.instance_count) + sizeof(instance_record) + 4;
    double instances = (double)a->table.instance_count / fmax(bvk_vertex_total(&a->table), 1);
    return skin + (a->bounds ? 24 + instances * 3 * BOX_SIZE : 0);
}

// The same, where a subgroup of the device's usual size that has one instance does one vertex's atomics. Subgroups on
// a border between instances do more, which is not counted.
static double requested_wave(const void *state)
{
    const atomics *a = state;
    double lanes = (double)a->vk.subgroup_size;
    return requested_plain(state) - (a->bounds ? 24 - 24 / lanes : 0);
}

static bool read(void *state, uint32_t instance, baseline_vk_output *out, char *message)
{
    atomics *a = state;
    a->vk.message = message;
    return bvk_outputs_read(&a->vk, &a->table, &a->outputs, instance, out);
}

const baseline_vk_contender bvk_atomics = {
    .name = "atomics",
    .what =
        "one dispatch, 4x4 matrices and inverse transposes, 564 bytes read a vertex, boxes by atomics of each vertex",
    .has_bounds = true,
    .normals = BASELINE_VK_NORMALS_INVERSE_TRANSPOSES,
    .create = create_plain,
    .record = record,
    .requested_bytes = requested_plain,
    .read = read,
    .destroy = destroy,
};

const baseline_vk_contender bvk_wave_atomics = {
    .name = "wave_atomics",
    .what = "atomics, but boxes by atomics of each subgroup",
    .has_bounds = true,
    .normals = BASELINE_VK_NORMALS_INVERSE_TRANSPOSES,
    .create = create_wave,
    .record = record,
    .requested_bytes = requested_wave,
    .read = read,
    .destroy = destroy,
};

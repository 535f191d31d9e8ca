// SPDX-License-Identifier: MIT
// Builds the small models of the builder's tests.
#include "peltt_kit.h"

#include <stdarg.h>
#include <setjmp.h>

#include <cmocka.h>
#include <string.h>

void peltt_kit_init(peltt_kit *kit, uint32_t node_count)
{
    memset(kit, 0, sizeof *kit);
    pelt_builder_options options = {peltt_alloc_make(&kit->memory), peltt_warnings_make(&kit->log), 0};
    assert_int_equal(pelt_builder_create(&options, &kit->builder), PELT_OK);
    kit->nodes = peltt_kit_allocate(kit, node_count, sizeof *kit->nodes);
    for (uint32_t i = 0; i < node_count; i++) {
        kit->nodes[i].rest = pelt_trs_identity();
        kit->nodes[i].mesh = PELT_NONE;
        kit->nodes[i].skin = PELT_NONE;
    }
    kit->scene.node_count = node_count;
    kit->scene.nodes = kit->nodes;
    kit->scene.meshes = peltt_kit_allocate(kit, PELTT_KIT_CAPACITY, sizeof *kit->scene.meshes);
    kit->scene.skins = peltt_kit_allocate(kit, PELTT_KIT_CAPACITY, sizeof *kit->scene.skins);
    kit->scene.clips = peltt_kit_allocate(kit, PELTT_KIT_CAPACITY, sizeof *kit->scene.clips);
}

void peltt_kit_destroy(peltt_kit *kit)
{
    pelt_asset_destroy(kit->asset);
    pelt_builder_destroy(kit->builder);
    assert_int_equal(kit->memory.live_bytes, 0);
    assert_int_equal(kit->memory.live_blocks, 0);
}

void *peltt_kit_allocate(peltt_kit *kit, uint64_t count, size_t size)
{
    void *memory = pelt_builder_allocate(kit->builder, count, size);
    assert_non_null(memory);
    return memory;
}

static void *copy(peltt_kit *kit, const void *values, uint64_t count, size_t size)
{
    void *memory = peltt_kit_allocate(kit, count, size);
    if (count > 0) {
        memcpy(memory, values, (size_t)count * size);
    }
    return memory;
}

void peltt_kit_children(peltt_kit *kit, uint32_t parent, uint32_t count, const uint32_t *children)
{
    kit->nodes[parent].child_count = count;
    kit->nodes[parent].children = copy(kit, children, count, sizeof *children);
}

void peltt_kit_roots(peltt_kit *kit, uint32_t count, const uint32_t *roots)
{
    kit->scene.has_scene = true;
    kit->scene.root_count = count;
    kit->scene.roots = copy(kit, roots, count, sizeof *roots);
}

uint32_t peltt_kit_mesh(peltt_kit *kit, uint32_t influence_joints, uint32_t target_count)
{
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    uint32_t index = kit->scene.mesh_count++;
    assert_true(index < PELTT_KIT_CAPACITY);
    pelt_primitive *primitive = peltt_kit_allocate(kit, 1, sizeof *primitive);
    primitive->topology = PELT_TOPOLOGY_TRIANGLES;
    primitive->material = PELT_NONE;
    primitive->vertex_count = 3;
    primitive->index_count = 3;
    primitive->positions = copy(kit, positions, 9, sizeof(float));
    if (influence_joints > 0) {
        uint16_t *joints = peltt_kit_allocate(kit, 3, sizeof *joints);
        float *weights = peltt_kit_allocate(kit, 3, sizeof *weights);
        for (uint32_t v = 0; v < 3; v++) {
            joints[v] = (uint16_t)(influence_joints - 1 < v ? influence_joints - 1 : v);
            weights[v] = 1.0f;
        }
        joints[2] = (uint16_t)(influence_joints - 1);
        primitive->influence_count = 1;
        primitive->joints = joints;
        primitive->weights = weights;
        primitive->joint_bound = influence_joints;
    }
    if (target_count > 0) {
        primitive->targets = peltt_kit_allocate(kit, target_count, sizeof *primitive->targets);
    }
    kit->scene.meshes[index].primitive_count = 1;
    kit->scene.meshes[index].primitives = primitive;
    kit->scene.meshes[index].target_count = target_count;
    return index;
}

pelt_primitive *peltt_kit_primitive(peltt_kit *kit, uint32_t mesh)
{
    return (pelt_primitive *)kit->scene.meshes[mesh].primitives;
}

uint32_t peltt_kit_skin(peltt_kit *kit, uint32_t joint_count, const uint32_t *joints)
{
    uint32_t index = kit->scene.skin_count++;
    assert_true(index < PELTT_KIT_CAPACITY);
    kit->scene.skins[index].joint_count = joint_count;
    kit->scene.skins[index].joints = copy(kit, joints, joint_count, sizeof *joints);
    kit->scene.skins[index].skeleton = PELT_NONE;
    return index;
}

uint32_t peltt_kit_clip(peltt_kit *kit)
{
    uint32_t index = kit->scene.clip_count++;
    assert_true(index < PELTT_KIT_CAPACITY);
    kit->scene.clips[index].samplers = peltt_kit_allocate(kit, PELTT_KIT_CAPACITY, sizeof(pelt_sampler));
    kit->scene.clips[index].channels = peltt_kit_allocate(kit, PELTT_KIT_CAPACITY, sizeof(pelt_channel));
    return index;
}

uint32_t peltt_kit_sampler(peltt_kit *kit, uint32_t clip, pelt_interpolation interpolation, uint32_t value_count,
                           uint32_t key_count, const float *times, const float *values)
{
    uint32_t index = kit->scene.clips[clip].sampler_count++;
    assert_true(index < PELTT_KIT_CAPACITY);
    pelt_sampler *sampler = (pelt_sampler *)&kit->scene.clips[clip].samplers[index];
    uint64_t per_key = (uint64_t)value_count * (interpolation == PELT_INTERPOLATION_CUBICSPLINE ? 3 : 1);
    sampler->interpolation = interpolation;
    sampler->file_index = index;
    sampler->key_count = key_count;
    sampler->value_count = value_count;
    sampler->times = copy(kit, times, key_count, sizeof *times);
    sampler->values = copy(kit, values, key_count * per_key, sizeof *values);
    return index;
}

uint32_t peltt_kit_channel(peltt_kit *kit, uint32_t clip, uint32_t sampler, uint32_t node, pelt_path path)
{
    uint32_t index = kit->scene.clips[clip].channel_count++;
    assert_true(index < PELTT_KIT_CAPACITY);
    pelt_channel *channel = (pelt_channel *)&kit->scene.clips[clip].channels[index];
    *channel = (pelt_channel){node, path, sampler, index};
    return index;
}

pelt_result peltt_kit_finish(peltt_kit *kit)
{
    return pelt_builder_finish(kit->builder, &kit->scene, &kit->asset, &kit->error);
}

const pelt_asset_data *peltt_kit_asset(peltt_kit *kit)
{
    pelt_result result = peltt_kit_finish(kit);
    if (result != PELT_OK) {
        fail_msg("refused: %s: %s", kit->error.where, kit->error.message);
    }
    assert_int_equal(kit->error.code, PELT_OK);
    return pelt_asset_get(kit->asset);
}

const pelt_error *peltt_kit_refuse(peltt_kit *kit, const char *text)
{
    assert_int_equal(peltt_kit_finish(kit), PELT_ERROR_INVALID);
    assert_int_equal(kit->error.code, PELT_ERROR_INVALID);
    assert_null(kit->asset);
    if (!strstr(kit->error.message, text)) {
        fail_msg("\"%s\" lacks \"%s\"", kit->error.message, text);
    }
    return &kit->error;
}

const pelt_node *peltt_kit_node(const peltt_kit *kit, uint32_t file_index)
{
    const pelt_asset_data *data = pelt_asset_get(kit->asset);
    return &data->nodes[data->node_from_file[file_index]];
}

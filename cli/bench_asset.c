// SPDX-License-Identifier: MIT
// Models of benches, from numbers alone.
#include "bench_mesh.h"

#include <pelt/builder.h>

#include <math.h>

enum {
    WINDOW = 8 // neighbouring joints that a vertex's are among
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

static float random_float(uint32_t *state)
{
    return (float)next_random(state) * 0x1p-23F - 1.0F;
}

uint32_t bench_joint_parent(uint32_t joint)
{
    return joint == 0 ? PELT_NONE : joint % 6 == 1 ? joint / 6 : joint - 1;
}

void bench_matrices_fill(pelt_mat34 *matrices, uint32_t count)
{
    for (uint32_t j = 0; j < count; j++) {
        double angle = 0.06 * j;
        double tilt = 0.03 * j;
        double scale = 1.0 + 0.002 * (j % 50);
        matrices[j] = (pelt_mat34){{
            {(float)cos(angle), (float)(-sin(angle) * scale), 0.0F, (float)j * 0.1F},
            {(float)(sin(angle) * cos(tilt)), (float)(cos(angle) * cos(tilt) * scale), (float)-sin(tilt), 0.25F},
            {(float)(sin(angle) * sin(tilt)), (float)(cos(angle) * sin(tilt) * scale), (float)cos(tilt), 0.5F},
        }};
    }
}

void bench_locals_fill(pelt_trs *locals, uint32_t count, uint32_t seed)
{
    uint32_t state = seed;
    for (uint32_t j = 0; j < count; j++) {
        float q[4] = {0.3F * random_float(&state), 0.3F * random_float(&state), 0.3F * random_float(&state), 1.0F};
        float length = sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        float y = 0.05F * random_float(&state);
        float z = 0.05F * random_float(&state);
        locals[j] = (pelt_trs){{0.1F, y, z}, {q[0] / length, q[1] / length, q[2] / length, q[3] / length}, {1, 1, 1}};
    }
}

static uint32_t influences_of(const bench_shape *shape, uint32_t *state)
{
    if (!shape->mixed) {
        return shape->influence_count;
    }
    uint32_t percent = next_random(state) % 100;
    return percent < 35 ? 1 : percent < 65 ? 2 : percent < 85 ? 3 : 4;
}

// Joints of one vertex are different ones: an odd step goes once through all eight neighbours, and one that shares no
// factor with the number of joints through all of those.
static void fill_influences(const bench_shape *shape, uint32_t vertex, uint32_t *state, pelt_influence_set sets[2],
                            uint16_t *joints[2], float *weights[2])
{
    static const uint32_t steps[8] = {1, 7, 11, 13, 17, 19, 23, 29};
    uint32_t count = influences_of(shape, state);
    uint32_t window = shape->joint_count > WINDOW ? shape->joint_count - WINDOW : 1;
    uint32_t base = (uint32_t)((uint64_t)vertex * window / shape->vertex_count);
    uint32_t start = next_random(state) % shape->joint_count;
    uint32_t step = steps[next_random(state) % 8];
    float values[8];
    float sum = 0.0F;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = random_float(state) + 1.1F;
        sum += values[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t joint = shape->random_joints ? start + i * step : base + (start + i * step) % WINDOW;
        size_t at = 4 * (size_t)vertex + i % 4;
        joints[i / 4][at] = (uint16_t)(joint % shape->joint_count);
        weights[i / 4][at] = values[i] / sum;
    }
    sets[0] = (pelt_influence_set){joints[0], weights[0]};
    sets[1] = (pelt_influence_set){joints[1], weights[1]};
}

static bool fill_primitive(pelt_builder *builder, const bench_shape *shape, pelt_primitive *out)
{
    uint64_t n = shape->vertex_count;
    float *positions = pelt_builder_allocate(builder, 3 * n, sizeof *positions);
    float *normals = pelt_builder_allocate(builder, 3 * n, sizeof *normals);
    float *tangents = pelt_builder_allocate(builder, 4 * n, sizeof *tangents);
    uint16_t *joints[2];
    float *weights[2];
    pelt_influence_set sets[2];
    for (int i = 0; i < 2; i++) {
        joints[i] = pelt_builder_allocate(builder, 4 * n, sizeof **joints);
        weights[i] = pelt_builder_allocate(builder, 4 * n, sizeof **weights);
    }
    if (!positions || !normals || !tangents || !joints[0] || !joints[1] || !weights[0] || !weights[1]) {
        return false;
    }
    uint32_t state = 1;
    for (uint32_t v = 0; v < shape->vertex_count; v++) {
        fill_influences(shape, v, &state, sets, joints, weights);
        double turn = 3.14159265 * (double)random_float(&state);
        double height = (double)random_float(&state);
        double radius = sqrt(1.0 - height * height);
        const float normal[3] = {(float)(radius * cos(turn)), (float)(radius * sin(turn)), (float)height};
        const float tangent[4] = {(float)-sin(turn), (float)cos(turn), 0.0F, v % 2 ? 1.0F : -1.0F};
        for (size_t i = 0; i < 3; i++) {
            positions[3 * (size_t)v + i] = random_float(&state);
            normals[3 * (size_t)v + i] = normal[i];
        }
        for (size_t i = 0; i < 4; i++) {
            tangents[4 * (size_t)v + i] = tangent[i];
        }
    }
    *out = (pelt_primitive){.topology = PELT_TOPOLOGY_POINTS,
                            .material = PELT_NONE,
                            .vertex_count = shape->vertex_count,
                            .positions = positions,
                            .normals = normals,
                            .tangents = tangents,
                            .index_count = shape->vertex_count};
    const pelt_influence_job job = {.vertex_count = shape->vertex_count,
                                    .set_count = shape->influence_count > 4 ? 2 : 1,
                                    .sets = sets,
                                    .joint_limit = shape->joint_count};
    pelt_error error;
    return pelt_builder_clean_influences(builder, &job, out, &error) == PELT_OK;
}

static bool fill_nodes(pelt_builder *builder, const bench_shape *shape, pelt_builder_scene *scene)
{
    uint32_t joint_count = shape->joint_count;
    uint32_t node_count = joint_count + (shape->vertex_count > 0);
    pelt_builder_node *nodes = pelt_builder_allocate(builder, node_count, sizeof *nodes);
    uint32_t *children = pelt_builder_allocate(builder, (uint64_t)joint_count * joint_count, sizeof *children);
    uint32_t *joints = pelt_builder_allocate(builder, joint_count, sizeof *joints);
    pelt_mat34 *binds = pelt_builder_allocate(builder, joint_count, sizeof *binds);
    pelt_skin *skin = pelt_builder_allocate(builder, 1, sizeof *skin);
    if (!nodes || !children || !joints || !binds || !skin) {
        return false;
    }
    for (uint32_t i = 0; i < node_count; i++) {
        nodes[i] = (pelt_builder_node){.name = "", .rest = pelt_trs_identity(), .mesh = PELT_NONE, .skin = PELT_NONE};
    }
    for (uint32_t i = 0; i < joint_count; i++) {
        uint32_t parent = bench_joint_parent(i);
        nodes[i].rest.translation.x = 0.1F;
        nodes[i].children = children + (size_t)i * joint_count;
        joints[i] = i;
        binds[i] = pelt_mat34_identity();
        binds[i].m[0][3] = shape->identity_binds ? 0.0F : -0.1F * (float)i;
        if (parent != PELT_NONE) {
            children[(size_t)parent * joint_count + nodes[parent].child_count++] = i;
        }
    }
    if (shape->vertex_count > 0) {
        nodes[joint_count].mesh = 0;
        nodes[joint_count].skin = 0;
    }
    *skin = (pelt_skin){.name = "",
                        .joint_count = joint_count,
                        .joints = joints,
                        .inverse_binds = binds,
                        .has_inverse_binds = true,
                        .skeleton = PELT_NONE};
    *scene = (pelt_builder_scene){.node_count = node_count, .nodes = nodes, .skin_count = 1, .skins = skin};
    return true;
}

pelt_asset *bench_asset_create(const bench_shape *shape)
{
    pelt_builder *builder = NULL;
    pelt_asset *asset = NULL;
    if (pelt_builder_create(NULL, &builder) != PELT_OK) {
        return NULL;
    }
    pelt_builder_scene scene;
    bool ok = fill_nodes(builder, shape, &scene);
    if (ok && shape->vertex_count > 0) {
        pelt_mesh *mesh = pelt_builder_allocate(builder, 1, sizeof *mesh);
        pelt_primitive *primitive = pelt_builder_allocate(builder, 1, sizeof *primitive);
        ok = mesh && primitive && fill_primitive(builder, shape, primitive);
        if (ok) {
            *mesh = (pelt_mesh){.name = "", .primitive_count = 1, .primitives = primitive};
            scene.mesh_count = 1;
            scene.meshes = mesh;
        }
    }
    if (ok) {
        pelt_error error;
        ok = pelt_builder_finish(builder, &scene, &asset, &error) == PELT_OK;
    }
    pelt_builder_destroy(builder);
    return asset;
}

// SPDX-License-Identifier: MIT
// Makes the cooked meshes of the Vulkan tests through the public builder and the cook.
#include "peltt_vk_model.h"

#include <pelt/builder.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct maker {
    const peltt_vk_shape *shape;
    peltt_random random;
    pelt_builder *builder;
} maker;

static void *take(maker *m, uint64_t count, size_t size)
{
    void *memory = pelt_builder_allocate(m->builder, count, size);
    assert_non_null(memory);
    return memory;
}

static pelt_quat random_rotation(peltt_random *random)
{
    pelt_quat q = {peltt_random_float(random, -1.0F, 1.0F), peltt_random_float(random, -1.0F, 1.0F),
                   peltt_random_float(random, -1.0F, 1.0F), peltt_random_float(random, 0.1F, 1.0F)};
    return q;
}

static pelt_vec3 random_scale(peltt_random *random, bool moderate)
{
    float even = peltt_random_float(random, 0.7F, 1.3F);
    pelt_vec3 scale = {even, even, even};
    if (!moderate && peltt_random_chance(random, 0.2)) {
        scale.x *= peltt_random_float(random, 0.5F, 2.0F);
        scale.z = peltt_random_chance(random, 0.3) ? -scale.z : scale.z;
    }
    return scale;
}

static pelt_vec3 random_point(peltt_random *random, float low, float high)
{
    pelt_vec3 p = {peltt_random_float(random, low, high), peltt_random_float(random, low, high),
                   peltt_random_float(random, low, high)};
    return p;
}

void peltt_vk_binds(uint64_t seed, bool moderate, uint32_t count, pelt_mat34 *binds)
{
    peltt_random random = {seed};
    for (uint32_t i = 0; i < count; i++) {
        pelt_trs trs = {random_point(&random, -0.5F, 0.5F), random_rotation(&random), random_scale(&random, moderate)};
        binds[i] = pelt_mat34_from_trs(&trs);
    }
}

void peltt_vk_worlds(peltt_random *random, bool moderate, uint32_t count, pelt_mat34 *worlds)
{
    for (uint32_t i = 0; i < count; i++) {
        pelt_trs trs = {random_point(random, 4.5F, 5.5F), random_rotation(random), random_scale(random, moderate)};
        worlds[i] = pelt_mat34_from_trs(&trs);
    }
}

static float *floats(maker *m, uint64_t count, float low, float high)
{
    float *values = take(m, count, sizeof *values);
    for (uint64_t i = 0; i < count; i++) {
        values[i] = peltt_random_float(&m->random, low, high);
    }
    return values;
}

static float *directions(maker *m, uint32_t count, uint32_t width)
{
    float *values = take(m, (uint64_t)count * width, sizeof *values);
    for (uint32_t i = 0; i < count; i++) {
        const pelt_trs trs = {{0.0F, 0.0F, 0.0F}, random_rotation(&m->random), {1.0F, 1.0F, 1.0F}};
        const pelt_mat34 turned = pelt_mat34_from_trs(&trs);
        float *v = values + (size_t)i * width;
        for (int k = 0; k < 3; k++) {
            v[k] = turned.m[k][0];
        }
        if (width == 4) {
            v[3] = peltt_random_chance(&m->random, 0.5) ? 1.0F : -1.0F;
        }
    }
    return values;
}

static void make_influences(maker *m, pelt_primitive *p)
{
    const peltt_vk_shape *shape = m->shape;
    uint32_t joint_count = shape->joint_count;
    uint32_t set_count = (shape->influence_count + 3) / 4;
    uint32_t near_count = shape->influence_count < 4 ? 6 : 2 * shape->influence_count;
    pelt_influence_set *sets = take(m, set_count, sizeof *sets);
    for (uint32_t s = 0; s < set_count; s++) {
        sets[s].joints = take(m, (uint64_t)p->vertex_count * 4, sizeof *sets[s].joints);
        sets[s].weights = take(m, (uint64_t)p->vertex_count * 4, sizeof *sets[s].weights);
    }
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        uint32_t count = 1 + peltt_random_below(&m->random, shape->influence_count);
        uint32_t base = (uint32_t)((uint64_t)v * joint_count / p->vertex_count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t joint = shape->scattered ? peltt_random_below(&m->random, joint_count)
                                              : base + peltt_random_below(&m->random, near_count);
            ((uint16_t *)sets[i / 4].joints)[(size_t)v * 4 + i % 4] = (uint16_t)(joint % joint_count);
            ((float *)sets[i / 4].weights)[(size_t)v * 4 + i % 4] = peltt_random_float(&m->random, 0.05F, 1.0F);
        }
    }
    pelt_influence_job job = {.vertex_count = p->vertex_count,
                              .set_count = set_count,
                              .sets = sets,
                              .joint_limit = joint_count,
                              .mesh = 0,
                              .primitive = 0};
    assert_int_equal(pelt_builder_clean_influences(m->builder, &job, p, NULL), PELT_OK);
}

static void make_targets(maker *m, pelt_primitive *p)
{
    uint64_t count = (uint64_t)p->vertex_count * 3;
    pelt_morph_target *targets = take(m, m->shape->target_count, sizeof *targets);
    for (uint32_t t = 0; t < m->shape->target_count; t++) {
        float *positions = floats(m, count, -0.2F, 0.2F);
        for (uint32_t v = 0; t % 3 == 0 && v < p->vertex_count; v++) {
            if ((v + t) % 9 != 0) { // few vertices: sparse is smaller
                memset(positions + (size_t)v * 3, 0, 3 * sizeof *positions);
            }
        }
        targets[t].positions = positions;
        targets[t].normals = t % 3 == 2 && p->normals ? floats(m, count, -0.2F, 0.2F) : NULL;
        targets[t].tangents = t % 3 == 2 && p->tangents ? floats(m, count, -0.2F, 0.2F) : NULL;
    }
    p->targets = targets;
}

static void make_indices(maker *m, pelt_primitive *p)
{
    p->index_count = p->vertex_count;
    if (!m->shape->indexed || p->vertex_count == 0) {
        return;
    }
    p->index_count = p->vertex_count * 2 / 3 * 3 + 3;
    uint32_t *indices = take(m, p->index_count, sizeof *indices);
    for (uint32_t i = 0; i < p->index_count; i++) {
        indices[i] = i < p->vertex_count ? i : peltt_random_below(&m->random, p->vertex_count);
    }
    p->indices = indices;
}

static pelt_mesh *make_mesh(maker *m)
{
    const peltt_vk_shape *shape = m->shape;
    pelt_primitive *p = take(m, 1, sizeof *p);
    p->topology = PELT_TOPOLOGY_TRIANGLES;
    p->material = PELT_NONE;
    p->vertex_count = shape->vertex_count;
    p->influences.worst_sum_vertex = PELT_NONE;
    p->positions = floats(m, (uint64_t)shape->vertex_count * 3, -1.0F, 1.0F);
    p->normals = shape->no_normals ? NULL : directions(m, shape->vertex_count, 3);
    p->tangents = shape->no_tangents ? NULL : directions(m, shape->vertex_count, 4);
    if (shape->influence_count > 0) {
        make_influences(m, p);
    }
    make_targets(m, p);
    make_indices(m, p);
    pelt_mesh *mesh = take(m, 1, sizeof *mesh);
    mesh->name = "";
    mesh->primitive_count = 1;
    mesh->primitives = p;
    mesh->target_count = shape->target_count;
    mesh->weights = take(m, shape->target_count, sizeof *mesh->weights);
    const char **names = take(m, shape->target_count, sizeof *names);
    for (uint32_t t = 0; t < shape->target_count; t++) {
        names[t] = "";
    }
    mesh->target_names = names;
    return mesh;
}

// Node 0 places the mesh, the others are the joints; all are roots.
static pelt_asset *make_asset(maker *m)
{
    const peltt_vk_shape *shape = m->shape;
    bool skinned = shape->influence_count > 0;
    pelt_builder_node *nodes = take(m, shape->joint_count + 1, sizeof *nodes);
    uint32_t *joints = take(m, shape->joint_count, sizeof *joints);
    pelt_mat34 *binds = take(m, shape->joint_count, sizeof *binds);
    for (uint32_t i = 0; i <= shape->joint_count; i++) {
        nodes[i].name = "";
        nodes[i].rest = pelt_trs_identity();
        nodes[i].mesh = i == 0 ? 0 : PELT_NONE;
        nodes[i].skin = i == 0 && skinned ? 0 : PELT_NONE;
        if (i > 0) {
            joints[i - 1] = i;
        }
    }
    peltt_vk_binds(shape->bind_seed, shape->moderate, shape->joint_count, binds);
    pelt_skin *skin = take(m, 1, sizeof *skin);
    *skin = (pelt_skin){.name = "",
                        .joint_count = shape->joint_count,
                        .joints = joints,
                        .inverse_binds = binds,
                        .has_inverse_binds = true,
                        .skeleton = PELT_NONE};
    pelt_builder_scene scene = {.node_count = shape->joint_count + 1,
                                .nodes = nodes,
                                .mesh_count = 1,
                                .meshes = make_mesh(m),
                                .skin_count = skinned ? 1 : 0,
                                .skins = skin};
    pelt_asset *asset = NULL;
    pelt_error error = {0};
    if (pelt_builder_finish(m->builder, &scene, &asset, &error) != PELT_OK) {
        fail_msg("%s", error.message);
    }
    return asset;
}

peltt_vk_model *peltt_vk_model_make(const peltt_vk_shape *shape, uint64_t seed)
{
    peltt_vk_shape used = *shape;
    used.joint_count = shape->joint_count == 0 ? 1 : shape->joint_count;
    maker m = {.shape = &used, .random = {seed}};
    assert_int_equal(pelt_builder_create(NULL, &m.builder), PELT_OK);
    pelt_asset *source = make_asset(&m);
    pelt_builder_destroy(m.builder);
    peltt_vk_model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    pelt_error error = {0};
    if (pelt_cook(source, &used.cook, &model->image, &model->image_size, NULL, &error) != PELT_OK ||
        pelt_cooked_open_memory(model->image, model->image_size, NULL, &model->cooked, &error) != PELT_OK ||
        pelt_cooked_import(model->cooked, &model->asset, &error) != PELT_OK) {
        fail_msg("%s", error.message);
    }
    pelt_asset_destroy(source);
    model->data = pelt_cooked_get(model->cooked);
    model->primitive = &pelt_asset_get(model->asset)->meshes[0].primitives[0];
    model->target_count = used.target_count;
    model->joint_count = used.joint_count;
    model->binds = calloc(used.joint_count, sizeof *model->binds);
    assert_non_null(model->binds);
    peltt_vk_binds(used.bind_seed, used.moderate, used.joint_count, model->binds);
    assert_int_equal(model->data->primitive_count, 1);
    assert_int_equal(model->primitive->vertex_count, used.vertex_count);
    return model;
}

void peltt_vk_model_free(peltt_vk_model *model)
{
    pelt_asset_destroy(model->asset);
    pelt_cooked_close(model->cooked);
    pelt_cook_release(NULL, model->image, model->image_size);
    free(model->binds);
    free(model);
}

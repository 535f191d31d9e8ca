// SPDX-License-Identifier: MIT
// Random models through the public builder.
#include "peltt_model.h"
#include "peltt_asset.h"

#include <pelt/builder.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct maker {
    const peltt_model_shape *shape;
    peltt_random random;
    pelt_builder *builder;
    pelt_builder_scene scene;
} maker;

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "peltt_model: %s\n", what);
        abort();
    }
}

static void *take(maker *m, uint64_t count, size_t size)
{
    void *memory = pelt_builder_allocate(m->builder, count, size);
    require(memory != NULL, "out of memory");
    return memory;
}

static const char *name(maker *m, const char *kind, uint32_t index)
{
    char text[64];
    int length = snprintf(text, sizeof text, "%s \xC3\xA9%u", kind, index);
    return index % 5 == 4 ? "" : pelt_builder_string(m->builder, text, (size_t)length);
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
        pelt_trs trs = peltt_random_trs(&m->random);
        float *v = values + (size_t)i * width;
        pelt_mat34 rotation = pelt_mat34_from_trs(
            &(pelt_trs){.rotation = trs.rotation, .scale = {1.0F, 1.0F, 1.0F}, .translation = {0.0F, 0.0F, 0.0F}});
        for (int k = 0; k < 3; k++) {
            v[k] = rotation.m[k][0];
        }
        if (width == 4) {
            v[3] = peltt_random_chance(&m->random, 0.5) ? 1.0F : -1.0F;
        }
    }
    return values;
}

// Random trees: a node hangs on one that was placed before it, in shuffled file order.
static void make_nodes(maker *m)
{
    uint32_t count = m->shape->node_count;
    pelt_builder_node *nodes = take(m, count, sizeof *nodes);
    uint32_t *place = take(m, count, sizeof *place);
    uint32_t *parent = take(m, count, sizeof *parent);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = peltt_random_below(&m->random, i + 1);
        place[i] = place[other];
        place[other] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        pelt_builder_node *node = &nodes[place[i]];
        bool root = i == 0 || peltt_random_chance(&m->random, 0.1);
        parent[place[i]] = root ? PELT_NONE : place[peltt_random_below(&m->random, i)];
        node->name = name(m, "node", place[i]);
        node->mesh = PELT_NONE;
        node->skin = PELT_NONE;
        node->rest = peltt_random_trs(&m->random);
        node->has_matrix = peltt_random_chance(&m->random, 0.2);
        node->matrix = peltt_random_matrix(&m->random);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *children = take(m, count, sizeof *children);
        for (uint32_t k = 0; k < count; k++) {
            if (parent[k] == i) {
                children[nodes[i].child_count++] = k;
            }
        }
        nodes[i].children = children;
    }
    m->scene.node_count = count;
    m->scene.nodes = nodes;
    uint32_t *roots = take(m, 2, sizeof *roots);
    roots[0] = place[0];
    roots[1] = place[1];
    m->scene.has_scene = true;
    m->scene.root_count = parent[place[1]] == PELT_NONE ? 2 : 1;
    m->scene.roots = roots;
}

static void make_influences(maker *m, uint32_t mesh, uint32_t index, pelt_primitive *p)
{
    uint32_t set_count = m->shape->set_count;
    pelt_influence_set *sets = take(m, set_count, sizeof *sets);
    for (uint32_t s = 0; s < set_count; s++) {
        uint16_t *joints = take(m, (uint64_t)p->vertex_count * 4, sizeof *joints);
        float *weights = take(m, (uint64_t)p->vertex_count * 4, sizeof *weights);
        for (uint32_t i = 0; i < p->vertex_count * 4; i++) {
            // Neighbours share joints, as in real models.
            uint32_t near = i / 4 * m->shape->joint_count / p->vertex_count + peltt_random_below(&m->random, 7);
            joints[i] = (uint16_t)(near % m->shape->joint_count);
            weights[i] = peltt_random_chance(&m->random, 0.6) ? peltt_random_float(&m->random, 0.01F, 1.0F) : 0.0F;
        }
        sets[s] = (pelt_influence_set){joints, weights};
    }
    pelt_influence_job job = {
        .vertex_count = p->vertex_count, .set_count = set_count, .sets = sets, .mesh = mesh, .primitive = index};
    job.joint_limit = m->shape->joint_count;
    require(pelt_builder_clean_influences(m->builder, &job, p, NULL) == PELT_OK, "influences");
}

static void make_attributes(maker *m, pelt_primitive *p)
{
    static const pelt_attribute kinds[4] = {
        {.name = "TEXCOORD_0", .component = PELT_COMPONENT_F32, .component_count = 2},
        {.name = "COLOR_0", .component = PELT_COMPONENT_U8, .normalized = true, .component_count = 4},
        {.name = "_SHADE", .component = PELT_COMPONENT_I8, .component_count = 3},
        {.name = "_ID", .component = PELT_COMPONENT_U16, .component_count = 1},
    };
    pelt_attribute *attributes = take(m, 4, sizeof *attributes);
    for (int i = 0; i < 4; i++) {
        attributes[i] = kinds[i];
        attributes[i].stride = kinds[i].component_count * pelt_component_size(kinds[i].component);
        unsigned char *data = take(m, p->vertex_count, attributes[i].stride);
        for (uint64_t k = 0; k < (uint64_t)p->vertex_count * attributes[i].stride; k++) {
            data[k] = (unsigned char)(i == 0 ? 1 + k % 60 : peltt_random_below(&m->random, 256));
        }
        attributes[i].data = data;
    }
    p->attribute_count = 4;
    p->attributes = attributes;
}

static void make_targets(maker *m, uint32_t count, pelt_primitive *p)
{
    pelt_morph_target *targets = take(m, count, sizeof *targets);
    for (uint32_t t = 0; t < count; t++) {
        float *positions = floats(m, (uint64_t)p->vertex_count * 3, -0.2F, 0.2F);
        for (uint32_t v = 0; t % 4 == 0 && v < p->vertex_count; v++) {
            if (v % 9 != 0) { // few vertices and no normals: sparse is smaller
                memset(positions + (size_t)v * 3, 0, 3 * sizeof *positions);
            }
        }
        targets[t].positions = t % 4 == 2 ? NULL : positions;
        targets[t].normals = t % 4 == 0 ? NULL : floats(m, (uint64_t)p->vertex_count * 3, -0.5F, 0.5F);
        targets[t].tangents = t % 4 == 3 ? floats(m, (uint64_t)p->vertex_count * 3, -0.5F, 0.5F) : NULL;
    }
    p->targets = targets;
}

static void make_indices(maker *m, pelt_primitive *p)
{
    p->index_count = p->vertex_count;
    if (peltt_random_chance(&m->random, 0.25)) {
        return;
    }
    p->index_count = 3 * p->vertex_count;
    uint32_t *indices = take(m, p->index_count, sizeof *indices);
    for (uint32_t i = 0; i < p->index_count; i++) {
        // Vertex 1 and a few others stay unused, the last one is used.
        uint32_t vertex = peltt_random_below(&m->random, p->vertex_count);
        indices[i] = vertex == 1 || i == 0 ? p->vertex_count - 1 : vertex;
    }
    p->indices = indices;
}

static void make_primitive(maker *m, uint32_t mesh, uint32_t index, uint32_t target_count, pelt_primitive *p)
{
    uint32_t serial = mesh * m->shape->primitive_count + index;
    p->vertex_count = serial % 7 == 6 ? 0 : m->shape->vertex_count + serial;
    p->topology = (pelt_topology)(serial % 7 == 3 ? PELT_TOPOLOGY_POINTS : PELT_TOPOLOGY_TRIANGLES);
    p->material = serial % 3 == 0 ? PELT_NONE : serial;
    p->positions = floats(m, (uint64_t)p->vertex_count * 3, -1.0F, 1.0F);
    p->normals = serial % 4 == 3 ? NULL : directions(m, p->vertex_count, 3);
    p->tangents = serial % 4 < 2 ? directions(m, p->vertex_count, 4) : NULL;
    p->influences.worst_sum_vertex = PELT_NONE;
    p->has_declared_box = serial % 2 == 0;
    p->declared_box = (pelt_box){{-1.0F, -1.0F, -1.0F}, {1.0F, 1.0F, 1.0F + (float)serial}};
    if (mesh % 2 == 0) {
        make_influences(m, mesh, index, p);
    }
    if (serial % 3 != 2) {
        make_attributes(m, p);
    }
    make_targets(m, target_count, p);
    make_indices(m, p);
}

static void make_meshes(maker *m)
{
    pelt_mesh *meshes = take(m, m->shape->mesh_count, sizeof *meshes);
    for (uint32_t i = 0; i < m->shape->mesh_count; i++) {
        pelt_mesh *mesh = &meshes[i];
        mesh->name = name(m, "mesh", i);
        mesh->target_count = i % 3 == 0 ? m->shape->target_count : 0;
        mesh->weights = floats(m, mesh->target_count, -0.5F, 1.5F);
        const char **names = take(m, mesh->target_count, sizeof *names);
        for (uint32_t t = 0; t < mesh->target_count; t++) {
            names[t] = name(m, "target", t);
        }
        mesh->target_names = names;
        pelt_primitive *primitives = take(m, m->shape->primitive_count, sizeof *primitives);
        for (uint32_t k = 0; k < m->shape->primitive_count; k++) {
            make_primitive(m, i, k, mesh->target_count, &primitives[k]);
        }
        mesh->primitive_count = m->shape->primitive_count;
        mesh->primitives = primitives;
    }
    m->scene.mesh_count = m->shape->mesh_count;
    m->scene.meshes = meshes;
}

static void make_skins(maker *m)
{
    pelt_skin *skins = take(m, 2, sizeof *skins);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t *joints = take(m, m->shape->joint_count, sizeof *joints);
        pelt_mat34 *binds = take(m, m->shape->joint_count, sizeof *binds);
        for (uint32_t k = 0; k < m->shape->joint_count; k++) {
            joints[k] = peltt_random_below(&m->random, m->shape->node_count);
            binds[k] = peltt_random_matrix(&m->random);
        }
        skins[i] = (pelt_skin){.name = name(m, "skin", i),
                               .joint_count = m->shape->joint_count,
                               .joints = joints,
                               .inverse_binds = binds,
                               .has_inverse_binds = i == 0,
                               .skeleton = i == 0 ? PELT_NONE : 1};
    }
    m->scene.skin_count = 2;
    m->scene.skins = skins;
}

// Meshes go to nodes one after the other, some more than once, skinned ones with either skin.
static void place_meshes(maker *m)
{
    pelt_builder_node *nodes = (pelt_builder_node *)m->scene.nodes;
    for (uint32_t i = 0; i < m->shape->node_count; i++) {
        uint32_t mesh = i % (m->shape->mesh_count + 1);
        if (mesh == m->shape->mesh_count) {
            continue;
        }
        nodes[i].mesh = mesh;
        nodes[i].skin = mesh % 2 == 0 && i % 3 != 0 ? i % 2 : PELT_NONE;
        if (i % 2 == 0) {
            nodes[i].weight_count = m->scene.meshes[mesh].target_count;
            nodes[i].weights = floats(m, nodes[i].weight_count, -0.5F, 1.5F);
        }
    }
}

static uint32_t width_of(const maker *m, uint32_t node, pelt_path path)
{
    const pelt_builder_node *n = &m->scene.nodes[node];
    if (path == PELT_PATH_WEIGHTS) {
        return n->mesh == PELT_NONE ? 0 : m->scene.meshes[n->mesh].target_count;
    }
    return n->has_matrix ? 0 : path == PELT_PATH_ROTATION ? 4 : 3;
}

static pelt_sampler make_sampler(maker *m, uint32_t width, uint32_t key_count, const float *times)
{
    pelt_sampler sampler = {.key_count = key_count, .value_count = width, .times = times};
    sampler.interpolation = (pelt_interpolation)peltt_random_below(&m->random, 3);
    uint32_t value_count = key_count * (sampler.interpolation == PELT_INTERPOLATION_CUBICSPLINE ? 3U : 1U);
    sampler.values = width == 4 ? directions(m, value_count, 4) : floats(m, (uint64_t)value_count * width, -1.0F, 1.0F);
    return sampler;
}

static void make_clip(maker *m, uint32_t index, pelt_clip *clip)
{
    uint32_t key_count = 2 + index;
    float *times = floats(m, key_count, 0.05F, 0.4F);
    for (uint32_t i = 1; i < key_count; i++) {
        times[i] += times[i - 1];
    }
    pelt_sampler *samplers = take(m, m->shape->node_count * 4, sizeof *samplers);
    pelt_channel *channels = take(m, m->shape->node_count * 4, sizeof *channels);
    for (uint32_t i = 0; i < m->shape->node_count * 4; i++) {
        uint32_t width = width_of(m, i / 4, (pelt_path)(i % 4));
        if (width == 0 || peltt_random_chance(&m->random, 0.5)) {
            continue;
        }
        // Two samplers in three have their times from one array; translation and scale may share a whole sampler.
        bool own_times = clip->sampler_count % 3 == 2;
        bool shared = i % 4 == 2 && clip->channel_count > 0 && channels[clip->channel_count - 1].path == 0 &&
                      samplers[clip->sampler_count - 1].value_count == 3;
        if (!shared) {
            float *own = take(m, 1, sizeof *own);
            own[0] = 0.25F;
            samplers[clip->sampler_count] = make_sampler(m, width, own_times ? 1 : key_count, own_times ? own : times);
            samplers[clip->sampler_count].file_index = 2 * clip->sampler_count;
            clip->sampler_count++;
        }
        channels[clip->channel_count] =
            (pelt_channel){i / 4, (pelt_path)(i % 4), clip->sampler_count - 1, clip->channel_count};
        clip->channel_count++;
    }
    clip->name = name(m, "clip", index);
    clip->samplers = samplers;
    clip->channels = channels;
}

static void apply(const peltt_model_change *change, maker *m)
{
    if (!change) {
        return;
    }
    const pelt_primitive *p = &m->scene.meshes[0].primitives[0];
    if (change->move_vertex) {
        float *position = (float *)p->positions + (size_t)(p->vertex_count - 1) * 3;
        position[0] *= 0.75F;
    }
    if (change->change_colour) {
        unsigned char *colour = (unsigned char *)p->attributes[1].data + (size_t)(p->vertex_count - 1) * 4;
        colour[2] ^= 0x40U;
    }
}

pelt_asset *peltt_model_make(const peltt_model_shape *shape, uint64_t seed, const peltt_model_change *change)
{
    maker m = {.shape = shape, .random = {seed}};
    pelt_asset *asset = NULL;
    pelt_error error = {0};
    require(pelt_builder_create(NULL, &m.builder) == PELT_OK, "no builder");
    make_nodes(&m);
    make_skins(&m);
    make_meshes(&m);
    place_meshes(&m);
    pelt_clip *clips = take(&m, shape->clip_count, sizeof *clips);
    for (uint32_t i = 0; i < shape->clip_count; i++) {
        make_clip(&m, i, &clips[i]);
    }
    m.scene.clip_count = shape->clip_count;
    m.scene.clips = clips;
    apply(change, &m);
    if (pelt_builder_finish(m.builder, &m.scene, &asset, &error) != PELT_OK) {
        require(false, error.message);
    }
    pelt_builder_destroy(m.builder);
    return asset;
}

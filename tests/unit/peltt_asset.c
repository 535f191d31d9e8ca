// SPDX-License-Identifier: MIT
// Test assets through the public builder.
#include "peltt_asset.h"

#include <pelt/builder.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "peltt_asset: %s\n", what);
        abort();
    }
}

// count elements of memory that fails the test program instead of returning NULL.
static void *take(pelt_builder *builder, uint64_t count, size_t size)
{
    void *memory = pelt_builder_allocate(builder, count, size);
    require(memory != NULL, "out of memory");
    return memory;
}

static void *copy(pelt_builder *builder, const void *source, uint64_t count, size_t size)
{
    void *memory = take(builder, count, size);
    if (count > 0) {
        memcpy(memory, source, (size_t)count * size);
    }
    return memory;
}

static void add_nodes(pelt_builder *builder, const peltt_scene *from, pelt_builder_scene *scene)
{
    pelt_builder_node *nodes = take(builder, from->node_count, sizeof *nodes);
    uint32_t *children = take(builder, from->node_count, sizeof *children);
    for (uint32_t i = 0; i < from->node_count; i++) {
        if (from->nodes[i].parent != PELT_NONE) {
            nodes[from->nodes[i].parent].child_count++;
        }
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < from->node_count; i++) {
        nodes[i].children = children + used;
        used += nodes[i].child_count;
        nodes[i].child_count = 0;
    }
    for (uint32_t i = 0; i < from->node_count; i++) {
        const peltt_node *node = &from->nodes[i];
        if (node->parent != PELT_NONE) {
            pelt_builder_node *parent = &nodes[node->parent];
            children[(parent->children - children) + parent->child_count] = i;
            parent->child_count++;
        }
        nodes[i].name = "";
        nodes[i].mesh = node->has_morphs ? 0 : PELT_NONE;
        nodes[i].skin = PELT_NONE;
        nodes[i].has_matrix = node->has_matrix;
        nodes[i].rest = node->has_matrix ? pelt_trs_identity() : node->rest;
        nodes[i].matrix = node->has_matrix ? node->matrix : pelt_mat34_identity();
    }
    scene->node_count = from->node_count;
    scene->nodes = nodes;
}

static void add_mesh(pelt_builder *builder, const peltt_scene *from, pelt_builder_scene *scene)
{
    static const float triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    pelt_primitive *primitive = take(builder, 1, sizeof *primitive);
    primitive->topology = PELT_TOPOLOGY_TRIANGLES;
    primitive->material = PELT_NONE;
    primitive->vertex_count = 3;
    primitive->positions = copy(builder, triangle, 9, sizeof triangle[0]);
    primitive->influences.worst_sum_vertex = PELT_NONE;
    primitive->index_count = 3;
    pelt_morph_target *targets = take(builder, from->target_count, sizeof *targets);
    const char **names = take(builder, from->target_count, sizeof *names);
    for (uint32_t i = 0; i < from->target_count; i++) {
        targets[i].positions = primitive->positions;
        names[i] = "";
    }
    primitive->targets = targets;
    pelt_mesh *mesh = take(builder, 1, sizeof *mesh);
    mesh->name = "";
    mesh->primitive_count = 1;
    mesh->primitives = primitive;
    mesh->target_count = from->target_count;
    mesh->target_names = names;
    mesh->weights = take(builder, from->target_count, sizeof(float));
    scene->mesh_count = 1;
    scene->meshes = mesh;
}

static void add_skins(pelt_builder *builder, const peltt_scene *from, pelt_builder_scene *scene)
{
    pelt_skin *skins = take(builder, from->skin_count, sizeof *skins);
    for (uint32_t i = 0; i < from->skin_count; i++) {
        const peltt_skin *skin = &from->skins[i];
        pelt_mat34 *binds = take(builder, skin->joint_count, sizeof *binds);
        for (uint32_t k = 0; k < skin->joint_count; k++) {
            binds[k] = skin->inverse_binds ? skin->inverse_binds[k] : pelt_mat34_identity();
        }
        skins[i] = (pelt_skin){.name = "",
                               .joint_count = skin->joint_count,
                               .joints = copy(builder, skin->joints, skin->joint_count, sizeof *skin->joints),
                               .inverse_binds = binds,
                               .has_inverse_binds = skin->inverse_binds != NULL,
                               .skeleton = PELT_NONE};
    }
    scene->skin_count = from->skin_count;
    scene->skins = skins;
}

static uint32_t value_width(const peltt_scene *from, pelt_path path)
{
    return path == PELT_PATH_WEIGHTS ? from->target_count : path == PELT_PATH_ROTATION ? 4 : 3;
}

// Index of the sampler of track k, which may be that of an earlier track.
static uint32_t sampler_of(const peltt_clip *clip, const pelt_channel *channels, uint32_t k, uint32_t sampler_count)
{
    for (uint32_t i = 0; i < k; i++) {
        if (clip->tracks[i].times == clip->tracks[k].times && clip->tracks[i].values == clip->tracks[k].values) {
            return channels[i].sampler;
        }
    }
    return sampler_count;
}

static void add_clips(pelt_builder *builder, const peltt_scene *from, pelt_builder_scene *scene)
{
    pelt_clip *clips = take(builder, from->clip_count, sizeof *clips);
    for (uint32_t i = 0; i < from->clip_count; i++) {
        const peltt_clip *clip = &from->clips[i];
        pelt_sampler *samplers = take(builder, clip->track_count, sizeof *samplers);
        pelt_channel *channels = take(builder, clip->track_count, sizeof *channels);
        uint32_t sampler_count = 0;
        for (uint32_t k = 0; k < clip->track_count; k++) {
            const peltt_track *track = &clip->tracks[k];
            uint32_t sampler = sampler_of(clip, channels, k, sampler_count);
            if (sampler == sampler_count) {
                uint32_t width = value_width(from, track->path);
                uint64_t floats = (track->interpolation == PELT_INTERPOLATION_CUBICSPLINE ? 3U : 1U) *
                                  (uint64_t)track->key_count * width;
                samplers[sampler] = (pelt_sampler){
                    .interpolation = track->interpolation,
                    .file_index = sampler,
                    .key_count = track->key_count,
                    .value_count = width,
                    .times = copy(builder, track->times, track->key_count, sizeof(float)),
                    .values = copy(builder, track->values, floats, sizeof(float)),
                };
                sampler_count++;
            }
            channels[k] = (pelt_channel){track->node, track->path, sampler, k};
        }
        clips[i] = (pelt_clip){.name = "",
                               .sampler_count = sampler_count,
                               .samplers = samplers,
                               .channel_count = clip->track_count,
                               .channels = channels};
    }
    scene->clip_count = from->clip_count;
    scene->clips = clips;
}

pelt_asset *peltt_asset_make(const peltt_scene *from)
{
    pelt_builder *builder = NULL;
    require(pelt_builder_create(NULL, &builder) == PELT_OK, "no builder");
    pelt_builder_scene scene = {0};
    add_nodes(builder, from, &scene);
    add_mesh(builder, from, &scene);
    add_skins(builder, from, &scene);
    add_clips(builder, from, &scene);
    pelt_asset *asset = NULL;
    pelt_error error = {0};
    if (pelt_builder_finish(builder, &scene, &asset, &error) != PELT_OK) {
        require(false, error.message);
    }
    pelt_builder_destroy(builder);
    return asset;
}

pelt_asset *peltt_asset_chain(uint32_t node_count)
{
    peltt_node *nodes = calloc(node_count, sizeof *nodes);
    require(nodes != NULL, "out of memory");
    for (uint32_t i = 0; i < node_count; i++) {
        nodes[i].parent = i == 0 ? PELT_NONE : i - 1;
        nodes[i].rest = pelt_trs_identity();
    }
    pelt_asset *asset = peltt_asset_make(&(peltt_scene){.node_count = node_count, .nodes = nodes});
    free(nodes);
    return asset;
}

static pelt_quat random_rotation(peltt_random *random)
{
    double q[4];
    double square = 0.0;
    do {
        square = 0.0;
        for (int i = 0; i < 4; i++) {
            q[i] = 2.0 * peltt_random_unit(random) - 1.0;
            square += q[i] * q[i];
        }
    } while (square < 0.01 || square > 1.0);
    double scale = 1.0 / sqrt(square);
    return (pelt_quat){(float)(q[0] * scale), (float)(q[1] * scale), (float)(q[2] * scale), (float)(q[3] * scale)};
}

static float random_scale(peltt_random *random)
{
    switch (peltt_random_below(random, 12)) {
    case 0:
        return 0.0F;
    case 1:
        return peltt_random_float(random, -1.5F, -0.5F);
    case 2:
        return peltt_random_float(random, 0.5F, 1.5F);
    default:
        return 1.0F;
    }
}

pelt_trs peltt_random_trs(peltt_random *random)
{
    pelt_trs trs;
    trs.translation.x = peltt_random_float(random, -1.0F, 1.0F);
    trs.translation.y = peltt_random_float(random, -1.0F, 1.0F);
    trs.translation.z = peltt_random_float(random, -1.0F, 1.0F);
    trs.rotation = random_rotation(random);
    trs.scale.x = random_scale(random);
    trs.scale.y = random_scale(random);
    trs.scale.z = random_scale(random);
    return trs;
}

pelt_mat34 peltt_random_matrix(peltt_random *random)
{
    pelt_mat34 m;
    for (int i = 0; i < 12; i++) {
        m.m[i / 4][i % 4] = peltt_random_float(random, -1.0F, 1.0F);
    }
    return m;
}

// What a random scene is made of: a list of heap blocks that each begin with a link to the one before.
typedef struct part_link {
    _Alignas(16) struct part_link *before;
} part_link;

typedef struct parts {
    part_link *last;
} parts;

static void *part(parts *p, size_t count, size_t size)
{
    part_link *link = calloc(1, sizeof *link + count * size);
    require(link != NULL, "out of memory");
    link->before = p->last;
    p->last = link;
    return link + 1;
}

static peltt_node *random_nodes(parts *p, const peltt_asset_shape *shape, peltt_random *random)
{
    uint32_t *place = part(p, shape->node_count, sizeof *place);
    for (uint32_t i = 0; i < shape->node_count; i++) {
        uint32_t other = peltt_random_below(random, i + 1);
        place[i] = place[other];
        place[other] = i;
    }
    peltt_node *nodes = part(p, shape->node_count, sizeof *nodes);
    for (uint32_t i = 0; i < shape->node_count; i++) {
        peltt_node *node = &nodes[place[i]];
        if (i == 0 || peltt_random_chance(random, shape->root_share)) {
            node->parent = PELT_NONE;
        } else if (peltt_random_chance(random, shape->chain_share)) {
            node->parent = place[i - 1];
        } else {
            node->parent = place[peltt_random_below(random, i)];
        }
        node->has_morphs = shape->target_count > 0 && peltt_random_chance(random, shape->morph_share);
        node->has_matrix = peltt_random_chance(random, shape->matrix_share);
        if (node->has_matrix) {
            node->matrix = peltt_random_matrix(random);
        } else {
            node->rest = peltt_random_trs(random);
        }
    }
    return nodes;
}

static peltt_skin *random_skins(parts *p, const peltt_asset_shape *shape, peltt_random *random)
{
    peltt_skin *skins = part(p, shape->skin_count, sizeof *skins);
    for (uint32_t i = 0; i < shape->skin_count; i++) {
        uint32_t count = 1 + peltt_random_below(random, shape->joint_count);
        uint32_t *joints = part(p, count, sizeof *joints);
        pelt_mat34 *binds = part(p, count, sizeof *binds);
        for (uint32_t k = 0; k < count; k++) {
            joints[k] = peltt_random_below(random, shape->node_count);
            binds[k] = peltt_random_matrix(random);
        }
        skins[i] = (peltt_skin){count, joints, peltt_random_chance(random, 0.8) ? binds : NULL};
    }
    return skins;
}

static void random_values(float *values, uint32_t value_count, uint32_t width, peltt_random *random)
{
    for (uint32_t i = 0; i < value_count; i++) {
        if (width == 4) {
            pelt_quat q = random_rotation(random);
            memcpy(values + 4 * (size_t)i, &q, sizeof q);
        } else {
            for (uint32_t k = 0; k < width; k++) {
                values[(size_t)i * width + k] = peltt_random_float(random, -1.0F, 1.0F);
            }
        }
    }
}

static peltt_clip *random_clips(parts *p, const peltt_asset_shape *shape, const peltt_node *nodes, peltt_random *random)
{
    peltt_clip *clips = part(p, shape->clip_count, sizeof *clips);
    for (uint32_t i = 0; i < shape->clip_count; i++) {
        peltt_track *tracks = part(p, (size_t)shape->node_count * 4, sizeof *tracks);
        double share = peltt_random_unit(random) * 0.7;
        for (uint32_t k = 0; k < shape->node_count * 4; k++) {
            const peltt_node *node = &nodes[k / 4];
            pelt_path path = (pelt_path)(k % 4);
            bool possible = path == PELT_PATH_WEIGHTS ? node->has_morphs : !node->has_matrix;
            if (!possible || !peltt_random_chance(random, share)) {
                continue;
            }
            peltt_track *track = &tracks[clips[i].track_count++];
            uint32_t width = path == PELT_PATH_WEIGHTS ? shape->target_count : path == PELT_PATH_ROTATION ? 4 : 3;
            *track = (peltt_track){.node = k / 4, .path = path, .key_count = 1 + peltt_random_below(random, 4)};
            track->interpolation = (pelt_interpolation)peltt_random_below(random, track->key_count > 1 ? 3 : 2);
            uint32_t value_count =
                track->key_count * (track->interpolation == PELT_INTERPOLATION_CUBICSPLINE ? 3U : 1U);
            float *times = part(p, track->key_count, sizeof *times);
            float time = peltt_random_float(random, 0.0F, 0.5F);
            for (uint32_t t = 0; t < track->key_count; t++) {
                times[t] = time;
                time += peltt_random_float(random, 0.1F, 0.5F);
            }
            float *values = part(p, (size_t)value_count * width, sizeof *values);
            random_values(values, value_count, width, random);
            track->times = times;
            track->values = values;
        }
        clips[i].tracks = tracks;
    }
    return clips;
}

pelt_asset *peltt_asset_random(const peltt_asset_shape *shape, peltt_random *random)
{
    parts p = {NULL};
    peltt_scene scene = {.node_count = shape->node_count,
                         .target_count = shape->target_count,
                         .skin_count = shape->skin_count,
                         .clip_count = shape->clip_count};
    scene.nodes = random_nodes(&p, shape, random);
    scene.skins = random_skins(&p, shape, random);
    scene.clips = random_clips(&p, shape, scene.nodes, random);
    pelt_asset *asset = peltt_asset_make(&scene);
    while (p.last) {
        part_link *before = p.last->before;
        free(p.last);
        p.last = before;
    }
    return asset;
}

// SPDX-License-Identifier: MIT
// Plain test shapes: `worm` and `wide` are a tube along +y with a wriggle, `deep` is one triangle under a long chain of
// joints.
#include "gen.h"

#include <math.h>
#include <stdlib.h>

typedef struct tube {
    uint32_t joint_count;
    double length;
} tube;

// v runs from the tail at the bottom to the head; both ends close at a point. Weights: cubic B-spline along the chain.
static void tube_surface(const void *shape, double u, double v, gen_vertex *out)
{
    const tube *t = shape;
    double s = v < 0 ? 0 : v > 1 ? 1 : v;
    double radius = s <= 0 || s >= 1 ? 0 : 0.12 * sqrt(sin(GEN_TAU / 2 * s)) * (1 + 0.06 * sin(GEN_TAU * 12 * s));
    double angle = GEN_TAU * u;
    uint32_t elements[4];
    double weights[4];
    out->position[0] = (float)(radius * sin(angle));
    out->position[1] = (float)(t->length * s);
    out->position[2] = (float)(radius * cos(angle));
    out->color[0] = (uint8_t)(200 + 40 * sin(GEN_TAU * 6 * s));
    out->color[1] = 120;
    out->color[2] = 110;
    out->color[3] = 255;
    uint32_t count = gen_chain_weights(s * t->joint_count - 0.5, t->joint_count, elements, weights);
    for (uint32_t i = 0; i < count; i++) {
        out->joints[i] = (uint16_t)elements[i];
        out->weights[i] = (float)weights[i];
    }
}

// Sets of four influences each, for `wide`: vertex v follows influence_count joints with a smooth kernel around it.
static void add_wide_sets(gen_file *file, json_t *primitive, const gen_mesh *mesh, uint32_t joint_count,
                          uint32_t influence_count, double length)
{
    json_t *attributes = json_object_get(primitive, "attributes");
    uint32_t set_count = (influence_count + 3) / 4;
    uint16_t *joints = malloc((size_t)mesh->vertex_count * 4 * sizeof *joints);
    float *weights = malloc((size_t)mesh->vertex_count * 4 * sizeof *weights);
    for (uint32_t set = 0; set < set_count && joints && weights; set++) {
        for (uint32_t v = 0; v < mesh->vertex_count; v++) {
            double centre = (double)mesh->vertices[v].position[1] / length * (joint_count - 1);
            double start = floor(centre - (influence_count - 1) / 2.0);
            double first = fmin(fmax(start, 0), (double)(joint_count - influence_count));
            double sum = 0;
            for (uint32_t i = 0; i < influence_count; i++) {
                sum += 1 / (1 + fabs(first + i - centre));
            }
            for (uint32_t i = 0; i < 4; i++) {
                uint32_t k = set * 4 + i;
                bool used = k < influence_count;
                joints[v * 4 + i] = used ? (uint16_t)(first + k) : 0;
                weights[v * 4 + i] = used ? (float)(1 / (1 + fabs(first + k - centre)) / sum) : 0;
            }
        }
        char name[32];
        snprintf(name, sizeof name, "JOINTS_%u", set);
        uint32_t accessor = gen_accessor(file, joints, mesh->vertex_count, 4, PELT_COMPONENT_U16, GEN_VERTEX);
        json_object_set_new(attributes, name, json_integer((json_int_t)accessor));
        snprintf(name, sizeof name, "WEIGHTS_%u", set);
        accessor = gen_accessor(file, weights, mesh->vertex_count, 4, PELT_COMPONENT_F32, GEN_VERTEX);
        json_object_set_new(attributes, name, json_integer((json_int_t)accessor));
    }
    file->failed |= !joints || !weights;
    free(joints);
    free(weights);
}

// A chain of nodes 0 to count - 1 along +y, a skin over them, the mesh node and the scene.
static void add_chain(gen_file *file, uint32_t count, double step, double first_step)
{
    float *inverse = calloc((size_t)count * 16, sizeof *inverse);
    json_t *joints = json_array();
    for (uint32_t i = 0; i < count && inverse; i++) {
        char name[32];
        pelt_trs trs = pelt_trs_identity();
        gen_frame bind = gen_frame_at(0, first_step + step * i, 0);
        trs.translation.y = (float)(i == 0 ? first_step : step);
        snprintf(name, sizeof name, "joint.%u", i);
        json_t *node = gen_node(name, &trs);
        if (i + 1 < count) {
            json_object_set_new(node, "children", json_pack("[I]", (json_int_t)(i + 1)));
        }
        gen_append(file, "nodes", node);
        json_array_append_new(joints, json_integer((json_int_t)i));
        gen_inverse_bind(&bind, inverse + (size_t)i * 16);
    }
    uint32_t accessor = gen_accessor(file, inverse, count, 16, PELT_COMPONENT_F32, 0);
    gen_append(file, "skins", json_pack("{s:o, s:I}", "joints", joints, "inverseBindMatrices", (json_int_t)accessor));
    gen_append(file, "nodes", json_pack("{s:s, s:i, s:i}", "name", "mesh", "mesh", 0, "skin", 0));
    gen_append(file, "scenes", json_pack("{s:[i,I]}", "nodes", 0, (json_int_t)count));
    json_object_set_new(file->root, "scene", json_integer(0));
    free(inverse);
}

static void add_wriggle(gen_file *file, uint32_t joint_count)
{
    enum {
        KEYS = 13
    };
    float times[KEYS];
    for (int k = 0; k < KEYS; k++) {
        times[k] = (float)k / (KEYS - 1);
    }
    uint32_t input = gen_accessor(file, times, KEYS, 1, PELT_COMPONENT_F32, GEN_BOUNDS);
    gen_clip clip = gen_clip_begin(file);
    for (uint32_t joint = 0; joint < joint_count; joint++) {
        float values[KEYS][4];
        for (int k = 0; k < KEYS; k++) {
            double p = (double)(k % (KEYS - 1)) / (KEYS - 1);
            double angle = 4.0 / joint_count * sin(GEN_TAU * (p - 1.2 * joint / joint_count));
            pelt_quat q = gen_quat_axis(0, 0, 1, angle);
            values[k][0] = q.x;
            values[k][1] = q.y;
            values[k][2] = q.z;
            values[k][3] = q.w;
        }
        gen_channel(&clip, gen_sampler(&clip, input, values[0], KEYS, 4, "LINEAR"), joint, "rotation");
    }
    gen_clip_end(&clip, "wriggle");
}

static void add_material(gen_file *file)
{
    gen_append(file, "materials",
               json_pack("{s:{s:f, s:f}}", "pbrMetallicRoughness", "metallicFactor", 0.0, "roughnessFactor", 0.6));
}

static json_t *tube_primitive(gen_file *file, const tube *shape, uint32_t vertex_count, gen_mesh *mesh)
{
    double around = sqrt(vertex_count / 5.0);
    around = around < 4 ? 4 : around;
    uint32_t columns = (uint32_t)around;
    uint32_t rows = vertex_count / (columns + 1);
    gen_patch(mesh, tube_surface, shape, columns, rows > 3 ? rows - 1 : 2);
    gen_mesh_compact(mesh);
    return gen_primitive(file, mesh, false);
}

void gen_worm(const cli_options *options, gen_file *file)
{
    gen_mesh mesh = {0};
    tube shape = {options->joints, 2.4};
    json_t *primitive = tube_primitive(file, &shape, options->vertices, &mesh);
    if (primitive && options->influences > 0) {
        add_wide_sets(file, primitive, &mesh, options->joints, options->influences, shape.length);
    }
    gen_append(file, "meshes", json_pack("{s:s, s:[o]}", "name", "worm", "primitives", primitive));
    add_material(file);
    double step = shape.length / options->joints;
    add_chain(file, options->joints, step, 0);
    add_wriggle(file, options->joints);
    gen_mesh_release(&mesh);
}

void gen_deep(const cli_options *options, gen_file *file)
{
    gen_mesh mesh = {0};
    tube shape = {1, 1.0};
    json_t *primitive = tube_primitive(file, &shape, options->vertices, &mesh);
    gen_append(file, "meshes", json_pack("{s:s, s:[o]}", "name", "deep", "primitives", primitive));
    add_material(file);
    // 1 / 1024 is exact in float, so the chain's end is known exactly.
    add_chain(file, options->joints, 1.0 / 1024, 0);
    add_wriggle(file, options->joints < 8 ? options->joints : 8);
    gen_mesh_release(&mesh);
}

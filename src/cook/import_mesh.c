// SPDX-License-Identifier: MIT
// Unpacks cooked primitives: what the packed values decode to, in cooked vertex order, as asset.h lays primitives out.
#include "cook/import.h"

// Influences of one vertex.
typedef struct vertex_influences {
    uint16_t *joints;
    float *weights;
} vertex_influences;

static bool goes_after(const vertex_influences *v, uint32_t a, uint32_t b)
{
    return v->weights[a] < v->weights[b] || (v->weights[a] == v->weights[b] && v->joints[a] > v->joints[b]);
}

static void swap(const vertex_influences *v, uint32_t a, uint32_t b)
{
    uint16_t joint = v->joints[a];
    float weight = v->weights[a];
    v->joints[a] = v->joints[b];
    v->weights[a] = v->weights[b];
    v->joints[b] = joint;
    v->weights[b] = weight;
}

static void sift_down(const vertex_influences *v, uint32_t count, uint32_t at)
{
    for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && goes_after(v, child + 1, child)) {
            child++;
        }
        if (!goes_after(v, child, at)) {
            return;
        }
        swap(v, child, at);
        at = child;
    }
}

// By falling weight, equal ones by joint. Heap sort: a file may give one vertex 65,000 influences in any order.
static void sort_influences(const vertex_influences *v, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;) {
        sift_down(v, count, i);
    }
    for (uint32_t end = count; end-- > 1;) {
        swap(v, 0, end);
        sift_down(v, end, 0);
    }
}

static uint32_t count_influences(const pelt_cooked_primitive *from)
{
    uint32_t most = 0;
    for (uint32_t v = 0; v < from->vertex_count; v++) {
        uint32_t count = pelt_cooked_influences(from, v, 0, NULL, NULL);
        most = count > most ? count : most;
    }
    return most;
}

static bool import_influences(const cook_import *import, const pelt_cooked_primitive *from, pelt_primitive *out)
{
    out->influences.worst_sum_vertex = PELT_NONE;
    if (!from->weights) {
        return true;
    }
    // A primitive without vertices keeps being a skinned one.
    uint32_t width = count_influences(from);
    width = width > 0 ? width : 1;
    uint16_t *joints = pelt_builder_allocate(import->builder, (uint64_t)from->vertex_count * width, sizeof *joints);
    float *weights = pelt_builder_allocate(import->builder, (uint64_t)from->vertex_count * width, sizeof *weights);
    if (!joints || !weights) {
        return false;
    }
    for (uint32_t v = 0; v < from->vertex_count; v++) {
        vertex_influences influences = {joints + (size_t)v * width, weights + (size_t)v * width};
        sort_influences(&influences, pelt_cooked_influences(from, v, width, influences.joints, influences.weights));
    }
    out->influence_count = width;
    out->joints = joints;
    out->weights = weights;
    out->joint_bound = from->joint_bound;
    out->influences.set_count = (width + 3) / 4;
    return true;
}

static bool import_geometry(const cook_import *import, const pelt_cooked_primitive *from, pelt_primitive *out)
{
    uint64_t count = from->vertex_count;
    float *positions = pelt_builder_allocate(import->builder, count, 3 * sizeof *positions);
    float *normals = from->normals ? pelt_builder_allocate(import->builder, count, 3 * sizeof *normals) : NULL;
    float *tangents = from->tangents ? pelt_builder_allocate(import->builder, count, 4 * sizeof *tangents) : NULL;
    if (!positions || (from->normals && !normals) || (from->tangents && !tangents)) {
        return false;
    }
    if (count > 0) {
        memcpy(positions, from->positions, (size_t)count * 3 * sizeof *positions);
    }
    for (uint64_t v = 0; normals && v < count; v++) {
        pelt_normal_decode(from->normals[v], normals + 3 * v);
    }
    for (uint64_t v = 0; tangents && v < count; v++) {
        pelt_tangent_decode(from->tangents[v], tangents + 4 * v);
    }
    out->positions = positions;
    out->normals = normals;
    out->tangents = tangents;
    return true;
}

static bool import_indices(const cook_import *import, const pelt_cooked_primitive *from, pelt_primitive *out)
{
    out->index_count = from->index_count;
    if (from->index_size == 0) {
        return true;
    }
    uint32_t *indices = pelt_builder_allocate(import->builder, from->index_count, sizeof *indices);
    if (!indices) {
        return false;
    }
    const uint16_t *narrow = from->indices;
    const uint32_t *wide = from->indices;
    for (uint32_t i = 0; i < from->index_count; i++) {
        indices[i] = from->index_size == 2 ? narrow[i] : wide[i];
    }
    out->indices = indices;
    return true;
}

static bool import_attributes(const cook_import *import, const pelt_cooked_primitive *from, pelt_primitive *out)
{
    pelt_attribute *attributes = pelt_builder_allocate(import->builder, from->attribute_count, sizeof *attributes);
    for (uint32_t i = 0; attributes && i < from->attribute_count; i++) {
        const pelt_attribute *attribute = &from->attributes[i];
        void *data = pelt_builder_allocate(import->builder, from->vertex_count, attribute->stride);
        attributes[i] = *attribute;
        attributes[i].name = import->strings + (attribute->name - pelti_cooked_name(import->cooked, 0));
        attributes[i].data = data;
        if (!data) {
            return false;
        }
        if (from->vertex_count > 0) {
            memcpy(data, attribute->data, (size_t)from->vertex_count * attribute->stride);
        }
    }
    out->attribute_count = from->attribute_count;
    out->attributes = attributes;
    return attributes != NULL;
}

static bool import_target_stream(const cook_import *import, const pelt_cooked_primitive *from,
                                 const pelt_cooked_target *target, uint32_t stream, const float **out)
{
    const void *const streams[3] = {target->positions, target->normals, target->tangents};
    if (!streams[stream]) {
        return true;
    }
    float *values = pelt_builder_allocate(import->builder, from->vertex_count, 3 * sizeof *values);
    if (!values) {
        return false;
    }
    pelt_cooked_target_add(target, stream, 1.0f, values);
    *out = values;
    return true;
}

static bool import_targets(const cook_import *import, const pelt_cooked_primitive *from, pelt_primitive *out)
{
    pelt_morph_target *targets = pelt_builder_allocate(import->builder, from->target_count, sizeof *targets);
    for (uint32_t i = 0; targets && i < from->target_count; i++) {
        const pelt_cooked_target *target = &from->targets[i];
        if (!import_target_stream(import, from, target, 0, &targets[i].positions) ||
            !import_target_stream(import, from, target, 1, &targets[i].normals) ||
            !import_target_stream(import, from, target, 2, &targets[i].tangents)) {
            return false;
        }
    }
    out->targets = targets;
    return targets != NULL;
}

static bool import_primitive(const cook_import *import, const pelt_cooked_primitive *from, pelt_primitive *out)
{
    out->topology = from->topology;
    out->material = from->material;
    out->vertex_count = from->vertex_count;
    out->has_declared_box = from->has_declared_box;
    out->declared_box = from->declared_box;
    return import_geometry(import, from, out) && import_influences(import, from, out) &&
           import_indices(import, from, out) && import_attributes(import, from, out) &&
           import_targets(import, from, out);
}

static bool import_mesh(const cook_import *import, uint32_t index, pelt_mesh *mesh)
{
    const pelt_cooked *cooked = import->cooked;
    const file_mesh *record = pelti_cooked_record(cooked, FILE_MESH, 0, index);
    uint32_t count = record->target_count;
    pelt_primitive *primitives = pelt_builder_allocate(import->builder, record->primitive_count, sizeof *primitives);
    const char **names = pelt_builder_allocate(import->builder, count, sizeof *names);
    float *weights = pelt_builder_allocate(import->builder, count, sizeof *weights);
    if (!primitives || !names || !weights) {
        return false;
    }
    for (uint32_t i = 0; i < record->primitive_count; i++) {
        if (!import_primitive(import, &cooked->primitives[record->first_primitive + i], &primitives[i])) {
            return false;
        }
    }
    const uint32_t *offsets = pelti_cooked_contents(cooked, pelti_cooked_section(cooked, FILE_TNAM, index, 0));
    for (uint32_t t = 0; t < count; t++) {
        names[t] = import->strings + offsets[t];
    }
    if (count > 0) {
        memcpy(weights, pelti_cooked_contents(cooked, pelti_cooked_section(cooked, FILE_MWGT, index, 0)),
               count * sizeof *weights);
    }
    mesh->name = import->strings + record->name;
    mesh->primitive_count = record->primitive_count;
    mesh->primitives = primitives;
    mesh->target_count = count;
    mesh->target_names = names;
    mesh->weights = weights;
    return true;
}

bool pelti_cooked_import_meshes(const cook_import *import, pelt_builder_scene *scene)
{
    uint32_t count = import->cooked->mesh_count;
    pelt_mesh *meshes = pelt_builder_allocate(import->builder, count, sizeof *meshes);
    for (uint32_t i = 0; meshes && i < count; i++) {
        if (!import_mesh(import, i, &meshes[i])) {
            return false;
        }
    }
    scene->mesh_count = count;
    scene->meshes = meshes;
    return meshes != NULL;
}

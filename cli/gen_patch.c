// SPDX-License-Identifier: MIT
// Turns parametric surfaces into vertices and triangles, and those into the accessors of a glTF primitive.
#include "gen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(gen_mesh *mesh, uint64_t vertices, uint64_t indices)
{
    uint64_t vertex_need = mesh->vertex_count + vertices;
    uint64_t index_need = mesh->index_count + indices;
    if (mesh->failed || vertex_need > UINT32_MAX / 2 || index_need > UINT32_MAX / 2) {
        mesh->failed = true;
        return false;
    }
    if (vertex_need > mesh->vertex_capacity) {
        gen_vertex *grown = realloc(mesh->vertices, (size_t)vertex_need * 2 * sizeof *grown);
        mesh->failed |= !grown;
        mesh->vertices = grown ? grown : mesh->vertices;
        mesh->vertex_capacity = grown ? (uint32_t)vertex_need * 2 : mesh->vertex_capacity;
    }
    if (index_need > mesh->index_capacity) {
        uint32_t *grown = realloc(mesh->indices, (size_t)index_need * 2 * sizeof *grown);
        mesh->failed |= !grown;
        mesh->indices = grown ? grown : mesh->indices;
        mesh->index_capacity = grown ? (uint32_t)index_need * 2 : mesh->index_capacity;
    }
    return !mesh->failed;
}

void gen_mesh_release(gen_mesh *mesh)
{
    free(mesh->vertices);
    free(mesh->indices);
    *mesh = (gen_mesh){0};
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static bool normalize(double v[3])
{
    double length = sqrt(dot(v, v));
    for (int i = 0; i < 3; i++) {
        v[i] /= length > 0 ? length : 1;
    }
    return length > 0;
}

// A point of the surface, with the morph target added where puff is 1.
static void point(gen_surface surface, const void *shape, double u, double v, double puff, double out[3])
{
    gen_vertex vertex = {0};
    surface(shape, u, v, &vertex);
    for (int i = 0; i < 3; i++) {
        out[i] = (double)vertex.position[i] + puff * (double)vertex.puff[i];
    }
}

// Outward normal by central differences, and du. v keeps away from the poles, where du vanishes.
static void normal_at(gen_surface surface, const void *shape, double u, double v, double puff, double normal[3],
                      double du[3], double dv[3])
{
    const double e = 1e-3;
    double inner = v < 2 * e ? 2 * e : v > 1 - 2 * e ? 1 - 2 * e : v;
    double a[3];
    double b[3];
    point(surface, shape, u + e, inner, puff, a);
    point(surface, shape, u - e, inner, puff, b);
    for (int i = 0; i < 3; i++) {
        du[i] = a[i] - b[i];
    }
    point(surface, shape, u, inner + e, puff, a);
    point(surface, shape, u, inner - e, puff, b);
    for (int i = 0; i < 3; i++) {
        dv[i] = a[i] - b[i];
    }
    cross(du, dv, normal);
    if (!normalize(normal)) {
        normal[1] = 1;
    }
}

static void finish_vertex(gen_surface surface, const void *shape, double u, double v, gen_vertex *out)
{
    double normal[3];
    double puffed[3];
    double du[3];
    double dv[3];
    double ignored[2][3];
    normal_at(surface, shape, u, v, 1, puffed, ignored[0], ignored[1]);
    normal_at(surface, shape, u, v, 0, normal, du, dv);
    double along = dot(normal, du);
    double tangent[3] = {du[0] - along * normal[0], du[1] - along * normal[1], du[2] - along * normal[2]};
    if (!normalize(tangent)) {
        tangent[0] = 1;
    }
    double bitangent[3];
    cross(normal, tangent, bitangent);
    for (int i = 0; i < 3; i++) {
        out->normal[i] = (float)normal[i];
        out->tangent[i] = (float)tangent[i];
        out->puff_normal[i] = (float)(puffed[i] - normal[i]);
    }
    out->tangent[3] = dot(bitangent, dv) < 0 ? -1.0f : 1.0f;
    out->uv[0] = (float)u;
    out->uv[1] = (float)v;
}

static bool same_place(const gen_vertex *a, const gen_vertex *b)
{
    return memcmp(a->position, b->position, sizeof a->position) == 0;
}

static void triangle(gen_mesh *mesh, uint32_t a, uint32_t b, uint32_t c)
{
    const gen_vertex *v = mesh->vertices;
    if (same_place(&v[a], &v[b]) || same_place(&v[b], &v[c]) || same_place(&v[c], &v[a])) {
        return;
    }
    mesh->indices[mesh->index_count++] = a;
    mesh->indices[mesh->index_count++] = b;
    mesh->indices[mesh->index_count++] = c;
}

void gen_patch(gen_mesh *mesh, gen_surface surface, const void *shape, uint32_t columns, uint32_t rows)
{
    if (!reserve(mesh, (uint64_t)(columns + 1) * (rows + 1), (uint64_t)columns * rows * 6)) {
        return;
    }
    uint32_t first = mesh->vertex_count;
    for (uint32_t row = 0; row <= rows; row++) {
        for (uint32_t column = 0; column <= columns; column++) {
            double u = (double)column / columns;
            double v = (double)row / rows;
            gen_vertex *vertex = &mesh->vertices[mesh->vertex_count++];
            *vertex = (gen_vertex){0};
            surface(shape, u, v, vertex);
            finish_vertex(surface, shape, u, v, vertex);
        }
    }
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t column = 0; column < columns; column++) {
            uint32_t a = first + row * (columns + 1) + column;
            uint32_t below = a + columns + 1;
            triangle(mesh, a, a + 1, below + 1);
            triangle(mesh, a, below + 1, below);
        }
    }
}

void gen_mesh_compact(gen_mesh *mesh)
{
    uint32_t *moved = malloc(((size_t)mesh->vertex_count + 1) * sizeof *moved);
    uint32_t count = 0;
    if (!moved) {
        mesh->failed = true;
        return;
    }
    memset(moved, 0xff, (size_t)mesh->vertex_count * sizeof *moved);
    for (uint32_t i = 0; i < mesh->index_count; i++) {
        moved[mesh->indices[i]] = 0;
    }
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        if (moved[v] == 0) {
            moved[v] = count;
            mesh->vertices[count++] = mesh->vertices[v];
        }
    }
    for (uint32_t i = 0; i < mesh->index_count; i++) {
        mesh->indices[i] = moved[mesh->indices[i]];
    }
    mesh->vertex_count = count;
    free(moved);
}

// Copies one member of all vertices into a tight array.
static void *column_of(const gen_mesh *mesh, size_t offset, size_t size)
{
    uint8_t *out = malloc(mesh->vertex_count * size + 1);
    for (uint32_t i = 0; out && i < mesh->vertex_count; i++) {
        memcpy(out + i * size, (const uint8_t *)&mesh->vertices[i] + offset, size);
    }
    return out;
}

static void attribute(gen_file *file, const gen_mesh *mesh, json_t *attributes, const char *name, size_t offset,
                      uint32_t width, pelt_component component, unsigned flags)
{
    size_t bytes = component == PELT_COMPONENT_F32 ? 4 : component == PELT_COMPONENT_U16 ? 2 : 1;
    void *data = column_of(mesh, offset, width * bytes);
    uint32_t accessor = gen_accessor(file, data, mesh->vertex_count, width, component, flags | GEN_VERTEX);
    json_object_set_new(attributes, name, json_integer((json_int_t)accessor));
    free(data);
}

#define ATTRIBUTE(target, name, member, width, component, flags)                                                       \
    attribute(file, mesh, target, name, offsetof(gen_vertex, member), width, component, flags)

json_t *gen_primitive(gen_file *file, const gen_mesh *mesh, bool puffs)
{
    json_t *attributes = json_object();
    if (mesh->failed || mesh->vertex_count == 0) {
        file->failed = true;
        json_decref(attributes);
        return NULL;
    }
    ATTRIBUTE(attributes, "POSITION", position, 3, PELT_COMPONENT_F32, GEN_BOUNDS);
    ATTRIBUTE(attributes, "NORMAL", normal, 3, PELT_COMPONENT_F32, 0);
    ATTRIBUTE(attributes, "TANGENT", tangent, 4, PELT_COMPONENT_F32, 0);
    ATTRIBUTE(attributes, "TEXCOORD_0", uv, 2, PELT_COMPONENT_F32, 0);
    ATTRIBUTE(attributes, "COLOR_0", color, 4, PELT_COMPONENT_U8, GEN_NORMALIZED);
    ATTRIBUTE(attributes, "JOINTS_0", joints, 4, PELT_COMPONENT_U16, 0);
    ATTRIBUTE(attributes, "WEIGHTS_0", weights, 4, PELT_COMPONENT_F32, 0);
    json_t *primitive = json_object();
    json_object_set_new(primitive, "attributes", attributes);
    if (puffs) {
        json_t *target = json_object();
        ATTRIBUTE(target, "POSITION", puff, 3, PELT_COMPONENT_F32, GEN_BOUNDS);
        ATTRIBUTE(target, "NORMAL", puff_normal, 3, PELT_COMPONENT_F32, 0);
        json_object_set_new(primitive, "targets", json_pack("[o]", target));
    }
    uint32_t indices = gen_accessor(file, mesh->indices, mesh->index_count, 1, PELT_COMPONENT_U32, GEN_INDEX);
    json_object_set_new(primitive, "indices", json_integer((json_int_t)indices));
    json_object_set_new(primitive, "material", json_integer(0));
    return primitive;
}

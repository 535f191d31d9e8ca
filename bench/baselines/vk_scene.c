// SPDX-License-Identifier: MIT
// Meshes, palettes and outputs of a scene end to end, and the formats that more than one design uses.
#include "vk_common.h"

#include <pelt/packed.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- tables

// Shaders count vertices in 32 bits, and some compilers index with a sign.
static bool fill_table(const bvk *vk, const baseline_vk_scene *scene, bvk_table *table)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        table->mesh_firsts[i] = (uint32_t)total;
        total += scene->meshes[i].vertex_count;
        if (total > INT32_MAX) {
            return bvk_fail(vk, "the meshes have more than %d vertices", INT32_MAX);
        }
    }
    table->mesh_firsts[scene->mesh_count] = (uint32_t)total;
    total = 0;
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const baseline_vk_instance *instance = &scene->instances[i];
        table->firsts[i] = (uint32_t)total;
        table->meshes[i] = instance->mesh;
        table->matrix_firsts[i] = scene->first_matrices[instance->palette];
        total += scene->meshes[instance->mesh].vertex_count;
        if (total > INT32_MAX) {
            return bvk_fail(vk, "the instances have more than %d vertices", INT32_MAX);
        }
    }
    table->firsts[scene->instance_count] = (uint32_t)total;
    for (uint32_t i = 0; i < scene->palette_count; i++) {
        uint32_t count = scene->first_matrices[i + 1] - scene->first_matrices[i];
        table->joint_bound = count > table->joint_bound ? count : table->joint_bound;
    }
    return true;
}

bool bvk_table_create(const bvk *vk, const baseline_vk_scene *scene, bvk_table *out)
{
    size_t instances = scene->instance_count;
    *out = (bvk_table){.mesh_count = scene->mesh_count,
                       .instance_count = scene->instance_count,
                       .mesh_firsts = malloc(((size_t)scene->mesh_count + 1) * sizeof(uint32_t)),
                       .firsts = malloc((instances + 1) * sizeof(uint32_t)),
                       .meshes = malloc((instances + 1) * sizeof(uint32_t)),
                       .matrix_firsts = malloc((instances + 1) * sizeof(uint32_t))};
    if (!out->mesh_firsts || !out->firsts || !out->meshes || !out->matrix_firsts) {
        return bvk_fail(vk, "out of memory");
    }
    return fill_table(vk, scene, out);
}

void bvk_table_destroy(bvk_table *table)
{
    free(table->mesh_firsts);
    free(table->firsts);
    free(table->meshes);
    free(table->matrix_firsts);
    *table = (bvk_table){0};
}

uint32_t bvk_table_count(const bvk_table *table, uint32_t instance)
{
    return table->firsts[instance + 1] - table->firsts[instance];
}

double bvk_vertex_total(const bvk_table *table)
{
    return (double)table->firsts[table->instance_count];
}

double bvk_search_steps(uint32_t count)
{
    return count > 1 ? ceil(log2((double)count)) : 0;
}

// ---- uploads

static bool shares_arrays(const baseline_vk_mesh *a, const baseline_vk_mesh *b)
{
    return a->vertex_count == b->vertex_count && a->positions == b->positions && a->normals == b->normals &&
           a->tangents == b->tangents && a->joints == b->joints && a->weights == b->weights;
}

static bool write_meshes(bvk_writer *writer, const baseline_vk_scene *scene, size_t stride, bvk_encode *encode,
                         void *encoded)
{
    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        const baseline_vk_mesh *mesh = &scene->meshes[i];
        if (i == 0 || !shares_arrays(mesh, mesh - 1)) {
            encode(mesh, encoded);
        }
        if (!bvk_write(writer, encoded, mesh->vertex_count * stride)) {
            return false;
        }
    }
    return bvk_write_end(writer);
}

bool bvk_upload_meshes(const bvk *vk, const baseline_vk_scene *scene, size_t stride, bvk_encode *encode,
                       bvk_buffer *out)
{
    size_t largest = 1;
    VkDeviceSize total = 0;
    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        size_t count = scene->meshes[i].vertex_count;
        total += count;
        largest = count > largest ? count : largest;
    }
    if (!bvk_buffer_create(vk, total * stride, out)) {
        return false;
    }
    void *encoded = malloc(largest * stride);
    bvk_writer writer = {.vk = vk, .to = out};
    bool written =
        encoded ? write_meshes(&writer, scene, stride, encode, encoded) : bvk_fail(vk, "out of memory for a mesh");
    free(encoded);
    return written;
}

bool bvk_upload_matrices(const bvk *vk, const baseline_vk_scene *scene, size_t size, bvk_encode_matrix *encode,
                         bvk_buffer *out)
{
    uint32_t count = scene->first_matrices[scene->palette_count];
    if (!bvk_buffer_create(vk, (VkDeviceSize)count * size, out)) {
        return false;
    }
    bvk_writer writer = {.vk = vk, .to = out};
    float encoded[32];
    for (uint32_t i = 0; i < count; i++) {
        encode(&scene->matrices[i], encoded);
        if (!bvk_write(&writer, encoded, size)) {
            return false;
        }
    }
    return bvk_write_end(&writer);
}

// ---- formats

void bvk_encode_positions(const baseline_vk_mesh *mesh, void *out)
{
    memcpy(out, mesh->positions, (size_t)mesh->vertex_count * 3 * sizeof(float));
}

void bvk_encode_normals(const baseline_vk_mesh *mesh, void *out)
{
    uint32_t *codes = out;
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        codes[i] = pelt_normal_encode(mesh->normals + i * 3);
    }
}

void bvk_encode_tangents(const baseline_vk_mesh *mesh, void *out)
{
    uint32_t *codes = out;
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        codes[i] = pelt_tangent_encode(mesh->tangents + i * 4);
    }
}

void bvk_encode_joints16(const baseline_vk_mesh *mesh, void *out)
{
    uint16_t *joints = out;
    for (size_t i = 0; i < (size_t)mesh->vertex_count * 4; i++) {
        joints[i] = mesh->weights[i] != 0.0F ? mesh->joints[i] : 0;
    }
}

void bvk_encode_mat34(const pelt_mat34 *matrix, void *out)
{
    memcpy(out, matrix, sizeof *matrix);
}

void bvk_encode_mat4(const pelt_mat34 *matrix, void *out)
{
    float *m = out;
    for (int column = 0; column < 4; column++) {
        for (int row = 0; row < 3; row++) {
            m[column * 4 + row] = matrix->m[row][column];
        }
        m[column * 4 + 3] = column == 3 ? 1.0F : 0.0F;
    }
}

// ---- outputs

bool bvk_outputs_create(const bvk *vk, const bvk_table *table, bool bounds, bvk_outputs *out)
{
    VkDeviceSize count = table->firsts[table->instance_count];
    return bvk_buffer_create(vk, count * 12, &out->positions) && bvk_buffer_create(vk, count * 4, &out->normals) &&
           bvk_buffer_create(vk, count * 4, &out->tangents) &&
           (!bounds || bvk_buffer_create(vk, (VkDeviceSize)table->instance_count * sizeof(pelt_box), &out->boxes));
}

void bvk_outputs_destroy(const bvk *vk, bvk_outputs *outputs)
{
    bvk_buffer_destroy(vk, &outputs->positions);
    bvk_buffer_destroy(vk, &outputs->normals);
    bvk_buffer_destroy(vk, &outputs->tangents);
    bvk_buffer_destroy(vk, &outputs->boxes);
}

bool bvk_outputs_read(const bvk *vk, const bvk_table *table, const bvk_outputs *outputs, uint32_t instance,
                      baseline_vk_output *out)
{
    size_t first = table->firsts[instance];
    size_t count = bvk_table_count(table, instance);
    uint32_t *codes = malloc((count + 1) * 2 * sizeof *codes);
    if (!codes) {
        return bvk_fail(vk, "out of memory");
    }
    bool read = bvk_download(vk, &outputs->positions, first * 12, out->positions, count * 12) &&
                bvk_download(vk, &outputs->normals, first * 4, codes, count * 4) &&
                bvk_download(vk, &outputs->tangents, first * 4, codes + count, count * 4) &&
                (!outputs->boxes.buffer ||
                 bvk_download(vk, &outputs->boxes, instance * sizeof out->box, &out->box, sizeof out->box));
    for (size_t i = 0; read && i < count; i++) {
        pelt_normal_decode(codes[i], out->normals + i * 3);
        pelt_tangent_decode(codes[count + i], out->tangents + i * 4);
    }
    free(codes);
    return read;
}

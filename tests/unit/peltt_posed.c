// SPDX-License-Identifier: MIT
// Sources, posed vertices and outputs for tests of the posed-file writer.
#include "peltt_posed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

bool peltt_blob_write(void *user, const void *data, size_t size)
{
    peltt_blob *bytes = user;
    bytes->writes++;
    if (bytes->writes == bytes->fail_at) {
        return false;
    }
    if (bytes->size + size > bytes->capacity) {
        bytes->capacity = (bytes->size + size) * 2;
        bytes->data = realloc(bytes->data, bytes->capacity);
        assert_non_null(bytes->data);
    }
    if (size > 0) {
        memcpy(bytes->data + bytes->size, data, size);
    }
    bytes->size += size;
    return true;
}

void peltt_blob_free(peltt_blob *bytes)
{
    free(bytes->data);
    *bytes = (peltt_blob){0};
}

size_t peltt_blob_add(peltt_blob *bytes, const void *data, size_t size)
{
    static const uint8_t zeros[4] = {0};
    peltt_blob_write(bytes, zeros, (4 - bytes->size % 4) % 4);
    size_t start = bytes->size;
    peltt_blob_write(bytes, data, size);
    return start;
}

peltt_blob peltt_blob_glb(const char *json, const peltt_blob *bin)
{
    peltt_bytes glb = peltt_glb(json, bin->size > 0 ? bin->data : NULL, bin->size);
    return (peltt_blob){.data = glb.data, .size = glb.size, .capacity = glb.size};
}

static size_t get_u32(const uint8_t *bytes)
{
    return (size_t)bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
}

json_t *peltt_blob_json(const peltt_blob *glb, const uint8_t **out_bin, size_t *out_bin_size)
{
    assert_true(glb->size >= 20 && glb->size % 4 == 0);
    assert_memory_equal(glb->data, "glTF\2\0\0\0", 8);
    assert_int_equal(get_u32(glb->data + 8), glb->size);
    size_t json_size = get_u32(glb->data + 12);
    assert_memory_equal(glb->data + 16, "JSON", 4);
    assert_true(json_size % 4 == 0 && json_size <= glb->size - 20);
    json_error_t error;
    json_t *json = json_loadb((const char *)glb->data + 20, json_size, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(json);
    const uint8_t *chunk = glb->data + 20 + json_size;
    *out_bin = NULL;
    *out_bin_size = 0;
    if (20 + json_size < glb->size) {
        *out_bin_size = get_u32(chunk);
        assert_memory_equal(chunk + 4, "BIN\0", 4);
        assert_int_equal(20 + json_size + 8 + *out_bin_size, glb->size);
        *out_bin = chunk + 8;
    }
    return json;
}

static float *take_array(peltt_posed *posed, size_t count)
{
    float *array = calloc(count + 1, sizeof *array);
    assert_non_null(array);
    posed->arrays[posed->array_count++] = array;
    return array;
}

// Values with long fractions, different in each primitive of each instance.
static void make_up(peltt_posed *posed, uint32_t k, const pelt_primitive *source)
{
    size_t count = source->vertex_count;
    float *positions = take_array(posed, count * 3);
    float *normals = take_array(posed, count * 3);
    float *tangents = take_array(posed, count * 4);
    pelt_box box = pelt_box_empty();
    for (size_t i = 0; i < count * 3; i++) {
        float value = (float)(k + 1) * 0.37F + (float)i * 0.1F / 7.0F - 1.0F / 3.0F;
        positions[i] = value;
        box.min[i % 3] = value < box.min[i % 3] ? value : box.min[i % 3];
        box.max[i % 3] = value > box.max[i % 3] ? value : box.max[i % 3];
    }
    for (size_t v = 0; v < count; v++) {
        normals[v * 3 + (v + k) % 3] = 1.0F;
        tangents[v * 4 + (v + k + 1) % 3] = -1.0F;
        tangents[v * 4 + 3] = v % 2 ? 1.0F : -1.0F;
    }
    posed->boxes[k] = box;
    posed->primitives[k].positions = positions;
    posed->primitives[k].normals = source->normals ? normals : NULL;
    posed->primitives[k].tangents = source->tangents ? tangents : NULL;
    posed->primitives[k].box = &posed->boxes[k];
}

peltt_posed peltt_posed_open(const peltt_blob *source, const char *folder, const pelt_gltf_options *options)
{
    peltt_posed posed = {0};
    pelt_error error = {0};
    pelt_result result = pelt_gltf_open_memory(source->data, source->size, folder, options, &posed.gltf, &error);
    if (result == PELT_OK) {
        result = pelt_gltf_import(posed.gltf, &posed.asset, &error);
    }
    if (result != PELT_OK) {
        fail_msg("%s: %s: %s", pelt_result_name(result), error.where, error.message);
    }
    assert_int_equal(pelt_pose_create(posed.asset, NULL, &posed.pose), PELT_OK);
    assert_int_equal(pelt_pose_update(posed.pose, NULL), PELT_OK);
    const pelt_asset_data *data = pelt_asset_get(posed.asset);
    for (uint32_t i = 0; i < data->instance_count; i++) {
        posed.primitive_count += data->meshes[data->instances[i].mesh].primitive_count;
    }
    posed.primitives = calloc(posed.primitive_count + 1, sizeof *posed.primitives);
    posed.arrays = calloc((size_t)posed.primitive_count * 3 + 1, sizeof *posed.arrays);
    posed.boxes = calloc(posed.primitive_count + 1, sizeof *posed.boxes);
    assert_true(posed.primitives && posed.arrays && posed.boxes);
    uint32_t k = 0;
    for (uint32_t i = 0; i < data->instance_count; i++) {
        const pelt_mesh *mesh = &data->meshes[data->instances[i].mesh];
        for (uint32_t p = 0; p < mesh->primitive_count; p++, k++) {
            posed.primitives[k] = (pelt_gltf_posed_primitive){.instance = i, .primitive = p};
            make_up(&posed, k, &mesh->primitives[p]);
        }
    }
    return posed;
}

void peltt_posed_close(peltt_posed *posed)
{
    for (uint32_t i = 0; i < posed->array_count; i++) {
        free(posed->arrays[i]);
    }
    free(posed->arrays);
    free(posed->boxes);
    free(posed->primitives);
    pelt_pose_destroy(posed->pose);
    pelt_asset_destroy(posed->asset);
    pelt_gltf_close(posed->gltf);
    *posed = (peltt_posed){0};
}

pelt_result peltt_posed_write(const peltt_posed *posed, pelt_gltf_space space, peltt_blob *out, pelt_error *error)
{
    pelt_gltf_posed job = {.pose = posed->pose,
                           .space = space,
                           .primitive_count = posed->primitive_count,
                           .primitives = posed->primitives,
                           .json = {peltt_blob_write, out}};
    return pelt_gltf_write_posed(posed->gltf, posed->asset, &job, error);
}

// SPDX-License-Identifier: MIT
// One accessor after the other, in the order of the header.
#include "peltt_import_quad.h"

#include <stdio.h>
#include <string.h>

const float peltt_quad_positions[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 5};
const float peltt_quad_normals[12] = {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, -1};
const float peltt_quad_tangents[16] = {1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, 1, 0, -1};
const unsigned char peltt_quad_joints_u8[16] = {0, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0};
const float peltt_quad_weights[16] = {0.5f, 0.5f, 0, 0, 1, 0, 0, 0, 0.25f, 0.75f, 0, 0, 1, 0, 0, 0};
const float peltt_quad_uv[8] = {0, 0.125f, 0.25f, 0.375f, 0.5f, 0.625f, 0.75f, 0.875f};
const unsigned char peltt_quad_colors[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255};

static void add_odd_accessors(peltt_file *file)
{
    static const unsigned char zeros[64] = {0};
    const uint32_t nan_bits = 0x7FC00000;
    const uint32_t inf_bits = 0xFF800000;
    float odd[12];
    memcpy(odd, peltt_quad_positions, sizeof odd);
    memcpy(&odd[7], &nan_bits, 4);
    peltt_file_add(file, "VEC3", PELT_COMPONENT_F32, 4, odd, ",'min':[0,0,0],'max':[1,1,5]");
    peltt_file_add(file, "VEC3", PELT_COMPONENT_F32, 4, NULL, "");
    const unsigned char at = 2;
    const float value[3] = {1, 2, 3};
    char json[256];
    unsigned indices = peltt_file_view(file, &at, 1, 0);
    unsigned values = peltt_file_view(file, value, sizeof value, 0);
    snprintf(json, sizeof json,
             "{'componentType':5126,'type':'VEC3','count':4,'sparse':{'count':1,'indices':{'bufferView':%u,"
             "'componentType':5121},'values':{'bufferView':%u}}}",
             indices, values);
    peltt_file_accessor(file, json);
    uint16_t wide[16];
    for (int i = 0; i < 16; i++) {
        wide[i] = peltt_quad_joints_u8[i];
    }
    peltt_file_add(file, "VEC4", PELT_COMPONENT_U16, 4, wide, "");
    peltt_file_add(file, "VEC4", PELT_COMPONENT_F32, 4, peltt_quad_weights, "");
    const float odd_w[16] = {1, 0, 0, 0.5f, 1, 0, 0, -2, 1, 0, 0, 0, 1, 0, 0, 1};
    peltt_file_add(file, "VEC4", PELT_COMPONENT_F32, 4, odd_w, "");
    peltt_file_add(file, "VEC3", PELT_COMPONENT_F32, 4, peltt_quad_positions, "");
    peltt_file_accessor(file, "{'componentType':5126,'type':'MAT4','count':4}");
    const unsigned char bytes[4] = {3, 2, 1, 0};
    peltt_file_add(file, "SCALAR", PELT_COMPONENT_U8, 4, bytes, "");
    const uint32_t words[3] = {2, 0, 3};
    peltt_file_add(file, "SCALAR", PELT_COMPONENT_U32, 3, words, "");
    const signed char corners[16] = {-128, 127, 0, 0, 1, 2, 3, 0, -1, -2, -3, 0, 4, 5, 6, 0};
    unsigned view = peltt_file_view(file, corners, sizeof corners, 0);
    snprintf(json, sizeof json, "{'componentType':5120,'type':'VEC3','count':1,'bufferView':%u}", view);
    peltt_file_accessor(file, json);
    peltt_file_add(file, "VEC3", PELT_COMPONENT_I16, 4, zeros, "");
    const signed char small[16] = {127, 0, 0, 127, 0, 127, 0, -127, 0, 0, 127, -128, 127, 0, 0, 127};
    peltt_file_add(file, "VEC4", PELT_COMPONENT_I8, 4, small, ",'normalized':true");
    memcpy(odd, peltt_quad_normals, sizeof odd);
    memcpy(&odd[11], &inf_bits, 4);
    peltt_file_add(file, "VEC3", PELT_COMPONENT_F32, 4, odd, "");
    peltt_file_add(file, "VEC2", PELT_COMPONENT_F32, 4, NULL, "");
}

peltt_file *peltt_quad(void)
{
    static peltt_file file;
    static const unsigned char zeros[80] = {0};
    memset(&file, 0, sizeof file);
    peltt_file_add(&file, "VEC3", PELT_COMPONENT_F32, 4, peltt_quad_positions, ",'min':[0,0,0],'max':[1,1,5]");
    peltt_file_add(&file, "VEC3", PELT_COMPONENT_F32, 4, peltt_quad_normals, "");
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_F32, 4, peltt_quad_tangents, "");
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_U8, 4, peltt_quad_joints_u8, "");
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_F32, 4, peltt_quad_weights, "");
    const uint16_t indices[6] = {0, 1, 2, 2, 1, 3};
    peltt_file_add(&file, "SCALAR", PELT_COMPONENT_U16, 6, indices, "");
    const uint16_t high[3] = {0, 4, 1};
    peltt_file_add(&file, "SCALAR", PELT_COMPONENT_U16, 3, high, "");
    peltt_file_add(&file, "VEC2", PELT_COMPONENT_F32, 4, peltt_quad_uv, "");
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_U8, 4, peltt_quad_colors, ",'normalized':true");
    // 8 bytes a vertex, as glTF aligns attributes to 4.
    const int16_t packed[16] = {32767, -32767, -32768, 0, 0, 1, 2, 0, 3, 4, 5, 0, 6, 7, 8, 0};
    char json[256];
    unsigned view = peltt_file_view(&file, packed, sizeof packed, 8);
    snprintf(json, sizeof json,
             "{'componentType':5122,'type':'VEC3','count':2,'bufferView':%u,'normalized':true,"
             "'min':[0,-32767,-32768],'max':[32767,1,2]}",
             view);
    peltt_file_accessor(&file, json);
    const unsigned char bytes[4] = {200, 7, 0, 0};
    view = peltt_file_view(&file, bytes, sizeof bytes, 0);
    snprintf(json, sizeof json,
             "{'componentType':5121,'type':'VEC3','count':1,'bufferView':%u,'min':[200,7,0],'max':[200,7,0]}", view);
    peltt_file_accessor(&file, json);
    const signed char packed_normals[4] = {0, -127, 64, 0};
    view = peltt_file_view(&file, packed_normals, sizeof packed_normals, 0);
    snprintf(json, sizeof json, "{'componentType':5120,'type':'VEC3','count':1,'bufferView':%u,'normalized':true}",
             view);
    peltt_file_accessor(&file, json);
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_U32, 4, zeros, "");
    const unsigned char shares[16] = {51, 204, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0};
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_U8, 4, shares, ",'normalized':true");
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_U8, 4, shares, "");
    peltt_file_add(&file, "VEC3", PELT_COMPONENT_F32, 5, zeros, ",'min':[0,0,0],'max':[0,0,0]");
    add_odd_accessors(&file);
    return &file;
}

const pelt_primitive *peltt_first_primitive(const peltt_import *import)
{
    return &import->data->meshes[0].primitives[0];
}

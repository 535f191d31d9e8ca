// SPDX-License-Identifier: MIT
// What the import makes of meshes, primitives and their streams, and what it refuses.
#include "peltt_import.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

// Names of the fixture's accessors; all have four vertices unless they say otherwise.
enum {
    POSITION,
    NORMAL,
    TANGENT,
    JOINTS_U8,
    WEIGHTS_F32,
    INDICES_U16,  // 6, up to 3
    INDICES_HIGH, // 3, index 4 at 1
    UV,
    COLOR_U8,
    POSITION_I16, // normalized
    POSITION_U8,  // plain
    NORMAL_I8,    // normalized
    JOINTS_U32,
    WEIGHTS_U8, // normalized
    WEIGHTS_U8_PLAIN,
    FIVE_POSITIONS,
    POSITION_NAN,
    ZERO_VEC3,   // no view
    SPARSE_VEC3, // no base view; vertex 2 = (1, 2, 3)
    JOINTS_U16,
    WEIGHTS_2,
    TANGENT_ODD_W,
    NO_BOX,
    CUSTOM_MAT4,
    INDICES_U8,  // 4
    INDICES_U32, // 3
    POSITION_I8,
    NORMAL_I16_PLAIN,
    TANGENT_I8,
    NORMAL_INF,
    UV_NO_VIEW
};

static const float positions[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 5};
static const float normals[12] = {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, -1};
static const float tangents[16] = {1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, 1, 0, -1};
static const unsigned char joints_u8[16] = {0, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0};
static const float weights[16] = {0.5f, 0.5f, 0, 0, 1, 0, 0, 0, 0.25f, 0.75f, 0, 0, 1, 0, 0, 0};
static const float uv[8] = {0, 0.125f, 0.25f, 0.375f, 0.5f, 0.625f, 0.75f, 0.875f};
static const unsigned char colors[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255};

static void add_odd_accessors(peltt_file *file)
{
    static const unsigned char zeros[64] = {0};
    const uint32_t nan_bits = 0x7FC00000;
    const uint32_t inf_bits = 0xFF800000;
    float odd[12];
    memcpy(odd, positions, sizeof odd);
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
        wide[i] = joints_u8[i];
    }
    peltt_file_add(file, "VEC4", PELT_COMPONENT_U16, 4, wide, "");
    peltt_file_add(file, "VEC4", PELT_COMPONENT_F32, 4, weights, "");
    const float odd_w[16] = {1, 0, 0, 0.5f, 1, 0, 0, -2, 1, 0, 0, 0, 1, 0, 0, 1};
    peltt_file_add(file, "VEC4", PELT_COMPONENT_F32, 4, odd_w, "");
    peltt_file_add(file, "VEC3", PELT_COMPONENT_F32, 4, positions, "");
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
    memcpy(odd, normals, sizeof odd);
    memcpy(&odd[11], &inf_bits, 4);
    peltt_file_add(file, "VEC3", PELT_COMPONENT_F32, 4, odd, "");
    peltt_file_add(file, "VEC2", PELT_COMPONENT_F32, 4, NULL, "");
}

static peltt_file *quad(void)
{
    static peltt_file file;
    static const unsigned char zeros[80] = {0};
    memset(&file, 0, sizeof file);
    peltt_file_add(&file, "VEC3", PELT_COMPONENT_F32, 4, positions, ",'min':[0,0,0],'max':[1,1,5]");
    peltt_file_add(&file, "VEC3", PELT_COMPONENT_F32, 4, normals, "");
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_F32, 4, tangents, "");
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_U8, 4, joints_u8, "");
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_F32, 4, weights, "");
    const uint16_t indices[6] = {0, 1, 2, 2, 1, 3};
    peltt_file_add(&file, "SCALAR", PELT_COMPONENT_U16, 6, indices, "");
    const uint16_t high[3] = {0, 4, 1};
    peltt_file_add(&file, "SCALAR", PELT_COMPONENT_U16, 3, high, "");
    peltt_file_add(&file, "VEC2", PELT_COMPONENT_F32, 4, uv, "");
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_U8, 4, colors, ",'normalized':true");
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

static const pelt_primitive *first_primitive(const peltt_import *import)
{
    return &import->data->meshes[0].primitives[0];
}

static void streams_are_read_as_they_are(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, quad(), NULL,
                     "'materials':[{},{}],'meshes':[{'name':'m','primitives':[{'attributes':{'_X':7,'POSITION':0,"
                     "'COLOR_0':8,'NORMAL':1,'TEXCOORD_0':7,'TANGENT':2,'JOINTS_0':3,'WEIGHTS_0':4,'JOINTS_00':3},"
                     "'indices':5,'material':1}]}]");
    assert_int_equal(import.result, PELT_OK);
    assert_int_equal(import.log_count, 1);
    assert_non_null(strstr(import.log, "JOINTS_0")); // vertex 2 lists joint 1 twice: the weights are merged
    const pelt_primitive *p = first_primitive(&import);
    assert_string_equal(import.data->meshes[0].name, "m");
    assert_int_equal(p->topology, PELT_TOPOLOGY_TRIANGLES);
    assert_int_equal(p->material, 1);
    assert_int_equal(p->vertex_count, 4);
    assert_memory_equal(p->positions, positions, sizeof positions);
    assert_memory_equal(p->normals, normals, sizeof normals);
    assert_memory_equal(p->tangents, tangents, sizeof tangents);
    assert_int_equal(p->influence_count, 2);
    const uint16_t joints[8] = {0, 1, 1, 0, 1, 0, 0, 0};
    const float cleaned[8] = {0.5f, 0.5f, 1, 0, 1, 0, 1, 0};
    assert_memory_equal(p->joints, joints, sizeof joints);
    assert_memory_equal(p->weights, cleaned, sizeof cleaned);
    const uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
    assert_int_equal(p->index_count, 6);
    assert_memory_equal(p->indices, indices, sizeof indices);
    assert_true(p->has_declared_box);
    assert_true(p->declared_box.min[2] == 0 && p->declared_box.max[0] == 1 && p->declared_box.max[2] == 5);
    static const char *const names[4] = {"_X", "COLOR_0", "TEXCOORD_0", "JOINTS_00"};
    assert_int_equal(p->attribute_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(p->attributes[i].name, names[i]);
    }
    assert_memory_equal(p->attributes[0].data, uv, sizeof uv);
    assert_int_equal(p->attributes[0].component, PELT_COMPONENT_F32);
    assert_int_equal(p->attributes[0].stride, 8);
    assert_memory_equal(p->attributes[1].data, colors, sizeof colors);
    assert_int_equal(p->attributes[1].component, PELT_COMPONENT_U8);
    assert_true(p->attributes[1].normalized);
    assert_int_equal(p->attributes[1].component_count, 4);
    peltt_import_end(&import);
}

static void what_is_absent_has_its_default(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, quad(), NULL, "'meshes':[{'primitives':[{'attributes':{'POSITION':0},'mode':0}]}]");
    assert_int_equal(import.result, PELT_OK);
    const pelt_primitive *p = first_primitive(&import);
    assert_string_equal(import.data->meshes[0].name, "");
    assert_int_equal(p->topology, PELT_TOPOLOGY_POINTS);
    assert_int_equal(p->material, PELT_NONE);
    assert_null(p->normals);
    assert_null(p->tangents);
    assert_null(p->indices);
    assert_int_equal(p->index_count, 4);
    assert_int_equal(p->influence_count, 0);
    assert_int_equal(p->attribute_count, 0);
    assert_int_equal(import.data->meshes[0].target_count, 0);
    peltt_import_end(&import);
}

static void indices_of_all_sizes_are_widened(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, quad(), NULL,
                     "'meshes':[{'primitives':[{'attributes':{'POSITION':0},'mode':5,'indices':24},"
                     "{'attributes':{'POSITION':0},'mode':6,'indices':25}]}]");
    assert_int_equal(import.result, PELT_OK);
    const uint32_t bytes[4] = {3, 2, 1, 0};
    const uint32_t words[3] = {2, 0, 3};
    const pelt_primitive *p = first_primitive(&import);
    assert_int_equal(p[0].topology, PELT_TOPOLOGY_TRIANGLE_STRIP);
    assert_memory_equal(p[0].indices, bytes, sizeof bytes);
    assert_int_equal(p[1].topology, PELT_TOPOLOGY_TRIANGLE_FAN);
    assert_memory_equal(p[1].indices, words, sizeof words);
    peltt_import_end(&import);
}

// c / 32767 and c / 127, not below -1; plain integers as they are.
static void quantized_streams_become_floats(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, quad(), NULL,
                     "'extensionsUsed':['KHR_mesh_quantization'],'meshes':[{'primitives':["
                     "{'attributes':{'POSITION':9},'mode':1},{'attributes':{'POSITION':10,'NORMAL':11},'mode':0},"
                     "{'attributes':{'POSITION':0,'TANGENT':28},'mode':0}]}]");
    assert_int_equal(import.result, PELT_OK);
    assert_int_equal(import.log_count, 0);
    const pelt_primitive *p = first_primitive(&import);
    const double expected[6] = {1, -1, -1, 0, 1 / 32767.0, 2 / 32767.0};
    for (int i = 0; i < 6; i++) {
        assert_true(fabs((double)p[0].positions[i] - expected[i]) < 1e-7);
    }
    assert_true(p[0].declared_box.max[0] == 1 && p[0].declared_box.min[2] == -1);
    assert_true(p[1].positions[0] == 200 && p[1].positions[1] == 7 && p[1].positions[2] == 0);
    assert_true(p[1].declared_box.max[0] == 200);
    assert_true(p[1].normals[0] == 0 && p[1].normals[1] == -1 && fabs((double)p[1].normals[2] - 64 / 127.0) < 1e-7);
    assert_true(p[2].tangents[3] == 1 && p[2].tangents[7] == -1 && p[2].tangents[11] == -1);
    peltt_import_end(&import);
}

static void weights_may_be_integers(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, quad(), NULL,
                     "'meshes':[{'primitives':[{'attributes':{'POSITION':0,'JOINTS_0':3,'WEIGHTS_0':13},'mode':0}]}]");
    assert_int_equal(import.result, PELT_OK);
    const pelt_primitive *p = first_primitive(&import);
    assert_true(fabs((double)p->weights[0] - 0.2) < 1e-7);
    assert_true(fabs((double)p->weights[1] - 0.8) < 1e-7);
    peltt_import_end(&import);
}

static void sets_go_on_from_zero(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, quad(), NULL,
                     "'meshes':[{'primitives':[{'attributes':{'WEIGHTS_1':20,'POSITION':0,'JOINTS_0':3,'WEIGHTS_0':4,"
                     "'JOINTS_1':19},'mode':0}]}]");
    assert_int_equal(import.result, PELT_OK);
    const pelt_primitive *p = first_primitive(&import);
    assert_int_equal(p->influences.set_count, 2);
    // Both sets say the same, so the sum is two and the merged, normalised weights are those of one set.
    assert_int_equal(p->influences.normalized_count, 4);
    assert_true(p->weights[0] == 0.5f && p->weights[1] == 0.5f);
    peltt_import_end(&import);
}

static void shared_accessors_are_decoded_once(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, quad(), NULL,
                     "'meshes':[{'primitives':[{'attributes':{'POSITION':0,'NORMAL':1,'JOINTS_0':3,'WEIGHTS_0':4,"
                     "'TEXCOORD_0':7},'indices':5,'targets':[{'POSITION':0},{'POSITION':0,'NORMAL':1}]},"
                     "{'attributes':{'POSITION':0,'NORMAL':1,'JOINTS_0':3,'WEIGHTS_0':4,'TEXCOORD_0':7},'indices':5,"
                     "'targets':[{'POSITION':0},{'POSITION':0}]},"
                     "{'attributes':{'POSITION':0,'JOINTS_0':3,'WEIGHTS_0':20},'targets':[{},{}],'indices':5}]}]");
    assert_int_equal(import.result, PELT_OK);
    const pelt_primitive *p = first_primitive(&import);
    assert_ptr_equal(p[0].positions, p[1].positions);
    assert_ptr_equal(p[0].normals, p[1].normals);
    assert_ptr_equal(p[0].joints, p[1].joints);
    assert_ptr_equal(p[0].weights, p[1].weights);
    assert_int_equal(p[1].influence_count, 2);
    assert_int_equal(p[1].joint_bound, 2);
    assert_int_equal(p[1].influences.set_count, 1);
    assert_ptr_equal(p[0].indices, p[1].indices);
    assert_ptr_equal(p[0].attributes[0].data, p[1].attributes[0].data);
    assert_ptr_equal(p[0].targets[0].positions, p[0].positions);
    assert_ptr_equal(p[0].targets[1].positions, p[1].targets[1].positions);
    assert_ptr_not_equal(p[0].joints, p[2].joints);
    assert_null(p[2].targets[0].positions);
    peltt_import_end(&import);
}

// Ten thousand primitives on one set of accessors take the memory of one.
static void shared_accessors_do_not_multiply_memory(void **state)
{
    (void)state;
    static char json[1 << 20];
    size_t used = (size_t)snprintf(json, sizeof json, "'meshes':[{'primitives':[");
    for (int i = 0; i < 5000; i++) {
        used += (size_t)snprintf(json + used, sizeof json - used,
                                 "%s{'attributes':{'POSITION':0,'JOINTS_0':1,'WEIGHTS_0':2,'COLOR_0':3},'mode':0}",
                                 i ? "," : "");
    }
    snprintf(json + used, sizeof json - used, "]}]");
    static peltt_file file;
    memset(&file, 0, sizeof file);
    peltt_file_accessor(&file, "{'componentType':5126,'type':'VEC3','count':10000,'min':[0,0,0],'max':[0,0,0]}");
    peltt_file_accessor(&file, "{'componentType':5121,'type':'VEC4','count':10000}");
    peltt_file_accessor(&file, "{'componentType':5121,'type':'VEC4','count':10000,'normalized':true}");
    peltt_file_accessor(&file, "{'componentType':5126,'type':'VEC4','count':10000}");
    pelt_gltf_options options = {.limits = {.memory = 16 << 20}};
    peltt_import import;
    peltt_import_run(&import, &file, &options, json);
    assert_int_equal(import.result, PELT_OK);
    assert_int_equal(import.data->meshes[0].primitive_count, 5000);
    assert_ptr_equal(first_primitive(&import)[4999].weights, first_primitive(&import)->weights);
    peltt_import_end(&import);
}

static void targets_are_displacements_or_nothing(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, quad(), NULL,
                     "'nodes':[{'mesh':0}],'meshes':[{'primitives':[{'attributes':{'POSITION':0},'mode':0,'targets':["
                     "{'POSITION':17},{'POSITION':18,'NORMAL':1,'TANGENT':1}]}],'weights':[0.25,-2],"
                     "'extras':{'targetNames':['open',5]}}]");
    assert_int_equal(import.result, PELT_OK);
    assert_int_equal(import.log_count, 0);
    const pelt_mesh *mesh = &import.data->meshes[0];
    assert_int_equal(mesh->target_count, 2);
    assert_string_equal(mesh->target_names[0], "open");
    assert_string_equal(mesh->target_names[1], "");
    assert_true(mesh->weights[0] == 0.25f && mesh->weights[1] == -2);
    const pelt_morph_target *targets = mesh->primitives[0].targets;
    assert_null(targets[0].positions);
    assert_null(targets[0].normals);
    const float sparse[12] = {0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0};
    assert_memory_equal(targets[1].positions, sparse, sizeof sparse);
    assert_memory_equal(targets[1].normals, normals, sizeof normals);
    assert_memory_equal(targets[1].tangents, normals, sizeof normals);
    assert_int_equal(import.data->rest_weight_count, 2);
    peltt_import_end(&import);
}

static void tangent_signs_are_forced(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, quad(), NULL,
                     "'meshes':[{'primitives':[{'attributes':{'POSITION':0,'TANGENT':21},'mode':0}]}]");
    assert_int_equal(import.result, PELT_OK);
    assert_non_null(strstr(import.log, "mesh 0, primitive 0: TANGENT: w of 3 vertices"));
    const float *t = first_primitive(&import)->tangents;
    assert_true(t[3] == 1 && t[7] == -1 && t[11] == 1 && t[15] == 1);
    peltt_import_end(&import);
}

#define PRIMITIVE(attributes, rest) "'meshes':[{'primitives':[{'attributes':{" attributes "}" rest "}]}]"
#define POINTS ",'mode':0"

static void broken_streams_are_refused_by_name(void **state)
{
    (void)state;
    static const peltt_verdict verdicts[] = {
        {PRIMITIVE("'POSITION':999", ""), PELT_ERROR_INVALID, {"mesh 0, primitive 0: POSITION", "999"}},
        {PRIMITIVE("'POSITION':0,'_A':4294967296", ""), PELT_ERROR_INVALID, {"mesh 0, primitive 0: _A", "4294967296"}},
        {PRIMITIVE("'POSITION':-1", ""), PELT_ERROR_INVALID, {"mesh 0, primitive 0: POSITION", "-1"}},
        {PRIMITIVE("'POSITION':'0'", ""), PELT_ERROR_INVALID, {"mesh 0, primitive 0: POSITION", "string"}},
        {PRIMITIVE("'POSITION':7", POINTS), PELT_ERROR_INVALID, {"POSITION is VEC2 of FLOAT", "VEC3"}},
        {PRIMITIVE("'POSITION':26", POINTS), PELT_OK, {"POSITION", "KHR_mesh_quantization", "min and max"}},
        {PRIMITIVE("'POSITION':16", POINTS), PELT_ERROR_INVALID, {"mesh 0, primitive 0: POSITION", "vertex 2", "nan"}},
        {PRIMITIVE("'POSITION':0,'NORMAL':29", POINTS), PELT_ERROR_INVALID, {"NORMAL", "vertex 3", "inf"}},
        {PRIMITIVE("'POSITION':0,'NORMAL':0", POINTS ",'targets':[{'NORMAL':16}]"),
         PELT_ERROR_INVALID,
         {"mesh 0, primitive 0, target 0: NORMAL", "vertex 2"}},
        {PRIMITIVE("'POSITION':0,'NORMAL':15", POINTS), PELT_ERROR_INVALID, {"NORMAL has 5", "4 vertices"}},
        {PRIMITIVE("'POSITION':0,'NORMAL':27", POINTS), PELT_ERROR_INVALID, {"NORMAL is VEC3 of SHORT", "normalized"}},
        {PRIMITIVE("'POSITION':0,'NORMAL':2", POINTS), PELT_ERROR_INVALID, {"NORMAL is VEC4 of FLOAT"}},
        {PRIMITIVE("'POSITION':0,'TANGENT':1", POINTS), PELT_ERROR_INVALID, {"TANGENT is VEC3 of FLOAT", "VEC4"}},
        {PRIMITIVE("'POSITION':22", POINTS), PELT_OK, {"mesh 0, primitive 0: POSITION", "min and max"}},
        {PRIMITIVE("'POSITION':0,'_M':23", POINTS), PELT_OK, {"mesh 0, primitive 0: _M is MAT4", "ignored"}},
        {PRIMITIVE("'NORMAL':1", POINTS), PELT_OK, {"mesh 0, primitive 0: no POSITION"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_0':12,'WEIGHTS_0':4", POINTS),
         PELT_ERROR_INVALID,
         {"JOINTS_0", "componentType", "UNSIGNED_INT"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_0':4,'WEIGHTS_0':4", POINTS),
         PELT_ERROR_INVALID,
         {"JOINTS_0", "componentType"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_0':13,'WEIGHTS_0':4", POINTS), PELT_ERROR_INVALID, {"JOINTS_0", "normalized"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_0':3,'WEIGHTS_0':14", POINTS),
         PELT_ERROR_INVALID,
         {"WEIGHTS_0", "componentType", "normalized"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_0':3,'WEIGHTS_0':1", POINTS), PELT_ERROR_INVALID, {"WEIGHTS_0 is VEC3"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_0':3", POINTS), PELT_ERROR_INVALID, {"JOINTS_0 without WEIGHTS_0"}},
        {PRIMITIVE("'POSITION':0,'WEIGHTS_0':4", POINTS), PELT_ERROR_INVALID, {"WEIGHTS_0 without JOINTS_0"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_0':3,'WEIGHTS_0':4,'JOINTS_1':3", POINTS),
         PELT_ERROR_INVALID,
         {"JOINTS_1 without WEIGHTS_1"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_1':3,'WEIGHTS_1':4", POINTS), PELT_ERROR_INVALID, {"JOINTS_0", "WEIGHTS_0"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_0':3,'WEIGHTS_0':4,'JOINTS_2':3,'WEIGHTS_2':4", POINTS),
         PELT_ERROR_INVALID,
         {"JOINTS_1 and WEIGHTS_1"}},
        {PRIMITIVE("'POSITION':15,'JOINTS_0':3,'WEIGHTS_0':4", POINTS), PELT_ERROR_INVALID, {"JOINTS_0", "4", "5"}},
    };
    peltt_import_expect(quad(), NULL, verdicts, COUNT(verdicts));
}

static void broken_primitives_are_refused_by_name(void **state)
{
    (void)state;
    static const peltt_verdict verdicts[] = {
        {PRIMITIVE("'POSITION':0", ",'indices':6"),
         PELT_ERROR_INVALID,
         {"mesh 0, primitive 0: indices: index 4 at 1 but the primitive has 4 vertices"}},
        {PRIMITIVE("'POSITION':0", ",'indices':0"), PELT_ERROR_INVALID, {"indices is VEC3 of FLOAT"}},
        {PRIMITIVE("'POSITION':0", ",'indices':77"), PELT_ERROR_INVALID, {"indices", "77"}},
        {PRIMITIVE("'POSITION':0", ",'mode':7"), PELT_ERROR_INVALID, {"mesh 0, primitive 0", "mode", "7"}},
        {PRIMITIVE("'POSITION':0", ",'material':0"), PELT_ERROR_INVALID, {"mesh 0, primitive 0", "material", "0"}},
        {PRIMITIVE("'POSITION':0", ""), PELT_OK, {"mesh 0, primitive 0: 4 vertices", "TRIANGLES"}},
        {PRIMITIVE("'POSITION':0", ",'indices':24"), PELT_OK, {"4 indices", "TRIANGLES"}},
        {PRIMITIVE("'POSITION':0", ",'indices':25,'mode':1"), PELT_OK, {"3 indices", "LINES"}},
        {PRIMITIVE("'POSITION':0", ",'mode':2"), PELT_OK, {0}},
        {PRIMITIVE("'POSITION':0", ",'mode':3"), PELT_OK, {0}},
        {"'meshes':[{'primitives':[]}]", PELT_ERROR_INVALID, {"mesh 0: ", "primitives"}},
        {"'meshes':[{}]", PELT_ERROR_INVALID, {"mesh 0: ", "primitives"}},
        {"'meshes':[{'primitives':[5]}]", PELT_ERROR_INVALID, {"mesh 0: ", "primitive 0"}},
        {"'meshes':[{'primitives':[{}]}]", PELT_ERROR_INVALID, {"mesh 0, primitive 0: attributes"}},
        {"'meshes':[{'primitives':[{'attributes':[0]}]}]", PELT_ERROR_INVALID, {"mesh 0, primitive 0: attributes"}},
        {PRIMITIVE("'POSITION':17", ",'extensions':{'KHR_draco_mesh_compression':{'bufferView':0}}"),
         PELT_ERROR_UNSUPPORTED,
         {"mesh 0, primitive 0", "KHR_draco_mesh_compression"}},
        {PRIMITIVE("'POSITION':0", ",'mode':0,'extensions':{'KHR_draco_mesh_compression':{'bufferView':0}}"),
         PELT_OK,
         {0}},
        {PRIMITIVE("'POSITION':0", POINTS ",'targets':[{'POSITION':15}]"),
         PELT_ERROR_INVALID,
         {"mesh 0, primitive 0, target 0: POSITION", "5", "4"}},
        {PRIMITIVE("'POSITION':0", POINTS ",'targets':[{'POSITION':0},{'TANGENT':2}]"),
         PELT_ERROR_INVALID,
         {"mesh 0, primitive 0, target 1: TANGENT is VEC4"}},
        {PRIMITIVE("'POSITION':0", POINTS ",'targets':[{'POSITION':'x'}]"),
         PELT_ERROR_INVALID,
         {"mesh 0, primitive 0, target 0: POSITION"}},
        {PRIMITIVE("'POSITION':0", POINTS ",'targets':[5]"), PELT_ERROR_INVALID, {"mesh 0, primitive 0, target 0"}},
        {PRIMITIVE("'POSITION':0", POINTS ",'targets':5"), PELT_ERROR_INVALID, {"mesh 0", "targets"}},
        {PRIMITIVE("'POSITION':0", POINTS ",'targets':[{'TEXCOORD_0':7},{'COLOR_0':8}]"),
         PELT_OK,
         {"mesh 0, primitive 0", "TEXCOORD_0"}},
        {"'meshes':[{'primitives':[{'attributes':{'POSITION':0},'targets':[{}]},{'attributes':{'POSITION':0}}]}]",
         PELT_ERROR_INVALID,
         {"mesh 0", "primitive 1", "0", "1"}},
        {"'meshes':[{'primitives':[{'attributes':{'POSITION':0},'mode':0,'targets':[{}]}],'weights':[1,2]}]",
         PELT_ERROR_INVALID,
         {"mesh 0: weights has 2 numbers for 1 morph targets"}},
        {"'meshes':[{'primitives':[{'attributes':{'POSITION':0},'mode':0,'targets':[{}]}],'weights':5}]",
         PELT_ERROR_INVALID,
         {"mesh 0: weights"}},
        {"'meshes':[{'primitives':[{'attributes':{'POSITION':0},'mode':0,'targets':[{}]}],'extras':5}]", PELT_OK, {0}},
    };
    peltt_import_expect(quad(), NULL, verdicts, COUNT(verdicts));
}

static void an_error_says_where(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, quad(), NULL,
                     "'meshes':[{'primitives':[{'attributes':{'POSITION':0},'mode':0}]},{'primitives':["
                     "{'attributes':{'POSITION':0},'mode':0},{'attributes':{'POSITION':16}}]}]");
    assert_int_equal(import.result, PELT_ERROR_INVALID);
    assert_int_equal(import.error.mesh, 1);
    assert_int_equal(import.error.primitive, 1);
    assert_int_equal(import.error.vertex, 2);
    assert_string_equal(import.error.where, "/meshes/1/primitives/1");
    peltt_import_end(&import);
}

static void limits_name_their_option(void **state)
{
    (void)state;
    pelt_gltf_options options = {.limits = {.vertices = 3}};
    peltt_import import;
    peltt_import_run(&import, quad(), &options, PRIMITIVE("'POSITION':0", POINTS));
    assert_int_equal(import.result, PELT_ERROR_LIMIT);
    assert_non_null(strstr(import.error.message, "--max-vertices"));
    assert_non_null(strstr(import.error.hint, "--max-vertices"));
    peltt_import_end(&import);

    static peltt_file file;
    memset(&file, 0, sizeof file);
    peltt_file_accessor(&file, "{'componentType':5126,'type':'VEC3','count':90000000}");
    options.limits.vertices = 0;
    options.limits.memory = 1 << 20;
    peltt_import_run(&import, &file, &options, PRIMITIVE("'POSITION':0", POINTS));
    assert_int_equal(import.result, PELT_ERROR_LIMIT);
    assert_non_null(strstr(import.error.hint, "--max-memory"));
    peltt_import_end(&import);
}

static void the_influence_limit_reaches_the_builder(void **state)
{
    (void)state;
    pelt_gltf_options options = {.influence_limit = 1};
    peltt_import import;
    peltt_import_run(&import, quad(), &options, PRIMITIVE("'POSITION':0,'JOINTS_0':3,'WEIGHTS_0':4", POINTS));
    assert_int_equal(import.result, PELT_OK);
    assert_int_equal(first_primitive(&import)->influence_count, 1);
    assert_int_equal(first_primitive(&import)->influences.reduced_count, 1);
    peltt_import_end(&import);
}

static void a_primitive_without_positions_has_no_vertices(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(
        &import, quad(), NULL,
        PRIMITIVE("'NORMAL':1,'JOINTS_0':3,'WEIGHTS_0':4,'_A':7", ",'indices':5,'targets':[{'POSITION':0}]"));
    assert_int_equal(import.result, PELT_OK);
    const pelt_primitive *p = first_primitive(&import);
    assert_int_equal(p->vertex_count, 0);
    assert_int_equal(p->index_count, 0);
    assert_null(p->positions);
    assert_null(p->indices);
    assert_int_equal(p->attribute_count, 0);
    assert_null(p->targets[0].positions);
    peltt_import_end(&import);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    peltt_import_fail_each_allocation(
        quad(), NULL,
        "'nodes':[{'mesh':0,'skin':0}],'skins':[{'joints':[0,0]}],'meshes':[{'name':'m','primitives':[{'attributes':{"
        "'POSITION':0,'NORMAL':1,'TANGENT':2,'TEXCOORD_0':7,'JOINTS_0':3,'WEIGHTS_0':13,'JOINTS_1':19,'WEIGHTS_1':4},"
        "'indices':5,'targets':[{'POSITION':18},{'NORMAL':1}]}],'extras':{'targetNames':['a','b']}}]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_read_as_they_are),
        cmocka_unit_test(what_is_absent_has_its_default),
        cmocka_unit_test(indices_of_all_sizes_are_widened),
        cmocka_unit_test(quantized_streams_become_floats),
        cmocka_unit_test(weights_may_be_integers),
        cmocka_unit_test(sets_go_on_from_zero),
        cmocka_unit_test(shared_accessors_are_decoded_once),
        cmocka_unit_test(shared_accessors_do_not_multiply_memory),
        cmocka_unit_test(targets_are_displacements_or_nothing),
        cmocka_unit_test(tangent_signs_are_forced),
        cmocka_unit_test(broken_streams_are_refused_by_name),
        cmocka_unit_test(broken_primitives_are_refused_by_name),
        cmocka_unit_test(an_error_says_where),
        cmocka_unit_test(limits_name_their_option),
        cmocka_unit_test(the_influence_limit_reaches_the_builder),
        cmocka_unit_test(a_primitive_without_positions_has_no_vertices),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

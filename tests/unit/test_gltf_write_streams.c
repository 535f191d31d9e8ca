// SPDX-License-Identifier: MIT
// Posed files of unusual sources: index widths, attributes that glTF has no place for, empty meshes.
#include "peltt_parsed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// ---- indices

// vertex_count points, with the indices of a triangle if index_component is not 0.
static peltt_parsed open_points(uint32_t vertex_count, int index_component, const void *indices, size_t index_size)
{
    peltt_blob bin = {0};
    float *positions = calloc(vertex_count, 3 * sizeof *positions);
    assert_non_null(positions);
    peltt_blob_add(&bin, positions, vertex_count * 3 * sizeof *positions);
    free(positions);
    size_t offset = peltt_blob_add(&bin, indices, index_size);
    char *json = peltt_format(
        "{'asset':{'version':'2.0'},'nodes':[{'mesh':0}],"
        "'meshes':[{'primitives':[{'attributes':{'POSITION':0}%s}]}],"
        "'accessors':[{'bufferView':0,'componentType':5126,'count':%u,'type':'VEC3','min':[0,0,0],'max':[0,0,0]}%s"
        "%.*d%s],'bufferViews':[{'buffer':0,'byteLength':%u},{'buffer':0,'byteOffset':%zu,'byteLength':%zu}],"
        "'buffers':[{'byteLength':%zu}]}",
        index_component ? ",'indices':1" : ",'mode':0", vertex_count,
        index_component ? ",{'bufferView':1,'count':3,'type':'SCALAR','componentType':" : "", index_component ? 1 : 0,
        index_component, index_component ? "}" : "", vertex_count * 12, offset, index_size, bin.size);
    peltt_parsed b = peltt_parsed_open(json, &bin, NULL);
    peltt_blob_free(&bin);
    return b;
}

static void kept_indices_widen_where_they_would_restart(void **state)
{
    (void)state;
    static const uint8_t restart[4] = {0, 254, 255, 0};
    static const uint8_t plain[4] = {0, 1, 254, 0};
    peltt_parsed b = open_points(256, PELT_COMPONENT_U8, restart, 4);
    peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
    json_t *accessor = peltt_parsed_accessor(&b, json_object_get(peltt_parsed_primitive(&b, 0), "indices"));
    assert_int_equal(peltt_json_number(accessor, "componentType"), PELT_COMPONENT_U16);
    static const uint8_t wide[6] = {0, 0, 254, 0, 255, 0};
    assert_memory_equal(peltt_parsed_bytes(&b, accessor), wide, sizeof wide);
    peltt_parsed_close(&b);

    b = open_points(256, PELT_COMPONENT_U8, plain, 4);
    peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
    accessor = peltt_parsed_accessor(&b, json_object_get(peltt_parsed_primitive(&b, 0), "indices"));
    assert_int_equal(peltt_json_number(accessor, "componentType"), PELT_COMPONENT_U8);
    assert_memory_equal(peltt_parsed_bytes(&b, accessor), plain, 3);
    peltt_parsed_close(&b);
}

static void callers_indices_take_the_narrowest_safe_type(void **state)
{
    (void)state;
    static const uint32_t triangle[3] = {0, 65534, 1};
    static const uint32_t strip[4] = {0, 65535, 1, 2};
    static const uint32_t *const lists[] = {triangle, strip};
    for (uint32_t i = 0; i < 2; i++) {
        peltt_parsed b = open_points(65536, 0, "", 0);
        b.posed.primitives[0].indices = lists[i];
        b.posed.primitives[0].index_count = 3 + i;
        b.posed.primitives[0].topology = i ? PELT_TOPOLOGY_TRIANGLE_STRIP : PELT_TOPOLOGY_TRIANGLES;
        peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
        json_t *primitive = peltt_parsed_primitive(&b, 0);
        json_t *accessor = peltt_parsed_accessor(&b, json_object_get(primitive, "indices"));
        assert_int_equal(peltt_json_number(accessor, "componentType"), i ? PELT_COMPONENT_U32 : PELT_COMPONENT_U16);
        assert_int_equal(peltt_json_number(accessor, "count"), 3 + i);
        if (i) {
            assert_memory_equal(peltt_parsed_bytes(&b, accessor), strip, sizeof strip);
            assert_int_equal(peltt_json_number(primitive, "mode"), PELT_TOPOLOGY_TRIANGLE_STRIP);
        } else {
            static const uint16_t narrow[3] = {0, 65534, 1};
            assert_memory_equal(peltt_parsed_bytes(&b, accessor), narrow, sizeof narrow);
            assert_null(json_object_get(primitive, "mode"));
        }
        peltt_parsed_close(&b);
    }
}

static void primitives_that_share_vertices_share_them_in_the_output(void **state)
{
    (void)state;
    peltt_blob bin = {0};
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    static const uint16_t indices[3] = {0, 1, 2};
    peltt_blob_add(&bin, positions, sizeof positions);
    peltt_blob_add(&bin, indices, sizeof indices);
    peltt_parsed b = peltt_parsed_open(
        peltt_format("{'asset':{'version':'2.0'},'nodes':[{'mesh':0}],'meshes':[{'primitives':["
                     "{'attributes':{'POSITION':0},'mode':0},{'attributes':{'POSITION':0},'indices':1},"
                     "{'attributes':{'POSITION':0}},{'attributes':{'POSITION':0}}]}],"
                     "'accessors':[{'bufferView':0,'componentType':5126,'count':3,'type':'VEC3','min':[0,0,0],"
                     "'max':[1,1,0]},{'bufferView':1,'componentType':5123,'count':3,'type':'SCALAR'}],"
                     "'bufferViews':[{'buffer':0,'byteLength':36},{'buffer':0,'byteOffset':36,'byteLength':6}],"
                     "'buffers':[{'byteLength':44}]}"),
        &bin, NULL);
    peltt_blob_free(&bin);
    // The caller filled the last one otherwise: it may not be shared.
    pelt_gltf_posed_primitive *posed = b.posed.primitives;
    posed[1].positions = posed[0].positions;
    posed[1].box = posed[0].box;
    posed[2].positions = posed[0].positions;
    posed[2].box = posed[0].box;
    peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
    int64_t outputs[4];
    for (size_t i = 0; i < 4; i++) {
        json_t *primitive = peltt_json_item(peltt_json_item(b.json, "meshes", 0), "primitives", i);
        json_t *index = json_object_get(json_object_get(primitive, "attributes"), "POSITION");
        outputs[i] = json_integer_value(index);
        assert_non_null(json_object_get(peltt_parsed_accessor(&b, index), "min"));
        assert_memory_equal(peltt_parsed_bytes(&b, peltt_parsed_accessor(&b, index)), posed[i].positions,
                            sizeof positions);
    }
    assert_int_equal(outputs[0], outputs[1]);
    assert_int_equal(outputs[0], outputs[2]);
    assert_int_not_equal(outputs[0], outputs[3]);
    peltt_parsed_close(&b);
}

// ---- attributes

// Three vertices with one more attribute of tight elements.
static peltt_parsed open_attribute(const char *name, int component, const char *type, const char *more,
                                   const void *data, size_t size)
{
    peltt_blob bin = {0};
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    peltt_blob_add(&bin, positions, sizeof positions);
    peltt_blob_add(&bin, data, size);
    char *json = peltt_format(
        "{'asset':{'version':'2.0'},'nodes':[{'mesh':0}],"
        "'meshes':[{'primitives':[{'attributes':{'POSITION':0,'%s':1}}]}],"
        "'accessors':[{'bufferView':0,'componentType':5126,'count':3,'type':'VEC3','min':[0,0,0],'max':[1,1,0]},"
        "{'bufferView':1,'componentType':%d,'count':3,'type':'%s'%s}],"
        "'bufferViews':[{'buffer':0,'byteLength':36},{'buffer':0,'byteOffset':36,'byteLength':%zu}],"
        "'buffers':[{'byteLength':%zu}]}",
        name, component, type, more, size, bin.size);
    peltt_parsed b = peltt_parsed_open(json, &bin, NULL);
    peltt_blob_free(&bin);
    return b;
}

static void assert_floats(const peltt_parsed *b, const char *name, const float *expected, size_t count)
{
    json_t *accessor = peltt_parsed_attribute(b, name);
    assert_int_equal(peltt_json_number(accessor, "componentType"), PELT_COMPONENT_F32);
    assert_memory_equal(peltt_parsed_bytes(b, accessor), expected, count * sizeof *expected);
}

static void values_that_gltf_refuses_are_repaired_and_told(void **state)
{
    (void)state;
    static const float uv[6] = {0.5F, NAN, INFINITY, 7.0F, -3.0F, -INFINITY};
    static const float repaired_uv[6] = {0.5F, 0, 0, 7.0F, -3.0F, 0};
    peltt_parsed b = open_attribute("TEXCOORD_0", PELT_COMPONENT_F32, "VEC2", "", uv, sizeof uv);
    peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
    assert_floats(&b, "TEXCOORD_0", repaired_uv, 6);
    assert_non_null(strstr(b.warnings->text, "TEXCOORD_0: 3 values"));
    peltt_parsed_close(&b);

    static const float color[9] = {0.5F, 1.5F, -0.25F, 1, 0, NAN, 8, 0.125F, 0};
    static const float repaired_color[9] = {0.5F, 1, 0, 1, 0, 0, 1, 0.125F, 0};
    b = open_attribute("COLOR_0", PELT_COMPONENT_F32, "VEC3", "", color, sizeof color);
    peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
    assert_floats(&b, "COLOR_0", repaired_color, 9);
    assert_non_null(strstr(b.warnings->text, "COLOR_0: 3 values outside 0..1"));
    peltt_parsed_close(&b);

    static const uint8_t plain_color[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    b = open_attribute("COLOR_0", PELT_COMPONENT_U8, "VEC4", "", plain_color, sizeof plain_color);
    peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
    assert_true(json_is_true(json_object_get(peltt_parsed_attribute(&b, "COLOR_0"), "normalized")));
    assert_memory_equal(peltt_parsed_bytes(&b, peltt_parsed_attribute(&b, "COLOR_0")), plain_color, sizeof plain_color);
    peltt_parsed_close(&b);
}

static void integers_of_32_bits_become_exact_floats_or_go(void **state)
{
    (void)state;
    static const uint32_t small[3] = {0, 16777215, 16777216};
    static const float floats[3] = {0, 16777215.0F, 16777216.0F};
    peltt_parsed b = open_attribute("_ID", PELT_COMPONENT_U32, "SCALAR", "", small, sizeof small);
    peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
    assert_floats(&b, "_ID", floats, 3);
    assert_non_null(strstr(b.warnings->text, "_ID becomes floats"));
    peltt_parsed_close(&b);

    static const uint32_t large[3] = {0, 16777217, 1};
    b = open_attribute("_ID", PELT_COMPONENT_U32, "SCALAR", "", large, sizeof large);
    peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
    assert_null(peltt_parsed_attribute(&b, "_ID"));
    assert_non_null(strstr(b.warnings->text, "_ID is left out"));
    peltt_parsed_close(&b);
}

static void attributes_without_a_place_in_gltf_go(void **state)
{
    (void)state;
    static const float values[12] = {0};
    static const struct {
        const char *name;
        const char *type;
        int component;
        bool stays;
    } cases[] = {{"FOO", "VEC2", PELT_COMPONENT_F32, false},         {"TEXCOORD_0", "VEC3", PELT_COMPONENT_F32, false},
                 {"TEXCOORD_01", "VEC2", PELT_COMPONENT_F32, false}, {"TEXCOORD_x", "VEC2", PELT_COMPONENT_F32, false},
                 {"COLOR_0", "VEC2", PELT_COMPONENT_F32, false},     {"COLOR_0", "VEC3", PELT_COMPONENT_I8, false},
                 {"TEXCOORD_0", "VEC2", PELT_COMPONENT_U32, false},  {"_X", "VEC3", PELT_COMPONENT_I8, true},
                 {"_MAT", "MAT2", PELT_COMPONENT_F32, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        peltt_parsed b = open_attribute(cases[i].name, cases[i].component, cases[i].type, "", values, sizeof values);
        peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
        assert_int_equal(peltt_parsed_attribute(&b, cases[i].name) != NULL, cases[i].stays);
        assert_int_equal(b.warnings->count, cases[i].stays ? 0 : 1);
        peltt_parsed_close(&b);
    }
}

static void matrix_columns_of_bytes_are_padded(void **state)
{
    (void)state;
    // 2x2 bytes: each column takes four (glTF 2.0, 3.6.2.4).
    static const uint8_t data[24] = {1, 2, 99, 99, 3, 4, 99, 99, 5, 6, 99, 99, 7, 8, 99, 99, 9, 10, 99, 99, 11, 12};
    static const uint8_t expected[24] = {1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0, 7, 8, 0, 0, 9, 10, 0, 0, 11, 12, 0, 0};
    peltt_parsed b = open_attribute("_M", PELT_COMPONENT_U8, "MAT2", "", data, sizeof data);
    peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
    json_t *accessor = peltt_parsed_attribute(&b, "_M");
    assert_string_equal(json_string_value(json_object_get(accessor, "type")), "MAT2");
    assert_memory_equal(peltt_parsed_bytes(&b, accessor), expected, sizeof expected);
    peltt_parsed_close(&b);
}

static void quantization_is_declared_only_for_what_needs_it(void **state)
{
    (void)state;
    static const uint16_t values[6] = {1, 2, 3, 4, 5, 6};
    for (int normalized = 0; normalized < 2; normalized++) {
        peltt_parsed b = open_attribute("TEXCOORD_0", PELT_COMPONENT_U16, "VEC2",
                                        normalized ? ",'normalized':true" : "", values, sizeof values);
        peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
        json_t *used = peltt_json_item(b.json, "extensionsUsed", 0);
        json_t *required = peltt_json_item(b.json, "extensionsRequired", 0);
        if (normalized) {
            assert_null(used);
            assert_null(required);
        } else {
            assert_string_equal(json_string_value(used), "KHR_mesh_quantization");
            assert_string_equal(json_string_value(required), "KHR_mesh_quantization");
        }
        assert_memory_equal(peltt_parsed_bytes(&b, peltt_parsed_attribute(&b, "TEXCOORD_0")), values, sizeof values);
        peltt_parsed_close(&b);
    }
}

// ---- nothing to draw

static void empty_primitives_and_meshes_are_left_out_and_told(void **state)
{
    (void)state;
    peltt_blob bin = {0};
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    peltt_blob_add(&bin, positions, sizeof positions);
    peltt_parsed b = peltt_parsed_open(
        peltt_format("{'asset':{'version':'2.0'},'nodes':[{'mesh':0,'name':'half'},{'mesh':1,'name':'none'},"
                     "{'mesh':1,'name':'still here','extras':{'x':1}}],"
                     "'meshes':[{'primitives':[{'attributes':{}},{'attributes':{'POSITION':0}}]},"
                     "{'primitives':[{'attributes':{}}]}],"
                     "'accessors':[{'bufferView':0,'componentType':5126,'count':3,'type':'VEC3','min':[0,0,0],"
                     "'max':[1,1,0]}],'bufferViews':[{'buffer':0,'byteLength':36}],'buffers':[{'byteLength':36}]}"),
        &bin, NULL);
    peltt_blob_free(&bin);
    peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
    assert_int_equal(json_array_size(json_object_get(b.json, "meshes")), 1);
    assert_int_equal(json_array_size(json_object_get(peltt_json_item(b.json, "meshes", 0), "primitives")), 1);
    assert_int_equal(json_array_size(json_object_get(b.json, "nodes")), 2);
    assert_null(json_object_get(peltt_json_item(b.json, "nodes", 1), "mesh"));
    assert_non_null(json_object_get(peltt_json_item(b.json, "nodes", 1), "extras"));
    // Told once for each primitive and mesh, not again at each node.
    assert_int_equal(b.warnings->count, 3);
    assert_non_null(strstr(b.warnings->text, "/meshes/0/primitives/0"));
    assert_non_null(strstr(b.warnings->text, "/meshes/1: "));
    peltt_parsed_close(&b);
}

static void a_primitive_whose_indices_vanish_is_left_out(void **state)
{
    (void)state;
    static const uint32_t none[1] = {0};
    peltt_parsed b = open_points(3, 0, "", 0);
    b.posed.primitives[0].indices = none;
    peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
    assert_null(json_object_get(b.json, "meshes"));
    assert_null(json_object_get(b.json, "nodes"));
    assert_null(json_object_get(b.json, "buffers"));
    peltt_parsed_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_indices_widen_where_they_would_restart),
        cmocka_unit_test(callers_indices_take_the_narrowest_safe_type),
        cmocka_unit_test(primitives_that_share_vertices_share_them_in_the_output),
        cmocka_unit_test(values_that_gltf_refuses_are_repaired_and_told),
        cmocka_unit_test(integers_of_32_bits_become_exact_floats_or_go),
        cmocka_unit_test(attributes_without_a_place_in_gltf_go),
        cmocka_unit_test(matrix_columns_of_bytes_are_padded),
        cmocka_unit_test(quantization_is_declared_only_for_what_needs_it),
        cmocka_unit_test(empty_primitives_and_meshes_are_left_out_and_told),
        cmocka_unit_test(a_primitive_whose_indices_vanish_is_left_out),
    };
    return cmocka_run_group_tests_name("gltf_write_edges", tests, NULL, NULL);
}

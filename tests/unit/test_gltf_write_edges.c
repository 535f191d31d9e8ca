// SPDX-License-Identifier: MIT
// Posed files of unusual sources: index widths, images outside the file, attributes that glTF has no place for, empty
// meshes, hidden nodes, odd matrices.
#include "peltt_posed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <math.h>

#include <cmocka.h>

// Text with printf's arguments filled in.
static char *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *format_text(const char *format, ...)
{
    enum {
        CAPACITY = 1 << 16
    };
    char *text = malloc(CAPACITY);
    assert_non_null(text);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, CAPACITY, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && length < CAPACITY);
    return text;
}

// A source under test with its warnings; its output is parsed, not imported.
typedef struct bench {
    peltt_blob source;
    peltt_posed posed;
    peltt_log *warnings;
    peltt_blob output;
    json_t *json;
    const uint8_t *bin;
    size_t bin_size;
} bench;

// Takes json.
static bench open_bench(char *json, const peltt_blob *bin, const char *folder)
{
    bench b = {.source = peltt_blob_glb(json, bin), .warnings = calloc(1, sizeof *b.warnings)};
    free(json);
    assert_non_null(b.warnings);
    pelt_gltf_options options = {.log = peltt_log_make(b.warnings)};
    b.posed = peltt_posed_open(&b.source, folder, &options);
    *b.warnings = (peltt_log){0};
    return b;
}

static void write_bench(bench *b, pelt_gltf_space space)
{
    pelt_error error = {0};
    pelt_result result = peltt_posed_write(&b->posed, space, &b->output, &error);
    if (result != PELT_OK) {
        fail_msg("%s: %s: %s", pelt_result_name(result), error.where, error.message);
    }
    b->json = peltt_blob_json(&b->output, &b->bin, &b->bin_size);
}

static void close_bench(bench *b)
{
    json_decref(b->json);
    peltt_posed_close(&b->posed);
    free(b->warnings);
    peltt_blob_free(&b->output);
    peltt_blob_free(&b->source);
}

static json_t *get(json_t *json, const char *first, size_t index)
{
    return json_array_get(json_object_get(json, first), index);
}

static json_t *primitive_of(const bench *b, size_t mesh)
{
    return get(get(b->json, "meshes", mesh), "primitives", 0);
}

static json_t *accessor_of(const bench *b, const json_t *index)
{
    return json_is_integer(index) ? get(b->json, "accessors", (size_t)json_integer_value(index)) : NULL;
}

static json_t *attribute_of(const bench *b, const char *name)
{
    return accessor_of(b, json_object_get(json_object_get(primitive_of(b, 0), "attributes"), name));
}

static int64_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const uint8_t *bytes_of(const bench *b, const json_t *accessor)
{
    return b->bin + number(get(b->json, "bufferViews", (size_t)number(accessor, "bufferView")), "byteOffset");
}

// ---- indices

// vertex_count points, with the indices of a triangle if index_component is not 0.
static bench open_points(uint32_t vertex_count, int index_component, const void *indices, size_t index_size)
{
    peltt_blob bin = {0};
    float *positions = calloc(vertex_count, 3 * sizeof *positions);
    assert_non_null(positions);
    peltt_blob_add(&bin, positions, vertex_count * 3 * sizeof *positions);
    free(positions);
    size_t offset = peltt_blob_add(&bin, indices, index_size);
    char *json = format_text(
        "{'asset':{'version':'2.0'},'nodes':[{'mesh':0}],"
        "'meshes':[{'primitives':[{'attributes':{'POSITION':0}%s}]}],"
        "'accessors':[{'bufferView':0,'componentType':5126,'count':%u,'type':'VEC3','min':[0,0,0],'max':[0,0,0]}%s"
        "%.*d%s],'bufferViews':[{'buffer':0,'byteLength':%u},{'buffer':0,'byteOffset':%zu,'byteLength':%zu}],"
        "'buffers':[{'byteLength':%zu}]}",
        index_component ? ",'indices':1" : ",'mode':0", vertex_count,
        index_component ? ",{'bufferView':1,'count':3,'type':'SCALAR','componentType':" : "", index_component ? 1 : 0,
        index_component, index_component ? "}" : "", vertex_count * 12, offset, index_size, bin.size);
    bench b = open_bench(json, &bin, NULL);
    peltt_blob_free(&bin);
    return b;
}

static void kept_indices_widen_where_they_would_restart(void **state)
{
    (void)state;
    static const uint8_t restart[4] = {0, 254, 255, 0};
    static const uint8_t plain[4] = {0, 1, 254, 0};
    bench b = open_points(256, PELT_COMPONENT_U8, restart, 4);
    write_bench(&b, PELT_GLTF_SPACE_WORLD);
    json_t *accessor = accessor_of(&b, json_object_get(primitive_of(&b, 0), "indices"));
    assert_int_equal(number(accessor, "componentType"), PELT_COMPONENT_U16);
    static const uint8_t wide[6] = {0, 0, 254, 0, 255, 0};
    assert_memory_equal(bytes_of(&b, accessor), wide, sizeof wide);
    close_bench(&b);

    b = open_points(256, PELT_COMPONENT_U8, plain, 4);
    write_bench(&b, PELT_GLTF_SPACE_WORLD);
    accessor = accessor_of(&b, json_object_get(primitive_of(&b, 0), "indices"));
    assert_int_equal(number(accessor, "componentType"), PELT_COMPONENT_U8);
    assert_memory_equal(bytes_of(&b, accessor), plain, 3);
    close_bench(&b);
}

static void callers_indices_take_the_narrowest_safe_type(void **state)
{
    (void)state;
    static const uint32_t triangle[3] = {0, 65534, 1};
    static const uint32_t strip[4] = {0, 65535, 1, 2};
    static const uint32_t *const lists[] = {triangle, strip};
    for (uint32_t i = 0; i < 2; i++) {
        bench b = open_points(65536, 0, "", 0);
        b.posed.primitives[0].indices = lists[i];
        b.posed.primitives[0].index_count = 3 + i;
        b.posed.primitives[0].topology = i ? PELT_TOPOLOGY_TRIANGLE_STRIP : PELT_TOPOLOGY_TRIANGLES;
        write_bench(&b, PELT_GLTF_SPACE_WORLD);
        json_t *primitive = primitive_of(&b, 0);
        json_t *accessor = accessor_of(&b, json_object_get(primitive, "indices"));
        assert_int_equal(number(accessor, "componentType"), i ? PELT_COMPONENT_U32 : PELT_COMPONENT_U16);
        assert_int_equal(number(accessor, "count"), 3 + i);
        if (i) {
            assert_memory_equal(bytes_of(&b, accessor), strip, sizeof strip);
            assert_int_equal(number(primitive, "mode"), PELT_TOPOLOGY_TRIANGLE_STRIP);
        } else {
            static const uint16_t narrow[3] = {0, 65534, 1};
            assert_memory_equal(bytes_of(&b, accessor), narrow, sizeof narrow);
            assert_null(json_object_get(primitive, "mode"));
        }
        close_bench(&b);
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
    bench b = open_bench(
        format_text("{'asset':{'version':'2.0'},'nodes':[{'mesh':0}],'meshes':[{'primitives':["
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
    write_bench(&b, PELT_GLTF_SPACE_WORLD);
    int64_t outputs[4];
    for (size_t i = 0; i < 4; i++) {
        json_t *primitive = get(get(b.json, "meshes", 0), "primitives", i);
        json_t *index = json_object_get(json_object_get(primitive, "attributes"), "POSITION");
        outputs[i] = json_integer_value(index);
        assert_non_null(json_object_get(accessor_of(&b, index), "min"));
        assert_memory_equal(bytes_of(&b, accessor_of(&b, index)), posed[i].positions, sizeof positions);
    }
    assert_int_equal(outputs[0], outputs[1]);
    assert_int_equal(outputs[0], outputs[2]);
    assert_int_not_equal(outputs[0], outputs[3]);
    close_bench(&b);
}

// ---- attributes

// Three vertices with one more attribute of tight elements.
static bench open_attribute(const char *name, int component, const char *type, const char *more, const void *data,
                            size_t size)
{
    peltt_blob bin = {0};
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    peltt_blob_add(&bin, positions, sizeof positions);
    peltt_blob_add(&bin, data, size);
    char *json = format_text(
        "{'asset':{'version':'2.0'},'nodes':[{'mesh':0}],"
        "'meshes':[{'primitives':[{'attributes':{'POSITION':0,'%s':1}}]}],"
        "'accessors':[{'bufferView':0,'componentType':5126,'count':3,'type':'VEC3','min':[0,0,0],'max':[1,1,0]},"
        "{'bufferView':1,'componentType':%d,'count':3,'type':'%s'%s}],"
        "'bufferViews':[{'buffer':0,'byteLength':36},{'buffer':0,'byteOffset':36,'byteLength':%zu}],"
        "'buffers':[{'byteLength':%zu}]}",
        name, component, type, more, size, bin.size);
    bench b = open_bench(json, &bin, NULL);
    peltt_blob_free(&bin);
    return b;
}

static void assert_floats(const bench *b, const char *name, const float *expected, size_t count)
{
    json_t *accessor = attribute_of(b, name);
    assert_int_equal(number(accessor, "componentType"), PELT_COMPONENT_F32);
    assert_memory_equal(bytes_of(b, accessor), expected, count * sizeof *expected);
}

static void values_that_gltf_refuses_are_repaired_and_told(void **state)
{
    (void)state;
    static const float uv[6] = {0.5F, NAN, INFINITY, 7.0F, -3.0F, -INFINITY};
    static const float repaired_uv[6] = {0.5F, 0, 0, 7.0F, -3.0F, 0};
    bench b = open_attribute("TEXCOORD_0", PELT_COMPONENT_F32, "VEC2", "", uv, sizeof uv);
    write_bench(&b, PELT_GLTF_SPACE_WORLD);
    assert_floats(&b, "TEXCOORD_0", repaired_uv, 6);
    assert_non_null(strstr(b.warnings->text, "TEXCOORD_0: 3 values"));
    close_bench(&b);

    static const float color[9] = {0.5F, 1.5F, -0.25F, 1, 0, NAN, 8, 0.125F, 0};
    static const float repaired_color[9] = {0.5F, 1, 0, 1, 0, 0, 1, 0.125F, 0};
    b = open_attribute("COLOR_0", PELT_COMPONENT_F32, "VEC3", "", color, sizeof color);
    write_bench(&b, PELT_GLTF_SPACE_WORLD);
    assert_floats(&b, "COLOR_0", repaired_color, 9);
    assert_non_null(strstr(b.warnings->text, "COLOR_0: 3 values outside 0..1"));
    close_bench(&b);

    static const uint8_t plain_color[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    b = open_attribute("COLOR_0", PELT_COMPONENT_U8, "VEC4", "", plain_color, sizeof plain_color);
    write_bench(&b, PELT_GLTF_SPACE_WORLD);
    assert_true(json_is_true(json_object_get(attribute_of(&b, "COLOR_0"), "normalized")));
    assert_memory_equal(bytes_of(&b, attribute_of(&b, "COLOR_0")), plain_color, sizeof plain_color);
    close_bench(&b);
}

static void integers_of_32_bits_become_exact_floats_or_go(void **state)
{
    (void)state;
    static const uint32_t small[3] = {0, 16777215, 16777216};
    static const float floats[3] = {0, 16777215.0F, 16777216.0F};
    bench b = open_attribute("_ID", PELT_COMPONENT_U32, "SCALAR", "", small, sizeof small);
    write_bench(&b, PELT_GLTF_SPACE_WORLD);
    assert_floats(&b, "_ID", floats, 3);
    assert_non_null(strstr(b.warnings->text, "_ID becomes floats"));
    close_bench(&b);

    static const uint32_t large[3] = {0, 16777217, 1};
    b = open_attribute("_ID", PELT_COMPONENT_U32, "SCALAR", "", large, sizeof large);
    write_bench(&b, PELT_GLTF_SPACE_WORLD);
    assert_null(attribute_of(&b, "_ID"));
    assert_non_null(strstr(b.warnings->text, "_ID is left out"));
    close_bench(&b);
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
        bench b = open_attribute(cases[i].name, cases[i].component, cases[i].type, "", values, sizeof values);
        write_bench(&b, PELT_GLTF_SPACE_WORLD);
        assert_int_equal(attribute_of(&b, cases[i].name) != NULL, cases[i].stays);
        assert_int_equal(b.warnings->count, cases[i].stays ? 0 : 1);
        close_bench(&b);
    }
}

static void matrix_columns_of_bytes_are_padded(void **state)
{
    (void)state;
    // 2x2 bytes: each column takes four (glTF 2.0, 3.6.2.4).
    static const uint8_t data[24] = {1, 2, 99, 99, 3, 4, 99, 99, 5, 6, 99, 99, 7, 8, 99, 99, 9, 10, 99, 99, 11, 12};
    static const uint8_t expected[24] = {1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0, 7, 8, 0, 0, 9, 10, 0, 0, 11, 12, 0, 0};
    bench b = open_attribute("_M", PELT_COMPONENT_U8, "MAT2", "", data, sizeof data);
    write_bench(&b, PELT_GLTF_SPACE_WORLD);
    json_t *accessor = attribute_of(&b, "_M");
    assert_string_equal(json_string_value(json_object_get(accessor, "type")), "MAT2");
    assert_memory_equal(bytes_of(&b, accessor), expected, sizeof expected);
    close_bench(&b);
}

static void quantization_is_declared_only_for_what_needs_it(void **state)
{
    (void)state;
    static const uint16_t values[6] = {1, 2, 3, 4, 5, 6};
    for (int normalized = 0; normalized < 2; normalized++) {
        bench b = open_attribute("TEXCOORD_0", PELT_COMPONENT_U16, "VEC2", normalized ? ",'normalized':true" : "",
                                 values, sizeof values);
        write_bench(&b, PELT_GLTF_SPACE_WORLD);
        json_t *used = get(b.json, "extensionsUsed", 0);
        json_t *required = get(b.json, "extensionsRequired", 0);
        if (normalized) {
            assert_null(used);
            assert_null(required);
        } else {
            assert_string_equal(json_string_value(used), "KHR_mesh_quantization");
            assert_string_equal(json_string_value(required), "KHR_mesh_quantization");
        }
        assert_memory_equal(bytes_of(&b, attribute_of(&b, "TEXCOORD_0")), values, sizeof values);
        close_bench(&b);
    }
}

// ---- nothing to draw

static void empty_primitives_and_meshes_are_left_out_and_told(void **state)
{
    (void)state;
    peltt_blob bin = {0};
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    peltt_blob_add(&bin, positions, sizeof positions);
    bench b = open_bench(
        format_text("{'asset':{'version':'2.0'},'nodes':[{'mesh':0,'name':'half'},{'mesh':1,'name':'none'},"
                    "{'mesh':1,'name':'still here','extras':{'x':1}}],"
                    "'meshes':[{'primitives':[{'attributes':{}},{'attributes':{'POSITION':0}}]},"
                    "{'primitives':[{'attributes':{}}]}],"
                    "'accessors':[{'bufferView':0,'componentType':5126,'count':3,'type':'VEC3','min':[0,0,0],"
                    "'max':[1,1,0]}],'bufferViews':[{'buffer':0,'byteLength':36}],'buffers':[{'byteLength':36}]}"),
        &bin, NULL);
    peltt_blob_free(&bin);
    write_bench(&b, PELT_GLTF_SPACE_WORLD);
    assert_int_equal(json_array_size(json_object_get(b.json, "meshes")), 1);
    assert_int_equal(json_array_size(json_object_get(get(b.json, "meshes", 0), "primitives")), 1);
    assert_int_equal(json_array_size(json_object_get(b.json, "nodes")), 2);
    assert_null(json_object_get(get(b.json, "nodes", 1), "mesh"));
    assert_non_null(json_object_get(get(b.json, "nodes", 1), "extras"));
    // Told once for each primitive and mesh, not again at each node.
    assert_int_equal(b.warnings->count, 3);
    assert_non_null(strstr(b.warnings->text, "/meshes/0/primitives/0"));
    assert_non_null(strstr(b.warnings->text, "/meshes/1: "));
    close_bench(&b);
}

static void a_primitive_whose_indices_vanish_is_left_out(void **state)
{
    (void)state;
    static const uint32_t none[1] = {0};
    bench b = open_points(3, 0, "", 0);
    b.posed.primitives[0].indices = none;
    write_bench(&b, PELT_GLTF_SPACE_WORLD);
    assert_null(json_object_get(b.json, "meshes"));
    assert_null(json_object_get(b.json, "nodes"));
    assert_null(json_object_get(b.json, "buffers"));
    close_bench(&b);
}

// ---- nodes

static void hidden_nodes_stay_hidden_as_roots(void **state)
{
    (void)state;
    peltt_blob bin = {0};
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    peltt_blob_add(&bin, positions, sizeof positions);
    bench b = open_bench(
        format_text("{'asset':{'version':'2.0'},'extensionsUsed':['KHR_node_visibility'],"
                    "'nodes':[{'children':[1,2],'extensions':{'KHR_node_visibility':{'visible':false}}},"
                    "{'mesh':0,'name':'hidden'},{'name':'parent','children':[3]},{'mesh':0,'name':'hidden too'},"
                    "{'mesh':0,'name':'seen','extensions':{'KHR_node_visibility':{'visible':true}}}],"
                    "'meshes':[{'primitives':[{'attributes':{'POSITION':0}}]}],"
                    "'accessors':[{'bufferView':0,'componentType':5126,'count':3,'type':'VEC3','min':[0,0,0],"
                    "'max':[1,1,0]}],'bufferViews':[{'buffer':0,'byteLength':36}],'buffers':[{'byteLength':36}]}"),
        &bin, NULL);
    peltt_blob_free(&bin);
    write_bench(&b, PELT_GLTF_SPACE_WORLD);
    assert_int_equal(json_array_size(json_object_get(b.json, "nodes")), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *extensions = json_object_get(get(b.json, "nodes", i), "extensions");
        const json_t *visible = json_object_get(json_object_get(extensions, "KHR_node_visibility"), "visible");
        assert_int_equal(json_is_false(visible), i < 2);
    }
    assert_string_equal(json_string_value(get(b.json, "extensionsUsed", 0)), "KHR_node_visibility");
    close_bench(&b);
}

static void a_long_chain_keeps_its_camera_in_place(void **state)
{
    (void)state;
    enum {
        DEPTH = 20000
    };
    size_t capacity = (size_t)DEPTH * 64 + 256;
    char *json = malloc(capacity);
    assert_non_null(json);
    int length = snprintf(json, capacity,
                          "{'asset':{'version':'2.0'},'cameras':[{'type':'perspective',"
                          "'perspective':{'yfov':1,'znear':1}}],'nodes':[");
    for (int i = 0; i < DEPTH; i++) {
        length += snprintf(json + length, capacity - (size_t)length, "{'translation':[1,0,0],'children':[%d]},", i + 1);
    }
    snprintf(json + length, capacity - (size_t)length, "{'camera':0}]}");
    peltt_blob none = {0};
    bench b = open_bench(json, &none, NULL);
    write_bench(&b, PELT_GLTF_SPACE_WORLD);
    assert_int_equal(json_array_size(json_object_get(b.json, "nodes")), DEPTH + 1);
    peltt_posed again = peltt_posed_open(&b.output, NULL, NULL);
    pelt_mat34 world = pelt_pose_world(again.pose, DEPTH);
    assert_true(world.m[0][3] == DEPTH);
    peltt_posed_close(&again);
    close_bench(&b);
}

static void a_matrix_that_flattens_becomes_translation_rotation_and_scale(void **state)
{
    (void)state;
    // Columns; the first three are orthogonal with some of length zero, the last one shears.
    static const char *const matrices[] = {
        "0.6,0.8,0,0, 0,0,0,0, 0,0,-3,0, 1,2,3,1", "0,0,0,0, 1.2,-1.6,0,0, 1.6,1.2,0,0, 1,2,3,1",
        "0,0,2,0, 0,4,0,0, 0,0,0,0, 0,0,0,1",      "0,0,0,0, 0,0,0,0, -0.36,0.48,0.8,0, 5,0,0,1",
        "0,0,0,0, 0,0,0,0, 0,0,0,0, 7,0,0,1",      "1,0,0,0, 0.5,1,0,0, 0,0,1,0, 0,0,0,1",
    };
    peltt_blob none = {0};
    for (size_t i = 0; i < 6; i++) {
        bench b = open_bench(format_text("{'asset':{'version':'2.0'},'cameras':[{'type':'perspective','perspective':"
                                         "{'yfov':1,'znear':1}}],'nodes':[{'camera':0,'matrix':[%s]}]}",
                                         matrices[i]),
                             &none, NULL);
        write_bench(&b, PELT_GLTF_SPACE_WORLD);
        assert_int_equal(json_object_get(get(b.json, "nodes", 0), "matrix") != NULL, i == 5);
        assert_int_equal(b.warnings->count, i == 5);
        peltt_posed again = peltt_posed_open(&b.output, NULL, NULL);
        pelt_mat34 expected = pelt_pose_world(b.posed.pose, 0);
        pelt_mat34 actual = pelt_pose_world(again.pose, 0);
        for (int k = 0; k < 12; k++) {
            assert_float_equal(actual.m[k / 4][k % 4], expected.m[k / 4][k % 4], 1e-6);
        }
        peltt_posed_close(&again);
        close_bench(&b);
    }
}

static void a_scene_that_starts_below_a_root_keeps_the_root_for_its_transform(void **state)
{
    (void)state;
    peltt_blob none = {0};
    bench b = open_bench(format_text("{'asset':{'version':'2.0'},'cameras':[{'type':'perspective','perspective':"
                                     "{'yfov':1,'znear':1}}],'scene':0,'scenes':[{'nodes':[1]}],'nodes':["
                                     "{'name':'above','translation':[1,2,3],'camera':0,'children':[1,2]},"
                                     "{'name':'eye','translation':[0,0,4],'camera':0},{'name':'beside','camera':0}]}"),
                         &none, NULL);
    write_bench(&b, PELT_GLTF_SPACE_WORLD);
    assert_int_equal(json_array_size(json_object_get(b.json, "nodes")), 2);
    assert_null(json_object_get(get(b.json, "nodes", 0), "camera"));
    peltt_posed again = peltt_posed_open(&b.output, NULL, NULL);
    pelt_mat34 world = pelt_pose_world(again.pose, 1);
    assert_true(world.m[0][3] == 1 && world.m[1][3] == 2 && world.m[2][3] == 7);
    peltt_posed_close(&again);
    close_bench(&b);
}

// ---- images

static void write_file(const char *folder, const char *name, const void *data, size_t size)
{
    char *path = format_text("%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
    free(path);
}

static void write_images(const char *folder)
{
    write_file(folder, "a b.png", peltt_png, PELTT_PNG_SIZE);
    write_file(folder, "liar.jpg", peltt_png, PELTT_PNG_SIZE);
    write_file(folder, "photo.bin", "\xFF\xD8\xFF\xE0", 4);
    write_file(folder, "x.webp", "RIFF\x04\0\0\0WEBP", 12);
    write_file(folder, "x.ktx2", "\xABKTX 20\xBB\r\n\x1A\n", 12);
    write_file(folder, "x.avif",
               "\0\0\0\x18"
               "ftypmif1\0\0\0\0mif1avif",
               24);
    write_file(folder, "short.jpeg", "?", 1);
    write_file(folder, "picture.gif", "GIF89a", 6);
    write_file(folder, "empty.png", "", 0);
}

static void remove_images(const char *folder)
{
    static const char *const names[] = {"a b.png", "liar.jpg",   "photo.bin",   "x.webp",   "x.ktx2",
                                        "x.avif",  "short.jpeg", "picture.gif", "empty.png"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = format_text("%s/%s", folder, names[i]);
        unlink(path);
        free(path);
    }
}

static void images_outside_come_in_and_others_keep_their_uri(void **state)
{
    (void)state;
    static const struct {
        const char *uri;
        const char *type; // NULL: stays outside
    } images[] = {{"a%20b.png", "image/png"},
                  {"liar.jpg", "image/png"},
                  {"photo.bin", "image/jpeg"},
                  {"x.webp", "image/webp"},
                  {"x.ktx2", "image/ktx2"},
                  {"x.avif", "image/avif"},
                  {"short.jpeg", "image/jpeg"},
                  {"data:image/png;base64,iVBORw0KGgo=", "image/png"},
                  {"data:image/gif;base64,R0lGODlh", "image/gif"},
                  {"data:;base64,R0lGODlh", NULL},
                  {"picture.gif", NULL},
                  {"empty.png", NULL},
                  {"missing.png", NULL},
                  {"../outside.png", NULL}};
    char folder[] = "/tmp/pelt_images_XXXXXX";
    assert_non_null(mkdtemp(folder));
    write_images(folder);
    size_t count = sizeof images / sizeof images[0];
    char list[4096];
    int length = 0;
    for (size_t i = 0; i < count; i++) {
        length += snprintf(list + length, sizeof list - (size_t)length, "%s{'uri':'%s','name':'i%zu'}", i ? "," : "",
                           images[i].uri, i);
    }
    peltt_blob none = {0};
    bench b = open_bench(format_text("{'asset':{'version':'2.0'},'images':[%s]}", list), &none, folder);
    write_bench(&b, PELT_GLTF_SPACE_WORLD);
    for (size_t i = 0; i < count; i++) {
        const json_t *image = get(b.json, "images", i);
        char *name = format_text("i%zu", i);
        assert_string_equal(json_string_value(json_object_get(image, "name")), name);
        if (images[i].type) {
            assert_null(json_object_get(image, "uri"));
            assert_string_equal(json_string_value(json_object_get(image, "mimeType")), images[i].type);
        } else {
            assert_null(json_object_get(image, "bufferView"));
            assert_string_equal(json_string_value(json_object_get(image, "uri")), images[i].uri);
            assert_non_null(strstr(b.warnings->text, name));
        }
        free(name);
    }
    assert_int_equal(b.warnings->count, 5);
    assert_memory_equal(b.bin, peltt_png, PELTT_PNG_SIZE);
    close_bench(&b);
    remove_images(folder);
    assert_int_equal(rmdir(folder), 0);
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
        cmocka_unit_test(hidden_nodes_stay_hidden_as_roots),
        cmocka_unit_test(a_long_chain_keeps_its_camera_in_place),
        cmocka_unit_test(a_matrix_that_flattens_becomes_translation_rotation_and_scale),
        cmocka_unit_test(a_scene_that_starts_below_a_root_keeps_the_root_for_its_transform),
        cmocka_unit_test(images_outside_come_in_and_others_keep_their_uri),
    };
    return cmocka_run_group_tests_name("gltf_write_edges", tests, NULL, NULL);
}

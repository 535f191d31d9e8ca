// SPDX-License-Identifier: MIT
// Accessors: every type against values worked out by hand, and every way in which the bytes can be too few.
#include "gltf/gltf_internal.h"
#include "peltt_gltf.h"

#include <math.h>
#include <setjmp.h>

#include <cmocka.h>

#define ASSET "'asset':{'version':'2.0'}"

// A document whose buffer 0 holds bytes and whose views and accessors are given.
static pelt_result open_accessor(const char *views, const char *accessors, const void *bytes, size_t size,
                                 peltt_document *document, gltf_accessor *accessor, pelt_error *error)
{
    char json[4096];
    snprintf(json, sizeof json, "{" ASSET ",'buffers':[{'byteLength':%zu}],'bufferViews':[%s],'accessors':[%s]}", size,
             views, accessors);
    pelt_result result = peltt_document_open(json, bytes, size, NULL, document, error);
    return result ? result : pelti_gltf_accessor(document->gltf, 0, accessor, error);
}

static void expect_floats(const char *views, const char *accessors, const void *bytes, size_t size,
                          const double *expected, size_t count)
{
    peltt_document document;
    gltf_accessor accessor;
    pelt_error error;
    pelt_result result = open_accessor(views, accessors, bytes, size, &document, &accessor, &error);
    if (result) {
        print_error("%s\n", error.message);
    }
    assert_int_equal(result, PELT_OK);
    assert_true(accessor.count * accessor.component_count == count);
    // One element more stays untouched.
    float *values = malloc((count + 1) * sizeof *values);
    assert_non_null(values);
    values[count] = 1234.5f;
    pelti_gltf_read_floats(&accessor, values);
    for (size_t i = 0; i < count; i++) {
        assert_true(fabs((double)values[i] - expected[i]) <= 6e-8 * fabs(expected[i]));
    }
    assert_true(values[count] == 1234.5f);
    free(values);
    peltt_document_close(&document);
}

static void scalar_view(char out[256], unsigned component, bool normalized, unsigned count)
{
    snprintf(out, 256, "{'bufferView':0,'componentType':%u,'type':'SCALAR','count':%u%s}", component, count,
             normalized ? ",'normalized':true" : "");
}

static void every_component_type_reads_right(void **state)
{
    (void)state;
    static const int8_t i8[] = {-128, -127, -1, 0, 64, 127};
    static const uint8_t u8[] = {0, 1, 51, 128, 254, 255};
    static const int16_t i16[] = {-32768, -32767, -1, 0, 16384, 32767};
    static const uint16_t u16[] = {0, 1, 13107, 32768, 65534, 65535};
    static const uint32_t u32[] = {0, 1, 255, 65536, 16777216, 4294967040u};
    static const float f32[] = {0.0f, -1.5f, 3.25e-20f, 1e30f, -7.0f, 0.5f};
    const struct {
        unsigned component;
        bool normalized;
        const void *bytes;
        size_t size;
        double expected[6];
    } rows[] = {
        {5120, false, i8, sizeof i8, {-128, -127, -1, 0, 64, 127}},
        {5120, true, i8, sizeof i8, {-1, -1, -1 / 127.0, 0, 64 / 127.0, 1}},
        {5121, false, u8, sizeof u8, {0, 1, 51, 128, 254, 255}},
        {5121, true, u8, sizeof u8, {0, 1 / 255.0, 0.2, 128 / 255.0, 254 / 255.0, 1}},
        {5122, false, i16, sizeof i16, {-32768, -32767, -1, 0, 16384, 32767}},
        {5122, true, i16, sizeof i16, {-1, -1, -1 / 32767.0, 0, 16384 / 32767.0, 1}},
        {5123, false, u16, sizeof u16, {0, 1, 13107, 32768, 65534, 65535}},
        {5123, true, u16, sizeof u16, {0, 1 / 65535.0, 0.2, 32768 / 65535.0, 65534 / 65535.0, 1}},
        {5125, false, u32, sizeof u32, {0, 1, 255, 65536, 16777216, 4294967040.0}},
        {5126, false, f32, sizeof f32, {0, -1.5, (double)3.25e-20f, (double)1e30f, -7, 0.5}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char accessor[256];
        char view[128];
        scalar_view(accessor, rows[i].component, rows[i].normalized, 6);
        snprintf(view, sizeof view, "{'buffer':0,'byteLength':%zu}", rows[i].size);
        expect_floats(view, accessor, rows[i].bytes, rows[i].size, rows[i].expected, 6);
        // The same elements 8 bytes apart, and starting at an odd address.
        uint8_t spread[1 + 6 * 8] = {0};
        size_t element = rows[i].size / 6;
        for (size_t k = 0; k < 6; k++) {
            memcpy(spread + 1 + k * 8, (const uint8_t *)rows[i].bytes + k * element, element);
        }
        snprintf(view, sizeof view, "{'buffer':0,'byteOffset':1,'byteLength':%zu,'byteStride':8}", 5 * 8 + element);
        expect_floats(view, accessor, spread, sizeof spread, rows[i].expected, 6);
    }
}

static void vectors_and_matrices_have_their_shape(void **state)
{
    (void)state;
    float values[32];
    double expected[32];
    for (size_t i = 0; i < 32; i++) {
        values[i] = (float)i - 10.5f;
        expected[i] = (double)i - 10.5;
    }
    static const struct {
        const char *type;
        size_t components;
    } rows[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT2", 4}, {"MAT3", 9}, {"MAT4", 16}};
    for (size_t i = 0; i < 7; i++) {
        char accessor[256];
        snprintf(accessor, sizeof accessor, "{'bufferView':0,'componentType':5126,'type':'%s','count':2}",
                 rows[i].type);
        expect_floats("{'buffer':0,'byteLength':128}", accessor, values, sizeof values, expected,
                      2 * rows[i].components);
    }
}

static void narrow_matrix_columns_are_padded(void **state)
{
    (void)state;
    // MAT3 of bytes: three columns of three, each in four bytes; the last padding byte may be missing.
    static const uint8_t mat3[] = {1, 2, 3, 99, 4, 5, 6, 99, 7, 8, 9, 99, 11, 12, 13, 99, 14, 15, 16, 99, 17, 18, 19};
    static const double mat3_expected[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19};
    expect_floats("{'buffer':0,'byteLength':23}", "{'bufferView':0,'componentType':5121,'type':'MAT3','count':2}", mat3,
                  23, mat3_expected, 18);
    static const uint8_t mat2[] = {1, 2, 99, 99, 3, 4};
    static const double mat2_expected[] = {1, 2, 3, 4};
    expect_floats("{'buffer':0,'byteLength':6}", "{'bufferView':0,'componentType':5121,'type':'MAT2','count':1}", mat2,
                  6, mat2_expected, 4);
    static const int16_t wide[] = {1, 2, 3, 99, 4, 5, 6, 99, 7, 8, -9};
    static const double wide_expected[] = {1, 2, 3, 4, 5, 6, 7, 8, -9};
    expect_floats("{'buffer':0,'byteLength':22}", "{'bufferView':0,'componentType':5122,'type':'MAT3','count':1}", wide,
                  22, wide_expected, 9);
    static const int16_t mat2_16[] = {1, 2, -3, 4};
    static const double mat2_16_expected[] = {1, 2, -3, 4};
    expect_floats("{'buffer':0,'byteLength':8}", "{'bufferView':0,'componentType':5122,'type':'MAT2','count':1}",
                  mat2_16, 8, mat2_16_expected, 4);
    // Raw output drops the padding.
    peltt_document document;
    gltf_accessor accessor;
    pelt_error error;
    assert_int_equal(open_accessor("{'buffer':0,'byteLength':23}",
                                   "{'bufferView':0,'componentType':5121,'type':'MAT3','count':2}", mat3, 23, &document,
                                   &accessor, &error),
                     PELT_OK);
    uint8_t raw[19] = {0};
    raw[18] = 77;
    pelti_gltf_read_raw(&accessor, raw);
    for (size_t i = 0; i < 18; i++) {
        assert_true((double)raw[i] == mat3_expected[i]);
    }
    assert_int_equal(raw[18], 77);
    peltt_document_close(&document);
}

static void integers_read_as_integers(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1, 0, 255, 255, 0, 0, 3, 0, 0, 128, 0, 0};
    static const struct {
        unsigned component;
        unsigned count;
        uint32_t expected[4];
    } rows[] = {{5121, 4, {1, 0, 255, 255}}, {5123, 4, {1, 65535, 0, 3}}, {5125, 2, {4294901761u, 3 << 16}}};
    for (size_t i = 0; i < 3; i++) {
        char json[256];
        scalar_view(json, rows[i].component, false, rows[i].count);
        peltt_document document;
        gltf_accessor accessor;
        pelt_error error;
        assert_int_equal(open_accessor("{'buffer':0,'byteLength':12}", json, bytes, 12, &document, &accessor, &error),
                         PELT_OK);
        uint32_t wide[4];
        pelti_gltf_read_u32(&accessor, wide);
        uint16_t narrow[4] = {0};
        if (rows[i].component != 5125) {
            pelti_gltf_read_u16(&accessor, narrow);
        }
        for (size_t k = 0; k < rows[i].count; k++) {
            assert_true(wide[k] == rows[i].expected[k]);
            assert_true(rows[i].component == 5125 || narrow[k] == rows[i].expected[k]);
        }
        peltt_document_close(&document);
    }
}

static void last_element_needs_only_its_own_size(void **state)
{
    (void)state;
    static const uint8_t bytes[60] = {0};
    peltt_document document;
    gltf_accessor accessor;
    pelt_error error;
    // Offset 4, stride 20, three VEC3: 4 + 2 * 20 + 12 = 56.
    for (unsigned size = 40; size <= 60; size++) {
        char view[128];
        snprintf(view, sizeof view, "{'buffer':0,'byteLength':%u,'byteStride':20}", size);
        pelt_result result =
            open_accessor(view, "{'bufferView':0,'byteOffset':4,'componentType':5126,'type':'VEC3','count':3}", bytes,
                          60, &document, &accessor, &error);
        assert_int_equal(result, size >= 56 ? PELT_OK : PELT_ERROR_INVALID);
        if (size == 55) {
            peltt_assert_error(&error, PELT_ERROR_INVALID, "accessor 0: needs 56 bytes but bufferView 0 has 55",
                               "/accessors/0", "count 3");
        }
        peltt_document_close(&document);
    }
}

static void refusals_name_the_accessor(void **state)
{
    (void)state;
    static const struct {
        const char *accessor;
        pelt_result code;
        const char *parts[3];
    } rows[] = {
        {"{'bufferView':0,'componentType':5126,'type':'VEC3'}", PELT_ERROR_INVALID, {"count is missing", "", ""}},
        {"{'bufferView':0,'componentType':5126,'type':'VEC3','count':0}", PELT_ERROR_INVALID, {"count is 0", "", ""}},
        {"{'bufferView':0,'componentType':5126,'type':'VEC3','count':-1}", PELT_ERROR_INVALID, {"count is -1", "", ""}},
        {"{'bufferView':0,'componentType':5126,'type':'VEC3','count':6.5}",
         PELT_ERROR_INVALID,
         {"count is 6.5, not an integer", "/accessors/0/count", ""}},
        {"{'bufferView':0,'componentType':5126,'type':'VEC3','count':1e100}",
         PELT_ERROR_INVALID,
         {"count is 1e+100", "", ""}},
        {"{'bufferView':0,'componentType':5126,'type':'VEC3','count':'6'}",
         PELT_ERROR_INVALID,
         {"count is a string", "", ""}},
        {"{'bufferView':0,'componentType':5126,'type':'VEC3','count':7}",
         PELT_ERROR_INVALID,
         {"84 bytes", "has 72", "count 7"}},
        // 2^32 + 5126 is FLOAT in its low 32 bits.
        {"{'bufferView':0,'componentType':4294972422,'type':'VEC3','count':6}",
         PELT_ERROR_INVALID,
         {"componentType is 4294972422", "", ""}},
        {"{'bufferView':0,'componentType':5126,'type':'VEC3','count':1073741824}",
         PELT_ERROR_INVALID,
         {"12884901888 bytes", "has 72", ""}},
        // 12 (n - 1) + 12, 4 (n - 1) + 4 and 16 (n - 1) + 16 are all 0 modulo 2^64 for n = 2^62.
        {"{'bufferView':0,'componentType':5126,'type':'VEC3','count':4611686018427387904}",
         PELT_ERROR_INVALID,
         {"2^64", "count 4611686018427387904", "has 72"}},
        {"{'bufferView':0,'componentType':5126,'type':'SCALAR','count':4611686018427387904}",
         PELT_ERROR_INVALID,
         {"needs", "count 4611686018427387904", "has 72"}},
        {"{'bufferView':0,'componentType':5126,'type':'VEC4','count':4611686018427387904}",
         PELT_ERROR_INVALID,
         {"needs", "count 4611686018427387904", "has 72"}},
        {"{'bufferView':0,'byteOffset':9223372036854775807,'componentType':5126,'type':'VEC3','count':1}",
         PELT_ERROR_INVALID,
         {"needs", "has 72", "byteOffset 9223372036854775807"}},
        {"{'bufferView':0,'byteOffset':64,'componentType':5126,'type':'VEC3','count':1}",
         PELT_ERROR_INVALID,
         {"76 bytes", "has 72", ""}},
        {"{'bufferView':0,'byteOffset':-4,'componentType':5126,'type':'VEC3','count':1}",
         PELT_ERROR_INVALID,
         {"byteOffset is -4", "", ""}},
        {"{'bufferView':2,'componentType':5126,'type':'VEC3','count':6}",
         PELT_ERROR_INVALID,
         {"bufferView is 2", "2 bufferViews", ""}},
        {"{'bufferView':null,'componentType':5126,'type':'VEC3','count':6}",
         PELT_ERROR_INVALID,
         {"bufferView is null", "", ""}},
        {"{'bufferView':1,'componentType':5126,'type':'VEC3','count':2}",
         PELT_ERROR_INVALID,
         {"byteStride", "12 bytes", "is 8"}},
        {"{'bufferView':0,'componentType':5124,'type':'VEC3','count':6}",
         PELT_ERROR_INVALID,
         {"componentType is 5124", "", ""}},
        {"{'bufferView':0,'componentType':4294972422,'type':'VEC3','count':6}",
         PELT_ERROR_INVALID,
         {"componentType is 4294972422", "", ""}},
        {"{'bufferView':0,'type':'VEC3','count':6}", PELT_ERROR_INVALID, {"componentType is missing", "", ""}},
        {"{'bufferView':0,'componentType':5126,'count':6}", PELT_ERROR_INVALID, {"type is", "", ""}},
        {"{'bufferView':0,'componentType':5126,'type':'VEC5','count':6}", PELT_ERROR_INVALID, {"type is", "VEC5", ""}},
        {"{'bufferView':0,'componentType':5126,'type':'vec3','count':6}", PELT_ERROR_INVALID, {"type is", "vec3", ""}},
        {"{'bufferView':0,'componentType':5126,'type':3,'count':6}", PELT_ERROR_INVALID, {"type is 3", "", ""}},
        {"{'bufferView':0,'componentType':5126,'type':'VEC3','count':6,'normalized':true}",
         PELT_ERROR_INVALID,
         {"normalized", "5126", ""}},
        {"{'bufferView':0,'componentType':5125,'type':'VEC3','count':6,'normalized':true}",
         PELT_ERROR_INVALID,
         {"normalized", "5125", ""}},
        {"{'bufferView':0,'componentType':5121,'type':'VEC3','count':6,'normalized':1}",
         PELT_ERROR_INVALID,
         {"normalized is 1", "", ""}},
        {"{'componentType':5121,'type':'VEC3','count':4294967296}",
         PELT_ERROR_UNSUPPORTED,
         {"count is 4294967296", "", ""}},
    };
    static const uint8_t bytes[72] = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        peltt_document document;
        gltf_accessor accessor;
        pelt_error error;
        open_accessor("{'buffer':0,'byteLength':72},{'buffer':0,'byteLength':72,'byteStride':8}", rows[i].accessor,
                      bytes, sizeof bytes, &document, &accessor, &error);
        peltt_assert_error(&error, rows[i].code, "accessor 0", "/accessors/0", rows[i].parts[0], rows[i].parts[1],
                           rows[i].parts[2]);
        peltt_document_close(&document);
    }
}

static void integers_may_be_written_as_decimals(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {5, 6, 7, 8, 9, 10};
    static const double expected[] = {5, 6, 7, 8, 9, 10};
    expect_floats("{'buffer':0.0,'byteLength':6.0}",
                  "{'bufferView':0e0,'byteOffset':0.0,'componentType':5.121e3,'type':'SCALAR','count':6e0}", bytes, 6,
                  expected, 6);
}

static void missing_accessors_are_named(void **state)
{
    (void)state;
    peltt_document document;
    gltf_accessor accessor;
    pelt_error error;
    assert_int_equal(peltt_document_open("{" ASSET ",'accessors':[{},3]}", NULL, 0, NULL, &document, &error), PELT_OK);
    pelti_gltf_accessor(document.gltf, 999, &accessor, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "accessor 999", "does not exist");
    pelti_gltf_accessor(document.gltf, 1, &accessor, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "accessor 1", "not an object");
    peltt_document_close(&document);
}

static void no_view_means_zeros(void **state)
{
    (void)state;
    static const double expected[6] = {0, 0, 0, 0, 0, 0};
    expect_floats("{'buffer':0,'byteLength':1}", "{'componentType':5126,'type':'VEC3','count':2}", "x", 1, expected, 6);
}

// ---- sparse

static void sparse_values_replace_elements(void **state)
{
    (void)state;
    static const struct {
        unsigned component;
        uint8_t indices[12];
        unsigned size;
    } rows[] = {{5121, {1, 3, 4}, 3}, {5123, {1, 0, 3, 0, 4, 0}, 6}, {5125, {1, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0}, 12}};
    for (size_t i = 0; i < 3; i++) {
        for (unsigned base = 0; base < 2; base++) {
            // Base: 5 VEC2 of u8, interleaved at 4. Values: tight.
            uint8_t bytes[64] = {10, 11, 99, 99, 20, 21, 99, 99, 30, 31, 99, 99, 40, 41, 99, 99, 50, 51, 99, 99};
            const uint8_t values[6] = {1, 2, 3, 4, 5, 6};
            memcpy(bytes + 20, values, 6);
            memcpy(bytes + 27, rows[i].indices, 12);
            char accessor[512];
            snprintf(accessor, sizeof accessor,
                     "{%s'componentType':5121,'type':'VEC2','count':5,'sparse':{'count':3,'indices':{'bufferView':1,"
                     "'byteOffset':2,'componentType':%u},'values':{'bufferView':2,'byteOffset':1}}}",
                     base ? "'bufferView':0," : "", rows[i].component);
            char views[512];
            snprintf(views, sizeof views,
                     "{'buffer':0,'byteLength':20,'byteStride':4},{'buffer':0,'byteOffset':25,'byteLength':%u},"
                     "{'buffer':0,'byteOffset':19,'byteLength':7}",
                     2 + rows[i].size);
            const double with_base[10] = {10, 11, 1, 2, 30, 31, 3, 4, 5, 6};
            const double without[10] = {0, 0, 1, 2, 0, 0, 3, 4, 5, 6};
            expect_floats(views, accessor, bytes, sizeof bytes, base ? with_base : without, 10);
        }
    }
}

static void sparse_applies_to_every_reader(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1, 2, 3, 4, 2, 77};
    peltt_document document;
    gltf_accessor accessor;
    pelt_error error;
    assert_int_equal(open_accessor("{'buffer':0,'byteLength':4},{'buffer':0,'byteOffset':4,'byteLength':1},"
                                   "{'buffer':0,'byteOffset':5,'byteLength':1}",
                                   "{'bufferView':0,'componentType':5121,'type':'SCALAR','count':4,'normalized':true,"
                                   "'sparse':{'count':1,'indices':{'bufferView':1,'componentType':5121},"
                                   "'values':{'bufferView':2}}}",
                                   bytes, sizeof bytes, &document, &accessor, &error),
                     PELT_OK);
    uint8_t raw[4];
    uint16_t narrow[4];
    uint32_t wide[4];
    float values[4];
    pelti_gltf_read_raw(&accessor, raw);
    pelti_gltf_read_u16(&accessor, narrow);
    pelti_gltf_read_u32(&accessor, wide);
    pelti_gltf_read_floats(&accessor, values);
    const uint8_t expected[4] = {1, 2, 77, 4};
    for (size_t i = 0; i < 4; i++) {
        assert_true(raw[i] == expected[i] && narrow[i] == expected[i] && wide[i] == expected[i]);
        assert_true(fabs((double)values[i] - expected[i] / 255.0) < 3e-8);
    }
    peltt_document_close(&document);
}

static void sparse_rules_are_kept(void **state)
{
    (void)state;
    // Bytes: u8 indices at 0: 5, 4; 4, 6; 2, 2; values from 8 on.
    static const uint8_t bytes[32] = {5, 4, 4, 6, 2, 2, 0, 5};
    static const struct {
        const char *sparse;
        const char *parts[2];
    } rows[] = {
        {"{'count':2,'indices':{'bufferView':0,'componentType':5121},'values':{'bufferView':1}}",
         {"increase", "entry 1 is 4 after 5"}},
        {"{'count':2,'indices':{'bufferView':0,'byteOffset':2,'componentType':5121},'values':{'bufferView':1}}",
         {"sparse index 6", "count 6"}},
        {"{'count':2,'indices':{'bufferView':0,'byteOffset':4,'componentType':5121},'values':{'bufferView':1}}",
         {"increase", "2 after 2"}},
        {"{'count':0,'indices':{'bufferView':0,'componentType':5121},'values':{'bufferView':1}}",
         {"sparse count is 0", ""}},
        {"{'count':7,'indices':{'bufferView':0,'componentType':5121},'values':{'bufferView':1}}",
         {"sparse count is 7", "count 6"}},
        {"{'count':4611686018427387904,'indices':{'bufferView':0,'componentType':5121},'values':{'bufferView':1}}",
         {"sparse count is 4611686018427387904", ""}},
        {"{'indices':{'bufferView':0,'componentType':5121},'values':{'bufferView':1}}", {"count is missing", ""}},
        {"{'count':1,'values':{'bufferView':1}}", {"sparse indices", "missing"}},
        {"{'count':1,'indices':{'bufferView':0,'componentType':5121}}", {"sparse values", "missing"}},
        {"{'count':1,'indices':{'componentType':5121},'values':{'bufferView':1}}", {"bufferView is missing", ""}},
        {"{'count':1,'indices':{'bufferView':9,'componentType':5121},'values':{'bufferView':1}}",
         {"bufferView is 9", ""}},
        {"{'count':1,'indices':{'bufferView':0},'values':{'bufferView':1}}", {"componentType is missing", ""}},
        {"{'count':1,'indices':{'bufferView':0,'componentType':5122},'values':{'bufferView':1}}",
         {"componentType 5122", "unsigned"}},
        {"{'count':1,'indices':{'bufferView':0,'componentType':5126},'values':{'bufferView':1}}",
         {"componentType 5126", "unsigned"}},
        {"{'count':3,'indices':{'bufferView':0,'componentType':5125},'values':{'bufferView':1}}",
         {"sparse indices needs 12 bytes", "has 8"}},
        {"{'count':1,'indices':{'bufferView':0,'byteOffset':8,'componentType':5121},'values':{'bufferView':1}}",
         {"sparse indices needs 9 bytes", "has 8"}},
        {"{'count':2,'indices':{'bufferView':0,'byteOffset':6,'componentType':5121},'values':{'bufferView':1,'"
         "byteOffset':1}}",
         {"sparse values needs 25 bytes", "has 24"}},
        {"{'count':2,'indices':{'bufferView':0,'byteOffset':6,'componentType':5121},'values':{'bufferView':2}}",
         {"sparse values", "byteStride of 16"}},
        {"[]", {"sparse is not an object", ""}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char accessor[512];
        snprintf(accessor, sizeof accessor, "{'componentType':5126,'type':'VEC3','count':6,'sparse':%s}",
                 rows[i].sparse);
        peltt_document document;
        gltf_accessor out;
        pelt_error error;
        open_accessor("{'buffer':0,'byteLength':8},{'buffer':0,'byteOffset':8,'byteLength':24},"
                      "{'buffer':0,'byteLength':32,'byteStride':16}",
                      accessor, bytes, sizeof bytes, &document, &out, &error);
        peltt_assert_error(&error, PELT_ERROR_INVALID, "accessor 0", "sparse", rows[i].parts[0], rows[i].parts[1]);
        peltt_document_close(&document);
    }
}

static void sparse_matrix_keeps_its_padding(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1, 7, 8, 99, 99, 9, 10};
    static const double expected[8] = {0, 0, 0, 0, 7, 8, 9, 10};
    expect_floats("{'buffer':0,'byteLength':1},{'buffer':0,'byteOffset':1,'byteLength':6}",
                  "{'componentType':5121,'type':'MAT2','count':2,'sparse':{'count':1,'indices':{'bufferView':0,"
                  "'componentType':5121},'values':{'bufferView':1}}}",
                  bytes, sizeof bytes, expected, 8);
}

// ---- bounds

static void bounds_are_converted_like_values(void **state)
{
    (void)state;
    static const uint8_t bytes[12] = {0};
    static const struct {
        const char *accessor;
        bool found;
        double min[2];
        double max[2];
    } rows[] = {
        {"{'componentType':5126,'type':'VEC2','count':1,'min':[-0.5,1],'max':[2,3e3]}", true, {-0.5, 1}, {2, 3000}},
        {"{'componentType':5120,'normalized':true,'type':'VEC2','count':1,'min':[-128,0],'max':[127,64]}",
         true,
         {-1, 0},
         {1, 64 / 127.0}},
        {"{'componentType':5123,'normalized':true,'type':'VEC2','count':1,'min':[0,1],'max':[65535,2]}",
         true,
         {0, 1 / 65535.0},
         {1, 2 / 65535.0}},
        {"{'componentType':5123,'type':'VEC2','count':1,'min':[0,1],'max':[65535,2]}", true, {0, 1}, {65535, 2}},
        {"{'componentType':5126,'type':'VEC2','count':1}", false, {0, 0}, {0, 0}},
        {"{'componentType':5126,'type':'VEC2','count':1,'min':[0,0]}", false, {0, 0}, {0, 0}},
        {"{'componentType':5126,'type':'VEC2','count':1,'min':[0],'max':[1]}", false, {0, 0}, {0, 0}},
        {"{'componentType':5126,'type':'VEC2','count':1,'min':[0,null],'max':[1,1]}", false, {0, 0}, {0, 0}},
        {"{'componentType':5126,'type':'VEC2','count':1,'min':[0,0],'max':[1,1e39]}", false, {0, 0}, {0, 0}},
        {"{'componentType':5126,'type':'VEC2','count':1,'min':0,'max':1}", false, {0, 0}, {0, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        peltt_document document;
        gltf_accessor accessor;
        pelt_error error;
        assert_int_equal(open_accessor("{'buffer':0,'byteLength':12}", rows[i].accessor, bytes, sizeof bytes, &document,
                                       &accessor, &error),
                         PELT_OK);
        float low[16];
        float high[16];
        bool found = !rows[i].found;
        assert_int_equal(pelti_gltf_accessor_bounds(document.gltf, &accessor, low, high, &found, &error), PELT_OK);
        assert_int_equal(found, rows[i].found);
        for (size_t k = 0; found && k < 2; k++) {
            assert_true(fabs((double)low[k] - rows[i].min[k]) <= 6e-8 * fabs(rows[i].min[k]));
            assert_true(fabs((double)high[k] - rows[i].max[k]) <= 6e-8 * fabs(rows[i].max[k]));
        }
        peltt_document_close(&document);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_component_type_reads_right),
        cmocka_unit_test(vectors_and_matrices_have_their_shape),
        cmocka_unit_test(narrow_matrix_columns_are_padded),
        cmocka_unit_test(integers_read_as_integers),
        cmocka_unit_test(last_element_needs_only_its_own_size),
        cmocka_unit_test(refusals_name_the_accessor),
        cmocka_unit_test(integers_may_be_written_as_decimals),
        cmocka_unit_test(missing_accessors_are_named),
        cmocka_unit_test(no_view_means_zeros),
        cmocka_unit_test(sparse_values_replace_elements),
        cmocka_unit_test(sparse_applies_to_every_reader),
        cmocka_unit_test(sparse_rules_are_kept),
        cmocka_unit_test(sparse_matrix_keeps_its_padding),
        cmocka_unit_test(bounds_are_converted_like_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

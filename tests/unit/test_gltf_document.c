// SPDX-License-Identifier: MIT
// The JSON and the extensions of a document: what opens, and how the rest is refused.
#include "gltf/gltf_internal.h"
#include "peltt_alloc.h"
#include "peltt_gltf.h"

#include <setjmp.h>

#include <cmocka.h>

#define ASSET "'asset':{'version':'2.0'}"

static pelt_result open_text(const char *json, const pelt_gltf_options *options, pelt_error *error)
{
    char *text = peltt_json(json);
    pelt_gltf *gltf = NULL;
    pelt_result result = pelt_gltf_open_memory(text, strlen(text), NULL, options, &gltf, error);
    assert_int_equal(result == PELT_OK, gltf != NULL);
    pelt_gltf_close(gltf);
    free(text);
    return result;
}

static void arguments_are_checked(void **state)
{
    (void)state;
    pelt_error error;
    pelt_gltf *gltf = NULL;
    assert_int_equal(pelt_gltf_open_memory(NULL, 3, NULL, NULL, &gltf, &error), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_gltf_open_memory("", 0, NULL, NULL, NULL, &error), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_gltf_open_file(NULL, NULL, &gltf, NULL), PELT_ERROR_ARGUMENT);
    pelt_gltf_close(NULL);
}

static void empty_file_is_named(void **state)
{
    (void)state;
    pelt_error error;
    pelt_gltf *gltf = NULL;
    assert_int_equal(pelt_gltf_open_memory(NULL, 0, NULL, NULL, &gltf, &error), PELT_ERROR_INVALID);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "empty", "JSON");
}

static void byte_order_mark_is_tolerated(void **state)
{
    (void)state;
    assert_int_equal(open_text("\xEF\xBB\xBF{" ASSET "}", NULL, NULL), PELT_OK);
}

static void broken_json_is_placed(void **state)
{
    (void)state;
    pelt_error error;
    open_text("{\n  " ASSET ",,}", NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "JSON", "line 2", "column", "byte offset");
    open_text("{" ASSET, NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "JSON", "ends early", "line 1", "offset 26");
    open_text("[]", NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "JSON", "object");
    open_text("{" ASSET ",'x':NaN}", NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "JSON");
    open_text("{" ASSET ",'x':-Infinity}", NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "JSON");
    open_text("{" ASSET ",'x':'\x1B[31m}", NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "JSON");
    assert_null(strchr(error.message, '\x1B'));
    open_text("{" ASSET "} {}", NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "JSON");
    open_text("\xEF\xBB\xBF", NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "JSON", "offset 3");
}

static void later_duplicate_key_wins(void **state)
{
    (void)state;
    assert_int_equal(open_text("{'asset':{'version':'1.0'}," ASSET "}", NULL, NULL), PELT_OK);
    pelt_error error;
    open_text("{" ASSET ",'asset':{'version':'1.0'}}", NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_UNSUPPORTED, "version", "1.0", "glTF 2.0");
}

static void integers_past_64_bits_are_legal_in_extras(void **state)
{
    (void)state;
    assert_int_equal(open_text("{" ASSET ",'extras':[18446744073709551615,-9223372036854775809,9223372036854775807,"
                               "'18446744073709551615 \\'',1e5,0.18446744073709551615,1e18]}",
                               NULL, NULL),
                     PELT_OK);
    // Twenty digits of an exponent are no integer; the values are 0, 0 and 0.125.
    assert_int_equal(open_text("{" ASSET ",'extras':[1e-99999999999999999999,0E+99999999999999999999,"
                               "1.25e-00000000000000000001]}",
                               NULL, NULL),
                     PELT_OK);
    peltt_document document;
    pelt_error error;
    assert_int_equal(peltt_document_open("{" ASSET ",'extras':[18446744073709551615,9223372036854775807,-5]}", NULL, 0,
                                         NULL, &document, &error),
                     PELT_OK);
    const json_t *extras = json_object_get(document.gltf->root, "extras");
    assert_true(json_number_value(json_array_get(extras, 0)) / 18446744073709551616.0 - 1.0 < 1e-12);
    assert_true(json_number_value(json_array_get(extras, 0)) / 18446744073709551616.0 - 1.0 > -1e-12);
    assert_true(json_integer_value(json_array_get(extras, 1)) == INT64_MAX);
    assert_true(json_integer_value(json_array_get(extras, 2)) == -5);
    peltt_document_close(&document);
    open_text("{" ASSET ",'buffers':[{'byteLength':18446744073709551616}]}", NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "buffer 0", "byteLength");
    open_text("{" ASSET ",'extras':1e999}", NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "JSON");
}

static void nul_in_a_name_is_legal(void **state)
{
    (void)state;
    assert_int_equal(open_text("{" ASSET ",'nodes':[{'name':'a\\u0000b'}]}", NULL, NULL), PELT_OK);
}

static void nesting_is_limited(void **state)
{
    (void)state;
    static char text[8192];
    pelt_error error;
    for (uint32_t depth = 255; depth <= 257; depth++) {
        size_t used = (size_t)snprintf(text, sizeof text, "{" ASSET ",'extras':");
        memset(text + used, '[', depth - 1);
        memset(text + used + depth - 1, ']', depth - 1);
        snprintf(text + used + 2 * (size_t)(depth - 1), 2, "}");
        pelt_result result = open_text(text, NULL, &error);
        assert_int_equal(result, depth <= 256 ? PELT_OK : PELT_ERROR_LIMIT);
    }
    peltt_assert_error(&error, PELT_ERROR_LIMIT, "257", "256", "--max-json-depth");
    pelt_gltf_options options = {.limits = {.json_depth = 257}};
    assert_int_equal(open_text(text, &options, NULL), PELT_OK);
    // Brackets in strings do not nest.
    options.limits.json_depth = 2;
    assert_int_equal(open_text("{" ASSET ",'extras':'[[[[\\'[[[['}", &options, NULL), PELT_OK);
}

static void nesting_beyond_the_parser_is_a_limit(void **state)
{
    (void)state;
    size_t depth = 100000;
    char *text = malloc(2 * depth + 64);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, 64, "{" ASSET ",'extras':");
    memset(text + used, '[', depth);
    memset(text + used + depth, ']', depth);
    memcpy(text + used + 2 * depth, "}", 2);
    pelt_error error;
    pelt_gltf_options options = {.limits = {.json_depth = UINT32_MAX}};
    open_text(text, &options, &error);
    peltt_assert_error(&error, PELT_ERROR_LIMIT, "2047", "--max-json-depth");
    // The root object and 2,046 arrays are the deepest that can be read.
    memset(text + used + 2046, ']', 2046);
    memcpy(text + used + 2 * 2046, "}", 2);
    open_text(text, &options, &error);
    assert_int_equal(error.code, PELT_OK);
    free(text);
}

static void sizes_are_limited(void **state)
{
    (void)state;
    pelt_error error;
    pelt_gltf_options options = {.limits = {.file_size = 20}};
    open_text("{" ASSET "}", &options, &error);
    peltt_assert_error(&error, PELT_ERROR_LIMIT, "27 bytes", "limit of 20", "--max-file-size");
    options = (pelt_gltf_options){.limits = {.memory = 3000}};
    assert_int_equal(open_text("{" ASSET ",'extras':[]}", &options, NULL), PELT_OK);
    open_text("{" ASSET ",'extras':[{},{},{},{},{},{},{},{},{},{}]}", &options, &error);
    peltt_assert_error(&error, PELT_ERROR_LIMIT, "JSON", "limit of 3000", "--max-memory");
}

static void versions_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        pelt_result code;
        const char *part;
    } rows[] = {
        {"{}", PELT_ERROR_INVALID, "asset.version"},
        {"{'asset':[]}", PELT_ERROR_INVALID, "asset"},
        {"{'asset':{}}", PELT_ERROR_INVALID, "version"},
        {"{'asset':{'version':2.0}}", PELT_ERROR_INVALID, "version is 2, not a string"},
        {"{'asset':{'version':'2'}}", PELT_ERROR_INVALID, "version"},
        {"{'asset':{'version':'2.0 '}}", PELT_ERROR_INVALID, "version"},
        {"{'asset':{'version':'3.0'}}", PELT_ERROR_UNSUPPORTED, "3.0"},
        {"{'asset':{'version':'2.1'}}", PELT_OK, ""},
        {"{'asset':{'version':'2.1','minVersion':'2.0'}}", PELT_OK, ""},
        {"{'asset':{'version':'2.1','minVersion':'2.1'}}", PELT_ERROR_UNSUPPORTED, "minVersion"},
        {"{'asset':{'version':'2.0','minVersion':'x'}}", PELT_ERROR_INVALID, "minVersion"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pelt_error error;
        assert_int_equal(open_text(rows[i].json, NULL, &error), rows[i].code);
        peltt_assert_error(&error, rows[i].code, rows[i].part);
    }
}

static void required_extensions_are_judged(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        pelt_result code;
        const char *hint;
    } rows[] = {
        {"KHR_mesh_quantization", PELT_OK, ""},
        {"EXT_meshopt_compression", PELT_OK, ""},
        {"KHR_meshopt_compression", PELT_OK, ""},
        {"KHR_materials_unlit", PELT_OK, ""},
        {"KHR_materials_variants", PELT_OK, ""},
        {"KHR_texture_basisu", PELT_OK, ""},
        {"EXT_texture_webp", PELT_OK, ""},
        {"EXT_texture_avif", PELT_OK, ""},
        {"KHR_xmp_json_ld", PELT_OK, ""},
        {"KHR_lights_punctual", PELT_OK, ""},
        {"KHR_texture_transform", PELT_OK, ""},
        {"KHR_draco_mesh_compression", PELT_ERROR_UNSUPPORTED, "gltf-transform copy"},
        {"EXT_mesh_gpu_instancing", PELT_ERROR_UNSUPPORTED, "gltf-transform uninstance"},
        {"KHR_animation_pointer", PELT_ERROR_UNSUPPORTED, "pointer"},
        {"KHR_materials_", PELT_ERROR_UNSUPPORTED, "export"},
        {"XYZ_unheard_of", PELT_ERROR_UNSUPPORTED, "export"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char json[256];
        pelt_error error;
        snprintf(json, sizeof json, "{" ASSET ",'extensionsUsed':['%s'],'extensionsRequired':['%s']}", rows[i].name,
                 rows[i].name);
        open_text(json, NULL, &error);
        if (rows[i].code) {
            peltt_assert_error(&error, rows[i].code, rows[i].name, "extensionsRequired", rows[i].hint);
        } else {
            assert_int_equal(error.code, PELT_OK);
        }
        // Used without being required: silent.
        peltt_log log;
        pelt_gltf_options options = {.log = peltt_log_make(&log)};
        snprintf(json, sizeof json, "{" ASSET ",'extensionsUsed':['%s']}", rows[i].name);
        assert_int_equal(open_text(json, &options, NULL), PELT_OK);
        assert_int_equal(log.count, 0);
    }
    pelt_error error;
    open_text("{" ASSET ",'extensionsUsed':[1]}", NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "extensionsUsed", "string");
    open_text("{" ASSET ",'extensionsRequired':{}}", NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "extensionsRequired", "array");
}

static void extensions_are_listed_in_order(void **state)
{
    (void)state;
    peltt_document document;
    assert_int_equal(peltt_document_open("{" ASSET ",'extensionsUsed':['B','KHR_materials_ior','B'],"
                                         "'extensionsRequired':['KHR_mesh_quantization','KHR_materials_ior'],"
                                         "'materials':[{},{'name':'skin'}]}",
                                         NULL, 0, NULL, &document, NULL),
                     PELT_OK);
    const pelt_gltf *gltf = document.gltf;
    assert_int_equal(pelt_gltf_extension_count(gltf), 3);
    assert_string_equal(pelt_gltf_extension_name(gltf, 0), "B");
    assert_string_equal(pelt_gltf_extension_name(gltf, 1), "KHR_materials_ior");
    assert_string_equal(pelt_gltf_extension_name(gltf, 2), "KHR_mesh_quantization");
    assert_string_equal(pelt_gltf_extension_name(gltf, 3), "");
    assert_false(pelt_gltf_extension_required(gltf, 0));
    assert_true(pelt_gltf_extension_required(gltf, 1));
    assert_true(pelt_gltf_extension_required(gltf, 2));
    assert_string_equal(pelt_gltf_material_name(gltf, 0), "");
    assert_string_equal(pelt_gltf_material_name(gltf, 1), "skin");
    assert_string_equal(pelt_gltf_material_name(gltf, 2), "");
    assert_string_equal(pelt_gltf_material_name(gltf, PELT_NONE), "");
    assert_true(pelt_gltf_source_size(gltf) == document.file.size);
    peltt_document_close(&document);
}

static void instanced_nodes_warn(void **state)
{
    (void)state;
    peltt_log log;
    pelt_gltf_options options = {.log = peltt_log_make(&log)};
    assert_int_equal(open_text("{" ASSET ",'extensionsUsed':['EXT_mesh_gpu_instancing'],'nodes':[{},"
                               "{'extensions':{'EXT_mesh_gpu_instancing':{}}}]}",
                               &options, NULL),
                     PELT_OK);
    assert_int_equal(log.count, 1);
    assert_non_null(strstr(log.text, "node 1"));
    assert_non_null(strstr(log.text, "one copy"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(empty_file_is_named),
        cmocka_unit_test(byte_order_mark_is_tolerated),
        cmocka_unit_test(broken_json_is_placed),
        cmocka_unit_test(later_duplicate_key_wins),
        cmocka_unit_test(integers_past_64_bits_are_legal_in_extras),
        cmocka_unit_test(nul_in_a_name_is_legal),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(nesting_beyond_the_parser_is_a_limit),
        cmocka_unit_test(sizes_are_limited),
        cmocka_unit_test(versions_are_checked),
        cmocka_unit_test(required_extensions_are_judged),
        cmocka_unit_test(extensions_are_listed_in_order),
        cmocka_unit_test(instanced_nodes_warn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Typed access to JSON properties: what is taken, and how a refusal names object, key and value.
#include "gltf/gltf_internal.h"
#include "peltt_gltf.h"

#include <setjmp.h>

#include <cmocka.h>

static json_t *parse(const char *text)
{
    char *json = peltt_json(text);
    json_t *value = json_loads(json, 0, NULL);
    assert_non_null(value);
    free(json);
    return value;
}

static void integers_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        uint64_t expected; // UINT64_MAX: refused
        const char *part;
    } rows[] = {
        {"{'k':6}", 6, ""},
        {"{'k':6.0}", 6, ""},
        {"{'k':6e0}", 6, ""},
        {"{'k':-0.0}", 0, ""},
        {"{'k':1000}", 1000, ""},
        {"{'k':1001}", UINT64_MAX, "1001, over 1000"},
        {"{'k':1001.0}", UINT64_MAX, "1001, over 1000"},
        {"{'k':6.5}", UINT64_MAX, "k is 6.5, not an integer"},
        {"{'k':1e300}", UINT64_MAX, "k is 1e+300"},
        {"{'k':1.8446744073709552e19}", UINT64_MAX, "k is 1.8446744073709552e+19"},
        {"{'k':-1}", UINT64_MAX, "k is -1"},
        {"{'k':-1.0}", UINT64_MAX, "k is -1"},
        {"{'k':true}", UINT64_MAX, "k is true"},
        {"{'k':null}", UINT64_MAX, "k is null"},
        {"{'k':[1]}", UINT64_MAX, "k is an array of 1"},
        {"{'k':{}}", UINT64_MAX, "k is an object"},
        {"{'k':'6'}", UINT64_MAX, "k is a string"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *object = parse(rows[i].json);
        uint64_t value = 77;
        pelt_error error;
        pelt_result result = pelti_gltf_uint(object, "k", "/nodes/3", true, 1000, &value, &error);
        if (rows[i].expected == UINT64_MAX) {
            assert_int_equal(result, PELT_ERROR_INVALID);
            assert_true(value == 77);
            peltt_assert_error(&error, PELT_ERROR_INVALID, "node 3", "/nodes/3/k", rows[i].part);
        } else {
            assert_int_equal(result, PELT_OK);
            assert_true(value == rows[i].expected);
        }
        json_decref(object);
    }
}

static void absent_integers_keep_the_default(void **state)
{
    (void)state;
    json_t *object = parse("{}");
    uint64_t value = 5;
    pelt_error error;
    assert_int_equal(pelti_gltf_uint(object, "k", "", false, 1000, &value, &error), PELT_OK);
    assert_true(value == 5);
    assert_int_equal(pelti_gltf_uint(object, "k", "/skins/1", true, 1000, &value, &error), PELT_ERROR_INVALID);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "skin 1: k is missing");
    json_decref(object);
}

static void indices_stay_below_their_count(void **state)
{
    (void)state;
    json_t *object = parse("{'a':4,'b':5,'c':4294967295,'d':18446744073709551615.0,'e':-1,'f':1.5}");
    uint32_t index = 0;
    pelt_error error;
    assert_int_equal(pelti_gltf_index(object, "a", "/nodes/0", true, 5, "mesh", &index, &error), PELT_OK);
    assert_true(index == 4);
    static const char *const keys[][2] = {{"b", "b is 5, but the file has 5 meshes"},
                                          {"c", "4294967295"},
                                          {"d", "1.8446744073709552e+19"},
                                          {"e", "-1"},
                                          {"f", "1.5"}};
    for (size_t i = 0; i < 5; i++) {
        pelti_gltf_index(object, keys[i][0], "/nodes/0", true, 5, "mesh", &index, &error);
        peltt_assert_error(&error, PELT_ERROR_INVALID, "node 0", keys[i][1]);
    }
    assert_int_equal(pelti_gltf_index(object, "absent", "/nodes/0", false, 5, "mesh", &index, &error), PELT_OK);
    assert_true(index == PELT_NONE);
    pelti_gltf_index(object, "absent", "/nodes/0", true, 5, "mesh", &index, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "absent is missing");
    json_decref(object);
}

static void float_arrays_have_their_length(void **state)
{
    (void)state;
    json_t *object = parse("{'a':[1,-2.5,3e2],'b':[1,2],'c':[1,2,'3'],'d':[1,2,1e39],'e':5,'f':[1,2,3,4]}");
    float values[3] = {9, 9, 9};
    bool found = false;
    pelt_error error;
    assert_int_equal(pelti_gltf_floats(object, "a", "/nodes/0", 3, values, &found, &error), PELT_OK);
    assert_true(found && values[0] == 1.0f && values[1] == -2.5f && values[2] == 300.0f);
    static const char *const rows[][2] = {{"b", "b has 2 numbers, not 3"},
                                          {"c", "c[2] is a string"},
                                          {"d", "d[2] is 1e+39, not a finite float"},
                                          {"e", "e is 5"},
                                          {"f", "4 numbers"}};
    for (size_t i = 0; i < 5; i++) {
        pelti_gltf_floats(object, rows[i][0], "/nodes/0", 3, values, &found, &error);
        peltt_assert_error(&error, PELT_ERROR_INVALID, "node 0", rows[i][1]);
        assert_false(found);
    }
    assert_int_equal(pelti_gltf_floats(object, "absent", "/nodes/0", 3, values, &found, &error), PELT_OK);
    assert_false(found);
    json_decref(object);
}

static void texts_and_flags_are_checked(void **state)
{
    (void)state;
    json_t *object = parse("{'t':'text','n':1,'yes':true,'no':false}");
    const char *text = "before";
    bool flag = false;
    pelt_error error;
    assert_int_equal(pelti_gltf_text(object, "t", "", &text, &error), PELT_OK);
    assert_string_equal(text, "text");
    assert_int_equal(pelti_gltf_text(object, "absent", "", &text, &error), PELT_OK);
    assert_null(text);
    pelti_gltf_text(object, "n", "", &text, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "n is 1, not a string");
    assert_int_equal(pelti_gltf_bool(object, "yes", "", &flag, &error), PELT_OK);
    assert_true(flag);
    assert_int_equal(pelti_gltf_bool(object, "absent", "", &flag, &error), PELT_OK);
    assert_true(flag);
    assert_int_equal(pelti_gltf_bool(object, "no", "", &flag, &error), PELT_OK);
    assert_false(flag);
    pelti_gltf_bool(object, "t", "/skins/0", &flag, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "skin 0: t is a string, not true or false");
    json_decref(object);
}

static void places_become_words(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"/meshes/0/primitives/2/attributes", "mesh 0, primitive 2, attributes"},
        {"/animations/1/channels/0/target", "animation 1, channel 0, target"},
        {"/bufferViews/7/extensions/EXT_meshopt_compression", "bufferView 7, EXT_meshopt_compression"},
        {"/accessors/3", "accessor 3"},
        {"/nodes/2/children/5", "node 2, children 5"},
        {"/asset", "asset"},
        {"", "glTF"},
        {"byte 12", "glTF"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_string_equal(pelti_gltf_subject(rows[i][0]).text, rows[i][1]);
    }
    // Long places are cut, not overrun.
    char longest[400];
    for (size_t i = 0; i + 4 < sizeof longest; i += 4) {
        memcpy(longest + i, "/s/1", 5);
    }
    gltf_path subject = pelti_gltf_subject(longest);
    assert_true(strlen(subject.text) < sizeof subject.text);
}

static void quotes_are_safe_to_print(void **state)
{
    (void)state;
    assert_string_equal(pelti_gltf_quote("a\x1B[31m\n\x7F").text, "a?[31m??");
    assert_string_equal(pelti_gltf_quote("\xC3\xA4").text, "\xC3\xA4");
    for (size_t length = 150; length < 170; length++) {
        char text[256];
        for (size_t i = 0; i + 2 <= sizeof text; i += 2) {
            memcpy(text + i, "\xC3\xA4", 2);
        }
        text[length / 2 * 2] = '\0';
        gltf_quote quote = pelti_gltf_quote(text);
        size_t kept = strlen(quote.text);
        bool cut = length / 2 * 2 > 159;
        assert_int_equal(cut, kept >= 3 && strcmp(quote.text + kept - 3, "...") == 0);
        assert_true(cut ? (kept - 3) % 2 == 0 : kept == length / 2 * 2);
    }
}

static void pointers_escape_keys(void **state)
{
    (void)state;
    json_t *object = parse("{'a/b~c':'x'}");
    uint64_t value = 0;
    pelt_error error;
    pelti_gltf_uint(object, "a/b~c", "/nodes/0", true, 9, &value, &error);
    assert_string_equal(error.where, "/nodes/0/a~1b~0c");
    json_decref(object);
}

static void arrays_hold_objects(void **state)
{
    (void)state;
    peltt_document document;
    pelt_error error;
    assert_int_equal(peltt_document_open("{'asset':{'version':'2.0'},'nodes':[{},{'name':'b'}],'skins':[{},7],"
                                         "'meshes':{}}",
                                         NULL, 0, NULL, &document, &error),
                     PELT_OK);
    json_t *array = NULL;
    json_t *item = NULL;
    uint32_t count = 9;
    assert_int_equal(pelti_gltf_array(document.gltf, "nodes", &array, &count, &error), PELT_OK);
    assert_true(array && count == 2);
    assert_int_equal(pelti_gltf_array(document.gltf, "cameras", &array, &count, &error), PELT_OK);
    assert_true(!array && count == 0);
    pelti_gltf_array(document.gltf, "skins", &array, &count, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "skin 1: is 7, not an object", "/skins/1");
    pelti_gltf_array(document.gltf, "meshes", &array, &count, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "meshes is an object, not an array", "/meshes");
    assert_int_equal(pelti_gltf_item(document.gltf, "nodes", 1, &item, &error), PELT_OK);
    assert_string_equal(json_string_value(json_object_get(item, "name")), "b");
    pelti_gltf_item(document.gltf, "nodes", 2, &item, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "node 2", "nodes has 2 entries");
    pelti_gltf_item(document.gltf, "nodes", PELT_NONE, &item, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "node 4294967295");
    peltt_document_close(&document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(absent_integers_keep_the_default),
        cmocka_unit_test(indices_stay_below_their_count),
        cmocka_unit_test(float_arrays_have_their_length),
        cmocka_unit_test(texts_and_flags_are_checked),
        cmocka_unit_test(places_become_words),
        cmocka_unit_test(quotes_are_safe_to_print),
        cmocka_unit_test(pointers_escape_keys),
        cmocka_unit_test(arrays_hold_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

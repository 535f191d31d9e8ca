// SPDX-License-Identifier: MIT
// Long data URIs of buffers, which go around the JSON parser: the result has to be that of the plain way.
#include "gltf/gltf_internal.h"
#include "peltt_alloc.h"
#include "peltt_gltf.h"

#include <setjmp.h>

#include <cmocka.h>

#define ASSET "'asset':{'version':'2.0'}"

enum {
    LONG_SIZE = 5000
};

static uint8_t byte_at(unsigned seed, size_t i)
{
    return (uint8_t)((i * 31 + seed * 7) >> 1);
}

static char *long_uri(unsigned seed)
{
    uint8_t bytes[LONG_SIZE];
    for (size_t i = 0; i < LONG_SIZE; i++) {
        bytes[i] = byte_at(seed, i);
    }
    return peltt_data_uri(bytes, LONG_SIZE);
}

// Replaces %0, %1 and %2 by long URIs of that seed, and ' by ".
static char *expand(const char *json)
{
    peltt_bytes text = {0};
    for (const char *at = json; *at != '\0'; at++) {
        if (*at == '%') {
            at++;
            char *uri = long_uri((unsigned)(*at - '0'));
            peltt_bytes_append(&text, uri, strlen(uri));
            free(uri);
        } else {
            peltt_bytes_append(&text, *at == '\'' ? "\"" : at, 1);
        }
    }
    peltt_bytes_append(&text, "", 1);
    return (char *)text.data;
}

static pelt_gltf *open_expanded(const char *json, char **out_text, const pelt_gltf_options *options, pelt_error *error)
{
    *out_text = expand(json);
    pelt_gltf *gltf = NULL;
    pelt_gltf_open_memory(*out_text, strlen(*out_text), NULL, options, &gltf, error);
    return gltf;
}

static void expect_buffer(const pelt_gltf *gltf, uint32_t index, unsigned seed)
{
    assert_true(gltf->buffers[index].size == LONG_SIZE);
    for (size_t i = 0; i < LONG_SIZE; i++) {
        assert_int_equal(gltf->buffers[index].data[i], byte_at(seed, i));
    }
}

static void long_uris_are_decoded_in_place(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        uint32_t embedded;
    } rows[] = {
        {"{" ASSET ",'buffers':[{'byteLength':5000,'uri':'%0'},{'uri':'%1','byteLength':5000}]}", 2},
        {"{'buffers' :\n[ {'uri'\t: '%0' , 'byteLength':5000}\r, {'uri':\n'%1','byteLength':5000} ] , " ASSET "}", 2},
        // Elsewhere they stay what they were.
        {"{" ASSET ",'extras':{'buffers':[{'uri':'%2'}]},'images':[{'uri':'%2'}],'buffers':[{'byteLength':5000,"
         "'extras':{'uri':'%2'},'uri':'%0'},{'uri':'%1','byteLength':5000}]}",
         2},
        // Later keys win.
        {"{" ASSET ",'buffers':[{'uri':'%2','byteLength':5000}],'buffers':[{'byteLength':5000,'uri':'%2','uri':'%0'},"
         "{'uri':'%1','byteLength':5000}]}",
         4},
        // Quotes, escapes and brackets around.
        {"{" ASSET ",'a\\\\':'\\\\','b\\'[{':'}]\\'','buffers':[{'name':'\\\\\\'uri\\':','byteLength':5000,'uri':'%0'},"
         "{'uri':'%1','byteLength':5000}]}",
         2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = NULL;
        pelt_error error;
        pelt_gltf *gltf = open_expanded(rows[i].json, &text, NULL, &error);
        assert_non_null(gltf);
        assert_int_equal(gltf->embedded_count, rows[i].embedded);
        assert_int_equal(gltf->buffer_count, 2);
        expect_buffer(gltf, 0, 0);
        expect_buffer(gltf, 1, 1);
        const char *image =
            json_string_value(json_object_get(json_array_get(json_object_get(gltf->root, "images"), 0), "uri"));
        assert_true(!image || strlen(image) > LONG_SIZE);
        pelt_gltf_close(gltf);
        free(text);
    }
}

static void escaped_uris_take_the_plain_way(void **state)
{
    (void)state;
    char *text = expand("{" ASSET ",'buffers':[{'byteLength':5000,'uri':'%0'}]}");
    // "data:application\/octet-stream" is the same text in JSON.
    peltt_bytes escaped = {0};
    const char *slash = strchr(text, '/');
    assert_non_null(slash);
    peltt_bytes_append(&escaped, text, (size_t)(slash - text));
    peltt_bytes_append(&escaped, "\\", 1);
    peltt_bytes_append(&escaped, slash, strlen(slash));
    pelt_gltf *gltf = NULL;
    assert_int_equal(pelt_gltf_open_memory(escaped.data, escaped.size, NULL, NULL, &gltf, NULL), PELT_OK);
    assert_int_equal(gltf->embedded_count, 0);
    expect_buffer(gltf, 0, 0);
    pelt_gltf_close(gltf);
    peltt_bytes_free(&escaped);
    free(text);
}

static void refusals_are_those_of_the_plain_way(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *parts[3];
    } rows[] = {
        {"{" ASSET ",'buffers':[{'byteLength':5001,'uri':'%0'}]}", {"buffer 0", "byteLength is 5001", "5000 bytes"}},
        {"{" ASSET ",'buffers':[{'byteLength':5000,'uri':'%0!'}]}", {"buffer 0", "base64", "/buffers/0/uri"}},
        {"{" ASSET ",'buffers':[{'byteLength':5000,'uri':'%0','x':,}]}", {"JSON", "line 1", "offset 6776"}},
        {"{" ASSET ",'buffers':[{'byteLength':5000,'uri':'%0", {"JSON", "", ""}},
        {"{" ASSET ",'buffers':[{'byteLength':5000,'uri':'%0\n'}]}", {"JSON", "", ""}},
        {"{" ASSET ",'buffers':[{'byteLength':5000,'uri':'%0'},{'byteLength':5000,'uri':'data:@7'}]}",
         {"buffer 1", "comma", ""}},
        {"{" ASSET ",'buffers':[{'byteLength':5000,'uri':'data:@0'}]}", {"buffer 0", "comma", ""}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = NULL;
        pelt_error error;
        assert_null(open_expanded(rows[i].json, &text, NULL, &error));
        peltt_assert_error(&error, PELT_ERROR_INVALID, rows[i].parts[0], rows[i].parts[1], rows[i].parts[2]);
        free(text);
    }
}

static void truncation_and_failed_allocations_are_clean(void **state)
{
    (void)state;
    char *text = expand("{" ASSET ",'buffers':[{'byteLength':5000,'uri':'%0'}]}");
    size_t size = strlen(text);
    for (size_t kept = 0; kept<size; kept += kept> 70 && kept < size - 20 ? 97 : 1) {
        uint8_t *copy = malloc(kept > 0 ? kept : 1);
        assert_non_null(copy);
        memcpy(copy, text, kept);
        pelt_gltf *gltf = NULL;
        assert_int_equal(pelt_gltf_open_memory(copy, kept, NULL, NULL, &gltf, NULL), PELT_ERROR_INVALID);
        free(copy);
    }
    pelt_result result = PELT_ERROR_MEMORY;
    for (uint64_t n = 1; result == PELT_ERROR_MEMORY; n++) {
        peltt_alloc allocations = {.fail_at = n};
        pelt_gltf_options options = {.allocator = peltt_alloc_make(&allocations)};
        pelt_gltf *gltf = NULL;
        result = pelt_gltf_open_memory(text, size, NULL, &options, &gltf, NULL);
        pelt_gltf_close(gltf);
        assert_true(allocations.live_blocks == 0);
        assert_true(n < 50);
    }
    assert_int_equal(result, PELT_OK);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_uris_are_decoded_in_place),
        cmocka_unit_test(escaped_uris_take_the_plain_way),
        cmocka_unit_test(refusals_are_those_of_the_plain_way),
        cmocka_unit_test(truncation_and_failed_allocations_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

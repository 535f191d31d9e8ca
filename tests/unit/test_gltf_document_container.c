// SPDX-License-Identifier: MIT
// The container of a document: headers, chunks and padding, and files that are cut, changed or short of memory.
#include "gltf/gltf_internal.h"
#include "peltt_alloc.h"
#include "peltt_gltf.h"

#include <setjmp.h>

#include <cmocka.h>

#define ASSET "'asset':{'version':'2.0'}"

static const char whole_json[] = "{" ASSET ",'buffers':[{'byteLength':8},{'byteLength':3,'uri':'data:,abc'}],"
                                 "'bufferViews':[{'buffer':0,'byteLength':8},{'buffer':1,'byteLength':3}],"
                                 "'accessors':[{'bufferView':0,'componentType':5121,'type':'VEC4','count':2},"
                                 "{'bufferView':1,'componentType':5121,'type':'SCALAR','count':3,'sparse':{'count':1,"
                                 "'indices':{'bufferView':1,'componentType':5121},'values':{'bufferView':1}}}]}";
static const uint8_t eight[8] = {1, 2, 3, 4, 5, 6, 7, 8};

static pelt_result open_bytes(const peltt_bytes *file, const pelt_gltf_options *options, pelt_error *error)
{
    // A copy of the exact size, so that a sanitizer sees reads past the end.
    uint8_t *copy = malloc(file->size > 0 ? file->size : 1);
    assert_non_null(copy);
    if (file->size > 0) {
        memcpy(copy, file->data, file->size);
    }
    pelt_gltf *gltf = NULL;
    pelt_result result = pelt_gltf_open_memory(copy, file->size, NULL, options, &gltf, error);
    for (uint32_t i = 0; gltf && i < json_array_size(json_object_get(gltf->root, "accessors")); i++) {
        gltf_accessor accessor;
        pelt_error ignored;
        if (!pelti_gltf_accessor(gltf, i, &accessor, &ignored) && accessor.count <= 64) {
            float values[64 * 16];
            pelti_gltf_read_floats(&accessor, values);
        }
    }
    pelt_gltf_close(gltf);
    free(copy);
    return result;
}

static void short_header_is_refused(void **state)
{
    (void)state;
    peltt_bytes glb = peltt_glb("{" ASSET "}", NULL, 0);
    for (size_t size = 1; size < 12; size++) {
        pelt_error error;
        peltt_bytes part = {glb.data, size};
        open_bytes(&part, NULL, &error);
        peltt_assert_error(&error, PELT_ERROR_INVALID, "header", "GLB");
    }
    peltt_bytes_free(&glb);
}

static void header_version_and_length_are_checked(void **state)
{
    (void)state;
    pelt_error error;
    peltt_bytes glb = peltt_glb("{" ASSET "}", NULL, 0);
    glb.data[4] = 1;
    open_bytes(&glb, NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_UNSUPPORTED, "version 1");
    glb.data[4] = 2;
    glb.data[9] += 0x10;
    open_bytes(&glb, NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "length is 4", "bytes");
    glb.data[8] = 19;
    glb.data[9] = 0;
    open_bytes(&glb, NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "length is 19", "JSON chunk");
    peltt_bytes_free(&glb);
}

static void bytes_after_the_end_warn(void **state)
{
    (void)state;
    peltt_log log;
    pelt_gltf_options options = {.log = peltt_log_make(&log)};
    peltt_bytes glb = peltt_glb("{" ASSET "}", NULL, 0);
    peltt_bytes_append(&glb, "trailing", 8);
    assert_int_equal(open_bytes(&glb, &options, NULL), PELT_OK);
    assert_int_equal(log.count, 1);
    assert_non_null(strstr(log.text, "8 bytes after"));
    peltt_bytes_free(&glb);
}

// Builds a GLB from chunks given as (type, size, data) with no padding added.
static peltt_bytes glb_of(const char *const *data, const uint32_t *types, const size_t *sizes, size_t count)
{
    peltt_bytes file = {0};
    size_t total = 12;
    for (size_t i = 0; i < count; i++) {
        total += 8 + sizes[i];
    }
    peltt_bytes_append(&file, "glTF", 4);
    peltt_bytes_append_u32(&file, 2);
    peltt_bytes_append_u32(&file, (uint32_t)total);
    for (size_t i = 0; i < count; i++) {
        peltt_bytes_append_u32(&file, (uint32_t)sizes[i]);
        peltt_bytes_append_u32(&file, types[i]);
        peltt_bytes_append(&file, data[i], sizes[i]);
    }
    return file;
}

enum {
    TYPE_JSON = 0x4E4F534A,
    TYPE_BIN = 0x004E4942,
    TYPE_OTHER = 0x21212121
};

static void chunk_rules_are_kept(void **state)
{
    (void)state;
    char *json = peltt_json("{" ASSET ",'buffers':[{'byteLength':4}]}   ");
    size_t json_size = strlen(json) / 4 * 4;
    pelt_error error;
    peltt_log log;
    pelt_gltf_options options = {.log = peltt_log_make(&log)};

    // The first BIN chunk counts, wherever it stands; unknown and further chunks are passed over.
    peltt_bytes glb = glb_of((const char *[]){json, "????", "data", "more", json},
                             (const uint32_t[]){TYPE_JSON, TYPE_OTHER, TYPE_BIN, TYPE_BIN, TYPE_JSON},
                             (const size_t[]){json_size, 4, 4, 4, json_size}, 5);
    pelt_gltf *gltf = NULL;
    assert_int_equal(pelt_gltf_open_memory(glb.data, glb.size, NULL, &options, &gltf, &error), PELT_OK);
    assert_memory_equal(gltf->buffers[0].data, "data", 4);
    assert_int_equal(log.count, 0);
    pelt_gltf_close(gltf);
    // A chunk that says it is longer than what is left.
    memset(glb.data + 12 + 8 + json_size, 0xFF, 4);
    open_bytes(&glb, NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "chunk 1", "length is 4294967295");
    peltt_bytes_free(&glb);

    glb = glb_of((const char *[]){"data", json}, (const uint32_t[]){TYPE_BIN, TYPE_JSON},
                 (const size_t[]){4, json_size}, 2);
    open_bytes(&glb, NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "JSON", "chunk");
    peltt_bytes_free(&glb);

    glb = glb_of((const char *[]){json}, (const uint32_t[]){TYPE_JSON}, (const size_t[]){json_size}, 1);
    glb.data[8] = (uint8_t)(glb.data[8] + 4);
    peltt_bytes_append(&glb, "stub", 4);
    open_bytes(&glb, NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "chunk 1", "8 bytes");
    peltt_bytes_free(&glb);
    free(json);
}

static void odd_chunk_lengths_warn(void **state)
{
    (void)state;
    char *json = peltt_json("{" ASSET ",'buffers':[{'byteLength':3}]} ");
    size_t size = strlen(json);
    assert_int_not_equal(size % 4, 0);
    peltt_log log;
    pelt_gltf_options options = {.log = peltt_log_make(&log)};
    // The next chunk right behind.
    peltt_bytes glb =
        glb_of((const char *[]){json, "abc"}, (const uint32_t[]){TYPE_JSON, TYPE_BIN}, (const size_t[]){size, 3}, 2);
    assert_int_equal(open_bytes(&glb, &options, NULL), PELT_OK);
    assert_non_null(strstr(log.text, "not a multiple of 4"));
    peltt_bytes_free(&glb);
    // The next chunk at the next multiple of 4, which the length does not count.
    peltt_bytes file = {0};
    size_t gap = 4 - size % 4;
    peltt_bytes_append(&file, "glTF", 4);
    peltt_bytes_append_u32(&file, 2);
    peltt_bytes_append_u32(&file, (uint32_t)(12 + 8 + size + gap + 8 + 4));
    peltt_bytes_append_u32(&file, (uint32_t)size);
    peltt_bytes_append_u32(&file, TYPE_JSON);
    peltt_bytes_append(&file, json, size);
    peltt_bytes_append(&file, "   ", gap);
    peltt_bytes_append_u32(&file, 3);
    peltt_bytes_append_u32(&file, TYPE_BIN);
    peltt_bytes_append(&file, "abc\0", 4);
    options.log = peltt_log_make(&log);
    assert_int_equal(open_bytes(&file, &options, NULL), PELT_OK);
    assert_int_equal(log.count, 2);
    peltt_bytes_free(&file);
    free(json);
}

static void zero_padding_of_json_is_tolerated(void **state)
{
    (void)state;
    char *json = peltt_json("{" ASSET "}");
    peltt_bytes text = {0};
    peltt_bytes_append(&text, json, strlen(json));
    peltt_bytes_append(&text, "\0\0\0\0", 4);
    peltt_log log;
    pelt_gltf_options options = {.log = peltt_log_make(&log)};
    peltt_bytes glb = glb_of((const char *[]){(const char *)text.data}, (const uint32_t[]){TYPE_JSON},
                             (const size_t[]){text.size}, 1);
    assert_int_equal(open_bytes(&glb, &options, NULL), PELT_OK);
    assert_non_null(strstr(log.text, "zeros"));
    peltt_bytes_free(&glb);
    peltt_bytes_free(&text);
    free(json);
}

static void truncation_is_refused_at_every_length(void **state)
{
    (void)state;
    peltt_bytes glb = peltt_glb(whole_json, eight, sizeof eight);
    assert_int_equal(open_bytes(&glb, NULL, NULL), PELT_OK);
    for (size_t size = 0; size < glb.size; size++) {
        peltt_bytes part = {glb.data, size};
        assert_int_equal(open_bytes(&part, NULL, NULL), PELT_ERROR_INVALID);
    }
    // The chunk lengths are right here, the JSON itself is cut.
    size_t json_size = strlen(whole_json);
    char *text = peltt_json(whole_json);
    for (size_t size = 0; size < json_size; size++) {
        peltt_bytes part = {(uint8_t *)text, size};
        assert_int_equal(open_bytes(&part, NULL, NULL), PELT_ERROR_INVALID);
    }
    free(text);
    peltt_bytes_free(&glb);
}

static void flipped_bytes_never_crash(void **state)
{
    (void)state;
    static const uint8_t masks[3] = {0x01, 0x80, 0xFF};
    peltt_bytes glb = peltt_glb(whole_json, eight, sizeof eight);
    for (size_t i = 0; i < glb.size; i++) {
        for (size_t k = 0; k < 3; k++) {
            pelt_error error;
            glb.data[i] ^= masks[k];
            pelt_result result = open_bytes(&glb, NULL, &error);
            assert_int_equal(error.code, result);
            assert_true(result == PELT_OK || error.message[0] != '\0');
            glb.data[i] ^= masks[k];
        }
    }
    peltt_bytes_free(&glb);
}

static void every_failed_allocation_is_clean(void **state)
{
    (void)state;
    peltt_bytes glb = peltt_glb(whole_json, eight, sizeof eight);
    pelt_result result = PELT_ERROR_MEMORY;
    for (uint64_t n = 1; result == PELT_ERROR_MEMORY; n++) {
        peltt_alloc allocations = {.fail_at = n};
        pelt_gltf_options options = {.allocator = peltt_alloc_make(&allocations)};
        pelt_error error;
        pelt_gltf *gltf = NULL;
        result = pelt_gltf_open_memory(glb.data, glb.size, "/", &options, &gltf, &error);
        assert_int_equal(error.code, result);
        assert_int_equal(gltf != NULL, result == PELT_OK);
        pelt_gltf_close(gltf);
        assert_true(allocations.live_blocks == 0);
        assert_true(n < 100);
        assert_true(result == PELT_OK || result == PELT_ERROR_MEMORY);
    }
    peltt_bytes_free(&glb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_header_is_refused),
        cmocka_unit_test(header_version_and_length_are_checked),
        cmocka_unit_test(bytes_after_the_end_warn),
        cmocka_unit_test(chunk_rules_are_kept),
        cmocka_unit_test(odd_chunk_lengths_warn),
        cmocka_unit_test(zero_padding_of_json_is_tolerated),
        cmocka_unit_test(truncation_is_refused_at_every_length),
        cmocka_unit_test(flipped_bytes_never_crash),
        cmocka_unit_test(every_failed_allocation_is_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// A source is imported and posed once; its output is kept in memory.
#include "peltt_parsed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

char *peltt_format(const char *format, ...)
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

peltt_parsed peltt_parsed_open(char *json, const peltt_blob *bin, const char *folder)
{
    peltt_parsed b = {.source = peltt_blob_glb(json, bin), .warnings = calloc(1, sizeof *b.warnings)};
    free(json);
    assert_non_null(b.warnings);
    pelt_gltf_options options = {.log = peltt_log_make(b.warnings)};
    b.posed = peltt_posed_open(&b.source, folder, &options);
    *b.warnings = (peltt_log){0};
    return b;
}

void peltt_parsed_write(peltt_parsed *b, pelt_gltf_space space)
{
    pelt_error error = {0};
    pelt_result result = peltt_posed_write(&b->posed, space, &b->output, &error);
    if (result != PELT_OK) {
        fail_msg("%s: %s: %s", pelt_result_name(result), error.where, error.message);
    }
    b->json = peltt_blob_json(&b->output, &b->bin, &b->bin_size);
}

void peltt_parsed_close(peltt_parsed *b)
{
    json_decref(b->json);
    peltt_posed_close(&b->posed);
    free(b->warnings);
    peltt_blob_free(&b->output);
    peltt_blob_free(&b->source);
}

json_t *peltt_json_item(json_t *json, const char *first, size_t index)
{
    return json_array_get(json_object_get(json, first), index);
}

json_t *peltt_parsed_primitive(const peltt_parsed *b, size_t mesh)
{
    return peltt_json_item(peltt_json_item(b->json, "meshes", mesh), "primitives", 0);
}

json_t *peltt_parsed_accessor(const peltt_parsed *b, const json_t *index)
{
    return json_is_integer(index) ? peltt_json_item(b->json, "accessors", (size_t)json_integer_value(index)) : NULL;
}

json_t *peltt_parsed_attribute(const peltt_parsed *b, const char *name)
{
    return peltt_parsed_accessor(b, json_object_get(json_object_get(peltt_parsed_primitive(b, 0), "attributes"), name));
}

int64_t peltt_json_number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

const uint8_t *peltt_parsed_bytes(const peltt_parsed *b, const json_t *accessor)
{
    return b->bin +
           peltt_json_number(peltt_json_item(b->json, "bufferViews", (size_t)peltt_json_number(accessor, "bufferView")),
                             "byteOffset");
}

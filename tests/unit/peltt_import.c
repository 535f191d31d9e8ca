// SPDX-License-Identifier: MIT
// Small GLB files assembled in memory, imported, with what the import logged.
#include "peltt_import.h"

#include "peltt_alloc.h"
#include "peltt_gltf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(char *text, size_t capacity, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t capacity, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(text + used, capacity - used, format, arguments);
    va_end(arguments);
    assert_true(written >= 0 && (size_t)written < capacity - used);
}

unsigned peltt_file_view(peltt_file *file, const void *data, size_t size, unsigned stride)
{
    unsigned index = 0;
    for (const char *at = file->views; (at = strchr(at, '{')) != NULL; at++) {
        index++;
    }
    assert_true(file->size + size + 4 <= sizeof file->bytes);
    memcpy(file->bytes + file->size, data, size);
    append(file->views, sizeof file->views, "%s{'buffer':0,'byteOffset':%zu,'byteLength':%zu", index ? "," : "",
           file->size, size);
    if (stride > 0) {
        append(file->views, sizeof file->views, ",'byteStride':%u", stride);
    }
    append(file->views, sizeof file->views, "}");
    file->size = (file->size + size + 3) / 4 * 4;
    return index;
}

unsigned peltt_file_accessor(peltt_file *file, const char *json)
{
    append(file->accessors, sizeof file->accessors, "%s%s", file->accessor_count ? "," : "", json);
    return file->accessor_count++;
}

unsigned peltt_file_add(peltt_file *file, const char *type, pelt_component component, unsigned count, const void *data,
                        const char *extra)
{
    size_t component_count = strcmp(type, "SCALAR") == 0 ? 1 : strcmp(type, "MAT4") == 0 ? 16 : (size_t)(type[3] - '0');
    char view[64] = "";
    if (data) {
        snprintf(view, sizeof view, ",'bufferView':%u",
                 peltt_file_view(file, data, pelt_component_size(component) * component_count * count, 0));
    }
    char json[512];
    snprintf(json, sizeof json, "{'componentType':%d,'type':'%s','count':%u%s%s}", (int)component, type, count, view,
             extra);
    return peltt_file_accessor(file, json);
}

static void write_log(void *user, pelt_log_level level, const pelt_error *message)
{
    peltt_import *import = user;
    assert_int_equal(level, PELT_LOG_WARNING);
    append(import->log, sizeof import->log, "%s\n", message->message);
    import->log_count++;
}

static peltt_bytes make_glb(const peltt_file *file, const char *json)
{
    size_t capacity = strlen(json) + 20000;
    char *text = calloc(1, capacity);
    assert_non_null(text);
    append(text, capacity, "{'asset':{'version':'2.0'}");
    if (file->size > 0) {
        append(text, capacity, ",'buffers':[{'byteLength':%zu}],'bufferViews':[%s]", file->size, file->views);
    }
    if (file->accessor_count > 0) {
        append(text, capacity, ",'accessors':[%s]", file->accessors);
    }
    append(text, capacity, "%s%s}", json[0] ? "," : "", json);
    peltt_bytes glb = peltt_glb(text, file->size > 0 ? file->bytes : NULL, file->size);
    free(text);
    return glb;
}

void peltt_import_run(peltt_import *import, const peltt_file *file, const pelt_gltf_options *options, const char *json)
{
    memset(import, 0, sizeof *import);
    pelt_gltf_options used = {0};
    if (options) {
        used = *options;
    }
    used.log = (pelt_log){.write = write_log, .user = import};
    peltt_bytes glb = make_glb(file, json);
    pelt_gltf *gltf = NULL;
    import->result = pelt_gltf_open_memory(glb.data, glb.size, NULL, &used, &gltf, &import->error);
    if (import->result == PELT_OK) {
        import->result = pelt_gltf_import(gltf, &import->asset, &import->error);
    }
    pelt_gltf_close(gltf);
    peltt_bytes_free(&glb);
    assert_int_equal(import->error.code, import->result);
    if (import->result == PELT_OK) {
        assert_non_null(import->asset);
        import->data = pelt_asset_get(import->asset);
    } else {
        assert_null(import->asset);
    }
}

void peltt_import_end(peltt_import *import)
{
    pelt_asset_destroy(import->asset);
    import->asset = NULL;
}

void peltt_import_expect(const peltt_file *file, const pelt_gltf_options *options, const peltt_verdict *verdicts,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        peltt_import import;
        peltt_import_run(&import, file, options, verdicts[i].json);
        const char *text = import.result == PELT_OK ? import.log : import.error.message;
        if (import.result != verdicts[i].result) {
            fail_msg("%s: %s, expected %s: %s", verdicts[i].json, pelt_result_name(import.result),
                     pelt_result_name(verdicts[i].result), text);
        }
        for (size_t j = 0; j < sizeof verdicts[i].parts / sizeof verdicts[i].parts[0]; j++) {
            if (verdicts[i].parts[j] && !strstr(text, verdicts[i].parts[j])) {
                fail_msg("%s: no \"%s\" in \"%s\"", verdicts[i].json, verdicts[i].parts[j], text);
            }
        }
        if (import.result == PELT_OK && !verdicts[i].parts[0] && import.log_count > 0) {
            fail_msg("%s: logged \"%s\"", verdicts[i].json, import.log);
        }
        peltt_import_end(&import);
    }
}

void peltt_import_fail_each_allocation(const peltt_file *file, const pelt_gltf_options *options, const char *json)
{
    for (uint64_t n = 1;; n++) {
        peltt_alloc state = {.fail_at = n};
        pelt_gltf_options used = {0};
        if (options) {
            used = *options;
        }
        used.allocator = peltt_alloc_make(&state);
        peltt_import import;
        peltt_import_run(&import, file, &used, json);
        bool done = import.result == PELT_OK;
        if (!done) {
            assert_int_equal(import.result, PELT_ERROR_MEMORY);
            assert_true(state.call_count >= n);
        }
        peltt_import_end(&import);
        assert_int_equal(state.live_blocks, 0);
        if (done) {
            assert_true(state.call_count < n);
            assert_true(n > 1);
            return;
        }
    }
}

// SPDX-License-Identifier: MIT
// Puts small glTF files together in memory.
#include "peltt_gltf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void peltt_bytes_append(peltt_bytes *bytes, const void *data, size_t size)
{
    if (size == 0) {
        return;
    }
    bytes->data = realloc(bytes->data, bytes->size + size);
    assert_non_null(bytes->data);
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

void peltt_bytes_append_u32(peltt_bytes *bytes, uint32_t value)
{
    const uint8_t parts[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
    peltt_bytes_append(bytes, parts, sizeof parts);
}

void peltt_bytes_free(peltt_bytes *bytes)
{
    free(bytes->data);
    *bytes = (peltt_bytes){0};
}

char *peltt_json(const char *text)
{
    size_t size = strlen(text) + 1;
    char *json = malloc(size);
    assert_non_null(json);
    for (size_t i = 0; i < size; i++) {
        json[i] = text[i] == '\'' ? '"' : text[i];
    }
    return json;
}

static void append_chunk(peltt_bytes *out, uint32_t type, const void *data, size_t size, uint8_t padding)
{
    size_t padded = (size + 3) / 4 * 4;
    peltt_bytes_append_u32(out, (uint32_t)padded);
    peltt_bytes_append_u32(out, type);
    peltt_bytes_append(out, data, size);
    for (size_t i = size; i < padded; i++) {
        peltt_bytes_append(out, &padding, 1);
    }
}

peltt_bytes peltt_glb(const char *json, const void *bin, size_t bin_size)
{
    peltt_bytes body = {0};
    char *text = peltt_json(json);
    append_chunk(&body, 0x4E4F534A, text, strlen(text), ' ');
    if (bin) {
        append_chunk(&body, 0x004E4942, bin, bin_size, 0);
    }
    peltt_bytes file = {0};
    peltt_bytes_append(&file, "glTF", 4);
    peltt_bytes_append_u32(&file, 2);
    peltt_bytes_append_u32(&file, (uint32_t)(12 + body.size));
    peltt_bytes_append(&file, body.data, body.size);
    peltt_bytes_free(&body);
    free(text);
    return file;
}

char *peltt_data_uri(const void *data, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char head[] = "data:application/octet-stream;base64,";
    const uint8_t *bytes = data;
    char *uri = malloc(sizeof head + (size + 2) / 3 * 4);
    assert_non_null(uri);
    size_t used = sizeof head - 1;
    memcpy(uri, head, used);
    for (size_t i = 0; i < size; i += 3) {
        uint32_t group = (uint32_t)bytes[i] << 16;
        group |= i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0;
        group |= i + 2 < size ? (uint32_t)bytes[i + 2] : 0;
        uri[used++] = letters[group >> 18];
        uri[used++] = letters[group >> 12 & 63];
        uri[used++] = i + 1 < size ? letters[group >> 6 & 63] : '=';
        uri[used++] = i + 2 < size ? letters[group & 63] : '=';
    }
    uri[used] = '\0';
    return uri;
}

static void write_log(void *user, pelt_log_level level, const pelt_error *message)
{
    peltt_log *log = user;
    size_t used = strlen(log->text);
    assert_int_equal(level, PELT_LOG_WARNING);
    snprintf(log->text + used, sizeof log->text - used, "%s: %s\n", message->where, message->message);
    log->count++;
}

pelt_log peltt_log_make(peltt_log *log)
{
    *log = (peltt_log){0};
    return (pelt_log){write_log, log};
}

pelt_result peltt_document_open(const char *json, const void *bin, size_t bin_size, const pelt_gltf_options *options,
                                peltt_document *out, pelt_error *error)
{
    *out = (peltt_document){.file = peltt_glb(json, bin, bin_size)};
    return pelt_gltf_open_memory(out->file.data, out->file.size, NULL, options, &out->gltf, error);
}

void peltt_document_close(peltt_document *document)
{
    pelt_gltf_close(document->gltf);
    peltt_bytes_free(&document->file);
    document->gltf = NULL;
}

void peltt_require_error(const pelt_error *error, pelt_result code, const char *const *parts, const char *file,
                         int line)
{
    bool fine = error->code == code;
    for (size_t i = 0; parts[i]; i++) {
        fine = fine &&
               (strstr(error->message, parts[i]) || strstr(error->hint, parts[i]) || strstr(error->where, parts[i]));
    }
    if (!fine) {
        print_error("%s: %s (%s; %s), expected %s with", pelt_result_name(error->code), error->message, error->where,
                    error->hint, pelt_result_name(code));
        for (size_t i = 0; parts[i]; i++) {
            print_error(" \"%s\"", parts[i]);
        }
        print_error("\n");
        _fail(file, line);
    }
}

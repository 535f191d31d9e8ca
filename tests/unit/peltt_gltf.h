// SPDX-License-Identifier: MIT
// Small glTF files made in memory: JSON is written with ' for ", bytes come as an array.
#ifndef PELTT_GLTF_H
#define PELTT_GLTF_H

#include <pelt/gltf.h>

// A growable block of bytes; {0} is empty.
typedef struct peltt_bytes {
    uint8_t *data;
    size_t size;
} peltt_bytes;
void peltt_bytes_append(peltt_bytes *bytes, const void *data, size_t size);
void peltt_bytes_append_u32(peltt_bytes *bytes, uint32_t value); // little endian
void peltt_bytes_free(peltt_bytes *bytes);

// The text with every ' replaced by "; release with free.
char *peltt_json(const char *text);
// A GLB of a JSON chunk and, unless bin is NULL, a BIN chunk of bin_size bytes, both padded to 4.
peltt_bytes peltt_glb(const char *json, const void *bin, size_t bin_size);
// "data:application/octet-stream;base64,..."; release with free.
char *peltt_data_uri(const void *data, size_t size);

// Warnings, one a line, as "where: message". The text is cut where it does not fit.
typedef struct peltt_log {
    uint32_t count;
    char text[8192];
} peltt_log;
pelt_log peltt_log_make(peltt_log *log);

// A document with the bytes that it borrows.
typedef struct peltt_document {
    pelt_gltf *gltf;
    peltt_bytes file;
} peltt_document;
// peltt_glb, then pelt_gltf_open_memory without a folder. Close it even when it failed.
pelt_result peltt_document_open(const char *json, const void *bin, size_t bin_size, const pelt_gltf_options *options,
                                peltt_document *out, pelt_error *error);
void peltt_document_close(peltt_document *document);

// Fails the test unless error has the code and its texts contain every part (a NULL-ended list).
void peltt_require_error(const pelt_error *error, pelt_result code, const char *const *parts, const char *file,
                         int line);
#define peltt_assert_error(error, code, ...)                                                                           \
    peltt_require_error(error, code, (const char *const[]){__VA_ARGS__, NULL}, __FILE__, __LINE__)

#endif

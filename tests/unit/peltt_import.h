// SPDX-License-Identifier: MIT
// Small GLB files assembled in memory, imported, with what the import logged.
#ifndef PELTT_IMPORT_H
#define PELTT_IMPORT_H

#include <pelt/gltf.h>

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

// Accessors with their bytes. Each has a buffer view of its own, aligned to 4.
typedef struct peltt_file {
    unsigned char bytes[8192];
    size_t size;
    char views[8192];
    char accessors[8192];
    unsigned accessor_count;
} peltt_file;

// Adds an accessor and returns its index. data NULL: no buffer view. extra: more JSON properties in single quotes, such
// as ",'normalized':true"; "" if none. Matrices are 16 floats.
unsigned peltt_file_add(peltt_file *file, const char *type, pelt_component component, unsigned count, const void *data,
                        const char *extra);
// Adds a view alone and returns its index. stride: its byteStride, 0 = none.
unsigned peltt_file_view(peltt_file *file, const void *data, size_t size, unsigned stride);
// Adds an accessor whose JSON is given whole, in single quotes.
unsigned peltt_file_accessor(peltt_file *file, const char *json);

typedef struct peltt_import {
    pelt_result result;
    pelt_asset *asset;
    const pelt_asset_data *data; // NULL unless result is PELT_OK
    pelt_error error;
    char log[8192]; // messages, one a line
    unsigned log_count;
} peltt_import;

// Imports the file with these other top-level properties (single quotes stand for double ones), options may be NULL.
// Release with peltt_import_end.
void peltt_import_run(peltt_import *import, const peltt_file *file, const pelt_gltf_options *options, const char *json);
void peltt_import_end(peltt_import *import);

// One file and what must come of it: parts of the error message, or of the log where the result is PELT_OK.
typedef struct peltt_verdict {
    const char *json;
    pelt_result result;
    const char *parts[6];
} peltt_verdict;
// Fails the test, naming the JSON, where the verdict differs.
void peltt_import_expect(const peltt_file *file, const pelt_gltf_options *options, const peltt_verdict *verdicts,
                         size_t count);

// Imports with the n-th allocation failing for every n: MEMORY and no leak each time, until n is past the last one.
void peltt_import_fail_each_allocation(const peltt_file *file, const pelt_gltf_options *options, const char *json);

#endif

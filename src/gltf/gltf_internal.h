// SPDX-License-Identifier: MIT
// Inside the glTF module: the parsed document, checked access to its JSON, buffers, views and accessors.
// document.c opens and owns; json.c reads properties; buffer.c and uri.c bring bytes; accessor.c decodes;
// import_*.c build the asset; write_*.c make the posed file.
#ifndef PELTI_GLTF_INTERNAL_H
#define PELTI_GLTF_INTERNAL_H

#include "base/base.h"

#include <pelt/builder.h>
#include <pelt/gltf.h>

#include <jansson.h>

// Bytes of one buffer or one decompressed buffer view.
typedef struct gltf_bytes {
    const uint8_t *data;
    uint64_t size;
    enum {
        GLTF_BYTES_BORROWED,
        GLTF_BYTES_ALLOCATED,
        GLTF_BYTES_MAPPED
    } owner;
} gltf_bytes;

struct pelt_gltf {
    pelt_gltf_options options; // limits resolved: none is 0
    char *folder;              // where relative URIs start, or NULL
    gltf_bytes file;           // the whole file
    gltf_bytes bin;            // the BIN chunk; data NULL if none
    json_t *root;
    uint32_t buffer_count;
    gltf_bytes *buffers; // exactly byteLength bytes each, or more
    uint32_t view_count;
    gltf_bytes *decoded_views; // of compressed views, made on first use; data NULL otherwise
    uint64_t memory_used;      // allocated for buffers and decoded views, held against limits.memory
    uint64_t source_size;
};

// A JSON pointer made by printf, by value: pelti_gltf_path("/nodes/%u", i).text
typedef struct gltf_path {
    char text[192];
} gltf_path;
gltf_path pelti_gltf_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

// ---- json.c: properties with their checks. where = JSON pointer of the object; messages name the key and what is
// there.

// Top-level array, or NULL (absent). INVALID where it is not an array of objects or is over UINT32_MAX - 1 long.
pelt_result pelti_gltf_array(const pelt_gltf *gltf, const char *key, json_t **out_array, uint32_t *out_count,
                             pelt_error *error);
// The i-th object of a top-level array; INVALID (naming key and index) where it does not exist.
pelt_result pelti_gltf_item(const pelt_gltf *gltf, const char *key, uint32_t index, json_t **out_object,
                            pelt_error *error);
// A non-negative integer (6, 6.0 and 6e0 alike) up to max. Absent: *out keeps what the caller put there, unless
// required.
pelt_result pelti_gltf_uint(const json_t *object, const char *key, const char *where, bool required, uint64_t max,
                            uint64_t *out, pelt_error *error);
// The same from a JSON value; name says what it is in messages.
pelt_result pelti_gltf_uint_value(const json_t *value, const char *name, const char *where, uint64_t max, uint64_t *out,
                                  pelt_error *error);
// An index below count into what `of` names ("node", "accessor"); absent gives PELT_NONE unless required.
pelt_result pelti_gltf_index(const json_t *object, const char *key, const char *where, bool required, uint32_t count,
                             const char *of, uint32_t *out, pelt_error *error);
// Exactly count finite numbers; absent: *found = false and out untouched.
pelt_result pelti_gltf_floats(const json_t *object, const char *key, const char *where, uint32_t count, float *out,
                              bool *found, pelt_error *error);
pelt_result pelti_gltf_bool(const json_t *object, const char *key, const char *where, bool *out, pelt_error *error);
// Absent: *out = NULL. Lives as long as the document.
pelt_result pelti_gltf_text(const json_t *object, const char *key, const char *where, const char **out,
                            pelt_error *error);
// object.extensions[name] as an object, or NULL.
json_t *pelti_gltf_extension(const json_t *object, const char *name);

// ---- uri.c

// Reads what a URI names: a data URI (base64 or percent-encoded) or a file at or below the document's folder
// (percent-decoded; no absolute path, scheme, "..", drive, backslash or link that leaves it unless
// options.allow_outside). what: "buffer 0", for messages. media_type (may be NULL, 64 bytes) receives a data URI's type
// or "". Errors: IO, INVALID, LIMIT, MEMORY.
pelt_result pelti_gltf_read_uri(pelt_gltf *gltf, const char *uri, const char *what, const char *where, gltf_bytes *out,
                                char *media_type, pelt_error *error);
void pelti_gltf_release_bytes(pelt_gltf *gltf, gltf_bytes *bytes);
// Maps or reads a whole file. Errors: IO, LIMIT, MEMORY.
pelt_result pelti_gltf_read_file(const pelt_gltf_options *options, const char *path, gltf_bytes *out,
                                 pelt_error *error);

// ---- buffer.c

typedef struct gltf_view {
    const uint8_t *data;
    uint64_t size;
    uint32_t stride; // byteStride, 0 = none
} gltf_view;
// Checked against the buffer; decompressed where EXT_meshopt_compression or KHR_meshopt_compression says so.
pelt_result pelti_gltf_view(pelt_gltf *gltf, uint32_t index, gltf_view *out, pelt_error *error);

// ---- accessor.c

typedef struct gltf_accessor {
    uint32_t index;
    pelt_component component;
    uint32_t component_size;  // bytes
    uint32_t rows;            // components of a column
    uint32_t columns;         // 1, or those of a matrix
    uint32_t component_count; // rows * columns
    uint32_t column_stride;   // bytes from one column to the next: padded to 4 for matrices
    bool normalized;
    uint64_t count;
    const uint8_t *data; // NULL = zeros; every element lies inside the view
    uint64_t stride;     // bytes from one element to the next
    uint64_t sparse_count;
    pelt_component sparse_component;
    const uint8_t *sparse_indices; // tight; strictly increasing and below count, checked
    const uint8_t *sparse_values;  // tight (matrix columns padded)
} gltf_accessor;

// Checks everything about an accessor, sparse indices included; count is at least 1 and at most UINT32_MAX.
pelt_result pelti_gltf_accessor(pelt_gltf *gltf, uint32_t index, gltf_accessor *out, pelt_error *error);
// count x component_count floats, normalised integers converted as the specification says (c / 127, at least -1, ...).
void pelti_gltf_read_floats(const gltf_accessor *accessor, float *out);
// count x component_count unsigned integers; component must be an unsigned one.
void pelti_gltf_read_u32(const gltf_accessor *accessor, uint32_t *out);
void pelti_gltf_read_u16(const gltf_accessor *accessor, uint16_t *out); // U8 and U16 only
// count tight elements in the file's own component type, sparse applied; size: component_count * component_size each.
void pelti_gltf_read_raw(const gltf_accessor *accessor, void *out);
// accessor.min and max as given, converted like the values; *found = false where absent or malformed.
pelt_result pelti_gltf_accessor_bounds(pelt_gltf *gltf, const gltf_accessor *accessor, float *out_min, float *out_max,
                                       bool *found, pelt_error *error);

// ---- import_*.c: each fills its part of the scene; called by import.c in this order.

typedef struct gltf_import {
    pelt_gltf *gltf;
    pelt_builder *builder;
    pelt_builder_scene scene;
    uint32_t *mesh_joint_limit; // per mesh: lowest joint count of the skins it is used with, 0 = none
} gltf_import;

pelt_result pelti_gltf_import_nodes(gltf_import *import, pelt_error *error);
pelt_result pelti_gltf_import_skins(gltf_import *import, pelt_error *error);
pelt_result pelti_gltf_import_meshes(gltf_import *import, pelt_error *error);
pelt_result pelti_gltf_import_clips(gltf_import *import, pelt_error *error);

#endif

// SPDX-License-Identifier: MIT
// Inside the glTF module: the parsed document, checked access to its JSON, buffers, views and accessors.
// document.c opens and owns; container.c cuts a GLB; parse.c makes the JSON tree and json.c reads its properties;
// embedded.c spares the parser long data URIs;
// from_asset.c makes a document of an asset;
// extensions.c judges extensionsRequired; file.c, uri.c, base64.c, buffer.c and meshopt.c bring bytes; accessor.c and
// accessor_read.c decode; import_*.c build the asset; write_*.c make the posed file.
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
    uint64_t capacity; // what was allocated or mapped, and is given back
    enum {
        GLTF_BYTES_BORROWED,
        GLTF_BYTES_ALLOCATED,
        GLTF_BYTES_MAPPED
    } owner;
} gltf_bytes;

// Characters of the file or of its JSON; no NUL behind them.
typedef struct gltf_text {
    const char *text;
    uint64_t length;
} gltf_text;

struct pelt_gltf {
    pelt_gltf_options options; // limits resolved: none is 0
    char *folder;              // where relative URIs start, or NULL
    gltf_bytes file;           // the whole file
    gltf_bytes bin;            // the BIN chunk; data NULL if none
    json_t *root; // buffers[i].uri may be a mark for one of embedded: read it through pelti_gltf_embedded_uri
    uint32_t embedded_count;
    gltf_text *embedded;         // long data URIs of buffers, which the parser never saw
    json_t *extension_names;     // array of strings: extensionsUsed, then those only in extensionsRequired
    json_t *required_extensions; // object whose keys are extensionsRequired
    uint32_t buffer_count;
    uint32_t buffer_capacity;
    gltf_bytes *buffers; // exactly byteLength bytes each; data NULL for a meshopt fallback buffer
    uint32_t view_count;
    gltf_bytes *decoded_views; // of compressed views, made on first use; data NULL otherwise; NULL before the first
    uint64_t memory_used;      // allocated for buffers and decoded views, held against limits.memory
    uint64_t source_size;
    bool from_asset; // made by pelt_gltf_open_asset: there is nothing to import
};

// A JSON pointer made by printf, by value: pelti_gltf_path("/nodes/%u", i).text
typedef struct gltf_path {
    char text[192];
} gltf_path;
gltf_path pelti_gltf_path(const char *format, ...) __attribute__((format(printf, 1, 2)));
// The same place in words: "/meshes/0/primitives/2/attributes" is "mesh 0, primitive 2, attributes".
gltf_path pelti_gltf_subject(const char *where);

// Text of the file made fit for a message: control characters replaced, cut to 159 bytes: pelti_gltf_quote(uri).text
typedef struct gltf_quote {
    char text[160];
} gltf_quote;
gltf_quote pelti_gltf_quote(const char *text);

// ---- document.c

// The options with every limit that is 0 replaced by its default; options may be NULL.
pelt_gltf_options pelti_gltf_resolve_options(const pelt_gltf_options *options);

// ---- container.c

// Finds the JSON text and gltf->bin in gltf->file, GLB or plain.
pelt_result pelti_gltf_container(pelt_gltf *gltf, gltf_bytes *out_json, pelt_error *error);

// ---- parse.c

// Parses json, which lies in gltf->file, into gltf->root and checks its nesting and asset.version.
pelt_result pelti_gltf_parse(pelt_gltf *gltf, const gltf_bytes *json, pelt_error *error);

// ---- embedded.c

// Offset of the quote that ends the JSON string whose first character is at start; size where there is none.
uint64_t pelti_gltf_string_end(const uint8_t *text, uint64_t size, uint64_t start);
// Takes long data URIs out of JSON text, into gltf->embedded; *out is text itself where there are none. Errors: MEMORY.
pelt_result pelti_gltf_shorten_text(pelt_gltf *gltf, const uint8_t *text, uint64_t size, gltf_bytes *out,
                                    pelt_error *error);
// The whole text of a buffer's uri.
gltf_text pelti_gltf_embedded_uri(const pelt_gltf *gltf, const char *uri);

// ---- extensions.c

// Collects extension names; UNSUPPORTED where a required one is unknown. Warns of those that posing passes over.
pelt_result pelti_gltf_check_extensions(pelt_gltf *gltf, pelt_error *error);
bool pelti_gltf_uses_extension(const pelt_gltf *gltf, const char *name);
// What the user can do about an extension that is not supported; static storage.
const char *pelti_gltf_extension_remedy(const char *name);

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
// The same for a text that begins with "data:".
pelt_result pelti_gltf_read_data_uri(pelt_gltf *gltf, gltf_text uri, const char *what, const char *where,
                                     gltf_bytes *out, char *media_type, pelt_error *error);
bool pelti_gltf_is_data_uri(const char *uri);
void pelti_gltf_release_bytes(pelt_gltf *gltf, gltf_bytes *bytes);

// ---- file.c

// Maps or reads a whole regular file. subject begins messages ("buffer 0: uri \"a.bin\"" or "the file"). Errors: IO,
// LIMIT, MEMORY.
pelt_result pelti_gltf_read_file(const pelt_gltf_options *options, const char *path, const char *subject,
                                 const char *where, gltf_bytes *out, pelt_error *error);
// Gives back bytes that no document counts.
void pelti_gltf_release_file(const pelt_allocator *allocator, gltf_bytes *bytes);

// ---- base64.c

// Bytes that a base64 text of that length can hold at most.
uint64_t pelti_gltf_base64_bound(uint64_t length);
// Decodes text (padding optional, nothing but the alphabet and at most two "="). False, with the offset of the first
// bad character in *out_size, where it is not base64.
bool pelti_gltf_base64_decode(const char *text, uint64_t length, uint8_t *out, uint64_t *out_size);

// ---- buffer.c

// Reads every buffer; called once, by open.
pelt_result pelti_gltf_load_buffers(pelt_gltf *gltf, pelt_error *error);
// Allocates out->size bytes that count against limits.memory. subject begins messages. Errors: LIMIT, MEMORY.
pelt_result pelti_gltf_allocate_bytes(pelt_gltf *gltf, uint64_t size, const char *subject, const char *where,
                                      gltf_bytes *out, pelt_error *error);

typedef struct gltf_view {
    const uint8_t *data;
    uint64_t size;
    uint32_t stride; // byteStride, 0 = none
} gltf_view;
// Checked against the buffer; decompressed where EXT_meshopt_compression or KHR_meshopt_compression says so.
pelt_result pelti_gltf_view(pelt_gltf *gltf, uint32_t index, gltf_view *out, pelt_error *error);
// byteOffset and byteLength of object (a buffer view, or its meshopt extension) inside buffer; checked against size.
typedef struct gltf_range {
    uint32_t buffer;
    uint64_t offset;
    uint64_t size;
} gltf_range;
pelt_result pelti_gltf_range(const pelt_gltf *gltf, const json_t *object, const char *where, gltf_range *out,
                             pelt_error *error);

// ---- meshopt.c

// The meshopt extension of a buffer view, and its name; NULL if none.
json_t *pelti_gltf_meshopt(const json_t *view, const char **out_name);
// True for a buffer marked as a fallback, which no one has to read.
bool pelti_gltf_meshopt_fallback(const json_t *buffer);
// Decompresses view index into gltf->decoded_views, unless that was done before; size: the view's byteLength.
pelt_result pelti_gltf_meshopt_decode(pelt_gltf *gltf, uint32_t index, const json_t *view, uint64_t size,
                                      pelt_error *error);

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
// The entry-th sparse index.
uint32_t pelti_gltf_sparse_index(const gltf_accessor *accessor, uint64_t entry);
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
    struct gltf_import_cache *cache; // import_internal.h
    pelt_builder_scene scene;
    uint32_t *mesh_joint_limit; // per mesh: lowest joint count of the skins it is used with, 0 = none
} gltf_import;

pelt_result pelti_gltf_import_nodes(gltf_import *import, pelt_error *error);
pelt_result pelti_gltf_import_skins(gltf_import *import, pelt_error *error);
pelt_result pelti_gltf_import_meshes(gltf_import *import, pelt_error *error);
pelt_result pelti_gltf_import_clips(gltf_import *import, pelt_error *error);

#endif

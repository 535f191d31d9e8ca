// SPDX-License-Identifier: MIT
// Inside the posed-file writer: the output under construction. write.c runs the steps and writes the container;
// write_mesh.c, write_attribute.c, write_node.c, write_transform.c, write_image.c and write_extension.c make their
// parts of the JSON; write_buffer.c plans the binary pieces and streams them.
#ifndef PELTI_GLTF_WRITE_INTERNAL_H
#define PELTI_GLTF_WRITE_INTERNAL_H

#include "gltf_internal.h"

enum {
    WRITE_TARGET_NONE = 0,
    WRITE_TARGET_VERTICES = 34962,
    WRITE_TARGET_INDICES = 34963
};

// What becomes of a copied attribute's elements on their way out.
typedef enum write_conversion {
    WRITE_RAW = 0,      // the file's own component type
    WRITE_FLOATS,       // floats; non-finite ones become 0
    WRITE_UNIT_FLOATS,  // the same, clamped to 0..1
    WRITE_FLOATS_OF_U32 // 32-bit integers up to 2^24 as floats, exactly
} write_conversion;

typedef enum write_piece_kind {
    WRITE_PIECE_BYTES = 0,
    WRITE_PIECE_INDICES,
    WRITE_PIECE_ELEMENTS
} write_piece_kind;

// One buffer view to come. Its bytes are made only when they are written.
typedef struct write_piece {
    write_piece_kind kind;
    uint64_t size;            // without the padding to 4 bytes that follows
    const void *data;         // BYTES: size bytes; INDICES: index_count uint32_t; not owned
    gltf_bytes owned;         // released with the writer: what data points into, or {0}
    uint32_t index_count;     // INDICES
    pelt_component component; // INDICES: U8, U16 or U32
    uint32_t accessor;        // ELEMENTS: accessor of the source file
    write_conversion conversion;
} write_piece;

// Elements of a source accessor, one after the other; opened from the file's bytes or from a decoded copy.
typedef struct write_elements {
    const uint8_t *data;
    uint64_t stride;
    uint32_t column_stride;
    void *copy; // NULL where data points into the file
    uint64_t copy_size;
} write_elements;

typedef enum write_role {
    WRITE_ROLE_TEXCOORD = 0,
    WRITE_ROLE_COLOR,
    WRITE_ROLE_CUSTOM,
    WRITE_ROLE_INDICES,
    WRITE_ROLE_COUNT
} write_role;

// Posed vertices that were written for a source accessor: primitives of one instance that share it can share them too.
typedef struct write_stream_record {
    uint32_t instance;    // PELT_NONE: none yet
    uint32_t output;      // accessor
    const char *semantic; // POSITION, NORMAL or TANGENT
    const float *values;
} write_stream_record;

typedef struct gltf_writer {
    pelt_gltf *gltf;
    const pelt_allocator *allocator;
    const pelt_log *log;
    const pelt_log *mesh_log; // silent at the second and later instances of a mesh
    const pelt_asset_data *asset;
    const pelt_gltf_posed *posed;

    bool out_of_json; // jansson could not allocate; checked after each step
    json_t *nodes;
    json_t *roots; // of the scene
    json_t *meshes;
    json_t *images;
    json_t *accessors;
    json_t *views;
    json_t *used;    // extension names in the output, as keys
    json_t *dropped; // extension names that were warned about, as keys

    uint32_t *instance_mesh; // per instance: output mesh, PELT_NONE = it has nothing to draw

    uint32_t source_accessor_count;
    write_stream_record *streams;       // per source accessor
    uint32_t *shared[WRITE_ROLE_COUNT]; // per source accessor: the output accessor made from it, or PELT_NONE

    uint64_t piece_count;
    uint64_t piece_capacity;
    write_piece *pieces;
    uint64_t buffer_size;
} gltf_writer;

// ---- write.c

// Takes value (NULL = jansson is out of memory) into object or array; a failure shows in out_of_json.
void pelti_write_put(gltf_writer *writer, json_t *object, const char *key, json_t *value);
void pelti_write_append(gltf_writer *writer, json_t *array, json_t *value);
// Shares source[key] with object, where it exists.
void pelti_write_share(gltf_writer *writer, json_t *object, const json_t *source, const char *key);
// PELT_OK, or MEMORY where jansson ran out of it.
pelt_result pelti_write_status(const gltf_writer *writer, pelt_error *error);
pelt_result pelti_write_out_of_memory(pelt_error *error);

// ---- write_extension.c

// Whether an extension may stand in the output: it refers to nothing but what keeps its index.
bool pelti_write_extension_passes(const char *name);
// XMP: it describes an object, and goes where the object's extras go.
bool pelti_write_extension_is_metadata(const char *name);
// Removes from every glTF object in value (a deep copy that the caller owns) the extensions that may not stand in the
// output, warns of each once, and notes the others as used. extras are left alone.
pelt_result pelti_write_filter(gltf_writer *writer, json_t *value, const char *where, pelt_error *error);
// Puts the extensions of source that stay into object.
pelt_result pelti_write_extensions(gltf_writer *writer, json_t *object, const json_t *source, const char *where,
                                   pelt_error *error);
void pelti_write_use_extension(gltf_writer *writer, const char *name);
// extensionsUsed and extensionsRequired of the output, and warnings for what the source declares and the output lost.
// To be called last.
pelt_result pelti_write_declare_extensions(gltf_writer *writer, json_t *root, pelt_error *error);

// ---- write_buffer.c

// Plans a piece and its buffer view; owned bytes are the writer's from here on, also on failure.
pelt_result pelti_write_add_piece(gltf_writer *writer, const write_piece *piece, uint32_t target, uint32_t stride,
                                  uint32_t *out_view, pelt_error *error);
pelt_result pelti_write_stream(gltf_writer *writer, const pelt_gltf_sink *sink, pelt_error *error);
void pelti_write_release_pieces(gltf_writer *writer);
pelt_result pelti_write_open_elements(gltf_writer *writer, const gltf_accessor *accessor, write_elements *out,
                                      pelt_error *error);
void pelti_write_close_elements(gltf_writer *writer, write_elements *elements);
// Bytes of one element in the output, columns and rows padded to 4.
uint32_t pelti_write_element_size(const gltf_accessor *accessor, write_conversion conversion);

// ---- write_attribute.c

// The output accessor of an attribute that posing leaves alone; *out = PELT_NONE where glTF has no place for it, which
// is warned of.
pelt_result pelti_write_attribute(gltf_writer *writer, const char *name, uint32_t accessor, uint32_t vertex_count,
                                  const char *where, uint32_t *out, pelt_error *error);
// An accessor in the output, over all of a view.
typedef struct write_accessor {
    uint32_t view;
    pelt_component component;
    bool normalized;
    uint64_t count;
    const char *type;
    const pelt_box *box; // min and max of a VEC3; NULL = none
} write_accessor;
uint32_t pelti_write_accessor(gltf_writer *writer, const write_accessor *accessor);

// ---- write_transform.c

// Puts translation, rotation and scale, or matrix, into object; nothing where it is the identity. node: asset index.
pelt_result pelti_write_transform(gltf_writer *writer, const pelt_locals *locals, uint32_t node, json_t *object,
                                  pelt_error *error);

// ---- the steps, in this order

pelt_result pelti_write_meshes(gltf_writer *writer, pelt_error *error);
pelt_result pelti_write_nodes(gltf_writer *writer, pelt_error *error);
pelt_result pelti_write_images(gltf_writer *writer, pelt_error *error);

#endif

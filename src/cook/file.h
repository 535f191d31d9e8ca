// SPDX-License-Identifier: MIT
// The .pelt file as bytes: header, section table and records, fixed in width and little endian. docs/format.md tells
// the same in words; the streams are arrays of plain numbers and of the structs that pelt/cook.h lays out.
#ifndef PELTI_COOK_FILE_H
#define PELTI_COOK_FILE_H

#include <pelt/cook.h>

#include <assert.h>

// A major version changes the meaning of bytes; a minor one adds sections and fields that older readers may skip.
#define FILE_VERSION_MAJOR 1u
#define FILE_VERSION_MINOR 0u
// Features that this code knows; a file that requires another one is refused.
#define FILE_REQUIRED_FEATURES UINT64_C(0)

enum {
    FILE_MAGIC_SIZE = 8,
    FILE_ALIGNMENT = 64,
    FILE_HASHED_HEADER_SIZE = 120, // bytes before header_hash
    FILE_BYTE_ORDER = 0x01020304
};

// The first byte is no ASCII, and line ends that a text transfer would change follow, as in PNG.
#define FILE_MAGIC "\x89PELT\r\n\x1A"

typedef struct file_header {
    uint8_t magic[FILE_MAGIC_SIZE];
    uint32_t byte_order; // FILE_BYTE_ORDER
    uint32_t version_major;
    uint32_t version_minor;
    uint32_t header_size; // of this struct; the table may begin later
    uint64_t required_features;
    uint64_t optional_features;
    uint64_t file_size;
    uint64_t table_offset; // aligned to 64
    uint32_t section_count;
    uint32_t entry_size;
    uint64_t table_hash; // XXH3-64 of the table
    uint64_t reserved[6];
    uint64_t header_hash; // XXH3-64 of all before
} file_header;

static_assert(sizeof(file_header) == 128, "the header has 128 bytes");
static_assert(offsetof(file_header, header_hash) == FILE_HASHED_HEADER_SIZE, "the header's hash is its last field");

enum {                        // file_section.flags
    FILE_SECTION_REQUIRED = 1 // a reader that does not know the kind must refuse the file
};

typedef struct file_section {
    uint32_t kind; // four letters, the first in the lowest byte
    uint32_t flags;
    uint32_t owner; // which skin, mesh, primitive, clip or joint box set it belongs to; else 0
    uint32_t sub;   // which attribute or target of a primitive; else 0
    uint64_t offset;
    uint64_t size; // count x element_size
    uint64_t count;
    uint32_t element_size;
    uint32_t reserved;
    uint64_t hash; // XXH3-64 of the contents
    uint64_t reserved2;
} file_section;

static_assert(sizeof(file_section) == 64, "a section table entry has 64 bytes");

// What sections belong to.
typedef enum file_level {
    FILE_LEVEL_FILE = 0,
    FILE_LEVEL_SKIN,
    FILE_LEVEL_MESH,
    FILE_LEVEL_PRIMITIVE,
    FILE_LEVEL_CLIP,
    FILE_LEVEL_BOXES,     // owner: index in JBOX
    FILE_LEVEL_ATTRIBUTE, // owner: primitive, sub: attribute
    FILE_LEVEL_TARGET     // owner: primitive, sub: target
} file_level;

enum {
    FILE_ANY_SIZE = 0 // element size told by a record elsewhere
};

// name, letters, level, element size, is a record (may be larger in files of later minor versions)
#define FILE_KINDS(X)                                                                                                  \
    X(META, 'M', 'E', 'T', 'A', FILE_LEVEL_FILE, sizeof(file_meta), true)                                              \
    X(STRS, 'S', 'T', 'R', 'S', FILE_LEVEL_FILE, 1, false)                                                             \
    X(NODE, 'N', 'O', 'D', 'E', FILE_LEVEL_FILE, sizeof(file_node), true)                                              \
    X(RSTW, 'R', 'S', 'T', 'W', FILE_LEVEL_FILE, 4, false)                                                             \
    X(INST, 'I', 'N', 'S', 'T', FILE_LEVEL_FILE, sizeof(file_instance), true)                                          \
    X(SKIN, 'S', 'K', 'I', 'N', FILE_LEVEL_FILE, sizeof(file_skin), true)                                              \
    X(MESH, 'M', 'E', 'S', 'H', FILE_LEVEL_FILE, sizeof(file_mesh), true)                                              \
    X(PRIM, 'P', 'R', 'I', 'M', FILE_LEVEL_FILE, sizeof(file_primitive), true)                                         \
    X(CLIP, 'C', 'L', 'I', 'P', FILE_LEVEL_FILE, sizeof(file_clip), true)                                              \
    X(KEYA, 'K', 'E', 'Y', 'A', FILE_LEVEL_FILE, sizeof(file_key_array), true)                                         \
    X(KEYS, 'K', 'E', 'Y', 'S', FILE_LEVEL_FILE, 4, false)                                                             \
    X(JBOX, 'J', 'B', 'O', 'X', FILE_LEVEL_FILE, sizeof(file_joint_boxes), true)                                       \
    X(JNTS, 'J', 'N', 'T', 'S', FILE_LEVEL_SKIN, 4, false)                                                             \
    X(IBND, 'I', 'B', 'N', 'D', FILE_LEVEL_SKIN, 48, false)                                                            \
    X(MWGT, 'M', 'W', 'G', 'T', FILE_LEVEL_MESH, 4, false)                                                             \
    X(TNAM, 'T', 'N', 'A', 'M', FILE_LEVEL_MESH, 4, false)                                                             \
    X(SAMP, 'S', 'A', 'M', 'P', FILE_LEVEL_CLIP, sizeof(file_sampler), true)                                           \
    X(CHAN, 'C', 'H', 'A', 'N', FILE_LEVEL_CLIP, sizeof(file_channel), true)                                           \
    X(BOXS, 'B', 'O', 'X', 'S', FILE_LEVEL_BOXES, 24, false)                                                           \
    X(POSN, 'P', 'O', 'S', 'N', FILE_LEVEL_PRIMITIVE, 12, false)                                                       \
    X(NRML, 'N', 'R', 'M', 'L', FILE_LEVEL_PRIMITIVE, 4, false)                                                        \
    X(TANG, 'T', 'A', 'N', 'G', FILE_LEVEL_PRIMITIVE, 4, false)                                                        \
    X(WGHT, 'W', 'G', 'H', 'T', FILE_LEVEL_PRIMITIVE, 4, false)                                                        \
    X(JNTI, 'J', 'N', 'T', 'I', FILE_LEVEL_PRIMITIVE, 1, false)                                                        \
    X(RUNS, 'R', 'U', 'N', 'S', FILE_LEVEL_PRIMITIVE, sizeof(pelt_run), false)                                         \
    X(RUNJ, 'R', 'U', 'N', 'J', FILE_LEVEL_PRIMITIVE, 2, false)                                                        \
    X(XOFS, 'X', 'O', 'F', 'S', FILE_LEVEL_PRIMITIVE, 4, false)                                                        \
    X(XTRA, 'X', 'T', 'R', 'A', FILE_LEVEL_PRIMITIVE, sizeof(pelt_extra_influence), false)                             \
    X(INDX, 'I', 'N', 'D', 'X', FILE_LEVEL_PRIMITIVE, FILE_ANY_SIZE, false)                                            \
    X(SRCV, 'S', 'R', 'C', 'V', FILE_LEVEL_PRIMITIVE, 4, false)                                                        \
    X(ATTR, 'A', 'T', 'T', 'R', FILE_LEVEL_PRIMITIVE, sizeof(file_attribute), true)                                    \
    X(TARG, 'T', 'A', 'R', 'G', FILE_LEVEL_PRIMITIVE, sizeof(file_target), true)                                       \
    X(ATTD, 'A', 'T', 'T', 'D', FILE_LEVEL_ATTRIBUTE, FILE_ANY_SIZE, false)                                            \
    X(TVTX, 'T', 'V', 'T', 'X', FILE_LEVEL_TARGET, 4, false)                                                           \
    X(TPOS, 'T', 'P', 'O', 'S', FILE_LEVEL_TARGET, FILE_ANY_SIZE, false)                                               \
    X(TNRM, 'T', 'N', 'R', 'M', FILE_LEVEL_TARGET, FILE_ANY_SIZE, false)                                               \
    X(TTAN, 'T', 'T', 'A', 'N', FILE_LEVEL_TARGET, FILE_ANY_SIZE, false)

// FILE_META, FILE_STRS, ...: indices into pelti_file_kinds.
#define FILE_KIND_INDEX(name, a, b, c, d, level, size, record) FILE_##name,
typedef enum file_kind_index {
    FILE_KINDS(FILE_KIND_INDEX) FILE_KIND_COUNT
} file_kind_index;
#undef FILE_KIND_INDEX

typedef struct file_kind {
    char name[8];
    uint32_t code; // file_section.kind
    file_level level;
    uint32_t element_size;
    bool is_record;
} file_kind;

extern const file_kind pelti_file_kinds[FILE_KIND_COUNT];

// ---- Records. Names are offsets into STRS; an index that is not there is PELT_NONE; reserved fields are 0.

typedef struct file_meta {
    uint64_t source_hash[2];
    uint64_t options_hash;
    uint32_t writer_version[3];
    uint32_t reserved;
} file_meta;
static_assert(sizeof(file_meta) == 40, "META");

enum { // file_node.flags
    FILE_NODE_IN_SCENE = 1,
    FILE_NODE_HAS_MATRIX = 2
};

typedef struct file_node {
    uint32_t name;
    uint32_t file_index;
    uint32_t parent;
    uint32_t subtree_end;
    uint32_t mesh;
    uint32_t skin;
    uint32_t first_weight; // in RSTW
    uint32_t weight_count;
    uint32_t flags;
    uint32_t reserved;
    float translation[3];
    float rotation[4];
    float scale[3];
    float local_matrix[12];
} file_node;
static_assert(sizeof(file_node) == 128, "NODE");

typedef struct file_instance {
    uint32_t node;
    uint32_t mesh;
    uint32_t skin;
    uint32_t reserved;
} file_instance;
static_assert(sizeof(file_instance) == 16, "INST");

enum { // file_skin.flags
    FILE_SKIN_HAS_INVERSE_BINDS = 1
};

typedef struct file_skin {
    uint32_t name;
    uint32_t joint_count;
    uint32_t skeleton;
    uint32_t flags;
} file_skin;
static_assert(sizeof(file_skin) == 16, "SKIN");

typedef struct file_mesh {
    uint32_t name;
    uint32_t first_primitive;
    uint32_t primitive_count;
    uint32_t target_count;
} file_mesh;
static_assert(sizeof(file_mesh) == 16, "MESH");

enum { // file_primitive.flags
    FILE_PRIMITIVE_ORDERED = 1,
    FILE_PRIMITIVE_HAS_DECLARED_BOX = 2
};

typedef struct file_primitive {
    uint32_t mesh;
    uint32_t primitive;
    uint32_t topology;
    uint32_t material;
    uint32_t vertex_count;
    uint32_t source_vertex_count;
    uint32_t encoding;
    uint32_t flags;
    uint32_t joint_bound;
    uint32_t run_count;
    uint32_t run_joint_count;
    uint32_t wide_count;
    uint32_t extra_count;
    uint32_t index_count;
    uint32_t index_size;
    uint32_t attribute_count;
    uint32_t target_count;
    uint32_t reserved;
    uint64_t joints_size;
    float box[6];
    float declared_box[6]; // zeros without
} file_primitive;
static_assert(sizeof(file_primitive) == 128, "PRIM");

enum { // file_attribute.flags
    FILE_ATTRIBUTE_NORMALIZED = 1
};

typedef struct file_attribute {
    uint32_t name;
    uint32_t component;
    uint32_t component_count;
    uint32_t stride;
    uint32_t flags;
    uint32_t reserved;
} file_attribute;
static_assert(sizeof(file_attribute) == 24, "ATTR");

typedef struct file_target {
    uint32_t format;
    uint32_t vertex_count;
    float scale[3];
    uint32_t reserved;
} file_target;
static_assert(sizeof(file_target) == 24, "TARG");

typedef struct file_clip {
    uint32_t name;
    float duration;
    uint32_t sampler_count;
    uint32_t channel_count;
} file_clip;
static_assert(sizeof(file_clip) == 16, "CLIP");

typedef struct file_sampler {
    uint32_t interpolation;
    uint32_t file_index;
    uint32_t key_count;
    uint32_t value_count;
    uint32_t times;  // index in KEYA
    uint32_t values; // index in KEYA
} file_sampler;
static_assert(sizeof(file_sampler) == 24, "SAMP");

typedef struct file_channel {
    uint32_t node;
    uint32_t path;
    uint32_t sampler;
    uint32_t file_index;
} file_channel;
static_assert(sizeof(file_channel) == 16, "CHAN");

enum { // file_key_array.flags
    FILE_KEYS_ARE_TIMES = 1
};

// Times or values that any number of samplers may share.
typedef struct file_key_array {
    uint64_t first; // in KEYS
    uint64_t count; // floats
    uint32_t flags;
    uint32_t reserved;
} file_key_array;
static_assert(sizeof(file_key_array) == 24, "KEYA");

typedef struct file_joint_boxes {
    uint32_t primitive;
    uint32_t skin;
    uint32_t joint_count;
    uint32_t reserved;
} file_joint_boxes;
static_assert(sizeof(file_joint_boxes) == 16, "JBOX");

static_assert(sizeof(pelt_run) == 40 && offsetof(pelt_run, class_counts) == 24, "RUNS");
static_assert(sizeof(pelt_extra_influence) == 4, "XTRA");
static_assert(sizeof(pelt_box) == 24 && sizeof(pelt_mat34) == 48, "BOXS and IBND");

#endif

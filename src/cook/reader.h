// SPDX-License-Identifier: MIT
// An opened .pelt file. file_read.c checks header and table and finds sections, check_scene.c, check_clips.c,
// check_primitive.c, check_influences.c and check_targets.c the contents; import.c and import_mesh.c unpack. Every
// offset, count and index is compared in 64 bits before it is used, and contents are used where they lie.
#ifndef PELTI_COOK_READER_H
#define PELTI_COOK_READER_H

#include "cook/cook_internal.h"
#include "cook/file.h"

// The bytes of a file and how to give them back.
typedef enum cook_bytes_owner {
    COOK_BYTES_BORROWED = 0,
    COOK_BYTES_MAPPED,
    COOK_BYTES_ALLOCATED
} cook_bytes_owner;

typedef struct cook_bytes {
    const uint8_t *data; // aligned to 64
    uint64_t size;
    cook_bytes_owner owner;
    void *memory; // what to release, where allocated
    uint64_t memory_size;
} cook_bytes;

struct pelt_cooked {
    pelt_allocator allocator;
    pelt_log log;
    uint64_t memory_limit;
    uint64_t memory_used;
    bool skip_hashes;
    cook_bytes bytes;
    file_header header; // a copy
    cook_arena arena;
    const file_section **slots[FILE_KIND_COUNT]; // by owner, then sub; an entry is NULL where the file has none
    const uint32_t *first_attribute;             // by primitive, and one more: sums of the counts before
    const uint32_t *first_target;
    uint32_t node_count;
    uint32_t skin_count;
    uint32_t mesh_count;
    uint32_t primitive_count;
    uint32_t clip_count;
    uint32_t boxes_count;
    const uint32_t *node_from_file; // node_count
    const uint32_t *mesh_bounds;    // mesh_count: the highest joint_bound of its primitives
    const bool *mesh_unbound;       // mesh_count: a primitive with vertices has no influences
    pelt_cooked_primitive *primitives;
    pelt_joint_boxes *joint_boxes;
    pelt_cooked_data data;
};

// count x size zeroed bytes of the object's, under its limit; NULL with the error filled.
void *pelti_cooked_take(pelt_cooked *cooked, uint64_t count, size_t size, pelt_result *out_result, pelt_error *error);

// NULL where the file has none. owner (and sub) must be in range.
const file_section *pelti_cooked_section(const pelt_cooked *cooked, file_kind_index kind, uint32_t owner, uint32_t sub);
// 0 where there is no section.
uint64_t pelti_cooked_count(const pelt_cooked *cooked, file_kind_index kind, uint32_t owner);
// Where a section's bytes begin; NULL without a section.
const void *pelti_cooked_contents(const pelt_cooked *cooked, const file_section *section);
// One record of a section; index must be below its count.
const void *pelti_cooked_record(const pelt_cooked *cooked, file_kind_index kind, uint32_t owner, uint64_t index);
// A name that was checked.
const char *pelti_cooked_name(const pelt_cooked *cooked, uint32_t offset);

// Refuses element at of a section: INVALID with "section NODE: ..." and its byte offset.
PELTI_PRINTF(4, 5)
pelt_result pelti_cooked_refuse(const file_section *section, uint64_t at, pelt_error *error, const char *format, ...);
// The section of that kind has exactly count elements, or is missing where count is 0. *out_section may be NULL then.
pelt_result pelti_cooked_need(const pelt_cooked *cooked, file_kind_index kind, uint32_t owner, uint32_t sub,
                              uint64_t count, const file_section **out_section, pelt_error *error);
// A name's offset is the beginning of a string.
pelt_result pelti_cooked_check_name(const pelt_cooked *cooked, const file_section *section, uint64_t at,
                                    uint32_t offset, pelt_error *error);
// All floats of the section are finite.
pelt_result pelti_cooked_check_finite(const pelt_cooked *cooked, const file_section *section, pelt_error *error);

// ---- Checks of contents, in this order.

pelt_result pelti_cooked_check_strings(pelt_cooked *cooked, pelt_error *error);
pelt_result pelti_cooked_check_skins(pelt_cooked *cooked, pelt_error *error);
pelt_result pelti_cooked_check_meshes(pelt_cooked *cooked, pelt_error *error);
// Fills primitives.
pelt_result pelti_cooked_check_primitives(pelt_cooked *cooked, pelt_error *error);
pelt_result pelti_cooked_check_nodes(pelt_cooked *cooked, pelt_error *error);
pelt_result pelti_cooked_check_clips(pelt_cooked *cooked, pelt_error *error);
// Fills joint_boxes.
pelt_result pelti_cooked_check_boxes(pelt_cooked *cooked, pelt_error *error);

// Parts of check_primitives: the primitive's record is in *out but for what they fill.
typedef struct primitive_check {
    pelt_cooked *cooked;
    uint32_t index;
    pelt_cooked_primitive *out;
    pelt_error *error;
} primitive_check;
pelt_result pelti_cooked_check_influences(const primitive_check *check);
pelt_result pelti_cooked_check_targets(const primitive_check *check, pelt_cooked_target *targets);

// ---- file_map.c

// The whole file, mapped or, where small, copied.
pelt_result pelti_cooked_read_file(const pelt_allocator *allocator, const char *path, cook_bytes *out,
                                   pelt_error *error);
void pelti_cooked_release_bytes(const pelt_allocator *allocator, cook_bytes *bytes);

// ---- file_header.c: shared by opening and by reading hashes only.

// Checks what the 128 bytes say by themselves: magic, byte order, version, features, hash and the table's place.
pelt_result pelti_cooked_check_header(const file_header *header, uint64_t file_size, bool skip_hash, pelt_error *error);
// Checks one entry by itself; one of an unknown kind only where it is not required.
pelt_result pelti_cooked_check_entry(const file_section *entry, uint32_t index, uint64_t file_size, pelt_error *error);
// FILE_KIND_COUNT for what is none.
file_kind_index pelti_cooked_find_kind(uint32_t code);
// "POSN of primitive 3", for messages.
typedef struct section_text {
    char text[64];
} section_text;
section_text pelti_cooked_section_text(const file_section *section);

#endif

// SPDX-License-Identifier: MIT
// Between cook.c, which has the parts of a file, file_records.c, which makes records of the asset, and file_write.c,
// which lays everything out.
#ifndef PELTI_COOK_WRITER_H
#define PELTI_COOK_WRITER_H

#include "cook/cook_internal.h"
#include "cook/file.h"

// One section to come; data is in the arena or in what was cooked.
typedef struct cook_section {
    file_kind_index kind;
    uint32_t owner;
    uint32_t sub;
    uint32_t element_size;
    uint64_t count;
    const void *data;
} cook_section;

typedef struct cook_writer {
    cook_arena *arena;
    const pelt_asset_data *asset;
    const pelt_cook_options *options; // morph range resolved
    uint32_t primitive_count;
    const cook_primitive *primitives; // by mesh, then primitive
    uint32_t joint_boxes_count;
    const pelt_joint_boxes *joint_boxes;
    cook_section *sections;
    uint64_t section_count;
    uint64_t section_capacity;
    char *strings; // each with its NUL; offset 0 is ""
    uint64_t string_size;
    uint64_t string_capacity;
} cook_writer;

// Fills sections. Errors: ARGUMENT (a name is not UTF-8), LIMIT, MEMORY.
pelt_result pelti_cook_list_sections(cook_writer *writer, pelt_error *error);
// The file, aligned to 64, from the options' allocator.
pelt_result pelti_cook_lay_out(const cook_writer *writer, void **out_data, uint64_t *out_size, pelt_error *error);

// Adds one; count elements of the kind's element size, or of element_size where the kind leaves it open.
void pelti_cook_add_section(cook_writer *writer, file_kind_index kind, uint32_t owner, uint32_t sub, const void *data,
                            uint64_t count, uint32_t element_size);
// Fills the sections of clips and their keys: file_keys.c.
pelt_result pelti_cook_add_clips(cook_writer *writer, pelt_error *error);
// The offset of a copy of text.
pelt_result pelti_cook_add_string(cook_writer *writer, const char *text, uint32_t *out_offset, pelt_error *error);

// Whether bytes up to size are well-formed UTF-8: no overlong forms, no surrogates, nothing over U+10FFFF.
bool pelti_cook_is_utf8(const char *text, uint64_t size);

#endif

// SPDX-License-Identifier: MIT
// Opens a .pelt file in memory: finds every section, compares hashes, has the contents checked and lists them.
#include "cook/reader.h"

#include "cook/hash.h"

#define DEFAULT_MEMORY_LIMIT (UINT64_C(8) << 30)

void *pelti_cooked_take(pelt_cooked *cooked, uint64_t count, size_t size, pelt_result *out_result, pelt_error *error)
{
    uint64_t total = 0;
    *out_result = PELT_OK;
    if (!pelti_mul(count, size, &total) || total > cooked->memory_limit ||
        cooked->memory_used > cooked->memory_limit - total) {
        *out_result = pelti_fail(error, PELT_ERROR_LIMIT, "",
                                 "the file needs %llu bytes beside %llu others, over the memory limit of %llu",
                                 (unsigned long long)total, (unsigned long long)cooked->memory_used,
                                 (unsigned long long)cooked->memory_limit);
        pelti_hint(error, "raise the memory limit");
        return NULL;
    }
    cooked->memory_used += total;
    void *memory = pelti_cook_allocate(&cooked->arena, count, size);
    if (!memory) {
        *out_result = pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for the tables of a .pelt file");
    }
    return memory;
}

const file_section *pelti_cooked_section(const pelt_cooked *cooked, file_kind_index kind, uint32_t owner, uint32_t sub)
{
    uint64_t slot = owner;
    if (pelti_file_kinds[kind].level == FILE_LEVEL_ATTRIBUTE) {
        slot = (uint64_t)cooked->first_attribute[owner] + sub;
    } else if (pelti_file_kinds[kind].level == FILE_LEVEL_TARGET) {
        slot = (uint64_t)cooked->first_target[owner] + sub;
    }
    return cooked->slots[kind][slot];
}

uint64_t pelti_cooked_count(const pelt_cooked *cooked, file_kind_index kind, uint32_t owner)
{
    const file_section *section = pelti_cooked_section(cooked, kind, owner, 0);
    return section ? section->count : 0;
}

const void *pelti_cooked_contents(const pelt_cooked *cooked, const file_section *section)
{
    return section ? cooked->bytes.data + section->offset : NULL;
}

const void *pelti_cooked_record(const pelt_cooked *cooked, file_kind_index kind, uint32_t owner, uint64_t index)
{
    const file_section *section = pelti_cooked_section(cooked, kind, owner, 0);
    return cooked->bytes.data + section->offset + index * section->element_size;
}

pelt_result pelti_cooked_refuse(const file_section *section, uint64_t at, pelt_error *error, const char *format, ...)
{
    char text[256];
    char where[32];
    va_list arguments;
    va_start(arguments, format);
    pelti_format(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(where, sizeof where, "byte %llu", (unsigned long long)(section->offset + at * section->element_size));
    return pelti_fail(error, PELT_ERROR_INVALID, where, "%s: %s", pelti_cooked_section_text(section).text, text);
}

pelt_result pelti_cooked_need(const pelt_cooked *cooked, file_kind_index kind, uint32_t owner, uint32_t sub,
                              uint64_t count, const file_section **out_section, pelt_error *error)
{
    const file_section *section = pelti_cooked_section(cooked, kind, owner, sub);
    *out_section = section;
    if (section && section->count != count) {
        return pelti_cooked_refuse(section, 0, error, "%llu elements, but %llu belong there",
                                   (unsigned long long)section->count, (unsigned long long)count);
    }
    if (!section && count > 0) {
        file_section missing = {.kind = pelti_file_kinds[kind].code, .owner = owner, .sub = sub};
        return pelti_fail(error, PELT_ERROR_INVALID, "", "%s is missing, %llu elements belong there",
                          pelti_cooked_section_text(&missing).text, (unsigned long long)count);
    }
    return PELT_OK;
}

static const file_section *table_entry(const pelt_cooked *cooked, uint32_t index)
{
    const void *entry = cooked->bytes.data + cooked->header.table_offset + (uint64_t)index * cooked->header.entry_size;
    return entry;
}

// Bytes that belong to no section are zero, so that they hide nothing and no hash need cover them.
static pelt_result check_gap(const pelt_cooked *cooked, uint64_t from, uint64_t to, pelt_error *error)
{
    for (uint64_t i = from; i < to; i++) {
        if (cooked->bytes.data[i] != 0) {
            char where[32];
            snprintf(where, sizeof where, "byte %llu", (unsigned long long)i);
            return pelti_fail(error, PELT_ERROR_INVALID, where, "between sections stands 0x%02x, not zero",
                              (unsigned)cooked->bytes.data[i]);
        }
    }
    return PELT_OK;
}

static pelt_result check_section_hash(const pelt_cooked *cooked, const file_section *entry, pelt_error *error)
{
    if (cooked->skip_hashes || pelti_cook_hash(cooked->bytes.data + entry->offset, entry->size) == entry->hash) {
        return PELT_OK;
    }
    pelti_cooked_refuse(entry, 0, error, "the contents do not have the hash that the table names");
    pelti_hint(error, "the file is damaged: cook it again");
    return PELT_ERROR_INVALID;
}

static pelt_result check_table(const pelt_cooked *cooked, pelt_error *error)
{
    const file_header *header = &cooked->header;
    uint64_t table_size = (uint64_t)header->section_count * header->entry_size;
    if (!cooked->skip_hashes &&
        pelti_cook_hash(cooked->bytes.data + header->table_offset, table_size) != header->table_hash) {
        pelti_fail(error, PELT_ERROR_INVALID, "byte 64",
                   "the section table does not have the hash that the header names");
        pelti_hint(error, "the file is damaged: cook it again");
        return PELT_ERROR_INVALID;
    }
    pelt_result result = check_gap(cooked, header->header_size, header->table_offset, error);
    uint64_t end = header->table_offset + table_size;
    for (uint32_t i = 0; i < header->section_count && result == PELT_OK; i++) {
        const file_section *entry = table_entry(cooked, i);
        result = pelti_cooked_check_entry(entry, i, cooked->bytes.size, error);
        if (result == PELT_OK && entry->offset < end) {
            result = pelti_cooked_refuse(entry, 0, error,
                                         "begins at byte %llu, before the end of what stands before it at %llu",
                                         (unsigned long long)entry->offset, (unsigned long long)end);
        }
        result = result == PELT_OK ? check_gap(cooked, end, entry->offset, error) : result;
        result = result == PELT_OK ? check_section_hash(cooked, entry, error) : result;
        end = entry->offset + entry->size;
    }
    return result == PELT_OK ? check_gap(cooked, end, cooked->bytes.size, error) : result;
}

static uint64_t owner_count(const pelt_cooked *cooked, file_level level)
{
    switch (level) {
    case FILE_LEVEL_FILE:
        return 1;
    case FILE_LEVEL_SKIN:
        return cooked->skin_count;
    case FILE_LEVEL_MESH:
        return cooked->mesh_count;
    case FILE_LEVEL_CLIP:
        return cooked->clip_count;
    case FILE_LEVEL_BOXES:
        return cooked->boxes_count;
    case FILE_LEVEL_PRIMITIVE:
    case FILE_LEVEL_ATTRIBUTE:
    case FILE_LEVEL_TARGET:
        break;
    }
    return cooked->primitive_count;
}

static uint64_t slot_count(const pelt_cooked *cooked, file_level level)
{
    return level == FILE_LEVEL_ATTRIBUTE ? cooked->first_attribute[cooked->primitive_count]
           : level == FILE_LEVEL_TARGET  ? cooked->first_target[cooked->primitive_count]
                                         : owner_count(cooked, level);
}

static pelt_result place_section(pelt_cooked *cooked, file_kind_index kind, const file_section *entry,
                                 pelt_error *error)
{
    file_level level = pelti_file_kinds[kind].level;
    uint64_t owners = owner_count(cooked, level);
    uint64_t subs = 1;
    if (entry->owner < owners && level == FILE_LEVEL_ATTRIBUTE) {
        subs = cooked->first_attribute[entry->owner + 1] - cooked->first_attribute[entry->owner];
    } else if (entry->owner < owners && level == FILE_LEVEL_TARGET) {
        subs = cooked->first_target[entry->owner + 1] - cooked->first_target[entry->owner];
    }
    if (entry->owner >= owners || entry->sub >= subs) {
        return pelti_cooked_refuse(entry, 0, error, "belongs to nothing that the file has (%u, %u)", entry->owner,
                                   entry->sub);
    }
    if (pelti_cooked_section(cooked, kind, entry->owner, entry->sub)) {
        return pelti_cooked_refuse(entry, 0, error, "stands in the file twice");
    }
    uint64_t slot = level == FILE_LEVEL_ATTRIBUTE ? (uint64_t)cooked->first_attribute[entry->owner] + entry->sub
                    : level == FILE_LEVEL_TARGET  ? (uint64_t)cooked->first_target[entry->owner] + entry->sub
                                                  : entry->owner;
    cooked->slots[kind][slot] = entry;
    return PELT_OK;
}

// Finds the sections of all kinds of these levels.
static pelt_result place_levels(pelt_cooked *cooked, file_level first_level, file_level last_level, pelt_error *error)
{
    pelt_result result = PELT_OK;
    for (uint32_t k = 0; k < FILE_KIND_COUNT; k++) {
        file_level level = pelti_file_kinds[k].level;
        if (level >= first_level && level <= last_level) {
            cooked->slots[k] =
                pelti_cooked_take(cooked, slot_count(cooked, level), sizeof *cooked->slots[k], &result, error);
            if (!cooked->slots[k]) {
                return result;
            }
        }
    }
    for (uint32_t i = 0; i < cooked->header.section_count && result == PELT_OK; i++) {
        const file_section *entry = table_entry(cooked, i);
        file_kind_index kind = pelti_cooked_find_kind(entry->kind);
        if (kind != FILE_KIND_COUNT && pelti_file_kinds[kind].level >= first_level &&
            pelti_file_kinds[kind].level <= last_level) {
            result = place_section(cooked, kind, entry, error);
        }
    }
    return result;
}

// Indices and PELT_NONE are 32 bits.
static pelt_result read_count(const pelt_cooked *cooked, file_kind_index kind, uint32_t *out, pelt_error *error)
{
    uint64_t count = pelti_cooked_count(cooked, kind, 0);
    if (count >= PELT_NONE) {
        return pelti_cooked_refuse(pelti_cooked_section(cooked, kind, 0, 0), 0, error, "%llu elements are too many",
                                   (unsigned long long)count);
    }
    *out = (uint32_t)count;
    return PELT_OK;
}

static pelt_result read_counts(pelt_cooked *cooked, pelt_error *error)
{
    const struct {
        file_kind_index kind;
        uint32_t *out;
    } counts[] = {
        {FILE_NODE, &cooked->node_count},      {FILE_SKIN, &cooked->skin_count}, {FILE_MESH, &cooked->mesh_count},
        {FILE_PRIM, &cooked->primitive_count}, {FILE_CLIP, &cooked->clip_count}, {FILE_JBOX, &cooked->boxes_count},
    };
    pelt_result result = PELT_OK;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && result == PELT_OK; i++) {
        result = read_count(cooked, counts[i].kind, counts[i].out, error);
    }
    return result;
}

// For each primitive the sum of the counts before it.
static pelt_result sum_counts(pelt_cooked *cooked, file_kind_index kind, const uint32_t **out, pelt_error *error)
{
    pelt_result result = PELT_OK;
    uint32_t *sums = pelti_cooked_take(cooked, (uint64_t)cooked->primitive_count + 1, sizeof *sums, &result, error);
    if (!sums) {
        return result;
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < cooked->primitive_count; i++) {
        sums[i] = (uint32_t)sum;
        sum += pelti_cooked_count(cooked, kind, i);
        if (sum >= PELT_NONE) {
            return pelti_cooked_refuse(pelti_cooked_section(cooked, kind, i, 0), 0, error, "too many elements in all");
        }
    }
    sums[cooked->primitive_count] = (uint32_t)sum;
    *out = sums;
    return PELT_OK;
}

static pelt_result find_sections(pelt_cooked *cooked, pelt_error *error)
{
    pelt_result result = check_table(cooked, error);
    result = result == PELT_OK ? place_levels(cooked, FILE_LEVEL_FILE, FILE_LEVEL_FILE, error) : result;
    result = result == PELT_OK ? read_counts(cooked, error) : result;
    result = result == PELT_OK ? place_levels(cooked, FILE_LEVEL_SKIN, FILE_LEVEL_BOXES, error) : result;
    result = result == PELT_OK ? sum_counts(cooked, FILE_ATTR, &cooked->first_attribute, error) : result;
    result = result == PELT_OK ? sum_counts(cooked, FILE_TARG, &cooked->first_target, error) : result;
    return result == PELT_OK ? place_levels(cooked, FILE_LEVEL_ATTRIBUTE, FILE_LEVEL_TARGET, error) : result;
}

static pelt_result read_meta(pelt_cooked *cooked, pelt_error *error)
{
    const file_section *section = NULL;
    pelt_result result = pelti_cooked_need(cooked, FILE_META, 0, 0, 1, &section, error);
    if (result == PELT_OK) {
        const file_meta *meta = pelti_cooked_record(cooked, FILE_META, 0, 0);
        cooked->data.source_hash[0] = meta->source_hash[0];
        cooked->data.source_hash[1] = meta->source_hash[1];
        cooked->data.options_hash = meta->options_hash;
    }
    return result;
}

static pelt_result read_all(pelt_cooked *cooked, pelt_error *error)
{
    pelt_result (*const steps[])(pelt_cooked *, pelt_error *) = {
        find_sections,
        read_meta,
        pelti_cooked_check_strings,
        pelti_cooked_check_skins,
        pelti_cooked_check_meshes,
        pelti_cooked_check_primitives,
        pelti_cooked_check_nodes,
        pelti_cooked_check_clips,
        pelti_cooked_check_boxes,
    };
    if (cooked->bytes.size < sizeof cooked->header) {
        return pelti_fail(error, PELT_ERROR_INVALID, "byte 0",
                          "the file has %llu bytes, fewer than the header of a .pelt file",
                          (unsigned long long)cooked->bytes.size);
    }
    memcpy(&cooked->header, cooked->bytes.data, sizeof cooked->header);
    pelt_result result = pelti_cooked_check_header(&cooked->header, cooked->bytes.size, cooked->skip_hashes, error);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && result == PELT_OK; i++) {
        result = steps[i](cooked, error);
    }
    cooked->data.primitive_count = cooked->primitive_count;
    cooked->data.primitives = cooked->primitives;
    cooked->data.joint_boxes_count = cooked->boxes_count;
    cooked->data.joint_boxes = cooked->joint_boxes;
    return result;
}

// Takes the bytes over, also where it fails.
static pelt_result open_bytes(cook_bytes bytes, const pelt_cooked_options *options, pelt_cooked **out_cooked,
                              pelt_error *error)
{
    pelt_cooked *cooked = pelti_allocate(&options->allocator, 1, sizeof *cooked);
    if (!cooked) {
        pelti_cooked_release_bytes(&options->allocator, &bytes);
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for a .pelt file");
    }
    memset(cooked, 0, sizeof *cooked);
    cooked->allocator = options->allocator;
    cooked->log = options->log;
    cooked->memory_limit = options->memory_limit ? options->memory_limit : DEFAULT_MEMORY_LIMIT;
    cooked->skip_hashes = options->skip_hashes;
    cooked->bytes = bytes;
    cooked->arena.allocator = options->allocator;
    pelt_result result = read_all(cooked, error);
    if (result != PELT_OK) {
        pelt_cooked_close(cooked);
        return result;
    }
    *out_cooked = cooked;
    return PELT_OK;
}

pelt_result pelt_cooked_open_memory(const void *data, uint64_t size, const pelt_cooked_options *options,
                                    pelt_cooked **out_cooked, pelt_error *error)
{
    const pelt_cooked_options defaults = {0};
    pelti_error_clear(error);
    if (out_cooked) {
        *out_cooked = NULL;
    }
    if (!out_cooked || (!data && size > 0) || size > SIZE_MAX / 2) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "an argument is NULL, or the size is no size of an object");
    }
    if ((uintptr_t)data % FILE_ALIGNMENT != 0) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "the memory of a .pelt file must be aligned to %d bytes",
                          (int)FILE_ALIGNMENT);
    }
    return open_bytes((cook_bytes){.data = data, .size = size}, options ? options : &defaults, out_cooked, error);
}

pelt_result pelt_cooked_open_file(const char *path, const pelt_cooked_options *options, pelt_cooked **out_cooked,
                                  pelt_error *error)
{
    const pelt_cooked_options defaults = {0};
    cook_bytes bytes = {0};
    pelti_error_clear(error);
    if (out_cooked) {
        *out_cooked = NULL;
    }
    if (!path || !out_cooked) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "an argument is NULL");
    }
    options = options ? options : &defaults;
    pelt_result result = pelti_cooked_read_file(&options->allocator, path, &bytes, error);
    return result == PELT_OK ? open_bytes(bytes, options, out_cooked, error) : result;
}

void pelt_cooked_close(pelt_cooked *cooked)
{
    if (cooked) {
        pelt_allocator allocator = cooked->allocator;
        pelti_cook_release_arena(&cooked->arena);
        pelti_cooked_release_bytes(&allocator, &cooked->bytes);
        pelti_release(&allocator, cooked, 1, sizeof *cooked);
    }
}

const pelt_cooked_data *pelt_cooked_get(const pelt_cooked *cooked)
{
    return &cooked->data;
}

// SPDX-License-Identifier: MIT
// Checks of a .pelt file's header and of single entries of its section table.
#include "cook/hash.h"
#include "cook/reader.h"

#define FORMAT_TEXT "format version %u.%u"

section_text pelti_cooked_section_text(const file_section *section)
{
    static const char *const owners[] = {"",     "skin",          "mesh",      "primitive",
                                         "clip", "joint box set", "primitive", "primitive"};
    section_text out;
    char letters[5] = {0};
    file_level level = FILE_LEVEL_FILE;
    for (uint32_t i = 0; i < 4; i++) {
        char letter = (char)(section->kind >> (8 * i) & 0xFF);
        letters[i] = letter > ' ' && letter <= '~' ? letter : '?';
    }
    for (uint32_t i = 0; i < FILE_KIND_COUNT; i++) {
        level = pelti_file_kinds[i].code == section->kind ? pelti_file_kinds[i].level : level;
    }
    if (level == FILE_LEVEL_FILE) {
        snprintf(out.text, sizeof out.text, "section %s", letters);
    } else if (level == FILE_LEVEL_ATTRIBUTE || level == FILE_LEVEL_TARGET) {
        snprintf(out.text, sizeof out.text, "section %s of primitive %u, %s %u", letters, section->owner,
                 level == FILE_LEVEL_TARGET ? "target" : "attribute", section->sub);
    } else {
        snprintf(out.text, sizeof out.text, "section %s of %s %u", letters, owners[level], section->owner);
    }
    return out;
}

static void hint_cook_again(pelt_error *error)
{
    pelti_hint(error, "cook again with version %s, or read the file with the version that wrote it", pelt_version());
}

static pelt_result check_version(const file_header *header, pelt_error *error)
{
    if (header->version_major != FILE_VERSION_MAJOR) {
        pelti_fail(error, PELT_ERROR_UNSUPPORTED, "byte 12",
                   "the file has " FORMAT_TEXT ", this library reads " FORMAT_TEXT, header->version_major,
                   header->version_minor, FILE_VERSION_MAJOR, FILE_VERSION_MINOR);
        hint_cook_again(error);
        return PELT_ERROR_UNSUPPORTED;
    }
    uint64_t unknown = header->required_features & ~FILE_REQUIRED_FEATURES;
    if (unknown != 0) {
        uint32_t bit = 0;
        while (!(unknown >> bit & 1)) {
            bit++;
        }
        pelti_fail(error, PELT_ERROR_UNSUPPORTED, "byte 24",
                   "the file requires feature %u, which this library does not know", bit);
        hint_cook_again(error);
        return PELT_ERROR_UNSUPPORTED;
    }
    return PELT_OK;
}

static pelt_result check_table_place(const file_header *header, uint64_t file_size, pelt_error *error)
{
    uint64_t table_size = 0;
    uint64_t table_end = 0;
    if (header->file_size != file_size) {
        pelti_fail(error, PELT_ERROR_INVALID, "byte 40", "the header says %llu bytes, the file has %llu",
                   (unsigned long long)header->file_size, (unsigned long long)file_size);
        if (file_size < header->file_size) {
            pelti_hint(error, "the file was cut off: cook it again");
        }
        return PELT_ERROR_INVALID;
    }
    if (header->header_size < sizeof *header || header->header_size > header->table_offset ||
        header->table_offset % FILE_ALIGNMENT != 0) {
        return pelti_fail(error, PELT_ERROR_INVALID, "byte 48",
                          "the section table at byte %llu, after a header of %u bytes, is misplaced",
                          (unsigned long long)header->table_offset, header->header_size);
    }
    if (header->entry_size < sizeof(file_section) || header->entry_size % 8 != 0 ||
        !pelti_mul(header->section_count, header->entry_size, &table_size) ||
        !pelti_add(header->table_offset, table_size, &table_end) || table_end > file_size) {
        return pelti_fail(error, PELT_ERROR_INVALID, "byte 56",
                          "the section table of %u entries of %u bytes does not fit into the file",
                          header->section_count, header->entry_size);
    }
    return PELT_OK;
}

pelt_result pelti_cooked_check_header(const file_header *header, uint64_t file_size, bool skip_hash, pelt_error *error)
{
    if (memcmp(header->magic, FILE_MAGIC, FILE_MAGIC_SIZE) != 0) {
        return pelti_fail(error, PELT_ERROR_INVALID, "byte 0", "this is no .pelt file: the first bytes are others");
    }
    if (header->byte_order == 0x04030201) {
        pelti_fail(error, PELT_ERROR_UNSUPPORTED, "byte 8", "the file has the byte order of another kind of machine");
        hint_cook_again(error);
        return PELT_ERROR_UNSUPPORTED;
    }
    if (header->byte_order != FILE_BYTE_ORDER) {
        return pelti_fail(error, PELT_ERROR_INVALID, "byte 8", "the byte order mark is 0x%08x", header->byte_order);
    }
    pelt_result result = check_version(header, error);
    if (result == PELT_OK && !skip_hash && pelti_cook_hash(header, FILE_HASHED_HEADER_SIZE) != header->header_hash) {
        result = pelti_fail(error, PELT_ERROR_INVALID, "byte 120", "the header does not have the hash it names");
        pelti_hint(error, "the file is damaged: cook it again");
    }
    return result == PELT_OK ? check_table_place(header, file_size, error) : result;
}

file_kind_index pelti_cooked_find_kind(uint32_t code)
{
    uint32_t kind = 0;
    while (kind < FILE_KIND_COUNT && pelti_file_kinds[kind].code != code) {
        kind++;
    }
    return (file_kind_index)kind;
}

PELTI_PRINTF(4, 5)
static pelt_result refuse_entry(const file_section *entry, uint32_t index, pelt_error *error, const char *format, ...)
{
    char text[256];
    char where[32];
    va_list arguments;
    va_start(arguments, format);
    pelti_format(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(where, sizeof where, "byte %llu", (unsigned long long)entry->offset);
    return pelti_fail(error, PELT_ERROR_INVALID, where, "%s (entry %u of the table): %s",
                      pelti_cooked_section_text(entry).text, index, text);
}

pelt_result pelti_cooked_check_entry(const file_section *entry, uint32_t index, uint64_t file_size, pelt_error *error)
{
    uint64_t size = 0;
    file_kind_index found = pelti_cooked_find_kind(entry->kind);
    if (found == FILE_KIND_COUNT && entry->flags & FILE_SECTION_REQUIRED) {
        pelti_fail(error, PELT_ERROR_UNSUPPORTED, "", "%s is required, and this library does not know it",
                   pelti_cooked_section_text(entry).text);
        hint_cook_again(error);
        return PELT_ERROR_UNSUPPORTED;
    }
    if (entry->offset % FILE_ALIGNMENT != 0 || entry->offset > file_size || entry->size > file_size - entry->offset) {
        return refuse_entry(entry, index, error, "%llu bytes at byte %llu are misaligned or outside of the file",
                            (unsigned long long)entry->size, (unsigned long long)entry->offset);
    }
    if (!pelti_mul(entry->count, entry->element_size, &size) || size != entry->size || entry->element_size == 0) {
        return refuse_entry(entry, index, error, "%llu elements of %u bytes are not %llu bytes",
                            (unsigned long long)entry->count, entry->element_size, (unsigned long long)entry->size);
    }
    if (found == FILE_KIND_COUNT) {
        return PELT_OK;
    }
    const file_kind *kind = &pelti_file_kinds[found];
    bool fits = kind->is_record ? entry->element_size >= kind->element_size && entry->element_size % 8 == 0
                : kind->element_size == FILE_ANY_SIZE ? entry->element_size <= 16
                                                      : entry->element_size == kind->element_size;
    if (!fits) {
        return refuse_entry(entry, index, error, "elements have %u bytes, but %u are right", entry->element_size,
                            kind->element_size);
    }
    return PELT_OK;
}

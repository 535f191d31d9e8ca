// SPDX-License-Identifier: MIT
// Lays sections out in a file in memory: header, table, then every section at a multiple of 64, zeros between.
#include "cook/hash.h"
#include "cook/writer.h"

#define FILE_KIND_ENTRY(name, a, b, c, d, level, size, record)                                                         \
    {#name, (uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24, (level), (size), (record)},
const file_kind pelti_file_kinds[FILE_KIND_COUNT] = {FILE_KINDS(FILE_KIND_ENTRY)};
#undef FILE_KIND_ENTRY

enum {
    // Before a file's first byte stands the address that the allocator gave; the file begins at a multiple of 64.
    IMAGE_SLACK = 2 * FILE_ALIGNMENT
};

bool pelti_cook_is_utf8(const char *text, uint64_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (uint64_t i = 0; i < size;) {
        uint32_t lead = bytes[i];
        uint32_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
        if (length == 0 || length > size - i) {
            return false;
        }
        for (uint32_t k = 1; k < length; k++) {
            if ((bytes[i + k] & 0xC0) != 0x80) {
                return false;
            }
        }
        // Of three and four bytes: no overlong forms, no surrogates, nothing over U+10FFFF.
        uint32_t next = length > 2 ? bytes[i + 1] : 0;
        if ((lead == 0xE0 && next < 0xA0) || (lead == 0xED && next > 0x9F) || (lead == 0xF0 && next < 0x90) ||
            (lead == 0xF4 && next > 0x8F)) {
            return false;
        }
        i += length;
    }
    return true;
}

static unsigned char *image_create(const pelt_allocator *allocator, uint64_t size)
{
    if (size > SIZE_MAX / 2 - IMAGE_SLACK) {
        return NULL;
    }
    unsigned char *memory = pelti_allocate(allocator, size + IMAGE_SLACK, 1);
    if (!memory) {
        return NULL;
    }
    size_t past = (size_t)((uintptr_t)memory % FILE_ALIGNMENT);
    unsigned char *image = memory + IMAGE_SLACK - past;
    memcpy(image - sizeof memory, &memory, sizeof memory);
    return image;
}

void pelt_cook_release(const pelt_cook_options *options, void *data, uint64_t size)
{
    pelt_allocator allocator = {0};
    if (options) {
        allocator = options->allocator;
    }
    if (data) {
        void *memory = NULL;
        memcpy(&memory, (unsigned char *)data - sizeof memory, sizeof memory);
        pelti_release(&allocator, memory, size + IMAGE_SLACK, 1);
    }
}

typedef struct copy_job {
    const cook_writer *writer;
    unsigned char *image;
    file_section *table;
} copy_job;

// Copies one section and the zeros up to the next, and hashes it.
static void copy_section(void *context, uint32_t index)
{
    const copy_job *job = context;
    const cook_section *section = &job->writer->sections[index];
    file_section *entry = &job->table[index];
    unsigned char *to = job->image + entry->offset;
    uint64_t padding = (FILE_ALIGNMENT - entry->size % FILE_ALIGNMENT) % FILE_ALIGNMENT;
    if (entry->size > 0) {
        memcpy(to, section->data, (size_t)entry->size);
    }
    memset(to + entry->size, 0, (size_t)padding);
    entry->hash = pelti_cook_hash(to, entry->size);
}

static bool align(uint64_t *offset)
{
    bool fits = pelti_add(*offset, FILE_ALIGNMENT - 1, offset);
    *offset -= *offset % FILE_ALIGNMENT;
    return fits;
}

// Fills the table but for hashes; false when the file would not fit in 64 bits.
static bool place_sections(const cook_writer *writer, uint64_t offset, file_section *table, uint64_t *out_size)
{
    for (uint64_t i = 0; i < writer->section_count; i++) {
        const cook_section *section = &writer->sections[i];
        uint64_t size = 0;
        if (!align(&offset) || !pelti_mul(section->count, section->element_size, &size)) {
            return false;
        }
        table[i] = (file_section){
            .kind = pelti_file_kinds[section->kind].code,
            .flags = FILE_SECTION_REQUIRED,
            .owner = section->owner,
            .sub = section->sub,
            .offset = offset,
            .size = size,
            .count = section->count,
            .element_size = section->element_size,
        };
        if (!pelti_add(offset, size, &offset)) {
            return false;
        }
    }
    *out_size = offset;
    return align(out_size);
}

static file_header make_header(const file_section *table, uint32_t section_count, uint64_t file_size)
{
    file_header header = {
        .byte_order = FILE_BYTE_ORDER,
        .version_major = FILE_VERSION_MAJOR,
        .version_minor = FILE_VERSION_MINOR,
        .header_size = sizeof header,
        .required_features = FILE_REQUIRED_FEATURES,
        .file_size = file_size,
        .table_offset = sizeof header,
        .section_count = section_count,
        .entry_size = sizeof *table,
        .table_hash = pelti_cook_hash(table, section_count * sizeof *table),
    };
    memcpy(header.magic, FILE_MAGIC, FILE_MAGIC_SIZE);
    header.header_hash = pelti_cook_hash(&header, FILE_HASHED_HEADER_SIZE);
    return header;
}

pelt_result pelti_cook_lay_out(const cook_writer *writer, void **out_data, uint64_t *out_size, pelt_error *error)
{
    uint32_t count = (uint32_t)writer->section_count;
    uint64_t size = 0;
    file_section *table = pelti_cook_allocate(writer->arena, count, sizeof *table);
    if (!table) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for the cooked file");
    }
    if (!place_sections(writer, sizeof(file_header) + (uint64_t)count * sizeof *table, table, &size)) {
        return pelti_fail(error, PELT_ERROR_LIMIT, "", "the cooked file is larger than 64 bits can tell");
    }
    unsigned char *image = image_create(&writer->options->allocator, size);
    if (!image) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for the cooked file of %llu bytes",
                          (unsigned long long)size);
    }
    copy_job job = {writer, image, table};
    pelti_parallel_run(writer->options->parallel, count, copy_section, &job);
    file_header header = make_header(table, count, size);
    memcpy(image, &header, sizeof header);
    memcpy(image + sizeof header, table, count * sizeof *table);
    *out_data = image;
    *out_size = size;
    return PELT_OK;
}

// SPDX-License-Identifier: MIT
// Brings a .pelt file into memory, and reads no more than its hashes.
#include "base/file.h"
#include "cook/hash.h"
#include "cook/reader.h"

// Below this a copy is cheaper than a mapping, and is safe from a file that is cut while it is in use. On POSIX systems
// a mapped file that another process cuts raises SIGBUS when the lost part is read: the library does not guard against
// that.
static const uint64_t smallest_mapping = 64 * 1024;

static pelt_result read_copy(const pelt_allocator *allocator, pelti_file file, uint64_t size, cook_bytes *out,
                             pelt_error *error)
{
    uint64_t memory_size = size + FILE_ALIGNMENT;
    uint8_t *memory = pelti_allocate(allocator, memory_size, 1);
    if (!memory) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for %llu bytes", (unsigned long long)size);
    }
    uint8_t *data = memory + FILE_ALIGNMENT - (uintptr_t)memory % FILE_ALIGNMENT;
    pelt_result result = pelti_file_read(file, 0, data, size, error);
    if (result != PELT_OK) {
        pelti_release(allocator, memory, memory_size, 1);
        return result;
    }
    *out = (cook_bytes){data, size, COOK_BYTES_ALLOCATED, memory, memory_size};
    return PELT_OK;
}

pelt_result pelti_cooked_read_file(const pelt_allocator *allocator, const char *path, cook_bytes *out,
                                   pelt_error *error)
{
    pelti_file file = {0};
    uint64_t size = 0;
    pelt_result result = pelti_file_open(path, &file, &size, error);
    if (result != PELT_OK) {
        return result;
    }
    void *mapping = size >= smallest_mapping ? pelti_file_map(file, size) : NULL;
    if (mapping) {
        *out = (cook_bytes){mapping, size, COOK_BYTES_MAPPED, mapping, size};
    } else {
        result = read_copy(allocator, file, size, out, error); // small, or on a file system that cannot map
    }
    pelti_file_close(file);
    return result;
}

void pelti_cooked_release_bytes(const pelt_allocator *allocator, cook_bytes *bytes)
{
    if (bytes->owner == COOK_BYTES_MAPPED) {
        pelti_file_unmap(bytes->memory, bytes->memory_size);
    } else if (bytes->owner == COOK_BYTES_ALLOCATED) {
        pelti_release(allocator, bytes->memory, bytes->memory_size, 1);
    }
    *bytes = (cook_bytes){0};
}

typedef struct table_reader {
    pelti_file file;
    uint64_t offset;
    pelt_result result;
} table_reader;

static bool read_piece(void *context, void *memory, size_t size)
{
    table_reader *reader = context;
    reader->result = pelti_file_read(reader->file, reader->offset, memory, size, NULL);
    reader->offset += size;
    return reader->result == PELT_OK;
}

// Entry by entry, since nothing may be allocated; META is the first one that pelt_cook writes.
static pelt_result find_meta(pelti_file file, const file_header *header, uint64_t file_size, file_section *out_entry)
{
    uint64_t offset = header->table_offset;
    for (uint32_t i = 0; i < header->section_count; i++, offset += header->entry_size) {
        pelt_result result = pelti_file_read(file, offset, out_entry, sizeof *out_entry, NULL);
        if (result != PELT_OK) {
            return result;
        }
        if (pelti_cooked_find_kind(out_entry->kind) == FILE_META) {
            result = pelti_cooked_check_entry(out_entry, i, file_size, NULL);
            return result == PELT_OK && out_entry->count != 1 ? PELT_ERROR_INVALID : result;
        }
    }
    return PELT_ERROR_INVALID;
}

static pelt_result read_meta(pelti_file file, uint64_t file_size, file_meta *out_meta)
{
    file_header header;
    file_section entry;
    uint64_t hash = 0;
    if (file_size < sizeof header) {
        return PELT_ERROR_INVALID;
    }
    pelt_result result = pelti_file_read(file, 0, &header, sizeof header, NULL);
    result = result == PELT_OK ? pelti_cooked_check_header(&header, file_size, false, NULL) : result;
    if (result != PELT_OK) {
        return result;
    }
    table_reader table = {file, header.table_offset, PELT_OK};
    if (!pelti_cook_hash_pieces(read_piece, &table, (uint64_t)header.section_count * header.entry_size, &hash)) {
        return table.result;
    }
    result = hash == header.table_hash ? find_meta(file, &header, file_size, &entry) : PELT_ERROR_INVALID;
    if (result != PELT_OK) {
        return result;
    }
    table_reader contents = {file, entry.offset, PELT_OK};
    if (!pelti_cook_hash_pieces(read_piece, &contents, entry.size, &hash)) {
        return contents.result;
    }
    return hash == entry.hash ? pelti_file_read(file, entry.offset, out_meta, sizeof *out_meta, NULL)
                              : PELT_ERROR_INVALID;
}

pelt_result pelt_cooked_read_hashes(const char *path, uint64_t out_source_hash[2], uint64_t *out_options_hash)
{
    pelti_file file = {0};
    uint64_t size = 0;
    file_meta meta;
    if (!path || !out_source_hash || !out_options_hash) {
        return PELT_ERROR_ARGUMENT;
    }
    pelt_result result = pelti_file_open(path, &file, &size, NULL);
    if (result != PELT_OK) {
        return result;
    }
    result = read_meta(file, size, &meta);
    pelti_file_close(file);
    if (result == PELT_OK) {
        out_source_hash[0] = meta.source_hash[0];
        out_source_hash[1] = meta.source_hash[1];
        *out_options_hash = meta.options_hash;
    }
    return result;
}

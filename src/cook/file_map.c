// SPDX-License-Identifier: MIT
// Brings a .pelt file into memory, and reads no more than its hashes.
#include "cook/hash.h"
#include "cook/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Below this a copy is cheaper than a mapping, and is safe from a file that is cut while it is in use. A mapped file
// that another process cuts raises SIGBUS when the lost part is read: the library does not guard against that.
static const uint64_t smallest_mapping = 64 * 1024;

static pelt_result fail_system(int code, pelt_error *error)
{
    char reason[128];
    if (strerror_r(code, reason, sizeof reason) != 0) {
        snprintf(reason, sizeof reason, "error %d", code);
    }
    return pelti_fail(error, PELT_ERROR_IO, "", "the file cannot be read: %s", reason);
}

// All of size bytes from offset.
static pelt_result read_at(int descriptor, uint64_t offset, void *memory, uint64_t size, pelt_error *error)
{
    uint64_t done = 0;
    while (done < size) {
        uint64_t wanted = size - done < (1u << 30) ? size - done : (1u << 30);
        ssize_t got = pread(descriptor, (uint8_t *)memory + done, (size_t)wanted, (off_t)(offset + done));
        if (got > 0) {
            done += (uint64_t)got;
        } else if (got == 0) {
            return pelti_fail(error, PELT_ERROR_IO, "", "the file became shorter while it was read");
        } else if (errno != EINTR) {
            return fail_system(errno, error);
        }
    }
    return PELT_OK;
}

static pelt_result open_regular(const char *path, int *out_descriptor, uint64_t *out_size, pelt_error *error)
{
    // O_NONBLOCK: opening a pipe that nobody writes to must not wait; it means nothing for regular files.
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) {
        return fail_system(errno, error);
    }
    struct stat status;
    pelt_result result = PELT_OK;
    if (fstat(descriptor, &status) != 0) {
        result = fail_system(errno, error);
    } else if (!S_ISREG(status.st_mode)) {
        result = pelti_fail(error, PELT_ERROR_IO, "", "the file cannot be read: it is %s, not a file",
                            S_ISDIR(status.st_mode) ? "a directory" : "a pipe or a device");
    }
    if (result != PELT_OK) {
        close(descriptor);
        return result;
    }
    *out_descriptor = descriptor;
    *out_size = (uint64_t)status.st_size;
    return PELT_OK;
}

static pelt_result read_copy(const pelt_allocator *allocator, int descriptor, uint64_t size, cook_bytes *out,
                             pelt_error *error)
{
    uint64_t memory_size = size + FILE_ALIGNMENT;
    uint8_t *memory = pelti_allocate(allocator, memory_size, 1);
    if (!memory) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for %llu bytes", (unsigned long long)size);
    }
    uint8_t *data = memory + FILE_ALIGNMENT - (uintptr_t)memory % FILE_ALIGNMENT;
    pelt_result result = read_at(descriptor, 0, data, size, error);
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
    int descriptor = -1;
    uint64_t size = 0;
    pelt_result result = open_regular(path, &descriptor, &size, error);
    if (result != PELT_OK) {
        return result;
    }
    void *mapping = MAP_FAILED;
    if (size >= smallest_mapping && size <= SIZE_MAX / 2) {
        mapping = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    }
    if (mapping != MAP_FAILED) {
        *out = (cook_bytes){mapping, size, COOK_BYTES_MAPPED, mapping, size};
    } else {
        result = read_copy(allocator, descriptor, size, out, error); // small, or on a file system that cannot map
    }
    close(descriptor);
    return result;
}

void pelti_cooked_release_bytes(const pelt_allocator *allocator, cook_bytes *bytes)
{
    if (bytes->owner == COOK_BYTES_MAPPED) {
        munmap(bytes->memory, (size_t)bytes->memory_size);
    } else if (bytes->owner == COOK_BYTES_ALLOCATED) {
        pelti_release(allocator, bytes->memory, bytes->memory_size, 1);
    }
    *bytes = (cook_bytes){0};
}

typedef struct table_reader {
    int descriptor;
    uint64_t offset;
    pelt_result result;
} table_reader;

static bool read_piece(void *context, void *memory, size_t size)
{
    table_reader *reader = context;
    reader->result = read_at(reader->descriptor, reader->offset, memory, size, NULL);
    reader->offset += size;
    return reader->result == PELT_OK;
}

// Entry by entry, since nothing may be allocated; META is the first one that pelt_cook writes.
static pelt_result find_meta(int descriptor, const file_header *header, uint64_t file_size, file_section *out_entry)
{
    uint64_t offset = header->table_offset;
    for (uint32_t i = 0; i < header->section_count; i++, offset += header->entry_size) {
        pelt_result result = read_at(descriptor, offset, out_entry, sizeof *out_entry, NULL);
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

static pelt_result read_meta(int descriptor, uint64_t file_size, file_meta *out_meta)
{
    file_header header;
    file_section entry;
    uint64_t hash = 0;
    if (file_size < sizeof header) {
        return PELT_ERROR_INVALID;
    }
    pelt_result result = read_at(descriptor, 0, &header, sizeof header, NULL);
    result = result == PELT_OK ? pelti_cooked_check_header(&header, file_size, false, NULL) : result;
    if (result != PELT_OK) {
        return result;
    }
    table_reader table = {descriptor, header.table_offset, PELT_OK};
    if (!pelti_cook_hash_pieces(read_piece, &table, (uint64_t)header.section_count * header.entry_size, &hash)) {
        return table.result;
    }
    result = hash == header.table_hash ? find_meta(descriptor, &header, file_size, &entry) : PELT_ERROR_INVALID;
    if (result != PELT_OK) {
        return result;
    }
    table_reader contents = {descriptor, entry.offset, PELT_OK};
    if (!pelti_cook_hash_pieces(read_piece, &contents, entry.size, &hash)) {
        return contents.result;
    }
    return hash == entry.hash ? read_at(descriptor, entry.offset, out_meta, sizeof *out_meta, NULL)
                              : PELT_ERROR_INVALID;
}

pelt_result pelt_cooked_read_hashes(const char *path, uint64_t out_source_hash[2], uint64_t *out_options_hash)
{
    int descriptor = -1;
    uint64_t size = 0;
    file_meta meta;
    if (!path || !out_source_hash || !out_options_hash) {
        return PELT_ERROR_ARGUMENT;
    }
    pelt_result result = open_regular(path, &descriptor, &size, NULL);
    if (result != PELT_OK) {
        return result;
    }
    result = read_meta(descriptor, size, &meta);
    close(descriptor);
    if (result == PELT_OK) {
        out_source_hash[0] = meta.source_hash[0];
        out_source_hash[1] = meta.source_hash[1];
        *out_options_hash = meta.options_hash;
    }
    return result;
}

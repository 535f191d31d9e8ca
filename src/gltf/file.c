// SPDX-License-Identifier: MIT
// Brings a whole file into memory: mapped when large, read when small.
#include "gltf_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Below this a copy is cheaper than a mapping, and is safe from a file that is cut while it is in use. A mapped file
// that another process cuts raises SIGBUS when the lost part is read: the library does not guard against that.
static const uint64_t smallest_mapping = 64 * 1024;

static pelt_result fail_system(int code, const char *subject, const char *where, pelt_error *error)
{
    char reason[128];
    if (strerror_r(code, reason, sizeof reason) != 0) {
        snprintf(reason, sizeof reason, "error %d", code);
    }
    return pelti_fail(error, PELT_ERROR_IO, where, "%s cannot be read: %s", subject, reason);
}

static pelt_result read_all(const pelt_gltf_options *options, int descriptor, uint64_t size, const char *subject,
                            const char *where, gltf_bytes *out, pelt_error *error)
{
    if (size > options->limits.memory) {
        pelti_fail(error, PELT_ERROR_LIMIT, where, "%s has %llu bytes, over the memory limit of %llu", subject,
                   (unsigned long long)size, (unsigned long long)options->limits.memory);
        pelti_hint(error, "raise the limit with --max-memory");
        return PELT_ERROR_LIMIT;
    }
    uint8_t *memory = pelti_allocate(&options->allocator, size, 1);
    if (!memory) {
        return pelti_fail(error, PELT_ERROR_MEMORY, where, "%s: out of memory for %llu bytes", subject,
                          (unsigned long long)size);
    }
    uint64_t done = 0;
    while (done < size) {
        uint64_t wanted = size - done < (1u << 30) ? size - done : (1u << 30);
        ssize_t got = read(descriptor, memory + done, (size_t)wanted);
        if (got > 0) {
            done += (uint64_t)got;
        } else if (got == 0 || errno != EINTR) {
            int code = errno;
            pelti_release(&options->allocator, memory, size, 1);
            return got < 0 ? fail_system(code, subject, where, error)
                           : pelti_fail(error, PELT_ERROR_IO, where, "%s became shorter while it was read", subject);
        }
    }
    *out = (gltf_bytes){.data = memory, .size = size, .capacity = size, .owner = GLTF_BYTES_ALLOCATED};
    return PELT_OK;
}

static pelt_result read_open(const pelt_gltf_options *options, int descriptor, const char *subject, const char *where,
                             gltf_bytes *out, pelt_error *error)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0) {
        return fail_system(errno, subject, where, error);
    }
    if (!S_ISREG(status.st_mode)) {
        return pelti_fail(error, PELT_ERROR_IO, where, "%s cannot be read: it is %s, not a file", subject,
                          S_ISDIR(status.st_mode) ? "a directory" : "a pipe or a device");
    }
    uint64_t size = (uint64_t)status.st_size;
    if (size > options->limits.file_size) {
        pelti_fail(error, PELT_ERROR_LIMIT, where, "%s has %llu bytes, over the limit of %llu", subject,
                   (unsigned long long)size, (unsigned long long)options->limits.file_size);
        pelti_hint(error, "raise the limit with --max-file-size");
        return PELT_ERROR_LIMIT;
    }
    if (size == 0) {
        *out = (gltf_bytes){.data = (const uint8_t *)"", .owner = GLTF_BYTES_BORROWED};
        return PELT_OK;
    }
    if (size >= smallest_mapping && size <= SIZE_MAX / 2) {
        void *mapping = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (mapping != MAP_FAILED) {
            *out = (gltf_bytes){.data = mapping, .size = size, .capacity = size, .owner = GLTF_BYTES_MAPPED};
            return PELT_OK;
        }
    }
    // Small, or on a file system that cannot map.
    return read_all(options, descriptor, size, subject, where, out, error);
}

pelt_result pelti_gltf_read_file(const pelt_gltf_options *options, const char *path, const char *subject,
                                 const char *where, gltf_bytes *out, pelt_error *error)
{
    *out = (gltf_bytes){.data = NULL};
    // O_NONBLOCK: opening a pipe that nobody writes to must not wait; it means nothing for regular files.
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) {
        return fail_system(errno, subject, where, error);
    }
    pelt_result result = read_open(options, descriptor, subject, where, out, error);
    close(descriptor);
    return result;
}

void pelti_gltf_release_file(const pelt_allocator *allocator, gltf_bytes *bytes)
{
    if (bytes->data && bytes->owner == GLTF_BYTES_MAPPED) {
        // munmap takes a pointer to non-const; nothing is written.
        union {
            const void *constant;
            void *plain;
        } address = {.constant = bytes->data};
        munmap(address.plain, (size_t)bytes->capacity);
    } else if (bytes->data && bytes->owner == GLTF_BYTES_ALLOCATED) {
        union {
            const void *constant;
            void *plain;
        } address = {.constant = bytes->data};
        pelti_release(allocator, address.plain, bytes->capacity, 1);
    }
    *bytes = (gltf_bytes){.data = NULL};
}

// SPDX-License-Identifier: MIT
// Files of POSIX systems.
#include "base/file.h"

#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static pelt_result fail_system(int code, pelt_error *error)
{
    char reason[128];
    if (strerror_r(code, reason, sizeof reason) != 0) {
        snprintf(reason, sizeof reason, "error %d", code);
    }
    return pelti_fail(error, PELT_ERROR_IO, "", "the file cannot be read: %s", reason);
}

pelt_result pelti_file_open(const char *path, pelti_file *out, uint64_t *out_size, pelt_error *error)
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
    out->handle = descriptor;
    *out_size = (uint64_t)status.st_size;
    return PELT_OK;
}

void pelti_file_close(pelti_file file)
{
    close((int)file.handle);
}

pelt_result pelti_file_read(pelti_file file, uint64_t offset, void *memory, uint64_t size, pelt_error *error)
{
    uint64_t done = 0;
    while (done < size) {
        uint64_t wanted = size - done < (1u << 30) ? size - done : (1u << 30);
        ssize_t got = pread((int)file.handle, (uint8_t *)memory + done, (size_t)wanted, (off_t)(offset + done));
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

void *pelti_file_map(pelti_file file, uint64_t size)
{
    void *memory =
        size <= SIZE_MAX / 2 ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, (int)file.handle, 0) : MAP_FAILED;
    return memory != MAP_FAILED ? memory : NULL;
}

void pelti_file_unmap(void *memory, uint64_t size)
{
    munmap(memory, (size_t)size);
}

// SPDX-License-Identifier: MIT
// Files of the operating system, read or mapped: file_posix.c or file_windows.c, whichever the build takes in.
#ifndef PELTI_FILE_H
#define PELTI_FILE_H

#include <pelt/base.h>

// A regular file, open for reading.
typedef struct pelti_file {
    intptr_t handle;
} pelti_file;

// path is UTF-8. A pipe, a device or a directory is refused, and nothing waits for a pipe's other end. Errors: IO.
pelt_result pelti_file_open(const char *path, pelti_file *out, uint64_t *out_size, pelt_error *error);
void pelti_file_close(pelti_file file);
// All of size bytes from offset. Errors: IO, also where the file is shorter.
pelt_result pelti_file_read(pelti_file file, uint64_t offset, void *memory, uint64_t size, pelt_error *error);

// The first size > 0 bytes, which outlive the open file, at a multiple of 64; NULL where the file system cannot map.
// Where another process cuts a mapped file, reading the lost part raises SIGBUS; Windows does not let it be cut.
void *pelti_file_map(pelti_file file, uint64_t size);
void pelti_file_unmap(void *memory, uint64_t size);

#endif

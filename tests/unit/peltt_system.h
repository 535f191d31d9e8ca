// SPDX-License-Identifier: MIT
// What tests ask of the operating system: pages that must not be touched, files, clocks. peltt_system_posix.c or
// peltt_system_windows.c, whichever the build takes in.
#ifndef PELTT_SYSTEM_H
#define PELTT_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// Pages of zeros between two pages that nothing can read or write; *size is rounded up to whole pages. NULL where there
// are none.
uint8_t *peltt_pages_map(size_t *size);
// size rounded up to whole pages.
size_t peltt_pages_round(size_t size);
void peltt_pages_unmap(uint8_t *pages, size_t size);

// A multiple of 64, for what the library wants aligned. NULL where there is no memory.
void *peltt_aligned_allocate(size_t size);
void peltt_aligned_free(void *memory);

// UTF-8: a file of this process in the system's folder for such, with letters of several scripts in its name.
const char *peltt_temporary_path(void);
// fopen and remove of a UTF-8 path.
FILE *peltt_open(const char *path, const char *mode);
bool peltt_remove(const char *path);
// The system's words for a file in a folder that is not there.
const char *peltt_missing_text(void);
// A pipe with a name that nobody writes to; fails the test where there is none.
const char *peltt_pipe_make(void);
void peltt_pipe_free(void);

void peltt_sleep(uint32_t milliseconds);
double peltt_wall_seconds(void);
// Of all threads of this process.
double peltt_processor_seconds(void);

// From here on no thread can be started, until it is called with false. False where the system has no such limit.
bool peltt_forbid_threads(bool forbid);

#endif

// SPDX-License-Identifier: MIT
// What the libFuzzer targets share: the input is evaluated in a copy that ends where an unmapped page begins, so that
// reading past its end traps even where no sanitizer looks. A promise that does not hold aborts.
#ifndef PELTT_GUARDED_H
#define PELTT_GUARDED_H

#include "evaluate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef peltt_evaluation (*peltt_target)(const uint8_t *data, size_t size);

// alignment: of the copy's start, a power of two; the copy ends less than that before the unmapped page.
static inline int peltt_run_guarded(peltt_target target, const uint8_t *data, size_t size, size_t alignment)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t length = (size + page - 1) / page * page + page;
    uint8_t *pages = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (pages == MAP_FAILED) {
        return 0;
    }
    uint8_t *copy = pages + length - page - (size + alignment - 1) / alignment * alignment;
    if (size > 0) {
        memcpy(copy, data, size);
    }
    if (mprotect(pages + length - page, page, PROT_NONE) != 0) {
        abort();
    }
    peltt_evaluation evaluation = target(copy, size);
    munmap(pages, length);
    if (evaluation.violation) {
        fprintf(stderr, "violation: %s\n", evaluation.violation);
        abort();
    }
    return 0;
}

#endif

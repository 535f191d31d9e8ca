// SPDX-License-Identifier: MIT
// Memory between two unmapped pages, and streams of it at any stride.
#ifndef PELTT_GUARDED_H
#define PELTT_GUARDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct peltt_guarded {
    uint8_t *mapping;
    size_t mapping_size;
    uint8_t *data; // size bytes, filled with 0xCC
    size_t size;
} peltt_guarded;

// at_end: the last byte is the last of a page, else the first byte is the first of one. Ends the process when out of
// memory.
peltt_guarded peltt_guarded_make(size_t size, bool at_end);
void peltt_guarded_free(peltt_guarded *guarded);

#endif

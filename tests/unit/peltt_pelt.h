// SPDX-License-Identifier: MIT
// .pelt files as bytes, read and rebuilt from docs/format.md alone, without the library's own structs.
#ifndef PELTT_PELT_H
#define PELTT_PELT_H

#include "peltt_model.h"

#include <pelt/cook.h>

// A file in memory aligned to 64, of exactly size bytes, that may be spoilt.
typedef struct peltt_pelt {
    unsigned char *data;
    uint64_t size;
} peltt_pelt;

typedef struct peltt_pelt_section {
    char kind[5];
    uint32_t flags;
    uint32_t owner;
    uint32_t sub;
    uint64_t offset;
    uint64_t size;
    uint64_t count;
    uint32_t element_size;
    uint64_t hash;
} peltt_pelt_section;

// A copy; the test fails when out of memory.
peltt_pelt peltt_pelt_copy(const void *data, uint64_t size);
// What is cooked of the asset, or of the model of that seed; the test fails where that fails.
peltt_pelt peltt_pelt_cook(const pelt_asset *asset, const pelt_cook_options *options);
peltt_pelt peltt_pelt_model(const peltt_model_shape *shape, uint64_t seed, const peltt_model_change *change,
                            const pelt_cook_options *options);
void peltt_pelt_free(peltt_pelt *file);

uint32_t peltt_pelt_count(const peltt_pelt *file);
peltt_pelt_section peltt_pelt_get(const peltt_pelt *file, uint32_t index);
// Writes a section's entry back to the table.
void peltt_pelt_set(peltt_pelt *file, uint32_t index, const peltt_pelt_section *section);
// Its index; the test fails where the file has none.
uint32_t peltt_pelt_find(const peltt_pelt *file, const char *kind, uint32_t owner, uint32_t sub);
bool peltt_pelt_has(const peltt_pelt *file, const char *kind, uint32_t owner, uint32_t sub);
// Where an element's byte lies.
unsigned char *peltt_pelt_at(const peltt_pelt *file, const char *kind, uint32_t owner, uint32_t sub, uint64_t element,
                             uint64_t byte);

// The same file laid out anew, with one section's (changed; UINT32_MAX: none) elements widened to element_size by
// rubbish bytes behind each, or one section left out (element_size 0), and, where extra is not NULL, a section of that
// kind with 100 bytes more. Hashes are not made: open it with skip_hashes.
peltt_pelt peltt_pelt_rebuild(const peltt_pelt *file, uint32_t changed, uint32_t element_size, const char *extra,
                              uint32_t extra_flags);

#endif

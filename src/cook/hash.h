// SPDX-License-Identifier: MIT
// XXH3 of the file's parts.
#ifndef PELTI_COOK_HASH_H
#define PELTI_COOK_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t pelti_cook_hash(const void *data, uint64_t size);

// The same over size bytes that read brings piece by piece; false as soon as read says so.
typedef bool (*pelti_cook_piece)(void *context, void *memory, size_t size);
bool pelti_cook_hash_pieces(pelti_cook_piece read, void *context, uint64_t size, uint64_t *out_hash);

#endif

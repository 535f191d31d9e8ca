// SPDX-License-Identifier: MIT
// Memory of one cooking: a list of blocks that are released together. Small arrays share a block, large ones have
// their own.
#include "cook/cook_internal.h"

enum {
    ALIGNMENT = 16,
    FIRST_BLOCK_SIZE = 4 * 1024,
    LAST_BLOCK_SIZE = 64 * 1024 // blocks double up to here: a model may have thousands of small primitives
};

// Before the memory of each block. 32 bytes.
typedef struct block {
    struct block *next;
    uint64_t size; // with this header
    uint64_t used; // with this header
    uint64_t padding;
} block;

static_assert(sizeof(block) % ALIGNMENT == 0, "memory follows the header and must stay aligned");

static block *block_create(const pelt_allocator *allocator, uint64_t size)
{
    block *made = NULL;
    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    if (allocator->resize) {
        made = pelti_allocate(allocator, 1, (size_t)size);
        if (made) {
            memset(made, 0, (size_t)size);
        }
    } else {
        made = calloc(1, (size_t)size); // fresh pages are not touched twice
    }
    if (made) {
        made->size = size;
        made->used = sizeof *made;
    }
    return made;
}

void *pelti_cook_allocate(cook_arena *arena, uint64_t count, size_t size)
{
    uint64_t total = 0;
    if (arena->failed || !pelti_mul(count, size, &total) || total > SIZE_MAX / 4) {
        arena->failed = true;
        return NULL;
    }
    uint64_t rounded = total == 0 ? ALIGNMENT : (total + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    block *first = arena->blocks;
    if (!first || first->size - first->used < rounded) {
        uint64_t next_size = !first                               ? FIRST_BLOCK_SIZE
                             : first->size >= LAST_BLOCK_SIZE / 2 ? LAST_BLOCK_SIZE
                                                                  : 2 * first->size;
        bool alone = rounded > next_size / 4;
        block *made = block_create(&arena->allocator, alone ? sizeof *made + rounded : next_size);
        if (!made) {
            arena->failed = true;
            return NULL;
        }
        // A block that is full at once goes behind the first, which goes on serving small arrays.
        if (alone && first) {
            made->next = first->next;
            first->next = made;
        } else {
            made->next = first;
            arena->blocks = made;
        }
        first = made;
    }
    void *memory = (unsigned char *)first + first->used;
    first->used += rounded;
    return memory;
}

void pelti_cook_release_arena(cook_arena *arena)
{
    block *next = arena->blocks;
    while (next) {
        block *released = next;
        next = released->next;
        pelti_release(&arena->allocator, released, 1, (size_t)released->size);
    }
    arena->blocks = NULL;
    arena->failed = false;
}

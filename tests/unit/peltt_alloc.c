// SPDX-License-Identifier: MIT
// The counting allocator: each block carries its size in front, which is how a wrong old_size is found.
#include "peltt_alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER_SIZE = 32, // keeps malloc's alignment of 16
    BLOCK_MAGIC = 0x50454C54
};

typedef struct block_header {
    uint64_t magic;
    uint64_t size;
    const void *owner;
} block_header;

// Stays on in builds with NDEBUG, unlike assert.
static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "peltt_alloc: %s\n", what);
        abort();
    }
}

static unsigned char *allocate(peltt_alloc *state, size_t size)
{
    unsigned char *block = malloc(HEADER_SIZE + size);
    require(block != NULL, "the machine is out of memory");
    block_header header = {BLOCK_MAGIC, size, state};
    memcpy(block, &header, sizeof header);
    memset(block + HEADER_SIZE, 0xA5, size);
    state->live_blocks++;
    state->live_bytes += size;
    if (state->live_bytes > state->peak_bytes) {
        state->peak_bytes = state->live_bytes;
    }
    return block + HEADER_SIZE;
}

static void release(peltt_alloc *state, unsigned char *memory, size_t size)
{
    unsigned char *block = memory - HEADER_SIZE;
    memset(block, 0x5A, HEADER_SIZE + size);
    free(block);
    state->live_blocks--;
    state->live_bytes -= size;
}

static void *resize(void *user, void *memory, size_t old_size, size_t new_size)
{
    peltt_alloc *state = user;
    if (memory) {
        block_header header;
        memcpy(&header, (unsigned char *)memory - HEADER_SIZE, sizeof header);
        require(header.magic == BLOCK_MAGIC, "not a live block");
        require(header.owner == state, "a block of another allocator");
        require(header.size == old_size, "old_size is not the block's size");
    } else {
        require(old_size == 0, "old_size without a block");
        require(new_size != 0, "an allocation of 0 bytes");
    }
    if (new_size > old_size) {
        state->call_count++;
        if (state->call_count == state->fail_at) {
            return NULL;
        }
    }
    unsigned char *moved = NULL;
    if (new_size != 0) {
        moved = allocate(state, new_size);
        if (memory) {
            memcpy(moved, memory, old_size < new_size ? old_size : new_size);
        }
    }
    if (memory) {
        release(state, memory, old_size);
    }
    return moved;
}

pelt_allocator peltt_alloc_make(peltt_alloc *state)
{
    return (pelt_allocator){resize, state};
}

// SPDX-License-Identifier: MIT
// A counting allocator for tests: it can fail the n-th allocation, checks every old_size it is given, moves each block
// that grows and fills fresh memory with rubbish, so that stale pointers and missing initialisation show.
#ifndef PELTT_ALLOC_H
#define PELTT_ALLOC_H

#include <pelt/base.h>

typedef struct peltt_alloc {
    uint64_t call_count; // allocations and growths asked for so far; shrinking and releasing neither count nor fail
    uint64_t fail_at;    // the call that returns NULL, counted from 1; 0 = never
    uint64_t live_bytes;
    uint64_t peak_bytes;
    uint64_t live_blocks;
} peltt_alloc;

// Uses *state, which must outlive every block. One thread at a time.
pelt_allocator peltt_alloc_make(peltt_alloc *state);

#endif

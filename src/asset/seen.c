// SPDX-License-Identifier: MIT
// Remembers which arrays finish has scanned: many primitives may share one vertex array, and scanning it for each would
// be quadratic. An open hash table keyed by array, length and kind of scan.
#include "asset/asset_internal.h"

struct asset_seen_entry {
    const void *memory; // NULL = free
    uint64_t count;
    asset_scan scan;
    uint32_t value;
};

// Source of the mixing: D. Stafford, "Better Bit Mixing", mix 13.
static uint64_t hash(const void *memory, uint64_t count, asset_scan scan)
{
    uint64_t x = (uint64_t)(uintptr_t)memory ^ (count << 20) ^ ((uint64_t)scan << 60);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

// The entry of that key, or the free one where it belongs.
static asset_seen_entry *probe(asset_seen_entry *entries, uint64_t capacity, const void *memory, uint64_t count,
                               asset_scan scan)
{
    uint64_t at = hash(memory, count, scan) & (capacity - 1);
    while (entries[at].memory &&
           (entries[at].memory != memory || entries[at].count != count || entries[at].scan != scan)) {
        at = (at + 1) & (capacity - 1);
    }
    return &entries[at];
}

static bool grow(const pelt_allocator *allocator, asset_seen *seen)
{
    uint64_t capacity = seen->capacity == 0 ? 64 : seen->capacity * 2;
    asset_seen_entry *entries = pelti_allocate(allocator, capacity, sizeof *entries);
    if (!entries) {
        return false;
    }
    memset(entries, 0, capacity * sizeof *entries);
    for (uint64_t i = 0; i < seen->capacity; i++) {
        const asset_seen_entry *old = &seen->entries[i];
        if (old->memory) {
            *probe(entries, capacity, old->memory, old->count, old->scan) = *old;
        }
    }
    pelti_release(allocator, seen->entries, seen->capacity, sizeof *entries);
    seen->entries = entries;
    seen->capacity = capacity;
    return true;
}

uint32_t *pelti_asset_seen(asset_finish *finish, const void *memory, uint64_t count, asset_scan scan, bool *out_is_new)
{
    asset_seen *seen = &finish->seen;
    if (seen->used >= seen->capacity / 2 && !grow(&finish->builder->allocator, seen)) {
        return NULL;
    }
    asset_seen_entry *entry = probe(seen->entries, seen->capacity, memory, count, scan);
    *out_is_new = !entry->memory;
    if (!entry->memory) {
        *entry = (asset_seen_entry){memory, count, scan, 0};
        seen->used++;
    }
    return &entry->value;
}

void pelti_asset_seen_release(asset_finish *finish)
{
    pelti_release(&finish->builder->allocator, finish->seen.entries, finish->seen.capacity, sizeof(asset_seen_entry));
    finish->seen = (asset_seen){0};
}

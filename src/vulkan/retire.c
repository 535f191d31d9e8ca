// SPDX-License-Identifier: MIT
// Ranges and slots that frames in flight may still use: a ring buffer in the order of frames, with room made when
// objects are added, so that removing them cannot fail.
#include "vulkan.h"

enum {
    FIRST_CAPACITY = 64
};

bool pelti_vk_retirement_reserve(pelti_vk_retirement *r, uint32_t count)
{
    uint64_t wanted = (uint64_t)r->count + r->reserved + count;
    if (wanted > r->capacity) {
        uint64_t capacity = r->capacity ? (uint64_t)r->capacity * 2 : FIRST_CAPACITY;
        capacity = capacity < wanted ? wanted : capacity;
        if (capacity > UINT32_MAX || capacity > SIZE_MAX / 2 / sizeof *r->entries) {
            return false;
        }
        pelti_vk_discard *grown =
            pelti_resize(r->allocator, r->entries, r->capacity * sizeof *grown, (size_t)capacity * sizeof *grown);
        if (!grown) {
            return false;
        }
        r->entries = grown;
        if ((uint64_t)r->first + r->count > r->capacity) {
            // What had wrapped around goes on where the old end was: at least that much was added.
            uint32_t wrapped = r->first + r->count - r->capacity;
            memcpy(grown + r->capacity, grown, wrapped * sizeof *grown);
        }
        r->capacity = (uint32_t)capacity;
    }
    r->reserved += count;
    return true;
}

void pelti_vk_retirement_unreserve(pelti_vk_retirement *r, uint32_t count)
{
    assert(count <= r->reserved);
    r->reserved -= count;
}

static pelti_vk_discard *entry(const pelti_vk_retirement *r, uint32_t place)
{
    uint64_t index = (uint64_t)r->first + place;
    return &r->entries[index < r->capacity ? index : index - r->capacity];
}

static void push(pelti_vk_retirement *r, pelti_vk_discard discard)
{
    assert(r->reserved > 0 && r->count < r->capacity);
    assert(r->count == 0 || entry(r, r->count - 1)->frame <= discard.frame);
    r->reserved--;
    *entry(r, r->count) = discard;
    r->count++;
}

void pelti_vk_discard_range(pelti_vk_retirement *r, uint64_t frame, pelti_vk_heap *heap, pelti_vk_range *range)
{
    if (range->size == 0) {
        pelti_vk_retirement_unreserve(r, 1);
        return;
    }
    push(r, (pelti_vk_discard){.frame = frame, .owner = heap, .slot = range->piece});
    *range = (pelti_vk_range){0};
}

void pelti_vk_discard_slot(pelti_vk_retirement *r, uint64_t frame, void (*reuse)(void *owner, uint32_t slot),
                           void *owner, uint32_t slot)
{
    push(r, (pelti_vk_discard){.frame = frame, .reuse = reuse, .owner = owner, .slot = slot});
}

void pelti_vk_retirement_run(pelti_vk_retirement *r, uint64_t frame)
{
    while (r->count > 0 && r->entries[r->first].frame <= frame) {
        pelti_vk_discard discard = r->entries[r->first];
        r->first = r->first + 1 < r->capacity ? r->first + 1 : 0;
        r->count--;
        if (discard.reuse) {
            discard.reuse(discard.owner, discard.slot);
        } else {
            pelti_vk_range range = {.size = 1, .piece = discard.slot};
            pelti_vk_heap_free(discard.owner, &range);
        }
    }
}

void pelti_vk_retirement_destroy(pelti_vk_retirement *r)
{
    pelti_release(r->allocator, r->entries, r->capacity, sizeof *r->entries);
    *r = (pelti_vk_retirement){.allocator = r->allocator};
}

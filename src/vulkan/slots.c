// SPDX-License-Identifier: MIT
// Handles: slots with generations, so that a handle whose object is gone stays invalid when its slot is used again.
#include "scene.h"

bool pelti_vk_grow(const pelt_allocator *allocator, void *array, uint32_t *capacity, uint32_t count, size_t size)
{
    if (count <= *capacity) {
        return true;
    }
    uint64_t wanted = *capacity ? *capacity : 16;
    while (wanted < count) {
        wanted *= 2;
    }
    uint64_t bytes = 0;
    if (wanted > UINT32_MAX || !pelti_mul(wanted, size, &bytes) || bytes > SIZE_MAX / 2) {
        return false;
    }
    void *old = NULL;
    memcpy(&old, array, sizeof old); // array is the address of a pointer of any type
    char *grown = pelti_resize(allocator, old, *capacity * size, (size_t)bytes);
    if (!grown) {
        return false;
    }
    memset(grown + *capacity * size, 0, (size_t)bytes - *capacity * size);
    memcpy(array, &grown, sizeof grown);
    *capacity = (uint32_t)wanted;
    return true;
}

void pelti_vk_slots_init(pelti_vk_slots *s, const pelt_allocator *allocator, uint32_t limit)
{
    *s = (pelti_vk_slots){.allocator = allocator, .limit = limit, .first_free = PELT_NONE};
}

pelt_result pelti_vk_slots_reserve(pelti_vk_slots *s, pelt_error *error)
{
    if (s->first_free != PELT_NONE) {
        return PELT_OK;
    }
    if (s->count >= s->limit) {
        return pelti_fail(error, PELT_ERROR_LIMIT, "", "more than %u objects of one kind", (unsigned)s->limit);
    }
    if (!pelti_vk_grow(s->allocator, &s->slots, &s->capacity, s->count + 1, sizeof *s->slots)) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for handles");
    }
    return PELT_OK;
}

uint32_t pelti_vk_slots_next(const pelti_vk_slots *s)
{
    return s->first_free != PELT_NONE ? s->first_free : s->count;
}

uint32_t pelti_vk_slots_take(pelti_vk_slots *s)
{
    uint32_t slot = pelti_vk_slots_next(s);
    if (s->first_free != PELT_NONE) {
        s->first_free = s->slots[slot].next_free;
    } else {
        s->count++;
    }
    s->slots[slot].generation++;
    return slot;
}

void pelti_vk_slots_drop(pelti_vk_slots *s, uint32_t slot)
{
    s->slots[slot].generation++;
}

void pelti_vk_slots_reuse(void *slots, uint32_t slot)
{
    pelti_vk_slots *s = slots;
    // After 2^31 objects the handle of the first would come alive again: such a slot stays out of use.
    if (s->slots[slot].generation != 0) {
        s->slots[slot].next_free = s->first_free;
        s->first_free = slot;
    }
}

bool pelti_vk_slots_live(const pelti_vk_slots *s, uint32_t index, uint32_t generation)
{
    return index < s->count && (generation & 1U) != 0 && s->slots[index].generation == generation;
}

void pelti_vk_slots_destroy(pelti_vk_slots *s)
{
    pelti_release(s->allocator, s->slots, s->capacity, sizeof *s->slots);
    s->slots = NULL;
}

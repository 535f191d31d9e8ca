// SPDX-License-Identifier: MIT
// Records of one size in device memory. Mirrored tables have the same records on the host and upload those that were
// changed; the others are written by the GPU and copied there when they grow.
#include "vulkan.h"

enum {
    FIRST_CAPACITY = 64,
    SCAN_SHARE = 1024 // above one dirty record in so many, scanning all is_dirty bytes is faster than sorting
};

void pelti_vk_table_init(pelti_vk_table *t, const pelt_vk_context *context, pelti_vk_heap *heap, uint32_t record_size,
                         bool mirrored)
{
    assert(record_size > 0 && record_size % 4 == 0);
    *t = (pelti_vk_table){.context = context, .heap = heap, .record_size = record_size, .mirrored = mirrored};
}

// The host's side of one record: itself, an entry of dirty, a byte of is_dirty. All lie in one allocation in this
// order.
static size_t host_size(const pelti_vk_table *t)
{
    return t->record_size + sizeof *t->dirty + sizeof *t->is_dirty;
}

void pelti_vk_table_destroy(pelti_vk_table *t)
{
    if (!t->context) {
        return;
    }
    pelti_vk_heap_free(t->heap, &t->range);
    pelti_vk_heap_free(t->heap, &t->before);
    pelti_release(&t->context->options.allocator, t->records, t->capacity, host_size(t));
    *t = (pelti_vk_table){0};
}

// Twice as many records, or what the device's largest buffer holds of them, but at least one for slot.
static uint32_t grown_capacity(const pelti_vk_table *t, uint32_t slot)
{
    uint64_t most = (t->context->max_buffer_size - t->context->max_buffer_size % PELTI_VK_ALIGNMENT) / t->record_size;
    most = most < PELT_NONE ? most : PELT_NONE;
    uint64_t wanted = t->capacity ? (uint64_t)t->capacity * 2 : FIRST_CAPACITY;
    wanted = wanted < most ? wanted : most;
    return wanted > slot ? (uint32_t)wanted : slot + 1;
}

static bool grow_host(pelti_vk_table *t, uint32_t capacity)
{
    const pelt_allocator *allocator = &t->context->options.allocator;
    char *records = pelti_allocate(allocator, capacity, host_size(t));
    if (!records) {
        return false;
    }
    size_t records_size = (size_t)capacity * t->record_size;
    uint32_t *dirty = (uint32_t *)(void *)(records + records_size);
    uint8_t *is_dirty = (uint8_t *)(dirty + capacity);
    size_t old_size = (size_t)t->capacity * t->record_size;
    memset(records + old_size, 0, records_size - old_size);
    memset(is_dirty, 0, capacity);
    if (t->records) {
        memcpy(records, t->records, old_size);
        memcpy(dirty, t->dirty, t->dirty_count * sizeof *dirty);
        memcpy(is_dirty, t->is_dirty, t->capacity);
        pelti_release(allocator, t->records, t->capacity, host_size(t));
    }
    t->records = records;
    t->dirty = dirty;
    t->is_dirty = is_dirty;
    return true;
}

// Makes way for a new range; the GPU may still use the old one.
static void give_up_range(pelti_vk_table *t, pelti_vk_retirement *r, uint64_t frame)
{
    if (t->mirrored) {
        pelti_vk_discard_range(r, frame, t->heap, &t->range);
    } else if (t->before.size == 0) {
        t->before = t->range; // its reservation waits for pelti_vk_table_flushed
    } else {
        // Grown twice since the last record: nothing was written to the range between.
        pelti_vk_heap_free(t->heap, &t->range);
        pelti_vk_retirement_unreserve(r, 1);
    }
}

pelt_result pelti_vk_table_reserve(pelti_vk_table *t, uint32_t slot, pelti_vk_retirement *r, uint64_t frame,
                                   pelt_error *error)
{
    if (slot >= t->capacity) {
        if (slot == PELT_NONE) {
            return pelti_fail(error, PELT_ERROR_LIMIT, "", "a table cannot have 2^32 records");
        }
        uint32_t capacity = grown_capacity(t, slot);
        pelti_vk_range range;
        pelt_result result = pelti_vk_heap_allocate(t->heap, (VkDeviceSize)capacity * t->record_size, &range, error);
        if (result != PELT_OK) {
            return result;
        }
        bool replaces = t->range.size != 0;
        if (replaces && !pelti_vk_retirement_reserve(r, 1)) {
            pelti_vk_heap_free(t->heap, &range);
            return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for a table of records");
        }
        if (t->mirrored && !grow_host(t, capacity)) {
            pelti_vk_heap_free(t->heap, &range);
            pelti_vk_retirement_unreserve(r, replaces ? 1 : 0);
            return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for a table of records");
        }
        if (replaces) {
            give_up_range(t, r, frame);
        }
        t->range = range;
        t->whole = t->mirrored;
        t->capacity = capacity;
    }
    t->count = slot < t->count ? t->count : slot + 1;
    return PELT_OK;
}

void *pelti_vk_table_edit(pelti_vk_table *t, uint32_t slot)
{
    assert(t->mirrored && slot < t->count);
    if (!t->is_dirty[slot]) {
        t->is_dirty[slot] = 1;
        t->dirty[t->dirty_count++] = slot;
    }
    return t->records + (size_t)slot * t->record_size;
}

const void *pelti_vk_table_get(const pelti_vk_table *t, uint32_t slot)
{
    assert(t->mirrored && slot < t->count);
    return t->records + (size_t)slot * t->record_size;
}

// D. L. Shell's sort in place, with M. Ciura's gaps: for few numbers, and the C library's qsort may allocate.
static void sort_few(uint32_t *values, uint32_t count)
{
    static const uint32_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++) {
        for (uint32_t i = gaps[g]; i < count; i++) {
            uint32_t value = values[i];
            uint32_t place = i;
            while (place >= gaps[g] && values[place - gaps[g]] > value) {
                values[place] = values[place - gaps[g]];
                place -= gaps[g];
            }
            values[place] = value;
        }
    }
}

static void sort_dirty(pelti_vk_table *t)
{
    if (t->dirty_count <= t->count / SCAN_SHARE) {
        sort_few(t->dirty, t->dirty_count);
        return;
    }
    const uint8_t *at = t->is_dirty;
    for (uint32_t i = 0; i < t->dirty_count; i++) {
        at = memchr(at, 1, (size_t)(t->is_dirty + t->count - at));
        t->dirty[i] = (uint32_t)(at - t->is_dirty);
        at++;
    }
}

static bool add_copy(const pelti_vk_table *t, pelti_vk_copies *copies, const pelti_vk_span *span, size_t from,
                     uint32_t slot, size_t size)
{
    pelti_vk_copy copy = {span->buffer,
                          t->range.buffer,
                          {span->offset + from, t->range.offset + (VkDeviceSize)slot * t->record_size, size}};
    return pelti_vk_copies_add(copies, &copy);
}

static pelt_result upload(pelti_vk_table *t, pelti_vk_ring *ring, pelti_vk_copies *copies, pelt_error *error)
{
    uint32_t count = t->whole ? t->count : t->dirty_count;
    if (count == 0) {
        return PELT_OK;
    }
    pelti_vk_span span;
    pelt_result result = pelti_vk_ring_take(ring, (VkDeviceSize)count * t->record_size, &span, error);
    if (result != PELT_OK) {
        return result;
    }
    bool added = true;
    if (t->whole) {
        memcpy(span.data, t->records, (size_t)count * t->record_size);
        added = add_copy(t, copies, &span, 0, 0, (size_t)count * t->record_size);
    } else {
        sort_dirty(t);
    }
    for (uint32_t i = 0; i < count && added && !t->whole;) {
        uint32_t slot = t->dirty[i];
        uint32_t run = 1;
        while (i + run < count && t->dirty[i + run] == slot + run) {
            run++;
        }
        size_t from = (size_t)i * t->record_size;
        size_t size = (size_t)run * t->record_size;
        memcpy((char *)span.data + from, t->records + (size_t)slot * t->record_size, size);
        added = add_copy(t, copies, &span, from, slot, size);
        i += run;
    }
    return added ? PELT_OK : pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for copies");
}

static pelt_result copy_before(const pelti_vk_table *t, pelti_vk_copies *copies, pelt_error *error)
{
    if (t->before.size == 0) {
        return PELT_OK;
    }
    pelti_vk_copy copy = {t->before.buffer, t->range.buffer, {t->before.offset, t->range.offset, t->before.size}};
    return pelti_vk_copies_add(copies, &copy) ? PELT_OK
                                              : pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for copies");
}

pelt_result pelti_vk_table_flush(pelti_vk_table *t, pelti_vk_ring *ring, pelti_vk_copies *copies, pelt_error *error)
{
    uint32_t count = copies->count;
    VkDeviceSize last_size = count ? copies->items[count - 1].region.size : 0;
    pelt_result result = t->mirrored ? upload(t, ring, copies, error) : copy_before(t, copies, error);
    if (result != PELT_OK) {
        copies->count = count;
        if (count) {
            copies->items[count - 1].region.size = last_size; // copies may have been merged with it
        }
    }
    return result;
}

void pelti_vk_table_flushed(pelti_vk_table *t, pelti_vk_retirement *r, uint64_t frame)
{
    for (uint32_t i = 0; i < t->dirty_count; i++) {
        t->is_dirty[t->dirty[i]] = 0;
    }
    t->dirty_count = 0;
    t->whole = false;
    if (t->before.size != 0) {
        pelti_vk_discard_range(r, frame, t->heap, &t->before);
    }
}

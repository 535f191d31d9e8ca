// SPDX-License-Identifier: MIT
// Mapped memory that belongs to one frame: chunks that are filled from the front, wait for their frame to retire, and
// are then taken again.
#include "vulkan.h"

enum {
    MIN_CHUNK = 1 << 20,
    MAX_CHUNK = 1 << 25, // of chunks that are not made for one larger take
    SPAN_ALIGNMENT = 16,
    HISTORY = 8 // frames, the busiest of which says how much is kept
};

typedef enum chunk_state {
    CHUNK_FREE,
    CHUNK_OPEN, // of the frame that is not yet recorded
    CHUNK_CLOSED
} chunk_state;

typedef struct chunk {
    pelti_vk_range range; // its size is a multiple of SPAN_ALIGNMENT
    chunk_state state;
    uint64_t opened_at; // of an open one: bytes that the frame had taken before
    uint64_t frame;     // the last one that it was closed for
} chunk;

struct pelti_vk_ring {
    pelti_vk_range current; // the chunk that takes are cut from; size 0 = none
    VkDeviceSize used;      // bytes of it
    uint64_t taken;
    const pelt_allocator *allocator;
    pelti_vk_heap *heap;
    chunk *chunks;
    uint32_t chunk_count;
    uint32_t chunk_capacity;
    uint32_t closes;               // how often a frame was closed, modulo HISTORY
    VkDeviceSize history[HISTORY]; // bytes of chunks that the last frames held
};

pelt_result pelti_vk_ring_create(const pelt_allocator *allocator, pelti_vk_heap *mapped, pelti_vk_ring **out_ring,
                                 pelt_error *error)
{
    *out_ring = pelti_allocate(allocator, 1, sizeof **out_ring);
    if (!*out_ring) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for the upload ring");
    }
    **out_ring = (pelti_vk_ring){.allocator = allocator, .heap = mapped};
    return PELT_OK;
}

void pelti_vk_ring_destroy(pelti_vk_ring *ring)
{
    if (!ring) {
        return;
    }
    for (uint32_t i = 0; i < ring->chunk_count; i++) {
        pelti_vk_heap_free(ring->heap, &ring->chunks[i].range);
    }
    pelti_release(ring->allocator, ring->chunks, ring->chunk_capacity, sizeof *ring->chunks);
    pelti_release(ring->allocator, ring, 1, sizeof *ring);
}

static VkDeviceSize align_up(VkDeviceSize size, VkDeviceSize alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

static pelti_vk_span span_of(const pelti_vk_range *range, VkDeviceSize used)
{
    return (pelti_vk_span){(char *)range->mapped + used, range->buffer, range->offset + used, range->address + used};
}

static bool reserve_chunk(pelti_vk_ring *ring)
{
    if (ring->chunk_count < ring->chunk_capacity) {
        return true;
    }
    uint32_t capacity = ring->chunk_capacity * 2 + 4;
    chunk *grown =
        pelti_resize(ring->allocator, ring->chunks, ring->chunk_capacity * sizeof *grown, capacity * sizeof *grown);
    if (!grown) {
        return false;
    }
    ring->chunks = grown;
    ring->chunk_capacity = capacity;
    return true;
}

// The smallest free chunk that holds size bytes, or NULL.
static chunk *find_free(const pelti_vk_ring *ring, VkDeviceSize size)
{
    chunk *best = NULL;
    for (uint32_t i = 0; i < ring->chunk_count; i++) {
        chunk *c = &ring->chunks[i];
        if (c->state == CHUNK_FREE && c->range.size >= size && (!best || c->range.size < best->range.size)) {
            best = c;
        }
    }
    return best;
}

// Each new chunk holds as much as the frame has taken so far, so that a frame of any size needs few of them.
static pelt_result add_chunk(pelti_vk_ring *ring, VkDeviceSize size, chunk **out_chunk, pelt_error *error)
{
    if (!reserve_chunk(ring)) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for chunks of the upload ring");
    }
    VkDeviceSize wanted = ring->taken < MIN_CHUNK ? MIN_CHUNK : ring->taken > MAX_CHUNK ? MAX_CHUNK : ring->taken;
    wanted = align_up(wanted < size ? size : wanted, PELTI_VK_ALIGNMENT);
    pelti_vk_range range;
    pelt_result result = pelti_vk_heap_allocate(ring->heap, wanted, &range, error);
    if (result != PELT_OK && wanted > size) {
        result = pelti_vk_heap_allocate(ring->heap, size, &range, error);
    }
    if (result != PELT_OK) {
        return result;
    }
    pelti_error_clear(error);
    *out_chunk = &ring->chunks[ring->chunk_count++];
    **out_chunk = (chunk){.range = range};
    return PELT_OK;
}

static pelt_result take_from_another(pelti_vk_ring *ring, VkDeviceSize size, pelti_vk_span *out_span, pelt_error *error)
{
    assert(size > 0);
    if (size == 0 || size > UINT64_MAX / 2) {
        return pelti_fail(error, size == 0 ? PELT_ERROR_ARGUMENT : PELT_ERROR_LIMIT, "",
                          "%llu bytes cannot be taken from the upload ring", (unsigned long long)size);
    }
    VkDeviceSize aligned = align_up(size, SPAN_ALIGNMENT);
    chunk *c = find_free(ring, aligned);
    if (!c) {
        pelt_result result = add_chunk(ring, aligned, &c, error);
        if (result != PELT_OK) {
            return result;
        }
    }
    c->state = CHUNK_OPEN;
    c->opened_at = ring->taken;
    *out_span = span_of(&c->range, 0);
    ring->taken += size;
    // After a large take, the chunk from before may have more room left than its own.
    if (c->range.size - aligned > ring->current.size - ring->used || ring->current.size == 0) {
        ring->current = c->range;
        ring->used = aligned;
    }
    return PELT_OK;
}

pelt_result pelti_vk_ring_take(pelti_vk_ring *ring, VkDeviceSize size, pelti_vk_span *out_span, pelt_error *error)
{
    if (size - 1 >= ring->current.size - ring->used) { // size 0 too
        return take_from_another(ring, size, out_span, error);
    }
    *out_span = span_of(&ring->current, ring->used);
    ring->used += align_up(size, SPAN_ALIGNMENT);
    ring->taken += size;
    return PELT_OK;
}

void pelti_vk_ring_close(pelti_vk_ring *ring, uint64_t frame)
{
    VkDeviceSize held = 0;
    for (uint32_t i = 0; i < ring->chunk_count; i++) {
        chunk *c = &ring->chunks[i];
        if (c->state == CHUNK_OPEN) {
            c->state = CHUNK_CLOSED;
            c->frame = frame;
            held += c->range.size;
        }
    }
    ring->history[ring->closes] = held;
    ring->closes = (ring->closes + 1) % HISTORY;
    ring->current = (pelti_vk_range){0};
    ring->used = 0;
    ring->taken = 0;
}

// The free chunk used longest ago without which at least keep bytes of the free_bytes remain, or chunk_count. So the
// chunks of the last frame stay together, whose sizes the next one is likely to want.
static uint32_t find_surplus(const pelti_vk_ring *ring, VkDeviceSize free_bytes, VkDeviceSize keep)
{
    uint32_t best = ring->chunk_count;
    for (uint32_t i = 0; i < ring->chunk_count; i++) {
        const chunk *c = &ring->chunks[i];
        if (c->state == CHUNK_FREE && free_bytes - c->range.size >= keep &&
            (best == ring->chunk_count || c->frame < ring->chunks[best].frame)) {
            best = i;
        }
    }
    return best;
}

void pelti_vk_ring_retire(pelti_vk_ring *ring, uint64_t frame)
{
    VkDeviceSize keep = 0;
    for (uint32_t i = 0; i < HISTORY; i++) {
        keep = ring->history[i] > keep ? ring->history[i] : keep;
    }
    VkDeviceSize free_bytes = 0;
    for (uint32_t i = 0; i < ring->chunk_count; i++) {
        chunk *c = &ring->chunks[i];
        if (c->state == CHUNK_CLOSED && c->frame <= frame) {
            c->state = CHUNK_FREE;
        }
        free_bytes += c->state == CHUNK_FREE ? c->range.size : 0;
    }
    while (free_bytes > keep) {
        uint32_t gone = find_surplus(ring, free_bytes, keep);
        if (gone == ring->chunk_count) {
            break;
        }
        free_bytes -= ring->chunks[gone].range.size;
        pelti_vk_heap_free(ring->heap, &ring->chunks[gone].range);
        ring->chunks[gone] = ring->chunks[--ring->chunk_count];
    }
}

uint64_t pelti_vk_ring_taken(const pelti_vk_ring *ring)
{
    return ring->taken;
}

pelti_vk_ring_mark pelti_vk_ring_here(const pelti_vk_ring *ring)
{
    return (pelti_vk_ring_mark){.current = ring->current, .used = ring->used, .taken = ring->taken};
}

void pelti_vk_ring_rewind(pelti_vk_ring *ring, const pelti_vk_ring_mark *mark)
{
    for (uint32_t i = 0; i < ring->chunk_count; i++) {
        // A chunk opened before has had something taken from it before the mark.
        if (ring->chunks[i].state == CHUNK_OPEN && ring->chunks[i].opened_at >= mark->taken) {
            ring->chunks[i].state = CHUNK_FREE;
        }
    }
    ring->current = mark->current;
    ring->used = mark->used;
    ring->taken = mark->taken;
}

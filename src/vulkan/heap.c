// SPDX-License-Identifier: MIT
// Ranges cut from a few large buffers in constant time. Free pieces lie in bins by size, two levels deep, as in M.
// Masmano and others, "TLSF: a New Dynamic Memory Allocator for Real-Time Systems", 2004; neighbours merge when freed.
#include "block.h"

enum {
    BIN_BITS = 4, // 16 bins for each power of two
    GROUP_SIZE = 1 << BIN_BITS,
    GROUP_COUNT = 32 - BIN_BITS + 1,
    BIN_COUNT = GROUP_COUNT * GROUP_SIZE,
    CLOSE_LOOKS = 8, // pieces of the size's own bin that are looked at before larger ones are cut
    FIRST_PIECES = 64
};

// A part of a block, free or in use; sizes in units of PELTI_VK_ALIGNMENT. 36 bytes; there is one for each range.
typedef struct piece {
    uint32_t block;
    uint32_t offset;
    uint32_t size;
    uint32_t before; // neighbours in the block, or PELT_NONE
    uint32_t after;
    uint32_t previous; // in its bin, or PELT_NONE
    uint32_t next;     // the same; of unused records, the next one
    bool is_free;
} piece;

struct pelti_vk_heap {
    const pelt_vk_context *context;
    bool mapped;
    uint32_t block_units; // of a common block
    uint32_t max_units;
    pelti_vk_block *blocks; // slots without a buffer are unused
    uint32_t block_capacity;
    piece *pieces;
    uint32_t piece_capacity;
    uint32_t unused_piece; // list of unused records, or PELT_NONE
    uint32_t unused_count;
    uint32_t empty_piece;       // the whole of the one block that is kept though free, or PELT_NONE
    uint32_t groups;            // bit g: group g has a filled bin
    uint32_t bins[GROUP_COUNT]; // bit b: bin b of the group is filled
    uint32_t heads[BIN_COUNT];  // or PELT_NONE
};

static uint32_t highest_bit(uint32_t value)
{
    uint32_t bit = 0;
    for (uint32_t step = 16; step != 0; step /= 2) {
        if (value >> step != 0) {
            value >>= step;
            bit += step;
        }
    }
    return bit;
}

static uint32_t lowest_bit(uint32_t value)
{
    return highest_bit(value & (~value + 1));
}

// The bin of pieces of this size: below 16 one for each size, then 16 for each power of two.
static uint32_t bin_of(uint32_t size)
{
    if (size < GROUP_SIZE) {
        return size;
    }
    uint32_t high = highest_bit(size);
    uint32_t group = high - BIN_BITS + 1;
    return group * GROUP_SIZE + (size >> (high - BIN_BITS)) % GROUP_SIZE;
}

// The first bin that only has pieces of at least this size; BIN_COUNT or more: none.
static uint32_t bin_above(uint32_t size)
{
    if (size < GROUP_SIZE) {
        return size;
    }
    uint32_t step = (uint32_t)1 << (highest_bit(size) - BIN_BITS);
    return bin_of(size) + (size % step != 0 ? 1 : 0); // bins are numbered through
}

static void bin_insert(pelti_vk_heap *heap, uint32_t index)
{
    piece *p = &heap->pieces[index];
    uint32_t bin = bin_of(p->size);
    p->is_free = true;
    p->previous = PELT_NONE;
    p->next = heap->heads[bin];
    if (p->next != PELT_NONE) {
        heap->pieces[p->next].previous = index;
    }
    heap->heads[bin] = index;
    heap->bins[bin / GROUP_SIZE] |= (uint32_t)1 << bin % GROUP_SIZE;
    heap->groups |= (uint32_t)1 << bin / GROUP_SIZE;
}

static void bin_remove(pelti_vk_heap *heap, uint32_t index)
{
    piece *p = &heap->pieces[index];
    uint32_t bin = bin_of(p->size);
    p->is_free = false;
    if (p->next != PELT_NONE) {
        heap->pieces[p->next].previous = p->previous;
    }
    if (p->previous != PELT_NONE) {
        heap->pieces[p->previous].next = p->next;
        return;
    }
    heap->heads[bin] = p->next;
    if (p->next == PELT_NONE) {
        heap->bins[bin / GROUP_SIZE] &= ~((uint32_t)1 << bin % GROUP_SIZE);
        if (heap->bins[bin / GROUP_SIZE] == 0) {
            heap->groups &= ~((uint32_t)1 << bin / GROUP_SIZE);
        }
    }
}

// A free piece of at least this size, or PELT_NONE.
static uint32_t find(const pelti_vk_heap *heap, uint32_t size)
{
    // Without this, a block that holds exactly one large range would not be found again for the same size.
    uint32_t look = heap->heads[bin_of(size)];
    for (uint32_t i = 0; i < CLOSE_LOOKS && look != PELT_NONE; i++) {
        if (heap->pieces[look].size >= size) {
            return look;
        }
        look = heap->pieces[look].next;
    }
    uint32_t bin = bin_above(size);
    if (bin >= BIN_COUNT) {
        return PELT_NONE;
    }
    uint32_t group = bin / GROUP_SIZE;
    uint32_t bins = heap->bins[group] & (UINT32_MAX << bin % GROUP_SIZE);
    if (bins == 0) {
        uint32_t groups = heap->groups & (UINT32_MAX << group << 1);
        if (groups == 0) {
            return PELT_NONE;
        }
        group = lowest_bit(groups);
        bins = heap->bins[group];
    }
    return heap->heads[group * GROUP_SIZE + lowest_bit(bins)];
}

static const pelt_allocator *allocator_of(const pelti_vk_heap *heap)
{
    return &heap->context->options.allocator;
}

// Makes sure that piece_take succeeds twice: for a new block, and for what is left over of a cut piece.
static bool reserve_pieces(pelti_vk_heap *heap)
{
    if (heap->unused_count >= 2) {
        return true;
    }
    uint64_t capacity = heap->piece_capacity ? (uint64_t)heap->piece_capacity * 2 : FIRST_PIECES;
    if (capacity > PELT_NONE || capacity > SIZE_MAX / 2 / sizeof(piece)) {
        return false;
    }
    piece *grown = pelti_resize(allocator_of(heap), heap->pieces, heap->piece_capacity * sizeof(piece),
                                (size_t)capacity * sizeof(piece));
    if (!grown) {
        return false;
    }
    heap->pieces = grown;
    for (uint32_t i = (uint32_t)capacity; i-- > heap->piece_capacity;) {
        grown[i] = (piece){.next = heap->unused_piece};
        heap->unused_piece = i;
        heap->unused_count++;
    }
    heap->piece_capacity = (uint32_t)capacity;
    return true;
}

static uint32_t piece_take(pelti_vk_heap *heap)
{
    assert(heap->unused_count > 0);
    uint32_t index = heap->unused_piece;
    heap->unused_piece = heap->pieces[index].next;
    heap->unused_count--;
    return index;
}

static void piece_give_back(pelti_vk_heap *heap, uint32_t index)
{
    heap->pieces[index] = (piece){.next = heap->unused_piece};
    heap->unused_piece = index;
    heap->unused_count++;
}

// An unused slot of blocks; PELT_NONE: out of memory. Blocks are few, and making one is far slower than this search.
static uint32_t block_slot(pelti_vk_heap *heap)
{
    for (uint32_t i = 0; i < heap->block_capacity; i++) {
        if (!heap->blocks[i].buffer) {
            return i;
        }
    }
    uint32_t slot = heap->block_capacity;
    uint32_t capacity = slot + slot / 2 + 4;
    pelti_vk_block *grown =
        pelti_resize(allocator_of(heap), heap->blocks, slot * sizeof *grown, capacity * sizeof *grown);
    if (!grown) {
        return PELT_NONE;
    }
    memset(grown + slot, 0, (capacity - slot) * sizeof *grown);
    heap->blocks = grown;
    heap->block_capacity = capacity;
    return slot;
}

// Makes a block that holds at least this many units; its one piece, free, goes to *out_piece.
static pelt_result add_block(pelti_vk_heap *heap, uint32_t units, uint32_t *out_piece, pelt_error *error)
{
    uint32_t slot = block_slot(heap);
    if (slot == PELT_NONE) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for blocks of device memory");
    }
    uint32_t size = units > heap->block_units ? units : heap->block_units;
    pelt_result result = pelti_vk_block_create(heap->context, heap->mapped, (VkDeviceSize)size * PELTI_VK_ALIGNMENT,
                                               &heap->blocks[slot], error);
    if (result != PELT_OK) {
        return result;
    }
    uint32_t index = piece_take(heap);
    heap->pieces[index] = (piece){.block = slot, .size = size, .before = PELT_NONE, .after = PELT_NONE};
    bin_insert(heap, index);
    *out_piece = index;
    return PELT_OK;
}

static bool is_whole_block(const piece *p)
{
    return p->before == PELT_NONE && p->after == PELT_NONE;
}

// Takes a free piece and gives what it has too much to a new one behind it.
static void cut(pelti_vk_heap *heap, uint32_t index, uint32_t units)
{
    bin_remove(heap, index);
    piece *p = &heap->pieces[index];
    if (index == heap->empty_piece) {
        heap->empty_piece = PELT_NONE;
    }
    if (p->size == units) {
        return;
    }
    uint32_t rest = piece_take(heap);
    heap->pieces[rest] = (piece){
        .block = p->block,
        .offset = p->offset + units,
        .size = p->size - units,
        .before = index,
        .after = p->after,
    };
    if (p->after != PELT_NONE) {
        heap->pieces[p->after].before = rest;
    }
    p->after = rest;
    p->size = units;
    bin_insert(heap, rest);
}

pelt_result pelti_vk_heap_create(const pelt_vk_context *context, bool mapped, pelti_vk_heap **out_heap,
                                 pelt_error *error)
{
    *out_heap = NULL;
    pelti_vk_heap *heap = pelti_allocate(&context->options.allocator, 1, sizeof *heap);
    if (!heap) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for a heap of device memory");
    }
    VkDeviceSize most = context->max_buffer_size / PELTI_VK_ALIGNMENT;
    VkDeviceSize common = context->options.block_size / PELTI_VK_ALIGNMENT;
    uint32_t max_units = most < PELT_NONE ? (uint32_t)most : PELT_NONE - 1;
    *heap = (pelti_vk_heap){
        .context = context,
        .mapped = mapped,
        .block_units = common < max_units ? (uint32_t)common : max_units,
        .max_units = max_units,
        .unused_piece = PELT_NONE,
        .empty_piece = PELT_NONE,
    };
    for (uint32_t i = 0; i < BIN_COUNT; i++) {
        heap->heads[i] = PELT_NONE;
    }
    *out_heap = heap;
    return PELT_OK;
}

void pelti_vk_heap_destroy(pelti_vk_heap *heap)
{
    if (!heap) {
        return;
    }
    for (uint32_t i = 0; i < heap->block_capacity; i++) {
        pelti_vk_block_destroy(heap->context, &heap->blocks[i]);
    }
    const pelt_allocator *allocator = allocator_of(heap);
    pelti_release(allocator, heap->blocks, heap->block_capacity, sizeof *heap->blocks);
    pelti_release(allocator, heap->pieces, heap->piece_capacity, sizeof *heap->pieces);
    pelti_release(allocator, heap, 1, sizeof *heap);
}

pelt_result pelti_vk_heap_allocate(pelti_vk_heap *heap, VkDeviceSize size, pelti_vk_range *out_range, pelt_error *error)
{
    *out_range = (pelti_vk_range){0};
    assert(size > 0);
    if (size == 0) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "a range of no bytes");
    }
    VkDeviceSize wanted = (size - 1) / PELTI_VK_ALIGNMENT + 1;
    if (wanted > heap->max_units) {
        return pelti_fail(error, PELT_ERROR_LIMIT, "", "%llu bytes are more than the device allows in one buffer, %llu",
                          (unsigned long long)size, (unsigned long long)heap->max_units * PELTI_VK_ALIGNMENT);
    }
    uint32_t units = (uint32_t)wanted;
    if (!reserve_pieces(heap)) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for ranges of device memory");
    }
    uint32_t index = find(heap, units);
    if (index == PELT_NONE) {
        pelt_result result = add_block(heap, units, &index, error);
        if (result != PELT_OK) {
            return result;
        }
    }
    cut(heap, index, units);
    const piece *p = &heap->pieces[index];
    const pelti_vk_block *block = &heap->blocks[p->block];
    VkDeviceSize offset = (VkDeviceSize)p->offset * PELTI_VK_ALIGNMENT;
    *out_range = (pelti_vk_range){
        .buffer = block->buffer,
        .offset = offset,
        .size = size,
        .address = block->address + offset,
        .mapped = heap->mapped ? (char *)block->memory.mapped + offset : NULL,
        .piece = index,
    };
    return PELT_OK;
}

// Adds the piece after index to it and forgets that one.
static void swallow_after(pelti_vk_heap *heap, uint32_t index)
{
    piece *p = &heap->pieces[index];
    uint32_t gone = p->after;
    p->size += heap->pieces[gone].size;
    p->after = heap->pieces[gone].after;
    if (p->after != PELT_NONE) {
        heap->pieces[p->after].before = index;
    }
    piece_give_back(heap, gone);
}

// One empty block stays, so that a scene that loses and gains its last range does not make and drop a block each time;
// of two the smaller one, since larger ones were made for one large range.
static void keep_one_empty(pelti_vk_heap *heap, uint32_t index)
{
    uint32_t other = heap->empty_piece;
    heap->empty_piece = index;
    if (other == PELT_NONE) {
        return;
    }
    uint32_t gone = other;
    if (heap->pieces[other].size <= heap->pieces[index].size) {
        heap->empty_piece = other;
        gone = index;
    }
    pelti_vk_block *block = &heap->blocks[heap->pieces[gone].block];
    bin_remove(heap, gone);
    piece_give_back(heap, gone);
    pelti_vk_block_destroy(heap->context, block);
}

void pelti_vk_heap_free(pelti_vk_heap *heap, pelti_vk_range *range)
{
    if (range->size == 0) {
        return;
    }
    uint32_t index = range->piece;
    *range = (pelti_vk_range){0};
    assert(index < heap->piece_capacity && !heap->pieces[index].is_free);
    uint32_t after = heap->pieces[index].after;
    if (after != PELT_NONE && heap->pieces[after].is_free) {
        bin_remove(heap, after);
        swallow_after(heap, index);
    }
    uint32_t before = heap->pieces[index].before;
    if (before != PELT_NONE && heap->pieces[before].is_free) {
        bin_remove(heap, before);
        swallow_after(heap, before);
        index = before;
    }
    bin_insert(heap, index);
    if (is_whole_block(&heap->pieces[index])) {
        keep_one_empty(heap, index);
    }
}

// SPDX-License-Identifier: MIT
// Inside the vulkan module: the context, device memory, mapped memory by frames, tables that grow, and the scene.
#ifndef PELTI_VULKAN_H
#define PELTI_VULKAN_H

#include "base/base.h"
#include "functions.h"
#include "shaders/gpu_layout.h"

#include <pelt/vulkan.h>

// ---- requirements.c

// What a caller left out, or NULL.
const char *pelti_vk_physical_fault(const pelt_vk_physical *physical);
// pelt_vk_requirements with the instance's functions at hand.
pelt_result pelti_vk_support_query(const pelt_vk_physical *physical, const pelti_vk_functions *vk,
                                   const pelt_allocator *allocator, pelt_vk_support *out, pelt_error *error);

// ---- context.c, pipelines.c

typedef enum pelti_vk_pass {
    PELTI_VK_PALETTE = 0,
    PELTI_VK_ITEMS,
    PELTI_VK_SKIN,                  // any item
    PELTI_VK_SKIN_RUNS,             // what skin_runs.comp can do
    PELTI_VK_SKIN_RUNS_SMALL,       // the same, of few vertices
    PELTI_VK_SKIN_USUAL,            // what skin_runs.comp can do with normals and tangents
    PELTI_VK_SKIN_USUAL_SMALL,      // the same, of few vertices
    PELTI_VK_SKIN_RUNS_FEW,         // those of SKIN_RUNS where they are few: several workgroups may share each
    PELTI_VK_SKIN_USUAL_FEW,        // those of SKIN_USUAL, the same
    PELTI_VK_SKIN_RUNS_SMALL_FULL,  // those of few vertices, from gpu_full_item
    PELTI_VK_SKIN_USUAL_SMALL_FULL, // the same
    PELTI_VK_REDUCE,
    PELTI_VK_JOINT_BOUNDS,
    PELTI_VK_PASS_COUNT
} pelti_vk_pass;

struct pelt_vk_context {
    pelt_vk_context_options options; // queue_families points to a copy; block_size is set
    pelti_vk_functions vk;
    pelt_vk_support support;
    VkPhysicalDeviceLimits limits;
    // Shapes, which never change while a scene lives:
    uint32_t resident_groups; // workgroups for few vertices that run at a time, about
    uint32_t few_groups;      // workgroups of GPU_SKIN_FEW_THREADS that the device has room for
    uint32_t split_groups;    // items are shared as long as a record has no more workgroups than so many
    VkPhysicalDeviceMemoryProperties memory;
    VkDeviceSize max_buffer_size; // and allocation: the lower one
    VkPipelineLayout layout;      // push constants only, 128 bytes, compute
    VkPipeline pipelines[PELTI_VK_PASS_COUNT];
};

// Fills error with DEVICE, or MEMORY where memory ran out, and the name of result ("VK_ERROR_DEVICE_LOST"); returns the
// code. what: "vkCreateBuffer".
pelt_result pelti_vk_failure(pelt_error *error, const char *what, VkResult result);

pelt_result pelti_vk_pipelines_create(pelt_vk_context *context, pelt_error *error);
void pelti_vk_pipelines_destroy(pelt_vk_context *context); // harmless on what was not created

// ---- heap.c: ranges of a few large buffers

enum {
    PELTI_VK_ALIGNMENT = 64 // of every range
};

// size 0: no range.
typedef struct pelti_vk_range {
    VkBuffer buffer;
    VkDeviceSize offset;
    VkDeviceSize size; // as asked for
    VkDeviceAddress address;
    void *mapped;   // NULL unless the heap's memory is
    uint32_t piece; // the heap's
} pelti_vk_range;

typedef struct pelti_vk_heap pelti_vk_heap;

// mapped: host-visible and coherent, device-local where there is such memory; else device-local. Blocks are made when
// first needed, of the context's block_size or the size of a larger range, and given back when empty, but for one.
pelt_result pelti_vk_heap_create(const pelt_vk_context *context, bool mapped, pelti_vk_heap **out_heap,
                                 pelt_error *error);
// Releases all blocks, whatever is still allocated. NULL is accepted.
void pelti_vk_heap_destroy(pelti_vk_heap *heap);
// size over 0. Errors: LIMIT (over the largest buffer), MEMORY, DEVICE.
pelt_result pelti_vk_heap_allocate(pelti_vk_heap *heap, VkDeviceSize size, pelti_vk_range *out_range,
                                   pelt_error *error);
// At once; *range becomes {0}. A range of size 0 is accepted. Cannot fail. Reads size and piece only.
void pelti_vk_heap_free(pelti_vk_heap *heap, pelti_vk_range *range);

// ---- retire.c: ranges and slots that wait for frames in flight

// Something that is reusable once its frame has retired. 32 bytes, since every live object reserves some of them.
typedef struct pelti_vk_discard {
    uint64_t frame;
    void (*reuse)(void *owner, uint32_t slot); // NULL: a piece of a heap
    void *owner;                               // or that heap
    uint32_t slot;                             // or that piece
} pelti_vk_discard;

// A queue in the order of frames.
typedef struct pelti_vk_retirement {
    const pelt_allocator *allocator;
    pelti_vk_discard *entries; // ring of capacity
    uint32_t capacity;
    uint32_t first;
    uint32_t count;
    uint32_t reserved; // entries that pelti_vk_discard_* may still take without allocating
} pelti_vk_retirement;

// Makes room for count more discards than were reserved so far, so that removing cannot fail: objects reserve when they
// are added. False: out of memory.
bool pelti_vk_retirement_reserve(pelti_vk_retirement *r, uint32_t count);
// What an object that is gone had reserved and did not use.
void pelti_vk_retirement_unreserve(pelti_vk_retirement *r, uint32_t count);
// frame: the last one that may use it, not lower than in any call before. Uses one reservation; a range of size 0 only
// gives it back. *range becomes {0}.
void pelti_vk_discard_range(pelti_vk_retirement *r, uint64_t frame, pelti_vk_heap *heap, pelti_vk_range *range);
void pelti_vk_discard_slot(pelti_vk_retirement *r, uint64_t frame, void (*reuse)(void *owner, uint32_t slot),
                           void *owner, uint32_t slot);
// Frees and reuses everything up to frame.
void pelti_vk_retirement_run(pelti_vk_retirement *r, uint64_t frame);
// Frees and reuses nothing more.
void pelti_vk_retirement_destroy(pelti_vk_retirement *r);

// ---- ring.c: mapped memory that belongs to one frame

typedef struct pelti_vk_ring pelti_vk_ring;

typedef struct pelti_vk_span {
    void *data;
    VkBuffer buffer;
    VkDeviceSize offset;
    VkDeviceAddress address;
} pelti_vk_span;

pelt_result pelti_vk_ring_create(const pelt_allocator *allocator, pelti_vk_heap *mapped, pelti_vk_ring **out_ring,
                                 pelt_error *error);
void pelti_vk_ring_destroy(pelti_vk_ring *ring);
// size bytes, over 0, aligned to 16, for the frame that is not yet recorded. Errors: LIMIT, MEMORY, DEVICE.
pelt_result pelti_vk_ring_take(pelti_vk_ring *ring, VkDeviceSize size, pelti_vk_span *out_span, pelt_error *error);
// Everything taken since the last close belongs to frame. Cannot fail.
void pelti_vk_ring_close(pelti_vk_ring *ring, uint64_t frame);
// Chunks of all frames up to this one can be taken again; some are kept, as much as the busiest of the last frames
// used, the rest goes back to the heap.
void pelti_vk_ring_retire(pelti_vk_ring *ring, uint64_t frame);
uint64_t pelti_vk_ring_taken(const pelti_vk_ring *ring); // bytes since the last close

// How far takes have come in the frame that is not yet recorded.
typedef struct pelti_vk_ring_mark {
    pelti_vk_range current;
    VkDeviceSize used;
    uint64_t taken;
} pelti_vk_ring_mark;

pelti_vk_ring_mark pelti_vk_ring_here(const pelti_vk_ring *ring);
// Gives back what was taken since, with no close in between.
void pelti_vk_ring_rewind(pelti_vk_ring *ring, const pelti_vk_ring_mark *mark);

// ---- copies.c: transfer commands of the next record

typedef struct pelti_vk_copy {
    VkBuffer source;
    VkBuffer destination;
    VkBufferCopy region;
} pelti_vk_copy;

typedef struct pelti_vk_copies {
    const pelt_allocator *allocator;
    pelti_vk_copy *items;
    uint32_t count;
    uint32_t capacity;
} pelti_vk_copies;

// False: out of memory, nothing added. Neighbouring copies of the same buffers are merged. Copies run in no particular
// order, so no two may write the same bytes, nor one read what another writes.
bool pelti_vk_copies_add(pelti_vk_copies *c, const pelti_vk_copy *copy);
// Records all, one command for each run of at most 256 copies between the same buffers. They are kept.
void pelti_vk_copies_record(const pelti_vk_copies *c, const pelt_vk_context *context, VkCommandBuffer cmd);

// ---- table.c: records of one size in device memory, with the same records on the host

typedef struct pelti_vk_table {
    const pelt_vk_context *context;
    pelti_vk_heap *heap;
    uint32_t record_size; // bytes, a multiple of 4
    bool mirrored;        // records come from the host; else the GPU writes them and growing copies on the GPU
    uint32_t capacity;    // records that range holds
    uint32_t count;       // highest slot in use + 1
    char *records;        // mirrored: capacity records
    uint32_t *dirty;      // mirrored: slots to upload, each once
    uint32_t dirty_count;
    uint8_t *is_dirty;     // mirrored: capacity
    bool whole;            // mirrored: range is new, so that all count records are to be uploaded
    pelti_vk_range range;  // as of the next record
    pelti_vk_range before; // not mirrored: what was written to up to now, to be copied from; size 0 = nothing
} pelti_vk_table;

void pelti_vk_table_init(pelti_vk_table *t, const pelt_vk_context *context, pelti_vk_heap *heap, uint32_t record_size,
                         bool mirrored);
void pelti_vk_table_destroy(pelti_vk_table *t);
// Makes room for slot. Growing takes a new range of twice the size; what was in use waits in r for frame. Errors:
// MEMORY, LIMIT, DEVICE; then the table is as before.
pelt_result pelti_vk_table_reserve(pelti_vk_table *t, uint32_t slot, pelti_vk_retirement *r, uint64_t frame,
                                   pelt_error *error);
// The host's record, to be changed; marks it for upload. slot is below count. Cannot fail. Records that were never
// edited are zero here and anything on the device.
void *pelti_vk_table_edit(pelti_vk_table *t, uint32_t slot);
// The same without marking.
const void *pelti_vk_table_get(const pelti_vk_table *t, uint32_t slot);
// Adds the copies that bring the device up to date: dirty records through ring, and old contents after growing. Errors:
// MEMORY, LIMIT, DEVICE; then it can be called again.
pelt_result pelti_vk_table_flush(pelti_vk_table *t, pelti_vk_ring *ring, pelti_vk_copies *copies, pelt_error *error);
// The copies have been recorded with frame.
void pelti_vk_table_flushed(pelti_vk_table *t, pelti_vk_retirement *r, uint64_t frame);

#endif

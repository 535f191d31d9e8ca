// SPDX-License-Identifier: MIT
// The builder's memory: one arena of growing blocks that becomes the asset's, so that an asset is freed block by block.
#include "asset/asset_internal.h"

enum {
    ALIGNMENT = 16,
    FIRST_BLOCK_SIZE = 16 * 1024,
    LAST_BLOCK_SIZE = 512 * 1024 // blocks double up to here: little is wasted and their number stays small
};

#define DEFAULT_MEMORY_LIMIT (UINT64_C(8) << 30)

struct asset_block {
    asset_block *next;
    uint64_t size; // of the whole block
    uint64_t used; // this header included
    uint64_t padding;
};

static_assert(sizeof(asset_block) % ALIGNMENT == 0, "allocations follow the header and must stay aligned");

// Zeroed. calloc where there is no allocator: fresh pages are not touched twice.
static asset_block *block_create(const pelt_allocator *allocator, uint64_t size)
{
    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    asset_block *block = NULL;
    if (allocator->resize) {
        block = pelti_allocate(allocator, 1, (size_t)size);
        if (block) {
            memset(block, 0, (size_t)size);
        }
    } else {
        block = calloc(1, (size_t)size);
    }
    if (block) {
        block->size = size;
        block->used = sizeof *block;
    }
    return block;
}

static void blocks_release(const pelt_allocator *allocator, asset_block *block)
{
    while (block) {
        asset_block *next = block->next;
        pelti_release(allocator, block, 1, (size_t)block->size);
        block = next;
    }
}

pelt_result pelt_builder_create(const pelt_builder_options *options, pelt_builder **out_builder)
{
    if (!out_builder) {
        return PELT_ERROR_ARGUMENT;
    }
    *out_builder = NULL;
    pelt_builder_options used = {0};
    if (options) {
        used = *options;
    }
    pelt_builder *builder = pelti_allocate(&used.allocator, 1, sizeof *builder);
    if (!builder) {
        return PELT_ERROR_MEMORY;
    }
    memset(builder, 0, sizeof *builder);
    builder->allocator = used.allocator;
    builder->log = used.log;
    builder->memory_limit = used.memory_limit ? used.memory_limit : DEFAULT_MEMORY_LIMIT;
    *out_builder = builder;
    return PELT_OK;
}

void pelt_builder_destroy(pelt_builder *builder)
{
    if (builder) {
        pelt_allocator allocator = builder->allocator;
        blocks_release(&allocator, builder->blocks);
        pelti_release(&allocator, builder, 1, sizeof *builder);
    }
}

// Remembers the first failure.
static void *refuse(pelt_builder *builder, pelt_result status, uint64_t size)
{
    if (builder->status == PELT_OK) {
        builder->status = status;
        builder->failed_size = size;
    }
    return NULL;
}

static void *block_take(asset_block *block, uint64_t size)
{
    void *memory = (unsigned char *)block + block->used;
    block->used += size;
    return memory;
}

void *pelt_builder_allocate(pelt_builder *builder, uint64_t count, size_t size)
{
    uint64_t total = 0;
    if (!pelti_mul(count, size, &total) || total > UINT64_MAX - 2 * ALIGNMENT) {
        return refuse(builder, PELT_ERROR_LIMIT, UINT64_MAX);
    }
    uint64_t rounded = total == 0 ? ALIGNMENT : (total + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (rounded > builder->memory_limit || builder->memory_used > builder->memory_limit - rounded) {
        return refuse(builder, PELT_ERROR_LIMIT, total);
    }
    asset_block *first = builder->blocks;
    if (!first || first->size - first->used < rounded) {
        uint64_t next_size = !first                           ? FIRST_BLOCK_SIZE
                             : first->size >= LAST_BLOCK_SIZE ? LAST_BLOCK_SIZE
                                                              : 2 * first->size;
        // A large array gets a block of its own, behind the first, which goes on serving small ones.
        bool alone = rounded > next_size / 4;
        asset_block *block = block_create(&builder->allocator, alone ? sizeof *block + rounded : next_size);
        if (!block) {
            return refuse(builder, PELT_ERROR_MEMORY, total);
        }
        if (alone && first) {
            block->next = first->next;
            first->next = block;
        } else {
            block->next = first;
            builder->blocks = block;
        }
        first = block;
    }
    builder->memory_used += rounded;
    return block_take(first, rounded);
}

const char *pelt_builder_string(pelt_builder *builder, const char *text, size_t length)
{
    if (length == SIZE_MAX) {
        return refuse(builder, PELT_ERROR_LIMIT, UINT64_MAX);
    }
    char *copy = pelt_builder_allocate(builder, (uint64_t)length + 1, 1);
    if (copy && length > 0) {
        memcpy(copy, text, length);
    }
    return copy;
}

pelt_result pelt_builder_status(const pelt_builder *builder, pelt_error *error)
{
    switch (builder->status) {
    case PELT_OK:
        pelti_error_clear(error);
        return PELT_OK;
    case PELT_ERROR_LIMIT:
        if (builder->failed_size == UINT64_MAX) {
            pelti_fail(error, PELT_ERROR_LIMIT, "", "an array is larger than memory can be addressed");
        } else {
            pelti_fail(error, PELT_ERROR_LIMIT, "",
                       "the model needs %llu bytes beside %llu others, over the memory limit of %llu bytes",
                       (unsigned long long)builder->failed_size, (unsigned long long)builder->memory_used,
                       (unsigned long long)builder->memory_limit);
            pelti_hint(error, "raise the memory limit");
        }
        return PELT_ERROR_LIMIT;
    default:
        return pelti_fail(error, builder->status, "", "out of memory: %llu bytes were refused",
                          (unsigned long long)builder->failed_size);
    }
}

const pelt_asset_data *pelt_asset_get(const pelt_asset *asset)
{
    return &asset->data;
}

void pelt_asset_destroy(pelt_asset *asset)
{
    if (asset) {
        // The asset lies in one of its own blocks.
        pelt_allocator allocator = asset->allocator;
        blocks_release(&allocator, asset->blocks);
    }
}

// SPDX-License-Identifier: MIT
// Brings streams from device memory to the processor's, through one staging buffer that is filled as often as needed.
#include "gpu_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    STAGING_LIMIT = 64 * 1024 * 1024
};

int gpu_read(gpu *g, const pelt_vk_stream *stream, void *out)
{
    if (stream->size == 0) {
        return CLI_DONE;
    }
    if (g->request_count == g->request_capacity) {
        uint32_t capacity = g->request_capacity < 64 ? 64 : 2 * g->request_capacity;
        gpu_read_request *grown =
            capacity > g->request_capacity ? realloc(g->requests, (size_t)capacity * sizeof *grown) : NULL;
        if (!grown) {
            return cli_fail(g->context, CLI_LIMIT, g->context->options.input, NULL, NULL,
                            "out of memory for reading from the device");
        }
        g->requests = grown;
        g->request_capacity = capacity;
    }
    g->requests[g->request_count++] = (gpu_read_request){stream->buffer, stream->offset, stream->size, out};
    return CLI_DONE;
}

void gpu_staging_release(gpu *g)
{
    if (g->staging) {
        g->vk.DestroyBuffer(g->device, g->staging, NULL);
    }
    if (g->staging_memory) {
        g->vk.FreeMemory(g->device, g->staging_memory, NULL);
    }
    g->staging = VK_NULL_HANDLE;
    g->staging_memory = VK_NULL_HANDLE;
    g->staging_data = NULL;
    g->staging_size = 0;
}

// A type of memory that the processor reads: cached where there is such, since uncached reads are slow. Vulkan promises
// one that is visible and coherent for every buffer.
static uint32_t memory_type(const gpu *g, uint32_t allowed)
{
    const VkMemoryPropertyFlags needed = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const VkMemoryPropertyFlags wanted[2] = {needed | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, needed};
    for (int k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < g->memory.memoryTypeCount; i++) {
            if ((allowed >> i & 1u) != 0 && (g->memory.memoryTypes[i].propertyFlags & wanted[k]) == wanted[k]) {
                return i;
            }
        }
    }
    return 0;
}

static VkResult create_staging(gpu *g, VkDeviceSize size)
{
    VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkResult result = g->vk.CreateBuffer(g->device, &buffer, NULL, &g->staging);
    if (result != VK_SUCCESS) {
        g->staging = VK_NULL_HANDLE;
        return result;
    }
    VkMemoryRequirements requirements = {0};
    g->vk.GetBufferMemoryRequirements(g->device, g->staging, &requirements);
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .allocationSize = requirements.size,
                                   .memoryTypeIndex = memory_type(g, requirements.memoryTypeBits)};
    result = g->vk.AllocateMemory(g->device, &memory, NULL, &g->staging_memory);
    if (result != VK_SUCCESS) {
        g->staging_memory = VK_NULL_HANDLE;
        return result;
    }
    result = g->vk.BindBufferMemory(g->device, g->staging, g->staging_memory, 0);
    return result == VK_SUCCESS ? g->vk.MapMemory(g->device, g->staging_memory, 0, VK_WHOLE_SIZE, 0, &g->staging_data)
                                : result;
}

// Grows to at least size, but in powers of two: sizes change little from batch to batch.
static int reserve_staging(gpu *g, VkDeviceSize size)
{
    if (size <= g->staging_size) {
        return CLI_DONE;
    }
    VkDeviceSize rounded = 4096;
    while (rounded < size) {
        rounded *= 2;
    }
    gpu_staging_release(g);
    VkResult result = create_staging(g, rounded);
    if (result != VK_SUCCESS) {
        gpu_staging_release(g);
        return gpu_fail_vulkan(g, "making a buffer to read from", result);
    }
    g->staging_size = rounded;
    return CLI_DONE;
}

// Where reading stands: some bytes of one request.
typedef struct read_cursor {
    uint32_t request;
    VkDeviceSize done; // bytes of it
} read_cursor;

// The next part that fits into the room left; false where there is none.
static bool next_part(const gpu *g, read_cursor *at, VkDeviceSize room, gpu_read_request *out)
{
    if (at->request == g->request_count || room == 0) {
        return false;
    }
    const gpu_read_request *r = &g->requests[at->request];
    VkDeviceSize size = r->size - at->done < room ? r->size - at->done : room;
    *out = (gpu_read_request){r->buffer, r->offset + at->done, size, (char *)r->out + at->done};
    at->done += size;
    if (at->done == r->size) {
        *at = (read_cursor){at->request + 1, 0};
    }
    return true;
}

// Records copies of as much as fits. Parts that follow each other in their buffer, as boxes do, are one copy.
static void record_copies(gpu *g, read_cursor at, VkDeviceSize room)
{
    VkBuffer source = VK_NULL_HANDLE;
    VkBufferCopy region = {0};
    gpu_read_request part;
    while (next_part(g, &at, room, &part)) {
        room -= part.size;
        if (part.buffer == source && part.offset == region.srcOffset + region.size) {
            region.size += part.size;
            continue;
        }
        if (region.size > 0) {
            g->vk.CmdCopyBuffer(g->cmd, source, g->staging, 1, &region);
        }
        source = part.buffer;
        region = (VkBufferCopy){part.offset, region.dstOffset + region.size, part.size};
    }
    if (region.size > 0) {
        g->vk.CmdCopyBuffer(g->cmd, source, g->staging, 1, &region);
    }
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    g->vk.CmdPipelineBarrier(g->cmd, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                             NULL, 0, NULL);
}

static void take_copies(const gpu *g, read_cursor *at, VkDeviceSize room)
{
    const char *data = g->staging_data;
    gpu_read_request part;
    while (next_part(g, at, room, &part)) {
        memcpy(part.out, data, part.size);
        data += part.size;
        room -= part.size;
    }
}

int gpu_run(gpu *g)
{
    VkDeviceSize total = 0;
    for (uint32_t i = 0; i < g->request_count; i++) {
        total += g->requests[i].size;
    }
    if (total == 0) {
        return gpu_submit(g);
    }
    int code = reserve_staging(g, total < STAGING_LIMIT ? total : STAGING_LIMIT);
    read_cursor at = {0};
    while (code == CLI_DONE && at.request < g->request_count) {
        record_copies(g, at, g->staging_size);
        code = gpu_submit(g);
        if (code == CLI_DONE) {
            take_copies(g, &at, g->staging_size);
            code = at.request < g->request_count ? gpu_start_commands(g) : CLI_DONE;
        }
    }
    return code;
}

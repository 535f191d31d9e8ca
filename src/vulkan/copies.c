// SPDX-License-Identifier: MIT
// Copies between buffers, gathered for the next record.
#include "vulkan.h"

enum {
    REGIONS_MAX = 256, // of one command
    FIRST_CAPACITY = 64
};

static bool continues(const pelti_vk_copy *last, const pelti_vk_copy *copy)
{
    return last->source == copy->source && last->destination == copy->destination &&
           last->region.srcOffset + last->region.size == copy->region.srcOffset &&
           last->region.dstOffset + last->region.size == copy->region.dstOffset;
}

bool pelti_vk_copies_add(pelti_vk_copies *c, const pelti_vk_copy *copy)
{
    if (copy->region.size == 0) {
        return true;
    }
    if (c->count > 0 && continues(&c->items[c->count - 1], copy)) {
        c->items[c->count - 1].region.size += copy->region.size;
        return true;
    }
    if (c->count == c->capacity) {
        uint64_t capacity = c->capacity ? (uint64_t)c->capacity * 2 : FIRST_CAPACITY;
        if (capacity > UINT32_MAX || capacity > SIZE_MAX / 2 / sizeof *c->items) {
            return false;
        }
        pelti_vk_copy *grown =
            pelti_resize(c->allocator, c->items, c->capacity * sizeof *grown, (size_t)capacity * sizeof *grown);
        if (!grown) {
            return false;
        }
        c->items = grown;
        c->capacity = (uint32_t)capacity;
    }
    c->items[c->count++] = *copy;
    return true;
}

void pelti_vk_copies_record(const pelti_vk_copies *c, const pelt_vk_context *context, VkCommandBuffer cmd)
{
    VkBufferCopy regions[REGIONS_MAX];
    for (uint32_t first = 0; first < c->count;) {
        const pelti_vk_copy *head = &c->items[first];
        uint32_t count = 0;
        while (count < REGIONS_MAX && first + count < c->count && head[count].source == head->source &&
               head[count].destination == head->destination) {
            regions[count] = head[count].region;
            count++;
        }
        context->vk.vkCmdCopyBuffer(cmd, head->source, head->destination, count, regions);
        first += count;
    }
}

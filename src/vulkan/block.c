// SPDX-License-Identifier: MIT
// Blocks of device memory: a buffer with every usage that ranges need, bound to memory of the caller's callbacks or of
// the best memory type that still has room.
#include "block.h"

enum {
    RANK_COUNT = 3, // of memory types; lower is better
    RANK_NONE = RANK_COUNT
};

// Below this, device-local memory that the host sees is a small window, which others need more.
static const VkDeviceSize window_size = (VkDeviceSize)1 << 30;

static VkMemoryPropertyFlags required_properties(bool mapped)
{
    return mapped ? (VkMemoryPropertyFlags)(VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
                  : 0;
}

static uint32_t rank_type(const VkPhysicalDeviceMemoryProperties *memory, uint32_t type, bool mapped)
{
    // Any other property, such as protected, is for memory that was made for it.
    const VkMemoryPropertyFlags known = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                        VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    VkMemoryPropertyFlags required = required_properties(mapped);
    VkMemoryPropertyFlags flags = memory->memoryTypes[type].propertyFlags;
    if ((flags & ~known) != 0 || (flags & required) != required) {
        return RANK_NONE;
    }
    bool local = (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
    if (!mapped) {
        return local ? 0 : 1;
    }
    if (!local) {
        return 1;
    }
    return memory->memoryHeaps[memory->memoryTypes[type].heapIndex].size >= window_size ? 0 : 2;
}

static bool is_out_of_memory(VkResult result)
{
    return result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VkResult allocate_own(const pelt_vk_context *context, bool mapped, const VkMemoryRequirements *requirements,
                             VkDeviceMemory *out)
{
    VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &flags,
        .allocationSize = requirements->size,
    };
    VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    for (uint32_t rank = 0; rank < RANK_COUNT; rank++) {
        for (uint32_t type = 0; type < context->memory.memoryTypeCount; type++) {
            if ((requirements->memoryTypeBits >> type & 1) == 0 || rank_type(&context->memory, type, mapped) != rank) {
                continue;
            }
            info.memoryTypeIndex = type;
            result = context->vk.vkAllocateMemory(context->options.device, &info, context->options.vk_allocator, out);
            if (!is_out_of_memory(result)) {
                return result;
            }
        }
    }
    return result;
}

static pelt_result allocate(const pelt_vk_context *context, bool mapped, pelti_vk_block *block, pelt_error *error)
{
    VkMemoryRequirements requirements;
    context->vk.vkGetBufferMemoryRequirements(context->options.device, block->buffer, &requirements);
    const pelt_vk_memory_callbacks *callbacks = &context->options.memory;
    pelt_vk_memory memory = {0};
    if (!callbacks->allocate) {
        VkResult result = allocate_own(context, mapped, &requirements, &memory.memory);
        if (result != VK_SUCCESS) {
            return pelti_vk_failure(error, "vkAllocateMemory", result);
        }
        block->memory = memory;
        if (mapped) {
            result = context->vk.vkMapMemory(context->options.device, memory.memory, 0, VK_WHOLE_SIZE, 0,
                                             &block->memory.mapped);
        }
        return result == VK_SUCCESS ? PELT_OK : pelti_vk_failure(error, "vkMapMemory", result);
    }
    if (requirements.alignment < PELTI_VK_ALIGNMENT) {
        requirements.alignment = PELTI_VK_ALIGNMENT;
    }
    VkResult result = callbacks->allocate(callbacks->user, &requirements, required_properties(mapped),
                                          VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &memory);
    if (result != VK_SUCCESS) {
        return pelti_vk_failure(error, "the caller's memory.allocate", result);
    }
    block->memory = memory;
    return mapped && !memory.mapped ? pelti_fail(error, PELT_ERROR_ARGUMENT, "",
                                                 "the caller's memory.allocate gave memory that is not mapped")
                                    : PELT_OK;
}

static pelt_result create_buffer(const pelt_vk_context *context, bool mapped, VkDeviceSize size, VkBuffer *out,
                                 pelt_error *error)
{
    const pelt_vk_context_options *options = &context->options;
    VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                               VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    if (!mapped) {
        usage |=
            VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT;
        usage |= options->acceleration_structure
                     ? (VkBufferUsageFlags)VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR
                     : 0;
    }
    bool shared = options->queue_family_count >= 2;
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = usage,
        .sharingMode = shared ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = shared ? options->queue_family_count : 0,
        .pQueueFamilyIndices = shared ? options->queue_families : NULL,
    };
    VkResult result = context->vk.vkCreateBuffer(options->device, &info, options->vk_allocator, out);
    return result == VK_SUCCESS ? PELT_OK : pelti_vk_failure(error, "vkCreateBuffer", result);
}

static pelt_result fill(const pelt_vk_context *context, bool mapped, pelti_vk_block *block, pelt_error *error)
{
    VkDevice device = context->options.device;
    pelt_result result = create_buffer(context, mapped, block->size, &block->buffer, error);
    if (result != PELT_OK) {
        block->buffer = VK_NULL_HANDLE;
        return result;
    }
    result = allocate(context, mapped, block, error);
    if (result != PELT_OK) {
        return result;
    }
    VkResult bound = context->vk.vkBindBufferMemory(device, block->buffer, block->memory.memory, block->memory.offset);
    if (bound != VK_SUCCESS) {
        return pelti_vk_failure(error, "vkBindBufferMemory", bound);
    }
    VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = block->buffer};
    block->address = context->vk.vkGetBufferDeviceAddress(device, &info);
    // Memory starts at a page everywhere; only a caller's offset can be off.
    return block->address % PELTI_VK_ALIGNMENT == 0
               ? PELT_OK
               : pelti_fail(error, PELT_ERROR_DEVICE, "", "a buffer's device address is not a multiple of %d",
                            PELTI_VK_ALIGNMENT);
}

pelt_result pelti_vk_block_create(const pelt_vk_context *context, bool mapped, VkDeviceSize size,
                                  pelti_vk_block *out_block, pelt_error *error)
{
    *out_block = (pelti_vk_block){.size = size};
    pelt_result result = fill(context, mapped, out_block, error);
    if (result != PELT_OK) {
        pelti_vk_block_destroy(context, out_block);
    }
    return result;
}

void pelti_vk_block_destroy(const pelt_vk_context *context, pelti_vk_block *block)
{
    const pelt_vk_context_options *options = &context->options;
    if (block->buffer) {
        context->vk.vkDestroyBuffer(options->device, block->buffer, options->vk_allocator);
    }
    if (block->memory.memory) {
        if (options->memory.release) {
            options->memory.release(options->memory.user, &block->memory);
        } else {
            context->vk.vkFreeMemory(options->device, block->memory.memory, options->vk_allocator);
        }
    }
    *block = (pelti_vk_block){0};
}

// SPDX-License-Identifier: MIT
// The context without pipelines and its memory callbacks.
#include "peltt_vk_bare.h"

#include <setjmp.h>

#include <cmocka.h>

static bool find_type(const peltt_vk_bare *bare, uint32_t allowed, VkMemoryPropertyFlags wanted, uint32_t *out)
{
    const VkPhysicalDeviceMemoryProperties *memory = &bare->context.memory;
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
        if ((allowed >> i & 1) != 0 && (memory->memoryTypes[i].propertyFlags & wanted) == wanted) {
            *out = i;
            return true;
        }
    }
    return false;
}

static VkResult allocate(void *user, const VkMemoryRequirements *requirements, VkMemoryPropertyFlags required,
                         VkMemoryPropertyFlags preferred, pelt_vk_memory *out_memory)
{
    peltt_vk_bare *bare = user;
    bare->required = required;
    bare->preferred = preferred;
    bare->requested = requirements->size;
    bare->call_count++;
    if (bare->call_count == bare->fail_at) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    VkDeviceSize offset = 3 * requirements->alignment;
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &flags,
        .allocationSize = requirements->size + offset,
    };
    if (!find_type(bare, requirements->memoryTypeBits, required | preferred, &info.memoryTypeIndex)) {
        assert_true(find_type(bare, requirements->memoryTypeBits, required, &info.memoryTypeIndex));
    }
    pelt_vk_memory memory = {.offset = offset, .user = bare};
    VkResult result = PELTT_VK(&bare->vk, vkAllocateMemory)(bare->vk.device, &info, NULL, &memory.memory);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (required != 0 && !bare->unmapped) {
        void *start = NULL;
        result = PELTT_VK(&bare->vk, vkMapMemory)(bare->vk.device, memory.memory, 0, VK_WHOLE_SIZE, 0, &start);
        assert_int_equal(result, VK_SUCCESS);
        memory.mapped = (char *)start + offset;
    }
    bare->block_count++;
    bare->block_bound = bare->block_count > bare->block_bound ? bare->block_count : bare->block_bound;
    *out_memory = memory;
    return VK_SUCCESS;
}

static void release(void *user, const pelt_vk_memory *memory)
{
    peltt_vk_bare *bare = user;
    assert_ptr_equal(memory->user, bare);
    assert_true(bare->block_count > 0);
    bare->block_count--;
    PELTT_VK(&bare->vk, vkFreeMemory)(bare->vk.device, memory->memory, NULL);
}

void peltt_vk_bare_create(peltt_vk_bare *bare, VkDeviceSize block_size, bool callbacks)
{
    *bare = (peltt_vk_bare){0};
    peltt_vk_create(&bare->vk, &(peltt_vk_options){.optional = true});
    pelt_vk_context *context = &bare->context;
    context->options = peltt_vk_context_options(&bare->vk);
    context->options.allocator = peltt_alloc_make(&bare->host);
    context->options.block_size = block_size;
    if (callbacks) {
        context->options.memory = (pelt_vk_memory_callbacks){allocate, release, bare};
    }
    context->support = bare->vk.support;
    pelt_error error = {0};
    assert_int_equal(pelti_vk_load_instance(&bare->vk.physical, &context->vk, &error), PELT_OK);
    assert_int_equal(pelti_vk_load_device(bare->vk.get_device_proc_addr, bare->vk.device, &context->vk, &error),
                     PELT_OK);
    VkPhysicalDeviceMaintenance3Properties limits = {.sType =
                                                         VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &limits};
    context->vk.vkGetPhysicalDeviceProperties2(bare->vk.physical.device, &properties);
    context->vk.vkGetPhysicalDeviceMemoryProperties(bare->vk.physical.device, &context->memory);
    context->limits = properties.properties.limits;
    context->max_buffer_size = limits.maxMemoryAllocationSize;
}

void peltt_vk_bare_destroy(peltt_vk_bare *bare)
{
    assert_int_equal(bare->host.live_blocks, 0);
    assert_int_equal(bare->host.live_bytes, 0);
    assert_int_equal(bare->block_count, 0);
    peltt_vk_destroy(&bare->vk);
}

void peltt_vk_bare_barrier(const peltt_vk_bare *bare, VkCommandBuffer cmd)
{
    VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
    };
    PELTT_VK(&bare->vk, vkCmdPipelineBarrier)
    (cmd, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
}

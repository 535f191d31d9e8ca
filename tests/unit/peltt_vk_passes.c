// SPDX-License-Identifier: MIT
// Runs one pass of the library alone, with any workgroup size.
#include "peltt_vk_passes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum {
    FILL = 0xCD,
    GUARD_SIZE = 64,
    ROW_LIMIT = 65535
};

const uint32_t peltt_vk_passes_sizes[PELTT_VK_PASSES_SIZES] = {32, 64, 128, 256};

// What the wrapper below needs to know; tests run one after the other.
static const peltt_vk *wrapped_device;
static uint32_t wrapped_threads;

// Replaces specialisation constant 0, of which the library has one value for each pass, and leaves the others.
static VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                                       const VkComputePipelineCreateInfo *infos,
                                                       const VkAllocationCallbacks *allocator, VkPipeline *pipelines)
{
    assert_int_equal(count, 1);
    VkComputePipelineCreateInfo info = infos[0];
    VkSpecializationInfo constants = *info.stage.pSpecializationInfo;
    char data[64];
    assert_true(constants.dataSize <= sizeof data);
    memcpy(data, constants.pData, constants.dataSize);
    assert_int_equal(constants.pMapEntries[0].constantID, 0);
    memcpy(data + constants.pMapEntries[0].offset, &wrapped_threads, sizeof wrapped_threads);
    constants.pData = data;
    info.stage.pSpecializationInfo = &constants;
    return PELTT_VK(wrapped_device, vkCreateComputePipelines)(device, cache, 1, &info, allocator, pipelines);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_function(VkDevice device, const char *name)
{
    if (strcmp(name, "vkCreateComputePipelines") == 0) {
        return (PFN_vkVoidFunction)create_pipelines;
    }
    return wrapped_device->get_device_proc_addr(device, name);
}

void peltt_vk_passes_create(peltt_vk_passes *passes, uint64_t memory_size)
{
    *passes = (peltt_vk_passes){0};
    peltt_vk_create(&passes->vk, NULL);
    passes->memory = peltt_vk_buffer_create(
        &passes->vk, memory_size, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, true);
}

bool peltt_vk_passes_set_threads(peltt_vk_passes *passes, uint32_t threads)
{
    pelt_vk_context_destroy(passes->context);
    passes->context = NULL;
    PFN_vkGetPhysicalDeviceProperties get_properties =
        (PFN_vkGetPhysicalDeviceProperties)passes->vk.physical.get_instance_proc_addr(passes->vk.physical.instance,
                                                                                      "vkGetPhysicalDeviceProperties");
    VkPhysicalDeviceProperties properties;
    get_properties(passes->vk.physical.device, &properties);
    if (threads > properties.limits.maxComputeWorkGroupInvocations ||
        threads > properties.limits.maxComputeWorkGroupSize[0]) {
        return false;
    }
    wrapped_device = &passes->vk;
    wrapped_threads = threads;
    passes->threads = threads;
    pelt_vk_context_options options = peltt_vk_context_options(&passes->vk);
    options.get_device_proc_addr = get_function;
    pelt_error error = {0};
    if (pelt_vk_context_create(&options, &passes->context, &error) != PELT_OK) {
        fail_msg("%s", error.message);
    }
    return true;
}

void peltt_vk_passes_destroy(peltt_vk_passes *passes)
{
    pelt_vk_context_destroy(passes->context);
    peltt_vk_buffer_destroy(&passes->vk, &passes->memory);
    peltt_vk_destroy(&passes->vk);
}

void *peltt_vk_passes_take(peltt_vk_passes *passes, uint64_t size, uint64_t *address)
{
    uint64_t rounded = (size + GUARD_SIZE - 1) / GUARD_SIZE * GUARD_SIZE + GUARD_SIZE;
    assert_true(rounded <= passes->memory.size - passes->taken);
    char *data = (char *)passes->memory.data + passes->taken;
    *address = size > 0 ? passes->memory.address + passes->taken : 0;
    memset(data, FILL, rounded);
    passes->taken += rounded;
    return data;
}

uint64_t peltt_vk_passes_put(peltt_vk_passes *passes, const void *data, uint64_t size)
{
    uint64_t address = 0;
    void *copy = peltt_vk_passes_take(passes, size, &address);
    if (size > 0) {
        memcpy(copy, data, size);
    }
    return address;
}

void peltt_vk_passes_reset(peltt_vk_passes *passes)
{
    passes->taken = 0;
}

void peltt_vk_passes_run(peltt_vk_passes *passes, pelti_vk_pass pass, const void *push, uint32_t push_size,
                         uint32_t group_count, uint32_t columns)
{
    assert_true(columns > 0 && columns <= ROW_LIMIT);
    uint32_t rows = (group_count + columns - 1) / columns;
    assert_true(rows > 0 && rows <= ROW_LIMIT);
    VkCommandBuffer cmd = peltt_vk_begin(&passes->vk);
    const pelti_vk_functions *vk = &passes->context->vk;
    vk->vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, passes->context->pipelines[pass]);
    vk->vkCmdPushConstants(cmd, passes->context->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, push_size, push);
    vk->vkCmdDispatch(cmd, columns, rows, 1);
    VkMemoryBarrier2 barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                .srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                .srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                                .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
                                .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT};
    VkDependencyInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO, .memoryBarrierCount = 1, .pMemoryBarriers = &barrier};
    vk->vkCmdPipelineBarrier2(cmd, &info);
    peltt_vk_run(&passes->vk, cmd);
    peltt_vk_check(&passes->vk);
}

bool peltt_vk_passes_untouched(const void *data, uint64_t size)
{
    const unsigned char *bytes = data;
    for (uint64_t i = 0; i < size; i++) {
        if (bytes[i] != FILL) {
            return false;
        }
    }
    return true;
}

// SPDX-License-Identifier: MIT
// The functions of peltt_vk_tap.h: each takes note, then calls the real one.
#include "peltt_vk_tap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

peltt_vk_tap peltt_vk_tap_state;

static PFN_vkGetDeviceProcAddr real_get;
static VkDevice real_device;

#define REAL(name) ((PFN_##name)real_get(real_device, #name))

static peltt_vk_tap_command *note(peltt_vk_tap_kind kind)
{
    peltt_vk_tap *t = &peltt_vk_tap_state;
    uint32_t index = t->command_count++;
    peltt_vk_tap_command *command = &t->commands[index < PELTT_VK_TAP_CAPACITY ? index : PELTT_VK_TAP_CAPACITY - 1];
    *command = (peltt_vk_tap_command){.kind = kind};
    return command;
}

// Whether this call is to fail.
static bool fails(void)
{
    peltt_vk_tap *t = &peltt_vk_tap_state;
    t->call_count++;
    return t->fail_at != 0 && t->call_count >= t->fail_at && t->call_count - t->fail_at < t->fail_count;
}

static VKAPI_ATTR void VKAPI_CALL bind(VkCommandBuffer cmd, VkPipelineBindPoint point, VkPipeline pipeline)
{
    note(PELTT_VK_TAP_BIND);
    REAL(vkCmdBindPipeline)(cmd, point, pipeline);
}

static VKAPI_ATTR void VKAPI_CALL push(VkCommandBuffer cmd, VkPipelineLayout layout, VkShaderStageFlags stages,
                                       uint32_t offset, uint32_t size, const void *values)
{
    note(PELTT_VK_TAP_PUSH);
    REAL(vkCmdPushConstants)(cmd, layout, stages, offset, size, values);
}

static VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer cmd, uint32_t x, uint32_t y, uint32_t z)
{
    note(PELTT_VK_TAP_DISPATCH);
    REAL(vkCmdDispatch)(cmd, x, y, z);
}

static VKAPI_ATTR void VKAPI_CALL copy(VkCommandBuffer cmd, VkBuffer source, VkBuffer destination, uint32_t count,
                                       const VkBufferCopy *regions)
{
    note(PELTT_VK_TAP_COPY)->region_count = count;
    peltt_vk_tap_state.region_count += count;
    REAL(vkCmdCopyBuffer)(cmd, source, destination, count, regions);
}

static VKAPI_ATTR void VKAPI_CALL fill(VkCommandBuffer cmd, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size,
                                       uint32_t value)
{
    note(PELTT_VK_TAP_FILL);
    REAL(vkCmdFillBuffer)(cmd, buffer, offset, size, value);
}

static const VkPipelineStageFlags2 ray_tracing_stages =
    VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_BUILD_BIT_KHR | VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR;
static const char *barrier_name = "vkCmdPipelineBarrier2";

static VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer cmd, const VkDependencyInfo *info)
{
    assert_int_equal(info->memoryBarrierCount, 1);
    assert_int_equal(info->bufferMemoryBarrierCount + info->imageMemoryBarrierCount, 0);
    note(PELTT_VK_TAP_BARRIER)->memory = info->pMemoryBarriers[0];
    VkMemoryBarrier2 used = info->pMemoryBarriers[0];
    if (peltt_vk_tap_state.no_ray_tracing) {
        used.srcStageMask &= ~ray_tracing_stages;
        used.dstStageMask &= ~ray_tracing_stages;
    }
    VkDependencyInfo with = *info;
    with.pMemoryBarriers = &used;
    ((PFN_vkCmdPipelineBarrier2)real_get(real_device, barrier_name))(cmd, &with);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkBuffer *buffer)
{
    peltt_vk_tap *t = &peltt_vk_tap_state;
    if (fails()) {
        return t->fail_with;
    }
    VkBufferCreateInfo used = *info;
    t->usages |= info->usage;
    if (t->no_ray_tracing) {
        used.usage &= ~(VkBufferUsageFlags)VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR;
    }
    if (info->sharingMode == VK_SHARING_MODE_CONCURRENT) {
        assert_true(info->queueFamilyIndexCount <= PELTT_VK_TAP_FAMILIES);
        memcpy(t->families, info->pQueueFamilyIndices, info->queueFamilyIndexCount * sizeof(uint32_t));
        t->family_count = info->queueFamilyIndexCount;
        t->shared_buffers++;
        if (t->one_family) {
            used.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
            used.queueFamilyIndexCount = 0;
        }
    } else {
        t->exclusive_buffers++;
    }
    VkResult result = REAL(vkCreateBuffer)(device, &used, allocator, buffer);
    t->live_buffers += result == VK_SUCCESS;
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_buffer(VkDevice device, VkBuffer buffer,
                                                 const VkAllocationCallbacks *allocator)
{
    peltt_vk_tap_state.live_buffers -= buffer != VK_NULL_HANDLE;
    REAL(vkDestroyBuffer)(device, buffer, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice device, const VkMemoryAllocateInfo *info,
                                                      const VkAllocationCallbacks *allocator, VkDeviceMemory *memory)
{
    if (fails()) {
        return peltt_vk_tap_state.fail_with;
    }
    VkResult result = REAL(vkAllocateMemory)(device, info, allocator, memory);
    peltt_vk_tap_state.live_memories += result == VK_SUCCESS;
    return result;
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                              const VkAllocationCallbacks *allocator)
{
    peltt_vk_tap_state.live_memories -= memory != VK_NULL_HANDLE;
    REAL(vkFreeMemory)(device, memory, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_buffer(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                                  VkDeviceSize offset)
{
    return fails() ? peltt_vk_tap_state.fail_with : REAL(vkBindBufferMemory)(device, buffer, memory, offset);
}

static VKAPI_ATTR VkResult VKAPI_CALL map_memory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
                                                 VkDeviceSize size, VkMemoryMapFlags flags, void **data)
{
    return fails() ? peltt_vk_tap_state.fail_with : REAL(vkMapMemory)(device, memory, offset, size, flags, data);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get(VkDevice device, const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } taps[] = {{"vkCmdBindPipeline", (PFN_vkVoidFunction)bind},
                {"vkCmdPushConstants", (PFN_vkVoidFunction)push},
                {"vkCmdDispatch", (PFN_vkVoidFunction)dispatch},
                {"vkCmdCopyBuffer", (PFN_vkVoidFunction)copy},
                {"vkCmdFillBuffer", (PFN_vkVoidFunction)fill},
                {"vkCmdPipelineBarrier2", (PFN_vkVoidFunction)barrier},
                {"vkCmdPipelineBarrier2KHR", (PFN_vkVoidFunction)barrier},
                {"vkCreateBuffer", (PFN_vkVoidFunction)create_buffer},
                {"vkDestroyBuffer", (PFN_vkVoidFunction)destroy_buffer},
                {"vkAllocateMemory", (PFN_vkVoidFunction)allocate_memory},
                {"vkFreeMemory", (PFN_vkVoidFunction)free_memory},
                {"vkBindBufferMemory", (PFN_vkVoidFunction)bind_buffer},
                {"vkMapMemory", (PFN_vkVoidFunction)map_memory}};
    PFN_vkVoidFunction function = real_get(device, name);
    if (!function && peltt_vk_tap_state.no_ray_tracing &&
        (strcmp(name, "vkCreateAccelerationStructureKHR") == 0 ||
         strcmp(name, "vkCreateRayTracingPipelinesKHR") == 0)) {
        return (PFN_vkVoidFunction)bind; // there, but not to be called
    }
    for (size_t i = 0; function && i < sizeof taps / sizeof *taps; i++) {
        if (strcmp(name, taps[i].name) == 0) {
            if (taps[i].function == (PFN_vkVoidFunction)barrier) {
                barrier_name = taps[i].name;
            }
            return taps[i].function;
        }
    }
    return function;
}

void peltt_vk_tap_install(pelt_vk_context_options *options)
{
    peltt_vk_tap_state = (peltt_vk_tap){0};
    real_get = options->get_device_proc_addr;
    real_device = options->device;
    options->get_device_proc_addr = get;
}

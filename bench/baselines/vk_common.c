// SPDX-License-Identifier: MIT
// The device as the designs use it: buffers, staging, compute pipelines, dispatches; and the list of the designs.
#include "vk_common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const baseline_vk_contender *const baseline_vk_contenders[] = {&bvk_tutorial, &bvk_atomics, &bvk_wave_atomics,
                                                               &bvk_groups, &bvk_vertex_shader};
const uint32_t baseline_vk_contender_count = sizeof baseline_vk_contenders / sizeof *baseline_vk_contenders;

bool bvk_fail(const bvk *vk, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(vk->message, BASELINE_VK_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

bool bvk_check(const bvk *vk, VkResult result, const char *what)
{
    if (result == VK_SUCCESS) {
        return true;
    }
    bool memory = result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY;
    return bvk_fail(vk, "%s: %s (VkResult %d)", what, memory ? "out of memory" : "failed", (int)result);
}

// ---- opening

static bool load_functions(bvk *vk)
{
    const char *missing = NULL;
#define FETCH(name)                                                                                                    \
    vk->name = (PFN_##name)vk->device.get_instance_proc_addr(vk->device.instance, #name);                              \
    missing = !missing && !vk->name ? #name : missing;
    BVK_INSTANCE_FUNCTIONS(FETCH)
#undef FETCH
#define FETCH(name)                                                                                                    \
    vk->name = (PFN_##name)vk->device.get_device_proc_addr(vk->device.device, #name);                                  \
    missing = !missing && !vk->name ? #name : missing;
    BVK_DEVICE_FUNCTIONS(FETCH)
#undef FETCH
    return missing ? bvk_fail(vk, "the device has no %s", missing) : true;
}

static void describe(bvk *vk)
{
    VkPhysicalDeviceSubgroupProperties subgroup = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceMaintenance3Properties maintenance = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES, .pNext = &subgroup};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &maintenance};
    vk->vkGetPhysicalDeviceProperties2(vk->device.physical, &properties);
    vk->vkGetPhysicalDeviceMemoryProperties(vk->device.physical, &vk->memory);
    vk->limits = properties.properties.limits;
    vk->allocation_limit = maintenance.maxMemoryAllocationSize;
    vk->subgroup_size = subgroup.subgroupSize;
}

static bool create_commands(bvk *vk)
{
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex = vk->device.queue_family};
    if (!bvk_check(vk, vk->vkCreateCommandPool(vk->device.device, &pool, NULL, &vk->pool), "vkCreateCommandPool")) {
        return false;
    }
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = vk->pool, .commandBufferCount = 1};
    return bvk_check(vk, vk->vkAllocateCommandBuffers(vk->device.device, &commands, &vk->commands),
                     "vkAllocateCommandBuffers");
}

bool bvk_memory_type(const bvk *vk, uint32_t allowed, VkMemoryPropertyFlags wanted, uint32_t *out)
{
    for (uint32_t i = 0; i < vk->memory.memoryTypeCount; i++) {
        if ((allowed >> i & 1U) != 0 && (vk->memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
            *out = i;
            return true;
        }
    }
    return bvk_fail(vk, "the device has no memory of type %#x", (unsigned)wanted);
}

static bool allocate(const bvk *vk, VkBuffer buffer, VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags better,
                     VkDeviceMemory *out)
{
    VkMemoryRequirements need;
    vk->vkGetBufferMemoryRequirements(vk->device.device, buffer, &need);
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &flags, .allocationSize = need.size};
    if (!bvk_memory_type(vk, need.memoryTypeBits, wanted | better, &info.memoryTypeIndex) &&
        !bvk_memory_type(vk, need.memoryTypeBits, wanted, &info.memoryTypeIndex)) {
        return false;
    }
    return bvk_check(vk, vk->vkAllocateMemory(vk->device.device, &info, NULL, out), "vkAllocateMemory") &&
           bvk_check(vk, vk->vkBindBufferMemory(vk->device.device, buffer, *out, 0), "vkBindBufferMemory");
}

static bool create_staging(bvk *vk)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = BVK_STAGING_SIZE,
                               .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    return bvk_check(vk, vk->vkCreateBuffer(vk->device.device, &info, NULL, &vk->staging), "vkCreateBuffer") &&
           allocate(vk, vk->staging, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                    VK_MEMORY_PROPERTY_HOST_CACHED_BIT, &vk->staging_memory) &&
           bvk_check(vk, vk->vkMapMemory(vk->device.device, vk->staging_memory, 0, VK_WHOLE_SIZE, 0, &vk->staging_data),
                     "vkMapMemory");
}

static bool create_layout(bvk *vk)
{
    VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = BVK_PUSH_SIZE};
    VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .pushConstantRangeCount = 1,
                                       .pPushConstantRanges = &range};
    return bvk_check(vk, vk->vkCreatePipelineLayout(vk->device.device, &info, NULL, &vk->layout),
                     "vkCreatePipelineLayout");
}

void *bvk_state(size_t size, char *message)
{
    void *state = calloc(1, size);
    if (!state) {
        snprintf(message, BASELINE_VK_MESSAGE_SIZE, "out of memory");
    }
    return state;
}

bool bvk_open(bvk *vk, const baseline_vk_device *device, char *message)
{
    *vk = (bvk){.device = *device, .message = message};
    if (!load_functions(vk)) {
        *vk = (bvk){0};
        return false;
    }
    describe(vk);
    return create_commands(vk) && create_staging(vk) && create_layout(vk);
}

void bvk_close(bvk *vk)
{
    if (!vk->device.device) {
        return;
    }
    vk->vkDestroyPipelineLayout(vk->device.device, vk->layout, NULL);
    vk->vkDestroyBuffer(vk->device.device, vk->staging, NULL);
    vk->vkFreeMemory(vk->device.device, vk->staging_memory, NULL);
    vk->vkDestroyCommandPool(vk->device.device, vk->pool, NULL);
}

// ---- buffers

bool bvk_buffer_create(const bvk *vk, VkDeviceSize size, bvk_buffer *out)
{
    *out = (bvk_buffer){.size = size > 0 ? size : 4};
    if (out->size > vk->allocation_limit) {
        return bvk_fail(vk, "a buffer of %llu bytes is needed, the device allows %llu", (unsigned long long)out->size,
                        (unsigned long long)vk->allocation_limit);
    }
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = out->size,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                        VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    if (!bvk_check(vk, vk->vkCreateBuffer(vk->device.device, &info, NULL, &out->buffer), "vkCreateBuffer") ||
        !allocate(vk, out->buffer, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0, &out->memory)) {
        bvk_buffer_destroy(vk, out);
        return false;
    }
    VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = out->buffer};
    out->address = vk->vkGetBufferDeviceAddress(vk->device.device, &address);
    return true;
}

void bvk_buffer_destroy(const bvk *vk, bvk_buffer *buffer)
{
    if (vk->device.device) {
        vk->vkDestroyBuffer(vk->device.device, buffer->buffer, NULL);
        vk->vkFreeMemory(vk->device.device, buffer->memory, NULL);
    }
    *buffer = (bvk_buffer){0};
}

bool bvk_begin(const bvk *vk)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    return bvk_check(vk, vk->vkResetCommandPool(vk->device.device, vk->pool, 0), "vkResetCommandPool") &&
           bvk_check(vk, vk->vkBeginCommandBuffer(vk->commands, &begin), "vkBeginCommandBuffer");
}

bool bvk_run(const bvk *vk)
{
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &vk->commands};
    return bvk_check(vk, vk->vkEndCommandBuffer(vk->commands), "vkEndCommandBuffer") &&
           bvk_check(vk, vk->vkQueueSubmit(vk->device.queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit") &&
           bvk_check(vk, vk->vkQueueWaitIdle(vk->device.queue), "vkQueueWaitIdle");
}

static bool copy(const bvk *vk, VkBuffer from, VkDeviceSize from_offset, VkBuffer to, VkDeviceSize to_offset,
                 VkDeviceSize size)
{
    if (!bvk_begin(vk)) {
        return false;
    }
    VkBufferCopy region = {from_offset, to_offset, size};
    vk->vkCmdCopyBuffer(vk->commands, from, to, 1, &region);
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vk->vkCmdPipelineBarrier(vk->commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier,
                             0, NULL, 0, NULL);
    return bvk_run(vk);
}

bool bvk_write_end(bvk_writer *writer)
{
    if (writer->staged == 0) {
        return true;
    }
    bool copied = copy(writer->vk, writer->vk->staging, 0, writer->to->buffer, writer->written, writer->staged);
    writer->written += writer->staged;
    writer->staged = 0;
    return copied;
}

bool bvk_write(bvk_writer *writer, const void *data, size_t size)
{
    const char *from = data;
    while (size > 0) {
        size_t room = (size_t)(BVK_STAGING_SIZE - writer->staged);
        size_t part = size < room ? size : room;
        memcpy((char *)writer->vk->staging_data + writer->staged, from, part);
        writer->staged += part;
        from += part;
        size -= part;
        if (writer->staged == BVK_STAGING_SIZE && !bvk_write_end(writer)) {
            return false;
        }
    }
    return true;
}

bool bvk_upload(const bvk *vk, const void *data, size_t size, bvk_buffer *out)
{
    if (!bvk_buffer_create(vk, size, out)) {
        return false;
    }
    bvk_writer writer = {.vk = vk, .to = out};
    return bvk_write(&writer, data, size) && bvk_write_end(&writer);
}

bool bvk_download(const bvk *vk, const bvk_buffer *from, VkDeviceSize offset, void *out, size_t size)
{
    char *to = out;
    while (size > 0) {
        size_t part = size < BVK_STAGING_SIZE ? size : BVK_STAGING_SIZE;
        if (!copy(vk, from->buffer, offset, vk->staging, 0, part)) {
            return false;
        }
        memcpy(to, vk->staging_data, part);
        offset += part;
        to += part;
        size -= part;
    }
    return true;
}

// ---- compute

bool bvk_pipeline(const bvk *vk, const uint32_t *words, size_t size, const uint32_t *constants, uint32_t constant_count,
                  VkPipeline *out)
{
    VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
    VkShaderModule module = VK_NULL_HANDLE;
    if (!bvk_check(vk, vk->vkCreateShaderModule(vk->device.device, &module_info, NULL, &module),
                   "vkCreateShaderModule")) {
        return false;
    }
    VkSpecializationMapEntry entries[4];
    for (uint32_t i = 0; i < constant_count; i++) {
        entries[i] = (VkSpecializationMapEntry){.constantID = i, .offset = i * 4, .size = 4};
    }
    VkSpecializationInfo special = {.mapEntryCount = constant_count,
                                    .pMapEntries = entries,
                                    .dataSize = constant_count * sizeof *constants,
                                    .pData = constants};
    VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                  .module = module,
                                                  .pName = "main",
                                                  .pSpecializationInfo = constant_count > 0 ? &special : NULL},
                                        .layout = vk->layout};
    VkResult result = vk->vkCreateComputePipelines(vk->device.device, VK_NULL_HANDLE, 1, &info, NULL, out);
    vk->vkDestroyShaderModule(vk->device.device, module, NULL);
    return bvk_check(vk, result, "vkCreateComputePipelines");
}

bool bvk_dispatch_fits(const bvk *vk, uint64_t group_count)
{
    const uint32_t *most = vk->limits.maxComputeWorkGroupCount;
    uint64_t rows = (group_count + most[0] - 1) / most[0];
    return rows <= most[1] ? true
                           : bvk_fail(vk, "%llu workgroups are needed, the device allows %u rows of %u",
                                      (unsigned long long)group_count, most[1], most[0]);
}

void bvk_dispatch(const bvk *vk, VkCommandBuffer commands, VkPipeline pipeline, const void *push, uint32_t push_size,
                  uint32_t group_count)
{
    if (group_count == 0) {
        return;
    }
    uint32_t most = vk->limits.maxComputeWorkGroupCount[0];
    uint32_t columns = group_count < most ? group_count : most;
    uint32_t rows = (uint32_t)(((uint64_t)group_count + columns - 1) / columns);
    vk->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vk->vkCmdPushConstants(commands, vk->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, push_size, push);
    vk->vkCmdDispatch(commands, columns, rows, 1);
}

void bvk_pass_barrier(const bvk *vk, VkCommandBuffer commands)
{
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
    vk->vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1,
                             &barrier, 0, NULL, 0, NULL);
}

void bvk_release(const bvk *vk, VkCommandBuffer commands)
{
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    vk->vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1,
                             &barrier, 0, NULL, 0, NULL);
}

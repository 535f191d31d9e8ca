// SPDX-License-Identifier: MIT
// A device with one queue of compute, the library's context on it, and batches of commands that are waited for.
#include "gpu_internal.h"

#include <stdlib.h>

static const char *result_name(VkResult result)
{
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case VK_ERROR_INITIALIZATION_FAILED:
        return "VK_ERROR_INITIALIZATION_FAILED";
    case VK_ERROR_DEVICE_LOST:
        return "VK_ERROR_DEVICE_LOST";
    case VK_ERROR_MEMORY_MAP_FAILED:
        return "VK_ERROR_MEMORY_MAP_FAILED";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
        return "VK_ERROR_EXTENSION_NOT_PRESENT";
    case VK_ERROR_FEATURE_NOT_PRESENT:
        return "VK_ERROR_FEATURE_NOT_PRESENT";
    case VK_ERROR_TOO_MANY_OBJECTS:
        return "VK_ERROR_TOO_MANY_OBJECTS";
    default:
        return NULL;
    }
}

int gpu_fail_vulkan(const gpu *g, const char *what, VkResult result)
{
    bool memory = result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
    const char *hint = memory ? "free memory, or use --device cpu"
                       : result == VK_ERROR_DEVICE_LOST
                           ? "its driver stopped or another program crashed it; the system's log may tell more"
                           : "check the driver with vulkaninfo (package vulkan-tools), or use --device cpu";
    const char *name = result_name(result);
    char number[32];
    snprintf(number, sizeof number, "VkResult %d", (int)result);
    return cli_fail(g->context, memory ? CLI_LIMIT : CLI_NO_DEVICE, NULL, NULL, hint, "device %u, %s: %s failed: %s",
                    (unsigned)g->info->index, g->info->name, what, name ? name : number);
}

int gpu_fail(const gpu *g, const char *what, pelt_result result, const pelt_error *error)
{
    // What the device cannot do is no fault of the input.
    int code = result == PELT_ERROR_UNSUPPORTED ? CLI_NO_DEVICE : cli_exit_of(result);
    const char *hint = error && error->hint[0]       ? error->hint
                       : result == PELT_ERROR_MEMORY ? "free memory, or use --device cpu"
                       : result == PELT_ERROR_LIMIT  ? "use --device cpu, or split the file"
                       : code == CLI_NO_DEVICE       ? "update the driver, or use --device cpu"
                                                     : NULL;
    return cli_fail(g->context, code, g->context->options.input, NULL, hint, "%s on device %u, %s, failed: %s", what,
                    (unsigned)g->info->index, g->info->name,
                    error && error->message[0] ? error->message : pelt_result_name(result));
}

// ---- creation

static bool find_queue_family(gpu *g, const gpu_system *system)
{
    PFN_vkGetPhysicalDeviceQueueFamilyProperties get =
        (PFN_vkGetPhysicalDeviceQueueFamilyProperties)system->get_instance_proc_addr(
            system->instance, "vkGetPhysicalDeviceQueueFamilyProperties");
    VkQueueFamilyProperties families[16];
    uint32_t count = sizeof families / sizeof *families;
    get(g->info->device, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        if (families[i].queueCount > 0 && (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) {
            g->queue_family = i;
            return true;
        }
    }
    return false;
}

static VkResult create_device(gpu *g, const gpu_system *system)
{
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)system->get_instance_proc_addr(system->instance, "vkCreateDevice");
    PFN_vkGetDeviceProcAddr get_function =
        (PFN_vkGetDeviceProcAddr)system->get_instance_proc_addr(system->instance, "vkGetDeviceProcAddr");
    const pelt_vk_support *support = &g->info->support;
    const float priority = 1.0f;
    pelt_vk_features features;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = g->queue_family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = pelt_vk_features_chain(support, false, NULL, &features),
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = support->required_extension_count,
                               .ppEnabledExtensionNames = support->extensions};
    VkResult result = create(g->info->device, &info, NULL, &g->device);
    if (result != VK_SUCCESS) {
        g->device = VK_NULL_HANDLE;
        return result;
    }
#define LOAD(name)                                                                                                     \
    g->vk.name = (PFN_vk##name)get_function(g->device, "vk" #name);                                                    \
    if (!g->vk.name) {                                                                                                 \
        result = VK_ERROR_INITIALIZATION_FAILED;                                                                       \
    }
    GPU_FUNCTIONS(LOAD)
#undef LOAD
    return result;
}

static VkResult create_commands(gpu *g)
{
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex = g->queue_family};
    VkResult result = g->vk.CreateCommandPool(g->device, &pool, NULL, &g->pool);
    if (result != VK_SUCCESS) {
        g->pool = VK_NULL_HANDLE;
        return result;
    }
    VkCommandBufferAllocateInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                          .commandPool = g->pool,
                                          .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                          .commandBufferCount = 1};
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    result = g->vk.AllocateCommandBuffers(g->device, &buffer, &g->cmd);
    result = result == VK_SUCCESS ? g->vk.CreateFence(g->device, &fence, NULL, &g->fence) : result;
    g->fence = result == VK_SUCCESS ? g->fence : VK_NULL_HANDLE;
    return result;
}

static int create_context(gpu *g, const gpu_system *system)
{
    pelt_vk_context_options options = {
        .physical = {system->get_instance_proc_addr, system->instance, system->api_version, g->info->device},
        .device = g->device};
    pelt_error error = {0};
    pelt_result result = pelt_vk_context_create(&options, &g->pelt, &error);
    return result == PELT_OK ? CLI_DONE : gpu_fail(g, "setting up", result, &error);
}

static int open_device(gpu *g, const gpu_system *system)
{
    if (!find_queue_family(g, system)) {
        return cli_fail(g->context, CLI_NO_DEVICE, NULL, NULL, "choose another device",
                        "device %u, %s, has no queue for compute", (unsigned)g->info->index, g->info->name);
    }
    VkResult result = create_device(g, system);
    if (result != VK_SUCCESS) {
        return gpu_fail_vulkan(g, "vkCreateDevice", result);
    }
    g->vk.GetDeviceQueue(g->device, g->queue_family, 0, &g->queue);
    PFN_vkGetPhysicalDeviceMemoryProperties get_memory =
        (PFN_vkGetPhysicalDeviceMemoryProperties)system->get_instance_proc_addr(system->instance,
                                                                                "vkGetPhysicalDeviceMemoryProperties");
    get_memory(g->info->device, &g->memory);
    result = create_commands(g);
    return result == VK_SUCCESS ? create_context(g, system) : gpu_fail_vulkan(g, "making a command buffer", result);
}

int gpu_open(const cli_context *context, const gpu_system *system, const gpu_info *info, gpu **out)
{
    *out = NULL;
    gpu *g = calloc(1, sizeof *g);
    if (!g) {
        return cli_fail(context, CLI_LIMIT, NULL, NULL, NULL, "out of memory for the device");
    }
    g->context = context;
    g->info = info;
    gpu_stdout quiet = gpu_redirect_stdout();
    int code = open_device(g, system);
    gpu_restore_stdout(quiet);
    if (code != CLI_DONE) {
        gpu_close(g);
        return code;
    }
    *out = g;
    return CLI_DONE;
}

void gpu_close(gpu *g)
{
    if (!g) {
        return;
    }
    if (g->device && g->vk.DestroyDevice) {
        if (g->vk.DeviceWaitIdle) {
            g->vk.DeviceWaitIdle(g->device);
        }
        gpu_staging_release(g);
        pelt_vk_context_destroy(g->pelt);
        if (g->fence) {
            g->vk.DestroyFence(g->device, g->fence, NULL);
        }
        if (g->pool) {
            g->vk.DestroyCommandPool(g->device, g->pool, NULL);
        }
        g->vk.DestroyDevice(g->device, NULL);
    }
    free(g->requests);
    free(g);
}

// ---- batches

int gpu_start_commands(gpu *g)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkResult result = g->vk.ResetCommandPool(g->device, g->pool, 0);
    result = result == VK_SUCCESS ? g->vk.BeginCommandBuffer(g->cmd, &begin) : result;
    return result == VK_SUCCESS ? CLI_DONE : gpu_fail_vulkan(g, "vkBeginCommandBuffer", result);
}

int gpu_begin(gpu *g)
{
    g->request_count = 0;
    g->frame++;
    return gpu_start_commands(g);
}

int gpu_submit(gpu *g)
{
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &g->cmd};
    VkResult result = g->vk.EndCommandBuffer(g->cmd);
    if (result != VK_SUCCESS) {
        return gpu_fail_vulkan(g, "vkEndCommandBuffer", result);
    }
    result = g->vk.QueueSubmit(g->queue, 1, &submit, g->fence);
    if (result != VK_SUCCESS) {
        return gpu_fail_vulkan(g, "vkQueueSubmit", result);
    }
    result = g->vk.WaitForFences(g->device, 1, &g->fence, VK_TRUE, UINT64_MAX);
    result = result == VK_SUCCESS ? g->vk.ResetFences(g->device, 1, &g->fence) : result;
    return result == VK_SUCCESS ? CLI_DONE : gpu_fail_vulkan(g, "waiting", result);
}

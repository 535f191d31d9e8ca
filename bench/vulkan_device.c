// SPDX-License-Identifier: MIT
// A Vulkan device for benchmarks. libvulkan is opened at run time, so that the other benchmarks need none.
#include "vulkan_device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_DEVICES = 16,
    MOST_FAMILIES = 16
};

static bool complain(const char *what)
{
    fprintf(stderr, "vulkan: %s\n", what);
    return false;
}

static bool open_library(bench_vk *vk)
{
    // Never closed: not every driver survives that.
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
    // ISO C has no conversion from an object pointer to a function pointer; POSIX says they have one representation.
    memcpy(&vk->physical.get_instance_proc_addr, &symbol, sizeof symbol);
    return symbol ? true : complain("there is no libvulkan.so.1 (Debian: libvulkan1)");
}

static bool create_instance(bench_vk *vk)
{
    PFN_vkGetInstanceProcAddr get = vk->physical.get_instance_proc_addr;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    if (!create || create(&info, NULL, &vk->physical.instance) != VK_SUCCESS) {
        return complain("there is no driver for version 1.2 (Debian: mesa-vulkan-drivers)");
    }
    vk->physical.api_version = VK_API_VERSION_1_2;
    bool complete = true;
#define FETCH(name)                                                                                                    \
    vk->name = (PFN_vk##name)get(vk->physical.instance, "vk" #name);                                                   \
    complete = complete && vk->name;
    BENCH_VK_INSTANCE_FUNCTIONS(FETCH)
#undef FETCH
    return complete ? true : complain("a function of the instance is missing");
}

static void describe(bench_vk *vk)
{
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &driver};
    vk->GetPhysicalDeviceProperties2(vk->physical.device, &properties);
    snprintf(vk->name, sizeof vk->name, "%s", properties.properties.deviceName);
    snprintf(vk->driver, sizeof vk->driver, "%s", driver.driverName);
    snprintf(vk->driver_version, sizeof vk->driver_version, "%s", driver.driverInfo);
}

static bool is_selected(const bench_vk *vk, uint32_t index, const char *selector)
{
    char *end = NULL;
    unsigned long number = strtoul(selector, &end, 10);
    return *selector == '\0' || (*end == '\0' ? number == index : strstr(vk->name, selector) != NULL);
}

static bool choose(bench_vk *vk, const char *selector)
{
    VkPhysicalDevice devices[MOST_DEVICES];
    uint32_t count = MOST_DEVICES;
    if (vk->EnumeratePhysicalDevices(vk->physical.instance, &count, devices) < 0) {
        return complain("the devices cannot be listed");
    }
    pelt_error error = {.message = "there is no such device"};
    for (uint32_t i = 0; i < count; i++) {
        vk->physical.device = devices[i];
        describe(vk);
        if (is_selected(vk, i, selector) && pelt_vk_requirements(&vk->physical, &vk->support, &error) == PELT_OK) {
            return true;
        }
    }
    return complain(error.message);
}

static bool find_queue_family(bench_vk *vk)
{
    VkQueueFamilyProperties families[MOST_FAMILIES];
    uint32_t count = MOST_FAMILIES;
    vk->GetPhysicalDeviceQueueFamilyProperties(vk->physical.device, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) {
            vk->queue_family = i;
            return true;
        }
    }
    return complain("there is no queue family with compute");
}

static bool create_device(bench_vk *vk)
{
    const float priority = 1.0F;
    pelt_vk_features features;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = vk->queue_family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                 .pNext = pelt_vk_features_chain(&vk->support, false, NULL, &features),
                                 .queueCreateInfoCount = 1,
                                 .pQueueCreateInfos = &queue,
                                 .enabledExtensionCount = vk->support.required_extension_count,
                                 .ppEnabledExtensionNames = vk->support.extensions};
    if (vk->CreateDevice(vk->physical.device, &create, NULL, &vk->device) != VK_SUCCESS) {
        return complain("the device cannot be created");
    }
    bool complete = true;
#define FETCH(name)                                                                                                    \
    vk->name = (PFN_vk##name)vk->GetDeviceProcAddr(vk->device, "vk" #name);                                            \
    complete = complete && vk->name;
    BENCH_VK_DEVICE_FUNCTIONS(FETCH)
#undef FETCH
    return complete ? true : complain("a function of the device is missing");
}

static bool create_commands(bench_vk *vk)
{
    vk->GetDeviceQueue(vk->device, vk->queue_family, 0, &vk->queue);
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex = vk->queue_family};
    VkCommandBufferAllocateInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                          .commandBufferCount = 1};
    if (vk->CreateCommandPool(vk->device, &pool, NULL, &vk->pool) != VK_SUCCESS) {
        return complain("no command pool");
    }
    buffer.commandPool = vk->pool;
    if (vk->AllocateCommandBuffers(vk->device, &buffer, &vk->cmd) != VK_SUCCESS) {
        return complain("no command buffer");
    }
    pelt_vk_context_options options = {
        .physical = vk->physical, .device = vk->device, .get_device_proc_addr = vk->GetDeviceProcAddr};
    pelt_error error;
    return pelt_vk_context_create(&options, &vk->context, &error) == PELT_OK ? true : complain(error.message);
}

bool bench_vk_open(bench_vk *vk, const char *selector)
{
    *vk = (bench_vk){0};
    return open_library(vk) && create_instance(vk) && choose(vk, selector ? selector : "") && find_queue_family(vk) &&
           create_device(vk) && create_commands(vk);
}

void bench_vk_close(bench_vk *vk)
{
    if (vk->cmd) {
        vk->QueueWaitIdle(vk->queue);
    }
    pelt_vk_context_destroy(vk->context);
    if (vk->pool) {
        vk->DestroyCommandPool(vk->device, vk->pool, NULL);
    }
    if (vk->device && vk->DestroyDevice) {
        vk->DestroyDevice(vk->device, NULL);
    }
    if (vk->physical.instance && vk->DestroyInstance) {
        vk->DestroyInstance(vk->physical.instance, NULL);
    }
    *vk = (bench_vk){0};
}

bool bench_vk_begin(bench_vk *vk)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    return (vk->ResetCommandPool(vk->device, vk->pool, 0) == VK_SUCCESS &&
            vk->BeginCommandBuffer(vk->cmd, &begin) == VK_SUCCESS) ||
           complain("no command buffer");
}

bool bench_vk_run(bench_vk *vk)
{
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &vk->cmd};
    return (vk->EndCommandBuffer(vk->cmd) == VK_SUCCESS &&
            vk->QueueSubmit(vk->queue, 1, &submit, VK_NULL_HANDLE) == VK_SUCCESS &&
            vk->QueueWaitIdle(vk->queue) == VK_SUCCESS) ||
           complain("the device failed");
}

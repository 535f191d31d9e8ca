// SPDX-License-Identifier: MIT
// Loads libvulkan, makes an instance and describes every physical device. Where one of these is missing, the reason and
// the package that brings it are kept instead.
#include "gpu_internal.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char hint_loader[] = "install the Vulkan loader: apt install libvulkan1";
static const char hint_driver[] = "install a Vulkan driver: apt install mesa-vulkan-drivers (AMD, Intel, and lavapipe "
                                  "for machines without a GPU), or the driver of the GPU's maker";
static const char hint_loading[] = "a library that the driver needs may be missing: 'VK_LOADER_DEBUG=error,warn pelt "
                                   "devices' tells what keeps it from loading";

gpu_stdout gpu_redirect_stdout(void)
{
    fflush(stdout);
    gpu_stdout q = {dup(STDOUT_FILENO)};
    if (q.saved >= 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
    }
    return q;
}

void gpu_restore_stdout(gpu_stdout q)
{
    if (q.saved >= 0) {
        dup2(q.saved, STDOUT_FILENO);
        close(q.saved);
    }
}

static PFN_vkVoidFunction instance_function(const gpu_system *s, const char *name)
{
    return s->get_instance_proc_addr(s->instance, name);
}

// ---- the loader and the instance

static bool load_library(gpu_system *out)
{
    out->library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!out->library) {
        const char *reason = dlerror();
        snprintf(out->problem, sizeof out->problem, "there is no Vulkan loader: %s",
                 reason ? reason : "libvulkan.so.1");
        out->hint = hint_loader;
        return false;
    }
    // dlsym returns a data pointer; POSIX promises that it can hold a function's address, C does not convert it.
    void *address = dlsym(out->library, "vkGetInstanceProcAddr");
    memcpy(&out->get_instance_proc_addr, &address, sizeof address);
    if (!address) {
        snprintf(out->problem, sizeof out->problem, "libvulkan.so.1 has no vkGetInstanceProcAddr");
        out->hint = hint_loader;
    }
    return address != NULL;
}

// The loader's result is the same whether no driver is installed or none could be loaded.
static void tell_no_driver(gpu_system *out, VkResult result)
{
    char number[64];
    char manifests[320];
    snprintf(number, sizeof number, "vkCreateInstance failed (%d%s)", (int)result,
             result == VK_ERROR_INCOMPATIBLE_DRIVER ? ", VK_ERROR_INCOMPATIBLE_DRIVER" : "");
    gpu_list_manifests(manifests, sizeof manifests);
    out->hint = manifests[0] ? hint_loading : hint_driver;
    if (manifests[0]) {
        snprintf(out->problem, sizeof out->problem, "no Vulkan driver can be loaded: %s, though installed are %s",
                 number, manifests);
    } else {
        snprintf(out->problem, sizeof out->problem, "there is no Vulkan driver: %s", number);
    }
}

static bool create_instance(gpu_system *out)
{
    PFN_vkEnumerateInstanceVersion version =
        (PFN_vkEnumerateInstanceVersion)instance_function(out, "vkEnumerateInstanceVersion");
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)instance_function(out, "vkCreateInstance");
    out->loader_version = VK_API_VERSION_1_0; // loaders of 1.0 have no such function
    if (version && version(&out->loader_version) != VK_SUCCESS) {
        out->loader_version = VK_API_VERSION_1_0;
    }
    out->api_version = out->loader_version < VK_API_VERSION_1_3 ? out->loader_version : VK_API_VERSION_1_3;
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "pelt", .apiVersion = out->api_version};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    VkResult result = create ? create(&info, NULL, &out->instance) : VK_ERROR_INITIALIZATION_FAILED;
    if (result != VK_SUCCESS) {
        out->instance = VK_NULL_HANDLE;
        tell_no_driver(out, result);
    }
    return result == VK_SUCCESS;
}

// ---- devices

static const char *type_name(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return "discrete GPU";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return "integrated GPU";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return "virtual GPU";
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return "software";
    default:
        return "other";
    }
}

static const char makers_driver[] = "a newer driver of the device's maker";

static const char *driver_package(VkDriverId driver)
{
    switch (driver) {
    case VK_DRIVER_ID_MESA_RADV:
    case VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA:
    case VK_DRIVER_ID_MESA_LLVMPIPE:
    case VK_DRIVER_ID_MESA_TURNIP:
    case VK_DRIVER_ID_MESA_V3DV:
    case VK_DRIVER_ID_MESA_PANVK:
    case VK_DRIVER_ID_MESA_VENUS:
    case VK_DRIVER_ID_MESA_DOZEN:
        return "a newer mesa-vulkan-drivers";
    case VK_DRIVER_ID_NVIDIA_PROPRIETARY:
        return "a newer nvidia-driver";
    default:
        return makers_driver;
    }
}

// Needs Vulkan 1.1 of instance and device, the driver's own words 1.2.
static void describe_driver(const gpu_system *s, gpu_info *info)
{
    PFN_vkGetPhysicalDeviceProperties2 properties2 =
        (PFN_vkGetPhysicalDeviceProperties2)instance_function(s, "vkGetPhysicalDeviceProperties2");
    if (!properties2 || s->api_version < VK_API_VERSION_1_1 || info->api_version < VK_API_VERSION_1_1) {
        return;
    }
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceSubgroupProperties subgroup = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &subgroup};
    if (info->api_version >= VK_API_VERSION_1_2) {
        subgroup.pNext = &driver;
    }
    properties2(info->device, &properties);
    info->subgroup_size = subgroup.subgroupSize;
    info->package = driver_package(driver.driverID);
    info->lavapipe = driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
    snprintf(info->driver, sizeof info->driver, "%s", driver.driverName);
    if (driver.driverInfo[0]) {
        snprintf(info->driver_version, sizeof info->driver_version, "%s", driver.driverInfo);
    }
}

static void describe_memory(const gpu_system *s, gpu_info *info)
{
    PFN_vkGetPhysicalDeviceMemoryProperties get =
        (PFN_vkGetPhysicalDeviceMemoryProperties)instance_function(s, "vkGetPhysicalDeviceMemoryProperties");
    VkPhysicalDeviceMemoryProperties memory = {0};
    get(info->device, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++) {
        if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) {
            info->memory += memory.memoryHeaps[i].size;
        }
    }
}

static bool describe(const gpu_system *s, uint32_t index, VkPhysicalDevice device, gpu_info *info)
{
    PFN_vkGetPhysicalDeviceProperties get =
        (PFN_vkGetPhysicalDeviceProperties)instance_function(s, "vkGetPhysicalDeviceProperties");
    VkPhysicalDeviceProperties properties = {0};
    get(device, &properties);
    *info = (gpu_info){.index = index,
                       .device = device,
                       .device_type = properties.deviceType,
                       .type = type_name(properties.deviceType),
                       .software = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU,
                       .api_version = properties.apiVersion,
                       .package = makers_driver};
    snprintf(info->name, sizeof info->name, "%s", properties.deviceName);
    gpu_version_text(properties.driverVersion, info->driver_version);
    describe_driver(s, info);
    describe_memory(s, info);
    pelt_vk_physical physical = {s->get_instance_proc_addr, s->instance, s->api_version, device};
    pelt_error error = {0};
    pelt_result result = pelt_vk_requirements(&physical, &info->support, &error);
    if (s->api_version < VK_API_VERSION_1_2 && info->api_version >= VK_API_VERSION_1_2) {
        info->package = "a newer libvulkan1";
    }
    // An older device is described by its needs; only where memory ran out there is nothing to describe.
    return result != PELT_ERROR_MEMORY;
}

static bool list_devices(gpu_system *out)
{
    PFN_vkEnumeratePhysicalDevices enumerate =
        (PFN_vkEnumeratePhysicalDevices)instance_function(out, "vkEnumeratePhysicalDevices");
    uint32_t count = 0;
    VkResult result = enumerate(out->instance, &count, NULL);
    VkPhysicalDevice *devices = calloc(count ? count : 1, sizeof *devices);
    out->devices = calloc(count ? count : 1, sizeof *out->devices);
    bool ok = devices && out->devices;
    if (ok && result == VK_SUCCESS && count > 0) {
        result = enumerate(out->instance, &count, devices);
        result = result == VK_INCOMPLETE ? VK_SUCCESS : result;
    }
    if (result != VK_SUCCESS) {
        count = 0;
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = describe(out, i, devices[i], &out->devices[i]);
        out->count = i + 1;
    }
    if (count == 0) {
        out->hint = hint_driver;
        snprintf(out->problem, sizeof out->problem, "Vulkan has no device here");
    }
    free(devices);
    return ok;
}

int gpu_system_open(const cli_context *context, gpu_system *out)
{
    *out = (gpu_system){0};
    gpu_stdout quiet = gpu_redirect_stdout();
    bool ok = !load_library(out) || !create_instance(out) || list_devices(out);
    gpu_restore_stdout(quiet);
    if (!ok) {
        gpu_system_close(out);
        return cli_fail(context, CLI_LIMIT, NULL, NULL, NULL, "out of memory for the list of devices");
    }
    return CLI_DONE;
}

// Instance and loader stay to the end of the process. Destroying the instance makes the loader unload the drivers, and
// what a driver keeps in globals, as Mesa's do, would be lost with them: a leak that cannot be told from one of ours.
void gpu_system_close(gpu_system *system)
{
    free(system->devices);
    *system = (gpu_system){0};
}

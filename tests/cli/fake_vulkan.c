// SPDX-License-Identifier: MIT
// A libvulkan.so.1 with made-up devices, for what no machine of the tests has: several GPUs, and ones that lack
// something. PELT_FAKE_VULKAN lists them: "discrete,integrated:address"; the part after a colon is what one lacks.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan_core.h>

enum {
    DEVICE_LIMIT = 8
};

typedef struct fake_device {
    VkPhysicalDeviceType type;
    char name[64];
    char lacks[16];
} fake_device;

static fake_device devices[DEVICE_LIMIT];
static uint32_t device_count;
static int instance;

static VkPhysicalDeviceType find_type(const char *name)
{
    static const char *const names[] = {"other", "integrated", "discrete", "virtual", "cpu"};
    for (int i = 0; i < 5; i++) {
        if (strcmp(names[i], name) == 0) {
            return (VkPhysicalDeviceType)i;
        }
    }
    abort();
}

static void read_devices(void)
{
    char text[512];
    device_count = 0;
    snprintf(text, sizeof text, "%s", getenv("PELT_FAKE_VULKAN"));
    for (char *word = strtok(text, ","); word && device_count < DEVICE_LIMIT; word = strtok(NULL, ",")) {
        fake_device *d = &devices[device_count];
        char *colon = strchr(word, ':');
        snprintf(d->lacks, sizeof d->lacks, "%s", colon ? colon + 1 : "");
        if (colon) {
            *colon = '\0';
        }
        d->type = find_type(word);
        snprintf(d->name, sizeof d->name, "Fake %s %c", word, 'A' + (int)device_count);
        device_count++;
    }
}

static int lacks(VkPhysicalDevice device, const char *what)
{
    return strcmp(((const fake_device *)(void *)device)->lacks, what) == 0;
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_version(uint32_t *out)
{
    *out = VK_MAKE_API_VERSION(0, 1, 3, 250);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator, VkInstance *out)
{
    (void)info;
    (void)allocator;
    if (getenv("PELT_FAKE_VULKAN_TALKS")) {
        printf("a driver that talks\n"); // where data of the command goes
        fflush(stdout);
    }
    if (getenv("PELT_FAKE_VULKAN_FAILS")) {
        return VK_ERROR_INCOMPATIBLE_DRIVER; // as the loader where it could load no driver
    }
    read_devices();
    *out = (VkInstance)(void *)&instance;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_devices(VkInstance of, uint32_t *count, VkPhysicalDevice *out)
{
    (void)of;
    for (uint32_t i = 0; out && i < *count && i < device_count; i++) {
        out[i] = (VkPhysicalDevice)(void *)&devices[i];
    }
    *count = !out || *count > device_count ? device_count : *count;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties *out)
{
    const fake_device *d = (const fake_device *)(void *)device;
    memset(out, 0, sizeof *out);
    out->apiVersion = lacks(device, "version") ? VK_MAKE_API_VERSION(0, 1, 1, 99) : VK_MAKE_API_VERSION(0, 1, 3, 7);
    out->driverVersion = VK_MAKE_API_VERSION(0, 5, 6, 7);
    out->deviceType = d->type;
    snprintf(out->deviceName, sizeof out->deviceName, "%s", d->name);
    out->limits.maxComputeWorkGroupInvocations = 1024;
    out->limits.maxComputeWorkGroupSize[0] = 1024;
    out->limits.maxComputeSharedMemorySize = lacks(device, "shared") ? 64 : 32768;
    out->limits.maxPushConstantsSize = 128;
}

static VKAPI_ATTR void VKAPI_CALL get_properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *out)
{
    get_properties(device, &out->properties);
    for (VkBaseOutStructure *at = out->pNext; at; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES) {
            VkPhysicalDeviceSubgroupProperties *subgroup = (void *)at;
            subgroup->subgroupSize = 32;
            subgroup->supportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
            subgroup->supportedOperations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
        } else if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES) {
            VkPhysicalDeviceDriverProperties *driver = (void *)at;
            driver->driverID = VK_DRIVER_ID_MESA_RADV;
            snprintf(driver->driverName, sizeof driver->driverName, "fakedrv");
            snprintf(driver->driverInfo, sizeof driver->driverInfo, "Fake 1.2.3");
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL get_features2(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *out)
{
    for (VkBaseOutStructure *at = out->pNext; at; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES) {
            ((VkPhysicalDeviceBufferDeviceAddressFeatures *)(void *)at)->bufferDeviceAddress =
                !lacks(device, "address");
        } else if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES) {
            ((VkPhysicalDeviceScalarBlockLayoutFeatures *)(void *)at)->scalarBlockLayout = VK_TRUE;
        } else if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES) {
            ((VkPhysicalDeviceSynchronization2Features *)(void *)at)->synchronization2 = VK_TRUE;
        }
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_extensions(VkPhysicalDevice device, const char *layer, uint32_t *count,
                                                           VkExtensionProperties *out)
{
    (void)device;
    (void)layer;
    (void)out;
    *count = 0;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL get_memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties *out)
{
    (void)device;
    memset(out, 0, sizeof *out);
    out->memoryTypeCount = 1;
    out->memoryTypes[0].propertyFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    out->memoryHeapCount = 2;
    out->memoryHeaps[0].size = (VkDeviceSize)3 << 30;
    out->memoryHeaps[0].flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT;
    out->memoryHeaps[1].size = (VkDeviceSize)7 << 30;
}

static VKAPI_ATTR void VKAPI_CALL get_queues(VkPhysicalDevice device, uint32_t *count, VkQueueFamilyProperties *out)
{
    (void)device;
    if (out && *count > 0) {
        memset(out, 0, sizeof *out);
        out->queueCount = 1;
        out->queueFlags = VK_QUEUE_COMPUTE_BIT;
    }
    *count = 1;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice device, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkDevice *out)
{
    (void)device;
    (void)info;
    (void)allocator;
    (void)out;
    return VK_ERROR_INITIALIZATION_FAILED;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char *name)
{
    (void)device;
    (void)name;
    return NULL;
}

__attribute__((visibility("default"))) VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance of,
                                                                                                      const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } table[] = {
        {"vkEnumerateInstanceVersion", (PFN_vkVoidFunction)enumerate_version},
        {"vkCreateInstance", (PFN_vkVoidFunction)create_instance},
        {"vkEnumeratePhysicalDevices", (PFN_vkVoidFunction)enumerate_devices},
        {"vkGetPhysicalDeviceProperties", (PFN_vkVoidFunction)get_properties},
        {"vkGetPhysicalDeviceProperties2", (PFN_vkVoidFunction)get_properties2},
        {"vkGetPhysicalDeviceFeatures2", (PFN_vkVoidFunction)get_features2},
        {"vkEnumerateDeviceExtensionProperties", (PFN_vkVoidFunction)enumerate_extensions},
        {"vkGetPhysicalDeviceMemoryProperties", (PFN_vkVoidFunction)get_memory},
        {"vkGetPhysicalDeviceQueueFamilyProperties", (PFN_vkVoidFunction)get_queues},
        {"vkCreateDevice", (PFN_vkVoidFunction)create_device},
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_device_function},
    };
    (void)of;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return table[i].function;
        }
    }
    return NULL;
}

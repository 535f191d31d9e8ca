// SPDX-License-Identifier: MIT
// The Vulkan device of tests: libvulkan through dlopen, the validation layer's messages counted, and the few commands
// that tests need to run work and read buffers back.
#include "peltt_vk.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    DEVICE_CAPACITY = 16,
    FAMILY_CAPACITY = 16
};

static const char layer_name[] = "VK_LAYER_KHRONOS_validation";

typedef struct inside {
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDeviceMemoryProperties memory;
} inside;

// LeakSanitizer asks for this. The validation layer leaves something behind with every command buffer; where stacks are
// read by frame pointers they end in the operator new that it called, which nothing of ours calls.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libVkLayer_khronos_validation\nleak:libstdc++.so\n";
}

#define GLOBAL(vk, name) ((PFN_##name)(vk)->physical.get_instance_proc_addr(NULL, #name))
#define INSTANCE(vk, name) ((PFN_##name)(vk)->physical.get_instance_proc_addr((vk)->physical.instance, #name))

static void require_success(VkResult result, const char *what)
{
    if (result != VK_SUCCESS) {
        fail_msg("%s: VkResult %d", what, (int)result);
    }
}

static VKAPI_ATTR VkBool32 VKAPI_CALL take_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                   VkDebugUtilsMessageTypeFlagsEXT types,
                                                   const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    (void)severity;
    (void)types;
    peltt_vk *vk = user;
    if (vk->message_count == 0) {
        snprintf(vk->first_message, sizeof vk->first_message, "%s", data->pMessage ? data->pMessage : "no text");
    }
    vk->message_count++;
    return VK_FALSE;
}

// Loader and driver talk as GENERAL; the layer's findings are the other two.
static VkDebugUtilsMessengerCreateInfoEXT messenger_info(peltt_vk *vk)
{
    return (VkDebugUtilsMessengerCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = take_message,
        .pUserData = vk,
    };
}

static bool open_loader(peltt_vk *vk)
{
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
    if (!symbol) {
        return false;
    }
    memcpy(&vk->physical.get_instance_proc_addr, &symbol, sizeof symbol); // ISO C has no such cast
    return true;
}

static bool find_layer(const peltt_vk *vk)
{
    PFN_vkEnumerateInstanceLayerProperties enumerate = GLOBAL(vk, vkEnumerateInstanceLayerProperties);
    uint32_t count = 0;
    require_success(enumerate(&count, NULL), "vkEnumerateInstanceLayerProperties");
    VkLayerProperties *layers = calloc(count + 1, sizeof *layers);
    assert_non_null(layers);
    require_success(enumerate(&count, layers), "vkEnumerateInstanceLayerProperties");
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        found = found || strcmp(layers[i].layerName, layer_name) == 0;
    }
    free(layers);
    return found;
}

static VkResult create_instance(peltt_vk *vk, const peltt_vk_options *options)
{
    PFN_vkEnumerateInstanceVersion version = GLOBAL(vk, vkEnumerateInstanceVersion);
    uint32_t available = VK_API_VERSION_1_0;
    if (version) {
        version(&available);
    }
    uint32_t wanted = options->api_version ? options->api_version : VK_API_VERSION_1_3;
    vk->physical.api_version = available < wanted ? available : wanted;
    static const VkValidationFeatureEnableEXT enables[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT,
        VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT,
        VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_RESERVE_BINDING_SLOT_EXT,
    };
    VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(vk);
    VkValidationFeaturesEXT validation = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .pNext = &messenger,
        .enabledValidationFeatureCount = options->gpu_assisted ? 2 : 1,
        .pEnabledValidationFeatures = options->gpu_assisted ? enables + 1 : enables,
    };
    static const char *const layers[] = {layer_name};
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                             VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = vk->physical.api_version};
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = vk->validated ? &validation : NULL,
        .pApplicationInfo = &application,
        .enabledLayerCount = vk->validated ? 1 : 0,
        .ppEnabledLayerNames = layers,
        .enabledExtensionCount = vk->validated ? 2 : 0,
        .ppEnabledExtensionNames = extensions,
    };
    return GLOBAL(vk, vkCreateInstance)(&info, NULL, &vk->physical.instance);
}

// One instance lives as long as the process, so that driver and layer stay loaded: leak checkers know what leaked in
// them by their names only, and the next test starts faster.
static void keep_loaded(const peltt_vk *vk)
{
    static VkInstance kept;
    static const char *const layers[] = {layer_name};
    if (!kept) {
        VkInstanceCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
            .enabledLayerCount = vk->validated ? 1 : 0,
            .ppEnabledLayerNames = layers,
        };
        GLOBAL(vk, vkCreateInstance)(&info, NULL, &kept);
    }
}

static void create_messenger(peltt_vk *vk, inside *in)
{
    VkDebugUtilsMessengerCreateInfoEXT info = messenger_info(vk);
    PFN_vkCreateDebugUtilsMessengerEXT create = INSTANCE(vk, vkCreateDebugUtilsMessengerEXT);
    assert_non_null(create);
    require_success(create(vk->physical.instance, &info, NULL, &in->messenger), "vkCreateDebugUtilsMessengerEXT");
}

// What PELT_TEST_DEVICE says about the device with this index: its index, or a part of its name.
static bool is_wanted(const char *wanted, uint32_t index, const char *name)
{
    if (!wanted || !*wanted) {
        return true;
    }
    char *end = NULL;
    unsigned long number = strtoul(wanted, &end, 10);
    return *end == '\0' ? number == index : strstr(name, wanted) != NULL;
}

// The first usable device that is wanted; false: there is none, and error says what the last one lacks.
static bool choose_device(peltt_vk *vk, const char *wanted, pelt_error *error)
{
    VkPhysicalDevice devices[DEVICE_CAPACITY];
    uint32_t count = DEVICE_CAPACITY;
    if (INSTANCE(vk, vkEnumeratePhysicalDevices)(vk->physical.instance, &count, devices) < VK_SUCCESS) {
        count = 0;
    }
    snprintf(error->message, sizeof error->message, "no such device");
    for (uint32_t i = 0; i < count; i++) {
        VkPhysicalDeviceProperties properties;
        INSTANCE(vk, vkGetPhysicalDeviceProperties)(devices[i], &properties);
        if (!is_wanted(wanted, i, properties.deviceName)) {
            continue;
        }
        vk->physical.device = devices[i];
        if (pelt_vk_requirements(&vk->physical, &vk->support, error) == PELT_OK) {
            snprintf(vk->name, sizeof vk->name, "%s", properties.deviceName);
            return true;
        }
    }
    vk->physical.device = VK_NULL_HANDLE;
    return false;
}

static void choose_family(peltt_vk *vk)
{
    VkQueueFamilyProperties families[FAMILY_CAPACITY];
    uint32_t count = FAMILY_CAPACITY;
    INSTANCE(vk, vkGetPhysicalDeviceQueueFamilyProperties)(vk->physical.device, &count, families);
    bool found = false;
    for (int pass = 0; pass < 2 && !found; pass++) {
        VkQueueFlags flags = VK_QUEUE_COMPUTE_BIT | (pass == 0 ? (VkQueueFlags)VK_QUEUE_GRAPHICS_BIT : 0);
        for (uint32_t i = 0; i < count && !found; i++) {
            if ((families[i].queueFlags & flags) == flags) {
                vk->queue_family = i;
                found = true;
            }
        }
    }
    assert_true(found);
}

static void create_device(peltt_vk *vk, bool optional)
{
    static const float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = vk->queue_family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    if (!optional) {
        vk->support.acceleration_structure = false;
        vk->support.ray_tracing_pipeline = false;
        vk->support.extension_count = vk->support.required_extension_count;
    }
    pelt_vk_features features;
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = pelt_vk_features_chain(&vk->support, optional, NULL, &features),
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = vk->support.extension_count,
        .ppEnabledExtensionNames = vk->support.extensions,
    };
    require_success(INSTANCE(vk, vkCreateDevice)(vk->physical.device, &info, NULL, &vk->device), "vkCreateDevice");
    vk->get_device_proc_addr = INSTANCE(vk, vkGetDeviceProcAddr);
    assert_non_null(vk->get_device_proc_addr);
    PELTT_VK(vk, vkGetDeviceQueue)(vk->device, vk->queue_family, 0, &vk->queue);
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = vk->queue_family,
    };
    require_success(PELTT_VK(vk, vkCreateCommandPool)(vk->device, &pool, NULL, &vk->pool), "vkCreateCommandPool");
}

static void destroy_instance(peltt_vk *vk)
{
    inside *in = vk->inside;
    if (in->messenger) {
        INSTANCE(vk, vkDestroyDebugUtilsMessengerEXT)(vk->physical.instance, in->messenger, NULL);
    }
    INSTANCE(vk, vkDestroyInstance)(vk->physical.instance, NULL);
    free(in);
    vk->inside = NULL;
}

void peltt_vk_create(peltt_vk *vk, const peltt_vk_options *options)
{
    static const peltt_vk_options none = {0};
    options = options ? options : &none;
    *vk = (peltt_vk){0};
    const char *strict = getenv("PELT_TEST_REQUIRE_VALIDATION");
    const char *wanted = getenv("PELT_TEST_DEVICE");
    bool loader = open_loader(vk);
    vk->validated = loader && find_layer(vk);
    if (!vk->validated && strict && *strict) {
        fail_msg("%s", loader ? "the Khronos validation layer is not installed" : "there is no Vulkan loader");
    }
    if (!loader || create_instance(vk, options) != VK_SUCCESS) {
        print_message("no Vulkan loader or driver\n");
        skip();
    }
    keep_loaded(vk);
    inside *in = calloc(1, sizeof *in);
    assert_non_null(in);
    vk->inside = in;
    if (vk->validated) {
        create_messenger(vk, in);
    }
    pelt_error error = {0};
    if (!choose_device(vk, wanted, &error)) {
        destroy_instance(vk);
        if (wanted && *wanted) {
            fail_msg("PELT_TEST_DEVICE=%s: %s", wanted, error.message);
        }
        print_message("no usable Vulkan device: %s\n", error.message);
        skip();
    }
    choose_family(vk);
    create_device(vk, options->optional);
    INSTANCE(vk, vkGetPhysicalDeviceMemoryProperties)(vk->physical.device, &in->memory);
}

void peltt_vk_destroy(peltt_vk *vk)
{
    if (!vk->inside) {
        return;
    }
    PELTT_VK(vk, vkDeviceWaitIdle)(vk->device);
    PELTT_VK(vk, vkDestroyCommandPool)(vk->device, vk->pool, NULL);
    PELTT_VK(vk, vkDestroyDevice)(vk->device, NULL);
    destroy_instance(vk);
    peltt_vk_check(vk);
}

void peltt_vk_check(peltt_vk *vk)
{
    if (vk->message_count != 0) {
        print_error("%u messages of the validation layer, the first:\n", vk->message_count);
        fprintf(stderr, "%s\n", vk->first_message); // longer than cmocka prints
        fail();
    }
}

pelt_vk_context_options peltt_vk_context_options(const peltt_vk *vk)
{
    return (pelt_vk_context_options){
        .physical = vk->physical,
        .device = vk->device,
        .get_device_proc_addr = vk->get_device_proc_addr,
        .acceleration_structure = vk->support.acceleration_structure,
        .ray_tracing_pipeline = vk->support.ray_tracing_pipeline,
    };
}

PFN_vkVoidFunction peltt_vk_function(const peltt_vk *vk, const char *name)
{
    PFN_vkVoidFunction function = vk->get_device_proc_addr(vk->device, name);
    if (!function) {
        fail_msg("the device has no %s", name);
    }
    return function;
}

VkCommandBuffer peltt_vk_begin(peltt_vk *vk)
{
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = vk->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    VkCommandBuffer cmd = VK_NULL_HANDLE;
    require_success(PELTT_VK(vk, vkAllocateCommandBuffers)(vk->device, &info, &cmd), "vkAllocateCommandBuffers");
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    require_success(PELTT_VK(vk, vkBeginCommandBuffer)(cmd, &begin), "vkBeginCommandBuffer");
    return cmd;
}

VkFence peltt_vk_submit(peltt_vk *vk, VkCommandBuffer cmd)
{
    require_success(PELTT_VK(vk, vkEndCommandBuffer)(cmd), "vkEndCommandBuffer");
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence = VK_NULL_HANDLE;
    require_success(PELTT_VK(vk, vkCreateFence)(vk->device, &info, NULL, &fence), "vkCreateFence");
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &cmd,
    };
    require_success(PELTT_VK(vk, vkQueueSubmit)(vk->queue, 1, &submit, fence), "vkQueueSubmit");
    return fence;
}

void peltt_vk_wait(peltt_vk *vk, VkCommandBuffer cmd, VkFence fence)
{
    require_success(PELTT_VK(vk, vkWaitForFences)(vk->device, 1, &fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    PELTT_VK(vk, vkDestroyFence)(vk->device, fence, NULL);
    PELTT_VK(vk, vkFreeCommandBuffers)(vk->device, vk->pool, 1, &cmd);
}

void peltt_vk_run(peltt_vk *vk, VkCommandBuffer cmd)
{
    peltt_vk_wait(vk, cmd, peltt_vk_submit(vk, cmd));
}

static uint32_t memory_type(const peltt_vk *vk, uint32_t allowed, VkMemoryPropertyFlags wanted)
{
    const inside *in = vk->inside;
    for (uint32_t i = 0; i < in->memory.memoryTypeCount; i++) {
        if ((allowed >> i & 1) != 0 && (in->memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
            return i;
        }
    }
    fail_msg("no memory type of %#x with the properties %#x", allowed, wanted);
    return 0;
}

peltt_vk_buffer peltt_vk_buffer_create(peltt_vk *vk, VkDeviceSize size, VkBufferUsageFlags usage, bool mapped)
{
    peltt_vk_buffer b = {.size = size};
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = usage,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    require_success(PELTT_VK(vk, vkCreateBuffer)(vk->device, &info, NULL, &b.buffer), "vkCreateBuffer");
    VkMemoryRequirements need;
    PELTT_VK(vk, vkGetBufferMemoryRequirements)(vk->device, b.buffer, &need);
    bool addressed = (usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0;
    VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    VkMemoryPropertyFlags wanted =
        mapped ? (VkMemoryPropertyFlags)(VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
               : (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = addressed ? &flags : NULL,
        .allocationSize = need.size,
        .memoryTypeIndex = memory_type(vk, need.memoryTypeBits, wanted),
    };
    require_success(PELTT_VK(vk, vkAllocateMemory)(vk->device, &allocate, NULL, &b.memory), "vkAllocateMemory");
    require_success(PELTT_VK(vk, vkBindBufferMemory)(vk->device, b.buffer, b.memory, 0), "vkBindBufferMemory");
    if (mapped) {
        require_success(PELTT_VK(vk, vkMapMemory)(vk->device, b.memory, 0, VK_WHOLE_SIZE, 0, &b.data), "vkMapMemory");
    }
    if (addressed) {
        VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = b.buffer};
        b.address = PELTT_VK(vk, vkGetBufferDeviceAddress)(vk->device, &address);
    }
    return b;
}

void peltt_vk_buffer_destroy(peltt_vk *vk, peltt_vk_buffer *buffer)
{
    PELTT_VK(vk, vkDestroyBuffer)(vk->device, buffer->buffer, NULL);
    PELTT_VK(vk, vkFreeMemory)(vk->device, buffer->memory, NULL);
    *buffer = (peltt_vk_buffer){0};
}

void peltt_vk_read(peltt_vk *vk, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size, void *out)
{
    if (size == 0) {
        return;
    }
    peltt_vk_buffer staging = peltt_vk_buffer_create(vk, size, VK_BUFFER_USAGE_TRANSFER_DST_BIT, true);
    VkCommandBuffer cmd = peltt_vk_begin(vk);
    VkBufferCopy region = {offset, 0, size};
    PELTT_VK(vk, vkCmdCopyBuffer)(cmd, buffer, staging.buffer, 1, &region);
    VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    PELTT_VK(vk, vkCmdPipelineBarrier)
    (cmd, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    peltt_vk_run(vk, cmd);
    memcpy(out, staging.data, (size_t)size);
    peltt_vk_buffer_destroy(vk, &staging);
}

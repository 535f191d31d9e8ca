// SPDX-License-Identifier: MIT
// A layer of Vulkan functions between the library and the real ones: what a device has can be hidden, changed or
// invented, and creating objects can fail. One test at a time, since Vulkan's functions carry no user pointer.
#ifndef PELTT_VK_FAKE_H
#define PELTT_VK_FAKE_H

#include <pelt/vulkan.h>

typedef struct peltt_vk_fake {
    // What pelt_vk_requirements sees.
    const char *hide;        // a feature, extension, flag bit, or function of instance or device; NULL = none
    const char *hide_too;    // one more
    const char *limit;       // a limit, such as "subgroupSize", with
    uint64_t limit_value;    // this value
    uint32_t version;        // of the device; 0 = its own
    uint32_t family_count;   // queue families, all with compute; 0 = its own
    const char *maker;       // an extension that tells how large the device is, with the numbers below; NULL = none
    bool discrete;           // is a discrete GPU
    bool optional;           // has all optional extensions and features
    bool no_extensions;      // not one
    VkResult enumerate;      // result of vkEnumerateDeviceExtensionProperties; VK_SUCCESS = its own
    uint32_t incomplete;     // the list of extensions grows this many times between two calls
    uint32_t enumerate_asks; // counted: calls of that function

    // What pelt_vk_context_create meets. Creations are counted from 1.
    uint32_t fail_at; // the creation that fails; 0 = none
    VkResult fail_with;
    uint32_t creation_count;
    uint32_t live_count;                    // created and not yet destroyed
    const VkAllocationCallbacks *allocator; // that every creation and destruction must come with
    uint32_t pipeline_count;
    uint32_t threads[16]; // of each pipeline, from specialisation constant 0
    uint32_t push_bytes;  // of the pipeline layout
    VkPipelineCache cache;
} peltt_vk_fake;

enum { // subgroups that a fake device has room for by its maker's extension
    PELTT_VK_FAKE_NV = 132 * 64,
    PELTT_VK_FAKE_AMD = 4 * 2 * 10 * 2 * 16,
    PELTT_VK_FAKE_ARM = 10 * 48
};

extern peltt_vk_fake peltt_vk_fake_state;

// Forgets everything and stands before the functions of this device, which may be NULL. Returns what to hand to the
// library.
pelt_vk_physical peltt_vk_fake_start(const pelt_vk_physical *physical, PFN_vkGetDeviceProcAddr get_device_proc_addr);
PFN_vkVoidFunction VKAPI_CALL peltt_vk_fake_device_function(VkDevice device, const char *name);

#endif

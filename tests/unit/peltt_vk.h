// SPDX-License-Identifier: MIT
// A Vulkan device for tests, made with only what pelt_vk_requirements asks for, under the Khronos validation layer with
// core and synchronization checks. Every message of the layer fails the test that caused it.
#ifndef PELTT_VK_H
#define PELTT_VK_H

#include <pelt/vulkan.h>

// The global functions come from libvulkan, loaded when the first device is made.
typedef struct peltt_vk {
    pelt_vk_physical physical;
    VkDevice device;
    PFN_vkGetDeviceProcAddr get_device_proc_addr;
    pelt_vk_support support;
    uint32_t queue_family;
    VkQueue queue; // graphics where there is such a family, and compute
    VkCommandPool pool;
    char name[256];
    bool validated;         // the validation layer is there
    uint32_t message_count; // of the validation layer: warnings and errors
    char first_message[2048];
    void *inside;
} peltt_vk;

typedef struct peltt_vk_options {
    bool optional;        // enable the optional features and extensions that are present too
    bool gpu_assisted;    // GPU-assisted validation instead of synchronization checks
    uint32_t api_version; // of the instance, at most; 0 = 1.3
} peltt_vk_options;

// Makes an instance and the device that PELT_TEST_DEVICE names (an index or a part of the name; default: the first
// usable one), under the validation layer where it is installed. options may be NULL. Calls cmocka's skip() where there
// is no Vulkan loader or usable device; fails where PELT_TEST_DEVICE names none, and where loader or layer is missing
// but PELT_TEST_REQUIRE_VALIDATION is set. vk must not move.
void peltt_vk_create(peltt_vk *vk, const peltt_vk_options *options);
// Fails the test when the validation layer said anything.
void peltt_vk_destroy(peltt_vk *vk);
// Fails the test when the validation layer said anything up to now.
void peltt_vk_check(peltt_vk *vk);
// Context options for this device, with every optional feature that is enabled.
pelt_vk_context_options peltt_vk_context_options(const peltt_vk *vk);

// A function of the device, fetched by name; fails the test when it is missing.
PFN_vkVoidFunction peltt_vk_function(const peltt_vk *vk, const char *name);
#define PELTT_VK(vk, name) ((PFN_##name)peltt_vk_function(vk, #name))

// A primary command buffer in recording state. submit ends and submits it, and signals the returned fence; wait blocks
// until it has signalled, then destroys fence and frees the command buffer.
VkCommandBuffer peltt_vk_begin(peltt_vk *vk);
VkFence peltt_vk_submit(peltt_vk *vk, VkCommandBuffer cmd);
void peltt_vk_wait(peltt_vk *vk, VkCommandBuffer cmd, VkFence fence);
// submit and wait.
void peltt_vk_run(peltt_vk *vk, VkCommandBuffer cmd);

// A buffer of its own with memory; mapped: host-visible, coherent and mapped at data.
typedef struct peltt_vk_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize size;
    VkDeviceAddress address; // where usage asks for it
    void *data;
} peltt_vk_buffer;
peltt_vk_buffer peltt_vk_buffer_create(peltt_vk *vk, VkDeviceSize size, VkBufferUsageFlags usage, bool mapped);
void peltt_vk_buffer_destroy(peltt_vk *vk, peltt_vk_buffer *buffer);

// Copies size bytes of a stream into out: records a copy, submits and waits. The stream must have been released to
// transfer reads.
void peltt_vk_read(peltt_vk *vk, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size, void *out);

#endif

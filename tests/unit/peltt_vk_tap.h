// SPDX-License-Identifier: MIT
// Listens between the library and a device's functions: which commands it records with which barriers, how it makes
// buffers; and lets memory run out. One test at a time, since Vulkan's functions carry no user pointer.
#ifndef PELTT_VK_TAP_H
#define PELTT_VK_TAP_H

#include <pelt/vulkan.h>

enum {
    PELTT_VK_TAP_CAPACITY = 256, // of commands
    PELTT_VK_TAP_FAMILIES = 4
};

typedef enum peltt_vk_tap_kind {
    PELTT_VK_TAP_BIND = 0,
    PELTT_VK_TAP_PUSH,
    PELTT_VK_TAP_DISPATCH,
    PELTT_VK_TAP_COPY,
    PELTT_VK_TAP_FILL,
    PELTT_VK_TAP_BARRIER
} peltt_vk_tap_kind;

typedef struct peltt_vk_tap_command {
    peltt_vk_tap_kind kind;
    uint32_t region_count;   // copies
    VkMemoryBarrier2 memory; // barriers, which are of one global memory barrier
} peltt_vk_tap_command;

typedef struct peltt_vk_tap {
    uint32_t command_count; // may be over the capacity
    peltt_vk_tap_command commands[PELTT_VK_TAP_CAPACITY];
    uint32_t region_count; // of all copies

    uint32_t call_count; // of vkCreateBuffer, vkAllocateMemory, vkBindBufferMemory and vkMapMemory
    uint32_t fail_at;    // the call that fails, counted from 1, and
    uint32_t fail_count; // how many from it on
    VkResult fail_with;
    uint32_t live_buffers;
    uint32_t live_memories;

    bool no_ray_tracing; // stages and usages of ray tracing are noted, and kept from a device that has none
    bool one_family;     // buffers that are to be shared are made for one family, which is all that some devices have
    uint32_t shared_buffers;
    uint32_t exclusive_buffers;
    VkBufferUsageFlags usages; // of all buffers together
    uint32_t family_count;     // of the last shared buffer
    uint32_t families[PELTT_VK_TAP_FAMILIES];
} peltt_vk_tap;

extern peltt_vk_tap peltt_vk_tap_state;

// Clears the state and takes the place of options' device functions. Fits peltt_vk_stage_open.
void peltt_vk_tap_install(pelt_vk_context_options *options);

#endif

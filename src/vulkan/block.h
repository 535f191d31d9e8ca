// SPDX-License-Identifier: MIT
// Inside heap.c and block.c: one buffer with memory of its own, from which a heap cuts ranges.
#ifndef PELTI_VULKAN_BLOCK_H
#define PELTI_VULKAN_BLOCK_H

#include "vulkan.h"

typedef struct pelti_vk_block {
    VkBuffer buffer; // VK_NULL_HANDLE: there is none
    VkDeviceSize size;
    VkDeviceAddress address; // a multiple of PELTI_VK_ALIGNMENT
    pelt_vk_memory memory;   // mapped at the buffer's start where it was asked for
} pelti_vk_block;

// Errors, with *out_block {0}: MEMORY, DEVICE, ARGUMENT (the caller's callback gave unmapped memory).
pelt_result pelti_vk_block_create(const pelt_vk_context *context, bool mapped, VkDeviceSize size,
                                  pelti_vk_block *out_block, pelt_error *error);
// Harmless on {0}; *block becomes {0}.
void pelti_vk_block_destroy(const pelt_vk_context *context, pelti_vk_block *block);

#endif

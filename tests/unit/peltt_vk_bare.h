// SPDX-License-Identifier: MIT
// A context with functions and limits but no pipelines, for tests of memory: its host memory is counted and can fail,
// and so can its device memory, which comes through callbacks that place it off the start of what they allocate.
#ifndef PELTT_VK_BARE_H
#define PELTT_VK_BARE_H

#include "peltt_alloc.h"
#include "peltt_vk.h"
#include "vulkan/vulkan.h"

typedef struct peltt_vk_bare {
    peltt_vk vk;
    peltt_alloc host;
    pelt_vk_context context;
    uint32_t block_count;           // that callbacks gave and were not yet given back
    uint32_t block_bound;           // the most at once
    uint32_t call_count;            // of allocate
    uint32_t fail_at;               // the call that fails, counted from 1; 0 = never
    bool unmapped;                  // callbacks do not map
    VkMemoryPropertyFlags required; // of the last call
    VkMemoryPropertyFlags preferred;
    VkDeviceSize requested;
} peltt_vk_bare;

// May skip the test. callbacks: device memory comes from them. It must not move.
void peltt_vk_bare_create(peltt_vk_bare *bare, VkDeviceSize block_size, bool callbacks);
// Fails the test unless all memory was given back and the validation layer is content.
void peltt_vk_bare_destroy(peltt_vk_bare *bare);

// Everything before is done and visible to everything after.
void peltt_vk_bare_barrier(const peltt_vk_bare *bare, VkCommandBuffer cmd);

#endif

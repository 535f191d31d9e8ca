// SPDX-License-Identifier: MIT
// Runs single shader passes on a test device: inputs and results are ranges of one mapped buffer, and workgroups have
// any number of threads.
#ifndef PELTT_VK_PASSES_H
#define PELTT_VK_PASSES_H

#include "peltt_vk.h"

#include "vulkan/vulkan.h"

// Workgroup sizes that tests of passes go through, as far as the device allows.
enum {
    PELTT_VK_PASSES_SIZES = 4
};
extern const uint32_t peltt_vk_passes_sizes[PELTT_VK_PASSES_SIZES];

typedef struct peltt_vk_passes {
    peltt_vk vk;
    pelt_vk_context *context;
    peltt_vk_buffer memory;
    uint64_t taken;
    uint32_t threads; // of a workgroup
} peltt_vk_passes;

// memory_size: of everything that is taken at one time. Skips the test where there is no device.
void peltt_vk_passes_create(peltt_vk_passes *passes, uint64_t memory_size);
// Makes all pipelines anew; false where the device's workgroups are smaller.
bool peltt_vk_passes_set_threads(peltt_vk_passes *passes, uint32_t threads);
void peltt_vk_passes_destroy(peltt_vk_passes *passes);

// size bytes, aligned to 64, holding the byte 0xCD, with as much behind that nothing may write to. *address is 0 for
// size 0.
void *peltt_vk_passes_take(peltt_vk_passes *passes, uint64_t size, uint64_t *address);
// A copy of data.
uint64_t peltt_vk_passes_put(peltt_vk_passes *passes, const void *data, uint64_t size);
// Gives everything back.
void peltt_vk_passes_reset(peltt_vk_passes *passes);

// Runs a pass and waits. columns: workgroups of a row, as in push; the last row is filled up.
void peltt_vk_passes_run(peltt_vk_passes *passes, pelti_vk_pass pass, const void *push, uint32_t push_size,
                         uint32_t group_count, uint32_t columns);
// Whether size bytes at data still hold what they were taken with.
bool peltt_vk_passes_untouched(const void *data, uint64_t size);

#endif

// SPDX-License-Identifier: MIT
// A Vulkan device for benchmarks, made with only what the library requires: one queue, one command buffer at a time.
#ifndef BENCH_VULKAN_DEVICE_H
#define BENCH_VULKAN_DEVICE_H

#include <pelt/vulkan.h>

// Functions that the benchmarks call themselves.
#define BENCH_VK_INSTANCE_FUNCTIONS(X)                                                                                 \
    X(DestroyInstance)                                                                                                 \
    X(EnumeratePhysicalDevices)                                                                                        \
    X(GetPhysicalDeviceProperties2)                                                                                    \
    X(GetPhysicalDeviceQueueFamilyProperties)                                                                          \
    X(CreateDevice)                                                                                                    \
    X(GetDeviceProcAddr)

#define BENCH_VK_DEVICE_FUNCTIONS(X)                                                                                   \
    X(DestroyDevice)                                                                                                   \
    X(GetDeviceQueue)                                                                                                  \
    X(CreateCommandPool)                                                                                               \
    X(DestroyCommandPool)                                                                                              \
    X(ResetCommandPool)                                                                                                \
    X(AllocateCommandBuffers)                                                                                          \
    X(BeginCommandBuffer)                                                                                              \
    X(EndCommandBuffer)                                                                                                \
    X(QueueSubmit)                                                                                                     \
    X(QueueWaitIdle)

#define BENCH_VK_MEMBER(name) PFN_vk##name name;

typedef struct bench_vk {
    pelt_vk_physical physical;
    pelt_vk_support support;
    VkDevice device;
    uint32_t queue_family;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer cmd;
    pelt_vk_context *context;
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    char driver[VK_MAX_DRIVER_NAME_SIZE];
    char driver_version[VK_MAX_DRIVER_INFO_SIZE];
    BENCH_VK_INSTANCE_FUNCTIONS(BENCH_VK_MEMBER)
    BENCH_VK_DEVICE_FUNCTIONS(BENCH_VK_MEMBER)
} bench_vk;

#undef BENCH_VK_MEMBER

// Opens the device that selector names, an index or part of a name; NULL or "" = the first usable one. Prints to stderr
// what fails.
bool bench_vk_open(bench_vk *vk, const char *selector);
void bench_vk_close(bench_vk *vk); // waits; harmless on what was opened in part

// vk->cmd in recording state; all earlier submissions must have finished.
bool bench_vk_begin(bench_vk *vk);
// Ends and submits vk->cmd and waits until the device is idle.
bool bench_vk_run(bench_vk *vk);

#endif

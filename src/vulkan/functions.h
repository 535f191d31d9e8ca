// SPDX-License-Identifier: MIT
// The Vulkan functions that the library calls, fetched once for each context.
#ifndef PELTI_VULKAN_FUNCTIONS_H
#define PELTI_VULKAN_FUNCTIONS_H

#include <pelt/vulkan.h>

#define PELTI_VK_INSTANCE_FUNCTIONS(X)                                                                                 \
    X(vkGetPhysicalDeviceProperties)                                                                                   \
    X(vkGetPhysicalDeviceMemoryProperties)                                                                             \
    X(vkGetPhysicalDeviceQueueFamilyProperties)                                                                        \
    X(vkGetPhysicalDeviceProperties2)                                                                                  \
    X(vkGetPhysicalDeviceFeatures2)                                                                                    \
    X(vkEnumerateDeviceExtensionProperties)                                                                            \
    X(vkGetDeviceProcAddr)

#define PELTI_VK_DEVICE_FUNCTIONS(X)                                                                                   \
    X(vkCreateBuffer)                                                                                                  \
    X(vkDestroyBuffer)                                                                                                 \
    X(vkGetBufferMemoryRequirements)                                                                                   \
    X(vkBindBufferMemory)                                                                                              \
    X(vkGetBufferDeviceAddress)                                                                                        \
    X(vkAllocateMemory)                                                                                                \
    X(vkFreeMemory)                                                                                                    \
    X(vkMapMemory)                                                                                                     \
    X(vkCreateShaderModule)                                                                                            \
    X(vkDestroyShaderModule)                                                                                           \
    X(vkCreatePipelineLayout)                                                                                          \
    X(vkDestroyPipelineLayout)                                                                                         \
    X(vkCreateComputePipelines)                                                                                        \
    X(vkDestroyPipeline)                                                                                               \
    X(vkCmdBindPipeline)                                                                                               \
    X(vkCmdPushConstants)                                                                                              \
    X(vkCmdDispatch)                                                                                                   \
    X(vkCmdCopyBuffer)                                                                                                 \
    X(vkCmdPipelineBarrier2)                                                                                           \
    X(vkCmdWriteTimestamp2)

#define PELTI_VK_MEMBER(name) PFN_##name name;

typedef struct pelti_vk_functions {
    PELTI_VK_INSTANCE_FUNCTIONS(PELTI_VK_MEMBER)
    PELTI_VK_DEVICE_FUNCTIONS(PELTI_VK_MEMBER) // those that end in 2 are the extension's on Vulkan 1.2
} pelti_vk_functions;

// Fetches the instance functions; UNSUPPORTED, naming the function, where one is missing.
pelt_result pelti_vk_load_instance(const pelt_vk_physical *physical, pelti_vk_functions *out, pelt_error *error);
// The device functions, after those of the instance. get may be NULL.
pelt_result pelti_vk_load_device(PFN_vkGetDeviceProcAddr get, VkDevice device, pelti_vk_functions *out,
                                 pelt_error *error);

#endif

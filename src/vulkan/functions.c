// SPDX-License-Identifier: MIT
// Fetches the Vulkan functions of an instance and of a device through what the caller gave.
#include "vulkan.h"

#define NAMED(name)                                                                                                    \
    {                                                                                                                  \
        name, #name                                                                                                    \
    }
static const struct {
    VkResult result;
    const char *name;
} result_names[] = {
    NAMED(VK_NOT_READY),
    NAMED(VK_TIMEOUT),
    NAMED(VK_INCOMPLETE),
    NAMED(VK_ERROR_OUT_OF_HOST_MEMORY),
    NAMED(VK_ERROR_OUT_OF_DEVICE_MEMORY),
    NAMED(VK_ERROR_INITIALIZATION_FAILED),
    NAMED(VK_ERROR_DEVICE_LOST),
    NAMED(VK_ERROR_MEMORY_MAP_FAILED),
    NAMED(VK_ERROR_LAYER_NOT_PRESENT),
    NAMED(VK_ERROR_EXTENSION_NOT_PRESENT),
    NAMED(VK_ERROR_FEATURE_NOT_PRESENT),
    NAMED(VK_ERROR_INCOMPATIBLE_DRIVER),
    NAMED(VK_ERROR_TOO_MANY_OBJECTS),
    NAMED(VK_ERROR_FORMAT_NOT_SUPPORTED),
    NAMED(VK_ERROR_FRAGMENTED_POOL),
    NAMED(VK_ERROR_UNKNOWN),
    NAMED(VK_ERROR_OUT_OF_POOL_MEMORY),
    NAMED(VK_ERROR_INVALID_EXTERNAL_HANDLE),
    NAMED(VK_ERROR_FRAGMENTATION),
    NAMED(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS),
    NAMED(VK_PIPELINE_COMPILE_REQUIRED),
    NAMED(VK_ERROR_INVALID_SHADER_NV),
};
#undef NAMED

pelt_result pelti_vk_failure(pelt_error *error, const char *what, VkResult result)
{
    bool memory = result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
    pelt_result code = memory ? PELT_ERROR_MEMORY : PELT_ERROR_DEVICE;
    for (size_t i = 0; i < sizeof result_names / sizeof *result_names; i++) {
        if (result_names[i].result == result) {
            return pelti_fail(error, code, "", "%s: %s", what, result_names[i].name);
        }
    }
    return pelti_fail(error, code, "", "%s: VkResult %d", what, (int)result);
}

pelt_result pelti_vk_load_instance(const pelt_vk_physical *physical, pelti_vk_functions *out, pelt_error *error)
{
    PFN_vkGetInstanceProcAddr get = physical->get_instance_proc_addr;
    const char *missing = NULL;
#define FETCH(name)                                                                                                    \
    out->name = (PFN_##name)get(physical->instance, #name);                                                            \
    missing = !missing && !out->name ? #name : missing;
    PELTI_VK_INSTANCE_FUNCTIONS(FETCH)
#undef FETCH
    if (missing) {
        pelti_fail(error, PELT_ERROR_UNSUPPORTED, "", "the Vulkan instance has no function %s", missing);
        pelti_hint(error, "create the instance with apiVersion VK_API_VERSION_1_2 or later");
        return PELT_ERROR_UNSUPPORTED;
    }
    return PELT_OK;
}

// The extension's name goes first: a device of Vulkan 1.3 under an instance of 1.2 may answer to the core name, but
// only the extension may be called there.
static PFN_vkVoidFunction find(PFN_vkGetDeviceProcAddr get, VkDevice device, const char *name)
{
    PFN_vkVoidFunction found = NULL;
    if (strcmp(name, "vkCmdPipelineBarrier2") == 0) {
        found = get(device, "vkCmdPipelineBarrier2KHR");
    } else if (strcmp(name, "vkCmdWriteTimestamp2") == 0) {
        found = get(device, "vkCmdWriteTimestamp2KHR");
    }
    return found ? found : get(device, name);
}

pelt_result pelti_vk_load_device(PFN_vkGetDeviceProcAddr get, VkDevice device, pelti_vk_functions *out,
                                 pelt_error *error)
{
    get = get ? get : out->vkGetDeviceProcAddr;
    const char *missing = NULL;
#define FETCH(name)                                                                                                    \
    out->name = (PFN_##name)find(get, device, #name);                                                                  \
    missing = !missing && !out->name ? #name : missing;
    PELTI_VK_DEVICE_FUNCTIONS(FETCH)
#undef FETCH
    if (missing) {
        pelti_fail(error, PELT_ERROR_UNSUPPORTED, "", "the Vulkan device has no function %s", missing);
        pelti_hint(error, "create the device with the extensions and features that pelt_vk_requirements lists");
        return PELT_ERROR_UNSUPPORTED;
    }
    return PELT_OK;
}

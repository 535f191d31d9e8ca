// SPDX-License-Identifier: MIT
// The layer of peltt_vk_fake.h: each wrapper asks the real function and edits the answer.
#include "peltt_vk_fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

peltt_vk_fake peltt_vk_fake_state;

static pelt_vk_physical real;
static PFN_vkGetDeviceProcAddr real_device;

#define REAL(name) ((PFN_##name)real.get_instance_proc_addr(real.instance, #name))
#define REAL_DEVICE(device, name) ((PFN_##name)real_device(device, #name))

static bool is_hidden(const char *name)
{
    const peltt_vk_fake *f = &peltt_vk_fake_state;
    return (f->hide && strcmp(f->hide, name) == 0) || (f->hide_too && strcmp(f->hide_too, name) == 0);
}

static void set_feature(VkBool32 *value, const char *name, bool optional)
{
    if (optional && peltt_vk_fake_state.optional) {
        *value = VK_TRUE;
    }
    if (is_hidden(name)) {
        *value = VK_FALSE;
    }
}

static void set_limit(uint32_t *value, const char *name)
{
    const peltt_vk_fake *f = &peltt_vk_fake_state;
    if (f->limit && strcmp(f->limit, name) == 0) {
        *value = (uint32_t)f->limit_value;
    }
}

static void clear_bit(VkFlags *flags, VkFlags bit, const char *name)
{
    if (is_hidden(name)) {
        *flags &= ~bit;
    }
}

static void edit_properties(VkPhysicalDeviceProperties *properties)
{
    if (peltt_vk_fake_state.version != 0) {
        properties->apiVersion = peltt_vk_fake_state.version;
    }
    if (peltt_vk_fake_state.discrete) {
        properties->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    }
    VkPhysicalDeviceLimits *limits = &properties->limits;
    set_limit(&limits->maxComputeWorkGroupInvocations, "maxComputeWorkGroupInvocations");
    set_limit(&limits->maxComputeWorkGroupSize[0], "maxComputeWorkGroupSize");
    set_limit(&limits->maxComputeSharedMemorySize, "maxComputeSharedMemorySize");
    set_limit(&limits->maxPushConstantsSize, "maxPushConstantsSize");
}

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties *out)
{
    REAL(vkGetPhysicalDeviceProperties)(device, out);
    edit_properties(out);
}

// Fills in the struct of the maker's extension, if it is one.
static bool fill_maker(VkBaseOutStructure *at)
{
    void *data = at;
    const char *extension = NULL;
    if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV) {
        extension = VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME;
        VkPhysicalDeviceShaderSMBuiltinsPropertiesNV *nv = data;
        nv->shaderSMCount = 132;
        nv->shaderWarpsPerSM = 64;
    } else if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD) {
        extension = VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME;
        VkPhysicalDeviceShaderCorePropertiesAMD *amd = data;
        amd->shaderEngineCount = 4;
        amd->shaderArraysPerEngineCount = 2;
        amd->computeUnitsPerShaderArray = 10;
        amd->simdPerComputeUnit = 2;
        amd->wavefrontsPerSimd = 16;
    } else if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM) {
        extension = VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME;
        VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM *arm = data;
        arm->shaderCoreCount = 10;
        arm->shaderWarpsPerCore = 48;
    }
    if (extension) { // asked for only where the device has the extension
        assert_non_null(peltt_vk_fake_state.maker);
        assert_string_equal(extension, peltt_vk_fake_state.maker);
    }
    return extension != NULL;
}

// The real device, which may not know the struct of a maker's extension, does not see it.
static VKAPI_ATTR void VKAPI_CALL get_properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *out)
{
    VkBaseOutStructure *before = (VkBaseOutStructure *)(void *)out;
    while (before->pNext && !fill_maker(before->pNext)) {
        before = before->pNext;
    }
    VkBaseOutStructure *own = before->pNext;
    before->pNext = own ? own->pNext : NULL;
    REAL(vkGetPhysicalDeviceProperties2)(device, out);
    before->pNext = own;
    edit_properties(&out->properties);
    for (VkBaseOutStructure *at = out->pNext; at; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES) {
            VkPhysicalDeviceSubgroupProperties *s = (VkPhysicalDeviceSubgroupProperties *)(void *)at;
            set_limit(&s->subgroupSize, "subgroupSize");
            clear_bit(&s->supportedStages, VK_SHADER_STAGE_COMPUTE_BIT, "VK_SHADER_STAGE_COMPUTE_BIT");
            clear_bit(&s->supportedOperations, VK_SUBGROUP_FEATURE_BASIC_BIT, "VK_SUBGROUP_FEATURE_BASIC_BIT");
            clear_bit(&s->supportedOperations, VK_SUBGROUP_FEATURE_ARITHMETIC_BIT,
                      "VK_SUBGROUP_FEATURE_ARITHMETIC_BIT");
        } else if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES &&
                   peltt_vk_fake_state.limit && strcmp(peltt_vk_fake_state.limit, "maxMemoryAllocationSize") == 0) {
            ((VkPhysicalDeviceMaintenance3Properties *)(void *)at)->maxMemoryAllocationSize =
                peltt_vk_fake_state.limit_value;
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL get_features2(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *out)
{
    REAL(vkGetPhysicalDeviceFeatures2)(device, out);
    for (VkBaseOutStructure *base = out->pNext; base; base = base->pNext) {
        void *at = base;
        switch ((int)base->sType) {
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES:
            set_feature(&((VkPhysicalDeviceBufferDeviceAddressFeatures *)at)->bufferDeviceAddress,
                        "bufferDeviceAddress", false);
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES:
            set_feature(&((VkPhysicalDeviceScalarBlockLayoutFeatures *)at)->scalarBlockLayout, "scalarBlockLayout",
                        false);
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES:
            set_feature(&((VkPhysicalDeviceSynchronization2Features *)at)->synchronization2, "synchronization2", false);
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR:
            set_feature(&((VkPhysicalDeviceAccelerationStructureFeaturesKHR *)at)->accelerationStructure,
                        "accelerationStructure", true);
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR:
            set_feature(&((VkPhysicalDeviceRayTracingPipelineFeaturesKHR *)at)->rayTracingPipeline,
                        "rayTracingPipeline", true);
            break;
        default:
            fail_msg("a feature struct that was not expected: %d", (int)base->sType);
        }
    }
}

static const char *const optional_extensions[] = {VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME,
                                                  VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME,
                                                  VK_KHR_RAY_TRACING_PIPELINE_EXTENSION_NAME};

static const char *const maker_extensions[] = {VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME,
                                               VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME,
                                               VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME};

static void invent_extension(VkExtensionProperties *out, const char *name)
{
    memset(out, 0, sizeof *out);
    memcpy(out->extensionName, name, strlen(name));
}

// All extensions as the library is to see them.
static uint32_t list_extensions(VkPhysicalDevice device, VkExtensionProperties *out, uint32_t capacity)
{
    uint32_t count = capacity;
    assert_int_equal(REAL(vkEnumerateDeviceExtensionProperties)(device, NULL, &count, out), VK_SUCCESS);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool is_optional = false;
        for (size_t j = 0; j < 3; j++) {
            is_optional = is_optional || strcmp(out[i].extensionName, optional_extensions[j]) == 0;
        }
        for (size_t j = 0; j < 3; j++) {
            is_optional = is_optional || strcmp(out[i].extensionName, maker_extensions[j]) == 0;
        }
        if (!is_optional && !is_hidden(out[i].extensionName) && !peltt_vk_fake_state.no_extensions) {
            out[kept++] = out[i];
        }
    }
    for (size_t j = 0; j < 3 && peltt_vk_fake_state.optional; j++) {
        if (!is_hidden(optional_extensions[j])) {
            assert_true(kept < capacity);
            invent_extension(&out[kept++], optional_extensions[j]);
        }
    }
    if (peltt_vk_fake_state.maker) {
        assert_true(kept < capacity);
        invent_extension(&out[kept++], peltt_vk_fake_state.maker);
    }
    return kept;
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_extensions(VkPhysicalDevice device, const char *layer, uint32_t *count,
                                                           VkExtensionProperties *out)
{
    peltt_vk_fake *f = &peltt_vk_fake_state;
    f->enumerate_asks++;
    if (f->enumerate != VK_SUCCESS) {
        return f->enumerate;
    }
    assert_null(layer);
    enum {
        CAPACITY = 1024
    };
    VkExtensionProperties *all = calloc(CAPACITY, sizeof *all);
    assert_non_null(all);
    uint32_t total = list_extensions(device, all, CAPACITY);
    VkResult result = VK_SUCCESS;
    if (!out) {
        *count = total;
        if (f->incomplete > 0) {
            f->incomplete--;
            *count = total > 1 ? total - 1 : total; // one more will be there when the list is fetched
        }
    } else {
        result = *count < total ? VK_INCOMPLETE : VK_SUCCESS;
        *count = *count < total ? *count : total;
        memcpy(out, all, *count * sizeof *out);
    }
    free(all);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL get_families(VkPhysicalDevice device, uint32_t *count, VkQueueFamilyProperties *out)
{
    uint32_t capacity = *count;
    uint32_t invented = peltt_vk_fake_state.family_count;
    if (invented == 0) {
        REAL(vkGetPhysicalDeviceQueueFamilyProperties)(device, count, out);
    } else {
        *count = out && capacity < invented ? capacity : invented;
    }
    for (uint32_t i = 0; out && i < *count; i++) {
        if (invented != 0) {
            out[i] = (VkQueueFamilyProperties){.queueFlags = VK_QUEUE_COMPUTE_BIT, .queueCount = 1};
        }
        clear_bit(&out[i].queueFlags, VK_QUEUE_COMPUTE_BIT, "VK_QUEUE_COMPUTE_BIT");
    }
}

static VKAPI_ATTR void VKAPI_CALL get_memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties *out)
{
    REAL(vkGetPhysicalDeviceMemoryProperties)(device, out);
    for (uint32_t i = 0; i < out->memoryTypeCount; i++) {
        clear_bit(&out->memoryTypes[i].propertyFlags, VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                  "VK_MEMORY_PROPERTY_HOST_COHERENT_BIT");
    }
}

// True where this creation is the one that fails.
static bool fails(const VkAllocationCallbacks *allocator)
{
    peltt_vk_fake *f = &peltt_vk_fake_state;
    assert_ptr_equal(allocator, f->allocator);
    f->creation_count++;
    f->live_count += f->creation_count != f->fail_at;
    return f->creation_count == f->fail_at;
}

static void destroyed(const VkAllocationCallbacks *allocator)
{
    assert_ptr_equal(allocator, peltt_vk_fake_state.allocator);
    peltt_vk_fake_state.live_count--;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_layout(VkDevice device, const VkPipelineLayoutCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkPipelineLayout *out)
{
    if (fails(allocator)) {
        return peltt_vk_fake_state.fail_with;
    }
    assert_int_equal(info->pushConstantRangeCount, 1);
    peltt_vk_fake_state.push_bytes = info->pPushConstantRanges->size;
    return REAL_DEVICE(device, vkCreatePipelineLayout)(device, info, allocator, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice device, const VkShaderModuleCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkShaderModule *out)
{
    if (fails(allocator)) {
        return peltt_vk_fake_state.fail_with;
    }
    return REAL_DEVICE(device, vkCreateShaderModule)(device, info, allocator, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                                       const VkComputePipelineCreateInfo *infos,
                                                       const VkAllocationCallbacks *allocator, VkPipeline *out)
{
    peltt_vk_fake *f = &peltt_vk_fake_state;
    if (fails(allocator)) {
        memset(out, 0, count * sizeof *out); // as Vulkan says for those that failed
        return f->fail_with;
    }
    f->cache = cache;
    for (uint32_t i = 0; i < count; i++) {
        const VkSpecializationInfo *constants = infos[i].stage.pSpecializationInfo;
        assert_true(constants->mapEntryCount >= 1);
        assert_int_equal(constants->pMapEntries->constantID, 0);
        assert_int_equal(constants->pMapEntries->offset, 0);
        memcpy(&f->threads[f->pipeline_count++ % 16], constants->pData, sizeof f->threads[0]);
    }
    return REAL_DEVICE(device, vkCreateComputePipelines)(device, cache, count, infos, allocator, out);
}

static VKAPI_ATTR void VKAPI_CALL destroy_layout(VkDevice device, VkPipelineLayout layout,
                                                 const VkAllocationCallbacks *allocator)
{
    destroyed(allocator);
    REAL_DEVICE(device, vkDestroyPipelineLayout)(device, layout, allocator);
}

static VKAPI_ATTR void VKAPI_CALL destroy_module(VkDevice device, VkShaderModule module,
                                                 const VkAllocationCallbacks *allocator)
{
    destroyed(allocator);
    REAL_DEVICE(device, vkDestroyShaderModule)(device, module, allocator);
}

static VKAPI_ATTR void VKAPI_CALL destroy_pipeline(VkDevice device, VkPipeline pipeline,
                                                   const VkAllocationCallbacks *allocator)
{
    destroyed(allocator);
    REAL_DEVICE(device, vkDestroyPipeline)(device, pipeline, allocator);
}

static VKAPI_ATTR void VKAPI_CALL nothing(void)
{
}

PFN_vkVoidFunction VKAPI_CALL peltt_vk_fake_device_function(VkDevice device, const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } wrapped[] = {
        {"vkCreatePipelineLayout", (PFN_vkVoidFunction)create_layout},
        {"vkCreateShaderModule", (PFN_vkVoidFunction)create_module},
        {"vkCreateComputePipelines", (PFN_vkVoidFunction)create_pipelines},
        {"vkDestroyPipelineLayout", (PFN_vkVoidFunction)destroy_layout},
        {"vkDestroyShaderModule", (PFN_vkVoidFunction)destroy_module},
        {"vkDestroyPipeline", (PFN_vkVoidFunction)destroy_pipeline},
    };
    if (is_hidden(name)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof wrapped / sizeof *wrapped; i++) {
        if (strcmp(wrapped[i].name, name) == 0) {
            return wrapped[i].function;
        }
    }
    if (strcmp(name, "vkCreateAccelerationStructureKHR") == 0 || strcmp(name, "vkCreateRayTracingPipelinesKHR") == 0) {
        return peltt_vk_fake_state.optional ? nothing : NULL;
    }
    return real_device(device, name);
}

static PFN_vkVoidFunction VKAPI_CALL instance_function(VkInstance instance, const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } wrapped[] = {
        {"vkGetPhysicalDeviceProperties", (PFN_vkVoidFunction)get_properties},
        {"vkGetPhysicalDeviceProperties2", (PFN_vkVoidFunction)get_properties2},
        {"vkGetPhysicalDeviceFeatures2", (PFN_vkVoidFunction)get_features2},
        {"vkGetPhysicalDeviceMemoryProperties", (PFN_vkVoidFunction)get_memory},
        {"vkGetPhysicalDeviceQueueFamilyProperties", (PFN_vkVoidFunction)get_families},
        {"vkEnumerateDeviceExtensionProperties", (PFN_vkVoidFunction)enumerate_extensions},
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)peltt_vk_fake_device_function},
    };
    assert_ptr_equal(instance, real.instance);
    for (size_t i = 0; i < sizeof wrapped / sizeof *wrapped; i++) {
        if (strcmp(wrapped[i].name, name) == 0) {
            return is_hidden(name) ? NULL : wrapped[i].function;
        }
    }
    fail_msg("%s is asked of the instance", name);
    return NULL;
}

pelt_vk_physical peltt_vk_fake_start(const pelt_vk_physical *physical, PFN_vkGetDeviceProcAddr get_device_proc_addr)
{
    peltt_vk_fake_state = (peltt_vk_fake){0};
    real = *physical;
    real_device = get_device_proc_addr;
    pelt_vk_physical fake = real;
    fake.get_instance_proc_addr = instance_function;
    return fake;
}

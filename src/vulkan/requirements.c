// SPDX-License-Identifier: MIT
// What the library needs of a device, what it can make use of, and which of it a device has.
#include "vulkan.h"

enum {
    LEAST_SUBGROUP = 4,
    MOST_SUBGROUP = 128,
    LEAST_SHARED_BYTES = 16384,
    LEAST_PUSH_BYTES = 128
};

static const char other_way[] = "update the driver, or choose another device";

// What was asked of the device.
typedef struct answers {
    const pelti_vk_functions *vk;
    VkPhysicalDevice device;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceSubgroupProperties subgroup;
    uint32_t subgroup_capacity;
    VkExtensionProperties *extensions;
    uint32_t extension_count;
    pelt_vk_features features;
    uint32_t compute_families;
    bool coherent_memory;
} answers;

static bool has_extension(const answers *a, const char *name)
{
    for (uint32_t i = 0; i < a->extension_count; i++) {
        if (strcmp(a->extensions[i].extensionName, name) == 0) {
            return true;
        }
    }
    return false;
}

// The list may grow between two calls when layers are loaded.
static pelt_result list_extensions(answers *a, const pelt_allocator *allocator, pelt_error *error)
{
    VkResult result = VK_INCOMPLETE;
    while (result == VK_INCOMPLETE) {
        pelti_release(allocator, a->extensions, a->extension_count, sizeof *a->extensions);
        a->extensions = NULL;
        a->extension_count = 0;
        uint32_t count = 0;
        result = a->vk->vkEnumerateDeviceExtensionProperties(a->device, NULL, &count, NULL);
        if (result != VK_SUCCESS || count == 0) {
            break;
        }
        a->extensions = pelti_allocate(allocator, count, sizeof *a->extensions);
        if (!a->extensions) {
            return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory listing %u device extensions", count);
        }
        a->extension_count = count;
        memset(a->extensions, 0, count * sizeof *a->extensions);
        result = a->vk->vkEnumerateDeviceExtensionProperties(a->device, NULL, &count, a->extensions);
    }
    return result == VK_SUCCESS ? PELT_OK : pelti_vk_failure(error, "vkEnumerateDeviceExtensionProperties", result);
}

// Feature structs with their types set and nothing chained.
static void init_features(pelt_vk_features *f)
{
    memset(f, 0, sizeof *f);
    f->buffer_device_address.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES;
    f->scalar_block_layout.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES;
    f->synchronization2.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES;
    f->acceleration_structure.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR;
    f->ray_tracing_pipeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR;
}

// The makers' extensions that tell how large a device is need not be enabled to be asked. It has one of them at most.
static void ask_subgroups(answers *a)
{
    a->subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nv = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV};
    VkPhysicalDeviceShaderCorePropertiesAMD amd = {.sType =
                                                       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD};
    if (has_extension(a, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) {
        a->subgroup.pNext = &nv;
    } else if (has_extension(a, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME)) {
        a->subgroup.pNext = &amd;
    }
#ifdef VK_ARM_shader_core_builtins // younger than Vulkan 1.3
    VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM arm = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM};
    if (has_extension(a, VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME)) {
        a->subgroup.pNext = &arm;
    }
#endif
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &a->subgroup};
    a->vk->vkGetPhysicalDeviceProperties2(a->device, &properties);
    a->subgroup.pNext = NULL;
    // Structs that were not asked for are zeros.
    uint64_t count = (uint64_t)nv.shaderSMCount * nv.shaderWarpsPerSM;
    uint64_t amd_units = (uint64_t)amd.shaderEngineCount * amd.shaderArraysPerEngineCount;
    amd_units *= amd.computeUnitsPerShaderArray;
    count += amd_units * amd.simdPerComputeUnit * amd.wavefrontsPerSimd;
#ifdef VK_ARM_shader_core_builtins
    count += (uint64_t)arm.shaderCoreCount * arm.shaderWarpsPerCore;
#endif
    a->subgroup_capacity = count < UINT32_MAX ? (uint32_t)count : 0;
}

// Version 1.1 has the functions; 1.2 the first two features. Structs that a device does not know are not chained.
static void ask_features(answers *a, uint32_t version)
{
    init_features(&a->features);
    if (version < VK_API_VERSION_1_1) {
        return;
    }
    ask_subgroups(a);
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    if (version >= VK_API_VERSION_1_2) {
        a->features.scalar_block_layout.pNext = features.pNext;
        a->features.buffer_device_address.pNext = &a->features.scalar_block_layout;
        features.pNext = &a->features.buffer_device_address;
    }
    if (version >= VK_API_VERSION_1_3 || has_extension(a, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME)) {
        a->features.synchronization2.pNext = features.pNext;
        features.pNext = &a->features.synchronization2;
    }
    if (has_extension(a, VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME)) {
        a->features.acceleration_structure.pNext = features.pNext;
        features.pNext = &a->features.acceleration_structure;
    }
    if (has_extension(a, VK_KHR_RAY_TRACING_PIPELINE_EXTENSION_NAME)) {
        a->features.ray_tracing_pipeline.pNext = features.pNext;
        features.pNext = &a->features.ray_tracing_pipeline;
    }
    a->vk->vkGetPhysicalDeviceFeatures2(a->device, &features);
}

static pelt_result ask_queues(answers *a, const pelt_allocator *allocator, pelt_error *error)
{
    uint32_t count = 0;
    a->vk->vkGetPhysicalDeviceQueueFamilyProperties(a->device, &count, NULL);
    if (count == 0) {
        return PELT_OK;
    }
    VkQueueFamilyProperties *families = pelti_allocate(allocator, count, sizeof *families);
    if (!families) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory listing %u queue families", count);
    }
    uint32_t capacity = count;
    a->vk->vkGetPhysicalDeviceQueueFamilyProperties(a->device, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        a->compute_families += families[i].queueCount > 0 && (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;
    }
    pelti_release(allocator, families, capacity, sizeof *families);
    return PELT_OK;
}

static void ask_memory(answers *a)
{
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties memory;
    memset(&memory, 0, sizeof memory);
    a->vk->vkGetPhysicalDeviceMemoryProperties(a->device, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++) {
        a->coherent_memory = a->coherent_memory || (memory.memoryTypes[i].propertyFlags & wanted) == wanted;
    }
}

static pelt_vk_need *add_need(pelt_vk_support *out, pelt_vk_need_kind kind, const char *name, uint64_t wanted,
                              uint64_t found, const char *lost)
{
    assert(out->need_count < PELT_VK_NEED_CAPACITY);
    pelt_vk_need *need = &out->needs[out->need_count++];
    *need = (pelt_vk_need){name, kind, false, found >= wanted, wanted, found, lost};
    return need;
}

static pelt_vk_need *require(pelt_vk_support *out, pelt_vk_need_kind kind, const char *name, uint64_t wanted,
                             uint64_t found, const char *lost)
{
    pelt_vk_need *need = add_need(out, kind, name, wanted, found, lost);
    need->required = true;
    return need;
}

static void enable(pelt_vk_support *out, const char *extension)
{
    assert(out->extension_count < PELT_VK_EXTENSION_CAPACITY);
    out->extensions[out->extension_count++] = extension;
}

static void compare_features(const answers *a, pelt_vk_support *out)
{
    const pelt_vk_need_kind feature = PELT_VK_NEED_FEATURE;
    require(out, PELT_VK_NEED_VERSION, "apiVersion", VK_API_VERSION_1_2, out->api_version,
            "features of Vulkan 1.2 are used throughout");
    if (out->api_version < VK_API_VERSION_1_3) {
        bool found = has_extension(a, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME);
        require(out, PELT_VK_NEED_EXTENSION, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME, 1, found,
                "brings synchronization2 to Vulkan 1.2");
        if (found) {
            enable(out, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME);
        }
    }
    out->required_extension_count = out->extension_count;
    require(out, feature, "bufferDeviceAddress", 1, a->features.buffer_device_address.bufferDeviceAddress != 0,
            "shaders reach all buffers by address");
    require(out, feature, "scalarBlockLayout", 1, a->features.scalar_block_layout.scalarBlockLayout != 0,
            "positions are 12 bytes, tight");
    require(out, feature, "synchronization2", 1, a->features.synchronization2.synchronization2 != 0,
            "barriers name their stages exactly");
    VkSubgroupFeatureFlags operations =
        a->subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT ? a->subgroup.supportedOperations : 0;
    require(out, feature, "VK_SUBGROUP_FEATURE_BASIC_BIT", 1, (operations & VK_SUBGROUP_FEATURE_BASIC_BIT) != 0,
            "boxes are reduced within subgroups of compute shaders");
    require(out, feature, "VK_SUBGROUP_FEATURE_ARITHMETIC_BIT", 1,
            (operations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0,
            "boxes are reduced within subgroups of compute shaders");
    require(out, feature, "VK_QUEUE_COMPUTE_BIT", 1, a->compute_families > 0, "all passes are compute shaders");
    require(out, feature, "VK_MEMORY_PROPERTY_HOST_COHERENT_BIT", 1, a->coherent_memory,
            "uploads go through mapped memory");
}

static void compare_limits(const answers *a, pelt_vk_support *out)
{
    const pelt_vk_need_kind limit = PELT_VK_NEED_LIMIT;
    const VkPhysicalDeviceLimits *limits = &a->properties.limits;
    out->subgroup_size = a->subgroup.subgroupSize;
    out->subgroup_capacity = a->subgroup_capacity;
    pelt_vk_need *subgroup = require(out, limit, "subgroupSize", LEAST_SUBGROUP, out->subgroup_size,
                                     "shaders work with subgroups of 4 to 128 threads");
    subgroup->present = subgroup->present && out->subgroup_size <= MOST_SUBGROUP;
    require(out, limit, "maxComputeWorkGroupInvocations", GPU_SKIN_THREADS, limits->maxComputeWorkGroupInvocations,
            "workgroups have up to 128 threads");
    require(out, limit, "maxComputeWorkGroupSize", GPU_SKIN_THREADS, limits->maxComputeWorkGroupSize[0],
            "workgroups have up to 128 threads in a row");
    require(out, limit, "maxComputeSharedMemorySize", LEAST_SHARED_BYTES, limits->maxComputeSharedMemorySize,
            "matrices and partial boxes are kept in shared memory");
    require(out, limit, "maxPushConstantsSize", LEAST_PUSH_BYTES, limits->maxPushConstantsSize,
            "shaders get addresses through push constants");
}

static void compare_optional(const answers *a, pelt_vk_support *out)
{
    static const char no_build[] = "outputs cannot be inputs of acceleration-structure builds";
    static const char *const build_extensions[2] = {VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME,
                                                    VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME};
    static const char no_rays[] = "the default release does not cover ray-tracing shaders";
    const pelt_vk_need_kind extension = PELT_VK_NEED_EXTENSION;
    const pelt_vk_need_kind feature = PELT_VK_NEED_FEATURE;
    // A device of Vulkan 1.1 may have them, but not what they build on.
    bool build = out->api_version >= VK_API_VERSION_1_2;
    for (size_t i = 0; i < 2; i++) {
        build = add_need(out, extension, build_extensions[i], 1, has_extension(a, build_extensions[i]), no_build)
                    ->present &&
                build;
    }
    build = add_need(out, feature, "accelerationStructure", 1,
                     a->features.acceleration_structure.accelerationStructure != 0, no_build)
                ->present &&
            build;
    const char *rays_name = VK_KHR_RAY_TRACING_PIPELINE_EXTENSION_NAME;
    bool rays = add_need(out, extension, rays_name, 1, has_extension(a, rays_name), no_rays)->present && build;
    rays = add_need(out, feature, "rayTracingPipeline", 1, a->features.ray_tracing_pipeline.rayTracingPipeline != 0,
                    no_rays)
               ->present &&
           rays;
    out->acceleration_structure = build;
    out->ray_tracing_pipeline = rays;
    if (build) {
        enable(out, build_extensions[0]);
        enable(out, build_extensions[1]);
    }
    if (rays) {
        enable(out, rays_name);
    }
}

// The first required thing that is missing becomes the error.
static pelt_result judge(const answers *a, pelt_vk_support *out, pelt_error *error)
{
    const char *device = a->properties.deviceName;
    const pelt_result code = PELT_ERROR_UNSUPPORTED;
    const pelt_vk_need *missing = NULL;
    for (uint32_t i = 0; i < out->need_count && !missing; i++) {
        missing = out->needs[i].required && !out->needs[i].present ? &out->needs[i] : NULL;
    }
    out->usable = !missing;
    if (!missing) {
        return PELT_OK;
    }
    if (missing->kind == PELT_VK_NEED_VERSION) {
        bool instance = a->properties.apiVersion >= VK_API_VERSION_1_2;
        pelti_fail(error, code, "",
                   instance ? "the instance allows device %s Vulkan %u.%u, and 1.2 is needed"
                            : "device %s has Vulkan %u.%u, and 1.2 is needed",
                   device, VK_API_VERSION_MAJOR(out->api_version), VK_API_VERSION_MINOR(out->api_version));
        pelti_hint(error, "%s",
                   instance ? "create the instance with apiVersion VK_API_VERSION_1_2 or later" : other_way);
    } else if (missing->kind == PELT_VK_NEED_LIMIT) {
        bool over = missing->found >= missing->wanted;
        pelti_fail(error, code, "", "device %s: %s is %llu, and at %s %u is needed", device, missing->name,
                   (unsigned long long)missing->found, over ? "most" : "least",
                   over ? MOST_SUBGROUP : (unsigned)missing->wanted);
        pelti_hint(error, "choose another device");
    } else {
        pelti_fail(error, code, "", "device %s lacks %s", device, missing->name);
        pelti_hint(error, "%s", other_way);
    }
    return code;
}

const char *pelti_vk_physical_fault(const pelt_vk_physical *physical)
{
    if (!physical) {
        return "physical is NULL";
    }
    if (!physical->get_instance_proc_addr) {
        return "get_instance_proc_addr is NULL";
    }
    if (!physical->instance) {
        return "instance is NULL";
    }
    return physical->device ? NULL : "the physical device is NULL";
}

pelt_result pelti_vk_support_query(const pelt_vk_physical *physical, const pelti_vk_functions *vk,
                                   const pelt_allocator *allocator, pelt_vk_support *out, pelt_error *error)
{
    memset(out, 0, sizeof *out);
    answers a;
    memset(&a, 0, sizeof a);
    a.vk = vk;
    a.device = physical->device;
    vk->vkGetPhysicalDeviceProperties(a.device, &a.properties);
    uint32_t instance_version = physical->api_version ? physical->api_version : VK_API_VERSION_1_2;
    out->api_version = a.properties.apiVersion < instance_version ? a.properties.apiVersion : instance_version;

    pelt_result result = list_extensions(&a, allocator, error);
    if (result == PELT_OK) {
        result = ask_queues(&a, allocator, error);
    }
    if (result == PELT_OK) {
        ask_memory(&a);
        ask_features(&a, out->api_version);
        compare_features(&a, out);
        compare_limits(&a, out);
        compare_optional(&a, out);
        result = judge(&a, out, error);
    }
    pelti_release(allocator, a.extensions, a.extension_count, sizeof *a.extensions);
    return result;
}

pelt_result pelt_vk_requirements(const pelt_vk_physical *physical, pelt_vk_support *out, pelt_error *error)
{
    pelti_error_clear(error);
    if (!out) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "out is NULL");
    }
    memset(out, 0, sizeof *out);
    const char *wrong = pelti_vk_physical_fault(physical);
    if (wrong) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "%s", wrong);
    }
    pelti_vk_functions vk;
    memset(&vk, 0, sizeof vk);
    pelt_result result = pelti_vk_load_instance(physical, &vk, error);
    if (result != PELT_OK) {
        return result;
    }
    const pelt_allocator heap = {NULL, NULL};
    return pelti_vk_support_query(physical, &vk, &heap, out, error);
}

void *pelt_vk_features_chain(const pelt_vk_support *support, bool optional, void *next, pelt_vk_features *features)
{
    init_features(features);
    if (optional && support->ray_tracing_pipeline) {
        features->ray_tracing_pipeline.rayTracingPipeline = VK_TRUE;
        features->ray_tracing_pipeline.pNext = next;
        next = &features->ray_tracing_pipeline;
    }
    if (optional && support->acceleration_structure) {
        features->acceleration_structure.accelerationStructure = VK_TRUE;
        features->acceleration_structure.pNext = next;
        next = &features->acceleration_structure;
    }
    features->synchronization2.synchronization2 = VK_TRUE;
    features->synchronization2.pNext = next;
    features->scalar_block_layout.scalarBlockLayout = VK_TRUE;
    features->scalar_block_layout.pNext = &features->synchronization2;
    features->buffer_device_address.bufferDeviceAddress = VK_TRUE;
    features->buffer_device_address.pNext = &features->scalar_block_layout;
    return &features->buffer_device_address;
}

// SPDX-License-Identifier: MIT
// The context: checks what the caller brought, fetches functions and limits, and builds the pipelines.
#include "vulkan.h"

static const VkDeviceSize usual_block = (VkDeviceSize)64 << 20;

static const char *options_fault(const pelt_vk_context_options *options)
{
    if (!options) {
        return "options is NULL";
    }
    const char *fault = pelti_vk_physical_fault(&options->physical);
    if (fault) {
        return fault;
    }
    if (!options->device) {
        return "device is NULL";
    }
    if (!options->memory.allocate != !options->memory.release) {
        return "memory callbacks need both allocate and release";
    }
    if (options->queue_family_count > 1 && !options->queue_families) {
        return "queue_families is NULL";
    }
    return NULL;
}

// VK_SHARING_MODE_CONCURRENT wants families that exist, each once.
static pelt_result check_families(const pelt_vk_context *context, pelt_error *error)
{
    const pelt_vk_context_options *options = &context->options;
    if (options->queue_family_count < 2) {
        return PELT_OK;
    }
    uint32_t count = 0;
    context->vk.vkGetPhysicalDeviceQueueFamilyProperties(options->physical.device, &count, NULL);
    if (options->queue_family_count > count) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "queue_family_count is %u, and the device has %u",
                          options->queue_family_count, count);
    }
    for (uint32_t i = 0; i < options->queue_family_count; i++) {
        uint32_t family = options->queue_families[i];
        if (family >= count) {
            return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "queue_families[%u] is %u, and the device has %u", i,
                              family, count);
        }
        for (uint32_t j = 0; j < i; j++) {
            if (options->queue_families[j] == family) {
                return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "queue_families[%u] and [%u] are both %u", j, i,
                                  family);
            }
        }
    }
    return PELT_OK;
}

// What the caller says is enabled, as far as it can be told: the extension's functions are there.
static pelt_result check_optional(const pelt_vk_context *context, PFN_vkGetDeviceProcAddr get, pelt_error *error)
{
    const pelt_vk_context_options *options = &context->options;
    const struct {
        const char *name;
        bool claimed;
        bool present;
        const char *function;
    } extras[2] = {{"acceleration_structure", options->acceleration_structure, context->support.acceleration_structure,
                    "vkCreateAccelerationStructureKHR"},
                   {"ray_tracing_pipeline", options->ray_tracing_pipeline, context->support.ray_tracing_pipeline,
                    "vkCreateRayTracingPipelinesKHR"}};
    for (size_t i = 0; i < 2; i++) {
        if (extras[i].claimed && !(extras[i].present && get(options->device, extras[i].function))) {
            pelti_fail(error, PELT_ERROR_ARGUMENT, "", "%s is set, but the device %s", extras[i].name,
                       extras[i].present ? "was created without its extension" : "does not have it");
            pelti_hint(error, "set it only where pelt_vk_requirements found it and the device was created with it");
            return PELT_ERROR_ARGUMENT;
        }
    }
    return PELT_OK;
}

// How many workgroups the device has room for by its threads. Where it does not tell, or nothing that can be, it is
// taken for a large one.
static void choose_shapes(pelt_vk_context *context, bool is_cpu)
{
    const uint64_t least_threads = GPU_SKIN_FEW_THREADS;
    const uint64_t usual_threads = 262144;
    const uint64_t most_threads = 32 * usual_threads;
    const pelt_vk_support *support = &context->support;
    uint64_t threads = (uint64_t)support->subgroup_capacity * support->subgroup_size;
    threads = threads < least_threads || threads > most_threads ? usual_threads : threads;
    uint32_t small = support->subgroup_size > GPU_SKIN_SMALL_THREADS ? support->subgroup_size : GPU_SKIN_SMALL_THREADS;
    context->few_groups = (uint32_t)(threads / GPU_SKIN_FEW_THREADS);
    context->split_groups = is_cpu ? 0 : context->few_groups / 2;
    context->resident_groups = (uint32_t)(threads / small / 2); // registers take the other half of the room
}

static void ask_limits(pelt_vk_context *context)
{
    VkPhysicalDevice device = context->options.physical.device;
    VkPhysicalDeviceMaintenance3Properties allocation = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
    VkPhysicalDeviceMaintenance4Properties buffer = {.sType =
                                                         VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &allocation};
    if (context->support.api_version >= VK_API_VERSION_1_3) {
        allocation.pNext = &buffer;
    }
    context->vk.vkGetPhysicalDeviceProperties2(device, &properties);
    context->vk.vkGetPhysicalDeviceMemoryProperties(device, &context->memory);
    context->limits = properties.properties.limits;
    context->max_buffer_size = allocation.maxMemoryAllocationSize;
    if (buffer.maxBufferSize != 0 && buffer.maxBufferSize < context->max_buffer_size) {
        context->max_buffer_size = buffer.maxBufferSize;
    }
    VkDeviceSize *block = &context->options.block_size;
    *block = *block ? *block : usual_block;
    *block = *block < context->max_buffer_size ? *block : context->max_buffer_size;
    choose_shapes(context, properties.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU);
}

static pelt_result copy_families(pelt_vk_context *context, pelt_error *error)
{
    pelt_vk_context_options *options = &context->options;
    const uint32_t *given = options->queue_families;
    options->queue_families = NULL;
    if (options->queue_family_count < 2) {
        options->queue_family_count = 0;
        return PELT_OK;
    }
    uint32_t *copy = pelti_allocate(&options->allocator, options->queue_family_count, sizeof *copy);
    if (!copy) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for %u queue families",
                          options->queue_family_count);
    }
    memcpy(copy, given, options->queue_family_count * sizeof *copy);
    options->queue_families = copy;
    return PELT_OK;
}

// Everything that can be refused before something is created.
static pelt_result prepare(pelt_vk_context *context, pelt_error *error)
{
    pelt_vk_context_options *options = &context->options;
    pelti_vk_functions *vk = &context->vk;
    pelt_result result = pelti_vk_load_instance(&options->physical, vk, error);
    if (result == PELT_OK) {
        result = pelti_vk_support_query(&options->physical, vk, &options->allocator, &context->support, error);
    }
    if (result == PELT_OK) {
        result = check_families(context, error);
    }
    if (result == PELT_OK) {
        result = pelti_vk_load_device(options->get_device_proc_addr, options->device, vk, error);
    }
    if (result == PELT_OK) {
        PFN_vkGetDeviceProcAddr get = options->get_device_proc_addr;
        result = check_optional(context, get ? get : vk->vkGetDeviceProcAddr, error);
    }
    if (result == PELT_OK) {
        ask_limits(context);
    }
    return result;
}

pelt_result pelt_vk_context_create(const pelt_vk_context_options *options, pelt_vk_context **out_context,
                                   pelt_error *error)
{
    pelti_error_clear(error);
    if (!out_context) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "out_context is NULL");
    }
    *out_context = NULL;
    const char *fault = options_fault(options);
    if (fault) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "%s", fault);
    }
    pelt_vk_context *context = pelti_allocate(&options->allocator, 1, sizeof *context);
    if (!context) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for a context");
    }
    memset(context, 0, sizeof *context);
    context->options = *options;
    pelt_result result = prepare(context, error);
    if (result == PELT_OK) {
        result = copy_families(context, error);
    } else {
        context->options.queue_families = NULL;
    }
    if (result == PELT_OK) {
        result = pelti_vk_pipelines_create(context, error);
    }
    if (result != PELT_OK) {
        pelt_vk_context_destroy(context);
        return result;
    }
    context->options.pipeline_cache = VK_NULL_HANDLE;
    *out_context = context;
    return PELT_OK;
}

void pelt_vk_context_destroy(pelt_vk_context *context)
{
    if (!context) {
        return;
    }
    pelti_vk_pipelines_destroy(context);
    const pelt_vk_context_options *options = &context->options;
    pelt_allocator allocator = options->allocator;
    pelti_release(&allocator, (void *)(uintptr_t)options->queue_families, options->queue_family_count,
                  sizeof *options->queue_families);
    pelti_release(&allocator, context, 1, sizeof *context);
}

// SPDX-License-Identifier: MIT
// Contexts: made with only what is required, refused with a name, and complete or not there when something fails.
#include "peltt_alloc.h"
#include "peltt_vk.h"
#include "peltt_vk_fake.h"
#include "vulkan/vulkan.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static peltt_vk vk;

static int teardown(void **state)
{
    (void)state;
    peltt_vk_destroy(&vk);
    return 0;
}

// Options that go through the layer of peltt_vk_fake.h, with its settings cleared.
static pelt_vk_context_options fake_options(void)
{
    pelt_vk_context_options options = peltt_vk_context_options(&vk);
    options.physical = peltt_vk_fake_start(&vk.physical, vk.get_device_proc_addr);
    options.get_device_proc_addr = NULL;
    return options;
}

static void refused(const pelt_vk_context_options *options, pelt_result code, const char *message)
{
    pelt_vk_context *context = (pelt_vk_context *)(void *)&vk;
    pelt_error error;
    assert_int_equal(pelt_vk_context_create(options, &context, &error), code);
    assert_null(context);
    assert_int_equal(error.code, code);
    if (!strstr(error.message, message)) {
        fail_msg("\"%s\" does not say \"%s\"", error.message, message);
    }
    assert_int_equal(pelt_vk_context_create(options, &context, NULL), code);
}

// Binds every pipeline, pushes constants and dispatches no group at all, so that the validation layer sees them used.
static void use(const pelt_vk_context *context)
{
    static const char zeros[128];
    VkCommandBuffer cmd = peltt_vk_begin(&vk);
    for (int pass = 0; pass < PELTI_VK_PASS_COUNT; pass++) {
        assert_true(context->pipelines[pass] != VK_NULL_HANDLE);
        context->vk.vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, context->pipelines[pass]);
        context->vk.vkCmdPushConstants(cmd, context->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof zeros, zeros);
        context->vk.vkCmdDispatch(cmd, 0, 1, 1);
    }
    VkMemoryBarrier2 memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                               .srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                               .srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                               .dstStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                               .dstAccessMask = VK_ACCESS_2_SHADER_STORAGE_READ_BIT};
    VkDependencyInfo barrier = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO, .memoryBarrierCount = 1, .pMemoryBarriers = &memory};
    context->vk.vkCmdPipelineBarrier2(cmd, &barrier);
    peltt_vk_run(&vk, cmd);
    peltt_vk_check(&vk);
}

static void arguments_are_checked(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    const pelt_vk_context_options good = peltt_vk_context_options(&vk);
    pelt_error error;
    assert_int_equal(pelt_vk_context_create(&good, NULL, &error), PELT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "out_context"));
    refused(NULL, PELT_ERROR_ARGUMENT, "options is NULL");
    pelt_vk_context_options bad = good;
    bad.device = VK_NULL_HANDLE;
    refused(&bad, PELT_ERROR_ARGUMENT, "device is NULL");
    bad = good;
    bad.physical.get_instance_proc_addr = NULL;
    refused(&bad, PELT_ERROR_ARGUMENT, "get_instance_proc_addr is NULL");
    bad = good;
    bad.memory.allocate = (VkResult(*)(void *, const VkMemoryRequirements *, VkMemoryPropertyFlags,
                                       VkMemoryPropertyFlags, pelt_vk_memory *))abort;
    refused(&bad, PELT_ERROR_ARGUMENT, "both allocate and release");
    bad = good;
    bad.queue_family_count = 2;
    refused(&bad, PELT_ERROR_ARGUMENT, "queue_families is NULL");
    pelt_vk_context_destroy(NULL);
}

// Under an instance of each version, which decides between functions of the core and of the extension.
static void only_what_is_required_is_enough(void **state)
{
    (void)state;
    static const uint32_t versions[] = {VK_API_VERSION_1_2, VK_API_VERSION_1_3};
    for (size_t i = 0; i < 2; i++) {
        peltt_vk_create(&vk, &(peltt_vk_options){.optional = false, .api_version = versions[i]});
        pelt_vk_context_options options = peltt_vk_context_options(&vk);
        pelt_vk_context *context = NULL;
        pelt_error error;
        assert_int_equal(pelt_vk_context_create(&options, &context, &error), PELT_OK);
        assert_int_equal(error.code, PELT_OK);
        assert_true(context->support.usable);
        bool extension = vk.support.required_extension_count == 1;
        assert_true(extension || versions[i] == VK_API_VERSION_1_3);
        PFN_vkVoidFunction expected =
            vk.get_device_proc_addr(vk.device, extension ? "vkCmdPipelineBarrier2KHR" : "vkCmdPipelineBarrier2");
        assert_true((PFN_vkVoidFunction)context->vk.vkCmdPipelineBarrier2 == expected);
        expected = vk.get_device_proc_addr(vk.device, extension ? "vkCmdWriteTimestamp2KHR" : "vkCmdWriteTimestamp2");
        assert_true((PFN_vkVoidFunction)context->vk.vkCmdWriteTimestamp2 == expected);
        use(context);
        pelt_vk_context_destroy(context);
        peltt_vk_destroy(&vk);
    }
}

static void optional_features_are_taken(void **state)
{
    (void)state;
    peltt_vk_create(&vk, &(peltt_vk_options){.optional = true});
    pelt_vk_context_options options = peltt_vk_context_options(&vk);
    pelt_vk_context *context = NULL;
    assert_int_equal(pelt_vk_context_create(&options, &context, NULL), PELT_OK);
    assert_int_equal(context->options.acceleration_structure, vk.support.acceleration_structure);
    use(context);
    pelt_vk_context_destroy(context);
}

static void limits_are_those_of_the_device(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    PFN_vkGetPhysicalDeviceProperties2 ask = (PFN_vkGetPhysicalDeviceProperties2)vk.physical.get_instance_proc_addr(
        vk.physical.instance, "vkGetPhysicalDeviceProperties2");
    VkPhysicalDeviceMaintenance4Properties buffer = {.sType =
                                                         VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES};
    VkPhysicalDeviceMaintenance3Properties allocation = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &allocation};
    if (vk.support.api_version >= VK_API_VERSION_1_3) {
        allocation.pNext = &buffer;
    }
    ask(vk.physical.device, &properties);
    VkDeviceSize most = allocation.maxMemoryAllocationSize;
    most = buffer.maxBufferSize != 0 && buffer.maxBufferSize < most ? buffer.maxBufferSize : most;

    static const VkDeviceSize sizes[][2] = {
        {0, 64 << 20}, {1 << 20, 1 << 20}, {UINT64_MAX, 0}}; // asked for, expected; 0 = the most
    for (size_t i = 0; i < 3; i++) {
        pelt_vk_context_options options = fake_options();
        options.block_size = sizes[i][0];
        pelt_vk_context *context = NULL;
        assert_int_equal(pelt_vk_context_create(&options, &context, NULL), PELT_OK);
        assert_true(context->max_buffer_size == most);
        assert_true(context->options.block_size == (sizes[i][1] ? sizes[i][1] : most));
        assert_int_equal(context->limits.maxPushConstantsSize, properties.properties.limits.maxPushConstantsSize);
        assert_true(context->memory.memoryTypeCount > 0);
        pelt_vk_context_destroy(context);
    }
    pelt_vk_context_options options = fake_options();
    peltt_vk_fake_state.limit = "maxMemoryAllocationSize";
    peltt_vk_fake_state.limit_value = 1 << 20;
    pelt_vk_context *context = NULL;
    assert_int_equal(pelt_vk_context_create(&options, &context, NULL), PELT_OK);
    assert_true(context->max_buffer_size == 1 << 20 && context->options.block_size == 1 << 20);
    pelt_vk_context_destroy(context);
}

static void a_missing_feature_refuses_the_context(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    pelt_vk_context_options options = fake_options();
    peltt_vk_fake_state.hide = "scalarBlockLayout";
    refused(&options, PELT_ERROR_UNSUPPORTED, "lacks scalarBlockLayout");
    assert_int_equal(peltt_vk_fake_state.creation_count, 0);
    options = fake_options();
    peltt_vk_fake_state.enumerate = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    refused(&options, PELT_ERROR_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY");
}

static void every_missing_function_is_named(void **state)
{
    (void)state;
#define NAME(name) #name,
    static const char *const names[] = {PELTI_VK_INSTANCE_FUNCTIONS(NAME) PELTI_VK_DEVICE_FUNCTIONS(NAME)};
#undef NAME
    peltt_vk_create(&vk, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pelt_vk_context_options options = fake_options();
        peltt_vk_fake_state.hide = names[i];
        char of_extension[64];
        snprintf(of_extension, sizeof of_extension, "%sKHR", names[i]);
        peltt_vk_fake_state.hide_too = of_extension;
        bool own_get = strcmp(names[i], "vkGetDeviceProcAddr") != 0 && i % 2 == 0;
        options.get_device_proc_addr = own_get ? peltt_vk_fake_device_function : NULL;
        refused(&options, PELT_ERROR_UNSUPPORTED, names[i]);
        assert_int_equal(peltt_vk_fake_state.creation_count, 0);
    }
}

static void optional_features_need_their_extension(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    pelt_vk_context_options options = fake_options();
    options.acceleration_structure = true;
    peltt_vk_fake_state.hide = VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME;
    refused(&options, PELT_ERROR_ARGUMENT, "acceleration_structure is set, but the device does not have it");
    options = fake_options();
    peltt_vk_fake_state.optional = true;
    options.acceleration_structure = true;
    peltt_vk_fake_state.hide = "vkCreateAccelerationStructureKHR";
    refused(&options, PELT_ERROR_ARGUMENT, "acceleration_structure is set, but the device was created without");
    options.ray_tracing_pipeline = true;
    peltt_vk_fake_state.hide = "vkCreateRayTracingPipelinesKHR";
    refused(&options, PELT_ERROR_ARGUMENT, "ray_tracing_pipeline is set, but the device was created without");
    peltt_vk_fake_state.hide = NULL;
    pelt_vk_context *context = NULL;
    assert_int_equal(pelt_vk_context_create(&options, &context, NULL), PELT_OK);
    assert_true(context->options.acceleration_structure && context->options.ray_tracing_pipeline);
    pelt_vk_context_destroy(context);
}

static void queue_families_are_checked_and_copied(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    uint32_t families[4] = {2, 0, 1, 1};
    pelt_vk_context_options options = fake_options();
    options.queue_families = families;
    options.queue_family_count = 4;
    peltt_vk_fake_state.family_count = 3;
    refused(&options, PELT_ERROR_ARGUMENT, "queue_family_count is 4, and the device has 3");
    peltt_vk_fake_state.family_count = 4;
    refused(&options, PELT_ERROR_ARGUMENT, "queue_families[2] and [3] are both 1");
    families[3] = 4;
    refused(&options, PELT_ERROR_ARGUMENT, "queue_families[3] is 4, and the device has 4");
    options.queue_family_count = 3;
    pelt_vk_context *context = NULL;
    assert_int_equal(pelt_vk_context_create(&options, &context, NULL), PELT_OK);
    assert_int_equal(context->options.queue_family_count, 3);
    assert_ptr_not_equal(context->options.queue_families, families);
    assert_memory_equal(context->options.queue_families, families, 3 * sizeof *families);
    pelt_vk_context_destroy(context);
    options.queue_family_count = 1; // not shared: which family it is does not matter
    families[0] = 99;
    assert_int_equal(pelt_vk_context_create(&options, &context, NULL), PELT_OK);
    pelt_vk_context_destroy(context);
}

static void every_failing_allocation_leaves_nothing(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    static const uint32_t families[2] = {0, 1};
    pelt_vk_context_options options = fake_options();
    peltt_vk_fake_state.family_count = 2;
    options.queue_families = families;
    options.queue_family_count = 2;
    for (uint64_t n = 1;; n++) {
        peltt_alloc memory = {.fail_at = n};
        options.allocator = peltt_alloc_make(&memory);
        pelt_vk_context *context = NULL;
        pelt_error error;
        pelt_result result = pelt_vk_context_create(&options, &context, &error);
        if (result == PELT_OK) {
            assert_true(n > 3); // the context, extensions, and families twice
            assert_true(memory.live_blocks > 0);
            pelt_vk_context_destroy(context);
            assert_int_equal(memory.live_blocks, 0);
            return;
        }
        assert_int_equal(result, PELT_ERROR_MEMORY);
        assert_non_null(strstr(error.message, "out of memory"));
        assert_null(context);
        assert_int_equal(memory.live_blocks, 0);
    }
}

// The validation layer tells of objects that are left when the device is destroyed.
static void every_failing_creation_leaves_nothing(void **state)
{
    (void)state;
    static const struct {
        VkResult result;
        pelt_result code;
        const char *name;
    } results[] = {{VK_ERROR_OUT_OF_HOST_MEMORY, PELT_ERROR_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY"},
                   {VK_ERROR_OUT_OF_DEVICE_MEMORY, PELT_ERROR_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
                   {VK_ERROR_INVALID_SHADER_NV, PELT_ERROR_DEVICE, "VK_ERROR_INVALID_SHADER_NV"},
                   {(VkResult)-1234567, PELT_ERROR_DEVICE, "VkResult -1234567"}};
    peltt_vk_create(&vk, NULL);
    uint32_t creations = 0;
    for (uint32_t n = 1; creations == 0; n++) {
        // Every result for the layout, the first module and the first pipeline; the others are made by the same code.
        for (size_t i = n > 3 ? n % 4 : 0; i < (n > 3 ? n % 4 + 1 : 4); i++) {
            pelt_vk_context_options options = fake_options();
            peltt_alloc memory = {0};
            options.allocator = peltt_alloc_make(&memory);
            peltt_vk_fake_state.fail_at = n;
            peltt_vk_fake_state.fail_with = results[i].result;
            pelt_vk_context *context = NULL;
            pelt_error error;
            pelt_result result = pelt_vk_context_create(&options, &context, &error);
            if (result == PELT_OK) {
                creations = n - 1;
                pelt_vk_context_destroy(context);
            } else {
                assert_int_equal(result, results[i].code);
                assert_true(strncmp(error.message, "vkCreate", 8) == 0);
                assert_non_null(strstr(error.message, results[i].name));
                assert_null(context);
            }
            assert_int_equal(memory.live_blocks, 0);
            assert_int_equal(peltt_vk_fake_state.live_count, 0);
        }
    }
    assert_int_equal(creations, 1 + 2 * PELTI_VK_PASS_COUNT); // a layout; modules and pipelines
}

static void workgroups_and_constants_are_within_limits(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    pelt_vk_context_options options = fake_options();
    pelt_vk_context *context = NULL;
    assert_int_equal(pelt_vk_context_create(&options, &context, NULL), PELT_OK);
    assert_int_equal(peltt_vk_fake_state.push_bytes, 128);
    assert_int_equal(peltt_vk_fake_state.pipeline_count, PELTI_VK_PASS_COUNT);
    for (uint32_t i = 0; i < peltt_vk_fake_state.pipeline_count; i++) {
        assert_in_range(peltt_vk_fake_state.threads[i], 32, 128);
    }
    pelt_vk_context_destroy(context);
}

// No workgroup is smaller than a subgroup.
static void workgroups_fill_subgroups(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    for (uint32_t size = 32; size <= 128; size *= 2) {
        pelt_vk_context_options options = fake_options();
        peltt_vk_fake_state.limit = "subgroupSize";
        peltt_vk_fake_state.limit_value = size;
        pelt_vk_context *context = NULL;
        assert_int_equal(pelt_vk_context_create(&options, &context, NULL), PELT_OK);
        for (uint32_t i = 0; i < PELTI_VK_PASS_COUNT; i++) {
            assert_in_range(peltt_vk_fake_state.threads[i], size > 32 ? size : 32, 128);
        }
        pelt_vk_context_destroy(context);
    }
}

// By the threads that a device has room for: with few workgroups of 128 it would be left idle, and registers leave room
// for half of the small ones, of 32 threads or a subgroup. A processor is not left idle by few.
static void shapes_come_from_the_device(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    static const struct {
        const char *maker;
        uint64_t subgroup_size;
        bool discrete;
        uint32_t few;
        uint32_t shared;
        uint32_t resident;
    } cases[] = {
        {NULL, 32, true, 2048, 1024, 4096},
        {NULL, 32, false, 2048, 0, 4096},
        {VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME, 32, true, 132 * 16, 132 * 8, 132 * 32},
        {VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME, 64, true, 80 * 16, 80 * 8, 80 * 16},
        {VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME, 16, true, 10 * 6, 10 * 3, 10 * 12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pelt_vk_context_options options = fake_options();
        peltt_vk_fake_state.maker = cases[i].maker;
        peltt_vk_fake_state.discrete = cases[i].discrete;
        peltt_vk_fake_state.limit = "subgroupSize";
        peltt_vk_fake_state.limit_value = cases[i].subgroup_size;
        pelt_vk_context *context = NULL;
        assert_int_equal(pelt_vk_context_create(&options, &context, NULL), PELT_OK);
        assert_int_equal(context->few_groups, cases[i].few);
        assert_int_equal(context->split_groups, cases[i].shared);
        assert_int_equal(context->resident_groups, cases[i].resident);
        pelt_vk_context_destroy(context);
    }
}

static void a_pipeline_cache_is_used_once(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkPipelineCache cache = VK_NULL_HANDLE;
    assert_int_equal(PELTT_VK(&vk, vkCreatePipelineCache)(vk.device, &info, NULL, &cache), VK_SUCCESS);
    pelt_vk_context *contexts[2] = {NULL, NULL};
    for (size_t i = 0; i < 2; i++) {
        pelt_vk_context_options options = fake_options();
        options.pipeline_cache = cache;
        assert_int_equal(pelt_vk_context_create(&options, &contexts[i], NULL), PELT_OK);
        assert_true(peltt_vk_fake_state.cache == cache);
        assert_true(contexts[i]->options.pipeline_cache == VK_NULL_HANDLE);
    }
    PELTT_VK(&vk, vkDestroyPipelineCache)(vk.device, cache, NULL);
    use(contexts[0]);
    use(contexts[1]);
    pelt_vk_context_destroy(contexts[0]);
    pelt_vk_context_destroy(contexts[1]);
}

typedef struct host_memory {
    uint32_t live;
    uint32_t total;
} host_memory;

static void *VKAPI_CALL host_allocate(void *user, size_t size, size_t alignment, VkSystemAllocationScope scope)
{
    (void)scope;
    host_memory *memory = user;
    alignment = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    void *block = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    memory->live += block != NULL;
    memory->total++;
    return block;
}

static void VKAPI_CALL host_free(void *user, void *block)
{
    host_memory *memory = user;
    memory->live -= block != NULL;
    free(block);
}

static void *VKAPI_CALL host_reallocate(void *user, void *block, size_t size, size_t alignment,
                                        VkSystemAllocationScope scope)
{
    (void)alignment;
    if (!block) {
        return host_allocate(user, size, alignment, scope);
    }
    if (size == 0) {
        host_free(user, block);
        return NULL;
    }
    return realloc(block, size); // malloc's alignment is what drivers grow with
}

static void the_callers_vulkan_allocator_is_used(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    host_memory memory = {0};
    VkAllocationCallbacks callbacks = {
        .pUserData = &memory, .pfnAllocation = host_allocate, .pfnReallocation = host_reallocate, .pfnFree = host_free};
    pelt_vk_context_options options = fake_options();
    options.vk_allocator = &callbacks;
    peltt_vk_fake_state.allocator = &callbacks;
    pelt_vk_context *context = NULL;
    assert_int_equal(pelt_vk_context_create(&options, &context, NULL), PELT_OK);
    assert_true(memory.total > 0);
    pelt_vk_context_destroy(context);
    assert_int_equal(peltt_vk_fake_state.live_count, 0);
    assert_int_equal(memory.live, 0);
}

static void contexts_do_not_disturb_each_other(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    peltt_vk first = vk;
    pelt_vk_context_options options = peltt_vk_context_options(&vk);
    pelt_vk_context *contexts[3] = {NULL};
    assert_int_equal(pelt_vk_context_create(&options, &contexts[0], NULL), PELT_OK);
    assert_int_equal(pelt_vk_context_create(&options, &contexts[1], NULL), PELT_OK);
    assert_true(contexts[0]->layout != contexts[1]->layout);
    pelt_vk_context_destroy(contexts[0]);
    use(contexts[1]);

    // A context of another device, of another instance.
    static peltt_vk second;
    peltt_vk_create(&second, NULL);
    options = peltt_vk_context_options(&second);
    assert_int_equal(pelt_vk_context_create(&options, &contexts[2], NULL), PELT_OK);
    use(contexts[1]);
    pelt_vk_context_destroy(contexts[1]);
    assert_ptr_equal(vk.device, first.device);
    peltt_vk_destroy(&vk);
    vk = (peltt_vk){0};
    pelt_vk_context_destroy(contexts[2]);
    peltt_vk_destroy(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(arguments_are_checked, teardown),
        cmocka_unit_test_teardown(only_what_is_required_is_enough, teardown),
        cmocka_unit_test_teardown(optional_features_are_taken, teardown),
        cmocka_unit_test_teardown(limits_are_those_of_the_device, teardown),
        cmocka_unit_test_teardown(a_missing_feature_refuses_the_context, teardown),
        cmocka_unit_test_teardown(every_missing_function_is_named, teardown),
        cmocka_unit_test_teardown(optional_features_need_their_extension, teardown),
        cmocka_unit_test_teardown(queue_families_are_checked_and_copied, teardown),
        cmocka_unit_test_teardown(every_failing_allocation_leaves_nothing, teardown),
        cmocka_unit_test_teardown(every_failing_creation_leaves_nothing, teardown),
        cmocka_unit_test_teardown(workgroups_and_constants_are_within_limits, teardown),
        cmocka_unit_test_teardown(workgroups_fill_subgroups, teardown),
        cmocka_unit_test_teardown(shapes_come_from_the_device, teardown),
        cmocka_unit_test_teardown(a_pipeline_cache_is_used_once, teardown),
        cmocka_unit_test_teardown(the_callers_vulkan_allocator_is_used, teardown),
        cmocka_unit_test_teardown(contexts_do_not_disturb_each_other, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

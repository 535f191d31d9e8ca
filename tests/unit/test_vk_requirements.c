// SPDX-License-Identifier: MIT
// pelt_vk_requirements: what it finds agrees with the device, and each thing that is missing is named.
#include "peltt_vk.h"
#include "peltt_vk_fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static peltt_vk vk;

static int teardown(void **state)
{
    (void)state;
    peltt_vk_destroy(&vk);
    return 0;
}

static pelt_vk_physical fake(void)
{
    return peltt_vk_fake_start(&vk.physical, vk.get_device_proc_addr);
}

static const pelt_vk_need *find_need(const pelt_vk_support *support, const char *name)
{
    const pelt_vk_need *found = NULL;
    for (uint32_t i = 0; i < support->need_count; i++) {
        if (strcmp(support->needs[i].name, name) == 0) {
            assert_null(found);
            found = &support->needs[i];
        }
    }
    if (!found) {
        fail_msg("%s is not listed", name);
    }
    return found;
}

static bool lists_extension(const pelt_vk_support *support, const char *name)
{
    bool found = false;
    for (uint32_t i = 0; i < support->extension_count; i++) {
        found = found || strcmp(support->extensions[i], name) == 0;
    }
    return found;
}

static void arguments_are_checked(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    pelt_vk_support support;
    pelt_error error;
    pelt_vk_physical whole = vk.physical;
    assert_int_equal(pelt_vk_requirements(&whole, NULL, &error), PELT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "out is NULL"));
    const struct {
        const char *message;
        pelt_vk_physical physical;
    } cases[] = {
        {"get_instance_proc_addr", {NULL, whole.instance, 0, whole.device}},
        {"instance", {whole.get_instance_proc_addr, VK_NULL_HANDLE, 0, whole.device}},
        {"physical device", {whole.get_instance_proc_addr, whole.instance, 0, VK_NULL_HANDLE}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(&support, 0xA5, sizeof support);
        assert_int_equal(pelt_vk_requirements(&cases[i].physical, &support, &error), PELT_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, cases[i].message));
        assert_false(support.usable);
        assert_int_equal(support.need_count, 0);
    }
    assert_int_equal(pelt_vk_requirements(NULL, &support, &error), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_vk_requirements(NULL, &support, NULL), PELT_ERROR_ARGUMENT);
}

static void findings_are_those_of_the_device(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    pelt_vk_support support;
    pelt_error error;
    assert_int_equal(pelt_vk_requirements(&vk.physical, &support, &error), PELT_OK);
    assert_int_equal(error.code, PELT_OK);
    assert_true(support.usable);
    assert_in_range(support.subgroup_size, 4, 128);

    PFN_vkGetPhysicalDeviceProperties2 ask = (PFN_vkGetPhysicalDeviceProperties2)vk.physical.get_instance_proc_addr(
        vk.physical.instance, "vkGetPhysicalDeviceProperties2");
    VkPhysicalDeviceVulkan11Properties core = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &core};
    ask(vk.physical.device, &properties);
    const VkPhysicalDeviceLimits *limits = &properties.properties.limits;
    uint32_t device = properties.properties.apiVersion;
    assert_int_equal(support.api_version, device < vk.physical.api_version ? device : vk.physical.api_version);
    assert_int_equal(support.subgroup_size, core.subgroupSize);
    assert_int_equal(find_need(&support, "subgroupSize")->found, core.subgroupSize);
    assert_int_equal(find_need(&support, "maxComputeWorkGroupInvocations")->found,
                     limits->maxComputeWorkGroupInvocations);
    assert_int_equal(find_need(&support, "maxComputeWorkGroupSize")->found, limits->maxComputeWorkGroupSize[0]);
    assert_int_equal(find_need(&support, "maxComputeSharedMemorySize")->found, limits->maxComputeSharedMemorySize);
    assert_int_equal(find_need(&support, "maxPushConstantsSize")->found, limits->maxPushConstantsSize);

    for (uint32_t i = 0; i < support.need_count; i++) {
        const pelt_vk_need *need = &support.needs[i];
        assert_ptr_equal(find_need(&support, need->name), need); // each name once
        assert_true(need->present || !need->required);
        assert_int_equal(need->present, need->found >= need->wanted);
        assert_true(need->lost && *need->lost);
    }
    assert_int_equal(support.required_extension_count, support.api_version < VK_API_VERSION_1_3 ? 1 : 0);
}

typedef struct missing {
    const char *hide;
    const char *message; // what the refusal must say
    const char *need;    // that is then not present
} missing;

static void a_missing_feature_is_named(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    static const missing cases[] = {
        {"bufferDeviceAddress", "lacks bufferDeviceAddress", "bufferDeviceAddress"},
        {"scalarBlockLayout", "lacks scalarBlockLayout", "scalarBlockLayout"},
        {"synchronization2", "lacks synchronization2", "synchronization2"},
        {"VK_SUBGROUP_FEATURE_BASIC_BIT", "lacks VK_SUBGROUP_FEATURE_BASIC_BIT", "VK_SUBGROUP_FEATURE_BASIC_BIT"},
        {"VK_SUBGROUP_FEATURE_ARITHMETIC_BIT", "lacks VK_SUBGROUP_FEATURE_ARITHMETIC_BIT",
         "VK_SUBGROUP_FEATURE_ARITHMETIC_BIT"},
        {"VK_SHADER_STAGE_COMPUTE_BIT", "lacks VK_SUBGROUP_FEATURE_BASIC_BIT", "VK_SUBGROUP_FEATURE_ARITHMETIC_BIT"},
        {"VK_QUEUE_COMPUTE_BIT", "lacks VK_QUEUE_COMPUTE_BIT", "VK_QUEUE_COMPUTE_BIT"},
        {"VK_MEMORY_PROPERTY_HOST_COHERENT_BIT", "lacks VK_MEMORY_PROPERTY_HOST_COHERENT_BIT",
         "VK_MEMORY_PROPERTY_HOST_COHERENT_BIT"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pelt_vk_physical physical = fake();
        peltt_vk_fake_state.hide = cases[i].hide;
        pelt_vk_support support;
        pelt_error error;
        assert_int_equal(pelt_vk_requirements(&physical, &support, &error), PELT_ERROR_UNSUPPORTED);
        assert_int_equal(error.code, PELT_ERROR_UNSUPPORTED);
        assert_non_null(strstr(error.message, cases[i].message));
        assert_non_null(strstr(error.message, vk.name));
        assert_non_null(strstr(error.hint, "driver"));
        assert_false(support.usable);
        assert_false(find_need(&support, cases[i].need)->present);
        assert_int_equal(find_need(&support, cases[i].need)->found, 0);
        assert_true(find_need(&support, "apiVersion")->present); // the rest is still told
    }
}

static void a_limit_that_is_too_low_is_named(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    static const struct {
        const char *limit;
        uint32_t value;
        const char *message; // NULL: good enough
    } cases[] = {
        {"subgroupSize", 1, "subgroupSize is 1, and at least 4 is needed"},
        {"subgroupSize", 2, "subgroupSize is 2, and at least 4 is needed"},
        {"subgroupSize", 4, NULL},
        {"subgroupSize", 128, NULL},
        {"subgroupSize", 256, "subgroupSize is 256, and at most 128 is needed"},
        {"maxComputeWorkGroupInvocations", 127, "maxComputeWorkGroupInvocations is 127, and at least 128"},
        {"maxComputeWorkGroupInvocations", 128, NULL},
        {"maxComputeWorkGroupSize", 64, "maxComputeWorkGroupSize is 64, and at least 128"},
        {"maxComputeWorkGroupSize", 128, NULL},
        {"maxComputeSharedMemorySize", 16383, "maxComputeSharedMemorySize is 16383, and at least 16384"},
        {"maxComputeSharedMemorySize", 16384, NULL},
        {"maxPushConstantsSize", 127, "maxPushConstantsSize is 127, and at least 128"},
        {"maxPushConstantsSize", 128, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pelt_vk_physical physical = fake();
        peltt_vk_fake_state.limit = cases[i].limit;
        peltt_vk_fake_state.limit_value = cases[i].value;
        pelt_vk_support support;
        pelt_error error;
        pelt_result result = pelt_vk_requirements(&physical, &support, &error);
        assert_int_equal(result, cases[i].message ? PELT_ERROR_UNSUPPORTED : PELT_OK);
        assert_int_equal(find_need(&support, cases[i].limit)->found, cases[i].value);
        assert_int_equal(find_need(&support, cases[i].limit)->present, !cases[i].message);
        assert_int_equal(support.usable, !cases[i].message);
        if (cases[i].message && !strstr(error.message, cases[i].message)) {
            fail_msg("%s", error.message);
        }
    }
}

static void the_lower_version_counts(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    static const struct {
        uint32_t device;
        uint32_t instance;
        uint32_t expected;
        const char *message; // NULL: usable
    } cases[] = {
        {VK_API_VERSION_1_3, VK_API_VERSION_1_3, VK_API_VERSION_1_3, NULL},
        {VK_API_VERSION_1_3, VK_API_VERSION_1_2, VK_API_VERSION_1_2, NULL},
        {VK_API_VERSION_1_2, VK_API_VERSION_1_3, VK_API_VERSION_1_2, NULL},
        {VK_MAKE_API_VERSION(0, 1, 4, 300), 0, VK_API_VERSION_1_2, NULL},
        {VK_API_VERSION_1_1, VK_API_VERSION_1_3, VK_API_VERSION_1_1, "has Vulkan 1.1, and 1.2 is needed"},
        {VK_API_VERSION_1_0, VK_API_VERSION_1_3, VK_API_VERSION_1_0, "has Vulkan 1.0, and 1.2 is needed"},
        {VK_API_VERSION_1_3, VK_API_VERSION_1_1, VK_API_VERSION_1_1, "the instance allows device"},
        {VK_API_VERSION_1_3, VK_API_VERSION_1_0, VK_API_VERSION_1_0, "Vulkan 1.0, and 1.2 is needed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pelt_vk_physical physical = fake();
        physical.api_version = cases[i].instance;
        peltt_vk_fake_state.version = cases[i].device;
        pelt_vk_support support;
        pelt_error error;
        pelt_result result = pelt_vk_requirements(&physical, &support, &error);
        assert_int_equal(result, cases[i].message ? PELT_ERROR_UNSUPPORTED : PELT_OK);
        assert_int_equal(support.api_version, cases[i].expected);
        if (cases[i].message && !strstr(error.message, cases[i].message)) {
            fail_msg("%s", error.message);
        }
        bool extension = cases[i].expected < VK_API_VERSION_1_3;
        assert_int_equal(support.required_extension_count, extension ? 1 : 0);
        assert_int_equal(lists_extension(&support, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME), extension);
    }
}

static void vulkan_1_2_needs_the_synchronization_extension(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    pelt_vk_physical physical = fake();
    peltt_vk_fake_state.hide = VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME;
    pelt_vk_support support;
    pelt_error error;
    physical.api_version = VK_API_VERSION_1_2;
    assert_int_equal(pelt_vk_requirements(&physical, &support, &error), PELT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "lacks VK_KHR_synchronization2"));
    assert_false(find_need(&support, "synchronization2")->present); // not asked for where nothing offers it
    assert_int_equal(support.extension_count, 0);
    physical.api_version = VK_API_VERSION_1_3;
    peltt_vk_fake_state.version = VK_API_VERSION_1_3;
    assert_int_equal(pelt_vk_requirements(&physical, &support, &error), PELT_OK);
    assert_int_equal(support.required_extension_count, 0);
}

static void what_is_optional_refuses_nothing(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    static const struct {
        const char *hide;
        bool builds;
        bool rays;
    } cases[] = {
        {NULL, true, true},
        {VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME, false, false},
        {VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME, false, false},
        {"accelerationStructure", false, false},
        {VK_KHR_RAY_TRACING_PIPELINE_EXTENSION_NAME, true, false},
        {"rayTracingPipeline", true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pelt_vk_physical physical = fake();
        peltt_vk_fake_state.optional = true;
        peltt_vk_fake_state.hide = cases[i].hide;
        pelt_vk_support support;
        assert_int_equal(pelt_vk_requirements(&physical, &support, NULL), PELT_OK);
        assert_true(support.usable);
        assert_int_equal(support.acceleration_structure, cases[i].builds);
        assert_int_equal(support.ray_tracing_pipeline, cases[i].rays);
        assert_int_equal(support.extension_count - support.required_extension_count, cases[i].rays     ? 3
                                                                                     : cases[i].builds ? 2
                                                                                                       : 0);
        assert_int_equal(lists_extension(&support, VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME), cases[i].builds);
        assert_int_equal(lists_extension(&support, VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME), cases[i].builds);
        assert_int_equal(lists_extension(&support, VK_KHR_RAY_TRACING_PIPELINE_EXTENSION_NAME), cases[i].rays);
        if (cases[i].hide) {
            assert_false(find_need(&support, cases[i].hide)->present);
            assert_false(find_need(&support, cases[i].hide)->required);
        }
    }
}

static void the_makers_extensions_tell_the_size(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    static const struct {
        const char *maker;
        uint32_t capacity;
    } cases[] = {
        {NULL, 0},
        {VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME, PELTT_VK_FAKE_NV},
        {VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME, PELTT_VK_FAKE_AMD},
        {VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME, PELTT_VK_FAKE_ARM},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pelt_vk_physical physical = fake();
        peltt_vk_fake_state.maker = cases[i].maker; // the fake fails where another's struct is asked for
        pelt_vk_support support;
        assert_int_equal(pelt_vk_requirements(&physical, &support, NULL), PELT_OK);
        assert_int_equal(support.subgroup_capacity, cases[i].capacity);
        assert_false(cases[i].maker && lists_extension(&support, cases[i].maker)); // it need not be enabled
    }
}

static void extensions_are_listed_whatever_happens(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    pelt_vk_support support;
    pelt_error error;
    pelt_vk_physical physical = fake();
    peltt_vk_fake_state.incomplete = 2; // grows between asking for the count and for the list, twice
    assert_int_equal(pelt_vk_requirements(&physical, &support, &error), PELT_OK);
    assert_int_equal(peltt_vk_fake_state.enumerate_asks, 6);

    physical = fake();
    peltt_vk_fake_state.no_extensions = true;
    physical.api_version = VK_API_VERSION_1_2;
    assert_int_equal(pelt_vk_requirements(&physical, &support, &error), PELT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "VK_KHR_synchronization2"));

    physical = fake();
    peltt_vk_fake_state.enumerate = VK_ERROR_OUT_OF_HOST_MEMORY;
    assert_int_equal(pelt_vk_requirements(&physical, &support, &error), PELT_ERROR_MEMORY);
    assert_string_equal(error.message, "vkEnumerateDeviceExtensionProperties: VK_ERROR_OUT_OF_HOST_MEMORY");
    assert_false(support.usable);
    peltt_vk_fake_state.enumerate = VK_ERROR_LAYER_NOT_PRESENT;
    assert_int_equal(pelt_vk_requirements(&physical, &support, &error), PELT_ERROR_DEVICE);
    assert_non_null(strstr(error.message, "VK_ERROR_LAYER_NOT_PRESENT"));
}

static void a_missing_function_is_named(void **state)
{
    (void)state;
    peltt_vk_create(&vk, NULL);
    static const char *const names[] = {"vkGetPhysicalDeviceProperties",
                                        "vkGetPhysicalDeviceProperties2",
                                        "vkGetPhysicalDeviceFeatures2",
                                        "vkGetPhysicalDeviceMemoryProperties",
                                        "vkEnumerateDeviceExtensionProperties",
                                        "vkGetPhysicalDeviceQueueFamilyProperties",
                                        "vkGetDeviceProcAddr"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pelt_vk_physical physical = fake();
        peltt_vk_fake_state.hide = names[i];
        pelt_vk_support support;
        pelt_error error;
        assert_int_equal(pelt_vk_requirements(&physical, &support, &error), PELT_ERROR_UNSUPPORTED);
        const char *found = strstr(error.message, names[i]);
        assert_true(found && strcmp(found, names[i]) == 0);
        assert_non_null(strstr(error.hint, "apiVersion"));
    }
}

static void the_feature_chain_ends_in_what_was_given(void **state)
{
    (void)state;
    static const VkStructureType types[] = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
                                            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES,
                                            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
                                            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR,
                                            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR};
    for (unsigned bits = 0; bits < 8; bits++) {
        bool optional = (bits & 1) != 0;
        pelt_vk_support support = {.usable = true};
        support.acceleration_structure = (bits & 2) != 0;
        support.ray_tracing_pipeline = (bits & 4) != 0;
        const bool wanted[] = {true, true, true, optional && support.acceleration_structure,
                               optional && support.ray_tracing_pipeline};
        uint32_t seen[5] = {0};
        VkPhysicalDeviceVulkan11Features last = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
        pelt_vk_features features;
        memset(&features, 0xA5, sizeof features);
        const VkBaseInStructure *at = pelt_vk_features_chain(&support, optional, &last, &features);
        for (; at && at != (const void *)&last; at = at->pNext) {
            for (size_t i = 0; i < 5; i++) {
                seen[i] += at->sType == types[i];
            }
        }
        assert_non_null(at);
        for (size_t i = 0; i < 5; i++) {
            assert_int_equal(seen[i], wanted[i]);
        }
        assert_int_equal(features.buffer_device_address.bufferDeviceAddress, VK_TRUE);
        assert_int_equal(features.buffer_device_address.bufferDeviceAddressCaptureReplay, VK_FALSE);
        assert_int_equal(features.scalar_block_layout.scalarBlockLayout, VK_TRUE);
        assert_int_equal(features.synchronization2.synchronization2, VK_TRUE);
        assert_int_equal(features.acceleration_structure.accelerationStructure, wanted[3]);
        assert_int_equal(features.ray_tracing_pipeline.rayTracingPipeline, wanted[4]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(arguments_are_checked, teardown),
        cmocka_unit_test_teardown(findings_are_those_of_the_device, teardown),
        cmocka_unit_test_teardown(a_missing_feature_is_named, teardown),
        cmocka_unit_test_teardown(a_limit_that_is_too_low_is_named, teardown),
        cmocka_unit_test_teardown(the_lower_version_counts, teardown),
        cmocka_unit_test_teardown(vulkan_1_2_needs_the_synchronization_extension, teardown),
        cmocka_unit_test_teardown(what_is_optional_refuses_nothing, teardown),
        cmocka_unit_test_teardown(the_makers_extensions_tell_the_size, teardown),
        cmocka_unit_test_teardown(extensions_are_listed_whatever_happens, teardown),
        cmocka_unit_test_teardown(a_missing_function_is_named, teardown),
        cmocka_unit_test(the_feature_chain_ends_in_what_was_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// How blocks of device memory are made, on a device that is only functions here: which memory types are tried in which
// order, and that nothing leaks whichever call fails.
#include "peltt_alloc.h"
#include "vulkan/vulkan.h"

#include <setjmp.h>

#include <cmocka.h>

enum {
    LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
    VISIBLE = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
    CACHED = VISIBLE | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
    INCOHERENT = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
    SIZE = 4096
};

// Vulkan's functions know nothing of the test, so this is the one device of the process.
typedef struct fake_device {
    uint32_t call_count;
    uint32_t fail_at; // the call that fails, counted from 1; 0 = never
    VkResult failure;
    uint32_t full_types; // bits of memory types that have no room
    uint32_t tried[VK_MAX_MEMORY_TYPES];
    uint32_t tried_count;
    uint32_t buffer_count; // live
    uint32_t memory_count;
    VkBufferCreateInfo buffer_info; // of the last buffer
    uint32_t allowed_types;
    VkDeviceAddress address;
    _Alignas(64) char bytes[SIZE];
} fake_device;

static fake_device fake;

static VkResult call(void)
{
    fake.call_count++;
    return fake.call_count == fake.fail_at ? fake.failure : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkBuffer *out)
{
    (void)device;
    (void)allocator;
    VkResult result = call();
    if (result == VK_SUCCESS) {
        fake.buffer_info = *info;
        fake.buffer_count++;
        *out = (VkBuffer)(uintptr_t)(fake.call_count * 16);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_buffer(VkDevice device, VkBuffer buffer,
                                                 const VkAllocationCallbacks *allocator)
{
    (void)device;
    (void)allocator;
    assert_true(buffer != VK_NULL_HANDLE);
    fake.buffer_count--;
}

static VKAPI_ATTR void VKAPI_CALL get_requirements(VkDevice device, VkBuffer buffer, VkMemoryRequirements *out)
{
    (void)device;
    (void)buffer;
    *out = (VkMemoryRequirements){fake.buffer_info.size, 16, fake.allowed_types};
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice device, const VkMemoryAllocateInfo *info,
                                                      const VkAllocationCallbacks *allocator, VkDeviceMemory *out)
{
    (void)device;
    (void)allocator;
    const VkMemoryAllocateFlagsInfo *flags = info->pNext;
    assert_int_equal(flags->sType, VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
    assert_int_equal(flags->flags, VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT);
    assert_int_equal(info->allocationSize, fake.buffer_info.size);
    fake.tried[fake.tried_count++] = info->memoryTypeIndex;
    VkResult result = call();
    if (result != VK_SUCCESS) {
        return result;
    }
    if ((fake.full_types >> info->memoryTypeIndex & 1) != 0) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    fake.memory_count++;
    *out = (VkDeviceMemory)(uintptr_t)(fake.call_count * 16);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                              const VkAllocationCallbacks *allocator)
{
    (void)device;
    (void)allocator;
    assert_true(memory != VK_NULL_HANDLE);
    fake.memory_count--;
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_memory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                                  VkDeviceSize offset)
{
    (void)device;
    assert_true(buffer != VK_NULL_HANDLE && memory != VK_NULL_HANDLE);
    assert_int_equal(offset, 0);
    return call();
}

static VKAPI_ATTR VkResult VKAPI_CALL map_memory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
                                                 VkDeviceSize size, VkMemoryMapFlags flags, void **out)
{
    (void)device;
    (void)memory;
    (void)offset;
    (void)size;
    (void)flags;
    *out = fake.bytes;
    return call();
}

static VKAPI_ATTR VkDeviceAddress VKAPI_CALL get_address(VkDevice device, const VkBufferDeviceAddressInfo *info)
{
    (void)device;
    assert_true(info->buffer != VK_NULL_HANDLE);
    return fake.address;
}

// Types 0 to 7; heaps: 0 = 8 GiB of the device, 1 = the host's, 2 = the window that the host sees of the device.
static pelt_vk_context make_context(VkDeviceSize window, peltt_alloc *host)
{
    fake = (fake_device){.allowed_types = 0xFF, .address = 0x10000, .failure = VK_ERROR_DEVICE_LOST};
    pelt_vk_context context = {
        .options = {.block_size = SIZE, .allocator = peltt_alloc_make(host)},
        .vk = {.vkCreateBuffer = create_buffer,
               .vkDestroyBuffer = destroy_buffer,
               .vkGetBufferMemoryRequirements = get_requirements,
               .vkBindBufferMemory = bind_memory,
               .vkGetBufferDeviceAddress = get_address,
               .vkAllocateMemory = allocate_memory,
               .vkFreeMemory = free_memory,
               .vkMapMemory = map_memory},
        .max_buffer_size = 1 << 20,
        .memory = {.memoryTypeCount = 8,
                   .memoryTypes = {{0, 1},
                                   {LOCAL, 0},
                                   {INCOHERENT, 1},
                                   {VISIBLE, 1},
                                   {LOCAL | VK_MEMORY_PROPERTY_PROTECTED_BIT, 0},
                                   {CACHED, 1},
                                   {LOCAL | VISIBLE, 2},
                                   {LOCAL | VISIBLE | VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD, 2}},
                   .memoryHeapCount = 3,
                   .memoryHeaps = {{(VkDeviceSize)8 << 30, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
                                   {(VkDeviceSize)32 << 30, 0},
                                   {window, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}}},
    };
    return context;
}

static pelt_result allocate_one(const pelt_vk_context *context, bool mapped, pelt_error *error)
{
    pelti_vk_heap *heap = NULL;
    pelt_result result = pelti_vk_heap_create(context, mapped, &heap, error);
    assert_int_equal(result, PELT_OK);
    pelti_vk_range range;
    result = pelti_vk_heap_allocate(heap, 100, &range, error);
    if (result == PELT_OK) {
        assert_int_equal(range.address, fake.address);
        assert_ptr_equal(range.mapped, mapped ? fake.bytes : NULL);
    } else {
        assert_int_equal(range.size, 0);
        assert_int_equal(fake.buffer_count, 0);
        assert_int_equal(fake.memory_count, 0);
        fake.fail_at = 0;
        fake.full_types = 0;
        fake.address = 0x10000;
        assert_int_equal(pelti_vk_heap_allocate(heap, 100, &range, error), PELT_OK); // none the worse
    }
    pelti_vk_heap_destroy(heap);
    assert_int_equal(fake.buffer_count, 0);
    assert_int_equal(fake.memory_count, 0);
    return result;
}

// With all types full but the last of the list, they are tried in the list's order.
static void check_order(bool mapped, VkDeviceSize window, uint32_t count, const uint32_t *types)
{
    peltt_alloc host = {0};
    pelt_vk_context context = make_context(window, &host);
    for (uint32_t i = 0; i + 1 < count; i++) {
        fake.full_types |= (uint32_t)1 << types[i];
    }
    pelt_error error = {0};
    assert_int_equal(allocate_one(&context, mapped, &error), PELT_OK);
    assert_int_equal(fake.tried_count, count);
    assert_memory_equal(fake.tried, types, count * sizeof *types);
    context = make_context(window, &host);
    fake.full_types = UINT32_MAX;
    assert_int_equal(allocate_one(&context, mapped, &error), PELT_ERROR_MEMORY);
    context = make_context(window, &host);
    fake.allowed_types = (uint32_t)1 << types[count - 1];
    assert_int_equal(allocate_one(&context, mapped, &error), PELT_OK);
    assert_int_equal(fake.tried_count, 1);
    assert_int_equal(host.live_blocks, 0);
}

static void device_memory_is_local_where_there_is_room(void **state)
{
    (void)state;
    static const uint32_t types[] = {1, 6, 0, 2, 3, 5};
    check_order(false, (VkDeviceSize)256 << 20, 6, types);
}

static void mapped_memory_is_local_where_the_window_is_large(void **state)
{
    (void)state;
    static const uint32_t large[] = {6, 3, 5};
    check_order(true, (VkDeviceSize)1 << 30, 3, large);
    static const uint32_t small[] = {3, 5, 6};
    check_order(true, ((VkDeviceSize)1 << 30) - 1, 3, small);
}

static void no_memory_type_is_a_memory_error(void **state)
{
    (void)state;
    peltt_alloc host = {0};
    pelt_vk_context context = make_context(0, &host);
    fake.allowed_types = 0x16; // local, incoherent and protected
    pelti_vk_heap *heap = NULL;
    assert_int_equal(pelti_vk_heap_create(&context, true, &heap, NULL), PELT_OK);
    pelti_vk_range range;
    pelt_error error = {0};
    assert_int_equal(pelti_vk_heap_allocate(heap, 100, &range, &error), PELT_ERROR_MEMORY);
    assert_int_equal(fake.tried_count, 0);
    assert_int_equal(fake.buffer_count, 0);
    pelti_vk_heap_destroy(heap);
}

static void every_failing_call_is_named_and_leaks_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"vkCreateBuffer", "vkAllocateMemory", "vkMapMemory", "vkBindBufferMemory"};
    static const struct {
        VkResult result;
        pelt_result code;
        const char *name;
    } failures[] = {{VK_ERROR_DEVICE_LOST, PELT_ERROR_DEVICE, "VK_ERROR_DEVICE_LOST"},
                    {VK_ERROR_OUT_OF_HOST_MEMORY, PELT_ERROR_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY"}};
    for (uint32_t f = 0; f < 2; f++) {
        for (uint32_t nth = 1; nth <= 4; nth++) {
            peltt_alloc host = {0};
            pelt_vk_context context = make_context(0, &host);
            fake.allowed_types = 1U << 3; // one, so that there is no other to try
            fake.fail_at = nth;
            fake.failure = failures[f].result;
            pelti_vk_heap *heap = NULL;
            assert_int_equal(pelti_vk_heap_create(&context, true, &heap, NULL), PELT_OK);
            pelti_vk_range range;
            pelt_error error = {0};
            assert_int_equal(pelti_vk_heap_allocate(heap, 100, &range, &error), failures[f].code);
            assert_int_equal(error.code, failures[f].code);
            assert_non_null(strstr(error.message, names[nth - 1]));
            assert_non_null(strstr(error.message, failures[f].name));
            pelti_vk_heap_destroy(heap);
            context = make_context(0, &host);
            fake.allowed_types = 1U << 3;
            fake.fail_at = nth;
            assert_int_equal(allocate_one(&context, true, &error), PELT_ERROR_DEVICE);
            assert_int_equal(host.live_blocks, 0);
        }
    }
}

static void address_off_the_alignment_is_refused(void **state)
{
    (void)state;
    peltt_alloc host = {0};
    pelt_vk_context context = make_context(0, &host);
    fake.address = 0x10020;
    pelt_error error = {0};
    assert_int_equal(allocate_one(&context, false, &error), PELT_ERROR_DEVICE);
}

static void buffers_have_the_usages_of_what_lies_in_them(void **state)
{
    (void)state;
    const VkBufferUsageFlags both = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                                    VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    const VkBufferUsageFlags outputs =
        both | VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT;
    peltt_alloc host = {0};
    pelt_error error = {0};
    for (uint32_t structures = 0; structures < 2; structures++) {
        pelt_vk_context context = make_context(0, &host);
        context.options.acceleration_structure = structures == 1;
        assert_int_equal(allocate_one(&context, true, &error), PELT_OK);
        assert_int_equal(fake.buffer_info.usage, both);
        assert_int_equal(allocate_one(&context, false, &error), PELT_OK);
        VkBufferUsageFlags more = structures ? VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR : 0;
        assert_int_equal(fake.buffer_info.usage, outputs | more);
        assert_int_equal(fake.buffer_info.sharingMode, VK_SHARING_MODE_EXCLUSIVE);
    }
}

static void buffers_are_shared_between_the_families_given(void **state)
{
    (void)state;
    peltt_alloc host = {0};
    static const uint32_t families[] = {0, 2};
    pelt_error error = {0};
    for (uint32_t count = 0; count <= 2; count++) {
        pelt_vk_context context = make_context(0, &host);
        context.options.queue_family_count = count;
        context.options.queue_families = families;
        assert_int_equal(allocate_one(&context, false, &error), PELT_OK);
        assert_int_equal(fake.buffer_info.sharingMode,
                         count == 2 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE);
        assert_int_equal(fake.buffer_info.queueFamilyIndexCount, count == 2 ? 2 : 0);
        assert_ptr_equal(fake.buffer_info.pQueueFamilyIndices, count == 2 ? families : NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_memory_is_local_where_there_is_room),
        cmocka_unit_test(mapped_memory_is_local_where_the_window_is_large),
        cmocka_unit_test(no_memory_type_is_a_memory_error),
        cmocka_unit_test(every_failing_call_is_named_and_leaks_nothing),
        cmocka_unit_test(address_off_the_alignment_is_refused),
        cmocka_unit_test(buffers_have_the_usages_of_what_lies_in_them),
        cmocka_unit_test(buffers_are_shared_between_the_families_given),
    };
    return cmocka_run_group_tests_name("vk_block", tests, NULL, NULL);
}

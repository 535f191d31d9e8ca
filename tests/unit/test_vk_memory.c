// SPDX-License-Identifier: MIT
// Ranges of device memory and what waits for frames: nothing overlaps, everything merges again, nothing is lost when
// an allocation fails.
#include "peltt_random.h"
#include "peltt_vk_bare.h"

#include <setjmp.h>

#include <cmocka.h>

enum {
    LIVE_CAPACITY = 256,
    BLOCK = 1 << 18
};

static pelti_vk_heap *create_heap(peltt_vk_bare *bare, bool mapped)
{
    pelti_vk_heap *heap = NULL;
    assert_int_equal(pelti_vk_heap_create(&bare->context, mapped, &heap, NULL), PELT_OK);
    assert_non_null(heap);
    return heap;
}

static pelti_vk_range allocate(pelti_vk_heap *heap, VkDeviceSize size)
{
    pelti_vk_range range;
    pelt_error error = {0};
    if (pelti_vk_heap_allocate(heap, size, &range, &error) != PELT_OK) {
        fail_msg("%llu bytes: %s", (unsigned long long)size, error.message);
    }
    return range;
}

static bool overlaps(const pelti_vk_range *a, const pelti_vk_range *b)
{
    return a->buffer == b->buffer && a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

static void check_range(const peltt_vk_bare *bare, const pelti_vk_range *range, VkDeviceSize size, bool mapped)
{
    assert_int_equal(range->size, size);
    assert_int_equal(range->offset % PELTI_VK_ALIGNMENT, 0);
    assert_int_equal(range->address % PELTI_VK_ALIGNMENT, 0);
    assert_int_equal((range->mapped != NULL), mapped);
    VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = range->buffer};
    VkDeviceAddress start = PELTT_VK(&bare->vk, vkGetBufferDeviceAddress)(bare->vk.device, &info);
    assert_int_equal(range->address, start + range->offset);
    VkMemoryRequirements requirements;
    PELTT_VK(&bare->vk, vkGetBufferMemoryRequirements)(bare->vk.device, range->buffer, &requirements);
    assert_true(range->offset + size <= requirements.size);
}

static bool holds(const void *data, unsigned char value, VkDeviceSize size)
{
    const unsigned char *bytes = data;
    return bytes[0] == value && memcmp(bytes, bytes + 1, (size_t)size - 1) == 0;
}

// Mostly small, at times larger than a block.
static VkDeviceSize random_size(peltt_random *random)
{
    uint32_t bits = peltt_random_below(random, 20);
    return 1 + peltt_random_below(random, (uint32_t)1 << bits);
}

static void check_random_ranges(bool mapped, bool callbacks)
{
    peltt_vk_bare bare;
    peltt_vk_bare_create(&bare, BLOCK, callbacks);
    pelti_vk_heap *heap = create_heap(&bare, mapped);
    pelti_vk_range live[LIVE_CAPACITY];
    unsigned char marks[LIVE_CAPACITY];
    uint32_t count = 0;
    peltt_random random = {.state = 41};
    for (uint32_t step = 0; step < 6000; step++) {
        bool grows = step / 1000 % 2 == 0;
        if (count < LIVE_CAPACITY && (count == 0 || peltt_random_chance(&random, grows ? 0.7 : 0.3))) {
            VkDeviceSize size = random_size(&random);
            pelti_vk_range range = allocate(heap, size);
            check_range(&bare, &range, size, mapped);
            for (uint32_t i = 0; i < count; i++) {
                assert_false(overlaps(&range, &live[i]));
            }
            marks[count] = (unsigned char)step;
            if (mapped) {
                memset(range.mapped, marks[count], (size_t)size);
            }
            live[count++] = range;
        } else {
            uint32_t gone = peltt_random_below(&random, count);
            assert_true(!mapped || holds(live[gone].mapped, marks[gone], live[gone].size));
            pelti_vk_heap_free(heap, &live[gone]);
            assert_int_equal(live[gone].size, 0);
            assert_null(live[gone].buffer);
            count--;
            live[gone] = live[count];
            marks[gone] = marks[count];
        }
    }
    pelti_vk_heap_destroy(heap); // with ranges left in it
    peltt_vk_bare_destroy(&bare);
}

static void live_ranges_never_overlap(void **state)
{
    (void)state;
    check_random_ranges(false, true);
    check_random_ranges(true, true);
}

static void own_allocations_work_like_the_callers(void **state)
{
    (void)state;
    check_random_ranges(false, false);
    check_random_ranges(true, false);
}

static void freed_ranges_merge_to_one_free_block(void **state)
{
    (void)state;
    peltt_vk_bare bare;
    peltt_vk_bare_create(&bare, BLOCK, true);
    pelti_vk_heap *heap = create_heap(&bare, false);
    peltt_random random = {.state = 42};
    for (uint32_t round = 0; round < 20; round++) {
        pelti_vk_range live[LIVE_CAPACITY];
        for (uint32_t i = 0; i < LIVE_CAPACITY; i++) {
            live[i] = allocate(heap, 1 + peltt_random_below(&random, 8000));
        }
        assert_true(bare.block_count > 2);
        for (uint32_t left = LIVE_CAPACITY; left > 0; left--) {
            uint32_t gone = peltt_random_below(&random, left);
            pelti_vk_heap_free(heap, &live[gone]);
            live[gone] = live[left - 1];
        }
        assert_int_equal(bare.block_count, 1);
        uint32_t calls = bare.call_count;
        pelti_vk_range whole = allocate(heap, BLOCK);
        assert_int_equal(bare.call_count, calls);
        assert_int_equal(whole.offset, 0);
        pelti_vk_range second = allocate(heap, 1);
        assert_int_equal(bare.call_count, calls + 1);
        pelti_vk_heap_free(heap, &whole);
        assert_int_equal(bare.block_count, 2); // free, and in use
        pelti_vk_heap_free(heap, &second);
        assert_int_equal(bare.block_count, 1);
    }
    pelti_vk_heap_destroy(heap);
    peltt_vk_bare_destroy(&bare);
}

// As many ranges fit into a block as their sizes say: nothing is lost between them.
static void ranges_are_tight(void **state)
{
    (void)state;
    peltt_vk_bare bare;
    peltt_vk_bare_create(&bare, BLOCK, true);
    pelti_vk_heap *heap = create_heap(&bare, false);
    for (uint32_t i = 0; i < BLOCK / 1024; i++) {
        allocate(heap, 1024 - i % 64);
    }
    assert_int_equal(bare.block_count, 1);
    allocate(heap, 1);
    assert_int_equal(bare.block_count, 2);
    pelti_vk_heap_destroy(heap);
    peltt_vk_bare_destroy(&bare);
}

static void large_ranges_get_blocks_of_their_size(void **state)
{
    (void)state;
    peltt_vk_bare bare;
    peltt_vk_bare_create(&bare, BLOCK, true);
    pelti_vk_heap *heap = create_heap(&bare, false);
    pelti_vk_range small = allocate(heap, 100);
    VkDeviceSize size = 3 * BLOCK + 4096 + 64;
    pelti_vk_range large = allocate(heap, size);
    assert_int_equal(bare.block_count, 2);
    assert_true(bare.requested >= size && bare.requested < size + BLOCK / 2);
    assert_ptr_not_equal(large.buffer, small.buffer);
    pelti_vk_heap_free(heap, &large);
    assert_int_equal(bare.block_count, 2); // kept
    uint32_t calls = bare.call_count;
    large = allocate(heap, size);
    assert_int_equal(bare.call_count, calls);
    pelti_vk_heap_free(heap, &large);
    pelti_vk_heap_free(heap, &small);
    assert_int_equal(bare.block_count, 1); // of the two, the small one stays
    calls = bare.call_count;
    pelti_vk_range again = allocate(heap, BLOCK);
    assert_int_equal(bare.call_count, calls);
    pelti_vk_heap_free(heap, &again);
    pelti_vk_heap_destroy(heap);
    peltt_vk_bare_destroy(&bare);
}

static void ranges_over_the_largest_buffer_are_refused(void **state)
{
    (void)state;
    peltt_vk_bare bare;
    peltt_vk_bare_create(&bare, BLOCK, true);
    bare.context.max_buffer_size = 2 * BLOCK + 63;
    pelti_vk_heap *heap = create_heap(&bare, false);
    static const VkDeviceSize sizes[] = {2 * BLOCK + 1, 2 * BLOCK + 64, UINT32_MAX, (VkDeviceSize)1 << 40, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        pelti_vk_range range = {.size = 1};
        pelt_error error = {0};
        assert_int_equal(pelti_vk_heap_allocate(heap, sizes[i], &range, &error), PELT_ERROR_LIMIT);
        assert_int_equal(error.code, PELT_ERROR_LIMIT);
        assert_non_null(strstr(error.message, "524288"));
        assert_int_equal(range.size, 0);
    }
    assert_int_equal(bare.call_count, 0);
    pelti_vk_range range = allocate(heap, 2 * BLOCK);
    pelti_vk_heap_free(heap, &range);
    pelti_vk_heap_destroy(heap);
    peltt_vk_bare_destroy(&bare);
}

static void callbacks_are_told_what_memory_is_for(void **state)
{
    (void)state;
    peltt_vk_bare bare;
    peltt_vk_bare_create(&bare, BLOCK, true);
    pelti_vk_heap *device = create_heap(&bare, false);
    pelti_vk_heap *mapped = create_heap(&bare, true);
    allocate(device, 1);
    assert_int_equal(bare.required, 0);
    assert_int_equal(bare.preferred, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    allocate(mapped, 1);
    assert_int_equal(bare.required, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    assert_int_equal(bare.preferred, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    bare.unmapped = true;
    pelti_vk_range range;
    pelt_error error = {0};
    assert_int_equal(pelti_vk_heap_allocate(mapped, BLOCK, &range, &error), PELT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "not mapped"));
    assert_int_equal(bare.block_count, 2);
    bare.unmapped = false;
    allocate(mapped, BLOCK);
    pelti_vk_heap_destroy(device);
    pelti_vk_heap_destroy(mapped);
    pelti_vk_heap_destroy(NULL);
    peltt_vk_bare_destroy(&bare);
}

// 30 ranges that come and go; true when no call failed. Either way what is live stays what it was.
static bool use_heap(peltt_vk_bare *bare)
{
    pelti_vk_heap *heap = NULL;
    pelt_error error = {0};
    if (pelti_vk_heap_create(&bare->context, true, &heap, &error) != PELT_OK) {
        assert_int_equal(error.code, PELT_ERROR_MEMORY);
        assert_null(heap);
        return false;
    }
    bool all = true;
    pelti_vk_range live[100];
    uint32_t count = 0;
    for (uint32_t i = 0; i < 100; i++) {
        if (pelti_vk_heap_allocate(heap, 1 + i * 997 % 20000, &live[count], &error) == PELT_OK) {
            memset(live[count].mapped, (int)(count % 251), (size_t)live[count].size);
            count++;
        } else {
            assert_int_equal(error.code, PELT_ERROR_MEMORY);
            assert_int_equal(live[count].size, 0);
            all = false;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_true(holds(live[i].mapped, (unsigned char)(i % 251), live[i].size));
        pelti_vk_heap_free(heap, &live[i]);
    }
    assert_int_equal(bare->block_count, 1);
    assert_true(count >= 99);
    pelti_vk_heap_destroy(heap);
    return all;
}

static void heap_survives_every_failing_allocation(void **state)
{
    (void)state;
    peltt_vk_bare bare;
    peltt_vk_bare_create(&bare, BLOCK, true);
    for (uint32_t kind = 0; kind < 2; kind++) {
        uint32_t nth = 1;
        for (bool done = false; !done; nth++) {
            bare.host.call_count = 0;
            bare.call_count = 0;
            bare.host.fail_at = kind == 0 ? nth : 0;
            bare.fail_at = kind == 1 ? nth : 0;
            bool all = use_heap(&bare);
            done = (kind == 0 ? bare.host.call_count : bare.call_count) < nth; // went past the last one
            assert_int_equal(all, done);
            assert_int_equal(bare.host.live_blocks, 0);
            assert_int_equal(bare.block_count, 0);
        }
        assert_true(nth > 4);
    }
    peltt_vk_bare_destroy(&bare);
}

// Many live ranges in random order: what a scene of 100,000 instances asks for.
static void many_ranges_come_and_go(void **state)
{
    (void)state;
    enum {
        MANY = 200000
    };
    peltt_vk_bare bare;
    peltt_vk_bare_create(&bare, 16 << 20, true);
    pelti_vk_heap *heap = create_heap(&bare, false);
    pelti_vk_range *live = calloc(MANY, sizeof *live);
    assert_non_null(live);
    peltt_random random = {.state = 43};
    VkDeviceSize total = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        live[i] = allocate(heap, 1 + peltt_random_below(&random, 640));
        total += (live[i].size + 63) / 64 * 64;
    }
    for (uint32_t i = 0; i < 2 * MANY; i++) {
        pelti_vk_range *range = &live[peltt_random_below(&random, MANY)];
        VkDeviceSize size = range->size; // the same sizes throughout, so that total stays
        pelti_vk_heap_free(heap, range);
        *range = allocate(heap, size);
    }
    assert_true(bare.block_bound <= total / (16 << 20) + 2);
    for (uint32_t i = 0; i < MANY; i++) {
        pelti_vk_heap_free(heap, &live[i]);
    }
    assert_int_equal(bare.block_count, 1);
    free(live);
    pelti_vk_heap_destroy(heap);
    peltt_vk_bare_destroy(&bare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(live_ranges_never_overlap),
        cmocka_unit_test(own_allocations_work_like_the_callers),
        cmocka_unit_test(freed_ranges_merge_to_one_free_block),
        cmocka_unit_test(ranges_are_tight),
        cmocka_unit_test(large_ranges_get_blocks_of_their_size),
        cmocka_unit_test(ranges_over_the_largest_buffer_are_refused),
        cmocka_unit_test(callbacks_are_told_what_memory_is_for),
        cmocka_unit_test(heap_survives_every_failing_allocation),
        cmocka_unit_test(many_ranges_come_and_go),
    };
    return cmocka_run_group_tests_name("vk_memory", tests, NULL, NULL);
}

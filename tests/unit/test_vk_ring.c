// SPDX-License-Identifier: MIT
// What belongs to frames in flight: discards come back in order and not before their frame has retired, and mapped
// memory is not handed out again before.
#include "peltt_random.h"
#include "peltt_vk_bare.h"

#include <setjmp.h>

#include <cmocka.h>

enum {
    BLOCK = 1 << 20,
    SPAN_CAPACITY = 4096
};

// ---- retirement

typedef struct slot_log {
    uint32_t slots[4096];
    uint32_t count;
} slot_log;

static void log_slot(void *owner, uint32_t slot)
{
    slot_log *log = owner;
    assert_true(log->count < sizeof log->slots / sizeof log->slots[0]);
    log->slots[log->count++] = slot;
}

static void slots_come_back_in_order_once_their_frame_retired(void **state)
{
    (void)state;
    peltt_alloc host = {0};
    pelt_allocator allocator = peltt_alloc_make(&host);
    pelti_vk_retirement r = {.allocator = &allocator};
    slot_log *log = calloc(1, sizeof *log);
    assert_non_null(log);
    uint64_t *frames = calloc(4096, sizeof *frames); // by slot
    assert_non_null(frames);
    peltt_random random = {.state = 51};
    uint32_t given = 0;
    uint32_t back = 0;
    for (uint64_t frame = 1; given < 4000; frame++) {
        uint32_t count = peltt_random_below(&random, 40);
        assert_true(pelti_vk_retirement_reserve(&r, count + 3));
        for (uint32_t i = 0; i < count; i++) {
            frames[given] = frame;
            pelti_vk_discard_slot(&r, frame, log_slot, log, given);
            given++;
        }
        pelti_vk_retirement_unreserve(&r, 3);
        if (peltt_random_chance(&random, 0.5)) {
            uint64_t retired = frame - peltt_random_below(&random, frame < 5 ? (uint32_t)frame : 5);
            pelti_vk_retirement_run(&r, retired);
            for (; back < log->count; back++) {
                assert_int_equal(log->slots[back], back);
                assert_true(frames[back] <= retired);
            }
            assert_true(back == given || frames[back] > retired);
        }
    }
    pelti_vk_retirement_run(&r, UINT64_MAX);
    assert_int_equal(log->count, given);
    assert_int_equal(r.reserved, 0);
    assert_true(r.capacity < 1024); // the ring is used again
    pelti_vk_retirement_destroy(&r);
    assert_int_equal(host.live_blocks, 0);
    free(frames);
    free(log);
}

static void reservations_hold_when_memory_is_out(void **state)
{
    (void)state;
    peltt_alloc host = {0};
    pelt_allocator allocator = peltt_alloc_make(&host);
    pelti_vk_retirement r = {.allocator = &allocator};
    slot_log *log = calloc(1, sizeof *log);
    assert_non_null(log);
    host.fail_at = 1;
    assert_false(pelti_vk_retirement_reserve(&r, 1));
    assert_int_equal(r.reserved, 0);
    assert_true(pelti_vk_retirement_reserve(&r, 200));
    host.fail_at = host.call_count + 1;
    assert_false(pelti_vk_retirement_reserve(&r, UINT32_MAX));
    assert_false(pelti_vk_retirement_reserve(&r, r.capacity - 199));
    assert_int_equal(r.reserved, 200);
    uint64_t calls = host.call_count;
    for (uint32_t i = 0; i < 200; i++) {
        pelti_vk_discard_slot(&r, 7, log_slot, log, i);
    }
    assert_int_equal(host.call_count, calls);
    pelti_vk_retirement_run(&r, 6);
    assert_int_equal(log->count, 0);
    pelti_vk_retirement_run(&r, 7);
    assert_int_equal(log->count, 200);
    pelti_vk_retirement_destroy(&r);
    assert_int_equal(host.live_blocks, 0);
    free(log);
}

static void discarded_ranges_are_free_once_their_frame_retired(void **state)
{
    (void)state;
    peltt_vk_bare bare;
    peltt_vk_bare_create(&bare, BLOCK, true);
    pelti_vk_heap *heap = NULL;
    assert_int_equal(pelti_vk_heap_create(&bare.context, false, &heap, NULL), PELT_OK);
    pelti_vk_retirement r = {.allocator = &bare.context.options.allocator};
    pelti_vk_range ranges[8];
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(pelti_vk_heap_allocate(heap, BLOCK, &ranges[i], NULL), PELT_OK);
    }
    assert_true(pelti_vk_retirement_reserve(&r, 9));
    pelti_vk_range none = {0};
    pelti_vk_discard_range(&r, 1, heap, &none);
    assert_int_equal(r.reserved, 8);
    assert_int_equal(r.count, 0);
    for (uint32_t i = 0; i < 8; i++) {
        pelti_vk_discard_range(&r, 10 + i / 2, heap, &ranges[i]);
        assert_int_equal(ranges[i].size, 0);
    }
    assert_int_equal(bare.block_count, 8);
    pelti_vk_retirement_run(&r, 9);
    assert_int_equal(bare.block_count, 8);
    pelti_vk_retirement_run(&r, 11);
    assert_int_equal(bare.block_count, 5); // four in use, and one kept
    pelti_vk_retirement_run(&r, 13);
    assert_int_equal(bare.block_count, 1);
    pelti_vk_retirement_destroy(&r);
    pelti_vk_heap_destroy(heap);
    peltt_vk_bare_destroy(&bare);
}

// ---- ring

typedef struct ring_kit {
    peltt_vk_bare bare;
    pelti_vk_heap *heap;
    pelti_vk_ring *ring;
} ring_kit;

static void create(ring_kit *kit, VkDeviceSize block_size)
{
    peltt_vk_bare_create(&kit->bare, block_size, true);
    const pelt_vk_context *context = &kit->bare.context;
    assert_int_equal(pelti_vk_heap_create(context, true, &kit->heap, NULL), PELT_OK);
    assert_int_equal(pelti_vk_ring_create(&context->options.allocator, kit->heap, &kit->ring, NULL), PELT_OK);
}

static void destroy(ring_kit *kit)
{
    pelti_vk_ring_destroy(kit->ring);
    pelti_vk_heap_destroy(kit->heap);
    peltt_vk_bare_destroy(&kit->bare);
}

typedef struct live_span {
    pelti_vk_span span;
    VkDeviceSize size;
    uint64_t frame;
    unsigned char mark;
} live_span;

static VkDeviceSize random_size(peltt_random *random)
{
    if (peltt_random_chance(random, 0.01)) {
        return 1 + peltt_random_below(random, 3 << 20);
    }
    return 1 + peltt_random_below(random, peltt_random_chance(random, 0.2) ? 100000 : 300);
}

// The bytes of every span are its own from the take until its frame has retired.
static void check_intact(const live_span *s)
{
    const unsigned char *bytes = s->span.data;
    assert_int_equal(bytes[0], s->mark);
    assert_int_equal(memcmp(bytes, bytes + 1, (size_t)s->size - 1), 0);
}

static uint32_t take_some(ring_kit *kit, peltt_random *random, live_span *live, uint32_t count, uint64_t frame)
{
    uint32_t takes = peltt_random_below(random, 100);
    uint64_t taken = 0;
    for (uint32_t i = 0; i < takes && count < SPAN_CAPACITY; i++) {
        live_span s = {.size = random_size(random), .frame = frame, .mark = (unsigned char)peltt_random_next(random)};
        pelt_error error = {0};
        assert_int_equal(pelti_vk_ring_take(kit->ring, s.size, &s.span, &error), PELT_OK);
        assert_int_equal((uintptr_t)s.span.data % 16, 0);
        assert_int_equal(s.span.offset % 16, 0);
        VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                          .buffer = s.span.buffer};
        PFN_vkGetBufferDeviceAddress address = PELTT_VK(&kit->bare.vk, vkGetBufferDeviceAddress);
        assert_int_equal(s.span.address, address(kit->bare.vk.device, &info) + s.span.offset);
        memset(s.span.data, s.mark, (size_t)s.size);
        taken += s.size;
        live[count++] = s;
    }
    assert_int_equal(pelti_vk_ring_taken(kit->ring), taken);
    return count;
}

static void memory_of_frames_in_flight_is_not_handed_out(void **state)
{
    (void)state;
    ring_kit kit;
    create(&kit, BLOCK);
    live_span *live = calloc(SPAN_CAPACITY, sizeof *live);
    assert_non_null(live);
    peltt_random random = {.state = 52};
    uint32_t count = 0;
    uint64_t retired = 0;
    for (uint64_t frame = 1; frame <= 300; frame++) {
        count = take_some(&kit, &random, live, count, frame * 10);
        pelti_vk_ring_close(kit.ring, frame * 10);
        assert_int_equal(pelti_vk_ring_taken(kit.ring), 0);
        uint64_t in_flight = frame / 60; // 0 to 5
        while (retired + in_flight < frame) {
            retired += 1 + peltt_random_below(&random, 2);
            retired = retired < frame ? retired : frame;
            uint32_t left = 0;
            for (uint32_t i = 0; i < count; i++) {
                check_intact(&live[i]);
                if (live[i].frame > retired * 10 + 3) {
                    live[left++] = live[i];
                }
            }
            count = left;
            pelti_vk_ring_retire(kit.ring, retired * 10 + 3);
        }
    }
    free(live);
    destroy(&kit);
}

static void take(ring_kit *kit, VkDeviceSize size, pelti_vk_span *out)
{
    pelt_error error = {0};
    if (pelti_vk_ring_take(kit->ring, size, out, &error) != PELT_OK) {
        fail_msg("%s", error.message);
    }
}

// Chunks are as large as the blocks here, so that blocks count them.
static void steady_frames_need_no_new_memory(void **state)
{
    (void)state;
    ring_kit kit;
    create(&kit, BLOCK);
    pelti_vk_span span;
    uint32_t calls = 0;
    for (uint64_t frame = 1; frame <= 40; frame++) {
        for (uint32_t i = 0; i < 50; i++) {
            take(&kit, 50000, &span); // 2.5 MB
        }
        take(&kit, 3 << 20, &span);
        pelti_vk_ring_close(kit.ring, frame);
        pelti_vk_ring_retire(kit.ring, frame < 3 ? 0 : frame - 3);
        if (frame == 4) {
            calls = kit.bare.call_count;
        }
    }
    assert_int_equal(kit.bare.call_count, calls);
    // All at once: what one frame needs stays, and so does one empty block of the heap.
    pelti_vk_ring_retire(kit.ring, 40);
    uint32_t blocks = kit.bare.block_count;
    for (uint32_t i = 0; i < 50; i++) {
        take(&kit, 50000, &span);
    }
    take(&kit, 3 << 20, &span);
    assert_int_equal(kit.bare.block_count, blocks);
    assert_true(blocks <= calls / 4 + 1);
    destroy(&kit);
}

static void one_large_frame_is_forgotten_after_some_small_ones(void **state)
{
    (void)state;
    ring_kit kit;
    create(&kit, BLOCK);
    pelti_vk_span span;
    for (uint32_t i = 0; i < 20; i++) {
        take(&kit, BLOCK, &span);
    }
    pelti_vk_ring_close(kit.ring, 1);
    uint32_t large = kit.bare.block_count;
    assert_true(large >= 6);
    for (uint64_t frame = 2; frame <= 9; frame++) {
        pelti_vk_ring_retire(kit.ring, frame - 1);
        assert_int_equal(kit.bare.block_count, large); // kept for 8 frames
        take(&kit, 16, &span);
        pelti_vk_ring_close(kit.ring, frame);
    }
    pelti_vk_ring_retire(kit.ring, 9);
    assert_in_range(kit.bare.block_count, 1, 2);
    for (uint64_t frame = 10; frame <= 17; frame++) {
        pelti_vk_ring_close(kit.ring, frame); // frames without uploads
    }
    pelti_vk_ring_retire(kit.ring, 17);
    assert_int_equal(kit.bare.block_count, 1); // the heap's
    destroy(&kit);
}

static void small_takes_lie_side_by_side(void **state)
{
    (void)state;
    ring_kit kit;
    create(&kit, 4 * BLOCK);
    pelti_vk_span before;
    take(&kit, 1, &before);
    for (uint32_t i = 1; i < 1000; i++) {
        pelti_vk_span span;
        take(&kit, i % 48 + 1, &span);
        VkDeviceSize last = (i - 1) % 48 + 1;
        assert_ptr_equal(span.buffer, before.buffer);
        assert_int_equal(span.offset, before.offset + (last + 15) / 16 * 16);
        if (i == 500) { // does not end the chunk
            pelti_vk_span large;
            take(&kit, 3 * BLOCK, &large);
        }
        before = span;
    }
    destroy(&kit);
}

// What was taken before the mark stays as it is; what came after is handed out again, and no more memory is needed.
static void rewinding_gives_back_what_came_after_the_mark(void **state)
{
    (void)state;
    ring_kit kit;
    create(&kit, BLOCK);
    peltt_random random = {.state = 77};
    live_span *live = calloc(SPAN_CAPACITY, sizeof *live);
    assert_non_null(live);
    for (uint64_t frame = 1; frame <= 20; frame++) {
        uint32_t count = frame % 4 == 0 ? 0 : take_some(&kit, &random, live, 0, frame);
        const pelti_vk_ring_mark mark = pelti_vk_ring_here(kit.ring);
        uint64_t state_of_tries = random.state;
        pelti_vk_span first = {0};
        uint32_t blocks = 0;
        for (int attempt = 0; attempt < 5; attempt++) {
            peltt_random again = {.state = state_of_tries};
            for (int i = 0; i < 60; i++) {
                pelti_vk_span span;
                VkDeviceSize size = random_size(&again);
                take(&kit, size, &span);
                memset(span.data, attempt, (size_t)size);
                first = attempt == 0 && i == 0 ? span : first;
                if (i == 0 && mark.current.size != 0) {
                    assert_int_equal(span.address, first.address);
                }
            }
            blocks = attempt == 1 ? kit.bare.block_count : blocks;
            pelti_vk_ring_rewind(kit.ring, &mark);
            assert_int_equal(pelti_vk_ring_taken(kit.ring), mark.taken);
        }
        assert_int_equal(kit.bare.block_count, blocks);
        for (uint32_t i = 0; i < count; i++) {
            check_intact(&live[i]);
        }
        pelti_vk_ring_close(kit.ring, frame);
        pelti_vk_ring_retire(kit.ring, frame);
    }
    free(live);
    destroy(&kit);
}

static void impossible_takes_are_refused(void **state)
{
    (void)state;
    ring_kit kit;
    peltt_vk_bare_create(&kit.bare, BLOCK, true);
    kit.bare.context.max_buffer_size = 4 * BLOCK;
    const pelt_vk_context *context = &kit.bare.context;
    assert_int_equal(pelti_vk_heap_create(context, true, &kit.heap, NULL), PELT_OK);
    assert_int_equal(pelti_vk_ring_create(&context->options.allocator, kit.heap, &kit.ring, NULL), PELT_OK);
    pelti_vk_span span;
    static const VkDeviceSize sizes[] = {4 * BLOCK + 1, (VkDeviceSize)1 << 62, UINT64_MAX - 15, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        pelt_error error = {0};
        assert_int_equal(pelti_vk_ring_take(kit.ring, sizes[i], &span, &error), PELT_ERROR_LIMIT);
        assert_int_equal(error.code, PELT_ERROR_LIMIT);
        take(&kit, 4 * BLOCK >> i, &span);
    }
    destroy(&kit);
}

// True when nothing failed.
static bool use_ring(peltt_vk_bare *bare)
{
    pelti_vk_heap *heap = NULL;
    pelti_vk_ring *ring = NULL;
    pelt_error error = {0};
    bool all = pelti_vk_heap_create(&bare->context, true, &heap, &error) == PELT_OK;
    if (heap && pelti_vk_ring_create(&bare->context.options.allocator, heap, &ring, &error) != PELT_OK) {
        assert_int_equal(error.code, PELT_ERROR_MEMORY);
        assert_null(ring);
        all = false;
    }
    for (uint64_t frame = 1; ring && frame <= 6; frame++) {
        for (uint32_t i = 0; i < 12; i++) {
            pelti_vk_span span;
            VkDeviceSize size = (i * 7919 + frame * 104729) % 900000 + 1;
            if (pelti_vk_ring_take(ring, size, &span, &error) == PELT_OK) {
                memset(span.data, (int)i, (size_t)size);
            } else {
                assert_int_equal(error.code, PELT_ERROR_MEMORY);
                all = false;
            }
        }
        pelti_vk_ring_close(ring, frame);
        pelti_vk_ring_retire(ring, frame < 2 ? 0 : frame - 2);
    }
    pelti_vk_ring_destroy(ring);
    pelti_vk_heap_destroy(heap);
    return all;
}

static void ring_survives_every_failing_allocation(void **state)
{
    (void)state;
    peltt_vk_bare bare;
    peltt_vk_bare_create(&bare, BLOCK, true);
    for (uint32_t kind = 0; kind < 2; kind++) {
        uint32_t nth = 0;
        bool refused = false;
        for (bool done = false; !done;) {
            nth++;
            bare.host.call_count = 0;
            bare.call_count = 0;
            bare.host.fail_at = kind == 0 ? nth : 0;
            bare.fail_at = kind == 1 ? nth : 0;
            bool all = use_ring(&bare);
            refused = refused || !all;
            done = (kind == 0 ? bare.host.call_count : bare.call_count) < nth; // went past the last one
            assert_int_equal(bare.host.live_blocks, 0);
            assert_int_equal(bare.block_count, 0);
        }
        assert_int_equal(refused, kind == 0); // where a large chunk fails, a small one does
        assert_true(nth > 4);
    }
    peltt_vk_bare_destroy(&bare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_come_back_in_order_once_their_frame_retired),
        cmocka_unit_test(reservations_hold_when_memory_is_out),
        cmocka_unit_test(discarded_ranges_are_free_once_their_frame_retired),
        cmocka_unit_test(memory_of_frames_in_flight_is_not_handed_out),
        cmocka_unit_test(steady_frames_need_no_new_memory),
        cmocka_unit_test(one_large_frame_is_forgotten_after_some_small_ones),
        cmocka_unit_test(small_takes_lie_side_by_side),
        cmocka_unit_test(rewinding_gives_back_what_came_after_the_mark),
        cmocka_unit_test(impossible_takes_are_refused),
        cmocka_unit_test(ring_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests_name("vk_ring", tests, NULL, NULL);
}

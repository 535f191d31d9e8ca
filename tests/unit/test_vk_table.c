// SPDX-License-Identifier: MIT
// Tables on the device hold what the host's copy, or the GPU's own writes, say: after any edits, growth, failures and
// frames in flight.
#include "peltt_random.h"
#include "peltt_vk_bare.h"

#include <setjmp.h>

#include <cmocka.h>

enum {
    BLOCK = 1 << 18,
    MOST_RECORDS = 6000,
    WORDS = 6, // of a record
    RECORD = WORDS * 4,
    FLIGHT = 3
};

typedef struct table_kit {
    peltt_vk_bare bare;
    pelti_vk_heap *device;
    pelti_vk_heap *mapped;
    pelti_vk_ring *ring;
    pelti_vk_copies copies;
    pelti_vk_retirement retirement;
    pelti_vk_table table;
    uint32_t model[MOST_RECORDS][WORDS];
    bool known[MOST_RECORDS]; // records that were written
    uint64_t frame;
    VkCommandBuffer commands[FLIGHT];
    VkFence fences[FLIGHT];
} table_kit;

static bool create(table_kit *kit, bool mirrored)
{
    const pelt_vk_context *context = &kit->bare.context;
    const pelt_allocator *allocator = &context->options.allocator;
    kit->copies = (pelti_vk_copies){.allocator = allocator};
    kit->retirement = (pelti_vk_retirement){.allocator = allocator};
    pelti_vk_table_init(&kit->table, context, NULL, RECORD, mirrored);
    kit->device = NULL;
    kit->mapped = NULL;
    kit->ring = NULL;
    kit->frame = 0;
    memset(kit->known, 0, sizeof kit->known);
    bool done = pelti_vk_heap_create(context, false, &kit->device, NULL) == PELT_OK &&
                pelti_vk_heap_create(context, true, &kit->mapped, NULL) == PELT_OK &&
                pelti_vk_ring_create(allocator, kit->mapped, &kit->ring, NULL) == PELT_OK;
    kit->table.heap = kit->device;
    return done;
}

static void destroy(table_kit *kit)
{
    pelti_release(kit->copies.allocator, kit->copies.items, kit->copies.capacity, sizeof *kit->copies.items);
    pelti_vk_table_destroy(&kit->table);
    pelti_vk_retirement_destroy(&kit->retirement);
    pelti_vk_ring_destroy(kit->ring);
    pelti_vk_heap_destroy(kit->mapped);
    pelti_vk_heap_destroy(kit->device);
}

static table_kit *new_kit(bool mirrored)
{
    table_kit *kit = calloc(1, sizeof *kit);
    assert_non_null(kit);
    peltt_vk_bare_create(&kit->bare, BLOCK, true);
    assert_true(create(kit, mirrored));
    return kit;
}

static void delete_kit(table_kit *kit)
{
    destroy(kit);
    peltt_vk_bare_destroy(&kit->bare);
    free(kit);
}

static void wait_for(table_kit *kit, uint64_t frame)
{
    VkFence *fence = &kit->fences[frame % FLIGHT];
    if (*fence) {
        peltt_vk_wait(&kit->bare.vk, kit->commands[frame % FLIGHT], *fence);
        *fence = VK_NULL_HANDLE;
        pelti_vk_ring_retire(kit->ring, frame);
        pelti_vk_retirement_run(&kit->retirement, frame);
    }
}

// Makes room for one more frame in flight.
static void wait_for_oldest(table_kit *kit)
{
    if (kit->frame + 1 > FLIGHT) {
        wait_for(kit, kit->frame + 1 - FLIGHT);
    }
}

static void wait_for_all(table_kit *kit)
{
    for (uint64_t frame = kit->frame >= FLIGHT ? kit->frame - FLIGHT + 1 : 1; frame <= kit->frame; frame++) {
        wait_for(kit, frame);
    }
}

// Submits the copies as the next frame; tells how many there were.
static uint32_t submit(table_kit *kit)
{
    uint64_t frame = ++kit->frame;
    VkCommandBuffer cmd = peltt_vk_begin(&kit->bare.vk);
    peltt_vk_bare_barrier(&kit->bare, cmd);
    pelti_vk_copies_record(&kit->copies, &kit->bare.context, cmd);
    peltt_vk_bare_barrier(&kit->bare, cmd);
    kit->commands[frame % FLIGHT] = cmd;
    kit->fences[frame % FLIGHT] = peltt_vk_submit(&kit->bare.vk, cmd);
    uint32_t count = kit->copies.count;
    kit->copies.count = 0;
    pelti_vk_ring_close(kit->ring, frame);
    pelti_vk_table_flushed(&kit->table, &kit->retirement, frame);
    return count;
}

static uint32_t flush(table_kit *kit)
{
    pelt_error error = {0};
    wait_for_oldest(kit);
    if (pelti_vk_table_flush(&kit->table, kit->ring, &kit->copies, &error) != PELT_OK) {
        fail_msg("%s", error.message);
    }
    return submit(kit);
}

static void compare(table_kit *kit)
{
    static uint32_t records[MOST_RECORDS][WORDS];
    const pelti_vk_table *t = &kit->table;
    peltt_vk_read(&kit->bare.vk, t->range.buffer, t->range.offset, (VkDeviceSize)t->count * RECORD, records);
    for (uint32_t i = 0; i < t->count; i++) {
        if (kit->known[i] && memcmp(records[i], kit->model[i], RECORD) != 0) {
            fail_msg("record %u of %u starts with %u, not %u", i, t->count, records[i][0], kit->model[i][0]);
        }
    }
}

static void reserve(table_kit *kit, uint32_t slot)
{
    pelt_error error = {0};
    if (pelti_vk_table_reserve(&kit->table, slot, &kit->retirement, kit->frame, &error) != PELT_OK) {
        fail_msg("%s", error.message);
    }
}

static void edit(table_kit *kit, peltt_random *random, uint32_t slot)
{
    uint32_t *record = pelti_vk_table_edit(&kit->table, slot);
    for (uint32_t w = 0; w < WORDS; w++) {
        record[w] = (uint32_t)peltt_random_next(random);
    }
    memcpy(kit->model[slot], record, RECORD);
    kit->known[slot] = true;
}

static void mirrored_table_follows_edits_and_growth(void **state)
{
    (void)state;
    table_kit *kit = new_kit(true);
    peltt_random random = {.state = 61};
    for (uint32_t frame = 0; frame < 200; frame++) {
        uint32_t most = frame * 30 + 1;
        reserve(kit, peltt_random_below(&random, most));
        uint32_t edits = peltt_random_below(&random, frame % 3 == 0 ? 4 : 200);
        for (uint32_t i = 0; i < edits; i++) {
            if (peltt_random_chance(&random, 0.02)) {
                reserve(kit, peltt_random_below(&random, most)); // grows with edits pending
            }
            edit(kit, &random, peltt_random_below(&random, kit->table.count));
        }
        flush(kit);
        if (frame % 9 == 0) {
            compare(kit);
        }
    }
    compare(kit);
    for (uint32_t i = 0; i < kit->table.count; i++) {
        static const uint32_t zero[WORDS];
        assert_memory_equal(pelti_vk_table_get(&kit->table, i), kit->known[i] ? kit->model[i] : zero, RECORD);
    }
    wait_for_all(kit);
    assert_int_equal(kit->retirement.reserved, 0);
    assert_int_equal(kit->retirement.count, 0);
    delete_kit(kit);
}

// Few edits of a table of many are sorted in another way than many.
static void neighbours_are_copied_together(void **state)
{
    (void)state;
    table_kit *kit = new_kit(true);
    peltt_random random = {.state = 62};
    reserve(kit, MOST_RECORDS - 1);
    assert_int_equal(flush(kit), 1);
    compare(kit);
    static const uint32_t few[] = {5000, 17, 4999, 18, 16, 18};
    for (uint32_t i = 0; i < 5; i++) {
        edit(kit, &random, few[i]);
    }
    assert_int_equal(flush(kit), 2);
    compare(kit);
    for (uint32_t i = 900; i-- > 100;) {
        edit(kit, &random, i % 10 == 9 ? i + 3000 : i);
    }
    assert_int_equal(flush(kit), 80 + 80);
    compare(kit);
    for (uint32_t i = 0; i < kit->table.count; i += 2) { // more than fit into one command
        edit(kit, &random, i);
    }
    assert_int_equal(flush(kit), MOST_RECORDS / 2);
    compare(kit);
    assert_int_equal(flush(kit), 0);
    compare(kit);
    wait_for_all(kit);
    delete_kit(kit);
}

// The GPU's writes: a fill of some records in a command buffer of its own.
static void fill(table_kit *kit, uint32_t first, uint32_t count, uint32_t value)
{
    const pelti_vk_range *range = &kit->table.range;
    VkCommandBuffer cmd = peltt_vk_begin(&kit->bare.vk);
    peltt_vk_bare_barrier(&kit->bare, cmd);
    PELTT_VK(&kit->bare.vk, vkCmdFillBuffer)
    (cmd, range->buffer, range->offset + (VkDeviceSize)first * RECORD, (VkDeviceSize)count * RECORD, value);
    peltt_vk_bare_barrier(&kit->bare, cmd);
    peltt_vk_run(&kit->bare.vk, cmd);
    for (uint32_t i = first; i < first + count; i++) {
        for (uint32_t w = 0; w < WORDS; w++) {
            kit->model[i][w] = value;
        }
        kit->known[i] = true;
    }
}

static void tables_of_the_gpu_keep_their_contents_when_they_grow(void **state)
{
    (void)state;
    table_kit *kit = new_kit(false);
    peltt_random random = {.state = 63};
    uint32_t copies = 0;
    for (uint32_t frame = 0; kit->table.count < MOST_RECORDS; frame++) {
        uint32_t old = kit->table.count;
        uint32_t grown = old + 1 + peltt_random_below(&random, old / 2 + 50);
        grown = grown < MOST_RECORDS ? grown : MOST_RECORDS;
        reserve(kit, grown - 1);
        if (frame % 2 == 0) { // twice before the next record
            grown = grown * 3 < MOST_RECORDS ? grown * 3 : MOST_RECORDS;
            reserve(kit, grown - 1);
        }
        copies += flush(kit);
        assert_null(kit->table.records);
        fill(kit, old, grown - old, (uint32_t)peltt_random_next(&random));
        uint32_t first = peltt_random_below(&random, grown);
        fill(kit, first, 1 + peltt_random_below(&random, grown - first), (uint32_t)peltt_random_next(&random));
        compare(kit);
    }
    assert_true(copies > 3);
    reserve(kit, 3);
    assert_int_equal(flush(kit), 0);
    assert_int_equal(kit->table.count, MOST_RECORDS);
    wait_for_all(kit);
    assert_int_equal(kit->retirement.reserved, 0);
    assert_int_equal(kit->retirement.count, 0);
    delete_kit(kit);
}

static void tables_end_at_the_largest_buffer(void **state)
{
    (void)state;
    table_kit *kit = new_kit(true);
    destroy(kit);
    kit->bare.context.max_buffer_size = 100 * RECORD + 70;
    assert_true(create(kit, true));
    peltt_random random = {.state = 64};
    uint32_t most = (100 * RECORD + 70) / 64 * 64 / RECORD;
    reserve(kit, 63);
    edit(kit, &random, 63);
    reserve(kit, 64); // twice as many would be too many
    assert_int_equal(kit->table.capacity, most);
    reserve(kit, most - 1);
    pelt_error error = {0};
    pelti_vk_table *t = &kit->table;
    assert_int_equal(pelti_vk_table_reserve(t, most, &kit->retirement, 0, &error), PELT_ERROR_LIMIT);
    assert_int_equal(pelti_vk_table_reserve(t, PELT_NONE, &kit->retirement, 0, &error), PELT_ERROR_LIMIT);
    assert_int_equal(error.code, PELT_ERROR_LIMIT);
    assert_int_equal(kit->table.count, most);
    flush(kit);
    compare(kit);
    wait_for_all(kit);
    delete_kit(kit);
}

// Grows and edits in spite of failing allocations, each tried until it succeeds; the result is as if none had failed.
static bool use_table(table_kit *kit, bool mirrored)
{
    if (!create(kit, mirrored)) {
        destroy(kit);
        return false;
    }
    bool all = true;
    peltt_random random = {.state = 65};
    for (uint32_t frame = 0; frame < 5; frame++) {
        uint32_t old = kit->table.count;
        uint32_t slot = 50 + frame / 2 * 300; // frames without growth upload record by record
        pelt_error error = {0};
        while (pelti_vk_table_reserve(&kit->table, slot, &kit->retirement, kit->frame, &error) != PELT_OK) {
            assert_int_equal(error.code, PELT_ERROR_MEMORY);
            assert_int_equal(kit->table.count, old);
            all = false;
        }
        for (uint32_t i = 0; mirrored && i < 200; i++) {
            edit(kit, &random, peltt_random_below(&random, slot + 1));
        }
        wait_for_oldest(kit);
        while (pelti_vk_table_flush(&kit->table, kit->ring, &kit->copies, &error) != PELT_OK) {
            assert_int_equal(error.code, PELT_ERROR_MEMORY);
            assert_int_equal(kit->copies.count, 0);
            all = false;
        }
        submit(kit);
        if (slot >= old && !mirrored) {
            fill(kit, old, slot + 1 - old, frame + 1);
        }
    }
    compare(kit);
    wait_for_all(kit);
    assert_int_equal(kit->retirement.reserved, 0);
    destroy(kit);
    return all;
}

static void table_survives_every_failing_allocation(void **state)
{
    (void)state;
    table_kit *kit = new_kit(true);
    destroy(kit);
    peltt_vk_bare *bare = &kit->bare;
    for (uint32_t kind = 0; kind < 4; kind++) {
        bool of_host = kind % 2 == 0;
        uint32_t nth = 1;
        for (bool done = false; !done; nth++) {
            bare->host.call_count = 0;
            bare->call_count = 0;
            bare->host.fail_at = of_host ? nth : 0;
            bare->fail_at = of_host ? 0 : nth;
            bool all = use_table(kit, kind / 2 == 0);
            done = (of_host ? bare->host.call_count : bare->call_count) < nth; // went past the last one
            assert_true(all || !done);
            assert_int_equal(bare->host.live_blocks, 0);
            assert_int_equal(bare->block_count, 0);
        }
        assert_true(nth > 2);
    }
    peltt_vk_bare_destroy(bare);
    free(kit);
}

// The first of the table's copies continues one that was there before; when a later one fails, that one is as it was.
static void failed_flush_leaves_earlier_copies_alone(void **state)
{
    (void)state;
    table_kit *kit = new_kit(true);
    peltt_random random = {.state = 66};
    pelti_vk_range other;
    assert_int_equal(pelti_vk_heap_allocate(kit->device, 64, &other, NULL), PELT_OK);
    reserve(kit, 299);
    assert_int_equal(kit->table.range.offset, other.offset + 64);
    flush(kit);
    for (uint32_t i = 0; i < 300; i += 2) {
        edit(kit, &random, i);
    }
    pelti_vk_span span;
    assert_int_equal(pelti_vk_ring_take(kit->ring, 64, &span, NULL), PELT_OK);
    memset(span.data, 7, 64);
    pelti_vk_copy copy = {span.buffer, other.buffer, {span.offset, other.offset, 64}};
    assert_true(pelti_vk_copies_add(&kit->copies, &copy));
    peltt_alloc *host = &kit->bare.host;
    host->fail_at = host->call_count + 1;
    assert_int_equal(pelti_vk_table_flush(&kit->table, kit->ring, &kit->copies, NULL), PELT_ERROR_MEMORY);
    assert_int_equal(kit->copies.count, 1);
    assert_int_equal(kit->copies.items[0].region.size, 64);
    assert_int_equal(flush(kit), 151);
    compare(kit);
    unsigned char bytes[64];
    peltt_vk_read(&kit->bare.vk, other.buffer, other.offset, 64, bytes);
    assert_true(bytes[0] == 7 && memcmp(bytes, bytes + 1, 63) == 0);
    wait_for_all(kit);
    delete_kit(kit);
}

static void copies_of_neighbours_merge(void **state)
{
    (void)state;
    peltt_alloc host = {0};
    pelt_allocator allocator = peltt_alloc_make(&host);
    pelti_vk_copies c = {.allocator = &allocator};
    VkBuffer a = (VkBuffer)(uintptr_t)16;
    VkBuffer b = (VkBuffer)(uintptr_t)32;
    static const VkBufferCopy next[] = {{0, 100, 8}, {8, 108, 4}, {12, 112, 1}, {13, 114, 1}, {15, 115, 1}};
    for (size_t i = 0; i < sizeof next / sizeof next[0]; i++) {
        assert_true(pelti_vk_copies_add(&c, &(pelti_vk_copy){a, b, next[i]}));
    }
    assert_int_equal(c.count, 3);
    assert_int_equal(c.items[0].region.size, 13);
    assert_true(pelti_vk_copies_add(&c, &(pelti_vk_copy){b, b, {16, 116, 1}}));
    assert_true(pelti_vk_copies_add(&c, &(pelti_vk_copy){b, a, {17, 117, 1}}));
    assert_int_equal(c.count, 5);
    assert_true(pelti_vk_copies_add(&c, &(pelti_vk_copy){b, a, {18, 119, 0}}));
    assert_int_equal(c.count, 5);
    host.fail_at = host.call_count + 1;
    uint32_t i = 0;
    while (pelti_vk_copies_add(&c, &(pelti_vk_copy){b, a, {20 + 2 * (VkDeviceSize)i, 200, 1}})) {
        i++;
    }
    assert_int_equal(c.count, 5 + i);
    assert_int_equal(c.count, c.capacity);
    assert_true(pelti_vk_copies_add(&c, &(pelti_vk_copy){b, a, {21 + 2 * (VkDeviceSize)i, 200, 1}}));
    pelti_release(&allocator, c.items, c.capacity, sizeof *c.items);
    assert_int_equal(host.live_blocks, 0);
}

// vkCmdCopyBuffer here only notes what it is asked for.
static struct {
    uint32_t commands;
    uint32_t regions;
    VkDeviceSize next; // srcOffset of the next region
} noted;

static VKAPI_ATTR void VKAPI_CALL note_copy(VkCommandBuffer cmd, VkBuffer source, VkBuffer destination, uint32_t count,
                                            const VkBufferCopy *regions)
{
    (void)cmd;
    noted.commands++;
    noted.regions += count;
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(regions[i].srcOffset, noted.next);
        assert_int_equal(regions[i].dstOffset % 3, (uintptr_t)source / 16 % 3); // as added for these buffers
        assert_int_equal(regions[i].size, (uintptr_t)destination);
        noted.next += 1000;
    }
}

static void copies_of_the_same_buffers_share_commands(void **state)
{
    (void)state;
    peltt_alloc host = {0};
    pelt_allocator allocator = peltt_alloc_make(&host);
    pelti_vk_copies c = {.allocator = &allocator};
    pelt_vk_context context = {.vk = {.vkCmdCopyBuffer = note_copy}};
    pelti_vk_copies_record(&c, &context, NULL);
    assert_int_equal(noted.commands, 0);
    static const struct {
        uintptr_t source;
        uintptr_t destination;
        uint32_t count;
    } runs[] = {{16, 16, 5}, {16, 32, 1}, {32, 32, 600}, {16, 32, 2}};
    VkDeviceSize offset = 0;
    for (size_t r = 0; r < sizeof runs / sizeof runs[0]; r++) {
        for (uint32_t i = 0; i < runs[r].count; i++) {
            pelti_vk_copy copy = {(VkBuffer)runs[r].source,
                                  (VkBuffer)runs[r].destination,
                                  {offset, 3 * (VkDeviceSize)i + runs[r].source / 16, runs[r].destination}};
            assert_true(pelti_vk_copies_add(&c, &copy));
            offset += 1000;
        }
    }
    pelti_vk_copies_record(&c, &context, NULL);
    assert_int_equal(noted.regions, 608);
    assert_int_equal(noted.commands, 3 + (600 + 255) / 256);
    assert_int_equal(c.count, 608);
    pelti_release(&allocator, c.items, c.capacity, sizeof *c.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mirrored_table_follows_edits_and_growth),
        cmocka_unit_test(neighbours_are_copied_together),
        cmocka_unit_test(tables_of_the_gpu_keep_their_contents_when_they_grow),
        cmocka_unit_test(tables_end_at_the_largest_buffer),
        cmocka_unit_test(table_survives_every_failing_allocation),
        cmocka_unit_test(failed_flush_leaves_earlier_copies_alone),
        cmocka_unit_test(copies_of_neighbours_merge),
        cmocka_unit_test(copies_of_the_same_buffers_share_commands),
    };
    return cmocka_run_group_tests_name("vk_table", tests, NULL, NULL);
}

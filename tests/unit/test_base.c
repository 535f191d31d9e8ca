// SPDX-License-Identifier: MIT
// Result names, checked sizes, texts that are cut, errors and warnings.
#include "base/base.h"
#include "peltt_alloc.h"
#include "peltt_warnings.h"

#include <setjmp.h>

#include <cmocka.h>

static void result_names_are_stable(void **state)
{
    (void)state;
    assert_string_equal(pelt_result_name(PELT_OK), "OK");
    assert_string_equal(pelt_result_name(PELT_ERROR_ARGUMENT), "ARGUMENT");
    assert_string_equal(pelt_result_name(PELT_ERROR_IO), "IO");
    assert_string_equal(pelt_result_name(PELT_ERROR_INVALID), "INVALID");
    assert_string_equal(pelt_result_name(PELT_ERROR_UNSUPPORTED), "UNSUPPORTED");
    assert_string_equal(pelt_result_name(PELT_ERROR_LIMIT), "LIMIT");
    assert_string_equal(pelt_result_name(PELT_ERROR_MEMORY), "MEMORY");
    assert_string_equal(pelt_result_name(PELT_ERROR_DEVICE), "DEVICE");
    assert_non_null(pelt_result_name((pelt_result)99));
}

static void version_is_the_headers(void **state)
{
    (void)state;
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", PELT_VERSION_MAJOR, PELT_VERSION_MINOR, PELT_VERSION_PATCH);
    assert_string_equal(pelt_version(), text);
}

static void products_and_sums_that_overflow_are_refused(void **state)
{
    (void)state;
    uint64_t out = 7;
    assert_true(pelti_mul(UINT64_C(1) << 32, (UINT64_C(1) << 32) - 1, &out));
    assert_true(out == UINT64_C(0xFFFFFFFF00000000));
    assert_false(pelti_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &out));
    assert_false(pelti_mul(UINT64_MAX, 2, &out));
    assert_true(pelti_mul(UINT64_MAX, 0, &out));
    assert_true(out == 0);
    assert_true(pelti_add(UINT64_MAX, 0, &out));
    assert_false(pelti_add(UINT64_MAX, 1, &out));
}

static void allocation_of_nothing_or_too_much_is_null(void **state)
{
    (void)state;
    peltt_alloc memory = {0};
    pelt_allocator allocator = peltt_alloc_make(&memory);
    assert_null(pelti_allocate(&allocator, 0, 4));
    assert_null(pelti_allocate(&allocator, UINT64_MAX, 2));
    assert_null(pelti_allocate(&allocator, UINT64_MAX / 2 + 1, 1));
    assert_int_equal(memory.call_count, 0);
}

static void default_allocator_grows_and_keeps_contents(void **state)
{
    (void)state;
    pelt_allocator allocator = {0};
    char *text = pelti_allocate(&allocator, 4, 1);
    assert_non_null(text);
    memcpy(text, "abc", 4);
    text = pelti_resize(&allocator, text, 4, 4096);
    assert_non_null(text);
    assert_string_equal(text, "abc");
    assert_null(pelti_resize(&allocator, text, 4096, 0));
}

static void counting_allocator_fails_the_asked_call_only(void **state)
{
    (void)state;
    peltt_alloc memory = {.fail_at = 2};
    pelt_allocator allocator = peltt_alloc_make(&memory);
    char *block = allocator.resize(allocator.user, NULL, 0, 10);
    assert_non_null(block);
    memcpy(block, "123456789", 10);
    assert_null(allocator.resize(allocator.user, block, 10, 20)); // the second call; the block stays as it was
    assert_string_equal(block, "123456789");
    block = allocator.resize(allocator.user, block, 10, 5); // shrinking is no call
    block = allocator.resize(allocator.user, block, 5, 30);
    assert_non_null(block);
    assert_memory_equal(block, "12345", 5);
    assert_int_equal(memory.call_count, 3);
    assert_int_equal(memory.live_bytes, 30);
    assert_int_equal(memory.live_blocks, 1);
    assert_null(allocator.resize(allocator.user, block, 30, 0));
    assert_int_equal(memory.live_bytes, 0);
    assert_true(memory.peak_bytes >= 30);
}

static void error_texts_are_cut_between_characters(void **state)
{
    (void)state;
    // 1, 2, 3 and 4 byte characters, so that the end of the field falls at every place in one.
    static const char *const characters[] = {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x90\x99"};
    for (size_t c = 0; c < 4; c++) {
        size_t size = strlen(characters[c]);
        for (size_t lead = 0; lead < 4; lead++) {
            char text[800] = "";
            memset(text, 'x', lead);
            for (size_t i = lead; i + size < sizeof text; i += size) {
                memcpy(text + i, characters[c], size);
            }
            pelt_error error;
            assert_int_equal(pelti_fail(&error, PELT_ERROR_IO, "", "%s", text), PELT_ERROR_IO);
            size_t fits = sizeof error.message - 1;
            assert_int_equal(strlen(error.message), lead + (fits - lead) / size * size);
            assert_memory_equal(error.message, text, strlen(error.message));
        }
    }
}

static void long_text_cut_by_utf8_cut_ends_on_a_border(void **state)
{
    (void)state;
    assert_int_equal(pelti_utf8_cut("abc", 3, 5), 3);
    assert_int_equal(pelti_utf8_cut("abc", 3, 2), 2);
    assert_int_equal(pelti_utf8_cut("a\xE2\x82\xAC", 4, 3), 1);
    assert_int_equal(pelti_utf8_cut("a\xE2\x82\xAC"
                                    "b",
                                    5, 4),
                     4);
}

static void failing_fills_every_field_anew(void **state)
{
    (void)state;
    pelt_error error;
    memset(&error, 0x55, sizeof error);
    assert_int_equal(pelti_fail(&error, PELT_ERROR_LIMIT, "/nodes/1", "node %d", 1), PELT_ERROR_LIMIT);
    assert_int_equal(error.code, PELT_ERROR_LIMIT);
    assert_string_equal(error.message, "node 1");
    assert_string_equal(error.where, "/nodes/1");
    assert_string_equal(error.hint, "");
    assert_true(error.mesh == PELT_NONE && error.primitive == PELT_NONE);
    assert_true(error.vertex == PELT_NONE && error.joint == PELT_NONE);
    assert_int_equal(pelti_fail(NULL, PELT_ERROR_LIMIT, "", "no error object"), PELT_ERROR_LIMIT);
}

static void warnings_go_to_the_log_or_nowhere(void **state)
{
    (void)state;
    peltt_warnings log = {0};
    pelt_log to = peltt_warnings_make(&log);
    pelti_warn(&to, "/a", "by %d", 3);
    assert_int_equal(log.count, 1);
    assert_string_equal(log.messages[0].message, "by 3");
    assert_string_equal(log.messages[0].where, "/a");
    pelti_warn(&(pelt_log){0}, "/a", "unheard");
}

static void mark(void *context, uint32_t task_index)
{
    ((uint8_t *)context)[task_index]++;
}

static void parallel_run_without_threads_does_every_task(void **state)
{
    (void)state;
    uint8_t done[100] = {0};
    pelti_parallel_run(NULL, 50, mark, done);
    pelti_parallel_run(&(pelt_parallel){0}, 100, mark, done);
    pelti_parallel_run(NULL, 0, mark, done);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(done[i], i < 50 ? 2 : 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(result_names_are_stable),
        cmocka_unit_test(version_is_the_headers),
        cmocka_unit_test(products_and_sums_that_overflow_are_refused),
        cmocka_unit_test(allocation_of_nothing_or_too_much_is_null),
        cmocka_unit_test(default_allocator_grows_and_keeps_contents),
        cmocka_unit_test(counting_allocator_fails_the_asked_call_only),
        cmocka_unit_test(error_texts_are_cut_between_characters),
        cmocka_unit_test(long_text_cut_by_utf8_cut_ends_on_a_border),
        cmocka_unit_test(failing_fills_every_field_anew),
        cmocka_unit_test(warnings_go_to_the_log_or_nowhere),
        cmocka_unit_test(parallel_run_without_threads_does_every_task),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}

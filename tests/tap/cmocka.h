// SPDX-License-Identifier: MIT
// The part of cmocka's interface that the unit tests use, for targets that have no cmocka: same names, same meaning,
// results as TAP. Assertions belong on the thread that runs the test.
#ifndef PELTT_TAP_CMOCKA_H
#define PELTT_TAP_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__MINGW32__) && !defined(__clang__)
#define PELTT_TAP_PRINTF(format_index, first) __attribute__((format(gnu_printf, format_index, first)))
#elif defined(__GNUC__)
#define PELTT_TAP_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define PELTT_TAP_PRINTF(format_index, first)
#endif

typedef int (*peltt_tap_fixture)(void **state);

struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
    peltt_tap_fixture setup_func;
    peltt_tap_fixture teardown_func;
    void *initial_state;
};

#define cmocka_unit_test_setup_teardown(test, setup, teardown)                                                         \
    {                                                                                                                  \
#test, test, setup, teardown, NULL                                                                             \
    }
#define cmocka_unit_test_setup(test, setup) cmocka_unit_test_setup_teardown(test, setup, NULL)
#define cmocka_unit_test_teardown(test, teardown) cmocka_unit_test_setup_teardown(test, NULL, teardown)
#define cmocka_unit_test(test) cmocka_unit_test_setup_teardown(test, NULL, NULL)

// How many tests failed.
#define _cmocka_run_group_tests peltt_tap_run
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                                      \
    peltt_tap_run(name, tests, sizeof(tests) / sizeof(tests)[0], setup, teardown)
#define cmocka_run_group_tests(tests, setup, teardown) cmocka_run_group_tests_name(#tests, tests, setup, teardown)
int peltt_tap_run(const char *group, const struct CMUnitTest *tests, size_t count, peltt_tap_fixture setup,
                  peltt_tap_fixture teardown);

void print_message(const char *format, ...) PELTT_TAP_PRINTF(1, 2);
void print_error(const char *format, ...) PELTT_TAP_PRINTF(1, 2);

// Each ends the test unless it holds.
void peltt_tap_true(bool holds, const char *text, const char *file, int line);
void peltt_tap_integers(uint64_t a, uint64_t b, bool equal, const char *file, int line);
void peltt_tap_range(uint64_t value, uint64_t low, uint64_t high, const char *file, int line);
void peltt_tap_floats(float a, float b, float tolerance, const char *file, int line);
void peltt_tap_strings(const char *a, const char *b, bool equal, const char *file, int line);
void peltt_tap_memories(const void *a, const void *b, size_t size, bool equal, const char *file, int line);

// Where the test ends: failed, or skipped.
_Noreturn void peltt_tap_fail(const char *file, int line, const char *format, ...) PELTT_TAP_PRINTF(3, 4);
_Noreturn void peltt_tap_skip(void);

#define assert_true(c) peltt_tap_true(!!(c), #c, __FILE__, __LINE__)
#define assert_false(c) peltt_tap_true(!(c), "!(" #c ")", __FILE__, __LINE__)
#define assert_null(p) peltt_tap_true((p) == NULL, #p " == NULL", __FILE__, __LINE__)
#define assert_non_null(p) peltt_tap_true((p) != NULL, #p " != NULL", __FILE__, __LINE__)
#define assert_int_equal(a, b) peltt_tap_integers((uint64_t)(a), (uint64_t)(b), true, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) peltt_tap_integers((uint64_t)(a), (uint64_t)(b), false, __FILE__, __LINE__)
#define assert_ptr_equal(a, b) peltt_tap_integers((uintptr_t)(a), (uintptr_t)(b), true, __FILE__, __LINE__)
#define assert_ptr_not_equal(a, b) peltt_tap_integers((uintptr_t)(a), (uintptr_t)(b), false, __FILE__, __LINE__)
#define assert_in_range(value, low, high)                                                                              \
    peltt_tap_range((uint64_t)(value), (uint64_t)(low), (uint64_t)(high), __FILE__, __LINE__)
#define assert_float_equal(a, b, tolerance)                                                                            \
    peltt_tap_floats((float)(a), (float)(b), (float)(tolerance), __FILE__, __LINE__)
#define assert_string_equal(a, b) peltt_tap_strings(a, b, true, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) peltt_tap_strings(a, b, false, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) peltt_tap_memories(a, b, size, true, __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, size) peltt_tap_memories(a, b, size, false, __FILE__, __LINE__)
#define fail() peltt_tap_fail(__FILE__, __LINE__, "fail()")
#define fail_msg(...) peltt_tap_fail(__FILE__, __LINE__, __VA_ARGS__)
#define skip() peltt_tap_skip()

#endif

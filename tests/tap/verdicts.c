// SPDX-License-Identifier: MIT
// Every assertion once where it holds and once where it does not: tests whose names begin with fails_ must fail, skips_
// be skipped, and the others pass, under cmocka as under tests/tap. run.sh compares.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int fixture_calls;

static int good_fixture(void **state)
{
    fixture_calls++;
    *state = &fixture_calls;
    return 0;
}

static int bad_fixture(void **state)
{
    (void)state;
    return -1;
}

static void holds(void **state)
{
    (void)state;
    const char text[] = "text";
    const char *const pointer = text;
    assert_true(text[0] == 't');
    assert_false(text[0] == 'x');
    assert_null(NULL);
    assert_non_null(text);
    assert_int_equal(-1, -1);
    assert_int_not_equal(1, 2);
    assert_ptr_equal(pointer, text);
    assert_ptr_not_equal(pointer, text + 1);
    assert_in_range(1, 1, 3);
    assert_in_range(3, 1, 3);
    assert_float_equal(1.0F, 1.25F, 0.25F);
    assert_string_equal(text, "text");
    assert_string_not_equal(text, "texts");
    assert_memory_equal(text, "text", 5);
    assert_memory_not_equal(text, "tent", 4);
}

static void fixtures_are_called(void **state)
{
    assert_ptr_equal(*state, &fixture_calls);
    assert_int_equal(fixture_calls, 1);
}

static void teardown_was_called(void **state)
{
    (void)state;
    assert_int_equal(fixture_calls, 2);
}

static void skips_here(void **state)
{
    (void)state;
    skip();
}

static void goes_on_after_a_failure(void **state)
{
    (void)state;
}

#define FAILS(name, statement)                                                                                         \
    static void fails_##name(void **state)                                                                             \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        statement;                                                                                                     \
    }

FAILS(true, assert_true(fixture_calls < 0))
FAILS(false, assert_false(fixture_calls >= 0))
FAILS(null, assert_null(&fixture_calls))
FAILS(non_null, assert_non_null(*state))
FAILS(int_equal, assert_int_equal(fixture_calls, -1))
FAILS(int_equal_in_high_bits, assert_int_equal(1ULL << 40, 0))
FAILS(int_not_equal, assert_int_not_equal(fixture_calls, fixture_calls))
FAILS(ptr_equal, assert_ptr_equal(&fixture_calls, state))
FAILS(ptr_not_equal, assert_ptr_not_equal(state, state))
FAILS(range_below, assert_in_range(0, 1, 3))
FAILS(range_above, assert_in_range(4, 1, 3))
FAILS(float_equal, assert_float_equal(1.0F, 1.5F, 0.25F))
FAILS(string_equal, assert_string_equal("text", "texts"))
FAILS(string_not_equal, assert_string_not_equal("text", "text"))
FAILS(memory_equal, assert_memory_equal("text", "texT", 4))
FAILS(memory_not_equal, assert_memory_not_equal("text", "text", 4))
FAILS(fail, fail())
FAILS(fail_msg, fail_msg("%s %d", "told", 1))
FAILS(with_bad_setup, assert_true(state != NULL))

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fixtures_are_called, good_fixture, good_fixture),
        cmocka_unit_test(teardown_was_called),
        cmocka_unit_test(holds),
        cmocka_unit_test(skips_here),
        cmocka_unit_test(fails_true),
        cmocka_unit_test(goes_on_after_a_failure),
        cmocka_unit_test(fails_false),
        cmocka_unit_test(fails_null),
        cmocka_unit_test(fails_non_null),
        cmocka_unit_test(fails_int_equal),
        cmocka_unit_test(fails_int_equal_in_high_bits),
        cmocka_unit_test(fails_int_not_equal),
        cmocka_unit_test(fails_ptr_equal),
        cmocka_unit_test(fails_ptr_not_equal),
        cmocka_unit_test(fails_range_below),
        cmocka_unit_test(fails_range_above),
        cmocka_unit_test(fails_float_equal),
        cmocka_unit_test(fails_string_equal),
        cmocka_unit_test(fails_string_not_equal),
        cmocka_unit_test(fails_memory_equal),
        cmocka_unit_test(fails_memory_not_equal),
        cmocka_unit_test(fails_fail),
        cmocka_unit_test(fails_fail_msg),
        cmocka_unit_test_setup(fails_with_bad_setup, bad_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

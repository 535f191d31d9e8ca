// SPDX-License-Identifier: MIT
// Instruction sets: names, what is available, and how caps and disabled ones choose.
#include "base/cpu.h"

#include <pelt/base.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void names_are_stable_and_parse_back(void **state)
{
    (void)state;
    static const char *const names[PELT_ISA_COUNT] = {"best", "scalar", "sse2", "avx2", "avx512", "neon"};
    for (int i = 0; i < PELT_ISA_COUNT; i++) {
        assert_string_equal(pelt_isa_name((pelt_isa)i), names[i]);
        assert_int_equal(pelt_isa_parse(names[i]), i);
    }
    assert_null(pelt_isa_name(PELT_ISA_COUNT));
    assert_null(pelt_isa_name((pelt_isa)-1));
    assert_int_equal(pelt_isa_parse("AVX2"), PELT_ISA_COUNT);
    assert_int_equal(pelt_isa_parse(""), PELT_ISA_COUNT);
}

static void scalar_is_always_left(void **state)
{
    (void)state;
    assert_true(pelt_isa_available(PELT_ISA_SCALAR));
    assert_false(pelt_isa_available(PELT_ISA_BEST));
    assert_false(pelt_isa_available(PELT_ISA_COUNT));
    assert_int_equal(pelt_isa_choose(PELT_ISA_SCALAR, 0), PELT_ISA_SCALAR);
    assert_int_equal(pelt_isa_choose(PELT_ISA_BEST, UINT32_MAX), PELT_ISA_SCALAR);
}

static void the_best_that_is_allowed_is_chosen(void **state)
{
    (void)state;
    for (uint32_t disabled = 0; disabled < 1U << PELT_ISA_COUNT; disabled++) {
        for (int cap = PELT_ISA_BEST; cap < PELT_ISA_COUNT; cap++) {
            pelt_isa chosen = pelt_isa_choose((pelt_isa)cap, disabled);
            assert_true(pelt_isa_available(chosen));
            assert_true(cap == PELT_ISA_BEST || chosen <= (pelt_isa)cap);
            assert_true(chosen == PELT_ISA_SCALAR || (disabled >> chosen & 1) == 0);
            for (int better = (int)chosen + 1; better < PELT_ISA_COUNT; better++) {
                bool allowed = (cap == PELT_ISA_BEST || better <= cap) && (disabled >> better & 1) == 0;
                assert_false(allowed && pelt_isa_available((pelt_isa)better));
            }
        }
    }
}

static void the_cache_has_a_size(void **state)
{
    (void)state;
    uint64_t size = pelti_cpu_cache_size();
    assert_true(size >= UINT64_C(1) << 18 && size <= UINT64_C(1) << 34);
    assert_true(pelti_cpu_cache_size() == size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_stable_and_parse_back),
        cmocka_unit_test(scalar_is_always_left),
        cmocka_unit_test(the_best_that_is_allowed_is_chosen),
        cmocka_unit_test(the_cache_has_a_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

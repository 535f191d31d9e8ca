// SPDX-License-Identifier: MIT
// Runs a group of tests once for each instruction set: tests put peltt_isa into their jobs. Those that this machine or
// this build has not are skipped by name.
#ifndef PELTT_ISA_H
#define PELTT_ISA_H

#include <pelt/base.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static pelt_isa peltt_isa;

static void instruction_set_is_not_here(void **state)
{
    (void)state;
    print_message("# no %s here: not tested\n", pelt_isa_name(peltt_isa));
    skip();
}

// Instruction sets of another architecture are not worth a word.
static inline bool peltt_isa_is_foreign(pelt_isa isa)
{
#if defined(__x86_64__)
    return isa == PELT_ISA_NEON;
#elif defined(__aarch64__)
    return isa != PELT_ISA_NEON && isa != PELT_ISA_SCALAR;
#else
    return isa != PELT_ISA_SCALAR;
#endif
}

// Returns how many tests failed.
#define PELTT_RUN_ISAS(tests) peltt_run_isas(tests, sizeof(tests) / sizeof(tests)[0])

static int peltt_run_isas(const struct CMUnitTest *tests, size_t count)
{
    const struct CMUnitTest absent[] = {cmocka_unit_test(instruction_set_is_not_here)};
    int failed = 0;
    for (peltt_isa = PELT_ISA_SCALAR; peltt_isa < PELT_ISA_COUNT; peltt_isa++) {
        if (peltt_isa_is_foreign(peltt_isa)) {
            continue;
        }
        bool here = pelt_isa_available(peltt_isa);
        failed +=
            _cmocka_run_group_tests(pelt_isa_name(peltt_isa), here ? tests : absent, here ? count : 1, NULL, NULL);
    }
    return failed;
}

#endif

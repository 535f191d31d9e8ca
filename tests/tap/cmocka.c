// SPDX-License-Identifier: MIT
// Runs unit tests and prints TAP (https://testanything.org).
#include "cmocka.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum outcome {
    RUNNING = 0, // setjmp's own answer
    FAILED,
    SKIPPED
} outcome;

static jmp_buf end_of_test;
static bool inside_test;

void print_message(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

void print_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

// Fixtures may fail as well, but nothing is left to jump to when a group's do.
static _Noreturn void leave(outcome how)
{
    if (!inside_test) {
        printf("Bail out! A fixture failed\n");
        fflush(stdout);
        exit(1);
    }
    longjmp(end_of_test, how);
}

void peltt_tap_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "# %s:%d: ", file, line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    leave(FAILED);
}

void peltt_tap_skip(void)
{
    leave(SKIPPED);
}

void peltt_tap_true(bool holds, const char *text, const char *file, int line)
{
    if (!holds) {
        peltt_tap_fail(file, line, "%s", text);
    }
}

void peltt_tap_integers(uint64_t a, uint64_t b, bool equal, const char *file, int line)
{
    if ((a == b) != equal) {
        peltt_tap_fail(file, line, "0x%" PRIx64 " %s 0x%" PRIx64, a, equal ? "!=" : "==", b);
    }
}

void peltt_tap_range(uint64_t value, uint64_t low, uint64_t high, const char *file, int line)
{
    if (value < low || value > high) {
        peltt_tap_fail(file, line, "%" PRIu64 " is not between %" PRIu64 " and %" PRIu64, value, low, high);
    }
}

void peltt_tap_floats(float a, float b, float tolerance, const char *file, int line)
{
    float difference = a < b ? b - a : a - b;
    if (!(difference <= tolerance)) {
        peltt_tap_fail(file, line, "%g and %g differ by more than %g", (double)a, (double)b, (double)tolerance);
    }
}

void peltt_tap_strings(const char *a, const char *b, bool equal, const char *file, int line)
{
    if ((strcmp(a, b) == 0) != equal) {
        peltt_tap_fail(file, line, "\"%s\" %s \"%s\"", a, equal ? "!=" : "==", b);
    }
}

void peltt_tap_memories(const void *a, const void *b, size_t size, bool equal, const char *file, int line)
{
    const unsigned char *bytes = a;
    const unsigned char *others = b;
    size_t at = 0;
    while (at < size && bytes[at] == others[at]) {
        at++;
    }
    if (equal && at < size) {
        peltt_tap_fail(file, line, "byte %" PRIu64 " of %" PRIu64 ": 0x%02x != 0x%02x", (uint64_t)at, (uint64_t)size,
                       bytes[at], others[at]);
    } else if (!equal && at == size) {
        peltt_tap_fail(file, line, "%" PRIu64 " bytes are the same", (uint64_t)size);
    }
}

// A function of its own: nothing that changes after setjmp is read after longjmp.
static outcome run_jumping(void (*function)(void **state), void **state)
{
    int how = setjmp(end_of_test);
    if (how == 0) {
        inside_test = true;
        function(state);
    }
    inside_test = false;
    return (outcome)how;
}

static outcome run_test(const struct CMUnitTest *test, void **state)
{
    if (test->setup_func && test->setup_func(state) != 0) {
        fprintf(stderr, "# the test's setup failed\n");
        return FAILED;
    }
    outcome how = run_jumping(test->test_func, state);
    if (test->teardown_func && test->teardown_func(state) != 0) {
        fprintf(stderr, "# the test's teardown failed\n");
        return FAILED;
    }
    return how;
}

int peltt_tap_run(const char *group, const struct CMUnitTest *tests, size_t count, peltt_tap_fixture setup,
                  peltt_tap_fixture teardown)
{
    void *group_state = NULL;
    int failed = 0;
    printf("1..%u\n# %s\n", (unsigned)count, group);
    if (setup && setup(&group_state) != 0) {
        printf("Bail out! The group's setup failed\n");
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        void *state = tests[i].initial_state ? tests[i].initial_state : group_state;
        outcome how = run_test(&tests[i], &state);
        failed += how == FAILED;
        printf("%sok %u - %s%s\n", how == FAILED ? "not " : "", (unsigned)(i + 1), tests[i].name,
               how == SKIPPED ? " # SKIP" : "");
        fflush(stdout); // what was done shows when the next test crashes
    }
    if (teardown && teardown(&group_state) != 0) {
        printf("not ok %u - the group's teardown\n", (unsigned)(count + 1));
        failed++;
    }
    return failed;
}

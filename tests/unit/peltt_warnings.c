// SPDX-License-Identifier: MIT
// The log callback of tests.
#include "peltt_warnings.h"

#include <stdarg.h>
#include <setjmp.h>

#include <cmocka.h>
#include <string.h>

static void write_message(void *user, pelt_log_level level, const pelt_error *message)
{
    peltt_warnings *log = user;
    assert_int_equal(level, PELT_LOG_WARNING);
    assert_int_equal(message->code, PELT_OK);
    if (log->count < PELTT_WARNINGS_CAPACITY) {
        log->messages[log->count] = *message;
    }
    log->count++;
}

pelt_log peltt_warnings_make(peltt_warnings *state)
{
    return (pelt_log){write_message, state};
}

uint32_t peltt_warnings_count(const peltt_warnings *state, const char *text)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < state->count && i < PELTT_WARNINGS_CAPACITY; i++) {
        found += strstr(state->messages[i].message, text) ? 1 : 0;
    }
    return found;
}

const pelt_error *peltt_warnings_find(const peltt_warnings *state, const char *text)
{
    for (uint32_t i = 0; i < state->count && i < PELTT_WARNINGS_CAPACITY; i++) {
        if (strstr(state->messages[i].message, text)) {
            return &state->messages[i];
        }
    }
    for (uint32_t i = 0; i < state->count && i < PELTT_WARNINGS_CAPACITY; i++) {
        print_error("warning: %s\n", state->messages[i].message);
    }
    fail_msg("no warning holds: %s", text);
    return NULL;
}

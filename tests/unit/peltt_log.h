// SPDX-License-Identifier: MIT
// Keeps the warnings of a test.
#ifndef PELTT_LOG_H
#define PELTT_LOG_H

#include <pelt/base.h>

enum {
    PELTT_LOG_CAPACITY = 16
};

typedef struct peltt_log {
    uint32_t count; // all of them; the first PELTT_LOG_CAPACITY are kept
    pelt_error messages[PELTT_LOG_CAPACITY];
} peltt_log;

pelt_log peltt_log_make(peltt_log *state);
// How many of the kept messages hold the text.
uint32_t peltt_log_count(const peltt_log *state, const char *text);
// The first of them; the test fails where there is none.
const pelt_error *peltt_log_find(const peltt_log *state, const char *text);

#endif

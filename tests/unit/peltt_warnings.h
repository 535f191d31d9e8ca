// SPDX-License-Identifier: MIT
// Keeps the warnings of a test.
#ifndef PELTT_WARNINGS_H
#define PELTT_WARNINGS_H

#include <pelt/base.h>

enum {
    PELTT_WARNINGS_CAPACITY = 16
};

typedef struct peltt_warnings {
    uint32_t count; // all of them; the first PELTT_WARNINGS_CAPACITY are kept
    pelt_error messages[PELTT_WARNINGS_CAPACITY];
} peltt_warnings;

pelt_log peltt_warnings_make(peltt_warnings *state);
// How many of the kept messages hold the text.
uint32_t peltt_warnings_count(const peltt_warnings *state, const char *text);
// The first of them; the test fails where there is none.
const pelt_error *peltt_warnings_find(const peltt_warnings *state, const char *text);

#endif

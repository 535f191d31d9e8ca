// SPDX-License-Identifier: MIT
// Influence clean-up under test: one job, its sets, and what comes of it.
#ifndef PELTT_INFLUENCES_H
#define PELTT_INFLUENCES_H

#include "peltt_alloc.h"
#include "peltt_warnings.h"

#include <pelt/builder.h>

enum {
    PELTT_FIX_SET_CAPACITY = 300,
    PELTT_FIX_VERTEX_CAPACITY = 64
};

// One primitive's sets and the result.
typedef struct peltt_fixture {
    peltt_alloc memory;
    peltt_warnings log;
    pelt_builder *builder;
    uint16_t joints[PELTT_FIX_SET_CAPACITY][PELTT_FIX_VERTEX_CAPACITY * 4];
    float weights[PELTT_FIX_SET_CAPACITY][PELTT_FIX_VERTEX_CAPACITY * 4];
    pelt_influence_set sets[PELTT_FIX_SET_CAPACITY];
    pelt_influence_job job;
    pelt_primitive primitive;
    pelt_error error;
} peltt_fixture;

// Empties peltt_fix: so many vertices and sets, all zero.
void peltt_fix_init(uint32_t vertex_count, uint32_t set_count);
// Asserts that every byte was given back.
void peltt_fix_done(void);
void peltt_fix_set(uint32_t set, uint32_t vertex, const uint16_t joints[4], const float weights[4]);
pelt_result peltt_fix_clean(void);
// The result; the test fails where it is refused.
const pelt_primitive *peltt_fix_cleaned(void);
// Fails the test unless the vertex has these influences, in this order.
void peltt_fix_assert_vertex(uint32_t vertex, uint32_t count, const uint16_t *joints, const double *weights);

extern peltt_fixture peltt_fix;

#endif

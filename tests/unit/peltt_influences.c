// SPDX-License-Identifier: MIT
// One clean-up job at a time, with its memory counted and its warnings kept.
#include "peltt_influences.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

peltt_fixture peltt_fix;

void peltt_fix_init(uint32_t vertex_count, uint32_t set_count)
{
    memset(&peltt_fix, 0, sizeof peltt_fix);
    pelt_builder_options options = {peltt_alloc_make(&peltt_fix.memory), peltt_warnings_make(&peltt_fix.log), 0};
    assert_int_equal(pelt_builder_create(&options, &peltt_fix.builder), PELT_OK);
    for (uint32_t s = 0; s < set_count; s++) {
        peltt_fix.sets[s] = (pelt_influence_set){peltt_fix.joints[s], peltt_fix.weights[s]};
    }
    peltt_fix.job = (pelt_influence_job){.vertex_count = vertex_count, .set_count = set_count, .sets = peltt_fix.sets};
}

void peltt_fix_done(void)
{
    pelt_builder_destroy(peltt_fix.builder);
    assert_int_equal(peltt_fix.memory.live_bytes, 0);
}

void peltt_fix_set(uint32_t set, uint32_t vertex, const uint16_t joints[4], const float weights[4])
{
    memcpy(&peltt_fix.joints[set][vertex * 4], joints, 4 * sizeof *joints);
    memcpy(&peltt_fix.weights[set][vertex * 4], weights, 4 * sizeof *weights);
}

pelt_result peltt_fix_clean(void)
{
    return pelt_builder_clean_influences(peltt_fix.builder, &peltt_fix.job, &peltt_fix.primitive, &peltt_fix.error);
}

const pelt_primitive *peltt_fix_cleaned(void)
{
    if (peltt_fix_clean() != PELT_OK) {
        fail_msg("refused: %s", peltt_fix.error.message);
    }
    return &peltt_fix.primitive;
}

void peltt_fix_assert_vertex(uint32_t vertex, uint32_t count, const uint16_t *joints, const double *weights)
{
    const pelt_primitive *p = &peltt_fix.primitive;
    assert_int_equal(pelt_primitive_vertex_influences(p, vertex), count);
    for (uint32_t i = 0; i < p->influence_count; i++) {
        uint16_t joint = p->joints[vertex * p->influence_count + i];
        double weight = (double)p->weights[vertex * p->influence_count + i];
        assert_int_equal(joint, i < count ? joints[i] : 0);
        if (!(fabs(weight - (i < count ? weights[i] : 0)) <= 1.2e-7)) {
            fail_msg("vertex %u: weight %u is %.9g, not %.9g", vertex, i, weight, weights[i]);
        }
    }
}

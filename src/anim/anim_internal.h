// SPDX-License-Identifier: MIT
// One sampler at one time: the key search and the interpolations, shared by sampling and blending.
#ifndef PELTI_ANIM_INTERNAL_H
#define PELTI_ANIM_INTERNAL_H

#include "math/math.h"

#include <pelt/anim.h>

// Where a time falls among the keys of one sampler. {0} = not searched yet.
typedef struct pelti_key_span {
    const float *times; // the keys that were searched
    uint32_t key_count;
    uint32_t key;  // the last key at or before the time; the first one where the time is before all
    bool between;  // strictly between key and key + 1; otherwise the value of key holds
    double share;  // in (0, 1) where between, else 0
    double length; // seconds from key to key + 1 where between, else 0
} pelti_key_span;

// Brings *span to the sampler and time, by binary search: a cursor kept over calls would make a sample depend on the
// one before. A span of the same keys and, as the caller promises, the same time is kept: exporters share the times of
// all channels.
void pelti_sampler_find(const pelt_sampler *sampler, double time, pelti_key_span *span);

// One float of the value, before rounding. Not for rotations. Finite and within float's range.
double pelti_sampler_component(const pelt_sampler *sampler, const pelti_key_span *span, uint32_t component);

// The value of a rotation sampler, before rounding; of unit length.
pelti_quatd pelti_sampler_rotation(const pelt_sampler *sampler, const pelti_key_span *span);

#endif

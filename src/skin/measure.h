// SPDX-License-Identifier: MIT
// Small loops that every kernel's file compiles for its own instruction set, where compilers make vectors of them.
#ifndef PELTI_SKIN_MEASURE_H
#define PELTI_SKIN_MEASURE_H

#include "skin/skin.h"

// From the highest size of each element, and sums of zero times each element, which are NaN where one is infinite or
// NaN.
static bool finish_measure(const float highest[12], const float zeros[12], float *square)
{
    bool finite = true;
    *square = 0.0F;
    for (int k = 0; k < 12; k++) {
        finite = finite && zeros[k] == 0.0F;
        *square += k % 4 < 3 ? highest[k] * highest[k] : 0.0F;
    }
    return finite;
}

static uint16_t max_u16(const uint16_t *values, size_t count)
{
    uint16_t max = 0;
    for (size_t i = 0; i < count; i++) {
        max = values[i] > max ? values[i] : max;
    }
    return max;
}

static uint8_t max_u8(const uint8_t *values, size_t count)
{
    uint8_t max = 0;
    for (size_t i = 0; i < count; i++) {
        max = values[i] > max ? values[i] : max;
    }
    return max;
}

#endif

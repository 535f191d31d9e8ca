// SPDX-License-Identifier: MIT
// Rounding from double to float in one direction, for boxes and bounds that must hold what they were made of.
#ifndef PELTI_ROUND_H
#define PELTI_ROUND_H

#include <math.h>

// The largest float that is not above value.
static inline float pelti_round_down(double value)
{
    float rounded = (float)value;
    return (double)rounded > value ? nextafterf(rounded, -INFINITY) : rounded;
}

// The smallest float that is not below value.
static inline float pelti_round_up(double value)
{
    float rounded = (float)value;
    return (double)rounded < value ? nextafterf(rounded, INFINITY) : rounded;
}

#endif

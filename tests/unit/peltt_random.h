// SPDX-License-Identifier: MIT
// Repeatable random numbers for tests. Source: S. Vigna, splitmix64.
#ifndef PELTT_RANDOM_H
#define PELTT_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct peltt_random {
    uint64_t state; // the seed
} peltt_random;

static inline uint64_t peltt_random_next(peltt_random *random)
{
    uint64_t z = random->state += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

// In [0, 1).
static inline double peltt_random_unit(peltt_random *random)
{
    return (double)(peltt_random_next(random) >> 11) * 0x1p-53;
}

static inline float peltt_random_float(peltt_random *random, float low, float high)
{
    return (float)((double)low + ((double)high - (double)low) * peltt_random_unit(random));
}

// In [0, bound); bound must not be 0.
static inline uint32_t peltt_random_below(peltt_random *random, uint32_t bound)
{
    return (uint32_t)(((peltt_random_next(random) >> 32) * bound) >> 32);
}

static inline bool peltt_random_chance(peltt_random *random, double share)
{
    return peltt_random_unit(random) < share;
}

#endif

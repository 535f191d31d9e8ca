// SPDX-License-Identifier: MIT
// The moments of a clip at which backends are compared.
#include "verify.h"

#include <stdlib.h>

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

// Sorts and drops repeated times; returns how many are left.
static size_t sort_unique(double *times, size_t count)
{
    size_t kept = 0;
    qsort(times, count, sizeof *times, compare_times);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || times[i] > times[kept - 1]) {
            times[kept++] = times[i];
        }
    }
    return kept;
}

// Keeps limit times, evenly, the first and the last among them.
static size_t thin_out(double *times, size_t count, size_t limit)
{
    if (count <= limit) {
        return count;
    }
    for (size_t i = 0; i < limit; i++) {
        times[i] = times[limit > 1 ? (size_t)((uint64_t)i * (count - 1) / (limit - 1)) : 0];
    }
    return limit;
}

double *verify_moments(const pelt_clip *clip, uint32_t limit, uint32_t *out_count)
{
    uint64_t capacity = limit;
    for (uint32_t i = 0; i < clip->sampler_count; i++) {
        capacity += clip->samplers[i].key_count;
    }
    double *times = capacity > SIZE_MAX / sizeof *times ? NULL : malloc((size_t)capacity * sizeof *times);
    if (!times) {
        return NULL;
    }
    size_t count = 0;
    for (uint32_t i = 0; i < clip->sampler_count; i++) {
        for (uint32_t j = 0; j < clip->samplers[i].key_count; j++) {
            times[count++] = (double)clip->samplers[i].times[j];
        }
    }
    count = thin_out(times, sort_unique(times, count), limit / 2);
    uint32_t steps = limit - (uint32_t)count; // at least half of limit, so at least one
    for (uint32_t i = 0; i < steps; i++) {
        times[count++] = steps > 1 ? (double)clip->duration * i / (steps - 1) : (double)clip->duration;
    }
    *out_count = (uint32_t)sort_unique(times, count);
    return times;
}

// SPDX-License-Identifier: MIT
// Medians and quartiles of samples.
#include "bench.h"

#include <stdlib.h>

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

// At a share of the way from the first sample to the last, between neighbours in proportion.
static double at_share(const double *sorted, uint32_t count, double share)
{
    double place = share * (count - 1);
    uint32_t low = (uint32_t)place;
    uint32_t high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (place - low) * (sorted[high] - sorted[low]);
}

bench_statistics bench_summarize(double *samples, uint32_t count)
{
    qsort(samples, count, sizeof *samples, compare_numbers);
    return (bench_statistics){.median = at_share(samples, count, 0.5),
                              .quartiles = {at_share(samples, count, 0.25), at_share(samples, count, 0.75)},
                              .least = samples[0],
                              .most = samples[count - 1]};
}

// SPDX-License-Identifier: MIT
// The whole path over one file in memory: import, sample, pose, palette, skin, boxes. What sweeps and fuzzing call.
#ifndef PELTT_EVALUATE_H
#define PELTT_EVALUATE_H

#include <pelt/asset.h>

typedef struct peltt_evaluation {
    pelt_result result;
    pelt_error error;
    uint32_t instance_count;
    double checksum;       // of all positions of all poses: equal runs give equal sums
    const char *violation; // NULL, or which promise of the library did not hold
} peltt_evaluation;

// folder may be NULL. At most pose_limit poses (rest, then three times of each clip) are evaluated; 0 = all.
peltt_evaluation peltt_evaluate(const void *data, size_t size, const char *folder, const pelt_allocator *allocator,
                                uint32_t pose_limit);
// The part after the import; fills result, instance_count, checksum and violation.
void peltt_evaluate_asset(const pelt_asset *asset, const pelt_allocator *allocator, uint32_t pose_limit,
                          peltt_evaluation *out);

#endif

// SPDX-License-Identifier: MIT
// The whole path over one .pelt file in memory: open, read every stream, import, pose, and cook again.
#ifndef PELTT_EVALUATE_PELT_H
#define PELTT_EVALUATE_PELT_H

#include "evaluate.h"

// data must be aligned to 64. skip_hashes as in pelt_cooked_options. Otherwise as peltt_evaluate.
peltt_evaluation peltt_evaluate_pelt(const void *data, size_t size, bool skip_hashes, const pelt_allocator *allocator,
                                     uint32_t pose_limit);

#endif

// SPDX-License-Identifier: MIT
// libFuzzer target for the import-evaluate path of glTF files.
#include "guarded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static peltt_evaluation evaluate(const uint8_t *data, size_t size)
{
    return peltt_evaluate(data, size, NULL, NULL, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return peltt_run_guarded(evaluate, data, size, 1);
}

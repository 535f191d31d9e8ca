// SPDX-License-Identifier: MIT
// libFuzzer target for opening, importing and posing .pelt files. Hashes are not compared: what is tried is what comes
// behind them.
#include "evaluate_pelt.h"
#include "guarded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static peltt_evaluation evaluate(const uint8_t *data, size_t size)
{
    return peltt_evaluate_pelt(data, size, true, NULL, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return peltt_run_guarded(evaluate, data, size, 64);
}

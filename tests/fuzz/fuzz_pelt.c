// SPDX-License-Identifier: MIT
// libFuzzer target for opening, importing and posing .pelt files. Hashes are not compared: what is tried is what comes
// behind them. The input ends where an unmapped page begins, as near as its alignment to 64 bytes allows.
#include "evaluate_pelt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t length = (size + page - 1) / page * page + page;
    uint8_t *pages = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (pages == MAP_FAILED) {
        return 0;
    }
    uint8_t *copy = pages + length - page - (size + 63) / 64 * 64;
    if (size > 0) {
        memcpy(copy, data, size);
    }
    if (mprotect(pages + length - page, page, PROT_NONE) != 0) {
        abort();
    }
    peltt_evaluation evaluation = peltt_evaluate_pelt(copy, size, true, NULL, 8);
    munmap(pages, length);
    if (evaluation.violation) {
        fprintf(stderr, "violation: %s\n", evaluation.violation);
        abort();
    }
    return 0;
}

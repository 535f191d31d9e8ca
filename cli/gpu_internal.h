// SPDX-License-Identifier: MIT
// Inside gpu*.c: one submission, its staging memory, and where drivers may print.
#ifndef PELT_CLI_GPU_INTERNAL_H
#define PELT_CLI_GPU_INTERNAL_H

#include "gpu.h"

// Drivers may print to stdout, which carries data: while they start, it leads to stderr.
typedef struct gpu_stdout {
    int saved; // -1: nothing to bring back
} gpu_stdout;
gpu_stdout gpu_redirect_stdout(void);
void gpu_restore_stdout(gpu_stdout redirected);

// Prints that a Vulkan function failed and returns the exit code: LIMIT where memory ran out, else NO_DEVICE.
int gpu_fail_vulkan(const gpu *g, const char *what, VkResult result);
// Begin g->cmd anew; end it, submit it and wait. They print what fails and return an exit code.
int gpu_start_commands(gpu *g);
int gpu_submit(gpu *g);
void gpu_staging_release(gpu *g); // harmless without any

#endif

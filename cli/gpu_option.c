// SPDX-License-Identifier: MIT
// The option --device of the verbs that pose.
#include "gpu.h"

#include <stdlib.h>

static int open_selected(cli_context *context, gpu_system *system)
{
    uint32_t index = PELT_NONE;
    int code = gpu_system_open(context, system);
    code = code == CLI_DONE ? gpu_select(context, system, &index) : code;
    return code == CLI_DONE ? gpu_open(context, system, &system->devices[index], &context->gpu) : code;
}

int cli_select_device(cli_context *context)
{
    gpu_wish wish = gpu_wish_of(context);
    if (wish == GPU_WISH_NONE || wish == GPU_WISH_CPU) {
        return CLI_DONE;
    }
    if (wish == GPU_WISH_ALL) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, "name one; 'pelt devices' lists them",
                        "--device all is for devices and verify");
    }
    context->gpu_system = calloc(1, sizeof *context->gpu_system);
    if (!context->gpu_system) {
        return cli_fail(context, CLI_LIMIT, NULL, NULL, NULL, "out of memory for the device");
    }
    int code = open_selected(context, context->gpu_system);
    if (code != CLI_DONE) {
        cli_release_device(context);
    }
    return code;
}

void cli_release_device(cli_context *context)
{
    gpu_close(context->gpu);
    if (context->gpu_system) {
        gpu_system_close(context->gpu_system);
    }
    free(context->gpu_system);
    context->gpu = NULL;
    context->gpu_system = NULL;
}

json_t *cli_device_json(const cli_context *context)
{
    return gpu_json(context->gpu ? context->gpu->info : NULL);
}

void cli_put_device(const cli_context *context)
{
    if (context->gpu) {
        char text[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE + 32];
        gpu_describe(context->gpu->info, text, sizeof text);
        fputs(", on ", stdout);
        cli_put(stdout, text);
    }
}

// SPDX-License-Identifier: MIT
// Which backends are compared: every CPU path, and the Vulkan devices that --device leaves.
#include "verify.h"

#include <stdlib.h>

static int add_device(cli_context *context, verify_backends *b, const gpu_info *info)
{
    verify_backend *backend = &b->list[b->count];
    char text[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE + 32];
    gpu_describe(info, text, sizeof text);
    *backend = (verify_backend){.type = &verify_gpu_type, .info = info};
    // With the index, as several devices may have one name.
    snprintf(backend->label, sizeof backend->label, "device %u", (unsigned)info->index);
    snprintf(backend->name, sizeof backend->name, "%s, %s", backend->label, text);
    int code = gpu_open(context, &b->system, info, &backend->gpu);
    b->count += code == CLI_DONE;
    return code;
}

static int add_all_devices(cli_context *context, verify_backends *b)
{
    int code = CLI_DONE;
    uint32_t cpu_count = b->count;
    for (uint32_t i = 0; i < b->system.count && code == CLI_DONE; i++) {
        const gpu_info *info = &b->system.devices[i];
        if (info->support.usable) {
            code = add_device(context, b, info);
        } else {
            cli_warn(context, NULL, NULL, "device %u, %s, is left out: it lacks %s", (unsigned)info->index, info->name,
                     gpu_first_missing(info));
        }
    }
    if (code == CLI_DONE && b->count == cpu_count) {
        snprintf(b->no_device, sizeof b->no_device, "%s",
                 b->system.count ? "none that was found can be used" : b->system.problem);
    }
    return code;
}

int verify_backends_open(cli_context *context, verify_backends *out)
{
    gpu_wish wish = gpu_wish_of(context);
    uint32_t index = PELT_NONE;
    *out = (verify_backends){0};
    int code = wish == GPU_WISH_CPU ? CLI_DONE : gpu_system_open(context, &out->system);
    if (code == CLI_DONE && (wish == GPU_WISH_GPU || wish == GPU_WISH_ONE)) {
        code = gpu_select(context, &out->system, &index);
    }
    if (code != CLI_DONE) {
        return code;
    }
    uint32_t cpu_count = verify_cpu_count(context);
    out->list = calloc((size_t)cpu_count + out->system.count, sizeof *out->list);
    if (!out->list) {
        return cli_fail(context, CLI_LIMIT, NULL, NULL, NULL, "out of memory for the devices");
    }
    for (; out->count < cpu_count; out->count++) {
        verify_cpu_init(context, out->count, &out->list[out->count]);
    }
    if (wish == GPU_WISH_CPU) {
        return CLI_DONE;
    }
    return index == PELT_NONE ? add_all_devices(context, out) : add_device(context, out, &out->system.devices[index]);
}

void verify_backends_close(verify_backends *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        gpu_close(b->list[i].gpu);
    }
    free(b->list);
    gpu_system_close(&b->system);
}

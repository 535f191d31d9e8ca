// SPDX-License-Identifier: MIT
// Which device an option names, and how devices are told in reports.
#include "gpu.h"

#include <string.h>
#include <strings.h>

const char *gpu_version_text(uint32_t version, char out[32])
{
    snprintf(out, 32, "%u.%u.%u", (unsigned)VK_API_VERSION_MAJOR(version), (unsigned)VK_API_VERSION_MINOR(version),
             (unsigned)VK_API_VERSION_PATCH(version));
    return out;
}

void gpu_describe(const gpu_info *info, char *out, size_t capacity)
{
    snprintf(out, capacity, "%s, %s", info->name, info->type);
}

json_t *gpu_json(const gpu_info *info)
{
    char version[32];
    json_t *value = json_object();
    json_object_set_new(value, "index", info ? json_integer(info->index) : json_null());
    json_object_set_new(value, "name", cli_json_text(info ? info->name : "cpu"));
    json_object_set_new(value, "type", json_string(info ? info->type : "cpu"));
    json_object_set_new(value, "driver", cli_json_text(info && info->driver[0] ? info->driver : NULL));
    json_object_set_new(value, "driver_version", cli_json_text(info ? info->driver_version : NULL));
    json_object_set_new(value, "vulkan", cli_json_text(info ? gpu_version_text(info->api_version, version) : NULL));
    json_object_set_new(value, "subgroup_size",
                        info && info->subgroup_size ? json_integer(info->subgroup_size) : json_null());
    json_object_set_new(value, "software", info ? json_boolean(info->software) : json_null());
    return value;
}

// ---- choosing

static int rank(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return 4;
    default:
        return 3;
    }
}

// The best by rank, of the usable ones or of all; the first of equal ones.
static uint32_t best(const gpu_system *system, bool usable)
{
    uint32_t found = PELT_NONE;
    for (uint32_t i = 0; i < system->count; i++) {
        const gpu_info *info = &system->devices[i];
        if ((!usable || info->support.usable) &&
            (found == PELT_NONE || rank(info->device_type) < rank(system->devices[found].device_type))) {
            found = i;
        }
    }
    return found;
}

uint32_t gpu_default(const gpu_system *system)
{
    return best(system, true);
}

const char *gpu_first_missing(const gpu_info *info)
{
    for (uint32_t i = 0; i < info->support.need_count; i++) {
        const pelt_vk_need *need = &info->support.needs[i];
        if (need->required && !need->present) {
            return need->kind == PELT_VK_NEED_VERSION ? "Vulkan 1.2" : need->name;
        }
    }
    return "Vulkan 1.2";
}

static int check_usable(const cli_context *context, const gpu_info *info)
{
    char hint[160];
    if (info->support.usable) {
        return CLI_DONE;
    }
    snprintf(hint, sizeof hint, "'pelt devices' lists all that is missing; %s may bring it", info->package);
    return cli_fail(context, CLI_NO_DEVICE, NULL, NULL, hint, "device %u, %s, cannot be used: it lacks %s",
                    (unsigned)info->index, info->name, gpu_first_missing(info));
}

static bool contains(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; *text; text++) {
        if (strncasecmp(text, part, length) == 0) {
            return true;
        }
    }
    return false;
}

// 2: its whole name, 1: a part of it, 0: neither.
static int matches(const gpu_info *info, const char *name)
{
    if (strcasecmp(info->name, name) == 0) {
        return 2;
    }
    return contains(info->name, name) || (info->lavapipe && contains("lavapipe", name)) ? 1 : 0;
}

// "0: NVIDIA H200, 1: llvmpipe": devices that match name, all where it is NULL. Those that do not fit are left out.
static void list_devices(const gpu_system *system, const char *name, int least, char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < system->count; i++) {
        const gpu_info *info = &system->devices[i];
        if (!name || matches(info, name) >= least) {
            int length =
                snprintf(out + used, capacity - used, "%s%u: %s", used ? ", " : "", (unsigned)info->index, info->name);
            if (length < 0 || (size_t)length >= capacity - used) {
                out[used] = '\0';
                return;
            }
            used += (size_t)length;
        }
    }
}

static int fail_absent(const cli_context *context, const gpu_system *system, const char *selector)
{
    char list[1024];
    list_devices(system, NULL, 0, list, sizeof list);
    return cli_fail(context, CLI_NO_DEVICE, NULL, NULL, "'pelt devices' tells more; --device cpu needs none",
                    "there is no device \"%s\"; there is %s", selector, list);
}

static int select_name(const cli_context *context, const gpu_system *system, const char *name, uint32_t *out_index)
{
    int least = 1;
    uint32_t found = 0;
    for (uint32_t i = 0; i < system->count; i++) {
        int match = matches(&system->devices[i], name);
        if (match > least) {
            least = match;
            found = 0;
        }
        if (match == least) {
            *out_index = found == 0 ? i : *out_index;
            found++;
        }
    }
    if (found == 0) {
        return fail_absent(context, system, name);
    }
    if (found > 1) {
        char list[1024];
        list_devices(system, name, least, list, sizeof list);
        return cli_fail(context, CLI_NO_DEVICE, NULL, NULL, "choose one by its number, such as --device 0",
                        "%u devices answer to \"%s\": %s", (unsigned)found, name, list);
    }
    return CLI_DONE;
}

gpu_wish gpu_wish_of(const cli_context *context)
{
    const char *selector = context->options.device;
    return !selector                          ? GPU_WISH_NONE
           : strcasecmp(selector, "cpu") == 0 ? GPU_WISH_CPU
           : strcasecmp(selector, "gpu") == 0 ? GPU_WISH_GPU
           : strcasecmp(selector, "all") == 0 ? GPU_WISH_ALL
                                              : GPU_WISH_ONE;
}

static int select_any(const cli_context *context, const gpu_system *system, uint32_t *out_index)
{
    const char *selector = context->options.device;
    uint64_t number = 0;
    if (gpu_wish_of(context) == GPU_WISH_GPU) {
        uint32_t usable = gpu_default(system);
        *out_index = usable == PELT_NONE ? best(system, false) : usable;
        return CLI_DONE;
    }
    if (selector[strspn(selector, "0123456789")] != '\0') {
        return select_name(context, system, selector, out_index);
    }
    if (!cli_read_count(selector, false, &number) || number >= system->count) {
        return fail_absent(context, system, selector);
    }
    *out_index = (uint32_t)number;
    return CLI_DONE;
}

int gpu_select(cli_context *context, const gpu_system *system, uint32_t *out_index)
{
    *out_index = PELT_NONE;
    if (system->count == 0) {
        return cli_fail(context, CLI_NO_DEVICE, NULL, NULL, system->hint, "there is no device \"%s\": %s",
                        context->options.device, system->problem);
    }
    int code = select_any(context, system, out_index);
    if (code != CLI_DONE) {
        return code;
    }
    const gpu_info *info = &system->devices[*out_index];
    code = check_usable(context, info);
    if (code == CLI_DONE && info->software && gpu_wish_of(context) == GPU_WISH_GPU) {
        cli_warn(context, NULL, NULL, "there is no usable GPU: %s stands in for it, in software", info->name);
    }
    return code;
}

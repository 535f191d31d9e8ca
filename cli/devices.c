// SPDX-License-Identifier: MIT
// `pelt devices`: the CPU and every Vulkan device, what they lack, and which package may bring it.
#include "gpu.h"

#include <string.h>

enum {
    COLUMN_COUNT = 8,
    CELL_SIZE = VK_MAX_DRIVER_NAME_SIZE + VK_MAX_DRIVER_INFO_SIZE + 8
};

typedef struct table_row {
    char cells[COLUMN_COUNT][CELL_SIZE];
} table_row;

// What is listed: the CPU and all devices, or the one that --device names.
typedef struct device_list {
    const cli_context *context;
    gpu_system system;
    bool cpu;
    bool all;      // devices
    uint32_t only; // PELT_NONE: none
} device_list;

static bool is_listed(const device_list *list, uint32_t index)
{
    return list->all || list->only == index;
}

static const char no_gpu[] =
    "  a GPU that is not listed needs its driver (apt install mesa-vulkan-drivers for AMD and Intel, nvidia-driver "
    "for\n"
    "  NVIDIA) and the right to use it (the group render); 'VK_LOADER_DEBUG=error,warn pelt devices' tells of drivers\n"
    "  that do not load\n";

static const char *need_kind(pelt_vk_need_kind kind)
{
    switch (kind) {
    case PELT_VK_NEED_VERSION:
        return "version";
    case PELT_VK_NEED_EXTENSION:
        return "extension";
    case PELT_VK_NEED_FEATURE:
        return "feature";
    case PELT_VK_NEED_LIMIT:
        return "limit";
    }
    return "";
}

// ---- text

static void fill_headings(table_row *out)
{
    static const char *const texts[COLUMN_COUNT] = {"device", "name",     "type",   "driver",
                                                    "Vulkan", "subgroup", "memory", "usable"};
    for (int i = 0; i < COLUMN_COUNT; i++) {
        snprintf(out->cells[i], CELL_SIZE, "%s", texts[i]);
    }
}

static void fill_cpu(const cli_context *context, table_row *out)
{
    static const char *const texts[COLUMN_COUNT] = {"cpu", "", "processor", "-", "-", "-", "-", "yes"};
    for (int i = 0; i < COLUMN_COUNT; i++) {
        snprintf(out->cells[i], CELL_SIZE, "%s", texts[i]);
    }
    unsigned threads = (unsigned)context->parallel.worker_count;
    snprintf(out->cells[1], CELL_SIZE, "%u thread%s", threads, threads == 1 ? "" : "s");
}

static void fill_row(const gpu_info *info, table_row *out)
{
    char version[32];
    snprintf(out->cells[0], CELL_SIZE, "%u", (unsigned)info->index);
    snprintf(out->cells[1], CELL_SIZE, "%s", info->name);
    snprintf(out->cells[2], CELL_SIZE, "%s", info->type);
    snprintf(out->cells[3], CELL_SIZE, "%s%s%s", info->driver, info->driver[0] ? " " : "", info->driver_version);
    snprintf(out->cells[4], CELL_SIZE, "%s", gpu_version_text(info->api_version, version));
    snprintf(out->cells[5], CELL_SIZE, info->subgroup_size ? "%u" : "-", (unsigned)info->subgroup_size);
    snprintf(out->cells[6], CELL_SIZE, "%.1f GiB", (double)info->memory / (double)(UINT64_C(1) << 30));
    snprintf(out->cells[7], CELL_SIZE, "%s", info->support.usable ? "yes" : "no");
}

// Row k of the table: headings, the CPU where it is listed, the devices. False past the end.
static bool next_row(const device_list *list, uint32_t *k, table_row *out)
{
    uint32_t row = (*k)++;
    if (row == 0) {
        fill_headings(out);
        return true;
    }
    if (row == 1 && list->cpu) {
        fill_cpu(list->context, out);
        return true;
    }
    for (uint32_t i = row - 1 - list->cpu; i < list->system.count; i++) {
        if (is_listed(list, i)) {
            fill_row(&list->system.devices[i], out);
            *k = i + 2 + list->cpu;
            return true;
        }
    }
    return false;
}

static void print_table(const device_list *list)
{
    size_t widths[COLUMN_COUNT] = {0};
    table_row row;
    for (uint32_t k = 0; next_row(list, &k, &row);) {
        for (int i = 0; i < COLUMN_COUNT; i++) {
            size_t length = strlen(row.cells[i]);
            widths[i] = length > widths[i] ? length : widths[i];
        }
    }
    for (uint32_t k = 0; next_row(list, &k, &row);) {
        for (int i = 0; i < COLUMN_COUNT; i++) {
            cli_put(stdout, row.cells[i]);
            printf(i + 1 < COLUMN_COUNT ? "%*s" : "\n", (int)(widths[i] - strlen(row.cells[i])) + 2, "");
        }
    }
}

static void print_name(const pelt_vk_need *need)
{
    char wanted[32];
    char found[32];
    printf("%s", need->name);
    if (need->kind == PELT_VK_NEED_VERSION) {
        printf(" (has %s of %s)", gpu_version_text((uint32_t)need->found, found),
               gpu_version_text((uint32_t)need->wanted, wanted));
    } else if (need->kind == PELT_VK_NEED_LIMIT) {
        bool over = need->found >= need->wanted;
        printf(over ? " (has %s, too much)" : " (has %s of %s)", cli_grouped(need->found, found),
               cli_grouped(need->wanted, wanted));
    }
}

static bool same_loss(const pelt_vk_need *a, const pelt_vk_need *b)
{
    return !a->present && !b->present && a->required == b->required && strcmp(a->lost, b->lost) == 0;
}

// One line for all that is missing with the same consequence, at the first of them.
static void print_loss(const pelt_vk_support *support, uint32_t k)
{
    const pelt_vk_need *need = &support->needs[k];
    for (uint32_t i = 0; i < k; i++) {
        if (same_loss(&support->needs[i], need)) {
            return;
        }
    }
    if (need->required) {
        printf("  lacks ");
    } else {
        printf("  %s: no ", need->lost);
    }
    const char *separator = "";
    for (uint32_t i = k; i < support->need_count; i++) {
        if (same_loss(&support->needs[i], need)) {
            printf("%s", separator);
            print_name(&support->needs[i]);
            separator = ", ";
        }
    }
    if (need->required) {
        printf(": %s", need->lost);
    }
    printf("\n");
}

static void print_needs(const gpu_info *info)
{
    const pelt_vk_support *support = &info->support;
    bool any = !support->usable;
    if (any) {
        printf("\ndevice %u cannot be used\n", (unsigned)info->index);
    }
    for (uint32_t k = 0; k < support->need_count; k++) {
        // Of a device that cannot be used only what keeps it from that matters.
        if (!support->needs[k].present && (support->usable || support->needs[k].required)) {
            if (!any) {
                printf("\ndevice %u can be used; what is optional and missing:\n", (unsigned)info->index);
            }
            any = true;
            print_loss(support, k);
        }
    }
    if (!support->usable) {
        printf("  %s may bring it\n", info->package);
    }
}

static void print_text(const device_list *list)
{
    const gpu_system *system = &list->system;
    print_table(list);
    for (uint32_t i = 0; i < system->count; i++) {
        if (is_listed(list, i)) {
            print_needs(&system->devices[i]);
        }
    }
    if (!list->all) {
        return;
    }
    uint32_t chosen = gpu_default(system);
    if (system->count == 0) {
        printf("\n");
        cli_put(stdout, system->problem);
        printf("\n  %s\n", system->hint);
    } else if (chosen == PELT_NONE) {
        printf("\n--device gpu takes none: no device can be used\n");
    } else if (system->devices[chosen].software) {
        printf("\n--device gpu takes %u, in software: there is no usable GPU\n%s", (unsigned)chosen, no_gpu);
    } else {
        printf("\n--device gpu takes %u\n", (unsigned)chosen);
    }
}

// ---- JSON

static json_t *need_json(const pelt_vk_need *need)
{
    char version[32];
    bool is_version = need->kind == PELT_VK_NEED_VERSION;
    json_t *value = json_object();
    json_object_set_new(value, "name", cli_json_text(need->name));
    json_object_set_new(value, "kind", json_string(need_kind(need->kind)));
    json_object_set_new(value, "required", json_boolean(need->required));
    json_object_set_new(value, "wanted",
                        is_version ? json_string(gpu_version_text((uint32_t)need->wanted, version))
                                   : json_integer((json_int_t)need->wanted));
    json_object_set_new(value, "found",
                        is_version ? json_string(gpu_version_text((uint32_t)need->found, version))
                                   : json_integer((json_int_t)need->found));
    json_object_set_new(value, "lost", cli_json_text(need->lost));
    return value;
}

static json_t *device_json(const gpu_info *info)
{
    json_t *value = gpu_json(info);
    json_t *missing = json_array();
    for (uint32_t i = 0; info && i < info->support.need_count; i++) {
        if (!info->support.needs[i].present) {
            json_array_append_new(missing, need_json(&info->support.needs[i]));
        }
    }
    bool usable = !info || info->support.usable;
    json_object_set_new(value, "memory", info ? json_integer((json_int_t)info->memory) : json_null());
    json_object_set_new(value, "usable", json_boolean(usable));
    json_object_set_new(value, "missing", missing);
    json_object_set_new(value, "brought_by", usable ? json_null() : cli_json_text(info->package));
    return value;
}

static int print_json(cli_context *context, const device_list *list)
{
    const gpu_system *system = &list->system;
    char version[32];
    json_t *root = json_object();
    json_t *devices = json_array();
    if (list->cpu) {
        json_array_append_new(devices, device_json(NULL));
    }
    for (uint32_t i = 0; i < system->count; i++) {
        if (is_listed(list, i)) {
            json_array_append_new(devices, device_json(&system->devices[i]));
        }
    }
    json_object_set_new(root, "schema", json_string("pelt/devices/1"));
    json_object_set_new(
        root, "loader",
        cli_json_text(system->loader_version ? gpu_version_text(system->loader_version, version) : NULL));
    json_object_set_new(root, "gpu", cli_json_index(gpu_default(system)));
    json_object_set_new(root, "problem", cli_json_text(system->problem[0] ? system->problem : NULL));
    json_object_set_new(root, "hint", cli_json_text(system->problem[0] ? system->hint : NULL));
    json_object_set_new(root, "devices", devices);
    return cli_print_json(context, root);
}

int cli_devices(cli_context *context)
{
    gpu_wish wish = gpu_wish_of(context);
    bool all = wish == GPU_WISH_NONE || wish == GPU_WISH_ALL;
    device_list list = {.context = context, .cpu = all || wish == GPU_WISH_CPU, .all = all, .only = PELT_NONE};
    int code = gpu_system_open(context, &list.system);
    if (code == CLI_DONE && (wish == GPU_WISH_GPU || wish == GPU_WISH_ONE)) {
        code = gpu_select(context, &list.system, &list.only);
    }
    if (code == CLI_DONE && context->options.json) {
        code = print_json(context, &list);
    } else if (code == CLI_DONE) {
        print_text(&list);
    }
    gpu_system_close(&list.system);
    return code;
}

// SPDX-License-Identifier: MIT
// Loads the input, and finds in it what options select.
#include "cli.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int cli_load(cli_context *context, pelt_gltf **out_gltf, pelt_asset **out_asset)
{
    const cli_options *o = &context->options;
    pelt_gltf_options options = {.log = cli_log(context),
                                 .limits = o->limits,
                                 .lenient = o->lenient,
                                 .allow_outside = o->allow_outside,
                                 .influence_limit = o->max_influences};
    pelt_error error = {0};
    *out_gltf = NULL;
    *out_asset = NULL;
    pelt_result result = pelt_gltf_open_file(o->input, &options, out_gltf, &error);
    if (result == PELT_OK) {
        result = pelt_gltf_import(*out_gltf, out_asset, &error);
    }
    // jansson tells a failed allocation as a fault of the text, or drops a member and goes on.
    if (cli_json_out_of_memory()) {
        error = (pelt_error){.message = "out of memory while reading the JSON"};
        result = PELT_ERROR_MEMORY;
    }
    if (result == PELT_OK) {
        return CLI_DONE;
    }
    error.code = result;
    int code = cli_fail_result(context, o->input, &error);
    pelt_asset_destroy(*out_asset);
    pelt_gltf_close(*out_gltf);
    *out_gltf = NULL;
    *out_asset = NULL;
    return code;
}

// Appends text to a bounded list of names; false once it is full.
static bool append(char *list, size_t capacity, size_t *used, const char *text)
{
    size_t length = strlen(text);
    if (*used + length + 1 > capacity) {
        return false;
    }
    memcpy(list + *used, text, length + 1);
    *used += length;
    return true;
}

// "#0 \"Run\", #3 \"Run\" and 5 more": the clips of that name, of all names where name is NULL.
static void list_clips(const pelt_asset_data *asset, const char *name, char *out, size_t capacity)
{
    enum {
        SHOWN = 10,
        ROOM_FOR_REST = 32
    };
    size_t used = 0;
    uint32_t shown = 0;
    uint32_t total = 0;
    bool room = true;
    out[0] = '\0';
    for (uint32_t i = 0; i < asset->clip_count; i++) {
        if (name && strcmp(asset->clips[i].name, name) != 0) {
            continue;
        }
        total++;
        char entry[128];
        int length = snprintf(entry, sizeof entry, "%s#%u \"%s\"", used ? ", " : "", i, asset->clips[i].name);
        if (length < 0 || (size_t)length >= sizeof entry) {
            snprintf(entry, sizeof entry, "%s#%u (a long name)", used ? ", " : "", i);
        }
        room = room && shown < SHOWN && append(out, capacity - ROOM_FOR_REST, &used, entry);
        shown += room;
    }
    if (shown < total) {
        char rest[ROOM_FOR_REST];
        snprintf(rest, sizeof rest, " and %u more", total - shown);
        append(out, capacity, &used, rest);
    }
}

// "#12" as 12; false for anything else.
static bool read_index(const char *selector, uint64_t *out)
{
    if (selector[0] != '#' || !isdigit((unsigned char)selector[1])) {
        return false;
    }
    uint64_t value = 0;
    for (const char *at = selector + 1; *at; at++) {
        if (!isdigit((unsigned char)*at)) {
            return false;
        }
        value = value > UINT32_MAX ? value : value * 10 + (uint64_t)(*at - '0');
    }
    *out = value;
    return true;
}

int cli_select_clip(const cli_context *context, const pelt_asset_data *asset, const char *selector, uint32_t *out_clip)
{
    const char *file = context->options.input;
    char list[1024];
    uint64_t index = 0;
    bool is_index = read_index(selector, &index);
    *out_clip = PELT_NONE;
    if (is_index && index < asset->clip_count) {
        *out_clip = (uint32_t)index;
        return CLI_DONE;
    }
    uint32_t found = 0;
    for (uint32_t i = 0; i < asset->clip_count; i++) {
        if (strcmp(asset->clips[i].name, selector) == 0) {
            *out_clip = found == 0 ? i : *out_clip;
            found++;
        }
    }
    if (found == 1) {
        return CLI_DONE;
    }
    *out_clip = PELT_NONE;
    if (found > 1) {
        list_clips(asset, selector, list, sizeof list);
        return cli_fail(context, CLI_USAGE, file, NULL, "choose one by its index, such as --clip #0",
                        "%u clips are named \"%s\": %s", found, selector, list);
    }
    if (asset->clip_count == 0) {
        return cli_fail(context, CLI_USAGE, file, NULL, "leave --clip out for the rest pose",
                        "there is no clip \"%s\": the file has no clips", selector);
    }
    list_clips(asset, NULL, list, sizeof list);
    if (is_index) {
        return cli_fail(context, CLI_USAGE, file, NULL, "indices start at #0",
                        "there is no clip %s: the file has %u clip%s: %s", selector, asset->clip_count,
                        asset->clip_count == 1 ? "" : "s", list);
    }
    return cli_fail(context, CLI_USAGE, file, NULL, "give one of these names, or #N for the N-th",
                    "there is no clip \"%s\"; there is %s", selector, list);
}

int cli_parse_time(const cli_context *context, const char *text, double duration, double *out_time)
{
    *out_time = 0;
    if (!text) {
        return CLI_DONE;
    }
    char number[64];
    size_t length = strlen(text);
    bool percent = length > 0 && text[length - 1] == '%';
    length -= percent;
    double value = 0;
    bool plain = length > 0 && length < sizeof number;
    if (plain) {
        memcpy(number, text, length);
        number[length] = '\0';
        char *end = NULL;
        value = strtod(number, &end);
        // The set keeps out what strtod also reads: blanks, hexadecimal, infinity and NaN.
        plain = number[strspn(number, "0123456789+-.eE")] == '\0' && *end == '\0' && isfinite(value);
    }
    if (!plain) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, "write seconds as 1.25, or a share of the clip as 50%",
                        "--time takes seconds or a percentage, not \"%s\"", text);
    }
    if (percent && (value < 0 || value > 100)) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, "give seconds to reach further",
                        "--time %s is outside 0%% to 100%%", text);
    }
    *out_time = percent ? value / 100 * duration : value;
    return CLI_DONE;
}

int cli_select_device(const cli_context *context)
{
    const char *device = context->options.device;
    if (!device || strcmp(device, "cpu") == 0) {
        return CLI_DONE;
    }
    return cli_fail(context, CLI_NO_DEVICE, NULL, NULL, "leave --device out, or give --device cpu",
                    "there is no device %s: this build skins on the CPU only", device);
}

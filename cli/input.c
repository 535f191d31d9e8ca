// SPDX-License-Identifier: MIT
// Loads the input, and finds in it what options select.
#include "cli.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

pelt_gltf_options cli_import_options(cli_context *context)
{
    const cli_options *o = &context->options;
    return (pelt_gltf_options){.log = cli_log(context),
                               .limits = o->limits,
                               .lenient = o->lenient,
                               .allow_outside = o->allow_outside,
                               .influence_limit = o->max_influences};
}

// The magic of docs/format.md, but for the bytes that tell what a transfer as text did to the file.
bool cli_is_cooked(const char *path)
{
    static const unsigned char magic[5] = {0x89, 'P', 'E', 'L', 'T'};
    unsigned char start[sizeof magic];
    bool is_cooked = false;
    // O_NONBLOCK: opening a pipe that nobody writes to must not wait.
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor >= 0) {
        struct stat info;
        is_cooked = fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) &&
                    read(descriptor, start, sizeof start) == (ssize_t)sizeof start &&
                    memcmp(start, magic, sizeof magic) == 0;
        close(descriptor);
    }
    return is_cooked;
}

// The limits that the library has options for only where it reads glTF.
static int check_cooked_limits(const cli_context *context, const pelt_asset_data *data)
{
    const pelt_gltf_limits *limits = &context->options.limits;
    uint64_t most_vertices = limits->vertices ? limits->vertices : 100000000;
    uint32_t most_joints = limits->joints ? limits->joints : 65536;
    for (uint32_t i = 0; i < data->skin_count; i++) {
        if (data->skins[i].joint_count > most_joints) {
            return cli_fail(context, CLI_LIMIT, context->options.input, NULL, "raise the limit with --max-joints",
                            "skin %u has %u joints, over the limit of %u", (unsigned)i,
                            (unsigned)data->skins[i].joint_count, (unsigned)most_joints);
        }
    }
    for (uint32_t i = 0; i < data->mesh_count; i++) {
        for (uint32_t j = 0; j < data->meshes[i].primitive_count; j++) {
            uint32_t count = data->meshes[i].primitives[j].vertex_count;
            if (count > most_vertices) {
                return cli_fail(context, CLI_LIMIT, context->options.input, NULL, "raise the limit with --max-vertices",
                                "mesh %u, primitive %u has %u vertices, over the limit of %llu", (unsigned)i,
                                (unsigned)j, (unsigned)count, (unsigned long long)most_vertices);
            }
        }
    }
    return CLI_DONE;
}

// Prints an error about a .pelt and returns its exit code.
static int fail_cooked(const cli_context *context, pelt_error *error)
{
    if (error->code == PELT_ERROR_INVALID && !error->hint[0]) {
        snprintf(error->hint, sizeof error->hint, "cook the file again from its source");
    }
    return cli_fail_result(context, context->options.input, error);
}

static int check_file_size(const cli_context *context)
{
    uint64_t limit = context->options.limits.file_size;
    struct stat info;
    limit = limit ? limit : UINT64_C(4) << 30;
    if (stat(context->options.input, &info) == 0 && (uint64_t)info.st_size > limit) {
        return cli_fail(context, CLI_LIMIT, context->options.input, NULL, "raise the limit with --max-file-size",
                        "the file has %llu bytes, over the limit of %llu", (unsigned long long)info.st_size,
                        (unsigned long long)limit);
    }
    return CLI_DONE;
}

static int load_cooked(cli_context *context, pelt_gltf **out_gltf, pelt_asset **out_asset)
{
    const cli_options *o = &context->options;
    pelt_cooked_options options = {.log = cli_log(context), .memory_limit = o->limits.memory};
    pelt_error error = {0};
    int code = check_file_size(context);
    if (code != CLI_DONE) {
        return code;
    }
    pelt_result result = pelt_cooked_open_file(o->input, &options, &context->cooked, &error);
    if (result == PELT_OK) {
        result = pelt_cooked_import(context->cooked, out_asset, &error);
    }
    if (result == PELT_OK) {
        pelt_gltf_options document = cli_import_options(context);
        code = check_cooked_limits(context, pelt_asset_get(*out_asset));
        result = code == CLI_DONE ? pelt_gltf_open_asset(*out_asset, &document, out_gltf, &error) : PELT_OK;
    }
    if (result != PELT_OK) {
        error.code = result;
        code = fail_cooked(context, &error);
    }
    if (code != CLI_DONE) {
        pelt_asset_destroy(*out_asset);
        pelt_cooked_close(context->cooked);
        context->cooked = NULL;
        *out_asset = NULL;
        return code;
    }
    if (o->max_influences) {
        cli_warn(context, o->input, NULL, "--max-influences has no effect on a file that is cooked already");
    }
    return CLI_DONE;
}

static int load_gltf(cli_context *context, pelt_gltf **out_gltf, pelt_asset **out_asset)
{
    pelt_gltf_options options = cli_import_options(context);
    pelt_error error = {0};
    pelt_result result = pelt_gltf_open_file(context->options.input, &options, out_gltf, &error);
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
    int code = cli_fail_result(context, context->options.input, &error);
    pelt_asset_destroy(*out_asset);
    pelt_gltf_close(*out_gltf);
    *out_gltf = NULL;
    *out_asset = NULL;
    return code;
}

int cli_load(cli_context *context, pelt_gltf **out_gltf, pelt_asset **out_asset)
{
    *out_gltf = NULL;
    *out_asset = NULL;
    bool cooked = cli_is_cooked(context->options.input);
    return cooked ? load_cooked(context, out_gltf, out_asset) : load_gltf(context, out_gltf, out_asset);
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

int cli_select_clip(const cli_context *context, const pelt_asset_data *asset, const char *selector, uint32_t *out_clip)
{
    const char *file = context->options.input;
    char list[1024];
    uint64_t index = 0;
    bool is_index = cli_read_index(selector, &index);
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
    bool plain = length < sizeof number;
    if (plain) {
        memcpy(number, text, length);
        number[length] = '\0';
        plain = cli_read_real(number, &value);
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

// SPDX-License-Identifier: MIT
// `pelt cook`: one file into one, or a library of them.
#include "cook.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool ends_in_pelt(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    return length > 5 && strcasecmp(name + length - 5, ".pelt") == 0;
}

// Several inputs, a folder among them, or a folder to write to.
static bool wants_library(const cli_options *o)
{
    size_t length = strlen(o->output);
    bool folder = o->input_count > 1 || (length > 0 && o->output[length - 1] == '/') || is_folder(o->output);
    for (uint32_t i = 0; i < o->input_count && !folder; i++) {
        folder = is_folder(o->inputs[i]);
    }
    return folder;
}

static int cook_single(cli_context *context)
{
    cook_job job = {.context = context, .output = context->options.output};
    int code = cook_run(&job);
    if (code == CLI_DONE && context->options.json) {
        json_t *root = json_object();
        json_t *files = json_array();
        json_array_append_new(files, job.json);
        json_object_set_new(root, "schema", json_string("pelt/cook/1"));
        json_object_set_new(root, "output", cli_json_text(context->options.output));
        json_object_set_new(root, "files", files);
        code = cli_print_json(context, root);
    }
    return code == CLI_DONE && job.over ? CLI_NEGATIVE : code;
}

int cli_cook(cli_context *context)
{
    const cli_options *o = &context->options;
    if (wants_library(o)) {
        return cook_library(context);
    }
    if (!ends_in_pelt(o->output)) {
        return cli_fail(context, CLI_USAGE, o->output, NULL,
                        "end its name in .pelt for a file, or in / for a folder of outputs",
                        "the output is neither a .pelt file nor a folder");
    }
    if (o->shard[1]) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, "give a folder of inputs, or leave --shard out",
                        "--shard divides many inputs, and this is one");
    }
    return cook_single(context);
}

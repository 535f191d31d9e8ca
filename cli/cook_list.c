// SPDX-License-Identifier: MIT
// The inputs of a library: folders searched without recursion, outputs named after inputs, and shards that need to know
// nothing of one another.
#include "cook.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

// a, then b behind a slash where neither brings one. NULL where memory runs out.
static char *join(const char *a, const char *b)
{
    size_t length = strlen(a);
    const char *slash = length == 0 || a[length - 1] == '/' ? "" : "/";
    size_t size = length + strlen(b) + 2;
    char *path = malloc(size);
    if (path) {
        snprintf(path, size, "%s%s%s", a, slash, b);
    }
    return path;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Where the ending of a model starts, or NULL where the name has none.
static const char *find_ending(const char *path)
{
    static const char *const endings[] = {".glb", ".gltf", ".vrm"};
    const char *name = file_name(path);
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && dot > name && i < sizeof endings / sizeof endings[0]; i++) {
        if (strcasecmp(dot, endings[i]) == 0) {
            return dot;
        }
    }
    return NULL;
}

// Takes input, and relative where it is not part of input.
static bool add_entry(cook_list *list, char *input, const char *relative)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        cook_entry *grown = realloc(list->entries, capacity * sizeof *grown);
        if (!grown) {
            free(input);
            return false;
        }
        list->entries = grown;
        list->capacity = capacity;
    }
    char *copy = strdup(relative);
    if (!input || !copy) {
        free(input);
        free(copy);
        return false;
    }
    list->entries[list->count++] = (cook_entry){.input = input, .relative = copy};
    return true;
}

// ---- folders

typedef struct folders {
    char **names; // relative paths still to read
    size_t count;
    size_t capacity;
} folders;

static bool push_folder(folders *stack, char *name)
{
    if (stack->count == stack->capacity) {
        size_t capacity = stack->capacity ? 2 * stack->capacity : 16;
        char **grown = realloc(stack->names, capacity * sizeof *grown);
        if (!grown) {
            free(name);
            return false;
        }
        stack->names = grown;
        stack->capacity = capacity;
    }
    if (name) {
        stack->names[stack->count++] = name;
    }
    return name != NULL;
}

// A path that is skipped, which fails the run at its end.
static void tell_skipped(cli_context *context, cook_list *list, const char *path, const char *what, int error)
{
    cli_context quiet = *context;
    quiet.options.json = false;
    cli_fail(&quiet, CLI_IO, path, NULL, "it is skipped", "%s: %s", what, strerror(error));
    list->failed++;
}

// Links to folders are not followed: they may lead in circles. All else that is named like a model is an input: what is
// no file, or leads to none, is told when its turn comes and not left out in silence.
static bool look_at(cli_context *context, cook_list *list, folders *stack, const char *root, const char *relative)
{
    struct stat info;
    char *path = join(root, relative);
    if (!path) {
        return false;
    }
    bool found = lstat(path, &info) == 0;
    int error = found ? 0 : errno;
    bool folder = found && S_ISDIR(info.st_mode);
    bool door = found && S_ISLNK(info.st_mode) && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    if (!folder && !door && find_ending(relative)) {
        return add_entry(list, path, relative);
    }
    if (!found && error != ENOENT) { // removed since it was listed
        tell_skipped(context, list, path, "it cannot be told whether this is a folder", error);
    }
    free(path);
    return !folder || push_folder(stack, strdup(relative));
}

static bool read_folder(cli_context *context, cook_list *list, folders *stack, const char *root, const char *relative)
{
    char *path = join(root, relative);
    DIR *folder = path ? opendir(path) : NULL;
    int error = folder ? 0 : errno;
    bool done = path != NULL;
    while (done && folder) {
        errno = 0;
        struct dirent *entry = readdir(folder);
        if (!entry) {
            error = errno;
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            char *child = join(relative, entry->d_name);
            done = child && look_at(context, list, stack, root, child);
            free(child);
        }
    }
    if (done && error) {
        tell_skipped(context, list, path, "the folder cannot be read", error);
    }
    if (folder) {
        closedir(folder);
    }
    free(path);
    return done;
}

static bool read_tree(cli_context *context, cook_list *list, const char *root)
{
    folders stack = {0};
    bool done = push_folder(&stack, strdup(""));
    while (done && stack.count > 0) {
        char *relative = stack.names[--stack.count];
        done = read_folder(context, list, &stack, root, relative);
        free(relative);
    }
    while (stack.count > 0) {
        free(stack.names[--stack.count]);
    }
    free(stack.names);
    return done;
}

// ---- outputs

// The relative path below folder, with its ending replaced, or .pelt behind it where whole is set.
static char *output_path(const char *folder, const char *relative, bool whole)
{
    const char *ending = whole ? NULL : find_ending(relative);
    size_t length = ending ? (size_t)(ending - relative) : strlen(relative);
    char *name = malloc(length + sizeof ".pelt");
    if (!name) {
        return NULL;
    }
    memcpy(name, relative, length);
    memcpy(name + length, ".pelt", sizeof ".pelt");
    char *path = join(folder, name);
    free(name);
    return path;
}

static int by_output(const void *a, const void *b)
{
    const cook_entry *x = a;
    const cook_entry *y = b;
    int order = strcmp(x->output, y->output);
    return order ? order : strcmp(x->input, y->input);
}

static int by_relative(const void *a, const void *b)
{
    const cook_entry *x = a;
    const cook_entry *y = b;
    int order = strcmp(x->relative, y->relative);
    return order ? order : strcmp(x->input, y->input);
}

// fox.glb and fox.gltf of one folder become fox.glb.pelt and fox.gltf.pelt.
static int name_outputs(cli_context *context, cook_list *list)
{
    const char *folder = context->options.output;
    bool done = true;
    for (size_t i = 0; done && i < list->count; i++) {
        list->entries[i].output = output_path(folder, list->entries[i].relative, false);
        done = list->entries[i].output != NULL;
    }
    if (done && list->count) {
        qsort(list->entries, list->count, sizeof *list->entries, by_output);
    }
    for (size_t first = 0; done && first < list->count;) {
        size_t end = first + 1;
        while (end < list->count && strcmp(list->entries[first].output, list->entries[end].output) == 0) {
            end++;
        }
        for (size_t i = first; end - first > 1 && done && i < end; i++) {
            char *output = output_path(folder, list->entries[i].relative, true);
            free(list->entries[i].output);
            list->entries[i].output = output;
            done = output != NULL;
        }
        first = end;
    }
    if (!done) {
        return cli_fail(context, CLI_LIMIT, NULL, NULL, NULL, "out of memory for the list of files");
    }
    if (list->count) {
        qsort(list->entries, list->count, sizeof *list->entries, by_output);
    }
    for (size_t i = 1; i < list->count; i++) {
        if (strcmp(list->entries[i - 1].output, list->entries[i].output) == 0) {
            return cli_fail(context, CLI_USAGE, list->entries[i].output, NULL, "cook them into folders of their own",
                            "two inputs have this output: %s and %s", list->entries[i - 1].input,
                            list->entries[i].input);
        }
    }
    return CLI_DONE;
}

static void release_entry(cook_entry *entry)
{
    free(entry->input);
    free(entry->relative);
    free(entry->output);
}

// A hash of the path, so that a file stays in its shard whatever else is in the folder.
static void keep_shard(cook_list *list, const uint32_t shard[2])
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        uint64_t hash[2];
        pelt_source_hash(list->entries[i].relative, strlen(list->entries[i].relative), hash);
        if (hash[0] % shard[1] == shard[0] - 1) {
            list->entries[kept++] = list->entries[i];
        } else {
            release_entry(&list->entries[i]);
        }
    }
    list->count = kept;
}

int cook_list_inputs(cli_context *context, cook_list *out)
{
    const cli_options *o = &context->options;
    bool done = true;
    *out = (cook_list){0};
    for (uint32_t i = 0; done && i < o->input_count; i++) {
        struct stat info;
        if (stat(o->inputs[i], &info) == 0 && S_ISDIR(info.st_mode)) {
            done = read_tree(context, out, o->inputs[i]);
        } else {
            // What is not there is told like any other bad file.
            done = add_entry(out, strdup(o->inputs[i]), file_name(o->inputs[i]));
        }
    }
    if (!done) {
        return cli_fail(context, CLI_LIMIT, NULL, NULL, NULL, "out of memory for the list of files");
    }
    int code = name_outputs(context, out);
    if (code != CLI_DONE) {
        return code;
    }
    if (out->count == 0 && out->failed == 0) {
        return cli_fail(context, CLI_IO, o->input, NULL, "give a folder that holds models",
                        "there is no .glb, .gltf or .vrm file in it");
    }
    out->found = out->count;
    if (o->shard[1]) {
        keep_shard(out, o->shard);
    }
    if (out->count) {
        qsort(out->entries, out->count, sizeof *out->entries, by_relative);
    }
    return CLI_DONE;
}

void cook_list_release(cook_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        release_entry(&list->entries[i]);
    }
    free(list->entries);
    *list = (cook_list){0};
}

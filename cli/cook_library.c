// SPDX-License-Identifier: MIT
// Cooks many files, a worker for each thread and a file for each worker at a time. A bad one is told and skipped.
#include "cook.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// What is kept of a file until all are done.
typedef struct outcome {
    cook_status status;
    bool measured;
    bool over;
    uint64_t source_size;
    uint64_t output_size;
    double position;
    double share;
    json_t *json;
} outcome;

typedef struct library {
    cli_context *context;
    cook_list list;
    outcome *outcomes; // list.count
    cli_progress progress;
    uint64_t done; // files; under the screen's lock
} library;

// Makes every folder above path. Another worker or shard may do so at the same time.
static int make_folders(const cli_context *context, const char *path)
{
    char *copy = strdup(path);
    if (!copy) {
        return cli_fail(context, CLI_LIMIT, path, NULL, NULL, "out of memory");
    }
    int error = 0;
    for (char *slash = strchr(copy + 1, '/'); slash && !error; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        error = mkdir(copy, 0777) != 0 && errno != EEXIST ? errno : 0;
        *slash = '/';
    }
    free(copy);
    return error ? cli_fail(context, CLI_IO, path, NULL, "make the folder, or give another one",
                            "a folder for it cannot be made: %s", strerror(error))
                 : CLI_DONE;
}

static void cook_entry_of(library *lib, uint32_t index, const pelt_parallel *parallel)
{
    const cook_entry *entry = &lib->list.entries[index];
    outcome *out = &lib->outcomes[index];
    json_t *failure = NULL;
    // A context of its own: messages carry this file's name, warnings go to its entry.
    cli_context context = {.options = lib->context->options,
                           .verb = lib->context->verb,
                           .parallel = *parallel,
                           .warnings = json_array(),
                           .failure = &failure,
                           .replace_cooked = true,
                           .color = lib->context->color};
    context.options.input = entry->input;
    cook_job job = {.context = &context, .output = entry->output, .library = true};
    int code = make_folders(&context, entry->output);
    code = code == CLI_DONE ? cook_run(&job) : code;
    *out = (outcome){.status = job.status,
                     .measured = job.measured,
                     .over = job.over,
                     .source_size = job.source_size,
                     .output_size = job.output_size,
                     .position = job.error.position,
                     .share = job.error.share};
    if (context.options.json) {
        out->json = job.json ? job.json : cook_json_outcome(&job);
        if (code != CLI_DONE) {
            json_object_set(out->json, "failure", failure);
        }
    }
    json_decref(failure);
    json_decref(context.warnings);
    cli_screen_lock();
    cli_progress_step(&lib->progress, ++lib->done);
    cli_screen_unlock();
}

static void cook_task(void *context, uint32_t index)
{
    const pelt_parallel none = {0};
    cook_entry_of(context, index, &none);
}

typedef struct totals {
    uint64_t counts[3]; // by cook_status
    uint64_t over;
    uint64_t source_size; // of those cooked
    uint64_t output_size;
    double position;
    double share;
} totals;

static totals sum_up(const library *lib)
{
    totals sum = {.counts = {lib->list.failed}};
    for (size_t i = 0; i < lib->list.count; i++) {
        const outcome *out = &lib->outcomes[i];
        sum.counts[out->status]++;
        sum.over += out->over;
        if (out->status == COOK_WRITTEN) {
            sum.source_size += out->source_size;
            sum.output_size += out->output_size;
        }
        sum.position = out->position > sum.position ? out->position : sum.position;
        sum.share = out->share > sum.share ? out->share : sum.share;
    }
    return sum;
}

static void print_outcome(const cook_entry *entry, const outcome *out)
{
    char first[32];
    char second[32];
    cli_put(stdout, entry->relative);
    if (out->status == COOK_FAILED) {
        printf(": failed\n");
        return;
    }
    printf(": %s, %s bytes -> %s bytes", out->status == COOK_WRITTEN ? "cooked" : "unchanged",
           cli_grouped(out->source_size, first), cli_grouped(out->output_size, second));
    if (out->measured) {
        printf(", positions off by at most %.3g (%.3g %% of the diagonal)%s", out->position, 100 * out->share,
               out->over ? ", over --max-error" : "");
    }
    printf("\n");
}

static void print_text(const library *lib, const totals *sum)
{
    char number[4][32];
    for (size_t i = 0; i < lib->list.count; i++) {
        print_outcome(&lib->list.entries[i], &lib->outcomes[i]);
    }
    printf("%s cooked (%s bytes -> %s bytes), ", cli_grouped(sum->counts[COOK_WRITTEN], number[0]),
           cli_grouped(sum->source_size, number[1]), cli_grouped(sum->output_size, number[2]));
    printf("%s unchanged, ", cli_grouped(sum->counts[COOK_UNCHANGED], number[0]));
    printf("%s failed", cli_grouped(sum->counts[COOK_FAILED], number[0]));
    if (lib->context->options.has_max_error) {
        printf(", %s over --max-error", cli_grouped(sum->over, number[0]));
    }
    if (lib->context->options.shard[1]) {
        printf("; shard %u of %u: %s of %s files", (unsigned)lib->context->options.shard[0],
               (unsigned)lib->context->options.shard[1], cli_grouped(lib->list.count, number[0]),
               cli_grouped(lib->list.found, number[1]));
    }
    printf("\n");
}

static int print_json(library *lib, const totals *sum)
{
    const cli_options *o = &lib->context->options;
    json_t *root = json_object();
    json_t *files = json_array();
    json_t *shard = o->shard[1] ? json_pack("[i, i]", (int)o->shard[0], (int)o->shard[1]) : json_null();
    for (size_t i = 0; i < lib->list.count; i++) {
        json_array_append(files, lib->outcomes[i].json);
    }
    json_object_set_new(root, "schema", json_string("pelt/cook/1"));
    json_object_set_new(root, "output", cli_json_text(o->output));
    json_object_set_new(root, "shard", shard);
    json_object_set_new(root, "found", json_integer((json_int_t)lib->list.found));
    json_object_set_new(root, "cooked", json_integer((json_int_t)sum->counts[COOK_WRITTEN]));
    json_object_set_new(root, "unchanged", json_integer((json_int_t)sum->counts[COOK_UNCHANGED]));
    json_object_set_new(root, "failed", json_integer((json_int_t)sum->counts[COOK_FAILED]));
    json_object_set_new(root, "over", o->has_max_error ? json_integer((json_int_t)sum->over) : json_null());
    json_object_set_new(root, "files", files);
    return cli_print_json(lib->context, root);
}

static int cook_all(library *lib)
{
    cli_context *context = lib->context;
    uint32_t count = (uint32_t)lib->list.count;
    lib->outcomes = calloc(lib->list.count + 1, sizeof *lib->outcomes);
    if (!lib->outcomes || lib->list.count > UINT32_MAX) {
        return cli_fail(context, CLI_LIMIT, NULL, NULL, NULL, "out of memory for the list of files");
    }
    lib->progress = cli_progress_begin(context, "cooking", count);
    if (count == 1) {
        cook_entry_of(lib, 0, &context->parallel); // all threads work on it
    } else if (count > 0) {
        context->parallel.run(context->parallel.user, count, cook_task, lib);
    }
    cli_progress_end(&lib->progress);
    totals sum = sum_up(lib);
    int code = CLI_DONE;
    if (context->options.json) {
        code = print_json(lib, &sum);
    } else {
        print_text(lib, &sum);
    }
    return code == CLI_DONE && (sum.counts[COOK_FAILED] || sum.over) ? CLI_NEGATIVE : code;
}

int cook_library(cli_context *context)
{
    library lib = {.context = context};
    struct stat info;
    const char *output = context->options.output;
    if (stat(output, &info) == 0 && !S_ISDIR(info.st_mode)) {
        return cli_fail(context, CLI_USAGE, output, NULL, "give a folder to write to",
                        "the outputs of several inputs cannot go into one file");
    }
    int code = cook_list_inputs(context, &lib.list);
    code = code == CLI_DONE ? cook_all(&lib) : code;
    for (size_t i = 0; lib.outcomes && i < lib.list.count; i++) {
        json_decref(lib.outcomes[i].json);
    }
    free(lib.outcomes);
    cook_list_release(&lib.list);
    return code;
}

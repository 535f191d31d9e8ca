// SPDX-License-Identifier: MIT
// Cooks one file: reads and packs it, measures the loss, and writes the .pelt whole or not at all.
#include "cook.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct cooking {
    cook_job *job;
    cli_context *context;
    pelt_gltf *gltf;
    pelt_asset *source;
    pelt_cook_options options;
    void *image;
    uint64_t image_size;
    pelt_cook_report *reports; // NULL where an older output is measured
    uint32_t primitive_count;
    pelt_cooked *cooked;
    pelt_asset *unpacked;
    cook_errors errors;
} cooking;

static int fail(const cooking *c, pelt_result result, pelt_error *error)
{
    error->code = result;
    return cli_fail_result(c->context, c->context->options.input, error);
}

static int out_of_memory(const cooking *c)
{
    return cli_fail(c->context, CLI_LIMIT, c->context->options.input, NULL, NULL, "out of memory while cooking");
}

// ---- what the output is made from

static size_t store_u64(uint8_t *out, size_t at, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        out[at + (size_t)i] = (uint8_t)(value >> (8 * i));
    }
    return at + 8;
}

// The file's hash. Where it has external buffers, or where the import was told to change something, the hash of all
// hashes in order, little endian, and of those two options.
static bool hash_source(const pelt_gltf *gltf, const cli_options *o, uint64_t out[2])
{
    uint32_t count = pelt_gltf_source_part_count(gltf);
    bool changed = o->lenient || o->max_influences;
    uint8_t *list = malloc(((size_t)count + 1) * 16);
    size_t size = 0;
    if (!list) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t part_size = 0;
        const void *part = pelt_gltf_source_part(gltf, i, &part_size);
        if (part) {
            pelt_source_hash(part, part_size, out);
            size = store_u64(list, size, out[0]);
            size = store_u64(list, size, out[1]);
        }
    }
    if (changed) {
        size = store_u64(list, size, o->max_influences);
        size = store_u64(list, size, o->lenient);
    }
    if (size != 16) {
        pelt_source_hash(list, size, out);
    }
    free(list);
    return true;
}

static void set_options(cooking *c)
{
    cli_context *context = c->context;
    const cli_options *o = &context->options;
    c->options.log = cli_log(context);
    c->options.weights = o->weights && strcmp(o->weights, "plain") == 0 ? PELT_WEIGHTS_PLAIN : PELT_WEIGHTS_SORTED;
    c->options.keep_order = o->keep_order;
    c->options.direct_joints = o->direct_joints;
    c->options.morph_16bit = o->morph16;
    c->options.morph_weight_min = (float)o->morph_range[0];
    c->options.morph_weight_max = (float)o->morph_range[1];
    c->options.parallel = &context->parallel;
}

static int open_source(cooking *c)
{
    cli_context *context = c->context;
    const char *input = context->options.input;
    if (cli_is_cooked(input)) {
        return cli_fail(context, CLI_UNSUPPORTED, input, NULL, "give the file that it was cooked from",
                        "the file is cooked already");
    }
    pelt_gltf_options options = cli_import_options(context);
    pelt_error error = {0};
    pelt_result result = pelt_gltf_open_file(input, &options, &c->gltf, &error);
    if (result != PELT_OK) {
        return fail(c, result, &error);
    }
    c->job->source_size = pelt_gltf_source_size(c->gltf);
    return hash_source(c->gltf, &context->options, c->options.source_hash) ? CLI_DONE : out_of_memory(c);
}

static int import_source(cooking *c)
{
    pelt_error error = {0};
    pelt_result result = pelt_gltf_import(c->gltf, &c->source, &error);
    if (result == PELT_OK && cli_json_out_of_memory()) {
        error = (pelt_error){.message = "out of memory while reading the JSON"};
        result = PELT_ERROR_MEMORY;
    }
    if (result != PELT_OK) {
        return fail(c, result, &error);
    }
    const pelt_asset_data *data = pelt_asset_get(c->source);
    for (uint32_t i = 0; i < data->mesh_count; i++) {
        c->primitive_count += data->meshes[i].primitive_count;
    }
    return CLI_DONE;
}

// ---- an output that is there already

// In a library an output of an earlier run or of one at the same time may be replaced, and nothing else without
// --force.
static int look_at_output(cooking *c, bool *out_unchanged)
{
    const char *output = c->job->output;
    uint64_t source_hash[2];
    uint64_t options_hash = 0;
    struct stat info;
    *out_unchanged = false;
    if (!c->job->library || c->context->options.force || lstat(output, &info) != 0) {
        return CLI_DONE;
    }
    if (!cli_is_cooked(output)) {
        return cli_fail(c->context, CLI_IO, output, NULL, "add --force to replace it, or give another folder",
                        "the file exists already and is not cooked");
    }
    *out_unchanged = pelt_cooked_read_hashes(output, source_hash, &options_hash) == PELT_OK &&
                     memcmp(source_hash, c->options.source_hash, sizeof source_hash) == 0 &&
                     options_hash == pelt_cook_options_hash(&c->options);
    c->job->output_size = (uint64_t)info.st_size;
    return CLI_DONE;
}

// ---- steps

static int pack(cooking *c)
{
    pelt_error error = {0};
    c->reports = calloc((size_t)c->primitive_count + 1, sizeof *c->reports);
    if (!c->reports) {
        return out_of_memory(c);
    }
    pelt_result result = pelt_cook(c->source, &c->options, &c->image, &c->image_size, c->reports, &error);
    if (result == PELT_OK) {
        pelt_cooked_options options = {.skip_hashes = true}; // they were made a moment ago
        c->job->output_size = c->image_size;
        result = pelt_cooked_open_memory(c->image, c->image_size, &options, &c->cooked, &error);
    }
    return result == PELT_OK ? CLI_DONE : fail(c, result, &error);
}

static int open_older(cooking *c)
{
    pelt_error error = {0};
    pelt_result result = pelt_cooked_open_file(c->job->output, NULL, &c->cooked, &error);
    if (result != PELT_OK) {
        error.code = result;
        return cli_fail_result(c->context, c->job->output, &error);
    }
    return CLI_DONE;
}

static int measure(cooking *c)
{
    pelt_error error = {0};
    pelt_result result = pelt_cooked_import(c->cooked, &c->unpacked, &error);
    if (result != PELT_OK) {
        return fail(c, result, &error);
    }
    int code = cook_measure(c->context, c->source, c->unpacked, pelt_cooked_get(c->cooked), &c->errors);
    if (code == CLI_DONE) {
        const cli_options *o = &c->context->options;
        c->job->measured = true;
        c->job->error = c->errors.all;
        c->job->over = o->has_max_error && c->errors.all.position > o->max_error;
    }
    return code;
}

static int write_image(cooking *c)
{
    cli_output output = {0};
    int code = cli_output_open(c->context, c->job->output, &output);
    if (code == CLI_DONE) {
        cli_output_write(&output, c->image, (size_t)c->image_size); // a failure is kept and told at the commit
        code = cli_output_commit(&output);
    }
    cli_output_abort(&output);
    return code;
}

static void tell(cooking *c)
{
    cook_facts facts = {.job = c->job,
                        .source = pelt_asset_get(c->source),
                        .cooked = pelt_cooked_get(c->cooked),
                        .reports = c->reports,
                        .errors = &c->errors};
    if (c->context->options.json) {
        c->job->json = cook_json(&facts);
    } else if (!c->job->library) {
        cook_print(&facts);
    }
}

static void release(cooking *c)
{
    free(c->errors.primitives);
    free(c->reports);
    pelt_asset_destroy(c->unpacked);
    pelt_cooked_close(c->cooked);
    pelt_cook_release(&c->options, c->image, c->image_size);
    pelt_asset_destroy(c->source);
    pelt_gltf_close(c->gltf);
}

int cook_run(cook_job *job)
{
    cooking c = {.job = job, .context = job->context};
    bool unchanged = false;
    set_options(&c);
    int code = open_source(&c);
    code = code == CLI_DONE ? look_at_output(&c, &unchanged) : code;
    // The verdict is about the file, whether or not it had to be cooked again.
    bool whole = !unchanged || c.context->options.has_max_error;
    if (code == CLI_DONE && whole) {
        code = import_source(&c);
        code = code == CLI_DONE ? (unchanged ? open_older(&c) : pack(&c)) : code;
        code = code == CLI_DONE ? measure(&c) : code;
        code = code == CLI_DONE && !unchanged ? write_image(&c) : code;
    }
    if (code == CLI_DONE) {
        job->status = unchanged ? COOK_UNCHANGED : COOK_WRITTEN;
        if (whole) {
            tell(&c);
        }
    }
    release(&c);
    return code;
}

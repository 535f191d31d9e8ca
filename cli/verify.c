// SPDX-License-Identifier: MIT
// `pelt verify`: every backend skins the same packed streams at many moments, and is held against the scalar CPU path.
#include "verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_SAMPLES = 64, // of one clip
    FEWEST_SAMPLES = 3
};

// Vertices posed by each backend, over moments and instances, where --samples does not say how many moments: what keeps
// a crowd or a file of many long clips from taking hours.
static const double vertex_budget = 4e7;

typedef struct verifying {
    cli_context *context;
    verify_backends backends;
    verify_track *tracks;    // of this file
    verify_figures *figures; // of this file
    verify_figures *all;     // of all files
    uint32_t verified_count; // files
    bool outside;            // a backend is over tolerance in some file
    json_t *files;           // for --json
} verifying;

static int out_of_memory(const verifying *v)
{
    return cli_fail(v->context, CLI_LIMIT, NULL, NULL, NULL, "out of memory for the devices");
}

// ---- one file

typedef struct file_work {
    verifying *v;
    verify_model model;
    verify_reach reach;
    verify_result result;
    cli_progress progress;
} file_work;

// A model whose vertices leave the range of floats says nothing of a backend.
static int check_finite(const file_work *w, uint32_t index, const verify_output *reference)
{
    const verify_model *m = &w->model;
    const verify_item *item = &m->items[index];
    size_t count = 3 * (size_t)item->source->vertex_count;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(reference->positions[i])) {
            const pelt_asset_data *data = pelt_asset_get(m->asset);
            const pelt_instance *instance = &data->instances[item->instance];
            char where[96];
            char moment[64] = "in the rest pose";
            snprintf(where, sizeof where, "/meshes/%u/primitives/%u", (unsigned)instance->mesh,
                     (unsigned)item->primitive);
            if (m->clip != PELT_NONE) {
                snprintf(moment, sizeof moment, "in clip #%u at %.9g s", (unsigned)m->clip, m->time);
            }
            return cli_fail(m->context, CLI_INVALID, m->context->options.input, where,
                            "transforms, morph weights or vertices are too large for 32-bit floats",
                            "node %u, primitive %u, packed vertex %zu: the posed position is not finite %s",
                            (unsigned)data->nodes[instance->node].file_index, (unsigned)item->primitive, i / 3, moment);
        }
    }
    return CLI_DONE;
}

static int verify_item_now(file_work *w, uint32_t index)
{
    verifying *v = w->v;
    verify_output reference;
    int code = v->backends.list[0].type->read(&v->backends.list[0], index, &reference);
    code = code == CLI_DONE ? check_finite(w, index, &reference) : code;
    if (code != CLI_DONE) {
        return code;
    }
    verify_compare(&w->model, index, NULL, NULL, &reference, &v->tracks[0]);
    if (v->backends.count > 1) {
        verify_directions(&w->model, &w->model.items[index], &w->reach);
    }
    for (uint32_t i = 1; i < v->backends.count && code == CLI_DONE; i++) {
        verify_output output;
        code = v->backends.list[i].type->read(&v->backends.list[i], index, &output);
        if (code == CLI_DONE) {
            verify_compare(&w->model, index, &reference, &w->reach, &output, &v->tracks[i]);
        }
    }
    return code;
}

static int verify_moment(file_work *w, uint32_t clip, double time)
{
    verifying *v = w->v;
    int code = verify_model_pose(&w->model, clip, time);
    for (uint32_t i = 0; i < v->backends.count && code == CLI_DONE; i++) {
        code = v->backends.list[i].type->update(&v->backends.list[i]);
        v->tracks[i].update_count++;
    }
    for (uint32_t i = 0; i < w->model.item_count && code == CLI_DONE; i++) {
        code = verify_item_now(w, i);
    }
    w->result.moment_count++;
    return code;
}

static int verify_clip(file_work *w, uint32_t clip)
{
    uint32_t count = 0;
    double *times = verify_moments(&pelt_asset_get(w->model.asset)->clips[clip], w->result.sample_limit, &count);
    int code = times ? CLI_DONE : verify_out_of_memory(&w->model);
    for (uint32_t i = 0; i < count && code == CLI_DONE; i++) {
        code = verify_moment(w, clip, times[i]);
        cli_progress_step(&w->progress, (uint64_t)clip * w->result.sample_limit + i + 1);
    }
    free(times);
    return code;
}

static uint32_t sample_limit(const verify_model *m, uint32_t clip_count)
{
    uint32_t asked = m->context->options.samples;
    double most = floor(vertex_budget / ((double)m->vertex_count + 1) / (clip_count ? clip_count : 1));
    if (asked) {
        return asked;
    }
    return most >= DEFAULT_SAMPLES ? DEFAULT_SAMPLES : most <= FEWEST_SAMPLES ? FEWEST_SAMPLES : (uint32_t)most;
}

static int begin_backends(file_work *w)
{
    verifying *v = w->v;
    int code = CLI_DONE;
    for (uint32_t i = 0; i < v->backends.count && code == CLI_DONE; i++) {
        v->figures[i] = (verify_figures){0};
        v->tracks[i] = (verify_track){.hashes = calloc((size_t)w->model.item_count + 1, sizeof *v->tracks[i].hashes),
                                      .figures = &v->figures[i]};
        code = v->tracks[i].hashes ? v->backends.list[i].type->begin(&v->backends.list[i], &w->model)
                                   : verify_out_of_memory(&w->model);
    }
    w->reach.normals = calloc((size_t)w->model.largest + 1, sizeof *w->reach.normals);
    w->reach.tangents = calloc((size_t)w->model.largest + 1, sizeof *w->reach.tangents);
    return code != CLI_DONE || (w->reach.normals && w->reach.tangents) ? code : verify_out_of_memory(&w->model);
}

static int verify_moments_of(file_work *w)
{
    uint32_t clips = pelt_asset_get(w->model.asset)->clip_count;
    w->result.clip_count = clips;
    w->result.sample_limit = sample_limit(&w->model, clips);
    w->progress = cli_progress_begin(w->v->context, "verifying", (uint64_t)clips * w->result.sample_limit);
    int code = verify_moment(w, PELT_NONE, 0);
    for (uint32_t i = 0; i < clips && code == CLI_DONE; i++) {
        code = verify_clip(w, i);
    }
    cli_progress_end(&w->progress);
    return code;
}

static void report(file_work *w)
{
    verifying *v = w->v;
    cli_context *context = v->context;
    w->result.model = &w->model;
    w->result.backend_count = v->backends.count;
    w->result.backends = v->backends.list;
    w->result.figures = v->figures;
    for (uint32_t i = 0; i < v->backends.count; i++) {
        verify_add_figures(&v->figures[i], &v->all[i]);
        v->outside = v->outside || !verify_within(&v->figures[i]);
    }
    v->verified_count++;
    if (w->model.item_count == 0) {
        cli_warn(context, context->options.input, NULL, "there is no mesh in the default scene: nothing to verify");
    }
    if (context->options.json) {
        json_array_append_new(v->files, verify_json_file(&w->result));
    } else {
        verify_print(&w->result);
    }
}

static int verify_file(verifying *v)
{
    file_work w = {.v = v};
    int code = verify_model_open(v->context, &w.model);
    if (code == CLI_DONE) {
        code = begin_backends(&w);
        code = code == CLI_DONE ? verify_moments_of(&w) : code;
        if (code == CLI_DONE) {
            report(&w);
        }
        for (uint32_t i = 0; i < v->backends.count; i++) {
            v->backends.list[i].type->end(&v->backends.list[i]);
            free(v->tracks[i].hashes);
            v->tracks[i] = (verify_track){0};
        }
    }
    free(w.reach.normals);
    free(w.reach.tangents);
    verify_model_close(&w.model);
    return code;
}

// ---- all files

// With several files a failure goes to the file's entry, and the next file follows.
static int verify_one_of_many(verifying *v, const char *input)
{
    cli_context *context = v->context;
    json_t *outer = context->warnings;
    json_t *failure = NULL;
    json_t *warnings = json_array();
    context->options.input = input;
    context->warnings = warnings;
    context->failure = &failure;
    int code = warnings ? verify_file(v) : out_of_memory(v);
    pelt_cooked_close(context->cooked);
    context->cooked = NULL;
    context->warnings = outer;
    context->failure = NULL;
    if (context->options.json) {
        json_t *entry = code == CLI_DONE ? json_array_get(v->files, json_array_size(v->files) - 1) : json_object();
        if (code != CLI_DONE) {
            json_object_set_new(entry, "file", cli_json_text(input));
            json_array_append_new(v->files, entry);
        }
        json_object_set(entry, "failure", failure ? failure : json_null());
        json_object_set(entry, "warnings", warnings);
    }
    json_decref(failure);
    json_decref(warnings);
    return code;
}

static int verify_files(verifying *v)
{
    cli_context *context = v->context;
    uint32_t count = context->options.input_count;
    int code = CLI_DONE;
    if (count == 1) {
        return verify_file(v);
    }
    for (uint32_t i = 0; i < count; i++) {
        int one = verify_one_of_many(v, context->options.inputs[i]);
        code = code == CLI_DONE ? one : code;
        if (!context->options.json && one == CLI_DONE) {
            printf("\n");
        }
    }
    context->options.input = context->options.inputs[0];
    return code;
}

static int print_json(verifying *v)
{
    cli_context *context = v->context;
    json_t *root = json_object();
    json_t *backends = json_array();
    for (uint32_t i = 0; i < v->backends.count; i++) {
        json_array_append_new(backends, verify_json_backend(&v->backends.list[i], i == 0, &v->all[i]));
    }
    json_object_set_new(root, "schema", json_string("pelt/verify/1"));
    json_object_set_new(root, "tolerance", json_real(verify_tolerance(context)));
    json_object_set_new(root, "within", json_boolean(!v->outside));
    json_object_set_new(root, "no_device", cli_json_text(v->backends.no_device[0] ? v->backends.no_device : NULL));
    json_object_set_new(root, "verified", json_integer(v->verified_count));
    json_object_set(root, "files", v->files);
    json_object_set_new(root, "worst", backends);
    return cli_print_json(context, root);
}

static int verify_and_report(verifying *v)
{
    cli_context *context = v->context;
    v->files = json_array();
    if (!v->files) {
        return out_of_memory(v);
    }
    if (v->backends.no_device[0] && !context->options.json) {
        printf("no Vulkan device, the CPU alone is verified: %s\n", v->backends.no_device);
    }
    int code = verify_files(v);
    bool many = context->options.input_count > 1;
    int told = CLI_DONE;
    if (context->options.json && (many || code == CLI_DONE)) {
        told = print_json(v);
    } else if (many && v->verified_count > 0) {
        verify_print_worst(context, v->verified_count, v->backends.count, v->backends.list, v->all);
    }
    json_decref(v->files);
    code = code == CLI_DONE ? told : code;
    return code == CLI_DONE && v->outside ? CLI_NEGATIVE : code;
}

int cli_verify(cli_context *context)
{
    verifying v = {.context = context};
    int code = verify_backends_open(context, &v.backends);
    if (code == CLI_DONE) {
        v.tracks = calloc(v.backends.count, sizeof *v.tracks);
        v.figures = calloc(v.backends.count, sizeof *v.figures);
        v.all = calloc(v.backends.count, sizeof *v.all);
        code = v.tracks && v.figures && v.all ? verify_and_report(&v) : out_of_memory(&v);
    }
    free(v.tracks);
    free(v.figures);
    free(v.all);
    verify_backends_close(&v.backends);
    return code;
}

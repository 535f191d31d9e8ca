// SPDX-License-Identifier: MIT
// `pelt bounds`: exact boxes at one moment or over clips, beside the boxes that the file declares.
#include "bounds.h"
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

typedef struct bounds_request {
    bool all;
    uint32_t first_clip; // PELT_NONE = rest pose
    uint32_t clip_count; // from first_clip on; 1 for the rest pose
    double fps;
} bounds_request;

static int check_options(cli_context *context, bounds_request *out)
{
    const cli_options *o = &context->options;
    out->all = o->clip && strcmp(o->clip, "all") == 0;
    out->fps = o->fps > 0.0 ? o->fps : 60.0;
    if (!o->clip && (o->time || o->fps > 0.0)) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, "add --clip NAME, --clip #N or --clip all",
                        "%s needs a clip: the rest pose has no time", o->time ? "--time" : "--fps");
    }
    if (o->time && o->fps > 0.0) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, "leave one of them out",
                        "--time is one moment and --fps a grid of many");
    }
    return CLI_DONE;
}

static int choose_clips(cli_context *context, const pelt_asset_data *data, bounds_request *out)
{
    out->first_clip = PELT_NONE;
    out->clip_count = 1;
    if (!context->options.clip) {
        return CLI_DONE;
    }
    if (!out->all) {
        return cli_select_clip(context, data, context->options.clip, &out->first_clip);
    }
    out->first_clip = 0;
    out->clip_count = data->clip_count;
    if (data->clip_count == 0) {
        return cli_fail(context, CLI_USAGE, context->options.input, NULL, "leave --clip out for the rest pose",
                        "--clip all: the file has no clips");
    }
    return CLI_DONE;
}

// The moments of one result: none listed for the rest pose, one for --time.
static int list_moments(cli_context *context, const scene *s, double fps, bounds_result *result, bounds_moments *out)
{
    *out = (bounds_moments){0};
    if (result->clip == PELT_NONE) {
        return CLI_DONE;
    }
    if (!context->options.time) {
        return bounds_collect(context, s->asset, result->clip, fps, out);
    }
    double duration = (double)pelt_asset_get(s->asset)->clips[result->clip].duration;
    result->one_time = true;
    return cli_parse_time(context, context->options.time, duration, &result->time);
}

static int measure(cli_context *context, scene *s, double fps, bounds_result *result)
{
    bounds_moments moments;
    int code = list_moments(context, s, fps, result, &moments);
    if (code != CLI_DONE) {
        return code;
    }
    size_t count = moments.times ? moments.count : 1;
    result->key_count = moments.key_count;
    result->grid_count = moments.grid_count;
    char label[48] = "bounds";
    if (result->clip != PELT_NONE) {
        snprintf(label, sizeof label, "bounds of clip #%u", (unsigned)result->clip);
    }
    cli_progress progress = cli_progress_begin(context, label, count);
    for (size_t i = 0; code == CLI_DONE && i < count; i++) {
        code = scene_evaluate(s, result->clip, moments.times ? moments.times[i] : result->time);
        if (code == CLI_DONE) {
            bounds_add_moment(s, result);
            cli_progress_step(&progress, i + 1);
        }
    }
    cli_progress_end(&progress);
    free(moments.times);
    return code;
}

static void warn_undeclared(cli_context *context, const scene *s, const bounds_result *result)
{
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        const scene_primitive *p = &s->primitives[k];
        if (!result->measures[k].has_declared) {
            char where[96];
            snprintf(where, sizeof where, "/meshes/%u/primitives/%u",
                     (unsigned)pelt_asset_get(s->asset)->instances[p->instance].mesh, (unsigned)p->primitive);
            cli_warn(context, context->options.input, where, "POSITION declares no box: there is none to compare with");
        }
    }
}

static int measure_all(cli_context *context, scene *s, const bounds_request *request, bounds_report *report)
{
    for (uint32_t i = 0; i < request->clip_count; i++) {
        bounds_result *result = &report->results[report->result_count];
        if (!bounds_result_init(s, result)) {
            return cli_fail(context, CLI_LIMIT, context->options.input, NULL, NULL, "out of memory for the boxes");
        }
        report->result_count++;
        result->clip = request->first_clip == PELT_NONE ? PELT_NONE : request->first_clip + i;
        int code = measure(context, s, request->fps, result);
        if (code != CLI_DONE) {
            return code;
        }
    }
    if (request->all) {
        bounds_result *result = &report->results[report->result_count];
        if (!bounds_result_init(s, result)) {
            return cli_fail(context, CLI_LIMIT, context->options.input, NULL, NULL, "out of memory for the boxes");
        }
        report->result_count++;
        result->all_clips = true;
        for (uint32_t i = 0; i < request->clip_count; i++) {
            bounds_add_result(s, &report->results[i], result);
        }
    }
    return CLI_DONE;
}

static bool leaves_any(const bounds_report *report)
{
    for (size_t i = 0; i < report->result_count; i++) {
        for (uint32_t k = 0; k < report->scene->primitive_count; k++) {
            if (report->results[i].measures[k].outside) {
                return true;
            }
        }
    }
    return false;
}

static int bounds_scene(cli_context *context, const pelt_asset *asset, const bounds_request *request)
{
    scene s = {0};
    int code = scene_create(context, asset, SCENE_BOXES, &s);
    if (code != CLI_DONE) {
        return code;
    }
    bounds_report report = {.context = context, .scene = &s, .fps = request->fps};
    report.results = calloc((size_t)request->clip_count + 1, sizeof *report.results);
    if (!report.results) {
        code = cli_fail(context, CLI_LIMIT, context->options.input, NULL, NULL, "out of memory for the boxes");
    } else {
        code = measure_all(context, &s, request, &report);
    }
    if (code == CLI_DONE) {
        if (s.primitive_count == 0) {
            cli_warn(context, context->options.input, NULL,
                     "there is no mesh in the default scene: nothing to measure");
        }
        warn_undeclared(context, &s, &report.results[0]);
        if (context->options.json) {
            code = bounds_print_json(&report);
        } else {
            bounds_print_text(&report);
        }
    }
    if (code == CLI_DONE && context->options.fail_outside && leaves_any(&report)) {
        code = CLI_NEGATIVE;
    }
    for (size_t i = 0; i < report.result_count; i++) {
        free(report.results[i].measures);
    }
    free(report.results);
    scene_destroy(&s);
    return code;
}

int cli_bounds(cli_context *context)
{
    bounds_request request = {0};
    pelt_gltf *gltf = NULL;
    pelt_asset *asset = NULL;
    int code = check_options(context, &request);
    code = code == CLI_DONE ? cli_select_device(context) : code;
    code = code == CLI_DONE ? cli_load(context, &gltf, &asset) : code;
    pelt_gltf_close(gltf); // assets do not need it
    if (code == CLI_DONE) {
        code = choose_clips(context, pelt_asset_get(asset), &request);
        code = code == CLI_DONE ? bounds_scene(context, asset, &request) : code;
    }
    pelt_asset_destroy(asset);
    return code;
}

// SPDX-License-Identifier: MIT
// `pelt bench`: every kernel of the library, the plain structure and plain copies on the same data, in one process.
#include "bench_gpu.h"

#include <stdlib.h>

typedef struct benching {
    cli_context *context;
    bool *wanted; // of each scene
    verify_model model;
    cli_progress progress;
    uint64_t done;
    json_t *scenes; // for --json
} benching;

static int run_scene(benching *b, const bench_scene *scene)
{
    bench_setup setup = {.scene = scene, .context = b->context, .model = &b->model};
    bool is_skeleton = scene->kind == BENCH_SKELETON;
    int code = is_skeleton ? bench_skeleton_setup(&setup) : bench_skin_setup(&setup);
    code = code == CLI_DONE ? bench_measure(&setup, &b->progress, &b->done) : code;
    if (code == CLI_DONE && b->context->options.json) {
        json_array_append_new(b->scenes, bench_json_scene(&setup));
    } else if (code == CLI_DONE) {
        cli_progress_hide();
        bench_print_scene(&setup);
    }
    if (is_skeleton) {
        bench_skeleton_release(&setup);
    } else {
        bench_skin_release(&setup);
    }
    bench_release(&setup.memory);
    return code;
}

// The middle of its first clip, or the rest pose.
static int open_file(benching *b)
{
    int code = verify_model_open(b->context, &b->model);
    if (code != CLI_DONE) {
        return code;
    }
    const pelt_asset_data *data = pelt_asset_get(b->model.asset);
    return data->clip_count ? verify_model_pose(&b->model, 0, (double)data->clips[0].duration / 2)
                            : verify_model_pose(&b->model, PELT_NONE, 0);
}

static int run_scenes(benching *b)
{
    uint32_t count = 0;
    bool with_file = false;
    for (uint32_t i = 0; i < bench_scene_count; i++) {
        count += b->wanted[i];
        with_file = with_file || (b->wanted[i] && bench_scene_table[i].kind == BENCH_FILE);
    }
    int code = with_file ? open_file(b) : CLI_DONE;
    uint64_t rounds = (uint64_t)count * bench_run_count(b->context);
    b->progress = cli_progress_begin(b->context, "measuring", rounds);
    for (uint32_t i = 0; i < bench_scene_count && code == CLI_DONE; i++) {
        code = b->wanted[i] ? run_scene(b, &bench_scene_table[i]) : CLI_DONE;
    }
    cli_progress_end(&b->progress);
    return code;
}

static int print_json(benching *b)
{
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_string("pelt/bench/1"));
    json_object_set_new(root, "file", cli_json_text(b->context->options.input));
    json_object_set_new(root, "device", cli_device_json(b->context));
    bench_json_machine(b->context, root);
    json_object_set(root, "scenes", b->scenes);
    return cli_print_json(b->context, root);
}

// Options that would change nothing.
static int check_options(cli_context *context, bool on_device)
{
    const cli_options *o = &context->options;
    if (!on_device && o->contenders) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, "name one: --device gpu",
                        "--contenders is for benches on a Vulkan device");
    }
    const char *other = o->isa ? "--isa" : o->threads ? "--threads" : NULL;
    if (on_device && other) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, "leave one of them away",
                        "%s is for benches on the processor: it cannot stand beside --device %s", other, o->device);
    }
    return CLI_DONE;
}

int cli_bench(cli_context *context)
{
    gpu_wish wish = gpu_wish_of(context);
    bool on_device = wish != GPU_WISH_NONE && wish != GPU_WISH_CPU;
    int code = context->options.list ? CLI_DONE : check_options(context, on_device);
    if (code != CLI_DONE) {
        return code;
    }
    if (context->options.tune) {
        return bench_gpu_tune_main(context);
    }
    if (context->options.list) {
        return bench_list(context);
    }
    if (on_device) {
        return bench_gpu_main(context);
    }
    benching b = {.context = context, .wanted = calloc(bench_scene_count, sizeof *b.wanted), .scenes = json_array()};
    code = b.wanted && b.scenes ? bench_select(context, b.wanted)
                                : cli_fail(context, CLI_LIMIT, NULL, NULL, NULL, "out of memory");
    if (code == CLI_DONE && !context->options.json) {
        bench_print_machine(context);
    }
    code = code == CLI_DONE ? run_scenes(&b) : code;
    if (code == CLI_DONE && context->options.json) {
        code = print_json(&b);
    }
    verify_model_close(&b.model);
    json_decref(b.scenes);
    free(b.wanted);
    return code;
}

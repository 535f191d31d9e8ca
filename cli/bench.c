// SPDX-License-Identifier: MIT
// `pelt bench`: every kernel of the library, the plain structure and plain copies on the same data, in one process.
#include "bench_gpu.h"

#include <stdlib.h>
#include <string.h>

typedef struct benching {
    cli_context *context;
    bool *wanted; // of each scene
    verify_model model;
    cli_progress progress;
    uint64_t done;
    json_t *scenes; // for --json
} benching;

// The processor's name as the system tells it; "" where it does not.
static void find_processor(char *out, size_t capacity)
{
    char line[256];
    out[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && out[0] == '\0' && fgets(line, sizeof line, file)) {
        const char *name = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (name) {
            name += strspn(name, ": \t");
            snprintf(out, capacity, "%.*s", (int)strcspn(name, "\n"), name);
        }
    }
    if (file) {
        fclose(file);
    }
}

static const char compiler[] =
#if defined(__clang__)
    "clang " __clang_version__;
#elif defined(__GNUC__)
    "gcc " __VERSION__;
#else
    "";
#endif

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

static void print_head(const cli_context *context)
{
    char processor[128];
    pelt_isa isas[PELT_ISA_COUNT];
    uint32_t count = bench_isas(context, isas);
    find_processor(processor, sizeof processor);
    if (processor[0]) {
        cli_put(stdout, processor);
        printf("; ");
    }
    for (uint32_t i = 0; i < count; i++) {
        printf("%s%s", i ? ", " : "", pelt_isa_name(isas[i]));
    }
    unsigned threads = (unsigned)context->parallel.worker_count;
    unsigned runs = (unsigned)bench_run_count(context);
    printf("; %u thread%s; medians of %u run%s, spread between the quartiles\n\n", threads, threads == 1 ? "" : "s",
           runs, runs == 1 ? "" : "s");
}

static int print_json(benching *b)
{
    char processor[128];
    pelt_isa isas[PELT_ISA_COUNT];
    uint32_t count = bench_isas(b->context, isas);
    json_t *root = json_object();
    json_t *names = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_array_append_new(names, json_string(pelt_isa_name(isas[i])));
    }
    find_processor(processor, sizeof processor);
    json_object_set_new(root, "schema", json_string("pelt/bench/1"));
    json_object_set_new(root, "file", cli_json_text(b->context->options.input));
    json_object_set_new(root, "device", cli_device_json(b->context));
    json_object_set_new(root, "processor", cli_json_text(processor[0] ? processor : NULL));
    json_object_set_new(root, "compiler", json_string(compiler));
    json_object_set_new(root, "isas", names);
    json_object_set_new(root, "threads", json_integer(b->context->parallel.worker_count));
    json_object_set_new(root, "runs", json_integer(bench_run_count(b->context)));
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
        print_head(context);
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

// SPDX-License-Identifier: MIT
// `pelt bench --tune`: measures on a Vulkan device what boxes cost by the size of meshes, and work items by theirs.
#include "bench_gpu_tune.h"

#include "bench_gpu.h"

#include <string.h>

// On the processor: enough to try it out.
enum {
    SOFTWARE_TOTAL = 4 * 1024 // vertices of all meshes of one size, and of the largest
};

// As in `pelt bench`, and small enough that five of each fit most cards.
static const bench_gpu_scene item_scenes[TUNE_SCENES] = {
    {.name = "crowd", .joint_count = 64, .one_mesh = true, .sizes = {{20000, 500}, {5000, 2}}},
    {.name = "unique", .joint_count = 64, .sizes = {{20000, 500}, {5000, 2}}},
    {.name = "tiny200", .joint_count = 16, .sizes = {{200, 50000}, {200, 20}}},
};

static const pelt_vk_bounds box_bounds[TUNE_BOXES] = {PELT_VK_BOUNDS_NONE, PELT_VK_BOUNDS_EXACT,
                                                      PELT_VK_BOUNDS_CONSERVATIVE};

typedef struct tuning {
    cli_context *context;
    bench_gpu_run run;
    cli_progress progress;
    uint64_t done;
    tune_result result;
} tuning;

// ---- the command line

static int check_options(const cli_context *context)
{
    const cli_options *o = &context->options;
    const char *other = o->scenes       ? "--scenes"
                        : o->contenders ? "--contenders"
                        : o->vertices   ? "--vertices"
                        : o->list       ? "--list"
                        : o->input      ? "FILE"
                                        : NULL;
    if (other) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, "for example: pelt bench --device gpu --tune",
                        "--tune measures scenes of its own: it cannot stand beside %s", other);
    }
    gpu_wish wish = gpu_wish_of(context);
    if (wish == GPU_WISH_NONE || wish == GPU_WISH_CPU) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, "name one: pelt bench --device gpu --tune",
                        "--tune is for Vulkan devices: it needs --device, and not cpu");
    }
    return CLI_DONE;
}

// ---- measuring

// Medians of the pass with each entry; of what was left out 0.
static int measure(tuning *t, const bench_gpu_scene *scene, const bench_gpu_entry entries[], uint32_t entry_count,
                   bench_statistics out[])
{
    const verify_model no_file = {0};
    bench_gpu_model model;
    int code = bench_gpu_model_make(t->context, scene, &no_file, t->run.device->info->software, &model);
    t->run.model = &model;
    code = code == CLI_DONE ? bench_gpu_measure(&t->run, entries, entry_count, &t->progress, &t->done) : code;
    for (uint32_t i = 0; i < entry_count && code == CLI_DONE; i++) {
        out[i] = t->run.contenders[i].ms[BENCH_GPU_PASS];
    }
    bench_gpu_model_release(&model);
    t->run.model = NULL;
    return code;
}

static bool is_size(const tuning *t, const bench_gpu_scene *scene)
{
    bool fits = !t->run.device->info->software || scene->sizes[0].vertices <= SOFTWARE_TOTAL;
    return fits && strncmp(scene->name, "size", 4) == 0;
}

static int measure_size(tuning *t, const bench_gpu_scene *scene, const bench_gpu_entry entries[TUNE_BOXES])
{
    bench_gpu_scene smaller = *scene;
    uint32_t vertex_count = scene->sizes[0].vertices;
    smaller.sizes[1] = (bench_gpu_size){vertex_count, SOFTWARE_TOTAL / vertex_count};
    tune_size *s = &t->result.sizes[t->result.size_count++];
    s->vertex_count = vertex_count;
    s->instance_count = smaller.sizes[t->run.device->info->software].instances;
    return measure(t, &smaller, entries, TUNE_BOXES, s->ms);
}

static int measure_sizes(tuning *t)
{
    bench_gpu_entry entries[TUNE_BOXES];
    for (int i = 0; i < TUNE_BOXES; i++) {
        entries[i] = (bench_gpu_entry){.name = "pelt", .bounds = box_bounds[i], .passes = 1};
    }
    int code = CLI_DONE;
    for (uint32_t i = 0; i < bench_gpu_scene_count && t->result.size_count < TUNE_SIZES && code == CLI_DONE; i++) {
        const bench_gpu_scene *scene = &bench_gpu_scene_table[i];
        code = is_size(t, scene) ? measure_size(t, scene, entries) : CLI_DONE;
    }
    return code;
}

static int measure_items(tuning *t)
{
    bench_gpu_entry entries[TUNE_ITEMS];
    for (int i = 0; i < TUNE_ITEMS; i++) {
        entries[i] = (bench_gpu_entry){
            .name = "pelt", .bounds = PELT_VK_BOUNDS_EXACT, .passes = 1, .item_vertices = tune_item_vertices[i]};
    }
    int code = CLI_DONE;
    for (uint32_t i = 0; i < TUNE_SCENES && code == CLI_DONE; i++) {
        const bench_gpu_size *size = &item_scenes[i].sizes[t->run.device->info->software];
        tune_scene *s = &t->result.scenes[t->result.scene_count++];
        s->name = item_scenes[i].name;
        s->vertex_count = (uint64_t)size->vertices * size->instances;
        s->instance_count = size->instances;
        code = measure(t, &item_scenes[i], entries, TUNE_ITEMS, s->ms);
    }
    return code;
}

static int measure_all(tuning *t)
{
    uint64_t count = TUNE_SCENES;
    for (uint32_t i = 0; i < bench_gpu_scene_count; i++) {
        count += is_size(t, &bench_gpu_scene_table[i]);
    }
    uint32_t rounds = BENCH_WARM_UPS + bench_run_count(t->context);
    t->progress = cli_progress_begin(t->context, "measuring", count * rounds);
    int code = measure_sizes(t);
    code = code == CLI_DONE ? measure_items(t) : code;
    cli_progress_end(&t->progress);
    return code;
}

int bench_gpu_tune_main(cli_context *context)
{
    tuning t = {.context = context, .run = {.context = context}};
    int code = check_options(context);
    code = code == CLI_DONE ? bench_gpu_open(context, &t.run) : code;
    code = code == CLI_DONE ? measure_all(&t) : code;
    if (code == CLI_DONE) {
        tune_choose_bounds(&t.result);
        tune_choose_item(&t.result);
    }
    if (code == CLI_DONE && context->options.json) {
        code = tune_print_json(context, &t.result);
    } else if (code == CLI_DONE) {
        bench_gpu_print_head(&t.run);
        tune_print(&t.result);
    }
    bench_gpu_close(&t.run);
    return code;
}

// SPDX-License-Identifier: MIT
// `pelt bench --device`: the library's pass on a Vulkan device beside published designs and the device's memory.
#include "bench_gpu.h"

#include <stdlib.h>

typedef struct benching {
    cli_context *context;
    uint32_t entry_count;
    bench_gpu_entry entries[BENCH_GPU_CONTENDERS];
    bool *wanted; // of each scene
    verify_model file;
    bench_gpu_memory memory;
    bench_gpu_run run;
    cli_progress progress;
    uint64_t done;
    json_t *scenes; // for --json
} benching;

static int open_file(benching *b)
{
    int code = verify_model_open(b->context, &b->file);
    if (code != CLI_DONE) {
        return code;
    }
    // The middle of its first clip, or the rest pose.
    const pelt_asset_data *data = pelt_asset_get(b->file.asset);
    return data->clip_count ? verify_model_pose(&b->file, 0, (double)data->clips[0].duration / 2)
                            : verify_model_pose(&b->file, PELT_NONE, 0);
}

static bool has_graphics(const gpu *device)
{
    const gpu_system *system = device->context->gpu_system;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties get =
        (PFN_vkGetPhysicalDeviceQueueFamilyProperties)system->get_instance_proc_addr(
            system->instance, "vkGetPhysicalDeviceQueueFamilyProperties");
    VkQueueFamilyProperties families[16];
    uint32_t count = sizeof families / sizeof *families;
    get(device->info->device, &count, families);
    return device->queue_family < count && (families[device->queue_family].queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
}

int bench_gpu_open(cli_context *context, bench_gpu_run *out)
{
    *out = (bench_gpu_run){.context = context};
    int code = cli_select_device(context);
    if (code != CLI_DONE) {
        return code;
    }
    gpu *device = context->gpu;
    const gpu_system *system = context->gpu_system;
    out->device = device;
    out->baselines = (baseline_vk_device){
        .instance = system->instance,
        .physical = device->info->device,
        .device = device->device,
        .get_instance_proc_addr = system->get_instance_proc_addr,
        .get_device_proc_addr =
            (PFN_vkGetDeviceProcAddr)system->get_instance_proc_addr(system->instance, "vkGetDeviceProcAddr"),
        .queue = device->queue,
        .queue_family = device->queue_family,
        .has_graphics = has_graphics(device),
    };
    code = bench_gpu_kernels_open(device, &out->kernels);
    return code == CLI_DONE ? bench_gpu_timer_open(&out->kernels, &out->timer) : code;
}

void bench_gpu_close(bench_gpu_run *run)
{
    bench_gpu_timer_close(&run->timer);
    bench_gpu_kernels_close(&run->kernels);
    cli_release_device(run->context);
}

static int run_scene(benching *b, const bench_gpu_scene *scene)
{
    bench_gpu_model model;
    int code = bench_gpu_model_make(b->context, scene, &b->file, b->run.device->info->software, &model);
    b->run.model = &model;
    code = code == CLI_DONE ? bench_gpu_measure(&b->run, b->entries, b->entry_count, &b->progress, &b->done) : code;
    if (code == CLI_DONE && b->context->options.json) {
        json_array_append_new(b->scenes, bench_gpu_json_scene(&b->run, &b->memory));
    } else if (code == CLI_DONE) {
        cli_progress_hide();
        bench_gpu_print_scene(&b->run, &b->memory);
    }
    bench_gpu_model_release(&model);
    b->run.model = NULL;
    return code;
}

void bench_gpu_print_head(const bench_gpu_run *run)
{
    const gpu_info *info = run->device->info;
    char text[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE + 32];
    unsigned runs = (unsigned)bench_run_count(run->context);
    gpu_describe(info, text, sizeof text);
    cli_put(stdout, text);
    printf("; ");
    cli_put(stdout, info->driver);
    printf(" ");
    cli_put(stdout, info->driver_version);
    printf("; medians of %u run%s, spread between the quartiles\n\n", runs, runs == 1 ? "" : "s");
}

static int run_scenes(benching *b)
{
    uint32_t count = 0;
    bool with_file = false;
    for (uint32_t i = 0; i < bench_gpu_scene_count; i++) {
        count += b->wanted[i];
        with_file = with_file || (b->wanted[i] && bench_gpu_scene_table[i].kind == BENCH_FILE);
    }
    int code = with_file ? open_file(b) : CLI_DONE;
    code = code == CLI_DONE ? bench_gpu_open(b->context, &b->run) : code;
    if (code == CLI_DONE && !b->context->options.json) {
        bench_gpu_print_head(&b->run);
    }
    code = code == CLI_DONE ? bench_gpu_memory_measure(&b->run, &b->memory) : code;
    if (code == CLI_DONE && !b->context->options.json) {
        bench_gpu_print_memory(&b->memory);
    }
    b->progress = cli_progress_begin(b->context, "measuring", (uint64_t)count * bench_run_count(b->context));
    for (uint32_t i = 0; i < bench_gpu_scene_count && code == CLI_DONE; i++) {
        code = b->wanted[i] ? run_scene(b, &bench_gpu_scene_table[i]) : CLI_DONE;
    }
    cli_progress_end(&b->progress);
    return code;
}

static int print_json(benching *b)
{
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_string("pelt/bench-gpu/1"));
    json_object_set_new(root, "file", cli_json_text(b->context->options.input));
    json_object_set_new(root, "device", cli_device_json(b->context));
    json_object_set_new(root, "runs", json_integer(bench_run_count(b->context)));
    json_object_set_new(root, "memory", bench_gpu_json_memory(&b->memory));
    json_object_set(root, "scenes", b->scenes);
    return cli_print_json(b->context, root);
}

int bench_gpu_main(cli_context *context)
{
    benching b = {.context = context,
                  .run = {.context = context},
                  .wanted = calloc(bench_gpu_scene_count, sizeof *b.wanted),
                  .scenes = json_array()};
    int code = b.wanted && b.scenes ? bench_gpu_select_scenes(context, b.wanted)
                                    : cli_fail(context, CLI_LIMIT, NULL, NULL, NULL, "out of memory");
    code = code == CLI_DONE ? bench_gpu_select_contenders(context, b.entries, &b.entry_count) : code;
    code = code == CLI_DONE ? run_scenes(&b) : code;
    if (code == CLI_DONE && context->options.json) {
        code = print_json(&b);
    }
    verify_model_close(&b.file);
    bench_gpu_close(&b.run);
    json_decref(b.scenes);
    free(b.wanted);
    return code;
}

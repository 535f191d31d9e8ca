// SPDX-License-Identifier: MIT
// The scenes of `pelt bench --device`, and how the command line names them.
#include "bench_gpu.h"

// About so many vertices in all on a GPU and on the processor, of scenes that ask what a mesh's size does.
enum {
    SIZE_TOTAL = 4 * 1024 * 1024,
    SIZE_TOTAL_SOFTWARE = 32 * 1024
};

#define SIZE(count)                                                                                                    \
    {                                                                                                                  \
        {(count), SIZE_TOTAL / (count)},                                                                               \
        {                                                                                                              \
            (count) < SIZE_TOTAL_SOFTWARE ? (count) : SIZE_TOTAL_SOFTWARE,                                             \
                (count) < SIZE_TOTAL_SOFTWARE ? SIZE_TOTAL_SOFTWARE / (count) : 1                                      \
        }                                                                                                              \
    }
#define SIZE_SCENE(label, count)                                                                                       \
    {                                                                                                                  \
        .name = (label), .text = "what a mesh's size does: different meshes", .joint_count = 16, .sizes = SIZE(count)  \
    }

const bench_gpu_scene bench_gpu_scene_table[] = {
    {.name = "crowd",
     .text = "instances of one mesh",
     .joint_count = 64,
     .one_mesh = true,
     .by_default = true,
     .sizes = {{20000, 2000}, {20000, 2}}},
    {.name = "unique",
     .text = "different meshes",
     .joint_count = 64,
     .by_default = true,
     .sizes = {{20000, 1000}, {20000, 2}}},
    {.name = "one1M",
     .text = "one large mesh",
     .joint_count = 100,
     .one_mesh = true,
     .by_default = true,
     .sizes = {{1000000, 1}, {50000, 1}}},
    {.name = "one20k",
     .text = "one mesh",
     .joint_count = 100,
     .one_mesh = true,
     .by_default = true,
     .sizes = {{20000, 1}, {20000, 1}}},
    {.name = "tiny200",
     .text = "different small meshes",
     .joint_count = 16,
     .by_default = true,
     .sizes = {{200, 100000}, {200, 200}}},
    {.name = "tiny64",
     .text = "different smaller meshes",
     .joint_count = 16,
     .by_default = true,
     .sizes = {{64, 200000}, {64, 500}}},
    {.name = "horde",
     .text = "instances of one small mesh, previous positions kept",
     .joint_count = 64,
     .one_mesh = true,
     .with_previous = true,
     .by_default = true,
     .sizes = {{5000, 10000}, {5000, 8}}},
    SIZE_SCENE("size16", 16),
    SIZE_SCENE("size32", 32),
    SIZE_SCENE("size64", 64),
    SIZE_SCENE("size128", 128),
    SIZE_SCENE("size256", 256),
    SIZE_SCENE("size512", 512),
    SIZE_SCENE("size1k", 1024),
    SIZE_SCENE("size4k", 4096),
    SIZE_SCENE("size16k", 16384),
    SIZE_SCENE("size64k", 65536),
    SIZE_SCENE("size256k", 262144),
    SIZE_SCENE("size1M", 1048576),
    {.name = "file", .text = "instances of FILE", .kind = BENCH_FILE, .by_default = true},
};
const uint32_t bench_gpu_scene_count = sizeof bench_gpu_scene_table / sizeof *bench_gpu_scene_table;

// ---- choosing

static const char *name_of(uint32_t index)
{
    return bench_gpu_scene_table[index].name;
}

static bool needs_file(uint32_t index)
{
    return bench_gpu_scene_table[index].kind == BENCH_FILE;
}

int bench_gpu_select_scenes(const cli_context *context, bool wanted[])
{
    const bench_names names = {.what = "scene on a Vulkan device",
                               .hint = BENCH_GPU_NAMES_HINT,
                               .example = "for example: pelt bench fox.glb --device gpu",
                               .count = bench_gpu_scene_count,
                               .name = name_of,
                               .needs_file = needs_file};
    if (context->options.scenes) {
        return bench_select_names(context, context->options.scenes, &names, wanted);
    }
    for (uint32_t i = 0; i < bench_gpu_scene_count; i++) {
        wanted[i] = bench_gpu_scene_table[i].by_default && needs_file(i) == (context->options.input != NULL);
    }
    return CLI_DONE;
}

// ---- --list

void bench_gpu_print_scenes(void)
{
    printf("\n%-16s %10s %10s %7s  %s\n", "scene on a GPU", "instances", "vertices", "joints", "what");
    for (uint32_t i = 0; i < bench_gpu_scene_count; i++) {
        const bench_gpu_scene *scene = &bench_gpu_scene_table[i];
        char number[3][32] = {"-", "-", "-"};
        if (scene->kind != BENCH_FILE) {
            cli_grouped(scene->sizes[0].instances, number[0]);
            cli_grouped(scene->sizes[0].vertices, number[1]);
            cli_grouped(scene->joint_count, number[2]);
        }
        printf("%-16s %10s %10s %7s  %s%s\n", scene->name, number[0], number[1], number[2], scene->text,
               scene->by_default ? "" : "; only by name");
    }
}

json_t *bench_gpu_json_scenes(void)
{
    json_t *scenes = json_array();
    for (uint32_t i = 0; i < bench_gpu_scene_count; i++) {
        const bench_gpu_scene *scene = &bench_gpu_scene_table[i];
        json_array_append_new(scenes,
                              json_pack("{s:s, s:s, s:I, s:I, s:I, s:b, s:b}", "name", scene->name, "text", scene->text,
                                        "instances", (json_int_t)scene->sizes[0].instances, "vertices",
                                        (json_int_t)scene->sizes[0].vertices, "joints", (json_int_t)scene->joint_count,
                                        "needs_file", scene->kind == BENCH_FILE, "by_default", scene->by_default));
    }
    return scenes;
}

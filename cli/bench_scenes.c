// SPDX-License-Identifier: MIT
// The scenes of `pelt bench` and how the command line names them.
#include "bench_gpu.h"

#include <stdlib.h>

enum {
    SMALL = 4000,
    MIDDLE = 20000,
    LARGE = 1000000
};

// Sizes are those without --vertices.
const bench_scene bench_scene_table[] = {
    {"skin4k", "float streams in runs, 4 influences", BENCH_MESH, BENCH_SHAPE(SMALL, 4), .directions = 2,
     .box_cost = true},
    {"skin20k", "float streams in runs, 4 influences", BENCH_MESH, BENCH_SHAPE(MIDDLE, 4), .directions = 2,
     .box_cost = true},
    {"skin1M", "float streams in runs, 4 influences", BENCH_MESH, BENCH_SHAPE(LARGE, 4), .directions = 2,
     .box_cost = true},
    {"positions20k", "positions alone, 4 influences", BENCH_MESH, BENCH_SHAPE(MIDDLE, 4), .box_cost = true},
    {"normals20k", "positions and normals, 4 influences", BENCH_MESH, BENCH_SHAPE(MIDDLE, 4), .directions = 1},
    {"influences1", "float streams in runs, 1 influence", BENCH_MESH, BENCH_SHAPE(MIDDLE, 1), .directions = 2},
    {"influences2", "float streams in runs, 2 influences", BENCH_MESH, BENCH_SHAPE(MIDDLE, 2), .directions = 2},
    {"influences3", "float streams in runs, 3 influences", BENCH_MESH, BENCH_SHAPE(MIDDLE, 3), .directions = 2},
    {"influences5", "float streams in runs, 5 influences", BENCH_MESH, BENCH_SHAPE(MIDDLE, 5), .directions = 2},
    {"influences6", "float streams in runs, 6 influences", BENCH_MESH, BENCH_SHAPE(MIDDLE, 6), .directions = 2},
    {"influences7", "float streams in runs, 7 influences", BENCH_MESH, BENCH_SHAPE(MIDDLE, 7), .directions = 2},
    {"influences8", "float streams in runs, 8 influences", BENCH_MESH, BENCH_SHAPE(MIDDLE, 8), .directions = 2},
    {"mixed20k",
     "float streams in runs, 1 to 4 influences on 35, 30, 20 and 15 %",
     BENCH_MESH,
     {.vertex_count = MIDDLE, .joint_count = 100, .influence_count = 4, .mixed = true},
     .directions = 2},
    {"random20k",
     "float streams without runs, 4 influences, random joints",
     BENCH_MESH,
     {.vertex_count = MIDDLE, .joint_count = 100, .influence_count = 4, .random_joints = true},
     .input = BENCH_INPUT_STREAMS,
     .directions = 2},
    {"streams20k", "float streams without runs, 4 influences", BENCH_MESH, BENCH_SHAPE(MIDDLE, 4),
     .input = BENCH_INPUT_STREAMS, .directions = 2},
    {"strided20k", "a caller's vertices of 64 bytes into vertices of 48, 4 influences", BENCH_MESH,
     BENCH_SHAPE(MIDDLE, 4), .input = BENCH_INPUT_INTERLEAVED, .directions = 2},
    {"strided1M", "a caller's vertices of 64 bytes into vertices of 48, 4 influences", BENCH_MESH,
     BENCH_SHAPE(LARGE, 4), .input = BENCH_INPUT_INTERLEAVED, .directions = 2},
    {"packed20k", "cooked streams, 4 influences", BENCH_MESH, BENCH_SHAPE(MIDDLE, 4), .input = BENCH_INPUT_PACKED,
     .directions = 2},
    {"packed1M", "cooked streams, 4 influences", BENCH_MESH, BENCH_SHAPE(LARGE, 4), .input = BENCH_INPUT_PACKED,
     .directions = 2},
    {"packedmixed20k",
     "cooked streams, 1 to 4 influences on 35, 30, 20 and 15 %",
     BENCH_MESH,
     {.vertex_count = MIDDLE, .joint_count = 100, .influence_count = 4, .mixed = true},
     .input = BENCH_INPUT_PACKED,
     .directions = 2},
    {"packedout20k", "cooked streams into packed directions, 4 influences", BENCH_MESH, BENCH_SHAPE(MIDDLE, 4),
     .input = BENCH_INPUT_PACKED, .directions = 2, .packed_output = true},
    {"packedout1M", "cooked streams into packed directions, 4 influences", BENCH_MESH, BENCH_SHAPE(LARGE, 4),
     .input = BENCH_INPUT_PACKED, .directions = 2, .packed_output = true},
    {"threads20k", "one thread and all, float streams in runs, 4 influences", BENCH_MESH, BENCH_SHAPE(MIDDLE, 4),
     .directions = 2, .threaded = true},
    {"threads100k", "one thread and all, float streams in runs, 4 influences", BENCH_MESH, BENCH_SHAPE(100000, 4),
     .directions = 2, .threaded = true},
    {"threads1M", "one thread and all, float streams in runs, 4 influences", BENCH_MESH, BENCH_SHAPE(LARGE, 4),
     .directions = 2, .threaded = true},
    {"skeleton60", "hierarchy and palette, one skeleton", BENCH_SKELETON, BENCH_SKELETON(60), .instance_count = 1},
    {"skeleton100", "hierarchy and palette, one skeleton", BENCH_SKELETON, BENCH_SKELETON(100), .instance_count = 1},
    {"skeletons60", "hierarchy and palette, 1,000 skeletons", BENCH_SKELETON, BENCH_SKELETON(60),
     .instance_count = 1000},
    {"skeletons100", "hierarchy and palette, 1,000 skeletons", BENCH_SKELETON, BENCH_SKELETON(100),
     .instance_count = 1000},
    {"file",
     "every primitive of FILE, unpacked: float streams, in runs where they fit",
     BENCH_FILE,
     {0},
     .directions = 2},
    {"filepacked",
     "every primitive of FILE, cooked streams",
     BENCH_FILE,
     {0},
     .input = BENCH_INPUT_PACKED,
     .directions = 2},
};
const uint32_t bench_scene_count = sizeof bench_scene_table / sizeof *bench_scene_table;

static const char *name_of(uint32_t index)
{
    return bench_scene_table[index].name;
}

static bool needs_file(uint32_t index)
{
    return bench_scene_table[index].kind == BENCH_FILE;
}

int bench_select(const cli_context *context, bool wanted[])
{
    const bench_names names = {.what = "scene",
                               .hint = "'pelt bench --list' lists the scenes",
                               .example = "for example: pelt bench fox.glb",
                               .count = bench_scene_count,
                               .name = name_of,
                               .needs_file = needs_file};
    if (context->options.scenes) {
        return bench_select_names(context, context->options.scenes, &names, wanted);
    }
    for (uint32_t i = 0; i < bench_scene_count; i++) {
        wanted[i] = needs_file(i) == (context->options.input != NULL);
    }
    return CLI_DONE;
}

static void print_list(void)
{
    printf("%-16s %10s %7s  %s\n", "scene", "vertices", "joints", "what");
    for (uint32_t i = 0; i < bench_scene_count; i++) {
        const bench_scene *scene = &bench_scene_table[i];
        char vertices[32] = "-";
        char joints[32] = "-";
        if (scene->shape.vertex_count) {
            cli_grouped(scene->shape.vertex_count, vertices);
        }
        if (scene->shape.joint_count) {
            cli_grouped(scene->shape.joint_count, joints);
        }
        printf("%-16s %10s %7s  %s\n", scene->name, vertices, joints, scene->text);
    }
}

int bench_list(cli_context *context)
{
    if (!context->options.json) {
        print_list();
        bench_gpu_print_list();
        return CLI_DONE;
    }
    json_t *root = json_object();
    json_t *scenes = json_array();
    for (uint32_t i = 0; i < bench_scene_count; i++) {
        const bench_scene *scene = &bench_scene_table[i];
        json_array_append_new(scenes, json_pack("{s:s, s:s, s:I, s:I, s:b}", "name", scene->name, "text", scene->text,
                                                "vertices", (json_int_t)scene->shape.vertex_count, "joints",
                                                (json_int_t)scene->shape.joint_count, "needs_file", needs_file(i)));
    }
    json_object_set_new(root, "schema", json_string("pelt/bench/1"));
    json_object_set_new(root, "scenes", scenes);
    bench_gpu_json_list(root);
    return cli_print_json(context, root);
}

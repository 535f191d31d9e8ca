// SPDX-License-Identifier: MIT
// Times the library's skinning and skeletons beside those of ozz-animation, on the meshes and skeletons of `pelt
// bench`, one thread, all in turns. Nothing is timed before its outputs were held against sums in double.
#include "ozz_bench.h"

#include <string.h>

enum {
    DEFAULT_RUNS = 31,
    MOST_RUNS = 100000
};

enum {
    SMALL = 4000,
    MIDDLE = 20000,
    LARGE = 1000000,
    CROWD = 1000
};

static const bench_scene scenes[] = {
    {"skin4k", "4,000 vertices", BENCH_MESH, BENCH_SHAPE(SMALL, 4), .directions = 2},
    {"skin20k", "20,000", BENCH_MESH, BENCH_SHAPE(MIDDLE, 4), .directions = 2},
    {"skin1M", "1,000,000", BENCH_MESH, BENCH_SHAPE(LARGE, 4), .directions = 2},
    {"mixed20k",
     "35/30/20/15 % of 1 to 4 influences",
     BENCH_MESH,
     {.vertex_count = MIDDLE, .joint_count = 100, .influence_count = 4, .mixed = true},
     .directions = 2},
    {"streams20k", "without runs", BENCH_MESH, BENCH_SHAPE(MIDDLE, 4), BENCH_INPUT_STREAMS, .directions = 2},
    {"few20k",
     "without runs, 30 joints in all",
     BENCH_MESH,
     {.vertex_count = MIDDLE, .joint_count = 30, .influence_count = 4},
     BENCH_INPUT_STREAMS,
     .directions = 2},
    {"random20k",
     "random joints of 100",
     BENCH_MESH,
     {.vertex_count = MIDDLE, .joint_count = 100, .influence_count = 4, .random_joints = true},
     BENCH_INPUT_STREAMS,
     .directions = 2},
    {"positions20k", "positions alone", BENCH_MESH, BENCH_SHAPE(MIDDLE, 4), .directions = 0},
    {"normals20k", "positions and normals", BENCH_MESH, BENCH_SHAPE(MIDDLE, 4), .directions = 1},
    {"influences8", "8 influences", BENCH_MESH, BENCH_SHAPE(MIDDLE, 8), .directions = 2},
    {"influences1", "1 influence", BENCH_MESH, BENCH_SHAPE(MIDDLE, 1), .directions = 2},
    {"strided20k", "a caller's vertices of 64 bytes into 48", BENCH_MESH, BENCH_SHAPE(MIDDLE, 4),
     BENCH_INPUT_INTERLEAVED, .directions = 2},
    {"strided1M", "the same, 1,000,000", BENCH_MESH, BENCH_SHAPE(LARGE, 4), BENCH_INPUT_INTERLEAVED, .directions = 2},
    {"packed20k", "cooked streams", BENCH_MESH, BENCH_SHAPE(MIDDLE, 4), BENCH_INPUT_PACKED, .directions = 2},
    {"packed1M", "cooked streams, 1,000,000", BENCH_MESH, BENCH_SHAPE(LARGE, 4), BENCH_INPUT_PACKED, .directions = 2},
    {"packedout20k", "cooked streams, packed directions out", BENCH_MESH, BENCH_SHAPE(MIDDLE, 4), BENCH_INPUT_PACKED,
     .directions = 2, .packed_output = true},
    {"packedout1M", "the same, 1,000,000", BENCH_MESH, BENCH_SHAPE(LARGE, 4), BENCH_INPUT_PACKED, .directions = 2,
     .packed_output = true},
    {"skeleton60", "60 joints, one", BENCH_SKELETON, BENCH_SKELETON(60), .instance_count = 1},
    {"skeleton100", "100 joints, one", BENCH_SKELETON, BENCH_SKELETON(100), .instance_count = 1},
    {"skeletons60", "60 joints, 1,000", BENCH_SKELETON, BENCH_SKELETON(60), .instance_count = CROWD},
    {"skeletons100", "100 joints, 1,000", BENCH_SKELETON, BENCH_SKELETON(100), .instance_count = CROWD},
};
enum {
    SCENE_COUNT = sizeof scenes / sizeof *scenes
};

static const char usage[] =
    "usage: pelt_bench_ozz [--runs N] [--cases LIST] [--json]\n\n"
    "  --runs N       rounds that count (default 31)\n"
    "  --cases LIST   names with commas between them; a star at the end of one stands for any ending\n"
    "  --json         print JSON instead of tables\n"
    "  --help         print this\n\n"
    "cases:\n";

static const char *name_of(uint32_t index)
{
    return scenes[index].name;
}

// ---- measuring

// Plain C, poses and the plain structure are in `pelt bench`; here they would only take time.
static void drop_others(bench_setup *setup)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < setup->contender_count; i++) {
        const bench_contender *c = &setup->contenders[i];
        bool is_other = c->role == BENCH_BASELINE || strstr(c->name, "poses") ||
                        (c->role == BENCH_KERNEL && c->isa == PELT_ISA_SCALAR);
        if (!is_other) {
            setup->contenders[kept++] = *c;
        }
    }
    setup->contender_count = kept;
}

typedef struct comparing {
    cli_context *context;
    cli_progress progress;
    uint64_t done;
    bool begun[2]; // the tables of meshes and of skeletons
    json_t *scenes;
} comparing;

static void report(comparing *c, const bench_setup *setup)
{
    if (c->context->options.json) {
        json_array_append_new(c->scenes, bench_json_scene(setup));
        return;
    }
    bool is_skeleton = setup->scene->kind == BENCH_SKELETON;
    cli_progress_hide();
    if (!c->begun[is_skeleton]) {
        printf("%s", c->begun[0] ? "\n" : "");
        ozz_print_heading(c->context, setup->scene->kind);
        c->begun[is_skeleton] = true;
    }
    ozz_print_row(setup);
}

static int run_scene(comparing *c, bench_scene scene)
{
    bench_setup setup = {.scene = &scene, .context = c->context};
    ozz_skeleton *skeleton = NULL;
    bool is_skeleton = scene.kind == BENCH_SKELETON;
    scene.box_cost = !is_skeleton;
    int code = is_skeleton ? bench_skeleton_setup(&setup) : bench_skin_setup(&setup);
    if (code == CLI_DONE) {
        drop_others(&setup);
        bool added = is_skeleton ? ozz_add_skeletons(&setup, &skeleton) : ozz_add_skinners(&setup);
        code = added ? bench_measure(&setup, &c->progress, &c->done) : bench_out_of_memory(&setup);
    }
    if (code == CLI_DONE) {
        report(c, &setup);
    }
    if (is_skeleton) {
        bench_skeleton_release(&setup);
        ozz_skeleton_destroy(skeleton);
    } else {
        bench_skin_release(&setup);
    }
    bench_release(&setup.memory);
    return code;
}

static int run_scenes(comparing *c, const bool *wanted)
{
    uint64_t count = 0;
    int code = CLI_DONE;
    for (uint32_t i = 0; i < SCENE_COUNT; i++) {
        count += wanted[i];
    }
    c->progress = cli_progress_begin(c->context, "measuring", count * bench_run_count(c->context));
    for (uint32_t i = 0; code == CLI_DONE && i < SCENE_COUNT; i++) {
        code = wanted[i] ? run_scene(c, scenes[i]) : CLI_DONE;
    }
    cli_progress_end(&c->progress);
    return code;
}

static int print_json(cli_context *context, json_t *measured)
{
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_string("pelt/bench-ozz/1"));
    json_object_set_new(root, "ozz", json_string(PELT_OZZ_VERSION));
    json_object_set_new(root, "ozz_instructions", json_string(ozz_instructions()));
    bench_json_machine(context, root);
    json_object_set(root, "scenes", measured);
    return cli_print_json(context, root);
}

static int measure(cli_context *context, const bool *wanted)
{
    comparing c = {.context = context, .scenes = json_array()};
    if (!context->options.json) {
        printf("ozz-animation %s, %s\n", PELT_OZZ_VERSION, ozz_instructions());
        bench_print_machine(context);
    }
    int code = run_scenes(&c, wanted);
    if (code == CLI_DONE && context->options.json) {
        code = print_json(context, c.scenes);
    }
    json_decref(c.scenes);
    return code;
}

// ---- the command line

static void print_usage(FILE *stream)
{
    fputs(usage, stream);
    for (uint32_t i = 0; i < SCENE_COUNT; i++) {
        fprintf(stream, "  %-13s  %s\n", scenes[i].name, scenes[i].text);
    }
}

static int read_options(cli_context *context, int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? arguments[i + 1] : NULL;
        uint64_t runs = 0;
        if (strcmp(arguments[i], "--json") == 0) {
            context->options.json = true;
        } else if (strcmp(arguments[i], "--cases") == 0 && value) {
            context->options.scenes = value;
            i++;
        } else if (strcmp(arguments[i], "--runs") == 0 && value && cli_read_count(value, false, &runs) && runs > 0 &&
                   runs <= MOST_RUNS) {
            context->options.runs = (uint32_t)runs;
            i++;
        } else {
            return cli_fail(context, CLI_USAGE, NULL, NULL, "'pelt_bench_ozz --help' lists the options",
                            "cannot read \"%s\", or what follows it", arguments[i]);
        }
    }
    return CLI_DONE;
}

int main(int count, char **arguments)
{
    cli_json_init();
    cli_context context = {.options.runs = DEFAULT_RUNS, .parallel.worker_count = 1};
    const bench_names names = {
        .what = "case", .hint = "'pelt_bench_ozz --help' lists the cases", .count = SCENE_COUNT, .name = name_of};
    bool wanted[SCENE_COUNT] = {false};
    if (count == 2 && strcmp(arguments[1], "--help") == 0) {
        print_usage(stdout);
        return CLI_DONE;
    }
    int code = read_options(&context, count, arguments);
    if (code == CLI_DONE) {
        code = bench_select_names(&context, context.options.scenes ? context.options.scenes : "*", &names, wanted);
    }
    return code == CLI_DONE ? measure(&context, wanted) : code;
}

// SPDX-License-Identifier: MIT
// Instructions of every kernel, which repeat exactly where times do not. Calls each once, after a line that names it:
// callgrind counts between them (tests/instructions/run.py says how). --step NAME counts the kernels of one instruction
// set by stepping through them, for those that valgrind does not know.
#include "bench_mesh.h"

#include <pelt/cook.h>
#include <pelt/palette.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    VERTICES = 4096,
    STEPPED_VERTICES = 512, // a step costs as much as some thousand instructions
    FEW = 64,               // where the fixed part of a call shows
    JOINTS = 100,
    INSTANCES = 16 // of skeletons, where they are many
};

typedef struct skin_case {
    const char *name;
    bool few;
    bench_input input;
    uint32_t influence_count;
    uint32_t directions;
    bool packed_output;
    bool box;
    bool morph;
} skin_case;

static const skin_case skin_cases[] = {
    {"runs1", false, BENCH_INPUT_RUNS, 1, 2, false, true, false},
    {"runs2", false, BENCH_INPUT_RUNS, 2, 2, false, true, false},
    {"runs3", false, BENCH_INPUT_RUNS, 3, 2, false, true, false},
    {"runs4", false, BENCH_INPUT_RUNS, 4, 2, false, true, false},
    {"runs8", false, BENCH_INPUT_RUNS, 8, 2, false, true, false},
    {"few", true, BENCH_INPUT_RUNS, 4, 2, false, true, false},
    {"nobox", false, BENCH_INPUT_RUNS, 4, 2, false, false, false},
    {"positions", false, BENCH_INPUT_RUNS, 4, 0, false, true, false},
    {"normals", false, BENCH_INPUT_RUNS, 4, 1, false, true, false},
    {"morph", false, BENCH_INPUT_RUNS, 4, 2, false, true, true},
    {"streams", false, BENCH_INPUT_STREAMS, 4, 2, false, true, false},
    {"interleaved", false, BENCH_INPUT_INTERLEAVED, 4, 2, false, true, false},
    {"packed", false, BENCH_INPUT_PACKED, 4, 2, false, true, false},
    {"packed8", false, BENCH_INPUT_PACKED, 8, 2, false, true, false},
    {"packedout", false, BENCH_INPUT_PACKED, 4, 2, true, true, false},
};

typedef struct count_state {
    bool stepping;
    pelt_isa only; // PELT_ISA_BEST: all
    bool failed;
} count_state;

// Its name is what callgrind is told; called through a pointer, it stays a function of its own.
void pelt_bench_counted(void (*call)(void *context), void *context);
void pelt_bench_counted(void (*call)(void *context), void *context)
{
    call(context);
}
static void (*volatile const counted)(void (*call)(void *context), void *context) = pelt_bench_counted;

// A call to count. Its name and the number of vertices or joints go first; stepping, the counting process does the rest
// of the line while this one waits.
static void count_call(count_state *c, const char *name, uint32_t elements, void (*call)(void *context), void *context)
{
    printf("{\"name\": \"%s\", \"elements\": %u%s", name, (unsigned)elements, c->stepping ? "" : "}\n");
    fflush(stdout);
    if (c->stepping) {
        raise(SIGSTOP);
    }
    counted(call, context);
    if (c->stepping) {
        raise(SIGSTOP);
    }
}

static void skin(void *context)
{
    if (pelt_skin_evaluate(context) != PELT_OK) {
        abort();
    }
}

static void evaluate_skeletons(void *context)
{
    if (pelt_skeleton_evaluate(context) != PELT_OK) {
        abort();
    }
}

static void update_pose(void *context)
{
    if (pelt_pose_update(context, NULL) != PELT_OK) {
        abort();
    }
}

static void evaluate_palette(void *context)
{
    if (pelt_palette_evaluate(context) != PELT_OK) {
        abort();
    }
}

static void do_nothing(void *context)
{
    (void)context;
}

// ---- skinning

typedef struct model {
    bench_memory memory;
    bench_palette palette;
    pelt_asset *asset;
    void *image;
    uint64_t image_size;
    pelt_cooked *cooked;
    bench_mesh mesh;
} model;

static bool cook(model *m)
{
    const pelt_cook_options options = {.keep_order = false};
    pelt_error error;
    return pelt_cook(m->asset, &options, &m->image, &m->image_size, NULL, &error) == PELT_OK &&
           pelt_cooked_open_memory(m->image, m->image_size, NULL, &m->cooked, &error) == PELT_OK;
}

static bool make_model(const skin_case *c, uint32_t vertex_count, model *m)
{
    const bench_shape shape = {
        .vertex_count = vertex_count, .joint_count = JOINTS, .influence_count = c->influence_count};
    pelt_mat34 matrices[JOINTS];
    bench_matrices_fill(matrices, JOINTS);
    m->asset = bench_asset_create(&shape);
    bool ok = m->asset && bench_palette_fill(&m->memory, matrices, JOINTS, &m->palette);
    ok =
        ok && bench_mesh_fill(&m->memory, pelt_asset_get(m->asset)->meshes[0].primitives, false, &m->palette, &m->mesh);
    ok = ok && bench_mesh_add_runs(&m->memory, &m->mesh);
    ok = ok && (c->influence_count > 4 || bench_mesh_interleave(&m->memory, &m->mesh));
    ok = ok && cook(m);
    if (ok) {
        m->mesh.packed = pelt_cooked_streams(pelt_cooked_get(m->cooked)->primitives);
    }
    return ok;
}

static void release_model(model *m)
{
    pelt_cooked_close(m->cooked);
    pelt_cook_release(NULL, m->image, m->image_size);
    pelt_asset_destroy(m->asset);
    bench_release(&m->memory);
}

static void count_skin(count_state *state, const skin_case *c, pelt_isa isa)
{
    model m = {.image = NULL};
    pelt_box box;
    char name[64];
    uint32_t vertex_count = c->few ? FEW : state->stepping ? STEPPED_VERTICES : VERTICES;
    bool made = make_model(c, vertex_count, &m);
    bool interleaved = c->input == BENCH_INPUT_INTERLEAVED;
    char *outputs[3];
    for (int i = 0; i < 3; i++) {
        outputs[i] = bench_allocate(&m.memory, vertex_count, BENCH_OUTPUT_SIZE);
        made = made && outputs[i];
    }
    if (!made) {
        state->failed = true;
        release_model(&m);
        return;
    }
    size_t stride = interleaved ? BENCH_OUTPUT_SIZE : 0;
    const pelt_skin_morph morph = {0.5F, m.mesh.positions, m.mesh.normals, NULL};
    pelt_skin_job job = {
        .morph_count = c->morph ? 1 : 0,
        .morphs = &morph,
        .out_positions = (float *)(void *)outputs[0],
        .out_normals = c->directions < 1 ? NULL
                       : interleaved     ? outputs[0] + 12
                                         : outputs[1],
        .out_tangents = c->directions < 2 ? NULL
                        : interleaved     ? outputs[0] + 32
                                          : outputs[2],
        .out_positions_stride = stride,
        .out_normals_stride = stride,
        .out_tangents_stride = stride,
        .out_direction_format = c->packed_output ? PELT_DIRECTION_OCTAHEDRAL : PELT_DIRECTION_FLOAT,
        .box = c->box ? &box : NULL,
        .isa = isa,
        .stream_threshold = UINT64_MAX, // the same on every machine
    };
    bench_mesh_inputs(&m.mesh, c->input, &job);
    snprintf(name, sizeof name, "skin/%s/%s", pelt_isa_name(isa), c->name);
    count_call(state, name, vertex_count, skin, &job);
    release_model(&m);
}

// ---- skeletons

static void count_skeletons(count_state *state, pelt_isa isa, uint32_t instance_count)
{
    const bench_shape shape = {.joint_count = JOINTS};
    bench_memory memory = {0};
    pelt_asset *asset = bench_asset_create(&shape);
    pelt_skeleton *skeleton = NULL;
    pelt_trs *locals = bench_allocate(&memory, (uint64_t)instance_count * JOINTS, sizeof *locals);
    pelt_locals *views = bench_allocate(&memory, instance_count, sizeof *views);
    pelt_skeleton_instance *instances = bench_allocate(&memory, instance_count, sizeof *instances);
    float *palettes = bench_allocate(&memory, (uint64_t)instance_count * (JOINTS + 1), 16 * sizeof *palettes);
    bool made = asset && locals && views && instances && palettes &&
                pelt_skeleton_create(asset, NULL, NULL, &skeleton) == PELT_OK;
    state->failed = state->failed || !made;
    for (size_t i = 0; made && i < instance_count; i++) {
        bench_locals_fill(locals + i * JOINTS, JOINTS, (uint32_t)i + 1);
        views[i] = (pelt_locals){.transforms = locals + i * JOINTS};
        instances[i] = (pelt_skeleton_instance){&views[i], palettes + 16 * i * (JOINTS + 1)};
    }
    for (int precision = PELT_PRECISION_DOUBLE; made && precision <= PELT_PRECISION_FLOAT; precision++) {
        pelt_skeleton_job job = {.skeleton = skeleton,
                                 .instance_count = instance_count,
                                 .instances = instances,
                                 .format = PELT_PALETTE_4X4,
                                 .precision = (pelt_precision)precision,
                                 .isa = isa};
        char name[64];
        snprintf(name, sizeof name, "%s/%s/%s", instance_count == 1 ? "skeleton" : "skeletons", pelt_isa_name(isa),
                 precision == PELT_PRECISION_FLOAT ? "float" : "double");
        count_call(state, name, instance_count * JOINTS, evaluate_skeletons, &job);
    }
    pelt_skeleton_destroy(skeleton);
    pelt_asset_destroy(asset);
    bench_release(&memory);
}

static void count_pose(count_state *state, pelt_isa isa)
{
    const bench_shape shape = {.joint_count = JOINTS};
    static float palette[JOINTS * 16];
    pelt_asset *asset = bench_asset_create(&shape);
    pelt_pose *pose = NULL;
    if (!asset || pelt_pose_create(asset, NULL, &pose) != PELT_OK) {
        state->failed = true;
        pelt_asset_destroy(asset);
        return;
    }
    pelt_trs locals[JOINTS];
    char name[64];
    bench_locals_fill(locals, JOINTS, 1);
    pelt_pose_set_isa(pose, isa, 0);
    pelt_pose_set_locals(pose, locals);
    snprintf(name, sizeof name, "pose/%s/update", pelt_isa_name(isa));
    count_call(state, name, JOINTS, update_pose, pose);
    const pelt_palette_item item = {.pose = pose, .palette = palette};
    pelt_palette_job job = {.item_count = 1, .items = &item, .format = PELT_PALETTE_4X4, .isa = isa};
    snprintf(name, sizeof name, "pose/%s/palette", pelt_isa_name(isa));
    count_call(state, name, JOINTS, evaluate_palette, &job);
    pelt_pose_destroy(pose);
    pelt_asset_destroy(asset);
}

static void count_all(count_state *state)
{
    for (int i = PELT_ISA_SCALAR; i < PELT_ISA_COUNT; i++) {
        pelt_isa isa = (pelt_isa)i;
        if (!pelt_isa_available(isa) || (state->only != PELT_ISA_BEST && state->only != isa)) {
            continue;
        }
        for (size_t k = 0; k < sizeof skin_cases / sizeof *skin_cases; k++) {
            count_skin(state, &skin_cases[k], isa);
        }
        count_skeletons(state, isa, 1);
        count_skeletons(state, isa, INSTANCES);
        count_pose(state, isa);
    }
}

// What is asked of the system once is asked before anything is counted.
static void warm_up(count_state *state)
{
    state->only = state->only == PELT_ISA_BEST ? PELT_ISA_SCALAR : state->only;
    count_skin(state, &skin_cases[0], state->only);
}

// ---- stepping

static bool wait_for_stop(pid_t child, int *out_signal)
{
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
        return false;
    }
    *out_signal = WSTOPSIG(status);
    return true;
}

// Instructions from one stop that the child raises to its next.
static bool step_through(pid_t child, uint64_t *out_count)
{
    int stop = 0;
    for (*out_count = 0; ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0; (*out_count)++) {
        if (!wait_for_stop(child, &stop)) {
            return false;
        }
        if (stop != SIGTRAP) {
            return stop == SIGSTOP;
        }
    }
    return false;
}

// The first call counted is an empty one: what raising costs.
static int step_child(pid_t child)
{
    uint64_t overhead = 0;
    int stop = 0;
    for (bool first = true; wait_for_stop(child, &stop) && stop == SIGSTOP; first = false) {
        uint64_t count = 0;
        if (!step_through(child, &count)) {
            return 1;
        }
        overhead = first ? count : overhead;
        printf(", \"instructions\": %llu}\n", (unsigned long long)(count - overhead));
        fflush(stdout);
        if (ptrace(PTRACE_CONT, child, NULL, NULL) != 0) {
            return 1;
        }
    }
    return stop == SIGSTOP ? 0 : 1;
}

static int step(pelt_isa isa)
{
    fflush(stdout);
    pid_t child = fork();
    if (child != 0) {
        return child < 0 ? 1 : step_child(child);
    }
    count_state c = {.stepping = true, .only = isa};
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(1);
    }
    count_call(&c, "nothing", 1, do_nothing, NULL);
    count_all(&c);
    fflush(stdout);
    _exit(c.failed ? 1 : 0);
}

// ---- main

int main(int argument_count, char **arguments)
{
    bool stepping = argument_count == 3 && strcmp(arguments[1], "--step") == 0;
    pelt_isa isa = stepping ? pelt_isa_parse(arguments[2]) : PELT_ISA_BEST;
    if ((argument_count > 1 && !stepping) || (stepping && !pelt_isa_available(isa))) {
        fprintf(stderr, "usage: pelt_bench_instructions [--step ISA], of those that this processor has\n");
        return 2;
    }
    printf("{\"compiler\": \"%s, %s\", \"isas\": [", BENCH_COMPILER, BENCH_BUILD_TYPE);
    for (int i = PELT_ISA_SCALAR, k = 0; i < PELT_ISA_COUNT; i++) {
        if (pelt_isa_available((pelt_isa)i)) {
            printf("%s\"%s\"", k++ ? ", " : "", pelt_isa_name((pelt_isa)i));
        }
    }
    printf("]}\n");
    count_state c = {.only = isa};
    warm_up(&c);
    c.only = isa;
    if (stepping) {
        return step(isa);
    }
    count_all(&c);
    return c.failed ? 1 : 0;
}

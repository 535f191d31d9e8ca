// SPDX-License-Identifier: MIT
// Cost of pose updates and palettes in ns per joint, for skeletons of 2, 60 and 100 joints, warm and with cold caches;
// and from local transforms to palettes for one and 1,000 instances with every instruction set, by poses and by
// skeletons. Prints JSON: the median over the runs with quartiles, smallest and largest.
#include <pelt/builder.h>
#include <pelt/palette.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    WARM_RUNS = 31,
    COLD_RUNS = 101, // one call each, so more of them
    CROWD_RUNS = 15,
    CROWD_SIZE = 1000,
    FLUSH_SIZE = 64 * 1024 * 1024
};

typedef struct skeleton {
    pelt_asset *asset;
    pelt_pose *pose;
    uint32_t joint_count;
    pelt_mat34 *palette;
    pelt_trs leaf; // rest transform of the last node
    uint32_t step; // differs from call to call, so that each one changes something
} skeleton;

typedef void (*bench_call)(skeleton *s);

typedef struct bench_case {
    const char *name;
    bench_call call;
} bench_case;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

// A spine with limbs of five joints each, every joint 10 cm from its parent.
static pelt_asset *make_asset(uint32_t joint_count)
{
    pelt_builder *builder = NULL;
    if (pelt_builder_create(NULL, &builder) != PELT_OK) {
        return NULL;
    }
    pelt_builder_node *nodes = pelt_builder_allocate(builder, joint_count, sizeof *nodes);
    uint32_t *children = pelt_builder_allocate(builder, (uint64_t)joint_count * joint_count, sizeof *children);
    uint32_t *joints = pelt_builder_allocate(builder, joint_count, sizeof *joints);
    pelt_mat34 *binds = pelt_builder_allocate(builder, joint_count, sizeof *binds);
    pelt_skin *skin = pelt_builder_allocate(builder, 1, sizeof *skin);
    pelt_asset *asset = NULL;
    if (nodes && children && joints && binds && skin) {
        for (uint32_t i = 0; i < joint_count; i++) {
            nodes[i] = (pelt_builder_node){.name = "", .mesh = PELT_NONE, .skin = PELT_NONE};
            nodes[i].rest = (pelt_trs){{0.1F, 0.0F, 0.0F}, {0.0F, 0.0F, 0.09983342F, 0.99500417F}, {1.0F, 1.0F, 1.0F}};
            nodes[i].children = children + (size_t)i * joint_count;
            joints[i] = i;
            binds[i] = pelt_mat34_identity();
            binds[i].m[0][3] = -0.1F * (float)i;
            if (i > 0) {
                uint32_t parent = i % 6 == 1 ? i / 6 : i - 1;
                children[(size_t)parent * joint_count + nodes[parent].child_count] = i;
                nodes[parent].child_count++;
            }
        }
        *skin = (pelt_skin){.name = "",
                            .joint_count = joint_count,
                            .joints = joints,
                            .inverse_binds = binds,
                            .has_inverse_binds = true,
                            .skeleton = PELT_NONE};
        pelt_builder_scene scene = {.node_count = joint_count, .nodes = nodes, .skin_count = 1, .skins = skin};
        pelt_error error;
        if (pelt_builder_finish(builder, &scene, &asset, &error) != PELT_OK) {
            fprintf(stderr, "%s\n", error.message);
        }
    }
    pelt_builder_destroy(builder);
    return asset;
}

static void update_all(skeleton *s)
{
    memset(pelt_pose_locals(s->pose)->transform_changed, 1, s->joint_count);
    pelt_pose_update(s->pose, NULL);
}

static void update_one(skeleton *s)
{
    pelt_trs local = s->leaf;
    s->step++;
    local.translation.y = (float)(s->step & 1023) * 0.001F;
    pelt_pose_set_local(s->pose, s->joint_count - 1, &local);
    pelt_pose_update(s->pose, NULL);
}

static void update_none(skeleton *s)
{
    pelt_pose_update(s->pose, NULL);
}

static void palette_3x4(skeleton *s)
{
    const pelt_palette_item item = {.pose = s->pose, .skin = 0, .palette = s->palette};
    const pelt_palette_job job = {.item_count = 1, .items = &item};
    pelt_palette_evaluate(&job);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

// Reads and writes more than any cache holds, in cache lines.
static void flush_caches(unsigned char *buffer)
{
    for (size_t i = 0; i < FLUSH_SIZE; i += 64) {
        buffer[i]++;
    }
}

// What two readings of the clock cost by themselves.
static double clock_cost(void)
{
    double costs[1001];
    for (uint32_t i = 0; i < 1001; i++) {
        double start = now_ns();
        costs[i] = now_ns() - start;
    }
    qsort(costs, 1001, sizeof costs[0], compare_numbers);
    return costs[500];
}

static double time_calls(skeleton *s, bench_call call, uint32_t count)
{
    double start = now_ns();
    for (uint32_t i = 0; i < count; i++) {
        call(s);
    }
    return now_ns() - start;
}

// As many calls as take 200 us, so that the clock's own cost and steps do not show.
static uint32_t calls_per_run(skeleton *s, bench_call call)
{
    uint32_t count = 1;
    while (count < 1U << 20 && time_calls(s, call, count) < 2e5) {
        count *= 2;
    }
    return count;
}

static double time_cold(skeleton *s, bench_call call, unsigned char *buffer, double clock_ns)
{
    flush_caches(buffer);
    double start = now_ns();
    call(s);
    double elapsed = now_ns() - start - clock_ns;
    return elapsed > 0.0 ? elapsed : 0.0;
}

static void print_row(const skeleton *s, const char *name, const char *caches, double *times, uint32_t count,
                      bool is_first)
{
    qsort(times, count, sizeof times[0], compare_numbers);
    double joints = (double)s->joint_count;
    printf("%s\n    {\"joints\": %u, \"case\": \"%s\", \"caches\": \"%s\", \"runs\": %u, \"ns_per_call\": %.1f, "
           "\"ns_per_joint\": {\"median\": %.3f, \"quartiles\": [%.3f, %.3f], \"min\": %.3f, \"max\": %.3f}}",
           is_first ? "" : ",", s->joint_count, name, caches, count, times[count / 2], times[count / 2] / joints,
           times[count / 4] / joints, times[count - 1 - count / 4] / joints, times[0] / joints,
           times[count - 1] / joints);
}

// --- one and many instances

// Instances with transforms and palettes of their own, and as many poses.
typedef struct crowd {
    pelt_skeleton *skeleton;
    uint32_t count;
    pelt_trs *transforms; // count x joint_count
    pelt_locals *locals;
    pelt_skeleton_instance *instances;
    pelt_pose **poses;
    pelt_palette_item *items;
    char *palettes;
} crowd;

// One way of going from local transforms to palettes.
typedef struct crowd_case {
    pelt_isa isa;
    bool by_poses;
    pelt_precision precision; // of skeletons
    pelt_palette_format format;
} crowd_case;

static void crowd_free(crowd *c)
{
    for (uint32_t i = 0; c->poses && i < c->count; i++) {
        pelt_pose_destroy(c->poses[i]);
    }
    pelt_skeleton_destroy(c->skeleton);
    free(c->transforms);
    free(c->locals);
    free(c->instances);
    free(c->poses);
    free(c->items);
    free(c->palettes);
}

static void crowd_place(crowd *c, const skeleton *s, uint32_t index)
{
    const size_t stride = pelt_skeleton_palette_stride(c->skeleton, PELT_PALETTE_4X4);
    const uintptr_t start = ((uintptr_t)c->palettes + 63) / 64 * 64 - (uintptr_t)c->palettes;
    pelt_trs *transforms = c->transforms + (size_t)index * s->joint_count;
    for (uint32_t i = 0; i < s->joint_count; i++) {
        float turn = 0.001F * (float)((index * 31 + i * 17) % 400);
        transforms[i] = pelt_asset_get(s->asset)->nodes[i].rest;
        transforms[i].rotation = (pelt_quat){turn, 0.0F, 0.0F, 1.0F - turn * turn / 2.0F};
    }
    c->locals[index] = (pelt_locals){.transforms = transforms};
    c->instances[index] = (pelt_skeleton_instance){&c->locals[index], c->palettes + start + index * stride};
    c->items[index] = (pelt_palette_item){.pose = c->poses[index], .palette = c->instances[index].palette};
    pelt_pose_set_locals(c->poses[index], transforms);
}

static bool crowd_make(crowd *c, const skeleton *s, uint32_t count)
{
    *c = (crowd){.count = count};
    if (pelt_skeleton_create(s->asset, NULL, NULL, &c->skeleton) != PELT_OK) {
        return false;
    }
    c->transforms = calloc((size_t)count * s->joint_count, sizeof *c->transforms);
    c->locals = calloc(count, sizeof *c->locals);
    c->instances = calloc(count, sizeof *c->instances);
    c->poses = calloc(count, sizeof *c->poses);
    c->items = calloc(count, sizeof *c->items);
    c->palettes = calloc(count * pelt_skeleton_palette_stride(c->skeleton, PELT_PALETTE_4X4) + 64, 1);
    bool made = c->transforms && c->locals && c->instances && c->poses && c->items && c->palettes;
    for (uint32_t i = 0; made && i < count; i++) {
        made = pelt_pose_create(s->asset, NULL, &c->poses[i]) == PELT_OK;
        if (made) {
            crowd_place(c, s, i);
        }
    }
    return made;
}

static void crowd_call(crowd *c, const skeleton *s, const crowd_case *way)
{
    if (!way->by_poses) {
        const pelt_skeleton_job job = {.skeleton = c->skeleton,
                                       .instance_count = c->count,
                                       .instances = c->instances,
                                       .format = way->format,
                                       .precision = way->precision,
                                       .isa = way->isa};
        pelt_skeleton_evaluate(&job);
        return;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        const pelt_palette_job job = {.item_count = 1, .items = &c->items[i], .format = way->format, .isa = way->isa};
        pelt_pose_set_isa(c->poses[i], way->isa, 0);
        memset(pelt_pose_locals(c->poses[i])->transform_changed, 1, s->joint_count);
        pelt_pose_update(c->poses[i], NULL);
        pelt_palette_evaluate(&job);
    }
}

static void print_crowd_row(const skeleton *s, const crowd *c, const crowd_case *way, double *times)
{
    qsort(times, CROWD_RUNS, sizeof times[0], compare_numbers);
    printf(",\n    {\"joints\": %u, \"instances\": %u, \"case\": \"%s\", \"isa\": \"%s\", \"precision\": \"%s\", "
           "\"palette\": \"%s\", \"runs\": %d, \"ns_per_joint\": {\"median\": %.3f, \"min\": %.3f, \"max\": %.3f}}",
           s->joint_count, c->count, way->by_poses ? "pose_to_palette" : "skeleton", pelt_isa_name(way->isa),
           way->by_poses || way->precision == PELT_PRECISION_DOUBLE ? "double" : "float",
           way->format == PELT_PALETTE_4X4 ? "4x4" : "3x4", CROWD_RUNS, times[CROWD_RUNS / 2], times[0],
           times[CROWD_RUNS - 1]);
}

// All ways take turns, so that none has the quieter time; a call that is not timed brings back what the others drove
// out of the caches.
static bool run_crowd(const skeleton *s, uint32_t count)
{
    crowd_case ways[6 * PELT_ISA_COUNT];
    double times[6 * PELT_ISA_COUNT][CROWD_RUNS];
    uint32_t way_count = 0;
    for (pelt_isa isa = PELT_ISA_SCALAR; isa < PELT_ISA_COUNT; isa++) {
        for (uint32_t i = 0; pelt_isa_available(isa) && i < 6; i++) {
            ways[way_count++] = (crowd_case){.isa = isa,
                                             .by_poses = i >= 4,
                                             .precision = (pelt_precision)(i / 2 % 2),
                                             .format = (pelt_palette_format)(i % 2)};
        }
    }
    crowd c;
    bool made = crowd_make(&c, s, count);
    const uint32_t calls = count < 100 ? 200 : 1;
    for (uint32_t run = 0; made && run < CROWD_RUNS; run++) {
        for (uint32_t i = 0; i < way_count; i++) {
            crowd_call(&c, s, &ways[i]);
            double start = now_ns();
            for (uint32_t k = 0; k < calls; k++) {
                crowd_call(&c, s, &ways[i]);
            }
            times[i][run] = (now_ns() - start) / calls / count / s->joint_count;
        }
    }
    for (uint32_t i = 0; made && i < way_count; i++) {
        print_crowd_row(s, &c, &ways[i], times[i]);
    }
    crowd_free(&c);
    return made;
}

static bool run(uint32_t joint_count, unsigned char *buffer, double clock_ns, bool is_first)
{
    static const bench_case cases[] = {{"update_all", update_all},
                                       {"update_one", update_one},
                                       {"update_none", update_none},
                                       {"palette_3x4", palette_3x4}};
    skeleton s = {.joint_count = joint_count};
    s.asset = make_asset(joint_count);
    s.palette = malloc(joint_count * sizeof *s.palette);
    bool made = s.asset && s.palette && pelt_pose_create(s.asset, NULL, &s.pose) == PELT_OK;
    if (made) {
        s.leaf = pelt_asset_get(s.asset)->nodes[joint_count - 1].rest;
        pelt_pose_update(s.pose, NULL);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            double times[COLD_RUNS];
            uint32_t calls = calls_per_run(&s, cases[i].call);
            for (uint32_t k = 0; k < WARM_RUNS; k++) {
                times[k] = time_calls(&s, cases[i].call, calls) / calls;
            }
            print_row(&s, cases[i].name, "warm", times, WARM_RUNS, is_first && i == 0);
            for (uint32_t k = 0; k < COLD_RUNS; k++) {
                times[k] = time_cold(&s, cases[i].call, buffer, clock_ns);
            }
            print_row(&s, cases[i].name, "cold", times, COLD_RUNS, false);
        }
        made = run_crowd(&s, 1) && run_crowd(&s, CROWD_SIZE);
    }
    pelt_pose_destroy(s.pose);
    pelt_asset_destroy(s.asset);
    free(s.palette);
    return made;
}

int main(void)
{
    const uint32_t sizes[] = {2, 60, 100};
    unsigned char *buffer = calloc(FLUSH_SIZE, 1);
    if (!buffer) {
        return 1;
    }
    double clock_ns = clock_cost();
    bool done = true;
    printf("{\"schema\": \"pelt/bench-pose/2\", \"clock_ns\": %.1f, \"rows\": [", clock_ns);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        done = run(sizes[i], buffer, clock_ns, i == 0) && done;
    }
    printf("\n]}\n");
    free(buffer);
    return done ? 0 : 1;
}

// SPDX-License-Identifier: MIT
// What recording costs the CPU: pelt_vk_record for scenes of 10,000 instances that moved, or of none, among others that
// did not, beside writing the moved ones' matrices and a plain memcpy of the same bytes. Submission and the device's
// own work are not in it. Prints JSON: medians of RUNS frames with the fastest and slowest. The environment variable
// PELT_BENCH_DEVICE is an index or part of a device's name.
#include "vulkan_device.h"

#include <pelt/builder.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    RUNS = 21,
    WARM_FRAMES = 3,
    JOINTS = 64,
    VERTICES = 64,
    MOVED = 10000
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *seconds)
{
    qsort(seconds, RUNS, sizeof *seconds, by_value);
    return seconds[RUNS / 2];
}

// ---- The mesh: vertices along a chain of joints, each between two neighbours

static bool fill_primitive(pelt_builder *builder, pelt_primitive *p)
{
    float *positions = pelt_builder_allocate(builder, VERTICES, 12);
    float *normals = pelt_builder_allocate(builder, VERTICES, 12);
    uint16_t *joints = calloc(VERTICES, 4 * sizeof *joints);
    float *weights = calloc(VERTICES, 4 * sizeof *weights);
    bool fine = positions && normals && joints && weights;
    for (uint32_t v = 0; fine && v < VERTICES; v++) {
        positions[3 * v] = 0.1F * (float)v;
        positions[3 * v + 1] = (float)(v % 7) * 0.01F;
        normals[3 * v + 1] = 1.0F;
        joints[4 * v] = (uint16_t)(v * JOINTS / VERTICES);
        joints[4 * v + 1] = (uint16_t)((joints[4 * v] + 1) % JOINTS);
        weights[4 * v] = 0.75F;
        weights[4 * v + 1] = 0.25F;
    }
    *p = (pelt_primitive){.topology = PELT_TOPOLOGY_POINTS,
                          .material = PELT_NONE,
                          .vertex_count = VERTICES,
                          .positions = positions,
                          .normals = normals,
                          .index_count = VERTICES};
    pelt_influence_set set = {joints, weights};
    pelt_influence_job job = {.vertex_count = VERTICES, .set_count = 1, .sets = &set, .joint_limit = JOINTS};
    fine = fine && pelt_builder_clean_influences(builder, &job, p, NULL) == PELT_OK;
    free(joints);
    free(weights);
    return fine;
}

static pelt_asset *make_asset(void)
{
    pelt_builder *builder = NULL;
    pelt_asset *asset = NULL;
    if (pelt_builder_create(NULL, &builder) != PELT_OK) {
        return NULL;
    }
    pelt_builder_node *nodes = pelt_builder_allocate(builder, JOINTS + 1, sizeof *nodes);
    uint32_t *joints = pelt_builder_allocate(builder, JOINTS, sizeof *joints);
    pelt_mat34 *binds = pelt_builder_allocate(builder, JOINTS, sizeof *binds);
    pelt_skin *skin = pelt_builder_allocate(builder, 1, sizeof *skin);
    pelt_mesh *mesh = pelt_builder_allocate(builder, 1, sizeof *mesh);
    pelt_primitive *primitive = pelt_builder_allocate(builder, 1, sizeof *primitive);
    if (nodes && joints && binds && skin && mesh && primitive && fill_primitive(builder, primitive)) {
        for (uint32_t i = 0; i <= JOINTS; i++) {
            nodes[i] = (pelt_builder_node){.name = "", .mesh = PELT_NONE, .skin = PELT_NONE};
            nodes[i].rest = pelt_trs_identity();
        }
        for (uint32_t i = 0; i < JOINTS; i++) {
            joints[i] = i;
            binds[i] = pelt_mat34_identity();
        }
        nodes[JOINTS].mesh = 0;
        nodes[JOINTS].skin = 0;
        *skin = (pelt_skin){
            .name = "", .joint_count = JOINTS, .joints = joints, .inverse_binds = binds, .skeleton = PELT_NONE};
        *mesh = (pelt_mesh){.name = "", .primitive_count = 1, .primitives = primitive};
        pelt_builder_scene scene = {.node_count = JOINTS + 1, .nodes = nodes, .mesh_count = 1, .meshes = mesh};
        scene.skin_count = 1;
        scene.skins = skin;
        pelt_builder_finish(builder, &scene, &asset, NULL);
    }
    pelt_builder_destroy(builder);
    return asset;
}

// ---- Scenes

typedef struct bench_scene {
    pelt_vk_scene *scene;
    uint32_t moved;
    uint32_t unmoved;
    pelt_vk_palette *palettes; // of the moved ones
    pelt_mat34 **targets;      // where their matrices go
    uint64_t frame;
} bench_scene;

// The moved ones stand evenly among the others, as they would.
static bool is_moved(const bench_scene *s, uint64_t index)
{
    uint64_t all = (uint64_t)s->moved + s->unmoved;
    return (index + 1) * s->moved / all != index * s->moved / all;
}

static bool fill_scene(bench_scene *s, const pelt_cooked_data *data)
{
    pelt_vk_skin skin;
    pelt_vk_instance_options options = {0};
    if (s->moved + s->unmoved == 0) {
        return true;
    }
    if (pelt_vk_mesh_add(s->scene, data, 0, &options.mesh, NULL) != PELT_OK ||
        pelt_vk_skin_add(s->scene, NULL, JOINTS, &skin, NULL) != PELT_OK) {
        return false;
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < s->moved + s->unmoved; i++) {
        pelt_vk_instance instance;
        if (pelt_vk_palette_add(s->scene, skin, &options.palette, NULL) != PELT_OK ||
            pelt_vk_instance_add(s->scene, &options, &instance, NULL) != PELT_OK) {
            return false;
        }
        if (is_moved(s, i)) {
            s->palettes[next++] = options.palette;
        }
    }
    return next == s->moved;
}

static bool open_scene(bench_scene *s, const bench_vk *vk, const pelt_cooked_data *data)
{
    s->palettes = calloc((size_t)s->moved + 1, sizeof *s->palettes);
    s->targets = calloc((size_t)s->moved + 1, sizeof *s->targets);
    return s->palettes && s->targets && pelt_vk_scene_create(vk->context, NULL, &s->scene, NULL) == PELT_OK &&
           fill_scene(s, data);
}

static void close_scene(bench_scene *s)
{
    pelt_vk_scene_destroy(s->scene);
    free(s->palettes);
    free(s->targets);
}

// ---- Measuring

typedef enum step {
    STEP_COPY,    // memcpy of the matrices between two arrays
    STEP_ADDRESS, // pelt_vk_palette_write for each moved skeleton
    STEP_WRITE,   // memcpy of the matrices to where that says
    STEP_RECORD,
    STEP_COUNT
} step;

static const char *const step_names[STEP_COUNT] = {"memcpy", "palette_write", "write_matrices", "record"};

typedef struct copies {
    const pelt_mat34 *from; // MOVED * JOINTS
    pelt_mat34 *to;
} copies;

static bool run_frame(bench_scene *s, bench_vk *vk, const copies *c, double seconds[STEP_COUNT],
                      pelt_vk_statistics *statistics)
{
    const size_t size = JOINTS * sizeof(pelt_mat34);
    if (!bench_vk_begin(vk)) {
        return false;
    }
    double t0 = now();
    for (size_t i = 0; i < s->moved; i++) {
        memcpy(c->to + i * JOINTS, c->from + i * JOINTS, size);
    }
    double t1 = now();
    bool fine = true;
    for (uint32_t i = 0; i < s->moved; i++) {
        fine = fine && pelt_vk_palette_write(s->scene, s->palettes[i], &s->targets[i], NULL) == PELT_OK;
    }
    double t2 = now();
    for (size_t i = 0; fine && i < s->moved; i++) {
        memcpy(s->targets[i], c->from + i * JOINTS, size);
    }
    double t3 = now();
    pelt_error error;
    fine = fine && pelt_vk_record(s->scene, vk->cmd, ++s->frame, statistics, &error) == PELT_OK;
    double t4 = now();
    seconds[STEP_COPY] = t1 - t0;
    seconds[STEP_ADDRESS] = t2 - t1;
    seconds[STEP_WRITE] = t3 - t2;
    seconds[STEP_RECORD] = t4 - t3;
    fine = fine && bench_vk_run(vk);
    pelt_vk_retire(s->scene, s->frame);
    return fine;
}

static void print_case(const bench_scene *s, double times[STEP_COUNT][RUNS], const pelt_vk_statistics *statistics)
{
    double medians[STEP_COUNT];
    printf("    {\"moved\": %u, \"unmoved\": %u, \"matrix_bytes\": %zu, \"written_bytes\": %llu, \"dispatches\": %u, "
           "\"barriers\": %u,\n",
           s->moved, s->unmoved, (size_t)s->moved * JOINTS * sizeof(pelt_mat34),
           (unsigned long long)statistics->written_bytes, statistics->dispatch_count, statistics->barrier_count);
    for (int i = 0; i < STEP_COUNT; i++) {
        medians[i] = median(times[i]);
        printf("     \"%s\": {\"median_us\": %.3f, \"min_us\": %.3f, \"max_us\": %.3f},\n", step_names[i],
               medians[i] * 1e6, times[i][0] * 1e6, times[i][RUNS - 1] * 1e6);
    }
    double library = medians[STEP_ADDRESS] + medians[STEP_RECORD];
    printf("     \"record_to_memcpy\": %.4f, \"palette_write_and_record_to_memcpy\": %.4f}",
           s->moved ? medians[STEP_RECORD] / medians[STEP_COPY] : 0.0, s->moved ? library / medians[STEP_COPY] : 0.0);
}

static bool measure(bench_vk *vk, const pelt_cooked_data *data, const copies *c, uint32_t moved, uint32_t unmoved)
{
    bench_scene s = {.moved = moved, .unmoved = unmoved};
    double times[STEP_COUNT][RUNS];
    pelt_vk_statistics statistics = {0};
    bool fine = open_scene(&s, vk, data);
    for (int run = -WARM_FRAMES; fine && run < RUNS; run++) {
        double seconds[STEP_COUNT] = {0.0};
        fine = run_frame(&s, vk, c, seconds, &statistics);
        for (int i = 0; fine && run >= 0 && i < STEP_COUNT; i++) {
            times[i][run] = seconds[i];
        }
    }
    if (fine) {
        print_case(&s, times, &statistics);
    }
    close_scene(&s);
    return fine;
}

static bool measure_all(bench_vk *vk, const pelt_cooked_data *data, const copies *c)
{
    static const uint32_t unmoved[] = {0, 1000, 10000, 50000};
    printf("{\n  \"schema\": \"pelt/bench-vulkan/1\", \"runs\": %d, \"joints\": %d, \"vertices\": %d,\n", RUNS, JOINTS,
           VERTICES);
    printf("  \"device\": \"%s\", \"driver\": \"%s\", \"driver_version\": \"%s\",\n  \"cases\": [\n", vk->name,
           vk->driver, vk->driver_version);
    bool fine = true;
    for (uint32_t i = 0; fine && i < 8; i++) {
        fine = measure(vk, data, c, i & 1 ? MOVED : 0, unmoved[i / 2]);
        printf("%s\n", i < 7 ? "," : "");
    }
    printf("  ]\n}\n");
    return fine;
}

int main(void)
{
    bench_vk vk;
    bool fine = bench_vk_open(&vk, getenv("PELT_BENCH_DEVICE"));
    void *image = NULL;
    uint64_t size = 0;
    pelt_cooked *cooked = NULL;
    pelt_asset *asset = fine ? make_asset() : NULL;
    fine = fine && asset && pelt_cook(asset, NULL, &image, &size, NULL, NULL) == PELT_OK &&
           pelt_cooked_open_memory(image, size, NULL, &cooked, NULL) == PELT_OK;
    const size_t matrix_count = (size_t)MOVED * JOINTS;
    pelt_mat34 *from = malloc(matrix_count * sizeof *from);
    pelt_mat34 *to = malloc(matrix_count * sizeof *to);
    for (size_t i = 0; from && to && i < matrix_count; i++) {
        from[i] = pelt_mat34_identity();
        from[i].m[0][3] = (float)(i % 100) * 0.01F;
    }
    copies c = {from, to};
    fine = fine && from && to && measure_all(&vk, pelt_cooked_get(cooked), &c);
    free(from);
    free(to);
    pelt_cooked_close(cooked);
    pelt_cook_release(NULL, image, size);
    pelt_asset_destroy(asset);
    bench_vk_close(&vk);
    return fine ? 0 : 1;
}

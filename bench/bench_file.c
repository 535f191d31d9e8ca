// SPDX-License-Identifier: MIT
// What one file costs from disk to posed arrays: load, pose and skin, write, each against reading and copying the same
// bytes in the same run; and the peak memory of loading. Prints JSON: medians of RUNS runs, fastest and slowest beside
// them.
#include <pelt/gltf.h>
#include <pelt/palette.h>
#include <pelt/skin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    RUNS = 15
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

static double print_times(const char *name, double *seconds, uint64_t bytes)
{
    qsort(seconds, RUNS, sizeof *seconds, by_value);
    double median = seconds[RUNS / 2];
    printf(
        "  \"%s\": {\"median_ms\": %.3f, \"min_ms\": %.3f, \"max_ms\": %.3f, \"bytes\": %llu, \"gb_per_s\": %.2f},\n",
        name, median * 1e3, seconds[0] * 1e3, seconds[RUNS - 1] * 1e3, (unsigned long long)bytes,
        (double)bytes / median / 1e9);
    return median;
}

// Reads the file into one buffer and copies it into another: the least that any loader does.
static size_t read_and_copy(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        return 0;
    }
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *first = malloc(size + 1);
    char *second = malloc(size + 1);
    size_t got = first && second ? fread(first, 1, size, file) : 0;
    if (got == size && size > 0) {
        memcpy(second, first, size);
        volatile char keep = second[size / 2];
        (void)keep;
    }
    fclose(file);
    free(first);
    free(second);
    return got;
}

static bool discard(void *user, const void *data, size_t size)
{
    (void)data;
    *(uint64_t *)user += size;
    return true;
}

typedef struct scene {
    pelt_gltf *gltf;
    pelt_asset *asset;
    const pelt_asset_data *data;
    pelt_pose *pose;
    pelt_parallel *parallel;
    uint32_t primitive_count;
    pelt_gltf_posed_primitive *posed;
    pelt_box *boxes;
    uint64_t output_size; // bytes of positions, normals and tangents
} scene;

static bool open_scene(const char *path, scene *s)
{
    pelt_error error;
    if (pelt_gltf_open_file(path, NULL, &s->gltf, &error) != PELT_OK ||
        pelt_gltf_import(s->gltf, &s->asset, &error) != PELT_OK) {
        fprintf(stderr, "%s: %s: %s\n", path, error.where, error.message);
        return false;
    }
    s->data = pelt_asset_get(s->asset);
    return pelt_pose_create(s->asset, NULL, &s->pose) == PELT_OK;
}

static bool allocate_outputs(scene *s)
{
    for (uint32_t i = 0; i < s->data->instance_count; i++) {
        s->primitive_count += s->data->meshes[s->data->instances[i].mesh].primitive_count;
    }
    s->posed = calloc(s->primitive_count + 1u, sizeof *s->posed);
    s->boxes = calloc(s->primitive_count + 1u, sizeof *s->boxes);
    uint32_t k = 0;
    for (uint32_t i = 0; s->posed && s->boxes && i < s->data->instance_count; i++) {
        const pelt_mesh *mesh = &s->data->meshes[s->data->instances[i].mesh];
        for (uint32_t p = 0; p < mesh->primitive_count; p++, k++) {
            const pelt_primitive *source = &mesh->primitives[p];
            size_t n = source->vertex_count;
            float *memory = calloc(n * 10 + 1, sizeof *memory);
            s->posed[k] = (pelt_gltf_posed_primitive){.instance = i, .primitive = p, .positions = memory};
            s->posed[k].normals = memory && source->normals ? memory + 3 * n : NULL;
            s->posed[k].tangents = memory && source->tangents ? memory + 6 * n : NULL;
            s->posed[k].box = &s->boxes[k];
            s->output_size += n * 4 * (3u + (source->normals ? 3u : 0u) + (source->tangents ? 4u : 0u));
            if (!memory) {
                return false;
            }
        }
    }
    return s->posed && s->boxes;
}

static void skin_one(const scene *s, const pelt_mat34 *palette, uint32_t palette_count, uint32_t k)
{
    const pelt_gltf_posed_primitive *out = &s->posed[k];
    const pelt_instance *instance = &s->data->instances[out->instance];
    const pelt_primitive *source = &s->data->meshes[instance->mesh].primitives[out->primitive];
    pelt_skin_job job = {.vertex_count = source->vertex_count,
                         .flags = PELT_NORMAL_OUTWARD,
                         .palette_count = palette_count,
                         .palette = palette,
                         .influence_count = instance->skin == PELT_NONE ? 0 : source->influence_count,
                         .joints = source->joints,
                         .weights = source->weights,
                         .positions = source->positions,
                         .normals = source->normals,
                         .tangents = source->tangents,
                         .box = &s->boxes[k],
                         .parallel = s->parallel};
    // The outputs are this program's own; the posed structs only show them as const.
    memcpy(&job.out_positions, &out->positions, sizeof job.out_positions);
    memcpy(&job.out_normals, &out->normals, sizeof job.out_normals);
    memcpy(&job.out_tangents, &out->tangents, sizeof job.out_tangents);
    if (pelt_skin_evaluate(&job) != PELT_OK) {
        fprintf(stderr, "primitive %u was not skinned\n", k);
    }
}

static void pose_all(const scene *s, double time)
{
    pelt_pose_reset(s->pose);
    if (s->data->clip_count > 0) {
        pelt_clip_sample(s->asset, 0, time, pelt_pose_locals(s->pose));
    }
    pelt_pose_update(s->pose, NULL);
    uint32_t k = 0;
    for (uint32_t i = 0; i < s->data->instance_count; i++) {
        const pelt_instance *instance = &s->data->instances[i];
        pelt_mat34 *palette = malloc(pelt_palette_size(s->asset, instance->skin, PELT_PALETTE_3X4));
        pelt_palette_item item = {s->pose, instance->skin, instance->node, palette};
        uint32_t count = instance->skin == PELT_NONE ? 1 : s->data->skins[instance->skin].joint_count;
        if (palette && pelt_palette_evaluate(&(pelt_palette_job){.item_count = 1, .items = &item}) == PELT_OK) {
            for (uint32_t p = 0; p < s->data->meshes[instance->mesh].primitive_count; p++) {
                skin_one(s, palette, count, k + p);
            }
        }
        k += s->data->meshes[instance->mesh].primitive_count;
        free(palette);
    }
}

static void close_scene(scene *s)
{
    for (uint32_t k = 0; s->posed && k < s->primitive_count; k++) {
        void *memory;
        memcpy(&memory, &s->posed[k].positions, sizeof memory);
        free(memory);
    }
    free(s->posed);
    free(s->boxes);
    pelt_pose_destroy(s->pose);
    pelt_asset_destroy(s->asset);
    pelt_gltf_close(s->gltf);
}

// Peak resident bytes of a child that loads the file and, where pose is true, poses and writes it too.
static uint64_t peak_memory(const char *path, bool pose)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        scene s = {0};
        uint64_t written = 0;
        if (!open_scene(path, &s)) {
            _exit(1);
        }
        if (pose && allocate_outputs(&s)) {
            pelt_gltf_posed posed = {.pose = s.pose, .primitive_count = s.primitive_count, .primitives = s.posed};
            posed.json = (pelt_gltf_sink){discard, &written};
            pose_all(&s, 0.5);
            pelt_gltf_write_posed(s.gltf, s.asset, &posed, NULL);
        }
        _exit(0);
    }
    int status = 0;
    struct rusage usage;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return 0;
    }
    getrusage(RUSAGE_CHILDREN, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

typedef struct timings {
    double copy[RUNS];
    double load[RUNS];
    double skin[RUNS];
    double write[RUNS];
    uint64_t written; // bytes of one output
} timings;

static bool measure(const char *path, const scene *s, timings *out)
{
    for (int run = 0; run < RUNS; run++) {
        scene loaded = {0};
        double t0 = now();
        read_and_copy(path);
        double t1 = now();
        bool fine = open_scene(path, &loaded);
        double t2 = now();
        close_scene(&loaded);
        double t3 = now();
        pose_all(s, 0.1 * run);
        double t4 = now();
        out->written = 0;
        pelt_gltf_posed posed = {.pose = s->pose, .primitive_count = s->primitive_count, .primitives = s->posed};
        posed.json = (pelt_gltf_sink){discard, &out->written};
        fine = fine && pelt_gltf_write_posed(s->gltf, s->asset, &posed, NULL) == PELT_OK;
        double t5 = now();
        if (!fine) {
            return false;
        }
        out->copy[run] = t1 - t0;
        out->load[run] = t2 - t1;
        out->skin[run] = t4 - t3;
        out->write[run] = t5 - t4;
    }
    return true;
}

int main(int argument_count, char **arguments)
{
    if (argument_count < 2) {
        fprintf(stderr, "usage: pelt_bench_file FILE.glb [THREADS]\n");
        return 2;
    }
    const char *path = arguments[1];
    // Children first, before this process has grown: the larger of the two runs comes second.
    uint64_t load_peak = peak_memory(path, false);
    uint64_t whole_peak = peak_memory(path, true);
    uint64_t size = read_and_copy(path);
    scene s = {0};
    if (!open_scene(path, &s) || !allocate_outputs(&s)) {
        return 1;
    }
    pelt_pool *pool = NULL;
    pelt_parallel parallel = {0};
    if (pelt_pool_create(argument_count > 2 ? (uint32_t)atoi(arguments[2]) : 1, NULL, &pool) == PELT_OK) {
        parallel = pelt_pool_parallel(pool);
        s.parallel = &parallel;
    }
    timings t;
    if (!measure(path, &s, &t)) {
        return 1;
    }
    printf("{\n  \"schema\": \"pelt/bench-file/1\", \"file\": \"%s\", \"runs\": %d, \"threads\": %u,\n", path, RUNS,
           parallel.worker_count);
    double copy_time = print_times("read_and_copy", t.copy, size);
    double load_time = print_times("load", t.load, size);
    print_times("pose_and_skin", t.skin, s.output_size);
    print_times("write_glb", t.write, t.written);
    printf("  \"load_to_read_and_copy\": %.2f,\n", load_time / copy_time);
    printf("  \"peak_load_bytes\": %llu, \"peak_load_to_file\": %.2f,\n", (unsigned long long)load_peak,
           (double)load_peak / (double)size);
    printf("  \"peak_whole_bytes\": %llu, \"output_bytes\": %llu, \"peak_beyond_outputs_to_file\": %.2f\n}\n",
           (unsigned long long)whole_peak, (unsigned long long)s.output_size,
           ((double)whole_peak - (double)s.output_size) / (double)size);
    close_scene(&s);
    pelt_pool_destroy(pool);
    return 0;
}

// SPDX-License-Identifier: MIT
// What cooking one file costs: load, cook (by the clock, and in processor time, which a busy machine disturbs less),
// open and unpack, each a median of RUNS runs with the fastest and slowest beside it, and the peak memory of loading
// alone and of loading and cooking. Prints JSON.
#include <pelt/cook.h>
#include <pelt/gltf.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    RUNS = 15,
    STEPS = 5
};

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_times(const char *name, double *seconds, uint64_t vertices)
{
    qsort(seconds, RUNS, sizeof *seconds, by_value);
    double median = seconds[RUNS / 2];
    printf("  \"%s\": {\"median_ms\": %.3f, \"min_ms\": %.3f, \"max_ms\": %.3f, \"ns_per_vertex\": %.1f},\n", name,
           median * 1e3, seconds[0] * 1e3, seconds[RUNS - 1] * 1e3, vertices ? median * 1e9 / (double)vertices : 0.0);
}

static pelt_asset *load(const char *path)
{
    pelt_asset *asset = NULL;
    pelt_error error;
    if (pelt_gltf_load_file(path, NULL, &asset, &error) != PELT_OK) {
        fprintf(stderr, "%s: %s: %s\n", path, error.where, error.message);
    }
    return asset;
}

// Peak resident bytes of a child that loads the file and, where cook is true, cooks it.
static uint64_t peak_memory(const char *path, const pelt_cook_options *options, bool cook)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        void *image = NULL;
        uint64_t size = 0;
        pelt_asset *asset = load(path);
        bool fine = asset && (!cook || pelt_cook(asset, options, &image, &size, NULL, NULL) == PELT_OK);
        _exit(fine ? 0 : 1);
    }
    int status = 0;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
        return 0;
    }
    return (uint64_t)usage.ru_maxrss * 1024;
}

typedef struct sums {
    uint64_t vertices;
    uint64_t influences;
    uint32_t joints; // most of a skin
} sums;

static sums sum_up(const pelt_asset_data *data)
{
    sums total = {0};
    for (uint32_t m = 0; m < data->mesh_count; m++) {
        for (uint32_t p = 0; p < data->meshes[m].primitive_count; p++) {
            const pelt_primitive *one = &data->meshes[m].primitives[p];
            total.vertices += one->vertex_count;
            for (uint32_t v = 0; one->influence_count && v < one->vertex_count; v++) {
                total.influences += pelt_primitive_vertex_influences(one, v);
            }
        }
    }
    for (uint32_t s = 0; s < data->skin_count; s++) {
        total.joints = data->skins[s].joint_count > total.joints ? data->skins[s].joint_count : total.joints;
    }
    return total;
}

// One of each; false where anything fails.
static bool run_once(const char *path, const pelt_cook_options *options, double times[STEPS], uint64_t *out_size)
{
    void *image = NULL;
    pelt_cooked *cooked = NULL;
    pelt_asset *unpacked = NULL;
    double t0 = now(CLOCK_MONOTONIC);
    pelt_asset *asset = load(path);
    double t1 = now(CLOCK_MONOTONIC);
    double c1 = now(CLOCK_PROCESS_CPUTIME_ID);
    bool fine = asset && pelt_cook(asset, options, &image, out_size, NULL, NULL) == PELT_OK;
    double c2 = now(CLOCK_PROCESS_CPUTIME_ID);
    double t2 = now(CLOCK_MONOTONIC);
    fine = fine && pelt_cooked_open_memory(image, *out_size, NULL, &cooked, NULL) == PELT_OK;
    double t3 = now(CLOCK_MONOTONIC);
    fine = fine && pelt_cooked_import(cooked, &unpacked, NULL) == PELT_OK;
    double t4 = now(CLOCK_MONOTONIC);
    times[0] = t1 - t0;
    times[1] = t2 - t1;
    times[2] = c2 - c1;
    times[3] = t3 - t2;
    times[4] = t4 - t3;
    pelt_asset_destroy(unpacked);
    pelt_cooked_close(cooked);
    pelt_cook_release(options, image, *out_size);
    pelt_asset_destroy(asset);
    return fine;
}

int main(int argument_count, char **arguments)
{
    static const char *const names[STEPS] = {"load", "cook", "cook_processor", "open", "unpack"};
    if (argument_count < 2) {
        fprintf(stderr, "usage: pelt_bench_cook FILE.glb [THREADS]\n");
        return 2;
    }
    const char *path = arguments[1];
    pelt_pool *pool = NULL;
    pelt_parallel parallel = {0};
    pelt_cook_options options = {0};
    // Children first, before this process has grown or has threads.
    uint64_t load_peak = peak_memory(path, &options, false);
    uint64_t cook_peak = peak_memory(path, &options, true);
    if (pelt_pool_create(argument_count > 2 ? (uint32_t)atoi(arguments[2]) : 1, NULL, &pool) == PELT_OK) {
        parallel = pelt_pool_parallel(pool);
        options.parallel = &parallel;
    }
    double times[STEPS][RUNS];
    uint64_t size = 0;
    for (int run = 0; run < RUNS; run++) {
        double once[STEPS];
        if (!run_once(path, &options, once, &size)) {
            return 1;
        }
        for (int i = 0; i < STEPS; i++) {
            times[i][run] = once[i];
        }
    }
    pelt_asset *asset = load(path);
    if (!asset) {
        return 1;
    }
    sums total = sum_up(pelt_asset_get(asset));
    printf("{\n  \"schema\": \"pelt/bench-cook/1\", \"file\": \"%s\", \"runs\": %d, \"threads\": %u,\n", path, RUNS,
           parallel.worker_count ? parallel.worker_count : 1);
    printf("  \"vertices\": %llu, \"joints\": %u, \"mean_influences\": %.3f,\n", (unsigned long long)total.vertices,
           total.joints, total.vertices ? (double)total.influences / (double)total.vertices : 0.0);
    for (int i = 0; i < STEPS; i++) {
        print_times(names[i], times[i], total.vertices);
    }
    printf("  \"cooked_bytes\": %llu, \"peak_load_bytes\": %llu, \"peak_cook_bytes\": %llu\n}\n",
           (unsigned long long)size, (unsigned long long)load_peak, (unsigned long long)cook_peak);
    pelt_asset_destroy(asset);
    pelt_pool_destroy(pool);
    return 0;
}

// SPDX-License-Identifier: MIT
// Times the contenders of a scene in turns, so that what slows the machine down for a while slows all of them.
#include "bench.h"

#include "baselines.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    DEFAULT_RUNS = 21,
    MOST_REPEATS = 1000000
};

static const double least_sample = 1e6; // ns; shorter runs are repeated

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

uint32_t bench_run_count(const cli_context *context)
{
    return context->options.runs ? context->options.runs : DEFAULT_RUNS;
}

int bench_out_of_memory(const bench_setup *setup)
{
    return cli_fail(setup->context, CLI_LIMIT, NULL, NULL, NULL, "out of memory for scene %s", setup->scene->name);
}

uint32_t bench_isas(const cli_context *context, pelt_isa isas[PELT_ISA_COUNT])
{
    uint32_t count = 0;
    for (int i = PELT_ISA_COUNT - 1; i >= PELT_ISA_SCALAR; i--) {
        bool capped = context->isa != PELT_ISA_BEST && i > (int)context->isa;
        bool disabled = (context->disabled_isas >> i & 1U) != 0;
        if (i == PELT_ISA_SCALAR || (!capped && !disabled && pelt_isa_available((pelt_isa)i))) {
            isas[count++] = (pelt_isa)i;
        }
    }
    return count;
}

bench_contender *bench_add(bench_setup *setup, bench_role role, const char *name, uint32_t threads)
{
    bench_contender *c = &setup->contenders[setup->contender_count++];
    *c = (bench_contender){
        .role = role, .threads = threads, .bytes_read = setup->bytes_read, .bytes_written = setup->bytes_written};
    snprintf(c->name, sizeof c->name, threads > 1 ? "%s, %u threads" : "%s", name, (unsigned)threads);
    return c;
}

double bench_bandwidth(const bench_setup *setup, const bench_contender *c)
{
    double bytes = (double)c->bytes_read + (double)c->bytes_written;
    return bytes / (c->time.median * (double)setup->element_count);
}

const bench_contender *bench_baseline(const bench_setup *setup)
{
    for (uint32_t i = 0; i < setup->contender_count; i++) {
        if (setup->contenders[i].role == BENCH_BASELINE) {
            return &setup->contenders[i];
        }
    }
    return NULL;
}

const bench_contender *bench_ceiling(const bench_setup *setup, uint32_t threads)
{
    const bench_contender *best = NULL;
    for (uint32_t i = 0; i < setup->contender_count; i++) {
        const bench_contender *c = &setup->contenders[i];
        if (c->role == BENCH_CEILING && c->threads == threads && (!best || c->time.median < best->time.median)) {
            best = c;
        }
    }
    return best;
}

// ---- ceilings

typedef struct copying {
    const bench_setup *setup;
    void (*copy)(void *to, const void *from, size_t size);
    uint32_t part_count;
} copying;

static void copy_part(void *context, uint32_t part)
{
    const copying *c = context;
    size_t lines = c->setup->copy_size / 64;
    size_t first = lines * part / c->part_count * 64;
    size_t last = lines * (part + 1) / c->part_count * 64;
    c->copy((char *)c->setup->copy_to + first, (const char *)c->setup->copy_from + first, last - first);
}

static void run_copy(bench_contender *self)
{
    copying *c = self->work;
    if (c->part_count == 1) {
        copy_part(c, 0);
    } else {
        const pelt_parallel *parallel = &c->setup->context->parallel;
        parallel->run(parallel->user, c->part_count, copy_part, c);
    }
}

static bool check_copy(bench_contender *self)
{
    const copying *c = self->work;
    return memcmp(c->setup->copy_to, c->setup->copy_from, c->setup->copy_size) == 0;
}

static bool add_copy(bench_setup *setup, const char *name, void (*copy)(void *to, const void *from, size_t size),
                     uint32_t threads)
{
    copying *work = bench_allocate(&setup->memory, 1, sizeof *work);
    if (!work) {
        return false;
    }
    *work = (copying){setup, copy, threads};
    bench_contender *c = bench_add(setup, BENCH_CEILING, name, threads);
    c->bytes_read = setup->copy_size;
    c->bytes_written = setup->copy_size;
    c->run = run_copy;
    c->check = check_copy;
    c->work = work;
    return true;
}

bool bench_add_ceilings(bench_setup *setup)
{
    size_t half = (size_t)((setup->bytes_read + setup->bytes_written + 1) / 2);
    setup->copy_size = (half + 63) / 64 * 64;
    setup->copy_from = bench_allocate(&setup->memory, setup->copy_size, 1);
    setup->copy_to = bench_allocate(&setup->memory, setup->copy_size, 1);
    if (!setup->copy_from || !setup->copy_to) {
        return false;
    }
    for (size_t i = 0; i < setup->copy_size; i++) {
        ((unsigned char *)setup->copy_from)[i] = (unsigned char)(i % 251 + 1);
    }
    uint32_t all = setup->scene->threaded ? setup->context->parallel.worker_count : 1;
    for (uint32_t threads = 1;; threads = all) {
        bool ok = add_copy(setup, "copy", baseline_copy, threads);
        if (ok && baseline_copy_streaming_available()) {
            ok = add_copy(setup, "copy, non-temporal", baseline_copy_streaming, threads);
        }
        if (!ok || threads == all) {
            return ok;
        }
    }
}

// ---- timing

static int check(bench_setup *setup)
{
    for (uint32_t i = 0; i < setup->contender_count; i++) {
        bench_contender *c = &setup->contenders[i];
        c->run(c);
        if (c->check && !c->check(c)) {
            return cli_fail(setup->context, CLI_NEGATIVE, NULL, NULL, "'pelt verify FILE' tells where kernels differ",
                            "scene %s: what %s writes is wrong, so nothing was timed", setup->scene->name, c->name);
        }
    }
    return CLI_DONE;
}

static double sample(bench_contender *c)
{
    if (c->repeats > 1) {
        c->run(c); // brings back what the others drove out of the caches
    }
    double start = now_ns();
    for (uint32_t i = 0; i < c->repeats; i++) {
        c->run(c);
    }
    return (now_ns() - start) / c->repeats;
}

static void calibrate(bench_contender *c)
{
    c->repeats = 1;
    double once = sample(c);
    double wanted = once > 0 ? least_sample / once : MOST_REPEATS;
    c->repeats = wanted >= MOST_REPEATS ? MOST_REPEATS : (uint32_t)wanted + 1;
    c->repeats = once >= least_sample ? 1 : c->repeats;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

uint32_t bench_turn(uint32_t round, uint32_t k, uint32_t count)
{
    uint32_t step = 1 + round % count;
    while (common_divisor(step, count) != 1) {
        step++;
    }
    return (uint32_t)((round + (uint64_t)k * step) % count);
}

static void time_all(bench_setup *setup, uint32_t run_count, cli_progress *progress, uint64_t *done)
{
    uint32_t count = setup->contender_count;
    for (uint32_t i = 0; i < count; i++) {
        calibrate(&setup->contenders[i]);
    }
    for (uint32_t round = 0; round < BENCH_WARM_UPS + run_count; round++) {
        for (uint32_t k = 0; k < count; k++) {
            bench_contender *c = &setup->contenders[bench_turn(round, k, count)];
            double time = sample(c) / (double)setup->element_count;
            if (round >= BENCH_WARM_UPS) {
                c->samples[round - BENCH_WARM_UPS] = time;
            }
        }
        (*done)++;
        cli_progress_step(progress, *done);
    }
}

int bench_measure(bench_setup *setup, cli_progress *progress, uint64_t *done)
{
    uint32_t run_count = bench_run_count(setup->context);
    for (uint32_t i = 0; i < setup->contender_count; i++) {
        setup->contenders[i].samples = bench_allocate(&setup->memory, run_count, sizeof(double));
        if (!setup->contenders[i].samples) {
            return bench_out_of_memory(setup);
        }
    }
    int code = check(setup);
    if (code != CLI_DONE) {
        return code;
    }
    time_all(setup, run_count, progress, done);
    for (uint32_t i = 0; i < setup->contender_count; i++) {
        setup->contenders[i].time = bench_summarize(setup->contenders[i].samples, run_count);
    }
    return CLI_DONE;
}

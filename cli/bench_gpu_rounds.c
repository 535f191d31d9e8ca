// SPDX-License-Identifier: MIT
// Times the contenders of a scene on a device in turns: one submission for each measurement.
#include "bench_gpu.h"

// ---- set-up

// More passes of a design take the state that one pass has.
static bool borrow(const bench_gpu_run *run, bench_gpu_contender *c)
{
    for (uint32_t k = 0; k < run->contender_count; k++) {
        const bench_gpu_contender *other = &run->contenders[k];
        if (other != c && other->state && other->is.baseline == c->is.baseline) {
            c->state = other->state;
            c->borrowed = true;
            return true;
        }
    }
    return false;
}

// Some drivers lend more than there is and slow down: what cannot fit beside the others is not tried.
static bool fits(const bench_gpu_run *run, bench_gpu_contender *c)
{
    const bench_gpu_model *m = run->model;
    double wanted = c->is.baseline ? m->baseline_bytes : m->device_bytes;
    for (uint32_t k = 0; k < run->contender_count; k++) {
        const bench_gpu_contender *other = &run->contenders[k];
        if (other->state && !other->borrowed) {
            wanted += other->is.baseline ? m->baseline_bytes : m->device_bytes;
        }
    }
    double there = (double)run->device->info->memory;
    if (wanted > 0.9 * there) {
        snprintf(c->skipped, sizeof c->skipped, "with what is there already it takes %.1f GB, and the device has %.1f",
                 wanted * 1e-9, there * 1e-9);
        return false;
    }
    return true;
}

static void create_baseline(bench_gpu_run *run, bench_gpu_contender *c)
{
    const bench_gpu_model *m = run->model;
    const baseline_vk_contender *b = c->is.baseline;
    if (!b) {
        snprintf(c->skipped, sizeof c->skipped, "this build does not have it");
    } else if (m->unfit) {
        snprintf(c->skipped, sizeof c->skipped, "%s", m->unfit);
    } else if (b->needs_graphics && !run->baselines.has_graphics) {
        snprintf(c->skipped, sizeof c->skipped, "the queue has no graphics");
    } else if (borrow(run, c)) {
        c->requested = b->requested_bytes(c->state) * c->is.passes;
    } else if (!fits(run, c)) {
        return; // and it has said why
    } else if (!b->create(&run->baselines, &m->data, b->has_bounds, &c->state, c->skipped)) {
        c->state = NULL;
        if (!c->skipped[0]) {
            snprintf(c->skipped, sizeof c->skipped, "it cannot be set up");
        }
    } else {
        c->requested = b->requested_bytes(c->state) * c->is.passes;
    }
}

static void create(bench_gpu_run *run, bench_gpu_contender *c)
{
    if (c->is.baseline) {
        create_baseline(run, c);
    } else if (fits(run, c) && bench_gpu_pelt_create(run->device, run->model, &c->is, &c->state, c->skipped)) {
        c->requested = run->model->requested;
    }
}

static void destroy(bench_gpu_contender *c)
{
    if (c->state && c->is.baseline && !c->borrowed) {
        c->is.baseline->destroy(c->state);
    } else if (c->state && !c->is.baseline) {
        bench_gpu_pelt_destroy(c->state);
    }
    c->state = NULL;
}

static bool add(bench_gpu_run *run, bench_gpu_entry entry)
{
    bench_gpu_contender *c = &run->contenders[run->contender_count++];
    *c = (bench_gpu_contender){.is = entry};
    for (int i = 0; i < BENCH_GPU_TIMES; i++) {
        c->samples[i] = bench_allocate(&run->model->memory, bench_run_count(run->context), sizeof(double));
        if (!c->samples[i]) {
            return false;
        }
    }
    return true;
}

// ---- one submission

// The pass is the list of work items and all from the skin pass on: palettes lie ready for the others.
static int sample_ours(bench_gpu_run *run, bench_gpu_contender *c, double ms[BENCH_GPU_TIMES])
{
    int code = bench_gpu_pelt_record(c->state, &run->timer, &c->done);
    code = code == CLI_DONE ? bench_gpu_pelt_run(c->state) : code;
    code = code == CLI_DONE ? bench_gpu_timer_read(&run->timer, &ms[BENCH_GPU_UPDATE]) : code;
    return code == CLI_DONE ? bench_gpu_timer_read_record(&run->timer, PELT_VK_TIMESTAMP_PALETTES,
                                                          PELT_VK_TIMESTAMP_REDUCE, &ms[BENCH_GPU_PASS])
                            : code;
}

static int sample_baseline(bench_gpu_run *run, bench_gpu_contender *c, double ms[BENCH_GPU_TIMES])
{
    int code = gpu_begin(run->device);
    if (code != CLI_DONE) {
        return code;
    }
    if (c->is.baseline->needs_graphics) {
        baseline_vk_vertex_shader_passes(c->state, c->is.passes);
    }
    bench_gpu_timer_begin(&run->timer);
    c->is.baseline->record(c->state, run->device->cmd);
    bench_gpu_timer_end(&run->timer);
    code = gpu_run(run->device);
    return code == CLI_DONE ? bench_gpu_timer_read(&run->timer, &ms[BENCH_GPU_PASS]) : code;
}

static int sample(bench_gpu_run *run, bench_gpu_contender *c, double ms[BENCH_GPU_TIMES])
{
    run->timer.recording = c->recording;
    int code = c->is.baseline ? sample_baseline(run, c, ms) : sample_ours(run, c, ms);
    c->recording = run->timer.recording;
    return code;
}

// ---- all of them

static int time_all(bench_gpu_run *run, cli_progress *progress, uint64_t *done)
{
    uint32_t run_count = bench_run_count(run->context);
    for (uint32_t round = 0; round < BENCH_WARM_UPS + run_count; round++) {
        for (uint32_t k = 0; k < run->contender_count; k++) {
            bench_gpu_contender *c = &run->contenders[bench_turn(round, k, run->contender_count)];
            double ms[BENCH_GPU_TIMES] = {0};
            int code = c->state ? sample(run, c, ms) : CLI_DONE;
            if (code != CLI_DONE) {
                return code;
            }
            for (int i = 0; i < BENCH_GPU_TIMES && round >= BENCH_WARM_UPS; i++) {
                c->samples[i][round - BENCH_WARM_UPS] = ms[i];
            }
        }
        (*done)++;
        cli_progress_step(progress, *done);
    }
    for (uint32_t k = 0; k < run->contender_count; k++) {
        bench_gpu_contender *c = &run->contenders[k];
        for (int i = 0; i < BENCH_GPU_TIMES && c->state; i++) {
            c->ms[i] = bench_summarize(c->samples[i], run_count);
        }
    }
    return CLI_DONE;
}

static int set_up(bench_gpu_run *run)
{
    uint32_t there = 0;
    for (uint32_t k = 0; k < run->contender_count; k++) {
        bench_gpu_contender *c = &run->contenders[k];
        double ms[BENCH_GPU_TIMES];
        create(run, c);
        int code = c->state ? sample(run, c, ms) : CLI_DONE;
        code = code == CLI_DONE && c->state ? bench_gpu_check(run, c) : code;
        if (code != CLI_DONE) {
            return code;
        }
        if (c->skipped[0]) {
            destroy(c);
        }
        there += c->state != NULL;
    }
    if (there == 0) {
        snprintf(run->skipped, sizeof run->skipped, "%s", run->contenders[0].skipped);
    }
    return CLI_DONE;
}

int bench_gpu_measure(bench_gpu_run *run, const bench_gpu_entry entries[], uint32_t entry_count, cli_progress *progress,
                      uint64_t *done)
{
    run->contender_count = 0;
    run->skipped[0] = '\0';
    bool ok = true;
    for (uint32_t i = 0; i < entry_count && ok; i++) {
        ok = add(run, entries[i]);
    }
    int code =
        ok ? set_up(run)
           : cli_fail(run->context, CLI_LIMIT, NULL, NULL, NULL, "out of memory for scene %s", run->model->scene->name);
    code = code == CLI_DONE ? time_all(run, progress, done) : code;
    for (uint32_t k = 0; k < run->contender_count; k++) {
        destroy(&run->contenders[k]);
    }
    return code;
}

// SPDX-License-Identifier: MIT
// Timestamps around the commands of one submission.
#include "bench_gpu.h"

#include <time.h>

enum {
    QUERY_BEGIN = 0,
    QUERY_END = 1,
    QUERY_RECORD = 2, // those of pelt_vk_record_timed
    QUERY_COUNT = QUERY_RECORD + PELT_VK_TIMESTAMP_COUNT,
    MOST_FAMILIES = 16,
    CALIBRATIONS = 30
};

// ms
static const double calibration_ms = 10;
static const double least_busy = 2;
static const double most_busy = 300;

uint32_t bench_gpu_timer_record_first(void)
{
    return QUERY_RECORD;
}

static PFN_vkVoidFunction instance_function(const gpu *device, const char *name)
{
    const gpu_system *system = device->context->gpu_system;
    return system->get_instance_proc_addr(system->instance, name);
}

// How many bits of a timestamp count on the device's queue; 0: it has none.
static uint32_t valid_bits(const gpu *device)
{
    PFN_vkGetPhysicalDeviceQueueFamilyProperties get = (PFN_vkGetPhysicalDeviceQueueFamilyProperties)instance_function(
        device, "vkGetPhysicalDeviceQueueFamilyProperties");
    VkQueueFamilyProperties families[MOST_FAMILIES];
    uint32_t count = MOST_FAMILIES;
    get(device->info->device, &count, families);
    return device->queue_family < count ? families[device->queue_family].timestampValidBits : 0;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

// Rounds of work that take a ms, measured again as long as the clocks rise.
static int calibrate(bench_gpu_timer *t)
{
    double rounds = 1000;
    double ms = 0;
    for (int i = 0; i < CALIBRATIONS; i++) {
        int code = gpu_begin(t->device);
        if (code == CLI_DONE) {
            bench_gpu_timer_begin(t);
            bench_gpu_kernels_spin(t->kernels, (uint32_t)rounds);
            bench_gpu_timer_end(t);
            code = gpu_run(t->device);
        }
        code = code == CLI_DONE ? bench_gpu_timer_read(t, &ms) : code;
        if (code != CLI_DONE) {
            return code;
        }
        double factor = ms > 0 ? calibration_ms / ms : 2;
        rounds *= factor > 8 ? 8 : factor;
        rounds = rounds > 1e9 ? 1e9 : rounds;
    }
    t->spin_rounds = rounds / calibration_ms;
    return CLI_DONE;
}

int bench_gpu_timer_open(const bench_gpu_kernels *kernels, bench_gpu_timer *out)
{
    gpu *device = kernels->device;
    *out = (bench_gpu_timer){.device = device, .kernels = kernels};
    PFN_vkGetPhysicalDeviceProperties get =
        (PFN_vkGetPhysicalDeviceProperties)instance_function(device, "vkGetPhysicalDeviceProperties");
    VkPhysicalDeviceProperties properties;
    get(device->info->device, &properties);
    uint32_t bits = valid_bits(device);
    if (bits == 0 || !(properties.limits.timestampPeriod > 0)) {
        return cli_fail(device->context, CLI_NO_DEVICE, NULL, NULL, "choose another device; 'pelt devices' lists them",
                        "device %u, %s, has no timestamps, so that nothing can be timed on it",
                        (unsigned)device->info->index, device->info->name);
    }
    out->period = (double)properties.limits.timestampPeriod;
    out->mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                  .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                  .queryCount = QUERY_COUNT};
    VkResult result = kernels->vk.CreateQueryPool(device->device, &info, NULL, &out->pool);
    if (result != VK_SUCCESS) {
        out->pool = VK_NULL_HANDLE;
        return gpu_fail_vulkan(device, "vkCreateQueryPool", result);
    }
    return device->info->software ? CLI_DONE : calibrate(out);
}

void bench_gpu_timer_close(bench_gpu_timer *t)
{
    if (t->pool) {
        t->kernels->vk.DestroyQueryPool(t->device->device, t->pool, NULL);
    }
    *t = (bench_gpu_timer){0};
}

static void stamp(bench_gpu_timer *t, uint32_t query)
{
    t->kernels->vk.CmdWriteTimestamp(t->device->cmd, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, t->pool, query);
}

static void wait_for_all(bench_gpu_timer *t)
{
    t->device->vk.CmdPipelineBarrier(t->device->cmd, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 0, NULL);
}

static void keep_busy(bench_gpu_timer *t)
{
    double idle = t->begun - t->idle_since + t->recording;
    double wanted = idle < least_busy ? least_busy : idle > most_busy ? most_busy : idle;
    bench_gpu_kernels_spin(t->kernels, (uint32_t)(wanted * t->spin_rounds) + 1);
    wait_for_all(t);
}

void bench_gpu_timer_begin(bench_gpu_timer *t)
{
    t->kernels->vk.CmdResetQueryPool(t->device->cmd, t->pool, 0, QUERY_COUNT);
    t->begun = now_ms();
    if (t->spin_rounds > 0) {
        keep_busy(t);
    }
    stamp(t, QUERY_BEGIN);
    if (t->device->info->software) {
        wait_for_all(t); // Mesa's lavapipe writes timestamps no sooner than that
    }
}

void bench_gpu_timer_end(bench_gpu_timer *t)
{
    stamp(t, QUERY_END);
    t->recording = now_ms() - t->begun;
}

static int read_between(bench_gpu_timer *t, uint32_t from, uint32_t to, double *out_ms)
{
    uint64_t ticks[2] = {0};
    const uint32_t queries[2] = {from, to};
    for (int i = 0; i < 2; i++) {
        VkResult result =
            t->kernels->vk.GetQueryPoolResults(t->device->device, t->pool, queries[i], 1, sizeof *ticks, &ticks[i],
                                               sizeof *ticks, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
        if (result != VK_SUCCESS) {
            return gpu_fail_vulkan(t->device, "vkGetQueryPoolResults", result);
        }
    }
    t->idle_since = now_ms();
    *out_ms = (double)((ticks[1] - ticks[0]) & t->mask) * t->period * 1e-6;
    return CLI_DONE;
}

int bench_gpu_timer_read(bench_gpu_timer *t, double *out_ms)
{
    return read_between(t, QUERY_BEGIN, QUERY_END, out_ms);
}

int bench_gpu_timer_read_record(bench_gpu_timer *t, uint32_t from, uint32_t to, double *out_ms)
{
    return read_between(t, QUERY_RECORD + from, QUERY_RECORD + to, out_ms);
}

// SPDX-License-Identifier: MIT
// Bandwidth of the device's memory: commands that copy and fill buffers, and a shader that does the same.
#include "bench_gpu.h"

const char *const bench_gpu_move_names[BENCH_GPU_MOVES] = {"copy", "copy by shader", "fill", "fill by shader"};

static const uint64_t least_size = UINT64_C(16) << 20;

typedef struct mover {
    gpu *device;
    const bench_gpu_kernels *kernels;
    uint64_t size;
    VkBuffer buffers[2]; // [0] is copied from, [1] to
    VkDeviceMemory memory[2];
    VkDeviceAddress addresses[2];
    double *samples[BENCH_GPU_MOVES];
} mover;

// At least four times what caches hold today, where there is room for two.
static uint64_t choose_size(const gpu *device)
{
    if (device->info->software) {
        return UINT64_C(64) << 20;
    }
    uint64_t size = UINT64_C(1) << 30;
    while (size > device->info->memory / 8 && size > least_size) {
        size /= 2;
    }
    return size;
}

// The first type on the device, which has the fewest other properties; else the first.
static uint32_t device_memory_type(const gpu *g, uint32_t allowed)
{
    uint32_t first = PELT_NONE;
    for (uint32_t i = 0; i < g->memory.memoryTypeCount; i++) {
        bool local = (g->memory.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
        if ((allowed >> i & 1u) != 0 && local) {
            return i;
        }
        first = (allowed >> i & 1u) != 0 && first == PELT_NONE ? i : first;
    }
    return first;
}

static VkResult create_buffer(mover *m, int index)
{
    gpu *g = m->device;
    VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                 .size = m->size,
                                 .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                          VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                          VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    VkResult result = g->vk.CreateBuffer(g->device, &buffer, NULL, &m->buffers[index]);
    if (result != VK_SUCCESS) {
        m->buffers[index] = VK_NULL_HANDLE;
        return result;
    }
    VkMemoryRequirements requirements = {0};
    g->vk.GetBufferMemoryRequirements(g->device, m->buffers[index], &requirements);
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .pNext = &flags,
                                   .allocationSize = requirements.size,
                                   .memoryTypeIndex = device_memory_type(g, requirements.memoryTypeBits)};
    result = g->vk.AllocateMemory(g->device, &memory, NULL, &m->memory[index]);
    if (result != VK_SUCCESS) {
        m->memory[index] = VK_NULL_HANDLE;
        return result;
    }
    result = g->vk.BindBufferMemory(g->device, m->buffers[index], m->memory[index], 0);
    VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                         .buffer = m->buffers[index]};
    m->addresses[index] = result == VK_SUCCESS ? m->kernels->vk.GetBufferDeviceAddress(g->device, &address) : 0;
    return result;
}

static void release(mover *m)
{
    gpu *g = m->device;
    for (int i = 0; i < 2; i++) {
        if (m->buffers[i]) {
            g->vk.DestroyBuffer(g->device, m->buffers[i], NULL);
        }
        if (m->memory[i]) {
            g->vk.FreeMemory(g->device, m->memory[i], NULL);
        }
        m->buffers[i] = VK_NULL_HANDLE;
        m->memory[i] = VK_NULL_HANDLE;
    }
}

// Smaller ones where the device has no room for these.
static VkResult create_buffers(mover *m)
{
    for (;;) {
        VkResult result = create_buffer(m, 0);
        result = result == VK_SUCCESS ? create_buffer(m, 1) : result;
        if (result != VK_ERROR_OUT_OF_DEVICE_MEMORY || m->size <= least_size) {
            return result;
        }
        release(m);
        m->size /= 2;
    }
}

static void record(const mover *m, bench_gpu_move move)
{
    const gpu *g = m->device;
    const VkBufferCopy region = {0, 0, m->size};
    switch (move) {
    case BENCH_GPU_COPY:
        g->vk.CmdCopyBuffer(g->cmd, m->buffers[0], m->buffers[1], 1, &region);
        break;
    case BENCH_GPU_FILL:
        m->kernels->vk.CmdFillBuffer(g->cmd, m->buffers[1], 0, m->size, 0x9E3779B9u);
        break;
    case BENCH_GPU_COPY_SHADER:
        bench_gpu_kernels_move(m->kernels, m->addresses[0], m->addresses[1], m->size);
        break;
    default:
        bench_gpu_kernels_move(m->kernels, 0, m->addresses[1], m->size);
        break;
    }
}

static int sample(const mover *m, bench_gpu_timer *timer, bench_gpu_move move, double *out_ms)
{
    int code = gpu_begin(m->device);
    if (code != CLI_DONE) {
        return code;
    }
    bench_gpu_timer_begin(timer);
    record(m, move);
    bench_gpu_timer_end(timer);
    code = gpu_run(m->device);
    return code == CLI_DONE ? bench_gpu_timer_read(timer, out_ms) : code;
}

static int time_all(const mover *m, bench_gpu_run *run, uint32_t run_count)
{
    int code = CLI_DONE;
    for (uint32_t round = 0; round < BENCH_WARM_UPS + run_count; round++) {
        for (uint32_t k = 0; k < BENCH_GPU_MOVES && code == CLI_DONE; k++) {
            bench_gpu_move move = (bench_gpu_move)bench_turn(round, k, BENCH_GPU_MOVES);
            double ms = 0;
            code = sample(m, &run->timer, move, &ms);
            if (round >= BENCH_WARM_UPS) {
                m->samples[move][round - BENCH_WARM_UPS] = ms;
            }
        }
    }
    return code;
}

static double rate(const bench_gpu_memory *out, bench_gpu_move move)
{
    return out->ms[move].median > 0 ? out->bytes[move] / out->ms[move].median * 1e-6 : 0;
}

static void summarize(const mover *m, uint32_t run_count, bench_gpu_memory *out)
{
    for (int i = 0; i < BENCH_GPU_MOVES; i++) {
        bool copies = i == BENCH_GPU_COPY || i == BENCH_GPU_COPY_SHADER;
        out->bytes[i] = (double)m->size * (copies ? 2 : 1);
        out->ms[i] = bench_summarize(m->samples[i], run_count);
    }
    out->size = m->size;
    double copies[2] = {rate(out, BENCH_GPU_COPY), rate(out, BENCH_GPU_COPY_SHADER)};
    double fills[2] = {rate(out, BENCH_GPU_FILL), rate(out, BENCH_GPU_FILL_SHADER)};
    out->copy = copies[0] > copies[1] ? copies[0] : copies[1];
    out->fill = fills[0] > fills[1] ? fills[0] : fills[1];
}

int bench_gpu_memory_measure(bench_gpu_run *run, bench_gpu_memory *out)
{
    uint32_t run_count = bench_run_count(run->context);
    mover m = {.device = run->device, .kernels = &run->kernels, .size = choose_size(run->device)};
    bench_memory memory = {0};
    *out = (bench_gpu_memory){0};
    bool ok = true;
    for (int i = 0; ok && i < BENCH_GPU_MOVES; i++) {
        m.samples[i] = bench_allocate(&memory, run_count, sizeof(double));
        ok = m.samples[i] != NULL;
    }
    VkResult result = ok ? create_buffers(&m) : VK_ERROR_OUT_OF_HOST_MEMORY;
    int code = result == VK_SUCCESS ? time_all(&m, run, run_count)
                                    : gpu_fail_vulkan(run->device, "measuring the memory", result);
    if (code == CLI_DONE) {
        summarize(&m, run_count, out);
    }
    release(&m);
    bench_release(&memory);
    return code;
}

// SPDX-License-Identifier: MIT
// Shaders of the benches' own: copies and fills, and work that keeps the device busy.
#include "bench_gpu.h"

enum {
    THREADS = 128, // of a workgroup in bench_gpu.comp
    MOST_GROUPS = 65535,
    SPIN_GROUPS = 2048
};

static const uint32_t code[] =
#include "bench_gpu.comp.inc"
    ;

typedef struct kernel_arguments {
    VkDeviceAddress source;
    VkDeviceAddress target;
    uint32_t count;
} kernel_arguments;

static bool load(bench_gpu_kernels *k)
{
    const gpu_system *system = k->device->context->gpu_system;
    PFN_vkGetDeviceProcAddr get =
        (PFN_vkGetDeviceProcAddr)system->get_instance_proc_addr(system->instance, "vkGetDeviceProcAddr");
    bool ok = true;
#define LOAD(name)                                                                                                     \
    k->vk.name = (PFN_vk##name)get(k->device->device, "vk" #name);                                                     \
    ok = ok && k->vk.name;
    BENCH_GPU_FUNCTIONS(LOAD)
#undef LOAD
    return ok;
}

static VkResult create_pipelines(bench_gpu_kernels *k)
{
    VkDevice device = k->device->device;
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(kernel_arguments)};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &range};
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = sizeof code, .pCode = code};
    VkShaderModule module = VK_NULL_HANDLE;
    VkResult result = k->vk.CreatePipelineLayout(device, &layout, NULL, &k->layout);
    result = result == VK_SUCCESS ? k->vk.CreateShaderModule(device, &info, NULL, &module) : result;
    for (uint32_t i = 0; i < BENCH_GPU_KERNELS && result == VK_SUCCESS; i++) {
        const VkSpecializationMapEntry entry = {0, 0, sizeof i};
        const VkSpecializationInfo constants = {1, &entry, sizeof i, &i};
        VkComputePipelineCreateInfo pipeline = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                                .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                          .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                          .module = module,
                                                          .pName = "main",
                                                          .pSpecializationInfo = &constants},
                                                .layout = k->layout};
        result = k->vk.CreateComputePipelines(device, VK_NULL_HANDLE, 1, &pipeline, NULL, &k->pipelines[i]);
    }
    if (module) {
        k->vk.DestroyShaderModule(device, module, NULL);
    }
    return result;
}

int bench_gpu_kernels_open(gpu *device, bench_gpu_kernels *out)
{
    *out = (bench_gpu_kernels){.device = device};
    VkResult result = load(out) ? create_pipelines(out) : VK_ERROR_INITIALIZATION_FAILED;
    return result == VK_SUCCESS ? CLI_DONE : gpu_fail_vulkan(device, "making pipelines", result);
}

void bench_gpu_kernels_close(bench_gpu_kernels *k)
{
    for (int i = 0; i < BENCH_GPU_KERNELS; i++) {
        if (k->pipelines[i]) {
            k->vk.DestroyPipeline(k->device->device, k->pipelines[i], NULL);
        }
    }
    if (k->layout) {
        k->vk.DestroyPipelineLayout(k->device->device, k->layout, NULL);
    }
    *k = (bench_gpu_kernels){0};
}

static void dispatch(const bench_gpu_kernels *k, bench_gpu_kernel kernel, const kernel_arguments *arguments,
                     uint32_t groups)
{
    VkCommandBuffer cmd = k->device->cmd;
    uint32_t rows = (groups + MOST_GROUPS - 1) / MOST_GROUPS;
    k->vk.CmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, k->pipelines[kernel]);
    k->vk.CmdPushConstants(cmd, k->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof *arguments, arguments);
    k->vk.CmdDispatch(cmd, (groups + rows - 1) / rows, rows, 1);
}

void bench_gpu_kernels_move(const bench_gpu_kernels *k, VkDeviceAddress source, VkDeviceAddress target, uint64_t size)
{
    const kernel_arguments arguments = {source, target, (uint32_t)(size / 16)};
    dispatch(k, source ? BENCH_GPU_KERNEL_COPY : BENCH_GPU_KERNEL_FILL, &arguments,
             (arguments.count + THREADS - 1) / THREADS);
}

void bench_gpu_kernels_spin(const bench_gpu_kernels *k, uint32_t rounds)
{
    const kernel_arguments arguments = {.count = rounds};
    dispatch(k, BENCH_GPU_KERNEL_SPIN, &arguments, SPIN_GROUPS);
}

// SPDX-License-Identifier: MIT
// Vulkan devices for the command: what there is, which one an option names, and running commands on one. libvulkan is
// loaded when it is first needed, so that the command starts without it.
#ifndef PELT_CLI_GPU_H
#define PELT_CLI_GPU_H

#include "cli.h"

#include <pelt/vulkan.h>

// ---- gpu_system.c: the loader, an instance, and what the physical devices are

typedef struct gpu_info {
    uint32_t index; // as `pelt devices` lists them and --device N takes them
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    const char *type; // "discrete GPU", "integrated GPU", "virtual GPU", "software" or "other"; static
    bool software;    // runs on the processor
    char driver[VK_MAX_DRIVER_NAME_SIZE];
    char driver_version[VK_MAX_DRIVER_INFO_SIZE];
    const char *package; // Debian package or other source of a newer driver; static
    uint32_t api_version;
    uint32_t subgroup_size;
    uint64_t memory;         // bytes in device-local heaps
    VkPhysicalDevice device; // of the system's instance
    VkPhysicalDeviceType device_type;
    bool lavapipe; // answers to that name, too, which its driver does not give
    pelt_vk_support support;
} gpu_info;

// Valid until closed, with all devices that were opened of it closed before.
typedef struct gpu_system {
    void *library; // NULL: no libvulkan
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    VkInstance instance;  // VK_NULL_HANDLE: no driver
    uint32_t api_version; // that the instance was created with
    uint32_t loader_version;
    uint32_t count;
    gpu_info *devices; // count
    char problem[512]; // why there are none; "" where there are
    const char *hint;  // what to do about it; static
} gpu_system;

// No libvulkan, no driver and no device are no failure: out has count 0 and a problem. Prints what fails (only memory
// can) and returns an exit code.
int gpu_system_open(const cli_context *context, gpu_system *out);
// Forgets the list; the drivers stay loaded to the end of the process. Harmless on {0}.
void gpu_system_close(gpu_system *system);

// ---- gpu_manifests.c

// The driver manifests (JSON files that say where a driver's library is) that the loader reads, with commas between; ""
// where there is none. Those that do not fit are left out.
void gpu_list_manifests(char *out, size_t capacity);

// ---- gpu_select.c

typedef enum gpu_wish {
    GPU_WISH_NONE = 0, // nothing was said
    GPU_WISH_CPU,
    GPU_WISH_GPU, // whichever is best
    GPU_WISH_ALL,
    GPU_WISH_ONE // by number or name
} gpu_wish;

// What --device says; keywords count in either case.
gpu_wish gpu_wish_of(const cli_context *context);
// The device that --device names, usable for certain. gpu: the first usable one that is discrete, else integrated, else
// virtual or other, else in software, with a warning. N: an index. Else part of one device's name, in either case.
// Prints what fails: NO_DEVICE where there is none, it lacks something, or several answer to the name.
int gpu_select(cli_context *context, const gpu_system *system, uint32_t *out_index);
// The first required thing that a device that is not usable lacks; static.
const char *gpu_first_missing(const gpu_info *info);
// Index of what "gpu" stands for, PELT_NONE where no device is usable.
uint32_t gpu_default(const gpu_system *system);
// Name and type in one text: "llvmpipe (LLVM 15.0.6, 256 bits), software".
void gpu_describe(const gpu_info *info, char *out, size_t capacity);
// {"index", "name", "type", "driver", "driver_version", "vulkan", "subgroup_size", "software"}; info NULL: the CPU.
json_t *gpu_json(const gpu_info *info);
// "1.3.239"
const char *gpu_version_text(uint32_t version, char out[32]);

// ---- gpu.c: a device with one queue; commands run one batch at a time

typedef struct gpu gpu;

// Functions of a device that the command calls itself.
#define GPU_FUNCTIONS(X)                                                                                               \
    X(DestroyDevice)                                                                                                   \
    X(GetDeviceQueue)                                                                                                  \
    X(DeviceWaitIdle)                                                                                                  \
    X(CreateCommandPool)                                                                                               \
    X(DestroyCommandPool)                                                                                              \
    X(ResetCommandPool)                                                                                                \
    X(AllocateCommandBuffers)                                                                                          \
    X(BeginCommandBuffer)                                                                                              \
    X(EndCommandBuffer)                                                                                                \
    X(QueueSubmit)                                                                                                     \
    X(CreateFence)                                                                                                     \
    X(DestroyFence)                                                                                                    \
    X(ResetFences)                                                                                                     \
    X(WaitForFences)                                                                                                   \
    X(CreateBuffer)                                                                                                    \
    X(DestroyBuffer)                                                                                                   \
    X(GetBufferMemoryRequirements)                                                                                     \
    X(AllocateMemory)                                                                                                  \
    X(FreeMemory)                                                                                                      \
    X(BindBufferMemory)                                                                                                \
    X(MapMemory)                                                                                                       \
    X(CmdCopyBuffer)                                                                                                   \
    X(CmdPipelineBarrier)

// A stream to bring to memory.
typedef struct gpu_read_request {
    VkBuffer buffer;
    VkDeviceSize offset;
    VkDeviceSize size;
    void *out;
} gpu_read_request;

struct gpu {
    const cli_context *context;
    const gpu_info *info;  // of the system
    pelt_vk_context *pelt; // for pelt_vk_scene_create
    VkDevice device;
    uint32_t queue_family;
    VkQueue queue;
    VkCommandBuffer cmd; // to record into between gpu_begin and gpu_run
    uint64_t frame;      // of the batch that is recorded or was run last; grows with each gpu_begin
    struct {
#define GPU_MEMBER(name) PFN_vk##name name;
        GPU_FUNCTIONS(GPU_MEMBER)
#undef GPU_MEMBER
    } vk;
    // inside gpu.c and gpu_read.c
    VkCommandPool pool;
    VkFence fence;
    VkPhysicalDeviceMemoryProperties memory;
    VkBuffer staging;
    VkDeviceMemory staging_memory;
    VkDeviceSize staging_size;
    void *staging_data;
    gpu_read_request *requests;
    uint32_t request_count;
    uint32_t request_capacity;
};

// Creates the device with the library's context on it; info is of the system, and usable. Prints what fails and returns
// an exit code; *out is NULL then.
int gpu_open(const cli_context *context, const gpu_system *system, const gpu_info *info, gpu **out);
// Waits for the device. NULL is accepted. The scenes on gpu->pelt must be destroyed before.
void gpu_close(gpu *g);
// Prints a library error of a pelt_vk_* call on this device and returns its exit code. what: "skinning".
int gpu_fail(const gpu *g, const char *what, pelt_result result, const pelt_error *error);

// One batch: begin, record into g->cmd (pelt_vk_record(scene, g->cmd, g->frame, ...)), ask for reads, run. Afterwards
// pelt_vk_retire(scene, g->frame) is due. Each prints what fails and returns an exit code.
int gpu_begin(gpu *g);
// Copies size bytes of a stream to out, when gpu_run has returned; the stream must have been released to transfer reads
// (the default of scenes). A stream of size 0 is left out. out must hold stream->size bytes.
int gpu_read(gpu *g, const pelt_vk_stream *stream, void *out);
// Submits, waits, and fills what gpu_read asked for, in several submissions where it is much.
int gpu_run(gpu *g);

// ---- Shared by verbs

// The one device that options.device names is opened as context->gpu; NULL there for the CPU. Prints what fails and
// returns an exit code.
int cli_select_device(cli_context *context);
void cli_release_device(cli_context *context); // harmless without one
// gpu_json of context->gpu or of the CPU.
json_t *cli_device_json(const cli_context *context);
// ", on NAME, TYPE" for reports in text; prints nothing for the CPU.
void cli_put_device(const cli_context *context);

#endif

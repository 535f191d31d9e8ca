// SPDX-License-Identifier: MIT
// Inside bench_gpu*.c: scenes on a Vulkan device, the contenders of each, how they are timed, and what is told of them.
#ifndef PELT_CLI_BENCH_GPU_H
#define PELT_CLI_BENCH_GPU_H

#include "bench.h"
#include "gpu_internal.h"
#include "verify.h"

#include "vulkan.h"

enum {
    BENCH_GPU_CONTENDERS = 16,
    BENCH_GPU_REASON = 200, // bytes of why something is left out
    BENCH_GPU_CHECKED = 16  // instances of a scene
};

// ---- bench_gpu_scenes.c

// How much there is of it; each has a size for GPUs and one for devices that run on the processor.
typedef struct bench_gpu_size {
    uint32_t vertices; // of a mesh
    uint32_t instances;
} bench_gpu_size;

typedef struct bench_gpu_scene {
    const char *name;
    const char *text;
    bench_kind kind;      // BENCH_MESH or BENCH_FILE
    uint32_t joint_count; // of each palette
    bool one_mesh;        // all instances are of one mesh, else each is of its own
    bool with_previous;   // ours keeps the positions of the update before
    bool by_default;
    bench_gpu_size sizes[2]; // [1]: on the processor
} bench_gpu_scene;

extern const bench_gpu_scene bench_gpu_scene_table[];
extern const uint32_t bench_gpu_scene_count;
// Sets wanted[i] for what --scenes names. Prints what fails and returns an exit code.
int bench_gpu_select_scenes(const cli_context *context, bool wanted[]);
void bench_gpu_print_scenes(void);
json_t *bench_gpu_json_scenes(void);

// ---- bench_gpu_contenders.c

typedef struct bench_gpu_entry {
    const char *name;
    const char *text;
    const baseline_vk_contender *baseline; // NULL: ours
    pelt_vk_bounds bounds;                 // of ours
    uint32_t passes;                       // over the scene, of draws
    uint32_t item_vertices;                // of ours; 0: the library's own
    bool new_list;                         // of ours: the order of updates changes each time
} bench_gpu_entry;

uint32_t bench_gpu_entry_count(void);
bench_gpu_entry bench_gpu_entry_at(uint32_t index);
// Those that --contenders names; out holds BENCH_GPU_CONTENDERS. Prints what fails and returns an exit code.
int bench_gpu_select_contenders(const cli_context *context, bench_gpu_entry out[], uint32_t *out_count);
// All scenes and contenders; the second adds "gpu_scenes" and "gpu_contenders".
void bench_gpu_print_list(void);
void bench_gpu_json_list(json_t *root);

#define BENCH_GPU_NAMES_HINT "'pelt bench --list' lists scenes and contenders"

// ---- bench_gpu_model.c: a scene's meshes, palettes and instances

typedef struct bench_gpu_mesh {
    uint32_t primitive; // of streams
    uint32_t source;    // of sources: its vertices as floats
} bench_gpu_mesh;

typedef struct bench_gpu_skin {
    uint32_t joint_count;
    uint32_t asset_skin;     // index in the cooked data's asset; PELT_NONE: rigid
    const pelt_mat34 *binds; // joint_count
} bench_gpu_skin;

typedef struct bench_gpu_model {
    const bench_gpu_scene *scene;
    bench_memory memory;
    void *image; // of a mesh that was made here
    uint64_t image_size;
    pelt_cooked *cooked;
    pelt_asset *asset;
    const pelt_cooked_data *streams;
    uint32_t source_count;
    bench_mesh *sources;
    bench_gpu_mesh *meshes; // as those of data
    bool *rigid;            // of each instance
    uint32_t skin_count;
    bench_gpu_skin *skins;
    uint32_t *palette_skins; // of each palette
    pelt_mat34 *worlds;      // as data.matrices: world_from_joint, which with the skin's binds give those
    baseline_vk_scene data;
    bool writes;            // outputs are most of the bytes: they are held against fill, else against copy
    const char *unfit;      // why baselines cannot take it; NULL: they can
    uint64_t vertex_count;  // of all instances
    uint64_t mesh_vertices; // of all meshes
    uint32_t file_copies;   // of FILE
    double streams_read;    // bytes of all meshes, each once
    double streams_written; // bytes of all instances
    double requested;       // bytes that ours asks for, a vertex
    double device_bytes;    // that one contender of ours needs on the device, about
    double baseline_bytes;  // that one of the others needs at most, about
} bench_gpu_model;

// file: of scenes of the file. software: the sizes for the processor. Prints what fails and returns an exit code; out
// can be released in any case.
int bench_gpu_model_make(cli_context *context, const bench_gpu_scene *entry, const verify_model *file, bool software,
                         bench_gpu_model *out);
void bench_gpu_model_release(bench_gpu_model *m);
// The palette of one instance in the form that checks take; false where memory runs out.
bool bench_gpu_model_palette(bench_gpu_model *m, uint32_t instance, bench_palette *out);

// ---- bench_gpu_kernels.c: shaders of the benches' own

typedef enum bench_gpu_kernel { // as in bench_gpu.comp
    BENCH_GPU_KERNEL_COPY = 0,
    BENCH_GPU_KERNEL_FILL,
    BENCH_GPU_KERNEL_SPIN,
    BENCH_GPU_KERNELS
} bench_gpu_kernel;

#define BENCH_GPU_FUNCTIONS(X)                                                                                         \
    X(CreateShaderModule)                                                                                              \
    X(DestroyShaderModule)                                                                                             \
    X(CreatePipelineLayout)                                                                                            \
    X(DestroyPipelineLayout)                                                                                           \
    X(CreateComputePipelines)                                                                                          \
    X(DestroyPipeline)                                                                                                 \
    X(GetBufferDeviceAddress)                                                                                          \
    X(CmdFillBuffer)                                                                                                   \
    X(CmdBindPipeline)                                                                                                 \
    X(CmdPushConstants)                                                                                                \
    X(CmdDispatch)                                                                                                     \
    X(CreateQueryPool)                                                                                                 \
    X(DestroyQueryPool)                                                                                                \
    X(CmdResetQueryPool)                                                                                               \
    X(CmdWriteTimestamp)                                                                                               \
    X(GetQueryPoolResults)

typedef struct bench_gpu_kernels {
    gpu *device;
    struct {
#define BENCH_GPU_MEMBER(name) PFN_vk##name name;
        BENCH_GPU_FUNCTIONS(BENCH_GPU_MEMBER)
#undef BENCH_GPU_MEMBER
    } vk;
    VkPipelineLayout layout;
    VkPipeline pipelines[BENCH_GPU_KERNELS];
} bench_gpu_kernels;

// Prints what fails and returns an exit code; can be closed in any case.
int bench_gpu_kernels_open(gpu *device, bench_gpu_kernels *out);
void bench_gpu_kernels_close(bench_gpu_kernels *k);
// Record into device->cmd: size bytes, a multiple of 16, copied, or filled where source is 0; or so many rounds of work
// that touches no memory.
void bench_gpu_kernels_move(const bench_gpu_kernels *k, VkDeviceAddress source, VkDeviceAddress target, uint64_t size);
void bench_gpu_kernels_spin(const bench_gpu_kernels *k, uint32_t rounds);

// ---- bench_gpu_time.c: one submission with timestamps

enum {
    BENCH_GPU_TIMES = 2,
    BENCH_GPU_PASS = 0,  // what all contenders do: skinning and boxes
    BENCH_GPU_UPDATE = 1 // ours: all that a frame takes on the device
};

typedef struct bench_gpu_timer {
    gpu *device;
    const bench_gpu_kernels *kernels;
    VkQueryPool pool;
    double period;      // ns of one tick
    uint64_t mask;      // of the bits that count
    double spin_rounds; // of a ms, before what is measured; 0: on the processor, and not yet known
    double idle_since;  // ms of the clock
    double begun;       // the same
    double recording;   // ms from one call to the other of bench_gpu_timer_begin and bench_gpu_timer_end, last time
} bench_gpu_timer;

// Refuses devices without timestamps. Prints what fails and returns an exit code; can be closed in any case.
int bench_gpu_timer_open(const bench_gpu_kernels *kernels, bench_gpu_timer *out);
void bench_gpu_timer_close(bench_gpu_timer *t);
// Around a contender's commands, into device->cmd after gpu_begin; then, after gpu_run, ms between the two. Where the
// timer keeps a GPU busy, work that touches no memory comes before, for as long as the device idles before it is
// submitted, if recording takes what it took the last time: idle devices lower their clocks.
void bench_gpu_timer_begin(bench_gpu_timer *t);
void bench_gpu_timer_end(bench_gpu_timer *t);
int bench_gpu_timer_read(bench_gpu_timer *t, double *out_ms);
// First query of those that pelt_vk_record_timed writes; ms between two of them.
uint32_t bench_gpu_timer_record_first(void);
int bench_gpu_timer_read_record(bench_gpu_timer *t, uint32_t from, uint32_t to, double *out_ms);

// ---- Contenders

typedef struct bench_gpu_contender {
    bench_gpu_entry is;
    void *state;                          // NULL: it is not there
    bool borrowed;                        // the state is that of the same design in one pass
    char skipped[BENCH_GPU_REASON];       // why
    double requested;                     // bytes a vertex
    pelt_vk_statistics done;              // of ours, by the last update
    double recording;                     // ms that it took the last time, while the device idled
    double *samples[BENCH_GPU_TIMES];     // ms
    bench_statistics ms[BENCH_GPU_TIMES]; // median 0: not measured
} bench_gpu_contender;

typedef struct bench_gpu_run {
    cli_context *context;
    gpu *device;
    baseline_vk_device baselines;
    bench_gpu_kernels kernels;
    bench_gpu_timer timer;
    bench_gpu_model *model;
    uint32_t contender_count;
    bench_gpu_contender contenders[BENCH_GPU_CONTENDERS];
    char skipped[BENCH_GPU_REASON]; // why the scene is; "" where it is not
} bench_gpu_run;

// bench_gpu_pelt.c: the library. create: false with a message where the device cannot hold it.
bool bench_gpu_pelt_create(gpu *device, const bench_gpu_model *model, const bench_gpu_entry *entry, void **state,
                           char message[BENCH_GPU_REASON]);
// Writes every palette, begins a batch and records the whole update with timestamps.
int bench_gpu_pelt_record(void *state, bench_gpu_timer *timer, pelt_vk_statistics *statistics);
int bench_gpu_pelt_run(void *state);
// What ours wrote for one instance: arrays that hold its vertices.
typedef struct bench_gpu_codes {
    float *positions;
    uint32_t *normals;
    uint32_t *tangents;
    pelt_box box;
    pelt_box conservative;
} bench_gpu_codes;
int bench_gpu_pelt_read(void *state, uint32_t instance, bench_gpu_codes *out);
void bench_gpu_pelt_destroy(void *state);

// bench_gpu_check.c: some instances of one contender against the same sums in double. Prints what fails and returns an
// exit code.
int bench_gpu_check(bench_gpu_run *run, bench_gpu_contender *c);

// bench_gpu_rounds.c: creates all contenders, checks them, and measures them in turns. Prints what fails and returns an
// exit code. The contenders are destroyed.
int bench_gpu_measure(bench_gpu_run *run, const bench_gpu_entry entries[], uint32_t entry_count, cli_progress *progress,
                      uint64_t *done);

// ---- bench_gpu_memory.c: what the device's memory gives

typedef enum bench_gpu_move {
    BENCH_GPU_COPY = 0, // bytes read and bytes written count
    BENCH_GPU_COPY_SHADER,
    BENCH_GPU_FILL,
    BENCH_GPU_FILL_SHADER,
    BENCH_GPU_MOVES
} bench_gpu_move;

typedef struct bench_gpu_memory {
    uint64_t size; // bytes of each of the two buffers
    double bytes[BENCH_GPU_MOVES];
    bench_statistics ms[BENCH_GPU_MOVES];
    double copy; // GB/s, the better one
    double fill;
} bench_gpu_memory;

extern const char *const bench_gpu_move_names[BENCH_GPU_MOVES];
int bench_gpu_memory_measure(bench_gpu_run *run, bench_gpu_memory *out);

// ---- bench_gpu_report.c

double bench_gpu_spread(const bench_statistics *t); // between the quartiles, a share of the median
json_t *bench_gpu_json_times(const bench_statistics *t);
void bench_gpu_print_memory(const bench_gpu_memory *memory);
void bench_gpu_print_scene(const bench_gpu_run *run, const bench_gpu_memory *memory);
json_t *bench_gpu_json_memory(const bench_gpu_memory *memory);
json_t *bench_gpu_json_scene(const bench_gpu_run *run, const bench_gpu_memory *memory);

// ---- bench_gpu.c

int bench_gpu_main(cli_context *context);
// The device that --device names, ready to measure on. Prints what fails and returns an exit code; can be closed in any
// case.
int bench_gpu_open(cli_context *context, bench_gpu_run *out);
void bench_gpu_close(bench_gpu_run *run);
// Device, driver, runs, and an empty line.
void bench_gpu_print_head(const bench_gpu_run *run);

// ---- bench_gpu_tune.c

int bench_gpu_tune_main(cli_context *context);

#endif

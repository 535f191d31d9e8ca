// SPDX-License-Identifier: MIT
// Inside verify*.c: one file packed and posed at many moments, the backends that skin it, and what they differ in.
#ifndef PELT_CLI_VERIFY_H
#define PELT_CLI_VERIFY_H

#include "gpu.h"

#include <pelt/bounds.h>

// ---- verify_model.c: what all backends work on

// One primitive of one instance, in node order of the file, then primitive order.
typedef struct verify_item {
    uint32_t instance;
    uint32_t primitive;                  // index in the mesh
    uint32_t cooked;                     // index in the cooked data's primitives
    const pelt_primitive *source;        // unpacked
    uint32_t palette;                    // index in the model's palettes
    uint32_t palette_count;              // matrices
    bool rigid;                          // every vertex follows the palette's first matrix
    const pelt_joint_boxes *joint_boxes; // NULL: none for this primitive and skin
    pelt_box bind_box;                   // of its positions, with all that morphs can add
} verify_item;

typedef struct verify_model {
    cli_context *context; // options.input is the file
    void *image;          // where a glTF file was packed here
    uint64_t image_size;
    pelt_cooked *cooked;             // owned, unless it is the context's
    const pelt_cooked_data *streams; // of cooked
    pelt_asset *asset;               // unpacked from it
    pelt_pose *pose;
    uint32_t item_count;
    verify_item *items;
    uint32_t palette_count;
    pelt_palette_item *palettes; // of skins in use, then one for each rigid instance
    pelt_mat34 *matrices;        // of all palettes
    pelt_skin_morph *morphs;     // as many as the mesh with the most targets has
    uint64_t vertex_count;       // of all items
    uint32_t largest;            // vertices of one item
    uint32_t clip;               // of the current moment; PELT_NONE: the rest pose
    double time;
    double morph_range[2]; // of weights that the joint boxes allow for
} verify_model;

// Loads options.input, packs it unless it is packed, and unpacks it for the CPU. Prints what fails and returns an exit
// code; out can be closed in any case.
int verify_model_open(cli_context *context, verify_model *out);
void verify_model_close(verify_model *m);
// Poses the model at clip and time and fills the palettes.
int verify_model_pose(verify_model *m, uint32_t clip, double time);
// Fills m->morphs with the item's targets of a non-zero weight; returns how many.
uint32_t verify_model_morphs(const verify_model *m, const verify_item *item);
// Whether a conservative box allows for the item's morph weights of this moment: joint boxes for those that the file
// was packed for, rigid ones for 0 to 1.
bool verify_model_in_range(const verify_model *m, const verify_item *item);
int verify_out_of_memory(const verify_model *m);

// ---- verify_moments.c

// Key times, thinned out evenly to half of limit where there are more, and an even grid that fills up to limit; both
// ends of the clip are always among them. limit is at least 2. NULL where memory runs out.
double *verify_moments(const pelt_clip *clip, uint32_t limit, uint32_t *out_count);

// ---- verify_cpu.c and verify_gpu.c

// What a backend made of one item; valid until it reads another.
typedef struct verify_output {
    const float *positions;         // 3 each
    const float *normals;           // 3 each, or NULL
    const float *tangents;          // 4 each, or NULL
    const uint32_t *packed_normals; // in place of floats
    const uint32_t *packed_tangents;
    const float *previous; // positions of the update before; NULL: the backend says that there are none
    pelt_box box;
    bool own_palette; // from world matrices in float; not the CPU's
    bool has_conservative;
    pelt_box conservative;
} verify_output;

typedef struct verify_backend verify_backend;

// Each prints what fails and returns an exit code.
typedef struct verify_backend_type {
    int (*begin)(verify_backend *backend, const verify_model *model); // a file
    int (*update)(verify_backend *backend);                           // the model was posed anew
    int (*read)(verify_backend *backend, uint32_t item, verify_output *out);
    void (*end)(verify_backend *backend); // the file; harmless where begin failed or was not called
} verify_backend_type;

struct verify_backend {
    const verify_backend_type *type;
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE + 80];
    char label[32];            // the start of it that tells backends apart
    pelt_isa isa;              // of the CPU
    const gpu_info *info;      // NULL: the CPU
    gpu *gpu;                  // NULL: the CPU
    const verify_model *model; // between begin and end
    void *state;               // the type's own, between begin and end
};

extern const verify_backend_type verify_gpu_type;
// How many CPU backends there are; the first is what all others are compared with.
uint32_t verify_cpu_count(const cli_context *context);
void verify_cpu_init(const cli_context *context, uint32_t index, verify_backend *out);

// ---- verify_backends.c

typedef struct verify_backends {
    gpu_system system;
    uint32_t count;
    verify_backend *list;
    char no_device[512]; // why there is no Vulkan device; "" where there is or none is wanted
} verify_backends;

// Those that options.device leaves, opened; the first is the reference. Prints what fails and returns an exit code; out
// can be closed in any case.
int verify_backends_open(cli_context *context, verify_backends *out);
void verify_backends_close(verify_backends *b);

// ---- verify_directions.c

// How much larger the terms of each skinned direction are than itself: what rounding of the terms is multiplied with
// in the direction's angle. Infinite where the direction vanishes.
typedef struct verify_reach {
    float *normals;
    float *tangents;
} verify_reach;
void verify_directions(const verify_model *m, const verify_item *item, const verify_reach *out);
// How far apart the rounding of world matrices and of palettes to float can bring one vertex on the CPU and on a
// backend that makes its own palette, at this moment.
double verify_matrix_rounding(const verify_model *m, const verify_item *item, uint32_t vertex);

// ---- verify_compare.c

typedef enum verify_check {
    VERIFY_POSITION = 0,
    VERIFY_NORMAL,
    VERIFY_TANGENT,
    VERIFY_HANDEDNESS,
    VERIFY_BOX,          // the exact box is the min and max of the backend's own positions, bit for bit
    VERIFY_CONSERVATIVE, // the box from joint boxes holds the exact one
    VERIFY_PREVIOUS,     // previous positions are those of the update before, bit for bit
    VERIFY_CHECKS
} verify_check;

typedef struct verify_place {
    const char *file;
    uint32_t clip; // PELT_NONE: the rest pose
    double time;
    uint32_t node; // file index
    uint32_t mesh;
    uint32_t primitive;
    uint32_t vertex; // PELT_NONE where a whole primitive is meant
} verify_place;

typedef struct verify_tally {
    uint64_t compared;
    uint64_t failed;
    uint64_t unjudged; // of compared: directions without a well-defined angle, boxes outside their range of weights
    double worst; // directions: largest share of what is allowed; positions: most over what is allowed, of the scale
    bool has_place;
    verify_place place; // of the worst; of positions only where one failed; elsewhere of the first that failed
} verify_tally;

typedef struct verify_figures {
    verify_tally tallies[VERIFY_CHECKS];
    uint64_t explained; // positions over the tolerance by no more than the rounding of matrices
    double position;    // largest difference in model units
    double share;       // largest over the scale of its primitive
    bool has_largest;
    verify_place largest; // of that share, whether it failed or not
    double squares;       // sums
    double share_squares;
    double normal_degrees; // largest that was judged
    double tangent_degrees;
} verify_figures;

// What is kept of a backend from one moment to the next.
typedef struct verify_track {
    uint64_t (*hashes)[2]; // of each item's last positions
    uint64_t update_count;
    verify_figures *figures;
} verify_track;

// The tolerance of positions, from the options. 0 asks for equal positions: then no rounding is allowed for either.
double verify_tolerance(const cli_context *context);
// Holds an item's output against the reference's (NULL: it is the reference itself), and against itself.
void verify_compare(const verify_model *m, uint32_t item, const verify_output *reference, const verify_reach *reach,
                    const verify_output *output, verify_track *track);
// Adds what another file found; places stay those of the worse.
void verify_add_figures(const verify_figures *from, verify_figures *to);
bool verify_within(const verify_figures *figures);
double verify_rms(const verify_figures *figures);
double verify_rms_share(const verify_figures *figures);

// ---- verify_report.c and verify_json.c

// One file, when its moments are done.
typedef struct verify_result {
    const verify_model *model;
    uint32_t clip_count;
    uint32_t moment_count; // the rest pose included
    uint32_t sample_limit; // of one clip
    uint32_t backend_count;
    const verify_backend *backends;
    const verify_figures *figures; // backend_count
} verify_result;

void verify_print(const verify_result *result);
// The worst of several files.
void verify_print_worst(const cli_context *context, uint32_t file_count, uint32_t count, const verify_backend *backends,
                        const verify_figures *figures);
json_t *verify_json_file(const verify_result *result);
json_t *verify_json_backend(const verify_backend *backend, bool reference, const verify_figures *figures);

#endif

// SPDX-License-Identifier: MIT
// Inside bench*.c: scenes, the contenders of each, how they are timed, and what is told of them.
#ifndef PELT_CLI_BENCH_H
#define PELT_CLI_BENCH_H

#include "bench_mesh.h"
#include "cli.h"

#include <pelt/palette.h>

enum {
    BENCH_CONTENDERS = 16, // most of one scene
    BENCH_SKELETON_JOINTS = 100
};

// ---- bench_scenes.c: the table

typedef enum bench_kind {
    BENCH_MESH = 0, // one mesh made here
    BENCH_SKELETON, // hierarchy and palettes
    BENCH_FILE      // every primitive of the file
} bench_kind;

typedef struct bench_scene {
    const char *name;
    const char *text;
    bench_kind kind;
    bench_shape shape;
    bench_input input;
    uint32_t directions;     // of normals and tangents, how many: 0, 1, 2
    bool packed_output;      // directions in 32 bits
    bool threaded;           // the best kernel on one thread and on all
    bool box_cost;           // the best kernel also without the box
    uint32_t instance_count; // of skeletons
} bench_scene;

extern const bench_scene bench_scene_table[];
extern const uint32_t bench_scene_count;
// Sets wanted[i] for the scenes that --scenes names; without it those of the file where there is one, else all others.
// Prints what fails and returns an exit code.
int bench_select(const cli_context *context, bool wanted[]);
int bench_list(cli_context *context);

// ---- bench_names.c

// What names of a list on the command line stand for.
typedef struct bench_names {
    const char *what;    // one of them is, in messages
    const char *hint;    // where they are listed
    const char *example; // of a command with a FILE
    uint32_t count;
    const char *(*name)(uint32_t index);
    bool (*needs_file)(uint32_t index); // NULL: none does
} bench_names;

// Sets wanted[i] for all that a list names, with commas between names; a star at the end of one stands for any ending.
// What needs a FILE is left out where there is none. Prints what fails and returns an exit code: also where a name
// stands for nothing.
int bench_select_names(const cli_context *context, const char *list, const bench_names *names, bool wanted[]);

// ---- bench_statistics.c

typedef struct bench_statistics {
    double median;
    double quartiles[2];
    double least;
    double most;
} bench_statistics;

// Sorts the samples. count is not 0.
bench_statistics bench_summarize(double *samples, uint32_t count);

// ---- bench_run.c

typedef enum bench_role {
    BENCH_KERNEL = 0, // the library
    BENCH_BASELINE,   // what it is compared with
    BENCH_CEILING     // memory
} bench_role;

typedef struct bench_contender bench_contender;
struct bench_contender {
    char name[48];
    bench_role role;
    uint32_t threads;
    pelt_isa isa;                         // of a kernel
    void (*run)(bench_contender *self);   // the whole scene once
    bool (*check)(bench_contender *self); // whether the outputs of run are right; NULL: nothing to check
    void *work;                           // the scene's own
    uint64_t bytes_read;                  // of a run, the palette of vertices apart
    uint64_t bytes_written;
    uint32_t repeats;      // of one sample
    double *samples;       // ns of one run
    bench_statistics time; // ns of one element
};

// What a scene became: contenders on data that is there.
typedef struct bench_setup {
    const bench_scene *scene;
    cli_context *context;
    const struct verify_model *model; // of scenes of the file
    bench_memory memory;
    void *data;          // the scene's own
    const char *element; // "vertex" or "joint"
    uint64_t element_count;
    uint64_t bytes_read; // by the kernels
    uint64_t bytes_written;
    uint32_t mesh_count;
    uint32_t joint_count;
    uint32_t contender_count;
    bench_contender contenders[BENCH_CONTENDERS];
    void *copy_from; // of the ceilings
    void *copy_to;
    size_t copy_size;
} bench_setup;

// A new contender with its defaults. There is always room for those that scenes have.
bench_contender *bench_add(bench_setup *setup, bench_role role, const char *name, uint32_t threads);
// The instruction sets that may be used, the best first. Returns how many.
uint32_t bench_isas(const cli_context *context, pelt_isa isas[PELT_ISA_COUNT]);
// Adds copies of as many bytes as the elements read and write: on one thread, and on all where the scene is threaded.
bool bench_add_ceilings(bench_setup *setup);
// Runs and checks every contender once, then times them, interleaved. Prints what fails and returns an exit code.
int bench_measure(bench_setup *setup, cli_progress *progress, uint64_t *done);
uint32_t bench_run_count(const cli_context *context);
// Which of count contenders comes k-th in a round: each round begins with another one and takes steps of another size,
// as far as count allows, so that none always runs after the same few.
uint32_t bench_turn(uint32_t round, uint32_t k, uint32_t count);
enum {
    BENCH_WARM_UPS = 2 // rounds that do not count
};
// GB read and written a second.
double bench_bandwidth(const bench_setup *setup, const bench_contender *c);
// NULL where there is none.
const bench_contender *bench_baseline(const bench_setup *setup);
// The fastest ceiling on so many threads; NULL where there is none.
const bench_contender *bench_ceiling(const bench_setup *setup, uint32_t threads);

// ---- bench_skin.c and bench_skeleton.c: set up a scene's data and contenders. Print what fails and return an exit
// code; the setup can be released in any case.

int bench_skin_setup(bench_setup *setup);
void bench_skin_release(bench_setup *setup);
int bench_skeleton_setup(bench_setup *setup);
void bench_skeleton_release(bench_setup *setup);
int bench_out_of_memory(const bench_setup *setup);

// ---- bench_check.c: what outputs are held against, in double from the same inputs

// What a contender sends normals through.
typedef enum bench_normals {
    BENCH_NORMALS_COFACTOR = 0,      // the cofactor of the blended matrix, as the library
    BENCH_NORMALS_MATRIX,            // the blended matrix itself
    BENCH_NORMALS_INVERSE_TRANSPOSES // the blend of the joints' inverse transposes
} bench_normals;

// Where a contender wrote one mesh.
typedef struct bench_output {
    const float *positions;
    const void *normals;  // or NULL
    const void *tangents; // or NULL
    size_t positions_stride;
    size_t normals_stride;
    size_t tangents_stride;
    bool packed;           // directions in 32 bits
    bench_normals by;      // what normals went through
    bool any_length;       // of directions
    double position_share; // of a position's terms, the largest axis, that it may be off beside rounding
    double turn;           // radians that directions may be turned by beside rounding and their code
    const pelt_box *box;   // must be that of the positions, bit for bit; NULL: none
} bench_output;

// Every vertex, or some 20,000 of a larger mesh; boxes hold all.
bool bench_check_skin(const bench_mesh *mesh, const bench_output *output);
// joint_count matrices of 16 floats, of the skeleton whose parents bench_joint_parent gives.
typedef struct bench_pose {
    uint32_t joint_count; // at most BENCH_SKELETON_JOINTS
    const pelt_trs *locals;
    const pelt_mat34 *joint_from_bind;
} bench_pose;
bool bench_check_palette(const bench_pose *pose, const float *matrices, bool in_columns);

// ---- bench_machine.c

void bench_print_machine(const cli_context *context);
// Adds members to root.
void bench_json_machine(const cli_context *context, json_t *root);

// ---- bench_report.c

void bench_print_scene(const bench_setup *setup);
json_t *bench_json_scene(const bench_setup *setup);

#endif

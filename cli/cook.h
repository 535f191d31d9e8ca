// SPDX-License-Identifier: MIT
// Inside cook*.c: one file on its way into a .pelt, what is told of it, and libraries of many.
#ifndef PELT_CLI_COOK_H
#define PELT_CLI_COOK_H

#include "scene.h"

// ---- cook_layout.c: bytes per vertex of a cooked primitive, beside the float streams that it replaces.

typedef struct cook_stream {
    const char *name;
    double before; // bytes per vertex as 32-bit floats and 16-bit joints
    double after;
} cook_stream;

enum {
    COOK_STREAMS = 7, // positions, normals, tangents, weights, joints, further influences, runs
    COOK_PUBLISHED_BEFORE = 564,
    COOK_PUBLISHED_AFTER = 220
};

typedef struct cook_layout {
    cook_stream streams[COOK_STREAMS];
    double read_before; // sum over the streams
    double read_after;
    double targets_before; // morph targets, bytes per vertex of all of them
    double targets_after;
    double written;      // position, octahedral normal and tangent
    double influences;   // mean number of matrices that a vertex loads, those of its influence class
    double palette;      // 48 bytes each
    double list_palette; // 48 bytes a matrix where a run's joint list is loaded once
    double replaced;     // float streams and 128 bytes, a 4x4 and its inverse transpose, for each of 4 influences a set
} cook_layout;
// source may be NULL: then the float streams are those that the cooked ones stand for.
cook_layout cook_layout_of(const pelt_cooked_primitive *cooked, const pelt_primitive *source);
// Of the runs as they stand; direct runs have no list, so joints are told of the others. Allocates; false where memory
// runs out.
bool cook_run_statistics(const pelt_cooked_primitive *cooked, pelt_run_statistics *out);
// "run lists", "direct 8-bit", "direct 16-bit", "mixed", or "none" for rigid ones.
const char *cook_joint_layout_name(const pelt_cooked_primitive *cooked);
const char *cook_encoding_name(pelt_weight_encoding encoding);

// ---- cook_error.c: how far packing moves what is posed.

// Over all moments and all instances of a primitive.
typedef struct cook_error {
    uint64_t count;  // vertices compared; 0: no instance is in the scene
    double position; // largest, in model units
    double share;    // largest over the diagonal of the mesh's exact box at its moment; 0 where that is a point
    double squares;  // sum of squared position errors
    double share_squares;
    double normal_degrees; // largest angle between normals
} cook_error;

typedef struct cook_errors {
    cook_error *primitives; // by mesh, then primitive; owned
    cook_error all;
    uint32_t clip_count; // 0: the rest pose was measured
    uint32_t moment_count;
    uint32_t moment_limit; // of one clip
} cook_errors;

double cook_error_rms(const cook_error *error);
double cook_error_rms_share(const cook_error *error);
// Poses source and unpacked, which was imported from cooked, at moments of all clips, and compares vertex by vertex.
// Prints what fails and returns an exit code.
int cook_measure(cli_context *context, const pelt_asset *source, const pelt_asset *unpacked,
                 const pelt_cooked_data *cooked, cook_errors *out);

// ---- cook_file.c: one file.

typedef enum cook_status {
    COOK_FAILED = 0,
    COOK_WRITTEN,
    COOK_UNCHANGED // the output was made from these bytes with these options
} cook_status;

typedef struct cook_job {
    cli_context *context; // options.input is the file
    const char *output;
    bool library; // leave unchanged outputs, replace older ones, print nothing
    cook_status status;
    bool measured;
    bool over;            // --max-error
    uint64_t source_size; // 0 where it could not be read
    uint64_t output_size;
    cook_error error; // of the whole file
    json_t *json;     // where asked for; owned
} cook_job;

// What the reports see of a job.
typedef struct cook_facts {
    const cook_job *job;
    const pelt_asset_data *source;
    const pelt_cooked_data *cooked;
    const pelt_cook_report *reports; // NULL where an older output was measured
    const cook_errors *errors;
} cook_facts;

// Prints what fails and returns an exit code. context: of this file alone.
int cook_run(cook_job *job);

// ---- cook_report.c and cook_json.c

void cook_print(const cook_facts *facts);
// The layout of one primitive: streams and what skinning requests.
void cook_print_layout(const cook_layout *layout);
void cook_print_runs(const pelt_run_statistics *runs); // ends the line
json_t *cook_json(const cook_facts *facts);
json_t *cook_json_layout(const cook_layout *layout);
json_t *cook_json_runs(const pelt_run_statistics *runs);
// The file's entry where there is nothing to tell but how it ended.
json_t *cook_json_outcome(const cook_job *job);

// ---- cook_list.c: the inputs of a library and where their outputs stand.

typedef struct cook_entry {
    char *input;
    char *relative; // inside the folder that was given; the file's name where it was given itself
    char *output;
} cook_entry;

typedef struct cook_list {
    cook_entry *entries; // by relative path
    size_t count;
    size_t capacity;
    size_t found;    // before shards were told apart
    uint32_t failed; // folders that could not be read, which was told
} cook_list;

// All inputs of the options, then those of the shard. Prints what fails and returns an exit code.
int cook_list_inputs(cli_context *context, cook_list *out);
void cook_list_release(cook_list *list);

// ---- cook_library.c

int cook_library(cli_context *context);

#endif

// SPDX-License-Identifier: MIT
// What every verb shares: options, exit codes, messages, loading, selectors, output files, JSON and progress.
#ifndef PELT_CLI_H
#define PELT_CLI_H

#include <pelt/cook.h>
#include <pelt/gltf.h>
#include <pelt/palette.h>
#include <pelt/skin.h>

#include <jansson.h>
#include <stdio.h>

enum cli_exit {
    CLI_DONE = 0,
    CLI_NEGATIVE = 1, // done, verdict negative
    CLI_USAGE = 2,
    CLI_IO = 3,          // cannot read or write
    CLI_INVALID = 4,     // input invalid
    CLI_UNSUPPORTED = 5, // input needs something unsupported, named
    CLI_NO_DEVICE = 6,   // asked for and not there, or it failed
    CLI_LIMIT = 7        // over a limit, or out of memory
};

typedef struct cli_morph_setting {
    const char *name; // target name, or "#N"
    float value;
} cli_morph_setting;

// Values of all options of all verbs; which verb takes which is in the option table (option_table.c). Zero = not given.
typedef struct cli_options {
    const char *input;   // the operand, the first of several: FILE; for gen the KIND
    const char **inputs; // all of them
    uint32_t input_count;
    const char *output; // -o
    bool json;
    bool force;
    bool quiet;                // no warnings, no progress
    const char *clip;          // NAME or #N; bounds: also "all"
    const char *time;          // seconds or percent
    double fps;                // bounds; 0 = 60
    const char *device;        // cpu, gpu, N or part of a name
    uint32_t threads;          // 0 = all processors
    const char *isa;           // highest instruction set, and those to leave out
    const char *space;         // world or mesh
    cli_morph_setting *morphs; // --morph NAME=V, repeatable
    uint32_t morph_count;
    bool tree;
    bool lenient;
    bool allow_outside;
    bool fail_outside; // bounds: verdict negative where a mesh leaves its declared box
    uint32_t max_influences;
    pelt_gltf_limits limits; // --max-file-size, --max-json-depth, --max-vertices, --max-joints, --max-memory
    const char *weights;     // cook: sorted or plain
    bool keep_order;
    bool direct_joints;
    bool morph16;
    double morph_range[2]; // both 0 = 0 to 1
    double max_error;      // with has_max_error
    bool has_max_error;
    uint32_t shard[2]; // I of N, from 1; N 0 = all
    uint32_t samples;  // verify; 0 = 64 or what the file's size allows
    double tolerance;  // with has_tolerance
    bool has_tolerance;
    uint32_t vertices; // gen; 0 = the kind's default
    uint32_t joints;
    uint32_t influences;
    uint32_t count;
    uint32_t seed;
    const char *scenes; // bench: names, separated by commas
    const char *contenders;
    bool list;
    bool tune;
    uint32_t runs; // 0 = 21
} cli_options;

typedef struct cli_context {
    cli_options options;
    const char *verb;
    pelt_pool *pool;        // made when parallel is first used
    pelt_parallel parallel; // pass &context->parallel to the library; valid from the start
    pelt_isa isa;           // to give to every job, with the next
    uint32_t disabled_isas;
    json_t *warnings;              // array of {"where", "message"}, for --json; filled by the log
    json_t **failure;              // not NULL: receives what a failure prints as JSON, which then does not go to stdout
    pelt_cooked *cooked;           // the input, where cli_load found it cooked; closed with the context
    struct gpu_system *gpu_system; // what gpu is of
    struct gpu *gpu;               // the device that --device names, where cli_select_device opened one; NULL: the CPU
    bool replace_cooked;           // outputs replace .pelt files, as with options.force
    bool color;                    // of stderr
    bool stdout_failed;            // and has been told
} cli_context;

// One verb. run returns an exit code and has printed everything.
typedef int (*cli_run)(cli_context *context);
int cli_inspect(cli_context *context);
int cli_pose(cli_context *context);
int cli_bounds(cli_context *context);
int cli_gen(cli_context *context);
int cli_cook(cli_context *context);
int cli_devices(cli_context *context);
int cli_verify(cli_context *context);
int cli_bench(cli_context *context);

// ---- message.c: "pelt: FILE: /skins/0/joints/3: message", then "  hint" on a line of its own; to stderr.

// Prints and returns code. file, where and hint may be NULL. (hint comes first so that the format can be last.)
int cli_fail(const cli_context *context, int code, const char *file, const char *where, const char *hint,
             const char *format, ...) __attribute__((format(printf, 6, 7)));
// Prints a library error about file and returns the exit code of its result.
int cli_fail_result(const cli_context *context, const char *file, const pelt_error *error);
int cli_exit_of(pelt_result result);
void cli_warn(cli_context *context, const char *file, const char *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// Prints text with control characters, invalid UTF-8 and direction marks escaped, so that a file's strings cannot drive
// a terminal. For every string that comes from a file or the command line.
void cli_put(FILE *stream, const char *text);
// One message or progress bar at a time, for verbs with several workers. Messages lock by themselves.
void cli_screen_lock(void);
void cli_screen_unlock(void);
// A log that prints warnings about the input and collects them in context->warnings.
pelt_log cli_log(cli_context *context);

// ---- number.c: numbers in options and reports.

// Decimal digits, with suffixes also K, M or G after them. False on anything else, and on overflow.
bool cli_read_count(const char *text, bool suffixes, uint64_t *out);
// A finite decimal number: strtod without its hexadecimal, infinite and NaN forms, and without blanks.
bool cli_read_real(const char *text, double *out);
// "#12" as 12, UINT64_MAX where it is larger; false for anything else.
bool cli_read_index(const char *text, uint64_t *out);
// A number in out, with thousands separated by commas.
const char *cli_grouped(uint64_t number, char out[32]);

// ---- input.c

// The options' limits and the rest that the import takes.
pelt_gltf_options cli_import_options(cli_context *context);
// Opens and imports options.input, glTF or .pelt, whichever its first bytes say, with the options' limits. Of a .pelt,
// context->cooked is what was opened. Prints what fails and returns its exit code; then both are NULL.
int cli_load(cli_context *context, pelt_gltf **out_gltf, pelt_asset **out_asset);
// Whether a file begins as a .pelt does.
bool cli_is_cooked(const char *path);
// NAME (must be unique, the message lists the candidates) or #N.
int cli_select_clip(const cli_context *context, const pelt_asset_data *asset, const char *selector, uint32_t *out_clip);
// "1.25" seconds or "50%" of duration; NULL = 0.
int cli_parse_time(const cli_context *context, const char *text, double duration, double *out_time);

// ---- output.c: a file appears under its name whole or not at all.

typedef struct cli_output {
    const cli_context *context;
    char *path;
    char *temporary; // beside path
    FILE *file;
    bool failed;
    int error; // errno of the first failed write
    int slot;  // where the signal handler finds temporary
} cli_output;

// Refuses an existing file unless options.force, or replace_cooked and it is one. Prints what fails; returns an exit
// code.
int cli_output_open(cli_context *context, const char *path, cli_output *out);
// False once anything failed; size 0 is fine. Can serve as pelt_gltf_sink.write with the cli_output as user.
bool cli_output_write(void *output, const void *data, size_t size);
// Brings all bytes to the temporary file, where a full disk may show only now; false once anything failed. For outputs
// that belong together: finish all of them, then commit each.
bool cli_output_finish(cli_output *output);
// Flushes, closes and renames. Prints what fails and removes the temporary file then.
int cli_output_commit(cli_output *output);
// Closes and removes the temporary file; harmless after commit and on {0}.
void cli_output_abort(cli_output *output);

// ---- isa.c

// Fills context->isa and disabled_isas from options.isa or the environment. Prints what is wrong with them and returns
// an exit code.
int cli_select_isa(cli_context *context);

// ---- json.c

// Prints to stdout and releases value; adds "warnings". Floats keep nine digits, so they come back exactly.
int cli_print_json(cli_context *context, json_t *value);
json_t *cli_json_box(const pelt_box *box); // {"min": [3], "max": [3]}; null where empty
json_t *cli_json_text(const char *text);   // invalid UTF-8 becomes U+FFFD; null where text is NULL
json_t *cli_json_real(double value);       // null where not finite
json_t *cli_json_index(uint32_t index);    // null for PELT_NONE
// Makes jansson report a failed allocation to cli_print_json, whichever call it hit. Once, before any other use.
void cli_json_init(void);
// Whether jansson ran out of memory at any time, in the library too.
bool cli_json_out_of_memory(void);

// ---- progress.c: a bar on stderr, only on a terminal and only after half a second.

typedef struct cli_progress {
    const cli_context *context;
    const char *label;
    uint64_t total;
    double started;
    double drawn;
    bool visible;
} cli_progress;
cli_progress cli_progress_begin(const cli_context *context, const char *label, uint64_t total);
void cli_progress_step(cli_progress *progress, uint64_t done);
void cli_progress_end(cli_progress *progress);
// Clears a bar on screen, so that a message can be printed; it comes back with a later step.
void cli_progress_hide(void);

#endif

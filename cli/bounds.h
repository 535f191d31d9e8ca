// SPDX-License-Identifier: MIT
// Inside bounds*.c: what a clip's moments measure of each primitive.
#ifndef PELT_CLI_BOUNDS_H
#define PELT_CLI_BOUNDS_H

#include "scene.h"

// One primitive over some moments. Sides are -x -y -z +x +y +z.
typedef struct bounds_measure {
    pelt_box box;      // union of the exact boxes
    pelt_box used_box; // the same over vertices that an index uses
    pelt_box declared; // the declared POSITION box; of a rigid primitive as its node carries it, union over the moments
    double leaves[6];  // how far the mesh passes each side of it in the worst moment; at least 0
    double shares[6];  // the same over the declared box's diagonal; infinite where that is 0
    bool has_declared; // declared and not inside out
    bool outside;      // leaves it by more than rounding
} bounds_measure;

typedef struct bounds_moments {
    double *times; // ascending, each once
    size_t count;
    size_t key_count;
    size_t grid_count;
} bounds_moments;

typedef struct bounds_result {
    uint32_t clip;  // PELT_NONE: the rest pose, or the union over all clips
    bool all_clips; // the union over all clips
    bool one_time;  // --time
    double time;
    size_t moment_count;
    size_t key_count;
    size_t grid_count;
    pelt_box box;             // of the whole file
    bounds_measure *measures; // one for each primitive of the scene
} bounds_result;

typedef struct bounds_report {
    cli_context *context;
    const scene *scene;
    double fps;
    size_t result_count;
    bounds_result *results; // one for each clip, then the union over them for --clip all
} bounds_report;

// ---- bounds_measure.c

// All key times of the clip and a grid of fps a second from 0 to its end, both included. Prints what fails.
int bounds_collect(cli_context *context, const pelt_asset *asset, uint32_t clip, double fps, bounds_moments *out);
// False where memory runs out.
bool bounds_result_init(const scene *s, bounds_result *out);
// Adds the moment that the scene was evaluated at.
void bounds_add_moment(const scene *s, bounds_result *result);
// Adds another result of the same scene.
void bounds_add_result(const scene *s, const bounds_result *other, bounds_result *result);
// Share of the box's volume that lies outside the declared box; NAN where the volume is 0 or nothing is declared.
double bounds_outside_volume(const bounds_measure *m);
// Volume over the declared volume; NAN where either is 0 or nothing is declared.
double bounds_volume_ratio(const bounds_measure *m);

// ---- bounds_report.c

void bounds_print_text(const bounds_report *report);
int bounds_print_json(const bounds_report *report);

#endif

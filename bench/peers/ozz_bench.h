// SPDX-License-Identifier: MIT
// Inside pelt_bench_ozz: what ozz-animation adds to the contenders that a scene of `pelt bench` has.
#ifndef PELT_BENCH_PEERS_OZZ_BENCH_H
#define PELT_BENCH_PEERS_OZZ_BENCH_H

#include "bench.h"
#include "ozz.h"

// Names of contenders, by which the table finds them.
#define OZZ_NAME "ozz"
#define OZZ_TRANSPOSED_NAME "ozz, inverse transposes"
#define OZZ_SORTED_NAME "ozz, a job for each number of influences"
#define OZZ_SORTED_TRANSPOSED_NAME "ozz, the same, inverse transposes"

// ---- ozz_skin.c and ozz_skeleton.c

// Both add to a setup that has the library's contenders. False where memory is out.
bool ozz_add_skinners(bench_setup *setup);
// Sets *out for ozz_skeleton_destroy after the setup's use; NULL where nothing was made.
bool ozz_add_skeletons(bench_setup *setup, ozz_skeleton **out);

// ---- ozz_report.c

// The heading of a table of meshes or skeletons, and a measured scene as a row of it.
void ozz_print_heading(const cli_context *context, bench_kind kind);
void ozz_print_row(const bench_setup *setup);

#endif

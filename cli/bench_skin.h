// SPDX-License-Identifier: MIT
// Between bench_skin.c and bench_data.c: the meshes of a scene.
#ifndef PELT_CLI_BENCH_SKIN_H
#define PELT_CLI_BENCH_SKIN_H

#include "bench.h"

typedef struct bench_skin_data {
    uint32_t mesh_count;
    bench_mesh *meshes;
    pelt_asset *asset; // of a packed mesh: unpacked from the next two
    void *image;
    uint64_t image_size;
    pelt_cooked *cooked;
} bench_skin_data;

// Bytes that outputs of the mesh take.
uint64_t bench_output_bytes(const bench_mesh *mesh, uint32_t directions, bool packed);
bool bench_add_skinners(bench_setup *setup);

#endif

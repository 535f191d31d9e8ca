// SPDX-License-Identifier: MIT
// Inside the skin module: what a kernel is, and what it may rely on. Validation, splitting and box merging live in
// validate.c, validate_runs.c and skin.c for all kernels; a kernel only turns vertices [first, last) of a checked job
// into outputs.
#ifndef PELTI_SKIN_H
#define PELTI_SKIN_H

#include <pelt/skin.h>

// A job as kernels see it. Strides are never 0 (but joints_stride with runs), pointers are aligned to their component,
// nothing written is read, runs cover the vertices in order, and every joint whose weight is not zero is below
// palette_count. Joints of weight zero may be anything, and so may every joint where joint_bound promised too much:
// kernels clamp or mask what they index with.
typedef struct pelti_skin_plan {
    pelt_skin_job job;
    bool morphed;  // some morph has a weight
    bool streamed; // outputs that are aligned to 64 are stored past the caches, where that is of use to the kernel
    float square;  // no matrix of the palette has a larger sum of squares of its 3x3
} pelti_skin_plan;

typedef struct pelti_skin_kernel {
    // Skins [first, last) and returns min and max over the positions written (or that would be), by strict
    // comparisons from the empty box, so that the union over any split is the same; NaN never enters it. first is a
    // multiple of 64, and so is last unless it is the vertex count. What a vertex becomes may depend on nothing but the
    // vertex and the palette. Kernels but the scalar one are given palettes of finite numbers only, so they may
    // multiply any matrix with a weight of zero.
    pelt_box (*skin)(const pelti_skin_plan *plan, uint32_t first, uint32_t last);
    // False where some matrix of the palette has an infinite element or NaN. *square: no sum of squares of a 3x3 is
    // larger.
    bool (*measure)(const pelt_skin_job *job, float *square);
    // Highest of count values; 0 where there are none.
    uint16_t (*max_u16)(const uint16_t *values, size_t count);
    uint8_t (*max_u8)(const uint8_t *values, size_t count);
} pelti_skin_kernel;

extern const pelti_skin_kernel pelti_skin_scalar;
extern const pelti_skin_kernel pelti_skin_sse2;
extern const pelti_skin_kernel pelti_skin_avx2;
extern const pelti_skin_kernel pelti_skin_avx512;
extern const pelti_skin_kernel pelti_skin_neon;

// The kernel of an instruction set that pelt_isa_choose chose.
const pelti_skin_kernel *pelti_skin_kernel_of(pelt_isa isa);

// Copies the job with tight strides filled in and checks all of its contract but the joints of each vertex.
// Errors: ARGUMENT.
pelt_result pelti_skin_resolve(const pelt_skin_job *job, pelt_skin_job *out);

// Whether every joint with a weight in [first, last) is below palette_count; with runs also their extras.
bool pelti_skin_joints_valid(const pelt_skin_job *job, const pelti_skin_kernel *kernel, uint32_t first, uint32_t last);

// The parts of pelti_skin_resolve and pelti_skin_joints_valid for jobs with runs.
bool pelti_skin_runs_valid(const pelt_skin_job *job);
bool pelti_skin_run_joints_valid(const pelt_skin_job *job, const pelti_skin_kernel *kernel, uint32_t first,
                                 uint32_t last);

// Index of the run that holds the vertex.
uint32_t pelti_skin_find_run(const pelt_joint_runs *runs, uint32_t vertex);

#endif

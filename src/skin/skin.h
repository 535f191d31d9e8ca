// SPDX-License-Identifier: MIT
// Inside the skin module: what one kernel is, and what it may rely on. Validation, splitting and box merging live in
// validate.c and skin.c for all kernels; a kernel only turns vertices [first, last) of a checked job into outputs.
#ifndef PELTI_SKIN_H
#define PELTI_SKIN_H

#include <pelt/skin.h>

// A kernel may rely on a job that pelti_skin_resolve accepted: strides are never 0, pointers are aligned to their
// component, nothing written is read, and every joint whose weight is not zero is below palette_count. Joints of
// weight zero may be anything: the palette must not be read with them.
typedef struct pelti_skin_kernel {
    const char *name;
    // Skins [first, last) and returns min and max over the positions written (or that would be), by strict
    // comparisons from the empty box, so that the union over any split is the same; NaN never enters it.
    pelt_box (*skin)(const pelt_skin_job *job, uint32_t first, uint32_t last);
} pelti_skin_kernel;

extern const pelti_skin_kernel pelti_skin_scalar;

// Copies the job with tight strides filled in and checks all of its contract but the joint range.
// Errors: ARGUMENT.
pelt_result pelti_skin_resolve(const pelt_skin_job *job, pelt_skin_job *out);

// Whether every joint with a weight in [first, last) is below palette_count.
bool pelti_skin_joints_valid(const pelt_skin_job *job, uint32_t first, uint32_t last);

#endif

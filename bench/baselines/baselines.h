// SPDX-License-Identifier: MIT
// What the library's kernels are measured against: the structure that most skinning code has, and copies of memory.
// Compiled into the command.
#ifndef PELT_BENCH_BASELINES_H
#define PELT_BENCH_BASELINES_H

#include <pelt/math.h>

// ---- plain_sse.c

// Streams have any stride in bytes, components are floats; joints and weights are aligned to nothing but themselves.
typedef struct baseline_skin_job {
    uint32_t vertex_count;
    uint32_t influence_count; // of every vertex; unused ones have weight zero and any joint of the palette
    const float *palette;     // column-major 4x4, 16 floats a joint, aligned to 16
    const uint16_t *joints;
    const float *weights;
    const float *positions;
    const float *normals;  // or NULL
    const float *tangents; // or NULL; 4 floats
    size_t joints_stride;
    size_t weights_stride;
    size_t positions_stride;
    size_t normals_stride;
    size_t tangents_stride;
    float *out_positions;
    float *out_normals;
    float *out_tangents;
    size_t out_positions_stride;
    size_t out_normals_stride;
    size_t out_tangents_stride;
} baseline_skin_job;

typedef struct baseline_skeleton_job {
    uint32_t instance_count;
    uint32_t joint_count;
    const uint32_t *parents;       // PELT_NONE or an earlier joint
    const float *joint_from_bind;  // column-major 4x4, as all matrices here, aligned to 16
    const pelt_trs *const *locals; // of each instance, joint_count; rotations of unit length
    float *worlds;                 // joint_count matrices to work in
    float *const *palettes;        // of each instance, joint_count matrices
} baseline_skeleton_job;

// Whether this build has them: they are written for SSE.
bool baseline_plain_available(void);
// One vertex at a time: four (or more) 4x4 matrices are scaled and added, then the position and the directions go
// through the sum, normals like tangents. No box, nothing is normalised, nothing is checked.
void baseline_plain_skin(const baseline_skin_job *job);
// One instance after the other, one joint at a time: local matrix, product with the parent's, product with the inverse
// bind matrix, in float.
void baseline_plain_skeletons(const baseline_skeleton_job *job);

// ---- copy.c: the most that memory gives. Both buffers are aligned to 64.

void baseline_copy(void *to, const void *from, size_t size); // as the C library does it
bool baseline_copy_streaming_available(void);
// With stores that pass the caches by. size is a multiple of 64.
void baseline_copy_streaming(void *to, const void *from, size_t size);

#endif

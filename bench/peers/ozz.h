// SPDX-License-Identifier: MIT
// ozz-animation's jobs as C calls them. Matrices are column-major 4x4, 16 floats each, aligned to 16.
#ifndef PELT_BENCH_PEERS_OZZ_H
#define PELT_BENCH_PEERS_OZZ_H

#include <pelt/math.h>

#ifdef __cplusplus
extern "C" {
#endif

// Which instructions ozz was compiled for.
const char *ozz_instructions(void);

// Every stream has a stride in bytes. Weights are one fewer than joints: the last one is what is missing to 1.
typedef struct ozz_skin_job {
    uint32_t vertex_count;
    uint32_t influence_count;
    uint32_t matrix_count;
    const float *matrices;
    const float *inverse_transposes; // for normals and tangents; NULL: they go through matrices
    const uint16_t *joints;
    const float *weights; // or NULL where influence_count is 1
    const float *positions;
    const float *normals;  // or NULL
    const float *tangents; // 3 floats; or NULL
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
} ozz_skin_job;

// Runs a SkinningJob. False where it refuses.
bool ozz_skin(const ozz_skin_job *job);

// A hierarchy in the order that ozz gives it: depth first.
typedef struct ozz_skeleton ozz_skeleton;

// Parents come before their children; the first joint, the only root, has PELT_NONE. NULL where ozz refuses.
ozz_skeleton *ozz_skeleton_create(uint32_t joint_count, const uint32_t *parents);
void ozz_skeleton_destroy(ozz_skeleton *skeleton);
// The joint that comes at a place of ozz's order.
uint32_t ozz_skeleton_joint(const ozz_skeleton *skeleton, uint32_t place);

// Bytes of the local transforms of one instance as ozz samples them: structures of four joints each.
size_t ozz_locals_size(const ozz_skeleton *skeleton);
// locals are in the joints' order. out is aligned to 16.
void ozz_locals_fill(const ozz_skeleton *skeleton, const pelt_trs *locals, void *out);
// Runs a LocalToModelJob into models, then multiplies each model by its inverse bind matrix, all in ozz's order. False
// where the job refuses.
bool ozz_skeleton_evaluate(const ozz_skeleton *skeleton, const void *locals, const float *joint_from_bind,
                           float *models, float *palette);

#ifdef __cplusplus
}
#endif

#endif

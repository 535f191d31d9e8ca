// SPDX-License-Identifier: MIT
// Samples clips into local transforms and morph weights. No allocation, no state; any thread, one pelt_locals each.
#ifndef PELT_ANIM_H
#define PELT_ANIM_H

#include <pelt/asset.h>

#ifdef __cplusplus
extern "C" {
#endif

// Caller memory that a sample is written to; pelt_pose_locals gives a pose's own. Flags are set, never cleared, and
// only where a value really changed, so that a still clip costs nothing later.
typedef struct pelt_locals {
    pelt_trs *transforms;       // asset.node_count
    uint8_t *transform_changed; // asset.node_count, set to 1; NULL = not wanted
    uint8_t *uses_matrix;       // asset.node_count, cleared where a transform is written; NULL = not wanted. 0 = the
                                // transform holds, 1 = the node's local_matrix, 2 = a matrix that a pose keeps
    float *weights;             // asset.rest_weight_count
    uint8_t *weights_changed;   // asset.node_count, set to 1; NULL = not wanted
} pelt_locals;

// Sets the locals to the asset's rest pose. Errors: ARGUMENT.
PELT_API pelt_result pelt_locals_rest(const pelt_asset *asset, const pelt_locals *locals);

// Writes every channel of the clip at time (seconds; before the first key the first value holds, after the last the
// last; must be finite). Nodes and weights that the clip does not animate keep what they have. LINEAR: lerp, and
// shortest-path slerp for rotations; STEP; CUBICSPLINE: Hermite with tangents times the key distance, rotations
// normalised. Source: glTF 2.0 specification, appendix C. Errors: ARGUMENT.
PELT_API pelt_result pelt_clip_sample(const pelt_asset *asset, uint32_t clip, double time, const pelt_locals *locals);

// One side of a blend.
typedef struct pelt_clip_time {
    uint32_t clip;
    double time; // seconds
} pelt_clip_time;

// The pose at a share of weight (0 = all a, 1 = all b, outside is clamped) between two clips: translations, scales and
// morph weights by lerp, rotations by shortest-path slerp. What only one clip animates blends with the rest pose; what
// none animates keeps what it has. Errors: ARGUMENT.
PELT_API pelt_result pelt_clip_blend(const pelt_asset *asset, pelt_clip_time a, pelt_clip_time b, double weight,
                                     const pelt_locals *locals);

#ifdef __cplusplus
}
#endif
#endif

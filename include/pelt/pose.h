// SPDX-License-Identifier: MIT
// One instance of an asset's hierarchy: local transforms, what changed, world transforms and morph weights.
#ifndef PELT_POSE_H
#define PELT_POSE_H

#include <pelt/anim.h>

#ifdef __cplusplus
extern "C" {
#endif

// One thread per object; poses of one asset may be used by different threads at once. Uses the asset, which must
// outlive it. Functions that return no pelt_result take a pose that is not NULL and indices in range; both are asserted
// only.
typedef struct pelt_pose pelt_pose;

// Starts at the rest pose with everything dirty. allocator may be NULL. Errors: ARGUMENT, MEMORY.
PELT_API pelt_result pelt_pose_create(const pelt_asset *asset, const pelt_allocator *allocator, pelt_pose **out_pose);
// NULL is accepted.
PELT_API void pelt_pose_destroy(pelt_pose *pose);

// The instruction set of updates, as pelt_isa_choose(cap, disabled) chooses it; a new pose has the best one. Every one
// gives the same bits.
PELT_API void pelt_pose_set_isa(pelt_pose *pose, pelt_isa cap, uint32_t disabled);

// Back to the rest pose; only what differs becomes dirty.
PELT_API void pelt_pose_reset(pelt_pose *pose);
// Sets parent_from_node. The rotation may have any length but zero; all values finite. The same value again dirties
// nothing. Errors: ARGUMENT.
PELT_API pelt_result pelt_pose_set_local(pelt_pose *pose, uint32_t node, const pelt_trs *local);
// The same for all nodes: node_count values in the asset's node order. A node with a matrix becomes a TRS node.
PELT_API pelt_result pelt_pose_set_locals(pelt_pose *pose, const pelt_trs *locals);
// parent_from_node as any affine matrix. Errors: ARGUMENT.
PELT_API pelt_result pelt_pose_set_local_matrix(pelt_pose *pose, uint32_t node, const pelt_mat34 *local);
// Sets all morph weights of one node; weight_count must be the node's. Negative ones and ones over 1 are legal; all
// finite. Errors: ARGUMENT.
PELT_API pelt_result pelt_pose_set_weights(pelt_pose *pose, uint32_t node, const float *weights, uint32_t weight_count);
// The pose's own arrays as a target for pelt_clip_sample and pelt_clip_blend; valid until the pose is destroyed.
PELT_API const pelt_locals *pelt_pose_locals(pelt_pose *pose);

// What one update did.
typedef struct pelt_pose_update_info {
    uint32_t updated_node_count;   // world transforms computed
    uint32_t changed_skin_count;   // skins of which a joint was dirty, by itself or by an ancestor
    uint32_t changed_weight_count; // nodes whose morph weights changed
    bool full_pass;                // most was dirty, so all nodes were computed in one straight pass
} pelt_pose_update_info;

// Brings world transforms up to date, computing the dirty nodes and their descendants only, and all of them in one
// straight pass where most are dirty. The result is the same, bit for bit, as a full recompute. info may be NULL.
PELT_API pelt_result pelt_pose_update(pelt_pose *pose, pelt_pose_update_info *info);

// world_from_node as of the last update, rounded to float. node must be below node_count.
PELT_API pelt_mat34 pelt_pose_world(const pelt_pose *pose, uint32_t node);
// The same in double: 12 numbers, row-major. Valid until the next update.
PELT_API const double *pelt_pose_world_double(const pelt_pose *pose, uint32_t node);
// parent_from_node as set.
PELT_API pelt_mat34 pelt_pose_local(const pelt_pose *pose, uint32_t node);
// The node's morph weights (the node's weight_count); never NULL.
PELT_API const float *pelt_pose_weights(const pelt_pose *pose, uint32_t node);
// Whether the last update found a joint of that skin dirty, by itself or by an ancestor. False before the first update.
PELT_API bool pelt_pose_skin_changed(const pelt_pose *pose, uint32_t skin);
// The same of a node: also in a full pass, true only where the node or an ancestor was set.
PELT_API bool pelt_pose_node_changed(const pelt_pose *pose, uint32_t node);
// Whether the node's morph weights changed before the last update.
PELT_API bool pelt_pose_weights_changed(const pelt_pose *pose, uint32_t node);
// The asset given to pelt_pose_create.
PELT_API const pelt_asset *pelt_pose_asset(const pelt_pose *pose);

#ifdef __cplusplus
}
#endif
#endif

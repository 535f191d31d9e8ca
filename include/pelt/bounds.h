// SPDX-License-Identifier: MIT
// Conservative boxes from joint boxes: no vertex is read.
#ifndef PELT_BOUNDS_H
#define PELT_BOUNDS_H

#include <pelt/palette.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pelt_joint_bounds_job {
    const pelt_pose *pose; // updated
    uint32_t skin;
    uint32_t joint_count;  // of boxes; the skin's
    const pelt_box *boxes; // in joint space, one a joint (pelt_joint_boxes)
    pelt_box bind_box;     // of the primitive's positions with all morphs, each from weight 0 to the ends of the range:
                           // bounds the rounding of what the box is compared with
    uint32_t influence_count; // most of one vertex; 0 = the most of the asset, which is looked for in every call
    uint32_t target_count;    // the mesh's; read only where influence_count is not 0
} pelt_joint_bounds_job;

// A box that holds every vertex that pelt_skin_evaluate writes for that primitive, skin and pose, as long as morph
// weights stay in the range the boxes were made for: the union of the joints' boxes, each moved by its joint's world
// transform (J. Arvo, "Transforming Axis-Aligned Bounding Boxes", Graphics Gems, 1990), grown by what float rounding
// can add. Evaluated in double, rounded outward. Errors: ARGUMENT.
PELT_API pelt_result pelt_joint_bounds(const pelt_joint_bounds_job *job, pelt_box *out_box);

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: MIT
// Between pack_streams.c and pack_joints.c.
#ifndef PELTI_COOK_PACK_H
#define PELTI_COOK_PACK_H

#include "cook/cook_internal.h"

pelt_result pelti_cook_fail_memory(pelt_error *error);

// weights, joints with the runs' offsets, extras with theirs, joint_bound. Errors: LIMIT, MEMORY.
pelt_result pelti_cook_pack_joints(cook_primitive *p, pelt_error *error);

#endif

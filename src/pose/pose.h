// SPDX-License-Identifier: MIT
// What other modules may read of a pose beyond the public functions.
#ifndef PELTI_POSE_H
#define PELTI_POSE_H

#include "math/math.h"

#include <pelt/pose.h>

// world_from_node of all nodes as of the last update.
const pelti_mat34d *pelti_pose_worlds(const pelt_pose *pose);
// The contents of the pose's asset.
const pelt_asset_data *pelti_pose_data(const pelt_pose *pose);

#endif

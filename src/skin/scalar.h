// SPDX-License-Identifier: MIT
// The scalar kernel one vertex at a time, for what wide kernels cannot be sure of.
#ifndef PELTI_SKIN_SCALAR_H
#define PELTI_SKIN_SCALAR_H

#include "skin/skin.h"

// run: the vertex's, NULL without runs. Each blends anew.
void pelti_skin_scalar_normal(const pelti_skin_plan *plan, const pelt_run *run, uint32_t vertex);
void pelti_skin_scalar_tangent(const pelti_skin_plan *plan, const pelt_run *run, uint32_t vertex);
bool pelti_skin_scalar_mirrored(const pelti_skin_plan *plan, const pelt_run *run, uint32_t vertex);

#endif

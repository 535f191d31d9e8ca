// SPDX-License-Identifier: MIT
// Inputs of a few vertices as floats: packed directions decoded, morphs added.
#ifndef PELTI_SKIN_STAGE_H
#define PELTI_SKIN_STAGE_H

#include "skin/skin.h"

enum {
    STAGE_SIZE = 64 // vertices; 2.5 KB
};

typedef struct pelti_stage {
    float positions[STAGE_SIZE * 3];
    float normals[STAGE_SIZE * 3];
    float tangents[STAGE_SIZE * 4];
} pelti_stage;

// Fills what the job's outputs need of vertices [first, first + count).
void pelti_skin_stage(const pelti_skin_plan *plan, uint32_t first, uint32_t count, pelti_stage *stage);

#endif

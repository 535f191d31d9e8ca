// SPDX-License-Identifier: MIT
// A file of four vertices with every kind of accessor that tests of the import need, right ones and odd ones.
#ifndef PELTT_IMPORT_QUAD_H
#define PELTT_IMPORT_QUAD_H

#include "peltt_import.h"

// Names of the fixture's accessors; all have four vertices unless they say otherwise.
enum {
    PELTT_QUAD_POSITION,
    PELTT_QUAD_NORMAL,
    PELTT_QUAD_TANGENT,
    PELTT_QUAD_JOINTS_U8,
    PELTT_QUAD_WEIGHTS_F32,
    PELTT_QUAD_INDICES_U16,  // 6, up to 3
    PELTT_QUAD_INDICES_HIGH, // 3, index 4 at 1
    PELTT_QUAD_UV,
    PELTT_QUAD_COLOR_U8,
    PELTT_QUAD_POSITION_I16, // normalized
    PELTT_QUAD_POSITION_U8,  // plain
    PELTT_QUAD_NORMAL_I8,    // normalized
    PELTT_QUAD_JOINTS_U32,
    PELTT_QUAD_WEIGHTS_U8, // normalized
    PELTT_QUAD_WEIGHTS_U8_PLAIN,
    PELTT_QUAD_FIVE_POSITIONS,
    PELTT_QUAD_POSITION_NAN,
    PELTT_QUAD_ZERO_VEC3,   // no view
    PELTT_QUAD_SPARSE_VEC3, // no base view; vertex 2 = (1, 2, 3)
    PELTT_QUAD_JOINTS_U16,
    PELTT_QUAD_WEIGHTS_2,
    PELTT_QUAD_TANGENT_ODD_W,
    PELTT_QUAD_NO_BOX,
    PELTT_QUAD_CUSTOM_MAT4,
    PELTT_QUAD_INDICES_U8,  // 4
    PELTT_QUAD_INDICES_U32, // 3
    PELTT_QUAD_POSITION_I8,
    PELTT_QUAD_NORMAL_I16_PLAIN,
    PELTT_QUAD_TANGENT_I8,
    PELTT_QUAD_NORMAL_INF,
    PELTT_QUAD_UV_NO_VIEW
};

// The file, made anew in the same memory.
peltt_file *peltt_quad(void);
// The first one of the first mesh.
const pelt_primitive *peltt_first_primitive(const peltt_import *import);

// What the first ones hold.
extern const float peltt_quad_positions[12];
extern const float peltt_quad_normals[12];
extern const float peltt_quad_tangents[16];
extern const unsigned char peltt_quad_joints_u8[16];
extern const float peltt_quad_weights[16];
extern const float peltt_quad_uv[8];
extern const unsigned char peltt_quad_colors[16];

#endif

// SPDX-License-Identifier: MIT
// Linear blend skinning of one primitive into caller buffers, with the exact box of what was written.
#ifndef PELT_SKIN_H
#define PELT_SKIN_H

#include <pelt/math.h>

#ifdef __cplusplus
extern "C" {
#endif

// One morph target with its weight. NULL streams change nothing. Deltas are added before the skin.
typedef struct pelt_skin_morph {
    float weight;           // any finite value, else ARGUMENT
    const float *positions; // vertex_count x 3, tight
    const float *normals;   // vertex_count x 3, tight
    const float *tangents;  // vertex_count x 3, tight
} pelt_skin_morph;

enum {
    // Normals and tangent.w are multiplied by the sign of the blended determinant, so that normals point out of a
    // mirrored mesh whose winding the caller reverses.
    PELT_NORMAL_OUTWARD = 1
};

// Strides are bytes from one vertex to the next, multiples of 4 (of 2 for joints, of 1 for mirrored), at least the
// element's size, 0 = tight. Streams may be interleaved, inputs and outputs alike; bytes written may not be bytes read
// or bytes written by another output, and an output may only reach into streams of its own stride.
typedef struct pelt_skin_job {
    uint32_t vertex_count;
    uint32_t flags; // PELT_NORMAL_OUTWARD

    uint32_t palette_count;    // matrices in palette; at least 1 when vertex_count is not 0
    const pelt_mat34 *palette; // world_from_bind of each joint

    uint32_t influence_count; // per vertex, any number; 0 = every vertex follows palette[0]
    const uint16_t *joints;   // influence_count per vertex; below palette_count where the weight is not zero, checked
    const float *weights;     // influence_count per vertex; used as they are, zero ones are skipped
    size_t joints_stride;
    size_t weights_stride;

    const float *positions; // 3 floats
    const float *normals;   // 3 floats, or NULL
    const float *tangents;  // 4 floats, w is the handedness, or NULL
    size_t positions_stride;
    size_t normals_stride;
    size_t tangents_stride;

    uint32_t morph_count;
    const pelt_skin_morph *morphs; // those of weight zero cost nothing

    float *out_positions;  // 3 floats; NULL = not wanted, as for all outputs
    float *out_normals;    // 3 floats of unit length; needs normals
    float *out_tangents;   // 4 floats, xyz of unit length; needs tangents
    uint8_t *out_mirrored; // 1 where the blended determinant is negative, else 0
    size_t out_positions_stride;
    size_t out_normals_stride;
    size_t out_tangents_stride;
    size_t out_mirrored_stride;

    pelt_box *box; // receives min and max over out_positions, bit for bit; empty for 0 vertices; NULL = not
                   // wanted; works without out_positions too (the box of what would be written)
    const pelt_parallel *parallel; // NULL = calling thread; the bytes are the same for any
} pelt_skin_job;

// Skins. Positions by the blended 3x4; normals by the cofactor of the blended 3x3, then normalised; tangents by the 3x3
// itself, then normalised, w kept. A direction that becomes zero or not finite takes the input direction (morphed)
// instead, or +z (normals) and +x (tangents) where that is no better. A determinant that is zero within the rounding of
// floats (2^-17 of its absolute terms) counts as positive. A written zero is always +0, so boxes do not depend on the
// order of vertices; a NaN position does not enter the box. Inputs that no wanted output needs are not read.
// Errors: ARGUMENT (null or misaligned stream, stride, overlap, joint out of range, unknown flag), with nothing
// written.
PELT_API pelt_result pelt_skin_evaluate(const pelt_skin_job *job);

// Two position buffers that swap roles at each update, so that motion vectors see the last *update*, not the last
// frame.
typedef struct pelt_position_history {
    float *current;      // write here
    float *previous;     // holds the update before; meaningful only where previous_valid
    bool previous_valid; // false before the second update and right after a teleport
    uint64_t update_count;
} pelt_position_history;

// Both buffers are the caller's.
PELT_API pelt_position_history pelt_position_history_init(float *a, float *b);
// Call before each pelt_skin_evaluate that writes history->current. teleport: the last positions must not be used.
PELT_API void pelt_position_history_advance(pelt_position_history *history, bool teleport);

#ifdef __cplusplus
}
#endif
#endif

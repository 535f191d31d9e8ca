// SPDX-License-Identifier: MIT
// Linear blend skinning of one primitive into caller buffers, with the exact box of what was written.
#ifndef PELT_SKIN_H
#define PELT_SKIN_H

#include <pelt/math.h>
#include <pelt/packed.h>

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

// How weights are stored.
typedef enum pelt_weight_format {
    PELT_WEIGHT_FLOAT = 0, // influence_count floats a vertex
    PELT_WEIGHT_UNORM16,   // influence_count uint16_t a vertex, in steps of 1/65535
    PELT_WEIGHT_SORTED, // a uint32_t a vertex, as pelt_weights_decode reads PELT_WEIGHTS_SORTED; influence_count is 4
    PELT_WEIGHT_PLAIN   // the same with PELT_WEIGHTS_PLAIN
} pelt_weight_format;

// How normals and tangents are stored.
typedef enum pelt_direction_format {
    PELT_DIRECTION_FLOAT = 0, // normals 3 floats, tangents 4
    PELT_DIRECTION_OCTAHEDRAL // a uint32_t each, as pelt_normal_decode and pelt_tangent_decode read them
} pelt_direction_format;

// Strides are bytes from one vertex to the next, multiples of the component's size, at least the element's size, 0 =
// tight. Streams may be interleaved, inputs and outputs alike; bytes written may not be bytes read or bytes written by
// another output, and an output may only reach into streams of its own stride.
typedef struct pelt_skin_job {
    uint32_t vertex_count;
    uint32_t flags; // PELT_NORMAL_OUTWARD

    uint32_t palette_count;    // matrices in palette; at least 1 when vertex_count is not 0
    const pelt_mat34 *palette; // world_from_bind of each joint
    size_t palette_stride;     // bytes; 64 for PELT_PALETTE_4X4, which is read fastest, most of all when aligned to 64

    uint32_t influence_count; // per vertex, any number; 0 = every vertex follows palette[0]. With runs 4 or 8, where
                              // packed weights are the first 4 and the runs' extras come after them
    const void *joints;   // uint16_t, or with runs as each run's layout says; below palette_count where the weight is
                          // not zero, checked
    const void *weights;  // used as they are, zero ones are skipped
    size_t joints_stride; // without runs
    size_t weights_stride;
    pelt_weight_format weight_format; // packed ones need runs
    const pelt_joint_runs *runs;      // NULL: joints is a plain stream
    uint32_t joint_bound; // every joint is below this, those of weight zero too, and so are indices into a run's list
                          // below its length: then the pass that checks them is left out. 0 = not known

    const float *positions; // 3 floats
    const void *normals;    // or NULL
    const void *tangents;   // w is the handedness; or NULL
    size_t positions_stride;
    size_t normals_stride;
    size_t tangents_stride;
    pelt_direction_format direction_format; // of normals and tangents

    uint32_t morph_count;
    const pelt_skin_morph *morphs; // those of weight zero cost nothing

    float *out_positions;  // 3 floats; NULL = not wanted, as for all outputs
    void *out_normals;     // of unit length; needs normals
    void *out_tangents;    // xyz of unit length; needs tangents
    uint8_t *out_mirrored; // 1 where the blended determinant is negative, else 0
    size_t out_positions_stride;
    size_t out_normals_stride;
    size_t out_tangents_stride;
    size_t out_mirrored_stride;
    pelt_direction_format out_direction_format; // of out_normals and out_tangents

    pelt_box *box; // receives min and max over out_positions, bit for bit; empty for 0 vertices; NULL = not
                   // wanted; works without out_positions too (the box of what would be written)

    pelt_isa isa;              // the kernel: pelt_isa_choose(isa, disabled_isas)
    uint32_t disabled_isas;    // bits 1 << pelt_isa
    uint64_t stream_threshold; // bytes of output from which AVX-512 stores pass the caches by, where outputs are
                               // aligned to 64; 0 = half the last-level cache, but 32 MiB at most; UINT64_MAX = never.
                               // A caller whose outputs of many jobs together exceed that sets 1

    const pelt_parallel *parallel; // NULL = calling thread; the bytes are the same for any
} pelt_skin_job;

// Skins. Positions by the blended 3x4; normals by the cofactor of the blended 3x3, then normalised; tangents by the 3x3
// itself, then normalised, w kept. A direction that becomes zero or not finite takes the input direction (morphed)
// instead, or +z (normals) and +x (tangents) where that is no better. A determinant that is zero within the rounding of
// floats (2^-17 of its absolute terms) counts as positive. A written zero is always +0, so boxes do not depend on the
// order of vertices; a NaN position does not enter the box. Octahedral outputs are rounded to the nearest code in the
// square, so they lie within 0.004 degrees (tangents 0.006) of the float ones; w keeps its sign only. Inputs that no
// wanted output needs are not read. One kernel gives the same bytes on every machine, for any threads and any task
// sizes; kernels differ by the rounding of fused products (docs/accuracy.md).
// Errors: ARGUMENT (null or misaligned stream, stride, overlap, joint out of range, runs that do not fit, unknown flag
// or format), with nothing written.
PELT_API pelt_result pelt_skin_evaluate(const pelt_skin_job *job);

// Points the job's inputs but palette and morphs at packed streams, which must outlive its use.
PELT_API void pelt_skin_job_set_packed(pelt_skin_job *job, const pelt_packed_streams *streams);

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

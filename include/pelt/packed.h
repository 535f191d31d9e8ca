// SPDX-License-Identifier: MIT
// Packed vertex data as cooking writes and skinning reads it: weights and directions in 32 bits, and joint runs, so
// that a vertex names its joints in 4 bytes.
#ifndef PELT_PACKED_H
#define PELT_PACKED_H

#include <pelt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Packing of single values. Any thread, no state.

typedef enum pelt_weight_encoding {
    // The largest weight is implied. The other three, in falling order, are multiples of 2^-12 in 11 + 11 + 10 bits;
    // the highest code of the first and of the third stands for one step more, so that 1/2 and 1/4 come back exactly.
    PELT_WEIGHTS_SORTED = 0,
    // Codes of 11, 11 and 10 bits over 2048, 2048 and 1024; the fourth weight is implied. A stored weight of one
    // becomes 2047/2048 with the remainder on the fourth.
    PELT_WEIGHTS_PLAIN
} pelt_weight_encoding;

// Packs four non-negative weights that sum to one (they are normalised first). order[i] receives which input goes into
// slot i: joints follow it. Slot 3 is the implied one. sorted: no stored weight is off by more than 2^-12, the implied
// one by no more than 2^-11. plain: at most 1/4096, 1/4096, 1/2048 and 1/1024, but a stored weight that rounds to one
// takes the highest code and leaves one step (1/2048 or 1/1024) to slot 3; order is the identity unless rounding would
// make the implied weight negative: then the largest takes slot 3. Equal weights keep their order.
PELT_API uint32_t pelt_weights_encode(pelt_weight_encoding encoding, const float weights[4], uint8_t order[4]);
// The four weights by slot. They are multiples of a power of two, not negative for codes that encode made, and sum to
// exactly 1.0f in any order. Codes are placed in a float's mantissa: no division.
PELT_API void pelt_weights_decode(pelt_weight_encoding encoding, uint32_t code, float out[4]);

// Unit vector to octahedral snorm16 x 2 (x in the low half), the nearest of the four neighbouring codes; any length but
// zero. Off by at most 0.0025 degrees, tangents by 0.0043; axes come back exactly.
// Source: Z. Cigolle et al., "A Survey of Efficient Representations for Independent Unit Vectors", JCGT 2014.
PELT_API uint32_t pelt_normal_encode(const float normal[3]);
PELT_API void pelt_normal_decode(uint32_t code, float out[3]); // unit length
// The same with 16 + 15 bits and the sign of w in the highest bit (set = -1).
PELT_API uint32_t pelt_tangent_encode(const float tangent[4]);
PELT_API void pelt_tangent_decode(uint32_t code, float out[4]);

// ---- Joint runs

typedef enum pelt_joint_layout {
    PELT_JOINTS_RUN = 0, // 8-bit indices into the run's joint list, four a vertex in cooked streams
    PELT_JOINTS_DIRECT8, // 8-bit joint indices
    PELT_JOINTS_DIRECT16 // 16-bit joint indices
} pelt_joint_layout;

enum {
    PELT_RUN_VERTICES = 1024, // most vertices of a run; runs are multiples of PELT_RUN_STEP but for a primitive's last
    PELT_RUN_STEP = 64,
    PELT_RUN_JOINTS = 32 // most joints of a run's list; runs of at most 16 are preferred
};

// Consecutive vertices that touch few joints. 40 bytes; read by the GPU as it stands.
typedef struct pelt_run {
    uint32_t first_vertex;
    uint32_t vertex_count;
    uint32_t first_joint;    // in run_joints
    uint16_t joint_count;    // 1 to 32; 0 with a direct layout
    uint8_t layout;          // pelt_joint_layout
    uint8_t influence_count; // the most that one of its vertices has: 1 to 4, or 5 for more than four
    uint32_t joints_offset;  // bytes from the start of the joints stream to the first vertex's joints
    uint32_t first_wide;     // in extra_offsets: vertices with more than four influences in the runs before
    uint16_t
        class_counts[5];  // vertices with 1, 2, 3, 4 and more influences; in this order where the primitive is ordered
    uint16_t reserved[3]; // 0
} pelt_run;

// An influence after the first four of a vertex. The first four weights are scaled by one minus the sum of these.
typedef struct pelt_extra_influence {
    uint16_t joint;  // index in the skin
    uint16_t weight; // unorm16
} pelt_extra_influence;

// The runs of one mesh with what they refer to; the joints stream itself stands beside them.
typedef struct pelt_joint_runs {
    uint32_t run_count;
    const pelt_run *runs; // cover all vertices in order, each begins at a multiple of PELT_RUN_STEP
    uint32_t run_joint_count;
    const uint16_t *run_joints;
    uint64_t joints_size;          // bytes of the joints stream
    bool ordered;                  // vertices with more than four influences are the last of their run
    uint32_t wide_count;           // vertices with an entry in extra_offsets
    const uint32_t *extra_offsets; // wide_count + 1 offsets into extras, rising from 0; NULL where wide_count is 0
    uint32_t extra_count;
    const pelt_extra_influence *extras;
} pelt_joint_runs;

// The packed streams of one mesh.
typedef struct pelt_packed_streams {
    uint32_t vertex_count;
    const float *positions;   // vertex_count x 3, tight
    const uint32_t *normals;  // pelt_normal_encode, or NULL
    const uint32_t *tangents; // pelt_tangent_encode, or NULL
    pelt_weight_encoding encoding;
    const uint32_t *weights; // NULL: rigid, as for joints, and no runs
    const uint8_t *joints;
    pelt_joint_runs runs;
    uint32_t joint_bound; // highest joint + 1
} pelt_packed_streams;

// For callers who keep their floats and their vertex order. Capacities that are always enough: a run for every
// PELT_RUN_STEP vertices begun, PELT_RUN_JOINTS list entries for each of those, and influence_count * 2 bytes of joints
// a vertex.
typedef struct pelt_joint_runs_job {
    uint32_t vertex_count;
    uint32_t influence_count; // 4 or 8: the two that runs are skinned with
    const uint16_t *joints;   // vertex_count x influence_count
    const float *weights;     // the same; joints of weight zero enter no list
    pelt_run *runs;           // receives the runs, in the order of the vertices
    uint16_t *run_joints;     // receives the lists
    uint8_t *local_joints;    // receives the joints stream, aligned to 2
} pelt_joint_runs_job;

// Cuts vertices as they stand into runs of few joints, greedily, and writes the joints stream for them; the result
// points into the job's arrays. Errors: ARGUMENT.
PELT_API pelt_result pelt_joint_runs_build(const pelt_joint_runs_job *job, pelt_joint_runs *out_runs);

#ifdef __cplusplus
}
#endif
#endif

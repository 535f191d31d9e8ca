// SPDX-License-Identifier: MIT
// One random skin job of any kind that the library takes, all of its streams between unmapped pages, and what it must
// give in double precision.
#ifndef PELTT_KERNEL_H
#define PELTT_KERNEL_H

#include "peltt_guarded.h"
#include "peltt_random.h"

#include <pelt/skin.h>

typedef enum peltt_joints {
    PELTT_RIGID = 0,
    PELTT_STREAM,   // 16-bit joints without runs
    PELTT_NARROW,   // runs of up to 16 joints
    PELTT_LISTED,   // runs of up to 32
    PELTT_DIRECT8,  // runs without lists
    PELTT_DIRECT16, // the same
    PELTT_JOINTS_COUNT
} peltt_joints;

enum { // wanted
    PELTT_POSITIONS = 1,
    PELTT_NORMALS = 2,
    PELTT_TANGENTS = 4,
    PELTT_MIRRORED = 8,
    PELTT_BOX = 16,
    PELTT_EVERYTHING = 31
};

typedef struct peltt_kernel_shape {
    uint32_t vertex_count;
    peltt_joints joints;
    uint32_t influence_count; // with runs 4 or 8
    pelt_weight_format weights;
    bool extras;  // with packed weights: some vertices have more than four influences
    bool ordered; // those stand last in their run
    bool octahedral_in;
    bool octahedral_out;
    bool morphed;
    bool outward;
    uint32_t wanted;
    size_t palette_stride; // 48 or more
    uint32_t joint_count;  // matrices of the palette, vertices follow the last ones; 0 = as many as joints ask for
    uint32_t gap;          // bytes between the elements of all streams, a multiple of 4
    bool at_end;           // streams end at an unmapped page, else they begin at one
    float damage;          // share of matrices that are flat, zero, mirrored or of an odd scale
} peltt_kernel_shape;

// Streams of a job.
typedef enum peltt_stream {
    PELTT_S_PALETTE,
    PELTT_S_JOINTS,
    PELTT_S_WEIGHTS,
    PELTT_S_POSITIONS,
    PELTT_S_NORMALS,
    PELTT_S_TANGENTS,
    PELTT_S_DELTAS,
    PELTT_S_RUNS,
    PELTT_S_RUN_JOINTS,
    PELTT_S_EXTRA_OFFSETS,
    PELTT_S_EXTRAS,
    PELTT_S_OUT_POSITIONS,
    PELTT_S_OUT_NORMALS,
    PELTT_S_OUT_TANGENTS,
    PELTT_S_OUT_MIRRORED,
    PELTT_S_BOX,
    PELTT_S_COUNT
} peltt_stream;

enum {
    PELTT_KERNEL_JOINTS = 300,
    PELTT_KERNEL_EXTRAS = 4 // most of one vertex
};

// What one vertex is made of, as the job stores it.
typedef struct peltt_kernel_vertex {
    uint32_t count;
    uint16_t joints[16 + PELTT_KERNEL_EXTRAS];
    double weights[16 + PELTT_KERNEL_EXTRAS];
    double position[3]; // morphed, as for the others
    double normal[3];
    double tangent[4];
} peltt_kernel_vertex;

typedef struct peltt_kernel {
    peltt_kernel_shape shape;
    peltt_guarded streams[PELTT_S_COUNT];
    pelt_joint_runs runs;
    pelt_skin_morph morph;
    peltt_kernel_vertex *vertices; // vertex_count
    pelt_skin_job job;
} peltt_kernel;

// shape.vertex_count may be 0. Ends the process when out of memory.
void peltt_kernel_init(peltt_kernel *kernel, const peltt_kernel_shape *shape, peltt_random *random);
void peltt_kernel_free(peltt_kernel *kernel);
// Fills the outputs with a pattern again.
void peltt_kernel_clear(peltt_kernel *kernel);

// How far results are from double precision; the largest over all that is compared.
typedef struct peltt_kernel_errors {
    double position; // share of the largest of the terms that a coordinate is summed from
    double normal;   // radians, of those whose matrix keeps a thousandth of what it could give
    double tangent;
    uint64_t doubtful; // directions below that
} peltt_kernel_errors;

// Compares every output of an evaluated job, the gaps between elements and the box; fails the test where something is
// over the promised errors.
void peltt_kernel_check(const peltt_kernel *kernel, peltt_kernel_errors *errors);

// Output elements of one vertex.
const void *peltt_kernel_output(const peltt_kernel *kernel, peltt_stream stream, uint32_t vertex);

#endif

// SPDX-License-Identifier: MIT
// Skinning matrices: palette[j] = world_from_joint[j] * joint_from_bind[j]; from poses, which know what changed, or
// straight from local transforms for many instances of one skeleton.
#ifndef PELT_PALETTE_H
#define PELT_PALETTE_H

#include <pelt/pose.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pelt_palette_format {
    PELT_PALETTE_3X4 = 0, // pelt_mat34, 48 bytes a joint
    PELT_PALETTE_4X4      // row-major 4x4 with fourth row 0 0 0 1, 64 bytes a joint
} pelt_palette_format;

// One palette to fill.
typedef struct pelt_palette_item {
    const pelt_pose *pose; // updated
    uint32_t skin;         // PELT_NONE: a rigid palette of one matrix, world_from_node of the node below
    uint32_t node;         // read only where skin is PELT_NONE
    void *palette;         // joint_count matrices, tight, aligned to 4; receives the result; no two items' may overlap
} pelt_palette_item;

typedef struct pelt_palette_job {
    uint32_t item_count;
    const pelt_palette_item *items; // item_count
    pelt_palette_format format;
    const pelt_parallel *parallel; // NULL = calling thread; the bytes are the same for any
    pelt_isa isa;                  // the kernel: pelt_isa_choose(isa, disabled_isas); the bytes are the same for any
    uint32_t disabled_isas;        // bits 1 << pelt_isa
} pelt_palette_job;

// Fills every item's palette. Products are evaluated in double and rounded once. Reads poses, so none of them may be
// edited meanwhile. Errors: ARGUMENT, with nothing written.
PELT_API pelt_result pelt_palette_evaluate(const pelt_palette_job *job);

// Bytes of one palette: joint_count (1 where skin is PELT_NONE) matrices of that format.
PELT_API size_t pelt_palette_size(const pelt_asset *asset, uint32_t skin, pelt_palette_format format);

// The nodes that some palettes need (joints and all their ancestors), made ready for evaluating any number of
// instances. Immutable: any thread, many at a time. Uses the asset, which must outlive it.
typedef struct pelt_skeleton pelt_skeleton;

// What an instance's palette holds: the matrices of the skins' joints, one skin after the other, then world_from_node
// of the nodes (for rigid meshes, attachments, physics). {0} = all skins of the asset.
typedef struct pelt_skeleton_options {
    uint32_t skin_count;
    const uint32_t *skins; // skin_count
    uint32_t node_count;
    const uint32_t *nodes; // node_count
} pelt_skeleton_options;

// options may be NULL, as {0}; allocator too. Errors: ARGUMENT (index out of range), MEMORY.
PELT_API pelt_result pelt_skeleton_create(const pelt_asset *asset, const pelt_skeleton_options *options,
                                          const pelt_allocator *allocator, pelt_skeleton **out_skeleton);
// NULL is accepted.
PELT_API void pelt_skeleton_destroy(pelt_skeleton *skeleton);
// Matrices in one palette.
PELT_API uint32_t pelt_skeleton_matrix_count(const pelt_skeleton *skeleton);
// Bytes from one palette to the next that suit evaluation best: a multiple of 64, never of 2,048, which would make the
// palettes of neighbours share few cache lines and cost up to twice the time.
PELT_API size_t pelt_skeleton_palette_stride(const pelt_skeleton *skeleton, pelt_palette_format format);

typedef enum pelt_precision {
    PELT_PRECISION_DOUBLE = 0, // rounded once, at the end: the bytes of pelt_pose_update and pelt_palette_evaluate
    PELT_PRECISION_FLOAT // every step is rounded to float: a little over half the time, and off by at most 4e-7 of the
                         // range of coordinates for each level of the hierarchy (docs/accuracy.md)
} pelt_precision;

// One instance. No two instances' palettes may overlap, nor may a palette and anything that is read.
typedef struct pelt_skeleton_instance {
    const pelt_locals *locals; // as pelt_clip_sample writes them; only transforms and uses_matrix are read. Without
                               // uses_matrix, nodes with a matrix at rest have that matrix. Values are finite;
                               // rotations may have any length but zero, in float from 1e-15 to 1e15
    void *palette;             // matrix_count matrices, tight, aligned to 4; receives the result. Palettes in one array
                               // lie best pelt_skeleton_palette_stride apart, the first aligned to 64
} pelt_skeleton_instance;

typedef struct pelt_skeleton_job {
    const pelt_skeleton *skeleton;
    uint32_t instance_count;
    const pelt_skeleton_instance *instances; // instance_count
    pelt_palette_format format;
    pelt_precision precision;
    const pelt_parallel *parallel; // NULL = calling thread; instances are shared out
    pelt_isa isa;                  // the kernel: pelt_isa_choose(isa, disabled_isas)
    uint32_t disabled_isas;        // bits 1 << pelt_isa
    uint64_t stream_threshold;     // bytes of palettes from which 4x4 matrices pass the caches by, where palettes are
                                   // aligned to 64 and x86-64's instructions are used; 0 = 1 MiB, UINT64_MAX = never
} pelt_skeleton_job;

// Computes every instance's palette from its local transforms; nothing is kept from call to call, and weights and flags
// of changes are neither read nor cleared. Up to 16 instances are computed side by side, so that many cost a fraction
// of as many poses. The bytes depend on the instance and the precision alone: not on the other instances, their number
// or order, threads, the instruction set or the machine. Errors: ARGUMENT (also a node that uses a matrix of a pose,
// value 2 of uses_matrix), with nothing written.
PELT_API pelt_result pelt_skeleton_evaluate(const pelt_skeleton_job *job);

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: MIT
// Meshes and skeletons that benches work on: made from numbers alone or copied from an asset, as every kind of input
// that skinning takes. Nothing here knows the command.
#ifndef PELT_CLI_BENCH_MESH_H
#define PELT_CLI_BENCH_MESH_H

#include <pelt/asset.h>
#include <pelt/skin.h>

#if defined(__clang__)
#define BENCH_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define BENCH_COMPILER "gcc " __VERSION__
#else
#define BENCH_COMPILER ""
#endif

// ---- bench_mesh.c

// Memory that lives as long as a scene. {0} = empty.
typedef struct bench_memory {
    void *blocks;
    uint32_t block_count;
} bench_memory;

// count x size bytes of zeros, aligned to 64, their pages touched, at another distance from a page's start than the
// blocks before: streams at equal distances share few cache lines. NULL where memory is out.
void *bench_allocate(bench_memory *memory, uint64_t count, size_t size);
void bench_release(bench_memory *memory);

// Matrices in both orders, 64 bytes each.
typedef struct bench_palette {
    uint32_t count;
    float *rows;    // for the library
    float *columns; // for what is compared with it
} bench_palette;

bool bench_palette_fill(bench_memory *memory, const pelt_mat34 *matrices, uint32_t count, bench_palette *out);

enum {
    BENCH_VERTEX_SIZE = 64, // of the interleaved input: position, normal, tangent, four joints, four weights
    BENCH_OUTPUT_SIZE = 48  // of the interleaved output: position, normal, two texture coordinates, tangent
};

typedef enum bench_input {
    BENCH_INPUT_RUNS = 0,    // float streams, joints in runs
    BENCH_INPUT_STREAMS,     // float streams, joints as they are
    BENCH_INPUT_INTERLEAVED, // a caller's vertices of 64 bytes
    BENCH_INPUT_PACKED       // cooked streams
} bench_input;

// One primitive.
typedef struct bench_mesh {
    const bench_palette *palette;
    uint32_t vertex_count;
    uint32_t slot_count; // influences stored for each vertex: a multiple of 4; unused ones are joint 0, weight 0, last
    bool rigid;          // all follow the first matrix; slots say the same
    float *positions;
    float *normals;   // or NULL
    float *tangents;  // or NULL
    uint16_t *joints; // slot_count
    float *weights;
    bool has_runs; // of 4 or 8 slots only
    pelt_joint_runs runs;
    uint8_t *run_joints;  // the stream for them
    uint8_t *interleaved; // or NULL; of 4 slots only
    bool has_packed;
    pelt_packed_streams packed; // the same vertices in the same order
} bench_mesh;

// Copies the primitive. rigid: also where it has influences.
bool bench_mesh_fill(bench_memory *memory, const pelt_primitive *source, bool rigid, const bench_palette *palette,
                     bench_mesh *out);
// Adds runs where they can be.
bool bench_mesh_add_runs(bench_memory *memory, bench_mesh *mesh);
bool bench_mesh_interleave(bench_memory *memory, bench_mesh *mesh);
// The job's palette and inputs; runs fall back to plain streams where the mesh has none.
void bench_mesh_inputs(const bench_mesh *mesh, bench_input input, pelt_skin_job *job);
// Bytes that a job which wants the first `directions` of normals and tangents reads, the palette apart.
uint64_t bench_mesh_bytes(const bench_mesh *mesh, bench_input input, uint32_t directions);

// ---- bench_asset.c

typedef struct bench_shape {
    uint32_t vertex_count; // 0: a skeleton without a mesh
    uint32_t joint_count;
    uint32_t influence_count; // 1 to 8
    bool mixed;               // 35, 30, 20 and 15 % of the vertices have 1, 2, 3 and 4 influences
    bool random_joints;       // of all, else neighbours that move slowly along the vertices
    bool identity_binds;      // inverse bind matrices are the identity
} bench_shape;

// Initialisers of the shapes that most scenes have: 100 joints, or a skeleton alone.
#define BENCH_SHAPE(n, influences)                                                                                     \
    {                                                                                                                  \
        .vertex_count = (n), .joint_count = 100, .influence_count = (influences)                                       \
    }
#define BENCH_SKELETON(joints)                                                                                         \
    {                                                                                                                  \
        .joint_count = (joints)                                                                                        \
    }

// A spine with limbs of five joints each, every joint 10 cm from its parent, and one skinned primitive. NULL where
// memory is out.
pelt_asset *bench_asset_create(const bench_shape *shape);
uint32_t bench_joint_parent(uint32_t joint); // PELT_NONE for the first
// Matrices with turns, shifts and different scales, the same every time.
void bench_matrices_fill(pelt_mat34 *matrices, uint32_t count);
// Local transforms of one pose of the skeleton.
void bench_locals_fill(pelt_trs *locals, uint32_t count, uint32_t seed);

#endif

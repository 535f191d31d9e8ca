// SPDX-License-Identifier: MIT
// Cooked skin meshes: packed vertex streams in joint runs, joint boxes, and the .pelt file that holds them with nodes,
// skins and clips. docs/format.md is the byte layout.
#ifndef PELT_COOK_H
#define PELT_COOK_H

#include <pelt/asset.h>
#include <pelt/packed.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Cooked data. All pointers live as long as the pelt_cooked that they came from.

enum {                      // pelt_cooked_target.format
    PELT_TARGET_SPARSE = 1, // only the listed vertices
    PELT_TARGET_16BIT = 2   // snorm16 x 3 times scale / 32767, else float x 3
};

typedef struct pelt_cooked_target {
    uint32_t format;          // PELT_TARGET_*
    uint32_t vertex_count;    // of the streams below: the primitive's, or those listed
    const uint32_t *vertices; // strictly increasing; NULL unless sparse
    const void *positions;    // NULL = unchanged, as for the other two
    const void *normals;
    const void *tangents;
    float scale[3]; // of positions, normals and tangents; 1 unless 16-bit
} pelt_cooked_target;

typedef struct pelt_cooked_primitive {
    uint32_t mesh;
    uint32_t primitive; // index in the mesh
    pelt_topology topology;
    uint32_t material; // file index in the source, or PELT_NONE
    uint32_t vertex_count;
    uint32_t source_vertex_count;
    const float *positions;   // vertex_count x 3, tight
    const uint32_t *normals;  // octahedral, or NULL
    const uint32_t *tangents; // octahedral and sign, or NULL
    bool ordered;             // vertices of a run stand by influence class; false with keep_order
    pelt_weight_encoding encoding;
    const uint32_t *weights; // NULL: rigid, as for joints and runs
    const uint8_t *joints;   // as the runs' layouts say, each run aligned to 4
    uint64_t joints_size;
    uint32_t run_count;
    const pelt_run *runs; // cover all vertices in order
    uint32_t run_joint_count;
    const uint16_t *run_joints; // the runs' joint lists, rising
    uint32_t wide_count; // vertices with an entry in extra_offsets: the last class of each run (all of a run that has
                         // one where the primitive is not ordered)
    const uint32_t *extra_offsets; // wide_count + 1 offsets into extras
    uint32_t extra_count;
    const pelt_extra_influence *extras;
    uint32_t joint_bound; // highest joint used + 1
    uint32_t index_count; // vertex_count where index_size is 0
    uint32_t index_size;  // 2 or 4 bytes an index; 0 = no indices
    const void *indices;
    const uint32_t *source_vertices; // vertex_count: index in the source of each vertex
    uint32_t attribute_count;
    const pelt_attribute *attributes;
    uint32_t target_count;
    const pelt_cooked_target *targets;
    bool has_declared_box;
    pelt_box declared_box;
    pelt_box box; // of positions
} pelt_cooked_primitive;

// For each joint the box, in joint space, of all vertices that it influences with packed weights, morphs included;
// empty for joints without vertices.
typedef struct pelt_joint_boxes {
    uint32_t primitive; // index into pelt_cooked_data.primitives
    uint32_t skin;
    uint32_t joint_count;
    const pelt_box *boxes; // joint_count
} pelt_joint_boxes;

typedef struct pelt_cooked_data {
    uint32_t primitive_count;
    const pelt_cooked_primitive *primitives; // by mesh, then primitive
    uint32_t joint_boxes_count;
    const pelt_joint_boxes *joint_boxes; // one for each primitive and skin that an instance brings together
    uint64_t source_hash[2];             // XXH3-128 of the source file's bytes, low half first; 0 if unknown
    uint64_t options_hash;               // of the options that change the bytes
} pelt_cooked_data;

// ---- Cooking

typedef struct pelt_cook_options {
    pelt_allocator allocator;
    pelt_log log; // what was dropped
    pelt_weight_encoding weights;
    bool keep_order;        // cut runs in file order; move and drop nothing
    bool direct_joints;     // no run lists: 8-bit joints where every one fits, else 16-bit
    bool morph_16bit;       // 16-bit morph targets
    float morph_weight_min; // range of morph weights that joint boxes allow for; both 0 = [0, 1]
    float morph_weight_max;
    const pelt_parallel *parallel; // NULL = calling thread; the bytes are the same for any
    uint64_t source_hash[2];
} pelt_cook_options;

// How vertices stand in runs.
typedef struct pelt_run_statistics {
    uint32_t run_count;
    uint32_t direct_run_count;
    uint32_t median_vertices; // of a run
    uint32_t median_joints;   // of a run's list; direct runs count their distinct joints
    uint32_t worst_joints;
    uint64_t list_joint_count; // sum of the lists' lengths
    uint32_t class_counts[5];  // vertices with 1, 2, 3, 4 and more influences
} pelt_run_statistics;

typedef struct pelt_cook_report {
    uint32_t dropped_vertex_count; // that no index uses
    pelt_run_statistics before;    // the file's order cut into runs
    pelt_run_statistics after;
    float worst_morph_error; // largest error of a 16-bit morph position, in model units
} pelt_cook_report;

// Packs every mesh of the asset into a .pelt image in memory: *out_data holds *out_size bytes, aligned to 64, from the
// options' allocator; release with pelt_cook_release. reports (may be NULL) receives one entry for each primitive, by
// mesh, then primitive. options may be NULL. The same input and options give the same bytes on every machine. Errors:
// ARGUMENT, LIMIT, MEMORY.
PELT_API pelt_result pelt_cook(const pelt_asset *asset, const pelt_cook_options *options, void **out_data,
                               uint64_t *out_size, pelt_cook_report *reports, pelt_error *error);
PELT_API void pelt_cook_release(const pelt_cook_options *options, void *data, uint64_t size);
// The options_hash that files cooked with these options carry.
PELT_API uint64_t pelt_cook_options_hash(const pelt_cook_options *options);
// XXH3-128 of bytes, for source_hash.
PELT_API void pelt_source_hash(const void *data, uint64_t size, uint64_t out_hash[2]);

// ---- Reading

// An opened .pelt file. Immutable; threads may share it.
typedef struct pelt_cooked pelt_cooked;

typedef struct pelt_cooked_options {
    pelt_allocator allocator;
    pelt_log log;
    uint64_t memory_limit; // bytes beside the file itself; 0 = 8 GiB
    bool skip_hashes;      // do not compare the sections' hashes; everything else is still checked
} pelt_cooked_options;

// Checks everything: hashes, offsets, counts and every index. The streams stay in data, which must be aligned to 64 and
// outlive the object. Errors: ARGUMENT, INVALID (names section and byte offset), UNSUPPORTED (version or a required
// feature; says with which version to cook again), LIMIT, MEMORY.
PELT_API pelt_result pelt_cooked_open_memory(const void *data, uint64_t size, const pelt_cooked_options *options,
                                             pelt_cooked **out_cooked, pelt_error *error);
// The same from a file, which is mapped; path is UTF-8 on every system. Errors also: IO.
PELT_API pelt_result pelt_cooked_open_file(const char *path, const pelt_cooked_options *options,
                                           pelt_cooked **out_cooked, pelt_error *error);
// NULL is accepted. Assets made from it stay valid.
PELT_API void pelt_cooked_close(pelt_cooked *cooked);
PELT_API const pelt_cooked_data *pelt_cooked_get(const pelt_cooked *cooked);

// The hashes of a file without opening it whole: for telling that a source or its options changed. Errors: ARGUMENT,
// IO, INVALID, UNSUPPORTED (another version, whose hashes tell nothing).
PELT_API pelt_result pelt_cooked_read_hashes(const char *path, uint64_t out_source_hash[2], uint64_t *out_options_hash);

// Unpacks into an asset with the cooked vertex order, so that everything that takes an asset works: weights, normals
// and tangents are what the packed ones decode to; a vertex's influences stand by falling weight. Errors: INVALID,
// LIMIT, MEMORY.
PELT_API pelt_result pelt_cooked_import(const pelt_cooked *cooked, pelt_asset **out_asset, pelt_error *error);

// The packed streams of a primitive, for pelt_skin_job_set_packed.
PELT_API pelt_packed_streams pelt_cooked_streams(const pelt_cooked_primitive *primitive);

// Influences of one vertex as they are used, the extra ones after the first four, weights that sum to one within
// rounding; joints are the skin's. capacity: of the arrays. Returns how many there are. vertex must be below
// vertex_count.
PELT_API uint32_t pelt_cooked_influences(const pelt_cooked_primitive *primitive, uint32_t vertex, uint32_t capacity,
                                         uint16_t *joints, float *weights);
// Adds target's displacement of positions (0), normals (1) or tangents (2) times weight to vertex_count x 3 floats.
PELT_API void pelt_cooked_target_add(const pelt_cooked_target *target, uint32_t stream, float weight, float *values);

#ifdef __cplusplus
}
#endif
#endif

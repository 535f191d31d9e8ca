// SPDX-License-Identifier: MIT
// Makes a pelt_asset from data in memory. The glTF reader is one user; an engine with its own format is another.
// Steps: create, allocate and fill arrays, clean the influences of each skinned primitive, finish.
#ifndef PELT_BUILDER_H
#define PELT_BUILDER_H

#include <pelt/asset.h>

#ifdef __cplusplus
extern "C" {
#endif

// A model under construction. One thread per object; no builder may be NULL but in destroy and finish.
typedef struct pelt_builder pelt_builder;

typedef struct pelt_builder_options {
    pelt_allocator allocator;
    pelt_log log;          // where warnings go
    uint64_t memory_limit; // bytes the asset may take; 0 = 8 GiB
} pelt_builder_options;

// options may be NULL. Errors: ARGUMENT (out_builder is NULL), MEMORY.
PELT_API pelt_result pelt_builder_create(const pelt_builder_options *options, pelt_builder **out_builder);
// Drops everything that was not finished. NULL is accepted.
PELT_API void pelt_builder_destroy(pelt_builder *builder);

// Memory that becomes the asset's: count x size bytes, zeroed, aligned to 16. NULL when the product overflows, the
// memory limit is passed or memory is out; pelt_builder_status then says which. count x size = 0 gives a valid pointer.
PELT_API void *pelt_builder_allocate(pelt_builder *builder, uint64_t count, size_t size);
// A copy of length bytes and a NUL, as the asset's; NULL as for allocate. text may be NULL where length is 0.
PELT_API const char *pelt_builder_string(pelt_builder *builder, const char *text, size_t length);
// PELT_OK, or why an allocation returned NULL: LIMIT or MEMORY; the error is filled then (may be NULL).
PELT_API pelt_result pelt_builder_status(const pelt_builder *builder, pelt_error *error);

// One JOINTS_n / WEIGHTS_n pair as read, tight arrays of vertex_count x 4.
typedef struct pelt_influence_set {
    const uint16_t *joints;
    const float *weights;
} pelt_influence_set;

typedef struct pelt_influence_job {
    uint32_t vertex_count;
    uint32_t set_count;
    const pelt_influence_set *sets;
    uint32_t joint_limit;     // joints at or over it are out of range; 0 = no check (no skin uses the mesh)
    uint32_t influence_limit; // keep at most so many per vertex, the largest, renormalised; 0 = all
    uint32_t mesh;            // for messages
    uint32_t primitive;       // for messages
} pelt_influence_job;

// Cleans influences into primitive->joints, weights, influence_count, joint_bound and influences: zero weights dropped,
// a joint listed twice merged, sums normalised to one, a vertex without weight bound to its first listed joint. Each
// kind of change is logged once, as a warning that gives how many vertices, the first or worst of them and by how much.
// Errors: INVALID (a weight negative or not finite, a weighted joint out of range; names attribute and vertex), LIMIT,
// MEMORY.
PELT_API pelt_result pelt_builder_clean_influences(pelt_builder *builder, const pelt_influence_job *job,
                                                   pelt_primitive *primitive, pelt_error *error);

// A node as the file gives it; indices are file indices. The builder sorts.
typedef struct pelt_builder_node {
    const char *name;
    uint32_t child_count;
    const uint32_t *children;
    uint32_t mesh;
    uint32_t skin;
    bool has_matrix;
    pelt_trs rest;
    pelt_mat34 matrix;     // when has_matrix
    uint32_t weight_count; // 0 = the mesh's weights
    const float *weights;
} pelt_builder_node;

// What finish takes. All arrays were made by pelt_builder_allocate, all indices are file indices and node indices in
// skins and channels too; finish rewrites meshes, skins and clips, and in place rotation values (to unit length) and
// the w of tangents (to 1 or -1). Channels may be in any order.
typedef struct pelt_builder_scene {
    uint32_t node_count;
    const pelt_builder_node *nodes;
    bool has_scene; // false: every node is posed
    uint32_t root_count;
    const uint32_t *roots; // the default scene's nodes
    uint32_t mesh_count;
    pelt_mesh *meshes;
    uint32_t skin_count;
    pelt_skin *skins; // joints point at memory of the builder, as file indices
    uint32_t clip_count;
    pelt_clip *clips; // durations are computed here
} pelt_builder_scene;

// Sorts nodes parent first (no recursion, any depth), checks every invariant that asset.h states, and hands the memory
// to the asset; the builder is empty afterwards and can only be destroyed. Errors: INVALID (cycle, two parents,
// dangling index, duplicate channel target, zero rotation, ...; names node, skin or animation), LIMIT, MEMORY.
PELT_API pelt_result pelt_builder_finish(pelt_builder *builder, const pelt_builder_scene *scene, pelt_asset **out_asset,
                                         pelt_error *error);

#ifdef __cplusplus
}
#endif
#endif

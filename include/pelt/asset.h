// SPDX-License-Identifier: MIT
// The imported model: nodes, meshes, skins and clips, frozen after the import. Threads may share it: any thread may
// read it at any time until it is destroyed.
#ifndef PELT_ASSET_H
#define PELT_ASSET_H

#include <pelt/math.h>

#ifdef __cplusplus
extern "C" {
#endif

// Every pointer below lives as long as the asset. Names are "" where the file has none, never NULL.

typedef struct pelt_node {
    const char *name;
    uint32_t file_index;     // index in the file's nodes
    uint32_t parent;         // node index, lower than this node's own; PELT_NONE for a root
    uint32_t subtree_end;    // one past the last descendant: descendants are [own index + 1, subtree_end)
    uint32_t mesh;           // PELT_NONE if none
    uint32_t skin;           // PELT_NONE if none; only with a mesh
    uint32_t first_weight;   // offset of its morph weights in pelt_asset_data.rest_weights
    uint32_t weight_count;   // the mesh's target count; 0 without targets or mesh
    bool in_scene;           // reached from the default scene (every node where the file names no scene)
    bool has_matrix;         // the file gives a matrix: use local_matrix, rest is not meaningful
    pelt_trs rest;           // rotation of unit length
    pelt_mat34 local_matrix; // parent_from_node at rest; made from rest unless has_matrix
} pelt_node;

typedef enum pelt_topology { // the values of glTF's primitive.mode
    PELT_TOPOLOGY_POINTS = 0,
    PELT_TOPOLOGY_LINES = 1,
    PELT_TOPOLOGY_LINE_LOOP = 2,
    PELT_TOPOLOGY_LINE_STRIP = 3,
    PELT_TOPOLOGY_TRIANGLES = 4,
    PELT_TOPOLOGY_TRIANGLE_STRIP = 5,
    PELT_TOPOLOGY_TRIANGLE_FAN = 6
} pelt_topology;

typedef enum pelt_component { // the values of glTF's accessor.componentType
    PELT_COMPONENT_I8 = 5120,
    PELT_COMPONENT_U8 = 5121,
    PELT_COMPONENT_I16 = 5122,
    PELT_COMPONENT_U16 = 5123,
    PELT_COMPONENT_U32 = 5125,
    PELT_COMPONENT_F32 = 5126
} pelt_component;

// Bytes of one component; 0 for what is none of these. Any thread.
PELT_API uint32_t pelt_component_size(pelt_component component);

// A vertex attribute that skinning does not change (TEXCOORD_n, COLOR_n, _CUSTOM), in the file's own type.
typedef struct pelt_attribute {
    const char *name; // glTF semantic
    pelt_component component;
    bool normalized;
    uint32_t component_count; // 1 to 4
    uint32_t stride;          // bytes from one vertex to the next: component_count * component size
    const void *data;         // vertex_count * stride bytes
} pelt_attribute;

// Reads one element as floats, as glTF converts normalised integers; components past component_count stay
// untouched. vertex must be below the primitive's vertex count. Any thread.
PELT_API void pelt_attribute_read(const pelt_attribute *attribute, uint32_t vertex, float out[4]);

// Displacements of one morph target in one primitive. NULL = this target does not change that attribute.
typedef struct pelt_morph_target {
    const float *positions; // vertex_count x 3
    const float *normals;   // vertex_count x 3
    const float *tangents;  // vertex_count x 3; w is never morphed
} pelt_morph_target;

// What the clean-up of JOINTS_n / WEIGHTS_n changed, for reports.
typedef struct pelt_influence_report {
    uint32_t set_count;           // JOINTS_n / WEIGHTS_n pairs in the file
    uint32_t normalized_count;    // vertices whose weights did not sum to one within 2e-7 per non-zero weight
    uint32_t unweighted_count;    // vertices without any weight, bound to their first listed joint
    uint32_t merged_count;        // vertices that listed a joint twice
    uint32_t ignored_joint_count; // out-of-range joints with weight zero
    uint32_t reduced_count;       // vertices that lost influences to the caller's influence limit
    uint32_t worst_sum_vertex;    // PELT_NONE if none
    float worst_sum_error;        // largest |sum - 1| in the file
    float worst_reduced_weight;   // largest weight dropped from one vertex by the influence limit
} pelt_influence_report;

typedef struct pelt_primitive {
    pelt_topology topology;
    uint32_t material; // file index, or PELT_NONE
    uint32_t vertex_count;
    const float *positions;   // vertex_count x 3, finite; NULL only when vertex_count is 0
    const float *normals;     // vertex_count x 3 as in the file, or NULL
    const float *tangents;    // vertex_count x 4 (w is +1 or -1), or NULL
    uint32_t influence_count; // stored influences per vertex; 0 = rigid
    const uint16_t *joints;   // vertex_count x influence_count; unused ones are joint 0 with weight 0, last
    const float *weights;     // the same; each vertex sums to one, used ones come first, in file order
    uint32_t joint_bound;     // highest joint used + 1
    pelt_influence_report influences;
    uint32_t index_count;    // vertex_count where the file has no indices
    const uint32_t *indices; // each below vertex_count; NULL where the file has none
    uint32_t attribute_count;
    const pelt_attribute *attributes;
    const pelt_morph_target *targets; // the mesh's target_count
    bool has_declared_box;
    pelt_box declared_box; // min and max of the POSITION accessor, in mesh space, unposed
} pelt_primitive;

typedef struct pelt_mesh {
    const char *name;
    uint32_t primitive_count;
    const pelt_primitive *primitives;
    uint32_t target_count;
    const char *const *target_names; // target_count names ("" = none in the file)
    const float *weights;            // target_count default weights
} pelt_mesh;

typedef struct pelt_skin {
    const char *name;
    uint32_t joint_count;            // 1 to 65,536
    const uint32_t *joints;          // node indices, in the file's order
    const pelt_mat34 *inverse_binds; // joint_count; identity where the file has none
    bool has_inverse_binds;
    uint32_t skeleton; // node index or PELT_NONE; changes nothing in evaluation
} pelt_skin;

typedef enum pelt_interpolation {
    PELT_INTERPOLATION_LINEAR = 0,
    PELT_INTERPOLATION_STEP,
    PELT_INTERPOLATION_CUBICSPLINE
} pelt_interpolation;

typedef struct pelt_sampler {
    pelt_interpolation interpolation;
    uint32_t file_index;
    uint32_t key_count;   // at least 1
    uint32_t value_count; // floats per value: 3, 4 or the target count
    const float *times;   // key_count seconds, finite, >= 0, strictly increasing
    const float *values;  // key_count x value_count; CUBICSPLINE: key_count x (in-tangent, value, out-tangent)
} pelt_sampler;

typedef enum pelt_path {
    PELT_PATH_TRANSLATION = 0,
    PELT_PATH_ROTATION,
    PELT_PATH_SCALE,
    PELT_PATH_WEIGHTS
} pelt_path;

typedef struct pelt_channel {
    uint32_t node; // node index
    pelt_path path;
    uint32_t sampler; // index into the clip's samplers
    uint32_t file_index;
} pelt_channel;

typedef struct pelt_clip {
    const char *name;
    float duration; // last key time of all its channels; 0 without channels
    uint32_t sampler_count;
    const pelt_sampler *samplers; // those that a channel uses
    uint32_t channel_count;
    const pelt_channel *channels; // sorted by node, then path; no pair twice
} pelt_clip;

// A mesh placed by a node of the default scene: what posing makes vertices for.
typedef struct pelt_instance {
    uint32_t node;
    uint32_t mesh;
    uint32_t skin; // PELT_NONE: rigid, follows its node
} pelt_instance;

typedef struct pelt_asset_data {
    uint32_t node_count;
    const pelt_node *nodes;         // parent first; each subtree is contiguous; file order otherwise
    const uint32_t *node_from_file; // node_count: index in nodes of the file's i-th node
    uint32_t mesh_count;
    const pelt_mesh *meshes;
    uint32_t skin_count;
    const pelt_skin *skins;
    uint32_t clip_count;
    const pelt_clip *clips;
    uint32_t instance_count;
    const pelt_instance *instances; // in the order of the nodes in the file
    uint32_t rest_weight_count;
    const float *rest_weights; // morph weights at rest of all nodes (the node's, else its mesh's)
} pelt_asset_data;

typedef struct pelt_asset pelt_asset;

// The contents; never NULL; valid until the asset is destroyed. Any thread.
PELT_API const pelt_asset_data *pelt_asset_get(const pelt_asset *asset);
// Releases all of it through the allocator it was made with. NULL is accepted. No pose may still use it.
PELT_API void pelt_asset_destroy(pelt_asset *asset);

// Influences of one vertex that have a weight; vertex must be below vertex_count. Any thread.
PELT_API uint32_t pelt_primitive_vertex_influences(const pelt_primitive *primitive, uint32_t vertex);

#ifdef __cplusplus
}
#endif
#endif

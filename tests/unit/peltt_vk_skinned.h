// SPDX-License-Identifier: MIT
// Random packed meshes for the skin pass, made with the public packing functions, and a second opinion in double that
// reads the packed streams as docs/format.md says.
#ifndef PELTT_VK_SKINNED_H
#define PELTT_VK_SKINNED_H

#include "peltt_random.h"
#include "peltt_vk_passes.h"

enum {
    PELTT_VK_SKINNED_TARGETS = 4,   // dense and sparse, floats and 16 bits
    PELTT_VK_SKINNED_JOINTS = 300,  // most
    PELTT_VK_SKINNED_INFLUENCES = 9 // most of one vertex
};

typedef struct peltt_vk_skinned_shape {
    uint32_t vertex_count;
    uint32_t item_vertices;
    uint32_t joint_layout;    // GPU_JOINTS_*
    uint32_t influence_count; // 1 to 4; 5 = up to 9 of one vertex
    uint32_t encoding;        // GPU_WEIGHTS_*
    uint32_t
        joint_count; // of the palette; its last matrix is not a number unless calm, and followed with weight zero alone
    uint32_t target_mask; // bit set of targets with a weight
    uint32_t flags;       // GPU_INSTANCE_RIGID, GPU_INSTANCE_EXACT
    bool parity;
    bool no_normals; // of the mesh
    bool no_tangents;
    bool omit_normals; // of the instance
    bool omit_tangents;
    bool calm;  // the palette's last matrix is a number
    bool harsh; // matrices that are singular, mirrored, or of extreme scale
} peltt_vk_skinned_shape;

// A target as its streams hold it.
typedef struct peltt_vk_skinned_target {
    gpu_target record;
    uint32_t entry_count;
    uint32_t *vertices;     // NULL = dense
    const void *streams[3]; // float x 3 or int16 x 3
    float weight;
} peltt_vk_skinned_target;

typedef struct peltt_vk_skinned {
    peltt_vk_skinned_shape shape;
    gpu_mesh mesh;
    gpu_instance instance;
    uint32_t item_count;
    gpu_item *items;
    pelt_mat34 *palette;
    bool runs;        // skin_runs.comp can do it
    float *positions; // these four as they were packed: peltt_vk_skinned_upload brings them to the device
    uint32_t *normals;
    uint32_t *tangents;
    uint32_t *weights;
    uint32_t *device_joints; // words, as the items say
    float *blocks;           // of positions
    uint32_t *vertices;      // four words each, where runs
    uint16_t *joints;        // palette indices, four a vertex, by slot
    uint32_t *first_extras;  // vertex_count + 1
    uint32_t *extras;        // as packed
    peltt_vk_skinned_target targets[PELTT_VK_SKINNED_TARGETS];
    float *out_positions[2];
    uint32_t *out_normals;
    uint32_t *out_tangents;
} peltt_vk_skinned;

// Puts a mesh and an instance of it into the passes' memory.
void peltt_vk_skinned_make(peltt_vk_skinned *skinned, const peltt_vk_skinned_shape *shape, peltt_vk_passes *passes,
                           peltt_random *random);
// Brings positions, normals, tangents, weights and device_joints to where the shaders read them. To be called after the
// last change.
void peltt_vk_skinned_upload(peltt_vk_skinned *skinned);
void peltt_vk_skinned_free(peltt_vk_skinned *skinned);

// Where a vertex must be, and how well that is determined.
typedef struct peltt_vk_skinned_vertex {
    double position[3];
    double terms[3];     // sum of the magnitudes that each coordinate is summed from
    double normal[3];    // not normalised
    double normal_ratio; // its length beside that of its terms
    double tangent[3];
    double tangent_ratio;
    double input_normal[3]; // morphed
    double input_tangent[3];
    double handedness;
    uint32_t influence_count; // with a weight that is not zero
} peltt_vk_skinned_vertex;
void peltt_vk_skinned_reference(const peltt_vk_skinned *skinned, uint32_t vertex, peltt_vk_skinned_vertex *out);
// Adds the targets' displacements of positions (0), normals (1) or tangents (2), and their magnitudes to size.
void peltt_vk_skinned_morph(const peltt_vk_skinned *skinned, uint32_t vertex, uint32_t stream, double value[3],
                            double size[3]);
// The four weights of a code, by slot.
void peltt_vk_skinned_weights(uint32_t encoding, uint32_t code, double w[4]);
// Joints and weights that are not zero of a vertex; returns how many.
uint32_t peltt_vk_skinned_influences(const peltt_vk_skinned *skinned, uint32_t vertex,
                                     uint16_t joints[PELTT_VK_SKINNED_INFLUENCES],
                                     double weights[PELTT_VK_SKINNED_INFLUENCES]);

#endif

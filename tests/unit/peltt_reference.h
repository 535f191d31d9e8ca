// SPDX-License-Identifier: MIT
// The second opinion: glTF 2.0 animation, morphing and skinning in double, written from the specification's text and
// sharing no maths with the library. Slow and plain on purpose.
#ifndef PELTT_REFERENCE_H
#define PELTT_REFERENCE_H

#include <pelt/asset.h>

typedef struct peltt_reference {
    const pelt_asset_data *data;
    double *translations; // node_count x 3
    double *rotations;    // node_count x 4, xyzw
    double *scales;       // node_count x 3
    bool *uses_matrix;    // node_count: local_matrix instead of the three above
    double *weights;      // rest_weight_count
    double *worlds;       // node_count x 16, row-major, as of the last update
    double *norms;        // node_count: product of the spectral norms of the locals from the root down
} peltt_reference;

// At the rest pose. Ends the process when out of memory.
peltt_reference *peltt_reference_create(const pelt_asset_data *data);
void peltt_reference_destroy(peltt_reference *reference);
void peltt_reference_rest(peltt_reference *reference);
// Writes what the clip animates at that time.
void peltt_reference_sample(peltt_reference *reference, uint32_t clip, double time);
// World transforms of all nodes.
void peltt_reference_update(peltt_reference *reference);
// world_from_node, 16 numbers, row-major.
const double *peltt_reference_world(const peltt_reference *reference, uint32_t node);
// The node's morph weights.
const double *peltt_reference_weights(const peltt_reference *reference, uint32_t node);

// One sampler at a time, as value_count numbers; rotations (is_rotation) come out normalised.
void peltt_reference_interpolate(const pelt_sampler *sampler, bool is_rotation, double time, double *out);

// Attributes as a file has them: joints and weights in sets of four, not cleaned.
typedef struct peltt_reference_mesh {
    uint32_t set_count;
    const uint16_t *const *joints; // set_count arrays of vertex_count x 4
    const float *const *weights;   // the same
    const float *positions;        // vertex_count x 3
    const float *normals;          // vertex_count x 3
    const float *tangents;         // vertex_count x 4
    uint32_t target_count;
    const pelt_morph_target *targets;
} peltt_reference_mesh;

// One vertex, and how well each result is determined when every input and matrix is only known to one rounding:
// directions move by about a rounding over their ratio, positions by about a rounding of the range.
typedef struct peltt_reference_vertex {
    double position[3];
    double normal[3];
    double tangent[4];
    bool singular; // to double precision: then never mirrored
    bool mirrored;
    double range;             // largest magnitude among the terms that the position sums up
    double normal_ratio;      // |cofactor * normal| / (N^2 * |normal|), N = sum of weight * norms on the joint's path
    double tangent_ratio;     // |M * tangent| / (N * |tangent|)
    double determinant_ratio; // |determinant| / N^3
} peltt_reference_vertex;

// Skins one vertex of a mesh on a node. skin PELT_NONE: rigid, follows the node. outward: the normal is the inverse
// transpose with its sign and w changes sign under mirrors; else the cofactor and w as it is.
void peltt_reference_skin(const peltt_reference *reference, uint32_t skin, uint32_t node,
                          const peltt_reference_mesh *mesh, uint32_t vertex, bool outward, peltt_reference_vertex *out);

#endif

// SPDX-License-Identifier: MIT
// What inspect finds out about a file, and the two ways of telling it.
#ifndef PELT_CLI_INSPECT_H
#define PELT_CLI_INSPECT_H

#include "cli.h"

typedef struct inspect_primitive {
    uint32_t mesh;
    uint32_t index; // in the mesh
    const pelt_primitive *source;
    uint64_t triangle_count;
    uint32_t unreferenced_count;  // vertices that no index names
    uint32_t *histogram;          // source->influence_count + 1: vertices with so many influences; NULL if rigid
    uint32_t used_joint_count;    // distinct joints with a weight
    uint32_t lowest_joint;        // PELT_NONE if none
    uint32_t *used_joints;        // used_joint_count, increasing
    uint32_t packed_read_size;    // bytes per vertex in the packed streams
    uint32_t packed_written_size; // bytes per vertex that a pass writes
    uint32_t plain_size;          // bytes per vertex of the same streams as 32-bit floats and 16-bit joints
    pelt_box bind_box;            // of the positions as stored
} inspect_primitive;

typedef struct inspect_skin {
    uint32_t root_count;          // joints without a joint of this skin above them
    uint32_t depth;               // joints on the longest way down
    uint32_t duplicate_count;     // joints listed a second time
    uint32_t outside_scene_count; // joints not in the default scene
    uint32_t used_joint_count;    // joints that a vertex of an instance follows
    uint32_t instance_count;      // instances of meshes on this skin, in the scene
    uint32_t right_handed_count;  // joints whose matrix keeps the handedness
    uint32_t mirrored_count;      // joints whose matrix reverses it
    uint32_t singular_count;      // joints whose matrix flattens
    uint32_t overflow_count;      // joints whose matrix is not finite
    double scale_min;             // least and largest stretch of any direction over the joints counted above
    double scale_max;
} inspect_skin;

typedef struct inspect_clip {
    uint32_t counts[3]; // channels by pelt_interpolation
    uint32_t paths[4];  // channels by pelt_path
    uint64_t key_count; // of all samplers in use
    uint32_t node_count;
    uint32_t joint_count; // of those nodes, joints of any skin
    float first_key;      // seconds; 0 without channels
} inspect_clip;

// A joint's place, grouped by node.
typedef struct inspect_joint {
    uint32_t skin;
    uint32_t joint;
} inspect_joint;

typedef struct inspect_facts {
    pelt_gltf *gltf;
    const pelt_asset_data *data;
    const pelt_cooked_data *cooked; // of a .pelt: its primitives are those below; else NULL
    uint64_t size;                  // bytes of the file, external buffers included
    uint32_t primitive_count;
    inspect_primitive *primitives; // in mesh order
    uint32_t *first_primitive;     // mesh_count + 1
    inspect_skin *skins;
    inspect_clip *clips;
    uint32_t *node_depth;   // 1 for roots
    uint32_t *node_clips;   // clips that animate it
    uint32_t *joint_offset; // node_count + 1, into joints
    inspect_joint *joints;
    uint32_t depth;
    uint32_t scene_node_count;
    uint32_t matrix_node_count;
    uint64_t vertex_count;        // stored
    uint64_t triangle_count;      // stored
    uint64_t placed_vertex_count; // of all instances in the scene
    uint64_t placed_triangle_count;
} inspect_facts;

// Linear in the size of the file, but for sorting joint lists. Prints what fails and returns an exit code.
int inspect_gather(cli_context *context, pelt_gltf *gltf, const pelt_asset *asset, inspect_facts *out);
void inspect_release(inspect_facts *facts);
// The skins' part of inspect_gather. False when out of memory.
bool inspect_gather_skins(const pelt_asset *asset, inspect_facts *facts);

void inspect_print_text(const cli_context *context, const inspect_facts *facts);
void inspect_print_tree(const inspect_facts *facts);
json_t *inspect_json(const cli_context *context, const inspect_facts *facts);
json_t *inspect_json_tree(const inspect_facts *facts);
// How a primitive of a .pelt is packed; index into facts->primitives.
void inspect_print_cooked(const inspect_facts *facts, uint32_t index);
json_t *inspect_json_cooked(const inspect_facts *facts, uint32_t index);

const char *inspect_topology_name(pelt_topology topology);
const char *inspect_component_name(pelt_component component);
const char *inspect_handedness(const inspect_skin *skin);

#endif

// SPDX-License-Identifier: MIT
// A whole asset posed at a moment: what `pose` writes and `bounds` measures.
#ifndef PELT_CLI_SCENE_H
#define PELT_CLI_SCENE_H

#include "cli.h"

// One primitive of one instance, in node order of the file, then primitive order.
typedef struct scene_primitive {
    uint32_t instance;
    uint32_t primitive;
    const pelt_primitive *source;
    float *positions;  // source->vertex_count x 3
    float *normals;    // NULL if the file has none (or not wanted)
    float *tangents;   // NULL if the file has none (or not wanted)
    uint8_t *mirrored; // 1 where a triangle's winding turns around; NULL if not wanted
    pelt_box box;
    uint32_t unused_count; // vertices that no index uses; counted for SCENE_BOXES only
    pelt_box used_box;     // over the other vertices; the same as box where unused_count is 0
    bool current;          // holds what the pose of the last evaluation gives
} scene_primitive;

typedef struct scene {
    cli_context *context;
    const pelt_asset *asset;
    pelt_pose *pose;
    uint32_t primitive_count;
    scene_primitive *primitives;
    void *work; // palettes, morph lists and the rest
} scene;

typedef enum scene_streams {
    SCENE_BOXES = 0, // boxes only: positions is NULL
    SCENE_ALL        // positions, normals, tangents, mirrored, boxes
} scene_streams;

// Allocates for all instances; needs the --morph settings of the options. Prints what fails and returns an exit code.
int scene_create(cli_context *context, const pelt_asset *asset, scene_streams streams, scene *out);
void scene_destroy(scene *s);
// Poses everything at clip and time (clip PELT_NONE: the rest pose of the nodes), with the morph weights of --morph on
// top.
int scene_evaluate(scene *s, uint32_t clip, double time);
// Moves positions, normals and tangents of all primitives into the space of their mesh nodes, boxes recomputed
// (SCENE_ALL only). mirrored then says which triangles turn around as seen in that space: a viewer turns those of a
// mirrored node around by itself, as glTF defines.
int scene_to_mesh_space(scene *s);
// Union of all boxes.
pelt_box scene_box(const scene *s);

// What a primitive is called in reports: its node's name, else its mesh's, else "".
const char *scene_primitive_name(const scene *s, const scene_primitive *p);
const pelt_mesh *scene_primitive_mesh(const scene *s, const scene_primitive *p);
const pelt_node *scene_primitive_node(const scene *s, const scene_primitive *p);
// {"k", "node", "mesh", "primitive", "skin", "name", "vertices"} with the file's indices.
json_t *scene_primitive_json(const scene *s, uint32_t k);

#endif

// SPDX-License-Identifier: MIT
// Inside scene_gpu*.c: what a scene has on a device.
#ifndef PELT_CLI_SCENE_GPU_H
#define PELT_CLI_SCENE_GPU_H

#include "gpu_scene.h"
#include "scene_internal.h"

// How far a primitive of a mesh can reach, whatever its morph weights.
typedef struct scene_gpu_mesh {
    bool measured;
    double extent;   // largest coordinate at rest
    double *extents; // for each morph target the largest displacement
} scene_gpu_mesh;

// One skin in use or one rigid instance.
typedef struct scene_gpu_item {
    double binds;    // no entry of an inverse bind matrix is larger; at least 1
    double matrices; // the same of skinning matrices, as of the last write
} scene_gpu_item;

typedef struct scene_gpu_primitive {
    float *positions; // for SCENE_BOXES, made when they are first needed
    bool reads;       // positions come back this time
} scene_gpu_primitive;

typedef struct scene_gpu {
    gpu_scene scene;                 // its primitives are those of the scene, its palettes scene_work.items
    scene_gpu_mesh *meshes;          // as scene_work.masks
    scene_gpu_item *items;           // as scene_work.items
    scene_gpu_primitive *primitives; // as scene.primitives
    float *weights;                  // as many as the mesh with the most targets has
} scene_gpu;

#endif

// SPDX-License-Identifier: MIT
// Inside scene_gpu*.c: what a scene has on a device.
#ifndef PELT_CLI_SCENE_GPU_H
#define PELT_CLI_SCENE_GPU_H

#include "gpu.h"
#include "scene_internal.h"

#include <math.h>

// One primitive of a mesh, shared by its instances.
typedef struct scene_gpu_mesh {
    bool added;
    pelt_vk_mesh mesh;
    double extent;   // largest coordinate at rest
    double *extents; // for each morph target the largest displacement
} scene_gpu_mesh;

// One skin in use or one rigid instance.
typedef struct scene_gpu_item {
    pelt_vk_palette palette;
    double binds;    // no entry of an inverse bind matrix is larger; at least 1
    double matrices; // the same of skinning matrices, as of the last write
} scene_gpu_item;

typedef struct scene_gpu_primitive {
    pelt_vk_instance instance;
    float *positions; // for SCENE_BOXES, made when they are first needed
    bool reads;       // positions come back this time
} scene_gpu_primitive;

typedef struct scene_gpu {
    gpu *device;
    pelt_vk_scene *scene;
    scene_gpu_mesh *meshes;          // as scene_work.masks
    scene_gpu_item *items;           // as scene_work.items
    scene_gpu_primitive *primitives; // as scene.primitives
    float *weights;                  // as many as the mesh with the most targets has
} scene_gpu;

static inline double scene_gpu_largest(const pelt_mat34 *m)
{
    double largest = 0.0;
    for (int i = 0; i < 12; i++) {
        largest = fmax(largest, fabs((double)m->m[i / 4][i % 4]));
    }
    return largest;
}

#endif

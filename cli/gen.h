// SPDX-License-Identifier: MIT
// What the kinds of `pelt gen` share: a glTF file under construction, meshes from parametric patches, small maths.
#ifndef PELT_CLI_GEN_H
#define PELT_CLI_GEN_H

#include "cli.h"

#define GEN_TAU 6.283185307179586

// ---- gen_file.c: JSON and bytes of one .glb

typedef struct gen_file {
    json_t *root;
    uint8_t *bytes;
    size_t size;
    size_t capacity;
    bool failed; // out of memory; everything after it does nothing
} gen_file;

gen_file gen_file_begin(void);
// Writes the .glb and releases everything. Prints what fails; returns an exit code.
int gen_file_end(cli_context *context, gen_file *file);
// Appends to the array root[key]; takes over object; returns its index.
uint32_t gen_append(gen_file *file, const char *key, json_t *object);

enum {
    GEN_BOUNDS = 1,
    GEN_NORMALIZED = 2,
    GEN_VERTEX = 4,
    GEN_INDEX = 8
};
// Copies count elements of width components (16 = MAT4) into the buffer and returns the accessor's index. flags: GEN_*.
uint32_t gen_accessor(gen_file *file, const void *data, uint32_t count, uint32_t width, pelt_component component,
                      unsigned flags);
json_t *gen_numbers(const float *values, size_t count);
// A node with what is not the identity of trs; takes no reference.
json_t *gen_node(const char *name, const pelt_trs *trs);

// One animation under construction.
typedef struct gen_clip {
    gen_file *file;
    json_t *samplers;
    json_t *channels;
} gen_clip;

gen_clip gen_clip_begin(gen_file *file);
uint32_t gen_sampler(gen_clip *clip, uint32_t times, const float *values, uint32_t value_count, uint32_t width,
                     const char *interpolation);
void gen_channel(gen_clip *clip, uint32_t sampler, uint32_t node, const char *path);
void gen_clip_end(gen_clip *clip, const char *name);

// ---- gen_patch.c: vertices, triangles and skinned mesh entries

typedef struct gen_vertex {
    float position[3];
    float normal[3];
    float tangent[4];
    float uv[2];
    float puff[3]; // displacement of the morph target at weight one
    float puff_normal[3];
    uint8_t color[4];
    uint16_t joints[4];
    float weights[4];
} gen_vertex;

typedef struct gen_mesh {
    gen_vertex *vertices;
    uint32_t vertex_count;
    uint32_t vertex_capacity;
    uint32_t *indices;
    uint32_t index_count;
    uint32_t index_capacity;
    bool failed;
} gen_mesh;

// One point of a surface over (u, v) in [0, 1]^2: position, puff, color, joints and weights. du x dv points outward.
typedef void (*gen_surface)(const void *shape, double u, double v, gen_vertex *out);
// Samples the surface on (columns + 1) x (rows + 1) points; normals and tangents by differences. Collapsed edges
// (poles) give no degenerate triangles.
void gen_patch(gen_mesh *mesh, gen_surface surface, const void *shape, uint32_t columns, uint32_t rows);
// Drops vertices that no triangle uses: those of the seam at poles.
void gen_mesh_compact(gen_mesh *mesh);
void gen_mesh_release(gen_mesh *mesh);
// Adds all accessors and returns a primitive: attributes, indices, and the morph target where puffs is true.
json_t *gen_primitive(gen_file *file, const gen_mesh *mesh, bool puffs);

// ---- gen_math.c

typedef struct gen_frame { // orthonormal, right-handed
    double x[3], y[3], z[3], origin[3];
} gen_frame;

pelt_quat gen_quat_axis(double x, double y, double z, double angle);
pelt_quat gen_quat_multiply(pelt_quat a, pelt_quat b);
// parent_from_child of two frames given in world space.
pelt_trs gen_relative(const gen_frame *parent, const gen_frame *child);
gen_frame gen_frame_at(double x, double y, double z);
// Column-major 4x4 of the inverse, for inverseBindMatrices.
void gen_inverse_bind(const gen_frame *frame, float out[16]);
double gen_smoothstep(double low, double high, double x);
// A number in [0, 1) that depends on seed and index only.
double gen_random(uint32_t seed, uint32_t index);
// Uniform cubic B-spline weights of the four chain elements around coordinate x of a chain of count elements; elements
// beyond the ends count as the last one, so one to four remain; they sum to one. Returns how many.
uint32_t gen_chain_weights(double x, uint32_t count, uint32_t elements[4], double weights[4]);

// ---- kinds: each fills file; options are checked already

void gen_octopus(const cli_options *options, gen_file *file); // also crowd: options->count instances
void gen_worm(const cli_options *options, gen_file *file);    // also wide: options->influences per vertex
void gen_deep(const cli_options *options, gen_file *file);

#endif

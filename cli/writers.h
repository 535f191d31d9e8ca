// SPDX-License-Identifier: MIT
// The export formats of `pose`: each writes a posed scene to one path, whole or not at all.
#ifndef PELT_CLI_WRITERS_H
#define PELT_CLI_WRITERS_H

#include "scene.h"
#include "topology.h"

typedef struct pose_export {
    cli_context *context;
    pelt_gltf *gltf;
    const pelt_asset *asset;
    const scene *scene;
    const char *path;
    bool mesh_space;
} pose_export;

// Each prints what fails and returns an exit code; then no file is left.
typedef int (*pose_writer)(const pose_export *e);
int write_glb(const pose_export *e);
int write_gltf(const pose_export *e); // and its .bin, beside
int write_obj(const pose_export *e);
int write_ply(const pose_export *e);
int write_stl(const pose_export *e);
int write_npz(const pose_export *e);

// ---- writers.c

// What a file has that a plain format may not hold.
enum {
    EXPORT_NORMALS = 1,
    EXPORT_TANGENTS = 2,
    EXPORT_TEXCOORDS = 4,      // TEXCOORD_0
    EXPORT_MORE_TEXCOORDS = 8, // others, and custom attributes
    EXPORT_COLORS = 16,        // COLOR_0
    EXPORT_MORE_COLORS = 32,   // others
    EXPORT_MATERIALS = 64,
    EXPORT_LINES = 128,
    EXPORT_POINTS = 256
};
uint32_t export_contents(const pose_export *e);
// Warns about the contents that are not in held.
void export_warn_left_out(const pose_export *e, const char *format, uint32_t held);
int export_out_of_memory(const pose_export *e);
// The attribute of that name with at least so many components, or NULL.
const pelt_attribute *export_attribute(const pelt_primitive *source, const char *name, uint32_t component_count);
// Texture coordinates with the origin in the lower left corner, as the plain formats have it; glTF's is in the upper
// left. What is not finite becomes 0.
void export_texcoord(const pelt_attribute *attribute, uint32_t vertex, float out[2]);

// A buffer before a cli_output. Little-endian whatever the machine.
typedef struct write_buffer {
    cli_output *output;
    cli_progress progress;
    uint64_t done; // vertices and elements so far, counted by whoever writes them
    size_t size;
    uint8_t data[1 << 16];
} write_buffer;

// Opens e->path, calls body with a buffer before it, and commits where that returns CLI_DONE.
typedef int (*export_body)(const pose_export *e, write_buffer *b, const void *user);
int export_file(const pose_export *e, export_body body, const void *user);

void write_flush(write_buffer *b);
void write_bytes(write_buffer *b, const void *data, size_t size);
void write_text(write_buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3))); // up to 1023 bytes
void write_decimal(write_buffer *b, uint64_t value);
void write_u8(write_buffer *b, uint32_t value);
void write_u16(write_buffer *b, uint32_t value);
void write_u32(write_buffer *b, uint32_t value);
void write_f32(write_buffer *b, float value);

#endif

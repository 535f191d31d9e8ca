// SPDX-License-Identifier: MIT
// For tests of the posed-file writer: sources made in memory, made-up posed vertices, and outputs kept in memory.
#ifndef PELTT_POSED_H
#define PELTT_POSED_H

#include "peltt_gltf.h"

#include <jansson.h>

// Growing bytes; also a pelt_gltf_sink's user.
typedef struct peltt_blob {
    uint8_t *data;
    size_t size;
    size_t capacity;
    uint64_t writes;  // calls of peltt_blob_write
    uint64_t fail_at; // the call that returns false, counted from 1; 0 = never
} peltt_blob;

bool peltt_blob_write(void *bytes, const void *data, size_t size);
void peltt_blob_free(peltt_blob *bytes);

// Appends data, padded to 4 bytes before it, and returns where it starts.
size_t peltt_blob_add(peltt_blob *bytes, const void *data, size_t size);
// A .glb of the JSON text (single quotes stand for double ones) and a BIN chunk.
peltt_blob peltt_blob_glb(const char *json, const peltt_blob *bin);
// The parsed JSON chunk of a .glb, and where its BIN chunk is.
json_t *peltt_blob_json(const peltt_blob *glb, const uint8_t **out_bin, size_t *out_bin_size);

enum {
    PELTT_PNG_SIZE = 69
};
extern const uint8_t peltt_png[PELTT_PNG_SIZE]; // one pixel

// A scene with everything that a posed file keeps or loses; see the JSON in peltt_posed_source.c.
peltt_blob peltt_stage(void);

// A source opened, imported and posed, with made-up vertices: every instance gets its own.
typedef struct peltt_posed {
    pelt_gltf *gltf;
    pelt_asset *asset;
    pelt_pose *pose;
    uint32_t primitive_count;
    pelt_gltf_posed_primitive *primitives;
    float **arrays;
    uint32_t array_count;
    pelt_box *boxes;
} peltt_posed;

// Fails the test where a step fails. folder as in pelt_gltf_open_memory.
peltt_posed peltt_posed_open(const peltt_blob *source, const char *folder, const pelt_gltf_options *options);
void peltt_posed_close(peltt_posed *posed);
// As .glb into *out.
pelt_result peltt_posed_write(const peltt_posed *posed, pelt_gltf_space space, peltt_blob *out, pelt_error *error);

#endif

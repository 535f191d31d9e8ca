// SPDX-License-Identifier: MIT
// A posed file beside its source: both parsed, the output also imported again.
#ifndef PELTT_WRITTEN_H
#define PELTT_WRITTEN_H

#include "peltt_posed.h"

// A source, its posed output, and the output read back.
typedef struct peltt_written {
    peltt_blob source;
    peltt_posed posed;
    peltt_log *warnings;
    peltt_blob output;
    json_t *source_json;
    json_t *json;
    const uint8_t *bin;
    size_t bin_size;
    pelt_asset *asset; // of the output
    pelt_pose *pose;   // of the output
} peltt_written;

// Takes source. The stage is posed half a second into its clip.
peltt_written peltt_written_make(peltt_blob source, pelt_gltf_space space);
void peltt_written_free(peltt_written *f);
// The value at a path of keys and indices, "meshes/0/name".
json_t *peltt_json_at(const json_t *json, const char *path);
// The same as text; "(none)" where there is none.
const char *peltt_json_text(const json_t *json, const char *path);
void peltt_json_assert_same(const json_t *a, const json_t *b);
bool peltt_blob_contains(const peltt_blob *bytes, const char *text);
// The one output node of that name that has (or has not) a mesh.
uint32_t peltt_written_node(const pelt_asset *asset, const char *name, bool with_mesh);
const json_t *peltt_written_json(const peltt_written *f, const char *name, bool with_mesh);
// Fails the test unless that node is where the source's node of that name is.
void peltt_written_assert_world(const peltt_written *f, const char *name, bool with_mesh);

#endif

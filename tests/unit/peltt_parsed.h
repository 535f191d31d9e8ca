// SPDX-License-Identifier: MIT
// Posed files of small sources, parsed and not imported: what the writer put where.
#ifndef PELTT_PARSED_H
#define PELTT_PARSED_H

#include "peltt_posed.h"

// Text with printf's arguments filled in.
__attribute__((format(printf, 1, 2))) char *peltt_format(const char *format, ...);

// A source under test with its warnings; its output is parsed, not imported.
typedef struct peltt_parsed {
    peltt_blob source;
    peltt_posed posed;
    peltt_log *warnings;
    peltt_blob output;
    json_t *json;
    const uint8_t *bin;
    size_t bin_size;
} peltt_parsed;

// Takes json.
peltt_parsed peltt_parsed_open(char *json, const peltt_blob *bin, const char *folder);
void peltt_parsed_write(peltt_parsed *b, pelt_gltf_space space);
void peltt_parsed_close(peltt_parsed *b);
// The element of that index in the array under the key, NULL where there is none.
json_t *peltt_json_item(json_t *json, const char *first, size_t index);
// The first primitive of a mesh of the output; then its accessors by the index that it gives, or by an attribute of
// mesh 0.
json_t *peltt_parsed_primitive(const peltt_parsed *b, size_t mesh);
json_t *peltt_parsed_accessor(const peltt_parsed *b, const json_t *index);
json_t *peltt_parsed_attribute(const peltt_parsed *b, const char *name);
int64_t peltt_json_number(const json_t *object, const char *key);
// Where the first element of the accessor's view is.
const uint8_t *peltt_parsed_bytes(const peltt_parsed *b, const json_t *accessor);

#endif

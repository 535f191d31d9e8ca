// SPDX-License-Identifier: MIT
// Index lists for export: strips, fans and loops as plain lists, and mirrored triangles turned around.
#ifndef PELT_CLI_TOPOLOGY_H
#define PELT_CLI_TOPOLOGY_H

#include <pelt/asset.h>

typedef struct topology_list {
    pelt_topology topology;  // POINTS, LINES or TRIANGLES
    uint64_t count;          // indices: a multiple of 1, 2 or 3
    const uint32_t *indices; // count, each below the primitive's vertex count
    uint32_t *owned;         // indices, unless they are the primitive's own
} topology_list;

// POINTS, LINES or TRIANGLES: what a primitive of that topology is made of.
pelt_topology topology_simple(pelt_topology topology);
// Points, lines or triangles of a primitive; indices that complete none do not count.
uint64_t topology_element_count(const pelt_primitive *source);
// Whether any triangle has two or three mirrored vertices (mirrored: vertex_count flags, NULL = none).
bool topology_any_mirrored(const pelt_primitive *source, const uint8_t *mirrored);
// Makes the list; triangles with two or three mirrored vertices keep their first vertex and swap the others. Degenerate
// triangles stay, in the order of the specification (glTF 2.0, 3.7.2.1). False where memory runs out.
bool topology_build(const pelt_primitive *source, const uint8_t *mirrored, topology_list *out);
// Harmless on {0}.
void topology_release(topology_list *list);

#endif

// SPDX-License-Identifier: MIT
// Index lists for export: strips, fans and loops as plain lists, and mirrored triangles turned around.
#include "topology.h"

#include <stdlib.h>
#include <string.h>

pelt_topology topology_simple(pelt_topology topology)
{
    switch (topology) {
    case PELT_TOPOLOGY_POINTS:
        return PELT_TOPOLOGY_POINTS;
    case PELT_TOPOLOGY_LINES:
    case PELT_TOPOLOGY_LINE_LOOP:
    case PELT_TOPOLOGY_LINE_STRIP:
        return PELT_TOPOLOGY_LINES;
    default:
        return PELT_TOPOLOGY_TRIANGLES;
    }
}

uint64_t topology_element_count(const pelt_primitive *source)
{
    uint64_t n = source->index_count;
    switch (source->topology) {
    case PELT_TOPOLOGY_POINTS:
        return n;
    case PELT_TOPOLOGY_LINES:
        return n / 2;
    case PELT_TOPOLOGY_LINE_LOOP:
        return n >= 2 ? n : 0;
    case PELT_TOPOLOGY_LINE_STRIP:
        return n >= 2 ? n - 1 : 0;
    case PELT_TOPOLOGY_TRIANGLES:
        return n / 3;
    default:
        return n >= 3 ? n - 2 : 0;
    }
}

static uint32_t index_at(const pelt_primitive *source, uint64_t i)
{
    return source->indices ? source->indices[i] : (uint32_t)i;
}

// The i-th triangle. Strips: every other one has its last two vertices swapped, so that all face the same way; fans:
// the centre comes last. Source: glTF 2.0 specification, section 3.7.2.1.
static void triangle_at(const pelt_primitive *source, uint64_t i, uint32_t out[3])
{
    uint64_t corners[3] = {3 * i, 3 * i + 1, 3 * i + 2};
    if (source->topology == PELT_TOPOLOGY_TRIANGLE_STRIP) {
        corners[0] = i;
        corners[1] = i + 1 + i % 2;
        corners[2] = i + 2 - i % 2;
    } else if (source->topology == PELT_TOPOLOGY_TRIANGLE_FAN) {
        corners[0] = i + 1;
        corners[1] = i + 2;
        corners[2] = 0;
    }
    for (int j = 0; j < 3; j++) {
        out[j] = index_at(source, corners[j]);
    }
}

// Vertices of one triangle can disagree only where it bends through itself; the majority decides then.
static bool is_mirrored(const uint8_t *mirrored, const uint32_t triangle[3])
{
    return mirrored[triangle[0]] + mirrored[triangle[1]] + mirrored[triangle[2]] >= 2;
}

bool topology_any_mirrored(const pelt_primitive *source, const uint8_t *mirrored)
{
    if (!mirrored || topology_simple(source->topology) != PELT_TOPOLOGY_TRIANGLES || source->vertex_count == 0 ||
        !memchr(mirrored, 1, source->vertex_count)) {
        return false;
    }
    uint64_t count = topology_element_count(source);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t triangle[3];
        triangle_at(source, i, triangle);
        if (is_mirrored(mirrored, triangle)) {
            return true;
        }
    }
    return false;
}

static void fill_triangles(const pelt_primitive *source, const uint8_t *mirrored, uint64_t count, uint32_t *out)
{
    for (uint64_t i = 0; i < count; i++) {
        uint32_t *triangle = &out[3 * i];
        triangle_at(source, i, triangle);
        if (mirrored && is_mirrored(mirrored, triangle)) {
            uint32_t second = triangle[1];
            triangle[1] = triangle[2];
            triangle[2] = second;
        }
    }
}

static void fill_lines(const pelt_primitive *source, uint64_t count, uint32_t *out)
{
    uint64_t step = source->topology == PELT_TOPOLOGY_LINES ? 2 : 1;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t next = i * step + 1;
        out[2 * i] = index_at(source, i * step);
        out[2 * i + 1] = index_at(source, next < source->index_count ? next : 0); // a loop ends where it began
    }
}

bool topology_build(const pelt_primitive *source, const uint8_t *mirrored, topology_list *out)
{
    pelt_topology simple = topology_simple(source->topology);
    uint64_t elements = topology_element_count(source);
    uint64_t per_element = simple == PELT_TOPOLOGY_TRIANGLES ? 3 : simple == PELT_TOPOLOGY_LINES ? 2 : 1;
    *out = (topology_list){.topology = simple, .count = elements * per_element};
    if (out->count == 0) {
        return true;
    }
    const uint8_t *turned = topology_any_mirrored(source, mirrored) ? mirrored : NULL;
    if (source->indices && source->topology == simple && !turned) {
        out->indices = source->indices;
        return true;
    }
    if (out->count > SIZE_MAX / sizeof(uint32_t)) {
        return false;
    }
    out->owned = malloc((size_t)out->count * sizeof(uint32_t));
    if (!out->owned) {
        return false;
    }
    out->indices = out->owned;
    if (simple == PELT_TOPOLOGY_TRIANGLES) {
        fill_triangles(source, turned, elements, out->owned);
    } else if (simple == PELT_TOPOLOGY_LINES) {
        fill_lines(source, elements, out->owned);
    } else {
        for (uint64_t i = 0; i < elements; i++) {
            out->owned[i] = index_at(source, i);
        }
    }
    return true;
}

void topology_release(topology_list *list)
{
    free(list->owned);
    *list = (topology_list){0};
}

// SPDX-License-Identifier: MIT
// Binary little-endian PLY: one vertex list over all primitives, triangles as faces, lines as edges.
#include "writers.h"

#include <math.h>

typedef struct ply_plan {
    uint32_t contents; // EXPORT_ flags of the vertex properties
    uint64_t vertices;
    uint64_t faces;
    uint64_t edges;
    bool uneven; // some primitives lack properties that others have
} ply_plan;

static uint32_t primitive_contents(const scene_primitive *p)
{
    return (p->normals ? EXPORT_NORMALS : 0u) | (export_attribute(p->source, "TEXCOORD_0", 2) ? EXPORT_TEXCOORDS : 0u) |
           (export_attribute(p->source, "COLOR_0", 3) ? EXPORT_COLORS : 0u);
}

static ply_plan plan_file(const scene *s)
{
    ply_plan plan = {0};
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        const pelt_primitive *source = s->primitives[k].source;
        pelt_topology topology = topology_simple(source->topology);
        plan.contents |= primitive_contents(&s->primitives[k]);
        plan.vertices += source->vertex_count;
        plan.faces += topology == PELT_TOPOLOGY_TRIANGLES ? topology_element_count(source) : 0;
        plan.edges += topology == PELT_TOPOLOGY_LINES ? topology_element_count(source) : 0;
    }
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        plan.uneven = plan.uneven || primitive_contents(&s->primitives[k]) != plan.contents;
    }
    return plan;
}

static void write_header(write_buffer *b, const ply_plan *plan)
{
    // Most readers know indices as int; uint only where int is too small.
    const char *index = plan->vertices <= INT32_MAX ? "int" : "uint";
    write_text(b, "ply\nformat binary_little_endian 1.0\ncomment Posed by Pelt %s\nelement vertex %llu\n",
               pelt_version(), (unsigned long long)plan->vertices);
    write_text(b, "property float x\nproperty float y\nproperty float z\n");
    if (plan->contents & EXPORT_NORMALS) {
        write_text(b, "property float nx\nproperty float ny\nproperty float nz\n");
    }
    if (plan->contents & EXPORT_TEXCOORDS) {
        write_text(b, "property float s\nproperty float t\n");
    }
    if (plan->contents & EXPORT_COLORS) {
        write_text(b, "property uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar alpha\n");
    }
    if (plan->faces) {
        write_text(b, "element face %llu\nproperty list uchar %s vertex_indices\n", (unsigned long long)plan->faces,
                   index);
    }
    if (plan->edges) {
        write_text(b, "element edge %llu\nproperty %s vertex1\nproperty %s vertex2\n", (unsigned long long)plan->edges,
                   index, index);
    }
    write_text(b, "end_header\n");
}

static uint32_t color_byte(float value)
{
    if (!(value > 0.0f)) {
        return 0;
    }
    return value < 1.0f ? (uint32_t)lroundf(value * 255.0f) : 255;
}

static void write_vertices(write_buffer *b, const scene_primitive *p, uint32_t contents)
{
    const pelt_attribute *texcoords = export_attribute(p->source, "TEXCOORD_0", 2);
    const pelt_attribute *colors = export_attribute(p->source, "COLOR_0", 3);
    for (uint32_t i = 0; i < p->source->vertex_count; i++) {
        b->done++;
        for (uint32_t j = 0; j < 3; j++) {
            write_f32(b, p->positions[3 * (size_t)i + j]);
        }
        for (uint32_t j = 0; (contents & EXPORT_NORMALS) && j < 3; j++) {
            write_f32(b, p->normals ? p->normals[3 * (size_t)i + j] : 0.0f);
        }
        if (contents & EXPORT_TEXCOORDS) {
            float t[2] = {0};
            if (texcoords) {
                export_texcoord(texcoords, i, t);
            }
            write_f32(b, t[0]);
            write_f32(b, t[1]);
        }
        if (contents & EXPORT_COLORS) {
            float color[4] = {1.0f, 1.0f, 1.0f, 1.0f}; // alpha of RGB colours stays 1
            if (colors) {
                pelt_attribute_read(colors, i, color);
            }
            for (uint32_t j = 0; j < 4; j++) {
                write_u8(b, color_byte(color[j]));
            }
        }
    }
}

// Elements of one kind, of all primitives: PLY keeps each kind together.
static int write_elements(const pose_export *e, write_buffer *b, pelt_topology topology)
{
    uint64_t base = 0;
    const uint64_t corners = topology == PELT_TOPOLOGY_TRIANGLES ? 3 : 2;
    for (uint32_t k = 0; k < e->scene->primitive_count; k++) {
        const scene_primitive *p = &e->scene->primitives[k];
        if (topology_simple(p->source->topology) == topology) {
            topology_list list;
            if (!topology_build(p->source, p->mirrored, &list)) {
                return export_out_of_memory(e);
            }
            for (uint64_t i = 0; i < list.count; i++) {
                b->done += i % corners == 0;
                if (corners == 3 && i % 3 == 0) {
                    write_u8(b, 3);
                }
                write_u32(b, (uint32_t)(base + list.indices[i]));
            }
            topology_release(&list);
        }
        base += p->source->vertex_count;
    }
    return CLI_DONE;
}

static int write_scene(const pose_export *e, write_buffer *b, const void *user)
{
    const ply_plan *plan = user;
    write_header(b, plan);
    for (uint32_t k = 0; k < e->scene->primitive_count; k++) {
        write_vertices(b, &e->scene->primitives[k], plan->contents);
    }
    int code = write_elements(e, b, PELT_TOPOLOGY_TRIANGLES);
    return code == CLI_DONE ? write_elements(e, b, PELT_TOPOLOGY_LINES) : code;
}

int write_ply(const pose_export *e)
{
    ply_plan plan = plan_file(e->scene);
    if (plan.vertices > UINT32_MAX) {
        return cli_fail(e->context, CLI_LIMIT, e->path, NULL, "write .npz instead",
                        "%llu vertices are more than a PLY file can index", (unsigned long long)plan.vertices);
    }
    int code = export_file(e, write_scene, &plan);
    if (code == CLI_DONE && plan.uneven) {
        cli_warn(e->context, e->path, NULL,
                 "not every primitive has the same attributes: where one lacks them, normals and texture coordinates "
                 "are 0 and colours white");
    }
    if (code == CLI_DONE) {
        export_warn_left_out(e, "PLY",
                             EXPORT_NORMALS | EXPORT_TEXCOORDS | EXPORT_COLORS | EXPORT_LINES | EXPORT_POINTS);
    }
    return code;
}

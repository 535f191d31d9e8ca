// SPDX-License-Identifier: MIT
// Wavefront OBJ: one object for each primitive, numbers with nine digits so that floats come back exactly.
#include "writers.h"

#include <string.h>

// Appends text to a name, with what would end or split it in OBJ replaced; long ones are cut between characters.
static void append_name(char *name, size_t capacity, const char *text)
{
    size_t used = strlen(name);
    for (const char *c = text; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if (used + 5 > capacity && (byte & 0xC0) != 0x80) {
            break; // room for a whole character would be gone
        }
        if (used + 1 >= capacity) {
            break;
        }
        bool kept = byte > 0x20 && byte != 0x7F && byte != '#' && byte != '\\';
        name[used++] = kept ? (char)byte : '_';
    }
    name[used] = '\0';
}

// "node.mesh.primitive": unique with the k in front of it.
static void object_name(const scene *s, uint32_t k, char name[512])
{
    const scene_primitive *p = &s->primitives[k];
    const char *node = scene_primitive_node(s, p)->name;
    const char *mesh = scene_primitive_mesh(s, p)->name;
    char end[16];
    name[0] = '\0';
    append_name(name, 240, node[0] ? node : "node");
    append_name(name, 250, ".");
    append_name(name, 490, mesh[0] ? mesh : "mesh");
    snprintf(end, sizeof end, ".%u", (unsigned)k);
    append_name(name, 512, end);
}

static void write_vertices(write_buffer *b, const scene_primitive *p, const pelt_attribute *texcoords)
{
    for (uint32_t i = 0; i < p->source->vertex_count; i++) {
        const float *v = &p->positions[3 * (size_t)i];
        write_text(b, "v %.9g %.9g %.9g\n", (double)v[0], (double)v[1], (double)v[2]);
        b->done++;
    }
    for (uint32_t i = 0; texcoords && i < p->source->vertex_count; i++) {
        float t[2];
        export_texcoord(texcoords, i, t);
        write_text(b, "vt %.9g %.9g\n", (double)t[0], (double)t[1]);
    }
    for (uint32_t i = 0; p->normals && i < p->source->vertex_count; i++) {
        const float *n = &p->normals[3 * (size_t)i];
        write_text(b, "vn %.9g %.9g %.9g\n", (double)n[0], (double)n[1], (double)n[2]);
    }
}

// Numbers count from 1 over the whole file, positions, texture coordinates and normals each on their own.
typedef struct obj_bases {
    uint64_t position;
    uint64_t texcoord; // 0 = this primitive has none
    uint64_t normal;
} obj_bases;

static void write_corner(write_buffer *b, const obj_bases *bases, uint32_t index)
{
    write_u8(b, ' ');
    write_decimal(b, bases->position + index);
    if (bases->texcoord || bases->normal) {
        write_u8(b, '/');
    }
    if (bases->texcoord) {
        write_decimal(b, bases->texcoord + index);
    }
    if (bases->normal) {
        write_u8(b, '/');
        write_decimal(b, bases->normal + index);
    }
}

static void write_elements(write_buffer *b, const topology_list *list, obj_bases bases)
{
    uint32_t corners = list->topology == PELT_TOPOLOGY_TRIANGLES ? 3 : list->topology == PELT_TOPOLOGY_LINES ? 2 : 1;
    uint8_t kind = corners == 3 ? 'f' : corners == 2 ? 'l' : 'p';
    if (corners < 3) {
        bases.normal = 0; // lines and points refer to no normals in OBJ
    }
    if (corners < 2) {
        bases.texcoord = 0;
    }
    for (uint64_t i = 0; i < list->count; i += corners) {
        b->done++;
        write_u8(b, kind);
        for (uint32_t j = 0; j < corners; j++) {
            write_corner(b, &bases, list->indices[i + j]);
        }
        write_u8(b, '\n');
    }
}

static void write_material(write_buffer *b, const pose_export *e, const pelt_primitive *source)
{
    char name[512] = "";
    if (source->material == PELT_NONE) {
        return;
    }
    append_name(name, sizeof name, pelt_gltf_material_name(e->gltf, source->material));
    if (name[0]) {
        write_text(b, "usemtl %s\n", name);
    } else {
        write_text(b, "usemtl material_%u\n", (unsigned)source->material);
    }
}

static int write_scene(const pose_export *e, write_buffer *b, const void *user)
{
    (void)user;
    obj_bases next = {1, 1, 1};
    write_text(b, "# Posed by Pelt %s\n", pelt_version());
    for (uint32_t k = 0; k < e->scene->primitive_count; k++) {
        const scene_primitive *p = &e->scene->primitives[k];
        const pelt_attribute *texcoords = export_attribute(p->source, "TEXCOORD_0", 2);
        topology_list list;
        char name[512];
        if (!topology_build(p->source, p->mirrored, &list)) {
            return export_out_of_memory(e);
        }
        object_name(e->scene, k, name);
        write_text(b, "o %s\n", name);
        write_vertices(b, p, texcoords);
        write_material(b, e, p->source);
        write_elements(b, &list,
                       (obj_bases){next.position, texcoords ? next.texcoord : 0, p->normals ? next.normal : 0});
        topology_release(&list);
        next.position += p->source->vertex_count;
        next.texcoord += texcoords ? p->source->vertex_count : 0;
        next.normal += p->normals ? p->source->vertex_count : 0;
    }
    return CLI_DONE;
}

int write_obj(const pose_export *e)
{
    int code = export_file(e, write_scene, NULL);
    if (code == CLI_DONE) {
        // Material names are there to be assigned again; what the materials are is not.
        export_warn_left_out(e, "OBJ", EXPORT_NORMALS | EXPORT_TEXCOORDS | EXPORT_LINES | EXPORT_POINTS);
    }
    return code;
}

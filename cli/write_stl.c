// SPDX-License-Identifier: MIT
// Binary STL: triangles with the normals of their planes, nothing else.
#include "writers.h"

#include <math.h>

// Zero where the triangle has no area, as the format asks for.
static void facet_normal(const float *a, const float *b, const float *c, float out[3])
{
    double u[3];
    double v[3];
    for (int i = 0; i < 3; i++) {
        u[i] = (double)b[i] - (double)a[i];
        v[i] = (double)c[i] - (double)a[i];
    }
    double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int i = 0; i < 3; i++) {
        out[i] = length > 0.0 ? (float)(n[i] / length) + 0.0f : 0.0f;
    }
}

static void write_facet(write_buffer *b, const scene_primitive *p, const uint32_t *triangle)
{
    const float *corners[3];
    float normal[3];
    for (int i = 0; i < 3; i++) {
        corners[i] = &p->positions[3 * (size_t)triangle[i]];
    }
    facet_normal(corners[0], corners[1], corners[2], normal);
    for (int i = 0; i < 3; i++) {
        write_f32(b, normal[i]);
    }
    for (int i = 0; i < 9; i++) {
        write_f32(b, corners[i / 3][i % 3]);
    }
    write_u16(b, 0);
}

static int write_scene(const pose_export *e, write_buffer *b, const void *user)
{
    const uint64_t *triangles = user;
    // Readers take a file that starts with "solid" for the text form.
    char header[80] = {0};
    snprintf(header, sizeof header, "Posed by Pelt %s", pelt_version());
    write_bytes(b, header, sizeof header);
    write_u32(b, (uint32_t)*triangles);
    for (uint32_t k = 0; k < e->scene->primitive_count; k++) {
        const scene_primitive *p = &e->scene->primitives[k];
        topology_list list;
        if (topology_simple(p->source->topology) != PELT_TOPOLOGY_TRIANGLES) {
            continue;
        }
        if (!topology_build(p->source, p->mirrored, &list)) {
            return export_out_of_memory(e);
        }
        b->done += p->source->vertex_count;
        for (uint64_t i = 0; i < list.count; i += 3) {
            b->done++;
            write_facet(b, p, &list.indices[i]);
        }
        topology_release(&list);
    }
    return CLI_DONE;
}

int write_stl(const pose_export *e)
{
    uint64_t triangles = 0;
    for (uint32_t k = 0; k < e->scene->primitive_count; k++) {
        const pelt_primitive *source = e->scene->primitives[k].source;
        if (topology_simple(source->topology) == PELT_TOPOLOGY_TRIANGLES) {
            triangles += topology_element_count(source);
        }
    }
    if (triangles == 0) {
        return cli_fail(e->context, CLI_UNSUPPORTED, e->path, NULL, "write .glb, .obj, .ply or .npz instead",
                        "STL holds only triangles, and the scene has none");
    }
    if (triangles > UINT32_MAX) {
        return cli_fail(e->context, CLI_LIMIT, e->path, NULL, "write .npz instead",
                        "%llu triangles are more than an STL file can count", (unsigned long long)triangles);
    }
    int code = export_file(e, write_scene, &triangles);
    if (code == CLI_DONE) {
        export_warn_left_out(e, "STL", 0);
    }
    return code;
}

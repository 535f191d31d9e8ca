// SPDX-License-Identifier: MIT
// Moves a posed scene from world space into the spaces of its mesh nodes.
#include "scene_internal.h"

#include <math.h>
#include <string.h>

typedef struct mesh_space {
    double world[12];   // world_from_node
    double inverse[12]; // node_from_world
    bool mirrored;      // the node mirrors
} mesh_space;

// Cofactors over the determinant. Below 1e-12 of the product of its rows' lengths the determinant is rounding only.
static bool mesh_space_init(const double *world, mesh_space *out)
{
    const double *m = world;
    double cofactor[9] = {
        m[5] * m[10] - m[6] * m[9], m[2] * m[9] - m[1] * m[10], m[1] * m[6] - m[2] * m[5],
        m[6] * m[8] - m[4] * m[10], m[0] * m[10] - m[2] * m[8], m[2] * m[4] - m[0] * m[6],
        m[4] * m[9] - m[5] * m[8],  m[1] * m[8] - m[0] * m[9],  m[0] * m[5] - m[1] * m[4],
    };
    double determinant = m[0] * cofactor[0] + m[1] * cofactor[3] + m[2] * cofactor[6];
    double lengths = 1.0;
    for (int i = 0; i < 3; i++) {
        lengths *= sqrt(m[4 * i] * m[4 * i] + m[4 * i + 1] * m[4 * i + 1] + m[4 * i + 2] * m[4 * i + 2]);
    }
    if (!isfinite(determinant) || !isfinite(lengths) || fabs(determinant) <= 1e-12 * lengths) {
        return false;
    }
    memcpy(out->world, world, sizeof out->world);
    out->mirrored = determinant < 0.0;
    for (int i = 0; i < 3; i++) {
        double *row = &out->inverse[4 * i];
        row[3] = 0.0;
        for (int j = 0; j < 3; j++) {
            row[j] = cofactor[3 * i + j] / determinant;
            row[3] -= row[j] * m[4 * j + 3];
        }
    }
    return true;
}

// Writes v / |v|; leaves out as it is where v has no direction.
static void write_direction(const double v[3], float *out)
{
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (length > 0.0 && isfinite(length)) {
        for (int i = 0; i < 3; i++) {
            out[i] = (float)(v[i] / length) + 0.0f;
        }
    }
}

// Directions in the surface go through node_from_world. Normals go through the transposed world_from_node, the inverse
// transpose of node_from_world, so that the viewer's inverse transpose of the node brings them back: pointing out there
// means pointing out here. A triangle that turned around in the world and one that the viewer will turn around itself,
// because the node mirrors, cancel out; so does the handedness of the tangents.
static void move_to_mesh_space(const mesh_space *space, scene_primitive *p)
{
    const double *inverse = space->inverse;
    const double *world = space->world;
    p->box = pelt_box_empty();
    for (size_t i = 0; i < p->source->vertex_count; i++) {
        float *position = &p->positions[3 * i];
        double x = (double)position[0];
        double y = (double)position[1];
        double z = (double)position[2];
        for (int j = 0; j < 3; j++) {
            const double *row = &inverse[4 * j];
            float value = (float)(row[0] * x + row[1] * y + row[2] * z + row[3]) + 0.0f;
            position[j] = value;
            p->box.min[j] = value < p->box.min[j] ? value : p->box.min[j];
            p->box.max[j] = value > p->box.max[j] ? value : p->box.max[j];
        }
        if (p->normals) {
            float *normal = &p->normals[3 * i];
            double v[3];
            for (int j = 0; j < 3; j++) {
                v[j] =
                    world[j] * (double)normal[0] + world[4 + j] * (double)normal[1] + world[8 + j] * (double)normal[2];
            }
            write_direction(v, normal);
        }
        if (p->tangents) {
            float *tangent = &p->tangents[4 * i];
            double v[3];
            for (int j = 0; j < 3; j++) {
                const double *row = &inverse[4 * j];
                v[j] = row[0] * (double)tangent[0] + row[1] * (double)tangent[1] + row[2] * (double)tangent[2];
            }
            write_direction(v, tangent);
            tangent[3] = space->mirrored ? -tangent[3] : tangent[3];
        }
        p->mirrored[i] ^= (uint8_t)space->mirrored;
    }
}

int scene_to_mesh_space(scene *s)
{
    scene_work *work = s->work;
    const pelt_asset_data *data = pelt_asset_get(s->asset);
    const pelt_mat34 identity = pelt_mat34_identity();
    int code = work->gpu ? scene_gpu_rest_rigid(s) : CLI_DONE;
    work->in_mesh_space = true;
    for (uint32_t k = 0; code == CLI_DONE && k < s->primitive_count; k++) {
        scene_primitive *p = &s->primitives[k];
        const pelt_instance *instance = &data->instances[p->instance];
        if (instance->skin == PELT_NONE) {
            // Morphs only: not even rounding then changes what the file has, and a node scaled to nothing is no matter.
            code = work->gpu ? CLI_DONE : scene_skin_primitive(s, p, &identity, 1, true);
        } else {
            mesh_space space;
            if (!mesh_space_init(pelt_pose_world_double(s->pose, instance->node), &space)) {
                char where[64];
                const pelt_node *node = scene_primitive_node(s, p);
                snprintf(where, sizeof where, "/nodes/%u", (unsigned)node->file_index);
                return cli_fail(s->context, CLI_INVALID, s->context->options.input, where, "use --space world",
                                "the transform of mesh node %u \"%s\" cannot be inverted, so its mesh has no mesh "
                                "space",
                                (unsigned)node->file_index, node->name);
            }
            move_to_mesh_space(&space, p);
            code = scene_check_finite(s, p, p->positions);
        }
    }
    return code;
}

// SPDX-License-Identifier: MIT
// The verb inspect: gathers facts in one pass over everything, then prints them.
#include "inspect.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *inspect_topology_name(pelt_topology topology)
{
    static const char *const names[] = {"points",    "lines",          "line loop",   "line strip",
                                        "triangles", "triangle strip", "triangle fan"};
    return (unsigned)topology < 7 ? names[topology] : "unknown";
}

const char *inspect_component_name(pelt_component component)
{
    switch (component) {
    case PELT_COMPONENT_I8:
        return "i8";
    case PELT_COMPONENT_U8:
        return "u8";
    case PELT_COMPONENT_I16:
        return "i16";
    case PELT_COMPONENT_U16:
        return "u16";
    case PELT_COMPONENT_U32:
        return "u32";
    case PELT_COMPONENT_F32:
        return "f32";
    }
    return "unknown";
}

const char *inspect_handedness(const inspect_skin *skin)
{
    if (skin->right_handed_count > 0 && skin->mirrored_count > 0) {
        return "mixed";
    }
    if (skin->mirrored_count > 0) {
        return "left";
    }
    return skin->right_handed_count > 0 ? "right" : "none";
}

static uint64_t count_triangles(const pelt_primitive *p)
{
    if (p->topology == PELT_TOPOLOGY_TRIANGLES) {
        return p->index_count / 3;
    }
    bool strip = p->topology == PELT_TOPOLOGY_TRIANGLE_STRIP || p->topology == PELT_TOPOLOGY_TRIANGLE_FAN;
    return strip && p->index_count > 2 ? p->index_count - 2 : 0;
}

static bool count_unreferenced(inspect_primitive *out)
{
    const pelt_primitive *p = out->source;
    if (!p->indices || p->vertex_count == 0) {
        return true;
    }
    uint8_t *seen = calloc(p->vertex_count, 1);
    if (!seen) {
        return false;
    }
    uint32_t referenced = 0;
    for (uint32_t i = 0; i < p->index_count; i++) {
        uint8_t *flag = &seen[p->indices[i]];
        referenced += *flag == 0;
        *flag = 1;
    }
    free(seen);
    out->unreferenced_count = p->vertex_count - referenced;
    return true;
}

static bool count_influences(inspect_primitive *out)
{
    const pelt_primitive *p = out->source;
    out->lowest_joint = PELT_NONE;
    if (p->influence_count == 0) {
        return true;
    }
    uint8_t *used = calloc((size_t)p->joint_bound + 1, 1);
    out->histogram = calloc((size_t)p->influence_count + 1, sizeof *out->histogram);
    if (!used || !out->histogram) {
        free(used);
        return false;
    }
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        uint32_t count = pelt_primitive_vertex_influences(p, v);
        out->histogram[count]++;
        for (uint32_t i = 0; i < count; i++) {
            used[p->joints[(size_t)v * p->influence_count + i]] = 1;
        }
    }
    for (uint32_t j = 0; j < p->joint_bound; j++) {
        out->used_joint_count += used[j];
    }
    out->used_joints = malloc(((size_t)out->used_joint_count + 1) * sizeof *out->used_joints);
    if (out->used_joints) {
        uint32_t count = 0;
        for (uint32_t j = 0; j < p->joint_bound; j++) {
            if (used[j]) {
                out->used_joints[count++] = j;
            }
        }
        out->lowest_joint = count > 0 ? out->used_joints[0] : PELT_NONE;
    }
    free(used);
    return out->used_joints != NULL;
}

// Position 12; normal and tangent 4 each, octahedral; four weights in 4, four 8-bit joints of a run in 4, and 4 for
// each influence past the fourth. Rigid meshes have neither weights nor joints.
static void measure_vertex(inspect_primitive *out)
{
    const pelt_primitive *p = out->source;
    uint32_t more = p->influence_count > 4 ? p->influence_count - 4 : 0;
    uint32_t normal = p->normals ? 4 : 0;
    uint32_t tangent = p->tangents ? 4 : 0;
    out->packed_written_size = 12 + normal + tangent;
    out->packed_read_size = out->packed_written_size + (p->influence_count ? 8 + 4 * more : 0);
    out->plain_size = 12 + (p->normals ? 12u : 0u) + (p->tangents ? 16u : 0u) + 6 * p->influence_count;
}

static pelt_box measure_box(const pelt_primitive *p)
{
    pelt_box box = pelt_box_empty();
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        for (size_t k = 0; k < 3; k++) {
            float x = p->positions[(size_t)v * 3 + k];
            box.min[k] = x < box.min[k] ? x : box.min[k];
            box.max[k] = x > box.max[k] ? x : box.max[k];
        }
    }
    return box;
}

static bool gather_meshes(inspect_facts *facts)
{
    const pelt_asset_data *data = facts->data;
    facts->first_primitive = calloc((size_t)data->mesh_count + 1, sizeof *facts->first_primitive);
    if (!facts->first_primitive) {
        return false;
    }
    for (uint32_t m = 0; m < data->mesh_count; m++) {
        facts->first_primitive[m] = facts->primitive_count;
        facts->primitive_count += data->meshes[m].primitive_count;
    }
    facts->first_primitive[data->mesh_count] = facts->primitive_count;
    facts->primitives = calloc((size_t)facts->primitive_count + 1, sizeof *facts->primitives);
    if (!facts->primitives) {
        return false;
    }
    for (uint32_t m = 0; m < data->mesh_count; m++) {
        for (uint32_t i = 0; i < data->meshes[m].primitive_count; i++) {
            inspect_primitive *out = &facts->primitives[facts->first_primitive[m] + i];
            out->mesh = m;
            out->index = i;
            out->source = &data->meshes[m].primitives[i];
            out->triangle_count = count_triangles(out->source);
            out->bind_box = measure_box(out->source);
            measure_vertex(out);
            facts->vertex_count += out->source->vertex_count;
            facts->triangle_count += out->triangle_count;
            if (!count_unreferenced(out) || !count_influences(out)) {
                return false;
            }
        }
    }
    return true;
}

static bool gather_nodes(inspect_facts *facts)
{
    const pelt_asset_data *data = facts->data;
    facts->node_depth = calloc((size_t)data->node_count + 1, sizeof *facts->node_depth);
    facts->node_clips = calloc((size_t)data->node_count + 1, sizeof *facts->node_clips);
    if (!facts->node_depth || !facts->node_clips) {
        return false;
    }
    for (uint32_t i = 0; i < data->node_count; i++) {
        const pelt_node *node = &data->nodes[i];
        facts->node_depth[i] = node->parent == PELT_NONE ? 1 : facts->node_depth[node->parent] + 1;
        facts->depth = facts->node_depth[i] > facts->depth ? facts->node_depth[i] : facts->depth;
        facts->scene_node_count += node->in_scene;
        facts->matrix_node_count += node->has_matrix;
    }
    return true;
}

// Sums per mesh first, so that many instances of a mesh of many primitives cost one step each.
static bool gather_placed(inspect_facts *facts)
{
    const pelt_asset_data *data = facts->data;
    uint64_t *sums = calloc((size_t)data->mesh_count * 2 + 1, sizeof *sums);
    if (!sums) {
        return false;
    }
    for (uint32_t i = 0; i < facts->primitive_count; i++) {
        const inspect_primitive *p = &facts->primitives[i];
        sums[(size_t)p->mesh * 2] += p->source->vertex_count;
        sums[(size_t)p->mesh * 2 + 1] += p->triangle_count;
    }
    for (uint32_t i = 0; i < data->instance_count; i++) {
        facts->placed_vertex_count += sums[(size_t)data->instances[i].mesh * 2];
        facts->placed_triangle_count += sums[(size_t)data->instances[i].mesh * 2 + 1];
    }
    free(sums);
    return true;
}

static bool gather_clips(inspect_facts *facts)
{
    const pelt_asset_data *data = facts->data;
    facts->clips = calloc((size_t)data->clip_count + 1, sizeof *facts->clips);
    if (!facts->clips) {
        return false;
    }
    for (uint32_t c = 0; c < data->clip_count; c++) {
        const pelt_clip *clip = &data->clips[c];
        inspect_clip *out = &facts->clips[c];
        for (uint32_t i = 0; i < clip->sampler_count; i++) {
            float first = clip->samplers[i].times[0];
            out->first_key = i == 0 || first < out->first_key ? first : out->first_key;
            out->key_count += clip->samplers[i].key_count;
        }
        uint32_t last = PELT_NONE;
        for (uint32_t i = 0; i < clip->channel_count; i++) {
            const pelt_channel *channel = &clip->channels[i];
            out->counts[clip->samplers[channel->sampler].interpolation]++;
            out->paths[channel->path]++;
            if (channel->node != last) {
                last = channel->node;
                out->node_count++;
                out->joint_count += facts->joint_offset[last + 1] > facts->joint_offset[last];
                facts->node_clips[last]++;
            }
        }
    }
    return true;
}

int inspect_gather(cli_context *context, pelt_gltf *gltf, const pelt_asset *asset, inspect_facts *out)
{
    *out = (inspect_facts){.gltf = gltf, .data = pelt_asset_get(asset), .size = pelt_gltf_source_size(gltf)};
    if (context->cooked) {
        struct stat info;
        out->cooked = pelt_cooked_get(context->cooked);
        out->size = stat(context->options.input, &info) == 0 ? (uint64_t)info.st_size : 0;
    }
    if (gather_meshes(out) && gather_nodes(out) && gather_placed(out) && inspect_gather_skins(asset, out) &&
        gather_clips(out)) {
        return CLI_DONE;
    }
    inspect_release(out);
    return cli_fail(context, CLI_LIMIT, context->options.input, NULL, "free memory, or split the file",
                    "out of memory");
}

void inspect_release(inspect_facts *facts)
{
    for (uint32_t i = 0; facts->primitives && i < facts->primitive_count; i++) {
        free(facts->primitives[i].histogram);
        free(facts->primitives[i].used_joints);
    }
    free(facts->primitives);
    free(facts->first_primitive);
    free(facts->skins);
    free(facts->clips);
    free(facts->node_depth);
    free(facts->node_clips);
    free(facts->joint_offset);
    free(facts->joints);
    *facts = (inspect_facts){0};
}

int cli_inspect(cli_context *context)
{
    pelt_gltf *gltf = NULL;
    pelt_asset *asset = NULL;
    inspect_facts facts = {0};
    int code = cli_load(context, &gltf, &asset);
    if (code != CLI_DONE) {
        return code;
    }
    code = inspect_gather(context, gltf, asset, &facts);
    if (code == CLI_DONE) {
        if (context->options.json) {
            code = cli_print_json(context, inspect_json(context, &facts));
        } else {
            inspect_print_text(context, &facts);
            if (context->options.tree) {
                inspect_print_tree(&facts);
            }
        }
        inspect_release(&facts);
    }
    pelt_asset_destroy(asset);
    pelt_gltf_close(gltf);
    return code;
}

// SPDX-License-Identifier: MIT
// vertex_shader: skinning as most renderers have it, without a buffer between. Every pass that draws a mesh skins it
// anew in the vertex shader, from attributes of 36 bytes (float positions, packed normals and tangents, 16-bit joints,
// unorm weights) and four 3x4 matrices of a storage buffer; normals go through the cofactor of the blend. Instances of
// one mesh that stand side by side are one instanced draw. A record has any number of passes, so that the number from
// which skinning once pays can be found. There is no box.
// draw_skinned: the passes that are left when the scene was skinned before: the same pipeline on 20 bytes a vertex, and
// a draw for each instance, since each has vertices of its own.
// Scenes have no indices, so vertices are drawn as points, each of which the vertex shader sees exactly once, as with
// an index buffer and a cache that never misses. The camera is one that no point is in front of, and the target is
// small: rasterisation adds nothing but the clipping. Clip coordinates, world position, normal and tangent are handed
// to the fragment shader, which reads them all.
#include "vk_raster.h"

#include <math.h>
#include <stdlib.h>

static const uint32_t vertex_words[] =
#include "baseline_vertex_shader.vert.inc"
    ;
static const uint32_t draw_words[] =
#include "baseline_draw_skinned.vert.inc"
    ;

enum {
    MATRIX_SIZE = 48,
    STREAMS = 5,
    DRAWN_STREAMS = 3, // of draw_skinned
    FULL = 65535       // code of a weight of one
};

typedef struct draw {
    uint32_t vertex_count;
    uint32_t instance_count;
    uint32_t first_vertex;
    uint32_t first_instance;
} draw;

typedef struct raster_state {
    bvk vk;
    bvk_table table;
    bvk_raster raster;
    bvk_buffer streams[STREAMS]; // positions, normals, tangents, joints, weights
    uint32_t stream_count;
    bvk_buffer matrices;
    bvk_buffer first_matrices; // of each instance
    draw *draws;
    uint32_t draw_count;
    uint32_t passes;
} raster_state;

// ---- formats

// Codes whose sum is exactly 65535: rounded down, then those that lost most get what is missing.
static void pack_weights(const float given[4], uint16_t codes[4])
{
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += (double)given[i];
    }
    double lost[4];
    int missing = FULL;
    for (int i = 0; i < 4; i++) {
        double exact = sum > 0 ? (double)given[i] / sum * FULL : 0;
        codes[i] = (uint16_t)floor(exact);
        lost[i] = exact - (double)codes[i];
        missing -= codes[i];
    }
    for (; missing > 0 && sum > 0; missing--) {
        int most = 0;
        for (int i = 1; i < 4; i++) {
            most = lost[i] > lost[most] ? i : most;
        }
        codes[most]++;
        lost[most] -= 1;
    }
}

static void used_weights(const float given[4], float used[4])
{
    uint16_t codes[4];
    pack_weights(given, codes);
    for (int i = 0; i < 4; i++) {
        used[i] = (float)codes[i] / (float)FULL;
    }
}

static void encode_weights(const baseline_vk_mesh *mesh, void *out)
{
    uint16_t *codes = out;
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        pack_weights(mesh->weights + i * 4, codes + i * 4);
    }
}

static const bvk_raster_input skin_input = {
    .words = vertex_words,
    .size = sizeof vertex_words,
    .stream_count = STREAMS,
    .formats = {VK_FORMAT_R32G32B32_SFLOAT, VK_FORMAT_R32_UINT, VK_FORMAT_R32_UINT, VK_FORMAT_R16G16B16A16_UINT,
                VK_FORMAT_R16G16B16A16_UNORM},
    .strides = {12, 4, 4, 8, 8},
};

static const bvk_raster_input draw_input = {
    .words = draw_words,
    .size = sizeof draw_words,
    .stream_count = DRAWN_STREAMS,
    .formats = {VK_FORMAT_R32G32B32_SFLOAT, VK_FORMAT_R32_UINT, VK_FORMAT_R32_UINT},
    .strides = {12, 4, 4},
};

// ---- creation

static void destroy(void *state)
{
    raster_state *s = state;
    if (!s) {
        return;
    }
    for (uint32_t i = 0; i < STREAMS; i++) {
        bvk_buffer_destroy(&s->vk, &s->streams[i]);
    }
    bvk_buffer_destroy(&s->vk, &s->matrices);
    bvk_buffer_destroy(&s->vk, &s->first_matrices);
    bvk_raster_destroy(&s->vk, &s->raster);
    bvk_close(&s->vk);
    bvk_table_destroy(&s->table);
    free(s->draws);
    free(s);
}

// merge: instances of one mesh side by side become one draw of the mesh's vertices; otherwise each has vertices of its
// own, end to end.
static bool list_draws(raster_state *s, bool merge)
{
    const bvk_table *table = &s->table;
    s->draws = calloc((size_t)table->instance_count + 1, sizeof *s->draws);
    if (!s->draws) {
        return bvk_fail(&s->vk, "out of memory");
    }
    for (uint32_t i = 0; i < table->instance_count; i++) {
        if (merge && i > 0 && table->meshes[i] == table->meshes[i - 1]) {
            s->draws[s->draw_count - 1].instance_count++;
        } else {
            uint32_t first = merge ? table->mesh_firsts[table->meshes[i]] : table->firsts[i];
            s->draws[s->draw_count++] = (draw){bvk_table_count(table, i), 1, first, i};
        }
    }
    return true;
}

static bool upload_meshes(raster_state *s, const baseline_vk_scene *scene, uint32_t stream_count, bvk_buffer *streams)
{
    static bvk_encode *const encodes[STREAMS] = {bvk_encode_positions, bvk_encode_normals, bvk_encode_tangents,
                                                 bvk_encode_joints16, encode_weights};
    bool uploaded = true;
    for (uint32_t i = 0; i < stream_count && uploaded; i++) {
        uploaded = bvk_upload_meshes(&s->vk, scene, skin_input.strides[i], encodes[i], &streams[i]);
    }
    return uploaded;
}

static bool build_skin(raster_state *s, const baseline_vk_scene *scene)
{
    const bvk *vk = &s->vk;
    s->stream_count = STREAMS;
    return list_draws(s, true) && upload_meshes(s, scene, STREAMS, s->streams) &&
           bvk_upload_matrices(vk, scene, MATRIX_SIZE, bvk_encode_mat34, &s->matrices) &&
           bvk_upload(vk, s->table.matrix_firsts, s->table.instance_count * sizeof *s->table.matrix_firsts,
                      &s->first_matrices) &&
           bvk_raster_create(vk, &skin_input, &s->raster);
}

// Each instance's vertices out of those of its mesh.
static bool spread(raster_state *s, const bvk_buffer *meshes, const bvk_buffer *streams)
{
    const bvk *vk = &s->vk;
    const bvk_table *table = &s->table;
    if (!bvk_begin(vk)) {
        return false;
    }
    for (uint32_t stream = 0; stream < DRAWN_STREAMS; stream++) {
        VkDeviceSize stride = draw_input.strides[stream];
        for (uint32_t i = 0; i < table->instance_count; i++) {
            VkBufferCopy region = {table->mesh_firsts[table->meshes[i]] * stride, table->firsts[i] * stride,
                                   bvk_table_count(table, i) * stride};
            if (region.size > 0) {
                vk->vkCmdCopyBuffer(vk->commands, meshes[stream].buffer, streams[stream].buffer, 1, &region);
            }
        }
    }
    return bvk_run(vk);
}

static bool build_draw(raster_state *s, const baseline_vk_scene *scene)
{
    const bvk *vk = &s->vk;
    VkDeviceSize count = s->table.firsts[s->table.instance_count];
    bvk_buffer meshes[DRAWN_STREAMS] = {{0}};
    s->stream_count = DRAWN_STREAMS;
    bool built = list_draws(s, false) && upload_meshes(s, scene, DRAWN_STREAMS, meshes);
    for (uint32_t i = 0; i < DRAWN_STREAMS && built; i++) {
        built = bvk_buffer_create(vk, count * draw_input.strides[i], &s->streams[i]);
    }
    built = built && spread(s, meshes, s->streams) && bvk_raster_create(vk, &draw_input, &s->raster);
    for (uint32_t i = 0; i < DRAWN_STREAMS; i++) {
        bvk_buffer_destroy(vk, &meshes[i]);
    }
    return built;
}

static bool create(const baseline_vk_device *device, const baseline_vk_scene *scene, bool skins, void **state,
                   char *message)
{
    raster_state *s = bvk_state(sizeof *s, message);
    *state = s;
    if (s && bvk_open(&s->vk, device, message) && bvk_table_create(&s->vk, scene, &s->table) &&
        (skins ? build_skin(s, scene) : build_draw(s, scene))) {
        s->passes = 1;
        return true;
    }
    destroy(s);
    *state = NULL;
    return false;
}

static bool create_skin(const baseline_vk_device *device, const baseline_vk_scene *scene, bool bounds, void **state,
                        char *message)
{
    (void)bounds;
    return create(device, scene, true, state, message);
}

static bool create_draw(const baseline_vk_device *device, const baseline_vk_scene *scene, bool bounds, void **state,
                        char *message)
{
    (void)bounds;
    return create(device, scene, false, state, message);
}

// ---- passes

void baseline_vk_vertex_shader_passes(void *state, uint32_t passes)
{
    ((raster_state *)state)->passes = passes;
}

static void prepare(const raster_state *s, VkCommandBuffer commands, const bvk_raster_push *given)
{
    VkBuffer buffers[STREAMS];
    VkDeviceSize offsets[STREAMS] = {0};
    for (uint32_t i = 0; i < s->stream_count; i++) {
        buffers[i] = s->streams[i].buffer;
    }
    bvk_raster_push push = *given;
    push.palette = s->matrices.address;
    push.first_matrices = s->first_matrices.address;
    s->vk.vkCmdBindVertexBuffers(commands, 0, s->stream_count, buffers, offsets);
    s->vk.vkCmdPushConstants(commands, s->raster.layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof push, &push);
}

static void record(void *state, VkCommandBuffer commands)
{
    raster_state *s = state;
    const bvk_raster_push push = bvk_raster_away();
    for (uint32_t pass = 0; pass < s->passes; pass++) {
        bvk_raster_begin(&s->vk, commands, &s->raster, s->raster.draw, &s->raster.target);
        prepare(s, commands, &push);
        for (uint32_t i = 0; i < s->draw_count; i++) {
            const draw *d = &s->draws[i];
            if (d->vertex_count > 0) {
                s->vk.vkCmdDraw(commands, d->vertex_count, d->instance_count, d->first_vertex, d->first_instance);
            }
        }
        s->vk.vkCmdEndRenderPass(commands);
    }
}

// A vertex of a pass: 36 bytes of attributes, the start of the instance's palette, four matrices.
static double requested_skin(const void *state)
{
    const raster_state *s = state;
    return (double)s->passes * (36 + 4 + 4 * MATRIX_SIZE);
}

// A vertex of a pass: 20 bytes of attributes.
static double requested_draw(const void *state)
{
    const raster_state *s = state;
    return (double)s->passes * 20;
}

// ---- reading back

typedef struct one_draw {
    const raster_state *state;
    draw draw;
} one_draw;

static void draw_one(void *context, VkCommandBuffer commands, const bvk_raster_push *push)
{
    const one_draw *one = context;
    prepare(one->state, commands, push);
    one->state->vk.vkCmdDraw(commands, one->draw.vertex_count, 1, one->draw.first_vertex, one->draw.first_instance);
}

static bool read_from(raster_state *s, uint32_t instance, uint32_t first_vertex, baseline_vk_output *out, char *message)
{
    s->vk.message = message;
    uint32_t count = bvk_table_count(&s->table, instance);
    one_draw one = {s, {count, 1, first_vertex, instance}};
    return bvk_raster_read(&s->vk, &s->raster, first_vertex, count, draw_one, &one, out);
}

static bool read_skin(void *state, uint32_t instance, baseline_vk_output *out, char *message)
{
    raster_state *s = state;
    return read_from(s, instance, s->table.mesh_firsts[s->table.meshes[instance]], out, message);
}

static bool read_draw(void *state, uint32_t instance, baseline_vk_output *out, char *message)
{
    raster_state *s = state;
    return read_from(s, instance, s->table.firsts[instance], out, message);
}

const baseline_vk_contender bvk_vertex_shader = {
    .name = "vertex_shader",
    .what = "no compute pass: the vertex shader skins in each pass that draws, no outputs kept, no box",
    .needs_graphics = true,
    .normals = BASELINE_VK_NORMALS_COFACTOR,
    .weights = used_weights,
    .create = create_skin,
    .record = record,
    .requested_bytes = requested_skin,
    .read = read_skin,
    .destroy = destroy,
};

const baseline_vk_contender baseline_vk_draw_skinned = {
    .name = "draw_skinned",
    .what = "a pass that draws what was skinned before, 20 bytes a vertex",
    .needs_graphics = true,
    .create = create_draw,
    .record = record,
    .requested_bytes = requested_draw,
    .read = read_draw,
    .destroy = destroy,
};

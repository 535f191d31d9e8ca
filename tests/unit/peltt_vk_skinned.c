// SPDX-License-Identifier: MIT
// Random packed meshes in device memory.
#include "peltt_vk_skinned.h"

#include <pelt/cook.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    LIST_MOST = 32,
    EXTRAS_MOST = PELTT_VK_SKINNED_INFLUENCES - 4,
    EXTRA_STEPS = 65535
};

// What is being made.
typedef struct maker {
    peltt_vk_skinned *s;
    peltt_vk_passes *passes;
    peltt_random *random;
    uint32_t extra_count;
} maker;

static void *allocate(uint64_t count, uint64_t size)
{
    void *data = calloc(count + 1, size);
    assert_non_null(data);
    return data;
}

static void random_direction(peltt_random *random, float out[4])
{
    double length2 = 0.0;
    do {
        length2 = 0.0;
        for (int k = 0; k < 3; k++) {
            out[k] = peltt_random_float(random, -1.0F, 1.0F);
            length2 += (double)out[k] * (double)out[k];
        }
    } while (length2 < 0.01);
    out[3] = peltt_random_chance(random, 0.5) ? 1.0F : -1.0F;
}

static pelt_mat34 random_rotation(peltt_random *random)
{
    pelt_trs trs = pelt_trs_identity();
    float q[4];
    random_direction(random, q);
    trs.rotation = (pelt_quat){q[0], q[1], q[2], peltt_random_float(random, -1.0F, 1.0F)};
    return pelt_mat34_from_trs(&trs);
}

// Factors of the three columns that make a matrix hard to invert, or that reach for the ends of floats.
static void harsh_factors(peltt_random *random, float factors[3])
{
    float small = ldexpf(1.0F, -(int)peltt_random_below(random, 30));
    float power = ldexpf(1.0F, 30 + (int)peltt_random_below(random, 60));
    const float kinds[][3] = {
        {1.0F, 1.0F, 0.0F},    // flattened
        {1.0F, 0.0F, 0.0F},    // to a line
        {0.0F, 0.0F, 0.0F},    // to a point
        {-1.0F, 1.0F, 1.0F},   // mirrored
        {1.0F, small, 1.0F},   // nearly flat
        {1.0F, small, small},  // nearly a line
        {power, power, power}, // huge
        {1.0F / power, 1.0F / power, 1.0F / power},
    };
    memcpy(factors, kinds[peltt_random_below(random, 8)], sizeof kinds[0]);
}

// A rotation times scales; the harsh ones also without a rotation, or between two, where rows come out nearly parallel.
static pelt_mat34 random_matrix(peltt_random *random, bool harsh)
{
    float factors[3];
    for (int k = 0; k < 3; k++) {
        factors[k] = peltt_random_float(random, 0.5F, 1.5F);
    }
    uint32_t rotations = 1;
    if (harsh) {
        harsh_factors(random, factors);
        rotations = peltt_random_below(random, 3);
    }
    pelt_mat34 m = rotations > 0 ? random_rotation(random) : pelt_mat34_identity();
    for (int i = 0; i < 9; i++) {
        m.m[i / 3][i % 3] *= factors[i % 3];
    }
    if (rotations > 1) {
        pelt_mat34 second = random_rotation(random);
        m = pelt_mat34_multiply(&m, &second);
    }
    for (int k = 0; k < 3; k++) {
        m.m[k][3] = peltt_random_float(random, -4.0F, 4.0F);
    }
    return m;
}

static void make_palette(const maker *m)
{
    peltt_vk_skinned *s = m->s;
    s->palette = peltt_vk_passes_take(m->passes, s->shape.joint_count * sizeof(pelt_mat34), &s->instance.palette);
    for (uint32_t j = 0; j < s->shape.joint_count; j++) {
        s->palette[j] = random_matrix(m->random, s->shape.harsh);
    }
    if (s->shape.joint_count > 1 && !s->shape.calm) {
        for (int i = 0; i < 12; i++) {
            s->palette[s->shape.joint_count - 1].m[i / 4][i % 4] = NAN;
        }
    }
    s->instance.palette_count = s->shape.joint_count;
}

static void make_vertices(const maker *m)
{
    peltt_vk_skinned *s = m->s;
    uint32_t count = s->shape.vertex_count;
    uint64_t normals = 0;
    uint64_t tangents = 0;
    uint32_t blocks = (count + GPU_BLOCK - 1) / GPU_BLOCK;
    s->positions = allocate(count, sizeof(float) * 3);
    s->blocks = peltt_vk_passes_take(m->passes, blocks * GPU_BLOCK * sizeof(float) * 3, &s->mesh.positions);
    s->normals = peltt_vk_passes_take(m->passes, count * sizeof(uint32_t), &normals);
    s->tangents = peltt_vk_passes_take(m->passes, count * sizeof(uint32_t), &tangents);
    s->mesh.normals = s->shape.no_normals ? 0 : normals;
    s->mesh.tangents = s->shape.no_tangents ? 0 : tangents;
    for (uint32_t i = 0; i < count; i++) {
        float v[4];
        for (int k = 0; k < 3; k++) {
            s->positions[i * 3 + (uint32_t)k] = peltt_random_float(m->random, -2.0F, 2.0F);
        }
        random_direction(m->random, v);
        s->normals[i] = pelt_normal_encode(v);
        random_direction(m->random, v);
        s->tangents[i] = pelt_tangent_encode(v);
    }
    for (int p = 0; p < 2; p++) {
        s->out_positions[p] = peltt_vk_passes_take(m->passes, count * sizeof(float) * 3, &s->instance.positions[p]);
    }
    s->out_normals = peltt_vk_passes_take(m->passes, count * sizeof(uint32_t), &normals);
    s->out_tangents = peltt_vk_passes_take(m->passes, count * sizeof(uint32_t), &tangents);
    s->instance.normals = s->shape.omit_normals ? 0 : normals;
    s->instance.tangents = s->shape.omit_tangents ? 0 : tangents;
}

// --- influences

// A joint that a vertex may follow: one of the list, or of the palette, and in neither case the last one.
static uint16_t pick_joint(const maker *m, const uint16_t *list, uint32_t list_count)
{
    uint32_t bound = list_count > 0 ? list_count : m->s->shape.joint_count;
    uint32_t index = bound > 1 ? peltt_random_below(m->random, bound - 1) : 0;
    return list_count > 0 ? list[index] : (uint16_t)index;
}

// Weights of a vertex that follows up to influence_count joints; slots without weight name the last joint.
static void make_influences(const maker *m, uint32_t vertex, const uint16_t *list, uint32_t list_count)
{
    peltt_vk_skinned *s = m->s;
    uint32_t most = s->shape.influence_count < 4 ? s->shape.influence_count : 4;
    uint32_t count = 1 + peltt_random_below(m->random, most);
    uint16_t joints[4];
    float weights[4] = {0};
    for (uint32_t i = 0; i < 4; i++) {
        joints[i] = i < count ? pick_joint(m, list, list_count) : joints[0]; // plain codes leave a rest to one of these
        weights[i] = i < count ? peltt_random_float(m->random, 0.01F, 1.0F) : 0.0F;
        if (i < count && peltt_random_chance(m->random, 0.2)) {
            weights[i] = 1.0F; // equal ones
        }
    }
    uint8_t order[4];
    double decoded[4];
    s->weights[vertex] = pelt_weights_encode((pelt_weight_encoding)s->shape.encoding, weights, order);
    peltt_vk_skinned_weights(s->shape.encoding, s->weights[vertex], decoded);
    for (uint32_t slot = 0; slot < 4; slot++) {
        bool idle = decoded[slot] == 0.0;
        s->joints[vertex * 4 + slot] = idle ? (uint16_t)(s->shape.joint_count - 1) : joints[order[slot]];
    }
}

static void make_extras(maker *m, uint32_t vertex, bool wide)
{
    peltt_vk_skinned *s = m->s;
    s->first_extras[vertex] = m->extra_count;
    uint32_t left = EXTRA_STEPS - 1;
    uint32_t count = wide ? peltt_random_below(m->random, EXTRAS_MOST + 1) : 0;
    for (uint32_t i = 0; i < count && left > 1; i++) {
        uint32_t weight = 1 + peltt_random_below(m->random, i == 0 ? left : left / 2);
        left -= weight;
        s->extras[m->extra_count] = pick_joint(m, NULL, 0) | weight << 16;
        m->extra_count++;
    }
    s->first_extras[vertex + 1] = m->extra_count;
}

// A rising list that ends with the palette's last joint; returns its length.
static uint32_t make_list(const maker *m, uint16_t list[LIST_MOST])
{
    uint32_t joint_count = m->s->shape.joint_count;
    uint32_t most = joint_count < LIST_MOST ? joint_count : LIST_MOST;
    uint32_t want = 1 + peltt_random_below(m->random, most);
    uint32_t count = 0;
    bool without_gaps = peltt_random_chance(m->random, 0.4);
    for (uint32_t j = joint_count - want; without_gaps && j + 1 < joint_count; j++) {
        list[count++] = (uint16_t)j;
    }
    for (uint32_t j = 0; !without_gaps && j + 1 < joint_count && count + 1 < want; j++) {
        if (peltt_random_below(m->random, joint_count) < want) {
            list[count++] = (uint16_t)j;
        }
    }
    if (count == 0 && joint_count > 1) {
        list[count++] = 0;
    }
    list[count++] = (uint16_t)(joint_count - 1);
    return count;
}

static uint32_t index_in(const uint16_t *list, uint32_t count, uint16_t joint)
{
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] == joint) {
            return i;
        }
    }
    fail();
    return 0;
}

// Everything of an item but where it begins.
static void make_item(maker *m, gpu_item *item, uint16_t *run_joints, uint32_t *run_joint_count, char *joints,
                      uint32_t *wide_count, uint32_t *offsets)
{
    peltt_vk_skinned *s = m->s;
    uint32_t layout = s->shape.joint_layout;
    bool listed = layout == GPU_JOINTS_RUN;
    bool wide = s->shape.influence_count > 4;
    uint16_t *list = run_joints + *run_joint_count;
    item->first_joint = *run_joint_count;
    uint32_t joint_count = listed ? make_list(m, list) : 0;
    item->joints = GPU_ITEM_JOINTS(joint_count, layout, s->shape.influence_count);
    *run_joint_count += joint_count;
    item->joint_base = GPU_NO_BASE;
    if (listed && list[joint_count - 1] - list[0] == (int)joint_count - 1) {
        item->joint_base = list[0];
    }
    item->wide_start = wide ? peltt_random_below(m->random, item->vertex_count + 1) : item->vertex_count;
    item->first_wide = *wide_count;
    for (uint32_t i = 0; i < item->vertex_count; i++) {
        uint32_t vertex = item->first_vertex + i;
        make_influences(m, vertex, list, joint_count);
        make_extras(m, vertex, i >= item->wide_start);
        if (i >= item->wide_start) {
            offsets[(*wide_count)++] = s->first_extras[vertex];
        }
        for (uint32_t slot = 0; slot < 4; slot++) {
            uint16_t joint = s->joints[vertex * 4 + slot];
            char *at = joints + (size_t)item->first_joint_word * 4;
            if (layout == GPU_JOINTS_DIRECT16) {
                memcpy(at + ((size_t)i * 4 + slot) * 2, &joint, sizeof joint);
            } else {
                at[i * 4 + slot] = (char)(listed ? index_in(list, joint_count, joint) : joint);
            }
        }
    }
    offsets[*wide_count] = m->extra_count;
}

static void make_items(maker *m)
{
    peltt_vk_skinned *s = m->s;
    uint32_t vertices = s->shape.vertex_count;
    bool rigid = s->shape.joint_layout == GPU_JOINTS_NONE;
    s->item_count = vertices == 0 ? 1 : (vertices + s->shape.item_vertices - 1) / s->shape.item_vertices;
    char *record =
        peltt_vk_passes_take(m->passes, sizeof s->mesh + s->item_count * sizeof *s->items, &s->instance.mesh);
    s->items = (gpu_item *)(void *)(record + sizeof s->mesh); // the mesh's own record is written last
    s->joints = allocate(vertices * 4, sizeof *s->joints);
    s->first_extras = allocate(vertices + 1, sizeof *s->first_extras);
    uint64_t words = s->shape.joint_layout == GPU_JOINTS_DIRECT16 ? 2 : 1;
    uint64_t list_size = (s->item_count * LIST_MOST + 1) / 2 * 4;
    s->device_joints = peltt_vk_passes_take(m->passes, rigid ? 0 : vertices * words * 4, &s->mesh.joints);
    s->weights = peltt_vk_passes_take(m->passes, rigid ? 0 : vertices * 4, &s->mesh.weights);
    uint16_t *run_joints = peltt_vk_passes_take(m->passes, rigid ? 0 : list_size, &s->mesh.run_joints);
    uint32_t *offsets = peltt_vk_passes_take(m->passes, rigid ? 0 : (vertices + 1) * 4, &s->mesh.extra_offsets);
    s->extras = peltt_vk_passes_take(m->passes, rigid ? 0 : vertices * EXTRAS_MOST * 4, &s->mesh.extras);
    uint32_t run_joint_count = 0;
    uint32_t wide_count = 0;
    for (uint32_t i = 0; i < s->item_count; i++) {
        uint32_t first = i * s->shape.item_vertices;
        uint32_t left = vertices - first;
        s->items[i] = (gpu_item){.first_vertex = first,
                                 .vertex_count = left < s->shape.item_vertices ? left : s->shape.item_vertices,
                                 .joints = GPU_ITEM_JOINTS(0U, s->shape.joint_layout, s->shape.influence_count),
                                 .first_joint_word = first * (uint32_t)words};
        if (!rigid) {
            make_item(m, &s->items[i], run_joints, &run_joint_count, (char *)s->device_joints, &wide_count, offsets);
        }
    }
}

// --- targets

static bool is_sparse(uint32_t target)
{
    return target % 2 == 1;
}

static bool is_narrow(uint32_t target)
{
    return target >= 2;
}

static void make_stream(const maker *m, uint32_t count, bool narrow, const void **data, uint64_t *address, float *scale)
{
    uint64_t size = (uint64_t)count * 3 * (narrow ? sizeof(int16_t) : sizeof(float));
    void *stream = peltt_vk_passes_take(m->passes, (size + 3) / 4 * 4, address);
    int16_t *codes = stream;
    float *values = stream;
    *scale = narrow ? peltt_random_float(m->random, 0.1F, 2.0F) : 1.0F;
    for (uint32_t i = 0; i < count * 3; i++) {
        if (narrow) {
            codes[i] = (int16_t)((int)peltt_random_below(m->random, 65535) - 32767);
        } else {
            values[i] = peltt_random_float(m->random, -0.5F, 0.5F);
        }
    }
    *data = stream;
}

// Vertices of a sparse target: gaps, and items without any.
static void make_list_of_vertices(const maker *m, peltt_vk_skinned_target *target)
{
    peltt_vk_skinned *s = m->s;
    target->vertices = allocate(s->shape.vertex_count, sizeof *target->vertices);
    gpu_range *ranges = peltt_vk_passes_take(m->passes, s->item_count * sizeof *ranges, &target->record.ranges);
    for (uint32_t i = 0; i < s->item_count; i++) {
        ranges[i].first = target->entry_count;
        double share = i % 3 == 1 ? 0.0 : i % 3 == 2 ? 1.0 : 0.3;
        for (uint32_t k = 0; k < s->items[i].vertex_count; k++) {
            if (peltt_random_chance(m->random, share)) {
                target->vertices[target->entry_count++] = s->items[i].first_vertex + k;
            }
        }
        ranges[i].count = target->entry_count - ranges[i].first;
    }
    target->record.vertices = peltt_vk_passes_put(m->passes, target->vertices, target->entry_count * sizeof(uint32_t));
}

static void make_targets(const maker *m)
{
    peltt_vk_skinned *s = m->s;
    gpu_target *records = peltt_vk_passes_take(m->passes, PELTT_VK_SKINNED_TARGETS * sizeof *records, &s->mesh.targets);
    gpu_morph *morphs = peltt_vk_passes_take(m->passes, PELTT_VK_SKINNED_TARGETS * sizeof *morphs, &s->instance.morphs);
    for (uint32_t t = 0; t < PELTT_VK_SKINNED_TARGETS; t++) {
        peltt_vk_skinned_target *target = &s->targets[t];
        target->entry_count = is_sparse(t) ? 0 : s->shape.vertex_count;
        target->record.format = (is_sparse(t) ? 1U : 0U) | (is_narrow(t) ? GPU_TARGET_16BIT : 0U);
        if (is_sparse(t)) {
            make_list_of_vertices(m, target);
        }
        gpu_target *r = &target->record;
        make_stream(m, target->entry_count, is_narrow(t), &target->streams[0], &r->positions, &r->position_scale);
        make_stream(m, target->entry_count, is_narrow(t), &target->streams[1], &r->normals, &r->normal_scale);
        make_stream(m, target->entry_count, is_narrow(t), &target->streams[2], &r->tangents, &r->tangent_scale);
        if (t == 1) { // moves positions alone
            r->normals = 0;
            r->tangents = 0;
            target->streams[1] = NULL;
            target->streams[2] = NULL;
        }
        records[t] = *r;
        if (s->shape.target_mask >> t & 1U) {
            target->weight = peltt_random_float(m->random, -1.0F, 1.5F);
            morphs[s->instance.morph_count++] = (gpu_morph){t, target->weight};
        }
    }
}

void peltt_vk_skinned_make(peltt_vk_skinned *skinned, const peltt_vk_skinned_shape *shape, peltt_vk_passes *passes,
                           peltt_random *random)
{
    *skinned = (peltt_vk_skinned){.shape = *shape};
    maker m = {skinned, passes, random, 0};
    make_palette(&m);
    make_vertices(&m);
    make_items(&m);
    make_targets(&m);
    gpu_mesh *mesh = &skinned->mesh;
    mesh->item_count = skinned->item_count;
    mesh->encoding = shape->encoding;
    mesh->stride = 1;
    skinned->instance.flags = shape->flags;
    bool rigid = shape->joint_layout == GPU_JOINTS_NONE;
    skinned->runs = rigid || (shape->joint_layout == GPU_JOINTS_RUN && shape->influence_count <= 4 &&
                              shape->encoding == GPU_WEIGHTS_SORTED);
    if (skinned->runs) {
        skinned->vertices = peltt_vk_passes_take(passes, shape->vertex_count * 16, &mesh->vertices);
        mesh->normals = shape->no_normals ? 0 : mesh->vertices;
        mesh->tangents = shape->no_tangents ? 0 : mesh->vertices + 4;
        mesh->weights = rigid ? 0 : mesh->vertices + 8;
        mesh->joints = rigid ? 0 : mesh->vertices + 12;
        mesh->stride = 4;
    }
    mesh->streams = (mesh->normals ? GPU_STREAM_NORMALS : 0) | (mesh->tangents ? GPU_STREAM_TANGENTS : 0);
    gpu_mesh *record = (gpu_mesh *)(void *)((char *)skinned->items - sizeof *mesh);
    *record = *mesh;
}

void peltt_vk_skinned_upload(peltt_vk_skinned *skinned)
{
    for (uint32_t v = 0; v < skinned->shape.vertex_count; v++) {
        float *block = skinned->blocks + (size_t)(v / GPU_BLOCK) * GPU_BLOCK * 3;
        for (uint32_t k = 0; k < 3; k++) {
            block[k * GPU_BLOCK + v % GPU_BLOCK] = skinned->positions[v * 3 + k];
        }
        if (skinned->runs) {
            bool rigid = skinned->shape.joint_layout == GPU_JOINTS_NONE;
            uint32_t *to = skinned->vertices + (size_t)v * 4;
            to[0] = skinned->normals[v];
            to[1] = skinned->tangents[v];
            to[2] = rigid ? 0 : skinned->weights[v];
            to[3] = rigid ? 0 : skinned->device_joints[v];
        }
    }
}

void peltt_vk_skinned_free(peltt_vk_skinned *skinned)
{
    for (int t = 0; t < PELTT_VK_SKINNED_TARGETS; t++) {
        free(skinned->targets[t].vertices);
    }
    free(skinned->joints);
    free(skinned->first_extras);
    free(skinned->positions);
}

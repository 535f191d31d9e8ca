// SPDX-License-Identifier: MIT
// Meshes: all streams of a cooked primitive in one range of device memory, its gpu_mesh record first, uploaded by one
// copy.
#include "scene.h"

#include <math.h>

// Shaders count the words of positions in 32 bits.
static const uint32_t most_vertices = UINT32_C(1) << 30;

// Walks over the parts of a mesh twice: first with data NULL, for the size, then to write them.
typedef struct writer {
    char *data;
    VkDeviceAddress base;
    uint64_t size;
} writer;

// Room for a part, aligned; its offset.
static uint64_t place(writer *w, uint64_t size)
{
    uint64_t offset = w->size;
    w->size = (offset + size + PELTI_VK_ALIGNMENT - 1) / PELTI_VK_ALIGNMENT * PELTI_VK_ALIGNMENT;
    return offset;
}

// Address of a copy of size bytes; 0 for no source or no bytes.
static VkDeviceAddress put(writer *w, const void *source, uint64_t size)
{
    if (!source || size == 0) {
        return 0;
    }
    uint64_t offset = place(w, size);
    if (w->data) {
        memcpy(w->data + offset, source, (size_t)size);
    }
    return w->base + offset;
}

// ---- vertices

// All x of a block, then all y and all z: neighbouring threads then read neighbouring words.
static VkDeviceAddress put_positions(writer *w, const pelt_cooked_primitive *p)
{
    uint64_t blocks = ((uint64_t)p->vertex_count + GPU_BLOCK - 1) / GPU_BLOCK;
    if (blocks == 0) {
        return 0;
    }
    uint64_t offset = place(w, blocks * GPU_BLOCK * 3 * sizeof(float));
    float *out = w->data ? (float *)(void *)(w->data + offset) : NULL;
    for (uint64_t first = 0; out && first < p->vertex_count; first += GPU_BLOCK) {
        for (uint64_t c = 0; c < 3; c++) {
            for (uint64_t i = 0; i < GPU_BLOCK; i++) {
                uint64_t v = first + i < p->vertex_count ? first + i : p->vertex_count - UINT64_C(1);
                *out++ = p->positions[3 * v + c];
            }
        }
    }
    return w->base + offset;
}

// The lowest code of a signed format stands for -1 like its neighbour, which is stored in its place.
static uint32_t clean_normal(uint32_t code)
{
    code += (code & 0xFFFF) == 0x8000;
    return code >> 16 == 0x8000 ? code + 0x10000 : code;
}

static uint32_t clean_tangent(uint32_t code)
{
    code += (code & 0xFFFF) == 0x8000;
    return (code >> 16 & 0x7FFF) == 0x4000 ? code + 0x10000 : code;
}

// What a vertex is beside its position, in one piece, so that one load brings it all.
static void put_interleaved(writer *w, const pelt_cooked_primitive *p, gpu_mesh *out)
{
    uint64_t offset = place(w, (uint64_t)p->vertex_count * 16);
    uint32_t *to = w->data ? (uint32_t *)(void *)(w->data + offset) : NULL;
    for (uint64_t v = 0; to && v < p->vertex_count; v++, to += 4) {
        to[0] = p->normals ? clean_normal(p->normals[v]) : 0;
        to[1] = p->tangents ? clean_tangent(p->tangents[v]) : 0;
        to[2] = p->weights ? p->weights[v] : 0;
        to[3] = 0;
        if (p->joints) {
            memcpy(&to[3], p->joints + 4 * v, 4);
        }
    }
    out->vertices = w->base + offset;
    out->normals = p->normals ? out->vertices : 0;
    out->tangents = p->tangents ? out->vertices + 4 : 0;
    out->weights = p->weights ? out->vertices + 8 : 0;
    out->joints = p->joints ? out->vertices + 12 : 0;
    out->stride = 4;
}

static void put_streams(writer *w, const pelt_cooked_primitive *p, gpu_mesh *out)
{
    uint64_t n = p->vertex_count;
    out->normals = put(w, p->normals, n * 4);
    out->tangents = put(w, p->tangents, n * 4);
    out->weights = put(w, p->weights, n * 4);
    out->joints = put(w, p->joints, p->joints_size);
    out->stride = 1;
}

// ---- morph targets

static uint64_t entry_size(const pelt_cooked_target *target)
{
    return (target->format & PELT_TARGET_16BIT) ? 3 * sizeof(int16_t) : 3 * sizeof(float);
}

static uint32_t lower_bound(const uint32_t *values, uint32_t count, uint32_t wanted)
{
    uint32_t first = 0;
    while (count > 0) {
        uint32_t half = count / 2;
        if (values[first + half] < wanted) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

// For each item the part of a sparse target's list that lies in it.
static VkDeviceAddress put_ranges(writer *w, const pelt_cooked_target *target, const gpu_item *items, uint64_t count)
{
    uint64_t offset = place(w, count * sizeof(gpu_range));
    for (uint64_t i = 0; w->data && i < count; i++) {
        uint32_t end = items[i].first_vertex + items[i].vertex_count;
        gpu_range range = {.first = lower_bound(target->vertices, target->vertex_count, items[i].first_vertex)};
        range.count = lower_bound(target->vertices, target->vertex_count, end) - range.first;
        memcpy(w->data + offset + i * sizeof range, &range, sizeof range);
    }
    return w->base + offset;
}

static gpu_target put_target(writer *w, const pelt_cooked_target *target, const gpu_item *items, uint64_t item_count)
{
    uint64_t size = target->vertex_count * entry_size(target);
    gpu_target out = {
        .positions = put(w, target->positions, size),
        .normals = put(w, target->normals, size),
        .tangents = put(w, target->tangents, size),
        .format = (target->format & PELT_TARGET_16BIT) ? GPU_TARGET_16BIT : 0,
        .position_scale = target->scale[0],
        .normal_scale = target->scale[1],
        .tangent_scale = target->scale[2],
    };
    if (target->format & PELT_TARGET_SPARSE) {
        // An empty list has no bytes, but its address must not say "one entry for each vertex".
        uint64_t list_size = target->vertex_count * sizeof(uint32_t);
        uint64_t offset = place(w, list_size ? list_size : sizeof(uint32_t));
        if (w->data && list_size) {
            memcpy(w->data + offset, target->vertices, (size_t)list_size);
        }
        out.vertices = w->base + offset;
        out.ranges = put_ranges(w, target, items, item_count);
    }
    return out;
}

static VkDeviceAddress put_targets(writer *w, const pelt_cooked_primitive *p, const gpu_item *items,
                                   uint64_t item_count)
{
    if (p->target_count == 0) {
        return 0;
    }
    uint64_t offset = place(w, p->target_count * sizeof(gpu_target));
    for (uint32_t t = 0; t < p->target_count; t++) {
        gpu_target target = put_target(w, &p->targets[t], items, item_count);
        if (w->data) {
            memcpy(w->data + offset + t * sizeof target, &target, sizeof target);
        }
    }
    return w->base + offset;
}

// ---- boxes and reach

static void target_reach(const pelt_cooked_target *target, float out[3])
{
    for (int c = 0; c < 3; c++) {
        out[c] = 0.0F;
    }
    for (uint32_t i = 0; target->positions && i < target->vertex_count; i++) {
        for (uint32_t c = 0; c < 3; c++) {
            float value;
            if (target->format & PELT_TARGET_16BIT) {
                int16_t code;
                memcpy(&code, (const char *)target->positions + (3 * (size_t)i + c) * sizeof code, sizeof code);
                value = fabsf((float)code) / 32767.0F * target->scale[0];
            } else {
                memcpy(&value, (const char *)target->positions + (3 * (size_t)i + c) * sizeof value, sizeof value);
            }
            value = fabsf(value);
            out[c] = value > out[c] ? value : out[c];
        }
    }
}

// ---- adding

// What one mesh is made of.
typedef struct source {
    const pelt_cooked_data *data;
    uint32_t primitive;
    const pelt_cooked_primitive *p;
    gpu_item *items;
    pelti_vk_mesh *mesh; // receives addresses and offsets
} source;

static void put_joint_boxes(writer *w, const source *s)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < s->data->joint_boxes_count; i++) {
        const pelt_joint_boxes *boxes = &s->data->joint_boxes[i];
        if (boxes->primitive == s->primitive) {
            s->mesh->joint_boxes[found++] =
                (pelti_vk_joint_boxes){.skin = boxes->skin,
                                       .joint_count = boxes->joint_count,
                                       .address = put(w, boxes->boxes, boxes->joint_count * sizeof(pelt_box))};
        }
    }
}

static void put_mesh(writer *w, const source *s)
{
    const pelt_cooked_primitive *p = s->p;
    pelti_vk_mesh *mesh = s->mesh;
    uint64_t items_size = mesh->item_count * sizeof(gpu_item);
    uint64_t record = place(w, sizeof(gpu_mesh) + items_size);
    gpu_mesh out = {
        .positions = put_positions(w, p),
        .run_joints = put(w, p->run_joints, p->run_joint_count * sizeof(uint16_t)),
        .extra_offsets = p->wide_count ? put(w, p->extra_offsets, (p->wide_count + UINT64_C(1)) * 4) : 0,
        .extras = put(w, p->extras, p->extra_count * sizeof(pelt_extra_influence)),
        .targets = put_targets(w, p, s->items, mesh->item_count),
        .item_count = mesh->item_count,
        .streams = (p->normals ? GPU_STREAM_NORMALS : 0) | (p->tangents ? GPU_STREAM_TANGENTS : 0),
        .encoding = p->encoding == PELT_WEIGHTS_PLAIN ? GPU_WEIGHTS_PLAIN : GPU_WEIGHTS_SORTED,
    };
    if (mesh->runs) {
        put_interleaved(w, p, &out);
    } else {
        put_streams(w, p, &out);
    }
    if (mesh->index_size) {
        uint64_t size = (uint64_t)p->index_count * p->index_size;
        mesh->indices = place(w, size);
        if (w->data) {
            memcpy(w->data + mesh->indices, p->indices, (size_t)size);
        }
    }
    put_joint_boxes(w, s);
    mesh->whole_box = put(w, &p->box, sizeof p->box);
    if (w->data) {
        memcpy(w->data + record, &out, sizeof out);
        memcpy(w->data + record + sizeof out, s->items, (size_t)items_size);
    }
}

static uint32_t most_influences(const pelt_cooked_primitive *p)
{
    uint32_t most = 4;
    for (uint32_t i = 0; i < p->wide_count; i++) {
        uint32_t count = 4 + p->extra_offsets[i + 1] - p->extra_offsets[i];
        most = count > most ? count : most;
    }
    return p->weights ? most : 1;
}

// Whether skin_runs.comp can do the mesh, morphs aside.
static bool has_simple_runs(const pelt_cooked_primitive *p)
{
    bool simple = !p->weights || p->encoding == PELT_WEIGHTS_SORTED;
    for (uint32_t i = 0; simple && p->weights && i < p->run_count; i++) {
        simple = p->runs[i].layout == PELT_JOINTS_RUN && p->runs[i].influence_count <= 4 &&
                 p->runs[i].joints_offset == 4 * (uint64_t)p->runs[i].first_vertex;
    }
    return simple;
}

static void release_lists(const pelt_vk_scene *scene, pelti_vk_mesh *mesh)
{
    pelti_release(scene->allocator, mesh->target_reach, mesh->target_count, sizeof *mesh->target_reach);
    pelti_release(scene->allocator, mesh->joint_boxes, mesh->joint_boxes_count, sizeof *mesh->joint_boxes);
    mesh->target_reach = NULL;
    mesh->joint_boxes = NULL;
}

// Everything of *mesh but what lies in device memory. False: out of memory.
static bool describe(const pelt_vk_scene *scene, const source *s)
{
    const pelt_cooked_primitive *p = s->p;
    pelti_vk_mesh *mesh = s->mesh;
    mesh->vertex_count = p->vertex_count;
    mesh->rigid = !p->weights;
    mesh->runs = has_simple_runs(p);
    mesh->joint_bound = p->weights && p->joint_bound > 0 ? p->joint_bound : 1;
    mesh->influence_count = most_influences(p);
    mesh->target_count = p->target_count;
    mesh->has_normals = p->normals != NULL;
    mesh->has_tangents = p->tangents != NULL;
    mesh->index_size = p->indices ? p->index_size : 0;
    mesh->index_count = p->index_count;
    for (uint32_t i = 0; i < s->data->joint_boxes_count; i++) {
        mesh->joint_boxes_count += s->data->joint_boxes[i].primitive == s->primitive;
    }
    mesh->target_reach = pelti_allocate(scene->allocator, mesh->target_count, sizeof *mesh->target_reach);
    mesh->joint_boxes = pelti_allocate(scene->allocator, mesh->joint_boxes_count, sizeof *mesh->joint_boxes);
    if ((mesh->target_count && !mesh->target_reach) || (mesh->joint_boxes_count && !mesh->joint_boxes)) {
        return false;
    }
    for (uint32_t t = 0; t < p->target_count; t++) {
        target_reach(&p->targets[t], mesh->target_reach[t]);
    }
    for (int c = 0; c < 3; c++) {
        bool empty = pelt_box_is_empty(&p->box);
        float low = empty ? 0.0F : fabsf(p->box.min[c]);
        float high = empty ? 0.0F : fabsf(p->box.max[c]);
        mesh->reach[c] = low > high ? low : high;
    }
    return true;
}

static pelt_result upload(pelt_vk_scene *scene, const source *s, pelt_error *error)
{
    pelti_vk_mesh *mesh = s->mesh;
    writer sizes = {0};
    put_mesh(&sizes, s);
    pelti_vk_span span;
    pelt_result result = pelti_vk_heap_allocate(scene->device, sizes.size, &mesh->range, error);
    result = result == PELT_OK ? pelti_vk_upload(scene, &mesh->range, sizes.size, &span, error) : result;
    if (result == PELT_OK) {
        writer w = {.data = span.data, .base = mesh->range.address};
        put_mesh(&w, s);
    }
    return result;
}

static pelt_result build(pelt_vk_scene *scene, const source *s, pelt_error *error)
{
    uint64_t item_count = pelti_vk_items_build(s->p, scene->options.item_vertices, NULL);
    source with_items = *s;
    with_items.items = pelti_allocate(scene->allocator, item_count, sizeof *s->items);
    s->mesh->item_count = (uint32_t)item_count;
    pelt_result result = PELT_OK;
    if (s->p->vertex_count > most_vertices) {
        result = pelti_fail(error, PELT_ERROR_LIMIT, "", "a mesh of more than 2^30 vertices");
    } else if (item_count > UINT32_MAX) {
        result = pelti_fail(error, PELT_ERROR_LIMIT, "", "a mesh of more than 2^32 work items");
    } else if (!with_items.items || !describe(scene, s)) {
        result = pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for a mesh");
    } else {
        pelti_vk_items_build(s->p, scene->options.item_vertices, with_items.items);
        result = upload(scene, &with_items, error);
    }
    pelti_release(scene->allocator, with_items.items, item_count, sizeof *s->items);
    return result;
}

pelt_result pelt_vk_mesh_add(pelt_vk_scene *scene, const pelt_cooked_data *data, uint32_t primitive,
                             pelt_vk_mesh *out_mesh, pelt_error *error)
{
    pelti_error_clear(error);
    if (!scene || !data || !out_mesh || primitive >= data->primitive_count) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "scene, data or mesh is NULL, or there is no such primitive");
    }
    *out_mesh = (pelt_vk_mesh){0};
    pelt_result result = pelti_vk_slots_reserve(&scene->mesh_slots, error);
    if (result != PELT_OK) {
        return result;
    }
    if (!pelti_vk_grow(scene->allocator, &scene->meshes, &scene->mesh_capacity,
                       pelti_vk_slots_next(&scene->mesh_slots) + 1, sizeof *scene->meshes) ||
        !pelti_vk_retirement_reserve(&scene->retirement, 2)) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for a mesh");
    }
    pelti_vk_mesh mesh = {0};
    source s = {.data = data, .primitive = primitive, .p = &data->primitives[primitive], .mesh = &mesh};
    result = build(scene, &s, error);
    if (result != PELT_OK) {
        pelti_vk_heap_free(scene->device, &mesh.range);
        pelti_vk_retirement_unreserve(&scene->retirement, 2);
        release_lists(scene, &mesh);
        return result;
    }
    uint32_t slot = pelti_vk_slots_take(&scene->mesh_slots);
    scene->meshes[slot] = mesh;
    *out_mesh = (pelt_vk_mesh){slot, scene->mesh_slots.slots[slot].generation};
    return PELT_OK;
}

pelt_result pelt_vk_mesh_remove(pelt_vk_scene *scene, pelt_vk_mesh mesh)
{
    if (!scene || !pelti_vk_slots_live(&scene->mesh_slots, mesh.index, mesh.generation) ||
        scene->meshes[mesh.index].use_count > 0) {
        return PELT_ERROR_ARGUMENT;
    }
    pelti_vk_mesh *m = &scene->meshes[mesh.index];
    pelti_vk_discard_range(&scene->retirement, scene->sequence, scene->device, &m->range);
    pelti_vk_discard_slot(&scene->retirement, scene->sequence, pelti_vk_slots_reuse, &scene->mesh_slots, mesh.index);
    pelti_vk_slots_drop(&scene->mesh_slots, mesh.index);
    release_lists(scene, m);
    return PELT_OK;
}

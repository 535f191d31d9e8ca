// SPDX-License-Identifier: MIT
// Instances: a mesh with a palette and output ranges that stay where they are until it is removed.
#include "scene.h"

#include <math.h>

enum {
    SMALL_ITEM = 256 // most vertices of an item, on average, that few threads work through faster
};

static VkDeviceSize align(VkDeviceSize size)
{
    return (size + PELTI_VK_ALIGNMENT - 1) / PELTI_VK_ALIGNMENT * PELTI_VK_ALIGNMENT;
}

static pelti_vk_instance *find(const pelt_vk_scene *scene, pelt_vk_instance handle)
{
    bool live = scene && pelti_vk_slots_live(&scene->instance_slots, handle.index, handle.generation);
    return live ? &scene->instances[handle.index] : NULL;
}

// ---- the palette's list

static void link_palette(pelt_vk_scene *scene, uint32_t slot, uint32_t palette)
{
    pelti_vk_instance *instance = &scene->instances[slot];
    instance->palette = palette;
    instance->previous = PELT_NONE;
    instance->next = scene->palettes[palette].first_instance;
    if (instance->next != PELT_NONE) {
        scene->instances[instance->next].previous = slot;
    }
    scene->palettes[palette].first_instance = slot;
}

static void unlink_palette(pelt_vk_scene *scene, uint32_t slot)
{
    pelti_vk_instance *instance = &scene->instances[slot];
    if (instance->next != PELT_NONE) {
        scene->instances[instance->next].previous = instance->previous;
    }
    if (instance->previous != PELT_NONE) {
        scene->instances[instance->previous].next = instance->next;
    } else {
        scene->palettes[instance->palette].first_instance = instance->next;
    }
}

// ---- options

// The joint boxes that a conservative instance uses; address 0 where there are none.
static pelti_vk_joint_boxes find_boxes(const pelti_vk_mesh *mesh, const pelt_vk_instance_options *o)
{
    if (o->rigid || mesh->rigid) {
        return (pelti_vk_joint_boxes){.skin = PELT_NONE, .joint_count = 1, .address = mesh->whole_box};
    }
    for (uint32_t i = 0; i < mesh->joint_boxes_count; i++) {
        if (mesh->joint_boxes[i].skin == o->skin) {
            return mesh->joint_boxes[i];
        }
    }
    return (pelti_vk_joint_boxes){0};
}

static bool is_conservative(pelt_vk_bounds bounds)
{
    return bounds == PELT_VK_BOUNDS_CONSERVATIVE || bounds == PELT_VK_BOUNDS_BOTH;
}

// What automatic bounds come to for this instance.
static pelt_vk_bounds bounds_by_rule(const pelt_vk_scene *scene, const pelt_vk_instance_options *o)
{
    const pelti_vk_mesh *mesh = &scene->meshes[o->mesh.index];
    pelti_vk_joint_boxes boxes = find_boxes(mesh, o);
    bool has_boxes = boxes.address != 0 && boxes.joint_count <= scene->palettes[o->palette.index].joint_count;
    for (uint32_t i = 0; has_boxes && i < scene->options.bounds_rule_count; i++) {
        const pelt_vk_bounds_rule *rule = &scene->options.bounds_rules[i];
        if (mesh->vertex_count <= rule->vertex_count) {
            return scene->options.allow_conservative ? rule->bounds : PELT_VK_BOUNDS_EXACT;
        }
    }
    return PELT_VK_BOUNDS_EXACT;
}

// Mesh and palette exist.
static pelt_vk_bounds bounds_of(const pelt_vk_scene *scene, const pelt_vk_instance_options *o)
{
    pelt_vk_bounds bounds = o->bounds == PELT_VK_BOUNDS_DEFAULT ? scene->options.bounds : o->bounds;
    return bounds == PELT_VK_BOUNDS_AUTO ? bounds_by_rule(scene, o) : bounds;
}

static pelt_result check_options(const pelt_vk_scene *scene, const pelt_vk_instance_options *o, pelt_error *error)
{
    if (!pelti_vk_slots_live(&scene->mesh_slots, o->mesh.index, o->mesh.generation)) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "there is no such mesh");
    }
    if (!pelti_vk_slots_live(&scene->palette_slots, o->palette.index, o->palette.generation)) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "there is no such palette");
    }
    const unsigned all = PELT_VK_OMIT_PREVIOUS | PELT_VK_OMIT_NORMALS | PELT_VK_OMIT_TANGENTS;
    if ((o->omit & ~all) != 0 || (unsigned)o->bounds > PELT_VK_BOUNDS_AUTO) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "unknown bits in omit, or no such kind of bounds");
    }
    const pelti_vk_mesh *mesh = &scene->meshes[o->mesh.index];
    uint32_t joint_count = scene->palettes[o->palette.index].joint_count;
    if (!o->rigid && joint_count < mesh->joint_bound) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "the palette has %u joints and the mesh uses %u",
                          (unsigned)joint_count, (unsigned)mesh->joint_bound);
    }
    if (!is_conservative(bounds_of(scene, o))) {
        return PELT_OK;
    }
    if (!scene->options.allow_conservative) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "the scene does not allow conservative boxes");
    }
    pelti_vk_joint_boxes boxes = find_boxes(mesh, o);
    if (boxes.address == 0 || boxes.joint_count > joint_count) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "the mesh has no joint boxes of skin %u, or the palette %s",
                          (unsigned)o->skin, "has fewer joints than that skin");
    }
    return PELT_OK;
}

// ---- device memory

static pelt_result allocate(pelt_vk_scene *scene, const pelti_vk_mesh *mesh, uint32_t omit, pelti_vk_outputs *out,
                            pelt_error *error)
{
    VkDeviceSize n = mesh->vertex_count;
    VkDeviceSize size = align(n * 12);
    if (!(omit & PELT_VK_OMIT_PREVIOUS)) {
        out->previous = size;
        size += align(n * 12);
    }
    if (mesh->has_normals && !(omit & PELT_VK_OMIT_NORMALS)) {
        out->normals = size;
        size += align(n * 4);
    }
    if (mesh->has_tangents && !(omit & PELT_VK_OMIT_TANGENTS)) {
        out->tangents = size;
        size += align(n * 4);
    }
    pelt_result result = size ? pelti_vk_heap_allocate(scene->device, size, &out->range, error) : PELT_OK;
    if (result == PELT_OK && mesh->target_count > 0) {
        result = pelti_vk_heap_allocate(scene->device, mesh->target_count * sizeof(gpu_morph), &out->morphs, error);
        out->weights = pelti_allocate(scene->allocator, mesh->target_count, sizeof *out->weights);
        out->weight_count = mesh->target_count;
        if (!out->weights) {
            return result == PELT_OK ? pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for an instance")
                                     : result;
        }
        memset(out->weights, 0, mesh->target_count * sizeof *out->weights);
    }
    return result;
}

static VkDeviceAddress address_at(const pelti_vk_outputs *o, VkDeviceSize offset)
{
    return offset == PELTI_VK_NO_OFFSET || o->range.size == 0 ? 0 : o->range.address + offset;
}

static void set_palette(pelt_vk_scene *scene, gpu_instance *record, uint32_t palette)
{
    const pelti_vk_palette *p = &scene->palettes[palette];
    record->palette = p->matrices.address;
    record->palette_count = p->joint_count;
    // The one box of a rigid instance lies in bind space: the palette's matrix moves it.
    record->worlds = record->flags & GPU_INSTANCE_RIGID ? p->matrices.address : p->worlds.address;
    record->binds = scene->skins[p->skin].binds.address;
}

// How much of a morph weight the boxes of a conservative instance leave out: joint boxes hold weights from 0 to 1 at
// least, the whole one of rigid instances only the weight 0.
static double weight_beyond(double weight, bool rigid)
{
    if (rigid) {
        return fabs(weight);
    }
    return weight < 0.0 ? -weight : weight > 1.0 ? weight - 1.0 : 0.0;
}

// Growth factors of gpu_layout.h, and how far vertices reach before the skin.
static void set_reach(const pelti_vk_mesh *mesh, const pelti_vk_outputs *o, gpu_instance *record)
{
    uint32_t morph_count = 0;
    bool rigid = (record->flags & GPU_INSTANCE_RIGID) != 0;
    double beyond[3] = {0.0, 0.0, 0.0};
    double reach[3] = {(double)mesh->reach[0], (double)mesh->reach[1], (double)mesh->reach[2]};
    for (uint32_t t = 0; t < o->weight_count; t++) {
        morph_count += o->weights[t] != 0.0F;
        for (int c = 0; c < 3; c++) {
            reach[c] += fabs((double)o->weights[t]) * (double)mesh->target_reach[t][c];
            beyond[c] += weight_beyond((double)o->weights[t], rigid) * (double)mesh->target_reach[t][c];
        }
    }
    for (int c = 0; c < 3; c++) {
        record->reach[c] = (float)(reach[c] * (1.0 + 0x1p-20));
        record->beyond[c] = (float)(beyond[c] * (1.0 + 0x1p-20));
    }
    record->morph_count = morph_count;
    record->blend_growth = 0x1p-24F * ((float)mesh->influence_count + 20.0F);
    record->morph_growth = morph_count ? 0x1p-24F * ((float)morph_count + 2.0F) : 0.0F;
}

// Which pipeline its items go to.
static void choose_kind(pelt_vk_scene *scene, uint32_t slot, const gpu_instance *record)
{
    const pelti_vk_mesh *mesh = &scene->meshes[scene->instances[slot].mesh];
    uint32_t kind = 0;
    if (mesh->runs && record->morph_count == 0) {
        kind = PELTI_VK_RUNS;
        kind |= record->normals && record->tangents ? PELTI_VK_DIRECTIONS : 0U;
        kind |= mesh->vertex_count <= (uint64_t)SMALL_ITEM * mesh->item_count ? PELTI_VK_SMALL : 0U;
    }
    pelti_vk_set_kind(scene, slot, kind);
}

static void write_record(pelt_vk_scene *scene, uint32_t slot, const pelt_vk_instance_options *options)
{
    const pelti_vk_outputs *o = &scene->outputs[slot];
    const pelti_vk_instance *instance = &scene->instances[slot];
    const pelti_vk_mesh *mesh = &scene->meshes[instance->mesh];
    pelti_vk_joint_boxes boxes = {0};
    if (instance->flags & PELTI_VK_CONSERVATIVE) {
        boxes = find_boxes(mesh, options);
    }
    gpu_instance *record = pelti_vk_table_edit(&scene->instance_table, slot);
    *record = (gpu_instance){
        .mesh = mesh->range.address,
        .positions = {address_at(o, 0), address_at(o, o->previous == PELTI_VK_NO_OFFSET ? 0 : o->previous)},
        .normals = address_at(o, o->normals),
        .tangents = address_at(o, o->tangents),
        .morphs = o->morphs.address,
        .joint_boxes = boxes.address,
        .box_count = boxes.joint_count,
        .flags = (options->rigid || mesh->rigid ? GPU_INSTANCE_RIGID : 0) |
                 (instance->flags & PELTI_VK_EXACT ? GPU_INSTANCE_EXACT : 0),
    };
    set_palette(scene, record, instance->palette);
    set_reach(mesh, o, record);
    choose_kind(scene, slot, record);
}

// ---- adding and removing

// Room on the host and in the tables for the slot that comes next.
static pelt_result reserve(pelt_vk_scene *scene, pelt_error *error)
{
    pelt_result result = pelti_vk_slots_reserve(&scene->instance_slots, error);
    if (result != PELT_OK) {
        return result;
    }
    const pelt_allocator *a = scene->allocator;
    uint32_t slot = pelti_vk_slots_next(&scene->instance_slots);
    uint32_t count = slot + 1;
    if (!pelti_vk_grow(a, &scene->instances, &scene->instance_capacity, count, sizeof *scene->instances) ||
        !pelti_vk_grow(a, &scene->outputs, &scene->outputs_capacity, count, sizeof *scene->outputs) ||
        !pelti_vk_grow(a, &scene->marked, &scene->marked_capacity, count, sizeof *scene->marked) ||
        !pelti_vk_grow(a, &scene->list.updates, &scene->list.update_capacity, count, sizeof *scene->list.updates) ||
        !pelti_vk_grow(a, &scene->weighted.slots, &scene->weighted.capacity, count, sizeof(uint32_t))) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for an instance");
    }
    pelti_vk_retirement *r = &scene->retirement;
    result = pelti_vk_table_reserve(&scene->instance_table, slot, r, scene->sequence, error);
    result = result == PELT_OK ? pelti_vk_table_reserve(&scene->boxes, slot, r, scene->sequence, error) : result;
    if (result == PELT_OK && scene->options.allow_conservative) {
        result = pelti_vk_table_reserve(&scene->conservative_boxes, slot, r, scene->sequence, error);
    }
    return result;
}

static uint32_t flags_of(const pelt_vk_scene *scene, const pelt_vk_instance_options *o)
{
    pelt_vk_bounds bounds = bounds_of(scene, o);
    uint32_t flags = (o->omit & PELT_VK_OMIT_PREVIOUS) ? 0 : PELTI_VK_KEEPS_PREVIOUS;
    flags |= bounds == PELT_VK_BOUNDS_EXACT || bounds == PELT_VK_BOUNDS_BOTH ? PELTI_VK_EXACT : 0U;
    return flags | (is_conservative(bounds) ? PELTI_VK_CONSERVATIVE : 0U);
}

pelt_result pelt_vk_instance_add(pelt_vk_scene *scene, const pelt_vk_instance_options *options,
                                 pelt_vk_instance *out_instance, pelt_error *error)
{
    pelti_error_clear(error);
    if (!scene || !options || !out_instance) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "scene, options or instance is NULL");
    }
    *out_instance = (pelt_vk_instance){0};
    pelt_result result = check_options(scene, options, error);
    result = result == PELT_OK ? reserve(scene, error) : result;
    if (result != PELT_OK) {
        return result;
    }
    if (!pelti_vk_retirement_reserve(&scene->retirement, 3)) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for an instance");
    }
    pelti_vk_mesh *mesh = &scene->meshes[options->mesh.index];
    pelti_vk_outputs outputs = {
        .previous = PELTI_VK_NO_OFFSET, .normals = PELTI_VK_NO_OFFSET, .tangents = PELTI_VK_NO_OFFSET};
    result = allocate(scene, mesh, options->omit, &outputs, error);
    if (result != PELT_OK) {
        pelti_vk_heap_free(scene->device, &outputs.range);
        pelti_vk_heap_free(scene->device, &outputs.morphs);
        pelti_release(scene->allocator, outputs.weights, outputs.weight_count, sizeof *outputs.weights);
        pelti_vk_retirement_unreserve(&scene->retirement, 3);
        return result;
    }
    uint32_t slot = pelti_vk_slots_take(&scene->instance_slots);
    scene->outputs[slot] = outputs;
    scene->instances[slot] = (pelti_vk_instance){.weight_mark = PELT_NONE,
                                                 .flags = flags_of(scene, options) | PELTI_VK_ODD,
                                                 .item_count = mesh->item_count,
                                                 .vertex_count = mesh->vertex_count,
                                                 .mesh = options->mesh.index};
    mesh->use_count++;
    link_palette(scene, slot, options->palette.index);
    write_record(scene, slot, options);
    pelti_vk_mark(scene, slot);
    *out_instance = (pelt_vk_instance){slot, scene->instance_slots.slots[slot].generation};
    return PELT_OK;
}

pelt_result pelt_vk_instance_remove(pelt_vk_scene *scene, pelt_vk_instance handle)
{
    pelti_vk_instance *instance = find(scene, handle);
    if (!instance) {
        return PELT_ERROR_ARGUMENT;
    }
    pelti_vk_outputs *outputs = &scene->outputs[handle.index];
    pelti_vk_unmark(scene, handle.index);
    pelti_vk_list_forget(&scene->list); // the slot may come to have another mesh
    if (instance->weight_mark != PELT_NONE) {
        uint32_t moved = 0;
        pelti_vk_marks_remove(&scene->weighted, instance->weight_mark, &moved);
        scene->instances[moved].weight_mark = instance->weight_mark;
        instance->weight_mark = PELT_NONE;
    }
    unlink_palette(scene, handle.index);
    scene->meshes[instance->mesh].use_count--;
    pelti_release(scene->allocator, outputs->weights, outputs->weight_count, sizeof *outputs->weights);
    outputs->weights = NULL;
    pelti_vk_discard_range(&scene->retirement, scene->sequence, scene->device, &outputs->range);
    pelti_vk_discard_range(&scene->retirement, scene->sequence, scene->device, &outputs->morphs);
    pelti_vk_discard_slot(&scene->retirement, scene->sequence, pelti_vk_slots_reuse, &scene->instance_slots,
                          handle.index);
    pelti_vk_slots_drop(&scene->instance_slots, handle.index);
    return PELT_OK;
}

// ---- changes

pelt_result pelt_vk_instance_set_palette(pelt_vk_scene *scene, pelt_vk_instance handle, pelt_vk_palette palette)
{
    pelti_vk_instance *instance = find(scene, handle);
    if (!instance || !pelti_vk_slots_live(&scene->palette_slots, palette.index, palette.generation)) {
        return PELT_ERROR_ARGUMENT;
    }
    const gpu_instance *current = pelti_vk_table_get(&scene->instance_table, handle.index);
    bool rigid = (current->flags & GPU_INSTANCE_RIGID) != 0;
    uint32_t joint_count = scene->palettes[palette.index].joint_count;
    if ((!rigid && joint_count < scene->meshes[instance->mesh].joint_bound) || joint_count < current->box_count) {
        return PELT_ERROR_ARGUMENT;
    }
    if (instance->palette != palette.index) {
        unlink_palette(scene, handle.index);
        link_palette(scene, handle.index, palette.index);
        set_palette(scene, pelti_vk_table_edit(&scene->instance_table, handle.index), palette.index);
        if (scene->list.full_count > 0) { // such items hold the palette's address
            pelti_vk_list_forget(&scene->list);
        }
        pelti_vk_mark(scene, handle.index);
    }
    return PELT_OK;
}

pelt_result pelt_vk_instance_set_weights(pelt_vk_scene *scene, pelt_vk_instance handle, const float *weights,
                                         uint32_t weight_count)
{
    pelti_vk_instance *instance = find(scene, handle);
    if (!instance || weight_count != scene->outputs[handle.index].weight_count || (weight_count > 0 && !weights)) {
        return PELT_ERROR_ARGUMENT;
    }
    pelti_vk_outputs *o = &scene->outputs[handle.index];
    bool same = true;
    for (uint32_t i = 0; i < weight_count; i++) {
        if (!isfinite(weights[i])) {
            return PELT_ERROR_ARGUMENT;
        }
        same = same && weights[i] == o->weights[i];
    }
    if (same) {
        return PELT_OK;
    }
    memcpy(o->weights, weights, weight_count * sizeof *weights);
    if (instance->weight_mark == PELT_NONE) {
        instance->weight_mark = scene->weighted.count;
        scene->weighted.slots[scene->weighted.count++] = handle.index;
    }
    gpu_instance *record = pelti_vk_table_edit(&scene->instance_table, handle.index);
    set_reach(&scene->meshes[instance->mesh], o, record);
    choose_kind(scene, handle.index, record);
    pelti_vk_mark(scene, handle.index);
    return PELT_OK;
}

pelt_result pelt_vk_instance_teleport(pelt_vk_scene *scene, pelt_vk_instance handle)
{
    pelti_vk_instance *instance = find(scene, handle);
    if (!instance) {
        return PELT_ERROR_ARGUMENT;
    }
    pelti_vk_mark(scene, handle.index);
    instance->flags &= ~(uint32_t)PELTI_VK_PREVIOUS_VALID;
    return PELT_OK;
}

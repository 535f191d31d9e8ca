// SPDX-License-Identifier: MIT
// Skins (inverse bind matrices, uploaded once) and palettes (world matrices of one skeleton, written when it moves).
#include "scene.h"

#include <pelt/math.h>

enum {
    MOST_JOINTS = 65536
};

// ---- skins

static pelt_result upload_binds(pelt_vk_scene *scene, const pelt_mat34 *inverse_binds, pelti_vk_skin *skin,
                                pelt_error *error)
{
    VkDeviceSize size = skin->joint_count * sizeof(pelt_mat34);
    pelti_vk_span span;
    pelt_result result = pelti_vk_heap_allocate(scene->device, size, &skin->binds, error);
    result = result == PELT_OK ? pelti_vk_upload(scene, &skin->binds, size, &span, error) : result;
    if (result != PELT_OK) {
        return result;
    }
    pelt_mat34 *matrices = span.data;
    if (inverse_binds) {
        memcpy(matrices, inverse_binds, (size_t)size);
    }
    for (uint32_t j = 0; !inverse_binds && j < skin->joint_count; j++) {
        matrices[j] = pelt_mat34_identity();
    }
    return PELT_OK;
}

pelt_result pelt_vk_skin_add(pelt_vk_scene *scene, const pelt_mat34 *inverse_binds, uint32_t joint_count,
                             pelt_vk_skin *out_skin, pelt_error *error)
{
    pelti_error_clear(error);
    if (!scene || !out_skin || joint_count == 0 || joint_count > MOST_JOINTS) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "scene or skin is NULL, or there are not 1 to %d joints",
                          MOST_JOINTS);
    }
    *out_skin = (pelt_vk_skin){0};
    pelt_result result = pelti_vk_slots_reserve(&scene->skin_slots, error);
    if (result != PELT_OK) {
        return result;
    }
    uint32_t slot = pelti_vk_slots_next(&scene->skin_slots);
    if (!pelti_vk_grow(scene->allocator, &scene->skins, &scene->skin_capacity, slot + 1, sizeof *scene->skins) ||
        !pelti_vk_retirement_reserve(&scene->retirement, 2)) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for a skin");
    }
    pelti_vk_skin skin = {.joint_count = joint_count};
    result = upload_binds(scene, inverse_binds, &skin, error);
    if (result != PELT_OK) {
        pelti_vk_heap_free(scene->device, &skin.binds);
        pelti_vk_retirement_unreserve(&scene->retirement, 2);
        return result;
    }
    pelti_vk_slots_take(&scene->skin_slots);
    scene->skins[slot] = skin;
    *out_skin = (pelt_vk_skin){slot, scene->skin_slots.slots[slot].generation};
    return PELT_OK;
}

pelt_result pelt_vk_skin_remove(pelt_vk_scene *scene, pelt_vk_skin skin)
{
    if (!scene || !pelti_vk_slots_live(&scene->skin_slots, skin.index, skin.generation) ||
        scene->skins[skin.index].use_count > 0) {
        return PELT_ERROR_ARGUMENT;
    }
    pelti_vk_discard_range(&scene->retirement, scene->sequence, scene->device, &scene->skins[skin.index].binds);
    pelti_vk_discard_slot(&scene->retirement, scene->sequence, pelti_vk_slots_reuse, &scene->skin_slots, skin.index);
    pelti_vk_slots_drop(&scene->skin_slots, skin.index);
    return PELT_OK;
}

// ---- palettes

static_assert(MOST_JOINTS - 1 <= 0xFFFF, "gpu_full_item.joints");

static uint32_t part_count(uint32_t joint_count)
{
    return (joint_count + PELTI_VK_PART_JOINTS - 1) / PELTI_VK_PART_JOINTS;
}

// Mapped memory for the matrices of the frame to come.
static pelt_result begin_write(pelt_vk_scene *scene, pelti_vk_palette *palette, uint32_t slot, pelt_error *error)
{
    pelti_vk_span span;
    pelt_result result = pelti_vk_ring_take(scene->ring, palette->joint_count * sizeof(pelt_mat34), &span, error);
    if (result == PELT_OK) {
        palette->world = span.data;
        palette->written_by = scene->sequence;
        palette->mark = scene->written_count;
        scene->written[scene->written_count++] =
            (gpu_palette_update){.worlds = span.address,
                                 .binds = scene->skins[palette->skin].binds.address,
                                 .matrices = palette->matrices.address,
                                 .kept_worlds = palette->worlds.address,
                                 .joint_count = palette->joint_count,
                                 .palette = slot};
        scene->written_joints += palette->joint_count;
        scene->written_parts += part_count(palette->joint_count);
    }
    return result;
}

static pelt_result reserve_palette(pelt_vk_scene *scene, pelt_error *error)
{
    pelt_result result = pelti_vk_slots_reserve(&scene->palette_slots, error);
    if (result != PELT_OK) {
        return result;
    }
    uint32_t slot = pelti_vk_slots_next(&scene->palette_slots);
    if (!pelti_vk_grow(scene->allocator, &scene->palettes, &scene->palette_capacity, slot + 1,
                       sizeof *scene->palettes) ||
        !pelti_vk_grow(scene->allocator, &scene->written, &scene->written_capacity, slot + 1, sizeof *scene->written)) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for a palette");
    }
    return PELT_OK;
}

// Device memory and the first, identity matrices.
static pelt_result fill_palette(pelt_vk_scene *scene, pelti_vk_palette *palette, uint32_t slot, pelt_error *error)
{
    VkDeviceSize size = palette->joint_count * sizeof(pelt_mat34);
    pelt_result result = pelti_vk_heap_allocate(scene->device, size, &palette->matrices, error);
    if (result == PELT_OK && scene->options.allow_conservative) {
        result = pelti_vk_heap_allocate(scene->device, size, &palette->worlds, error);
    }
    result = result == PELT_OK ? begin_write(scene, palette, slot, error) : result;
    for (uint32_t j = 0; result == PELT_OK && j < palette->joint_count; j++) {
        palette->world[j] = pelt_mat34_identity();
    }
    return result;
}

pelt_result pelt_vk_palette_add(pelt_vk_scene *scene, pelt_vk_skin skin, pelt_vk_palette *out_palette,
                                pelt_error *error)
{
    pelti_error_clear(error);
    if (!scene || !out_palette || !pelti_vk_slots_live(&scene->skin_slots, skin.index, skin.generation)) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "scene or palette is NULL, or there is no such skin");
    }
    *out_palette = (pelt_vk_palette){0};
    pelt_result result = reserve_palette(scene, error);
    if (result != PELT_OK) {
        return result;
    }
    if (!pelti_vk_retirement_reserve(&scene->retirement, 3)) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for a palette");
    }
    uint32_t slot = pelti_vk_slots_next(&scene->palette_slots);
    pelti_vk_palette palette = {
        .joint_count = scene->skins[skin.index].joint_count, .first_instance = PELT_NONE, .skin = skin.index};
    result = fill_palette(scene, &palette, slot, error);
    if (result != PELT_OK) {
        pelti_vk_heap_free(scene->device, &palette.matrices);
        pelti_vk_heap_free(scene->device, &palette.worlds);
        pelti_vk_retirement_unreserve(&scene->retirement, 3);
        return result;
    }
    pelti_vk_slots_take(&scene->palette_slots);
    scene->palettes[slot] = palette;
    scene->skins[skin.index].use_count++;
    *out_palette = (pelt_vk_palette){slot, scene->palette_slots.slots[slot].generation};
    return PELT_OK;
}

pelt_result pelt_vk_palette_remove(pelt_vk_scene *scene, pelt_vk_palette palette)
{
    if (!scene || !pelti_vk_slots_live(&scene->palette_slots, palette.index, palette.generation) ||
        scene->palettes[palette.index].first_instance != PELT_NONE) {
        return PELT_ERROR_ARGUMENT;
    }
    pelti_vk_palette *p = &scene->palettes[palette.index];
    if (p->written_by == scene->sequence) {
        gpu_palette_update last = scene->written[--scene->written_count];
        scene->written[p->mark] = last;
        scene->palettes[last.palette].mark = p->mark;
        scene->written_joints -= p->joint_count;
        scene->written_parts -= part_count(p->joint_count);
        p->written_by = 0;
    }
    scene->skins[p->skin].use_count--;
    pelti_vk_discard_range(&scene->retirement, scene->sequence, scene->device, &p->matrices);
    pelti_vk_discard_range(&scene->retirement, scene->sequence, scene->device, &p->worlds);
    pelti_vk_discard_slot(&scene->retirement, scene->sequence, pelti_vk_slots_reuse, &scene->palette_slots,
                          palette.index);
    pelti_vk_slots_drop(&scene->palette_slots, palette.index);
    return PELT_OK;
}

pelt_result pelt_vk_palette_write(pelt_vk_scene *scene, pelt_vk_palette palette, pelt_mat34 **out_world,
                                  pelt_error *error)
{
    pelti_error_clear(error);
    if (!scene || !out_world || !pelti_vk_slots_live(&scene->palette_slots, palette.index, palette.generation)) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "scene or world is NULL, or there is no such palette");
    }
    pelti_vk_palette *p = &scene->palettes[palette.index];
    if (p->written_by != scene->sequence) {
        *out_world = NULL;
        pelt_result result = begin_write(scene, p, palette.index, error);
        if (result != PELT_OK) {
            return result;
        }
    }
    *out_world = p->world;
    for (uint32_t i = p->first_instance; i != PELT_NONE; i = scene->instances[i].next) {
        pelti_vk_mark(scene, i);
    }
    return PELT_OK;
}

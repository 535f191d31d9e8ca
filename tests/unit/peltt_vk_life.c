// SPDX-License-Identifier: MIT
// Random changes to a scene, each with its counterpart in peltt_vk_life.
#include "peltt_vk_life.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const uint32_t peltt_vk_family_joints[PELTT_VK_LIFE_FAMILIES] = {20, PELTT_VK_LIFE_JOINTS};

static uint32_t below(peltt_vk_life *l, uint32_t bound)
{
    return peltt_random_below(&l->random, bound);
}

static bool chance(peltt_vk_life *l, double share)
{
    return peltt_random_chance(&l->random, share);
}

static pelt_vk_scene *scene(peltt_vk_life *l)
{
    return l->stage.scene;
}

// A random slot that is live, or free; capacity where there is none. Each kind of slot begins with bool live.
#define PICK(l, slots, capacity, wanted) pick((l), (slots), sizeof *(slots), (capacity), (wanted))

static uint32_t pick(peltt_vk_life *l, const void *slots, size_t size, uint32_t capacity, bool wanted)
{
    uint32_t start = below(l, capacity);
    for (uint32_t i = 0; i < capacity; i++) {
        uint32_t slot = (start + i) % capacity;
        if (*(const bool *)((const char *)slots + slot * size) == wanted) {
            return slot;
        }
    }
    return capacity;
}

// --- edits

static void add_mesh(peltt_vk_life *l)
{
    pelt_error error = {0};
    uint32_t i = PICK(l, l->meshes, PELTT_VK_LIFE_MESHES, false);
    if (i < PELTT_VK_LIFE_MESHES) {
        uint32_t model = below(l, PELTT_VK_LIFE_MODELS);
        l->meshes[i] = (peltt_vk_mesh_slot){.live = true, .model = model};
        peltt_vk_good(pelt_vk_mesh_add(scene(l), l->models[model]->data, 0, &l->meshes[i].handle, &error), &error);
    }
}

static void remove_mesh(peltt_vk_life *l)
{
    uint32_t i = PICK(l, l->meshes, PELTT_VK_LIFE_MESHES, true);
    if (i == PELTT_VK_LIFE_MESHES) {
        return;
    }
    peltt_vk_mesh_slot *mesh = &l->meshes[i];
    pelt_result result = pelt_vk_mesh_remove(scene(l), mesh->handle);
    assert_int_equal(result, mesh->use_count > 0 ? PELT_ERROR_ARGUMENT : PELT_OK);
    if (result == PELT_OK) {
        mesh->live = false;
        l->stale_meshes[l->stale_mesh_count++ % PELTT_VK_LIFE_STALE] = mesh->handle;
    }
}

static void add_skin(peltt_vk_life *l)
{
    pelt_error error = {0};
    uint32_t i = PICK(l, l->skins, PELTT_VK_LIFE_SKINS, false);
    if (i < PELTT_VK_LIFE_SKINS) {
        uint32_t family = below(l, PELTT_VK_LIFE_FAMILIES);
        l->skins[i] = (peltt_vk_skin_slot){.live = true, .family = family};
        peltt_vk_good(
            pelt_vk_skin_add(scene(l), l->binds[family], peltt_vk_family_joints[family], &l->skins[i].handle, &error),
            &error);
    }
}

static void remove_skin(peltt_vk_life *l)
{
    uint32_t i = PICK(l, l->skins, PELTT_VK_LIFE_SKINS, true);
    if (i == PELTT_VK_LIFE_SKINS) {
        return;
    }
    peltt_vk_skin_slot *skin = &l->skins[i];
    pelt_result result = pelt_vk_skin_remove(scene(l), skin->handle);
    assert_int_equal(result, skin->use_count > 0 ? PELT_ERROR_ARGUMENT : PELT_OK);
    if (result == PELT_OK) {
        skin->live = false;
        l->stale_skins[l->stale_skin_count++ % PELTT_VK_LIFE_STALE] = skin->handle;
    }
}

static void add_palette(peltt_vk_life *l)
{
    pelt_error error = {0};
    uint32_t i = PICK(l, l->palettes, PELTT_VK_LIFE_PALETTES, false);
    uint32_t skin = PICK(l, l->skins, PELTT_VK_LIFE_SKINS, true);
    if (i == PELTT_VK_LIFE_PALETTES || skin == PELTT_VK_LIFE_SKINS) {
        return;
    }
    peltt_vk_palette_slot *palette = &l->palettes[i];
    *palette = (peltt_vk_palette_slot){.live = true, .skin = skin};
    for (uint32_t j = 0; j < PELTT_VK_LIFE_JOINTS; j++) {
        palette->worlds[j] = pelt_mat34_identity();
    }
    peltt_vk_good(pelt_vk_palette_add(scene(l), l->skins[skin].handle, &palette->handle, &error), &error);
    l->skins[skin].use_count++;
}

static void remove_palette(peltt_vk_life *l)
{
    uint32_t i = PICK(l, l->palettes, PELTT_VK_LIFE_PALETTES, true);
    if (i == PELTT_VK_LIFE_PALETTES) {
        return;
    }
    peltt_vk_palette_slot *palette = &l->palettes[i];
    pelt_result result = pelt_vk_palette_remove(scene(l), palette->handle);
    assert_int_equal(result, palette->use_count > 0 ? PELT_ERROR_ARGUMENT : PELT_OK);
    if (result == PELT_OK) {
        palette->live = false;
        l->skins[palette->skin].use_count--;
        l->stale_palettes[l->stale_palette_count++ % PELTT_VK_LIFE_STALE] = palette->handle;
    }
}

static void write_palette(peltt_vk_life *l)
{
    pelt_error error = {0};
    uint32_t i = PICK(l, l->palettes, PELTT_VK_LIFE_PALETTES, true);
    if (i == PELTT_VK_LIFE_PALETTES) {
        return;
    }
    peltt_vk_palette_slot *palette = &l->palettes[i];
    uint32_t joint_count = peltt_vk_family_joints[l->skins[palette->skin].family];
    pelt_mat34 *first = NULL;
    pelt_mat34 *second = NULL;
    peltt_vk_good(pelt_vk_palette_write(scene(l), palette->handle, &first, &error), &error);
    peltt_vk_good(pelt_vk_palette_write(scene(l), palette->handle, &second, &error), &error);
    assert_ptr_equal(first, second);
    peltt_vk_worlds(&l->random, false, joint_count, palette->worlds);
    memcpy(first, palette->worlds, joint_count * sizeof *first);
    for (uint32_t k = 0; k < PELTT_VK_LIFE_ACTORS; k++) {
        l->actors[k].marked = l->actors[k].marked || (l->actors[k].live && l->actors[k].palette == i);
    }
}

static bool is_conservative(const pelt_vk_instance_options *options)
{
    return options->bounds == PELT_VK_BOUNDS_CONSERVATIVE || options->bounds == PELT_VK_BOUNDS_BOTH;
}

// Whether an instance may follow a palette: enough joints, and for joint boxes the skin that they were made for.
static bool fits(const peltt_vk_life *l, uint32_t model, const pelt_vk_instance_options *options, uint32_t palette)
{
    uint32_t family = l->skins[l->palettes[palette].skin].family;
    if (options->rigid || l->models[model]->primitive->influence_count == 0) {
        return true;
    }
    return family == l->families[model] || (family > l->families[model] && !is_conservative(options));
}

static void add_actor(peltt_vk_life *l)
{
    pelt_error error = {0};
    uint32_t i = PICK(l, l->actors, PELTT_VK_LIFE_ACTORS, false);
    uint32_t mesh = PICK(l, l->meshes, PELTT_VK_LIFE_MESHES, true);
    uint32_t palette = PICK(l, l->palettes, PELTT_VK_LIFE_PALETTES, true);
    if (i == PELTT_VK_LIFE_ACTORS || mesh == PELTT_VK_LIFE_MESHES || palette == PELTT_VK_LIFE_PALETTES) {
        return;
    }
    static const pelt_vk_bounds kinds[4] = {PELT_VK_BOUNDS_EXACT, PELT_VK_BOUNDS_CONSERVATIVE, PELT_VK_BOUNDS_BOTH,
                                            PELT_VK_BOUNDS_NONE};
    peltt_vk_life_actor *a = &l->actors[i];
    pelt_vk_instance_options options = {.mesh = l->meshes[mesh].handle,
                                        .palette = l->palettes[palette].handle,
                                        .omit = chance(l, 0.3) ? below(l, 8) : 0,
                                        .rigid = chance(l, 0.2),
                                        .bounds = kinds[below(l, 4)]};
    if (!fits(l, l->meshes[mesh].model, &options, palette)) {
        return;
    }
    *a = (peltt_vk_life_actor){
        .live = true, .mesh = mesh, .palette = palette, .options = options, .marked = true, .serial = l->actor_count++};
    peltt_vk_good(pelt_vk_instance_add(scene(l), &options, &a->handle, &error), &error);
    pelt_vk_view view;
    assert_int_equal(pelt_vk_instance_view(scene(l), a->handle, &view), PELT_OK);
    assert_int_equal(view.generation, 0);
    assert_false(view.previous_valid);
    l->meshes[mesh].use_count++;
    l->palettes[palette].use_count++;
}

static uint32_t ranges_of(const pelt_vk_view *view, uint64_t frame, peltt_vk_taken out[4])
{
    const pelt_vk_stream *streams[4] = {&view->positions, &view->previous_positions, &view->normals, &view->tangents};
    uint32_t count = 0;
    for (int i = 0; i < 4; i++) {
        if (streams[i]->size > 0) {
            out[count++] =
                (peltt_vk_taken){streams[i]->buffer, streams[i]->offset, streams[i]->offset + streams[i]->size, frame};
        }
    }
    return count;
}

static void remove_actor(peltt_vk_life *l)
{
    uint32_t i = PICK(l, l->actors, PELTT_VK_LIFE_ACTORS, true);
    if (i == PELTT_VK_LIFE_ACTORS) {
        return;
    }
    peltt_vk_life_actor *a = &l->actors[i];
    if (a->update_count > 0) {
        assert_true(l->limbo_count + 4 <= PELTT_VK_LIFE_LIMBO);
        l->limbo_count += ranges_of(&a->view, l->stage.frame, l->limbo + l->limbo_count);
    }
    assert_int_equal(pelt_vk_instance_remove(scene(l), a->handle), PELT_OK);
    l->stale_instances[l->stale_instance_count++ % PELTT_VK_LIFE_STALE] = a->handle;
    l->meshes[a->mesh].use_count--;
    l->palettes[a->palette].use_count--;
    a->live = false;
    a->marked = false;
}

static void set_weights(peltt_vk_life *l)
{
    uint32_t i = PICK(l, l->actors, PELTT_VK_LIFE_ACTORS, true);
    if (i == PELTT_VK_LIFE_ACTORS) {
        return;
    }
    peltt_vk_life_actor *a = &l->actors[i];
    float weights[PELTT_VK_LIFE_TARGETS];
    uint32_t count = l->models[l->meshes[a->mesh].model]->target_count;
    memcpy(weights, a->weights, sizeof weights);
    for (uint32_t t = 0; t < count; t++) {
        float low = is_conservative(&a->options) ? 0.0F : -1.0F;
        float high = is_conservative(&a->options) ? 1.0F : 2.0F;
        if (chance(l, 0.5)) {
            weights[t] = chance(l, 0.3) ? 0.0F : peltt_random_float(&l->random, low, high);
        }
    }
    assert_int_equal(pelt_vk_instance_set_weights(scene(l), a->handle, weights, count), PELT_OK);
    a->marked = a->marked || memcmp(weights, a->weights, sizeof weights) != 0;
    memcpy(a->weights, weights, sizeof weights);
}

static void teleport(peltt_vk_life *l)
{
    uint32_t i = PICK(l, l->actors, PELTT_VK_LIFE_ACTORS, true);
    if (i < PELTT_VK_LIFE_ACTORS) {
        assert_int_equal(pelt_vk_instance_teleport(scene(l), l->actors[i].handle), PELT_OK);
        l->actors[i].marked = true;
        l->actors[i].teleported = true;
    }
}

static void switch_palette(peltt_vk_life *l)
{
    uint32_t i = PICK(l, l->actors, PELTT_VK_LIFE_ACTORS, true);
    uint32_t palette = PICK(l, l->palettes, PELTT_VK_LIFE_PALETTES, true);
    if (i == PELTT_VK_LIFE_ACTORS || palette == PELTT_VK_LIFE_PALETTES || l->actors[i].palette == palette ||
        !fits(l, l->meshes[l->actors[i].mesh].model, &l->actors[i].options, palette)) {
        return;
    }
    peltt_vk_life_actor *a = &l->actors[i];
    assert_int_equal(pelt_vk_instance_set_palette(scene(l), a->handle, l->palettes[palette].handle), PELT_OK);
    l->palettes[a->palette].use_count--;
    l->palettes[palette].use_count++;
    a->palette = palette;
    a->marked = true;
}

void peltt_vk_life_edit(peltt_vk_life *l)
{
    static void (*const edits[])(peltt_vk_life *) = {
        add_mesh,      add_mesh,      remove_mesh,    add_skin,      add_skin,      remove_skin, add_palette,
        add_palette,   add_palette,   remove_palette, add_actor,     add_actor,     add_actor,   add_actor,
        add_actor,     remove_actor,  remove_actor,   write_palette, write_palette, set_weights, set_weights,
        write_palette, write_palette, teleport,       switch_palette};
    uint32_t count = chance(l, 0.15) ? 0 : below(l, 32);
    for (uint32_t i = 0; i < count; i++) {
        edits[below(l, sizeof edits / sizeof *edits)](l);
    }
}

// --- handles of what is gone

void peltt_vk_life_refuse_stale(peltt_vk_life *l)
{
    pelt_error error = {0};
    pelt_mat34 *worlds = NULL;
    pelt_vk_view view;
    if (l->stale_instance_count > 0) {
        uint32_t count = l->stale_instance_count < PELTT_VK_LIFE_STALE ? l->stale_instance_count : PELTT_VK_LIFE_STALE;
        pelt_vk_instance stale = l->stale_instances[below(l, count)];
        assert_int_equal(pelt_vk_instance_view(scene(l), stale, &view), PELT_ERROR_ARGUMENT);
        assert_int_equal(pelt_vk_instance_teleport(scene(l), stale), PELT_ERROR_ARGUMENT);
        assert_int_equal(pelt_vk_instance_set_weights(scene(l), stale, NULL, 0), PELT_ERROR_ARGUMENT);
        assert_int_equal(pelt_vk_instance_remove(scene(l), stale), PELT_ERROR_ARGUMENT);
    }
    if (l->stale_mesh_count > 0) {
        uint32_t count = l->stale_mesh_count < PELTT_VK_LIFE_STALE ? l->stale_mesh_count : PELTT_VK_LIFE_STALE;
        assert_int_equal(pelt_vk_mesh_remove(scene(l), l->stale_meshes[below(l, count)]), PELT_ERROR_ARGUMENT);
    }
    if (l->stale_skin_count > 0) {
        uint32_t count = l->stale_skin_count < PELTT_VK_LIFE_STALE ? l->stale_skin_count : PELTT_VK_LIFE_STALE;
        pelt_vk_skin stale = l->stale_skins[below(l, count)];
        pelt_vk_palette palette;
        assert_int_equal(pelt_vk_palette_add(scene(l), stale, &palette, &error), PELT_ERROR_ARGUMENT);
        assert_int_equal(pelt_vk_skin_remove(scene(l), stale), PELT_ERROR_ARGUMENT);
    }
    if (l->stale_palette_count > 0) {
        uint32_t count = l->stale_palette_count < PELTT_VK_LIFE_STALE ? l->stale_palette_count : PELTT_VK_LIFE_STALE;
        pelt_vk_palette stale = l->stale_palettes[below(l, count)];
        uint32_t i = PICK(l, l->actors, PELTT_VK_LIFE_ACTORS, true);
        assert_int_equal(pelt_vk_palette_write(scene(l), stale, &worlds, &error), PELT_ERROR_ARGUMENT);
        assert_int_equal(pelt_vk_palette_remove(scene(l), stale), PELT_ERROR_ARGUMENT);
        if (i < PELTT_VK_LIFE_ACTORS) {
            assert_int_equal(pelt_vk_instance_set_palette(scene(l), l->actors[i].handle, stale), PELT_ERROR_ARGUMENT);
        }
    }
}

// --- output ranges

static int by_place(const void *left, const void *right)
{
    const peltt_vk_taken *a = left;
    const peltt_vk_taken *b = right;
    if (a->buffer != b->buffer) {
        return (uintptr_t)a->buffer < (uintptr_t)b->buffer ? -1 : 1;
    }
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

void peltt_vk_life_check_ranges(peltt_vk_life *l, uint64_t retired)
{
    static peltt_vk_taken all[PELTT_VK_LIFE_LIMBO + 4 * PELTT_VK_LIFE_ACTORS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->limbo_count;) {
        if (l->limbo[i].frame <= retired) {
            l->limbo[i] = l->limbo[--l->limbo_count];
        } else {
            all[count++] = l->limbo[i++];
        }
    }
    for (uint32_t i = 0; i < PELTT_VK_LIFE_ACTORS; i++) {
        count += l->actors[i].live ? ranges_of(&l->actors[i].view, 0, all + count) : 0;
    }
    qsort(all, count, sizeof *all, by_place);
    for (uint32_t i = 1; i < count; i++) {
        assert_true(all[i].buffer != all[i - 1].buffer || all[i].begin >= all[i - 1].end);
    }
}

// --- from begin to end

static void make_models(peltt_vk_life *l)
{
    static const uint32_t vertices[PELTT_VK_LIFE_MODELS] = {0, 1, 63, 64, 65, 300, 500, 1023, 1024, 1025, 1500, 2200};
    for (uint32_t i = 0; i < PELTT_VK_LIFE_MODELS; i++) {
        l->families[i] = i % PELTT_VK_LIFE_FAMILIES;
        const peltt_vk_shape shape = {.vertex_count = vertices[i],
                                      .influence_count = i % 5 == 4 ? 0 : 1 + i * 5 % 9,
                                      .joint_count = peltt_vk_family_joints[l->families[i]],
                                      .target_count = i % 4 == 1 ? 0 : i % 4 + 1,
                                      .scattered = i % 6 == 3,
                                      .no_normals = i % 5 == 3,
                                      .no_tangents = i % 5 >= 2,
                                      .indexed = i % 2 == 0,
                                      .bind_seed = l->families[i],
                                      .cook = {.direct_joints = i % 6 == 5, .morph_16bit = i % 3 == 0}};
        l->models[i] = peltt_vk_model_make(&shape, 200 + i);
    }
    for (uint32_t f = 0; f < PELTT_VK_LIFE_FAMILIES; f++) {
        peltt_vk_binds(f, false, peltt_vk_family_joints[f], l->binds[f]);
    }
}

void peltt_vk_life_begin(peltt_vk_life *l)
{
    make_models(l);
    for (int i = 0; i < 12; i++) { // so that the first frames have something to do
        add_mesh(l);
        add_skin(l);
        add_palette(l);
        add_actor(l);
    }
}

void peltt_vk_life_end(peltt_vk_life *l)
{
    for (uint32_t i = 0; i < PELTT_VK_LIFE_MODELS; i++) {
        peltt_vk_model_free(l->models[i]);
    }
}

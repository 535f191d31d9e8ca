// SPDX-License-Identifier: MIT
// Opens scenes for tests and copies their outputs back.
#include "peltt_vk_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    PADDING = 64 // less than that between two ranges belongs to no one
};

void peltt_vk_good(pelt_result result, const pelt_error *error)
{
    if (result != PELT_OK) {
        fail_msg("%s: %s", pelt_result_name(result), error ? error->message : "");
    }
}

bool peltt_vk_is_nothing(const pelt_vk_statistics *s)
{
    return s->palette_count == 0 && s->joint_count == 0 && s->instance_count == 0 && s->item_count == 0 &&
           s->vertex_count == 0 && s->reduced_count == 0 && s->conservative_count == 0 && s->written_bytes == 0 &&
           s->copied_bytes == 0 && s->dispatch_count == 0 && s->barrier_count == 0;
}

void peltt_vk_stage_scene(peltt_vk_stage *stage, const pelt_vk_scene_options *options)
{
    pelt_error error = {0};
    pelt_vk_scene_destroy(stage->scene);
    stage->scene = NULL;
    stage->frame = 0;
    peltt_vk_good(pelt_vk_scene_create(stage->context, options, &stage->scene, &error), &error);
}

void peltt_vk_stage_open(peltt_vk_stage *stage, const peltt_vk_options *device, const pelt_vk_scene_options *scene,
                         void (*edit)(pelt_vk_context_options *options))
{
    *stage = (peltt_vk_stage){0};
    peltt_vk_create(&stage->vk, device);
    pelt_vk_context_options options = peltt_vk_context_options(&stage->vk);
    options.allocator = peltt_alloc_make(&stage->memory);
    if (edit) {
        edit(&options);
    }
    pelt_error error = {0};
    peltt_vk_good(pelt_vk_context_create(&options, &stage->context, &error), &error);
    peltt_vk_stage_scene(stage, scene);
}

void peltt_vk_stage_close(peltt_vk_stage *stage)
{
    pelt_vk_scene_destroy(stage->scene);
    pelt_vk_context_destroy(stage->context);
    assert_int_equal(stage->memory.live_bytes, 0);
    assert_int_equal(stage->memory.live_blocks, 0);
    peltt_vk_destroy(&stage->vk);
}

// --- copies

uint32_t peltt_vk_fetch_add(peltt_vk_fetch *fetch, const pelt_vk_stream *stream)
{
    if (fetch->count == fetch->capacity) {
        fetch->capacity = fetch->capacity == 0 ? 64 : 2 * fetch->capacity;
        fetch->streams = realloc(fetch->streams, fetch->capacity * sizeof *fetch->streams);
        fetch->places = realloc(fetch->places, fetch->capacity * sizeof *fetch->places);
        assert_true(fetch->streams != NULL && fetch->places != NULL);
    }
    fetch->streams[fetch->count] = *stream;
    return fetch->count++;
}

static int by_place(const void *left, const void *right)
{
    const pelt_vk_stream *a = *(const pelt_vk_stream *const *)left;
    const pelt_vk_stream *b = *(const pelt_vk_stream *const *)right;
    if (a->buffer != b->buffer) {
        return (uintptr_t)a->buffer < (uintptr_t)b->buffer ? -1 : 1;
    }
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

// Sets the places and returns the regions: one for each row of neighbours, with the index of its first stream.
static uint32_t plan(peltt_vk_fetch *fetch, const pelt_vk_stream **sorted, VkBufferCopy *regions, uint32_t *firsts)
{
    uint32_t region_count = 0;
    VkDeviceSize size = 0;
    for (uint32_t i = 0; i < fetch->count; i++) {
        const pelt_vk_stream *s = sorted[i];
        VkBufferCopy *region = region_count == 0 ? NULL : &regions[region_count - 1];
        VkDeviceSize end = region ? region->srcOffset + region->size : 0;
        if (!region || sorted[firsts[region_count - 1]]->buffer != s->buffer || s->offset >= end + PADDING) {
            region = &regions[region_count];
            firsts[region_count++] = i;
            size = (size + PADDING - 1) / PADDING * PADDING;
            *region = (VkBufferCopy){s->offset, size, 0};
        }
        if (s->offset + s->size > region->srcOffset + region->size) {
            region->size = s->offset + s->size - region->srcOffset;
        }
        size = region->dstOffset + region->size;
        fetch->places[s - fetch->streams] = region->dstOffset + (s->offset - region->srcOffset);
    }
    firsts[region_count] = fetch->count;
    return region_count;
}

static void record_copies(peltt_vk_fetch *fetch, peltt_vk *vk, VkCommandBuffer cmd, const pelt_vk_stream **sorted,
                          VkBufferCopy *regions, uint32_t *firsts)
{
    uint32_t region_count = plan(fetch, sorted, regions, firsts);
    const VkBufferCopy *last = &regions[region_count - 1];
    VkDeviceSize size = last->dstOffset + last->size;
    if (size == 0) {
        return;
    }
    fetch->buffer = peltt_vk_buffer_create(vk, size, VK_BUFFER_USAGE_TRANSFER_DST_BIT, true);
    for (uint32_t i = 0, end = 0; i < region_count; i = end) {
        VkBuffer source = sorted[firsts[i]]->buffer;
        for (end = i; end < region_count && sorted[firsts[end]]->buffer == source;) {
            end++;
        }
        uint32_t first = i;
        while (first < end && regions[first].size == 0) {
            first++;
        }
        if (first < end) {
            PELTT_VK(vk, vkCmdCopyBuffer)(cmd, source, fetch->buffer.buffer, end - first, regions + first);
        }
    }
    const VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    PELTT_VK(vk, vkCmdPipelineBarrier)
    (cmd, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0, NULL);
}

void peltt_vk_fetch_record(peltt_vk_fetch *fetch, peltt_vk *vk, VkCommandBuffer cmd)
{
    if (fetch->count == 0) {
        return;
    }
    const pelt_vk_stream **sorted = calloc(fetch->count, sizeof(const pelt_vk_stream *));
    VkBufferCopy *regions = calloc(fetch->count, sizeof *regions);
    uint32_t *firsts = calloc((size_t)fetch->count + 1, sizeof *firsts);
    assert_true(sorted != NULL && regions != NULL && firsts != NULL);
    for (uint32_t i = 0; i < fetch->count; i++) {
        sorted[i] = &fetch->streams[i];
    }
    qsort(sorted, fetch->count, sizeof(const pelt_vk_stream *), by_place);
    record_copies(fetch, vk, cmd, sorted, regions, firsts);
    free(sorted);
    free(regions);
    free(firsts);
}

const void *peltt_vk_fetch_get(const peltt_vk_fetch *fetch, uint32_t index)
{
    assert_true(index < fetch->count);
    return fetch->streams[index].size == 0 ? NULL : (const char *)fetch->buffer.data + fetch->places[index];
}

void peltt_vk_fetch_free(peltt_vk_fetch *fetch, peltt_vk *vk)
{
    if (fetch->buffer.buffer) {
        peltt_vk_buffer_destroy(vk, &fetch->buffer);
    }
    free(fetch->streams);
    free(fetch->places);
    *fetch = (peltt_vk_fetch){0};
}

peltt_vk_shot peltt_vk_shoot(peltt_vk_fetch *fetch, const pelt_vk_scene *scene, pelt_vk_instance instance)
{
    peltt_vk_shot shot = {0};
    assert_int_equal(pelt_vk_instance_view(scene, instance, &shot.view), PELT_OK);
    const pelt_vk_stream *streams[7] = {
        &shot.view.positions, &shot.view.previous_positions, &shot.view.normals, &shot.view.tangents,
        &shot.view.box,       &shot.view.conservative_box,   &shot.view.indices};
    for (int i = 0; i < 7; i++) {
        shot.indices[i] = peltt_vk_fetch_add(fetch, streams[i]);
    }
    return shot;
}

// --- actors

void peltt_vk_actor_add(peltt_vk_stage *stage, peltt_vk_actor *actor, const peltt_vk_model *model,
                        const pelt_vk_instance_options *options)
{
    pelt_error error = {0};
    *actor = (peltt_vk_actor){.model = model};
    actor->worlds = calloc(model->joint_count, sizeof *actor->worlds);
    actor->weights = calloc((size_t)model->target_count + 1, sizeof *actor->weights);
    assert_true(actor->worlds != NULL && actor->weights != NULL);
    for (uint32_t i = 0; i < model->joint_count; i++) {
        actor->worlds[i] = pelt_mat34_identity();
    }
    peltt_vk_good(pelt_vk_mesh_add(stage->scene, model->data, 0, &actor->mesh, &error), &error);
    peltt_vk_good(pelt_vk_skin_add(stage->scene, model->binds, model->joint_count, &actor->skin, &error), &error);
    peltt_vk_good(pelt_vk_palette_add(stage->scene, actor->skin, &actor->palette, &error), &error);
    pelt_vk_instance_options used = *options;
    used.mesh = actor->mesh;
    used.palette = actor->palette;
    peltt_vk_good(pelt_vk_instance_add(stage->scene, &used, &actor->instance, &error), &error);
    actor->want = (peltt_vk_want){.model = model,
                                  .worlds = actor->worlds,
                                  .binds = model->binds,
                                  .joint_count = model->joint_count,
                                  .weights = actor->weights,
                                  .rigid = used.rigid,
                                  .omit = used.omit,
                                  .bounds = used.bounds == PELT_VK_BOUNDS_DEFAULT ? PELT_VK_BOUNDS_EXACT : used.bounds};
}

void peltt_vk_actor_move(peltt_vk_stage *stage, peltt_vk_actor *actor, bool moderate, peltt_random *random)
{
    pelt_error error = {0};
    pelt_mat34 *worlds = NULL;
    uint32_t joint_count = actor->model->joint_count;
    uint32_t target_count = actor->model->target_count;
    peltt_vk_worlds(random, moderate, joint_count, actor->worlds);
    peltt_vk_good(pelt_vk_palette_write(stage->scene, actor->palette, &worlds, &error), &error);
    memcpy(worlds, actor->worlds, joint_count * sizeof *worlds);
    for (uint32_t i = 0; i < target_count; i++) {
        actor->weights[i] = peltt_random_chance(random, 0.2) ? 0.0F : peltt_random_float(random, 0.0F, 1.0F);
    }
    assert_int_equal(pelt_vk_instance_set_weights(stage->scene, actor->instance, actor->weights, target_count),
                     PELT_OK);
}

void peltt_vk_actor_remove(peltt_vk_stage *stage, peltt_vk_actor *actor)
{
    assert_int_equal(pelt_vk_instance_remove(stage->scene, actor->instance), PELT_OK);
    assert_int_equal(pelt_vk_palette_remove(stage->scene, actor->palette), PELT_OK);
    assert_int_equal(pelt_vk_skin_remove(stage->scene, actor->skin), PELT_OK);
    assert_int_equal(pelt_vk_mesh_remove(stage->scene, actor->mesh), PELT_OK);
    free(actor->worlds);
    free(actor->weights);
}

pelt_vk_statistics peltt_vk_play(peltt_vk_stage *stage, uint32_t actor_count, const peltt_vk_actor *actors,
                                 peltt_vk_worst *worst)
{
    pelt_error error = {0};
    pelt_vk_statistics statistics = {0};
    peltt_vk_fetch fetch = {0};
    peltt_vk_shot *shots = calloc((size_t)actor_count + 1, sizeof *shots);
    assert_non_null(shots);
    VkCommandBuffer cmd = peltt_vk_begin(&stage->vk);
    peltt_vk_good(pelt_vk_record(stage->scene, cmd, ++stage->frame, &statistics, &error), &error);
    for (uint32_t i = 0; i < actor_count; i++) {
        shots[i] = peltt_vk_shoot(&fetch, stage->scene, actors[i].instance);
        peltt_vk_check_view(&stage->vk, &shots[i].view, &actors[i].want);
    }
    peltt_vk_fetch_record(&fetch, &stage->vk, cmd);
    peltt_vk_run(&stage->vk, cmd);
    pelt_vk_retire(stage->scene, stage->frame);
    for (uint32_t i = 0; i < actor_count; i++) {
        peltt_vk_compare(&fetch, &shots[i], &actors[i].want, worst);
    }
    peltt_vk_fetch_free(&fetch, &stage->vk);
    free(shots);
    peltt_vk_check(&stage->vk);
    return statistics;
}

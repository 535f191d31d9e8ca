// SPDX-License-Identifier: MIT
// Who reads the outputs: a draw, a transfer and an acceleration-structure build in the very next command, with no
// barrier of their own for them; and what the recorded barriers say, which no layer can check where shaders write by
// address.
#include "peltt_vk_draw.h"
#include "peltt_vk_fake.h"
#include "peltt_vk_scene.h"
#include "peltt_vk_tap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    FRAME_COUNT = 5, // in flight at once
    JOINT_COUNT = 6
};

static const peltt_vk_shape shape = {.vertex_count = 40,
                                     .influence_count = 3,
                                     .joint_count = JOINT_COUNT,
                                     .target_count = 2,
                                     .indexed = true,
                                     .moderate = true};
static const pelt_vk_scene_options scene_options = {.allow_conservative = true, .item_vertices = 64};

// --- drawing

typedef struct picture {
    VkCommandBuffer cmd;
    VkFence fence;
    peltt_vk_canvas canvas;
    peltt_vk_fetch fetch;
    peltt_vk_shot shot;
    pelt_mat34 worlds[JOINT_COUNT];
    float weights[2];
} picture;

static void check_picture(picture *p, peltt_vk *vk, const peltt_vk_actor *actor, const peltt_vk_camera *camera)
{
    peltt_vk_worst worst = {0};
    peltt_vk_want want = actor->want;
    want.worlds = p->worlds;
    want.weights = p->weights;
    peltt_vk_wait(vk, p->cmd, p->fence);
    peltt_vk_compare(&p->fetch, &p->shot, &want, &worst);
    const pelt_primitive *primitive = actor->model->primitive;
    peltt_vk_canvas_compare(&p->canvas, camera, peltt_vk_fetch_get(&p->fetch, p->shot.indices[0]), primitive->indices,
                            primitive->index_count);
    peltt_vk_fetch_free(&p->fetch, vk);
    peltt_vk_canvas_destroy(&p->canvas, vk);
}

static void draw_first(peltt_vk *vk, const peltt_vk_draw *draw, const peltt_vk_camera *camera, picture *p)
{
    peltt_vk_draw_record(draw, vk, p->cmd, &p->canvas, &p->shot.view, camera);
    peltt_vk_fetch_record(&p->fetch, vk, p->cmd);
}

static void copy_first(peltt_vk *vk, const peltt_vk_draw *draw, const peltt_vk_camera *camera, picture *p)
{
    peltt_vk_fetch_record(&p->fetch, vk, p->cmd);
    peltt_vk_draw_record(draw, vk, p->cmd, &p->canvas, &p->shot.view, camera);
}

// Five frames on their way at once, each drawn and copied right after its record.
static void draw_frames(const pelt_vk_scene_options *options,
                        void (*consume)(peltt_vk *, const peltt_vk_draw *, const peltt_vk_camera *, picture *))
{
    static const peltt_vk_camera camera = {{5.0F, 5.0F}, 0.4F};
    peltt_vk_stage stage;
    peltt_vk_draw draw;
    peltt_vk_actor actor;
    pelt_error error = {0};
    peltt_random random = {107};
    picture pictures[FRAME_COUNT] = {0};
    peltt_vk_stage_open(&stage, NULL, options, NULL);
    peltt_vk_draw_create(&draw, &stage.vk);
    peltt_vk_model *model = peltt_vk_model_make(&shape, 109);
    peltt_vk_actor_add(&stage, &actor, model, &(pelt_vk_instance_options){.bounds = PELT_VK_BOUNDS_BOTH});
    for (int i = 0; i < FRAME_COUNT; i++) {
        picture *p = &pictures[i];
        peltt_vk_canvas_create(&p->canvas, &draw, &stage.vk);
        peltt_vk_actor_move(&stage, &actor, true, &random);
        memcpy(p->worlds, actor.worlds, sizeof p->worlds);
        memcpy(p->weights, actor.weights, sizeof p->weights);
        p->cmd = peltt_vk_begin(&stage.vk);
        peltt_vk_good(pelt_vk_record(stage.scene, p->cmd, ++stage.frame, NULL, &error), &error);
        p->shot = peltt_vk_shoot(&p->fetch, stage.scene, actor.instance);
        consume(&stage.vk, &draw, &camera, p);
        p->fence = peltt_vk_submit(&stage.vk, p->cmd);
    }
    for (int i = 0; i < FRAME_COUNT; i++) {
        check_picture(&pictures[i], &stage.vk, &actor, &camera);
    }
    peltt_vk_actor_remove(&stage, &actor);
    peltt_vk_model_free(model);
    peltt_vk_draw_destroy(&draw, &stage.vk);
    peltt_vk_stage_close(&stage);
}

static void positions_are_drawn_in_the_next_command(void **state)
{
    (void)state;
    draw_frames(&scene_options, draw_first);
    draw_frames(&scene_options, copy_first);
}

static void consumers_may_be_named(void **state)
{
    (void)state;
    pelt_vk_scene_options options = scene_options;
    options.consumer_stages = VK_PIPELINE_STAGE_2_VERTEX_ATTRIBUTE_INPUT_BIT | VK_PIPELINE_STAGE_2_INDEX_INPUT_BIT |
                              VK_PIPELINE_STAGE_2_COPY_BIT;
    options.consumer_access =
        VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_2_INDEX_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT;
    draw_frames(&options, draw_first);
    options.consumer_stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    options.consumer_access = VK_ACCESS_2_MEMORY_READ_BIT;
    draw_frames(&options, draw_first);
}

// --- barriers

// Single stages that a mask stands for.
static VkPipelineStageFlags2 spread(VkPipelineStageFlags2 stages)
{
    if ((stages & VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT) != 0) {
        return ~(VkPipelineStageFlags2)0;
    }
    if ((stages & VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT) != 0) {
        stages |= VK_PIPELINE_STAGE_2_VERTEX_ATTRIBUTE_INPUT_BIT | VK_PIPELINE_STAGE_2_INDEX_INPUT_BIT;
    }
    if ((stages & VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT) != 0) {
        stages |= VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_BLIT_BIT | VK_PIPELINE_STAGE_2_RESOLVE_BIT |
                  VK_PIPELINE_STAGE_2_CLEAR_BIT;
    }
    return stages & ~(VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT);
}

static VkAccessFlags2 spread_access(VkAccessFlags2 access)
{
    if ((access & VK_ACCESS_2_SHADER_READ_BIT) != 0) {
        access |= VK_ACCESS_2_SHADER_STORAGE_READ_BIT;
    }
    return (access & VK_ACCESS_2_MEMORY_READ_BIT) != 0 ? ~(VkAccessFlags2)0 : access;
}

static bool covers(uint64_t mask, uint64_t wanted)
{
    return (mask & wanted) == wanted;
}

typedef struct consumer {
    VkPipelineStageFlags2 stages;
    VkAccessFlags2 access;
} consumer;

static const VkPipelineStageFlags2 compute = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
static const VkPipelineStageFlags2 copy = VK_PIPELINE_STAGE_2_COPY_BIT;
static const VkAccessFlags2 write = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
static const VkAccessFlags2 read_write = VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;

// After copies and between passes: what was written is seen, and after copies it may be written over.
static void check_inner_barriers(const peltt_vk_tap *t)
{
    bool copied = false;
    bool dispatched = false;
    for (uint32_t i = 1; i + 1 < t->command_count; i++) {
        const peltt_vk_tap_command *command = &t->commands[i];
        const VkMemoryBarrier2 *b = &command->memory;
        if (command->kind == PELTT_VK_TAP_BARRIER) {
            assert_true(copied || dispatched);
            assert_true(covers(spread(b->srcStageMask), (copied ? copy : 0) | (dispatched ? compute : 0)));
            assert_true(
                covers(b->srcAccessMask, (copied ? VK_ACCESS_2_TRANSFER_WRITE_BIT : 0) | (dispatched ? write : 0)));
            assert_true(covers(spread(b->dstStageMask), compute));
            assert_true(covers(b->dstAccessMask, copied ? read_write : VK_ACCESS_2_SHADER_STORAGE_READ_BIT));
            copied = false;
            dispatched = false;
        }
        assert_false(command->kind == PELTT_VK_TAP_DISPATCH && copied);
        copied = copied || command->kind == PELTT_VK_TAP_COPY;
        dispatched = dispatched || command->kind == PELTT_VK_TAP_DISPATCH;
    }
}

// The commands of one record: readers of before come first, each pass sees what the one before wrote, and those who
// read after see everything.
static void check_barriers(const consumer *c)
{
    const peltt_vk_tap *t = &peltt_vk_tap_state;
    assert_true(t->command_count >= 3 && t->command_count <= PELTT_VK_TAP_CAPACITY);
    bool copies = false;
    bool dispatches = false;
    for (uint32_t i = 0; i < t->command_count; i++) {
        copies = copies || t->commands[i].kind == PELTT_VK_TAP_COPY;
        dispatches = dispatches || t->commands[i].kind == PELTT_VK_TAP_DISPATCH;
    }
    const VkMemoryBarrier2 *first = &t->commands[0].memory;
    assert_int_equal(t->commands[0].kind, PELTT_VK_TAP_BARRIER);
    // The record before may have had copies where this one has none.
    assert_true(covers(spread(first->srcStageMask), spread(c->stages) | compute | copy));
    assert_true(covers(first->srcAccessMask, write | VK_ACCESS_2_TRANSFER_WRITE_BIT));
    assert_true(covers(spread(first->dstStageMask), (dispatches ? compute : 0) | (copies ? copy : 0)));
    assert_true(covers(first->dstAccessMask, dispatches ? read_write : 0));
    assert_true(
        covers(first->dstAccessMask, copies ? VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT : 0));
    const VkMemoryBarrier2 *last = &t->commands[t->command_count - 1].memory;
    assert_int_equal(t->commands[t->command_count - 1].kind, PELTT_VK_TAP_BARRIER);
    assert_true(covers(spread(last->srcStageMask), (dispatches ? compute : 0) | (copies ? copy : 0)));
    assert_true(covers(last->srcAccessMask, (dispatches ? write : 0) | (copies ? VK_ACCESS_2_TRANSFER_WRITE_BIT : 0)));
    assert_true(covers(spread(last->dstStageMask), spread(c->stages)));
    assert_true(covers(spread_access(last->dstAccessMask), c->access));
    check_inner_barriers(t);
}

// Passes with barriers of compute to compute between them.
static uint32_t count_phases(void)
{
    uint32_t phases = 0;
    bool open = false;
    for (uint32_t i = 0; i < peltt_vk_tap_state.command_count; i++) {
        const peltt_vk_tap_command *command = &peltt_vk_tap_state.commands[i];
        if (command->kind == PELTT_VK_TAP_DISPATCH && !open) {
            open = true;
            phases++;
        } else if (command->kind == PELTT_VK_TAP_BARRIER) {
            open = false;
        }
    }
    return phases;
}

static pelt_vk_statistics record_alone(peltt_vk_stage *stage)
{
    pelt_error error = {0};
    pelt_vk_statistics statistics;
    VkCommandBuffer cmd = peltt_vk_begin(&stage->vk);
    peltt_vk_tap_state.command_count = 0;
    peltt_vk_good(pelt_vk_record(stage->scene, cmd, ++stage->frame, &statistics, &error), &error);
    peltt_vk_run(&stage->vk, cmd);
    pelt_vk_retire(stage->scene, stage->frame);
    return statistics;
}

// A first record with uploads, one of matrices alone, one of weights alone, one after growth, one of uploads alone.
static void check_records(peltt_vk_stage *stage, const consumer *c)
{
    peltt_random random = {113};
    peltt_vk_actor actors[3];
    peltt_vk_model *models[2];
    const uint32_t vertex_counts[2] = {60, 300};
    for (int i = 0; i < 2; i++) {
        peltt_vk_shape used = shape;
        used.vertex_count = vertex_counts[i];
        models[i] = peltt_vk_model_make(&used, 127);
    }
    peltt_vk_actor_add(stage, &actors[0], models[0], &(pelt_vk_instance_options){.bounds = PELT_VK_BOUNDS_EXACT});
    record_alone(stage);
    check_barriers(c);
    peltt_vk_actor_move(stage, &actors[0], true, &random);
    record_alone(stage);
    check_barriers(c);
    assert_int_equal(count_phases(), 2); // palette and items, skin
    const float weights[2] = {0.5F, 0.25F};
    assert_int_equal(pelt_vk_instance_set_weights(stage->scene, actors[0].instance, weights, 2), PELT_OK);
    record_alone(stage);
    check_barriers(c);
    peltt_vk_actor_add(stage, &actors[1], models[1], &(pelt_vk_instance_options){.bounds = PELT_VK_BOUNDS_BOTH});
    record_alone(stage);
    check_barriers(c);
    assert_int_equal(count_phases(), 3); // and the union of partial boxes
    pelt_error error = {0};
    pelt_vk_mesh mesh;
    peltt_vk_good(pelt_vk_mesh_add(stage->scene, models[1]->data, 0, &mesh, &error), &error);
    const pelt_vk_statistics s = record_alone(stage);
    check_barriers(c);
    assert_int_equal(s.dispatch_count, 0);
    assert_true(s.copied_bytes > 0);
    for (int i = 0; i < 2; i++) {
        peltt_vk_actor_remove(stage, &actors[i]);
        peltt_vk_model_free(models[i]);
    }
}

static const consumer usual = {VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT | VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT |
                                   VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
                               VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_2_INDEX_READ_BIT |
                                   VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT};

static void barriers_cover_the_consumers(void **state)
{
    (void)state;
    peltt_vk_stage stage;
    peltt_vk_stage_open(&stage, NULL, &scene_options, peltt_vk_tap_install);
    check_records(&stage, &usual);
    const consumer named[3] = {
        {VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_READ_BIT},
        {VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_READ_BIT},
        {VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT,
         VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT},
    };
    for (int i = 0; i < 3; i++) {
        pelt_vk_scene_options options = scene_options;
        options.consumer_stages = named[i].stages;
        options.consumer_access = named[i].access;
        peltt_vk_stage_scene(&stage, &options);
        check_records(&stage, &named[i]);
    }
    peltt_vk_stage_close(&stage);
}

// A device that has none is made to say that it has.
static void with_ray_tracing(pelt_vk_context_options *options)
{
    peltt_vk_tap_install(options);
    peltt_vk_tap_state.no_ray_tracing = !options->acceleration_structure || !options->ray_tracing_pipeline;
    options->physical = peltt_vk_fake_start(&options->physical, options->get_device_proc_addr);
    peltt_vk_fake_state.optional = true;
    options->acceleration_structure = true;
    options->ray_tracing_pipeline = true;
}

// A build reads its input at the stage of builds; a release to ray-tracing shaders alone would race.
static void barriers_cover_acceleration_structure_builds(void **state)
{
    (void)state;
    peltt_vk_stage stage;
    consumer c = usual;
    c.stages |=
        VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_BUILD_BIT_KHR | VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR;
    c.access |= VK_ACCESS_2_SHADER_READ_BIT;
    peltt_vk_stage_open(&stage, NULL, &scene_options, with_ray_tracing);
    check_records(&stage, &c);
    assert_true(covers(peltt_vk_tap_state.usages,
                       VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR |
                           VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |
                           VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                           VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT));
    peltt_vk_stage_close(&stage);
}

// --- queue families

static const uint32_t families[3] = {0, 2, 5};
static uint32_t given_families[3];

static void three_families(pelt_vk_context_options *options)
{
    peltt_vk_tap_install(options);
    peltt_vk_tap_state.one_family = true;
    options->physical = peltt_vk_fake_start(&options->physical, options->get_device_proc_addr);
    peltt_vk_fake_state.family_count = 6;
    memcpy(given_families, families, sizeof families);
    options->queue_family_count = 3;
    options->queue_families = given_families;
}

static void buffers_are_shared_between_families(void **state)
{
    (void)state;
    peltt_vk_stage stage;
    peltt_vk_stage_open(&stage, NULL, &scene_options, three_families);
    memset(given_families, 0, sizeof given_families); // read during creation only
    check_records(&stage, &usual);
    assert_int_equal(peltt_vk_tap_state.exclusive_buffers, 0);
    assert_true(peltt_vk_tap_state.shared_buffers >= 2);
    assert_int_equal(peltt_vk_tap_state.family_count, 3);
    assert_memory_equal(peltt_vk_tap_state.families, families, sizeof families);
    peltt_vk_stage_close(&stage);
    peltt_vk_stage_open(&stage, NULL, &scene_options, peltt_vk_tap_install);
    check_records(&stage, &usual);
    assert_int_equal(peltt_vk_tap_state.shared_buffers, 0);
    peltt_vk_stage_close(&stage);
}

// --- acceleration structures

typedef struct structure {
    VkAccelerationStructureKHR handle;
    peltt_vk_buffer buffer;
    peltt_vk_buffer scratch;
} structure;

static structure record_build(peltt_vk *vk, VkCommandBuffer cmd, const VkAccelerationStructureGeometryKHR *geometry,
                              uint32_t count)
{
    structure s = {0};
    VkAccelerationStructureBuildGeometryInfoKHR build = {
        .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_GEOMETRY_INFO_KHR,
        .type = VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR,
        .flags = VK_BUILD_ACCELERATION_STRUCTURE_ALLOW_COMPACTION_BIT_KHR,
        .geometryCount = 1,
        .pGeometries = geometry};
    VkAccelerationStructureBuildSizesInfoKHR sizes = {
        .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_SIZES_INFO_KHR};
    PELTT_VK(vk, vkGetAccelerationStructureBuildSizesKHR)
    (vk->device, VK_ACCELERATION_STRUCTURE_BUILD_TYPE_DEVICE_KHR, &build, &count, &sizes);
    s.buffer = peltt_vk_buffer_create(
        vk, sizes.accelerationStructureSize,
        VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, false);
    s.scratch =
        peltt_vk_buffer_create(vk, sizes.buildScratchSize + 256,
                               VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, false);
    const VkAccelerationStructureCreateInfoKHR info = {.sType =
                                                           VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_CREATE_INFO_KHR,
                                                       .buffer = s.buffer.buffer,
                                                       .size = sizes.accelerationStructureSize,
                                                       .type = VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR};
    assert_int_equal(PELTT_VK(vk, vkCreateAccelerationStructureKHR)(vk->device, &info, NULL, &s.handle), VK_SUCCESS);
    build.dstAccelerationStructure = s.handle;
    build.scratchData.deviceAddress = (s.scratch.address + 255) / 256 * 256;
    const VkAccelerationStructureBuildRangeInfoKHR range = {.primitiveCount = count};
    const VkAccelerationStructureBuildRangeInfoKHR *ranges = &range;
    PELTT_VK(vk, vkCmdBuildAccelerationStructuresKHR)(cmd, 1, &build, &ranges);
    return s;
}

static void destroy_structure(peltt_vk *vk, structure *s)
{
    PELTT_VK(vk, vkDestroyAccelerationStructureKHR)(vk->device, s->handle, NULL);
    peltt_vk_buffer_destroy(vk, &s->buffer);
    peltt_vk_buffer_destroy(vk, &s->scratch);
}

static VkAccelerationStructureGeometryKHR triangles_of(const pelt_vk_view *view)
{
    return (VkAccelerationStructureGeometryKHR){
        .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR,
        .geometryType = VK_GEOMETRY_TYPE_TRIANGLES_KHR,
        .geometry.triangles = {.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_TRIANGLES_DATA_KHR,
                               .vertexFormat = view->positions.format,
                               .vertexData.deviceAddress = view->positions.address,
                               .vertexStride = view->positions.stride,
                               .maxVertex = view->vertex_count - 1,
                               .indexType = view->index_type,
                               .indexData.deviceAddress = view->indices.address}};
}

static VkAccelerationStructureGeometryKHR box_of(const pelt_vk_stream *box)
{
    return (VkAccelerationStructureGeometryKHR){
        .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR,
        .geometryType = VK_GEOMETRY_TYPE_AABBS_KHR,
        .geometry.aabbs = {.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_AABBS_DATA_KHR,
                           .data.deviceAddress = box->address,
                           .stride = box->stride}};
}

// Sizes that the driver gives after the builds: zero where nothing was built.
static void check_built(peltt_vk *vk, VkCommandBuffer cmd, const structure s[2])
{
    const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .queryType = VK_QUERY_TYPE_ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR,
                                        .queryCount = 2};
    VkQueryPool queries = VK_NULL_HANDLE;
    assert_int_equal(PELTT_VK(vk, vkCreateQueryPool)(vk->device, &info, NULL, &queries), VK_SUCCESS);
    const VkMemoryBarrier built = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                   .srcAccessMask = VK_ACCESS_ACCELERATION_STRUCTURE_WRITE_BIT_KHR,
                                   .dstAccessMask = VK_ACCESS_ACCELERATION_STRUCTURE_READ_BIT_KHR};
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ACCELERATION_STRUCTURE_BUILD_BIT_KHR;
    PELTT_VK(vk, vkCmdPipelineBarrier)(cmd, stage, stage, 0, 1, &built, 0, NULL, 0, NULL);
    PELTT_VK(vk, vkCmdResetQueryPool)(cmd, queries, 0, 2);
    const VkAccelerationStructureKHR handles[2] = {s[0].handle, s[1].handle};
    PELTT_VK(vk, vkCmdWriteAccelerationStructuresPropertiesKHR)
    (cmd, 2, handles, VK_QUERY_TYPE_ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR, queries, 0);
    peltt_vk_run(vk, cmd);
    uint64_t sizes[2] = {0, 0};
    assert_int_equal(PELTT_VK(vk, vkGetQueryPoolResults)(vk->device, queries, 0, 2, sizeof sizes, sizes, sizeof *sizes,
                                                         VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
                     VK_SUCCESS);
    assert_true(sizes[0] > 0 && sizes[1] > 0);
    PELTT_VK(vk, vkDestroyQueryPool)(vk->device, queries, NULL);
}

static void structures_are_built_in_the_next_command(void **state)
{
    (void)state;
    peltt_vk_stage stage;
    peltt_vk_stage_open(&stage, &(peltt_vk_options){.optional = true}, &scene_options, NULL);
    if (!stage.vk.support.acceleration_structure) {
        print_message("    %s has no acceleration structures\n", stage.vk.name);
        peltt_vk_stage_close(&stage);
        skip();
    }
    pelt_error error = {0};
    peltt_random random = {131};
    peltt_vk_actor actor;
    peltt_vk_model *model = peltt_vk_model_make(&shape, 137);
    peltt_vk_actor_add(&stage, &actor, model, &(pelt_vk_instance_options){.bounds = PELT_VK_BOUNDS_BOTH});
    for (int frame = 0; frame < 3; frame++) {
        pelt_vk_view view;
        structure built[2];
        peltt_vk_actor_move(&stage, &actor, true, &random);
        VkCommandBuffer cmd = peltt_vk_begin(&stage.vk);
        peltt_vk_good(pelt_vk_record(stage.scene, cmd, ++stage.frame, NULL, &error), &error);
        assert_int_equal(pelt_vk_instance_view(stage.scene, actor.instance, &view), PELT_OK);
        const VkAccelerationStructureGeometryKHR geometries[2] = {triangles_of(&view), box_of(&view.box)};
        built[0] = record_build(&stage.vk, cmd, &geometries[0], view.index_count / 3);
        built[1] = record_build(&stage.vk, cmd, &geometries[1], 1);
        check_built(&stage.vk, cmd, built);
        pelt_vk_retire(stage.scene, stage.frame);
        destroy_structure(&stage.vk, &built[0]);
        destroy_structure(&stage.vk, &built[1]);
    }
    peltt_vk_actor_remove(&stage, &actor);
    peltt_vk_model_free(model);
    peltt_vk_stage_close(&stage);
}

// --- GPU-assisted validation

static void gpu_assisted_validation_finds_nothing(void **state)
{
    (void)state;
    peltt_vk vk;
    peltt_vk_create(&vk, &(peltt_vk_options){.gpu_assisted = true});
    bool runs = vk.message_count == 0;
    if (!runs) {
        print_message("    the layer refuses: %s\n", vk.first_message);
        vk.message_count = 0;
    }
    peltt_vk_destroy(&vk);
    if (!runs) {
        skip();
    }
    peltt_vk_stage stage;
    peltt_vk_stage_open(&stage, &(peltt_vk_options){.gpu_assisted = true}, &scene_options, NULL);
    peltt_random random = {139};
    peltt_vk_worst worst = {0};
    peltt_vk_actor actors[8];
    peltt_vk_model *models[8];
    for (uint32_t i = 0; i < 8; i++) {
        const peltt_vk_shape used = {.vertex_count = 1 + i * 150,
                                     .influence_count = i,
                                     .joint_count = i == 0 ? 1 : 30,
                                     .target_count = i % 3,
                                     .scattered = i == 5,
                                     .indexed = true};
        models[i] = peltt_vk_model_make(&used, 149 + i);
        peltt_vk_actor_add(&stage, &actors[i], models[i], &(pelt_vk_instance_options){.bounds = PELT_VK_BOUNDS_BOTH});
    }
    for (int frame = 0; frame < 3; frame++) {
        for (uint32_t i = 0; i < 8; i++) {
            peltt_vk_actor_move(&stage, &actors[i], false, &random);
        }
        peltt_vk_play(&stage, 8, actors, &worst);
    }
    for (uint32_t i = 0; i < 8; i++) {
        peltt_vk_actor_remove(&stage, &actors[i]);
        peltt_vk_model_free(models[i]);
    }
    peltt_vk_stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_are_drawn_in_the_next_command),
        cmocka_unit_test(consumers_may_be_named),
        cmocka_unit_test(barriers_cover_the_consumers),
        cmocka_unit_test(barriers_cover_acceleration_structure_builds),
        cmocka_unit_test(buffers_are_shared_between_families),
        cmocka_unit_test(structures_are_built_in_the_next_command),
        cmocka_unit_test(gpu_assisted_validation_finds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Who reads the outputs: a draw, a transfer and an acceleration-structure build in the very next command, with no
// barrier of their own for them.
#include "peltt_vk_draw.h"
#include "peltt_vk_small.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum {
    FRAME_COUNT = 5 // in flight at once
};

// --- drawing

typedef struct picture {
    VkCommandBuffer cmd;
    VkFence fence;
    peltt_vk_canvas canvas;
    peltt_vk_fetch fetch;
    peltt_vk_shot shot;
    pelt_mat34 worlds[PELTT_VK_SMALL_JOINTS];
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
    peltt_vk_model *model = peltt_vk_model_make(&peltt_vk_small_shape, 109);
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
    draw_frames(&peltt_vk_small_scene, draw_first);
    draw_frames(&peltt_vk_small_scene, copy_first);
}

static void consumers_may_be_named(void **state)
{
    (void)state;
    pelt_vk_scene_options options = peltt_vk_small_scene;
    options.consumer_stages = VK_PIPELINE_STAGE_2_VERTEX_ATTRIBUTE_INPUT_BIT | VK_PIPELINE_STAGE_2_INDEX_INPUT_BIT |
                              VK_PIPELINE_STAGE_2_COPY_BIT;
    options.consumer_access =
        VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_2_INDEX_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT;
    draw_frames(&options, draw_first);
    options.consumer_stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    options.consumer_access = VK_ACCESS_2_MEMORY_READ_BIT;
    draw_frames(&options, draw_first);
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
    peltt_vk_stage_open(&stage, &(peltt_vk_options){.optional = true}, &peltt_vk_small_scene, NULL);
    if (!stage.vk.support.acceleration_structure) {
        print_message("    %s has no acceleration structures\n", stage.vk.name);
        peltt_vk_stage_close(&stage);
        skip();
    }
    pelt_error error = {0};
    peltt_random random = {131};
    peltt_vk_actor actor;
    peltt_vk_model *model = peltt_vk_model_make(&peltt_vk_small_shape, 137);
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
    peltt_vk_stage_open(&stage, &(peltt_vk_options){.gpu_assisted = true}, &peltt_vk_small_scene, NULL);
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
        cmocka_unit_test(structures_are_built_in_the_next_command),
        cmocka_unit_test(gpu_assisted_validation_finds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// What the recorded barriers say of those who read the outputs, of passes among one another and of queue families,
// which no layer can check where shaders write by address.
#include "peltt_vk_fake.h"
#include "peltt_vk_small.h"
#include "peltt_vk_tap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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
        peltt_vk_shape used = peltt_vk_small_shape;
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
    peltt_vk_stage_open(&stage, NULL, &peltt_vk_small_scene, peltt_vk_tap_install);
    check_records(&stage, &usual);
    const consumer named[3] = {
        {VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_READ_BIT},
        {VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_READ_BIT},
        {VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT,
         VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT},
    };
    for (int i = 0; i < 3; i++) {
        pelt_vk_scene_options options = peltt_vk_small_scene;
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
    peltt_vk_stage_open(&stage, NULL, &peltt_vk_small_scene, with_ray_tracing);
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
    peltt_vk_stage_open(&stage, NULL, &peltt_vk_small_scene, three_families);
    memset(given_families, 0, sizeof given_families); // read during creation only
    check_records(&stage, &usual);
    assert_int_equal(peltt_vk_tap_state.exclusive_buffers, 0);
    assert_true(peltt_vk_tap_state.shared_buffers >= 2);
    assert_int_equal(peltt_vk_tap_state.family_count, 3);
    assert_memory_equal(peltt_vk_tap_state.families, families, sizeof families);
    peltt_vk_stage_close(&stage);
    peltt_vk_stage_open(&stage, NULL, &peltt_vk_small_scene, peltt_vk_tap_install);
    check_records(&stage, &usual);
    assert_int_equal(peltt_vk_tap_state.shared_buffers, 0);
    peltt_vk_stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_cover_the_consumers),
        cmocka_unit_test(barriers_cover_acceleration_structure_builds),
        cmocka_unit_test(buffers_are_shared_between_families),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

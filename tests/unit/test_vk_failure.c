// SPDX-License-Identifier: MIT
// Memory runs out at every allocation in turn, on the host and on the device: the call says so, loses nothing, and
// works when it is made again; the answer is right in the end and every byte comes back.
#include "peltt_vk_scene.h"
#include "peltt_vk_tap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    MODEL_COUNT = 2,
    CROWD = 150, // so many that every list and table grows
    INSTANCE_COUNT = MODEL_COUNT + CROWD,
    JOINT_COUNT = 10,
    TARGET_COUNT = 2,
    MOST_ROUNDS = 2000,
    MOST_SURVIVED = 4 // failures that the library makes up for by asking for less
};

// One scene's life; steps are made again where they failed.
typedef struct trial {
    peltt_vk_stage stage;
    peltt_vk_model *models[MODEL_COUNT];
    pelt_mat34 worlds[MODEL_COUNT][JOINT_COUNT];
    float weights[MODEL_COUNT][TARGET_COUNT];
    pelt_vk_mesh meshes[MODEL_COUNT];
    pelt_vk_skin skin;
    pelt_vk_palette palettes[MODEL_COUNT];
    pelt_vk_instance instances[INSTANCE_COUNT];
    VkCommandBuffer cmd;
    uint64_t frame;
    uint32_t failure_count; // in this round
    peltt_random random;
    bool restless; // the scene changes between a record that failed and the next try
} trial;

static const pelt_vk_scene_options scene_options = {.allow_conservative = true, .item_vertices = 64};

typedef pelt_result (*step)(trial *t, uint32_t index, pelt_error *error);

static pelt_result create_scene(trial *t, uint32_t index, pelt_error *error)
{
    (void)index;
    pelt_result result = pelt_vk_scene_create(t->stage.context, &scene_options, &t->stage.scene, error);
    assert_int_equal(result == PELT_OK, t->stage.scene != NULL);
    return result;
}

static pelt_result add_mesh(trial *t, uint32_t index, pelt_error *error)
{
    pelt_result result = pelt_vk_mesh_add(t->stage.scene, t->models[index]->data, 0, &t->meshes[index], error);
    assert_true(result == PELT_OK || t->meshes[index].generation == 0);
    return result;
}

static pelt_result add_skin(trial *t, uint32_t index, pelt_error *error)
{
    (void)index;
    return pelt_vk_skin_add(t->stage.scene, t->models[0]->binds, JOINT_COUNT, &t->skin, error);
}

static pelt_result add_palette(trial *t, uint32_t index, pelt_error *error)
{
    return pelt_vk_palette_add(t->stage.scene, t->skin, &t->palettes[index], error);
}

static pelt_result add_instance(trial *t, uint32_t index, pelt_error *error)
{
    const pelt_vk_instance_options options = {.mesh = t->meshes[index % MODEL_COUNT],
                                              .palette = t->palettes[index % MODEL_COUNT],
                                              .omit = index < MODEL_COUNT ? 0 : PELT_VK_OMIT_PREVIOUS,
                                              .bounds = PELT_VK_BOUNDS_BOTH};
    pelt_result result = pelt_vk_instance_add(t->stage.scene, &options, &t->instances[index], error);
    assert_true(result == PELT_OK || t->instances[index].generation == 0);
    return result;
}

static pelt_result write_palette(trial *t, uint32_t index, pelt_error *error)
{
    pelt_mat34 *worlds = NULL;
    pelt_result result = pelt_vk_palette_write(t->stage.scene, t->palettes[index], &worlds, error);
    if (result == PELT_OK) {
        memcpy(worlds, t->worlds[index], sizeof t->worlds[index]);
    }
    return result;
}

static pelt_result set_weights(trial *t, uint32_t index, pelt_error *error)
{
    pelt_result result =
        pelt_vk_instance_set_weights(t->stage.scene, t->instances[index], t->weights[index], TARGET_COUNT);
    error->code = result;
    return result;
}

static pelt_result record(trial *t, uint32_t index, pelt_error *error)
{
    (void)index;
    pelt_vk_statistics statistics = {0};
    uint32_t commands = peltt_vk_tap_state.command_count;
    pelt_result result = pelt_vk_record(t->stage.scene, t->cmd, t->frame, &statistics, error);
    if (result != PELT_OK) {
        assert_int_equal(peltt_vk_tap_state.command_count, commands);
        assert_true(peltt_vk_is_nothing(&statistics));
    }
    return result;
}

// Lets a step fail once, and stops failing; it must then work.
static void take(trial *t, step s, uint32_t index)
{
    pelt_error error = {0};
    pelt_result result = s(t, index, &error);
    if (result != PELT_OK) {
        assert_true(result == PELT_ERROR_MEMORY || result == PELT_ERROR_DEVICE);
        assert_int_equal(error.code, result);
        t->failure_count++;
        t->stage.memory.fail_at = 0;
        peltt_vk_tap_state.fail_at = 0;
        peltt_vk_good(s(t, index, &error), &error);
    }
}

static void take_all(trial *t, step s, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        take(t, s, i);
    }
}

static void move(trial *t)
{
    for (uint32_t i = 0; i < MODEL_COUNT; i++) {
        peltt_vk_worlds(&t->random, true, JOINT_COUNT, t->worlds[i]);
        for (uint32_t k = 0; k < TARGET_COUNT; k++) {
            t->weights[i][k] = peltt_random_float(&t->random, 0.1F, 1.0F);
        }
    }
    take_all(t, write_palette, MODEL_COUNT);
    take_all(t, set_weights, MODEL_COUNT);
}

static void take_record(trial *t)
{
    pelt_error error = {0};
    if (!t->restless) {
        take(t, record, 0);
    } else if (record(t, 0, &error) != PELT_OK) {
        t->failure_count++;
        t->stage.memory.fail_at = 0;
        peltt_vk_tap_state.fail_at = 0;
        assert_int_equal(pelt_vk_instance_remove(t->stage.scene, t->instances[1]), PELT_OK);
        take(t, add_instance, 1);
        move(t);
        peltt_vk_good(record(t, 0, &error), &error);
    }
}

// Records a frame, runs it and compares the first instances, and one of the crowd where there is one.
static void play(trial *t, uint32_t instance_count)
{
    peltt_vk_fetch fetch = {0};
    peltt_vk_shot shots[MODEL_COUNT + 1];
    peltt_vk_worst worst = {0};
    uint32_t shot_count = 0;
    t->frame++;
    t->cmd = peltt_vk_begin(&t->stage.vk);
    take_record(t);
    for (uint32_t i = 0; i < instance_count && i <= MODEL_COUNT; i++) {
        uint32_t instance = i < MODEL_COUNT ? i : instance_count - 1;
        shots[shot_count++] = peltt_vk_shoot(&fetch, t->stage.scene, t->instances[instance]);
    }
    peltt_vk_fetch_record(&fetch, &t->stage.vk, t->cmd);
    peltt_vk_run(&t->stage.vk, t->cmd);
    for (uint32_t i = 0; i < shot_count; i++) {
        uint32_t model = i < MODEL_COUNT ? i : (instance_count - 1) % MODEL_COUNT;
        const peltt_vk_want want = {.model = t->models[model],
                                    .worlds = t->worlds[model],
                                    .binds = t->models[0]->binds,
                                    .joint_count = JOINT_COUNT,
                                    .weights = i < MODEL_COUNT ? t->weights[model] : NULL,
                                    .omit = i < MODEL_COUNT ? 0 : PELT_VK_OMIT_PREVIOUS,
                                    .bounds = PELT_VK_BOUNDS_BOTH};
        peltt_vk_check_view(&t->stage.vk, &shots[i].view, &want);
        peltt_vk_compare(&fetch, &shots[i], &want, &worst);
    }
    pelt_vk_retire(t->stage.scene, t->frame);
    peltt_vk_fetch_free(&fetch, &t->stage.vk);
}

// A small scene; then a crowd, which makes everything grow; then fewer again, and more once more.
static void live(trial *t)
{
    t->random.state = 97;
    t->frame = 0;
    take(t, create_scene, 0);
    take_all(t, add_mesh, MODEL_COUNT);
    take(t, add_skin, 0);
    take_all(t, add_palette, MODEL_COUNT);
    take_all(t, add_instance, MODEL_COUNT);
    move(t);
    play(t, MODEL_COUNT);
    for (uint32_t i = MODEL_COUNT; i < INSTANCE_COUNT; i++) {
        take(t, add_instance, i);
    }
    move(t);
    play(t, INSTANCE_COUNT);
    for (uint32_t i = MODEL_COUNT; i < INSTANCE_COUNT; i++) {
        assert_int_equal(pelt_vk_instance_remove(t->stage.scene, t->instances[i]), PELT_OK);
    }
    play(t, MODEL_COUNT);
    move(t);
    for (uint32_t i = MODEL_COUNT; i < INSTANCE_COUNT; i += 7) {
        take(t, add_instance, i);
    }
    play(t, MODEL_COUNT);
    pelt_vk_scene_destroy(t->stage.scene);
    t->stage.scene = NULL;
}

// Blocks so small that nearly every object asks for one.
static void small_blocks(pelt_vk_context_options *options)
{
    peltt_vk_tap_install(options);
    options->block_size = 16 << 10;
}

static trial *begin(void (*edit)(pelt_vk_context_options *options))
{
    trial *t = calloc(1, sizeof *t);
    assert_non_null(t);
    peltt_vk_stage_open(&t->stage, NULL, &scene_options, edit);
    pelt_vk_scene_destroy(t->stage.scene);
    t->stage.scene = NULL;
    for (uint32_t i = 0; i < MODEL_COUNT; i++) {
        const peltt_vk_shape shape = {.vertex_count = i == 0 ? 70 : 9,
                                      .influence_count = i == 0 ? 6 : 3,
                                      .joint_count = JOINT_COUNT,
                                      .target_count = TARGET_COUNT,
                                      .indexed = i == 0};
        t->models[i] = peltt_vk_model_make(&shape, 101 + i);
    }
    return t;
}

static void end(trial *t)
{
    peltt_vk_stage_close(&t->stage);
    for (uint32_t i = 0; i < MODEL_COUNT; i++) {
        peltt_vk_model_free(t->models[i]);
    }
    free(t);
}

static void host_memory_runs_out(bool restless)
{
    trial *t = begin(peltt_vk_tap_install);
    t->restless = restless;
    uint64_t bytes = t->stage.memory.live_bytes;
    uint32_t round = 1;
    uint32_t failures = 0;
    for (; round < MOST_ROUNDS; round++) {
        uint64_t at = t->stage.memory.call_count + round;
        t->stage.memory.fail_at = at;
        t->failure_count = 0;
        live(t);
        assert_int_equal(t->stage.memory.live_bytes, bytes);
        if (t->stage.memory.call_count < at) {
            break; // so many allocations there are not
        }
        assert_true(t->failure_count <= 1);
        failures += t->failure_count;
    }
    assert_true(round > 30 && round < MOST_ROUNDS);
    assert_int_equal(t->failure_count, 0);
    assert_true(failures + MOST_SURVIVED >= round - 1);
    print_message("    %u allocations, %u failures seen by the caller\n", round - 1, failures);
    end(t);
}

static void host_memory_may_run_out_anywhere(void **state)
{
    (void)state;
    host_memory_runs_out(false);
}

static void a_failed_record_stands_in_no_change_s_way(void **state)
{
    (void)state;
    host_memory_runs_out(true);
}

// fail_count: how many calls in a row fail. The library may do without the first failures by trying other memory.
static void vulkan_fails(VkResult code, uint32_t fail_count, pelt_result wanted, bool restless)
{
    trial *t = begin(small_blocks);
    t->restless = restless;
    uint32_t round = 1;
    uint32_t failures = 0;
    uint64_t bytes = t->stage.memory.live_bytes;
    for (; round < MOST_ROUNDS; round++) {
        peltt_vk_tap_state.call_count = 0;
        peltt_vk_tap_state.fail_at = round;
        peltt_vk_tap_state.fail_count = fail_count;
        peltt_vk_tap_state.fail_with = code;
        t->failure_count = 0;
        live(t);
        assert_int_equal(t->stage.memory.live_bytes, bytes);
        assert_int_equal(peltt_vk_tap_state.live_buffers, 0);
        assert_int_equal(peltt_vk_tap_state.live_memories, 0);
        failures += t->failure_count;
        if (peltt_vk_tap_state.call_count < round) {
            break;
        }
    }
    assert_true(round > 30 && round < MOST_ROUNDS);
    assert_int_equal(t->failure_count, 0);
    assert_true(failures > 10);
    print_message("    %u calls, %u failures seen by the caller\n", round - 1, failures);
    // One more, for what it is called.
    pelt_error error = {0};
    peltt_vk_tap_state.call_count = 0;
    peltt_vk_tap_state.fail_at = 1;
    peltt_vk_tap_state.fail_count = UINT32_MAX;
    pelt_vk_mesh mesh;
    take(t, create_scene, 0);
    peltt_vk_tap_state.fail_at = peltt_vk_tap_state.call_count + 1;
    assert_int_equal(pelt_vk_mesh_add(t->stage.scene, t->models[0]->data, 0, &mesh, &error), wanted);
    assert_non_null(strstr(error.message, code == VK_ERROR_DEVICE_LOST ? "VK_ERROR_DEVICE_LOST" : "VK_ERROR_OUT_OF"));
    peltt_vk_tap_state.fail_at = 0;
    end(t);
}

static void device_memory_may_run_out_anywhere(void **state)
{
    (void)state;
    vulkan_fails(VK_ERROR_OUT_OF_DEVICE_MEMORY, 64, PELT_ERROR_MEMORY, false);
    vulkan_fails(VK_ERROR_OUT_OF_DEVICE_MEMORY, 64, PELT_ERROR_MEMORY, true);
}

static void one_refused_allocation_is_survived(void **state)
{
    (void)state;
    vulkan_fails(VK_ERROR_OUT_OF_HOST_MEMORY, 1, PELT_ERROR_MEMORY, false);
}

static void a_lost_device_is_named(void **state)
{
    (void)state;
    vulkan_fails(VK_ERROR_DEVICE_LOST, 64, PELT_ERROR_DEVICE, false);
}

// --- the caller's memory

typedef struct owner {
    const peltt_vk *vk;
    VkPhysicalDeviceMemoryProperties types;
    uint32_t call_count;
    uint32_t fail_at;
    uint32_t live_count;
    bool only_mapped; // there is no other memory
} owner;

static owner the_owner;

static uint32_t type_of(const owner *o, uint32_t allowed, VkMemoryPropertyFlags wanted)
{
    for (uint32_t i = 0; i < o->types.memoryTypeCount; i++) {
        if ((allowed >> i & 1U) != 0 && (o->types.memoryTypes[i].propertyFlags & wanted) == wanted) {
            return i;
        }
    }
    return UINT32_MAX;
}

static VkResult allocate_memory(void *user, const VkMemoryRequirements *requirements, VkMemoryPropertyFlags required,
                                VkMemoryPropertyFlags preferred, pelt_vk_memory *out_memory)
{
    enum {
        MARGIN = 4096 // in front, so that offsets are not zero
    };
    owner *o = user;
    if (++o->call_count == o->fail_at || (o->only_mapped && (required & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0)) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    uint32_t type = type_of(o, requirements->memoryTypeBits, required | preferred);
    type = type == UINT32_MAX ? type_of(o, requirements->memoryTypeBits, required) : type;
    assert_true(type != UINT32_MAX);
    assert_true(MARGIN % requirements->alignment == 0);
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = &flags,
                                       .allocationSize = requirements->size + MARGIN,
                                       .memoryTypeIndex = type};
    *out_memory = (pelt_vk_memory){.offset = MARGIN, .user = o};
    VkResult result = PELTT_VK(o->vk, vkAllocateMemory)(o->vk->device, &info, NULL, &out_memory->memory);
    assert_int_equal(result, VK_SUCCESS);
    if ((required & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0) {
        void *mapped = NULL;
        result = PELTT_VK(o->vk, vkMapMemory)(o->vk->device, out_memory->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
        assert_int_equal(result, VK_SUCCESS);
        out_memory->mapped = (char *)mapped + MARGIN;
    }
    o->live_count++;
    return VK_SUCCESS;
}

static void release_memory(void *user, const pelt_vk_memory *memory)
{
    owner *o = user;
    assert_ptr_equal(memory->user, o);
    PELTT_VK(o->vk, vkFreeMemory)(o->vk->device, memory->memory, NULL);
    o->live_count--;
}

static void own_memory(pelt_vk_context_options *options)
{
    small_blocks(options);
    options->memory = (pelt_vk_memory_callbacks){allocate_memory, release_memory, &the_owner};
}

static trial *begin_with_own_memory(void)
{
    the_owner = (owner){0};
    trial *t = begin(own_memory);
    the_owner.vk = &t->stage.vk;
    ((PFN_vkGetPhysicalDeviceMemoryProperties)t->stage.vk.physical.get_instance_proc_addr(
        t->stage.vk.physical.instance, "vkGetPhysicalDeviceMemoryProperties"))(t->stage.vk.physical.device,
                                                                               &the_owner.types);
    return t;
}

// What a failed record took from the upload ring is given back: else each try would leave less memory to the next.
static void records_that_fail_keep_no_memory(void **state)
{
    (void)state;
    enum {
        TRIES = 3000
    };
    trial *t = begin_with_own_memory();
    t->random.state = 97;
    take(t, create_scene, 0);
    take_all(t, add_mesh, MODEL_COUNT);
    take(t, add_skin, 0);
    take_all(t, add_palette, MODEL_COUNT);
    take_all(t, add_instance, INSTANCE_COUNT);
    move(t);
    the_owner.only_mapped = true;
    t->cmd = peltt_vk_begin(&t->stage.vk);
    t->frame = 1;
    uint32_t after_first = 0;
    for (int i = 0; i < TRIES; i++) {
        pelt_error error = {0};
        assert_int_equal(record(t, 0, &error), PELT_ERROR_MEMORY);
        after_first = i == 0 ? the_owner.live_count : after_first;
    }
    assert_int_equal(the_owner.live_count, after_first);
    the_owner.only_mapped = false;
    peltt_vk_run(&t->stage.vk, t->cmd);
    play(t, INSTANCE_COUNT);
    pelt_vk_scene_destroy(t->stage.scene);
    t->stage.scene = NULL;
    end(t);
}

static void the_caller_s_memory_may_run_out_anywhere(void **state)
{
    (void)state;
    trial *t = begin_with_own_memory();
    uint32_t round = 1;
    uint32_t failures = 0;
    for (; round < MOST_ROUNDS; round++) {
        the_owner.call_count = 0;
        the_owner.fail_at = round;
        t->failure_count = 0;
        live(t);
        assert_int_equal(the_owner.live_count, 0);
        assert_int_equal(peltt_vk_tap_state.live_buffers, 0);
        assert_int_equal(peltt_vk_tap_state.live_memories, 0); // none of the library's own
        failures += t->failure_count;
        if (the_owner.call_count < round) {
            break;
        }
    }
    assert_true(round > 10 && round < MOST_ROUNDS);
    assert_true(failures + MOST_SURVIVED >= round - 1);
    print_message("    %u allocations, %u failures seen by the caller\n", round - 1, failures);
    end(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_memory_may_run_out_anywhere),
        cmocka_unit_test(a_failed_record_stands_in_no_change_s_way),
        cmocka_unit_test(device_memory_may_run_out_anywhere),
        cmocka_unit_test(one_refused_allocation_is_survived),
        cmocka_unit_test(a_lost_device_is_named),
        cmocka_unit_test(the_caller_s_memory_may_run_out_anywhere),
        cmocka_unit_test(records_that_fail_keep_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

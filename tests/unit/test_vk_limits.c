// SPDX-License-Identifier: MIT
// The Vulkan pass past the limits that a careless one would have: no work at all, more than 65,535 workgroups in every
// pass, more than 128 MiB in one stream. The large meshes are made without the cook, which would take its time.
#include "peltt_vk_scene.h"
#include "vulkan/vulkan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    LIST_JOINTS = 4,
    JOINT_COUNT = 64,
    LARGE_RUNS = 4200,      // of 1,024 vertices: 67,200 items of 64
    LARGE_RIGID = 11600000, // vertices: 132.8 MiB of positions
    CROWD = 66000,          // instances
    CROWD_VERTICES = 70,    // two items of 64
    CROWD_JOINTS = 2
};

// A mesh made by hand: what mesh_add reads, and the same for the CPU.
typedef struct large {
    peltt_vk_model model;
    pelt_cooked_data data;
    pelt_cooked_primitive packed;
    pelt_primitive primitive;
    pelt_mat34 binds[JOINT_COUNT];
    float *positions;
    uint32_t *weights;
    uint8_t *joints;
    pelt_run *runs;
    uint16_t *run_joints;
    uint16_t *plain_joints;
    float *plain_weights;
} large;

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    assert_non_null(memory);
    return memory;
}

static void make_rigid(large *l, uint32_t vertex_count)
{
    *l = (large){0};
    peltt_random random = {31};
    l->positions = allocate((size_t)vertex_count * 3, sizeof *l->positions);
    for (size_t i = 0; i < (size_t)vertex_count * 3; i++) {
        l->positions[i] = peltt_random_float(&random, -1.0F, 1.0F);
    }
    peltt_vk_binds(3, true, JOINT_COUNT, l->binds);
    l->packed = (pelt_cooked_primitive){.topology = PELT_TOPOLOGY_POINTS,
                                        .material = PELT_NONE,
                                        .vertex_count = vertex_count,
                                        .source_vertex_count = vertex_count,
                                        .positions = l->positions,
                                        .index_count = vertex_count,
                                        .box = {{-1.0F, -1.0F, -1.0F}, {1.0F, 1.0F, 1.0F}}};
    l->primitive = (pelt_primitive){.topology = PELT_TOPOLOGY_POINTS,
                                    .material = PELT_NONE,
                                    .vertex_count = vertex_count,
                                    .positions = l->positions,
                                    .index_count = vertex_count};
    l->data = (pelt_cooked_data){.primitive_count = 1, .primitives = &l->packed};
    l->model = (peltt_vk_model){.data = &l->data, .primitive = &l->primitive, .joint_count = 1, .binds = l->binds};
}

// Every vertex follows the four joints of its run, in turns.
static void make_runs(large *l, uint32_t run_count)
{
    uint32_t vertex_count = run_count * PELT_RUN_VERTICES;
    make_rigid(l, vertex_count);
    l->weights = allocate(vertex_count, sizeof *l->weights);
    l->joints = allocate(vertex_count, 4);
    l->runs = allocate(run_count, sizeof *l->runs);
    l->run_joints = allocate((size_t)run_count * LIST_JOINTS, sizeof *l->run_joints);
    uint8_t order[4];
    const float shares[4] = {0.45F, 0.3F, 0.15F, 0.1F};
    uint32_t code = pelt_weights_encode(PELT_WEIGHTS_SORTED, shares, order);
    for (uint32_t v = 0; v < vertex_count; v++) {
        l->weights[v] = code;
        for (uint32_t k = 0; k < 4; k++) {
            l->joints[(size_t)v * 4 + k] = (uint8_t)((v + k) % LIST_JOINTS);
        }
    }
    for (uint32_t r = 0; r < run_count; r++) {
        l->runs[r] = (pelt_run){.first_vertex = r * PELT_RUN_VERTICES,
                                .vertex_count = PELT_RUN_VERTICES,
                                .first_joint = r * LIST_JOINTS,
                                .joint_count = LIST_JOINTS,
                                .layout = PELT_JOINTS_RUN,
                                .influence_count = 4,
                                .joints_offset = r * PELT_RUN_VERTICES * 4,
                                .class_counts = {0, 0, 0, PELT_RUN_VERTICES, 0}};
        for (uint32_t k = 0; k < LIST_JOINTS; k++) {
            l->run_joints[(size_t)r * LIST_JOINTS + k] = (uint16_t)(r * 7 % (JOINT_COUNT - LIST_JOINTS + 1) + k);
        }
    }
    l->packed.weights = l->weights;
    l->packed.joints = l->joints;
    l->packed.joints_size = (uint64_t)vertex_count * 4;
    l->packed.run_count = run_count;
    l->packed.runs = l->runs;
    l->packed.run_joint_count = run_count * LIST_JOINTS;
    l->packed.run_joints = l->run_joints;
    l->packed.ordered = true;
    l->packed.joint_bound = JOINT_COUNT;
    l->model.joint_count = JOINT_COUNT;
}

// What the runs say, as the CPU reads it.
static void unpack_runs(large *l)
{
    uint32_t vertex_count = l->packed.vertex_count;
    l->plain_joints = allocate((size_t)vertex_count * 4, sizeof *l->plain_joints);
    l->plain_weights = allocate((size_t)vertex_count * 4, sizeof *l->plain_weights);
    for (uint32_t v = 0; v < vertex_count; v++) {
        assert_int_equal(
            pelt_cooked_influences(&l->packed, v, 4, l->plain_joints + (size_t)v * 4, l->plain_weights + (size_t)v * 4),
            4);
    }
    l->primitive.influence_count = 4;
    l->primitive.joints = l->plain_joints;
    l->primitive.weights = l->plain_weights;
    l->primitive.joint_bound = JOINT_COUNT;
}

static void release(large *l)
{
    free(l->positions);
    free(l->weights);
    free(l->joints);
    free(l->runs);
    free(l->run_joints);
    free(l->plain_joints);
    free(l->plain_weights);
}

static pelt_vk_statistics perform_one(peltt_vk_stage *stage, const peltt_vk_model *model,
                                      const pelt_vk_instance_options *options)
{
    peltt_vk_actor actor;
    peltt_random random = {37};
    peltt_vk_worst worst = {0};
    peltt_vk_actor_add(stage, &actor, model, options);
    peltt_vk_actor_move(stage, &actor, true, &random);
    pelt_vk_statistics statistics = peltt_vk_play(stage, 1, &actor, &worst);
    peltt_vk_actor_remove(stage, &actor);
    assert_int_equal(worst.vertex_count, model->primitive->vertex_count);
    print_message("    %llu vertices: positions %.2g\n", (unsigned long long)worst.vertex_count, worst.position);
    return statistics;
}

static void a_mesh_may_have_more_than_65535_items(void **state)
{
    (void)state;
    peltt_vk_stage stage;
    const pelt_vk_scene_options options = {.item_vertices = 64};
    peltt_vk_stage_open(&stage, NULL, &options, NULL);
    large l;
    make_runs(&l, LARGE_RUNS);
    unpack_runs(&l);
    pelt_vk_statistics s = perform_one(&stage, &l.model, &(pelt_vk_instance_options){.omit = PELT_VK_OMIT_PREVIOUS});
    assert_int_equal(s.item_count, LARGE_RUNS * 16);
    assert_true(s.item_count > 65535);
    release(&l);
    peltt_vk_stage_close(&stage);
}

static void a_stream_may_be_over_128_mib(void **state)
{
    (void)state;
    peltt_vk_stage stage;
    peltt_vk_stage_open(&stage, NULL, NULL, NULL);
    large l;
    make_rigid(&l, LARGE_RIGID);
    assert_true((uint64_t)LARGE_RIGID * 12 > (uint64_t)128 << 20);
    perform_one(&stage, &l.model, &(pelt_vk_instance_options){.omit = PELT_VK_OMIT_PREVIOUS});
    release(&l);
    peltt_vk_stage_close(&stage);
}

// All instances share one mesh and one skin, and have palettes of their own.
typedef struct crowd {
    pelt_vk_palette *palettes;
    pelt_vk_instance *instances;
    pelt_mat34 *worlds;
    peltt_vk_shot *shots;
    peltt_vk_model *model;
    pelt_vk_mesh mesh;
    pelt_vk_skin skin;
} crowd;

static void gather(crowd *c, peltt_vk_stage *stage)
{
    peltt_random random = {41};
    pelt_error error = {0};
    const peltt_vk_shape shape = {.vertex_count = CROWD_VERTICES,
                                  .influence_count = 2,
                                  .joint_count = CROWD_JOINTS,
                                  .no_normals = true,
                                  .no_tangents = true,
                                  .bind_seed = 5};
    c->model = peltt_vk_model_make(&shape, 43);
    c->palettes = allocate(CROWD, sizeof *c->palettes);
    c->instances = allocate(CROWD, sizeof *c->instances);
    c->worlds = allocate((size_t)CROWD * CROWD_JOINTS, sizeof *c->worlds);
    c->shots = allocate(CROWD, sizeof *c->shots);
    peltt_vk_worlds(&random, true, CROWD * CROWD_JOINTS, c->worlds);
    peltt_vk_good(pelt_vk_mesh_add(stage->scene, c->model->data, 0, &c->mesh, &error), &error);
    peltt_vk_good(pelt_vk_skin_add(stage->scene, c->model->binds, CROWD_JOINTS, &c->skin, &error), &error);
    for (uint32_t i = 0; i < CROWD; i++) { // before all instances, whose outputs then lie side by side
        pelt_mat34 *worlds = NULL;
        peltt_vk_good(pelt_vk_palette_add(stage->scene, c->skin, &c->palettes[i], &error), &error);
        peltt_vk_good(pelt_vk_palette_write(stage->scene, c->palettes[i], &worlds, &error), &error);
        memcpy(worlds, c->worlds + (size_t)i * CROWD_JOINTS, CROWD_JOINTS * sizeof *worlds);
    }
    for (uint32_t i = 0; i < CROWD; i++) {
        const pelt_vk_instance_options options = {
            .mesh = c->mesh, .palette = c->palettes[i], .omit = PELT_VK_OMIT_PREVIOUS, .bounds = PELT_VK_BOUNDS_BOTH};
        peltt_vk_good(pelt_vk_instance_add(stage->scene, &options, &c->instances[i], &error), &error);
    }
}

static void compare_crowd(const crowd *c, const peltt_vk_fetch *fetch)
{
    peltt_vk_worst worst = {0};
    for (uint32_t i = 0; i < CROWD; i++) {
        const peltt_vk_want want = {.model = c->model,
                                    .worlds = c->worlds + (size_t)i * CROWD_JOINTS,
                                    .binds = c->model->binds,
                                    .joint_count = CROWD_JOINTS,
                                    .omit = PELT_VK_OMIT_PREVIOUS,
                                    .bounds = PELT_VK_BOUNDS_BOTH};
        peltt_vk_compare(fetch, &c->shots[i], &want, &worst);
    }
    assert_int_equal(worst.vertex_count, (uint64_t)CROWD * CROWD_VERTICES);
}

static void every_pass_may_have_more_than_65535_workgroups(void **state)
{
    (void)state;
    peltt_vk_stage stage;
    const pelt_vk_scene_options options = {.item_vertices = 64, .allow_conservative = true};
    peltt_vk_stage_open(&stage, NULL, &options, NULL);
    crowd c;
    gather(&c, &stage);
    pelt_error error = {0};
    pelt_vk_statistics s = {0};
    peltt_vk_fetch fetch = {0};
    VkCommandBuffer cmd = peltt_vk_begin(&stage.vk);
    peltt_vk_good(pelt_vk_record(stage.scene, cmd, 1, &s, &error), &error);
    for (uint32_t i = 0; i < CROWD; i++) {
        c.shots[i] = peltt_vk_shoot(&fetch, stage.scene, c.instances[i]);
    }
    peltt_vk_fetch_record(&fetch, &stage.vk, cmd);
    peltt_vk_run(&stage.vk, cmd);
    pelt_vk_retire(stage.scene, 1);
    assert_int_equal(s.palette_count, CROWD);
    assert_int_equal(s.instance_count, CROWD);
    assert_int_equal(s.item_count, CROWD * 2);
    assert_int_equal(s.reduced_count, CROWD);
    assert_int_equal(s.conservative_count, CROWD);
    compare_crowd(&c, &fetch);
    peltt_vk_fetch_free(&fetch, &stage.vk);
    peltt_vk_model_free(c.model);
    free(c.palettes);
    free(c.instances);
    free(c.worlds);
    free(c.shots);
    peltt_vk_stage_close(&stage);
}

// Every grid has several rows, and work items more than all of them are refused.
static void rows_of_workgroups_may_be_short(void **state)
{
    (void)state;
    enum {
        ACTORS = 20
    };
    const pelt_vk_scene_options options = {.item_vertices = 64, .allow_conservative = true};
    const pelt_vk_instance_options both = {.bounds = PELT_VK_BOUNDS_BOTH};
    const peltt_vk_shape shape = {.vertex_count = 300, .influence_count = 4, .joint_count = 45};
    peltt_vk_model *model = peltt_vk_model_make(&shape, 53);
    peltt_vk_stage stage;
    peltt_vk_stage_open(&stage, NULL, &options, NULL);
    peltt_random random = {53};
    peltt_vk_actor actors[ACTORS];
    peltt_vk_worst worst = {0};
    for (int i = 0; i < ACTORS; i++) {
        peltt_vk_actor_add(&stage, &actors[i], model, &both);
    }
    uint32_t *limits = stage.context->limits.maxComputeWorkGroupCount;
    limits[0] = 3;
    for (int frame = 0; frame < 4; frame++) {
        for (int i = 0; i < ACTORS; i++) {
            peltt_vk_actor_move(&stage, &actors[i], true, &random);
        }
        const pelt_vk_statistics s = peltt_vk_play(&stage, ACTORS, actors, &worst);
        assert_int_equal(s.palette_count, ACTORS);
        assert_true(s.item_count >= ACTORS * 5);
    }
    limits[1] = ACTORS;
    for (int i = 0; i < ACTORS; i++) {
        peltt_vk_actor_move(&stage, &actors[i], true, &random);
    }
    pelt_error error = {0};
    VkCommandBuffer cmd = peltt_vk_begin(&stage.vk);
    assert_int_equal(pelt_vk_record(stage.scene, cmd, stage.frame + 1, NULL, &error), PELT_ERROR_LIMIT);
    assert_non_null(strstr(error.message, "work items"));
    peltt_vk_run(&stage.vk, cmd);
    limits[1] = 65535; // and nothing is lost
    peltt_vk_play(&stage, ACTORS, actors, &worst);
    for (int i = 0; i < ACTORS; i++) {
        peltt_vk_actor_remove(&stage, &actors[i]);
    }
    peltt_vk_model_free(model);
    peltt_vk_stage_close(&stage);
}

static void expect_nothing(peltt_vk_stage *stage)
{
    peltt_vk_worst worst = {0};
    const pelt_vk_statistics s = peltt_vk_play(stage, 0, NULL, &worst);
    assert_true(peltt_vk_is_nothing(&s));
}

static void an_empty_scene_records_nothing(void **state)
{
    (void)state;
    peltt_vk_stage stage;
    peltt_vk_stage_open(&stage, NULL, NULL, NULL);
    expect_nothing(&stage);
    expect_nothing(&stage);
    pelt_vk_boxes boxes = {.count = 9};
    assert_int_equal(pelt_vk_scene_boxes(stage.scene, &boxes), PELT_OK);
    assert_int_equal(boxes.count, 0);

    // Emptied again, with and without a frame between.
    const peltt_vk_shape shape = {.vertex_count = 100, .influence_count = 3, .joint_count = 5};
    peltt_vk_model *model = peltt_vk_model_make(&shape, 47);
    perform_one(&stage, model, &(pelt_vk_instance_options){0});
    expect_nothing(&stage);
    peltt_vk_actor actor;
    peltt_vk_worst worst = {0};
    peltt_vk_actor_add(&stage, &actor, model, &(pelt_vk_instance_options){0});
    peltt_vk_actor_remove(&stage, &actor);
    pelt_vk_statistics s = peltt_vk_play(&stage, 0, NULL, &worst);
    assert_int_equal(s.instance_count + s.item_count + s.vertex_count, 0);
    expect_nothing(&stage);
    peltt_vk_model_free(model);
    peltt_vk_stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_scene_records_nothing),
        cmocka_unit_test(a_mesh_may_have_more_than_65535_items),
        cmocka_unit_test(a_stream_may_be_over_128_mib),
        cmocka_unit_test(every_pass_may_have_more_than_65535_workgroups),
        cmocka_unit_test(rows_of_workgroups_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Threads that share one asset, each with a pose of its own: the bytes are those of one thread alone. Races are for the
// thread sanitizer, under which this runs too.
#include "base/thread.h"
#include "peltt_asset.h"

#include <pelt/palette.h>
#include <pelt/skin.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    THREAD_COUNT = 4,
    STEP_COUNT = 40,
    JOINT_COUNT = 30,
    VERTEX_COUNT = 3
};

static const peltt_asset_shape shape = {.node_count = 60,
                                        .skin_count = 3,
                                        .joint_count = JOINT_COUNT,
                                        .clip_count = 3,
                                        .target_count = 2,
                                        .root_share = 0.1,
                                        .chain_share = 0.5,
                                        .matrix_share = 0.2,
                                        .morph_share = 0.3};

typedef struct step_result {
    pelt_mat34 palette[JOINT_COUNT];
    float positions[VERTEX_COUNT * 3];
    pelt_box box;
} step_result;

typedef struct worker {
    const pelt_asset *asset;
    bool failed; // asserts jump, which only the main thread may do
    step_result steps[STEP_COUNT];
} worker;

static bool skin_step(worker *w, const pelt_pose *pose, uint32_t palette_count, step_result *out)
{
    const pelt_asset_data *data = pelt_asset_get(w->asset);
    const pelt_primitive *source = &data->meshes[0].primitives[0];
    pelt_skin_morph morphs[8] = {{0}};
    uint32_t node = 0;
    while (node < data->node_count && data->nodes[node].weight_count == 0) {
        node++;
    }
    uint32_t morph_count = node < data->node_count ? data->nodes[node].weight_count : 0;
    for (uint32_t i = 0; i < morph_count; i++) {
        morphs[i] = (pelt_skin_morph){pelt_pose_weights(pose, node)[i], source->targets[i].positions, NULL, NULL};
    }
    pelt_skin_job job = {.vertex_count = source->vertex_count,
                         .palette_count = palette_count,
                         .palette = out->palette,
                         .positions = source->positions,
                         .morph_count = morph_count,
                         .morphs = morphs,
                         .out_positions = out->positions,
                         .box = &out->box};
    return source->vertex_count == VERTEX_COUNT && pelt_skin_evaluate(&job) == PELT_OK;
}

static bool evaluate_step(worker *w, pelt_pose *pose, uint32_t step, step_result *out)
{
    const pelt_asset_data *data = pelt_asset_get(w->asset);
    uint32_t skin = step % data->skin_count;
    pelt_clip_time a = {step % data->clip_count, step * 0.05};
    pelt_clip_time b = {(step + 1) % data->clip_count, step * 0.03};
    pelt_palette_item item = {pose, skin, 0, out->palette};
    pelt_palette_job job = {.item_count = 1, .items = &item};
    return pelt_clip_sample(w->asset, a.clip, a.time, pelt_pose_locals(pose)) == PELT_OK &&
           pelt_clip_blend(w->asset, a, b, 0.25, pelt_pose_locals(pose)) == PELT_OK &&
           pelt_pose_update(pose, NULL) == PELT_OK && pelt_palette_evaluate(&job) == PELT_OK &&
           skin_step(w, pose, data->skins[skin].joint_count, out);
}

static void work(void *user)
{
    worker *w = user;
    pelt_pose *pose = NULL;
    w->failed = pelt_pose_create(w->asset, NULL, &pose) != PELT_OK;
    for (uint32_t i = 0; i < STEP_COUNT && !w->failed; i++) {
        w->failed = !evaluate_step(w, pose, i, &w->steps[i]);
    }
    pelt_pose_destroy(pose);
}

static void run_threads(worker *workers)
{
    pelti_thread threads[THREAD_COUNT];
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        assert_true(pelti_thread_start(&threads[i], work, &workers[i]));
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        pelti_thread_join(&threads[i]);
    }
}

static void one_asset_serves_many_threads(void **state)
{
    (void)state;
    peltt_random random = {71};
    pelt_asset *asset = peltt_asset_random(&shape, &random);
    worker *workers = calloc(THREAD_COUNT + 1, sizeof *workers);
    assert_non_null(workers);
    for (size_t i = 0; i <= THREAD_COUNT; i++) {
        workers[i].asset = asset;
    }
    work(&workers[THREAD_COUNT]);
    run_threads(workers);
    for (size_t i = 0; i <= THREAD_COUNT; i++) {
        assert_false(workers[i].failed);
        assert_memory_equal(workers[i].steps, workers[THREAD_COUNT].steps, sizeof workers[i].steps);
    }
    free(workers);
    pelt_asset_destroy(asset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_asset_serves_many_threads),
    };
    return cmocka_run_group_tests_name("sharing", tests, NULL, NULL);
}

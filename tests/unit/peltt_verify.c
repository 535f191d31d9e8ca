// SPDX-License-Identifier: MIT
// The model of `pelt verify` put together by hand, without morphs; the command's own is made from a file.
#include "peltt_verify.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

bool peltt_verify_in_range = true;

bool verify_model_in_range(const verify_model *m, const verify_item *item)
{
    (void)m;
    (void)item;
    return peltt_verify_in_range;
}

uint32_t verify_model_morphs(const verify_model *m, const verify_item *item)
{
    (void)m;
    (void)item;
    return 0;
}

static void run_here(void *user, uint32_t task_count, pelt_task task, void *context)
{
    (void)user;
    for (uint32_t i = 0; i < task_count; i++) {
        task(context, i);
    }
}

static void pose(peltt_verify *b, peltt_random *random)
{
    pelt_mat34 worlds[PELTT_VERIFY_JOINTS];
    const pelt_skin *skin = &pelt_asset_get(b->packed->asset)->skins[0];
    peltt_vk_worlds(random, true, PELTT_VERIFY_JOINTS, worlds);
    for (uint32_t j = 0; j < PELTT_VERIFY_JOINTS; j++) {
        assert_int_equal(pelt_pose_set_local_matrix(b->model.pose, skin->joints[j], &worlds[j]), PELT_OK);
    }
    assert_int_equal(pelt_pose_update(b->model.pose, NULL), PELT_OK);
    pelt_palette_job job = {.item_count = 1, .items = &b->palette};
    assert_int_equal(pelt_palette_evaluate(&job), PELT_OK);
}

static void skin(peltt_verify *b)
{
    const pelt_primitive *source = b->packed->primitive;
    pelt_skin_job job = {
        .vertex_count = PELTT_VERIFY_VERTICES,
        .palette_count = PELTT_VERIFY_JOINTS,
        .palette = b->matrices,
        .influence_count = source->influence_count,
        .joints = source->joints,
        .weights = source->weights,
        .positions = source->positions,
        .normals = source->normals,
        .tangents = source->tangents,
        .out_positions = b->positions[0],
        .out_normals = b->normals[0],
        .out_tangents = b->tangents[0],
        .box = &b->reference.box,
    };
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    memcpy(b->positions[1], b->positions[0], sizeof b->positions[0]);
    memcpy(b->normals[1], b->normals[0], sizeof b->normals[0]);
    memcpy(b->tangents[1], b->tangents[0], sizeof b->tangents[0]);
}

static double scale_of(const pelt_box *box)
{
    double diagonal = 0;
    double scale = 0;
    for (int i = 0; i < 3; i++) {
        diagonal = hypot(diagonal, (double)box->max[i] - (double)box->min[i]);
        scale = fmax(scale, fmax(fabs((double)box->min[i]), fabs((double)box->max[i])));
    }
    return fmax(diagonal, scale);
}

// As after the first update of a device.
static void set_output(peltt_verify *b)
{
    b->reference.positions = b->positions[0];
    b->reference.normals = b->normals[0];
    b->reference.tangents = b->tangents[0];
    b->output = b->reference;
    b->output.positions = b->positions[1];
    b->output.normals = b->normals[1];
    b->output.tangents = b->tangents[1];
    b->output.has_conservative = true;
    b->output.conservative = b->output.box;
    b->track = (verify_track){.hashes = b->hashes, .update_count = 1, .figures = &b->figures};
    b->scale = scale_of(&b->reference.box);
}

peltt_verify *peltt_verify_make_seeded(uint64_t seed)
{
    peltt_verify *b = calloc(1, sizeof *b);
    assert_non_null(b);
    peltt_random random = {seed};
    peltt_vk_shape shape = {.vertex_count = PELTT_VERIFY_VERTICES,
                            .influence_count = 4,
                            .joint_count = PELTT_VERIFY_JOINTS,
                            .moderate = true};
    b->packed = peltt_vk_model_make(&shape, seed);
    b->context.parallel.run = run_here;
    b->context.options.input = "made.glb";
    b->item = (verify_item){.source = b->packed->primitive, .palette_count = PELTT_VERIFY_JOINTS};
    b->model = (verify_model){.context = &b->context,
                              .streams = b->packed->data,
                              .asset = b->packed->asset,
                              .item_count = 1,
                              .items = &b->item,
                              .palette_count = 1,
                              .palettes = &b->palette,
                              .matrices = b->matrices,
                              .clip = 3,
                              .time = 0.25};
    assert_int_equal(pelt_pose_create(b->packed->asset, NULL, &b->model.pose), PELT_OK);
    b->palette = (pelt_palette_item){.pose = b->model.pose, .palette = b->matrices};
    b->reach.normals = calloc(PELTT_VERIFY_VERTICES, sizeof(float));
    b->reach.tangents = calloc(PELTT_VERIFY_VERTICES, sizeof(float));
    assert_true(b->reach.normals && b->reach.tangents);
    pose(b, &random);
    skin(b);
    set_output(b);
    verify_directions(&b->model, &b->item, &b->reach);
    peltt_verify_in_range = true;
    return b;
}

peltt_verify *peltt_verify_make(void)
{
    return peltt_verify_make_seeded(1);
}

void peltt_verify_destroy(peltt_verify *b)
{
    free(b->reach.normals);
    free(b->reach.tangents);
    pelt_pose_destroy(b->model.pose);
    peltt_vk_model_free(b->packed);
    free(b);
}

void peltt_verify_compare(peltt_verify *b)
{
    b->figures = (verify_figures){0};
    verify_compare(&b->model, 0, &b->reference, &b->reach, &b->output, &b->track);
}

uint64_t peltt_verify_failed(const peltt_verify *b, verify_check check)
{
    return b->figures.tallies[check].failed;
}

void peltt_verify_only(const peltt_verify *b, verify_check check, uint64_t count)
{
    for (int i = 0; i < VERIFY_CHECKS; i++) {
        assert_int_equal(b->figures.tallies[i].failed, i == (int)check ? count : 0);
    }
    assert_int_equal(verify_within(&b->figures), count == 0);
}

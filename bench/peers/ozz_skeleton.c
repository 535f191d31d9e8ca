// SPDX-License-Identifier: MIT
// ozz-animation's hierarchies on a scene's skeletons: local transforms as it samples them, one buffer of models for all
// instances, palettes one after the other.
#include "ozz_bench.h"

typedef struct skeleton_work {
    const ozz_skeleton *skeleton;
    uint32_t instance_count;
    uint32_t joint_count;
    bool failed; // a job was refused
    size_t locals_size;
    char *locals;
    float *joint_from_bind; // in ozz's order
    float *models;
    float *palettes;
    pelt_trs *transforms; // what locals were made from, in the joints' order
    pelt_mat34 *inverse_binds;
} skeleton_work;

static void run(bench_contender *self)
{
    skeleton_work *w = self->work;
    for (size_t i = 0; i < w->instance_count; i++) {
        bool done = ozz_skeleton_evaluate(w->skeleton, w->locals + w->locals_size * i, w->joint_from_bind, w->models,
                                          w->palettes + 16 * w->joint_count * i);
        w->failed = !done || w->failed;
    }
}

static bool check(bench_contender *self)
{
    const skeleton_work *w = self->work;
    bool fits = !w->failed;
    for (size_t i = 0; fits && i < w->instance_count; i++) {
        const float *palette = w->palettes + 16 * w->joint_count * i;
        const bench_pose pose = {w->joint_count, w->transforms + w->joint_count * i, w->inverse_binds};
        float ordered[16 * BENCH_SKELETON_JOINTS];
        for (size_t k = 0; k < 16 * (size_t)w->joint_count; k++) {
            ordered[16 * ozz_skeleton_joint(w->skeleton, (uint32_t)(k / 16)) + k % 16] = palette[k];
        }
        fits = bench_check_palette(&pose, ordered, true);
    }
    return fits;
}

static void fill(skeleton_work *w, const pelt_mat34 *inverse_binds)
{
    for (uint32_t j = 0; j < w->joint_count; j++) {
        w->inverse_binds[j] = inverse_binds[j];
        const pelt_mat34 *m = &inverse_binds[ozz_skeleton_joint(w->skeleton, j)];
        for (size_t k = 0; k < 16; k++) {
            float last_row = k == 15 ? 1.0F : 0.0F;
            w->joint_from_bind[16 * (size_t)j + k] = k % 4 == 3 ? last_row : m->m[k % 4][k / 4];
        }
    }
    for (uint32_t i = 0; i < w->instance_count; i++) {
        pelt_trs *transforms = w->transforms + (size_t)w->joint_count * i;
        bench_locals_fill(transforms, w->joint_count, i + 1); // the seeds of the library's
        ozz_locals_fill(w->skeleton, transforms, w->locals + w->locals_size * i);
    }
}

static skeleton_work *make_work(bench_setup *setup, const ozz_skeleton *skeleton)
{
    bench_memory *memory = &setup->memory;
    skeleton_work *w = bench_allocate(memory, 1, sizeof *w);
    if (!w) {
        return NULL;
    }
    uint64_t n = setup->scene->instance_count;
    uint64_t joint_count = setup->joint_count;
    *w = (skeleton_work){.skeleton = skeleton,
                         .instance_count = setup->scene->instance_count,
                         .joint_count = setup->joint_count,
                         .locals_size = ozz_locals_size(skeleton)};
    w->locals = bench_allocate(memory, n, w->locals_size);
    w->joint_from_bind = bench_allocate(memory, joint_count, 16 * sizeof(float));
    w->models = bench_allocate(memory, joint_count, 16 * sizeof(float));
    w->palettes = bench_allocate(memory, n * joint_count, 16 * sizeof(float));
    w->transforms = bench_allocate(memory, n * joint_count, sizeof *w->transforms);
    w->inverse_binds = bench_allocate(memory, joint_count, sizeof *w->inverse_binds);
    bool ok = w->locals && w->joint_from_bind && w->models && w->palettes && w->transforms && w->inverse_binds;
    return ok ? w : NULL;
}

bool ozz_add_skeletons(bench_setup *setup, ozz_skeleton **out)
{
    uint32_t parents[BENCH_SKELETON_JOINTS];
    for (uint32_t j = 0; j < setup->joint_count; j++) {
        parents[j] = bench_joint_parent(j);
    }
    *out = ozz_skeleton_create(setup->joint_count, parents);
    skeleton_work *w = *out ? make_work(setup, *out) : NULL;
    pelt_asset *asset = w ? bench_asset_create(&setup->scene->shape) : NULL;
    if (!asset) {
        return false;
    }
    fill(w, pelt_asset_get(asset)->skins[0].inverse_binds);
    pelt_asset_destroy(asset);
    bench_contender *c = bench_add(setup, BENCH_BASELINE, OZZ_NAME, 1);
    c->run = run;
    c->check = check;
    c->work = w;
    return true;
}

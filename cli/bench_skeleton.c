// SPDX-License-Identifier: MIT
// Scenes of skeletons: from local transforms to palettes, for one instance or many.
#include "bench.h"

#include "baselines.h"

#include <string.h>

typedef struct skeleton_data {
    pelt_asset *asset;
    pelt_skeleton *skeleton;
    uint32_t joint_count;
    uint32_t instance_count;
    pelt_trs *locals;      // of all instances, in the order of the joints
    pelt_trs *node_locals; // the same in the order of the nodes
    pelt_pose **poses;     // instance_count; all NULL where no contender has poses
    uint32_t *parents;
    float *joint_from_bind; // column-major
} skeleton_data;

// A contender's own.
typedef struct skeleton_work {
    const skeleton_data *data;
    size_t palette_stride; // bytes
    char *palettes;
    bool in_columns;
    pelt_locals *locals;
    pelt_skeleton_instance *instances;
    pelt_skeleton_job job;
    pelt_palette_item *items;
    pelt_palette_job palette_job;
    const pelt_trs **plain_locals;
    float **plain_palettes;
    baseline_skeleton_job plain;
} skeleton_work;

static void run_skeletons(bench_contender *self)
{
    const skeleton_work *w = self->work;
    pelt_skeleton_evaluate(&w->job);
}

// Every joint moved, as in a clip that animates all of them.
static void run_poses(bench_contender *self)
{
    const skeleton_work *w = self->work;
    for (uint32_t i = 0; i < w->data->instance_count; i++) {
        pelt_pose *pose = w->data->poses[i];
        memset(pelt_pose_locals(pose)->transform_changed, 1, w->data->joint_count);
        pelt_pose_update(pose, NULL);
    }
    pelt_palette_evaluate(&w->palette_job);
}

static void run_plain(bench_contender *self)
{
    const skeleton_work *w = self->work;
    baseline_plain_skeletons(&w->plain);
}

static bool check_palettes(bench_contender *self)
{
    const skeleton_work *w = self->work;
    const skeleton_data *d = w->data;
    for (uint32_t i = 0; i < d->instance_count; i++) {
        const bench_pose pose = {d->joint_count, d->locals + (size_t)i * d->joint_count,
                                 pelt_asset_get(d->asset)->skins[0].inverse_binds};
        const void *palette = w->palettes + w->palette_stride * i;
        if (!bench_check_palette(&pose, palette, w->in_columns)) {
            return false;
        }
    }
    return true;
}

// ---- set-up

static bool fill_locals(bench_setup *setup, skeleton_data *d)
{
    uint64_t count = (uint64_t)d->instance_count * d->joint_count;
    d->locals = bench_allocate(&setup->memory, count, sizeof *d->locals);
    d->node_locals = bench_allocate(&setup->memory, count, sizeof *d->node_locals);
    d->parents = bench_allocate(&setup->memory, d->joint_count, sizeof *d->parents);
    d->joint_from_bind = bench_allocate(&setup->memory, d->joint_count, 16 * sizeof(float));
    if (!d->locals || !d->node_locals || !d->parents || !d->joint_from_bind) {
        return false;
    }
    const pelt_asset_data *asset = pelt_asset_get(d->asset);
    for (uint32_t i = 0; i < d->instance_count; i++) {
        size_t first = (size_t)i * d->joint_count;
        bench_locals_fill(d->locals + first, d->joint_count, i + 1);
        for (uint32_t j = 0; j < d->joint_count; j++) {
            d->node_locals[first + asset->node_from_file[j]] = d->locals[first + j];
        }
    }
    for (uint32_t j = 0; j < d->joint_count; j++) {
        d->parents[j] = bench_joint_parent(j);
        for (size_t k = 0; k < 16; k++) {
            bool last_row = k % 4 == 3;
            float x = last_row ? 0.0F : asset->skins[0].inverse_binds[j].m[k % 4][k / 4];
            d->joint_from_bind[16 * (size_t)j + k] = k == 15 ? 1.0F : x;
        }
    }
    return true;
}

static skeleton_work *add_work(bench_setup *setup, const skeleton_data *d)
{
    uint64_t n = d->instance_count;
    skeleton_work *w = bench_allocate(&setup->memory, 1, sizeof *w);
    if (!w) {
        return NULL;
    }
    w->data = d;
    w->palette_stride = pelt_skeleton_palette_stride(d->skeleton, PELT_PALETTE_4X4);
    w->palettes = bench_allocate(&setup->memory, n, w->palette_stride);
    return w->palettes ? w : NULL;
}

static bool add_skeletons(bench_setup *setup, const skeleton_data *d, pelt_isa isa, pelt_precision precision)
{
    skeleton_work *w = add_work(setup, d);
    if (!w) {
        return false;
    }
    w->locals = bench_allocate(&setup->memory, d->instance_count, sizeof *w->locals);
    w->instances = bench_allocate(&setup->memory, d->instance_count, sizeof *w->instances);
    if (!w->locals || !w->instances) {
        return false;
    }
    for (size_t i = 0; i < d->instance_count; i++) {
        w->locals[i] = (pelt_locals){.transforms = d->node_locals + i * d->joint_count};
        w->instances[i] = (pelt_skeleton_instance){&w->locals[i], w->palettes + w->palette_stride * i};
    }
    w->job = (pelt_skeleton_job){.skeleton = d->skeleton,
                                 .instance_count = d->instance_count,
                                 .instances = w->instances,
                                 .format = PELT_PALETTE_4X4,
                                 .precision = precision,
                                 .isa = isa,
                                 .disabled_isas = setup->context->disabled_isas};
    char name[32];
    snprintf(name, sizeof name, "%s, %s", pelt_isa_name(isa), precision == PELT_PRECISION_FLOAT ? "float" : "double");
    bench_contender *c = bench_add(setup, BENCH_KERNEL, name, 1);
    c->isa = isa;
    c->run = run_skeletons;
    c->check = check_palettes;
    c->work = w;
    return true;
}

static bool add_poses(bench_setup *setup, skeleton_data *d, pelt_isa isa)
{
    skeleton_work *w = add_work(setup, d);
    if (!w) {
        return false;
    }
    w->items = bench_allocate(&setup->memory, d->instance_count, sizeof *w->items);
    d->poses = bench_allocate(&setup->memory, d->instance_count, sizeof(pelt_pose *));
    if (!w->items || !d->poses) {
        return false;
    }
    for (size_t i = 0; i < d->instance_count; i++) {
        if (pelt_pose_create(d->asset, NULL, &d->poses[i]) != PELT_OK) {
            return false;
        }
        pelt_pose_set_isa(d->poses[i], isa, setup->context->disabled_isas);
        pelt_pose_set_locals(d->poses[i], d->node_locals + i * d->joint_count);
        w->items[i] = (pelt_palette_item){.pose = d->poses[i], .palette = w->palettes + w->palette_stride * i};
    }
    w->palette_job = (pelt_palette_job){.item_count = d->instance_count,
                                        .items = w->items,
                                        .format = PELT_PALETTE_4X4,
                                        .isa = isa,
                                        .disabled_isas = setup->context->disabled_isas};
    char name[32];
    snprintf(name, sizeof name, "%s, poses", pelt_isa_name(isa));
    bench_contender *c = bench_add(setup, BENCH_KERNEL, name, 1);
    c->isa = isa;
    c->run = run_poses;
    c->check = check_palettes;
    c->work = w;
    return true;
}

static bool add_plain(bench_setup *setup, const skeleton_data *d)
{
    skeleton_work *w = add_work(setup, d);
    if (!w) {
        return false;
    }
    w->in_columns = true;
    w->plain_locals = bench_allocate(&setup->memory, d->instance_count, sizeof *w->plain_locals);
    w->plain_palettes = bench_allocate(&setup->memory, d->instance_count, sizeof *w->plain_palettes);
    float *worlds = bench_allocate(&setup->memory, d->joint_count, 16 * sizeof *worlds);
    if (!w->plain_locals || !w->plain_palettes || !worlds) {
        return false;
    }
    for (size_t i = 0; i < d->instance_count; i++) {
        w->plain_locals[i] = d->locals + i * d->joint_count;
        w->plain_palettes[i] = (float *)(void *)(w->palettes + w->palette_stride * i);
    }
    w->plain = (baseline_skeleton_job){.instance_count = d->instance_count,
                                       .joint_count = d->joint_count,
                                       .parents = d->parents,
                                       .joint_from_bind = d->joint_from_bind,
                                       .locals = w->plain_locals,
                                       .worlds = worlds,
                                       .palettes = w->plain_palettes};
    bench_contender *c = bench_add(setup, BENCH_BASELINE, "plain", 1);
    c->run = run_plain;
    c->check = check_palettes;
    c->work = w;
    return true;
}

static bool add_contenders(bench_setup *setup, skeleton_data *d)
{
    pelt_isa isas[PELT_ISA_COUNT];
    uint32_t isa_count = bench_isas(setup->context, isas);
    bool ok = true;
    for (uint32_t i = 0; ok && i < isa_count; i++) {
        ok = add_skeletons(setup, d, isas[i], PELT_PRECISION_FLOAT) &&
             add_skeletons(setup, d, isas[i], PELT_PRECISION_DOUBLE);
    }
    ok = ok && add_poses(setup, d, isas[0]);
    if (ok && baseline_plain_available()) {
        ok = add_plain(setup, d);
    }
    return ok && bench_add_ceilings(setup);
}

int bench_skeleton_setup(bench_setup *setup)
{
    const bench_scene *scene = setup->scene;
    skeleton_data *d = bench_allocate(&setup->memory, 1, sizeof *d);
    setup->data = d;
    if (!d) {
        return bench_out_of_memory(setup);
    }
    d->joint_count = scene->shape.joint_count;
    d->instance_count = scene->instance_count;
    d->asset = bench_asset_create(&scene->shape);
    if (!d->asset || pelt_skeleton_create(d->asset, NULL, NULL, &d->skeleton) != PELT_OK || !fill_locals(setup, d)) {
        return bench_out_of_memory(setup);
    }
    setup->element = "joint";
    setup->joint_count = d->joint_count;
    setup->element_count = (uint64_t)d->instance_count * d->joint_count;
    setup->bytes_read = setup->element_count * sizeof(pelt_trs);
    setup->bytes_written = setup->element_count * 16 * sizeof(float);
    return add_contenders(setup, d) ? CLI_DONE : bench_out_of_memory(setup);
}

void bench_skeleton_release(bench_setup *setup)
{
    skeleton_data *d = setup->data;
    if (d) {
        for (uint32_t i = 0; d->poses && i < d->instance_count; i++) {
            pelt_pose_destroy(d->poses[i]);
        }
        pelt_skeleton_destroy(d->skeleton);
        pelt_asset_destroy(d->asset);
    }
}

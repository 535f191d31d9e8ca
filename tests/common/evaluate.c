// SPDX-License-Identifier: MIT
// See evaluate.h. Uses the public API only and checks what it promises about every result.
#include "evaluate.h"

#include <pelt/gltf.h>
#include <pelt/palette.h>
#include <pelt/skin.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    const pelt_asset_data *asset;
    pelt_pose *pose;
    peltt_evaluation *out;
} run;

// A box that a plain loop finds, to be compared bit for bit.
static pelt_box plain_box(const float *positions, uint32_t vertex_count)
{
    pelt_box box = pelt_box_empty();
    for (uint32_t v = 0; v < vertex_count; v++) {
        for (size_t axis = 0; axis < 3; axis++) {
            float value = positions[3 * (size_t)v + axis];
            box.min[axis] = value < box.min[axis] ? value : box.min[axis];
            box.max[axis] = value > box.max[axis] ? value : box.max[axis];
        }
    }
    return box;
}

static bool all_unit(const float *vectors, uint32_t count, uint32_t width)
{
    for (uint32_t i = 0; i < count; i++) {
        const float *v = vectors + (size_t)i * width;
        float length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        if (!(fabsf(length - 1.0f) < 1e-4f)) {
            return false;
        }
    }
    return true;
}

static bool all_finite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

static void check_outputs(run *r, const pelt_skin_job *job)
{
    pelt_box expected = plain_box(job->out_positions, job->vertex_count);
    if (memcmp(&expected, job->box, sizeof expected) != 0) {
        r->out->violation = "the box is not the min and max of the written positions";
    }
    // Directions are promised wherever the matrices did not overflow.
    if (all_finite(job->out_positions, (size_t)job->vertex_count * 3)) {
        if (job->out_normals && !all_unit(job->out_normals, job->vertex_count, 3)) {
            r->out->violation = "a normal is not of unit length";
        }
        if (job->out_tangents && !all_unit(job->out_tangents, job->vertex_count, 4)) {
            r->out->violation = "a tangent is not of unit length";
        }
        for (uint32_t v = 0; v < job->vertex_count; v++) {
            r->out->checksum += (double)job->out_positions[3 * (size_t)v] + (double)(v % 7);
        }
    }
}

static void skin_primitive(run *r, const pelt_primitive *source, const pelt_skin_job *base)
{
    pelt_skin_job job = *base;
    size_t n = source->vertex_count;
    pelt_box box;
    float *memory = malloc((n * 10 + 1) * sizeof(float));
    if (!memory) {
        return;
    }
    job.vertex_count = source->vertex_count;
    job.positions = source->positions;
    job.normals = source->normals;
    job.tangents = source->tangents;
    if (base->influence_count) {
        job.influence_count = source->influence_count;
        job.joints = source->joints;
        job.weights = source->weights;
    }
    job.out_positions = memory;
    job.out_normals = source->normals ? memory + 3 * n : NULL;
    job.out_tangents = source->tangents ? memory + 6 * n : NULL;
    job.box = &box;
    if (pelt_skin_evaluate(&job) != PELT_OK) {
        r->out->violation = "an imported primitive was refused by pelt_skin_evaluate";
    } else {
        check_outputs(r, &job);
    }
    free(memory);
}

static void evaluate_instance(run *r, const pelt_instance *instance)
{
    const pelt_mesh *mesh = &r->asset->meshes[instance->mesh];
    uint32_t joint_count = instance->skin == PELT_NONE ? 1 : r->asset->skins[instance->skin].joint_count;
    pelt_mat34 *palette = malloc(joint_count * sizeof *palette);
    pelt_skin_morph *morphs = malloc((mesh->target_count + 1u) * sizeof *morphs);
    if (palette && morphs) {
        pelt_palette_item item = {r->pose, instance->skin, instance->node, palette};
        pelt_palette_job palette_job = {.item_count = 1, .items = &item};
        if (pelt_palette_evaluate(&palette_job) != PELT_OK) {
            r->out->violation = "an imported skin was refused by pelt_palette_evaluate";
        }
        const float *weights = pelt_pose_weights(r->pose, instance->node);
        for (uint32_t p = 0; p < mesh->primitive_count && !r->out->violation; p++) {
            const pelt_primitive *source = &mesh->primitives[p];
            for (uint32_t t = 0; t < mesh->target_count; t++) {
                const pelt_morph_target *target = &source->targets[t];
                morphs[t] = (pelt_skin_morph){weights[t], target->positions, target->normals, target->tangents};
            }
            pelt_skin_job job = {.palette_count = joint_count,
                                 .palette = palette,
                                 .influence_count = instance->skin == PELT_NONE ? 0 : 1,
                                 .morph_count = mesh->target_count,
                                 .morphs = morphs,
                                 .flags = PELT_NORMAL_OUTWARD};
            skin_primitive(r, source, &job);
        }
    }
    free(palette);
    free(morphs);
}

static void evaluate_pose(run *r, uint32_t clip, double time)
{
    pelt_pose_reset(r->pose);
    if (clip != PELT_NONE &&
        pelt_clip_sample(pelt_pose_asset(r->pose), clip, time, pelt_pose_locals(r->pose)) != PELT_OK) {
        r->out->violation = "an imported clip was refused by pelt_clip_sample";
    }
    if (pelt_pose_update(r->pose, NULL) != PELT_OK) {
        r->out->violation = "pelt_pose_update failed";
    }
    for (uint32_t i = 0; i < r->asset->instance_count && !r->out->violation; i++) {
        evaluate_instance(r, &r->asset->instances[i]);
    }
}

void peltt_evaluate_asset(const pelt_asset *asset, const pelt_allocator *allocator, uint32_t pose_limit,
                          peltt_evaluation *out)
{
    pelt_pose *pose = NULL;
    out->result = pelt_pose_create(asset, allocator, &pose);
    if (out->result == PELT_OK) {
        run r = {pelt_asset_get(asset), pose, out};
        out->instance_count = r.asset->instance_count;
        uint64_t pose_count = 1 + 3 * (uint64_t)r.asset->clip_count;
        for (uint64_t i = 0; i < pose_count && (pose_limit == 0 || i < pose_limit) && !out->violation; i++) {
            uint32_t clip = i == 0 ? PELT_NONE : (uint32_t)((i - 1) / 3);
            double time = i == 0 ? 0.0 : (double)r.asset->clips[clip].duration * 0.5 * (double)((i - 1) % 3);
            evaluate_pose(&r, clip, time);
        }
    }
    pelt_pose_destroy(pose);
}

peltt_evaluation peltt_evaluate(const void *data, size_t size, const char *folder, const pelt_allocator *allocator,
                                uint32_t pose_limit)
{
    peltt_evaluation out = {.result = PELT_OK};
    pelt_gltf_options options = {.limits = {.memory = 256u << 20}};
    pelt_gltf *gltf = NULL;
    pelt_asset *asset = NULL;
    if (allocator) {
        options.allocator = *allocator;
    }
    out.result = pelt_gltf_open_memory(data, size, folder, &options, &gltf, &out.error);
    if (out.result == PELT_OK) {
        out.result = pelt_gltf_import(gltf, &asset, &out.error);
    }
    if (out.result != PELT_OK && (out.error.code != out.result || out.error.message[0] == '\0')) {
        out.violation = "an error came without its code or message";
    }
    if (out.result == PELT_OK) {
        peltt_evaluate_asset(asset, allocator, pose_limit, &out);
    }
    pelt_asset_destroy(asset);
    pelt_gltf_close(gltf);
    return out;
}

// SPDX-License-Identifier: MIT
// Holds what contenders on a device write for some instances against the same sums in double.
#include "bench_gpu.h"

#include <stdlib.h>

// What the designs that ours is compared with may be off by: they round differently, and pack in their own ways.
static const double baseline_share = 1e-5;
static const double baseline_turn = 1.7453e-3; // 0.1 degrees

// Arrays that hold the largest mesh.
typedef struct arrays {
    float *positions;
    float *normals;
    float *tangents;
    float *weights; // as a design packs them
} arrays;

static bool allocate(const bench_gpu_model *m, arrays *out)
{
    size_t most = 1;
    for (uint32_t i = 0; i < m->source_count; i++) {
        most = m->sources[i].vertex_count > most ? m->sources[i].vertex_count : most;
    }
    *out = (arrays){calloc(3 * most, sizeof(float)), calloc(3 * most, sizeof(float)), calloc(4 * most, sizeof(float)),
                    calloc(4 * most, sizeof(float))};
    return out->positions && out->normals && out->tangents && out->weights;
}

static void release(arrays *a)
{
    free(a->positions);
    free(a->normals);
    free(a->tangents);
    free(a->weights);
}

static bool contains(const pelt_box *box, const float *positions, uint32_t count)
{
    for (size_t v = 0; v < count; v++) {
        for (size_t i = 0; i < 3; i++) {
            float x = positions[3 * v + i];
            if (!(x >= box->min[i] && x <= box->max[i])) {
                return false;
            }
        }
    }
    return true;
}

static int check_ours(bench_gpu_run *run, bench_gpu_contender *c, const arrays *a, const bench_mesh *mesh,
                      uint32_t instance, bool *out_right)
{
    // Codes of directions need no more room than their floats.
    bench_gpu_codes codes = {.positions = a->positions,
                             .normals = (uint32_t *)(void *)a->normals,
                             .tangents = (uint32_t *)(void *)a->tangents};
    int code = bench_gpu_pelt_read(c->state, instance, &codes);
    if (code != CLI_DONE) {
        return code;
    }
    bool joint_boxes = c->is.bounds == PELT_VK_BOUNDS_CONSERVATIVE;
    bench_output output = {.positions = codes.positions,
                           .normals = mesh->normals ? codes.normals : NULL,
                           .tangents = mesh->tangents ? codes.tangents : NULL,
                           .positions_stride = 12,
                           .normals_stride = 4,
                           .tangents_stride = 4,
                           .packed = true,
                           .box = c->is.bounds == PELT_VK_BOUNDS_EXACT ? &codes.box : NULL};
    // Of a file the matrices are products that the device makes, with a rounding of their own.
    if (joint_boxes && run->model->scene->kind == BENCH_FILE) {
        output.position_share = baseline_share;
        output.turn = baseline_turn;
    }
    *out_right = bench_check_skin(mesh, &output) &&
                 (!joint_boxes || contains(&codes.conservative, codes.positions, mesh->vertex_count));
    return CLI_DONE;
}

static bench_normals normals_of(const baseline_vk_contender *b)
{
    return b->normals == BASELINE_VK_NORMALS_MATRIX               ? BENCH_NORMALS_MATRIX
           : b->normals == BASELINE_VK_NORMALS_INVERSE_TRANSPOSES ? BENCH_NORMALS_INVERSE_TRANSPOSES
                                                                  : BENCH_NORMALS_COFACTOR;
}

static int check_baseline(bench_gpu_run *run, bench_gpu_contender *c, const arrays *a, const bench_mesh *mesh,
                          uint32_t instance, bool *out_right)
{
    char message[BENCH_GPU_REASON] = "";
    baseline_vk_output got = {a->positions, a->normals, a->tangents, pelt_box_empty()};
    if (!c->is.baseline->read(c->state, instance, &got, message)) {
        return cli_fail(run->context, CLI_NO_DEVICE, NULL, NULL, NULL, "reading what %s wrote failed: %s", c->is.name,
                        message);
    }
    bench_output output = {.positions = got.positions,
                           .normals = got.normals,
                           .tangents = got.tangents,
                           .positions_stride = 12,
                           .normals_stride = 12,
                           .tangents_stride = 16,
                           .by = normals_of(c->is.baseline),
                           .any_length = true,
                           .position_share = baseline_share,
                           .turn = baseline_turn,
                           .box = c->is.baseline->has_bounds ? &got.box : NULL};
    *out_right = bench_check_skin(mesh, &output);
    return CLI_DONE;
}

static void set_identity(bench_palette *palette)
{
    for (size_t i = 0; i < 16 * (size_t)palette->count; i++) {
        palette->rows[i] = i % 16 % 5 == 0 ? 1.0F : 0.0F;
    }
}

static int check_instance(bench_gpu_run *run, bench_gpu_contender *c, const arrays *a, uint32_t instance)
{
    bench_gpu_model *m = run->model;
    bench_palette palette;
    if (!bench_gpu_model_palette(m, instance, &palette)) {
        return cli_fail(run->context, CLI_LIMIT, NULL, NULL, NULL, "out of memory for scene %s", m->scene->name);
    }
    bench_mesh mesh = m->sources[m->meshes[m->data.instances[instance].mesh].source];
    if (c->is.baseline == &baseline_vk_draw_skinned) {
        set_identity(&palette); // it takes meshes as they are for skinned ones
    }
    mesh.palette = &palette;
    if (c->is.baseline && c->is.baseline->weights) {
        for (size_t v = 0; v < mesh.vertex_count; v++) {
            c->is.baseline->weights(mesh.weights + 4 * v, a->weights + 4 * v);
        }
        mesh.weights = a->weights;
    }
    bool right = false;
    int code = c->is.baseline ? check_baseline(run, c, a, &mesh, instance, &right)
                              : check_ours(run, c, a, &mesh, instance, &right);
    if (code == CLI_DONE && !right && c->is.baseline && m->scene->kind == BENCH_FILE) {
        snprintf(c->skipped, sizeof c->skipped, "its floats do not follow this file's matrices");
        return CLI_DONE;
    }
    if (code == CLI_DONE && !right) {
        return cli_fail(run->context, CLI_NEGATIVE, NULL, NULL, "'pelt verify FILE' tells where devices differ",
                        "scene %s: what %s writes is wrong, so nothing was timed", m->scene->name, c->is.name);
    }
    return code;
}

int bench_gpu_check(bench_gpu_run *run, bench_gpu_contender *c)
{
    const bench_gpu_model *m = run->model;
    if (c->is.baseline && !c->is.baseline->read) {
        return CLI_DONE;
    }
    arrays a;
    int code = allocate(m, &a)
                   ? CLI_DONE
                   : cli_fail(run->context, CLI_LIMIT, NULL, NULL, NULL, "out of memory for scene %s", m->scene->name);
    uint32_t last = m->data.instance_count - 1;
    uint32_t count = last < BENCH_GPU_CHECKED ? last + 1 : BENCH_GPU_CHECKED;
    for (uint32_t i = 0; i < count && code == CLI_DONE; i++) {
        code = check_instance(run, c, &a, count > 1 ? (uint32_t)((uint64_t)i * last / (count - 1)) : 0);
    }
    release(&a);
    return code;
}

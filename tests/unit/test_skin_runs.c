// SPDX-License-Identifier: MIT
// Jobs with joint runs: what is refused, what runs are cut, and cooked primitives that are skinned as they stand.
#include "peltt_isa.h"
#include "peltt_kernel.h"
#include "peltt_packed.h"

#include <pelt/cook.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- refusals

typedef struct fixture {
    peltt_kernel kernel;
    pelt_run runs[8];
    uint16_t run_joints[8 * PELT_RUN_JOINTS];
    uint32_t extra_offsets[512];
    pelt_extra_influence extras[2048];
    pelt_joint_runs *list; // of the job
    pelt_skin_job job;
} fixture;

static void set_up(fixture *f, peltt_joints joints)
{
    peltt_random random = {.state = 5};
    const peltt_kernel_shape shape = {.vertex_count = 150,
                                      .joints = joints,
                                      .influence_count = 4,
                                      .weights = PELT_WEIGHT_SORTED,
                                      .extras = true,
                                      .ordered = true,
                                      .wanted = PELTT_EVERYTHING,
                                      .palette_stride = 48};
    peltt_kernel_init(&f->kernel, &shape, &random);
    f->list = &f->kernel.runs;
    memcpy(f->runs, f->list->runs, f->list->run_count * sizeof f->runs[0]);
    memcpy(f->run_joints, f->list->run_joints, f->list->run_joint_count * sizeof f->run_joints[0]);
    memcpy(f->extra_offsets, f->list->extra_offsets, (f->list->wide_count + 1) * sizeof f->extra_offsets[0]);
    memcpy(f->extras, f->list->extras, f->list->extra_count * sizeof f->extras[0]);
    f->list->runs = f->runs;
    f->list->run_joints = f->run_joints;
    f->list->extra_offsets = f->extra_offsets;
    f->list->extras = f->extras;
    f->job = f->kernel.job;
    f->job.isa = peltt_isa;
}

static void expect(fixture *f, pelt_result want, const char *what)
{
    pelt_result got = pelt_skin_evaluate(&f->job);
    if (got != want) {
        fail_msg("%s: %s", what, pelt_result_name(got));
    }
    for (int s = PELTT_S_OUT_POSITIONS; s < PELTT_S_COUNT && want != PELT_OK; s++) {
        for (size_t i = 0; i < f->kernel.streams[s].size; i++) {
            assert_int_equal(f->kernel.streams[s].data[i], 0xCC);
        }
    }
    peltt_kernel_free(&f->kernel);
}

#define REFUSES(joints, ...)                                                                                           \
    do {                                                                                                               \
        fixture f;                                                                                                     \
        set_up(&f, joints);                                                                                            \
        __VA_ARGS__;                                                                                                   \
        expect(&f, PELT_ERROR_ARGUMENT, #__VA_ARGS__);                                                                 \
    } while (0)

#define ACCEPTS(joints, ...)                                                                                           \
    do {                                                                                                               \
        fixture f;                                                                                                     \
        set_up(&f, joints);                                                                                            \
        __VA_ARGS__;                                                                                                   \
        expect(&f, PELT_OK, #__VA_ARGS__);                                                                             \
    } while (0)

static void runs_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    ACCEPTS(PELTT_NARROW, (void)f);
    REFUSES(PELTT_NARROW, f.list->runs = NULL);
    REFUSES(PELTT_NARROW, f.list->run_joints = NULL);
    REFUSES(PELTT_NARROW, f.list->extra_offsets = NULL);
    REFUSES(PELTT_NARROW, f.list->extras = NULL);
    REFUSES(PELTT_NARROW, f.list->run_count = 0);
    REFUSES(PELTT_NARROW, f.list->run_count--);
    REFUSES(PELTT_NARROW, f.runs[0].first_vertex = 64);
    REFUSES(PELTT_NARROW, f.runs[0].vertex_count = 0);
    REFUSES(PELTT_NARROW, f.runs[0].vertex_count = UINT32_MAX);
    REFUSES(PELTT_NARROW, f.runs[f.list->run_count - 1].vertex_count--);
    REFUSES(PELTT_NARROW, f.runs[f.list->run_count - 1].vertex_count++);
    REFUSES(PELTT_NARROW, f.runs[0].layout = 3);
    REFUSES(PELTT_NARROW, f.runs[0].joint_count = 0);
    REFUSES(PELTT_NARROW, f.runs[0].joint_count = PELT_RUN_JOINTS + 1);
    REFUSES(PELTT_NARROW, f.runs[0].first_joint = f.list->run_joint_count);
    REFUSES(PELTT_NARROW, f.runs[0].first_joint = UINT32_MAX);
    REFUSES(PELTT_NARROW, f.runs[0].joints_offset = (uint32_t)f.list->joints_size - 4);
    REFUSES(PELTT_NARROW, f.runs[0].joints_offset = UINT32_MAX);
    REFUSES(PELTT_NARROW, f.list->joints_size--);
    REFUSES(PELTT_NARROW, f.runs[0].first_wide = f.list->wide_count + 1);
    REFUSES(PELTT_NARROW, f.runs[0].class_counts[4] = UINT16_MAX);
    REFUSES(PELTT_NARROW, f.list->wide_count = 0);
    REFUSES(PELTT_NARROW, f.list->extra_count--);
    REFUSES(PELTT_NARROW, f.extra_offsets[1] = UINT32_MAX);
    REFUSES(PELTT_DIRECT16, f.runs[0].joints_offset = 1);
    ACCEPTS(PELTT_DIRECT16, (void)f);
    ACCEPTS(PELTT_DIRECT8, (void)f);
}

static void formats_that_do_not_go_together_are_refused(void **state)
{
    (void)state;
    REFUSES(PELTT_NARROW, f.job.weight_format = (pelt_weight_format)4);
    REFUSES(PELTT_NARROW, f.job.direction_format = (pelt_direction_format)2);
    REFUSES(PELTT_NARROW, f.job.out_direction_format = (pelt_direction_format)2);
    REFUSES(PELTT_NARROW, f.job.isa = PELT_ISA_COUNT);
    REFUSES(PELTT_NARROW, f.job.influence_count = 3);
    REFUSES(PELTT_NARROW, f.job.influence_count = 8);
    REFUSES(PELTT_NARROW, f.job.runs = NULL);
    REFUSES(PELTT_NARROW, f.job.joints_stride = 4);
    REFUSES(PELTT_NARROW, f.job.palette_stride = 44);
    REFUSES(PELTT_NARROW, f.job.palette_stride = 50);
    REFUSES(PELTT_NARROW, f.job.weights_stride = 2);
    ACCEPTS(PELTT_NARROW, f.job.influence_count = 0);
}

static void joints_out_of_range_are_refused(void **state)
{
    (void)state;
    REFUSES(PELTT_NARROW, f.run_joints[0] = (uint16_t)f.job.palette_count);
    REFUSES(PELTT_NARROW, f.job.palette_count = 1);
    REFUSES(PELTT_NARROW, f.extras[0].joint = (uint16_t)f.job.palette_count);
    REFUSES(PELTT_NARROW, f.kernel.streams[PELTT_S_JOINTS].data[3] = 200); // the implied weight is never zero
    REFUSES(PELTT_DIRECT8, f.kernel.streams[PELTT_S_JOINTS].data[3] = 200);
    REFUSES(PELTT_DIRECT16, memset(f.kernel.streams[PELTT_S_JOINTS].data + 6, 0xFF, 2));
    // A promise is believed, and what it hides is clamped.
    ACCEPTS(PELTT_NARROW, f.kernel.streams[PELTT_S_JOINTS].data[3] = 200; f.job.joint_bound = f.job.palette_count);
    ACCEPTS(PELTT_LISTED, f.kernel.streams[PELTT_S_JOINTS].data[3] = 200; f.job.joint_bound = f.job.palette_count);
    ACCEPTS(PELTT_DIRECT8, f.kernel.streams[PELTT_S_JOINTS].data[3] = 255; f.job.joint_bound = f.job.palette_count);
    ACCEPTS(PELTT_DIRECT16, memset(f.kernel.streams[PELTT_S_JOINTS].data + 6, 0xFF, 2);
            f.job.joint_bound = f.job.palette_count);
    ACCEPTS(PELTT_NARROW, f.extras[0].joint = UINT16_MAX; f.job.joint_bound = f.job.palette_count);
    REFUSES(PELTT_NARROW, f.extras[0].joint = UINT16_MAX; f.job.joint_bound = f.job.palette_count + 1);
}

static void outputs_over_runs_are_refused(void **state)
{
    (void)state;
    REFUSES(PELTT_NARROW, f.job.box = (pelt_box *)(void *)f.runs);
    REFUSES(PELTT_NARROW, f.job.box = (pelt_box *)(void *)f.run_joints);
    REFUSES(PELTT_NARROW, f.job.box = (pelt_box *)(void *)f.extra_offsets);
    REFUSES(PELTT_NARROW, f.job.box = (pelt_box *)(void *)f.extras);
    REFUSES(PELTT_NARROW, f.job.out_mirrored = f.kernel.streams[PELTT_S_JOINTS].data);
    REFUSES(PELTT_NARROW, f.job.out_mirrored = f.kernel.streams[PELTT_S_WEIGHTS].data);
}

// --- cutting

static void check_cut(const pelt_joint_runs_job *job, const pelt_joint_runs *runs)
{
    uint32_t next = 0;
    uint32_t lists = 0;
    uint64_t size = 0;
    for (uint32_t r = 0; r < runs->run_count; r++) {
        const pelt_run *run = &runs->runs[r];
        bool listed = run->layout == PELT_JOINTS_RUN;
        uint32_t distinct[65536 / 32] = {0};
        uint32_t distinct_count = 0;
        assert_int_equal(run->first_vertex, next);
        assert_true(run->vertex_count > 0 && run->vertex_count <= PELT_RUN_VERTICES);
        next += run->vertex_count;
        assert_true(next == job->vertex_count || run->vertex_count % PELT_RUN_STEP == 0);
        assert_int_equal(run->first_joint, lists);
        assert_true(run->joints_offset == size);
        assert_int_equal(run->joint_count > 0, listed);
        for (uint32_t i = 1; i < run->joint_count; i++) {
            assert_true(runs->run_joints[lists + i] > runs->run_joints[lists + i - 1]);
        }
        size_t first = (size_t)run->first_vertex * job->influence_count;
        for (size_t i = 0; i < (size_t)run->vertex_count * job->influence_count; i++) {
            const uint8_t *local = job->local_joints + run->joints_offset;
            uint16_t joint = 0;
            if (job->weights[first + i] == 0.0F) {
                continue;
            }
            if (listed) {
                assert_true(local[i] < run->joint_count);
                joint = runs->run_joints[lists + local[i]];
            } else {
                memcpy(&joint, local + i * 2, sizeof joint);
            }
            assert_int_equal(joint, job->joints[first + i]);
            distinct_count += (distinct[joint / 32] >> joint % 32 & 1) == 0;
            distinct[joint / 32] |= 1U << joint % 32;
        }
        assert_true(listed ? distinct_count == run->joint_count || (distinct_count == 0 && run->joint_count == 1)
                           : distinct_count > PELT_RUN_JOINTS);
        lists += run->joint_count;
        size += (uint64_t)run->vertex_count * job->influence_count * (listed ? 1 : 2);
    }
    assert_int_equal(next, job->vertex_count);
    assert_int_equal(lists, runs->run_joint_count);
    assert_true(size == runs->joints_size);
}

static void cut_runs_keep_every_joint(void **state)
{
    (void)state;
    enum {
        LIMIT = 3000
    };
    peltt_random random = {.state = 9};
    uint16_t *joints = malloc(LIMIT * 8 * sizeof *joints);
    float *weights = malloc(LIMIT * 8 * sizeof *weights);
    pelt_run *runs = malloc((LIMIT / PELT_RUN_STEP + 1) * sizeof *runs);
    uint16_t *lists = malloc((LIMIT / PELT_RUN_STEP + 1) * PELT_RUN_JOINTS * sizeof *lists);
    uint8_t *local = malloc(LIMIT * 8 * 2);
    assert_true(joints && weights && runs && lists && local);
    uint32_t kinds[3] = {0};
    for (int round = 0; round < 200; round++) {
        uint32_t n = round % 2 ? 4 : 8;
        uint32_t count = peltt_random_below(&random, LIMIT + 1);
        uint32_t spread = 1 + peltt_random_below(&random, round % 3 ? 40 : 2000);
        for (uint32_t i = 0; i < count * n; i++) {
            joints[i] = (uint16_t)(i / 700 + peltt_random_below(&random, spread));
            weights[i] = peltt_random_chance(&random, 0.4) ? 0.0F : 0.25F;
        }
        const pelt_joint_runs_job job = {count, n, joints, weights, runs, lists, local};
        pelt_joint_runs out;
        assert_int_equal(pelt_joint_runs_build(&job, &out), PELT_OK);
        check_cut(&job, &out);
        for (uint32_t r = 0; r < out.run_count; r++) {
            kinds[runs[r].joint_count == 0 ? 2 : runs[r].joint_count > 16]++;
        }
    }
    assert_true(kinds[0] > 50 && kinds[1] > 50 && kinds[2] > 50);
    pelt_joint_runs out;
    const pelt_joint_runs_job odd = {64, 5, joints, weights, runs, lists, local};
    const pelt_joint_runs_job incomplete = {64, 4, joints, NULL, runs, lists, local};
    assert_int_equal(pelt_joint_runs_build(NULL, &out), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_joint_runs_build(&odd, &out), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_joint_runs_build(&incomplete, &out), PELT_ERROR_ARGUMENT);
    free(joints);
    free(weights);
    free(runs);
    free(lists);
    free(local);
}

// --- cooked

// Influences read back one by one and skinned in double, against the primitive as it stands.
static void check_cooked(const pelt_cooked_primitive *p, const pelt_mat34 *palette, uint32_t palette_count)
{
    const pelt_packed_streams streams = pelt_cooked_streams(p);
    float *out = malloc(((size_t)p->vertex_count * 3 + 1) * sizeof *out);
    uint32_t *normals = malloc(((size_t)p->vertex_count + 1) * sizeof *normals);
    pelt_box box;
    assert_true(out && normals);
    pelt_skin_job job = {.isa = peltt_isa,
                         .palette_count = palette_count,
                         .palette = palette,
                         .out_positions = out,
                         .out_normals = p->normals ? normals : NULL,
                         .out_direction_format = PELT_DIRECTION_OCTAHEDRAL,
                         .box = &box};
    pelt_skin_job_set_packed(&job, &streams);
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    job.joint_bound = 0; // checked, with the same result
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        uint16_t joints[64];
        float weights[64];
        uint32_t count = pelt_cooked_influences(p, v, 64, joints, weights);
        assert_true(count <= 64);
        if (count == 0) { // rigid
            joints[0] = 0;
            weights[0] = 1.0F;
            count = 1;
        }
        for (int r = 0; r < 3; r++) {
            double sum = 0.0;
            double range = 1e-30;
            for (uint32_t i = 0; i < count; i++) {
                const float *row = palette[joints[i]].m[r];
                double w = (double)weights[i];
                sum += w * (double)row[3];
                range += w * fabs((double)row[3]);
                for (int c = 0; c < 3; c++) {
                    double term = w * (double)row[c] * (double)p->positions[v * 3 + (uint32_t)c];
                    sum += term;
                    range += fabs(term);
                }
            }
            assert_true(fabs((double)out[v * 3 + (uint32_t)r] - sum) < 6e-7 * range);
            assert_true(out[v * 3 + (uint32_t)r] >= box.min[r] && out[v * 3 + (uint32_t)r] <= box.max[r]);
        }
    }
    free(out);
    free(normals);
}

static void cooked_primitives_are_skinned_as_they_stand(void **state)
{
    (void)state;
    peltt_random random = {.state = 31};
    pelt_mat34 palette[128];
    for (int j = 0; j < 128; j++) {
        pelt_trs trs = pelt_trs_identity();
        trs.rotation.x = peltt_random_float(&random, -1.0F, 1.0F);
        trs.translation.y = peltt_random_float(&random, -1.0F, 1.0F);
        palette[j] = pelt_mat34_from_trs(&trs);
    }
    for (uint32_t round = 0; round < 60; round++) {
        const peltt_packed_shape shape = {.vertex_count = 1 + peltt_random_below(&random, 700),
                                          .influence_count = round % 10,
                                          .joint_count = 1 + peltt_random_below(&random, round % 2 ? 12 : 120),
                                          .size = 1.0F,
                                          .shuffle = round % 3 == 0,
                                          .sort_classes = round % 4 < 2,
                                          .list_joints = round % 5 != 0};
        peltt_packed packed;
        pelt_error error;
        peltt_packed_init(&packed, &shape, &random);
        packed.options.weights = round % 2 ? PELT_WEIGHTS_PLAIN : PELT_WEIGHTS_SORTED;
        assert_int_equal(peltt_packed_cook(&packed, NULL, round, &error), PELT_OK);
        check_cooked(&packed.p.out, palette, 128);
        peltt_packed_free(&packed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_that_do_not_fit_are_refused),
        cmocka_unit_test(formats_that_do_not_go_together_are_refused),
        cmocka_unit_test(joints_out_of_range_are_refused),
        cmocka_unit_test(outputs_over_runs_are_refused),
        cmocka_unit_test(cut_runs_keep_every_joint),
        cmocka_unit_test(cooked_primitives_are_skinned_as_they_stand),
    };
    return PELTT_RUN_ISAS(tests);
}

// SPDX-License-Identifier: MIT
// Skinning whole meshes: positions against double-precision sums, boxes bit for bit, options and threads.
#include "peltt_asset.h"
#include "peltt_isa.h"

#include <pelt/skin.h>

#include <assert.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    VERTEX_COUNT = 4500, // more than one task, and no multiple of a block
    JOINT_COUNT = 40,
    INFLUENCE_COUNT = 4
};

typedef struct mesh {
    pelt_mat34 palette[JOINT_COUNT];
    uint16_t joints[VERTEX_COUNT * INFLUENCE_COUNT];
    float weights[VERTEX_COUNT * INFLUENCE_COUNT];
    float positions[VERTEX_COUNT * 3];
    float normals[VERTEX_COUNT * 3];
    float tangents[VERTEX_COUNT * 4];
    float deltas[VERTEX_COUNT * 3];
} mesh;

typedef struct outputs {
    float positions[VERTEX_COUNT * 3];
    float normals[VERTEX_COUNT * 3];
    float tangents[VERTEX_COUNT * 4];
    uint8_t mirrored[VERTEX_COUNT];
    pelt_box box;
} outputs;

static void fill(peltt_random *random, float *values, size_t count, float low, float high)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = peltt_random_float(random, low, high);
    }
}

static mesh *random_mesh(peltt_random *random)
{
    mesh *m = malloc(sizeof *m);
    assert_non_null(m);
    for (int j = 0; j < JOINT_COUNT; j++) {
        pelt_trs trs = peltt_random_trs(random);
        float mirror = j % 5 == 0 ? -1.5F : 1.0F;
        trs.scale = (pelt_vec3){mirror, 1.0F, 1.0F};
        m->palette[j] = pelt_mat34_from_trs(&trs);
    }
    for (int v = 0; v < VERTEX_COUNT; v++) {
        double sum = 0.0;
        double weights[INFLUENCE_COUNT];
        for (int i = 0; i < INFLUENCE_COUNT; i++) {
            m->joints[v * INFLUENCE_COUNT + i] = (uint16_t)peltt_random_below(random, JOINT_COUNT);
            weights[i] = i <= v % INFLUENCE_COUNT ? 0.01 + peltt_random_unit(random) : 0.0;
            sum += weights[i];
        }
        for (int i = 0; i < INFLUENCE_COUNT; i++) {
            m->weights[v * INFLUENCE_COUNT + i] = (float)(weights[i] / sum);
        }
    }
    fill(random, m->positions, VERTEX_COUNT * 3, -2.0F, 2.0F);
    fill(random, m->normals, VERTEX_COUNT * 3, -1.0F, 1.0F);
    fill(random, m->tangents, VERTEX_COUNT * 4, -1.0F, 1.0F);
    fill(random, m->deltas, VERTEX_COUNT * 3, -0.1F, 0.1F);
    return m;
}

static pelt_skin_job mesh_job(const mesh *m, outputs *out)
{
    pelt_skin_job job = {.isa = peltt_isa,
                         .vertex_count = VERTEX_COUNT,
                         .palette_count = JOINT_COUNT,
                         .palette = m->palette,
                         .influence_count = INFLUENCE_COUNT,
                         .joints = m->joints,
                         .weights = m->weights,
                         .positions = m->positions,
                         .normals = m->normals,
                         .tangents = m->tangents,
                         .out_positions = out->positions,
                         .out_normals = out->normals,
                         .out_tangents = out->tangents,
                         .out_mirrored = out->mirrored,
                         .box = &out->box};
    return job;
}

static void a_lone_weight_of_one_uses_the_matrix_as_it_is(void **state)
{
    (void)state;
    peltt_random random = {.state = 5};
    mesh *m = random_mesh(&random);
    for (uint16_t j = 0; j < 10; j++) {
        uint16_t joints[3] = {UINT16_MAX, j, UINT16_MAX}; // out of range with no weight: never read
        const float weights[3] = {0.0F, 1.0F, -0.0F};
        outputs influenced;
        outputs rigid;
        pelt_skin_job job = mesh_job(m, &influenced);
        job.vertex_count = 1;
        job.influence_count = 3;
        job.joints = joints;
        job.weights = weights;
        assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
        job = mesh_job(m, &rigid);
        job.vertex_count = 1;
        job.influence_count = 0;
        job.palette = &m->palette[j];
        job.palette_count = 1;
        assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
        assert_memory_equal(influenced.positions, rigid.positions, 12);
        assert_memory_equal(influenced.normals, rigid.normals, 12);
        assert_memory_equal(influenced.tangents, rigid.tangents, 16);
        assert_memory_equal(&influenced.box, &rigid.box, sizeof rigid.box);
    }
    free(m);
}

// Largest error against a double sum of the same float inputs, over the largest magnitude that the sum went through.
static double position_error(uint32_t influence_count, uint32_t vertex_count)
{
    peltt_random random = {.state = 100 + influence_count};
    mesh *m = random_mesh(&random);
    uint16_t *joints = malloc(vertex_count * influence_count * sizeof *joints);
    float *weights = malloc(vertex_count * influence_count * sizeof *weights);
    outputs *out = malloc(sizeof *out);
    assert_true(joints && weights && out);
    for (uint32_t v = 0; v < vertex_count; v++) {
        double sum = 0.0;
        for (uint32_t i = 0; i < influence_count; i++) {
            joints[v * influence_count + i] = (uint16_t)peltt_random_below(&random, JOINT_COUNT);
            weights[v * influence_count + i] = (float)peltt_random_unit(&random);
            sum += (double)weights[v * influence_count + i];
        }
        for (uint32_t i = 0; i < influence_count; i++) {
            weights[v * influence_count + i] = (float)((double)weights[v * influence_count + i] / sum);
        }
    }
    pelt_skin_job job = mesh_job(m, out);
    job.vertex_count = vertex_count;
    job.influence_count = influence_count;
    job.joints = joints;
    job.weights = weights;
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    double error = 0.0;
    double range = 0.0;
    for (uint32_t v = 0; v < vertex_count; v++) {
        for (int r = 0; r < 3; r++) {
            double sum = 0.0;
            double magnitude = 0.0;
            for (uint32_t i = 0; i < influence_count; i++) {
                const float *row = m->palette[joints[v * influence_count + i]].m[r];
                double w = (double)weights[v * influence_count + i];
                const float *p = &m->positions[v * 3];
                sum += w * ((double)row[0] * (double)p[0] + (double)row[1] * (double)p[1] +
                            (double)row[2] * (double)p[2] + (double)row[3]);
                magnitude += w * (fabs((double)row[0] * (double)p[0]) + fabs((double)row[1] * (double)p[1]) +
                                  fabs((double)row[2] * (double)p[2]) + fabs((double)row[3]));
            }
            error = fmax(error, fabs((double)out->positions[v * 3 + (uint32_t)r] - sum));
            range = fmax(range, magnitude);
        }
    }
    free(joints);
    free(weights);
    free(out);
    free(m);
    return error / range;
}

static void positions_hold_for_any_influence_count(void **state)
{
    (void)state;
    const uint32_t counts[] = {1, 2, 3, 4, 5, 8, 12, 16, 33, 64};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        double error = position_error(counts[i], VERTEX_COUNT);
        print_message("# %u influences: position error %.2e of the range\n", counts[i], error);
        assert_true(error < 4e-7);
    }
}

static void add_scaled(float *values, size_t width, const float *deltas, float weight)
{
    for (size_t i = 0; i < (size_t)VERTEX_COUNT * 3; i++) {
        values[i / 3 * width + i % 3] += weight * deltas[i];
    }
}

static void morphs_equal_streams_moved_beforehand(void **state)
{
    (void)state;
    peltt_random random = {.state = 61};
    mesh *m = random_mesh(&random);
    outputs *morphed = calloc(1, sizeof *morphed);
    outputs *moved = calloc(1, sizeof *moved);
    float *more = malloc(sizeof m->deltas);
    assert_true(morphed && moved && more);
    fill(&random, more, VERTEX_COUNT * 3, -1.0F, 1.0F);
    const pelt_skin_morph morphs[] = {
        {0.75F, m->deltas, more, NULL}, {0.0F, more, more, more}, {-1.25F, more, m->deltas, more}};
    pelt_skin_job job = mesh_job(m, morphed);
    job.morph_count = 3;
    job.morphs = morphs;
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    add_scaled(m->positions, 3, m->deltas, 0.75F);
    add_scaled(m->positions, 3, more, -1.25F);
    add_scaled(m->normals, 3, more, 0.75F);
    add_scaled(m->normals, 3, m->deltas, -1.25F);
    add_scaled(m->tangents, 4, more, -1.25F);
    job = mesh_job(m, moved);
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    assert_memory_equal(morphed, moved, sizeof *moved);
    free(morphed);
    free(moved);
    free(more);
    free(m);
}

static void plain_box(const float *positions, uint32_t count, float out[6])
{
    for (int k = 0; k < 3; k++) {
        out[k] = INFINITY;
        out[3 + k] = -INFINITY;
        for (uint32_t v = 0; v < count; v++) {
            float value = positions[v * 3 + (uint32_t)k];
            out[k] = value < out[k] ? value : out[k];
            out[3 + k] = value > out[3 + k] ? value : out[3 + k];
        }
    }
}

static void boxes_are_min_and_max_bit_for_bit(void **state)
{
    (void)state;
    peltt_random random = {.state = 9};
    mesh *m = random_mesh(&random);
    outputs *out = malloc(sizeof *out);
    assert_non_null(out);
    const float specials[] = {0.0F, -0.0F, 1e-45F, -1e-45F, FLT_MAX, -FLT_MAX, INFINITY, -INFINITY, NAN};
    for (uint32_t round = 0; round < 300; round++) {
        uint32_t special_count = round < 100 ? 2 : 9;
        m->palette[0] = pelt_mat34_identity();
        m->palette[0].m[round % 3][round % 3] = round % 2 ? -1.0F : 1e20F;
        for (uint32_t i = 0; i < VERTEX_COUNT * 3; i++) {
            if (peltt_random_chance(&random, 0.5)) {
                m->positions[i] = specials[peltt_random_below(&random, special_count)];
            }
        }
        pelt_skin_job job = mesh_job(m, out);
        job.vertex_count = 1 + peltt_random_below(&random, 100);
        job.influence_count = round % 2 ? 0 : INFLUENCE_COUNT;
        assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
        float want[6];
        plain_box(out->positions, job.vertex_count, want);
        assert_memory_equal(out->box.min, want, 12);
        assert_memory_equal(out->box.max, want + 3, 12);
        for (uint32_t i = 0; i < job.vertex_count * 3; i++) {
            assert_false(out->positions[i] == 0.0F && signbit(out->positions[i]));
        }
        pelt_box alone;
        job.out_positions = NULL;
        job.box = &alone;
        assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
        assert_memory_equal(&alone, &out->box, sizeof alone);
    }
    free(out);
    free(m);
}

static void every_option_gives_what_all_together_give(void **state)
{
    (void)state;
    peltt_random random = {.state = 21};
    mesh *m = random_mesh(&random);
    outputs *all = calloc(1, sizeof *all);
    outputs *some = calloc(1, sizeof *some);
    assert_true(all && some);
    const pelt_skin_morph morph = {0.75F, m->deltas, m->deltas, m->deltas};
    for (uint32_t options = 0; options < 256; options++) {
        uint32_t influence_count = options & 32 ? INFLUENCE_COUNT : 0;
        for (int pass = 0; pass < 2; pass++) {
            outputs *out = pass ? some : all;
            memset(out, 0x5A, sizeof *out);
            pelt_skin_job job = mesh_job(m, out);
            job.vertex_count = 131;
            job.influence_count = influence_count;
            job.flags = options & 64 ? PELT_NORMAL_OUTWARD : 0;
            job.morph_count = options & 128 ? 1 : 0;
            job.morphs = options & 128 ? &morph : NULL;
            if (pass) {
                job.out_positions = options & 1 ? job.out_positions : NULL;
                job.out_normals = options & 2 ? job.out_normals : NULL;
                job.normals = options & 2 ? job.normals : NULL;
                job.out_tangents = options & 4 ? job.out_tangents : NULL;
                job.tangents = options & 4 ? job.tangents : NULL;
                job.out_mirrored = options & 8 ? job.out_mirrored : NULL;
                job.box = options & 16 ? job.box : NULL;
            }
            assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
        }
        outputs untouched;
        memset(&untouched, 0x5A, sizeof untouched);
        assert_memory_equal(some->positions, options & 1 ? all->positions : untouched.positions, sizeof all->positions);
        assert_memory_equal(some->normals, options & 2 ? all->normals : untouched.normals, sizeof all->normals);
        assert_memory_equal(some->tangents, options & 4 ? all->tangents : untouched.tangents, sizeof all->tangents);
        assert_memory_equal(some->mirrored, options & 8 ? all->mirrored : untouched.mirrored, sizeof all->mirrored);
        assert_memory_equal(&some->box, options & 16 ? &all->box : &untouched.box, sizeof all->box);
    }
    free(all);
    free(some);
    free(m);
}

// Runs tasks last to first on the calling thread.
static void run_backwards(void *user, uint32_t task_count, pelt_task task, void *context)
{
    *(uint32_t *)user = task_count;
    for (uint32_t i = task_count; i > 0; i--) {
        task(context, i - 1);
    }
}

// 50 copies of a mesh in one job, each output in one allocation, so that whole results compare as bytes.
static void evaluate_large(const mesh *m, const pelt_parallel *parallel, uint32_t vertex_count, float *out)
{
    size_t n = vertex_count;
    static_assert(sizeof(pelt_box) == 24, "the box follows as six floats");
    size_t size = n * (3 + 3 + 4) * sizeof(float);
    memset(out, 0, size + 64);
    float *positions = malloc(n * 12);
    float *normals = malloc(n * 12);
    float *tangents = malloc(n * 16);
    uint16_t *joints = malloc(n * INFLUENCE_COUNT * sizeof *joints);
    float *weights = malloc(n * INFLUENCE_COUNT * sizeof *weights);
    assert_true(positions && normals && tangents && joints && weights);
    for (size_t v = 0; v < n; v++) {
        size_t from = v % VERTEX_COUNT;
        memcpy(&positions[v * 3], &m->positions[from * 3], 12);
        positions[v * 3] += (float)(v / VERTEX_COUNT) * 0.01F;
        memcpy(&normals[v * 3], &m->normals[from * 3], 12);
        memcpy(&tangents[v * 4], &m->tangents[from * 4], 16);
        memcpy(&joints[v * INFLUENCE_COUNT], &m->joints[from * INFLUENCE_COUNT], INFLUENCE_COUNT * sizeof *joints);
        memcpy(&weights[v * INFLUENCE_COUNT], &m->weights[from * INFLUENCE_COUNT], INFLUENCE_COUNT * sizeof *weights);
    }
    pelt_skin_job job = {.isa = peltt_isa,
                         .vertex_count = vertex_count,
                         .palette_count = JOINT_COUNT,
                         .palette = m->palette,
                         .influence_count = INFLUENCE_COUNT,
                         .joints = joints,
                         .weights = weights,
                         .positions = positions,
                         .normals = normals,
                         .tangents = tangents,
                         .out_positions = out,
                         .out_normals = out + n * 3,
                         .out_tangents = out + n * 6,
                         .box = (pelt_box *)(void *)(out + n * 10),
                         .parallel = parallel};
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    free(positions);
    free(normals);
    free(tangents);
    free(joints);
    free(weights);
}

static void threads_and_order_do_not_change_the_bytes(void **state)
{
    (void)state;
    peltt_random random = {.state = 33};
    mesh *m = random_mesh(&random);
    const uint32_t counts[] = {1, 4095, 4096, 4097, 50001};
    float *want = malloc(50001 * 40 + 64);
    float *got = malloc(50001 * 40 + 64);
    assert_true(want && got);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        size_t size = counts[c] * (size_t)40 + 24;
        evaluate_large(m, NULL, counts[c], want);
        uint32_t task_count = 1;
        const pelt_parallel backwards = {.run = run_backwards, .user = &task_count, .worker_count = 3};
        evaluate_large(m, &backwards, counts[c], got);
        assert_memory_equal(got, want, size);
        assert_int_equal(task_count, (counts[c] + 4095) / 4096); // few tasks for few vertices
        for (uint32_t workers = 1; workers <= 8; workers++) {
            pelt_pool *pool = NULL;
            assert_int_equal(pelt_pool_create(workers, NULL, &pool), PELT_OK);
            const pelt_parallel parallel = pelt_pool_parallel(pool);
            evaluate_large(m, &parallel, counts[c], got);
            pelt_pool_destroy(pool);
            assert_memory_equal(got, want, size);
        }
    }
    free(want);
    free(got);
    free(m);
}

static void tasks_stay_few_for_huge_meshes(void **state)
{
    (void)state;
    // 2,000,000 vertices would be 489 chunks of 4,096; results of tasks are kept in 256 slots.
    enum {
        COUNT = 2000000
    };
    float *positions = calloc((size_t)COUNT * 3, sizeof *positions);
    assert_non_null(positions);
    positions[(size_t)COUNT * 3 - 1] = 5.0F;
    const pelt_mat34 identity = pelt_mat34_identity();
    uint32_t task_count = 0;
    const pelt_parallel backwards = {.run = run_backwards, .user = &task_count};
    pelt_box box;
    pelt_skin_job job = {.isa = peltt_isa,
                         .vertex_count = COUNT,
                         .palette_count = 1,
                         .palette = &identity,
                         .positions = positions,
                         .box = &box,
                         .parallel = &backwards};
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    assert_in_range(task_count, 2, 256);
    assert_true(box.min[2] == 0.0F && box.max[2] == 5.0F && box.max[0] == 0.0F);
    free(positions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lone_weight_of_one_uses_the_matrix_as_it_is),
        cmocka_unit_test(positions_hold_for_any_influence_count),
        cmocka_unit_test(morphs_equal_streams_moved_beforehand),
        cmocka_unit_test(boxes_are_min_and_max_bit_for_bit),
        cmocka_unit_test(every_option_gives_what_all_together_give),
        cmocka_unit_test(threads_and_order_do_not_change_the_bytes),
        cmocka_unit_test(tasks_stay_few_for_huge_meshes),
    };
    return PELTT_RUN_ISAS(tests);
}

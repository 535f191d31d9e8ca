// SPDX-License-Identifier: MIT
// Every kernel on every kind of job against double precision: vertex counts around all block sizes, odd strides,
// unmapped pages beside every stream, all formats and options.
#include "peltt_isa.h"
#include "peltt_kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- shapes

static void random_weights(peltt_kernel_shape *shape, peltt_random *random)
{
    if (shape->joints == PELTT_RIGID) {
        shape->influence_count = 0;
    } else if (shape->joints == PELTT_STREAM) {
        static const uint32_t counts[] = {1, 2, 3, 4, 4, 4, 5, 7, 8, 12};
        shape->influence_count = counts[peltt_random_below(random, 10)];
        shape->weights = peltt_random_chance(random, 0.3) ? PELT_WEIGHT_UNORM16 : PELT_WEIGHT_FLOAT;
    } else {
        shape->weights = (pelt_weight_format)peltt_random_below(random, PELT_WEIGHT_PLAIN + 1);
        bool packed = shape->weights >= PELT_WEIGHT_SORTED;
        shape->influence_count = packed || peltt_random_chance(random, 0.6) ? 4 : 8;
        shape->extras = packed && peltt_random_chance(random, 0.3);
        shape->ordered = peltt_random_chance(random, 0.7);
    }
}

static peltt_kernel_shape random_shape(uint32_t vertex_count, peltt_random *random)
{
    static const uint32_t gaps[] = {0, 0, 4, 8, 20, 36, 116};
    static const size_t strides[] = {48, 48, 64, 64, 52, 80};
    peltt_kernel_shape shape = {.vertex_count = vertex_count};
    shape.joints = (peltt_joints)peltt_random_below(random, PELTT_JOINTS_COUNT);
    random_weights(&shape, random);
    shape.octahedral_in = peltt_random_chance(random, 0.5);
    shape.octahedral_out = peltt_random_chance(random, 0.4);
    shape.morphed = peltt_random_chance(random, 0.2);
    shape.outward = peltt_random_chance(random, 0.3);
    shape.wanted = peltt_random_chance(random, 0.5) ? PELTT_EVERYTHING : peltt_random_below(random, 32);
    shape.wanted |= shape.wanted & PELTT_BOX ? PELTT_POSITIONS : 0;
    shape.palette_stride = strides[peltt_random_below(random, 6)];
    shape.gap = gaps[peltt_random_below(random, 7)];
    shape.at_end = peltt_random_chance(random, 0.5);
    shape.damage = peltt_random_chance(random, 0.3) ? 0.5F : 0.0F;
    return shape;
}

static void evaluate(peltt_kernel *kernel)
{
    kernel->job.isa = peltt_isa;
    assert_int_equal(pelt_skin_evaluate(&kernel->job), PELT_OK);
}

static void report(const peltt_kernel_errors *errors)
{
    print_message(
        "# %s: position %.2e of its terms, normal %.2e degrees, tangent %.2e degrees, %llu directions in doubt\n",
        pelt_isa_name(peltt_isa), errors->position, errors->normal * 57.2957795, errors->tangent * 57.2957795,
        (unsigned long long)errors->doubtful);
}

// --- tests

static void every_vertex_count_agrees_with_double_precision(void **state)
{
    (void)state;
    enum {
        COUNT_LIMIT = 130,
        ROUNDS = 24
    };
    peltt_random random = {.state = 71};
    peltt_kernel_errors errors = {0};
    for (uint32_t count = 0; count <= COUNT_LIMIT; count++) {
        for (int round = 0; round < ROUNDS; round++) {
            peltt_kernel kernel;
            peltt_kernel_shape shape = random_shape(count, &random);
            shape.octahedral_out = shape.octahedral_out && round % 2;
            peltt_kernel_init(&kernel, &shape, &random);
            evaluate(&kernel);
            peltt_kernel_errors rough = {0};
            peltt_kernel_check(&kernel, shape.octahedral_out ? &rough : &errors);
            peltt_kernel_free(&kernel);
        }
    }
    report(&errors);
    assert_true(errors.position < 4e-7);
}

static void every_combination_of_options_agrees_with_double_precision(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 16, 37, 131};
    peltt_random random = {.state = 72};
    peltt_kernel_errors errors = {0};
    for (uint32_t options = 0; options < 512; options++) {
        for (int joints = 0; joints < PELTT_JOINTS_COUNT; joints++) {
            peltt_kernel kernel;
            peltt_kernel_shape shape = random_shape(counts[(options + (uint32_t)joints) % 4], &random);
            shape.joints = (peltt_joints)joints;
            shape.weights = PELT_WEIGHT_FLOAT;
            shape.extras = false;
            random_weights(&shape, &random);
            shape.wanted = options & 31U;
            shape.wanted |= shape.wanted & PELTT_BOX ? PELTT_POSITIONS : 0;
            shape.octahedral_in = options & 32;
            shape.octahedral_out = options & 64;
            shape.morphed = options & 128;
            shape.outward = options & 256;
            peltt_kernel_init(&kernel, &shape, &random);
            evaluate(&kernel);
            peltt_kernel_check(&kernel, &errors);
            peltt_kernel_free(&kernel);
        }
    }
}

// Of one kernel: what is written for a vertex does not depend on what else is wanted, on threads or on neighbours.
static void threads_and_neighbours_change_no_byte(void **state)
{
    (void)state;
    enum {
        LARGE = 9001
    };
    peltt_random random = {.state = 73};
    pelt_pool *pool = NULL;
    assert_int_equal(pelt_pool_create(3, NULL, &pool), PELT_OK);
    const pelt_parallel parallel = pelt_pool_parallel(pool);
    for (int round = 0; round < 24; round++) {
        peltt_kernel kernel;
        peltt_kernel_shape shape = random_shape(LARGE, &random);
        shape.joints = (peltt_joints)(round % PELTT_JOINTS_COUNT);
        shape.weights = PELT_WEIGHT_FLOAT;
        shape.extras = false;
        random_weights(&shape, &random);
        shape.wanted = PELTT_EVERYTHING;
        peltt_kernel_init(&kernel, &shape, &random);
        evaluate(&kernel);
        uint8_t *first[PELTT_S_COUNT] = {NULL};
        for (int s = PELTT_S_OUT_POSITIONS; s < PELTT_S_COUNT; s++) {
            first[s] = malloc(kernel.streams[s].size + 1);
            assert_non_null(first[s]);
            memcpy(first[s], kernel.streams[s].data, kernel.streams[s].size);
        }
        peltt_kernel_clear(&kernel);
        kernel.job.parallel = &parallel;
        kernel.job.stream_threshold = round % 2 ? 1 : UINT64_MAX; // past the caches or not: the same bytes
        evaluate(&kernel);
        for (int s = PELTT_S_OUT_POSITIONS; s < PELTT_S_COUNT; s++) {
            assert_memory_equal(first[s], kernel.streams[s].data, kernel.streams[s].size);
            free(first[s]);
        }
        peltt_kernel_free(&kernel);
    }
    pelt_pool_destroy(pool);
}

// One vertex of a stream alone, against the same one among others.
static void a_vertex_alone_is_the_same_as_among_others(void **state)
{
    (void)state;
    peltt_random random = {.state = 74};
    for (int round = 0; round < 60; round++) {
        peltt_kernel kernel;
        peltt_kernel_shape shape = random_shape(67, &random);
        shape.joints = round % 3 ? PELTT_STREAM : PELTT_RIGID;
        shape.weights = PELT_WEIGHT_FLOAT;
        shape.extras = false;
        random_weights(&shape, &random);
        shape.wanted = PELTT_EVERYTHING;
        shape.morphed = false;
        peltt_kernel_init(&kernel, &shape, &random);
        evaluate(&kernel);
        pelt_skin_job job = kernel.job;
        pelt_box box;
        float positions[3];
        float normals[3] = {0};
        float tangents[4] = {0};
        uint8_t mirrored = 2;
        job.vertex_count = 1;
        job.out_positions = positions;
        job.out_normals = normals;
        job.out_tangents = tangents;
        job.out_mirrored = &mirrored;
        job.box = &box;
        for (uint32_t v = 0; v < shape.vertex_count; v++) {
            assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
            assert_memory_equal(positions, peltt_kernel_output(&kernel, PELTT_S_OUT_POSITIONS, v), 12);
            size_t size = shape.octahedral_out ? 4 : 12;
            assert_memory_equal(normals, peltt_kernel_output(&kernel, PELTT_S_OUT_NORMALS, v), size);
            size = shape.octahedral_out ? 4 : 16;
            assert_memory_equal(tangents, peltt_kernel_output(&kernel, PELTT_S_OUT_TANGENTS, v), size);
            assert_memory_equal(&mirrored, peltt_kernel_output(&kernel, PELTT_S_OUT_MIRRORED, v), 1);
            size_t weight = shape.weights == PELT_WEIGHT_UNORM16 ? 2 : 4;
            size_t normal = shape.octahedral_in ? 4 : 12;
            size_t tangent = shape.octahedral_in ? 4 : 16;
            if (shape.influence_count > 0) {
                job.joints = (const char *)job.joints + shape.influence_count * 2 + shape.gap;
                job.weights = (const char *)job.weights + shape.influence_count * weight + shape.gap;
            }
            job.positions = (const void *)((const char *)job.positions + 12 + shape.gap);
            job.normals = (const char *)job.normals + normal + shape.gap;
            job.tangents = (const char *)job.tangents + tangent + shape.gap;
        }
        peltt_kernel_free(&kernel);
    }
}

static void kernels_differ_from_scalar_by_rounding_only(void **state)
{
    (void)state;
    peltt_random random = {.state = 75};
    double position = 0.0;
    double direction = 0.0;
    for (int round = 0; round < 300; round++) {
        peltt_kernel kernel;
        peltt_kernel_shape shape = random_shape(500, &random);
        shape.octahedral_out = false;
        shape.damage = 0.0F;
        shape.wanted = PELTT_EVERYTHING;
        peltt_kernel_init(&kernel, &shape, &random);
        evaluate(&kernel);
        float *got = malloc(500 * 9 * sizeof *got);
        uint8_t mirrored[500];
        assert_non_null(got);
        for (uint32_t v = 0; v < 500; v++) {
            memcpy(got + v * 9, peltt_kernel_output(&kernel, PELTT_S_OUT_POSITIONS, v), 12);
            memcpy(got + v * 9 + 3, peltt_kernel_output(&kernel, PELTT_S_OUT_NORMALS, v), 12);
            memcpy(got + v * 9 + 6, peltt_kernel_output(&kernel, PELTT_S_OUT_TANGENTS, v), 12);
            memcpy(mirrored + v, peltt_kernel_output(&kernel, PELTT_S_OUT_MIRRORED, v), 1);
        }
        kernel.job.isa = PELT_ISA_SCALAR;
        assert_int_equal(pelt_skin_evaluate(&kernel.job), PELT_OK);
        for (uint32_t v = 0; v < 500; v++) {
            float want[9];
            memcpy(want, peltt_kernel_output(&kernel, PELTT_S_OUT_POSITIONS, v), 12);
            memcpy(want + 3, peltt_kernel_output(&kernel, PELTT_S_OUT_NORMALS, v), 12);
            memcpy(want + 6, peltt_kernel_output(&kernel, PELTT_S_OUT_TANGENTS, v), 12);
            assert_memory_equal(mirrored + v, peltt_kernel_output(&kernel, PELTT_S_OUT_MIRRORED, v), 1);
            for (int i = 0; i < 9; i++) {
                double difference = fabs((double)want[i] - (double)got[v * 9 + (uint32_t)i]);
                if (i < 3) {
                    position = fmax(position, difference / 8.0); // coordinates reach |t| + |p| sqrt(3) and a morph
                } else {
                    direction = fmax(direction, difference);
                }
            }
        }
        free(got);
        peltt_kernel_free(&kernel);
    }
    print_message("# %s from scalar: positions %.2e of the range, directions %.2e\n", pelt_isa_name(peltt_isa),
                  position, direction);
    assert_true(position < 2e-7);
    assert_true(direction < 2e-4);
}

static double angle_between(const float a[3], const float b[3])
{
    double x = (double)a[1] * (double)b[2] - (double)a[2] * (double)b[1];
    double y = (double)a[2] * (double)b[0] - (double)a[0] * (double)b[2];
    double z = (double)a[0] * (double)b[1] - (double)a[1] * (double)b[0];
    double along = (double)a[0] * (double)b[0] + (double)a[1] * (double)b[1] + (double)a[2] * (double)b[2];
    return atan2(sqrt(x * x + y * y + z * z), along) * 57.29577951308232;
}

static void octahedral_outputs_lie_beside_the_float_ones(void **state)
{
    (void)state;
    peltt_random random = {.state = 77};
    double normal_worst = 0.0;
    double tangent_worst = 0.0;
    for (int round = 0; round < 80; round++) {
        peltt_kernel kernel;
        peltt_kernel_shape shape = random_shape(600, &random);
        shape.wanted = PELTT_EVERYTHING;
        shape.octahedral_out = false;
        peltt_kernel_init(&kernel, &shape, &random);
        evaluate(&kernel);
        uint32_t normals[600];
        uint32_t tangents[600];
        pelt_skin_job job = kernel.job;
        job.out_direction_format = PELT_DIRECTION_OCTAHEDRAL;
        job.out_normals = normals;
        job.out_tangents = tangents;
        job.out_normals_stride = 0;
        job.out_tangents_stride = 0;
        assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
        for (uint32_t v = 0; v < 600; v++) {
            float want[4];
            float got[4];
            memcpy(want, peltt_kernel_output(&kernel, PELTT_S_OUT_NORMALS, v), 12);
            pelt_normal_decode(normals[v], got);
            normal_worst = fmax(normal_worst, angle_between(want, got));
            memcpy(want, peltt_kernel_output(&kernel, PELTT_S_OUT_TANGENTS, v), 16);
            pelt_tangent_decode(tangents[v], got);
            tangent_worst = fmax(tangent_worst, angle_between(want, got));
            assert_true(got[3] == (want[3] < 0.0F ? -1.0F : 1.0F));
        }
        peltt_kernel_free(&kernel);
    }
    print_message("# %s: octahedral normals within %.2e degrees, tangents %.2e\n", pelt_isa_name(peltt_isa),
                  normal_worst, tangent_worst);
    assert_true(normal_worst < 0.004);
    assert_true(tangent_worst < 0.006);
}

static void infinite_palettes_come_out_as_from_the_scalar_kernel(void **state)
{
    (void)state;
    peltt_random random = {.state = 76};
    for (int round = 0; round < 40; round++) {
        peltt_kernel kernel;
        peltt_kernel_shape shape = random_shape(50, &random);
        shape.wanted = PELTT_EVERYTHING;
        peltt_kernel_init(&kernel, &shape, &random);
        float *palette = (float *)(void *)kernel.streams[PELTT_S_PALETTE].data;
        palette[round % 12] = round % 2 ? INFINITY : NAN;
        evaluate(&kernel);
        uint8_t *first[PELTT_S_COUNT] = {NULL};
        for (int s = PELTT_S_OUT_POSITIONS; s < PELTT_S_COUNT; s++) {
            first[s] = malloc(kernel.streams[s].size);
            assert_non_null(first[s]);
            memcpy(first[s], kernel.streams[s].data, kernel.streams[s].size);
        }
        kernel.job.isa = PELT_ISA_SCALAR;
        assert_int_equal(pelt_skin_evaluate(&kernel.job), PELT_OK);
        for (int s = PELTT_S_OUT_POSITIONS; s < PELTT_S_COUNT; s++) {
            assert_memory_equal(first[s], kernel.streams[s].data, kernel.streams[s].size);
            free(first[s]);
        }
        peltt_kernel_free(&kernel);
    }
}

static pelt_trs turned(peltt_random *random)
{
    pelt_trs trs = pelt_trs_identity();
    trs.rotation.x = peltt_random_float(random, -1.0F, 1.0F);
    trs.rotation.y = peltt_random_float(random, -1.0F, 1.0F);
    trs.rotation.z = peltt_random_float(random, -1.0F, 1.0F);
    trs.rotation.w = peltt_random_float(random, 0.1F, 1.0F);
    return trs;
}

// What a lone matrix makes of directions is determined by floats however much it flattens them.
static void check_lone_matrix(const pelt_mat34 *m, const float in[3], const float normal[3], const float tangent[3])
{
    float want[2][3];
    for (int r = 0; r < 3; r++) {
        const float *a = m->m[(r + 1) % 3];
        const float *b = m->m[(r + 2) % 3];
        double n = 0.0;
        double t = 0.0;
        for (int c = 0; c < 3; c++) {
            int d = (c + 1) % 3;
            int e = (c + 2) % 3;
            n += ((double)a[d] * (double)b[e] - (double)a[e] * (double)b[d]) * (double)in[c];
            t += (double)m->m[r][c] * (double)in[c];
        }
        want[0][r] = (float)(n * 1e15); // neither end of float is near
        want[1][r] = (float)(t * 1e20);
    }
    assert_true(angle_between(normal, want[0]) < 0.01);
    assert_true(angle_between(tangent, want[1]) < 0.01);
}

// Squares of such lengths are zero in float.
static void tiny_directions_through_flat_matrices_are_exact(void **state)
{
    (void)state;
    enum {
        COUNT = 64
    };
    static const float flat[] = {1.0F, 1e-2F, 1e-4F, 1e-6F};
    peltt_random random = {.state = 78};
    pelt_mat34 palette[COUNT];
    uint16_t joints[COUNT * 4] = {0};
    float weights[COUNT * 4] = {0};
    float in[COUNT * 4] = {0};
    float places[COUNT * 3] = {0};
    float normals[COUNT * 3];
    float tangents[COUNT * 4];
    for (uint32_t v = 0; v < COUNT; v++) {
        pelt_trs left = turned(&random);
        left.scale = (pelt_vec3){1e6F, 1e6F * flat[v % 4], 1e6F * flat[v / 4 % 4]};
        pelt_trs right = turned(&random);
        pelt_mat34 a = pelt_mat34_from_trs(&left);
        pelt_mat34 b = pelt_mat34_from_trs(&right);
        palette[v] = pelt_mat34_multiply(&a, &b);
        joints[v * 4] = (uint16_t)v;
        weights[v * 4] = 1.0F;
        for (uint32_t c = 0; c < 3; c++) {
            in[v * 4 + c] = peltt_random_float(&random, -1e-23F, 1e-23F);
        }
    }
    const pelt_skin_job job = {.vertex_count = COUNT,
                               .palette_count = COUNT,
                               .palette = palette,
                               .influence_count = 4,
                               .joints = joints,
                               .weights = weights,
                               .positions = places,
                               .normals = in,
                               .normals_stride = 16,
                               .tangents = in,
                               .out_normals = normals,
                               .out_tangents = tangents,
                               .isa = peltt_isa};
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    for (uint32_t v = 0; v < COUNT; v++) {
        check_lone_matrix(&palette[v], in + v * 4, normals + v * 3, tangents + v * 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_vertex_count_agrees_with_double_precision),
        cmocka_unit_test(every_combination_of_options_agrees_with_double_precision),
        cmocka_unit_test(threads_and_neighbours_change_no_byte),
        cmocka_unit_test(a_vertex_alone_is_the_same_as_among_others),
        cmocka_unit_test(kernels_differ_from_scalar_by_rounding_only),
        cmocka_unit_test(octahedral_outputs_lie_beside_the_float_ones),
        cmocka_unit_test(infinite_palettes_come_out_as_from_the_scalar_kernel),
        cmocka_unit_test(tiny_directions_through_flat_matrices_are_exact),
    };
    return PELTT_RUN_ISAS(tests);
}

// SPDX-License-Identifier: MIT
// Every kernel on palettes of all sizes against double precision: where offsets of matrices stop to fit in 16 bits,
// where indices do, and strides for which nothing but one vertex at a time fits.
#include "peltt_isa.h"
#include "peltt_kernel.h"

#include <string.h>

// Kernels count in words of 4 bytes: the last matrix that 16 bits reach is that of word 65,535 or before.
static uint32_t reached_count(size_t stride)
{
    return (uint32_t)(UINT16_MAX / (stride / 4)) + 1;
}

static void evaluate_and_check(const peltt_kernel_shape *shape, peltt_random *random)
{
    peltt_kernel kernel;
    peltt_kernel_errors errors = {0};
    peltt_kernel_init(&kernel, shape, random);
    kernel.job.isa = peltt_isa;
    assert_int_equal(pelt_skin_evaluate(&kernel.job), PELT_OK);
    peltt_kernel_check(&kernel, &errors);
    peltt_kernel_free(&kernel);
}

// Jobs for each of the loops that kernels have: floats, packed, strided, with extras, positions alone.
static void check_palette(peltt_joints joints, size_t stride, uint32_t joint_count, peltt_random *random)
{
    peltt_kernel_shape shape = {.vertex_count = 200,
                                .joints = joints,
                                .influence_count = 4,
                                .wanted = PELTT_POSITIONS | PELTT_NORMALS | PELTT_TANGENTS,
                                .palette_stride = stride,
                                .joint_count = joint_count,
                                .at_end = true};
    evaluate_and_check(&shape, random);
    shape.wanted = PELTT_POSITIONS;
    evaluate_and_check(&shape, random);
    shape.wanted = PELTT_EVERYTHING;
    shape.gap = 12;
    shape.influence_count = joints == PELTT_STREAM ? 1 + peltt_random_below(random, 7) : 8;
    shape.weights = PELT_WEIGHT_UNORM16;
    evaluate_and_check(&shape, random);
    if (joints != PELTT_STREAM) {
        shape.influence_count = 4;
        shape.weights = peltt_random_chance(random, 0.5) ? PELT_WEIGHT_SORTED : PELT_WEIGHT_PLAIN;
        shape.gap = 0;
        shape.octahedral_in = true;
        shape.wanted = PELTT_POSITIONS | PELTT_NORMALS | PELTT_TANGENTS;
        evaluate_and_check(&shape, random);
        shape.extras = true;
        shape.ordered = true;
        evaluate_and_check(&shape, random);
    }
}

static void check_layouts(size_t stride, uint32_t joint_count, peltt_random *random)
{
    for (int joints = PELTT_STREAM; joints < PELTT_JOINTS_COUNT; joints++) {
        check_palette((peltt_joints)joints, stride, joint_count, random);
    }
}

static void palettes_around_the_reach_of_16_bits_agree_with_double_precision(void **state)
{
    (void)state;
    static const size_t strides[] = {48, 52, 64, 80, 4096, 65532};
    peltt_random random = {.state = 91};
    assert_int_equal(reached_count(64), 4096); // 256 KiB
    for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++) {
        uint32_t reached = reached_count(strides[i]);
        for (uint32_t count = reached - 1; count <= reached + 1; count++) {
            check_layouts(strides[i], count, &random);
        }
        check_layouts(strides[i], reached * 2, &random);
    }
}

static void strides_over_16_bits_agree_with_double_precision(void **state)
{
    (void)state;
    static const size_t strides[] = {65536, 65540, 131072 + 48};
    peltt_random random = {.state = 92};
    for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++) {
        check_layouts(strides[i], 7, &random);
    }
}

static void palettes_with_more_matrices_than_indices_agree_with_double_precision(void **state)
{
    (void)state;
    peltt_random random = {.state = 93};
    for (uint32_t count = UINT16_MAX + 1; count <= UINT16_MAX + 2; count++) {
        check_palette(PELTT_STREAM, 48, count, &random);
        check_palette(PELTT_DIRECT16, 48, count, &random);
    }
}

// What the caller promises by joint_bound is not checked, but no kernel reads past a palette: it takes the last matrix.
static void indices_past_the_end_take_the_last_matrix(void **state)
{
    (void)state;
    peltt_random random = {.state = 94};
    static const size_t strides[] = {48, 64, 4096, 65536};
    for (int round = 0; round < 32; round++) {
        size_t stride = strides[round % 4];
        uint32_t count = stride < 65536 ? reached_count(stride) + (uint32_t)(round / 4 % 2) : 7;
        peltt_kernel kernel;
        peltt_kernel_shape shape = {.vertex_count = 100,
                                    .joints = round / 8 % 2 ? PELTT_DIRECT16 : PELTT_STREAM,
                                    .influence_count = round / 16 ? 8 : 4,
                                    .wanted = PELTT_EVERYTHING,
                                    .palette_stride = stride,
                                    .joint_count = count,
                                    .at_end = true};
        peltt_kernel_errors errors = {0};
        peltt_kernel_init(&kernel, &shape, &random);
        char *joints = (char *)kernel.streams[PELTT_S_JOINTS].data;
        for (uint32_t i = 0; i < shape.vertex_count * shape.influence_count; i++) {
            uint16_t *expected = &kernel.vertices[i / shape.influence_count].joints[i % shape.influence_count];
            if (peltt_random_chance(&random, 0.3)) {
                uint16_t past = (uint16_t)(count + peltt_random_below(&random, UINT16_MAX + 1 - count));
                memcpy(joints + i * sizeof past, &past, sizeof past);
                *expected = (uint16_t)(count - 1);
            }
        }
        kernel.job.isa = peltt_isa;
        kernel.job.joint_bound = 1;
        assert_int_equal(pelt_skin_evaluate(&kernel.job), PELT_OK);
        peltt_kernel_check(&kernel, &errors);
        peltt_kernel_free(&kernel);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(palettes_around_the_reach_of_16_bits_agree_with_double_precision),
        cmocka_unit_test(strides_over_16_bits_agree_with_double_precision),
        cmocka_unit_test(palettes_with_more_matrices_than_indices_agree_with_double_precision),
        cmocka_unit_test(indices_past_the_end_take_the_last_matrix),
    };
    return PELTT_RUN_ISAS(tests);
}

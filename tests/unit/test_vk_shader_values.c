// SPDX-License-Identifier: MIT
// The skin pass alone where results are known to the bit or are special: lost directions, values that are no numbers,
// morphs, weights, and joints beyond the palette.
#include "peltt_vk_skin.h"

#include <pelt/cook.h>

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// A mesh of one rigid item with the given matrix, whose vertices can still be changed.
static peltt_vk_skinned *make_rigid(uint32_t vertex_count, const pelt_mat34 *matrix, uint32_t target_mask)
{
    peltt_random random = {vertex_count};
    peltt_vk_skinned_shape shape = {.vertex_count = vertex_count,
                                    .item_vertices = 1024,
                                    .joint_layout = GPU_JOINTS_NONE,
                                    .influence_count = 1,
                                    .joint_count = 1,
                                    .target_mask = target_mask,
                                    .flags = GPU_INSTANCE_EXACT};
    peltt_vk_skinned_make(&peltt_vk_skin_meshes[0], &shape, &peltt_vk_skin_passes, &random);
    peltt_vk_skin_meshes[0].palette[0] = *matrix;
    return &peltt_vk_skin_meshes[0];
}

// A direction without a result is the input's; without an input, the axis.
static void lost_directions_take_the_input_or_the_axis(void **state)
{
    (void)state;
    assert_true(peltt_vk_passes_set_threads(&peltt_vk_skin_passes, GPU_SKIN_THREADS));
    pelt_mat34 lost[5] = {{{{0}}}, {{{0}}}, {{{0}}}, {{{0}}}, {{{0}}}};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            lost[1].m[i][k] = NAN;
            lost[2].m[i][k] = INFINITY;
            lost[3].m[i][k] = i == k ? (i == 1 ? NAN : 1.0F) : 0.0F;
            lost[4].m[i][k] = i == k ? (i == 2 ? -INFINITY : 1.0F) : 0.0F;
        }
    }
    for (int i = 0; i < 5 * (PELTT_VK_SKIN_PIPELINES + 1); i++) {
        peltt_vk_passes_reset(&peltt_vk_skin_passes);
        bool spoilt = i >= 5 * PELTT_VK_SKIN_PIPELINES; // morphs are for one pipeline alone
        peltt_vk_skinned *s = make_rigid(200, &lost[i % 5], spoilt ? 1 : 0);
        for (uint32_t k = 0; spoilt && k < 200 * 3; k++) {
            ((float *)(uintptr_t)s->targets[0].streams[1])[k] = k % 2 ? NAN : INFINITY;
            ((float *)(uintptr_t)s->targets[0].streams[2])[k] = k % 2 ? -INFINITY : NAN;
        }
        peltt_vk_skin_run(1, 1);
        for (uint32_t v = 0; v < 200; v++) {
            double want[3] = {0.0, 0.0, 1.0};
            float got[4];
            float input[4];
            pelt_normal_decode(s->normals[v], input);
            for (int k = 0; k < 3 && !spoilt; k++) {
                want[k] = (double)input[k];
            }
            pelt_normal_decode(s->out_normals[v], got);
            peltt_vk_skin_check_direction(want, got, 1.0, 0.0, peltt_vk_skin_normal_tolerance, "normal", v);
            double want_t[3] = {1.0, 0.0, 0.0};
            pelt_tangent_decode(s->tangents[v], input);
            for (int k = 0; k < 3 && !spoilt; k++) {
                want_t[k] = (double)input[k];
            }
            pelt_tangent_decode(s->out_tangents[v], got);
            peltt_vk_skin_check_direction(want_t, got, 1.0, 0.0, peltt_vk_skin_tangent_tolerance, "tangent", v);
            assert_true(got[3] == input[3]);
        }
        peltt_vk_skinned_free(s);
    }
}

// What is not a number does not enter boxes, infinities do, and zeros have no sign.
static void special_positions_and_boxes(void **state)
{
    (void)state;
    static const float values[] = {NAN,     0.0F,  -0.0F,  INFINITY, -INFINITY, 1e-45F, -1e-45F,
                                   FLT_MAX, -1.0F, 1e-40F, -FLT_MIN, -NAN,      3.5F,   -2.5F};
    const uint32_t value_count = sizeof values / sizeof values[0];
    pelt_mat34 identity = pelt_mat34_identity();
    for (int k = 0; k < 3; k++) { // so that sums can be -0
        identity.m[k][3] = -0.0F;
    }
    peltt_random random = {5};
    for (int i = 0; i <= PELTT_VK_PASSES_SIZES; i++) {
        if (!peltt_vk_skin_set_threads(i)) {
            continue;
        }
        for (uint32_t round = 0; round < 40; round++) {
            peltt_vk_passes_reset(&peltt_vk_skin_passes);
            uint32_t count = 1 + peltt_random_below(&random, 140);
            peltt_vk_skinned *s = make_rigid(count, &identity, 0);
            uint32_t kinds = 1 + round % value_count; // first all NaN, then more and more
            for (uint32_t k = 0; k < count * 3; k++) {
                s->positions[k] =
                    k / 3 == 77 ? values[(k + round) % value_count] : values[peltt_random_below(&random, kinds)];
            }
            peltt_vk_skin_boxes b = peltt_vk_skin_run(1, 1);
            peltt_vk_skin_check_boxes(&b, 1);
            for (uint32_t k = 0; k < count * 3; k++) {
                uint32_t bits = 0;
                memcpy(&bits, peltt_vk_skin_written(s) + k, sizeof bits);
                assert_int_not_equal(bits, 0x80000000U);
            }
            peltt_vk_skinned_free(s);
        }
    }
}

// With the matrix of identity, positions are the morphed ones: as pelt_cooked_target_add gives them, but for single
// displacements of 16 bits that double would have rounded the other way.
static void morphs_match_the_cpu_to_the_bit(void **state)
{
    (void)state;
    assert_true(peltt_vk_passes_set_threads(&peltt_vk_skin_passes, GPU_SKIN_THREADS));
    pelt_mat34 identity = pelt_mat34_identity();
    for (uint32_t t = 0; t < PELTT_VK_SKINNED_TARGETS; t++) {
        peltt_vk_passes_reset(&peltt_vk_skin_passes);
        peltt_vk_skinned *s = make_rigid(1024, &identity, 1U << t);
        const peltt_vk_skinned_target *target = &s->targets[t];
        pelt_cooked_target cooked = {.format = target->record.format,
                                     .vertex_count = target->entry_count,
                                     .vertices = target->vertices,
                                     .positions = target->streams[0],
                                     .scale = {target->record.position_scale}};
        static float want[1024 * 3];
        memcpy(want, s->positions, sizeof want);
        pelt_cooked_target_add(&cooked, 0, target->weight, want);
        peltt_vk_skin_run(1, 1);
        uint32_t different = 0;
        for (uint32_t k = 0; k < 1024 * 3; k++) {
            float got = peltt_vk_skin_written(s)[k];
            different += got != want[k] ? 1 : 0;
            assert_true(fabs((double)got - (double)want[k]) <= 0x1p-22);
        }
        assert_true(different <= (t >= 2 ? 6U : 0U));
        peltt_vk_skinned_free(s);
    }
}

// Matrices that move three slots' joints along one axis each show three weights at a time.
static void show_weights(uint32_t layout, uint32_t encoding, uint32_t hidden_slot, uint32_t influence_count)
{
    const uint32_t vertex_count = 20000;
    peltt_random random = {hidden_slot + encoding * 4};
    peltt_vk_passes_reset(&peltt_vk_skin_passes);
    peltt_vk_skinned_shape shape = {.vertex_count = vertex_count,
                                    .item_vertices = 1024,
                                    .joint_layout = layout,
                                    .influence_count = influence_count,
                                    .encoding = encoding,
                                    .joint_count = 6};
    peltt_vk_skinned *s = &peltt_vk_skin_meshes[0];
    peltt_vk_skinned_make(s, &shape, &peltt_vk_skin_passes, &random);
    for (uint32_t j = 0; j < 6; j++) {
        memset(&s->palette[j], 0, sizeof s->palette[j]);
    }
    uint32_t axis = 0;
    uint32_t shown[3];
    for (uint32_t slot = 0; slot < 4; slot++) {
        if (slot != hidden_slot) {
            s->palette[slot].m[axis][3] = 1.0F;
            shown[axis++] = slot;
        }
    }
    uint64_t lists = layout == GPU_JOINTS_RUN ? s->mesh.run_joints - peltt_vk_skin_passes.memory.address : 0;
    uint16_t *list = (uint16_t *)(void *)((char *)peltt_vk_skin_passes.memory.data + lists);
    for (uint32_t i = 0; i < s->item_count && layout == GPU_JOINTS_RUN; i++) {
        s->items[i].first_joint = 0;
        s->items[i].joints = GPU_ITEM_JOINTS(6U, GPU_JOINTS_RUN, GPU_ITEM_INFLUENCES(s->items[i].joints));
        s->items[i].joint_base = 0;
    }
    for (uint16_t j = 0; j < 6 && layout == GPU_JOINTS_RUN; j++) {
        list[j] = j;
    }
    for (uint32_t v = 0; v < vertex_count; v++) {
        s->device_joints[v] = 0x03020100;
        s->positions[v * 3] = s->positions[v * 3 + 1] = s->positions[v * 3 + 2] = 0.0F;
        for (uint32_t i = s->first_extras[v]; i < s->first_extras[v + 1]; i++) {
            s->extras[i] = (s->extras[i] & 0xFFFF0000U) | 4; // moves nothing
        }
    }
    peltt_vk_skin_run(1, 9);
    uint32_t different = 0;
    for (uint32_t v = 0; v < vertex_count; v++) {
        float four[4];
        pelt_weights_decode((pelt_weight_encoding)encoding, s->weights[v], four);
        uint32_t sum = 0;
        for (uint32_t i = s->first_extras[v]; i < s->first_extras[v + 1]; i++) {
            sum += s->extras[i] >> 16;
        }
        for (uint32_t k = 0; k < 3; k++) {
            float want = (float)((double)four[shown[k]] * ((65535 - sum) / 65535.0));
            float got = s->out_positions[0][v * 3 + k];
            different += got != want ? 1 : 0;
            assert_true(fabs((double)got - (double)want) <= (sum > 0 ? 0x1p-23 * (double)want : 0.0));
        }
    }
    assert_true(different <= (influence_count > 4 ? vertex_count / 5000 : 0));
    peltt_vk_skinned_free(s);
}

static void weights_are_decoded_to_the_bit(void **state)
{
    (void)state;
    assert_true(peltt_vk_passes_set_threads(&peltt_vk_skin_passes, GPU_SKIN_THREADS));
    for (uint32_t hidden = 0; hidden < 4; hidden++) {
        for (int turn = 0; turn < PELTT_VK_SKIN_PIPELINES; turn++) {
            show_weights(GPU_JOINTS_RUN, GPU_WEIGHTS_SORTED, hidden, 4);
        }
        show_weights(GPU_JOINTS_DIRECT8, GPU_WEIGHTS_SORTED, hidden, 4);
        show_weights(GPU_JOINTS_DIRECT8, GPU_WEIGHTS_PLAIN, hidden, 4);
        show_weights(GPU_JOINTS_DIRECT8, GPU_WEIGHTS_SORTED, hidden, 5);
        show_weights(GPU_JOINTS_DIRECT8, GPU_WEIGHTS_PLAIN, hidden, 5);
    }
}

// Joints beyond the palette follow its last matrix, and nothing beyond it is read.
static void joints_are_clamped_to_the_palette(void **state)
{
    (void)state;
    assert_true(peltt_vk_passes_set_threads(&peltt_vk_skin_passes, GPU_SKIN_THREADS));
    for (uint32_t turn = 0; turn < 3 * (PELTT_VK_SKIN_PIPELINES + 1); turn++) {
        peltt_vk_passes_reset(&peltt_vk_skin_passes);
        uint32_t layout = turn < 3 * PELTT_VK_SKIN_PIPELINES ? GPU_JOINTS_RUN : turn % 3;
        peltt_random random = {turn};
        peltt_vk_skinned_shape shape = {.vertex_count = 500,
                                        .item_vertices = 500,
                                        .joint_layout = layout,
                                        .influence_count = turn < 3 * PELTT_VK_SKIN_PIPELINES ? 4 : 5,
                                        .joint_count = 40};
        peltt_vk_skinned *s = &peltt_vk_skin_meshes[0];
        peltt_vk_skinned_make(s, &shape, &peltt_vk_skin_passes, &random);
        s->instance.palette_count = 7;
        for (uint32_t j = 7; j < 40; j++) {
            for (int i = 0; i < 12; i++) {
                s->palette[j].m[i / 4][i % 4] = NAN;
            }
        }
        peltt_vk_skin_run(1, 1);
        for (uint32_t j = 7; j < 40; j++) { // for the reference
            s->palette[j] = s->palette[6];
        }
        for (uint32_t v = 0; v < 500; v++) {
            peltt_vk_skin_check_vertex(s, v);
        }
        peltt_vk_skinned_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lost_directions_take_the_input_or_the_axis, peltt_vk_skin_setup,
                                        peltt_vk_skin_teardown),
        cmocka_unit_test_setup_teardown(special_positions_and_boxes, peltt_vk_skin_setup, peltt_vk_skin_teardown),
        cmocka_unit_test_setup_teardown(morphs_match_the_cpu_to_the_bit, peltt_vk_skin_setup, peltt_vk_skin_teardown),
        cmocka_unit_test_setup_teardown(weights_are_decoded_to_the_bit, peltt_vk_skin_setup, peltt_vk_skin_teardown),
        cmocka_unit_test_setup_teardown(joints_are_clamped_to_the_palette, peltt_vk_skin_setup, peltt_vk_skin_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

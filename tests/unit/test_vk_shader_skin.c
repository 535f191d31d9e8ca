// SPDX-License-Identifier: MIT
// The skin pass alone, in all its pipelines, against a reference in double: every layout, number of influences and kind
// of target, and matrices that are hard for directions.
#include "peltt_vk_skin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const uint32_t vertex_counts[] = {0, 1, 63, 64, 65, 100, 1023, 1024};

enum {
    COUNT_KINDS = sizeof vertex_counts / sizeof vertex_counts[0]
};

static uint32_t joint_count_of(peltt_random *random, uint32_t layout)
{
    uint32_t most = layout == GPU_JOINTS_DIRECT8 ? 256 : PELTT_VK_SKINNED_JOINTS;
    return peltt_random_chance(random, 0.3) ? 2 + peltt_random_below(random, 10) : most;
}

// A thread takes 32 vertices of an item at most.
static uint32_t most_of_item(void)
{
    return peltt_vk_skin_passes.threads < 32 ? peltt_vk_skin_passes.threads * 32 : 1024;
}

// Every layout, number of influences, encoding and size, with targets and missing streams in turns.
static uint32_t make_all(peltt_random *random)
{
    uint32_t count = 0;
    for (uint32_t layout = 0; layout <= GPU_JOINTS_NONE; layout++) {
        for (uint32_t influences = 1; influences <= 5; influences++) {
            for (uint32_t kind = 0; kind < COUNT_KINDS; kind++) {
                uint32_t encoding = influences > 1 && peltt_random_chance(random, 0.3) ? GPU_WEIGHTS_PLAIN : 0;
                peltt_vk_skinned_shape shape = {
                    .vertex_count = vertex_counts[kind],
                    .item_vertices = most_of_item() >> peltt_random_below(random, 5),
                    .joint_layout = layout,
                    .influence_count = influences,
                    .encoding = encoding,
                    .joint_count = joint_count_of(random, layout),
                    .target_mask = peltt_random_chance(random, 0.5) ? peltt_random_below(random, 16) : 0,
                    .flags = (peltt_random_chance(random, 0.8) ? GPU_INSTANCE_EXACT : 0) |
                             (peltt_random_chance(random, 0.1) ? GPU_INSTANCE_RIGID : 0),
                    .parity = peltt_random_chance(random, 0.5),
                    .no_normals = peltt_random_chance(random, 0.1),
                    .no_tangents = peltt_random_chance(random, 0.2),
                    .omit_normals = peltt_random_chance(random, 0.1),
                    .omit_tangents = peltt_random_chance(random, 0.2),
                    .calm = peltt_random_chance(random, 0.5),
                };
                assert_true(count < PELTT_VK_SKIN_MESHES);
                peltt_vk_skinned_make(&peltt_vk_skin_meshes[count++], &shape, &peltt_vk_skin_passes, random);
            }
        }
    }
    return count;
}

static void every_kind_of_mesh_among_all_others(void **state)
{
    (void)state;
    for (int i = 0; i <= PELTT_VK_PASSES_SIZES; i++) {
        if (!peltt_vk_skin_set_threads(i)) {
            continue;
        }
        peltt_random random = {(uint64_t)i + 100};
        peltt_vk_passes_reset(&peltt_vk_skin_passes);
        uint32_t count = make_all(&random);
        peltt_vk_skin_boxes b = peltt_vk_skin_run(count, 37);
        peltt_vk_skin_check_and_free(&b, count);
    }
}

// Singular, mirrored, flattened and extreme matrices: directions are of unit length and right wherever double knows.
static void harsh_matrices_keep_directions(void **state)
{
    (void)state;
    assert_true(peltt_vk_passes_set_threads(&peltt_vk_skin_passes, GPU_SKIN_THREADS));
    peltt_random random = {7};
    for (int round = 0; round < 12; round++) {
        peltt_vk_passes_reset(&peltt_vk_skin_passes);
        for (uint32_t i = 0; i < 8; i++) {
            peltt_vk_skinned_shape shape = {.vertex_count = 1000,
                                            .item_vertices = 300,
                                            .joint_layout = i % 4,
                                            .influence_count = i < 6 ? 1 : 3,
                                            .joint_count = 200,
                                            .flags = GPU_INSTANCE_EXACT,
                                            .calm = peltt_random_chance(&random, 0.5),
                                            .harsh = true};
            peltt_vk_skinned_make(&peltt_vk_skin_meshes[i], &shape, &peltt_vk_skin_passes, &random);
        }
        peltt_vk_skin_boxes b = peltt_vk_skin_run(8, 8);
        peltt_vk_skin_check_and_free(&b, 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_kind_of_mesh_among_all_others, peltt_vk_skin_setup,
                                        peltt_vk_skin_teardown),
        cmocka_unit_test_setup_teardown(harsh_matrices_keep_directions, peltt_vk_skin_setup, peltt_vk_skin_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

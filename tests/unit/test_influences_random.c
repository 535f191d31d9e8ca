// SPDX-License-Identifier: MIT
// Influence clean-up of random vertices, against a plain reference written here.
#include "peltt_influences.h"
#include "peltt_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// What the header promises, written plainly.
static uint32_t reference(uint32_t vertex, uint16_t *joints, double *weights)
{
    uint32_t count = 0;
    for (uint32_t entry = 0; entry < 4 * peltt_fix.job.set_count; entry++) {
        uint16_t joint = peltt_fix.joints[entry / 4][vertex * 4 + entry % 4];
        double weight = (double)peltt_fix.weights[entry / 4][vertex * 4 + entry % 4];
        uint32_t at = 0;
        while (at < count && joints[at] != joint) {
            at++;
        }
        if (weight == 0) {
            continue;
        }
        if (at == count) {
            joints[count] = joint;
            weights[count++] = 0;
        }
        weights[at] += weight;
    }
    if (count == 0) {
        joints[0] = peltt_fix.joints[0][vertex * 4];
        weights[0] = 1;
        return 1;
    }
    while (peltt_fix.job.influence_limit != 0 && count > peltt_fix.job.influence_limit) {
        uint32_t least = 0;
        for (uint32_t i = 1; i < count; i++) {
            least = weights[i] <= weights[least] ? i : least;
        }
        count--;
        for (uint32_t i = least; i < count; i++) {
            joints[i] = joints[i + 1];
            weights[i] = weights[i + 1];
        }
    }
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += weights[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        weights[i] /= sum;
    }
    return count;
}

static void random_vertices_agree_with_the_reference(void **state)
{
    (void)state;
    peltt_random random = {31337};
    for (int round = 0; round < 600; round++) {
        static const uint32_t set_counts[] = {1, 1, 1, 2, 3, 5, 9, PELTT_FIX_SET_CAPACITY};
        uint32_t set_count = set_counts[round % 8];
        uint32_t vertex_count = set_count > 9 ? 3 : 1 + peltt_random_below(&random, PELTT_FIX_VERTEX_CAPACITY);
        peltt_fix_init(vertex_count, set_count);
        peltt_fix.job.influence_limit = peltt_random_chance(&random, 0.5) ? peltt_random_below(&random, 12) : 0;
        uint32_t joint_count = 1 + peltt_random_below(&random, set_count > 9 ? 2000 : 40);
        peltt_fix.job.joint_limit = joint_count;
        double zero_share = peltt_random_unit(&random);
        for (uint32_t s = 0; s < set_count; s++) {
            for (uint32_t i = 0; i < vertex_count * 4; i++) {
                peltt_fix.joints[s][i] = (uint16_t)peltt_random_below(&random, joint_count);
                // Quarters among them, so that equal weights and sums of one occur.
                float weight = peltt_random_chance(&random, 0.3) ? 0.25f : peltt_random_float(&random, 0, 1);
                peltt_fix.weights[s][i] = peltt_random_chance(&random, zero_share) ? 0.0f : weight;
            }
        }
        const pelt_primitive *p = peltt_fix_cleaned();
        uint32_t most = 1;
        uint32_t bound = 0;
        for (uint32_t v = 0; v < vertex_count; v++) {
            uint16_t joints[PELTT_FIX_SET_CAPACITY * 4];
            double weights[PELTT_FIX_SET_CAPACITY * 4];
            uint32_t count = reference(v, joints, weights);
            peltt_fix_assert_vertex(v, count, joints, weights);
            double sum = 0;
            for (uint32_t i = 0; i < count; i++) {
                sum += (double)p->weights[v * p->influence_count + i];
                bound = joints[i] >= bound ? joints[i] + 1u : bound;
            }
            assert_true(fabs(sum - 1) <= (count <= 4 ? 0 : 0x1p-25));
            most = count > most ? count : most;
        }
        assert_int_equal(p->influence_count, most);
        assert_int_equal(p->joint_bound, bound);
        peltt_fix_done();
    }
}

static void both_paths_give_the_same_weights(void **state)
{
    (void)state;
    peltt_random random = {8};
    peltt_fix_init(PELTT_FIX_VERTEX_CAPACITY, 1);
    for (uint32_t v = 0; v < PELTT_FIX_VERTEX_CAPACITY; v++) {
        for (uint32_t i = 0; i < 3; i++) {
            peltt_fix.joints[0][v * 4 + i] = (uint16_t)i;
            peltt_fix.weights[0][v * 4 + i] = peltt_random_float(&random, 0.01f, 0.66f);
        }
        peltt_fix.joints[0][v * 4 + 3] = 9;
    }
    float plain[PELTT_FIX_VERTEX_CAPACITY * 3];
    memcpy(plain, peltt_fix_cleaned()->weights, sizeof plain);
    peltt_fix.job.joint_limit = 9; // the unweighted joint 9 now forces the long way
    pelt_primitive other = {0};
    assert_int_equal(pelt_builder_clean_influences(peltt_fix.builder, &peltt_fix.job, &other, NULL), PELT_OK);
    assert_int_equal(other.influences.ignored_joint_count, PELTT_FIX_VERTEX_CAPACITY);
    assert_memory_equal(other.weights, plain, sizeof plain);
    peltt_fix_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_vertices_agree_with_the_reference),
        cmocka_unit_test(both_paths_give_the_same_weights),
    };
    return cmocka_run_group_tests_name("influences", tests, NULL, NULL);
}

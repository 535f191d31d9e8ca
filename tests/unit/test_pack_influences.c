// SPDX-License-Identifier: MIT
// Packed influences against the source they were made of: within their bounds, by class, with extras.
#include "peltt_packed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    JOINT_LIMIT = 70000 // of the shapes of peltt_packed_each
};

// Adds the weights of each joint up; joints_used lists them.
typedef struct joint_sums {
    double weights[JOINT_LIMIT];
} joint_sums;

static uint32_t unpack(const pelt_cooked_primitive *out, uint32_t vertex, uint16_t *joints, float *weights)
{
    uint32_t count = pelt_cooked_influences(out, vertex, 512, joints, weights);
    assert_true(count >= 1 && count <= 512);
    // A smaller capacity gives the same count and the first of them.
    uint16_t first_joint = 0;
    float first_weight = 0.0F;
    assert_int_equal(pelt_cooked_influences(out, vertex, 1, &first_joint, &first_weight), count);
    assert_int_equal(pelt_cooked_influences(out, vertex, 0, NULL, NULL), count);
    assert_true(first_joint == joints[0] && first_weight == weights[0]);
    return count;
}

static void check_influences(const peltt_packed *packed)
{
    static joint_sums sums;
    const pelt_cooked_primitive *out = &packed->p.out;
    const pelt_primitive *source = &packed->source;
    if (source->influence_count == 0) {
        assert_true(!out->weights && !out->joints && out->run_count == 0 && out->joint_bound == 0);
        return;
    }
    bool sorted = packed->options.weights == PELT_WEIGHTS_SORTED;
    for (uint32_t v = 0; v < out->vertex_count; v++) {
        uint16_t joints[512];
        float weights[512];
        uint32_t count = unpack(out, v, joints, weights);
        double total = 0.0;
        for (uint32_t i = 0; i < count; i++) {
            assert_true(weights[i] > 0.0F);
            assert_true(joints[i] < out->joint_bound && joints[i] < packed->shape.joint_count);
            assert_true(!sorted || i == 0 || i >= 4 || weights[0] > 0.0F);
            sums.weights[joints[i]] += (double)weights[i];
            total += (double)weights[i];
        }
        assert_true(fabs(total - 1.0) <= (double)count * 0x1p-24);
        uint64_t at = (uint64_t)out->source_vertices[v] * source->influence_count;
        double source_sum = 0.0;
        for (uint32_t i = 0; i < source->influence_count; i++) {
            source_sum += (double)source->weights[at + i];
            sums.weights[source->joints[at + i]] -= (double)source->weights[at + i];
        }
        // The implied weight's bound, to which extra influences add what their codes can be off by in all.
        double bound = (sorted ? 0x1p-11 : 0x1p-10) + (source->influence_count > 4 ? 6.0 / 65535 : 0.0) + 1e-6;
        assert_true(fabs(source_sum - 1.0) < 1e-6);
        for (uint32_t j = 0; j < packed->shape.joint_count; j++) {
            if (fabs(sums.weights[j]) > bound) {
                fail_msg("vertex %u, joint %u is off by %.9g", v, j, sums.weights[j]);
            }
            sums.weights[j] = 0.0;
        }
    }
}

static void influences_come_back_within_their_bounds(void **state)
{
    (void)state;
    peltt_packed_each(40, check_influences);
}

static void check_classes(const peltt_packed *packed)
{
    const pelt_cooked_primitive *out = &packed->p.out;
    uint32_t wide = 0;
    for (uint32_t r = 0; r < out->run_count; r++) {
        const pelt_run *run = &out->runs[r];
        assert_int_equal(run->joints_offset % 4, 0);
        assert_int_equal(run->first_wide, wide);
        wide += run->class_counts[4] == 0 ? 0 : out->ordered ? run->class_counts[4] : run->vertex_count;
        for (uint32_t k = 0; k < run->vertex_count; k++) {
            uint32_t v = run->first_vertex + k;
            const cook_vertex *vertex = &packed->p.vertices[out->source_vertices[v]];
            float w[4];
            pelt_weights_decode(out->encoding, out->weights[v], w);
            uint32_t used = 0;
            float heaviest = fmaxf(fmaxf(w[0], w[1]), fmaxf(w[2], w[3]));
            for (uint32_t slot = 0; slot < 4; slot++) {
                used += w[slot] > 0.0F ? 1 : 0;
                bool repeats = false;
                for (uint32_t other = 0; other < 4; other++) {
                    repeats = repeats || (w[other] == heaviest && vertex->joints[other] == vertex->joints[slot]);
                }
                assert_true(w[slot] > 0.0F || repeats);
            }
            assert_int_equal(vertex->class_index, vertex->extra_count > 0 ? 4 : used - 1);
            // A kernel for n influences reads the implied slot and the first n - 1.
            for (uint32_t slot = 1; out->encoding == PELT_WEIGHTS_SORTED && slot < 3; slot++) {
                assert_true(w[slot] == 0.0F || w[slot - 1] > 0.0F);
            }
        }
    }
    assert_int_equal(out->wide_count, wide);
    uint32_t last = 0;
    for (uint32_t i = 0; out->weights && i <= out->wide_count; i++) {
        assert_true(out->extra_offsets[i] >= last && out->extra_offsets[i] <= out->extra_count);
        last = out->extra_offsets[i];
    }
    assert_int_equal(last, out->extra_count);
}

static void classes_count_packed_weights(void **state)
{
    (void)state;
    peltt_packed_each(41, check_classes);
}

// The largest four, the first of equals, and nearest 16-bit codes for up to eight others.
static void extras_are_the_smaller_influences(void **state)
{
    (void)state;
    peltt_random random = {42};
    peltt_packed packed;
    const peltt_packed_shape shape = {.vertex_count = 2000, .influence_count = 12, .joint_count = 40, .size = 1};
    peltt_packed_init(&packed, &shape, &random);
    assert_int_equal(peltt_packed_cook(&packed, NULL, 1, NULL), PELT_OK);
    uint32_t extra_count = 0;
    for (uint32_t v = 0; v < shape.vertex_count; v++) {
        const float *weights = packed.source.weights + (size_t)v * 12;
        const uint16_t *joints = packed.source.joints + (size_t)v * 12;
        const cook_vertex *vertex = &packed.p.vertices[v];
        const pelt_extra_influence *extras = packed.p.source_extras + vertex->first_extra;
        double sum = 0.0;
        for (int i = 0; i < 12; i++) {
            sum += (double)weights[i];
        }
        uint32_t at = 0;
        for (int i = 0; i < 12; i++) {
            int before = 0;
            for (int k = 0; k < 12; k++) {
                before += weights[k] > weights[i] || (weights[k] == weights[i] && k < i) ? 1 : 0;
            }
            long code = lround((double)weights[i] / sum * 65535.0);
            if (before < 4 || code == 0) {
                continue;
            }
            assert_true(at < vertex->extra_count);
            assert_int_equal(extras[at].joint, joints[i]);
            assert_int_equal(extras[at].weight, code);
            at++;
        }
        assert_int_equal(at, vertex->extra_count);
        extra_count += at;
    }
    assert_int_equal(packed.p.out.extra_count, extra_count);
    peltt_packed_free(&packed);
}

// Codes that all round the same way must not eat up the first four's share.
static void thousands_of_influences_keep_their_sum(void **state)
{
    (void)state;
    enum {
        COUNT = 43000
    };
    uint16_t *joints = calloc(COUNT, sizeof *joints);
    float *weights = calloc(COUNT, sizeof *weights);
    assert_true(joints && weights);
    const double kinds[] = {1.5 / 65535, 0.5001 / 65535, 0.4999 / 65535, 1.0 / COUNT};
    for (int kind = 0; kind < 4; kind++) {
        double rest = 1.0;
        for (uint32_t i = COUNT; i-- > 4;) {
            joints[i] = (uint16_t)i;
            weights[i] = rest > 5.0 * kinds[kind] ? (float)kinds[kind] : 0.0F;
            rest -= (double)weights[i];
        }
        for (uint16_t i = 0; i < 4; i++) {
            joints[i] = i;
            weights[i] = (float)(rest / 4.0);
        }
        const float position[3] = {0};
        const pelt_cook_options options = {.morph_weight_max = 1.0F};
        pelt_primitive source = {.vertex_count = 1,
                                 .positions = position,
                                 .influence_count = COUNT,
                                 .joints = joints,
                                 .weights = weights,
                                 .index_count = 1};
        cook_arena arena = {0};
        cook_primitive p = {.source = &source, .options = &options, .arena = &arena};
        assert_int_equal(pelti_cook_pack_vertices(&p, NULL), PELT_OK);
        uint64_t sum = 0;
        for (uint32_t i = 0; i < p.vertices[0].extra_count; i++) {
            sum += p.source_extras[i].weight;
            assert_true(fabs(p.source_extras[i].weight / 65535.0 - kinds[kind]) <= 1.6 / 65535);
        }
        double want = 0.0;
        for (uint32_t i = 4; i < COUNT; i++) {
            want += (double)weights[i];
        }
        assert_true(sum < 65535);
        assert_true(fabs((double)sum / 65535.0 - want) <= 6.0 / 65535);
        pelti_cook_release_arena(&arena);
    }
    free(joints);
    free(weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(influences_come_back_within_their_bounds),
        cmocka_unit_test(classes_count_packed_weights),
        cmocka_unit_test(extras_are_the_smaller_influences),
        cmocka_unit_test(thousands_of_influences_keep_their_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

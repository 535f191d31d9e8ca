// SPDX-License-Identifier: MIT
// Clips through the builder: targets, keys, values, order and duration, with what each refusal and warning names.
#include "base/base.h"
#include "peltt_kit.h"
#include "peltt_random.h"

#include <math.h>
#include <setjmp.h>

#include <cmocka.h>

static const float two_times[2] = {0.25f, 1.5f};
static const float zeros[64] = {0};

// A kit of five nodes with one clip that has one translation sampler of two keys.
static void init(peltt_kit *kit)
{
    peltt_kit_init(kit, 5);
    peltt_kit_children(kit, 4, 1, (const uint32_t[]){1}); // so that file and node indices differ
    peltt_kit_clip(kit);
    peltt_kit_sampler(kit, 0, PELT_INTERPOLATION_LINEAR, 3, 2, two_times, zeros);
}

static void channels_are_sorted_and_mapped(void **state)
{
    (void)state;
    peltt_kit kit;
    init(&kit);
    uint32_t rotation =
        peltt_kit_sampler(&kit, 0, PELT_INTERPOLATION_STEP, 4, 1, (const float[]){9}, (const float[]){0, 0, 0, 1});
    peltt_kit_channel(&kit, 0, 0, 4, PELT_PATH_SCALE);
    peltt_kit_channel(&kit, 0, 0, 1, PELT_PATH_TRANSLATION);
    peltt_kit_channel(&kit, 0, rotation, 4, PELT_PATH_ROTATION);
    peltt_kit_channel(&kit, 0, 0, 0, PELT_PATH_TRANSLATION);
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    const pelt_clip *clip = &data->clips[0];
    // Nodes sorted: file 0, 2, 3, 4, 1.
    static const uint32_t nodes[4] = {0, 3, 3, 4};
    static const uint32_t files[4] = {3, 2, 0, 1};
    assert_int_equal(clip->channel_count, 4);
    for (uint32_t c = 0; c < 4; c++) {
        assert_int_equal(clip->channels[c].node, nodes[c]);
        assert_int_equal(clip->channels[c].file_index, files[c]);
    }
    assert_int_equal(clip->channels[1].path, PELT_PATH_ROTATION);
    assert_int_equal(clip->channels[1].sampler, rotation);
    assert_true(clip->duration == 9.0f);
    peltt_kit_destroy(&kit);
}

// Against the definition, with many channels in random order; also that sorting costs no n squared.
static void many_channels_are_sorted(void **state)
{
    (void)state;
    enum {
        NODES = 50000
    };
    peltt_random random = {9};
    peltt_kit kit;
    peltt_kit_init(&kit, NODES);
    uint32_t clip = peltt_kit_clip(&kit);
    peltt_kit_sampler(&kit, clip, PELT_INTERPOLATION_LINEAR, 3, 2, two_times, zeros);
    pelt_channel *channels = peltt_kit_allocate(&kit, NODES * 2, sizeof *channels);
    for (uint32_t c = 0; c < NODES * 2; c++) {
        channels[c] = (pelt_channel){c / 2, c % 2 ? PELT_PATH_SCALE : PELT_PATH_TRANSLATION, 0, 0};
    }
    for (uint32_t c = NODES * 2; c-- > 1;) {
        uint32_t other = peltt_random_below(&random, c + 1);
        pelt_channel swapped = channels[c];
        channels[c] = channels[other];
        channels[other] = swapped;
    }
    kit.scene.clips[clip].channels = channels;
    kit.scene.clips[clip].channel_count = NODES * 2;
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    for (uint32_t c = 0; c < NODES * 2; c++) {
        assert_int_equal(data->clips[clip].channels[c].node, c / 2);
        assert_int_equal(data->clips[clip].channels[c].path, c % 2 ? PELT_PATH_SCALE : PELT_PATH_TRANSLATION);
    }
    peltt_kit_destroy(&kit);
}

static void samplers_without_a_channel_are_dropped(void **state)
{
    (void)state;
    peltt_kit kit;
    init(&kit);
    // Unused and wrong, and later than all others.
    peltt_kit_sampler(&kit, 0, PELT_INTERPOLATION_LINEAR, 3, 2, (const float[]){50, NAN}, zeros);
    uint32_t used = peltt_kit_sampler(&kit, 0, PELT_INTERPOLATION_LINEAR, 3, 2, two_times, zeros);
    peltt_kit_channel(&kit, 0, used, 2, PELT_PATH_SCALE);
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    assert_int_equal(data->clips[0].sampler_count, 1);
    assert_int_equal(data->clips[0].samplers[0].file_index, used);
    assert_int_equal(data->clips[0].channels[0].sampler, 0);
    assert_true(data->clips[0].duration == 1.5f);
    peltt_kit_destroy(&kit);
}

static void clip_without_channels_has_no_duration(void **state)
{
    (void)state;
    peltt_kit kit;
    init(&kit);
    kit.scene.clips[0].duration = 3;
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    assert_true(data->clips[0].duration == 0.0f);
    assert_int_equal(data->clips[0].sampler_count, 0);
    peltt_kit_destroy(&kit);
}

static void refuse_channel(peltt_kit *kit, uint32_t sampler, uint32_t node, pelt_path path, const char *text)
{
    peltt_kit_channel(kit, 0, 0, 0, PELT_PATH_TRANSLATION); // right, so that the wrong one is channel 1
    peltt_kit_channel(kit, 0, sampler, node, path);
    const pelt_error *error = peltt_kit_refuse(kit, "animation 0, channel 1: ");
    if (!strstr(error->message, text)) {
        fail_msg("\"%s\" lacks \"%s\"", error->message, text);
    }
    assert_non_null(strstr(error->where, "/animations/0/channels/1/"));
    peltt_kit_destroy(kit);
}

static void wrong_channels_are_refused(void **state)
{
    (void)state;
    peltt_kit kit;
    init(&kit);
    refuse_channel(&kit, 0, 77, PELT_PATH_TRANSLATION, "node 77");
    init(&kit);
    refuse_channel(&kit, 5, 1, PELT_PATH_TRANSLATION, "sampler 5");
    init(&kit);
    refuse_channel(&kit, 0, 1, (pelt_path)4, "path 4");
    init(&kit);
    refuse_channel(&kit, 0, 1, PELT_PATH_ROTATION, "rotation of node 1 takes 4 numbers");
    init(&kit);
    refuse_channel(&kit, 0, 0, PELT_PATH_TRANSLATION, "targets the same translation of node 0 as channel 0");
    init(&kit);
    refuse_channel(&kit, 0, 3, PELT_PATH_WEIGHTS, "weights of node 3 are animated, but it has no morph targets");
}

static void animated_matrix_is_refused_but_its_morphs_are_not(void **state)
{
    (void)state;
    static const pelt_path paths[3] = {PELT_PATH_TRANSLATION, PELT_PATH_ROTATION, PELT_PATH_SCALE};
    for (int i = 0; i < 4; i++) {
        peltt_kit kit;
        init(&kit);
        kit.nodes[1].has_matrix = true;
        kit.nodes[1].matrix = pelt_mat34_identity();
        kit.nodes[1].mesh = peltt_kit_mesh(&kit, 0, 2);
        if (i < 3) {
            refuse_channel(&kit, 0, 1, paths[i], "node 1 is animated, but the node has a matrix");
            continue;
        }
        uint32_t sampler = peltt_kit_sampler(&kit, 0, PELT_INTERPOLATION_LINEAR, 2, 2, two_times, zeros);
        peltt_kit_channel(&kit, 0, sampler, 1, PELT_PATH_WEIGHTS);
        peltt_kit_asset(&kit);
        peltt_kit_destroy(&kit);
    }
}

static void weights_need_one_value_per_target(void **state)
{
    (void)state;
    peltt_kit kit;
    init(&kit);
    kit.nodes[2].mesh = peltt_kit_mesh(&kit, 0, 2);
    refuse_channel(&kit, 0, 2, PELT_PATH_WEIGHTS,
                   "weights of node 2 takes 2 numbers a key, but the output of sampler 0");
}

static void the_first_of_several_repeated_targets_is_named(void **state)
{
    (void)state;
    peltt_kit kit;
    init(&kit);
    uint32_t rotation =
        peltt_kit_sampler(&kit, 0, PELT_INTERPOLATION_STEP, 4, 1, two_times, (const float[]){0, 0, 1, 0});
    peltt_kit_channel(&kit, 0, rotation, 1, PELT_PATH_ROTATION);
    peltt_kit_channel(&kit, 0, 0, 1, PELT_PATH_SCALE);
    peltt_kit_channel(&kit, 0, 0, 2, PELT_PATH_SCALE);
    peltt_kit_channel(&kit, 0, rotation, 1, PELT_PATH_ROTATION);
    peltt_kit_refuse(&kit, "animation 0, channel 3: targets the same rotation of node 1 as channel 0");
    peltt_kit_destroy(&kit);
}

static void wrong_key_times_are_refused(void **state)
{
    (void)state;
    static const struct {
        float times[4];
        const char *text;
    } cases[] = {
        {{0, 0.5f, 0.5f, 1}, "input key 2 at 0.5 s does not come after key 1 at 0.5 s"},
        {{0, 1, 0.75f, 2}, "input key 2 at 0.75 s does not come after key 1 at 1 s"},
        {{-0.5f, 0, 1, 2}, "input key 0 at -0.5 s"},
        {{0, 1, NAN, 2}, "input key 2 is NaN"},
        {{0, 1, 2, INFINITY}, "input key 3 is infinity"},
        {{0, 0.1f, 0.1f, 1}, "at 0.1 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        peltt_kit kit;
        init(&kit);
        uint32_t sampler = peltt_kit_sampler(&kit, 0, PELT_INTERPOLATION_LINEAR, 3, 4, cases[i].times, zeros);
        peltt_kit_channel(&kit, 0, sampler, 1, PELT_PATH_SCALE);
        const pelt_error *error = peltt_kit_refuse(&kit, "animation 0, sampler 1: ");
        if (!strstr(error->message, cases[i].text)) {
            fail_msg("\"%s\" lacks \"%s\"", error->message, cases[i].text);
        }
        assert_string_equal(error->where, "/animations/0/samplers/1/input");
        peltt_kit_destroy(&kit);
    }
}

static void incomplete_samplers_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        peltt_kit kit;
        init(&kit);
        pelt_sampler *sampler = (pelt_sampler *)&kit.scene.clips[0].samplers[0];
        sampler->key_count = i == 0 ? 0 : 2;
        sampler->times = i == 1 ? NULL : sampler->times;
        sampler->values = i == 2 ? NULL : sampler->values;
        sampler->interpolation = i == 3 ? (pelt_interpolation)3 : sampler->interpolation;
        peltt_kit_channel(&kit, 0, 0, 1, PELT_PATH_SCALE);
        peltt_kit_refuse(&kit, "animation 0, sampler 0");
        peltt_kit_destroy(&kit);
    }
}

static void values_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    for (int cubic = 0; cubic < 2; cubic++) {
        float values[18] = {0};
        values[cubic ? 9 + 8 : 5] = NAN; // key 1: an out-tangent where cubic
        peltt_kit kit;
        init(&kit);
        uint32_t sampler = peltt_kit_sampler(&kit, 0, cubic ? PELT_INTERPOLATION_CUBICSPLINE : PELT_INTERPOLATION_STEP,
                                             3, 2, two_times, values);
        peltt_kit_channel(&kit, 0, sampler, 1, PELT_PATH_SCALE);
        const pelt_error *error = peltt_kit_refuse(&kit, "animation 0, sampler 1: output: key 1 holds NaN");
        assert_string_equal(error->where, "/animations/0/samplers/1/output");
        peltt_kit_destroy(&kit);
    }
}

static void zero_rotation_keys_are_refused(void **state)
{
    (void)state;
    static const pelt_interpolation kinds[3] = {PELT_INTERPOLATION_LINEAR, PELT_INTERPOLATION_STEP,
                                                PELT_INTERPOLATION_CUBICSPLINE};
    for (int i = 0; i < 3; i++) {
        float values[24] = {0, 0, 0, 1, 0, 0, 0, 0, 1}; // cubic: key 0 is 0 0 0 0 with tangents that are not
        peltt_kit kit;
        init(&kit);
        uint32_t sampler = peltt_kit_sampler(&kit, 0, kinds[i], 4, 2, two_times, values);
        peltt_kit_channel(&kit, 0, sampler, 1, PELT_PATH_ROTATION);
        const pelt_error *error = peltt_kit_refuse(&kit, "animation 0, sampler 1: output: the rotation of key ");
        assert_non_null(strstr(error->message, i == 2 ? "key 0 has length zero" : "key 1 has length zero"));
        peltt_kit_destroy(&kit);
    }
}

static void rotation_keys_are_normalised_once_but_not_cubic_ones(void **state)
{
    (void)state;
    const float linear[8] = {0, 0, 3, 4, 0, 1.01f, 0, 0};
    float cubic[24] = {0};
    for (int k = 0; k < 24; k++) {
        cubic[k] = (float)(k + 1);
    }
    peltt_kit kit;
    init(&kit);
    uint32_t a = peltt_kit_sampler(&kit, 0, PELT_INTERPOLATION_LINEAR, 4, 2, two_times, linear);
    uint32_t b = peltt_kit_sampler(&kit, 0, PELT_INTERPOLATION_CUBICSPLINE, 4, 2, two_times, cubic);
    peltt_kit_channel(&kit, 0, a, 1, PELT_PATH_ROTATION);
    peltt_kit_channel(&kit, 0, a, 2, PELT_PATH_ROTATION); // shared: checked and told of once
    peltt_kit_channel(&kit, 0, b, 3, PELT_PATH_ROTATION);
    const pelt_clip *clip = &peltt_kit_asset(&kit)->clips[0];
    assert_int_equal(clip->sampler_count, 2);
    const float *values = clip->samplers[0].values;
    assert_true(values[2] == 0.6f && values[3] == 0.8f && values[5] == 1.0f);
    assert_memory_equal(clip->samplers[1].values, cubic, sizeof cubic);
    assert_int_equal(kit.log.count, 1);
    peltt_warnings_find(&kit.log, "animation 0, sampler 1: output: the rotation of key 0 is off unit length by 4;");
    peltt_kit_destroy(&kit);
}

static void integer_rotation_keys_raise_no_warning(void **state)
{
    (void)state;
    // 8-bit keys: components are multiples of 1/127, and so never quite of unit length.
    const float values[8] = {64.0f / 127, 64.0f / 127, 64.0f / 127, 63.0f / 127, 0, 90.0f / 127, 0, 90.0f / 127};
    peltt_kit kit;
    init(&kit);
    uint32_t sampler = peltt_kit_sampler(&kit, 0, PELT_INTERPOLATION_LINEAR, 4, 2, two_times, values);
    peltt_kit_channel(&kit, 0, sampler, 1, PELT_PATH_ROTATION);
    peltt_kit_asset(&kit);
    assert_int_equal(kit.log.count, 0);
    peltt_kit_destroy(&kit);
}

static void sampler_of_rotation_and_weights_at_once_is_refused(void **state)
{
    (void)state;
    // Normalising would change the weights.
    const float values[8] = {0, 0, 0, 2, 0, 0, 0, 2};
    peltt_kit kit;
    init(&kit);
    kit.nodes[2].mesh = peltt_kit_mesh(&kit, 0, 4);
    uint32_t sampler = peltt_kit_sampler(&kit, 0, PELT_INTERPOLATION_LINEAR, 4, 2, two_times, values);
    peltt_kit_channel(&kit, 0, sampler, 1, PELT_PATH_ROTATION);
    peltt_kit_channel(&kit, 0, sampler, 2, PELT_PATH_WEIGHTS);
    peltt_kit_refuse(&kit, "animation 0, channel 1: sampler 1 serves rotation and weights");
    peltt_kit_destroy(&kit);
}

static void one_cubic_key_is_accepted_with_a_warning(void **state)
{
    (void)state;
    peltt_kit kit;
    init(&kit);
    uint32_t sampler = peltt_kit_sampler(&kit, 0, PELT_INTERPOLATION_CUBICSPLINE, 3, 1, two_times, zeros);
    peltt_kit_channel(&kit, 0, sampler, 1, PELT_PATH_SCALE);
    assert_true(peltt_kit_asset(&kit)->clips[0].duration == 0.25f);
    assert_int_equal(kit.log.count, 1);
    peltt_warnings_find(&kit.log, "animation 0, sampler 1: CUBICSPLINE");
    peltt_kit_destroy(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_are_sorted_and_mapped),
        cmocka_unit_test(many_channels_are_sorted),
        cmocka_unit_test(samplers_without_a_channel_are_dropped),
        cmocka_unit_test(clip_without_channels_has_no_duration),
        cmocka_unit_test(wrong_channels_are_refused),
        cmocka_unit_test(animated_matrix_is_refused_but_its_morphs_are_not),
        cmocka_unit_test(weights_need_one_value_per_target),
        cmocka_unit_test(the_first_of_several_repeated_targets_is_named),
        cmocka_unit_test(wrong_key_times_are_refused),
        cmocka_unit_test(incomplete_samplers_are_refused),
        cmocka_unit_test(values_that_are_not_finite_are_refused),
        cmocka_unit_test(zero_rotation_keys_are_refused),
        cmocka_unit_test(rotation_keys_are_normalised_once_but_not_cubic_ones),
        cmocka_unit_test(integer_rotation_keys_raise_no_warning),
        cmocka_unit_test(sampler_of_rotation_and_weights_at_once_is_refused),
        cmocka_unit_test(one_cubic_key_is_accepted_with_a_warning),
    };
    return cmocka_run_group_tests_name("builder_clips", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// What the import makes of animations, and what it refuses.
#include "peltt_import.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum {
    POSITION,
    TIMES_3,   // 0, 0.5, 1
    VECTORS_3, // translations
    ROTATIONS_3,
    SCALARS_6, // weights of 2 targets
    VECTORS_9,
    ROTATIONS_I16, // 3, normalized
    TIMES_EQUAL,   // 0, 0.5, 0.5, 0.5, 1
    VECTORS_5,
    TIMES_I16,       // a wrong type
    ROTATIONS_PLAIN, // integers, not normalized
    VECTORS_I16,     // 3, normalized
    TIMES_DOWN,      // 0, 1, 0.5
    SCALARS_4,
    VECTORS_2,
    SCALARS_18,
    SHARES_U8, // 6, normalized
    VECTORS_15
};

static peltt_file *clips(void)
{
    static peltt_file file;
    memset(&file, 0, sizeof file);
    float ramp[64];
    for (int i = 0; i < 64; i++) {
        ramp[i] = (float)(i + 1);
    }
    const float zeros[9] = {0};
    const float times[3] = {0, 0.5f, 1};
    const float rotations[12] = {0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0};
    const int16_t packed[12] = {0, 0, 0, 32767, 0, 0, 32767, 0, -32768, 0, 0, 0};
    const float equal[5] = {0, 0.5f, 0.5f, 0.5f, 1};
    const float down[3] = {0, 1, 0.5f};
    const int16_t shorts[18] = {0, 16384, 32767, 1, 2, 3, 4, 5, 6};
    const unsigned char bytes[8] = {0, 51, 102, 153, 204, 255};
    peltt_file_add(&file, "VEC3", PELT_COMPONENT_F32, 3, zeros, ",'min':[0,0,0],'max':[0,0,0]");
    peltt_file_add(&file, "SCALAR", PELT_COMPONENT_F32, 3, times, "");
    peltt_file_add(&file, "VEC3", PELT_COMPONENT_F32, 3, ramp, "");
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_F32, 3, rotations, "");
    peltt_file_add(&file, "SCALAR", PELT_COMPONENT_F32, 6, ramp, "");
    peltt_file_add(&file, "VEC3", PELT_COMPONENT_F32, 9, ramp, "");
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_I16, 3, packed, ",'normalized':true");
    peltt_file_add(&file, "SCALAR", PELT_COMPONENT_F32, 5, equal, "");
    peltt_file_add(&file, "VEC3", PELT_COMPONENT_F32, 5, ramp, "");
    peltt_file_add(&file, "SCALAR", PELT_COMPONENT_I16, 3, shorts, "");
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_I16, 3, packed, "");
    peltt_file_add(&file, "VEC3", PELT_COMPONENT_I16, 3, shorts, ",'normalized':true");
    peltt_file_add(&file, "SCALAR", PELT_COMPONENT_F32, 3, down, "");
    peltt_file_add(&file, "SCALAR", PELT_COMPONENT_F32, 4, ramp, "");
    peltt_file_add(&file, "VEC3", PELT_COMPONENT_F32, 2, ramp, "");
    peltt_file_add(&file, "SCALAR", PELT_COMPONENT_F32, 18, ramp, "");
    peltt_file_add(&file, "SCALAR", PELT_COMPONENT_U8, 6, bytes, ",'normalized':true");
    peltt_file_add(&file, "VEC3", PELT_COMPONENT_F32, 15, ramp, "");
    return &file;
}

// Node 0 is plain, node 1 has a mesh of two targets.
#define NODES "'nodes':[{},{'mesh':0}],'meshes':[{'primitives':[{'attributes':{'POSITION':0},'targets':[{},{}]}]}],"
#define SAMPLER(input, output, rest) "{'input':" #input ",'output':" #output rest "}"
#define CHANNEL(sampler, node, path) "{'sampler':" #sampler ",'target':{'node':" #node ",'path':'" path "'}}"
#define CLIP(channels, samplers) NODES "'animations':[{'channels':[" channels "],'samplers':[" samplers "]}]"

static void only_used_samplers_are_kept_once(void **state)
{
    (void)state;
    static const char channels[] =
        CHANNEL(3, 0, "translation") "," CHANNEL(1, 1, "rotation") "," CHANNEL(3, 1, "scale");
    static const char samplers[] =
        SAMPLER(77, 88, "") "," SAMPLER(1, 3, ",'interpolation':'STEP'") "," SAMPLER(1, 2, "") "," SAMPLER(1, 2, "");
    char json[8192];
    snprintf(json, sizeof json,
             NODES "'animations':[{'name':'walk','channels':[%s],'samplers':[%s]},"
                   "{'name':'walk','channels':[],'samplers':[]},{}]",
             channels, samplers);
    peltt_import import;
    peltt_import_run(&import, clips(), NULL, json);
    assert_int_equal(import.result, PELT_OK);
    assert_int_equal(import.log_count, 0);
    assert_int_equal(import.data->clip_count, 3);
    const pelt_clip *clip = &import.data->clips[0];
    assert_string_equal(clip->name, "walk");
    assert_string_equal(import.data->clips[1].name, "walk");
    assert_string_equal(import.data->clips[2].name, "");
    assert_true(clip->duration == 1 && import.data->clips[1].duration == 0 && import.data->clips[2].duration == 0);
    assert_int_equal(clip->channel_count, 3);
    assert_int_equal(clip->sampler_count, 2);
    assert_int_equal(clip->samplers[0].file_index, 3);
    assert_int_equal(clip->samplers[1].file_index, 1);
    assert_int_equal(clip->samplers[0].interpolation, PELT_INTERPOLATION_LINEAR);
    assert_int_equal(clip->samplers[1].interpolation, PELT_INTERPOLATION_STEP);
    assert_int_equal(clip->samplers[0].value_count, 3);
    assert_int_equal(clip->samplers[1].value_count, 4);
    assert_ptr_equal(clip->samplers[0].times, clip->samplers[1].times);
    assert_true(clip->samplers[0].values[8] == 9);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(clip->channels[i].sampler, clip->channels[i].path == PELT_PATH_ROTATION ? 1 : 0);
    }
    peltt_import_end(&import);
}

static void outputs_of_all_kinds_are_read(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(
        &import, clips(), NULL,
        CLIP(CHANNEL(0, 0, "rotation") "," CHANNEL(1, 1, "weights") "," CHANNEL(2, 1, "translation"),
             SAMPLER(1, 6, "") "," SAMPLER(1, 16, "") "," SAMPLER(1, 5, ",'interpolation':'CUBICSPLINE'")));
    assert_int_equal(import.result, PELT_OK);
    const pelt_sampler *samplers = import.data->clips[0].samplers;
    assert_true(samplers[0].values[3] == 1 && samplers[0].values[6] == 1 && samplers[0].values[8] == -1);
    assert_int_equal(samplers[1].value_count, 2);
    for (int i = 0; i < 6; i++) {
        assert_true(fabs((double)samplers[1].values[i] - 0.2 * i) < 1e-7);
    }
    assert_int_equal(samplers[2].interpolation, PELT_INTERPOLATION_CUBICSPLINE);
    assert_int_equal(samplers[2].key_count, 3);
    assert_int_equal(samplers[2].value_count, 3);
    assert_true(samplers[2].values[26] == 27);
    peltt_import_end(&import);

    peltt_import_run(&import, clips(), NULL,
                     CLIP(CHANNEL(0, 1, "weights"), SAMPLER(1, 15, ",'interpolation':'CUBICSPLINE'")));
    assert_int_equal(import.result, PELT_OK);
    assert_int_equal(import.data->clips[0].samplers[0].value_count, 2);
    peltt_import_end(&import);
}

static void equal_times_keep_the_last_when_lenient(void **state)
{
    (void)state;
    pelt_gltf_options lenient = {.lenient = true};
    peltt_import import;
    peltt_import_run(&import, clips(), &lenient,
                     CLIP(CHANNEL(0, 0, "translation") "," CHANNEL(1, 0, "scale"),
                          SAMPLER(7, 8, "") "," SAMPLER(7, 17, ",'interpolation':'CUBICSPLINE'")));
    assert_int_equal(import.result, PELT_OK);
    assert_non_null(strstr(import.log, "animation 0, sampler 0: input: 2 keys"));
    assert_non_null(strstr(import.log, "animation 0, sampler 1: input: 2 keys"));
    const pelt_sampler *samplers = import.data->clips[0].samplers;
    const float times[3] = {0, 0.5f, 1};
    const float values[9] = {1, 2, 3, 10, 11, 12, 13, 14, 15};
    assert_int_equal(samplers[0].key_count, 3);
    assert_memory_equal(samplers[0].times, times, sizeof times);
    assert_memory_equal(samplers[0].values, values, sizeof values);
    for (int i = 0; i < 9; i++) {
        assert_true(samplers[1].values[9 + i] == (float)(28 + i)); // the fourth key of nine floats each
    }
    peltt_import_end(&import);

    peltt_import_run(&import, clips(), NULL, CLIP(CHANNEL(0, 0, "translation"), SAMPLER(7, 8, "")));
    assert_int_equal(import.result, PELT_ERROR_INVALID);
    assert_non_null(strstr(import.error.message, "animation 0"));
    assert_non_null(strstr(import.error.message, "sampler 0"));
    assert_non_null(strstr(import.error.message, "input"));
    peltt_import_end(&import);

    peltt_import_run(&import, clips(), &lenient, CLIP(CHANNEL(0, 0, "translation"), SAMPLER(12, 2, "")));
    assert_int_equal(import.result, PELT_ERROR_INVALID);
    peltt_import_end(&import);
}

static void channels_that_move_nothing_are_left_out(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(
        &import, clips(), NULL,
        CLIP("{'sampler':9,'target':{'path':'rotation'}}," CHANNEL(0, 0, "translation"), SAMPLER(1, 2, "")));
    assert_int_equal(import.result, PELT_OK);
    assert_int_equal(import.log_count, 0);
    assert_int_equal(import.data->clips[0].channel_count, 1);
    assert_int_equal(import.data->clips[0].channels[0].file_index, 1);
    peltt_import_end(&import);

    peltt_import_run(
        &import, clips(), NULL,
        CLIP("{'sampler':0,'target':{'path':'pointer'}},{'sampler':0,'target':{'path':'pointer'}}", SAMPLER(1, 2, "")));
    assert_int_equal(import.result, PELT_OK);
    assert_int_equal(import.log_count, 1);
    assert_non_null(strstr(import.log, "animation 0, channel 0: KHR_animation_pointer"));
    assert_int_equal(import.data->clips[0].channel_count, 0);
    assert_int_equal(import.data->clips[0].sampler_count, 0);
    peltt_import_end(&import);

    peltt_import_run(&import, clips(), NULL, CLIP(CHANNEL(0, 0, "colour"), SAMPLER(1, 2, "")));
    assert_int_equal(import.result, PELT_OK);
    assert_non_null(strstr(import.log, "animation 0, channel 0"));
    assert_non_null(strstr(import.log, "colour"));
    peltt_import_end(&import);
}

static void broken_animations_are_refused_by_name(void **state)
{
    (void)state;
    static const peltt_verdict verdicts[] = {
        {CLIP(CHANNEL(0, 77, "rotation"), SAMPLER(1, 3, "")), PELT_ERROR_INVALID, {"animation 0, channel 0", "77"}},
        {CLIP(CHANNEL(0, 4294967296, "rotation"), SAMPLER(1, 3, "")),
         PELT_ERROR_INVALID,
         {"animation 0, channel 0", "4294967296"}},
        {CLIP(CHANNEL(3, 0, "rotation"), SAMPLER(1, 3, "")),
         PELT_ERROR_INVALID,
         {"animation 0, channel 0", "sampler", "3"}},
        {CLIP("{'target':{'node':0,'path':'rotation'}}", SAMPLER(1, 3, "")),
         PELT_ERROR_INVALID,
         {"animation 0, channel 0", "sampler"}},
        {CLIP("{'sampler':0}", SAMPLER(1, 3, "")), PELT_ERROR_INVALID, {"animation 0, channel 0: target"}},
        {CLIP("{'sampler':0,'target':{'node':0}}", SAMPLER(1, 3, "")),
         PELT_ERROR_INVALID,
         {"animation 0, channel 0", "path"}},
        {CLIP("5", ""), PELT_ERROR_INVALID, {"animation 0, channel 0"}},
        {CLIP(CHANNEL(0, 0, "rotation"), "5"), PELT_ERROR_INVALID, {"animation 0, sampler 0"}},
        {CLIP(CHANNEL(0, 0, "rotation"), "{'input':1}"), PELT_ERROR_INVALID, {"animation 0, sampler 0: output"}},
        {CLIP(CHANNEL(0, 0, "rotation"), "{'output':3}"), PELT_ERROR_INVALID, {"animation 0, sampler 0: input"}},
        {CLIP(CHANNEL(0, 0, "rotation"), SAMPLER(99, 3, "")),
         PELT_ERROR_INVALID,
         {"animation 0, sampler 0: input", "99"}},
        {CLIP(CHANNEL(0, 0, "rotation"), SAMPLER(1, 98, "")),
         PELT_ERROR_INVALID,
         {"animation 0, sampler 0: output", "98"}},
        {CLIP(CHANNEL(0, 0, "rotation"), SAMPLER(9, 3, "")),
         PELT_ERROR_INVALID,
         {"sampler 0: input is SCALAR of SHORT"}},
        {CLIP(CHANNEL(0, 0, "rotation"), SAMPLER(1, 3, ",'interpolation':'BEZIER'")),
         PELT_ERROR_INVALID,
         {"animation 0, sampler 0: interpolation", "BEZIER"}},
        {CLIP(CHANNEL(0, 0, "rotation"), SAMPLER(1, 2, "")),
         PELT_ERROR_INVALID,
         {"output is VEC3 of FLOAT", "rotation"}},
        {CLIP(CHANNEL(0, 0, "rotation"), SAMPLER(1, 10, "")),
         PELT_ERROR_INVALID,
         {"output is VEC4 of SHORT", "rotation"}},
        {CLIP(CHANNEL(0, 0, "scale"), SAMPLER(1, 3, "")), PELT_ERROR_INVALID, {"output is VEC4", "scale"}},
        {CLIP(CHANNEL(0, 0, "scale"), SAMPLER(1, 11, "")),
         PELT_OK,
         {"animation 0, sampler 0: output", "SHORT", "scale"}},
        {CLIP(CHANNEL(0, 0, "translation") "," CHANNEL(1, 1, "translation"), SAMPLER(1, 2, "") "," SAMPLER(1, 14, "")),
         PELT_ERROR_INVALID,
         {"animation 0, sampler 1: output has 2 values for 3 keys"}},
        {CLIP(CHANNEL(0, 0, "translation"), SAMPLER(1, 2, ",'interpolation':'CUBICSPLINE'")),
         PELT_ERROR_INVALID,
         {"animation 0, sampler 0: output has 3 values for 3 keys of CUBICSPLINE, which need 9"}},
        {CLIP(CHANNEL(0, 0, "translation"), SAMPLER(1, 5, "")), PELT_ERROR_INVALID, {"output has 9 values for 3 keys"}},
        {CLIP(CHANNEL(0, 1, "weights"), SAMPLER(1, 13, "")),
         PELT_ERROR_INVALID,
         {"output has 4 values for 3 keys of 2 weights, which need 6"}},
        {CLIP(CHANNEL(0, 1, "weights"), SAMPLER(1, 2, "")), PELT_ERROR_INVALID, {"output is VEC3", "weights"}},
        {CLIP(CHANNEL(0, 0, "weights"), SAMPLER(1, 4, "")), PELT_ERROR_INVALID, {"animation 0, channel 0", "node 0"}},
        {CLIP(CHANNEL(0, 1, "translation") "," CHANNEL(0, 1, "rotation"), SAMPLER(1, 2, "")),
         PELT_ERROR_INVALID,
         {"animation 0, sampler 0: output is VEC3", "rotation"}},
        {CLIP(CHANNEL(0, 0, "rotation") "," CHANNEL(0, 0, "rotation"), SAMPLER(1, 3, "")),
         PELT_ERROR_INVALID,
         {"animation 0", "channel 1", "rotation"}},
        {NODES "'animations':[{'channels':5}]", PELT_ERROR_INVALID, {"animation 0: channels"}},
        {NODES "'animations':[{'samplers':{}}]", PELT_ERROR_INVALID, {"animation 0: samplers"}},
        {NODES "'animations':[5]", PELT_ERROR_INVALID, {"animation 0"}},
    };
    peltt_import_expect(clips(), NULL, verdicts, COUNT(verdicts));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    pelt_gltf_options lenient = {.lenient = true};
    peltt_import_fail_each_allocation(
        clips(), &lenient,
        CLIP(CHANNEL(0, 0, "translation") "," CHANNEL(1, 1, "weights") "," CHANNEL(2, 0, "rotation"),
             SAMPLER(7, 8, "") "," SAMPLER(1, 16, "") "," SAMPLER(1, 6, "")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_used_samplers_are_kept_once),
        cmocka_unit_test(outputs_of_all_kinds_are_read),
        cmocka_unit_test(equal_times_keep_the_last_when_lenient),
        cmocka_unit_test(channels_that_move_nothing_are_left_out),
        cmocka_unit_test(broken_animations_are_refused_by_name),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

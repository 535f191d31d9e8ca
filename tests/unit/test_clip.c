// SPDX-License-Identifier: MIT
// Random clips and blends against the formulas of the specification, written here in double.
#include "peltt_locals.h"

// Value of a sampler by a plain scan over the keys and the formulas of the specification.
static peltt_double4 reference_value(const pelt_sampler *s, uint32_t first, uint32_t width, double time, bool rotation)
{
    bool cubic = s->interpolation == PELT_INTERPOLATION_CUBICSPLINE;
    size_t stride = (cubic ? 3 : 1) * (size_t)s->value_count;
    size_t skip = (cubic ? s->value_count : 0) + first;
    uint32_t k = 0;
    while (k + 1 < s->key_count && (double)s->times[k + 1] <= time) {
        k++;
    }
    const float *v0 = s->values + stride * k + skip;
    peltt_double4 out = {{0}};
    for (uint32_t i = 0; i < width; i++) {
        out.v[i] = (double)v0[i];
    }
    if (k + 1 == s->key_count || time <= (double)s->times[k] || s->interpolation == PELT_INTERPOLATION_STEP) {
        return out;
    }
    double distance = (double)s->times[k + 1] - (double)s->times[k];
    double t = (time - (double)s->times[k]) / distance;
    peltt_double4 next = {{0}};
    for (uint32_t i = 0; i < width; i++) {
        next.v[i] = (double)v0[stride + i];
    }
    if (!cubic && rotation) {
        return peltt_slerp(out, next, t);
    }
    for (uint32_t i = 0; i < width; i++) {
        if (cubic) {
            double b = (double)v0[s->value_count + i];
            double a = (double)v0[stride - s->value_count + i];
            out.v[i] = out.v[i] * (1 + 2 * t) * (1 - t) * (1 - t) + distance * b * t * (1 - t) * (1 - t) +
                       next.v[i] * t * t * (3 - 2 * t) + distance * a * t * t * (t - 1);
        } else {
            out.v[i] += (next.v[i] - out.v[i]) * t;
        }
    }
    return rotation && cubic ? peltt_normal4(out) : out;
}

static const pelt_channel *find_channel(const pelt_clip *clip, uint32_t node, uint32_t path)
{
    for (uint32_t i = 0; i < clip->channel_count; i++) {
        if (clip->channels[i].node == node && (uint32_t)clip->channels[i].path == path) {
            return &clip->channels[i];
        }
    }
    return NULL;
}

// The value of one path of one node; rest where the clip does not animate it.
static peltt_double4 reference_side(const pelt_asset_data *data, pelt_clip_time at, uint32_t node, uint32_t path,
                                    uint32_t weight)
{
    const pelt_node *n = &data->nodes[node];
    const pelt_clip *clip = &data->clips[at.clip];
    const pelt_channel *channel = find_channel(clip, node, path);
    if (channel) {
        uint32_t width = path == PELT_PATH_WEIGHTS ? 1 : path == PELT_PATH_ROTATION ? 4 : 3;
        return reference_value(&clip->samplers[channel->sampler], weight, width, at.time, path == PELT_PATH_ROTATION);
    }
    switch (path) {
    case PELT_PATH_TRANSLATION:
        return (peltt_double4){
            {(double)n->rest.translation.x, (double)n->rest.translation.y, (double)n->rest.translation.z}};
    case PELT_PATH_ROTATION:
        return peltt_from_quat(n->rest.rotation);
    case PELT_PATH_SCALE:
        return (peltt_double4){{(double)n->rest.scale.x, (double)n->rest.scale.y, (double)n->rest.scale.z}};
    default:
        return (peltt_double4){{(double)data->rest_weights[n->first_weight + weight]}};
    }
}

static peltt_double4 local_value(const peltt_locals *f, uint32_t node, uint32_t path, uint32_t weight)
{
    const pelt_trs *trs = &f->locals.transforms[node];
    switch (path) {
    case PELT_PATH_TRANSLATION:
        return (peltt_double4){{(double)trs->translation.x, (double)trs->translation.y, (double)trs->translation.z}};
    case PELT_PATH_ROTATION:
        return peltt_from_quat(trs->rotation);
    case PELT_PATH_SCALE:
        return (peltt_double4){{(double)trs->scale.x, (double)trs->scale.y, (double)trs->scale.z}};
    default:
        return (peltt_double4){{(double)f->locals.weights[f->data->nodes[node].first_weight + weight]}};
    }
}

static void expect_near(peltt_double4 got, peltt_double4 expected, bool rotation)
{
    if (rotation) {
        peltt_expect_rotation((pelt_quat){(float)got.v[0], (float)got.v[1], (float)got.v[2], (float)got.v[3]}, expected,
                              1.3e-7);
        return;
    }
    for (int i = 0; i < 4; i++) {
        assert_true(fabs(got.v[i] - expected.v[i]) <= 1e-7 * fmax(1.0, fabs(expected.v[i])));
    }
}

static const pelt_trs sentinel = {{11, 12, 13}, {0.5F, 0.5F, 0.5F, 0.5F}, {14, 15, 16}};

static void fill_sentinels(peltt_locals *f)
{
    for (uint32_t i = 0; i < f->data->node_count; i++) {
        f->locals.transforms[i] = sentinel;
    }
    for (uint32_t i = 0; i < f->data->rest_weight_count; i++) {
        f->locals.weights[i] = 99.0F;
    }
}

// Checks every path of every node against the reference of a blend, which is a sample where weight is 0 and b is NULL;
// what is not animated must still be the sentinel.
static void expect_blend(const peltt_locals *f, pelt_clip_time a, const pelt_clip_time *b, double weight)
{
    peltt_locals untouched = *f;
    pelt_trs *transforms = malloc(f->data->node_count * sizeof *transforms);
    for (uint32_t i = 0; i < f->data->node_count; i++) {
        transforms[i] = sentinel;
    }
    untouched.locals.transforms = transforms;
    for (uint32_t node = 0; node < f->data->node_count; node++) {
        for (uint32_t path = 0; path < 4; path++) {
            uint32_t parts = path == PELT_PATH_WEIGHTS ? f->data->nodes[node].weight_count : 1;
            bool animated = find_channel(&f->data->clips[a.clip], node, path) ||
                            (b && find_channel(&f->data->clips[b->clip], node, path));
            for (uint32_t k = 0; k < parts; k++) {
                peltt_double4 got = local_value(f, node, path, k);
                if (!animated) {
                    peltt_double4 kept =
                        path == PELT_PATH_WEIGHTS ? (peltt_double4){{99}} : local_value(&untouched, node, path, k);
                    assert_memory_equal(&got, &kept, sizeof got);
                    continue;
                }
                peltt_double4 expected = reference_side(f->data, a, node, path, k);
                if (b && path == PELT_PATH_ROTATION) {
                    expected = peltt_slerp(expected, reference_side(f->data, *b, node, path, k), weight);
                } else if (b) {
                    peltt_double4 other = reference_side(f->data, *b, node, path, k);
                    for (int i = 0; i < 4; i++) {
                        expected.v[i] = (1.0 - weight) * expected.v[i] + weight * other.v[i];
                    }
                }
                expect_near(got, expected, path == PELT_PATH_ROTATION);
            }
        }
    }
    free(transforms);
}

static const peltt_asset_shape busy = {.node_count = 24,
                                       .skin_count = 1,
                                       .joint_count = 8,
                                       .clip_count = 3,
                                       .target_count = 3,
                                       .root_share = 0.1,
                                       .chain_share = 0.4,
                                       .matrix_share = 0.2,
                                       .morph_share = 0.3};

static void random_clips_agree_with_the_specification(void **state)
{
    (void)state;
    peltt_random random = {4};
    for (uint32_t round = 0; round < 300; round++) {
        peltt_locals f = peltt_locals_make(peltt_asset_random(&busy, &random));
        for (uint32_t i = 0; i < 12; i++) {
            pelt_clip_time a = {i % 3, peltt_random_unit(&random) * 3.0 - 0.3};
            fill_sentinels(&f);
            assert_int_equal(pelt_clip_sample(f.asset, a.clip, a.time, &f.locals), PELT_OK);
            expect_blend(&f, a, NULL, 0.0);
        }
        peltt_locals_free(&f);
    }
}

static void random_blends_agree_with_the_reference(void **state)
{
    (void)state;
    peltt_random random = {5};
    for (uint32_t round = 0; round < 300; round++) {
        peltt_locals f = peltt_locals_make(peltt_asset_random(&busy, &random));
        for (uint32_t i = 0; i < 12; i++) {
            pelt_clip_time a = {peltt_random_below(&random, 3), peltt_random_unit(&random) * 3.0};
            pelt_clip_time b = {peltt_random_below(&random, 3), peltt_random_unit(&random) * 3.0};
            double weight = peltt_random_unit(&random) * 1.4 - 0.2;
            fill_sentinels(&f);
            assert_int_equal(pelt_clip_blend(f.asset, a, b, weight, &f.locals), PELT_OK);
            expect_blend(&f, a, &b, fmin(fmax(weight, 0.0), 1.0));
        }
        peltt_locals_free(&f);
    }
}

static void blend_ends_are_the_clips_over_rest(void **state)
{
    (void)state;
    peltt_random random = {6};
    for (uint32_t round = 0; round < 200; round++) {
        peltt_locals f = peltt_locals_make(peltt_asset_random(&busy, &random));
        pelt_clip_time clips[2] = {{0, peltt_random_unit(&random) * 2.0}, {1, peltt_random_unit(&random) * 2.0}};
        size_t transforms_size = f.data->node_count * sizeof(pelt_trs);
        size_t weights_size = f.data->rest_weight_count * sizeof(float);
        pelt_trs *transforms = malloc(transforms_size);
        float *weights = malloc(weights_size + 1);
        const double ends[] = {-7.0, 0.0, 1.0, 1e300, -(double)INFINITY, (double)INFINITY};
        const uint32_t sides[] = {0, 0, 1, 1, 0, 1};
        for (uint32_t i = 0; i < PELTT_COUNT(ends); i++) {
            pelt_locals_rest(f.asset, &f.locals);
            assert_int_equal(pelt_clip_blend(f.asset, clips[0], clips[1], ends[i], &f.locals), PELT_OK);
            memcpy(transforms, f.locals.transforms, transforms_size);
            memcpy(weights, f.locals.weights, weights_size);
            pelt_locals_rest(f.asset, &f.locals);
            pelt_clip_sample(f.asset, sides[i], clips[sides[i]].time, &f.locals);
            assert_memory_equal(transforms, f.locals.transforms, transforms_size);
            assert_memory_equal(weights, f.locals.weights, weights_size);
        }
        // A clip blended with itself is itself at any weight.
        pelt_clip_blend(f.asset, clips[0], clips[0], 0.37, &f.locals);
        pelt_clip_sample(f.asset, 0, clips[0].time, &f.locals);
        memcpy(transforms, f.locals.transforms, transforms_size);
        pelt_clip_blend(f.asset, clips[0], clips[0], 0.37, &f.locals);
        assert_memory_equal(transforms, f.locals.transforms, transforms_size);
        free(transforms);
        free(weights);
        peltt_locals_free(&f);
    }
}

static void blend_ends_keep_the_sign_of_zero(void **state)
{
    (void)state;
    const float times[] = {0};
    const float a[] = {-0.0F, 1, 2};
    const float b[] = {3, -0.0F, 4};
    const peltt_track tracks[] = {{0, PELT_PATH_TRANSLATION, PELT_INTERPOLATION_STEP, 1, times, a},
                                  {0, PELT_PATH_TRANSLATION, PELT_INTERPOLATION_STEP, 1, times, b}};
    const peltt_clip clips[] = {{1, &tracks[0]}, {1, &tracks[1]}};
    peltt_node node = {.parent = PELT_NONE, .rest = pelt_trs_identity()};
    peltt_locals f = peltt_locals_make(
        peltt_asset_make(&(peltt_scene){.node_count = 1, .nodes = &node, .clip_count = 2, .clips = clips}));
    const pelt_clip_time from = {0, 0.0};
    const pelt_clip_time to = {1, 0.0};
    assert_int_equal(pelt_clip_blend(f.asset, from, to, 0.0, &f.locals), PELT_OK);
    assert_memory_equal(&f.locals.transforms[0].translation, a, sizeof a);
    assert_int_equal(pelt_clip_blend(f.asset, from, to, 1.0, &f.locals), PELT_OK);
    assert_memory_equal(&f.locals.transforms[0].translation, b, sizeof b);
    peltt_locals_free(&f);
}

static void flags_tell_exactly_what_changed(void **state)
{
    (void)state;
    peltt_random random = {7};
    for (uint32_t round = 0; round < 300; round++) {
        peltt_locals f = peltt_locals_make(peltt_asset_random(&busy, &random));
        size_t nodes = f.data->node_count;
        pelt_trs *before = malloc(nodes * sizeof *before);
        float *weights = malloc(f.data->rest_weight_count * sizeof(float) + 1);
        for (uint32_t i = 0; i < 6; i++) {
            memcpy(before, f.locals.transforms, nodes * sizeof *before);
            memcpy(weights, f.locals.weights, f.data->rest_weight_count * sizeof(float));
            memset(f.locals.transform_changed, 0, nodes);
            memset(f.locals.weights_changed, 0, nodes);
            // Every other time the same moment once more: nothing may be flagged.
            pelt_clip_sample(f.asset, 0, 0.3 * (i / 2), &f.locals);
            for (uint32_t k = 0; k < nodes; k++) {
                const pelt_node *node = &f.data->nodes[k];
                bool moved = memcmp(&before[k], &f.locals.transforms[k], sizeof *before) != 0;
                bool morphed = memcmp(weights + node->first_weight, f.locals.weights + node->first_weight,
                                      node->weight_count * sizeof(float)) != 0;
                assert_int_equal(f.locals.transform_changed[k], moved);
                assert_int_equal(f.locals.weights_changed[k], morphed);
                assert_true(i % 2 == 0 || !moved);
            }
        }
        free(before);
        free(weights);
        peltt_locals_free(&f);
    }
}

static void unwanted_flags_may_be_null(void **state)
{
    (void)state;
    peltt_random random = {8};
    peltt_locals f = peltt_locals_make(peltt_asset_random(&busy, &random));
    peltt_locals g = peltt_locals_make(peltt_asset_random(&busy, &(peltt_random){8}));
    pelt_locals bare = {.transforms = g.locals.transforms, .weights = g.locals.weights};
    pelt_clip_sample(f.asset, 1, 0.7, &f.locals);
    assert_int_equal(pelt_clip_sample(g.asset, 1, 0.7, &bare), PELT_OK);
    assert_memory_equal(f.locals.transforms, bare.transforms, f.data->node_count * sizeof(pelt_trs));
    assert_int_equal(pelt_clip_blend(g.asset, (pelt_clip_time){0, 0.1}, (pelt_clip_time){1, 0.2}, 0.5, &bare), PELT_OK);
    assert_int_equal(pelt_locals_rest(g.asset, &bare), PELT_OK);
    for (uint32_t i = 0; i < g.data->node_count; i++) {
        assert_memory_equal(&bare.transforms[i], &g.data->nodes[i].rest, sizeof(pelt_trs));
    }
    peltt_locals_free(&f);
    peltt_locals_free(&g);
}

static void rest_brings_everything_back_and_flags_what_differs(void **state)
{
    (void)state;
    peltt_random random = {9};
    peltt_locals f = peltt_locals_make(peltt_asset_random(&busy, &random));
    size_t nodes = f.data->node_count;
    for (uint32_t i = 0; i < nodes; i++) {
        assert_int_equal(f.locals.uses_matrix[i], f.data->nodes[i].has_matrix);
    }
    assert_int_equal(pelt_locals_rest(f.asset, &f.locals), PELT_OK);
    for (uint32_t i = 0; i < nodes; i++) {
        assert_int_equal(f.locals.transform_changed[i] | f.locals.weights_changed[i], 0);
    }
    uint32_t plain = 0;
    uint32_t matrix = 0;
    while (f.data->nodes[plain].has_matrix) {
        plain++;
    }
    while (!f.data->nodes[matrix].has_matrix) {
        matrix++;
    }
    f.locals.transforms[plain].scale.y += 1.0F;
    f.locals.uses_matrix[matrix] = 0;
    assert_int_equal(pelt_locals_rest(f.asset, &f.locals), PELT_OK);
    for (uint32_t i = 0; i < nodes; i++) {
        assert_int_equal(f.locals.transform_changed[i], i == plain || i == matrix);
        assert_memory_equal(&f.locals.transforms[i], &f.data->nodes[i].rest, sizeof(pelt_trs));
    }
    assert_int_equal(f.locals.uses_matrix[matrix], 1);
    peltt_locals_free(&f);
}

static void wrong_arguments_write_nothing(void **state)
{
    (void)state;
    peltt_random random = {10};
    peltt_locals f = peltt_locals_make(peltt_asset_random(&busy, &random));
    const pelt_clip_time good = {0, 0.5};
    const pelt_clip_time bad[] = {
        {3, 0.5}, {PELT_NONE, 0.5}, {0, (double)NAN}, {0, (double)INFINITY}, {1, -(double)INFINITY}};
    const pelt_locals no_transforms = {.weights = f.locals.weights};
    const pelt_locals no_weights = {.transforms = f.locals.transforms};
    fill_sentinels(&f);
    for (uint32_t i = 0; i < PELTT_COUNT(bad); i++) {
        assert_int_equal(pelt_clip_sample(f.asset, bad[i].clip, bad[i].time, &f.locals), PELT_ERROR_ARGUMENT);
        assert_int_equal(pelt_clip_blend(f.asset, bad[i], good, 0.5, &f.locals), PELT_ERROR_ARGUMENT);
        assert_int_equal(pelt_clip_blend(f.asset, good, bad[i], 0.5, &f.locals), PELT_ERROR_ARGUMENT);
    }
    const pelt_locals *targets[] = {NULL, &no_transforms, &no_weights};
    for (uint32_t i = 0; i < PELTT_COUNT(targets); i++) {
        assert_int_equal(pelt_clip_sample(f.asset, 0, 0.5, targets[i]), PELT_ERROR_ARGUMENT);
        assert_int_equal(pelt_clip_blend(f.asset, good, good, 0.5, targets[i]), PELT_ERROR_ARGUMENT);
        assert_int_equal(pelt_locals_rest(f.asset, targets[i]), PELT_ERROR_ARGUMENT);
    }
    assert_int_equal(pelt_clip_sample(NULL, 0, 0.5, &f.locals), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_clip_blend(NULL, good, good, 0.5, &f.locals), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_locals_rest(NULL, &f.locals), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_clip_blend(f.asset, good, good, (double)NAN, &f.locals), PELT_ERROR_ARGUMENT);
    for (uint32_t i = 0; i < f.data->node_count; i++) {
        assert_memory_equal(&f.locals.transforms[i], &sentinel, sizeof sentinel);
        assert_int_equal(f.locals.transform_changed[i] | f.locals.weights_changed[i], 0);
    }
    for (uint32_t i = 0; i < f.data->rest_weight_count; i++) {
        assert_true(f.locals.weights[i] == 99.0F);
    }
    peltt_locals_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_write_nothing),
        cmocka_unit_test(random_clips_agree_with_the_specification),
        cmocka_unit_test(random_blends_agree_with_the_reference),
        cmocka_unit_test(blend_ends_are_the_clips_over_rest),
        cmocka_unit_test(blend_ends_keep_the_sign_of_zero),
        cmocka_unit_test(flags_tell_exactly_what_changed),
        cmocka_unit_test(unwanted_flags_may_be_null),
        cmocka_unit_test(rest_brings_everything_back_and_flags_what_differs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// The skin job's contract: refusals leave every output alone, layouts of any stride give the same values, and no byte
// outside the streams is touched.
#include <pelt/skin.h>

#include "peltt_guarded.h"
#include "peltt_isa.h"
#include "peltt_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    COUNT = 9,
    JOINTS = 3,
    INFLUENCES = 2
};

// A job with every stream, padded so that a test can shift or stretch any of them.
typedef struct fixture {
    pelt_mat34 palette[JOINTS];
    uint16_t joints[COUNT * INFLUENCES + 8];
    float weights[COUNT * INFLUENCES + 8];
    float positions[COUNT * 8];
    float normals[COUNT * 8];
    float tangents[COUNT * 8];
    float deltas[COUNT * 3];
    pelt_skin_morph morph;
    float out_positions[COUNT * 8];
    float out_normals[COUNT * 8];
    float out_tangents[COUNT * 8];
    uint8_t out_mirrored[COUNT * 8];
    pelt_box box;
    pelt_skin_job job;
} fixture;

static void set_up(fixture *f)
{
    memset(f, 0x3C, sizeof *f); // floats near 0.01
    for (int j = 0; j < JOINTS; j++) {
        f->palette[j] = pelt_mat34_identity();
        f->palette[j].m[0][3] = (float)j;
    }
    for (int i = 0; i < COUNT * INFLUENCES; i++) {
        f->joints[i] = (uint16_t)(i % JOINTS);
        f->weights[i] = 0.5F;
    }
    f->morph = (pelt_skin_morph){0.5F, f->deltas, f->deltas, f->deltas};
    f->job = (pelt_skin_job){.isa = peltt_isa,
                             .vertex_count = COUNT,
                             .palette_count = JOINTS,
                             .palette = f->palette,
                             .influence_count = INFLUENCES,
                             .joints = f->joints,
                             .weights = f->weights,
                             .positions = f->positions,
                             .normals = f->normals,
                             .tangents = f->tangents,
                             .morph_count = 1,
                             .morphs = &f->morph,
                             .out_positions = f->out_positions,
                             .out_normals = f->out_normals,
                             .out_tangents = f->out_tangents,
                             .out_mirrored = f->out_mirrored,
                             .box = &f->box};
}

// Evaluates and expects a refusal that wrote nothing, inputs included.
static void assert_refused(fixture *f, const char *what)
{
    fixture before = *f;
    pelt_result result = pelt_skin_evaluate(&f->job);
    if (result != PELT_ERROR_ARGUMENT || memcmp(&before, f, sizeof before) != 0) {
        fail_msg("%s: %s", what, result == PELT_ERROR_ARGUMENT ? "something was written" : pelt_result_name(result));
    }
}

#define REFUSES(...)                                                                                                   \
    do {                                                                                                               \
        fixture f;                                                                                                     \
        set_up(&f);                                                                                                    \
        __VA_ARGS__;                                                                                                   \
        assert_refused(&f, #__VA_ARGS__);                                                                              \
    } while (0)

#define ACCEPTS(...)                                                                                                   \
    do {                                                                                                               \
        fixture f;                                                                                                     \
        set_up(&f);                                                                                                    \
        __VA_ARGS__;                                                                                                   \
        if (pelt_skin_evaluate(&f.job) != PELT_OK) {                                                                   \
            fail_msg("refused: %s", #__VA_ARGS__);                                                                     \
        }                                                                                                              \
    } while (0)

static void missing_streams_are_refused(void **state)
{
    (void)state;
    assert_int_equal(pelt_skin_evaluate(NULL), PELT_ERROR_ARGUMENT);
    REFUSES(f.job.palette = NULL);
    REFUSES(f.job.palette_count = 0);
    REFUSES(f.job.joints = NULL);
    REFUSES(f.job.weights = NULL);
    REFUSES(f.job.positions = NULL);
    REFUSES(f.job.normals = NULL);
    REFUSES(f.job.tangents = NULL);
    REFUSES(f.job.morphs = NULL);
    REFUSES(f.job.flags = 2);
    REFUSES(f.job.flags = 0x80000001U);
    REFUSES(f.morph.weight = NAN);
    REFUSES(f.morph.weight = -INFINITY);
    ACCEPTS((void)f);
    ACCEPTS(f.job.normals = NULL; f.job.out_normals = NULL);
    ACCEPTS(f.job.tangents = NULL; f.job.out_tangents = NULL);
    ACCEPTS(f.job.influence_count = 0; f.job.joints = NULL; f.job.weights = NULL);
    ACCEPTS(f.job.morph_count = 0; f.job.morphs = NULL);
    ACCEPTS(f.job.out_positions = NULL; f.job.out_normals = NULL; f.job.out_tangents = NULL; f.job.out_mirrored = NULL;
            f.job.box = NULL);
}

static void bad_strides_and_alignments_are_refused(void **state)
{
    (void)state;
    REFUSES(f.job.positions_stride = 8);
    REFUSES(f.job.positions_stride = 14);
    REFUSES(f.job.normals_stride = 4);
    REFUSES(f.job.normals_stride = 17);
    REFUSES(f.job.tangents_stride = 12);
    REFUSES(f.job.tangents_stride = 18);
    REFUSES(f.job.joints_stride = 2);
    REFUSES(f.job.joints_stride = 5);
    REFUSES(f.job.weights_stride = 4);
    REFUSES(f.job.weights_stride = 10);
    REFUSES(f.job.out_positions_stride = 8);
    REFUSES(f.job.out_positions_stride = 13);
    REFUSES(f.job.out_normals_stride = 11);
    REFUSES(f.job.out_tangents_stride = 15);
    REFUSES(f.job.positions_stride = SIZE_MAX / 2 + 1);
    REFUSES(f.job.out_positions_stride = SIZE_MAX - 3);
    REFUSES(f.job.joints_stride = SIZE_MAX - 1);
    REFUSES(f.job.influence_count = UINT32_MAX);
    ACCEPTS(f.job.positions_stride = 20; f.job.normals_stride = 28; f.job.tangents_stride = 32);
    ACCEPTS(f.job.out_positions_stride = 16; f.job.out_normals_stride = 12; f.job.out_tangents_stride = 20;
            f.job.out_mirrored_stride = 7);
    const char *bytes = NULL;
    REFUSES(bytes = (const char *)f.palette + 2; f.job.palette = (const void *)bytes; f.job.palette_count = 1);
    REFUSES(bytes = (const char *)f.joints + 1; f.job.joints = (const void *)bytes);
    REFUSES(bytes = (const char *)f.weights + 2; f.job.weights = (const void *)bytes);
    REFUSES(bytes = (const char *)f.positions + 1; f.job.positions = (const void *)bytes);
    REFUSES(bytes = (const char *)f.normals + 2; f.job.normals = (const void *)bytes);
    REFUSES(bytes = (const char *)f.tangents + 3; f.job.tangents = (const void *)bytes);
    REFUSES(bytes = (const char *)f.deltas + 2; f.morph.positions = (const void *)bytes);
    REFUSES(bytes = (const char *)f.deltas + 2; f.morph.normals = (const void *)bytes);
    REFUSES(bytes = (const char *)f.deltas + 2; f.morph.tangents = (const void *)bytes);
    char *out = NULL;
    REFUSES(out = (char *)f.out_positions + 2; f.job.out_positions = (void *)out);
    REFUSES(out = (char *)f.out_normals + 1; f.job.out_normals = (void *)out);
    REFUSES(out = (char *)f.out_tangents + 2; f.job.out_tangents = (void *)out);
    REFUSES(out = (char *)f.out_normals + 2; f.job.out_normals = NULL; f.job.box = (void *)out);
}

static void joints_out_of_range_are_refused_where_they_have_weight(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT * INFLUENCES; i++) {
        REFUSES(f.joints[i] = JOINTS);
        REFUSES(f.joints[i] = UINT16_MAX);
        REFUSES(f.joints[i] = JOINTS; f.weights[i] = 1e-45F);
        REFUSES(f.joints[i] = JOINTS; f.weights[i] = NAN);
        ACCEPTS(f.joints[i] = JOINTS; f.weights[i] = 0.0F);
        ACCEPTS(f.joints[i] = UINT16_MAX; f.weights[i] = -0.0F);
    }
    // Strided joints: what lies between the vertices is nobody's.
    ACCEPTS(f.job.influence_count = 1; f.job.joints_stride = 4; f.joints[1] = UINT16_MAX; f.joints[17] = UINT16_MAX);
    REFUSES(f.job.influence_count = 1; f.job.joints_stride = 4; f.joints[16] = JOINTS);
    REFUSES(f.job.palette_count = 2);
}

// In the second of many tasks, nothing of the first may be written either.
static void a_late_bad_joint_leaves_all_outputs_alone(void **state)
{
    (void)state;
    enum {
        LARGE = 20000
    };
    uint16_t *joints = calloc(LARGE, sizeof *joints);
    float *weights = malloc(LARGE * sizeof *weights);
    float *positions = calloc(LARGE, 12);
    float *out = calloc(LARGE, 12);
    assert_true(joints && weights && positions && out);
    for (int i = 0; i < LARGE; i++) {
        weights[i] = 1.0F;
        out[i] = -7.0F;
    }
    const pelt_mat34 identity = pelt_mat34_identity();
    pelt_pool *pool = NULL;
    assert_int_equal(pelt_pool_create(3, NULL, &pool), PELT_OK);
    const pelt_parallel parallel = pelt_pool_parallel(pool);
    pelt_box box = {{1, 2, 3}, {4, 5, 6}};
    pelt_skin_job job = {.isa = peltt_isa,
                         .vertex_count = LARGE,
                         .palette_count = 1,
                         .palette = &identity,
                         .influence_count = 1,
                         .joints = joints,
                         .weights = weights,
                         .positions = positions,
                         .out_positions = out,
                         .box = &box,
                         .parallel = &parallel};
    joints[LARGE - 1] = 1;
    assert_int_equal(pelt_skin_evaluate(&job), PELT_ERROR_ARGUMENT);
    for (int i = 0; i < LARGE; i++) {
        assert_true(out[i] == -7.0F);
    }
    assert_true(box.min[0] == 1.0F && box.max[2] == 6.0F);
    joints[LARGE - 1] = 0;
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    assert_true(out[0] == 0.0F && box.max[2] == 0.0F);
    pelt_pool_destroy(pool);
    free(joints);
    free(weights);
    free(positions);
    free(out);
}

static void outputs_over_inputs_are_refused(void **state)
{
    (void)state;
    REFUSES(f.job.out_positions = f.positions);
    REFUSES(f.job.out_positions = f.positions + COUNT * 3 - 1);
    REFUSES(f.job.positions = f.out_positions + COUNT * 3 - 1);
    REFUSES(f.job.out_normals = f.normals);
    REFUSES(f.job.out_normals = f.positions);
    REFUSES(f.job.out_tangents = f.tangents);
    REFUSES(f.job.out_tangents = f.weights);
    REFUSES(f.job.out_positions = &f.palette[2].m[2][3]);
    REFUSES(f.job.out_mirrored = (uint8_t *)f.joints);
    REFUSES(f.job.out_mirrored = (uint8_t *)f.joints + COUNT * INFLUENCES * 2 - 1);
    REFUSES(f.job.out_mirrored = (uint8_t *)f.weights + 3);
    REFUSES(f.job.out_mirrored = (uint8_t *)&f.morph);
    REFUSES(f.job.out_positions = f.deltas);
    REFUSES(f.job.out_normals = f.deltas; f.morph.positions = NULL; f.morph.tangents = NULL);
    REFUSES(f.job.out_tangents = f.deltas; f.morph.positions = NULL; f.morph.normals = NULL);
    REFUSES(f.job.box = (pelt_box *)(void *)(f.positions + COUNT * 3 - 1));
    REFUSES(f.job.box = (pelt_box *)(void *)&f.palette[1].m[0][0]);
    REFUSES(f.job.box = (pelt_box *)(void *)f.deltas);
    // The box alone reads positions too.
    REFUSES(f.job.out_positions = NULL; f.job.box = (pelt_box *)(void *)f.positions);
    // What no wanted output needs is not read.
    ACCEPTS(f.job.out_positions = f.normals; f.job.out_normals = NULL);
    ACCEPTS(f.job.out_positions = f.tangents; f.job.out_tangents = NULL);
    ACCEPTS(f.job.out_positions = f.deltas; f.morph.weight = 0.0F);
    ACCEPTS(f.job.out_positions = f.weights; f.job.influence_count = 0; f.job.vertex_count = 4);
    ACCEPTS(f.job.out_positions = f.positions + COUNT * 3);
    const float *nowhere = (const float *)(uintptr_t)4096; // no such page
    ACCEPTS(f.job.positions = nowhere; f.job.out_positions = NULL; f.job.box = NULL);
    ACCEPTS(f.job.positions = nowhere; f.job.out_positions = NULL; f.job.box = NULL; f.job.out_normals = NULL;
            f.job.out_tangents = NULL);
}

static void outputs_over_outputs_are_refused(void **state)
{
    (void)state;
    REFUSES(f.job.out_normals = f.out_positions);
    REFUSES(f.job.out_normals = f.out_positions + COUNT * 3 - 1);
    REFUSES(f.job.out_positions = f.out_normals + COUNT * 3 - 1);
    REFUSES(f.job.out_tangents = f.out_normals + 2);
    REFUSES(f.job.out_mirrored = (uint8_t *)f.out_positions + 11);
    REFUSES(f.job.box = (pelt_box *)(void *)f.out_positions);
    REFUSES(f.job.box = (pelt_box *)(void *)(f.out_positions + COUNT * 3 - 1));
    ACCEPTS(f.job.box = (pelt_box *)(void *)(f.out_positions + COUNT * 3));
    ACCEPTS(f.job.out_normals = f.out_positions + COUNT * 3);
}

static void interleaving_is_told_from_overlap(void **state)
{
    (void)state;
    // Position and normal side by side in 24 or 32 bytes.
    ACCEPTS(f.job.out_normals = f.out_positions + 3; f.job.out_positions_stride = 24; f.job.out_normals_stride = 24);
    ACCEPTS(f.job.out_normals = f.out_positions + 5; f.job.out_positions_stride = 32; f.job.out_normals_stride = 32);
    ACCEPTS(f.job.out_positions = f.out_normals + 5; f.job.out_positions_stride = 32; f.job.out_normals_stride = 32);
    // Starting in a later vertex, at the same place of the period.
    ACCEPTS(f.job.out_normals = f.out_positions + 8 + 3; f.job.out_positions_stride = 32; f.job.out_normals_stride = 32;
            f.job.vertex_count = COUNT - 1);
    REFUSES(f.job.out_normals = f.out_positions + 8 + 2; f.job.out_positions_stride = 32; f.job.out_normals_stride = 32;
            f.job.vertex_count = COUNT - 1);
    REFUSES(f.job.out_normals = f.out_positions + 2; f.job.out_positions_stride = 24; f.job.out_normals_stride = 24);
    REFUSES(f.job.out_normals = f.out_positions + 4; f.job.out_positions_stride = 24; f.job.out_normals_stride = 24);
    REFUSES(f.job.out_positions = f.out_normals + 4; f.job.out_positions_stride = 24; f.job.out_normals_stride = 24);
    REFUSES(f.job.out_normals = f.out_positions + 3; f.job.out_positions_stride = 24; f.job.out_normals_stride = 28);
    // Outputs between inputs of one vertex structure.
    ACCEPTS(f.job.out_positions = f.positions + 4; f.job.positions_stride = 32; f.job.out_positions_stride = 32);
    REFUSES(f.job.out_positions = f.positions + 2; f.job.positions_stride = 32; f.job.out_positions_stride = 32);
    ACCEPTS(f.job.out_mirrored = (uint8_t *)(f.positions + 7) + 3; f.job.positions_stride = 32;
            f.job.out_mirrored_stride = 32);
    REFUSES(f.job.out_mirrored = (uint8_t *)(f.positions + 2) + 3; f.job.positions_stride = 32;
            f.job.out_mirrored_stride = 32);
    // A box in the gap of one vertex.
    ACCEPTS(f.job.box = (pelt_box *)(void *)(f.out_tangents + 4); f.job.out_tangents = NULL;
            f.job.out_positions = f.out_tangents; f.job.out_positions_stride = 48; f.job.vertex_count = 4);
    REFUSES(f.job.box = (pelt_box *)(void *)(f.out_tangents + 7); f.job.out_tangents = NULL;
            f.job.out_positions = f.out_tangents; f.job.out_positions_stride = 48; f.job.vertex_count = 4);
    // One vertex: strides do not matter.
    ACCEPTS(f.job.vertex_count = 1; f.job.out_normals = f.out_positions + 3; f.job.out_positions_stride = 64);
    REFUSES(f.job.vertex_count = 1; f.job.out_normals = f.out_positions + 2; f.job.out_positions_stride = 64);
}

static void no_vertices_give_the_empty_box(void **state)
{
    (void)state;
    fixture f;
    set_up(&f);
    f.job.vertex_count = 0;
    fixture before = f;
    assert_int_equal(pelt_skin_evaluate(&f.job), PELT_OK);
    assert_true(pelt_box_is_empty(&f.box));
    assert_true(f.box.min[1] == INFINITY && f.box.max[1] == -INFINITY);
    before.box = f.box;
    assert_memory_equal(&before, &f, sizeof f);
    pelt_box box;
    pelt_skin_job nothing = {.isa = peltt_isa, .box = &box};
    assert_int_equal(pelt_skin_evaluate(&nothing), PELT_OK);
    assert_true(pelt_box_is_empty(&box));
    nothing.box = NULL;
    assert_int_equal(pelt_skin_evaluate(&nothing), PELT_OK);
    nothing.positions_stride = 5;
    assert_int_equal(pelt_skin_evaluate(&nothing), PELT_ERROR_ARGUMENT);
}

// --- streams that end (or begin) at an unmapped page

// One stream in both layouts: tight beside a guard page, and the same values at the given stride in plain memory.
typedef struct layout {
    size_t size; // of an element
    size_t stride;
    bool is_output;
    peltt_guarded tight;
    uint8_t *strided;
} layout;

enum {
    L_JOINTS,
    L_WEIGHTS,
    L_POSITIONS,
    L_NORMALS,
    L_TANGENTS,
    L_DELTAS,
    L_OUT_POSITIONS,
    L_OUT_NORMALS,
    L_OUT_TANGENTS,
    L_OUT_MIRRORED,
    LAYOUT_COUNT,
    GUARD_INFLUENCES = 5,
    VERTEX_LIMIT = 130
};

static const layout layout_shapes[LAYOUT_COUNT] = {
    [L_JOINTS] = {.size = 10, .stride = 14},
    [L_WEIGHTS] = {.size = 20, .stride = 28},
    [L_POSITIONS] = {.size = 12, .stride = 20},
    [L_NORMALS] = {.size = 12, .stride = 44},
    [L_TANGENTS] = {.size = 16, .stride = 16},
    [L_DELTAS] = {.size = 12, .stride = 12},
    [L_OUT_POSITIONS] = {.size = 12, .stride = 16, .is_output = true},
    [L_OUT_NORMALS] = {.size = 12, .stride = 28, .is_output = true},
    [L_OUT_TANGENTS] = {.size = 16, .stride = 36, .is_output = true},
    [L_OUT_MIRRORED] = {.size = 1, .stride = 3, .is_output = true},
};

static void fill_layout(int which, uint8_t *element, uint32_t joint_count, peltt_random *random)
{
    if (which == L_JOINTS) {
        for (int i = 0; i < GUARD_INFLUENCES; i++) {
            uint16_t joint = (uint16_t)peltt_random_below(random, joint_count);
            memcpy(element + i * 2, &joint, sizeof joint);
        }
        return;
    }
    for (size_t i = 0; i < layout_shapes[which].size / sizeof(float); i++) {
        float low = which == L_WEIGHTS ? 0.0F : -1.0F;
        float value = peltt_random_float(random, low, which == L_WEIGHTS ? 0.4F : 1.0F);
        memcpy(element + i * sizeof value, &value, sizeof value);
    }
}

static void make_layouts(layout *layouts, uint32_t count, bool at_end, peltt_random *random)
{
    for (int l = 0; l < LAYOUT_COUNT; l++) {
        layouts[l] = layout_shapes[l];
        layouts[l].tight = peltt_guarded_make(layouts[l].size * count, at_end);
        layouts[l].strided = malloc(layouts[l].stride * count + 1);
        assert_non_null(layouts[l].strided);
        memset(layouts[l].strided, 0xCC, layouts[l].stride * count + 1);
        for (uint32_t v = 0; v < count && !layouts[l].is_output; v++) {
            fill_layout(l, layouts[l].tight.data + v * layouts[l].size, 7, random);
            memcpy(layouts[l].strided + v * layouts[l].stride, layouts[l].tight.data + v * layouts[l].size,
                   layouts[l].size);
        }
    }
}

// Every output element equals its strided twin, and the gaps of the strided one were left alone.
static void compare_layouts(const layout *layouts, uint32_t count)
{
    for (int l = 0; l < LAYOUT_COUNT; l++) {
        const layout *a = &layouts[l];
        for (uint32_t v = 0; v < count; v++) {
            const uint8_t *element = a->strided + v * a->stride;
            assert_memory_equal(a->tight.data + v * a->size, element, a->size);
            for (size_t i = a->size; i < a->stride; i++) {
                assert_int_equal(element[i], 0xCC);
            }
        }
    }
}

static void *data_of(const layout *layouts, int which, bool strided)
{
    return strided ? layouts[which].strided : layouts[which].tight.data;
}

static void evaluate_layouts(const layout *layouts, bool strided, uint32_t count, const pelt_mat34 *palette,
                             pelt_box *box)
{
    const pelt_skin_morph morph = {-0.7F, data_of(layouts, L_DELTAS, strided), data_of(layouts, L_DELTAS, strided),
                                   data_of(layouts, L_DELTAS, strided)};
    pelt_skin_job job = {.isa = peltt_isa,
                         .vertex_count = count,
                         .flags = PELT_NORMAL_OUTWARD,
                         .palette_count = 7,
                         .palette = palette,
                         .influence_count = GUARD_INFLUENCES,
                         .joints = data_of(layouts, L_JOINTS, strided),
                         .weights = data_of(layouts, L_WEIGHTS, strided),
                         .positions = data_of(layouts, L_POSITIONS, strided),
                         .normals = data_of(layouts, L_NORMALS, strided),
                         .tangents = data_of(layouts, L_TANGENTS, strided),
                         .morph_count = count % 2,
                         .morphs = &morph,
                         .out_positions = data_of(layouts, L_OUT_POSITIONS, strided),
                         .out_normals = data_of(layouts, L_OUT_NORMALS, strided),
                         .out_tangents = data_of(layouts, L_OUT_TANGENTS, strided),
                         .out_mirrored = data_of(layouts, L_OUT_MIRRORED, strided),
                         .box = box};
    if (strided) {
        job.joints_stride = layouts[L_JOINTS].stride;
        job.weights_stride = layouts[L_WEIGHTS].stride;
        job.positions_stride = layouts[L_POSITIONS].stride;
        job.normals_stride = layouts[L_NORMALS].stride;
        job.tangents_stride = layouts[L_TANGENTS].stride;
        job.out_positions_stride = layouts[L_OUT_POSITIONS].stride;
        job.out_normals_stride = layouts[L_OUT_NORMALS].stride;
        job.out_tangents_stride = layouts[L_OUT_TANGENTS].stride;
        job.out_mirrored_stride = layouts[L_OUT_MIRRORED].stride;
    }
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
}

static void every_vertex_count_stays_inside_its_streams(void **state)
{
    (void)state;
    peltt_random random = {.state = 2};
    for (uint32_t round = 0; round <= 2 * VERTEX_LIMIT + 1; round++) {
        uint32_t count = round / 2;
        bool at_end = round % 2;
        layout layouts[LAYOUT_COUNT];
        make_layouts(layouts, count, at_end, &random);
        peltt_guarded palette = peltt_guarded_make(7 * sizeof(pelt_mat34), at_end);
        peltt_guarded tight_box = peltt_guarded_make(sizeof(pelt_box), at_end);
        pelt_box strided_box;
        float *values = (float *)(void *)palette.data;
        for (int i = 0; i < 7 * 12; i++) {
            values[i] = peltt_random_float(&random, -1.0F, 1.0F);
        }
        evaluate_layouts(layouts, false, count, (const pelt_mat34 *)(const void *)palette.data,
                         (pelt_box *)(void *)tight_box.data);
        evaluate_layouts(layouts, true, count, (const pelt_mat34 *)(const void *)palette.data, &strided_box);
        compare_layouts(layouts, count);
        assert_memory_equal(tight_box.data, &strided_box, sizeof strided_box);
        for (int l = 0; l < LAYOUT_COUNT; l++) {
            peltt_guarded_free(&layouts[l].tight);
            free(layouts[l].strided);
        }
        peltt_guarded_free(&palette);
        peltt_guarded_free(&tight_box);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_streams_are_refused),
        cmocka_unit_test(bad_strides_and_alignments_are_refused),
        cmocka_unit_test(joints_out_of_range_are_refused_where_they_have_weight),
        cmocka_unit_test(a_late_bad_joint_leaves_all_outputs_alone),
        cmocka_unit_test(outputs_over_inputs_are_refused),
        cmocka_unit_test(outputs_over_outputs_are_refused),
        cmocka_unit_test(interleaving_is_told_from_overlap),
        cmocka_unit_test(no_vertices_give_the_empty_box),
        cmocka_unit_test(every_vertex_count_stays_inside_its_streams),
    };
    return PELTT_RUN_ISAS(tests);
}

// SPDX-License-Identifier: MIT
// The conservative pass alone, on skeletons of which the palette and skin passes make the exact box: never smaller than
// it, hardly larger than the joints' boxes moved in double.
#include "peltt_vk_skinned.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    MEMORY_SIZE = 64 << 20,
    MODEL_COUNT = 48,
    MATRIX_MOST = PELTT_VK_SKINNED_JOINTS
};

// How the matrices of a model are.
typedef enum model_kind {
    MODEL_ORDINARY = 0,
    MODEL_SAME_JOINTS, // all alike: boxes have no room but that for rounding
    MODEL_FAR,         // translations that cancel
    MODEL_SCALES,      // of 2^-20 to 2^20, mirrored
    MODEL_SMALL,       // near the smallest floats
    MODEL_KINDS
} model_kind;

typedef struct model {
    peltt_vk_skinned s;
    model_kind kind;
    pelt_mat34 *worlds;
    pelt_mat34 *binds;
    pelt_box *boxes;
} model;

static peltt_vk_passes passes;
static model models[MODEL_COUNT];

static int setup(void **state)
{
    *state = NULL;
    peltt_vk_passes_create(&passes, MEMORY_SIZE);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    peltt_vk_passes_destroy(&passes);
    return 0;
}

static pelt_mat34 random_matrix(peltt_random *random, model_kind kind)
{
    pelt_trs trs = {.rotation = {peltt_random_float(random, -1.0F, 1.0F), peltt_random_float(random, -1.0F, 1.0F),
                                 peltt_random_float(random, -1.0F, 1.0F), peltt_random_float(random, 0.1F, 1.0F)}};
    float *translations[3] = {&trs.translation.x, &trs.translation.y, &trs.translation.z};
    float *scales[3] = {&trs.scale.x, &trs.scale.y, &trs.scale.z};
    float scale = kind == MODEL_SMALL ? ldexpf(1.0F, -55 - (int)peltt_random_below(random, 20)) : 1.0F;
    for (int k = 0; k < 3; k++) {
        *translations[k] = peltt_random_float(random, -3.0F, 3.0F) * scale;
        *scales[k] = peltt_random_float(random, 0.7F, 1.4F) * scale;
        if (kind == MODEL_SCALES) {
            *scales[k] = ldexpf(*scales[k], (int)peltt_random_below(random, 20) - 10);
            *scales[k] *= peltt_random_chance(random, 0.3) ? -1.0F : 1.0F;
        }
    }
    return pelt_mat34_from_trs(&trs);
}

static void make_matrices(model *m, peltt_random *random)
{
    uint32_t count = m->s.shape.joint_count;
    for (uint32_t j = 0; j < count; j++) {
        bool copy = m->kind == MODEL_SAME_JOINTS && j > 0;
        m->binds[j] = copy ? m->binds[0] : random_matrix(random, m->kind);
        m->worlds[j] = copy ? m->worlds[0] : random_matrix(random, m->kind);
        if (m->kind == MODEL_FAR) { // the inverse of a place far away, seen from near it
            pelt_mat34 place = random_matrix(random, MODEL_ORDINARY);
            for (int k = 0; k < 3; k++) {
                place.m[k][3] += 1000.0F;
            }
            assert_true(pelt_mat34_invert(&place, &m->binds[j]));
            m->worlds[j] = place;
            m->worlds[j].m[0][3] += 0.25F;
        }
    }
    if (count > 1) { // followed by nothing
        for (int i = 0; i < 12; i++) {
            m->worlds[count - 1].m[i / 4][i % 4] = NAN;
        }
    }
}

// --- what cooking knows of the mesh

static void morphed_position(const model *m, uint32_t v, double p[3], double size[3])
{
    const peltt_vk_skinned *s = &m->s;
    for (int k = 0; k < 3; k++) {
        p[k] = (double)s->positions[v * 3 + (uint32_t)k];
        size[k] = fabs(p[k]);
    }
    peltt_vk_skinned_morph(s, v, 0, p, size);
}

static void add_to_box(const pelt_mat34 *bind, const double p[3], pelt_box *box)
{
    for (int k = 0; k < 3; k++) {
        double x = (double)bind->m[k][3];
        for (int c = 0; c < 3; c++) {
            x += (double)bind->m[k][c] * p[c];
        }
        float low = (float)x;
        float high = (float)x;
        low = (double)low > x ? nextafterf(low, -INFINITY) : low;
        high = (double)high < x ? nextafterf(high, INFINITY) : high;
        box->min[k] = low < box->min[k] ? low : box->min[k];
        box->max[k] = high > box->max[k] ? high : box->max[k];
    }
}

static void make_boxes(model *m)
{
    peltt_vk_skinned *s = &m->s;
    gpu_instance *instance = &s->instance;
    for (uint32_t j = 0; j < s->shape.joint_count; j++) {
        m->boxes[j] = pelt_box_empty();
    }
    double reach[3] = {0};
    for (uint32_t v = 0; v < s->shape.vertex_count; v++) {
        double p[3];
        double size[3];
        uint16_t joints[PELTT_VK_SKINNED_INFLUENCES];
        double weights[PELTT_VK_SKINNED_INFLUENCES];
        morphed_position(m, v, p, size);
        uint32_t count = peltt_vk_skinned_influences(s, v, joints, weights);
        for (uint32_t i = 0; i < count; i++) {
            add_to_box(&m->binds[joints[i]], p, &m->boxes[joints[i]]);
        }
        for (int k = 0; k < 3; k++) {
            reach[k] = size[k] > reach[k] ? size[k] : reach[k];
        }
    }
    uint32_t most = s->shape.influence_count < 5 ? 4 : PELTT_VK_SKINNED_INFLUENCES;
    for (int k = 0; k < 3; k++) {
        instance->reach[k] = nextafterf((float)reach[k], INFINITY);
    }
    instance->blend_growth = 0x1p-24F * (float)(most + 20);
    instance->morph_growth = instance->morph_count ? 0x1p-24F * (float)(instance->morph_count + 2) : 0.0F;
    instance->box_count = s->shape.flags & GPU_INSTANCE_RIGID ? 1 : s->shape.joint_count;
}

static void make_model(model *m, model_kind kind, peltt_random *random)
{
    bool few = peltt_random_chance(random, 0.4);
    peltt_vk_skinned_shape shape = {
        .vertex_count = few ? 1 + peltt_random_below(random, 3) : 64 + peltt_random_below(random, 300),
        .item_vertices = 1024,
        .joint_layout = peltt_random_below(random, 3),
        .influence_count = 1 + peltt_random_below(random, 5),
        .joint_count = 2 + peltt_random_below(random, few ? 6 : 200),
        .target_mask = peltt_random_chance(random, 0.3) ? peltt_random_below(random, 16) : 0,
        .flags = peltt_random_chance(random, 0.1) ? GPU_INSTANCE_RIGID : 0,
    };
    m->kind = kind;
    peltt_vk_skinned_make(&m->s, &shape, &passes, random);
    gpu_instance *instance = &m->s.instance;
    uint64_t size = shape.joint_count * sizeof(pelt_mat34);
    m->worlds = peltt_vk_passes_take(&passes, size, &instance->worlds);
    m->binds = peltt_vk_passes_take(&passes, size, &instance->binds);
    m->boxes = peltt_vk_passes_take(&passes, shape.joint_count * sizeof(pelt_box), &instance->joint_boxes);
    make_matrices(m, random);
    make_boxes(m);
}

// --- running

static void run_palettes(void)
{
    gpu_palette_update updates[MODEL_COUNT] = {0};
    for (uint32_t i = 0; i < MODEL_COUNT; i++) {
        const gpu_instance *instance = &models[i].s.instance;
        updates[i] = (gpu_palette_update){.worlds = instance->worlds,
                                          .binds = instance->binds,
                                          .matrices = instance->palette,
                                          .joint_count = models[i].s.shape.joint_count};
    }
    gpu_palette_push push = {.updates = peltt_vk_passes_put(&passes, updates, sizeof updates),
                             .update_count = MODEL_COUNT,
                             .group_columns = MODEL_COUNT,
                             .threads = passes.threads};
    peltt_vk_passes_run(&passes, PELTI_VK_PALETTE, &push, sizeof push, MODEL_COUNT, MODEL_COUNT);
}

static uint64_t put_instances(void)
{
    gpu_instance instances[MODEL_COUNT];
    for (uint32_t i = 0; i < MODEL_COUNT; i++) {
        instances[i] = models[i].s.instance;
    }
    return peltt_vk_passes_put(&passes, instances, sizeof instances);
}

static void run_skin(uint64_t instances)
{
    gpu_frame_item items[MODEL_COUNT];
    for (uint32_t i = 0; i < MODEL_COUNT; i++) {
        peltt_vk_skinned_upload(&models[i].s);
        items[i] = (gpu_frame_item){models[i].s.instance.mesh, i, 0};
    }
    gpu_skin_push push = {.frame_items = peltt_vk_passes_put(&passes, items, sizeof items),
                          .instances = instances,
                          .group_count = MODEL_COUNT,
                          .group_columns = 7,
                          .three = 3};
    peltt_vk_passes_run(&passes, PELTI_VK_SKIN, &push, sizeof push, MODEL_COUNT, 7);
}

// In the order of models; of two more instances nothing may be written.
static pelt_box *run_bounds(uint64_t instances)
{
    uint32_t updates[MODEL_COUNT];
    for (uint32_t i = 0; i < MODEL_COUNT; i++) {
        updates[i] = MODEL_COUNT - 1 - i;
    }
    gpu_bounds_push push = {.updates = peltt_vk_passes_put(&passes, updates, sizeof updates),
                            .instances = instances,
                            .update_count = MODEL_COUNT,
                            .group_columns = 5};
    pelt_box *boxes = peltt_vk_passes_take(&passes, (MODEL_COUNT + 2) * sizeof *boxes, &push.boxes);
    peltt_vk_passes_run(&passes, PELTI_VK_JOINT_BOUNDS, &push, sizeof push, MODEL_COUNT, 5);
    assert_true(peltt_vk_passes_untouched(boxes + MODEL_COUNT, 2 * sizeof *boxes));
    return boxes;
}

// --- checks

// The joints' boxes moved in double, without any room.
static void tight_box(const model *m, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) {
        low[k] = HUGE_VAL;
        high[k] = -HUGE_VAL;
    }
    for (uint32_t j = 0; j < m->s.instance.box_count; j++) {
        if (pelt_box_is_empty(&m->boxes[j])) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            const float *w = m->worlds[j].m[k];
            double a = (double)w[3];
            double b = (double)w[3];
            for (int c = 0; c < 3; c++) {
                double x = (double)w[c] * (double)m->boxes[j].min[c];
                double y = (double)w[c] * (double)m->boxes[j].max[c];
                a += x < y ? x : y;
                b += x < y ? y : x;
            }
            low[k] = a < low[k] ? a : low[k];
            high[k] = b > high[k] ? b : high[k];
        }
    }
}

static void check_model(const model *m, const pelt_box *box, double *loosest)
{
    const peltt_vk_skinned *s = &m->s;
    for (uint32_t i = 0; i < s->shape.vertex_count * 3; i++) {
        float x = s->out_positions[0][i];
        if (!(x >= box->min[i % 3] && x <= box->max[i % 3])) {
            fail_msg("kind %d, vertex %u, axis %u: %a is not in [%a, %a]", (int)m->kind, i / 3, i % 3, (double)x,
                     (double)box->min[i % 3], (double)box->max[i % 3]);
        }
    }
    double low[3];
    double high[3];
    double size2 = 0.0;
    double excess = 0.0;
    tight_box(m, low, high);
    for (int k = 0; k < 3; k++) {
        size2 += (high[k] - low[k]) * (high[k] - low[k]);
        excess = fmax(excess, fmax(low[k] - (double)box->min[k], (double)box->max[k] - high[k]));
    }
    if (m->kind == MODEL_ORDINARY && s->shape.vertex_count >= 64 && s->instance.morph_count == 0) {
        *loosest = fmax(*loosest, excess / sqrt(size2));
    }
}

// The same pose in double, of which these worlds may be the rounded ones.
static void check_double_pose(const model *m, const pelt_box *box, peltt_random *random)
{
    const peltt_vk_skinned *s = &m->s;
    double noise[2] = {1.0 - 0x1.ffp-25, 1.0 + 0x1.ffp-25};
    for (uint32_t v = 0; v < s->shape.vertex_count; v++) {
        uint16_t joints[PELTT_VK_SKINNED_INFLUENCES];
        double weights[PELTT_VK_SKINNED_INFLUENCES];
        double p[3];
        double size[3];
        double moved[3] = {0};
        morphed_position(m, v, p, size);
        uint32_t count = peltt_vk_skinned_influences(s, v, joints, weights);
        for (uint32_t i = 0; i < count; i++) {
            const pelt_mat34 *bind = &m->binds[joints[i]];
            double local[4] = {0.0, 0.0, 0.0, 1.0};
            for (int k = 0; k < 3; k++) {
                local[k] = (double)bind->m[k][0] * p[0] + (double)bind->m[k][1] * p[1] + (double)bind->m[k][2] * p[2] +
                           (double)bind->m[k][3];
            }
            for (int k = 0; k < 12; k++) {
                double world = (double)m->worlds[joints[i]].m[k / 4][k % 4] * noise[peltt_random_below(random, 2)];
                moved[k / 4] += weights[i] * world * local[k % 4];
            }
        }
        for (int k = 0; k < 3; k++) {
            assert_true(moved[k] >= (double)box->min[k] && moved[k] <= (double)box->max[k]);
        }
    }
}

static void boxes_hold_every_vertex_and_little_more(void **state)
{
    (void)state;
    double loosest = 0.0;
    for (int round = 0; round < 24; round++) {
        if (!peltt_vk_passes_set_threads(&passes, peltt_vk_passes_sizes[round % PELTT_VK_PASSES_SIZES])) {
            continue;
        }
        peltt_random random = {(uint64_t)round};
        peltt_vk_passes_reset(&passes);
        for (uint32_t i = 0; i < MODEL_COUNT; i++) {
            make_model(&models[i], (model_kind)(i % MODEL_KINDS), &random);
        }
        run_palettes();
        uint64_t instances = put_instances();
        run_skin(instances);
        const pelt_box *boxes = run_bounds(instances);
        for (uint32_t i = 0; i < MODEL_COUNT; i++) {
            check_model(&models[i], &boxes[i], &loosest);
            check_double_pose(&models[i], &boxes[i], &random);
            peltt_vk_skinned_free(&models[i].s);
        }
    }
    assert_true(loosest > 0.0 && loosest < 3e-6);
}

static bool is_everything(const pelt_box *box)
{
    bool all = true;
    for (int k = 0; k < 3; k++) {
        all = all && box->min[k] == -INFINITY && box->max[k] == INFINITY;
    }
    return all;
}

// Joints that nothing follows do not matter; none at all gives the empty box; what can leave the floats, everything.
static void boxes_at_the_ends(void **state)
{
    (void)state;
    assert_true(peltt_vk_passes_set_threads(&passes, GPU_BOUNDS_THREADS));
    peltt_random random = {99};
    peltt_vk_passes_reset(&passes);
    const pelt_box empty = pelt_box_empty();
    for (uint32_t i = 0; i < MODEL_COUNT; i++) {
        model *m = &models[i];
        make_model(m, MODEL_ORDINARY, &random);
        uint32_t last = m->s.shape.joint_count - 1;
        m->s.instance.box_count = last + 1;
        m->boxes[0] = (pelt_box){{-1.0F, -1.0F, -1.0F}, {1.0F, 1.0F, 1.0F}};
        switch (i % 6) {
        case 0: // no joints
            m->s.instance.box_count = 0;
            break;
        case 1: // none that is followed
            for (uint32_t j = 0; j <= last; j++) {
                m->boxes[j] = empty;
            }
            break;
        case 2: // one that is not a number
            m->boxes[last] = m->boxes[0];
            break;
        case 3: // a single axis of a box that is empty makes the whole empty
            m->boxes[last] = m->boxes[0];
            m->boxes[last].min[i % 3] = 2.0F;
            break;
        case 4: // too large
            for (int k = 0; k < 12; k++) {
                m->worlds[0].m[k / 4][k % 4] = 2e38F;
            }
            break;
        default: // boxes without end
            m->boxes[0].max[0] = m->boxes[0].max[1] = m->boxes[0].max[2] = INFINITY;
            break;
        }
    }
    run_palettes();
    const pelt_box *boxes = run_bounds(put_instances());
    for (uint32_t i = 0; i < MODEL_COUNT; i++) {
        if (i % 6 < 2) {
            assert_memory_equal(&boxes[i], &empty, sizeof empty);
        } else if (i % 6 == 3) {
            for (int k = 0; k < 3; k++) {
                assert_true(boxes[i].min[k] > -100.0F && boxes[i].max[k] < 100.0F);
            }
        } else {
            assert_true(is_everything(&boxes[i]));
        }
        peltt_vk_skinned_free(&models[i].s);
    }
}

// Factors large enough to be seen: by axis, blending counts |M| A + |t| and morphs |M| A.
static void growth_factors_count(void **state)
{
    (void)state;
    assert_true(peltt_vk_passes_set_threads(&passes, GPU_BOUNDS_THREADS));
    peltt_random random = {3};
    peltt_vk_passes_reset(&passes);
    for (uint32_t i = 0; i < MODEL_COUNT; i++) {
        model *m = &models[i];
        gpu_instance *instance = &m->s.instance;
        make_model(m, MODEL_ORDINARY, &random);
        m->binds[0] = pelt_mat34_identity();
        m->worlds[0] = (pelt_mat34){{{2.0F, 0.0F, 0.0F, 5.0F}, {0.0F, 0.0F, -3.0F, -7.0F}, {0.0F, 1.0F, 0.0F, 0.0F}}};
        m->boxes[0] = (pelt_box){{-1.0F, -1.0F, -1.0F}, {1.0F, 1.0F, 1.0F}};
        instance->box_count = 1;
        instance->reach[0] = 4.0F;
        instance->reach[1] = 8.0F;
        instance->reach[2] = 16.0F;
        instance->blend_growth = i % 2 ? 0.125F : 0.0F;
        instance->morph_growth = i % 3 ? 0.25F : 0.0F;
    }
    run_palettes();
    const pelt_box *boxes = run_bounds(put_instances());
    for (uint32_t i = 0; i < MODEL_COUNT; i++) {
        static const double centers[3] = {5.0, -7.0, 0.0};
        static const double extents[3] = {2.0, 3.0, 1.0};
        static const double linear[3] = {8.0, 48.0, 8.0};
        for (int k = 0; k < 3; k++) {
            double blend = i % 2 ? 0.125 * (linear[k] + fabs(centers[k])) : 0.0;
            double morph = i % 3 ? 0.25 * linear[k] : 0.0;
            double half = extents[k] + blend + morph;
            double low = (double)boxes[i].min[k] - (centers[k] - half);
            double high = (double)boxes[i].max[k] - (centers[k] + half);
            assert_true(low < 0.0 && low > -2e-5);
            assert_true(high > 0.0 && high < 2e-5);
        }
        peltt_vk_skinned_free(&models[i].s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(boxes_hold_every_vertex_and_little_more, setup, teardown),
        cmocka_unit_test_setup_teardown(boxes_at_the_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(growth_factors_count, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

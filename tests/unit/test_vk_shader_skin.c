// SPDX-License-Identifier: MIT
// The skin pass alone, in all its pipelines, against a reference in double: every layout, number of influences and kind
// of target, and what is hard about directions, boxes and special values.
#include "peltt_vk_skinned.h"

#include <pelt/cook.h>

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
    MESH_MOST = 256
};

static peltt_vk_passes passes;
static peltt_vk_skinned skinned[MESH_MOST];

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

typedef struct boxes {
    pelt_box *partials;         // by workgroup
    pelt_box *boxes;            // by instance
    uint32_t groups[MESH_MOST]; // first workgroup of each instance
    uint32_t group_count;
} boxes;

enum {
    PIPELINES = 6
};

// Those that can do the mesh take turns.
static pelti_vk_pass choose_pass(const peltt_vk_skinned *s, uint32_t turn)
{
    static const pelti_vk_pass passes_in_turn[PIPELINES] = {PELTI_VK_SKIN,
                                                            PELTI_VK_SKIN_RUNS,
                                                            PELTI_VK_SKIN_USUAL,
                                                            PELTI_VK_SKIN_RUNS_SMALL,
                                                            PELTI_VK_SKIN_USUAL_SMALL,
                                                            PELTI_VK_SKIN_USUAL_FEW};
    pelti_vk_pass pass = passes_in_turn[turn % PIPELINES];
    const peltt_vk_skinned_shape *shape = &s->shape;
    bool directions = !shape->no_normals && !shape->no_tangents && !shape->omit_normals && !shape->omit_tangents;
    if (!s->runs || s->instance.morph_count > 0) {
        return PELTI_VK_SKIN;
    }
    return pass == PELTI_VK_SKIN || directions ? pass : PELTI_VK_SKIN_RUNS;
}

// Skins the first count entries of skinned, as instances 0, 1, ...
static boxes run_skin(uint32_t count, uint32_t columns)
{
    static uint32_t turn;
    boxes out = {0};
    for (uint32_t i = 0; i < count; i++) {
        peltt_vk_skinned_upload(&skinned[i]);
        out.group_count += skinned[i].item_count;
    }
    gpu_skin_push push = {.group_columns = columns, .three = 3};
    gpu_frame_item *items = peltt_vk_passes_take(&passes, out.group_count * sizeof *items, &push.frame_items);
    gpu_instance *instances = peltt_vk_passes_take(&passes, count * sizeof *instances, &push.instances);
    out.partials = peltt_vk_passes_take(&passes, out.group_count * sizeof(pelt_box), &push.partials);
    out.boxes = peltt_vk_passes_take(&passes, count * sizeof(pelt_box), &push.boxes);
    turn++;
    uint32_t at = 0;
    for (uint32_t pass = 0; pass < PELTI_VK_PASS_COUNT; pass++) {
        gpu_skin_push own = push;
        own.frame_items += at * sizeof *items;
        own.partials += at * sizeof(pelt_box);
        for (uint32_t i = 0; i < count; i++) {
            if ((uint32_t)choose_pass(&skinned[i], turn + i) != pass) {
                continue;
            }
            instances[i] = skinned[i].instance;
            out.groups[i] = at;
            for (uint32_t k = 0; k < skinned[i].item_count; k++) {
                uint32_t instance = i | (skinned[i].shape.parity ? GPU_PARITY : 0);
                items[at++] = (gpu_frame_item){skinned[i].instance.mesh, instance, k};
                own.item_count++;
            }
        }
        if (own.item_count > 0) {
            peltt_vk_passes_run(&passes, (pelti_vk_pass)pass, &own, sizeof own, own.item_count, columns);
        }
    }
    return out;
}

static const float *written_positions(const peltt_vk_skinned *s)
{
    return s->out_positions[s->shape.parity ? 1 : 0];
}

static pelt_box box_of(const float *positions, uint32_t first, uint32_t count)
{
    pelt_box box = pelt_box_empty();
    for (uint32_t i = first * 3; i < (first + count) * 3; i++) {
        uint32_t k = i % 3;
        box.min[k] = positions[i] < box.min[k] ? positions[i] : box.min[k];
        box.max[k] = positions[i] > box.max[k] ? positions[i] : box.max[k];
    }
    return box;
}

static void check_boxes(const boxes *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const peltt_vk_skinned *s = &skinned[i];
        uint32_t group = b->groups[i];
        bool exact = s->shape.flags & GPU_INSTANCE_EXACT;
        bool whole = s->item_count == 1;
        if (!exact || !whole) {
            assert_true(peltt_vk_passes_untouched(&b->boxes[i], sizeof(pelt_box)));
        }
        for (uint32_t k = 0; k < s->item_count; k++, group++) {
            pelt_box want = box_of(written_positions(s), s->items[k].first_vertex, s->items[k].vertex_count);
            if (exact && whole) {
                assert_memory_equal(&b->boxes[i], &want, sizeof want);
            }
            if (exact && !whole) {
                assert_memory_equal(&b->partials[group], &want, sizeof want);
            } else {
                assert_true(peltt_vk_passes_untouched(&b->partials[group], sizeof(pelt_box)));
            }
        }
    }
}

// --- comparing with the reference

static double angle(const double a[3], const float b[3])
{
    double c[3];
    double dot = 0.0;
    double length2 = 0.0;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        c[i] = a[j] * (double)b[k] - a[k] * (double)b[j];
        dot += a[i] * (double)b[i];
    }
    length2 = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    return atan2(sqrt(length2), dot) * (180.0 / 3.14159265358979323846);
}

// Half a step of an octahedral code and the 0.001 degrees that a direction may be off before it is packed.
static const double normal_tolerance = 0.0045;
static const double tangent_tolerance = 0.0075;

// Directions whose ratio is below the limit are not judged: rounding the blended matrix turns them.
static void check_direction(const double want[3], const float got[3], double ratio, double limit, double tolerance,
                            const char *what, uint32_t vertex)
{
    double length2 =
        (double)got[0] * (double)got[0] + (double)got[1] * (double)got[1] + (double)got[2] * (double)got[2];
    assert_true(fabs(length2 - 1.0) < 1e-6);
    double off = ratio >= limit ? angle(want, got) : 0.0;
    if (!(off <= tolerance)) {
        fail_msg("%s of vertex %u: %g degrees off, ratio %g; %g %g %g", what, vertex, off, ratio, (double)got[0],
                 (double)got[1], (double)got[2]);
    }
}

static void check_vertex(const peltt_vk_skinned *s, uint32_t v)
{
    peltt_vk_skinned_vertex want;
    peltt_vk_skinned_reference(s, v, &want);
    const float *got = written_positions(s) + v * 3;
    // Roundings: blending, a product and three sums, weights of extras, morphs.
    double roundings = want.influence_count + 6.0 + (s->instance.morph_count ? s->instance.morph_count + 3.0 : 0.0);
    for (int k = 0; k < 3; k++) {
        double off = fabs((double)got[k] - want.position[k]);
        if (!(off <= roundings * 0x1p-24 * want.terms[k])) {
            fail_msg("position of vertex %u: %g, not %g: off by %g of its terms", v, (double)got[k], want.position[k],
                     off / want.terms[k]);
        }
    }
    double limit = want.influence_count == 1 && s->instance.morph_count == 0 ? 0x1p-36 : 0x1p-8;
    float direction[4];
    if (s->mesh.normals && s->instance.normals) {
        pelt_normal_decode(s->out_normals[v], direction);
        check_direction(want.normal, direction, want.normal_ratio, limit, normal_tolerance, "normal", v);
    }
    if (s->mesh.tangents && s->instance.tangents) {
        pelt_tangent_decode(s->out_tangents[v], direction);
        check_direction(want.tangent, direction, want.tangent_ratio, limit, tangent_tolerance, "tangent", v);
        assert_true((double)direction[3] == want.handedness);
    }
}

static void check_mesh(const peltt_vk_skinned *s)
{
    uint64_t count = s->shape.vertex_count;
    for (uint32_t v = 0; v < count; v++) {
        check_vertex(s, v);
    }
    assert_true(peltt_vk_passes_untouched(s->out_positions[s->shape.parity ? 0 : 1], count * 12));
    assert_true(peltt_vk_passes_untouched((const char *)written_positions(s) + count * 12, 64));
    if (!s->mesh.normals || !s->instance.normals) {
        assert_true(peltt_vk_passes_untouched(s->out_normals, count * 4));
    }
    if (!s->mesh.tangents || !s->instance.tangents) {
        assert_true(peltt_vk_passes_untouched(s->out_tangents, count * 4));
    }
    assert_true(peltt_vk_passes_untouched((const char *)s->out_normals + count * 4, 64));
    assert_true(peltt_vk_passes_untouched((const char *)s->out_tangents + count * 4, 64));
}

static void check_and_free(const boxes *b, uint32_t count)
{
    check_boxes(b, count);
    for (uint32_t i = 0; i < count; i++) {
        check_mesh(&skinned[i]);
        peltt_vk_skinned_free(&skinned[i]);
    }
}

// --- tests

static const uint32_t vertex_counts[] = {0, 1, 63, 64, 65, 100, 1023, 1024};

enum {
    COUNT_KINDS = sizeof vertex_counts / sizeof vertex_counts[0]
};

static uint32_t joint_count_of(peltt_random *random, uint32_t layout)
{
    uint32_t most = layout == GPU_JOINTS_DIRECT8 ? 256 : PELTT_VK_SKINNED_JOINTS;
    return peltt_random_chance(random, 0.3) ? 2 + peltt_random_below(random, 10) : most;
}

// The largest workgroups last, and then those of one subgroup, in which no thread waits for another.
static bool set_threads(int round)
{
    uint32_t threads = round < PELTT_VK_PASSES_SIZES ? peltt_vk_passes_sizes[round] : passes.vk.support.subgroup_size;
    return peltt_vk_passes_set_threads(&passes, threads);
}

// A thread takes 32 vertices of an item at most.
static uint32_t most_of_item(void)
{
    return passes.threads < 32 ? passes.threads * 32 : 1024;
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
                assert_true(count < MESH_MOST);
                peltt_vk_skinned_make(&skinned[count++], &shape, &passes, random);
            }
        }
    }
    return count;
}

static void every_kind_of_mesh_among_all_others(void **state)
{
    (void)state;
    for (int i = 0; i <= PELTT_VK_PASSES_SIZES; i++) {
        if (!set_threads(i)) {
            continue;
        }
        peltt_random random = {(uint64_t)i + 100};
        peltt_vk_passes_reset(&passes);
        uint32_t count = make_all(&random);
        boxes b = run_skin(count, 37);
        check_and_free(&b, count);
    }
}

// Singular, mirrored, flattened and extreme matrices: directions are of unit length and right wherever double knows.
static void harsh_matrices_keep_directions(void **state)
{
    (void)state;
    assert_true(peltt_vk_passes_set_threads(&passes, GPU_SKIN_THREADS));
    peltt_random random = {7};
    for (int round = 0; round < 12; round++) {
        peltt_vk_passes_reset(&passes);
        for (uint32_t i = 0; i < 8; i++) {
            peltt_vk_skinned_shape shape = {.vertex_count = 1000,
                                            .item_vertices = 300,
                                            .joint_layout = i % 4,
                                            .influence_count = i < 6 ? 1 : 3,
                                            .joint_count = 200,
                                            .flags = GPU_INSTANCE_EXACT,
                                            .calm = peltt_random_chance(&random, 0.5),
                                            .harsh = true};
            peltt_vk_skinned_make(&skinned[i], &shape, &passes, &random);
        }
        boxes b = run_skin(8, 8);
        check_and_free(&b, 8);
    }
}

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
    peltt_vk_skinned_make(&skinned[0], &shape, &passes, &random);
    skinned[0].palette[0] = *matrix;
    return &skinned[0];
}

// A direction without a result is the input's; without an input, the axis.
static void lost_directions_take_the_input_or_the_axis(void **state)
{
    (void)state;
    assert_true(peltt_vk_passes_set_threads(&passes, GPU_SKIN_THREADS));
    pelt_mat34 lost[5] = {{{{0}}}, {{{0}}}, {{{0}}}, {{{0}}}, {{{0}}}};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            lost[1].m[i][k] = NAN;
            lost[2].m[i][k] = INFINITY;
            lost[3].m[i][k] = i == k ? (i == 1 ? NAN : 1.0F) : 0.0F;
            lost[4].m[i][k] = i == k ? (i == 2 ? -INFINITY : 1.0F) : 0.0F;
        }
    }
    for (int i = 0; i < 5 * (PIPELINES + 1); i++) {
        peltt_vk_passes_reset(&passes);
        bool spoilt = i >= 5 * PIPELINES; // morphs are for one pipeline alone
        peltt_vk_skinned *s = make_rigid(200, &lost[i % 5], spoilt ? 1 : 0);
        for (uint32_t k = 0; spoilt && k < 200 * 3; k++) {
            ((float *)(uintptr_t)s->targets[0].streams[1])[k] = k % 2 ? NAN : INFINITY;
            ((float *)(uintptr_t)s->targets[0].streams[2])[k] = k % 2 ? -INFINITY : NAN;
        }
        run_skin(1, 1);
        for (uint32_t v = 0; v < 200; v++) {
            double want[3] = {0.0, 0.0, 1.0};
            float got[4];
            float input[4];
            pelt_normal_decode(s->normals[v], input);
            for (int k = 0; k < 3 && !spoilt; k++) {
                want[k] = (double)input[k];
            }
            pelt_normal_decode(s->out_normals[v], got);
            check_direction(want, got, 1.0, 0.0, normal_tolerance, "normal", v);
            double want_t[3] = {1.0, 0.0, 0.0};
            pelt_tangent_decode(s->tangents[v], input);
            for (int k = 0; k < 3 && !spoilt; k++) {
                want_t[k] = (double)input[k];
            }
            pelt_tangent_decode(s->out_tangents[v], got);
            check_direction(want_t, got, 1.0, 0.0, tangent_tolerance, "tangent", v);
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
        if (!set_threads(i)) {
            continue;
        }
        for (uint32_t round = 0; round < 40; round++) {
            peltt_vk_passes_reset(&passes);
            uint32_t count = 1 + peltt_random_below(&random, 140);
            peltt_vk_skinned *s = make_rigid(count, &identity, 0);
            uint32_t kinds = 1 + round % value_count; // first all NaN, then more and more
            for (uint32_t k = 0; k < count * 3; k++) {
                s->positions[k] =
                    k / 3 == 77 ? values[(k + round) % value_count] : values[peltt_random_below(&random, kinds)];
            }
            boxes b = run_skin(1, 1);
            check_boxes(&b, 1);
            for (uint32_t k = 0; k < count * 3; k++) {
                uint32_t bits = 0;
                memcpy(&bits, written_positions(s) + k, sizeof bits);
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
    assert_true(peltt_vk_passes_set_threads(&passes, GPU_SKIN_THREADS));
    pelt_mat34 identity = pelt_mat34_identity();
    for (uint32_t t = 0; t < PELTT_VK_SKINNED_TARGETS; t++) {
        peltt_vk_passes_reset(&passes);
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
        run_skin(1, 1);
        uint32_t different = 0;
        for (uint32_t k = 0; k < 1024 * 3; k++) {
            float got = written_positions(s)[k];
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
    peltt_vk_passes_reset(&passes);
    peltt_vk_skinned_shape shape = {.vertex_count = vertex_count,
                                    .item_vertices = 1024,
                                    .joint_layout = layout,
                                    .influence_count = influence_count,
                                    .encoding = encoding,
                                    .joint_count = 6};
    peltt_vk_skinned *s = &skinned[0];
    peltt_vk_skinned_make(s, &shape, &passes, &random);
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
    uint64_t lists = layout == GPU_JOINTS_RUN ? s->mesh.run_joints - passes.memory.address : 0;
    uint16_t *list = (uint16_t *)(void *)((char *)passes.memory.data + lists);
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
    run_skin(1, 9);
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
    assert_true(peltt_vk_passes_set_threads(&passes, GPU_SKIN_THREADS));
    for (uint32_t hidden = 0; hidden < 4; hidden++) {
        for (int turn = 0; turn < PIPELINES; turn++) {
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
    assert_true(peltt_vk_passes_set_threads(&passes, GPU_SKIN_THREADS));
    for (uint32_t turn = 0; turn < 3 * (PIPELINES + 1); turn++) {
        peltt_vk_passes_reset(&passes);
        uint32_t layout = turn < 3 * PIPELINES ? GPU_JOINTS_RUN : turn % 3;
        peltt_random random = {turn};
        peltt_vk_skinned_shape shape = {.vertex_count = 500,
                                        .item_vertices = 500,
                                        .joint_layout = layout,
                                        .influence_count = turn < 3 * PIPELINES ? 4 : 5,
                                        .joint_count = 40};
        peltt_vk_skinned *s = &skinned[0];
        peltt_vk_skinned_make(s, &shape, &passes, &random);
        s->instance.palette_count = 7;
        for (uint32_t j = 7; j < 40; j++) {
            for (int i = 0; i < 12; i++) {
                s->palette[j].m[i / 4][i % 4] = NAN;
            }
        }
        run_skin(1, 1);
        for (uint32_t j = 7; j < 40; j++) { // for the reference
            s->palette[j] = s->palette[6];
        }
        for (uint32_t v = 0; v < 500; v++) {
            check_vertex(s, v);
        }
        peltt_vk_skinned_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_kind_of_mesh_among_all_others, setup, teardown),
        cmocka_unit_test_setup_teardown(harsh_matrices_keep_directions, setup, teardown),
        cmocka_unit_test_setup_teardown(lost_directions_take_the_input_or_the_axis, setup, teardown),
        cmocka_unit_test_setup_teardown(special_positions_and_boxes, setup, teardown),
        cmocka_unit_test_setup_teardown(morphs_match_the_cpu_to_the_bit, setup, teardown),
        cmocka_unit_test_setup_teardown(weights_are_decoded_to_the_bit, setup, teardown),
        cmocka_unit_test_setup_teardown(joints_are_clamped_to_the_palette, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Meshes take the pipelines in turns; each is checked vertex by vertex, and its boxes to the bit.
#include "peltt_vk_skin.h"

#include <pelt/cook.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum {
    MEMORY_SIZE = 64 << 20
};

peltt_vk_passes peltt_vk_skin_passes;
peltt_vk_skinned peltt_vk_skin_meshes[PELTT_VK_SKIN_MESHES];

int peltt_vk_skin_setup(void **state)
{
    *state = NULL;
    peltt_vk_passes_create(&peltt_vk_skin_passes, MEMORY_SIZE);
    return 0;
}

int peltt_vk_skin_teardown(void **state)
{
    (void)state;
    peltt_vk_passes_destroy(&peltt_vk_skin_passes);
    return 0;
}

// Those that can do the mesh take turns.
static pelti_vk_pass choose_pass(const peltt_vk_skinned *s, uint32_t turn)
{
    static const pelti_vk_pass passes_in_turn[PELTT_VK_SKIN_PIPELINES] = {PELTI_VK_SKIN,
                                                                          PELTI_VK_SKIN_RUNS,
                                                                          PELTI_VK_SKIN_USUAL,
                                                                          PELTI_VK_SKIN_RUNS_SMALL,
                                                                          PELTI_VK_SKIN_USUAL_SMALL,
                                                                          PELTI_VK_SKIN_RUNS_FEW,
                                                                          PELTI_VK_SKIN_USUAL_FEW,
                                                                          PELTI_VK_SKIN_RUNS_SMALL_FULL,
                                                                          PELTI_VK_SKIN_USUAL_SMALL_FULL};
    pelti_vk_pass pass = passes_in_turn[turn % PELTT_VK_SKIN_PIPELINES];
    const peltt_vk_skinned_shape *shape = &s->shape;
    bool directions = !shape->no_normals && !shape->no_tangents && !shape->omit_normals && !shape->omit_tangents;
    if (!s->runs || s->instance.morph_count > 0) {
        return PELTI_VK_SKIN;
    }
    bool usual = pass == PELTI_VK_SKIN_USUAL || pass == PELTI_VK_SKIN_USUAL_SMALL || pass == PELTI_VK_SKIN_USUAL_FEW ||
                 pass == PELTI_VK_SKIN_USUAL_SMALL_FULL;
    return !usual || directions ? pass : PELTI_VK_SKIN_RUNS;
}

// Full items of what the frame items name, made by the pass that does so.
static uint64_t make_full_items(const gpu_frame_item *items, uint32_t count, uint64_t instances)
{
    gpu_items_push push = {.instances = instances, .item_count = count, .full_count = count, .group_columns = 1};
    gpu_update *updates = peltt_vk_passes_take(&peltt_vk_skin_passes, count * sizeof *updates, &push.updates);
    peltt_vk_passes_take(&peltt_vk_skin_passes, count * sizeof(gpu_full_item), &push.full_items);
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].item == 0) {
            updates[push.update_count++] =
                (gpu_update){.instance = items[i].instance, .first_item = i, .reduce = GPU_NO_REDUCE};
        }
    }
    uint32_t groups = (push.update_count - 1) / peltt_vk_skin_passes.threads + 1;
    peltt_vk_passes_run(&peltt_vk_skin_passes, PELTI_VK_ITEMS, &push, sizeof push, groups, push.group_columns);
    return push.full_items;
}

// The items of one pipeline, in the order of the meshes.
typedef struct pipeline_items {
    pelti_vk_pass pass;
    gpu_frame_item *items;
    uint32_t count;
} pipeline_items;

static void add_items(pipeline_items *list, uint32_t instance)
{
    const peltt_vk_skinned *s = &peltt_vk_skin_meshes[instance];
    for (uint32_t k = 0; k < s->item_count; k++) {
        list->items[list->count++] =
            (gpu_frame_item){s->instance.mesh, instance | (s->shape.parity ? GPU_PARITY : 0), k};
    }
}

static void run_pipeline(const pipeline_items *list, gpu_skin_push push)
{
    if (list->count == 0) {
        return;
    }
    if (list->pass == PELTI_VK_SKIN_RUNS_SMALL_FULL || list->pass == PELTI_VK_SKIN_USUAL_SMALL_FULL) {
        push.frame_items = make_full_items(list->items, list->count, push.instances);
    }
    push.group_count = list->count << push.split;
    peltt_vk_passes_run(&peltt_vk_skin_passes, list->pass, &push, sizeof push, push.group_count, push.group_columns);
}

peltt_vk_skin_boxes peltt_vk_skin_run(uint32_t count, uint32_t columns)
{
    static uint32_t turn;
    turn++;
    peltt_vk_skin_boxes out = {0};
    uint32_t item_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        peltt_vk_skinned_upload(&peltt_vk_skin_meshes[i]);
        item_count += peltt_vk_skin_meshes[i].item_count;
    }
    const uint32_t split = turn % 4;
    gpu_skin_push push = {.group_columns = columns, .three = 3, .ahead = turn % 3};
    gpu_frame_item *items = peltt_vk_passes_take(&peltt_vk_skin_passes, item_count * sizeof *items, &push.frame_items);
    gpu_instance *instances = peltt_vk_passes_take(&peltt_vk_skin_passes, count * sizeof *instances, &push.instances);
    uint32_t most_groups = item_count << split;
    out.partials = peltt_vk_passes_take(&peltt_vk_skin_passes, most_groups * sizeof(pelt_box), &push.partials);
    out.boxes = peltt_vk_passes_take(&peltt_vk_skin_passes, count * sizeof(pelt_box), &push.boxes);
    uint32_t group = 0;
    for (uint32_t pass = 0; pass < PELTI_VK_PASS_COUNT; pass++) {
        pipeline_items list = {.pass = (pelti_vk_pass)pass, .items = items};
        gpu_skin_push own = push;
        own.split = pass == PELTI_VK_SKIN_RUNS_FEW || pass == PELTI_VK_SKIN_USUAL_FEW ? split : 0;
        for (uint32_t i = 0; i < count; i++) {
            if ((uint32_t)choose_pass(&peltt_vk_skin_meshes[i], turn + i) == pass) {
                instances[i] = peltt_vk_skin_meshes[i].instance;
                out.groups[i] = group + (list.count << own.split);
                out.parts[i] = 1U << own.split;
                add_items(&list, i);
            }
        }
        run_pipeline(&list, own);
        items += list.count;
        push.frame_items += list.count * sizeof *items;
        push.partials += ((uint64_t)list.count << own.split) * sizeof(pelt_box);
        group += list.count << own.split;
    }
    return out;
}

const float *peltt_vk_skin_written(const peltt_vk_skinned *s)
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

// What workgroups that share an item wrote: each takes as many vertices as the others, up to the next multiple of 32,
// and the last ones what is left.
static void check_partials(const peltt_vk_skinned *s, const gpu_item *item, const pelt_box *partials, uint32_t parts)
{
    uint32_t size = (item->vertex_count + parts - 1) / parts;
    size = (size + 31) / 32 * 32;
    for (uint32_t p = 0; p < parts; p++) {
        uint32_t first = p * size < item->vertex_count ? p * size : item->vertex_count;
        uint32_t left = item->vertex_count - first;
        pelt_box want = box_of(peltt_vk_skin_written(s), item->first_vertex + first, left < size ? left : size);
        assert_memory_equal(&partials[p], &want, sizeof want);
    }
}

void peltt_vk_skin_check_boxes(const peltt_vk_skin_boxes *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const peltt_vk_skinned *s = &peltt_vk_skin_meshes[i];
        const pelt_box *partials = &b->partials[b->groups[i]];
        bool exact = s->shape.flags & GPU_INSTANCE_EXACT;
        bool whole = s->item_count == 1;
        if (exact && whole) {
            pelt_box want = box_of(peltt_vk_skin_written(s), s->items[0].first_vertex, s->items[0].vertex_count);
            assert_memory_equal(&b->boxes[i], &want, sizeof want);
        } else {
            assert_true(peltt_vk_passes_untouched(&b->boxes[i], sizeof(pelt_box)));
        }
        for (uint32_t k = 0; k < s->item_count; k++, partials += b->parts[i]) {
            if (exact && !whole) {
                check_partials(s, &s->items[k], partials, b->parts[i]);
            } else {
                assert_true(peltt_vk_passes_untouched(partials, b->parts[i] * sizeof *partials));
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
const double peltt_vk_skin_normal_tolerance = 0.0045;
const double peltt_vk_skin_tangent_tolerance = 0.0075;

void peltt_vk_skin_check_direction(const double want[3], const float got[3], double ratio, double limit,
                                   double tolerance, const char *what, uint32_t vertex)
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

void peltt_vk_skin_check_vertex(const peltt_vk_skinned *s, uint32_t v)
{
    peltt_vk_skinned_vertex want;
    peltt_vk_skinned_reference(s, v, &want);
    const float *got = peltt_vk_skin_written(s) + v * 3;
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
        peltt_vk_skin_check_direction(want.normal, direction, want.normal_ratio, limit, peltt_vk_skin_normal_tolerance,
                                      "normal", v);
    }
    if (s->mesh.tangents && s->instance.tangents) {
        pelt_tangent_decode(s->out_tangents[v], direction);
        peltt_vk_skin_check_direction(want.tangent, direction, want.tangent_ratio, limit,
                                      peltt_vk_skin_tangent_tolerance, "tangent", v);
        assert_true((double)direction[3] == want.handedness);
    }
}

static void check_mesh(const peltt_vk_skinned *s)
{
    uint64_t count = s->shape.vertex_count;
    for (uint32_t v = 0; v < count; v++) {
        peltt_vk_skin_check_vertex(s, v);
    }
    assert_true(peltt_vk_passes_untouched(s->out_positions[s->shape.parity ? 0 : 1], count * 12));
    assert_true(peltt_vk_passes_untouched((const char *)peltt_vk_skin_written(s) + count * 12, 64));
    if (!s->mesh.normals || !s->instance.normals) {
        assert_true(peltt_vk_passes_untouched(s->out_normals, count * 4));
    }
    if (!s->mesh.tangents || !s->instance.tangents) {
        assert_true(peltt_vk_passes_untouched(s->out_tangents, count * 4));
    }
    assert_true(peltt_vk_passes_untouched((const char *)s->out_normals + count * 4, 64));
    assert_true(peltt_vk_passes_untouched((const char *)s->out_tangents + count * 4, 64));
}

void peltt_vk_skin_check_and_free(const peltt_vk_skin_boxes *b, uint32_t count)
{
    peltt_vk_skin_check_boxes(b, count);
    for (uint32_t i = 0; i < count; i++) {
        check_mesh(&peltt_vk_skin_meshes[i]);
        peltt_vk_skinned_free(&peltt_vk_skin_meshes[i]);
    }
}

bool peltt_vk_skin_set_threads(int round)
{
    uint32_t threads =
        round < PELTT_VK_PASSES_SIZES ? peltt_vk_passes_sizes[round] : peltt_vk_skin_passes.vk.support.subgroup_size;
    return peltt_vk_passes_set_threads(&peltt_vk_skin_passes, threads);
}

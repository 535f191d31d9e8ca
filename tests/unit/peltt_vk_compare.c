// SPDX-License-Identifier: MIT
// Compares the outputs of a Vulkan instance with the CPU path on the same packed streams.
#include "peltt_vk_scene.h"

#include <pelt/skin.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double position_tolerance = 1e-6;
static const double angle_tolerance = 0.01; // degrees
static const double degrees = 57.29577951308232;

// The CPU's answer and what it was made of.
typedef struct posed {
    const peltt_vk_want *want;
    uint32_t vertex_count;
    pelt_mat34 *palette;
    pelt_skin_morph *morphs;
    float *positions;
    float *normals;  // NULL where there are none
    float *tangents; // NULL where there are none
    pelt_box box;
} posed;

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

static posed pose(const peltt_vk_want *want)
{
    const pelt_primitive *p = want->model->primitive;
    posed out = {.want = want, .vertex_count = p->vertex_count};
    out.palette = allocate(want->joint_count, sizeof *out.palette);
    for (uint32_t i = 0; i < want->joint_count; i++) {
        out.palette[i] = pelt_mat34_multiply(&want->worlds[i], &want->binds[i]);
    }
    out.morphs = allocate(want->model->target_count, sizeof *out.morphs);
    for (uint32_t i = 0; i < want->model->target_count; i++) {
        const pelt_morph_target *t = &p->targets[i];
        float weight = want->weights ? want->weights[i] : 0.0F;
        out.morphs[i] = (pelt_skin_morph){weight, t->positions, t->normals, t->tangents};
    }
    out.positions = allocate((size_t)p->vertex_count * 3, sizeof *out.positions);
    out.normals = p->normals ? allocate((size_t)p->vertex_count * 3, sizeof *out.normals) : NULL;
    out.tangents = p->tangents ? allocate((size_t)p->vertex_count * 4, sizeof *out.tangents) : NULL;
    const pelt_skin_job job = {.vertex_count = p->vertex_count,
                               .palette_count = want->joint_count,
                               .palette = out.palette,
                               .influence_count = want->rigid ? 0 : p->influence_count,
                               .joints = p->joints,
                               .weights = p->weights,
                               .positions = p->positions,
                               .normals = p->normals,
                               .tangents = p->tangents,
                               .morph_count = want->model->target_count,
                               .morphs = out.morphs,
                               .out_positions = out.positions,
                               .out_normals = out.normals,
                               .out_tangents = out.tangents,
                               .box = &out.box};
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    return out;
}

static void release(posed *p)
{
    free(p->palette);
    free(p->morphs);
    free(p->positions);
    free(p->normals);
    free(p->tangents);
}

// The larger of the box's diagonal and its largest coordinate.
static double size_of(const pelt_box *box)
{
    double square = 0;
    double largest = 0;
    for (int k = 0; k < 3; k++) {
        double extent = (double)box->max[k] - (double)box->min[k];
        square += extent * extent;
        largest = fmax(largest, fmax(fabs((double)box->min[k]), fabs((double)box->max[k])));
    }
    return fmax(sqrt(square), largest);
}

static void compare_positions(const posed *p, const float *got, peltt_vk_worst *worst)
{
    double tolerance = position_tolerance * size_of(&p->box);
    for (size_t i = 0; i < (size_t)p->vertex_count * 3; i++) {
        double off = fabs((double)got[i] - (double)p->positions[i]);
        if (!(off <= tolerance)) {
            fail_msg("vertex %zu, axis %zu: %.9g, not %.9g", i / 3, i % 3, (double)got[i], (double)p->positions[i]);
        }
        worst->position = fmax(worst->position, off / size_of(&p->box));
    }
}

static double angle(const float a[3], const float b[3])
{
    double cross[3];
    double dot = 0;
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3;
        int m = (k + 2) % 3;
        cross[k] = (double)a[l] * (double)b[m] - (double)a[m] * (double)b[l];
        dot += (double)a[k] * (double)b[k];
    }
    return atan2(sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]), dot) * degrees;
}

static void compare_directions(const posed *p, const uint32_t *got, bool normal, peltt_vk_worst *worst)
{
    uint32_t width = normal ? 3 : 4;
    const float *wanted = normal ? p->normals : p->tangents;
    double *largest = normal ? &worst->normal : &worst->tangent;
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        const float *want = wanted + (size_t)v * width;
        float decoded[4];
        if (normal) {
            pelt_normal_decode(got[v], decoded);
        } else {
            pelt_tangent_decode(got[v], decoded);
            assert_true(decoded[3] == want[3]);
        }
        double off = angle(decoded, want);
        if (!(off <= angle_tolerance)) {
            fail_msg("%s of vertex %u is %g degrees off", normal ? "normal" : "tangent", v, off);
        }
        *largest = fmax(*largest, off);
    }
}

static void compare_exact(uint32_t vertex_count, const float *positions, const pelt_box *got)
{
    pelt_box box = pelt_box_empty();
    for (size_t i = 0; i < (size_t)vertex_count * 3; i++) {
        box.min[i % 3] = fminf(box.min[i % 3], positions[i]);
        box.max[i % 3] = fmaxf(box.max[i % 3], positions[i]);
    }
    assert_memory_equal(got, &box, sizeof box);
}

static bool is_whole(const posed *p)
{
    return p->want->rigid || p->want->model->primitive->influence_count == 0;
}

// How far morphs may take a vertex that its joint's box does not know of: those were cooked for weights from 0 to 1,
// and the whole box is that of the positions.
static void morphs_beyond(const posed *p, double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    for (uint32_t t = 0; t < p->want->model->target_count; t++) {
        double weight = (double)p->morphs[t].weight;
        double excess = is_whole(p) ? fabs(weight) : fmax(fmax(-weight, weight - 1.0), 0.0);
        double reach[3] = {0};
        for (size_t i = 0; p->morphs[t].positions && i < (size_t)p->vertex_count * 3; i++) {
            reach[i % 3] = fmax(reach[i % 3], fabs((double)p->morphs[t].positions[i]));
        }
        for (int k = 0; k < 3; k++) {
            out[k] += excess * reach[k];
        }
    }
}

static pelt_box moved_box(const pelt_mat34 *m, const pelt_box *box, const pelt_mat34 *skinning, const double beyond[3])
{
    pelt_box moved = pelt_box_transform(m, box);
    for (int k = 0; k < 3; k++) {
        double more = 0;
        for (int c = 0; c < 3; c++) {
            more += fabs((double)skinning->m[k][c]) * beyond[c];
        }
        moved.min[k] -= (float)more;
        moved.max[k] += (float)more;
    }
    return moved;
}

// The union of the joints' boxes as they stand; of the whole one where there are no influences.
static pelt_box joint_union(const posed *p)
{
    const pelt_cooked_data *data = p->want->model->data;
    double beyond[3];
    morphs_beyond(p, beyond);
    if (is_whole(p)) {
        return moved_box(&p->palette[0], &data->primitives[0].box, &p->palette[0], beyond);
    }
    pelt_box all = pelt_box_empty();
    for (uint32_t j = 0; j < data->joint_boxes[0].joint_count; j++) {
        pelt_box moved = moved_box(&p->want->worlds[j], &data->joint_boxes[0].boxes[j], &p->palette[j], beyond);
        all = pelt_box_union(&all, &moved);
    }
    return all;
}

static void compare_conservative(const posed *p, const float *positions, const pelt_box *got)
{
    for (size_t i = 0; i < (size_t)p->vertex_count * 3; i++) {
        assert_true(got->min[i % 3] <= positions[i] && got->max[i % 3] >= positions[i]);
    }
    if (p->vertex_count == 0) {
        assert_true(pelt_box_is_empty(got));
    } else {
        pelt_box tight = joint_union(p);
        float slack = (float)(1e-4 * size_of(&tight));
        for (int k = 0; k < 3; k++) {
            assert_true(got->min[k] >= tight.min[k] - slack && got->max[k] <= tight.max[k] + slack);
        }
    }
}

void peltt_vk_compare(const peltt_vk_fetch *fetch, const peltt_vk_shot *shot, const peltt_vk_want *want,
                      peltt_vk_worst *worst)
{
    posed p = pose(want);
    const float *positions = peltt_vk_fetch_get(fetch, shot->indices[0]);
    compare_positions(&p, positions, worst);
    if (p.normals && (want->omit & PELT_VK_OMIT_NORMALS) == 0) {
        compare_directions(&p, peltt_vk_fetch_get(fetch, shot->indices[2]), true, worst);
    }
    if (p.tangents && (want->omit & PELT_VK_OMIT_TANGENTS) == 0) {
        compare_directions(&p, peltt_vk_fetch_get(fetch, shot->indices[3]), false, worst);
    }
    if (want->bounds == PELT_VK_BOUNDS_EXACT || want->bounds == PELT_VK_BOUNDS_BOTH) {
        compare_exact(p.vertex_count, positions, peltt_vk_fetch_get(fetch, shot->indices[4]));
    }
    if (want->bounds == PELT_VK_BOUNDS_CONSERVATIVE || want->bounds == PELT_VK_BOUNDS_BOTH) {
        compare_conservative(&p, positions, peltt_vk_fetch_get(fetch, shot->indices[5]));
    }
    worst->vertex_count += p.vertex_count;
    release(&p);
}

static void check_stream(const peltt_vk *vk, const pelt_vk_stream *s, bool present, uint64_t count, uint32_t stride,
                         VkFormat format, uint32_t alignment)
{
    if (!present || count == 0) {
        assert_int_equal(s->size, 0);
        return;
    }
    assert_int_equal(s->stride, stride);
    assert_int_equal(s->size, count * stride);
    assert_int_equal(s->format, format);
    assert_int_equal(s->offset % alignment, 0);
    const VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = s->buffer};
    assert_int_equal(s->address, PELTT_VK(vk, vkGetBufferDeviceAddress)(vk->device, &info) + s->offset);
}

void peltt_vk_check_view(const peltt_vk *vk, const pelt_vk_view *view, const peltt_vk_want *want)
{
    const pelt_cooked_primitive *p = &want->model->data->primitives[0];
    uint32_t n = p->vertex_count;
    bool exact = want->bounds == PELT_VK_BOUNDS_EXACT || want->bounds == PELT_VK_BOUNDS_BOTH;
    bool conservative = want->bounds == PELT_VK_BOUNDS_CONSERVATIVE || want->bounds == PELT_VK_BOUNDS_BOTH;
    bool previous = (want->omit & PELT_VK_OMIT_PREVIOUS) == 0;
    bool normals = p->normals && (want->omit & PELT_VK_OMIT_NORMALS) == 0;
    bool tangents = p->tangents && (want->omit & PELT_VK_OMIT_TANGENTS) == 0;
    assert_int_equal(view->vertex_count, n);
    check_stream(vk, &view->positions, true, n, 12, VK_FORMAT_R32G32B32_SFLOAT, 16);
    check_stream(vk, &view->previous_positions, previous, n, 12, VK_FORMAT_R32G32B32_SFLOAT, 16);
    check_stream(vk, &view->normals, normals, n, 4, VK_FORMAT_R16G16_SNORM, 16);
    check_stream(vk, &view->tangents, tangents, n, 4, VK_FORMAT_R32_UINT, 16);
    check_stream(vk, &view->box, exact, 1, 24, view->box.format, 8);
    check_stream(vk, &view->conservative_box, conservative, 1, 24, view->conservative_box.format, 8);
    assert_true(previous || !view->previous_valid);
    assert_int_equal(view->index_count, p->index_count);
    check_stream(vk, &view->indices, p->index_size != 0, p->index_count, p->index_size,
                 p->index_size == 2 ? VK_FORMAT_R16_UINT : VK_FORMAT_R32_UINT, 16);
    assert_int_equal(view->index_type, p->index_size == 0   ? VK_INDEX_TYPE_NONE_KHR
                                       : p->index_size == 2 ? VK_INDEX_TYPE_UINT16
                                                            : VK_INDEX_TYPE_UINT32);
}

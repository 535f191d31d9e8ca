// SPDX-License-Identifier: MIT
// Packed streams against the source they were made of: geometry, attributes, indices and targets; the same bytes for
// any threads, and every failed allocation told.
#include "peltt_packed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

// --- geometry

static double angle(const float *a, const float *b)
{
    double dot = 0.0;
    double cross2 = 0.0;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        double c = (double)a[j] * (double)b[k] - (double)a[k] * (double)b[j];
        dot += (double)a[i] * (double)b[i];
        cross2 += c * c;
    }
    return 57.29577951308232 * atan2(sqrt(cross2), dot);
}

static void check_geometry(const peltt_packed *packed)
{
    const pelt_cooked_primitive *out = &packed->p.out;
    const pelt_primitive *source = &packed->source;
    pelt_box box = pelt_box_empty();
    for (uint32_t v = 0; v < out->vertex_count; v++) {
        size_t from = out->source_vertices[v];
        float n[3];
        float t[4];
        assert_memory_equal(out->positions + (size_t)v * 3, source->positions + from * 3, 12);
        pelt_normal_decode(out->normals[v], n);
        pelt_tangent_decode(out->tangents[v], t);
        assert_true(angle(n, source->normals + from * 3) < 0.0025);
        assert_true(angle(t, source->tangents + from * 4) < 0.0043);
        assert_true(t[3] == source->tangents[from * 4 + 3]);
        pelt_box point;
        memcpy(point.min, source->positions + from * 3, 12);
        memcpy(point.max, source->positions + from * 3, 12);
        box = pelt_box_union(&box, &point);
        for (uint32_t i = 0; i < out->attribute_count; i++) {
            const pelt_attribute *a = &source->attributes[i];
            const pelt_attribute *b = &out->attributes[i];
            assert_true(a->name == b->name && a->component == b->component && a->stride == b->stride);
            assert_memory_equal((const char *)b->data + (size_t)v * b->stride, (const char *)a->data + from * a->stride,
                                a->stride);
        }
    }
    assert_int_equal(out->attribute_count, source->attribute_count);
    assert_memory_equal(&out->box, &box, sizeof box);
}

static void geometry_follows_the_order(void **state)
{
    (void)state;
    peltt_packed_each(43, check_geometry);
}

static uint32_t index_at(const pelt_cooked_primitive *out, uint32_t i)
{
    return out->index_size == 2 ? ((const uint16_t *)out->indices)[i] : ((const uint32_t *)out->indices)[i];
}

static void check_indices(const peltt_packed *packed)
{
    const pelt_cooked_primitive *out = &packed->p.out;
    const pelt_primitive *source = &packed->source;
    assert_int_equal(out->index_count, source->index_count);
    if (!source->indices && !packed->shape.shuffle) {
        assert_true(out->index_size == 0 && !out->indices && out->index_count == out->vertex_count);
        return;
    }
    assert_int_equal(out->index_size, out->vertex_count <= 65535 ? 2 : 4);
    for (uint32_t i = 0; i < out->index_count; i++) {
        uint32_t vertex = index_at(out, i);
        assert_true(vertex < out->vertex_count && vertex != 65535);
        assert_int_equal(out->source_vertices[vertex], source->indices ? source->indices[i] : i);
    }
}

static void indices_name_the_same_vertices(void **state)
{
    (void)state;
    peltt_packed_each(44, check_indices);
}

static void index_size_follows_the_vertex_count(void **state)
{
    (void)state;
    const struct {
        uint32_t vertices;
        uint32_t size;
    } cases[] = {{65534, 2}, {65535, 2}, {65536, 4}};
    for (size_t i = 0; i < 3; i++) {
        peltt_random random = {45};
        peltt_packed packed;
        const peltt_packed_shape shape = {
            .vertex_count = cases[i].vertices, .joint_count = 1, .size = 1, .has_indices = true};
        peltt_packed_init(&packed, &shape, &random);
        assert_int_equal(peltt_packed_cook(&packed, NULL, 1, NULL), PELT_OK);
        assert_int_equal(packed.p.out.index_size, cases[i].size);
        for (uint32_t k = 0; k < packed.p.out.index_count; k++) {
            assert_int_equal(index_at(&packed.p.out, k), packed.source.indices[k]);
            assert_true(cases[i].size == 4 || index_at(&packed.p.out, k) != 65535);
        }
        peltt_packed_free(&packed);
    }
}

// --- targets

static const float *source_stream(const pelt_morph_target *target, uint32_t stream)
{
    return stream == 0 ? target->positions : stream == 1 ? target->normals : target->tangents;
}

// Bytes that the target would take in the other form.
static uint64_t target_size(const pelt_cooked_target *target, uint32_t rows, bool sparse)
{
    uint64_t value = target->format & PELT_TARGET_16BIT ? 6 : 12;
    uint64_t streams = (target->positions ? 1U : 0U) + (target->normals ? 1U : 0U) + (target->tangents ? 1U : 0U);
    return rows * (streams * value + (sparse ? 4 : 0));
}

static double check_target(const peltt_packed *packed, uint32_t index)
{
    const pelt_cooked_primitive *out = &packed->p.out;
    const pelt_cooked_target *target = &out->targets[index];
    bool narrow = packed->options.morph_16bit;
    double worst = 0.0;
    uint32_t changed = 0;
    float *values[3];
    for (uint32_t s = 0; s < 3; s++) {
        values[s] = calloc((size_t)out->vertex_count * 3 + 1, sizeof(float));
        assert_non_null(values[s]);
        pelt_cooked_target_add(target, s, 1.0F, values[s]);
    }
    for (uint32_t v = 0; v < out->vertex_count; v++) {
        bool moved = false;
        double error2 = 0.0;
        for (uint32_t s = 0; s < 3; s++) {
            const float *source = source_stream(&packed->targets[index], s);
            for (size_t c = 0; c < 3; c++) {
                double want = source ? (double)source[(size_t)out->source_vertices[v] * 3 + c] : 0.0;
                double error = (double)values[s][(size_t)v * 3 + c] - want;
                // Half a step of the scale, and one rounding to float.
                double bound = narrow ? (double)target->scale[s] * (0.5 / 32767 + 0x1p-24) : 0.0;
                assert_true(fabs(error) <= bound);
                error2 += s == 0 ? error * error : 0.0;
                moved = moved || values[s][(size_t)v * 3 + c] != 0.0F;
            }
        }
        worst = fmax(worst, sqrt(error2));
        changed += moved ? 1 : 0;
    }
    bool sparse = target->format & PELT_TARGET_SPARSE;
    assert_true(((target->format & PELT_TARGET_16BIT) != 0) == narrow);
    assert_int_equal(target->vertex_count, sparse ? changed : out->vertex_count);
    assert_true(sparse == (target->vertices != NULL));
    for (uint32_t row = 0; sparse && row < target->vertex_count; row++) {
        assert_true(target->vertices[row] < out->vertex_count);
        assert_true(row == 0 || target->vertices[row] > target->vertices[row - 1]);
    }
    if (changed > 0) {
        uint64_t own = target_size(target, target->vertex_count, sparse);
        assert_true(own <= target_size(target, sparse ? out->vertex_count : changed, !sparse));
    } else {
        assert_true(sparse && !target->positions && !target->normals && !target->tangents);
    }
    for (uint32_t s = 0; s < 3; s++) {
        free(values[s]);
    }
    return worst;
}

static void check_targets(const peltt_packed *packed)
{
    double worst = 0.0;
    for (uint32_t t = 0; t < packed->shape.target_count; t++) {
        worst = fmax(worst, check_target(packed, t));
    }
    // The stated error is the actual one, rounded up to float.
    double stated = (double)packed->p.report.worst_morph_error;
    assert_true(stated >= worst * (1.0 - 1e-15) && stated <= worst * (1.0 + 0x1p-22));
}

static void targets_come_back_in_the_smaller_form(void **state)
{
    (void)state;
    peltt_packed_each(46, check_targets);
}

static void adding_targets_scales_and_accumulates(void **state)
{
    (void)state;
    const uint32_t vertices[2] = {1, 3};
    const float deltas[6] = {1, 2, 3, -4, 5, -6};
    const int16_t codes[6] = {32767, 0, -32767, 16384, -1, 1};
    pelt_cooked_target target = {
        .format = PELT_TARGET_SPARSE, .vertex_count = 2, .vertices = vertices, .positions = deltas, .scale = {1, 1, 1}};
    float values[12];
    for (int i = 0; i < 12; i++) {
        values[i] = 1.0F;
    }
    pelt_cooked_target_add(&target, 0, -0.5F, values);
    pelt_cooked_target_add(&target, 1, 1.0F, values); // no normals: nothing
    pelt_cooked_target_add(&target, 7, 1.0F, values); // no such stream
    const float want[12] = {1, 1, 1, 0.5F, 0, -0.5F, 1, 1, 1, 3, -1.5F, 4};
    assert_memory_equal(values, want, sizeof want);
    const pelt_cooked_target narrow = {
        .format = PELT_TARGET_16BIT, .vertex_count = 2, .tangents = codes, .scale = {1, 1, 4.0F}};
    float out[6] = {0};
    pelt_cooked_target_add(&narrow, 2, 1.0F, out);
    for (int i = 0; i < 6; i++) {
        assert_true(out[i] == (float)(codes[i] * 4.0 / 32767.0));
    }
}

// --- threads and memory

static void run_backwards(void *user, uint32_t task_count, pelt_task task, void *context)
{
    (void)user;
    for (uint32_t i = task_count; i-- > 0;) {
        task(context, i);
    }
}

static void expect_same(const pelt_cooked_primitive *a, const pelt_cooked_primitive *b)
{
    size_t count = a->vertex_count;
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_memory_equal(a->positions, b->positions, count * 12);
    assert_memory_equal(a->normals, b->normals, count * 4);
    assert_memory_equal(a->tangents, b->tangents, count * 4);
    assert_memory_equal(a->weights, b->weights, count * 4);
    assert_int_equal(a->joints_size, b->joints_size);
    assert_memory_equal(a->joints, b->joints, a->joints_size);
    assert_memory_equal(a->runs, b->runs, a->run_count * sizeof *a->runs);
    assert_int_equal(a->extra_count, b->extra_count);
    assert_memory_equal(a->extras, b->extras, a->extra_count * sizeof *a->extras);
    assert_memory_equal(a->extra_offsets, b->extra_offsets, (a->wide_count + 1) * sizeof *a->extra_offsets);
}

static void bytes_do_not_depend_on_threads(void **state)
{
    (void)state;
    const peltt_packed_shape shape = {.vertex_count = 40000,
                                      .influence_count = 7,
                                      .joint_count = 25,
                                      .size = 1,
                                      .has_indices = true,
                                      .shuffle = true,
                                      .list_joints = true};
    pelt_pool *pool = NULL;
    assert_int_equal(pelt_pool_create(3, NULL, &pool), PELT_OK);
    const pelt_parallel ways[2] = {pelt_pool_parallel(pool), {run_backwards, NULL, 1}};
    peltt_random random = {47};
    peltt_packed one;
    peltt_packed_init(&one, &shape, &random);
    assert_int_equal(peltt_packed_cook(&one, NULL, 5, NULL), PELT_OK);
    for (int i = 0; i < 2; i++) {
        random.state = 47;
        peltt_packed other;
        peltt_packed_init(&other, &shape, &random);
        other.options.parallel = &ways[i];
        assert_int_equal(peltt_packed_cook(&other, NULL, 5, NULL), PELT_OK);
        expect_same(&one.p.out, &other.p.out);
        peltt_packed_free(&other);
    }
    peltt_packed_free(&one);
    pelt_pool_destroy(pool);
}

static void every_failed_allocation_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < PELTT_PACKED_SHAPES; i++) {
        peltt_random random = {48};
        peltt_packed packed;
        peltt_packed_init(&packed, &peltt_packed_shapes[i], &random);
        pelt_result result = PELT_ERROR_MEMORY;
        for (uint64_t n = 1; result != PELT_OK; n++) {
            peltt_alloc memory = {.fail_at = n};
            pelt_error error = {0};
            result = peltt_packed_cook(&packed, &memory, 6, &error);
            bool failed = result == PELT_ERROR_MEMORY && error.code == PELT_ERROR_MEMORY;
            assert_true(result == PELT_OK || failed);
            pelti_cook_release_arena(&packed.arena);
            assert_int_equal(memory.live_bytes, 0);
            assert_true(n < 1000);
        }
        peltt_packed_free(&packed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(geometry_follows_the_order),
        cmocka_unit_test(indices_name_the_same_vertices),
        cmocka_unit_test(index_size_follows_the_vertex_count),
        cmocka_unit_test(targets_come_back_in_the_smaller_form),
        cmocka_unit_test(adding_targets_scales_and_accumulates),
        cmocka_unit_test(bytes_do_not_depend_on_threads),
        cmocka_unit_test(every_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// pelt_cook: what goes in comes out, and the bytes depend on nothing but the input. Opening: test_cook_open.c; damage
// to contents: test_cook_damage.c; import: test_cook_import.c.
#include "peltt_alloc.h"
#include "peltt_model.h"
#include "peltt_pelt.h"
#include "peltt_warnings.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const peltt_model_shape small_shape = {12, 3, 2, 40, 6, 2, 4, 2};
static const peltt_model_shape wide_shape = {50, 4, 3, 900, 90, 2, 5, 3};

static pelt_cooked *open_fine(const peltt_pelt *file)
{
    pelt_cooked *cooked = NULL;
    pelt_error error;
    if (pelt_cooked_open_memory(file->data, file->size, NULL, &cooked, &error) != PELT_OK) {
        fail_msg("%s: %s", error.where, error.message);
    }
    return cooked;
}

static void null_arguments_are_refused(void **state)
{
    (void)state;
    pelt_asset *asset = peltt_model_make(&small_shape, 1, NULL);
    pelt_cooked *cooked = NULL;
    pelt_error error;
    void *data = NULL;
    uint64_t size = 0;
    uint64_t hash[2];
    assert_int_equal(pelt_cook(NULL, NULL, &data, &size, NULL, &error), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_cook(asset, NULL, NULL, &size, NULL, &error), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_cook(asset, NULL, &data, NULL, NULL, NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_cooked_open_memory(NULL, 5, NULL, &cooked, &error), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_cooked_open_memory("", 0, NULL, NULL, &error), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_cooked_open_file(NULL, NULL, &cooked, &error), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_cooked_import(NULL, NULL, &error), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_cooked_read_hashes(NULL, hash, hash), PELT_ERROR_ARGUMENT);
    pelt_cooked_close(NULL);
    pelt_cook_release(NULL, NULL, 0);
    pelt_asset_destroy(asset);
}

static void options_out_of_range_are_refused(void **state)
{
    (void)state;
    pelt_asset *asset = peltt_model_make(&small_shape, 1, NULL);
    const pelt_cook_options wrong[] = {
        {.weights = (pelt_weight_encoding)7},
        {.morph_weight_min = 1.0F, .morph_weight_max = 0.5F},
        {.morph_weight_max = HUGE_VALF},
        {.morph_weight_min = NAN},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        void *data = NULL;
        uint64_t size = 0;
        pelt_error error;
        assert_int_equal(pelt_cook(asset, &wrong[i], &data, &size, NULL, &error), PELT_ERROR_ARGUMENT);
        assert_null(data);
        assert_int_equal(error.code, PELT_ERROR_ARGUMENT);
    }
    pelt_asset_destroy(asset);
}

static void check_primitive(const pelt_asset_data *asset, const pelt_cooked_primitive *p)
{
    const pelt_mesh *mesh = &asset->meshes[p->mesh];
    const pelt_primitive *source = &mesh->primitives[p->primitive];
    assert_int_equal(p->topology, source->topology);
    assert_int_equal(p->material, source->material);
    assert_int_equal(p->source_vertex_count, source->vertex_count);
    assert_int_equal(p->has_declared_box, source->has_declared_box);
    assert_int_equal(p->target_count, mesh->target_count);
    assert_int_equal(p->attribute_count, source->attribute_count);
    assert_int_equal(p->index_count, source->index_count);
    assert_int_equal(p->normals != NULL, source->normals != NULL);
    assert_int_equal(p->weights != NULL, source->influence_count > 0);
    if (source->has_declared_box) {
        assert_memory_equal(&p->declared_box, &source->declared_box, sizeof p->declared_box);
    }
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        size_t from = p->source_vertices[v];
        assert_memory_equal(p->positions + 3 * (size_t)v, source->positions + 3 * from, 3 * sizeof(float));
        if (p->normals) {
            assert_int_equal(p->normals[v], pelt_normal_encode(source->normals + 3 * from));
        }
        if (p->tangents) {
            assert_int_equal(p->tangents[v], pelt_tangent_encode(source->tangents + 4 * from));
        }
        for (uint32_t i = 0; i < p->attribute_count; i++) {
            const pelt_attribute *a = &p->attributes[i];
            assert_string_equal(a->name, source->attributes[i].name);
            assert_int_equal(a->component, source->attributes[i].component);
            assert_int_equal(a->normalized, source->attributes[i].normalized);
            assert_memory_equal((const char *)a->data + (size_t)v * a->stride,
                                (const char *)source->attributes[i].data + from * a->stride, a->stride);
        }
    }
    for (uint32_t i = 0; i < source->index_count; i++) {
        uint32_t vertex = p->index_size == 2   ? ((const uint16_t *)p->indices)[i]
                          : p->index_size == 4 ? ((const uint32_t *)p->indices)[i]
                                               : i;
        assert_int_equal(p->source_vertices[vertex], source->indices ? source->indices[i] : i);
    }
}

static void check_targets(const pelt_asset_data *asset, const pelt_cooked_primitive *p)
{
    const pelt_primitive *source = &asset->meshes[p->mesh].primitives[p->primitive];
    float *values = malloc(((size_t)p->vertex_count * 3 + 1) * sizeof *values);
    assert_non_null(values);
    for (uint32_t t = 0; t < p->target_count; t++) {
        const float *streams[3] = {source->targets[t].positions, source->targets[t].normals,
                                   source->targets[t].tangents};
        for (uint32_t s = 0; s < 3; s++) {
            memset(values, 0, (size_t)p->vertex_count * 3 * sizeof *values);
            pelt_cooked_target_add(&p->targets[t], s, 1.0F, values);
            for (uint32_t i = 0; i < p->vertex_count * 3; i++) {
                float expected = streams[s] ? streams[s][(size_t)p->source_vertices[i / 3] * 3 + i % 3] : 0.0F;
                assert_true(values[i] == expected);
            }
        }
    }
    free(values);
}

// Exact parts bit for bit; influences: every heavy one is there, and nothing is off by more than the encoding may be.
static void check_influences(const pelt_asset_data *asset, const pelt_cooked_primitive *p)
{
    const pelt_primitive *source = &asset->meshes[p->mesh].primitives[p->primitive];
    for (uint32_t v = 0; p->weights && v < p->vertex_count; v++) {
        uint16_t joints[16];
        float weights[16];
        uint32_t count = pelt_cooked_influences(p, v, 16, joints, weights);
        assert_true(count >= 1 && count <= 16);
        for (uint32_t i = 0; i < source->influence_count; i++) {
            size_t at = (size_t)p->source_vertices[v] * source->influence_count + i;
            float got = 0.0F;
            for (uint32_t k = 0; k < count; k++) {
                got += joints[k] == source->joints[at] && source->weights[at] > 0.0F ? weights[k] : 0.0F;
            }
            assert_true(fabsf(got - source->weights[at]) <= 1.0F / 2048.0F + 1e-4F);
        }
    }
}

static void what_goes_in_comes_out(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        pelt_asset *asset = peltt_model_make(seed % 2 ? &small_shape : &wide_shape, seed, NULL);
        const pelt_asset_data *data = pelt_asset_get(asset);
        pelt_cook_options options = {.keep_order = seed % 3 == 0, .direct_joints = seed % 4 == 0};
        peltt_pelt file = peltt_pelt_cook(asset, &options);
        pelt_cooked *cooked = open_fine(&file);
        const pelt_cooked_data *got = pelt_cooked_get(cooked);
        uint32_t next = 0;
        for (uint32_t m = 0; m < data->mesh_count; m++) {
            for (uint32_t k = 0; k < data->meshes[m].primitive_count; k++, next++) {
                assert_true(next < got->primitive_count);
                assert_int_equal(got->primitives[next].mesh, m);
                assert_int_equal(got->primitives[next].primitive, k);
                check_primitive(data, &got->primitives[next]);
                check_targets(data, &got->primitives[next]);
                check_influences(data, &got->primitives[next]);
            }
        }
        assert_int_equal(next, got->primitive_count);
        pelt_cooked_close(cooked);
        peltt_pelt_free(&file);
        pelt_asset_destroy(asset);
    }
}

static void streams_are_used_where_they_lie(void **state)
{
    (void)state;
    peltt_pelt file = peltt_pelt_model(&small_shape, 3, NULL, NULL);
    pelt_cooked *cooked = open_fine(&file);
    const pelt_cooked_primitive *p = &pelt_cooked_get(cooked)->primitives[0];
    assert_ptr_equal(p->positions, peltt_pelt_at(&file, "POSN", 0, 0, 0, 0));
    assert_ptr_equal(p->weights, peltt_pelt_at(&file, "WGHT", 0, 0, 0, 0));
    assert_ptr_equal(p->runs, peltt_pelt_at(&file, "RUNS", 0, 0, 0, 0));
    assert_ptr_equal(p->attributes[1].data, peltt_pelt_at(&file, "ATTD", 0, 1, 0, 0));
    pelt_cooked_close(cooked);
    peltt_pelt_free(&file);
}

// One set for each primitive with influences and skin that an instance brings together, by primitive, then skin.
static void joint_boxes_are_there_for_every_pair(void **state)
{
    (void)state;
    pelt_asset *asset = peltt_model_make(&small_shape, 5, NULL);
    const pelt_asset_data *data = pelt_asset_get(asset);
    peltt_pelt file = peltt_pelt_cook(asset, NULL);
    pelt_cooked *cooked = open_fine(&file);
    const pelt_cooked_data *got = pelt_cooked_get(cooked);
    uint32_t next = 0;
    for (uint32_t i = 0; i < got->primitive_count; i++) {
        for (uint32_t skin = 0; skin < data->skin_count; skin++) {
            bool together = false;
            for (uint32_t k = 0; k < data->instance_count; k++) {
                together |= data->instances[k].mesh == got->primitives[i].mesh && data->instances[k].skin == skin;
            }
            if (together) {
                assert_true(next < got->joint_boxes_count);
                assert_int_equal(got->joint_boxes[next].primitive, i);
                assert_int_equal(got->joint_boxes[next].skin, skin);
                assert_int_equal(got->joint_boxes[next].joint_count, data->skins[skin].joint_count);
                next++;
            }
        }
    }
    assert_true(next > 0);
    assert_int_equal(next, got->joint_boxes_count);
    pelt_cooked_close(cooked);
    peltt_pelt_free(&file);
    pelt_asset_destroy(asset);
}

static void assert_same(const peltt_pelt *a, const peltt_pelt *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, (size_t)a->size);
}

static void bytes_do_not_depend_on_threads_or_memory(void **state)
{
    (void)state;
    // Over the size from which one primitive is shared out to all threads.
    const peltt_model_shape large = {20, 2, 2, 40000, 70, 2, 2, 1};
    const peltt_model_shape *const shapes[] = {&small_shape, &wide_shape, &large};
    for (uint32_t s = 0; s < 3; s++) {
        pelt_asset *asset = peltt_model_make(shapes[s], 7 + s, NULL);
        peltt_pelt expected = peltt_pelt_cook(asset, NULL);
        peltt_alloc memory = {0};
        pelt_cook_options options = {.allocator = peltt_alloc_make(&memory)};
        peltt_pelt got = peltt_pelt_cook(asset, &options);
        assert_same(&expected, &got);
        peltt_pelt_free(&got);
        assert_int_equal(memory.live_blocks, 0);
        for (uint32_t threads = 2; threads <= 8; threads += 6) {
            pelt_pool *pool = NULL;
            assert_int_equal(pelt_pool_create(threads, NULL, &pool), PELT_OK);
            pelt_parallel parallel = pelt_pool_parallel(pool);
            for (int with_allocator = 0; with_allocator < 2; with_allocator++) {
                pelt_cook_options shared = {.parallel = &parallel};
                if (with_allocator) {
                    shared.allocator = options.allocator;
                }
                got = peltt_pelt_cook(asset, &shared);
                assert_same(&expected, &got);
                peltt_pelt_free(&got);
            }
            pelt_pool_destroy(pool);
        }
        peltt_pelt_free(&expected);
        pelt_asset_destroy(asset);
    }
}

// Every section but those allowed to differ has the same entry and bytes. Returns how many differ.
static uint32_t count_changed(const peltt_pelt *a, const peltt_pelt *b, const char *allowed)
{
    uint32_t changed = 0;
    assert_int_equal(a->size, b->size);
    assert_int_equal(peltt_pelt_count(a), peltt_pelt_count(b));
    for (uint32_t i = 0; i < peltt_pelt_count(a); i++) {
        peltt_pelt_section x = peltt_pelt_get(a, i);
        peltt_pelt_section y = peltt_pelt_get(b, i);
        bool equal = x.hash == y.hash && memcmp(a->data + x.offset, b->data + y.offset, (size_t)x.size) == 0;
        assert_int_equal(x.offset, y.offset);
        assert_int_equal(x.size, y.size);
        if (!equal) {
            changed++;
            if (!strstr(allowed, x.kind) || (x.owner != 0 && strcmp(x.kind, "BOXS") != 0)) {
                fail_msg("section %s %u %u changed", x.kind, x.owner, x.sub);
            }
        }
    }
    return changed;
}

static void one_vertex_changes_only_the_sections_concerned(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        peltt_pelt before = peltt_pelt_model(&wide_shape, seed, NULL, NULL);
        peltt_pelt moved = peltt_pelt_model(&wide_shape, seed, &(peltt_model_change){.move_vertex = true}, NULL);
        peltt_pelt coloured = peltt_pelt_model(&wide_shape, seed, &(peltt_model_change){.change_colour = true}, NULL);
        assert_in_range(count_changed(&before, &moved, "POSN PRIM BOXS"), 1, 4);
        assert_int_equal(count_changed(&before, &coloured, "ATTD"), 1);
        peltt_pelt_free(&before);
        peltt_pelt_free(&moved);
        peltt_pelt_free(&coloured);
    }
}

static void sections_are_aligned_and_in_order(void **state)
{
    (void)state;
    peltt_pelt file = peltt_pelt_model(&wide_shape, 2, NULL, NULL);
    uint64_t end = 128 + 64 * (uint64_t)peltt_pelt_count(&file);
    for (uint32_t i = 0; i < peltt_pelt_count(&file); i++) {
        peltt_pelt_section section = peltt_pelt_get(&file, i);
        assert_int_equal(section.offset % 64, 0);
        assert_true(section.offset >= end && section.offset - end < 64);
        assert_int_equal(section.size, section.count * section.element_size);
        end = section.offset + section.size;
    }
    assert_int_equal(file.size, (end + 63) / 64 * 64);
    peltt_pelt_free(&file);
}

// Published values of XXH3-128 with the default secret and seed 0.
static void source_hash_is_xxh3_128(void **state)
{
    (void)state;
    uint64_t hash[2] = {0};
    pelt_source_hash("", 0, hash);
    assert_true(hash[0] == UINT64_C(0x6001C324468D497F) && hash[1] == UINT64_C(0x99AA06D3014798D8));
    pelt_source_hash("a", 1, hash);
    assert_true(hash[0] == UINT64_C(0xE6C632B61E964E1F) && hash[1] == UINT64_C(0xA96FAF705AF16834));
}

static void options_hash_tells_what_changes_bytes(void **state)
{
    (void)state;
    peltt_warnings log = {0};
    pelt_parallel parallel = {0};
    const pelt_cook_options same[] = {
        {.keep_order = false},
        {.morph_weight_max = 1.0F},
        {.morph_weight_min = -0.0F, .morph_weight_max = 1.0F},
        {.log = peltt_warnings_make(&log), .parallel = &parallel, .source_hash = {1, 2}},
    };
    const pelt_cook_options different[] = {
        {.weights = PELT_WEIGHTS_PLAIN},
        {.keep_order = true},
        {.direct_joints = true},
        {.morph_16bit = true},
        {.morph_weight_max = 2.0F},
        {.morph_weight_min = -1.0F},
        {.morph_weight_min = -1.0F, .morph_weight_max = 1.0F},
    };
    uint64_t hashes[8] = {pelt_cook_options_hash(NULL)};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        assert_true(pelt_cook_options_hash(&same[i]) == hashes[0]);
    }
    for (size_t i = 0; i < sizeof different / sizeof different[0]; i++) {
        hashes[i + 1] = pelt_cook_options_hash(&different[i]);
        for (size_t k = 0; k <= i; k++) {
            assert_true(hashes[k] != hashes[i + 1]);
        }
    }
}

static void allocations_may_fail_while_cooking(void **state)
{
    (void)state;
    pelt_asset *asset = peltt_model_make(&small_shape, 9, NULL);
    peltt_pelt expected = peltt_pelt_cook(asset, NULL);
    bool failed = true;
    for (uint64_t n = 1; failed; n++) {
        peltt_alloc memory = {.fail_at = n};
        pelt_cook_options options = {.allocator = peltt_alloc_make(&memory)};
        void *data = NULL;
        uint64_t size = 0;
        pelt_error error;
        pelt_result result = pelt_cook(asset, &options, &data, &size, NULL, &error);
        failed = memory.call_count >= n;
        if (failed) {
            assert_int_equal(result, PELT_ERROR_MEMORY);
            assert_int_equal(error.code, PELT_ERROR_MEMORY);
            assert_null(data);
        } else {
            assert_int_equal(result, PELT_OK);
            assert_int_equal(size, expected.size);
            assert_memory_equal(data, expected.data, (size_t)size);
        }
        pelt_cook_release(&options, data, size);
        assert_int_equal(memory.live_blocks, 0);
        assert_int_equal(memory.live_bytes, 0);
    }
    peltt_pelt_free(&expected);
    pelt_asset_destroy(asset);
}

static void empty_asset_cooks_and_opens(void **state)
{
    (void)state;
    const peltt_model_shape nothing = {.node_count = 4, .joint_count = 1};
    pelt_asset *asset = peltt_model_make(&nothing, 1, NULL);
    peltt_pelt file = peltt_pelt_cook(asset, NULL);
    pelt_cooked *cooked = open_fine(&file);
    assert_int_equal(pelt_cooked_get(cooked)->primitive_count, 0);
    assert_int_equal(pelt_cooked_get(cooked)->joint_boxes_count, 0);
    pelt_cooked_close(cooked);
    peltt_pelt_free(&file);
    pelt_asset_destroy(asset);
}

static void dropped_vertices_are_told_once_for_each_primitive(void **state)
{
    (void)state;
    pelt_asset *asset = peltt_model_make(&small_shape, 3, NULL);
    peltt_warnings log = {0};
    pelt_cook_report reports[6] = {{0}};
    pelt_cook_options options = {.log = peltt_warnings_make(&log)};
    void *data = NULL;
    uint64_t size = 0;
    assert_int_equal(pelt_cook(asset, &options, &data, &size, reports, NULL), PELT_OK);
    uint32_t with_drops = 0;
    for (uint32_t i = 0; i < 6; i++) {
        const pelt_primitive *source = &pelt_asset_get(asset)->meshes[i / 2].primitives[i % 2];
        uint32_t unused = 0;
        for (uint32_t v = 0; source->indices && v < source->vertex_count; v++) {
            bool used = false;
            for (uint32_t k = 0; k < source->index_count; k++) {
                used |= source->indices[k] == v;
            }
            unused += used ? 0 : 1;
        }
        assert_int_equal(reports[i].dropped_vertex_count, unused);
        with_drops += unused > 0 ? 1 : 0;
    }
    assert_true(with_drops > 0);
    assert_int_equal(peltt_warnings_count(&log, "no index uses"), with_drops);
    pelt_cook_release(&options, data, size);
    pelt_asset_destroy(asset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_arguments_are_refused),
        cmocka_unit_test(options_out_of_range_are_refused),
        cmocka_unit_test(what_goes_in_comes_out),
        cmocka_unit_test(streams_are_used_where_they_lie),
        cmocka_unit_test(joint_boxes_are_there_for_every_pair),
        cmocka_unit_test(bytes_do_not_depend_on_threads_or_memory),
        cmocka_unit_test(one_vertex_changes_only_the_sections_concerned),
        cmocka_unit_test(sections_are_aligned_and_in_order),
        cmocka_unit_test(source_hash_is_xxh3_128),
        cmocka_unit_test(options_hash_tells_what_changes_bytes),
        cmocka_unit_test(allocations_may_fail_while_cooking),
        cmocka_unit_test(empty_asset_cooks_and_opens),
        cmocka_unit_test(dropped_vertices_are_told_once_for_each_primitive),
    };
    return cmocka_run_group_tests_name("cook_file", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// The .pelt file: what goes in comes out, bytes depend on nothing but the input, and hashes, versions and unknown parts
// are handled as docs/format.md says. Damage to contents: test_cook_damage.c; import: test_cook_import.c.
#include "peltt_alloc.h"
#include "peltt_model.h"
#include "peltt_pelt.h"
#include "peltt_warnings.h"

#include <pelt/cook.h>

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const peltt_model_shape small_shape = {12, 3, 2, 40, 6, 2, 4, 2};
static const peltt_model_shape wide_shape = {50, 4, 3, 900, 90, 2, 5, 3};

static peltt_pelt cook_with(const pelt_asset *asset, const pelt_cook_options *options)
{
    void *data = NULL;
    uint64_t size = 0;
    pelt_error error;
    if (pelt_cook(asset, options, &data, &size, NULL, &error) != PELT_OK) {
        fail_msg("pelt_cook: %s", error.message);
    }
    assert_int_equal((uintptr_t)data % 64, 0);
    assert_int_equal(size % 64, 0);
    peltt_pelt file = peltt_pelt_copy(data, size);
    pelt_cook_release(options, data, size);
    return file;
}

static peltt_pelt cook_seed(const peltt_model_shape *shape, uint64_t seed, const peltt_model_change *change,
                            const pelt_cook_options *options)
{
    pelt_asset *asset = peltt_model_make(shape, seed, change);
    peltt_pelt file = cook_with(asset, options);
    pelt_asset_destroy(asset);
    return file;
}

static pelt_result open_result(const peltt_pelt *file, bool skip_hashes, pelt_error *error)
{
    pelt_cooked_options options = {.skip_hashes = skip_hashes};
    pelt_cooked *cooked = NULL;
    pelt_result result = pelt_cooked_open_memory(file->data, file->size, &options, &cooked, error);
    assert_int_equal(result == PELT_OK, cooked != NULL);
    pelt_cooked_close(cooked);
    return result;
}

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
        peltt_pelt file = cook_with(asset, &options);
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
    peltt_pelt file = cook_seed(&small_shape, 3, NULL, NULL);
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
    peltt_pelt file = cook_with(asset, NULL);
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
        peltt_pelt expected = cook_with(asset, NULL);
        peltt_alloc memory = {0};
        pelt_cook_options options = {.allocator = peltt_alloc_make(&memory)};
        peltt_pelt got = cook_with(asset, &options);
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
                got = cook_with(asset, &shared);
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
        peltt_pelt before = cook_seed(&wide_shape, seed, NULL, NULL);
        peltt_pelt moved = cook_seed(&wide_shape, seed, &(peltt_model_change){.move_vertex = true}, NULL);
        peltt_pelt coloured = cook_seed(&wide_shape, seed, &(peltt_model_change){.change_colour = true}, NULL);
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
    peltt_pelt file = cook_seed(&wide_shape, 2, NULL, NULL);
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

// The published test vector of an empty input, and that seeds, secrets and lengths are the default ones.
static void source_hash_is_xxh3_128(void **state)
{
    (void)state;
    uint64_t hash[2] = {0};
    pelt_source_hash("", 0, hash);
    assert_true(hash[0] == UINT64_C(0x6001C324468D497F));
    assert_true(hash[1] == UINT64_C(0x99AA06D3014798D8));
    uint64_t other[2] = {0};
    pelt_source_hash("a", 1, other);
    assert_true(other[0] != hash[0] && other[1] != hash[1]);
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

static void write_file(const char *path, const peltt_pelt *file)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(file->data, 1, (size_t)file->size, stream), file->size);
    assert_int_equal(fclose(stream), 0);
}

static void files_open_mapped_and_copied(void **state)
{
    const char *path = *state;
    const peltt_model_shape *const shapes[] = {&small_shape, &wide_shape};
    for (uint32_t i = 0; i < 2; i++) {
        pelt_cook_options options = {.source_hash = {UINT64_C(0x1122334455667788), UINT64_C(0x99)}, .keep_order = true};
        peltt_pelt file = cook_seed(shapes[i], 4, NULL, &options);
        assert_int_equal(file.size >= 65536, i == 1); // copied below, mapped above
        write_file(path, &file);
        pelt_cooked *cooked = NULL;
        pelt_error error;
        assert_int_equal(pelt_cooked_open_file(path, NULL, &cooked, &error), PELT_OK);
        const pelt_cooked_data *data = pelt_cooked_get(cooked);
        assert_true(data->source_hash[0] == options.source_hash[0] && data->source_hash[1] == 0x99);
        assert_true(data->options_hash == pelt_cook_options_hash(&options));
        uint64_t source[2] = {0};
        uint64_t made[1] = {0};
        assert_int_equal(pelt_cooked_read_hashes(path, source, made), PELT_OK);
        assert_memory_equal(source, data->source_hash, sizeof source);
        assert_true(made[0] == data->options_hash);
        pelt_cooked_close(cooked);
        peltt_pelt_free(&file);
    }
    unlink(path);
}

static void files_that_cannot_be_read_are_errors(void **state)
{
    const char *path = *state;
    pelt_cooked *cooked = NULL;
    pelt_error error;
    uint64_t source[2] = {0};
    uint64_t options = 0;
    assert_int_equal(pelt_cooked_open_file("/nowhere/a.pelt", NULL, &cooked, &error), PELT_ERROR_IO);
    assert_non_null(strstr(error.message, strerror(ENOENT)));
    assert_int_equal(pelt_cooked_open_file("/", NULL, &cooked, &error), PELT_ERROR_IO);
    assert_int_equal(pelt_cooked_read_hashes("/nowhere/a.pelt", source, &options), PELT_ERROR_IO);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pelt_cooked_open_file(path, NULL, &cooked, &error), PELT_ERROR_IO);
    unlink(path);
    peltt_pelt file = cook_seed(&small_shape, 4, NULL, NULL);
    for (uint64_t size = 0; size < file.size; size += 60) {
        peltt_pelt cut = {file.data, size};
        write_file(path, &cut);
        assert_int_equal(pelt_cooked_open_file(path, NULL, &cooked, &error), PELT_ERROR_INVALID);
        assert_int_equal(pelt_cooked_read_hashes(path, source, &options), PELT_ERROR_INVALID);
    }
    // Damage in header, table and META is seen without reading the rest; elsewhere it is not looked for.
    for (uint64_t at = 0; at < 128 + 64 + 64 * (uint64_t)peltt_pelt_count(&file); at += 7) {
        file.data[at] ^= 0x10;
        write_file(path, &file);
        pelt_result result = pelt_cooked_read_hashes(path, source, &options);
        bool padding = at >= 128 + 64 * (uint64_t)peltt_pelt_count(&file) + 40;
        assert_true(result == PELT_ERROR_INVALID || result == PELT_ERROR_UNSUPPORTED || padding);
        file.data[at] ^= 0x10;
    }
    peltt_pelt_free(&file);
    unlink(path);
}

static void every_flipped_byte_is_noticed(void **state)
{
    (void)state;
    static const unsigned char masks[3] = {0x01, 0x80, 0xFF};
    peltt_pelt file = cook_seed(&small_shape, 6, NULL, NULL);
    for (uint64_t i = 0; i < file.size; i++) {
        for (int m = 0; m < 3; m++) {
            pelt_error error;
            file.data[i] ^= masks[m];
            pelt_result result = open_result(&file, false, &error);
            if (result != PELT_ERROR_INVALID && result != PELT_ERROR_UNSUPPORTED) {
                fail_msg("byte %u, mask %u: result %d", (unsigned)i, masks[m], (int)result);
            }
            assert_int_equal(error.code, result);
            assert_true(error.message[0] != '\0');
            file.data[i] ^= masks[m];
        }
    }
    assert_int_equal(open_result(&file, false, NULL), PELT_OK);
    peltt_pelt_free(&file);
}

static void every_cut_is_noticed(void **state)
{
    (void)state;
    peltt_pelt file = cook_seed(&small_shape, 6, NULL, NULL);
    for (uint64_t size = 0; size < file.size; size += size < 4096 ? 1 : 61) {
        // With the size in the header put right, so that what is missing itself must be seen.
        for (int lie = 0; lie < 2; lie++) {
            peltt_pelt cut = peltt_pelt_copy(file.data, size);
            pelt_error error;
            if (lie && size >= 48) {
                memcpy(cut.data + 40, &size, sizeof size);
            }
            assert_int_equal(open_result(&cut, true, &error), PELT_ERROR_INVALID);
            assert_int_equal(error.code, PELT_ERROR_INVALID);
            peltt_pelt_free(&cut);
        }
    }
    peltt_pelt_free(&file);
}

static void hash_failure_names_the_section(void **state)
{
    (void)state;
    peltt_pelt file = cook_seed(&small_shape, 6, NULL, NULL);
    pelt_error error;
    char where[32];
    *peltt_pelt_at(&file, "NRML", 1, 0, 3, 2) ^= 0x20;
    assert_int_equal(open_result(&file, false, &error), PELT_ERROR_INVALID);
    assert_non_null(strstr(error.message, "section NRML of primitive 1"));
    assert_non_null(strstr(error.message, "hash"));
    snprintf(where, sizeof where, "byte %u",
             (unsigned)peltt_pelt_get(&file, peltt_pelt_find(&file, "NRML", 1, 0)).offset);
    assert_string_equal(error.where, where);
    assert_int_equal(open_result(&file, true, NULL), PELT_OK); // any code is a unit vector
    peltt_pelt_free(&file);
}

static void put_u32(peltt_pelt *file, uint64_t offset, uint32_t value)
{
    memcpy(file->data + offset, &value, sizeof value);
}

static void versions_and_features(void **state)
{
    (void)state;
    char version[64];
    snprintf(version, sizeof version, "cook again with version %s", pelt_version());
    const struct {
        uint64_t offset;
        uint32_t value;
        pelt_result result;
        const char *text;
    } cases[] = {
        {8, 0x04030201, PELT_ERROR_UNSUPPORTED, "byte order"},
        {8, 0x04030202, PELT_ERROR_INVALID, "byte order"},
        {12, 2, PELT_ERROR_UNSUPPORTED, "format version 2.0"},
        {12, 0, PELT_ERROR_UNSUPPORTED, "format version 0.0"},
        {16, 7, PELT_OK, ""},
        {24, 1, PELT_ERROR_UNSUPPORTED, "feature 0"},
        {28, 0x100, PELT_ERROR_UNSUPPORTED, "feature 40"},
        {32, 0xFFFF, PELT_OK, ""},
        {20, 127, PELT_ERROR_INVALID, "header"},
        {0, 0x46546C67, PELT_ERROR_INVALID, "no .pelt file"},
        {60, 72, PELT_ERROR_INVALID, ""},
        {60, 56, PELT_ERROR_INVALID, "table"},
        {48, 129, PELT_ERROR_INVALID, "table"},
        {52, 1, PELT_ERROR_INVALID, "table"},
        {56, 0xFFFFFFFF, PELT_ERROR_INVALID, "table"},
        {80, 1, PELT_OK, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        peltt_pelt file = cook_seed(&small_shape, 8, NULL, NULL);
        pelt_error error;
        put_u32(&file, cases[i].offset, cases[i].value);
        pelt_result result = open_result(&file, true, &error);
        if (result != cases[i].result || (result != PELT_OK && !strstr(error.message, cases[i].text))) {
            fail_msg("case %u: %d, %s", (unsigned)i, (int)result, error.message);
        }
        if (result == PELT_ERROR_UNSUPPORTED) {
            assert_non_null(strstr(error.hint, version));
        }
        peltt_pelt_free(&file);
    }
}

static void unknown_sections_are_skipped_unless_required(void **state)
{
    (void)state;
    peltt_pelt file = cook_seed(&small_shape, 8, NULL, NULL);
    pelt_error error;
    peltt_pelt longer = peltt_pelt_rebuild(&file, UINT32_MAX, 1, "ZZZZ", 0);
    assert_int_equal(open_result(&longer, true, &error), PELT_OK);
    peltt_pelt_free(&longer);
    longer = peltt_pelt_rebuild(&file, UINT32_MAX, 1, "ZZZZ", 1);
    assert_int_equal(open_result(&longer, true, &error), PELT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "section ZZZZ"));
    assert_non_null(strstr(error.hint, "cook again with version"));
    peltt_pelt_free(&longer);
    peltt_pelt_free(&file);
}

static void longer_records_of_later_versions_are_read(void **state)
{
    (void)state;
    static const char *const records[] = {"META", "NODE", "INST", "SKIN", "MESH", "PRIM", "CLIP",
                                          "KEYA", "JBOX", "SAMP", "CHAN", "ATTR", "TARG"};
    static const char *const plain[] = {"POSN", "RUNS", "KEYS", "JNTS", "STRS"};
    peltt_pelt file = cook_seed(&small_shape, 8, NULL, NULL);
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        uint32_t index = peltt_pelt_find(&file, records[i], 0, 0);
        uint32_t size = peltt_pelt_get(&file, index).element_size;
        pelt_error error;
        peltt_pelt longer = peltt_pelt_rebuild(&file, index, size + 8, NULL, 0);
        if (open_result(&longer, true, &error) != PELT_OK) {
            fail_msg("%s: %s", records[i], error.message);
        }
        peltt_pelt_free(&longer);
        longer = peltt_pelt_rebuild(&file, index, size + 4, NULL, 0);
        assert_int_equal(open_result(&longer, true, &error), PELT_ERROR_INVALID);
        peltt_pelt_free(&longer);
    }
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        uint32_t index = peltt_pelt_find(&file, plain[i], 0, 0);
        pelt_error error;
        peltt_pelt longer = peltt_pelt_rebuild(&file, index, peltt_pelt_get(&file, index).element_size + 8, NULL, 0);
        assert_int_equal(open_result(&longer, true, &error), PELT_ERROR_INVALID);
        assert_non_null(strstr(error.message, plain[i]));
        peltt_pelt_free(&longer);
    }
    peltt_pelt_free(&file);
}

static void misaligned_memory_is_an_argument_error(void **state)
{
    (void)state;
    peltt_pelt file = cook_seed(&small_shape, 8, NULL, NULL);
    unsigned char *memory = malloc((size_t)file.size + 128);
    assert_non_null(memory);
    for (uintptr_t past = 1; past < 64; past *= 2) {
        unsigned char *moved = memory + 64 - (uintptr_t)memory % 64 + past;
        pelt_cooked *cooked = NULL;
        pelt_error error;
        memcpy(moved, file.data, (size_t)file.size);
        assert_int_equal(pelt_cooked_open_memory(moved, file.size, NULL, &cooked, &error), PELT_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, "64"));
    }
    free(memory);
    peltt_pelt_free(&file);
}

static void memory_limit_is_kept(void **state)
{
    (void)state;
    peltt_pelt file = cook_seed(&small_shape, 8, NULL, NULL);
    uint64_t last_refused = 0;
    for (uint64_t limit = 1; limit < 65536; limit += limit / 3 + 1) {
        peltt_alloc memory = {0};
        pelt_cooked_options options = {.allocator = peltt_alloc_make(&memory), .memory_limit = limit};
        pelt_cooked *cooked = NULL;
        pelt_error error;
        pelt_result result = pelt_cooked_open_memory(file.data, file.size, &options, &cooked, &error);
        assert_true(result == PELT_OK || result == PELT_ERROR_LIMIT);
        last_refused = result == PELT_ERROR_LIMIT ? limit : last_refused;
        if (result == PELT_OK) {
            pelt_asset *asset = NULL;
            result = pelt_cooked_import(cooked, &asset, &error);
            assert_true(result == PELT_OK || result == PELT_ERROR_LIMIT);
            pelt_asset_destroy(asset);
        }
        pelt_cooked_close(cooked);
        assert_int_equal(memory.live_blocks, 0);
    }
    assert_in_range(last_refused, 100, 40000);
    peltt_pelt_free(&file);
}

static void allocations_may_fail_while_cooking(void **state)
{
    (void)state;
    pelt_asset *asset = peltt_model_make(&small_shape, 9, NULL);
    peltt_pelt expected = cook_with(asset, NULL);
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

static void allocations_may_fail_while_opening_and_importing(void **state)
{
    const char *path = *state;
    peltt_pelt file = cook_seed(&small_shape, 9, NULL, NULL);
    write_file(path, &file);
    for (int from_file = 0; from_file < 2; from_file++) {
        bool failed = true;
        for (uint64_t n = 1; failed; n++) {
            peltt_alloc memory = {.fail_at = n};
            pelt_cooked_options options = {.allocator = peltt_alloc_make(&memory)};
            pelt_cooked *cooked = NULL;
            pelt_asset *asset = NULL;
            pelt_error error;
            pelt_result result = from_file ? pelt_cooked_open_file(path, &options, &cooked, &error)
                                           : pelt_cooked_open_memory(file.data, file.size, &options, &cooked, &error);
            if (result == PELT_OK) {
                result = pelt_cooked_import(cooked, &asset, &error);
            }
            failed = memory.call_count >= n;
            assert_int_equal(result, failed ? PELT_ERROR_MEMORY : PELT_OK);
            assert_int_equal(asset != NULL, !failed);
            pelt_cooked_close(cooked);
            pelt_asset_destroy(asset);
            assert_int_equal(memory.live_blocks, 0);
        }
    }
    peltt_pelt_free(&file);
    unlink(path);
}

static void empty_asset_cooks_and_opens(void **state)
{
    (void)state;
    const peltt_model_shape nothing = {.node_count = 4, .joint_count = 1};
    pelt_asset *asset = peltt_model_make(&nothing, 1, NULL);
    peltt_pelt file = cook_with(asset, NULL);
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

static int make_path(void **state)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/pelt-test-%ld.pelt", (long)getpid());
    *state = path;
    return 0;
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
        cmocka_unit_test(files_open_mapped_and_copied),
        cmocka_unit_test(files_that_cannot_be_read_are_errors),
        cmocka_unit_test(every_flipped_byte_is_noticed),
        cmocka_unit_test(every_cut_is_noticed),
        cmocka_unit_test(hash_failure_names_the_section),
        cmocka_unit_test(versions_and_features),
        cmocka_unit_test(unknown_sections_are_skipped_unless_required),
        cmocka_unit_test(longer_records_of_later_versions_are_read),
        cmocka_unit_test(misaligned_memory_is_an_argument_error),
        cmocka_unit_test(memory_limit_is_kept),
        cmocka_unit_test(allocations_may_fail_while_cooking),
        cmocka_unit_test(allocations_may_fail_while_opening_and_importing),
        cmocka_unit_test(empty_asset_cooks_and_opens),
        cmocka_unit_test(dropped_vertices_are_told_once_for_each_primitive),
    };
    return cmocka_run_group_tests_name("cook_file", tests, make_path, NULL);
}

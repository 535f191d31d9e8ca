// SPDX-License-Identifier: MIT
// A document made from an asset: what the posed-file writer makes of it, held against the asset's own arrays.
#include "peltt_alloc.h"
#include "peltt_posed.h"

#include <pelt/builder.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include <cmocka.h>

static pelt_gltf *open_asset(const pelt_asset *asset, const pelt_gltf_options *options)
{
    pelt_gltf *gltf = NULL;
    pelt_error error = {0};
    if (pelt_gltf_open_asset(asset, options, &gltf, &error) != PELT_OK) {
        fail_msg("%s: %s", error.where, error.message);
    }
    return gltf;
}

static pelt_asset *import_blob(const peltt_blob *blob)
{
    pelt_gltf *gltf = NULL;
    pelt_asset *asset = NULL;
    pelt_error error = {0};
    if (pelt_gltf_open_memory(blob->data, blob->size, NULL, NULL, &gltf, &error) != PELT_OK ||
        pelt_gltf_import(gltf, &asset, &error) != PELT_OK) {
        fail_msg("%s: %s", error.where, error.message);
    }
    pelt_gltf_close(gltf);
    return asset;
}

static const pelt_attribute *find_attribute(const pelt_primitive *p, const char *name)
{
    for (uint32_t i = 0; i < p->attribute_count; i++) {
        if (strcmp(p->attributes[i].name, name) == 0) {
            return &p->attributes[i];
        }
    }
    return NULL;
}

// The one instance of out whose node has that name.
static const pelt_mesh *mesh_of(const pelt_asset_data *out, const char *name)
{
    for (uint32_t i = 0; i < out->instance_count; i++) {
        if (strcmp(out->nodes[out->instances[i].node].name, name) == 0) {
            return &out->meshes[out->instances[i].mesh];
        }
    }
    fail_msg("no mesh node %s", name);
    return NULL;
}

static void assert_same_attributes(const pelt_primitive *wanted, const pelt_primitive *got)
{
    for (uint32_t i = 0; i < wanted->attribute_count; i++) {
        const pelt_attribute *a = &wanted->attributes[i];
        const pelt_attribute *b = find_attribute(got, a->name);
        assert_non_null(b);
        assert_int_equal(b->component, a->component);
        assert_int_equal(b->component_count, a->component_count);
        assert_int_equal(b->normalized, a->normalized);
        assert_int_equal(b->stride, a->stride);
        assert_memory_equal(b->data, a->data, (size_t)a->stride * wanted->vertex_count);
    }
    assert_int_equal(got->attribute_count, wanted->attribute_count);
}

static void a_posed_file_has_the_assets_indices_attributes_and_names(void **state)
{
    (void)state;
    for (int space = 0; space < 2; space++) {
        peltt_blob source = peltt_stage();
        peltt_posed posed = peltt_posed_open(&source, NULL, NULL);
        pelt_gltf *file = posed.gltf;
        posed.gltf = open_asset(posed.asset, NULL);
        peltt_blob out = {0};
        pelt_error error = {0};
        assert_int_equal(peltt_posed_write(&posed, (pelt_gltf_space)space, &out, &error), PELT_OK);
        pelt_asset *asset = import_blob(&out);
        const pelt_asset_data *data = pelt_asset_get(posed.asset);
        const pelt_asset_data *got = pelt_asset_get(asset);
        assert_int_equal(got->instance_count, data->instance_count);
        uint32_t k = 0;
        for (uint32_t i = 0; i < data->instance_count; i++) {
            const pelt_mesh *mesh = &data->meshes[data->instances[i].mesh];
            const pelt_mesh *other = mesh_of(got, data->nodes[data->instances[i].node].name);
            assert_string_equal(other->name, mesh->name);
            assert_int_equal(other->primitive_count, mesh->primitive_count);
            for (uint32_t p = 0; p < mesh->primitive_count; p++, k++) {
                const pelt_primitive *a = &mesh->primitives[p];
                const pelt_primitive *b = &other->primitives[p];
                assert_int_equal(b->topology, a->topology);
                assert_int_equal(b->vertex_count, a->vertex_count);
                assert_int_equal(b->index_count, a->index_count);
                assert_int_equal(b->indices != NULL, a->indices != NULL);
                assert_int_equal(b->material, PELT_NONE);
                if (a->indices) {
                    assert_memory_equal(b->indices, a->indices, a->index_count * sizeof *a->indices);
                }
                assert_memory_equal(b->positions, posed.primitives[k].positions, 12 * (size_t)a->vertex_count);
                assert_same_attributes(a, b);
            }
        }
        pelt_asset_destroy(asset);
        peltt_blob_free(&out);
        pelt_gltf_close(file);
        peltt_posed_close(&posed);
        peltt_blob_free(&source);
    }
}

static void its_getters_tell_of_no_file(void **state)
{
    (void)state;
    peltt_blob source = peltt_stage();
    peltt_posed posed = peltt_posed_open(&source, NULL, NULL);
    pelt_gltf *gltf = open_asset(posed.asset, NULL);
    uint64_t size = 7;
    pelt_asset *asset = NULL;
    pelt_error error = {0};
    assert_int_equal(pelt_gltf_extension_count(gltf), 0);
    assert_string_equal(pelt_gltf_extension_name(gltf, 0), "");
    assert_false(pelt_gltf_extension_required(gltf, 0));
    assert_int_equal(pelt_gltf_source_size(gltf), 0);
    assert_int_equal(pelt_gltf_source_part_count(gltf), 0);
    assert_null(pelt_gltf_source_part(gltf, 0, &size));
    assert_int_equal(size, 0);
    assert_string_equal(pelt_gltf_material_name(gltf, 0), "");
    assert_int_equal(pelt_gltf_import(gltf, &asset, &error), PELT_ERROR_ARGUMENT);
    assert_null(asset);
    pelt_gltf_close(gltf);
    assert_int_equal(pelt_gltf_open_asset(NULL, NULL, &gltf, &error), PELT_ERROR_ARGUMENT);
    assert_null(gltf);
    assert_int_equal(pelt_gltf_open_asset(posed.asset, NULL, NULL, &error), PELT_ERROR_ARGUMENT);
    peltt_posed_close(&posed);
    peltt_blob_free(&source);
}

// ---- assets that no glTF file would give

typedef struct odd {
    pelt_asset *asset;
    pelt_pose *pose;
} odd;

static void *take(pelt_builder *builder, uint64_t count, size_t size)
{
    void *memory = pelt_builder_allocate(builder, count, size);
    assert_non_null(memory);
    return memory;
}

// Primitive 0: 65,536 points, so that index 65,535 is in use; 1: no vertices; 2: indices, but none; 3: attributes of
// doubtful names. All name material 4,000,000,000.
static odd make_odd(void)
{
    static const char *const names[] = {"_A", "\xFF\xFE", "_A", "COLOR_0"};
    static const uint32_t counts[] = {65536, 0, 3, 3};
    pelt_builder *builder = NULL;
    assert_int_equal(pelt_builder_create(NULL, &builder), PELT_OK);
    pelt_builder_node *node = take(builder, 1, sizeof *node);
    *node = (pelt_builder_node){.name = "\xC3(", .mesh = 0, .skin = PELT_NONE, .rest = pelt_trs_identity()};
    pelt_mesh *mesh = take(builder, 1, sizeof *mesh);
    pelt_primitive *p = take(builder, 4, sizeof *p);
    *mesh = (pelt_mesh){.name = "mesh", .primitive_count = 4, .primitives = p};
    for (int i = 0; i < 4; i++) {
        p[i].topology = PELT_TOPOLOGY_POINTS;
        p[i].material = 4000000000u;
        p[i].vertex_count = counts[i];
        p[i].positions = take(builder, counts[i], 3 * sizeof(float));
        p[i].index_count = i == 2 ? 0 : counts[i];
        uint32_t *indices = i == 1 ? NULL : take(builder, p[i].index_count, sizeof *indices);
        for (uint32_t k = 0; k < p[i].index_count && indices; k++) {
            indices[k] = p[i].index_count - 1 - k;
        }
        p[i].indices = indices;
    }
    pelt_attribute *attributes = take(builder, 4, sizeof *attributes);
    for (int i = 0; i < 4; i++) {
        uint8_t *bytes = take(builder, 3, 3);
        memset(bytes, 17 * (i + 1), 9);
        attributes[i] = (pelt_attribute){.name = names[i],
                                         .component = PELT_COMPONENT_U8,
                                         .normalized = true,
                                         .component_count = 3,
                                         .stride = 3,
                                         .data = bytes};
    }
    p[3].attribute_count = 4;
    p[3].attributes = attributes;
    pelt_builder_scene scene = {.node_count = 1, .nodes = node, .mesh_count = 1, .meshes = mesh};
    odd made = {0};
    pelt_error error = {0};
    if (pelt_builder_finish(builder, &scene, &made.asset, &error) != PELT_OK) {
        fail_msg("%s", error.message);
    }
    pelt_builder_destroy(builder);
    assert_int_equal(pelt_pose_create(made.asset, NULL, &made.pose), PELT_OK);
    assert_int_equal(pelt_pose_update(made.pose, NULL), PELT_OK);
    return made;
}

static pelt_result write_odd(const odd *o, pelt_gltf *gltf, peltt_blob *out, pelt_error *error)
{
    pelt_gltf_posed_primitive primitives[4] = {0};
    const pelt_box box = {{0, 0, 0}, {0, 0, 0}};
    const pelt_mesh *mesh = &pelt_asset_get(o->asset)->meshes[0];
    for (uint32_t i = 0; i < 4; i++) {
        primitives[i] =
            (pelt_gltf_posed_primitive){.primitive = i, .positions = mesh->primitives[i].positions, .box = &box};
    }
    pelt_gltf_posed posed = {
        .pose = o->pose, .primitive_count = 4, .primitives = primitives, .json = {peltt_blob_write, out}};
    return pelt_gltf_write_posed(gltf, o->asset, &posed, error);
}

static void assets_that_no_file_would_give_are_written_too(void **state)
{
    (void)state;
    odd o = make_odd();
    peltt_log *log = calloc(1, sizeof *log);
    assert_non_null(log);
    pelt_gltf_options options = {.log = peltt_log_make(log)};
    pelt_gltf *gltf = open_asset(o.asset, &options);
    assert_int_equal(log->count, 3);
    assert_non_null(strstr(log->text, "/nodes/0: the name is not UTF-8"));
    assert_non_null(strstr(log->text, "/meshes/0/primitives/3: attribute 1 is left out: its name is not UTF-8"));
    assert_non_null(strstr(log->text, "/meshes/0/primitives/3: attribute 2 is left out: its name is there already"));
    peltt_blob out = {0};
    pelt_error error = {0};
    assert_int_equal(write_odd(&o, gltf, &out, &error), PELT_OK);
    pelt_asset *asset = import_blob(&out);
    const pelt_asset_data *got = pelt_asset_get(asset);
    assert_int_equal(got->mesh_count, 1);
    assert_int_equal(got->meshes[0].primitive_count, 2); // those with something to draw
    const pelt_primitive *wide = &got->meshes[0].primitives[0];
    assert_int_equal(wide->index_count, 65536);
    for (uint32_t k = 0; k < 65536; k++) {
        assert_int_equal(wide->indices[k], 65535 - k);
    }
    assert_int_equal(wide->material, PELT_NONE);
    const pelt_primitive *last = &got->meshes[0].primitives[1];
    assert_int_equal(last->attribute_count, 2);
    float value[4] = {0};
    pelt_attribute_read(find_attribute(last, "_A"), 2, value);
    assert_float_equal(value[1], 17.0F / 255.0F, 1e-7);
    pelt_attribute_read(find_attribute(last, "COLOR_0"), 1, value);
    assert_float_equal(value[2], 68.0F / 255.0F, 1e-7);
    pelt_asset_destroy(asset);
    peltt_blob_free(&out);
    pelt_gltf_close(gltf);
    free(log);
    pelt_pose_destroy(o.pose);
    pelt_asset_destroy(o.asset);
}

static void each_failed_allocation_ends_in_memory_without_a_leak(void **state)
{
    (void)state;
    odd o = make_odd();
    peltt_alloc memory = {0};
    pelt_gltf_options options = {.allocator = peltt_alloc_make(&memory)};
    pelt_result result = PELT_ERROR_MEMORY;
    uint64_t n = 0;
    while (result != PELT_OK) {
        pelt_gltf *gltf = NULL;
        pelt_error error = {0};
        memory.fail_at = memory.call_count + ++n;
        result = pelt_gltf_open_asset(o.asset, &options, &gltf, &error);
        assert_int_equal(error.code, result);
        assert_int_equal(gltf != NULL, result == PELT_OK);
        assert_true(result == PELT_OK || result == PELT_ERROR_MEMORY);
        pelt_gltf_close(gltf);
        assert_int_equal(memory.live_bytes, 0);
    }
    assert_true(n > 2);
    pelt_pose_destroy(o.pose);
    pelt_asset_destroy(o.asset);
}

// jansson takes no allocator, only functions of the whole process.
static uint64_t json_calls;
static uint64_t json_fail_at;

static void *json_allocate(size_t size)
{
    json_calls++;
    return json_calls == json_fail_at ? NULL : malloc(size);
}

// What functions called next find on the stack: the code that jansson has for bytes that are not UTF-8, which nobody
// may take for an answer where jansson gave none.
static __attribute__((noinline)) void fill_stack(void)
{
    volatile char bytes[1 << 14];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)json_error_invalid_utf8;
    }
}

static void each_failed_json_allocation_ends_in_memory(void **state)
{
    (void)state;
    peltt_blob source = peltt_stage();
    peltt_posed posed = peltt_posed_open(&source, NULL, NULL);
    peltt_log *log = calloc(1, sizeof *log);
    assert_non_null(log);
    pelt_gltf_options options = {.log = peltt_log_make(log)};
    json_malloc_t old_malloc = NULL;
    json_free_t old_free = NULL;
    json_get_alloc_funcs(&old_malloc, &old_free);
    json_set_alloc_funcs(json_allocate, free);
    pelt_result result = PELT_ERROR_MEMORY;
    uint64_t failures = 0;
    for (uint64_t n = 1; result != PELT_OK; n++) {
        pelt_gltf *gltf = NULL;
        json_calls = 0;
        json_fail_at = n;
        fill_stack();
        result = pelt_gltf_open_asset(posed.asset, &options, &gltf, NULL);
        if (result != PELT_OK && result != PELT_ERROR_MEMORY) {
            fail_msg("allocation %u: %s", (unsigned)n, pelt_result_name(result));
        }
        failures += result != PELT_OK;
        pelt_gltf_close(gltf);
    }
    json_set_alloc_funcs(old_malloc, old_free);
    assert_true(failures > 100);
    assert_int_equal(log->count, 0); // none is told as a fault of the asset
    free(log);
    peltt_posed_close(&posed);
    peltt_blob_free(&source);
}

static void its_copies_count_against_the_memory_limit(void **state)
{
    (void)state;
    odd o = make_odd();
    pelt_gltf *gltf = NULL;
    pelt_error error = {0};
    pelt_gltf_options options = {.limits = {.memory = 5}}; // three indices of two bytes
    assert_int_equal(pelt_gltf_open_asset(o.asset, &options, &gltf, &error), PELT_ERROR_LIMIT);
    assert_non_null(strstr(error.hint, "--max-memory"));
    assert_null(gltf);
    pelt_pose_destroy(o.pose);
    pelt_asset_destroy(o.asset);
}

// ---- the parts of a file

static void the_parts_of_a_file_are_itself_and_its_external_buffers(void **state)
{
    (void)state;
    char folder[] = "/tmp/peltt-parts-XXXXXX";
    char path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/b.bin", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite("abcdefgh", 1, 8, file), 8);
    fclose(file);
    char *text = peltt_json("{'asset':{'version':'2.0'},'buffers':[{'byteLength':2,'uri':'data:;base64,AAA='},"
                            "{'byteLength':5,'uri':'b.bin'}]}");
    pelt_gltf *gltf = NULL;
    pelt_error error = {0};
    uint64_t size = 0;
    assert_int_equal(pelt_gltf_open_memory(text, strlen(text), folder, NULL, &gltf, &error), PELT_OK);
    assert_int_equal(pelt_gltf_source_part_count(gltf), 3);
    assert_ptr_equal(pelt_gltf_source_part(gltf, 0, &size), text);
    assert_int_equal(size, strlen(text));
    assert_null(pelt_gltf_source_part(gltf, 1, &size));
    assert_int_equal(size, 0);
    const void *part = pelt_gltf_source_part(gltf, 2, &size);
    assert_int_equal(size, 5);
    assert_memory_equal(part, "abcde", 5);
    assert_null(pelt_gltf_source_part(gltf, 3, &size));
    assert_null(pelt_gltf_source_part(gltf, PELT_NONE, &size));
    pelt_gltf_close(gltf);
    free(text);
    remove(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_posed_file_has_the_assets_indices_attributes_and_names),
        cmocka_unit_test(its_getters_tell_of_no_file),
        cmocka_unit_test(assets_that_no_file_would_give_are_written_too),
        cmocka_unit_test(each_failed_allocation_ends_in_memory_without_a_leak),
        cmocka_unit_test(each_failed_json_allocation_ends_in_memory),
        cmocka_unit_test(its_copies_count_against_the_memory_limit),
        cmocka_unit_test(the_parts_of_a_file_are_itself_and_its_external_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

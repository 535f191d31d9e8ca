// SPDX-License-Identifier: MIT
// What a posed file keeps, what it loses and how it is laid out. Expected values come from the sources' own JSON and
// bytes and from the made-up vertices, never from the writer.
#include "peltt_posed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// A source, its posed output, and the output read back.
typedef struct fixture {
    peltt_blob source;
    peltt_posed posed;
    peltt_log *warnings;
    peltt_blob output;
    json_t *source_json;
    json_t *json;
    const uint8_t *bin;
    size_t bin_size;
    pelt_asset *asset; // of the output
    pelt_pose *pose;   // of the output
} fixture;

static void write_fixture(fixture *f, pelt_gltf_space space)
{
    pelt_error error = {0};
    pelt_result result = peltt_posed_write(&f->posed, space, &f->output, &error);
    if (result != PELT_OK) {
        fail_msg("%s: %s: %s", pelt_result_name(result), error.where, error.message);
    }
    f->json = peltt_blob_json(&f->output, &f->bin, &f->bin_size);
    pelt_gltf *gltf = NULL;
    result = pelt_gltf_open_memory(f->output.data, f->output.size, NULL, NULL, &gltf, &error);
    if (result == PELT_OK) {
        result = pelt_gltf_import(gltf, &f->asset, &error);
    }
    if (result != PELT_OK) {
        fail_msg("%s: %s: %s", pelt_result_name(result), error.where, error.message);
    }
    pelt_gltf_close(gltf);
    assert_int_equal(pelt_pose_create(f->asset, NULL, &f->pose), PELT_OK);
    assert_int_equal(pelt_pose_update(f->pose, NULL), PELT_OK);
}

// Takes source. The stage is posed half a second into its clip.
static fixture make_fixture(peltt_blob source, pelt_gltf_space space)
{
    fixture f = {.source = source};
    const uint8_t *bin = NULL;
    size_t bin_size = 0;
    f.source_json = peltt_blob_json(&f.source, &bin, &bin_size);
    f.warnings = calloc(1, sizeof *f.warnings);
    assert_non_null(f.warnings);
    pelt_gltf_options options = {.log = peltt_log_make(f.warnings)};
    f.posed = peltt_posed_open(&f.source, NULL, &options);
    if (pelt_asset_get(f.posed.asset)->clip_count > 0) {
        assert_int_equal(pelt_clip_sample(f.posed.asset, 0, 0.5, pelt_pose_locals(f.posed.pose)), PELT_OK);
        assert_int_equal(pelt_pose_update(f.posed.pose, NULL), PELT_OK);
    }
    *f.warnings = (peltt_log){0}; // those of the import are not ours
    write_fixture(&f, space);
    return f;
}

static void free_fixture(fixture *f)
{
    pelt_pose_destroy(f->pose);
    pelt_asset_destroy(f->asset);
    json_decref(f->json);
    json_decref(f->source_json);
    peltt_posed_close(&f->posed);
    free(f->warnings);
    peltt_blob_free(&f->output);
    peltt_blob_free(&f->source);
}

static json_t *get(const json_t *json, const char *path)
{
    char key[64];
    while (json && *path) {
        size_t length = strcspn(path, "/");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        json = json_is_array(json) ? json_array_get(json, (size_t)atol(key)) : json_object_get(json, key);
        path += length + (path[length] == '/');
    }
    return (json_t *)json;
}

static const char *get_text(const json_t *json, const char *path)
{
    const char *text = json_string_value(get(json, path));
    return text ? text : "(none)";
}

static void assert_same_json(const json_t *a, const json_t *b)
{
    assert_non_null(a);
    assert_non_null(b);
    assert_true(json_equal(a, b));
}

static bool contains(const peltt_blob *bytes, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + length <= bytes->size; i++) {
        if (memcmp(bytes->data + i, text, length) == 0) {
            return true;
        }
    }
    return false;
}

// The one output node of that name that has (or has not) a mesh.
static uint32_t node_named(const pelt_asset *asset, const char *name, bool with_mesh)
{
    const pelt_asset_data *data = pelt_asset_get(asset);
    uint32_t found = PELT_NONE;
    for (uint32_t i = 0; i < data->node_count; i++) {
        if (strcmp(data->nodes[i].name, name) == 0 && (data->nodes[i].mesh != PELT_NONE) == with_mesh) {
            assert_int_equal(found, PELT_NONE);
            found = i;
        }
    }
    return found;
}

static const json_t *json_of_node(const fixture *f, const char *name, bool with_mesh)
{
    uint32_t node = node_named(f->asset, name, with_mesh);
    assert_int_not_equal(node, PELT_NONE);
    return json_array_get(json_object_get(f->json, "nodes"), pelt_asset_get(f->asset)->nodes[node].file_index);
}

static void assert_same_world(const fixture *f, const char *name, bool with_mesh)
{
    const pelt_asset_data *data = pelt_asset_get(f->posed.asset);
    uint32_t output = node_named(f->asset, name, with_mesh);
    assert_int_not_equal(output, PELT_NONE);
    for (uint32_t i = 0; i < data->node_count; i++) {
        if (strcmp(data->nodes[i].name, name) != 0) {
            continue;
        }
        const double *expected = pelt_pose_world_double(f->posed.pose, i);
        const double *actual = pelt_pose_world_double(f->pose, output);
        for (int k = 0; k < 12; k++) {
            assert_float_equal((float)actual[k], (float)expected[k], 2e-6);
        }
        return;
    }
    fail_msg("no node %s", name);
}

// ---- what stays

static void assert_posed_vertices(const fixture *f)
{
    const pelt_asset_data *data = pelt_asset_get(f->asset);
    uint32_t k = 0;
    for (uint32_t i = 0; i < data->instance_count; i++) {
        const pelt_mesh *mesh = &data->meshes[data->instances[i].mesh];
        for (uint32_t p = 0; p < mesh->primitive_count; p++, k++) {
            const pelt_primitive *one = &mesh->primitives[p];
            const pelt_gltf_posed_primitive *posed = &f->posed.primitives[k];
            size_t count = one->vertex_count;
            assert_memory_equal(one->positions, posed->positions, count * 3 * sizeof(float));
            assert_true(one->has_declared_box);
            assert_memory_equal(&one->declared_box, posed->box, sizeof *posed->box);
            assert_int_equal(one->normals != NULL, posed->normals != NULL);
            if (one->normals) {
                assert_memory_equal(one->normals, posed->normals, count * 3 * sizeof(float));
            }
            if (one->tangents) {
                assert_memory_equal(one->tangents, posed->tangents, count * 4 * sizeof(float));
            }
        }
    }
    assert_int_equal(k, f->posed.primitive_count);
}

static void positions_normals_tangents_and_boxes_come_back_bit_for_bit(void **state)
{
    (void)state;
    for (int space = 0; space < 2; space++) {
        fixture f = make_fixture(peltt_stage(), (pelt_gltf_space)space);
        assert_int_equal(f.posed.primitive_count, 5);
        assert_posed_vertices(&f);
        free_fixture(&f);
    }
}

static const pelt_attribute *find_attribute(const pelt_primitive *primitive, const char *name)
{
    for (uint32_t i = 0; i < primitive->attribute_count; i++) {
        if (strcmp(primitive->attributes[i].name, name) == 0) {
            return &primitive->attributes[i];
        }
    }
    return NULL;
}

static void attributes_and_indices_keep_their_types_and_values(void **state)
{
    (void)state;
    fixture f = make_fixture(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    const pelt_asset_data *source = pelt_asset_get(f.posed.asset);
    const pelt_asset_data *output = pelt_asset_get(f.asset);
    assert_int_equal(output->instance_count, source->instance_count);
    for (uint32_t i = 0; i < source->instance_count; i++) {
        const pelt_mesh *a = &source->meshes[source->instances[i].mesh];
        const pelt_mesh *b = &output->meshes[output->instances[i].mesh];
        assert_string_equal(a->name, b->name);
        for (uint32_t p = 0; p < a->primitive_count; p++) {
            const pelt_primitive *x = &a->primitives[p];
            const pelt_primitive *y = &b->primitives[p];
            assert_int_equal(x->topology, y->topology);
            assert_int_equal(x->material, y->material);
            assert_int_equal(x->index_count, y->index_count);
            assert_int_equal(x->indices != NULL, y->indices != NULL);
            if (x->indices) {
                assert_memory_equal(x->indices, y->indices, x->index_count * sizeof(uint32_t));
            }
            assert_int_equal(x->attribute_count, y->attribute_count);
            for (uint32_t k = 0; k < x->attribute_count; k++) {
                const pelt_attribute *left = &x->attributes[k];
                const pelt_attribute *right = find_attribute(y, left->name);
                assert_non_null(right);
                assert_int_equal(left->component, right->component);
                assert_int_equal(left->normalized, right->normalized);
                assert_int_equal(left->component_count, right->component_count);
                assert_memory_equal(left->data, right->data, (size_t)x->vertex_count * left->stride);
            }
        }
    }
    assert_int_equal(json_integer_value(get(f.json, "accessors/6/componentType")), PELT_COMPONENT_U16);
    free_fixture(&f);
}

static void sparse_values_are_in_the_copy(void **state)
{
    (void)state;
    fixture f = make_fixture(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    const pelt_attribute *texcoord = find_attribute(&pelt_asset_get(f.asset)->meshes[0].primitives[0], "TEXCOORD_0");
    static const float expected[] = {0, 0, 1, 0, 0, 1, 0.75F, 0.625F};
    assert_memory_equal(texcoord->data, expected, sizeof expected);
    assert_false(contains(&f.output, "sparse"));
    free_fixture(&f);
}

static void materials_textures_cameras_and_images_stay(void **state)
{
    (void)state;
    fixture f = make_fixture(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    assert_same_json(get(f.json, "textures"), get(f.source_json, "textures"));
    assert_same_json(get(f.json, "samplers"), get(f.source_json, "samplers"));
    assert_same_json(get(f.json, "cameras"), get(f.source_json, "cameras"));
    json_t *materials = json_deep_copy(get(f.source_json, "materials"));
    assert_int_equal(json_object_del(get(materials, "0/extensions"), "VRMC_materials_mtoon"), 0);
    assert_same_json(get(f.json, "materials"), materials);
    json_decref(materials);

    const json_t *image = get(f.json, "images/0");
    assert_string_equal(get_text(image, "name"), "pixel");
    assert_string_equal(get_text(image, "mimeType"), "image/png");
    assert_same_json(get(image, "extras"), get(f.source_json, "images/0/extras"));
    const json_t *view =
        json_array_get(get(f.json, "bufferViews"), (size_t)json_integer_value(get(image, "bufferView")));
    assert_int_equal(json_integer_value(get(view, "byteLength")), PELTT_PNG_SIZE);
    assert_null(get(view, "target"));
    assert_memory_equal(f.bin + json_integer_value(get(view, "byteOffset")), peltt_png, PELTT_PNG_SIZE);
    free_fixture(&f);
}

static void names_and_extras_stay(void **state)
{
    (void)state;
    fixture f = make_fixture(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    assert_string_equal(get_text(f.json, "asset/version"), "2.0");
    assert_string_equal(get_text(f.json, "asset/copyright"), "CC0");
    char generator[64];
    snprintf(generator, sizeof generator, "Pelt %s", pelt_version());
    assert_string_equal(get_text(f.json, "asset/generator"), generator);
    assert_same_json(get(f.json, "asset/extras"), get(f.source_json, "asset/extras"));
    assert_same_json(get(f.json, "extras"), get(f.source_json, "extras"));
    assert_int_equal(json_array_size(get(f.json, "scenes")), 1);
    assert_string_equal(get_text(f.json, "scenes/0/name"), "stage");
    assert_same_json(get(f.json, "scenes/0/extras"), get(f.source_json, "scenes/1/extras"));
    assert_string_equal(get_text(json_of_node(&f, "crate a", true), "extras/tag"), "a");
    assert_string_equal(get_text(json_of_node(&f, "crate b", true), "extras/tag"), "b");
    assert_string_equal(get_text(f.json, "meshes/0/name"), "crate");
    assert_string_equal(get_text(f.json, "meshes/1/name"), "crate");
    assert_string_equal(get_text(f.json, "meshes/2/name"), "snake skin");
    assert_same_json(get(f.json, "meshes/0/extras"), get(f.source_json, "meshes/0/extras"));
    assert_same_json(get(f.json, "meshes/1/primitives/0/extras"), get(f.source_json, "meshes/0/primitives/0/extras"));
    assert_int_equal(json_integer_value(get(f.json, "meshes/2/extras/keep")), 7);
    assert_same_json(get(f.json, "meshes/1/primitives/0/extensions"),
                     get(f.source_json, "meshes/0/primitives/0/extensions"));
    free_fixture(&f);
}

// ---- what goes

static void skins_morphs_animations_and_influences_go(void **state)
{
    (void)state;
    static const char *const words[] = {
        "\"skins\"", "\"skin\"", "\"animations\"", "\"targets\"", "\"weights\"", "JOINTS_",   "WEIGHTS_", "targetNames",
        "bend",      "\"bone\"", "\"empty\"",      "\"outside\"", "\"tip\"",     "\"other\"", "VRM",      "basisu",
        "[]",        "{}"};
    for (int space = 0; space < 2; space++) {
        fixture f = make_fixture(peltt_stage(), (pelt_gltf_space)space);
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            // NOT_ONE stands in extras, which are nobody's business.
            if (strcmp(words[i], "{}") != 0 && contains(&f.output, words[i])) {
                fail_msg("%s is in the output", words[i]);
            }
        }
        const pelt_asset_data *data = pelt_asset_get(f.asset);
        assert_int_equal(data->skin_count, 0);
        assert_int_equal(data->clip_count, 0);
        assert_int_equal(data->rest_weight_count, 0);
        free_fixture(&f);
    }
}

static uint32_t occurrences(const char *text, const char *word)
{
    uint32_t count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        count++;
    }
    return count;
}

static void extensions_are_recounted_and_each_loss_is_told_once(void **state)
{
    (void)state;
    fixture f = make_fixture(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    static const char *const used[] = {"KHR_lights_punctual", "KHR_texture_transform", "KHR_mesh_quantization",
                                       "KHR_materials_variants", "KHR_materials_clearcoat"};
    assert_int_equal(json_array_size(get(f.json, "extensionsUsed")), 5);
    for (size_t i = 0; i < 5; i++) {
        bool found = false;
        for (size_t k = 0; k < 5; k++) {
            found = found || strcmp(json_string_value(json_array_get(get(f.json, "extensionsUsed"), k)), used[i]) == 0;
        }
        assert_true(found);
    }
    assert_int_equal(json_array_size(get(f.json, "extensionsRequired")), 2);
    assert_same_json(get(f.json, "extensions/KHR_lights_punctual"),
                     get(f.source_json, "extensions/KHR_lights_punctual"));
    assert_int_equal(occurrences(f.warnings->text, "VRM "), 1);
    assert_int_equal(occurrences(f.warnings->text, "VRMC_materials_mtoon"), 1);
    assert_int_equal(f.warnings->count, 2);
    free_fixture(&f);
}

// ---- where things are

static void world_space_makes_mesh_nodes_roots_without_transform(void **state)
{
    (void)state;
    fixture f = make_fixture(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    static const char *const names[] = {"crate a", "crate b", "snake"};
    for (size_t i = 0; i < 3; i++) {
        const json_t *node = json_of_node(&f, names[i], true);
        static const char *const keys[] = {"translation", "rotation", "scale", "matrix", "children", "camera"};
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            assert_null(json_object_get(node, keys[k]));
        }
        const pelt_node *root = &pelt_asset_get(f.asset)->nodes[node_named(f.asset, names[i], true)];
        assert_int_equal(root->parent, PELT_NONE);
        assert_true(root->in_scene);
        assert_int_equal(pelt_asset_get(f.asset)->instances[i].node, node_named(f.asset, names[i], true));
    }
    // root, turret, eye, crate b and lamp hold cameras and lights; crate a and the snake need no node but the mesh's.
    assert_int_equal(pelt_asset_get(f.asset)->node_count, 5 + 3);
    assert_null(json_object_get(json_of_node(&f, "crate b", false), "extras"));
    assert_null(json_object_get(json_of_node(&f, "crate b", true), "extensions"));
    free_fixture(&f);
}

static void cameras_and_lights_keep_their_world_places(void **state)
{
    (void)state;
    static const char *const names[] = {"root", "turret", "eye", "lamp"};
    for (int space = 0; space < 2; space++) {
        fixture f = make_fixture(peltt_stage(), (pelt_gltf_space)space);
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            assert_same_world(&f, names[i], false);
        }
        assert_same_world(&f, "crate b", space == PELT_GLTF_SPACE_MESH);
        assert_int_equal(json_integer_value(get(json_of_node(&f, "eye", false), "camera")), 0);
        const json_t *crate = json_of_node(&f, "crate b", space == PELT_GLTF_SPACE_MESH);
        assert_int_equal(json_integer_value(get(crate, "camera")), 1);
        assert_int_equal(json_integer_value(get(crate, "extensions/KHR_lights_punctual/light")), 1);
        assert_non_null(json_object_get(crate, "matrix"));
        // Half a second into (0,0,0) to (3,5,7) in one second.
        static const double half[] = {1.5, 2.5, 3.5};
        for (size_t k = 0; k < 3; k++) {
            const json_t *turret = json_of_node(&f, "turret", false);
            assert_true(json_number_value(json_array_get(json_object_get(turret, "translation"), k)) == half[k]);
        }
        free_fixture(&f);
    }
}

static void mesh_space_keeps_meshes_at_their_nodes(void **state)
{
    (void)state;
    fixture f = make_fixture(peltt_stage(), PELT_GLTF_SPACE_MESH);
    assert_same_world(&f, "crate a", true);
    assert_same_world(&f, "crate b", true);
    assert_same_world(&f, "snake", true);
    assert_int_equal(pelt_asset_get(f.asset)->node_count, 7);
    assert_string_equal(get_text(json_of_node(&f, "crate b", true), "extras/tag"), "b");
    free_fixture(&f);
}

static void two_instances_share_all_but_their_vertices(void **state)
{
    (void)state;
    fixture f = make_fixture(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    static const char *const shared[] = {"attributes/TEXCOORD_0", "attributes/TEXCOORD_1", "attributes/COLOR_0",
                                         "attributes/_TEAM", "indices"};
    static const char *const own[] = {"attributes/POSITION", "attributes/NORMAL", "attributes/TANGENT"};
    const json_t *a = get(f.json, "meshes/0/primitives/0");
    const json_t *b = get(f.json, "meshes/1/primitives/0");
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
        assert_same_json(get(a, shared[i]), get(b, shared[i]));
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        assert_int_not_equal(json_integer_value(get(a, own[i])), json_integer_value(get(b, own[i])));
    }
    assert_same_json(get(a, "attributes/TEXCOORD_0"), get(f.json, "meshes/2/primitives/0/attributes/TEXCOORD_0"));
    free_fixture(&f);
}

// ---- layout

static void views_are_aligned_inside_the_buffer_and_have_targets(void **state)
{
    (void)state;
    fixture f = make_fixture(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    assert_int_equal(json_array_size(get(f.json, "buffers")), 1);
    assert_null(get(f.json, "buffers/0/uri"));
    assert_int_equal(json_integer_value(get(f.json, "buffers/0/byteLength")), f.bin_size);
    size_t i = 0;
    json_t *view = NULL;
    int64_t end = 0;
    json_array_foreach(get(f.json, "bufferViews"), i, view)
    {
        int64_t offset = json_integer_value(get(view, "byteOffset"));
        assert_true(offset % 4 == 0 && offset >= end && offset < end + 4);
        end = offset + json_integer_value(get(view, "byteLength"));
    }
    assert_true(end <= (int64_t)f.bin_size);
    json_t *accessor = NULL;
    uint32_t index_views = 0;
    json_array_foreach(get(f.json, "accessors"), i, accessor)
    {
        view = json_array_get(get(f.json, "bufferViews"), (size_t)json_integer_value(get(accessor, "bufferView")));
        int64_t target = json_integer_value(get(view, "target"));
        assert_true(target == 34962 || target == 34963);
        index_views += target == 34963;
    }
    assert_int_equal(index_views, 1);
    // Three bytes of colour and two of a custom attribute take four each.
    view = json_array_get(get(f.json, "bufferViews"),
                          (size_t)json_integer_value(get(f.json, "meshes/0/primitives/0/attributes/COLOR_0")));
    assert_int_equal(json_integer_value(get(view, "byteStride")), 4);
    assert_int_equal(json_integer_value(get(view, "byteLength")), 16);
    free_fixture(&f);
}

static void same_input_gives_same_bytes(void **state)
{
    (void)state;
    fixture a = make_fixture(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    fixture b = make_fixture(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    assert_int_equal(a.output.size, b.output.size);
    assert_memory_equal(a.output.data, b.output.data, a.output.size);
    free_fixture(&a);
    free_fixture(&b);
}

static void gltf_has_its_buffer_beside_it(void **state)
{
    (void)state;
    static const struct {
        const char *given;
        const char *written;
    } uris[] = {{"out/my file.bin", "out/my%20file.bin"},
                {"a%20b.bin", "a%20b.bin"},
                {"100%.bin", "100%25.bin"},
                {"\xC3\xA4?#.bin", "%C3%A4%3F%23.bin"}};
    fixture f = make_fixture(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++) {
        peltt_blob text = {0};
        peltt_blob buffer = {0};
        pelt_gltf_posed job = {.pose = f.posed.pose,
                               .primitive_count = f.posed.primitive_count,
                               .primitives = f.posed.primitives,
                               .generator = "a test",
                               .buffer_uri = uris[i].given,
                               .json = {peltt_blob_write, &text},
                               .buffer = {peltt_blob_write, &buffer}};
        assert_int_equal(pelt_gltf_write_posed(f.posed.gltf, f.posed.asset, &job, NULL), PELT_OK);
        assert_int_equal(buffer.size, f.bin_size);
        assert_memory_equal(buffer.data, f.bin, f.bin_size);
        json_t *json = json_loadb((const char *)text.data, text.size, 0, NULL);
        assert_non_null(json);
        assert_string_equal(get_text(json, "buffers/0/uri"), uris[i].written);
        assert_string_equal(get_text(json, "asset/generator"), "a test");
        json_decref(json);
        peltt_blob_free(&text);
        peltt_blob_free(&buffer);
    }
    free_fixture(&f);
}

static void a_scene_of_nothing_has_no_buffer(void **state)
{
    (void)state;
    peltt_blob none = {0};
    peltt_blob source = peltt_blob_glb("{'asset':{'version':'2.0'},'scene':0,'scenes':[{'name':'void'}]}", &none);
    fixture f = make_fixture(source, PELT_GLTF_SPACE_WORLD);
    assert_null(f.bin);
    assert_int_equal(json_object_size(f.json), 3);
    assert_string_equal(get_text(f.json, "scenes/0/name"), "void");
    peltt_blob text = {0};
    peltt_blob buffer = {0};
    pelt_gltf_posed job = {.pose = f.posed.pose,
                           .buffer_uri = "x.bin",
                           .json = {peltt_blob_write, &text},
                           .buffer = {peltt_blob_write, &buffer}};
    assert_int_equal(pelt_gltf_write_posed(f.posed.gltf, f.posed.asset, &job, NULL), PELT_OK);
    assert_int_equal(buffer.writes, 0);
    assert_false(contains(&text, "buffers"));
    peltt_blob_free(&text);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_normals_tangents_and_boxes_come_back_bit_for_bit),
        cmocka_unit_test(attributes_and_indices_keep_their_types_and_values),
        cmocka_unit_test(sparse_values_are_in_the_copy),
        cmocka_unit_test(materials_textures_cameras_and_images_stay),
        cmocka_unit_test(names_and_extras_stay),
        cmocka_unit_test(skins_morphs_animations_and_influences_go),
        cmocka_unit_test(extensions_are_recounted_and_each_loss_is_told_once),
        cmocka_unit_test(world_space_makes_mesh_nodes_roots_without_transform),
        cmocka_unit_test(cameras_and_lights_keep_their_world_places),
        cmocka_unit_test(mesh_space_keeps_meshes_at_their_nodes),
        cmocka_unit_test(two_instances_share_all_but_their_vertices),
        cmocka_unit_test(views_are_aligned_inside_the_buffer_and_have_targets),
        cmocka_unit_test(same_input_gives_same_bytes),
        cmocka_unit_test(gltf_has_its_buffer_beside_it),
        cmocka_unit_test(a_scene_of_nothing_has_no_buffer),
    };
    return cmocka_run_group_tests_name("gltf_write", tests, NULL, NULL);
}

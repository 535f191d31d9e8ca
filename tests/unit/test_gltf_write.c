// SPDX-License-Identifier: MIT
// What a posed file keeps and what it loses. Expected values come from the sources' own JSON and bytes and from the
// made-up vertices, never from the writer.
#include "peltt_written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// ---- what stays

static void assert_posed_vertices(const peltt_written *f)
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
        peltt_written f = peltt_written_make(peltt_stage(), (pelt_gltf_space)space);
        assert_int_equal(f.posed.primitive_count, 5);
        assert_posed_vertices(&f);
        peltt_written_free(&f);
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
    peltt_written f = peltt_written_make(peltt_stage(), PELT_GLTF_SPACE_WORLD);
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
    assert_int_equal(json_integer_value(peltt_json_at(f.json, "accessors/6/componentType")), PELT_COMPONENT_U16);
    peltt_written_free(&f);
}

static void sparse_values_are_in_the_copy(void **state)
{
    (void)state;
    peltt_written f = peltt_written_make(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    const pelt_attribute *texcoord = find_attribute(&pelt_asset_get(f.asset)->meshes[0].primitives[0], "TEXCOORD_0");
    static const float expected[] = {0, 0, 1, 0, 0, 1, 0.75F, 0.625F};
    assert_memory_equal(texcoord->data, expected, sizeof expected);
    assert_false(peltt_blob_contains(&f.output, "sparse"));
    peltt_written_free(&f);
}

static void materials_textures_cameras_and_images_stay(void **state)
{
    (void)state;
    peltt_written f = peltt_written_make(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    peltt_json_assert_same(peltt_json_at(f.json, "textures"), peltt_json_at(f.source_json, "textures"));
    peltt_json_assert_same(peltt_json_at(f.json, "samplers"), peltt_json_at(f.source_json, "samplers"));
    peltt_json_assert_same(peltt_json_at(f.json, "cameras"), peltt_json_at(f.source_json, "cameras"));
    json_t *materials = json_deep_copy(peltt_json_at(f.source_json, "materials"));
    assert_int_equal(json_object_del(peltt_json_at(materials, "0/extensions"), "VRMC_materials_mtoon"), 0);
    peltt_json_assert_same(peltt_json_at(f.json, "materials"), materials);
    json_decref(materials);

    const json_t *image = peltt_json_at(f.json, "images/0");
    assert_string_equal(peltt_json_text(image, "name"), "pixel");
    assert_string_equal(peltt_json_text(image, "mimeType"), "image/png");
    peltt_json_assert_same(peltt_json_at(image, "extras"), peltt_json_at(f.source_json, "images/0/extras"));
    const json_t *view = json_array_get(peltt_json_at(f.json, "bufferViews"),
                                        (size_t)json_integer_value(peltt_json_at(image, "bufferView")));
    assert_int_equal(json_integer_value(peltt_json_at(view, "byteLength")), PELTT_PNG_SIZE);
    assert_null(peltt_json_at(view, "target"));
    assert_memory_equal(f.bin + json_integer_value(peltt_json_at(view, "byteOffset")), peltt_png, PELTT_PNG_SIZE);
    peltt_written_free(&f);
}

static void names_and_extras_stay(void **state)
{
    (void)state;
    peltt_written f = peltt_written_make(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    assert_string_equal(peltt_json_text(f.json, "asset/version"), "2.0");
    assert_string_equal(peltt_json_text(f.json, "asset/copyright"), "CC0");
    char generator[64];
    snprintf(generator, sizeof generator, "Pelt %s", pelt_version());
    assert_string_equal(peltt_json_text(f.json, "asset/generator"), generator);
    peltt_json_assert_same(peltt_json_at(f.json, "asset/extras"), peltt_json_at(f.source_json, "asset/extras"));
    peltt_json_assert_same(peltt_json_at(f.json, "extras"), peltt_json_at(f.source_json, "extras"));
    assert_int_equal(json_array_size(peltt_json_at(f.json, "scenes")), 1);
    assert_string_equal(peltt_json_text(f.json, "scenes/0/name"), "stage");
    peltt_json_assert_same(peltt_json_at(f.json, "scenes/0/extras"), peltt_json_at(f.source_json, "scenes/1/extras"));
    assert_string_equal(peltt_json_text(peltt_written_json(&f, "crate a", true), "extras/tag"), "a");
    assert_string_equal(peltt_json_text(peltt_written_json(&f, "crate b", true), "extras/tag"), "b");
    assert_string_equal(peltt_json_text(f.json, "meshes/0/name"), "crate");
    assert_string_equal(peltt_json_text(f.json, "meshes/1/name"), "crate");
    assert_string_equal(peltt_json_text(f.json, "meshes/2/name"), "snake skin");
    peltt_json_assert_same(peltt_json_at(f.json, "meshes/0/extras"), peltt_json_at(f.source_json, "meshes/0/extras"));
    peltt_json_assert_same(peltt_json_at(f.json, "meshes/1/primitives/0/extras"),
                           peltt_json_at(f.source_json, "meshes/0/primitives/0/extras"));
    assert_int_equal(json_integer_value(peltt_json_at(f.json, "meshes/2/extras/keep")), 7);
    peltt_json_assert_same(peltt_json_at(f.json, "meshes/1/primitives/0/extensions"),
                           peltt_json_at(f.source_json, "meshes/0/primitives/0/extensions"));
    peltt_written_free(&f);
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
        peltt_written f = peltt_written_make(peltt_stage(), (pelt_gltf_space)space);
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            // NOT_ONE stands in extras, which are nobody's business.
            if (strcmp(words[i], "{}") != 0 && peltt_blob_contains(&f.output, words[i])) {
                fail_msg("%s is in the output", words[i]);
            }
        }
        const pelt_asset_data *data = pelt_asset_get(f.asset);
        assert_int_equal(data->skin_count, 0);
        assert_int_equal(data->clip_count, 0);
        assert_int_equal(data->rest_weight_count, 0);
        peltt_written_free(&f);
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
    peltt_written f = peltt_written_make(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    static const char *const used[] = {"KHR_lights_punctual", "KHR_texture_transform", "KHR_mesh_quantization",
                                       "KHR_materials_variants", "KHR_materials_clearcoat"};
    assert_int_equal(json_array_size(peltt_json_at(f.json, "extensionsUsed")), 5);
    for (size_t i = 0; i < 5; i++) {
        bool found = false;
        for (size_t k = 0; k < 5; k++) {
            found = found ||
                    strcmp(json_string_value(json_array_get(peltt_json_at(f.json, "extensionsUsed"), k)), used[i]) == 0;
        }
        assert_true(found);
    }
    assert_int_equal(json_array_size(peltt_json_at(f.json, "extensionsRequired")), 2);
    peltt_json_assert_same(peltt_json_at(f.json, "extensions/KHR_lights_punctual"),
                           peltt_json_at(f.source_json, "extensions/KHR_lights_punctual"));
    assert_int_equal(occurrences(f.warnings->text, "VRM "), 1);
    assert_int_equal(occurrences(f.warnings->text, "VRMC_materials_mtoon"), 1);
    assert_int_equal(f.warnings->count, 2);
    peltt_written_free(&f);
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
    };
    return cmocka_run_group_tests_name("gltf_write", tests, NULL, NULL);
}

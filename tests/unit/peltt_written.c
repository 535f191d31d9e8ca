// SPDX-License-Identifier: MIT
// The output is opened as any file would be.
#include "peltt_written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void write_source(peltt_written *f, pelt_gltf_space space)
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

peltt_written peltt_written_make(peltt_blob source, pelt_gltf_space space)
{
    peltt_written f = {.source = source};
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
    write_source(&f, space);
    return f;
}

void peltt_written_free(peltt_written *f)
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

json_t *peltt_json_at(const json_t *json, const char *path)
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

const char *peltt_json_text(const json_t *json, const char *path)
{
    const char *text = json_string_value(peltt_json_at(json, path));
    return text ? text : "(none)";
}

void peltt_json_assert_same(const json_t *a, const json_t *b)
{
    assert_non_null(a);
    assert_non_null(b);
    assert_true(json_equal(a, b));
}

bool peltt_blob_contains(const peltt_blob *bytes, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + length <= bytes->size; i++) {
        if (memcmp(bytes->data + i, text, length) == 0) {
            return true;
        }
    }
    return false;
}

uint32_t peltt_written_node(const pelt_asset *asset, const char *name, bool with_mesh)
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

const json_t *peltt_written_json(const peltt_written *f, const char *name, bool with_mesh)
{
    uint32_t node = peltt_written_node(f->asset, name, with_mesh);
    assert_int_not_equal(node, PELT_NONE);
    return json_array_get(json_object_get(f->json, "nodes"), pelt_asset_get(f->asset)->nodes[node].file_index);
}

void peltt_written_assert_world(const peltt_written *f, const char *name, bool with_mesh)
{
    const pelt_asset_data *data = pelt_asset_get(f->posed.asset);
    uint32_t output = peltt_written_node(f->asset, name, with_mesh);
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

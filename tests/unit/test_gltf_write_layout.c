// SPDX-License-Identifier: MIT
// Where a posed file has its nodes, views and buffers. Expected values come from the sources' own JSON and bytes, never
// from the writer.
#include "peltt_written.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

// ---- where things are

static void world_space_makes_mesh_nodes_roots_without_transform(void **state)
{
    (void)state;
    peltt_written f = peltt_written_make(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    static const char *const names[] = {"crate a", "crate b", "snake"};
    for (size_t i = 0; i < 3; i++) {
        const json_t *node = peltt_written_json(&f, names[i], true);
        static const char *const keys[] = {"translation", "rotation", "scale", "matrix", "children", "camera"};
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            assert_null(json_object_get(node, keys[k]));
        }
        const pelt_node *root = &pelt_asset_get(f.asset)->nodes[peltt_written_node(f.asset, names[i], true)];
        assert_int_equal(root->parent, PELT_NONE);
        assert_true(root->in_scene);
        assert_int_equal(pelt_asset_get(f.asset)->instances[i].node, peltt_written_node(f.asset, names[i], true));
    }
    // root, turret, eye, crate b and lamp hold cameras and lights; crate a and the snake need no node but the mesh's.
    assert_int_equal(pelt_asset_get(f.asset)->node_count, 5 + 3);
    assert_null(json_object_get(peltt_written_json(&f, "crate b", false), "extras"));
    assert_null(json_object_get(peltt_written_json(&f, "crate b", true), "extensions"));
    peltt_written_free(&f);
}

static void cameras_and_lights_keep_their_world_places(void **state)
{
    (void)state;
    static const char *const names[] = {"root", "turret", "eye", "lamp"};
    for (int space = 0; space < 2; space++) {
        peltt_written f = peltt_written_make(peltt_stage(), (pelt_gltf_space)space);
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            peltt_written_assert_world(&f, names[i], false);
        }
        peltt_written_assert_world(&f, "crate b", space == PELT_GLTF_SPACE_MESH);
        assert_int_equal(json_integer_value(peltt_json_at(peltt_written_json(&f, "eye", false), "camera")), 0);
        const json_t *crate = peltt_written_json(&f, "crate b", space == PELT_GLTF_SPACE_MESH);
        assert_int_equal(json_integer_value(peltt_json_at(crate, "camera")), 1);
        assert_int_equal(json_integer_value(peltt_json_at(crate, "extensions/KHR_lights_punctual/light")), 1);
        assert_non_null(json_object_get(crate, "matrix"));
        // Half a second into (0,0,0) to (3,5,7) in one second.
        static const double half[] = {1.5, 2.5, 3.5};
        for (size_t k = 0; k < 3; k++) {
            const json_t *turret = peltt_written_json(&f, "turret", false);
            assert_true(json_number_value(json_array_get(json_object_get(turret, "translation"), k)) == half[k]);
        }
        peltt_written_free(&f);
    }
}

static void mesh_space_keeps_meshes_at_their_nodes(void **state)
{
    (void)state;
    peltt_written f = peltt_written_make(peltt_stage(), PELT_GLTF_SPACE_MESH);
    peltt_written_assert_world(&f, "crate a", true);
    peltt_written_assert_world(&f, "crate b", true);
    peltt_written_assert_world(&f, "snake", true);
    assert_int_equal(pelt_asset_get(f.asset)->node_count, 7);
    assert_string_equal(peltt_json_text(peltt_written_json(&f, "crate b", true), "extras/tag"), "b");
    peltt_written_free(&f);
}

static void two_instances_share_all_but_their_vertices(void **state)
{
    (void)state;
    peltt_written f = peltt_written_make(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    static const char *const shared[] = {"attributes/TEXCOORD_0", "attributes/TEXCOORD_1", "attributes/COLOR_0",
                                         "attributes/_TEAM", "indices"};
    static const char *const own[] = {"attributes/POSITION", "attributes/NORMAL", "attributes/TANGENT"};
    const json_t *a = peltt_json_at(f.json, "meshes/0/primitives/0");
    const json_t *b = peltt_json_at(f.json, "meshes/1/primitives/0");
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
        peltt_json_assert_same(peltt_json_at(a, shared[i]), peltt_json_at(b, shared[i]));
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        assert_int_not_equal(json_integer_value(peltt_json_at(a, own[i])),
                             json_integer_value(peltt_json_at(b, own[i])));
    }
    peltt_json_assert_same(peltt_json_at(a, "attributes/TEXCOORD_0"),
                           peltt_json_at(f.json, "meshes/2/primitives/0/attributes/TEXCOORD_0"));
    peltt_written_free(&f);
}

// ---- layout

static void views_are_aligned_inside_the_buffer_and_have_targets(void **state)
{
    (void)state;
    peltt_written f = peltt_written_make(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    assert_int_equal(json_array_size(peltt_json_at(f.json, "buffers")), 1);
    assert_null(peltt_json_at(f.json, "buffers/0/uri"));
    assert_int_equal(json_integer_value(peltt_json_at(f.json, "buffers/0/byteLength")), f.bin_size);
    size_t i = 0;
    json_t *view = NULL;
    int64_t end = 0;
    json_array_foreach(peltt_json_at(f.json, "bufferViews"), i, view)
    {
        int64_t offset = json_integer_value(peltt_json_at(view, "byteOffset"));
        assert_true(offset % 4 == 0 && offset >= end && offset < end + 4);
        end = offset + json_integer_value(peltt_json_at(view, "byteLength"));
    }
    assert_true(end <= (int64_t)f.bin_size);
    json_t *accessor = NULL;
    uint32_t index_views = 0;
    json_array_foreach(peltt_json_at(f.json, "accessors"), i, accessor)
    {
        view = json_array_get(peltt_json_at(f.json, "bufferViews"),
                              (size_t)json_integer_value(peltt_json_at(accessor, "bufferView")));
        int64_t target = json_integer_value(peltt_json_at(view, "target"));
        assert_true(target == 34962 || target == 34963);
        index_views += target == 34963;
    }
    assert_int_equal(index_views, 1);
    // Three bytes of colour and two of a custom attribute take four each.
    view =
        json_array_get(peltt_json_at(f.json, "bufferViews"),
                       (size_t)json_integer_value(peltt_json_at(f.json, "meshes/0/primitives/0/attributes/COLOR_0")));
    assert_int_equal(json_integer_value(peltt_json_at(view, "byteStride")), 4);
    assert_int_equal(json_integer_value(peltt_json_at(view, "byteLength")), 16);
    peltt_written_free(&f);
}

static void same_input_gives_same_bytes(void **state)
{
    (void)state;
    peltt_written a = peltt_written_make(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    peltt_written b = peltt_written_make(peltt_stage(), PELT_GLTF_SPACE_WORLD);
    assert_int_equal(a.output.size, b.output.size);
    assert_memory_equal(a.output.data, b.output.data, a.output.size);
    peltt_written_free(&a);
    peltt_written_free(&b);
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
    peltt_written f = peltt_written_make(peltt_stage(), PELT_GLTF_SPACE_WORLD);
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
        assert_string_equal(peltt_json_text(json, "buffers/0/uri"), uris[i].written);
        assert_string_equal(peltt_json_text(json, "asset/generator"), "a test");
        json_decref(json);
        peltt_blob_free(&text);
        peltt_blob_free(&buffer);
    }
    peltt_written_free(&f);
}

static void a_scene_of_nothing_has_no_buffer(void **state)
{
    (void)state;
    peltt_blob none = {0};
    peltt_blob source = peltt_blob_glb("{'asset':{'version':'2.0'},'scene':0,'scenes':[{'name':'void'}]}", &none);
    peltt_written f = peltt_written_make(source, PELT_GLTF_SPACE_WORLD);
    assert_null(f.bin);
    assert_int_equal(json_object_size(f.json), 3);
    assert_string_equal(peltt_json_text(f.json, "scenes/0/name"), "void");
    peltt_blob text = {0};
    peltt_blob buffer = {0};
    pelt_gltf_posed job = {.pose = f.posed.pose,
                           .buffer_uri = "x.bin",
                           .json = {peltt_blob_write, &text},
                           .buffer = {peltt_blob_write, &buffer}};
    assert_int_equal(pelt_gltf_write_posed(f.posed.gltf, f.posed.asset, &job, NULL), PELT_OK);
    assert_int_equal(buffer.writes, 0);
    assert_false(peltt_blob_contains(&text, "buffers"));
    peltt_blob_free(&text);
    peltt_written_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
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

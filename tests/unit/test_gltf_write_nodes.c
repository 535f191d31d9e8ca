// SPDX-License-Identifier: MIT
// Posed files of unusual sources: hidden nodes, odd matrices, long chains.
#include "peltt_parsed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void hidden_nodes_stay_hidden_as_roots(void **state)
{
    (void)state;
    peltt_blob bin = {0};
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    peltt_blob_add(&bin, positions, sizeof positions);
    peltt_parsed b = peltt_parsed_open(
        peltt_format("{'asset':{'version':'2.0'},'extensionsUsed':['KHR_node_visibility'],"
                     "'nodes':[{'children':[1,2],'extensions':{'KHR_node_visibility':{'visible':false}}},"
                     "{'mesh':0,'name':'hidden'},{'name':'parent','children':[3]},{'mesh':0,'name':'hidden too'},"
                     "{'mesh':0,'name':'seen','extensions':{'KHR_node_visibility':{'visible':true}}}],"
                     "'meshes':[{'primitives':[{'attributes':{'POSITION':0}}]}],"
                     "'accessors':[{'bufferView':0,'componentType':5126,'count':3,'type':'VEC3','min':[0,0,0],"
                     "'max':[1,1,0]}],'bufferViews':[{'buffer':0,'byteLength':36}],'buffers':[{'byteLength':36}]}"),
        &bin, NULL);
    peltt_blob_free(&bin);
    peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
    assert_int_equal(json_array_size(json_object_get(b.json, "nodes")), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *extensions = json_object_get(peltt_json_item(b.json, "nodes", i), "extensions");
        const json_t *visible = json_object_get(json_object_get(extensions, "KHR_node_visibility"), "visible");
        assert_int_equal(json_is_false(visible), i < 2);
    }
    assert_string_equal(json_string_value(peltt_json_item(b.json, "extensionsUsed", 0)), "KHR_node_visibility");
    peltt_parsed_close(&b);
}

static void a_long_chain_keeps_its_camera_in_place(void **state)
{
    (void)state;
    enum {
        DEPTH = 20000
    };
    size_t capacity = (size_t)DEPTH * 64 + 256;
    char *json = malloc(capacity);
    assert_non_null(json);
    int length = snprintf(json, capacity,
                          "{'asset':{'version':'2.0'},'cameras':[{'type':'perspective',"
                          "'perspective':{'yfov':1,'znear':1}}],'nodes':[");
    for (int i = 0; i < DEPTH; i++) {
        length += snprintf(json + length, capacity - (size_t)length, "{'translation':[1,0,0],'children':[%d]},", i + 1);
    }
    snprintf(json + length, capacity - (size_t)length, "{'camera':0}]}");
    peltt_blob none = {0};
    peltt_parsed b = peltt_parsed_open(json, &none, NULL);
    peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
    assert_int_equal(json_array_size(json_object_get(b.json, "nodes")), DEPTH + 1);
    peltt_posed again = peltt_posed_open(&b.output, NULL, NULL);
    pelt_mat34 world = pelt_pose_world(again.pose, DEPTH);
    assert_true(world.m[0][3] == DEPTH);
    peltt_posed_close(&again);
    peltt_parsed_close(&b);
}

static void a_matrix_that_flattens_becomes_translation_rotation_and_scale(void **state)
{
    (void)state;
    // Columns; the first three are orthogonal with some of length zero, the last one shears.
    static const char *const matrices[] = {
        "0.6,0.8,0,0, 0,0,0,0, 0,0,-3,0, 1,2,3,1", "0,0,0,0, 1.2,-1.6,0,0, 1.6,1.2,0,0, 1,2,3,1",
        "0,0,2,0, 0,4,0,0, 0,0,0,0, 0,0,0,1",      "0,0,0,0, 0,0,0,0, -0.36,0.48,0.8,0, 5,0,0,1",
        "0,0,0,0, 0,0,0,0, 0,0,0,0, 7,0,0,1",      "1,0,0,0, 0.5,1,0,0, 0,0,1,0, 0,0,0,1",
    };
    peltt_blob none = {0};
    for (size_t i = 0; i < 6; i++) {
        peltt_parsed b =
            peltt_parsed_open(peltt_format("{'asset':{'version':'2.0'},'cameras':[{'type':'perspective','perspective':"
                                           "{'yfov':1,'znear':1}}],'nodes':[{'camera':0,'matrix':[%s]}]}",
                                           matrices[i]),
                              &none, NULL);
        peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
        assert_int_equal(json_object_get(peltt_json_item(b.json, "nodes", 0), "matrix") != NULL, i == 5);
        assert_int_equal(b.warnings->count, i == 5);
        peltt_posed again = peltt_posed_open(&b.output, NULL, NULL);
        pelt_mat34 expected = pelt_pose_world(b.posed.pose, 0);
        pelt_mat34 actual = pelt_pose_world(again.pose, 0);
        for (int k = 0; k < 12; k++) {
            assert_float_equal(actual.m[k / 4][k % 4], expected.m[k / 4][k % 4], 1e-6);
        }
        peltt_posed_close(&again);
        peltt_parsed_close(&b);
    }
}

static void a_scene_that_starts_below_a_root_keeps_the_root_for_its_transform(void **state)
{
    (void)state;
    peltt_blob none = {0};
    peltt_parsed b = peltt_parsed_open(
        peltt_format("{'asset':{'version':'2.0'},'cameras':[{'type':'perspective','perspective':"
                     "{'yfov':1,'znear':1}}],'scene':0,'scenes':[{'nodes':[1]}],'nodes':["
                     "{'name':'above','translation':[1,2,3],'camera':0,'children':[1,2]},"
                     "{'name':'eye','translation':[0,0,4],'camera':0},{'name':'beside','camera':0}]}"),
        &none, NULL);
    peltt_parsed_write(&b, PELT_GLTF_SPACE_WORLD);
    assert_int_equal(json_array_size(json_object_get(b.json, "nodes")), 2);
    assert_null(json_object_get(peltt_json_item(b.json, "nodes", 0), "camera"));
    peltt_posed again = peltt_posed_open(&b.output, NULL, NULL);
    pelt_mat34 world = pelt_pose_world(again.pose, 1);
    assert_true(world.m[0][3] == 1 && world.m[1][3] == 2 && world.m[2][3] == 7);
    peltt_posed_close(&again);
    peltt_parsed_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hidden_nodes_stay_hidden_as_roots),
        cmocka_unit_test(a_long_chain_keeps_its_camera_in_place),
        cmocka_unit_test(a_matrix_that_flattens_becomes_translation_rotation_and_scale),
        cmocka_unit_test(a_scene_that_starts_below_a_root_keeps_the_root_for_its_transform),
    };
    return cmocka_run_group_tests_name("gltf_write_edges", tests, NULL, NULL);
}

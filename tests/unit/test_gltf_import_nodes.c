// SPDX-License-Identifier: MIT
// What the import makes of nodes, scenes and skins, and what it refuses.
#include "peltt_import.h"

#include <stdio.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

// Accessors: 0 = positions of 3 vertices, 1 = joints, 2 = weights, 3 = two inverse binds, 4 = one with a fourth row
// slightly off, 5 = one with a fourth row far off, 6 = a MAT4 whose fourth row holds a NaN, 7 = MAT3, 8 = sparse MAT4
// x 3.
static peltt_file *triangle(void)
{
    static peltt_file file;
    memset(&file, 0, sizeof file);
    const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    const unsigned char joints[12] = {0};
    const float weights[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
    peltt_file_add(&file, "VEC3", PELT_COMPONENT_F32, 3, positions, ",'min':[0,0,0],'max':[1,1,0]");
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_U8, 3, joints, "");
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_F32, 3, weights, "");
    float binds[32] = {0};
    for (int i = 0; i < 32; i++) {
        binds[i] = (float)(i + 1);
    }
    for (int m = 0; m < 2; m++) {
        for (int column = 0; column < 4; column++) {
            binds[m * 16 + column * 4 + 3] = column == 3 ? 1.0f : 0.0f;
        }
    }
    peltt_file_add(&file, "MAT4", PELT_COMPONENT_F32, 2, binds, "");
    binds[3] = 0.00005f;
    peltt_file_add(&file, "MAT4", PELT_COMPONENT_F32, 1, binds, "");
    binds[3] = 0;
    binds[15] = 1.001f;
    peltt_file_add(&file, "MAT4", PELT_COMPONENT_F32, 1, binds, "");
    uint32_t nan_bits = 0x7FC00000;
    memcpy(&binds[7], &nan_bits, 4);
    binds[15] = 1;
    peltt_file_add(&file, "MAT4", PELT_COMPONENT_F32, 1, binds, "");
    peltt_file_accessor(&file, "{'componentType':5126,'type':'MAT3','count':2}");
    binds[7] = 0;
    float three[48];
    memcpy(three, binds, 64);
    memcpy(three + 16, binds, 64);
    memcpy(three + 32, binds, 64);
    unsigned base = peltt_file_view(&file, three, sizeof three, 0);
    const uint16_t at[2] = {1, 2};
    float replaced[32];
    memcpy(replaced, binds, 64);
    memcpy(replaced + 16, binds, 64);
    replaced[12] = 100;
    replaced[28] = 200;
    unsigned indices = peltt_file_view(&file, at, sizeof at, 0);
    unsigned values = peltt_file_view(&file, replaced, sizeof replaced, 0);
    char json[256];
    snprintf(json, sizeof json,
             "{'componentType':5126,'type':'MAT4','count':3,'bufferView':%u,'sparse':{'count':2,'indices':{"
             "'bufferView':%u,'componentType':5123},'values':{'bufferView':%u}}}",
             base, indices, values);
    peltt_file_accessor(&file, json);
    binds[3] = 0;
    memcpy(binds + 16, binds, 64);
    binds[31] = 0;
    peltt_file_add(&file, "MAT4", PELT_COMPONENT_F32, 2, binds, "");
    binds[31] = 1;
    binds[15] = 0;
    peltt_file_add(&file, "MAT4", PELT_COMPONENT_F32, 2, binds, "");
    return &file;
}

#define MESH "'meshes':[{'primitives':[{'attributes':{'POSITION':0,'JOINTS_0':1,'WEIGHTS_0':2}}]}]"

static void matrices_become_row_major(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, triangle(), NULL, "'nodes':[{'matrix':[1,2,3,0,4,5,6,0,7,8,10,0,11,12,13,1]}]");
    assert_int_equal(import.result, PELT_OK);
    const pelt_node *node = &import.data->nodes[0];
    const float expected[3][4] = {{1, 4, 7, 11}, {2, 5, 8, 12}, {3, 6, 10, 13}};
    assert_true(node->has_matrix);
    assert_memory_equal(node->local_matrix.m, expected, sizeof expected);
    peltt_import_end(&import);
}

static void transforms_and_names_are_kept(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, triangle(), NULL,
                     "'nodes':[{'name':'a','translation':[1,2,3],'children':[2]},{'name':'a','rotation':[0,0,1,0]},"
                     "{'scale':[4,5.0,6e0]},{'name':''},{'name':'../x\\u00e4'}]");
    assert_int_equal(import.result, PELT_OK);
    const pelt_node *nodes[5];
    for (uint32_t i = 0; i < 5; i++) {
        nodes[i] = &import.data->nodes[import.data->node_from_file[i]];
        assert_int_equal(nodes[i]->file_index, i);
        assert_int_equal(nodes[i]->mesh, PELT_NONE);
        assert_int_equal(nodes[i]->skin, PELT_NONE);
        assert_true(nodes[i]->in_scene);
        assert_false(nodes[i]->has_matrix);
    }
    assert_string_equal(nodes[0]->name, "a");
    assert_string_equal(nodes[1]->name, "a");
    assert_string_equal(nodes[2]->name, "");
    assert_string_equal(nodes[3]->name, "");
    assert_string_equal(nodes[4]->name, "../x\xc3\xa4");
    assert_true(nodes[0]->rest.translation.x == 1 && nodes[0]->rest.translation.y == 2 &&
                nodes[0]->rest.translation.z == 3);
    assert_true(nodes[1]->rest.rotation.z == 1 && nodes[1]->rest.rotation.w == 0);
    assert_true(nodes[2]->rest.scale.x == 4 && nodes[2]->rest.scale.y == 5 && nodes[2]->rest.scale.z == 6);
    assert_int_equal(nodes[2]->parent, import.data->node_from_file[0]);
    peltt_import_end(&import);
}

static void only_the_default_scene_is_marked(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, triangle(), NULL,
                     "'nodes':[{'children':[2]},{},{}],'scenes':[{'nodes':[1]},{'nodes':[0]}],'scene':1");
    assert_int_equal(import.result, PELT_OK);
    const uint32_t *from_file = import.data->node_from_file;
    assert_true(import.data->nodes[from_file[0]].in_scene);
    assert_false(import.data->nodes[from_file[1]].in_scene);
    assert_true(import.data->nodes[from_file[2]].in_scene);
    peltt_import_end(&import);

    // scenes without scene: the file names none.
    peltt_import_run(&import, triangle(), NULL, "'nodes':[{},{}],'scenes':[{'nodes':[1]}]");
    assert_int_equal(import.result, PELT_OK);
    assert_true(import.data->nodes[0].in_scene && import.data->nodes[1].in_scene);
    peltt_import_end(&import);
}

static void broken_nodes_are_refused_by_name(void **state)
{
    (void)state;
    static const peltt_verdict verdicts[] = {
        {"'nodes':[{},{'matrix':[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1],'translation':[0,0,0]}]",
         PELT_ERROR_INVALID,
         {"node 1: ", "both a matrix and translation"}},
        {"'nodes':[{'matrix':[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1],'scale':[1,1,1]}]",
         PELT_ERROR_INVALID,
         {"node 0: ", "scale"}},
        {"'nodes':[{},{'matrix':[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0]}]",
         PELT_ERROR_INVALID,
         {"node 1", "matrix", "15", "16"}},
        {"'nodes':[{'matrix':5}]", PELT_ERROR_INVALID, {"node 0", "matrix", "16"}},
        {"'nodes':[{'matrix':[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,'1']}]", PELT_ERROR_INVALID, {"node 0", "matrix"}},
        {"'nodes':[{'matrix':[1,0,0,0.1,0,1,0,0,0,0,1,0,0,0,0,1]}]",
         PELT_ERROR_INVALID,
         {"node 0", "fourth row", "0.1"}},
        {"'nodes':[{'matrix':[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1.00009]}]", PELT_OK, {"node 0", "matrix", "fourth row"}},
        {"'nodes':[{'matrix':[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1.0002]}]", PELT_ERROR_INVALID, {"node 0", "fourth row"}},
        {"'nodes':[{},{'rotation':[0,0,1]}]", PELT_ERROR_INVALID, {"node 1", "rotation", "3", "4"}},
        {"'nodes':[{'translation':[0,0,1e39]}]", PELT_ERROR_INVALID, {"node 0", "translation"}},
        {"'nodes':[{'children':[4294967295]}]", PELT_ERROR_INVALID, {"node 0", "children", "4294967295"}},
        {"'nodes':[{'children':[1]}]", PELT_ERROR_INVALID, {"node 0", "1"}},
        {"'nodes':[{'children':[1.5]},{}]", PELT_ERROR_INVALID, {"node 0", "children", "1.5"}},
        {"'nodes':[{'children':[-1]},{}]", PELT_ERROR_INVALID, {"node 0", "children", "-1"}},
        {"'nodes':[{'children':[1.0]},{}]", PELT_OK, {0}},
        {"'nodes':[{'children':7}]", PELT_ERROR_INVALID, {"node 0", "children"}},
        {"'nodes':[{'name':7}]", PELT_ERROR_INVALID, {"node 0", "name"}},
        {"'nodes':[7]", PELT_ERROR_INVALID, {"node 0"}},
        {"'nodes':{}", PELT_ERROR_INVALID, {"nodes"}},
        {"'nodes':[{'mesh':0}]", PELT_ERROR_INVALID, {"node 0", "mesh", "0"}},
        {"'nodes':[{'mesh':0,'skin':3}]," MESH, PELT_ERROR_INVALID, {"node 0", "skin", "3"}},
        {"'nodes':[{'skin':0},{}],'skins':[{'joints':[1]}]", PELT_OK, {"node 0", "skin 0", "mesh"}},
        {"'nodes':[{'mesh':0,'weights':[1]}]," MESH, PELT_ERROR_INVALID, {"node 0", "weights"}},
        {"'nodes':[{'weights':['a']}]", PELT_ERROR_INVALID, {"node 0", "weights"}},
        {"'nodes':[{}],'scene':1,'scenes':[{'nodes':[0]}]", PELT_ERROR_INVALID, {"scene", "1"}},
        {"'nodes':[{}],'scene':0", PELT_ERROR_INVALID, {"scene", "0"}},
        {"'nodes':[{}],'scene':0,'scenes':[{'nodes':[5]}]", PELT_ERROR_INVALID, {"scene", "5"}},
        {"'nodes':[{}],'scene':0,'scenes':[{'nodes':['x']}]", PELT_ERROR_INVALID, {"scene 0", "nodes"}},
        {"'nodes':[{}],'scene':0,'scenes':[{}]", PELT_OK, {0}},
    };
    peltt_import_expect(triangle(), NULL, verdicts, COUNT(verdicts));
}

static void an_empty_file_is_an_empty_asset(void **state)
{
    (void)state;
    static const peltt_file empty;
    peltt_import import;
    peltt_import_run(&import, &empty, NULL, "");
    assert_int_equal(import.result, PELT_OK);
    assert_int_equal(import.data->node_count, 0);
    assert_int_equal(import.data->mesh_count, 0);
    assert_int_equal(import.data->clip_count, 0);
    assert_int_equal(import.data->skin_count, 0);
    peltt_import_end(&import);
}

static void null_arguments_are_refused(void **state)
{
    (void)state;
    pelt_asset *asset = NULL;
    pelt_error error;
    assert_int_equal(pelt_gltf_import(NULL, &asset, &error), PELT_ERROR_ARGUMENT);
    assert_int_equal(error.code, PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_gltf_load_file("x.glb", NULL, NULL, &error), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_gltf_load_file(NULL, NULL, &asset, NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_gltf_load_file("/nonexistent/x.glb", NULL, &asset, NULL), PELT_ERROR_IO);
    assert_null(asset);
}

static void inverse_binds_become_row_major(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, triangle(), NULL,
                     "'nodes':[{},{}],'skins':[{'name':'s','joints':[1,0],'inverseBindMatrices':3,'skeleton':1},"
                     "{'joints':[0]}]");
    assert_int_equal(import.result, PELT_OK);
    const pelt_skin *skin = &import.data->skins[0];
    assert_string_equal(skin->name, "s");
    assert_int_equal(skin->joint_count, 2);
    assert_int_equal(skin->joints[0], import.data->node_from_file[1]);
    assert_int_equal(skin->joints[1], import.data->node_from_file[0]);
    assert_int_equal(skin->skeleton, import.data->node_from_file[1]);
    assert_true(skin->has_inverse_binds);
    for (int joint = 0; joint < 2; joint++) {
        for (int row = 0; row < 3; row++) {
            for (int column = 0; column < 4; column++) {
                assert_true(skin->inverse_binds[joint].m[row][column] == (float)(joint * 16 + column * 4 + row + 1));
            }
        }
    }
    assert_false(import.data->skins[1].has_inverse_binds);
    assert_int_equal(import.data->skins[1].skeleton, PELT_NONE);
    pelt_mat34 identity = pelt_mat34_identity();
    assert_memory_equal(&import.data->skins[1].inverse_binds[0], &identity, sizeof identity);
    peltt_import_end(&import);
}

static void a_long_sparse_accessor_serves_short_skins(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, triangle(), NULL,
                     "'nodes':[{},{},{}],'skins':[{'joints':[0],'inverseBindMatrices':8},"
                     "{'joints':[0,1],'inverseBindMatrices':8},{'joints':[0,1,2],'inverseBindMatrices':8}]");
    assert_int_equal(import.result, PELT_OK);
    const float expected[3] = {13, 100, 200}; // element 12 of each matrix
    for (uint32_t s = 0; s < 3; s++) {
        for (uint32_t j = 0; j <= s; j++) {
            assert_true(import.data->skins[s].inverse_binds[j].m[0][3] == expected[j]);
        }
    }
    peltt_import_end(&import);
}

static void broken_skins_are_refused_by_name(void **state)
{
    (void)state;
    static const peltt_verdict verdicts[] = {
        {"'nodes':[{}],'skins':[{'joints':[]}]", PELT_ERROR_INVALID, {"skin 0", "joints"}},
        {"'nodes':[{}],'skins':[{}]", PELT_ERROR_INVALID, {"skin 0", "joints"}},
        {"'nodes':[{}],'skins':[{'joints':[99]}]", PELT_ERROR_INVALID, {"skin 0", "joint", "99"}},
        {"'nodes':[{}],'skins':[{'joints':[0],'skeleton':4}]", PELT_ERROR_INVALID, {"skin 0", "skeleton", "4"}},
        {"'nodes':[{}],'skins':[{'joints':[0]},{'joints':[0,0,0],'inverseBindMatrices':3}]",
         PELT_ERROR_INVALID,
         {"skin 1: inverseBindMatrices has 2 matrices for 3 joints"}},
        {"'nodes':[{}],'skins':[{'joints':[0],'inverseBindMatrices':3}]", PELT_OK, {0}},
        {"'nodes':[{}],'skins':[{'joints':[0],'inverseBindMatrices':7}]",
         PELT_ERROR_INVALID,
         {"skin 0: inverseBindMatrices", "MAT3", "MAT4"}},
        {"'nodes':[{}],'skins':[{'joints':[0],'inverseBindMatrices':99}]",
         PELT_ERROR_INVALID,
         {"skin 0: inverseBindMatrices", "99"}},
        {"'nodes':[{}],'skins':[{'joints':[0],'inverseBindMatrices':4}]",
         PELT_OK,
         {"skin 0: inverseBindMatrices", "fourth row", "joint 0"}},
        {"'nodes':[{}],'skins':[{'joints':[0],'inverseBindMatrices':5}]",
         PELT_ERROR_INVALID,
         {"skin 0: inverseBindMatrices", "joint 0", "fourth row", "1.001"}},
        {"'nodes':[{}],'skins':[{'joints':[0],'inverseBindMatrices':6}]",
         PELT_ERROR_INVALID,
         {"skin 0: inverseBindMatrices", "joint 0", "nan"}},
    };
    peltt_import_expect(triangle(), NULL, verdicts, COUNT(verdicts));
}

// Exporters leave rubbish in the matrices of joints that no vertex uses. The triangle uses joint 0 alone.
static void projective_binds_matter_where_vertices_use_them(void **state)
{
    (void)state;
    static const peltt_verdict verdicts[] = {
        {MESH ",'nodes':[{'mesh':0,'skin':0,'children':[1]},{}],'skins':[{'joints':[0,1],'inverseBindMatrices':9}]",
         PELT_OK,
         {"skin 0: inverseBindMatrices", "joint 1", "no vertex uses it"}},
        {MESH ",'nodes':[{'mesh':0,'skin':0,'children':[1]},{}],'skins':[{'joints':[0,1],'inverseBindMatrices':10}]",
         PELT_ERROR_INVALID,
         {"skin 0: inverseBindMatrices", "joint 0", "fourth row", "0 0 0 1"}},
        {MESH ",'nodes':[{'mesh':0,'skin':1,'children':[1]},{}],'skins':[{'joints':[0,1],'inverseBindMatrices':9},"
              "{'joints':[0,1]}]",
         PELT_ERROR_INVALID,
         {"skin 0: inverseBindMatrices", "joint 1"}},
        {"'nodes':[{'mesh':0,'skin':0,'children':[1]},{'mesh':1,'skin':1}],'skins':[{'joints':[0,1],"
         "'inverseBindMatrices':9},{'joints':[1,0],'inverseBindMatrices':10}],'meshes':[{'primitives':[{'attributes':{"
         "'POSITION':0,'JOINTS_0':1,'WEIGHTS_0':2}}]},{'primitives':[{'attributes':{'POSITION':0,'JOINTS_0':1,"
         "'WEIGHTS_0':2}}]}]",
         PELT_ERROR_INVALID,
         {"skin 1: inverseBindMatrices", "joint 0"}},
    };
    peltt_import_expect(triangle(), NULL, verdicts, COUNT(verdicts));
    peltt_import import;
    peltt_import_run(&import, triangle(), NULL, verdicts[0].json);
    assert_int_equal(import.result, PELT_OK);
    pelt_mat34 identity = pelt_mat34_identity();
    assert_memory_equal(&import.data->skins[0].inverse_binds[1], &identity, sizeof identity);
    assert_true(import.data->skins[0].inverse_binds[0].m[0][1] == 5);
    peltt_import_end(&import);
    peltt_import_fail_each_allocation(triangle(), NULL, verdicts[0].json);
}

static void skinned_nodes_that_are_placed_are_reported(void **state)
{
    (void)state;
    static const peltt_verdict verdicts[] = {
        {MESH ",'nodes':[{'mesh':0,'skin':0,'translation':[0,0,1]},{'mesh':0,'skin':0,'scale':[1,2,1]}],"
              "'skins':[{'joints':[0]}]",
         PELT_OK,
         {"node 0: the node transform of a skinned mesh is ignored", "2 such nodes"}},
        {MESH ",'nodes':[{'mesh':0,'skin':0,'matrix':[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]}],'skins':[{'joints':[0]}]",
         PELT_OK,
         {0}},
        {MESH ",'nodes':[{'mesh':0,'translation':[0,0,1]}]", PELT_OK, {0}},
    };
    peltt_import_expect(triangle(), NULL, verdicts, COUNT(verdicts));
}

static void joints_over_the_limit_are_refused(void **state)
{
    (void)state;
    pelt_gltf_options options = {.limits = {.joints = 2}};
    peltt_import import;
    peltt_import_run(&import, triangle(), &options, "'nodes':[{},{},{}],'skins':[{'joints':[0,1]}]");
    assert_int_equal(import.result, PELT_OK);
    peltt_import_end(&import);
    peltt_import_run(&import, triangle(), &options, "'nodes':[{},{},{}],'skins':[{'joints':[0,1,2]}]");
    assert_int_equal(import.result, PELT_ERROR_LIMIT);
    assert_non_null(strstr(import.error.message, "--max-joints"));
    assert_non_null(strstr(import.error.hint, "--max-joints"));
    peltt_import_end(&import);
}

// The lowest joint count of all skins that meet a mesh bounds its JOINTS_n.
static void a_mesh_is_checked_against_its_smallest_skin(void **state)
{
    (void)state;
    static peltt_file file;
    memset(&file, 0, sizeof file);
    const float position[3] = {0, 0, 0};
    const uint16_t joints[4] = {1, 0, 0, 0};
    const float weights[4] = {1, 0, 0, 0};
    peltt_file_add(&file, "VEC3", PELT_COMPONENT_F32, 1, position, ",'min':[0,0,0],'max':[0,0,0]");
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_U16, 1, joints, "");
    peltt_file_add(&file, "VEC4", PELT_COMPONENT_F32, 1, weights, "");
#define POINT "'meshes':[{'primitives':[{'mode':0,'attributes':{'POSITION':0,'JOINTS_0':1,'WEIGHTS_0':2}}]}]"
    static const peltt_verdict verdicts[] = {
        {POINT ",'nodes':[{'mesh':0,'skin':0},{'children':[2]},{}],'skins':[{'joints':[1,2]}]", PELT_OK, {0}},
        {POINT ",'nodes':[{'mesh':0,'skin':0},{'children':[2]},{},{'mesh':0,'skin':1}],'skins':[{'joints':[1,2]},{'"
               "joints':[1]}]",
         PELT_ERROR_INVALID,
         {"mesh 0, primitive 0", "JOINTS_0", "vertex 0", "1"}},
        {POINT ",'nodes':[{'mesh':0}]", PELT_OK, {0}},
    };
    peltt_import_expect(&file, NULL, verdicts, COUNT(verdicts));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    peltt_import_fail_each_allocation(
        triangle(), NULL,
        "'nodes':[{'name':'n','children':[1],'mesh':0,'skin':0},{'matrix':[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]}],"
        "'scene':0,'scenes':[{'nodes':[0]}],'skins':[{'joints':[1,0],'inverseBindMatrices':3}]," MESH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_arguments_are_refused),
        cmocka_unit_test(an_empty_file_is_an_empty_asset),
        cmocka_unit_test(matrices_become_row_major),
        cmocka_unit_test(transforms_and_names_are_kept),
        cmocka_unit_test(only_the_default_scene_is_marked),
        cmocka_unit_test(broken_nodes_are_refused_by_name),
        cmocka_unit_test(inverse_binds_become_row_major),
        cmocka_unit_test(a_long_sparse_accessor_serves_short_skins),
        cmocka_unit_test(broken_skins_are_refused_by_name),
        cmocka_unit_test(projective_binds_matter_where_vertices_use_them),
        cmocka_unit_test(skinned_nodes_that_are_placed_are_reported),
        cmocka_unit_test(joints_over_the_limit_are_refused),
        cmocka_unit_test(a_mesh_is_checked_against_its_smallest_skin),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

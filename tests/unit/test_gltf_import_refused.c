// SPDX-License-Identifier: MIT
// Meshes and primitives that the import refuses or cuts down, and its limits.
#include "peltt_import_quad.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

#define PRIMITIVE(attributes, rest) "'meshes':[{'primitives':[{'attributes':{" attributes "}" rest "}]}]"
#define POINTS ",'mode':0"

static void broken_streams_are_refused_by_name(void **state)
{
    (void)state;
    static const peltt_verdict verdicts[] = {
        {PRIMITIVE("'POSITION':999", ""), PELT_ERROR_INVALID, {"mesh 0, primitive 0: POSITION", "999"}},
        {PRIMITIVE("'POSITION':0,'_A':4294967296", ""), PELT_ERROR_INVALID, {"mesh 0, primitive 0: _A", "4294967296"}},
        {PRIMITIVE("'POSITION':-1", ""), PELT_ERROR_INVALID, {"mesh 0, primitive 0: POSITION", "-1"}},
        {PRIMITIVE("'POSITION':'0'", ""), PELT_ERROR_INVALID, {"mesh 0, primitive 0: POSITION", "string"}},
        {PRIMITIVE("'POSITION':7", POINTS), PELT_ERROR_INVALID, {"POSITION is VEC2 of FLOAT", "VEC3"}},
        {PRIMITIVE("'POSITION':26", POINTS), PELT_OK, {"POSITION", "KHR_mesh_quantization", "min and max"}},
        {PRIMITIVE("'POSITION':16", POINTS), PELT_ERROR_INVALID, {"mesh 0, primitive 0: POSITION", "vertex 2", "nan"}},
        {PRIMITIVE("'POSITION':0,'NORMAL':29", POINTS), PELT_ERROR_INVALID, {"NORMAL", "vertex 3", "inf"}},
        {PRIMITIVE("'POSITION':0,'NORMAL':0", POINTS ",'targets':[{'NORMAL':16}]"),
         PELT_ERROR_INVALID,
         {"mesh 0, primitive 0, target 0: NORMAL", "vertex 2"}},
        {PRIMITIVE("'POSITION':0,'NORMAL':15", POINTS), PELT_ERROR_INVALID, {"NORMAL has 5", "4 vertices"}},
        {PRIMITIVE("'POSITION':0,'NORMAL':27", POINTS), PELT_ERROR_INVALID, {"NORMAL is VEC3 of SHORT", "normalized"}},
        {PRIMITIVE("'POSITION':0,'NORMAL':2", POINTS), PELT_ERROR_INVALID, {"NORMAL is VEC4 of FLOAT"}},
        {PRIMITIVE("'POSITION':0,'TANGENT':1", POINTS), PELT_ERROR_INVALID, {"TANGENT is VEC3 of FLOAT", "VEC4"}},
        {PRIMITIVE("'POSITION':22", POINTS), PELT_OK, {"mesh 0, primitive 0: POSITION", "min and max"}},
        {PRIMITIVE("'POSITION':0,'_M':23", POINTS), PELT_OK, {"mesh 0, primitive 0: _M is MAT4", "ignored"}},
        {PRIMITIVE("'NORMAL':1", POINTS), PELT_OK, {"mesh 0, primitive 0: no POSITION"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_0':12,'WEIGHTS_0':4", POINTS),
         PELT_ERROR_INVALID,
         {"JOINTS_0", "componentType", "UNSIGNED_INT"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_0':4,'WEIGHTS_0':4", POINTS),
         PELT_ERROR_INVALID,
         {"JOINTS_0", "componentType"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_0':13,'WEIGHTS_0':4", POINTS), PELT_ERROR_INVALID, {"JOINTS_0", "normalized"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_0':3,'WEIGHTS_0':14", POINTS),
         PELT_ERROR_INVALID,
         {"WEIGHTS_0", "componentType", "normalized"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_0':3,'WEIGHTS_0':1", POINTS), PELT_ERROR_INVALID, {"WEIGHTS_0 is VEC3"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_0':3", POINTS), PELT_ERROR_INVALID, {"JOINTS_0 without WEIGHTS_0"}},
        {PRIMITIVE("'POSITION':0,'WEIGHTS_0':4", POINTS), PELT_ERROR_INVALID, {"WEIGHTS_0 without JOINTS_0"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_0':3,'WEIGHTS_0':4,'JOINTS_1':3", POINTS),
         PELT_ERROR_INVALID,
         {"JOINTS_1 without WEIGHTS_1"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_1':3,'WEIGHTS_1':4", POINTS), PELT_ERROR_INVALID, {"JOINTS_0", "WEIGHTS_0"}},
        {PRIMITIVE("'POSITION':0,'JOINTS_0':3,'WEIGHTS_0':4,'JOINTS_2':3,'WEIGHTS_2':4", POINTS),
         PELT_ERROR_INVALID,
         {"JOINTS_1 and WEIGHTS_1"}},
        {PRIMITIVE("'POSITION':15,'JOINTS_0':3,'WEIGHTS_0':4", POINTS), PELT_ERROR_INVALID, {"JOINTS_0", "4", "5"}},
    };
    peltt_import_expect(peltt_quad(), NULL, verdicts, COUNT(verdicts));
}

static void broken_primitives_are_refused_by_name(void **state)
{
    (void)state;
    static const peltt_verdict verdicts[] = {
        {PRIMITIVE("'POSITION':0", ",'indices':6"),
         PELT_ERROR_INVALID,
         {"mesh 0, primitive 0: indices: index 4 at 1 but the primitive has 4 vertices"}},
        {PRIMITIVE("'POSITION':0", ",'indices':0"), PELT_ERROR_INVALID, {"indices is VEC3 of FLOAT"}},
        {PRIMITIVE("'POSITION':0", ",'indices':77"), PELT_ERROR_INVALID, {"indices", "77"}},
        {PRIMITIVE("'POSITION':0", ",'mode':7"), PELT_ERROR_INVALID, {"mesh 0, primitive 0", "mode", "7"}},
        {PRIMITIVE("'POSITION':0", ",'material':0"), PELT_ERROR_INVALID, {"mesh 0, primitive 0", "material", "0"}},
        {PRIMITIVE("'POSITION':0", ""), PELT_OK, {"mesh 0, primitive 0: 4 vertices", "TRIANGLES"}},
        {PRIMITIVE("'POSITION':0", ",'indices':24"), PELT_OK, {"4 indices", "TRIANGLES"}},
        {PRIMITIVE("'POSITION':0", ",'indices':25,'mode':1"), PELT_OK, {"3 indices", "LINES"}},
        {PRIMITIVE("'POSITION':0", ",'mode':2"), PELT_OK, {0}},
        {PRIMITIVE("'POSITION':0", ",'mode':3"), PELT_OK, {0}},
        {"'meshes':[{'primitives':[]}]", PELT_ERROR_INVALID, {"mesh 0: ", "primitives"}},
        {"'meshes':[{}]", PELT_ERROR_INVALID, {"mesh 0: ", "primitives"}},
        {"'meshes':[{'primitives':[5]}]", PELT_ERROR_INVALID, {"mesh 0: ", "primitive 0"}},
        {"'meshes':[{'primitives':[{}]}]", PELT_ERROR_INVALID, {"mesh 0, primitive 0: attributes"}},
        {"'meshes':[{'primitives':[{'attributes':[0]}]}]", PELT_ERROR_INVALID, {"mesh 0, primitive 0: attributes"}},
        {PRIMITIVE("'POSITION':17", ",'extensions':{'KHR_draco_mesh_compression':{'bufferView':0}}"),
         PELT_ERROR_UNSUPPORTED,
         {"mesh 0, primitive 0", "KHR_draco_mesh_compression"}},
        {PRIMITIVE("'POSITION':0", ",'mode':0,'extensions':{'KHR_draco_mesh_compression':{'bufferView':0}}"),
         PELT_OK,
         {0}},
        {PRIMITIVE("'POSITION':0", POINTS ",'targets':[{'POSITION':15}]"),
         PELT_ERROR_INVALID,
         {"mesh 0, primitive 0, target 0: POSITION", "5", "4"}},
        {PRIMITIVE("'POSITION':0", POINTS ",'targets':[{'POSITION':0},{'TANGENT':2}]"),
         PELT_ERROR_INVALID,
         {"mesh 0, primitive 0, target 1: TANGENT is VEC4"}},
        {PRIMITIVE("'POSITION':0", POINTS ",'targets':[{'POSITION':'x'}]"),
         PELT_ERROR_INVALID,
         {"mesh 0, primitive 0, target 0: POSITION"}},
        {PRIMITIVE("'POSITION':0", POINTS ",'targets':[5]"), PELT_ERROR_INVALID, {"mesh 0, primitive 0, target 0"}},
        {PRIMITIVE("'POSITION':0", POINTS ",'targets':5"), PELT_ERROR_INVALID, {"mesh 0", "targets"}},
        {PRIMITIVE("'POSITION':0", POINTS ",'targets':[{'TEXCOORD_0':7},{'COLOR_0':8}]"),
         PELT_OK,
         {"mesh 0, primitive 0", "TEXCOORD_0"}},
        {"'meshes':[{'primitives':[{'attributes':{'POSITION':0},'targets':[{}]},{'attributes':{'POSITION':0}}]}]",
         PELT_ERROR_INVALID,
         {"mesh 0", "primitive 1", "0", "1"}},
        {"'meshes':[{'primitives':[{'attributes':{'POSITION':0},'mode':0,'targets':[{}]}],'weights':[1,2]}]",
         PELT_ERROR_INVALID,
         {"mesh 0: weights has 2 numbers for 1 morph targets"}},
        {"'meshes':[{'primitives':[{'attributes':{'POSITION':0},'mode':0,'targets':[{}]}],'weights':5}]",
         PELT_ERROR_INVALID,
         {"mesh 0: weights"}},
        {"'meshes':[{'primitives':[{'attributes':{'POSITION':0},'mode':0,'targets':[{}]}],'extras':5}]", PELT_OK, {0}},
    };
    peltt_import_expect(peltt_quad(), NULL, verdicts, COUNT(verdicts));
}

static void an_error_says_where(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, peltt_quad(), NULL,
                     "'meshes':[{'primitives':[{'attributes':{'POSITION':0},'mode':0}]},{'primitives':["
                     "{'attributes':{'POSITION':0},'mode':0},{'attributes':{'POSITION':16}}]}]");
    assert_int_equal(import.result, PELT_ERROR_INVALID);
    assert_int_equal(import.error.mesh, 1);
    assert_int_equal(import.error.primitive, 1);
    assert_int_equal(import.error.vertex, 2);
    assert_string_equal(import.error.where, "/meshes/1/primitives/1");
    peltt_import_end(&import);
}

static void limits_name_their_option(void **state)
{
    (void)state;
    pelt_gltf_options options = {.limits = {.vertices = 3}};
    peltt_import import;
    peltt_import_run(&import, peltt_quad(), &options, PRIMITIVE("'POSITION':0", POINTS));
    assert_int_equal(import.result, PELT_ERROR_LIMIT);
    assert_non_null(strstr(import.error.message, "--max-vertices"));
    assert_non_null(strstr(import.error.hint, "--max-vertices"));
    peltt_import_end(&import);

    static peltt_file file;
    memset(&file, 0, sizeof file);
    peltt_file_accessor(&file, "{'componentType':5126,'type':'VEC3','count':90000000}");
    options.limits.vertices = 0;
    options.limits.memory = 1 << 20;
    peltt_import_run(&import, &file, &options, PRIMITIVE("'POSITION':0", POINTS));
    assert_int_equal(import.result, PELT_ERROR_LIMIT);
    assert_non_null(strstr(import.error.hint, "--max-memory"));
    peltt_import_end(&import);
}

static void the_influence_limit_reaches_the_builder(void **state)
{
    (void)state;
    pelt_gltf_options options = {.influence_limit = 1};
    peltt_import import;
    peltt_import_run(&import, peltt_quad(), &options, PRIMITIVE("'POSITION':0,'JOINTS_0':3,'WEIGHTS_0':4", POINTS));
    assert_int_equal(import.result, PELT_OK);
    assert_int_equal(peltt_first_primitive(&import)->influence_count, 1);
    assert_int_equal(peltt_first_primitive(&import)->influences.reduced_count, 1);
    peltt_import_end(&import);
}

static void a_primitive_without_positions_has_no_vertices(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(
        &import, peltt_quad(), NULL,
        PRIMITIVE("'NORMAL':1,'JOINTS_0':3,'WEIGHTS_0':4,'_A':7", ",'indices':5,'targets':[{'POSITION':0}]"));
    assert_int_equal(import.result, PELT_OK);
    const pelt_primitive *p = peltt_first_primitive(&import);
    assert_int_equal(p->vertex_count, 0);
    assert_int_equal(p->index_count, 0);
    assert_null(p->positions);
    assert_null(p->indices);
    assert_int_equal(p->attribute_count, 0);
    assert_null(p->targets[0].positions);
    peltt_import_end(&import);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    peltt_import_fail_each_allocation(
        peltt_quad(), NULL,
        "'nodes':[{'mesh':0,'skin':0}],'skins':[{'joints':[0,0]}],'meshes':[{'name':'m','primitives':[{'attributes':{"
        "'POSITION':0,'NORMAL':1,'TANGENT':2,'TEXCOORD_0':7,'JOINTS_0':3,'WEIGHTS_0':13,'JOINTS_1':19,'WEIGHTS_1':4},"
        "'indices':5,'targets':[{'POSITION':18},{'NORMAL':1}]}],'extras':{'targetNames':['a','b']}}]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_streams_are_refused_by_name),
        cmocka_unit_test(broken_primitives_are_refused_by_name),
        cmocka_unit_test(an_error_says_where),
        cmocka_unit_test(limits_name_their_option),
        cmocka_unit_test(the_influence_limit_reaches_the_builder),
        cmocka_unit_test(a_primitive_without_positions_has_no_vertices),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

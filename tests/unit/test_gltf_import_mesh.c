// SPDX-License-Identifier: MIT
// What the import makes of meshes, primitives and their streams.
#include "peltt_import_quad.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void streams_are_read_as_they_are(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, peltt_quad(), NULL,
                     "'materials':[{},{}],'meshes':[{'name':'m','primitives':[{'attributes':{'_X':7,'POSITION':0,"
                     "'COLOR_0':8,'NORMAL':1,'TEXCOORD_0':7,'TANGENT':2,'JOINTS_0':3,'WEIGHTS_0':4,'JOINTS_00':3},"
                     "'indices':5,'material':1}]}]");
    assert_int_equal(import.result, PELT_OK);
    assert_int_equal(import.log_count, 1);
    assert_non_null(strstr(import.log, "JOINTS_0")); // vertex 2 lists joint 1 twice: the weights are merged
    const pelt_primitive *p = peltt_first_primitive(&import);
    assert_string_equal(import.data->meshes[0].name, "m");
    assert_int_equal(p->topology, PELT_TOPOLOGY_TRIANGLES);
    assert_int_equal(p->material, 1);
    assert_int_equal(p->vertex_count, 4);
    assert_memory_equal(p->positions, peltt_quad_positions, sizeof peltt_quad_positions);
    assert_memory_equal(p->normals, peltt_quad_normals, sizeof peltt_quad_normals);
    assert_memory_equal(p->tangents, peltt_quad_tangents, sizeof peltt_quad_tangents);
    assert_int_equal(p->influence_count, 2);
    const uint16_t joints[8] = {0, 1, 1, 0, 1, 0, 0, 0};
    const float cleaned[8] = {0.5f, 0.5f, 1, 0, 1, 0, 1, 0};
    assert_memory_equal(p->joints, joints, sizeof joints);
    assert_memory_equal(p->weights, cleaned, sizeof cleaned);
    const uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
    assert_int_equal(p->index_count, 6);
    assert_memory_equal(p->indices, indices, sizeof indices);
    assert_true(p->has_declared_box);
    assert_true(p->declared_box.min[2] == 0 && p->declared_box.max[0] == 1 && p->declared_box.max[2] == 5);
    static const char *const names[4] = {"_X", "COLOR_0", "TEXCOORD_0", "JOINTS_00"};
    assert_int_equal(p->attribute_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(p->attributes[i].name, names[i]);
    }
    assert_memory_equal(p->attributes[0].data, peltt_quad_uv, sizeof peltt_quad_uv);
    assert_int_equal(p->attributes[0].component, PELT_COMPONENT_F32);
    assert_int_equal(p->attributes[0].stride, 8);
    assert_memory_equal(p->attributes[1].data, peltt_quad_colors, sizeof peltt_quad_colors);
    assert_int_equal(p->attributes[1].component, PELT_COMPONENT_U8);
    assert_true(p->attributes[1].normalized);
    assert_int_equal(p->attributes[1].component_count, 4);
    peltt_import_end(&import);
}

static void what_is_absent_has_its_default(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, peltt_quad(), NULL, "'meshes':[{'primitives':[{'attributes':{'POSITION':0},'mode':0}]}]");
    assert_int_equal(import.result, PELT_OK);
    const pelt_primitive *p = peltt_first_primitive(&import);
    assert_string_equal(import.data->meshes[0].name, "");
    assert_int_equal(p->topology, PELT_TOPOLOGY_POINTS);
    assert_int_equal(p->material, PELT_NONE);
    assert_null(p->normals);
    assert_null(p->tangents);
    assert_null(p->indices);
    assert_int_equal(p->index_count, 4);
    assert_int_equal(p->influence_count, 0);
    assert_int_equal(p->attribute_count, 0);
    assert_int_equal(import.data->meshes[0].target_count, 0);
    peltt_import_end(&import);
}

static void indices_of_all_sizes_are_widened(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, peltt_quad(), NULL,
                     "'meshes':[{'primitives':[{'attributes':{'POSITION':0},'mode':5,'indices':24},"
                     "{'attributes':{'POSITION':0},'mode':6,'indices':25}]}]");
    assert_int_equal(import.result, PELT_OK);
    const uint32_t bytes[4] = {3, 2, 1, 0};
    const uint32_t words[3] = {2, 0, 3};
    const pelt_primitive *p = peltt_first_primitive(&import);
    assert_int_equal(p[0].topology, PELT_TOPOLOGY_TRIANGLE_STRIP);
    assert_memory_equal(p[0].indices, bytes, sizeof bytes);
    assert_int_equal(p[1].topology, PELT_TOPOLOGY_TRIANGLE_FAN);
    assert_memory_equal(p[1].indices, words, sizeof words);
    peltt_import_end(&import);
}

// c / 32767 and c / 127, not below -1; plain integers as they are.
static void quantized_streams_become_floats(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, peltt_quad(), NULL,
                     "'extensionsUsed':['KHR_mesh_quantization'],'meshes':[{'primitives':["
                     "{'attributes':{'POSITION':9},'mode':1},{'attributes':{'POSITION':10,'NORMAL':11},'mode':0},"
                     "{'attributes':{'POSITION':0,'TANGENT':28},'mode':0}]}]");
    assert_int_equal(import.result, PELT_OK);
    assert_int_equal(import.log_count, 0);
    const pelt_primitive *p = peltt_first_primitive(&import);
    const double expected[6] = {1, -1, -1, 0, 1 / 32767.0, 2 / 32767.0};
    for (int i = 0; i < 6; i++) {
        assert_true(fabs((double)p[0].positions[i] - expected[i]) < 1e-7);
    }
    assert_true(p[0].declared_box.max[0] == 1 && p[0].declared_box.min[2] == -1);
    assert_true(p[1].positions[0] == 200 && p[1].positions[1] == 7 && p[1].positions[2] == 0);
    assert_true(p[1].declared_box.max[0] == 200);
    assert_true(p[1].normals[0] == 0 && p[1].normals[1] == -1 && fabs((double)p[1].normals[2] - 64 / 127.0) < 1e-7);
    assert_true(p[2].tangents[3] == 1 && p[2].tangents[7] == -1 && p[2].tangents[11] == -1);
    peltt_import_end(&import);
}

static void weights_may_be_integers(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, peltt_quad(), NULL,
                     "'meshes':[{'primitives':[{'attributes':{'POSITION':0,'JOINTS_0':3,'WEIGHTS_0':13},'mode':0}]}]");
    assert_int_equal(import.result, PELT_OK);
    const pelt_primitive *p = peltt_first_primitive(&import);
    assert_true(fabs((double)p->weights[0] - 0.2) < 1e-7);
    assert_true(fabs((double)p->weights[1] - 0.8) < 1e-7);
    peltt_import_end(&import);
}

static void sets_go_on_from_zero(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, peltt_quad(), NULL,
                     "'meshes':[{'primitives':[{'attributes':{'WEIGHTS_1':20,'POSITION':0,'JOINTS_0':3,'WEIGHTS_0':4,"
                     "'JOINTS_1':19},'mode':0}]}]");
    assert_int_equal(import.result, PELT_OK);
    const pelt_primitive *p = peltt_first_primitive(&import);
    assert_int_equal(p->influences.set_count, 2);
    // Both sets say the same, so the sum is two and the merged, normalised weights are those of one set.
    assert_int_equal(p->influences.normalized_count, 4);
    assert_true(p->weights[0] == 0.5f && p->weights[1] == 0.5f);
    peltt_import_end(&import);
}

static void shared_accessors_are_decoded_once(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, peltt_quad(), NULL,
                     "'meshes':[{'primitives':[{'attributes':{'POSITION':0,'NORMAL':1,'JOINTS_0':3,'WEIGHTS_0':4,"
                     "'TEXCOORD_0':7},'indices':5,'targets':[{'POSITION':0},{'POSITION':0,'NORMAL':1}]},"
                     "{'attributes':{'POSITION':0,'NORMAL':1,'JOINTS_0':3,'WEIGHTS_0':4,'TEXCOORD_0':7},'indices':5,"
                     "'targets':[{'POSITION':0},{'POSITION':0}]},"
                     "{'attributes':{'POSITION':0,'JOINTS_0':3,'WEIGHTS_0':20},'targets':[{},{}],'indices':5}]}]");
    assert_int_equal(import.result, PELT_OK);
    const pelt_primitive *p = peltt_first_primitive(&import);
    assert_ptr_equal(p[0].positions, p[1].positions);
    assert_ptr_equal(p[0].normals, p[1].normals);
    assert_ptr_equal(p[0].joints, p[1].joints);
    assert_ptr_equal(p[0].weights, p[1].weights);
    assert_int_equal(p[1].influence_count, 2);
    assert_int_equal(p[1].joint_bound, 2);
    assert_int_equal(p[1].influences.set_count, 1);
    assert_ptr_equal(p[0].indices, p[1].indices);
    assert_ptr_equal(p[0].attributes[0].data, p[1].attributes[0].data);
    assert_ptr_equal(p[0].targets[0].positions, p[0].positions);
    assert_ptr_equal(p[0].targets[1].positions, p[1].targets[1].positions);
    assert_ptr_not_equal(p[0].joints, p[2].joints);
    assert_null(p[2].targets[0].positions);
    peltt_import_end(&import);
}

// Ten thousand primitives on one set of accessors take the memory of one.
static void shared_accessors_do_not_multiply_memory(void **state)
{
    (void)state;
    static char json[1 << 20];
    size_t used = (size_t)snprintf(json, sizeof json, "'meshes':[{'primitives':[");
    for (int i = 0; i < 5000; i++) {
        used += (size_t)snprintf(json + used, sizeof json - used,
                                 "%s{'attributes':{'POSITION':0,'JOINTS_0':1,'WEIGHTS_0':2,'COLOR_0':3},'mode':0}",
                                 i ? "," : "");
    }
    snprintf(json + used, sizeof json - used, "]}]");
    static peltt_file file;
    memset(&file, 0, sizeof file);
    peltt_file_accessor(&file, "{'componentType':5126,'type':'VEC3','count':10000,'min':[0,0,0],'max':[0,0,0]}");
    peltt_file_accessor(&file, "{'componentType':5121,'type':'VEC4','count':10000}");
    peltt_file_accessor(&file, "{'componentType':5121,'type':'VEC4','count':10000,'normalized':true}");
    peltt_file_accessor(&file, "{'componentType':5126,'type':'VEC4','count':10000}");
    pelt_gltf_options options = {.limits = {.memory = 16 << 20}};
    peltt_import import;
    peltt_import_run(&import, &file, &options, json);
    assert_int_equal(import.result, PELT_OK);
    assert_int_equal(import.data->meshes[0].primitive_count, 5000);
    assert_ptr_equal(peltt_first_primitive(&import)[4999].weights, peltt_first_primitive(&import)->weights);
    peltt_import_end(&import);
}

static void targets_are_displacements_or_nothing(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, peltt_quad(), NULL,
                     "'nodes':[{'mesh':0}],'meshes':[{'primitives':[{'attributes':{'POSITION':0},'mode':0,'targets':["
                     "{'POSITION':17},{'POSITION':18,'NORMAL':1,'TANGENT':1}]}],'weights':[0.25,-2],"
                     "'extras':{'targetNames':['open',5]}}]");
    assert_int_equal(import.result, PELT_OK);
    assert_int_equal(import.log_count, 0);
    const pelt_mesh *mesh = &import.data->meshes[0];
    assert_int_equal(mesh->target_count, 2);
    assert_string_equal(mesh->target_names[0], "open");
    assert_string_equal(mesh->target_names[1], "");
    assert_true(mesh->weights[0] == 0.25f && mesh->weights[1] == -2);
    const pelt_morph_target *targets = mesh->primitives[0].targets;
    assert_null(targets[0].positions);
    assert_null(targets[0].normals);
    const float sparse[12] = {0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0};
    assert_memory_equal(targets[1].positions, sparse, sizeof sparse);
    assert_memory_equal(targets[1].normals, peltt_quad_normals, sizeof peltt_quad_normals);
    assert_memory_equal(targets[1].tangents, peltt_quad_normals, sizeof peltt_quad_normals);
    assert_int_equal(import.data->rest_weight_count, 2);
    peltt_import_end(&import);
}

static void tangent_signs_are_forced(void **state)
{
    (void)state;
    peltt_import import;
    peltt_import_run(&import, peltt_quad(), NULL,
                     "'meshes':[{'primitives':[{'attributes':{'POSITION':0,'TANGENT':21},'mode':0}]}]");
    assert_int_equal(import.result, PELT_OK);
    assert_non_null(strstr(import.log, "mesh 0, primitive 0: TANGENT: w of 3 vertices"));
    const float *t = peltt_first_primitive(&import)->tangents;
    assert_true(t[3] == 1 && t[7] == -1 && t[11] == 1 && t[15] == 1);
    peltt_import_end(&import);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_read_as_they_are),
        cmocka_unit_test(what_is_absent_has_its_default),
        cmocka_unit_test(indices_of_all_sizes_are_widened),
        cmocka_unit_test(quantized_streams_become_floats),
        cmocka_unit_test(weights_may_be_integers),
        cmocka_unit_test(sets_go_on_from_zero),
        cmocka_unit_test(shared_accessors_are_decoded_once),
        cmocka_unit_test(shared_accessors_do_not_multiply_memory),
        cmocka_unit_test(targets_are_displacements_or_nothing),
        cmocka_unit_test(tangent_signs_are_forced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Meshes through the builder, and reading single elements of a finished one.
#include "base/base.h"
#include "peltt_kit.h"

#include <math.h>
#include <setjmp.h>

#include <cmocka.h>

static float *copy_floats(peltt_kit *kit, const float *values, uint32_t count)
{
    float *copy = peltt_kit_allocate(kit, count, sizeof *copy);
    memcpy(copy, values, sizeof *copy * count);
    return copy;
}

static void streams_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"POSITION",           "NORMAL",           "TANGENT",
                                        "target 1: POSITION", "target 1: NORMAL", "target 1: TANGENT"};
    for (int i = 0; i < 6; i++) {
        peltt_kit kit;
        peltt_kit_init(&kit, 1);
        uint32_t mesh = peltt_kit_mesh(&kit, 0, 2);
        pelt_primitive *primitive = peltt_kit_primitive(&kit, mesh);
        pelt_morph_target *target = (pelt_morph_target *)&primitive->targets[1];
        const float **streams[] = {&primitive->positions, &primitive->normals, &primitive->tangents,
                                   &target->positions,    &target->normals,    &target->tangents};
        uint32_t components = i == 2 ? 4 : 3;
        float values[12] = {0};
        for (int k = 3; k < 12; k += 4) {
            values[k] = 1;
        }
        values[components * 2 + 1] = NAN;
        *streams[i] = copy_floats(&kit, values, 3 * components);
        const pelt_error *error = peltt_kit_refuse(&kit, "mesh 0, primitive 0");
        assert_non_null(strstr(error->message, names[i]));
        assert_non_null(strstr(error->message, "vertex 2 holds NaN"));
        assert_true(error->mesh == 0 && error->primitive == 0 && error->vertex == 2);
        peltt_kit_destroy(&kit);
    }
}

static void the_finite_limits_of_floats_are_accepted(void **state)
{
    (void)state;
    const float values[9] = {3.4028235e38f, -3.4028235e38f, 1e-45f, -1e-45f, -0.0f, 0, 1, 2, 3};
    peltt_kit kit;
    peltt_kit_init(&kit, 1);
    peltt_kit_primitive(&kit, peltt_kit_mesh(&kit, 0, 0))->positions = copy_floats(&kit, values, 9);
    peltt_kit_asset(&kit);
    peltt_kit_destroy(&kit);
}

static void other_handedness_becomes_its_sign_with_a_warning(void **state)
{
    (void)state;
    const float values[12] = {1, 0, 0, -1, 1, 0, 0, -0.25f, 1, 0, 0, 0};
    peltt_kit kit;
    peltt_kit_init(&kit, 1);
    peltt_kit_primitive(&kit, peltt_kit_mesh(&kit, 0, 0))->tangents = copy_floats(&kit, values, 12);
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    const float *tangents = data->meshes[0].primitives[0].tangents;
    assert_true(tangents[3] == -1.0f && tangents[7] == -1.0f && tangents[11] == 1.0f);
    assert_int_equal(kit.log.count, 1);
    const pelt_error *warning = peltt_warnings_find(&kit.log, "mesh 0, primitive 0: TANGENT: w of 2 vertices");
    assert_non_null(strstr(warning->message, "vertex 1 is the first, with -0.25"));
    peltt_kit_destroy(&kit);
}

static void index_past_the_vertices_is_refused(void **state)
{
    (void)state;
    for (uint32_t last = 2; last <= 3; last++) {
        const uint32_t list[3] = {0, last, 1};
        peltt_kit kit;
        peltt_kit_init(&kit, 1);
        uint32_t *indices = peltt_kit_allocate(&kit, 3, sizeof *indices);
        memcpy(indices, list, sizeof list);
        peltt_kit_primitive(&kit, peltt_kit_mesh(&kit, 0, 0))->indices = indices;
        if (last == 2) {
            peltt_kit_asset(&kit);
        } else {
            const pelt_error *error = peltt_kit_refuse(&kit, "indices: 3");
            assert_string_equal(error->where, "/meshes/0/primitives/0/indices");
        }
        peltt_kit_destroy(&kit);
    }
}

// The arrays of one primitive may serve others with fewer vertices, and each must be checked for itself.
static void shared_arrays_are_checked_for_every_use(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 1);
    uint32_t mesh = peltt_kit_mesh(&kit, 0, 0);
    uint32_t *indices = peltt_kit_allocate(&kit, 3, sizeof *indices);
    indices[1] = 2;
    pelt_primitive *primitives = peltt_kit_allocate(&kit, 2, sizeof *primitives);
    primitives[0] = *peltt_kit_primitive(&kit, mesh);
    primitives[0].indices = indices;
    primitives[1] = primitives[0];
    primitives[1].vertex_count = 2;
    kit.scene.meshes[mesh].primitives = primitives;
    kit.scene.meshes[mesh].primitive_count = 2;
    peltt_kit_refuse(&kit, "mesh 0, primitive 1: indices: 2");
    peltt_kit_destroy(&kit);
}

static void many_primitives_on_one_large_array_are_scanned_once(void **state)
{
    (void)state;
    enum {
        VERTICES = 1000000,
        PRIMITIVES = 20000 // scanned each, this would be 6e10 floats
    };
    peltt_kit kit;
    peltt_kit_init(&kit, 1);
    uint32_t mesh = peltt_kit_mesh(&kit, 0, 0);
    pelt_primitive *primitives = peltt_kit_allocate(&kit, PRIMITIVES, sizeof *primitives);
    float *even = peltt_kit_allocate(&kit, VERTICES * 3, sizeof *even);
    float *odd = peltt_kit_allocate(&kit, VERTICES * 3, sizeof *odd);
    for (uint32_t i = 0; i < PRIMITIVES; i++) {
        primitives[i].vertex_count = VERTICES;
        primitives[i].positions = i % 2 ? odd : even;
        primitives[i].normals = i % 2 ? even : odd;
    }
    kit.scene.meshes[mesh].primitives = primitives;
    kit.scene.meshes[mesh].primitive_count = PRIMITIVES;
    peltt_kit_asset(&kit);
    peltt_kit_destroy(&kit);
}

static void a_fault_in_any_of_many_arrays_is_found(void **state)
{
    (void)state;
    enum {
        PRIMITIVES = 500
    };
    for (uint32_t wrong = 0; wrong <= PRIMITIVES; wrong += 100) {
        peltt_kit kit;
        peltt_kit_init(&kit, 1);
        uint32_t mesh = peltt_kit_mesh(&kit, 0, 0);
        pelt_primitive *primitives = peltt_kit_allocate(&kit, PRIMITIVES, sizeof *primitives);
        for (uint32_t i = 0; i < PRIMITIVES; i++) {
            float *positions = peltt_kit_allocate(&kit, 3, sizeof *positions);
            positions[2] = i == wrong ? NAN : 0;
            primitives[i].vertex_count = 1;
            primitives[i].positions = positions;
        }
        kit.scene.meshes[mesh].primitives = primitives;
        kit.scene.meshes[mesh].primitive_count = PRIMITIVES;
        if (wrong == PRIMITIVES) {
            peltt_kit_asset(&kit);
        } else {
            assert_int_equal(peltt_kit_refuse(&kit, "POSITION")->primitive, wrong);
        }
        peltt_kit_destroy(&kit);
    }
}

static void incomplete_primitives_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        peltt_kit kit;
        peltt_kit_init(&kit, 1);
        pelt_primitive *primitive = peltt_kit_primitive(&kit, peltt_kit_mesh(&kit, 2, 1));
        pelt_attribute *attribute = peltt_kit_allocate(&kit, 1, sizeof *attribute);
        *attribute = (pelt_attribute){"COLOR_0", PELT_COMPONENT_F32, false, 5, 20, primitive->positions};
        const char *text = "";
        switch (i) {
        case 0:
            primitive->positions = NULL;
            text = "POSITION";
            break;
        case 1:
            primitive->targets = NULL;
            text = "targets";
            break;
        case 2:
            primitive->weights = NULL;
            text = "weights";
            break;
        case 3:
            primitive->joint_bound = 1; // joint 1 is used
            text = "joint 1";
            break;
        default:
            primitive->attribute_count = 1;
            primitive->attributes = attribute;
            text = "attribute 0";
        }
        peltt_kit_refuse(&kit, text);
        peltt_kit_destroy(&kit);
    }
}

static void mesh_weights_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    const float weights[2] = {0, INFINITY};
    peltt_kit kit;
    peltt_kit_init(&kit, 1);
    uint32_t mesh = peltt_kit_mesh(&kit, 0, 2);
    kit.scene.meshes[mesh].weights = weights;
    const pelt_error *error = peltt_kit_refuse(&kit, "mesh 0: weights holds infinity");
    assert_string_equal(error->where, "/meshes/0/weights/1");
    assert_int_equal(error->mesh, 0);
    peltt_kit_destroy(&kit);
}

static void names_are_never_null(void **state)
{
    (void)state;
    static const char *const target_names[2] = {NULL, "puff"};
    peltt_kit kit;
    peltt_kit_init(&kit, 1);
    uint32_t named = peltt_kit_mesh(&kit, 0, 2);
    uint32_t unnamed = peltt_kit_mesh(&kit, 0, 1);
    kit.scene.meshes[named].target_names = target_names;
    peltt_kit_skin(&kit, 1, (const uint32_t[]){0});
    peltt_kit_clip(&kit);
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    assert_string_equal(data->nodes[0].name, "");
    assert_string_equal(data->meshes[named].name, "");
    assert_string_equal(data->meshes[named].target_names[0], "");
    assert_string_equal(data->meshes[named].target_names[1], "puff");
    assert_string_equal(data->meshes[unnamed].target_names[0], "");
    assert_string_equal(data->skins[0].name, "");
    assert_string_equal(data->clips[0].name, "");
    peltt_kit_destroy(&kit);
}

// Expected values: glTF 2.0, section 3.6.2.2.
static void attributes_are_read_as_floats(void **state)
{
    (void)state;
    static const struct {
        pelt_component component;
        bool normalized;
        unsigned char bytes[8]; // two components, little endian
        double expected[2];
    } cases[] = {
        {PELT_COMPONENT_I8, true, {0x80, 0x40}, {-1, 64.0 / 127}},
        {PELT_COMPONENT_I8, false, {0x80, 0x7F}, {-128, 127}},
        {PELT_COMPONENT_U8, true, {0xFF, 0x33}, {1, 0.2}},
        {PELT_COMPONENT_U8, false, {0xFF, 0x01}, {255, 1}},
        {PELT_COMPONENT_I16, true, {0x00, 0x80, 0xFF, 0x7F}, {-1, 1}},
        {PELT_COMPONENT_I16, false, {0x00, 0x80, 0xFE, 0xFF}, {-32768, -2}},
        {PELT_COMPONENT_U16, true, {0xFF, 0xFF, 0x01, 0x00}, {1, 1.0 / 65535}},
        {PELT_COMPONENT_U16, false, {0xFF, 0xFF, 0x01, 0x00}, {65535, 1}},
        {PELT_COMPONENT_U32, false, {0x00, 0x00, 0x00, 0x80, 0x05}, {2147483648.0, 5}},
        {PELT_COMPONENT_U32, true, {0xFF, 0xFF, 0xFF, 0xFF}, {1, 0}},
        {PELT_COMPONENT_F32, false, {0x00, 0x00, 0xC0, 0x3F, 0x00, 0x00, 0x00, 0xC0}, {1.5, -2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        // The second vertex is read, at an odd address.
        unsigned char data[32] = {0};
        pelt_attribute attribute = {"_X", cases[i].component, cases[i].normalized, 2, 9, data};
        memcpy(data + 9, cases[i].bytes, 8);
        float out[4] = {7, 7, 7, 7};
        pelt_attribute_read(&attribute, 1, out);
        assert_true(fabs((double)out[0] - cases[i].expected[0]) <= 1e-7 * fabs(cases[i].expected[0]));
        assert_true(fabs((double)out[1] - cases[i].expected[1]) <= 1e-7 * fabs(cases[i].expected[1]));
        assert_true(out[2] == 7.0f && out[3] == 7.0f);
    }
}

// glTF 2.0, section 3.6.2.2, table of component types; 5124 is not one of them.
static void component_sizes_are_those_of_the_specification(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{5120, 1}, {5121, 1}, {5122, 2}, {5123, 2}, {5124, 0},
                                        {5125, 4}, {5126, 4}, {5119, 0}, {5127, 0}, {0, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(pelt_component_size((pelt_component)sizes[i][0]), sizes[i][1]);
    }
}

static void vertex_influences_are_those_with_weight(void **state)
{
    (void)state;
    const uint16_t joints[9] = {1, 2, 3, 1, 0, 0, 4, 5, 0};
    const float weights[9] = {0.5f, 0.25f, 0.25f, 1, 0, 0, 0.75f, 0.25f, 0};
    pelt_primitive primitive = {.vertex_count = 3, .influence_count = 3, .joints = joints, .weights = weights};
    assert_int_equal(pelt_primitive_vertex_influences(&primitive, 0), 3);
    assert_int_equal(pelt_primitive_vertex_influences(&primitive, 1), 1);
    assert_int_equal(pelt_primitive_vertex_influences(&primitive, 2), 2);
    primitive = (pelt_primitive){.vertex_count = 3};
    assert_int_equal(pelt_primitive_vertex_influences(&primitive, 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_that_are_not_finite_are_refused),
        cmocka_unit_test(the_finite_limits_of_floats_are_accepted),
        cmocka_unit_test(other_handedness_becomes_its_sign_with_a_warning),
        cmocka_unit_test(index_past_the_vertices_is_refused),
        cmocka_unit_test(shared_arrays_are_checked_for_every_use),
        cmocka_unit_test(many_primitives_on_one_large_array_are_scanned_once),
        cmocka_unit_test(a_fault_in_any_of_many_arrays_is_found),
        cmocka_unit_test(incomplete_primitives_are_refused),
        cmocka_unit_test(mesh_weights_that_are_not_finite_are_refused),
        cmocka_unit_test(names_are_never_null),
        cmocka_unit_test(attributes_are_read_as_floats),
        cmocka_unit_test(component_sizes_are_those_of_the_specification),
        cmocka_unit_test(vertex_influences_are_those_with_weight),
    };
    return cmocka_run_group_tests_name("builder_meshes", tests, NULL, NULL);
}

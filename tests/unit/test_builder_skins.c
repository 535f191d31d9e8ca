// SPDX-License-Identifier: MIT
// Skins through the builder: joints, inverse bind matrices, skeleton and scene, with what each message names.
#include "base/base.h"
#include "peltt_kit.h"

#include <math.h>
#include <setjmp.h>

#include <cmocka.h>

#define LIST(...)                                                                                                      \
    (sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)), (const uint32_t[])                                   \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static pelt_mat34 *give_binds(peltt_kit *kit, uint32_t skin)
{
    uint32_t count = kit->scene.skins[skin].joint_count;
    pelt_mat34 *binds = peltt_kit_allocate(kit, count, sizeof *binds);
    for (uint32_t j = 0; j < count; j++) {
        binds[j] = pelt_mat34_identity();
    }
    kit->scene.skins[skin].inverse_binds = binds;
    kit->scene.skins[skin].has_inverse_binds = true;
    return binds;
}

static void joints_become_node_indices_in_the_files_order(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 3);
    peltt_kit_children(&kit, 2, LIST(1, 0));
    // Two skins may share one list: it must not be rewritten twice.
    uint32_t first = peltt_kit_skin(&kit, LIST(1, 0, 2));
    uint32_t second = peltt_kit_skin(&kit, LIST(0));
    kit.scene.skins[second].joints = kit.scene.skins[first].joints;
    kit.scene.skins[second].joint_count = 3;
    kit.scene.skins[second].skeleton = 2;
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    static const uint32_t files[3] = {1, 0, 2};
    for (uint32_t s = 0; s < 2; s++) {
        assert_string_equal(data->skins[s].name, "");
        for (uint32_t j = 0; j < 3; j++) {
            assert_int_equal(data->skins[s].joints[j], data->node_from_file[files[j]]);
        }
    }
    assert_int_equal(data->skins[first].skeleton, PELT_NONE);
    assert_int_equal(data->skins[second].skeleton, 0);
    assert_int_equal(kit.log.count, 0);
    peltt_kit_destroy(&kit);
}

static void missing_inverse_binds_are_identity(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 2);
    peltt_kit_children(&kit, 0, LIST(1));
    peltt_kit_skin(&kit, LIST(0, 1));
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    pelt_mat34 identity = pelt_mat34_identity();
    assert_false(data->skins[0].has_inverse_binds);
    for (uint32_t j = 0; j < 2; j++) {
        assert_memory_equal(&data->skins[0].inverse_binds[j], &identity, sizeof identity);
    }
    peltt_kit_destroy(&kit);
}

static void skin_without_joints_is_refused(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 1);
    uint32_t skin = peltt_kit_skin(&kit, 0, NULL);
    kit.nodes[0].mesh = peltt_kit_mesh(&kit, 1, 0);
    kit.nodes[0].skin = skin;
    const pelt_error *error = peltt_kit_refuse(&kit, "skin 0: joints");
    assert_string_equal(error->where, "/skins/0/joints");
    peltt_kit_destroy(&kit);
}

static void too_many_joints_are_a_limit_error(void **state)
{
    (void)state;
    for (uint32_t count = 65536; count <= 65537; count++) {
        peltt_kit kit;
        peltt_kit_init(&kit, count);
        uint32_t *joints = peltt_kit_allocate(&kit, count, sizeof *joints);
        for (uint32_t j = 0; j < count; j++) {
            joints[j] = j;
        }
        peltt_kit_skin(&kit, count, joints);
        assert_int_equal(peltt_kit_finish(&kit), count == 65536 ? PELT_OK : PELT_ERROR_LIMIT);
        if (count == 65537) {
            assert_non_null(strstr(kit.error.message, "65537 joints"));
        }
        peltt_kit_destroy(&kit);
    }
}

static void dangling_joint_is_refused(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 2);
    peltt_kit_skin(&kit, LIST(0));
    peltt_kit_skin(&kit, LIST(1, 99));
    const pelt_error *error = peltt_kit_refuse(&kit, "skin 1: joints: joint 1 is node 99");
    assert_string_equal(error->where, "/skins/1/joints/1");
    assert_int_equal(error->joint, 1);
    peltt_kit_destroy(&kit);
}

static void repeated_joints_are_kept_with_a_warning(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 3);
    peltt_kit_children(&kit, 0, LIST(1, 2));
    peltt_kit_skin(&kit, LIST(1, 2, 1, 1));
    peltt_kit_skin(&kit, LIST(1, 2)); // the same nodes again in another skin are no repetition
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    assert_int_equal(data->skins[0].joint_count, 4);
    assert_int_equal(data->skins[0].joints[2], data->skins[0].joints[0]);
    assert_int_equal(kit.log.count, 1);
    const pelt_error *warning = peltt_warnings_find(&kit.log, "skin 0: joints: 2 nodes are listed again");
    assert_non_null(strstr(warning->message, "node 1 as joint 2"));
    assert_string_equal(warning->where, "/skins/0/joints/2");
    peltt_kit_destroy(&kit);
}

static void inverse_binds_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    static const char *const names[3] = {"NaN", "infinity", "-infinity"};
    const float values[3] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        peltt_kit kit;
        peltt_kit_init(&kit, 2);
        peltt_kit_children(&kit, 0, LIST(1));
        peltt_kit_skin(&kit, LIST(0, 1));
        give_binds(&kit, 0)[1].m[2][3] = values[i];
        const pelt_error *error = peltt_kit_refuse(&kit, "inverseBindMatrices: the matrix of joint 1 holds ");
        assert_non_null(strstr(error->message, names[i]));
        assert_string_equal(error->where, "/skins/0/inverseBindMatrices");
        assert_int_equal(error->joint, 1);
        peltt_kit_destroy(&kit);
    }
}

static void inverse_binds_of_zeros_only_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        peltt_kit kit;
        peltt_kit_init(&kit, 2);
        peltt_kit_children(&kit, 0, LIST(1));
        peltt_kit_skin(&kit, LIST(0, 1));
        pelt_mat34 *binds = give_binds(&kit, 0);
        memset(binds, 0, sizeof *binds * 2);
        binds[1].m[1][3] = 5; // a translation alone still shrinks to a point
        if (i == 0) {
            peltt_kit_refuse(&kit, "skin 0: inverseBindMatrices");
        } else {
            binds[1].m[2][1] = 1e-30f; // singular, but not nothing
            assert_int_equal(peltt_kit_finish(&kit), PELT_OK);
            assert_int_equal(kit.log.count, 0);
        }
        peltt_kit_destroy(&kit);
    }
}

static void dangling_skeleton_is_refused(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 2);
    uint32_t skin = peltt_kit_skin(&kit, LIST(0));
    kit.scene.skins[skin].skeleton = 2;
    const pelt_error *error = peltt_kit_refuse(&kit, "skin 0: skeleton: node 2");
    assert_string_equal(error->where, "/skins/0/skeleton");
    peltt_kit_destroy(&kit);
}

static void skeleton_that_is_no_common_root_is_warned_about(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 4);
    peltt_kit_children(&kit, 0, LIST(1));
    peltt_kit_children(&kit, 1, LIST(2, 3));
    for (int i = 0; i < 3; i++) {
        peltt_kit_skin(&kit, LIST(1, 3));
    }
    kit.scene.skins[0].skeleton = 0; // above all
    kit.scene.skins[1].skeleton = 1; // a joint itself
    kit.scene.skins[2].skeleton = 2; // beside them
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    assert_int_equal(data->skins[2].skeleton, data->node_from_file[2]);
    assert_int_equal(kit.log.count, 1);
    const pelt_error *warning = peltt_warnings_find(&kit.log, "skin 2: skeleton: node 2 is not a common root");
    assert_string_equal(warning->where, "/skins/2/skeleton");
    peltt_kit_destroy(&kit);
}

static void joints_in_several_trees_are_warned_about(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 3);
    peltt_kit_children(&kit, 0, LIST(2));
    peltt_kit_skin(&kit, LIST(2, 0, 1));
    peltt_kit_asset(&kit);
    assert_int_equal(kit.log.count, 1);
    peltt_warnings_find(&kit.log, "skin 0: joints: joint 2 and joint 0 have no common root");
    peltt_kit_destroy(&kit);
}

static void joints_outside_the_scene_are_warned_about_where_used(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 4);
    peltt_kit_children(&kit, 1, LIST(2));
    peltt_kit_roots(&kit, LIST(0));
    uint32_t used = peltt_kit_skin(&kit, LIST(1, 2));
    uint32_t unused = peltt_kit_skin(&kit, LIST(1, 2));
    kit.nodes[0].mesh = peltt_kit_mesh(&kit, 2, 0);
    kit.nodes[0].skin = used;
    kit.nodes[3].mesh = 0; // outside the scene itself
    kit.nodes[3].skin = unused;
    peltt_kit_asset(&kit);
    assert_int_equal(kit.log.count, 1);
    const pelt_error *warning = peltt_warnings_find(&kit.log, "skin 0: 2 of 2 joints are not in the scene");
    assert_non_null(strstr(warning->message, "joint 0 (node 1)"));
    peltt_kit_destroy(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joints_become_node_indices_in_the_files_order),
        cmocka_unit_test(missing_inverse_binds_are_identity),
        cmocka_unit_test(skin_without_joints_is_refused),
        cmocka_unit_test(too_many_joints_are_a_limit_error),
        cmocka_unit_test(dangling_joint_is_refused),
        cmocka_unit_test(repeated_joints_are_kept_with_a_warning),
        cmocka_unit_test(inverse_binds_that_are_not_finite_are_refused),
        cmocka_unit_test(inverse_binds_of_zeros_only_are_refused),
        cmocka_unit_test(dangling_skeleton_is_refused),
        cmocka_unit_test(skeleton_that_is_no_common_root_is_warned_about),
        cmocka_unit_test(joints_in_several_trees_are_warned_about),
        cmocka_unit_test(joints_outside_the_scene_are_warned_about_where_used),
    };
    return cmocka_run_group_tests_name("builder_skins", tests, NULL, NULL);
}

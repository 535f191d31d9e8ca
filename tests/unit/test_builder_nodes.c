// SPDX-License-Identifier: MIT
// Nodes through the builder: the order of the hierarchy, what belongs to the scene, rest transforms, references, morph
// weights and instances, with what each refusal and warning names.
#include "base/base.h"
#include "peltt_kit.h"
#include "peltt_random.h"

#include <math.h>
#include <setjmp.h>

#include <cmocka.h>

#define LIST(...)                                                                                                      \
    (sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)), (const uint32_t[])                                   \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static void nodes_come_in_preorder_with_contiguous_subtrees(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 8);
    // 3 -> (5 -> 0, 1), 2 -> (7 -> 4), 6; roots in file order, children in the order listed.
    peltt_kit_children(&kit, 3, LIST(5, 1));
    peltt_kit_children(&kit, 5, LIST(0));
    peltt_kit_children(&kit, 2, LIST(7));
    peltt_kit_children(&kit, 7, LIST(4));
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    static const uint32_t files[8] = {2, 7, 4, 3, 5, 0, 1, 6};
    static const uint32_t parents[8] = {PELT_NONE, 0, 1, PELT_NONE, 3, 4, 3, PELT_NONE};
    static const uint32_t ends[8] = {3, 3, 3, 7, 6, 6, 7, 8};
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(data->nodes[i].file_index, files[i]);
        assert_int_equal(data->nodes[i].parent, parents[i]);
        assert_int_equal(data->nodes[i].subtree_end, ends[i]);
        assert_int_equal(data->node_from_file[files[i]], i);
        assert_true(data->nodes[i].in_scene);
        assert_string_equal(data->nodes[i].name, "");
    }
    peltt_kit_destroy(&kit);
}

// Random forests against the definitions themselves.
static void random_forests_are_sorted_parent_first(void **state)
{
    (void)state;
    peltt_random random = {404};
    for (int round = 0; round < 200; round++) {
        enum {
            COUNT = 40
        };
        uint32_t order[COUNT];
        uint32_t parent[COUNT];
        uint32_t children[COUNT][COUNT];
        uint32_t child_count[COUNT] = {0};
        peltt_kit kit;
        peltt_kit_init(&kit, COUNT);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t j = peltt_random_below(&random, i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t node = order[i];
            parent[node] = PELT_NONE;
            if (i > 0 && peltt_random_chance(&random, 0.85)) {
                uint32_t p = order[peltt_random_below(&random, i)];
                parent[node] = p;
                children[p][child_count[p]++] = node;
            }
        }
        for (uint32_t i = 0; i < COUNT; i++) {
            peltt_kit_children(&kit, i, child_count[i], children[i]);
        }
        const pelt_asset_data *data = peltt_kit_asset(&kit);
        for (uint32_t i = 0; i < COUNT; i++) {
            const pelt_node *node = &data->nodes[i];
            uint32_t up = parent[node->file_index];
            assert_int_equal(node->parent, up == PELT_NONE ? PELT_NONE : data->node_from_file[up]);
            assert_true(node->parent == PELT_NONE || node->parent < i);
            for (uint32_t k = 0; k < COUNT; k++) {
                bool below = false;
                for (uint32_t a = data->nodes[k].parent; a != PELT_NONE; a = data->nodes[a].parent) {
                    below |= a == i;
                }
                assert_true(below == (k > i && k < node->subtree_end));
            }
        }
        peltt_kit_destroy(&kit);
    }
}

enum {
    MANY = 100000
};

static void chain_of_100000_nodes_listed_backwards(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, MANY);
    uint32_t *links = peltt_kit_allocate(&kit, MANY, sizeof *links);
    for (uint32_t i = 1; i < MANY; i++) {
        links[i] = i - 1;
        kit.nodes[i].child_count = 1;
        kit.nodes[i].children = &links[i];
    }
    // Every node is listed in the scene as well: overlapping subtrees must not cost more.
    uint32_t *roots = peltt_kit_allocate(&kit, MANY, sizeof *roots);
    for (uint32_t i = 0; i < MANY; i++) {
        roots[i] = i;
    }
    kit.scene.has_scene = true;
    kit.scene.root_count = MANY;
    kit.scene.roots = roots;
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(data->nodes[i].file_index, MANY - 1 - i);
        assert_int_equal(data->nodes[i].parent, i == 0 ? PELT_NONE : i - 1);
        assert_int_equal(data->nodes[i].subtree_end, MANY);
        assert_true(data->nodes[i].in_scene);
    }
    peltt_kit_destroy(&kit);
}

static void node_with_100000_children(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, MANY + 1);
    uint32_t *children = peltt_kit_allocate(&kit, MANY, sizeof *children);
    for (uint32_t i = 0; i < MANY; i++) {
        children[i] = i;
    }
    kit.nodes[MANY].child_count = MANY;
    kit.nodes[MANY].children = children;
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    assert_int_equal(data->nodes[0].file_index, MANY);
    assert_int_equal(data->nodes[0].subtree_end, MANY + 1);
    for (uint32_t i = 1; i <= MANY; i++) {
        assert_int_equal(data->nodes[i].file_index, i - 1);
        assert_int_equal(data->nodes[i].subtree_end, i + 1);
    }
    peltt_kit_destroy(&kit);
}

static void cycles_are_refused_and_named(void **state)
{
    (void)state;
    static const struct {
        uint32_t links[5]; // i -> links[i], 9 = none
        const char *names[3];
    } cases[] = {
        {{1, 0, 9, 9, 9}, {"node 0", "node 1", "cycle"}},      // two nodes
        {{9, 9, 2, 9, 9}, {"node 2", "cycle", "cycle"}},       // its own child
        {{9, 3, 9, 4, 1}, {"node 1", "node 3", "node 4"}},     // three, beside roots
        {{1, 2, 3, 1, 9}, {"node 1", "two parents", "node 3"}} // a tail into a cycle gives two parents
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        peltt_kit kit;
        peltt_kit_init(&kit, 5);
        for (uint32_t i = 0; i < 5; i++) {
            if (cases[c].links[i] != 9) {
                peltt_kit_children(&kit, i, 1, &cases[c].links[i]);
            }
        }
        for (int k = 0; k < 3; k++) {
            if (k == 0) {
                peltt_kit_refuse(&kit, cases[c].names[k]);
            }
            assert_non_null(strstr(kit.error.message, cases[c].names[k]));
        }
        assert_non_null(strstr(kit.error.where, "/nodes/"));
        peltt_kit_destroy(&kit);
    }
}

static void long_cycle_below_a_root_is_found_in_linear_time(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, MANY);
    uint32_t *links = peltt_kit_allocate(&kit, MANY, sizeof *links);
    for (uint32_t i = 1; i < MANY; i++) {
        links[i] = i + 1 < MANY ? i + 1 : 1;
        kit.nodes[i].child_count = 1;
        kit.nodes[i].children = &links[i];
    }
    const pelt_error *error = peltt_kit_refuse(&kit, "cycle");
    assert_non_null(strstr(error->message, "node 1:"));
    peltt_kit_destroy(&kit);
}

static void second_parent_is_refused(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 4);
    peltt_kit_children(&kit, 0, LIST(2, 1));
    peltt_kit_children(&kit, 3, LIST(1));
    const pelt_error *error = peltt_kit_refuse(&kit, "node 1 has two parents, node 0 and node 3");
    assert_string_equal(error->where, "/nodes/3/children/0");
    peltt_kit_destroy(&kit);
}

static void child_listed_twice_is_refused(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 3);
    peltt_kit_children(&kit, 0, LIST(2, 1, 2));
    const pelt_error *error = peltt_kit_refuse(&kit, "node 0: children: node 2 is listed twice");
    assert_string_equal(error->where, "/nodes/0/children/2");
    peltt_kit_destroy(&kit);
}

static void dangling_child_is_refused(void **state)
{
    (void)state;
    static const uint32_t wrong[] = {3, 4294967295u};
    for (int i = 0; i < 2; i++) {
        peltt_kit kit;
        peltt_kit_init(&kit, 3);
        peltt_kit_children(&kit, 1, LIST(2, wrong[i]));
        const pelt_error *error = peltt_kit_refuse(&kit, "node 1: children");
        assert_non_null(strstr(error->message, i == 0 ? "node 3" : "4294967295"));
        assert_string_equal(error->where, "/nodes/1/children/1");
        peltt_kit_destroy(&kit);
    }
}

static void only_the_scenes_nodes_are_in_scene(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 5);
    peltt_kit_children(&kit, 4, LIST(0));
    peltt_kit_children(&kit, 1, LIST(3));
    peltt_kit_roots(&kit, LIST(4));
    uint32_t mesh = peltt_kit_mesh(&kit, 0, 0);
    kit.nodes[0].mesh = mesh;
    kit.nodes[3].mesh = mesh;
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    static const bool expected[5] = {true, false, false, false, true};
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(peltt_kit_node(&kit, i)->in_scene == expected[i]);
    }
    assert_int_equal(data->instance_count, 1);
    assert_int_equal(data->instances[0].node, data->node_from_file[0]);
    assert_int_equal(kit.log.count, 0);
    peltt_kit_destroy(&kit);
}

static void scene_without_nodes_poses_nothing(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 2);
    kit.scene.has_scene = true;
    peltt_kit_asset(&kit);
    assert_false(peltt_kit_node(&kit, 0)->in_scene || peltt_kit_node(&kit, 1)->in_scene);
    peltt_kit_destroy(&kit);
}

static void dangling_scene_node_is_refused(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 2);
    peltt_kit_roots(&kit, LIST(0, 7));
    const pelt_error *error = peltt_kit_refuse(&kit, "node 7");
    assert_non_null(strstr(error->message, "scene"));
    peltt_kit_destroy(&kit);
}

static void scene_node_with_a_parent_and_repeats_are_warned_about(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 4);
    peltt_kit_children(&kit, 0, LIST(1));
    peltt_kit_children(&kit, 1, LIST(2));
    peltt_kit_roots(&kit, LIST(3, 1, 3, 3));
    peltt_kit_asset(&kit);
    assert_false(peltt_kit_node(&kit, 0)->in_scene); // an ancestor of a listed node is not listed itself
    assert_true(peltt_kit_node(&kit, 1)->in_scene && peltt_kit_node(&kit, 2)->in_scene);
    assert_int_equal(peltt_kit_node(&kit, 1)->parent, pelt_asset_get(kit.asset)->node_from_file[0]);
    assert_int_equal(kit.log.count, 2);
    peltt_warnings_find(&kit.log, "node 1, a child of node 0");
    assert_non_null(strstr(peltt_warnings_find(&kit.log, "more than once")->message, "node 3"));
    peltt_kit_destroy(&kit);
}

static void rest_transforms_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 13; i++) {
        peltt_kit kit;
        peltt_kit_init(&kit, 2);
        const char *name = "matrix";
        if (i < 10) {
            float *values = &kit.nodes[1].rest.translation.x;
            values[i] = i % 2 ? INFINITY : NAN;
            name = i < 3 ? "translation" : i < 7 ? "rotation" : "scale";
        } else {
            kit.nodes[1].has_matrix = true;
            kit.nodes[1].matrix = pelt_mat34_identity();
            kit.nodes[1].matrix.m[i - 10][3] = -INFINITY;
        }
        const pelt_error *error = peltt_kit_refuse(&kit, "node 1");
        assert_non_null(strstr(error->message, name));
        assert_non_null(strstr(error->message, i >= 10 ? "-infinity" : i % 2 ? "infinity" : "NaN"));
        assert_non_null(strstr(error->where, "/nodes/1/"));
        peltt_kit_destroy(&kit);
    }
}

static void zero_rotation_is_refused(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 2);
    kit.nodes[1].rest.rotation = (pelt_quat){0, 0, 0, 0};
    const pelt_error *error = peltt_kit_refuse(&kit, "node 1: rotation has length zero");
    assert_string_equal(error->where, "/nodes/1/rotation");
    peltt_kit_destroy(&kit);
}

static void rotations_are_normalised_and_large_changes_told(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 5);
    kit.nodes[0].rest.rotation = (pelt_quat){0, 0, 3, 4};
    kit.nodes[1].rest.rotation = (pelt_quat){0, 0, 0, 1.0005f}; // too little to mention
    kit.nodes[2].rest.rotation = (pelt_quat){1e-30f, 0, 0, 0};
    kit.nodes[3].rest.rotation = (pelt_quat){0, 1.002f, 0, 0};
    kit.nodes[4].has_matrix = true; // its rest is not looked at
    kit.nodes[4].matrix = pelt_mat34_identity();
    kit.nodes[4].matrix.m[0][1] = 0.25f;
    kit.nodes[4].rest.rotation = (pelt_quat){0, 0, 0, 0};
    peltt_kit_asset(&kit);
    const pelt_quat *q = &peltt_kit_node(&kit, 0)->rest.rotation;
    assert_true(q->z == 0.6f && q->w == 0.8f);
    assert_true(peltt_kit_node(&kit, 1)->rest.rotation.w == 1.0f);
    assert_true(peltt_kit_node(&kit, 2)->rest.rotation.x == 1.0f);
    assert_int_equal(kit.log.count, 1);
    const pelt_error *warning = peltt_warnings_find(&kit.log, "node 0: rotation is off unit length by 4 ");
    assert_non_null(strstr(warning->message, "2 others"));
    assert_string_equal(warning->where, "/nodes/0/rotation");
    const pelt_node *with_matrix = peltt_kit_node(&kit, 4);
    assert_true(with_matrix->has_matrix && with_matrix->local_matrix.m[0][1] == 0.25f);
    // A TRS node's matrix is that of its rest: here 2 acos(0.8) about z.
    const pelt_mat34 *m = &peltt_kit_node(&kit, 0)->local_matrix;
    assert_true(fabsf(m->m[0][0] - 0.28f) < 1e-6f && fabsf(m->m[1][0] - 0.96f) < 1e-6f);
    peltt_kit_destroy(&kit);
}

static void dangling_mesh_and_skin_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        peltt_kit kit;
        peltt_kit_init(&kit, 2);
        uint32_t mesh = peltt_kit_mesh(&kit, 1, 0);
        kit.nodes[1].mesh = i == 0 ? 5 : mesh;
        kit.nodes[1].skin = i == 0 ? PELT_NONE : 6;
        const pelt_error *error = peltt_kit_refuse(&kit, i == 0 ? "node 1: mesh 5" : "node 1: skin 6");
        assert_string_equal(error->where, i == 0 ? "/nodes/1/mesh" : "/nodes/1/skin");
        peltt_kit_destroy(&kit);
    }
}

static void skin_or_weights_without_mesh_are_ignored_with_a_warning(void **state)
{
    (void)state;
    peltt_kit kit;
    static const float weights[1] = {1};
    peltt_kit_init(&kit, 6);
    for (uint32_t i = 1; i < 6; i++) {
        kit.nodes[i].skin = i == 2 ? PELT_NONE : 0;
    }
    peltt_kit_skin(&kit, LIST(0));
    kit.nodes[2].weight_count = 1;
    kit.nodes[2].weights = weights;
    peltt_kit_asset(&kit);
    assert_int_equal(peltt_kit_node(&kit, 1)->skin, PELT_NONE);
    assert_int_equal(peltt_kit_node(&kit, 2)->weight_count, 0);
    assert_int_equal(kit.log.count, 2);
    assert_string_equal(peltt_warnings_find(&kit.log, "node 1 has a skin but no mesh, and so have 3 other")->where,
                        "/nodes/1/skin");
    assert_string_equal(peltt_warnings_find(&kit.log, "node 2 has morph weights but no mesh")->where,
                        "/nodes/2/weights");
    peltt_kit_destroy(&kit);
}

static void skinned_node_needs_joints_in_every_primitive(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 3);
    uint32_t mesh = peltt_kit_mesh(&kit, 1, 0);
    pelt_primitive *primitives = peltt_kit_allocate(&kit, 3, sizeof *primitives);
    primitives[0] = *peltt_kit_primitive(&kit, mesh);
    primitives[1] = primitives[0];
    primitives[1].vertex_count = 0; // nothing to skin, nothing needed
    primitives[1].index_count = 0;
    primitives[1].influence_count = 0;
    primitives[2] = primitives[0];
    primitives[2].influence_count = 0;
    kit.scene.meshes[mesh].primitives = primitives;
    kit.scene.meshes[mesh].primitive_count = 3;
    kit.nodes[2].mesh = mesh;
    kit.nodes[2].skin = peltt_kit_skin(&kit, LIST(0));
    const pelt_error *error = peltt_kit_refuse(&kit, "mesh 0, primitive 2");
    assert_non_null(strstr(error->message, "JOINTS_0"));
    assert_true(error->mesh == 0 && error->primitive == 2);
    peltt_kit_destroy(&kit);
}

static void mesh_with_joints_past_a_nodes_skin_is_refused(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 3);
    uint32_t mesh = peltt_kit_mesh(&kit, 3, 0);
    uint32_t large = peltt_kit_skin(&kit, LIST(0, 1, 2));
    uint32_t small = peltt_kit_skin(&kit, LIST(0, 1));
    kit.nodes[1].mesh = mesh;
    kit.nodes[1].skin = large;
    kit.nodes[2].mesh = mesh;
    kit.nodes[2].skin = small;
    const pelt_error *error = peltt_kit_refuse(&kit, "JOINTS_0: joint 2 is used, but skin 1 of node 2 has 2 joints");
    assert_true(error->mesh == 0 && error->primitive == 0 && error->joint == 2);
    peltt_kit_destroy(&kit);
}

static void node_weights_override_mesh_weights(void **state)
{
    (void)state;
    static const float of_mesh[2] = {1, 0.25f};
    static const float of_node[2] = {-0.5f, 2};
    peltt_kit kit;
    peltt_kit_init(&kit, 4);
    uint32_t weighted = peltt_kit_mesh(&kit, 0, 2);
    uint32_t unweighted = peltt_kit_mesh(&kit, 0, 3);
    kit.scene.meshes[weighted].weights = of_mesh;
    kit.nodes[0].mesh = weighted;
    kit.nodes[2].mesh = weighted;
    kit.nodes[2].weight_count = 2;
    kit.nodes[2].weights = of_node;
    kit.nodes[3].mesh = unweighted;
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    assert_int_equal(data->rest_weight_count, 7);
    const pelt_node *node = peltt_kit_node(&kit, 0);
    assert_memory_equal(data->rest_weights + node->first_weight, of_mesh, sizeof of_mesh);
    node = peltt_kit_node(&kit, 2);
    assert_int_equal(node->weight_count, 2);
    assert_memory_equal(data->rest_weights + node->first_weight, of_node, sizeof of_node);
    node = peltt_kit_node(&kit, 3);
    assert_int_equal(node->weight_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(data->rest_weights[node->first_weight + i] == 0.0f);
        assert_true(data->meshes[unweighted].weights[i] == 0.0f);
    }
    assert_int_equal(peltt_kit_node(&kit, 1)->weight_count, 0);
    peltt_kit_destroy(&kit);
}

static void wrong_node_weights_are_refused(void **state)
{
    (void)state;
    static const float weights[2] = {0, NAN};
    for (uint32_t count = 1; count <= 2; count++) {
        peltt_kit kit;
        peltt_kit_init(&kit, 2);
        kit.nodes[1].mesh = peltt_kit_mesh(&kit, 0, 2);
        kit.nodes[1].weight_count = count;
        kit.nodes[1].weights = weights;
        const pelt_error *error = peltt_kit_refuse(&kit, "node 1: weights");
        assert_non_null(strstr(error->message, count == 1 ? "2 morph targets" : "NaN"));
        assert_non_null(strstr(error->where, "/nodes/1/weights"));
        peltt_kit_destroy(&kit);
    }
}

static void more_morph_weights_than_32_bits_count_are_a_limit_error(void **state)
{
    (void)state;
    enum {
        TARGETS = 65536,
        NODES = 65537
    };
    peltt_kit kit;
    peltt_kit_init(&kit, NODES);
    peltt_kit_mesh(&kit, 0, TARGETS);
    for (uint32_t i = 0; i < NODES; i++) {
        kit.nodes[i].mesh = 0;
    }
    assert_int_equal(peltt_kit_finish(&kit), PELT_ERROR_LIMIT);
    assert_non_null(strstr(kit.error.message, "morph weights"));
    peltt_kit_destroy(&kit);
}

static void instances_follow_the_files_node_order(void **state)
{
    (void)state;
    peltt_kit kit;
    peltt_kit_init(&kit, 4);
    peltt_kit_children(&kit, 3, LIST(0));
    peltt_kit_children(&kit, 1, LIST(2));
    uint32_t skinned = peltt_kit_mesh(&kit, 1, 0);
    uint32_t rigid = peltt_kit_mesh(&kit, 0, 0);
    uint32_t skin = peltt_kit_skin(&kit, LIST(1));
    kit.nodes[0].mesh = skinned;
    kit.nodes[0].skin = skin;
    kit.nodes[2].mesh = rigid;
    kit.nodes[3].mesh = skinned; // a mesh with joints on a node without skin stays rigid
    const pelt_asset_data *data = peltt_kit_asset(&kit);
    static const uint32_t files[3] = {0, 2, 3};
    assert_int_equal(data->instance_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(data->instances[i].node, data->node_from_file[files[i]]);
        assert_int_equal(data->instances[i].mesh, files[i] == 2 ? rigid : skinned);
        assert_int_equal(data->instances[i].skin, files[i] == 0 ? skin : PELT_NONE);
    }
    peltt_kit_destroy(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_come_in_preorder_with_contiguous_subtrees),
        cmocka_unit_test(random_forests_are_sorted_parent_first),
        cmocka_unit_test(chain_of_100000_nodes_listed_backwards),
        cmocka_unit_test(node_with_100000_children),
        cmocka_unit_test(cycles_are_refused_and_named),
        cmocka_unit_test(long_cycle_below_a_root_is_found_in_linear_time),
        cmocka_unit_test(second_parent_is_refused),
        cmocka_unit_test(child_listed_twice_is_refused),
        cmocka_unit_test(dangling_child_is_refused),
        cmocka_unit_test(only_the_scenes_nodes_are_in_scene),
        cmocka_unit_test(scene_without_nodes_poses_nothing),
        cmocka_unit_test(dangling_scene_node_is_refused),
        cmocka_unit_test(scene_node_with_a_parent_and_repeats_are_warned_about),
        cmocka_unit_test(rest_transforms_that_are_not_finite_are_refused),
        cmocka_unit_test(zero_rotation_is_refused),
        cmocka_unit_test(rotations_are_normalised_and_large_changes_told),
        cmocka_unit_test(dangling_mesh_and_skin_are_refused),
        cmocka_unit_test(skin_or_weights_without_mesh_are_ignored_with_a_warning),
        cmocka_unit_test(skinned_node_needs_joints_in_every_primitive),
        cmocka_unit_test(mesh_with_joints_past_a_nodes_skin_is_refused),
        cmocka_unit_test(node_weights_override_mesh_weights),
        cmocka_unit_test(wrong_node_weights_are_refused),
        cmocka_unit_test(more_morph_weights_than_32_bits_count_are_a_limit_error),
        cmocka_unit_test(instances_follow_the_files_node_order),
    };
    return cmocka_run_group_tests_name("builder_nodes", tests, NULL, NULL);
}

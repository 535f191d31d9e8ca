// SPDX-License-Identifier: MIT
// The node hierarchy of inspect --tree. Nodes are stored parent first, so printing them in order is the walk.
#include "inspect.h"

// Deeper levels give their number instead of more blanks: a chain of 100,000 nodes must not print a triangle.
enum {
    DEEPEST_INDENT = 40,
    PLACES_SHOWN = 4
};

static void print_places(const inspect_facts *f, uint32_t node)
{
    uint32_t first = f->joint_offset[node];
    uint32_t count = f->joint_offset[node + 1] - first;
    for (uint32_t i = 0; i < count && i < PLACES_SHOWN; i++) {
        const inspect_joint *place = &f->joints[first + i];
        printf("  [joint %u of skin %u]", place->joint, place->skin);
    }
    if (count > PLACES_SHOWN) {
        printf("  [joint in %u more places]", count - PLACES_SHOWN);
    }
}

void inspect_print_tree(const inspect_facts *f)
{
    printf("\ntree\n");
    for (uint32_t i = 0; i < f->data->node_count; i++) {
        const pelt_node *node = &f->data->nodes[i];
        uint32_t depth = f->node_depth[i];
        printf("%*s", (int)(2 * (depth < DEEPEST_INDENT ? depth : DEEPEST_INDENT)), "");
        if (depth > DEEPEST_INDENT) {
            printf("(level %u) ", depth);
        }
        if (node->name[0]) {
            cli_put(stdout, node->name);
        } else {
            printf("node %u", node->file_index);
        }
        print_places(f, i);
        if (node->mesh != PELT_NONE) {
            printf("  [mesh %u", node->mesh);
            if (node->skin != PELT_NONE) {
                printf(", skin %u", node->skin);
            }
            printf("]");
        }
        if (f->node_clips[i]) {
            printf("  [moved by %u clip%s]", f->node_clips[i], f->node_clips[i] == 1 ? "" : "s");
        }
        printf("%s\n", node->in_scene ? "" : "  [outside the scene]");
    }
}

json_t *inspect_json_tree(const inspect_facts *f)
{
    json_t *nodes = json_array();
    for (uint32_t i = 0; i < f->data->node_count; i++) {
        const pelt_node *node = &f->data->nodes[i];
        json_t *value = json_object();
        json_t *joints = json_array();
        for (uint32_t k = f->joint_offset[i]; k < f->joint_offset[i + 1]; k++) {
            json_t *place = json_object();
            json_object_set_new(place, "skin", json_integer(f->joints[k].skin));
            json_object_set_new(place, "joint", json_integer(f->joints[k].joint));
            json_array_append_new(joints, place);
        }
        uint32_t parent = node->parent == PELT_NONE ? PELT_NONE : f->data->nodes[node->parent].file_index;
        json_object_set_new(value, "node", json_integer(node->file_index));
        json_object_set_new(value, "name", cli_json_text(node->name));
        json_object_set_new(value, "parent", cli_json_index(parent));
        json_object_set_new(value, "depth", json_integer(f->node_depth[i]));
        json_object_set_new(value, "in_scene", json_boolean(node->in_scene));
        json_object_set_new(value, "mesh", cli_json_index(node->mesh));
        json_object_set_new(value, "skin", cli_json_index(node->skin));
        json_object_set_new(value, "joints", joints);
        json_object_set_new(value, "clips", json_integer(f->node_clips[i]));
        json_array_append_new(nodes, value);
    }
    return nodes;
}

// SPDX-License-Identifier: MIT
// Sorts the file's nodes depth first, parents before children and every subtree contiguous, and finds what belongs to
// the scene. Linear in nodes and without recursion, for any depth and width.
#include "asset/asset_internal.h"

// The file's parent links; every child has one parent, and none is listed twice.
static pelt_result link_children(asset_finish *finish, pelt_error *error)
{
    const pelt_builder_scene *scene = finish->scene;
    for (uint32_t i = 0; i < scene->node_count; i++) {
        const pelt_builder_node *node = &scene->nodes[i];
        for (uint32_t k = 0; k < node->child_count; k++) {
            uint32_t child = node->children[k];
            asset_text where = pelti_asset_text("/nodes/%u/children/%u", i, k);
            if (child >= scene->node_count) {
                return pelti_fail(error, PELT_ERROR_INVALID, where.text,
                                  "node %u: children: node %u does not exist, the file has %u nodes", i, child,
                                  scene->node_count);
            }
            if (finish->parent[child] == i) {
                return pelti_fail(error, PELT_ERROR_INVALID, where.text, "node %u: children: node %u is listed twice",
                                  i, child);
            }
            if (finish->parent[child] != PELT_NONE) {
                return pelti_fail(error, PELT_ERROR_INVALID, where.text, "node %u has two parents, node %u and node %u",
                                  child, finish->parent[child], i);
            }
            finish->parent[child] = i;
            if (k == 0) {
                finish->first_child[i] = child;
            } else {
                finish->next_sibling[node->children[k - 1]] = child;
            }
        }
    }
    return PELT_OK;
}

// Numbers root and all below it in preorder. Going up along the parent links replaces a stack.
static uint32_t number_tree(asset_finish *finish, uint32_t root, uint32_t next)
{
    uint32_t node = root;
    for (;;) {
        pelt_node *sorted = &finish->nodes[next];
        sorted->file_index = node;
        sorted->parent = node == root ? PELT_NONE : finish->node_from_file[finish->parent[node]];
        finish->node_from_file[node] = next;
        next++;
        if (finish->first_child[node] != PELT_NONE) {
            node = finish->first_child[node];
            continue;
        }
        finish->nodes[finish->node_from_file[node]].subtree_end = next;
        while (node != root && finish->next_sibling[node] == PELT_NONE) {
            node = finish->parent[node];
            finish->nodes[finish->node_from_file[node]].subtree_end = next;
        }
        if (node == root) {
            return next;
        }
        node = finish->next_sibling[node];
    }
}

// Some nodes were not reached from any root: each of them has a parent, so going up from one ends in a cycle.
static pelt_result fail_cycle(const asset_finish *finish, pelt_error *error)
{
    const uint32_t *parent = finish->parent;
    uint32_t node = 0;
    while (finish->node_from_file[node] != PELT_NONE) {
        node++;
    }
    for (uint32_t i = 0; i < finish->scene->node_count; i++) {
        node = parent[node]; // after so many steps the way has entered the cycle
    }
    uint32_t lowest = node;
    for (uint32_t i = parent[node]; i != node; i = parent[i]) {
        lowest = i < lowest ? i : lowest;
    }
    // Along the parents, the way down is found backwards: the text starts at the lowest and goes up.
    char way[160];
    int length = snprintf(way, sizeof way, "node %u", lowest);
    uint32_t step = parent[lowest];
    for (int i = 0; i < 5 && step != lowest; i++) {
        length += snprintf(way + length, sizeof way - (size_t)length, ", its parent node %u", step);
        step = parent[step];
    }
    snprintf(way + length, sizeof way - (size_t)length, "%s, and node %u again", step == lowest ? "" : ", ...", lowest);
    return pelti_fail(error, PELT_ERROR_INVALID, pelti_asset_text("/nodes/%u/children", lowest).text,
                      "node %u: the hierarchy has a cycle: %s", lowest, way);
}

pelt_result pelti_finish_hierarchy(asset_finish *finish, pelt_error *error)
{
    uint32_t count = finish->scene->node_count;
    memset(finish->parent, 0xFF, sizeof(uint32_t) * count);
    memset(finish->first_child, 0xFF, sizeof(uint32_t) * count);
    memset(finish->next_sibling, 0xFF, sizeof(uint32_t) * count);
    memset(finish->node_from_file, 0xFF, sizeof(uint32_t) * count);
    pelt_result result = link_children(finish, error);
    if (result != PELT_OK) {
        return result;
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (finish->parent[i] == PELT_NONE) {
            next = number_tree(finish, i, next);
        }
    }
    return next == count ? PELT_OK : fail_cycle(finish, error);
}

typedef struct root_report {
    uint32_t repeated_count;
    uint32_t first_repeated;
    uint32_t child_count;
    uint32_t first_child;
} root_report;

static void warn_roots(const asset_finish *finish, const root_report *report)
{
    const pelt_log *log = &finish->builder->log;
    if (report->repeated_count > 0) {
        pelti_warn(log, "/scenes", "the scene lists %u node%s more than once, the first of them node %u; once counts",
                   report->repeated_count, report->repeated_count == 1 ? "" : "s", report->first_repeated);
    }
    if (report->child_count > 0) {
        pelti_warn(log, "/scenes",
                   "the scene lists %u node%s that %s not root%s, the first of them node %u, a child of node %u; posed "
                   "with all ancestors",
                   report->child_count, report->child_count == 1 ? "" : "s", report->child_count == 1 ? "is" : "are",
                   report->child_count == 1 ? "" : "s", report->first_child, finish->parent[report->first_child]);
    }
}

pelt_result pelti_finish_scene(asset_finish *finish, pelt_error *error)
{
    const pelt_builder_scene *scene = finish->scene;
    root_report report = {0};
    for (uint32_t i = 0; scene->has_scene && i < scene->root_count; i++) {
        uint32_t root = scene->roots[i];
        if (root >= scene->node_count) {
            return pelti_fail(error, PELT_ERROR_INVALID, "/scenes",
                              "the scene's nodes: node %u does not exist, the file has %u nodes", root,
                              scene->node_count);
        }
        pelt_node *node = &finish->nodes[finish->node_from_file[root]];
        if (node->in_scene) {
            report.first_repeated = report.repeated_count++ == 0 ? root : report.first_repeated;
            continue;
        }
        node->in_scene = true;
        if (node->parent != PELT_NONE) {
            report.first_child = report.child_count++ == 0 ? root : report.first_child;
        }
    }
    // One sweep, since listed nodes may lie inside each other's subtrees.
    uint32_t covered_end = scene->has_scene ? 0 : scene->node_count;
    for (uint32_t i = 0; i < scene->node_count; i++) {
        pelt_node *node = &finish->nodes[i];
        if (node->in_scene && node->subtree_end > covered_end) {
            covered_end = node->subtree_end;
        }
        node->in_scene = i < covered_end;
    }
    warn_roots(finish, &report);
    return PELT_OK;
}

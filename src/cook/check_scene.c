// SPDX-License-Identifier: MIT
// Checks names, skins, meshes, nodes and instances of a .pelt file against what asset.h promises of them.
#include "cook/reader.h"
#include "cook/writer.h"

pelt_result pelti_cooked_check_finite(const pelt_cooked *cooked, const file_section *section, pelt_error *error)
{
    if (!section) {
        return PELT_OK;
    }
    uint64_t floats = section->size / sizeof(float);
    const float *values = pelti_cooked_contents(cooked, section);
    uint64_t at = pelti_first_not_finite(values, floats);
    if (at == floats) {
        return PELT_OK;
    }
    return pelti_cooked_refuse(section, at * sizeof(float) / section->element_size, error,
                               "element %llu holds a number that is not finite",
                               (unsigned long long)(at * sizeof(float) / section->element_size));
}

pelt_result pelti_cooked_check_strings(pelt_cooked *cooked, pelt_error *error)
{
    const file_section *section = pelti_cooked_section(cooked, FILE_STRS, 0, 0);
    if (!section || section->count == 0) {
        return pelti_fail(error, PELT_ERROR_INVALID, "", "section STRS is missing or empty");
    }
    const char *text = pelti_cooked_contents(cooked, section);
    if (text[0] != '\0' || text[section->count - 1] != '\0') {
        return pelti_cooked_refuse(section, text[0] != '\0' ? 0 : section->count - 1, error,
                                   "the first and the last byte are not both zero");
    }
    if (!pelti_cook_is_utf8(text, section->count)) {
        return pelti_cooked_refuse(section, 0, error, "the names are not UTF-8");
    }
    return PELT_OK;
}

pelt_result pelti_cooked_check_name(const pelt_cooked *cooked, const file_section *section, uint64_t at,
                                    uint32_t offset, pelt_error *error)
{
    const file_section *strings = pelti_cooked_section(cooked, FILE_STRS, 0, 0);
    const char *text = pelti_cooked_contents(cooked, strings);
    if (offset >= strings->count || (offset > 0 && text[offset - 1] != '\0')) {
        return pelti_cooked_refuse(section, at, error, "element %llu: no name begins at %u", (unsigned long long)at,
                                   offset);
    }
    return PELT_OK;
}

const char *pelti_cooked_name(const pelt_cooked *cooked, uint32_t offset)
{
    const char *text = pelti_cooked_contents(cooked, pelti_cooked_section(cooked, FILE_STRS, 0, 0));
    return text + offset;
}

static pelt_result check_binds(const pelt_cooked *cooked, uint32_t skin, const file_skin *record, pelt_error *error)
{
    const file_section *section = NULL;
    pelt_result result = pelti_cooked_need(cooked, FILE_IBND, skin, 0, record->joint_count, &section, error);
    result = result == PELT_OK ? pelti_cooked_check_finite(cooked, section, error) : result;
    if (result != PELT_OK || record->flags & FILE_SKIN_HAS_INVERSE_BINDS) {
        return result;
    }
    const pelt_mat34 *binds = pelti_cooked_contents(cooked, section);
    pelt_mat34 identity = pelt_mat34_identity();
    for (uint32_t i = 0; i < record->joint_count; i++) {
        if (memcmp(&binds[i], &identity, sizeof identity) != 0) {
            return pelti_cooked_refuse(section, i, error, "matrix %u is not the identity, but the source had none", i);
        }
    }
    return PELT_OK;
}

static pelt_result check_joints(const pelt_cooked *cooked, uint32_t skin, const file_skin *record, pelt_error *error)
{
    const file_section *section = NULL;
    pelt_result result = pelti_cooked_need(cooked, FILE_JNTS, skin, 0, record->joint_count, &section, error);
    const uint32_t *joints = pelti_cooked_contents(cooked, section);
    for (uint32_t i = 0; i < record->joint_count && result == PELT_OK; i++) {
        if (joints[i] >= cooked->node_count) {
            result = pelti_cooked_refuse(section, i, error, "joint %u is node %u, the file has %u", i, joints[i],
                                         cooked->node_count);
        }
    }
    return result;
}

pelt_result pelti_cooked_check_skins(pelt_cooked *cooked, pelt_error *error)
{
    const file_section *section = pelti_cooked_section(cooked, FILE_SKIN, 0, 0);
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; i < cooked->skin_count && result == PELT_OK; i++) {
        const file_skin *record = pelti_cooked_record(cooked, FILE_SKIN, 0, i);
        if (record->joint_count == 0 || record->joint_count > UINT16_MAX + 1u) {
            return pelti_cooked_refuse(section, i, error, "skin %u has %u joints, not 1 to 65536", i,
                                       record->joint_count);
        }
        if (record->skeleton != PELT_NONE && record->skeleton >= cooked->node_count) {
            return pelti_cooked_refuse(section, i, error, "skeleton of skin %u is node %u, the file has %u", i,
                                       record->skeleton, cooked->node_count);
        }
        result = pelti_cooked_check_name(cooked, section, i, record->name, error);
        result = result == PELT_OK ? check_joints(cooked, i, record, error) : result;
        result = result == PELT_OK ? check_binds(cooked, i, record, error) : result;
    }
    return result;
}

static pelt_result check_target_names(const pelt_cooked *cooked, uint32_t mesh, const file_mesh *record,
                                      pelt_error *error)
{
    const file_section *section = NULL;
    pelt_result result = pelti_cooked_need(cooked, FILE_MWGT, mesh, 0, record->target_count, &section, error);
    result = result == PELT_OK ? pelti_cooked_check_finite(cooked, section, error) : result;
    if (result == PELT_OK) {
        result = pelti_cooked_need(cooked, FILE_TNAM, mesh, 0, record->target_count, &section, error);
    }
    const uint32_t *names = result == PELT_OK ? pelti_cooked_contents(cooked, section) : NULL;
    for (uint32_t t = 0; t < record->target_count && result == PELT_OK; t++) {
        result = pelti_cooked_check_name(cooked, section, t, names[t], error);
    }
    return result;
}

pelt_result pelti_cooked_check_meshes(pelt_cooked *cooked, pelt_error *error)
{
    const file_section *section = pelti_cooked_section(cooked, FILE_MESH, 0, 0);
    uint64_t first = 0;
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; i < cooked->mesh_count && result == PELT_OK; i++) {
        const file_mesh *record = pelti_cooked_record(cooked, FILE_MESH, 0, i);
        if (record->first_primitive != first || record->primitive_count > cooked->primitive_count - first) {
            return pelti_cooked_refuse(section, i, error,
                                       "primitives of mesh %u begin at %u, but %llu of %u come before them", i,
                                       record->first_primitive, (unsigned long long)first, cooked->primitive_count);
        }
        first += record->primitive_count;
        result = pelti_cooked_check_name(cooked, section, i, record->name, error);
        result = result == PELT_OK ? check_target_names(cooked, i, record, error) : result;
    }
    if (result == PELT_OK && first != cooked->primitive_count) {
        section = pelti_cooked_section(cooked, FILE_PRIM, 0, 0);
        return pelti_cooked_refuse(section, first, error, "primitive %llu belongs to no mesh",
                                   (unsigned long long)first);
    }
    return result;
}

// What the nodes before the one at hand have shown.
typedef struct node_walk {
    const file_section *section;
    uint32_t *from_file;
    uint32_t open;      // the last node whose subtree holds the next one, or PELT_NONE
    uint32_t last_root; // file index, or PELT_NONE
    uint64_t weight_count;
    uint32_t instance_count;
} node_walk;

static const file_node *node_record(const pelt_cooked *cooked, uint32_t index)
{
    return pelti_cooked_record(cooked, FILE_NODE, 0, index);
}

// Nodes stand in preorder: the parent is the innermost node whose subtree is still open, and subtrees nest. Roots stand
// in the order of the source.
static pelt_result check_place(const pelt_cooked *cooked, uint32_t index, node_walk *walk, pelt_error *error)
{
    const file_node *node = node_record(cooked, index);
    while (walk->open != PELT_NONE && node_record(cooked, walk->open)->subtree_end <= index) {
        walk->open = node_record(cooked, walk->open)->parent;
    }
    if (node->parent != walk->open) {
        return pelti_cooked_refuse(walk->section, index, error, "node %u: parent %u is not the node that encloses it",
                                   index, node->parent);
    }
    const file_node *parent = walk->open == PELT_NONE ? NULL : node_record(cooked, walk->open);
    uint32_t limit = parent ? parent->subtree_end : cooked->node_count;
    if (node->subtree_end <= index || node->subtree_end > limit) {
        return pelti_cooked_refuse(walk->section, index, error, "node %u: the subtree ends at %u, outside of %u to %u",
                                   index, node->subtree_end, index + 1, limit);
    }
    if (parent && parent->flags & FILE_NODE_IN_SCENE && !(node->flags & FILE_NODE_IN_SCENE)) {
        return pelti_cooked_refuse(walk->section, index, error, "node %u is not in the scene, but its parent is",
                                   index);
    }
    if (node->file_index >= cooked->node_count || walk->from_file[node->file_index] != PELT_NONE) {
        return pelti_cooked_refuse(walk->section, index, error, "node %u: index %u in the source is no or another's",
                                   index, node->file_index);
    }
    if (!parent && walk->last_root != PELT_NONE && node->file_index < walk->last_root) {
        return pelti_cooked_refuse(walk->section, index, error, "node %u: roots do not stand in the source's order",
                                   index);
    }
    walk->from_file[node->file_index] = index;
    walk->last_root = parent ? walk->last_root : node->file_index;
    walk->open = index;
    return PELT_OK;
}

// The mesh fits the skin: all vertices have influences, and no joint is past the skin's.
static pelt_result check_use(const pelt_cooked *cooked, uint32_t index, const node_walk *walk, pelt_error *error)
{
    const file_node *node = node_record(cooked, index);
    bool right = (node->mesh == PELT_NONE || node->mesh < cooked->mesh_count) &&
                 (node->skin == PELT_NONE || (node->skin < cooked->skin_count && node->mesh != PELT_NONE));
    if (!right) {
        return pelti_cooked_refuse(walk->section, index, error, "node %u: mesh %u or skin %u does not exist", index,
                                   node->mesh, node->skin);
    }
    uint32_t weight_count = 0;
    if (node->mesh != PELT_NONE) {
        const file_mesh *mesh = pelti_cooked_record(cooked, FILE_MESH, 0, node->mesh);
        weight_count = mesh->target_count;
    }
    if (node->weight_count != weight_count || node->first_weight != walk->weight_count) {
        return pelti_cooked_refuse(walk->section, index, error,
                                   "node %u: %u morph weights from %u on, but its mesh has %u and %llu come before",
                                   index, node->weight_count, node->first_weight, weight_count,
                                   (unsigned long long)walk->weight_count);
    }
    if (node->skin != PELT_NONE) {
        const file_skin *skin = pelti_cooked_record(cooked, FILE_SKIN, 0, node->skin);
        if (cooked->mesh_unbound[node->mesh] || cooked->mesh_bounds[node->mesh] > skin->joint_count) {
            return pelti_cooked_refuse(walk->section, index, error,
                                       "node %u: mesh %u does not fit skin %u: it uses %u joints of %u%s", index,
                                       node->mesh, node->skin, cooked->mesh_bounds[node->mesh], skin->joint_count,
                                       cooked->mesh_unbound[node->mesh] ? ", and none for some vertices" : "");
        }
    }
    return PELT_OK;
}

static pelt_result check_transform(const pelt_cooked *cooked, uint32_t index, const node_walk *walk, pelt_error *error)
{
    const file_node *node = node_record(cooked, index);
    const float *q = node->rotation;
    double square = (double)q[0] * (double)q[0] + (double)q[1] * (double)q[1] + (double)q[2] * (double)q[2] +
                    (double)q[3] * (double)q[3];
    if (pelti_first_not_finite(node->translation, 3) < 3 || pelti_first_not_finite(q, 4) < 4 ||
        pelti_first_not_finite(node->scale, 3) < 3 || pelti_first_not_finite(node->local_matrix, 12) < 12) {
        return pelti_cooked_refuse(walk->section, index, error, "node %u: the transform is not finite", index);
    }
    if (fabs(square - 1.0) > 1e-5) {
        return pelti_cooked_refuse(walk->section, index, error, "node %u: the rotation is not of unit length", index);
    }
    return PELT_OK;
}

// Every node of the scene that has a mesh, in the source's order.
static pelt_result check_instances(const pelt_cooked *cooked, const node_walk *walk, pelt_error *error)
{
    const file_section *section = NULL;
    uint32_t next = 0;
    pelt_result result = pelti_cooked_need(cooked, FILE_INST, 0, 0, walk->instance_count, &section, error);
    for (uint32_t i = 0; i < cooked->node_count && result == PELT_OK; i++) {
        uint32_t index = walk->from_file[i];
        const file_node *node = node_record(cooked, index);
        if (!(node->flags & FILE_NODE_IN_SCENE) || node->mesh == PELT_NONE) {
            continue;
        }
        const file_instance *instance = pelti_cooked_record(cooked, FILE_INST, 0, next);
        if (instance->node != index || instance->mesh != node->mesh || instance->skin != node->skin) {
            return pelti_cooked_refuse(section, next, error,
                                       "instance %u is node %u with mesh %u and skin %u, but node %u with mesh %u and "
                                       "skin %u comes next in the source",
                                       next, instance->node, instance->mesh, instance->skin, index, node->mesh,
                                       node->skin);
        }
        next++;
    }
    return result;
}

pelt_result pelti_cooked_check_nodes(pelt_cooked *cooked, pelt_error *error)
{
    pelt_result result = PELT_OK;
    node_walk walk = {.open = PELT_NONE, .last_root = PELT_NONE};
    walk.section = pelti_cooked_section(cooked, FILE_NODE, 0, 0);
    walk.from_file = pelti_cooked_take(cooked, cooked->node_count, sizeof *walk.from_file, &result, error);
    if (!walk.from_file) {
        return result;
    }
    memset(walk.from_file, 0xFF, cooked->node_count * sizeof *walk.from_file);
    cooked->node_from_file = walk.from_file;
    for (uint32_t i = 0; i < cooked->node_count && result == PELT_OK; i++) {
        const file_node *node = node_record(cooked, i);
        result = pelti_cooked_check_name(cooked, walk.section, i, node->name, error);
        result = result == PELT_OK ? check_place(cooked, i, &walk, error) : result;
        result = result == PELT_OK ? check_use(cooked, i, &walk, error) : result;
        result = result == PELT_OK ? check_transform(cooked, i, &walk, error) : result;
        walk.weight_count += node->weight_count;
        walk.instance_count += node->flags & FILE_NODE_IN_SCENE && node->mesh != PELT_NONE ? 1 : 0;
    }
    const file_section *weights = NULL;
    result =
        result == PELT_OK ? pelti_cooked_need(cooked, FILE_RSTW, 0, 0, walk.weight_count, &weights, error) : result;
    result = result == PELT_OK ? pelti_cooked_check_finite(cooked, weights, error) : result;
    return result == PELT_OK ? check_instances(cooked, &walk, error) : result;
}

// SPDX-License-Identifier: MIT
// Checks the primitives of a .pelt file and lists them: geometry, indices, remap and attributes here; influences in
// check_influences.c, morph targets in check_targets.c.
#include "cook/reader.h"

// A section of the primitive with count elements; *out is NULL where there is none, which is refused if it is needed.
static pelt_result find_stream(const primitive_check *check, file_kind_index kind, uint32_t sub, uint64_t count,
                               bool needed, const void **out)
{
    const file_section *section = pelti_cooked_section(check->cooked, kind, check->index, sub);
    *out = NULL;
    if (!section && !needed) {
        return PELT_OK;
    }
    pelt_result result = pelti_cooked_need(check->cooked, kind, check->index, sub, count, &section, check->error);
    *out = pelti_cooked_contents(check->cooked, section);
    return result;
}

static pelt_result check_positions(const primitive_check *check)
{
    pelt_cooked_primitive *out = check->out;
    const file_section *section = NULL;
    pelt_result result =
        pelti_cooked_need(check->cooked, FILE_POSN, check->index, 0, out->vertex_count, &section, check->error);
    result = result == PELT_OK ? pelti_cooked_check_finite(check->cooked, section, check->error) : result;
    if (result != PELT_OK) {
        return result;
    }
    out->positions = pelti_cooked_contents(check->cooked, section);
    pelt_box box = pelt_box_empty();
    for (uint32_t v = 0; v < out->vertex_count; v++) {
        const float *position = out->positions + (size_t)v * 3;
        for (int k = 0; k < 3; k++) {
            box.min[k] = position[k] < box.min[k] ? position[k] : box.min[k];
            box.max[k] = position[k] > box.max[k] ? position[k] : box.max[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        if (box.min[k] != out->box.min[k] || box.max[k] != out->box.max[k]) {
            return pelti_cooked_refuse(pelti_cooked_section(check->cooked, FILE_PRIM, 0, 0), check->index, check->error,
                                       "the box of primitive %u is not that of its positions", check->index);
        }
    }
    return PELT_OK;
}

static pelt_result check_indices(const primitive_check *check)
{
    pelt_cooked_primitive *out = check->out;
    const file_section *section = pelti_cooked_section(check->cooked, FILE_INDX, check->index, 0);
    if (!section) {
        bool right = out->index_size == 0 && out->index_count == out->vertex_count;
        return right ? PELT_OK
                     : pelti_cooked_refuse(pelti_cooked_section(check->cooked, FILE_PRIM, 0, 0), check->index,
                                           check->error, "primitive %u has %u indices of %u bytes, but no section INDX",
                                           check->index, out->index_count, out->index_size);
    }
    if ((out->index_size != 2 && out->index_size != 4) || section->element_size != out->index_size ||
        section->count != out->index_count) {
        return pelti_cooked_refuse(
            section, 0, check->error, "%llu indices of %u bytes, but the primitive has %u of %u bytes",
            (unsigned long long)section->count, section->element_size, out->index_count, out->index_size);
    }
    out->indices = pelti_cooked_contents(check->cooked, section);
    const uint16_t *narrow = out->indices;
    const uint32_t *wide = out->indices;
    for (uint32_t i = 0; i < out->index_count; i++) {
        uint32_t vertex = out->index_size == 2 ? narrow[i] : wide[i];
        if (vertex >= out->vertex_count) {
            return pelti_cooked_refuse(section, i, check->error, "index %u names vertex %u, the primitive has %u", i,
                                       vertex, out->vertex_count);
        }
    }
    return PELT_OK;
}

static pelt_result check_remap(const primitive_check *check)
{
    pelt_cooked_primitive *out = check->out;
    const void *stream = NULL;
    pelt_result result = find_stream(check, FILE_SRCV, 0, out->vertex_count, true, &stream);
    out->source_vertices = stream;
    for (uint32_t v = 0; v < out->vertex_count && result == PELT_OK; v++) {
        if (out->source_vertices[v] >= out->source_vertex_count) {
            result = pelti_cooked_refuse(pelti_cooked_section(check->cooked, FILE_SRCV, check->index, 0), v,
                                         check->error, "vertex %u was vertex %u of %u in the source", v,
                                         out->source_vertices[v], out->source_vertex_count);
        }
    }
    return result;
}

static pelt_result check_attribute(const primitive_check *check, uint32_t index, pelt_attribute *out)
{
    const pelt_cooked *cooked = check->cooked;
    const file_section *section = pelti_cooked_section(cooked, FILE_ATTR, check->index, 0);
    const file_attribute *record = pelti_cooked_record(cooked, FILE_ATTR, check->index, index);
    uint32_t size = pelt_component_size((pelt_component)record->component);
    if (size == 0 || record->component_count < 1 || record->component_count > 4 ||
        record->stride != size * record->component_count) {
        return pelti_cooked_refuse(section, index, check->error,
                                   "attribute %u: %u components of type %u do not take %u bytes", index,
                                   record->component_count, record->component, record->stride);
    }
    pelt_result result = pelti_cooked_check_name(cooked, section, index, record->name, check->error);
    if (result != PELT_OK) {
        return result;
    }
    *out = (pelt_attribute){
        .name = pelti_cooked_name(cooked, record->name),
        .component = (pelt_component)record->component,
        .normalized = record->flags & FILE_ATTRIBUTE_NORMALIZED,
        .component_count = record->component_count,
        .stride = record->stride,
    };
    result = find_stream(check, FILE_ATTD, index, check->out->vertex_count, true, &out->data);
    const file_section *data = pelti_cooked_section(cooked, FILE_ATTD, check->index, index);
    if (result == PELT_OK && data && data->element_size != record->stride) {
        result = pelti_cooked_refuse(data, 0, check->error, "elements of %u bytes, but the attribute has %u",
                                     data->element_size, record->stride);
    }
    return result;
}

static pelt_result check_attributes(const primitive_check *check, pelt_attribute *attributes)
{
    const file_section *section = NULL;
    pelt_result result = pelti_cooked_need(check->cooked, FILE_ATTR, check->index, 0, check->out->attribute_count,
                                           &section, check->error);
    for (uint32_t i = 0; i < check->out->attribute_count && result == PELT_OK; i++) {
        result = check_attribute(check, i, &attributes[i]);
    }
    check->out->attributes = attributes;
    return result;
}

static pelt_result check_streams(const primitive_check *check, pelt_attribute *attributes, pelt_cooked_target *targets)
{
    pelt_cooked_primitive *out = check->out;
    const void *normals = NULL;
    const void *tangents = NULL;
    pelt_result result = check_positions(check);
    result = result == PELT_OK ? find_stream(check, FILE_NRML, 0, out->vertex_count, false, &normals) : result;
    result = result == PELT_OK ? find_stream(check, FILE_TANG, 0, out->vertex_count, false, &tangents) : result;
    out->normals = normals;
    out->tangents = tangents;
    result = result == PELT_OK ? pelti_cooked_check_influences(check) : result;
    result = result == PELT_OK ? check_indices(check) : result;
    result = result == PELT_OK ? check_remap(check) : result;
    result = result == PELT_OK ? check_attributes(check, attributes) : result;
    return result == PELT_OK ? pelti_cooked_check_targets(check, targets) : result;
}

static void fill_primitive(const file_primitive *record, pelt_cooked_primitive *out)
{
    *out = (pelt_cooked_primitive){
        .mesh = record->mesh,
        .primitive = record->primitive,
        .topology = (pelt_topology)record->topology,
        .material = record->material,
        .vertex_count = record->vertex_count,
        .source_vertex_count = record->source_vertex_count,
        .ordered = record->flags & FILE_PRIMITIVE_ORDERED,
        .encoding = (pelt_weight_encoding)record->encoding,
        .joints_size = record->joints_size,
        .run_count = record->run_count,
        .run_joint_count = record->run_joint_count,
        .wide_count = record->wide_count,
        .extra_count = record->extra_count,
        .joint_bound = record->joint_bound,
        .index_count = record->index_count,
        .index_size = record->index_size,
        .attribute_count = record->attribute_count,
        .target_count = record->target_count,
        .has_declared_box = record->flags & FILE_PRIMITIVE_HAS_DECLARED_BOX,
    };
    memcpy(&out->box, record->box, sizeof record->box);
    memcpy(&out->declared_box, record->declared_box, sizeof record->declared_box);
}

static pelt_result check_record(const primitive_check *check, uint32_t mesh, uint32_t primitive)
{
    const file_section *section = pelti_cooked_section(check->cooked, FILE_PRIM, 0, 0);
    const file_primitive *record = pelti_cooked_record(check->cooked, FILE_PRIM, 0, check->index);
    const file_mesh *owner = pelti_cooked_record(check->cooked, FILE_MESH, 0, mesh);
    if (record->mesh != mesh || record->primitive != primitive) {
        return pelti_cooked_refuse(section, check->index, check->error,
                                   "primitive %u says it is %u of mesh %u, but it is %u of mesh %u", check->index,
                                   record->primitive, record->mesh, primitive, mesh);
    }
    if (record->topology > PELT_TOPOLOGY_TRIANGLE_FAN || record->encoding > PELT_WEIGHTS_PLAIN) {
        return pelti_cooked_refuse(section, check->index, check->error,
                                   "primitive %u: topology %u or weight encoding %u is unknown", check->index,
                                   record->topology, record->encoding);
    }
    if (record->target_count != owner->target_count) {
        return pelti_cooked_refuse(section, check->index, check->error,
                                   "primitive %u has %u morph targets, its mesh %u", check->index, record->target_count,
                                   owner->target_count);
    }
    if (record->vertex_count > record->source_vertex_count) {
        return pelti_cooked_refuse(section, check->index, check->error,
                                   "primitive %u has %u vertices, more than its source with %u", check->index,
                                   record->vertex_count, record->source_vertex_count);
    }
    fill_primitive(record, check->out);
    return PELT_OK;
}

// Arrays of the primitives and of all their attributes and targets, and what skinned nodes need to know of meshes.
typedef struct primitive_arrays {
    pelt_attribute *attributes;
    pelt_cooked_target *targets;
    uint32_t *mesh_bounds;
    bool *mesh_unbound;
} primitive_arrays;

static pelt_result take_arrays(pelt_cooked *cooked, primitive_arrays *out, pelt_error *error)
{
    uint32_t count = cooked->primitive_count;
    pelt_result result = PELT_OK;
    cooked->primitives = pelti_cooked_take(cooked, count, sizeof *cooked->primitives, &result, error);
    if (result == PELT_OK) {
        out->attributes =
            pelti_cooked_take(cooked, cooked->first_attribute[count], sizeof *out->attributes, &result, error);
    }
    if (result == PELT_OK) {
        out->targets = pelti_cooked_take(cooked, cooked->first_target[count], sizeof *out->targets, &result, error);
    }
    if (result == PELT_OK) {
        out->mesh_bounds = pelti_cooked_take(cooked, cooked->mesh_count, sizeof *out->mesh_bounds, &result, error);
    }
    if (result == PELT_OK) {
        out->mesh_unbound = pelti_cooked_take(cooked, cooked->mesh_count, sizeof *out->mesh_unbound, &result, error);
    }
    cooked->mesh_bounds = out->mesh_bounds;
    cooked->mesh_unbound = out->mesh_unbound;
    return result;
}

static void note_use(const pelt_cooked_primitive *primitive, const primitive_arrays *arrays)
{
    uint32_t mesh = primitive->mesh;
    if (!primitive->weights) {
        arrays->mesh_unbound[mesh] = arrays->mesh_unbound[mesh] || primitive->vertex_count > 0;
    } else if (primitive->joint_bound > arrays->mesh_bounds[mesh]) {
        arrays->mesh_bounds[mesh] = primitive->joint_bound;
    }
}

pelt_result pelti_cooked_check_primitives(pelt_cooked *cooked, pelt_error *error)
{
    primitive_arrays arrays = {0};
    pelt_result result = take_arrays(cooked, &arrays, error);
    uint32_t index = 0;
    for (uint32_t m = 0; m < cooked->mesh_count && result == PELT_OK; m++) {
        const file_mesh *mesh = pelti_cooked_record(cooked, FILE_MESH, 0, m);
        for (uint32_t k = 0; k < mesh->primitive_count && result == PELT_OK; k++, index++) {
            primitive_check check = {cooked, index, &cooked->primitives[index], error};
            result = check_record(&check, m, k);
            if (result == PELT_OK) {
                result = check_streams(&check, arrays.attributes + cooked->first_attribute[index],
                                       arrays.targets + cooked->first_target[index]);
            }
            if (result != PELT_OK && error) {
                error->mesh = m;
                error->primitive = k;
            }
            note_use(check.out, &arrays);
        }
    }
    return result;
}

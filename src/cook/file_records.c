// SPDX-License-Identifier: MIT
// Turns the asset and its cooked primitives into the sections of a file, in the order in which they will stand there:
// records first, then the streams of each primitive.
#include "cook/writer.h"

enum {
    PRIMITIVE_SECTIONS = 12, // most of one primitive, beside those of its attributes and targets
    TARGET_SECTIONS = 4
};

static pelt_result fail_memory(pelt_error *error)
{
    return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for the cooked file");
}

void pelti_cook_add_section(cook_writer *writer, file_kind_index kind, uint32_t owner, uint32_t sub, const void *data,
                            uint64_t count, uint32_t element_size)
{
    assert(writer->section_count < writer->section_capacity);
    uint32_t known = pelti_file_kinds[kind].element_size;
    writer->sections[writer->section_count++] = (cook_section){
        .kind = kind,
        .owner = owner,
        .sub = sub,
        .element_size = known == FILE_ANY_SIZE ? element_size : known,
        .count = count,
        .data = data,
    };
}

pelt_result pelti_cook_add_string(cook_writer *writer, const char *text, uint32_t *out_offset, pelt_error *error)
{
    uint64_t size = (uint64_t)strlen(text) + 1;
    if (writer->string_size > 0 && size == 1) {
        *out_offset = 0;
        return PELT_OK;
    }
    if (!pelti_cook_is_utf8(text, size - 1)) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "a name is not UTF-8 (%u bytes, the first is 0x%02x)",
                          (unsigned)(size - 1), (unsigned)(unsigned char)text[0]);
    }
    if (size > writer->string_capacity - writer->string_size) {
        uint64_t capacity = 2 * writer->string_capacity + size + 256;
        char *larger = pelti_cook_allocate(writer->arena, capacity, 1);
        if (!larger) {
            return fail_memory(error);
        }
        if (writer->string_size > 0) {
            memcpy(larger, writer->strings, (size_t)writer->string_size);
        }
        writer->strings = larger;
        writer->string_capacity = capacity;
    }
    if (writer->string_size + size > UINT32_MAX) {
        return pelti_fail(error, PELT_ERROR_LIMIT, "", "all names together have over 4 GiB");
    }
    *out_offset = (uint32_t)writer->string_size;
    memcpy(writer->strings + writer->string_size, text, (size_t)size);
    writer->string_size += size;
    return PELT_OK;
}

static pelt_result add_meta(cook_writer *writer, pelt_error *error)
{
    file_meta *meta = pelti_cook_allocate(writer->arena, 1, sizeof *meta);
    if (!meta) {
        return fail_memory(error);
    }
    meta->source_hash[0] = writer->options->source_hash[0];
    meta->source_hash[1] = writer->options->source_hash[1];
    meta->options_hash = pelt_cook_options_hash(writer->options);
    meta->writer_version[0] = PELT_VERSION_MAJOR;
    meta->writer_version[1] = PELT_VERSION_MINOR;
    meta->writer_version[2] = PELT_VERSION_PATCH;
    pelti_cook_add_section(writer, FILE_META, 0, 0, meta, 1, 0);
    return PELT_OK;
}

static pelt_result add_nodes(cook_writer *writer, pelt_error *error)
{
    const pelt_asset_data *asset = writer->asset;
    file_node *records = pelti_cook_allocate(writer->arena, asset->node_count, sizeof *records);
    if (!records) {
        return fail_memory(error);
    }
    for (uint32_t i = 0; i < asset->node_count; i++) {
        const pelt_node *node = &asset->nodes[i];
        file_node *record = &records[i];
        pelt_result result = pelti_cook_add_string(writer, node->name, &record->name, error);
        if (result != PELT_OK) {
            return result;
        }
        record->file_index = node->file_index;
        record->parent = node->parent;
        record->subtree_end = node->subtree_end;
        record->mesh = node->mesh;
        record->skin = node->skin;
        record->first_weight = node->first_weight;
        record->weight_count = node->weight_count;
        record->flags = (node->in_scene ? FILE_NODE_IN_SCENE : 0u) | (node->has_matrix ? FILE_NODE_HAS_MATRIX : 0u);
        memcpy(record->translation, &node->rest.translation, sizeof record->translation);
        memcpy(record->rotation, &node->rest.rotation, sizeof record->rotation);
        memcpy(record->scale, &node->rest.scale, sizeof record->scale);
        memcpy(record->local_matrix, &node->local_matrix, sizeof record->local_matrix);
    }
    pelti_cook_add_section(writer, FILE_NODE, 0, 0, records, asset->node_count, 0);
    pelti_cook_add_section(writer, FILE_RSTW, 0, 0, asset->rest_weights, asset->rest_weight_count, 0);
    return PELT_OK;
}

static pelt_result add_instances(cook_writer *writer, pelt_error *error)
{
    const pelt_asset_data *asset = writer->asset;
    file_instance *records = pelti_cook_allocate(writer->arena, asset->instance_count, sizeof *records);
    if (!records) {
        return fail_memory(error);
    }
    for (uint32_t i = 0; i < asset->instance_count; i++) {
        const pelt_instance *instance = &asset->instances[i];
        records[i] = (file_instance){instance->node, instance->mesh, instance->skin, 0};
    }
    pelti_cook_add_section(writer, FILE_INST, 0, 0, records, asset->instance_count, 0);
    return PELT_OK;
}

static pelt_result add_skins(cook_writer *writer, pelt_error *error)
{
    const pelt_asset_data *asset = writer->asset;
    file_skin *records = pelti_cook_allocate(writer->arena, asset->skin_count, sizeof *records);
    if (!records) {
        return fail_memory(error);
    }
    pelti_cook_add_section(writer, FILE_SKIN, 0, 0, records, asset->skin_count, 0);
    for (uint32_t i = 0; i < asset->skin_count; i++) {
        const pelt_skin *skin = &asset->skins[i];
        pelt_result result = pelti_cook_add_string(writer, skin->name, &records[i].name, error);
        if (result != PELT_OK) {
            return result;
        }
        records[i].joint_count = skin->joint_count;
        records[i].skeleton = skin->skeleton;
        records[i].flags = skin->has_inverse_binds ? FILE_SKIN_HAS_INVERSE_BINDS : 0;
        pelti_cook_add_section(writer, FILE_JNTS, i, 0, skin->joints, skin->joint_count, 0);
        pelti_cook_add_section(writer, FILE_IBND, i, 0, skin->inverse_binds, skin->joint_count, 0);
    }
    return PELT_OK;
}

static pelt_result add_target_names(cook_writer *writer, uint32_t index, pelt_error *error)
{
    const pelt_mesh *mesh = &writer->asset->meshes[index];
    uint32_t *names = pelti_cook_allocate(writer->arena, mesh->target_count, sizeof *names);
    if (!names) {
        return fail_memory(error);
    }
    for (uint32_t t = 0; t < mesh->target_count; t++) {
        pelt_result result = pelti_cook_add_string(writer, mesh->target_names[t], &names[t], error);
        if (result != PELT_OK) {
            return result;
        }
    }
    pelti_cook_add_section(writer, FILE_MWGT, index, 0, mesh->weights, mesh->target_count, 0);
    pelti_cook_add_section(writer, FILE_TNAM, index, 0, names, mesh->target_count, 0);
    return PELT_OK;
}

static pelt_result add_meshes(cook_writer *writer, pelt_error *error)
{
    const pelt_asset_data *asset = writer->asset;
    file_mesh *records = pelti_cook_allocate(writer->arena, asset->mesh_count, sizeof *records);
    if (!records) {
        return fail_memory(error);
    }
    pelti_cook_add_section(writer, FILE_MESH, 0, 0, records, asset->mesh_count, 0);
    uint32_t first = 0;
    for (uint32_t i = 0; i < asset->mesh_count; i++) {
        const pelt_mesh *mesh = &asset->meshes[i];
        pelt_result result = pelti_cook_add_string(writer, mesh->name, &records[i].name, error);
        if (result == PELT_OK && mesh->target_count > 0) {
            result = add_target_names(writer, i, error);
        }
        if (result != PELT_OK) {
            return result;
        }
        records[i].first_primitive = first;
        records[i].primitive_count = mesh->primitive_count;
        records[i].target_count = mesh->target_count;
        first += mesh->primitive_count;
    }
    return PELT_OK;
}

static file_primitive primitive_record(const pelt_cooked_primitive *p)
{
    file_primitive record = {
        .mesh = p->mesh,
        .primitive = p->primitive,
        .topology = (uint32_t)p->topology,
        .material = p->material,
        .vertex_count = p->vertex_count,
        .source_vertex_count = p->source_vertex_count,
        .encoding = (uint32_t)p->encoding,
        .flags =
            (p->ordered ? FILE_PRIMITIVE_ORDERED : 0u) | (p->has_declared_box ? FILE_PRIMITIVE_HAS_DECLARED_BOX : 0u),
        .joint_bound = p->joint_bound,
        .run_count = p->run_count,
        .run_joint_count = p->run_joint_count,
        .wide_count = p->wide_count,
        .extra_count = p->extra_count,
        .index_count = p->index_count,
        .index_size = p->index_size,
        .attribute_count = p->attribute_count,
        .target_count = p->target_count,
        .joints_size = p->joints_size,
    };
    memcpy(record.box, &p->box, sizeof record.box);
    if (p->has_declared_box) {
        memcpy(record.declared_box, &p->declared_box, sizeof record.declared_box);
    }
    return record;
}

static pelt_result add_attributes(cook_writer *writer, uint32_t owner, pelt_error *error)
{
    const pelt_cooked_primitive *p = &writer->primitives[owner].out;
    file_attribute *records = pelti_cook_allocate(writer->arena, p->attribute_count, sizeof *records);
    if (!records) {
        return fail_memory(error);
    }
    pelti_cook_add_section(writer, FILE_ATTR, owner, 0, records, p->attribute_count, 0);
    for (uint32_t i = 0; i < p->attribute_count; i++) {
        const pelt_attribute *attribute = &p->attributes[i];
        pelt_result result = pelti_cook_add_string(writer, attribute->name, &records[i].name, error);
        if (result != PELT_OK) {
            return result;
        }
        records[i].component = (uint32_t)attribute->component;
        records[i].component_count = attribute->component_count;
        records[i].stride = attribute->stride;
        records[i].flags = attribute->normalized ? FILE_ATTRIBUTE_NORMALIZED : 0;
        pelti_cook_add_section(writer, FILE_ATTD, owner, i, attribute->data, p->vertex_count, attribute->stride);
    }
    return PELT_OK;
}

static void add_target_stream(cook_writer *writer, file_kind_index kind, uint32_t owner, uint32_t sub, const void *data)
{
    const pelt_cooked_target *target = &writer->primitives[owner].out.targets[sub];
    if (data) {
        pelti_cook_add_section(writer, kind, owner, sub, data, target->vertex_count,
                               target->format & PELT_TARGET_16BIT ? 6 : 12);
    }
}

static pelt_result add_targets(cook_writer *writer, uint32_t owner, pelt_error *error)
{
    const pelt_cooked_primitive *p = &writer->primitives[owner].out;
    file_target *records = pelti_cook_allocate(writer->arena, p->target_count, sizeof *records);
    if (!records) {
        return fail_memory(error);
    }
    pelti_cook_add_section(writer, FILE_TARG, owner, 0, records, p->target_count, 0);
    for (uint32_t i = 0; i < p->target_count; i++) {
        const pelt_cooked_target *target = &p->targets[i];
        records[i].format = target->format;
        records[i].vertex_count = target->vertex_count;
        memcpy(records[i].scale, target->scale, sizeof records[i].scale);
        if (target->format & PELT_TARGET_SPARSE) {
            pelti_cook_add_section(writer, FILE_TVTX, owner, i, target->vertices, target->vertex_count, 0);
        }
        add_target_stream(writer, FILE_TPOS, owner, i, target->positions);
        add_target_stream(writer, FILE_TNRM, owner, i, target->normals);
        add_target_stream(writer, FILE_TTAN, owner, i, target->tangents);
    }
    return PELT_OK;
}

static void add_influences(cook_writer *writer, uint32_t owner)
{
    const pelt_cooked_primitive *p = &writer->primitives[owner].out;
    if (!p->weights) {
        return;
    }
    pelti_cook_add_section(writer, FILE_WGHT, owner, 0, p->weights, p->vertex_count, 0);
    pelti_cook_add_section(writer, FILE_JNTI, owner, 0, p->joints, p->joints_size, 0);
    pelti_cook_add_section(writer, FILE_RUNS, owner, 0, p->runs, p->run_count, 0);
    if (p->run_joint_count > 0) {
        pelti_cook_add_section(writer, FILE_RUNJ, owner, 0, p->run_joints, p->run_joint_count, 0);
    }
    pelti_cook_add_section(writer, FILE_XOFS, owner, 0, p->extra_offsets, (uint64_t)p->wide_count + 1, 0);
    if (p->extra_count > 0) {
        pelti_cook_add_section(writer, FILE_XTRA, owner, 0, p->extras, p->extra_count, 0);
    }
}

static pelt_result add_streams(cook_writer *writer, uint32_t owner, pelt_error *error)
{
    const pelt_cooked_primitive *p = &writer->primitives[owner].out;
    pelti_cook_add_section(writer, FILE_POSN, owner, 0, p->positions, p->vertex_count, 0);
    if (p->normals) {
        pelti_cook_add_section(writer, FILE_NRML, owner, 0, p->normals, p->vertex_count, 0);
    }
    if (p->tangents) {
        pelti_cook_add_section(writer, FILE_TANG, owner, 0, p->tangents, p->vertex_count, 0);
    }
    add_influences(writer, owner);
    if (p->index_size > 0) {
        pelti_cook_add_section(writer, FILE_INDX, owner, 0, p->indices, p->index_count, p->index_size);
    }
    pelti_cook_add_section(writer, FILE_SRCV, owner, 0, p->source_vertices, p->vertex_count, 0);
    pelt_result result = PELT_OK;
    if (p->attribute_count > 0) {
        result = add_attributes(writer, owner, error);
    }
    if (result == PELT_OK && p->target_count > 0) {
        result = add_targets(writer, owner, error);
    }
    return result;
}

static pelt_result add_primitives(cook_writer *writer, pelt_error *error)
{
    file_primitive *records = pelti_cook_allocate(writer->arena, writer->primitive_count, sizeof *records);
    if (!records) {
        return fail_memory(error);
    }
    pelti_cook_add_section(writer, FILE_PRIM, 0, 0, records, writer->primitive_count, 0);
    for (uint32_t i = 0; i < writer->primitive_count; i++) {
        records[i] = primitive_record(&writer->primitives[i].out);
    }
    return PELT_OK;
}

static pelt_result add_joint_boxes(cook_writer *writer, pelt_error *error)
{
    file_joint_boxes *records = pelti_cook_allocate(writer->arena, writer->joint_boxes_count, sizeof *records);
    if (!records) {
        return fail_memory(error);
    }
    pelti_cook_add_section(writer, FILE_JBOX, 0, 0, records, writer->joint_boxes_count, 0);
    for (uint32_t i = 0; i < writer->joint_boxes_count; i++) {
        const pelt_joint_boxes *boxes = &writer->joint_boxes[i];
        records[i] = (file_joint_boxes){boxes->primitive, boxes->skin, boxes->joint_count, 0};
        pelti_cook_add_section(writer, FILE_BOXS, i, 0, boxes->boxes, boxes->joint_count, 0);
    }
    return PELT_OK;
}

// At least as many sections as will be added.
static uint64_t bound_sections(const cook_writer *writer)
{
    const pelt_asset_data *asset = writer->asset;
    uint64_t bound = FILE_KIND_COUNT;
    bound += 2 * ((uint64_t)asset->skin_count + asset->mesh_count + asset->clip_count);
    bound += writer->joint_boxes_count;
    for (uint32_t i = 0; i < writer->primitive_count; i++) {
        const pelt_cooked_primitive *p = &writer->primitives[i].out;
        bound += PRIMITIVE_SECTIONS + p->attribute_count + TARGET_SECTIONS * (uint64_t)p->target_count;
    }
    return bound;
}

pelt_result pelti_cook_list_sections(cook_writer *writer, pelt_error *error)
{
    pelt_result (*const parts[])(cook_writer *, pelt_error *) = {
        add_meta, add_nodes, add_instances, add_skins, add_meshes, add_primitives, add_joint_boxes,
    };
    uint32_t empty = 0;
    writer->section_capacity = bound_sections(writer);
    writer->sections = pelti_cook_allocate(writer->arena, writer->section_capacity, sizeof *writer->sections);
    if (!writer->sections) {
        return fail_memory(error);
    }
    pelt_result result = pelti_cook_add_string(writer, "", &empty, error);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && result == PELT_OK; i++) {
        result = parts[i](writer, error);
    }
    result = result == PELT_OK ? pelti_cook_add_clips(writer, error) : result;
    for (uint32_t i = 0; i < writer->primitive_count && result == PELT_OK; i++) {
        result = add_streams(writer, i, error);
    }
    if (result == PELT_OK) {
        // Last, since it is complete only now; names change less often than vertices would have to move for them.
        pelti_cook_add_section(writer, FILE_STRS, 0, 0, writer->strings, writer->string_size, 0);
        result = writer->section_count < UINT32_MAX
                     ? PELT_OK
                     : pelti_fail(error, PELT_ERROR_LIMIT, "", "the model needs over 4 billion sections");
    }
    return result;
}

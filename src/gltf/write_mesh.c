// SPDX-License-Identifier: MIT
// Makes one output mesh per instance from the caller's posed vertices, since even a rigid mesh has other positions at
// each of its nodes. Indices and untouched attributes are shared between them.
#include "write_internal.h"

#include <math.h>

// One primitive on its way out.
typedef struct source_primitive {
    const pelt_primitive *asset;
    const pelt_gltf_posed_primitive *posed;
    const json_t *json;
    const char *where;
} source_primitive;

static pelt_result check_finite(const source_primitive *source, pelt_error *error)
{
    const float *values = source->posed->positions;
    for (uint32_t v = 0; v < source->asset->vertex_count; v++, values += 3) {
        if (!isfinite(values[0]) || !isfinite(values[1]) || !isfinite(values[2])) {
            pelt_result result = pelti_fail(error, PELT_ERROR_INVALID, source->where,
                                            "the posed position of vertex %u is not finite", v);
            if (error) {
                error->vertex = v;
            }
            return result;
        }
    }
    return PELT_OK;
}

// One posed attribute on its way out.
typedef struct posed_stream {
    const char *name;
    const float *values; // NULL = not there
    uint32_t component_count;
    const pelt_box *box;
} posed_stream;

// Primitives of one mesh often share their vertices and differ in their indices only: what the source shares and the
// caller filled alike is written once.
static write_stream_record *find_record(gltf_writer *writer, const source_primitive *source, const posed_stream *stream)
{
    const json_t *index = json_object_get(json_object_get(source->json, "attributes"), stream->name);
    json_int_t value = json_is_integer(index) ? json_integer_value(index) : -1;
    return value >= 0 && value < (json_int_t)writer->source_accessor_count ? &writer->streams[value] : NULL;
}

static pelt_result write_stream(gltf_writer *writer, const source_primitive *source, const posed_stream *stream,
                                json_t *attributes, pelt_error *error)
{
    if (!stream->values) {
        return PELT_OK;
    }
    uint32_t count = source->asset->vertex_count;
    uint64_t size = (uint64_t)count * stream->component_count * sizeof(float);
    write_stream_record *record = find_record(writer, source, stream);
    if (record && record->instance == source->posed->instance && strcmp(record->semantic, stream->name) == 0 &&
        memcmp(record->values, stream->values, (size_t)size) == 0) {
        pelti_write_put(writer, attributes, stream->name, json_integer(record->output));
        return PELT_OK;
    }
    write_piece piece = {.kind = WRITE_PIECE_BYTES, .size = size, .data = stream->values};
    write_accessor made = {.component = PELT_COMPONENT_F32,
                           .count = count,
                           .type = stream->component_count == 4 ? "VEC4" : "VEC3",
                           .box = stream->box};
    pelt_result result = pelti_write_add_piece(writer, &piece, WRITE_TARGET_VERTICES, 0, &made.view, error);
    if (result != PELT_OK) {
        return result;
    }
    uint32_t output = pelti_write_accessor(writer, &made);
    pelti_write_put(writer, attributes, stream->name, json_integer(output));
    if (record) {
        *record = (write_stream_record){
            .instance = source->posed->instance, .output = output, .semantic = stream->name, .values = stream->values};
    }
    return PELT_OK;
}

static bool is_posed(const char *name)
{
    return strcmp(name, "POSITION") == 0 || strcmp(name, "NORMAL") == 0 || strcmp(name, "TANGENT") == 0 ||
           strncmp(name, "JOINTS_", strlen("JOINTS_")) == 0 || strncmp(name, "WEIGHTS_", strlen("WEIGHTS_")) == 0;
}

static pelt_result write_attributes(gltf_writer *writer, const source_primitive *source, json_t *primitive,
                                    pelt_error *error)
{
    const pelt_gltf_posed_primitive *posed = source->posed;
    uint32_t count = source->asset->vertex_count;
    json_t *attributes = json_object();
    pelti_write_put(writer, primitive, "attributes", attributes);
    pelt_result result = pelti_write_status(writer, error);
    const posed_stream streams[] = {{"POSITION", posed->positions, 3, posed->box},
                                    {"NORMAL", posed->normals, 3, NULL},
                                    {"TANGENT", posed->tangents, 4, NULL}};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0] && result == PELT_OK; i++) {
        result = write_stream(writer, source, &streams[i], attributes, error);
    }
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(json_object_get(source->json, "attributes"), name, value)
    {
        if (result != PELT_OK) {
            break;
        }
        if (is_posed(name)) {
            continue;
        }
        uint64_t index = 0;
        uint32_t accessor = PELT_NONE;
        result = pelti_gltf_uint_value(value, name, source->where, PELT_NONE, &index, error);
        if (result == PELT_OK && index >= writer->source_accessor_count) {
            result = pelti_fail(error, PELT_ERROR_INVALID, source->where, "%s names accessor %llu of %u",
                                pelti_gltf_quote(name).text, (unsigned long long)index, writer->source_accessor_count);
        }
        if (result == PELT_OK) {
            result = pelti_write_attribute(writer, name, (uint32_t)index, count, source->where, &accessor, error);
        }
        if (result == PELT_OK && accessor != PELT_NONE) {
            pelti_write_put(writer, attributes, name, json_integer(accessor));
        }
    }
    return result;
}

// ---- indices

static uint32_t component_restart(pelt_component component)
{
    return component == PELT_COMPONENT_U8 ? 0xFF : component == PELT_COMPONENT_U16 ? 0xFFFF : UINT32_MAX;
}

static pelt_component safe_component(pelt_component component, const uint32_t *indices, uint32_t count)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        largest = indices[i] > largest ? indices[i] : largest;
    }
    // The largest value of a type means "restart" to graphics APIs, and glTF forbids it.
    while (largest >= component_restart(component) && component != PELT_COMPONENT_U32) {
        component = component == PELT_COMPONENT_U8 ? PELT_COMPONENT_U16 : PELT_COMPONENT_U32;
    }
    return component;
}

static pelt_result write_indices(gltf_writer *writer, const uint32_t *indices, uint32_t count, pelt_component component,
                                 uint32_t *out, pelt_error *error)
{
    write_piece piece = {.kind = WRITE_PIECE_INDICES, .data = indices, .index_count = count, .component = component};
    uint32_t size = component == PELT_COMPONENT_U8 ? 1 : component == PELT_COMPONENT_U16 ? 2 : 4;
    piece.size = (uint64_t)count * size;
    write_accessor made = {.component = component, .count = count, .type = "SCALAR"};
    pelt_result result = pelti_write_add_piece(writer, &piece, WRITE_TARGET_INDICES, 0, &made.view, error);
    if (result == PELT_OK) {
        *out = pelti_write_accessor(writer, &made);
    }
    return result;
}

static pelt_result write_kept_indices(gltf_writer *writer, const source_primitive *source, json_t *primitive,
                                      pelt_error *error)
{
    uint32_t index = PELT_NONE;
    pelt_result result = pelti_gltf_index(source->json, "indices", source->where, true, writer->source_accessor_count,
                                          "accessor", &index, error);
    if (result != PELT_OK) {
        return result;
    }
    uint32_t *shared = &writer->shared[WRITE_ROLE_INDICES][index];
    if (*shared == PELT_NONE) {
        gltf_accessor accessor;
        result = pelti_gltf_accessor(writer->gltf, index, &accessor, error);
        if (result == PELT_OK) {
            const pelt_primitive *asset = source->asset;
            result =
                write_indices(writer, asset->indices, asset->index_count,
                              safe_component(accessor.component, asset->indices, asset->index_count), shared, error);
        }
    }
    if (result == PELT_OK) {
        pelti_write_put(writer, primitive, "indices", json_integer(*shared));
    }
    return result;
}

static pelt_result write_topology(gltf_writer *writer, const source_primitive *source, json_t *primitive,
                                  pelt_error *error)
{
    const pelt_gltf_posed_primitive *posed = source->posed;
    pelt_topology topology = posed->indices ? posed->topology : source->asset->topology;
    pelt_result result = PELT_OK;
    if (posed->indices) {
        uint32_t accessor = PELT_NONE;
        pelt_component component = safe_component(PELT_COMPONENT_U16, posed->indices, posed->index_count);
        result = write_indices(writer, posed->indices, posed->index_count, component, &accessor, error);
        pelti_write_put(writer, primitive, "indices", json_integer(accessor));
    } else if (source->asset->indices) {
        result = write_kept_indices(writer, source, primitive, error);
    }
    if (topology != PELT_TOPOLOGY_TRIANGLES) {
        pelti_write_put(writer, primitive, "mode", json_integer(topology));
    }
    return result;
}

// ---- primitives and meshes

// Why the primitive cannot be written (glTF has no accessors of no elements), or NULL.
static const char *emptiness(const source_primitive *source)
{
    if (source->asset->vertex_count == 0) {
        return "no vertices";
    }
    uint32_t index_count = source->posed->indices ? source->posed->index_count : source->asset->index_count;
    return index_count == 0 ? "nothing to draw" : NULL;
}

static pelt_result write_primitive(gltf_writer *writer, const source_primitive *source, json_t *primitives,
                                   pelt_error *error)
{
    const char *lack = emptiness(source);
    if (lack) {
        pelti_warn(writer->mesh_log, source->where, "the primitive has %s and is left out", lack);
        return PELT_OK;
    }
    pelt_result result = check_finite(source, error);
    if (result != PELT_OK) {
        return result;
    }
    json_t *primitive = json_object();
    pelti_write_append(writer, primitives, primitive);
    result = pelti_write_status(writer, error);
    if (result == PELT_OK) {
        result = write_attributes(writer, source, primitive, error);
    }
    if (result == PELT_OK) {
        result = write_topology(writer, source, primitive, error);
    }
    if (result != PELT_OK) {
        return result;
    }
    // A document made from an asset has no materials, whatever the asset was told of them.
    if (source->asset->material < json_array_size(json_object_get(writer->gltf->root, "materials"))) {
        pelti_write_put(writer, primitive, "material", json_integer(source->asset->material));
    }
    pelti_write_share(writer, primitive, source->json, "extras");
    return pelti_write_extensions(writer, primitive, source->json, source->where, error);
}

// extras without the names of morph targets, which the output does not have.
static void write_mesh_extras(gltf_writer *writer, json_t *mesh, const json_t *source)
{
    json_t *extras = json_object_get(source, "extras");
    if (!json_object_get(extras, "targetNames")) {
        pelti_write_share(writer, mesh, source, "extras");
        return;
    }
    json_t *kept = json_copy(extras);
    json_object_del(kept, "targetNames");
    if (kept && json_object_size(kept) == 0) {
        json_decref(kept);
    } else {
        pelti_write_put(writer, mesh, "extras", kept);
    }
}

static pelt_result write_mesh_primitives(gltf_writer *writer, const pelt_mesh *mesh, uint32_t mesh_index,
                                         const json_t *source, const pelt_gltf_posed_primitive *posed,
                                         json_t *primitives, pelt_error *error)
{
    const json_t *array = json_object_get(source, "primitives");
    for (uint32_t p = 0; p < mesh->primitive_count; p++) {
        gltf_path where = pelti_gltf_path("/meshes/%u/primitives/%u", mesh_index, p);
        source_primitive one = {
            .asset = &mesh->primitives[p], .posed = &posed[p], .json = json_array_get(array, p), .where = where.text};
        pelt_result result = write_primitive(writer, &one, primitives, error);
        if (result != PELT_OK) {
            if (error && error->mesh == PELT_NONE) {
                error->mesh = mesh_index;
                error->primitive = p;
            }
            return result;
        }
    }
    return PELT_OK;
}

static pelt_result write_mesh(gltf_writer *writer, uint32_t instance, const pelt_gltf_posed_primitive *posed,
                              pelt_error *error)
{
    uint32_t mesh_index = writer->asset->instances[instance].mesh;
    const pelt_mesh *asset = &writer->asset->meshes[mesh_index];
    gltf_path where = pelti_gltf_path("/meshes/%u", mesh_index);
    json_t *source = NULL;
    pelt_result result = pelti_gltf_item(writer->gltf, "meshes", mesh_index, &source, error);
    if (result != PELT_OK) {
        return result;
    }
    json_t *mesh = json_object();
    json_t *primitives = json_array();
    pelti_write_share(writer, mesh, source, "name");
    pelti_write_put(writer, mesh, "primitives", primitives);
    result = pelti_write_status(writer, error);
    if (result == PELT_OK) {
        result = write_mesh_primitives(writer, asset, mesh_index, source, posed, primitives, error);
    }
    if (result == PELT_OK && json_array_size(primitives) == 0) {
        pelti_warn(writer->mesh_log, where.text, "the mesh has nothing to draw and is left out");
        json_decref(mesh);
        return PELT_OK;
    }
    if (result == PELT_OK) {
        write_mesh_extras(writer, mesh, source);
        result = pelti_write_extensions(writer, mesh, source, where.text, error);
    }
    if (result == PELT_OK) {
        writer->instance_mesh[instance] = (uint32_t)json_array_size(writer->meshes);
    }
    pelti_write_append(writer, writer->meshes, mesh);
    return result;
}

pelt_result pelti_write_meshes(gltf_writer *writer, pelt_error *error)
{
    static const pelt_log silent = {0};
    const pelt_asset_data *asset = writer->asset;
    uint8_t *seen = pelti_allocate(writer->allocator, (uint64_t)asset->mesh_count + 1, 1);
    if (!seen) {
        return pelti_write_out_of_memory(error);
    }
    memset(seen, 0, (size_t)asset->mesh_count + 1);
    pelt_result result = PELT_OK;
    const pelt_gltf_posed_primitive *posed = writer->posed->primitives;
    for (uint32_t i = 0; i < asset->instance_count && result == PELT_OK; i++) {
        uint32_t mesh = asset->instances[i].mesh;
        writer->mesh_log = seen[mesh] ? &silent : writer->log;
        seen[mesh] = 1;
        result = write_mesh(writer, i, posed, error);
        posed += asset->meshes[mesh].primitive_count;
    }
    pelti_release(writer->allocator, seen, (uint64_t)asset->mesh_count + 1, 1);
    return result == PELT_OK ? pelti_write_status(writer, error) : result;
}

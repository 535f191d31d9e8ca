// SPDX-License-Identifier: MIT
// Meshes and primitives of a document: topology, indices and names; streams are in import_attributes.c,
// import_influences.c and import_morph.c.
#include "import_internal.h"

void pelti_gltf_warn_primitive(const gltf_primitive *primitive, uint32_t vertex, const char *format, ...)
{
    const pelt_log *log = &primitive->import->gltf->options.log;
    if (!log->write) {
        return;
    }
    pelt_error message;
    pelti_error_clear(&message);
    snprintf(message.where, sizeof message.where, "%s", primitive->where);
    va_list arguments;
    va_start(arguments, format);
    pelti_format(message.message, sizeof message.message, format, arguments);
    va_end(arguments);
    pelti_gltf_prefix(&message, "mesh %u, primitive %u", primitive->mesh, primitive->index);
    message.mesh = primitive->mesh;
    message.primitive = primitive->index;
    message.vertex = vertex;
    log->write(log->user, PELT_LOG_WARNING, &message);
}

static pelt_result read_indices(gltf_import *import, gltf_cached_accessor *cached, const char *where, pelt_error *error)
{
    const gltf_accessor *accessor = &cached->accessor;
    bool is_unsigned = accessor->component == PELT_COMPONENT_U8 || accessor->component == PELT_COMPONENT_U16 ||
                       accessor->component == PELT_COMPONENT_U32;
    if (!pelti_gltf_is_vector(accessor, 1) || !is_unsigned || accessor->normalized) {
        return pelti_fail(error, PELT_ERROR_INVALID, where,
                          "indices is %s; it must be SCALAR of UNSIGNED_BYTE, UNSIGNED_SHORT or UNSIGNED_INT",
                          pelti_gltf_type_text(accessor).text);
    }
    uint32_t *indices = pelt_builder_allocate(import->builder, accessor->count, sizeof *indices);
    if (!indices) {
        return pelt_builder_status(import->builder, error);
    }
    pelti_gltf_read_u32(accessor, indices);
    uint32_t highest = 0;
    for (uint64_t i = 0; i < accessor->count; i++) {
        highest = indices[i] > highest ? indices[i] : highest;
    }
    cached->indices = indices;
    cached->highest_index = highest;
    return PELT_OK;
}

static pelt_result import_indices(const gltf_primitive *primitive, pelt_error *error)
{
    pelt_primitive *out = primitive->out;
    out->index_count = out->vertex_count;
    const json_t *value = json_object_get(primitive->object, "indices");
    if (!value || out->vertex_count == 0) {
        return PELT_OK;
    }
    gltf_cached_accessor *cached = NULL;
    GLTF_TRY(pelti_gltf_reference(primitive->import, value, "indices", primitive->where, &cached, error));
    if (!cached->indices) {
        GLTF_TRY(read_indices(primitive->import, cached, primitive->where, error));
    }
    if (cached->highest_index >= out->vertex_count) {
        uint64_t at = 0;
        while (cached->indices[at] < out->vertex_count) {
            at++;
        }
        return pelti_fail(error, PELT_ERROR_INVALID, primitive->where,
                          "indices: index %u at %llu but the primitive has %u vertices", cached->indices[at],
                          (unsigned long long)at, out->vertex_count);
    }
    out->index_count = (uint32_t)cached->accessor.count;
    out->indices = cached->indices;
    return PELT_OK;
}

static void check_topology(const gltf_primitive *primitive)
{
    static const struct {
        const char *name;
        uint32_t minimum;
        uint32_t step;
    } rules[] = {{"POINTS", 1, 1},    {"LINES", 2, 2},          {"LINE_LOOP", 2, 1},   {"LINE_STRIP", 2, 1},
                 {"TRIANGLES", 3, 3}, {"TRIANGLE_STRIP", 3, 1}, {"TRIANGLE_FAN", 3, 1}};
    uint32_t count = primitive->out->index_count;
    uint32_t mode = (uint32_t)primitive->out->topology;
    if (count > 0 && (count < rules[mode].minimum || count % rules[mode].step != 0)) {
        pelti_gltf_warn_primitive(primitive, PELT_NONE, "%u %s do not make whole %s", count,
                                  primitive->out->indices ? "indices" : "vertices", rules[mode].name);
    }
}

// Draco keeps the data in its own stream; the plain accessors are an optional fallback.
static pelt_result refuse_draco(const gltf_primitive *primitive, pelt_error *error)
{
    static const char extension[] = "KHR_draco_mesh_compression";
    if (!pelti_gltf_extension(primitive->object, extension)) {
        return PELT_OK;
    }
    const json_t *values[] = {json_object_get(primitive->attributes, "POSITION"),
                              json_object_get(primitive->object, "indices")};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        gltf_cached_accessor *cached = NULL;
        if (!values[i]) {
            continue;
        }
        GLTF_TRY(pelti_gltf_reference(primitive->import, values[i], i == 0 ? "POSITION" : "indices", primitive->where,
                                      &cached, error));
        if (!cached->accessor.data && cached->accessor.sparse_count == 0) {
            pelt_result result = pelti_fail(error, PELT_ERROR_UNSUPPORTED, primitive->where,
                                            "the data is only there in %s, which is not supported", extension);
            pelti_hint(error, "%s", pelti_gltf_extension_remedy(extension));
            return result;
        }
    }
    return PELT_OK;
}

static pelt_result read_primitive(const gltf_primitive *primitive, uint32_t target_count, bool *ignored_logged,
                                  pelt_error *error)
{
    const json_t *object = primitive->object;
    pelt_primitive *out = primitive->out;
    if (!primitive->attributes) {
        return pelti_fail(error, PELT_ERROR_INVALID, primitive->where, "attributes is missing or not an object");
    }
    uint64_t mode = PELT_TOPOLOGY_TRIANGLES;
    GLTF_TRY(pelti_gltf_uint(object, "mode", primitive->where, false, PELT_TOPOLOGY_TRIANGLE_FAN, &mode, error));
    out->topology = (pelt_topology)mode;
    const json_t *materials = json_object_get(primitive->import->gltf->root, "materials");
    GLTF_TRY(pelti_gltf_index(object, "material", primitive->where, false, (uint32_t)json_array_size(materials),
                              "material", &out->material, error));
    GLTF_TRY(refuse_draco(primitive, error));
    GLTF_TRY(pelti_gltf_import_positions(primitive, error));
    GLTF_TRY(pelti_gltf_import_attributes(primitive, error));
    GLTF_TRY(pelti_gltf_import_influences(primitive, error));
    GLTF_TRY(import_indices(primitive, error));
    check_topology(primitive);
    return pelti_gltf_import_targets(primitive, target_count, ignored_logged, error);
}

static pelt_result read_target_names(gltf_import *import, const json_t *mesh_object, pelt_mesh *mesh, pelt_error *error)
{
    const json_t *list = json_object_get(json_object_get(mesh_object, "extras"), "targetNames");
    const char **names = pelt_builder_allocate(import->builder, mesh->target_count, sizeof *names);
    if (!names) {
        return pelt_builder_status(import->builder, error);
    }
    for (uint32_t i = 0; i < mesh->target_count; i++) {
        // Extras are free-form: of another shape than expected, they are somebody else's.
        const char *name = json_string_value(json_array_get(list, i));
        names[i] = name ? pelt_builder_string(import->builder, name, strlen(name)) : "";
        if (!names[i]) {
            return pelt_builder_status(import->builder, error);
        }
    }
    mesh->target_names = names;
    return PELT_OK;
}

static pelt_result read_weights(gltf_import *import, const json_t *object, const char *where, pelt_mesh *mesh,
                                pelt_error *error)
{
    float *weights = NULL;
    uint32_t count = 0;
    GLTF_TRY(pelti_gltf_float_list(import, object, "weights", where, &weights, &count, error));
    if (!weights) {
        weights = pelt_builder_allocate(import->builder, mesh->target_count, sizeof *weights);
        if (!weights) {
            return pelt_builder_status(import->builder, error);
        }
    } else if (count != mesh->target_count) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "weights has %u numbers for %u morph targets", count,
                          mesh->target_count);
    }
    mesh->weights = weights;
    return PELT_OK;
}

// The primitives array, with the target count that all of them must share.
static pelt_result read_shape(const json_t *object, const char *where, const json_t **out_array, pelt_mesh *mesh,
                              pelt_error *error)
{
    const json_t *array = json_object_get(object, "primitives");
    size_t count = json_array_size(array);
    if (count == 0 || count >= PELT_NONE) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "primitives is missing, empty or not an array");
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(array, i);
        gltf_path path = pelti_gltf_path("%s/primitives/%zu", where, i);
        if (!json_is_object(item)) {
            return pelti_fail(error, PELT_ERROR_INVALID, path.text, "primitive %zu is not an object", i);
        }
        uint32_t targets = 0;
        GLTF_TRY(pelti_gltf_target_count(item, path.text, &targets, error));
        if (i > 0 && targets != mesh->target_count) {
            return pelti_fail(error, PELT_ERROR_INVALID, path.text,
                              "targets: primitive %zu has %u morph targets but primitive 0 has %u", i, targets,
                              mesh->target_count);
        }
        mesh->target_count = targets;
    }
    *out_array = array;
    mesh->primitive_count = (uint32_t)count;
    return PELT_OK;
}

static pelt_result read_mesh(gltf_import *import, const json_t *object, uint32_t index, pelt_mesh *mesh,
                             pelt_error *error)
{
    gltf_path path = pelti_gltf_path("/meshes/%u", index);
    const json_t *array = NULL;
    GLTF_TRY(pelti_gltf_name(import, object, path.text, &mesh->name, error));
    GLTF_TRY(read_shape(object, path.text, &array, mesh, error));
    GLTF_TRY(read_target_names(import, object, mesh, error));
    GLTF_TRY(read_weights(import, object, path.text, mesh, error));
    pelt_primitive *primitives = pelt_builder_allocate(import->builder, mesh->primitive_count, sizeof *primitives);
    if (!primitives) {
        return pelt_builder_status(import->builder, error);
    }
    bool ignored_logged = false;
    for (uint32_t i = 0; i < mesh->primitive_count; i++) {
        gltf_path where = pelti_gltf_path("/meshes/%u/primitives/%u", index, i);
        const json_t *item = json_array_get(array, i);
        json_t *attributes = json_object_get(item, "attributes");
        gltf_primitive primitive = {.import = import,
                                    .mesh = index,
                                    .index = i,
                                    .where = where.text,
                                    .object = item,
                                    .attributes = json_is_object(attributes) ? attributes : NULL,
                                    .out = &primitives[i]};
        pelt_result result = read_primitive(&primitive, mesh->target_count, &ignored_logged, error);
        if (result != PELT_OK) {
            pelti_gltf_prefix(error, "mesh %u, primitive %u", index, i);
            if (error) {
                error->mesh = index;
                error->primitive = i;
            }
            return result;
        }
    }
    mesh->primitives = primitives;
    return PELT_OK;
}

pelt_result pelti_gltf_import_meshes(gltf_import *import, pelt_error *error)
{
    json_t *array = NULL;
    uint32_t count = 0;
    GLTF_TRY(pelti_gltf_array(import->gltf, "meshes", &array, &count, error));
    pelt_mesh *meshes = pelt_builder_allocate(import->builder, count, sizeof *meshes);
    if (!meshes) {
        return pelt_builder_status(import->builder, error);
    }
    for (uint32_t i = 0; i < count; i++) {
        pelt_result result = read_mesh(import, json_array_get(array, i), i, &meshes[i], error);
        if (result != PELT_OK) {
            pelti_gltf_prefix(error, "mesh %u", i);
            return result;
        }
    }
    import->scene.meshes = meshes;
    return PELT_OK;
}

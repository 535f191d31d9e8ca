// SPDX-License-Identifier: MIT
// Morph targets of a primitive: displacements of positions, normals and tangents.
#include "import_internal.h"

pelt_result pelti_gltf_target_count(const json_t *primitive, const char *where, uint32_t *out, pelt_error *error)
{
    const json_t *targets = json_object_get(primitive, "targets");
    *out = 0;
    if (targets && (!json_is_array(targets) || json_array_size(targets) >= PELT_NONE)) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "targets is not an array of morph targets");
    }
    *out = (uint32_t)json_array_size(targets);
    return PELT_OK;
}

static pelt_result read_displacements(const gltf_primitive *primitive, const json_t *value, const char *name,
                                      bool position, const float **out, pelt_error *error)
{
    gltf_cached_accessor *cached = NULL;
    GLTF_TRY(pelti_gltf_attribute(primitive, value, name, &cached, error));
    const gltf_accessor *accessor = &cached->accessor;
    GLTF_TRY(pelti_gltf_check_vertex_type(primitive, accessor, 3, position, name, error));
    if (!accessor->data && accessor->sparse_count == 0) {
        return PELT_OK; // all zero: the target does not change this attribute
    }
    GLTF_TRY(pelti_gltf_cached_floats(primitive->import, cached, name, primitive->where, error));
    *out = cached->floats;
    return PELT_OK;
}

static pelt_result read_target(const gltf_primitive *primitive, json_t *object, pelt_morph_target *target,
                               bool *ignored_logged, pelt_error *error)
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        const float **out = strcmp(name, "POSITION") == 0  ? &target->positions
                            : strcmp(name, "NORMAL") == 0  ? &target->normals
                            : strcmp(name, "TANGENT") == 0 ? &target->tangents
                                                           : NULL;
        if (out) {
            GLTF_TRY(read_displacements(primitive, value, name, out == &target->positions, out, error));
        } else if (!*ignored_logged) {
            *ignored_logged = true;
            pelti_gltf_warn_primitive(primitive, PELT_NONE,
                                      "targets: %s is not morphed; only POSITION, NORMAL and TANGENT are",
                                      pelti_gltf_quote(name).text);
        }
    }
    return PELT_OK;
}

pelt_result pelti_gltf_import_targets(const gltf_primitive *primitive, uint32_t target_count, bool *ignored_logged,
                                      pelt_error *error)
{
    pelt_morph_target *targets = pelt_builder_allocate(primitive->import->builder, target_count, sizeof *targets);
    if (!targets) {
        return pelt_builder_status(primitive->import->builder, error);
    }
    primitive->out->targets = targets;
    const json_t *array = json_object_get(primitive->object, "targets");
    for (uint32_t i = 0; i < target_count; i++) {
        json_t *object = json_array_get(array, i);
        gltf_path path = pelti_gltf_path("%s/targets/%u", primitive->where, i);
        gltf_primitive part = *primitive;
        part.where = path.text;
        pelt_result result = PELT_OK;
        if (!json_is_object(object)) {
            result = pelti_fail(error, PELT_ERROR_INVALID, path.text, "not an object");
        } else if (primitive->out->vertex_count > 0) {
            result = read_target(&part, object, &targets[i], ignored_logged, error);
        }
        if (result != PELT_OK) {
            pelti_gltf_prefix(error, "mesh %u, primitive %u, target %u", primitive->mesh, primitive->index, i);
            return result;
        }
    }
    return PELT_OK;
}

// SPDX-License-Identifier: MIT
// Vertex attributes of a primitive: positions, normals and tangents as floats, everything else as the file has it.
#include "import_internal.h"

void pelti_gltf_note_quantization(const gltf_primitive *primitive, const char *name)
{
    gltf_import_cache *cache = primitive->import->cache;
    if (!cache->quantization_listed) {
        cache->quantization_listed = true;
        pelti_gltf_warn_primitive(
            primitive, PELT_NONE,
            "%s holds integers, but KHR_mesh_quantization is not in extensionsUsed; it is read all "
            "the same",
            name);
    }
}

pelt_result pelti_gltf_check_vertex_type(const gltf_primitive *primitive, const gltf_accessor *accessor,
                                         uint32_t component_count, bool position, const char *name, pelt_error *error)
{
    pelt_component component = accessor->component;
    bool is_float = component == PELT_COMPONENT_F32;
    bool is_signed = component == PELT_COMPONENT_I8 || component == PELT_COMPONENT_I16;
    bool fits = is_float || (position ? component != PELT_COMPONENT_U32 : is_signed && accessor->normalized);
    if (!fits || !pelti_gltf_is_vector(accessor, component_count)) {
        return pelti_fail(error, PELT_ERROR_INVALID, primitive->where, "%s is %s; it must be VEC%u of FLOAT or %s",
                          name, pelti_gltf_type_text(accessor).text, component_count,
                          position ? "of an integer of 8 or 16 bits" : "of normalized BYTE or SHORT");
    }
    if (!is_float) {
        pelti_gltf_note_quantization(primitive, name);
    }
    return PELT_OK;
}

pelt_result pelti_gltf_attribute(const gltf_primitive *primitive, const json_t *value, const char *name,
                                 gltf_cached_accessor **out, pelt_error *error)
{
    GLTF_TRY(pelti_gltf_reference(primitive->import, value, name, primitive->where, out, error));
    if ((*out)->accessor.count != primitive->out->vertex_count) {
        return pelti_fail(error, PELT_ERROR_INVALID, primitive->where, "%s has %llu elements for %u vertices", name,
                          (unsigned long long)(*out)->accessor.count, primitive->out->vertex_count);
    }
    return PELT_OK;
}

static pelt_result read_declared_box(const gltf_primitive *primitive, const gltf_accessor *accessor, pelt_error *error)
{
    pelt_primitive *out = primitive->out;
    GLTF_TRY(pelti_gltf_accessor_bounds(primitive->import->gltf, accessor, out->declared_box.min, out->declared_box.max,
                                        &out->has_declared_box, error));
    if (!out->has_declared_box) {
        pelti_gltf_warn_primitive(primitive, PELT_NONE, "POSITION: accessor %u has no min and max", accessor->index);
    }
    return PELT_OK;
}

pelt_result pelti_gltf_import_positions(const gltf_primitive *primitive, pelt_error *error)
{
    gltf_import *import = primitive->import;
    const json_t *value = json_object_get(primitive->attributes, "POSITION");
    if (!value) {
        pelti_gltf_warn_primitive(primitive, PELT_NONE, "no POSITION; it is taken as having no vertices");
        return PELT_OK;
    }
    gltf_cached_accessor *cached = NULL;
    GLTF_TRY(pelti_gltf_reference(import, value, "POSITION", primitive->where, &cached, error));
    const gltf_accessor *accessor = &cached->accessor;
    GLTF_TRY(pelti_gltf_check_vertex_type(primitive, accessor, 3, true, "POSITION", error));
    uint64_t limit = import->gltf->options.limits.vertices;
    if (accessor->count > limit) {
        pelt_result result = pelti_fail(error, PELT_ERROR_LIMIT, primitive->where,
                                        "%llu vertices, over the limit of %llu (--max-vertices)",
                                        (unsigned long long)accessor->count, (unsigned long long)limit);
        pelti_hint(error, "raise the limit with --max-vertices");
        return result;
    }
    GLTF_TRY(pelti_gltf_cached_floats(import, cached, "POSITION", primitive->where, error));
    primitive->out->positions = cached->floats;
    primitive->out->vertex_count = (uint32_t)accessor->count;
    return read_declared_box(primitive, accessor, error);
}

// w tells the side of the bitangent: only its sign means anything.
static void force_signs(const gltf_primitive *primitive, float *tangents, uint32_t count)
{
    uint32_t changed = 0;
    uint32_t first = PELT_NONE;
    float first_w = 0;
    for (uint32_t i = 0; i < count; i++) {
        float w = tangents[(size_t)i * 4 + 3];
        float sign = w < 0 ? -1.0f : 1.0f;
        if (w != sign) {
            first_w = changed == 0 ? w : first_w;
            first = changed == 0 ? i : first;
            changed++;
            tangents[(size_t)i * 4 + 3] = sign;
        }
    }
    if (changed > 0) {
        pelti_gltf_warn_primitive(primitive, first,
                                  "TANGENT: w of %u vertices is not +1 or -1, first vertex %u (%g); its sign is used",
                                  changed, first, (double)first_w);
    }
}

static pelt_result read_tangents(const gltf_primitive *primitive, gltf_cached_accessor *cached, pelt_error *error)
{
    const gltf_accessor *accessor = &cached->accessor;
    GLTF_TRY(pelti_gltf_check_vertex_type(primitive, accessor, 4, false, "TANGENT", error));
    if (!cached->tangents) {
        float *tangents = pelt_builder_allocate(primitive->import->builder, accessor->count * 4, sizeof *tangents);
        if (!tangents) {
            return pelt_builder_status(primitive->import->builder, error);
        }
        pelti_gltf_read_floats(accessor, tangents);
        uint64_t bad = pelti_first_not_finite(tangents, accessor->count * 4);
        if (bad < accessor->count * 4) {
            return pelti_gltf_fail_not_finite(tangents[bad], bad / 4, "TANGENT", primitive->where, error);
        }
        force_signs(primitive, tangents, (uint32_t)accessor->count);
        cached->tangents = tangents;
    }
    primitive->out->tangents = cached->tangents;
    return PELT_OK;
}

static pelt_result read_normals(const gltf_primitive *primitive, gltf_cached_accessor *cached, pelt_error *error)
{
    GLTF_TRY(pelti_gltf_check_vertex_type(primitive, &cached->accessor, 3, false, "NORMAL", error));
    GLTF_TRY(pelti_gltf_cached_floats(primitive->import, cached, "NORMAL", primitive->where, error));
    primitive->out->normals = cached->floats;
    return PELT_OK;
}

static pelt_result read_raw(const gltf_primitive *primitive, gltf_cached_accessor *cached, const char *name,
                            pelt_attribute *attributes, pelt_error *error)
{
    pelt_builder *builder = primitive->import->builder;
    const gltf_accessor *accessor = &cached->accessor;
    if (accessor->columns > 1) {
        pelti_gltf_warn_primitive(primitive, PELT_NONE, "%s is %s; attributes that are matrices are ignored",
                                  pelti_gltf_quote(name).text, pelti_gltf_type_text(accessor).text);
        return PELT_OK;
    }
    uint32_t stride = accessor->component_count * accessor->component_size;
    if (!cached->raw) {
        void *raw = pelt_builder_allocate(builder, accessor->count, stride);
        if (!raw) {
            return pelt_builder_status(builder, error);
        }
        pelti_gltf_read_raw(accessor, raw);
        cached->raw = raw;
    }
    const char *copy = pelt_builder_string(builder, name, strlen(name));
    if (!copy) {
        return pelt_builder_status(builder, error);
    }
    attributes[primitive->out->attribute_count++] = (pelt_attribute){.name = copy,
                                                                     .component = accessor->component,
                                                                     .normalized = accessor->normalized,
                                                                     .component_count = accessor->component_count,
                                                                     .stride = stride,
                                                                     .data = cached->raw};
    return PELT_OK;
}

pelt_result pelti_gltf_import_attributes(const gltf_primitive *primitive, pelt_error *error)
{
    pelt_primitive *out = primitive->out;
    if (out->vertex_count == 0) {
        return PELT_OK;
    }
    pelt_attribute *attributes =
        pelt_builder_allocate(primitive->import->builder, json_object_size(primitive->attributes), sizeof *attributes);
    if (!attributes) {
        return pelt_builder_status(primitive->import->builder, error);
    }
    out->attributes = attributes;
    const char *name;
    json_t *value;
    json_object_foreach(primitive->attributes, name, value)
    {
        if (strcmp(name, "POSITION") == 0 || pelti_gltf_is_set(name, "JOINTS_") ||
            pelti_gltf_is_set(name, "WEIGHTS_")) {
            continue;
        }
        gltf_cached_accessor *cached = NULL;
        gltf_quote shown = pelti_gltf_quote(name);
        GLTF_TRY(pelti_gltf_attribute(primitive, value, shown.text, &cached, error));
        if (strcmp(name, "NORMAL") == 0) {
            GLTF_TRY(read_normals(primitive, cached, error));
        } else if (strcmp(name, "TANGENT") == 0) {
            GLTF_TRY(read_tangents(primitive, cached, error));
        } else {
            GLTF_TRY(read_raw(primitive, cached, name, attributes, error));
        }
    }
    return PELT_OK;
}

// SPDX-License-Identifier: MIT
// Cache of opened and decoded accessors: a hostile file that names one accessor ten thousand times costs no more than
// one that names it once.
#include "import_internal.h"

pelt_result pelti_gltf_cache_init(gltf_import *import, gltf_import_cache *cache, pelt_error *error)
{
    import->cache = cache;
    json_t *accessors = NULL;
    uint32_t count = 0;
    GLTF_TRY(pelti_gltf_array(import->gltf, "accessors", &accessors, &count, error));
    void *memory = NULL;
    GLTF_TRY(pelti_gltf_scratch_zeroed(import, count, sizeof *cache->accessors, &memory, error));
    cache->accessors = memory;
    cache->accessor_count = count;
    cache->quantization_listed = pelti_gltf_uses_extension(import->gltf, "KHR_mesh_quantization");
    return PELT_OK;
}

void pelti_gltf_cache_release(gltf_import *import)
{
    gltf_import_cache *cache = import->cache;
    pelti_gltf_doubts_release(import);
    pelti_gltf_influence_cache_release(import);
    pelti_gltf_scratch_release(import, cache->accessors, cache->accessor_count, sizeof *cache->accessors);
}

pelt_result pelti_gltf_reference(gltf_import *import, const json_t *value, const char *name, const char *where,
                                 gltf_cached_accessor **out, pelt_error *error)
{
    uint64_t index = 0;
    GLTF_TRY(pelti_gltf_uint_value(value, name, where, UINT64_MAX, &index, error));
    gltf_import_cache *cache = import->cache;
    if (index >= cache->accessor_count) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "%s is accessor %llu, but the file has %u accessors", name,
                          (unsigned long long)index, cache->accessor_count);
    }
    gltf_cached_accessor *cached = &cache->accessors[index];
    if (!cached->opened) {
        pelt_result result = pelti_gltf_accessor(import->gltf, (uint32_t)index, &cached->accessor, error);
        if (result != PELT_OK) {
            pelti_gltf_prefix(error, "%s", name);
            return result;
        }
        cached->opened = true;
    }
    *out = cached;
    return PELT_OK;
}

pelt_result pelti_gltf_fail_not_finite(float value, uint64_t vertex, const char *name, const char *where,
                                       pelt_error *error)
{
    pelti_fail(error, PELT_ERROR_INVALID, where, "%s of vertex %llu is not finite (%g)", name,
               (unsigned long long)vertex, (double)value);
    if (error) {
        error->vertex = (uint32_t)vertex;
    }
    return PELT_ERROR_INVALID;
}

pelt_result pelti_gltf_cached_floats(gltf_import *import, gltf_cached_accessor *cached, const char *name,
                                     const char *where, pelt_error *error)
{
    if (cached->floats) {
        return PELT_OK;
    }
    const gltf_accessor *accessor = &cached->accessor;
    uint64_t count = accessor->count * accessor->component_count;
    float *floats = pelt_builder_allocate(import->builder, count, sizeof *floats);
    if (!floats) {
        return pelt_builder_status(import->builder, error);
    }
    pelti_gltf_read_floats(accessor, floats);
    if (accessor->component == PELT_COMPONENT_F32) {
        uint64_t bad = pelti_first_not_finite(floats, count);
        if (bad < count) {
            return pelti_gltf_fail_not_finite(floats[bad], bad / accessor->component_count, name, where, error);
        }
    }
    cached->floats = floats;
    return PELT_OK;
}

static const char *component_name(pelt_component component)
{
    switch (component) {
    case PELT_COMPONENT_I8:
        return "BYTE";
    case PELT_COMPONENT_U8:
        return "UNSIGNED_BYTE";
    case PELT_COMPONENT_I16:
        return "SHORT";
    case PELT_COMPONENT_U16:
        return "UNSIGNED_SHORT";
    case PELT_COMPONENT_U32:
        return "UNSIGNED_INT";
    case PELT_COMPONENT_F32:
        return "FLOAT";
    }
    return "?";
}

gltf_type_text pelti_gltf_type_text(const gltf_accessor *accessor)
{
    gltf_type_text out;
    char shape[16];
    if (accessor->columns > 1) {
        snprintf(shape, sizeof shape, "MAT%u", accessor->columns);
    } else if (accessor->rows > 1) {
        snprintf(shape, sizeof shape, "VEC%u", accessor->rows);
    } else {
        snprintf(shape, sizeof shape, "SCALAR");
    }
    snprintf(out.text, sizeof out.text, "%s of %s%s", shape, accessor->normalized ? "normalized " : "",
             component_name(accessor->component));
    return out;
}

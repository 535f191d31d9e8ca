// SPDX-License-Identifier: MIT
// Imports a document into an asset: runs the parts in order and hands what they made to the builder.
#include "import_internal.h"

__attribute__((format(printf, 3, 4))) static void compose(char *out, size_t capacity, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pelti_format(out, capacity, format, arguments);
    va_end(arguments);
}

void pelti_gltf_prefix(pelt_error *error, const char *format, ...)
{
    if (!error) {
        return;
    }
    char subject[192];
    va_list arguments;
    va_start(arguments, format);
    pelti_format(subject, sizeof subject, format, arguments);
    va_end(arguments);
    size_t length = strlen(subject);
    bool is_there = strncmp(error->message, subject, length) == 0 &&
                    (error->message[length] == ':' || error->message[length] == ',');
    if (is_there) {
        return;
    }
    char message[sizeof error->message];
    memcpy(message, error->message, sizeof message);
    compose(error->message, sizeof error->message, "%s: %s", subject, message);
}

pelt_result pelti_gltf_scratch(gltf_import *import, uint64_t count, size_t size, void **out, pelt_error *error)
{
    const pelt_gltf_options *options = &import->gltf->options;
    gltf_import_cache *cache = import->cache;
    *out = NULL;
    if (count == 0) {
        return PELT_OK;
    }
    if (count > (options->limits.memory - cache->scratch_size) / size) {
        pelt_result result = pelti_fail(error, PELT_ERROR_LIMIT, "",
                                        "the import needs more than the memory limit of %llu bytes (--max-memory)",
                                        (unsigned long long)options->limits.memory);
        pelti_hint(error, "raise the limit with --max-memory");
        return result;
    }
    *out = pelti_allocate(&options->allocator, count, size);
    if (!*out) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory (%llu bytes)",
                          (unsigned long long)(count * size));
    }
    cache->scratch_size += count * size;
    return PELT_OK;
}

pelt_result pelti_gltf_scratch_zeroed(gltf_import *import, uint64_t count, size_t size, void **out, pelt_error *error)
{
    GLTF_TRY(pelti_gltf_scratch(import, count, size, out, error));
    if (*out) {
        memset(*out, 0, (size_t)count * size);
    }
    return PELT_OK;
}

void pelti_gltf_scratch_release(gltf_import *import, void *memory, uint64_t count, size_t size)
{
    if (memory) {
        pelti_release(&import->gltf->options.allocator, memory, count, size);
        import->cache->scratch_size -= count * size;
    }
}

pelt_result pelti_gltf_name(gltf_import *import, const json_t *object, const char *where, const char **out,
                            pelt_error *error)
{
    const char *name = NULL;
    GLTF_TRY(pelti_gltf_text(object, "name", where, &name, error));
    *out = name ? pelt_builder_string(import->builder, name, strlen(name)) : "";
    return *out ? PELT_OK : pelt_builder_status(import->builder, error);
}

// object[key] as an array, or NULL where absent.
static pelt_result find_array(const json_t *object, const char *key, const char *where, const json_t **out,
                              uint32_t *out_count, pelt_error *error)
{
    *out = json_object_get(object, key);
    *out_count = 0;
    if (!*out) {
        return PELT_OK;
    }
    if (!json_is_array(*out)) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "%s is not an array", key);
    }
    size_t count = json_array_size(*out);
    if (count >= PELT_NONE) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "%s has %zu elements", key, count);
    }
    *out_count = (uint32_t)count;
    return PELT_OK;
}

pelt_result pelti_gltf_index_list(gltf_import *import, const json_t *object, const char *key, const char *where,
                                  uint32_t **out, uint32_t *out_count, pelt_error *error)
{
    const json_t *array = NULL;
    GLTF_TRY(find_array(object, key, where, &array, out_count, error));
    *out = NULL;
    if (!array) {
        return PELT_OK;
    }
    uint32_t *indices = pelt_builder_allocate(import->builder, *out_count, sizeof *indices);
    if (!indices) {
        return pelt_builder_status(import->builder, error);
    }
    for (uint32_t i = 0; i < *out_count; i++) {
        const json_t *item = json_array_get(array, i);
        uint64_t value = (uint64_t)json_integer_value(item);
        // The helper prepares a message at each call: lists may be long.
        if (!json_is_integer(item) || value >= PELT_NONE) {
            GLTF_TRY(pelti_gltf_uint_value(item, key, where, PELT_NONE - 1, &value, error));
        }
        indices[i] = (uint32_t)value;
    }
    *out = indices;
    return PELT_OK;
}

pelt_result pelti_gltf_float_list(gltf_import *import, const json_t *object, const char *key, const char *where,
                                  float **out, uint32_t *out_count, pelt_error *error)
{
    const json_t *array = NULL;
    GLTF_TRY(find_array(object, key, where, &array, out_count, error));
    *out = NULL;
    if (!array) {
        return PELT_OK;
    }
    *out = pelt_builder_allocate(import->builder, *out_count, sizeof **out);
    if (!*out) {
        return pelt_builder_status(import->builder, error);
    }
    bool found = false;
    return pelti_gltf_floats(object, key, where, *out_count, *out, &found, error);
}

float pelti_gltf_mat34(const float columns[16], pelt_mat34 *out)
{
    float deviation = 0;
    for (int column = 0; column < 4; column++) {
        for (int row = 0; row < 3; row++) {
            out->m[row][column] = columns[column * 4 + row];
        }
        float difference = columns[column * 4 + 3] - (column == 3 ? 1.0f : 0.0f);
        difference = difference < 0 ? -difference : difference;
        // Written so that a NaN sticks.
        deviation = difference <= deviation ? deviation : difference;
        if (deviation != deviation) {
            break;
        }
    }
    return deviation;
}

// The lowest joint count among the skins that a mesh is used with: what its JOINTS_n may reach.
static pelt_result find_joint_limits(gltf_import *import, pelt_error *error)
{
    const pelt_builder_scene *scene = &import->scene;
    void *memory = NULL;
    GLTF_TRY(pelti_gltf_scratch_zeroed(import, scene->mesh_count, sizeof(uint32_t), &memory, error));
    import->mesh_joint_limit = memory;
    for (uint32_t i = 0; i < scene->node_count; i++) {
        const pelt_builder_node *node = &scene->nodes[i];
        if (node->mesh != PELT_NONE && node->skin != PELT_NONE) {
            uint32_t *limit = &import->mesh_joint_limit[node->mesh];
            uint32_t joint_count = scene->skins[node->skin].joint_count;
            if (*limit == 0 || joint_count < *limit) {
                *limit = joint_count;
            }
        }
    }
    return PELT_OK;
}

static pelt_result import_all(gltf_import *import, pelt_asset **out_asset, pelt_error *error)
{
    pelt_gltf *gltf = import->gltf;
    json_t *meshes = NULL;
    json_t *skins = NULL;
    GLTF_TRY(pelti_gltf_array(gltf, "meshes", &meshes, &import->scene.mesh_count, error));
    GLTF_TRY(pelti_gltf_array(gltf, "skins", &skins, &import->scene.skin_count, error));
    GLTF_TRY(pelti_gltf_import_nodes(import, error));
    GLTF_TRY(pelti_gltf_import_skins(import, error));
    GLTF_TRY(find_joint_limits(import, error));
    GLTF_TRY(pelti_gltf_import_meshes(import, error));
    GLTF_TRY(pelti_gltf_settle_doubts(import, error));
    GLTF_TRY(pelti_gltf_import_clips(import, error));
    return pelt_builder_finish(import->builder, &import->scene, out_asset, error);
}

pelt_result pelt_gltf_import(pelt_gltf *gltf, pelt_asset **out_asset, pelt_error *error)
{
    pelti_error_clear(error);
    if (out_asset) {
        *out_asset = NULL;
    }
    if (!gltf || !out_asset) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "%s is NULL", gltf ? "out_asset" : "gltf");
    }
    if (gltf->from_asset) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "",
                          "the document was made from an asset, which is the one to use");
    }
    gltf_import_cache cache = {0};
    gltf_import import = {.gltf = gltf};
    pelt_builder_options options = {
        .allocator = gltf->options.allocator, .log = gltf->options.log, .memory_limit = gltf->options.limits.memory};
    if (pelt_builder_create(&options, &import.builder) != PELT_OK) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory");
    }
    pelt_result result = pelti_gltf_cache_init(&import, &cache, error);
    if (result == PELT_OK) {
        result = import_all(&import, out_asset, error);
    }
    pelti_gltf_cache_release(&import);
    pelti_gltf_scratch_release(&import, import.mesh_joint_limit, import.scene.mesh_count, sizeof(uint32_t));
    if (result == PELT_ERROR_LIMIT && pelt_builder_status(import.builder, NULL) == PELT_ERROR_LIMIT) {
        pelti_hint(error, "raise the limit with --max-memory");
    }
    pelt_builder_destroy(import.builder);
    return result;
}

pelt_result pelt_gltf_load_file(const char *path, const pelt_gltf_options *options, pelt_asset **out_asset,
                                pelt_error *error)
{
    pelti_error_clear(error);
    if (!out_asset) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "out_asset is NULL");
    }
    *out_asset = NULL;
    pelt_gltf *gltf = NULL;
    pelt_result result = pelt_gltf_open_file(path, options, &gltf, error);
    if (result == PELT_OK) {
        result = pelt_gltf_import(gltf, out_asset, error);
    }
    pelt_gltf_close(gltf);
    return result;
}

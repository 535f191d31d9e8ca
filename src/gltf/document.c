// SPDX-License-Identifier: MIT
// Opens and closes a glTF document: container, JSON, extensions, buffers; and answers what is known of it.
#include "gltf_internal.h"

enum {
    HIGHEST_JSON_DEPTH = 2047 // the parser's own, less the array around the guarded text
};

pelt_gltf_options pelti_gltf_resolve_options(const pelt_gltf_options *options)
{
    pelt_gltf_options resolved = {.lenient = false};
    if (options) {
        resolved = *options;
    }
    pelt_gltf_limits *limits = &resolved.limits;
    limits->file_size = limits->file_size != 0 ? limits->file_size : UINT64_C(4) << 30;
    limits->json_depth = limits->json_depth != 0 ? limits->json_depth : 256;
    limits->json_depth = limits->json_depth < HIGHEST_JSON_DEPTH ? limits->json_depth : HIGHEST_JSON_DEPTH;
    limits->vertices = limits->vertices != 0 ? limits->vertices : 100000000;
    limits->joints = limits->joints != 0 ? limits->joints : 65536;
    limits->memory = limits->memory != 0 ? limits->memory : UINT64_C(8) << 30;
    return resolved;
}

static pelt_result create(const pelt_gltf_options *options, const char *folder, size_t folder_length, pelt_gltf **out,
                          pelt_error *error)
{
    pelt_gltf *gltf = pelti_allocate(&options->allocator, 1, sizeof *gltf);
    if (!gltf) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory");
    }
    *gltf = (pelt_gltf){.options = *options};
    if (folder) {
        gltf->folder = pelti_allocate(&options->allocator, folder_length + 1, 1);
        if (!gltf->folder) {
            pelti_release(&options->allocator, gltf, 1, sizeof *gltf);
            return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory");
        }
        memcpy(gltf->folder, folder, folder_length);
        gltf->folder[folder_length] = '\0';
    }
    *out = gltf;
    return PELT_OK;
}

// Everything after the bytes of the file are there.
static pelt_result read_document(pelt_gltf *gltf, pelt_error *error)
{
    gltf->source_size = gltf->file.size;
    gltf_bytes json = {.data = NULL};
    pelt_result result = pelti_gltf_container(gltf, &json, error);
    if (!result) {
        result = pelti_gltf_parse(gltf, &json, error);
    }
    if (!result) {
        result = pelti_gltf_check_extensions(gltf, error);
    }
    return result ? result : pelti_gltf_load_buffers(gltf, error);
}

static pelt_result finish(pelt_gltf *gltf, pelt_result result, pelt_gltf **out_gltf)
{
    if (result) {
        pelt_gltf_close(gltf);
    } else {
        *out_gltf = gltf;
    }
    return result;
}

pelt_result pelt_gltf_open_file(const char *path, const pelt_gltf_options *options, pelt_gltf **out_gltf,
                                pelt_error *error)
{
    pelti_error_clear(error);
    if (out_gltf) {
        *out_gltf = NULL;
    }
    if (!path || !out_gltf) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "path and out_gltf must not be NULL");
    }
    pelt_gltf_options resolved = pelti_gltf_resolve_options(options);
    const char *slash = strrchr(path, '/');
    // "a/b.glb" lies in "a", "/b.glb" in "/", "b.glb" in ".".
    size_t folder_length = !slash || slash == path ? 1 : (size_t)(slash - path);
    pelt_gltf *gltf = NULL;
    pelt_result result = create(&resolved, slash ? path : ".", folder_length, &gltf, error);
    if (result) {
        return result;
    }
    result = pelti_gltf_read_file(&gltf->options, path, "the file", "", &gltf->file, error);
    if (!result && gltf->file.owner == GLTF_BYTES_ALLOCATED) {
        gltf->memory_used += gltf->file.capacity;
    }
    return finish(gltf, result ? result : read_document(gltf, error), out_gltf);
}

pelt_result pelt_gltf_open_memory(const void *data, size_t size, const char *folder, const pelt_gltf_options *options,
                                  pelt_gltf **out_gltf, pelt_error *error)
{
    pelti_error_clear(error);
    if (out_gltf) {
        *out_gltf = NULL;
    }
    if ((!data && size > 0) || !out_gltf) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "data and out_gltf must not be NULL");
    }
    pelt_gltf_options resolved = pelti_gltf_resolve_options(options);
    if (size > resolved.limits.file_size) {
        pelti_fail(error, PELT_ERROR_LIMIT, "", "the file has %zu bytes, over the limit of %llu", size,
                   (unsigned long long)resolved.limits.file_size);
        pelti_hint(error, "raise the limit with --max-file-size");
        return PELT_ERROR_LIMIT;
    }
    if (folder && folder[0] == '\0') {
        folder = ".";
    }
    pelt_gltf *gltf = NULL;
    pelt_result result = create(&resolved, folder, folder ? strlen(folder) : 0, &gltf, error);
    if (result) {
        return result;
    }
    gltf->file = (gltf_bytes){.data = data, .size = size, .owner = GLTF_BYTES_BORROWED};
    return finish(gltf, read_document(gltf, error), out_gltf);
}

void pelt_gltf_close(pelt_gltf *gltf)
{
    if (!gltf) {
        return;
    }
    pelt_allocator allocator = gltf->options.allocator;
    for (uint32_t i = 0; gltf->decoded_views && i < gltf->view_count; i++) {
        pelti_gltf_release_bytes(gltf, &gltf->decoded_views[i]);
    }
    pelti_release(&allocator, gltf->decoded_views, gltf->view_count, sizeof *gltf->decoded_views);
    for (uint32_t i = 0; gltf->buffers && i < gltf->buffer_count; i++) {
        pelti_gltf_release_bytes(gltf, &gltf->buffers[i]);
    }
    pelti_release(&allocator, gltf->buffers, gltf->buffer_capacity, sizeof *gltf->buffers);
    pelti_release(&allocator, gltf->embedded, gltf->embedded_count, sizeof *gltf->embedded);
    json_decref(gltf->extension_names);
    json_decref(gltf->required_extensions);
    json_decref(gltf->root);
    pelti_gltf_release_bytes(gltf, &gltf->file);
    pelti_release(&allocator, gltf->folder, gltf->folder ? strlen(gltf->folder) + 1 : 0, 1);
    pelti_release(&allocator, gltf, 1, sizeof *gltf);
}

uint32_t pelt_gltf_extension_count(const pelt_gltf *gltf)
{
    return (uint32_t)json_array_size(gltf->extension_names);
}

const char *pelt_gltf_extension_name(const pelt_gltf *gltf, uint32_t index)
{
    const char *name = json_string_value(json_array_get(gltf->extension_names, index));
    return name ? name : "";
}

bool pelt_gltf_extension_required(const pelt_gltf *gltf, uint32_t index)
{
    return json_object_get(gltf->required_extensions, pelt_gltf_extension_name(gltf, index)) != NULL;
}

uint64_t pelt_gltf_source_size(const pelt_gltf *gltf)
{
    return gltf->source_size;
}

// A buffer that came from a file of its own; uri is a mark, and no name of a file, where it stood for a long data URI.
static bool is_external(const pelt_gltf *gltf, uint32_t index)
{
    const json_t *buffer = json_array_get(json_object_get(gltf->root, "buffers"), index);
    const char *uri = json_string_value(json_object_get(buffer, "uri"));
    return uri && gltf->buffers[index].data && !pelti_gltf_is_data_uri(pelti_gltf_embedded_uri(gltf, uri).text);
}

uint32_t pelt_gltf_source_part_count(const pelt_gltf *gltf)
{
    return gltf->from_asset ? 0 : 1 + gltf->buffer_count;
}

const void *pelt_gltf_source_part(const pelt_gltf *gltf, uint32_t part, uint64_t *out_size)
{
    const gltf_bytes *bytes = NULL;
    if (part == 0 && !gltf->from_asset) {
        bytes = &gltf->file;
    } else if (part < pelt_gltf_source_part_count(gltf) && is_external(gltf, part - 1)) {
        bytes = &gltf->buffers[part - 1];
    }
    *out_size = bytes ? bytes->size : 0;
    return bytes ? bytes->data : NULL;
}

const char *pelt_gltf_material_name(const pelt_gltf *gltf, uint32_t material)
{
    const json_t *object = json_array_get(json_object_get(gltf->root, "materials"), material);
    const char *name = json_string_value(json_object_get(object, "name"));
    return name ? name : "";
}

// SPDX-License-Identifier: MIT
// Decides which extensions a posed file keeps: those that refer to nothing but materials, textures, images, samplers
// and themselves, which all keep their indices.
#include "write_internal.h"

bool pelti_write_extension_passes(const char *name)
{
    static const char *const prefixes[] = {"KHR_materials_", "ADOBE_materials_", "MSFT_packing_"};
    static const char *const known[] = {
        "KHR_texture_transform", "KHR_lights_punctual", "KHR_texture_basisu", "EXT_texture_webp",
        "EXT_texture_avif",      "MSFT_texture_dds",    "KHR_xmp_json_ld",    "KHR_xmp",
        "KHR_node_visibility"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool pelti_write_extension_is_metadata(const char *name)
{
    return strcmp(name, "KHR_xmp_json_ld") == 0 || strcmp(name, "KHR_xmp") == 0;
}

// They say how the source stored what the output stores plainly: nothing is lost with them.
static bool is_storage_only(const char *name)
{
    return strcmp(name, "EXT_meshopt_compression") == 0 || strcmp(name, "KHR_meshopt_compression") == 0 ||
           strcmp(name, "KHR_mesh_quantization") == 0;
}

static void note(gltf_writer *writer, json_t *names, const char *name)
{
    if (!json_object_get(names, name)) {
        pelti_write_put(writer, names, name, json_true());
    }
}

void pelti_write_use_extension(gltf_writer *writer, const char *name)
{
    note(writer, writer->used, name);
}

static void warn_dropped(gltf_writer *writer, const char *name, const char *where)
{
    if (is_storage_only(name) || json_object_get(writer->dropped, name)) {
        return;
    }
    note(writer, writer->dropped, name);
    pelti_warn(writer->log, where, "extension %s is left out: it may refer to what a posed file does not have",
               pelti_gltf_quote(name).text);
}

static void filter_object(gltf_writer *writer, json_t *object, const char *where)
{
    json_t *extensions = json_object_get(object, "extensions");
    if (!extensions) {
        return;
    }
    if (json_is_object(extensions)) {
        const char *name = NULL;
        json_t *value = NULL;
        void *next = NULL;
        json_object_foreach_safe(extensions, next, name, value)
        {
            if (pelti_write_extension_passes(name) && json_is_object(value)) {
                note(writer, writer->used, name);
            } else {
                warn_dropped(writer, name, where);
                json_object_del(extensions, name);
            }
        }
    }
    if (json_object_size(extensions) == 0) {
        json_object_del(object, "extensions");
    }
}

// Containers still to visit. Borrowed: each lives as long as the value under the filter.
typedef struct work_list {
    json_t **items;
    uint64_t count;
    uint64_t capacity;
} work_list;

static bool push(const gltf_writer *writer, work_list *list, json_t *value)
{
    if (!json_is_object(value) && !json_is_array(value)) {
        return true;
    }
    if (list->count == list->capacity) {
        uint64_t capacity = list->capacity ? list->capacity * 2 : 64;
        void *grown = pelti_resize(writer->allocator, list->items, (size_t)(list->capacity * sizeof *list->items),
                                   (size_t)(capacity * sizeof *list->items));
        if (!grown) {
            return false;
        }
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->count++] = value;
    return true;
}

static bool push_members(const gltf_writer *writer, work_list *list, json_t *value)
{
    if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            if (!push(writer, list, json_array_get(value, i))) {
                return false;
            }
        }
        return true;
    }
    const char *key = NULL;
    json_t *member = NULL;
    json_object_foreach(value, key, member)
    {
        // extras and XMP packets are somebody else's JSON: what is called "extensions" there is not glTF's.
        if (strcmp(key, "extras") != 0 && !pelti_write_extension_is_metadata(key) && !push(writer, list, member)) {
            return false;
        }
    }
    return true;
}

pelt_result pelti_write_filter(gltf_writer *writer, json_t *value, const char *where, pelt_error *error)
{
    work_list list = {0};
    bool ok = push(writer, &list, value);
    while (ok && list.count > 0) {
        json_t *item = list.items[--list.count];
        if (json_is_object(item)) {
            filter_object(writer, item, where);
        }
        ok = push_members(writer, &list, item);
    }
    pelti_release(writer->allocator, list.items, list.capacity, sizeof *list.items);
    return ok ? pelti_write_status(writer, error) : pelti_write_out_of_memory(error);
}

pelt_result pelti_write_extensions(gltf_writer *writer, json_t *object, const json_t *source, const char *where,
                                   pelt_error *error)
{
    json_t *extensions = json_object_get(source, "extensions");
    if (!extensions) {
        return PELT_OK;
    }
    json_t *holder = json_object();
    pelti_write_put(writer, holder, "extensions", json_deep_copy(extensions));
    pelt_result result = pelti_write_status(writer, error);
    if (result == PELT_OK) {
        result = pelti_write_filter(writer, holder, where, error);
    }
    if (result == PELT_OK) {
        pelti_write_share(writer, object, holder, "extensions");
    }
    json_decref(holder);
    return result;
}

pelt_result pelti_write_declare_extensions(gltf_writer *writer, json_t *root, pelt_error *error)
{
    const json_t *source_used = json_object_get(writer->gltf->root, "extensionsUsed");
    const json_t *source_required = json_object_get(writer->gltf->root, "extensionsRequired");
    json_t *must = json_object(); // names that the output requires, were they used
    json_t *used = json_array();
    json_t *required = json_array();
    size_t i = 0;
    json_t *value = NULL;
    json_array_foreach(source_used, i, value)
    {
        const char *declared = json_string_value(value);
        if (declared && !json_object_get(writer->used, declared) && !pelti_write_extension_passes(declared)) {
            warn_dropped(writer, declared, pelti_gltf_path("/extensionsUsed/%zu", i).text);
        }
    }
    note(writer, must, "KHR_mesh_quantization");
    json_array_foreach(source_required, i, value)
    {
        if (json_is_string(value)) {
            note(writer, must, json_string_value(value));
        }
    }
    const char *name = NULL;
    json_object_foreach(writer->used, name, value)
    {
        pelti_write_append(writer, used, json_string(name));
        if (json_object_get(must, name)) {
            pelti_write_append(writer, required, json_string(name));
        }
    }
    if (json_array_size(used) > 0) {
        pelti_write_put(writer, root, "extensionsUsed", json_incref(used));
    }
    if (json_array_size(required) > 0) {
        pelti_write_put(writer, root, "extensionsRequired", json_incref(required));
    }
    json_decref(must);
    json_decref(used);
    json_decref(required);
    return pelti_write_status(writer, error);
}

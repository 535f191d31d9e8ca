// SPDX-License-Identifier: MIT
// Judges extensionsRequired, and says which used extensions posing passes over.
#include "gltf_internal.h"

// Extensions that are read, or that change no vertex and so pass through. Every KHR_materials_* is one of the latter.
static const char *const known[] = {
    "KHR_mesh_quantization",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
    "KHR_texture_transform",
    "KHR_texture_basisu",
    "KHR_lights_punctual",
    "KHR_xmp_json_ld",
    "KHR_xmp",
    "KHR_techniques_webgl",
    "KHR_node_visibility",
    "KHR_node_selectability",
    "KHR_node_hoverability",
    "EXT_texture_webp",
    "EXT_texture_avif",
    "EXT_texture_astc",
    "EXT_lights_ies",
    "EXT_lights_image_based",
    "EXT_mesh_manifold",
    "MSFT_texture_dds",
    "MSFT_packing_normalRoughnessMetallic",
    "MSFT_packing_occlusionRoughnessMetallic",
    "NV_materials_mdl",
    "ADOBE_materials_clearcoat_specular",
    "ADOBE_materials_clearcoat_tint",
    "ADOBE_materials_thin_transparency",
};

// What removes an extension without changing the model. gltf-transform decodes Draco whenever it reads a file.
static const struct {
    const char *name;
    const char *hint;
} remedies[] = {
    {"KHR_draco_mesh_compression", "decode it first: gltf-transform copy in.glb out.glb"},
    {"EXT_mesh_gpu_instancing", "expand the instances first: gltf-transform uninstance in.glb out.glb"},
    {"KHR_animation_pointer", "export the file without pointer animations, or drop the extension from "
                              "extensionsRequired to have them ignored"},
};

const char *pelti_gltf_extension_remedy(const char *name)
{
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++) {
        if (strcmp(name, remedies[i].name) == 0) {
            return remedies[i].hint;
        }
    }
    return "export the file without it, or remove it with a glTF tool that knows it";
}

static bool is_known(const char *name)
{
    static const char prefix[] = "KHR_materials_";
    if (strncmp(name, prefix, sizeof prefix - 1) == 0 && name[sizeof prefix - 1] != '\0') {
        return true;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i]) == 0) {
            return true;
        }
    }
    return false;
}

static pelt_result fail_unknown(const char *name, const char *where, pelt_error *error)
{
    pelti_fail(error, PELT_ERROR_UNSUPPORTED, where, "extensionsRequired names %s, which is not supported",
               pelti_gltf_quote(name).text);
    pelti_hint(error, "%s", pelti_gltf_extension_remedy(name));
    return PELT_ERROR_UNSUPPORTED;
}

// Adds the names of one list, each once: seen holds those that were added.
static pelt_result collect(pelt_gltf *gltf, const char *key, json_t *seen, json_t *required, pelt_error *error)
{
    const json_t *list = json_object_get(gltf->root, key);
    if (!list) {
        return PELT_OK;
    }
    if (!json_is_array(list)) {
        return pelti_fail(error, PELT_ERROR_INVALID, pelti_gltf_path("/%s", key).text, "%s is not an array", key);
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        gltf_path where = pelti_gltf_path("/%s/%zu", key, i);
        if (!json_is_string(item)) {
            return pelti_fail(error, PELT_ERROR_INVALID, where.text, "%s: entry %zu is not a string", key, i);
        }
        const char *name = json_string_value(item);
        bool failed = false;
        if (!json_object_get(seen, name)) {
            failed = json_object_set(seen, name, item) || json_array_append(gltf->extension_names, item);
        }
        if (!failed && required) {
            failed = json_object_set(required, name, item) != 0;
        }
        if (failed) {
            return pelti_fail(error, PELT_ERROR_MEMORY, where.text, "out of memory while reading %s", key);
        }
        if (required && !is_known(name)) {
            return fail_unknown(name, where.text, error);
        }
    }
    return PELT_OK;
}

static void warn_of_instancing(const pelt_gltf *gltf)
{
    static const char name[] = "EXT_mesh_gpu_instancing";
    if (!pelti_gltf_uses_extension(gltf, name)) {
        return;
    }
    const json_t *nodes = json_object_get(gltf->root, "nodes");
    size_t first = 0;
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        if (pelti_gltf_extension(json_array_get(nodes, i), name)) {
            first = count == 0 ? i : first;
            count++;
        }
    }
    if (count > 0) {
        pelti_warn(&gltf->options.log, pelti_gltf_path("/nodes/%zu/extensions/%s", first, name).text,
                   "%s of %zu node%s, node %zu the first, is ignored: one copy of each mesh is posed", name, count,
                   count == 1 ? "" : "s", first);
    }
}

bool pelti_gltf_uses_extension(const pelt_gltf *gltf, const char *name)
{
    for (size_t i = 0; i < json_array_size(gltf->extension_names); i++) {
        if (strcmp(json_string_value(json_array_get(gltf->extension_names, i)), name) == 0) {
            return true;
        }
    }
    return false;
}

pelt_result pelti_gltf_check_extensions(pelt_gltf *gltf, pelt_error *error)
{
    gltf->extension_names = json_array();
    gltf->required_extensions = json_object();
    json_t *seen = json_object();
    pelt_result result = PELT_OK;
    if (!gltf->extension_names || !gltf->required_extensions || !seen) {
        result = pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory while reading extensionsUsed");
    }
    if (!result) {
        result = collect(gltf, "extensionsUsed", seen, NULL, error);
    }
    if (!result) {
        result = collect(gltf, "extensionsRequired", seen, gltf->required_extensions, error);
    }
    json_decref(seen);
    if (!result) {
        warn_of_instancing(gltf);
    }
    return result;
}

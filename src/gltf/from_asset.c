// SPDX-License-Identifier: MIT
// Makes a document of an asset in memory, with what the posed-file writer asks of a source: nodes and meshes with their
// names, indices, and the attributes that posing leaves alone. Buffers are the asset's own arrays.
#include "gltf_internal.h"

typedef struct from_asset {
    pelt_gltf *gltf;
    const pelt_asset_data *asset;
    bool out_of_json; // jansson could not allocate; checked at the end
    json_t *accessors;
    json_t *views;
    json_t *buffers;
} from_asset;

static void put(from_asset *f, json_t *object, const char *key, json_t *value)
{
    f->out_of_json = json_object_set_new(object, key, value) != 0 || f->out_of_json;
}

static void append(from_asset *f, json_t *array, json_t *value)
{
    f->out_of_json = json_array_append_new(array, value) != 0 || f->out_of_json;
}

static pelt_result out_of_memory(pelt_error *error)
{
    return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory while the asset becomes a document");
}

static void put_index(from_asset *f, json_t *object, const char *key, uint64_t value)
{
    put(f, object, key, json_integer((json_int_t)value));
}

// The text as a JSON string, or NULL where it is not UTF-8. An asset from elsewhere may hold any bytes.
static json_t *text_value(from_asset *f, const char *text)
{
    json_error_t reason = {0}; // left as it is where memory runs out
    json_t *value = json_pack_ex(&reason, 0, "s", text);
    if (!value && json_error_code(&reason) != json_error_invalid_utf8) {
        f->out_of_json = true;
    }
    return value;
}

static void put_name(from_asset *f, json_t *object, const char *name, const char *where)
{
    json_t *value = name[0] ? text_value(f, name) : NULL;
    if (value) {
        put(f, object, "name", value);
    } else if (name[0] && !f->out_of_json) {
        pelti_warn(&f->gltf->options.log, where, "the name is not UTF-8 and is left out");
    }
}

// ---- accessors: each has a view and a buffer of its own.

typedef struct elements {
    gltf_bytes bytes;
    pelt_component component;
    uint32_t component_count;
    bool normalized;
    uint32_t count;
} elements;

static uint32_t add_accessor(from_asset *f, const elements *e)
{
    static const char *const types[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
    uint32_t index = f->gltf->buffer_count++;
    f->gltf->buffers[index] = e->bytes;
    json_t *buffer = json_object();
    put_index(f, buffer, "byteLength", e->bytes.size);
    append(f, f->buffers, buffer);
    json_t *view = json_object();
    put_index(f, view, "buffer", index);
    put_index(f, view, "byteLength", e->bytes.size);
    append(f, f->views, view);
    json_t *accessor = json_object();
    put_index(f, accessor, "bufferView", index);
    put_index(f, accessor, "componentType", (uint64_t)e->component);
    put_index(f, accessor, "count", e->count);
    put(f, accessor, "type", json_string(types[e->component_count - 1]));
    // The flag means nothing on floats and 32-bit integers, and may not stand there.
    if (e->normalized && pelt_component_size(e->component) < 4) {
        put(f, accessor, "normalized", json_true());
    }
    append(f, f->accessors, accessor);
    return index;
}

static void add_attributes(from_asset *f, const pelt_primitive *p, json_t *attributes, const char *where)
{
    for (uint32_t i = 0; i < p->attribute_count; i++) {
        const pelt_attribute *a = &p->attributes[i];
        json_t *name = text_value(f, a->name);
        if (name && !json_object_get(attributes, a->name)) {
            elements e = {.component = a->component,
                          .component_count = a->component_count,
                          .normalized = a->normalized,
                          .count = p->vertex_count};
            e.bytes = (gltf_bytes){.data = a->data, .size = (uint64_t)p->vertex_count * a->stride};
            put_index(f, attributes, a->name, add_accessor(f, &e));
        } else if (!f->out_of_json) {
            pelti_warn(&f->gltf->options.log, where, "attribute %u is left out: its name is %s", i,
                       name ? "there already" : "not UTF-8");
        }
        json_decref(name);
    }
}

// 16 bits where they do: the posed file keeps the width. 65,535 would mean "restart".
static pelt_result add_indices(from_asset *f, const pelt_primitive *p, json_t *primitive, const char *where,
                               pelt_error *error)
{
    elements e = {.component = PELT_COMPONENT_U32, .component_count = 1, .count = p->index_count};
    if (p->vertex_count <= UINT16_MAX) {
        pelt_result result = pelti_gltf_allocate_bytes(f->gltf, (uint64_t)p->index_count * sizeof(uint16_t),
                                                       "the indices", where, &e.bytes, error);
        if (result != PELT_OK) {
            return result;
        }
        uint8_t *out = (uint8_t *)(uintptr_t)e.bytes.data;
        for (uint32_t i = 0; i < p->index_count; i++) {
            uint16_t index = (uint16_t)p->indices[i];
            memcpy(out + (size_t)i * sizeof index, &index, sizeof index);
        }
        e.component = PELT_COMPONENT_U16;
    } else {
        e.bytes =
            (gltf_bytes){.data = (const uint8_t *)p->indices, .size = (uint64_t)p->index_count * sizeof(uint32_t)};
    }
    put_index(f, primitive, "indices", add_accessor(f, &e));
    return PELT_OK;
}

// ---- meshes and nodes

static pelt_result add_primitive(from_asset *f, const pelt_primitive *p, json_t *primitives, const char *where,
                                 pelt_error *error)
{
    json_t *primitive = json_object();
    json_t *attributes = json_object();
    append(f, primitives, primitive);
    put(f, primitive, "attributes", attributes);
    put_index(f, primitive, "mode", (uint64_t)p->topology);
    // glTF has no empty accessors; the writer leaves such a primitive out.
    if (f->out_of_json || p->vertex_count == 0) {
        return PELT_OK;
    }
    add_attributes(f, p, attributes, where);
    return p->indices && p->index_count > 0 ? add_indices(f, p, primitive, where, error) : PELT_OK;
}

static pelt_result add_meshes(from_asset *f, json_t *meshes, pelt_error *error)
{
    for (uint32_t m = 0; m < f->asset->mesh_count && !f->out_of_json; m++) {
        const pelt_mesh *source = &f->asset->meshes[m];
        json_t *mesh = json_object();
        json_t *primitives = json_array();
        append(f, meshes, mesh);
        put(f, mesh, "primitives", primitives);
        put_name(f, mesh, source->name, pelti_gltf_path("/meshes/%u", m).text);
        for (uint32_t i = 0; i < source->primitive_count && !f->out_of_json; i++) {
            gltf_path where = pelti_gltf_path("/meshes/%u/primitives/%u", m, i);
            pelt_result result = add_primitive(f, &source->primitives[i], primitives, where.text, error);
            if (result != PELT_OK) {
                return result;
            }
        }
    }
    return PELT_OK;
}

static void add_nodes(from_asset *f, json_t *nodes)
{
    for (uint32_t i = 0; i < f->asset->node_count && !f->out_of_json; i++) {
        const pelt_node *source = &f->asset->nodes[f->asset->node_from_file[i]];
        json_t *node = json_object();
        append(f, nodes, node);
        put_name(f, node, source->name, pelti_gltf_path("/nodes/%u", i).text);
        if (source->mesh != PELT_NONE) {
            put_index(f, node, "mesh", source->mesh);
        }
    }
}

// One buffer for each attribute and index list. False where there are too many.
static bool count_buffers(const pelt_asset_data *asset, uint64_t *out)
{
    for (uint32_t m = 0; m < asset->mesh_count; m++) {
        for (uint32_t i = 0; i < asset->meshes[m].primitive_count; i++) {
            *out += 1 + (uint64_t)asset->meshes[m].primitives[i].attribute_count;
        }
    }
    return *out < PELT_NONE;
}

static pelt_result make_root(from_asset *f, pelt_error *error)
{
    json_t *meshes = json_array();
    json_t *nodes = json_array();
    json_t *root = json_object();
    f->gltf->root = root;
    f->accessors = json_array();
    f->views = json_array();
    f->buffers = json_array();
    put(f, root, "asset", json_pack("{s:s}", "version", "2.0"));
    put(f, root, "meshes", meshes);
    put(f, root, "nodes", nodes);
    put(f, root, "accessors", f->accessors);
    put(f, root, "bufferViews", f->views);
    put(f, root, "buffers", f->buffers);
    f->gltf->extension_names = json_array();
    f->gltf->required_extensions = json_object();
    if (f->out_of_json || !f->gltf->extension_names || !f->gltf->required_extensions) {
        return out_of_memory(error);
    }
    pelt_result result = add_meshes(f, meshes, error);
    if (result != PELT_OK) {
        return result;
    }
    add_nodes(f, nodes);
    return f->out_of_json ? out_of_memory(error) : PELT_OK;
}

pelt_result pelt_gltf_open_asset(const pelt_asset *asset, const pelt_gltf_options *options, pelt_gltf **out_gltf,
                                 pelt_error *error)
{
    pelti_error_clear(error);
    if (out_gltf) {
        *out_gltf = NULL;
    }
    if (!asset || !out_gltf) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "asset and out_gltf must not be NULL");
    }
    pelt_gltf_options resolved = pelti_gltf_resolve_options(options);
    pelt_gltf *gltf = pelti_allocate(&resolved.allocator, 1, sizeof *gltf);
    if (!gltf) {
        return out_of_memory(error);
    }
    *gltf = (pelt_gltf){.options = resolved, .from_asset = true};
    from_asset f = {.gltf = gltf, .asset = pelt_asset_get(asset)};
    uint64_t buffer_count = 1;
    pelt_result result = PELT_OK;
    if (!count_buffers(f.asset, &buffer_count)) {
        result = pelti_fail(error, PELT_ERROR_LIMIT, "", "the asset has more attributes than a document can hold");
    } else {
        gltf->buffers = pelti_allocate(&resolved.allocator, buffer_count, sizeof *gltf->buffers);
        gltf->buffer_capacity = (uint32_t)buffer_count;
        result = gltf->buffers ? make_root(&f, error) : out_of_memory(error);
        gltf->view_count = gltf->buffer_count;
    }
    if (result != PELT_OK) {
        pelt_gltf_close(gltf);
        return result;
    }
    *out_gltf = gltf;
    return PELT_OK;
}

// SPDX-License-Identifier: MIT
// Writes the posed file: checks what the caller hands in, runs the steps that plan the output, and writes the
// container. Nothing is written before every size is known.
#include "write_internal.h"

#include <ctype.h>

// 17 digits bring every number of the source, and every float, back exactly.
#define WRITE_JSON_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(17))

void pelti_write_put(gltf_writer *writer, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) {
        writer->out_of_json = true;
    }
}

void pelti_write_append(gltf_writer *writer, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0) {
        writer->out_of_json = true;
    }
}

void pelti_write_share(gltf_writer *writer, json_t *object, const json_t *source, const char *key)
{
    json_t *value = json_object_get(source, key);
    if (value) {
        pelti_write_put(writer, object, key, json_incref(value));
    }
}

pelt_result pelti_write_out_of_memory(pelt_error *error)
{
    return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory while the posed file is made");
}

pelt_result pelti_write_status(const gltf_writer *writer, pelt_error *error)
{
    return writer->out_of_json ? pelti_write_out_of_memory(error) : PELT_OK;
}

// ---- arguments

static pelt_result refuse(pelt_error *error, const char *reason)
{
    return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "%s", reason);
}

static bool primitives_match(const pelt_asset_data *asset, const pelt_gltf_posed *posed)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < asset->instance_count; i++) {
        const pelt_mesh *mesh = &asset->meshes[asset->instances[i].mesh];
        for (uint32_t p = 0; p < mesh->primitive_count; p++, next++) {
            if (next >= posed->primitive_count) {
                return false;
            }
            const pelt_gltf_posed_primitive *one = &posed->primitives[next];
            bool has_vertices = one->positions && one->box;
            if (one->instance != i || one->primitive != p || (mesh->primitives[p].vertex_count > 0 && !has_vertices)) {
                return false;
            }
        }
    }
    return next == posed->primitive_count;
}

static pelt_result check_arguments(pelt_gltf *gltf, const pelt_asset *asset, const pelt_gltf_posed *posed,
                                   pelt_error *error)
{
    if (!gltf || !asset || !posed || !posed->pose) {
        return refuse(error, "gltf, asset, posed and its pose must not be NULL");
    }
    if (!posed->json.write || (posed->buffer_uri && (!posed->buffer.write || posed->buffer_uri[0] == '\0'))) {
        return refuse(error, "a sink or the buffer's URI is missing");
    }
    if (posed->space != PELT_GLTF_SPACE_WORLD && posed->space != PELT_GLTF_SPACE_MESH) {
        return refuse(error, "space is neither world nor mesh");
    }
    if (posed->primitive_count > 0 && !posed->primitives) {
        return refuse(error, "primitives must not be NULL");
    }
    const pelt_asset_data *data = pelt_asset_get(asset);
    if (pelt_pose_asset(posed->pose) != asset ||
        json_array_size(json_object_get(gltf->root, "nodes")) != data->node_count ||
        json_array_size(json_object_get(gltf->root, "meshes")) != data->mesh_count) {
        return refuse(error, "asset, pose and file do not belong together");
    }
    if (!primitives_match(data, posed)) {
        return refuse(error, "primitives must be all primitives of all instances, in order, with positions and boxes");
    }
    return PELT_OK;
}

// ---- life of the writer

static uint32_t *allocate_none(const gltf_writer *writer, uint64_t count)
{
    uint32_t *values = pelti_allocate(writer->allocator, count, sizeof *values);
    if (values) {
        memset(values, 0xFF, (size_t)count * sizeof *values); // PELT_NONE
    }
    return values;
}

static pelt_result writer_init(gltf_writer *writer, pelt_error *error)
{
    json_t **const parts[] = {&writer->nodes,  &writer->roots,     &writer->meshes,
                              &writer->images, &writer->accessors, &writer->views};
    json_t *accessors = NULL;
    pelt_result result = pelti_gltf_array(writer->gltf, "accessors", &accessors, &writer->source_accessor_count, error);
    if (result != PELT_OK) {
        return result;
    }
    bool ok = true;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        *parts[i] = json_array();
        ok = ok && *parts[i];
    }
    writer->used = json_object();
    writer->dropped = json_object();
    writer->instance_mesh = allocate_none(writer, (uint64_t)writer->asset->instance_count + 1);
    writer->streams =
        pelti_allocate(writer->allocator, (uint64_t)writer->source_accessor_count + 1, sizeof *writer->streams);
    ok = ok && writer->used && writer->dropped && writer->instance_mesh && writer->streams;
    for (uint32_t i = 0; writer->streams && i < writer->source_accessor_count; i++) {
        writer->streams[i].instance = PELT_NONE;
    }
    for (int i = 0; i < WRITE_ROLE_COUNT; i++) {
        writer->shared[i] = allocate_none(writer, (uint64_t)writer->source_accessor_count + 1);
        ok = ok && writer->shared[i];
    }
    return ok ? PELT_OK : pelti_write_out_of_memory(error);
}

static void writer_finish(gltf_writer *writer)
{
    json_decref(writer->nodes);
    json_decref(writer->roots);
    json_decref(writer->meshes);
    json_decref(writer->images);
    json_decref(writer->accessors);
    json_decref(writer->views);
    json_decref(writer->used);
    json_decref(writer->dropped);
    pelti_release(writer->allocator, writer->instance_mesh, (uint64_t)writer->asset->instance_count + 1,
                  sizeof *writer->instance_mesh);
    pelti_release(writer->allocator, writer->streams, (uint64_t)writer->source_accessor_count + 1,
                  sizeof *writer->streams);
    for (int i = 0; i < WRITE_ROLE_COUNT; i++) {
        pelti_release(writer->allocator, writer->shared[i], (uint64_t)writer->source_accessor_count + 1,
                      sizeof *writer->shared[i]);
    }
    pelti_write_release_pieces(writer);
}

// ---- the root object

static pelt_result put_asset(gltf_writer *writer, json_t *root, pelt_error *error)
{
    const json_t *source = json_object_get(writer->gltf->root, "asset");
    json_t *asset = json_object();
    char own[64];
    snprintf(own, sizeof own, "Pelt %s", pelt_version());
    const char *generator = writer->posed->generator ? writer->posed->generator : own;
    pelti_write_put(writer, asset, "version", json_string("2.0"));
    json_error_t reason = {0}; // left as it is where memory runs out
    json_t *text = json_pack_ex(&reason, 0, "s", generator);
    if (!text && json_error_code(&reason) == json_error_invalid_utf8) {
        json_decref(asset);
        return refuse(error, "the generator's name is not UTF-8");
    }
    pelti_write_put(writer, asset, "generator", text);
    pelti_write_share(writer, asset, source, "copyright");
    pelti_write_share(writer, asset, source, "extras");
    pelt_result result = pelti_write_extensions(writer, asset, source, "/asset", error);
    pelti_write_put(writer, root, "asset", asset);
    return result;
}

static pelt_result put_scene(gltf_writer *writer, json_t *root, pelt_error *error)
{
    json_t *sources = NULL;
    uint32_t count = 0;
    uint32_t index = PELT_NONE;
    json_t *scene = json_object();
    pelt_result result = pelti_gltf_array(writer->gltf, "scenes", &sources, &count, error);
    if (result == PELT_OK) {
        result = pelti_gltf_index(writer->gltf->root, "scene", "", false, count, "scene", &index, error);
    }
    if (result == PELT_OK && index != PELT_NONE) {
        const json_t *source = json_array_get(sources, index);
        pelti_write_share(writer, scene, source, "name");
        pelti_write_share(writer, scene, source, "extras");
        result = pelti_write_extensions(writer, scene, source, pelti_gltf_path("/scenes/%u", index).text, error);
    }
    if (json_array_size(writer->roots) > 0) {
        pelti_write_put(writer, scene, "nodes", json_incref(writer->roots));
    }
    json_t *scenes = json_array();
    pelti_write_append(writer, scenes, scene);
    pelti_write_put(writer, root, "scene", json_integer(0));
    pelti_write_put(writer, root, "scenes", scenes);
    return result;
}

// glTF has no empty arrays.
static void put_array(gltf_writer *writer, json_t *root, const char *key, json_t *array)
{
    if (json_array_size(array) > 0) {
        pelti_write_put(writer, root, key, json_incref(array));
    }
}

// Arrays whose indices do not change.
static pelt_result put_source_arrays(gltf_writer *writer, json_t *root, pelt_error *error)
{
    static const char *const keys[] = {"cameras", "materials", "textures", "samplers"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        json_t *array = NULL;
        uint32_t count = 0;
        pelt_result result = pelti_gltf_array(writer->gltf, keys[i], &array, &count, error);
        if (result != PELT_OK) {
            return result;
        }
        if (count == 0) {
            continue;
        }
        json_t *copy = json_deep_copy(array);
        pelti_write_put(writer, root, keys[i], copy);
        result = pelti_write_status(writer, error);
        if (result == PELT_OK) {
            result = pelti_write_filter(writer, copy, pelti_gltf_path("/%s", keys[i]).text, error);
        }
        if (result != PELT_OK) {
            return result;
        }
    }
    return PELT_OK;
}

// What RFC 3986 lets stand in a path stays, escapes that are already there too; every other byte is escaped.
static json_t *encoded_uri(const gltf_writer *writer, const char *uri)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    static const char digits[] = "0123456789ABCDEF";
    uint64_t capacity = (uint64_t)strlen(uri) * 3 + 1;
    char *text = pelti_allocate(writer->allocator, capacity, 1);
    if (!text) {
        return NULL;
    }
    char *end = text;
    for (const char *c = uri; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        bool escape = c[0] == '%' && isxdigit((unsigned char)c[1]) && isxdigit((unsigned char)c[2]);
        if (escape || strchr(plain, *c)) {
            *end++ = *c;
        } else {
            *end++ = '%';
            *end++ = digits[byte >> 4];
            *end++ = digits[byte & 15];
        }
    }
    json_t *value = json_stringn(text, (size_t)(end - text));
    pelti_release(writer->allocator, text, capacity, 1);
    return value;
}

static void put_buffer(gltf_writer *writer, json_t *root)
{
    if (writer->buffer_size == 0) {
        return; // glTF has no empty buffers
    }
    json_t *buffer = json_object();
    json_t *buffers = json_array();
    if (writer->posed->buffer_uri) {
        pelti_write_put(writer, buffer, "uri", encoded_uri(writer, writer->posed->buffer_uri));
    }
    pelti_write_put(writer, buffer, "byteLength", json_integer((json_int_t)writer->buffer_size));
    pelti_write_append(writer, buffers, buffer);
    pelti_write_put(writer, root, "buffers", buffers);
}

static pelt_result make_root(gltf_writer *writer, json_t *root, pelt_error *error)
{
    pelt_result result = put_asset(writer, root, error);
    if (result == PELT_OK) {
        result = pelti_write_meshes(writer, error);
    }
    if (result == PELT_OK) {
        result = pelti_write_nodes(writer, error);
    }
    if (result == PELT_OK) {
        result = pelti_write_images(writer, error);
    }
    if (result == PELT_OK) {
        result = put_scene(writer, root, error);
    }
    if (result == PELT_OK) {
        result = put_source_arrays(writer, root, error);
    }
    if (result != PELT_OK) {
        return result;
    }
    put_array(writer, root, "nodes", writer->nodes);
    put_array(writer, root, "meshes", writer->meshes);
    put_array(writer, root, "images", writer->images);
    put_array(writer, root, "accessors", writer->accessors);
    put_array(writer, root, "bufferViews", writer->views);
    put_buffer(writer, root);
    pelti_write_share(writer, root, writer->gltf->root, "extras");
    result = pelti_write_extensions(writer, root, writer->gltf->root, "", error);
    if (result == PELT_OK) {
        result = pelti_write_declare_extensions(writer, root, error);
    }
    return result == PELT_OK ? pelti_write_status(writer, error) : result;
}

// ---- the container

static void store_u32(uint8_t *out, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        out[i] = (uint8_t)(value >> (8 * i));
    }
}

static pelt_result send(const pelt_gltf_sink *sink, const void *data, size_t size, pelt_error *error)
{
    if (!sink->write(sink->user, data, size)) {
        return pelti_fail(error, PELT_ERROR_IO, "", "the posed file cannot be written");
    }
    return PELT_OK;
}

// GLB header, JSON chunk (already padded with spaces) and BIN chunk. Source: glTF 2.0 specification, 4.4.
static pelt_result write_glb(gltf_writer *writer, const char *json, uint64_t json_size, pelt_error *error)
{
    const pelt_gltf_sink *sink = &writer->posed->json;
    uint64_t total = 12 + 8 + json_size + (writer->buffer_size > 0 ? 8 + writer->buffer_size : 0);
    if (total > UINT32_MAX) {
        pelt_result result = pelti_fail(error, PELT_ERROR_LIMIT, "",
                                        "the posed file would take %llu bytes, and a .glb holds at most %lu",
                                        (unsigned long long)total, (unsigned long)UINT32_MAX);
        pelti_hint(error, "write a .gltf with a buffer of its own instead");
        return result;
    }
    uint8_t header[20];
    memcpy(header, "glTF", 4);
    store_u32(header + 4, 2);
    store_u32(header + 8, (uint32_t)total);
    store_u32(header + 12, (uint32_t)json_size);
    memcpy(header + 16, "JSON", 4);
    pelt_result result = send(sink, header, sizeof header, error);
    if (result == PELT_OK) {
        result = send(sink, json, (size_t)json_size, error);
    }
    if (result != PELT_OK || writer->buffer_size == 0) {
        return result;
    }
    uint8_t chunk[8];
    store_u32(chunk, (uint32_t)writer->buffer_size);
    memcpy(chunk + 4, "BIN\0", 4);
    result = send(sink, chunk, sizeof chunk, error);
    return result == PELT_OK ? pelti_write_stream(writer, sink, error) : result;
}

static pelt_result write_gltf(gltf_writer *writer, const char *json, uint64_t json_size, pelt_error *error)
{
    pelt_result result = send(&writer->posed->json, json, (size_t)json_size, error);
    if (result == PELT_OK && writer->buffer_size > 0) {
        result = pelti_write_stream(writer, &writer->posed->buffer, error);
    }
    return result;
}

static pelt_result write_container(gltf_writer *writer, const json_t *root, pelt_error *error)
{
    size_t json_size = json_dumpb(root, NULL, 0, WRITE_JSON_FLAGS);
    uint64_t padded_size = ((uint64_t)json_size + 3) & ~UINT64_C(3);
    char *json = json_size > 0 ? pelti_allocate(writer->allocator, padded_size, 1) : NULL;
    if (!json) {
        return pelti_write_out_of_memory(error);
    }
    memset(json + json_size, ' ', (size_t)(padded_size - json_size));
    pelt_result result = PELT_OK;
    if (json_dumpb(root, json, json_size, WRITE_JSON_FLAGS) != json_size) {
        result = pelti_write_out_of_memory(error);
    } else if (writer->posed->buffer_uri) {
        result = write_gltf(writer, json, json_size, error);
    } else {
        result = write_glb(writer, json, padded_size, error);
    }
    pelti_release(writer->allocator, json, padded_size, 1);
    return result;
}

pelt_result pelt_gltf_write_posed(pelt_gltf *gltf, const pelt_asset *asset, const pelt_gltf_posed *posed,
                                  pelt_error *error)
{
    pelti_error_clear(error);
    pelt_result result = check_arguments(gltf, asset, posed, error);
    if (result != PELT_OK) {
        return result;
    }
    gltf_writer writer = {.gltf = gltf,
                          .allocator = &gltf->options.allocator,
                          .log = &gltf->options.log,
                          .asset = pelt_asset_get(asset),
                          .posed = posed};
    json_t *root = json_object();
    result = root ? writer_init(&writer, error) : pelti_write_out_of_memory(error);
    if (result == PELT_OK) {
        result = make_root(&writer, root, error);
    }
    if (result == PELT_OK) {
        result = write_container(&writer, root, error);
    }
    json_decref(root);
    writer_finish(&writer);
    return result;
}

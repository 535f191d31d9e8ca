// SPDX-License-Identifier: MIT
// Brings images into the output's buffer: those in buffer views, in data URIs and in files beside the source. What
// cannot be read or recognised keeps its URI, with a warning.
#include "write_internal.h"

#include <ctype.h>

// True where text stands at offset in data.
static bool has_bytes(const gltf_bytes *bytes, uint64_t offset, const char *text, size_t length)
{
    return bytes->size >= offset + length && memcmp(bytes->data + offset, text, length) == 0;
}

// AVIF is an ISO base media file: an "ftyp" box lists its brands, the major one first.
static bool is_avif(const gltf_bytes *bytes)
{
    if (!has_bytes(bytes, 4, "ftyp", 4)) {
        return false;
    }
    uint64_t end = (uint64_t)bytes->data[0] << 24 | (uint64_t)bytes->data[1] << 16 | (uint64_t)bytes->data[2] << 8 |
                   (uint64_t)bytes->data[3];
    end = end < bytes->size ? end : bytes->size;
    for (uint64_t offset = 8; offset + 4 <= end; offset += 4) {
        if (has_bytes(bytes, offset, "avif", 4) || has_bytes(bytes, offset, "avis", 4)) {
            return true;
        }
    }
    return false;
}

static const char *type_of_bytes(const gltf_bytes *bytes)
{
    if (has_bytes(bytes, 0, "\x89PNG\r\n\x1A\n", 8)) {
        return "image/png";
    }
    if (has_bytes(bytes, 0, "\xFF\xD8\xFF", 3)) {
        return "image/jpeg";
    }
    if (has_bytes(bytes, 0, "RIFF", 4) && has_bytes(bytes, 8, "WEBP", 4)) {
        return "image/webp";
    }
    if (has_bytes(bytes, 0, "\xABKTX 20\xBB\r\n\x1A\n", 12)) {
        return "image/ktx2";
    }
    if (has_bytes(bytes, 0, "DDS ", 4)) {
        return "image/vnd-ms.dds";
    }
    return is_avif(bytes) ? "image/avif" : NULL;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text);
    size_t tail = strlen(ending);
    if (length < tail) {
        return false;
    }
    for (size_t i = 0; i < tail; i++) {
        if (tolower((unsigned char)text[length - tail + i]) != ending[i]) {
            return false;
        }
    }
    return true;
}

static const char *type_of_name(const char *uri)
{
    static const char *const table[][2] = {
        {".png", "image/png"},   {".jpg", "image/jpeg"},  {".jpeg", "image/jpeg"},     {".webp", "image/webp"},
        {".ktx2", "image/ktx2"}, {".avif", "image/avif"}, {".dds", "image/vnd-ms.dds"}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (ends_with(uri, table[i][0])) {
            return table[i][1];
        }
    }
    return NULL;
}

// Bytes of one image and how they are called.
typedef struct image_source {
    uint32_t index;
    const json_t *json;
    gltf_path where;
    gltf_bytes bytes;
    const char *type;
    char data_uri_type[64];
} image_source;

// The bytes know best; then what the file says, then the file's name.
static void find_type(image_source *image, const char *uri)
{
    const char *declared = json_string_value(json_object_get(image->json, "mimeType"));
    image->type = type_of_bytes(&image->bytes);
    if (!image->type && declared && strncmp(declared, "image/", 6) == 0) {
        image->type = declared;
    }
    if (!image->type && strncmp(image->data_uri_type, "image/", 6) == 0) {
        image->type = image->data_uri_type;
    }
    if (!image->type && uri && strncmp(uri, "data:", 5) != 0) {
        image->type = type_of_name(uri);
    }
}

static void warn_kept(const gltf_writer *writer, const image_source *image, const char *uri, const char *reason)
{
    const char *name = json_string_value(json_object_get(image->json, "name"));
    bool is_data = strncmp(uri, "data:", 5) == 0;
    pelti_warn(writer->log, image->where.text, "image %u%s%s%s stays outside the file as %s: %s", image->index,
               name ? " \"" : "", name ? pelti_gltf_quote(name).text : "", name ? "\"" : "",
               is_data ? "a data URI" : pelti_gltf_quote(uri).text, reason);
}

// Bytes of a URI into image->bytes; *out_kept where the URI has to stay as it is.
static pelt_result read_uri_image(gltf_writer *writer, image_source *image, const char *uri, bool *out_kept,
                                  pelt_error *error)
{
    char what[32];
    snprintf(what, sizeof what, "image %u", image->index);
    pelt_error reason;
    pelti_error_clear(&reason);
    pelt_result result =
        pelti_gltf_read_uri(writer->gltf, uri, what, image->where.text, &image->bytes, image->data_uri_type, &reason);
    if (result == PELT_ERROR_MEMORY || result == PELT_ERROR_LIMIT) {
        if (error) {
            *error = reason;
        }
        return result;
    }
    *out_kept = true;
    if (result != PELT_OK) {
        warn_kept(writer, image, uri, reason.message);
        return PELT_OK;
    }
    find_type(image, uri);
    if (image->bytes.size == 0 || !image->type) {
        warn_kept(writer, image, uri,
                  image->bytes.size == 0 ? "it is empty" : "its type is none of PNG, JPEG, WebP, KTX2 and AVIF");
        pelti_gltf_release_bytes(writer->gltf, &image->bytes);
        image->bytes = (gltf_bytes){0};
        return PELT_OK;
    }
    *out_kept = false;
    return PELT_OK;
}

static pelt_result read_view_image(gltf_writer *writer, image_source *image, pelt_error *error)
{
    uint64_t index = 0;
    pelt_result result =
        pelti_gltf_uint(image->json, "bufferView", image->where.text, true, PELT_NONE - 1, &index, error);
    gltf_view view = {0};
    if (result == PELT_OK) {
        result = pelti_gltf_view(writer->gltf, (uint32_t)index, &view, error);
    }
    if (result != PELT_OK) {
        return result;
    }
    if (view.size == 0) {
        return pelti_fail(error, PELT_ERROR_INVALID, image->where.text, "the image has no bytes");
    }
    image->bytes = (gltf_bytes){.data = view.data, .size = view.size, .owner = GLTF_BYTES_BORROWED};
    find_type(image, NULL);
    return PELT_OK;
}

static pelt_result write_image(gltf_writer *writer, image_source *image, json_t *object, pelt_error *error)
{
    const char *uri = json_string_value(json_object_get(image->json, "uri"));
    pelt_result result = PELT_OK;
    bool kept = false;
    if (json_object_get(image->json, "bufferView")) {
        result = read_view_image(writer, image, error);
    } else if (uri) {
        result = read_uri_image(writer, image, uri, &kept, error);
    } else {
        kept = true; // an extension may say where the image is
    }
    if (result != PELT_OK) {
        return result;
    }
    if (kept) {
        pelti_write_share(writer, object, image->json, "uri");
        pelti_write_share(writer, object, image->json, "mimeType");
    } else {
        write_piece piece = {
            .kind = WRITE_PIECE_BYTES, .size = image->bytes.size, .data = image->bytes.data, .owned = image->bytes};
        uint32_t view = PELT_NONE;
        result = pelti_write_add_piece(writer, &piece, WRITE_TARGET_NONE, 0, &view, error);
        if (result != PELT_OK) {
            return result;
        }
        pelti_write_put(writer, object, "bufferView", json_integer(view));
        if (image->type) {
            pelti_write_put(writer, object, "mimeType", json_string(image->type));
        }
    }
    pelti_write_share(writer, object, image->json, "extras");
    return pelti_write_extensions(writer, object, image->json, image->where.text, error);
}

pelt_result pelti_write_images(gltf_writer *writer, pelt_error *error)
{
    json_t *images = NULL;
    uint32_t count = 0;
    pelt_result result = pelti_gltf_array(writer->gltf, "images", &images, &count, error);
    for (uint32_t i = 0; i < count && result == PELT_OK; i++) {
        image_source image = {.index = i, .json = json_array_get(images, i)};
        image.where = pelti_gltf_path("/images/%u", i);
        json_t *object = json_object();
        pelti_write_append(writer, writer->images, object);
        result = pelti_write_status(writer, error);
        if (result == PELT_OK) {
            pelti_write_share(writer, object, image.json, "name");
            result = write_image(writer, &image, object, error);
        }
    }
    return result == PELT_OK ? pelti_write_status(writer, error) : result;
}

// SPDX-License-Identifier: MIT
// Loads the buffers of a document and gives checked access to its buffer views.
#include "gltf_internal.h"

pelt_result pelti_gltf_allocate_bytes(pelt_gltf *gltf, uint64_t size, const char *subject, const char *where,
                                      gltf_bytes *out, pelt_error *error)
{
    *out = (gltf_bytes){.data = NULL};
    uint64_t limit = gltf->options.limits.memory;
    if (gltf->memory_used > limit || size > limit - gltf->memory_used) {
        pelti_fail(error, PELT_ERROR_LIMIT, where, "%s needs %llu bytes, over the memory limit of %llu", subject,
                   (unsigned long long)size, (unsigned long long)limit);
        pelti_hint(error, "raise the limit with --max-memory");
        return PELT_ERROR_LIMIT;
    }
    uint8_t *memory = pelti_allocate(&gltf->options.allocator, size, 1);
    if (!memory) {
        return pelti_fail(error, PELT_ERROR_MEMORY, where, "%s: out of memory for %llu bytes", subject,
                          (unsigned long long)size);
    }
    *out = (gltf_bytes){.data = memory, .size = size, .capacity = size, .owner = GLTF_BYTES_ALLOCATED};
    gltf->memory_used += size;
    return PELT_OK;
}

static pelt_result fail_short(uint32_t index, const char *where, uint64_t size, uint64_t byte_length,
                              const char *source, pelt_error *error)
{
    return pelti_fail(error, PELT_ERROR_INVALID, where, "buffer %u: byteLength is %llu, but %s has %llu bytes", index,
                      (unsigned long long)byte_length, source, (unsigned long long)size);
}

static pelt_result take_bin_chunk(pelt_gltf *gltf, const char *where, uint64_t byte_length, pelt_error *error)
{
    const gltf_bytes *bin = &gltf->bin;
    if (bin->size < byte_length) {
        return fail_short(0, where, bin->size, byte_length, "the BIN chunk", error);
    }
    // Up to three bytes are the padding that the format asks for.
    if (bin->size - byte_length > 3) {
        pelti_warn(&gltf->options.log, where,
                   "buffer 0: the BIN chunk has %llu bytes, %llu more than byteLength; they are ignored",
                   (unsigned long long)bin->size, (unsigned long long)(bin->size - byte_length));
    }
    gltf->buffers[0] = *bin;
    return PELT_OK;
}

static pelt_result read_named_buffer(pelt_gltf *gltf, const json_t *uri, uint32_t index, uint64_t byte_length,
                                     pelt_error *error)
{
    gltf_path where = pelti_gltf_path("/buffers/%u/uri", index);
    if (!json_is_string(uri) || strlen(json_string_value(uri)) != json_string_length(uri)) {
        return pelti_fail(error, PELT_ERROR_INVALID, where.text, "buffer %u: uri is not a string without NUL", index);
    }
    gltf_text text = pelti_gltf_embedded_uri(gltf, json_string_value(uri));
    gltf_bytes *buffer = &gltf->buffers[index];
    gltf_path what = pelti_gltf_path("buffer %u", index);
    bool data = pelti_gltf_is_data_uri(text.text);
    pelt_result result = data ? pelti_gltf_read_data_uri(gltf, text, what.text, where.text, buffer, NULL, error)
                              : pelti_gltf_read_uri(gltf, text.text, what.text, where.text, buffer, NULL, error);
    if (result) {
        return result;
    }
    if (buffer->size < byte_length) {
        gltf_path source =
            data ? pelti_gltf_path("its data uri") : pelti_gltf_path("\"%s\"", pelti_gltf_quote(text.text).text);
        return fail_short(index, pelti_gltf_path("/buffers/%u", index).text, buffer->size, byte_length, source.text,
                          error);
    }
    gltf->source_size += data ? 0 : buffer->size;
    return PELT_OK;
}

static pelt_result load_buffer(pelt_gltf *gltf, const json_t *object, uint32_t index, pelt_error *error)
{
    gltf_path where = pelti_gltf_path("/buffers/%u", index);
    uint64_t byte_length = 0;
    pelt_result result = pelti_gltf_uint(object, "byteLength", where.text, true, INT64_MAX, &byte_length, error);
    if (result) {
        return result;
    }
    if (byte_length == 0) {
        pelti_warn(&gltf->options.log, where.text, "buffer %u: byteLength is 0, but has to be at least 1", index);
    }
    const json_t *uri = json_object_get(object, "uri");
    if (!uri && index == 0 && gltf->bin.data) {
        result = take_bin_chunk(gltf, where.text, byte_length, error);
    } else if (pelti_gltf_meshopt_fallback(object)) {
        // Nobody reads it: every view of it is compressed, which is checked once all buffers are known.
        return PELT_OK;
    } else if (uri) {
        result = read_named_buffer(gltf, uri, index, byte_length, error);
    } else if (pelti_gltf_uses_extension(gltf, "EXT_meshopt_compression") ||
               pelti_gltf_uses_extension(gltf, "KHR_meshopt_compression")) {
        // A placeholder may go without the fallback mark; the same check covers it.
        return PELT_OK;
    } else {
        return pelti_fail(error, PELT_ERROR_INVALID, where.text, "buffer %u: there is no uri and no BIN chunk for it",
                          index);
    }
    if (!result) {
        gltf->buffers[index].size = byte_length;
    }
    return result;
}

// Every view of a buffer without bytes has to be compressed; so nothing ever reads such a buffer.
static pelt_result check_placeholders(const pelt_gltf *gltf, const json_t *views, pelt_error *error)
{
    for (uint32_t i = 0; i < gltf->view_count; i++) {
        const json_t *view = json_array_get(views, i);
        const json_t *value = json_object_get(view, "buffer");
        const char *name = NULL;
        uint64_t buffer = 0;
        pelt_error ignored;
        if (!value || pelti_gltf_meshopt(view, &name) ||
            pelti_gltf_uint_value(value, "buffer", "", UINT64_MAX, &buffer, &ignored) || buffer >= gltf->buffer_count ||
            gltf->buffers[buffer].data) {
            continue;
        }
        return pelti_fail(error, PELT_ERROR_INVALID, pelti_gltf_path("/bufferViews/%u/buffer", i).text,
                          "bufferView %u: buffer %llu has no bytes (no uri, no BIN chunk), and the view is not "
                          "compressed",
                          i, (unsigned long long)buffer);
    }
    return PELT_OK;
}

pelt_result pelti_gltf_load_buffers(pelt_gltf *gltf, pelt_error *error)
{
    json_t *buffers = NULL;
    json_t *views = NULL;
    uint32_t buffer_count = 0;
    pelt_result result = pelti_gltf_array(gltf, "buffers", &buffers, &buffer_count, error);
    if (!result) {
        result = pelti_gltf_array(gltf, "bufferViews", &views, &gltf->view_count, error);
    }
    if (result || buffer_count == 0) {
        return result;
    }
    gltf->buffers = pelti_allocate(&gltf->options.allocator, buffer_count, sizeof *gltf->buffers);
    if (!gltf->buffers) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "/buffers", "out of memory for %u buffers", buffer_count);
    }
    gltf->buffer_count = buffer_count;
    gltf->buffer_capacity = buffer_count;
    memset(gltf->buffers, 0, buffer_count * sizeof *gltf->buffers);
    bool placeholder = false;
    for (uint32_t i = 0; i < buffer_count; i++) {
        result = load_buffer(gltf, json_array_get(buffers, i), i, error);
        if (result) {
            return result;
        }
        placeholder = placeholder || !gltf->buffers[i].data;
    }
    return placeholder ? check_placeholders(gltf, views, error) : PELT_OK;
}

pelt_result pelti_gltf_range(const pelt_gltf *gltf, const json_t *object, const char *where, gltf_range *out,
                             pelt_error *error)
{
    *out = (gltf_range){0};
    pelt_result result =
        pelti_gltf_index(object, "buffer", where, true, gltf->buffer_count, "buffer", &out->buffer, error);
    if (!result) {
        result = pelti_gltf_uint(object, "byteOffset", where, false, INT64_MAX, &out->offset, error);
    }
    if (!result) {
        result = pelti_gltf_uint(object, "byteLength", where, true, INT64_MAX, &out->size, error);
    }
    if (result) {
        return result;
    }
    // A placeholder has no bytes, but its views have to fit all the same.
    uint64_t available = gltf->buffers[out->buffer].size;
    if (!gltf->buffers[out->buffer].data) {
        json_t *buffer = NULL;
        result = pelti_gltf_item(gltf, "buffers", out->buffer, &buffer, error);
        if (!result) {
            result = pelti_gltf_uint(buffer, "byteLength", pelti_gltf_path("/buffers/%u", out->buffer).text, true,
                                     INT64_MAX, &available, error);
        }
        if (result) {
            return result;
        }
    }
    if (out->offset > available || out->size > available - out->offset) {
        return pelti_fail(
            error, PELT_ERROR_INVALID, where,
            "%s: byteOffset %llu and byteLength %llu lead past the end of buffer %u, which has %llu bytes",
            pelti_gltf_subject(where).text, (unsigned long long)out->offset, (unsigned long long)out->size, out->buffer,
            (unsigned long long)available);
    }
    return PELT_OK;
}

static pelt_result read_stride(const json_t *view, const char *where, uint32_t index, uint32_t *out, pelt_error *error)
{
    uint64_t stride = 0;
    pelt_result result = pelti_gltf_uint(view, "byteStride", where, false, INT64_MAX, &stride, error);
    if (result) {
        return result;
    }
    if (json_object_get(view, "byteStride") && (stride < 4 || stride > 252 || stride % 4 != 0)) {
        return pelti_fail(error, PELT_ERROR_INVALID, where,
                          "bufferView %u: byteStride is %llu, but has to be a multiple of 4 from 4 to 252", index,
                          (unsigned long long)stride);
    }
    *out = (uint32_t)stride;
    return PELT_OK;
}

pelt_result pelti_gltf_view(pelt_gltf *gltf, uint32_t index, gltf_view *out, pelt_error *error)
{
    *out = (gltf_view){.data = NULL};
    json_t *view = NULL;
    pelt_result result = pelti_gltf_item(gltf, "bufferViews", index, &view, error);
    if (result) {
        return result;
    }
    gltf_path where = pelti_gltf_path("/bufferViews/%u", index);
    gltf_range range;
    result = pelti_gltf_range(gltf, view, where.text, &range, error);
    if (!result) {
        result = read_stride(view, where.text, index, &out->stride, error);
    }
    if (result) {
        return result;
    }
    out->size = range.size;
    const char *name = NULL;
    if (pelti_gltf_meshopt(view, &name)) {
        result = pelti_gltf_meshopt_decode(gltf, index, view, range.size, error);
        out->data = result ? NULL : gltf->decoded_views[index].data;
        return result;
    }
    if (!gltf->buffers[range.buffer].data) {
        return pelti_fail(error, PELT_ERROR_INVALID, where.text, "bufferView %u: buffer %u has no bytes", index,
                          range.buffer);
    }
    out->data = gltf->buffers[range.buffer].data + range.offset;
    return PELT_OK;
}

// SPDX-License-Identifier: MIT
// Decompresses buffer views of EXT_meshopt_compression and KHR_meshopt_compression through libmeshoptimizer. Everything
// that the decoder takes for granted is checked here, and streams of versions it does not know are told apart.
#include "gltf_internal.h"

#include <meshoptimizer.h>

typedef enum stream_mode {
    MODE_ATTRIBUTES = 0,
    MODE_TRIANGLES,
    MODE_INDICES,
    MODE_COUNT
} stream_mode;

typedef enum stream_filter {
    FILTER_NONE = 0,
    FILTER_OCTAHEDRAL,
    FILTER_QUATERNION,
    FILTER_EXPONENTIAL,
    FILTER_COLOR,
    FILTER_COUNT
} stream_filter;

static const char *const mode_names[MODE_COUNT] = {"ATTRIBUTES", "TRIANGLES", "INDICES"};
static const char *const filter_names[FILTER_COUNT] = {"NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "COLOR"};

// The first byte of a stream: the kind above, the version in the low four bits. Highest: what the oldest supported
// libmeshoptimizer (0.18) decodes.
static const uint8_t stream_kind[MODE_COUNT] = {0xA0, 0xE0, 0xD0};
static const uint8_t highest_version[MODE_COUNT] = {0, 1, 1};

static const char remedy[] = "export the file uncompressed, or with EXT_meshopt_compression (stream version 0)";

typedef struct stream {
    const char *extension;
    gltf_path where;   // of the extension object
    gltf_path subject; // of its buffer view
    uint32_t index;
    const uint8_t *data;
    uint64_t size;
    uint64_t count;
    uint64_t stride;
    stream_mode mode;
    stream_filter filter;
} stream;

json_t *pelti_gltf_meshopt(const json_t *view, const char **out_name)
{
    static const char *const names[] = {"KHR_meshopt_compression", "EXT_meshopt_compression"};
    for (size_t i = 0; i < 2; i++) {
        json_t *extension = pelti_gltf_extension(view, names[i]);
        if (extension) {
            *out_name = names[i];
            return extension;
        }
    }
    return NULL;
}

bool pelti_gltf_meshopt_fallback(const json_t *buffer)
{
    const char *name = NULL;
    return json_is_true(json_object_get(pelti_gltf_meshopt(buffer, &name), "fallback"));
}

static pelt_result refuse(const stream *in, const char *key, const char *rule, pelt_error *error)
{
    return pelti_fail(error, PELT_ERROR_INVALID, in->where.text, "%s: %s: %s %s (count %llu, byteStride %llu, mode %s)",
                      in->subject.text, in->extension, key, rule, (unsigned long long)in->count,
                      (unsigned long long)in->stride, mode_names[in->mode]);
}

// Index of a text among names; absent: stays.
static pelt_result read_choice(const json_t *object, const char *key, const stream *in, bool required,
                               const char *const *names, unsigned name_count, unsigned *out, pelt_error *error)
{
    const char *text = NULL;
    pelt_result result = pelti_gltf_text(object, key, in->where.text, &text, error);
    if (result || (!text && !required)) {
        return result;
    }
    for (unsigned i = 0; text && i < name_count; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = i;
            return PELT_OK;
        }
    }
    return pelti_fail(error, PELT_ERROR_INVALID, in->where.text, "%s: %s: %s is \"%s\", which is unknown",
                      in->subject.text, in->extension, key, text ? pelti_gltf_quote(text).text : "");
}

static pelt_result read_stream(const pelt_gltf *gltf, const json_t *object, stream *in, pelt_error *error)
{
    gltf_range range;
    pelt_result result = pelti_gltf_range(gltf, object, in->where.text, &range, error);
    if (!result) {
        result = pelti_gltf_uint(object, "count", in->where.text, true, INT64_MAX, &in->count, error);
    }
    if (!result) {
        result = pelti_gltf_uint(object, "byteStride", in->where.text, true, INT64_MAX, &in->stride, error);
    }
    unsigned mode = MODE_ATTRIBUTES;
    unsigned filter = FILTER_NONE;
    if (!result) {
        result = read_choice(object, "mode", in, true, mode_names, MODE_COUNT, &mode, error);
    }
    if (!result) {
        result = read_choice(object, "filter", in, false, filter_names, FILTER_COUNT, &filter, error);
    }
    if (result) {
        return result;
    }
    in->mode = (stream_mode)mode;
    in->filter = (stream_filter)filter;
    if (!gltf->buffers[range.buffer].data) {
        return refuse(in, "buffer", "is a fallback buffer, which has no bytes", error);
    }
    in->data = gltf->buffers[range.buffer].data + range.offset;
    in->size = range.size;
    return PELT_OK;
}

// The rules of the extension's section "JSON schema updates".
static pelt_result check_layout(const json_t *view, const stream *in, uint64_t view_size, pelt_error *error)
{
    uint64_t decoded = 0;
    if (in->count == 0 || in->stride == 0) {
        return refuse(in, in->count == 0 ? "count" : "byteStride", "must not be 0", error);
    }
    if (!pelti_mul(in->count, in->stride, &decoded) || decoded != view_size) {
        return refuse(in, "count times byteStride", "is not the byteLength of the view", error);
    }
    uint64_t parent_stride = in->stride;
    pelt_error ignored;
    if (strcmp(in->extension, "EXT_meshopt_compression") == 0 &&
        !pelti_gltf_uint(view, "byteStride", "", false, INT64_MAX, &parent_stride, &ignored) &&
        parent_stride != in->stride) {
        return refuse(in, "byteStride", "differs from that of the view", error);
    }
    if (in->mode == MODE_ATTRIBUTES && (in->stride % 4 != 0 || in->stride > 256)) {
        return refuse(in, "byteStride", "has to be a multiple of 4 up to 256", error);
    }
    if (in->mode != MODE_ATTRIBUTES && in->stride != 2 && in->stride != 4) {
        return refuse(in, "byteStride", "has to be 2 or 4", error);
    }
    if (in->mode == MODE_TRIANGLES && in->count % 3 != 0) {
        return refuse(in, "count", "has to be a multiple of 3", error);
    }
    if (in->mode != MODE_ATTRIBUTES && in->filter != FILTER_NONE) {
        return refuse(in, "filter", "has to be NONE", error);
    }
    if ((in->filter == FILTER_OCTAHEDRAL || in->filter == FILTER_COLOR) && in->stride != 4 && in->stride != 8) {
        return refuse(in, "byteStride", "has to be 4 or 8 for this filter", error);
    }
    if (in->filter == FILTER_QUATERNION && in->stride != 8) {
        return refuse(in, "byteStride", "has to be 8 for this filter", error);
    }
    return PELT_OK;
}

static pelt_result fail_unsupported(const stream *in, const char *what, unsigned number, pelt_error *error)
{
    pelti_fail(error, PELT_ERROR_UNSUPPORTED, in->where.text, "%s: %s: %s %u cannot be decoded", in->subject.text,
               in->extension, what, number);
    pelti_hint(error, "%s", remedy);
    return PELT_ERROR_UNSUPPORTED;
}

static pelt_result check_stream(const stream *in, pelt_error *error)
{
    if (in->filter == FILTER_COLOR) {
        if (strcmp(in->extension, "KHR_meshopt_compression") != 0) {
            return refuse(in, "filter", "COLOR is not part of this extension", error);
        }
        pelti_fail(error, PELT_ERROR_UNSUPPORTED, in->where.text, "%s: %s: the COLOR filter cannot be decoded",
                   in->subject.text, in->extension);
        pelti_hint(error, "%s", remedy);
        return PELT_ERROR_UNSUPPORTED;
    }
    if (in->size == 0 || (in->data[0] & 0xF0) != stream_kind[in->mode]) {
        return refuse(in, "the stream", "does not begin with the header of its mode", error);
    }
    unsigned version = in->data[0] & 0x0Fu;
    if (version > highest_version[in->mode]) {
        return fail_unsupported(in, in->mode == MODE_ATTRIBUTES ? "vertex stream version" : "index stream version",
                                version, error);
    }
    // The least that so many elements take, so that a few bytes cannot ask for gigabytes: two bits for 16 values of
    // each byte of an attribute and a tail of 32; a byte for a triangle and a tail of 16; a byte for an index and 4.
    uint64_t least = in->mode == MODE_ATTRIBUTES  ? in->count * in->stride / 64 + 33
                     : in->mode == MODE_TRIANGLES ? in->count / 3 + 17
                                                  : in->count + 5;
    return in->size < least ? refuse(in, "the stream", "is too short for its count", error) : PELT_OK;
}

static int decode(const stream *in, uint8_t *out)
{
    size_t count = (size_t)in->count;
    size_t stride = (size_t)in->stride;
    size_t size = (size_t)in->size;
    if (in->mode == MODE_TRIANGLES) {
        return meshopt_decodeIndexBuffer(out, count, stride, in->data, size);
    }
    if (in->mode == MODE_INDICES) {
        return meshopt_decodeIndexSequence(out, count, stride, in->data, size);
    }
    int failed = meshopt_decodeVertexBuffer(out, count, stride, in->data, size);
    if (!failed && in->filter == FILTER_OCTAHEDRAL) {
        meshopt_decodeFilterOct(out, count, stride);
    } else if (!failed && in->filter == FILTER_QUATERNION) {
        meshopt_decodeFilterQuat(out, count, stride);
    } else if (!failed && in->filter == FILTER_EXPONENTIAL) {
        meshopt_decodeFilterExp(out, count, stride);
    }
    return failed;
}

static pelt_result make_view_table(pelt_gltf *gltf, pelt_error *error)
{
    if (gltf->decoded_views) {
        return PELT_OK;
    }
    gltf->decoded_views = pelti_allocate(&gltf->options.allocator, gltf->view_count, sizeof *gltf->decoded_views);
    if (!gltf->decoded_views) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "/bufferViews", "out of memory for %u buffer views",
                          gltf->view_count);
    }
    memset(gltf->decoded_views, 0, gltf->view_count * sizeof *gltf->decoded_views);
    return PELT_OK;
}

pelt_result pelti_gltf_meshopt_decode(pelt_gltf *gltf, uint32_t index, const json_t *view, uint64_t size,
                                      pelt_error *error)
{
    pelt_result result = make_view_table(gltf, error);
    if (result || gltf->decoded_views[index].data) {
        return result;
    }
    stream in = {.index = index, .subject = pelti_gltf_path("bufferView %u", index)};
    const json_t *object = pelti_gltf_meshopt(view, &in.extension);
    in.where = pelti_gltf_path("/bufferViews/%u/extensions/%s", index, in.extension);
    if (pelti_gltf_extension(view, "EXT_meshopt_compression") &&
        pelti_gltf_extension(view, "KHR_meshopt_compression")) {
        return pelti_fail(error, PELT_ERROR_INVALID, in.where.text,
                          "%s: has both EXT_meshopt_compression and KHR_meshopt_compression", in.subject.text);
    }
    result = read_stream(gltf, object, &in, error);
    if (!result) {
        result = check_layout(view, &in, size, error);
    }
    if (!result) {
        result = check_stream(&in, error);
    }
    gltf_bytes bytes;
    if (!result) {
        result = pelti_gltf_allocate_bytes(gltf, size, in.subject.text, in.where.text, &bytes, error);
    }
    if (result) {
        return result;
    }
    union {
        const uint8_t *constant;
        uint8_t *plain;
    } memory = {.constant = bytes.data};
    if (decode(&in, memory.plain) != 0) {
        pelti_gltf_release_bytes(gltf, &bytes);
        return refuse(&in, "the stream", "is damaged", error);
    }
    gltf->decoded_views[index] = bytes;
    return PELT_OK;
}

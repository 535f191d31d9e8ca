// SPDX-License-Identifier: MIT
// Buffers against their bytes, buffer views against their buffers, and views compressed by meshoptimizer.
#include "gltf/gltf_internal.h"
#include "peltt_alloc.h"
#include "peltt_gltf.h"

#include <math.h>
#include <setjmp.h>

#include <cmocka.h>
#include <meshoptimizer.h>

#define ASSET "'asset':{'version':'2.0'}"

static pelt_result open_glb(const char *json, size_t bin_size, peltt_log *log, pelt_error *error)
{
    static const uint8_t bin[64] = {0};
    pelt_gltf_options options = {.log = peltt_log_make(log)};
    peltt_document document;
    pelt_result result = peltt_document_open(json, bin_size > 0 ? bin : NULL, bin_size, &options, &document, error);
    peltt_document_close(&document);
    return result;
}

static void bin_chunk_is_compared_with_buffer_0(void **state)
{
    (void)state;
    peltt_log log;
    pelt_error error;
    for (unsigned length = 0; length <= 24; length++) {
        char json[128];
        snprintf(json, sizeof json, "{" ASSET ",'buffers':[{'byteLength':%u}]}", length);
        pelt_result result = open_glb(json, 20, &log, &error);
        assert_int_equal(result, length <= 20 ? PELT_OK : PELT_ERROR_INVALID);
        assert_int_equal(log.count > 0, length < 17);
    }
    peltt_assert_error(&error, PELT_ERROR_INVALID, "buffer 0", "byteLength is 24", "20 bytes", "BIN");
    open_glb("{" ASSET ",'buffers':[{'byteLength':13}]}", 20, &log, &error);
    assert_non_null(strstr(log.text, "7 more"));
}

static void buffers_without_bytes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *parts[2];
    } rows[] = {
        {"{" ASSET ",'buffers':[{'byteLength':4}]}", {"buffer 0", "no uri"}},
        {"{" ASSET ",'buffers':[{'byteLength':1,'uri':'data:,a'},{'byteLength':4}]}", {"buffer 1", "no uri"}},
        {"{" ASSET ",'buffers':[{'uri':'data:,a'}]}", {"buffer 0", "byteLength is missing"}},
        {"{" ASSET ",'buffers':[{'byteLength':-4}]}", {"buffer 0", "byteLength is -4"}},
        {"{" ASSET ",'buffers':[{'byteLength':4.5}]}", {"buffer 0", "byteLength is 4.5"}},
        {"{" ASSET ",'buffers':[{'byteLength':1,'uri':7}]}", {"buffer 0", "uri"}},
        {"{" ASSET ",'buffers':{}}", {"buffers", "not an array"}},
        {"{" ASSET ",'buffers':[3]}", {"buffer 0", "not an object"}},
        {"{" ASSET ",'bufferViews':'x'}", {"bufferViews", "not an array"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        peltt_log log;
        pelt_error error;
        open_glb(rows[i].json, 0, &log, &error);
        peltt_assert_error(&error, PELT_ERROR_INVALID, rows[i].parts[0], rows[i].parts[1]);
    }
    // A BIN chunk belongs to buffer 0 only.
    peltt_log log;
    pelt_error error;
    open_glb("{" ASSET ",'buffers':[{'byteLength':4},{'byteLength':4}]}", 4, &log, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "buffer 1", "no uri");
    assert_int_equal(open_glb("{" ASSET ",'buffers':[{'byteLength':1,'uri':'data:,a'}]}", 4, &log, &error), PELT_OK);
}

static pelt_result get_view(const char *view_json, gltf_view *view, pelt_error *error)
{
    static const uint8_t bin[72] = {0};
    char json[512];
    snprintf(json, sizeof json,
             "{" ASSET ",'buffers':[{'byteLength':71}],'bufferViews':[{'buffer':0,'byteLength':1},%s]}", view_json);
    peltt_document document;
    pelt_result result = peltt_document_open(json, bin, sizeof bin, NULL, &document, error);
    if (!result) {
        result = pelti_gltf_view(document.gltf, 1, view, error);
    }
    if (!result) {
        view->data = (const uint8_t *)(uintptr_t)(view->data - document.gltf->buffers[0].data);
    }
    peltt_document_close(&document);
    return result;
}

static void views_stay_in_their_buffer(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *parts[3];
    } rows[] = {
        {"{'buffer':0,'byteLength':72}", {"byteLength 72", "71 bytes", "buffer 0"}},
        {"{'buffer':0,'byteOffset':1,'byteLength':71}", {"byteOffset 1", "byteLength 71", "71 bytes"}},
        {"{'buffer':0,'byteOffset':72,'byteLength':0}", {"byteOffset 72", "71 bytes", ""}},
        {"{'buffer':0,'byteOffset':9223372036854775807,'byteLength':9223372036854775807}", {"byteOffset", "71", ""}},
        {"{'buffer':0,'byteOffset':-1,'byteLength':4}", {"byteOffset", "-1", ""}},
        {"{'buffer':0,'byteOffset':1e100,'byteLength':4}", {"byteOffset", "1e+100", ""}},
        {"{'buffer':1,'byteLength':4}", {"buffer is 1", "1 buffer", ""}},
        {"{'byteLength':4}", {"buffer is missing", "", ""}},
        {"{'buffer':0}", {"byteLength is missing", "", ""}},
        {"{'buffer':0,'byteLength':16,'byteStride':0}", {"byteStride", "0", ""}},
        {"{'buffer':0,'byteLength':16,'byteStride':2}", {"byteStride", "2", "multiple of 4"}},
        {"{'buffer':0,'byteLength':16,'byteStride':6}", {"byteStride", "6", "multiple of 4"}},
        {"{'buffer':0,'byteLength':16,'byteStride':256}", {"byteStride", "256", "252"}},
        {"{'buffer':0,'byteLength':16,'byteStride':4294967300}", {"byteStride", "4294967300", ""}},
        {"{'buffer':0,'byteLength':16,'byteStride':'4'}", {"byteStride", "a string", ""}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gltf_view view;
        pelt_error error;
        get_view(rows[i].json, &view, &error);
        peltt_assert_error(&error, PELT_ERROR_INVALID, "bufferView 1", "/bufferViews/1", rows[i].parts[0],
                           rows[i].parts[1], rows[i].parts[2]);
    }
    gltf_view view;
    assert_int_equal(get_view("{'buffer':0,'byteOffset':3.0,'byteLength':6.8e1,'byteStride':252}", &view, NULL),
                     PELT_OK);
    assert_true((uintptr_t)view.data == 3 && view.size == 68 && view.stride == 252);
    assert_int_equal(get_view("{'buffer':0,'byteLength':71,'byteStride':4}", &view, NULL), PELT_OK);
    assert_true((uintptr_t)view.data == 0 && view.size == 71 && view.stride == 4);
}

static void missing_views_are_named(void **state)
{
    (void)state;
    peltt_document document;
    assert_int_equal(peltt_document_open("{" ASSET "}", NULL, 0, NULL, &document, NULL), PELT_OK);
    gltf_view view;
    pelt_error error;
    pelti_gltf_view(document.gltf, 7, &view, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "bufferView 7", "does not exist");
    peltt_document_close(&document);
}

// ---- meshopt

typedef struct packed {
    peltt_bytes stream;
    peltt_bytes plain; // what it decodes to
    const char *extension;
    const char *mode;
    const char *filter;
    unsigned stride;
    unsigned count;
} packed;

static void packed_free(packed *p)
{
    peltt_bytes_free(&p->stream);
    peltt_bytes_free(&p->plain);
}

static packed pack_vertices(unsigned count, unsigned stride)
{
    packed p = {.extension = "EXT", .mode = "ATTRIBUTES", .filter = "NONE", .stride = stride, .count = count};
    uint32_t random = 7;
    for (size_t i = 0; i < (size_t)count * stride; i++) {
        random = random * 1664525u + 1013904223u;
        uint8_t byte = (uint8_t)(i % 4 == 0 ? i / stride : random >> 29);
        peltt_bytes_append(&p.plain, &byte, 1);
    }
    uint8_t out[65536];
    size_t size = meshopt_encodeVertexBuffer(out, sizeof out, p.plain.data, count, stride);
    assert_true(size > 0);
    peltt_bytes_append(&p.stream, out, size);
    return p;
}

static packed pack_indices(bool triangles, unsigned stride)
{
    static const unsigned indices[] = {0, 1, 2, 2, 1, 3, 4, 6, 5, 7, 8, 6};
    packed p = {.extension = "KHR", .mode = triangles ? "TRIANGLES" : "INDICES", .stride = stride, .count = 12};
    uint8_t out[512];
    size_t size = triangles ? meshopt_encodeIndexBuffer(out, sizeof out, indices, 12)
                            : meshopt_encodeIndexSequence(out, sizeof out, indices, 12);
    assert_true(size > 0);
    peltt_bytes_append(&p.stream, out, size);
    for (size_t i = 0; i < 12; i++) {
        const uint8_t bytes[4] = {(uint8_t)indices[i], 0, 0, 0};
        peltt_bytes_append(&p.plain, bytes, stride);
    }
    return p;
}

// The document of p with buffer 1 as a fallback without bytes; extra is put into the extension, and wins there.
static pelt_result open_packed(const packed *p, const char *extra, const pelt_gltf_options *options,
                               peltt_document *out, gltf_view *view, pelt_error *error)
{
    char json[2048];
    char filter[64] = "";
    if (p->filter) {
        snprintf(filter, sizeof filter, ",'filter':'%s'", p->filter);
    }
    snprintf(json, sizeof json,
             "{" ASSET ",'extensionsUsed':['%s_meshopt_compression'],"
             "'extensionsRequired':['%s_meshopt_compression'],'buffers':[{'byteLength':%zu},{'byteLength':%zu,"
             "'extensions':{'%s_meshopt_compression':{'fallback':true}}}],'bufferViews':[{'buffer':1,'byteLength':%zu,"
             "'extensions':{'%s_meshopt_compression':{'buffer':0,'byteLength':%zu,'byteStride':%u,'count':%u,"
             "'mode':'%s'%s%s}}}]}",
             p->extension, p->extension, p->stream.size, p->plain.size, p->extension, p->plain.size, p->extension,
             p->stream.size, p->stride, p->count, p->mode, filter, extra);
    pelt_result result = peltt_document_open(json, p->stream.data, p->stream.size, options, out, error);
    return result ? result : pelti_gltf_view(out->gltf, 0, view, error);
}

static void expect_plain(const packed *p)
{
    peltt_document document;
    gltf_view view;
    pelt_error error;
    assert_int_equal(open_packed(p, "", NULL, &document, &view, &error), PELT_OK);
    assert_true(view.size == p->plain.size && view.stride == 0);
    assert_memory_equal(view.data, p->plain.data, p->plain.size);
    // The second call gives the same bytes again, and they count once.
    gltf_view again;
    assert_int_equal(pelti_gltf_view(document.gltf, 0, &again, &error), PELT_OK);
    assert_ptr_equal(again.data, view.data);
    assert_true(document.gltf->memory_used == p->plain.size);
    peltt_document_close(&document);
}

static void expect_refusal(const packed *p, const char *extra, pelt_result code, const char *part)
{
    peltt_document document;
    gltf_view view;
    pelt_error error;
    open_packed(p, extra, NULL, &document, &view, &error);
    peltt_assert_error(&error, code, part, "bufferView", "meshopt_compression");
    peltt_document_close(&document);
}

static void compressed_views_are_decoded(void **state)
{
    (void)state;
    static const unsigned shapes[][2] = {{1, 4}, {17, 12}, {300, 16}, {40, 256}, {256, 8}, {257, 4}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        packed p = pack_vertices(shapes[i][0], shapes[i][1]);
        expect_plain(&p);
        p.extension = "KHR";
        p.filter = NULL;
        expect_plain(&p);
        packed_free(&p);
    }
    for (unsigned k = 0; k < 4; k++) {
        packed p = pack_indices(k % 2 == 0, k < 2 ? 2 : 4);
        // The encoder may turn a triangle, which keeps its winding: compare after turning back.
        if (k % 2 == 1) {
            expect_plain(&p);
        } else {
            peltt_document document;
            gltf_view view;
            pelt_error error;
            assert_int_equal(open_packed(&p, "", NULL, &document, &view, &error), PELT_OK);
            for (size_t t = 0; t < 4; t++) {
                bool found = false;
                for (size_t turn = 0; turn < 3; turn++) {
                    bool same = true;
                    for (size_t c = 0; c < 3; c++) {
                        const uint8_t *was = p.plain.data + (t * 3 + (c + turn) % 3) * p.stride;
                        same = same && memcmp(view.data + (t * 3 + c) * p.stride, was, p.stride) == 0;
                    }
                    found = found || same;
                }
                assert_true(found);
            }
            peltt_document_close(&document);
        }
        packed_free(&p);
    }
}

// Encodes floats through one of the library's filters, decodes through the document, and returns the view's bytes.
static void decode_filtered(const char *filter, unsigned stride, const void *encoded, unsigned count, void *out)
{
    packed p = {.extension = "EXT", .mode = "ATTRIBUTES", .filter = filter, .stride = stride, .count = count};
    uint8_t stream[4096];
    size_t size = meshopt_encodeVertexBuffer(stream, sizeof stream, encoded, count, stride);
    peltt_bytes_append(&p.stream, stream, size);
    peltt_bytes_append(&p.plain, encoded, (size_t)count * stride);
    peltt_document document;
    gltf_view view;
    pelt_error error;
    assert_int_equal(open_packed(&p, "", NULL, &document, &view, &error), PELT_OK);
    memcpy(out, view.data, (size_t)count * stride);
    peltt_document_close(&document);
    packed_free(&p);
}

static void filters_restore_values(void **state)
{
    (void)state;
    float vectors[5][4] = {
        {0.6f, 0.8f, 0, 1}, {0, 0, 1, 0}, {-0.6f, 0, -0.8f, 1}, {0, -1, 0, 0}, {0.36f, 0.48f, 0.8f, 1}};
    uint8_t encoded[5 * 16];
    int8_t oct8[5][4];
    meshopt_encodeFilterOct(encoded, 5, 4, 8, vectors[0]);
    decode_filtered("OCTAHEDRAL", 4, encoded, 5, oct8);
    int16_t oct16[5][4];
    meshopt_encodeFilterOct(encoded, 5, 8, 16, vectors[0]);
    decode_filtered("OCTAHEDRAL", 8, encoded, 5, oct16);
    for (size_t i = 0; i < 5; i++) {
        for (size_t c = 0; c < 3; c++) {
            assert_true(fabs(oct8[i][c] / 127.0 - (double)vectors[i][c]) < 0.02);
            assert_true(fabs(oct16[i][c] / 32767.0 - (double)vectors[i][c]) < 1e-4);
        }
    }
    float turns[3][4] = {{0, 0, 0.6f, 0.8f}, {0.5f, 0.5f, 0.5f, 0.5f}, {0, 1, 0, 0}};
    int16_t quat[3][4];
    meshopt_encodeFilterQuat(encoded, 3, 8, 16, turns[0]);
    decode_filtered("QUATERNION", 8, encoded, 3, quat);
    for (size_t i = 0; i < 3; i++) {
        for (size_t c = 0; c < 4; c++) {
            assert_true(fabs(quat[i][c] / 32767.0 - (double)turns[i][c]) < 1e-4);
        }
    }
    float wide[4][3] = {{1.5f, -2.25f, 1024}, {0, 0.125f, -3}, {100, 200, 300}, {1e-3f, 1, 2}};
    float restored[4][3];
    meshopt_encodeFilterExp(encoded, 4, 12, 20, wide[0]);
    decode_filtered("EXPONENTIAL", 12, encoded, 4, restored);
    for (size_t i = 0; i < 4; i++) {
        for (size_t c = 0; c < 3; c++) {
            assert_true(fabsf(restored[i][c] - wide[i][c]) < 1024.0f / 500000.0f);
        }
    }
}

static void broken_layouts_are_refused(void **state)
{
    (void)state;
    packed v = pack_vertices(17, 12);
    expect_refusal(&v, ",'count':18", PELT_ERROR_INVALID, "byteLength of the view");
    expect_refusal(&v, ",'count':0", PELT_ERROR_INVALID, "count must not be 0");
    expect_refusal(&v, ",'byteStride':0", PELT_ERROR_INVALID, "byteStride must not be 0");
    expect_refusal(&v, ",'count':4611686018427387921,'byteStride':12", PELT_ERROR_INVALID, "byteLength of the view");
    expect_refusal(&v, ",'count':102,'byteStride':2", PELT_ERROR_INVALID, "multiple of 4 up to 256");
    expect_refusal(&v, ",'byteLength':100000", PELT_ERROR_INVALID, "100000");
    expect_refusal(&v, ",'byteOffset':1", PELT_ERROR_INVALID, "past the end");
    expect_refusal(&v, ",'buffer':1,'byteLength':100", PELT_ERROR_INVALID, "fallback");
    expect_refusal(&v, ",'buffer':2", PELT_ERROR_INVALID, "buffer is 2");
    expect_refusal(&v, ",'mode':'VERTICES'", PELT_ERROR_INVALID, "VERTICES");
    expect_refusal(&v, ",'mode':1", PELT_ERROR_INVALID, "mode is 1");
    expect_refusal(&v, ",'filter':'ZIGZAG'", PELT_ERROR_INVALID, "ZIGZAG");
    expect_refusal(&v, ",'filter':'OCTAHEDRAL'", PELT_ERROR_INVALID, "4 or 8");
    expect_refusal(&v, ",'filter':'QUATERNION'", PELT_ERROR_INVALID, "has to be 8");
    expect_refusal(&v, ",'mode':'TRIANGLES'", PELT_ERROR_INVALID, "2 or 4");
    expect_refusal(&v, ",'mode':'TRIANGLES','byteStride':4,'count':51", PELT_ERROR_INVALID, "header of its mode");
    expect_refusal(&v, ",'mode':'TRIANGLES','byteStride':2,'count':102,'filter':'EXPONENTIAL'", PELT_ERROR_INVALID,
                   "has to be NONE");
    expect_refusal(&v, ",'mode':'INDICES','byteStride':4,'count':51", PELT_ERROR_INVALID, "header of its mode");
    packed_free(&v);
    v = pack_vertices(20, 4);
    expect_refusal(&v, ",'mode':'TRIANGLES'", PELT_ERROR_INVALID, "multiple of 3");
    packed_free(&v);
}

static void unknown_stream_versions_are_unsupported(void **state)
{
    (void)state;
    packed v = pack_vertices(20, 8);
    v.extension = "KHR";
    expect_refusal(&v, ",'filter':'COLOR'", PELT_ERROR_UNSUPPORTED, "COLOR");
    v.extension = "EXT";
    expect_refusal(&v, ",'filter':'COLOR'", PELT_ERROR_INVALID, "COLOR");
    v.stream.data[0] = 0xA1;
    expect_refusal(&v, "", PELT_ERROR_UNSUPPORTED, "EXT_meshopt_compression: vertex stream version 1");
    v.extension = "KHR";
    expect_refusal(&v, "", PELT_ERROR_UNSUPPORTED, "KHR_meshopt_compression: vertex stream version 1");
    v.stream.data[0] = 0xE1;
    expect_refusal(&v, "", PELT_ERROR_INVALID, "header of its mode");
    packed_free(&v);
    packed t = pack_indices(true, 4);
    assert_true(t.stream.data[0] == 0xE1 || t.stream.data[0] == 0xE0);
    t.stream.data[0] = 0xE2;
    expect_refusal(&t, "", PELT_ERROR_UNSUPPORTED, "index stream version 2");
    packed_free(&t);
    packed s = pack_indices(false, 2);
    s.stream.data[0] = 0xD7;
    expect_refusal(&s, "", PELT_ERROR_UNSUPPORTED, "index stream version 7");
    packed_free(&s);
}

static void damaged_streams_are_refused(void **state)
{
    (void)state;
    packed streams[3] = {pack_vertices(50, 8), pack_indices(true, 2), pack_indices(false, 4)};
    for (size_t k = 0; k < 3; k++) {
        packed *p = &streams[k];
        size_t whole = p->stream.size;
        for (size_t size = 0; size < whole; size++) {
            peltt_bytes kept = {malloc(size > 0 ? size : 1), size};
            assert_non_null(kept.data);
            memcpy(kept.data, p->stream.data, size);
            packed cut = *p;
            cut.stream = kept;
            expect_refusal(&cut, "", PELT_ERROR_INVALID, "stream");
            free(kept.data);
        }
        for (size_t i = 0; i < whole; i++) {
            p->stream.data[i] ^= 0x55;
            peltt_document document;
            gltf_view view;
            pelt_error error;
            pelt_result result = open_packed(p, "", NULL, &document, &view, &error);
            assert_true(result == PELT_OK || result == PELT_ERROR_INVALID || result == PELT_ERROR_UNSUPPORTED);
            peltt_document_close(&document);
            p->stream.data[i] ^= 0x55;
        }
        packed_free(p);
    }
}

static void short_streams_reserve_no_memory(void **state)
{
    (void)state;
    peltt_alloc allocations = {0};
    pelt_gltf_options options = {.allocator = peltt_alloc_make(&allocations)};
    static const char *const modes[] = {"ATTRIBUTES", "TRIANGLES", "INDICES"};
    static const uint8_t heads[] = {0xA0, 0xE1, 0xD1};
    for (size_t i = 0; i < 3; i++) {
        char json[1024];
        snprintf(json, sizeof json,
                 "{" ASSET ",'extensionsUsed':['EXT_meshopt_compression'],'buffers':[{'byteLength':64},"
                 "{'byteLength':4800000000}],'bufferViews':[{'buffer':1,'byteLength':4800000000,'extensions':"
                 "{'EXT_meshopt_compression':{'buffer':0,'byteLength':64,'byteStride':4,'count':1200000000,"
                 "'mode':'%s'}}}]}",
                 modes[i]);
        uint8_t bin[64] = {heads[i]};
        peltt_document document;
        gltf_view view;
        pelt_error error;
        assert_int_equal(peltt_document_open(json, bin, 64, &options, &document, &error), PELT_OK);
        assert_int_equal(pelti_gltf_view(document.gltf, 0, &view, &error), PELT_ERROR_INVALID);
        peltt_assert_error(&error, PELT_ERROR_INVALID, "too short");
        peltt_document_close(&document);
    }
    assert_true(allocations.peak_bytes < 16384);
}

static void decoded_views_count_against_the_memory_limit(void **state)
{
    (void)state;
    packed p = pack_vertices(1000, 16);
    pelt_gltf_options options = {.limits = {.memory = 15999}};
    peltt_document document;
    gltf_view view;
    pelt_error error;
    open_packed(&p, "", &options, &document, &view, &error);
    peltt_assert_error(&error, PELT_ERROR_LIMIT, "bufferView 0", "16000", "--max-memory");
    peltt_document_close(&document);
    options.limits.memory = 16000;
    assert_int_equal(open_packed(&p, "", &options, &document, &view, &error), PELT_OK);
    peltt_document_close(&document);
    pelt_result result = PELT_ERROR_MEMORY;
    for (uint64_t n = 1; result == PELT_ERROR_MEMORY; n++) {
        peltt_alloc allocations = {.fail_at = n};
        pelt_gltf_options failing = {.allocator = peltt_alloc_make(&allocations)};
        result = open_packed(&p, "", &failing, &document, &view, &error);
        assert_int_equal(error.code, result);
        peltt_document_close(&document);
        assert_true(allocations.live_blocks == 0);
        assert_true(n < 50);
    }
    assert_int_equal(result, PELT_OK);
    packed_free(&p);
}

static void placeholders_serve_compressed_views_only(void **state)
{
    (void)state;
    peltt_log log;
    pelt_error error;
#define VIEW                                                                                                           \
    "'extensions':{'EXT_meshopt_compression':{'buffer':0,'byteLength':8,'byteStride':4,'count':1,'mode':'ATTRIBUTES'}" \
    "}"
    static const char *const fine[] = {
        "{" ASSET ",'extensionsUsed':['EXT_meshopt_compression'],'buffers':[{'byteLength':8},{'byteLength':4,"
        "'extensions':{'EXT_meshopt_compression':{'fallback':true}}}],'bufferViews':[{'buffer':1,'byteLength':4," VIEW
        "}]}",
        // Without the mark, and with a uri that nobody has to have.
        "{" ASSET ",'extensionsUsed':['EXT_meshopt_compression'],'buffers':[{'byteLength':8},{'byteLength':4}],"
        "'bufferViews':[{'buffer':1,'byteLength':4," VIEW "}]}",
        "{" ASSET ",'extensionsUsed':['EXT_meshopt_compression'],'buffers':[{'byteLength':8},{'byteLength':4,"
        "'uri':'absent.bin','extensions':{'EXT_meshopt_compression':{'fallback':true}}}]}",
    };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(open_glb(fine[i], 8, &log, &error), PELT_OK);
    }
    static const char *const bad[] = {
        "{" ASSET ",'buffers':[{'byteLength':8},{'byteLength':4,'extensions':{'EXT_meshopt_compression':"
        "{'fallback':true}}}],'bufferViews':[{'buffer':0,'byteLength':4},{'buffer':1,'byteLength':4}]}",
        "{" ASSET ",'extensionsUsed':['EXT_meshopt_compression'],'buffers':[{'byteLength':8},{'byteLength':4}],"
        "'bufferViews':[{'buffer':1,'byteLength':4," VIEW "},{'buffer':1,'byteLength':4}]}",
    };
    for (size_t i = 0; i < 2; i++) {
        open_glb(bad[i], 8, &log, &error);
        peltt_assert_error(&error, PELT_ERROR_INVALID, "bufferView 1", "buffer 1", "no bytes");
    }
    // The view has to fit the length that the placeholder declares.
    packed p = pack_vertices(4, 4);
    char json[1024];
    snprintf(json, sizeof json,
             "{" ASSET ",'extensionsUsed':['EXT_meshopt_compression'],'buffers':[{'byteLength':%zu},{'byteLength':15}],"
             "'bufferViews':[{'buffer':1,'byteLength':16,'extensions':{'EXT_meshopt_compression':{'buffer':0,"
             "'byteLength':%zu,'byteStride':4,'count':4,'mode':'ATTRIBUTES'}}}]}",
             p.stream.size, p.stream.size);
    peltt_document document;
    gltf_view view;
    assert_int_equal(peltt_document_open(json, p.stream.data, p.stream.size, NULL, &document, &error), PELT_OK);
    pelti_gltf_view(document.gltf, 0, &view, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "bufferView 0", "15 bytes");
    peltt_document_close(&document);
    packed_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bin_chunk_is_compared_with_buffer_0),
        cmocka_unit_test(buffers_without_bytes_are_refused),
        cmocka_unit_test(views_stay_in_their_buffer),
        cmocka_unit_test(missing_views_are_named),
        cmocka_unit_test(compressed_views_are_decoded),
        cmocka_unit_test(filters_restore_values),
        cmocka_unit_test(broken_layouts_are_refused),
        cmocka_unit_test(unknown_stream_versions_are_unsupported),
        cmocka_unit_test(damaged_streams_are_refused),
        cmocka_unit_test(short_streams_reserve_no_memory),
        cmocka_unit_test(decoded_views_count_against_the_memory_limit),
        cmocka_unit_test(placeholders_serve_compressed_views_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

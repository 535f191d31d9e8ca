// SPDX-License-Identifier: MIT
// Keeps the long data URIs of buffers away from the JSON parser, which would read them byte by byte and hold several
// copies: the parser gets the text with a mark in the place of each, and the buffer is decoded from the file itself.
#include "gltf_internal.h"

// Shorter ones are not worth the copy of the rest.
static const uint64_t shortest = 4096;
static const char mark[] = "data:@";

enum {
    MARK_CAPACITY = 32
};

uint64_t pelti_gltf_string_end(const uint8_t *text, uint64_t size, uint64_t start)
{
    uint64_t at = start;
    while (at < size) {
        const uint8_t *quote = memchr(text + at, '"', (size_t)(size - at));
        if (!quote) {
            return size;
        }
        uint64_t end = (uint64_t)(quote - text);
        uint64_t run = 0;
        while (end - run > start && text[end - run - 1] == '\\') {
            run++;
        }
        if (run % 2 == 0) {
            return end;
        }
        at = end + 1;
    }
    return size;
}

typedef struct uri_scan {
    const uint8_t *text;
    uint64_t size;
    uint64_t at;
    uint32_t depth;
    bool in_buffers; // inside the value of the root's "buffers"
} uri_scan;

typedef struct text_range {
    uint64_t start;
    uint64_t size;
} text_range;

static uint64_t skip_space(const uri_scan *scan, uint64_t at)
{
    while (at < scan->size &&
           (scan->text[at] == ' ' || scan->text[at] == '\t' || scan->text[at] == '\n' || scan->text[at] == '\r')) {
        at++;
    }
    return at;
}

static bool range_is(const uri_scan *scan, text_range range, const char *text)
{
    return range.size == strlen(text) && memcmp(scan->text + range.start, text, (size_t)range.size) == 0;
}

// Plain ASCII without escapes: what the parser would take as it stands.
static bool is_plain(const uint8_t *text, uint64_t size)
{
    unsigned bad = 0;
    for (uint64_t i = 0; i < size; i++) {
        bad |= (unsigned)(text[i] < 0x20) | (unsigned)(text[i] > 0x7E) | (unsigned)(text[i] == '\\');
    }
    return bad == 0;
}

// The value of a key that ends before `after`, where it is a long data URI.
static bool long_uri_after(const uri_scan *scan, uint64_t after, text_range *out)
{
    uint64_t colon = skip_space(scan, after);
    if (colon >= scan->size || scan->text[colon] != ':') {
        return false;
    }
    uint64_t quote = skip_space(scan, colon + 1);
    if (quote >= scan->size || scan->text[quote] != '"') {
        return false;
    }
    out->start = quote + 1;
    uint64_t end = pelti_gltf_string_end(scan->text, scan->size, out->start);
    out->size = end - out->start;
    return end < scan->size && out->size >= shortest && memcmp(scan->text + out->start, "data:", 5) == 0 &&
           is_plain(scan->text + out->start, out->size);
}

// A string at scan->at; true where it is the key of a long URI in an object of buffers. The scan goes behind it.
static bool take_string(uri_scan *scan, text_range *out)
{
    text_range string = {.start = scan->at + 1};
    uint64_t end = pelti_gltf_string_end(scan->text, scan->size, string.start);
    string.size = end - string.start;
    scan->at = end < scan->size ? end + 1 : end;
    if (scan->depth == 1) {
        uint64_t next = skip_space(scan, scan->at);
        bool key = next < scan->size && scan->text[next] == ':';
        scan->in_buffers = key && range_is(scan, string, "buffers");
    }
    if (!scan->in_buffers || scan->depth != 3 || !range_is(scan, string, "uri") ||
        !long_uri_after(scan, scan->at, out)) {
        return false;
    }
    scan->at = out->start + out->size + 1;
    return true;
}

// Finds the next long data URI of a buffer. Text that is no JSON gives nonsense at worst: the parser judges it later.
static bool next_uri(uri_scan *scan, text_range *out)
{
    while (scan->at < scan->size) {
        uint8_t c = scan->text[scan->at];
        if (c == '"') {
            if (take_string(scan, out)) {
                return true;
            }
            continue;
        }
        if (c == '{' || c == '[') {
            scan->depth++;
        } else if ((c == '}' || c == ']') && scan->depth > 0) {
            scan->depth--;
        }
        scan->at++;
    }
    return false;
}

static uint8_t *shorten(pelt_gltf *gltf, const uint8_t *text, uint64_t size, uint64_t capacity, uint64_t *out_size)
{
    uint8_t *copy = pelti_allocate(&gltf->options.allocator, capacity, 1);
    if (!copy) {
        return NULL;
    }
    uri_scan scan = {.text = text, .size = size};
    text_range range;
    uint64_t from = 0;
    uint64_t used = 0;
    for (uint32_t i = 0; i < gltf->embedded_count && next_uri(&scan, &range); i++) {
        memcpy(copy + used, text + from, (size_t)(range.start - from));
        used += range.start - from;
        used += (uint64_t)snprintf((char *)copy + used, MARK_CAPACITY, "%s%u", mark, i);
        from = range.start + range.size;
        gltf->embedded[i] = (gltf_text){(const char *)text + range.start, range.size};
    }
    memcpy(copy + used, text + from, (size_t)(size - from));
    *out_size = used + size - from;
    return copy;
}

pelt_result pelti_gltf_shorten_text(pelt_gltf *gltf, const uint8_t *text, uint64_t size, gltf_bytes *out,
                                    pelt_error *error)
{
    *out = (gltf_bytes){.data = text, .size = size, .owner = GLTF_BYTES_BORROWED};
    uri_scan scan = {.text = text, .size = size};
    text_range range;
    uint64_t capacity = size;
    uint32_t count = 0;
    while (next_uri(&scan, &range)) {
        capacity = capacity - range.size + MARK_CAPACITY;
        count++;
    }
    if (count == 0) {
        return PELT_OK;
    }
    gltf->embedded = pelti_allocate(&gltf->options.allocator, count, sizeof *gltf->embedded);
    if (gltf->embedded) {
        gltf->embedded_count = count;
        out->data = shorten(gltf, text, size, capacity, &out->size);
    }
    if (!gltf->embedded || !out->data) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory while parsing the JSON");
    }
    out->capacity = capacity;
    out->owner = GLTF_BYTES_ALLOCATED;
    return PELT_OK;
}

gltf_text pelti_gltf_embedded_uri(const pelt_gltf *gltf, const char *uri)
{
    gltf_text text = {uri, strlen(uri)};
    size_t mark_length = sizeof mark - 1;
    if (gltf->embedded_count == 0 || strncmp(uri, mark, mark_length) != 0) {
        return text;
    }
    // A file may hold such a text itself; all it can reach is another of its own buffers.
    char *end = NULL;
    unsigned long index = strtoul(uri + mark_length, &end, 10);
    bool fits = end != uri + mark_length && *end == '\0' && index < gltf->embedded_count;
    return fits ? gltf->embedded[index] : text;
}

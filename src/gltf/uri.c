// SPDX-License-Identifier: MIT
// Reads what a URI names: a data URI (RFC 2397), or a file that must not leave the document's folder.
#define _XOPEN_SOURCE 700 // realpath, which glibc counts among the X/Open extensions
#include "gltf_internal.h"

#include <errno.h>
#include <limits.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

typedef struct uri_request {
    pelt_gltf *gltf;
    const char *uri;
    const char *subject; // buffer 0: uri "..."
    const char *where;
    pelt_error *error;
} uri_request;

static pelt_result refuse(const uri_request *request, const char *reason)
{
    return pelti_fail(request->error, PELT_ERROR_INVALID, request->where, "%s %s", request->subject, reason);
}

static pelt_result refuse_outside(const uri_request *request, const char *reason)
{
    refuse(request, reason);
    pelti_hint(request->error, "if you trust the file, allow it with --allow-outside");
    return PELT_ERROR_INVALID;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Decodes each %XX once; out holds length bytes. False at a broken escape.
static bool percent_decode(const char *text, uint64_t length, char *out, uint64_t *out_size)
{
    uint64_t size = 0;
    for (uint64_t i = 0; i < length; i++) {
        if (text[i] != '%') {
            out[size++] = text[i];
            continue;
        }
        int high = length - i > 2 ? hex_value(text[i + 1]) : -1;
        int low = length - i > 2 ? hex_value(text[i + 2]) : -1;
        if (high < 0 || low < 0) {
            return false;
        }
        out[size++] = (char)(unsigned char)(high << 4 | low);
        i += 2;
    }
    *out_size = size;
    return true;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

// prefix is in lower case.
static bool starts_with(const char *text, const char *prefix)
{
    while (*prefix != '\0') {
        if (lower(*text++) != *prefix++) {
            return false;
        }
    }
    return true;
}

// RFC 3986, section 3.1; a drive letter looks the same.
static bool has_scheme(const char *text)
{
    if (lower(text[0]) < 'a' || lower(text[0]) > 'z') {
        return false;
    }
    size_t i = 1;
    while ((lower(text[i]) >= 'a' && lower(text[i]) <= 'z') || (text[i] >= '0' && text[i] <= '9') || text[i] == '+' ||
           text[i] == '.' || text[i] == '-') {
        i++;
    }
    return text[i] == ':';
}

// ---- data URIs

static pelt_result decode_base64(const uri_request *request, const char *payload, uint64_t length, gltf_bytes *out)
{
    pelt_gltf *gltf = request->gltf;
    uint64_t bound = pelti_gltf_base64_bound(length);
    pelt_result result =
        pelti_gltf_allocate_bytes(gltf, bound > 0 ? bound : 1, request->subject, request->where, out, request->error);
    if (result) {
        return result;
    }
    union {
        const uint8_t *constant;
        uint8_t *plain;
    } memory = {.constant = out->data};
    if (!pelti_gltf_base64_decode(payload, length, memory.plain, &out->size)) {
        result =
            pelti_fail(request->error, PELT_ERROR_INVALID, request->where,
                       "%s is not base64: character %llu of its data", request->subject, (unsigned long long)out->size);
        pelti_gltf_release_bytes(gltf, out);
    }
    return result;
}

// Percent-decoded bytes; base64 text may be escaped too ("%3D" for "=").
static pelt_result unescape(const uri_request *request, const char *payload, uint64_t length, gltf_bytes *out)
{
    pelt_result result = pelti_gltf_allocate_bytes(request->gltf, length > 0 ? length : 1, request->subject,
                                                   request->where, out, request->error);
    if (result) {
        return result;
    }
    union {
        const uint8_t *constant;
        char *plain;
    } memory = {.constant = out->data};
    if (!percent_decode(payload, length, memory.plain, &out->size)) {
        pelti_gltf_release_bytes(request->gltf, out);
        return refuse(request, "has a broken percent escape");
    }
    return PELT_OK;
}

static const char *find(const char *text, uint64_t length, char wanted)
{
    return memchr(text, wanted, (size_t)length);
}

static pelt_result read_data(const uri_request *request, gltf_text uri, gltf_bytes *out, char *media_type)
{
    const char *header = uri.text + 5;
    const char *end = uri.text + uri.length;
    const char *comma = find(header, uri.length - 5, ',');
    if (!comma) {
        return refuse(request, "has no comma before its data");
    }
    size_t header_length = (size_t)(comma - header);
    bool base64 = header_length >= 7 && starts_with(comma - 7, ";base64");
    if (media_type) {
        const char *semicolon = find(header, header_length, ';');
        size_t type_length = semicolon ? (size_t)(semicolon - header) : header_length;
        snprintf(media_type, 64, "%.*s", type_length < 64 ? (int)type_length : 0, header);
    }
    const char *payload = comma + 1;
    uint64_t length = (uint64_t)(end - payload);
    if (!base64) {
        return unescape(request, payload, length, out);
    }
    if (!find(payload, length, '%')) {
        return decode_base64(request, payload, length, out);
    }
    gltf_bytes plain;
    pelt_result result = unescape(request, payload, length, &plain);
    if (!result) {
        result = decode_base64(request, (const char *)plain.data, plain.size, out);
        pelti_gltf_release_bytes(request->gltf, &plain);
    }
    return result;
}

bool pelti_gltf_is_data_uri(const char *uri)
{
    return starts_with(uri, "data:");
}

pelt_result pelti_gltf_read_data_uri(pelt_gltf *gltf, gltf_text uri, const char *what, const char *where,
                                     gltf_bytes *out, char *media_type, pelt_error *error)
{
    *out = (gltf_bytes){.data = NULL};
    gltf_path subject = pelti_gltf_path("%s: data uri", what);
    uri_request request = {.gltf = gltf, .subject = subject.text, .where = where, .error = error};
    return read_data(&request, uri, out, media_type);
}

// ---- files

// True when ".." leads above the start at any point; links are looked at later.
static bool climbs_out(const char *path)
{
    uint64_t depth = 0;
    while (*path != '\0') {
        size_t length = strcspn(path, "/");
        if (length == 2 && path[0] == '.' && path[1] == '.') {
            if (depth == 0) {
                return true;
            }
            depth--;
        } else if (length > 0 && !(length == 1 && path[0] == '.')) {
            depth++;
        }
        path += length;
        path += *path == '/' ? 1 : 0;
    }
    return false;
}

static pelt_result check_name(const uri_request *request, const char *name, uint64_t length)
{
    if (length == 0) {
        return refuse(request, "is empty");
    }
    if (memchr(name, '\0', (size_t)length)) {
        return refuse(request, "contains a NUL character");
    }
    if (has_scheme(request->uri) || has_scheme(name)) {
        return refuse(request, "has a scheme or a drive letter: only files and data URIs can be read");
    }
    if (strchr(name, '\\')) {
        return refuse(request, "contains a backslash");
    }
    if (request->gltf->options.allow_outside) {
        return PELT_OK;
    }
    if (name[0] == '/') {
        return refuse_outside(request, "is an absolute path");
    }
    return climbs_out(name) ? refuse_outside(request, "leads out of the file's folder") : PELT_OK;
}

static pelt_result fail_resolve(const uri_request *request, int code)
{
    char reason[128];
    if (strerror_r(code, reason, sizeof reason) != 0) {
        snprintf(reason, sizeof reason, "error %d", code);
    }
    return pelti_fail(request->error, PELT_ERROR_IO, request->where, "%s cannot be read: %s", request->subject, reason);
}

// path is at or below folder, component by component; both come from realpath.
static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    if (length > 0 && folder[length - 1] == '/') {
        length--;
    }
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

// Follows every link before the file is opened, so that what is checked is what is read.
static pelt_result resolve(const uri_request *request, const char *joined, char *resolved)
{
    if (!realpath(joined, resolved)) {
        return fail_resolve(request, errno);
    }
    if (request->gltf->options.allow_outside) {
        return PELT_OK;
    }
    char folder[PATH_MAX];
    if (!realpath(request->gltf->folder, folder)) {
        return fail_resolve(request, errno);
    }
    return is_below(resolved, folder) ? PELT_OK : refuse_outside(request, "leads out of the file's folder by a link");
}

static pelt_result read_named_file(const uri_request *request, const char *name, gltf_bytes *out)
{
    pelt_gltf *gltf = request->gltf;
    bool absolute = name[0] == '/';
    if (!gltf->folder && !absolute) {
        return refuse(request, "cannot be read: the document came from memory and has no folder");
    }
    char joined[PATH_MAX];
    int written = snprintf(joined, sizeof joined, "%s%s%s", absolute ? "" : gltf->folder, absolute ? "" : "/", name);
    if (written < 0 || (size_t)written >= sizeof joined) {
        return fail_resolve(request, ENAMETOOLONG);
    }
    char resolved[PATH_MAX];
    pelt_result result = resolve(request, joined, resolved);
    if (!result) {
        result = pelti_gltf_read_file(&gltf->options, resolved, request->subject, request->where, out, request->error);
    }
    if (result || out->owner != GLTF_BYTES_ALLOCATED) {
        return result;
    }
    if (out->capacity > gltf->options.limits.memory - gltf->memory_used) {
        pelti_gltf_release_file(&gltf->options.allocator, out);
        pelti_fail(request->error, PELT_ERROR_LIMIT, request->where, "%s does not fit the memory limit of %llu bytes",
                   request->subject, (unsigned long long)gltf->options.limits.memory);
        pelti_hint(request->error, "raise the limit with --max-memory");
        return PELT_ERROR_LIMIT;
    }
    gltf->memory_used += out->capacity;
    return PELT_OK;
}

static pelt_result read_file_uri(uri_request *request, const char *what, gltf_bytes *out)
{
    uint64_t length = strlen(request->uri);
    const pelt_allocator *allocator = &request->gltf->options.allocator;
    char *name = pelti_allocate(allocator, length + 1, 1);
    if (!name) {
        return pelti_fail(request->error, PELT_ERROR_MEMORY, request->where, "%s: out of memory", what);
    }
    uint64_t name_length = 0;
    pelt_result result;
    if (!percent_decode(request->uri, length, name, &name_length)) {
        result = refuse(request, "has a broken percent escape");
    } else {
        name[name_length] = '\0';
        gltf_path subject = pelti_gltf_path("%s: uri \"%s\"", what, pelti_gltf_quote(name).text);
        request->subject = subject.text;
        result = check_name(request, name, name_length);
        if (!result) {
            result = read_named_file(request, name, out);
        }
    }
    pelti_release(allocator, name, length + 1, 1);
    return result;
}

pelt_result pelti_gltf_read_uri(pelt_gltf *gltf, const char *uri, const char *what, const char *where, gltf_bytes *out,
                                char *media_type, pelt_error *error)
{
    *out = (gltf_bytes){.data = NULL};
    if (media_type) {
        media_type[0] = '\0';
    }
    if (pelti_gltf_is_data_uri(uri)) {
        gltf_text text = {uri, strlen(uri)};
        return pelti_gltf_read_data_uri(gltf, text, what, where, out, media_type, error);
    }
    gltf_path subject = pelti_gltf_path("%s: uri \"%s\"", what, pelti_gltf_quote(uri).text);
    uri_request request = {.gltf = gltf, .uri = uri, .subject = subject.text, .where = where, .error = error};
    return read_file_uri(&request, what, out);
}

void pelti_gltf_release_bytes(pelt_gltf *gltf, gltf_bytes *bytes)
{
    if (bytes->data && bytes->owner == GLTF_BYTES_ALLOCATED) {
        gltf->memory_used -= bytes->capacity;
    }
    pelti_gltf_release_file(&gltf->options.allocator, bytes);
}

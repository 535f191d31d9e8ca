// SPDX-License-Identifier: MIT
// Reads JSON properties with their checks; every message names the object, the key and what is there.
#include "gltf_internal.h"

#include <float.h>
#include <math.h>

gltf_path pelti_gltf_path(const char *format, ...)
{
    gltf_path path;
    va_list arguments;
    va_start(arguments, format);
    pelti_format(path.text, sizeof path.text, format, arguments);
    va_end(arguments);
    return path;
}

gltf_quote pelti_gltf_quote(const char *text)
{
    gltf_quote quote;
    size_t length = strlen(text);
    size_t room = sizeof quote.text - 1;
    // Three bytes for "..." where the text is cut.
    size_t kept = length <= room ? length : pelti_utf8_cut(text, length, room - 3);
    for (size_t i = 0; i < kept; i++) {
        unsigned char byte = (unsigned char)text[i];
        quote.text[i] = byte < 0x20 || byte == 0x7F ? '?' : text[i];
    }
    snprintf(quote.text + kept, sizeof quote.text - kept, "%s", kept < length ? "..." : "");
    return quote;
}

static bool is_number_segment(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
    }
    return length > 0;
}

// Appends the segment, as a singular where a number follows.
static size_t append_segment(char *out, size_t capacity, size_t used, const char *segment, size_t length, bool counted)
{
    const char *separator = used == 0 ? "" : ", ";
    int written;
    if (counted && length == 6 && memcmp(segment, "meshes", 6) == 0) {
        written = snprintf(out + used, capacity - used, "%smesh", separator);
    } else {
        size_t kept = counted && length > 1 && segment[length - 1] == 's' ? length - 1 : length;
        written = snprintf(out + used, capacity - used, "%s%.*s", separator, (int)kept, segment);
    }
    size_t end = used + (written > 0 ? (size_t)written : 0);
    return end < capacity ? end : capacity - 1;
}

gltf_path pelti_gltf_subject(const char *where)
{
    gltf_path subject = {""};
    size_t used = 0;
    const char *segment = where;
    while (*segment == '/') {
        segment++;
        size_t length = strcspn(segment, "/");
        const char *next = segment + length;
        size_t number_length = *next == '/' ? strcspn(next + 1, "/") : 0;
        bool counted = number_length > 0 && is_number_segment(next + 1, number_length);
        // "extensions" says nothing that the extension's name does not.
        if (counted || length != 10 || memcmp(segment, "extensions", 10) != 0) {
            used = append_segment(subject.text, sizeof subject.text, used, segment, length, counted);
        }
        if (counted) {
            int written =
                snprintf(subject.text + used, sizeof subject.text - used, " %.*s", (int)number_length, next + 1);
            used += written > 0 ? (size_t)written : 0;
            used = used < sizeof subject.text ? used : sizeof subject.text - 1;
            next += 1 + number_length;
        }
        segment = next;
    }
    if (used == 0) {
        snprintf(subject.text, sizeof subject.text, "glTF");
    }
    return subject;
}

// The JSON pointer of a property: "~" and "/" inside a key are escaped (RFC 6901, section 3).
static gltf_path join(const char *where, const char *key)
{
    gltf_path path;
    int start = snprintf(path.text, sizeof path.text, "%s/", where);
    size_t used = start > 0 && (size_t)start < sizeof path.text ? (size_t)start : sizeof path.text - 1;
    gltf_quote quoted = pelti_gltf_quote(key);
    for (const char *at = quoted.text; *at != '\0' && used + 2 < sizeof path.text; at++) {
        if (*at == '~' || *at == '/') {
            path.text[used++] = '~';
            path.text[used++] = *at == '~' ? '0' : '1';
        } else {
            path.text[used++] = *at;
        }
    }
    path.text[used] = '\0';
    return path;
}

// What a value is, for "... is X, not Y": numbers as written, the rest by kind.
static gltf_quote describe(const json_t *value)
{
    gltf_quote text;
    switch (json_typeof(value)) {
    case JSON_INTEGER:
        snprintf(text.text, sizeof text.text, "%lld", (long long)json_integer_value(value));
        break;
    case JSON_REAL:
        snprintf(text.text, sizeof text.text, "%.17g", json_real_value(value));
        // The shortest text that reads back as the same number.
        for (int digits = 1; digits < 17; digits++) {
            char shorter[64];
            snprintf(shorter, sizeof shorter, "%.*g", digits, json_real_value(value));
            if (strtod(shorter, NULL) == json_real_value(value)) {
                snprintf(text.text, sizeof text.text, "%s", shorter);
                break;
            }
        }
        break;
    case JSON_STRING:
        snprintf(text.text, sizeof text.text, "a string");
        break;
    case JSON_ARRAY:
        snprintf(text.text, sizeof text.text, "an array of %zu", json_array_size(value));
        break;
    case JSON_OBJECT:
        snprintf(text.text, sizeof text.text, "an object");
        break;
    case JSON_TRUE:
        snprintf(text.text, sizeof text.text, "true");
        break;
    case JSON_FALSE:
        snprintf(text.text, sizeof text.text, "false");
        break;
    case JSON_NULL:
        snprintf(text.text, sizeof text.text, "null");
        break;
    }
    return text;
}

static pelt_result fail_kind(const json_t *value, const char *name, const char *where, const char *wanted,
                             pelt_error *error)
{
    return pelti_fail(error, PELT_ERROR_INVALID, where, "%s: %s is %s, not %s", pelti_gltf_subject(where).text,
                      pelti_gltf_quote(name).text, describe(value).text, wanted);
}

// A property's own pointer names the property, its subject the object around it.
static pelt_result fail_property(const json_t *value, const char *key, const char *where, const char *wanted,
                                 pelt_error *error)
{
    return pelti_fail(error, PELT_ERROR_INVALID, join(where, key).text, "%s: %s is %s, not %s",
                      pelti_gltf_subject(where).text, pelti_gltf_quote(key).text, describe(value).text, wanted);
}

static pelt_result fail_missing(const char *key, const char *where, pelt_error *error)
{
    return pelti_fail(error, PELT_ERROR_INVALID, where, "%s: %s is missing", pelti_gltf_subject(where).text,
                      pelti_gltf_quote(key).text);
}

pelt_result pelti_gltf_array(const pelt_gltf *gltf, const char *key, json_t **out_array, uint32_t *out_count,
                             pelt_error *error)
{
    *out_array = NULL;
    *out_count = 0;
    json_t *array = json_object_get(gltf->root, key);
    if (!array) {
        return PELT_OK;
    }
    if (!json_is_array(array)) {
        return fail_property(array, key, "", "an array", error);
    }
    size_t count = json_array_size(array);
    if (count >= UINT32_MAX) {
        return pelti_fail(error, PELT_ERROR_INVALID, join("", key).text, "%s has %zu entries, too many to index", key,
                          count);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(array, i);
        if (!json_is_object(item)) {
            return pelti_fail(error, PELT_ERROR_INVALID, pelti_gltf_path("/%s/%zu", key, i).text,
                              "%s: is %s, not an object",
                              pelti_gltf_subject(pelti_gltf_path("/%s/%zu", key, i).text).text, describe(item).text);
        }
    }
    *out_array = array;
    *out_count = (uint32_t)count;
    return PELT_OK;
}

pelt_result pelti_gltf_item(const pelt_gltf *gltf, const char *key, uint32_t index, json_t **out_object,
                            pelt_error *error)
{
    *out_object = NULL;
    json_t *array = json_object_get(gltf->root, key);
    if (array && !json_is_array(array)) {
        return fail_property(array, key, "", "an array", error);
    }
    gltf_path where = pelti_gltf_path("/%s/%u", key, index);
    json_t *item = json_array_get(array, index);
    if (!item) {
        return pelti_fail(error, PELT_ERROR_INVALID, where.text, "%s does not exist: %s has %zu entries",
                          pelti_gltf_subject(where.text).text, key, json_array_size(array));
    }
    if (!json_is_object(item)) {
        return pelti_fail(error, PELT_ERROR_INVALID, where.text, "%s: is %s, not an object",
                          pelti_gltf_subject(where.text).text, describe(item).text);
    }
    *out_object = item;
    return PELT_OK;
}

typedef enum integer_kind {
    INTEGER_FINE,
    INTEGER_NOT,
    INTEGER_NEGATIVE,
    INTEGER_HIGH
} integer_kind;

// Nothing is cast before it is known to fit: a real is compared as a real first.
static integer_kind read_integer(const json_t *value, uint64_t max, uint64_t *out)
{
    if (json_is_integer(value)) {
        json_int_t integer = json_integer_value(value);
        if (integer < 0) {
            return INTEGER_NEGATIVE;
        }
        *out = (uint64_t)integer;
        return *out > max ? INTEGER_HIGH : INTEGER_FINE;
    }
    if (!json_is_real(value)) {
        return INTEGER_NOT;
    }
    double real = json_real_value(value);
    if (real != floor(real)) {
        return INTEGER_NOT;
    }
    if (real < 0.0) {
        return INTEGER_NEGATIVE;
    }
    if (real >= 18446744073709551616.0) {
        return INTEGER_HIGH;
    }
    *out = (uint64_t)real;
    return *out > max ? INTEGER_HIGH : INTEGER_FINE;
}

// where is the pointer to report, subject what begins the message.
static pelt_result check_integer(const json_t *value, const char *name, const char *where, const char *subject,
                                 uint64_t max, uint64_t *out, pelt_error *error)
{
    uint64_t number = 0;
    gltf_quote quoted = pelti_gltf_quote(name);
    const char *shown = quoted.text;
    switch (read_integer(value, max, &number)) {
    case INTEGER_FINE:
        *out = number;
        return PELT_OK;
    case INTEGER_NEGATIVE:
        return pelti_fail(error, PELT_ERROR_INVALID, where, "%s: %s is %s, but must not be negative", subject, shown,
                          describe(value).text);
    case INTEGER_HIGH:
        return pelti_fail(error, PELT_ERROR_INVALID, where, "%s: %s is %s, over %llu, the highest possible", subject,
                          shown, describe(value).text, (unsigned long long)max);
    default:
        return pelti_fail(error, PELT_ERROR_INVALID, where, "%s: %s is %s, not an integer", subject, shown,
                          describe(value).text);
    }
}

pelt_result pelti_gltf_uint(const json_t *object, const char *key, const char *where, bool required, uint64_t max,
                            uint64_t *out, pelt_error *error)
{
    const json_t *value = json_object_get(object, key);
    if (!value) {
        return required ? fail_missing(key, where, error) : PELT_OK;
    }
    uint64_t number = 0;
    if (read_integer(value, max, &number) == INTEGER_FINE) {
        *out = number;
        return PELT_OK;
    }
    return check_integer(value, key, join(where, key).text, pelti_gltf_subject(where).text, max, out, error);
}

pelt_result pelti_gltf_uint_value(const json_t *value, const char *name, const char *where, uint64_t max, uint64_t *out,
                                  pelt_error *error)
{
    return check_integer(value, name, where, pelti_gltf_subject(where).text, max, out, error);
}

pelt_result pelti_gltf_index(const json_t *object, const char *key, const char *where, bool required, uint32_t count,
                             const char *of, uint32_t *out, pelt_error *error)
{
    const json_t *value = json_object_get(object, key);
    if (!value) {
        *out = PELT_NONE;
        return required ? fail_missing(key, where, error) : PELT_OK;
    }
    uint64_t number = 0;
    integer_kind kind = read_integer(value, UINT64_MAX, &number);
    if (kind == INTEGER_FINE && number < count) {
        *out = (uint32_t)number;
        return PELT_OK;
    }
    if (kind != INTEGER_FINE && kind != INTEGER_HIGH) {
        return check_integer(value, key, join(where, key).text, pelti_gltf_subject(where).text, UINT64_MAX, &number,
                             error);
    }
    const char *plural = count == 1 ? "" : strcmp(of, "mesh") == 0 ? "es" : "s";
    return pelti_fail(error, PELT_ERROR_INVALID, join(where, key).text, "%s: %s is %s, but the file has %u %s%s",
                      pelti_gltf_subject(where).text, pelti_gltf_quote(key).text, describe(value).text, count, of,
                      plural);
}

pelt_result pelti_gltf_floats(const json_t *object, const char *key, const char *where, uint32_t count, float *out,
                              bool *found, pelt_error *error)
{
    *found = false;
    const json_t *value = json_object_get(object, key);
    if (!value) {
        return PELT_OK;
    }
    if (!json_is_array(value)) {
        return fail_property(value, key, where, "an array of numbers", error);
    }
    if (json_array_size(value) != count) {
        return pelti_fail(error, PELT_ERROR_INVALID, join(where, key).text, "%s: %s has %zu numbers, not %u",
                          pelti_gltf_subject(where).text, pelti_gltf_quote(key).text, json_array_size(value), count);
    }
    for (uint32_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(value, i);
        if (!json_is_number(number)) {
            return fail_kind(number, pelti_gltf_path("%s[%u]", key, i).text, where, "a number", error);
        }
        double wide = json_number_value(number);
        if (fabs(wide) > (double)FLT_MAX) {
            return fail_kind(number, pelti_gltf_path("%s[%u]", key, i).text, where, "a finite float", error);
        }
        out[i] = (float)wide;
    }
    *found = true;
    return PELT_OK;
}

pelt_result pelti_gltf_bool(const json_t *object, const char *key, const char *where, bool *out, pelt_error *error)
{
    const json_t *value = json_object_get(object, key);
    if (value && !json_is_boolean(value)) {
        return fail_property(value, key, where, "true or false", error);
    }
    if (value) {
        *out = json_is_true(value);
    }
    return PELT_OK;
}

pelt_result pelti_gltf_text(const json_t *object, const char *key, const char *where, const char **out,
                            pelt_error *error)
{
    *out = NULL;
    const json_t *value = json_object_get(object, key);
    if (value && !json_is_string(value)) {
        return fail_property(value, key, where, "a string", error);
    }
    *out = json_string_value(value);
    return PELT_OK;
}

json_t *pelti_gltf_extension(const json_t *object, const char *name)
{
    json_t *extension = json_object_get(json_object_get(object, "extensions"), name);
    return json_is_object(extension) ? extension : NULL;
}

// SPDX-License-Identifier: MIT
// Turns JSON text into a tree: checks nesting and size before the parser sees them, then asset.version.
#include "gltf_internal.h"

#include <ctype.h>

// What one value costs in the tree, rounded up from jansson's structures on 64-bit machines: an object starts with a
// table of 8 buckets, an array with 8 slots, an entry of either is a hashed key or a slot and a value.
enum {
    OBJECT_COST = 256,
    ARRAY_COST = 128,
    ENTRY_COST = 128
};

typedef struct text_shape {
    uint32_t depth;
    uint32_t open; // brackets that nothing closes
    uint64_t cost; // upper bound of the bytes that the tree takes
} text_shape;

// One pass outside strings. The parser recurses once per level, so nesting is bounded before it starts.
static text_shape measure(const uint8_t *text, uint64_t size)
{
    text_shape shape = {.cost = size};
    uint32_t depth = 0;
    for (uint64_t i = 0; i < size; i++) {
        uint8_t c = text[i];
        if (c == '"') {
            i = pelti_gltf_string_end(text, size, i + 1);
        } else if (c == '{' || c == '[') {
            shape.cost += c == '{' ? OBJECT_COST : ARRAY_COST;
            depth += depth < UINT32_MAX ? 1 : 0;
            shape.depth = depth > shape.depth ? depth : shape.depth;
        } else if (c == '}' || c == ']') {
            depth -= depth > 0 ? 1 : 0;
        } else if (c == ',' || c == ':') {
            shape.cost += ENTRY_COST / 2;
        }
    }
    shape.open = depth;
    return shape;
}

// True for a run of digits that no 64-bit integer holds.
static bool is_over_int64(const uint8_t *digits, uint64_t count, bool negative)
{
    const char *highest = negative ? "9223372036854775808" : "9223372036854775807";
    return count > 19 || (count == 19 && memcmp(digits, highest, 19) > 0);
}

// JSON has no largest integer, the parser has: in place, "18446744073709551615" becomes "1844674407370955e+04", which
// it reads as a real. Extras do hold such numbers (64-bit identifiers); where one stands for an index or a count, the
// range checks refuse it.
static void rewrite_huge_integers(uint8_t *text, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++) {
        uint8_t c = text[i];
        if (c == '"') {
            i = pelti_gltf_string_end(text, size, i + 1);
        } else if (isdigit(c)) {
            uint64_t end = i;
            while (end < size && isdigit(text[end])) {
                end++;
            }
            bool integer = end == size || (text[end] != '.' && text[end] != 'e' && text[end] != 'E');
            // Digits of a fraction or an exponent are not an integer, however many they are.
            bool negative = i > 0 && text[i - 1] == '-';
            uint64_t start = i - negative;
            bool starts = start == 0 || !strchr(".eE+", text[start - 1]);
            if (integer && starts && is_over_int64(text + i, end - i, negative)) {
                memcpy(text + end - 4, "e+04", 4);
            }
            i = end - 1;
        }
    }
}

static pelt_result fail_parse(const json_error_t *failure, uint64_t file_offset, pelt_error *error)
{
    enum json_error_code code = json_error_code(failure);
    // A failed allocation deep in the parser leaves the text empty.
    if (code == json_error_out_of_memory || failure->text[0] == '\0') {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory while parsing the JSON");
    }
    unsigned long long offset = file_offset + (unsigned long long)(failure->position > 0 ? failure->position : 0);
    gltf_path where = pelti_gltf_path("byte %llu", offset);
    if (code == json_error_stack_overflow) {
        pelti_fail(error, PELT_ERROR_LIMIT, where.text, "the JSON nests deeper than the parser can follow");
        pelti_hint(error, "--max-json-depth cannot be raised over 2047");
        return PELT_ERROR_LIMIT;
    }
    return pelti_fail(error, PELT_ERROR_INVALID, where.text, "the JSON %s: %s (line %d, column %d, byte offset %llu)",
                      code == json_error_premature_end_of_input ? "ends early" : "does not parse",
                      pelti_gltf_quote(failure->text).text, failure->line, failure->column, offset);
}

// Texts may hold \u0000; duplicate keys are settled by the parser: the later one wins.
static json_t *load(const uint8_t *text, uint64_t size, json_error_t *failure)
{
    return json_loadb((const char *)text, (size_t)size, JSON_ALLOW_NUL, failure);
}

// Bytes of the longest string or number as it stands in the text, quotes included.
static uint64_t longest_token(const uint8_t *text, uint64_t size)
{
    uint64_t longest = 0;
    uint64_t run = 0;
    for (uint64_t i = 0; i < size; i++) {
        if (text[i] == '"') {
            uint64_t end = pelti_gltf_string_end(text, size, i + 1);
            run = end - i + 1;
            longest = run > longest ? run : longest;
            i = end;
            run = 0;
        } else {
            run = isalnum(text[i]) || text[i] == '+' || text[i] == '-' || text[i] == '.' ? run + 1 : 0;
            longest = run > longest ? run : longest;
        }
    }
    return longest;
}

// Parses ["xxx...", TEXT]. When memory runs out while jansson 2.14 lengthens its token buffer, it drops the byte at
// hand and goes on, so a key or a number could change in silence. The string in front is as long as the longest token:
// the buffer grows there and nowhere else, and the string's own length tells whether it did. NULL on any failure;
// *ends_early then tells whether all of TEXT was fine as far as it went.
static json_t *load_guarded(pelt_gltf *gltf, const uint8_t *text, uint64_t size, bool *ends_early)
{
    *ends_early = false;
    uint64_t guard = longest_token(text, size);
    uint64_t prefix = guard + 4;
    uint64_t total = prefix + size + 1;
    uint8_t *copy = pelti_allocate(&gltf->options.allocator, total, 1);
    if (!copy) {
        return NULL;
    }
    memset(copy, 'x', (size_t)prefix);
    memcpy(copy, "[\"", 2);
    memcpy(copy + prefix - 2, "\",", 2);
    memcpy(copy + prefix, text, (size_t)size);
    copy[total - 1] = ']';
    rewrite_huge_integers(copy + prefix, size);
    json_error_t failure = {0};
    json_t *pair = load(copy, total, &failure);
    pelti_release(&gltf->options.allocator, copy, total, 1);
    *ends_early = !pair && failure.text[0] != '\0' && failure.position >= 0 && (uint64_t)failure.position >= total;
    json_t *root = NULL;
    if (json_array_size(pair) == 2 && json_string_length(json_array_get(pair, 0)) == guard) {
        root = json_incref(json_array_get(pair, 1));
    }
    json_decref(pair);
    return root;
}

static pelt_result fail_early_end(const uint8_t *text, uint64_t size, uint64_t file_offset, pelt_error *error)
{
    unsigned long long line = 1;
    uint64_t line_start = 0;
    for (uint64_t i = 0; i < size; i++) {
        if (text[i] == '\n') {
            line++;
            line_start = i + 1;
        }
    }
    unsigned long long offset = file_offset + size;
    return pelti_fail(error, PELT_ERROR_INVALID, pelti_gltf_path("byte %llu", offset).text,
                      "the JSON ends early (line %llu, column %llu, byte offset %llu)", line,
                      (unsigned long long)(size - line_start), offset);
}

// Parses the text as it stands, for a message with the place in the file.
static pelt_result explain(pelt_gltf *gltf, const uint8_t *text, uint64_t size, uint64_t file_offset, pelt_error *error)
{
    uint8_t *copy = pelti_allocate(&gltf->options.allocator, size ? size : 1, 1);
    if (!copy) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory while parsing the JSON");
    }
    memcpy(copy, text, (size_t)size);
    rewrite_huge_integers(copy, size);
    json_error_t failure = {0};
    json_t *root = load(copy, size, &failure);
    pelti_release(&gltf->options.allocator, copy, size ? size : 1, 1);
    if (root) {
        // It does parse, so what failed before was memory.
        json_decref(root);
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory while parsing the JSON");
    }
    return fail_parse(&failure, file_offset, error);
}

static pelt_result load_tree(pelt_gltf *gltf, const uint8_t *text, uint64_t size, uint64_t file_offset,
                             pelt_error *error)
{
    gltf_bytes shortened;
    pelt_result result = pelti_gltf_shorten_text(gltf, text, size, &shortened, error);
    if (result) {
        return result;
    }
    bool ends_early = false;
    gltf->root = load_guarded(gltf, shortened.data, shortened.size, &ends_early);
    pelti_gltf_release_file(&gltf->options.allocator, &shortened);
    if (gltf->root) {
        return PELT_OK;
    }
    return ends_early ? fail_early_end(text, size, file_offset, error) : explain(gltf, text, size, file_offset, error);
}

// "major.minor", digits only; false otherwise.
static bool parse_version(const char *text, unsigned long *major, unsigned long *minor)
{
    size_t whole = strspn(text, "0123456789");
    size_t fraction = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
    if (whole == 0 || fraction == 0 || text[whole + 1 + fraction] != '\0' || whole > 9 || fraction > 9) {
        return false;
    }
    *major = strtoul(text, NULL, 10);
    *minor = strtoul(text + whole + 1, NULL, 10);
    return true;
}

static pelt_result check_asset(pelt_gltf *gltf, pelt_error *error)
{
    const json_t *asset = json_object_get(gltf->root, "asset");
    if (!json_is_object(asset)) {
        return pelti_fail(error, PELT_ERROR_INVALID, "/asset", "glTF: asset is missing, and with it asset.version");
    }
    const char *version = NULL;
    const char *min_version = NULL;
    pelt_result result = pelti_gltf_text(asset, "version", "/asset", &version, error);
    if (!result) {
        result = pelti_gltf_text(asset, "minVersion", "/asset", &min_version, error);
    }
    if (result) {
        return result;
    }
    unsigned long major = 0;
    unsigned long minor = 0;
    if (!version || !parse_version(version, &major, &minor)) {
        return pelti_fail(error, PELT_ERROR_INVALID, "/asset/version", "asset: version is \"%s\", not \"2.0\"",
                          version ? pelti_gltf_quote(version).text : "");
    }
    if (major != 2) {
        pelti_fail(error, PELT_ERROR_UNSUPPORTED, "/asset/version", "asset: version is \"%s\", only 2.x can be read",
                   pelti_gltf_quote(version).text);
        pelti_hint(error, "%s",
                   major < 2 ? "convert the file to glTF 2.0 first: gltf-pipeline -i in.gltf -o out.gltf" : "");
        return PELT_ERROR_UNSUPPORTED;
    }
    if (min_version && !parse_version(min_version, &major, &minor)) {
        return pelti_fail(error, PELT_ERROR_INVALID, "/asset/minVersion", "asset: minVersion is \"%s\", not a version",
                          pelti_gltf_quote(min_version).text);
    }
    if (min_version && (major > 2 || (major == 2 && minor > 0))) {
        return pelti_fail(error, PELT_ERROR_UNSUPPORTED, "/asset/minVersion",
                          "asset: minVersion is \"%s\", this reader knows glTF 2.0",
                          pelti_gltf_quote(min_version).text);
    }
    return PELT_OK;
}

pelt_result pelti_gltf_parse(pelt_gltf *gltf, const gltf_bytes *json, pelt_error *error)
{
    const uint8_t *text = json->data;
    uint64_t size = json->size;
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        size -= 3;
    }
    text_shape shape = measure(text, size);
    if (shape.depth > gltf->options.limits.json_depth) {
        pelti_fail(error, PELT_ERROR_LIMIT, "", "the JSON nests %u levels deep, over the limit of %u", shape.depth,
                   gltf->options.limits.json_depth);
        pelti_hint(error, "raise the limit with --max-json-depth (at most 2047)");
        return PELT_ERROR_LIMIT;
    }
    if (shape.cost > gltf->options.limits.memory) {
        pelti_fail(error, PELT_ERROR_LIMIT, "", "the JSON may take %llu bytes of memory, over the limit of %llu",
                   (unsigned long long)shape.cost, (unsigned long long)gltf->options.limits.memory);
        pelti_hint(error, "raise the limit with --max-memory");
        return PELT_ERROR_LIMIT;
    }
    // A file that was cut is told at once, whatever its size.
    if (shape.open > 0) {
        return fail_early_end(text, size, (uint64_t)(text - gltf->file.data), error);
    }
    pelt_result result = load_tree(gltf, text, size, (uint64_t)(text - gltf->file.data), error);
    if (result) {
        return result;
    }
    if (!json_is_object(gltf->root)) {
        return pelti_fail(error, PELT_ERROR_INVALID, "", "the JSON is not an object, so it is not glTF");
    }
    return check_asset(gltf, error);
}

// SPDX-License-Identifier: MIT
// Data URIs, base64, and the rules that keep external buffers inside the file's folder.
#include "gltf/gltf_internal.h"
#include "peltt_alloc.h"
#include "peltt_gltf.h"

#include <setjmp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define ASSET "'asset':{'version':'2.0'}"

// ---- a folder of its own for each test: in/ is the document's, out/ lies beside it

typedef struct folders {
    char root[64];
} folders;

static const char *path_of(const folders *at, const char *name)
{
    static char paths[4][256];
    static unsigned turn = 0;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", at->root, name);
    return path;
}

static void write_file(const folders *at, const char *name, const void *data, size_t size)
{
    FILE *file = fopen(path_of(at, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static int make_folders(void **state)
{
    folders *at = calloc(1, sizeof *at);
    assert_non_null(at);
    snprintf(at->root, sizeof at->root, "/tmp/pelt_uri_XXXXXX");
    assert_non_null(mkdtemp(at->root));
    assert_int_equal(mkdir(path_of(at, "in"), 0700), 0);
    assert_int_equal(mkdir(path_of(at, "in/sub"), 0700), 0);
    assert_int_equal(mkdir(path_of(at, "inside"), 0700), 0);
    write_file(at, "in/a.bin", "inside!!", 8);
    write_file(at, "in/two words%.bin", "spaces!!", 8);
    write_file(at, "in/sub/b.bin", "subdir!!", 8);
    write_file(at, "secret.bin", "secret!!", 8);
    write_file(at, "inside/c.bin", "sibling!", 8);
    *state = at;
    return 0;
}

static void remove_tree(const char *path)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

static int remove_folders(void **state)
{
    folders *at = *state;
    remove_tree(at->root);
    free(at);
    return 0;
}

// Opens in/model.gltf with one buffer of byte_length bytes at uri, and copies its first 8 bytes.
static pelt_result open_uri(const folders *at, const char *uri, unsigned byte_length, const pelt_gltf_options *options,
                            char first[9], pelt_error *error)
{
    char json[512];
    snprintf(json, sizeof json, "{" ASSET ",'buffers':[{'byteLength':%u,'uri':'%s'}]}", byte_length, uri);
    char *text = peltt_json(json);
    write_file(at, "in/model.gltf", text, strlen(text));
    pelt_gltf *gltf = NULL;
    pelt_result result = pelt_gltf_open_file(path_of(at, "in/model.gltf"), options, &gltf, error);
    if (first) {
        memset(first, 0, 9);
    }
    if (gltf && first) {
        memcpy(first, gltf->buffers[0].data, 8);
        assert_true(gltf->buffers[0].size == byte_length);
        assert_true(pelt_gltf_source_size(gltf) == strlen(text) + 8);
    }
    pelt_gltf_close(gltf);
    free(text);
    return result;
}

static void files_below_the_folder_are_read(void **state)
{
    static const char *const rows[][2] = {
        {"a.bin", "inside!!"},
        {"./a.bin", "inside!!"},
        {"%61.bin", "inside!!"},
        {"sub/b.bin", "subdir!!"},
        {"sub%2Fb.bin", "subdir!!"},
        {"sub/../a.bin", "inside!!"},
        {"two words%25.bin", "spaces!!"},
        {"two%20words%25.bin", "spaces!!"},
        {"sub//./b.bin", "subdir!!"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char first[9];
        assert_int_equal(open_uri(*state, rows[i][0], 8, NULL, first, NULL), PELT_OK);
        assert_string_equal(first, rows[i][1]);
    }
}

static void names_that_leave_are_refused(void **state)
{
    static const char *const uris[] = {
        "../secret.bin",   "..%2Fsecret.bin",     "%2e%2e/secret.bin", "sub/../../secret.bin",
        "./../secret.bin", "sub/..//../in/a.bin", "/etc/hostname",     "//host/a.bin",
        "%2Fetc/hostname", "../in/a.bin",         "../inside/c.bin",   "..",
    };
    for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++) {
        pelt_error error;
        open_uri(*state, uris[i], 8, NULL, NULL, &error);
        peltt_assert_error(&error, PELT_ERROR_INVALID, "buffer 0", "uri", "--allow-outside", "/buffers/0/uri");
    }
}

static void names_that_no_option_allows_are_refused(void **state)
{
    static const char *const rows[][2] = {
        {"file:///etc/hostname", "scheme"},
        {"http://a/b.bin", "scheme"},
        {"HTTPS:b.bin", "scheme"},
        {"C:/a.bin", "drive"},
        {"c%3A/a.bin", "drive"},
        {"file%3A///etc/hostname", "scheme"},
        {"sub\\\\b.bin", "backslash"},
        {"sub%5Cb.bin", "backslash"},
        {"a.bin%00.png", "NUL"},
        {"a.bin\\u0000", "NUL"},
        {"", "empty"},
        {"a%2", "escape"},
        {"%zz.bin", "escape"},
        {"a.bin%", "escape"},
        {"x-y+z.1:b", "scheme"},
    };
    pelt_gltf_options outside = {.allow_outside = true};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pelt_error error;
        open_uri(*state, rows[i][0], 8, NULL, NULL, &error);
        peltt_assert_error(&error, PELT_ERROR_INVALID, "buffer 0", "uri", rows[i][1]);
        open_uri(*state, rows[i][0], 8, &outside, NULL, &error);
        peltt_assert_error(&error, PELT_ERROR_INVALID, "buffer 0", "uri", rows[i][1]);
    }
}

static void links_that_leave_are_refused(void **state)
{
    const folders *at = *state;
    assert_int_equal(symlink("../secret.bin", path_of(at, "in/link.bin")), 0);
    assert_int_equal(symlink("..", path_of(at, "in/up")), 0);
    assert_int_equal(symlink(path_of(at, "inside"), path_of(at, "in/sibling")), 0);
    assert_int_equal(symlink("link.bin", path_of(at, "in/chain.bin")), 0);
    assert_int_equal(symlink("sub/b.bin", path_of(at, "in/within.bin")), 0);
    assert_int_equal(symlink("/", path_of(at, "in/slash")), 0);
    static const char *const rows[][2] = {{"link.bin", "secret!!"},
                                          {"up/secret.bin", "secret!!"},
                                          {"sibling/c.bin", "sibling!"},
                                          {"sibling/../secret.bin", "secret!!"},
                                          {"chain.bin", "secret!!"}};
    pelt_gltf_options outside = {.allow_outside = true};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pelt_error error;
        char first[9];
        open_uri(at, rows[i][0], 8, NULL, NULL, &error);
        peltt_assert_error(&error, PELT_ERROR_INVALID, "buffer 0", "uri", "link", "--allow-outside");
        assert_int_equal(open_uri(at, rows[i][0], 8, &outside, first, NULL), PELT_OK);
        assert_string_equal(first, rows[i][1]);
    }
    char first[9];
    assert_int_equal(open_uri(at, "within.bin", 8, NULL, first, NULL), PELT_OK);
    assert_string_equal(first, "subdir!!");
    // Up and back in again ends inside.
    assert_int_equal(open_uri(at, "up/in/a.bin", 8, NULL, first, NULL), PELT_OK);
    pelt_error error;
    open_uri(at, "slash/etc/hostname", 8, NULL, NULL, &error);
    assert_true(error.code == PELT_ERROR_INVALID || error.code == PELT_ERROR_IO);
}

static void outside_is_read_when_allowed(void **state)
{
    const folders *at = *state;
    pelt_gltf_options options = {.allow_outside = true};
    char first[9];
    assert_int_equal(open_uri(at, "../secret.bin", 8, &options, first, NULL), PELT_OK);
    assert_string_equal(first, "secret!!");
    assert_int_equal(open_uri(at, path_of(at, "secret.bin"), 8, &options, first, NULL), PELT_OK);
    assert_string_equal(first, "secret!!");
}

static void missing_files_show_the_decoded_name(void **state)
{
    pelt_error error;
    open_uri(*state, "not%20here.bin", 8, NULL, NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_IO, "buffer 0", "uri", "\"not here.bin\"", "No such file");
    open_uri(*state, "%1B%5B31m.bin", 8, NULL, NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_IO, "?[31m.bin");
}

static void what_is_no_regular_file_is_refused(void **state)
{
    const folders *at = *state;
    assert_int_equal(mkfifo(path_of(at, "in/pipe.bin"), 0600), 0);
    pelt_error error;
    open_uri(at, "sub", 8, NULL, NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_IO, "directory", "buffer 0");
    open_uri(at, "pipe.bin", 8, NULL, NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_IO, "pipe", "buffer 0");
    open_uri(at, "a.bin/x", 8, NULL, NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_IO, "buffer 0");
    pelt_gltf *gltf = NULL;
    assert_int_equal(pelt_gltf_open_file(path_of(at, "in"), NULL, &gltf, &error), PELT_ERROR_IO);
    peltt_assert_error(&error, PELT_ERROR_IO, "directory");
    assert_int_equal(pelt_gltf_open_file(path_of(at, "in/pipe.bin"), NULL, &gltf, &error), PELT_ERROR_IO);
    assert_int_equal(pelt_gltf_open_file(path_of(at, "nowhere.glb"), NULL, &gltf, &error), PELT_ERROR_IO);
    peltt_assert_error(&error, PELT_ERROR_IO, "No such file");
    write_file(at, "in/empty.gltf", "", 0);
    assert_int_equal(pelt_gltf_open_file(path_of(at, "in/empty.gltf"), NULL, &gltf, &error), PELT_ERROR_INVALID);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "empty");
}

static void lengths_of_files_are_compared(void **state)
{
    pelt_error error;
    char first[9];
    assert_int_equal(open_uri(*state, "a.bin", 5, NULL, first, NULL), PELT_OK);
    open_uri(*state, "a.bin", 9, NULL, NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "buffer 0", "byteLength is 9", "8 bytes");
}

static void limits_hold_for_buffers(void **state)
{
    const folders *at = *state;
    static uint8_t large[100000];
    write_file(at, "in/large.bin", large, sizeof large);
    pelt_error error;
    pelt_gltf_options options = {.limits = {.file_size = 4096}};
    open_uri(at, "large.bin", 8, &options, NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_LIMIT, "buffer 0", "100000", "4096", "--max-file-size");
    options = (pelt_gltf_options){.limits = {.memory = 1500}};
    char json[4096] = "{" ASSET ",'buffers':[{'byteLength':8,'uri':'data:;base64,";
    memset(json + strlen(json), 'A', 2000);
    strcat(json, "'}]}");
    char *text = peltt_json(json);
    pelt_gltf *gltf = NULL;
    assert_int_equal(pelt_gltf_open_memory(text, strlen(text), NULL, &options, &gltf, &error), PELT_ERROR_LIMIT);
    options.limits.memory = 3700;
    assert_int_equal(pelt_gltf_open_memory(text, strlen(text), NULL, &options, &gltf, &error), PELT_OK);
    pelt_gltf_close(gltf);
    free(text);
    // Three buffers fit one by one, but not together.
    write_file(at, "in/mid.bin", large, 3000);
    text = peltt_json("{" ASSET ",'buffers':[{'byteLength':8,'uri':'mid.bin'},{'byteLength':8,'uri':'mid.bin'},"
                      "{'byteLength':8,'uri':'mid.bin'}]}");
    options.limits.memory = 8000;
    char folder[128];
    snprintf(folder, sizeof folder, "%s/in", at->root);
    assert_int_equal(pelt_gltf_open_memory(text, strlen(text), folder, &options, &gltf, &error), PELT_ERROR_LIMIT);
    peltt_assert_error(&error, PELT_ERROR_LIMIT, "buffer 2", "8000", "--max-memory");
    options.limits.memory = 9000;
    assert_int_equal(pelt_gltf_open_memory(text, strlen(text), folder, &options, &gltf, &error), PELT_OK);
    assert_true(gltf->memory_used == 9000);
    pelt_gltf_close(gltf);
    free(text);
}

static void large_files_are_mapped_and_given_back(void **state)
{
    const folders *at = *state;
    size_t size = 200000;
    uint8_t *large = malloc(size);
    assert_non_null(large);
    for (size_t i = 0; i < size; i++) {
        large[i] = (uint8_t)(i * 7 >> 3);
    }
    write_file(at, "in/large.bin", large, size);
    char *text = peltt_json("{" ASSET ",'buffers':[{'byteLength':199999,'uri':'large.bin'}]}");
    write_file(at, "in/model.gltf", text, strlen(text));
    peltt_alloc allocations = {0};
    pelt_gltf_options options = {.allocator = peltt_alloc_make(&allocations)};
    pelt_gltf *gltf = NULL;
    assert_int_equal(pelt_gltf_open_file(path_of(at, "in/model.gltf"), &options, &gltf, NULL), PELT_OK);
    assert_true(gltf->buffers[0].size == 199999);
    assert_int_equal(gltf->buffers[0].owner, GLTF_BYTES_MAPPED);
    assert_memory_equal(gltf->buffers[0].data, large, 199999);
    assert_true(allocations.live_bytes < 8192);
    pelt_gltf_close(gltf);
    assert_true(allocations.live_blocks == 0);
    free(text);
    free(large);
}

static void files_fail_cleanly_without_memory(void **state)
{
    const folders *at = *state;
    char *text = peltt_json("{" ASSET ",'buffers':[{'byteLength':8,'uri':'a.bin'},"
                            "{'byteLength':1,'uri':'data:;base64,QQ%3D%3D'}]}");
    write_file(at, "in/model.gltf", text, strlen(text));
    pelt_result result = PELT_ERROR_MEMORY;
    for (uint64_t n = 1; result == PELT_ERROR_MEMORY; n++) {
        peltt_alloc allocations = {.fail_at = n};
        pelt_gltf_options options = {.allocator = peltt_alloc_make(&allocations)};
        pelt_error error;
        pelt_gltf *gltf = NULL;
        result = pelt_gltf_open_file(path_of(at, "in/model.gltf"), &options, &gltf, &error);
        assert_int_equal(error.code, result);
        assert_true(result == PELT_OK || result == PELT_ERROR_MEMORY);
        pelt_gltf_close(gltf);
        assert_true(allocations.live_blocks == 0);
        assert_true(n < 100);
    }
    free(text);
}

static void documents_without_a_folder_have_no_files(void **state)
{
    (void)state;
    char *text = peltt_json("{" ASSET ",'buffers':[{'byteLength':8,'uri':'a.bin'}]}");
    pelt_gltf *gltf = NULL;
    pelt_error error;
    assert_int_equal(pelt_gltf_open_memory(text, strlen(text), NULL, NULL, &gltf, &error), PELT_ERROR_INVALID);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "buffer 0", "uri", "memory");
    free(text);
}

static void overlong_paths_are_refused(void **state)
{
    char *uri = malloc(6001);
    assert_non_null(uri);
    memset(uri, 'a', 6000);
    uri[6000] = '\0';
    char *json = malloc(6200);
    assert_non_null(json);
    snprintf(json, 6200, "{" ASSET ",'buffers':[{'byteLength':8,'uri':'%s'}]}", uri);
    char *text = peltt_json(json);
    const folders *at = *state;
    pelt_gltf *gltf = NULL;
    pelt_error error;
    pelt_gltf_open_memory(text, strlen(text), at->root, NULL, &gltf, &error);
    peltt_assert_error(&error, PELT_ERROR_IO, "buffer 0", "aaa...");
    free(text);
    free(json);
    free(uri);
}

// ---- data URIs

static pelt_result open_data(const char *uri, unsigned byte_length, peltt_bytes *out, pelt_error *error)
{
    char json[512];
    snprintf(json, sizeof json, "{" ASSET ",'buffers':[{'byteLength':%u,'uri':'%s'}]}", byte_length, uri);
    char *text = peltt_json(json);
    pelt_gltf *gltf = NULL;
    pelt_result result = pelt_gltf_open_memory(text, strlen(text), NULL, NULL, &gltf, error);
    if (gltf && out) {
        peltt_bytes_append(out, gltf->buffers[0].data, (size_t)gltf->buffers[0].size);
    }
    pelt_gltf_close(gltf);
    free(text);
    return result;
}

static void data_uris_are_decoded(void **state)
{
    (void)state;
    static const struct {
        const char *uri;
        const char *bytes;
    } rows[] = {
        {"data:application/octet-stream;base64,Zm9vYmFy", "foobar"},
        {"data:application/gltf-buffer;base64,Zm9vYmE=", "fooba"},
        {"data:image/png;base64,Zm9vYg==", "foob"},
        {"data:;base64,Zm9vYmE", "fooba"},
        {"data:;base64,Zm9vYg", "foob"},
        {"DATA:text/plain;charset=utf-8;BASE64,Zm9v", "foo"},
        {"data:;base64,Zm9vYg%3D%3D", "foob"},
        {"data:;base64,%5A%6d9v", "foo"},
        {"data:,foo%20bar%2C", "foo bar,"},
        {"data:text/plain,a;base64,b", "a;base64,b"},
        {"data:;base64,++//", "\xFB\xEF\xFF"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        peltt_bytes bytes = {0};
        pelt_error error;
        size_t size = strlen(rows[i].bytes);
        assert_int_equal(open_data(rows[i].uri, (unsigned)size, &bytes, &error), PELT_OK);
        assert_int_equal(bytes.size, size);
        assert_memory_equal(bytes.data, rows[i].bytes, size);
        peltt_bytes_free(&bytes);
    }
}

static void broken_data_uris_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *uri;
        const char *part;
    } rows[] = {
        {"data:;base64,Zm9v YmFy", "base64"},
        {"data:;base64,Zm9v\\nYmFy", "base64"},
        {"data:;base64,Zm9vY", "base64"},
        {"data:;base64,Zm9vYg=", "base64"},
        {"data:;base64,Zm9v====", "base64"},
        {"data:;base64,Zm=vYmFy", "base64"},
        {"data:;base64,Zm9v=", "base64"},
        {"data:;base64,=", "base64"},
        {"data:;base64,Zm9v!mFy", "base64"},
        {"data:;base64,Zm9v-_Fy", "base64"},
        {"data:;base64,Zm9v%2", "escape"},
        {"data:,a%g0", "escape"},
        {"data:;base64", "comma"},
        {"data:;base64,Zm9vY\\u0000mFy", "NUL"},
        {"data:;base64,Zm9v\xC3\xA4"
         "Fy",
         "base64"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pelt_error error;
        open_data(rows[i].uri, 1, NULL, &error);
        peltt_assert_error(&error, PELT_ERROR_INVALID, "buffer 0", rows[i].part);
    }
    pelt_error error;
    open_data("data:;base64,Zm9vYmFy", 7, NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "buffer 0", "byteLength is 7", "6 bytes");
    open_data("data:;base64,", 1, NULL, &error);
    peltt_assert_error(&error, PELT_ERROR_INVALID, "buffer 0", "byteLength is 1", "0 bytes");
}

static void media_types_are_told(void **state)
{
    (void)state;
    peltt_document document;
    assert_int_equal(peltt_document_open("{" ASSET "}", NULL, 0, NULL, &document, NULL), PELT_OK);
    static const char *const rows[][2] = {{"data:image/png;base64,QQ==", "image/png"},
                                          {"data:image/jpeg,A", "image/jpeg"},
                                          {"data:;base64,QQ==", ""},
                                          {"data:,A", ""}};
    for (size_t i = 0; i < 4; i++) {
        char type[64];
        gltf_bytes bytes;
        assert_int_equal(pelti_gltf_read_uri(document.gltf, rows[i][0], "image 0", "/images/0/uri", &bytes, type, NULL),
                         PELT_OK);
        assert_string_equal(type, rows[i][1]);
        assert_true(bytes.size == 1 && bytes.data[0] == 'A');
        pelti_gltf_release_bytes(document.gltf, &bytes);
        assert_true(document.gltf->memory_used == 0);
    }
    peltt_document_close(&document);
}

static void base64_round_trips_every_length(void **state)
{
    (void)state;
    uint8_t bytes[70];
    uint32_t random = 12345;
    for (size_t size = 0; size < sizeof bytes; size++) {
        for (size_t i = 0; i < size; i++) {
            random = random * 1664525u + 1013904223u;
            bytes[i] = (uint8_t)(random >> 24);
        }
        char *uri = peltt_data_uri(bytes, size);
        const char *text = strchr(uri, ',') + 1;
        uint8_t decoded[80];
        uint64_t decoded_size = 0;
        uint64_t length = strlen(text);
        assert_true(pelti_gltf_base64_bound(length) >= size);
        assert_true(pelti_gltf_base64_decode(text, length, decoded, &decoded_size));
        assert_true(decoded_size == size);
        assert_memory_equal(decoded, bytes, size);
        while (length > 0 && text[length - 1] == '=') {
            length--;
        }
        assert_true(pelti_gltf_base64_decode(text, length, decoded, &decoded_size));
        assert_true(decoded_size == size);
        assert_memory_equal(decoded, bytes, size);
        free(uri);
    }
}

static void base64_tells_the_first_bad_character(void **state)
{
    (void)state;
    uint8_t out[32];
    for (size_t at = 0; at < 16; at++) {
        char text[] = "QUJDREVGR0hJSktM";
        text[at] = '*';
        uint64_t offset = 99;
        assert_false(pelti_gltf_base64_decode(text, 16, out, &offset));
        assert_true(offset == at);
    }
}

int main(void)
{
#define WITH_FOLDERS(test) cmocka_unit_test_setup_teardown(test, make_folders, remove_folders)
    const struct CMUnitTest tests[] = {
        WITH_FOLDERS(files_below_the_folder_are_read),
        WITH_FOLDERS(names_that_leave_are_refused),
        WITH_FOLDERS(names_that_no_option_allows_are_refused),
        WITH_FOLDERS(links_that_leave_are_refused),
        WITH_FOLDERS(outside_is_read_when_allowed),
        WITH_FOLDERS(missing_files_show_the_decoded_name),
        WITH_FOLDERS(what_is_no_regular_file_is_refused),
        WITH_FOLDERS(lengths_of_files_are_compared),
        WITH_FOLDERS(limits_hold_for_buffers),
        WITH_FOLDERS(large_files_are_mapped_and_given_back),
        WITH_FOLDERS(files_fail_cleanly_without_memory),
        cmocka_unit_test(documents_without_a_folder_have_no_files),
        WITH_FOLDERS(overlong_paths_are_refused),
        cmocka_unit_test(data_uris_are_decoded),
        cmocka_unit_test(broken_data_uris_are_refused),
        cmocka_unit_test(media_types_are_told),
        cmocka_unit_test(base64_round_trips_every_length),
        cmocka_unit_test(base64_tells_the_first_bad_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

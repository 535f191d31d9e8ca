// SPDX-License-Identifier: MIT
// Opening .pelt files: damage is noticed, versions and unknown parts are handled as docs/format.md says, files and
// memory are. What a file holds: test_cook_file.c.
#include "peltt_alloc.h"
#include "peltt_model.h"
#include "peltt_pelt.h"
#include "peltt_system.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const peltt_model_shape small_shape = {12, 3, 2, 40, 6, 2, 4, 2};
static const peltt_model_shape wide_shape = {50, 4, 3, 900, 90, 2, 5, 3};

static pelt_result open_result(const peltt_pelt *file, bool skip_hashes, pelt_error *error)
{
    pelt_cooked_options options = {.skip_hashes = skip_hashes};
    pelt_cooked *cooked = NULL;
    pelt_result result = pelt_cooked_open_memory(file->data, file->size, &options, &cooked, error);
    assert_int_equal(result == PELT_OK, cooked != NULL);
    pelt_cooked_close(cooked);
    return result;
}

static void write_file(const char *path, const peltt_pelt *file)
{
    FILE *stream = peltt_open(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(file->data, 1, (size_t)file->size, stream), file->size);
    assert_int_equal(fclose(stream), 0);
}

static void files_open_mapped_and_copied(void **state)
{
    const char *path = *state;
    const peltt_model_shape *const shapes[] = {&small_shape, &wide_shape};
    for (uint32_t i = 0; i < 2; i++) {
        pelt_cook_options options = {.source_hash = {UINT64_C(0x1122334455667788), UINT64_C(0x99)}, .keep_order = true};
        peltt_pelt file = peltt_pelt_model(shapes[i], 4, NULL, &options);
        assert_int_equal(file.size >= 65536, i == 1); // copied below, mapped above
        write_file(path, &file);
        pelt_cooked *cooked = NULL;
        pelt_error error;
        assert_int_equal(pelt_cooked_open_file(path, NULL, &cooked, &error), PELT_OK);
        const pelt_cooked_data *data = pelt_cooked_get(cooked);
        assert_true(data->source_hash[0] == options.source_hash[0] && data->source_hash[1] == 0x99);
        assert_true(data->options_hash == pelt_cook_options_hash(&options));
        uint64_t source[2] = {0};
        uint64_t made[1] = {0};
        assert_int_equal(pelt_cooked_read_hashes(path, source, made), PELT_OK);
        assert_memory_equal(source, data->source_hash, sizeof source);
        assert_true(made[0] == data->options_hash);
        pelt_cooked_close(cooked);
        peltt_pelt_free(&file);
    }
    assert_true(peltt_remove(path));
}

static void files_that_cannot_be_read_are_errors(void **state)
{
    const char *path = *state;
    pelt_cooked *cooked = NULL;
    pelt_error error;
    uint64_t source[2] = {0};
    uint64_t options = 0;
    assert_int_equal(pelt_cooked_open_file("/nowhere/a.pelt", NULL, &cooked, &error), PELT_ERROR_IO);
    assert_non_null(strstr(error.message, peltt_missing_text()));
    assert_int_equal(pelt_cooked_open_file("/", NULL, &cooked, &error), PELT_ERROR_IO);
    assert_non_null(strstr(error.message, "a directory"));
    assert_int_equal(pelt_cooked_read_hashes("/nowhere/a.pelt", source, &options), PELT_ERROR_IO);
    assert_int_equal(pelt_cooked_open_file(peltt_pipe_make(), NULL, &cooked, &error), PELT_ERROR_IO);
    assert_non_null(strstr(error.message, "a pipe"));
    peltt_pipe_free();
    peltt_pelt file = peltt_pelt_model(&small_shape, 4, NULL, NULL);
    for (uint64_t size = 0; size < file.size; size += 60) {
        peltt_pelt cut = {file.data, size};
        write_file(path, &cut);
        assert_int_equal(pelt_cooked_open_file(path, NULL, &cooked, &error), PELT_ERROR_INVALID);
        assert_int_equal(pelt_cooked_read_hashes(path, source, &options), PELT_ERROR_INVALID);
    }
    // Damage in header, table and META is seen without reading the rest; elsewhere it is not looked for.
    for (uint64_t at = 0; at < 128 + 64 + 64 * (uint64_t)peltt_pelt_count(&file); at += 7) {
        file.data[at] ^= 0x10;
        write_file(path, &file);
        pelt_result result = pelt_cooked_read_hashes(path, source, &options);
        bool padding = at >= 128 + 64 * (uint64_t)peltt_pelt_count(&file) + 40;
        assert_true(result == PELT_ERROR_INVALID || result == PELT_ERROR_UNSUPPORTED || padding);
        file.data[at] ^= 0x10;
    }
    peltt_pelt_free(&file);
    assert_true(peltt_remove(path));
}

static void every_flipped_byte_is_noticed(void **state)
{
    (void)state;
    static const unsigned char masks[3] = {0x01, 0x80, 0xFF};
    peltt_pelt file = peltt_pelt_model(&small_shape, 6, NULL, NULL);
    for (uint64_t i = 0; i < file.size; i++) {
        for (int m = 0; m < 3; m++) {
            pelt_error error;
            file.data[i] ^= masks[m];
            pelt_result result = open_result(&file, false, &error);
            if (result != PELT_ERROR_INVALID && result != PELT_ERROR_UNSUPPORTED) {
                fail_msg("byte %u, mask %u: result %d", (unsigned)i, masks[m], (int)result);
            }
            assert_int_equal(error.code, result);
            assert_true(error.message[0] != '\0');
            file.data[i] ^= masks[m];
        }
    }
    assert_int_equal(open_result(&file, false, NULL), PELT_OK);
    peltt_pelt_free(&file);
}

static void every_cut_is_noticed(void **state)
{
    (void)state;
    peltt_pelt file = peltt_pelt_model(&small_shape, 6, NULL, NULL);
    for (uint64_t size = 0; size < file.size; size += size < 4096 ? 1 : 61) {
        // With the size in the header put right, so that what is missing itself must be seen.
        for (int lie = 0; lie < 2; lie++) {
            peltt_pelt cut = peltt_pelt_copy(file.data, size);
            pelt_error error;
            if (lie && size >= 48) {
                memcpy(cut.data + 40, &size, sizeof size);
            }
            assert_int_equal(open_result(&cut, true, &error), PELT_ERROR_INVALID);
            assert_int_equal(error.code, PELT_ERROR_INVALID);
            peltt_pelt_free(&cut);
        }
    }
    peltt_pelt_free(&file);
}

static void hash_failure_names_the_section(void **state)
{
    (void)state;
    peltt_pelt file = peltt_pelt_model(&small_shape, 6, NULL, NULL);
    pelt_error error;
    char where[32];
    *peltt_pelt_at(&file, "NRML", 1, 0, 3, 2) ^= 0x20;
    assert_int_equal(open_result(&file, false, &error), PELT_ERROR_INVALID);
    assert_non_null(strstr(error.message, "section NRML of primitive 1"));
    assert_non_null(strstr(error.message, "hash"));
    snprintf(where, sizeof where, "byte %u",
             (unsigned)peltt_pelt_get(&file, peltt_pelt_find(&file, "NRML", 1, 0)).offset);
    assert_string_equal(error.where, where);
    assert_int_equal(open_result(&file, true, NULL), PELT_OK); // any code is a unit vector
    peltt_pelt_free(&file);
}

static void put_u32(peltt_pelt *file, uint64_t offset, uint32_t value)
{
    memcpy(file->data + offset, &value, sizeof value);
}

static void versions_and_features(void **state)
{
    (void)state;
    char version[64];
    snprintf(version, sizeof version, "cook again with version %s", pelt_version());
    const struct {
        uint64_t offset;
        uint32_t value;
        pelt_result result;
        const char *text;
    } cases[] = {
        {8, 0x04030201, PELT_ERROR_UNSUPPORTED, "byte order"},
        {8, 0x04030202, PELT_ERROR_INVALID, "byte order"},
        {12, 2, PELT_ERROR_UNSUPPORTED, "format version 2.0"},
        {12, 0, PELT_ERROR_UNSUPPORTED, "format version 0.0"},
        {16, 7, PELT_OK, ""},
        {24, 1, PELT_ERROR_UNSUPPORTED, "feature 0"},
        {28, 0x100, PELT_ERROR_UNSUPPORTED, "feature 40"},
        {32, 0xFFFF, PELT_OK, ""},
        {20, 127, PELT_ERROR_INVALID, "header"},
        {0, 0x46546C67, PELT_ERROR_INVALID, "no .pelt file"},
        {60, 72, PELT_ERROR_INVALID, ""},
        {60, 56, PELT_ERROR_INVALID, "table"},
        {48, 129, PELT_ERROR_INVALID, "table"},
        {52, 1, PELT_ERROR_INVALID, "table"},
        {56, 0xFFFFFFFF, PELT_ERROR_INVALID, "table"},
        {80, 1, PELT_OK, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        peltt_pelt file = peltt_pelt_model(&small_shape, 8, NULL, NULL);
        pelt_error error;
        put_u32(&file, cases[i].offset, cases[i].value);
        pelt_result result = open_result(&file, true, &error);
        if (result != cases[i].result || (result != PELT_OK && !strstr(error.message, cases[i].text))) {
            fail_msg("case %u: %d, %s", (unsigned)i, (int)result, error.message);
        }
        if (result == PELT_ERROR_UNSUPPORTED) {
            assert_non_null(strstr(error.hint, version));
        }
        peltt_pelt_free(&file);
    }
}

static void unknown_sections_are_skipped_unless_required(void **state)
{
    (void)state;
    peltt_pelt file = peltt_pelt_model(&small_shape, 8, NULL, NULL);
    pelt_error error;
    peltt_pelt longer = peltt_pelt_rebuild(&file, UINT32_MAX, 1, "ZZZZ", 0);
    assert_int_equal(open_result(&longer, true, &error), PELT_OK);
    peltt_pelt_free(&longer);
    longer = peltt_pelt_rebuild(&file, UINT32_MAX, 1, "ZZZZ", 1);
    assert_int_equal(open_result(&longer, true, &error), PELT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "section ZZZZ"));
    assert_non_null(strstr(error.hint, "cook again with version"));
    peltt_pelt_free(&longer);
    peltt_pelt_free(&file);
}

static void longer_records_of_later_versions_are_read(void **state)
{
    (void)state;
    static const char *const records[] = {"META", "NODE", "INST", "SKIN", "MESH", "PRIM", "CLIP",
                                          "KEYA", "JBOX", "SAMP", "CHAN", "ATTR", "TARG"};
    static const char *const plain[] = {"POSN", "RUNS", "KEYS", "JNTS", "STRS"};
    peltt_pelt file = peltt_pelt_model(&small_shape, 8, NULL, NULL);
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        uint32_t index = peltt_pelt_find(&file, records[i], 0, 0);
        uint32_t size = peltt_pelt_get(&file, index).element_size;
        pelt_error error;
        peltt_pelt longer = peltt_pelt_rebuild(&file, index, size + 8, NULL, 0);
        if (open_result(&longer, true, &error) != PELT_OK) {
            fail_msg("%s: %s", records[i], error.message);
        }
        peltt_pelt_free(&longer);
        longer = peltt_pelt_rebuild(&file, index, size + 4, NULL, 0);
        assert_int_equal(open_result(&longer, true, &error), PELT_ERROR_INVALID);
        peltt_pelt_free(&longer);
    }
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        uint32_t index = peltt_pelt_find(&file, plain[i], 0, 0);
        pelt_error error;
        peltt_pelt longer = peltt_pelt_rebuild(&file, index, peltt_pelt_get(&file, index).element_size + 8, NULL, 0);
        assert_int_equal(open_result(&longer, true, &error), PELT_ERROR_INVALID);
        assert_non_null(strstr(error.message, plain[i]));
        peltt_pelt_free(&longer);
    }
    peltt_pelt_free(&file);
}

static void misaligned_memory_is_an_argument_error(void **state)
{
    (void)state;
    peltt_pelt file = peltt_pelt_model(&small_shape, 8, NULL, NULL);
    unsigned char *memory = malloc((size_t)file.size + 128);
    assert_non_null(memory);
    for (uintptr_t past = 1; past < 64; past *= 2) {
        unsigned char *moved = memory + 64 - (uintptr_t)memory % 64 + past;
        pelt_cooked *cooked = NULL;
        pelt_error error;
        memcpy(moved, file.data, (size_t)file.size);
        assert_int_equal(pelt_cooked_open_memory(moved, file.size, NULL, &cooked, &error), PELT_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, "64"));
    }
    free(memory);
    peltt_pelt_free(&file);
}

static void memory_limit_is_kept(void **state)
{
    (void)state;
    peltt_pelt file = peltt_pelt_model(&small_shape, 8, NULL, NULL);
    uint64_t last_refused = 0;
    for (uint64_t limit = 1; limit < 65536; limit += limit / 3 + 1) {
        peltt_alloc memory = {0};
        pelt_cooked_options options = {.allocator = peltt_alloc_make(&memory), .memory_limit = limit};
        pelt_cooked *cooked = NULL;
        pelt_error error;
        pelt_result result = pelt_cooked_open_memory(file.data, file.size, &options, &cooked, &error);
        assert_true(result == PELT_OK || result == PELT_ERROR_LIMIT);
        last_refused = result == PELT_ERROR_LIMIT ? limit : last_refused;
        if (result == PELT_OK) {
            pelt_asset *asset = NULL;
            result = pelt_cooked_import(cooked, &asset, &error);
            assert_true(result == PELT_OK || result == PELT_ERROR_LIMIT);
            pelt_asset_destroy(asset);
        }
        pelt_cooked_close(cooked);
        assert_int_equal(memory.live_blocks, 0);
    }
    assert_in_range(last_refused, 100, 40000);
    peltt_pelt_free(&file);
}

static void allocations_may_fail_while_opening_and_importing(void **state)
{
    const char *path = *state;
    peltt_pelt file = peltt_pelt_model(&small_shape, 9, NULL, NULL);
    write_file(path, &file);
    for (int from_file = 0; from_file < 2; from_file++) {
        bool failed = true;
        for (uint64_t n = 1; failed; n++) {
            peltt_alloc memory = {.fail_at = n};
            pelt_cooked_options options = {.allocator = peltt_alloc_make(&memory)};
            pelt_cooked *cooked = NULL;
            pelt_asset *asset = NULL;
            pelt_error error;
            pelt_result result = from_file ? pelt_cooked_open_file(path, &options, &cooked, &error)
                                           : pelt_cooked_open_memory(file.data, file.size, &options, &cooked, &error);
            if (result == PELT_OK) {
                result = pelt_cooked_import(cooked, &asset, &error);
            }
            failed = memory.call_count >= n;
            assert_int_equal(result, failed ? PELT_ERROR_MEMORY : PELT_OK);
            assert_int_equal(asset != NULL, !failed);
            pelt_cooked_close(cooked);
            pelt_asset_destroy(asset);
            assert_int_equal(memory.live_blocks, 0);
        }
    }
    peltt_pelt_free(&file);
    assert_true(peltt_remove(path));
}

static int make_path(void **state)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s", peltt_temporary_path());
    *state = path;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_open_mapped_and_copied),
        cmocka_unit_test(files_that_cannot_be_read_are_errors),
        cmocka_unit_test(every_flipped_byte_is_noticed),
        cmocka_unit_test(every_cut_is_noticed),
        cmocka_unit_test(hash_failure_names_the_section),
        cmocka_unit_test(versions_and_features),
        cmocka_unit_test(unknown_sections_are_skipped_unless_required),
        cmocka_unit_test(longer_records_of_later_versions_are_read),
        cmocka_unit_test(misaligned_memory_is_an_argument_error),
        cmocka_unit_test(memory_limit_is_kept),
        cmocka_unit_test(allocations_may_fail_while_opening_and_importing),
    };
    return cmocka_run_group_tests_name("cook_open", tests, make_path, NULL);
}

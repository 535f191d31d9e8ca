// SPDX-License-Identifier: MIT
// Every way in which writing a posed file fails: arguments, values, sinks, sizes, allocations.
#include "peltt_alloc.h"
#include "peltt_posed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <math.h>

#include <cmocka.h>

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    peltt_blob source = peltt_stage();
    peltt_posed posed = peltt_posed_open(&source, NULL, NULL);
    peltt_posed other = peltt_posed_open(&source, NULL, NULL);
    peltt_blob out = {0};
    pelt_gltf_posed good = {.pose = posed.pose,
                            .primitive_count = posed.primitive_count,
                            .primitives = posed.primitives,
                            .json = {peltt_blob_write, &out}};
    assert_int_equal(pelt_gltf_write_posed(NULL, posed.asset, &good, NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_gltf_write_posed(posed.gltf, NULL, &good, NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_gltf_write_posed(posed.gltf, posed.asset, NULL, NULL), PELT_ERROR_ARGUMENT);
    pelt_gltf_posed bad[10];
    for (size_t i = 0; i < 10; i++) {
        bad[i] = good;
    }
    pelt_gltf_posed_primitive *swapped = calloc(posed.primitive_count, sizeof *swapped);
    assert_non_null(swapped);
    memcpy(swapped, posed.primitives, posed.primitive_count * sizeof *swapped);
    swapped[0].primitive = 1;
    pelt_gltf_posed_primitive *missing = calloc(posed.primitive_count, sizeof *missing);
    assert_non_null(missing);
    memcpy(missing, posed.primitives, posed.primitive_count * sizeof *missing);
    missing[2].positions = NULL;
    bad[0].pose = NULL;
    bad[1].pose = other.pose;
    bad[2].json.write = NULL;
    bad[3].buffer_uri = "x.bin"; // and no buffer sink
    bad[4].primitive_count--;
    bad[5].primitives = NULL;
    bad[6].primitives = swapped;
    bad[7].primitives = missing;
    bad[8].space = (pelt_gltf_space)2;
    bad[9].generator = "\xFF";
    for (size_t i = 0; i < 10; i++) {
        pelt_error error = {0};
        assert_int_equal(pelt_gltf_write_posed(posed.gltf, posed.asset, &bad[i], &error), PELT_ERROR_ARGUMENT);
        assert_int_equal(error.code, PELT_ERROR_ARGUMENT);
        assert_true(error.message[0] != '\0');
    }
    assert_int_equal(out.writes, 0);
    free(swapped);
    free(missing);
    peltt_posed_close(&posed);
    peltt_posed_close(&other);
    peltt_blob_free(&source);
}

static void positions_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    peltt_blob source = peltt_stage();
    peltt_posed posed = peltt_posed_open(&source, NULL, NULL);
    float broken[12] = {0};
    broken[7] = NAN;
    posed.primitives[2].positions = broken;
    peltt_blob out = {0};
    pelt_error error = {0};
    assert_int_equal(peltt_posed_write(&posed, PELT_GLTF_SPACE_WORLD, &out, &error), PELT_ERROR_INVALID);
    assert_string_equal(error.where, "/meshes/0/primitives/0");
    assert_int_equal(error.vertex, 2);
    assert_int_equal(error.mesh, 0);
    assert_int_equal(out.writes, 0);
    peltt_posed_close(&posed);
    peltt_blob_free(&source);
}

static void each_refusal_of_a_sink_ends_in_io(void **state)
{
    (void)state;
    peltt_blob source = peltt_stage();
    peltt_posed posed = peltt_posed_open(&source, NULL, NULL);
    for (int apart = 0; apart < 2; apart++) {
        uint64_t total = 0;
        for (uint64_t fail_at = 0; fail_at <= total; fail_at++) {
            peltt_blob out = {.fail_at = fail_at};
            pelt_error error = {0};
            pelt_gltf_posed job = {.pose = posed.pose,
                                   .primitive_count = posed.primitive_count,
                                   .primitives = posed.primitives,
                                   .buffer_uri = apart ? "b.bin" : NULL,
                                   .json = {peltt_blob_write, &out},
                                   .buffer = {peltt_blob_write, &out}};
            pelt_result result = pelt_gltf_write_posed(posed.gltf, posed.asset, &job, &error);
            assert_int_equal(result, fail_at == 0 ? PELT_OK : PELT_ERROR_IO);
            assert_int_equal(error.code, result);
            total = fail_at == 0 ? out.writes : total;
            assert_int_equal(out.writes, fail_at == 0 ? total : fail_at);
            peltt_blob_free(&out);
        }
        assert_true(total >= 2);
    }
    peltt_posed_close(&posed);
    peltt_blob_free(&source);
}

static void each_failed_allocation_ends_in_memory_without_a_leak(void **state)
{
    (void)state;
    peltt_blob source = peltt_stage();
    peltt_alloc memory = {0};
    pelt_gltf_options options = {.allocator = peltt_alloc_make(&memory)};
    peltt_posed posed = peltt_posed_open(&source, NULL, &options);
    uint64_t before = memory.live_bytes;
    peltt_blob expected = {0};
    assert_int_equal(peltt_posed_write(&posed, PELT_GLTF_SPACE_WORLD, &expected, NULL), PELT_OK);
    assert_int_equal(memory.live_bytes, before);
    pelt_result result = PELT_ERROR_MEMORY;
    uint32_t failures = 0;
    for (uint64_t n = 1; result != PELT_OK; n++) {
        peltt_blob out = {0};
        pelt_error error = {0};
        memory.fail_at = memory.call_count + n;
        result = peltt_posed_write(&posed, n % 2 ? PELT_GLTF_SPACE_WORLD : PELT_GLTF_SPACE_MESH, &out, &error);
        assert_int_equal(error.code, result);
        assert_int_equal(memory.live_bytes, before);
        if (result == PELT_OK) {
            assert_true(n > 10);
        } else {
            assert_int_equal(result, PELT_ERROR_MEMORY);
            failures++;
        }
        peltt_blob_free(&out);
    }
    assert_true(failures > 10);
    memory.fail_at = 0;
    peltt_blob again = {0};
    assert_int_equal(peltt_posed_write(&posed, PELT_GLTF_SPACE_WORLD, &again, NULL), PELT_OK);
    assert_int_equal(again.size, expected.size);
    assert_memory_equal(again.data, expected.data, expected.size);
    peltt_blob_free(&again);
    peltt_blob_free(&expected);
    peltt_posed_close(&posed);
    peltt_blob_free(&source);
    assert_int_equal(memory.live_bytes, 0);
}

// jansson takes no allocator, only functions of the whole process.
static uint64_t json_calls;
static uint64_t json_fail_at;

static void *json_allocate(size_t size)
{
    json_calls++;
    return json_calls == json_fail_at ? NULL : malloc(size);
}

static void each_failed_json_allocation_ends_in_memory(void **state)
{
    (void)state;
    peltt_blob source = peltt_stage();
    peltt_posed posed = peltt_posed_open(&source, NULL, NULL);
    json_malloc_t old_malloc = NULL;
    json_free_t old_free = NULL;
    json_get_alloc_funcs(&old_malloc, &old_free);
    json_set_alloc_funcs(json_allocate, free);
    pelt_result result = PELT_ERROR_MEMORY;
    uint64_t failures = 0;
    for (uint64_t n = 1; result != PELT_OK; n++) {
        peltt_blob out = {0};
        json_calls = 0;
        json_fail_at = n;
        result = peltt_posed_write(&posed, PELT_GLTF_SPACE_WORLD, &out, NULL);
        if (result != PELT_OK && (result != PELT_ERROR_MEMORY || out.size != 0)) {
            fail_msg("allocation %u: %s", (unsigned)n, pelt_result_name(result));
        }
        failures += result != PELT_OK;
        peltt_blob_free(&out);
    }
    json_set_alloc_funcs(old_malloc, old_free);
    assert_true(failures > 500);
    peltt_posed_close(&posed);
    peltt_blob_free(&source);
}

typedef struct counter {
    uint64_t size;
} counter;

static bool count_bytes(void *user, const void *data, size_t size)
{
    (void)data;
    ((counter *)user)->size += size;
    return true;
}

static void a_glb_over_4_gib_is_a_limit_and_a_gltf_is_not(void **state)
{
    (void)state;
    enum {
        IMAGE_SIZE = 1 << 24,
        IMAGES = 257
    };
    peltt_blob bin = {0};
    uint8_t *zeros = calloc(IMAGE_SIZE, 1);
    assert_non_null(zeros);
    peltt_blob_add(&bin, zeros, IMAGE_SIZE);
    free(zeros);
    char json_text[IMAGES * 48 + 256];
    int length = snprintf(json_text, sizeof json_text,
                          "{'asset':{'version':'2.0'},'buffers':[{'byteLength':%d}],'bufferViews':[{'buffer':0,"
                          "'byteLength':%d}],'images':[",
                          IMAGE_SIZE, IMAGE_SIZE);
    for (int i = 0; i < IMAGES; i++) {
        length += snprintf(json_text + length, sizeof json_text - (size_t)length,
                           "%s{'bufferView':0,'mimeType':'image/png'}", i ? "," : "");
    }
    snprintf(json_text + length, sizeof json_text - (size_t)length, "]}");
    peltt_blob source = peltt_blob_glb(json_text, &bin);
    peltt_posed posed = peltt_posed_open(&source, NULL, NULL);
    peltt_blob_free(&bin);
    counter json = {0};
    counter buffer = {0};
    pelt_gltf_posed job = {.pose = posed.pose, .json = {count_bytes, &json}, .buffer = {count_bytes, &buffer}};
    pelt_error error = {0};
    assert_int_equal(pelt_gltf_write_posed(posed.gltf, posed.asset, &job, &error), PELT_ERROR_LIMIT);
    assert_int_equal(json.size, 0);
    assert_true(error.hint[0] != '\0');
    job.buffer_uri = "large.bin";
    assert_int_equal(pelt_gltf_write_posed(posed.gltf, posed.asset, &job, &error), PELT_OK);
    assert_true(buffer.size == (uint64_t)IMAGE_SIZE * IMAGES);
    peltt_posed_close(&posed);
    peltt_blob_free(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(positions_that_are_not_finite_are_refused),
        cmocka_unit_test(each_refusal_of_a_sink_ends_in_io),
        cmocka_unit_test(each_failed_allocation_ends_in_memory_without_a_leak),
        cmocka_unit_test(each_failed_json_allocation_ends_in_memory),
        cmocka_unit_test(a_glb_over_4_gib_is_a_limit_and_a_gltf_is_not),
    };
    return cmocka_run_group_tests_name("gltf_write_failure", tests, NULL, NULL);
}

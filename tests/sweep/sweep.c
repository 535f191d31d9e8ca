// SPDX-License-Identifier: MIT
// Breaks files in every way of three kinds and runs the whole path over each: cut at every length, every byte flipped
// with three masks, every allocation failing. A clean error or a right answer is the only thing allowed. glTF, and
// .pelt by the ending: those also with their hashes compared, where nothing may go unnoticed. Prints TAP.
#include "evaluate_pelt.h"
#include "peltt_alloc.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct input {
    const char *path;
    char *folder;
    uint8_t *data;
    size_t size;
    bool is_pelt;
    bool compare_hashes; // of .pelt
} input;

static int test_count;

static bool report(const input *in, const char *what, const char *violation, size_t at)
{
    test_count++;
    if (violation) {
        printf("not ok %d - %s %s: %s (at %zu)\n", test_count, in->path, what, violation, at);
        return false;
    }
    printf("ok %d - %s %s\n", test_count, in->path, what);
    return true;
}

static bool read_input(const char *path, input *in)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        return false;
    }
    fseek(file, 0, SEEK_END);
    in->size = (size_t)ftell(file);
    rewind(file);
    in->path = path;
    in->data = malloc(in->size + 1);
    in->folder = strdup(path);
    in->is_pelt = strlen(path) > 5 && strcmp(path + strlen(path) - 5, ".pelt") == 0;
    bool fine = in->data && in->folder && fread(in->data, 1, in->size, file) == in->size;
    fclose(file);
    if (fine) {
        char *slash = strrchr(in->folder, '/');
        if (slash) {
            *slash = '\0';
        } else {
            strcpy(in->folder, ".");
        }
    }
    return fine;
}

// A copy of exactly size bytes, so that an address sanitizer sees a read past its end.
static peltt_evaluation evaluate_with(const input *in, const uint8_t *data, size_t size,
                                      const pelt_allocator *allocator, uint32_t pose_limit)
{
    peltt_evaluation evaluation = {.result = PELT_ERROR_MEMORY};
    void *copy = NULL;
    if (posix_memalign(&copy, 64, size ? size : 1) != 0) {
        return evaluation;
    }
    if (size) {
        memcpy(copy, data, size);
    }
    evaluation = in->is_pelt ? peltt_evaluate_pelt(copy, size, !in->compare_hashes, allocator, pose_limit)
                             : peltt_evaluate(copy, size, in->folder, allocator, pose_limit);
    free(copy);
    return evaluation;
}

static peltt_evaluation evaluate_copy(const input *in, const uint8_t *data, size_t size)
{
    peltt_evaluation evaluation = evaluate_with(in, data, size, NULL, 4);
    if (in->compare_hashes && evaluation.result == PELT_OK) {
        evaluation.violation = "the damage went unnoticed";
    }
    return evaluation;
}

// stride 1 = every length. A larger one skips lengths in the middle of files over 16 KiB, for slow sanitizer builds.
static void sweep_truncation(const input *in, size_t stride)
{
    const char *violation = NULL;
    size_t at = 0;
    for (size_t size = 0; size < in->size && !violation;) {
        violation = evaluate_copy(in, in->data, size).violation;
        at = size;
        size += size > 8192 && size + 8192 < in->size ? stride : 1;
    }
    report(in, stride == 1 ? "cut at every length" : "cut at many lengths", violation, at);
}

static void sweep_flips(const input *in)
{
    static const uint8_t masks[3] = {0x01, 0x80, 0xff};
    const char *violation = NULL;
    size_t at = 0;
    for (size_t i = 0; i < in->size && !violation; i++) {
        for (int m = 0; m < 3 && !violation; m++) {
            in->data[i] ^= masks[m];
            violation = evaluate_copy(in, in->data, in->size).violation;
            in->data[i] ^= masks[m];
            at = i;
        }
    }
    report(in, in->compare_hashes ? "every byte flipped, with hashes" : "every byte flipped", violation, at);
}

// The n-th allocation of the library fails, for every n until none does; nothing may leak.
static void sweep_library_allocations(const input *in)
{
    peltt_evaluation whole = evaluate_with(in, in->data, in->size, NULL, 4);
    const char *violation = whole.violation;
    uint64_t n = 0;
    for (bool failed = true; failed && !violation;) {
        peltt_alloc state = {.fail_at = ++n};
        pelt_allocator allocator = peltt_alloc_make(&state);
        peltt_evaluation evaluation = evaluate_with(in, in->data, in->size, &allocator, 4);
        failed = state.call_count >= n;
        violation = evaluation.violation;
        if (state.live_blocks != 0) {
            violation = "memory leaked";
        } else if (failed && evaluation.result == PELT_OK && evaluation.checksum != whole.checksum) {
            violation = "a failed allocation changed the answer";
        } else if (!failed && evaluation.result != whole.result) {
            violation = "another result without a failed allocation";
        }
    }
    report(in, "every allocation failing", violation, n);
}

// The same for the JSON library, which allocates through functions of the process.
static uint64_t json_calls;
static uint64_t json_fail_at;

static void *json_allocate(size_t size)
{
    return ++json_calls == json_fail_at ? NULL : malloc(size);
}

static void sweep_json_allocations(const input *in)
{
    peltt_evaluation whole = peltt_evaluate(in->data, in->size, in->folder, NULL, 1);
    const char *violation = whole.violation;
    json_set_alloc_funcs(json_allocate, free);
    json_fail_at = 0;
    for (bool failed = true; failed && !violation;) {
        json_fail_at++;
        json_calls = 0;
        peltt_evaluation evaluation = peltt_evaluate(in->data, in->size, in->folder, NULL, 1);
        failed = json_calls >= json_fail_at;
        violation = evaluation.violation;
        if (evaluation.result == PELT_OK && evaluation.checksum != whole.checksum) {
            violation = "a failed allocation changed the answer";
        }
    }
    uint64_t n = json_fail_at;
    json_fail_at = 0;
    json_set_alloc_funcs(malloc, free);
    report(in, "every JSON allocation failing", violation, n);
}

int main(int argument_count, char **arguments)
{
    bool fine = true;
    size_t stride = 1;
    for (int i = 1; i < argument_count; i++) {
        input in = {0};
        if (strncmp(arguments[i], "--stride=", 9) == 0) {
            stride = (size_t)strtoul(arguments[i] + 9, NULL, 10);
            continue;
        }
        if (!read_input(arguments[i], &in)) {
            printf("not ok %d - %s cannot be read\n", ++test_count, arguments[i]);
            fine = false;
            continue;
        }
        sweep_truncation(&in, stride ? stride : 1);
        if (in.size < (in.is_pelt ? 16384u : 4096u)) {
            sweep_flips(&in);
            in.compare_hashes = in.is_pelt;
        }
        if (in.compare_hashes) {
            sweep_flips(&in);
            in.compare_hashes = false;
        }
        if (in.size < 65536) {
            sweep_library_allocations(&in);
        }
        if (in.size < 65536 && !in.is_pelt) {
            sweep_json_allocations(&in);
        }
        free(in.data);
        free(in.folder);
    }
    printf("1..%d\n", test_count);
    return fine ? 0 : 1;
}

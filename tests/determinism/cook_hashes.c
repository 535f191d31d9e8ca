// SPDX-License-Identifier: MIT
// Cooks models (.pelt, and glTF where the import library is built) with several sets of options and prints the hash of
// what comes out, one line each, for comparing builds. Every one is cooked with one, two and eight threads: other bytes
// then end the program with 1.
#include <pelt/cook.h>
#if defined(PELT_TEST_GLTF)
#include <pelt/gltf.h>
#endif

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    pelt_cook_options options;
} sets[] = {
    {"sorted", {.weights = PELT_WEIGHTS_SORTED}},
    {"plain", {.weights = PELT_WEIGHTS_PLAIN, .morph_16bit = true}},
    {"kept", {.keep_order = true}},
    {"direct", {.direct_joints = true, .morph_weight_min = -1.0F, .morph_weight_max = 2.0F}},
};

static bool cook_hash(const pelt_asset *asset, const pelt_cook_options *options, uint64_t hash[2], uint64_t *size)
{
    void *data = NULL;
    pelt_error error;
    if (pelt_cook(asset, options, &data, size, NULL, &error) != PELT_OK) {
        fprintf(stderr, "%s\n", error.message);
        return false;
    }
    pelt_source_hash(data, *size, hash);
    pelt_cook_release(options, data, *size);
    return true;
}

static bool cook_set(const char *name, const pelt_asset *asset, uint32_t set)
{
    uint64_t hashes[3][2];
    uint64_t size = 0;
    for (uint32_t i = 0; i < 3; i++) {
        pelt_pool *pool = NULL;
        pelt_cook_options options = sets[set].options;
        if (pelt_pool_create(i == 0 ? 1 : i == 1 ? 2 : 8, NULL, &pool) != PELT_OK) {
            return false;
        }
        pelt_parallel parallel = pelt_pool_parallel(pool);
        options.parallel = &parallel;
        bool cooked = cook_hash(asset, &options, hashes[i], &size);
        pelt_pool_destroy(pool);
        if (!cooked) {
            return false;
        }
    }
    printf("%016" PRIx64 "%016" PRIx64 " %" PRIu64 " %s %s\n", hashes[0][1], hashes[0][0], size, name, sets[set].name);
    if (memcmp(hashes[0], hashes[1], sizeof hashes[0]) != 0 || memcmp(hashes[0], hashes[2], sizeof hashes[0]) != 0) {
        fprintf(stderr, "%s %s: other bytes with more threads\n", name, sets[set].name);
        return false;
    }
    return true;
}

// NULL for what cannot be read: some are invalid on purpose.
static pelt_asset *load(const char *path)
{
    pelt_asset *asset = NULL;
    size_t length = strlen(path);
    if (length > 5 && strcmp(path + length - 5, ".pelt") == 0) {
        pelt_cooked *cooked = NULL;
        if (pelt_cooked_open_file(path, NULL, &cooked, NULL) == PELT_OK) {
            pelt_cooked_import(cooked, &asset, NULL);
        }
        pelt_cooked_close(cooked);
        return asset;
    }
#if defined(PELT_TEST_GLTF)
    pelt_gltf_load_file(path, NULL, &asset, NULL);
#endif
    return asset;
}

int main(int argument_count, char **arguments)
{
    bool fine = true;
    for (int i = 1; i < argument_count; i++) {
        pelt_asset *asset = load(arguments[i]);
        const char *slash = strrchr(arguments[i], '/');
        if (!asset) {
            continue;
        }
        for (uint32_t set = 0; set < sizeof sets / sizeof sets[0]; set++) {
            fine = cook_set(slash ? slash + 1 : arguments[i], asset, set) && fine;
        }
        pelt_asset_destroy(asset);
    }
    return fine ? 0 : 1;
}

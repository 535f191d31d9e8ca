// SPDX-License-Identifier: MIT
// The only place that sees xxHash, whose code is compiled in: nothing is linked.
#include "cook/hash.h"

#include "cook/file.h"
#include "math/math.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t pelti_cook_hash(const void *data, uint64_t size)
{
    return XXH3_64bits(data, (size_t)size);
}

bool pelti_cook_hash_pieces(pelti_cook_piece read, void *context, uint64_t size, uint64_t *out_hash)
{
    unsigned char piece[4096];
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    while (size > 0) {
        size_t length = size < sizeof piece ? (size_t)size : sizeof piece;
        if (!read(context, piece, length)) {
            return false;
        }
        XXH3_64bits_update(&state, piece, length);
        size -= length;
    }
    *out_hash = XXH3_64bits_digest(&state);
    return true;
}

void pelt_source_hash(const void *data, uint64_t size, uint64_t out_hash[2])
{
    XXH128_hash_t hash = XXH3_128bits(data, (size_t)size);
    out_hash[0] = hash.low64;
    out_hash[1] = hash.high64;
}

// What the hash covers; no padding. The library's version is among it: another one may order vertices otherwise.
typedef struct hashed_options {
    uint32_t format_version[2];
    uint32_t library_version[3];
    uint32_t weights;
    uint32_t keep_order;
    uint32_t direct_joints;
    uint32_t morph_16bit;
    float morph_weights[2];
} hashed_options;

static_assert(sizeof(hashed_options) == 44, "no padding");

uint64_t pelt_cook_options_hash(const pelt_cook_options *options)
{
    pelt_cook_options used = {0};
    if (options) {
        used = *options;
    }
    if (used.morph_weight_min == 0.0f && used.morph_weight_max == 0.0f) {
        used.morph_weight_max = 1.0f;
    }
    hashed_options hashed = {
        .format_version = {FILE_VERSION_MAJOR, FILE_VERSION_MINOR},
        .library_version = {PELT_VERSION_MAJOR, PELT_VERSION_MINOR, PELT_VERSION_PATCH},
        .weights = (uint32_t)used.weights,
        .keep_order = used.keep_order,
        .direct_joints = used.direct_joints,
        .morph_16bit = used.morph_16bit,
        // Adding zero makes -0 the 0 that it equals.
        .morph_weights = {used.morph_weight_min + 0.0f, used.morph_weight_max + 0.0f},
    };
    return pelti_cook_hash(&hashed, sizeof hashed);
}

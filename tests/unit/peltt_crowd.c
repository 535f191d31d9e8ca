// SPDX-License-Identifier: MIT
// Instances, with every array alone in pages of its own.
#include "peltt_crowd.h"

#include "peltt_system.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// size bytes, zeroed, that end where (or, with at_end false, begin behind where) nothing can be touched.
static void *pages_make(size_t size, bool at_end)
{
    size_t inside = size;
    uint8_t *pages = peltt_pages_map(&inside);
    assert_non_null(pages);
    return at_end ? pages + inside - size : pages;
}

static void pages_free(void *memory, size_t size, bool at_end)
{
    const size_t inside = peltt_pages_round(size);
    peltt_pages_unmap(at_end ? (uint8_t *)memory + size - inside : (uint8_t *)memory, inside);
}

static void fill_locals(peltt_crowd *crowd, uint32_t instance, const peltt_crowd_shape *shape, peltt_random *random)
{
    const uint32_t node_count = pelt_asset_get(crowd->asset)->node_count;
    pelt_locals *locals = &crowd->locals[instance];
    locals->transforms = pages_make(node_count * sizeof(pelt_trs), shape->at_end);
    for (uint32_t i = 0; i < node_count; i++) {
        pelt_trs trs = peltt_random_trs(random);
        float length = peltt_random_chance(random, 0.3) ? peltt_random_float(random, 0.01F, 100.0F) : 1.0F;
        trs.rotation.x *= length;
        trs.rotation.y *= length;
        trs.rotation.z *= length;
        trs.rotation.w *= length;
        locals->transforms[i] = trs;
    }
    if (peltt_random_chance(random, shape->flag_share)) {
        locals->uses_matrix = pages_make(node_count, shape->at_end);
        for (uint32_t i = 0; i < node_count; i++) {
            locals->uses_matrix[i] = peltt_random_chance(random, shape->matrix_share) ? 1 : 0;
        }
    }
}

// Bytes for one palette and its shift.
static size_t pages_size(const peltt_crowd *crowd)
{
    return (crowd->matrix_count * 16 + crowd->shift) * sizeof(float);
}

void peltt_crowd_init(peltt_crowd *crowd, const pelt_asset *asset, const pelt_skeleton_options *options,
                      const peltt_crowd_shape *shape, peltt_random *random)
{
    static const size_t shifts[] = {0, 1, 4, 8};
    const uint32_t count = shape->instance_count;
    *crowd =
        (peltt_crowd){.asset = asset, .instance_count = count, .at_end = shape->at_end, .shift = shifts[count / 2 % 4]};
    assert_int_equal(pelt_skeleton_create(asset, options, NULL, &crowd->skeleton), PELT_OK);
    crowd->matrix_count = pelt_skeleton_matrix_count(crowd->skeleton);
    crowd->locals = calloc(count + 1, sizeof *crowd->locals);
    crowd->palettes = calloc(count + 1, sizeof *crowd->palettes);
    crowd->instances = calloc(count + 1, sizeof *crowd->instances);
    assert_true(crowd->locals && crowd->palettes && crowd->instances);
    for (uint32_t i = 0; i < count; i++) {
        fill_locals(crowd, i, shape, random);
        crowd->palettes[i] = pages_make(pages_size(crowd), shape->at_end);
        crowd->instances[i].locals = &crowd->locals[i];
    }
    peltt_crowd_clear(crowd, PELT_PALETTE_3X4);
}

void peltt_crowd_destroy(peltt_crowd *crowd)
{
    const uint32_t node_count = pelt_asset_get(crowd->asset)->node_count;
    for (uint32_t i = 0; i < crowd->instance_count; i++) {
        pages_free(crowd->locals[i].transforms, node_count * sizeof(pelt_trs), crowd->at_end);
        if (crowd->locals[i].uses_matrix) {
            pages_free(crowd->locals[i].uses_matrix, node_count, crowd->at_end);
        }
        pages_free(crowd->palettes[i], pages_size(crowd), crowd->at_end);
    }
    free(crowd->locals);
    free(crowd->palettes);
    free(crowd->instances);
    pelt_skeleton_destroy(crowd->skeleton);
}

size_t peltt_crowd_palette_size(const peltt_crowd *crowd)
{
    return crowd->matrix_count * (crowd->format == PELT_PALETTE_4X4 ? 16 : 12) * sizeof(float);
}

void peltt_crowd_clear(peltt_crowd *crowd, pelt_palette_format format)
{
    crowd->format = format;
    const size_t full = crowd->matrix_count * 16 * sizeof(float);
    for (uint32_t i = 0; i < crowd->instance_count; i++) {
        memset(crowd->palettes[i], 0xEE, pages_size(crowd));
        // The smaller format lies at the guarded end too, but for the shift.
        size_t before = crowd->at_end ? full - peltt_crowd_palette_size(crowd) : crowd->shift * sizeof(float);
        crowd->instances[i].palette = (char *)crowd->palettes[i] + before;
    }
}

void peltt_crowd_evaluate(peltt_crowd *crowd, pelt_precision precision, pelt_isa isa, uint32_t disabled_isas)
{
    const pelt_skeleton_job job = {.skeleton = crowd->skeleton,
                                   .instance_count = crowd->instance_count,
                                   .instances = crowd->instances,
                                   .format = crowd->format,
                                   .precision = precision,
                                   .isa = isa,
                                   .disabled_isas = disabled_isas,
                                   // Past the caches or not, by turns: the bytes are the same.
                                   .stream_threshold = crowd->instance_count % 2 ? 1 : 0};
    assert_int_equal(pelt_skeleton_evaluate(&job), PELT_OK);
}

// SPDX-License-Identifier: MIT
// The small passes, each alone: palettes against the exact product, item lists and united boxes against plain loops.
#include "peltt_random.h"
#include "peltt_vk_passes.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    MEMORY_SIZE = 48 << 20
};

static peltt_vk_passes passes;

static int setup(void **state)
{
    *state = NULL;
    peltt_vk_passes_create(&passes, MEMORY_SIZE);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    peltt_vk_passes_destroy(&passes);
    return 0;
}

// Goes through all workgroup sizes.
static void run_with_sizes(void (*test)(void))
{
    int tried = 0;
    for (int i = 0; i < PELTT_VK_PASSES_SIZES; i++) {
        if (peltt_vk_passes_set_threads(&passes, peltt_vk_passes_sizes[i])) {
            test();
            tried++;
        }
    }
    assert_true(tried >= 3); // 128 threads are required
}

// --- palettes

typedef enum matrix_kind {
    MATRIX_PLAIN = 0,
    MATRIX_SCALES,     // elements of all magnitudes
    MATRIX_CANCELLING, // the sums are small beside their terms
    MATRIX_HUGE,       // products leave the range of floats, or nearly
    MATRIX_KINDS
} matrix_kind;

static float random_element(peltt_random *random, matrix_kind kind)
{
    float value = peltt_random_float(random, -3.0F, 3.0F);
    switch (kind) {
    case MATRIX_SCALES:
        return ldexpf(value, (int)peltt_random_below(random, 60) - 30);
    case MATRIX_HUGE:
        return ldexpf(value, (int)peltt_random_below(random, 12) + 60);
    default:
        return value;
    }
}

static void random_matrices(peltt_random *random, matrix_kind kind, pelt_mat34 *world, pelt_mat34 *bind)
{
    for (int i = 0; i < 12; i++) {
        world->m[i / 4][i % 4] = random_element(random, kind);
        bind->m[i / 4][i % 4] = random_element(random, kind);
    }
    if (kind == MATRIX_HUGE) { // one that stays in range
        world->m[0][0] = ldexpf(1.5F, 120);
        bind->m[0][0] = ldexpf(1.25F, -20);
    }
    if (kind == MATRIX_CANCELLING) {
        for (int row = 0; row < 3; row++) {
            float *w = world->m[row];
            int column = row;
            w[2] = -(float)(((double)w[0] * (double)bind->m[0][column] + (double)w[1] * (double)bind->m[1][column]) /
                            (double)bind->m[2][column]);
            w[3] = -(float)((double)w[0] * (double)bind->m[0][3] + (double)w[1] * (double)bind->m[1][3] +
                            (double)w[2] * (double)bind->m[2][3]);
        }
    }
}

// Products of floats are exact in double; the sum carries its rounding error along (Knuth), which leaves 2^-100.
static double exact_element(const pelt_mat34 *a, const pelt_mat34 *b, int row, int column, double *terms)
{
    double sum = 0.0;
    double error = 0.0;
    *terms = 0.0;
    for (int k = 0; k < 4; k++) {
        double x = k < 3 ? (double)a->m[row][k] * (double)b->m[k][column] : column == 3 ? (double)a->m[row][3] : 0.0;
        double s = sum + x;
        double part = s - sum;
        error += (sum - (s - part)) + (x - part);
        sum = s;
        *terms += fabs(x);
    }
    return sum + error;
}

// What floats make of it, one after the other.
static float plain_element(const pelt_mat34 *a, const pelt_mat34 *b, int row, int column)
{
    float sum = a->m[row][0] * b->m[0][column] + a->m[row][1] * b->m[1][column];
    sum = sum + a->m[row][2] * b->m[2][column];
    return sum + (column == 3 ? a->m[row][3] : 0.0F);
}

static void check_element(const pelt_mat34 *world, const pelt_mat34 *bind, float got, int row, int column)
{
    double terms = 0.0;
    double want = exact_element(world, bind, row, column, &terms);
    float plain = plain_element(world, bind, row, column);
    if (!isfinite(plain)) { // products, or sums on the way, leave the range
        if (isnan(plain) ? !isnan(got) : got != plain) {
            fail_msg("element %d %d: %a, in floats %a", row, column, (double)got, (double)plain);
        }
        return;
    }
    int exponent = 0;
    frexp(want, &exponent);
    double spacing = ldexp(1.0, exponent - 24);
    double tolerance = spacing + 0x1p-44 * terms + 0x1p-124;
    if (!(fabs((double)got - want) <= tolerance)) {
        fail_msg("element %d %d: %a, exactly %a, off by %g spacings; terms %g", row, column, (double)got, want,
                 ((double)got - want) / spacing, terms);
    }
}

typedef struct palette_case {
    uint32_t joint_count;
    bool keeps_worlds;
    pelt_mat34 *worlds;
    pelt_mat34 *binds;
    pelt_mat34 *out;
    pelt_mat34 *out_worlds;
} palette_case;

// threads: of each palette.
static void palettes_by(uint32_t threads)
{
    static const uint32_t counts[] = {1, 3, 0, 31, 32, 33, 63, 64, 65, 300, 1000, 2};
    enum {
        CASES = 12
    };
    palette_case cases[CASES];
    gpu_palette_update updates[CASES];
    peltt_random random = {passes.threads};
    peltt_vk_passes_reset(&passes);
    for (uint32_t i = 0; i < CASES; i++) {
        palette_case *c = &cases[i];
        *c = (palette_case){.joint_count = counts[i], .keeps_worlds = i % 2 == 1};
        uint64_t size = c->joint_count * sizeof(pelt_mat34);
        updates[i] = (gpu_palette_update){.joint_count = c->joint_count};
        c->worlds = peltt_vk_passes_take(&passes, size, &updates[i].worlds);
        c->binds = peltt_vk_passes_take(&passes, size, &updates[i].binds);
        c->out = peltt_vk_passes_take(&passes, size, &updates[i].matrices);
        uint64_t address = 0;
        c->out_worlds = peltt_vk_passes_take(&passes, size, &address);
        updates[i].kept_worlds = c->keeps_worlds ? address : 0;
        for (uint32_t j = 0; j < c->joint_count; j++) {
            random_matrices(&random, (matrix_kind)(j % MATRIX_KINDS), &c->worlds[j], &c->binds[j]);
        }
    }
    gpu_palette_push push = {.updates = peltt_vk_passes_put(&passes, updates, sizeof updates),
                             .update_count = CASES,
                             .threads = threads,
                             .group_columns = 2};
    uint32_t together = passes.threads / threads;
    uint32_t groups = (CASES + together - 1) / together;
    peltt_vk_passes_run(&passes, PELTI_VK_PALETTE, &push, sizeof push, groups, push.group_columns);
    for (uint32_t i = 0; i < CASES; i++) {
        const palette_case *c = &cases[i];
        uint64_t size = c->joint_count * sizeof(pelt_mat34);
        for (uint32_t k = 0; k < c->joint_count * 12; k++) {
            uint32_t j = k / 12;
            check_element(&c->worlds[j], &c->binds[j], c->out[j].m[k % 12 / 4][k % 4], (int)(k % 12 / 4), (int)(k % 4));
        }
        if (c->keeps_worlds) {
            assert_memory_equal(c->out_worlds, c->worlds, size);
        } else {
            assert_true(peltt_vk_passes_untouched(c->out_worlds, size));
        }
        assert_true(peltt_vk_passes_untouched((const char *)c->out + size, 64));
    }
}

static void palettes_test(void)
{
    for (uint32_t threads = 4; threads <= passes.threads; threads *= 2) {
        palettes_by(threads);
    }
}

static void palettes_are_the_exact_product_rounded(void **state)
{
    (void)state;
    run_with_sizes(palettes_test);
}

// Multiplying by one must not change a bit, far from zero and near it.
static void palette_of_identity_is_the_other_factor(void **state)
{
    (void)state;
    assert_true(peltt_vk_passes_set_threads(&passes, GPU_PALETTE_THREADS));
    peltt_vk_passes_reset(&passes);
    pelt_mat34 matrices[4] = {pelt_mat34_identity(), pelt_mat34_identity()};
    for (int i = 0; i < 12; i++) {
        matrices[2].m[i / 4][i % 4] = ldexpf(1.1F + 0.07F * (float)i, 20 * (i % 3) - 20);
        matrices[3].m[i / 4][i % 4] = (i % 5 == 0 ? 1.0F : -1.0F) / (3.0F + (float)i);
    }
    pelt_mat34 worlds[4] = {matrices[0], matrices[2], matrices[0], matrices[3]};
    pelt_mat34 binds[4] = {matrices[2], matrices[0], matrices[3], matrices[1]};
    gpu_palette_update update = {.worlds = peltt_vk_passes_put(&passes, worlds, sizeof worlds),
                                 .binds = peltt_vk_passes_put(&passes, binds, sizeof binds),
                                 .joint_count = 4};
    pelt_mat34 *out = peltt_vk_passes_take(&passes, sizeof worlds, &update.matrices);
    gpu_palette_push push = {.updates = peltt_vk_passes_put(&passes, &update, sizeof update),
                             .update_count = 1,
                             .group_columns = 1,
                             .threads = GPU_PALETTE_THREADS};
    peltt_vk_passes_run(&passes, PELTI_VK_PALETTE, &push, sizeof push, 1, 1);
    assert_memory_equal(&out[0], &matrices[2], sizeof *out);
    assert_memory_equal(&out[1], &matrices[2], sizeof *out);
    assert_memory_equal(&out[2], &matrices[3], sizeof *out);
    assert_memory_equal(&out[3], &matrices[3], sizeof *out);
}

// --- items

static void check_items(const uint32_t *counts, uint32_t update_count, uint32_t columns)
{
    peltt_vk_passes_reset(&passes);
    gpu_items_push push = {.update_count = update_count, .group_columns = columns};
    gpu_update *updates = peltt_vk_passes_take(&passes, update_count * sizeof *updates, &push.updates);
    uint32_t reduce_count = 0;
    for (uint32_t u = 0; u < update_count; u++) {
        uint32_t parity = u % 3 == 0 ? GPU_PARITY : 0;
        uint32_t reduce = u % 5 < 2 ? reduce_count++ : GPU_NO_REDUCE;
        updates[u] = (gpu_update){.instance = (u * 7 + 5) | parity, .first_item = push.item_count, .reduce = reduce};
        push.item_count += counts[u];
    }
    gpu_instance *instances =
        peltt_vk_passes_take(&passes, (update_count * 7 + 5) * sizeof *instances, &push.instances);
    for (uint32_t i = 0; i < update_count * 7 + 5; i++) {
        instances[i].mesh = (uint64_t)i << 34 | i;
    }
    gpu_frame_item *out = peltt_vk_passes_take(&passes, push.item_count * sizeof *out, &push.frame_items);
    gpu_reduce *reduces = peltt_vk_passes_take(&passes, reduce_count * sizeof *reduces, &push.reduces);
    uint32_t groups = (update_count + passes.threads - 1) / passes.threads;
    peltt_vk_passes_run(&passes, PELTI_VK_ITEMS, &push, sizeof push, groups, columns);
    uint32_t at = 0;
    for (uint32_t u = 0; u < update_count; u++) {
        for (uint32_t k = 0; k < counts[u]; k++, at++) {
            uint64_t slot = updates[u].instance & ~GPU_PARITY;
            if (out[at].instance != updates[u].instance || out[at].item != k || out[at].mesh != (slot << 34 | slot)) {
                fail_msg("item %u is %u of instance %u, not %u of %u", at, out[at].item, out[at].instance, k,
                         updates[u].instance);
            }
        }
    }
    for (uint32_t u = 0, k = 0; u < update_count; u++) {
        if (u % 5 < 2) {
            assert_int_equal(reduces[k].instance, u * 7 + 5);
            assert_int_equal(reduces[k].first_item, updates[u].first_item);
            assert_int_equal(reduces[k++].item_count, counts[u]);
        }
    }
    assert_true(peltt_vk_passes_untouched(out + at, 64));
    assert_true(peltt_vk_passes_untouched(reduces + reduce_count, 64));
}

static void items_test(void)
{
    enum {
        MOST = 700
    };
    uint32_t counts[MOST];
    peltt_random random = {passes.threads};
    for (int round = 0; round < 12; round++) {
        uint32_t update_count = 1 + peltt_random_below(&random, MOST);
        for (uint32_t u = 0; u < update_count; u++) {
            counts[u] = peltt_random_chance(&random, 0.3) ? 0 : peltt_random_below(&random, 1U << (round % 8));
        }
        check_items(counts, update_count, 1 + peltt_random_below(&random, 5));
    }
    const uint32_t sizes[] = {1, passes.threads - 1, passes.threads, passes.threads + 1};
    for (int i = 0; i < 4; i++) {
        for (uint32_t u = 0; u < sizes[i]; u++) {
            counts[u] = 1;
        }
        check_items(counts, sizes[i], 3);
    }
    memset(counts, 0, sizeof counts); // one among many that have none
    counts[passes.threads + 3] = 70000;
    check_items(counts, MOST, 2);
    counts[MOST - 1] = 1;
    counts[0] = 1;
    check_items(counts, MOST, 2);
    memset(counts, 0, sizeof counts);
    check_items(counts, MOST, 2);
}

static void items_list_every_item_of_every_instance(void **state)
{
    (void)state;
    run_with_sizes(items_test);
}

// --- united boxes

static const uint32_t partial_counts[] = {1, 2, 63, 64, 65, 128, 129, 1000, 70000, 0, 5};

enum {
    REDUCE_COUNT = sizeof partial_counts / sizeof partial_counts[0],
    BOX_SLOTS = 40
};

static float random_coordinate(peltt_random *random)
{
    switch (peltt_random_below(random, 40)) {
    case 0:
        return 0.0F;
    case 1:
        return ldexpf(peltt_random_float(random, -1.0F, 1.0F), -140); // denormal
    case 2:
        return ldexpf(peltt_random_float(random, -1.0F, 1.0F), 127);
    default:
        return ldexpf(peltt_random_float(random, -1.0F, 1.0F), (int)peltt_random_below(random, 20));
    }
}

// Some partials are empty, as those of items without vertices.
static pelt_box random_partial(peltt_random *random)
{
    pelt_box box = pelt_box_empty();
    if (peltt_random_chance(random, 0.1)) {
        return box;
    }
    for (int k = 0; k < 3; k++) {
        float a = random_coordinate(random);
        float b = random_coordinate(random);
        box.min[k] = a < b ? a : b;
        box.max[k] = a < b ? b : a;
    }
    return box;
}

static void reduce_test(uint32_t split)
{
    peltt_random random = {passes.threads + 1 + split};
    peltt_vk_passes_reset(&passes);
    gpu_reduce reduces[REDUCE_COUNT];
    pelt_box wanted[REDUCE_COUNT];
    uint32_t item_count = 3; // of someone else, at both ends
    for (uint32_t i = 0; i < REDUCE_COUNT; i++) {
        reduces[i] = (gpu_reduce){(i * 7 + 3) % BOX_SLOTS, item_count, partial_counts[i]};
        item_count += partial_counts[i];
    }
    // Some in the middle are shared.
    const uint32_t first_shared = REDUCE_COUNT / 3;
    const uint32_t last_shared = REDUCE_COUNT * 2 / 3;
    const uint32_t shared_first = reduces[first_shared].first_item;
    const uint32_t shared_count = reduces[last_shared + 1].first_item - shared_first;
    uint32_t partial_count = item_count + (shared_count << split) - shared_count + 3;
    gpu_reduce_push push = {.reduce_count = REDUCE_COUNT,
                            .group_columns = 4,
                            .split = split,
                            .shared_first = shared_first,
                            .shared_count = shared_count};
    pelt_box *partials = peltt_vk_passes_take(&passes, partial_count * sizeof *partials, &push.partials);
    for (uint32_t i = 0; i < partial_count; i++) {
        for (int k = 0; k < 3; k++) {
            partials[i].min[k] = -FLT_MAX;
            partials[i].max[k] = FLT_MAX;
        }
    }
    uint32_t at = 3;
    for (uint32_t i = 0; i < REDUCE_COUNT; i++) {
        wanted[i] = pelt_box_empty();
        uint32_t parts = i < first_shared || i > last_shared ? 1 : 1U << split;
        for (uint32_t k = 0; k < partial_counts[i] * parts; k++, at++) {
            pelt_box *box = &partials[at];
            *box = random_partial(&random);
            for (int c = 0; c < 3; c++) {
                wanted[i].min[c] = box->min[c] < wanted[i].min[c] ? box->min[c] : wanted[i].min[c];
                wanted[i].max[c] = box->max[c] > wanted[i].max[c] ? box->max[c] : wanted[i].max[c];
            }
        }
    }
    push.reduces = peltt_vk_passes_put(&passes, reduces, sizeof reduces);
    pelt_box *boxes = peltt_vk_passes_take(&passes, BOX_SLOTS * sizeof *boxes, &push.boxes);
    peltt_vk_passes_run(&passes, PELTI_VK_REDUCE, &push, sizeof push, REDUCE_COUNT, push.group_columns);
    bool written[BOX_SLOTS] = {false};
    for (uint32_t i = 0; i < REDUCE_COUNT; i++) {
        assert_memory_equal(&boxes[reduces[i].instance], &wanted[i], sizeof wanted[i]);
        written[reduces[i].instance] = true;
    }
    for (uint32_t i = 0; i < BOX_SLOTS; i++) {
        assert_true(written[i] || peltt_vk_passes_untouched(&boxes[i], sizeof boxes[i]));
    }
}

static void reduce_tests(void)
{
    for (uint32_t split = 0; split < 4; split++) {
        reduce_test(split);
    }
}

static void reduce_unites_any_number_of_partials(void **state)
{
    (void)state;
    run_with_sizes(reduce_tests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(palettes_are_the_exact_product_rounded, setup, teardown),
        cmocka_unit_test_setup_teardown(palette_of_identity_is_the_other_factor, setup, teardown),
        cmocka_unit_test_setup_teardown(items_list_every_item_of_every_instance, setup, teardown),
        cmocka_unit_test_setup_teardown(reduce_unites_any_number_of_partials, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

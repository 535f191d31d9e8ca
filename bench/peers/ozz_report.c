// SPDX-License-Identifier: MIT
// Tables of pelt_bench_ozz: a row for each scene, ozz first, the library by instruction sets.
#include "ozz_bench.h"

#include <string.h>

enum {
    TITLE_WIDTH = 56,
    CELL_WIDTH = 22
};

static const bench_contender *find(const bench_setup *setup, const char *name)
{
    for (uint32_t i = 0; i < setup->contender_count; i++) {
        if (strcmp(setup->contenders[i].name, name) == 0) {
            return &setup->contenders[i];
        }
    }
    return NULL;
}

// The library's instruction sets that are compared: all but plain C. Returns how many.
static uint32_t find_isas(const cli_context *context, pelt_isa isas[PELT_ISA_COUNT])
{
    uint32_t count = bench_isas(context, isas);
    return count > 0 && isas[count - 1] == PELT_ISA_SCALAR ? count - 1 : count;
}

static void print_cell(const char *text)
{
    printf(" %-*s |", CELL_WIDTH, text);
}

// A time, and how many times as long each of the others takes. NULL for what there is not.
static void print_time(const bench_contender *c, const bench_contender *first, const bench_contender *second)
{
    char text[64] = "-";
    if (c && first && second) {
        snprintf(text, sizeof text, "%.2f (%.2fx, %.2fx)", c->time.median, first->time.median / c->time.median,
                 second->time.median / c->time.median);
    } else if (c && first) {
        snprintf(text, sizeof text, "%.2f (%.2fx)", c->time.median, first->time.median / c->time.median);
    } else if (c) {
        snprintf(text, sizeof text, "%.2f", c->time.median);
    }
    print_cell(text);
}

// The largest of all contenders.
static double find_spread(const bench_setup *setup)
{
    double most = 0;
    for (uint32_t i = 0; i < setup->contender_count; i++) {
        const bench_statistics *t = &setup->contenders[i].time;
        double spread = (t->quartiles[1] - t->quartiles[0]) / t->median;
        most = spread > most ? spread : most;
    }
    return most;
}

void ozz_print_heading(const cli_context *context, bench_kind kind)
{
    pelt_isa isas[PELT_ISA_COUNT];
    uint32_t isa_count = find_isas(context, isas);
    uint32_t cells = 0;
    printf("ns a %s; in brackets how many times as fast as ozz%s\n\n| %-*s |",
           kind == BENCH_SKELETON ? "joint, from local transforms to palettes" : "vertex",
           kind == BENCH_SKELETON ? "" : ", and as ozz with inverse transposes", TITLE_WIDTH, "");
    print_cell("ozz");
    if (kind == BENCH_MESH) {
        print_cell("inverse transposes");
    }
    for (uint32_t i = 0; i < isa_count; i++) {
        char name[32];
        if (kind == BENCH_SKELETON) {
            snprintf(name, sizeof name, "%s, float", pelt_isa_name(isas[i]));
            print_cell(name);
            snprintf(name, sizeof name, "%s, double", pelt_isa_name(isas[i]));
            print_cell(name);
        } else {
            print_cell(pelt_isa_name(isas[i]));
        }
    }
    cells = kind == BENCH_SKELETON ? 2 * isa_count + 2 : isa_count + 4;
    printf("%s spread |\n|", kind == BENCH_MESH ? "   box   |" : "");
    for (uint32_t i = 0; i <= cells; i++) {
        printf(" --- |");
    }
    printf("\n");
}

static void print_title(const char *name, const char *text)
{
    char title[160];
    snprintf(title, sizeof title, "%s: %s", name, text);
    printf("| %-*s |", TITLE_WIDTH, title);
}

static void print_skeletons(const bench_setup *setup, const pelt_isa *isas, uint32_t isa_count)
{
    const bench_contender *ozz = find(setup, OZZ_NAME);
    print_title(setup->scene->name, setup->scene->text);
    print_time(ozz, NULL, NULL);
    for (uint32_t i = 0; i < 2 * isa_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s, %s", pelt_isa_name(isas[i / 2]), i % 2 ? "double" : "float");
        print_time(find(setup, name), ozz, NULL);
    }
}

static void print_skin(const bench_setup *setup, const char *title, const char *ozz_name, const char *transposed_name,
                       const pelt_isa *isas, uint32_t isa_count)
{
    const bench_contender *ozz = find(setup, ozz_name);
    const bench_contender *transposed = find(setup, transposed_name);
    print_title(setup->scene->name, title);
    print_time(ozz, NULL, NULL);
    print_time(transposed, NULL, NULL);
    for (uint32_t i = 0; i < isa_count; i++) {
        print_time(find(setup, pelt_isa_name(isas[i])), ozz, transposed);
    }
    char name[48];
    snprintf(name, sizeof name, "%s, no box", isa_count ? pelt_isa_name(isas[0]) : "");
    const bench_contender *with = isa_count ? find(setup, pelt_isa_name(isas[0])) : NULL;
    const bench_contender *without = find(setup, name);
    if (with && without) {
        printf(" %+5.1f %% |", 100 * (with->time.least / without->time.least - 1));
    } else {
        printf(" %7s |", "-");
    }
}

void ozz_print_row(const bench_setup *setup)
{
    pelt_isa isas[PELT_ISA_COUNT];
    uint32_t isa_count = find_isas(setup->context, isas);
    double spread = 100 * find_spread(setup);
    if (setup->scene->kind == BENCH_SKELETON) {
        print_skeletons(setup, isas, isa_count);
        printf(" %4.1f %% |\n", spread);
    } else {
        print_skin(setup, setup->scene->text, OZZ_NAME, OZZ_TRANSPOSED_NAME, isas, isa_count);
        printf(" %4.1f %% |\n", spread);
    }
    if (find(setup, OZZ_SORTED_NAME)) {
        print_skin(setup, "a job of ozz for each number", OZZ_SORTED_NAME, OZZ_SORTED_TRANSPOSED_NAME, isas, isa_count);
        printf(" %4.1f %% |\n", spread);
    }
    fflush(stdout);
}

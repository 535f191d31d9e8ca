// SPDX-License-Identifier: MIT
// What verify tells people.
#include "verify.h"

#include <math.h>
#include <string.h>

static const char *const complaints[VERIFY_CHECKS] = {
    [VERIFY_POSITION] = "positions are off by more than the tolerance",
    [VERIFY_NORMAL] = "normals are turned by more than is allowed",
    [VERIFY_TANGENT] = "tangents are turned by more than is allowed",
    [VERIFY_HANDEDNESS] = "tangents have another handedness",
    [VERIFY_BOX] = "exact boxes are not the min and max of the positions",
    [VERIFY_CONSERVATIVE] = "conservative boxes do not hold the positions",
    [VERIFY_PREVIOUS] = "previous positions are not those of the update before",
};

// Of the longest name, and room for the reference's mark.
static int name_width(uint32_t count, const verify_backend *backends)
{
    int width = 24;
    for (uint32_t i = 0; i < count; i++) {
        int length = (int)strlen(backends[i].name);
        width = length > width ? length : width;
    }
    return width;
}

static void print_heading(int width)
{
    printf("  %-*s %9s %9s %9s %9s %9s  %s\n", width, "", "of scale", "of scale", "in units", "degrees", "degrees",
           "how many are wrong");
    printf("  %-*s %9s %9s %9s %9s %9s %6s %6s %6s %8s\n", width, "backend", "largest", "rms", "largest", "normals",
           "tangents", "hands", "boxes", "bounds", "previous");
}

static void print_number(double value, bool known)
{
    if (!known) {
        printf(" %9s", "-");
    } else if (!isfinite(value)) {
        printf(" %9s", "infinite");
    } else {
        printf(" %9.3g", value);
    }
}

static void print_count(const verify_tally *tally, int width)
{
    char number[32];
    printf(" %*s", width, tally->compared > tally->unjudged ? cli_grouped(tally->failed, number) : "-");
}

static void print_row(int width, const verify_backend *backend, bool reference, const verify_figures *f)
{
    const verify_tally *t = f->tallies;
    const char *mark = reference ? " (reference)" : "";
    int length = (int)(strlen(backend->name) + strlen(mark));
    printf("  ");
    cli_put(stdout, backend->name);
    printf("%s%*s", mark, length < width ? width - length : 0, "");
    bool positions = !reference && t[VERIFY_POSITION].compared > 0;
    print_number(f->share, positions);
    print_number(verify_rms_share(f), positions);
    print_number(f->position, positions);
    print_number(f->normal_degrees, t[VERIFY_NORMAL].compared > t[VERIFY_NORMAL].unjudged);
    print_number(f->tangent_degrees, t[VERIFY_TANGENT].compared > t[VERIFY_TANGENT].unjudged);
    print_count(&t[VERIFY_HANDEDNESS], 6);
    print_count(&t[VERIFY_BOX], 6);
    print_count(&t[VERIFY_CONSERVATIVE], 6);
    print_count(&t[VERIFY_PREVIOUS], 8);
    printf("\n");
}

static void print_place(const verify_place *place, bool with_file)
{
    if (with_file) {
        cli_put(stdout, place->file);
        printf(", ");
    }
    if (place->clip == PELT_NONE) {
        printf("rest pose");
    } else {
        printf("clip #%u at %.9g s", (unsigned)place->clip, place->time);
    }
    printf(", node %u, mesh %u, primitive %u", (unsigned)place->node, (unsigned)place->mesh,
           (unsigned)place->primitive);
    if (place->vertex != PELT_NONE) {
        printf(", packed vertex %u", (unsigned)place->vertex);
    }
}

static void print_complaints(const verify_backend *backend, const verify_figures *f, bool with_file)
{
    char number[2][32];
    for (int i = 0; i < VERIFY_CHECKS; i++) {
        const verify_tally *tally = &f->tallies[i];
        if (tally->failed == 0) {
            continue;
        }
        printf("  wrong: %s", backend->label);
        printf(": %s of %s %s", cli_grouped(tally->failed, number[0]), cli_grouped(tally->compared, number[1]),
               complaints[i]);
        if (tally->has_place) {
            printf("; %s: ", i <= VERIFY_TANGENT || i == VERIFY_CONSERVATIVE ? "worst" : "first");
            print_place(&tally->place, with_file);
        }
        printf("\n");
    }
}

static void print_worst_place(const verify_backend *backend, const verify_figures *f, bool with_file)
{
    if (f->tallies[VERIFY_POSITION].failed == 0 && f->has_largest && f->position > 0) {
        printf("  largest difference of %s: ", backend->label);
        print_place(&f->largest, with_file);
        printf("\n");
    }
}

static void print_exceptions(const verify_backend *backend, const verify_figures *f)
{
    char number[32];
    uint64_t directions = f->tallies[VERIFY_NORMAL].unjudged + f->tallies[VERIFY_TANGENT].unjudged;
    uint64_t boxes = f->tallies[VERIFY_CONSERVATIVE].unjudged;
    if (f->explained) {
        printf("  within rounding on %s: %s positions pass the tolerance by no more than the rounding of matrices to "
               "float\n",
               backend->label, cli_grouped(f->explained, number));
    }
    if (directions) {
        printf("  not judged on %s: %s directions, for what flattens or cancels them leaves no angle to compare\n",
               backend->label, cli_grouped(directions, number));
    }
    if (boxes) {
        printf("  not judged on %s: %s conservative boxes, where morph weights leave the range of the joint boxes "
               "(--morph-range)\n",
               backend->label, cli_grouped(boxes, number));
    }
}

static void print_table(uint32_t count, const verify_backend *backends, const verify_figures *figures, bool with_file)
{
    int width = name_width(count, backends);
    print_heading(width);
    for (uint32_t i = 0; i < count; i++) {
        print_row(width, &backends[i], i == 0, &figures[i]);
    }
    bool within = true;
    for (uint32_t i = 0; i < count; i++) {
        within = within && verify_within(&figures[i]);
        print_worst_place(&backends[i], &figures[i], with_file);
        print_exceptions(&backends[i], &figures[i]);
        print_complaints(&backends[i], &figures[i], with_file);
    }
    printf("  %s\n", within ? "all within tolerance" : "over tolerance");
}

static void print_moments(const verify_result *r)
{
    char number[3][32];
    if (r->clip_count == 0) {
        printf("the rest pose, as there are no clips");
        return;
    }
    printf("%s moments, the rest pose and %s clip%s at up to %s times each", cli_grouped(r->moment_count, number[0]),
           cli_grouped(r->clip_count, number[1]), r->clip_count == 1 ? "" : "s",
           cli_grouped(r->sample_limit, number[2]));
}

void verify_print(const verify_result *r)
{
    const verify_model *m = r->model;
    char number[2][32];
    cli_put(stdout, m->context->options.input);
    printf(": %s primitive%s, %s %s; ", cli_grouped(m->item_count, number[0]), m->item_count == 1 ? "" : "s",
           cli_grouped(m->vertex_count, number[1]), m->vertex_count == 1 ? "vertex" : "vertices");
    print_moments(r);
    printf("; tolerance %.3g of scale\n", verify_tolerance(m->context));
    print_table(r->backend_count, r->backends, r->figures, false);
}

void verify_print_worst(const cli_context *context, uint32_t file_count, uint32_t count, const verify_backend *backends,
                        const verify_figures *figures)
{
    char number[32];
    printf("worst of %s of %u files, tolerance %.3g of scale\n", cli_grouped(file_count, number),
           (unsigned)context->options.input_count, verify_tolerance(context));
    print_table(count, backends, figures, true);
}

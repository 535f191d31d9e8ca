// SPDX-License-Identifier: MIT
// What cook tells people of one file.
#include "cook.h"

#include <stdarg.h>

// A line that starts with a label, padded so that values stand in one column.
__attribute__((format(printf, 2, 3))) static void line(const char *label, const char *format, ...)
{
    printf("  %-22s ", label);
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

void cook_print_layout(const cook_layout *layout)
{
    for (int i = 0; i < COOK_STREAMS; i++) {
        const cook_stream *stream = &layout->streams[i];
        if (stream->before > 0 || stream->after > 0) {
            line(i == 0 ? "bytes per vertex" : "", "%-20s %6.4g -> %.4g", stream->name, stream->before, stream->after);
        }
    }
    line("", "%-20s %6.4g -> %.4g", "all read", layout->read_before, layout->read_after);
    if (layout->targets_before > 0) {
        line("", "%-20s %6.4g -> %.4g", "morph targets", layout->targets_before, layout->targets_after);
    }
    line("requested per vertex", "%.4g = %.4g of streams + 48 x %.4g matrices (3x4), each vertex as its influences ask",
         layout->read_after + layout->palette, layout->read_after, layout->influences);
    line("", "%.4g = %.4g of streams + %.4g of matrices, joint lists of runs loaded once",
         layout->read_after + layout->list_palette, layout->read_after, layout->list_palette);
    line("", "%.4g with float streams, 4x4 matrices and their inverse transposes; published: %d -> %d",
         layout->replaced, COOK_PUBLISHED_BEFORE, COOK_PUBLISHED_AFTER);
    line("", "and %.4g written", layout->written);
}

void cook_print_runs(const pelt_run_statistics *runs)
{
    char number[32];
    printf("%s run%s", cli_grouped(runs->run_count, number), runs->run_count == 1 ? "" : "s");
    if (runs->direct_run_count) {
        printf(" (%s direct)", cli_grouped(runs->direct_run_count, number));
    }
    printf(", median %u vertices and %u joints, most joints %u; ", (unsigned)runs->median_vertices,
           (unsigned)runs->median_joints, (unsigned)runs->worst_joints);
    uint64_t total = 0;
    for (int i = 0; i < 5; i++) {
        total += runs->class_counts[i];
    }
    static const char *const classes[5] = {"1", "2", "3", "4", "more"};
    const char *lead = "influences: ";
    for (int i = 0; i < 5; i++) {
        if (runs->class_counts[i]) {
            printf("%s%s on %.1f %%", lead, classes[i], 100.0 * runs->class_counts[i] / (double)total);
            lead = ", ";
        }
    }
    printf("\n");
}

static void print_error(const char *label, const cook_error *error)
{
    if (error->count == 0) {
        line(label, "not measured: it is not in the default scene, or has no vertices");
        return;
    }
    line(label, "positions at most %.3g (%.3g %% of the diagonal), RMS %.3g (%.3g %%); normals at most %.3g degrees",
         error->position, 100 * error->share, cook_error_rms(error), 100 * cook_error_rms_share(error),
         error->normal_degrees);
}

static void print_moments(const cook_errors *errors)
{
    if (errors->clip_count == 0) {
        line("", "against float weights, in the rest pose: there is no clip");
        return;
    }
    line("", "against float weights, at %u moment%s of %u clip%s: key times and an even grid, at most %u a clip",
         (unsigned)errors->moment_count, errors->moment_count == 1 ? "" : "s", (unsigned)errors->clip_count,
         errors->clip_count == 1 ? "" : "s", (unsigned)errors->moment_limit);
}

static void print_changes(const pelt_influence_report *r, const pelt_cooked_primitive *cooked)
{
    char number[32];
    if (r->normalized_count) {
        line("normalised", "%s vertices, sums off from one by at most %.3g", cli_grouped(r->normalized_count, number),
             (double)r->worst_sum_error);
    }
    if (r->merged_count) {
        line("merged", "%s vertices that list a joint twice", cli_grouped(r->merged_count, number));
    }
    if (r->unweighted_count) {
        line("bound", "%s vertices without weight to their first joint", cli_grouped(r->unweighted_count, number));
    }
    if (r->ignored_joint_count) {
        line("ignored", "%s out-of-range joints of weight zero", cli_grouped(r->ignored_joint_count, number));
    }
    if (r->reduced_count) {
        line("reduced", "%s vertices lost influences to --max-influences, of weight %.3g at most",
             cli_grouped(r->reduced_count, number), (double)r->worst_reduced_weight);
    }
    if (cooked->vertex_count != cooked->source_vertex_count) {
        line("dropped", "%s of %u vertices: no index uses them",
             cli_grouped(cooked->source_vertex_count - cooked->vertex_count, number),
             (unsigned)cooked->source_vertex_count);
    }
}

static void print_primitive(const cook_facts *facts, uint32_t index)
{
    const pelt_cooked_primitive *cooked = &facts->cooked->primitives[index];
    const pelt_mesh *mesh = &facts->source->meshes[cooked->mesh];
    const pelt_primitive *source = &mesh->primitives[cooked->primitive];
    cook_layout layout = cook_layout_of(cooked, source);
    char number[32];
    printf("\nmesh %u", (unsigned)cooked->mesh);
    if (mesh->name[0]) {
        printf(" \"");
        cli_put(stdout, mesh->name);
        printf("\"");
    }
    printf(", primitive %u: %s vert%s", (unsigned)cooked->primitive, cli_grouped(cooked->vertex_count, number),
           cooked->vertex_count == 1 ? "ex" : "ices");
    if (cooked->weights) {
        printf(", %s weights, joints in %s\n", cook_encoding_name(cooked->encoding), cook_joint_layout_name(cooked));
    } else {
        printf(", rigid\n");
    }
    print_error("error", &facts->errors->primitives[index]);
    cook_print_layout(&layout);
    if (cooked->weights && facts->reports) {
        printf("  %-22s ", "runs in file order");
        cook_print_runs(&facts->reports[index].before);
        printf("  %-22s ", "runs as written");
        cook_print_runs(&facts->reports[index].after);
    }
    if (facts->reports && facts->reports[index].worst_morph_error > 0) {
        line("16-bit morph targets", "off by at most %.3g", (double)facts->reports[index].worst_morph_error);
    }
    print_changes(&source->influences, cooked);
}

void cook_print(const cook_facts *facts)
{
    const cook_job *job = facts->job;
    char first[32];
    char second[32];
    cli_put(stdout, job->context->options.input);
    printf(" -> ");
    cli_put(stdout, job->output);
    printf(": %s bytes -> %s bytes\n", cli_grouped(job->source_size, first), cli_grouped(job->output_size, second));
    print_error("error", &facts->errors->all);
    print_moments(facts->errors);
    if (job->over) {
        line("", "over --max-error %g", job->context->options.max_error);
    }
    for (uint32_t i = 0; i < facts->cooked->primitive_count; i++) {
        print_primitive(facts, i);
    }
}

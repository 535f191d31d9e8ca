// SPDX-License-Identifier: MIT
// What `pelt bench --device` tells: tables, or parts of pelt/bench-gpu/1.
#include "bench_gpu.h"

#include <math.h>
#include <string.h>

static double per_vertex(const bench_gpu_model *m, double bytes)
{
    return bytes / (double)m->vertex_count;
}

// GB a second of the fewest bytes that the scene can be done with in our formats, whoever does it.
static double least_rate(const bench_gpu_model *m, const bench_gpu_contender *c)
{
    double bytes = m->streams_read + m->streams_written;
    double ms = c->ms[BENCH_GPU_PASS].median;
    return ms > 0 ? bytes / ms * 1e-6 : 0;
}

static double share(double rate, double of)
{
    return of > 0 ? rate / of : 0;
}

static double vertices_per_second(const bench_gpu_model *m, double ms)
{
    return ms > 0 ? (double)m->vertex_count / ms * 1e3 : 0;
}

double bench_gpu_spread(const bench_statistics *t)
{
    return t->median > 0 ? (t->quartiles[1] - t->quartiles[0]) / t->median : 0;
}

// ---- text

void bench_gpu_print_memory(const bench_gpu_memory *memory)
{
    printf("memory: two buffers of %.0f MiB; a copy's bytes count twice\n", (double)memory->size / (1 << 20));
    printf("  %-22s %10s %9s %9s\n", "", "ms", "spread", "GB/s");
    for (int i = 0; i < BENCH_GPU_MOVES; i++) {
        const bench_statistics *t = &memory->ms[i];
        printf("  %-22s %10.4f %7.1f %% %9.1f\n", bench_gpu_move_names[i], t->median, 100 * bench_gpu_spread(t),
               t->median > 0 ? memory->bytes[i] / t->median * 1e-6 : 0);
    }
    printf("\n");
    fflush(stdout);
}

// ---- draws

static double pass_of(const bench_gpu_run *run, const char *name)
{
    for (uint32_t i = 0; i < run->contender_count; i++) {
        if (strcmp(run->contenders[i].is.name, name) == 0) {
            return run->contenders[i].ms[BENCH_GPU_PASS].median;
        }
    }
    return 0;
}

// From how many passes over the scene on skinning once and drawing that costs less than skinning in the vertex shader
// of each. 0: not measured; infinite: never.
static double break_even(const bench_gpu_run *run)
{
    double once = pass_of(run, "pelt");
    double skinning[2] = {pass_of(run, "vertex_shader"), pass_of(run, "vertex_shader_x4")};
    double drawing[2] = {pass_of(run, "draw_skinned"), pass_of(run, "draw_skinned_x4")};
    if (!(once > 0 && skinning[0] > 0 && skinning[1] > 0 && drawing[0] > 0 && drawing[1] > 0)) {
        return 0;
    }
    double gained = (skinning[1] - skinning[0] - drawing[1] + drawing[0]) / 3; // by a pass
    return gained > 0 ? once / gained : HUGE_VAL;
}

static void print_break_even(const bench_gpu_run *run)
{
    double passes = break_even(run);
    if (passes > 0 && passes <= 1) {
        printf("  skinning once costs less than in the vertex shader even for one pass over the scene\n");
    } else if (passes > 0 && isfinite(passes)) {
        printf("  skinning once costs less than in the vertex shader from %.1f passes over the scene on\n", passes);
    } else if (passes > 0) {
        printf("  skinning in the vertex shader costs no more, however many passes there are\n");
    }
}

// ---- rows

static void print_row(const bench_gpu_run *run, const bench_gpu_memory *memory, const bench_gpu_contender *c)
{
    const bench_gpu_model *m = run->model;
    const bench_statistics *t = &c->ms[BENCH_GPU_PASS];
    const bench_statistics *update = &c->ms[BENCH_GPU_UPDATE];
    if (c->skipped[0]) {
        printf("  %-22s left out: ", c->is.name);
        cli_put(stdout, c->skipped);
        printf("\n");
        return;
    }
    double rate = least_rate(m, c);
    if (c->is.baseline && c->is.baseline->needs_graphics) { // they write nothing
        printf("  %-22s %10.4f %7.1f %% %10.0f %9.1f\n", c->is.name, t->median, 100 * bench_gpu_spread(t),
               vertices_per_second(m, t->median) * 1e-6, c->requested);
        return;
    }
    printf("  %-22s %10.4f %7.1f %% %10.0f %9.1f %8.1f %7.1f %% %7.1f %%\n", c->is.name, t->median,
           100 * bench_gpu_spread(t), vertices_per_second(m, t->median) * 1e-6, c->requested, rate,
           100 * share(rate, memory->copy), 100 * share(rate, memory->fill));
    if (!c->is.baseline) {
        printf("  %-22s %10.4f %7.1f %% %10.0f\n", "  whole update", update->median, 100 * bench_gpu_spread(update),
               vertices_per_second(m, update->median) * 1e-6);
    }
}

void bench_gpu_print_scene(const bench_gpu_run *run, const bench_gpu_memory *memory)
{
    const bench_gpu_model *m = run->model;
    char number[3][32];
    printf("%s: %s\n", m->scene->name, m->scene->text);
    if (run->skipped[0]) {
        printf("  left out: ");
        cli_put(stdout, run->skipped);
        printf("\n\n");
        return;
    }
    printf("  %s vertices, %s instance%s of %s mesh%s; at least %.1f bytes read and %.1f written a vertex: see %s\n",
           cli_grouped(m->vertex_count, number[0]), cli_grouped(m->data.instance_count, number[1]),
           m->data.instance_count == 1 ? "" : "s", cli_grouped(m->data.mesh_count, number[2]),
           m->data.mesh_count == 1 ? "" : "es", per_vertex(m, m->streams_read), per_vertex(m, m->streams_written),
           m->writes ? "fill" : "copy");
    printf("  %-22s %10s %9s %10s %9s %8s %9s %9s\n", "", "", "", "million", "bytes", "least", "of", "of");
    printf("  %-22s %10s %9s %10s %9s %8s %9s %9s\n", "", "ms", "spread", "vertices/s", "requested", "GB/s", "copy",
           "fill");
    for (uint32_t i = 0; i < run->contender_count; i++) {
        print_row(run, memory, &run->contenders[i]);
    }
    print_break_even(run);
    printf("\n");
    fflush(stdout);
}

// ---- JSON

json_t *bench_gpu_json_times(const bench_statistics *t)
{
    return json_pack("{s:f, s:[f, f], s:f, s:f}", "median", t->median, "quartiles", t->quartiles[0], t->quartiles[1],
                     "least", t->least, "most", t->most);
}

json_t *bench_gpu_json_memory(const bench_gpu_memory *memory)
{
    json_t *moves = json_array();
    for (int i = 0; i < BENCH_GPU_MOVES; i++) {
        const bench_statistics *t = &memory->ms[i];
        json_t *move = json_object();
        json_object_set_new(move, "name", json_string(bench_gpu_move_names[i]));
        json_object_set_new(move, "bytes", json_real(memory->bytes[i]));
        json_object_set_new(move, "ms", bench_gpu_json_times(t));
        json_object_set_new(move, "gb_per_s", json_real(t->median > 0 ? memory->bytes[i] / t->median * 1e-6 : 0));
        json_array_append_new(moves, move);
    }
    json_t *value = json_object();
    json_object_set_new(value, "buffer_bytes", json_integer((json_int_t)memory->size));
    json_object_set_new(value, "copy_gb_per_s", json_real(memory->copy));
    json_object_set_new(value, "fill_gb_per_s", json_real(memory->fill));
    json_object_set_new(value, "moves", moves);
    return value;
}

// Of one update.
static json_t *statistics_json(const pelt_vk_statistics *done)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "items", (json_int_t)done->item_count, "reduced",
                     (json_int_t)done->reduced_count, "dispatches", (json_int_t)done->dispatch_count, "barriers",
                     (json_int_t)done->barrier_count, "written_bytes", (json_int_t)done->written_bytes, "copied_bytes",
                     (json_int_t)done->copied_bytes);
}

static json_t *contender_json(const bench_gpu_run *run, const bench_gpu_memory *memory, const bench_gpu_contender *c)
{
    const bench_gpu_model *m = run->model;
    const bench_statistics *t = &c->ms[BENCH_GPU_PASS];
    bool measured = !c->skipped[0];
    bool writes = measured && !(c->is.baseline && c->is.baseline->needs_graphics); // draws write nothing
    double rate = least_rate(m, c);
    json_t *value = json_object();
    json_object_set_new(value, "name", json_string(c->is.name));
    json_object_set_new(value, "role", json_string(c->is.baseline ? "baseline" : "library"));
    json_object_set_new(value, "passes", json_integer(c->is.passes));
    json_object_set_new(value, "skipped", cli_json_text(measured ? NULL : c->skipped));
    json_object_set_new(value, "ms", measured ? bench_gpu_json_times(t) : json_null());
    json_object_set_new(value, "update_ms",
                        measured && !c->is.baseline ? bench_gpu_json_times(&c->ms[BENCH_GPU_UPDATE]) : json_null());
    json_object_set_new(value, "statistics", measured && !c->is.baseline ? statistics_json(&c->done) : json_null());
    json_object_set_new(value, "vertices_per_s", measured ? json_real(vertices_per_second(m, t->median)) : json_null());
    json_object_set_new(value, "requested_bytes", measured ? json_real(c->requested) : json_null());
    json_object_set_new(value, "gb_per_s", writes ? json_real(rate) : json_null());
    json_object_set_new(value, "share_of_copy", writes ? json_real(share(rate, memory->copy)) : json_null());
    json_object_set_new(value, "share_of_fill", writes ? json_real(share(rate, memory->fill)) : json_null());
    return value;
}

json_t *bench_gpu_json_scene(const bench_gpu_run *run, const bench_gpu_memory *memory)
{
    const bench_gpu_model *m = run->model;
    const bool is_file = m->scene->kind == BENCH_FILE;
    json_t *contenders = json_array();
    for (uint32_t i = 0; i < run->contender_count; i++) {
        json_array_append_new(contenders, contender_json(run, memory, &run->contenders[i]));
    }
    json_t *value = json_object();
    json_object_set_new(value, "name", json_string(m->scene->name));
    json_object_set_new(value, "text", json_string(m->scene->text));
    json_object_set_new(value, "skipped", cli_json_text(run->skipped[0] ? run->skipped : NULL));
    json_object_set_new(value, "vertices", json_integer((json_int_t)m->vertex_count));
    json_object_set_new(value, "instances", json_integer(m->data.instance_count));
    json_object_set_new(value, "meshes", json_integer(m->data.mesh_count));
    json_object_set_new(value, "mesh_vertices", json_integer((json_int_t)m->mesh_vertices));
    json_object_set_new(value, "joints", is_file ? json_null() : json_integer(m->scene->joint_count));
    json_object_set_new(value, "matrices", json_integer(m->data.first_matrices[m->data.palette_count]));
    json_object_set_new(value, "previous_positions", json_boolean(m->scene->with_previous));
    json_object_set_new(value, "bytes_read", json_real(per_vertex(m, m->streams_read)));
    json_object_set_new(value, "bytes_written", json_real(per_vertex(m, m->streams_written)));
    json_object_set_new(value, "against", json_string(m->writes ? "fill" : "copy"));
    double passes = break_even(run);
    json_object_set_new(value, "break_even_passes", passes > 0 ? cli_json_real(passes) : json_null());
    json_object_set_new(value, "contenders", contenders);
    return value;
}

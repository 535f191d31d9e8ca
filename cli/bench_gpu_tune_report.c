// SPDX-License-Identifier: MIT
// What `pelt bench --tune` tells: tables and scene options to paste, or pelt/tune/1.
#include "bench_gpu.h"
#include "bench_gpu_tune.h"

static const char *const box_names[TUNE_BOXES] = {"none", "exact", "joints"};

static const char *bounds_name(pelt_vk_bounds bounds)
{
    return bounds == PELT_VK_BOUNDS_CONSERVATIVE ? "conservative" : "exact";
}

// ---- text

static void print_time(const bench_statistics *t)
{
    if (t->median > 0) {
        printf(" %9.4f %6.1f %%", t->median, 100 * bench_gpu_spread(t));
    } else {
        printf(" %9s %8s", "-", "");
    }
}

static void print_cost(const tune_size *s, tune_boxes boxes)
{
    double none = s->ms[TUNE_NONE].median;
    double ms = s->ms[boxes].median;
    if (none > 0 && ms > 0) {
        printf(" %6.1f %%", 100 * (ms / none - 1));
    } else {
        printf(" %8s", "-");
    }
}

static void print_sizes(const tune_result *t)
{
    printf("ms of the pass over different meshes, by the vertices of a mesh\n");
    printf("  %10s %10s %18s %18s %18s %8s %8s  %s\n", "", "", "without boxes", "exact boxes", "boxes of joints",
           "exact", "joints", "automatic");
    printf("  %10s %10s %9s %8s %9s %8s %9s %8s %8s %8s  %s\n", "vertices", "instances", "ms", "spread", "ms", "spread",
           "ms", "spread", "cost", "cost", "bounds");
    for (uint32_t i = 0; i < t->size_count; i++) {
        const tune_size *s = &t->sizes[i];
        char number[2][32];
        printf("  %10s %10s", cli_grouped(s->vertex_count, number[0]), cli_grouped(s->instance_count, number[1]));
        for (int k = 0; k < TUNE_BOXES; k++) {
            print_time(&s->ms[k]);
        }
        print_cost(s, TUNE_EXACT);
        print_cost(s, TUNE_JOINTS);
        printf("  %s\n", bounds_name(s->bounds));
    }
    printf("\n");
}

static void print_items(const tune_result *t)
{
    char number[32];
    printf("ms of the pass with exact boxes, by the most vertices of a work item\n  %-14s", "");
    for (int i = 0; i < TUNE_ITEMS; i++) {
        printf(" %9s %8s", cli_grouped(tune_item_vertices[i], number), "spread");
    }
    printf("\n");
    for (uint32_t k = 0; k < t->scene_count; k++) {
        printf("  %-14s", t->scenes[k].name);
        for (int i = 0; i < TUNE_ITEMS; i++) {
            print_time(&t->scenes[k].ms[i]);
        }
        printf("\n");
    }
    printf("  %-14s", "geometric mean");
    for (int i = 0; i < TUNE_ITEMS; i++) {
        printf("%s %9.4f", i ? "         " : "", t->means[i]);
    }
    printf("\n\n");
}

static const char *rule_end(uint32_t vertex_count, char out[32])
{
    snprintf(out, 32, "%u", (unsigned)vertex_count);
    return vertex_count == UINT32_MAX ? "UINT32_MAX" : out;
}

// The same in words and as C.
static void print_options(const tune_result *t)
{
    char number[32];
    printf("recommended:\n");
    for (uint32_t i = 0; i < t->rule_count; i++) {
        bool is_last = t->rules[i].vertex_count == UINT32_MAX;
        printf("  %s boxes for meshes of %s%s\n",
               t->rules[i].bounds == PELT_VK_BOUNDS_CONSERVATIVE ? "conservative" : "exact",
               is_last && i == 0 ? "all sizes"
               : is_last         ? "more vertices"
                                 : cli_grouped(t->rules[i].vertex_count, number),
               is_last ? "" : " vertices at most");
    }
    if (t->best_item < TUNE_ITEMS) {
        printf("  work items of at most %s vertices\n", cli_grouped(tune_item_vertices[t->best_item], number));
    }
    printf("\nas C:\n\n    static const pelt_vk_bounds_rule bounds_rules[] = {\n");
    for (uint32_t i = 0; i < t->rule_count; i++) {
        bool is_conservative = t->rules[i].bounds == PELT_VK_BOUNDS_CONSERVATIVE;
        printf("        {%s, PELT_VK_BOUNDS_%s},\n", rule_end(t->rules[i].vertex_count, number),
               is_conservative ? "CONSERVATIVE" : "EXACT");
    }
    printf("    };\n    const pelt_vk_scene_options options = {\n        .bounds = PELT_VK_BOUNDS_AUTO,\n");
    if (t->best_item < TUNE_ITEMS) {
        printf("        .item_vertices = %u,\n", (unsigned)tune_item_vertices[t->best_item]);
    }
    printf("        .bounds_rule_count = %u,\n        .bounds_rules = bounds_rules,\n    };\n",
           (unsigned)t->rule_count);
}

void tune_print(const tune_result *t)
{
    print_sizes(t);
    print_items(t);
    print_options(t);
}

// ---- JSON

static json_t *time_json(const bench_statistics *t)
{
    return t->median > 0 ? bench_gpu_json_times(t) : json_null();
}

static json_t *sizes_json(const tune_result *t)
{
    json_t *sizes = json_array();
    for (uint32_t i = 0; i < t->size_count; i++) {
        const tune_size *s = &t->sizes[i];
        json_t *ms = json_object();
        for (int k = 0; k < TUNE_BOXES; k++) {
            json_object_set_new(ms, box_names[k], time_json(&s->ms[k]));
        }
        json_array_append_new(sizes,
                              json_pack("{s:I, s:I, s:o, s:s}", "vertices", (json_int_t)s->vertex_count, "instances",
                                        (json_int_t)s->instance_count, "ms", ms, "bounds", bounds_name(s->bounds)));
    }
    return sizes;
}

static json_t *rules_json(const tune_result *t)
{
    json_t *rules = json_array();
    for (uint32_t i = 0; i < t->rule_count; i++) {
        json_array_append_new(rules, json_pack("{s:I, s:s}", "vertex_count", (json_int_t)t->rules[i].vertex_count,
                                               "bounds", bounds_name(t->rules[i].bounds)));
    }
    return rules;
}

static json_t *items_json(const tune_result *t)
{
    json_t *sizes = json_array();
    json_t *means = json_array();
    json_t *scenes = json_array();
    for (int i = 0; i < TUNE_ITEMS; i++) {
        json_array_append_new(sizes, json_integer(tune_item_vertices[i]));
        json_array_append_new(means, t->means[i] > 0 ? json_real(t->means[i]) : json_null());
    }
    for (uint32_t k = 0; k < t->scene_count; k++) {
        const tune_scene *s = &t->scenes[k];
        json_t *ms = json_array();
        for (int i = 0; i < TUNE_ITEMS; i++) {
            json_array_append_new(ms, time_json(&s->ms[i]));
        }
        json_array_append_new(scenes, json_pack("{s:s, s:I, s:I, s:o}", "name", s->name, "vertices",
                                                (json_int_t)s->vertex_count, "instances", (json_int_t)s->instance_count,
                                                "ms", ms));
    }
    bool found = t->best_item < TUNE_ITEMS;
    return json_pack("{s:o, s:o, s:o, s:o}", "best",
                     found ? json_integer(tune_item_vertices[t->best_item]) : json_null(), "sizes", sizes, "means",
                     means, "scenes", scenes);
}

int tune_print_json(cli_context *context, const tune_result *t)
{
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_string("pelt/tune/1"));
    json_object_set_new(root, "device", cli_device_json(context));
    json_object_set_new(root, "runs", json_integer(bench_run_count(context)));
    json_object_set_new(root, "sizes", sizes_json(t));
    json_object_set_new(root, "rules", rules_json(t));
    json_object_set_new(root, "item_vertices", items_json(t));
    return cli_print_json(context, root);
}

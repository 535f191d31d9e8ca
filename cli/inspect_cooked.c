// SPDX-License-Identifier: MIT
// What inspect tells of a .pelt beside what it tells of every file: how the primitives are packed.
#include "cook.h"
#include "inspect.h"

// As wide as the labels of inspect_text.c.
static void label(const char *name)
{
    printf("    %-16s ", name);
}

static void print_streams(const cook_layout *layout)
{
    const char *lead = "";
    label("streams");
    for (int i = 0; i < COOK_STREAMS; i++) {
        if (layout->streams[i].after > 0) {
            printf("%s%s %.4g", lead, layout->streams[i].name, layout->streams[i].after);
            lead = ", ";
        }
    }
    printf(" bytes per vertex\n");
    label("requested");
    printf("%.4g bytes per vertex with 3x4 matrices, %.4g where a run's joint list is loaded once\n",
           layout->read_after + layout->palette, layout->read_after + layout->list_palette);
}

void inspect_print_cooked(const inspect_facts *f, uint32_t index)
{
    const pelt_cooked_primitive *cooked = &f->cooked->primitives[index];
    cook_layout layout = cook_layout_of(cooked, NULL);
    pelt_run_statistics runs;
    label("cooked");
    if (cooked->weights) {
        printf("%s weights, joints in %s, %s\n", cook_encoding_name(cooked->encoding), cook_joint_layout_name(cooked),
               cooked->ordered ? "ordered by influences" : "in the source's order");
    } else {
        printf("rigid\n");
    }
    print_streams(&layout);
    if (cooked->weights && cook_run_statistics(cooked, &runs)) {
        label("runs");
        cook_print_runs(&runs);
    }
    if (cooked->target_count) {
        label("morph targets");
        printf("%.4g bytes per vertex, all of them\n", layout.targets_after);
    }
}

json_t *inspect_json_cooked(const inspect_facts *f, uint32_t index)
{
    const pelt_cooked_primitive *cooked = &f->cooked->primitives[index];
    cook_layout layout = cook_layout_of(cooked, NULL);
    pelt_run_statistics runs;
    bool skinned = cooked->weights != NULL;
    json_t *value = json_object();
    json_object_set_new(value, "weights", skinned ? json_string(cook_encoding_name(cooked->encoding)) : json_null());
    json_object_set_new(value, "joints", json_string(cook_joint_layout_name(cooked)));
    json_object_set_new(value, "ordered", json_boolean(cooked->ordered));
    json_object_set_new(value, "source_vertices", json_integer(cooked->source_vertex_count));
    json_object_set_new(value, "bytes_per_vertex", cook_json_layout(&layout));
    json_object_set_new(value, "runs",
                        skinned && cook_run_statistics(cooked, &runs) ? cook_json_runs(&runs) : json_null());
    return value;
}

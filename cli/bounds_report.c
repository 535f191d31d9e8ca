// SPDX-License-Identifier: MIT
// Boxes as text and as JSON.
#include "bounds.h"
#include "gpu.h"
#include "options.h"

#include <math.h>
#include <string.h>

// ---- text

static void print_box(const char *label, const pelt_box *box)
{
    if (pelt_box_is_empty(box)) {
        printf("  %-10s empty\n", label);
        return;
    }
    printf("  %-10s %12.7g %12.7g %12.7g  %12.7g %12.7g %12.7g\n", label, (double)box->min[0], (double)box->min[1],
           (double)box->min[2], (double)box->max[0], (double)box->max[1], (double)box->max[2]);
}

static void print_moments(const bounds_report *report, const bounds_result *result)
{
    const pelt_asset_data *data = pelt_asset_get(report->scene->asset);
    char moments[32];
    char keys[32];
    if (result->all_clips) {
        printf("all %u clips, union over %s moments", (unsigned)data->clip_count,
               cli_grouped(result->moment_count, moments));
        return;
    }
    if (result->clip == PELT_NONE) {
        printf("rest pose");
        return;
    }
    printf("clip #%u \"", (unsigned)result->clip);
    cli_put(stdout, data->clips[result->clip].name);
    if (result->one_time) {
        printf("\" at %.9g s", result->time);
        return;
    }
    printf("\", %.9g s, union over %s moment%s: all %s key time%s and an even grid of %.9g a second",
           (double)data->clips[result->clip].duration, cli_grouped(result->moment_count, moments),
           result->moment_count == 1 ? "" : "s", cli_grouped(result->key_count, keys),
           result->key_count == 1 ? "" : "s", report->fps);
}

static void print_sides(const char *label, const double sides[6], double factor)
{
    printf("  %-10s", label);
    for (int i = 0; i < 6; i++) {
        printf(i == 3 ? "  " : " ");
        if (isfinite(sides[i])) {
            printf("%12.4g", factor * sides[i]);
        } else {
            printf("%12s", "-");
        }
    }
    printf("\n");
}

// How far the mesh passes each side, in the columns of that side.
static void print_leaves(const bounds_measure *m)
{
    double ratio = bounds_volume_ratio(m);
    double outside = bounds_outside_volume(m);
    if (m->outside) {
        print_sides("leaves by", m->leaves, 1.0);
        print_sides("% of diag.", m->shares, 100.0);
        printf("  %-10s leaves the declared box", "");
        if (isfinite(outside)) {
            printf("; %.3g %% of the box's volume lies outside", 100.0 * outside);
        }
    } else {
        printf("  %-10s stays in the declared box", "");
    }
    if (isfinite(ratio)) {
        printf("; its volume is %.4g of the declared", ratio);
    }
    printf("\n");
}

static void print_primitive(const bounds_report *report, const bounds_result *result, uint32_t k)
{
    const scene *s = report->scene;
    const scene_primitive *p = &s->primitives[k];
    const pelt_instance *instance = &pelt_asset_get(s->asset)->instances[p->instance];
    const bounds_measure *m = &result->measures[k];
    char vertices[32];
    printf("%u \"", (unsigned)k);
    cli_put(stdout, scene_primitive_name(s, p));
    printf("\": node %u, mesh %u, primitive %u, ", (unsigned)scene_primitive_node(s, p)->file_index,
           (unsigned)instance->mesh, (unsigned)p->primitive);
    if (instance->skin == PELT_NONE) {
        printf("rigid");
    } else {
        printf("skin %u", (unsigned)instance->skin);
    }
    printf(", %s %s\n", cli_grouped(p->source->vertex_count, vertices),
           p->source->vertex_count == 1 ? "vertex" : "vertices");
    print_box("box", &m->box);
    if (memcmp(&m->box, &m->used_box, sizeof m->box) != 0) {
        print_box("used only", &m->used_box);
        printf("  %-10s %s %s that no index uses enlarge%s the box\n", "", cli_grouped(p->unused_count, vertices),
               p->unused_count == 1 ? "vertex" : "vertices", p->unused_count == 1 ? "s" : "");
    }
    if (!m->has_declared) {
        printf("  declared   none\n");
        return;
    }
    print_box("declared", &m->declared);
    print_leaves(m);
}

void bounds_print_text(const bounds_report *report)
{
    for (size_t i = 0; i < report->result_count; i++) {
        const bounds_result *result = &report->results[i];
        printf("%s", i ? "\n" : "");
        print_moments(report, result);
        cli_put_device(report->context);
        printf("\n");
        printf("  %-10s %12s %12s %12s  %12s %12s %12s\n", "", "min x", "min y", "min z", "max x", "max y", "max z");
        print_box("whole file", &result->box);
        for (uint32_t k = 0; k < report->scene->primitive_count; k++) {
            print_primitive(report, result, k);
        }
    }
}

// ---- JSON

static json_t *sides_json(const double sides[6])
{
    json_t *value = json_object();
    json_t *low = json_array();
    json_t *high = json_array();
    for (int i = 0; i < 3; i++) {
        json_array_append_new(low, cli_json_real(sides[i]));
        json_array_append_new(high, cli_json_real(sides[3 + i]));
    }
    json_object_set_new(value, "min", low);
    json_object_set_new(value, "max", high);
    return value;
}

static json_t *primitive_json(const bounds_report *report, const bounds_result *result, uint32_t k)
{
    const scene *s = report->scene;
    const scene_primitive *p = &s->primitives[k];
    const bounds_measure *m = &result->measures[k];
    bool rigid = pelt_asset_get(s->asset)->instances[p->instance].skin == PELT_NONE;
    json_t *value = scene_primitive_json(s, k);
    json_object_set_new(value, "mesh_name", cli_json_text(scene_primitive_mesh(s, p)->name));
    json_object_set_new(value, "box", cli_json_box(&m->box));
    json_object_set_new(value, "unused_vertices", json_integer(p->unused_count));
    json_object_set_new(value, "used_box", cli_json_box(&m->used_box));
    json_object_set_new(value, "declared", m->has_declared ? cli_json_box(&m->declared) : json_null());
    json_object_set_new(value, "declared_space", json_string(rigid ? "world" : "bind"));
    json_object_set_new(value, "leaves", m->has_declared ? sides_json(m->leaves) : json_null());
    json_object_set_new(value, "leaves_share", m->has_declared ? sides_json(m->shares) : json_null());
    json_object_set_new(value, "outside", m->has_declared ? json_boolean(m->outside) : json_null());
    json_object_set_new(value, "outside_volume", cli_json_real(bounds_outside_volume(m)));
    json_object_set_new(value, "volume_ratio", cli_json_real(bounds_volume_ratio(m)));
    return value;
}

static json_t *result_json(const bounds_report *report, const bounds_result *result)
{
    const pelt_asset_data *data = pelt_asset_get(report->scene->asset);
    json_t *value = json_object();
    if (!result->all_clips) {
        bool clip = result->clip != PELT_NONE;
        json_object_set_new(value, "clip", cli_json_index(result->clip));
        json_object_set_new(value, "clip_name", cli_json_text(clip ? data->clips[result->clip].name : NULL));
        json_object_set_new(value, "duration",
                            clip ? cli_json_real((double)data->clips[result->clip].duration) : json_null());
        json_object_set_new(value, "time", result->one_time ? cli_json_real(result->time) : json_null());
    }
    json_object_set_new(value, "times", json_integer((json_int_t)result->moment_count));
    json_object_set_new(value, "key_times", json_integer((json_int_t)result->key_count));
    json_object_set_new(value, "grid_times", json_integer((json_int_t)result->grid_count));
    json_object_set_new(value, "box", cli_json_box(&result->box));
    json_t *primitives = json_array();
    for (uint32_t k = 0; k < report->scene->primitive_count; k++) {
        json_array_append_new(primitives, primitive_json(report, result, k));
    }
    json_object_set_new(value, "primitives", primitives);
    return value;
}

int bounds_print_json(const bounds_report *report)
{
    bool over_clip = false;
    bool outside = false;
    json_t *root = json_object();
    json_t *clips = json_array();
    json_object_set_new(root, "schema", json_string("pelt/bounds/1"));
    json_object_set_new(root, "file", cli_json_text(report->context->options.input));
    json_object_set_new(root, "device", cli_device_json(report->context));
    json_object_set_new(root, "space", json_string("world"));
    for (size_t i = 0; i < report->result_count; i++) {
        const bounds_result *result = &report->results[i];
        over_clip = over_clip || result->grid_count > 0;
        for (uint32_t k = 0; k < report->scene->primitive_count; k++) {
            outside = outside || result->measures[k].outside;
        }
        if (result->all_clips) {
            json_object_set_new(root, "all", result_json(report, result));
        } else {
            json_array_append_new(clips, result_json(report, result));
        }
    }
    json_object_set_new(root, "fps", over_clip ? cli_json_real(report->fps) : json_null());
    json_object_set_new(root, "outside", json_boolean(outside));
    json_object_set_new(root, "clips", clips);
    return cli_print_json(report->context, root);
}

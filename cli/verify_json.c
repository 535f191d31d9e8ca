// SPDX-License-Identifier: MIT
// What verify found as JSON: pelt/verify/1.
#include "verify.h"

static json_t *place_json(const verify_place *place, bool known)
{
    if (!known) {
        return json_null();
    }
    json_t *time = place->clip == PELT_NONE ? json_null() : cli_json_real(place->time);
    return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:o}", "file", cli_json_text(place->file), "clip",
                     cli_json_index(place->clip), "time", time, "node", (json_int_t)place->node, "mesh",
                     (json_int_t)place->mesh, "primitive", (json_int_t)place->primitive, "vertex",
                     cli_json_index(place->vertex));
}

static json_t *tally_json(const verify_tally *tally)
{
    return json_pack("{s:I, s:I, s:I, s:o}", "compared", (json_int_t)tally->compared, "failed",
                     (json_int_t)tally->failed, "unjudged", (json_int_t)tally->unjudged, "place",
                     place_json(&tally->place, tally->has_place));
}

static json_t *direction_json(const verify_tally *tally, double largest)
{
    json_t *value = tally_json(tally);
    json_object_set_new(value, "largest_degrees", cli_json_real(largest));
    json_object_set_new(value, "largest_of_allowed", cli_json_real(tally->worst));
    return value;
}

json_t *verify_json_backend(const verify_backend *backend, bool reference, const verify_figures *f)
{
    const verify_tally *t = f->tallies;
    json_t *value = json_object();
    json_object_set_new(value, "name", cli_json_text(backend->name));
    json_object_set_new(value, "device", gpu_json(backend->info));
    json_object_set_new(value, "reference", json_boolean(reference));
    json_object_set_new(value, "within", json_boolean(verify_within(f)));
    json_t *positions = tally_json(&t[VERIFY_POSITION]);
    if (t[VERIFY_POSITION].failed == 0) {
        json_object_set_new(positions, "place", place_json(&f->largest, f->has_largest));
    }
    json_object_set_new(positions, "explained", json_integer((json_int_t)f->explained));
    json_object_set_new(positions, "largest", cli_json_real(f->position));
    json_object_set_new(positions, "rms", cli_json_real(verify_rms(f)));
    json_object_set_new(positions, "largest_share", cli_json_real(f->share));
    json_object_set_new(positions, "rms_share", cli_json_real(verify_rms_share(f)));
    json_object_set_new(value, "positions", positions);
    json_object_set_new(value, "normals", direction_json(&t[VERIFY_NORMAL], f->normal_degrees));
    json_object_set_new(value, "tangents", direction_json(&t[VERIFY_TANGENT], f->tangent_degrees));
    json_object_set_new(value, "handedness", tally_json(&t[VERIFY_HANDEDNESS]));
    json_object_set_new(value, "boxes", tally_json(&t[VERIFY_BOX]));
    json_object_set_new(value, "conservative_boxes", tally_json(&t[VERIFY_CONSERVATIVE]));
    json_object_set_new(value, "previous_positions", tally_json(&t[VERIFY_PREVIOUS]));
    return value;
}

json_t *verify_json_file(const verify_result *r)
{
    json_t *value = json_object();
    json_t *backends = json_array();
    bool within = true;
    for (uint32_t i = 0; i < r->backend_count; i++) {
        within = within && verify_within(&r->figures[i]);
        json_array_append_new(backends, verify_json_backend(&r->backends[i], i == 0, &r->figures[i]));
    }
    json_object_set_new(value, "file", cli_json_text(r->model->context->options.input));
    json_object_set_new(value, "cooked", json_boolean(r->model->image == NULL));
    json_object_set_new(value, "within", json_boolean(within));
    json_object_set_new(value, "primitives", json_integer(r->model->item_count));
    json_object_set_new(value, "vertices", json_integer((json_int_t)r->model->vertex_count));
    json_object_set_new(value, "clips", json_integer(r->clip_count));
    json_object_set_new(value, "moments", json_integer(r->moment_count));
    json_object_set_new(value, "samples", json_integer(r->sample_limit));
    json_object_set_new(value, "backends", backends);
    return value;
}

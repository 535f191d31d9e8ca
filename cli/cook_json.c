// SPDX-License-Identifier: MIT
// What cook tells programs, schema pelt/cook/1: one entry for each file.
#include "cook.h"

static void set_count(json_t *object, const char *key, uint64_t value)
{
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

static void set_real(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, cli_json_real(value));
}

static json_t *error_json(const cook_error *error)
{
    if (error->count == 0) {
        return json_null();
    }
    json_t *value = json_object();
    set_real(value, "position", error->position);
    set_real(value, "position_share", error->share);
    set_real(value, "position_rms", cook_error_rms(error));
    set_real(value, "position_rms_share", cook_error_rms_share(error));
    set_real(value, "normal_degrees", error->normal_degrees);
    return value;
}

json_t *cook_json_layout(const cook_layout *layout)
{
    json_t *value = json_object();
    json_t *streams = json_array();
    json_t *requested = json_object();
    for (int i = 0; i < COOK_STREAMS; i++) {
        const cook_stream *stream = &layout->streams[i];
        json_t *one = json_object();
        json_object_set_new(one, "name", json_string(stream->name));
        set_real(one, "before", stream->before);
        set_real(one, "after", stream->after);
        json_array_append_new(streams, one);
    }
    json_object_set_new(value, "streams", streams);
    set_real(value, "read_before", layout->read_before);
    set_real(value, "read", layout->read_after);
    set_real(value, "written", layout->written);
    set_real(value, "targets_before", layout->targets_before);
    set_real(value, "targets", layout->targets_after);
    set_real(requested, "influences", layout->influences);
    set_real(requested, "palette", layout->palette);
    set_real(requested, "total", layout->read_after + layout->palette);
    set_real(requested, "list_palette", layout->list_palette);
    set_real(requested, "list_total", layout->read_after + layout->list_palette);
    set_real(requested, "replaced", layout->replaced);
    json_object_set_new(value, "requested", requested);
    return value;
}

json_t *cook_json_runs(const pelt_run_statistics *runs)
{
    json_t *value = json_object();
    json_t *classes = json_array();
    set_count(value, "runs", runs->run_count);
    set_count(value, "direct_runs", runs->direct_run_count);
    set_count(value, "median_vertices", runs->median_vertices);
    set_count(value, "median_joints", runs->median_joints);
    set_count(value, "worst_joints", runs->worst_joints);
    set_count(value, "list_joints", runs->list_joint_count);
    for (int i = 0; i < 5; i++) {
        json_array_append_new(classes, json_integer(runs->class_counts[i]));
    }
    json_object_set_new(value, "influence_classes", classes);
    return value;
}

static json_t *influences_json(const pelt_influence_report *r)
{
    json_t *value = json_object();
    set_count(value, "normalized_vertices", r->normalized_count);
    set_real(value, "worst_sum_error", (double)r->worst_sum_error);
    set_count(value, "merged_vertices", r->merged_count);
    set_count(value, "unweighted_vertices", r->unweighted_count);
    set_count(value, "ignored_joints", r->ignored_joint_count);
    set_count(value, "reduced_vertices", r->reduced_count);
    set_real(value, "worst_reduced_weight", (double)r->worst_reduced_weight);
    return value;
}

static json_t *primitive_json(const cook_facts *facts, uint32_t index)
{
    const pelt_cooked_primitive *cooked = &facts->cooked->primitives[index];
    const pelt_mesh *mesh = &facts->source->meshes[cooked->mesh];
    const pelt_primitive *source = &mesh->primitives[cooked->primitive];
    const pelt_cook_report *report = facts->reports ? &facts->reports[index] : NULL;
    cook_layout layout = cook_layout_of(cooked, source);
    bool skinned = cooked->weights != NULL;
    json_t *value = json_object();
    set_count(value, "mesh", cooked->mesh);
    json_object_set_new(value, "name", cli_json_text(mesh->name));
    set_count(value, "primitive", cooked->primitive);
    set_count(value, "vertices", cooked->vertex_count);
    set_count(value, "source_vertices", cooked->source_vertex_count);
    set_count(value, "dropped_vertices", cooked->source_vertex_count - cooked->vertex_count);
    set_count(value, "influences", source->influence_count);
    json_object_set_new(value, "weights", skinned ? json_string(cook_encoding_name(cooked->encoding)) : json_null());
    json_object_set_new(value, "joints", json_string(cook_joint_layout_name(cooked)));
    json_object_set_new(value, "error", error_json(&facts->errors->primitives[index]));
    json_object_set_new(value, "bytes_per_vertex", cook_json_layout(&layout));
    json_object_set_new(value, "runs_before", report && skinned ? cook_json_runs(&report->before) : json_null());
    json_object_set_new(value, "runs", report && skinned ? cook_json_runs(&report->after) : json_null());
    json_object_set_new(value, "morph_error", report ? cli_json_real((double)report->worst_morph_error) : json_null());
    json_object_set_new(value, "changes", influences_json(&source->influences));
    return value;
}

json_t *cook_json_outcome(const cook_job *job)
{
    static const char *const states[] = {"failed", "cooked", "unchanged"};
    json_t *value = json_object();
    json_object_set_new(value, "file", cli_json_text(job->context->options.input));
    json_object_set_new(value, "output", cli_json_text(job->output));
    json_object_set_new(value, "status", json_string(states[job->status]));
    set_count(value, "source_size", job->source_size);
    set_count(value, "size", job->output_size);
    json_object_set(value, "warnings", job->context->warnings);
    return value;
}

json_t *cook_json(const cook_facts *facts)
{
    const cook_job *job = facts->job;
    const cli_options *o = &job->context->options;
    json_t *value = cook_json_outcome(job);
    json_t *primitives = json_array();
    json_t *published = json_object();
    char hash[40];
    const uint64_t *source_hash = facts->cooked->source_hash;
    snprintf(hash, sizeof hash, "%016llx%016llx", (unsigned long long)source_hash[1],
             (unsigned long long)source_hash[0]);
    json_object_set_new(value, "source_hash", json_string(hash));
    json_object_set_new(value, "error", error_json(&facts->errors->all));
    json_object_set_new(value, "over", o->has_max_error ? json_boolean(job->over) : json_null());
    set_count(value, "clips", facts->errors->clip_count);
    set_count(value, "moments", facts->errors->moment_count);
    set_count(value, "moments_per_clip", facts->errors->moment_limit);
    set_count(published, "before", COOK_PUBLISHED_BEFORE);
    set_count(published, "after", COOK_PUBLISHED_AFTER);
    json_object_set_new(value, "published", published);
    for (uint32_t i = 0; i < facts->cooked->primitive_count; i++) {
        json_array_append_new(primitives, primitive_json(facts, i));
    }
    json_object_set_new(value, "primitives", primitives);
    return value;
}

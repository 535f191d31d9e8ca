// SPDX-License-Identifier: MIT
// The facts of inspect as JSON, schema pelt/inspect/1. Nodes are named by their index in the file.
#include "inspect.h"

static void set_count(json_t *object, const char *key, uint64_t value)
{
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

static json_t *attribute_json(const char *name, const char *component, uint32_t count, bool normalized)
{
    json_t *value = json_object();
    json_object_set_new(value, "name", cli_json_text(name));
    json_object_set_new(value, "component", component ? json_string(component) : json_null());
    set_count(value, "components", count);
    json_object_set_new(value, "normalized", json_boolean(normalized));
    return value;
}

// The types of the streams that skinning changes are not kept by the import, so they have no component.
static json_t *attributes_json(const pelt_primitive *p)
{
    json_t *list = json_array();
    json_array_append_new(list, attribute_json("POSITION", NULL, 3, false));
    if (p->normals) {
        json_array_append_new(list, attribute_json("NORMAL", NULL, 3, false));
    }
    if (p->tangents) {
        json_array_append_new(list, attribute_json("TANGENT", NULL, 4, false));
    }
    for (uint32_t i = 0; i < p->influences.set_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "JOINTS_%u", i);
        json_array_append_new(list, attribute_json(name, NULL, 4, false));
        snprintf(name, sizeof name, "WEIGHTS_%u", i);
        json_array_append_new(list, attribute_json(name, NULL, 4, false));
    }
    for (uint32_t i = 0; i < p->attribute_count; i++) {
        const pelt_attribute *a = &p->attributes[i];
        json_array_append_new(
            list, attribute_json(a->name, inspect_component_name(a->component), a->component_count, a->normalized));
    }
    return list;
}

static json_t *influences_json(const inspect_primitive *ip)
{
    const pelt_primitive *p = ip->source;
    const pelt_influence_report *r = &p->influences;
    if (p->influence_count == 0) {
        return json_null();
    }
    json_t *value = json_object();
    json_t *histogram = json_array();
    for (uint32_t k = 0; k <= p->influence_count; k++) {
        json_array_append_new(histogram, json_integer(ip->histogram[k]));
    }
    set_count(value, "sets", r->set_count);
    set_count(value, "most_per_vertex", p->influence_count);
    json_object_set_new(value, "histogram", histogram);
    json_object_set_new(value, "worst_sum_error", cli_json_real((double)r->worst_sum_error));
    json_object_set_new(value, "worst_sum_vertex", cli_json_index(r->worst_sum_vertex));
    set_count(value, "normalized_vertices", r->normalized_count);
    set_count(value, "unweighted_vertices", r->unweighted_count);
    set_count(value, "merged_vertices", r->merged_count);
    set_count(value, "ignored_joints", r->ignored_joint_count);
    set_count(value, "reduced_vertices", r->reduced_count);
    json_object_set_new(value, "worst_reduced_weight", cli_json_real((double)r->worst_reduced_weight));
    set_count(value, "joints_used", ip->used_joint_count);
    json_object_set_new(value, "lowest_joint", cli_json_index(ip->lowest_joint));
    json_object_set_new(value, "highest_joint", cli_json_index(p->joint_bound ? p->joint_bound - 1 : PELT_NONE));
    return value;
}

static json_t *material_json(const inspect_facts *f, uint32_t material)
{
    if (material == PELT_NONE) {
        return json_null();
    }
    json_t *value = json_object();
    set_count(value, "index", material);
    json_object_set_new(value, "name", cli_json_text(pelt_gltf_material_name(f->gltf, material)));
    return value;
}

static json_t *primitive_json(const inspect_facts *f, const inspect_primitive *ip)
{
    const pelt_primitive *p = ip->source;
    json_t *value = json_object();
    set_count(value, "primitive", ip->index);
    json_object_set_new(value, "topology", json_string(inspect_topology_name(p->topology)));
    json_object_set_new(value, "material", material_json(f, p->material));
    set_count(value, "vertices", p->vertex_count);
    json_object_set_new(value, "indices", p->indices ? json_integer(p->index_count) : json_null());
    set_count(value, "triangles", ip->triangle_count);
    set_count(value, "unreferenced_vertices", ip->unreferenced_count);
    json_object_set_new(value, "attributes", attributes_json(p));
    json_object_set_new(value, "influences", influences_json(ip));
    json_object_set_new(value, "declared_box", p->has_declared_box ? cli_json_box(&p->declared_box) : json_null());
    json_object_set_new(value, "stored_box", cli_json_box(&ip->bind_box));
    json_t *bytes = json_object();
    set_count(bytes, "packed_read", ip->packed_read_size);
    set_count(bytes, "packed_written", ip->packed_written_size);
    set_count(bytes, "plain_read", ip->plain_size);
    json_object_set_new(value, "bytes_per_vertex", bytes);
    if (f->cooked) {
        json_object_set_new(value, "cooked", inspect_json_cooked(f, (uint32_t)(ip - f->primitives)));
    }
    return value;
}

static json_t *mesh_json(const inspect_facts *f, uint32_t index)
{
    const pelt_mesh *mesh = &f->data->meshes[index];
    json_t *value = json_object();
    json_t *primitives = json_array();
    json_t *targets = json_array();
    for (uint32_t i = f->first_primitive[index]; i < f->first_primitive[index + 1]; i++) {
        json_array_append_new(primitives, primitive_json(f, &f->primitives[i]));
    }
    for (uint32_t i = 0; i < mesh->target_count; i++) {
        json_t *target = json_object();
        json_object_set_new(target, "name", cli_json_text(mesh->target_names[i]));
        json_object_set_new(target, "weight", cli_json_real((double)mesh->weights[i]));
        json_array_append_new(targets, target);
    }
    set_count(value, "mesh", index);
    json_object_set_new(value, "name", cli_json_text(mesh->name));
    json_object_set_new(value, "primitives", primitives);
    json_object_set_new(value, "targets", targets);
    return value;
}

static json_t *skin_json(const inspect_facts *f, uint32_t index)
{
    const pelt_skin *skin = &f->data->skins[index];
    const inspect_skin *s = &f->skins[index];
    json_t *value = json_object();
    set_count(value, "skin", index);
    json_object_set_new(value, "name", cli_json_text(skin->name));
    set_count(value, "joints", skin->joint_count);
    set_count(value, "joints_used", s->used_joint_count);
    set_count(value, "duplicate_joints", s->duplicate_count);
    set_count(value, "joints_outside_scene", s->outside_scene_count);
    set_count(value, "depth", s->depth);
    set_count(value, "roots", s->root_count);
    set_count(value, "instances", s->instance_count);
    json_object_set_new(
        value, "skeleton",
        cli_json_index(skin->skeleton == PELT_NONE ? PELT_NONE : f->data->nodes[skin->skeleton].file_index));
    json_object_set_new(value, "inverse_binds", json_boolean(skin->has_inverse_binds));
    json_t *scale = json_null();
    if (s->overflow_count < skin->joint_count) {
        scale = json_object();
        json_object_set_new(scale, "min", cli_json_real(s->scale_min));
        json_object_set_new(scale, "max", cli_json_real(s->scale_max));
    }
    json_object_set_new(value, "effective_scale", scale);
    json_object_set_new(value, "handedness", json_string(inspect_handedness(s)));
    set_count(value, "right_handed_joints", s->right_handed_count);
    set_count(value, "mirrored_joints", s->mirrored_count);
    set_count(value, "singular_joints", s->singular_count);
    set_count(value, "overflowing_joints", s->overflow_count);
    return value;
}

static json_t *clip_json(const inspect_facts *f, uint32_t index)
{
    static const char *const kinds[] = {"LINEAR", "STEP", "CUBICSPLINE"};
    static const char *const paths[] = {"translation", "rotation", "scale", "weights"};
    const pelt_clip *clip = &f->data->clips[index];
    const inspect_clip *c = &f->clips[index];
    json_t *value = json_object();
    json_t *interpolation = json_object();
    json_t *path = json_object();
    for (size_t i = 0; i < 3; i++) {
        set_count(interpolation, kinds[i], c->counts[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        set_count(path, paths[i], c->paths[i]);
    }
    set_count(value, "clip", index);
    json_object_set_new(value, "name", cli_json_text(clip->name));
    json_object_set_new(value, "duration", cli_json_real((double)clip->duration));
    json_object_set_new(value, "first_key", cli_json_real((double)c->first_key));
    set_count(value, "channels", clip->channel_count);
    json_object_set_new(value, "paths", path);
    json_object_set_new(value, "interpolation", interpolation);
    set_count(value, "samplers", clip->sampler_count);
    set_count(value, "keys", c->key_count);
    set_count(value, "nodes", c->node_count);
    set_count(value, "joints", c->joint_count);
    return value;
}

static json_t *instance_json(const inspect_facts *f, uint32_t index)
{
    const pelt_instance *instance = &f->data->instances[index];
    const pelt_node *node = &f->data->nodes[instance->node];
    json_t *value = json_object();
    set_count(value, "node", node->file_index);
    json_object_set_new(value, "name", cli_json_text(node->name));
    set_count(value, "mesh", instance->mesh);
    json_object_set_new(value, "skin", cli_json_index(instance->skin));
    return value;
}

static json_t *list(const inspect_facts *f, uint32_t count, json_t *(*make)(const inspect_facts *, uint32_t))
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_array_append_new(array, make(f, i));
    }
    return array;
}

static json_t *extension_json(const inspect_facts *f, uint32_t index)
{
    json_t *value = json_object();
    json_object_set_new(value, "name", cli_json_text(pelt_gltf_extension_name(f->gltf, index)));
    json_object_set_new(value, "required", json_boolean(pelt_gltf_extension_required(f->gltf, index)));
    return value;
}

static json_t *totals_json(const inspect_facts *f)
{
    json_t *value = json_object();
    set_count(value, "meshes", f->data->mesh_count);
    set_count(value, "primitives", f->primitive_count);
    set_count(value, "vertices", f->vertex_count);
    set_count(value, "triangles", f->triangle_count);
    set_count(value, "posed_vertices", f->placed_vertex_count);
    set_count(value, "posed_triangles", f->placed_triangle_count);
    set_count(value, "nodes", f->data->node_count);
    set_count(value, "nodes_in_scene", f->scene_node_count);
    set_count(value, "nodes_with_matrix", f->matrix_node_count);
    set_count(value, "depth", f->depth);
    return value;
}

json_t *inspect_json(const cli_context *context, const inspect_facts *f)
{
    const pelt_asset_data *data = f->data;
    json_t *value = json_object();
    json_object_set_new(value, "schema", json_string("pelt/inspect/1"));
    json_object_set_new(value, "file", cli_json_text(context->options.input));
    json_object_set_new(value, "format", json_string(f->cooked ? "pelt" : "gltf"));
    set_count(value, "size", f->size);
    json_object_set_new(value, "extensions", list(f, pelt_gltf_extension_count(f->gltf), extension_json));
    json_object_set_new(value, "totals", totals_json(f));
    json_object_set_new(value, "meshes", list(f, data->mesh_count, mesh_json));
    json_object_set_new(value, "skins", list(f, data->skin_count, skin_json));
    json_object_set_new(value, "instances", list(f, data->instance_count, instance_json));
    json_object_set_new(value, "clips", list(f, data->clip_count, clip_json));
    if (context->options.tree) {
        json_object_set_new(value, "nodes", inspect_json_tree(f));
    }
    return value;
}

// SPDX-License-Identifier: MIT
// Writes the nodes of the posed scene. In world space a mesh leaves its node for a scene root without a transform; the
// hierarchy stays, with posed local transforms, only where cameras, lights, extras and the like hang on it.
#include "write_internal.h"

static const char visibility[] = "KHR_node_visibility";

typedef struct node_plan {
    uint32_t *mesh;   // per asset node: its output mesh, or PELT_NONE
    uint32_t *output; // per asset node: its node in the hierarchy of the output, or PELT_NONE
    uint8_t *kept;    // per asset node: 1 = it has a node in that hierarchy
    uint8_t *hidden;  // per asset node: 1 = KHR_node_visibility hides it or an ancestor
    uint32_t camera_count;
    const pelt_locals *locals;
} node_plan;

// Whether the node's mesh, and what only describes it (extras, metadata), moves to a node of its own.
static bool is_split(const gltf_writer *writer, const node_plan *plan, uint32_t node)
{
    return writer->posed->space == PELT_GLTF_SPACE_WORLD && plan->mesh[node] != PELT_NONE;
}

// Metadata goes with the mesh, everything else (lights) needs the node's transform; visibility alone shows nothing.
static bool has_extension(const json_t *json, bool count_metadata)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(json_object_get(json, "extensions"), name, value)
    {
        if (json_is_object(value) && pelti_write_extension_passes(name) && strcmp(name, visibility) != 0 &&
            (count_metadata || !pelti_write_extension_is_metadata(name))) {
            return true;
        }
    }
    return false;
}

static bool holds_something(const gltf_writer *writer, const node_plan *plan, uint32_t node, const json_t *json)
{
    bool split = is_split(writer, plan, node);
    if (json_object_get(json, "camera") || has_extension(json, !split)) {
        return true;
    }
    return !split && (plan->mesh[node] != PELT_NONE || json_object_get(json, "extras"));
}

// Descendants come after their parents, so one pass from the back tells which nodes are needed.
static pelt_result mark_kept(gltf_writer *writer, const node_plan *plan, pelt_error *error)
{
    const pelt_asset_data *asset = writer->asset;
    for (uint32_t n = asset->node_count; n-- > 0;) {
        const pelt_node *node = &asset->nodes[n];
        json_t *json = NULL;
        pelt_result result = pelti_gltf_item(writer->gltf, "nodes", node->file_index, &json, error);
        if (result != PELT_OK) {
            return result;
        }
        if (node->in_scene && holds_something(writer, plan, n, json)) {
            plan->kept[n] = 1;
        }
        // A scene may name a node that has a parent: its ancestors stay too, for their transforms.
        if (plan->kept[n] && node->parent != PELT_NONE) {
            plan->kept[node->parent] = 1;
        }
    }
    return PELT_OK;
}

// Parents come before their children.
static pelt_result mark_hidden(gltf_writer *writer, const node_plan *plan, pelt_error *error)
{
    const pelt_asset_data *asset = writer->asset;
    for (uint32_t n = 0; n < asset->node_count; n++) {
        const pelt_node *node = &asset->nodes[n];
        json_t *json = NULL;
        pelt_result result = pelti_gltf_item(writer->gltf, "nodes", node->file_index, &json, error);
        if (result != PELT_OK) {
            return result;
        }
        bool own = json_is_false(json_object_get(pelti_gltf_extension(json, visibility), "visible"));
        plan->hidden[n] = own || (node->parent != PELT_NONE && plan->hidden[node->parent]);
    }
    return PELT_OK;
}

// ---- nodes

// Removes metadata, or everything but metadata, from what pelti_write_extensions put there.
static void split_extensions(json_t *object, bool keep_metadata)
{
    json_t *extensions = json_object_get(object, "extensions");
    const char *name = NULL;
    json_t *value = NULL;
    void *next = NULL;
    json_object_foreach_safe(extensions, next, name, value)
    {
        if (pelti_write_extension_is_metadata(name) != keep_metadata) {
            json_object_del(extensions, name);
        }
    }
    if (extensions && json_object_size(extensions) == 0) {
        json_object_del(object, "extensions");
    }
}

static pelt_result append_node(gltf_writer *writer, json_t *object, bool is_root, uint32_t *out, pelt_error *error)
{
    size_t index = json_array_size(writer->nodes);
    pelti_write_append(writer, writer->nodes, object);
    if (index >= PELT_NONE) {
        return pelti_fail(error, PELT_ERROR_LIMIT, "", "the posed file would have too many nodes");
    }
    if (is_root) {
        pelti_write_append(writer, writer->roots, json_integer((json_int_t)index));
    }
    *out = (uint32_t)index;
    return pelti_write_status(writer, error);
}

static pelt_result write_content(gltf_writer *writer, const node_plan *plan, uint32_t node, const json_t *json,
                                 json_t *object, pelt_error *error)
{
    gltf_path where = pelti_gltf_path("/nodes/%u", writer->asset->nodes[node].file_index);
    uint32_t camera = PELT_NONE;
    pelt_result result =
        pelti_gltf_index(json, "camera", where.text, false, plan->camera_count, "camera", &camera, error);
    if (result != PELT_OK) {
        return result;
    }
    if (camera != PELT_NONE) {
        pelti_write_put(writer, object, "camera", json_integer(camera));
    }
    bool split = is_split(writer, plan, node);
    if (!split) {
        if (plan->mesh[node] != PELT_NONE) {
            pelti_write_put(writer, object, "mesh", json_integer(plan->mesh[node]));
        }
        pelti_write_share(writer, object, json, "extras");
    }
    result = pelti_write_extensions(writer, object, json, where.text, error);
    if (split) {
        split_extensions(object, false);
    }
    return result;
}

static pelt_result write_hierarchy_node(gltf_writer *writer, const node_plan *plan, uint32_t node, const json_t *json,
                                        pelt_error *error)
{
    json_t *object = json_object();
    pelt_result result =
        append_node(writer, object, writer->asset->nodes[node].parent == PELT_NONE, &plan->output[node], error);
    if (result != PELT_OK) {
        return result;
    }
    pelti_write_share(writer, object, json, "name");
    result = pelti_write_transform(writer, plan->locals, node, object, error);
    if (result == PELT_OK && writer->asset->nodes[node].in_scene) {
        result = write_content(writer, plan, node, json, object, error);
    }
    return result;
}

static pelt_result write_mesh_node(gltf_writer *writer, const node_plan *plan, uint32_t node, const json_t *json,
                                   pelt_error *error)
{
    json_t *object = json_object();
    uint32_t index = 0;
    pelt_result result = append_node(writer, object, true, &index, error);
    if (result != PELT_OK) {
        return result;
    }
    gltf_path where = pelti_gltf_path("/nodes/%u", writer->asset->nodes[node].file_index);
    pelti_write_share(writer, object, json, "name");
    pelti_write_put(writer, object, "mesh", json_integer(plan->mesh[node]));
    pelti_write_share(writer, object, json, "extras");
    result = pelti_write_extensions(writer, object, json, where.text, error);
    split_extensions(object, true);
    if (result == PELT_OK && plan->hidden[node]) {
        // A scene root no longer inherits it.
        if (!json_object_get(object, "extensions")) {
            pelti_write_put(writer, object, "extensions", json_object());
        }
        pelti_write_put(writer, json_object_get(object, "extensions"), visibility, json_pack("{s:b}", "visible", 0));
        pelti_write_use_extension(writer, visibility);
    }
    return result;
}

static pelt_result write_all(gltf_writer *writer, const node_plan *plan, pelt_error *error)
{
    const pelt_asset_data *asset = writer->asset;
    for (uint32_t i = 0; i < asset->node_count; i++) {
        uint32_t node = asset->node_from_file[i];
        json_t *json = NULL;
        pelt_result result = pelti_gltf_item(writer->gltf, "nodes", i, &json, error);
        if (result == PELT_OK && plan->kept[node]) {
            result = write_hierarchy_node(writer, plan, node, json, error);
        }
        if (result == PELT_OK && is_split(writer, plan, node)) {
            result = write_mesh_node(writer, plan, node, json, error);
        }
        if (result != PELT_OK) {
            return result;
        }
    }
    return PELT_OK;
}

static void link_children(gltf_writer *writer, const node_plan *plan)
{
    const pelt_asset_data *asset = writer->asset;
    for (uint32_t i = 0; i < asset->node_count; i++) {
        uint32_t node = asset->node_from_file[i];
        uint32_t parent = asset->nodes[node].parent;
        if (!plan->kept[node] || parent == PELT_NONE) {
            continue;
        }
        json_t *object = json_array_get(writer->nodes, plan->output[parent]);
        if (!json_object_get(object, "children")) {
            pelti_write_put(writer, object, "children", json_array());
        }
        pelti_write_append(writer, json_object_get(object, "children"), json_integer(plan->output[node]));
    }
}

static pelt_result write_scene_nodes(gltf_writer *writer, const node_plan *plan, pelt_error *error)
{
    const pelt_asset_data *asset = writer->asset;
    memset(plan->mesh, 0xFF, (size_t)asset->node_count * sizeof *plan->mesh);
    memset(plan->output, 0xFF, (size_t)asset->node_count * sizeof *plan->output);
    memset(plan->kept, 0, asset->node_count);
    for (uint32_t i = 0; i < asset->instance_count; i++) {
        plan->mesh[asset->instances[i].node] = writer->instance_mesh[i];
    }
    pelt_result result = mark_kept(writer, plan, error);
    if (result == PELT_OK) {
        result = mark_hidden(writer, plan, error);
    }
    if (result == PELT_OK) {
        result = write_all(writer, plan, error);
    }
    if (result == PELT_OK) {
        link_children(writer, plan);
        result = pelti_write_status(writer, error);
    }
    return result;
}

pelt_result pelti_write_nodes(gltf_writer *writer, pelt_error *error)
{
    uint64_t count = writer->asset->node_count;
    if (count == 0) {
        return PELT_OK;
    }
    node_plan plan = {0};
    json_t *cameras = NULL;
    pelt_result result = pelti_gltf_array(writer->gltf, "cameras", &cameras, &plan.camera_count, error);
    if (result != PELT_OK) {
        return result;
    }
    // The pose is read only: its locals come without const because they are also what a clip writes to.
    plan.locals = pelt_pose_locals((pelt_pose *)writer->posed->pose);
    plan.mesh = pelti_allocate(writer->allocator, count, sizeof *plan.mesh);
    plan.output = pelti_allocate(writer->allocator, count, sizeof *plan.output);
    plan.kept = pelti_allocate(writer->allocator, count, 1);
    plan.hidden = pelti_allocate(writer->allocator, count, 1);
    if (plan.mesh && plan.output && plan.kept && plan.hidden) {
        result = write_scene_nodes(writer, &plan, error);
    } else {
        result = pelti_write_out_of_memory(error);
    }
    pelti_release(writer->allocator, plan.mesh, count, sizeof *plan.mesh);
    pelti_release(writer->allocator, plan.output, count, sizeof *plan.output);
    pelti_release(writer->allocator, plan.kept, count, 1);
    pelti_release(writer->allocator, plan.hidden, count, 1);
    return result;
}

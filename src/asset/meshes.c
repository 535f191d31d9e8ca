// SPDX-License-Identifier: MIT
// Checks meshes and primitives against what asset.h promises, and notes what skinned nodes need to know of them.
#include "asset/asset_internal.h"

// The primitive at hand, for messages.
typedef struct primitive_check {
    asset_finish *finish;
    uint32_t mesh;
    uint32_t index;
    const pelt_primitive *primitive;
    pelt_error *error;
} primitive_check;

PELTI_PRINTF(4, 5)
static pelt_result refuse(const primitive_check *check, const char *attribute, uint32_t vertex, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    pelti_format(text, sizeof text, format, arguments);
    va_end(arguments);
    pelti_fail(check->error, PELT_ERROR_INVALID,
               pelti_asset_text("/meshes/%u/primitives/%u%s", check->mesh, check->index, attribute).text,
               "mesh %u, primitive %u: %s", check->mesh, check->index, text);
    if (check->error) {
        check->error->mesh = check->mesh;
        check->error->primitive = check->index;
        check->error->vertex = vertex;
    }
    return PELT_ERROR_INVALID;
}

// components floats per vertex, all finite; NULL is accepted.
static pelt_result check_stream(const primitive_check *check, const char *where, const char *name, const float *values,
                                uint32_t components)
{
    if (!values) {
        return PELT_OK;
    }
    uint64_t count = (uint64_t)check->primitive->vertex_count * components;
    bool is_new = false;
    if (!pelti_asset_seen(check->finish, values, count, ASSET_SCAN_FINITE, &is_new)) {
        return pelti_fail_memory(check->error);
    }
    uint64_t at = is_new ? pelti_first_not_finite(values, count) : count;
    if (at == count) {
        return PELT_OK;
    }
    uint32_t vertex = (uint32_t)(at / components);
    return refuse(check, where, vertex, "%s: vertex %u holds %s", name, vertex, pelti_asset_number(values[at]).text);
}

// Only the sign of w means anything: other values than 1 and -1, which exporters do write, become their sign.
static pelt_result settle_handedness(const primitive_check *check)
{
    const pelt_primitive *primitive = check->primitive;
    bool is_new = false;
    if (!primitive->tangents) {
        return PELT_OK;
    }
    if (!pelti_asset_seen(check->finish, primitive->tangents, primitive->vertex_count, ASSET_SCAN_HANDEDNESS,
                          &is_new)) {
        return pelti_fail_memory(check->error);
    }
    // The builder's memory, given to it by the caller for exactly this.
    float *tangents = (float *)primitive->tangents;
    uint32_t count = 0;
    uint32_t first = 0;
    float first_w = 0.0f;
    for (uint32_t v = 0; is_new && v < primitive->vertex_count; v++) {
        float *w = &tangents[(size_t)v * 4 + 3];
        if (*w != 1.0f && *w != -1.0f) {
            if (count++ == 0) {
                first = v;
                first_w = *w;
            }
            *w = *w < 0.0f ? -1.0f : 1.0f;
        }
    }
    if (count > 0) {
        pelti_warn(&check->finish->builder->log,
                   pelti_asset_text("/meshes/%u/primitives/%u/attributes/TANGENT", check->mesh, check->index).text,
                   "mesh %u, primitive %u: TANGENT: w of %u %s is neither 1 nor -1 (vertex %u is the first, with %s); "
                   "its sign is used",
                   check->mesh, check->index, count, count == 1 ? "vertex" : "vertices", first,
                   pelti_asset_number(first_w).text);
    }
    return PELT_OK;
}

static pelt_result check_targets(const primitive_check *check, uint32_t target_count)
{
    pelt_result result = PELT_OK;
    for (uint32_t t = 0; t < target_count && result == PELT_OK; t++) {
        const pelt_morph_target *target = &check->primitive->targets[t];
        const struct {
            const char *name;
            const float *values;
        } streams[3] = {{"POSITION", target->positions}, {"NORMAL", target->normals}, {"TANGENT", target->tangents}};
        for (int i = 0; i < 3 && result == PELT_OK; i++) {
            result = check_stream(check, pelti_asset_text("/targets/%u/%s", t, streams[i].name).text,
                                  pelti_asset_text("target %u: %s", t, streams[i].name).text, streams[i].values, 3);
        }
    }
    return result;
}

static pelt_result check_indices(const primitive_check *check)
{
    const pelt_primitive *primitive = check->primitive;
    if (!primitive->indices || primitive->index_count == 0) {
        return PELT_OK;
    }
    bool is_new = false;
    uint32_t *kept =
        pelti_asset_seen(check->finish, primitive->indices, primitive->index_count, ASSET_SCAN_HIGHEST_INDEX, &is_new);
    if (!kept) {
        return pelti_fail_memory(check->error);
    }
    uint32_t highest = *kept;
    for (uint32_t i = 0; is_new && i < primitive->index_count; i++) {
        highest = primitive->indices[i] > highest ? primitive->indices[i] : highest;
    }
    *kept = highest;
    if (highest >= primitive->vertex_count) {
        return refuse(check, "/indices", highest, "indices: %u is no vertex, the primitive has %u", highest,
                      primitive->vertex_count);
    }
    return PELT_OK;
}

// pelt_builder_clean_influences made them; what is checked is what reading memory relies on.
static pelt_result check_influences(const primitive_check *check)
{
    const pelt_primitive *primitive = check->primitive;
    if (primitive->influence_count == 0 || primitive->vertex_count == 0) {
        return PELT_OK;
    }
    if (!primitive->joints || !primitive->weights) {
        return refuse(check, "/attributes", PELT_NONE, "influences without joints or weights");
    }
    uint64_t count = (uint64_t)primitive->vertex_count * primitive->influence_count;
    bool is_new = false;
    uint32_t *kept = pelti_asset_seen(check->finish, primitive->joints, count, ASSET_SCAN_HIGHEST_JOINT, &is_new);
    if (!kept) {
        return pelti_fail_memory(check->error);
    }
    uint32_t highest = *kept;
    for (uint64_t i = 0; is_new && i < count; i++) {
        highest = primitive->joints[i] > highest ? primitive->joints[i] : highest;
    }
    *kept = highest;
    if (highest >= primitive->joint_bound) {
        return refuse(check, "/attributes/JOINTS_0", PELT_NONE, "JOINTS_0: joint %u is used, over the bound of %u",
                      highest, primitive->joint_bound);
    }
    return PELT_OK;
}

static pelt_result check_attributes(const primitive_check *check)
{
    const pelt_primitive *primitive = check->primitive;
    for (uint32_t i = 0; i < primitive->attribute_count; i++) {
        const pelt_attribute *attribute = &primitive->attributes[i];
        bool right = attribute->name && attribute->component_count >= 1 && attribute->component_count <= 4 &&
                     (attribute->data || primitive->vertex_count == 0);
        if (!right) {
            return refuse(check, "/attributes", PELT_NONE, "attribute %u is incomplete", i);
        }
    }
    return PELT_OK;
}

static pelt_result check_primitive(const primitive_check *check, uint32_t target_count)
{
    const pelt_primitive *primitive = check->primitive;
    if (primitive->vertex_count > 0 && !primitive->positions) {
        return refuse(check, "/attributes", PELT_NONE, "no POSITION");
    }
    if (target_count > 0 && !primitive->targets) {
        return refuse(check, "/targets", PELT_NONE, "no targets, but the mesh has %u", target_count);
    }
    pelt_result result = check_stream(check, "/attributes/POSITION", "POSITION", primitive->positions, 3);
    result = result == PELT_OK ? check_stream(check, "/attributes/NORMAL", "NORMAL", primitive->normals, 3) : result;
    result = result == PELT_OK ? check_stream(check, "/attributes/TANGENT", "TANGENT", primitive->tangents, 4) : result;
    result = result == PELT_OK ? check_targets(check, target_count) : result;
    result = result == PELT_OK ? check_indices(check) : result;
    result = result == PELT_OK ? check_influences(check) : result;
    result = result == PELT_OK ? check_attributes(check) : result;
    return result == PELT_OK ? settle_handedness(check) : result;
}

// Names and default weights: "" and zeros where the caller gave none.
static pelt_result fill_targets(asset_finish *finish, uint32_t index, pelt_mesh *mesh, pelt_error *error)
{
    mesh->name = mesh->name ? mesh->name : "";
    const char **names = pelt_builder_allocate(finish->builder, mesh->target_count, sizeof *names);
    float *zeros = mesh->weights ? NULL : pelt_builder_allocate(finish->builder, mesh->target_count, sizeof *zeros);
    if (!names || (!mesh->weights && !zeros)) {
        return pelt_builder_status(finish->builder, error);
    }
    for (uint32_t t = 0; t < mesh->target_count; t++) {
        bool named = mesh->target_names && mesh->target_names[t];
        names[t] = named ? mesh->target_names[t] : "";
    }
    mesh->target_names = names;
    mesh->weights = mesh->weights ? mesh->weights : zeros;
    uint64_t at = pelti_first_not_finite(mesh->weights, mesh->target_count);
    if (at < mesh->target_count) {
        pelti_fail(error, PELT_ERROR_INVALID, pelti_asset_text("/meshes/%u/weights/%u", index, (uint32_t)at).text,
                   "mesh %u: weights holds %s", index, pelti_asset_number(mesh->weights[at]).text);
        if (error) {
            error->mesh = index;
        }
        return PELT_ERROR_INVALID;
    }
    return PELT_OK;
}

static void note_use(asset_mesh_use *use, uint32_t index, const pelt_primitive *primitive)
{
    if (primitive->influence_count == 0) {
        if (primitive->vertex_count > 0 && use->unbound_primitive == PELT_NONE) {
            use->unbound_primitive = index;
        }
    } else if (primitive->joint_bound > use->joint_bound) {
        use->joint_bound = primitive->joint_bound;
        use->bound_primitive = index;
    }
}

pelt_result pelti_finish_meshes(asset_finish *finish, pelt_error *error)
{
    const pelt_builder_scene *scene = finish->scene;
    for (uint32_t m = 0; m < scene->mesh_count; m++) {
        pelt_mesh *mesh = &scene->meshes[m];
        finish->mesh_uses[m] = (asset_mesh_use){0, PELT_NONE, PELT_NONE};
        if (mesh->primitive_count > 0 && !mesh->primitives) {
            return pelti_fail(error, PELT_ERROR_ARGUMENT, pelti_asset_text("/meshes/%u", m).text,
                              "mesh %u: primitives are missing", m);
        }
        pelt_result result = fill_targets(finish, m, mesh, error);
        for (uint32_t p = 0; p < mesh->primitive_count && result == PELT_OK; p++) {
            primitive_check check = {finish, m, p, &mesh->primitives[p], error};
            result = check_primitive(&check, mesh->target_count);
            note_use(&finish->mesh_uses[m], p, &mesh->primitives[p]);
        }
        if (result != PELT_OK) {
            return result;
        }
    }
    return PELT_OK;
}

// SPDX-License-Identifier: MIT
// The facts of inspect as text for people.
#include "inspect.h"

#include <stdarg.h>
#include <string.h>

static const char *group(uint64_t number, char out[32])
{
    return cli_grouped(number, out);
}

// "1 mesh", "2,000 meshes".
static void count_of(uint64_t number, const char *one, const char *many)
{
    char digits[32];
    printf("%s %s", group(number, digits), number == 1 ? one : many);
}

// Starts a line with a label, padded so that values stand in one column.
__attribute__((format(printf, 3, 4))) static void label(int indent, const char *name, const char *format, ...)
{
    printf("%*s%-*s ", indent, "", 20 - indent, name);
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

static void quoted(const char *name)
{
    if (name[0]) {
        printf(" \"");
        cli_put(stdout, name);
        printf("\"");
    }
}

static void print_box(const pelt_box *box)
{
    printf("(%g, %g, %g) to (%g, %g, %g)", (double)box->min[0], (double)box->min[1], (double)box->min[2],
           (double)box->max[0], (double)box->max[1], (double)box->max[2]);
}

static void print_summary(const cli_context *context, const inspect_facts *f)
{
    const pelt_asset_data *data = f->data;
    char digits[32];
    cli_put(stdout, context->options.input);
    printf("\n");
    label(2, "size", "%s bytes, external buffers included\n", group(f->size, digits));
    label(2, "meshes", "%s", "");
    count_of(data->mesh_count, "mesh, ", "meshes, ");
    count_of(f->primitive_count, "primitive, ", "primitives, ");
    count_of(f->vertex_count, "vertex, ", "vertices, ");
    count_of(f->triangle_count, "triangle\n", "triangles\n");
    label(2, "instances", "%s in the scene, ", group(data->instance_count, digits));
    count_of(f->placed_vertex_count, "vertex and ", "vertices and ");
    count_of(f->placed_triangle_count, "triangle to pose\n", "triangles to pose\n");
    label(2, "nodes", "%s, ", group(data->node_count, digits));
    printf("%s in the scene, ", group(f->scene_node_count, digits));
    printf("%s deep", group(f->depth, digits));
    if (f->matrix_node_count) {
        printf(", %s given as a matrix", group(f->matrix_node_count, digits));
    }
    printf("\n");
    label(2, "skins", "%s\n", group(data->skin_count, digits));
    label(2, "clips", "%s\n", group(data->clip_count, digits));
    uint32_t extensions = pelt_gltf_extension_count(f->gltf);
    label(2, "extensions", "%s", extensions ? "" : "none");
    for (uint32_t i = 0; i < extensions; i++) {
        printf("%s", i ? ", " : "");
        cli_put(stdout, pelt_gltf_extension_name(f->gltf, i));
        printf("%s", pelt_gltf_extension_required(f->gltf, i) ? " (required)" : "");
    }
    printf("\n");
}

static void print_attributes(const pelt_primitive *p)
{
    label(4, "attributes", "POSITION%s%s", p->normals ? ", NORMAL" : "", p->tangents ? ", TANGENT" : "");
    for (uint32_t i = 0; i < p->influences.set_count; i++) {
        printf(", JOINTS_%u, WEIGHTS_%u", i, i);
    }
    for (uint32_t i = 0; i < p->attribute_count; i++) {
        const pelt_attribute *a = &p->attributes[i];
        printf(", ");
        cli_put(stdout, a->name);
        printf(" (%u x %s%s)", a->component_count, inspect_component_name(a->component),
               a->normalized ? " normalized" : "");
    }
    printf("\n");
}

static void print_weight_changes(const pelt_influence_report *r)
{
    const struct {
        uint32_t count;
        const char *what;
    } changes[] = {
        {r->unweighted_count, "without weight, bound to their first joint"},
        {r->merged_count, "that list a joint twice"},
        {r->ignored_joint_count, "out-of-range joints of weight zero"},
        {r->reduced_count, "that lost influences to --max-influences"},
    };
    char digits[32];
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        if (changes[i].count) {
            label(4, "", "%s%s %s\n", i == 2 ? "" : "vertices: ", group(changes[i].count, digits), changes[i].what);
        }
    }
}

static void print_influences(const inspect_primitive *ip)
{
    const pelt_primitive *p = ip->source;
    const pelt_influence_report *r = &p->influences;
    char digits[32];
    if (p->influence_count == 0) {
        label(4, "influences", "none (rigid)\n");
        return;
    }
    label(4, "influences", "%u set%s of four, at most %u per vertex\n", r->set_count, r->set_count == 1 ? "" : "s",
          p->influence_count);
    for (uint32_t k = 0; k <= p->influence_count; k++) {
        if (ip->histogram[k]) {
            label(6, "", "%3u: %s vertices (%.1f %%)\n", k, group(ip->histogram[k], digits),
                  100.0 * ip->histogram[k] / p->vertex_count);
        }
    }
    label(4, "weight sums", "off from one by at most %.3g", (double)r->worst_sum_error);
    if (r->worst_sum_vertex != PELT_NONE && r->worst_sum_error > 0) {
        printf(" (vertex %u)", r->worst_sum_vertex);
    }
    printf(", %s normalised\n", group(r->normalized_count, digits));
    print_weight_changes(r);
    label(4, "joints used", "%s", group(ip->used_joint_count, digits));
    if (ip->lowest_joint != PELT_NONE) {
        printf(", of index %u to %u", ip->lowest_joint, p->joint_bound - 1);
    }
    printf("\n");
}

static void print_primitive(const inspect_facts *f, const inspect_primitive *ip)
{
    const pelt_primitive *p = ip->source;
    char digits[32];
    printf("  primitive %u: %s, ", ip->index, inspect_topology_name(p->topology));
    count_of(p->vertex_count, "vertex, ", "vertices, ");
    if (p->indices) {
        count_of(p->index_count, "index, ", "indices, ");
    } else {
        printf("no indices, ");
    }
    count_of(ip->triangle_count, "triangle\n", "triangles\n");
    label(4, "material", "%s", "");
    if (p->material == PELT_NONE) {
        printf("none\n");
    } else {
        printf("%u", p->material);
        quoted(pelt_gltf_material_name(f->gltf, p->material));
        printf("\n");
    }
    print_attributes(p);
    print_influences(ip);
    if (p->indices) {
        label(4, "not in an index", "%s vertices\n", group(ip->unreferenced_count, digits));
    }
    label(4, "declared box", "%s", "");
    if (p->has_declared_box) {
        print_box(&p->declared_box);
    } else {
        printf("none");
    }
    printf("\n");
    if (!pelt_box_is_empty(&ip->bind_box)) {
        label(4, "stored box", "%s", "");
        print_box(&ip->bind_box);
        printf("\n");
    }
    label(4, "bytes per vertex", "%u read and %u written when packed; %u as plain floats\n", ip->packed_read_size,
          ip->packed_written_size, ip->plain_size);
    if (f->cooked) {
        inspect_print_cooked(f, (uint32_t)(ip - f->primitives));
    }
}

static void print_mesh(const inspect_facts *f, uint32_t index)
{
    const pelt_mesh *mesh = &f->data->meshes[index];
    printf("\nmesh %u", index);
    quoted(mesh->name);
    printf(": ");
    count_of(mesh->primitive_count, "primitive", "primitives");
    if (mesh->target_count) {
        printf(", ");
        count_of(mesh->target_count, "morph target", "morph targets");
    }
    printf("\n");
    for (uint32_t i = f->first_primitive[index]; i < f->first_primitive[index + 1]; i++) {
        print_primitive(f, &f->primitives[i]);
    }
    for (uint32_t i = 0; i < mesh->target_count; i++) {
        printf("  target #%u", i);
        quoted(mesh->target_names[i]);
        printf(": weight %g\n", (double)mesh->weights[i]);
    }
}

static void print_matrices(const pelt_skin *skin, const inspect_skin *s)
{
    label(2, "inverse binds", "%s\n", skin->has_inverse_binds ? "in the file" : "none, identity is used");
    label(2, "effective scale", "%s", "");
    if (s->overflow_count == skin->joint_count) {
        printf("not finite");
    } else if (s->scale_max - s->scale_min <= 1e-5 * s->scale_max) {
        printf("%.6g", s->scale_max);
    } else {
        printf("%.6g to %.6g over all joints and directions", s->scale_min, s->scale_max);
    }
    printf(", at rest\n");
    label(2, "handedness", "%s (%u keep it, %u mirror, %u flat", inspect_handedness(s), s->right_handed_count,
          s->mirrored_count, s->singular_count);
    if (s->overflow_count) {
        printf(", %u not finite", s->overflow_count);
    }
    printf(")\n");
}

static void print_skin(const inspect_facts *f, uint32_t index)
{
    const pelt_skin *skin = &f->data->skins[index];
    const inspect_skin *s = &f->skins[index];
    char digits[32];
    printf("\nskin %u", index);
    quoted(skin->name);
    printf(": ");
    count_of(skin->joint_count, "joint\n", "joints\n");
    label(2, "hierarchy", "%u deep, %u root%s", s->depth, s->root_count, s->root_count == 1 ? "" : "s");
    if (s->duplicate_count) {
        printf(", %s listed again", group(s->duplicate_count, digits));
    }
    if (s->outside_scene_count) {
        printf(", %s outside the scene", group(s->outside_scene_count, digits));
    }
    printf("\n");
    label(2, "used", "%s of %u joints, by %u instance%s\n", group(s->used_joint_count, digits), skin->joint_count,
          s->instance_count, s->instance_count == 1 ? "" : "s");
    if (skin->skeleton != PELT_NONE) {
        const pelt_node *node = &f->data->nodes[skin->skeleton];
        label(2, "skeleton", "node %u", node->file_index);
        quoted(node->name);
        printf("\n");
    }
    print_matrices(skin, s);
}

static void print_clip(const inspect_facts *f, uint32_t index)
{
    static const char *const kinds[] = {"LINEAR", "STEP", "CUBICSPLINE"};
    static const char *const paths[] = {"translation", "rotation", "scale", "weights"};
    const pelt_clip *clip = &f->data->clips[index];
    const inspect_clip *c = &f->clips[index];
    char digits[32];
    printf("\nclip #%u", index);
    quoted(clip->name);
    printf(": %g s", (double)clip->duration);
    if (c->first_key > 0) {
        printf(", first key at %g s", (double)c->first_key);
    }
    printf("\n");
    label(2, "channels", "%s", group(clip->channel_count, digits));
    const char *lead = " (";
    for (size_t i = 0; i < 4; i++) {
        if (c->paths[i]) {
            printf("%s%s %s", lead, group(c->paths[i], digits), paths[i]);
            lead = ", ";
        }
    }
    printf("%s\n", clip->channel_count ? ")" : "");
    label(2, "interpolation", "%s", clip->channel_count ? "" : "none");
    lead = "";
    for (size_t i = 0; i < 3; i++) {
        if (c->counts[i]) {
            printf("%s%s %s", lead, group(c->counts[i], digits), kinds[i]);
            lead = ", ";
        }
    }
    printf("\n");
    label(2, "keys", "%s in ", group(c->key_count, digits));
    count_of(clip->sampler_count, "sampler\n", "samplers\n");
    label(2, "moves", "%s", "");
    count_of(c->node_count, "node, ", "nodes, ");
    printf("%s of them joints\n", group(c->joint_count, digits));
}

static void print_instance(const inspect_facts *f, uint32_t index)
{
    const pelt_instance *instance = &f->data->instances[index];
    const pelt_node *node = &f->data->nodes[instance->node];
    printf("  node %u", node->file_index);
    quoted(node->name);
    printf(": mesh %u", instance->mesh);
    if (instance->skin == PELT_NONE) {
        printf(", rigid\n");
    } else {
        printf(", skin %u\n", instance->skin);
    }
}

void inspect_print_text(const cli_context *context, const inspect_facts *f)
{
    const pelt_asset_data *data = f->data;
    print_summary(context, f);
    for (uint32_t i = 0; i < data->mesh_count; i++) {
        print_mesh(f, i);
    }
    for (uint32_t i = 0; i < data->skin_count; i++) {
        print_skin(f, i);
    }
    if (data->instance_count) {
        printf("\ninstances in the scene\n");
    }
    for (uint32_t i = 0; i < data->instance_count; i++) {
        print_instance(f, i);
    }
    for (uint32_t i = 0; i < data->clip_count; i++) {
        print_clip(f, i);
    }
}

// SPDX-License-Identifier: MIT
// .glb, and .gltf with its .bin beside, through the library's writer.
#include "writers.h"

#include <stdlib.h>
#include <string.h>

typedef struct gltf_build {
    topology_list *lists; // empty where the file's own indices stay
    pelt_gltf_posed_primitive *primitives;
} gltf_build;

// The file's indices stay, whatever their topology, unless a triangle turned around.
static int build_primitives(const pose_export *e, gltf_build *out)
{
    const scene *s = e->scene;
    size_t count = s->primitive_count ? s->primitive_count : 1;
    out->lists = calloc(count, sizeof *out->lists);
    out->primitives = calloc(count, sizeof *out->primitives);
    if (!out->lists || !out->primitives) {
        return export_out_of_memory(e);
    }
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        const scene_primitive *p = &s->primitives[k];
        topology_list *list = &out->lists[k];
        if (topology_any_mirrored(p->source, p->mirrored) && !topology_build(p->source, p->mirrored, list)) {
            return export_out_of_memory(e);
        }
        if (list->count > UINT32_MAX) {
            return cli_fail(e->context, CLI_LIMIT, e->path, NULL, "write .npz instead",
                            "primitive %u has more triangles than a glTF file can index", (unsigned)k);
        }
        out->primitives[k] = (pelt_gltf_posed_primitive){.instance = p->instance,
                                                         .primitive = p->primitive,
                                                         .positions = p->positions,
                                                         .normals = p->normals,
                                                         .tangents = p->tangents,
                                                         .box = &p->box,
                                                         .index_count = (uint32_t)list->count,
                                                         .indices = list->indices,
                                                         .topology = PELT_TOPOLOGY_TRIANGLES};
    }
    return CLI_DONE;
}

static void release_primitives(const pose_export *e, gltf_build *build)
{
    for (uint32_t k = 0; build->lists && k < e->scene->primitive_count; k++) {
        topology_release(&build->lists[k]);
    }
    free(build->lists);
    free(build->primitives);
}

static int write_posed(const pose_export *e, cli_output *json, cli_output *buffer, const char *buffer_uri)
{
    gltf_build build = {0};
    int code = build_primitives(e, &build);
    if (code == CLI_DONE) {
        pelt_error error = {0};
        pelt_gltf_posed posed = {.pose = e->scene->pose,
                                 .space = e->mesh_space ? PELT_GLTF_SPACE_MESH : PELT_GLTF_SPACE_WORLD,
                                 .primitive_count = e->scene->primitive_count,
                                 .primitives = build.primitives,
                                 .buffer_uri = buffer_uri,
                                 .json = {cli_output_write, json},
                                 .buffer = {cli_output_write, buffer}};
        pelt_result result = pelt_gltf_write_posed(e->gltf, e->asset, &posed, &error);
        // A write error is told by the output that it happened to, at its commit.
        if (result != PELT_OK && !json->failed && !(buffer && buffer->failed)) {
            code = cli_fail_result(e->context, e->path, &error);
        }
    }
    release_primitives(e, &build);
    return code;
}

int write_glb(const pose_export *e)
{
    cli_output output = {0};
    int code = cli_output_open(e->context, e->path, &output);
    code = code == CLI_DONE ? write_posed(e, &output, NULL, NULL) : code;
    code = code == CLI_DONE ? cli_output_commit(&output) : code;
    cli_output_abort(&output);
    return code;
}

// The path with its last ending replaced by .bin, and where its file name starts in it.
static char *buffer_path(const char *path, const char **out_name)
{
    size_t stem = (size_t)(strrchr(path, '.') - path);
    char *result = malloc(stem + sizeof ".bin");
    if (result) {
        memcpy(result, path, stem);
        memcpy(result + stem, ".bin", sizeof ".bin");
        const char *slash = strrchr(result, '/');
        *out_name = slash ? slash + 1 : result;
    }
    return result;
}

// Percent-encodes what RFC 3986 does not let stand in a path. "./" keeps readers that decode first from taking what is
// in front of a colon for a scheme.
static char *encode_uri(const char *name)
{
    static const char kept[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    static const char hex[] = "0123456789ABCDEF";
    const char *prefix = strchr(name, ':') ? "./" : "";
    char *uri = malloc(strlen(prefix) + 3 * strlen(name) + 1);
    if (!uri) {
        return NULL;
    }
    strcpy(uri, prefix);
    char *out = uri + strlen(prefix);
    for (const char *c = name; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if (strchr(kept, *c)) {
            *out++ = *c;
        } else {
            *out++ = '%';
            *out++ = hex[byte >> 4];
            *out++ = hex[byte & 15];
        }
    }
    *out = '\0';
    return uri;
}

// Both are whole before either gets its name, so that a full disk leaves an older pair as it is. The buffer goes first:
// a .gltf never stands there without its .bin.
static int commit_both(cli_output *json, cli_output *buffer, const char *bin)
{
    bool buffer_failed = !cli_output_finish(buffer);
    bool json_failed = !cli_output_finish(json) && !buffer_failed;
    int code = json_failed ? cli_output_commit(json) : cli_output_commit(buffer);
    if (code == CLI_DONE && !json_failed) {
        code = cli_output_commit(json);
        if (code != CLI_DONE) {
            remove(bin);
        }
    }
    return code;
}

int write_gltf(const pose_export *e)
{
    cli_output json = {0};
    cli_output buffer = {0};
    const char *name = NULL;
    char *bin = buffer_path(e->path, &name);
    char *uri = bin ? encode_uri(name) : NULL;
    int code = uri ? CLI_DONE : export_out_of_memory(e);
    if (code == CLI_DONE && strchr(name, '\\')) {
        // Percent-encoding does not help: readers take it for a separator of folders, and Pelt refuses it.
        code = cli_fail(e->context, CLI_USAGE, e->path, NULL, "give another name, or write .glb, which is one file",
                        "a backslash cannot stand in the name of the buffer beside a .gltf");
    }
    code = code == CLI_DONE ? cli_output_open(e->context, e->path, &json) : code;
    code = code == CLI_DONE ? cli_output_open(e->context, bin, &buffer) : code;
    code = code == CLI_DONE ? write_posed(e, &json, &buffer, uri) : code;
    code = code == CLI_DONE ? commit_both(&json, &buffer, bin) : code;
    cli_output_abort(&buffer);
    cli_output_abort(&json);
    free(uri);
    free(bin);
    return code;
}

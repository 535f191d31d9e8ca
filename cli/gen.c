// SPDX-License-Identifier: MIT
// pelt gen KIND -o FILE.glb: sample and test characters.
#include "gen.h"

#include <string.h>

typedef struct gen_kind {
    const char *name;
    void (*make)(const cli_options *options, gen_file *file);
    cli_options defaults; // vertices, joints, influences, count
    uint32_t joint_min;
    uint32_t joint_max;
    uint32_t vertex_min; // the coarsest that still has the shape
} gen_kind;

static const gen_kind kinds[] = {
    {"octopus", gen_octopus, {.vertices = 20000, .joints = 100, .count = 1}, 12, 32000, 800},
    {"worm", gen_worm, {.vertices = 1000, .joints = 12}, 1, 65535, 30},
    {"wide", gen_worm, {.vertices = 1000, .joints = 24, .influences = 12}, 1, 65535, 30},
    {"deep", gen_deep, {.vertices = 60, .joints = 1000}, 1, 65535, 30},
    {"crowd", gen_octopus, {.vertices = 2000, .joints = 60, .count = 100}, 12, 32000, 800},
};

// What was given replaces the kind's default, and must make sense for it.
static int settle(cli_context *context, const gen_kind *kind)
{
    cli_options *o = &context->options;
    o->vertices = o->vertices ? o->vertices : kind->defaults.vertices;
    o->joints = o->joints ? o->joints : kind->defaults.joints;
    if (o->influences && !kind->defaults.influences) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, "use the kind wide", "%s takes no --influences", kind->name);
    }
    if (o->count && kind->defaults.count < 2) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, "use the kind crowd", "%s takes no --count", kind->name);
    }
    o->influences = o->influences ? o->influences : kind->defaults.influences;
    o->count = o->count ? o->count : kind->defaults.count;
    if (o->joints < kind->joint_min || o->joints > kind->joint_max) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, NULL, "%s takes --joints %u to %u, not %u", kind->name,
                        kind->joint_min, kind->joint_max, o->joints);
    }
    if (o->vertices < kind->vertex_min || o->vertices > 100000000) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, NULL, "%s takes --vertices %u to 100000000, not %u", kind->name,
                        kind->vertex_min, o->vertices);
    }
    if (o->influences > o->joints) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, NULL, "--influences %u needs at least as many --joints",
                        o->influences);
    }
    return CLI_DONE;
}

static int report(cli_context *context, const char *kind)
{
    const cli_options *o = &context->options;
    cli_options loaded = *o;
    cli_context inner = *context;
    pelt_gltf *gltf = NULL;
    pelt_asset *asset = NULL;
    loaded.input = o->output;
    inner.options = loaded;
    int code = cli_load(&inner, &gltf, &asset);
    if (code != CLI_DONE) {
        return code;
    }
    const pelt_asset_data *data = pelt_asset_get(asset);
    uint32_t vertices = data->meshes[0].primitives[0].vertex_count;
    uint32_t joints = data->skins[0].joint_count;
    if (o->json) {
        code = cli_print_json(context, json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "schema", "pelt/gen/1", "kind",
                                                 kind, "output", o->output, "vertices", (json_int_t)vertices, "joints",
                                                 (json_int_t)joints, "instances", (json_int_t)data->instance_count,
                                                 "clips", (json_int_t)data->clip_count));
    } else {
        printf("%s: %s, %u vertices, %u joints, %u instance%s, %u clip%s\n", o->output, kind, vertices, joints,
               data->instance_count, data->instance_count == 1 ? "" : "s", data->clip_count,
               data->clip_count == 1 ? "" : "s");
    }
    pelt_asset_destroy(asset);
    pelt_gltf_close(gltf);
    return code;
}

int cli_gen(cli_context *context)
{
    const cli_options *o = &context->options;
    const gen_kind *kind = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        kind = strcmp(o->input, kinds[i].name) == 0 ? &kinds[i] : kind;
    }
    if (!kind) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, "the kinds are octopus, worm, wide, deep and crowd",
                        "there is no kind %s", o->input);
    }
    size_t length = strlen(o->output);
    if (length < 5 || strcmp(o->output + length - 4, ".glb") != 0) {
        return cli_fail(context, CLI_USAGE, o->output, NULL, NULL, "gen writes .glb files only");
    }
    int code = settle(context, kind);
    if (code != CLI_DONE) {
        return code;
    }
    gen_file file = gen_file_begin();
    kind->make(o, &file);
    code = gen_file_end(context, &file);
    return code == CLI_DONE ? report(context, kind->name) : code;
}

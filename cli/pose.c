// SPDX-License-Identifier: MIT
// `pelt pose`: the whole file as it stands at one moment, written in the format that the output's ending names.
#include "gpu.h"
#include "options.h"
#include "writers.h"

#include <string.h>
#include <strings.h>

typedef struct pose_format {
    const char *ending;
    pose_writer write;
} pose_format;

static const pose_format formats[] = {{"glb", write_glb}, {"gltf", write_gltf}, {"obj", write_obj},
                                      {"ply", write_ply}, {"stl", write_stl},   {"npz", write_npz}};

static const pose_format *find_format(const char *path)
{
    const char *dot = strrchr(path, '.');
    const char *slash = strrchr(path, '/');
    // A name that is nothing but an ending, ".glb", has none.
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; dot && dot > name && i < sizeof formats / sizeof formats[0]; i++) {
        if (strcasecmp(dot + 1, formats[i].ending) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}

typedef struct pose_request {
    const pose_format *format;
    bool mesh_space;
    uint32_t clip; // PELT_NONE = rest pose
    double time;
} pose_request;

static int check_options(cli_context *context, pose_request *out)
{
    const cli_options *o = &context->options;
    out->format = find_format(o->output);
    if (!out->format) {
        return cli_fail(context, CLI_USAGE, o->output, NULL, "end its name in .glb, .gltf, .obj, .ply, .stl or .npz",
                        "the output's format is not known by its ending");
    }
    out->mesh_space = o->space && strcmp(o->space, "mesh") == 0;
    return CLI_DONE;
}

static int choose_moment(cli_context *context, const pelt_asset_data *data, pose_request *out)
{
    const cli_options *o = &context->options;
    out->clip = PELT_NONE;
    out->time = 0.0;
    if (!o->clip) {
        return CLI_DONE;
    }
    int code = cli_select_clip(context, data, o->clip, &out->clip);
    return code == CLI_DONE ? cli_parse_time(context, o->time, (double)data->clips[out->clip].duration, &out->time)
                            : code;
}

static const char *topology_name(const pelt_primitive *source)
{
    switch (topology_simple(source->topology)) {
    case PELT_TOPOLOGY_POINTS:
        return "points";
    case PELT_TOPOLOGY_LINES:
        return "lines";
    default:
        return "triangles";
    }
}

static int print_json(cli_context *context, const scene *s, const pose_request *request)
{
    const pelt_asset_data *data = pelt_asset_get(s->asset);
    bool clip = request->clip != PELT_NONE;
    json_t *primitives = json_array();
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        json_t *primitive = scene_primitive_json(s, k);
        json_object_set_new(primitive, "topology", json_string(topology_name(s->primitives[k].source)));
        json_object_set_new(primitive, "box", cli_json_box(&s->primitives[k].box));
        json_array_append_new(primitives, primitive);
    }
    pelt_box box = scene_box(s);
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_string("pelt/pose/1"));
    json_object_set_new(root, "file", cli_json_text(context->options.input));
    json_object_set_new(root, "output", cli_json_text(context->options.output));
    json_object_set_new(root, "clip", cli_json_index(request->clip));
    json_object_set_new(root, "clip_name", cli_json_text(clip ? data->clips[request->clip].name : NULL));
    json_object_set_new(root, "time", clip ? cli_json_real(request->time) : json_null());
    json_object_set_new(root, "device", cli_device_json(context));
    json_object_set_new(root, "space", json_string(request->mesh_space ? "mesh" : "world"));
    json_object_set_new(root, "primitives", primitives);
    json_object_set_new(root, "box", cli_json_box(&box));
    return cli_print_json(context, root);
}

static void print_text(cli_context *context, const scene *s, const pose_request *request)
{
    const pelt_asset_data *data = pelt_asset_get(s->asset);
    char number[32];
    uint64_t vertices = 0;
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        vertices += s->primitives[k].source->vertex_count;
    }
    cli_put(stdout, context->options.output);
    printf(": %s %s in ", cli_grouped(vertices, number), vertices == 1 ? "vertex" : "vertices");
    printf("%s primitive%s, ", cli_grouped(s->primitive_count, number), s->primitive_count == 1 ? "" : "s");
    if (request->clip == PELT_NONE) {
        printf("rest pose");
    } else {
        printf("clip #%u \"", (unsigned)request->clip);
        cli_put(stdout, data->clips[request->clip].name);
        printf("\" at %.9g s", request->time);
    }
    printf(", %s space", request->mesh_space ? "mesh" : "world");
    cli_put_device(context);
    printf("\n");
    pelt_box box = scene_box(s);
    if (!pelt_box_is_empty(&box)) {
        printf("box (%.9g, %.9g, %.9g) to (%.9g, %.9g, %.9g)\n", (double)box.min[0], (double)box.min[1],
               (double)box.min[2], (double)box.max[0], (double)box.max[1], (double)box.max[2]);
    }
}

static int pose_scene(cli_context *context, pelt_gltf *gltf, const pelt_asset *asset, const pose_request *request)
{
    scene s = {0};
    int code = scene_create(context, asset, SCENE_ALL, &s);
    code = code == CLI_DONE ? scene_evaluate(&s, request->clip, request->time) : code;
    code = code == CLI_DONE && request->mesh_space ? scene_to_mesh_space(&s) : code;
    if (code == CLI_DONE) {
        if (s.primitive_count == 0) {
            cli_warn(context, context->options.input, NULL, "there is no mesh in the default scene: nothing is posed");
        }
        pose_export e = {context, gltf, asset, &s, context->options.output, request->mesh_space};
        code = request->format->write(&e);
    }
    if (code == CLI_DONE && context->options.json) {
        code = print_json(context, &s, request);
    } else if (code == CLI_DONE) {
        print_text(context, &s, request);
    }
    scene_destroy(&s);
    return code;
}

int cli_pose(cli_context *context)
{
    pose_request request = {0};
    pelt_gltf *gltf = NULL;
    pelt_asset *asset = NULL;
    int code = check_options(context, &request);
    code = code == CLI_DONE ? cli_select_device(context) : code;
    code = code == CLI_DONE ? cli_load(context, &gltf, &asset) : code;
    if (code == CLI_DONE) {
        code = choose_moment(context, pelt_asset_get(asset), &request);
        code = code == CLI_DONE ? pose_scene(context, gltf, asset, &request) : code;
    }
    pelt_asset_destroy(asset);
    pelt_gltf_close(gltf);
    return code;
}

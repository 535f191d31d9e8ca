// SPDX-License-Identifier: MIT
// The sample character's skeleton and file: an octopus with eight tapering arms, alone or as a crowd.
#include "gen_octopus.h"

#include <math.h>
#include <stdlib.h>

static const double arm_length = 2.5;

uint32_t octopus_mantle_joint(const octopus *o, uint32_t index)
{
    (void)o;
    return 2 + index;
}

uint32_t octopus_arm_joint(const octopus *o, uint32_t arm, uint32_t index)
{
    return 2 + o->mantle_joints + arm * o->arm_joints + index;
}

uint32_t octopus_joint_count(const octopus *o)
{
    return 2 + o->mantle_joints + ARM_COUNT * o->arm_joints;
}

double octopus_arm_radius(double s)
{
    return 0.006 + 0.17 * pow(1 - s, 1.15) * (1 + 0.38 * pow(1 - s, 5));
}

// Pitch of the centre line against the ground: it leaves the body downwards, lies flat, and curls up at the tip.
static double arm_pitch(double s)
{
    return -0.95 * (1 - gen_smoothstep(0.0, 0.32, s)) + 0.12 * gen_smoothstep(0.3, 0.6, s) +
           3.4 * pow(gen_smoothstep(0.55, 1.0, s), 1.6);
}

static double arm_yaw(const octopus_arm *arm, double s)
{
    return 0.75 * gen_smoothstep(0.1, 0.6, s) * sin(GEN_TAU * 0.85 * s + arm->sway_phase);
}

// The frame at angles pitch and yaw in the arm's basis (radial, up, across).
static gen_frame arm_axes(const octopus_arm *arm, double pitch, double yaw)
{
    double radial[3] = {cos(arm->angle), 0, sin(arm->angle)};
    double across[3] = {-sin(arm->angle), 0, cos(arm->angle)};
    gen_frame f = {.origin = {0, 0, 0}};
    for (int i = 0; i < 3; i++) {
        double up = i == 1 ? 1.0 : 0.0;
        double forward = radial[i] * cos(yaw) + across[i] * sin(yaw);
        f.x[i] = cos(pitch) * forward + sin(pitch) * up;
        f.y[i] = -sin(pitch) * forward + cos(pitch) * up;
        f.z[i] = -radial[i] * sin(yaw) + across[i] * cos(yaw);
    }
    return f;
}

static void integrate_arm(octopus_arm *arm)
{
    double at[3] = {0.20 * cos(arm->angle), 0.64, 0.20 * sin(arm->angle)};
    for (int i = 0; i <= ARM_SAMPLES; i++) {
        double s = (double)i / ARM_SAMPLES;
        gen_frame f = arm_axes(arm, arm_pitch(s), arm_yaw(arm, s));
        for (int k = 0; k < 3; k++) {
            f.origin[k] = at[k];
            at[k] += f.x[k] * arm_length / ARM_SAMPLES;
        }
        arm->line[i] = f;
    }
}

gen_frame octopus_arm_frame(const octopus_arm *arm, double s)
{
    double x = s * ARM_SAMPLES;
    int i = x < 0 ? 0 : x >= ARM_SAMPLES ? ARM_SAMPLES - 1 : (int)x;
    double clamped = s < 0 ? 0 : s > 1 ? 1 : s;
    gen_frame f = arm_axes(arm, arm_pitch(clamped), arm_yaw(arm, clamped));
    for (int k = 0; k < 3; k++) {
        double step = arm->line[i + 1].origin[k] - arm->line[i].origin[k];
        f.origin[k] = arm->line[i].origin[k] + step * (x - i);
    }
    return f;
}

octopus octopus_make(const cli_options *options)
{
    octopus o = {.seed = options->seed};
    uint32_t joints = options->joints ? options->joints : 100;
    o.arm_joints = (joints - 4) / ARM_COUNT;
    o.mantle_joints = joints - 2 - ARM_COUNT * o.arm_joints;
    o.hue = o.seed == 0 ? 0.03 : gen_random(o.seed, 1);
    for (uint32_t arm = 0; arm < ARM_COUNT; arm++) {
        o.arms[arm].angle = GEN_TAU * (arm + 0.5) / ARM_COUNT;
        o.arms[arm].sway_phase = GEN_TAU * gen_random(o.seed, 16 + arm);
        integrate_arm(&o.arms[arm]);
    }
    return o;
}

// World frame of every joint in the bind pose.
static void bind_frames(const octopus *o, gen_frame *frames)
{
    frames[0] = gen_frame_at(0, 0, 0);
    frames[1] = gen_frame_at(0, 0.55, 0);
    for (uint32_t i = 0; i < o->mantle_joints; i++) {
        double radius;
        double height;
        octopus_outline(0.62 - 0.55 * (i + 0.0) / o->mantle_joints, &radius, &height);
        frames[octopus_mantle_joint(o, i)] = gen_frame_at(0, height, -0.22 * gen_smoothstep(0.8, 2.0, height));
    }
    for (uint32_t arm = 0; arm < ARM_COUNT; arm++) {
        for (uint32_t i = 0; i < o->arm_joints; i++) {
            frames[octopus_arm_joint(o, arm, i)] = octopus_arm_frame(&o->arms[arm], (double)i / o->arm_joints);
        }
    }
}

static uint32_t parent_of(const octopus *o, uint32_t joint)
{
    if (joint <= 1) {
        return 0;
    }
    uint32_t first_arm = 2 + o->mantle_joints;
    bool starts_chain = joint == 2 || (joint >= first_arm && (joint - first_arm) % o->arm_joints == 0);
    return starts_chain ? 1 : joint - 1;
}

static void joint_name(const octopus *o, uint32_t joint, char *out, size_t size)
{
    uint32_t first_arm = 2 + o->mantle_joints;
    if (joint < 2) {
        snprintf(out, size, "%s", joint == 0 ? "root" : "head");
    } else if (joint < first_arm) {
        snprintf(out, size, "mantle.%u", joint - 2);
    } else {
        snprintf(out, size, "arm%u.%u", (joint - first_arm) / o->arm_joints, (joint - first_arm) % o->arm_joints);
    }
}

// Adds the nodes of one instance; returns the node of joint 0.
static uint32_t add_skeleton(const octopus *o, gen_file *file, const pelt_trs *bind, const double place[3])
{
    uint32_t count = octopus_joint_count(o);
    uint32_t first = (uint32_t)json_array_size(json_object_get(file->root, "nodes"));
    for (uint32_t joint = 0; joint < count; joint++) {
        char name[32];
        pelt_trs trs = bind[joint];
        if (joint == 0) {
            trs.translation = (pelt_vec3){(float)place[0], (float)place[1], (float)place[2]};
        }
        joint_name(o, joint, name, sizeof name);
        gen_append(file, "nodes", gen_node(name, &trs));
        if (joint > 0) {
            json_t *parent = json_array_get(json_object_get(file->root, "nodes"), first + parent_of(o, joint));
            json_t *children = json_object_get(parent, "children");
            if (!children) {
                children = json_array();
                json_object_set_new(parent, "children", children);
            }
            json_array_append_new(children, json_integer((json_int_t)(first + joint)));
        }
    }
    return first;
}

static json_t *joint_list(uint32_t first, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_array_append_new(list, json_integer((json_int_t)(first + i)));
    }
    return list;
}

static void add_mesh(const octopus *o, const cli_options *options, gen_file *file)
{
    gen_mesh mesh = {0};
    octopus_surface(o, options->vertices ? options->vertices : 20000, &mesh);
    gen_mesh_compact(&mesh);
    json_t *primitive = gen_primitive(file, &mesh, true);
    gen_append(file, "meshes",
               json_pack("{s:s, s:[o], s:[f], s:{s:[s]}}", "name", "octopus", "primitives", primitive, "weights", 0.0,
                         "extras", "targetNames", "puff"));
    gen_append(file, "materials",
               json_pack("{s:s, s:{s:f, s:f}}", "name", "skin", "pbrMetallicRoughness", "metallicFactor", 0.0,
                         "roughnessFactor", 0.55));
    gen_mesh_release(&mesh);
}

// Rest transforms of the joints and the accessor of their inverse binds.
static uint32_t add_bind(const octopus *o, gen_file *file, pelt_trs *bind)
{
    uint32_t count = octopus_joint_count(o);
    gen_frame *frames = malloc(count * sizeof *frames);
    float *inverse = malloc(count * 16 * sizeof *inverse);
    uint32_t accessor = 0;
    if (frames && inverse) {
        bind_frames(o, frames);
        for (uint32_t joint = 0; joint < count; joint++) {
            bind[joint] = gen_relative(&frames[parent_of(o, joint)], &frames[joint]);
            gen_inverse_bind(&frames[joint], inverse + (size_t)joint * 16);
        }
        accessor = gen_accessor(file, inverse, count, 16, PELT_COMPONENT_F32, 0);
    } else {
        file->failed = true;
    }
    free(frames);
    free(inverse);
    return accessor;
}

void gen_octopus(const cli_options *options, gen_file *file)
{
    octopus o = octopus_make(options);
    uint32_t instance_count = options->count ? options->count : 1;
    uint32_t joint_count = octopus_joint_count(&o);
    pelt_trs *bind = malloc(joint_count * sizeof *bind);
    uint32_t *first_nodes = malloc(instance_count * sizeof *first_nodes);
    uint32_t *mesh_nodes = malloc(instance_count * sizeof *mesh_nodes);
    if (bind && first_nodes && mesh_nodes) {
        add_mesh(&o, options, file);
        uint32_t inverse_binds = add_bind(&o, file, bind);
        json_t *roots = json_array();
        uint32_t side = (uint32_t)ceil(sqrt(instance_count));
        for (uint32_t i = 0; i < instance_count; i++) {
            double place[3] = {5.0 * (i % side), 0, 5.0 * (i / side)};
            first_nodes[i] = add_skeleton(&o, file, bind, place);
            uint32_t skin = gen_append(file, "skins",
                                       json_pack("{s:s, s:o, s:I}", "name", "octopus", "joints",
                                                 joint_list(first_nodes[i], joint_count), "inverseBindMatrices",
                                                 (json_int_t)inverse_binds));
            mesh_nodes[i] = gen_append(
                file, "nodes", json_pack("{s:s, s:i, s:I}", "name", "octopus", "mesh", 0, "skin", (json_int_t)skin));
            json_array_append_new(roots, json_integer((json_int_t)first_nodes[i]));
            json_array_append_new(roots, json_integer((json_int_t)mesh_nodes[i]));
        }
        gen_append(file, "scenes", json_pack("{s:o}", "nodes", roots));
        json_object_set_new(file->root, "scene", json_integer(0));
        octopus_motion(&o, file, bind, first_nodes, mesh_nodes, instance_count);
    } else {
        file->failed = true;
    }
    free(bind);
    free(first_nodes);
    free(mesh_nodes);
}

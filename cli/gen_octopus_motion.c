// SPDX-License-Identifier: MIT
// The octopus's two looping clips. "swim": arms close and trail, the mantle pumps, the body rises and sinks. "wave":
// waves run down the arms and one arm greets. Rotations are LINEAR, the body's path is CUBICSPLINE, the puff is LINEAR.
#include "gen_octopus.h"

#include <math.h>
#include <stdlib.h>

enum {
    KEYS = 25
};

typedef struct motion {
    const octopus *o;
    const pelt_trs *bind;
    gen_clip clip;
    uint32_t times; // accessor
    double duration;
    const uint32_t *first_nodes;
    const uint32_t *mesh_nodes;
    uint32_t instance_count;
} motion;

// Curl (about the arm's own z) and sway (about its y) of one arm joint at phase p in [0, 1).
typedef void (*arm_motion)(const octopus *o, uint32_t arm, double along, double p, double *curl, double *sway);

static void swim_arm(const octopus *o, uint32_t arm, double along, double p, double *curl, double *sway)
{
    double per_joint = 12.0 / o->arm_joints;
    double stroke = 0.5 - 0.5 * cos(GEN_TAU * (p - 0.22 * along));
    double root = along < 0.09 ? 1 : 0;
    *curl = per_joint * (-0.20 * stroke * (1 - along) + 0.055 * sin(GEN_TAU * (p - 0.6 * along)) * along) -
            root * 0.28 * stroke;
    *sway = per_joint * 0.03 * sin(GEN_TAU * (p + arm / (double)ARM_COUNT - 0.5 * along)) * along;
}

static void wave_arm(const octopus *o, uint32_t arm, double along, double p, double *curl, double *sway)
{
    double per_joint = 12.0 / o->arm_joints;
    double phase = p + arm * 3 / (double)ARM_COUNT;
    *curl = per_joint * 0.10 * along * sin(GEN_TAU * (phase - 1.1 * along));
    *sway = per_joint * 0.13 * (0.3 + along) * sin(GEN_TAU * (phase - 0.9 * along));
    if (arm == 0) { // the greeting arm rises from the ground and shakes
        *curl += per_joint * (0.34 * (1 - along) + 0.06 * sin(GEN_TAU * (2 * p - along)) * along);
        *sway += per_joint * 0.10 * sin(GEN_TAU * (2 * p - 0.7 * along));
    }
}

// One sampler, played by the same joint (or by the mesh node) of every instance.
static void play(motion *m, uint32_t sampler, uint32_t joint, const char *path)
{
    for (uint32_t i = 0; i < m->instance_count; i++) {
        gen_channel(&m->clip, sampler, joint == PELT_NONE ? m->mesh_nodes[i] : m->first_nodes[i] + joint, path);
    }
}

static void begin(motion *m, gen_file *file, double duration)
{
    float times[KEYS];
    for (int k = 0; k < KEYS; k++) {
        times[k] = (float)(duration * k / (KEYS - 1));
    }
    m->times = gen_accessor(file, times, KEYS, 1, PELT_COMPONENT_F32, GEN_BOUNDS);
    m->duration = duration;
    m->clip = gen_clip_begin(file);
}

static void store_quat(float *out, pelt_quat q)
{
    double length = sqrt((double)q.x * (double)q.x + (double)q.y * (double)q.y + (double)q.z * (double)q.z +
                         (double)q.w * (double)q.w);
    out[0] = (float)((double)q.x / length);
    out[1] = (float)((double)q.y / length);
    out[2] = (float)((double)q.z / length);
    out[3] = (float)((double)q.w / length);
}

static void move_arms(motion *m, arm_motion motion_of)
{
    for (uint32_t arm = 0; arm < ARM_COUNT; arm++) {
        for (uint32_t i = 0; i < m->o->arm_joints; i++) {
            float values[KEYS][4];
            uint32_t joint = octopus_arm_joint(m->o, arm, i);
            for (int k = 0; k < KEYS; k++) {
                double curl;
                double sway;
                motion_of(m->o, arm, (double)i / m->o->arm_joints, (double)(k % (KEYS - 1)) / (KEYS - 1), &curl, &sway);
                pelt_quat turn = gen_quat_multiply(gen_quat_axis(0, 0, 1, curl), gen_quat_axis(0, 1, 0, sway));
                store_quat(values[k], gen_quat_multiply(m->bind[joint].rotation, turn));
            }
            play(m, gen_sampler(&m->clip, m->times, values[0], KEYS, 4, "LINEAR"), joint, "rotation");
        }
    }
}

// The head rises and sinks smoothly: values with in- and out-tangents of the same sine.
static void bob(motion *m, double height, double lag)
{
    float values[3 * KEYS][3];
    for (int k = 0; k < KEYS; k++) {
        double angle = GEN_TAU * ((double)(k % (KEYS - 1)) / (KEYS - 1) - lag);
        double slope = height * cos(angle) * GEN_TAU / m->duration;
        const pelt_vec3 rest = m->bind[1].translation;
        for (int part = 0; part < 3; part++) {
            values[3 * k + part][0] = part == 1 ? rest.x : 0;
            values[3 * k + part][1] = part == 1 ? rest.y + (float)(height * sin(angle)) : (float)slope;
            values[3 * k + part][2] = part == 1 ? rest.z : 0;
        }
    }
    play(m, gen_sampler(&m->clip, m->times, values[0], 3 * KEYS, 3, "CUBICSPLINE"), 1, "translation");
}

static void nod(motion *m, double angle)
{
    float values[KEYS][4];
    uint32_t joint = octopus_mantle_joint(m->o, 0);
    for (int k = 0; k < KEYS; k++) {
        double p = (double)(k % (KEYS - 1)) / (KEYS - 1);
        pelt_quat turn = gen_quat_multiply(gen_quat_axis(1, 0, 0, angle * sin(GEN_TAU * p)),
                                           gen_quat_axis(0, 0, 1, 0.6 * angle * cos(GEN_TAU * p)));
        store_quat(values[k], gen_quat_multiply(m->bind[joint].rotation, turn));
    }
    play(m, gen_sampler(&m->clip, m->times, values[0], KEYS, 4, "LINEAR"), joint, "rotation");
}

static void pump(motion *m)
{
    float scales[KEYS][3];
    float weights[KEYS];
    for (int k = 0; k < KEYS; k++) {
        double p = (double)(k % (KEYS - 1)) / (KEYS - 1);
        double squeeze = 0.5 - 0.5 * cos(GEN_TAU * p);
        scales[k][0] = scales[k][2] = (float)(1 - 0.10 * squeeze);
        scales[k][1] = (float)(1 + 0.10 * squeeze);
        weights[k] = (float)(1 - squeeze);
    }
    uint32_t joint = octopus_mantle_joint(m->o, 0);
    play(m, gen_sampler(&m->clip, m->times, scales[0], KEYS, 3, "LINEAR"), joint, "scale");
    play(m, gen_sampler(&m->clip, m->times, weights, KEYS, 1, "LINEAR"), PELT_NONE, "weights");
}

void octopus_motion(const octopus *o, gen_file *file, const pelt_trs *bind, const uint32_t *first_nodes,
                    const uint32_t *mesh_nodes, uint32_t instance_count)
{
    motion m = {
        .o = o, .bind = bind, .first_nodes = first_nodes, .mesh_nodes = mesh_nodes, .instance_count = instance_count};
    begin(&m, file, 2.0);
    move_arms(&m, swim_arm);
    bob(&m, 0.16, 0.1);
    pump(&m);
    gen_clip_end(&m.clip, "swim");
    begin(&m, file, 3.0);
    move_arms(&m, wave_arm);
    bob(&m, 0.03, 0.0);
    nod(&m, 0.09);
    gen_clip_end(&m.clip, "wave");
}

// SPDX-License-Identifier: MIT
// The octopus's skin: a body of revolution with a skirt that reaches for the arms, eight tubes with suckers, two eyes;
// positions, colours, smooth weights and the "puff" of the mantle.
#include "gen_octopus.h"

#include <math.h>

typedef struct arm_shape {
    const octopus *o;
    uint32_t arm;
} arm_shape;

typedef struct eye_shape {
    const octopus *o;
    double side; // -1 or +1
} eye_shape;

// Catmull-Rom through the outline's points, from the tip of the mantle down to the mouth.
void octopus_outline(double v, double *radius, double *height)
{
    static const double points[][2] = {{-0.28, 2.09}, {0.00, 2.12}, {0.34, 2.04}, {0.58, 1.78}, {0.64, 1.44},
                                       {0.54, 1.12},  {0.41, 0.90}, {0.38, 0.74}, {0.44, 0.60}, {0.50, 0.46},
                                       {0.40, 0.36},  {0.20, 0.33}, {0.00, 0.32}, {-0.20, 0.33}};
    const int segments = (int)(sizeof points / sizeof points[0]) - 3;
    double x = (v < 0 ? 0 : v > 1 ? 1 : v) * segments;
    int i = x >= segments ? segments - 1 : (int)x;
    double t = x - i;
    double out[2];
    for (int k = 0; k < 2; k++) {
        double a = points[i][k];
        double b = points[i + 1][k];
        double c = points[i + 2][k];
        double d = points[i + 3][k];
        out[k] = b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
    }
    *radius = out[0] < 0 ? 0 : out[0];
    *height = out[1];
}

static void hsv(double h, double s, double v, double out[3])
{
    for (int i = 0; i < 3; i++) {
        double k = fmod(5.0 - 2 * i + h * 6 + 12, 6);
        double f = k < 4 - k ? k : 4 - k;
        f = f < 0 ? 0 : f > 1 ? 1 : f;
        out[i] = v * (1 - s * f);
    }
}

static void paint(gen_vertex *out, const double color[3])
{
    for (int i = 0; i < 3; i++) {
        double c = color[i] < 0 ? 0 : color[i] > 1 ? 1 : color[i];
        out->color[i] = (uint8_t)(c * 255 + 0.5);
    }
    out->color[3] = 255;
}

// Body colour: mottled by a few sines, paler where pale is 1.
static void paint_skin(const octopus *o, gen_vertex *out, double pale)
{
    double x = (double)out->position[0];
    double y = (double)out->position[1];
    double z = (double)out->position[2];
    double spots = sin(9 * x + 3 * sin(5 * y)) * sin(8 * y + 2 * sin(6 * z)) * sin(9 * z + 2 * sin(4 * x));
    double dark = gen_smoothstep(0.15, 0.55, spots);
    double back[3];
    double belly[3];
    double color[3];
    hsv(fmod(o->hue + 0.02 * spots + 1, 1), 0.84 - 0.1 * dark, 0.86 - 0.30 * dark, back);
    hsv(fmod(o->hue + 0.06, 1), 0.30, 0.92, belly);
    for (int i = 0; i < 3; i++) {
        color[i] = back[i] + (belly[i] - back[i]) * pale;
    }
    paint(out, color);
}

// Stores up to four influences, the largest first, summing to one in float.
static void store_weights(gen_vertex *out, const uint32_t *joints, const double *weights, uint32_t count)
{
    double sum = 0;
    uint32_t order[8];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at > 0 && weights[order[at - 1]] < weights[i]; at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    count = count < 4 ? count : 4;
    for (uint32_t i = 0; i < count; i++) {
        sum += weights[order[i]];
    }
    for (uint32_t i = 0; i < count; i++) {
        out->joints[i] = (uint16_t)joints[order[i]];
        out->weights[i] = (float)(weights[order[i]] / sum);
    }
}

static void body_weights(const octopus *o, double theta, double height, gen_vertex *out)
{
    uint32_t joints[8];
    double weights[8];
    // Along the chain head, mantle 0, mantle 1, ... by height.
    double x = gen_smoothstep(0.62, 1.9, height) * o->mantle_joints;
    uint32_t elements[4];
    uint32_t count = gen_chain_weights(x, o->mantle_joints + 1, elements, weights);
    for (uint32_t i = 0; i < count; i++) {
        joints[i] = elements[i] == 0 ? 1 : octopus_mantle_joint(o, elements[i] - 1);
    }
    // The skirt hangs on the two nearest arms.
    double share = 0.75 * (1 - gen_smoothstep(0.36, 0.72, height));
    if (share > 0.01) {
        double turn = theta / GEN_TAU * ARM_COUNT - 0.5;
        double low = floor(turn);
        double f = gen_smoothstep(0, 1, turn - low);
        for (uint32_t i = 0; i < count; i++) {
            weights[i] *= 1 - share;
        }
        joints[count] = octopus_arm_joint(o, ((uint32_t)(low + ARM_COUNT)) % ARM_COUNT, 0);
        weights[count++] = share * (1 - f);
        joints[count] = octopus_arm_joint(o, ((uint32_t)(low + ARM_COUNT + 1)) % ARM_COUNT, 0);
        weights[count++] = share * f;
    }
    store_weights(out, joints, weights, count);
}

static void body(const void *shape, double u, double v, gen_vertex *out)
{
    const octopus *o = shape;
    double theta = GEN_TAU * u;
    double radius;
    double height;
    octopus_outline(v, &radius, &height);
    double skirt = gen_smoothstep(0.78, 0.5, height) * gen_smoothstep(0.32, 0.42, height);
    double lobe = cos(ARM_COUNT * (theta - o->arms[0].angle));
    double r = radius * (1 + skirt * (0.05 + 0.10 * lobe));
    double lean = -0.22 * gen_smoothstep(0.8, 2.0, height);
    double ripple = 0.012 * gen_smoothstep(1.0, 1.3, height) * sin(6 * theta + 9 * height);
    out->position[0] = (float)((r + ripple * (radius > 0.02)) * cos(theta));
    out->position[1] = (float)height;
    out->position[2] = (float)((r + ripple * (radius > 0.02)) * sin(theta) + lean);
    double puff = 0.22 * gen_smoothstep(0.95, 1.45, height);
    out->puff[0] = (float)(puff * r * 1.6 * cos(theta));
    out->puff[1] = (float)(puff * (height - 1.25) * 0.9);
    out->puff[2] = (float)(puff * r * 1.6 * sin(theta));
    paint_skin(o, out, gen_smoothstep(0.44, 0.36, height));
    body_weights(o, u >= 1 ? theta - GEN_TAU : u < 0 ? theta + GEN_TAU : theta, height, out);
}

// How much the skin stands out under the arm at s and around angle a (0 = the back): two rows of suckers.
static double sucker(double s, double a)
{
    double across = fabs(remainder(a - GEN_TAU / 2, GEN_TAU)) - 0.42;
    double along = remainder(s * 17, 1.0);
    double d2 = across * across / (0.30 * 0.30) + along * along / (0.36 * 0.36);
    return s > 0.08 && s < 0.97 && d2 < 1 ? (1 - d2) * (1 - d2) * (0.4 + d2 * 2.2) : 0;
}

static void arm_weights(const arm_shape *a, double s, gen_vertex *out)
{
    const octopus *o = a->o;
    uint32_t elements[4];
    double weights[4];
    uint32_t joints[4];
    // The chain is head, arm 0, arm 1, ...; joint i sits at s = i / arm_joints and leads the half segment on both
    // sides.
    double x = s * o->arm_joints + 0.5;
    uint32_t count = gen_chain_weights(x < 0.6 ? 0.6 : x, o->arm_joints + 1, elements, weights);
    for (uint32_t i = 0; i < count; i++) {
        joints[i] = elements[i] == 0 ? 1 : octopus_arm_joint(o, a->arm, elements[i] - 1);
    }
    store_weights(out, joints, weights, count);
}

// u runs around, v from the body to the tip; the last row closes at a point.
static void arm(const void *shape, double u, double v, gen_vertex *out)
{
    const arm_shape *a = shape;
    double s = v < 0 ? 0 : v > 1 ? 1 : v;
    double angle = GEN_TAU * u;
    gen_frame f = octopus_arm_frame(&a->o->arms[a->arm], s);
    double bump = sucker(s, angle);
    double under = -cos(angle);
    // Flattened underneath, as where an arm lies on the ground.
    double r = octopus_arm_radius(s) * (1 - 0.18 * gen_smoothstep(0.3, 1.0, under)) * (1 + 0.16 * bump);
    r *= s >= 1 ? 0 : 1;
    for (int k = 0; k < 3; k++) {
        out->position[k] = (float)(f.origin[k] + r * (cos(angle) * f.y[k] + sin(angle) * f.z[k]));
    }
    double pale = gen_smoothstep(-0.1, 0.45, under);
    paint_skin(a->o, out, pale * (1 - 0.35 * gen_smoothstep(0.5, 0.9, bump)));
    arm_weights(a, s, out);
}

// A ball that looks outward and a little forward: white with a wide dark pupil, under a lid of skin colour.
static void eye(const void *shape, double u, double v, gen_vertex *out)
{
    const eye_shape *e = shape;
    const double centre[3] = {e->side * 0.30, 0.93, 0.235};
    const double radius = 0.135;
    double theta = GEN_TAU * u;
    double phi = GEN_TAU / 2 * (v < 0 ? 0 : v > 1 ? 1 : v);
    double d[3] = {sin(phi) * cos(theta), cos(phi), sin(phi) * sin(theta)};
    if (v <= 0 || v >= 1) {
        d[0] = d[2] = 0;
    }
    double gaze[3] = {e->side * 0.62, 0.10, 0.78};
    double facing = d[0] * gaze[0] + d[1] * gaze[1] + d[2] * gaze[2];
    double up = d[1] - facing * gaze[1];
    double across2 = 1 - facing * facing - up * up;
    for (int k = 0; k < 3; k++) {
        out->position[k] = (float)(centre[k] + radius * d[k]);
    }
    bool pupil = facing > 0 && across2 / (0.42 * 0.42) + up * up / (0.20 * 0.20) < 1;
    bool white = facing > 0.55 && up < 0.52;
    if (pupil || white) {
        static const double black[3] = {0.03, 0.03, 0.05};
        static const double ivory[3] = {0.96, 0.93, 0.78};
        paint(out, pupil ? black : ivory);
    } else {
        paint_skin(e->o, out, 0);
    }
    uint32_t joint = 1;
    double weight = 1;
    store_weights(out, &joint, &weight, 1);
}

void octopus_surface(const octopus *o, uint32_t vertex_count, gen_mesh *mesh)
{
    double budget = vertex_count < 200 ? 200 : vertex_count;
    double side = sqrt(0.24 * budget / 1.3);
    gen_patch(mesh, body, o, (uint32_t)(side * 1.3), (uint32_t)side);
    for (uint32_t i = 0; i < ARM_COUNT; i++) {
        arm_shape shape = {o, i};
        double around = sqrt(0.68 * budget / ARM_COUNT / 3.6);
        around = around < 4 ? 4 : around;
        gen_patch(mesh, arm, &shape, (uint32_t)around, (uint32_t)(around * 3.6));
    }
    for (int i = 0; i < 2; i++) {
        eye_shape shape = {o, i == 0 ? -1.0 : 1.0};
        double around = sqrt(0.04 * budget * 1.3);
        around = around < 4 ? 4 : around;
        gen_patch(mesh, eye, &shape, (uint32_t)around, (uint32_t)(around / 1.3));
    }
}

// SPDX-License-Identifier: MIT
// The octopus: its measures, its bind pose, its surfaces and its motion, shared by gen_octopus*.c.
#ifndef PELT_CLI_GEN_OCTOPUS_H
#define PELT_CLI_GEN_OCTOPUS_H

#include "gen.h"

enum {
    ARM_COUNT = 8,
    ARM_SAMPLES = 256,
    MAX_ARM_JOINTS = 4096
};

// The centre line of one arm, integrated once: where it is and which way it points at s = i / ARM_SAMPLES.
typedef struct octopus_arm {
    double angle; // around +y; 0 = +x, pi / 2 = +z (the face)
    double sway_phase;
    gen_frame line[ARM_SAMPLES + 1]; // x along the arm, y its back, z across
} octopus_arm;

typedef struct octopus {
    octopus_arm arms[ARM_COUNT];
    uint32_t arm_joints;    // per arm
    uint32_t mantle_joints; // a chain above the head
    uint32_t seed;
    double hue; // 0 to 1, from the seed
} octopus;

// Joint numbers: 0 = root, 1 = head, then the mantle chain, then arm by arm.
uint32_t octopus_mantle_joint(const octopus *o, uint32_t index);
uint32_t octopus_arm_joint(const octopus *o, uint32_t arm, uint32_t index);
uint32_t octopus_joint_count(const octopus *o);

octopus octopus_make(const cli_options *options);
gen_frame octopus_arm_frame(const octopus_arm *arm, double s);
double octopus_arm_radius(double s);
// The body's outline at v in [0, 1], from the tip of the mantle to the mouth.
void octopus_outline(double v, double *radius, double *height);

// gen_octopus_surface.c: fills the mesh with about vertex_count vertices.
void octopus_surface(const octopus *o, uint32_t vertex_count, gen_mesh *mesh);

// gen_octopus_motion.c: the clips "swim" and "wave" for all instances; first_nodes holds the node of joint 0 of each,
// mesh_nodes the node with the mesh. bind: the joints' rest transforms.
void octopus_motion(const octopus *o, gen_file *file, const pelt_trs *bind, const uint32_t *first_nodes,
                    const uint32_t *mesh_nodes, uint32_t instance_count);

#endif

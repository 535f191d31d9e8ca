// SPDX-License-Identifier: MIT
// Scenes are random; checks go vertex by vertex.
#include "peltt_vk_designs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double position_tolerance = 1e-5; // of the farthest coordinate
static const double direction_tolerance = 0.1; // degrees
static const double degrees = 57.29577951308232;

// ---- scenes

void *peltt_vk_design_allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    assert_non_null(memory);
    return memory;
}

static void unit_vector(peltt_random *random, float *out)
{
    double z = 2.0 * peltt_random_unit(random) - 1.0;
    double angle = 6.283185307179586 * peltt_random_unit(random);
    out[0] = (float)(sqrt(1.0 - z * z) * cos(angle));
    out[1] = (float)(sqrt(1.0 - z * z) * sin(angle));
    out[2] = (float)z;
}

void peltt_vk_design_influences(peltt_random *random, uint32_t joint_count, uint16_t *joints, float *weights)
{
    uint32_t used = 1 + peltt_random_below(random, 4);
    uint32_t slot = peltt_random_below(random, 4);
    double left = 1.0;
    for (uint32_t i = 0; i < 4; i++) {
        joints[i] = 60000;
        weights[i] = 0.0F;
    }
    for (uint32_t i = 0; i < used; i++) {
        uint32_t at = (slot + i) % 4;
        double weight = i + 1 == used ? left : left * (0.2 + 0.6 * peltt_random_unit(random));
        joints[at] = (uint16_t)peltt_random_below(random, joint_count);
        weights[at] = (float)weight;
        left -= (double)weights[at];
    }
}

static void make_mesh(peltt_random *random, uint32_t vertex_count, uint32_t joint_count, baseline_vk_mesh *out)
{
    float *positions = peltt_vk_design_allocate(vertex_count, 3 * sizeof *positions);
    float *normals = peltt_vk_design_allocate(vertex_count, 3 * sizeof *normals);
    float *tangents = peltt_vk_design_allocate(vertex_count, 4 * sizeof *tangents);
    uint16_t *joints = peltt_vk_design_allocate(vertex_count, 4 * sizeof *joints);
    float *weights = peltt_vk_design_allocate(vertex_count, 4 * sizeof *weights);
    for (uint32_t i = 0; i < vertex_count; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            positions[(size_t)i * 3 + k] = peltt_random_float(random, -1.0F, 1.0F);
        }
        unit_vector(random, normals + (size_t)i * 3);
        unit_vector(random, tangents + (size_t)i * 4);
        tangents[(size_t)i * 4 + 3] = peltt_random_chance(random, 0.5) ? 1.0F : -1.0F;
        peltt_vk_design_influences(random, joint_count, joints + (size_t)i * 4, weights + (size_t)i * 4);
    }
    *out = (baseline_vk_mesh){vertex_count, joint_count, positions, normals, tangents, joints, weights};
}

static void free_mesh(const baseline_vk_mesh *mesh)
{
    free((void *)mesh->positions);
    free((void *)mesh->normals);
    free((void *)mesh->tangents);
    free((void *)mesh->joints);
    free((void *)mesh->weights);
}

// A turn of up to 45 degrees, scales of 0.7 to 1.4, a shift: blends of such stay far from singular.
static pelt_mat34 make_matrix(peltt_random *random)
{
    float axis[3];
    unit_vector(random, axis);
    double angle = 0.785 * peltt_random_unit(random);
    float s = (float)sin(angle / 2.0);
    pelt_trs trs = {.translation = {peltt_random_float(random, -2.0F, 2.0F), peltt_random_float(random, -2.0F, 2.0F),
                                    peltt_random_float(random, -2.0F, 2.0F)},
                    .rotation = {axis[0] * s, axis[1] * s, axis[2] * s, (float)cos(angle / 2.0)},
                    .scale = {peltt_random_float(random, 0.7F, 1.4F), peltt_random_float(random, 0.7F, 1.4F),
                              peltt_random_float(random, 0.7F, 1.4F)}};
    return pelt_mat34_from_trs(&trs);
}

void peltt_vk_design_make(uint64_t seed, const uint32_t *sizes, uint32_t size_count, uint32_t joint_count,
                          peltt_vk_design_scene *out)
{
    enum {
        PALETTES = 5
    };
    peltt_random random = {seed};
    uint32_t instance_count = size_count * 3;
    *out = (peltt_vk_design_scene){
        .meshes = peltt_vk_design_allocate(size_count, sizeof *out->meshes),
        .instances = peltt_vk_design_allocate(instance_count, sizeof *out->instances),
        .first_matrices = peltt_vk_design_allocate(PALETTES + 1, sizeof *out->first_matrices),
        .matrices = peltt_vk_design_allocate((size_t)PALETTES * (joint_count + 3), sizeof *out->matrices)};
    for (uint32_t i = 0; i < size_count; i++) {
        make_mesh(&random, sizes[i], joint_count, &out->meshes[i]);
        out->instances[i * 2] = (baseline_vk_instance){i, i % PALETTES};
        out->instances[i * 2 + 1] = (baseline_vk_instance){i, (i + 2) % PALETTES};
        out->instances[size_count * 2 + i] = (baseline_vk_instance){i, (i + 3) % PALETTES};
    }
    for (uint32_t i = 0; i < PALETTES; i++) { // of different lengths
        out->first_matrices[i + 1] = out->first_matrices[i] + joint_count + i % 3;
    }
    for (uint32_t i = 0; i < out->first_matrices[PALETTES]; i++) {
        out->matrices[i] = make_matrix(&random);
    }
    out->scene = (baseline_vk_scene){size_count,    out->meshes,    PALETTES,      out->first_matrices,
                                     out->matrices, instance_count, out->instances};
}

void peltt_vk_design_free(peltt_vk_design_scene *made)
{
    for (uint32_t i = 0; i < made->scene.mesh_count; i++) {
        free_mesh(&made->meshes[i]);
    }
    free(made->meshes);
    free(made->instances);
    free(made->first_matrices);
    free(made->matrices);
}

// ---- what double precision gives

typedef struct expected_vertex {
    double position[3];
    double normal[3];
    double tangent[3];
} expected_vertex;

// out = cofactor of the 3x3 of m.
static void cofactor(double m[3][4], double out[3][3])
{
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            int r1 = (r + 1) % 3;
            int r2 = (r + 2) % 3;
            int c1 = (c + 1) % 3;
            int c2 = (c + 2) % 3;
            out[r][c] = m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1];
        }
    }
}

static void add_inverse_transpose(const pelt_mat34 *joint, double weight, double sum[3][3])
{
    double m[3][4];
    double c[3][3];
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 4; k++) {
            m[r][k] = (double)joint->m[r][k];
        }
    }
    cofactor(m, c);
    double determinant = m[0][0] * c[0][0] + m[0][1] * c[0][1] + m[0][2] * c[0][2];
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 3; k++) {
            sum[r][k] += weight * c[r][k] / determinant;
        }
    }
}

static expected_vertex expect(const baseline_vk_contender *contender, const baseline_vk_mesh *mesh,
                              const pelt_mat34 *palette, uint32_t vertex)
{
    double blend[3][4] = {{0}};
    double through[3][3] = {{0}};
    const float *given = mesh->weights + (size_t)vertex * 4;
    float used[4];
    memcpy(used, given, sizeof used);
    if (contender->weights) {
        contender->weights(given, used);
    }
    for (uint32_t i = 0; i < 4; i++) {
        double weight = (double)used[i];
        if (weight == 0.0) {
            continue;
        }
        // A weight that packing made out of nothing belongs to the first joint.
        const pelt_mat34 *joint = &palette[given[i] != 0.0F ? mesh->joints[(size_t)vertex * 4 + i] : 0];
        for (int r = 0; r < 3; r++) {
            for (int k = 0; k < 4; k++) {
                blend[r][k] += weight * (double)joint->m[r][k];
            }
        }
        add_inverse_transpose(joint, weight, through);
    }
    if (contender->normals == BASELINE_VK_NORMALS_COFACTOR) {
        cofactor(blend, through);
    }
    expected_vertex e = {{0}, {0}, {0}};
    for (int r = 0; r < 3; r++) {
        e.position[r] = blend[r][3];
        for (int k = 0; k < 3; k++) {
            bool plain = contender->normals == BASELINE_VK_NORMALS_MATRIX;
            e.position[r] += blend[r][k] * (double)mesh->positions[(size_t)vertex * 3 + (size_t)k];
            e.normal[r] +=
                (plain ? blend[r][k] : through[r][k]) * (double)mesh->normals[(size_t)vertex * 3 + (size_t)k];
            e.tangent[r] += blend[r][k] * (double)mesh->tangents[(size_t)vertex * 4 + (size_t)k];
        }
    }
    return e;
}

static double angle_between(const float *found, const double *expected)
{
    double a[3] = {(double)found[0], (double)found[1], (double)found[2]};
    const double *b = expected;
    double cross[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    double sine = sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]);
    return atan2(sine, a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) * degrees;
}

// ---- running a contender

baseline_vk_device peltt_vk_design_device(const peltt_vk *vk)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties ask =
        (PFN_vkGetPhysicalDeviceQueueFamilyProperties)vk->physical.get_instance_proc_addr(
            vk->physical.instance, "vkGetPhysicalDeviceQueueFamilyProperties");
    assert_non_null(ask);
    ask(vk->physical.device, &count, families);
    return (baseline_vk_device){
        .instance = vk->physical.instance,
        .physical = vk->physical.device,
        .device = vk->device,
        .get_instance_proc_addr = vk->physical.get_instance_proc_addr,
        .get_device_proc_addr = vk->get_device_proc_addr,
        .queue = vk->queue,
        .queue_family = vk->queue_family,
        .has_graphics = (families[vk->queue_family].queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0,
    };
}

bool peltt_vk_design_can_run(const baseline_vk_contender *contender, const baseline_vk_device *device)
{
    if (contender->needs_graphics && !device->has_graphics) {
        print_message("%s: the queue has no graphics\n", contender->name);
        return false;
    }
    return true;
}

void *peltt_vk_design_run(peltt_vk *vk, const baseline_vk_contender *contender, const baseline_vk_scene *scene,
                          bool bounds)
{
    baseline_vk_device device = peltt_vk_design_device(vk);
    char message[BASELINE_VK_MESSAGE_SIZE] = "";
    void *state = NULL;
    if (!contender->create(&device, scene, bounds, &state, message)) {
        fail_msg("%s: %s", contender->name, message);
    }
    VkCommandBuffer commands = peltt_vk_begin(vk);
    contender->record(state, commands);
    contender->record(state, commands);
    peltt_vk_run(vk, commands);
    return state;
}

static void check_box(const baseline_vk_contender *contender, const baseline_vk_output *out, uint32_t vertex_count)
{
    pelt_box box = pelt_box_empty();
    for (uint32_t i = 0; i < vertex_count; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            box.min[k] = fminf(box.min[k], out->positions[(size_t)i * 3 + k]);
            box.max[k] = fmaxf(box.max[k], out->positions[(size_t)i * 3 + k]);
        }
    }
    for (uint32_t k = 0; k < 3; k++) {
        if (box.min[k] != out->box.min[k] || box.max[k] != out->box.max[k]) {
            fail_msg("%s: the box is %g to %g where positions are %g to %g", contender->name, (double)out->box.min[k],
                     (double)out->box.max[k], (double)box.min[k], (double)box.max[k]);
        }
    }
}

static void check_vertices(const baseline_vk_contender *contender, const baseline_vk_mesh *mesh,
                           const pelt_mat34 *palette, const baseline_vk_output *out)
{
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        expected_vertex e = expect(contender, mesh, palette, i);
        double range = fmax(fmax(fabs(e.position[0]), fabs(e.position[1])), fmax(fabs(e.position[2]), 1.0));
        for (uint32_t k = 0; k < 3; k++) {
            double found = (double)out->positions[(size_t)i * 3 + k];
            if (!(fabs(found - e.position[k]) <= position_tolerance * range)) {
                fail_msg("%s: vertex %u of %u is at %g and not %g", contender->name, i, mesh->vertex_count, found,
                         e.position[k]);
            }
        }
        double normal = angle_between(out->normals + (size_t)i * 3, e.normal);
        double tangent = angle_between(out->tangents + (size_t)i * 4, e.tangent);
        if (!(normal <= direction_tolerance && tangent <= direction_tolerance)) {
            fail_msg("%s: vertex %u of %u: normal off by %g, tangent by %g degrees", contender->name, i,
                     mesh->vertex_count, normal, tangent);
        }
        assert_true(out->tangents[(size_t)i * 4 + 3] == mesh->tangents[(size_t)i * 4 + 3]);
    }
}

void peltt_vk_design_check_instance(const baseline_vk_contender *contender, void *state,
                                    const peltt_vk_design_scene *made, uint32_t instance, bool bounds)
{
    const baseline_vk_instance *at = &made->instances[instance];
    const baseline_vk_mesh *mesh = &made->meshes[at->mesh];
    baseline_vk_output out = {.positions = peltt_vk_design_allocate(mesh->vertex_count, 3 * sizeof(float)),
                              .normals = peltt_vk_design_allocate(mesh->vertex_count, 3 * sizeof(float)),
                              .tangents = peltt_vk_design_allocate(mesh->vertex_count, 4 * sizeof(float)),
                              .box = {{-7.0F, -7.0F, -7.0F}, {7.0F, 7.0F, 7.0F}}};
    char message[BASELINE_VK_MESSAGE_SIZE] = "";
    if (!contender->read(state, instance, &out, message)) {
        fail_msg("%s: %s", contender->name, message);
    }
    check_vertices(contender, mesh, made->matrices + made->first_matrices[at->palette], &out);
    if (bounds && contender->has_bounds) {
        check_box(contender, &out, mesh->vertex_count);
    } else {
        assert_true(out.box.min[0] == -7.0F && out.box.max[2] == 7.0F);
    }
    free(out.positions);
    free(out.normals);
    free(out.tangents);
}

void peltt_vk_design_check_all(const peltt_vk_design_scene *made, bool bounds)
{
    peltt_vk vk;
    peltt_vk_create(&vk, NULL);
    baseline_vk_device device = peltt_vk_design_device(&vk);
    for (uint32_t c = 0; c < baseline_vk_contender_count; c++) {
        const baseline_vk_contender *contender = baseline_vk_contenders[c];
        if (!peltt_vk_design_can_run(contender, &device)) {
            continue;
        }
        void *state = peltt_vk_design_run(&vk, contender, &made->scene, bounds);
        for (uint32_t i = 0; i < made->scene.instance_count; i++) {
            peltt_vk_design_check_instance(contender, state, made, i, bounds);
        }
        contender->destroy(state);
        peltt_vk_check(&vk);
    }
    peltt_vk_destroy(&vk);
}

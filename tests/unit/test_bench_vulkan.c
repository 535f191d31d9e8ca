// SPDX-License-Identifier: MIT
// The designs that `pelt bench` compares the pass with: each comes to the sums that double precision gives, on meshes
// around the size of a workgroup.
#include "peltt_random.h"
#include "peltt_vk.h"
#include "vulkan.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double position_tolerance = 1e-5; // of the farthest coordinate
static const double direction_tolerance = 0.1; // degrees
static const double degrees = 57.29577951308232;

// ---- scenes

// What a scene's pointers lead to.
typedef struct made_scene {
    baseline_vk_scene scene;
    baseline_vk_mesh *meshes;
    baseline_vk_instance *instances;
    uint32_t *first_matrices;
    pelt_mat34 *matrices;
} made_scene;

static void *allocate(size_t count, size_t size)
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

// One to four weights that sum to one, in any slots; where there is no weight, a joint that no palette has.
static void fill_influences(peltt_random *random, uint32_t joint_count, uint16_t *joints, float *weights)
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
    float *positions = allocate(vertex_count, 3 * sizeof *positions);
    float *normals = allocate(vertex_count, 3 * sizeof *normals);
    float *tangents = allocate(vertex_count, 4 * sizeof *tangents);
    uint16_t *joints = allocate(vertex_count, 4 * sizeof *joints);
    float *weights = allocate(vertex_count, 4 * sizeof *weights);
    for (uint32_t i = 0; i < vertex_count; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            positions[(size_t)i * 3 + k] = peltt_random_float(random, -1.0F, 1.0F);
        }
        unit_vector(random, normals + (size_t)i * 3);
        unit_vector(random, tangents + (size_t)i * 4);
        tangents[(size_t)i * 4 + 3] = peltt_random_chance(random, 0.5) ? 1.0F : -1.0F;
        fill_influences(random, joint_count, joints + (size_t)i * 4, weights + (size_t)i * 4);
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

// Every mesh has two instances beside each other and one elsewhere, each with another of the palettes.
static void make_scene(uint64_t seed, const uint32_t *sizes, uint32_t size_count, uint32_t joint_count, made_scene *out)
{
    enum {
        PALETTES = 5
    };
    peltt_random random = {seed};
    uint32_t instance_count = size_count * 3;
    *out = (made_scene){.meshes = allocate(size_count, sizeof *out->meshes),
                        .instances = allocate(instance_count, sizeof *out->instances),
                        .first_matrices = allocate(PALETTES + 1, sizeof *out->first_matrices),
                        .matrices = allocate((size_t)PALETTES * (joint_count + 3), sizeof *out->matrices)};
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

static void free_scene(made_scene *made)
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

static baseline_vk_device device_of(const peltt_vk *vk)
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

// Whether the device can run it; says so where it cannot.
static bool can_run(const baseline_vk_contender *contender, const baseline_vk_device *device)
{
    if (contender->needs_graphics && !device->has_graphics) {
        print_message("%s: the queue has no graphics\n", contender->name);
        return false;
    }
    return true;
}

// Recorded twice into one command buffer: what the first leaves behind must not show.
static void *create_and_run(peltt_vk *vk, const baseline_vk_contender *contender, const baseline_vk_scene *scene,
                            bool bounds)
{
    baseline_vk_device device = device_of(vk);
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

static void check_instance(const baseline_vk_contender *contender, void *state, const made_scene *made,
                           uint32_t instance, bool bounds)
{
    const baseline_vk_instance *at = &made->instances[instance];
    const baseline_vk_mesh *mesh = &made->meshes[at->mesh];
    baseline_vk_output out = {.positions = allocate(mesh->vertex_count, 3 * sizeof(float)),
                              .normals = allocate(mesh->vertex_count, 3 * sizeof(float)),
                              .tangents = allocate(mesh->vertex_count, 4 * sizeof(float)),
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

static void check_all(const made_scene *made, bool bounds)
{
    peltt_vk vk;
    peltt_vk_create(&vk, NULL);
    baseline_vk_device device = device_of(&vk);
    for (uint32_t c = 0; c < baseline_vk_contender_count; c++) {
        const baseline_vk_contender *contender = baseline_vk_contenders[c];
        if (!can_run(contender, &device)) {
            continue;
        }
        void *state = create_and_run(&vk, contender, &made->scene, bounds);
        for (uint32_t i = 0; i < made->scene.instance_count; i++) {
            check_instance(contender, state, made, i, bounds);
        }
        contender->destroy(state);
        peltt_vk_check(&vk);
    }
    peltt_vk_destroy(&vk);
}

// ---- tests

// By their place in the list, which a test looks at.
enum {
    GROUPS = 3,
    VERTEX_SHADER = 4
};

static void the_list_is_complete(void **state)
{
    (void)state;
    static const char *const names[] = {"tutorial", "atomics", "wave_atomics", "groups", "vertex_shader"};
    assert_int_equal(baseline_vk_contender_count, sizeof names / sizeof *names);
    for (uint32_t i = 0; i < baseline_vk_contender_count; i++) {
        assert_string_equal(baseline_vk_contenders[i]->name, names[i]);
        assert_true(strlen(baseline_vk_contenders[i]->what) > 0);
    }
}

// The largest has more groups of 64 than a workgroup has threads.
static const uint32_t sizes[] = {1, 16, 63, 64, 65, 200, 1, 128, 16, 4200};

enum {
    SIZE_COUNT = sizeof sizes / sizeof *sizes
};

// The check of a design's sums takes its own word for the weights, so they are looked at here: near what was given, and
// of sum one.
static void packed_weights_stay_near_and_sum_to_one(void **state)
{
    (void)state;
    static const double most[] = {[GROUPS] = 1.0 / 1024.0, [VERTEX_SHADER] = 1.0 / 65535.0};
    peltt_random random = {11};
    for (uint32_t c = GROUPS; c <= VERTEX_SHADER; c++) {
        assert_non_null(baseline_vk_contenders[c]->weights);
        for (uint32_t i = 0; i < 2000; i++) {
            uint16_t joints[4];
            float given[4];
            float used[4];
            fill_influences(&random, 20, joints, given);
            baseline_vk_contenders[c]->weights(given, used);
            double sum = 0;
            for (uint32_t k = 0; k < 4; k++) {
                assert_true(used[k] >= 0.0F && fabs((double)used[k] - (double)given[k]) <= most[c] + 1e-7);
                sum += (double)used[k];
            }
            assert_true(fabs(sum - 1.0) <= 2e-7);
        }
    }
}

static void every_design_comes_to_the_sums_of_double_precision(void **state)
{
    (void)state;
    made_scene made;
    make_scene(1, sizes, SIZE_COUNT, 20, &made);
    check_all(&made, true);
    free_scene(&made);
}

static void without_bounds_the_rest_is_the_same(void **state)
{
    (void)state;
    made_scene made;
    make_scene(2, sizes, SIZE_COUNT, 3, &made);
    check_all(&made, false);
    free_scene(&made);
}

static void joints_need_more_than_8_bits(void **state)
{
    (void)state;
    made_scene made;
    make_scene(3, sizes, SIZE_COUNT, 400, &made);
    check_all(&made, true);
    free_scene(&made);
}

static void one_vertex_and_one_instance(void **state)
{
    (void)state;
    const uint32_t size = 1;
    made_scene made;
    make_scene(4, &size, 1, 1, &made);
    made.scene.instance_count = 1;
    check_all(&made, true);
    free_scene(&made);
}

// More workgroups than a row of the grid has on devices that allow no more than they must, 65,535.
static void many_instances_take_several_rows(void **state)
{
    (void)state;
    enum {
        COUNT = 66000
    };
    const uint32_t three[] = {1, 3, 2};
    made_scene made;
    make_scene(5, three, 3, 4, &made);
    free(made.instances);
    made.instances = allocate(COUNT, sizeof *made.instances);
    for (uint32_t i = 0; i < COUNT; i++) {
        made.instances[i] = (baseline_vk_instance){i % 3, i % 5};
    }
    made.scene.instances = made.instances;
    made.scene.instance_count = COUNT;
    peltt_vk vk;
    peltt_vk_create(&vk, NULL);
    void *groups = create_and_run(&vk, baseline_vk_contenders[GROUPS], &made.scene, true);
    for (uint32_t i = 0; i < COUNT; i += i < 65400 || i > 65600 ? 997 : 31) {
        check_instance(baseline_vk_contenders[GROUPS], groups, &made, i, true);
    }
    check_instance(baseline_vk_contenders[GROUPS], groups, &made, COUNT - 1, true);
    baseline_vk_contenders[GROUPS]->destroy(groups);
    peltt_vk_destroy(&vk);
    free_scene(&made);
}

// What is published: 336 bytes read and 48 written, 564 read, 220 read. One instance needs no search but its record.
static void requested_bytes_are_those_published(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double bytes;
        double record; // most that finding out about the instance may cost
    } wanted[] = {
        {"tutorial", 336 + 48, 0}, {"atomics", 564 + 20, 16}, {"wave_atomics", 564 + 20, 16}, {"groups", 220 + 20, 24}};
    const uint32_t size = 256;
    made_scene made;
    make_scene(6, &size, 1, 20, &made);
    made.scene.instance_count = 1;
    peltt_vk vk;
    peltt_vk_create(&vk, NULL);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const baseline_vk_contender *contender = baseline_vk_contenders[i];
        assert_string_equal(contender->name, wanted[i].name);
        void *made_state = create_and_run(&vk, contender, &made.scene, false);
        double bytes = contender->requested_bytes(made_state);
        assert_true(bytes >= wanted[i].bytes && bytes <= wanted[i].bytes + wanted[i].record);
        contender->destroy(made_state);
    }
    peltt_vk_destroy(&vk);
    free_scene(&made);
}

static void require_graphics(peltt_vk *vk)
{
    if (!device_of(vk).has_graphics) {
        peltt_vk_destroy(vk);
        skip();
    }
}

// Streams of draw_skinned hold each instance's mesh as it was given, in 20 bytes.
static void drawing_what_was_skinned_moves_nothing(void **state)
{
    (void)state;
    made_scene made;
    peltt_vk vk;
    peltt_vk_create(&vk, NULL);
    require_graphics(&vk);
    make_scene(8, sizes, SIZE_COUNT, 1, &made);
    for (uint32_t i = 0; i < made.first_matrices[5]; i++) {
        made.matrices[i] = pelt_mat34_identity(); // what it must come to, for the check alone
    }
    void *drawn = create_and_run(&vk, &baseline_vk_draw_skinned, &made.scene, false);
    for (uint32_t i = 0; i < made.scene.instance_count; i++) {
        check_instance(&baseline_vk_draw_skinned, drawn, &made, i, false);
    }
    baseline_vk_draw_skinned.destroy(drawn);
    peltt_vk_destroy(&vk);
    free_scene(&made);
}

static void passes_are_asked_for_and_counted(void **state)
{
    (void)state;
    const baseline_vk_contender *both[] = {baseline_vk_contenders[VERTEX_SHADER], &baseline_vk_draw_skinned};
    static const double bytes[] = {36 + 4 + 192, 20};
    made_scene made;
    peltt_vk vk;
    peltt_vk_create(&vk, NULL);
    require_graphics(&vk);
    make_scene(9, sizes, SIZE_COUNT, 4, &made);
    for (size_t i = 0; i < 2; i++) {
        void *made_state = create_and_run(&vk, both[i], &made.scene, false);
        assert_true(both[i]->requested_bytes(made_state) == bytes[i]);
        baseline_vk_vertex_shader_passes(made_state, 3);
        assert_true(both[i]->requested_bytes(made_state) == 3 * bytes[i]);
        VkCommandBuffer commands = peltt_vk_begin(&vk);
        both[i]->record(made_state, commands);
        peltt_vk_run(&vk, commands);
        both[i]->destroy(made_state);
        peltt_vk_check(&vk);
    }
    peltt_vk_destroy(&vk);
    free_scene(&made);
}

static void a_queue_without_graphics_draws_nothing(void **state)
{
    (void)state;
    made_scene made;
    peltt_vk vk;
    peltt_vk_create(&vk, NULL);
    make_scene(10, sizes, 1, 4, &made);
    baseline_vk_device device = device_of(&vk);
    device.has_graphics = false;
    char message[BASELINE_VK_MESSAGE_SIZE] = "";
    void *made_state = &made;
    assert_false(baseline_vk_draw_skinned.create(&device, &made.scene, false, &made_state, message));
    assert_null(made_state);
    assert_non_null(strstr(message, "graphics"));
    peltt_vk_destroy(&vk);
    free_scene(&made);
}

// 2^31 vertices are refused before anything of them is read.
static void a_scene_over_a_limit_is_refused_with_a_reason(void **state)
{
    (void)state;
    const uint32_t size = 1;
    made_scene made;
    make_scene(7, &size, 1, 1, &made);
    made.meshes[0].vertex_count = 0x80000000U;
    peltt_vk vk;
    peltt_vk_create(&vk, NULL);
    baseline_vk_device device = device_of(&vk);
    for (uint32_t c = 0; c < baseline_vk_contender_count; c++) {
        if (!can_run(baseline_vk_contenders[c], &device)) {
            continue;
        }
        char message[BASELINE_VK_MESSAGE_SIZE] = "";
        void *made_state = &made;
        assert_false(baseline_vk_contenders[c]->create(&device, &made.scene, true, &made_state, message));
        assert_null(made_state);
        assert_non_null(strstr(message, "vertices"));
    }
    peltt_vk_destroy(&vk);
    free_scene(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_is_complete),
        cmocka_unit_test(packed_weights_stay_near_and_sum_to_one),
        cmocka_unit_test(every_design_comes_to_the_sums_of_double_precision),
        cmocka_unit_test(without_bounds_the_rest_is_the_same),
        cmocka_unit_test(joints_need_more_than_8_bits),
        cmocka_unit_test(one_vertex_and_one_instance),
        cmocka_unit_test(many_instances_take_several_rows),
        cmocka_unit_test(requested_bytes_are_those_published),
        cmocka_unit_test(drawing_what_was_skinned_moves_nothing),
        cmocka_unit_test(passes_are_asked_for_and_counted),
        cmocka_unit_test(a_queue_without_graphics_draws_nothing),
        cmocka_unit_test(a_scene_over_a_limit_is_refused_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// What `pelt bench` rests on: medians, the meshes that it makes, the plain structure, and a check that no wrong output
// passes.
#include "bench.h"

#include "baselines.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    VERTICES = 331,
    JOINTS = 60
};

// ---- statistics

static void median_and_quartiles_of_known_samples(void **unused)
{
    (void)unused;
    double odd[5] = {5, 1, 4, 2, 3};
    bench_statistics s = bench_summarize(odd, 5);
    assert_true(s.median == 3 && s.least == 1 && s.most == 5 && s.quartiles[0] == 2 && s.quartiles[1] == 4);
    double even[4] = {40, 10, 30, 20};
    s = bench_summarize(even, 4);
    assert_true(s.median == 25 && s.quartiles[0] == 17.5 && s.quartiles[1] == 32.5);
    double one[1] = {7};
    s = bench_summarize(one, 1);
    assert_true(s.median == 7 && s.least == 7 && s.most == 7 && s.quartiles[0] == 7 && s.quartiles[1] == 7);
}

// ---- meshes

typedef struct fixture {
    bench_memory memory;
    pelt_asset *asset;
    bench_palette palette;
    bench_mesh mesh;
    float *positions;
    float *normals;
    float *tangents;
    pelt_box box;
    bench_output output;
} fixture;

static void make(fixture *f, bench_shape shape)
{
    memset(f, 0, sizeof *f);
    pelt_mat34 matrices[JOINTS];
    bench_matrices_fill(matrices, JOINTS);
    f->asset = bench_asset_create(&shape);
    assert_non_null(f->asset);
    assert_true(bench_palette_fill(&f->memory, matrices, JOINTS, &f->palette));
    const pelt_primitive *source = &pelt_asset_get(f->asset)->meshes[0].primitives[0];
    assert_int_equal(source->vertex_count, shape.vertex_count);
    assert_true(bench_mesh_fill(&f->memory, source, false, &f->palette, &f->mesh));
    f->positions = bench_allocate(&f->memory, shape.vertex_count, 12);
    f->normals = bench_allocate(&f->memory, shape.vertex_count, 12);
    f->tangents = bench_allocate(&f->memory, shape.vertex_count, 16);
    assert_true(f->positions && f->normals && f->tangents);
    f->output = (bench_output){.positions = f->positions,
                               .normals = f->normals,
                               .tangents = f->tangents,
                               .positions_stride = 12,
                               .normals_stride = 12,
                               .tangents_stride = 16};
}

static void skin(fixture *f)
{
    pelt_skin_job job = {.out_positions = f->positions,
                         .out_normals = f->normals,
                         .out_tangents = f->tangents,
                         .box = &f->box,
                         .isa = PELT_ISA_SCALAR};
    bench_mesh_inputs(&f->mesh, BENCH_INPUT_STREAMS, &job);
    assert_int_equal(pelt_skin_evaluate(&job), PELT_OK);
    f->output.box = &f->box;
}

static void release(fixture *f)
{
    pelt_asset_destroy(f->asset);
    bench_release(&f->memory);
}

static bench_shape shape_of(uint32_t influence_count)
{
    return (bench_shape){.vertex_count = VERTICES, .joint_count = JOINTS, .influence_count = influence_count};
}

static uint32_t used(const bench_mesh *mesh, size_t vertex)
{
    uint32_t count = 0;
    for (size_t i = 0; i < mesh->slot_count; i++) {
        count += mesh->weights[mesh->slot_count * vertex + i] != 0.0F;
    }
    return count;
}

static void vertices_have_the_influences_asked_for(void **unused)
{
    (void)unused;
    for (uint32_t influences = 1; influences <= 8; influences++) {
        fixture f;
        make(&f, shape_of(influences));
        assert_int_equal(f.mesh.slot_count, influences <= 4 ? 4 : 8);
        for (size_t v = 0; v < VERTICES; v++) {
            assert_int_equal(used(&f.mesh, v), influences);
        }
        release(&f);
    }
}

static void mixed_vertices_have_one_to_four_influences_in_their_shares(void **unused)
{
    (void)unused;
    enum {
        MANY = 20000
    };
    static const double shares[5] = {0, 0.35, 0.30, 0.20, 0.15};
    double counts[5] = {0};
    fixture f;
    make(&f, (bench_shape){.vertex_count = MANY, .joint_count = JOINTS, .influence_count = 4, .mixed = true});
    for (size_t v = 0; v < MANY; v++) {
        uint32_t count = used(&f.mesh, v);
        assert_in_range(count, 1, 4);
        counts[count]++;
    }
    for (int i = 1; i <= 4; i++) {
        assert_true(fabs(counts[i] / MANY - shares[i]) < 0.02); // some six standard deviations
    }
    release(&f);
}

static void streams_start_at_different_distances_from_a_page(void **unused)
{
    (void)unused;
    bench_memory memory = {0};
    uintptr_t seen[64];
    for (int i = 0; i < 64; i++) {
        seen[i] = (uintptr_t)bench_allocate(&memory, 3, 100) % 4096;
        assert_int_equal(seen[i] % 64, 0);
        for (int k = 0; k < i; k++) {
            assert_true(seen[k] != seen[i]);
        }
    }
    assert_null(bench_allocate(&memory, UINT64_MAX / 2, 16));
    bench_release(&memory);
}

// ---- the check of outputs

static void right_outputs_pass(void **unused)
{
    (void)unused;
    for (uint32_t influences = 1; influences <= 8; influences++) {
        fixture f;
        make(&f, shape_of(influences));
        skin(&f);
        assert_true(bench_check_skin(&f.mesh, &f.output));
        release(&f);
    }
}

static void any_wrong_number_fails(void **unused)
{
    (void)unused;
    fixture f;
    make(&f, shape_of(4));
    skin(&f);
    float *const streams[3] = {f.positions, f.normals, f.tangents};
    const size_t widths[3] = {3, 3, 4};
    f.output.box = NULL; // so that it is not the box that tells
    for (size_t s = 0; s < 3; s++) {
        for (size_t i = 0; i < VERTICES * widths[s]; i += 7) {
            float right = streams[s][i];
            streams[s][i] = right + 1e-3F;
            assert_false(bench_check_skin(&f.mesh, &f.output));
            streams[s][i] = NAN;
            assert_false(bench_check_skin(&f.mesh, &f.output));
            streams[s][i] = right;
        }
    }
    assert_true(bench_check_skin(&f.mesh, &f.output));
    release(&f);
}

static void directions_that_are_not_of_unit_length_or_point_back_fail(void **unused)
{
    (void)unused;
    static const float factors[3] = {1.001F, 0.999F, -1.0F};
    fixture f;
    make(&f, shape_of(4));
    skin(&f);
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < 3; i++) {
            f.normals[i] *= factors[k];
        }
        assert_false(bench_check_skin(&f.mesh, &f.output));
        for (size_t i = 0; i < 3; i++) {
            f.normals[i] /= factors[k];
        }
    }
    release(&f);
}

static void a_box_that_is_one_bit_off_fails(void **unused)
{
    (void)unused;
    fixture f;
    make(&f, shape_of(4));
    skin(&f);
    for (int i = 0; i < 3; i++) {
        float right = f.box.min[i];
        f.box.min[i] = nextafterf(right, -INFINITY);
        assert_false(bench_check_skin(&f.mesh, &f.output));
        f.box.min[i] = right;
        right = f.box.max[i];
        f.box.max[i] = nextafterf(right, -INFINITY);
        assert_false(bench_check_skin(&f.mesh, &f.output));
        f.box.max[i] = right;
    }
    assert_true(bench_check_skin(&f.mesh, &f.output));
    release(&f);
}

// The normal through the weighted sum of the joints' inverse transposes, by Cramer's rule: column c of the inverse
// solves m x = e_c, so row c of its transpose does.
static void inverse_transposes(const bench_mesh *mesh, size_t vertex, double out[3])
{
    out[0] = out[1] = out[2] = 0;
    for (size_t i = 0; i < mesh->slot_count; i++) {
        double weight = (double)mesh->weights[mesh->slot_count * vertex + i];
        const float *rows = mesh->palette->rows + 16 * (size_t)mesh->joints[mesh->slot_count * vertex + i];
        double m[9];
        for (size_t e = 0; e < 9; e++) {
            m[e] = (double)rows[4 * (e / 3) + e % 3];
        }
        const double determinant = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
                                   m[2] * (m[3] * m[7] - m[4] * m[6]);
        const double inverse[3][3] = {
            {m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4]},
            {m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5]},
            {m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]}};
        for (int r = 0; r < 3 && weight > 0; r++) {
            for (int j = 0; j < 3; j++) {
                out[r] += weight * inverse[j][r] / determinant * (double)mesh->normals[3 * vertex + (size_t)j];
            }
        }
    }
}

// Of a vertex with one influence the blend is the joint's own matrix, so its inverse transpose has the direction of the
// cofactor; of two that turn and scale differently it has not.
static void normals_by_inverse_transposes_are_told_from_others(void **unused)
{
    (void)unused;
    for (uint32_t influences = 1; influences <= 2; influences++) {
        fixture f;
        make(&f, shape_of(influences));
        skin(&f);
        f.output.by = BENCH_NORMALS_INVERSE_TRANSPOSES;
        assert_true(bench_check_skin(&f.mesh, &f.output) == (influences == 1));
        for (size_t v = 0; v < VERTICES; v++) {
            double normal[3];
            inverse_transposes(&f.mesh, v, normal);
            double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
            for (size_t i = 0; i < 3; i++) {
                f.normals[3 * v + i] = (float)(normal[i] / length);
            }
        }
        assert_true(bench_check_skin(&f.mesh, &f.output));
        f.output.by = BENCH_NORMALS_COFACTOR;
        assert_true(bench_check_skin(&f.mesh, &f.output) == (influences == 1));
        release(&f);
    }
}

static void what_is_allowed_beside_rounding_is_allowed_and_no_more(void **unused)
{
    (void)unused;
    fixture f;
    make(&f, shape_of(4));
    skin(&f);
    f.output.box = NULL;
    for (size_t i = 0; i < 3 * (size_t)VERTICES; i++) {
        f.positions[i] += 2e-5F;
        f.normals[i] *= 1.5F;
    }
    assert_false(bench_check_skin(&f.mesh, &f.output));
    f.output.any_length = true;
    assert_false(bench_check_skin(&f.mesh, &f.output));
    f.output.position_share = 5e-5; // every matrix moves by 0.5 along z: terms add up to that at least
    assert_true(bench_check_skin(&f.mesh, &f.output));
    f.output.any_length = false;
    assert_false(bench_check_skin(&f.mesh, &f.output));
    f.output.any_length = true;
    f.output.position_share = 2e-7; // and to less than ten, of which rounding allows another 1.5e-6 each
    assert_false(bench_check_skin(&f.mesh, &f.output));
    f.output.position_share = 5e-5;
    for (size_t v = 0; v < VERTICES; v++) { // turned by about 0.001 at most, towards z
        f.normals[3 * v + 2] += 1.5F * 1e-3F;
    }
    assert_false(bench_check_skin(&f.mesh, &f.output));
    f.output.turn = 1.1e-3;
    assert_true(bench_check_skin(&f.mesh, &f.output));
    f.output.turn = 0.7e-3;
    assert_false(bench_check_skin(&f.mesh, &f.output));
    release(&f);
}

// ---- the plain structure

static baseline_skin_job plain_job(const fixture *f)
{
    const bench_mesh *m = &f->mesh;
    return (baseline_skin_job){.vertex_count = m->vertex_count,
                               .influence_count = m->slot_count,
                               .palette = m->palette->columns,
                               .joints = m->joints,
                               .weights = m->weights,
                               .positions = m->positions,
                               .normals = m->normals,
                               .tangents = m->tangents,
                               .joints_stride = 2 * (size_t)m->slot_count,
                               .weights_stride = 4 * (size_t)m->slot_count,
                               .positions_stride = 12,
                               .normals_stride = 12,
                               .tangents_stride = 16,
                               .out_positions = f->positions,
                               .out_normals = f->normals,
                               .out_tangents = f->tangents,
                               .out_positions_stride = 12,
                               .out_normals_stride = 12,
                               .out_tangents_stride = 16};
}

static void the_plain_structure_skins_right(void **unused)
{
    (void)unused;
    if (!baseline_plain_available()) {
        skip();
    }
    for (uint32_t influences = 1; influences <= 8; influences++) {
        fixture f;
        make(&f, shape_of(influences));
        const baseline_skin_job job = plain_job(&f);
        baseline_plain_skin(&job);
        f.output.by = BENCH_NORMALS_MATRIX;
        f.output.any_length = true;
        assert_true(bench_check_skin(&f.mesh, &f.output));
        // Its normals are not those of the cofactor: scales differ from axis to axis.
        f.output.by = BENCH_NORMALS_COFACTOR;
        assert_false(bench_check_skin(&f.mesh, &f.output));
        release(&f);
    }
}

static void the_plain_structure_writes_what_is_wanted_and_no_byte_more(void **unused)
{
    (void)unused;
    if (!baseline_plain_available()) {
        skip();
    }
    enum {
        STRIDE = 56 // 16 of them never written
    };
    fixture f;
    make(&f, shape_of(4));
    unsigned char *vertices = bench_allocate(&f.memory, VERTICES + 1, STRIDE);
    assert_non_null(vertices);
    memset(vertices, 0xA5, (VERTICES + 1) * (size_t)STRIDE);
    baseline_skin_job job = plain_job(&f);
    job.out_positions = (float *)(void *)vertices;
    job.out_normals = (float *)(void *)(vertices + 16);
    job.out_tangents = (float *)(void *)(vertices + 32);
    job.out_positions_stride = STRIDE;
    job.out_normals_stride = STRIDE;
    job.out_tangents_stride = STRIDE;
    baseline_plain_skin(&job);
    const bench_output output = {.positions = job.out_positions,
                                 .normals = job.out_normals,
                                 .tangents = job.out_tangents,
                                 .positions_stride = STRIDE,
                                 .normals_stride = STRIDE,
                                 .tangents_stride = STRIDE,
                                 .by = BENCH_NORMALS_MATRIX,
                                 .any_length = true};
    assert_true(bench_check_skin(&f.mesh, &output));
    for (size_t i = 0; i < (VERTICES + 1) * (size_t)STRIDE; i++) {
        size_t at = i % STRIDE;
        bool is_free = i >= VERTICES * (size_t)STRIDE || (at >= 12 && at < 16) || (at >= 28 && at < 32) || at >= 48;
        assert_true(!is_free || vertices[i] == 0xA5);
    }
    release(&f);
}

static void the_plain_structure_makes_right_palettes(void **unused)
{
    (void)unused;
    if (!baseline_plain_available()) {
        skip();
    }
    bench_memory memory = {0};
    pelt_trs locals[2][JOINTS];
    pelt_mat34 binds[JOINTS];
    uint32_t parents[JOINTS];
    bench_palette joint_from_bind;
    bench_matrices_fill(binds, JOINTS);
    assert_true(bench_palette_fill(&memory, binds, JOINTS, &joint_from_bind));
    float *worlds = bench_allocate(&memory, JOINTS, 64);
    float *palettes[2];
    const pelt_trs *views[2] = {locals[0], locals[1]};
    for (uint32_t i = 0; i < 2; i++) {
        bench_locals_fill(locals[i], JOINTS, i + 1);
        palettes[i] = bench_allocate(&memory, JOINTS, 64);
    }
    for (uint32_t j = 0; j < JOINTS; j++) {
        parents[j] = bench_joint_parent(j);
        locals[1][j].scale = (pelt_vec3){1.0F, 0.9F, 1.1F};
    }
    const baseline_skeleton_job job = {2, JOINTS, parents, joint_from_bind.columns, views, worlds, palettes};
    baseline_plain_skeletons(&job);
    for (uint32_t i = 0; i < 2; i++) {
        const bench_pose pose = {JOINTS, locals[i], binds};
        assert_true(bench_check_palette(&pose, palettes[i], true));
        assert_false(bench_check_palette(&pose, palettes[i], false));
        for (size_t k = 0; k < JOINTS * (size_t)16; k += 5) {
            float right = palettes[i][k];
            palettes[i][k] = right + 0.01F;
            assert_false(bench_check_palette(&pose, palettes[i], true));
            palettes[i][k] = right;
        }
    }
    bench_release(&memory);
}

static void copies_copy(void **unused)
{
    (void)unused;
    bench_memory memory = {0};
    for (size_t size = 64; size <= 8192; size += 64) {
        unsigned char *from = bench_allocate(&memory, size, 1);
        unsigned char *to = bench_allocate(&memory, size + 64, 1);
        assert_true(from && to);
        for (size_t i = 0; i < size; i++) {
            from[i] = (unsigned char)(i * 7 + 1);
        }
        baseline_copy(to, from, size);
        assert_memory_equal(to, from, size);
        memset(to, 0xA5, size + 64);
        baseline_copy_streaming(to, from, size);
        assert_memory_equal(to, from, size);
        for (size_t i = size; i < size + 64; i++) {
            assert_int_equal(to[i], 0xA5);
        }
    }
    bench_release(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_and_quartiles_of_known_samples),
        cmocka_unit_test(vertices_have_the_influences_asked_for),
        cmocka_unit_test(mixed_vertices_have_one_to_four_influences_in_their_shares),
        cmocka_unit_test(streams_start_at_different_distances_from_a_page),
        cmocka_unit_test(right_outputs_pass),
        cmocka_unit_test(any_wrong_number_fails),
        cmocka_unit_test(directions_that_are_not_of_unit_length_or_point_back_fail),
        cmocka_unit_test(a_box_that_is_one_bit_off_fails),
        cmocka_unit_test(normals_by_inverse_transposes_are_told_from_others),
        cmocka_unit_test(what_is_allowed_beside_rounding_is_allowed_and_no_more),
        cmocka_unit_test(the_plain_structure_skins_right),
        cmocka_unit_test(the_plain_structure_writes_what_is_wanted_and_no_byte_more),
        cmocka_unit_test(the_plain_structure_makes_right_palettes),
        cmocka_unit_test(copies_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

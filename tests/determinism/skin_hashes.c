// SPDX-License-Identifier: MIT
// Skins random vertices with every kernel that runs here and prints the hashes of what comes out, one line for each
// kernel and kind of job: for comparing builds, compilers and architectures.
#include "peltt_random.h"

#include <pelt/skin.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERTICES = 5003, // no multiple of any kernel's width
    JOINTS = 90,
    INFLUENCES = 4
};

typedef struct mesh {
    pelt_mat34 palette[JOINTS];
    uint16_t joints[VERTICES * INFLUENCES];
    float weights[VERTICES * INFLUENCES];
    float positions[VERTICES * 3];
    float normals[VERTICES * 3];
    float tangents[VERTICES * 4];
    uint32_t weight_codes[VERTICES];
    uint32_t normal_codes[VERTICES];
    uint32_t tangent_codes[VERTICES];
    pelt_run runs[VERTICES / PELT_RUN_STEP + 1];
    uint16_t run_joints[(VERTICES / PELT_RUN_STEP + 1) * PELT_RUN_JOINTS];
    _Alignas(2) uint8_t local_joints[VERTICES * INFLUENCES * 2];
    pelt_joint_runs cut;
    float out_positions[VERTICES * 3];
    float out_normals[VERTICES * 3];
    float out_tangents[VERTICES * 4];
    uint8_t out_mirrored[VERTICES];
} mesh;

static void fill_vertex(mesh *m, uint32_t v, peltt_random *random)
{
    uint16_t joints[INFLUENCES];
    float weights[INFLUENCES] = {0.0F};
    uint8_t order[INFLUENCES];
    float sum = 0.0F;
    for (uint32_t i = 0; i < INFLUENCES; i++) {
        joints[i] = (uint16_t)(v * (JOINTS - 8) / VERTICES + peltt_random_below(random, 8));
        weights[i] = i <= v / 16 % INFLUENCES ? peltt_random_float(random, 0.1F, 1.0F) : 0.0F;
        sum += weights[i];
    }
    for (uint32_t i = 0; i < INFLUENCES; i++) {
        weights[i] /= sum;
    }
    for (uint32_t k = 0; k < 3; k++) {
        m->positions[v * 3 + k] = peltt_random_float(random, -1.0F, 1.0F);
        m->normals[v * 3 + k] = peltt_random_float(random, -1.0F, 1.0F);
        m->tangents[v * 4 + k] = peltt_random_float(random, -1.0F, 1.0F);
    }
    m->tangents[v * 4 + 3] = peltt_random_chance(random, 0.5) ? 1.0F : -1.0F;
    m->weight_codes[v] = pelt_weights_encode(PELT_WEIGHTS_SORTED, weights, order);
    m->normal_codes[v] = pelt_normal_encode(&m->normals[(size_t)v * 3]);
    m->tangent_codes[v] = pelt_tangent_encode(&m->tangents[(size_t)v * 4]);
    for (uint32_t i = 0; i < INFLUENCES; i++) { // one order for both kinds of weights
        m->joints[v * INFLUENCES + i] = joints[order[i]];
        m->weights[v * INFLUENCES + i] = weights[order[i]];
    }
}

static bool fill(mesh *m)
{
    peltt_random random = {1};
    for (uint32_t j = 0; j < JOINTS; j++) {
        for (uint32_t k = 0; k < 12; k++) {
            m->palette[j].m[k / 4][k % 4] = peltt_random_float(&random, -1.0F, 1.0F);
        }
    }
    for (uint32_t v = 0; v < VERTICES; v++) {
        fill_vertex(m, v, &random);
    }
    const pelt_joint_runs_job job = {.vertex_count = VERTICES,
                                     .influence_count = INFLUENCES,
                                     .joints = m->joints,
                                     .weights = m->weights,
                                     .runs = m->runs,
                                     .run_joints = m->run_joints,
                                     .local_joints = m->local_joints};
    return pelt_joint_runs_build(&job, &m->cut) == PELT_OK;
}

static uint64_t hash(const void *data, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)data;
    uint64_t h = 0xCBF29CE484222325U; // FNV-1a
    for (size_t i = 0; i < size; i++) {
        h = (h ^ bytes[i]) * 0x100000001B3U;
    }
    return h;
}

static bool print_hashes(mesh *m, pelt_isa isa, const char *name, pelt_skin_job job)
{
    pelt_box box;
    bool codes = job.out_direction_format == PELT_DIRECTION_OCTAHEDRAL;
    memset(m->out_mirrored, 0, sizeof m->out_mirrored);
    job.vertex_count = VERTICES;
    job.palette_count = JOINTS;
    job.palette = m->palette;
    job.influence_count = INFLUENCES;
    job.positions = m->positions;
    job.out_positions = m->out_positions;
    job.out_normals = m->out_normals;
    job.out_tangents = m->out_tangents;
    job.out_mirrored = job.flags ? m->out_mirrored : NULL;
    job.box = &box;
    job.isa = isa;
    if (pelt_skin_evaluate(&job) != PELT_OK) {
        return false;
    }
    printf("%s %s %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n", pelt_isa_name(isa),
           name, hash(m->out_positions, sizeof m->out_positions), hash(&box, sizeof box),
           hash(m->out_normals, codes ? VERTICES * sizeof(uint32_t) : sizeof m->out_normals),
           hash(m->out_tangents, codes ? VERTICES * sizeof(uint32_t) : sizeof m->out_tangents),
           hash(m->out_mirrored, sizeof m->out_mirrored));
    return true;
}

static bool print_kernel(mesh *m, pelt_isa isa)
{
    pelt_skin_job floats = {.joints = m->joints, .weights = m->weights, .normals = m->normals, .tangents = m->tangents};
    pelt_skin_job outward = floats;
    outward.flags = PELT_NORMAL_OUTWARD;
    pelt_skin_job runs = floats;
    runs.joints = m->local_joints;
    runs.runs = &m->cut;
    pelt_skin_job packed = {.joints = m->local_joints,
                            .weights = m->weight_codes,
                            .weight_format = PELT_WEIGHT_SORTED,
                            .runs = &m->cut,
                            .normals = m->normal_codes,
                            .tangents = m->tangent_codes,
                            .direction_format = PELT_DIRECTION_OCTAHEDRAL};
    pelt_skin_job repacked = packed;
    repacked.out_direction_format = PELT_DIRECTION_OCTAHEDRAL;
    return print_hashes(m, isa, "floats", floats) && print_hashes(m, isa, "outward", outward) &&
           print_hashes(m, isa, "runs", runs) && print_hashes(m, isa, "packed", packed) &&
           print_hashes(m, isa, "repacked", repacked);
}

int main(void)
{
    mesh *m = calloc(1, sizeof *m);
    bool fine = m && fill(m);
    for (int isa = PELT_ISA_SCALAR; fine && isa < PELT_ISA_COUNT; isa++) {
        fine = !pelt_isa_available((pelt_isa)isa) || print_kernel(m, (pelt_isa)isa);
    }
    free(m);
    return fine ? 0 : 1;
}

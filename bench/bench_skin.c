// SPDX-License-Identifier: MIT
// Cost of CPU skinning in ns per vertex, four influences, on the calling thread, beside copying as many bytes in the
// same run. Prints JSON; a number is the median of the runs, with the smallest and the largest beside it.
#include <pelt/skin.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    RUNS = 21,
    JOINT_COUNT = 100,
    INFLUENCE_COUNT = 4
};

typedef struct mesh {
    uint32_t vertex_count;
    pelt_mat34 palette[JOINT_COUNT];
    uint16_t *joints;
    float *weights;
    float *positions;
    float *normals;
    float *tangents;
    float *out_positions;
    float *out_normals;
    float *out_tangents;
    unsigned char *copy_from; // half of the bytes that a case moves, at most
    unsigned char *copy_to;
} mesh;

typedef struct bench_case {
    const char *name;
    bool normals;
    bool tangents;
    bool box;
    bool one_influence; // the first weight is one, the others zero: what rigid parts of a character cost
} bench_case;

static const bench_case cases[] = {
    {"positions", false, false, false, false},
    {"positions_box", false, false, true, false},
    {"positions_normals", true, false, false, false},
    {"positions_normals_box", true, false, true, false},
    {"positions_normals_tangents", true, true, false, false},
    {"positions_normals_tangents_box", true, true, true, false},
    {"positions_normals_tangents_box_weight_one", true, true, true, true},
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

static float random_float(uint32_t *state)
{
    return (float)next_random(state) * 0x1p-23F - 1.0F;
}

static void fill_palette(mesh *m)
{
    for (int j = 0; j < JOINT_COUNT; j++) {
        double angle = 0.06 * j;
        const pelt_mat34 matrix = {{{(float)cos(angle), (float)-sin(angle), 0.0F, (float)j * 0.1F},
                                    {(float)sin(angle), (float)cos(angle), 0.0F, 0.0F},
                                    {0.0F, 0.0F, 1.0F, 0.5F}}};
        m->palette[j] = matrix;
    }
}

// Joints move slowly along the vertices, as in a mesh whose order is kept from its modelling: a vertex uses four
// neighbouring joints of a hundred.
static void fill_vertices(mesh *m)
{
    uint32_t state = 1;
    for (size_t v = 0; v < m->vertex_count; v++) {
        uint32_t base = (uint32_t)(v * (JOINT_COUNT - 8) / m->vertex_count);
        float sum = 0.0F;
        for (size_t i = 0; i < INFLUENCE_COUNT; i++) {
            float weight = random_float(&state) + 1.1F;
            m->joints[v * INFLUENCE_COUNT + i] = (uint16_t)(base + next_random(&state) % 8);
            m->weights[v * INFLUENCE_COUNT + i] = weight;
            sum += weight;
        }
        for (size_t i = 0; i < INFLUENCE_COUNT; i++) {
            m->weights[v * INFLUENCE_COUNT + i] /= sum;
        }
        for (size_t i = 0; i < 3; i++) {
            m->positions[v * 3 + i] = random_float(&state);
            m->normals[v * 3 + i] = random_float(&state);
            m->tangents[v * 4 + i] = random_float(&state);
        }
        m->tangents[v * 4 + 3] = 1.0F;
    }
}

static void mesh_destroy(mesh *m)
{
    free(m->joints);
    free(m->weights);
    free(m->positions);
    free(m->normals);
    free(m->tangents);
    free(m->out_positions);
    free(m->out_normals);
    free(m->out_tangents);
    free(m->copy_from);
    free(m->copy_to);
}

static size_t bytes_read(const bench_case *c)
{
    return INFLUENCE_COUNT * (sizeof(uint16_t) + sizeof(float)) + 12 + (c->normals ? 12 : 0) + (c->tangents ? 16 : 0);
}

static size_t bytes_written(const bench_case *c)
{
    return (size_t)12 + (c->normals ? 12 : 0) + (c->tangents ? 16 : 0);
}

// Pages are touched, so that no run pays for mapping them.
static bool mesh_create(mesh *m, uint32_t vertex_count)
{
    size_t n = vertex_count;
    memset(m, 0, sizeof *m);
    m->vertex_count = vertex_count;
    m->joints = malloc(n * INFLUENCE_COUNT * sizeof *m->joints);
    m->weights = malloc(n * INFLUENCE_COUNT * sizeof *m->weights);
    m->positions = malloc(n * 12);
    m->normals = malloc(n * 12);
    m->tangents = malloc(n * 16);
    m->out_positions = malloc(n * 12);
    m->out_normals = malloc(n * 12);
    m->out_tangents = malloc(n * 16);
    m->copy_from = malloc(n * 64);
    m->copy_to = malloc(n * 64);
    if (!m->joints || !m->weights || !m->positions || !m->normals || !m->tangents || !m->out_positions ||
        !m->out_normals || !m->out_tangents || !m->copy_from || !m->copy_to) {
        return false;
    }
    fill_palette(m);
    fill_vertices(m);
    memset(m->out_positions, 1, n * 12);
    memset(m->out_normals, 1, n * 12);
    memset(m->out_tangents, 1, n * 16);
    memset(m->copy_from, 1, n * 64);
    memset(m->copy_to, 2, n * 64);
    return true;
}

static double time_skin(const mesh *m, const bench_case *c, const float *weights, uint32_t repeats)
{
    pelt_box box = {{0}, {0}};
    pelt_skin_job job = {.vertex_count = m->vertex_count,
                         .palette_count = JOINT_COUNT,
                         .palette = m->palette,
                         .influence_count = INFLUENCE_COUNT,
                         .joints = m->joints,
                         .weights = weights,
                         .positions = m->positions,
                         .normals = m->normals,
                         .tangents = m->tangents,
                         .out_positions = m->out_positions,
                         .out_normals = c->normals ? m->out_normals : NULL,
                         .out_tangents = c->tangents ? m->out_tangents : NULL,
                         .box = c->box ? &box : NULL};
    double start = now_ns();
    for (uint32_t i = 0; i < repeats; i++) {
        if (pelt_skin_evaluate(&job) != PELT_OK) {
            exit(1);
        }
    }
    return (now_ns() - start) / repeats;
}

// Copies half of the bytes: they are read once and written once, so as many move as in the case.
static double time_copy(const mesh *m, size_t moved, uint32_t repeats)
{
    double start = now_ns();
    for (uint32_t i = 0; i < repeats; i++) {
        memcpy(m->copy_to, m->copy_from, moved / 2);
        m->copy_from[i % 64] ^= m->copy_to[moved / 2 - 1]; // so that no copy can be left out
    }
    return (now_ns() - start) / repeats;
}

static bool run_case(const mesh *m, const bench_case *c, bool is_first)
{
    double skin_times[RUNS];
    double copy_times[RUNS];
    double n = (double)m->vertex_count;
    size_t moved = m->vertex_count * (bytes_read(c) + bytes_written(c));
    // About a millisecond, well within a time slice of a busy machine.
    uint32_t repeats = m->vertex_count < 40000 ? 40000 / m->vertex_count : 1;
    float *ones = calloc((size_t)m->vertex_count * INFLUENCE_COUNT, sizeof *ones);
    if (!ones) {
        return false;
    }
    for (size_t v = 0; v < m->vertex_count; v++) {
        ones[v * INFLUENCE_COUNT] = 1.0F;
    }
    for (int r = -1; r < RUNS; r++) { // the first is a warm-up
        double skin_time = time_skin(m, c, c->one_influence ? ones : m->weights, repeats);
        double copy_time = time_copy(m, moved, repeats);
        if (r >= 0) {
            skin_times[r] = skin_time;
            copy_times[r] = copy_time;
        }
    }
    free(ones);
    qsort(skin_times, RUNS, sizeof skin_times[0], compare_numbers);
    qsort(copy_times, RUNS, sizeof copy_times[0], compare_numbers);
    double skin_median = skin_times[RUNS / 2];
    double copy_median = copy_times[RUNS / 2];
    printf("%s\n    {\"vertices\": %u, \"case\": \"%s\", \"runs\": %d, \"ns_per_vertex\": %.3f, \"ns_per_vertex_min\": "
           "%.3f, "
           "\"ns_per_vertex_max\": %.3f, \"bytes_per_vertex\": %zu, \"gb_per_s\": %.3f, \"copy_ns_per_vertex\": %.3f, "
           "\"copy_gb_per_s\": %.3f, \"share_of_copy_bandwidth\": %.4f}",
           is_first ? "" : ",", m->vertex_count, c->name, RUNS, skin_median / n, skin_times[0] / n,
           skin_times[RUNS - 1] / n, bytes_read(c) + bytes_written(c), (double)moved / skin_median, copy_median / n,
           (double)moved / copy_median, copy_median / skin_median);
    return true;
}

int main(void)
{
    const uint32_t sizes[] = {4000, 20000, 1000000};
    bool done = true;
    printf(
        "{\"schema\": \"pelt/bench-skin/1\", \"kernel\": \"scalar\", \"influences\": %d, \"joints\": %d, \"rows\": [",
        INFLUENCE_COUNT, JOINT_COUNT);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0] && done; s++) {
        mesh m;
        done = mesh_create(&m, sizes[s]);
        for (size_t c = 0; c < sizeof cases / sizeof cases[0] && done; c++) {
            done = run_case(&m, &cases[c], s == 0 && c == 0);
        }
        mesh_destroy(&m);
    }
    printf("\n]}\n");
    return done ? 0 : 1;
}

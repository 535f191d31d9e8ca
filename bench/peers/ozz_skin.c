// SPDX-License-Identifier: MIT
// ozz-animation's skinning on a scene's mesh: streams as tight as it takes them, or the caller's vertices where the
// scene has those.
#include "ozz_bench.h"

#include "bench_skin.h"

#include <string.h>

enum {
    SORTED_JOBS = 4 // of vertices with 1 to 4 influences
};

// A contender's own.
typedef struct skin_work {
    bench_mesh mesh;       // in the order of the jobs
    bench_mesh directions; // the same with tangents as normals: both go through the same matrices
    uint32_t job_count;
    bool failed; // a job was refused
    ozz_skin_job jobs[SORTED_JOBS];
    bench_output out;
    bench_output out_directions;
} skin_work;

static void run(bench_contender *self)
{
    skin_work *w = self->work;
    for (uint32_t i = 0; i < w->job_count; i++) {
        w->failed = !ozz_skin(&w->jobs[i]) || w->failed;
    }
}

static bool check(bench_contender *self)
{
    const skin_work *w = self->work;
    return !w->failed && bench_check_skin(&w->mesh, &w->out) &&
           (!w->out_directions.normals || bench_check_skin(&w->directions, &w->out_directions));
}

// Column-major, of row-major matrices without projection.
static void inverse_transpose(const float *rows, float *out)
{
    double cofactors[9];
    double determinant = 0;
    for (int r = 0; r < 3; r++) {
        const float *a = rows + 4 * ((r + 1) % 3);
        const float *b = rows + 4 * ((r + 2) % 3);
        for (int c = 0; c < 3; c++) {
            int i = (c + 1) % 3;
            int j = (c + 2) % 3;
            cofactors[3 * r + c] = (double)a[i] * (double)b[j] - (double)a[j] * (double)b[i];
        }
    }
    for (int c = 0; c < 3; c++) {
        determinant += (double)rows[c] * cofactors[c];
    }
    for (int k = 0; k < 16; k++) {
        int r = k % 4;
        int c = k / 4;
        out[k] = r < 3 && c < 3 ? (float)(cofactors[3 * r + c] / determinant) : k == 15 ? 1.0F : 0.0F;
    }
}

static float *make_inverse_transposes(bench_setup *setup, const bench_palette *palette)
{
    float *out = bench_allocate(&setup->memory, palette->count, 16 * sizeof *out);
    for (size_t j = 0; out && j < palette->count; j++) {
        inverse_transpose(palette->rows + 16 * j, out + 16 * j);
    }
    return out;
}

// ---- inputs

// Joints, weights and tangents of `used` influences, three floats a tangent, without gaps.
static bool set_tight_inputs(bench_setup *setup, const bench_mesh *mesh, uint32_t used, ozz_skin_job *job)
{
    size_t n = mesh->vertex_count;
    size_t weight_count = used - 1;
    uint16_t *joints = bench_allocate(&setup->memory, n * used, sizeof *joints);
    float *weights = bench_allocate(&setup->memory, n * weight_count, sizeof *weights);
    float *tangents = bench_allocate(&setup->memory, 3 * n, sizeof *tangents);
    if (!joints || !weights || !tangents) {
        return false;
    }
    for (size_t v = 0; v < n; v++) {
        memcpy(joints + used * v, mesh->joints + mesh->slot_count * v, used * sizeof *joints);
        memcpy(weights + weight_count * v, mesh->weights + mesh->slot_count * v, weight_count * sizeof *weights);
        memcpy(tangents + 3 * v, mesh->tangents + 4 * v, 3 * sizeof *tangents);
    }
    uint32_t directions = setup->scene->directions;
    job->joints = joints;
    job->weights = weights;
    job->positions = mesh->positions;
    job->normals = directions > 0 ? mesh->normals : NULL;
    job->tangents = directions > 1 ? tangents : NULL;
    job->joints_stride = used * sizeof *joints;
    job->weights_stride = weight_count * sizeof *weights;
    job->positions_stride = 3 * sizeof(float);
    job->normals_stride = 3 * sizeof(float);
    job->tangents_stride = 3 * sizeof(float);
    return true;
}

static void set_interleaved_inputs(const bench_mesh *mesh, ozz_skin_job *job)
{
    pelt_skin_job inputs = {0};
    bench_mesh_inputs(mesh, BENCH_INPUT_INTERLEAVED, &inputs);
    job->joints = inputs.joints;
    job->weights = inputs.weights;
    job->positions = inputs.positions;
    job->normals = inputs.normals;
    job->tangents = inputs.tangents;
    job->joints_stride = inputs.joints_stride;
    job->weights_stride = inputs.weights_stride;
    job->positions_stride = inputs.positions_stride;
    job->normals_stride = inputs.normals_stride;
    job->tangents_stride = inputs.tangents_stride;
}

static bool set_outputs(bench_setup *setup, ozz_skin_job *job)
{
    size_t n = job->vertex_count;
    bool interleaved = setup->scene->input == BENCH_INPUT_INTERLEAVED;
    size_t stride = interleaved ? BENCH_OUTPUT_SIZE : 3 * sizeof(float);
    job->out_positions = bench_allocate(&setup->memory, n, stride);
    job->out_positions_stride = stride;
    job->out_normals_stride = stride;
    job->out_tangents_stride = stride;
    if (interleaved && job->out_positions) {
        job->out_normals = job->out_positions + 3;
        job->out_tangents = job->out_positions + 8;
    } else if (!interleaved) {
        job->out_normals = job->normals ? bench_allocate(&setup->memory, n, stride) : NULL;
        job->out_tangents = job->tangents ? bench_allocate(&setup->memory, n, stride) : NULL;
    }
    return job->out_positions && (job->out_normals || !job->normals) && (job->out_tangents || !job->tangents);
}

// ---- contenders

static void set_checks(skin_work *w, float *tangents, bench_normals by)
{
    const ozz_skin_job *job = &w->jobs[0];
    w->out = (bench_output){.positions = job->out_positions,
                            .normals = job->normals ? job->out_normals : NULL,
                            .positions_stride = job->out_positions_stride,
                            .normals_stride = job->out_normals_stride,
                            .by = by,
                            .any_length = true};
    w->out_directions = w->out;
    w->out_directions.normals = job->tangents ? job->out_tangents : NULL;
    w->directions = w->mesh;
    w->directions.normals = tangents;
}

// One job for all vertices.
static skin_work *add_work(bench_setup *setup, const bench_mesh *mesh, const float *inverse_transposes)
{
    skin_work *w = bench_allocate(&setup->memory, 1, sizeof *w);
    float *tangents = bench_allocate(&setup->memory, 3 * (uint64_t)mesh->vertex_count, sizeof *tangents);
    if (!w || !tangents) {
        return NULL;
    }
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        memcpy(tangents + 3 * v, mesh->tangents + 4 * v, 3 * sizeof *tangents);
    }
    *w = (skin_work){.mesh = *mesh, .job_count = 1};
    ozz_skin_job *job = &w->jobs[0];
    job->vertex_count = mesh->vertex_count;
    job->influence_count = setup->scene->shape.influence_count;
    job->matrix_count = mesh->palette->count;
    job->matrices = mesh->palette->columns;
    job->inverse_transposes = inverse_transposes;
    if (setup->scene->input == BENCH_INPUT_INTERLEAVED) {
        set_interleaved_inputs(mesh, job);
    } else if (!set_tight_inputs(setup, mesh, job->influence_count, job)) {
        return NULL;
    }
    if (!set_outputs(setup, job)) {
        return NULL;
    }
    set_checks(w, tangents, inverse_transposes ? BENCH_NORMALS_INVERSE_TRANSPOSES : BENCH_NORMALS_MATRIX);
    return w;
}

static bool add_contender(bench_setup *setup, const char *name, skin_work *w)
{
    if (!w) {
        return false;
    }
    bench_contender *c = bench_add(setup, BENCH_BASELINE, name, 1);
    c->run = run;
    c->check = check;
    c->work = w;
    c->bytes_read = 0;
    c->bytes_written = 0;
    for (uint32_t i = 0; i < w->job_count; i++) {
        const ozz_skin_job *job = &w->jobs[i];
        uint64_t vectors = 1 + (uint64_t)(job->normals != NULL) + (uint64_t)(job->tangents != NULL);
        uint64_t influences = sizeof(uint16_t) * job->influence_count + sizeof(float) * (job->influence_count - 1);
        c->bytes_read += job->vertex_count * (3 * sizeof(float) * vectors + influences);
        c->bytes_written += job->vertex_count * 3 * sizeof(float) * vectors;
    }
    return true;
}

// ---- vertices sorted by their numbers of influences

static uint32_t influences_of(const bench_mesh *mesh, size_t vertex)
{
    uint32_t count = mesh->slot_count;
    while (count > 1 && mesh->weights[mesh->slot_count * vertex + count - 1] == 0.0F) {
        count--;
    }
    return count;
}

static void copy_vertex(const bench_mesh *from, size_t v, bench_mesh *to, size_t at)
{
    size_t slots = from->slot_count;
    memcpy(to->positions + 3 * at, from->positions + 3 * v, 3 * sizeof(float));
    memcpy(to->normals + 3 * at, from->normals + 3 * v, 3 * sizeof(float));
    memcpy(to->tangents + 4 * at, from->tangents + 4 * v, 4 * sizeof(float));
    memcpy(to->joints + slots * at, from->joints + slots * v, slots * sizeof(uint16_t));
    memcpy(to->weights + slots * at, from->weights + slots * v, slots * sizeof(float));
}

static bool sort_mesh(bench_setup *setup, const bench_mesh *mesh, bench_mesh *out, uint32_t counts[SORTED_JOBS])
{
    uint64_t n = mesh->vertex_count;
    *out = *mesh;
    out->positions = bench_allocate(&setup->memory, 3 * n, sizeof(float));
    out->normals = bench_allocate(&setup->memory, 3 * n, sizeof(float));
    out->tangents = bench_allocate(&setup->memory, 4 * n, sizeof(float));
    out->joints = bench_allocate(&setup->memory, n * mesh->slot_count, sizeof(uint16_t));
    out->weights = bench_allocate(&setup->memory, n * mesh->slot_count, sizeof(float));
    if (!out->positions || !out->normals || !out->tangents || !out->joints || !out->weights) {
        return false;
    }
    size_t at = 0;
    for (uint32_t used = 1; used <= SORTED_JOBS; used++) {
        size_t first = at;
        for (size_t v = 0; v < n; v++) {
            if (influences_of(mesh, v) == used) {
                copy_vertex(mesh, v, out, at++);
            }
        }
        counts[used - 1] = (uint32_t)(at - first);
    }
    return true;
}

static bench_mesh part_of(const bench_mesh *mesh, size_t first, uint32_t count)
{
    bench_mesh part = *mesh;
    part.vertex_count = count;
    part.positions += 3 * first;
    part.normals += 3 * first;
    part.tangents += 4 * first;
    part.joints += mesh->slot_count * first;
    part.weights += mesh->slot_count * first;
    return part;
}

// Outputs are those of one job for all vertices, in parts.
static bool add_sorted(bench_setup *setup, const bench_mesh *mesh, const char *name, const float *inverse_transposes)
{
    uint32_t counts[SORTED_JOBS];
    bench_mesh sorted;
    skin_work *w = sort_mesh(setup, mesh, &sorted, counts) ? add_work(setup, &sorted, inverse_transposes) : NULL;
    if (!w) {
        return false;
    }
    const ozz_skin_job whole = w->jobs[0];
    size_t first = 0;
    w->job_count = 0;
    for (uint32_t used = 1; used <= SORTED_JOBS; used++) {
        uint32_t count = counts[used - 1];
        if (count == 0) {
            continue;
        }
        ozz_skin_job *job = &w->jobs[w->job_count++];
        const bench_mesh part = part_of(&sorted, first, count);
        *job = whole;
        job->vertex_count = count;
        job->influence_count = used;
        if (!set_tight_inputs(setup, &part, used, job)) {
            return false;
        }
        job->out_positions += 3 * first;
        job->out_normals += 3 * first;
        job->out_tangents += 3 * first;
        first += count;
    }
    return add_contender(setup, name, w);
}

bool ozz_add_skinners(bench_setup *setup)
{
    const bench_skin_data *d = setup->data;
    const bench_mesh *mesh = &d->meshes[0];
    const float *transposes = make_inverse_transposes(setup, mesh->palette);
    bool ok = transposes && add_contender(setup, OZZ_NAME, add_work(setup, mesh, NULL));
    if (ok && setup->scene->directions > 0) {
        ok = add_contender(setup, OZZ_TRANSPOSED_NAME, add_work(setup, mesh, transposes));
    }
    if (ok && setup->scene->shape.mixed) {
        ok = add_sorted(setup, mesh, OZZ_SORTED_NAME, NULL) &&
             add_sorted(setup, mesh, OZZ_SORTED_TRANSPOSED_NAME, transposes);
    }
    return ok;
}

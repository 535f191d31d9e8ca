// SPDX-License-Identifier: MIT
// Memory, palettes and vertex streams of benches.
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE // madvise
#endif

#include "bench_mesh.h"

#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

enum {
    PAGE = 4096,
    LARGE_PAGE = 1 << 21,
    STAGGER = 13 * 64 // 64 distances within a page before one comes back
};

typedef struct block_head {
    void *next;
} block_head;

// Streams of many megabytes lie in large pages where the system has them: else finding pages takes a third of the time.
static unsigned char *allocate_pages(size_t size)
{
    size_t page = size < 2 * (size_t)LARGE_PAGE ? PAGE : LARGE_PAGE;
    size_t whole = (size + page - 1) / page * page;
    unsigned char *bytes = aligned_alloc(page, whole);
#if defined(__linux__)
    if (bytes && page == LARGE_PAGE) {
        (void)madvise(bytes, whole, MADV_HUGEPAGE);
    }
#endif
    return bytes;
}

void *bench_allocate(bench_memory *memory, uint64_t count, size_t size)
{
    uint64_t most = SIZE_MAX / 2;
    if (size > 0 && count > most / size) {
        return NULL;
    }
    size_t offset = PAGE + memory->block_count * (size_t)STAGGER % PAGE;
    size_t whole = ((size_t)count * size + offset + PAGE) / PAGE * PAGE;
    unsigned char *bytes = allocate_pages(whole);
    if (!bytes) {
        return NULL;
    }
    memset(bytes, 0, whole);
    block_head *head = (block_head *)(void *)bytes;
    head->next = memory->blocks;
    memory->blocks = head;
    memory->block_count++;
    return bytes + offset;
}

void bench_release(bench_memory *memory)
{
    for (block_head *head = memory->blocks; head;) {
        block_head *next = head->next;
        free(head);
        head = next;
    }
    *memory = (bench_memory){0};
}

bool bench_palette_fill(bench_memory *memory, const pelt_mat34 *matrices, uint32_t count, bench_palette *out)
{
    *out = (bench_palette){.count = count};
    out->rows = bench_allocate(memory, count, 16 * sizeof(float));
    out->columns = bench_allocate(memory, count, 16 * sizeof(float));
    if (!out->rows || !out->columns) {
        return false;
    }
    for (size_t j = 0; j < count; j++) {
        for (size_t r = 0; r < 4; r++) {
            for (size_t c = 0; c < 4; c++) {
                float x = r < 3 ? matrices[j].m[r][c] : c == 3 ? 1.0F : 0.0F;
                out->rows[16 * j + 4 * r + c] = x;
                out->columns[16 * j + 4 * c + r] = x;
            }
        }
    }
    return true;
}

static float *copy_floats(bench_memory *memory, const float *from, uint64_t count, bool *ok)
{
    float *to = from ? bench_allocate(memory, count, sizeof *to) : NULL;
    if (to && count > 0) {
        memcpy(to, from, (size_t)count * sizeof *to);
    }
    *ok = *ok && (to || !from);
    return to;
}

bool bench_mesh_fill(bench_memory *memory, const pelt_primitive *source, bool rigid, const bench_palette *palette,
                     bench_mesh *out)
{
    uint64_t n = source->vertex_count;
    uint32_t used = rigid ? 0 : source->influence_count;
    bool ok = true;
    *out = (bench_mesh){.palette = palette,
                        .vertex_count = source->vertex_count,
                        .slot_count = used <= 4 ? 4 : (used + 3) / 4 * 4,
                        .rigid = used == 0};
    out->positions = copy_floats(memory, source->positions, 3 * n, &ok);
    out->normals = copy_floats(memory, source->normals, 3 * n, &ok);
    out->tangents = copy_floats(memory, source->tangents, 4 * n, &ok);
    out->joints = bench_allocate(memory, n * out->slot_count, sizeof *out->joints);
    out->weights = bench_allocate(memory, n * out->slot_count, sizeof *out->weights);
    ok = ok && out->joints && out->weights;
    for (size_t v = 0; ok && v < n; v++) {
        for (size_t i = 0; i < used; i++) {
            out->joints[v * out->slot_count + i] = source->joints[v * used + i];
            out->weights[v * out->slot_count + i] = source->weights[v * used + i];
        }
        if (used == 0) {
            out->weights[v * out->slot_count] = 1.0F;
        }
    }
    return ok;
}

bool bench_mesh_add_runs(bench_memory *memory, bench_mesh *mesh)
{
    if (mesh->rigid || (mesh->slot_count != 4 && mesh->slot_count != 8)) {
        return true;
    }
    uint64_t run_count = (uint64_t)mesh->vertex_count / PELT_RUN_STEP + 1;
    pelt_joint_runs_job job = {
        .vertex_count = mesh->vertex_count,
        .influence_count = mesh->slot_count,
        .joints = mesh->joints,
        .weights = mesh->weights,
        .runs = bench_allocate(memory, run_count, sizeof(pelt_run)),
        .run_joints = bench_allocate(memory, run_count * PELT_RUN_JOINTS, sizeof(uint16_t)),
        .local_joints = bench_allocate(memory, (uint64_t)mesh->vertex_count * mesh->slot_count, sizeof(uint16_t)),
    };
    if (!job.runs || !job.run_joints || !job.local_joints) {
        return false;
    }
    mesh->run_joints = job.local_joints;
    mesh->has_runs = pelt_joint_runs_build(&job, &mesh->runs) == PELT_OK;
    return mesh->has_runs;
}

bool bench_mesh_interleave(bench_memory *memory, bench_mesh *mesh)
{
    mesh->interleaved = bench_allocate(memory, mesh->vertex_count, BENCH_VERTEX_SIZE);
    for (size_t v = 0; mesh->interleaved && v < mesh->vertex_count; v++) {
        uint8_t *to = mesh->interleaved + BENCH_VERTEX_SIZE * v;
        memcpy(to, mesh->positions + 3 * v, 12);
        memcpy(to + 12, mesh->normals + 3 * v, 12);
        memcpy(to + 24, mesh->tangents + 4 * v, 16);
        memcpy(to + 40, mesh->joints + 4 * v, 8);
        memcpy(to + 48, mesh->weights + 4 * v, 16);
    }
    return mesh->interleaved != NULL;
}

static const float *floats_at(const uint8_t *vertices, size_t offset)
{
    return (const float *)(const void *)(vertices + offset);
}

void bench_mesh_inputs(const bench_mesh *mesh, bench_input input, pelt_skin_job *job)
{
    job->palette_count = mesh->palette->count;
    job->palette = (const pelt_mat34 *)(const void *)mesh->palette->rows;
    job->palette_stride = 16 * sizeof(float);
    if (input == BENCH_INPUT_PACKED) {
        pelt_skin_job_set_packed(job, &mesh->packed);
        return;
    }
    bool with_runs = input == BENCH_INPUT_RUNS && mesh->has_runs;
    job->vertex_count = mesh->vertex_count;
    job->influence_count = mesh->rigid ? 0 : mesh->slot_count;
    job->joints = with_runs ? (const void *)mesh->run_joints : mesh->joints;
    job->weights = mesh->weights;
    job->runs = with_runs ? &mesh->runs : NULL;
    job->joint_bound = mesh->palette->count;
    job->positions = mesh->positions;
    job->normals = mesh->normals;
    job->tangents = mesh->tangents;
    if (input == BENCH_INPUT_INTERLEAVED) {
        job->positions = floats_at(mesh->interleaved, 0);
        job->normals = floats_at(mesh->interleaved, 12);
        job->tangents = floats_at(mesh->interleaved, 24);
        job->joints = mesh->interleaved + 40;
        job->weights = floats_at(mesh->interleaved, 48);
        job->positions_stride = BENCH_VERTEX_SIZE;
        job->normals_stride = BENCH_VERTEX_SIZE;
        job->tangents_stride = BENCH_VERTEX_SIZE;
        job->joints_stride = BENCH_VERTEX_SIZE;
        job->weights_stride = BENCH_VERTEX_SIZE;
    }
}

uint64_t bench_mesh_bytes(const bench_mesh *mesh, bench_input input, uint32_t directions)
{
    uint64_t n = mesh->vertex_count;
    uint64_t normals = directions > 0 && mesh->normals ? n : 0;
    uint64_t tangents = directions > 1 && mesh->tangents ? n : 0;
    if (input == BENCH_INPUT_PACKED) {
        const pelt_joint_runs *runs = &mesh->packed.runs;
        uint64_t influences = mesh->packed.weights ? 4 * n + runs->joints_size : 0;
        return 12 * n + 4 * normals + 4 * tangents + influences + 4 * (uint64_t)runs->extra_count;
    }
    bool with_runs = input == BENCH_INPUT_RUNS && mesh->has_runs;
    uint64_t joints = with_runs ? mesh->runs.joints_size : sizeof(uint16_t) * n * mesh->slot_count;
    uint64_t influences = mesh->rigid ? 0 : joints + sizeof(float) * n * mesh->slot_count;
    return 12 * n + 12 * normals + 16 * tangents + influences;
}

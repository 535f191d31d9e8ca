// SPDX-License-Identifier: MIT
// Contenders of scenes of meshes: every kernel and the plain structure on the same inputs, each with outputs of its
// own.
#include "bench_skin.h"

#include "baselines.h"

// A contender's own.
typedef struct skin_work {
    const bench_skin_data *data;
    bool failed;         // a kernel refused a job
    pelt_skin_job *jobs; // of a kernel, one for each mesh
    pelt_box *boxes;     // of a kernel with the box
    baseline_skin_job *plain;
    bench_output *outputs; // one for each mesh
} skin_work;

static void run_kernel(bench_contender *self)
{
    skin_work *w = self->work;
    for (uint32_t i = 0; i < w->data->mesh_count; i++) {
        w->failed = pelt_skin_evaluate(&w->jobs[i]) != PELT_OK || w->failed;
    }
}

static void run_plain(bench_contender *self)
{
    const skin_work *w = self->work;
    for (uint32_t i = 0; i < w->data->mesh_count; i++) {
        baseline_plain_skin(&w->plain[i]);
    }
}

static bool check_outputs(bench_contender *self)
{
    const skin_work *w = self->work;
    bool fits = !w->failed;
    for (uint32_t i = 0; fits && i < w->data->mesh_count; i++) {
        fits = bench_check_skin(&w->data->meshes[i], &w->outputs[i]);
    }
    return fits;
}

// ---- outputs

// Streams of one contender, for all meshes one after the other, each mesh from a cache line's start.
typedef struct out_streams {
    char *positions;
    char *normals;
    char *tangents;
    size_t at[3];
} out_streams;

static uint64_t lines(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static bool allocate_streams(bench_setup *setup, const bench_skin_data *d, bool interleaved, bool packed,
                             out_streams *out)
{
    uint64_t sizes[3] = {0};
    for (uint32_t i = 0; i < d->mesh_count; i++) {
        uint64_t n = d->meshes[i].vertex_count;
        sizes[0] += lines(n * (interleaved ? BENCH_OUTPUT_SIZE : 12));
        sizes[1] += lines(n * (packed ? 4 : 12));
        sizes[2] += lines(n * (packed ? 4 : 16));
    }
    uint32_t directions = setup->scene->directions;
    *out = (out_streams){.positions = bench_allocate(&setup->memory, sizes[0], 1)};
    if (!interleaved && directions > 0) {
        out->normals = bench_allocate(&setup->memory, sizes[1], 1);
    }
    if (!interleaved && directions > 1) {
        out->tangents = bench_allocate(&setup->memory, sizes[2], 1);
    }
    return out->positions && (interleaved || ((directions < 1 || out->normals) && (directions < 2 || out->tangents)));
}

static bench_output next_output(const bench_setup *setup, const bench_mesh *mesh, bool interleaved, bool packed,
                                out_streams *s)
{
    size_t n = mesh->vertex_count;
    bool normals = setup->scene->directions > 0 && mesh->normals;
    bool tangents = setup->scene->directions > 1 && mesh->tangents;
    char *at = s->positions + s->at[0];
    bench_output out = {.packed = packed, .positions = (const float *)(const void *)at};
    if (interleaved) {
        out.positions_stride = BENCH_OUTPUT_SIZE;
        out.normals_stride = BENCH_OUTPUT_SIZE;
        out.tangents_stride = BENCH_OUTPUT_SIZE;
        out.normals = normals ? at + 12 : NULL;
        out.tangents = tangents ? at + 32 : NULL;
        s->at[0] += (size_t)lines(n * BENCH_OUTPUT_SIZE);
        return out;
    }
    out.positions_stride = 12;
    out.normals_stride = packed ? 4 : 12;
    out.tangents_stride = packed ? 4 : 16;
    out.normals = normals ? s->normals + s->at[1] : NULL;
    out.tangents = tangents ? s->tangents + s->at[2] : NULL;
    s->at[0] += (size_t)lines(n * 12);
    s->at[1] += (size_t)lines(n * out.normals_stride);
    s->at[2] += (size_t)lines(n * out.tangents_stride);
    return out;
}

static skin_work *add_work(bench_setup *setup, bool packed)
{
    const bench_skin_data *d = setup->data;
    bool interleaved = setup->scene->input == BENCH_INPUT_INTERLEAVED;
    out_streams streams;
    skin_work *w = bench_allocate(&setup->memory, 1, sizeof *w);
    bench_output *outputs = bench_allocate(&setup->memory, d->mesh_count, sizeof *outputs);
    if (!w || !outputs || !allocate_streams(setup, d, interleaved, packed, &streams)) {
        return NULL;
    }
    for (uint32_t i = 0; i < d->mesh_count; i++) {
        outputs[i] = next_output(setup, &d->meshes[i], interleaved, packed, &streams);
    }
    *w = (skin_work){.data = d, .outputs = outputs};
    return w;
}

// The streams were allocated here as what can be written.
static void *writable(const void *stream)
{
    return (void *)(uintptr_t)stream;
}

// ---- contenders

static bool add_kernel(bench_setup *setup, pelt_isa isa, uint32_t threads, bool box)
{
    const bench_scene *scene = setup->scene;
    const bench_skin_data *d = setup->data;
    skin_work *w = add_work(setup, scene->packed_output);
    if (!w) {
        return false;
    }
    w->jobs = bench_allocate(&setup->memory, d->mesh_count, sizeof *w->jobs);
    w->boxes = bench_allocate(&setup->memory, d->mesh_count, sizeof *w->boxes);
    if (!w->jobs || !w->boxes) {
        return false;
    }
    for (uint32_t i = 0; i < d->mesh_count; i++) {
        bench_output *out = &w->outputs[i];
        pelt_skin_job job = {
            .out_positions = writable(out->positions),
            .out_normals = writable(out->normals),
            .out_tangents = writable(out->tangents),
            .out_positions_stride = out->positions_stride,
            .out_normals_stride = out->normals_stride,
            .out_tangents_stride = out->tangents_stride,
            .out_direction_format = out->packed ? PELT_DIRECTION_OCTAHEDRAL : PELT_DIRECTION_FLOAT,
            .box = box ? &w->boxes[i] : NULL,
            .isa = isa,
            .disabled_isas = setup->context->disabled_isas,
            .parallel = threads > 1 ? &setup->context->parallel : NULL,
        };
        bench_mesh_inputs(&d->meshes[i], scene->input, &job);
        w->jobs[i] = job;
        out->box = job.box;
    }
    char name[40];
    snprintf(name, sizeof name, "%s%s", pelt_isa_name(isa), box ? "" : ", no box");
    bench_contender *c = bench_add(setup, BENCH_KERNEL, name, threads);
    c->isa = isa;
    c->run = run_kernel;
    c->check = check_outputs;
    c->work = w;
    return true;
}

static const float *floats(const void *stream)
{
    return stream;
}

// Of packed scenes the plain structure takes the floats that the packed streams unpack to.
static bool add_plain(bench_setup *setup)
{
    const bench_scene *scene = setup->scene;
    const bench_skin_data *d = setup->data;
    skin_work *w = add_work(setup, false);
    if (!w) {
        return false;
    }
    w->plain = bench_allocate(&setup->memory, d->mesh_count, sizeof *w->plain);
    if (!w->plain) {
        return false;
    }
    bool interleaved = scene->input == BENCH_INPUT_INTERLEAVED;
    uint64_t read = 0;
    uint64_t written = 0;
    for (uint32_t i = 0; i < d->mesh_count; i++) {
        const bench_mesh *mesh = &d->meshes[i];
        bench_output *out = &w->outputs[i];
        pelt_skin_job inputs = {0};
        bench_mesh_inputs(mesh, interleaved ? BENCH_INPUT_INTERLEAVED : BENCH_INPUT_STREAMS, &inputs);
        out->by = BENCH_NORMALS_MATRIX;
        out->any_length = true;
        w->plain[i] = (baseline_skin_job){
            .vertex_count = mesh->vertex_count,
            .influence_count = mesh->slot_count,
            .palette = mesh->palette->columns,
            .joints = inputs.joints,
            .weights = floats(inputs.weights),
            .positions = inputs.positions,
            .normals = floats(inputs.normals),
            .tangents = floats(inputs.tangents),
            .joints_stride = interleaved ? inputs.joints_stride : 2 * (size_t)mesh->slot_count,
            .weights_stride = interleaved ? inputs.weights_stride : 4 * (size_t)mesh->slot_count,
            .positions_stride = interleaved ? inputs.positions_stride : 12,
            .normals_stride = interleaved ? inputs.normals_stride : 12,
            .tangents_stride = interleaved ? inputs.tangents_stride : 16,
            .out_positions = writable(out->positions),
            .out_normals = writable(out->normals),
            .out_tangents = writable(out->tangents),
            .out_positions_stride = out->positions_stride,
            .out_normals_stride = out->normals_stride,
            .out_tangents_stride = out->tangents_stride,
        };
        read += bench_mesh_bytes(mesh, BENCH_INPUT_STREAMS, scene->directions);
        written += bench_output_bytes(mesh, scene->directions, false);
    }
    bench_contender *c = bench_add(setup, BENCH_BASELINE, "plain", 1);
    c->bytes_read = read;
    c->bytes_written = written;
    c->run = run_plain;
    c->check = check_outputs;
    c->work = w;
    return true;
}

bool bench_add_skinners(bench_setup *setup)
{
    const bench_scene *scene = setup->scene;
    pelt_isa isas[PELT_ISA_COUNT];
    uint32_t isa_count = bench_isas(setup->context, isas);
    uint32_t threads = setup->context->parallel.worker_count;
    bool ok = true;
    for (uint32_t i = 0; ok && i < (scene->threaded ? 1 : isa_count); i++) {
        ok = add_kernel(setup, isas[i], 1, true);
    }
    if (ok && scene->threaded && threads > 1) {
        ok = add_kernel(setup, isas[0], threads, true);
    }
    if (ok && scene->box_cost) {
        ok = add_kernel(setup, isas[0], 1, false);
    }
    if (ok && baseline_plain_available()) {
        ok = add_plain(setup);
    }
    return ok && bench_add_ceilings(setup);
}

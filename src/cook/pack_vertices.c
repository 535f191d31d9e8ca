// SPDX-License-Identifier: MIT
// Chooses and packs the influences of each source vertex: the four largest in 32 bits, the others as 16-bit pairs.
#include "cook/cook_internal.h"

enum {
    CHUNK_SIZE = 8192, // vertices of a task: about 0.5 ms of work
    EXTRA_STEPS = 65535,
    DRIFT_LIMIT = 4 // steps
};

typedef struct pack_job {
    cook_primitive *p;
    pelt_extra_influence *extras; // NULL in the first pass
} pack_job;

// The four largest influences of a vertex, in the order of the source.
typedef struct picked {
    uint32_t slots[4]; // rising; PELT_NONE where there are fewer
    double sum;        // of all weights
} picked;

static const float *vertex_weights(const pelt_primitive *source, uint32_t vertex)
{
    return source->weights + (uint64_t)vertex * source->influence_count;
}

static const uint16_t *vertex_joints(const pelt_primitive *source, uint32_t vertex)
{
    return source->joints + (uint64_t)vertex * source->influence_count;
}

// Of equal weights the first are kept. The list is sorted by falling weight while it is made.
static void pick(const float *weights, uint32_t influence_count, picked *out)
{
    uint32_t best[5] = {0}; // the last is scratch
    uint32_t count = 0;
    out->sum = 0.0;
    for (uint32_t i = 0; i < influence_count; i++) {
        if (weights[i] == 0.0F) {
            continue;
        }
        out->sum += (double)weights[i];
        uint32_t at = count;
        for (; at > 0 && weights[best[at - 1]] < weights[i]; at--) {
            best[at] = best[at - 1];
        }
        best[at] = i;
        count += count < 4 ? 1 : 0;
    }
    for (uint32_t i = 1; i < count; i++) {
        uint32_t slot = best[i];
        uint32_t at = i;
        for (; at > 0 && best[at - 1] > slot; at--) {
            best[at] = best[at - 1];
        }
        best[at] = slot;
    }
    for (uint32_t i = 0; i < 4; i++) {
        out->slots[i] = i < count ? best[i] : PELT_NONE;
    }
}

// Returns how many influences that were not picked get a code, and writes them unless out is NULL. Each code is the
// nearest; but the first four weigh one minus the sum of them, so their errors must not add up: beyond DRIFT_LIMIT
// steps (never with up to eight extra influences) a code is rounded the other way. That keeps the sum below one too:
// the first four, not smaller than any other, have more than DRIFT_LIMIT steps unless nearly every code is exact.
static uint32_t pack_extras(const pelt_primitive *source, uint32_t vertex, const picked *four,
                            pelt_extra_influence *out)
{
    const float *weights = vertex_weights(source, vertex);
    const uint16_t *joints = vertex_joints(source, vertex);
    uint32_t count = 0;
    uint32_t next_slot = 0;
    uint32_t left = EXTRA_STEPS - 1;
    double drift = 0.0;
    for (uint32_t i = 0; i < source->influence_count; i++) {
        if (next_slot < 4 && four->slots[next_slot] == i) {
            next_slot++;
            continue;
        }
        double exact = (double)weights[i] * (double)EXTRA_STEPS / four->sum;
        uint32_t code = (uint32_t)(exact + 0.5);
        double error = (double)code - exact;
        if (drift + error > DRIFT_LIMIT && code > 0) {
            code--;
        } else if (drift + error < -DRIFT_LIMIT) {
            code++;
        }
        code = code < left ? code : left;
        drift += (double)code - exact;
        left -= code;
        if (code > 0) {
            if (out) {
                out[count] = (pelt_extra_influence){joints[i], (uint16_t)code};
            }
            count++;
        }
    }
    return count;
}

// The class counts non-zero packed weights, so it is what a kernel has to load.
static void pack_first_four(const pelt_primitive *source, uint32_t vertex, pelt_weight_encoding encoding,
                            const picked *four, cook_vertex *out)
{
    const float *weights = vertex_weights(source, vertex);
    const uint16_t *joints = vertex_joints(source, vertex);
    float largest[4] = {0};
    for (uint32_t i = 0; i < 4 && four->slots[i] != PELT_NONE; i++) {
        largest[i] = weights[four->slots[i]];
    }
    uint8_t order[4];
    float packed[4];
    out->code = pelt_weights_encode(encoding, largest, order);
    pelt_weights_decode(encoding, out->code, packed);
    uint32_t used = 0;
    uint32_t heaviest = 3;
    for (uint32_t slot = 0; slot < 4; slot++) {
        uint32_t from = four->slots[order[slot]];
        // A remainder of plain weights may lie on a slot without an influence: joint 0, as in the source.
        out->joints[slot] = from != PELT_NONE ? joints[from] : 0;
        heaviest = packed[slot] > packed[heaviest] ? slot : heaviest;
        used += packed[slot] != 0.0F ? 1 : 0;
    }
    for (uint32_t slot = 0; slot < 4; slot++) {
        out->joints[slot] = out->joints[packed[slot] != 0.0F ? slot : heaviest];
    }
    out->class_index = (uint8_t)(out->extra_count > 0 ? 4 : used - 1);
}

static void pack_task(void *context, uint32_t task_index)
{
    const pack_job *job = context;
    const pelt_primitive *source = job->p->source;
    uint32_t first = task_index * CHUNK_SIZE;
    uint32_t count = source->vertex_count - first < CHUNK_SIZE ? source->vertex_count - first : CHUNK_SIZE;
    for (uint32_t v = first; v < first + count; v++) {
        cook_vertex *vertex = &job->p->vertices[v];
        if (job->extras && vertex->extra_count == 0) {
            continue;
        }
        picked four;
        pick(vertex_weights(source, v), source->influence_count, &four);
        if (job->extras) {
            pack_extras(source, v, &four, job->extras + vertex->first_extra);
        } else {
            // At most EXTRA_STEPS - 1, as each takes a step at least.
            vertex->extra_count = (uint16_t)(source->influence_count > 4 ? pack_extras(source, v, &four, NULL) : 0);
            pack_first_four(source, v, job->p->options->weights, &four, vertex);
        }
    }
}

static pelt_result fail_memory(pelt_error *error)
{
    return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory while packing vertices");
}

pelt_result pelti_cook_pack_vertices(cook_primitive *p, pelt_error *error)
{
    const pelt_primitive *source = p->source;
    p->vertices = NULL;
    p->source_extras = NULL;
    if (source->influence_count == 0) {
        return PELT_OK;
    }
    p->vertices = pelti_cook_allocate(p->arena, source->vertex_count, sizeof *p->vertices);
    if (!p->vertices) {
        return fail_memory(error);
    }
    pack_job job = {p, NULL};
    uint32_t task_count = (uint32_t)(((uint64_t)source->vertex_count + CHUNK_SIZE - 1) / CHUNK_SIZE);
    pelti_parallel_run(p->options->parallel, task_count, pack_task, &job);
    uint64_t extra_count = 0;
    for (uint32_t v = 0; v < source->vertex_count; v++) {
        p->vertices[v].first_extra = (uint32_t)extra_count;
        extra_count += p->vertices[v].extra_count;
        if (extra_count > UINT32_MAX) {
            return pelti_fail(error, PELT_ERROR_LIMIT, "",
                              "mesh %u, primitive %u: over %u influences beyond the first four of a vertex",
                              p->out.mesh, p->out.primitive, UINT32_MAX);
        }
    }
    job.extras = pelti_cook_allocate(p->arena, extra_count, sizeof *job.extras);
    if (!job.extras) {
        return fail_memory(error);
    }
    p->source_extras = job.extras;
    if (extra_count > 0) {
        pelti_parallel_run(p->options->parallel, task_count, pack_task, &job);
    }
    return PELT_OK;
}

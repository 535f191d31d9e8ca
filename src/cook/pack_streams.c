// SPDX-License-Identifier: MIT
// Emits the streams of a primitive in cooked order: geometry, static attributes and indices. pack_joints.c emits what
// skinning reads beside them.
#include "cook/pack.h"

enum {
    CHUNK_SIZE = 8192 // vertices of a task
};

// Streams in the making; the same arrays as in cook_primitive.out, to be written.
typedef struct stream_job {
    const pelt_primitive *source;
    const uint32_t *source_vertices;
    uint32_t vertex_count;
    float *positions;
    uint32_t *normals;
    uint32_t *tangents;
    uint32_t attribute_count;
    const pelt_attribute *source_attributes;
    const pelt_attribute *attributes;
} stream_job;

pelt_result pelti_cook_fail_memory(pelt_error *error)
{
    return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory while packing");
}

static void copy_element(unsigned char *out, const unsigned char *from, uint32_t size)
{
    switch (size) { // sizes that compilers turn into one move
    case 4:
        memcpy(out, from, 4);
        break;
    case 8:
        memcpy(out, from, 8);
        break;
    case 16:
        memcpy(out, from, 16);
        break;
    default:
        memcpy(out, from, size);
    }
}

static void pack_attribute(const stream_job *job, uint32_t index, uint32_t first, uint32_t last)
{
    const pelt_attribute *from = &job->source_attributes[index];
    const pelt_attribute *to = &job->attributes[index];
    unsigned char *out = (unsigned char *)to->data;
    for (uint32_t v = first; v < last; v++) {
        uint64_t source = job->source_vertices[v];
        copy_element(out + (uint64_t)v * to->stride, (const unsigned char *)from->data + source * from->stride,
                     to->stride);
    }
}

static void pack_task(void *context, uint32_t task_index)
{
    const stream_job *job = context;
    const pelt_primitive *source = job->source;
    uint32_t first = task_index * CHUNK_SIZE;
    uint32_t last = job->vertex_count - first < CHUNK_SIZE ? job->vertex_count : first + CHUNK_SIZE;
    for (uint32_t v = first; v < last; v++) {
        memcpy(job->positions + (uint64_t)v * 3, source->positions + (uint64_t)job->source_vertices[v] * 3,
               3 * sizeof(float));
    }
    for (uint32_t v = first; job->normals && v < last; v++) {
        job->normals[v] = pelt_normal_encode(source->normals + (uint64_t)job->source_vertices[v] * 3);
    }
    for (uint32_t v = first; job->tangents && v < last; v++) {
        job->tangents[v] = pelt_tangent_encode(source->tangents + (uint64_t)job->source_vertices[v] * 4);
    }
    for (uint32_t i = 0; i < job->attribute_count; i++) {
        pack_attribute(job, i, first, last);
    }
}

static bool allocate_attributes(cook_primitive *p, stream_job *job)
{
    const pelt_primitive *source = p->source;
    pelt_attribute *attributes = pelti_cook_allocate(p->arena, source->attribute_count, sizeof *attributes);
    for (uint32_t i = 0; attributes && i < source->attribute_count; i++) {
        attributes[i] = source->attributes[i];
        attributes[i].stride = attributes[i].component_count * pelt_component_size(attributes[i].component);
        attributes[i].data = pelti_cook_allocate(p->arena, job->vertex_count, attributes[i].stride);
    }
    job->attribute_count = source->attribute_count;
    job->source_attributes = source->attributes;
    job->attributes = attributes;
    return !p->arena->failed;
}

static pelt_box box_of(const float *positions, uint32_t vertex_count)
{
    pelt_box box = pelt_box_empty();
    for (uint32_t v = 0; v < vertex_count; v++) {
        const float *position = positions + (uint64_t)v * 3;
        for (int k = 0; k < 3; k++) {
            box.min[k] = position[k] < box.min[k] ? position[k] : box.min[k];
            box.max[k] = position[k] > box.max[k] ? position[k] : box.max[k];
        }
    }
    return box;
}

static pelt_result pack_geometry(cook_primitive *p, pelt_error *error)
{
    const pelt_primitive *source = p->source;
    uint32_t count = p->out.vertex_count;
    stream_job job = {.source = source, .source_vertices = p->out.source_vertices, .vertex_count = count};
    job.positions = pelti_cook_allocate(p->arena, count, 3 * sizeof(float));
    job.normals = source->normals ? pelti_cook_allocate(p->arena, count, sizeof(uint32_t)) : NULL;
    job.tangents = source->tangents ? pelti_cook_allocate(p->arena, count, sizeof(uint32_t)) : NULL;
    if (!allocate_attributes(p, &job)) {
        return pelti_cook_fail_memory(error);
    }
    uint32_t task_count = (uint32_t)(((uint64_t)count + CHUNK_SIZE - 1) / CHUNK_SIZE);
    pelti_parallel_run(p->options->parallel, task_count, pack_task, &job);
    p->out.positions = job.positions;
    p->out.normals = job.normals;
    p->out.tangents = job.tangents;
    p->out.attribute_count = job.attribute_count;
    p->out.attributes = job.attributes;
    p->out.box = box_of(job.positions, count);
    return PELT_OK;
}

static bool is_identity(const cook_primitive *p)
{
    if (p->out.vertex_count != p->source->vertex_count) {
        return false;
    }
    for (uint32_t v = 0; v < p->out.vertex_count; v++) {
        if (p->out.source_vertices[v] != v) {
            return false;
        }
    }
    return true;
}

// cooked[source vertex]; PELT_NONE for dropped ones, which no index names.
static const uint32_t *invert_order(cook_primitive *p)
{
    uint32_t *cooked = pelti_cook_allocate(p->arena, p->source->vertex_count, sizeof *cooked);
    for (uint32_t v = 0; cooked && v < p->source->vertex_count; v++) {
        cooked[v] = PELT_NONE;
    }
    for (uint32_t v = 0; cooked && v < p->out.vertex_count; v++) {
        cooked[p->out.source_vertices[v]] = v;
    }
    return cooked;
}

// A primitive without indices keeps none while its vertices stay where they are; else the file's order becomes its
// indices.
static pelt_result pack_indices(cook_primitive *p, pelt_error *error)
{
    const uint32_t *from = p->source->indices;
    bool identity = is_identity(p);
    uint32_t count = from ? p->source->index_count : p->source->vertex_count;
    p->out.index_count = count;
    p->out.index_size = 0;
    p->out.indices = NULL;
    if (!from && identity) {
        return PELT_OK;
    }
    const uint32_t *cooked = identity ? NULL : invert_order(p);
    // 65535 is never written: with primitive restart it would cut strips.
    bool narrow = p->out.vertex_count <= UINT16_MAX;
    p->out.index_size = narrow ? sizeof(uint16_t) : sizeof(uint32_t);
    void *indices = pelti_cook_allocate(p->arena, count, p->out.index_size);
    if (p->arena->failed) {
        return pelti_cook_fail_memory(error);
    }
    uint16_t *out16 = indices;
    uint32_t *out32 = indices;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t vertex = from ? from[i] : i;
        vertex = cooked ? cooked[vertex] : vertex;
        if (narrow) {
            out16[i] = (uint16_t)vertex;
        } else {
            out32[i] = vertex;
        }
    }
    p->out.indices = indices;
    return PELT_OK;
}

pelt_result pelti_cook_pack_streams(cook_primitive *p, pelt_error *error)
{
    pelt_result result = pack_geometry(p, error);
    result = result == PELT_OK ? pelti_cook_pack_joints(p, error) : result;
    return result == PELT_OK ? pack_indices(p, error) : result;
}

// SPDX-License-Identifier: MIT
// Checks a skin job before anything is written: pointers, strides, overlap of what is written with what is read, and
// the joint range.
#include "skin/influences.h"

#include "base/base.h"

#include <math.h>

enum {
    OUTPUT_LIMIT = 5, // positions, normals, tangents, mirrored, box
    INPUT_LIMIT = 11  // palette, joints, weights, positions, normals, tangents, the morph list, runs and their lists
};

// Bytes that a job reads or writes: count elements of size bytes, stride bytes apart. At least one element.
typedef struct span {
    uint64_t begin;
    uint64_t end;
    uint64_t size;
    uint64_t stride;
    uint64_t count;
} span;

typedef struct span_list {
    uint32_t output_count;
    uint32_t input_count;
    span outputs[OUTPUT_LIMIT];
    span inputs[INPUT_LIMIT];
} span_list;

// False where the elements do not fit the address space.
static bool span_init(span *out, const void *data, uint64_t count, uint64_t size, uint64_t stride)
{
    uint64_t length = 0;
    out->begin = (uintptr_t)data;
    out->size = size;
    out->stride = stride;
    out->count = count;
    return pelti_mul(count - 1, stride, &length) && pelti_add(length, size, &length) &&
           pelti_add(out->begin, length, &out->end) && out->end <= UINTPTR_MAX;
}

// Whether two spans share a byte. Interleaved spans (one stride, or one element against many) are told apart by their
// offsets modulo the stride; spans of different strides that reach into each other are taken to collide, since no
// vertex layout needs them.
static bool span_overlaps(const span *a, const span *b)
{
    if (a->end <= b->begin || b->end <= a->begin) {
        return false;
    }
    if (a->count > 1 && b->count > 1 && a->stride != b->stride) {
        return true;
    }
    if (a->count == 1 && b->count == 1) {
        return true;
    }
    uint64_t stride = a->count > 1 ? a->stride : b->stride;
    uint64_t distance = b->begin >= a->begin ? b->begin - a->begin : a->begin - b->begin;
    uint64_t offset = distance % stride; // of the later element, in the period that the earlier one starts
    const span *early = b->begin >= a->begin ? a : b;
    const span *late = b->begin >= a->begin ? b : a;
    return offset < early->size || late->size > stride - offset;
}

static bool is_aligned(const void *data, size_t alignment)
{
    return (uintptr_t)data % alignment == 0;
}

// Fills in the tight stride. False for a stride that cannot hold the element or would break its alignment.
static bool resolve_stride(size_t *stride, uint64_t size, size_t alignment)
{
    if (*stride == 0) {
        *stride = (size_t)size;
        return size <= SIZE_MAX;
    }
    return *stride >= size && *stride % alignment == 0;
}

static bool is_packed(pelt_direction_format format)
{
    return format == PELT_DIRECTION_OCTAHEDRAL;
}

static uint64_t direction_size(pelt_direction_format format, uint64_t components)
{
    return is_packed(format) ? sizeof(uint32_t) : components * sizeof(float);
}

static uint64_t weights_size(const pelt_skin_job *job)
{
    if (pelti_skin_weights_packed(job)) {
        return sizeof(uint32_t);
    }
    return job->influence_count * (job->weight_format == PELT_WEIGHT_UNORM16 ? sizeof(uint16_t) : sizeof(float));
}

static bool resolve_joints_stride(pelt_skin_job *job)
{
    if (job->runs) { // the runs say where joints lie
        return job->joints_stride == 0;
    }
    return resolve_stride(&job->joints_stride, (uint64_t)job->influence_count * sizeof(uint16_t), sizeof(uint16_t));
}

static bool resolve_strides(pelt_skin_job *job)
{
    size_t weight_alignment = job->weight_format == PELT_WEIGHT_UNORM16 ? sizeof(uint16_t) : sizeof(float);
    return resolve_joints_stride(job) && resolve_stride(&job->palette_stride, sizeof(pelt_mat34), sizeof(float)) &&
           resolve_stride(&job->weights_stride, weights_size(job), weight_alignment) &&
           resolve_stride(&job->positions_stride, 3 * sizeof(float), sizeof(float)) &&
           resolve_stride(&job->normals_stride, direction_size(job->direction_format, 3), sizeof(float)) &&
           resolve_stride(&job->tangents_stride, direction_size(job->direction_format, 4), sizeof(float)) &&
           resolve_stride(&job->out_positions_stride, 3 * sizeof(float), sizeof(float)) &&
           resolve_stride(&job->out_normals_stride, direction_size(job->out_direction_format, 3), sizeof(float)) &&
           resolve_stride(&job->out_tangents_stride, direction_size(job->out_direction_format, 4), sizeof(float)) &&
           resolve_stride(&job->out_mirrored_stride, sizeof(uint8_t), sizeof(uint8_t));
}

static bool pointers_are_aligned(const pelt_skin_job *job)
{
    const void *floats[] = {job->palette,       job->positions,   job->normals,      job->tangents,
                            job->out_positions, job->out_normals, job->out_tangents, job->box};
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        if (!is_aligned(floats[i], sizeof(float))) {
            return false;
        }
    }
    size_t weight_alignment = job->weight_format == PELT_WEIGHT_UNORM16 ? sizeof(uint16_t) : sizeof(float);
    return is_aligned(job->joints, sizeof(uint16_t)) && is_aligned(job->weights, weight_alignment);
}

static bool morphs_are_valid(const pelt_skin_job *job)
{
    if (job->morph_count > 0 && !job->morphs) {
        return false;
    }
    for (uint32_t i = 0; i < job->morph_count; i++) {
        const pelt_skin_morph *morph = &job->morphs[i];
        if (!isfinite(morph->weight) || !is_aligned(morph->positions, sizeof(float)) ||
            !is_aligned(morph->normals, sizeof(float)) || !is_aligned(morph->tangents, sizeof(float))) {
            return false;
        }
    }
    return true;
}

static bool streams_are_present(const pelt_skin_job *job)
{
    if (job->vertex_count == 0) {
        return true;
    }
    bool influenced = job->influence_count > 0;
    return job->palette_count > 0 && job->palette && job->positions && (!influenced || (job->joints && job->weights)) &&
           (!job->out_normals || job->normals) && (!job->out_tangents || job->tangents);
}

// Adds a span to a list, if it is there. False where it does not fit the address space.
static bool add_span(span *spans, uint32_t *count, const void *data, uint64_t elements, uint64_t size, uint64_t stride)
{
    if (!data) {
        return true;
    }
    if (!span_init(&spans[*count], data, elements, size, stride)) {
        return false;
    }
    (*count)++;
    return true;
}

static bool add_output(span_list *list, void *data, uint64_t count, uint64_t size, uint64_t stride)
{
    return add_span(list->outputs, &list->output_count, data, count, size, stride);
}

static bool add_input(span_list *list, const void *data, uint64_t count, uint64_t size, uint64_t stride)
{
    return add_span(list->inputs, &list->input_count, data, count, size, stride);
}

static bool add_array(span_list *list, const void *data, uint64_t count, uint64_t size)
{
    return add_input(list, count > 0 ? data : NULL, 1, count * size, count * size);
}

static bool add_run_inputs(span_list *list, const pelt_joint_runs *runs)
{
    return add_array(list, runs->runs, runs->run_count, sizeof *runs->runs) &&
           add_array(list, runs->run_joints, runs->run_joint_count, sizeof *runs->run_joints) &&
           add_array(list, runs->extra_offsets, runs->wide_count > 0 ? (uint64_t)runs->wide_count + 1 : 0,
                     sizeof *runs->extra_offsets) &&
           add_array(list, runs->extras, runs->extra_count, sizeof *runs->extras);
}

// Everything that the job reads or writes but the morph streams. Streams that no output needs are not read.
static bool list_spans(const pelt_skin_job *job, span_list *list)
{
    uint64_t n = job->vertex_count;
    bool influenced = job->influence_count > 0;
    const pelt_joint_runs *runs = influenced ? job->runs : NULL;
    bool places = job->out_positions || job->box;
    uint64_t joints_size = runs ? runs->joints_size : (uint64_t)job->influence_count * sizeof(uint16_t);
    uint64_t morphs_size = (uint64_t)job->morph_count * sizeof(pelt_skin_morph);
    return add_output(list, job->out_positions, n, 3 * sizeof(float), job->out_positions_stride) &&
           add_output(list, job->out_normals, n, direction_size(job->out_direction_format, 3),
                      job->out_normals_stride) &&
           add_output(list, job->out_tangents, n, direction_size(job->out_direction_format, 4),
                      job->out_tangents_stride) &&
           add_output(list, job->out_mirrored, n, sizeof(uint8_t), job->out_mirrored_stride) &&
           add_output(list, job->box, 1, sizeof(pelt_box), sizeof(pelt_box)) &&
           add_input(list, job->palette, job->palette_count, sizeof(pelt_mat34), job->palette_stride) &&
           add_input(list, influenced ? job->joints : NULL, runs ? 1 : n, joints_size,
                     runs ? joints_size : job->joints_stride) &&
           add_input(list, influenced ? job->weights : NULL, n, weights_size(job), job->weights_stride) &&
           add_input(list, places ? job->positions : NULL, n, 3 * sizeof(float), job->positions_stride) &&
           add_input(list, job->out_normals ? job->normals : NULL, n, direction_size(job->direction_format, 3),
                     job->normals_stride) &&
           add_input(list, job->out_tangents ? job->tangents : NULL, n, direction_size(job->direction_format, 4),
                     job->tangents_stride) &&
           add_input(list, job->morph_count > 0 ? job->morphs : NULL, 1, morphs_size, morphs_size) &&
           (!runs || add_run_inputs(list, runs));
}

static bool outputs_avoid(const span_list *list, const span *other)
{
    for (uint32_t i = 0; i < list->output_count; i++) {
        if (&list->outputs[i] != other && span_overlaps(&list->outputs[i], other)) {
            return false;
        }
    }
    return true;
}

static bool outputs_avoid_morph(const span_list *list, const float *deltas, uint64_t vertex_count)
{
    span deltas_span;
    return !deltas || (span_init(&deltas_span, deltas, vertex_count, 3 * sizeof(float), 3 * sizeof(float)) &&
                       outputs_avoid(list, &deltas_span));
}

static bool nothing_overlaps(const pelt_skin_job *job)
{
    span_list list = {0};
    if (!list_spans(job, &list)) {
        return false;
    }
    for (uint32_t i = 0; i < list.output_count; i++) {
        if (!outputs_avoid(&list, &list.outputs[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < list.input_count; i++) {
        if (!outputs_avoid(&list, &list.inputs[i])) {
            return false;
        }
    }
    bool places = job->out_positions || job->box;
    for (uint32_t i = 0; i < job->morph_count; i++) {
        const pelt_skin_morph *morph = &job->morphs[i];
        if (morph->weight != 0.0F &&
            !(outputs_avoid_morph(&list, places ? morph->positions : NULL, job->vertex_count) &&
              outputs_avoid_morph(&list, job->out_normals ? morph->normals : NULL, job->vertex_count) &&
              outputs_avoid_morph(&list, job->out_tangents ? morph->tangents : NULL, job->vertex_count))) {
            return false;
        }
    }
    return true;
}

// Formats and flags that exist, and go together.
static bool formats_are_valid(const pelt_skin_job *job)
{
    bool known = (unsigned)job->weight_format <= PELT_WEIGHT_PLAIN &&
                 (unsigned)job->direction_format <= PELT_DIRECTION_OCTAHEDRAL &&
                 (unsigned)job->out_direction_format <= PELT_DIRECTION_OCTAHEDRAL &&
                 (unsigned)job->isa < PELT_ISA_COUNT && (job->flags & ~(uint32_t)PELT_NORMAL_OUTWARD) == 0;
    if (!known || job->influence_count == 0) {
        return known;
    }
    bool packed = pelti_skin_weights_packed(job);
    bool countable = !job->runs || job->influence_count == 4 || (job->influence_count == 8 && !packed);
    return countable && (job->runs || !packed);
}

pelt_result pelti_skin_resolve(const pelt_skin_job *job, pelt_skin_job *out)
{
    if (!job || !formats_are_valid(job)) {
        return PELT_ERROR_ARGUMENT;
    }
    *out = *job;
    out->runs = job->influence_count > 0 ? job->runs : NULL;
    if (!resolve_strides(out) || !pointers_are_aligned(out) || !morphs_are_valid(out) || !streams_are_present(out)) {
        return PELT_ERROR_ARGUMENT;
    }
    if (out->vertex_count > 0 && ((out->runs && !pelti_skin_runs_valid(out)) || !nothing_overlaps(out))) {
        return PELT_ERROR_ARGUMENT;
    }
    return PELT_OK;
}

// The rare case: some joint is out of range, and only its weight tells whether that matters.
static bool vertex_joints_valid(const pelt_skin_job *job, uint32_t vertex)
{
    pelti_influences in;
    pelti_skin_influences(job, NULL, vertex, &in);
    uint32_t joint = 0;
    float weight = 0.0F;
    for (uint32_t i = 0; i < in.count; i++) {
        if (pelti_skin_influence(&in, i, &joint, &weight) && joint >= job->palette_count) {
            return false;
        }
    }
    return true;
}

bool pelti_skin_joints_valid(const pelt_skin_job *job, const pelti_skin_kernel *kernel, uint32_t first, uint32_t last)
{
    if (job->runs) {
        return pelti_skin_run_joints_valid(job, kernel, first, last);
    }
    if (job->influence_count == 0 || job->palette_count > UINT16_MAX) {
        return true;
    }
    size_t count = job->influence_count;
    const char *joints = (const char *)job->joints;
    if (job->joints_stride == count * sizeof(uint16_t)) {
        const void *start = joints + job->joints_stride * first;
        if (kernel->max_u16(start, count * (last - first)) < job->palette_count) {
            return true;
        }
    }
    for (uint32_t v = first; v < last; v++) {
        const uint16_t *start = (const uint16_t *)(const void *)(joints + job->joints_stride * v);
        uint16_t max = 0;
        for (size_t i = 0; i < count; i++) {
            max = start[i] > max ? start[i] : max;
        }
        if (max >= job->palette_count && !vertex_joints_valid(job, v)) {
            return false;
        }
    }
    return true;
}

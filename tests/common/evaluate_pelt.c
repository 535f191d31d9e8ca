// SPDX-License-Identifier: MIT
// See evaluate_pelt.h. Whatever was opened is read as a backend would: without another check.
#include "evaluate_pelt.h"

#include <pelt/cook.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    INFLUENCE_CAPACITY = 64
};

typedef struct reading {
    const pelt_cooked_primitive *primitive;
    peltt_evaluation *out;
} reading;

static void check(const reading *r, bool condition, const char *violation)
{
    if (!condition && !r->out->violation) {
        r->out->violation = violation;
    }
}

static void read_bytes(const reading *r, const void *data, uint64_t size)
{
    const unsigned char *bytes = data;
    unsigned sum = 0;
    for (uint64_t i = 0; i < size; i++) {
        sum += bytes[i];
    }
    r->out->checksum += (double)sum;
}

static void read_vertex(const reading *r, uint32_t vertex)
{
    const pelt_cooked_primitive *p = r->primitive;
    float normal[3] = {1.0f, 0.0f, 0.0f};
    float tangent[4] = {1.0f, 0.0f, 0.0f, 1.0f};
    if (p->normals) {
        pelt_normal_decode(p->normals[vertex], normal);
    }
    if (p->tangents) {
        pelt_tangent_decode(p->tangents[vertex], tangent);
    }
    float normal_length = sqrtf(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    float tangent_length = sqrtf(tangent[0] * tangent[0] + tangent[1] * tangent[1] + tangent[2] * tangent[2]);
    check(r, fabsf(normal_length - 1.0f) < 1e-5f && fabsf(tangent_length - 1.0f) < 1e-5f, "a code is no unit vector");
    check(r, tangent[3] == 1.0f || tangent[3] == -1.0f, "a tangent's w is neither 1 nor -1");
    check(r, p->source_vertices[vertex] < p->source_vertex_count, "a vertex came from outside of the source");
    for (int c = 0; c < 3; c++) {
        float value = p->positions[(size_t)vertex * 3 + (size_t)c];
        check(r, value >= p->box.min[c] && value <= p->box.max[c], "a position is outside of its box");
    }
    if (!p->weights) {
        return;
    }
    uint16_t joints[INFLUENCE_CAPACITY];
    float weights[INFLUENCE_CAPACITY];
    double sum = 0.0;
    uint32_t count = pelt_cooked_influences(p, vertex, INFLUENCE_CAPACITY, joints, weights);
    for (uint32_t i = 0; i < count && i < INFLUENCE_CAPACITY; i++) {
        check(r, joints[i] < p->joint_bound, "a joint is not below the bound");
        check(r, weights[i] > 0.0f && weights[i] <= 1.0f, "a weight is not in (0, 1]");
        sum += (double)weights[i];
    }
    check(r, count > 0, "a vertex has no influence");
    check(r, count > INFLUENCE_CAPACITY || fabs(sum - 1.0) < 1e-5, "weights do not sum to one");
}

static void read_targets(const reading *r)
{
    const pelt_cooked_primitive *p = r->primitive;
    float *values = malloc(((size_t)p->vertex_count * 3 + 1) * sizeof *values);
    for (uint32_t t = 0; values && t < p->target_count; t++) {
        for (uint32_t stream = 0; stream < 3; stream++) {
            memset(values, 0, (size_t)p->vertex_count * 3 * sizeof *values);
            pelt_cooked_target_add(&p->targets[t], stream, 1.0f, values);
            for (size_t i = 0; i < (size_t)p->vertex_count * 3; i++) {
                check(r, isfinite(values[i]), "a morph target is not finite");
            }
        }
    }
    free(values);
}

static void read_primitive(const reading *r)
{
    const pelt_cooked_primitive *p = r->primitive;
    uint64_t n = p->vertex_count;
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        read_vertex(r, v);
    }
    for (uint32_t i = 0; p->index_size > 0 && i < p->index_count; i++) {
        const uint16_t *narrow = p->indices;
        const uint32_t *wide = p->indices;
        check(r, (p->index_size == 2 ? narrow[i] : wide[i]) < n, "an index is not below the vertex count");
    }
    for (uint32_t i = 0; i < p->attribute_count; i++) {
        read_bytes(r, p->attributes[i].data, n * p->attributes[i].stride);
        check(r, memchr(p->attributes[i].name, '\0', 1u << 30) != NULL, "an attribute has no name");
    }
    if (p->weights) {
        read_bytes(r, p->joints, p->joints_size);
        read_bytes(r, p->extras, p->extra_count * sizeof *p->extras);
        read_bytes(r, p->run_joints, p->run_joint_count * sizeof *p->run_joints);
    }
    read_targets(r);
}

static void read_all(const pelt_cooked_data *data, peltt_evaluation *out)
{
    for (uint32_t i = 0; i < data->primitive_count; i++) {
        read_primitive(&(reading){&data->primitives[i], out});
    }
    for (uint32_t i = 0; i < data->joint_boxes_count; i++) {
        const pelt_joint_boxes *boxes = &data->joint_boxes[i];
        reading r = {NULL, out};
        check(&r, boxes->primitive < data->primitive_count, "joint boxes of no primitive");
        read_bytes(&r, boxes->boxes, boxes->joint_count * sizeof *boxes->boxes);
    }
}

// What came out of a file goes into one again.
static void cook_again(const pelt_asset *asset, const pelt_allocator *allocator, peltt_evaluation *out)
{
    pelt_cook_options options = {.keep_order = true};
    pelt_cooked_options reading_options = {.memory_limit = 256u << 20};
    void *data = NULL;
    uint64_t size = 0;
    pelt_cooked *cooked = NULL;
    if (allocator) {
        options.allocator = *allocator;
        reading_options.allocator = *allocator;
    }
    out->result = pelt_cook(asset, &options, &data, &size, NULL, &out->error);
    if (out->result == PELT_OK) {
        out->result = pelt_cooked_open_memory(data, size, &reading_options, &cooked, &out->error);
        if (out->result != PELT_OK && out->result != PELT_ERROR_MEMORY && out->result != PELT_ERROR_LIMIT) {
            out->violation = "what was cooked again is refused";
        }
    } else if (out->result != PELT_ERROR_MEMORY && out->result != PELT_ERROR_LIMIT) {
        out->violation = "an imported file cannot be cooked again";
    }
    pelt_cooked_close(cooked);
    pelt_cook_release(&options, data, size);
}

peltt_evaluation peltt_evaluate_pelt(const void *data, size_t size, bool skip_hashes, const pelt_allocator *allocator,
                                     uint32_t pose_limit)
{
    peltt_evaluation out = {.result = PELT_OK};
    pelt_cooked_options options = {.memory_limit = 256u << 20, .skip_hashes = skip_hashes};
    pelt_cooked *cooked = NULL;
    pelt_asset *asset = NULL;
    if (allocator) {
        options.allocator = *allocator;
    }
    out.result = pelt_cooked_open_memory(data, size, &options, &cooked, &out.error);
    if (out.result == PELT_OK) {
        read_all(pelt_cooked_get(cooked), &out);
        out.result = pelt_cooked_import(cooked, &asset, &out.error);
    }
    if (out.result != PELT_OK && (out.error.code != out.result || out.error.message[0] == '\0')) {
        out.violation = "an error came without its code or message";
    }
    if (out.result == PELT_OK && !out.violation) {
        cook_again(asset, allocator, &out);
    }
    if (out.result == PELT_OK && !out.violation) {
        peltt_evaluate_asset(asset, allocator, pose_limit, &out);
    }
    pelt_asset_destroy(asset);
    pelt_cooked_close(cooked);
    return out;
}

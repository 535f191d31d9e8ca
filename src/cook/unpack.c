// SPDX-License-Identifier: MIT
// Reads packed influences and morph targets back.
#include "cook/packed.h"

#include "base/base.h"

enum {
    EXTRA_STEPS = 65535
};

// The influences gathered so far; count goes on past capacity.
typedef struct gathered {
    uint32_t count;
    uint32_t capacity;
    uint16_t *joints;
    float *weights;
} gathered;

static void add(gathered *out, uint16_t joint, double weight)
{
    if (out->count < out->capacity) {
        out->joints[out->count] = joint;
        out->weights[out->count] = (float)weight;
    }
    out->count++;
}

// The last run that begins at or before the vertex.
static const pelt_run *find_run(const pelt_cooked_primitive *primitive, uint32_t vertex)
{
    uint32_t low = 0;
    uint32_t high = primitive->run_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (primitive->runs[middle].first_vertex <= vertex) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &primitive->runs[low];
}

static uint16_t joint_at(const pelt_cooked_primitive *primitive, const pelt_run *run, uint32_t local, uint32_t slot)
{
    const uint8_t *joints = primitive->joints + run->joints_offset;
    if (run->layout == PELT_JOINTS_DIRECT16) {
        uint16_t joint = 0;
        memcpy(&joint, joints + ((size_t)local * 4 + slot) * sizeof joint, sizeof joint);
        return joint;
    }
    uint8_t index = joints[(size_t)local * 4 + slot];
    return run->layout == PELT_JOINTS_DIRECT8 ? index : primitive->run_joints[run->first_joint + index];
}

// Index in extra_offsets, or PELT_NONE.
static uint32_t wide_index(const pelt_cooked_primitive *primitive, const pelt_run *run, uint32_t local)
{
    uint32_t wide = run->class_counts[4];
    if (wide == 0) {
        return PELT_NONE;
    }
    uint32_t narrow = primitive->ordered ? run->vertex_count - wide : 0;
    return local < narrow ? PELT_NONE : run->first_wide + (local - narrow);
}

pelt_packed_streams pelt_cooked_streams(const pelt_cooked_primitive *primitive)
{
    pelt_packed_streams out = {
        .vertex_count = primitive->vertex_count,
        .positions = primitive->positions,
        .normals = primitive->normals,
        .tangents = primitive->tangents,
        .encoding = primitive->encoding,
        .weights = primitive->weights,
        .joints = primitive->joints,
        .runs = {.run_count = primitive->run_count,
                 .runs = primitive->runs,
                 .run_joint_count = primitive->run_joint_count,
                 .run_joints = primitive->run_joints,
                 .joints_size = primitive->joints_size,
                 .ordered = primitive->ordered,
                 .wide_count = primitive->wide_count,
                 .extra_offsets = primitive->wide_count > 0 ? primitive->extra_offsets : NULL,
                 .extra_count = primitive->extra_count,
                 .extras = primitive->extras},
        .joint_bound = primitive->joint_bound,
    };
    return out;
}

uint32_t pelt_cooked_influences(const pelt_cooked_primitive *primitive, uint32_t vertex, uint32_t capacity,
                                uint16_t *joints, float *weights)
{
    gathered out = {0, capacity, joints, weights};
    if (!primitive->weights || primitive->run_count == 0) {
        return 0;
    }
    const pelt_run *run = find_run(primitive, vertex);
    uint32_t local = vertex - run->first_vertex;
    uint32_t wide = wide_index(primitive, run, local);
    uint32_t first = wide == PELT_NONE ? 0 : primitive->extra_offsets[wide];
    uint32_t last = wide == PELT_NONE ? 0 : primitive->extra_offsets[wide + 1];
    uint64_t sum = 0;
    for (uint32_t i = first; i < last; i++) {
        sum += primitive->extras[i].weight;
    }
    double share = sum < EXTRA_STEPS ? (double)(EXTRA_STEPS - sum) / (double)EXTRA_STEPS : 0.0;
    float four[4];
    pelt_weights_decode(primitive->encoding, primitive->weights[vertex], four);
    bool sorted = primitive->encoding == PELT_WEIGHTS_SORTED;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t slot = sorted ? (i + 3) % 4 : i; // the implied one is the largest
        if (four[slot] != 0.0F) {
            add(&out, joint_at(primitive, run, local, slot), (double)four[slot] * share);
        }
    }
    for (uint32_t i = first; i < last; i++) {
        add(&out, primitive->extras[i].joint, (double)primitive->extras[i].weight / (double)EXTRA_STEPS);
    }
    return out.count;
}

void pelt_cooked_target_add(const pelt_cooked_target *target, uint32_t stream, float weight, float *values)
{
    if (stream > 2 || !pelti_target_stream(target, stream)) {
        return;
    }
    for (uint32_t row = 0; row < target->vertex_count; row++) {
        uint32_t vertex = target->format & PELT_TARGET_SPARSE ? target->vertices[row] : row;
        float delta[3];
        pelti_target_row(target, stream, row, delta);
        for (uint64_t c = 0; c < 3; c++) {
            values[(uint64_t)vertex * 3 + c] += weight * delta[c];
        }
    }
}

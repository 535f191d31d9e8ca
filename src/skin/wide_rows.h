// SPDX-License-Identifier: MIT
// What blending a whole matrix per influence reads, prepared for 64 vertices at a time so that the addresses are known
// long before the matrices are loaded: offsets of matrices, and weights as floats, four or eight in a row. Shared by
// all wide kernels.
#ifndef PELTI_SKIN_WIDE_ROWS_H
#define PELTI_SKIN_WIDE_ROWS_H

#include "skin/wide_blocks.h"

enum {
    GROUP_SIZE = 64,  // vertices
    SLOT_LIMIT = 8,   // influences
    LISTED_SIZE = 64, // bytes of a matrix of a run's list
    STEP_SIZE = 4     // bytes; strides are multiples of it
};

typedef struct row_group {
    const char *matrices;
    uint16_t highest; // index of a matrix
    uint16_t stride;
    uint32_t first; // vertex
    uint32_t slots; // 4 or 8 for each vertex; those past the influence count weigh nothing
    const char *weights;
    size_t weights_stride;
    bool short_steps; // steps are filled, not offsets; for whole blocks only
    union {
        uint32_t offsets[GROUP_SIZE * SLOT_LIMIT]; // bytes
        uint16_t steps[GROUP_SIZE * SLOT_LIMIT];   // of STEP_SIZE bytes: half the work where 16 bits suffice
    };
    float scratch[GROUP_SIZE * SLOT_LIMIT];
} row_group;

// Offsets are products of 16 bits, of which every instruction set makes several at once.
static bool rows_fit(const pelt_skin_job *job)
{
    return job->influence_count <= SLOT_LIMIT && job->palette_stride <= UINT16_MAX &&
           (uint64_t)(job->palette_count - 1) * job->palette_stride <= INT32_MAX;
}

// Four indices of each vertex, the last first.
static void turn_indices(const uint8_t *from, uint32_t count, uint8_t *out)
{
    for (uint32_t v = 0; v < count; v++) {
        uint32_t four = 0;
        memcpy(&four, from + (size_t)v * 4, sizeof four);
        four = four << 8 | four >> 24;
        memcpy(out + (size_t)v * 4, &four, sizeof four);
    }
}

// Inlined with the number of influences known, so that nothing loops over those of one vertex.
ALWAYS_INLINE void copy_indices(const char *joints, size_t stride, uint32_t count, uint32_t used, uint16_t *copy)
{
    const uint32_t slots = used <= 4 ? 4 : 8;
    for (uint32_t v = 0; v < count; v++) {
        uint16_t own[SLOT_LIMIT]; // compilers that see one loop over all read past the last vertex
        memcpy(own, joints + stride * v, used * sizeof own[0]);
        for (uint32_t i = 0; i < slots; i++) {
            copy[v * slots + i] = own[i < used ? i : 0];
        }
    }
}

static void copy_four_indices(const char *joints, size_t stride, uint32_t count, bool last_first, uint16_t *copy)
{
    for (uint32_t v = 0; v < count; v++) {
        uint64_t four = 0;
        memcpy(&four, joints + stride * v, sizeof four);
        four = last_first ? four << 16 | four >> 48 : four;
        memcpy(copy + (size_t)v * 4, &four, sizeof four);
    }
}

// 16-bit indices in the order in which influences are summed, slots of each vertex: in the copy, or where they lie. Of
// sorted weights, which are four, slot 3 goes first.
static const uint16_t *load_indices(const span *s, uint32_t first, uint32_t count, uint32_t slots, uint16_t *copy)
{
    const pelt_skin_job *job = &s->plan->job;
    bool last_first = job->weight_format == PELT_WEIGHT_SORTED;
    const char *joints = element(s->joints, s->joints_stride, first - s->first_vertex);
    if (job->influence_count == slots && s->joints_stride == slots * sizeof *copy && !last_first) {
        return (const uint16_t *)(const void *)joints;
    }
    switch (job->influence_count) {
    case 1:
        copy_indices(joints, s->joints_stride, count, 1, copy);
        break;
    case 2:
        copy_indices(joints, s->joints_stride, count, 2, copy);
        break;
    case 3:
        copy_indices(joints, s->joints_stride, count, 3, copy);
        break;
    case 4:
        copy_four_indices(joints, s->joints_stride, count, last_first, copy);
        break;
    case 5:
        copy_indices(joints, s->joints_stride, count, 5, copy);
        break;
    case 6:
        copy_indices(joints, s->joints_stride, count, 6, copy);
        break;
    case 7:
        copy_indices(joints, s->joints_stride, count, 7, copy);
        break;
    default:
        copy_indices(joints, s->joints_stride, count, 8, copy);
    }
    return copy;
}

static void scale_by_shares(const span *s, uint32_t first, uint32_t count, float *weights)
{
    for (uint32_t v = 0; v < count; v++) {
        const pelt_extra_influence *extras = NULL;
        uint32_t extra_count = pelti_skin_extras(s->plan->job.runs, s->run, first + v, &extras);
        float share = pelti_skin_share(extras, extra_count);
        for (uint32_t i = 0; i < 4; i++) {
            weights[v * 4 + i] *= share;
        }
    }
}

static void decode_group(const span *s, uint32_t first, uint32_t count, float *out)
{
    const pelt_skin_job *job = &s->plan->job;
    uint32_t codes[GROUP_SIZE];
    if (job->weights_stride == sizeof codes[0]) {
        memcpy(codes, element(job->weights, sizeof codes[0], first), count * sizeof codes[0]);
    } else {
        for (uint32_t v = 0; v < count; v++) {
            memcpy(&codes[v], element(job->weights, job->weights_stride, first + v), sizeof codes[v]);
        }
    }
    for (uint32_t v = count; v % WIDE != 0; v++) {
        codes[v] = 0;
    }
    for (uint32_t v = 0; v < count; v += WIDE) {
        wide weights[4];
        wide_int block_codes = wide_load_codes((const char *)(codes + v), sizeof codes[0]);
        if (job->weight_format == PELT_WEIGHT_SORTED) {
            wide_decode_weights(block_codes, true, weights);
        } else {
            wide_decode_weights(block_codes, false, weights);
        }
        wide_store4((char *)(out + (size_t)v * 4), 4 * sizeof(float), weights, false);
    }
}

// Inlined with the number of influences known, so that nothing loops over those of one vertex.
ALWAYS_INLINE void copy_weights(const span *s, uint32_t first, uint32_t count, uint32_t used, float *out)
{
    const pelt_skin_job *job = &s->plan->job;
    const uint32_t slots = used <= 4 ? 4 : 8;
    const char *from = element(job->weights, job->weights_stride, first);
    bool words = job->weight_format == PELT_WEIGHT_UNORM16;
    for (uint32_t v = 0; words && v < count; v++) {
        uint16_t own[SLOT_LIMIT] = {0};
        memcpy(own, from + job->weights_stride * v, used * sizeof own[0]);
        for (uint32_t i = 0; i < slots; i++) {
            out[v * slots + i] = pelti_skin_unorm16(own[i]);
        }
    }
    for (uint32_t v = 0; !words && v < count; v++) {
        const float *own = (const float *)(const void *)(from + job->weights_stride * v);
        float *to = out + (size_t)v * slots;
        for (uint32_t i = 0; i < used; i++) {
            to[i] = own[i];
        }
        for (uint32_t i = used; i < slots; i++) {
            to[i] = 0.0F;
        }
    }
}

static void load_weights_as_floats(const span *s, uint32_t first, uint32_t count, float *out)
{
    switch (s->plan->job.influence_count) {
    case 1:
        copy_weights(s, first, count, 1, out);
        break;
    case 2:
        copy_weights(s, first, count, 2, out);
        break;
    case 3:
        copy_weights(s, first, count, 3, out);
        break;
    case 4:
        copy_weights(s, first, count, 4, out);
        break;
    case 5:
        copy_weights(s, first, count, 5, out);
        break;
    case 6:
        copy_weights(s, first, count, 6, out);
        break;
    case 7:
        copy_weights(s, first, count, 7, out);
        break;
    default:
        copy_weights(s, first, count, 8, out);
    }
}

static void make_offsets(const uint16_t *indices, uint32_t count, row_group *g)
{
    const uint16_t highest = g->highest;
    const uint16_t stride = g->stride;
    for (uint32_t i = 0; i < count; i++) {
        uint16_t index = indices[i] < highest ? indices[i] : highest;
        g->offsets[i] = (uint32_t)index * stride;
    }
}

static void make_steps(const uint16_t *restrict indices, uint32_t count, uint16_t highest, uint16_t step,
                       uint16_t *restrict out)
{
    for (uint32_t i = 0; i < count; i++) {
        uint16_t index = indices[i] < highest ? indices[i] : highest;
        out[i] = (uint16_t)(index * step);
    }
}

// Inlined with the count known where a group is full, so that no rest is looked for.
ALWAYS_INLINE void make_byte_offsets(const uint8_t *indices, uint32_t count, row_group *g)
{
    const uint8_t highest = (uint8_t)(g->highest < UINT8_MAX ? g->highest : UINT8_MAX);
    const uint16_t stride = g->stride;
    for (uint32_t i = 0; i < count; i++) {
        uint16_t index = indices[i] < highest ? indices[i] : highest;
        g->offsets[i] = (uint32_t)index * stride;
    }
}

// The same.
ALWAYS_INLINE void make_byte_steps(const uint8_t *restrict indices, uint32_t count, uint16_t highest, uint16_t step,
                                   uint16_t *restrict out)
{
    const uint8_t most = (uint8_t)(highest < UINT8_MAX ? highest : UINT8_MAX);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t index = indices[i] < most ? indices[i] : most;
        out[i] = (uint16_t)(index * step);
    }
}

// Runs have as many indices a vertex as there are slots, side by side.
static void load_byte_offsets(const span *s, uint32_t count, row_group *g)
{
    const uint8_t *indices = (const uint8_t *)element(s->joints, s->joints_stride, g->first - s->first_vertex);
    uint8_t turned[GROUP_SIZE * 4];
    if (s->plan->job.weight_format == PELT_WEIGHT_SORTED) {
        turn_indices(indices, count, turned);
        indices = turned;
    }
    const uint16_t step = (uint16_t)(g->stride / STEP_SIZE);
    bool full = count == GROUP_SIZE && g->slots == 4;
    if (g->short_steps && full) {
        make_byte_steps(indices, GROUP_SIZE * 4, g->highest, step, g->steps);
    } else if (g->short_steps) {
        make_byte_steps(indices, count * g->slots, g->highest, step, g->steps);
    } else if (full) {
        make_byte_offsets(indices, GROUP_SIZE * 4, g);
    } else {
        make_byte_offsets(indices, count * g->slots, g);
    }
}

static void load_offsets(const span *s, uint32_t count, row_group *g)
{
    if (s->run && s->run->layout != PELT_JOINTS_DIRECT16) {
        load_byte_offsets(s, count, g);
        return;
    }
    uint16_t copy[GROUP_SIZE * SLOT_LIMIT];
    const uint16_t *indices = load_indices(s, g->first, count, g->slots, copy);
    if (g->short_steps) {
        make_steps(indices, count * g->slots, g->highest, (uint16_t)(g->stride / STEP_SIZE), g->steps);
    } else {
        make_offsets(indices, count * g->slots, g);
    }
}

// Vertices [first, last), at most GROUP_SIZE; the first of a block again where the last block is not full.
static void load_group(const span *s, bool has_extras, uint32_t first, uint32_t last, row_group *g)
{
    const pelt_skin_job *job = &s->plan->job;
    uint32_t count = last - first < GROUP_SIZE ? last - first : GROUP_SIZE;
    g->first = first;
    g->slots = job->influence_count <= 4 ? 4 : 8;
    load_offsets(s, count, g);
    bool in_place = job->weight_format == PELT_WEIGHT_FLOAT && job->influence_count == g->slots && count % WIDE == 0;
    g->weights_stride = in_place ? job->weights_stride : g->slots * sizeof(float);
    g->weights = in_place ? element(job->weights, job->weights_stride, first) : (const char *)g->scratch;
    if (in_place) {
        return;
    }
    if (pelti_skin_weights_packed(job)) {
        decode_group(s, first, count, g->scratch);
        if (has_extras) {
            scale_by_shares(s, first, count, g->scratch);
        }
    } else {
        load_weights_as_floats(s, first, count, g->scratch);
    }
    for (uint32_t v = count; v % WIDE != 0; v++) {
        size_t from = (size_t)(count / WIDE * WIDE) * g->slots;
        memcpy(g->offsets + (size_t)v * g->slots, g->offsets + from, g->slots * sizeof g->offsets[0]);
        memcpy(g->scratch + (size_t)v * g->slots, g->scratch + from, g->slots * sizeof g->scratch[0]);
    }
}

// The matrices of a run side by side; what a clamped index past the list finds is the first.
static inline void load_list(const span *s, char list[PELT_RUN_JOINTS * LISTED_SIZE])
{
    const pelt_skin_job *job = &s->plan->job;
    const uint16_t *joints = job->runs->run_joints + s->run->first_joint;
    for (uint32_t i = 0; i < PELT_RUN_JOINTS; i++) {
        const pelt_mat34 *matrix = pelti_skin_matrix(job, joints[i < s->run->joint_count ? i : 0]);
        memcpy(list + (size_t)i * LISTED_SIZE, matrix, sizeof *matrix);
    }
}

// matrices: of a run's list, or NULL for the palette.
static void init_group(const pelt_skin_job *job, const char *list, row_group *g)
{
    uint32_t last = list ? PELT_RUN_JOINTS - 1 : job->palette_count - 1;
    g->matrices = list ? list : (const char *)job->palette;
    g->highest = (uint16_t)(last < UINT16_MAX ? last : UINT16_MAX);
    g->stride = (uint16_t)(list ? LISTED_SIZE : job->palette_stride);
    g->short_steps = false;
}

// Of an initialised group.
static inline bool short_steps_fit(const row_group *g)
{
    return (uint32_t)g->highest * g->stride / STEP_SIZE <= UINT16_MAX;
}

#endif

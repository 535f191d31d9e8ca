// SPDX-License-Identifier: MIT
// The influences of one vertex, whatever the job stores them as: for the scalar kernel, for checks, and for the
// vertices that a wide kernel handles one at a time.
#ifndef PELTI_SKIN_INFLUENCES_H
#define PELTI_SKIN_INFLUENCES_H

#include "skin/skin.h"

#include <string.h>

static inline const pelt_mat34 *pelti_skin_matrix(const pelt_skin_job *job, uint32_t joint)
{
    uint32_t last = job->palette_count - 1;
    const char *palette = (const char *)job->palette;
    return (const pelt_mat34 *)(const void *)(palette + job->palette_stride * (joint < last ? joint : last));
}

static inline bool pelti_skin_weights_packed(const pelt_skin_job *job)
{
    return job->weight_format == PELT_WEIGHT_SORTED || job->weight_format == PELT_WEIGHT_PLAIN;
}

// 65535 comes out as 1 exactly.
static inline float pelti_skin_unorm16(uint16_t code)
{
    return (float)code * (1.0F / 65535.0F);
}

// Where the influences of one vertex lie. Of packed weights the first four are decoded, in the order in which they are
// summed; the others are summed from the stream.
typedef struct pelti_influences {
    const char *weights; // of this vertex; NULL where four holds them
    const char *joints;  // of this vertex
    pelt_weight_format format;
    pelt_joint_layout layout;
    const uint16_t *list; // of the run, with PELT_JOINTS_RUN
    uint32_t list_count;
    uint32_t count; // without extras
    float four[4];
    uint8_t slots[4]; // of four
    uint32_t extra_count;
    const pelt_extra_influence *extras;
} pelti_influences;

// The influences after the first four of a vertex with packed weights; returns how many there are.
static inline uint32_t pelti_skin_extras(const pelt_joint_runs *runs, const pelt_run *run, uint32_t vertex,
                                         const pelt_extra_influence **out)
{
    uint32_t local = vertex - run->first_vertex;
    uint32_t last_class = run->class_counts[4];
    uint32_t narrow = runs->ordered ? run->vertex_count - last_class : 0;
    if (last_class == 0 || local < narrow) {
        return 0;
    }
    const uint32_t *offsets = &runs->extra_offsets[run->first_wide + (local - narrow)];
    *out = runs->extras + offsets[0];
    return offsets[1] - offsets[0];
}

// What is left to the first four.
static inline float pelti_skin_share(const pelt_extra_influence *extras, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += extras[i].weight;
    }
    return sum < 65535 ? (float)(65535 - sum) * (1.0F / 65535.0F) : 0.0F;
}

// run: the vertex's, NULL without runs.
void pelti_skin_influences(const pelt_skin_job *job, const pelt_run *run, uint32_t vertex, pelti_influences *out);

// Influence i below count + extra_count. False where its weight is zero: then the joint means nothing.
static inline bool pelti_skin_influence(const pelti_influences *in, uint32_t i, uint32_t *joint, float *weight)
{
    if (i >= in->count) {
        const pelt_extra_influence *extra = &in->extras[i - in->count];
        *joint = extra->joint;
        *weight = pelti_skin_unorm16(extra->weight);
        return extra->weight != 0;
    }
    uint32_t slot = in->weights ? i : in->slots[i];
    if (!in->weights) {
        *weight = in->four[i];
    } else if (in->format == PELT_WEIGHT_UNORM16) {
        *weight = pelti_skin_unorm16(((const uint16_t *)(const void *)in->weights)[i]);
    } else {
        *weight = ((const float *)(const void *)in->weights)[i];
    }
    if (*weight == 0.0F) {
        return false;
    }
    if (in->layout == PELT_JOINTS_DIRECT16) {
        *joint = ((const uint16_t *)(const void *)in->joints)[slot];
        return true;
    }
    uint8_t index = ((const uint8_t *)in->joints)[slot];
    if (in->layout == PELT_JOINTS_DIRECT8) {
        *joint = index;
    } else {
        *joint = in->list[index < in->list_count ? index : in->list_count - 1];
    }
    return true;
}

#endif

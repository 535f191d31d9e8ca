// SPDX-License-Identifier: MIT
// State of one influence clean-up, shared by influences.c and its parts.
#ifndef PELTI_ASSET_INFLUENCES_H
#define PELTI_ASSET_INFLUENCES_H

#include "asset/asset_internal.h"

#define INFLUENCE_SUM_TOLERANCE 2e-7     // per weight, of which a sum may be off without being counted
#define INFLUENCE_ROUNDER (1.5 * 0x1p28) // adding and subtracting it rounds a double in [0, 1] to multiples of 2^-24

// Where something was seen first, or was worst.
typedef struct influence_place {
    uint32_t vertex;
    uint32_t set;
    uint32_t joint;
} influence_place;

// One influence of the vertex at hand.
typedef struct influence_slot {
    double weight;
    uint32_t joint;
    bool dropped;
} influence_slot;

typedef struct influence_clean {
    pelt_builder *builder;
    const pelt_influence_job *job;
    pelt_error *error;
    uint32_t joint_limit; // 65,536 where the job has none
    uint32_t width;       // stored influences per vertex
    uint32_t used_width;  // the largest count that a vertex really has
    uint32_t joint_bound;
    uint16_t *joints;
    float *weights;
    pelt_influence_report report;

    influence_slot *slots;  // scratch, 4 * set_count
    float *rounded;         // scratch, 4 * set_count
    uint32_t *heap;         // scratch, 4 * set_count
    uint32_t *joint_stamps; // scratch, 65,536, only with many sets: the last vertex + 1 that listed the joint
    uint32_t *joint_slots;  // scratch, 65,536, only with many sets: and its slot there
    uint64_t scratch_size;  // bytes behind all of the above

    double worst_off;          // largest |sum - 1| of all
    influence_place worst_sum; // among the vertices that count as not normalised
    double worst_sum_error;
    influence_place first_unweighted;
    influence_place first_merged;
    influence_place first_ignored;
    influence_place worst_reduced;
} influence_clean;

// All vertices of a job with one set.
pelt_result pelti_influence_clean_blocks(influence_clean *clean);
// Any vertex.
pelt_result pelti_influence_clean_vertex(influence_clean *clean, uint32_t vertex);
// Notes how far a weighted vertex's sum is from one; count: its weights.
void pelti_influence_note_sum(influence_clean *clean, uint32_t vertex, double sum, uint32_t count);

// Fill the error and return INVALID.
pelt_result pelti_influence_bad_weight(influence_clean *clean, uint32_t vertex, uint32_t set, float weight);
pelt_result pelti_influence_bad_joint(influence_clean *clean, uint32_t vertex, uint32_t set, uint32_t joint,
                                      bool weighted);
// One warning for each kind of change.
void pelti_influence_warn(const influence_clean *clean);

#endif

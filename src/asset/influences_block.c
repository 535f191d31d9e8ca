// SPDX-License-Identifier: MIT
// The short path of the influence clean-up: blocks of vertices of one set, as arrays by component and without branches
// on the data, so that compilers make vector code of it. Vertices that want more than normalising go the long way.
#include "asset/influences.h"

#include <math.h>

enum {
    BLOCK = 32,
    ONE = 1 << 24 // in steps of 2^-24
};

// component x vertex
typedef struct influence_block {
    uint32_t bits[4][BLOCK]; // of the weights in the file
    uint32_t joints[4][BLOCK];
    double weights[4][BLOCK]; // in the file
    uint32_t steps[4][BLOCK]; // the weight in steps of 2^-24
    float out[4][BLOCK];
    double sum[BLOCK];
    double scale[BLOCK];
    uint32_t tiny[BLOCK]; // 1: a weight would become zero
    uint32_t odd[BLOCK];  // not 0: the long way
} influence_block;

static void load(influence_block *block, const uint16_t *joints, const float *weights)
{
    for (uint32_t i = 0; i < BLOCK; i++) {
        for (uint32_t k = 0; k < 4; k++) {
            memcpy(&block->bits[k][i], &weights[4 * i + k], sizeof(uint32_t));
            block->weights[k][i] = (double)weights[4 * i + k];
            block->joints[k][i] = joints[4 * i + k];
        }
    }
}

// Marks negative and not finite weights, no weight, zero weights before others, joints listed twice or out of range,
// and vertices with more influences than are stored.
static void mark_odd(influence_block *block, uint32_t joint_limit, uint32_t width)
{
    const uint32_t *spare = block->bits[width < 4 ? width : 3];
    uint32_t spare_mask = width < 4 ? UINT32_MAX : 0;
    for (uint32_t i = 0; i < BLOCK; i++) {
        uint32_t b0 = block->bits[0][i];
        uint32_t b1 = block->bits[1][i];
        uint32_t b2 = block->bits[2][i];
        uint32_t b3 = block->bits[3][i];
        uint32_t j0 = block->joints[0][i];
        uint32_t j1 = block->joints[1][i];
        uint32_t j2 = block->joints[2][i];
        uint32_t j3 = block->joints[3][i];
        // Bit 31 is set by negative weights (and -0) directly, by infinity and NaN through the carry.
        uint32_t wrong =
            (b0 | b1 | b2 | b3 | (b0 + 0x00800000u) | (b1 + 0x00800000u) | (b2 + 0x00800000u) | (b3 + 0x00800000u)) >>
            31;
        uint32_t hole = (uint32_t)(b0 == 0) | ((uint32_t)(b1 == 0) & (uint32_t)(b2 != 0)) |
                        ((uint32_t)((b1 == 0) | (b2 == 0)) & (uint32_t)(b3 != 0));
        uint32_t twice = ((uint32_t)(j0 == j1) & (uint32_t)(b1 != 0)) |
                         ((uint32_t)((j0 == j2) | (j1 == j2)) & (uint32_t)(b2 != 0)) |
                         ((uint32_t)((j0 == j3) | (j1 == j3) | (j2 == j3)) & (uint32_t)(b3 != 0));
        uint32_t outside = (uint32_t)(j0 >= joint_limit) | (uint32_t)(j1 >= joint_limit) |
                           (uint32_t)(j2 >= joint_limit) | (uint32_t)(j3 >= joint_limit);
        block->odd[i] = wrong | hole | twice | outside | (spare[i] & spare_mask);
    }
}

// As round_four of influences_vertex.c, for all vertices: to multiples of 2^-24 that sum to one exactly. Adding the
// rounder leaves a weight's count of steps in the low bits of the double, and the rest is done in integers: compilers
// keep comparisons of floats out of vector code, which might trap where the source would not.
static void normalize(influence_block *block)
{
    for (uint32_t i = 0; i < BLOCK; i++) {
        block->sum[i] = (block->weights[0][i] + block->weights[1][i]) + (block->weights[2][i] + block->weights[3][i]);
        block->scale[i] = 1.0 / block->sum[i];
    }
    for (uint32_t k = 0; k < 4; k++) {
        for (uint32_t i = 0; i < BLOCK; i++) {
            double moved = block->weights[k][i] * block->scale[i] + INFLUENCE_ROUNDER;
            uint64_t bits = 0;
            memcpy(&bits, &moved, sizeof bits);
            block->steps[k][i] = (uint32_t)bits;
        }
    }
    for (uint32_t i = 0; i < BLOCK; i++) {
        int32_t s0 = (int32_t)block->steps[0][i];
        int32_t s1 = (int32_t)block->steps[1][i];
        int32_t s2 = (int32_t)block->steps[2][i];
        int32_t s3 = (int32_t)block->steps[3][i];
        block->tiny[i] = ((uint32_t)(s0 == 0) & (uint32_t)(block->bits[0][i] != 0)) |
                         ((uint32_t)(s1 == 0) & (uint32_t)(block->bits[1][i] != 0)) |
                         ((uint32_t)(s2 == 0) & (uint32_t)(block->bits[2][i] != 0)) |
                         ((uint32_t)(s3 == 0) & (uint32_t)(block->bits[3][i] != 0));
        int32_t low = s0 > s1 ? s0 : s1;
        int32_t high = s2 > s3 ? s2 : s3;
        int32_t largest = low > high ? low : high;
        // The first of equally large ones takes the rest.
        uint32_t rest = ONE - block->steps[0][i] - block->steps[1][i] - block->steps[2][i] - block->steps[3][i];
        uint32_t to0 = rest & (0u - (uint32_t)(s0 == largest));
        uint32_t to1 = (rest - to0) & (0u - (uint32_t)(s1 == largest));
        uint32_t to2 = (rest - to0 - to1) & (0u - (uint32_t)(s2 == largest));
        block->steps[0][i] += to0;
        block->steps[1][i] += to1;
        block->steps[2][i] += to2;
        block->steps[3][i] += rest - to0 - to1 - to2;
    }
    for (uint32_t k = 0; k < 4; k++) {
        for (uint32_t i = 0; i < BLOCK; i++) {
            block->out[k][i] = (float)(int32_t)block->steps[k][i] * 0x1p-24f;
        }
    }
    const double one = 1.0;
    uint64_t one_bits = 0;
    memcpy(&one_bits, &one, sizeof one_bits);
    for (uint32_t i = 0; i < BLOCK; i++) {
        uint64_t sum_bits = 0;
        memcpy(&sum_bits, &block->sum[i], sizeof sum_bits);
        block->odd[i] |= block->tiny[i] & (uint32_t)(sum_bits != one_bits);
    }
}

static void store(influence_clean *clean, const influence_block *block, uint32_t i, uint32_t vertex)
{
    uint32_t width = clean->width;
    uint16_t *joints = clean->joints + (uint64_t)vertex * width;
    float *weights = clean->weights + (uint64_t)vertex * width;
    for (uint32_t k = 0; k < 4 && k < width; k++) {
        uint32_t used = 0u - (uint32_t)(block->bits[k][i] != 0);
        joints[k] = (uint16_t)(block->joints[k][i] & used);
        weights[k] = block->out[k][i];
    }
    if (block->sum[i] == 1.0) {
        // As they are in the file, also between the steps.
        for (uint32_t k = 0; k < 4 && k < width; k++) {
            memcpy(&weights[k], &block->bits[k][i], sizeof(float));
        }
    }
}

// Notes the highest joint and count of the vertices that are not odd.
static void note_used(influence_clean *clean, const influence_block *block)
{
    uint32_t highest = 0;
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t any = 0;
        for (uint32_t i = 0; i < BLOCK; i++) {
            uint32_t used = (0u - (uint32_t)(block->bits[k][i] != 0)) & (0u - (uint32_t)(block->odd[i] == 0));
            uint32_t bound = (block->joints[k][i] + 1) & used;
            highest = bound > highest ? bound : highest;
            any |= used;
        }
        if (any != 0 && clean->used_width < k + 1) {
            clean->used_width = k + 1;
        }
    }
    clean->joint_bound = highest > clean->joint_bound ? highest : clean->joint_bound;
}

pelt_result pelti_influence_clean_blocks(influence_clean *clean)
{
    const pelt_influence_job *job = clean->job;
    influence_block block;
    uint32_t v = 0;
    for (; job->vertex_count - v >= BLOCK; v += BLOCK) {
        load(&block, job->sets[0].joints + (size_t)v * 4, job->sets[0].weights + (size_t)v * 4);
        mark_odd(&block, clean->joint_limit, clean->width);
        normalize(&block);
        note_used(clean, &block);
        for (uint32_t i = 0; i < BLOCK; i++) {
            if (block.odd[i] != 0) {
                pelt_result result = pelti_influence_clean_vertex(clean, v + i);
                if (result != PELT_OK) {
                    return result;
                }
                continue;
            }
            store(clean, &block, i, v + i);
            double off = fabs(block.sum[i] - 1.0);
            if (off > clean->worst_off || off > INFLUENCE_SUM_TOLERANCE) {
                uint32_t count = 0;
                for (uint32_t k = 0; k < 4; k++) {
                    count += block.bits[k][i] != 0 ? 1u : 0u;
                }
                pelti_influence_note_sum(clean, v + i, block.sum[i], count);
            }
        }
    }
    for (; v < job->vertex_count; v++) {
        pelt_result result = pelti_influence_clean_vertex(clean, v);
        if (result != PELT_OK) {
            return result;
        }
    }
    return PELT_OK;
}

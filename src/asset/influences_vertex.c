// SPDX-License-Identifier: MIT
// Cleans one vertex in full: any number of sets, joints listed twice, reduction, and weights that want care.
#include "asset/influences.h"

#include <math.h>

// Moves float weights so that they sum to one as closely as floats can: what rounding lost goes to the largest, and
// what that one's coarser step leaves over goes to the first other weight that can take it exactly and is not changed
// much by it.
static void settle(float *weights, uint32_t count)
{
    double sum = 0.0;
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += (double)weights[i];
        largest = weights[i] > weights[largest] ? i : largest;
    }
    double rest = 1.0 - sum;
    if (rest == 0.0) {
        return;
    }
    float before = weights[largest];
    weights[largest] = (float)((double)before + rest);
    rest -= (double)weights[largest] - (double)before;
    if (rest == 0.0) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        float moved = (float)((double)weights[i] + rest);
        if (i != largest && (double)moved - (double)weights[i] == rest && (double)weights[i] > 64.0 * fabs(rest)) {
            weights[i] = moved;
            return;
        }
    }
}

// Scales four weights, of which any may be zero, to multiples of 2^-24 that sum to one exactly, in any order of adding
// and in float too: all partial sums are multiples of 2^-24 below one, which floats hold. Nothing moves by more than
// half a step but the largest, which takes what the others leave. False where a weight would become zero. The short
// path does the same: influences_block.c.
static bool round_four(const double weights[4], double scale, double out[4])
{
    bool vanished = false;
    for (int i = 0; i < 4; i++) {
        out[i] = (weights[i] * scale + INFLUENCE_ROUNDER) - INFLUENCE_ROUNDER;
        vanished |= out[i] == 0.0 && weights[i] != 0.0;
    }
    double rest = 1.0 - ((out[0] + out[1]) + (out[2] + out[3]));
    int largest = 0;
    for (int i = 1; i < 4; i++) {
        largest = out[i] > out[largest] ? i : largest;
    }
    out[largest] += rest;
    return !vanished;
}

void pelti_influence_note_sum(influence_clean *clean, uint32_t vertex, double sum, uint32_t count)
{
    double off = fabs(sum - 1.0);
    if (off > clean->worst_off) {
        clean->worst_off = off;
        clean->report.worst_sum_vertex = vertex;
    }
    if (off > INFLUENCE_SUM_TOLERANCE * (double)count) {
        clean->report.normalized_count++;
        if (off > clean->worst_sum_error) {
            clean->worst_sum_error = off;
            clean->worst_sum = (influence_place){vertex, 0, PELT_NONE};
        }
    }
}

static void store(influence_clean *clean, uint32_t vertex, uint32_t count, const influence_slot *slots,
                  const float *weights)
{
    uint16_t *joints = clean->joints + (uint64_t)vertex * clean->width;
    float *out = clean->weights + (uint64_t)vertex * clean->width;
    for (uint32_t i = 0; i < count; i++) {
        joints[i] = (uint16_t)slots[i].joint;
        out[i] = weights[i];
        clean->joint_bound = slots[i].joint >= clean->joint_bound ? slots[i].joint + 1 : clean->joint_bound;
    }
    clean->used_width = count > clean->used_width ? count : clean->used_width;
}

// The slot of the vertex that already has this joint, or PELT_NONE.
static uint32_t find_joint(influence_clean *clean, uint32_t vertex, uint32_t count, uint32_t joint)
{
    if (clean->joint_stamps) {
        return clean->joint_stamps[joint] == vertex + 1 ? clean->joint_slots[joint] : PELT_NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (clean->slots[i].joint == joint) {
            return i;
        }
    }
    return PELT_NONE;
}

// Collects the weighted joints of a vertex, each once.
static pelt_result gather(influence_clean *clean, uint32_t vertex, uint32_t *out_count)
{
    uint32_t count = 0;
    bool merged = false;
    for (uint32_t entry = 0; entry < 4 * clean->job->set_count; entry++) {
        uint32_t set = entry / 4;
        size_t at = (size_t)vertex * 4 + entry % 4;
        float weight = clean->job->sets[set].weights[at];
        uint32_t joint = clean->job->sets[set].joints[at];
        if (!(weight >= 0.0f) || isinf(weight)) {
            return pelti_influence_bad_weight(clean, vertex, set, weight);
        }
        if (weight == 0.0f) {
            if (joint >= clean->joint_limit) {
                if (clean->report.ignored_joint_count == 0) {
                    clean->first_ignored = (influence_place){vertex, set, joint};
                }
                clean->report.ignored_joint_count += clean->report.ignored_joint_count < UINT32_MAX ? 1 : 0;
            }
            continue;
        }
        if (joint >= clean->joint_limit) {
            return pelti_influence_bad_joint(clean, vertex, set, joint, true);
        }
        uint32_t slot = find_joint(clean, vertex, count, joint);
        if (slot != PELT_NONE) {
            clean->slots[slot].weight += (double)weight;
            if (clean->report.merged_count == 0 && !merged) {
                clean->first_merged = (influence_place){vertex, set, joint};
            }
            merged = true;
            continue;
        }
        if (clean->joint_stamps) {
            clean->joint_stamps[joint] = vertex + 1;
            clean->joint_slots[joint] = count;
        }
        clean->slots[count++] = (influence_slot){(double)weight, joint, false};
    }
    clean->report.merged_count += merged ? 1 : 0;
    *out_count = count;
    return PELT_OK;
}

// Whether slot a goes before slot b when influences are dropped: the lighter one, and the later of equals.
static bool drops_before(const influence_slot *slots, uint32_t a, uint32_t b)
{
    return slots[a].weight < slots[b].weight || (slots[a].weight == slots[b].weight && a > b);
}

static void sift_down(const influence_slot *slots, uint32_t *heap, uint32_t count, uint32_t at)
{
    for (;;) {
        uint32_t first = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            first = drops_before(slots, heap[child], heap[first]) ? child : first;
        }
        if (first == at) {
            return;
        }
        uint32_t moved = heap[at];
        heap[at] = heap[first];
        heap[first] = moved;
        at = first;
    }
}

// Keeps the limit heaviest slots in their order; returns the weight of the others. A heap of the kept ones makes it
// n log n for any number of sets.
static double reduce(influence_clean *clean, uint32_t count, uint32_t limit)
{
    influence_slot *slots = clean->slots;
    uint32_t *heap = clean->heap;
    for (uint32_t i = 0; i < limit; i++) {
        heap[i] = i;
    }
    for (uint32_t i = limit / 2; i-- > 0;) {
        sift_down(slots, heap, limit, i);
    }
    for (uint32_t i = limit; i < count; i++) {
        uint32_t loser = i;
        if (drops_before(slots, heap[0], i)) {
            loser = heap[0];
            heap[0] = i;
            sift_down(slots, heap, limit, 0);
        }
        slots[loser].dropped = true;
    }
    double lost = 0.0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (slots[i].dropped) {
            lost += slots[i].weight;
        } else {
            slots[kept++] = slots[i];
        }
    }
    return lost;
}

static void reduce_vertex(influence_clean *clean, uint32_t vertex, uint32_t count, double sum)
{
    double lost = reduce(clean, count, clean->job->influence_limit) / sum;
    clean->report.reduced_count++;
    if (lost > (double)clean->report.worst_reduced_weight) {
        clean->report.worst_reduced_weight = (float)lost;
        clean->worst_reduced = (influence_place){vertex, 0, PELT_NONE};
    }
}

// round_four for slots, so that both paths give the same weights; false where there is nothing to round or it will not
// do.
static bool round_few(const influence_slot *slots, uint32_t count, float *weights)
{
    double wide[4] = {0};
    double rounded[4];
    for (uint32_t i = 0; i < count; i++) {
        wide[i] = slots[i].weight;
    }
    double sum = (wide[0] + wide[1]) + (wide[2] + wide[3]);
    if (sum == 1.0 || !round_four(wide, 1.0 / sum, rounded)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        weights[i] = (float)rounded[i];
    }
    return true;
}

pelt_result pelti_influence_clean_vertex(influence_clean *clean, uint32_t vertex)
{
    uint32_t count = 0;
    pelt_result result = gather(clean, vertex, &count);
    if (result != PELT_OK) {
        return result;
    }
    if (count == 0) {
        uint32_t joint = clean->job->sets[0].joints[(size_t)vertex * 4];
        if (joint >= clean->joint_limit) {
            return pelti_influence_bad_joint(clean, vertex, 0, joint, false);
        }
        if (clean->report.unweighted_count++ == 0) {
            clean->first_unweighted = (influence_place){vertex, 0, joint};
        }
        store(clean, vertex, 1, &(influence_slot){1.0, joint, false}, &(float){1.0f});
        return PELT_OK;
    }
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        sum += clean->slots[i].weight;
    }
    pelti_influence_note_sum(clean, vertex, sum, count);
    uint32_t limit = clean->job->influence_limit;
    if (limit != 0 && count > limit) {
        reduce_vertex(clean, vertex, count, sum);
        count = limit;
        sum = 0.0;
        for (uint32_t i = 0; i < count; i++) {
            sum += clean->slots[i].weight;
        }
    }
    // A weight that rounds to zero beside the others is none.
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        float weight = (float)(clean->slots[i].weight / sum);
        if (weight > 0.0f) {
            clean->slots[kept] = clean->slots[i];
            clean->rounded[kept++] = weight;
        }
    }
    if (kept > 4 || !round_few(clean->slots, kept, clean->rounded)) {
        settle(clean->rounded, kept);
    }
    store(clean, vertex, kept, clean->slots, clean->rounded);
    return PELT_OK;
}

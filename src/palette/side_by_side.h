// SPDX-License-Identifier: MIT
// From local transforms to palettes for several instances at once, written once for every vector type. Whoever includes
// this has defined L(name) (lanes.h) and BINDS, the skeleton's binds in the type's precision as scalars.
#include "math/lanes.h"

// The transform of the step to come. It is loaded, and its division under way, while the products of the step before
// are computed: one step fills more than the processor looks ahead by itself.
typedef struct L(ahead) {
    L(wide) t[10];
    L(wide) k;
} L(ahead);

enum {
    L(prefetch_distance) = 12 // steps
};

// Lanes whose instance uses the asset's matrix of that node, as bits.
static inline uint32_t L(matrix_users)(const pelti_batch *batch, uint32_t node)
{
    uint32_t users = 0;
    for (uint32_t i = 0; i < L(count) && !batch->is_plain; i++) {
        users |= pelti_batch_uses_matrix(batch, i, node) ? 1U << i : 0;
    }
    return users;
}

static void L(use_matrix)(const pelt_mat34 *matrix, uint32_t users, L(mat34) * local)
{
    for (uint32_t k = 0; k < 12; k++) {
        L(scalar) lanes[L(count)];
        memcpy(lanes, &local->m[k], sizeof lanes);
        for (uint32_t i = 0; i < L(count); i++) {
            lanes[i] = users >> i & 1U ? (L(scalar))matrix->m[k / 4][k % 4] : lanes[i];
        }
        memcpy(&local->m[k], lanes, sizeof lanes);
    }
}

// What a later step reads and writes: the hardware follows fewer streams than a wide batch has, and none of them from
// one batch to the next.
static inline void L(prefetch)(const pelti_batch *batch, const pelti_step *step)
{
    const size_t stride = batch->is_4x4 ? 16 : 12;
    for (uint32_t i = 0; i < L(count); i++) {
        prefetch_line(&batch->transforms[i][step->node]);
    }
    // Streams read nothing.
    const bool streams = L(streams) && batch->store == PELTI_STORE_4X4_STREAMED;
    const bool writes = !streams && step->output_begin < step->output_end;
    for (uint32_t i = 0; writes && i < L(count); i++) {
        prefetch_line(batch->palettes[i] + stride * batch->skeleton->outputs[step->output_begin]);
    }
}

// A step with a parent and one joint of the palette. The next step's transforms are loaded in the middle, so that they
// and their division are under way while the products are computed.
static inline void L(common_step)(const pelti_batch *batch, const pelti_step *step, uint32_t next_node,
                                  L(mat34) * worlds, L(ahead) * ahead)
{
    const uint32_t index = batch->skeleton->outputs[step->output_begin];
    const L(scalar) *bind = BINDS(batch->skeleton, index);
    const L(wide) *parent = worlds[step->parent_slot].m;
    L(mat34) local;
    L(local)(ahead->t, ahead->k, &local);
    L(mat34) world;
    for (int r = 0; r < 12; r += 4) {
        L(multiply_row)(parent + r, &local, world.m + r);
    }
    if (step->slot != PELT_NONE) {
        worlds[step->slot] = world;
    }
    L(load_trs)(batch->transforms, next_node, ahead->t);
    ahead->k = L(rotation_factor)(ahead->t);
    L(mat34) out;
    for (int r = 0; r < 12; r += 4) {
        L(multiply_row_by_one)(world.m + r, bind, out.m + r);
    }
    L(store_matrices)(out.m, batch->palettes, (batch->is_4x4 ? 16 : 12) * (size_t)index, batch->store);
}

// Any other one: roots, nodes with a matrix, none or several matrices of the palette.
static void L(other_step)(const pelti_batch *batch, const pelti_step *step, uint32_t users, L(mat34) * worlds,
                          const L(ahead) * ahead)
{
    const pelt_skeleton *skeleton = batch->skeleton;
    const size_t stride = batch->is_4x4 ? 16 : 12;
    L(mat34) local;
    L(local)(ahead->t, ahead->k, &local);
    if (users != 0) {
        L(use_matrix)(&skeleton->data->nodes[step->node].local_matrix, users, &local);
    }
    L(mat34) world = local;
    for (int r = 0; step->parent_slot != PELT_NONE && r < 12; r += 4) {
        L(multiply_row)(worlds[step->parent_slot].m + r, &local, world.m + r);
    }
    if (step->slot != PELT_NONE) {
        worlds[step->slot] = world;
    }
    for (uint32_t i = step->output_begin; i < step->output_end; i++) {
        uint32_t index = skeleton->outputs[i];
        L(mat34) out = world;
        for (int r = 0; index < skeleton->bind_count && r < 12; r += 4) {
            L(multiply_row_by_one)(world.m + r, BINDS(skeleton, index), out.m + r);
        }
        L(store_matrices)(out.m, batch->palettes, stride * index, batch->store);
    }
}

static void L(side_by_side)(const pelti_batch *batch)
{
    const pelti_step *steps = batch->skeleton->steps;
    const uint32_t step_count = batch->skeleton->step_count;
    L(mat34) worlds[PELTI_SLOT_LIMIT];
    L(ahead) ahead;
    if (step_count == 0) {
        return;
    }
    L(load_trs)(batch->transforms, steps[0].node, ahead.t);
    ahead.k = L(rotation_factor)(ahead.t);
    for (uint32_t i = 0; i < step_count; i++) {
        // The last step loads its own transform again.
        uint32_t next_node = steps[i + 1 < step_count ? i + 1 : i].node;
        if (batch->is_large) {
            uint32_t later = i + L(prefetch_distance);
            L(prefetch)(later < step_count ? batch : batch->next, &steps[later % step_count]);
        }
        uint32_t users = L(matrix_users)(batch, steps[i].node);
        if (steps[i].has_one_bind && users == 0) {
            L(common_step)(batch, &steps[i], next_node, worlds, &ahead);
        } else {
            L(other_step)(batch, &steps[i], users, worlds, &ahead);
            L(load_trs)(batch->transforms, next_node, ahead.t);
            ahead.k = L(rotation_factor)(ahead.t);
        }
    }
    if (batch->store == PELTI_STORE_4X4_STREAMED) {
        finish_streams();
    }
}

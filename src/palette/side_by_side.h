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

// One row of world = parent * local, kept in the slot if there is one (the parent's own, maybe), and of world * bind.
static inline void L(row)(const L(wide) parent[4], const L(mat34) * local, const L(scalar) * bind, L(wide) * slot,
                          L(wide) out[4])
{
    L(wide) world[4];
    L(multiply_row)(parent, local, world);
    for (int c = 0; slot && c < 4; c++) {
        slot[c] = world[c];
    }
    L(multiply_row_by_one)(world, bind, out);
}

// A step with a parent and one joint of the palette. Rows are finished one by one, so that what is alive at a time fits
// 32 registers, and the loads of the next step are spread among them, so that loads, products and stores overlap.
static inline void L(common_step)(const pelti_batch *batch, const pelti_step *step, uint32_t next_node,
                                  L(mat34) * worlds, L(ahead) * ahead)
{
    const L(wide) *parent = worlds[step->parent_slot].m;
    const uint32_t index = batch->skeleton->outputs[step->output_begin];
    const L(scalar) *bind = BINDS(batch->skeleton, index);
    const size_t offset = (batch->is_4x4 ? 16 : 12) * (size_t)index;
    L(wide) *slot = step->slot == PELT_NONE ? NULL : worlds[step->slot].m;
    L(wide) rows[8];
    L(mat34) local;
    for (uint32_t i = 0; batch->is_large && i < L(count); i++) {
        prefetch_ahead(&batch->transforms[i][next_node]);
        prefetch_ahead(batch->palettes[i] + offset);
    }
    L(local)(ahead->t, ahead->k, &local);
    L(row)(parent, &local, bind, slot, rows);
    L(load_head)(batch->transforms, next_node, ahead->t);
    L(row)(parent + 4, &local, bind, slot ? slot + 4 : NULL, rows + 4);
    L(store_rows01)(rows, batch->palettes, offset);
    L(load_tail)(batch->transforms, next_node, ahead->t + 8);
    ahead->k = L(rotation_factor)(ahead->t);
    L(row)(parent + 8, &local, bind, slot ? slot + 8 : NULL, rows);
    L(store_row2)(rows, batch->palettes, offset, batch->is_4x4);
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
        L(store_rows01)(out.m, batch->palettes, stride * index);
        L(store_row2)(out.m + 8, batch->palettes, stride * index, batch->is_4x4);
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
        uint32_t users = L(matrix_users)(batch, steps[i].node);
        if (steps[i].has_one_bind && users == 0) {
            L(common_step)(batch, &steps[i], next_node, worlds, &ahead);
        } else {
            L(other_step)(batch, &steps[i], users, worlds, &ahead);
            L(load_trs)(batch->transforms, next_node, ahead.t);
            ahead.k = L(rotation_factor)(ahead.t);
        }
    }
}

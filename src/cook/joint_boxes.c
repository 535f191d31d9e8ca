// SPDX-License-Identifier: MIT
// For each joint of a skin the box, in joint space, of every vertex that it influences once packed, morphs included.
// Source of the transformed box: J. Arvo, "Transforming Axis-Aligned Bounding Boxes", Graphics Gems, 1990.
#include "cook/packed.h"

#include "cook/cook_internal.h"
#include "math/round.h"

enum {
    BLOCK_SIZE = 256 // vertices; 12 KB of intervals on the stack
};

// Where morphs can take each vertex of a block, in bind space.
typedef struct block {
    uint32_t first;
    uint32_t count;
    double low[BLOCK_SIZE][3];
    double high[BLOCK_SIZE][3];
} block;

typedef struct bounds {
    double low[3];
    double high[3];
} bounds;

// The first row of a sparse target at or after the vertex.
static uint32_t first_row(const pelt_cooked_target *target, uint32_t vertex)
{
    uint32_t low = 0;
    uint32_t high = target->vertex_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (target->vertices[middle] < vertex) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Products of two floats, exact in double.
static void widen(block *b, uint32_t local, const pelt_cooked_target *target, uint32_t row, double least, double most)
{
    float delta[3];
    pelti_target_row(target, 0, row, delta);
    for (int c = 0; c < 3; c++) {
        double x = least * (double)delta[c];
        double y = most * (double)delta[c];
        b->low[local][c] += x < y ? x : y;
        b->high[local][c] += x < y ? y : x;
    }
}

static void morph_block(const cook_primitive *p, block *b)
{
    double least = (double)p->options->morph_weight_min;
    double most = (double)p->options->morph_weight_max;
    for (uint32_t t = 0; t < p->out.target_count; t++) {
        const pelt_cooked_target *target = &p->out.targets[t];
        if (!target->positions) {
            continue;
        }
        if (!(target->format & PELT_TARGET_SPARSE)) {
            for (uint32_t i = 0; i < b->count; i++) {
                widen(b, i, target, b->first + i, least, most);
            }
            continue;
        }
        for (uint32_t row = first_row(target, b->first);
             row < target->vertex_count && target->vertices[row] < b->first + b->count; row++) {
            widen(b, target->vertices[row] - b->first, target, row, least, most);
        }
    }
}

static void load_block(const cook_primitive *p, block *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const float *position = p->out.positions + (uint64_t)(b->first + i) * 3;
        for (int c = 0; c < 3; c++) {
            b->low[i][c] = (double)position[c];
            b->high[i][c] = (double)position[c];
        }
    }
    morph_block(p, b);
}

static void add_to_joint(const pelt_skin *skin, uint32_t joint, const double low[3], const double high[3],
                         bounds *joint_bounds)
{
    const pelt_mat34 *m = &skin->inverse_binds[joint];
    bounds *box = &joint_bounds[joint];
    for (int r = 0; r < 3; r++) {
        double least = (double)m->m[r][3];
        double most = least;
        for (int c = 0; c < 3; c++) {
            double x = (double)m->m[r][c] * low[c];
            double y = (double)m->m[r][c] * high[c];
            least += x < y ? x : y;
            most += x < y ? y : x;
        }
        box->low[r] = least < box->low[r] ? least : box->low[r];
        box->high[r] = most > box->high[r] ? most : box->high[r];
    }
}

static void add_vertex(const cook_primitive *p, const pelt_skin *skin, const block *b, uint32_t local,
                       bounds *joint_bounds)
{
    const cook_vertex *vertex = &p->vertices[p->out.source_vertices[b->first + local]];
    const pelt_extra_influence *extras = p->source_extras + vertex->first_extra;
    float weights[4];
    pelt_weights_decode(p->out.encoding, vertex->code, weights);
    for (int slot = 0; slot < 4; slot++) {
        if (weights[slot] != 0.0F && vertex->joints[slot] < skin->joint_count) {
            add_to_joint(skin, vertex->joints[slot], b->low[local], b->high[local], joint_bounds);
        }
    }
    for (uint32_t i = 0; i < vertex->extra_count; i++) {
        if (extras[i].joint < skin->joint_count) {
            add_to_joint(skin, extras[i].joint, b->low[local], b->high[local], joint_bounds);
        }
    }
}

pelt_result pelti_cook_joint_boxes(const cook_primitive *p, const pelt_skin *skin, pelt_box *out_boxes,
                                   pelt_error *error)
{
    bounds *joint_bounds = pelti_cook_allocate(p->arena, skin->joint_count, sizeof *joint_bounds);
    if (!joint_bounds) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for joint boxes");
    }
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        joint_bounds[j] = (bounds){{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    }
    block b = {.first = 0, .count = 0};
    for (uint32_t v = 0; p->vertices && v < p->out.vertex_count; v += b.count) {
        b.first = v;
        b.count = p->out.vertex_count - v < BLOCK_SIZE ? p->out.vertex_count - v : BLOCK_SIZE;
        load_block(p, &b);
        for (uint32_t i = 0; i < b.count; i++) {
            add_vertex(p, skin, &b, i, joint_bounds);
        }
    }
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        for (int c = 0; c < 3; c++) {
            out_boxes[j].min[c] = pelti_round_down(joint_bounds[j].low[c]);
            out_boxes[j].max[c] = pelti_round_up(joint_bounds[j].high[c]);
        }
    }
    return PELT_OK;
}

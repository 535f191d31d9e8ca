// SPDX-License-Identifier: MIT
// The conservative box of a skinned primitive from its joint boxes.
//
// How far a vertex that pelt_skin_evaluate writes can lie from the exact sum of w_i M_i p, per row. u = 2^-24 is half
// the spacing of floats at one, A holds the largest |p|, N is the number of influences, T that of morphs:
//   palette    M is rounded once:                                   u |M_i|
//   weights    rounded by the unpacking and by a clean-up:        4 u |M_i|
//   blending   one product and N - 1 sums, each of which is
//              at most the sum of w_i |M_i|:                      N u |M_i|
//   transform  a product and at most three sums:                  4 u |M| A
//   morphs     T sums of at most A, products of 2 A in all, through the 3x3 of M: (T + 2) u |M| A
// Every term is a sum over i with the weights w_i, so growing each joint's box by its own
//   g_i = u ((N + 9) (|M_i| A + |t_i|) + (T + 2) |M_i| A)
// before the union covers them all: a vertex lies among the grown boxes of its joints with the same weights that it has
// among the exact ones. Products of roundings are below 1 % of that, and N + 9 becomes N + 12, while N is below 2^17.
// To this comes what double maths loses, here and in the palette, on |W| |B| before terms cancel, and what floats lose
// near zero, 2^-126 an operation where subnormal numbers are flushed. Where |M| A can leave the range of floats, every
// position is possible.
#include "base/base.h"
#include "math/round.h"

#include <pelt/bounds.h>

#include <float.h>

enum {
    DEFAULT_INFLUENCES = 4 // packed ones have at least four, whatever their source
};

// What the growth depends on beside the joint.
typedef struct rounding {
    double reach[3]; // A
    double blend;    // u (N + 12)
    double morph;    // u (T + 2)
    double tiny;     // what vanishes near zero, in blending
    double tiny_morph;
} rounding;

typedef struct counts {
    uint32_t influences;
    uint32_t targets;
} counts;

// The most that any mesh of the asset has, for callers who do not say.
static counts asset_counts(const pelt_asset_data *asset)
{
    counts out = {DEFAULT_INFLUENCES, 0};
    for (uint32_t m = 0; m < asset->mesh_count; m++) {
        const pelt_mesh *mesh = &asset->meshes[m];
        out.targets = mesh->target_count > out.targets ? mesh->target_count : out.targets;
        for (uint32_t i = 0; i < mesh->primitive_count; i++) {
            uint32_t count = mesh->primitives[i].influence_count;
            out.influences = count > out.influences ? count : out.influences;
        }
    }
    return out;
}

static rounding make_rounding(const pelt_joint_bounds_job *job)
{
    counts count = {job->influence_count, job->target_count};
    if (count.influences == 0) {
        count = asset_counts(pelt_asset_get(pelt_pose_asset(job->pose)));
    }
    rounding out = {.blend = 0x1p-24 * ((double)count.influences + 12.0),
                    .morph = count.targets > 0 ? 0x1p-24 * ((double)count.targets + 2.0) : 0.0};
    double sum = 1.0;
    for (int c = 0; c < 3; c++) {
        double low = fabs((double)job->bind_box.min[c]);
        double high = fabs((double)job->bind_box.max[c]);
        out.reach[c] = low > high ? low : high;
        sum += out.reach[c];
    }
    out.tiny = 0x1p-126 * ((double)count.influences + 8.0) * sum;
    out.tiny_morph = 0x1p-126 * (double)count.targets;
    return out;
}

// One row of M = W B over the box of bind positions: sums of absolute values.
typedef struct reach {
    double linear;  // |M| A
    double moved;   // |M| A + |t|
    double highest; // element of M
    double chain;   // the same as moved before terms cancel: |W| (|B| A + |b|) + |t_W|
} reach;

static reach row_reach(const double *world_row, const pelt_mat34 *bind, const double reach_of_bind[3])
{
    reach out = {.chain = fabs(world_row[3])};
    double row[4] = {0.0, 0.0, 0.0, world_row[3]};
    for (int k = 0; k < 3; k++) {
        double along = fabs((double)bind->m[k][3]);
        for (int c = 0; c < 4; c++) {
            row[c] += world_row[k] * (double)bind->m[k][c];
        }
        for (int c = 0; c < 3; c++) {
            along += fabs((double)bind->m[k][c]) * reach_of_bind[c];
        }
        out.chain += fabs(world_row[k]) * along;
    }
    for (int c = 0; c < 3; c++) {
        out.linear += fabs(row[c]) * reach_of_bind[c];
    }
    out.moved = out.linear + fabs(row[3]);
    for (int c = 0; c < 4; c++) {
        out.highest = fabs(row[c]) > out.highest ? fabs(row[c]) : out.highest;
    }
    return out;
}

typedef struct interval {
    double low;
    double high;
} interval;

// A row of a joint's box in world space, grown.
static interval joint_interval(const rounding *r, const double *world_row, const pelt_mat34 *bind, const pelt_box *box)
{
    reach at = row_reach(world_row, bind, r->reach);
    interval out = {world_row[3], world_row[3]};
    double chain = at.chain + fabs(world_row[3]);
    for (int k = 0; k < 3; k++) {
        double x = world_row[k] * (double)box->min[k];
        double y = world_row[k] * (double)box->max[k];
        out.low += x < y ? x : y;
        out.high += x < y ? y : x;
        chain += fabs(x) + fabs(y);
    }
    double growth = r->blend * at.moved + r->morph * at.linear + 0x1p-49 * chain + r->tiny +
                    r->tiny_morph * (3.0 * at.highest + 1.0);
    // Written so that NaN fails too. Half of the largest float leaves room for every rounding on the way.
    if (!(at.moved + growth < 0.5 * (double)FLT_MAX && at.highest < 0.5 * (double)FLT_MAX && chain < HUGE_VAL)) {
        return (interval){-HUGE_VAL, HUGE_VAL};
    }
    out.low -= growth;
    out.high += growth;
    return out;
}

pelt_result pelt_joint_bounds(const pelt_joint_bounds_job *job, pelt_box *out_box)
{
    if (!job || !out_box || !job->pose || (!job->boxes && job->joint_count > 0)) {
        return PELT_ERROR_ARGUMENT;
    }
    const pelt_asset_data *asset = pelt_asset_get(pelt_pose_asset(job->pose));
    if (job->skin >= asset->skin_count || job->joint_count != asset->skins[job->skin].joint_count) {
        return PELT_ERROR_ARGUMENT;
    }
    const pelt_skin *skin = &asset->skins[job->skin];
    rounding r = make_rounding(job);
    interval rows[3];
    for (int k = 0; k < 3; k++) {
        rows[k] = (interval){HUGE_VAL, -HUGE_VAL};
    }
    for (uint32_t j = 0; j < job->joint_count; j++) {
        if (pelt_box_is_empty(&job->boxes[j])) {
            continue;
        }
        const double *world = pelt_pose_world_double(job->pose, skin->joints[j]);
        for (int k = 0; k < 3; k++) {
            interval at = joint_interval(&r, world + (size_t)k * 4, &skin->inverse_binds[j], &job->boxes[j]);
            rows[k].low = at.low < rows[k].low ? at.low : rows[k].low;
            rows[k].high = at.high > rows[k].high ? at.high : rows[k].high;
        }
    }
    for (int k = 0; k < 3; k++) {
        out_box->min[k] = pelti_round_down(rows[k].low);
        out_box->max[k] = pelti_round_up(rows[k].high);
    }
    return PELT_OK;
}

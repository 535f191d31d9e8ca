// SPDX-License-Identifier: MIT
// From the blended matrices of a group of blocks to outputs, one output after the other: where a block is four
// vertices, its square roots and divisions take so long that other blocks must be worked at meanwhile.
#ifndef PELTI_SKIN_WIDE_PHASES_H
#define PELTI_SKIN_WIDE_PHASES_H

#include "skin/wide_rows.h"

// The matrices of a group of vertices and the directions that they make.
typedef struct group_matrices {
    wide m[GROUP_SIZE / WIDE][12];
    wide signs[GROUP_SIZE / WIDE];
    uint32_t unsure[GROUP_SIZE / WIDE]; // of frames
    direction normals[GROUP_SIZE / WIDE];
    direction tangents[GROUP_SIZE / WIDE];
} group_matrices;

// Signs and normals, these not yet of unit length.
ALWAYS_INLINE void begin_normals(const span *s, shape x, bool signs, bool normals, uint32_t first, uint32_t last,
                                 group_matrices *in)
{
    for (uint32_t v = first, i = 0; v < last; v += WIDE, i++) {
        block b;
        direction *normal = &in->normals[i];
        wide_frame f = {.sign = wide_set(0.0F)};
        make_block(s, x, v, last, &b);
        make_cofactors(in->m[i], 0, 0, &f);
        find_unsure(in->m[i], NULL, &f);
        if (signs) {
            skin_signs(s, &b, &f);
        }
        if (!x.tight) {
            in->signs[i] = f.sign;
        }
        in->unsure[i] = f.unsure;
        f.unsure = 0; // directions are judged at the end
        if (normals) {
            make_cofactors(in->m[i], 1, 2, &f);
            make_normal(s, &b, x, &f, normal);
        }
    }
}

// Of normals the end, of tangents the beginning.
ALWAYS_INLINE void begin_tangents(const span *s, shape x, bool normals, bool tangents, uint32_t first, uint32_t last,
                                  group_matrices *in)
{
    for (uint32_t v = first, i = 0; v < last; v += WIDE, i++) {
        block b;
        make_block(s, x, v, last, &b);
        if (normals) {
            find_scale(&s->plan->job, &in->normals[i]);
        }
        if (tangents) {
            wide_frame f = {.sign = x.tight ? wide_set(0.0F) : in->signs[i]};
            make_tangent(s, &b, x, in->m[i], &f, &in->tangents[i]);
        }
        if (normals) {
            store_normal(s, &b, &in->normals[i]);
        }
    }
}

// Of tangents the end, and positions.
ALWAYS_INLINE void finish_group(const span *s, shape x, bool tangents, bool places, uint32_t first, uint32_t last,
                                group_matrices *in, wide_box *box)
{
    wide_box local = *box;
    for (uint32_t v = first, i = 0; v < last; v += WIDE, i++) {
        block b;
        make_block(s, x, v, last, &b);
        if (tangents) {
            find_scale(&s->plan->job, &in->tangents[i]);
        }
        if (places) {
            skin_positions(s, &b, x, in->m[i], &local);
        }
        if (tangents) {
            store_tangent(s, &b, &in->tangents[i]);
        }
    }
    *box = local;
}

// Lanes of which a direction is for the scalar kernel, of those whose matrices leave doubt. Loads it again, which few
// blocks need.
ALWAYS_INLINE uint32_t judge_normals(const span *s, const block *b, shape x, wide square, uint32_t frames, wide length2)
{
    wide in[3];
    load_normals(b, packed_directions(&s->plan->job, x), in);
    return frames & shrunk_normals(square, in, length2);
}

ALWAYS_INLINE uint32_t judge_tangents(const span *s, const block *b, shape x, wide square, uint32_t frames,
                                      wide length2)
{
    wide in[4];
    load_tangents(b, packed_directions(&s->plan->job, x), in);
    return frames & shrunk_tangents(square, in, length2);
}

// Block i.
static unsure_lanes judge_block(const span *s, uint32_t first, uint32_t last, const group_matrices *in, uint32_t i)
{
    wide square = sum_squares(in->m[i]);
    unsure_lanes out = {0, 0};
    block b;
    make_block(s, STRIDED, first, last, &b);
    if (s->plan->job.out_normals) {
        const direction *d = &in->normals[i];
        out.normals = d->unsure | judge_normals(s, &b, STRIDED, square, in->unsure[i], d->length2);
    }
    if (s->plan->job.out_tangents) {
        const direction *d = &in->tangents[i];
        out.tangents = d->unsure | judge_tangents(s, &b, STRIDED, square, in->unsure[i], d->length2);
    }
    return out;
}

static void mend_group(const span *s, uint32_t first, uint32_t last, const group_matrices *in)
{
    bool normals = s->plan->job.out_normals != NULL;
    bool tangents = s->plan->job.out_tangents != NULL;
    for (uint32_t v = first, i = 0; v < last; v += WIDE, i++) {
        uint32_t doubt = (normals ? in->normals[i].unsure : 0) | (tangents ? in->tangents[i].unsure : 0);
        if ((normals || tangents) && (doubt | in->unsure[i])) {
            unsure_lanes unsure = judge_block(s, v, last, in, i);
            if (unsure.normals | unsure.tangents) {
                mend_lanes(s, v, WIDE, unsure);
            }
        }
    }
}

// s: a copy of the span and its plan, which stores to outputs cannot reach.
ALWAYS_INLINE void skin_phases(const span *s, shape x, uint32_t first, uint32_t last, group_matrices *in, wide_box *box)
{
    const pelt_skin_job *job = &s->plan->job;
    bool signs = !x.tight && (job->out_mirrored || (job->flags & PELT_NORMAL_OUTWARD));
    bool places = job->out_positions || job->box;
    if (job->out_normals) {
        begin_normals(s, x, signs, true, first, last, in);
    } else if (signs || job->out_tangents) {
        begin_normals(s, x, signs, false, first, last, in);
    }
    if (job->out_normals && job->out_tangents) {
        begin_tangents(s, x, true, true, first, last, in);
    } else if (job->out_normals) {
        begin_tangents(s, x, true, false, first, last, in);
    } else if (job->out_tangents) {
        begin_tangents(s, x, false, true, first, last, in);
    }
    if (job->out_tangents && places) {
        finish_group(s, x, true, true, first, last, in, box);
    } else if (job->out_tangents) {
        finish_group(s, x, true, false, first, last, in, box);
    } else if (places) {
        finish_group(s, x, false, true, first, last, in, box);
    }
}

#endif

// SPDX-License-Identifier: MIT
// Normals and tangents: made of a blended matrix, scaled to unit length, stored; and all outputs of one block in the
// order that registers allow. Shared by all wide kernels.
#ifndef PELTI_SKIN_WIDE_DIRECTIONS_H
#define PELTI_SKIN_WIDE_DIRECTIONS_H

#include "skin/wide_frame.h"

// A direction before it is of unit length. Square roots and divisions take long, so they begin early and something else
// is done before their results are needed.
typedef struct direction {
    wide v[4];
    wide length2;
    wide scale;
    uint32_t unsure; // a bit for each lane
} direction;

// What the scale is made of: the square of the length, or for codes the sum of the sizes.
ALWAYS_INLINE void measure_direction(const pelt_skin_job *job, direction *d)
{
    wide length2 = wide_dot(d->v, d->v);
    d->unsure = unsure_lengths(length2);
    d->length2 = length2;
    d->scale = length2;
    if (job->out_direction_format != PELT_DIRECTION_FLOAT) {
        d->scale = wide_add(wide_add(wide_abs(d->v[0]), wide_abs(d->v[1])), wide_abs(d->v[2]));
    }
}

ALWAYS_INLINE void find_scale(const pelt_skin_job *job, direction *d)
{
    bool codes = job->out_direction_format != PELT_DIRECTION_FLOAT;
    d->scale = wide_div(wide_set(1.0F), codes ? d->scale : wide_sqrt(d->scale));
}

ALWAYS_INLINE bool packed_directions(const pelt_skin_job *job, shape x)
{
    return x.tight ? x.packed : job->direction_format == PELT_DIRECTION_OCTAHEDRAL;
}

ALWAYS_INLINE void load_normals(const block *b, bool packed, wide out[3])
{
    if (packed) {
        wide_decode_normal(wide_load_codes(b->normals, b->normals_stride), out);
    } else {
        wide_load3(b->normals, b->normals_stride, out);
    }
}

ALWAYS_INLINE void load_tangents(const block *b, bool packed, wide out[4])
{
    if (packed) {
        wide_decode_tangent(wide_load_codes(b->tangents, b->tangents_stride), out);
    } else {
        wide_load4(b->tangents, b->tangents_stride, out);
    }
}

ALWAYS_INLINE void make_normal(const span *s, const block *b, shape x, const wide_frame *f, direction *d)
{
    const pelt_skin_job *job = &s->plan->job;
    bool packed = packed_directions(job, x);
    wide n[3];
    load_normals(b, packed, n);
    if (!x.plain && s->plan->morphed) {
        if (packed) {
            wide_normalize(n);
        }
        add_morphs(s, b, MORPH_NORMALS, n);
    }
    for (int i = 0; i < 3; i++) {
        wide v = wide_dot(&f->cofactors[i * 3], n);
        d->v[i] = x.tight ? v : wide_xor(v, f->sign);
    }
    measure_direction(job, d);
    if (f->unsure) {
        d->unsure |= f->unsure & shrunk_normals(f->square, n, d->length2);
    }
}

ALWAYS_INLINE void make_tangent(const span *s, const block *b, shape x, const wide m[12], const wide_frame *f,
                                direction *d)
{
    const pelt_skin_job *job = &s->plan->job;
    bool packed = packed_directions(job, x);
    wide t[4];
    load_tangents(b, packed, t);
    if (!x.plain && s->plan->morphed) {
        if (packed) {
            wide_normalize(t);
        }
        add_morphs(s, b, MORPH_TANGENTS, t);
    }
    for (int i = 0; i < 3; i++) {
        d->v[i] = wide_dot(&m[i * 4], t);
    }
    d->v[3] = wide_add(x.tight ? t[3] : wide_xor(t[3], f->sign), wide_set(0.0F));
    measure_direction(job, d);
    if (f->unsure) {
        d->unsure |= f->unsure & shrunk_tangents(f->square, t, d->length2);
    }
}

ALWAYS_INLINE void scale_direction(direction *d)
{
    for (int i = 0; i < 3; i++) {
        d->v[i] = wide_add(wide_mul(d->v[i], d->scale), wide_set(0.0F));
    }
}

ALWAYS_INLINE void store_normal(const span *s, const block *b, direction *d)
{
    bool streamed = s->plan->streamed;
    if (s->plan->job.out_direction_format == PELT_DIRECTION_OCTAHEDRAL) {
        wide_store_codes(b->out_normals, b->out_normals_stride, wide_encode(d->v, d->scale, 32767.0F, 0xFFFF),
                         streamed);
        return;
    }
    scale_direction(d);
    wide_store3(b->out_normals, b->out_normals_stride, d->v, streamed);
}

ALWAYS_INLINE void store_tangent(const span *s, const block *b, direction *d)
{
    bool streamed = s->plan->streamed;
    if (s->plan->job.out_direction_format == PELT_DIRECTION_OCTAHEDRAL) {
        wide_int code = wide_int_or(wide_encode(d->v, d->scale, 16383.0F, 0x7FFF), wide_negative(d->v[3]));
        wide_store_codes(b->out_tangents, b->out_tangents_stride, code, streamed);
        return;
    }
    scale_direction(d);
    wide_store4(b->out_tangents, b->out_tangents_stride, d->v, streamed);
}

// Lanes whose directions the scalar kernel must make again.
typedef struct unsure_lanes {
    uint32_t normals;
    uint32_t tangents;
} unsure_lanes;

// bound: what the square of the determinant must exceed, or NULL where only the matrix itself tells.
ALWAYS_INLINE unsure_lanes skin_blended(const span *s, const block *b, shape x, const wide m[12], const wide *bound,
                                        wide_box *box)
{
    const pelt_skin_job *job = &s->plan->job;
    bool places = job->out_positions || job->box;
    bool normals = job->out_normals != NULL;
    bool tangents = job->out_tangents != NULL;
    bool signs = !x.tight && (job->out_mirrored || (job->flags & PELT_NORMAL_OUTWARD));
    unsure_lanes unsure = {0, 0};
    if (places && !LATE_POSITIONS) {
        skin_positions(s, b, x, m, box);
    }
    wide_frame f = {.sign = wide_set(0.0F)};
    direction normal = {.unsure = 0};
    direction tangent = {.unsure = 0};
    if (signs || normals || tangents) {
        make_cofactors(m, 0, 0, &f);
        find_unsure(m, bound, &f);
    }
    if (signs) {
        skin_signs(s, b, &f);
    }
    if (normals) {
        make_cofactors(m, 1, 2, &f);
        make_normal(s, b, x, &f, &normal);
        find_scale(job, &normal);
        unsure.normals = normal.unsure;
    }
    if (normals && !LATE_POSITIONS) {
        store_normal(s, b, &normal);
    }
    if (tangents) {
        make_tangent(s, b, x, m, &f, &tangent);
        find_scale(job, &tangent);
        unsure.tangents = tangent.unsure;
    }
    if (places && LATE_POSITIONS) {
        skin_positions(s, b, x, m, box);
    }
    if (normals && LATE_POSITIONS) {
        store_normal(s, b, &normal);
    }
    if (tangents) {
        store_tangent(s, b, &tangent);
    }
    return unsure;
}

#endif

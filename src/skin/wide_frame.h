// SPDX-License-Identifier: MIT
// What directions need of a blended matrix, its cofactors and the sign of its determinant, and where float is not good
// enough for them, so that the scalar kernel decides. Shared by all wide kernels.
#ifndef PELTI_SKIN_WIDE_FRAME_H
#define PELTI_SKIN_WIDE_FRAME_H

#include "skin/scalar.h"
#include "skin/wide.h"

// Where float is good enough for directions and signs. Let d be the determinant, s0 >= s1 >= s2 the singular values and
// f2 the sum of the squares of the nine elements, so s0^2 + s1^2 + s2^2. Cofactors shrink no direction below
// s1 s2 = |d| / s0 >= |d| / f, the matrix itself none below s2 = |d| / (s0 s1) >= 2 |d| / f2, while the terms that they
// sum up reach f2 / sqrt(3) and f: where d^2 > 2^-14 / 3 f2^3, both keep 2^-7 of their terms, and that leaves an angle
// under 0.004 degrees, with fused products or without. It is a stricter test than the one by which the scalar kernel
// trusts the sign of a float determinant. Products that leave the range of floats fail it.
static const float SURE_SHARE = 0x1p-14F / 3.0F;

// And the square of the direction's own length must lie in the middle of that range.
ALWAYS_INLINE uint32_t unsure_lengths(wide length2)
{
    wide_mask low = wide_less(wide_set(0x1p-110F), length2);
    wide_mask high = wide_less(length2, wide_set(0x1p100F));
    return wide_mask_bits(wide_mask_and(low, high)) ^ ALL_LANES;
}

// What directions need of a blended matrix.
typedef struct wide_frame {
    wide cofactors[9];
    wide determinant;
    wide sign;       // -0 where normals turn round, else +0
    wide square;     // of the nine elements, where unsure is not 0
    uint32_t unsure; // a bit for each lane
} wide_frame;

// Rows first to last of the cofactor matrix.
ALWAYS_INLINE void make_cofactors(const wide m[12], int first, int last, wide_frame *f)
{
    for (int i = first; i <= last; i++) {
        const wide *a = &m[(i + 1) % 3 * 4];
        const wide *b = &m[(i + 2) % 3 * 4];
        for (int c = 0; c < 3; c++) {
            int d = (c + 1) % 3;
            int e = (c + 2) % 3;
            f->cofactors[i * 3 + c] = wide_fms(a[d], b[e], wide_mul(a[e], b[d]));
        }
    }
}

ALWAYS_INLINE wide sum_squares(const wide m[12])
{
    return wide_add(wide_add(wide_dot(&m[0], &m[0]), wide_dot(&m[4], &m[4])), wide_dot(&m[8], &m[8]));
}

// square: of all nine elements.
ALWAYS_INLINE wide_mask sure_by_squares(wide square, wide determinant2)
{
    wide bound = wide_mul(wide_mul(wide_mul(square, square), square), wide_set(SURE_SHARE));
    return wide_less(bound, determinant2);
}

ALWAYS_INLINE uint32_t unsure_by_squares(wide square, wide determinant2)
{
    return wide_mask_bits(sure_by_squares(square, determinant2)) ^ ALL_LANES;
}

// A matrix that flattens some directions keeps most others: what leaves doubt about all may leave none about one. Of
// the square of what a normal or tangent could become by its matrix, at least the same share must be left. in2: the
// square of its length before, which must not underflow, or the bound would.
ALWAYS_INLINE uint32_t shrunk_lanes(wide bound, wide in2, wide length2)
{
    wide_mask kept = wide_less(bound, length2);
    return wide_mask_bits(wide_mask_and(kept, wide_less(wide_set(0x1p-110F), in2))) ^ ALL_LANES;
}

ALWAYS_INLINE uint32_t shrunk_normals(wide square, const wide in[3], wide length2)
{
    wide in2 = wide_dot(in, in);
    return shrunk_lanes(wide_mul(wide_mul(wide_mul(square, in2), square), wide_set(SURE_SHARE)), in2, length2);
}

ALWAYS_INLINE uint32_t shrunk_tangents(wide square, const wide in[3], wide length2)
{
    wide in2 = wide_dot(in, in);
    return shrunk_lanes(wide_mul(wide_mul(square, in2), wide_set(3.0F * SURE_SHARE)), in2, length2);
}

// A bound over all matrices that the weights can blend settles nearly all blocks with one comparison.
ALWAYS_INLINE void find_unsure(const wide m[12], const wide *bound, wide_frame *f)
{
    f->determinant = wide_dot(m, f->cofactors);
    wide determinant2 = wide_mul(f->determinant, f->determinant);
    f->unsure = ALL_LANES;
    if (bound) {
        f->unsure = wide_mask_bits(wide_less(*bound, determinant2)) ^ ALL_LANES;
    }
    if (f->unsure) {
        f->square = sum_squares(m);
        f->unsure = unsure_by_squares(f->square, determinant2);
    }
}

static __attribute__((noinline)) wide mend_signs(const span *s, uint32_t first, uint32_t count, wide sign,
                                                 uint32_t unsure)
{
    union {
        float values[WIDE];
        uint32_t bits[WIDE];
    } signs;
    wide_store(signs.values, sign);
    for (uint32_t lane = 0; lane < WIDE; lane++) {
        uint32_t vertex = lane_vertices[lane];
        if (unsure >> lane & 1 && vertex < count) {
            signs.bits[lane] = pelti_skin_scalar_mirrored(s->plan, s->run, first + vertex) ? 0x80000000U : 0;
        }
    }
    return wide_load(signs.values);
}

// The determinant's sign, from the scalar kernel where it could be rounding.
ALWAYS_INLINE void skin_signs(const span *s, const block *b, wide_frame *f)
{
    const pelt_skin_job *job = &s->plan->job;
    f->sign = wide_and(f->determinant, wide_set(-0.0F));
    if (f->unsure) {
        f->sign = mend_signs(s, b->first, b->count, f->sign, f->unsure);
    }
    if (job->out_mirrored) {
        uint32_t mirrored = wide_sign_bits(f->sign);
        uint8_t *out = job->out_mirrored + job->out_mirrored_stride * b->first;
        for (uint32_t lane = 0; lane < WIDE; lane++) {
            if (lane_vertices[lane] < b->count) {
                out[job->out_mirrored_stride * lane_vertices[lane]] = mirrored >> lane & 1;
            }
        }
    }
    if (!(job->flags & PELT_NORMAL_OUTWARD)) {
        f->sign = wide_set(0.0F);
    }
}

#endif

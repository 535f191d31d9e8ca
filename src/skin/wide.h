// SPDX-License-Identifier: MIT
// The text that all wide kernels share: WIDE vertices at a time, from blended matrices to outputs. A file of one
// instruction set defines the types and operations named below and includes what builds on this: wide_blocks.h and
// wide_rows.h where it blends in a way of its own, wide_kernel.h where it does not.
//
//   wide, wide_int, wide_mask       WIDE floats, WIDE 32-bit integers, WIDE booleans
//   wide_fma(a, b, c)               a * b + c, fused where the instruction set fuses
//   wide_fms(a, b, c)               a * b - c
//   wide_min(a, b), wide_max(a, b)  a < b ? a : b, a > b ? a : b, so b where either is NaN
//   wide_load3, wide_load4          WIDE vertices of 3 or 4 floats, stride bytes apart, one component in each vector.
//                                   The strided load of 3 reads 4 bytes past each.
//   wide_load_codes                 the same of one integer
//   wide_store3, wide_store4, wide_store_codes   the way back, not a byte more; streamed: past the caches where aligned
//   lane_vertices                   which vertex of the block a lane holds: any order that all of these share
//   LATE_POSITIONS                  whether registers suffice to hold directions while positions are made
//
// A vertex takes the same way through this text whatever its lane and neighbours are, so that any split of a mesh gives
// the same bytes. What a lane cannot be sure of is done again by the scalar kernel.
#ifndef PELTI_SKIN_WIDE_H
#define PELTI_SKIN_WIDE_H

#include "skin/influences.h"
#include "skin/scalar.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define ALWAYS_INLINE PELTI_KERNEL_INLINE

static const uint32_t ALL_LANES = (uint32_t)((1ULL << WIDE) - 1);

// What a loop over blocks knows beforehand; loops are compiled once for each kind that is worth it.
typedef struct shape {
    bool plain;  // nothing but vectors from end to end: no morphs, no padding; calls would keep matrices in memory
    bool tight;  // plain without signs, and every stream is tight
    bool packed; // tight, with octahedral directions and packed weights; without it, with floats
} shape;

static const shape GENERAL = {false, false, false};
static const shape STRIDED = {true, false, false};
static const shape TIGHT_FLOATS = {true, true, false};
static const shape TIGHT_PACKED = {true, true, true};

// WIDE vertices: in the job's own streams, or in a padded copy.
typedef struct block {
    uint32_t first;
    uint32_t count; // real ones
    bool copied;
    const char *positions;
    const char *normals;
    const char *tangents;
    const char *weights;
    const char *joints;
    size_t positions_stride;
    size_t normals_stride;
    size_t tangents_stride;
    size_t weights_stride;
    size_t joints_stride;
    char *out_positions;
    char *out_normals;
    char *out_tangents;
    size_t out_positions_stride;
    size_t out_normals_stride;
    size_t out_tangents_stride;
} block;

// A stream to be prefetched; elements of over a cache line one by one.
typedef struct stream_ahead {
    uintptr_t data;
    size_t stride;
    size_t step;
    size_t size;
} stream_ahead;

// Where one range of vertices comes from.
typedef struct span {
    const pelti_skin_plan *plan;
    const pelt_run *run; // NULL without runs
    const char *joints;  // of vertex first_vertex
    uint32_t first_vertex;
    size_t joints_stride; // bytes of one vertex's joints
    size_t weights_size;
    uint32_t ahead_count;
    stream_ahead ahead[5];
} span;

typedef struct wide_box {
    wide low[3];
    wide high[3];
} wide_box;

// --- directions in 32 bits

// The lower half of the octahedron lies folded outward: the fold is its own inverse. -0 counts as below.
ALWAYS_INLINE void wide_fold(wide *x, wide *y, wide z)
{
    const wide sign = wide_set(-0.0F);
    wide fold = wide_max(wide_sub(wide_set(0.0F), z), wide_set(0.0F));
    *x = wide_add(*x, wide_or(fold, wide_and(*x, sign)));
    *y = wide_add(*y, wide_or(fold, wide_and(*y, sign)));
}

// Of a length between 2^14 and 2^15, exactly.
ALWAYS_INLINE void wide_decode_normal(wide_int code, wide out[3])
{
    const wide lowest = wide_set(-32767.0F);
    wide x = wide_max(wide_from_int(wide_shift_right_signed(wide_shift_left(code, 16), 16)), lowest);
    wide y = wide_max(wide_from_int(wide_shift_right_signed(code, 16)), lowest);
    wide z = wide_sub(wide_sub(wide_set(32767.0F), wide_abs(x)), wide_abs(y));
    const wide sign = wide_set(-0.0F);
    wide fold = wide_min(z, wide_set(0.0F));
    out[0] = wide_add(x, wide_xor(fold, wide_and(x, sign)));
    out[1] = wide_add(y, wide_xor(fold, wide_and(y, sign)));
    out[2] = z;
}

// The same within a rounding, and w.
ALWAYS_INLINE void wide_decode_tangent(wide_int code, wide out[4])
{
    const wide lowest = wide_set(-32767.0F);
    wide x = wide_max(wide_from_int(wide_shift_right_signed(wide_shift_left(code, 16), 16)), lowest);
    wide y = wide_from_int(wide_shift_right_signed(wide_shift_left(code, 1), 17));
    y = wide_max(wide_mul(y, wide_set(32767.0F / 16383.0F)), lowest);
    wide z = wide_sub(wide_sub(wide_set(32767.0F), wide_abs(x)), wide_abs(y));
    const wide sign = wide_set(-0.0F);
    wide fold = wide_min(z, wide_set(0.0F));
    out[0] = wide_add(x, wide_xor(fold, wide_and(x, sign)));
    out[1] = wide_add(y, wide_xor(fold, wide_and(y, sign)));
    out[2] = z;
    out[3] = wide_or(wide_and(wide_as_float(code), sign), wide_set(1.0F));
}

// Codes of the nearest point in the square, x in the low half; scale: one over the sum of the sizes of v. Adding +0
// makes the two zeros fold alike.
ALWAYS_INLINE wide_int wide_encode(const wide v[3], wide scale, float y_limit, int y_mask)
{
    wide x = wide_add(wide_mul(v[0], scale), wide_set(0.0F));
    wide y = wide_add(wide_mul(v[1], scale), wide_set(0.0F));
    wide_fold(&x, &y, wide_mul(v[2], scale));
    wide_int x_code = wide_to_int(wide_mul(x, wide_set(32767.0F)));
    wide_int y_code = wide_to_int(wide_mul(y, wide_set(y_limit)));
    return wide_int_or(wide_int_and(x_code, wide_int_set(0xFFFF)),
                       wide_shift_left(wide_int_and(y_code, wide_int_set(y_mask)), 16));
}

// --- weights

// The codes as pelt_weights_decode reads them, in the order in which they are summed: of sorted ones the implied one,
// the largest, comes first. Sums of multiples of 2^-12 are exact.
ALWAYS_INLINE void wide_decode_weights(wide_int code, bool sorted, wide out[4])
{
    wide_int a = wide_int_and(code, wide_int_set(0x7FF));
    wide_int b = wide_int_and(wide_shift_right(code, 11), wide_int_set(0x7FF));
    wide_int c = wide_shift_right(code, 22);
    if (sorted) {
        a = wide_int_add(a, wide_shift_right(wide_int_add(a, wide_int_set(1)), 11));
        c = wide_int_add(c, wide_shift_right(wide_int_add(c, wide_int_set(1)), 10));
    }
    wide *stored = out + (sorted ? 1 : 0);
    stored[0] = wide_mul(wide_from_int(a), wide_set(sorted ? 0x1p-12F : 0x1p-11F));
    stored[1] = wide_mul(wide_from_int(b), wide_set(sorted ? 0x1p-12F : 0x1p-11F));
    stored[2] = wide_mul(wide_from_int(c), wide_set(sorted ? 0x1p-12F : 0x1p-10F));
    wide sum = wide_add(wide_add(stored[0], stored[1]), stored[2]);
    out[sorted ? 0 : 3] = wide_sub(wide_set(1.0F), sum);
}

// --- vertices

ALWAYS_INLINE wide wide_dot(const wide a[3], const wide b[3])
{
    return wide_fma(a[2], b[2], wide_fma(a[1], b[1], wide_mul(a[0], b[0])));
}

ALWAYS_INLINE void wide_normalize(wide v[3])
{
    wide scale = wide_div(wide_set(1.0F), wide_sqrt(wide_dot(v, v)));
    for (int c = 0; c < 3; c++) {
        v[c] = wide_mul(v[c], scale);
    }
}

// Products are rounded before they are added, as in the scalar kernel, so a morphed stream is what a caller who adds
// the deltas himself would give. count: vertices of the block; the first again in the other lanes.
static __attribute__((noinline)) void add_deltas(const float *deltas, float weight, uint32_t first, uint32_t count,
                                                 wide values[3])
{
    const char *data = (const char *)(deltas + (size_t)first * 3);
    float copy[WIDE * 3];
    if (count < WIDE) {
        for (uint32_t i = 0; i < WIDE; i++) {
            memcpy(copy + (size_t)i * 3, data + (i < count ? i : 0) * 3 * sizeof(float), 3 * sizeof(float));
        }
        data = (const char *)copy;
    }
    wide delta[3];
    wide_load3(data, 3 * sizeof(float), delta);
    for (int c = 0; c < 3; c++) {
        values[c] = wide_add(values[c], wide_mul(wide_set(weight), delta[c]));
    }
}

typedef enum morph_stream {
    MORPH_POSITIONS,
    MORPH_NORMALS,
    MORPH_TANGENTS
} morph_stream;

ALWAYS_INLINE void add_morphs(const span *s, const block *b, morph_stream which, wide values[3])
{
    const pelt_skin_job *job = &s->plan->job;
    for (uint32_t i = 0; s->plan->morphed && i < job->morph_count; i++) {
        const pelt_skin_morph *morph = &job->morphs[i];
        const float *deltas = which == MORPH_POSITIONS ? morph->positions
                              : which == MORPH_NORMALS ? morph->normals
                                                       : morph->tangents;
        if (morph->weight != 0.0F && deltas) {
            add_deltas(deltas, morph->weight, b->first, b->count, values);
        }
    }
}

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

// The translation comes last: it is mostly the largest term. Adding +0 turns -0 into +0.
ALWAYS_INLINE void skin_positions(const span *s, const block *b, shape x, const wide m[12], wide_box *box)
{
    const pelt_skin_job *job = &s->plan->job;
    wide p[3];
    wide out[3];
    wide_load3(b->positions, b->positions_stride, p);
    if (!x.plain) {
        add_morphs(s, b, MORPH_POSITIONS, p);
    }
    for (int r = 0; r < 3; r++) {
        const wide *row = &m[r * 4];
        wide sum = wide_fma(row[2], p[2], wide_fma(row[1], p[1], wide_mul(row[0], p[0])));
        out[r] = wide_add(wide_add(sum, row[3]), wide_set(0.0F));
        box->low[r] = wide_min(out[r], box->low[r]);
        box->high[r] = wide_max(out[r], box->high[r]);
    }
    if (job->out_positions) {
        wide_store3(b->out_positions, b->out_positions_stride, out, s->plan->streamed);
    }
}

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

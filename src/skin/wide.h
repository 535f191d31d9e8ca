// SPDX-License-Identifier: MIT
// The text that all wide kernels share: WIDE vertices at a time, from blended matrices to outputs. Here are the types,
// packed directions and weights, morphs and positions; wide_frame.h and wide_directions.h make the rest. A file of one
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

#include "skin/skin.h"

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

#endif

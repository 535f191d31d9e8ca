// SPDX-License-Identifier: MIT
// One block of 16 vertices as a straight line, for the streams that most jobs have: positions with or without normals
// and tangents, no morphs, no signs. What wide_directions.h decides block by block is known here when it is compiled;
// operations and their order are the same, and so are the bytes.
#ifndef PELTI_SKIN_AVX512_STRAIGHT_H
#define PELTI_SKIN_AVX512_STRAIGHT_H

#include "skin/avx512_rows.h"
#include "skin/avx512_tables.h"

enum {
    STRAIGHT_LIMIT = PELT_RUN_VERTICES, // vertices of one call
    STRAIGHT_BLOCKS = STRAIGHT_LIMIT / WIDE,
    AHEAD_VERTICES = 65536 // of a job from which on streams come from beyond the caches of a core
};

// Where the matrices of a block come from.
typedef enum straight_blend {
    STRAIGHT_NARROW, // one table
    STRAIGHT_LISTED, // two
    STRAIGHT_ROWS    // the palette
} straight_blend;

// What is known of a loop.
typedef struct straight {
    straight_blend blend;
    int slots;      // of tables: 4 or 8, of rows 4
    bool words;     // tables are indexed with 16 bits
    bool strided;   // streams lie any distance apart; otherwise they are tight
    bool packed;    // inputs
    bool codes;     // octahedral outputs
    int directions; // 0, 1: normals, 2: tangents as well
} straight;

// Streams from the first vertex of a call on. Strides are read where they are not tight.
typedef struct straight_streams {
    const char *positions;
    const char *normals;
    const char *tangents;
    const char *weights;
    const char *joints;
    char *out_positions; // or NULL
    char *out_normals;
    char *out_tangents;
    size_t positions_stride;
    size_t normals_stride;
    size_t tangents_stride;
    size_t weights_stride;
    size_t joints_stride;
    size_t out_positions_stride;
    size_t out_normals_stride;
    size_t out_tangents_stride;
    wide bound;             // what the square of a determinant must exceed where weights add up to one
    const row_source *rows; // with STRAIGHT_ROWS
    bool sorted;
    bool streamed;
    bool ahead; // inputs are prefetched
} straight_streams;

// Blocks in which some direction is for the scalar kernel.
typedef struct unsure_blocks {
    uint32_t count;
    struct {
        uint16_t block;
        uint16_t normals; // a bit for each lane
        uint16_t tangents;
    } at[STRAIGHT_BLOCKS];
} unsure_blocks;

// A direction of the block before, not yet of unit length, and its tangent.
typedef struct directions {
    direction normal;
    direction tangent;
} directions;

WIDE_INLINE size_t stride_of(straight x, size_t stride, size_t tight)
{
    return x.strided ? stride : tight;
}

// --- inputs

WIDE_INLINE void prefetch_lines(const char *data, int count)
{
    for (int k = 0; k < count; k++) {
        __builtin_prefetch((const void *)((uintptr_t)data + 64 * (uintptr_t)(count * AHEAD_STEPS + k)));
    }
}

WIDE_INLINE void prefetch_inputs(const straight_streams *s, straight x, size_t i)
{
    prefetch_lines(s->positions + i * 192, 3);
    prefetch_lines(s->joints + i * s->joints_stride * WIDE, x.slots == 8 || x.words ? 2 : 1);
    prefetch_lines(s->weights + i * (x.packed ? 64 : 64 * (size_t)x.slots), x.packed ? 1 : x.slots);
    if (x.directions > 0) {
        prefetch_lines(s->normals + i * (x.packed ? 64 : 192), x.packed ? 1 : 3);
    }
    if (x.directions > 1) {
        prefetch_lines(s->tangents + i * (x.packed ? 64 : 256), x.packed ? 1 : 4);
    }
}

// --- matrices

// Four indices of each vertex, from slot 4 * part on, the first in the lowest bits.
WIDE_INLINE void load_table_indices(const straight_streams *s, straight x, size_t i, int part, wide_int out[4])
{
    const wide_int order = _mm512_loadu_si512(lane_indices);
    const char *joints = s->joints + i * WIDE * (x.words || x.slots == 8 ? 8 : 4);
    if (x.words) {
        wide_int low = _mm512_loadu_si512(joints);
        wide_int high = _mm512_loadu_si512(joints + 64);
        const wide_int even = _mm512_slli_epi32(order, 1);
        out[0] = _mm512_permutex2var_epi32(low, even, high);
        out[1] = _mm512_srli_epi32(out[0], 16);
        out[2] = _mm512_permutex2var_epi32(low, _mm512_add_epi32(even, _mm512_set1_epi32(1)), high);
        out[3] = _mm512_srli_epi32(out[2], 16);
        return;
    }
    if (x.slots == 8) {
        const wide_int even = _mm512_slli_epi32(order, 1);
        out[0] = _mm512_permutex2var_epi32(_mm512_loadu_si512(joints), _mm512_add_epi32(even, _mm512_set1_epi32(part)),
                                           _mm512_loadu_si512(joints + 64));
    } else {
        out[0] = wide_load_codes(joints, sizeof(uint32_t));
    }
    if (x.packed && s->sorted) { // slot 3 goes first
        out[0] = _mm512_rol_epi32(out[0], 8);
    }
    for (unsigned k = 1; k < 4; k++) {
        out[k] = _mm512_srli_epi32(out[0], 8 * k);
    }
}

WIDE_INLINE void load_table_weights(const straight_streams *s, straight x, size_t i, int part, wide out[4])
{
    if (!x.packed && x.slots == 8) {
        wide_load4(s->weights + i * 512 + (size_t)part * 16, 8 * sizeof(float), out);
    } else if (!x.packed) {
        wide_load4(s->weights + i * 256, 4 * sizeof(float), out);
    } else if (s->sorted) {
        wide_decode_weights(wide_load_codes(s->weights + i * 64, sizeof(uint32_t)), true, out);
    } else {
        wide_decode_weights(wide_load_codes(s->weights + i * 64, sizeof(uint32_t)), false, out);
    }
}

// Slot after slot: of all orders the one that leaves the fewest permutes and products to the port that does both.
WIDE_INLINE void blend_slots(const wide *table, bool two_tables, int count, const wide_int indices[4],
                             const wide weights[4], wide m[12])
{
    for (int e = 0; e < 12; e++) {
        m[e] = _mm512_mul_ps(weights[0], pick(table, two_tables, e, indices[0]));
    }
    for (int i = 1; i < count; i++) {
        add_slot(table, two_tables, indices[i], weights[i], m);
    }
}

// Returns the lanes whose weights add up to no more than one.
WIDE_INLINE __mmask16 blend_tables(const straight_streams *s, straight x, const wide *table, size_t i, wide m[12])
{
    bool two_tables = x.blend == STRAIGHT_LISTED;
    wide weights[4];
    wide_int indices[4];
    load_table_indices(s, x, i, 0, indices);
    load_table_weights(s, x, i, 0, weights);
    if (__builtin_expect(any_weight(weights[3]), 1)) {
        blend_slots(table, two_tables, 4, indices, weights, m);
    } else if (any_weight(weights[2])) {
        blend_slots(table, two_tables, 3, indices, weights, m);
    } else if (any_weight(weights[1])) {
        blend_slots(table, two_tables, 2, indices, weights, m);
    } else {
        blend_slots(table, two_tables, 1, indices, weights, m);
    }
    if (x.packed) {
        return (__mmask16)ALL_LANES;
    }
    wide sum = sum_sizes(weights);
    if (x.slots == 8) {
        load_table_indices(s, x, i, 1, indices);
        load_table_weights(s, x, i, 1, weights);
        sum = _mm512_add_ps(sum, sum_sizes(weights));
        for (int k = 0; k < 4; k++) {
            if (any_weight(weights[k])) {
                add_slot(table, two_tables, indices[k], weights[k], m);
            }
        }
    }
    return _mm512_cmp_ps_mask(sum, _mm512_set1_ps(1.0F + 0x1p-10F), _CMP_LE_OQ);
}

// --- directions

WIDE_INLINE __mmask16 sure_length(__mmask16 among, wide length2)
{
    among = _mm512_mask_cmp_ps_mask(among, _mm512_set1_ps(0x1p-110F), length2, _CMP_LT_OQ);
    return _mm512_mask_cmp_ps_mask(among, length2, _mm512_set1_ps(0x1p100F), _CMP_LT_OQ);
}

WIDE_INLINE void load_straight_normals(const straight_streams *s, straight x, size_t i, wide out[3])
{
    if (x.packed) {
        wide_decode_normal(wide_load_codes(s->normals + i * 64, sizeof(uint32_t)), out);
    } else {
        size_t stride = stride_of(x, s->normals_stride, 3 * sizeof(float));
        wide_load3(s->normals + i * WIDE * stride, stride, out);
    }
}

WIDE_INLINE void load_straight_tangents(const straight_streams *s, straight x, size_t i, wide out[4])
{
    if (x.packed) {
        wide_decode_tangent(wide_load_codes(s->tangents + i * 64, sizeof(uint32_t)), out);
    } else {
        size_t stride = stride_of(x, s->tangents_stride, 4 * sizeof(float));
        wide_load4(s->tangents + i * WIDE * stride, stride, out);
    }
}

WIDE_INLINE void begin_normal(const straight_streams *s, straight x, size_t i, const wide cofactors[9], direction *d)
{
    wide n[3];
    load_straight_normals(s, x, i, n);
    for (int r = 0; r < 3; r++) {
        d->v[r] = wide_dot(&cofactors[r * 3], n);
    }
}

WIDE_INLINE void begin_tangent(const straight_streams *s, straight x, size_t i, const wide m[12], direction *d)
{
    wide t[4];
    load_straight_tangents(s, x, i, t);
    for (int r = 0; r < 3; r++) {
        d->v[r] = wide_dot(&m[r * 4], t);
    }
    d->v[3] = wide_add(t[3], wide_set(0.0F));
}

WIDE_INLINE void begin_scale(straight x, wide length2, direction *d)
{
    if (x.codes) {
        wide sizes = wide_add(wide_add(wide_abs(d->v[0]), wide_abs(d->v[1])), wide_abs(d->v[2]));
        d->scale = wide_div(wide_set(1.0F), sizes);
    } else {
        d->scale = wide_div(wide_set(1.0F), wide_sqrt(length2));
    }
}

// As make_normal and make_tangent tell, out of the way of what is common.
WIDE_INLINE void note_unsure(const straight_streams *s, straight x, size_t i, const wide m[12], wide determinant2,
                             const directions *d, unsure_blocks *unsure)
{
    wide in[4];
    wide square = sum_squares(m);
    uint32_t frames = unsure_by_squares(square, determinant2);
    wide length2 = wide_dot(d->normal.v, d->normal.v);
    load_straight_normals(s, x, i, in);
    uint32_t normals = unsure_lengths(length2) | (frames & shrunk_normals(square, in, length2));
    uint32_t tangents = 0;
    if (x.directions > 1) {
        length2 = wide_dot(d->tangent.v, d->tangent.v);
        load_straight_tangents(s, x, i, in);
        tangents = unsure_lengths(length2) | (frames & shrunk_tangents(square, in, length2));
    }
    if (normals | tangents) {
        unsure->at[unsure->count].block = (uint16_t)i;
        unsure->at[unsure->count].normals = (uint16_t)normals;
        unsure->at[unsure->count].tangents = (uint16_t)tangents;
        unsure->count++;
    }
}

// sure: lanes for which s->bound holds; with rows it holds for none, and only the matrix itself tells.
WIDE_INLINE void begin_directions(const straight_streams *s, straight x, size_t i, const wide m[12], __mmask16 sure,
                                  directions *d, unsure_blocks *unsure)
{
    wide_frame f;
    make_cofactors(m, 0, 2, &f);
    wide determinant = wide_dot(m, f.cofactors);
    wide determinant2 = wide_mul(determinant, determinant);
    if (x.blend == STRAIGHT_ROWS) {
        sure = (__mmask16)(unsure_by_squares(sum_squares(m), determinant2) ^ ALL_LANES);
    } else {
        sure = _mm512_mask_cmp_ps_mask(sure, s->bound, determinant2, _CMP_LT_OQ);
    }
    begin_normal(s, x, i, f.cofactors, &d->normal);
    wide length2 = wide_dot(d->normal.v, d->normal.v);
    sure = sure_length(sure, length2);
    begin_scale(x, length2, &d->normal);
    if (x.directions > 1) {
        begin_tangent(s, x, i, m, &d->tangent);
        length2 = wide_dot(d->tangent.v, d->tangent.v);
        sure = sure_length(sure, length2);
        begin_scale(x, length2, &d->tangent);
    }
    if (__builtin_expect(sure != (__mmask16)ALL_LANES, 0)) {
        note_unsure(s, x, i, m, determinant2, d, unsure);
    }
}

// --- outputs

WIDE_INLINE void finish_positions(const straight_streams *s, straight x, size_t i, const wide m[12], wide_box *box)
{
    wide p[3];
    wide out[3];
    size_t stride = stride_of(x, s->positions_stride, 3 * sizeof(float));
    wide_load3(s->positions + i * WIDE * stride, stride, p);
    for (int r = 0; r < 3; r++) {
        const wide *row = &m[r * 4];
        wide sum = wide_fma(row[2], p[2], wide_fma(row[1], p[1], wide_mul(row[0], p[0])));
        out[r] = wide_add(wide_add(sum, row[3]), wide_set(0.0F));
        box->low[r] = wide_min(out[r], box->low[r]);
        box->high[r] = wide_max(out[r], box->high[r]);
    }
    if (s->out_positions) {
        stride = stride_of(x, s->out_positions_stride, 3 * sizeof(float));
        wide_store3(s->out_positions + i * WIDE * stride, stride, out, s->streamed);
    }
}

WIDE_INLINE void finish_normal(const straight_streams *s, straight x, size_t i, direction *d)
{
    if (x.codes) {
        wide_store_codes(s->out_normals + i * 64, sizeof(uint32_t), wide_encode(d->v, d->scale, 32767.0F, 0xFFFF),
                         s->streamed);
        return;
    }
    size_t stride = stride_of(x, s->out_normals_stride, 3 * sizeof(float));
    scale_direction(d);
    wide_store3(s->out_normals + i * WIDE * stride, stride, d->v, s->streamed);
}

WIDE_INLINE void finish_tangent(const straight_streams *s, straight x, size_t i, direction *d)
{
    if (x.codes) {
        wide_int code = wide_int_or(wide_encode(d->v, d->scale, 16383.0F, 0x7FFF), wide_negative(d->v[3]));
        wide_store_codes(s->out_tangents + i * 64, sizeof(uint32_t), code, s->streamed);
        return;
    }
    size_t stride = stride_of(x, s->out_tangents_stride, 4 * sizeof(float));
    scale_direction(d);
    wide_store4(s->out_tangents + i * WIDE * stride, stride, d->v, s->streamed);
}

WIDE_INLINE void finish_directions(const straight_streams *s, straight x, size_t i, directions *d)
{
    if (x.directions > 0) {
        finish_normal(s, x, i, &d->normal);
    }
    if (x.directions > 1) {
        finish_tangent(s, x, i, &d->tangent);
    }
}

#endif

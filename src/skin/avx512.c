// SPDX-License-Identifier: MIT
// The AVX-512 kernel: 16 vertices at a time. Runs, and whole palettes, of up to 16 or 32 joints are blended by
// permutes; no gathers, which are many times slower, and no transposes. Everything else is blended a whole matrix per
// vertex and influence, and then transposed.
#include "base/cpu.h"

#if defined(PELTI_X86)

#include "skin/avx512_lanes.h"
#include "skin/avx512_loops.h"
#include "skin/measure.h"

// --- loops

typedef enum blend_kind {
    BLEND_RIGID,
    BLEND_NARROW, // up to 16 joints
    BLEND_LISTED, // up to 32
    BLEND_ROWS,
    BLEND_EACH
} blend_kind;

// Over 1, for weights that add up to 1 + 2^-10 and for rounding.
static wide find_bound(const pelti_skin_plan *plan)
{
    float square = plan->square * (1.0F + 0x1p-8F);
    return _mm512_set1_ps(square * square * square * SURE_SHARE);
}

WIDE_INLINE void skin_tables(const span *s, const wide *table, bool two_tables, uint32_t first, uint32_t last,
                             wide_box *box)
{
    const wide palette_bound = find_bound(s->plan);
    wide_box local = *box; // in registers
    for (uint32_t v = first; v < last; v += WIDE) {
        block b;
        wide m[12];
        wide bound = palette_bound;
        make_block(s, STRIDED, v, last, &b);
        prefetch_ahead(s, v);
        blend_table(s, &b, table, two_tables, NULL, m, &bound);
        finish_block(s, &b, STRIDED, skin_blended(s, &b, STRIDED, m, &bound, &local));
    }
    *box = local;
}

typedef void table_loop(const span *s, const wide *table, uint32_t first, uint32_t last, wide_box *box);

static __attribute__((noinline)) void narrow_strided(const span *s, const wide *table, uint32_t first, uint32_t last,
                                                     wide_box *box)
{
    skin_tables(s, table, false, first, last, box);
}

static __attribute__((noinline)) void listed_strided(const span *s, const wide *table, uint32_t first, uint32_t last,
                                                     wide_box *box)
{
    skin_tables(s, table, true, first, last, box);
}

static __attribute__((noinline)) void rows_any(const span *s, row_group *g, uint32_t first, uint32_t last,
                                               wide_box *box)
{
    wide_box local = *box; // in registers
    for (uint32_t v = first; v < last; v += WIDE) {
        block b;
        wide m[12];
        if ((v - first) % GROUP_SIZE == 0) {
            load_group(s, false, v, last, g);
        }
        make_block(s, STRIDED, v, last, &b);
        prefetch_ahead(s, v);
        blend_rows(g, v - g->first, m);
        finish_block(s, &b, STRIDED, skin_blended(s, &b, STRIDED, m, NULL, &local));
    }
    *box = local;
}

static void blend_any(const span *s, const block *b, blend_kind kind, const wide *table, const lane_extras *extras,
                      row_group *g, wide m[12], wide *bound)
{
    const pelt_skin_job *job = &s->plan->job;
    switch (kind) {
    case BLEND_RIGID:
        for (int e = 0; e < 12; e++) {
            m[e] = _mm512_set1_ps(job->palette[0].m[e / 4][e % 4]);
        }
        return;
    case BLEND_NARROW:
        blend_table(s, b, table, false, extras, m, bound);
        return;
    case BLEND_LISTED:
        blend_table(s, b, table, true, extras, m, bound);
        return;
    case BLEND_ROWS:
        load_group(s, extras != NULL, b->first, b->first + b->count, g);
        blend_rows(g, 0, m);
        break;
    case BLEND_EACH:
        blend_each(s, b->first, b->count, m);
        break;
    }
    if (extras && kind == BLEND_ROWS) {
        add_extras(job, extras, m);
    }
    *bound = _mm512_set1_ps(HUGE_VALF); // only the matrix itself tells
}

// Any job, block by block.
static __attribute__((noinline)) void skin_general(const span *s, blend_kind kind, const wide *table, bool has_extras,
                                                   uint32_t first, uint32_t last, wide_box *box)
{
    const wide palette_bound = find_bound(s->plan);
    padding p;
    row_group g;
    lane_extras extras;
    init_group(&s->plan->job, NULL, &g);
    for (uint32_t v = first; v < last; v += WIDE) {
        block b;
        wide m[12];
        wide bound = palette_bound;
        make_block(s, GENERAL, v, last, &b);
        prefetch_ahead(s, v);
        if (needs_padding(s, &b)) {
            pad_block(s, &b, &p);
        }
        if (has_extras) {
            find_extras(s, &b, &extras);
        }
        blend_any(s, &b, kind, table, has_extras ? &extras : NULL, &g, m, &bound);
        finish_block(s, &b, GENERAL, skin_blended(s, &b, GENERAL, m, &bound, box));
    }
}

static void load_tables(const pelt_skin_job *job, const uint16_t *joints, uint32_t count, wide table[24])
{
    load_table(job, joints, count, table);
    if (count > 16) {
        load_table(job, joints + 16, count - 16, table + 12);
    }
}

static void skin_listed_run(const span *s, bool has_extras, uint32_t first, uint32_t last, wide_box *box)
{
    const pelt_skin_job *job = &s->plan->job;
    const uint16_t *joints = job->runs->run_joints + s->run->first_joint;
    uint32_t count = s->run->joint_count;
    bool two_tables = count > 16;
    wide table[24];
    load_tables(job, joints, count, table);
    uint32_t middle = has_extras ? first : plain_end(s, first, last);
    if (first < middle) {
        straight_loop *loop = find_table_loop(job, two_tables);
        if (loop) {
            skin_straight_span(s, loop, table, NULL, find_bound(s->plan), first, middle, box);
        } else {
            table_loop *strided = two_tables ? listed_strided : narrow_strided;
            strided(s, table, first, middle, box);
        }
    }
    if (middle < last) {
        skin_general(s, two_tables ? BLEND_LISTED : BLEND_NARROW, table, has_extras, middle, last, box);
    }
}

static void skin_unlisted(const span *s, bool has_extras, uint32_t first, uint32_t last, wide_box *box)
{
    const pelt_skin_job *job = &s->plan->job;
    uint32_t middle = has_extras ? first : plain_end(s, first, last);
    straight_loop *words = find_word_loop(s);
    straight_loop *rows = find_row_loop(s);
    if (first < middle && words) {
        uint16_t joints[PELT_RUN_JOINTS];
        wide table[24];
        for (uint32_t j = 0; j < PELT_RUN_JOINTS; j++) {
            joints[j] = (uint16_t)j;
        }
        load_tables(job, joints, job->palette_count, table);
        skin_straight_span(s, words, table, NULL, find_bound(s->plan), first, middle, box);
    } else if (first < middle && rows && rows_pay(job, middle - first)) {
        row_source source;
        load_rows(s, &source);
        skin_straight_span(s, rows, NULL, &source, wide_set(0.0F), first, middle, box);
    } else if (first < middle) {
        row_group g;
        init_group(job, NULL, &g);
        rows_any(s, &g, first, middle, box);
    }
    if (middle < last) {
        skin_general(s, BLEND_ROWS, NULL, has_extras, middle, last, box);
    }
}

static void skin_part(const span *s, bool has_extras, uint32_t first, uint32_t last, wide_box *box)
{
    if (s->plan->job.influence_count == 0) {
        skin_general(s, BLEND_RIGID, NULL, false, first, last, box);
    } else if (s->run && s->run->layout == PELT_JOINTS_RUN) {
        skin_listed_run(s, has_extras, first, last, box);
    } else if (rows_fit(&s->plan->job)) {
        skin_unlisted(s, has_extras, first, last, box);
    } else {
        skin_general(s, BLEND_EACH, NULL, false, first, last, box);
    }
}

static pelt_box skin_avx512(const pelti_skin_plan *plan, uint32_t first, uint32_t last)
{
    pelt_box box = skin_range(plan, first, last, skin_part);
    if (plan->streamed) {
        _mm_sfence();
    }
    return box;
}

static bool measure(const pelt_skin_job *job, float *square)
{
    wide highest = _mm512_setzero_ps();
    wide zeros = _mm512_setzero_ps();
    for (uint32_t j = 0; j < job->palette_count; j++) {
        wide matrix = load_matrix(pelti_skin_matrix(job, j));
        highest = _mm512_max_ps(wide_abs(matrix), highest);
        zeros = _mm512_fmadd_ps(matrix, _mm512_setzero_ps(), zeros);
    }
    float sizes[WIDE];
    float sums[WIDE];
    _mm512_storeu_ps(sizes, highest);
    _mm512_storeu_ps(sums, zeros);
    return finish_measure(sizes, sums, square);
}

const pelti_skin_kernel pelti_skin_avx512 = {
    .skin = skin_avx512, .measure = measure, .max_u16 = max_u16, .max_u8 = max_u8};

#endif

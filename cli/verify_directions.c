// SPDX-License-Identifier: MIT
// What rounding can do to one vertex, in double, from the packed influences: how well its directions are defined, and
// how far float world matrices move it.
//
// A direction is v = C n, C the cofactor of the blended matrix M = sum w_i M_i (tangents: M itself). Whoever computes
// it rounds terms, not sums: with A = sum w_i |M_i| and N the sum of |n| and |weight * delta| of the morphs, all by
// element, each element of v is summed from terms of at most those of t = |C|(A) N, where |C|(A) has plus for every
// minus. An error of r in each element of M, relative to A, turns v by at most 2 r |t| / |v| through the cofactor (r
// |t| / |v| for tangents), and one of r in n by r |t| / |v| more. |t| / |v| is the reach.
#include "verify.h"

#include <math.h>

enum {
    BLOCK = 4096 // vertices of a task
};

typedef struct work {
    const verify_model *m;
    const verify_item *item;
    const pelt_mat34 *palette;
    uint32_t morph_count;
    const verify_reach *out;
} work;

// The blended 3x3 and the same of absolute values.
typedef struct blended {
    double m[3][3];
    double a[3][3];
} blended;

static void add_matrix(const pelt_mat34 *matrix, double weight, blended *out)
{
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            double x = weight * (double)matrix->m[r][c];
            out->m[r][c] += x;
            out->a[r][c] += fabs(x);
        }
    }
}

static blended blend(const work *w, uint32_t vertex)
{
    blended out = {{{0}}, {{0}}};
    const pelt_primitive *source = w->item->source;
    if (w->item->rigid) {
        add_matrix(&w->palette[0], 1, &out);
        return out;
    }
    size_t first = (size_t)vertex * source->influence_count;
    for (uint32_t i = 0; i < source->influence_count; i++) {
        if (source->weights[first + i] != 0.0F) {
            add_matrix(&w->palette[source->joints[first + i]], (double)source->weights[first + i], &out);
        }
    }
    return out;
}

typedef struct direction {
    double v[3];
    double terms[3]; // absolute values
} direction;

static void add_vector(const float *values, double weight, direction *out)
{
    for (int c = 0; c < 3; c++) {
        double x = weight * (double)values[c];
        out->v[c] += x;
        out->terms[c] += fabs(x);
    }
}

static double product(const double row[3], const double v[3])
{
    return row[0] * v[0] + row[1] * v[1] + row[2] * v[2];
}

// terms: with plus for every minus.
static void cofactor_row(const double m[3][3], int row, bool terms, double out[3])
{
    const double *a = m[(row + 1) % 3];
    const double *b = m[(row + 2) % 3];
    double sign = terms ? 1 : -1;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        out[i] = a[j] * b[k] + sign * a[k] * b[j];
    }
}

static float reach_of(const direction *d)
{
    double length = sqrt(product(d->v, d->v));
    double terms = sqrt(product(d->terms, d->terms));
    return length > 0 && terms < HUGE_VAL ? (float)(terms / length) : HUGE_VALF;
}

static float normal_reach(const blended *b, const direction *n)
{
    direction out;
    for (int i = 0; i < 3; i++) {
        double row[3];
        cofactor_row(b->m, i, false, row);
        out.v[i] = product(row, n->v);
        cofactor_row(b->a, i, true, row);
        out.terms[i] = product(row, n->terms);
    }
    return reach_of(&out);
}

static float tangent_reach(const blended *b, const direction *t)
{
    direction out;
    for (int i = 0; i < 3; i++) {
        out.v[i] = product(b->m[i], t->v);
        out.terms[i] = product(b->a[i], t->terms);
    }
    return reach_of(&out);
}

static void measure_block(void *context, uint32_t task)
{
    const work *w = context;
    const pelt_primitive *source = w->item->source;
    uint32_t first = task * BLOCK;
    uint32_t end = source->vertex_count - first < BLOCK ? source->vertex_count : first + BLOCK;
    for (uint32_t v = first; v < end; v++) {
        blended b = blend(w, v);
        direction normal = {{0}, {0}};
        direction tangent = {{0}, {0}};
        if (source->normals) {
            add_vector(source->normals + 3 * (size_t)v, 1, &normal);
        }
        if (source->tangents) {
            add_vector(source->tangents + 4 * (size_t)v, 1, &tangent);
        }
        for (uint32_t i = 0; i < w->morph_count; i++) {
            const pelt_skin_morph *morph = &w->m->morphs[i];
            if (source->normals && morph->normals) {
                add_vector(morph->normals + 3 * (size_t)v, (double)morph->weight, &normal);
            }
            if (source->tangents && morph->tangents) {
                add_vector(morph->tangents + 3 * (size_t)v, (double)morph->weight, &tangent);
            }
        }
        if (source->normals) {
            w->out->normals[v] = normal_reach(&b, &normal);
        }
        if (source->tangents) {
            w->out->tangents[v] = tangent_reach(&b, &tangent);
        }
    }
}

void verify_directions(const verify_model *m, const verify_item *item, const verify_reach *out)
{
    const pelt_primitive *source = item->source;
    if (source->vertex_count == 0 || (!source->normals && !source->tangents)) {
        return;
    }
    work w = {.m = m,
              .item = item,
              .palette = m->palettes[item->palette].palette,
              .morph_count = verify_model_morphs(m, item),
              .out = out};
    uint32_t tasks = (source->vertex_count - 1) / BLOCK + 1;
    const pelt_parallel *parallel = &m->context->parallel;
    parallel->run(parallel->user, tasks, measure_block, &w);
}

// Backends with palettes of their own take world matrices W rounded to float, where the CPU's palette comes from double
// ones. With E what rounding adds to W, and e to its translation, that moves a vertex by the sum of w (E (B p + b) +
// e), B and b of the inverse bind matrix.
static void add_rounding(const double *world, const pelt_mat34 *bind, const double p[3], double weight, double moved[3])
{
    double inner[4] = {0, 0, 0, 1};
    for (int k = 0; k < 3; k++) {
        const double row[3] = {(double)bind->m[k][0], (double)bind->m[k][1], (double)bind->m[k][2]};
        inner[k] = product(row, p) + (double)bind->m[k][3];
    }
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 4; k++) {
            double element = world[4 * r + k];
            moved[r] += weight * ((double)(float)element - element) * inner[k];
        }
    }
}

// Then both round the product: the CPU by 2^-24 of an element at most, the others by 2^-23, which moves a vertex by as
// much of the sum of w (|M| |p| + |t|).
static void add_terms(const pelt_mat34 *matrix, const double p[3], double weight, double terms[3])
{
    for (int r = 0; r < 3; r++) {
        terms[r] += weight * fabs((double)matrix->m[r][3]);
        for (int k = 0; k < 3; k++) {
            terms[r] += weight * fabs((double)matrix->m[r][k]) * p[k];
        }
    }
}

double verify_matrix_rounding(const verify_model *m, const verify_item *item, uint32_t vertex)
{
    const pelt_asset_data *data = pelt_asset_get(m->asset);
    const pelt_instance *instance = &data->instances[item->instance];
    const pelt_primitive *source = item->source;
    if (instance->skin == PELT_NONE) {
        return 0; // the palette is W itself, which the CPU rounds as well
    }
    const pelt_skin *skin = &data->skins[instance->skin];
    const pelt_mat34 *palette = m->palettes[item->palette].palette;
    direction p = {{0}, {0}};
    add_vector(source->positions + 3 * (size_t)vertex, 1, &p);
    uint32_t morph_count = verify_model_morphs(m, item);
    for (uint32_t i = 0; i < morph_count; i++) {
        if (m->morphs[i].positions) {
            add_vector(m->morphs[i].positions + 3 * (size_t)vertex, (double)m->morphs[i].weight, &p);
        }
    }
    double moved[3] = {0};
    double terms[3] = {0};
    uint32_t count = item->rigid ? 1 : source->influence_count;
    for (uint32_t i = 0; i < count; i++) {
        size_t at = (size_t)vertex * source->influence_count + i;
        double weight = item->rigid ? 1 : (double)source->weights[at];
        uint32_t joint = item->rigid || weight == 0 ? 0 : source->joints[at];
        const double *world = pelt_pose_world_double(m->pose, skin->joints[joint]);
        add_rounding(world, &skin->inverse_binds[joint], p.v, weight, moved);
        add_terms(&palette[joint], p.terms, weight, terms);
    }
    return sqrt(product(moved, moved)) + 3 * 0x1p-24 * sqrt(product(terms, terms));
}

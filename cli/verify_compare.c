// SPDX-License-Identifier: MIT
// Compares what a backend made of a primitive with the reference, and with itself. docs/accuracy.md derives what
// directions are allowed.
#include "verify.h"

#include <math.h>
#include <string.h>

static const double default_tolerance = 1e-6;
static const double degrees = 180 / 3.14159265358979323846;
// The most that rounding to the nearest code turns a direction, in radians: sqrt(3) sqrt(h^2 + k^2 + (h + k)^2) for
// half steps h and k. On a face of the octahedron, |x| + |y| + |z| = 1, they move a point by (h, k, h + k) at most,
// which shows largest in the middle of the face, 1 / sqrt(3) from the centre and at right angles.
static const double normal_quantum = 6.474e-5;  // h = k = 1/2 / 32767
static const double tangent_quantum = 9.890e-5; // k = 1/2 / 16383
// Beyond this reach a direction is what is left of a cancellation, and is not judged.
static const double reach_limit = 256;
static const double length_tolerance = 1e-6; // of float directions, which are of unit length

double verify_tolerance(const cli_context *context)
{
    return context->options.has_tolerance ? context->options.tolerance : default_tolerance;
}

double verify_rms(const verify_figures *figures)
{
    uint64_t count = figures->tallies[VERIFY_POSITION].compared;
    return count ? sqrt(figures->squares / (double)count) : 0;
}

double verify_rms_share(const verify_figures *figures)
{
    uint64_t count = figures->tallies[VERIFY_POSITION].compared;
    return count ? sqrt(figures->share_squares / (double)count) : 0;
}

bool verify_within(const verify_figures *figures)
{
    for (int i = 0; i < VERIFY_CHECKS; i++) {
        if (figures->tallies[i].failed) {
            return false;
        }
    }
    return true;
}

void verify_add_figures(const verify_figures *from, verify_figures *to)
{
    for (int i = 0; i < VERIFY_CHECKS; i++) {
        const verify_tally *a = &from->tallies[i];
        verify_tally *b = &to->tallies[i];
        if (a->has_place && (!b->has_place || a->worst > b->worst)) {
            b->place = a->place;
            b->has_place = true;
        }
        b->worst = fmax(a->worst, b->worst);
        b->compared += a->compared;
        b->failed += a->failed;
        b->unjudged += a->unjudged;
    }
    if (from->has_largest && (!to->has_largest || from->share > to->share)) {
        to->largest = from->largest;
        to->has_largest = true;
    }
    to->explained += from->explained;
    to->position = fmax(from->position, to->position);
    to->share = fmax(from->share, to->share);
    to->squares += from->squares;
    to->share_squares += from->share_squares;
    to->normal_degrees = fmax(from->normal_degrees, to->normal_degrees);
    to->tangent_degrees = fmax(from->tangent_degrees, to->tangent_degrees);
}

// One primitive at one moment.
typedef struct comparison {
    const verify_model *m;
    const verify_item *item;
    uint32_t count; // vertices
    double tolerance;
    verify_figures *figures;
} comparison;

static verify_place place_of(const comparison *c, uint32_t vertex)
{
    const pelt_asset_data *data = pelt_asset_get(c->m->asset);
    const pelt_instance *instance = &data->instances[c->item->instance];
    return (verify_place){.file = c->m->context->options.input,
                          .clip = c->m->clip,
                          .time = c->m->time,
                          .node = data->nodes[instance->node].file_index,
                          .mesh = instance->mesh,
                          .primitive = c->item->primitive,
                          .vertex = vertex};
}

// The worst so far takes the place; of equal ones the first.
static void note_place(const comparison *c, verify_check check, double worst, uint32_t vertex)
{
    verify_tally *tally = &c->figures->tallies[check];
    if (!tally->has_place || worst > tally->worst) {
        tally->worst = worst;
        tally->has_place = true;
        tally->place = place_of(c, vertex);
    }
}

// ---- positions

// The larger of the diagonal and the largest coordinate.
static double scale_of(const pelt_box *box)
{
    double sum = 0;
    double farthest = 0;
    if (pelt_box_is_empty(box)) {
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        double low = (double)box->min[i];
        double high = (double)box->max[i];
        sum += (high - low) * (high - low);
        farthest = fmax(farthest, fmax(fabs(low), fabs(high)));
    }
    return fmax(sqrt(sum), farthest);
}

// distance: of one over the tolerance, infinite ones among them; scale: of the primitive.
static void judge_position(const comparison *c, bool own_palette, double scale, double distance, uint32_t vertex)
{
    double allowed = c->tolerance * scale;
    if (own_palette && c->tolerance > 0) {
        allowed += verify_matrix_rounding(c->m, c->item, vertex);
    }
    if (distance <= allowed) {
        c->figures->explained++;
        return;
    }
    c->figures->tallies[VERIFY_POSITION].failed++;
    note_place(c, VERIFY_POSITION, scale > 0 ? (distance - allowed) / scale : HUGE_VAL, vertex);
}

static void compare_positions(const comparison *c, const verify_output *reference, const verify_output *output)
{
    verify_figures *f = c->figures;
    double scale = scale_of(&reference->box);
    double allowed = c->tolerance * scale * (c->tolerance * scale);
    double largest = 0;
    double squares = 0;
    uint32_t worst = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const float *p = reference->positions + 3 * (size_t)i;
        const float *q = output->positions + 3 * (size_t)i;
        double d[3] = {(double)p[0] - (double)q[0], (double)p[1] - (double)q[1], (double)p[2] - (double)q[2]};
        double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (!(square <= allowed)) { // NaN too
            square = square <= HUGE_VAL ? square : HUGE_VAL;
            judge_position(c, output->own_palette, scale, sqrt(square), i);
        }
        squares += square;
        if (square > largest) {
            largest = square;
            worst = i;
        }
    }
    double share = largest > 0 ? sqrt(largest) / scale : 0;
    f->tallies[VERIFY_POSITION].compared += c->count;
    f->squares += squares;
    f->share_squares += squares > 0 ? squares / (scale * scale) : 0;
    f->position = fmax(f->position, sqrt(largest));
    if (c->count > 0 && (!f->has_largest || share > f->share)) {
        f->largest = place_of(c, worst);
        f->has_largest = true;
    }
    f->share = fmax(f->share, share);
}

// ---- directions

// In radians, by the arc tangent, which is exact for small angles too. HUGE_VAL where b is not finite or, as a float
// direction, not of unit length.
static double angle_between(const float a[3], const float b[3], bool unit)
{
    double x[3] = {(double)a[0], (double)a[1], (double)a[2]};
    double y[3] = {(double)b[0], (double)b[1], (double)b[2]};
    double cross[3] = {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]};
    double dot = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
    double length = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
    double angle = atan2(sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]), dot);
    bool fine = angle <= HUGE_VAL && (!unit || fabs(length - 1) <= length_tolerance);
    return fine ? angle : HUGE_VAL;
}

// Angles of one kind of direction.
typedef struct judge {
    verify_check check;
    double quantum;  // of packed codes; 0 for floats
    double rounding; // times the reach
    double *largest; // degrees
} judge;

static void judge_direction(const comparison *c, const judge *j, const float a[3], const float b[3], double reach,
                            uint32_t vertex)
{
    verify_tally *tally = &c->figures->tallies[j->check];
    tally->compared++;
    if (!(reach <= reach_limit)) {
        tally->unjudged++;
        return;
    }
    double angle = angle_between(a, b, j->quantum == 0);
    double allowed = j->quantum + j->rounding * reach;
    double worst = angle > 0 ? angle / allowed : 0;
    tally->failed += !(worst <= 1);
    *j->largest = fmax(*j->largest, angle * degrees);
    note_place(c, j->check, worst, vertex);
}

static void compare_normals(const comparison *c, const verify_output *reference, const float *reach,
                            const verify_output *output)
{
    judge j = {.check = VERIFY_NORMAL,
               .quantum = output->packed_normals ? normal_quantum : 0,
               .rounding = 4 * c->tolerance,
               .largest = &c->figures->normal_degrees};
    for (uint32_t i = 0; i < c->count; i++) {
        float decoded[3];
        const float *b = output->normals ? output->normals + 3 * (size_t)i : decoded;
        if (output->packed_normals) {
            pelt_normal_decode(output->packed_normals[i], decoded);
        }
        judge_direction(c, &j, reference->normals + 3 * (size_t)i, b, (double)reach[i], i);
    }
}

static void compare_tangents(const comparison *c, const verify_output *reference, const float *reach,
                             const verify_output *output)
{
    judge j = {.check = VERIFY_TANGENT,
               .quantum = output->packed_tangents ? tangent_quantum : 0,
               .rounding = 2 * c->tolerance,
               .largest = &c->figures->tangent_degrees};
    verify_tally *hands = &c->figures->tallies[VERIFY_HANDEDNESS];
    for (uint32_t i = 0; i < c->count; i++) {
        float decoded[4];
        const float *a = reference->tangents + 4 * (size_t)i;
        const float *b = output->tangents ? output->tangents + 4 * (size_t)i : decoded;
        if (output->packed_tangents) {
            pelt_tangent_decode(output->packed_tangents[i], decoded);
        }
        judge_direction(c, &j, a, b, (double)reach[i], i);
        hands->compared++;
        if (a[3] != b[3]) {
            hands->failed++;
            note_place(c, VERIFY_HANDEDNESS, 1, i);
        }
    }
}

// ---- boxes and previous positions

static void check(const comparison *c, verify_check kind, bool right, double worst)
{
    c->figures->tallies[kind].compared++;
    if (!right) {
        c->figures->tallies[kind].failed++;
        note_place(c, kind, worst, PELT_NONE);
    }
}

// A NaN position does not enter, as in the skin.
static pelt_box box_of(const float *positions, uint32_t count)
{
    pelt_box box = pelt_box_empty();
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < 3; k++) {
            float x = positions[3 * i + k];
            box.min[k] = x < box.min[k] ? x : box.min[k];
            box.max[k] = x > box.max[k] ? x : box.max[k];
        }
    }
    return box;
}

// How far the positions pass the box; 0 where it holds them.
static double passes_by(const pelt_box *exact, const pelt_box *box)
{
    double most = 0;
    for (int k = 0; k < 3 && !pelt_box_is_empty(exact); k++) {
        // Written so that a box of NaN holds nothing.
        bool holds = box->min[k] <= exact->min[k] && box->max[k] >= exact->max[k];
        double low = (double)box->min[k] - (double)exact->min[k];
        double high = (double)exact->max[k] - (double)box->max[k];
        most = holds ? most : fmax(most, low <= HUGE_VAL && high <= HUGE_VAL ? fmax(low, high) : HUGE_VAL);
    }
    return most;
}

static void compare_boxes(const comparison *c, const verify_output *output)
{
    pelt_box exact = box_of(output->positions, c->count);
    check(c, VERIFY_BOX, memcmp(&exact, &output->box, sizeof exact) == 0, 1);
    if (!output->has_conservative) {
        return;
    }
    if (!verify_model_in_range(c->m, c->item)) {
        c->figures->tallies[VERIFY_CONSERVATIVE].compared++;
        c->figures->tallies[VERIFY_CONSERVATIVE].unjudged++;
        return;
    }
    double distance = passes_by(&exact, &output->conservative);
    check(c, VERIFY_CONSERVATIVE, distance == 0, distance);
}

// By a hash of 128 bits, which takes no memory for another copy of every position.
static void compare_previous(const comparison *c, const verify_output *output, bool first, uint64_t kept[2])
{
    uint64_t size = (uint64_t)c->count * 3 * sizeof(float);
    uint64_t hash[2] = {0, 0};
    bool right = first == (output->previous == NULL);
    if (!first && output->previous) {
        pelt_source_hash(output->previous, size, hash);
        right = memcmp(hash, kept, sizeof hash) == 0;
    }
    check(c, VERIFY_PREVIOUS, right, 1);
    pelt_source_hash(output->positions, size, kept);
}

void verify_compare(const verify_model *m, uint32_t item, const verify_output *reference, const verify_reach *reach,
                    const verify_output *output, verify_track *track)
{
    comparison c = {.m = m,
                    .item = &m->items[item],
                    .count = m->items[item].source->vertex_count,
                    .tolerance = verify_tolerance(m->context),
                    .figures = track->figures};
    if (reference) {
        compare_positions(&c, reference, output);
        if (reference->normals) {
            compare_normals(&c, reference, reach->normals, output);
        }
        if (reference->tangents) {
            compare_tangents(&c, reference, reach->tangents, output);
        }
    }
    compare_boxes(&c, output);
    compare_previous(&c, output, track->update_count == 1, track->hashes[item]);
}

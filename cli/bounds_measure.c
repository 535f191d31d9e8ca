// SPDX-License-Identifier: MIT
// The moments of a clip, and what each adds to boxes and to how far a mesh leaves its declared box.
#include "bounds.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOMENT_LIMIT = 2000000
};

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

// Sorts and drops repeated times; returns how many are left.
static size_t sort_unique(double *times, size_t count)
{
    size_t kept = 0;
    qsort(times, count, sizeof *times, compare_times);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || times[i] > times[kept - 1]) {
            times[kept++] = times[i];
        }
    }
    return kept;
}

static size_t copy_keys(const pelt_clip *clip, double *out)
{
    size_t count = 0;
    for (uint32_t i = 0; i < clip->sampler_count; i++) {
        for (uint32_t j = 0; j < clip->samplers[i].key_count; j++) {
            out[count++] = (double)clip->samplers[i].times[j];
        }
    }
    return count;
}

int bounds_collect(cli_context *context, const pelt_asset *asset, uint32_t index, double fps, bounds_moments *out)
{
    const pelt_clip *clip = &pelt_asset_get(asset)->clips[index];
    double duration = (double)clip->duration;
    double steps = floor(duration * fps);
    uint64_t capacity = 2; // the end of the clip and a rest
    *out = (bounds_moments){0};
    if (!(steps < MOMENT_LIMIT)) {
        return cli_fail(context, CLI_LIMIT, context->options.input, NULL, "give a smaller --fps, or one --time",
                        "clip #%u lasts %.9g s: %.9g times a second are more than %d moments", (unsigned)index,
                        duration, fps, (int)MOMENT_LIMIT);
    }
    for (uint32_t i = 0; i < clip->sampler_count; i++) {
        capacity += clip->samplers[i].key_count;
    }
    capacity += (uint64_t)steps + 1;
    out->times = capacity > SIZE_MAX / sizeof(double) ? NULL : malloc((size_t)capacity * sizeof(double));
    if (!out->times) {
        return cli_fail(context, CLI_LIMIT, context->options.input, NULL, NULL, "out of memory for the moments");
    }
    size_t count = sort_unique(out->times, copy_keys(clip, out->times));
    out->key_count = count;
    for (uint64_t i = 0; i <= (uint64_t)steps; i++) {
        double time = (double)i / fps;
        out->times[count++] = time < duration ? time : duration;
        out->grid_count++;
    }
    if (out->times[count - 1] < duration) {
        out->times[count++] = duration;
        out->grid_count++;
    }
    out->count = sort_unique(out->times, count);
    if (out->count > MOMENT_LIMIT) {
        free(out->times);
        *out = (bounds_moments){0};
        return cli_fail(context, CLI_LIMIT, context->options.input, NULL, "give one --time",
                        "the keys of clip #%u and its grid are more than %d moments", (unsigned)index,
                        (int)MOMENT_LIMIT);
    }
    return CLI_DONE;
}

bool bounds_result_init(const scene *s, bounds_result *out)
{
    *out = (bounds_result){.clip = PELT_NONE, .box = pelt_box_empty()};
    out->measures = calloc(s->primitive_count ? s->primitive_count : 1, sizeof *out->measures);
    if (!out->measures) {
        return false;
    }
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        bounds_measure *m = &out->measures[k];
        const pelt_primitive *source = s->primitives[k].source;
        m->box = pelt_box_empty();
        m->used_box = m->box;
        m->declared = m->box;
        m->has_declared = source->has_declared_box && !pelt_box_is_empty(&source->declared_box);
    }
    return true;
}

// The declared box lies in mesh space. A rigid primitive is carried by its node, so the box is too. A skinned one is
// not: its box stands for the bind pose, and is compared as it stands, since that is what a viewer culls with.
static pelt_box declared_now(const scene *s, const scene_primitive *p)
{
    const pelt_instance *instance = &pelt_asset_get(s->asset)->instances[p->instance];
    if (instance->skin != PELT_NONE) {
        return p->source->declared_box;
    }
    pelt_mat34 world = pelt_pose_world(s->pose, instance->node);
    return pelt_box_transform(&world, &p->source->declared_box);
}

// Rounding: a millionth of the declared box's diagonal and farthest coordinate together, eight units in the last place.
static void add_leaves(const pelt_box *box, const pelt_box *declared, bounds_measure *m)
{
    double diagonal = 0.0;
    double farthest = 0.0;
    for (int i = 0; i < 3; i++) {
        double low = (double)declared->min[i];
        double high = (double)declared->max[i];
        diagonal += (high - low) * (high - low);
        farthest = fmax(farthest, fmax(fabs(low), fabs(high)));
    }
    diagonal = sqrt(diagonal);
    double tolerance = 1e-6 * (diagonal + farthest);
    for (int i = 0; i < 3; i++) {
        double distances[2] = {(double)declared->min[i] - (double)box->min[i],
                               (double)box->max[i] - (double)declared->max[i]};
        for (int side = 0; side < 2; side++) {
            double distance = fmax(0.0, distances[side]);
            int slot = 3 * side + i;
            double share = distance > 0.0 ? distance / diagonal : 0.0;
            m->leaves[slot] = fmax(m->leaves[slot], distance);
            m->shares[slot] = fmax(m->shares[slot], share);
            m->outside = m->outside || distance > tolerance;
        }
    }
}

void bounds_add_moment(const scene *s, bounds_result *result)
{
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        const scene_primitive *p = &s->primitives[k];
        bounds_measure *m = &result->measures[k];
        m->box = pelt_box_union(&m->box, &p->box);
        m->used_box = pelt_box_union(&m->used_box, &p->used_box);
        if (m->has_declared && !pelt_box_is_empty(&p->box)) {
            pelt_box declared = declared_now(s, p);
            m->declared = pelt_box_union(&m->declared, &declared);
            add_leaves(&p->box, &declared, m);
        }
        result->box = pelt_box_union(&result->box, &p->box);
    }
    result->moment_count++;
}

void bounds_add_result(const scene *s, const bounds_result *other, bounds_result *result)
{
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        const bounds_measure *from = &other->measures[k];
        bounds_measure *m = &result->measures[k];
        m->box = pelt_box_union(&m->box, &from->box);
        m->used_box = pelt_box_union(&m->used_box, &from->used_box);
        m->declared = pelt_box_union(&m->declared, &from->declared);
        m->outside = m->outside || from->outside;
        for (int i = 0; i < 6; i++) {
            m->leaves[i] = fmax(m->leaves[i], from->leaves[i]);
            m->shares[i] = fmax(m->shares[i], from->shares[i]);
        }
    }
    result->box = pelt_box_union(&result->box, &other->box);
    result->moment_count += other->moment_count;
    result->key_count += other->key_count;
    result->grid_count += other->grid_count;
}

double bounds_outside_volume(const bounds_measure *m)
{
    double volume = pelt_box_volume(&m->box);
    if (!m->has_declared || !(volume > 0.0)) {
        return (double)NAN;
    }
    double inside = 1.0;
    for (int i = 0; i < 3; i++) {
        double low = fmax((double)m->box.min[i], (double)m->declared.min[i]);
        double high = fmin((double)m->box.max[i], (double)m->declared.max[i]);
        inside *= fmax(0.0, high - low);
    }
    return fmin(1.0, fmax(0.0, 1.0 - inside / volume));
}

double bounds_volume_ratio(const bounds_measure *m)
{
    double volume = pelt_box_volume(&m->box);
    double declared = pelt_box_volume(&m->declared);
    return m->has_declared && volume > 0.0 && declared > 0.0 ? volume / declared : (double)NAN;
}

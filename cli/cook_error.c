// SPDX-License-Identifier: MIT
// Measures what packing costs: the source and the unpacked .pelt are posed side by side over all clips, and compared
// vertex by vertex through the remap.
#include "cook.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOMENTS_PER_CLIP = 64,
    FEWEST_MOMENTS = 3
};

// Vertices posed in all, over moments and instances: what keeps a crowd or a file of many long clips from taking hours.
static const double vertex_budget = 4e7;

double cook_error_rms(const cook_error *error)
{
    return error->count ? sqrt(error->squares / (double)error->count) : 0;
}

double cook_error_rms_share(const cook_error *error)
{
    return error->count ? sqrt(error->share_squares / (double)error->count) : 0;
}

static int out_of_memory(const cli_context *context)
{
    return cli_fail(context, CLI_LIMIT, context->options.input, NULL, NULL, "out of memory while measuring the loss");
}

// ---- moments

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

// Key times and an even grid, each time once; of more than limit, as many are kept, evenly. NULL where memory runs out.
static double *choose_moments(const pelt_clip *clip, uint32_t limit, uint32_t *out_count)
{
    uint64_t capacity = limit;
    for (uint32_t i = 0; i < clip->sampler_count; i++) {
        capacity += clip->samplers[i].key_count;
    }
    double *times = capacity > SIZE_MAX / sizeof *times ? NULL : malloc((size_t)capacity * sizeof *times);
    if (!times) {
        return NULL;
    }
    size_t count = 0;
    for (uint32_t i = 0; i < limit; i++) {
        times[count++] = (double)clip->duration * i / (limit - 1);
    }
    for (uint32_t i = 0; i < clip->sampler_count; i++) {
        for (uint32_t j = 0; j < clip->samplers[i].key_count; j++) {
            times[count++] = (double)clip->samplers[i].times[j];
        }
    }
    qsort(times, count, sizeof *times, compare_times);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || times[i] > times[kept - 1]) {
            times[kept++] = times[i];
        }
    }
    if (kept > limit) {
        for (uint32_t i = 0; i < limit; i++) {
            times[i] = times[(size_t)((uint64_t)i * (kept - 1) / (limit - 1))];
        }
        kept = limit;
    }
    *out_count = (uint32_t)kept;
    return times;
}

static uint32_t moments_per_clip(const scene *s, uint32_t clip_count)
{
    double vertices = 1;
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        vertices += s->primitives[k].source->vertex_count;
    }
    double most = floor(vertex_budget / vertices / (clip_count ? clip_count : 1));
    return most >= MOMENTS_PER_CLIP ? MOMENTS_PER_CLIP : most <= FEWEST_MOMENTS ? FEWEST_MOMENTS : (uint32_t)most;
}

// ---- comparison

typedef struct measure {
    scene source;
    scene unpacked;
    const pelt_cooked_data *cooked;
    uint32_t *first_primitive; // by mesh, into cooked->primitives
    cook_errors *errors;
} measure;

static double box_diagonal(const pelt_box *box)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double side = (double)box->max[i] - (double)box->min[i];
        sum += side * side;
    }
    return pelt_box_is_empty(box) ? 0 : sqrt(sum);
}

// The largest angle seen, and its squared sine where it is acute, so that most vertices need no arc tangent.
typedef struct widest_turn {
    double angle;
    double sine_squared;
} widest_turn;

// By the arc tangent, which is exact for small angles too.
static void add_turn(const float *a, const float *b, widest_turn *widest)
{
    double x[3] = {(double)a[0], (double)a[1], (double)a[2]};
    double y[3] = {(double)b[0], (double)b[1], (double)b[2]};
    double cross[3] = {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]};
    double dot = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
    double sine_squared = cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2];
    if (dot <= 0 || sine_squared > widest->sine_squared) {
        double angle = atan2(sqrt(sine_squared), dot);
        widest->sine_squared = dot > 0 ? sine_squared : widest->sine_squared;
        widest->angle = angle > widest->angle ? angle : widest->angle;
    }
}

static void compare_primitive(const measure *m, uint32_t k, double diagonal)
{
    const scene_primitive *a = &m->source.primitives[k];
    const scene_primitive *b = &m->unpacked.primitives[k];
    uint32_t mesh = pelt_asset_get(m->source.asset)->instances[a->instance].mesh;
    uint32_t index = m->first_primitive[mesh] + a->primitive;
    const pelt_cooked_primitive *cooked = &m->cooked->primitives[index];
    cook_error *error = &m->errors->primitives[index];
    double largest = 0;
    double squares = 0;
    widest_turn turn = {0};
    for (uint32_t i = 0; i < cooked->vertex_count; i++) {
        size_t from = cooked->source_vertices[i];
        const float *p = &a->positions[3 * from];
        const float *q = &b->positions[3 * (size_t)i];
        double d[3] = {(double)p[0] - (double)q[0], (double)p[1] - (double)q[1], (double)p[2] - (double)q[2]};
        double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        squares += square;
        largest = square > largest ? square : largest;
        if (a->normals && b->normals) {
            add_turn(&a->normals[3 * from], &b->normals[3 * (size_t)i], &turn);
        }
    }
    double share = diagonal > 0 ? 1 / diagonal : 0;
    error->count += cooked->vertex_count;
    error->squares += squares;
    error->share_squares += squares * share * share;
    error->position = fmax(error->position, sqrt(largest));
    error->share = fmax(error->share, sqrt(largest) * share);
    error->normal_degrees = fmax(error->normal_degrees, turn.angle * (180 / 3.14159265358979323846));
}

// Primitives of an instance follow one another; its box is theirs together.
static void compare_scenes(const measure *m)
{
    const scene *s = &m->source;
    for (uint32_t first = 0; first < s->primitive_count;) {
        uint32_t end = first;
        pelt_box box = pelt_box_empty();
        while (end < s->primitive_count && s->primitives[end].instance == s->primitives[first].instance) {
            box = pelt_box_union(&box, &s->primitives[end].box);
            end++;
        }
        for (uint32_t k = first; k < end; k++) {
            compare_primitive(m, k, box_diagonal(&box));
        }
        first = end;
    }
}

static int measure_at(measure *m, uint32_t clip, double time)
{
    int code = scene_evaluate(&m->source, clip, time);
    code = code == CLI_DONE ? scene_evaluate(&m->unpacked, clip, time) : code;
    if (code == CLI_DONE) {
        compare_scenes(m);
        m->errors->moment_count++;
    }
    return code;
}

static int measure_clip(measure *m, uint32_t clip)
{
    uint32_t count = 0;
    const pelt_asset_data *data = pelt_asset_get(m->source.asset);
    double *times = choose_moments(&data->clips[clip], m->errors->moment_limit, &count);
    if (!times) {
        return out_of_memory(m->source.context);
    }
    int code = CLI_DONE;
    for (uint32_t i = 0; i < count && code == CLI_DONE; i++) {
        code = measure_at(m, clip, times[i]);
    }
    free(times);
    return code;
}

static int measure_all(measure *m)
{
    uint32_t clips = pelt_asset_get(m->source.asset)->clip_count;
    m->errors->clip_count = clips;
    m->errors->moment_limit = moments_per_clip(&m->source, clips);
    if (clips == 0) {
        return measure_at(m, PELT_NONE, 0);
    }
    int code = CLI_DONE;
    for (uint32_t i = 0; i < clips && code == CLI_DONE; i++) {
        code = measure_clip(m, i);
    }
    return code;
}

static void sum_up(cook_errors *errors, uint32_t count)
{
    cook_error *all = &errors->all;
    for (uint32_t i = 0; i < count; i++) {
        const cook_error *one = &errors->primitives[i];
        all->count += one->count;
        all->squares += one->squares;
        all->share_squares += one->share_squares;
        all->position = fmax(all->position, one->position);
        all->share = fmax(all->share, one->share);
        all->normal_degrees = fmax(all->normal_degrees, one->normal_degrees);
    }
}

// Whether the two scenes hold the same primitives, so that they can be compared one by one.
static bool scenes_match(const measure *m)
{
    const pelt_asset_data *data = pelt_asset_get(m->source.asset);
    bool match = m->source.primitive_count == m->unpacked.primitive_count;
    for (uint32_t k = 0; match && k < m->source.primitive_count; k++) {
        const scene_primitive *a = &m->source.primitives[k];
        const scene_primitive *b = &m->unpacked.primitives[k];
        uint32_t index = m->first_primitive[data->instances[a->instance].mesh] + a->primitive;
        match = a->instance == b->instance && a->primitive == b->primitive && index < m->cooked->primitive_count &&
                b->source->vertex_count == m->cooked->primitives[index].vertex_count &&
                a->source->vertex_count == m->cooked->primitives[index].source_vertex_count;
    }
    return match && pelt_asset_get(m->unpacked.asset)->clip_count == data->clip_count;
}

int cook_measure(cli_context *context, const pelt_asset *source, const pelt_asset *unpacked,
                 const pelt_cooked_data *cooked, cook_errors *out)
{
    const pelt_asset_data *data = pelt_asset_get(source);
    measure m = {.cooked = cooked, .errors = out};
    *out = (cook_errors){0};
    int code = scene_create(context, source, SCENE_ALL, &m.source);
    code = code == CLI_DONE ? scene_create(context, unpacked, SCENE_ALL, &m.unpacked) : code;
    m.first_primitive = calloc((size_t)data->mesh_count + 1, sizeof *m.first_primitive);
    out->primitives = calloc((size_t)cooked->primitive_count + 1, sizeof *out->primitives);
    if (code == CLI_DONE && (!m.first_primitive || !out->primitives)) {
        code = out_of_memory(context);
    }
    if (code == CLI_DONE) {
        for (uint32_t i = 0; i < data->mesh_count; i++) {
            m.first_primitive[i + 1] = m.first_primitive[i] + data->meshes[i].primitive_count;
        }
        code = scenes_match(&m) ? measure_all(&m)
                                : cli_fail(context, CLI_INVALID, context->options.input, NULL, NULL,
                                           "the cooked file does not hold what the source holds");
    }
    if (code == CLI_DONE) {
        sum_up(out, cooked->primitive_count);
    }
    free(m.first_primitive);
    scene_destroy(&m.source);
    scene_destroy(&m.unpacked);
    return code;
}

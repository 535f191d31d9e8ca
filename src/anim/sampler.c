// SPDX-License-Identifier: MIT
// STEP, LINEAR and CUBICSPLINE at one time, evaluated in double. Source: glTF 2.0 specification, appendix C.
#include "anim_internal.h"

#include <float.h>

void pelti_sampler_find(const pelt_sampler *sampler, double time, pelti_key_span *span)
{
    const float *times = sampler->times;
    if (span->times == times && span->key_count == sampler->key_count) {
        return;
    }
    *span = (pelti_key_span){.times = times, .key_count = sampler->key_count};
    // Invariant: every key before low is at or before the time, every key from high on is after it.
    uint32_t low = 0;
    uint32_t high = sampler->key_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((double)times[middle] <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return;
    }
    span->key = low - 1;
    double start = (double)times[low - 1];
    if (low == sampler->key_count || start >= time) {
        return;
    }
    span->between = true;
    span->length = (double)times[low] - start;
    span->share = (time - start) / span->length;
}

// The stored value of a key, past its in-tangent where there is one.
static const float *key_value(const pelt_sampler *sampler, uint32_t key)
{
    bool cubic = sampler->interpolation == PELT_INTERPOLATION_CUBICSPLINE;
    size_t width = sampler->value_count;
    return cubic ? sampler->values + width * (3 * (size_t)key + 1) : sampler->values + width * (size_t)key;
}

// Cubic Hermite spline between this key's value and the next one's, tangents times the key distance. a points into
// this key's value, in the middle of its (in-tangent, value, out-tangent).
static double hermite(const float *a, size_t width, const pelti_key_span *span)
{
    const float *b = a + 3 * width;
    double out_tangent = (double)a[width];
    double in_tangent = (double)*(b - width);
    double t = span->share;
    double tt = t * t;
    double ttt = tt * t;
    return (2.0 * ttt - 3.0 * tt + 1.0) * (double)*a + span->length * (ttt - 2.0 * tt + t) * out_tangent +
           (3.0 * tt - 2.0 * ttt) * (double)*b + span->length * (ttt - tt) * in_tangent;
}

double pelti_sampler_component(const pelt_sampler *sampler, const pelti_key_span *span, uint32_t component)
{
    const float *value = key_value(sampler, span->key) + component;
    if (!span->between || sampler->interpolation == PELT_INTERPOLATION_STEP) {
        return (double)*value;
    }
    if (sampler->interpolation == PELT_INTERPOLATION_LINEAR) {
        return pelti_lerp((double)*value, (double)value[sampler->value_count], span->share);
    }
    // Huge tangents can leave float's range, though every number of the file is in it: the nearest float holds then, so
    // that locals stay finite.
    double result = hermite(value, sampler->value_count, span);
    return fmin(fmax(result, (double)-FLT_MAX), (double)FLT_MAX);
}

static pelti_quatd key_rotation(const pelt_sampler *sampler, uint32_t key)
{
    const float *value = key_value(sampler, key);
    pelti_quatd q = {(double)value[0], (double)value[1], (double)value[2], (double)value[3]};
    // What is of unit length within a float's rounding is kept as it is, so that a key gives exactly what is stored.
    if (fabs(pelti_quatd_dot(q, q) - 1.0) > 2.5e-7 && !pelti_quatd_normalize(&q)) {
        q = (pelti_quatd){0.0, 0.0, 0.0, 1.0};
    }
    return q;
}

pelti_quatd pelti_sampler_rotation(const pelt_sampler *sampler, const pelti_key_span *span)
{
    if (!span->between || sampler->interpolation == PELT_INTERPOLATION_STEP) {
        return key_rotation(sampler, span->key);
    }
    if (sampler->interpolation == PELT_INTERPOLATION_LINEAR) {
        return pelti_quatd_slerp(key_rotation(sampler, span->key), key_rotation(sampler, span->key + 1), span->share);
    }
    const float *value = key_value(sampler, span->key);
    pelti_quatd q = {hermite(value, 4, span), hermite(value + 1, 4, span), hermite(value + 2, 4, span),
                     hermite(value + 3, 4, span)};
    // A spline that runs through zero has no direction there; the nearer key's is as good as any.
    return pelti_quatd_normalize(&q) ? q : key_rotation(sampler, span->share < 0.5 ? span->key : span->key + 1);
}

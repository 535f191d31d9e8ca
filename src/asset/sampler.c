// SPDX-License-Identifier: MIT
// Checks the keys and values of one animation sampler and brings its rotations to unit length.
#include "asset/asset_internal.h"

static asset_text sampler_path(uint32_t clip, const pelt_sampler *sampler, const char *end)
{
    return pelti_asset_text("/animations/%u/samplers/%u/%s", clip, sampler->file_index, end);
}

static pelt_result check_times(uint32_t clip, const pelt_sampler *sampler, pelt_error *error)
{
    const float *times = sampler->times;
    asset_text where = sampler_path(clip, sampler, "input");
    uint32_t file_index = sampler->file_index;
    uint64_t at = pelti_first_not_finite(times, sampler->key_count);
    if (at < sampler->key_count) {
        return pelti_fail(error, PELT_ERROR_INVALID, where.text, "animation %u, sampler %u: input key %u is %s", clip,
                          file_index, (uint32_t)at, pelti_asset_number(times[at]).text);
    }
    if (times[0] < 0.0f) {
        return pelti_fail(error, PELT_ERROR_INVALID, where.text,
                          "animation %u, sampler %u: input key 0 at %s s is before 0", clip, file_index,
                          pelti_asset_number(times[0]).text);
    }
    for (uint32_t k = 1; k < sampler->key_count; k++) {
        if (!(times[k] > times[k - 1])) {
            return pelti_fail(error, PELT_ERROR_INVALID, where.text,
                              "animation %u, sampler %u: input key %u at %s s does not come after key %u at %s s", clip,
                              file_index, k, pelti_asset_number(times[k]).text, k - 1,
                              pelti_asset_number(times[k - 1]).text);
        }
    }
    return PELT_OK;
}

static uint64_t floats_per_key(const pelt_sampler *sampler)
{
    return (uint64_t)sampler->value_count * (sampler->interpolation == PELT_INTERPOLATION_CUBICSPLINE ? 3 : 1);
}

static pelt_result check_values(uint32_t clip, const pelt_sampler *sampler, pelt_error *error)
{
    uint64_t count = sampler->key_count * floats_per_key(sampler);
    uint64_t at = pelti_first_not_finite(sampler->values, count);
    if (at == count) {
        return PELT_OK;
    }
    uint32_t key = (uint32_t)(at / floats_per_key(sampler));
    return pelti_fail(error, PELT_ERROR_INVALID, sampler_path(clip, sampler, "output").text,
                      "animation %u, sampler %u: output: key %u holds %s", clip, sampler->file_index, key,
                      pelti_asset_number(sampler->values[at]).text);
}

// Zero rotations are refused. Others are normalised, but for CUBICSPLINE: its tangents belong to the values as they
// are, and sampling normalises the result.
static pelt_result check_rotations(const pelt_log *log, uint32_t clip, const pelt_sampler *sampler, pelt_error *error)
{
    bool cubic = sampler->interpolation == PELT_INTERPOLATION_CUBICSPLINE;
    // The builder's memory, given to it by the caller for exactly this.
    float *value = (float *)sampler->values + (cubic ? 4 : 0);
    uint32_t worst_key = 0;
    double worst_off = 0.0;
    for (uint32_t k = 0; k < sampler->key_count; k++, value += cubic ? 12 : 4) {
        pelti_quatd q = {(double)value[0], (double)value[1], (double)value[2], (double)value[3]};
        double off = fabs(sqrt(pelti_quatd_dot(q, q)) - 1.0);
        bool settled = pelti_quatd_is_rounded_unit(q);
        if (!pelti_quatd_normalize(&q)) {
            return pelti_fail(error, PELT_ERROR_INVALID, sampler_path(clip, sampler, "output").text,
                              "animation %u, sampler %u: output: the rotation of key %u has length zero", clip,
                              sampler->file_index, k);
        }
        if (!cubic) {
            worst_key = off > worst_off ? k : worst_key;
            worst_off = off > worst_off ? off : worst_off;
            if (!settled) {
                pelt_quat unit = pelti_quat_from_quatd(q);
                memcpy(value, &unit, sizeof unit);
            }
        }
    }
    // 8-bit keys are off by up to 0.016 without anything being wrong.
    if (worst_off > 0.02) {
        pelti_warn(log, sampler_path(clip, sampler, "output").text,
                   "animation %u, sampler %u: output: the rotation of key %u is off unit length by %.6g; normalised",
                   clip, sampler->file_index, worst_key, worst_off);
    }
    return PELT_OK;
}

// Samplers share arrays, and a file may have as many samplers as it likes: each array is looked at once.
static pelt_result scan_arrays(asset_finish *finish, uint32_t clip, const pelt_sampler *sampler, bool is_rotation,
                               pelt_error *error)
{
    uint64_t value_count = sampler->key_count * floats_per_key(sampler);
    bool is_new = false;
    if (!pelti_asset_seen(finish, sampler->times, sampler->key_count, ASSET_SCAN_TIMES, &is_new)) {
        return pelti_fail_memory(error);
    }
    pelt_result result = is_new ? check_times(clip, sampler, error) : PELT_OK;
    if (result == PELT_OK && !pelti_asset_seen(finish, sampler->values, value_count, ASSET_SCAN_FINITE, &is_new)) {
        return pelti_fail_memory(error);
    }
    result = result == PELT_OK && is_new ? check_values(clip, sampler, error) : result;
    if (result != PELT_OK || !is_rotation) {
        return result;
    }
    asset_scan scan =
        sampler->interpolation == PELT_INTERPOLATION_CUBICSPLINE ? ASSET_SCAN_CUBIC_ROTATIONS : ASSET_SCAN_ROTATIONS;
    if (!pelti_asset_seen(finish, sampler->values, value_count, scan, &is_new)) {
        return pelti_fail_memory(error);
    }
    return is_new ? check_rotations(&finish->builder->log, clip, sampler, error) : PELT_OK;
}

pelt_result pelti_finish_sampler(asset_finish *finish, uint32_t clip, const pelt_sampler *sampler, bool is_rotation,
                                 pelt_error *error)
{
    if (sampler->key_count == 0) {
        return pelti_fail(error, PELT_ERROR_INVALID, sampler_path(clip, sampler, "input").text,
                          "animation %u, sampler %u: input has no keys", clip, sampler->file_index);
    }
    if (!sampler->times || !sampler->values || sampler->value_count == 0) {
        return pelti_fail(error, PELT_ERROR_INVALID, sampler_path(clip, sampler, "output").text,
                          "animation %u, sampler %u: output: values are missing", clip, sampler->file_index);
    }
    if (sampler->interpolation != PELT_INTERPOLATION_LINEAR && sampler->interpolation != PELT_INTERPOLATION_STEP &&
        sampler->interpolation != PELT_INTERPOLATION_CUBICSPLINE) {
        return pelti_fail(error, PELT_ERROR_INVALID, sampler_path(clip, sampler, "interpolation").text,
                          "animation %u, sampler %u: interpolation %d is unknown", clip, sampler->file_index,
                          (int)sampler->interpolation);
    }
    pelt_result result = scan_arrays(finish, clip, sampler, is_rotation, error);
    if (result == PELT_OK && sampler->interpolation == PELT_INTERPOLATION_CUBICSPLINE && sampler->key_count == 1) {
        pelti_warn(&finish->builder->log, sampler_path(clip, sampler, "interpolation").text,
                   "animation %u, sampler %u: CUBICSPLINE needs 2 keys and has one; its value holds throughout", clip,
                   sampler->file_index);
    }
    return result;
}

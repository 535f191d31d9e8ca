// SPDX-License-Identifier: MIT
// Checks the clips of a .pelt file, their channels, samplers and keys.
#include "cook/reader.h"

// The arrays lie one after the other in KEYS; each is looked at once, however many samplers share it.
static pelt_result check_keys(const pelt_cooked *cooked, pelt_error *error)
{
    const file_section *section = pelti_cooked_section(cooked, FILE_KEYA, 0, 0);
    const file_section *keys = pelti_cooked_section(cooked, FILE_KEYS, 0, 0);
    const float *floats = pelti_cooked_contents(cooked, keys);
    uint64_t float_count = keys ? keys->count : 0;
    uint64_t array_count = section ? section->count : 0;
    uint64_t first = 0;
    if (array_count >= PELT_NONE) {
        return pelti_cooked_refuse(section, 0, error, "%llu arrays are too many", (unsigned long long)array_count);
    }
    for (uint64_t i = 0; i < array_count; i++) {
        const file_key_array *array = pelti_cooked_record(cooked, FILE_KEYA, 0, i);
        if (array->first != first || array->count > float_count - first || array->count == 0) {
            return pelti_cooked_refuse(
                section, i, error, "array %llu has %llu numbers from %llu on, but is to begin at %llu of %llu",
                (unsigned long long)i, (unsigned long long)array->count, (unsigned long long)array->first,
                (unsigned long long)first, (unsigned long long)float_count);
        }
        first += array->count;
        if (!(array->flags & FILE_KEYS_ARE_TIMES)) {
            continue;
        }
        const float *times = floats + array->first;
        for (uint64_t k = 0; k < array->count; k++) {
            if (!(k == 0 ? times[0] >= 0.0f : times[k] > times[k - 1])) {
                return pelti_cooked_refuse(keys, array->first + k, error,
                                           "key time %llu of array %llu does not come after the one before",
                                           (unsigned long long)k, (unsigned long long)i);
            }
        }
    }
    if (first != float_count) {
        return pelti_cooked_refuse(keys, first, error, "numbers that belong to no array");
    }
    return pelti_cooked_check_finite(cooked, keys, error);
}

static const file_key_array *key_array(const pelt_cooked *cooked, uint32_t index)
{
    return index < pelti_cooked_count(cooked, FILE_KEYA, 0) ? pelti_cooked_record(cooked, FILE_KEYA, 0, index) : NULL;
}

static pelt_result check_sampler(const pelt_cooked *cooked, uint32_t clip, uint32_t index, float *duration,
                                 pelt_error *error)
{
    const file_section *section = pelti_cooked_section(cooked, FILE_SAMP, clip, 0);
    const file_sampler *sampler = pelti_cooked_record(cooked, FILE_SAMP, clip, index);
    if (sampler->interpolation > PELT_INTERPOLATION_CUBICSPLINE) {
        return pelti_cooked_refuse(section, index, error, "sampler %u: interpolation %u is unknown", index,
                                   sampler->interpolation);
    }
    const file_key_array *times = key_array(cooked, sampler->times);
    const file_key_array *values = key_array(cooked, sampler->values);
    uint64_t floats =
        (uint64_t)sampler->value_count * (sampler->interpolation == PELT_INTERPOLATION_CUBICSPLINE ? 3 : 1);
    if (!times || !values || !(times->flags & FILE_KEYS_ARE_TIMES) || values->flags & FILE_KEYS_ARE_TIMES ||
        times->count != sampler->key_count || floats == 0 || !pelti_mul(floats, sampler->key_count, &floats) ||
        values->count != floats) {
        return pelti_cooked_refuse(section, index, error,
                                   "sampler %u: arrays %u and %u are not %u times and as many values of %u numbers",
                                   index, sampler->times, sampler->values, sampler->key_count, sampler->value_count);
    }
    const float *floats_of_keys = pelti_cooked_contents(cooked, pelti_cooked_section(cooked, FILE_KEYS, 0, 0));
    float last = floats_of_keys[times->first + times->count - 1];
    *duration = last > *duration ? last : *duration;
    return PELT_OK;
}

static pelt_result check_channel(const pelt_cooked *cooked, uint32_t clip, uint32_t index, pelt_error *error)
{
    const file_section *section = pelti_cooked_section(cooked, FILE_CHAN, clip, 0);
    const file_channel *channel = pelti_cooked_record(cooked, FILE_CHAN, clip, index);
    if (channel->node >= cooked->node_count || channel->path > PELT_PATH_WEIGHTS ||
        channel->sampler >= pelti_cooked_count(cooked, FILE_SAMP, clip)) {
        return pelti_cooked_refuse(section, index, error, "channel %u: node %u, path %u or sampler %u does not exist",
                                   index, channel->node, channel->path, channel->sampler);
    }
    const file_node *node = pelti_cooked_record(cooked, FILE_NODE, 0, channel->node);
    const file_sampler *sampler = pelti_cooked_record(cooked, FILE_SAMP, clip, channel->sampler);
    bool is_weights = channel->path == PELT_PATH_WEIGHTS;
    uint32_t value_count = is_weights ? node->weight_count : channel->path == PELT_PATH_ROTATION ? 4 : 3;
    if (sampler->value_count != value_count || (!is_weights && node->flags & FILE_NODE_HAS_MATRIX)) {
        return pelti_cooked_refuse(
            section, index, error,
            "channel %u: sampler %u has %u numbers a key, which does not suit path %u of node %u", index,
            channel->sampler, sampler->value_count, channel->path, channel->node);
    }
    if (index > 0) {
        const file_channel *before = pelti_cooked_record(cooked, FILE_CHAN, clip, index - 1);
        if (channel->node < before->node || (channel->node == before->node && channel->path <= before->path)) {
            return pelti_cooked_refuse(section, index, error,
                                       "channel %u does not come after the one before by node and path", index);
        }
    }
    return PELT_OK;
}

static pelt_result check_clip(const pelt_cooked *cooked, uint32_t index, pelt_error *error)
{
    const file_section *section = pelti_cooked_section(cooked, FILE_CLIP, 0, 0);
    const file_clip *clip = pelti_cooked_record(cooked, FILE_CLIP, 0, index);
    const file_section *part = NULL;
    float duration = 0.0f;
    pelt_result result = pelti_cooked_check_name(cooked, section, index, clip->name, error);
    if (result == PELT_OK) {
        result = pelti_cooked_need(cooked, FILE_SAMP, index, 0, clip->sampler_count, &part, error);
    }
    if (result == PELT_OK) {
        result = pelti_cooked_need(cooked, FILE_CHAN, index, 0, clip->channel_count, &part, error);
    }
    for (uint32_t i = 0; i < clip->sampler_count && result == PELT_OK; i++) {
        result = check_sampler(cooked, index, i, &duration, error);
    }
    for (uint32_t i = 0; i < clip->channel_count && result == PELT_OK; i++) {
        result = check_channel(cooked, index, i, error);
    }
    if (result == PELT_OK && !(clip->duration == duration)) {
        result = pelti_cooked_refuse(section, index, error, "clip %u: its duration is not its last key's time", index);
    }
    return result;
}

pelt_result pelti_cooked_check_clips(pelt_cooked *cooked, pelt_error *error)
{
    pelt_result result = check_keys(cooked, error);
    for (uint32_t i = 0; i < cooked->clip_count && result == PELT_OK; i++) {
        result = check_clip(cooked, i, error);
    }
    return result;
}

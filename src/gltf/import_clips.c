// SPDX-License-Identifier: MIT
// Animations of a document as clips: the channels that mean something to a pose, and the samplers those use.
#include "import_internal.h"

// A sampler of the animation under import, read when a kept channel first uses it.
typedef struct clip_sampler {
    gltf_cached_accessor *input; // NULL: not read yet
    gltf_cached_accessor *output;
    pelt_interpolation interpolation;
    uint32_t slot; // in the clip's samplers
} clip_sampler;

typedef struct clip_import {
    gltf_import *import;
    uint32_t index;
    const json_t *samplers;
    uint32_t sampler_count;
    clip_sampler *states; // sampler_count
    pelt_sampler *out_samplers;
    uint32_t out_sampler_count;
    pelt_channel *out_channels;
    uint32_t out_channel_count;
    bool pointer_logged;
} clip_import;

static gltf_path sampler_path(const clip_import *clip, uint32_t sampler)
{
    return pelti_gltf_path("/animations/%u/samplers/%u", clip->index, sampler);
}

// ---- Samplers

static pelt_result read_interpolation(const json_t *object, const char *where, pelt_interpolation *out,
                                      pelt_error *error)
{
    const char *text = NULL;
    GLTF_TRY(pelti_gltf_text(object, "interpolation", where, &text, error));
    if (!text || strcmp(text, "LINEAR") == 0) {
        *out = PELT_INTERPOLATION_LINEAR;
    } else if (strcmp(text, "STEP") == 0) {
        *out = PELT_INTERPOLATION_STEP;
    } else if (strcmp(text, "CUBICSPLINE") == 0) {
        *out = PELT_INTERPOLATION_CUBICSPLINE;
    } else {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "interpolation is \"%s\", not LINEAR, STEP or CUBICSPLINE",
                          pelti_gltf_quote(text).text);
    }
    return PELT_OK;
}

static pelt_result read_accessor(const clip_import *clip, const json_t *object, const char *key, const char *where,
                                 gltf_cached_accessor **out, pelt_error *error)
{
    const json_t *value = json_object_get(object, key);
    if (!value) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "%s is missing", key);
    }
    return pelti_gltf_reference(clip->import, value, key, where, out, error);
}

static pelt_result open_sampler(const clip_import *clip, uint32_t index, clip_sampler *state, pelt_error *error)
{
    gltf_path path = sampler_path(clip, index);
    const json_t *object = json_array_get(clip->samplers, index);
    if (!json_is_object(object)) {
        return pelti_fail(error, PELT_ERROR_INVALID, path.text, "not an object");
    }
    GLTF_TRY(read_interpolation(object, path.text, &state->interpolation, error));
    GLTF_TRY(read_accessor(clip, object, "output", path.text, &state->output, error));
    gltf_cached_accessor *input = NULL;
    GLTF_TRY(read_accessor(clip, object, "input", path.text, &input, error));
    const gltf_accessor *times = &input->accessor;
    if (!pelti_gltf_is_vector(times, 1) || times->component != PELT_COMPONENT_F32) {
        return pelti_fail(error, PELT_ERROR_INVALID, path.text, "input is %s, not SCALAR of FLOAT",
                          pelti_gltf_type_text(times).text);
    }
    state->input = input;
    return PELT_OK;
}

static const char *const path_names[] = {"translation", "rotation", "scale", "weights"};

// Whether the output is what a path needs: its type, and its count for so many keys.
static pelt_result check_output(const clip_import *clip, uint32_t index, const clip_sampler *state, pelt_path path,
                                uint32_t value_count, pelt_error *error)
{
    gltf_path where = sampler_path(clip, index);
    const gltf_accessor *output = &state->output->accessor;
    bool is_cubic = state->interpolation == PELT_INTERPOLATION_CUBICSPLINE;
    uint32_t rows = path == PELT_PATH_WEIGHTS ? 1 : path == PELT_PATH_ROTATION ? 4 : 3;
    bool is_float = output->component == PELT_COMPONENT_F32;
    bool is_share = output->normalized && output->component != PELT_COMPONENT_U32;
    if (!pelti_gltf_is_vector(output, rows) || (!is_float && !is_share)) {
        return pelti_fail(error, PELT_ERROR_INVALID, where.text, "output is %s, which %s cannot be",
                          pelti_gltf_type_text(output).text, path_names[path]);
    }
    if (is_share && (path == PELT_PATH_TRANSLATION || path == PELT_PATH_SCALE)) {
        pelti_warn(&clip->import->gltf->options.log, where.text,
                   "animation %u, sampler %u: output is %s, which %s should not be; it is read all the same",
                   clip->index, index, pelti_gltf_type_text(output).text, path_names[path]);
    }
    uint64_t keys = state->input->accessor.count;
    // Two factors of 32 bits; three times that might wrap, but not where it is at most the 32-bit count of the output.
    uint64_t values = path == PELT_PATH_WEIGHTS ? keys * value_count : keys;
    uint64_t wanted = is_cubic ? values * 3 : values;
    if (values <= output->count && output->count == wanted) {
        return PELT_OK;
    }
    char weights[32] = "";
    if (path == PELT_PATH_WEIGHTS) {
        snprintf(weights, sizeof weights, " of %u weights", value_count);
    }
    char need[64] = "";
    if (wanted != keys) {
        snprintf(need, sizeof need, ", which need %llu", (unsigned long long)wanted);
    }
    return pelti_fail(error, PELT_ERROR_INVALID, where.text, "output has %llu values for %llu keys%s%s%s",
                      (unsigned long long)output->count, (unsigned long long)keys, weights,
                      is_cubic ? " of CUBICSPLINE" : "", need);
}

static pelt_result decode(gltf_import *import, const gltf_cached_accessor *cached, const float **array,
                          pelt_error *error)
{
    if (*array) {
        return PELT_OK;
    }
    float *floats = pelt_builder_allocate(import->builder, cached->accessor.count * cached->accessor.component_count,
                                          sizeof *floats);
    if (!floats) {
        return pelt_builder_status(import->builder, error);
    }
    pelti_gltf_read_floats(&cached->accessor, floats);
    *array = floats;
    return PELT_OK;
}

// Keeps the last key of each group of equal times, in arrays of the sampler's own.
static pelt_result drop_equal_keys(const clip_import *clip, uint32_t index, bool is_cubic, pelt_sampler *sampler,
                                   pelt_error *error)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sampler->key_count; i++) {
        kept += i + 1 == sampler->key_count || sampler->times[i] != sampler->times[i + 1];
    }
    if (kept == sampler->key_count) {
        return PELT_OK;
    }
    size_t width = (size_t)sampler->value_count * (is_cubic ? 3 : 1);
    float *times = pelt_builder_allocate(clip->import->builder, kept, sizeof *times);
    float *values = pelt_builder_allocate(clip->import->builder, kept, width * sizeof *values);
    if (!times || !values) {
        return pelt_builder_status(clip->import->builder, error);
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < sampler->key_count; i++) {
        if (i + 1 == sampler->key_count || sampler->times[i] != sampler->times[i + 1]) {
            times[at] = sampler->times[i];
            memcpy(values + at * width, sampler->values + i * width, width * sizeof *values);
            at++;
        }
    }
    pelti_warn(&clip->import->gltf->options.log, sampler_path(clip, index).text,
               "animation %u, sampler %u: input: %u keys dropped, as a later key has the same time", clip->index, index,
               sampler->key_count - kept);
    sampler->key_count = kept;
    sampler->times = times;
    sampler->values = values;
    return PELT_OK;
}

static pelt_result store_sampler(clip_import *clip, uint32_t index, clip_sampler *state, uint32_t value_count,
                                 pelt_error *error)
{
    bool is_cubic = state->interpolation == PELT_INTERPOLATION_CUBICSPLINE;
    GLTF_TRY(decode(clip->import, state->input, &state->input->times, error));
    GLTF_TRY(decode(clip->import, state->output, &state->output->values[is_cubic], error));
    state->slot = clip->out_sampler_count++;
    pelt_sampler *sampler = &clip->out_samplers[state->slot];
    *sampler = (pelt_sampler){.interpolation = state->interpolation,
                              .file_index = index,
                              .key_count = (uint32_t)state->input->accessor.count,
                              .value_count = value_count,
                              .times = state->input->times,
                              .values = state->output->values[is_cubic]};
    if (!clip->import->gltf->options.lenient) {
        return PELT_OK;
    }
    return drop_equal_keys(clip, index, is_cubic, sampler, error);
}

static pelt_result use_sampler(clip_import *clip, uint32_t index, pelt_path path, uint32_t value_count, uint32_t *slot,
                               pelt_error *error)
{
    clip_sampler *state = &clip->states[index];
    bool is_new = !state->input;
    if (is_new) {
        GLTF_TRY(open_sampler(clip, index, state, error));
    }
    GLTF_TRY(check_output(clip, index, state, path, value_count, error));
    if (is_new) {
        GLTF_TRY(store_sampler(clip, index, state, value_count, error));
    }
    *slot = state->slot;
    return PELT_OK;
}

// ---- Channels

// False: the channel does not concern a pose, and is left out (logged where the file's author may have meant it to).
static bool find_path(clip_import *clip, const char *name, bool has_node, const char *where, uint32_t channel,
                      pelt_path *out)
{
    const pelt_log *log = &clip->import->gltf->options.log;
    if (strcmp(name, "pointer") == 0) {
        if (!clip->pointer_logged) {
            pelti_warn(log, where,
                       "animation %u, channel %u: KHR_animation_pointer is not supported; such channels are "
                       "ignored",
                       clip->index, channel);
            clip->pointer_logged = true;
        }
        return false;
    }
    if (!has_node) {
        return false;
    }
    for (size_t i = 0; i < sizeof path_names / sizeof path_names[0]; i++) {
        if (strcmp(name, path_names[i]) == 0) {
            *out = (pelt_path)i;
            return true;
        }
    }
    pelti_warn(log, where, "animation %u, channel %u: unknown path \"%s\"; it is ignored", clip->index, channel,
               pelti_gltf_quote(name).text);
    return false;
}

// Floats of one value; morph weights have one for each target of the node's mesh.
static pelt_result find_value_count(const clip_import *clip, uint32_t node, pelt_path path, const char *where,
                                    uint32_t *out, pelt_error *error)
{
    const pelt_builder_scene *scene = &clip->import->scene;
    *out = path == PELT_PATH_ROTATION ? 4 : 3;
    if (path == PELT_PATH_WEIGHTS) {
        uint32_t mesh = scene->nodes[node].mesh;
        *out = mesh == PELT_NONE ? 0 : scene->meshes[mesh].target_count;
        if (*out == 0) {
            return pelti_fail(error, PELT_ERROR_INVALID, where, "path is weights, but node %u has no morph targets",
                              node);
        }
    }
    return PELT_OK;
}

// A channel as the file gives it; sampler is an index of the file.
typedef struct clip_channel {
    bool is_kept;
    uint32_t node;
    pelt_path path;
    uint32_t sampler;
    uint32_t value_count;
} clip_channel;

static pelt_result read_channel(clip_import *clip, const json_t *object, uint32_t index, const char *where,
                                clip_channel *out, pelt_error *error)
{
    if (!json_is_object(object)) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "not an object");
    }
    const json_t *target = json_object_get(object, "target");
    if (!json_is_object(target)) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "target is missing or not an object");
    }
    const char *name = NULL;
    uint32_t node_count = clip->import->scene.node_count;
    GLTF_TRY(pelti_gltf_text(target, "path", where, &name, error));
    GLTF_TRY(pelti_gltf_index(target, "node", where, false, node_count, "node", &out->node, error));
    if (!name) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "target has no path");
    }
    if (!find_path(clip, name, out->node != PELT_NONE, where, index, &out->path)) {
        return PELT_OK;
    }
    out->is_kept = true;
    GLTF_TRY(pelti_gltf_index(object, "sampler", where, true, clip->sampler_count, "sampler", &out->sampler, error));
    return find_value_count(clip, out->node, out->path, where, &out->value_count, error);
}

static pelt_result add_channel(clip_import *clip, const json_t *object, uint32_t index, pelt_error *error)
{
    gltf_path path = pelti_gltf_path("/animations/%u/channels/%u", clip->index, index);
    clip_channel channel = {0};
    pelt_result result = read_channel(clip, object, index, path.text, &channel, error);
    if (result != PELT_OK) {
        pelti_gltf_prefix(error, "animation %u, channel %u", clip->index, index);
        return result;
    }
    if (!channel.is_kept) {
        return PELT_OK;
    }
    uint32_t slot = 0;
    result = use_sampler(clip, channel.sampler, channel.path, channel.value_count, &slot, error);
    if (result != PELT_OK) {
        pelti_gltf_prefix(error, "animation %u, sampler %u", clip->index, channel.sampler);
        return result;
    }
    clip->out_channels[clip->out_channel_count++] =
        (pelt_channel){.node = channel.node, .path = channel.path, .sampler = slot, .file_index = index};
    return PELT_OK;
}

static pelt_result read_channels(clip_import *clip, const json_t *channels, pelt_error *error)
{
    uint32_t channel_count = (uint32_t)json_array_size(channels);
    uint32_t sampler_bound = channel_count < clip->sampler_count ? channel_count : clip->sampler_count;
    pelt_builder *builder = clip->import->builder;
    clip->out_samplers = pelt_builder_allocate(builder, sampler_bound, sizeof *clip->out_samplers);
    clip->out_channels = pelt_builder_allocate(builder, channel_count, sizeof *clip->out_channels);
    if (!clip->out_samplers || !clip->out_channels) {
        return pelt_builder_status(builder, error);
    }
    for (uint32_t i = 0; i < channel_count; i++) {
        GLTF_TRY(add_channel(clip, json_array_get(channels, i), i, error));
    }
    return PELT_OK;
}

static pelt_result read_clip(gltf_import *import, const json_t *object, uint32_t index, pelt_clip *out,
                             pelt_error *error)
{
    gltf_path path = pelti_gltf_path("/animations/%u", index);
    GLTF_TRY(pelti_gltf_name(import, object, path.text, &out->name, error));
    static const char *const keys[] = {"channels", "samplers"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const json_t *array = json_object_get(object, keys[i]);
        if (array && (!json_is_array(array) || json_array_size(array) >= PELT_NONE)) {
            return pelti_fail(error, PELT_ERROR_INVALID, path.text, "%s is not an array", keys[i]);
        }
    }
    clip_import clip = {.import = import, .index = index, .samplers = json_object_get(object, "samplers")};
    clip.sampler_count = (uint32_t)json_array_size(clip.samplers);
    void *states = NULL;
    GLTF_TRY(pelti_gltf_scratch_zeroed(import, clip.sampler_count, sizeof *clip.states, &states, error));
    clip.states = states;
    pelt_result result = read_channels(&clip, json_object_get(object, "channels"), error);
    pelti_gltf_scratch_release(import, states, clip.sampler_count, sizeof *clip.states);
    out->sampler_count = clip.out_sampler_count;
    out->samplers = clip.out_samplers;
    out->channel_count = clip.out_channel_count;
    out->channels = clip.out_channels;
    return result;
}

pelt_result pelti_gltf_import_clips(gltf_import *import, pelt_error *error)
{
    json_t *array = NULL;
    uint32_t count = 0;
    GLTF_TRY(pelti_gltf_array(import->gltf, "animations", &array, &count, error));
    pelt_clip *clips = pelt_builder_allocate(import->builder, count, sizeof *clips);
    if (!clips) {
        return pelt_builder_status(import->builder, error);
    }
    for (uint32_t i = 0; i < count; i++) {
        pelt_result result = read_clip(import, json_array_get(array, i), i, &clips[i], error);
        if (result != PELT_OK) {
            pelti_gltf_prefix(error, "animation %u", i);
            return result;
        }
    }
    import->scene.clips = clips;
    import->scene.clip_count = count;
    return PELT_OK;
}

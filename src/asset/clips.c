// SPDX-License-Identifier: MIT
// Checks clips: every channel has a right target, no target is animated twice; sorts channels and keeps used samplers.
#include "asset/asset_internal.h"

typedef struct clip_check {
    asset_finish *finish;
    uint32_t index;
    pelt_clip *clip;
    pelt_channel *channels;  // node indices, in the file's order, then sorted
    pelt_channel *merged;    // scratch, channel_count
    uint32_t *sampler_index; // scratch, sampler_count: index among the kept ones, or PELT_NONE
    pelt_path *sampler_path; // scratch, sampler_count: of its first channel
} clip_check;

static const char *path_name(pelt_path path)
{
    switch (path) {
    case PELT_PATH_TRANSLATION:
        return "translation";
    case PELT_PATH_ROTATION:
        return "rotation";
    case PELT_PATH_SCALE:
        return "scale";
    case PELT_PATH_WEIGHTS:
        return "weights";
    }
    return NULL;
}

PELTI_PRINTF(5, 6)
static pelt_result refuse(const clip_check *check, const pelt_channel *channel, const char *key, pelt_error *error,
                          const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    pelti_format(text, sizeof text, format, arguments);
    va_end(arguments);
    return pelti_fail(error, PELT_ERROR_INVALID,
                      pelti_asset_text("/animations/%u/channels/%u/%s", check->index, channel->file_index, key).text,
                      "animation %u, channel %u: %s", check->index, channel->file_index, text);
}

// channel is the caller's, with a file index for its node.
static pelt_result check_channel(const clip_check *check, const pelt_channel *channel, pelt_error *error)
{
    const asset_finish *finish = check->finish;
    const char *name = path_name(channel->path);
    if (!name) {
        return refuse(check, channel, "target/path", error, "path %d is unknown", (int)channel->path);
    }
    if (channel->node >= finish->scene->node_count) {
        return refuse(check, channel, "target/node", error, "node %u does not exist, the file has %u nodes",
                      channel->node, finish->scene->node_count);
    }
    if (channel->sampler >= check->clip->sampler_count) {
        return refuse(check, channel, "sampler", error, "sampler %u does not exist, the animation has %u",
                      channel->sampler, check->clip->sampler_count);
    }
    const pelt_node *node = &finish->nodes[finish->node_from_file[channel->node]];
    if (channel->path != PELT_PATH_WEIGHTS && node->has_matrix) {
        return refuse(check, channel, "target", error, "%s of node %u is animated, but the node has a matrix", name,
                      channel->node);
    }
    if (channel->path == PELT_PATH_WEIGHTS && node->weight_count == 0) {
        return refuse(check, channel, "target", error, "weights of node %u are animated, but it has no morph targets",
                      channel->node);
    }
    const pelt_sampler *sampler = &check->clip->samplers[channel->sampler];
    uint32_t value_count = channel->path == PELT_PATH_ROTATION  ? 4
                           : channel->path == PELT_PATH_WEIGHTS ? node->weight_count
                                                                : 3;
    if (sampler->value_count != value_count) {
        return refuse(check, channel, "sampler", error,
                      "%s of node %u takes %u numbers a key, but the output of sampler %u has %u", name, channel->node,
                      value_count, sampler->file_index, sampler->value_count);
    }
    pelt_path first = check->sampler_path[channel->sampler];
    if (check->sampler_index[channel->sampler] != PELT_NONE &&
        (first == PELT_PATH_ROTATION) != (channel->path == PELT_PATH_ROTATION)) {
        return refuse(check, channel, "sampler", error, "sampler %u serves %s and %s at once", sampler->file_index,
                      path_name(first), name);
    }
    return PELT_OK;
}

// Fills channels with node indices and marks the samplers they use.
static pelt_result map_channels(clip_check *check, pelt_error *error)
{
    for (uint32_t c = 0; c < check->clip->channel_count; c++) {
        const pelt_channel *from = &check->clip->channels[c];
        pelt_result result = check_channel(check, from, error);
        if (result != PELT_OK) {
            return result;
        }
        check->channels[c] = *from;
        check->channels[c].node = check->finish->node_from_file[from->node];
        if (check->sampler_index[from->sampler] == PELT_NONE) {
            check->sampler_index[from->sampler] = 0; // its place comes when all are known
            check->sampler_path[from->sampler] = from->path;
        }
    }
    return PELT_OK;
}

// Drops samplers without a channel and checks the others, each once.
static pelt_result keep_samplers(clip_check *check, pelt_error *error)
{
    pelt_clip *clip = check->clip;
    pelt_sampler *kept = pelt_builder_allocate(check->finish->builder, clip->sampler_count, sizeof *kept);
    if (!kept) {
        return pelt_builder_status(check->finish->builder, error);
    }
    uint32_t count = 0;
    clip->duration = 0.0f;
    for (uint32_t s = 0; s < clip->sampler_count; s++) {
        if (check->sampler_index[s] == PELT_NONE) {
            continue;
        }
        const pelt_sampler *sampler = &clip->samplers[s];
        pelt_result result = pelti_finish_sampler(check->finish, check->index, sampler,
                                                  check->sampler_path[s] == PELT_PATH_ROTATION, error);
        if (result != PELT_OK) {
            return result;
        }
        float last = sampler->times[sampler->key_count - 1];
        clip->duration = last > clip->duration ? last : clip->duration;
        check->sampler_index[s] = count;
        kept[count++] = *sampler;
    }
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        check->channels[c].sampler = check->sampler_index[check->channels[c].sampler];
    }
    clip->samplers = kept;
    clip->sampler_count = count;
    return PELT_OK;
}

static bool channel_after(const pelt_channel *a, const pelt_channel *b)
{
    return a->node != b->node ? a->node > b->node : a->path > b->path;
}

// Stable merge sort, bottom up: the C library's qsort is neither stable nor free of its own allocations.
static void sort_channels(clip_check *check)
{
    uint64_t count = check->clip->channel_count;
    pelt_channel *from = check->channels;
    pelt_channel *to = check->merged;
    for (uint64_t run = 1; run < count; run *= 2) {
        for (uint64_t start = 0; start < count; start += 2 * run) {
            uint64_t middle = start + run < count ? start + run : count;
            uint64_t end = start + 2 * run < count ? start + 2 * run : count;
            uint64_t a = start;
            uint64_t b = middle;
            for (uint64_t i = start; i < end; i++) {
                bool second = a == middle || (b < end && channel_after(&from[a], &from[b]));
                to[i] = second ? from[b++] : from[a++];
            }
        }
        pelt_channel *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != check->channels && count > 0) {
        memcpy(check->channels, from, sizeof *from * count);
    }
}

static pelt_result check_duplicates(const clip_check *check, pelt_error *error)
{
    const pelt_channel *channels = check->channels;
    for (uint32_t c = 1; c < check->clip->channel_count; c++) {
        if (!channel_after(&channels[c], &channels[c - 1])) {
            return refuse(check, &channels[c], "target", error, "targets the same %s of node %u as channel %u",
                          path_name(channels[c].path), check->finish->nodes[channels[c].node].file_index,
                          channels[c - 1].file_index);
        }
    }
    return PELT_OK;
}

static pelt_result check_clip(clip_check *check, pelt_error *error)
{
    pelt_clip *clip = check->clip;
    check->channels = pelt_builder_allocate(check->finish->builder, clip->channel_count, sizeof *check->channels);
    if (!check->channels) {
        return pelt_builder_status(check->finish->builder, error);
    }
    for (uint32_t s = 0; s < clip->sampler_count; s++) {
        check->sampler_index[s] = PELT_NONE;
    }
    pelt_result result = map_channels(check, error);
    result = result == PELT_OK ? keep_samplers(check, error) : result;
    if (result == PELT_OK) {
        sort_channels(check);
        clip->channels = check->channels;
        result = check_duplicates(check, error);
    }
    return result;
}

// One scratch block: channels, then sampler indices, then sampler paths.
static pelt_result check_with_scratch(asset_finish *finish, uint32_t index, pelt_error *error)
{
    pelt_clip *clip = &finish->scene->clips[index];
    const pelt_allocator *allocator = &finish->builder->allocator;
    clip->name = clip->name ? clip->name : "";
    if ((clip->channel_count > 0 && !clip->channels) || (clip->sampler_count > 0 && !clip->samplers)) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, pelti_asset_text("/animations/%u", index).text,
                          "animation %u: an array is missing", index);
    }
    uint64_t size =
        clip->channel_count * sizeof(pelt_channel) + clip->sampler_count * (sizeof(uint32_t) + sizeof(pelt_path)) + 1;
    unsigned char *scratch = pelti_allocate(allocator, 1, (size_t)size);
    if (!scratch) {
        return pelti_fail_memory(error);
    }
    clip_check check = {.finish = finish, .index = index, .clip = clip};
    check.merged = (void *)scratch;
    check.sampler_index = (void *)(scratch + clip->channel_count * sizeof(pelt_channel));
    check.sampler_path = (void *)(check.sampler_index + clip->sampler_count);
    pelt_result result = check_clip(&check, error);
    pelti_release(allocator, scratch, 1, (size_t)size);
    return result;
}

pelt_result pelti_finish_clips(asset_finish *finish, pelt_error *error)
{
    for (uint32_t i = 0; i < finish->scene->clip_count; i++) {
        pelt_result result = check_with_scratch(finish, i, error);
        if (result != PELT_OK) {
            return result;
        }
    }
    return PELT_OK;
}

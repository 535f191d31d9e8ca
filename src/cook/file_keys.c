// SPDX-License-Identifier: MIT
// Sections of clips. Samplers share key arrays (an exporter writes the times of a clip once), so arrays are listed once
// and named by index.
#include "cook/writer.h"

// Which array of the asset became which entry of KEYA. Pointers are compared only: their order leaves no trace.
typedef struct key_slot {
    const float *values; // NULL = free
    uint64_t count;
    uint32_t flags;
    uint32_t index;
} key_slot;

typedef struct key_table {
    cook_writer *writer;
    key_slot *slots;
    uint64_t slot_mask;
    file_key_array *arrays;
    const float **sources; // of the arrays
    uint32_t array_count;
    uint64_t float_count;
} key_table;

static pelt_result fail_memory(pelt_error *error)
{
    return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for the cooked clips");
}

static uint32_t find_or_add(key_table *table, const float *values, uint64_t count, uint32_t flags)
{
    uint64_t place = (uint64_t)(uintptr_t)values;
    place = (place ^ (place >> 29) ^ count ^ flags) * UINT64_C(0x9E3779B97F4A7C15);
    key_slot *slot = &table->slots[(place >> 20) & table->slot_mask];
    while (slot->values && (slot->values != values || slot->count != count || slot->flags != flags)) {
        slot = slot == &table->slots[table->slot_mask] ? table->slots : slot + 1;
    }
    if (!slot->values) {
        *slot = (key_slot){values, count, flags, table->array_count};
        table->sources[table->array_count] = values;
        table->arrays[table->array_count++] = (file_key_array){table->float_count, count, flags, 0};
        table->float_count += count;
    }
    return slot->index;
}

static pelt_result allocate_table(key_table *table, pelt_error *error)
{
    const pelt_asset_data *asset = table->writer->asset;
    uint64_t bound = 0;
    for (uint32_t i = 0; i < asset->clip_count; i++) {
        bound += 2 * (uint64_t)asset->clips[i].sampler_count;
    }
    if (bound >= UINT32_MAX) {
        return pelti_fail(error, PELT_ERROR_LIMIT, "", "the clips have over 2 billion samplers");
    }
    uint64_t capacity = 2;
    while (capacity < 2 * bound) {
        capacity *= 2;
    }
    cook_arena *arena = table->writer->arena;
    table->slot_mask = capacity - 1;
    table->slots = pelti_cook_allocate(arena, capacity, sizeof *table->slots);
    table->arrays = pelti_cook_allocate(arena, bound, sizeof *table->arrays);
    table->sources = pelti_cook_allocate(arena, bound, sizeof *table->sources);
    return table->slots && table->arrays && table->sources ? PELT_OK : fail_memory(error);
}

static pelt_result add_clip(key_table *table, uint32_t index, file_clip *record, pelt_error *error)
{
    cook_writer *writer = table->writer;
    const pelt_clip *clip = &writer->asset->clips[index];
    file_sampler *samplers = pelti_cook_allocate(writer->arena, clip->sampler_count, sizeof *samplers);
    file_channel *channels = pelti_cook_allocate(writer->arena, clip->channel_count, sizeof *channels);
    if (!samplers || !channels) {
        return fail_memory(error);
    }
    for (uint32_t i = 0; i < clip->sampler_count; i++) {
        const pelt_sampler *sampler = &clip->samplers[i];
        uint64_t per_key =
            (uint64_t)sampler->value_count * (sampler->interpolation == PELT_INTERPOLATION_CUBICSPLINE ? 3 : 1);
        samplers[i] = (file_sampler){
            .interpolation = (uint32_t)sampler->interpolation,
            .file_index = sampler->file_index,
            .key_count = sampler->key_count,
            .value_count = sampler->value_count,
            .times = find_or_add(table, sampler->times, sampler->key_count, FILE_KEYS_ARE_TIMES),
            .values = find_or_add(table, sampler->values, sampler->key_count * per_key, 0),
        };
    }
    for (uint32_t i = 0; i < clip->channel_count; i++) {
        const pelt_channel *channel = &clip->channels[i];
        channels[i] = (file_channel){channel->node, (uint32_t)channel->path, channel->sampler, channel->file_index};
    }
    record->duration = clip->duration;
    record->sampler_count = clip->sampler_count;
    record->channel_count = clip->channel_count;
    if (clip->sampler_count > 0) {
        pelti_cook_add_section(writer, FILE_SAMP, index, 0, samplers, clip->sampler_count, 0);
    }
    if (clip->channel_count > 0) {
        pelti_cook_add_section(writer, FILE_CHAN, index, 0, channels, clip->channel_count, 0);
    }
    return pelti_cook_add_string(writer, clip->name, &record->name, error);
}

pelt_result pelti_cook_add_clips(cook_writer *writer, pelt_error *error)
{
    uint32_t clip_count = writer->asset->clip_count;
    key_table table = {.writer = writer};
    pelt_result result = allocate_table(&table, error);
    if (result != PELT_OK) {
        return result;
    }
    file_clip *records = pelti_cook_allocate(writer->arena, clip_count, sizeof *records);
    if (!records) {
        return fail_memory(error);
    }
    pelti_cook_add_section(writer, FILE_CLIP, 0, 0, records, clip_count, 0);
    for (uint32_t i = 0; i < clip_count && result == PELT_OK; i++) {
        result = add_clip(&table, i, &records[i], error);
    }
    float *floats = pelti_cook_allocate(writer->arena, table.float_count, sizeof *floats);
    if (result == PELT_OK && !floats) {
        result = fail_memory(error);
    }
    if (result == PELT_OK) {
        for (uint32_t i = 0; i < table.array_count; i++) {
            memcpy(floats + table.arrays[i].first, table.sources[i], (size_t)table.arrays[i].count * sizeof *floats);
        }
        pelti_cook_add_section(writer, FILE_KEYA, 0, 0, table.arrays, table.array_count, 0);
        pelti_cook_add_section(writer, FILE_KEYS, 0, 0, floats, table.float_count, 0);
    }
    return result;
}

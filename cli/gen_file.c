// SPDX-License-Identifier: MIT
// Collects JSON and bytes of a generated model and writes them as one .glb.
#include "gen.h"

#include <stdlib.h>
#include <string.h>

gen_file gen_file_begin(void)
{
    gen_file file = {.root = json_object()};
    json_t *asset = json_pack("{s:s, s:s}", "version", "2.0", "generator", "pelt gen");
    file.failed = !file.root || json_object_set_new(file.root, "asset", asset) != 0;
    return file;
}

uint32_t gen_append(gen_file *file, const char *key, json_t *object)
{
    json_t *array = json_object_get(file->root, key);
    if (!array) {
        array = json_array();
        if (json_object_set_new(file->root, key, array) != 0) {
            file->failed = true;
            json_decref(object);
            return 0;
        }
    }
    if (json_array_append_new(array, object) != 0) {
        file->failed = true;
        return 0;
    }
    return (uint32_t)json_array_size(array) - 1;
}

json_t *gen_numbers(const float *values, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < count; i++) {
        if (json_array_append_new(array, json_real((double)values[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

json_t *gen_node(const char *name, const pelt_trs *trs)
{
    const float t[3] = {trs->translation.x, trs->translation.y, trs->translation.z};
    const float r[4] = {trs->rotation.x, trs->rotation.y, trs->rotation.z, trs->rotation.w};
    json_t *node = json_pack("{s:s}", "name", name);
    if (t[0] != 0 || t[1] != 0 || t[2] != 0) {
        json_object_set_new(node, "translation", gen_numbers(t, 3));
    }
    if (r[0] != 0 || r[1] != 0 || r[2] != 0) {
        json_object_set_new(node, "rotation", gen_numbers(r, 4));
    }
    return node;
}

// Appends bytes at the next multiple of four and returns their offset.
static size_t append_bytes(gen_file *file, const void *data, size_t size)
{
    size_t start = (file->size + 3) & ~(size_t)3;
    if (start + size > file->capacity) {
        size_t capacity = (start + size) * 2;
        uint8_t *bytes = realloc(file->bytes, capacity);
        if (!bytes) {
            file->failed = true;
            return 0;
        }
        file->bytes = bytes;
        file->capacity = capacity;
    }
    memset(file->bytes + file->size, 0, start - file->size);
    memcpy(file->bytes + start, data, size);
    file->size = start + size;
    return start;
}

static void add_bounds(json_t *accessor, const float *values, uint32_t count, uint32_t width)
{
    float low[16];
    float high[16];
    for (uint32_t c = 0; c < width; c++) {
        low[c] = high[c] = values[c];
        for (uint32_t i = 1; i < count; i++) {
            float value = values[(size_t)i * width + c];
            low[c] = value < low[c] ? value : low[c];
            high[c] = value > high[c] ? value : high[c];
        }
    }
    json_object_set_new(accessor, "min", gen_numbers(low, width));
    json_object_set_new(accessor, "max", gen_numbers(high, width));
}

uint32_t gen_accessor(gen_file *file, const void *data, uint32_t count, uint32_t width, pelt_component component,
                      unsigned flags)
{
    static const char *const types[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
    if (file->failed || !data) {
        file->failed = true;
        return 0;
    }
    size_t size = (size_t)count * width * pelt_component_size(component);
    size_t offset = append_bytes(file, data, size);
    json_t *view =
        json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)offset, "byteLength", (json_int_t)size);
    if (flags & (GEN_VERTEX | GEN_INDEX)) {
        json_object_set_new(view, "target", json_integer(flags & GEN_INDEX ? 34963 : 34962));
    }
    json_t *accessor = json_pack("{s:I, s:i, s:I, s:s}", "bufferView",
                                 (json_int_t)gen_append(file, "bufferViews", view), "componentType", (int)component,
                                 "count", (json_int_t)count, "type", width == 16 ? "MAT4" : types[width]);
    if (flags & GEN_NORMALIZED) {
        json_object_set_new(accessor, "normalized", json_true());
    }
    if (flags & GEN_BOUNDS) {
        add_bounds(accessor, data, count, width);
    }
    return gen_append(file, "accessors", accessor);
}

gen_clip gen_clip_begin(gen_file *file)
{
    return (gen_clip){file, json_array(), json_array()};
}

uint32_t gen_sampler(gen_clip *clip, uint32_t times, const float *values, uint32_t value_count, uint32_t width,
                     const char *interpolation)
{
    uint32_t output = gen_accessor(clip->file, values, value_count, width, PELT_COMPONENT_F32, 0);
    json_t *sampler = json_pack("{s:I, s:I, s:s}", "input", (json_int_t)times, "output", (json_int_t)output,
                                "interpolation", interpolation);
    clip->file->failed |= json_array_append_new(clip->samplers, sampler) != 0;
    return (uint32_t)json_array_size(clip->samplers) - 1;
}

void gen_channel(gen_clip *clip, uint32_t sampler, uint32_t node, const char *path)
{
    json_t *channel = json_pack("{s:I, s:{s:I, s:s}}", "sampler", (json_int_t)sampler, "target", "node",
                                (json_int_t)node, "path", path);
    clip->file->failed |= json_array_append_new(clip->channels, channel) != 0;
}

void gen_clip_end(gen_clip *clip, const char *name)
{
    gen_append(clip->file, "animations",
               json_pack("{s:s, s:o, s:o}", "name", name, "samplers", clip->samplers, "channels", clip->channels));
}

static void put_u32(uint8_t *out, uint64_t value)
{
    for (int i = 0; i < 4; i++) {
        out[i] = (uint8_t)(value >> (8 * i));
    }
}

static void write_glb(cli_output *output, gen_file *file, const char *text)
{
    size_t text_size = strlen(text);
    size_t json_size = (text_size + 3) & ~(size_t)3;
    size_t bin_size = (file->size + 3) & ~(size_t)3;
    uint8_t header[20];
    uint8_t chunk[8];
    memcpy(header, "glTF", 4);
    put_u32(header + 4, 2);
    put_u32(header + 8, 28 + json_size + bin_size);
    put_u32(header + 12, json_size);
    memcpy(header + 16, "JSON", 4);
    put_u32(chunk, bin_size);
    memcpy(chunk + 4, "BIN\0", 4);
    cli_output_write(output, header, sizeof header);
    cli_output_write(output, text, text_size);
    cli_output_write(output, "   ", json_size - text_size);
    cli_output_write(output, chunk, sizeof chunk);
    cli_output_write(output, file->bytes, file->size);
    cli_output_write(output, "\0\0\0", bin_size - file->size);
}

int gen_file_end(cli_context *context, gen_file *file)
{
    char *text = NULL;
    int code = CLI_LIMIT;
    json_t *buffer = json_pack("{s:I}", "byteLength", (json_int_t)((file->size + 3) & ~(size_t)3));
    gen_append(file, "buffers", buffer);
    if (!file->failed) {
        text = json_dumps(file->root, JSON_COMPACT);
    }
    if (!text) {
        code = cli_fail(context, CLI_LIMIT, context->options.output, NULL, NULL, "out of memory");
    } else if (28.0 + (double)strlen(text) + (double)file->size > 4294967295.0) {
        code = cli_fail(context, CLI_LIMIT, context->options.output, NULL, "ask for fewer vertices or instances",
                        "a .glb cannot be larger than 4 GiB");
    } else {
        cli_output output;
        code = cli_output_open(context, context->options.output, &output);
        if (code == CLI_DONE) {
            write_glb(&output, file, text);
            code = cli_output_commit(&output);
        }
    }
    free(text);
    free(file->bytes);
    json_decref(file->root);
    *file = (gen_file){0};
    return code;
}

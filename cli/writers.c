// SPDX-License-Identifier: MIT
// What the export formats share: buffered little-endian output, attributes, and the notice of what is left out.
#include "writers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void write_flush(write_buffer *b)
{
    cli_output_write(b->output, b->data, b->size); // a failure is kept in the output and told at its commit
    b->size = 0;
    cli_progress_step(&b->progress, b->done);
}

void write_bytes(write_buffer *b, const void *data, size_t size)
{
    if (size > sizeof b->data - b->size) {
        write_flush(b);
        if (size > sizeof b->data) {
            cli_output_write(b->output, data, size);
            return;
        }
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

void write_text(write_buffer *b, const char *format, ...)
{
    if (sizeof b->data - b->size < 1024) {
        write_flush(b);
    }
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf((char *)b->data + b->size, 1024, format, arguments);
    va_end(arguments);
    if (length > 0) {
        b->size += length < 1024 ? (size_t)length : 1023;
    }
}

void write_decimal(write_buffer *b, uint64_t value)
{
    uint8_t digits[20];
    size_t first = sizeof digits;
    do {
        digits[--first] = (uint8_t)('0' + value % 10);
        value /= 10;
    } while (value);
    write_bytes(b, digits + first, sizeof digits - first);
}

void write_u8(write_buffer *b, uint32_t value)
{
    uint8_t byte = (uint8_t)value;
    write_bytes(b, &byte, 1);
}

void write_u16(write_buffer *b, uint32_t value)
{
    uint8_t bytes[2] = {(uint8_t)value, (uint8_t)(value >> 8)};
    write_bytes(b, bytes, sizeof bytes);
}

void write_u32(write_buffer *b, uint32_t value)
{
    uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
    write_bytes(b, bytes, sizeof bytes);
}

void write_f32(write_buffer *b, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    write_u32(b, bits);
}

const pelt_attribute *export_attribute(const pelt_primitive *source, const char *name, uint32_t component_count)
{
    for (uint32_t i = 0; i < source->attribute_count; i++) {
        if (strcmp(source->attributes[i].name, name) == 0 && source->attributes[i].component_count >= component_count) {
            return &source->attributes[i];
        }
    }
    return NULL;
}

void export_texcoord(const pelt_attribute *attribute, uint32_t vertex, float out[2])
{
    float value[4] = {0};
    pelt_attribute_read(attribute, vertex, value);
    out[0] = isfinite(value[0]) ? value[0] : 0.0f;
    out[1] = isfinite(value[1]) ? 1.0f - value[1] : 0.0f;
}

static uint32_t attribute_contents(const pelt_attribute *attribute)
{
    if (strcmp(attribute->name, "TEXCOORD_0") == 0) {
        return EXPORT_TEXCOORDS;
    }
    if (strcmp(attribute->name, "COLOR_0") == 0) {
        return EXPORT_COLORS;
    }
    return strncmp(attribute->name, "COLOR_", 6) == 0 ? EXPORT_MORE_COLORS : EXPORT_MORE_TEXCOORDS;
}

uint32_t export_contents(const pose_export *e)
{
    uint32_t contents = 0;
    for (uint32_t k = 0; k < e->scene->primitive_count; k++) {
        const scene_primitive *p = &e->scene->primitives[k];
        pelt_topology topology = topology_simple(p->source->topology);
        contents |= p->normals ? EXPORT_NORMALS : 0u;
        contents |= p->tangents ? EXPORT_TANGENTS : 0u;
        contents |= p->source->material != PELT_NONE ? EXPORT_MATERIALS : 0u;
        contents |= topology == PELT_TOPOLOGY_LINES ? EXPORT_LINES : 0u;
        contents |= topology == PELT_TOPOLOGY_POINTS ? EXPORT_POINTS : 0u;
        for (uint32_t i = 0; i < p->source->attribute_count; i++) {
            contents |= attribute_contents(&p->source->attributes[i]);
        }
    }
    return contents;
}

void export_warn_left_out(const pose_export *e, const char *format, uint32_t held)
{
    static const char *const names[] = {
        "vertex normals", "tangents",        "texture coordinates", "further texture coordinates and custom attributes",
        "colours",        "further colours", "materials",           "lines",
        "points"};
    uint32_t lost = export_contents(e) & ~held;
    char list[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (lost & (1u << i)) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", names[i]);
        }
    }
    if (lost) {
        cli_warn(e->context, e->path, NULL, "left out, as %s holds none: %s", format, list);
    }
}

int export_out_of_memory(const pose_export *e)
{
    return cli_fail(e->context, CLI_LIMIT, e->path, NULL, NULL, "out of memory while writing");
}

static uint64_t count_work(const scene *s)
{
    uint64_t work = 0;
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        work += s->primitives[k].source->vertex_count + topology_element_count(s->primitives[k].source);
    }
    return work;
}

int export_file(const pose_export *e, export_body body, const void *user)
{
    cli_output output = {0};
    int code = cli_output_open(e->context, e->path, &output);
    if (code != CLI_DONE) {
        return code;
    }
    write_buffer *b = malloc(sizeof *b);
    if (!b) {
        code = export_out_of_memory(e);
    } else {
        b->output = &output;
        b->size = 0;
        b->done = 0;
        b->progress = cli_progress_begin(e->context, "writing", count_work(e->scene));
        code = body(e, b, user);
        write_flush(b);
        cli_progress_end(&b->progress);
    }
    if (code == CLI_DONE) {
        code = cli_output_commit(&output);
    }
    cli_output_abort(&output);
    free(b);
    return code;
}

// SPDX-License-Identifier: MIT
// The binary side of a posed file: pieces are planned with their sizes first, so that the JSON can be written before
// any byte of them exists, and are then made and written one after the other.
#include "write_internal.h"

#include <math.h>

pelt_result pelti_write_add_piece(gltf_writer *writer, const write_piece *piece, uint32_t target, uint32_t stride,
                                  uint32_t *out_view, pelt_error *error)
{
    gltf_bytes owned = piece->owned;
    if (writer->piece_count == writer->piece_capacity) {
        uint64_t capacity = writer->piece_capacity ? writer->piece_capacity * 2 : 64;
        void *grown =
            pelti_resize(writer->allocator, writer->pieces, (size_t)(writer->piece_capacity * sizeof *writer->pieces),
                         (size_t)(capacity * sizeof *writer->pieces));
        if (!grown) {
            pelti_gltf_release_bytes(writer->gltf, &owned);
            return pelti_write_out_of_memory(error);
        }
        writer->pieces = grown;
        writer->piece_capacity = capacity;
    }
    // 2^53 is where JSON numbers stop being exact.
    if (writer->piece_count >= PELT_NONE - 1 || piece->size > (UINT64_C(1) << 53) - 4 - writer->buffer_size) {
        pelti_gltf_release_bytes(writer->gltf, &owned);
        return pelti_fail(error, PELT_ERROR_LIMIT, "", "the posed file's buffer is too large for glTF");
    }
    writer->pieces[writer->piece_count] = *piece;
    *out_view = (uint32_t)writer->piece_count++;

    json_t *view = json_object();
    pelti_write_put(writer, view, "buffer", json_integer(0));
    if (writer->buffer_size > 0) {
        pelti_write_put(writer, view, "byteOffset", json_integer((json_int_t)writer->buffer_size));
    }
    pelti_write_put(writer, view, "byteLength", json_integer((json_int_t)piece->size));
    if (stride != 0) {
        pelti_write_put(writer, view, "byteStride", json_integer(stride));
    }
    if (target != WRITE_TARGET_NONE) {
        pelti_write_put(writer, view, "target", json_integer(target));
    }
    pelti_write_append(writer, writer->views, view);
    writer->buffer_size += (piece->size + 3) & ~UINT64_C(3);
    return PELT_OK;
}

void pelti_write_release_pieces(gltf_writer *writer)
{
    for (uint64_t i = 0; i < writer->piece_count; i++) {
        pelti_gltf_release_bytes(writer->gltf, &writer->pieces[i].owned);
    }
    pelti_release(writer->allocator, writer->pieces, writer->piece_capacity, sizeof *writer->pieces);
    writer->pieces = NULL;
    writer->piece_count = 0;
    writer->piece_capacity = 0;
}

// ---- elements

static uint32_t padded(uint32_t size)
{
    return (size + 3) & ~UINT32_C(3);
}

uint32_t pelti_write_element_size(const gltf_accessor *accessor, write_conversion conversion)
{
    uint32_t size = conversion == WRITE_RAW ? accessor->component_size : (uint32_t)sizeof(float);
    return accessor->columns * padded(accessor->rows * size);
}

pelt_result pelti_write_open_elements(gltf_writer *writer, const gltf_accessor *accessor, write_elements *out,
                                      pelt_error *error)
{
    *out = (write_elements){0};
    if (accessor->data && accessor->sparse_count == 0) {
        out->data = accessor->data;
        out->stride = accessor->stride;
        out->column_stride = accessor->column_stride;
        return PELT_OK;
    }
    uint32_t element_size = accessor->component_count * accessor->component_size;
    out->copy = pelti_allocate(writer->allocator, accessor->count, element_size);
    if (!out->copy) {
        return pelti_write_out_of_memory(error);
    }
    out->copy_size = accessor->count * element_size;
    pelti_gltf_read_raw(accessor, out->copy);
    out->data = out->copy;
    out->stride = element_size;
    out->column_stride = accessor->rows * accessor->component_size;
    return PELT_OK;
}

void pelti_write_close_elements(gltf_writer *writer, write_elements *elements)
{
    pelti_release(writer->allocator, elements->copy, elements->copy_size, 1);
    *elements = (write_elements){0};
}

// ---- streaming

enum {
    STREAM_CAPACITY = 65536
};

typedef struct stream {
    const pelt_gltf_sink *sink;
    uint8_t *buffer; // STREAM_CAPACITY
    size_t used;
    bool failed;
} stream;

static void flush(stream *out)
{
    if (!out->failed && out->used > 0) {
        out->failed = !out->sink->write(out->sink->user, out->buffer, out->used);
    }
    out->used = 0;
}

// Room for size bytes, at most STREAM_CAPACITY, which count as written.
static uint8_t *reserve(stream *out, size_t size)
{
    if (STREAM_CAPACITY - out->used < size) {
        flush(out);
    }
    uint8_t *room = out->buffer + out->used;
    out->used += size;
    return room;
}

static void stream_bytes(stream *out, const void *data, uint64_t size)
{
    if (size <= STREAM_CAPACITY) {
        memcpy(reserve(out, (size_t)size), data, (size_t)size);
        return;
    }
    flush(out);
    if (!out->failed) {
        out->failed = !out->sink->write(out->sink->user, data, (size_t)size);
    }
}

static void stream_indices(stream *out, const write_piece *piece)
{
    const uint32_t *indices = piece->data;
    for (uint32_t i = 0; i < piece->index_count && !out->failed; i++) {
        uint32_t index = indices[i];
        if (piece->component == PELT_COMPONENT_U8) {
            *reserve(out, 1) = (uint8_t)index;
        } else if (piece->component == PELT_COMPONENT_U16) {
            uint16_t narrow = (uint16_t)index;
            memcpy(reserve(out, sizeof narrow), &narrow, sizeof narrow);
        } else {
            memcpy(reserve(out, sizeof index), &index, sizeof index);
        }
    }
}

static float convert(const uint8_t *component, write_conversion conversion)
{
    if (conversion == WRITE_FLOATS_OF_U32) {
        uint32_t integer = 0;
        memcpy(&integer, component, sizeof integer);
        return (float)integer;
    }
    float value = 0;
    memcpy(&value, component, sizeof value);
    if (!isfinite(value)) {
        return 0;
    }
    if (conversion == WRITE_UNIT_FLOATS) {
        return value < 0 ? 0.0F : value > 1 ? 1.0F : value;
    }
    return value;
}

static void stream_elements(stream *out, const gltf_accessor *accessor, const write_elements *elements,
                            write_conversion conversion)
{
    uint32_t column_size = accessor->rows * accessor->component_size;
    uint32_t row_size = pelti_write_element_size(accessor, conversion);
    uint32_t column_step = row_size / accessor->columns;
    for (uint64_t i = 0; i < accessor->count && !out->failed; i++) {
        const uint8_t *element = elements->data + i * elements->stride;
        uint8_t *row = reserve(out, row_size);
        memset(row, 0, row_size);
        for (uint32_t c = 0; c < accessor->columns; c++) {
            const uint8_t *column = element + (size_t)c * elements->column_stride;
            if (conversion == WRITE_RAW) {
                memcpy(row + (size_t)c * column_step, column, column_size);
                continue;
            }
            for (uint32_t r = 0; r < accessor->rows; r++) {
                float value = convert(column + (size_t)r * sizeof value, conversion);
                memcpy(row + (size_t)c * column_step + (size_t)r * sizeof value, &value, sizeof value);
            }
        }
    }
}

static pelt_result stream_piece(gltf_writer *writer, stream *out, const write_piece *piece, pelt_error *error)
{
    if (piece->kind == WRITE_PIECE_BYTES) {
        stream_bytes(out, piece->data, piece->size);
    } else if (piece->kind == WRITE_PIECE_INDICES) {
        stream_indices(out, piece);
    } else {
        gltf_accessor accessor;
        write_elements elements;
        pelt_result result = pelti_gltf_accessor(writer->gltf, piece->accessor, &accessor, error);
        if (result == PELT_OK) {
            result = pelti_write_open_elements(writer, &accessor, &elements, error);
        }
        if (result != PELT_OK) {
            return result;
        }
        stream_elements(out, &accessor, &elements, piece->conversion);
        pelti_write_close_elements(writer, &elements);
    }
    size_t padding = (size_t)(-piece->size & 3);
    memset(reserve(out, padding), 0, padding);
    return PELT_OK;
}

pelt_result pelti_write_stream(gltf_writer *writer, const pelt_gltf_sink *sink, pelt_error *error)
{
    stream out = {.sink = sink, .buffer = pelti_allocate(writer->allocator, STREAM_CAPACITY, 1)};
    if (!out.buffer) {
        return pelti_write_out_of_memory(error);
    }
    pelt_result result = PELT_OK;
    for (uint64_t i = 0; i < writer->piece_count && result == PELT_OK && !out.failed; i++) {
        result = stream_piece(writer, &out, &writer->pieces[i], error);
    }
    if (result == PELT_OK) {
        flush(&out);
        if (out.failed) {
            result = pelti_fail(error, PELT_ERROR_IO, "", "the posed file's buffer cannot be written");
        }
    }
    pelti_release(writer->allocator, out.buffer, STREAM_CAPACITY, 1);
    return result;
}

// SPDX-License-Identifier: MIT
// Reads checked accessors into arrays. Elements may lie at any address, so every load goes through memcpy; each loop
// has a form with constant strides that compilers turn into vector code.
#include "gltf_internal.h"

// A block of values: count rows of width components; bytes between rows on the left, components on the right.
typedef struct block {
    const uint8_t *source;
    uint64_t count;
    uint64_t source_stride;
    uint32_t width;
    uint64_t out_stride;
} block;

// Conversions of normalised integers: glTF 2.0 specification, section 3.11.
#define AS_IS(value) ((float)(value))
#define UNORM8(value) ((float)(value) / 255.0f)
#define UNORM16(value) ((float)(value) / 65535.0f)
#define SNORM8(value) ((value) < -127 ? -1.0f : (float)(value) / 127.0f)
#define SNORM16(value) ((value) < -32767 ? -1.0f : (float)(value) / 32767.0f)
#define SAME(value) (value)

// One conversion loop for each pair of types. Rows that lie end to end on both sides are one long row.
#define DEFINE_CONVERT(name, in_type, out_type, convert)                                                               \
    static void name(const block *from, out_type *out)                                                                 \
    {                                                                                                                  \
        if (from->source_stride == from->width * sizeof(in_type) && from->out_stride == from->width) {                 \
            uint64_t total = from->count * from->width;                                                                \
            for (uint64_t i = 0; i < total; i++) {                                                                     \
                in_type value;                                                                                         \
                memcpy(&value, from->source + i * sizeof value, sizeof value);                                         \
                out[i] = (out_type)convert(value);                                                                     \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (uint64_t i = 0; i < from->count; i++) {                                                                   \
            const uint8_t *row = from->source + i * from->source_stride;                                               \
            for (uint32_t k = 0; k < from->width; k++) {                                                               \
                in_type value;                                                                                         \
                memcpy(&value, row + k * sizeof value, sizeof value);                                                  \
                out[i * from->out_stride + k] = (out_type)convert(value);                                              \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_CONVERT(float_from_i8, int8_t, float, AS_IS)
DEFINE_CONVERT(float_from_u8, uint8_t, float, AS_IS)
DEFINE_CONVERT(float_from_i16, int16_t, float, AS_IS)
DEFINE_CONVERT(float_from_u16, uint16_t, float, AS_IS)
DEFINE_CONVERT(float_from_u32, uint32_t, float, AS_IS)
DEFINE_CONVERT(float_from_f32, float, float, SAME)
DEFINE_CONVERT(float_from_snorm8, int8_t, float, SNORM8)
DEFINE_CONVERT(float_from_unorm8, uint8_t, float, UNORM8)
DEFINE_CONVERT(float_from_snorm16, int16_t, float, SNORM16)
DEFINE_CONVERT(float_from_unorm16, uint16_t, float, UNORM16)
DEFINE_CONVERT(u32_from_u8, uint8_t, uint32_t, SAME)
DEFINE_CONVERT(u32_from_u16, uint16_t, uint32_t, SAME)
DEFINE_CONVERT(u32_from_u32, uint32_t, uint32_t, SAME)
DEFINE_CONVERT(u16_from_u8, uint8_t, uint16_t, SAME)
DEFINE_CONVERT(u16_from_u16, uint16_t, uint16_t, SAME)

typedef enum output_kind {
    OUTPUT_FLOAT,
    OUTPUT_U32,
    OUTPUT_U16,
    OUTPUT_RAW
} output_kind;

static void convert_floats(const gltf_accessor *accessor, const block *from, float *out)
{
    bool normalized = accessor->normalized;
    switch (accessor->component) {
    case PELT_COMPONENT_I8:
        normalized ? float_from_snorm8(from, out) : float_from_i8(from, out);
        break;
    case PELT_COMPONENT_U8:
        normalized ? float_from_unorm8(from, out) : float_from_u8(from, out);
        break;
    case PELT_COMPONENT_I16:
        normalized ? float_from_snorm16(from, out) : float_from_i16(from, out);
        break;
    case PELT_COMPONENT_U16:
        normalized ? float_from_unorm16(from, out) : float_from_u16(from, out);
        break;
    case PELT_COMPONENT_U32:
        float_from_u32(from, out);
        break;
    case PELT_COMPONENT_F32:
        if (from->source_stride == from->width * sizeof(float) && from->out_stride == from->width) {
            memcpy(out, from->source, (size_t)(from->count * from->source_stride));
        } else {
            float_from_f32(from, out);
        }
        break;
    }
}

static void convert_u32(const gltf_accessor *accessor, const block *from, uint32_t *out)
{
    if (accessor->component == PELT_COMPONENT_U8) {
        u32_from_u8(from, out);
    } else if (accessor->component == PELT_COMPONENT_U16) {
        u32_from_u16(from, out);
    } else {
        u32_from_u32(from, out);
    }
}

static void convert_u16(const gltf_accessor *accessor, const block *from, uint16_t *out)
{
    if (accessor->component == PELT_COMPONENT_U8) {
        u16_from_u8(from, out);
    } else {
        u16_from_u16(from, out);
    }
}

static void copy_raw(const gltf_accessor *accessor, const block *from, uint8_t *out)
{
    size_t row_size = (size_t)from->width * accessor->component_size;
    size_t out_stride = (size_t)from->out_stride * accessor->component_size;
    if (from->source_stride == row_size && out_stride == row_size) {
        memcpy(out, from->source, (size_t)from->count * row_size);
        return;
    }
    for (uint64_t i = 0; i < from->count; i++) {
        memcpy(out + i * out_stride, from->source + i * from->source_stride, row_size);
    }
}

static size_t output_size(const gltf_accessor *accessor, output_kind kind)
{
    return kind == OUTPUT_RAW ? accessor->component_size : kind == OUTPUT_U16 ? 2 : 4;
}

// count elements that start at source, into out at element first.
static void convert_elements(const gltf_accessor *accessor, output_kind kind, const uint8_t *source, uint64_t count,
                             uint64_t stride, void *out, uint64_t first)
{
    block from = {source, count, stride, accessor->rows, accessor->component_count};
    uint32_t columns = accessor->columns;
    if (accessor->column_stride == accessor->rows * accessor->component_size) {
        from.width = accessor->component_count;
        columns = 1;
    }
    uint64_t start = first * accessor->component_count;
    for (uint32_t c = 0; c < columns; c++) {
        switch (kind) {
        case OUTPUT_FLOAT:
            convert_floats(accessor, &from, (float *)out + start);
            break;
        case OUTPUT_U32:
            convert_u32(accessor, &from, (uint32_t *)out + start);
            break;
        case OUTPUT_U16:
            convert_u16(accessor, &from, (uint16_t *)out + start);
            break;
        case OUTPUT_RAW:
            copy_raw(accessor, &from, (uint8_t *)out + start * accessor->component_size);
            break;
        }
        from.source += accessor->column_stride;
        start += accessor->rows;
    }
}

static void read_elements(const gltf_accessor *accessor, output_kind kind, void *out)
{
    if (accessor->data) {
        convert_elements(accessor, kind, accessor->data, accessor->count, accessor->stride, out, 0);
    } else {
        memset(out, 0, (size_t)(accessor->count * accessor->component_count) * output_size(accessor, kind));
    }
    uint64_t value_size = (uint64_t)accessor->columns * accessor->column_stride;
    for (uint64_t i = 0; i < accessor->sparse_count; i++) {
        uint32_t index = pelti_gltf_sparse_index(accessor, i);
        // Checked before, but a mapped file may have changed since; a write must never depend on that.
        if (index < accessor->count) {
            convert_elements(accessor, kind, accessor->sparse_values + i * value_size, 1, value_size, out, index);
        }
    }
}

void pelti_gltf_read_floats(const gltf_accessor *accessor, float *out)
{
    read_elements(accessor, OUTPUT_FLOAT, out);
}

void pelti_gltf_read_u32(const gltf_accessor *accessor, uint32_t *out)
{
    assert(accessor->component == PELT_COMPONENT_U8 || accessor->component == PELT_COMPONENT_U16 ||
           accessor->component == PELT_COMPONENT_U32);
    read_elements(accessor, OUTPUT_U32, out);
}

void pelti_gltf_read_u16(const gltf_accessor *accessor, uint16_t *out)
{
    assert(accessor->component == PELT_COMPONENT_U8 || accessor->component == PELT_COMPONENT_U16);
    read_elements(accessor, OUTPUT_U16, out);
}

void pelti_gltf_read_raw(const gltf_accessor *accessor, void *out)
{
    read_elements(accessor, OUTPUT_RAW, out);
}

// SPDX-License-Identifier: MIT
// Copies the attributes that posing leaves alone (TEXCOORD_n, COLOR_n, customs) in the file's own component type, and
// repairs what a reader of the output would have to refuse. Formats: glTF 2.0 specification, 3.7.2.1, and
// KHR_mesh_quantization.
#include "write_internal.h"

#include <math.h>

uint32_t pelti_write_accessor(gltf_writer *writer, const write_accessor *accessor)
{
    json_t *object = json_object();
    pelti_write_put(writer, object, "bufferView", json_integer(accessor->view));
    pelti_write_put(writer, object, "componentType", json_integer(accessor->component));
    if (accessor->normalized) {
        pelti_write_put(writer, object, "normalized", json_true());
    }
    pelti_write_put(writer, object, "count", json_integer((json_int_t)accessor->count));
    pelti_write_put(writer, object, "type", json_string(accessor->type));
    if (accessor->box) {
        json_t *min = json_array();
        json_t *max = json_array();
        for (int i = 0; i < 3; i++) {
            pelti_write_append(writer, min, json_real((double)accessor->box->min[i]));
            pelti_write_append(writer, max, json_real((double)accessor->box->max[i]));
        }
        pelti_write_put(writer, object, "min", min);
        pelti_write_put(writer, object, "max", max);
    }
    pelti_write_append(writer, writer->accessors, object);
    return (uint32_t)json_array_size(writer->accessors) - 1;
}

// How an attribute is written.
typedef struct plan {
    write_role role;
    write_conversion conversion;
    bool normalized;
    bool quantized;     // only KHR_mesh_quantization allows it
    const char *reject; // why it cannot stay; NULL = it stays
} plan;

// prefix and a decimal number without leading zeros
static bool is_indexed(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0) {
        return false;
    }
    const char *digits = name + length;
    size_t count = strspn(digits, "0123456789");
    return count > 0 && digits[count] == '\0' && (count == 1 || digits[0] != '0');
}

// The flag means nothing on floats and 32-bit integers, and may not stand there.
static bool is_normalized(const gltf_accessor *accessor)
{
    return accessor->normalized && accessor->component != PELT_COMPONENT_F32 &&
           accessor->component != PELT_COMPONENT_U32;
}

static plan plan_texcoord(const gltf_accessor *accessor)
{
    plan p = {.role = WRITE_ROLE_TEXCOORD, .normalized = is_normalized(accessor)};
    if (accessor->rows != 2 || accessor->columns != 1) {
        p.reject = "texture coordinates have two components";
    } else if (accessor->component == PELT_COMPONENT_U32) {
        p.reject = "texture coordinates cannot be 32-bit integers";
    } else if (accessor->component != PELT_COMPONENT_F32) {
        bool is_signed = accessor->component == PELT_COMPONENT_I8 || accessor->component == PELT_COMPONENT_I16;
        p.quantized = is_signed || !accessor->normalized;
    }
    return p;
}

static plan plan_color(const gltf_accessor *accessor)
{
    // Integer colours without "normalized" are a common slip: no other reading of them makes sense.
    plan p = {.role = WRITE_ROLE_COLOR, .normalized = accessor->component != PELT_COMPONENT_F32};
    if (accessor->columns != 1 || accessor->rows < 3) {
        p.reject = "colours have three or four components";
    } else if (accessor->component != PELT_COMPONENT_F32 && accessor->component != PELT_COMPONENT_U8 &&
               accessor->component != PELT_COMPONENT_U16) {
        p.reject = "colours are floats or unsigned integers of 8 or 16 bits";
    }
    return p;
}

static plan plan_custom(const gltf_accessor *accessor)
{
    plan p = {.role = WRITE_ROLE_CUSTOM, .normalized = is_normalized(accessor)};
    if (accessor->component == PELT_COMPONENT_U32) {
        p.conversion = WRITE_FLOATS_OF_U32;
    }
    return p;
}

static plan plan_attribute(const char *name, const gltf_accessor *accessor)
{
    if (is_indexed(name, "TEXCOORD_")) {
        return plan_texcoord(accessor);
    }
    if (is_indexed(name, "COLOR_")) {
        return plan_color(accessor);
    }
    if (name[0] == '_') {
        return plan_custom(accessor);
    }
    return (plan){.reject = "glTF has no such attribute, and names of one's own begin with an underscore"};
}

// What a pass over the elements found.
typedef struct census {
    uint64_t not_finite;
    uint64_t not_unit; // finite, outside 0..1
    uint32_t largest;  // U32
} census;

static void count_component(const uint8_t *component, const gltf_accessor *accessor, census *out)
{
    if (accessor->component == PELT_COMPONENT_U32) {
        uint32_t integer = 0;
        memcpy(&integer, component, sizeof integer);
        out->largest = integer > out->largest ? integer : out->largest;
        return;
    }
    float value = 0;
    memcpy(&value, component, sizeof value);
    if (!isfinite(value)) {
        out->not_finite++;
    } else if (value < 0 || value > 1) {
        out->not_unit++;
    }
}

static census take_census(const gltf_accessor *accessor, const write_elements *elements)
{
    census found = {0};
    for (uint64_t i = 0; i < accessor->count; i++) {
        for (uint32_t c = 0; c < accessor->columns; c++) {
            const uint8_t *column = elements->data + i * elements->stride + (size_t)c * elements->column_stride;
            for (uint32_t r = 0; r < accessor->rows; r++) {
                count_component(column + (size_t)r * accessor->component_size, accessor, &found);
            }
        }
    }
    return found;
}

// Looks at every value where a value can be wrong.
static pelt_result inspect(gltf_writer *writer, const char *name, const gltf_accessor *accessor, const char *where,
                           plan *p, pelt_error *error)
{
    if (accessor->component != PELT_COMPONENT_F32 && accessor->component != PELT_COMPONENT_U32) {
        return PELT_OK;
    }
    write_elements elements;
    pelt_result result = pelti_write_open_elements(writer, accessor, &elements, error);
    if (result != PELT_OK) {
        return result;
    }
    census found = take_census(accessor, &elements);
    pelti_write_close_elements(writer, &elements);
    if (accessor->component == PELT_COMPONENT_U32) {
        if (found.largest > UINT32_C(1) << 24) {
            p->reject = "glTF has no 32-bit integers in attributes, and floats would not hold these exactly";
        } else {
            pelti_warn(writer->mesh_log, where, "%s becomes floats: glTF has no 32-bit integers in attributes",
                       pelti_gltf_quote(name).text);
        }
        return PELT_OK;
    }
    if (found.not_finite > 0) {
        p->conversion = WRITE_FLOATS;
        pelti_warn(writer->mesh_log, where, "%s: %llu values that are not finite are written as 0",
                   pelti_gltf_quote(name).text, (unsigned long long)found.not_finite);
    }
    if (p->role == WRITE_ROLE_COLOR && found.not_unit > 0) {
        p->conversion = WRITE_UNIT_FLOATS;
        pelti_warn(writer->mesh_log, where, "%s: %llu values outside 0..1 are clamped, as glTF demands of colours",
                   name, (unsigned long long)found.not_unit);
    }
    return PELT_OK;
}

static const char *type_name(const gltf_accessor *accessor)
{
    static const char *const vectors[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
    static const char *const matrices[] = {"MAT2", "MAT3", "MAT4"};
    return accessor->columns == 1 ? vectors[accessor->rows - 1] : matrices[accessor->columns - 2];
}

static pelt_result emit(gltf_writer *writer, const gltf_accessor *accessor, const plan *p, uint32_t *out,
                        pelt_error *error)
{
    uint32_t tight = accessor->component_count * accessor->component_size;
    uint32_t size = pelti_write_element_size(accessor, p->conversion);
    bool padded = p->conversion == WRITE_RAW && accessor->columns == 1 && size != tight;
    write_piece piece = {.kind = WRITE_PIECE_ELEMENTS,
                         .size = accessor->count * size,
                         .accessor = accessor->index,
                         .conversion = p->conversion};
    write_accessor made = {.component = p->conversion == WRITE_RAW ? accessor->component : PELT_COMPONENT_F32,
                           .normalized = p->normalized,
                           .count = accessor->count,
                           .type = type_name(accessor)};
    pelt_result result =
        pelti_write_add_piece(writer, &piece, WRITE_TARGET_VERTICES, padded ? size : 0, &made.view, error);
    if (result == PELT_OK) {
        *out = pelti_write_accessor(writer, &made);
    }
    return result;
}

pelt_result pelti_write_attribute(gltf_writer *writer, const char *name, uint32_t index, uint32_t vertex_count,
                                  const char *where, uint32_t *out, pelt_error *error)
{
    *out = PELT_NONE;
    gltf_accessor accessor;
    pelt_result result = pelti_gltf_accessor(writer->gltf, index, &accessor, error);
    if (result != PELT_OK) {
        return result;
    }
    if (accessor.count != vertex_count) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "%s has %llu elements, but POSITION has %u",
                          pelti_gltf_quote(name).text, (unsigned long long)accessor.count, vertex_count);
    }
    plan p = plan_attribute(name, &accessor);
    uint32_t *shared = &writer->shared[p.role][index];
    if (!p.reject && *shared == PELT_NONE) {
        result = inspect(writer, name, &accessor, where, &p, error);
    }
    if (result != PELT_OK) {
        return result;
    }
    if (p.reject) {
        pelti_warn(writer->mesh_log, where, "%s is left out: %s", pelti_gltf_quote(name).text, p.reject);
        return PELT_OK;
    }
    if (p.quantized) {
        pelti_write_use_extension(writer, "KHR_mesh_quantization");
    }
    if (*shared == PELT_NONE) {
        if (p.role == WRITE_ROLE_COLOR && p.normalized && !accessor.normalized) {
            pelti_warn(writer->mesh_log, where, "%s: integer colours are taken as normalized", name);
        }
        result = emit(writer, &accessor, &p, shared, error);
    }
    *out = *shared;
    return result;
}

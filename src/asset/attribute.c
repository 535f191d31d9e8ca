// SPDX-License-Identifier: MIT
// Reads single elements of a finished asset: attributes as floats, and how many influences a vertex uses; with the
// small helpers that messages share.
#include "asset/asset_internal.h"

#include <math.h>

static float signed_unit(float value, float largest)
{
    float unit = value / largest;
    return unit < -1.0f ? -1.0f : unit;
}

// Conversions of normalised integers: glTF 2.0 specification, section 3.6.2.2.
static float component_read(const unsigned char *bytes, pelt_component component, bool normalized)
{
    switch (component) {
    case PELT_COMPONENT_I8: {
        int8_t value = 0;
        memcpy(&value, bytes, sizeof value);
        return normalized ? signed_unit((float)value, 127.0f) : (float)value;
    }
    case PELT_COMPONENT_U8: {
        return normalized ? (float)bytes[0] / 255.0f : (float)bytes[0];
    }
    case PELT_COMPONENT_I16: {
        int16_t value = 0;
        memcpy(&value, bytes, sizeof value);
        return normalized ? signed_unit((float)value, 32767.0f) : (float)value;
    }
    case PELT_COMPONENT_U16: {
        uint16_t value = 0;
        memcpy(&value, bytes, sizeof value);
        return normalized ? (float)value / 65535.0f : (float)value;
    }
    case PELT_COMPONENT_U32: {
        uint32_t value = 0;
        memcpy(&value, bytes, sizeof value);
        return normalized ? (float)((double)value / 4294967295.0) : (float)value;
    }
    case PELT_COMPONENT_F32:
        break;
    }
    float value = 0.0f;
    memcpy(&value, bytes, sizeof value);
    return value;
}

uint32_t pelt_component_size(pelt_component component)
{
    switch (component) {
    case PELT_COMPONENT_I8:
    case PELT_COMPONENT_U8:
        return 1;
    case PELT_COMPONENT_I16:
    case PELT_COMPONENT_U16:
        return 2;
    case PELT_COMPONENT_U32:
    case PELT_COMPONENT_F32:
        return 4;
    }
    return 0;
}

void pelt_attribute_read(const pelt_attribute *attribute, uint32_t vertex, float out[4])
{
    const unsigned char *element = (const unsigned char *)attribute->data + (size_t)vertex * attribute->stride;
    size_t size = pelt_component_size(attribute->component);
    for (uint32_t i = 0; i < attribute->component_count && i < 4; i++) {
        out[i] = component_read(element + i * size, attribute->component, attribute->normalized);
    }
}

uint32_t pelt_primitive_vertex_influences(const pelt_primitive *primitive, uint32_t vertex)
{
    if (primitive->influence_count == 0) {
        return 0;
    }
    const float *weights = primitive->weights + (size_t)vertex * primitive->influence_count;
    uint32_t count = 0;
    while (count < primitive->influence_count && weights[count] > 0.0f) {
        count++;
    }
    return count;
}

asset_text pelti_asset_text(const char *format, ...)
{
    asset_text out;
    va_list arguments;
    va_start(arguments, format);
    pelti_format(out.text, sizeof out.text, format, arguments);
    va_end(arguments);
    return out;
}

asset_number pelti_asset_number(float value)
{
    asset_number out;
    if (isnan(value)) {
        snprintf(out.text, sizeof out.text, "NaN");
        return out;
    }
    if (isinf(value)) {
        snprintf(out.text, sizeof out.text, "%sinfinity", value < 0 ? "-" : "");
        return out;
    }
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(out.text, sizeof out.text, "%.*g", digits, (double)value);
        if (strtof(out.text, NULL) == value) {
            break;
        }
    }
    return out;
}

pelt_result pelti_fail_memory(pelt_error *error)
{
    return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory");
}

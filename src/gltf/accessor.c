// SPDX-License-Identifier: MIT
// Checks accessors against the bytes that are really there, sparse substitution included, before anything is read.
#include "gltf_internal.h"

#include <float.h>
#include <limits.h>
#include <math.h>

static pelt_result read_component(const json_t *object, const char *where, pelt_component *out, pelt_error *error)
{
    uint64_t component = 0;
    pelt_result result = pelti_gltf_uint(object, "componentType", where, true, INT64_MAX, &component, error);
    if (result) {
        return result;
    }
    if (component > INT_MAX || pelt_component_size((pelt_component)component) == 0) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "%s: componentType is %llu, which is unknown",
                          pelti_gltf_subject(where).text, (unsigned long long)component);
    }
    *out = (pelt_component)component;
    return PELT_OK;
}

static pelt_result read_type(const json_t *object, const char *where, gltf_accessor *out, pelt_error *error)
{
    static const struct {
        const char *name;
        uint32_t rows;
        uint32_t columns;
    } types[] = {{"SCALAR", 1, 1}, {"VEC2", 2, 1}, {"VEC3", 3, 1}, {"VEC4", 4, 1},
                 {"MAT2", 2, 2},   {"MAT3", 3, 3}, {"MAT4", 4, 4}};
    const char *text = NULL;
    pelt_result result = pelti_gltf_text(object, "type", where, &text, error);
    if (result) {
        return result;
    }
    for (size_t i = 0; text && i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(text, types[i].name) == 0) {
            out->rows = types[i].rows;
            out->columns = types[i].columns;
            return PELT_OK;
        }
    }
    return pelti_fail(error, PELT_ERROR_INVALID, where, "%s: type is \"%s\", which is unknown",
                      pelti_gltf_subject(where).text, text ? pelti_gltf_quote(text).text : "");
}

static pelt_result read_count(const json_t *object, const char *where, gltf_accessor *out, pelt_error *error)
{
    pelt_result result = pelti_gltf_uint(object, "count", where, true, INT64_MAX, &out->count, error);
    if (result) {
        return result;
    }
    if (out->count == 0) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "accessor %u: count is 0, but has to be at least 1",
                          out->index);
    }
    return PELT_OK;
}

// Component type, element type, count and normalized.
static pelt_result read_shape(const json_t *object, const char *where, gltf_accessor *out, pelt_error *error)
{
    pelt_result result = read_component(object, where, &out->component, error);
    if (!result) {
        result = read_type(object, where, out, error);
    }
    if (!result) {
        result = read_count(object, where, out, error);
    }
    if (!result) {
        result = pelti_gltf_bool(object, "normalized", where, &out->normalized, error);
    }
    if (result) {
        return result;
    }
    out->component_size = pelt_component_size(out->component);
    out->component_count = out->rows * out->columns;
    uint32_t column_size = out->rows * out->component_size;
    // Columns of a matrix start at multiples of 4 (section 3.6.2.4).
    out->column_stride = out->columns > 1 ? (column_size + 3) / 4 * 4 : column_size;
    if (out->normalized && out->component_size == 4) {
        return pelti_fail(error, PELT_ERROR_INVALID, where,
                          "accessor %u: normalized is true, but componentType is %u: only 8 and 16 bit integers can be "
                          "normalized",
                          out->index, (unsigned)out->component);
    }
    return PELT_OK;
}

// A run of elements inside a buffer view.
typedef struct element_run {
    const gltf_accessor *accessor;
    const char *where;
    const char *what; // "" or "sparse values "
    uint32_t view;
    uint64_t view_size;
    uint64_t offset;
    uint64_t count;
    uint64_t stride;
    uint64_t last_size; // bytes of the last element, which needs no padding behind it
} element_run;

// offset + (count - 1) * stride + last_size <= view_size, without wrapping.
static pelt_result check_run(const element_run *run, pelt_error *error)
{
    uint64_t needed = 0;
    bool fits = pelti_mul(run->count - 1, run->stride, &needed) && pelti_add(needed, run->last_size, &needed);
    bool counted = fits;
    fits = fits && run->offset <= run->view_size && needed <= run->view_size - run->offset;
    if (fits) {
        return PELT_OK;
    }
    char needs[64];
    if (counted && pelti_add(needed, run->offset, &needed)) {
        snprintf(needs, sizeof needs, "%llu bytes", (unsigned long long)needed);
    } else {
        snprintf(needs, sizeof needs, "more than 2^64 bytes");
    }
    return pelti_fail(error, PELT_ERROR_INVALID, run->where,
                      "accessor %u: %sneeds %s but bufferView %u has %llu (byteOffset %llu, count %llu, stride %llu)",
                      run->accessor->index, run->what, needs, run->view, (unsigned long long)run->view_size,
                      (unsigned long long)run->offset, (unsigned long long)run->count, (unsigned long long)run->stride);
}

// Bytes that the last element takes: a matrix may end without the padding of its last column.
static uint64_t last_element_size(const gltf_accessor *accessor)
{
    return (uint64_t)(accessor->columns - 1) * accessor->column_stride +
           (uint64_t)accessor->rows * accessor->component_size;
}

static pelt_result read_base(pelt_gltf *gltf, const json_t *object, const char *where, gltf_accessor *out,
                             pelt_error *error)
{
    uint32_t element_size = out->columns * out->column_stride;
    out->stride = element_size;
    uint32_t view_index = PELT_NONE;
    uint64_t offset = 0;
    pelt_result result =
        pelti_gltf_index(object, "bufferView", where, false, gltf->view_count, "bufferView", &view_index, error);
    if (!result) {
        result = pelti_gltf_uint(object, "byteOffset", where, false, INT64_MAX, &offset, error);
    }
    if (result || view_index == PELT_NONE) {
        return result;
    }
    gltf_view view;
    result = pelti_gltf_view(gltf, view_index, &view, error);
    if (result) {
        return result;
    }
    if (view.stride != 0 && view.stride < last_element_size(out)) {
        return pelti_fail(error, PELT_ERROR_INVALID, where,
                          "accessor %u: an element has %u bytes, but the byteStride of bufferView %u is %u", out->index,
                          element_size, view_index, view.stride);
    }
    out->stride = view.stride != 0 ? view.stride : element_size;
    element_run run = {.accessor = out,
                       .where = where,
                       .what = "",
                       .view = view_index,
                       .view_size = view.size,
                       .offset = offset,
                       .count = out->count,
                       .stride = out->stride,
                       .last_size = last_element_size(out)};
    result = check_run(&run, error);
    out->data = result ? NULL : view.data + offset;
    return result;
}

// One of sparse.indices and sparse.values: tight elements of a view.
static pelt_result read_sparse_part(pelt_gltf *gltf, const json_t *part, element_run *run, const uint8_t **out_data,
                                    pelt_error *error)
{
    if (!json_is_object(part)) {
        return pelti_fail(error, PELT_ERROR_INVALID, run->where, "accessor %u: sparse: %sare missing",
                          run->accessor->index, run->what);
    }
    pelt_result result =
        pelti_gltf_index(part, "bufferView", run->where, true, gltf->view_count, "bufferView", &run->view, error);
    if (!result) {
        result = pelti_gltf_uint(part, "byteOffset", run->where, false, INT64_MAX, &run->offset, error);
    }
    gltf_view view;
    if (!result) {
        result = pelti_gltf_view(gltf, run->view, &view, error);
    }
    if (result) {
        return result;
    }
    if (view.stride != 0 && view.stride != run->stride) {
        return pelti_fail(error, PELT_ERROR_INVALID, run->where,
                          "accessor %u: %sare tight, but bufferView %u has a byteStride of %u", run->accessor->index,
                          run->what, run->view, view.stride);
    }
    run->view_size = view.size;
    result = check_run(run, error);
    *out_data = result ? NULL : view.data + run->offset;
    return result;
}

uint32_t pelti_gltf_sparse_index(const gltf_accessor *accessor, uint64_t entry)
{
    const uint8_t *at = accessor->sparse_indices + entry * pelt_component_size(accessor->sparse_component);
    if (accessor->sparse_component == PELT_COMPONENT_U8) {
        return at[0];
    }
    if (accessor->sparse_component == PELT_COMPONENT_U16) {
        uint16_t index;
        memcpy(&index, at, sizeof index);
        return index;
    }
    uint32_t index;
    memcpy(&index, at, sizeof index);
    return index;
}

static pelt_result check_sparse_indices(const gltf_accessor *accessor, const char *where, pelt_error *error)
{
    uint64_t lowest = 0;
    for (uint64_t i = 0; i < accessor->sparse_count; i++) {
        uint32_t index = pelti_gltf_sparse_index(accessor, i);
        if (index >= accessor->count) {
            return pelti_fail(error, PELT_ERROR_INVALID, where,
                              "accessor %u: sparse index %u (entry %llu of indices) is not below count %llu",
                              accessor->index, index, (unsigned long long)i, (unsigned long long)accessor->count);
        }
        if (index < lowest) {
            return pelti_fail(error, PELT_ERROR_INVALID, where,
                              "accessor %u: sparse indices have to increase, but entry %llu is %u after %llu",
                              accessor->index, (unsigned long long)i, index, (unsigned long long)(lowest - 1));
        }
        lowest = (uint64_t)index + 1;
    }
    return PELT_OK;
}

static pelt_result read_sparse(pelt_gltf *gltf, const json_t *object, gltf_accessor *out, pelt_error *error)
{
    const json_t *sparse = json_object_get(object, "sparse");
    gltf_path where = pelti_gltf_path("/accessors/%u/sparse", out->index);
    gltf_path indices_where = pelti_gltf_path("/accessors/%u/sparse/indices", out->index);
    gltf_path values_where = pelti_gltf_path("/accessors/%u/sparse/values", out->index);
    if (!sparse) {
        return PELT_OK;
    }
    if (!json_is_object(sparse)) {
        return pelti_fail(error, PELT_ERROR_INVALID, where.text, "accessor %u: sparse is not an object", out->index);
    }
    uint64_t count = 0;
    pelt_result result = pelti_gltf_uint(sparse, "count", where.text, true, INT64_MAX, &count, error);
    if (!result && (count == 0 || count > out->count)) {
        result = pelti_fail(error, PELT_ERROR_INVALID, where.text,
                            "accessor %u: sparse count is %llu, but has to be from 1 to count %llu", out->index,
                            (unsigned long long)count, (unsigned long long)out->count);
    }
    const json_t *indices = json_object_get(sparse, "indices");
    if (!result && json_is_object(indices)) {
        result = read_component(indices, indices_where.text, &out->sparse_component, error);
    }
    if (result) {
        return result;
    }
    pelt_component component = out->sparse_component;
    if (json_is_object(indices) && component != PELT_COMPONENT_U8 && component != PELT_COMPONENT_U16 &&
        component != PELT_COMPONENT_U32) {
        return pelti_fail(error, PELT_ERROR_INVALID, indices_where.text,
                          "accessor %u: sparse indices have componentType %u, which is no unsigned integer", out->index,
                          (unsigned)component);
    }
    element_run run = {.accessor = out, .where = indices_where.text, .what = "sparse indices ", .count = count};
    run.stride = pelt_component_size(component);
    run.last_size = run.stride;
    result = read_sparse_part(gltf, indices, &run, &out->sparse_indices, error);
    if (result) {
        return result;
    }
    run = (element_run){.accessor = out, .where = values_where.text, .what = "sparse values ", .count = count};
    run.stride = (uint64_t)out->columns * out->column_stride;
    run.last_size = last_element_size(out);
    result = read_sparse_part(gltf, json_object_get(sparse, "values"), &run, &out->sparse_values, error);
    if (result) {
        return result;
    }
    out->sparse_count = count;
    return check_sparse_indices(out, indices_where.text, error);
}

pelt_result pelti_gltf_accessor(pelt_gltf *gltf, uint32_t index, gltf_accessor *out, pelt_error *error)
{
    *out = (gltf_accessor){.index = index};
    json_t *object = NULL;
    pelt_result result = pelti_gltf_item(gltf, "accessors", index, &object, error);
    if (result) {
        return result;
    }
    gltf_path where = pelti_gltf_path("/accessors/%u", index);
    result = read_shape(object, where.text, out, error);
    if (!result) {
        result = read_base(gltf, object, where.text, out, error);
    }
    // Only now, so that a count that the bytes contradict is reported as that.
    if (!result && out->count > UINT32_MAX) {
        result = pelti_fail(error, PELT_ERROR_UNSUPPORTED, where.text, "accessor %u: count is %llu, over 4294967295",
                            index, (unsigned long long)out->count);
    }
    return result ? result : read_sparse(gltf, object, out, error);
}

// A declared bound becomes what a stored component of that value becomes.
static double convert_bound(const gltf_accessor *accessor, double value)
{
    if (!accessor->normalized) {
        return value;
    }
    bool is_signed = accessor->component == PELT_COMPONENT_I8 || accessor->component == PELT_COMPONENT_I16;
    double highest = accessor->component_size == 1 ? (is_signed ? 127.0 : 255.0) : (is_signed ? 32767.0 : 65535.0);
    double scaled = value / highest;
    return is_signed && scaled < -1.0 ? -1.0 : scaled;
}

static bool read_bound(const gltf_accessor *accessor, const json_t *bound, float *out)
{
    if (!json_is_array(bound) || json_array_size(bound) != accessor->component_count) {
        return false;
    }
    for (uint32_t i = 0; i < accessor->component_count; i++) {
        const json_t *number = json_array_get(bound, i);
        double value = convert_bound(accessor, json_number_value(number));
        if (!json_is_number(number) || fabs(value) > (double)FLT_MAX) {
            return false;
        }
        out[i] = (float)value;
    }
    return true;
}

pelt_result pelti_gltf_accessor_bounds(pelt_gltf *gltf, const gltf_accessor *accessor, float *out_min, float *out_max,
                                       bool *found, pelt_error *error)
{
    *found = false;
    json_t *object = NULL;
    pelt_result result = pelti_gltf_item(gltf, "accessors", accessor->index, &object, error);
    if (result) {
        return result;
    }
    *found = read_bound(accessor, json_object_get(object, "min"), out_min) &&
             read_bound(accessor, json_object_get(object, "max"), out_max);
    return PELT_OK;
}

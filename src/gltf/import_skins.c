// SPDX-License-Identifier: MIT
// Skins of a document: joints and inverse bind matrices.
#include "import_internal.h"

#include <float.h>

// JOINTS_n hold 16 bits: no vertex can name a joint beyond.
#define JOINT_COUNT_MAX 65536u

static uint32_t sparse_index(const gltf_accessor *accessor, uint64_t i)
{
    const uint8_t *indices = accessor->sparse_indices;
    if (accessor->sparse_component == PELT_COMPONENT_U8) {
        return indices[i];
    }
    if (accessor->sparse_component == PELT_COMPONENT_U16) {
        uint16_t value;
        memcpy(&value, indices + i * sizeof value, sizeof value);
        return value;
    }
    uint32_t value;
    memcpy(&value, indices + i * sizeof value, sizeof value);
    return value;
}

// The first count elements only: many skins may share one long accessor, and each must cost no more than its joints.
static gltf_accessor first_elements(const gltf_accessor *accessor, uint64_t count)
{
    gltf_accessor out = *accessor;
    out.count = count;
    uint64_t low = 0;
    uint64_t high = accessor->sparse_count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (sparse_index(accessor, middle) < count) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    out.sparse_count = low;
    return out;
}

// Converts all matrices and warns of those that are slightly off; *out_doubtful: some are off by more.
static pelt_result convert_matrices(gltf_import *import, uint32_t skin, const char *where, const float *columns,
                                    uint32_t count, pelt_mat34 *out, bool *out_doubtful, pelt_error *error)
{
    float worst = 0;
    uint32_t worst_joint = 0;
    *out_doubtful = false;
    for (uint32_t i = 0; i < count; i++) {
        const float *m = columns + (size_t)i * 16;
        float deviation = pelti_gltf_mat34(m, &out[i]);
        if (!(deviation <= FLT_MAX)) {
            pelti_fail(
                error, PELT_ERROR_INVALID, where,
                "inverseBindMatrices: the matrix of joint %u has a fourth row of %g %g %g %g, which is not finite", i,
                (double)m[3], (double)m[7], (double)m[11], (double)m[15]);
            if (error) {
                error->joint = i;
            }
            return PELT_ERROR_INVALID;
        }
        if (deviation > GLTF_FOURTH_ROW_TOLERANCE) {
            *out_doubtful = true;
        } else if (deviation > worst) {
            worst = deviation;
            worst_joint = i;
        }
    }
    if (worst > 0) {
        pelti_warn(&import->gltf->options.log, where,
                   "skin %u: inverseBindMatrices: fourth rows are off from 0 0 0 1, joint %u by %g; they are taken as "
                   "0 0 0 1",
                   skin, worst_joint, (double)worst);
    }
    return PELT_OK;
}

static pelt_result read_inverse_binds(gltf_import *import, const json_t *object, uint32_t index, const char *where,
                                      pelt_skin *skin, pelt_error *error)
{
    pelt_mat34 *matrices = pelt_builder_allocate(import->builder, skin->joint_count, sizeof *matrices);
    if (!matrices) {
        return pelt_builder_status(import->builder, error);
    }
    skin->inverse_binds = matrices;
    const json_t *value = json_object_get(object, "inverseBindMatrices");
    if (!value) {
        for (uint32_t i = 0; i < skin->joint_count; i++) {
            matrices[i] = pelt_mat34_identity();
        }
        return PELT_OK;
    }
    gltf_cached_accessor *cached = NULL;
    GLTF_TRY(pelti_gltf_reference(import, value, "inverseBindMatrices", where, &cached, error));
    const gltf_accessor *accessor = &cached->accessor;
    if (accessor->rows != 4 || accessor->columns != 4 || accessor->component != PELT_COMPONENT_F32) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "inverseBindMatrices is %s, not MAT4 of FLOAT",
                          pelti_gltf_type_text(accessor).text);
    }
    if (accessor->count < skin->joint_count) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "inverseBindMatrices has %llu matrices for %u joints",
                          (unsigned long long)accessor->count, skin->joint_count);
    }
    void *columns = NULL;
    GLTF_TRY(pelti_gltf_scratch(import, (uint64_t)skin->joint_count * 16, sizeof(float), &columns, error));
    gltf_accessor used = first_elements(accessor, skin->joint_count);
    pelti_gltf_read_floats(&used, columns);
    bool is_doubtful = false;
    pelt_result result =
        convert_matrices(import, index, where, columns, skin->joint_count, matrices, &is_doubtful, error);
    skin->has_inverse_binds = true;
    if (result == PELT_OK && is_doubtful) {
        return pelti_gltf_doubt_skin(import, index, columns, matrices, error);
    }
    pelti_gltf_scratch_release(import, columns, (uint64_t)skin->joint_count * 16, sizeof(float));
    return result;
}

static pelt_result check_joint_count(const gltf_import *import, uint32_t count, const char *where, pelt_error *error)
{
    uint32_t limit = import->gltf->options.limits.joints;
    if (count == 0) {
        return pelti_fail(error, PELT_ERROR_INVALID, where, "joints is missing or empty");
    }
    if (count > limit) {
        pelt_result result =
            pelti_fail(error, PELT_ERROR_LIMIT, where, "%u joints, over the limit of %u (--max-joints)", count, limit);
        pelti_hint(error, "raise the limit with --max-joints");
        return result;
    }
    if (count > JOINT_COUNT_MAX) {
        return pelti_fail(error, PELT_ERROR_UNSUPPORTED, where, "%u joints, but no vertex can name more than %u", count,
                          JOINT_COUNT_MAX);
    }
    return PELT_OK;
}

static pelt_result read_skin(gltf_import *import, const json_t *object, uint32_t index, pelt_skin *skin,
                             pelt_error *error)
{
    gltf_path path = pelti_gltf_path("/skins/%u", index);
    GLTF_TRY(pelti_gltf_name(import, object, path.text, &skin->name, error));
    uint32_t *joints = NULL;
    GLTF_TRY(pelti_gltf_index_list(import, object, "joints", path.text, &joints, &skin->joint_count, error));
    GLTF_TRY(check_joint_count(import, skin->joint_count, path.text, error));
    skin->joints = joints;
    GLTF_TRY(pelti_gltf_index(object, "skeleton", path.text, false, import->scene.node_count, "node", &skin->skeleton,
                              error));
    return read_inverse_binds(import, object, index, path.text, skin, error);
}

pelt_result pelti_gltf_import_skins(gltf_import *import, pelt_error *error)
{
    json_t *array = NULL;
    uint32_t count = 0;
    GLTF_TRY(pelti_gltf_array(import->gltf, "skins", &array, &count, error));
    pelt_skin *skins = pelt_builder_allocate(import->builder, count, sizeof *skins);
    if (!skins) {
        return pelt_builder_status(import->builder, error);
    }
    import->scene.skins = skins;
    for (uint32_t i = 0; i < count; i++) {
        pelt_result result = read_skin(import, json_array_get(array, i), i, &skins[i], error);
        if (result != PELT_OK) {
            pelti_gltf_prefix(error, "skin %u", i);
            return result;
        }
    }
    return PELT_OK;
}

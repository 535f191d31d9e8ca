// SPDX-License-Identifier: MIT
// Checks morph targets and joint boxes of a .pelt file and lists them.
#include "cook/reader.h"

static pelt_result check_listed(const primitive_check *check, uint32_t index, pelt_cooked_target *out)
{
    bool sparse = out->format & PELT_TARGET_SPARSE;
    const file_section *section = pelti_cooked_section(check->cooked, FILE_TVTX, check->index, index);
    if (!sparse) {
        if (section || out->vertex_count != check->out->vertex_count) {
            return pelti_cooked_refuse(pelti_cooked_section(check->cooked, FILE_TARG, check->index, 0), index,
                                       check->error, "target %u lists %u of %u vertices, but is not sparse", index,
                                       out->vertex_count, check->out->vertex_count);
        }
        return PELT_OK;
    }
    pelt_result result =
        pelti_cooked_need(check->cooked, FILE_TVTX, check->index, index, out->vertex_count, &section, check->error);
    const uint32_t *vertices = pelti_cooked_contents(check->cooked, section);
    for (uint32_t i = 0; i < out->vertex_count && result == PELT_OK; i++) {
        if (vertices[i] >= check->out->vertex_count || (i > 0 && vertices[i] <= vertices[i - 1])) {
            result = pelti_cooked_refuse(section, i, check->error, "vertex %u does not rise, or is not below %u",
                                         vertices[i], check->out->vertex_count);
        }
    }
    out->vertices = vertices;
    return result;
}

// -32768 is no snorm16 that cooking makes, and could take a displacement past the largest float.
static pelt_result check_codes(const primitive_check *check, const file_section *section)
{
    const int16_t *codes = pelti_cooked_contents(check->cooked, section);
    for (uint64_t i = 0; i < section->count * 3; i++) {
        if (codes[i] == INT16_MIN) {
            return pelti_cooked_refuse(section, i / 3, check->error, "code -32768 is out of range");
        }
    }
    return PELT_OK;
}

static pelt_result check_stream(const primitive_check *check, uint32_t index, file_kind_index kind,
                                const pelt_cooked_target *target, const void **out)
{
    const file_section *section = pelti_cooked_section(check->cooked, kind, check->index, index);
    if (!section) {
        return PELT_OK;
    }
    bool narrow = target->format & PELT_TARGET_16BIT;
    if (section->element_size != (narrow ? 6 : 12)) {
        return pelti_cooked_refuse(section, 0, check->error, "elements of %u bytes do not suit format %u",
                                   section->element_size, target->format);
    }
    pelt_result result =
        pelti_cooked_need(check->cooked, kind, check->index, index, target->vertex_count, &section, check->error);
    if (result == PELT_OK) {
        result = narrow ? check_codes(check, section) : pelti_cooked_check_finite(check->cooked, section, check->error);
    }
    *out = pelti_cooked_contents(check->cooked, section);
    return result;
}

static pelt_result check_target(const primitive_check *check, uint32_t index, pelt_cooked_target *out)
{
    const file_section *section = pelti_cooked_section(check->cooked, FILE_TARG, check->index, 0);
    const file_target *record = pelti_cooked_record(check->cooked, FILE_TARG, check->index, index);
    bool right =
        record->format <= (PELT_TARGET_SPARSE | PELT_TARGET_16BIT) && pelti_first_not_finite(record->scale, 3) == 3;
    for (int i = 0; i < 3; i++) {
        right = right && record->scale[i] >= 0.0f;
    }
    if (!right) {
        return pelti_cooked_refuse(section, index, check->error, "target %u: format %u or a scale is out of range",
                                   index, record->format);
    }
    out->format = record->format;
    out->vertex_count = record->vertex_count;
    memcpy(out->scale, record->scale, sizeof out->scale);
    pelt_result result = check_listed(check, index, out);
    result = result == PELT_OK ? check_stream(check, index, FILE_TPOS, out, &out->positions) : result;
    result = result == PELT_OK ? check_stream(check, index, FILE_TNRM, out, &out->normals) : result;
    return result == PELT_OK ? check_stream(check, index, FILE_TTAN, out, &out->tangents) : result;
}

pelt_result pelti_cooked_check_targets(const primitive_check *check, pelt_cooked_target *targets)
{
    const file_section *section = NULL;
    pelt_result result =
        pelti_cooked_need(check->cooked, FILE_TARG, check->index, 0, check->out->target_count, &section, check->error);
    for (uint32_t i = 0; i < check->out->target_count && result == PELT_OK; i++) {
        result = check_target(check, i, &targets[i]);
    }
    check->out->targets = targets;
    return result;
}

// Each box is in order or empty; infinite sides are where morphs or matrices reach past the largest float.
static pelt_result check_box_values(const pelt_cooked *cooked, uint32_t set, pelt_error *error)
{
    const file_section *section = pelti_cooked_section(cooked, FILE_BOXS, set, 0);
    const pelt_box *boxes = pelti_cooked_contents(cooked, section);
    pelt_box empty = pelt_box_empty();
    for (uint64_t i = 0; i < section->count; i++) {
        bool in_order = true;
        for (int k = 0; k < 3; k++) {
            in_order = in_order && boxes[i].min[k] <= boxes[i].max[k];
        }
        if (!in_order && memcmp(&boxes[i], &empty, sizeof empty) != 0) {
            return pelti_cooked_refuse(section, i, error, "the box of joint %llu is neither in order nor empty",
                                       (unsigned long long)i);
        }
    }
    return PELT_OK;
}

pelt_result pelti_cooked_check_boxes(pelt_cooked *cooked, pelt_error *error)
{
    const file_section *section = pelti_cooked_section(cooked, FILE_JBOX, 0, 0);
    const file_joint_boxes *before = NULL;
    pelt_result result = PELT_OK;
    cooked->joint_boxes = pelti_cooked_take(cooked, cooked->boxes_count, sizeof *cooked->joint_boxes, &result, error);
    for (uint32_t i = 0; i < cooked->boxes_count && result == PELT_OK; i++) {
        const file_joint_boxes *record = pelti_cooked_record(cooked, FILE_JBOX, 0, i);
        const file_section *boxes = NULL;
        if (record->primitive >= cooked->primitive_count || record->skin >= cooked->skin_count) {
            return pelti_cooked_refuse(section, i, error, "set %u: primitive %u or skin %u does not exist", i,
                                       record->primitive, record->skin);
        }
        if (before && (record->primitive < before->primitive ||
                       (record->primitive == before->primitive && record->skin <= before->skin))) {
            return pelti_cooked_refuse(section, i, error, "set %u does not come after the one before", i);
        }
        const file_skin *skin = pelti_cooked_record(cooked, FILE_SKIN, 0, record->skin);
        if (record->joint_count != skin->joint_count) {
            return pelti_cooked_refuse(section, i, error, "set %u has %u boxes, its skin %u joints", i,
                                       record->joint_count, skin->joint_count);
        }
        result = pelti_cooked_need(cooked, FILE_BOXS, i, 0, record->joint_count, &boxes, error);
        result = result == PELT_OK ? check_box_values(cooked, i, error) : result;
        cooked->joint_boxes[i] = (pelt_joint_boxes){record->primitive, record->skin, record->joint_count,
                                                    pelti_cooked_contents(cooked, boxes)};
        before = record;
    }
    return result;
}

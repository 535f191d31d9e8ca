// SPDX-License-Identifier: MIT
// Checks what skinning reads of a primitive: runs cover all vertices, lists and offsets lie inside their streams, every
// joint is below its bound and every weight decodes to what a weight may be.
#include "cook/reader.h"

enum {
    EXTRA_STEPS = 65535, // of an extra influence's weight of one
    CLASS_COUNT = 5
};

// Sums over the runs before the one at hand.
typedef struct run_walk {
    const file_section *section;
    uint64_t vertex;
    uint64_t joint;
    uint64_t joints_offset;
    uint64_t wide;
} run_walk;

static_assert(FILE_XTRA - FILE_WGHT == 5, "find_sections and check_rigid rely on the order of kinds");

static pelt_result check_rigid(const primitive_check *check)
{
    const pelt_cooked_primitive *out = check->out;
    bool any = out->joints_size || out->run_count || out->run_joint_count || out->wide_count || out->extra_count ||
               out->joint_bound;
    for (uint32_t kind = FILE_JNTI; kind <= FILE_XTRA; kind++) {
        any = any || pelti_cooked_section(check->cooked, (file_kind_index)kind, check->index, 0);
    }
    if (any) {
        return pelti_cooked_refuse(pelti_cooked_section(check->cooked, FILE_PRIM, 0, 0), check->index, check->error,
                                   "primitive %u has joints, but no section WGHT", check->index);
    }
    return PELT_OK;
}

static pelt_result find_sections(const primitive_check *check)
{
    pelt_cooked_primitive *out = check->out;
    // In the order of the kinds, from FILE_WGHT on.
    const uint64_t counts[] = {
        out->vertex_count, out->joints_size, out->run_count, out->run_joint_count, (uint64_t)out->wide_count + 1,
        out->extra_count};
    const void *contents[sizeof counts / sizeof counts[0]] = {NULL};
    for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const file_section *section = NULL;
        pelt_result result = pelti_cooked_need(check->cooked, (file_kind_index)(FILE_WGHT + i), check->index, 0,
                                               counts[i], &section, check->error);
        if (result != PELT_OK) {
            return result;
        }
        // Empty streams need no section, but a place to point at.
        contents[i] = section ? pelti_cooked_contents(check->cooked, section) : check->cooked->bytes.data;
    }
    out->weights = contents[0];
    out->joints = contents[1];
    out->runs = contents[2];
    out->run_joints = contents[3];
    out->extra_offsets = contents[4];
    out->extras = contents[5];
    return PELT_OK;
}

static uint32_t joints_stride(const pelt_run *run)
{
    return run->layout == PELT_JOINTS_DIRECT16 ? 8 : 4;
}

static uint32_t wide_count(const primitive_check *check, const pelt_run *run)
{
    return run->class_counts[CLASS_COUNT - 1] == 0 ? 0
           : check->out->ordered                   ? run->class_counts[CLASS_COUNT - 1]
                                                   : run->vertex_count;
}

static pelt_result check_run_place(const primitive_check *check, uint32_t index, const run_walk *walk)
{
    const pelt_cooked_primitive *out = check->out;
    const pelt_run *run = &out->runs[index];
    bool last = walk->vertex + run->vertex_count == out->vertex_count;
    if (run->first_vertex != walk->vertex || run->vertex_count == 0 || run->vertex_count > PELT_RUN_VERTICES ||
        walk->vertex + run->vertex_count > out->vertex_count || (!last && run->vertex_count % PELT_RUN_STEP != 0)) {
        return pelti_cooked_refuse(
            walk->section, index, check->error, "run %u: %u vertices from %u on, where vertex %llu of %u comes next",
            index, run->vertex_count, run->first_vertex, (unsigned long long)walk->vertex, out->vertex_count);
    }
    bool has_list = run->layout == PELT_JOINTS_RUN;
    if (run->layout > PELT_JOINTS_DIRECT16 || run->first_joint != walk->joint ||
        run->joint_count > out->run_joint_count - walk->joint || run->joint_count > PELT_RUN_JOINTS ||
        has_list != (run->joint_count > 0)) {
        return pelti_cooked_refuse(walk->section, index, check->error,
                                   "run %u: layout %u with %u joints from %u on, where joint %llu of %u comes next",
                                   index, run->layout, run->joint_count, run->first_joint,
                                   (unsigned long long)walk->joint, out->run_joint_count);
    }
    uint64_t size = (uint64_t)run->vertex_count * joints_stride(run);
    if (run->joints_offset != walk->joints_offset || size > out->joints_size - walk->joints_offset) {
        return pelti_cooked_refuse(walk->section, index, check->error,
                                   "run %u: %llu bytes of joints from %u on, where byte %llu of %llu comes next", index,
                                   (unsigned long long)size, run->joints_offset,
                                   (unsigned long long)walk->joints_offset, (unsigned long long)out->joints_size);
    }
    if (run->first_wide != walk->wide || wide_count(check, run) > run->vertex_count ||
        wide_count(check, run) > out->wide_count - walk->wide) {
        return pelti_cooked_refuse(walk->section, index, check->error,
                                   "run %u: wide vertices begin at %u, where %llu of %u comes next", index,
                                   run->first_wide, (unsigned long long)walk->wide, out->wide_count);
    }
    return PELT_OK;
}

static pelt_result check_list(const primitive_check *check, const pelt_run *run)
{
    const uint16_t *list = check->out->run_joints + run->first_joint;
    for (uint32_t i = 0; i < run->joint_count; i++) {
        if (list[i] >= check->out->joint_bound || (i > 0 && list[i] <= list[i - 1])) {
            return pelti_cooked_refuse(pelti_cooked_section(check->cooked, FILE_RUNJ, check->index, 0),
                                       (uint64_t)run->first_joint + i, check->error,
                                       "joint %u of a run's list does not rise, or is not below %u", list[i],
                                       check->out->joint_bound);
        }
    }
    return PELT_OK;
}

static pelt_result check_joints(const primitive_check *check, const pelt_run *run)
{
    const uint8_t *joints = check->out->joints + run->joints_offset;
    uint32_t bound = run->layout == PELT_JOINTS_RUN ? run->joint_count : check->out->joint_bound;
    bool wide = run->layout == PELT_JOINTS_DIRECT16;
    for (uint32_t i = 0; i < run->vertex_count * 4; i++) {
        uint16_t joint = joints[i];
        if (wide) {
            memcpy(&joint, joints + (size_t)i * 2, sizeof joint);
        }
        if (joint >= bound) {
            return pelti_cooked_refuse(pelti_cooked_section(check->cooked, FILE_JNTI, check->index, 0),
                                       run->joints_offset + (uint64_t)i * (wide ? 2 : 1), check->error,
                                       "vertex %u names joint %u, which is not below %u", run->first_vertex + i / 4,
                                       joint, bound);
        }
    }
    return PELT_OK;
}

// Extra influences of a vertex; local counts from the run's first vertex.
static uint32_t extra_count(const primitive_check *check, const pelt_run *run, uint32_t local)
{
    uint32_t wide = wide_count(check, run);
    if (local < run->vertex_count - wide) {
        return 0;
    }
    const uint32_t *offsets = check->out->extra_offsets + run->first_wide + (local - (run->vertex_count - wide));
    return offsets[1] - offsets[0];
}

// Weights are none below zero, and classes are as the run counts them: what a kernel may skip has no weight.
// Of sorted weights the implied one is the largest and the others fall: none stands behind a zero.
static bool has_gap(pelt_weight_encoding encoding, const float w[4])
{
    bool stored = (w[0] == 0.0f && w[1] != 0.0f) || (w[1] == 0.0f && w[2] != 0.0f);
    return encoding == PELT_WEIGHTS_SORTED && (stored || w[3] == 0.0f);
}

static pelt_result check_weights(const primitive_check *check, const pelt_run *run)
{
    const pelt_cooked_primitive *out = check->out;
    uint32_t counts[CLASS_COUNT] = {0};
    uint32_t last_class = 0;
    bool rising = true;
    for (uint32_t i = 0; i < run->vertex_count; i++) {
        float w[4];
        pelt_weights_decode(out->encoding, out->weights[run->first_vertex + i], w);
        if (!(w[3] >= 0.0f)) {
            return pelti_cooked_refuse(pelti_cooked_section(check->cooked, FILE_WGHT, check->index, 0),
                                       (uint64_t)run->first_vertex + i, check->error,
                                       "vertex %u: the implied weight is negative", run->first_vertex + i);
        }
        if (has_gap(out->encoding, w)) {
            return pelti_cooked_refuse(pelti_cooked_section(check->cooked, FILE_WGHT, check->index, 0),
                                       (uint64_t)run->first_vertex + i, check->error,
                                       "vertex %u: a weight of zero stands before others", run->first_vertex + i);
        }
        uint32_t used =
            (w[0] != 0.0f ? 1u : 0u) + (w[1] != 0.0f ? 1u : 0u) + (w[2] != 0.0f ? 1u : 0u) + (w[3] != 0.0f ? 1u : 0u);
        uint32_t class_index = extra_count(check, run, i) > 0 ? CLASS_COUNT - 1 : used - 1;
        counts[class_index]++;
        rising = rising && class_index >= last_class;
        last_class = class_index;
    }
    uint32_t most = 0;
    bool equal = true;
    for (uint32_t c = 0; c < CLASS_COUNT; c++) {
        equal = equal && counts[c] == run->class_counts[c];
        most = counts[c] > 0 ? c + 1 : most;
    }
    if (!equal || most != run->influence_count || (out->ordered && !rising)) {
        return pelti_cooked_refuse(pelti_cooked_section(check->cooked, FILE_RUNS, check->index, 0),
                                   (uint64_t)(run - out->runs), check->error,
                                   "the run's vertices do not have the numbers of influences that it counts");
    }
    return PELT_OK;
}

static pelt_result check_extra_offsets(const primitive_check *check)
{
    const pelt_cooked_primitive *out = check->out;
    const file_section *section = pelti_cooked_section(check->cooked, FILE_XOFS, check->index, 0);
    uint32_t last = 0;
    for (uint32_t i = 0; i <= out->wide_count; i++) {
        uint32_t offset = out->extra_offsets[i];
        if (offset < last || offset > out->extra_count || (i == 0 && offset != 0)) {
            return pelti_cooked_refuse(section, i, check->error, "offset %u is not between %u and %u", offset, last,
                                       out->extra_count);
        }
        last = offset;
    }
    if (last != out->extra_count) {
        return pelti_cooked_refuse(section, out->wide_count, check->error,
                                   "the last offset is %u of %u extra influences", last, out->extra_count);
    }
    return PELT_OK;
}

static pelt_result check_extras(const primitive_check *check)
{
    const pelt_cooked_primitive *out = check->out;
    const file_section *section = pelti_cooked_section(check->cooked, FILE_XTRA, check->index, 0);
    for (uint32_t wide = 0; wide < out->wide_count; wide++) {
        uint64_t sum = 0;
        for (uint32_t i = out->extra_offsets[wide]; i < out->extra_offsets[wide + 1]; i++) {
            sum += out->extras[i].weight;
            if (out->extras[i].joint >= out->joint_bound || out->extras[i].weight == 0 || sum >= EXTRA_STEPS) {
                return pelti_cooked_refuse(
                    section, i, check->error, "an extra influence of joint %u of %u with weight %u, %llu in all",
                    out->extras[i].joint, out->joint_bound, out->extras[i].weight, (unsigned long long)sum);
            }
        }
    }
    return PELT_OK;
}

static pelt_result check_runs(const primitive_check *check)
{
    const pelt_cooked_primitive *out = check->out;
    run_walk walk = {.section = pelti_cooked_section(check->cooked, FILE_RUNS, check->index, 0)};
    for (uint32_t r = 0; r < out->run_count; r++) {
        const pelt_run *run = &out->runs[r];
        pelt_result result = check_run_place(check, r, &walk);
        result = result == PELT_OK ? check_list(check, run) : result;
        result = result == PELT_OK ? check_joints(check, run) : result;
        result = result == PELT_OK ? check_weights(check, run) : result;
        if (result != PELT_OK) {
            return result;
        }
        walk.vertex += run->vertex_count;
        walk.joint += run->joint_count;
        walk.joints_offset += (uint64_t)run->vertex_count * joints_stride(run);
        walk.wide += wide_count(check, run);
    }
    if (walk.vertex != out->vertex_count || walk.joint != out->run_joint_count ||
        walk.joints_offset != out->joints_size || walk.wide != out->wide_count) {
        return pelti_cooked_refuse(walk.section, out->run_count, check->error,
                                   "the runs end at vertex %llu of %u, joint %llu of %u, wide vertex %llu of %u",
                                   (unsigned long long)walk.vertex, out->vertex_count, (unsigned long long)walk.joint,
                                   out->run_joint_count, (unsigned long long)walk.wide, out->wide_count);
    }
    return PELT_OK;
}

pelt_result pelti_cooked_check_influences(const primitive_check *check)
{
    if (!pelti_cooked_section(check->cooked, FILE_WGHT, check->index, 0)) {
        return check_rigid(check);
    }
    if (check->out->joint_bound > UINT16_MAX + 1u) {
        return pelti_cooked_refuse(pelti_cooked_section(check->cooked, FILE_PRIM, 0, 0), check->index, check->error,
                                   "primitive %u uses %u joints, over 65536", check->index, check->out->joint_bound);
    }
    pelt_result result = find_sections(check);
    result = result == PELT_OK ? check_extra_offsets(check) : result;
    result = result == PELT_OK ? check_extras(check) : result;
    return result == PELT_OK ? check_runs(check) : result;
}

// SPDX-License-Identifier: MIT
// What the influence clean-up says: one error, or one warning for each kind of change with its count and its first or
// worst vertex.
#include "asset/influences.h"

#include <math.h>

static asset_text attribute_path(const influence_clean *clean, const char *attribute, uint32_t set)
{
    return pelti_asset_text("/meshes/%u/primitives/%u/attributes/%s_%u", clean->job->mesh, clean->job->primitive,
                            attribute, set);
}

static void locate(const influence_clean *clean, pelt_error *message, uint32_t vertex, uint32_t joint)
{
    if (message) {
        message->mesh = clean->job->mesh;
        message->primitive = clean->job->primitive;
        message->vertex = vertex;
        message->joint = joint;
    }
}

pelt_result pelti_influence_bad_weight(influence_clean *clean, uint32_t vertex, uint32_t set, float weight)
{
    const char *what = isfinite(weight) ? "negative" : "not a finite number";
    pelti_fail(clean->error, PELT_ERROR_INVALID, attribute_path(clean, "WEIGHTS", set).text,
               "mesh %u, primitive %u: WEIGHTS_%u: vertex %u has weight %s, which is %s", clean->job->mesh,
               clean->job->primitive, set, vertex, pelti_asset_number(weight).text, what);
    locate(clean, clean->error, vertex, PELT_NONE);
    return PELT_ERROR_INVALID;
}

pelt_result pelti_influence_bad_joint(influence_clean *clean, uint32_t vertex, uint32_t set, uint32_t joint,
                                      bool weighted)
{
    uint32_t limit = clean->joint_limit;
    pelti_fail(clean->error, PELT_ERROR_INVALID, attribute_path(clean, "JOINTS", set).text,
               "mesh %u, primitive %u: JOINTS_%u: vertex %u %s joint %u, but the skin has %u joint%s", clean->job->mesh,
               clean->job->primitive, set, vertex, weighted ? "uses" : "has no weight and lists first", joint, limit,
               limit == 1 ? "" : "s");
    locate(clean, clean->error, vertex, joint);
    return PELT_ERROR_INVALID;
}

// "3 vertices" or "1 vertex".
static asset_text vertices(uint32_t count)
{
    return pelti_asset_text("%u %s", count, count == 1 ? "vertex" : "vertices");
}

PELTI_PRINTF(4, 5)
static void warn(const influence_clean *clean, const influence_place *place, const char *attribute, const char *format,
                 ...)
{
    const pelt_log *log = &clean->builder->log;
    pelt_error message;
    pelti_error_clear(&message);
    asset_text path = attribute_path(clean, attribute, place->set);
    snprintf(message.where, sizeof message.where, "%s", path.text);
    char text[320];
    va_list arguments;
    va_start(arguments, format);
    pelti_format(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(message.message, sizeof message.message, "mesh %u, primitive %u: %s_%u: %s", clean->job->mesh,
             clean->job->primitive, attribute, place->set, text);
    locate(clean, &message, place->vertex, place->joint);
    log->write(log->user, PELT_LOG_WARNING, &message);
}

void pelti_influence_warn(const influence_clean *clean)
{
    const pelt_influence_report *report = &clean->report;
    if (!clean->builder->log.write) {
        return;
    }
    if (report->normalized_count > 0) {
        uint32_t count = report->normalized_count;
        warn(clean, &clean->worst_sum, "WEIGHTS",
             "%s weights do not sum to one (vertex %u is off most, by %.6g); normalised",
             count == 1 ? "1 vertex's" : pelti_asset_text("%u vertices'", count).text, clean->worst_sum.vertex,
             clean->worst_sum_error);
    }
    if (report->unweighted_count > 0) {
        uint32_t count = report->unweighted_count;
        uint32_t vertex = clean->first_unweighted.vertex;
        if (count == 1) {
            warn(clean, &clean->first_unweighted, "WEIGHTS",
                 "vertex %u has no weight; it follows its first listed joint, %u", vertex,
                 clean->first_unweighted.joint);
        } else {
            warn(clean, &clean->first_unweighted, "WEIGHTS",
                 "%u vertices have no weight, the first of them vertex %u; each follows its first listed joint", count,
                 vertex);
        }
    }
    if (report->merged_count > 0) {
        warn(clean, &clean->first_merged, "JOINTS",
             "%s list%s a joint twice (vertex %u is the first, with joint %u); the weights were added",
             vertices(report->merged_count).text, report->merged_count == 1 ? "s" : "", clean->first_merged.vertex,
             clean->first_merged.joint);
    }
    if (report->ignored_joint_count > 0) {
        uint32_t count = report->ignored_joint_count;
        warn(clean, &clean->first_ignored, "JOINTS",
             "%u listed joint%s past the skin's %u, all with weight zero (vertex %u is the first, with joint %u); "
             "ignored",
             count, count == 1 ? " is" : "s are", clean->joint_limit, clean->first_ignored.vertex,
             clean->first_ignored.joint);
    }
    if (report->reduced_count > 0) {
        warn(clean, &clean->worst_reduced, "WEIGHTS",
             "%s lost influences to the limit of %u (vertex %u lost most, %.6g of its weight); the rest was "
             "normalised",
             vertices(report->reduced_count).text, clean->job->influence_limit, clean->worst_reduced.vertex,
             (double)report->worst_reduced_weight);
    }
}

// SPDX-License-Identifier: MIT
// Which bounds and which size of work items a device should have, by the times that `pelt bench --tune` measured on it.
#include "bench_gpu_tune.h"

#include <math.h>

// Exact boxes are the smallest that hold a mesh, so that culling drops more: worth this share of the pass.
static const double worth_of_exact = 0.03;
// Sizes of work items this near to the best one are as good.
static const double as_good = 1.01;

const uint32_t tune_item_vertices[TUNE_ITEMS] = {64, 128, 256, 512, 1024};

// ---- bounds

typedef enum verdict {
    EXACT = 0,
    UNSURE, // the samples spread too far to tell
    CONSERVATIVE
} verdict;

static double between_quartiles(const bench_statistics *t)
{
    return t->quartiles[1] - t->quartiles[0];
}

static verdict judge(const tune_size *s)
{
    for (int i = 0; i < TUNE_BOXES; i++) {
        if (!(s->ms[i].median > 0)) {
            return EXACT;
        }
    }
    double more = s->ms[TUNE_EXACT].median - s->ms[TUNE_JOINTS].median;
    double noise = between_quartiles(&s->ms[TUNE_EXACT]) + between_quartiles(&s->ms[TUNE_JOINTS]);
    double allowed = worth_of_exact * s->ms[TUNE_NONE].median;
    if (more > allowed && more > noise) {
        return CONSERVATIVE;
    }
    return more + noise > allowed ? UNSURE : EXACT;
}

// Of the next size from here on, upwards or downwards, that is sure; UNSURE where there is none.
static verdict sure_neighbour(const tune_result *t, uint32_t index, uint32_t step)
{
    verdict v = UNSURE;
    for (index += step; index < t->size_count && v == UNSURE; index += step) { // below the first it wraps around
        v = judge(&t->sizes[index]);
    }
    return v;
}

// Unsure sizes interrupt nothing: they are conservative where those on both sides are, or on the one that has any.
static bool is_conservative(const tune_result *t, uint32_t index)
{
    verdict v = judge(&t->sizes[index]);
    if (v != UNSURE) {
        return v == CONSERVATIVE;
    }
    verdict below = sure_neighbour(t, index, UINT32_MAX);
    verdict above = sure_neighbour(t, index, 1);
    return below != EXACT && above != EXACT && (below == CONSERVATIVE || above == CONSERVATIVE);
}

// Meshes between an exact and a conservative size were not measured: they are exact. The last rule is for all above.
void tune_choose_bounds(tune_result *t)
{
    t->rule_count = 0;
    for (uint32_t i = 0; i < t->size_count; i++) {
        t->sizes[i].bounds = is_conservative(t, i) ? PELT_VK_BOUNDS_CONSERVATIVE : PELT_VK_BOUNDS_EXACT;
    }
    for (uint32_t i = 0; i < t->size_count; i++) {
        const tune_size *s = &t->sizes[i];
        bool is_last = i + 1 == t->size_count;
        if (is_last || s[1].bounds != s->bounds) {
            bool is_exact = s->bounds == PELT_VK_BOUNDS_EXACT;
            uint32_t last = is_last ? UINT32_MAX : is_exact ? s[1].vertex_count - 1 : s->vertex_count;
            t->rules[t->rule_count++] = (pelt_vk_bounds_rule){last, s->bounds};
        }
    }
}

// ---- work items

static bool has_all(const tune_scene *s)
{
    for (int i = 0; i < TUNE_ITEMS; i++) {
        if (!(s->ms[i].median > 0)) {
            return false;
        }
    }
    return true;
}

// 0 where no scene has all sizes.
static double geometric_mean(const tune_result *t, int item)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t k = 0; k < t->scene_count; k++) {
        if (has_all(&t->scenes[k])) {
            sum += log(t->scenes[k].ms[item].median);
            count++;
        }
    }
    return count ? exp(sum / count) : 0;
}

// Of sizes that are as good the largest, which makes the fewest items.
void tune_choose_item(tune_result *t)
{
    double least = HUGE_VAL;
    for (int i = 0; i < TUNE_ITEMS; i++) {
        t->means[i] = geometric_mean(t, i);
        least = t->means[i] < least ? t->means[i] : least;
    }
    t->best_item = TUNE_ITEMS;
    for (uint32_t i = 0; i < TUNE_ITEMS; i++) {
        if (t->means[i] > 0 && t->means[i] <= as_good * least) {
            t->best_item = i;
        }
    }
}

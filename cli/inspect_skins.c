// SPDX-License-Identifier: MIT
// What inspect tells of skins: depth of the joints, joints in use, and the scale and handedness their matrices bring.
// Singular values by one-sided Jacobi: M. Hestenes, "Inversion of Matrices by Biorthogonalization", 1958.
#include "inspect.h"

#include <math.h>
#include <stdlib.h>

// Turns columns p and q of a (three columns of three) so that they become orthogonal; false if they were.
static bool orthogonalise(double a[3][3], int p, int q)
{
    double pp = 0;
    double qq = 0;
    double pq = 0;
    for (int i = 0; i < 3; i++) {
        pp += a[p][i] * a[p][i];
        qq += a[q][i] * a[q][i];
        pq += a[p][i] * a[q][i];
    }
    if (fabs(pq) <= 1e-15 * sqrt(pp) * sqrt(qq)) {
        return false;
    }
    double zeta = (qq - pp) / (2 * pq);
    double t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + hypot(1, zeta));
    double c = 1 / hypot(1, t);
    double s = c * t;
    for (int i = 0; i < 3; i++) {
        double x = a[p][i];
        double y = a[q][i];
        a[p][i] = c * x - s * y;
        a[q][i] = s * x + c * y;
    }
    return true;
}

// Least and largest stretch of a 3x3; false where it is not finite. Scaled to one first, so that squares stay finite.
static bool stretches(const pelt_mat34 *m, double *out_min, double *out_max)
{
    double largest = 0;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            double x = fabs((double)m->m[r][c]);
            if (!isfinite(x)) {
                return false;
            }
            largest = x > largest ? x : largest;
        }
    }
    *out_min = 0;
    *out_max = 0;
    if (largest == 0) {
        return true;
    }
    double a[3][3];
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            a[c][r] = (double)m->m[r][c] / largest;
        }
    }
    for (int sweep = 0; sweep < 30; sweep++) {
        bool turned = orthogonalise(a, 0, 1);
        turned = orthogonalise(a, 0, 2) || turned;
        turned = orthogonalise(a, 1, 2) || turned;
        if (!turned) {
            break;
        }
    }
    *out_min = HUGE_VAL;
    for (int c = 0; c < 3; c++) {
        double length = largest * sqrt(a[c][0] * a[c][0] + a[c][1] * a[c][1] + a[c][2] * a[c][2]);
        *out_min = length < *out_min ? length : *out_min;
        *out_max = length > *out_max ? length : *out_max;
    }
    return true;
}

static void measure_matrices(const pelt_pose *pose, const pelt_skin *skin, inspect_skin *out)
{
    bool first = true;
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        pelt_mat34 world_from_joint = pelt_pose_world(pose, skin->joints[j]);
        pelt_mat34 world_from_bind = pelt_mat34_multiply(&world_from_joint, &skin->inverse_binds[j]);
        double low = 0;
        double high = 0;
        if (!stretches(&world_from_bind, &low, &high)) {
            out->overflow_count++;
            continue;
        }
        out->scale_min = first || low < out->scale_min ? low : out->scale_min;
        out->scale_max = first || high > out->scale_max ? high : out->scale_max;
        first = false;
        // Entries are floats: what is flatter than their precision is noise.
        if (low <= 1e-6 * high) {
            out->singular_count++;
        } else if (pelt_mat34_determinant(&world_from_bind) < 0) {
            out->mirrored_count++;
        } else {
            out->right_handed_count++;
        }
    }
}

static int compare_indices(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

// Nodes are in an order in which each subtree is contiguous, so the joints sorted by node are visited as a walk down
// the tree would, and a stack of open subtrees gives the depth.
static bool measure_depth(const pelt_asset_data *data, const pelt_skin *skin, inspect_skin *out)
{
    uint32_t *sorted = malloc(((size_t)skin->joint_count + 1) * sizeof *sorted);
    uint32_t *open = malloc(((size_t)skin->joint_count + 1) * sizeof *open);
    if (!sorted || !open) {
        free(sorted);
        free(open);
        return false;
    }
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        sorted[j] = skin->joints[j];
        out->outside_scene_count += !data->nodes[sorted[j]].in_scene;
    }
    qsort(sorted, skin->joint_count, sizeof *sorted, compare_indices);
    uint32_t depth = 0;
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        if (j > 0 && sorted[j] == sorted[j - 1]) {
            out->duplicate_count++;
            continue;
        }
        while (depth > 0 && data->nodes[open[depth - 1]].subtree_end <= sorted[j]) {
            depth--;
        }
        out->root_count += depth == 0;
        open[depth++] = sorted[j];
        out->depth = depth > out->depth ? depth : out->depth;
    }
    free(sorted);
    free(open);
    return true;
}

// Lists each node's places as a joint, by counting sort.
static bool group_joints(inspect_facts *facts)
{
    const pelt_asset_data *data = facts->data;
    size_t total = 0;
    facts->joint_offset = calloc((size_t)data->node_count + 2, sizeof *facts->joint_offset);
    if (!facts->joint_offset) {
        return false;
    }
    // One place further on, so that filling moves each start to where the next node's begins.
    uint32_t *ends = facts->joint_offset + 1;
    for (uint32_t s = 0; s < data->skin_count; s++) {
        total += data->skins[s].joint_count;
        for (uint32_t j = 0; j < data->skins[s].joint_count; j++) {
            ends[data->skins[s].joints[j] + 1]++;
        }
    }
    for (uint32_t i = 0; i < data->node_count; i++) {
        ends[i + 1] += ends[i];
    }
    facts->joints = total < UINT32_MAX ? malloc((total + 1) * sizeof *facts->joints) : NULL;
    if (!facts->joints) {
        return false;
    }
    for (uint32_t s = 0; s < data->skin_count; s++) {
        for (uint32_t j = 0; j < data->skins[s].joint_count; j++) {
            facts->joints[ends[data->skins[s].joints[j]]++] = (inspect_joint){s, j};
        }
    }
    return true;
}

typedef struct pair {
    uint32_t skin;
    uint32_t mesh;
} pair;

static int compare_pairs(const void *a, const void *b)
{
    const pair *x = a;
    const pair *y = b;
    int skins = (x->skin > y->skin) - (x->skin < y->skin);
    return skins ? skins : (x->mesh > y->mesh) - (x->mesh < y->mesh);
}

// Each pair of skin and mesh is looked at once, however many instances have it. The marks of one skin are told from
// those of the one before by their number, so they need no clearing.
static void mark_used(const inspect_facts *facts, const pair *pairs, uint32_t pair_count, uint32_t *marks)
{
    for (uint32_t i = 0; i < pair_count; i++) {
        uint32_t skin = pairs[i].skin;
        facts->skins[skin].instance_count++;
        if (i > 0 && pairs[i - 1].skin == skin && pairs[i - 1].mesh == pairs[i].mesh) {
            continue;
        }
        for (uint32_t k = facts->first_primitive[pairs[i].mesh]; k < facts->first_primitive[pairs[i].mesh + 1]; k++) {
            const inspect_primitive *p = &facts->primitives[k];
            for (uint32_t j = 0; j < p->used_joint_count; j++) {
                uint32_t *mark = &marks[p->used_joints[j]];
                facts->skins[skin].used_joint_count += *mark != skin + 1;
                *mark = skin + 1;
            }
        }
    }
}

static bool count_used(inspect_facts *facts)
{
    const pelt_asset_data *data = facts->data;
    pair *pairs = malloc(((size_t)data->instance_count + 1) * sizeof *pairs);
    uint32_t *marks = calloc(UINT16_MAX + 1, sizeof *marks);
    if (pairs && marks) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < data->instance_count; i++) {
            if (data->instances[i].skin != PELT_NONE) {
                pairs[count++] = (pair){data->instances[i].skin, data->instances[i].mesh};
            }
        }
        qsort(pairs, count, sizeof *pairs, compare_pairs);
        mark_used(facts, pairs, count, marks);
    }
    bool done = pairs && marks;
    free(pairs);
    free(marks);
    return done;
}

bool inspect_gather_skins(const pelt_asset *asset, inspect_facts *facts)
{
    const pelt_asset_data *data = facts->data;
    facts->skins = calloc((size_t)data->skin_count + 1, sizeof *facts->skins);
    if (!facts->skins || !group_joints(facts) || !count_used(facts)) {
        return false;
    }
    pelt_pose *pose = NULL;
    if (data->skin_count == 0) {
        return true;
    }
    bool done = pelt_pose_create(asset, NULL, &pose) == PELT_OK && pelt_pose_update(pose, NULL) == PELT_OK;
    for (uint32_t s = 0; done && s < data->skin_count; s++) {
        measure_matrices(pose, &data->skins[s], &facts->skins[s]);
        done = measure_depth(data, &data->skins[s], &facts->skins[s]);
    }
    pelt_pose_destroy(pose);
    return done;
}

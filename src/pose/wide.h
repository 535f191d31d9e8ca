// SPDX-License-Identifier: MIT
// The text that the wide kernels of poses share. A file of one instruction set defines L(name) for its vectors of
// doubles (lanes.h) and R(name) for its rows of one matrix (rows_*.h), and includes this.
#include "math/lanes.h"

#include "pose/kernel.h"

enum {
    GROUPS = 4 // vectors whose divisions are under way at the same time
};

// The last vector overlaps the one before where the count is not a multiple: the same bits are written again.
static void locals(const pelt_trs *transforms, uint32_t count, pelti_mat34d *out)
{
    for (uint32_t i = 0; count < L(count) && i < count; i++) {
        out[i] = pelti_mat34d_from_trs(&transforms[i]);
    }
    uint32_t done = 0;
    while (count >= L(count) && done < count) {
        L(wide) t[GROUPS][10];
        L(wide) k[GROUPS];
        uint32_t first[GROUPS];
        uint32_t n = 0;
        for (; n < GROUPS && done < count; n++, done += L(count)) {
            first[n] = done + L(count) <= count ? done : count - L(count);
            const pelt_trs *lanes[L(count)];
            for (uint32_t i = 0; i < L(count); i++) {
                lanes[i] = transforms + first[n] + i;
            }
            L(load_trs)(lanes, 0, t[n]);
            k[n] = L(rotation_factor)(t[n]);
        }
        for (uint32_t i = 0; i < n; i++) {
            L(mat34) m;
            L(local)(t[i], k[i], &m);
            L(store_rows)(m.m, out[first[i]].m);
        }
    }
}

static void worlds(const uint32_t *parents, const uint32_t *order, const pelti_mat34d *locals, uint32_t begin,
                   uint32_t count, pelti_mat34d *worlds)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = order ? order[i] : begin + i;
        uint32_t parent = parents[node];
        if (parent == PELT_NONE) {
            worlds[node] = locals[node - begin];
        } else {
            R(store)(R(multiply)(worlds[parent].m, R(load_right)(locals[node - begin].m)), worlds[node].m);
        }
    }
}

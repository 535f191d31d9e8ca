// SPDX-License-Identifier: MIT
// From local transforms to the palette of one instance, written once for every instruction set: local matrices side by
// side, then products by rows. Whoever includes this has defined L(name) (lanes.h) and R(name) (rows_*.h) of one
// precision, and has included side_by_side.h for it.

static void R(make_locals)(const pelti_batch *batch, R(scalar) * out)
{
    enum {
        GROUPS = 4 // vectors whose divisions are under way at the same time
    };
    const pelt_skeleton *skeleton = batch->skeleton;
    for (uint32_t begin = 0; begin < skeleton->step_count; begin += GROUPS * L(count)) {
        L(wide) t[GROUPS][10];
        L(wide) k[GROUPS];
        for (uint32_t group = 0; group < GROUPS; group++) {
            const pelt_trs *lanes[L(count)];
            for (uint32_t i = 0; i < L(count); i++) {
                uint32_t index = begin + group * L(count) + i;
                index = index < skeleton->step_count ? index : skeleton->step_count - 1;
                lanes[i] = &batch->transforms[0][skeleton->nodes[index]];
            }
            L(load_trs)(lanes, 0, t[group]);
            k[group] = L(rotation_factor)(t[group]);
        }
        for (uint32_t group = 0; group < GROUPS; group++) {
            L(mat34) m;
            L(local)(t[group], k[group], &m);
            L(store_rows)(m.m, out + (size_t)R(stride) * (begin + group * L(count)));
        }
    }
    for (uint32_t i = 0; !batch->is_plain && i < skeleton->step_count; i++) {
        if (pelti_batch_uses_matrix(batch, 0, skeleton->nodes[i])) {
            const float *m = skeleton->data->nodes[skeleton->nodes[i]].local_matrix.m[0];
            for (uint32_t k = 0; k < 12; k++) {
                out[(size_t)R(stride) * i + k] = (R(scalar))m[k];
            }
        }
    }
}

// All worlds first: each waits for its parent's, and the more of them are in sight, the more of that time is used.
static void R(alone)(const pelti_batch *batch)
{
    const pelt_skeleton *skeleton = batch->skeleton;
    // Full vectors are written past the last local.
    _Alignas(64) R(scalar) worlds[(PELTI_ALONE_LIMIT + 4 * L(count)) * R(stride)];
    R(make_locals)(batch, worlds);
    for (uint32_t i = 0; i < skeleton->step_count; i++) {
        R(scalar) *m = worlds + (size_t)R(stride) * i;
        uint32_t parent = skeleton->parents[i];
        if (parent != PELT_NONE) {
            R(store)(R(multiply)(worlds + (size_t)R(stride) * parent, R(load_right)(m)), m);
        }
    }
    const size_t stride = batch->is_4x4 ? 16 : 12;
    for (uint32_t i = 0; i < skeleton->matrix_count; i++) {
        const R(scalar) *m = worlds + (size_t)R(stride) * skeleton->sources[i];
        float *out = batch->palettes[0] + stride * i;
        if (i < skeleton->bind_count) {
            R(store_floats)(R(multiply)(m, R(load_bind)(&skeleton->binds[i])), batch->is_4x4, out);
        } else {
            R(store_floats)(R(load)(m), batch->is_4x4, out);
        }
    }
}

// SPDX-License-Identifier: MIT
// Palettes from the worlds of a pose, written once for every instruction set. Whoever includes this has defined R(name)
// (rows_*.h) for doubles.

static void matrices(const pelti_mat34d *worlds, const uint32_t *joints, const pelt_mat34 *binds, uint32_t count,
                     bool is_4x4, float *out)
{
    const size_t stride = is_4x4 ? 16 : 12;
    for (uint32_t i = 0; i < count; i++, out += stride) {
        R(store_floats)(R(multiply)(worlds[joints[i]].m, R(load_bind)(&binds[i])), is_4x4, out);
    }
}

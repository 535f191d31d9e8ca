// SPDX-License-Identifier: MIT
// Local matrices and products of several instances at once, written once for every vector type. Whoever includes this
// has defined L(name), which puts the type's prefix before the name (f8_name, d4_name), and may include it again for
// another one. The sums run in the order of math.h, so a lane of doubles gives the bits of pelti_mat34d_from_trs and
// pelti_mat34d_multiply.

typedef struct L(mat34) {
    L(wide) m[12]; // row-major
} L(mat34);

// Translation xyz, rotation xyzw, scale xyz.
static inline void L(load_trs)(const pelt_trs *const *transforms, size_t node, L(wide) t[10])
{
    L(load_head)(transforms, node, t);
    L(load_tail)(transforms, node, t + 8);
}

// Two over the square of the rotation's length, or 0. It is a function of its own so that many can be made ahead: the
// rest waits for a division.
static inline L(wide) L(rotation_factor)(const L(wide) t[10])
{
    L(wide) sum = L(add)(L(mul)(t[3], t[3]), L(mul)(t[4], t[4]));
    return L(two_over)(L(add)(L(add)(sum, L(mul)(t[5], t[5])), L(mul)(t[6], t[6])));
}

// t as load_trs gives it, k its rotation factor.
static inline void L(local)(const L(wide) t[10], L(wide) k, L(mat34) * out)
{
    const L(wide) x = t[3];
    const L(wide) y = t[4];
    const L(wide) z = t[5];
    const L(wide) w = t[6];
    const L(wide) one = L(set)(1);
    L(wide) xx = L(mul)(k, L(mul)(x, x));
    L(wide) yy = L(mul)(k, L(mul)(y, y));
    L(wide) zz = L(mul)(k, L(mul)(z, z));
    L(wide) xy = L(mul)(k, L(mul)(x, y));
    L(wide) xz = L(mul)(k, L(mul)(x, z));
    L(wide) yz = L(mul)(k, L(mul)(y, z));
    L(wide) wx = L(mul)(k, L(mul)(w, x));
    L(wide) wy = L(mul)(k, L(mul)(w, y));
    L(wide) wz = L(mul)(k, L(mul)(w, z));
    out->m[0] = L(mul)(L(sub)(one, L(add)(yy, zz)), t[7]);
    out->m[1] = L(mul)(L(sub)(xy, wz), t[8]);
    out->m[2] = L(mul)(L(add)(xz, wy), t[9]);
    out->m[3] = t[0];
    out->m[4] = L(mul)(L(add)(xy, wz), t[7]);
    out->m[5] = L(mul)(L(sub)(one, L(add)(xx, zz)), t[8]);
    out->m[6] = L(mul)(L(sub)(yz, wx), t[9]);
    out->m[7] = t[1];
    out->m[8] = L(mul)(L(sub)(xz, wy), t[7]);
    out->m[9] = L(mul)(L(add)(yz, wx), t[8]);
    out->m[10] = L(mul)(L(sub)(one, L(add)(xx, yy)), t[9]);
    out->m[11] = t[2];
}

// Row a (4 vectors) times b.
static inline void L(multiply_row)(const L(wide) a[4], const L(mat34) * b, L(wide) out[4])
{
    for (int c = 0; c < 4; c++) {
        L(wide) sum = L(add)(L(mul)(a[0], b->m[c]), L(mul)(a[1], b->m[4 + c]));
        out[c] = L(add)(sum, L(mul)(a[2], b->m[8 + c]));
    }
    out[3] = L(add)(out[3], a[3]);
}

// The same with one matrix for all lanes: 12 scalars, row-major.
static inline void L(multiply_row_by_one)(const L(wide) a[4], const L(scalar) * b, L(wide) out[4])
{
    for (int c = 0; c < 4; c++) {
        L(wide) sum = L(add)(L(mul)(a[0], L(set)(b[c])), L(mul)(a[1], L(set)(b[4 + c])));
        out[c] = L(add)(sum, L(mul)(a[2], L(set)(b[8 + c])));
    }
    out[3] = L(add)(out[3], a[3]);
}

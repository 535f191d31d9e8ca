// SPDX-License-Identifier: MIT
// Normals through the cofactor of a matrix, tangents through the 3x3 itself, of any length: packing needs none.
#ifndef DIRECTIONS_GLSL
#define DIRECTIONS_GLSL

#extension GL_EXT_control_flow_attributes : require

#include "compensated.glsl"

// What directions need of a blended matrix.
struct direction_frame {
    vec3 cofactor[3];     // rows
    float cofactor_bound; // sum of |row i|^2 |row j|^2: what the squared terms of the cofactor can come to
    float row_bound;      // sum of |row|^2
};

direction_frame make_frame(mat3x4 m)
{
    direction_frame f;
    f.cofactor[0] = cross(m[1].xyz, m[2].xyz);
    f.cofactor[1] = cross(m[2].xyz, m[0].xyz);
    f.cofactor[2] = cross(m[0].xyz, m[1].xyz);
    float a = dot(m[0].xyz, m[0].xyz);
    float b = dot(m[1].xyz, m[1].xyz);
    float c = dot(m[2].xyz, m[2].xyz);
    f.row_bound = a + b + c;
    f.cofactor_bound = b * c + c * a + a * b;
    return f;
}

// A float direction is good where the squares of the terms that it was summed from, which bound exceeds, are far from
// both ends of float, and its own square is not much smaller: its error is under 8 * 2^-24 of those terms, so a length
// of 2^-5 of them keeps it within 0.001 degrees. The bits of NaN lie above those of every number.
bool is_sure(float length2, float bound)
{
    uint bits = floatBitsToUint(bound);
    const uint lowest = uint(127 - 110) << 23; // 2^-110
    const uint highest = uint(127 + 110) << 23;
    return bits > lowest && bits < highest && length2 > bound * (1.0 / 1024.0);
}

// --- the careful path: any finite matrix and direction

// value * 2^exponent. The largest component lies in [1, 2), or below where all are denormal.
struct scaled_vector {
    vec3 value;
    int exponent;
    bool is_finite;
    bool is_zero;
};

// Works on bits, so that denormals count on devices that flush them.
scaled_vector scale_vector(vec3 v)
{
    uvec3 bits = floatBitsToUint(v);
    uvec3 fraction = bits & 0x7FFFFFu;
    ivec3 exponent = ivec3(bits >> 23 & 0xFFu);
    vec3 normal = uintBitsToFloat(fraction | 0x3F800000u);
    vec3 denormal = vec3(fraction) * (1.0 / 8388608.0);
    vec3 size = mix(normal, denormal, equal(exponent, ivec3(0)));
    exponent = max(exponent, ivec3(1)) - 127;
    scaled_vector s;
    s.exponent = max(max(exponent.x, exponent.y), exponent.z);
    ivec3 power = exponent - s.exponent;
    size *= mix(uintBitsToFloat(uvec3(power + 127) << 23), vec3(0.0), lessThan(power, ivec3(-126)));
    s.value = mix(size, -size, notEqual(bits & 0x80000000u, uvec3(0)));
    s.is_finite = s.exponent < 128;
    s.is_zero = (bits.x | bits.y | bits.z) << 1 == 0u;
    return s;
}

// What becomes zero, or not finite, takes the input direction, else the axis.
vec3 direction_or(scaled_vector v, scaled_vector fallback, vec3 axis)
{
    if (v.is_finite && !v.is_zero) {
        return v.value;
    }
    return fallback.is_finite && !fallback.is_zero ? fallback.value : axis;
}

// (v[0] * 2^e[0], v[1] * 2^e[1], v[2] * 2^e[2]) scaled as a whole.
scaled_vector join_scales(vec3 v, ivec3 e)
{
    ivec3 own = ivec3(floatBitsToUint(v) >> 23 & 0xFFu);
    ivec3 exponent = mix(own - 127 + e, ivec3(-1000), equal(own, ivec3(0)));
    int highest = max(max(exponent.x, exponent.y), exponent.z);
    ivec3 power = mix(exponent - highest + 127, ivec3(0), equal(own, ivec3(0))); // biased; 0 and less becomes zero
    uvec3 bits = (floatBitsToUint(v) & 0x807FFFFFu) | uvec3(max(power, ivec3(0))) << 23;
    return scale_vector(mix(uintBitsToFloat(bits), vec3(0.0), lessThanEqual(power, ivec3(0))));
}

// Each row has a scale of its own, so nothing leaves the floats. A row of the cofactor is a product of the other two:
// up to the scale of all three, it is scaled by the inverse of its own. Loops turn rows and components instead of
// counting through them, and must not be unrolled: registers and code that few vertices need would cost all of them.
// three is 3, which no compiler may know.
vec3 normal_careful(mat3x4 m, vec3 n, uint three)
{
    scaled_vector rows[3] = scaled_vector[3](scale_vector(m[0].xyz), scale_vector(m[1].xyz), scale_vector(m[2].xyz));
    scaled_vector input_n = scale_vector(n);
    vec3 x = rows[0].value;
    vec3 y = rows[1].value;
    vec3 z = rows[2].value;
    vec3 v = vec3(0.0);
    [[dont_unroll]] for (uint i = 0u; i < three; i++) {
        compensated_sum s = compensated_sum(0.0, 0.0);
        vec3 a = y;
        vec3 b = z;
        vec3 c = input_n.value;
        [[dont_unroll]] for (uint k = 0u; k < three; k++) {
            float high;
            float low;
            difference_of_products(a.y, b.z, a.z, b.y, high, low);
            add_product(s, high, low, c.x);
            a = a.yzx;
            b = b.yzx;
            c = c.yzx;
        }
        precise float sum = s.sum + s.rest;
        v = vec3(v.yz, sum);
        vec3 first = x;
        x = y;
        y = z;
        z = first;
    }
    scaled_vector result = join_scales(v, -ivec3(rows[0].exponent, rows[1].exponent, rows[2].exponent));
    result.is_finite = rows[0].is_finite && rows[1].is_finite && rows[2].is_finite && input_n.is_finite;
    return direction_or(result, input_n, vec3(0.0, 0.0, 1.0));
}

vec3 tangent_careful(mat3x4 m, vec3 t, uint three)
{
    scaled_vector rows[3] = scaled_vector[3](scale_vector(m[0].xyz), scale_vector(m[1].xyz), scale_vector(m[2].xyz));
    scaled_vector input_t = scale_vector(t);
    vec3 x = rows[0].value;
    vec3 y = rows[1].value;
    vec3 z = rows[2].value;
    vec3 v = vec3(0.0);
    [[dont_unroll]] for (uint i = 0u; i < three; i++) {
        compensated_sum s = compensated_sum(0.0, 0.0);
        vec3 a = x;
        vec3 c = input_t.value;
        [[dont_unroll]] for (uint k = 0u; k < three; k++) {
            add_product(s, a.x, 0.0, c.x);
            a = a.yzx;
            c = c.yzx;
        }
        precise float sum = s.sum + s.rest;
        v = vec3(v.yz, sum);
        vec3 first = x;
        x = y;
        y = z;
        z = first;
    }
    scaled_vector result = join_scales(v, ivec3(rows[0].exponent, rows[1].exponent, rows[2].exponent));
    result.is_finite = rows[0].is_finite && rows[1].is_finite && rows[2].is_finite && input_t.is_finite;
    return direction_or(result, input_t, vec3(1.0, 0.0, 0.0));
}

// --- n and t: the morphed input directions

vec3 skin_normal(mat3x4 m, direction_frame f, vec3 n, uint three)
{
    vec3 v = vec3(dot(f.cofactor[0], n), dot(f.cofactor[1], n), dot(f.cofactor[2], n));
    if (!is_sure(dot(v, v), f.cofactor_bound * dot(n, n))) {
        v = normal_careful(m, n, three);
    }
    return v;
}

vec3 skin_tangent(mat3x4 m, direction_frame f, vec3 t, uint three)
{
    vec3 v = vec3(dot(m[0].xyz, t), dot(m[1].xyz, t), dot(m[2].xyz, t));
    if (!is_sure(dot(v, v), f.row_bound * dot(t, t))) {
        v = tangent_careful(m, t, three);
    }
    return v;
}

#endif

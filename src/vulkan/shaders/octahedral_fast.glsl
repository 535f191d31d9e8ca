// SPDX-License-Identifier: MIT
// octahedral.glsl in fewer instructions, for the many vertices of the usual kind. Floats all the way: near a fold a
// direction may get either of two codes, which are equally near.
#ifndef OCTAHEDRAL_FAST_GLSL
#define OCTAHEDRAL_FAST_GLSL

#include "octahedral.glsl"

const uint SIGN_BIT = 0x80000000u;

// size, which has no sign, with those of signs.
vec2 with_signs(float size, vec2 signs)
{
    return uintBitsToFloat((floatBitsToUint(signs) & SIGN_BIT) | floatBitsToUint(size));
}

vec3 unfold_fast(vec2 p, float limit)
{
    float z = (limit - abs(p.x)) - abs(p.y);
    return vec3(p - with_signs(max(-z, 0.0), p), z);
}

// Of length 0.57 to 1, times LIMIT_16.
vec3 normal_direction_fast(uint code)
{
    vec2 p = vec2(float(int(code << 16) >> 16), float(int(code) >> 16));
    return unfold_fast(p, float(LIMIT_16));
}

// Of length 0.57 to 1.
vec3 tangent_direction_fast(uint code)
{
    vec2 p = vec2(float(int(code << 16) >> 16), float(int(code << 1) >> 17));
    return unfold_fast(p * vec2(1.0 / float(LIMIT_16), 1.0 / float(LIMIT_15)), 1.0);
}

float sum_of_sizes(vec3 v)
{
    return abs(v.x) + abs(v.y) + abs(v.z);
}

// Codes in the lowest bits. Adding 1.5 * 2^23 rounds to an integer, whose bits are then the lowest of the float's.
// size: sum_of_sizes(v). Below the fold |x| + |z| is what limit - |y| comes to.
uvec2 octahedral_bits(vec3 v, float size, vec2 limit)
{
    vec2 p = v.xy + with_signs(max(-v.z, 0.0), v.xy);
    return floatBitsToUint(p * (limit * (1.0 / size)) + 12582912.0);
}

uint normal_pack_fast(vec3 v, float size)
{
    uvec2 bits = octahedral_bits(v, size, vec2(LIMIT_16));
    return (bits.x & 0xFFFFu) | bits.y << 16;
}

uint tangent_pack_fast(vec3 v, float size, uint sign)
{
    uvec2 bits = octahedral_bits(v, size, vec2(LIMIT_16, LIMIT_15));
    return (bits.x & 0xFFFFu) | (bits.y & 0x7FFFu) << 16 | sign;
}

#endif

// SPDX-License-Identifier: MIT
// Directions in 32 bits, as pelt_normal_decode and pelt_tangent_decode read them. Source: Z. Cigolle et al., "A Survey
// of Efficient Representations for Independent Unit Vectors", JCGT 2014.
#ifndef OCTAHEDRAL_GLSL
#define OCTAHEDRAL_GLSL

const int LIMIT_16 = 32767; // highest code of a snorm of 16 bits
const int LIMIT_15 = 16383;
const uint TANGENT_SIGN = 0x80000000u; // set: w is -1

// The point of the octahedron |x| + |y| + |z| = limit, exactly: signs near the fold cannot be lost. Never near 0.
vec3 unfold(ivec2 p, int limit)
{
    ivec2 size = abs(p);
    int z = limit - size.x - size.y;
    ivec2 folded = mix(limit - size.yx, size.yx - limit, lessThan(p, ivec2(0)));
    return vec3(mix(p, folded, bvec2(z < 0)), z);
}

// The lowest code of a signed format stands for -1 like its neighbour. Of length 0.5 to 1.
vec3 normal_direction(uint code)
{
    ivec2 p = max(ivec2(int(code << 16) >> 16, int(code) >> 16), ivec2(-LIMIT_16));
    return unfold(p, LIMIT_16) * (1.0 / LIMIT_16);
}

// The same of a tangent: over the common denominator of its two steps.
vec3 tangent_direction(uint code)
{
    ivec2 p = max(ivec2(int(code << 16) >> 16, int(code << 1) >> 17), ivec2(-LIMIT_16, -LIMIT_15));
    return unfold(p * ivec2(LIMIT_15, LIMIT_16), LIMIT_15 * LIMIT_16) * (1.0 / (float(LIMIT_15) * float(LIMIT_16)));
}

// v: finite, not zero, of any length between 2^-60 and 2^60.
ivec2 octahedral_code(vec3 v, vec2 limit)
{
    vec2 p = v.xy * (1.0 / (abs(v.x) + abs(v.y) + abs(v.z)));
    vec2 folded = mix(1.0 - abs(p.yx), abs(p.yx) - 1.0, lessThan(p, vec2(0.0)));
    p = v.z < 0.0 ? folded : p;
    return ivec2(clamp(floor(p * limit + 0.5), -limit, limit));
}

uint normal_pack(vec3 v)
{
    ivec2 code = octahedral_code(v, vec2(LIMIT_16));
    return (uint(code.x) & 0xFFFFu) | uint(code.y) << 16;
}

// sign: TANGENT_SIGN or 0.
uint tangent_pack(vec3 v, uint sign)
{
    ivec2 code = octahedral_code(v, vec2(LIMIT_16, LIMIT_15));
    return (uint(code.x) & 0xFFFFu) | (uint(code.y) & 0x7FFFu) << 16 | sign;
}

#endif

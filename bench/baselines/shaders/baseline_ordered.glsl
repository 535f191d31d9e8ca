// SPDX-License-Identifier: MIT
// Floats as unsigned integers in the same order, so that integer atomics take minimum and maximum of them.
#ifndef BASELINE_ORDERED_GLSL
#define BASELINE_ORDERED_GLSL

struct ordered_box {
    uint low[3];
    uint high[3];
};

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer ordered_boxes
{
    ordered_box at[];
};

const uint ORDERED_INFINITY = 0xFF800000u;
const uint ORDERED_MINUS_INFINITY = 0x007FFFFFu;

// Positive floats get the highest bit, negative ones are turned over.
uvec3 ordered_of(vec3 v)
{
    uvec3 bits = floatBitsToUint(v);
    return bits ^ (uvec3(ivec3(bits) >> 31) | 0x80000000u);
}

uint bits_of(uint ordered)
{
    return ordered ^ ((ordered & 0x80000000u) != 0u ? 0x80000000u : 0xFFFFFFFFu);
}

#endif

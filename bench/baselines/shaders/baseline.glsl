// SPDX-License-Identifier: MIT
// What the designs' shaders share: typed memory behind addresses, the number of a workgroup, the search for an
// instance, packed directions. Include first: it turns extensions on.
#ifndef BASELINE_GLSL
#define BASELINE_GLSL

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#define MEMORY(access, name, type, alignment)                                                                          \
    layout(buffer_reference, scalar, buffer_reference_align = alignment) access buffer name                            \
    {                                                                                                                  \
        type at[];                                                                                                     \
    };

MEMORY(readonly, uints, uint, 4)
MEMORY(readonly, uvec2s, uvec2, 8)
MEMORY(readonly, vec3s, vec3, 4)
MEMORY(readonly, vec4s, vec4, 16)
MEMORY(readonly, uvec4s, uvec4, 16)
MEMORY(writeonly, out_uints, uint, 4)
MEMORY(writeonly, out_vec3s, vec3, 4)

#ifdef BASELINE_COMPUTE
// More workgroups than a row of the grid can have are given as several rows.
uint group_index()
{
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}
#endif

// The last of count firsts, which rise from 0, that is not above index.
uint find_instance(uvec2 firsts, uint count, uint index)
{
    uint low = 0;
    uint high = count;
    while (high - low > 1) {
        uint middle = low + (high - low) / 2;
        if (uints(firsts).at[middle] <= index) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// Octahedral directions (Z. Cigolle et al., "A Survey of Efficient Representations for Independent Unit Vectors", JCGT
// 2014): 16 + 16 bits, or 16 + 15 and the sign of w. Decoded ones are not made of unit length: nothing here needs it.
const float STEPS_16 = 32767.0;
const float STEPS_15 = 16383.0;

vec2 fold(vec2 p)
{
    return (1.0 - abs(p.yx)) * vec2(p.x >= 0.0 ? 1.0 : -1.0, p.y >= 0.0 ? 1.0 : -1.0);
}

vec3 unfold(vec2 p)
{
    float z = 1.0 - abs(p.x) - abs(p.y);
    return vec3(z < 0.0 ? fold(p) : p, z);
}

vec3 decode_normal(uint code)
{
    return unfold(unpackSnorm2x16(code));
}

vec4 decode_tangent(uint code)
{
    ivec2 p = ivec2(int(code << 16) >> 16, int(code << 1) >> 17);
    return vec4(unfold(vec2(p) * (1.0 / vec2(STEPS_16, STEPS_15))), code >> 31 == 0u ? 1.0 : -1.0);
}

// v: of any length but zero.
vec2 project(vec3 v)
{
    vec2 p = v.xy * (1.0 / (abs(v.x) + abs(v.y) + abs(v.z)));
    return v.z < 0.0 ? fold(p) : p;
}

uint encode_normal(vec3 v)
{
    return packSnorm2x16(project(v));
}

uint encode_tangent(vec3 v, float w)
{
    ivec2 p = ivec2(round(project(v) * vec2(STEPS_16, STEPS_15)));
    return (uint(p.x) & 0xFFFFu) | (uint(p.y) & 0x7FFFu) << 16 | (w < 0.0 ? 0x80000000u : 0u);
}

#endif

// SPDX-License-Identifier: MIT
// Morph targets, added to a vertex before the skin.
#ifndef MORPH_GLSL
#define MORPH_GLSL

#include "memory.glsl"

MEMORY(readonly, morphs, gpu_morph, 4)
MEMORY(readonly, targets, gpu_target, 4)
MEMORY(readonly, ranges, gpu_range, 4)

const uint NO_ENTRY = 0xFFFFFFFFu;

// scale / 32767 * 2^15 as high + low, where high has 9 bits, so that its product with a code is exact.
vec2 split_step(float scale)
{
    const float step = 1.0 / 32768.0;
    precise float tail = scale * step + scale * step * step; // 32768 / 32767 = 1 + 2^-15 + 2^-30 + ...
    float high = uintBitsToFloat(floatBitsToUint(scale) & 0xFFFF8000u);
    precise float low = (scale - high) + tail;
    return vec2(high, low);
}

// Three snorm16 from 6 * entry bytes on; only half of those places are whole words. The codes as fractions of 2^15.
vec3 read_snorm16(uvec2 address, uint entry)
{
    uint at = entry * 3 / 2;
    uvec2 words = uvec2(uints(address).at[at], uints(address).at[at + 1]);
    ivec2 low = ivec2(words << 16) >> 16;
    ivec2 high = ivec2(words) >> 16;
    ivec3 codes = entry % 2 == 0 ? ivec3(low.x, high.x, low.y) : ivec3(high.x, low.y, high.y);
    return vec3(codes) * (1.0 / 32768.0);
}

// code * scale / 32767 as pelt_cooked_target_add has it in double: rounded once, but for 2^-9 of a spacing.
vec3 displacement(gpu_target target, uvec2 address, float scale, uint entry)
{
    if ((target.format & GPU_TARGET_16BIT) == 0u) {
        return vec3s(address).at[entry];
    }
    vec2 step = split_step(scale);
    vec3 codes = read_snorm16(address, entry);
    precise vec3 value = codes * step.x + codes * step.y;
    return value;
}

void add_displacement(gpu_target target, uvec2 address, float scale, uint entry, float weight, inout vec3 value)
{
    precise vec3 moved = value + weight * displacement(target, address, scale, entry);
    value = moved;
}

// Where a vertex stands in the target's streams.
uint target_entry(gpu_target target, uint item, uint vertex)
{
    if (!exists(target.vertices)) {
        return vertex;
    }
    gpu_range range = ranges(target.ranges).at[item];
    if (range.count == 0) {
        return NO_ENTRY;
    }
    uint low = range.first;
    uint high = range.first + range.count;
    while (high - low > 1) {
        uint middle = low + (high - low) / 2;
        if (uints(target.vertices).at[middle] <= vertex) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return uints(target.vertices).at[low] == vertex ? low : NO_ENTRY;
}

// The streams that an instance writes beside positions.
struct wanted_streams {
    bool normals;
    bool tangents;
};

// item: its index in the mesh.
void add_morphs(gpu_instance instance, gpu_mesh mesh, uint item, uint vertex, wanted_streams wanted,
                inout vec3 position, inout vec3 normal, inout vec3 tangent)
{
    for (uint i = 0; i < instance.morph_count; i++) {
        gpu_morph morph = morphs(instance.morphs).at[i];
        gpu_target target = targets(mesh.targets).at[morph.target];
        uint entry = target_entry(target, item, vertex);
        if (entry == NO_ENTRY) {
            continue;
        }
        if (exists(target.positions)) {
            add_displacement(target, target.positions, target.position_scale, entry, morph.weight, position);
        }
        if (wanted.normals && exists(target.normals)) {
            add_displacement(target, target.normals, target.normal_scale, entry, morph.weight, normal);
        }
        if (wanted.tangents && exists(target.tangents)) {
            add_displacement(target, target.tangents, target.tangent_scale, entry, morph.weight, tangent);
        }
    }
}

#endif

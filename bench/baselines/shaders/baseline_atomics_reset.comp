// SPDX-License-Identifier: MIT
// Before atomics: every box empty, one thread an instance.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BASELINE_COMPUTE
#include "baseline.glsl"
#include "baseline_ordered.glsl"

layout(local_size_x = 64) in;

layout(push_constant, scalar) uniform push_block
{
    uvec2 boxes;
    uint instance_count;
};

void main()
{
    uint instance = group_index() * 64 + gl_LocalInvocationIndex;
    if (instance < instance_count) {
        ordered_boxes(boxes).at[instance] = ordered_box(
            uint[3](ORDERED_INFINITY, ORDERED_INFINITY, ORDERED_INFINITY),
            uint[3](ORDERED_MINUS_INFINITY, ORDERED_MINUS_INFINITY, ORDERED_MINUS_INFINITY));
    }
}

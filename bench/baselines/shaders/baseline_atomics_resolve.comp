// SPDX-License-Identifier: MIT
// After atomics: boxes back to floats, one thread an instance.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BASELINE_COMPUTE
#include "baseline.glsl"
#include "baseline_ordered.glsl"

layout(local_size_x = 64) in;

struct box_bits {
    uint at[6];
};

MEMORY(writeonly, out_boxes, box_bits, 4)

layout(push_constant, scalar) uniform push_block
{
    uvec2 boxes;
    uvec2 resolved;
    uint instance_count;
};

void main()
{
    uint instance = group_index() * 64 + gl_LocalInvocationIndex;
    if (instance < instance_count) {
        ordered_box box = ordered_boxes(boxes).at[instance];
        out_boxes(resolved).at[instance] =
            box_bits(uint[6](bits_of(box.low[0]), bits_of(box.low[1]), bits_of(box.low[2]), bits_of(box.high[0]),
                             bits_of(box.high[1]), bits_of(box.high[2])));
    }
}

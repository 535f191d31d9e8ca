// SPDX-License-Identifier: MIT
// Unites the partial boxes of an instance. One workgroup an instance.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BASELINE_COMPUTE
#include "baseline.glsl"

layout(local_size_x = 64) in;

#include "baseline_box.glsl"

layout(push_constant, scalar) uniform push_block
{
    uvec2 firsts;
    uvec2 partials;
    uvec2 boxes;
    uint instance_count;
};

void main()
{
    uint instance = group_index();
    if (instance >= instance_count) {
        return;
    }
    vec3 low = vec3(HIGHEST);
    vec3 high = vec3(-HIGHEST);
    uint end = uints(firsts).at[instance + 1];
    for (uint i = uints(firsts).at[instance] + gl_LocalInvocationIndex; i < end; i += 64) {
        box_floats part = boxes_in(partials).at[i];
        low = min(low, vec3(part.at[0], part.at[1], part.at[2]));
        high = max(high, vec3(part.at[3], part.at[4], part.at[5]));
    }
    store_box(low, high, boxes, instance);
}

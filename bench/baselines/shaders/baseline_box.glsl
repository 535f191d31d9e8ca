// SPDX-License-Identifier: MIT
// The box of a workgroup of 64 threads. Include after the workgroup's size is declared.
#ifndef BASELINE_BOX_GLSL
#define BASELINE_BOX_GLSL

#extension GL_KHR_shader_subgroup_arithmetic : require

const float HIGHEST = 3.402823466e38;

struct box_floats {
    float at[6];
};

MEMORY(readonly, boxes_in, box_floats, 4)
MEMORY(writeonly, boxes_out, box_floats, 4)

// Of each subgroup; none is smaller than four threads.
shared float subgroup_boxes[16 * 6];

// All threads must call it; those that have no vertex with low = HIGHEST and high = -HIGHEST.
void store_box(vec3 low, vec3 high, uvec2 address, uint index)
{
    low = subgroupMin(low);
    high = subgroupMax(high);
    if (subgroupElect()) {
        for (uint i = 0; i < 3; i++) {
            subgroup_boxes[gl_SubgroupID * 6 + i] = low[i];
            subgroup_boxes[gl_SubgroupID * 6 + 3 + i] = high[i];
        }
    }
    barrier();
    uint component = gl_LocalInvocationIndex;
    if (component < 6) {
        float value = subgroup_boxes[component];
        for (uint s = 1; s < gl_NumSubgroups; s++) {
            float other = subgroup_boxes[s * 6 + component];
            value = component < 3 ? min(value, other) : max(value, other);
        }
        boxes_out(address).at[index].at[component] = value;
    }
}

#endif

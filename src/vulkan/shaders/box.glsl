// SPDX-License-Identifier: MIT
// Exact boxes. Minimum and maximum are taken over integers in the order of the floats that they stand for, so that
// nothing depends on how a device treats denormals and NaN. Include after the workgroup's size is declared.
#ifndef BOX_GLSL
#define BOX_GLSL

#include "memory.glsl"

const uint MAGNITUDE_BITS = 0x7FFFFFFFu;
const uint INFINITY_BITS = 0x7F800000u;
const int NOTHING = 0x7F800000;          // key of +infinity
const int EVERYTHING = int(0x807FFFFFu); // key of -infinity

// Keys, to be united by min alone: of max their complements, which are the keys of the negated floats.
struct keyed_box {
    ivec3 low;
    ivec3 high;
};

// Negative floats fall as their bits rise. Its own inverse.
ivec3 key_of(uvec3 bits)
{
    ivec3 i = ivec3(bits);
    return i ^ ((i >> 31) & 0x7FFFFFFF);
}

keyed_box box_empty()
{
    return keyed_box(ivec3(NOTHING), ivec3(NOTHING));
}

// A coordinate that is not a number changes nothing.
void box_add_point(inout keyed_box box, uvec3 bits)
{
    bvec3 is_number = lessThanEqual(bits & MAGNITUDE_BITS, uvec3(INFINITY_BITS));
    ivec3 key = key_of(bits);
    box.low = mix(box.low, min(box.low, key), is_number);
    box.high = mix(box.high, min(box.high, ~key), is_number);
}

void box_add_box(inout keyed_box box, uvec3 low_bits, uvec3 high_bits)
{
    box.low = min(box.low, key_of(low_bits));
    box.high = min(box.high, ~key_of(high_bits));
}

struct box_bits {
    uint at[6];
};

MEMORY(writeonly, out_boxes, box_bits, 4)

// Six keys of each subgroup; none is smaller than four threads.
shared int subgroup_boxes[gl_WorkGroupSize.x / 4 * 6];

// Stores a box that all threads have, so that none waits for another. There may be fewer threads than components.
void box_store_united(ivec3 low, ivec3 high, uvec2 address, uint index)
{
    for (uint component = gl_LocalInvocationIndex; component < 6u; component += gl_WorkGroupSize.x) {
        ivec3 keys = component < 3u ? low : ~high;
        uint axis = component % 3u;
        int key = axis == 0u ? keys.x : axis == 1u ? keys.y : keys.z;
        out_boxes(address).at[index].at[component] = uint(key_of(uvec3(key)).x);
    }
}

// Unites the boxes of all threads and stores the result, six floats, as element index. All threads must call it.
void box_store(keyed_box box, uvec2 address, uint index)
{
    ivec3 low = subgroupMin(box.low);
    ivec3 high = subgroupMin(box.high);
    if (gl_NumSubgroups == 1u) {
        box_store_united(low, high, address, index);
        return;
    }
    if (subgroupElect()) {
        uint at = gl_SubgroupID * 6;
        subgroup_boxes[at] = low.x;
        subgroup_boxes[at + 1] = low.y;
        subgroup_boxes[at + 2] = low.z;
        subgroup_boxes[at + 3] = high.x;
        subgroup_boxes[at + 4] = high.y;
        subgroup_boxes[at + 5] = high.z;
    }
    barrier();
    uint component = gl_LocalInvocationIndex;
    if (component < 6) {
        int key = subgroup_boxes[component];
        for (uint s = 1; s < gl_NumSubgroups; s++) {
            key = min(key, subgroup_boxes[s * 6 + component]);
        }
        key = component < 3 ? key : ~key;
        out_boxes(address).at[index].at[component] = uint(key_of(uvec3(key)).x);
    }
}

#endif

// SPDX-License-Identifier: MIT
// Conservative boxes from joint boxes and matrices: no vertex is read. One workgroup an instance.
//
// Each joint's box, moved by its world transform (J. Arvo, "Transforming Axis-Aligned Bounding Boxes", Graphics Gems,
// 1990), grows by what rounding can move a vertex of that joint, before the union: a vertex lies among the grown boxes
// of its joints with the weights that it has among the exact ones. Per row, with u = 2^-24, W the world transform, B
// the inverse bind, M the palette's matrix, A the largest |coordinate| before the skin, N influences and T morphs:
//   skin pass  one product with M (rounded once in either direction, 2 u |M|, and 2^-44 of its terms), weights
//              (4 u |M|), blending (N u |M|), a product and three sums (4 u |M| A), morphs ((T + 2) u |M| A) as
//              src/bounds/bounds.c counts them: under (N + 10) u (|M| A + |t|) + (T + 2) u |M| A; the factors that come
//              with the instance hold N + 20 and T + 2, so 9 u are left for errors of second order and of the growth
//              itself (under 20 u of it)
//   this pass  three products and three sums, then the growth's, on |t_W| + sum of max |w x|: under 8 u of it
//   worlds     rounded to float before they came here: u of |W| (|B| A + |b|) + |t_W|, so that the box also holds what
//              the same pose gives in double; as much again leaves room for 2^-44 of it
// Morph weights that the joint's boxes were not made for take a vertex up to |M| beyond farther, where "beyond" comes
// with the instance.
// Where subnormal numbers are flushed, every operation can lose 2^-126 of either factor: TINY of everything there is.
// Where the terms can leave the range of floats, or are not numbers, every position is possible.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#include "gpu_layout.h"

layout(local_size_x = GPU_BOUNDS_THREADS, local_size_x_id = 0) in;

#include "box.glsl"

layout(push_constant, scalar) uniform push_block
{
    gpu_bounds_push push;
};

struct joint_box {
    vec3 low;
    vec3 high;
};

MEMORY(readonly, joint_boxes, joint_box, 4)

const float ROUNDING = 1.0 / 16777216.0;                                     // 2^-24
const float TINY = ROUNDING * ROUNDING * ROUNDING * ROUNDING * (1.0 / 16.0); // 2^-100
const uint HALF_LARGEST = 0x7EFFFFFFu;                                       // bits of half of the largest float

float sum3(vec3 v)
{
    return (v.x + v.y) + v.z;
}

// Ends of one axis as keys of a keyed_box, rounded outward.
struct interval {
    int low;
    int high;
};

// along: |B| A + |b|.
interval joint_interval(gpu_instance instance, vec3 reach, vec4 world, vec4 matrix, vec3 along, joint_box box)
{
    vec3 x = world.xyz * box.low;
    vec3 y = world.xyz * box.high;
    float low = world.w + sum3(min(x, y));
    float high = world.w + sum3(max(x, y));
    float corner = abs(world.w) + sum3(max(abs(x), abs(y)));
    float chain = abs(world.w) + dot(abs(world.xyz), along);
    float linear = dot(abs(matrix.xyz), reach);
    float moved = linear + abs(matrix.w);
    vec3 size = abs(matrix.xyz);
    float tiny = TINY * (1.0 + sum3(abs(world.xyz)) + sum3(size)) * (1.0 + sum3(reach) + sum3(along));
    float growth = instance.blend_growth * moved + instance.morph_growth * linear;
    growth += ROUNDING * (2.0 * chain + 8.0 * corner) + tiny;
    growth += dot(size, vec3(instance.beyond[0], instance.beyond[1], instance.beyond[2]));
    float most = moved + sum3(size) + corner + growth;
    if ((floatBitsToUint(most) & MAGNITUDE_BITS) > HALF_LARGEST) {
        return interval(EVERYTHING, EVERYTHING);
    }
    ivec3 keys = key_of(floatBitsToUint(vec3(low - growth, high + growth, 0.0)));
    return interval(keys.x - 1, ~keys.y - 1);
}

void add_joint(gpu_instance instance, uint joint, inout keyed_box box)
{
    joint_box own = joint_boxes(instance.joint_boxes).at[joint];
    if (any(greaterThan(key_of(floatBitsToUint(own.low)), key_of(floatBitsToUint(own.high))))) {
        return;
    }
    vec3 reach = vec3(instance.reach[0], instance.reach[1], instance.reach[2]);
    mat3x4 world = matrices(instance.worlds).at[joint];
    mat3x4 bind = matrices(instance.binds).at[joint];
    mat3x4 matrix = matrices(instance.palette).at[joint];
    vec3 along;
    for (int k = 0; k < 3; k++) {
        along[k] = dot(abs(bind[k].xyz), reach) + abs(bind[k].w);
    }
    for (int k = 0; k < 3; k++) {
        interval ends = joint_interval(instance, reach, world[k], matrix[k], along, own);
        box.low[k] = min(box.low[k], ends.low);
        box.high[k] = min(box.high[k], ends.high);
    }
}

void main()
{
    uint group = group_index(push.group_columns);
    if (group >= push.update_count) {
        return;
    }
    uint slot = uints(push.updates).at[group];
    gpu_instance instance = instances(push.instances).at[slot];
    keyed_box box = box_empty();
    for (uint joint = gl_LocalInvocationIndex; joint < instance.box_count; joint += gl_WorkGroupSize.x) {
        add_joint(instance, joint, box);
    }
    box_store(box, push.boxes, slot);
}

// SPDX-License-Identifier: MIT
// All instances end to end, one thread a vertex; its position goes into the instance's box by six atomics, or those of
// a subgroup do by six of one thread.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BASELINE_COMPUTE
#include "baseline.glsl"
#include "baseline_ordered.glsl"
#extension GL_KHR_shader_subgroup_arithmetic : require

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint HAS_BOUNDS = 1;
layout(constant_id = 1) const uint PER_SUBGROUP = 0;

struct joint_matrices {
    mat4 skin;
    mat4 inverse_transpose;
};

struct instance_record {
    uint first_vertex; // in the meshes' streams
    uint first_matrix;
};

MEMORY(readonly, palettes, joint_matrices, 16)
MEMORY(readonly, instance_records, instance_record, 8)

layout(push_constant, scalar) uniform push_block
{
    uvec2 positions;
    uvec2 normals;
    uvec2 tangents;
    uvec2 joints;
    uvec2 weights;
    uvec2 palette;
    uvec2 firsts;
    uvec2 instances;
    uvec2 out_positions;
    uvec2 out_normals;
    uvec2 out_tangents;
    uvec2 boxes;
    uint vertex_count;
    uint instance_count;
};

void grow(uint instance, uvec3 low, uvec3 high)
{
    ordered_boxes box = ordered_boxes(boxes);
    atomicMin(box.at[instance].low[0], low.x);
    atomicMin(box.at[instance].low[1], low.y);
    atomicMin(box.at[instance].low[2], low.z);
    atomicMax(box.at[instance].high[0], high.x);
    atomicMax(box.at[instance].high[1], high.y);
    atomicMax(box.at[instance].high[2], high.z);
}

void add_to_box(uint instance, vec3 position)
{
    uvec3 key = ordered_of(position);
    if (PER_SUBGROUP != 0u && subgroupMin(instance) == subgroupMax(instance)) {
        uvec3 low = subgroupMin(key);
        uvec3 high = subgroupMax(key);
        if (subgroupElect()) {
            grow(instance, low, high);
        }
    } else {
        grow(instance, key, key);
    }
}

void main()
{
    uint index = group_index() * 64 + gl_LocalInvocationIndex;
    if (index >= vertex_count) {
        return;
    }
    uint instance = find_instance(firsts, instance_count, index);
    instance_record record = instance_records(instances).at[instance];
    uint vertex = record.first_vertex + (index - uints(firsts).at[instance]);
    uvec4 joint = uvec4s(joints).at[vertex] + record.first_matrix;
    vec4 weight = vec4s(weights).at[vertex];
    mat4 skin = mat4(0.0);
    mat4 inverse_transpose = mat4(0.0);
    for (uint i = 0; i < 4; i++) {
        joint_matrices m = palettes(palette).at[joint[i]];
        skin += weight[i] * m.skin;
        inverse_transpose += weight[i] * m.inverse_transpose;
    }
    vec4 tangent = decode_tangent(uints(tangents).at[vertex]);
    vec3 position = (skin * vec4(vec3s(positions).at[vertex], 1.0)).xyz;
    vec3 normal = (inverse_transpose * vec4(decode_normal(uints(normals).at[vertex]), 0.0)).xyz;
    out_vec3s(out_positions).at[index] = position;
    out_uints(out_normals).at[index] = encode_normal(normal);
    out_uints(out_tangents).at[index] = encode_tangent((skin * vec4(tangent.xyz, 0.0)).xyz, tangent.w);
    if (HAS_BOUNDS != 0u) {
        add_to_box(instance, position);
    }
}

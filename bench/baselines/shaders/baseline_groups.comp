// SPDX-License-Identifier: MIT
// One workgroup for each 64 vertices of an instance, one thread a vertex; the group's box goes into a partial of its
// own.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BASELINE_COMPUTE
#include "baseline.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint HAS_BOUNDS = 1;
layout(constant_id = 1) const uint JOINTS_8 = 1; // joints in 8 bits, else in 16

#include "baseline_box.glsl"

struct instance_record {
    uint first_vertex; // in the meshes' streams
    uint vertex_count;
    uint first_output;
    uint first_matrix;
};

// A mat3x4 has three columns of four, and columns are what GLSL stores one after the other: they hold three rows.
MEMORY(readonly, palettes, mat3x4, 16)
MEMORY(readonly, instance_records, instance_record, 16)

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
    uvec2 partials;
    uint group_count;
    uint instance_count;
};

// Three codes of 11, 11 and 10 bits, the fourth weight is what they leave.
vec4 read_weights(uint vertex)
{
    uint code = uints(weights).at[vertex];
    vec3 w = vec3(code & 2047u, code >> 11 & 2047u, code >> 22) * vec3(1.0 / 2048.0, 1.0 / 2048.0, 1.0 / 1024.0);
    return vec4(w, 1.0 - w.x - w.y - w.z);
}

uvec4 read_joints(uint vertex)
{
    if (JOINTS_8 != 0u) {
        uint word = uints(joints).at[vertex];
        return uvec4(word & 0xFFu, word >> 8 & 0xFFu, word >> 16 & 0xFFu, word >> 24);
    }
    uvec2 words = uvec2s(joints).at[vertex];
    return uvec4(words & 0xFFFFu, words >> 16).xzyw;
}

vec3 skin_vertex(instance_record record, uint local)
{
    uint vertex = record.first_vertex + local;
    uvec4 joint = read_joints(vertex) + record.first_matrix;
    vec4 weight = read_weights(vertex);
    mat3x4 m = weight.x * palettes(palette).at[joint.x] + weight.y * palettes(palette).at[joint.y] +
               weight.z * palettes(palette).at[joint.z] + weight.w * palettes(palette).at[joint.w];
    vec3 position = vec4(vec3s(positions).at[vertex], 1.0) * m;
    vec3 normal = decode_normal(uints(normals).at[vertex]);
    vec4 tangent = decode_tangent(uints(tangents).at[vertex]);
    normal = vec3(dot(cross(m[1].xyz, m[2].xyz), normal), dot(cross(m[2].xyz, m[0].xyz), normal),
                  dot(cross(m[0].xyz, m[1].xyz), normal));
    uint index = record.first_output + local;
    out_vec3s(out_positions).at[index] = position;
    out_uints(out_normals).at[index] = encode_normal(normal);
    out_uints(out_tangents).at[index] = encode_tangent(vec4(tangent.xyz, 0.0) * m, tangent.w);
    return position;
}

void main()
{
    uint group = group_index();
    if (group >= group_count) {
        return;
    }
    uint instance = find_instance(firsts, instance_count, group);
    instance_record record = instance_records(instances).at[instance];
    uint local = (group - uints(firsts).at[instance]) * 64 + gl_LocalInvocationIndex;
    vec3 low = vec3(HIGHEST);
    vec3 high = vec3(-HIGHEST);
    if (local < record.vertex_count) {
        low = skin_vertex(record, local);
        high = low;
    }
    if (HAS_BOUNDS != 0u) {
        store_box(low, high, partials, group);
    }
}

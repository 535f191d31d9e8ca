// SPDX-License-Identifier: MIT
// One mesh instance, one thread a vertex: interleaved vertices in and out, 4x4 matrices, directions through the 3x3.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BASELINE_COMPUTE
#include "baseline.glsl"

layout(local_size_x = 64) in;

struct input_vertex {
    vec3 position;
    vec3 normal;
    vec4 tangent;
    vec2 texcoord;
    uvec4 joints;
    vec4 weights;
};

struct output_vertex {
    vec3 position;
    vec3 normal;
    vec4 tangent;
    vec2 texcoord;
};

MEMORY(readonly, input_vertices, input_vertex, 16)
MEMORY(readonly, matrices, mat4, 16)
MEMORY(writeonly, output_vertices, output_vertex, 16)

layout(push_constant, scalar) uniform push_block
{
    uvec2 vertices;
    uvec2 palette;
    uvec2 outputs;
    uint vertex_count;
};

void main()
{
    uint index = group_index() * 64 + gl_LocalInvocationIndex;
    if (index >= vertex_count) {
        return;
    }
    input_vertex v = input_vertices(vertices).at[index];
    mat4 skin = v.weights.x * matrices(palette).at[v.joints.x] + v.weights.y * matrices(palette).at[v.joints.y] +
                v.weights.z * matrices(palette).at[v.joints.z] + v.weights.w * matrices(palette).at[v.joints.w];
    output_vertex result;
    result.position = (skin * vec4(v.position, 1.0)).xyz;
    result.normal = normalize(mat3(skin) * v.normal);
    result.tangent = vec4(normalize(mat3(skin) * v.tangent.xyz), v.tangent.w);
    result.texcoord = v.texcoord;
    output_vertices(outputs).at[index] = result;
}

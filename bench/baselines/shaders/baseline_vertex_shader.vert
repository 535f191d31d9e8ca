// SPDX-License-Identifier: MIT
// Skins a vertex in every pass that draws it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "baseline.glsl"
#include "baseline_raster.glsl"

layout(location = 0) in vec3 position;
layout(location = 1) in uint normal;
layout(location = 2) in uint tangent;
layout(location = 3) in uvec4 joints;
layout(location = 4) in vec4 weights;

// A mat3x4 has three columns of four, and columns are what GLSL stores one after the other: they hold three rows.
MEMORY(readonly, palettes, mat3x4, 16)

void main()
{
    uvec4 joint = joints + uints(first_matrices).at[gl_InstanceIndex];
    mat3x4 m = weights.x * palettes(palette).at[joint.x] + weights.y * palettes(palette).at[joint.y] +
               weights.z * palettes(palette).at[joint.z] + weights.w * palettes(palette).at[joint.w];
    vec3 n = decode_normal(normal);
    vec4 t = decode_tangent(tangent);
    n = vec3(dot(cross(m[1].xyz, m[2].xyz), n), dot(cross(m[2].xyz, m[0].xyz), n),
             dot(cross(m[0].xyz, m[1].xyz), n));
    put_vertex(vec4(position, 1.0) * m, n, vec4(vec4(t.xyz, 0.0) * m, t.w));
}

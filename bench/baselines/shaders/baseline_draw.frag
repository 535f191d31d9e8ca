// SPDX-License-Identifier: MIT
// Hands on what the vertex shader came to, so that none of it can be left out.
#version 460

layout(location = 0) flat in vec3 world_position;
layout(location = 1) flat in vec3 world_normal;
layout(location = 2) flat in vec4 world_tangent;

layout(location = 0) out vec4 out_position;
layout(location = 1) out vec4 out_normal;
layout(location = 2) out vec4 out_tangent;

void main()
{
    out_position = vec4(world_position, 1.0);
    out_normal = vec4(world_normal, 0.0);
    out_tangent = world_tangent;
}

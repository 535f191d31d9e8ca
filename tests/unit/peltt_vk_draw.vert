// SPDX-License-Identifier: MIT
// Positions from a vertex buffer, seen along z.
#version 460

layout(location = 0) in vec3 position;

layout(push_constant) uniform push_block
{
    vec2 centre;
    float scale;
};

void main()
{
    gl_Position = vec4((position.xy - centre) * scale, 0.5, 1.0);
}

// SPDX-License-Identifier: MIT
// What both vertex shaders end with: the vertex in clip space and what a fragment shader lights it by. To check a
// vertex, it is drawn onto the pixel of its number instead.
#ifndef BASELINE_RASTER_GLSL
#define BASELINE_RASTER_GLSL

layout(constant_id = 0) const uint CHECK = 0;

layout(location = 0) flat out vec3 world_position;
layout(location = 1) flat out vec3 world_normal;
layout(location = 2) flat out vec4 world_tangent;

layout(push_constant, scalar) uniform push_block
{
    mat4 clip_from_world;
    uvec2 palette;
    uvec2 first_matrices; // of each instance
    uint first_vertex;    // of the draw
    uint width;           // of the image that is checked
    uint height;
};

void put_vertex(vec3 position, vec3 normal, vec4 tangent)
{
    world_position = position;
    world_normal = normal;
    world_tangent = tangent;
    gl_Position = clip_from_world * vec4(position, 1.0);
    gl_PointSize = 1.0;
    if (CHECK != 0u) {
        uint number = gl_VertexIndex - first_vertex;
        vec2 pixel = vec2(number % width, number / width) + 0.5;
        gl_Position = vec4(pixel / vec2(width, height) * 2.0 - 1.0, 0.5, 1.0);
    }
}

#endif

// SPDX-License-Identifier: MIT
// Draws what was skinned before.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "baseline.glsl"
#include "baseline_raster.glsl"

layout(location = 0) in vec3 position;
layout(location = 1) in uint normal;
layout(location = 2) in uint tangent;

void main()
{
    put_vertex(position, decode_normal(normal), decode_tangent(tangent));
}

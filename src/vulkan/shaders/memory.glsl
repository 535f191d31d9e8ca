// SPDX-License-Identifier: MIT
// Typed access to memory by address, TYPE(address).at[index], and which workgroup of a grid this one is.
#ifndef MEMORY_GLSL
#define MEMORY_GLSL

#include "gpu_layout.h"

#define MEMORY(access, name, type, alignment)                                                                          \
    layout(buffer_reference, scalar, buffer_reference_align = alignment) access buffer name                            \
    {                                                                                                                  \
        type at[];                                                                                                     \
    };

// A mat3x4 has three columns of four, and columns are what GLSL stores one after the other: they hold our three rows.
MEMORY(readonly, matrices, mat3x4, 16)
MEMORY(readonly, uints, uint, 4)
MEMORY(readonly, vec3s, vec3, 4)
MEMORY(readonly, vec4s, vec4, 16)
MEMORY(writeonly, out_vec4s, vec4, 16)
MEMORY(writeonly, out_uints, uint, 4)
MEMORY(writeonly, out_uvec3s, uvec3, 4)

MEMORY(readonly, instances, gpu_instance, 16)

layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer meshes
{
    gpu_mesh mesh;
    gpu_item items[];
};

MEMORY(readonly, floats, float, 4)

// Of a mesh.
vec3 read_position(uvec2 positions, uint vertex)
{
    uint word = vertex + (vertex & ~(GPU_BLOCK - 1u)) * 2u;
    return vec3(floats(positions).at[word], floats(positions).at[word + GPU_BLOCK],
                floats(positions).at[word + GPU_BLOCK * 2u]);
}

bool exists(uvec2 address)
{
    return (address.x | address.y) != 0u;
}

uint group_index(uint columns)
{
    return gl_WorkGroupID.y * columns + gl_WorkGroupID.x;
}

#endif

// SPDX-License-Identifier: MIT
// What `pelt bench` runs on a device beside the contenders: copies or fills memory, 16 bytes a thread, or computes
// something that touches no memory, to keep the device busy.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

// As bench_gpu_kernel in bench_gpu.h.
const uint COPY = 0;
const uint FILL = 1;
const uint SPIN = 2;
layout(constant_id = 0) const uint KERNEL = COPY;
layout(local_size_x = 128) in;

layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer source_blocks
{
    uvec4 data[];
};
layout(buffer_reference, scalar, buffer_reference_align = 16) writeonly buffer target_blocks
{
    uvec4 data[];
};

layout(push_constant, scalar) uniform arguments
{
    uvec2 source;
    uvec2 target;
    uint count; // blocks of 16 bytes, or rounds
};

void main()
{
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint i = group * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (KERNEL == SPIN) {
        uint x = i | 1u;
        for (uint k = 0; k < count; k++) {
            x = x * 1664525u + 1013904223u;
            x ^= x >> 15;
        }
        if (x == 0u && source.x != 0u) { // source is 0, but no compiler knows
            target_blocks(target).data[0] = uvec4(x);
        }
    } else if (i < count) {
        target_blocks(target).data[i] = KERNEL == COPY ? source_blocks(source).data[i] : uvec4(0x9E3779B9u);
    }
}

// SPDX-License-Identifier: MIT
// Unites the partial boxes of one instance, whose mesh has more than one item. One workgroup an instance.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#include "gpu_layout.h"

layout(local_size_x = GPU_REDUCE_THREADS, local_size_x_id = 0) in;

#include "box.glsl"

layout(push_constant, scalar) uniform push_block
{
    gpu_reduce_push push;
};

MEMORY(readonly, reduces, gpu_reduce, 4)
MEMORY(readonly, uvec3s, uvec3, 4)

void main()
{
    uint group = group_index(push.group_columns);
    if (group >= push.reduce_count) {
        return;
    }
    gpu_reduce reduce = reduces(push.reduces).at[group];
    keyed_box box = box_empty();
    for (uint i = gl_LocalInvocationIndex; i < reduce.item_count; i += gl_WorkGroupSize.x) {
        uint at = (reduce.first_item + i) * 2;
        box_add_box(box, uvec3s(push.partials).at[at], uvec3s(push.partials).at[at + 1]);
    }
    box_store(box, push.boxes, reduce.instance);
}
